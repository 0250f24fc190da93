// test_torture.c - random rods and worlds: nothing explodes, nothing hangs, nothing is silent.
//
// The generators and the list of faults are those of `filum bench rods --torture` and `filum bench
// world --torture` (src/torture). Here small samples of them run, and scenes that once went wrong
// (tests/scenes). Tables say what must never happen to whom; what a scheme does not promise yet is
// not in its row, and comes into it once it does.
//
// Work is bounded by counting how often a step asks whether it shall end: no test depends on the
// clock.
#include "filum/filum.h"

#include <stdlib.h>

#include "check.h"
#include "torture/crossing.h"
#include "torture/torture.h"
#include "torture/writer.h"

static char text[FIL_SCENE_TEXT];

// --- rods ----------------------------------------------------------------------------------------

#define ROD(fault) (1U << FIL_ROD_##fault)

// What holds for every rod: it is made, or told why not; what is written of it is a number; who
// fails says why.
static const unsigned of_all_rods = ROD(REFUSED) | ROD(INFINITE) | ROD(SPEECHLESS);

// One row a model: how many rods, and what must not happen to any of them beside that. The whole
// promise is
//     ROD(FAILED) | ROD(GAINED) | ROD(LINEAR) | ROD(ANGULAR) | ROD(ASTRAY) | ROD(SLOW)
// for 2000 rods of each model.
static const struct {
    int count;
    unsigned never;
} rod_promises[FIL_ROD_MODEL_COUNT] = {
    [FIL_ROD_HELIX] = {60, 0},
    [FIL_ROD_CLOTHOID] = {30, 0},
    [FIL_ROD_DER] = {2000, ROD(FAILED) | ROD(LINEAR) | ROD(SLOW)},
    [FIL_ROD_CORDE] = {2000, ROD(FAILED) | ROD(SLOW)},
    [FIL_ROD_CHAIN] = {2000, ROD(FAILED) | ROD(SLOW)},
};

static void check_rods(FilRodModel model) {
    const unsigned never = of_all_rods | rod_promises[model].never;
    int checked = 0;
    for (int k = 0; k < rod_promises[model].count; k++) {
        char where[64];
        (void)snprintf(where, sizeof where, "%s case %d", fil_rod_model_name(model), k);
        fil_torture_rod_scene(model, fil_torture_seed(1, k), text);
        const FilRodTorture rod = fil_torture_rod(where, text);
        checked += rod.checked;
        for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
            if ((rod.faults & never & 1U << f) != 0) {
                check_failures++;
                (void)fprintf(stderr, "%s: %s (%s) in step %d: gain %.1e, momentum %.1e %.1e; %s\n",
                              where, fil_rod_fault_name(f), fil_rod_fault_text(f), rod.fault_step,
                              rod.gain, rod.linear, rod.angular, rod.error.text);
            }
        }
    }
    CHECK(checked > rod_promises[model].count); // energies are looked at
}

static void random_helices_keep_what_they_promise(void) {
    check_rods(FIL_ROD_HELIX);
}

static void random_clothoids_keep_what_they_promise(void) {
    check_rods(FIL_ROD_CLOTHOID);
}

static void random_discrete_elastic_rods_keep_what_they_promise(void) {
    check_rods(FIL_ROD_DER);
}

static void random_cordes_keep_what_they_promise(void) {
    check_rods(FIL_ROD_CORDE);
}

static void random_chains_keep_what_they_promise(void) {
    check_rods(FIL_ROD_CHAIN);
}

// --- worlds --------------------------------------------------------------------------------------

#define WORLD(fault) (1U << FIL_WORLD_##fault)

enum { MOST_LOOKS = 200000 }; // of a step

static const unsigned of_all_worlds =
    WORLD(HUNG) | WORLD(UNNAMED) | WORLD(SPEECHLESS) | WORLD(DIFFERS);

// One row a kind of scenes: how many, and what must not happen in any of them beside that. The
// whole promise is
//     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(ELASTIC) | WORLD(GAINED)
// with WORLD(REFUSED) and WORLD(UNCONVERGED) for tame scenes; throws gain no more than `gain` of
// their energy in a step.
static const struct {
    const char *name;
    int kind, count;
    unsigned never;
    double gain;
} world_promises[] = {
    {"wild", FIL_TORTURE_WILD, 40, 0, 0.0},
    {"tame", FIL_TORTURE_TAME, 60, WORLD(REFUSED) | WORLD(PASSED), 0.0},
    {"throw-helix", FIL_TORTURE_THROW + FIL_ROD_HELIX, 20, WORLD(EXPLODED) | WORLD(PASSED),
     HUGE_VAL},
    {"throw-clothoid", FIL_TORTURE_THROW + FIL_ROD_CLOTHOID, 20, WORLD(EXPLODED) | WORLD(PASSED),
     HUGE_VAL},
    {"throw-der", FIL_TORTURE_THROW + FIL_ROD_DER, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-6},
    {"throw-corde", FIL_TORTURE_THROW + FIL_ROD_CORDE, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-2},
    {"throw-chain", FIL_TORTURE_THROW + FIL_ROD_CHAIN, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-6},
};

static void check_world(const char *where, const FilWorldTorture *world, unsigned never) {
    for (int f = 0; f < FIL_WORLD_FAULT_COUNT; f++) {
        if ((world->faults & never & 1U << f) != 0) {
            check_failures++;
            (void)fprintf(stderr, "%s: %s (%s) in step %d: %s %s\n", where, fil_world_fault_name(f),
                          fil_world_fault_text(f), world->fault_step, world->what,
                          world->error.text);
        }
    }
}

static void random_worlds_keep_what_they_promise(void) {
    const FilTortureLimits limits = {.looks = MOST_LOOKS};
    for (size_t row = 0; row < sizeof world_promises / sizeof *world_promises; row++) {
        int ran = 0;
        for (int k = 0; k < world_promises[row].count; k++) {
            char where[128];
            (void)snprintf(where, sizeof where, "%s/%s-%d.json", TEST_SCENES,
                           world_promises[row].name, k);
            fil_torture_world_scene((FilTortureKind)world_promises[row].kind,
                                    fil_torture_seed(1, k), text);
            const FilWorldTorture world = fil_torture_world(where, text, &limits);
            check_world(where, &world, of_all_worlds | world_promises[row].never);
            if (world_promises[row].kind >= FIL_TORTURE_THROW) {
                CHECK(world.closed && world.gain <= world_promises[row].gain);
            }
            ran += world.steps > 0;
        }
        CHECK(ran >= world_promises[row].count * 8 / 10); // few are set aside
    }
}

static void random_worlds_go_on_to_the_bit(void) {
    const FilTortureLimits limits = {.looks = MOST_LOOKS};
    for (int k = 0; k < 60; k++) {
        char where[128];
        const bool wild = k % 2 == 0;
        const uint64_t seed = fil_torture_seed(2, k);
        (void)snprintf(where, sizeof where, "%s/%s-%d.json", TEST_SCENES, wild ? "wild" : "tame",
                       k);
        fil_torture_world_scene(wild ? FIL_TORTURE_WILD : FIL_TORTURE_TAME, seed, text);
        const FilWorldTorture world = fil_torture_resume(where, text, seed, &limits);
        check_world(where, &world, of_all_worlds);
    }
}

// --- scenes that once went wrong -----------------------------------------------------------------

// Each runs for so many steps at most (0: to its end), and must have none of these faults. What is
// not promised yet is left out of a row; the whole promise is `all`.
static const unsigned all = WORLD(REFUSED) | WORLD(EXPLODED) | WORLD(HUNG) | WORLD(PASSED) |
                            WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(UNNAMED) | WORLD(ELASTIC) |
                            WORLD(GAINED) | WORLD(DIFFERS) | WORLD(SPEECHLESS);

static const struct {
    const char *name;
    int steps;
    unsigned not_yet;
    int substeps; // most parts of all steps together
} scenes[] = {
    {"gain", 0, WORLD(GAINED), INT32_MAX},
    {"bits", 0, 0, 100},
    {"meshrail", 0, 0, 100},
    {"pinned-curl", 0, WORLD(EXPLODED), INT32_MAX},
    {"thin-thread", 0, WORLD(EXPLODED) | WORLD(GAINED), INT32_MAX},
    {"wood-on-foam", 0, WORLD(EXPLODED) | WORLD(GAINED) | WORLD(MISSED), INT32_MAX},
    {"line-load", 0, WORLD(EXPLODED), INT32_MAX},
    {"pulled-knot", 0, WORLD(EXPLODED), INT32_MAX},
    {"jointed-thread", 0, WORLD(EXPLODED), INT32_MAX},
    {"thin-braid", 3, WORLD(UNCONVERGED) | WORLD(ELASTIC), INT32_MAX},
    {"sliding-tip", 0, WORLD(EXPLODED) | WORLD(UNCONVERGED), INT32_MAX},
};

static bool read_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    const size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    return fclose(file) == 0 && size > 0;
}

static void scenes_that_once_went_wrong_keep_what_they_promise(void) {
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        const FilTortureLimits limits = {
            .looks = MOST_LOOKS, .steps = scenes[k].steps, .anyway = true};
        char where[128];
        (void)snprintf(where, sizeof where, "%s/%s.json", TEST_SCENES, scenes[k].name);
        CHECK(read_file(where));
        FilWorldTorture world = fil_torture_world(where, text, &limits);
        check_world(where, &world, all & ~scenes[k].not_yet);
        CHECK(world.substeps <= scenes[k].substeps);
        if (getenv("TORTURE_TELL") != NULL) {
            (void)printf("%s: %x %d of %d steps, %lld parts, looks %lld, gain %.2e: %s %s\n", where,
                         world.faults, world.steps, world.planned, (long long)world.substeps,
                         (long long)world.most_looks, world.gain, world.what, world.error.text);
        }
        world = fil_torture_resume(where, text, k, &limits);
        check_world(where, &world, WORLD(DIFFERS));
    }
}

#define TESTS(X)                                           \
    X(random_helices_keep_what_they_promise)               \
    X(random_clothoids_keep_what_they_promise)             \
    X(random_discrete_elastic_rods_keep_what_they_promise) \
    X(random_cordes_keep_what_they_promise)                \
    X(random_chains_keep_what_they_promise)                \
    X(random_worlds_keep_what_they_promise)                \
    X(random_worlds_go_on_to_the_bit)                      \
    X(scenes_that_once_went_wrong_keep_what_they_promise)

CHECK_MAIN(TESTS)
