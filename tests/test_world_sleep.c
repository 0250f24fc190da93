// Bodies that sleep: what rests is left alone, and nobody can tell.
#include "check.h"
#include "world_bench.h"

static const double g = 9.81;

static FilWorldDef sleepy_def(double speed) {
    FilWorldDef def = fil_world_def_default();
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    def.sleep_speed = speed;
    def.sleep_after = 0.05;
    return def;
}

static FilRigidDef cube_def(double x, double z) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {0.1, 0.1, 0.1}};
    def.pose.position[0] = x;
    def.pose.position[2] = z;
    return def;
}

enum { CUBES = 5 };

static void add_stack(FilWorld *world, double x) {
    for (int k = 0; k < CUBES; k++) {
        FilRigidDef cube = cube_def(x + 0.004 * k, 0.05 + 0.1 * k);
        (void)add_rigid(world, &cube);
    }
}

static FilWorld *stack(double speed) {
    FilWorldDef def = sleepy_def(speed);
    FilWorld *world = make_world(&def, 0.5, 0.0);
    (void)add_floor(world);
    add_stack(world, 0.0);
    return world;
}

static FilStepInfo take_steps(FilWorld *world, int count) {
    FilStepInfo info = {0};
    for (int k = 0; k < count; k++) {
        info = take_step(world);
    }
    return info;
}

static double height_of(FilWorld *world, int rigid) {
    double centre[3];
    fil_rigid_centre(fil_world_rigid(world, rigid), centre);
    return centre[2];
}

static double fastest_of(FilWorld *world) {
    double fastest = 0.0;
    for (int k = 0; k < fil_world_rigid_count(world); k++) {
        FilRate rate;
        fil_rigid_rate(fil_world_rigid(world, k), &rate);
        for (int c = 0; c < 3; c++) {
            fastest = fmax(fastest, fmax(fabs(rate.velocity[c]), 0.1 * fabs(rate.spin[c])));
        }
    }
    return fastest;
}

static void nothing_sleeps_unless_asked_to(void) {
    FilWorld *world = stack(0.0);
    CHECK(take_steps(world, 100).asleep_count == 0);
    fil_world_destroy(world);
}

static void a_stack_at_rest_falls_asleep_and_costs_no_solve(void) {
    FilWorld *world = stack(1e-6);
    CHECK(take_steps(world, 40).asleep_count == 0); // not yet
    FilStepInfo info = take_steps(world, 20);
    CHECK(info.asleep_count == CUBES);
    info = take_step(world);
    CHECK(info.asleep_count == CUBES && info.iterations == 0 && info.contact_count == 0);
    CHECK(fastest_of(world) == 0.0);
    // its contacts can still be looked at: the floor carries the weight
    int count;
    double push = 0.0;
    const FilContact *contacts = fil_world_contacts(world, &count);
    for (int i = 0; i < count; i++) {
        push += contacts[i].b.kind == FIL_BODY_OBSTACLE ? contacts[i].impulse[2] : 0.0;
    }
    CHECK_NEAR(push, 1e-3 * g * CUBES * fil_rigid_mass(fil_world_rigid(world, 0)), 1e-6, 0.0);
    fil_world_destroy(world);
}

static void a_stack_that_wakes_does_not_jump(void) {
    FilWorld *world = stack(1e-6);
    CHECK(take_steps(world, 60).asleep_count == CUBES);
    double before[CUBES];
    for (int k = 0; k < CUBES; k++) {
        before[k] = height_of(world, k);
    }
    fil_world_wake(world, FIL_BODY_RIGID, 2);
    for (int k = 0; k < CUBES; k++) {
        CHECK(!fil_world_is_asleep(world, FIL_BODY_RIGID, k));
    }
    double fastest = 0.0;
    for (int k = 0; k < 40; k++) {
        CHECK(take_step(world).active_count > 0);
        fastest = fmax(fastest, fastest_of(world));
    }
    CHECK(fastest < 1e-8); // m/s
    for (int k = 0; k < CUBES; k++) {
        CHECK_NEAR(height_of(world, k), before[k], 0.0, 1e-10);
    }
    fil_world_destroy(world);
}

// A ball of 0.5 kg at 3 m/s against the third of five cubes.
static void throw_ball(FilWorld *world, double x) {
    FilRigidDef ball = fil_rigid_def_default();
    ball.shape = (FilShape){.kind = FIL_SHAPE_SPHERE, .radius = 0.04};
    ball.mass = 0.5;
    ball.pose.position[0] = x;
    ball.pose.position[2] = 0.26;
    ball.rate.velocity[0] = 3.0;
    (void)add_rigid(world, &ball);
}

static void a_sleeping_stack_hit_by_a_ball_behaves_as_one_that_never_slept(void) {
    FilWorld *worlds[2] = {stack(0.0), stack(1e-6)};
    for (int w = 0; w < 2; w++) {
        FilStepInfo info = take_steps(worlds[w], 100);
        CHECK(info.asleep_count == (w == 0 ? 0 : CUBES));
        throw_ball(worlds[w], -0.3);
        info = take_steps(worlds[w], 30);
        CHECK(info.asleep_count == (w == 0 ? 0 : CUBES)); // it is on its way
        info = take_steps(worlds[w], 100);
        CHECK(info.asleep_count == 0);
    }
    double far = 0.0;
    for (int k = 0; k < CUBES + 1; k++) {
        double a[3], b[3];
        fil_rigid_centre(fil_world_rigid(worlds[0], k), a);
        fil_rigid_centre(fil_world_rigid(worlds[1], k), b);
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(b[c], a[c], 0.0, 1e-7);
            far = fmax(far, fabs(a[0] - 0.004 * k));
        }
    }
    CHECK(far > 0.01); // the ball did something
    fil_world_destroy(worlds[0]);
    fil_world_destroy(worlds[1]);
}

// Two logs on the floor and one across both.
static FilWorld *three_logs(FilRodModel model, FilRod *rods[3]) {
    FilWorldDef def = sleepy_def(1e-5);
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    for (int k = 0; k < 3; k++) {
        FilRodDef log = log_def(model, k < 2 ? 0.01 : 0.03);
        const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        log.damping = 1e-2;
        log.root.position[1] = k == 0 ? -0.3 : k == 1 ? 0.3 : -0.5;
        if (k == 2) {
            memcpy(log.root.axis, y, sizeof y);
            log.root.position[0] = 0.5;
        }
        rods[k] = add_rod(world, &log, 2);
    }
    return world;
}

static void a_log_that_is_pushed_wakes_the_one_on_top_of_it(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRod *rods[3];
        FilError error;
        FilWorld *world = three_logs(model, rods);
        int waited = 0;
        while (take_step(world).asleep_count < 3 && waited < 2000) {
            waited++;
        }
        CHECK(waited < 2000);
        FilRodLoad push = {.s = 0.5, .force = {50.0, 0.0, 0.0}};
        must(fil_rod_set_loads(rods[0], &push, 1, &error), &error);
        CHECK(take_step(world).asleep_count == 0);
        (void)take_steps(world, 20);
        FilRate rate;
        fil_rod_at(rods[2], 0.2, NULL, &rate);
        CHECK(rate.velocity[0] > 1e-3); // friction takes it along
        fil_world_destroy(world);
    }
}

static double drop_at = 0.08; // s

static void drop(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[2] -= 20.0 * fmax(0.0, time - drop_at);
}

static FilWorld *stack_on_trapdoor(double speed) {
    FilError error;
    FilWorldDef def = sleepy_def(speed);
    FilWorld *world = make_world(&def, 0.5, 0.0);
    FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE},
                            .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                            .motion = drop};
    FilSurface surface = fil_surface_default();
    int obstacle;
    must(fil_world_add_obstacle(world, &floor, &surface, &obstacle, &error), &error);
    add_stack(world, 0.0);
    return world;
}

static void when_the_floor_drops_everything_falls(void) {
    FilWorld *world = stack_on_trapdoor(1e-6);
    CHECK(take_steps(world, 80).asleep_count == CUBES);
    CHECK(take_step(world).asleep_count == 0);
    (void)take_steps(world, 99);
    for (int k = 0; k < CUBES; k++) { // implicit Euler: g t (t + dt) / 2
        CHECK_NEAR(0.05 + 0.1 * k - height_of(world, k), 0.5 * g * 0.1 * 0.101, 1e-5, 0.0);
    }
    fil_world_destroy(world);
}

static void gravity_friction_and_loads_wake(void) {
    FilError error;
    FilWorld *world = stack(1e-6);
    CHECK(take_steps(world, 80).asleep_count == CUBES);
    const double sideways[3] = {8.0, 0.0, -9.81};
    must(fil_world_set_gravity(world, sideways, &error), &error);
    (void)take_steps(world, 5);
    CHECK(fastest_of(world) > 0.01);
    fil_world_destroy(world);

    world = stack(1e-6);
    const double slope[3] = {0.5, 0.0, -9.81};
    must(fil_world_set_gravity(world, slope, &error), &error);
    CHECK(take_steps(world, 80).asleep_count == CUBES);
    must(fil_world_set_friction(world, 0, 0, 0.02, &error), &error);
    (void)take_steps(world, 5);
    CHECK(fastest_of(world) > 1e-3);
    fil_world_destroy(world);

    world = stack(1e-6);
    CHECK(take_steps(world, 80).asleep_count == CUBES);
    const double force[3] = {100.0, 0.0, 0.0}, none[3] = {0.0, 0.0, 0.0};
    must(fil_rigid_set_load(fil_world_rigid(world, CUBES - 1), force, none, &error), &error);
    CHECK(take_step(world).asleep_count == 0);
    CHECK(fastest_of(world) > 1e-3);
    fil_world_destroy(world);
}

static void lift(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[2] += 0.1 * fmax(0.0, time - 3.0);
}

// A hanging rod whose clamp begins to rise, with a ball at its tip.
static void a_driven_end_wakes_its_rod_and_what_hangs_on_it(void) {
    FilError error;
    FilWorldDef def = sleepy_def(1e-5);
    FilWorld *world = make_world(&def, 0.3, 0.0);
    FilRodDef rope = fil_rod_def_default();
    rope.model = FIL_ROD_DER;
    rope.element_count = 10;
    rope.length = 0.2;
    rope.section.radius = 2e-3;
    rope.section.young = 1e7;
    rope.damping = 0.1;
    const double down[3][3] = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
    memcpy(rope.root.axis, down, sizeof down);
    rope.root_end.motion = lift;
    FilRod *rod = add_rod(world, &rope, 1);
    FilRigidDef ball = fil_rigid_def_default();
    ball.shape.radius = 0.01;
    ball.pose.position[2] = -0.21;
    FilRigid *rigid = add_rigid(world, &ball);
    FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .index = 0, .s = 0.2},
                         .b = {.kind = FIL_BODY_RIGID, .index = 0, .point = {0.0, 0.0, -0.2}}};
    int made;
    must(fil_world_add_joint(world, &joint, &made, &error), &error);
    CHECK(take_steps(world, 3000).asleep_count == 2);
    CHECK(fil_rod_time(rod) == fil_world_time(world));
    CHECK(take_step(world).asleep_count == 0);
    (void)take_steps(world, 99);
    FilRate rate;
    fil_rigid_rate(rigid, &rate);
    CHECK_NEAR(rate.velocity[2], 0.1, 0.5, 0.0);
    fil_world_destroy(world);
}

static void a_rod_shot_at_one_that_sleeps_does_not_pass_through(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilError error;
        FilWorldDef def = sleepy_def(1e-6);
        memset(def.gravity, 0, sizeof def.gravity);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilRodDef a = log_def(model, 0.0), b = log_def(model, 0.5);
        const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        memcpy(b.root.axis, y, sizeof y);
        b.root.position[0] = 0.45;
        b.root.position[1] = -0.4;
        (void)add_rod(world, &a, 1);
        FilRod *rod = add_rod(world, &b, 1);
        CHECK(take_steps(world, 60).asleep_count == 2);
        const double shot[3] = {0.0, 0.0, -100.0}, none[3] = {0.0, 0.0, 0.0};
        must(fil_rod_launch(rod, shot, none, &error), &error);
        CHECK(take_step(world).asleep_count == 1);
        int hit = 0;
        for (int k = 0; k < 8; k++) {
            FilStepInfo info = take_step(world);
            CHECK(info.missed_count == 0);
            hit += info.active_count > 0;
        }
        CHECK(hit > 0);
        CHECK(!fil_world_is_asleep(world, FIL_BODY_ROD, 0));
        FilPose low, high;
        fil_rod_at(fil_world_rod(world, 0), 0.45, &low, NULL);
        fil_rod_at(rod, 0.4, &high, NULL);
        CHECK(high.position[2] > low.position[2]);
        fil_world_destroy(world);
    }
}

static void rush(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[2] -= 20.0 * fmax(0.0, time - 0.1);
}

// 2 cm a step, as much as the rod is thick.
static void an_obstacle_that_rushes_at_a_sleeping_rod_takes_it_along(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilError error;
        FilWorldDef def = sleepy_def(1e-6);
        memset(def.gravity, 0, sizeof def.gravity);
        FilWorld *world = make_world(&def, 0.3, 0.0);
        FilObstacleDef ram = {
            .shape = {.kind = FIL_SHAPE_CAPSULE, .radius = 0.02, .length = 0.5},
            .pose = {.position = {0.5, 0.0, 0.5}, .axis = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}},
            .motion = rush};
        FilSurface surface = fil_surface_default();
        int obstacle;
        must(fil_world_add_obstacle(world, &ram, &surface, &obstacle, &error), &error);
        FilRodDef log = log_def(model, 0.0);
        FilRod *rod = add_rod(world, &log, 2);
        CHECK(take_steps(world, 100).asleep_count == 1);
        CHECK(take_steps(world, 15).asleep_count == 1); // it is on its way
        for (int k = 0; k < 15; k++) {
            CHECK(take_step(world).missed_count == 0);
        }
        FilPose pose, at;
        fil_world_obstacle_at(world, obstacle, &at, NULL);
        fil_rod_at(rod, 0.5, &pose, NULL);
        CHECK(!fil_world_is_asleep(world, FIL_BODY_ROD, 0));
        CHECK(pose.position[2] < at.position[2]);
        fil_world_destroy(world);
    }
}

typedef struct Snapshot {
    double *state;
    int64_t count;
    FilContact contacts[2048];
    int contact_count;
} Snapshot;

static Snapshot look_at(const FilWorld *world) {
    Snapshot shot = {.count = fil_world_state_count(world)};
    shot.state = malloc(sizeof(double) * (size_t)shot.count);
    fil_world_get_state(world, shot.state);
    const FilContact *contacts = fil_world_contacts(world, &shot.contact_count);
    CHECK(shot.contact_count <= 2048);
    memcpy(shot.contacts, contacts, sizeof(FilContact) * (size_t)shot.contact_count);
    return shot;
}

static void same_snapshots(Snapshot *a, Snapshot *b) {
    CHECK(a->count == b->count && a->contact_count == b->contact_count);
    CHECK(a->count == b->count &&
          check_same_bits(a->state, b->state, sizeof(double) * (size_t)a->count));
    for (int i = 0; a->contact_count == b->contact_count && i < a->contact_count; i++) {
        const FilContact *x = &a->contacts[i], *y = &b->contacts[i];
        CHECK(x->a.kind == y->a.kind && x->a.index == y->a.index && x->b.kind == y->b.kind &&
              x->b.index == y->b.index && x->state == y->state && x->gap == y->gap &&
              check_same_bits(x->impulse, y->impulse, sizeof x->impulse) &&
              check_same_bits(x->velocity, y->velocity, sizeof x->velocity) &&
              check_same_bits(x->normal, y->normal, sizeof x->normal));
    }
    free(a->state);
    free(b->state);
}

// The state is taken when the stack is about to sleep, sleeps, and is awake again.
static void a_world_goes_on_from_a_state_in_its_sleep(void) {
    FilError error;
    for (int at = 40; at <= 120; at += 20) {
        FilWorld *first = stack_on_trapdoor(1e-6), *second = stack_on_trapdoor(1e-6);
        drop_at = 0.1;
        (void)take_steps(first, at);
        Snapshot shot = look_at(first);
        must(fil_world_set_state(second, shot.state, shot.count, &error), &error);
        free(shot.state);
        for (int more = 1; more <= 40; more += 13) {
            (void)take_steps(first, more);
            (void)take_steps(second, more);
            Snapshot a = look_at(first), b = look_at(second);
            same_snapshots(&a, &b);
        }
        fil_world_destroy(first);
        fil_world_destroy(second);
    }
    drop_at = 0.08;
}

static void sleep_is_the_same_on_any_number_of_threads(void) {
    Snapshot shots[2];
    for (int t = 0; t < 2; t++) {
        FilWorldDef def = sleepy_def(1e-3);
        def.solver.thread_count = 1 + 2 * t;
        FilWorld *world = make_world(&def, 0.5, 0.0);
        (void)add_floor(world);
        for (int k = 0; k < 30; k++) {
            FilRodDef rod = log_def(k % FIL_ROD_MODEL_COUNT, 0.011);
            rod.root.position[1] = 0.1 * k;
            rod.element_count = 20;
            rod.damping = 1e-2;
            (void)add_rod(world, &rod, 1);
        }
        FilStepInfo info = take_steps(world, 200);
        CHECK(info.asleep_count > 10);
        shots[t] = look_at(world);
        fil_world_destroy(world);
    }
    same_snapshots(&shots[0], &shots[1]);
}

static void bad_states_of_sleep_are_refused(void) {
    FilError error;
    FilWorld *world = stack(1e-6);
    (void)take_steps(world, 80);
    Snapshot shot = look_at(world);
    int64_t at = 6 + 13 * CUBES; // of the first body's sleep
    double kept = shot.state[at + 1];
    CHECK(kept == 1.0); // island of body 0
    shot.state[at + 1] = CUBES + 1;
    CHECK(fil_world_set_state(world, shot.state, shot.count, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "sleep") != NULL);
    shot.state[at + 1] = kept;
    shot.state[at] = -1.0;
    CHECK(fil_world_set_state(world, shot.state, shot.count, &error) == FIL_E_ARGUMENT);
    free(shot.state);
    fil_world_destroy(world);
    FilWorldDef def = sleepy_def(-1.0);
    CHECK(fil_world_create(&def, NULL, &world, &error) == FIL_E_ARGUMENT);
    CHECK(strstr(error.text, "sleep_speed is -1") != NULL);
}

#define TESTS(X)                                                      \
    X(nothing_sleeps_unless_asked_to)                                 \
    X(a_stack_at_rest_falls_asleep_and_costs_no_solve)                \
    X(a_stack_that_wakes_does_not_jump)                               \
    X(a_sleeping_stack_hit_by_a_ball_behaves_as_one_that_never_slept) \
    X(a_log_that_is_pushed_wakes_the_one_on_top_of_it)                \
    X(when_the_floor_drops_everything_falls)                          \
    X(gravity_friction_and_loads_wake)                                \
    X(a_driven_end_wakes_its_rod_and_what_hangs_on_it)                \
    X(a_rod_shot_at_one_that_sleeps_does_not_pass_through)            \
    X(an_obstacle_that_rushes_at_a_sleeping_rod_takes_it_along)       \
    X(a_world_goes_on_from_a_state_in_its_sleep)                      \
    X(sleep_is_the_same_on_any_number_of_threads)                     \
    X(bad_states_of_sleep_are_refused)

CHECK_MAIN(TESTS)
