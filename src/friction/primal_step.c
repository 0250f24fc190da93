// primal_step.c - Newton's linear system in the velocities of the bodies.
//
// With M dv = H dr the step (Fu (W + D) + Fr) dr = -F reads, block by block,
//
//     B_i dr_i = h_i - Fu_i H_i^T dv,     B = Fr + Fu (C + D),   h = -F,
//     (M + sum over i of H_i S_i H_i^T) dv = H B^-1 h,     S_i = B_i^-1 Fu_i.
//
// D > 0 makes B regular; the smaller it is, the stiffer S. One step of refinement on both equations
// restores what that costs in digits.
//
// Open contacts have S = 0. Often they are most, and without them the matrix is far sparser: where
// memory for it was taken (fil_primal_step_follow()) it is ordered anew as contacts open and close,
// which takes a sixth to a third of the time of a factorisation.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/block_lu.h"
#include "primal.h"
#include "small.h"

static const double FEWER = 0.85;      // of the contacts listed are active: others are left out
static const double NEARLY_ALL = 0.85; // of the contacts are not worth an order of their own

// The matrix of some contacts, analysed again as the contacts that press change.
typedef struct Narrow {
    FilArena *scratch; // of whoever made the step; NULL: all contacts always
    FilArena arena;    // in a block that was taken once; no more room: all contacts
    void *block;
    size_t size;
    bool *listed, *before; // [n] contacts that are in; that were active in the factorisation before
    int count;             // of those in
    const bool *mass;      // [entries] whether M has this block of A
    int entries;           // blocks of the matrix
    const int *from;       // [entries] which block of A
    double *value;         // those, packed
} Narrow;

struct FilPrimalStep {
    const FilPrimal *primal;
    const FilSystem *s;
    FilBlockLu *all; // of all contacts
    FilBlockLu *lu;  // in use: that, or one of fewer contacts
    Narrow narrow;
    int threads;
    const int64_t *block_at;  // [n + 1] square blocks of the contacts
    double *value;            // the matrix
    double *inverse;          // B^-1 of the contacts
    double *v;                // [dofs] dv
    double *g;                // [dofs] right side of M dv - H dr = g, then of the elimination
    double *correction;       // [dofs]
    double *h;                // [size]
    bool (*stop)(void *user); // that factorisations ask, or NULL
    void *stop_user;
};

FilStatus fil_primal_step_create(const FilPrimal *primal, const FilSystem *s, int threads,
                                 FilArena *arena, FilArena *scratch, FilPrimalStep **out,
                                 int64_t *flops) {
    FilPrimalStep *step = FIL_NEW(arena, FilPrimalStep, 1);
    if (step == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *step = (FilPrimalStep){.primal = primal, .s = s, .threads = threads};
    const FilBlocks *A = &primal->A;
    const FilBlockPattern pattern = {A->n, A->offset, A->start, A->column};
    FIL_TRY(fil_block_lu_analyse(&pattern, arena, scratch, &step->all));
    step->lu = step->all;
    *flops = fil_block_lu_info(step->all).flops;
    *out = step;
    return FIL_OK;
}

FilStatus fil_primal_step_reserve(FilPrimalStep *step, FilArena *arena) {
    const FilPrimal *p = step->primal;
    const FilSystem *s = step->s;
    step->block_at = fil_system_squares(s, arena);
    if (step->block_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    step->value = FIL_NEW(arena, double, p->A.at[p->A.start[p->A.n]]);
    step->inverse = FIL_NEW(arena, double, step->block_at[s->n]);
    step->v = FIL_NEW(arena, double, p->dof_count);
    step->g = FIL_NEW(arena, double, p->dof_count);
    step->correction = FIL_NEW(arena, double, p->dof_count);
    step->h = FIL_NEW(arena, double, s->size);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(fil_block_lu_reserve(step->all, arena));
    fil_block_lu_set_threads(step->all, step->threads);
    return FIL_OK;
}

// --- the contacts that press ---------------------------------------------------------------------

static int64_t block_size(const FilBlocks *A, int k) {
    return A->at[k + 1] - A->at[k];
}

static int entry_count(const FilBlocks *A) {
    return A->start[A->n];
}

// The one block of the arena.
static void *resize_block(void *user, void *block, size_t old_size, size_t new_size) {
    Narrow *narrow = user;
    void *given = block == NULL && new_size <= narrow->size ? narrow->block : NULL;
    (void)old_size;
    narrow->size = given != NULL ? 0 : narrow->size;
    return given;
}

FilStatus fil_primal_step_follow(FilPrimalStep *step, FilArena *arena, FilArena *scratch) {
    const FilBlocks *A = &step->primal->A;
    const int entries = entry_count(A), n = step->s->n;
    Narrow *narrow = &step->narrow;
    bool *mass = FIL_NEW_ZEROED(arena, bool, entries);
    narrow->size = (size_t)fil_block_lu_info(step->all).bytes +
                   (size_t)A->at[entries] * sizeof(double) + 256 * (size_t)entries;
    narrow->block = fil_arena_get(arena, narrow->size, 1);
    narrow->listed = FIL_NEW(arena, bool, n);
    narrow->before = FIL_NEW_ZEROED(arena, bool, n);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int k = 0; k < entries; k++) {
        for (int64_t e = A->at[k]; e < A->at[k + 1]; e++) {
            mass[k] |= A->value[e] != 0.0;
        }
    }
    narrow->mass = mass;
    narrow->scratch = scratch;
    narrow->arena = fil_arena_make_small(&(FilAllocator){resize_block, narrow}, narrow->size);
    narrow->count = n;
    memset(narrow->listed, true, (size_t)n * sizeof *narrow->listed);
    return FIL_OK;
}

// The matrix of all contacts.
static void take_all(FilPrimalStep *step) {
    step->lu = step->all;
    step->narrow.count = step->s->n;
    memset(step->narrow.listed, true, (size_t)step->s->n * sizeof(bool));
}

// The blocks of A that the contacts listed and M need: `start` and `column` of their rows.
static void list_blocks(const FilPrimalStep *step, bool *need, int *start, int *column, int *from) {
    const FilPrimal *p = step->primal;
    const FilBlocks *A = &p->A;
    memcpy(need, step->narrow.mass, (size_t)entry_count(A) * sizeof *need);
    for (int i = 0; i < step->s->n; i++) {
        for (int64_t k = p->pair_at[i]; step->narrow.listed[i] && k < p->pair_at[i + 1]; k++) {
            need[p->pair[k]] = true;
        }
    }
    int next = 0;
    for (int row = 0; row < A->n; row++) {
        start[row] = next;
        for (int k = A->start[row]; k < A->start[row + 1]; k++) {
            if (need[k]) {
                column[next] = A->column[k];
                from[next++] = k;
            }
        }
    }
    start[A->n] = next;
}

// Analyse the matrix of the contacts listed.
static FilStatus analyse_listed(FilPrimalStep *step) {
    const FilBlocks *A = &step->primal->A;
    Narrow *narrow = &step->narrow;
    const int entries = entry_count(A);
    fil_arena_reset(&narrow->arena);
    bool *need = FIL_NEW(narrow->scratch, bool, entries);
    int *start = FIL_NEW(narrow->scratch, int, A->n + 1);
    int *column = FIL_NEW(narrow->scratch, int, entries);
    int *from = FIL_NEW(&narrow->arena, int, entries);
    if (need == NULL || start == NULL || column == NULL || from == NULL) {
        return FIL_E_NO_MEMORY;
    }
    list_blocks(step, need, start, column, from);
    int64_t size = 0;
    for (int k = 0; k < start[A->n]; k++) {
        size += block_size(A, from[k]);
    }
    narrow->entries = start[A->n];
    narrow->from = from;
    narrow->value = FIL_NEW(&narrow->arena, double, size);
    const FilBlockPattern pattern = {A->n, A->offset, start, column};
    FilBlockLu *lu;
    FIL_TRY(fil_block_lu_analyse(&pattern, &narrow->arena, narrow->scratch, &lu));
    FIL_TRY(fil_block_lu_reserve(lu, &narrow->arena));
    fil_block_lu_set_threads(lu, step->threads);
    step->lu = lu;
    return narrow->arena.failed ? FIL_E_NO_MEMORY : FIL_OK;
}

// Whether the matrix at hand has all contacts that press, and few others.
static bool fits(const FilPrimalStep *step, const bool *active) {
    const Narrow *narrow = &step->narrow;
    int count = 0, missing = 0;
    for (int i = 0; i < step->s->n; i++) {
        count += active[i];
        missing += active[i] && !narrow->listed[i];
    }
    return missing == 0 && count >= FEWER * narrow->count;
}

// Contacts come and go from one iteration to the next: those of two iterations are listed.
static void follow(FilPrimalStep *step, const bool *active) {
    Narrow *narrow = &step->narrow;
    const int n = step->s->n;
    if (!fits(step, active)) {
        narrow->count = 0;
        for (int i = 0; i < n; i++) {
            narrow->listed[i] = active[i] || narrow->before[i];
            narrow->count += narrow->listed[i];
        }
        const FilArenaMark mark = fil_arena_mark(narrow->scratch);
        if (narrow->count > NEARLY_ALL * n || analyse_listed(step) != FIL_OK) {
            take_all(step);
        }
        fil_arena_release(narrow->scratch, mark);
    }
    memcpy(narrow->before, active, (size_t)n * sizeof *active);
}

// The values of the blocks in use.
static const double *pack(const FilPrimalStep *step) {
    const FilBlocks *A = &step->primal->A;
    const Narrow *narrow = &step->narrow;
    if (step->lu == step->all) {
        return step->value;
    }
    double *to = narrow->value;
    for (int k = 0; k < narrow->entries; k++) {
        const int64_t size = block_size(A, narrow->from[k]);
        memcpy(to, step->value + A->at[narrow->from[k]], (size_t)size * sizeof *to);
        to += size;
    }
    return narrow->value;
}

// --- factors and solutions -----------------------------------------------------------------------

// inverse := B^-1 with B = Fr + Fu (C + shift I).
static void invert(int d, const double *Fu, const double *Fr, const double *C, double shift,
                   double *inverse) {
    double B[FIL_BLOCK_MAX * FIL_BLOCK_MAX] = {0};
    if (C != NULL) {
        fil_small_multiply(d, d, d, Fu, C, B);
    }
    for (int k = 0; k < d * d; k++) {
        B[k] += Fr[k] + shift * Fu[k];
    }
    FilSmallLu lu;
    fil_small_factor(&lu, d, B, 0.0);
    for (int c = 0; c < d; c++) {
        double e[FIL_BLOCK_MAX] = {0}, x[FIL_BLOCK_MAX];
        e[c] = 1.0;
        fil_small_solve(&lu, e, x);
        for (int a = 0; a < d; a++) {
            inverse[a * d + c] = x[a];
        }
    }
}

// A += H S H^T of one contact.
static void add_contact(FilPrimalStep *step, int i, const double *S) {
    const FilPrimal *p = step->primal;
    const FilBlocks *A = &p->A;
    const int d = fil_system_block_size(step->s, i);
    const int first = p->contact_start[i], nodes = p->contact_start[i + 1] - first;
    for (int a = 0; a < nodes; a++) {
        const int rows = fil_blocks_size(A->offset, p->contact_node[first + a]);
        double HS[FIL_NODE_MOST * FIL_BLOCK_MAX];
        fil_small_multiply(rows, d, d, p->H + p->H_at[first + a], S, HS);
        for (int b = 0; b < nodes; b++) {
            const int columns = fil_blocks_size(A->offset, p->contact_node[first + b]);
            fil_small_add_transposed(rows, d, columns, HS, p->H + p->H_at[first + b],
                                     step->value +
                                         A->at[p->pair[p->pair_at[i] + (int64_t)a * nodes + b]]);
        }
    }
}

static const double *compliance_of(const FilPrimalStep *step, int i) {
    return step->primal->compliance != NULL ? step->primal->compliance + step->block_at[i] : NULL;
}

// u += C_i r.
static void add_yield(const FilPrimalStep *step, int i, const double *r, double *u) {
    const double *C = compliance_of(step, i);
    const int d = fil_system_block_size(step->s, i);
    for (int k = 0; C != NULL && k < d * d; k++) {
        u[k / d] += C[k] * r[k % d];
    }
}

static void assemble(FilPrimalStep *step, const FilJacobian *J) {
    const FilBlocks *A = &step->primal->A;
    memcpy(step->value, A->value, (size_t)A->at[A->start[A->n]] * sizeof *step->value);
    for (int i = 0; i < step->s->n; i++) {
        if (!J->active[i]) {
            continue;
        }
        const int d = fil_system_block_size(step->s, i);
        const int64_t at = step->block_at[i];
        double S[FIL_BLOCK_MAX * FIL_BLOCK_MAX];
        invert(d, J->Fu + at, J->Fr + at, compliance_of(step, i), J->shift[i], step->inverse + at);
        fil_small_multiply(d, d, d, step->inverse + at, J->Fu + at, S);
        add_contact(step, i, S);
    }
}

// y += H_i x_i.
static void add_force(const FilPrimalStep *step, int i, const double *x, double *y) {
    const FilPrimal *p = step->primal;
    const int d = fil_system_block_size(step->s, i);
    for (int e = p->contact_start[i]; e < p->contact_start[i + 1]; e++) {
        const int node = p->contact_node[e], first = p->node_offset[node];
        for (int r = 0; r < p->node_offset[node + 1] - first; r++) {
            for (int k = 0; k < d; k++) {
                y[first + r] += p->H[p->H_at[e] + r * d + k] * x[k];
            }
        }
    }
}

// u = H_i^T v.
static void find_motion(const FilPrimalStep *step, int i, const double *v, double *u) {
    const FilPrimal *p = step->primal;
    const int d = fil_system_block_size(step->s, i);
    memset(u, 0, (size_t)d * sizeof *u);
    for (int e = p->contact_start[i]; e < p->contact_start[i + 1]; e++) {
        const int node = p->contact_node[e], first = p->node_offset[node];
        for (int r = 0; r < p->node_offset[node + 1] - first; r++) {
            for (int k = 0; k < d; k++) {
                u[k] += p->H[p->H_at[e] + r * d + k] * v[first + r];
            }
        }
    }
}

// Solve M dv - H dr = g, Fu (H^T dv + D dr) + Fr dr = h; adds to v and d. g is used up.
static bool eliminate(FilPrimalStep *step, const FilJacobian *J, double *v, double *d) {
    const FilSystem *s = step->s;
    double *dv = step->correction;
    for (int i = 0; i < s->n; i++) {
        const int size = fil_system_block_size(s, i);
        const double *h = step->h + s->offset[i];
        double x[FIL_BLOCK_MAX];
        if (J->active[i]) {
            fil_small_multiply(size, size, 1, step->inverse + step->block_at[i], h, x);
        } else {
            memcpy(x, h, (size_t)size * sizeof *x); // Fr = I
        }
        add_force(step, i, x, step->g);
    }
    memcpy(dv, step->g, (size_t)step->primal->dof_count * sizeof *dv);
    const bool finite = fil_block_lu_solve(step->lu, dv);
    for (int k = 0; k < step->primal->dof_count; k++) {
        v[k] += dv[k];
    }
    for (int i = 0; i < s->n; i++) {
        const int size = fil_system_block_size(s, i);
        const int64_t at = step->block_at[i];
        const double *h = step->h + s->offset[i];
        double u[FIL_BLOCK_MAX], x[FIL_BLOCK_MAX], rest[FIL_BLOCK_MAX];
        if (!J->active[i]) {
            memcpy(x, h, (size_t)size * sizeof *x);
        } else {
            find_motion(step, i, dv, u);
            fil_small_multiply(size, size, 1, J->Fu + at, u, rest);
            for (int k = 0; k < size; k++) {
                rest[k] = h[k] - rest[k];
            }
            fil_small_multiply(size, size, 1, step->inverse + at, rest, x);
        }
        for (int k = 0; k < size; k++) {
            d[s->offset[i] + k] += x[k];
        }
    }
    return finite;
}

// Residuals of both equations at (v, d) into g and h.
static void find_residuals(FilPrimalStep *step, const FilJacobian *J, const double *F,
                           const double *v, const double *d) {
    const FilSystem *s = step->s;
    const FilPrimal *p = step->primal;
    fil_blocks_multiply(&p->A, v, step->g, step->threads);
    for (int k = 0; k < p->dof_count; k++) {
        step->g[k] = -step->g[k];
    }
    for (int i = 0; i < s->n; i++) {
        const int size = fil_system_block_size(s, i), o = s->offset[i];
        const int64_t at = step->block_at[i];
        add_force(step, i, d + o, step->g);
        if (!J->active[i]) {
            for (int k = 0; k < size; k++) {
                step->h[o + k] = -F[o + k] - d[o + k];
            }
            continue;
        }
        double u[FIL_BLOCK_MAX];
        find_motion(step, i, v, u);
        add_yield(step, i, d + o, u);
        for (int a = 0; a < size; a++) {
            double sum = -F[o + a];
            for (int k = 0; k < size; k++) {
                sum -= J->Fu[at + a * size + k] * (u[k] + J->shift[i] * d[o + k]) +
                       J->Fr[at + a * size + k] * d[o + k];
            }
            step->h[o + a] = sum;
        }
    }
}

void fil_primal_step_factor(FilPrimalStep *step, const FilJacobian *J) {
    assemble(step, J);
    if (step->narrow.scratch != NULL) {
        follow(step, J->active);
    }
    fil_block_lu_set_stop(step->lu, step->stop, step->stop_user);
    (void)fil_block_lu_factor(step->lu, pack(step), NULL);
}

void fil_primal_step_set_stop(FilPrimalStep *step, bool (*stop)(void *user), void *user) {
    step->stop = stop;
    step->stop_user = user;
}

FilStepCost fil_primal_step_cost(const FilPrimalStep *step) {
    const FilBlockLuInfo info = fil_block_lu_info(step->lu);
    return (FilStepCost){(double)info.flops, 2.0 * (double)info.nonzeros};
}

bool fil_primal_step_solve(FilPrimalStep *step, const FilJacobian *J, const double *F, bool refine,
                           double *d) {
    const FilPrimal *p = step->primal;
    const int size = step->s->size;
    memset(step->v, 0, (size_t)p->dof_count * sizeof *step->v);
    memset(step->g, 0, (size_t)p->dof_count * sizeof *step->g);
    memset(d, 0, (size_t)size * sizeof *d);
    for (int k = 0; k < size; k++) {
        step->h[k] = -F[k];
    }
    const bool finite = eliminate(step, J, step->v, d);
    if (!finite || !refine) {
        return finite;
    }
    find_residuals(step, J, F, step->v, d);
    return eliminate(step, J, step->v, d);
}
