// Fast motion of helix and clothoid at the step that the rod itself reports, and what is refused.
#include "math/vec3.h"
#include "rod/reduced.h"
#include "rods.h"

static const FilRodModel models[2] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID};
static const double thetas[3] = {0.5, 0.75, 1.0};

static FilRodDef floating_def(FilRodModel model, double theta) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.theta = theta;
    def.length = 1.0;
    def.root_end.kind = FIL_END_FREE;
    memset(def.gravity, 0, sizeof def.gravity);
    return def;
}

// The velocities of the root: velocity and spin.
static void launch(FilRod *rod, const double rate[6]) {
    double state[400];
    CHECK(fil_rod_state_count(rod) <= 400);
    fil_rod_get_state(rod, state);
    memcpy(state + FIL_ROD_STATE + 12, rate, 6 * sizeof(double));
    CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
}

// The largest energy on the way, in steps as long as the rod allows.
static double run(FilRod *rod, double longest, int steps) {
    double most = total(rod);
    for (int k = 0; k < steps; k++) {
        FilStatus status = fil_rod_step(rod, fmin(longest, fil_rod_largest_step(rod)), NULL, NULL);
        CHECK(status == FIL_OK);
        most = fmax(most, total(rod));
    }
    return most;
}

// 0.2 N s at the tip of a rubber cord of 100 g, which tumbles, whips and winds up.
static void kicked_rods_gain_no_energy(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = floating_def(models[k % 2], thetas[k / 2]);
        def.section.radius = 5e-3;
        def.section.young = 1e7;
        FilRod *rod = make_rod(&def);
        const FilRodLoad kick = {.s = 1.0, .force = {0.0, 2000.0, 500.0}};
        CHECK(fil_rod_set_loads(rod, &kick, 1, NULL) == FIL_OK);
        CHECK(fil_rod_step(rod, 1e-4, NULL, NULL) == FIL_OK);
        CHECK(fil_rod_set_loads(rod, NULL, 0, NULL) == FIL_OK);
        double start = total(rod), most = run(rod, 1e-2, 2000);
        CHECK(most <= 1.02 * start);
        CHECK(total(rod) >= 0.5 * start);
        fil_rod_destroy(rod);
    }
}

// A short thick rod that spins about its axis and nutates: spin across the axis does not grow.
static void spinning_rods_do_not_gain_nutation(void) {
    for (int k = 0; k < 12; k++) {
        FilRodDef def = floating_def(models[k % 2], thetas[k / 2 % 3]);
        def.length = 0.1;
        def.element_count = 5;
        def.section.radius = 0.01;
        def.section.young = 1e9;
        def.root_end.kind = k < 6 ? FIL_END_FREE : FIL_END_PINNED;
        FilRod *rod = make_rod(&def);
        const double rate[6] = {0.0, 0.0, 0.0, 100.0, 3.0, 0.0};
        launch(rod, rate);
        double start = total(rod);
        CHECK(run(rod, 1.0, 3000) <= 1.001 * start);
        FilPose pose;
        FilRate motion;
        double across[3];
        fil_rod_at(rod, 0.0, &pose, &motion);
        fil_cross3(motion.spin, pose.axis[0], across);
        CHECK(fil_norm3(across) <= 3.1);
        CHECK_NEAR(fil_dot3(motion.spin, pose.axis[0]), 100.0, 0.01, 0.0);
        fil_rod_destroy(rod);
    }
}

// Rods that turn like propellers, straight and bent, stretched by their own inertia.
static void whirling_rods_gain_no_energy(void) {
    for (int k = 0; k < 18; k++) {
        FilRodDef def = floating_def(models[k % 2], thetas[k / 2 % 3]);
        def.section.radius = 2e-3;
        def.section.young = 1e9;
        def.natural_curvature[1] = k / 6 == 2 ? 4.0 : 0.5;
        def.root_end.kind = k / 6 == 1 ? FIL_END_PINNED : FIL_END_FREE;
        FilRod *rod = make_rod(&def);
        const double rate[6] = {k / 6 == 1 ? 0.0 : 1.0, 0.0, 0.0, 5.0, 2.0, 20.0};
        launch(rod, rate);
        double start = total(rod);
        CHECK(run(rod, 1e-2, 1500) <= 1.03 * start);
        fil_rod_destroy(rod);
    }
}

// A hair let go level, in steps up to 5 ms with theta = 1/2: it never has more energy than it had.
static void falling_hair_gains_no_energy(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = models[k % 2];
        def.theta = 0.5;
        def.natural_curvature[1] = k < 2 ? 0.0 : 30.0;
        FilRod *rod = make_rod(&def);
        double start = total(rod), freed = 0.0;
        for (int i = 0; i < rod->element_count; i++) {
            freed += 0.5 * rod->sections[i].mass * rod->lengths[i] * 9.81 * def.length;
        }
        CHECK(run(rod, 5e-3, 2000) <= start + 2e-3 * freed);
        CHECK(total(rod) >= start - 0.02 * freed);
        fil_rod_destroy(rod);
    }
}

static void drive_tip(void *user, double time, FilPose *pose) {
    const double *radius = user;
    double angle = 3.0 * time;
    pose->position[0] -= *radius * (1.0 - cos(angle));
    pose->position[1] += *radius * (1.0 - cos(2.0 * angle));
    pose->position[2] += *radius * sin(angle) * sin(angle);
}

// A tip led along a curved path is on it after every one of 1000 steps, whatever the step.
static void a_driven_tip_stays_on_its_path(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = fil_rod_def_default();
        double radius = 0.1;
        def.model = models[k % 2];
        def.theta = thetas[k / 2];
        def.length = 1.0;
        def.section.radius = 2e-3;
        def.section.young = 1e8;
        def.damping = 0.01;
        def.tip_end = (FilRodEnd){.kind = FIL_END_PINNED, .motion = drive_tip, .user = &radius};
        const double bent[3] = {0.0, 2.0, 0.0};
        memcpy(def.natural_curvature, bent, sizeof bent);
        FilRod *rod = make_rod(&def);
        double worst = 0.0;
        for (int step = 0; step < 1000; step++) {
            FilPose pose, held = rod->tip_start;
            if (fil_rod_step(rod, 2e-3, NULL, NULL) != FIL_OK) {
                worst = (double)INFINITY;
                break;
            }
            drive_tip(&radius, fil_rod_time(rod), &held);
            fil_rod_at(rod, 1.0, &pose, NULL);
            fil_subtract3(pose.position, held.position, pose.position);
            worst = fmax(worst, fil_norm3(pose.position));
        }
        CHECK(worst <= 1e-9);
        fil_rod_destroy(rod);
    }
}

static void a_step_that_says_nothing_is_not_converged(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = floating_def(models[k % 2], thetas[k / 2]);
        FilRod *rod = make_rod(&def);
        const double rate[6] = {0.0, 0.0, 0.0, 300.0, 200.0, 100.0};
        launch(rod, rate);
        FilRodStepInfo info = {.converged = true};
        FilStatus status = fil_rod_step(rod, 10.0, &info, NULL);
        CHECK(status == FIL_E_ARGUMENT || !info.converged);
        fil_rod_destroy(rod);
    }
}

static void check_text(const FilError *error, const char *text) {
    CHECK(strcmp(error->text, text) == 0);
    if (strcmp(error->text, text) != 0) {
        (void)fprintf(stderr, "%s\n", error->text);
    }
}

static void lengths_and_steps_beyond_reason_are_refused(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = fil_rod_def_default();
        def.model = (FilRodModel)model;
        FilRod *rod = make_rod(&def);
        FilError error;
        FilRodStepInfo info;
        CHECK(fil_rod_set_length(rod, 1e300, &error) == FIL_E_ARGUMENT);
        check_text(&error, "length is 1e+300; it must be positive and at most 1e+15 m");
        CHECK(fil_rod_step(rod, 1e300, &info, &error) == FIL_E_ARGUMENT);
        check_text(&error, "dt is 1e+300; it must be positive and at most 1e+09 s");
        fil_rod_destroy(rod);
    }
    FilRodDef def = fil_rod_def_default();
    def.growth = 1e20;
    FilRod *rod = make_rod(&def);
    FilError error;
    CHECK(fil_rod_step(rod, 1e-3, NULL, &error) == FIL_E_ARGUMENT);
    check_text(&error, "growth is 1e+20; at time 0.001 s the length would be 2e+16, it must be "
                       "positive and at most 1e+15 m");
    fil_rod_destroy(rod);
}

#define TESTS(X)                                 \
    X(kicked_rods_gain_no_energy)                \
    X(spinning_rods_do_not_gain_nutation)        \
    X(whirling_rods_gain_no_energy)              \
    X(falling_hair_gains_no_energy)              \
    X(a_driven_tip_stays_on_its_path)            \
    X(a_step_that_says_nothing_is_not_converged) \
    X(lengths_and_steps_beyond_reason_are_refused)

CHECK_MAIN(TESTS)
