// Candidates that are kept from step to step: a step does not depend on when they were found.
#include "check.h"
#include "world_bench.h"

#include "base/random.h"
#include "world/world.h"

static FilWorldDef swarm_def(void) {
    FilWorldDef def = fil_world_def_default();
    def.step = 1e-3;
    def.solver.tolerance = 1e-8;
    def.solver.thread_count = 1;
    return def;
}

static void add_ball(FilWorld *world, FilRandom *random, bool moves) {
    FilError error;
    const double place[3] = {fil_random_uniform(random, -0.2, 0.2),
                             fil_random_uniform(random, -0.2, 0.2),
                             fil_random_uniform(random, 0.05, 0.2)};
    if (moves) {
        FilRigidDef def = fil_rigid_def_default();
        def.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.02};
        memcpy(def.pose.position, place, sizeof place);
        (void)add_rigid(world, &def);
        return;
    }
    int obstacle;
    FilObstacleDef def = {.shape = {.kind = FIL_SHAPE_SPHERE, .radius = 0.02},
                          .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    FilSurface surface = fil_surface_default();
    memcpy(def.pose.position, place, sizeof place);
    must(fil_world_add_obstacle(world, &def, &surface, &obstacle, &error), &error);
}

// A rod somewhere, on its way to the others.
static void add_flier(FilWorld *world, FilRandom *random) {
    FilError error;
    FilRodDef def = log_def(FIL_ROD_HELIX, fil_random_uniform(random, 0.05, 0.15));
    const double angle = fil_random_uniform(random, 0.0, 6.28);
    const double axes[3][3] = {
        {cos(angle), sin(angle), 0.0}, {-sin(angle), cos(angle), 0.0}, {0.0, 0.0, 1.0}};
    memcpy(def.root.axis, axes, sizeof axes);
    def.element_count = 4;
    def.length = 0.3;
    def.section.radius = 0.002;
    def.section.young = 1e9;
    def.damping = 1e-3;
    def.root.position[0] = -0.15 * cos(angle) + fil_random_uniform(random, -0.1, 0.1);
    def.root.position[1] = -0.15 * sin(angle) + fil_random_uniform(random, -0.1, 0.1);
    const double velocity[3] = {fil_random_uniform(random, -1.0, 1.0),
                                fil_random_uniform(random, -1.0, 1.0),
                                fil_random_uniform(random, -1.0, 1.0)};
    const double spin[3] = {0.0, 0.0, fil_random_uniform(random, -3.0, 3.0)};
    must(fil_rod_launch(add_rod(world, &def, 4), velocity, spin, &error), &error);
}

// Rods that fly about between balls over a floor; every other ball is an obstacle.
static FilWorld *swarm(int rods, int balls) {
    const FilWorldDef def = swarm_def();
    FilRandom random = fil_random_make(7);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    for (int i = 0; i < balls; i++) {
        add_ball(world, &random, i % 2 == 0);
    }
    for (int i = 0; i < rods; i++) {
        add_flier(world, &random);
    }
    return world;
}

static double *state_of(const FilWorld *world, int64_t *count) {
    *count = fil_world_state_count(world);
    double *state = malloc(sizeof(double) * (size_t)*count);
    if (state == NULL) {
        exit(1);
    }
    fil_world_get_state(world, state);
    return state;
}

// Whether a world that begins here, with nothing kept, takes the same step as `world`, which takes
// it.
static bool agrees_with_a_new_one(FilWorld *world, int rods, int balls) {
    FilError error;
    int64_t counts[2];
    double *states[2];
    FilWorld *other = swarm(rods, balls);
    states[0] = state_of(world, &counts[0]);
    must(fil_world_set_state(other, states[0], counts[0], &error), &error);
    free(states[0]);
    (void)take_step(world);
    (void)take_step(other);
    states[0] = state_of(world, &counts[0]);
    states[1] = state_of(other, &counts[1]);
    const bool same = counts[0] == counts[1] &&
                      check_same_bits(states[0], states[1], sizeof(double) * (size_t)counts[0]);
    free(states[0]);
    free(states[1]);
    fil_world_destroy(other);
    return same;
}

static FilWorld *hold_oblique(FilRodModel model) {
    const FilWorldDef def = swarm_def();
    const double c = cos(0.3), s = sin(0.3), axes[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef rod = log_def(model, 0.5);
    memcpy(rod.root.axis, axes, sizeof axes);
    rod.element_count = 27;
    rod.length = 0.4;
    rod.section.young = 1e8;
    rod.damping = 2e-3;
    rod.root_end.kind = FIL_END_CLAMPED;
    (void)add_rod(world, &rod, 27);
    return world;
}

// A state holds the nodes of a held end, not its direction.
static void a_clamped_rod_that_points_anywhere_goes_on_from_a_state(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilError error;
        FilWorld *worlds[2] = {hold_oblique((FilRodModel)model), NULL};
        int64_t count;
        for (int k = 0; k < 5; k++) {
            double *states[2] = {state_of(worlds[0], &count), NULL};
            worlds[1] = hold_oblique((FilRodModel)model);
            must(fil_world_set_state(worlds[1], states[0], count, &error), &error);
            free(states[0]);
            for (int side = 0; side < 2; side++) {
                (void)take_step(worlds[side]);
                states[side] = state_of(worlds[side], &count);
            }
            CHECK(check_same_bits(states[0], states[1], sizeof(double) * (size_t)count));
            free(states[0]);
            free(states[1]);
            fil_world_destroy(worlds[1]);
        }
        fil_world_destroy(worlds[0]);
    }
}

static void check_swarm(int rods, int balls) {
    FilError error;
    FilWorld *world = swarm(rods, balls);
    int most = 0;
    for (int k = 0; k < 60; k++) {
        if (k % 10 == 5) { // one of them goes astray
            const double velocity[3] = {0.0, k < 30 ? 20.0 : -20.0, 0.0}, spin[3] = {0.0, 0.0, 0.0};
            must(fil_rod_launch(fil_world_rod(world, k / 10), velocity, spin, &error), &error);
        }
        CHECK(agrees_with_a_new_one(world, rods, balls));
        int count;
        (void)fil_world_contacts(world, &count);
        most = count > most ? count : most;
    }
    CHECK(most > 10);
    fil_world_destroy(world);
}

static void steps_do_not_depend_on_when_candidates_were_found(void) {
    check_swarm(30, 0);
}

static void nor_do_they_among_a_few_solids(void) {
    check_swarm(20, 6);
}

static void nor_do_they_among_many(void) {
    check_swarm(20, 14);
}

// What is added in the middle of a motion is seen at once.
static void a_rod_that_is_added_later_lands_on_the_others(void) {
    const FilWorldDef def = swarm_def();
    FilError error;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    FilRodDef low = log_def(FIL_ROD_HELIX, 0.01), high = log_def(FIL_ROD_HELIX, 0.05);
    (void)add_rod(world, &low, 4);
    for (int k = 0; k < 5; k++) {
        (void)take_step(world);
    }
    FilRod *rod = add_rod(world, &high, 4);
    const double velocity[3] = {0.0, 0.0, -10.0}, spin[3] = {0.0, 0.0, 0.0};
    must(fil_rod_launch(rod, velocity, spin, &error), &error);
    for (int k = 0; k < 20; k++) {
        (void)take_step(world);
    }
    FilPose pose;
    fil_rod_at(rod, 0.5, &pose, NULL);
    CHECK(pose.position[2] > 0.025);
    fil_world_destroy(world);
}

// All goes as foreseen for a hundred steps, and then they meet.
static void two_rods_that_fly_at_each_other_from_far_do_not_pass(void) {
    FilWorldDef def = swarm_def();
    FilError error;
    memset(def.gravity, 0, sizeof def.gravity);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef low = log_def(FIL_ROD_HELIX, 0.0), high = log_def(FIL_ROD_HELIX, 1.0);
    const double across[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}, spin[3] = {0.0, 0.0, 0.0};
    memcpy(high.root.axis, across, sizeof across);
    high.root.position[0] = 0.5;
    high.root.position[1] = -0.5;
    FilRod *rods[2] = {add_rod(world, &low, 4), add_rod(world, &high, 4)};
    must(fil_rod_launch(rods[0], (double[3]){0.0, 0.0, 5.0}, spin, &error), &error);
    must(fil_rod_launch(rods[1], (double[3]){0.0, 0.0, -5.0}, spin, &error), &error);
    for (int k = 0; k < 150; k++) {
        (void)take_step(world);
    }
    FilPose pose[2];
    fil_rod_at(rods[0], 0.5, &pose[0], NULL);
    fil_rod_at(rods[1], 0.5, &pose[1], NULL);
    CHECK(pose[1].position[2] - pose[0].position[2] > 0.019);
    fil_world_destroy(world);
}

// Analytic: it falls as if it were alone.
static void a_ghost_falls_through_everything(void) {
    const FilWorldDef def = swarm_def();
    FilError error;
    int ghost;
    FilRandom random = fil_random_make(1);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_floor(world);
    add_ball(world, &random, false);
    FilRodDef low = log_def(FIL_ROD_HELIX, 0.01), high = log_def(FIL_ROD_HELIX, 0.2);
    (void)add_rod(world, &low, 4);
    FilSurface surface = fil_surface_default();
    surface.ghost = true;
    must(fil_world_add_rod(world, &high, &surface, &ghost, &error), &error);
    const double velocity[3] = {0.0, 0.0, -30.0}, spin[3] = {0.0, 0.0, 0.0};
    must(fil_rod_launch(fil_world_rod(world, ghost), velocity, spin, &error), &error);
    const int steps = 30;
    for (int k = 0; k < steps; k++) {
        FilStepInfo info = take_step(world);
        CHECK(info.added_count == 0 && info.substeps == 1);
    }
    FilRate rate;
    fil_rod_at(fil_world_rod(world, ghost), 0.5, NULL, &rate);
    CHECK_NEAR(rate.velocity[2], -30.0 - 9.81 * def.step * steps, 1e-6, 0.0);
    fil_world_destroy(world);
}

// Two rods side by side, and one across them, higher by `gap` than where it touches.
static FilWorld *cross_rods(const FilWorldDef *def, double gap) {
    FilWorld *world = make_world(def, 0.4, 0.0);
    for (int k = 0; k < 3; k++) {
        FilRodDef rod = log_def(FIL_ROD_DER, k == 2 ? 0.012 + gap : 0.004);
        rod.length = 0.1;
        rod.section.radius = 0.004;
        rod.damping = 1e-3;
        if (k == 2) {
            const double across[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
            memcpy(rod.root.axis, across, sizeof across);
            rod.root.position[1] = -0.05;
        } else {
            rod.root.position[0] = -0.05;
            rod.root.position[1] = k == 0 ? -0.03 : 0.03;
        }
        (void)add_rod(world, &rod, 1);
    }
    return world;
}

static int count_between_rods(const FilWorld *world) {
    int count, between = 0;
    const FilContact *contacts = fil_world_contacts(world, &count);
    for (int i = 0; i < count; i++) {
        between += contacts[i].a.kind == FIL_BODY_ROD && contacts[i].b.kind == FIL_BODY_ROD;
    }
    return between;
}

// What was found while they slept left out pairs of sleepers.
static void rods_that_wake_press_on_each_other_at_once(void) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    def.sleep_speed = 1e-3;
    def.sleep_after = 0.02;
    FilWorld *world = cross_rods(&def, 0.0);
    (void)add_floor(world);
    FilStepInfo info = {0};
    for (int k = 0; k < 1000 && info.asleep_count < 3; k++) {
        info = take_step(world);
    }
    for (int k = 0; k < 10; k++) {
        info = take_step(world);
    }
    CHECK(info.asleep_count == 3);
    fil_world_wake(world, FIL_BODY_ROD, 2);
    for (int k = 0; k < 6; k++) {
        CHECK(take_step(world).asleep_count == 0);
        CHECK(count_between_rods(world) > 0);
    }
    fil_world_destroy(world);
}

// Back to a state before: what was kept is of another motion.
static void a_world_that_is_set_back_does_not_miss_what_it_flies_at(void) {
    FilWorldDef def = fil_world_def_default();
    def.solver.thread_count = 1;
    def.gravity[2] = 0.0;
    FilWorld *world = cross_rods(&def, -0.04); // below the others
    const double velocity[3] = {0.0, 0.0, 20.0}, spin[3] = {0.0, 0.0, 0.0};
    FilError error;
    must(fil_rod_launch(fil_world_rod(world, 2), velocity, spin, &error), &error);
    const int64_t count = fil_world_state_count(world);
    double *start = malloc(sizeof(double) * (size_t)count);
    fil_world_get_state(world, start);
    FilWorld *later = cross_rods(&def, 0.04); // 4 steps later, had it flown through
    must(fil_rod_launch(fil_world_rod(later, 2), velocity, spin, &error), &error);
    double *flown = malloc(sizeof(double) * (size_t)count);
    fil_world_get_state(later, flown);
    flown[0] = 4.0; // steps, and seconds
    flown[1] = 4.0 * def.step;
    must(fil_world_set_state(later, flown, count, &error), &error);
    (void)take_step(later);
    must(fil_world_set_state(later, start, count, &error), &error);
    int contacts[2] = {0, 0};
    for (int k = 0; k < 8; k++) {
        contacts[0] += take_step(world).contact_count;
        contacts[1] += take_step(later).contact_count;
    }
    CHECK(contacts[0] > 0 && contacts[1] == contacts[0]);
    free(start);
    free(flown);
    fil_world_destroy(world);
    fil_world_destroy(later);
}

// A bar that turns about its middle, which stays: all goes as foreseen, and what it strikes is out
// of reach when pairs are found. Returns how many contacts there were in ten steps.
static int strike_post(double away, bool kept) {
    FilWorldDef def = swarm_def();
    FilError error;
    memset(def.gravity, 0, sizeof def.gravity);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef bar = log_def(FIL_ROD_HELIX, 0.0), post = log_def(FIL_ROD_HELIX, -0.5);
    const double up[3][3] = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};
    bar.element_count = post.element_count = 1;
    bar.section.radius = post.section.radius = 0.003;
    bar.section.young = post.section.young = 1e12;
    bar.root.position[0] = -0.5;
    memcpy(post.root.axis, up, sizeof up);
    post.root.position[0] = 0.48;
    post.root.position[1] = away;
    FilRod *rod = add_rod(world, &bar, 1);
    (void)add_rod(world, &post, 1);
    must(fil_rod_launch(rod, (double[3]){0.0, -5.0, 0.0}, (double[3]){0.0, 0.0, 10.0}, &error),
         &error);
    int contacts = 0;
    for (int k = 0; k < 10; k++) {
        world->near.piece_count = kept ? world->near.piece_count : 0;
        contacts += take_step(world).contact_count;
    }
    FilPose poses[2];
    fil_rod_at(fil_world_rod(world, 0), 0.98, &poses[0], NULL);
    fil_rod_at(fil_world_rod(world, 1), 0.5, &poses[1], NULL);
    CHECK(poses[1].position[1] > poses[0].position[1]);
    fil_world_destroy(world);
    return contacts;
}

static void a_bar_that_turns_strikes_what_was_out_of_reach(void) {
    for (double away = 0.012; away < 0.04; away += 0.002) {
        const int contacts = strike_post(away, true);
        CHECK(contacts > 0);
        CHECK(contacts == strike_post(away, false));
    }
}

static FilRodDef upright_def(double y) {
    FilRodDef def = log_def(FIL_ROD_HELIX, -0.05);
    const double up[3][3] = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};
    memcpy(def.root.axis, up, sizeof up);
    def.element_count = 1;
    def.length = 0.1;
    def.section.radius = 0.003;
    def.section.young = 1e12;
    def.root.position[1] = y;
    return def;
}

// Put a rod of a world where one would be that was made so.
static void put_rod(FilRod *rod, const FilRodDef *def) {
    FilError error;
    FilRod *other = NULL;
    must(fil_rod_create(def, NULL, &other, &error), &error);
    const int count = fil_rod_state_count(rod);
    double *state = malloc(sizeof(double) * (size_t)count);
    if (state == NULL) {
        exit(1);
    }
    fil_rod_get_state(rod, state);
    const double time = state[0];
    fil_rod_get_state(other, state);
    state[0] = time;
    must(fil_rod_set_state(rod, state, &error), &error);
    free(state);
    fil_rod_destroy(other);
}

// Pairs were found while it was elsewhere, and what flies at its new place is still far away.
static void a_rod_that_is_put_in_the_way_of_another_one_is_struck(void) {
    FilWorldDef def = swarm_def();
    FilError error;
    memset(def.gravity, 0, sizeof def.gravity);
    for (int steps = 1; steps < 6; steps++) {
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef away = upright_def(0.2), there = upright_def(0.0), bar = upright_def(0.0);
        const double across[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        memcpy(bar.root.axis, across, sizeof across);
        bar.root.position[0] = -0.53;
        bar.root.position[1] = -0.05;
        bar.root.position[2] = 0.0;
        FilRod *post = add_rod(world, &away, 1), *flier = add_rod(world, &bar, 1);
        must(fil_rod_launch(flier, (double[3]){100.0, 0.0, 0.0}, (double[3]){0.0}, &error), &error);
        int contacts = 0;
        for (int k = 0; k < 8; k++) {
            if (k == steps) {
                put_rod(post, &there);
            }
            contacts += take_step(world).contact_count;
        }
        FilPose ends[2], middle;
        fil_rod_at(post, 0.0, &ends[0], NULL); // it is one piece
        fil_rod_at(post, 0.1, &ends[1], NULL);
        fil_rod_at(flier, 0.05, &middle, NULL);
        CHECK(contacts > 0);
        CHECK(0.5 * (ends[0].position[0] + ends[1].position[0]) > middle.position[0]);
        fil_world_destroy(world);
    }
}

// --- bodies that do not go as foreseen -----------------------------------------------------------

// An upright rod without gravity, 1 m long and 2 mm thick.
static FilRod *add_post(FilWorld *world, double x, double y) {
    FilRodDef def = log_def(FIL_ROD_HELIX, -0.5);
    const double up[3][3] = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};
    memcpy(def.root.axis, up, sizeof up);
    def.element_count = 2;
    def.section.radius = 0.001;
    def.root.position[0] = x;
    def.root.position[1] = y;
    return add_rod(world, &def, 4);
}

static FilWorld *weightless(void) {
    FilWorldDef def = swarm_def();
    memset(def.gravity, 0, sizeof def.gravity);
    return make_world(&def, 0.3, 0.0);
}

// At rest, and then hit: within that step it goes farther than all that was foreseen of it.
static void a_ball_that_is_hit_pushes_the_rod_before_it(void) {
    FilWorld *world = weightless();
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.01};
    FilRigid *ball = add_rigid(world, &def);
    def.mass = 10.0;
    def.pose.position[0] = -0.0205;
    def.rate.velocity[0] = 50.0; // 5 cm in a step
    (void)add_rigid(world, &def);
    FilRod *rod = add_post(world, 0.03, 0.0);
    for (int k = 0; k < 2; k++) {
        CHECK(take_step(world).missed_count == 0);
        FilPose poses[2];
        fil_rigid_pose(ball, &poses[0]);
        fil_rod_at(rod, 0.5, &poses[1], NULL);
        CHECK(poses[1].position[0] - poses[0].position[0] > 0.0108);
    }
    fil_world_destroy(world);
}

// Its position goes round its centre of mass, which stays.
static void a_weight_on_a_long_arm_meets_the_rod_on_its_way(void) {
    FilWorld *world = weightless();
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.005};
    def.mass = 1.0;
    for (int k = 0; k < 3; k++) {
        def.inertia[k][k] = 0.01;
    }
    def.centre[1] = 0.1;
    def.pose.position[1] = -0.1;
    def.rate.spin[2] = 900.0; // 0.9 rad in a step: past the rod, and far from it before and after
    (void)add_rigid(world, &def);
    FilRod *rod = add_post(world, 0.1 * sin(0.45), -0.1 * cos(0.45));
    CHECK(take_step(world).missed_count == 0);
    FilPose pose;
    fil_rod_at(rod, 0.5, &pose, NULL);
    CHECK(pose.position[0] > 0.08); // driven before it
    fil_world_destroy(world);
}

// A bar that turns once in a step is where it was, but not next to a rod that it would strike.
static int count_substeps(FilShapeKind kind, double away) {
    FilWorld *world = weightless();
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = kind, .radius = 0.005, .length = 0.4};
    def.rate.spin[2] = 2.0 * 3.14159265358979323846 / 1e-3;
    (void)add_rigid(world, &def);
    (void)add_post(world, 0.0, away);
    const int substeps = take_step(world).substeps;
    fil_world_destroy(world);
    return substeps;
}

static void a_bar_that_turns_fast_is_followed_next_to_rods(void) {
    CHECK(count_substeps(FIL_SHAPE_CAPSULE, 0.1) > 6);
    CHECK(count_substeps(FIL_SHAPE_CAPSULE, 0.3) == 1); // out of its reach
    CHECK(count_substeps(FIL_SHAPE_SPHERE, 0.02) == 1); // round
}

// A caller may have threads of his own, with a world for each.
static void worlds_are_stepped_side_by_side(void) {
    int contacts[4] = {0};
#pragma omp parallel for num_threads(4) schedule(static, 1)
    for (int k = 0; k < 4; k++) {
        FilWorldDef def = fil_world_def_default();
        def.solver.thread_count = 1;
        FilWorld *world = cross_rods(&def, 0.0);
        (void)add_floor(world);
        for (int step = 0; step < 5; step++) {
            contacts[k] += take_step(world).contact_count;
        }
        fil_world_destroy(world);
    }
    for (int k = 0; k < 4; k++) {
        CHECK(contacts[k] > 0 && contacts[k] == contacts[0]);
    }
}

// Boxes of what is thrown beyond all bounds meet everything in the grid, even solids that are not
// in it: these are candidates elsewhere, and must not become contacts twice.
static void what_flies_off_gives_nobody_a_second_contact(void) {
    for (int balls = 2; balls <= 12; balls += 10) { // few, and more than the grid can do without
        const FilWorldDef def = swarm_def();
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilError error;
        (void)add_floor(world);
        for (int i = 0; i < balls; i++) {
            FilRigidDef ball = fil_rigid_def_default();
            ball.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.02};
            ball.pose.position[0] = 0.04 * i; // in a row, each touches the next
            ball.pose.position[2] = 0.02;
            (void)add_rigid(world, &ball);
        }
        const FilRodDef rod = log_def(FIL_ROD_DER, 1.0);
        FilRod *thrown = add_rod(world, &rod, 2);
        int counts[2];
        for (int k = 0; k < 2; k++) {
            const double velocity[3] = {k * 1e60, -k * 1e60, k * 1e60}, spin[3] = {0.0, 0.0, 0.0};
            must(fil_rod_launch(thrown, velocity, spin, &error), &error);
            must(fil_world_find_contacts(world, &error), &error);
            (void)fil_world_contacts(world, &counts[k]);
        }
        CHECK(counts[0] == 2 * balls - 1 && counts[1] == counts[0]);
        fil_world_destroy(world);
    }
}

#define TESTS(X)                                               \
    X(what_flies_off_gives_nobody_a_second_contact)            \
    X(steps_do_not_depend_on_when_candidates_were_found)       \
    X(nor_do_they_among_a_few_solids)                          \
    X(nor_do_they_among_many)                                  \
    X(a_clamped_rod_that_points_anywhere_goes_on_from_a_state) \
    X(a_rod_that_is_added_later_lands_on_the_others)           \
    X(two_rods_that_fly_at_each_other_from_far_do_not_pass)    \
    X(a_ghost_falls_through_everything)                        \
    X(rods_that_wake_press_on_each_other_at_once)              \
    X(a_world_that_is_set_back_does_not_miss_what_it_flies_at) \
    X(a_bar_that_turns_strikes_what_was_out_of_reach)          \
    X(a_rod_that_is_put_in_the_way_of_another_one_is_struck)   \
    X(a_ball_that_is_hit_pushes_the_rod_before_it)             \
    X(a_weight_on_a_long_arm_meets_the_rod_on_its_way)         \
    X(a_bar_that_turns_fast_is_followed_next_to_rods)          \
    X(worlds_are_stepped_side_by_side)

CHECK_MAIN(TESTS)
