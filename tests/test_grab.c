// test_grab.c - a hand on a rod, and changes between steps: springs that no step is too long for,
// balanced to the newton, and replayed to the bit.
#include "filum/filum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const double pi = 3.14159265358979323846;

static FilWorld *make_world(const FilRodDef *rod, double step, double gravity) {
    FilWorldDef def = fil_world_def_default();
    FilError error = {.status = FIL_OK};
    FilWorld *world = NULL;
    int number;
    def.step = step;
    def.gravity[2] = gravity;
    def.friction_default = 0.3;
    def.solver.thread_count = 1;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_OK);
    CHECK(fil_world_add_material(world, 0.0, &number, &error) == FIL_OK);
    const FilSurface surface = fil_surface_default();
    CHECK(fil_world_add_rod(world, rod, &surface, &number, &error) == FIL_OK);
    return world;
}

static void step(FilWorld *world, int count) {
    FilError error;
    for (int k = 0; k < count; k++) {
        const FilStatus status = fil_world_step(world, NULL, &error);
        CHECK(status == FIL_OK);
        if (status != FIL_OK) {
            (void)fprintf(stderr, "%s\n", error.text);
            return;
        }
    }
}

static FilRodDef make_hair(FilRodModel model) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = 8;
    def.damping = 1e-3;
    return def;
}

// A steel rope of 1 m and 1 kg.
static FilRodDef make_cable(FilRodModel model) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = 8;
    def.length = 1.0;
    def.section.radius = 6e-3;
    def.section.young = 2e11;
    def.section.density = 7850.0;
    def.damping = 1e-3;
    return def;
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

// --- the hand ------------------------------------------------------------------------------------

// A free rod hangs on the hand: its force is the weight, and the spring is as long as that makes
// it.
static void a_hand_carries_the_weight_of_the_rod(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = make_hair((FilRodModel)model);
        def.root_end.kind = FIL_END_FREE;
        def.drag = 1e-4;
        FilWorld *world = make_world(&def, 1e-3, -9.81);
        FilGrab grab;
        FilError error;
        double force[3], torque;
        CHECK(fil_world_grab_make(world, 0, 0.0, &grab, &error) == FIL_OK);
        CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
        step(world, 1500);
        CHECK(fil_world_grab(world, force, &torque) != NULL);
        const double weight =
            9.81 * def.length * def.section.density * pi * pow(def.section.radius, 2);
        CHECK_NEAR(force[2], weight, 1e-3, 0.0);
        CHECK_NEAR(force[0], 0.0, 0.0, 1e-3 * weight);
        CHECK(torque == 0.0);
        FilPose pose;
        fil_rod_at(fil_world_rod(world, 0), 0.0, &pose, NULL);
        CHECK_NEAR(grab.target[2] - pose.position[2], weight / grab.stiffness, 1e-3, 0.0);
        fil_world_destroy(world);
    }
}

// Thin hair and stiff cable, short steps and long ones: the tip comes to the hand and stays.
static void no_step_is_too_long_for_the_hand(void) {
    static const double steps[] = {1e-4, 1e-3, 1e-2};
    for (int k = 0; k < 12; k++) {
        const FilRodModel model = k % 2 == 0 ? FIL_ROD_HELIX : FIL_ROD_DER;
        const FilRodDef def = k / 2 % 2 == 0 ? make_hair(model) : make_cable(model);
        const double dt = steps[k / 4];
        FilWorld *world = make_world(&def, dt, 0.0);
        FilGrab grab;
        FilError error;
        CHECK(fil_world_grab_make(world, 0, 1.0, &grab, &error) == FIL_OK);
        grab.target[0] -= 0.1 * def.length;
        grab.target[1] += 0.3 * def.length;
        CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
        step(world, (int)(0.5 / dt));
        FilPose pose;
        FilRate rate;
        fil_rod_at(fil_world_rod(world, 0), def.length, &pose, &rate);
        CHECK(distance(pose.position, grab.target) < 0.1 * def.length);
        CHECK(distance(rate.velocity, (double[3]){0.0, 0.0, 0.0}) < 0.1 * def.length);
        fil_world_destroy(world);
    }
}

// Straight rod, clamped at the root, tip turned by a: the torque is GJ a' / L, where a' is what the
// soft hand leaves of a.
static void a_twisted_tip_feels_the_torsion_of_the_rod(void) {
    const FilRodModel models[] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID, FIL_ROD_DER, FIL_ROD_CORDE};
    for (int m = 0; m < 4; m++) {
        FilRodDef def = make_hair(models[m]);
        def.element_count = m < 2 ? 8 : 40; // der and corde know frames between nodes only
        FilWorld *world = make_world(&def, 1e-3, 0.0);
        FilGrab grab;
        FilError error;
        const double angle = 1.0, G = def.section.young / (2.0 * (1.0 + def.section.poisson));
        const double GJ = G * pi * pow(def.section.radius, 4) / 2.0;
        CHECK(fil_world_grab_make(world, 0, 1.0, &grab, &error) == FIL_OK);
        grab.turning = true; // n1 along y: turned toward n2, along z
        grab.axis[0] = 0.0;
        grab.axis[1] = cos(angle);
        grab.axis[2] = sin(angle);
        CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
        step(world, 1000);
        double torque;
        CHECK(fil_world_grab(world, NULL, &torque) != NULL);
        const double spring = GJ / def.length,
                     want = angle * spring * grab.turn_stiffness / (spring + grab.turn_stiffness);
        CHECK_NEAR(torque, want, 2e-2, 0.0);
        fil_world_destroy(world);
    }
}

// Straight down from its root, the tip pulled down: every section carries the pull.
static void the_pull_of_the_hand_goes_through_the_rod(void) {
    for (int m = 0; m < 2; m++) {
        FilRodDef def = make_hair(m == 0 ? FIL_ROD_HELIX : FIL_ROD_DER);
        def.root = (FilPose){.axis = {{0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}}};
        FilWorld *world = make_world(&def, 1e-3, 0.0);
        FilRecorder *recorder = NULL;
        FilGrab grab;
        FilError error;
        FilFrame frame;
        double force[3];
        CHECK(fil_world_grab_make(world, 0, 1.0, &grab, &error) == FIL_OK);
        grab.target[2] -= 0.01;
        CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
        CHECK(fil_recorder_create(world, NULL, &recorder, &error) == FIL_OK);
        step(world, 500);
        CHECK(fil_recorder_frame(recorder, &frame, &error) == FIL_OK && frame.tension != NULL);
        CHECK(fil_world_grab(world, force, NULL) != NULL);
        CHECK_NEAR(-force[2], 0.01 * grab.stiffness, 1e-2, 0.0);
        const int points = fil_recorder_def(recorder).point_count;
        for (int k = 0; frame.tension != NULL && k < points; k++) {
            CHECK_NEAR(frame.tension[k], -force[2], 1e-3, 0.0);
        }
        fil_recorder_destroy(recorder);
        fil_world_destroy(world);
    }
}

static double mass_of(const FilRodDef *def) {
    return def->length * def->section.density * pi * pow(def->section.radius, 2);
}

static double bend_of(const FilRodDef *def) {
    return def->section.young * pi * pow(def->section.radius, 4) / 4.0;
}

// Fifteen weights, on earth where there is less gravity, and what folds the rod.
static void the_most_a_hand_does_is_its_formula(void) {
    static const double gravities[] = {0.0, -9.81, -30.0};
    for (int k = 0; k < 6; k++) {
        const FilRodDef def = k < 3 ? make_hair(FIL_ROD_DER) : make_cable(FIL_ROD_HELIX);
        FilWorld *world = make_world(&def, 1e-3, gravities[k % 3]);
        FilGrab grab;
        FilError error;
        CHECK(fil_world_grab_make(world, 0, 0.3, &grab, &error) == FIL_OK);
        const double want = 15.0 * mass_of(&def) * fmax(9.81, fabs(gravities[k % 3])) +
                            pi * pi * bend_of(&def) / pow(def.length, 2);
        CHECK_NEAR(grab.most_force, want, 1e-12, 0.0);
        fil_world_destroy(world);
    }
}

// Straight down from its root, which is held, the tip pulled down to the end of the world: no rod
// that does not stretch can follow. The hand slips, and every section carries what it does at most.
static void a_rod_that_is_held_slips_out_of_the_hand(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = k % 3 == 2 ? make_cable(FIL_ROD_HELIX) : make_hair((FilRodModel)(k % 3));
        def.root = (FilPose){.axis = {{0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}}};
        FilWorld *world = make_world(&def, k < 3 ? 1e-3 : 1e-2, 0.0);
        FilGrab grab;
        FilError error;
        CHECK(fil_world_grab_make(world, 0, 1.0, &grab, &error) == FIL_OK);
        grab.target[2] = -1e9;
        CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
        for (int n = 0; n < 200; n++) {
            double force[3];
            step(world, 1);
            (void)fil_world_grab(world, force, NULL);
            CHECK_NEAR(-force[2], grab.most_force, 1e-9, 0.0);
        }
        FilPose pose;
        fil_rod_at(fil_world_rod(world, 0), def.length, &pose, NULL);
        CHECK_NEAR(pose.position[2], -def.length, 1e-6, 0.0);
        fil_world_destroy(world);
    }
}

// A mouse that jumps by metres, before every step, and back; rods that are held and free, thin and
// thick, by short steps and long ones: never more than the most.
static void a_mouse_that_jumps_pulls_no_harder(void) {
    static const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_CORDE, FIL_ROD_CHAIN};
    for (int k = 0; k < 12; k++) {
        FilRodDef def = k % 2 == 0 ? make_hair(models[k % 3]) : make_cable(models[k % 3]);
        def.root_end.kind = k / 6 == 0 ? FIL_END_FREE : def.root_end.kind;
        FilWorld *world = make_world(&def, k % 4 < 2 ? 1e-3 : 5e-3, -9.81);
        FilGrab grab;
        FilError error;
        CHECK(fil_world_grab_make(world, 0, k / 11.0, &grab, &error) == FIL_OK);
        for (int n = 0; n < 60; n++) {
            double force[3], torque;
            grab.turning = n > 30;
            grab.target[n % 3] = (n % 2 == 0 ? 1.0 : -1.0) * (n % 5 == 0 ? 1e6 : 3.0);
            grab.axis[0] = cos(n);
            grab.axis[1] = sin(n);
            CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
            step(world, 1);
            (void)fil_world_grab(world, force, &torque);
            CHECK(sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]) <=
                  (1.0 + 1e-12) * grab.most_force);
            CHECK(fabs(torque) <= (1.0 + 1e-12) * grab.most_torque);
        }
        fil_world_destroy(world);
    }
}

// A mouse that draws a circle in 2 s: the place stays within 0.04 s v + (0.02 s)^2 g of it.
static void a_slow_mouse_is_followed(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = make_hair((FilRodModel)model);
        def.root_end.kind = FIL_END_FREE;
        def.drag = 1e-4;
        FilWorld *world = make_world(&def, 2e-3, -9.81);
        FilGrab grab;
        FilError error;
        CHECK(fil_world_grab_make(world, 0, 0.0, &grab, &error) == FIL_OK);
        double begin[3], farthest = 0.0;
        memcpy(begin, grab.target, sizeof begin);
        const double radius = 0.05, turn = pi * 2e-3, speed = pi * radius;
        for (int n = 0; n < 1500; n++) {
            FilPose pose;
            grab.target[0] = begin[0] + radius * sin(turn * n);
            grab.target[1] = begin[1] + radius * (1.0 - cos(turn * n));
            CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
            step(world, 1);
            fil_rod_at(fil_world_rod(world, 0), 0.0, &pose, NULL);
            farthest = fmax(farthest, distance(pose.position, grab.target));
        }
        CHECK(farthest < 0.04 * speed + 0.02 * 0.02 * 9.81);
        CHECK(farthest > 0.02 * 0.02 * 9.81); // it hangs
        fil_world_destroy(world);
    }
}

// A ball of a hundred times the mass of the rod hangs at its tip: it is lifted, too.
static void what_is_joined_to_a_rod_comes_along(void) {
    FilRodDef def = make_hair(FIL_ROD_DER);
    def.root_end.kind = FIL_END_FREE;
    FilWorld *world = make_world(&def, 1e-3, -9.81);
    FilRigidDef ball = fil_rigid_def_default();
    FilGrab grab;
    FilError error;
    FilPose tip, pose;
    int number;
    fil_rod_at(fil_world_rod(world, 0), def.length, &tip, NULL);
    const double mass = 100.0 * mass_of(&def);
    ball.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.005};
    ball.mass = mass;
    memcpy(ball.pose.position, tip.position, sizeof tip.position);
    const FilSurface surface = fil_surface_default();
    CHECK(fil_world_add_rigid(world, &ball, &surface, &number, &error) == FIL_OK);
    FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .index = 0, .s = def.length},
                         .b = {.kind = FIL_BODY_RIGID, .index = 0},
                         .turning = true};
    memcpy(joint.b.point, tip.position, sizeof tip.position);
    CHECK(fil_world_add_joint(world, &joint, &number, &error) == FIL_OK);
    CHECK(fil_world_grab_make(world, 0, 0.0, &grab, &error) == FIL_OK);
    CHECK(grab.most_force > 15.0 * 9.81 * (mass + mass_of(&def)));
    grab.target[2] += 0.5;
    CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
    step(world, 2000);
    fil_rod_at(fil_world_rod(world, 0), 0.0, &pose, NULL);
    CHECK(distance(pose.position, grab.target) < 0.01);
    fil_world_destroy(world);
}

static void a_hand_that_lets_go_leaves_nothing(void) {
    const FilRodDef def = make_hair(FIL_ROD_HELIX);
    FilWorld *world = make_world(&def, 1e-3, -9.81);
    FilGrab grab;
    FilError error;
    double force[3], torque;
    CHECK(fil_world_grab_make(world, 0, 0.5, &grab, &error) == FIL_OK);
    CHECK(fil_world_set_grab(world, &grab, &error) == FIL_OK);
    step(world, 10);
    CHECK(fil_world_set_grab(world, NULL, &error) == FIL_OK);
    CHECK(fil_world_grab(world, force, &torque) == NULL);
    CHECK(force[0] == 0.0 && force[1] == 0.0 && force[2] == 0.0 && torque == 0.0);
    step(world, 1);
    fil_world_destroy(world);
}

static void a_hand_that_makes_no_sense_is_refused(void) {
    const FilRodDef def = make_hair(FIL_ROD_HELIX);
    FilWorld *world = make_world(&def, 1e-3, -9.81);
    FilGrab fine, grab = {.rod = 0};
    FilError error;
    CHECK(fil_world_grab_make(world, 1, 0.5, &fine, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "rod is 1; there are 1") == 0);
    CHECK(fil_world_grab_make(world, 0, (double)NAN, &fine, &error) == FIL_E_ARGUMENT);
    CHECK(fil_world_grab_make(world, 0, 0.5, &fine, &error) == FIL_OK);
    double *const numbers[] = {&grab.part,    &grab.target[1],      &grab.stiffness,
                               &grab.damping, &grab.turn_stiffness, &grab.turn_damping,
                               &grab.axis[2], &grab.most_force,     &grab.most_torque};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        grab = fine;
        *numbers[k] = (double)NAN;
        CHECK(fil_world_set_grab(world, &grab, &error) == FIL_E_ARGUMENT);
        CHECK(fil_world_grab(world, NULL, NULL) == NULL);
    }
    fil_world_destroy(world);
}

// --- changes -------------------------------------------------------------------------------------

static const char scene_text[] =
    "{\"step\": \"1 ms\", \"duration\": 1, \"gravity\": [0, 0, -9.81],"
    " \"materials\": {\"hair\": {\"young\": \"3.9 GPa\", \"density\": 1300}, \"skin\": {}},"
    " \"friction\": [{\"between\": [\"hair\", \"skin\"], \"mu\": 0.3}, {\"between\": [\"hair\", "
    "\"hair\"], \"mu\": 0.2}],"
    " \"rods\": [{\"model\": \"helix\", \"elements\": 6, \"material\": \"hair\", \"length\": 0.2,"
    "  \"radius\": 1e-4, \"root\": {\"at\": [0, 0, 0.02], \"along\": [1, 0, 0], \"held\": "
    "\"clamped\"}}],"
    " \"obstacles\": [{\"shape\": \"plane\", \"at\": [0, 0, 0], \"material\": \"skin\"}],"
    " \"events\": [{\"time\": 0.02, \"wind\": [0, 1, 0]},"
    "              {\"time\": 0.04, \"gravity\": [0, 1, -9]}]}";

static FilStage *make_stage(const FilScene *scene) {
    FilStage *stage = NULL;
    FilError error = {.status = FIL_OK};
    CHECK(fil_stage_create(scene, 1, NULL, NULL, &stage, &error) == FIL_OK);
    if (stage == NULL) {
        (void)fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return stage;
}

static void change(FilStage *stage, const FilChange *what) {
    FilError error = {.status = FIL_OK};
    CHECK(fil_stage_change(stage, what, &error) == FIL_OK);
    if (error.status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
}

// Steps first + 1 .. last of a run that somebody plays with.
static void play(FilStage *stage, int first, int last) {
    FilError error;
    for (int k = first; k < last; k++) {
        FilChange what = {.kind = FIL_CHANGE_GRAVITY, .vector = {0.5, 0.0, -5.0}};
        if (k == 10) {
            change(stage, &what);
        }
        if (k == 25) {
            change(stage, &(FilChange){.kind = FIL_CHANGE_WIND, .vector = {0.0, -0.5, 0.1}});
            change(stage, &(FilChange){.kind = FIL_CHANGE_FRICTION, .a = 1, .b = 0, .mu = 0.9});
        }
        if (k == 30 || k == 35) {
            what.kind = FIL_CHANGE_GRAB;
            CHECK(fil_world_grab_make(fil_stage_world(stage), 0, 0.8, &what.grab, &error) ==
                  FIL_OK);
            what.grab.target[1] += 0.02;
            what.grab.turning = true;
            what.grab.axis[2] += 0.3;
            change(stage, &what);
        }
        if (k == 70) {
            change(stage, &(FilChange){.kind = FIL_CHANGE_LET_GO});
        }
        CHECK(fil_stage_step(stage, NULL, &error) == FIL_OK);
    }
}

static double *take_state(FilStage *stage, int64_t *count) {
    const FilWorld *world = fil_stage_world(stage);
    *count = fil_world_state_count(world);
    double *state = malloc(sizeof *state * (size_t)*count);
    fil_world_get_state(world, state);
    return state;
}

// Whenever it is stopped: before, between and after changes and events, with the hand on the rod.
static void a_resumed_run_replays_every_change_to_the_bit(void) {
    FilScene *scene = NULL;
    FilError error = {.status = FIL_OK};
    CHECK(fil_scene_read_text("test.json", scene_text, strlen(scene_text), NULL, NULL, &scene,
                              &error) == FIL_OK);
    if (scene == NULL) {
        (void)fprintf(stderr, "%s\n", error.text);
        return;
    }
    static const int stops[] = {5, 15, 22, 28, 33, 50, 80};
    FilStage *whole = make_stage(scene);
    play(whole, 0, 100);
    int64_t want_count;
    double *want = take_state(whole, &want_count);
    for (size_t k = 0; k < sizeof stops / sizeof *stops; k++) {
        FilStage *before = make_stage(scene), *after = make_stage(scene);
        play(before, 0, stops[k]);
        int64_t count;
        double *state = take_state(before, &count);
        size_t size;
        const char *events = fil_stage_events(before, &size);
        CHECK(events != NULL && strlen(events) == size);
        CHECK(fil_stage_resume_events(after, state, count, events, &error) == FIL_OK);
        play(after, stops[k], 100);
        free(state);
        state = take_state(after, &count);
        CHECK(count == want_count && check_same_bits(state, want, sizeof *want * (size_t)count));
        free(state);
        fil_stage_destroy(before);
        fil_stage_destroy(after);
    }
    free(want);
    fil_stage_destroy(whole);
    fil_scene_destroy(scene);
}

static void only_the_last_change_of_each_parameter_is_kept(void) {
    FilScene *scene = NULL;
    FilError error;
    CHECK(fil_scene_read_text("test.json", scene_text, strlen(scene_text), NULL, NULL, &scene,
                              &error) == FIL_OK);
    FilStage *stage = make_stage(scene);
    for (int k = 0; k < 1000; k++) {
        FilChange what = {.kind = FIL_CHANGE_GRAB};
        CHECK(fil_world_grab_make(fil_stage_world(stage), 0, 0.5, &what.grab, &error) == FIL_OK);
        what.grab.target[0] = k;
        change(stage, &what);
        change(stage, &(FilChange){.kind = FIL_CHANGE_FRICTION, .a = k % 2, .b = 0, .mu = k});
    }
    size_t size;
    const char *events = fil_stage_events(stage, &size);
    CHECK(events != NULL && size < 1000);
    CHECK(strstr(events, "friction 1 0 999") != NULL && strstr(events, "friction 0 0 998") != NULL);
    change(stage, &(FilChange){.kind = FIL_CHANGE_LET_GO});
    CHECK(fil_stage_change(stage, &(FilChange){.kind = FIL_CHANGE_FRICTION, .a = 5}, &error) ==
          FIL_E_ARGUMENT);
    CHECK(fil_stage_change(stage, &(FilChange){.kind = FIL_CHANGE_COUNT}, &error) ==
          FIL_E_ARGUMENT);
    fil_stage_destroy(stage);
    fil_scene_destroy(scene);
}

static void events_that_are_none_are_refused(void) {
    static const char *const texts[] = {"",
                                        "x",
                                        "0 ",
                                        "0\n",
                                        "0\n0",
                                        "0\n0 fly",
                                        "0\n0 gravity",
                                        "0\n0 gravity 1 2",
                                        "0\n0 gravity 1 2 x",
                                        "0\n0 gravity 1 2 3 4",
                                        "0\n1 gravity 1 2 3",
                                        "0\n-1 gravity 1 2 3",
                                        "0\n0 friction 0 7 1",
                                        "0\n0 friction 0.5 0 1",
                                        "0\n0 friction 1e30 0 1",
                                        "0\n0 gravity nan 0 0",
                                        "0\n0 grab 0 0 2 0 0 0 1 0 0 1 1 1 1",
                                        "9"};
    FilScene *scene = NULL;
    FilError error;
    CHECK(fil_scene_read_text("test.json", scene_text, strlen(scene_text), NULL, NULL, &scene,
                              &error) == FIL_OK);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        FilStage *stage = make_stage(scene);
        int64_t count;
        double *state = take_state(stage, &count);
        const FilStatus status = fil_stage_resume_events(stage, state, count, texts[k], &error);
        CHECK(status == FIL_E_FORMAT || status == FIL_E_ARGUMENT);
        free(state);
        fil_stage_destroy(stage);
    }
    fil_scene_destroy(scene);
}

#define TESTS(X)                                      \
    X(a_hand_carries_the_weight_of_the_rod)           \
    X(no_step_is_too_long_for_the_hand)               \
    X(a_twisted_tip_feels_the_torsion_of_the_rod)     \
    X(the_pull_of_the_hand_goes_through_the_rod)      \
    X(the_most_a_hand_does_is_its_formula)            \
    X(a_rod_that_is_held_slips_out_of_the_hand)       \
    X(a_mouse_that_jumps_pulls_no_harder)             \
    X(a_slow_mouse_is_followed)                       \
    X(what_is_joined_to_a_rod_comes_along)            \
    X(a_hand_that_lets_go_leaves_nothing)             \
    X(a_hand_that_makes_no_sense_is_refused)          \
    X(a_resumed_run_replays_every_change_to_the_bit)  \
    X(only_the_last_change_of_each_parameter_is_kept) \
    X(events_that_are_none_are_refused)

CHECK_MAIN(TESTS)
