// Joints: what they hold together stays together, whatever swings, and nothing comes of it.
#include "check.h"
#include "world_bench.h"

#include "rod/rod.h"
#include "world/world.h"

static FilWorldDef exact_def(double step) {
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    return def;
}

// A rope of 0.2 m along x, without weight, whose tip a joint holds where it is.
static FilWorld *make_rope(FilRodModel model, double step, FilRod **rod) {
    FilError error;
    FilWorldDef def = exact_def(step);
    memset(def.gravity, 0, sizeof def.gravity);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef rope = fil_rod_def_default();
    rope.model = model;
    rope.element_count = 6;
    rope.length = 0.2;
    rope.section.radius = 2e-3;
    rope.section.young = 1e7;
    rope.root_end.kind = FIL_END_FREE;
    *rod = add_rod(world, &rope, 1);
    FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .s = 0.2},
                         .b = {.kind = FIL_BODY_WORLD, .point = {0.2, 0.0, 0.0}},
                         .turning = true};
    int made;
    must(fil_world_add_joint(world, &joint, &made, &error), &error);
    return world;
}

static void a_joint_holds_a_rod_to_a_body(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef rope = fil_rod_def_default();
    rope.model = FIL_ROD_DER;
    rope.element_count = 20;
    rope.length = 0.5;
    rope.section.radius = 2e-3;
    rope.section.young = 1e7;
    FilRod *rod = add_rod(world, &rope, 1);
    FilRigidDef ball = fil_rigid_def_default();
    ball.pose.position[0] = 0.51;
    FilRigid *rigid = add_rigid(world, &ball);
    FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .index = 0, .s = 0.5},
                         .b = {.kind = FIL_BODY_RIGID, .index = 0, .point = {0.5, 0.0, 0.0}}};
    int made;
    must(fil_world_add_joint(world, &joint, &made, &error), &error);
    double worst = 0.0;
    for (int k = 0; k < 500; k++) {
        (void)take_step(world);
        FilPose tip, pose;
        fil_rod_at(rod, 0.5, &tip, NULL);
        fil_rigid_pose(rigid, &pose);
        for (int c = 0; c < 3; c++) {
            worst = fmax(worst, fabs(tip.position[c] - pose.position[c] + 0.01 * pose.axis[0][c]));
        }
    }
    CHECK(worst < 1e-3);
    double centre[3];
    fil_rigid_centre(rigid, centre);
    CHECK(centre[2] < -0.3); // it fell
    fil_world_destroy(world);
}

// A rod that swings about the tip that a joint holds, once round in 0.3 s: nothing does work on it,
// and it stays where it is joined though it turns by 0.06 rad in a step.
static void a_rod_swings_at_a_joint_without_gaining_energy(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRod *rod;
        FilWorld *world = make_rope((FilRodModel)model, 3e-3, &rod);
        FilError error;
        const double velocity[3] = {0.0, -4.0, 0.0}, spin[3] = {0.0, 0.0, 20.0};
        must(fil_rod_launch(rod, velocity, spin, &error), &error);
        FilRodEnergy start, now;
        double worst = 0.0;
        fil_rod_energy(rod, &start);
        for (int k = 0; k < 100; k++) {
            const FilStepInfo info = take_step(world);
            FilPose tip;
            fil_rod_at(rod, 0.2, &tip, NULL);
            fil_rod_energy(rod, &now);
            const double total = now.kinetic + now.bend + now.twist + now.stretch;
            const double off[3] = {tip.position[0] - 0.2, tip.position[1], tip.position[2]};
            worst = fmax(worst, hypot(hypot(off[0], off[1]), off[2]));
            CHECK(info.outcome == FIL_CONVERGED && info.slowed_count == 0);
            CHECK(total <= (1.0 + 1e-9) * start.kinetic);
        }
        CHECK(worst < 1e-8);
        CHECK(now.kinetic > 0.5 * start.kinetic); // implicit Euler takes (0.06 rad)^2 a step
        fil_world_destroy(world);
    }
}

// A joint whose sides are apart brings them together; what that takes is no velocity that stays.
static void what_a_joint_mends_leaves_no_velocity(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRod *rod;
        FilWorld *world = make_rope((FilRodModel)model, 1e-3, &rod);
        double rates[100] = {0.0};
        const double aside[3] = {0.0, 0.01, 0.0}, no_spin[3] = {0.0, 0.0, 0.0};
        CHECK(rod->dof_count <= 100);
        rod->table->rigid_rates(rod, aside, no_spin, rates);
        rod->table->move(rod, rates); // 1 cm away
        FilPose tip;
        FilRodEnergy now;
        fil_rod_at(rod, 0.2, &tip, NULL);
        CHECK(fabs(tip.position[1] - 0.01) < 1e-12);
        for (int k = 0; k < 3; k++) {
            (void)take_step(world);
        }
        fil_rod_at(rod, 0.2, &tip, NULL);
        fil_rod_energy(rod, &now);
        CHECK(fabs(tip.position[1]) < 1e-6);
        // 1 cm in 1 ms by all of the rod would be 0.16 J
        CHECK(now.kinetic + now.bend + now.twist + now.stretch < 1e-3);
        fil_world_destroy(world);
    }
}

// Two clamped joints, one of which carries a rod that sticks out: what it takes is told of that
// one.
static void forces_are_told_of_the_joint_that_has_them(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef stick = fil_rod_def_default();
    stick.model = FIL_ROD_DER;
    stick.length = 0.1;
    stick.element_count = 5;
    stick.section.radius = 2e-3;
    stick.section.young = 1e10;
    stick.root_end.kind = FIL_END_FREE;
    const double weight = 9.81 * stick.section.density * 3.14159265358979 * 4e-6 * 0.1;
    for (int k = 0; k < 2; k++) { // one hangs, one sticks out
        const double down[3][3] = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
        const double out[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        stick.root.position[1] = k;
        memcpy(stick.root.axis, k == 0 ? down : out, sizeof down);
        (void)add_rod(world, &stick, 1);
        FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .index = k},
                             .b = {.kind = FIL_BODY_WORLD, .point = {0.0, k, 0.0}}};
        int made;
        must(fil_world_add_joint(world, &joint, &made, &error), &error);
        CHECK(made == k);
    }
    for (int k = 0; k < 500; k++) {
        (void)take_step(world);
    }
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(world->joints[k].force[2], weight, 1e-3, 0.0);
        CHECK_NEAR(world->joints[k].torque[1], k == 0 ? 0.0 : -0.05 * weight, 0.0, 5e-4 * weight);
    }
    fil_world_destroy(world);
}

// A tip and itself, a body and itself; but the two ends of a rod make a ring.
static void a_joint_of_a_place_with_itself_is_refused(void) {
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.4, 0.0);
    FilRodDef rod = log_def(FIL_ROD_DER, 1.0);
    FilRigidDef ball = fil_rigid_def_default();
    FilError error;
    int number;
    (void)add_rod(world, &rod, 2);
    (void)add_rigid(world, &ball);
    FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .s = 1.0},
                         .b = {.kind = FIL_BODY_ROD, .s = 1.0 - 1e-12}};
    CHECK(fil_world_add_joint(world, &joint, &number, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text,
                 "a and b are the same place of rod 0; a joint holds two things together") == 0);
    joint.a = joint.b = (FilJointSide){.kind = FIL_BODY_RIGID};
    CHECK(fil_world_add_joint(world, &joint, &number, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "a and b are the same place of rigid body 0", 42) == 0);
    joint = (FilJointDef){.a = {.kind = FIL_BODY_ROD, .s = 1.0}, .b = {.kind = FIL_BODY_ROD}};
    CHECK(fil_world_add_joint(world, &joint, &number, &error) == FIL_OK);
    fil_world_destroy(world);
}

#define TESTS(X)                                      \
    X(a_joint_holds_a_rod_to_a_body)                  \
    X(a_rod_swings_at_a_joint_without_gaining_energy) \
    X(what_a_joint_mends_leaves_no_velocity)          \
    X(forces_are_told_of_the_joint_that_has_them)     \
    X(a_joint_of_a_place_with_itself_is_refused)

CHECK_MAIN(TESTS)
