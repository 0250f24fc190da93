// Steps that nothing can do are not done: what would pass through each other goes on as one piece,
// with its momentum and no more energy.
#include "check.h"
#include "world_bench.h"

#include "math/vec3.h"
#include "rod/rod.h"
#include "world/world.h"

// No halvings: what a step cannot do must be held at once.
static FilWorld *make_space(double step, double gravity) {
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.max_halvings = 0;
    def.solver.thread_count = 1;
    def.gravity[2] = gravity;
    return make_world(&def, 0.4, 0.0);
}

// A hair of 4 cm along x, and a ball of a gram that comes from above at 25 m/s: it is a thousand
// times as heavy, and goes three of its radii in a step.
static FilWorld *throw_at_hair(FilRodModel model, FilEndKind root, double gravity, FilRod **hair,
                               FilRigid **ball) {
    FilWorld *world = make_space(1e-3, gravity);
    FilRodDef rod = fil_rod_def_default();
    FilRigidDef sphere = fil_rigid_def_default();
    rod.model = model;
    rod.element_count = 6;
    rod.length = 0.04;
    rod.section.radius = 6e-5;
    rod.section.young = 1e6;
    rod.root_end.kind = root;
    *hair = add_rod(world, &rod, 1);
    sphere.shape.radius = 8e-3;
    sphere.mass = 1e-3;
    sphere.pose.position[0] = 0.025;
    sphere.pose.position[2] = 0.06;
    sphere.rate.velocity[2] = -25.0;
    sphere.gravity[2] = gravity;
    *ball = add_rigid(world, &sphere);
    return world;
}

static double energy_of(const FilWorld *world) {
    FilRodEnergy e;
    fil_world_energy(world, &e);
    return e.kinetic + e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

static double height_of(const FilRigid *ball) {
    FilPose pose;
    fil_rigid_pose(ball, &pose);
    return pose.position[2];
}

// Their weight, were it forgotten or of the wrong sign while they are held, would be 2 % of it a
// step.
static void a_ball_takes_a_free_hair_along_with_its_momentum(void) {
    int held = 0;
    for (int k = 0; k < 2 * FIL_ROD_MODEL_COUNT; k++) {
        FilRod *hair;
        FilRigid *ball;
        const double gravity = k % 2 == 0 ? 0.0 : -500.0;
        FilWorld *world = throw_at_hair((FilRodModel)(k / 2), FIL_END_FREE, gravity, &hair, &ball);
        const double mass = fil_world_mass(world);
        double before = energy_of(world);
        for (int step = 1; step <= 12; step++) {
            const FilStepInfo info = take_step(world);
            const double after = energy_of(world), origin[3] = {0.0};
            double linear[3], angular[3];
            FilRate rate;
            fil_rod_momentum(hair, origin, linear, angular);
            fil_rigid_rate(ball, &rate);
            CHECK(info.missed_count == 0);
            CHECK(after <= before + 1e-9 * 0.3); // J at the start
            CHECK_NEAR(linear[2] + 1e-3 * rate.velocity[2], -25e-3 + 1e-3 * step * gravity * mass,
                       1e-6, 0.0);
            CHECK(info.slowed_count == 0 || info.outcome != FIL_CONVERGED);
            before = after;
            held += info.slowed_count;
        }
        CHECK(held > 0);               // or nothing was tried
        CHECK(height_of(ball) < -0.1); // and on it went
        fil_world_destroy(world);
    }
    CHECK(held > 0); // or nothing was tried
}

// What is held stops a ball that it cannot let through.
static void a_ball_never_passes_a_clamped_hair(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRod *hair;
        FilRigid *ball;
        FilWorld *world = throw_at_hair((FilRodModel)model, FIL_END_CLAMPED, 0.0, &hair, &ball);
        double before = energy_of(world);
        int missed = 0;
        for (int k = 0; k < 12; k++) {
            missed += take_step(world).missed_count;
            CHECK(energy_of(world) <= before * (1.0 + 1e-9) + 1e-20); // 0.3 J at the start
            before = energy_of(world);
        }
        CHECK(missed == 0);
        fil_world_destroy(world);
    }
}

// A rod of half a microgram with a load that turns it by more than any part of a step can be made
// ready for: it goes on with what the load gives to it, and says so.
static void a_load_that_no_step_can_follow_does_not_end_the_run(void) {
    FilWorldDef def = fil_world_def_default();
    FilRodDef rod_def = fil_rod_def_default();
    const FilRodLoad load = {.s = 0.0274, .force = {-1.3e-4, -0.033, 0.022}};
    const double origin[3] = {0.0};
    int named = 0;
    def.step = 3.76e-3;
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.0, 0.0);
    rod_def.model = FIL_ROD_CLOTHOID;
    rod_def.element_count = 13;
    rod_def.length = 0.0274;
    rod_def.section.radius = 1.126e-5;
    rod_def.section.young = 1.4e5;
    rod_def.section.density = 48.6;
    rod_def.theta = 0.9;
    rod_def.loads = &load;
    rod_def.load_count = 1;
    FilRod *rod = add_rod(world, &rod_def, 1);
    for (int step = 1; step <= 10; step++) {
        const FilStepInfo info = take_step(world);
        double linear[3], angular[3];
        fil_rod_momentum(rod, origin, linear, angular);
        CHECK(fil_norm3(linear) <= 1.001 * fil_norm3(load.force) * step * def.step);
        named += info.slowed_count > 0;
    }
    CHECK(named > 0); // or nothing was tried
    fil_world_destroy(world);
}

#define TESTS(X)                                        \
    X(a_ball_takes_a_free_hair_along_with_its_momentum) \
    X(a_ball_never_passes_a_clamped_hair)               \
    X(a_load_that_no_step_can_follow_does_not_end_the_run)

CHECK_MAIN(TESTS)
