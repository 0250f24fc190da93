// Ends of rods that are let go, joints that are taken apart.
#include "check.h"
#include "world_bench.h"

#include "failing_allocator.h"

static const double g = 9.81;

static FilWorldDef quiet_def(void) {
    FilWorldDef def = fil_world_def_default();
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    return def;
}

// A soft rod of 0.4 m along x.
static FilRodDef soft_def(FilRodModel model) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = 12;
    def.length = 0.4;
    def.section.radius = 2e-3;
    def.section.young = 1e7;
    def.damping = 1e-2;
    return def;
}

// Mean place and velocity: all sections have the same mass.
static void middle_of(const FilRod *rod, double place[3], double velocity[3]) {
    enum { SAMPLES = 2400 };
    memset(place, 0, 3 * sizeof(double));
    memset(velocity, 0, 3 * sizeof(double));
    for (int i = 0; i < SAMPLES; i++) {
        FilPose pose;
        FilRate rate;
        fil_rod_at(rod, fil_rod_length(rod) * (i + 0.5) / SAMPLES, &pose, &rate);
        for (int k = 0; k < 3; k++) {
            place[k] += pose.position[k] / SAMPLES;
            velocity[k] += rate.velocity[k] / SAMPLES;
        }
    }
}

static void a_hanging_rod_that_is_let_go_falls_freely(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = quiet_def();
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef rod_def = soft_def(model);
        FilRod *rod = add_rod(world, &rod_def, 2);
        FilError error;
        FilStaticsInfo info;
        must(fil_rod_equilibrium(rod, NULL, &info, &error), &error);
        CHECK(info.converged);
        for (int k = 0; k < 20; k++) {
            (void)take_step(world);
        }
        FilPose before[9], after[9];
        double place[2][3], velocity[3];
        middle_of(rod, place[0], velocity);
        for (int i = 0; i < 9; i++) {
            fil_rod_at(rod, 0.05 * i, &before[i], NULL);
        }
        int held = fil_rod_dof_count(rod);
        must(fil_world_release(world, 0, false, &error), &error);
        CHECK(fil_rod_dof_count(rod) > held);
        for (int i = 0; i < 9; i++) { // it is where it was
            fil_rod_at(rod, 0.05 * i, &after[i], NULL);
            for (int c = 0; c < 3; c++) {
                CHECK_NEAR(after[i].position[c], before[i].position[c], 0.0, 1e-12);
            }
        }
        for (int k = 0; k < 100; k++) {
            (void)take_step(world);
        }
        middle_of(rod, place[1], velocity);
        CHECK_NEAR(velocity[2], -0.1 * g, 0.02, 0.0);
        CHECK_NEAR(velocity[0], 0.0, 0.0, 0.02 * 0.1 * g);
        CHECK_NEAR(place[0][2] - place[1][2], 0.5 * g * 0.1 * 0.101, 0.02, 0.0);
        fil_world_destroy(world);
    }
}

static void a_tip_that_is_let_go_swings_down(void) {
    const FilEndKind kinds[2] = {FIL_END_PINNED, FIL_END_CLAMPED};
    for (int k = 0; k < 2 * FIL_ROD_MODEL_COUNT; k++) {
        FilWorldDef def = quiet_def();
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef rod_def = soft_def(k / 2);
        rod_def.tip_end.kind = kinds[k % 2];
        double start[12][3];
        for (int i = 0; i < 12; i++) { // slack
            start[i][0] = start[i][1] = 0.0;
            start[i][2] = 4.0;
        }
        rod_def.start_curvatures = start[0];
        rod_def.start_count = 12;
        FilRod *rod = add_rod(world, &rod_def, 2);
        FilError error;
        FilPose before, after;
        for (int step = 0; step < 100; step++) {
            (void)take_step(world);
        }
        fil_rod_at(rod, 0.4, &before, NULL);
        must(fil_world_release(world, 0, true, &error), &error);
        (void)take_step(world);
        fil_rod_at(rod, 0.4, &after, NULL);
        CHECK(after.position[2] < before.position[2] + 1e-3);
        CHECK(after.position[2] > before.position[2] - 1e-3);
        for (int step = 0; step < 300; step++) {
            (void)take_step(world);
        }
        fil_rod_at(rod, 0.4, &after, NULL);
        CHECK(after.position[2] < before.position[2] - 0.1);
        fil_world_destroy(world);
    }
}

static void pull(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[0] += 0.5 * time;
}

static void a_driven_rod_that_is_let_go_keeps_its_velocity(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = quiet_def();
        memset(def.gravity, 0, sizeof def.gravity);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef rod_def = soft_def(model);
        rod_def.root_end.motion = pull;
        rod_def.damping = 0.1;
        FilRod *rod = add_rod(world, &rod_def, 2);
        FilError error;
        for (int k = 0; k < 300; k++) {
            (void)take_step(world);
        }
        must(fil_world_release(world, 0, false, &error), &error);
        for (int i = 0; i < 2; i++) {
            FilRate rate;
            fil_rod_at(rod, 0.4 * i, NULL, &rate);
            CHECK_NEAR(rate.velocity[0], 0.5, 1e-3, 0.0);
        }
        for (int k = 0; k < 100; k++) {
            (void)take_step(world);
        }
        double place[3], velocity[3];
        middle_of(rod, place, velocity);
        CHECK_NEAR(velocity[0], 0.5, 1e-2, 0.0);
        CHECK_NEAR(place[0], 0.2 + 0.5 * 0.4, 1e-2, 0.0);
        fil_world_destroy(world);
    }
}

// Rods among others: the unknowns of those behind move up.
static void a_world_goes_on_from_a_state_after_letting_go(void) {
    FilWorld *worlds[2];
    FilError error;
    for (int w = 0; w < 2; w++) {
        FilWorldDef def = quiet_def();
        worlds[w] = make_world(&def, 0.3, 0.0);
        (void)add_floor(worlds[w]);
        for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
            FilRodDef rod = soft_def(model);
            rod.root.position[1] = 0.005 * model;
            rod.root.position[2] = 0.01;
            (void)add_rod(worlds[w], &rod, 1);
        }
    }
    for (int k = 0; k < 30; k++) {
        (void)take_step(worlds[0]);
    }
    for (int w = 0; w < 2; w++) {
        must(fil_world_release(worlds[w], 1, false, &error), &error);
        must(fil_world_release(worlds[w], 2, false, &error), &error);
    }
    for (int k = 0; k < 30; k++) {
        (void)take_step(worlds[0]);
    }
    double state[2][4000];
    int64_t count = fil_world_state_count(worlds[0]);
    CHECK(count <= 4000);
    fil_world_get_state(worlds[0], state[0]);
    must(fil_world_set_state(worlds[1], state[0], count, &error), &error);
    for (int w = 0; w < 2; w++) {
        for (int k = 0; k < 30; k++) {
            (void)take_step(worlds[w]);
        }
        CHECK(fil_world_state_count(worlds[w]) <= 4000);
        fil_world_get_state(worlds[w], state[w]);
    }
    CHECK(fil_world_state_count(worlds[0]) == fil_world_state_count(worlds[1]));
    count = fil_world_state_count(worlds[0]);
    CHECK(check_same_bits(state[0], state[1], sizeof(double) * (size_t)count));
    fil_world_destroy(worlds[0]);
    fil_world_destroy(worlds[1]);
}

static void hair_that_is_let_go_lies_on_the_head_it_was_rooted_in(void) {
    FilError error;
    FilWorldDef def = quiet_def();
    def.gravity[0] = 2.0; // so that it does not stay upright
    FilWorld *world = make_world(&def, 0.5, 0.0);
    (void)add_floor(world);
    FilRodDef hair = soft_def(FIL_ROD_DER);
    const double up[3][3] = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};
    memcpy(hair.root.axis, up, sizeof up);
    hair.root.position[2] = -0.001; // within the floor
    hair.length = 0.1;
    FilRod *rod = add_rod(world, &hair, 1);
    for (int k = 0; k < 20; k++) {
        (void)take_step(world);
    }
    must(fil_world_release(world, 0, false, &error), &error);
    for (int k = 0; k < 500; k++) {
        (void)take_step(world);
    }
    for (int i = 0; i <= 10; i++) {
        FilPose pose;
        fil_rod_at(rod, 0.01 * i, &pose, NULL);
        CHECK(pose.position[2] > 1e-3 && pose.position[2] < 0.02);
    }
    fil_world_destroy(world);
}

static void a_joint_that_is_taken_apart_drops_the_ball(void) {
    FilError error;
    FilWorldDef def = quiet_def();
    def.sleep_speed = 1e-6;
    def.sleep_after = 0.05;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRigidDef ball = fil_rigid_def_default();
    FilRigid *rigid = add_rigid(world, &ball);
    FilJointDef joint = {.a = {.kind = FIL_BODY_RIGID}, .b = {.kind = FIL_BODY_WORLD}};
    int made;
    must(fil_world_add_joint(world, &joint, &made, &error), &error);
    for (int k = 0; k < 100; k++) {
        (void)take_step(world);
    }
    CHECK(fil_world_is_asleep(world, FIL_BODY_RIGID, 0));
    CHECK(fil_world_remove_joint(world, 1, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "joint is 1; there are 1") == 0);
    must(fil_world_remove_joint(world, made, &error), &error);
    must(fil_world_remove_joint(world, made, &error), &error);
    for (int k = 0; k < 100; k++) {
        (void)take_step(world);
    }
    double centre[3];
    fil_rigid_centre(rigid, centre);
    CHECK_NEAR(centre[2], -0.5 * g * 0.1 * 0.101, 1e-6, 0.0);
    fil_world_destroy(world);
}

static void letting_go_may_run_out_of_memory(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilStatus status = FIL_E_NO_MEMORY;
        for (int n = 0; n < 200 && status != FIL_OK; n++) {
            FailingAllocator memory = {0};
            const FilAllocator allocator = failing_allocator(&memory);
            FilRodDef def = soft_def(model);
            FilRod *rod = NULL;
            FilError error;
            FilRodEnergy energy[2];
            must(fil_rod_create(&def, &allocator, &rod, &error), &error);
            fil_rod_energy(rod, &energy[0]);
            memory.fail_at = memory.requests + 1 + n;
            status = fil_rod_release(rod, false, &error);
            CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
            fil_rod_energy(rod, &energy[1]); // it is whole either way
            CHECK(status == FIL_OK || check_same_bits(&energy[0], &energy[1], sizeof *energy));
            must(fil_rod_step(rod, 1e-3, NULL, &error), &error);
            fil_rod_destroy(rod);
            CHECK(failing_allocator_is_clean(&memory));
        }
        CHECK(status == FIL_OK);
    }
}

#define TESTS(X)                                             \
    X(a_hanging_rod_that_is_let_go_falls_freely)             \
    X(a_tip_that_is_let_go_swings_down)                      \
    X(a_driven_rod_that_is_let_go_keeps_its_velocity)        \
    X(a_world_goes_on_from_a_state_after_letting_go)         \
    X(hair_that_is_let_go_lies_on_the_head_it_was_rooted_in) \
    X(a_joint_that_is_taken_apart_drops_the_ball)            \
    X(letting_go_may_run_out_of_memory)

CHECK_MAIN(TESTS)
