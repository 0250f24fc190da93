// A heap of many contacts knows what its operator is made of: the matrices of the bodies and the
// rows of the contacts; the friction problem is then factored in velocities.
#include "check.h"
#include "world_bench.h"

#include "base/random.h"
#include "friction/system.h"

#include <math.h>
#include <string.h>

enum { ROWS = 15 }; // logs in a layer

typedef struct Seen {
    int problems, given; // all, and those with M and H
    double worst;        // difference of H^T M^-1 H r from W r, relative
    double apart;        // of the velocities found with and without M and H, relative to b
    int iterations[2];   // without and with
    int most;            // looked at; 0: all
} Seen;

static void multiply(const FilFrictionProblem *problem, const double *r, double *u) {
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    FilSystem system;
    FilError error;
    must(fil_system_build(problem, &(FilSystemUse){.newton = true, .threads = 1}, &arena, &scratch,
                          &system, &error),
         &error);
    fil_system_velocity(&system, r, u, 1);
    for (int k = 0; k < system.size; k++) {
        u[k] -= system.b[k];
    }
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
}

// The largest difference, relative to the largest of `scale`.
static double compare(const double *x, const double *y, const double *scale, size_t n) {
    double most = 0.0, off = 0.0;
    for (size_t k = 0; k < n; k++) {
        most = fmax(most, fabs(scale[k]));
        off = fmax(off, fabs(x[k] - y[k]));
    }
    return off / most;
}

static void look(void *user, const FilFrictionProblem *problem, const double *guess,
                 const bool *fresh) {
    Seen *seen = user;
    size_t n = 3 * (size_t)problem->block_count, m = (size_t)problem->global.M.column_count;
    (void)fresh;
    seen->problems++;
    if (m == 0 || (seen->most > 0 && seen->given == seen->most)) {
        return;
    }
    seen->given++;
    double *r = calloc(n, sizeof *r), *u[2] = {calloc(n, sizeof *r), calloc(n, sizeof *r)};
    double *none = calloc(n + m, sizeof *none);
    FilRandom random = fil_random_make(5);
    for (size_t k = 0; k < n; k++) {
        r[k] = fil_random_normal(&random);
    }
    FilFrictionProblem forms[2] = {*problem, *problem};
    forms[0].global = (FilGlobalForm){0};
    forms[1].form = FIL_FORM_GLOBAL;
    forms[1].global.f = forms[1].global.w = none;
    multiply(&forms[0], r, u[0]);
    multiply(&forms[1], r, u[1]);
    seen->worst = fmax(seen->worst, compare(u[0], u[1], u[0], n));
    forms[1] = *problem;
    for (int with = 0; with < 2; with++) {
        FilFrictionSettings settings = fil_friction_settings_default();
        FilFrictionSolution solution = {.r = r, .u = u[with]};
        FilFrictionInfo info;
        settings.tolerance = 1e-10;
        settings.warm_start = true;
        memcpy(r, guess, n * sizeof *r);
        CHECK(fil_friction_solve(&forms[with], &settings, NULL, &solution, &info, NULL) == FIL_OK);
        CHECK(info.outcome == FIL_CONVERGED);
        seen->iterations[with] += info.iterations;
    }
    seen->apart = fmax(seen->apart, compare(u[0], u[1], problem->b, n));
    free(r);
    free(u[0]);
    free(u[1]);
    free(none);
}

// Three layers of logs, each across the one below, of the models named, tips held or not; a cube on
// top.
static FilWorld *stack_logs(const FilRodModel *models, int count, bool held) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    for (int k = 0; k < 3 * ROWS; k++) {
        int layer = k / ROWS;
        double across = 0.06 * (k % ROWS) + 0.08;
        FilRodDef log = log_def(models[k % count], 0.01 + 0.02 * layer);
        log.section.young = 1e7;
        log.root_end.kind = k % 5 == 0 ? FIL_END_CLAMPED : FIL_END_FREE;
        log.tip_end.kind = held ? FIL_END_PINNED : FIL_END_FREE;
        log.root.position[layer % 2 == 0 ? 1 : 0] = across;
        if (layer % 2 == 1) {
            const double along[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
            memcpy(log.root.axis, along, sizeof along);
        }
        (void)add_rod(world, &log, 1);
    }
    FilRigidDef cube = fil_rigid_def_default();
    cube.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {0.3, 0.3, 0.3}};
    cube.pose.position[0] = cube.pose.position[1] = 0.5;
    cube.pose.position[2] = 0.21;
    (void)add_rigid(world, &cube);
    return world;
}

static void matrices_and_rows_make_the_operator_and_the_same_motion(void) {
    const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_CHAIN, FIL_ROD_CORDE};
    FilWorld *world = stack_logs(models, 3, false);
    Seen seen = {0};
    fil_world_watch_problems(world, look, &seen);
    FilStepInfo info = take_step(world);
    CHECK(info.contact_count > 500 && info.outcome == FIL_CONVERGED);
    CHECK(seen.given > 0);
    CHECK(seen.worst < 1e-11);
    CHECK(seen.apart < 1e-6);
    CHECK(seen.iterations[1] <= 1.1 * seen.iterations[0]);
    fil_world_destroy(world);
}

// Helix and clothoid know how impulses move them, not their matrix: it is the inverse of that. (Of
// the several solutions that this stack has either way may find another one.)
static void rods_in_generalised_coordinates_have_a_matrix_too(void) {
    const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_HELIX, FIL_ROD_CLOTHOID};
    FilWorld *world = stack_logs(models, 3, false);
    Seen seen = {.most = 2};
    fil_world_watch_problems(world, look, &seen);
    FilStepInfo info = take_step(world);
    CHECK(info.contact_count > 500 && info.outcome == FIL_CONVERGED);
    CHECK(seen.given > 0);
    CHECK(seen.worst < 1e-8);
    CHECK(seen.iterations[1] <= 1.1 * seen.iterations[0]);
    fil_world_destroy(world);
}

// A held tip makes P singular: there is no inverse of it.
static void a_body_without_a_matrix_leaves_the_operator_alone(void) {
    const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_HELIX};
    FilWorld *world = stack_logs(models, 2, true);
    Seen seen = {0};
    fil_world_watch_problems(world, look, &seen);
    CHECK(take_step(world).contact_count > 500);
    CHECK(seen.problems > 0 && seen.given == 0);
    fil_world_destroy(world);
}

#define TESTS(X)                                               \
    X(matrices_and_rows_make_the_operator_and_the_same_motion) \
    X(rods_in_generalised_coordinates_have_a_matrix_too)       \
    X(a_body_without_a_matrix_leaves_the_operator_alone)

CHECK_MAIN(TESTS)
