// Rods that are shot at things stay on their side, at any speed and step, and overlap by no more
// than is promised; what does not hold is counted.
#include "check.h"
#include "mesh_shapes.h"
#include "world_bench.h"

#include "base/random.h"

static const double radius = 0.004; // of rods, m
enum { ELEMENTS = 10, PIECES = 2 }; // capsules of an element

static FilWorld *begin(double step, int max_halvings) {
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.max_halvings = max_halvings;
    def.solver.thread_count = 1;
    memset(def.gravity, 0, sizeof def.gravity);
    return make_world(&def, 0.3, 0.0);
}

static void add_obstacle(FilWorld *world, FilShape shape, FilPose pose) {
    const FilSurface surface = fil_surface_default();
    FilObstacleDef def = {.shape = shape, .pose = pose};
    FilError error;
    int obstacle;
    must(fil_world_add_obstacle(world, &def, &surface, &obstacle, &error), &error);
}

// A free rod of 1 m and rubber, about along x and 0.05 to 0.4 m above the origin, that flies down.
static FilRod *shoot(FilWorld *world, FilRodModel model, double speed, FilRandom *random) {
    FilRodDef def = log_def(model, fil_random_uniform(random, 0.12, 0.4));
    FilError error;
    def.element_count = ELEMENTS;
    def.section.radius = radius;
    def.section.density = 1000.0;
    def.section.young = 1e6 * pow(1000.0, fil_random_uniform(random, 0.0, 1.0));
    def.root.position[0] = -0.5 + fil_random_uniform(random, -0.2, 0.2);
    const double tilt = fil_random_uniform(random, -0.1, 0.1);
    const double axes[3][3] = {
        {cos(tilt), 0.0, sin(tilt)}, {0.0, 1.0, 0.0}, {-sin(tilt), 0.0, cos(tilt)}};
    memcpy(def.root.axis, axes, sizeof axes);
    FilRod *rod = add_rod(world, &def, PIECES);
    const double velocity[3] = {0.0, 0.0, -speed};
    double spin[3];
    for (int k = 0; k < 3; k++) {
        spin[k] = fil_random_uniform(random, -3.0, 3.0);
    }
    must(fil_rod_launch(rod, velocity, spin, &error), &error);
    return rod;
}

// Of the ends of its capsules, between which a rod that is bent sharply bulges out of them: the
// lowest that is not beside the sheet.
static double lowest_of(const FilRod *rod) {
    double lowest = HUGE_VAL;
    for (int i = 0; i <= ELEMENTS * PIECES; i++) {
        FilPose pose;
        fil_rod_at(rod, fil_rod_length(rod) * i / (ELEMENTS * PIECES), &pose, NULL);
        if (fabs(pose.position[0]) < 0.8 && fabs(pose.position[1]) < 0.25) {
            lowest = fmin(lowest, pose.position[2]);
        }
    }
    return lowest;
}

// What came of some steps.
typedef struct Shot {
    int missed, pressed, steps;
    double deepest; // m
    bool refused;   // a step could not be done, and it was said
} Shot;

static Shot run(FilWorld *world, double seconds, double step) {
    Shot shot = {0};
    FilError error;
    FilStepInfo info;
    for (; shot.steps * step < seconds && !shot.refused; shot.steps++) {
        shot.refused = fil_world_step(world, &info, &error) != FIL_OK;
        if (!shot.refused) {
            shot.missed += info.missed_count;
            shot.pressed += info.pressed_count;
            shot.deepest = fmax(shot.deepest, info.penetration);
        }
    }
    return shot;
}

enum { PLATE, BARS, BALLS, LOGS, TARGETS };

// A log across, of 0.04 m and steel, held at both ends.
static void add_log(FilWorld *world, double x) {
    const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    FilRodDef def = log_def(FIL_ROD_DER, -0.02);
    def.element_count = 3;
    def.length = 0.6;
    def.section.radius = 0.02;
    def.section.density = 8000.0;
    def.section.young = 2e11;
    memcpy(def.root.axis, y, sizeof y);
    def.root.position[0] = x;
    def.root.position[1] = -0.3;
    def.root_end.kind = def.tip_end.kind = FIL_END_CLAMPED;
    (void)add_rod(world, &def, 1);
}

// A sheet at z <= 0 that has no holes: a plate of 2 mm, bars, balls or logs that touch each other.
static void add_sheet(FilWorld *world, int kind) {
    const FilShape plate = {.kind = FIL_SHAPE_BOX, .size = {9.0, 9.0, 0.002}};
    const FilShape bar = {.kind = FIL_SHAPE_CAPSULE, .radius = 0.02, .length = 9.0};
    const FilShape ball = {.kind = FIL_SHAPE_SPHERE, .radius = 0.05};
    FilPose across = pose_at(0.0, 0.0, -0.02);
    const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    memcpy(across.axis, y, sizeof y);
    if (kind == PLATE) {
        add_obstacle(world, plate, pose_at(0.0, 0.0, -0.001));
    }
    for (int i = -40; kind == BARS && i <= 40; i++) {
        across.position[0] = 0.04 * i;
        add_obstacle(world, bar, across);
    }
    for (int i = -22; kind == LOGS && i <= 22; i++) {
        add_log(world, 0.0401 * i);
    }
    for (int i = -12; kind == BALLS && i <= 12; i++) {
        for (int j = -4; j <= 4; j++) {
            add_obstacle(world, ball, pose_at(0.07 * i, 0.07 * j, -0.05));
        }
    }
}

static void rods_at_200_m_s_do_not_pass_through_a_thin_sheet(void) {
    static const double hidden[TARGETS] = {0.002, 0.04, 0.1, 0.04}; // m: how thick it is
    FilRandom random = fil_random_make(51);
    for (int trial = 0; trial < 6 * FIL_ROD_MODEL_COUNT * TARGETS; trial++) {
        const FilRodModel model = (FilRodModel)(trial % FIL_ROD_MODEL_COUNT);
        const int target = trial / FIL_ROD_MODEL_COUNT % TARGETS;
        const double step = 1e-3 * pow(20.0, fil_random_uniform(&random, 0.0, 1.0));
        const double speed = 50.0 * pow(4.0, fil_random_uniform(&random, 0.0, 1.0));
        FilWorld *world = begin(step, 8);
        add_sheet(world, target);
        const FilRod *rod = shoot(world, model, speed, &random);
        const Shot shot = run(world, 0.5 / speed + step, step);
        const bool through = lowest_of(rod) < -0.5 * hidden[target];
        // rods whose velocity terms are explicit gain energy on impact, and may be lost; then it is
        // told
        const bool explicit_terms = model == FIL_ROD_HELIX || model == FIL_ROD_CLOTHOID;
        CHECK(!through || shot.missed > 0);
        CHECK(explicit_terms || (!shot.refused && shot.missed == 0 && shot.pressed == 0));
        fil_world_destroy(world);
    }
}

static void sample(const FilRod *rod, double points[][3], int count) {
    for (int i = 0; i < count; i++) {
        FilPose pose;
        fil_rod_at(rod, fil_rod_length(rod) * i / (count - 1), &pose, NULL);
        memcpy(points[i], pose.position, sizeof pose.position);
    }
}

// Nothing is known of a rod's way but its steps: where one is not cut the points go on lines, and
// whether they went through a bar can be seen by looking often.
static bool went_through(const double before[][3], const double after[][3], int count) {
    bool through = false;
    for (int i = 0; i + 1 < count; i++) {
        // the bar is the y axis: where is the origin beside the moving segment, in x and z
        bool side = false;
        for (int k = 0; k <= 400; k++) {
            const double t = k / 400.0;
            double p[2][2];
            for (int end = 0; end < 2; end++) {
                p[end][0] = (1.0 - t) * before[i + end][0] + t * after[i + end][0];
                p[end][1] = (1.0 - t) * before[i + end][2] + t * after[i + end][2];
            }
            const double cross = p[0][0] * p[1][1] - p[0][1] * p[1][0];
            const bool beside = (p[0][0] < 0.0) != (p[1][0] < 0.0); // above or below the axis
            through = through || (k > 0 && beside && (cross > 0.0) != side);
            side = beside ? cross > 0.0 : side;
            if (!beside && k < 400) { // it may come beside the axis on either side of it
                const double next = (k + 1) / 400.0;
                double q[2][2];
                for (int end = 0; end < 2; end++) {
                    q[end][0] = (1.0 - next) * before[i + end][0] + next * after[i + end][0];
                    q[end][1] = (1.0 - next) * before[i + end][2] + next * after[i + end][2];
                }
                side = q[0][0] * q[1][1] - q[0][1] * q[1][0] > 0.0;
            }
        }
    }
    return through;
}

// With no halving allowed a violent step may not be mended: then the rod is held at the bar, and
// that is counted.
static void a_rod_that_would_go_through_a_bar_is_held(void) {
    enum { POINTS = ELEMENTS * PIECES + 1 }; // the ends of its capsules
    FilRandom random = fil_random_make(52);
    int through_count = 0, missed_count = 0, held_count = 0;
    for (int trial = 0; trial < 200; trial++) {
        const FilRodModel model = trial % 2 == 0 ? FIL_ROD_DER : FIL_ROD_CHAIN;
        const double step = 1e-3 * pow(20.0, fil_random_uniform(&random, 0.0, 1.0));
        FilWorld *world = begin(step, 0);
        const FilShape bar = {.kind = FIL_SHAPE_CAPSULE, .radius = 5e-4, .length = 9.0};
        FilPose across = pose_at(0.0, 0.0, 0.0);
        const double y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        memcpy(across.axis, y, sizeof y);
        add_obstacle(world, bar, across);
        const FilRod *rod = shoot(world, model, fil_random_uniform(&random, 20.0, 2000.0), &random);
        for (int k = 0; k < 8; k++) {
            double before[POINTS][3], after[POINTS][3];
            FilStepInfo info;
            FilError error;
            sample(rod, before, POINTS);
            if (fil_world_step(world, &info, &error) != FIL_OK) {
                break;
            }
            sample(rod, after, POINTS);
            through_count +=
                went_through((const double(*)[3])before, (const double(*)[3])after, POINTS);
            missed_count += info.missed_count;
            held_count += info.slowed_count;
        }
        fil_world_destroy(world);
    }
    CHECK(through_count == 0 && missed_count == 0);
    CHECK(held_count > 0); // or there was nothing to hold
}

// --- heaps that land -----------------------------------------------------------------------------

enum { HEAP = 64 };

// Logs, four side by side in a layer, that will fall on each other.
static FilWorld *stack(const FilRodModel *models, int model_count, int count) {
    FilRandom random = fil_random_make(53);
    FilWorldDef def = fil_world_def_default();
    def.step = 2e-3;
    def.solver.thread_count = 1;
    def.solver.tolerance = 1e-6;
    FilWorld *world = make_world(&def, 0.4, 0.0);
    (void)add_floor(world);
    for (int i = 0; i < count; i++) {
        const int layer = i / 4;
        FilRodDef rod = log_def(models[i % model_count], 0.5 + 0.02 * layer);
        const double angle = 1.9 * layer + fil_random_uniform(&random, -0.03, 0.03);
        const double axes[3][3] = {
            {cos(angle), sin(angle), 0.0}, {-sin(angle), cos(angle), 0.0}, {0.0, 0.0, 1.0}};
        const double off = 0.05 * (i % 4 - 1.5);
        memcpy(rod.root.axis, axes, sizeof axes);
        rod.root.position[0] = -off * sin(angle) - 0.15 * cos(angle);
        rod.root.position[1] = off * cos(angle) - 0.15 * sin(angle);
        rod.length = 0.3;
        rod.element_count = 6;
        rod.section.radius = 0.005;
        rod.section.density = 1000.0;
        rod.section.young = 1e8;
        (void)add_rod(world, &rod, 2);
    }
    return world;
}

static double energy_of(FilWorld *world, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        FilRodEnergy energy;
        fil_rod_energy(fil_world_rod(world, i), &energy);
        sum += energy.kinetic + energy.bend + energy.twist + energy.stretch + energy.gravity;
    }
    return sum;
}

// From half a metre: 2 ms steps, 3 m/s, more than a radius a step. While they land logs overlap by
// a twentieth of a radius at most, and what takes them apart gives them no energy.
static void logs_that_land_in_a_heap_overlap_by_a_twentieth_of_a_radius(void) {
    const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_CHAIN, FIL_ROD_CORDE};
    FilWorld *world = stack(models, 3, HEAP);
    const double start = energy_of(world, HEAP);
    double deepest = 0.0, most_gain = 0.0, before = start;
    int mended = 0;
    for (int k = 0; k < 260; k++) {
        const FilStepInfo info = take_step(world);
        const double energy = energy_of(world, HEAP);
        CHECK(info.missed_count == 0 && info.pressed_count == 0);
        mended += info.added_count;
        deepest = fmax(deepest, info.penetration);
        most_gain = fmax(most_gain, energy - before);
        before = energy;
    }
    CHECK(deepest <= 0.05 * 0.005);
    CHECK(mended > 0); // or there was nothing to show
    CHECK(most_gain <= 1e-5 * start);
    fil_world_destroy(world);
}

// The same of rods of few unknowns, which roll while they bend.
static void curved_elements_that_land_overlap_by_a_twentieth_of_a_radius(void) {
    const FilRodModel models[] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID};
    FilWorld *world = stack(models, 2, HEAP / 4);
    const Shot shot = run(world, 0.45, 2e-3);
    CHECK(!shot.refused && shot.missed == 0 && shot.pressed == 0);
    CHECK(shot.deepest <= 0.05 * 0.005);
    fil_world_destroy(world);
}

// Taking overlaps out depends on nothing but the state: another world goes on from it to the bit.
static void a_heap_that_lands_goes_on_to_the_bit(void) {
    const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_CLOTHOID};
    FilWorld *first = stack(models, 2, HEAP / 4);
    int mended = 0;
    FilError error;
    for (int k = 0; k < 162; k++) {
        (void)take_step(first);
    }
    FilWorld *second = stack(models, 2, HEAP / 4);
    int64_t count = fil_world_state_count(first);
    double *state = malloc(sizeof(double) * (size_t)count);
    fil_world_get_state(first, state);
    must(fil_world_set_state(second, state, count, &error), &error);
    free(state);
    for (int k = 0; k < 20; k++) {
        mended += take_step(first).added_count;
        (void)take_step(second);
    }
    count = fil_world_state_count(first);
    CHECK(count == fil_world_state_count(second));
    double *states = malloc(2 * sizeof(double) * (size_t)count);
    fil_world_get_state(first, states);
    fil_world_get_state(second, states + count);
    CHECK(memcmp(states, states + count, sizeof(double) * (size_t)count) == 0);
    CHECK(mended > 0); // or there was nothing to show
    free(states);
    fil_world_destroy(first);
    fil_world_destroy(second);
}

#define TESTS(X)                                                    \
    X(rods_at_200_m_s_do_not_pass_through_a_thin_sheet)             \
    X(a_rod_that_would_go_through_a_bar_is_held)                    \
    X(logs_that_land_in_a_heap_overlap_by_a_twentieth_of_a_radius)  \
    X(curved_elements_that_land_overlap_by_a_twentieth_of_a_radius) \
    X(a_heap_that_lands_goes_on_to_the_bit)

CHECK_MAIN(TESTS)
