// test_resume.c - a world that goes on from a checkpoint has the bits of one that never stopped.
//
// Each scene is run once; after every step its state and its events are kept, as a checkpoint keeps
// them. Then stages that are made anew go on from every one of these moments, and everything that a
// result file would hold must be the same to the bit: in the steps that follow at once and, from
// some of the moments, to the end.
//
// `test_resume COUNT [FIRST]` does so for COUNT random scenes of the seeds FIRST, FIRST + 1, ...
// and tells how many of them went on to the bit.
#include "filum/filum.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random_scenes.h"
#include "torture/digest.h"
#include "world/clock.h"

enum { MOST_STEPS = 60, AHEAD = 2, FILE_STEPS = 15, RANDOM_STEPS = 24 };

// --- a run and its checkpoints -------------------------------------------------------------------

typedef struct Moment {
    double *state;
    int64_t count;
    char *events;
    uint64_t hash; // of the step that led here: its frame, its record, the state
} Moment;

typedef struct Case {
    FilScene *scene;
    FilStage *stage;
    FilRecorder *recorder;
    uint64_t seed;       // of what somebody who watches changes; 0: nobody does
    double most_kinetic; // J: where it is left alone; 0: nowhere
    Moment moments[MOST_STEPS + 1];
    int steps; // taken
    int substeps, slept, missed;
    bool failed; // the step after them
} Case;

static bool make_stage(const FilScene *scene, FilStage **stage, FilRecorder **recorder) {
    FilError error;
    *stage = NULL;
    *recorder = NULL;
    return fil_stage_create(scene, 1, NULL, NULL, stage, &error) == FIL_OK &&
           fil_recorder_create(fil_stage_world(*stage), NULL, recorder, &error) == FIL_OK;
}

static void drop_stage(FilStage *stage, FilRecorder *recorder) {
    fil_recorder_destroy(recorder);
    fil_stage_destroy(stage);
}

// What a hand does before step `step`: it depends on the seed and the step alone.
static void change(FilStage *stage, const FilScene *scene, uint64_t seed, int step) {
    FilRandom random = fil_random_make(seed + 1000003U * (uint64_t)step);
    FilError error;
    FilChange made = {.kind = (FilChangeKind)fil_random_int(&random, FIL_CHANGE_COUNT)};
    if (seed == 0 || fil_random_int(&random, 5) != 0) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        made.vector[k] = fil_random_uniform(&random, -6.0, 6.0);
    }
    made.mu = fil_random_uniform(&random, 0.0, 1.0);
    made.b = fil_random_int(&random, scene->material_count);
    if (made.kind == FIL_CHANGE_GRAB) {
        if (scene->rod_count == 0) {
            return;
        }
        const int rod = fil_random_int(&random, scene->rod_count);
        if (fil_world_grab_make(fil_stage_world(stage), rod, fil_random_uniform(&random, 0.0, 1.0),
                                &made.grab, &error) != FIL_OK) {
            return;
        }
        for (int k = 0; k < 3; k++) {
            made.grab.target[k] += fil_random_uniform(&random, -0.05, 0.05);
        }
    }
    FilStatus status = fil_stage_change(stage, &made, &error);
    (void)status; // what is refused is refused in every run
}

// One step: false where it fails. `*hash` is then of the sentence.
static bool take_step(const Case *of, FilStage *stage, FilRecorder *recorder, FilStepInfo *info,
                      uint64_t *hash) {
    FilWorld *world = fil_stage_world(stage);
    FilError error;
    change(stage, of->scene, of->seed, (int)fil_world_step_count(world));
    if (fil_stage_step(stage, info, &error) != FIL_OK) {
        *hash = fil_scene_hash(error.text, strlen(error.text), 1);
        return false;
    }
    for (int k = 0; k < of->scene->rod_count; k++) { // one clock
        CHECK(fil_rod_time(fil_world_rod(world, k)) == fil_world_time(world));
    }
    CHECK(fil_torture_digest(stage, recorder, info, hash));
    return true;
}

static void keep_moment(Case *run, uint64_t hash) {
    FilWorld *world = fil_stage_world(run->stage);
    Moment *moment = &run->moments[run->steps];
    size_t size = 0;
    const char *events = fil_stage_events(run->stage, &size);
    moment->count = fil_world_state_count(world);
    moment->state = malloc(sizeof(double) * (size_t)moment->count);
    fil_world_get_state(world, moment->state);
    moment->events = malloc(size + 1);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): drop_case() gives both back
    memcpy(moment->events, events, size + 1);
    moment->hash = hash;
}

// What is thrown about beyond reason is not followed: it would only take time.
static bool is_tame(const Case *run) {
    FilRodEnergy energy;
    fil_world_energy(fil_stage_world(run->stage), &energy);
    return run->most_kinetic == 0.0 || energy.kinetic < run->most_kinetic;
}

static bool run_case(Case *run, int steps) {
    if (!make_stage(run->scene, &run->stage, &run->recorder)) {
        return false;
    }
    keep_moment(run, 0);
    while (run->steps < steps && is_tame(run)) {
        FilStepInfo info;
        uint64_t hash;
        run->failed = !take_step(run, run->stage, run->recorder, &info, &hash);
        if (run->failed) {
            run->moments[run->steps + 1].hash = hash;
            break;
        }
        run->steps++;
        run->substeps += info.substeps > 1;
        run->slept += info.asleep_count > 0;
        run->missed += info.missed_count > 0;
        keep_moment(run, hash);
    }
    return true;
}

static void drop_case(Case *run) {
    for (int k = 0; k <= run->steps; k++) {
        free(run->moments[k].state);
        free(run->moments[k].events);
    }
    drop_stage(run->stage, run->recorder);
    fil_scene_destroy(run->scene);
}

// Go on after step `from` for `ahead` steps; the first step that differs, or 0.
static int go_on(const Case *run, int from, int ahead) {
    const Moment *moment = &run->moments[from];
    const int last = run->steps + run->failed;
    FilStage *stage;
    FilRecorder *recorder;
    FilError error = {.text = ""};
    int other = 0;
    CHECK(make_stage(run->scene, &stage, &recorder));
    FilStatus status =
        fil_stage_resume_events(stage, moment->state, moment->count, moment->events, &error);
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        other = from + 1;
    }
    for (int k = from + 1; other == 0 && k <= last && k <= from + ahead; k++) {
        FilStepInfo info;
        uint64_t hash;
        const bool taken = take_step(run, stage, recorder, &info, &hash);
        other = taken == (k <= run->steps) && hash == run->moments[k].hash ? 0 : k;
    }
    drop_stage(stage, recorder);
    return other;
}

// How many of the moments after every `stride` steps are not gone on from to the bit.
static int count_other(const Case *run, int stride, const char *name) {
    int count = 0;
    for (int k = 0; k < run->steps + run->failed; k += stride) {
        const bool whole = k % 7 == 3;
        const int other = go_on(run, k, whole ? MOST_STEPS : AHEAD);
        if (other != 0) {
            (void)fprintf(stderr, "%s: going on after step %d, step %d differs\n", name, k, other);
            count++;
        }
    }
    return count;
}

// --- the clock -----------------------------------------------------------------------------------

// t + dt is t', whatever the step, how many of them were done and how they are cut; parts follow
// each other without a gap; and what they last is what they should to a hundredth.
static void parts_begin_where_the_last_one_ends(void) {
    FilRandom random = fil_random_make(3);
    for (int k = 0; k < 20000; k++) {
        const double step = exp(fil_random_uniform(&random, log(1e-7), log(1.0)));
        const double most = exp(fil_random_uniform(&random, 0.0, log(1e12)));
        FilClock clock = {.step_count = (int64_t)fil_random_uniform(&random, 0.0, most)};
        const FilClock next = {.step_count = clock.step_count + 1};
        const int deepest = fil_clock_halvings(clock, 20);
        int depth = fil_random_int(&random, deepest + 1);
        double now = fil_clock_time(step, clock);
        for (int64_t left = (int64_t)1 << depth, parts = 0; left > 0 && parts < 100; parts++) {
            const FilSpan span = fil_clock_span(step, depth, &clock);
            CHECK(now + span.dt == span.end && span.share == ldexp(1.0, -depth));
            CHECK_NEAR(span.dt, span.share * step, 0.01, 0.0);
            now = span.end;
            left--;
            if (left > 0 && left % 2 == 0 && depth > 0 && fil_random_int(&random, 2) == 0) {
                depth--;
                left /= 2;
            } else if (depth < deepest && fil_random_int(&random, 4) == 0) {
                depth++;
                left *= 2;
            }
            if (left == 0) {
                CHECK(now == fil_clock_time(step, next));
            }
        }
        CHECK(deepest >= 4);
    }
}

static void a_state_of_another_step_is_refused(void) {
    FilWorldDef def = fil_world_def_default();
    FilWorld *worlds[2] = {NULL, NULL};
    FilError error;
    double state[16];
    for (int k = 0; k < 2; k++) {
        def.step = k == 0 ? 1e-3 : 2e-3;
        CHECK(fil_world_create(&def, NULL, &worlds[k], &error) == FIL_OK);
    }
    for (int k = 0; k < 3; k++) {
        CHECK(fil_world_step(worlds[0], NULL, &error) == FIL_OK);
    }
    const int64_t count = fil_world_state_count(worlds[0]);
    CHECK(count <= 16);
    fil_world_get_state(worlds[0], state);
    CHECK(fil_world_set_state(worlds[1], state, count, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text,
                 "state[1], the time, is 0.0030000000000000001 s; after 3 steps of 0.002 "
                 "s it must be 0.0060000000000000001 s") == 0);
    state[0] = 1.5;
    CHECK(fil_world_set_state(worlds[0], state, count, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "state[0] is 1.5; it must count steps") == 0);
    fil_world_destroy(worlds[0]);
    fil_world_destroy(worlds[1]);
}

// A rod that comes later has a clock that began later; sleep does not put it right.
static void a_rod_that_is_added_later_keeps_its_own_time_asleep(void) {
    FilWorldDef def = fil_world_def_default();
    def.gravity[2] = 0.0;
    def.sleep_speed = 1e-3;
    def.sleep_after = 0.005;
    FilRodDef rod = fil_rod_def_default();
    FilSurface surface = fil_surface_default();
    FilWorld *world = NULL;
    FilError error;
    int number;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_OK);
    CHECK(fil_world_add_material(world, 0.0, &number, &error) == FIL_OK);
    CHECK(fil_world_set_friction(world, 0, 0, 0.3, &error) == FIL_OK);
    for (int k = 0; k < 40; k++) {
        if (k == 0 || k == 10) {
            CHECK(fil_world_add_rod(world, &rod, &surface, &number, &error) == FIL_OK);
            rod.root.position[1] = 1.0;
        }
        CHECK(fil_world_step(world, NULL, &error) == FIL_OK);
    }
    CHECK(fil_world_is_asleep(world, FIL_BODY_ROD, 0) &&
          fil_world_is_asleep(world, FIL_BODY_ROD, 1));
    CHECK(fil_rod_time(fil_world_rod(world, 0)) == fil_world_time(world));
    CHECK_NEAR(fil_rod_time(fil_world_rod(world, 1)), 0.03, 1e-12, 0.0);
    fil_world_wake(world, FIL_BODY_ROD, 1);
    CHECK_NEAR(fil_rod_time(fil_world_rod(world, 1)), 0.03, 1e-12, 0.0);
    CHECK(fil_world_settle(world, NULL, NULL, &error) == FIL_OK);
    CHECK_NEAR(fil_rod_time(fil_world_rod(world, 1)), 0.03, 1e-12, 0.0);
    fil_world_destroy(world);
}

// --- scenes that ship ----------------------------------------------------------------------------

// Large ones are made smaller: what they are made of is the same.
static const char *const smaller[] = {
    "hairs[0].count=40",
    "bundles[0].count=12",
    "bundles[1].count=12",
};

static void check_file(const char *name) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", SCENES, name);
    Case run = {.seed = 0};
    FilError error = {.text = ""};
    int count = 0;
    const char *changes[3];
    for (int k = 0; k < 3; k++) { // those that it has
        const char *const one[] = {smaller[k]};
        const FilSceneOptions options = {.changes = one, .change_count = 1, .count_only = true};
        FilScene *scene = NULL;
        if (fil_scene_read(path, &options, NULL, &scene, &error) == FIL_OK) {
            changes[count++] = smaller[k];
        }
        fil_scene_destroy(scene);
    }
    const FilSceneOptions options = {.changes = changes, .change_count = count};
    const bool read = fil_scene_read(path, &options, NULL, &run.scene, &error) == FIL_OK;
    if (!read || !run_case(&run, FILE_STEPS)) {
        CHECK(false);
        (void)fprintf(stderr, "%s: %s\n", name, error.text);
        return;
    }
    CHECK(run.steps == FILE_STEPS);
    CHECK(count_other(&run, 1, name) == 0);
    drop_case(&run);
}

static void every_scene_that_ships_goes_on_to_the_bit(void) {
    DIR *folder = opendir(SCENES);
    CHECK(folder != NULL);
    int count = 0;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0) {
            check_file(entry->d_name);
            count++;
        }
    }
    CHECK(count > 20);
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

// --- random ones ---------------------------------------------------------------------------------

typedef struct Tally {
    int same, other, refused, failed, substepped, slept, moments;
} Tally;

static void check_seed(uint64_t seed, Tally *tally) {
    static char text[SCENE_TEXT];
    char name[64];
    Case run = {.seed = seed % 3 == 0 ? seed : 0, .most_kinetic = 10.0};
    FilError error = {.text = ""};
    write_random_scene(seed, RANDOM_STEPS, text);
    (void)snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    if (fil_scene_read_text(name, text, strlen(text), NULL, NULL, &run.scene, &error) != FIL_OK ||
        !run_case(&run, RANDOM_STEPS)) {
        tally->refused++;
        drop_case(&run);
        return;
    }
    const int other = count_other(&run, 1, name);
    tally->moments += run.steps + run.failed;
    *(other == 0 ? &tally->same : &tally->other) += 1;
    tally->failed += run.failed;
    tally->substepped += run.substeps > 0;
    tally->slept += run.slept > 0;
    drop_case(&run);
} // NOLINT(clang-analyzer-unix.Malloc): drop_case() gives all moments back

static void print_tally(const Tally *tally) {
    (void)printf("%d scenes went on to the bit from every one of their moments, %d did not; %d "
                 "were refused\n",
                 tally->same, tally->other, tally->refused);
    (void)printf("%d moments; %d scenes substepped, %d slept, %d ended with a step that failed\n",
                 tally->moments, tally->substepped, tally->slept, tally->failed);
}

static void random_scenes_go_on_to_the_bit(void) {
    Tally tally = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        check_seed(seed, &tally);
    }
    print_tally(&tally);
    CHECK(tally.other == 0);
    // they are what they are meant to be
    CHECK(tally.same >= 35 && tally.substepped >= 5 && tally.slept >= 5 && tally.failed <= 10);
}

#define TESTS(X)                                           \
    X(parts_begin_where_the_last_one_ends)                 \
    X(a_state_of_another_step_is_refused)                  \
    X(a_rod_that_is_added_later_keeps_its_own_time_asleep) \
    X(every_scene_that_ships_goes_on_to_the_bit)           \
    X(random_scenes_go_on_to_the_bit)

static int run_many(int count, uint64_t first) {
    Tally tally = {0};
    for (uint64_t seed = first; tally.same + tally.other < count && tally.refused <= 10 + count;
         seed++) {
        check_seed(seed, &tally);
    }
    print_tally(&tally);
    return tally.other != 0;
}

int main(int argc, char **argv) {
    static const CheckTest tests[] = {TESTS(CHECK_ENTRY)};
    if (argc > 1 && isdigit((unsigned char)argv[1][0])) {
        return run_many(atoi(argv[1]), argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    }
    return check_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
}
