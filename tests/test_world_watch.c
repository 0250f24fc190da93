// Whoever watches a world sees every friction problem as it is solved, and changes nothing.
#include "check.h"
#include "world_bench.h"

#include <math.h>
#include <string.h>

typedef struct Seen {
    int problems, blocks, fresh;
    double guess;    // sum of the normal impulses that the last solve started from
    bool finite;     // all that was shown
    bool has_matrix; // the blocks on the diagonal are there, and positive
} Seen;

static void look(void *user, const FilFrictionProblem *problem, const double *r,
                 const bool *fresh) {
    Seen *seen = user;
    seen->problems++;
    seen->blocks = problem->block_count;
    seen->fresh = 0;
    seen->guess = 0.0;
    for (int i = 0; i < problem->block_count; i++) {
        seen->fresh += fresh[i];
        seen->guess += r[3 * i];
        seen->finite = seen->finite && isfinite(problem->b[3 * i]) && isfinite(r[3 * i]);
        for (int k = problem->blocks.start[i]; k < problem->blocks.start[i + 1]; k++) {
            seen->has_matrix = seen->has_matrix && (problem->blocks.column[k] != i ||
                                                    problem->blocks.value[9 * (ptrdiff_t)k] > 0.0);
        }
    }
}

static FilWorld *drop_a_log(double z) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    FilRodDef log = log_def(FIL_ROD_DER, z);
    (void)add_rod(world, &log, 2);
    return world;
}

static void what_is_solved_is_seen(void) {
    FilWorld *world = drop_a_log(0.01); // it lies on the floor
    Seen seen = {.finite = true, .has_matrix = true};
    fil_world_watch_problems(world, look, &seen);
    FilStepInfo info = take_step(world);
    CHECK(seen.problems >= 1 && seen.blocks == info.contact_count);
    CHECK(seen.finite && seen.has_matrix);
    fil_world_destroy(world);
}

static void new_contacts_are_fresh_once_and_then_start_from_their_impulses(void) {
    FilWorld *world = drop_a_log(0.01);
    Seen seen = {.finite = true, .has_matrix = true};
    fil_world_watch_problems(world, look, &seen);
    (void)take_step(world);
    CHECK(seen.fresh > 0 || seen.problems > 1);
    for (int k = 0; k < 20; k++) {
        (void)take_step(world);
    }
    CHECK(seen.fresh == 0);
    CHECK_NEAR(seen.guess, 1.0 * 9.81 * 1e-3, 1e-6, 0.0); // m g dt: the log rests
    fil_world_destroy(world);
}

// Copies the free velocities of the first contact in each problem.
typedef struct Free {
    double b[16];
    int count;
} Free;

static void keep_free(void *user, const FilFrictionProblem *problem, const double *r,
                      const bool *fresh) {
    Free *seen = user;
    (void)r;
    (void)fresh;
    if (seen->count < 16 && problem->block_count > 0) {
        seen->b[seen->count++] = problem->b[0];
    }
}

// A helix that spins quickly has forces that depend on its velocities: they are taken at those
// that the contact leaves, so that a step solves two problems that differ.
static void forces_of_motion_are_corrected_in_contact(void) {
    FilError error;
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    FilRodDef log = log_def(FIL_ROD_HELIX, 0.0101);
    log.section.young = 1e7;
    FilRod *rod = add_rod(world, &log, 2);
    const double velocity[3] = {0.0, 0.0, -3.0}, spin[3] = {0.0, 20.0, 0.0};
    must(fil_rod_launch(rod, velocity, spin, &error), &error);
    Free seen = {.count = 0};
    fil_world_watch_problems(world, keep_free, &seen);
    (void)take_step(world);
    bool differ = false;
    for (int k = 1; k < seen.count; k++) {
        differ = differ || seen.b[k] != seen.b[k - 1];
    }
    CHECK(seen.count > 1 && differ);
    fil_world_destroy(world);
}

static void watching_changes_no_bit(void) {
    double *states[2] = {NULL};
    int64_t counts[2];
    for (int watched = 0; watched < 2; watched++) {
        FilWorld *world = drop_a_log(0.012);
        Seen seen = {.finite = true};
        fil_world_watch_problems(world, watched != 0 ? look : NULL, &seen);
        for (int k = 0; k < 40; k++) {
            (void)take_step(world);
        }
        CHECK(watched == 0 || seen.problems > 0);
        counts[watched] = fil_world_state_count(world);
        states[watched] = calloc((size_t)counts[watched], sizeof(double));
        fil_world_get_state(world, states[watched]);
        fil_world_destroy(world);
    }
    CHECK(counts[0] == counts[1] &&
          memcmp(states[0], states[1], sizeof(double) * (size_t)counts[0]) == 0);
    free(states[0]);
    free(states[1]);
}

static void watching_ends_when_asked(void) {
    FilWorld *world = drop_a_log(0.01);
    Seen seen = {.finite = true};
    fil_world_watch_problems(world, look, &seen);
    fil_world_watch_problems(world, NULL, NULL);
    (void)take_step(world);
    CHECK(seen.problems == 0);
    fil_world_destroy(world);
}

#define TESTS(X)                                                      \
    X(what_is_solved_is_seen)                                         \
    X(new_contacts_are_fresh_once_and_then_start_from_their_impulses) \
    X(forces_of_motion_are_corrected_in_contact)                      \
    X(watching_changes_no_bit)                                        \
    X(watching_ends_when_asked)

CHECK_MAIN(TESTS)
