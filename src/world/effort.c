// effort.c - what a step may cost: a budget of friction work, and an end on demand.
//
// The budget of one solve is FilWorldDef.solver.budget: B. All solves of a step together (rounds of
// joining contacts, linearisations, corrections of overlaps, parts of a violent step) may take
// STEP_SHARE B; when that is done each gets LEAST_SHARE B, enough for a solve that begins near its
// end, and the step is not cut further. A world that is jammed would spend as much in every step
// and gain nothing by it: after a step that spent all of it one step gets a part THRIFT of the
// budget; where the one after it spends all of it again, two do, then four, at most
// FIL_MOST_THRIFTY; then another gets all. How many are left is part of the world's state. Work is
// counted in operations (friction/island.h), so that every machine, on any number of threads, stops
// at the same iterate.
#include "effort.h"

#include <math.h>

#include "base/error.h"

static const double STEP_SHARE = 3.0, LEAST_SHARE = 0.05, THRIFT = 1.0 / 16.0;

// What the callback of a solve needs to know.
typedef struct Watch {
    FilWorld *world;
    const FilFrictionSettings *settings; // what the user wants to hear
} Watch;

static bool wants_end(FilWorld *world) {
    world->stopping = world->stopping || (world->stop != NULL && world->stop(world->stop_user));
    return world->stopping;
}

static bool look_on(void *user, const FilFrictionProgress *progress) {
    const Watch *watch = user;
    const FilFrictionSettings *settings = watch->settings;
    return !wants_end(watch->world) &&
           (settings->on_iteration == NULL || settings->on_iteration(settings->user, progress));
}

// In the middle of a factorisation.
static bool is_to_end(void *user) {
    const Watch *watch = user;
    const FilFrictionSettings *settings = watch->settings;
    return wants_end(watch->world) || (settings->stop != NULL && settings->stop(settings->user));
}

void fil_effort_begin(FilWorld *world) {
    world->stopping = false;
    world->work = 0.0;
}

FilStatus fil_effort_look(FilWorld *world, FilError *error) {
    return wants_end(world) ? fil_fail(error, FIL_E_INTERRUPTED,
                                       "the step from %g s was interrupted", world->time)
                            : FIL_OK;
}

// Of one solve of this step.
static double find_budget(const FilWorld *world) {
    return world->def.solver.budget * (world->thrifty_left > 0 ? THRIFT : 1.0);
}

bool fil_effort_is_spent(const FilWorld *world) {
    const double budget = find_budget(world);
    return budget > 0.0 && world->work >= STEP_SHARE * budget;
}

void fil_effort_end(FilWorld *world) {
    if (world->thrifty_left > 0) {
        world->thrifty_left--;
    } else if (fil_effort_is_spent(world)) {
        const int last = world->thrifty_steps;
        world->thrifty_steps = last == 0                     ? 1
                               : last < FIL_MOST_THRIFTY / 2 ? 2 * last
                                                             : FIL_MOST_THRIFTY;
        world->thrifty_left = world->thrifty_steps;
    } else {
        world->thrifty_steps = 0;
    }
}

FilStatus fil_effort_solve(FilWorld *world, const FilFrictionProblem *problem,
                           const FilFrictionSettings *settings, FilFrictionSolution *solution,
                           FilFrictionInfo *info, FilError *error) {
    const double budget = find_budget(world);
    Watch watch = {world, settings};
    FilFrictionSettings bounded = *settings;
    bounded.budget =
        fmax(fmin(budget, STEP_SHARE * budget - world->work), LEAST_SHARE * budget); // 0 stays 0
    bounded.on_iteration = look_on;
    bounded.stop = is_to_end;
    bounded.user = &watch;
    FIL_TRY(fil_effort_look(world, error));
    FIL_TRY(fil_friction_solve(problem, &bounded, world->workspace, solution, info, error));
    world->work += info->work;
    return fil_effort_look(world, error);
}
