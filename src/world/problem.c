// problem.c - the friction problem of a step: W and b.
//
// Per body, with the k contacts that matter to it, W_body = H P H^T: P H^T by 3 k solves, or, where
// the body has fewer unknowns than that, by way of P itself. Then W_ij is the sum over the one or
// two bodies that contacts i and j share. Bodies are worked on in parallel, then rows of W are;
// both write to places of their own, so that the bits do not depend on the threads.
//
// Where there are many contacts the problem also has what W is made of (global.c).
//
// For gap >= 0 the law holds on u_N + gap / dt, for gap < 0 on u_N. Rebound: at touch the law holds
// on u_N - e (approach). A joint is an equality whose error goes to 0 by the end of the step.
#include "problem.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "math/vector.h"

enum { VELOCITIES_FROM = 500 }; // contacts: below, factoring in impulses is cheap

typedef struct Build {
    const FilWorld *world;
    const FilWorldTry *step;
    const FilRows *rows;
    const int *active; // contacts
    int count;
    int *place;      // [contact_count] among the active ones, or -1
    int *body_start; // [body_count + 1] of `member`
    int *member;     // incidences of active contacts, by body
    int (*of)[2];    // [count] where in `member` a contact is, for its bodies; or -1
    double **own;    // [body_count] W_body, [3 k][3 k]
    double **room;   // [threads] scratch
    int *start, *column;
    double *value, *b, *mu;
    double *compliance; // [count][9], or NULL
    FilBlockKind *kinds;
} Build;

static FilStatus no_memory(const Build *build, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                    build->count);
}

static const FilIncidence *member_of(const Build *build, int k) {
    return &build->rows->incidences[build->member[k]];
}

// --- the contacts that matter to each body -------------------------------------------------------

static FilStatus list_members(FilWorld *world, Build *build, FilError *error) {
    const FilRows *rows = build->rows;
    int n = build->step->contact_count;
    FilArena *arena = &world->scratch;
    build->place = FIL_NEW(arena, int, (size_t)n + 1);
    build->body_start = FIL_NEW(arena, int, (size_t)world->body_count + 1);
    build->member = FIL_NEW(arena, int, 2 * (size_t)build->count + 1);
    build->of = (int(*)[2])fil_arena_get(arena, (size_t)build->count + 1, sizeof(*build->of));
    build->own = FIL_NEW_ZEROED(arena, double *, (size_t)world->body_count + 1);
    if (arena->failed) {
        return no_memory(build, error);
    }
    for (int i = 0; i < n; i++) {
        build->place[i] = -1;
    }
    for (int a = 0; a < build->count; a++) {
        build->place[build->active[a]] = a;
        build->of[a][0] = build->of[a][1] = -1;
    }
    int at = 0;
    for (int body = 0; body < world->body_count; body++) {
        build->body_start[body] = at;
        for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
            int contact = rows->incidences[k].contact, a = build->place[contact];
            if (a >= 0) {
                build->of[a][rows->of_contact[contact][0] == k ? 0 : 1] = at;
                build->member[at++] = k;
            }
        }
    }
    build->body_start[world->body_count] = at;
    return FIL_OK;
}

// Memory for W of every body, and scratch for every thread.
static FilStatus reserve_bodies(FilWorld *world, Build *build, FilError *error) {
    size_t most = 0;
    for (int k = 0; k < world->body_count; k++) {
        size_t rows = 3 * (size_t)(build->body_start[k + 1] - build->body_start[k]);
        size_t m = (size_t)world->bodies[k].dof_count;
        if (rows == 0) {
            continue;
        }
        build->own[k] = FIL_NEW(&world->scratch, double, rows *rows);
        size_t need = (rows > m ? m * m : 0) + 2 * rows * m;
        most = need > most ? need : most;
    }
    build->room = FIL_NEW(&world->scratch, double *, world->threads);
    for (int t = 0; build->room != NULL && t < world->threads; t++) {
        build->room[t] = FIL_NEW(&world->scratch, double, most + 1);
    }
    return world->scratch.failed ? no_memory(build, error) : FIL_OK;
}

// --- W of a body ---------------------------------------------------------------------------------

static bool solve_columns(const FilBody *body, int count, double *X) {
    return body->table->solve_columns != NULL && body->table->solve_columns(body->self, count, X);
}

// H^T, [m][rows].
static void fill_columns(const Build *build, int m, int first, int count, double *X) {
    ptrdiff_t rows = 3 * (ptrdiff_t)count;
    memset(X, 0, sizeof(double) * (size_t)m * (size_t)rows);
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = member_of(build, first + k);
        for (int e = 0; e < 3 * incidence->width; e++) {
            int row = e / incidence->width, c = incidence->first + e % incidence->width;
            X[c * rows + 3 * (ptrdiff_t)k + row] = incidence->H[e];
        }
    }
}

// X = P H^T, [m][rows], where the solves go one row at a time; turned over.
static void spread_rows(const Build *build, const FilBody *body, int first, int count, double *X,
                        double *work) {
    int m = body->dof_count, rows = 3 * count;
    memset(work, 0, sizeof(double) * (size_t)rows * (size_t)m);
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = member_of(build, first + k);
        for (int row = 0; row < 3; row++) {
            memcpy(work + (3 * (ptrdiff_t)k + row) * m + incidence->first,
                   incidence->H + (ptrdiff_t)row * incidence->width,
                   sizeof(double) * (size_t)incidence->width);
        }
    }
    body->table->solve(body->self, rows, work);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < m; c++) {
            X[(ptrdiff_t)c * rows + r] = work[(ptrdiff_t)r * m + c];
        }
    }
}

// The same by way of P, which takes m solves.
static void spread_rows_dense(const Build *build, const FilBody *body, int first, int count,
                              double *X, double *P) {
    int m = body->dof_count, rows = 3 * count;
    memset(P, 0, sizeof(double) * (size_t)m * (size_t)m);
    for (int k = 0; k < m; k++) {
        P[(ptrdiff_t)k * (m + 1)] = 1.0;
    }
    if (!solve_columns(body, m, P)) { // P is symmetric
        body->table->solve(body->self, m, P);
    }
    for (int c = 0; c < m; c++) {
        const double *column = P + (ptrdiff_t)c * m;
        for (int k = 0; k < count; k++) {
            const FilIncidence *incidence = member_of(build, first + k);
            for (int row = 0; row < 3; row++) {
                X[(ptrdiff_t)c * rows + 3 * (ptrdiff_t)k + row] =
                    fil_dot(incidence->H + (ptrdiff_t)row * incidence->width,
                            column + incidence->first, incidence->width);
            }
        }
    }
}

// W_body = H X, symmetric: what is below the diagonal is what is above it.
static void multiply_rows(const Build *build, int first, int count, const double *X, double *W) {
    ptrdiff_t n = 3 * (ptrdiff_t)count;
    memset(W, 0, sizeof(double) * (size_t)(n * n));
    for (int k = 0; k < count; k++) {
        const FilIncidence *incidence = member_of(build, first + k);
        for (int row = 0; row < 3; row++) {
            const double *H = incidence->H + (ptrdiff_t)row * incidence->width;
            ptrdiff_t r = 3 * (ptrdiff_t)k + row;
            for (int c = 0; c < incidence->width; c++) {
                fil_axpy(H[c], X + (incidence->first + c) * n + r, W + r * n + r, (int)(n - r));
            }
        }
    }
    for (ptrdiff_t r = 0; r < n; r++) {
        for (ptrdiff_t c = 0; c < r; c++) {
            W[r * n + c] = W[c * n + r];
        }
    }
}

static void make_body(void *context, int body) {
    const Build *build = context;
    int first = build->body_start[body], count = build->body_start[body + 1] - first;
    if (count == 0) {
        return;
    }
    const FilBody *self = &build->world->bodies[body];
    ptrdiff_t m = self->dof_count, rows = 3 * (ptrdiff_t)count;
    double *X = build->room[fil_thread_index()], *work = X + rows * m;
    if (rows > m) {
        spread_rows_dense(build, self, first, count, X, work);
    } else {
        fill_columns(build, (int)m, first, count, X);
        if (!solve_columns(self, (int)rows, X)) {
            spread_rows(build, self, first, count, X, work);
        }
    }
    multiply_rows(build, first, count, X, build->own[body]);
}

// --- the block rows of W -------------------------------------------------------------------------

// The contacts that share a body with the active contact a, ascending: the union of two sorted
// lists. `column` may be NULL: count only.
static int merge_row(const Build *build, const int bodies[2], int *column) {
    int at[2] = {0, 0}, end[2] = {0, 0}, count = 0;
    for (int side = 0; side < 2; side++) {
        if (bodies[side] >= 0) {
            at[side] = build->body_start[bodies[side]];
            end[side] = build->body_start[bodies[side] + 1];
        }
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        int left = at[0] < end[0] ? member_of(build, at[0])->contact : INT32_MAX;
        int right = at[1] < end[1] ? member_of(build, at[1])->contact : INT32_MAX;
        int least = left < right ? left : right;
        at[0] += left == least;
        at[1] += right == least;
        if (column != NULL) {
            column[count] = build->place[least];
        }
        count++;
    }
    return count;
}

static void bodies_of(const Build *build, int a, int bodies[2]) {
    const FilWorkContact *contact = &build->step->contacts[build->active[a]];
    bodies[0] = build->of[a][0] >= 0 ? contact->a.body : -1;
    bodies[1] = build->of[a][1] >= 0 ? contact->b.body : -1;
}

// W_ij of the row of contact a, from what its bodies know.
static void fill_row(const Build *build, int a) {
    int bodies[2];
    bodies_of(build, a, bodies);
    int at = build->start[a], count = merge_row(build, bodies, build->column + at);
    memset(build->value + 9 * (ptrdiff_t)at, 0, sizeof(double) * 9 * (size_t)count);
    for (int side = 0; side < 2; side++) {
        if (bodies[side] < 0) {
            continue;
        }
        int first = build->body_start[bodies[side]], last = build->body_start[bodies[side] + 1];
        ptrdiff_t n = 3 * (ptrdiff_t)(last - first),
                  row = 3 * (ptrdiff_t)(build->of[a][side] - first);
        const double *own = build->own[bodies[side]] + row * n;
        for (int k = at, j = first; j < last; j++) {
            int column = build->place[member_of(build, j)->contact];
            while (build->column[k] != column) {
                k++;
            }
            double *block = build->value + 9 * (ptrdiff_t)k;
            for (int e = 0; e < 9; e++) {
                block[e] += own[(ptrdiff_t)(e / 3) * n + 3 * (ptrdiff_t)(j - first) + e % 3];
            }
        }
    }
}

// Regularised friction: u_T = -(slip speed / mu r_N) r_T until |r_T| = mu r_N, the normal impulse
// that of the step before.
static void fill_compliance(const Build *build, const FilWorkContact *contact, double *block) {
    double push = fil_dot3(contact->normal, contact->memory.impulse);
    memset(block, 0, 9 * sizeof(double));
    if (contact->kind == FIL_BLOCK_COULOMB && contact->mu * push > 0.0) {
        block[4] = block[8] = build->world->def.slip_speed / (contact->mu * push);
    }
}

// The free velocities of the rows, where the law holds on them.
static void fill_free(const Build *build, int a) {
    int i = build->active[a];
    double *b = build->b + 3 * (ptrdiff_t)a, offset[3];
    fil_rows_velocity(build->world, build->step, build->rows, build->step->free_velocity, i, b);
    fil_contact_offset(&build->step->contacts[i], build->step->dt, offset);
    fil_add3(1.0, offset, b);
}

static void fill_free_range(void *context, int first, int last) {
    for (int a = first; a < last; a++) {
        fill_free(context, a);
    }
}

static void fill_range(void *context, int first, int last) {
    const Build *build = context;
    for (int a = first; a < last; a++) {
        const FilWorkContact *contact = &build->step->contacts[build->active[a]];
        fill_row(build, a);
        fill_free(build, a);
        build->mu[a] = contact->mu;
        build->kinds[a] = contact->kind;
        if (build->compliance != NULL) {
            fill_compliance(build, contact, build->compliance + 9 * (ptrdiff_t)a);
        }
    }
}

void fil_contact_offset(const FilWorkContact *contact, double dt, double offset[3]) {
    for (int k = 0; k < 3; k++) {
        offset[k] = contact->error[k] / dt;
    }
    offset[0] += contact->gap > 0.0 ? contact->gap / dt : 0.0;
    if (fil_contact_rebounds(contact)) {
        offset[0] -= contact->restitution * contact->memory.approach;
    }
}

bool fil_contact_rebounds(const FilWorkContact *contact) {
    return contact->restitution > 0.0 && contact->known && !contact->memory.rebounded &&
           contact->gap <= 1e-3 * contact->margin;
}

static FilStatus reserve_rows(FilWorld *world, Build *build, FilError *error) {
    FilArena *arena = &world->scratch;
    build->start = FIL_NEW(arena, int, (size_t)build->count + 1);
    build->b = FIL_NEW(arena, double, 3 * (size_t)build->count + 1);
    build->mu = FIL_NEW(arena, double, (size_t)build->count + 1);
    build->kinds = FIL_NEW(arena, FilBlockKind, (size_t)build->count + 1);
    if (world->def.law == FIL_LAW_REGULARISED) {
        build->compliance = FIL_NEW(arena, double, 9 * (size_t)build->count + 1);
    }
    if (arena->failed) {
        return no_memory(build, error);
    }
    int64_t blocks = 0;
    for (int a = 0; a < build->count; a++) {
        int bodies[2];
        bodies_of(build, a, bodies);
        build->start[a] = (int)blocks;
        blocks += merge_row(build, bodies, NULL);
        if (blocks > INT32_MAX) {
            return no_memory(build, error);
        }
    }
    build->start[build->count] = (int)blocks;
    build->column = FIL_NEW(arena, int, (size_t)blocks + 1);
    build->value = FIL_NEW(arena, double, 9 * (size_t)blocks + 1);
    return arena->failed ? no_memory(build, error) : FIL_OK;
}

FilStatus fil_world_problem_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                  const int *active, int count, FilFrictionProblem *problem,
                                  FilError *error) {
    Build build = {.world = world, .step = step, .rows = rows, .active = active, .count = count};
    FIL_TRY(list_members(world, &build, error));
    FIL_TRY(reserve_bodies(world, &build, error));
    FIL_TRY(reserve_rows(world, &build, error));
    fil_parallel_for(world->body_count, world->threads, make_body, &build);
    fil_parallel_ranges(count, 32, world->threads, fill_range, &build);
    int64_t dofs = 0;
    for (int k = 0; k < world->body_count; k++) {
        dofs += build.body_start[k + 1] > build.body_start[k] ? world->bodies[k].dof_count : 0;
    }
    *problem = (FilFrictionProblem){
        .block_count = count,
        .block_size = 3,
        .kinds = build.kinds,
        .mu = build.mu,
        .dof_count = (int)(dofs < INT32_MAX ? dofs : INT32_MAX),
        .form = FIL_FORM_BLOCKS,
        .blocks = {.start = build.start, .column = build.column, .value = build.value},
        .b = build.b,
        .compliance = build.compliance,
    };
    return count < VELOCITIES_FROM
               ? FIL_OK
               : fil_world_global_build(world, step, rows, active, count, &problem->global, error);
}

FilStatus fil_world_problem_refresh(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                    const int *active, FilFrictionProblem *problem,
                                    FilError *error) {
    int n = problem->block_count;
    Build build = {.world = world, .step = step, .rows = rows, .active = active, .count = n};
    build.b = FIL_NEW(&world->scratch, double, 3 * (size_t)n + 1);
    if (build.b == NULL) {
        return no_memory(&build, error);
    }
    fil_parallel_ranges(n, 32, world->threads, fill_free_range, &build);
    problem->b = build.b;
    return FIL_OK;
}
