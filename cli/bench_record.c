// bench_record.c - friction problems as they come up in scenes.
//
// Each scene gives the same number of problems: the first of every k-th step that has contacts, so
// that they come from its whole motion. Which they are is a matter of steps, never of the clock.
#include "bench_record.h"

#include "bench_scene.h"

#include <stdlib.h>

typedef struct Source {
    const char *scene;
    const char *changes[2];
    int every;    // steps from one problem to the next
    int contacts; // of a problem, at least, that would overlap without impulses
} Source;

static const Source sources[] = {
    {"spaghetti-31", {NULL}, 5, 20}, // rods that stack, nu up to 1.3
    {"wavy-hair", {NULL}, 3, 20},    // hair in motion
    {"wavy-hair", {"friction_default=0.6"}, 3, 20},
    {"knot", {NULL}, 20, 2},            // one rod, tight
    {"rotating-sphere", {NULL}, 10, 2}, // one rod that sticks and slides
    {"cube-pile", {NULL}, 5, 4},        // rigid bodies, nu = 2
};
enum { SOURCES = sizeof sources / sizeof *sources };

typedef struct Recorder {
    const Source *source;
    BenchOnProblem *on_problem;
    void *user;
    int left;      // problems to come
    int waited;    // steps since the last one
    bool recorded; // in this step
} Recorder;

// Contacts that would overlap without impulses.
static int count_closing(const FilFrictionProblem *problem) {
    int count = 0;
    for (int i = 0; i < problem->block_count; i++) {
        count += problem->b[3 * (ptrdiff_t)i] < 0.0;
    }
    return count;
}

bool bench_is_trivial(const FilFrictionProblem *problem) {
    double *zero = calloc(3 * (size_t)problem->block_count + 1, sizeof *zero);
    FilResidual residual = {0};
    FilError error;
    const bool known =
        zero != NULL && fil_friction_residual(problem, zero, NULL, &residual, &error) == FIL_OK;
    free(zero);
    return !known || residual.scaled < 1e-3;
}

static void watch_problem(void *user, const FilFrictionProblem *problem, const double *r,
                          const bool *fresh) {
    Recorder *recorder = user;
    if (recorder->recorded || recorder->waited < recorder->source->every ||
        count_closing(problem) < recorder->source->contacts || bench_is_trivial(problem) ||
        cli_is_interrupted()) {
        return;
    }
    recorder->recorded =
        recorder->on_problem(recorder->user, recorder->source->scene, problem, r, fresh);
    recorder->left -= recorder->recorded;
}

static void on_begin(void *user, FilWorld *world) {
    fil_world_watch_problems(world, watch_problem, user);
}

static bool on_step(void *user, const FilStepInfo *info) {
    (void)info;
    Recorder *recorder = user;
    recorder->waited = recorder->recorded ? 1 : recorder->waited + 1;
    recorder->recorded = false;
    return recorder->left > 0;
}

CliStatus bench_record(const BenchOptions *options, int count, BenchOnProblem *on_problem,
                       void *user) {
    CliStatus worst = CLI_FINE;
    for (int k = 0; k < SOURCES && !cli_is_interrupted(); k++) {
        // the first sources give what is left over
        const int some = count / SOURCES + (k < count % SOURCES ? 1 : 0);
        Recorder recorder = {.source = &sources[k], .on_problem = on_problem, .user = user};
        recorder.left = some;
        BenchPlan plan = {.scene = sources[k].scene, .threads = options->threads, .seconds = 1e9};
        BenchRun run;
        plan.tolerance = 1e-5;
        plan.steps = 200 + 8LL * some * sources[k].every;
        plan.on_begin = on_begin;
        plan.on_step = on_step;
        plan.user = &recorder;
        for (int i = 0; i < 2; i++) {
            bench_scene_change(&plan, sources[k].changes[i]);
        }
        if (some == 0) {
            continue;
        }
        const CliStatus status = bench_scene_run(&plan, &run);
        worst = status > worst ? status : worst;
        if (recorder.left > 0 && status == CLI_FINE && !cli_is_interrupted()) {
            cli_say("%s gave %d problems of %d", sources[k].scene, some - recorder.left, some);
        }
    }
    return worst;
}
