// test_stage.c - scenes brought to life: what a scene says is what the world does.
#include "filum/filum.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "failing_allocator.h"

static FilScene *read_scene(const char *text) {
    FilScene *scene = NULL;
    FilError error = {.status = FIL_OK};
    FilStatus status =
        fil_scene_read_text("test.json", text, strlen(text), NULL, NULL, &scene, &error);
    CHECK(status == FIL_OK);
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    return scene;
}

static FilStage *make_stage(const FilScene *scene) {
    FilStage *stage = NULL;
    FilError error = {.status = FIL_OK};
    FilStatus status = fil_stage_create(scene, 1, NULL, NULL, &stage, &error);
    CHECK(status == FIL_OK);
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    return stage;
}

static void step(FilStage *stage, int count) {
    FilError error;
    for (int k = 0; k < count; k++) {
        CHECK(fil_stage_step(stage, NULL, &error) == FIL_OK);
    }
}

// --- rods in motion ------------------------------------------------------------------------------

// Rigid motion: v(s) = velocity + spin x (r(s) - r(0)), and every section turns with the spin.
static void a_launched_rod_moves_as_one_piece(void) {
    static const double velocity[3] = {0.3, -0.2, 0.5}, spin[3] = {2.0, 3.0, -1.0};
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = fil_rod_def_default();
        def.model = (FilRodModel)model;
        def.element_count = 6;
        def.natural_curvature[1] = model == FIL_ROD_CHAIN ? 0.0 : 8.0;
        def.root_end.kind = FIL_END_FREE;
        FilRod *rod = NULL;
        FilError error;
        CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_OK);
        CHECK(fil_rod_launch(rod, velocity, spin, &error) == FIL_OK);
        FilPose root;
        fil_rod_at(rod, 0.0, &root, NULL);
        for (int k = 0; k <= 4; k++) {
            FilPose pose;
            FilRate rate;
            fil_rod_at(rod, 0.25 * k * def.length, &pose, &rate);
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                const double turned = spin[j] * (pose.position[l] - root.position[l]) -
                                      spin[l] * (pose.position[j] - root.position[j]);
                CHECK_NEAR(rate.velocity[i], velocity[i] + turned, 1e-10, 1e-10);
                if (model != FIL_ROD_CHAIN) {
                    CHECK_NEAR(rate.spin[i], spin[i], 1e-9, 1e-9);
                }
            }
        }
        fil_rod_destroy(rod);
    }
}

static void a_held_root_stays_at_rest(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = fil_rod_def_default();
        def.model = (FilRodModel)model;
        FilRod *rod = NULL;
        FilError error;
        CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_OK);
        CHECK(fil_rod_launch(rod, (double[]){1.0, 1.0, 1.0}, (double[]){0.0, 0.0, 5.0}, &error) ==
              FIL_OK);
        FilRate rate;
        fil_rod_at(rod, 0.0, NULL, &rate);
        CHECK_NEAR(fabs(rate.velocity[0]) + fabs(rate.velocity[1]), 0.0, 0.0, 1e-14);
        CHECK(fil_rod_launch(rod, (double[]){NAN, 0.0, 0.0}, (double[]){0.0, 0.0, 0.0}, &error) ==
              FIL_E_ARGUMENT);
        fil_rod_destroy(rod);
    }
}

static const char thrown[] =
    "{ \"duration\": 1, \"step\": 0.01, \"rods\": [ { \"model\": \"der\", \"elements\": 5, "
    "\"length\": 0.1, "
    "\"radius\": 0.001, \"velocity\": [1, 0, 2], \"root\": { \"at\": [0, 0, 1], \"along\": [1, 0, "
    "0], "
    "\"held\": \"free\" } } ], \"bodies\": [ { \"shape\": \"sphere\", \"radius\": 0.01, \"at\": "
    "[0, 1, 0], "
    "\"velocity\": [0, 0, 1], \"force\": [0, 0, 0], \"force_rate\": [2, 0, 0], \"mass\": 0.5 } ], "
    "\"friction_default\": 0.3 }";

// x = v t, and implicit Euler falls z = v t - g dt^2 n (n + 1) / 2; the force f' t, taken at the
// end of each step, gives v = f' dt^2 n (n + 1) / (2 m).
static void what_is_thrown_flies_and_a_growing_force_pushes(void) {
    FilScene *scene = read_scene(thrown);
    FilStage *stage = make_stage(scene);
    step(stage, 20);
    FilPose pose;
    FilRate rate;
    fil_rod_at(fil_world_rod(fil_stage_world(stage), 0), 0.0, &pose, NULL);
    CHECK_NEAR(pose.position[0], 0.2, 1e-9, 1e-9);
    CHECK_NEAR(pose.position[2], 1.0 + 0.4 - 9.81 * 1e-4 * 210.0, 1e-9, 1e-9);
    fil_rigid_rate(fil_world_rigid(fil_stage_world(stage), 0), &rate);
    CHECK_NEAR(rate.velocity[0], 2.0 * 1e-4 * 210.0 / 0.5, 1e-12, 0.0);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

// --- wind ----------------------------------------------------------------------------------------

// A loose rod without weight is carried off with the wind: v -> share wind, where drag alone acts.
static void a_loose_rod_drifts_with_the_wind(void) {
    FilScene *scene = read_scene("{ \"duration\": 1, \"step\": 0.01, \"gravity\": [0, 0, 0], "
                                 "\"wind\": [2, 1, 0], \"rods\": [ "
                                 "{ \"model\": \"helix\", \"elements\": 3, \"length\": 0.1, "
                                 "\"radius\": 1e-4, \"drag\": 0.01, "
                                 "\"wind\": 0.5, \"root\": { \"held\": \"free\" } } ] }");
    FilStage *stage = make_stage(scene);
    step(stage, 200);
    FilRate rate;
    fil_rod_at(fil_world_rod(fil_stage_world(stage), 0), 0.05, NULL, &rate);
    CHECK_NEAR(rate.velocity[0], 1.0, 1e-6, 0.0);
    CHECK_NEAR(rate.velocity[1], 0.5, 1e-6, 0.0);
    FilError error;
    CHECK(fil_world_set_wind(fil_stage_world(stage), (double[]){0.0, NAN, 0.0}, &error) ==
          FIL_E_ARGUMENT);
    CHECK(fil_world_set_wind_share(fil_stage_world(stage), 0, 2.0, &error) == FIL_E_ARGUMENT);
    CHECK(fil_world_set_wind_share(fil_stage_world(stage), 1, 1.0, &error) == FIL_E_ARGUMENT);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

static void obstacles_tell_where_they_are(void) {
    FilScene *scene = read_scene(
        "{ \"duration\": 1, \"step\": 0.01, \"bodies\": [ { \"shape\": \"sphere\", \"radius\": "
        "0.1, \"at\": [5, 0, 0] } ], "
        "\"friction_default\": 0, \"obstacles\": [ { \"shape\": \"sphere\", \"radius\": 0.1, "
        "\"motion\": { \"velocity\": [1, 0, 0], \"spin\": [0, 0, 3] } } ] }");
    FilStage *stage = make_stage(scene);
    step(stage, 10);
    FilPose pose;
    FilRate rate;
    fil_world_obstacle_at(fil_stage_world(stage), 0, &pose, &rate);
    CHECK_NEAR(pose.position[0], 0.1, 1e-12, 0.0);
    CHECK_NEAR(pose.axis[0][1], sin(0.3), 1e-12, 0.0);
    CHECK_NEAR(rate.velocity[0], 1.0, 1e-10, 0.0);
    CHECK_NEAR(rate.spin[2], 3.0, 1e-10, 0.0);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

// --- events --------------------------------------------------------------------------------------

static const char eventful[] =
    "{ \"duration\": 1, \"step\": 0.01, \"gravity\": [0, 0, 0], \"rods\": [ { \"name\": \"a\", "
    "\"model\": "
    "\"helix\", \"elements\": 4, \"length\": 0.1, \"radius\": 1e-3, \"damping\": 0.02, \"root\": { "
    "\"held\": "
    "\"clamped\" } } ], \"events\": [ { \"time\": 0.02, \"rod\": \"a\", \"force\": [0, 0, 0.1] }, "
    "{ \"time\": "
    "0.05, \"rod\": \"a\", \"length\": 0.12 }, { \"time\": 0.06, \"gravity\": [0, 0, -1] } ] }";

static void count_lines(void *user, FilLogLevel level, const char *text) {
    (void)level;
    int *count = user;
    *count += strstr(text, "event at") != NULL;
}

static void events_come_when_their_step_begins_and_are_logged(void) {
    FilScene *scene = read_scene(eventful);
    int lines = 0;
    const FilLog log = {.write = count_lines, .user = &lines};
    FilStage *stage = NULL;
    FilError error;
    CHECK(fil_stage_create(scene, 1, &log, NULL, &stage, &error) == FIL_OK);
    step(stage, 2);
    CHECK(fil_stage_event_count(stage) == 0);
    step(stage, 1); // from 0.02 s
    CHECK(fil_stage_event_count(stage) == 1);
    FilPose tip;
    fil_rod_at(fil_world_rod(fil_stage_world(stage), 0), 1.0, &tip, NULL);
    CHECK(tip.position[2] > 1e-9);
    step(stage, 4);
    CHECK(fil_stage_event_count(stage) == 3 && lines == 3);
    CHECK_NEAR(fil_rod_length(fil_world_rod(fil_stage_world(stage), 0)), 0.12, 1e-14, 0.0);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

static void a_resumed_stage_has_the_same_bits(void) {
    FilScene *scene = read_scene(eventful);
    double state[2][400];
    for (int stop = 1; stop < 9; stop++) {
        FilStage *stage = make_stage(scene), *other = make_stage(scene);
        FilError error;
        step(stage, stop);
        const int64_t count = fil_world_state_count(fil_stage_world(stage));
        CHECK(count <= 400);
        fil_world_get_state(fil_stage_world(stage), state[0]);
        CHECK(fil_stage_resume(other, state[0], count, fil_stage_event_count(stage), &error) ==
              FIL_OK);
        step(stage, 10 - stop);
        step(other, 10 - stop);
        fil_world_get_state(fil_stage_world(stage), state[0]);
        fil_world_get_state(fil_stage_world(other), state[1]);
        CHECK(memcmp(state[0], state[1], sizeof(double) * (size_t)count) == 0);
        CHECK(fil_stage_event_count(other) == fil_stage_event_count(stage));
        CHECK(fil_stage_resume(other, state[0], count, 0, &error) == FIL_E_ARGUMENT);
        CHECK(fil_stage_resume(other, state[0], count - 1, 3, &error) == FIL_E_ARGUMENT);
        fil_stage_destroy(stage);
        fil_stage_destroy(other);
    }
    fil_scene_destroy(scene);
}

static const char *const letting_go =
    "{ \"duration\": 1, \"step\": 0.01, \"friction_default\": 0.3, \"rods\": [ { \"name\": \"a\", "
    "\"model\": \"der\", \"elements\": 4, \"length\": 0.1, \"damping\": 0.01 } ], "
    "\"bodies\": [ { \"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.01, "
    "\"at\": [1, 0, 0] } ], \"joints\": [ { \"a\": { \"at\": [1, 0, 0] }, \"b\": { "
    "\"body\": \"b\" } } ], \"events\": [ { \"time\": 0.03, \"rod\": \"a\", \"release\": "
    "\"root\" }, { \"time\": 0.05, \"unjoin\": 0 } ] }";

static void what_is_let_go_falls_and_a_resumed_run_does_not_differ(void) {
    FilScene *scene = read_scene(letting_go);
    double state[2][400];
    for (int stop = 1; stop < 9; stop++) {
        FilStage *stage = make_stage(scene), *other = make_stage(scene);
        FilError error;
        step(stage, stop);
        const int64_t count = fil_world_state_count(fil_stage_world(stage));
        CHECK(count <= 400);
        fil_world_get_state(fil_stage_world(stage), state[0]);
        CHECK(fil_stage_resume(other, state[0], count, fil_stage_event_count(stage), &error) ==
              FIL_OK);
        step(stage, 20 - stop);
        step(other, 20 - stop);
        const int64_t counts[2] = {fil_world_state_count(fil_stage_world(stage)),
                                   fil_world_state_count(fil_stage_world(other))};
        fil_world_get_state(fil_stage_world(stage), state[0]);
        fil_world_get_state(fil_stage_world(other), state[1]);
        CHECK(counts[0] == counts[1]);
        CHECK(memcmp(state[0], state[1], sizeof(double) * (size_t)counts[0]) == 0);
        FilPose root, ball;
        fil_rod_at(fil_world_rod(fil_stage_world(other), 0), 0.0, &root, NULL);
        fil_rigid_pose(fil_world_rigid(fil_stage_world(other), 0), &ball);
        CHECK(root.position[2] < -0.05);
        CHECK_NEAR(ball.position[2], -0.5 * 9.81 * 0.15 * 0.16, 1e-6, 0.0);
        fil_stage_destroy(stage);
        fil_stage_destroy(other);
    }
    fil_scene_destroy(scene);
}

// --- joints and starts ---------------------------------------------------------------------------

// A ball hangs from a place that moves along x, another from the world; both stay where they are
// pinned.
static void joints_hold_and_carry(void) {
    FilScene *scene = read_scene("{ \"duration\": 1, \"step\": 0.005, \"friction_default\": 0, "
                                 "\"bodies\": [ { \"name\": \"b\", \"shape\": "
                                 "\"sphere\", \"radius\": 0.01, \"at\": [0, 0, 0] }, { \"name\": "
                                 "\"c\", \"shape\": \"sphere\", \"radius\": "
                                 "0.01, \"at\": [1, 0, 0] } ], \"joints\": [ { \"a\": { \"body\": "
                                 "\"b\" }, \"b\": { \"at\": [0, 0, 0], "
                                 "\"motion\": { \"velocity\": [0.5, 0, 0] } } }, { \"a\": { "
                                 "\"at\": [1, 0, 0] }, \"b\": { \"body\": "
                                 "\"c\" } } ] }");
    FilStage *stage = make_stage(scene);
    step(stage, 40);
    FilPose pose;
    fil_rigid_pose(fil_world_rigid(fil_stage_world(stage), 0), &pose);
    CHECK_NEAR(pose.position[0], 0.1, 1e-6, 0.0);
    CHECK_NEAR(pose.position[2], 0.0, 0.0, 1e-7);
    fil_rigid_pose(fil_world_rigid(fil_stage_world(stage), 1), &pose);
    CHECK_NEAR(pose.position[0], 1.0, 1e-7, 0.0);
    CHECK_NEAR(pose.position[2], 0.0, 0.0, 1e-7);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

static void a_start_in_equilibrium_stays_there(void) {
    FilScene *scene =
        read_scene("{ \"duration\": 1, \"step\": 0.01, \"rods\": [ { \"model\": \"helix\", "
                   "\"elements\": 5, \"length\": 0.2, \"start\": \"equilibrium\" } ] }");
    FilStage *stage = make_stage(scene);
    FilPose before, after;
    FilRod *rod = fil_world_rod(fil_stage_world(stage), 0);
    fil_rod_at(rod, 1.0, &before, NULL);
    CHECK(before.position[2] < -0.05 && fil_stage_unsettled_count(stage) == 0);
    step(stage, 20);
    fil_rod_at(rod, 1.0, &after, NULL);
    CHECK_NEAR(after.position[0], before.position[0], 0.0, 1e-7);
    CHECK_NEAR(after.position[2], before.position[2], 0.0, 1e-7);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

static void every_allocation_may_fail(void) {
    FilScene *scene = read_scene(thrown);
    FilStatus status = FIL_E_NO_MEMORY;
    for (int failing = 1; failing < 1000 && status != FIL_OK; failing++) {
        FailingAllocator failer = {.fail_at = failing};
        FilAllocator allocator = failing_allocator(&failer);
        FilStage *stage = NULL;
        status = fil_stage_create(scene, 1, NULL, &allocator, &stage, NULL);
        CHECK(status == FIL_OK || (status == FIL_E_NO_MEMORY && stage == NULL));
        fil_stage_destroy(stage);
        CHECK(failing_allocator_is_clean(&failer));
    }
    CHECK(status == FIL_OK);
    fil_scene_destroy(scene);
}

#define TESTS(X)                                              \
    X(a_launched_rod_moves_as_one_piece)                      \
    X(a_held_root_stays_at_rest)                              \
    X(what_is_thrown_flies_and_a_growing_force_pushes)        \
    X(a_loose_rod_drifts_with_the_wind)                       \
    X(obstacles_tell_where_they_are)                          \
    X(events_come_when_their_step_begins_and_are_logged)      \
    X(a_resumed_stage_has_the_same_bits)                      \
    X(what_is_let_go_falls_and_a_resumed_run_does_not_differ) \
    X(joints_hold_and_carry)                                  \
    X(a_start_in_equilibrium_stays_there)                     \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
