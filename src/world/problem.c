// problem.c - the friction problem of a step: W and b.
//
// W_ij is the sum over the one or two bodies that contacts i and j share of what they do to each
// other there (members.c). Bodies are worked on in parallel, then rows of W are; both write to
// places of their own, so that the bits do not depend on the threads. Where there are many contacts
// the problem also has what W is made of (global.c).
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

enum { VELOCITIES_FROM = 80 }; // contacts: below, factoring in impulses is cheap

typedef struct Build {
    const FilWorld *world;
    const FilWorldTry *step;
    FilMembers members;
    double **own;  // [body_count] W_body, [3 k][3 k]
    double **room; // [threads] scratch
    int *start, *column;
    double *value;
} Build;

static FilStatus no_memory(const Build *build, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                    build->members.count);
}

// --- W of the bodies -----------------------------------------------------------------------------

// Memory for W of every body, and scratch for every thread.
static FilStatus reserve_bodies(FilWorld *world, Build *build, FilError *error) {
    size_t most = 0;
    build->own = FIL_NEW_ZEROED(&world->scratch, double *, (size_t)world->body_count + 1);
    for (int k = 0; build->own != NULL && k < world->body_count; k++) {
        size_t rows = 3 * (size_t)fil_members_count(&build->members, k);
        size_t need = fil_members_room(&build->members, &world->bodies[k], k);
        build->own[k] = rows > 0 ? FIL_NEW(&world->scratch, double, rows *rows) : NULL;
        most = need > most ? need : most;
    }
    build->room = FIL_NEW(&world->scratch, double *, world->threads);
    for (int t = 0; build->room != NULL && t < world->threads; t++) {
        build->room[t] = FIL_NEW(&world->scratch, double, most + 1);
    }
    return world->scratch.failed ? no_memory(build, error) : FIL_OK;
}

static void make_body(void *context, int body) {
    const Build *build = context;
    if (fil_members_count(&build->members, body) > 0) {
        fil_members_matrix(&build->members, &build->world->bodies[body], body,
                           build->room[fil_thread_index()], build->own[body]);
    }
}

// --- the block rows of W -------------------------------------------------------------------------

// The contacts that share a body with the active contact a, ascending: the union of two sorted
// lists. `column` may be NULL: count only.
static int merge_row(const Build *build, const int bodies[2], int *column) {
    int at[2] = {0, 0}, end[2] = {0, 0}, count = 0;
    for (int side = 0; side < 2; side++) {
        if (bodies[side] >= 0) {
            at[side] = build->members.start[bodies[side]];
            end[side] = build->members.start[bodies[side] + 1];
        }
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        int left = at[0] < end[0] ? fil_member(&build->members, at[0])->contact : INT32_MAX;
        int right = at[1] < end[1] ? fil_member(&build->members, at[1])->contact : INT32_MAX;
        int least = left < right ? left : right;
        at[0] += left == least;
        at[1] += right == least;
        if (column != NULL) {
            column[count] = build->members.place[least];
        }
        count++;
    }
    return count;
}

static void bodies_of(const Build *build, int a, int bodies[2]) {
    const FilWorkContact *contact = &build->step->contacts[build->members.active[a]];
    bodies[0] = build->members.of[a][0] >= 0 ? contact->a.body : -1;
    bodies[1] = build->members.of[a][1] >= 0 ? contact->b.body : -1;
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
        int first = build->members.start[bodies[side]],
            last = build->members.start[bodies[side] + 1];
        ptrdiff_t n = 3 * (ptrdiff_t)(last - first),
                  row = 3 * (ptrdiff_t)(build->members.of[a][side] - first);
        const double *own = build->own[bodies[side]] + row * n;
        for (int k = at, j = first; j < last; j++) {
            int column = build->members.place[fil_member(&build->members, j)->contact];
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

static FilStatus reserve_rows(FilWorld *world, Build *build, FilError *error) {
    FilArena *arena = &world->scratch;
    int count = build->members.count;
    int64_t blocks = 0;
    build->start = FIL_NEW(arena, int, (size_t)count + 1);
    if (arena->failed) {
        return no_memory(build, error);
    }
    for (int a = 0; a < count; a++) {
        int bodies[2];
        bodies_of(build, a, bodies);
        build->start[a] = (int)blocks;
        blocks += merge_row(build, bodies, NULL);
        if (blocks > INT32_MAX) {
            return no_memory(build, error);
        }
    }
    build->start[count] = (int)blocks;
    build->column = FIL_NEW(arena, int, (size_t)blocks + 1);
    build->value = FIL_NEW(arena, double, 9 * (size_t)blocks + 1);
    return arena->failed ? no_memory(build, error) : FIL_OK;
}

static void fill_rows(void *context, int first, int last) {
    for (int a = first; a < last; a++) {
        fill_row(context, a);
    }
}

// --- laws and free velocities --------------------------------------------------------------------

typedef struct Laws {
    const FilWorld *world;
    const FilWorldTry *step;
    const FilRows *rows;
    const int *active;
    double *b, *mu;
    double *compliance; // [count][9], or NULL
    FilBlockKind *kinds;
} Laws;

// Regularised friction: u_T = -(slip speed / mu r_N) r_T until |r_T| = mu r_N, the normal impulse
// that of the step before. Only for that law; joints that give way do so whatever the law.
static void fill_compliance(const Laws *laws, const FilWorkContact *contact, double *block) {
    double push = fil_dot3(contact->normal, contact->memory.impulse);
    memset(block, 0, 9 * sizeof(double));
    if (laws->world->def.law == FIL_LAW_REGULARISED && contact->kind == FIL_BLOCK_COULOMB &&
        contact->mu * push > 0.0) {
        block[4] = block[8] = laws->world->def.slip_speed / (contact->mu * push);
    } else if (contact->kind != FIL_BLOCK_COULOMB) {
        for (int k = 0; k < 3; k++) {
            block[4 * k] = contact->soft[k];
        }
    }
}

// The free velocities of the rows, where the law holds on them.
static void fill_free(void *context, int first, int last) {
    const Laws *laws = context;
    for (int a = first; a < last; a++) {
        int i = laws->active[a];
        double *b = laws->b + 3 * (ptrdiff_t)a, offset[3];
        fil_rows_velocity(laws->world, laws->step, laws->rows, laws->step->free_velocity, i, b);
        fil_contact_offset(&laws->step->contacts[i], laws->step->dt, offset);
        fil_add3(1.0, offset, b);
    }
}

static void fill_laws(void *context, int first, int last) {
    const Laws *laws = context;
    fill_free(context, first, last);
    for (int a = first; a < last; a++) {
        const FilWorkContact *contact = &laws->step->contacts[laws->active[a]];
        laws->mu[a] = contact->mu;
        laws->kinds[a] = contact->kind;
        if (laws->compliance != NULL) {
            fill_compliance(laws, contact, laws->compliance + 9 * (ptrdiff_t)a);
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

// --- the problem ---------------------------------------------------------------------------------

static int count_dofs(const FilWorld *world, const FilMembers *members) {
    int64_t dofs = 0;
    for (int k = 0; k < world->body_count; k++) {
        dofs += fil_members_count(members, k) > 0 ? world->bodies[k].dof_count : 0;
    }
    return (int)(dofs < INT32_MAX ? dofs : INT32_MAX);
}

FilStatus fil_world_problem_begin(FilWorld *world, const FilWorldTry *step,
                                  const FilMembers *members, FilFrictionProblem *problem,
                                  FilError *error) {
    FilArena *arena = &world->scratch;
    size_t n = (size_t)members->count;
    Laws laws = {.world = world,
                 .step = step,
                 .rows = members->rows,
                 .active = members->active,
                 .b = FIL_NEW(arena, double, 3 * n + 1),
                 .mu = FIL_NEW(arena, double, n + 1),
                 .kinds = FIL_NEW(arena, FilBlockKind, n + 1)};
    if (world->def.law == FIL_LAW_REGULARISED || world->grabbed) {
        laws.compliance = FIL_NEW(arena, double, 9 * n + 1);
    }
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                        members->count);
    }
    fil_parallel_ranges(members->count, 32, world->threads, fill_laws, &laws);
    *problem = (FilFrictionProblem){.block_count = members->count,
                                    .block_size = 3,
                                    .kinds = laws.kinds,
                                    .mu = laws.mu,
                                    .dof_count = count_dofs(world, members),
                                    .b = laws.b,
                                    .compliance = laws.compliance};
    return FIL_OK;
}

FilStatus fil_world_problem_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                  const int *active, int count, FilFrictionProblem *problem,
                                  FilError *error) {
    Build build = {.world = world, .step = step};
    FIL_TRY(fil_members_list(world, step, rows, active, count, &build.members, error));
    FIL_TRY(fil_world_problem_begin(world, step, &build.members, problem, error));
    FIL_TRY(reserve_bodies(world, &build, error));
    FIL_TRY(reserve_rows(world, &build, error));
    fil_parallel_for(world->body_count, world->threads, make_body, &build);
    fil_parallel_ranges(count, 32, world->threads, fill_rows, &build);
    problem->form = FIL_FORM_BLOCKS;
    problem->blocks = (FilBlockRows){build.start, build.column, build.value};
    return count < VELOCITIES_FROM
               ? FIL_OK
               : fil_world_global_build(world, step, rows, active, count, &problem->global, error);
}

FilStatus fil_world_problem_refresh(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                    const int *active, FilFrictionProblem *problem,
                                    FilError *error) {
    int n = problem->block_count;
    Laws laws = {.world = world, .step = step, .rows = rows, .active = active};
    laws.b = FIL_NEW(&world->scratch, double, 3 * (size_t)n + 1);
    if (laws.b == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                        n);
    }
    fil_parallel_ranges(n, 32, world->threads, fill_free, &laws);
    problem->b = laws.b;
    return FIL_OK;
}
