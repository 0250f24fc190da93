// What rods carry and store, as it is recorded: tension and elastic energy along them.
#include "check.h"
#include "world_bench.h"

#include "filum/record.h"
#include "math/vec3.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

static const double g = 9.81;
static const double down[3][3] = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
static const double up[3][3] = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};

// A world of one rod or more, and its frame.
typedef struct Bench {
    FilWorld *world;
    FilRecorder *recorder;
    FilResultDef def;
    FilFrame frame;
} Bench;

static FilWorld *new_world(double step, double gravity) {
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.gravity[2] = -gravity;
    def.solver.thread_count = 1;
    return make_world(&def, 0.3, 0.0);
}

static void look(Bench *bench) {
    FilError error;
    if (bench->recorder == NULL) {
        must(fil_recorder_create(bench->world, NULL, &bench->recorder, &error), &error);
        bench->def = fil_recorder_def(bench->recorder);
    }
    must(fil_recorder_frame(bench->recorder, &bench->frame, &error), &error);
}

static void settle(Bench *bench) {
    FilError error;
    FilSettleSettings settings = fil_settle_settings_default();
    FilSettleInfo info;
    settings.tolerance = 1e-6;
    must(fil_world_settle(bench->world, &settings, &info, &error), &error);
    CHECK(info.converged);
    look(bench);
}

static void finish(Bench *bench) {
    fil_recorder_destroy(bench->recorder);
    fil_world_destroy(bench->world);
}

// A rod of 1 m and 1 kg, held at its root.
static FilRodDef hanging_def(FilRodModel model, const double axis[3][3]) {
    FilRodDef def = log_def(model, 0.0);
    memcpy(def.root.axis, axis, sizeof def.root.axis);
    def.root_end.kind = FIL_END_CLAMPED;
    return def;
}

static double s_of(const Bench *bench, int i) {
    return bench->def.points[i].s;
}

// --- at rest -------------------------------------------------------------------------------------

static void a_hanging_rod_carries_the_weight_below(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, down);
        (void)add_rod(bench.world, &def, 0);
        settle(&bench);
        for (int i = 0; i < bench.def.point_count; i++) {
            CHECK_NEAR(bench.frame.tension[i], g * (1.0 - s_of(&bench, i)), 0.0, 1e-5);
        }
        finish(&bench);
    }
}

static void a_weight_at_the_tip_pulls_all_along(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, down);
        const FilRodLoad weight = {.s = 1.0, .force = {0.0, 0.0, -50.0}};
        def.loads = &weight;
        def.load_count = 1;
        (void)add_rod(bench.world, &def, 0);
        settle(&bench);
        for (int i = 0; i < bench.def.point_count; i++) {
            CHECK_NEAR(bench.frame.tension[i], 50.0 + g * (1.0 - s_of(&bench, i)), 0.0, 1e-4);
        }
        finish(&bench);
    }
}

// The same by joints: of a ball at the tip, and of the root, which is free otherwise.
static void joints_pull_too(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, down);
        FilRigidDef ball = fil_rigid_def_default();
        FilError error;
        int joint;
        def.root_end.kind = FIL_END_FREE;
        (void)add_rod(bench.world, &def, 0);
        ball.pose.position[2] = -1.5;
        FilRigid *made = add_rigid(bench.world, &ball);
        const FilJointDef joints[2] = {
            {.a = {.kind = FIL_BODY_ROD}, .b = {.kind = FIL_BODY_WORLD}, .turning = true},
            {.a = {.kind = FIL_BODY_ROD, .s = 1.0},
             .b = {.kind = FIL_BODY_RIGID, .point = {0.0, 0.0, -1.0}},
             .turning = true}};
        for (int k = 0; k < 2; k++) {
            must(fil_world_add_joint(bench.world, &joints[k], &joint, &error), &error);
        }
        settle(&bench);
        const double weight = g * fil_rigid_mass(made);
        for (int i = 0; i < bench.def.point_count; i++) {
            CHECK_NEAR(bench.frame.tension[i], weight + g * (1.0 - s_of(&bench, i)), 1e-5, 1e-4);
        }
        finish(&bench);
    }
}

static void a_column_is_compressed(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, up);
        const FilRodLoad weight = {.s = 1.0, .force = {0.0, 0.0, -5.0}};
        def.loads = &weight;
        def.load_count = 1;
        (void)add_rod(bench.world, &def, 0);
        settle(&bench);
        for (int i = 0; i < bench.def.point_count; i++) {
            CHECK_NEAR(bench.frame.tension[i], -5.0 - g * (1.0 - s_of(&bench, i)), 0.0, 1e-4);
        }
        finish(&bench);
    }
}

// A trunk that hangs down, and two branches at 60 degrees to it.
static void a_trunk_carries_its_branches(void) {
    const double c = 0.5, s = sqrt(0.75);
    const FilRodJoint joints[3] = {{-1, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                   {0, {{c, s, 0}, {-s, c, 0}, {0, 0, 1}}},
                                   {0, {{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}};
    Bench bench = {.world = new_world(1e-3, g)};
    FilRodDef def = hanging_def(FIL_ROD_HELIX, down);
    def.element_count = 3;
    def.joints = joints;
    def.section.young = 1e13;
    (void)add_rod(bench.world, &def, 4);
    settle(&bench);
    CHECK(bench.def.line_count == 3 && bench.def.point_count == 15);
    for (int i = 0; i < bench.def.point_count; i++) {
        const double beyond = (1.0 - bench.def.points[i].u) / 3.0;
        const double want = i < 5 ? g * (beyond + 2.0 / 3.0) : 0.5 * g * beyond;
        CHECK_NEAR(bench.frame.tension[i], want, 0.0, 1e-4);
    }
    finish(&bench);
}

// Held at the tip alone: what hangs below a section is before it.
static void a_rod_hung_by_its_tip_is_pulled_as_well(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, up);
        def.root_end.kind = FIL_END_FREE;
        def.tip_end.kind = FIL_END_CLAMPED;
        (void)add_rod(bench.world, &def, 0);
        settle(&bench);
        for (int i = 0; i < bench.def.point_count; i++) {
            CHECK_NEAR(bench.frame.tension[i], g * s_of(&bench, i), 0.0, 1e-4);
        }
        finish(&bench);
    }
}

// A ball at a strand, and both fall asleep; and the same after a checkpoint.
static FilWorld *make_sleepers(void) {
    FilWorldDef def = fil_world_def_default();
    FilRodDef rod = hanging_def(FIL_ROD_CLOTHOID, down);
    FilRigidDef ball = fil_rigid_def_default();
    const FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .s = 1.0},
                               .b = {.kind = FIL_BODY_RIGID, .point = {0.0, 0.0, -1.0}},
                               .turning = true};
    FilError error;
    int made;
    def.solver.thread_count = 1;
    def.sleep_speed = 1e-2;
    def.sleep_after = 5e-3;
    FilWorld *world = make_world(&def, 0.3, 0.0);
    (void)add_rod(world, &rod, 0);
    ball.pose.position[2] = -1.1;
    (void)add_rigid(world, &ball);
    must(fil_world_add_joint(world, &joint, &made, &error), &error);
    return world;
}

static void who_sleeps_carries_on(void) {
    Bench bench = {.world = make_sleepers()}, again = {.world = make_sleepers()};
    FilError error;
    for (int k = 0; k < 20; k++) {
        (void)take_step(bench.world);
    }
    CHECK(fil_world_is_asleep(bench.world, FIL_BODY_ROD, 0));
    look(&bench);
    const double weight = g * fil_rigid_mass(fil_world_rigid(bench.world, 0));
    const int n = bench.def.point_count;
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(bench.frame.tension[i], weight + g * (1.0 - s_of(&bench, i)), 1e-6, 0.0);
    }
    const int64_t count = fil_world_state_count(bench.world);
    double *state = malloc(sizeof(double) * (size_t)count);
    CHECK(state != NULL);
    fil_world_get_state(bench.world, state);
    must(fil_world_set_state(again.world, state, count, &error), &error);
    look(&again);
    CHECK(check_same_bits(again.frame.tension, bench.frame.tension, sizeof(double) * (size_t)n));
    free(state);
    finish(&bench);
    finish(&again);
}

// --- held at both ends ---------------------------------------------------------------------------

// An arc of 2 rad that hangs, or stands, between two ends.
static FilRodDef arc_def(FilRodModel model, int elements, FilEndKind end, double bend,
                         double start[]) {
    FilRodDef def = log_def(model, 0.0);
    const double B = bend > 0.0 ? 8.0 : 8e-3; // what stands must be stiff
    def.element_count = elements;
    def.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .radius = 0.01,
                               .bend = {B, B},
                               .twist = B,
                               .mass = 1.0,
                               .stretch = 1e6};
    for (int i = 0; i <= elements; i++) {
        start[3 * i] = start[3 * i + 2] = 0.0;
        start[3 * i + 1] = bend;
    }
    def.start_curvatures = start;
    def.start_count = elements + 1;
    const double tilt[3][3] = {{cos(1.0), 0, bend > 0.0 ? sin(1.0) : -sin(1.0)},
                               {0, 1, 0},
                               {bend > 0.0 ? -sin(1.0) : sin(1.0), 0, cos(1.0)}};
    memcpy(def.root.axis, tilt, sizeof tilt);
    def.root_end.kind = def.tip_end.kind = end;
    return def;
}

// The tension at s of one rod in the bench.
static double tension_at(const Bench *bench, int rod, double s) {
    const FilResultRod *about = &bench->def.rods[rod];
    int i = about->first_point;
    while (i < about->first_point + about->point_count - 2 && s_of(bench, i + 1) < s) {
        i++;
    }
    const double part = (s - s_of(bench, i)) / (s_of(bench, i + 1) - s_of(bench, i));
    return (1.0 - part) * bench->frame.tension[i] + part * bench->frame.tension[i + 1];
}

// Springs of a fine chain know what a rod that does not stretch has from balance.
static void compare_arcs(FilRodModel model, FilEndKind end, double bend, bool moving) {
    double starts[2][3 * 65];
    Bench bench = {.world = new_world(1e-3, g)};
    FilRodDef coarse = arc_def(model, 12, end, bend, starts[0]);
    FilRodDef fine = arc_def(FIL_ROD_DER, 64, end, bend, starts[1]);
    coarse.damping = fine.damping = moving ? 1e-3 : 0.0;
    fine.root.position[1] = 1.0;
    (void)add_rod(bench.world, &coarse, 0);
    (void)add_rod(bench.world, &fine, 0);
    if (!moving) {
        settle(&bench);
    }
    for (int k = 0; moving && k < 150; k++) {
        (void)take_step(bench.world);
    }
    look(&bench);
    for (double s = 0.1; s < 0.95; s += 0.1) {
        CHECK_NEAR(tension_at(&bench, 0, s), tension_at(&bench, 1, s), 0.015, 0.0);
    }
    finish(&bench);
}

static void a_rod_between_two_ends_is_pulled_or_pressed(void) {
    for (int model = FIL_ROD_HELIX; model <= FIL_ROD_CLOTHOID; model++) {
        compare_arcs((FilRodModel)model, FIL_END_PINNED, -2.0, false);
        compare_arcs((FilRodModel)model, FIL_END_PINNED, 2.0, false);
        compare_arcs((FilRodModel)model, FIL_END_PINNED, -2.0, true);
        compare_arcs((FilRodModel)model, FIL_END_CLAMPED, -2.0, false);
        compare_arcs((FilRodModel)model, FIL_END_CLAMPED, 2.0, true);
    }
}

// Straight between two ends, and unable to stretch: what pulls at them cannot be known.
static void what_cannot_be_known_is_finite(void) {
    for (int k = 0; k < 8; k++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = log_def(k % 2 == 0 ? FIL_ROD_HELIX : FIL_ROD_CLOTHOID, 0.0);
        def.element_count = k / 2 % 2 == 0 ? 1 : 8;
        if (k >= 4) {
            memcpy(def.root.axis, down, sizeof down);
        }
        def.root_end.kind = FIL_END_CLAMPED;
        def.tip_end.kind = k >= 4 ? FIL_END_PINNED : FIL_END_CLAMPED;
        (void)add_rod(bench.world, &def, 0);
        for (int step = 0; step < 5; step++) {
            (void)take_step(bench.world);
            look(&bench);
        }
        for (int i = 0; i < bench.def.point_count; i++) {
            const double weight = k >= 4 ? g * (1.0 - s_of(&bench, i)) : 0.0;
            CHECK_NEAR(bench.frame.tension[i], weight, 0.0, 1.0);
        }
        finish(&bench);
    }
}

// --- moving --------------------------------------------------------------------------------------

static void a_whirling_rod_is_pulled_outward(void) {
    const double omega = 10.0;
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-4, 0.0)};
        FilRodDef def = log_def((FilRodModel)model, 0.0);
        FilError error;
        const double still[3] = {0.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, omega};
        def.root_end.kind = FIL_END_PINNED;
        def.damping = 1e-3; // of the stretching that begins
        FilRod *rod = add_rod(bench.world, &def, 0);
        must(fil_rod_launch(rod, still, spin, &error), &error);
        for (int k = 0; k < 300; k++) {
            (void)take_step(bench.world);
        }
        look(&bench);
        for (int i = 0; i < bench.def.point_count; i++) {
            const double s = s_of(&bench, i);
            const bool exact = model <= FIL_ROD_CLOTHOID; // others stretch by elements of 1/8 m
            CHECK_NEAR(bench.frame.tension[i], 0.5 * omega * omega * (1.0 - s * s), 0.0,
                       exact ? 0.05 : 1.6);
        }
        finish(&bench);
    }
}

static void what_falls_freely_carries_nothing(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, down);
        def.root_end.kind = FIL_END_FREE;
        (void)add_rod(bench.world, &def, 0);
        for (int k = 0; k < 10; k++) {
            (void)take_step(bench.world);
        }
        look(&bench);
        for (int i = 0; i < bench.def.point_count; i++) {
            CHECK_NEAR(bench.frame.tension[i], 0.0, 0.0, 1e-7);
        }
        finish(&bench);
    }
}

// --- around a post -------------------------------------------------------------------------------

static const double pull = 1.0, post = 0.1, edge = 0.0197; // N, m, m

static void draw_away(void *user, double time, FilPose *pose) {
    (void)user;
    for (int k = 0; k < 3; k++) {
        pose->position[k] -= edge / 0.5 * time * pose->axis[0][k];
    }
}

static void add_post(FilWorld *world) {
    FilError error;
    int obstacle;
    const FilSurface surface = fil_surface_default();
    const FilObstacleDef def = {
        .shape = {.kind = FIL_SHAPE_CYLINDER, .radius = post, .length = 10.0},
        .pose = {.axis = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}}};
    must(fil_world_add_obstacle(world, &def, &surface, &obstacle, &error), &error);
}

// Half a turn around it in 16 elements, and 4 more along the tangents at both ends; one end is
// drawn away, the other pulled.
static void add_rope(FilWorld *world, FilRodModel model) {
    enum { TAIL = 4, ARC = 16, ALL = ARC + 2 * TAIL };
    double start[3 * (ALL + 1)] = {0.0};
    FilRodDef rod = fil_rod_def_default();
    const double B = 8e-4 * pull * post * post;
    rod.model = model;
    rod.element_count = ALL;
    rod.length = ALL * edge;
    rod.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .bend = {B, B},
                               .twist = B,
                               .mass = 1e-3,
                               .radius = 1e-5,
                               .stretch = 1e4};
    rod.root.position[0] = -(TAIL + 0.5) * edge;
    rod.root.position[1] = post + 1e-5;
    for (int i = TAIL; i <= TAIL + ARC; i++) {
        start[3 * i + 2] = -2.0 * tan(0.5 * PI / ARC) / edge;
    }
    rod.start_curvatures = start;
    rod.start_count = ALL + 1;
    rod.root_end = (FilRodEnd){.kind = FIL_END_PINNED, .motion = draw_away};
    rod.damping = rod.drag = 1e-2;
    const FilRodLoad load = {.s = rod.length, .force = {-pull, 0.0, 0.0}};
    rod.loads = &load;
    rod.load_count = 1;
    (void)add_rod(world, &rod, 1);
}

// T2 / T1 = exp(mu phi), while it slides on by one element.
static void friction_on_a_post_adds_up(void) {
    enum { RUN_IN = 60, RUN = 100 };
    const FilRodModel models[] = {FIL_ROD_HELIX, FIL_ROD_DER};
    for (int m = 0; m < 2; m++) {
        Bench bench = {.world = new_world(5e-3, 0.0)};
        double ratio = 0.0, middle = 0.0;
        add_post(bench.world);
        add_rope(bench.world, models[m]);
        for (int k = 0; k < RUN_IN + RUN; k++) {
            (void)take_step(bench.world);
            look(&bench);
            const double *T = bench.frame.tension, last = T[bench.def.point_count - 2];
            ratio += k >= RUN_IN ? T[1] / last / RUN : 0.0;
            middle += k >= RUN_IN ? T[bench.def.point_count / 2] / last / RUN : 0.0;
        }
        CHECK_NEAR(ratio, exp(0.3 * PI), 0.02, 0.0);
        // the middle of the rod was 7.5 elements from where the rope meets the post, then 6.4
        CHECK_NEAR(middle, exp(0.3 * PI * (1.0 - 6.4 / 16.0)), 0.03, 0.0);
        finish(&bench);
    }
}

// --- energy --------------------------------------------------------------------------------------

// Bent and twisted by weight, natural curvature and a torque: Simpson's rule for each element.
static void elastic_energy_adds_up(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = log_def((FilRodModel)model, 0.0);
        const FilRodLoad torque = {.s = 0.4, .torque = {0.01, 0.02, 0.0}};
        const bool framed = model != FIL_ROD_CHAIN;
        def.root_end.kind = FIL_END_CLAMPED;
        def.section.young = 1e7;
        def.natural_curvature[0] = framed ? 1.0 : 0.0;
        def.natural_curvature[1] = framed ? 2.0 : 0.0;
        def.loads = framed ? &torque : NULL;
        def.load_count = framed ? 1 : 0;
        FilRod *rod = add_rod(bench.world, &def, 0);
        for (int k = 0; k < 100; k++) {
            (void)take_step(bench.world);
        }
        look(&bench);
        double sum = 0.0;
        FilRodEnergy energy;
        for (int e = 0; e < def.element_count; e++) {
            sum += (fil_rod_elastic_at(rod, e, 0.0) + 4.0 * fil_rod_elastic_at(rod, e, 0.5) +
                    fil_rod_elastic_at(rod, e, 1.0)) /
                   (6.0 * def.element_count);
        }
        fil_rod_energy(rod, &energy);
        CHECK(sum > 1e-3);
        CHECK_NEAR(sum, energy.bend + energy.twist, 1e-12, 0.0);
        for (int i = 0; i < bench.def.point_count; i++) {
            const FilResultPoint *point = &bench.def.points[i];
            CHECK(bench.frame.elastic[i] == fil_rod_elastic_at(rod, point->element, point->u));
        }
        finish(&bench);
    }
}

// --- threads -------------------------------------------------------------------------------------

// Strands fall on each other, enough of them that threads share the work.
static Bench make_heap(int threads) {
    FilWorldDef def = fil_world_def_default();
    def.step = 2e-3;
    def.solver.thread_count = threads;
    Bench bench = {.world = make_world(&def, 0.3, 0.0)};
    (void)add_floor(bench.world);
    for (int k = 0; k < 280; k++) {
        FilRodDef rod = fil_rod_def_default();
        rod.model = k % 3 == 2 ? FIL_ROD_DER : (FilRodModel)(k % 3);
        rod.length = 0.1;
        rod.section.radius = 1e-3;
        rod.section.young = 1e6;
        rod.root_end.kind = FIL_END_FREE;
        rod.root.position[0] = 0.02 * (k % 3);
        rod.root.position[1] = 0.001 * (k - k % 4);
        rod.root.position[2] = 0.0015 + 0.0025 * (k % 4);
        (void)add_rod(bench.world, &rod, 0);
    }
    for (int k = 0; k < 2; k++) {
        (void)take_step(bench.world);
    }
    look(&bench);
    return bench;
}

static void threads_do_not_change_a_bit(void) {
    Bench one = make_heap(1);
    double most = 0.0;
    for (int i = 0; i < one.def.point_count; i++) {
        most = fmax(most, fabs(one.frame.tension[i]));
    }
    CHECK(one.frame.contact_count > 100 && most > 0.0 && most < 1.0);
    const size_t bytes = sizeof(double) * (size_t)one.def.point_count;
    Bench many = make_heap(3);
    CHECK(check_same_bits(many.frame.tension, one.frame.tension, bytes));
    CHECK(check_same_bits(many.frame.elastic, one.frame.elastic, bytes));
    finish(&many);
    finish(&one);
}

// --- sections ------------------------------------------------------------------------------------

static void flat_sections_have_sizes(void) {
    Bench bench = {.world = new_world(1e-3, g)};
    FilRodDef def = log_def(FIL_ROD_CLOTHOID, 0.0);
    (void)add_rod(bench.world, &def, 0);
    def.section.kind = FIL_SECTION_ELLIPTIC;
    def.section.radii[0] = 0.02;
    def.section.radii[1] = 0.001;
    def.root.position[1] = 1.0;
    (void)add_rod(bench.world, &def, 0);
    look(&bench);
    CHECK(bench.def.rods[0].width == 0.0 && bench.def.rods[0].thickness == 0.0);
    CHECK(bench.def.rods[1].width == 0.04 && bench.def.rods[1].thickness == 0.002);
    finish(&bench);
}

// --- what holds the ends -------------------------------------------------------------------------

static void get_reaction(const Bench *bench, int rod, bool tip, double force[3], double moment[3]) {
    FilError error;
    must(fil_world_reaction(bench->world, rod, tip, force, moment, &error), &error);
    for (int k = 0; k < 3; k++) {
        const int at = 6 * rod + (tip ? 3 : 0) + k;
        CHECK(bench->frame.reaction_force[at] == force[k]);
        CHECK(bench->frame.reaction_moment[at] == moment[k]);
    }
}

// A stiff rod, clamped level, with a ball fixed beside its tip: weights, and weights times arms.
// What holds the ball is a joint that cannot turn, whose torque twists the rod.
static void a_clamp_carries_what_a_joint_hands_on(void) {
    for (int model = 0; model < FIL_ROD_CHAIN; model++) {
        static const double level[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, level);
        FilRigidDef ball = fil_rigid_def_default();
        FilError error;
        double force[3], moment[3];
        int made;
        def.section.young = 1e13;
        (void)add_rod(bench.world, &def, 0);
        memcpy(ball.pose.position, (double[3]){1.0, 0.5, 0.0}, sizeof ball.pose.position);
        FilRigid *body = add_rigid(bench.world, &ball);
        const FilJointDef joint = {.a = {.kind = FIL_BODY_ROD, .s = 1.0},
                                   .b = {.kind = FIL_BODY_RIGID, .point = {1.0, 0.0, 0.0}}};
        must(fil_world_add_joint(bench.world, &joint, &made, &error), &error);
        settle(&bench);
        const double weight = g * fil_rigid_mass(body);
        get_reaction(&bench, 0, false, force, moment);
        CHECK_NEAR(force[2], g + weight, 1e-4, 0.0);
        CHECK_NEAR(moment[0], weight * 0.5, 1e-3, 0.0);
        CHECK_NEAR(moment[1], -(0.5 * g + weight), 1e-3, 0.0);
        get_reaction(&bench, 0, true, force, moment);
        CHECK(force[2] == 0.0 && moment[1] == 0.0);
        finish(&bench);
    }
}

// A rod clamped above a floor on which it lies: clamp and floor share its weight.
static void a_clamp_and_a_floor_share_the_weight(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        static const double level[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, level);
        double force[3], moment[3], floor = 0.0, arms = 0.0;
        int count;
        def.root.position[2] = 0.1;
        def.section.young = 1e8;
        def.element_count = 16;
        (void)add_rod(bench.world, &def, 0);
        (void)add_floor(bench.world);
        settle(&bench);
        const FilContact *contacts = fil_world_contacts(bench.world, &count);
        for (int k = 0; k < count; k++) {
            const bool a = contacts[k].a.kind == FIL_BODY_ROD;
            const FilContactSide *side = a ? &contacts[k].a : &contacts[k].b;
            floor += (a ? 1e3 : -1e3) * contacts[k].impulse[2];
            arms += (a ? 1e3 : -1e3) * contacts[k].impulse[2] * side->point[0];
        }
        get_reaction(&bench, 0, false, force, moment);
        CHECK(floor > 0.1 * g && force[2] > 0.1 * g);
        CHECK_NEAR(force[2] + floor, g, 1e-4, 0.0);
        CHECK_NEAR(moment[1], arms - 0.5 * g, 0.0, 0.1 * g);
        finish(&bench);
    }
}

static void slide_along_y(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[1] += 0.2 * time;
}

// Seen from the root: weight at the middle of the mass, contacts where they touch the surface.
static void find_moment(const Bench *bench, const FilRod *rod, double moment[3]) {
    int count;
    const FilContact *contacts = fil_world_contacts(bench->world, &count);
    double arm[3], turned[3];
    memset(moment, 0, 3 * sizeof *moment);
    for (int k = 0; k < 1000; k++) {
        FilPose pose;
        fil_rod_at(rod, (k + 0.5) / 1000, &pose, NULL);
        moment[0] -= 1e-3 * g * pose.position[1];
        moment[1] += 1e-3 * g * pose.position[0];
    }
    for (int k = 0; k < count; k++) {
        const bool a = contacts[k].a.kind == FIL_BODY_ROD;
        const FilContactSide *side = a ? &contacts[k].a : &contacts[k].b;
        fil_subtract3(side->point, (const double[3]){0.0, 0.0, 0.1}, arm);
        fil_cross3(arm, contacts[k].impulse, turned);
        fil_add3(a ? 1e3 : -1e3, turned, moment);
    }
}

// A floor that slides by drags at the underside of a clamped rod: it bends and twists it.
static void friction_at_the_surface_twists_a_rod_in_its_clamp(void) {
    for (int model = 0; model < FIL_ROD_CHAIN; model++) {
        static const double level[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        Bench bench = {.world = new_world(1e-3, g)};
        FilRodDef def = hanging_def((FilRodModel)model, level);
        FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE}, .motion = slide_along_y};
        FilError error;
        int number;
        double force[3], moment[3], others[3];
        memcpy(floor.pose.axis, level, sizeof level);
        def.root.position[2] = 0.1;
        def.section.young = 1e8;
        def.element_count = 16;
        def.damping = 0.3;
        FilRod *rod = add_rod(bench.world, &def, 0);
        const FilSurface surface = fil_surface_default();
        must(fil_world_add_obstacle(bench.world, &floor, &surface, &number, &error), &error);
        for (int k = 0; k < 6000; k++) {
            (void)take_step(bench.world);
        }
        look(&bench);
        get_reaction(&bench, 0, false, force, moment);
        find_moment(&bench, rod, others);
        CHECK(force[1] < -0.5);
        for (int k = 0; k < 2; k++) { // what the radius does is 100 times as much
            CHECK_NEAR(moment[k], -others[k], 0.0, 3e-4);
        }
        finish(&bench);
    }
}

static void a_rod_that_is_not_there_has_no_reaction(void) {
    Bench bench = {.world = new_world(1e-3, g)};
    FilError error;
    double force[3], moment[3];
    CHECK(fil_world_reaction(bench.world, 0, false, force, moment, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "rod is 0; there are 0") == 0);
    finish(&bench);
}

#define TESTS(X)                                         \
    X(a_hanging_rod_carries_the_weight_below)            \
    X(a_weight_at_the_tip_pulls_all_along)               \
    X(joints_pull_too)                                   \
    X(a_column_is_compressed)                            \
    X(a_trunk_carries_its_branches)                      \
    X(a_rod_hung_by_its_tip_is_pulled_as_well)           \
    X(who_sleeps_carries_on)                             \
    X(a_rod_between_two_ends_is_pulled_or_pressed)       \
    X(what_cannot_be_known_is_finite)                    \
    X(a_whirling_rod_is_pulled_outward)                  \
    X(what_falls_freely_carries_nothing)                 \
    X(friction_on_a_post_adds_up)                        \
    X(elastic_energy_adds_up)                            \
    X(threads_do_not_change_a_bit)                       \
    X(flat_sections_have_sizes)                          \
    X(a_clamp_carries_what_a_joint_hands_on)             \
    X(a_clamp_and_a_floor_share_the_weight)              \
    X(friction_at_the_surface_twists_a_rod_in_its_clamp) \
    X(a_rod_that_is_not_there_has_no_reaction)
CHECK_MAIN(TESTS)
