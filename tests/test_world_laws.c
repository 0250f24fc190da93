// What others do, beside the exact law: each comparator is wrong in the way that it is known for.
#include "check.h"
#include "world_bench.h"

static const double g = 9.81;

static FilWorldDef law_def(FilContactKind contact, FilFrictionLaw law) {
    FilWorldDef def = fil_world_def_default();
    def.contact = contact;
    def.law = law;
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    return def;
}

static void take_steps(FilWorld *world, int count) {
    for (int k = 0; k < count; k++) {
        (void)take_step(world);
    }
}

// --- creep ---------------------------------------------------------------------------------------

// How fast a rod of 1 kg moves that is pushed with 3 N where friction holds up to 3.92 N.
static double creep_of(FilContactKind contact, FilFrictionLaw law) {
    FilError error;
    FilWorldDef def = law_def(contact, law);
    def.slip_speed = 5e-3; // penalty is explicit: less is not stable
    def.penalty_stiffness = 1e4;
    def.penalty_damping = 20.0;
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    FilRodDef log = log_def(FIL_ROD_CHAIN, 0.01);
    FilRod *rod = add_rod(world, &log, 2);
    FilRodLoad loads[17];
    for (int i = 0; i < 17; i++) {
        double part = i == 0 || i == 16 ? 0.5 : 1.0;
        loads[i] = (FilRodLoad){.s = i / 16.0, .force = {3.0 * part / 16.0, 0.0, 0.0}};
    }
    must(fil_rod_set_loads(rod, loads, 17, &error), &error);
    take_steps(world, 300);
    FilPose from, to;
    fil_rod_at(rod, 0.5, &from, NULL);
    take_steps(world, 200);
    fil_rod_at(rod, 0.5, &to, NULL);
    fil_world_destroy(world);
    return (to.position[0] - from.position[0]) / 0.2;
}

static void a_pushed_rod_creeps_with_penalty_and_regularised_friction_alone(void) {
    const double wanted = 5e-3 * 3.0 / (0.4 * g); // the part of the slip speed that the push is
    CHECK(fabs(creep_of(FIL_CONTACT_EXACT, FIL_LAW_EXACT)) < 1e-10);
    CHECK_NEAR(creep_of(FIL_CONTACT_EXACT, FIL_LAW_REGULARISED), wanted, 0.05, 0.0);
    CHECK_NEAR(creep_of(FIL_CONTACT_PENALTY, FIL_LAW_EXACT), wanted, 0.05, 0.0);
    // a pyramid sticks too, where the push is within it
    CHECK(fabs(creep_of(FIL_CONTACT_EXACT, FIL_LAW_LINEARISED)) < 1e-6);
}

// --- sliding -------------------------------------------------------------------------------------

// A flat box that slides at 1 m/s, 22.5 deg off the x axis, with mu = 0.3, for 0.2 s: where it is
// then. A wide one, so that it does not tip.
static void slide(FilFrictionLaw law, int facets, double place[3]) {
    FilWorldDef def = law_def(FIL_CONTACT_EXACT, law);
    def.solver.facet_count = facets;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    FilRigidDef box = fil_rigid_def_default();
    box.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {0.2, 0.2, 0.02}};
    box.pose.position[2] = 0.01;
    box.rate.velocity[0] = cos(0.3927);
    box.rate.velocity[1] = sin(0.3927);
    FilRigid *rigid = add_rigid(world, &box);
    take_steps(world, 200);
    fil_rigid_centre(rigid, place);
    fil_world_destroy(world);
}

static void a_pyramid_makes_a_sliding_box_drift_sideways(void) {
    double exact[3], four[3], many[3];
    slide(FIL_LAW_EXACT, 4, exact);
    slide(FIL_LAW_LINEARISED, 4, four);
    slide(FIL_LAW_LINEARISED, 64, many);
    double off = atan2(exact[1], exact[0]) - 0.3927;
    CHECK(fabs(off) < 1e-6); // friction is against the motion, whichever way it goes
    CHECK(fabs(atan2(four[1], four[0]) - 0.3927) > 0.02);
    CHECK(fabs(atan2(many[1], many[0]) - 0.3927) < 0.01);
}

// One contact alone: a comparator that started from its exact solution would stay there.
static void a_pyramid_makes_a_single_ball_drift_sideways_too(void) {
    const double side = 0.3927;
    double off[2];
    for (int k = 0; k < 2; k++) {
        FilWorldDef def = law_def(FIL_CONTACT_EXACT, k == 0 ? FIL_LAW_EXACT : FIL_LAW_LINEARISED);
        def.solver.facet_count = 4;
        FilWorld *world = make_world(&def, 0.3, 0.0);
        (void)add_floor(world);
        FilRigidDef ball = fil_rigid_def_default();
        ball.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.02};
        ball.pose.position[2] = 0.02;
        ball.rate.velocity[0] = cos(side);
        ball.rate.velocity[1] = sin(side);
        FilRigid *rigid = add_rigid(world, &ball);
        double centre[3];
        take_steps(world, 60);
        fil_rigid_centre(rigid, centre);
        off[k] = fabs(atan2(centre[1], centre[0]) - side);
        fil_world_destroy(world);
    }
    CHECK(off[0] < 1e-9);
    CHECK(off[1] > 0.005);
}

// It demands u_N = mu |u_T|: what slides at 1 m/s goes up at 0.3 m/s.
static void the_convex_law_lifts_a_sliding_box(void) {
    double exact[3], convex[3];
    slide(FIL_LAW_EXACT, 4, exact);
    slide(FIL_LAW_CONVEX, 4, convex);
    CHECK_NEAR(exact[2], 0.01, 0.0, 1e-6);
    CHECK(convex[2] > 0.0101);
}

// --- thresholds ----------------------------------------------------------------------------------

static int add_plane(FilWorld *world, int material, const double axes[3][3]) {
    FilError error;
    FilObstacleDef def = {.shape = {.kind = FIL_SHAPE_PLANE}};
    FilSurface surface = fil_surface_default();
    int obstacle;
    memcpy(def.pose.axis, axes, sizeof def.pose.axis);
    surface.material = material;
    must(fil_world_add_obstacle(world, &def, &surface, &obstacle, &error), &error);
    return obstacle;
}

// A ladder of 1 m that leans at 45 deg against a wall without friction: how far its foot slides in
// 0.2 s.
static double slipped(FilFrictionLaw law, double mu) {
    FilError error;
    FilWorldDef def = law_def(FIL_CONTACT_EXACT, law);
    FilWorld *world = make_world(&def, mu, 0.0);
    const double up[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double right[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    int smooth;
    must(fil_world_add_material(world, 0.0, &smooth, &error), &error);
    must(fil_world_set_friction(world, 0, smooth, 0.0, &error), &error);
    (void)add_plane(world, 0, up);
    (void)add_plane(world, smooth, right);
    const double c = sqrt(0.5), r = 0.01;
    FilRigidDef ladder = fil_rigid_def_default();
    ladder.shape = (FilShape){.kind = FIL_SHAPE_CAPSULE, .radius = r, .length = 1.0};
    ladder.pose = (FilPose){.position = {r + 0.5 * c, 0.0, r + 0.5 * c},
                            .axis = {{-c, 0, c}, {0, 1, 0}, {-c, 0, -c}}};
    FilRigid *rigid = add_rigid(world, &ladder);
    take_steps(world, 200);
    double centre[3];
    fil_rigid_centre(rigid, centre);
    fil_world_destroy(world);
    return r + 0.5 * c - centre[2];
}

// It stands from mu = cot(45 deg) / 2 = 0.5 on. Without friction it is on its way down and presses
// on the floor with 5/8 of its weight: so does Tresca's ladder up to mu = 0.8.
static void tresca_lets_a_ladder_slip_that_stands(void) {
    CHECK(slipped(FIL_LAW_EXACT, 0.52) < 1e-9);
    CHECK(slipped(FIL_LAW_EXACT, 0.48) > 1e-3);
    CHECK(slipped(FIL_LAW_TRESCA, 0.52) > 1e-2);
    CHECK(slipped(FIL_LAW_TRESCA, 0.75) > 1e-3);
    CHECK(slipped(FIL_LAW_TRESCA, 0.9) < 1e-6);
}

// --- passing through -----------------------------------------------------------------------------

// A rod shot across another one at 30 m/s in steps of 10 ms: how far above it is two steps later.
static double shot_height(FilContactKind contact) {
    FilError error;
    FilWorldDef def = law_def(contact, FIL_LAW_EXACT);
    def.step = 1e-2;
    memset(def.gravity, 0, sizeof def.gravity);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef a = log_def(FIL_ROD_CHAIN, 0.0), b = log_def(FIL_ROD_CHAIN, 0.4);
    const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    memcpy(b.root.axis, y, sizeof y);
    b.root.position[0] = 0.5;
    b.root.position[1] = -0.5;
    FilRod *rods[2] = {add_rod(world, &a, 1), add_rod(world, &b, 1)};
    const double fast[3] = {0.0, 0.0, -30.0}, none[3] = {0.0, 0.0, 0.0};
    must(fil_rod_launch(rods[1], fast, none, &error), &error);
    take_steps(world, 3);
    FilPose low, high;
    fil_rod_at(rods[0], 0.5, &low, NULL);
    fil_rod_at(rods[1], 0.5, &high, NULL);
    fil_world_destroy(world);
    return high.position[2] - low.position[2];
}

static void penalty_lets_fast_rods_pass(void) {
    CHECK(shot_height(FIL_CONTACT_EXACT) > 0.0);
    CHECK(shot_height(FIL_CONTACT_PENALTY) < -0.1);
}

// Four corners, each a spring of 1000 N/m.
static void a_box_sinks_into_springs_by_its_weight(void) {
    FilWorldDef def = law_def(FIL_CONTACT_PENALTY, FIL_LAW_EXACT);
    def.penalty_stiffness = 1e3;
    def.penalty_damping = 20.0;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    FilRigidDef box = fil_rigid_def_default();
    box.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {0.2, 0.2, 0.02}};
    box.pose.position[2] = 0.01;
    box.mass = 1.0;
    FilRigid *rigid = add_rigid(world, &box);
    take_steps(world, 2000);
    double centre[3];
    fil_rigid_centre(rigid, centre);
    CHECK_NEAR(0.01 - centre[2], g / 4e3, 1e-3, 0.0);
    fil_world_destroy(world);
}

#define TESTS(X)                                                       \
    X(a_pushed_rod_creeps_with_penalty_and_regularised_friction_alone) \
    X(a_pyramid_makes_a_sliding_box_drift_sideways)                    \
    X(a_pyramid_makes_a_single_ball_drift_sideways_too)                \
    X(the_convex_law_lifts_a_sliding_box)                              \
    X(tresca_lets_a_ladder_slip_that_stands)                           \
    X(penalty_lets_fast_rods_pass)                                     \
    X(a_box_sinks_into_springs_by_its_weight)

CHECK_MAIN(TESTS)
