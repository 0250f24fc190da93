// unreduced.c - contact problems on M v = H r + f without ever forming W.
//
// A body with thousands of unknowns (cloth, a mesh) makes W dense and M^-1 H expensive. Here W is
// only an operator: reset() finds the velocities M^-1 H r of all bodies with one sparse solve, and
// a row is H_i^T of them. The diagonal blocks, which give the scales rho, take one solve for each
// unknown of r, once. proximal.c needs no more: its Newton steps use the primal (primal.c).
#include "unreduced.h"

#include <string.h>

#include "base/error.h"
#include "math/block_lu.h"

enum { NODE_SIZE = 3 }; // velocities of a node of M, but for the last of a body

struct FilMassSolver {
    int dof_count;
    FilBlockLu *lu;
    const FilReduction *reduction;
    double *work; // [dof_count] in the order of the bodies
};

// --- M -------------------------------------------------------------------------------------------

static int count_nodes(const FilReduction *x) {
    int count = 0;
    for (int body = 0; body < x->body_count; body++) {
        count += (x->body_start[body + 1] - x->body_start[body] + NODE_SIZE - 1) / NODE_SIZE;
    }
    return count;
}

// Nodes of M in the order of the bodies: offsets, and the node of every place.
static void number_nodes(const FilReduction *x, int *offset, int *node_of) {
    int node = 0;
    for (int body = 0; body < x->body_count; body++) {
        for (int k = x->body_start[body]; k < x->body_start[body + 1]; k++) {
            if ((k - x->body_start[body]) % NODE_SIZE == 0) {
                offset[node++] = k;
            }
            node_of[k] = node - 1;
        }
    }
    offset[node] = x->dof_count;
}

// Nodes that a row of nodes is coupled to, ascending; returns how many.
static int find_mass_row(const FilSparse *M, const FilReduction *x, const int *offset,
                         const int *node_of, int row, int *mark, int *column) {
    int count = 0;
    fil_blocks_note(row, row, mark, column, &count);
    for (int k = offset[row]; k < offset[row + 1]; k++) {
        const int c = x->dof[k]; // M is symmetric: its columns are its rows
        for (int e = M->start[c]; e < M->start[c + 1]; e++) {
            fil_blocks_note(row, node_of[x->place[M->index[e]]], mark, column, &count);
        }
    }
    fil_blocks_sort(column, count);
    return count;
}

static FilStatus find_mass_blocks(const FilSparse *M, const FilReduction *x, FilArena *arena,
                                  FilBlocks *out) {
    const int nodes = count_nodes(x);
    int *offset = FIL_NEW(arena, int, nodes + 1);
    int *node_of = FIL_NEW(arena, int, x->dof_count);
    int *start = FIL_NEW(arena, int, nodes + 1);
    int *column = FIL_NEW(arena, int, (int64_t)M->start[M->column_count] + nodes);
    int *mark = FIL_NEW(arena, int, nodes);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    number_nodes(x, offset, node_of);
    fil_blocks_clear_marks(mark, nodes);
    int next = 0;
    for (int row = 0; row < nodes; row++) {
        start[row] = next;
        next += find_mass_row(M, x, offset, node_of, row, mark, column + next);
    }
    start[nodes] = next;
    *out = (FilBlocks){.n = nodes, .offset = offset, .start = start, .column = column};
    if (!fil_blocks_index(out, arena)) {
        return FIL_E_NO_MEMORY;
    }
    double *value = FIL_NEW_ZEROED(arena, double, out->at[next]);
    if (value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int c = 0; c < x->dof_count; c++) {
        const int place = x->place[c], node = node_of[place];
        for (int e = M->start[c]; e < M->start[c + 1]; e++) {
            const int row = x->place[M->index[e]], row_node = node_of[row];
            double *block = value + out->at[fil_blocks_find(out, row_node, node)];
            block[(row - offset[row_node]) * fil_blocks_size(offset, node) + place -
                  offset[node]] += M->value[e];
        }
    }
    out->value = value;
    return FIL_OK;
}

static FilStatus factor_mass(const FilSparse *M, const FilReduction *x, int threads,
                             FilArena *arena, FilArena *scratch, FilMassSolver **out,
                             bool *regular) {
    FilMassSolver *mass = FIL_NEW(arena, FilMassSolver, 1);
    FilBlocks A;
    if (mass == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *mass = (FilMassSolver){
        .dof_count = x->dof_count, .reduction = x, .work = FIL_NEW(arena, double, x->dof_count)};
    FIL_TRY(find_mass_blocks(M, x, arena, &A));
    const FilBlockPattern pattern = {A.n, A.offset, A.start, A.column};
    FIL_TRY(fil_block_lu_analyse(&pattern, arena, scratch, &mass->lu));
    FIL_TRY(fil_block_lu_reserve(mass->lu, arena));
    fil_block_lu_set_threads(mass->lu, threads);
    *regular = fil_block_lu_factor(mass->lu, A.value, NULL) == 0;
    *out = mass;
    return mass->work != NULL ? FIL_OK : FIL_E_NO_MEMORY;
}

void fil_mass_solve(FilMassSolver *mass, double *x) {
    const FilReduction *reduction = mass->reduction;
    for (int k = 0; k < mass->dof_count; k++) {
        mass->work[k] = x[reduction->dof[k]];
    }
    (void)fil_block_lu_solve(mass->lu, mass->work);
    for (int k = 0; k < mass->dof_count; k++) {
        x[reduction->dof[k]] = mass->work[k];
    }
}

// --- W as an operator ----------------------------------------------------------------------------

typedef struct Unreduced {
    FilMassSolver *mass;
    const FilSparse *H;
    const int *offset;
    const double *compliance; // or NULL
    int n;
    const int64_t *block_at; // [n] where a diagonal block begins
    double *diagonal;
    double *velocity; // [dofs] M^-1 H r
    double *force;    // [dofs] scratch
} Unreduced;

static void add_force(const FilSparse *H, int column, double impulse, double *force) {
    for (int k = H->start[column]; k < H->start[column + 1]; k++) {
        force[H->index[k]] += H->value[k] * impulse;
    }
}

void fil_unreduced_velocity(FilMassSolver *mass, const FilGlobalForm *global, const double *r,
                            double *v) {
    memcpy(v, global->f, (size_t)mass->dof_count * sizeof *v);
    for (int c = 0; c < global->H.column_count; c++) {
        add_force(&global->H, c, r[c], v);
    }
    fil_mass_solve(mass, v);
}

static double find_motion(const FilSparse *H, int column, const double *velocity) {
    double sum = 0.0;
    for (int k = H->start[column]; k < H->start[column + 1]; k++) {
        sum += H->value[k] * velocity[H->index[k]];
    }
    return sum;
}

static void unreduced_diagonal(const void *self, int i, double *block) {
    const Unreduced *x = self;
    const int d = x->offset[i + 1] - x->offset[i];
    memcpy(block, x->diagonal + x->block_at[i], (size_t)(d * d) * sizeof *block);
}

static void unreduced_reset(void *self, const double *r) {
    const Unreduced *x = self;
    memset(x->velocity, 0, (size_t)x->mass->dof_count * sizeof *x->velocity);
    for (int c = 0; c < x->offset[x->n]; c++) {
        add_force(x->H, c, r[c], x->velocity);
    }
    fil_mass_solve(x->mass, x->velocity);
}

static void unreduced_row(const void *self, int i, const double *r, double *u) {
    const Unreduced *x = self;
    const int d = x->offset[i + 1] - x->offset[i];
    for (int a = 0; a < d; a++) {
        u[a] = find_motion(x->H, x->offset[i] + a, x->velocity);
        for (int c = 0; x->compliance != NULL && c < d; c++) {
            u[a] += x->compliance[x->block_at[i] + a * d + c] * r[x->offset[i] + c];
        }
    }
}

static void unreduced_update(void *self, int i, const double *change) {
    const Unreduced *x = self;
    memset(x->force, 0, (size_t)x->mass->dof_count * sizeof *x->force);
    for (int c = x->offset[i]; c < x->offset[i + 1]; c++) {
        add_force(x->H, c, change[c - x->offset[i]], x->force);
    }
    fil_mass_solve(x->mass, x->force);
    for (int k = 0; k < x->mass->dof_count; k++) {
        x->velocity[k] += x->force[k];
    }
}

static void find_diagonal(Unreduced *x) {
    for (int i = 0; i < x->n; i++) {
        const int first = x->offset[i], d = x->offset[i + 1] - first;
        double *block = x->diagonal + x->block_at[i];
        for (int c = 0; c < d; c++) {
            memset(x->force, 0, (size_t)x->mass->dof_count * sizeof *x->force);
            add_force(x->H, first + c, 1.0, x->force);
            fil_mass_solve(x->mass, x->force);
            for (int a = 0; a < d; a++) {
                block[a * d + c] = find_motion(x->H, first + a, x->force);
            }
        }
        for (int k = 0; x->compliance != NULL && k < d * d; k++) {
            block[k] += x->compliance[x->block_at[i] + k];
        }
    }
}

static FilStatus find_free_velocity(const Unreduced *x, const FilGlobalForm *global,
                                    FilArena *arena, const double **out) {
    double *b = FIL_NEW(arena, double, x->offset[x->n]);
    if (b == NULL) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(x->force, global->f, (size_t)x->mass->dof_count * sizeof *x->force);
    fil_mass_solve(x->mass, x->force);
    for (int c = 0; c < x->offset[x->n]; c++) {
        b[c] = global->w[c] + find_motion(x->H, c, x->force);
    }
    *out = b;
    return FIL_OK;
}

FilStatus fil_system_unreduced(const FilFrictionProblem *problem, const FilReduction *reduction,
                               const FilSystemUse *use, FilArena *arena, FilArena *scratch,
                               FilSystem *out, bool *regular) {
    const FilGlobalForm *global = &problem->global;
    FIL_TRY(fil_system_begin(problem, arena, out));
    FilMassSolver *mass;
    FIL_TRY(factor_mass(&global->M, reduction, use->threads, arena, scratch, &mass, regular));
    if (!*regular) {
        return FIL_OK;
    }
    Unreduced *x = FIL_NEW(arena, Unreduced, 1);
    const int64_t *block_at = fil_system_squares(out, arena);
    if (x == NULL || block_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (Unreduced){.mass = mass,
                     .H = &global->H,
                     .offset = out->offset,
                     .compliance = problem->compliance,
                     .n = out->n,
                     .block_at = block_at,
                     .diagonal = FIL_NEW(arena, double, block_at[out->n]),
                     .velocity = FIL_NEW_ZEROED(arena, double, reduction->dof_count),
                     .force = FIL_NEW(arena, double, reduction->dof_count)};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    find_diagonal(x);
    FIL_TRY(find_free_velocity(x, global, arena, &out->b));
    out->delassus = (FilDelassus){
        x, unreduced_diagonal, unreduced_reset, unreduced_row, unreduced_update, NULL};
    out->reduction = reduction;
    out->mass = mass;
    if (use->newton) {
        FilPrimal *primal;
        FIL_TRY(fil_primal_create(problem, out, NULL, out->n, arena, scratch, &primal));
        out->primal = primal;
    }
    return fil_system_find_scales(out, arena);
}
