// bench_record.c - friction problems as they come up in scenes.
//
// Each scene gives the same number of problems: the first of every k-th step that has contacts, so
// that they come from its whole motion. Which they are is a matter of steps, never of the clock.
#include "bench_record.h"

#include "bench_scene.h"

#include <stdlib.h>

enum { SOURCE_CHANGES = 7 };

typedef struct Source {
    const char *scene;
    const char *changes[SOURCE_CHANGES];
    int every;    // steps from one problem to the next
    int contacts; // of a problem, at least, that would overlap without impulses
} Source;

static const Source sources[] = {
    {"spaghetti-31", {"piles[0].count=12"}, 4, 20}, // rods that land and stack, nu above 1
    {"wavy-hair", {"hairs[0].count=42"}, 4, 10},    // hair in motion
    {"wig-straight", {"hairs[0].count=60"}, 2, 10}, // combed hair, clothoids
    {"bundle-drop",                                 // bundles that are pressed into each other
     {"bundles[0].count=12", "bundles[1].count=12", "bundles[1].rod.root.at[2]=4 cm"},
     3,
     10},
    {"knot", {NULL}, 20, 2}, // one rod, tight
    {"rotating-sphere",      // one rod, held above the ball, that sticks and slides
     {"rods[0].model=helix", "rods[0].elements=10", "rods[0].length=20 cm",
      "rods[0].natural.curvature=[0, 40]",
      "rods[0].root={\"at\": [0, 0, 0.1], \"along\": [1, 0, 0]}", "obstacles[0].radius=5 cm",
      "obstacles[0].motion={\"spin\": [0, 0, \"1 turn/s\"]}"},
     10,
     2},
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

static CliStatus record_from(const Source *source, const BenchOptions *options,
                             Recorder *recorder) {
    const int wanted = recorder->left;
    BenchPlan plan = {.scene = source->scene, .threads = options->threads, .seconds = 1e9};
    BenchRun run;
    plan.tolerance = 1e-5;
    plan.steps = 200 + 8LL * wanted * source->every;
    plan.on_begin = on_begin;
    plan.on_step = on_step;
    plan.user = recorder;
    for (int i = 0; i < SOURCE_CHANGES; i++) {
        bench_scene_change(&plan, source->changes[i]);
    }
    const CliStatus status = bench_scene_run(&plan, &run);
    if (recorder->left > 0 && status == CLI_FINE && !cli_is_interrupted()) {
        cli_say("%s gave %d problems of %d", source->scene, wanted - recorder->left, wanted);
    }
    return status;
}

CliStatus bench_record(const BenchOptions *options, int count, BenchOnProblem *on_problem,
                       void *user) {
    const Source *chosen[SOURCES];
    int chosen_count = 0;
    for (int k = 0; k < SOURCES; k++) {
        if (bench_scene_is_wanted(options, sources[k].scene, sources[k].scene)) {
            chosen[chosen_count++] = &sources[k];
        }
    }
    CliStatus worst = CLI_FINE;
    for (int k = 0; k < chosen_count && !cli_is_interrupted(); k++) {
        Recorder recorder = {.source = chosen[k], .on_problem = on_problem, .user = user};
        // the first ones give what is left over
        recorder.left = count / chosen_count + (k < count % chosen_count ? 1 : 0);
        if (recorder.left > 0) {
            const CliStatus status = record_from(chosen[k], options, &recorder);
            worst = status > worst ? status : worst;
        }
    }
    if (chosen_count == 0) {
        cli_say("problems are recorded from other scenes than these");
        worst = CLI_BAD_COMMAND;
    }
    return worst;
}
