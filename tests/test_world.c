// The world: what lies still stays, what is pushed slides, rolls, bounces or stops as it should.
#include "check.h"
#include "world_bench.h"

#include "failing_allocator.h"

static const double g = 9.81;

static FilWorldDef exact_def(double step) {
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    return def;
}

// `count` equal loads along x, together `force`.
static void push_along(FilRod *rod, double force) {
    enum { COUNT = 17 };
    FilRodLoad loads[COUNT];
    FilError error;
    for (int i = 0; i < COUNT; i++) {
        double part = i == 0 || i == COUNT - 1 ? 0.5 : 1.0;
        loads[i] = (FilRodLoad){.s = (double)i / (COUNT - 1),
                                .force = {part * force / (COUNT - 1), 0.0, 0.0}};
    }
    must(fil_rod_set_loads(rod, loads, COUNT, &error), &error);
}

static double middle_of(const FilRod *rod, int axis) {
    FilPose pose;
    fil_rod_at(rod, 0.5 * fil_rod_length(rod), &pose, NULL);
    return pose.position[axis];
}

static void a_rod_that_is_pushed_less_than_friction_does_not_move(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        for (double force = 1.0; force < 4.0; force += 1.45) { // mu m g = 3.924 N
            FilWorldDef def = exact_def(1e-3);
            FilWorld *world = make_world(&def, 0.4, 0.0);
            (void)add_floor(world);
            FilRodDef rod_def = log_def(model, 0.01);
            FilRod *rod = add_rod(world, &rod_def, 2);
            push_along(rod, force);
            double early = 0.0;
            for (int k = 0; k < 300; k++) {
                early = k == 100 ? middle_of(rod, 0) : early;
                FilStepInfo info = take_step(world);
                CHECK(info.outcome == FIL_CONVERGED);
            }
            CHECK_NEAR((middle_of(rod, 0) - early) / 0.2, 0.0, 0.0, 1e-10);
            fil_world_destroy(world);
        }
    }
}

static void a_rod_that_is_pushed_more_accelerates_by_what_is_left(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.4, 0.0);
        (void)add_floor(world);
        FilRodDef rod_def = log_def(model, 0.01);
        FilRod *rod = add_rod(world, &rod_def, 2);
        push_along(rod, 5.0);
        for (int k = 0; k < 200; k++) {
            (void)take_step(world);
        }
        FilRate rate;
        fil_rod_at(rod, 0.5, NULL, &rate);
        CHECK_NEAR(rate.velocity[0], 0.2 * (5.0 - 0.4 * g), 1e-6, 0.0);
        fil_world_destroy(world);
    }
}

// Gravity is turned instead of the floor.
static void tilt(FilWorld *world, double angle) {
    FilError error;
    const double gravity[3] = {g * sin(angle), 0.0, -g * cos(angle)};
    must(fil_world_set_gravity(world, gravity, &error), &error);
}

static FilRigidDef cube_def(double size, double z) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {size, size, size}};
    def.pose.position[2] = z;
    return def;
}

static void a_cube_on_a_slope_stays_below_the_angle_of_friction_and_slides_above(void) {
    const double mu = 0.5, limit = atan(mu);
    for (int side = 0; side < 2; side++) {
        double angle = side == 0 ? 0.99 * limit : 1.05 * limit;
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, mu, 0.0);
        (void)add_floor(world);
        FilRigidDef cube = cube_def(0.1, 0.05);
        FilRigid *rigid = add_rigid(world, &cube);
        tilt(world, angle);
        for (int k = 0; k < 300; k++) {
            (void)take_step(world);
        }
        FilRate rate;
        fil_rigid_rate(rigid, &rate);
        double slide = 0.3 * g * (sin(angle) - mu * cos(angle));
        CHECK_NEAR(rate.velocity[0], side == 0 ? 0.0 : slide, 1e-6, 1e-10);
        fil_world_destroy(world);
    }
}

static void a_sliding_cube_stops_after_v2_over_2_mu_g(void) {
    FilWorldDef def = exact_def(1e-4);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    FilRigidDef cube = cube_def(0.1, 0.05);
    cube.rate.velocity[0] = 1.0;
    FilRigid *rigid = add_rigid(world, &cube);
    for (int k = 0; k < 4000; k++) {
        (void)take_step(world);
    }
    double centre[3];
    fil_rigid_centre(rigid, centre);
    CHECK_NEAR(centre[0], 1.0 / (2.0 * 0.3 * g), 1e-3, 0.0);
    fil_world_destroy(world);
}

static void a_ball_rebounds_with_its_coefficient_of_restitution(void) {
    for (int k = 0; k < 3; k++) {
        double e = 0.5 * k;
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.3, e);
        (void)add_floor(world);
        FilRigidDef ball = fil_rigid_def_default();
        ball.pose.position[2] = 0.51;
        FilRigid *rigid = add_rigid(world, &ball);
        double fastest = 0.0, rebound = 0.0;
        for (int step = 0; step < 400; step++) {
            (void)take_step(world);
            FilRate rate;
            fil_rigid_rate(rigid, &rate);
            fastest = fmax(fastest, -rate.velocity[2]);
            rebound = fmax(rebound, rate.velocity[2]);
        }
        CHECK_NEAR(fastest, sqrt(2.0 * g * 0.5), 5e-3, 0.0);
        CHECK_NEAR(rebound, e * fastest, 1e-2, 1e-6);
        fil_world_destroy(world);
    }
}

static void a_cylinder_rolls_down_at_two_thirds_of_g_sin(void) {
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.5, 0.0);
    (void)add_floor(world);
    FilRigidDef cylinder = fil_rigid_def_default();
    cylinder.shape = (FilShape){.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 0.2};
    cylinder.pose = (FilPose){.position = {0.0, 0.0, 0.05},
                              .axis = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}; // along y
    FilRigid *rigid = add_rigid(world, &cylinder);
    tilt(world, 0.3);
    for (int k = 0; k < 500; k++) {
        (void)take_step(world);
    }
    FilRate rate;
    fil_rigid_rate(rigid, &rate);
    CHECK_NEAR(rate.velocity[0], 0.5 * 2.0 / 3.0 * g * sin(0.3), 1e-4, 0.0);
    CHECK_NEAR(rate.spin[1] * 0.05, rate.velocity[0], 1e-4, 0.0);
    fil_world_destroy(world);
}

// A round rod rolls too: its contacts act on the surface. (A chain has no twist and slides.)
static void a_rod_rolls_down_at_two_thirds_of_g_sin(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        if (model == FIL_ROD_CHAIN) {
            continue;
        }
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.5, 0.0);
        (void)add_floor(world);
        FilRodDef rod_def = log_def(model, 0.01);
        const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        memcpy(rod_def.root.axis, y, sizeof y);
        FilRod *rod = add_rod(world, &rod_def, 1);
        tilt(world, 0.2);
        for (int k = 0; k < 200; k++) {
            (void)take_step(world);
        }
        FilRate rate;
        fil_rod_at(rod, 0.5, NULL, &rate);
        CHECK_NEAR(rate.velocity[0], 0.2 * 2.0 / 3.0 * g * sin(0.2), 1e-3, 0.0);
        fil_world_destroy(world);
    }
}

// Two logs and one on top, touching: the lower ones are pushed apart with tan 15 deg of the load.
static FilRigidDef lying_log(double x, double z) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 0.3};
    def.pose = (FilPose){.position = {x, 0.0, z}, .axis = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
    return def;
}

static void a_stack_of_three_logs_stands_if_log_on_log_friction_is_above_tan_15(void) {
    for (int side = 0; side < 2; side++) {
        FilError error;
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, side == 0 ? 0.272 : 0.264, 0.0);
        int ground, obstacle;
        must(fil_world_add_material(world, 0.0, &ground, &error), &error);
        must(fil_world_set_friction(world, 0, ground, 0.5, &error), &error);
        FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE},
                                .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
        FilSurface surface = fil_surface_default();
        surface.material = ground;
        must(fil_world_add_obstacle(world, &floor, &surface, &obstacle, &error), &error);
        FilRigidDef logs[3] = {lying_log(-0.05, 0.05), lying_log(0.05, 0.05),
                               lying_log(0.0, 0.05 + 0.05 * sqrt(3.0))};
        FilRigid *top = NULL;
        for (int k = 0; k < 3; k++) {
            top = add_rigid(world, &logs[k]);
        }
        for (int k = 0; k < 400; k++) {
            (void)take_step(world);
        }
        double centre[3];
        fil_rigid_centre(top, centre);
        double sunk = 0.05 + 0.05 * sqrt(3.0) - centre[2];
        CHECK(side == 0 ? sunk < 1e-10 : sunk > 1e-3);
        fil_world_destroy(world);
    }
}

// Sum of mass times velocity, by nodes: der and chain keep it where they are.
static void momentum_of(const FilRod *rod, double mass, double momentum[3]) {
    enum { SAMPLES = 2000 };
    memset(momentum, 0, 3 * sizeof(double));
    for (int i = 0; i < SAMPLES; i++) {
        FilRate rate;
        fil_rod_at(rod, fil_rod_length(rod) * (i + 0.5) / SAMPLES, NULL, &rate);
        for (int k = 0; k < 3; k++) {
            momentum[k] += mass * rate.velocity[k] / SAMPLES;
        }
    }
}

static void colliding_rods_in_free_space_keep_their_momentum(void) {
    const FilRodModel models[2] = {FIL_ROD_DER, FIL_ROD_CHAIN};
    for (int m = 0; m < 2; m++) {
        FilWorldDef def = exact_def(1e-3);
        memset(def.gravity, 0, sizeof def.gravity);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef a = log_def(models[m], 0.0), b = log_def(models[m], 0.03);
        a.section.young = b.section.young = 1e7;
        const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        memcpy(b.root.axis, y, sizeof y);
        b.root.position[0] = 0.4;
        b.root.position[1] = -0.5;
        FilRod *rods[2] = {add_rod(world, &a, 2), add_rod(world, &b, 2)};
        const FilRodLoad fall = {.s = 0.5, .force = {30.0, 0.0, -500.0}};
        FilError error;
        must(fil_rod_set_loads(rods[1], &fall, 1, &error), &error);
        (void)take_step(world);
        must(fil_rod_set_loads(rods[1], NULL, 0, &error), &error);
        double before[2][3], after[2][3];
        momentum_of(rods[0], 1.0, before[0]);
        momentum_of(rods[1], 1.0, before[1]);
        int touched = 0;
        for (int k = 0; k < 100; k++) {
            touched += take_step(world).active_count > 0;
        }
        momentum_of(rods[0], 1.0, after[0]);
        momentum_of(rods[1], 1.0, after[1]);
        CHECK(touched > 0);
        CHECK(fabs(after[0][2]) > 0.05); // what was hit moves
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(after[0][k] + after[1][k], before[0][k] + before[1][k], 1e-9, 1e-9);
        }
        fil_world_destroy(world);
    }
}

// Crossed rods of many kinds that fall on each other and a floor.
static FilWorld *heap(const FilWorldDef *def, int count) {
    FilWorld *world = make_world(def, 0.3, 0.0);
    (void)add_floor(world);
    for (int i = 0; i < count; i++) {
        FilRodDef rod = log_def(i % FIL_ROD_MODEL_COUNT, 0.03 + 0.03 * i);
        double angle = 0.7 * i;
        const double axes[3][3] = {
            {cos(angle), sin(angle), 0.0}, {-sin(angle), cos(angle), 0.0}, {0.0, 0.0, 1.0}};
        memcpy(rod.root.axis, axes, sizeof axes);
        rod.root.position[0] = -0.5 * cos(angle) + 0.02 * (i % 3);
        rod.root.position[1] = -0.5 * sin(angle);
        rod.section.young = 1e8;
        rod.damping = 1e-3;
        (void)add_rod(world, &rod, 2);
    }
    return world;
}

static void friction_never_gives_energy(void) {
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = heap(&def, 10);
    for (int k = 0; k < 400; k++) {
        FilStepInfo info = take_step(world);
        int count;
        const FilContact *contacts = fil_world_contacts(world, &count);
        double slip = 0.0, all = 0.0, scale = 1e-12;
        for (int i = 0; i < count; i++) {
            const FilContact *contact = &contacts[i];
            double normal = 0.0, work = 0.0;
            for (int c = 0; c < 3; c++) {
                work += contact->impulse[c] * contact->velocity[c];
                normal += contact->impulse[c] * contact->normal[c];
                scale += fabs(contact->impulse[c]);
            }
            double opening = 0.0;
            for (int c = 0; c < 3; c++) {
                opening += contact->velocity[c] * contact->normal[c];
            }
            slip += work - normal * opening;
            all += work;
        }
        CHECK(slip <= 1e-8 * scale);
        CHECK(all <= 1e-8 * scale);
        CHECK(info.missed_count == 0);
    }
    fil_world_destroy(world);
}

// Crates in a wall: every other row is shifted.
static void a_wall_of_cubes_stands_still(void) {
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.5, 0.0);
    (void)add_floor(world);
    FilRigid *top = NULL;
    for (int row = 0; row < 5; row++) {
        for (int k = 0; k < 4; k++) {
            FilRigidDef cube = cube_def(0.1, 0.05 + 0.1 * row);
            cube.pose.position[0] = 0.1002 * k + 0.03 * (row % 2);
            top = add_rigid(world, &cube);
        }
    }
    for (int k = 0; k < 300; k++) {
        FilStepInfo info = take_step(world);
        CHECK(info.outcome == FIL_CONVERGED);
    }
    FilRodEnergy energy;
    double centre[3];
    fil_world_energy(world, &energy);
    fil_rigid_centre(top, centre);
    CHECK(energy.kinetic < 1e-16); // J, of 20 kg
    CHECK_NEAR(centre[2], 0.45, 0.0, 1e-6);
    fil_world_destroy(world);
}

// Pairs of rods of all models, each pair for itself: one lies on the floor, the other one is thrown
// on it crosswise. There are enough unknowns for more than one thread to work on them.
static FilWorld *many_pairs(const FilWorldDef *def) {
    FilWorld *world = make_world(def, 0.3, 0.0);
    FilError error;
    (void)add_floor(world);
    for (int i = 0; i < 80; i++) {
        FilRodDef rod = log_def(i % FIL_ROD_MODEL_COUNT, i % 2 == 0 ? 0.0101 : 0.0312);
        const double across[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        rod.element_count = 32;
        rod.section.young = 1e7;
        rod.damping = 1e-3;
        rod.root.position[0] = i % 2 == 0 ? i - 0.5 : i - 1;
        rod.root.position[1] = i % 2 == 0 ? 0.0 : -0.5;
        if (i % 2 != 0) {
            memcpy(rod.root.axis, across, sizeof across);
        }
        FilRod *made = add_rod(world, &rod, 1);
        const double velocity[3] = {0.1, 0.2, i % 2 == 0 ? 0.0 : -1.0}, spin[3] = {0.0, 0.0, 0.0};
        must(fil_rod_launch(made, velocity, spin, &error), &error);
    }
    return world;
}

static void the_same_world_gives_the_same_bits_on_any_number_of_threads(void) {
    double *states[2] = {NULL, NULL};
    int64_t counts[2] = {0, 0};
    for (int t = 0; t < 2; t++) {
        FilWorldDef def = exact_def(1e-3);
        def.solver.thread_count = 1 + 2 * t;
        FilWorld *world = many_pairs(&def);
        int pressed = 0;
        for (int k = 0; k < 6; k++) {
            pressed = take_step(world).active_count;
        }
        CHECK(pressed > 100);
        counts[t] = fil_world_state_count(world);
        states[t] = malloc(sizeof(double) * (size_t)counts[t]);
        fil_world_get_state(world, states[t]);
        fil_world_destroy(world);
    }
    CHECK(counts[0] == counts[1]);
    CHECK(counts[0] == counts[1] &&
          check_same_bits(states[0], states[1], sizeof(double) * (size_t)counts[0]));
    free(states[0]);
    free(states[1]);
}

static void a_world_goes_on_from_its_state_as_if_nothing_had_happened(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    FilWorld *first = heap(&def, 8), *second = heap(&def, 8);
    for (int k = 0; k < 120; k++) {
        (void)take_step(first);
    }
    int64_t count = fil_world_state_count(first);
    double *state = malloc(sizeof(double) * (size_t)count);
    fil_world_get_state(first, state);
    must(fil_world_set_state(second, state, count, &error), &error);
    free(state);
    for (int k = 0; k < 60; k++) {
        (void)take_step(first);
        (void)take_step(second);
    }
    int64_t counts[2] = {fil_world_state_count(first), fil_world_state_count(second)};
    CHECK(counts[0] == counts[1]);
    double *states[2];
    states[0] = calloc((size_t)counts[0], sizeof(double));
    states[1] = calloc((size_t)counts[1], sizeof(double));
    fil_world_get_state(first, states[0]);
    fil_world_get_state(second, states[1]);
    CHECK(check_same_bits(states[0], states[1], sizeof(double) * (size_t)counts[0]));
    free(states[0]);
    free(states[1]);
    fil_world_destroy(first);
    fil_world_destroy(second);
}

// Where two rods cross, seen from above: how much higher the second is; 1 where they do not.
static double height_between(const FilRod *low, const FilRod *high) {
    enum { SAMPLES = 200 };
    FilPose a[2], b[2];
    double least = 1.0;
    for (int i = 0; i < SAMPLES * SAMPLES; i++) {
        for (int end = 0; end < 2; end++) {
            int along = i / SAMPLES + end, across = i % SAMPLES + end;
            fil_rod_at(low, (double)along / SAMPLES, &a[end], NULL);
            fil_rod_at(high, (double)across / SAMPLES, &b[end], NULL);
        }
        double d[2], e[2], g0[2];
        for (int k = 0; k < 2; k++) {
            d[k] = a[1].position[k] - a[0].position[k];
            e[k] = b[1].position[k] - b[0].position[k];
            g0[k] = b[0].position[k] - a[0].position[k];
        }
        double cross = d[0] * e[1] - d[1] * e[0];
        double t = (g0[0] * e[1] - g0[1] * e[0]) / cross, s = (g0[0] * d[1] - g0[1] * d[0]) / cross;
        if (t >= 0.0 && t <= 1.0 && s >= 0.0 && s <= 1.0) {
            double za = a[0].position[2] + t * (a[1].position[2] - a[0].position[2]);
            double zb = b[0].position[2] + s * (b[1].position[2] - b[0].position[2]);
            least = fmin(least, zb - za);
        }
    }
    return least;
}

static void rods_shot_at_each_other_never_pass_through(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = exact_def(1e-2);
        memset(def.gravity, 0, sizeof def.gravity);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef a = log_def(model, 0.0), b = log_def(model, 0.5);
        a.section.young = b.section.young = 2e11;
        const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        memcpy(b.root.axis, y, sizeof y);
        b.root.position[0] = 0.45;
        b.root.position[1] = -0.4;
        FilRod *rods[2] = {add_rod(world, &a, 1), add_rod(world, &b, 1)};
        FilRodLoad shot[17];
        FilError error;
        for (int i = 0; i < 17; i++) {
            double part = i == 0 || i == 16 ? 0.5 : 1.0;
            shot[i] = (FilRodLoad){.s = i / 16.0, .force = {0.0, 0.0, -3000.0 * part / 16.0}};
        }
        must(fil_rod_set_loads(rods[1], shot, 17, &error), &error);
        (void)take_step(world); // 30 m/s: 0.3 m in a step, 15 diameters
        must(fil_rod_set_loads(rods[1], NULL, 0, &error), &error);
        for (int k = 0; k < 2; k++) {
            FilStepInfo info = take_step(world);
            CHECK(info.missed_count == 0);
            CHECK(height_between(rods[0], rods[1]) > 0.0);
        }
        fil_world_destroy(world);
    }
}

// A rod swings round its end at 30 rad/s, by 0.3 rad in a step: on a circle, not on the straight
// way along which contacts are foreseen. In its way stands another rod, or a post.
static double overlap_of_swing(FilRodModel model, double angle, bool solid) {
    FilError error;
    FilWorldDef def = exact_def(1e-2);
    memset(def.gravity, 0, sizeof def.gravity);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    const double upright[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    const double place[3] = {0.7 * cos(angle), 0.7 * sin(angle), solid ? 0.0 : -0.5};
    FilObstacleDef post = {.shape = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 1.0}};
    FilRodDef other = log_def(model, 0.0), arm = log_def(model, 0.0);
    FilSurface surface = fil_surface_default();
    int obstacle;
    memcpy(post.pose.position, place, sizeof place);
    memcpy(post.pose.axis, upright, sizeof upright);
    memcpy(other.root.position, place, sizeof place);
    memcpy(other.root.axis, upright, sizeof upright);
    if (solid) {
        must(fil_world_add_obstacle(world, &post, &surface, &obstacle, &error), &error);
    } else {
        (void)add_rod(world, &other, 1);
    }
    FilRod *rod = add_rod(world, &arm, 1);
    const double still[3] = {0.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, 30.0};
    must(fil_rod_launch(rod, still, spin, &error), &error);
    double deepest = 0.0;
    for (int step = 0; step < 6; step++) {
        FilStepInfo info = take_step(world);
        deepest = fmax(deepest, info.penetration);
        CHECK(info.missed_count == 0);
    }
    fil_world_destroy(world);
    return deepest / 0.01; // its radius
}

static void a_rod_that_swings_at_something_overlaps_by_a_fifth_at_most(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        for (double angle = 0.3; angle < 0.55; angle += 0.05) {
            CHECK(overlap_of_swing((FilRodModel)model, angle, false) <= 0.2);
            CHECK(overlap_of_swing((FilRodModel)model, angle, true) <= 0.2);
        }
    }
}

static void a_rod_that_starts_in_the_floor_is_lifted_at_once(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        (void)add_floor(world);
        FilRodDef rod_def = log_def(model, 0.0095); // by a twentieth of its radius
        FilRod *rod = add_rod(world, &rod_def, 2);
        FilStepInfo info = take_step(world);
        CHECK(info.substeps == 1);
        CHECK_NEAR(middle_of(rod, 2), 0.01, 0.0, 1e-6);
        fil_world_destroy(world);
    }
}

// Hairs stand on a head, held where they touch it, all around: up to round-off, nothing overlaps.
static void a_hair_that_is_held_where_it_touches_a_head_does_not_push_it(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-2);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilObstacleDef head = {
        .shape = {.kind = FIL_SHAPE_SPHERE, .radius = 0.09},
        .pose = {.position = {0.01, 0.02, 1.6}, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    FilSurface surface = fil_surface_default();
    int obstacle;
    must(fil_world_add_obstacle(world, &head, &surface, &obstacle, &error), &error);
    for (int i = 0; i < 20; i++) {
        FilRodDef hair = fil_rod_def_default();
        const double angle = 0.31 * i, sine = sin(angle), cosine = cos(angle);
        const double axes[3][3] = {{cosine, sine, 0.0}, {-sine, cosine, 0.0}, {0.0, 0.0, 1.0}};
        hair.element_count = 4;
        hair.section.radius = 1e-3;
        hair.section.young = 1e6;
        for (int k = 0; k < 3; k++) {
            hair.root.position[k] = head.pose.position[k] + 0.091 * axes[0][k];
        }
        memcpy(hair.root.axis, axes, sizeof axes);
        (void)add_rod(world, &hair, 2);
    }
    for (int k = 0; k < 20; k++) {
        CHECK(take_step(world).outcome == FIL_CONVERGED);
        int count;
        const FilContact *contacts = fil_world_contacts(world, &count);
        for (int i = 0; i < count; i++) {
            CHECK(contacts[i].b.kind != FIL_BODY_OBSTACLE || contacts[i].a.s > 0.0);
        }
    }
    fil_world_destroy(world);
}

static void lower_slowly(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[2] -= 0.1 * time;
}

// What holds it is stronger than the floor; the rest of the rod lies on it.
static void a_held_end_that_is_driven_into_the_floor_breaks_nothing(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        (void)add_floor(world);
        FilRodDef rod_def = log_def(model, 0.012);
        rod_def.section.young = 1e7;
        rod_def.root_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = lower_slowly};
        FilRod *rod = add_rod(world, &rod_def, 2);
        double most = 0.0;
        for (int k = 0; k < 100; k++) {
            CHECK(take_step(world).outcome == FIL_CONVERGED);
            int count;
            const FilContact *contacts = fil_world_contacts(world, &count);
            for (int i = 0; i < count; i++) {
                most = fmax(most, contacts[i].impulse[2]);
            }
        }
        CHECK(most < 100.0 * g * def.step); // N s: it pries, next to the clamp
        CHECK(middle_of(rod, 2) > 0.0099);
        fil_world_destroy(world);
    }
}

// Without weight and at rest nothing would ever press: the overlap alone tells.
static void an_overlap_at_rest_is_taken_out_without_adding_speed(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = exact_def(1e-3);
        memset(def.gravity, 0, sizeof def.gravity);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        (void)add_floor(world);
        FilRodDef rod_def = log_def(model, 0.007); // of the radius 0.01
        FilRod *rod = add_rod(world, &rod_def, 1);
        (void)take_step(world);
        (void)take_step(world);
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        CHECK_NEAR(middle_of(rod, 2), 0.01, 0.0, 1e-4);
        // a clothoid bends between its contacts: the least displacement strains it, and it swings
        CHECK(energy.kinetic < (model == FIL_ROD_CLOTHOID ? 0.05 : 1e-12));
        fil_world_destroy(world);
    }
}

// Its centreline is inside when the step begins: it did not come in now, and no halving helps.
static void a_rod_that_begins_inside_a_post_is_taken_out_in_whole_steps(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    memset(def.gravity, 0, sizeof def.gravity);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilObstacleDef post = {.shape = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 1.0},
                           .pose = {.axis = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}};
    FilSurface surface = fil_surface_default();
    int obstacle;
    must(fil_world_add_obstacle(world, &post, &surface, &obstacle, &error), &error);
    FilRodDef rod_def = log_def(FIL_ROD_DER, 0.047); // 0.06 would touch
    rod_def.root.position[0] = -0.5;
    FilRod *rod = add_rod(world, &rod_def, 1);
    int parts = 0;
    for (int k = 0; k < 20; k++) {
        FilStepInfo info = take_step(world);
        parts += info.substeps;
        CHECK(info.missed_count == 0);
    }
    CHECK(parts <= 40);
    CHECK(middle_of(rod, 2) > 0.0595);
    fil_world_destroy(world);
}

static void spin_about_x(void *user, double time, FilPose *pose) {
    (void)user;
    double c = cos(2.0 * time), n = sin(2.0 * time);
    const double axes[3][3] = {{1, 0, 0}, {0, c, n}, {0, -n, c}};
    memcpy(pose->axis, axes, sizeof axes);
}

// Its lowest points move with spin x arm: 2 rad/s about x, 1 cm below the axis, is +2 cm/s along y.
static void a_rod_whose_held_end_spins_rubs_the_floor_the_way_it_turns(void) {
    for (int model = 0; model < FIL_ROD_CHAIN; model++) {
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.0, 0.0);
        (void)add_floor(world);
        FilRodDef rod_def = log_def(model, 0.0101);
        rod_def.root_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = spin_about_x};
        rod_def.section.young = 1e9;
        (void)add_rod(world, &rod_def, 1);
        for (int k = 0; k < 30; k++) {
            (void)take_step(world);
        }
        int count, pressing = 0;
        const FilContact *contacts = fil_world_contacts(world, &count);
        for (int i = 0; i < count; i++) {
            if (contacts[i].state != FIL_CONTACT_OPEN && contacts[i].a.s < 0.5) {
                CHECK_NEAR(contacts[i].velocity[1], 0.02, 0.1, 0.0);
                pressing++;
            }
        }
        CHECK(pressing > 0);
        fil_world_destroy(world);
    }
}

// Over a cylinder that lies 5 cm above the floor, so that both ends come to the floor.
static void a_rod_draped_over_a_cylinder_settles_in_every_model(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilError error;
        FilWorldDef def = fil_world_def_default();
        def.solver.thread_count = 1;
        FilWorld *world = make_world(&def, 0.3, 0.0);
        (void)add_floor(world);
        FilObstacleDef cylinder = {
            .shape = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 1.0},
            .pose = {.position = {0.0, 0.0, 0.1}, .axis = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}};
        FilSurface surface = fil_surface_default();
        int obstacle;
        must(fil_world_add_obstacle(world, &cylinder, &surface, &obstacle, &error), &error);
        FilRodDef rod_def = log_def(model, 0.165);
        rod_def.root.position[0] = -0.45;
        rod_def.section.young = 2e7;
        rod_def.element_count = 20;
        FilRod *rod = add_rod(world, &rod_def, 1);
        FilSettleInfo info;
        must(fil_world_settle(world, NULL, &info, &error), &error);
        CHECK(info.converged && info.residual <= 1e-6 && info.steps <= 100);
        FilPose root, tip;
        fil_rod_at(rod, 0.0, &root, NULL);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(root.position[2], 0.01, 0.0, 1e-4);
        CHECK_NEAR(tip.position[2], 0.01, 0.0, 1e-4);
        CHECK(middle_of(rod, 2) > 0.1); // it lies on the cylinder
        CHECK(fil_world_time(world) == 0.0);
        fil_world_destroy(world);
    }
}

// The comparator creeps at the part of its slip speed that the push is of the friction.
static void regularised_friction_creeps(void) {
    FilWorldDef def = exact_def(1e-3);
    def.law = FIL_LAW_REGULARISED;
    def.slip_speed = 1e-3;
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    FilRodDef rod_def = log_def(FIL_ROD_CHAIN, 0.01);
    FilRod *rod = add_rod(world, &rod_def, 2);
    push_along(rod, 3.0);
    for (int k = 0; k < 300; k++) {
        (void)take_step(world);
    }
    FilRate rate;
    fil_rod_at(rod, 0.5, NULL, &rate);
    CHECK_NEAR(rate.velocity[0], 1e-3 * 3.0 / (0.4 * g), 0.05, 0.0);
    fil_world_destroy(world);
}

static void run_belt(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[0] += 0.1 * time;
}

static void a_moving_floor_takes_a_cube_along(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.5, 0.0);
    FilObstacleDef belt = {.shape = {.kind = FIL_SHAPE_PLANE},
                           .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                           .motion = run_belt};
    FilSurface surface = fil_surface_default();
    int obstacle;
    must(fil_world_add_obstacle(world, &belt, &surface, &obstacle, &error), &error);
    FilRigidDef cube = cube_def(0.1, 0.05);
    FilRigid *rigid = add_rigid(world, &cube);
    FilRate rate;
    for (int k = 0; k < 10; k++) {
        (void)take_step(world);
    }
    fil_rigid_rate(rigid, &rate);
    CHECK_NEAR(rate.velocity[0], 0.01 * 0.5 * g, 1e-6, 0.0); // sliding friction pulls it
    for (int k = 0; k < 90; k++) {
        (void)take_step(world);
    }
    fil_rigid_rate(rigid, &rate);
    CHECK_NEAR(rate.velocity[0], 0.1, 1e-9, 0.0);
    fil_world_destroy(world);
}

// Half of it is twice as heavy as the other: without weight, all of it ends up as fast as the wind.
static void a_rod_of_uneven_mass_drifts_with_the_wind(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = exact_def(1e-2);
        memset(def.gravity, 0, sizeof def.gravity);
        def.wind[1] = 2.0;
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef rod_def = log_def(model, 0.0);
        FilSection sections[8];
        for (int i = 0; i < 8; i++) {
            sections[i] = rod_def.section;
            sections[i].density *= i < 4 ? 1.0 : 2.0;
        }
        rod_def.sections = sections;
        rod_def.drag = 2.0;
        FilRod *rod = add_rod(world, &rod_def, 2);
        FilRate rate;
        (void)take_step(world); // all of 1.5 kg feels 2 m 2 kg/(m s) 1 m: with drag against itself
        double momentum = 0.0;
        for (int i = 0; i < 800; i++) {
            fil_rod_at(rod, (i + 0.5) / 800.0, NULL, &rate);
            momentum += (i < 400 ? 1.0 : 2.0) * rate.velocity[1] / 800.0;
        }
        CHECK_NEAR(momentum, 0.04, 0.05, 0.0);
        for (int k = 0; k < 1500; k++) {
            (void)take_step(world);
        }
        for (int i = 0; i <= 4; i++) {
            fil_rod_at(rod, 0.25 * i, NULL, &rate);
            CHECK_NEAR(rate.velocity[1], 2.0, 1e-3, 0.0);
        }
        fil_world_destroy(world);
    }
}

// Sections that hardly differ: a force along the rod does what gravity stands for elsewhere.
static void wind_bends_rods_of_even_and_uneven_mass_alike(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilPose tips[2];
        for (int uneven = 0; uneven < 2; uneven++) {
            FilError error;
            FilStaticsInfo info;
            FilWorldDef def = exact_def(1e-2);
            def.wind[1] = 3.0;
            FilWorld *world = make_world(&def, 0.3, 0.0);
            FilRodDef rod_def = log_def(model, 0.0);
            rod_def.root_end.kind = FIL_END_CLAMPED;
            rod_def.section.young = 1e8;
            rod_def.element_count = 24;
            rod_def.drag = 1.0;
            FilSection sections[24];
            for (int i = 0; i < 24; i++) {
                sections[i] = rod_def.section;
                sections[i].density *= i < 12 ? 1.0 : 1.0 + 1e-10;
            }
            rod_def.sections = uneven == 1 ? sections : NULL;
            FilRod *rod = add_rod(world, &rod_def, 1);
            FilRodLoad load = {.s = 1.0, .force = {0.0, 0.0, -1.0}};
            must(fil_rod_set_loads(rod, &load, 1, &error), &error);
            must(fil_rod_equilibrium(rod, NULL, &info, &error), &error);
            CHECK(info.converged);
            fil_rod_at(rod, 1.0, &tips[uneven], NULL);
            fil_world_destroy(world);
        }
        CHECK(tips[0].position[1] > 0.1);
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(tips[1].position[c], tips[0].position[c], 0.0, 3e-3);
        }
    }
}

// Two rods whose clamps are nearer than they are thick: what cannot be mended throws nothing about.
static void rods_that_overlap_where_they_are_held_stay_calm(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilWorldDef def = fil_world_def_default();
        def.solver.thread_count = 1;
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRod *rods[2];
        for (int i = 0; i < 2; i++) {
            FilRodDef rod_def = log_def(model, 0.0);
            rod_def.element_count = 12;
            rod_def.length = 0.4;
            rod_def.section.radius = 2e-3;
            rod_def.section.young = 1e7;
            rod_def.damping = 1e-2;
            rod_def.root_end.kind = FIL_END_CLAMPED;
            rod_def.root.position[1] = 3e-3 * i;
            rods[i] = add_rod(world, &rod_def, 1);
        }
        for (int k = 0; k < 50; k++) {
            (void)take_step(world);
        }
        for (int i = 0; i < 2; i++) {
            FilPose tip;
            FilRate rate;
            fil_rod_at(rods[i], 0.4, &tip, &rate);
            CHECK(fabs(tip.position[1]) < 0.02 && tip.position[2] < 0.0);
            CHECK(fabs(rate.velocity[1]) < 0.5);
        }
        fil_world_destroy(world);
    }
}

static void push_together(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[0] -= 0.05 * time;
}

// 20 cm of rubber between two clamps, or clamp and pin, straight; the tip is pushed by 1 cm. With
// `floor` it lies on one: its tip cannot follow until something bends it, and then it does.
static double push_rod(FilRodModel model, FilEndKind kind, bool driven, bool floor) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    if (floor) {
        (void)add_floor(world);
    }
    FilRodDef rod_def = log_def(model, 0.001);
    rod_def.length = 0.2;
    rod_def.element_count = 12;
    rod_def.section.radius = 1e-3;
    rod_def.section.young = 1e7;
    rod_def.section.density = 1000.0;
    rod_def.damping = 1e-2;
    rod_def.root_end.kind = FIL_END_CLAMPED;
    rod_def.tip_end.kind = kind;
    rod_def.tip_end.motion = driven ? push_together : NULL;
    FilRod *rod = add_rod(world, &rod_def, 1);
    for (int k = 0; k < 200; k++) {
        (void)take_step(world);
    }
    FilPose pose, middle;
    fil_rod_at(rod, 0.2, &pose, NULL);
    fil_rod_at(rod, 0.1, &middle, NULL);
    double x = driven && (!floor || middle.position[2] > 2e-3) ? 0.19 : 0.2;
    CHECK_NEAR(pose.position[0], x, 0.0, 1e-4);
    CHECK_NEAR(hypot(pose.position[1], pose.position[2] - 0.001), 0.0, 0.0, 1e-5);
    CHECK(!floor || middle.position[2] > 0.9e-3);
    fil_world_destroy(world);
    return middle.position[2] - 0.001;
}

static void a_straight_rod_that_is_pushed_together_buckles_in_every_model(void) {
    const FilEndKind kinds[2] = {FIL_END_CLAMPED, FIL_END_PINNED};
    for (int k = 0; k < 2; k++) {
        double sag = push_rod(FIL_ROD_DER, kinds[k], true, false);
        CHECK(sag < -0.02);
        CHECK_NEAR(push_rod(FIL_ROD_HELIX, kinds[k], true, false), sag, 0.1, 0.0);
        CHECK_NEAR(push_rod(FIL_ROD_CLOTHOID, kinds[k], true, false), sag, 0.1, 0.0);
        (void)push_rod(FIL_ROD_HELIX, kinds[k], true, true);
        (void)push_rod(FIL_ROD_CLOTHOID, kinds[k], true, true);
    }
}

// It cannot sag at all: it does not stretch.
static void a_straight_rod_between_two_clamps_stays_straight_under_its_weight(void) {
    const FilEndKind kinds[2] = {FIL_END_CLAMPED, FIL_END_PINNED};
    for (int k = 0; k < 2; k++) {
        for (int floor = 0; floor < 2; floor++) {
            CHECK(fabs(push_rod(FIL_ROD_HELIX, kinds[k], false, floor == 1)) < 2e-3);
            CHECK(fabs(push_rod(FIL_ROD_CLOTHOID, kinds[k], false, floor == 1)) < 2e-3);
        }
    }
}

static void after_warm_up_a_step_allocates_nothing(void) {
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = NULL;
    int material;
    must(fil_world_create(&def, &allocator, &world, &error), &error);
    must(fil_world_add_material(world, 0.0, &material, &error), &error);
    must(fil_world_set_friction(world, material, material, 0.3, &error), &error);
    (void)add_floor(world);
    for (int i = 0; i < 4; i++) {
        FilRodDef rod = log_def(i, 0.01);
        rod.root.position[1] = 0.1 * i;
        (void)add_rod(world, &rod, 2);
    }
    for (int k = 0; k < 20; k++) {
        (void)take_step(world);
    }
    int before = memory.requests;
    for (int k = 0; k < 50; k++) {
        (void)take_step(world);
    }
    CHECK(memory.requests == before);
    fil_world_destroy(world);
    CHECK(failing_allocator_is_clean(&memory));
}

static FilStatus build_and_step(const FilAllocator *allocator, FilError *error) {
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = NULL;
    int material, index;
    FilStatus status = fil_world_create(&def, allocator, &world, error);
    FilSurface surface = fil_surface_default();
    FilRodDef rod = log_def(FIL_ROD_HELIX, 0.0099);
    FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE},
                            .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    status = status == FIL_OK ? fil_world_add_material(world, 0.0, &material, error) : status;
    status = status == FIL_OK ? fil_world_set_friction(world, 0, 0, 0.3, error) : status;
    status =
        status == FIL_OK ? fil_world_add_obstacle(world, &floor, &surface, &index, error) : status;
    status = status == FIL_OK ? fil_world_add_rod(world, &rod, &surface, &index, error) : status;
    for (int k = 0; k < 2 && status == FIL_OK; k++) {
        status = fil_world_step(world, NULL, error);
    }
    fil_world_destroy(world);
    return status;
}

static void every_allocation_may_fail(void) {
    for (int n = 1; n < 10000; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilError error;
        FilStatus status = build_and_step(&allocator, &error);
        CHECK(failing_allocator_is_clean(&memory));
        if (memory.failures == 0) {
            CHECK(status == FIL_OK);
            return;
        }
        CHECK(status == FIL_E_NO_MEMORY);
    }
    CHECK(false);
}

// Gravity so strong that velocities are numbers but sums of them are not: whatever overflows first,
// the error is about the world, not about the friction problem inside of the step.
static const char *call_fringe(void *user, FilBodyKind kind, int index) {
    return kind == FIL_BODY_ROD && index == 0 ? user : "";
}

static void a_step_beyond_the_range_of_numbers_names_the_rod(void) {
    static const char *const names[3] = {NULL, "fringe", ""};
    for (int k = 0; k < 3 * FIL_ROD_MODEL_COUNT; k++) {
        const FilRodModel model = (FilRodModel)(k / 3);
        const char *who = k % 3 == 1 ? "rod \"fringe\" leaves the range of numbers"
                                     : "rod 0 leaves the range of numbers";
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.4, 0.0);
        (void)add_floor(world);
        fil_world_set_names(world, names[k % 3] != NULL ? call_fringe : NULL, (void *)names[k % 3]);
        FilRodDef rod_def = log_def(model, 0.01);
        (void)add_rod(world, &rod_def, 2);
        (void)take_step(world);
        const double gravity[3] = {0.0, 0.0, -1e307};
        FilError error;
        CHECK(fil_world_set_gravity(world, gravity, &error) == FIL_OK);
        FilStatus status = fil_world_step(world, NULL, &error);
        CHECK(status == FIL_E_ARGUMENT);
        CHECK(status == FIL_OK || strstr(error.text, who) != NULL);
        CHECK(status == FIL_OK || strstr(error.text, "may do") == NULL); // no such step is of use
        fil_world_destroy(world);
    }
}

// The rod is too stiff for any explicit step that somebody could take: none is recommended.
static void no_step_below_a_nanosecond_is_recommended(void) {
    for (int k = 0; k < 2; k++) {
        FilWorldDef def = exact_def(1e-3);
        FilWorld *world = make_world(&def, 0.4, 0.0);
        FilRodDef rod_def = log_def(FIL_ROD_CORDE, 1.0);
        const FilRodLoad load = {.s = 1.0, .force = {0.0, 1e306, 0.0}};
        FilError error;
        rod_def.step_kind = FIL_ROD_STEP_EXPLICIT;
        rod_def.section.young = k == 0 ? 1e16 : 1e40;
        rod_def.loads = &load;
        rod_def.load_count = 1;
        (void)add_rod(world, &rod_def, 2);
        CHECK(fil_world_step(world, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(strstr(error.text, "rod 0 leaves the range of numbers") != NULL);
        CHECK((strstr(error.text, "may do") != NULL) == (k == 0));
        fil_world_destroy(world);
    }
}

static void bad_definitions_are_refused_by_name(void) {
    FilError error;
    FilWorld *world = NULL;
    FilWorldDef def = fil_world_def_default();
    def.step = 0.0;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "step is 0") != NULL);
    def = fil_world_def_default();
    def.max_halvings = 21;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "max_halvings is 21") != NULL);
    def = fil_world_def_default();
    def.solver.thread_count = -5;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "thread_count is -5; it must not be negative") == 0);
    def = fil_world_def_default();
    def.solver.tolerance = -1.0;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "tolerance is -1; it must be positive and finite") == 0);
    def = fil_world_def_default();
    def.solver.solver = FIL_FRICTION_SOLVER_COUNT;
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "solver is ", 10) == 0);
    def = fil_world_def_default();
    world = make_world(&def, 0.3, 0.0);
    CHECK(fil_world_set_friction(world, 0, 0, -1.0, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "mu is -1") != NULL);
    int material, rod;
    CHECK(fil_world_add_material(world, 1.5, &material, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "restitution is 1.5") != NULL);
    FilSurface surface = fil_surface_default();
    surface.material = 7;
    FilRodDef hair = fil_rod_def_default();
    CHECK(fil_world_add_rod(world, &hair, &surface, &rod, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "material is 7") != NULL);
    fil_world_destroy(world);
}

static void materials_that_touch_without_a_law_are_an_error(void) {
    FilError error;
    FilWorldDef def = exact_def(1e-3);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    int other, obstacle;
    must(fil_world_add_material(world, 0.0, &other, &error), &error);
    FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE},
                            .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    FilSurface surface = fil_surface_default();
    surface.material = other;
    must(fil_world_add_obstacle(world, &floor, &surface, &obstacle, &error), &error);
    FilRodDef rod = log_def(FIL_ROD_HELIX, 0.01);
    (void)add_rod(world, &rod, 1);
    CHECK(fil_world_step(world, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "materials 0 and 1 touch") != NULL);
    fil_world_destroy(world);
}

#define TESTS(X)                                                            \
    X(a_rod_that_is_pushed_less_than_friction_does_not_move)                \
    X(a_rod_that_is_pushed_more_accelerates_by_what_is_left)                \
    X(a_cube_on_a_slope_stays_below_the_angle_of_friction_and_slides_above) \
    X(a_sliding_cube_stops_after_v2_over_2_mu_g)                            \
    X(a_ball_rebounds_with_its_coefficient_of_restitution)                  \
    X(a_cylinder_rolls_down_at_two_thirds_of_g_sin)                         \
    X(a_rod_rolls_down_at_two_thirds_of_g_sin)                              \
    X(a_stack_of_three_logs_stands_if_log_on_log_friction_is_above_tan_15)  \
    X(colliding_rods_in_free_space_keep_their_momentum)                     \
    X(friction_never_gives_energy)                                          \
    X(a_wall_of_cubes_stands_still)                                         \
    X(the_same_world_gives_the_same_bits_on_any_number_of_threads)          \
    X(a_world_goes_on_from_its_state_as_if_nothing_had_happened)            \
    X(rods_shot_at_each_other_never_pass_through)                           \
    X(a_rod_that_swings_at_something_overlaps_by_a_fifth_at_most)           \
    X(a_rod_that_starts_in_the_floor_is_lifted_at_once)                     \
    X(a_hair_that_is_held_where_it_touches_a_head_does_not_push_it)         \
    X(a_held_end_that_is_driven_into_the_floor_breaks_nothing)              \
    X(an_overlap_at_rest_is_taken_out_without_adding_speed)                 \
    X(a_rod_that_begins_inside_a_post_is_taken_out_in_whole_steps)          \
    X(a_rod_whose_held_end_spins_rubs_the_floor_the_way_it_turns)           \
    X(a_rod_draped_over_a_cylinder_settles_in_every_model)                  \
    X(regularised_friction_creeps)                                          \
    X(a_moving_floor_takes_a_cube_along)                                    \
    X(a_rod_of_uneven_mass_drifts_with_the_wind)                            \
    X(wind_bends_rods_of_even_and_uneven_mass_alike)                        \
    X(rods_that_overlap_where_they_are_held_stay_calm)                      \
    X(a_straight_rod_that_is_pushed_together_buckles_in_every_model)        \
    X(a_straight_rod_between_two_clamps_stays_straight_under_its_weight)    \
    X(after_warm_up_a_step_allocates_nothing)                               \
    X(every_allocation_may_fail)                                            \
    X(a_step_beyond_the_range_of_numbers_names_the_rod)                     \
    X(no_step_below_a_nanosecond_is_recommended)                            \
    X(bad_definitions_are_refused_by_name)                                  \
    X(materials_that_touch_without_a_law_are_an_error)

CHECK_MAIN(TESTS)
