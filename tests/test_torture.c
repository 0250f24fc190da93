// test_torture.c - random rods and worlds: nothing explodes, nothing hangs, nothing is silent.
//
// The generators and the list of faults are those of `filum bench rods --torture` and `filum bench
// world --torture` (src/torture). Here small samples of them run, and scenes that once went wrong
// (tests/scenes). Tables say what must never happen to whom.
//
// Work is bounded by counting how often a step asks whether it shall end: no test depends on the
// clock.
#include "filum/filum.h"

#include "check.h"
#include "torture/torture.h"
#include "torture/writer.h"

static char text[FIL_SCENE_TEXT];

// Sanitizers make it ten times as slow: there a part of the cases is enough.
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 4 };
#else
enum { SHARE = 1 };
#endif

// --- what is wrong is seen -----------------------------------------------------------------------

// Explicit steps that are far too long gain energy, whoever takes them.
static void a_rod_that_gains_energy_is_found(void) {
    const char *scene =
        "{\"duration\": 1, \"step\": 2e-5, \"rods\": [{\"model\": \"corde\", \"length\": 0.1, "
        "\"step_kind\": \"explicit\", \"natural\": {\"curvature\": [20, 0]}, "
        "\"start\": \"straight\"}]}";
    const FilRodTorture rod = fil_torture_rod("explicit", scene);
    CHECK((rod.faults & (1U << FIL_ROD_GAINED | 1U << FIL_ROD_FAILED)) != 0);
    CHECK(rod.fault_step > 0);
}

// A refusal is told, and is a fault of its own.
static void a_rod_that_is_refused_says_why(void) {
    const FilRodTorture rod =
        fil_torture_rod("refused", "{\"duration\": 1, \"rods\": [{\"radius\": -1}]}");
    CHECK(rod.faults == 1U << FIL_ROD_REFUSED && strstr(rod.error.text, "radius") != NULL);
    CHECK(!fil_torture_is_sentence("GJ = -nan; it must be positive"));
    CHECK(!fil_torture_is_sentence(""));
    CHECK(fil_torture_is_sentence("radius is -1; it must be positive and finite"));
}

static FilWorldTorture run_scene(const char *scene, int64_t looks) {
    const FilTortureLimits limits = {.looks = looks};
    return fil_torture_world("test", scene, &limits);
}

// Springs that are far too soft let everything pass.
static void what_passes_through_is_found(void) {
#define FAST                                                                                 \
    "\"duration\": 0.02, \"step\": 0.001, \"gravity\": [0, 0, 0], \"friction_default\": 0, " \
    "\"materials\": {\"m\": {}}, \"contact\": {\"kind\": \"penalty\", \"stiffness\": 1e-6, " \
    "\"sweep\": false, \"substeps\": 0}, "
#define ROD_AT(z, way, v)                                                           \
    "{\"model\": \"der\", \"radius\": 1e-3, \"length\": 0.2, \"root\": {\"at\": " z \
    ", \"along\": " way ", \"held\": \"free\"}, \"velocity\": " v "}"
    static const char *const through[] = {
        "{" FAST "\"rods\": [" ROD_AT("[-0.1, 0, 0.1]", "[1, 0, 0]", "[0, 0, -30]") ", " ROD_AT(
            "[0, -0.1, 0]", "[0, 1, 0]", "[0, 0, 0]") "]}",
        "{" FAST "\"rods\": [" ROD_AT(
            "[-0.1, 0, 0.1]", "[1, 0, 0]",
            "[0, 0, -30]") "], \"obstacles\": [{\"shape\": \"box\", \"size\": [0.1, 0.1, 0.002]}]}",
        "{" FAST "\"rods\": [" ROD_AT(
            "[-0.1, 0, 0.1]", "[1, 0, 0]",
            "[0, 0, -30]") "], \"obstacles\": [{\"shape\": \"capsule\", \"radius\": 0.002, "
                           "\"length\": 0.1, \"turn\": [0, 0, 1]}]}",
    };
    for (size_t k = 0; k < sizeof through / sizeof *through; k++) {
        const FilWorldTorture world = run_scene(through[k], 0);
        CHECK((world.faults & 1U << FIL_WORLD_PASSED) != 0);
        CHECK(world.fault_step > 1 && world.what[0] != '\0');
    }
    // beside each other nothing passes
    const FilWorldTorture beside = run_scene(
        "{" FAST "\"rods\": [" ROD_AT("[-0.1, 0, 0.1]", "[1, 0, 0]", "[0, 0, -30]") ", " ROD_AT(
            "[0, 0.05, 0]", "[0, 1, 0]", "[0, 0, 0]") "]}",
        0);
    CHECK(beside.faults == 0 && beside.steps == 20 && beside.closed);
#undef FAST
#undef ROD_AT
}

// Springs that push overlaps apart, taken explicitly, are no friend of energy; nor of time.
static void worlds_that_gain_energy_or_take_too_long_are_found(void) {
    const char *scene =
        "{\"duration\": 0.1, \"step\": 0.002, \"friction_default\": 0.3, \"materials\": {\"m\": "
        "{}}, "
        "\"contact\": {\"kind\": \"penalty\", \"stiffness\": 1e5}, \"obstacles\": [{\"shape\": "
        "\"plane\"}], \"bodies\": [{\"shape\": \"sphere\", \"radius\": 0.01, \"at\": [0, 0, "
        "0.0101], "
        "\"velocity\": [0, 0, -1]}]}";
    FilWorldTorture world = run_scene(scene, 0);
    CHECK((world.faults & 1U << FIL_WORLD_GAINED) != 0 && world.gain > 1.0);
    world =
        run_scene("{\"duration\": 0.1, \"friction_default\": 0.3, \"materials\": {\"m\": {}}, "
                  "\"obstacles\": [{\"shape\": \"plane\"}], \"bodies\": [{\"shape\": \"sphere\", "
                  "\"radius\": 0.01, \"at\": [0, 0, 0.01]}]}",
                  1);
    CHECK(world.faults == 1U << FIL_WORLD_HUNG && world.fault_step == 1);
}

// --- rods ----------------------------------------------------------------------------------------

#define ROD(fault) (1U << FIL_ROD_##fault)

// What must not happen to any rod, and how many of each model are looked at.
static const unsigned never_of_rods = ROD(REFUSED) | ROD(SPEECHLESS) | ROD(FAILED) | ROD(INFINITE) |
                                      ROD(GAINED) | ROD(LINEAR) | ROD(ANGULAR) | ROD(ASTRAY) |
                                      ROD(SLOW);
static const int rod_counts[FIL_ROD_MODEL_COUNT] = {[FIL_ROD_HELIX] = 600,
                                                    [FIL_ROD_CLOTHOID] = 300,
                                                    [FIL_ROD_DER] = 2000,
                                                    [FIL_ROD_CORDE] = 2000,
                                                    [FIL_ROD_CHAIN] = 2000};

static void check_rods(FilRodModel model) {
    int checked = 0;
    for (int k = 0; k < rod_counts[model] / SHARE; k++) {
        char where[64];
        (void)snprintf(where, sizeof where, "%s case %d", fil_rod_model_name(model), k);
        fil_torture_rod_scene(model, fil_torture_seed(1, k), text);
        const FilRodTorture rod = fil_torture_rod(where, text);
        checked += rod.checked;
        for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
            if ((rod.faults & never_of_rods & 1U << f) != 0) {
                check_failures++;
                (void)fprintf(stderr, "%s: %s (%s) in step %d: gain %.1e, momentum %.1e %.1e; %s\n",
                              where, fil_rod_fault_name(f), fil_rod_fault_text(f), rod.fault_step,
                              rod.gain, rod.linear, rod.angular, rod.error.text);
            }
        }
    }
    CHECK(checked > rod_counts[model] / SHARE); // energies are looked at
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
    {"wild", FIL_TORTURE_WILD, 25,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(ELASTIC) | WORLD(GAINED), 0.0},
    {"tame", FIL_TORTURE_TAME, 60,
     WORLD(REFUSED) | WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(ELASTIC) |
         WORLD(GAINED),
     0.0},
    {"throw-helix", FIL_TORTURE_THROW + FIL_ROD_HELIX, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-9},
    {"throw-clothoid", FIL_TORTURE_THROW + FIL_ROD_CLOTHOID, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-9},
    {"throw-der", FIL_TORTURE_THROW + FIL_ROD_DER, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-9},
    {"throw-corde", FIL_TORTURE_THROW + FIL_ROD_CORDE, 40,
     WORLD(EXPLODED) | WORLD(PASSED) | WORLD(MISSED) | WORLD(UNCONVERGED) | WORLD(GAINED), 1e-9},
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
        for (int k = 0; k < world_promises[row].count / SHARE; k++) {
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
        CHECK(ran >= world_promises[row].count / SHARE * 8 / 10); // few are set aside
    }
}

// The last one once did not: overlaps were taken out at the end of a step, and what that prepared
// was taken for the beginning of the next one.
static void random_worlds_go_on_to_the_bit(void) {
    const FilTortureLimits limits = {.looks = MOST_LOOKS};
    for (int k = 0; k <= 30; k++) {
        char where[128];
        const bool wild = k % 2 == 0;
        const uint64_t seed = k < 30 ? fil_torture_seed(2, k) : fil_torture_seed(1, 3);
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
    {"gain", 0, 0, INT32_MAX},
    {"bits", 0, 0, 100},
    {"meshrail", 0, 0, 100},
    {"pinned-curl", 0, 0, INT32_MAX},
    {"thin-thread", 0, 0, INT32_MAX},
    {"wood-on-foam", 0, 0, INT32_MAX},
    {"line-load", 0, 0, INT32_MAX},
    {"pulled-knot", 0, 0, INT32_MAX},
    {"jointed-thread", 0, 0, INT32_MAX},
    {"thin-braid", 1, WORLD(UNCONVERGED) | WORLD(ELASTIC), INT32_MAX},
    {"landing-tip", 0, WORLD(UNCONVERGED), 200},
    {"sliding-tip", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"ball-on-hair", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"thin-plate", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"swinging-box", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"stretched-rod", 30, WORLD(UNCONVERGED), INT32_MAX},
    {"whirling-thread", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"driven-apart", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"driven-into-floor", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"lifted-chain", 0, WORLD(UNCONVERGED), INT32_MAX},
    {"clamped-cube", 0, 0, INT32_MAX},
    {"slow-beside-fast", 0, 0, INT32_MAX},
    {"first-step", 0, 0, INT32_MAX},
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
        world = fil_torture_resume(where, text, k, &limits);
        check_world(where, &world, WORLD(DIFFERS));
    }
}

#define TESTS(X)                                           \
    X(a_rod_that_gains_energy_is_found)                    \
    X(a_rod_that_is_refused_says_why)                      \
    X(what_passes_through_is_found)                        \
    X(worlds_that_gain_energy_or_take_too_long_are_found)  \
    X(random_helices_keep_what_they_promise)               \
    X(random_clothoids_keep_what_they_promise)             \
    X(random_discrete_elastic_rods_keep_what_they_promise) \
    X(random_cordes_keep_what_they_promise)                \
    X(random_chains_keep_what_they_promise)                \
    X(random_worlds_keep_what_they_promise)                \
    X(random_worlds_go_on_to_the_bit)                      \
    X(scenes_that_once_went_wrong_keep_what_they_promise)

CHECK_MAIN(TESTS)
