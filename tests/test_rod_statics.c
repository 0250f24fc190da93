// Equilibria, stability, frequencies, held ends and changes of a rod, for every model.
#include "check.h"
#include "failing_allocator.h"
#include "math/vec3.h"
#include "rod/lengths.h"
#include "rod/rod.h"
#include "rod/statics.h"

#include <string.h>

static const double pi = 3.14159265358979323846;

// Length 1, EI = 1, GJ = 2/3, 1 kg/m, thin, clamped along x, no gravity.
static FilRodDef thin_def(FilRodModel model, int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.length = 1.0;
    def.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .bend = {1.0, 1.0},
                               .twist = 2.0 / 3.0,
                               .mass = 1.0,
                               .radius = 1e-2};
    def.gravity[2] = 0.0;
    return def;
}

static void must(FilStatus status, const FilError *error) {
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error->text);
        abort();
    }
}

static FilRod *make(const FilRodDef *def) {
    FilRod *rod = NULL;
    FilError error;
    must(fil_rod_create(def, NULL, &rod, &error), &error);
    return rod;
}

static FilStaticsInfo settle(FilRod *rod) {
    FilStaticsInfo info;
    FilError error;
    must(fil_rod_equilibrium(rod, NULL, &info, &error), &error);
    CHECK(info.converged && info.stable && info.residual <= 1e-10);
    if (!info.converged) {
        (void)fprintf(stderr, "  %s: %d iterations, residual %g, eigenvalue %g\n", rod->table->name,
                      info.iterations, info.residual, info.smallest_eigenvalue);
    }
    return info;
}

static FilStability look(FilRod *rod) {
    FilStability stability;
    FilError error;
    must(fil_rod_stability(rod, &stability, &error), &error);
    return stability;
}

static void step(FilRod *rod, double dt) {
    FilError error;
    must(fil_rod_step(rod, dt, NULL, &error), &error);
}

static double potential(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

static double distance(const double a[3], const double b[3]) {
    double d[3];
    fil_subtract3(a, b, d);
    return fil_norm3(d);
}

// Which of the models have frames.
static bool is_framed(FilRodModel model) {
    return model != FIL_ROD_CHAIN;
}

static bool is_reduced(FilRodModel model) {
    return model == FIL_ROD_HELIX || model == FIL_ROD_CLOTHOID;
}

// The root's axes: n0 along direction z times `sign`.
static void stand(FilRodDef *def, double sign) {
    FilPose root = {.axis = {{0.0, 0.0, sign}, {0.0, 1.0, 0.0}, {-sign, 0.0, 0.0}}};
    def->root = root;
}

// --- stability -----------------------------------------------------------------------------------

static void a_hanging_rod_is_stable(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        stand(&def, -1.0);
        def.gravity[2] = -20.0;
        FilRod *rod = make(&def);
        FilStaticsInfo info = settle(rod);
        FilStability stability = look(rod);
        CHECK(stability.stable && stability.residual <= 1e-10);
        CHECK(stability.smallest_eigenvalue > 0.9);
        CHECK_NEAR(stability.smallest_eigenvalue, info.smallest_eigenvalue, 1e-9, 0.0);
        fil_rod_destroy(rod);
    }
}

// A step or two of Newton's method shorten an upright rod that stretches as its weight does, and do
// not bend it yet.
static void compress(FilRod *rod) {
    for (int k = 0; k < 3 && look(rod).residual > 1e-10; k++) {
        FilStaticsSettings settings = {.tolerance = 1e-10, .max_iterations = 1};
        FilStaticsInfo info;
        FilError error;
        must(fil_rod_equilibrium(rod, &settings, &info, &error), &error);
        CHECK(!info.converged && !info.stable);
    }
}

// Greenhill: an upright rod buckles when its weight reaches 7.837 EI / L^2.
static void an_upright_rod_leaves_its_saddle_when_it_is_too_heavy(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        stand(&def, 1.0);
        def.gravity[2] = -7.0;
        FilRod *rod = make(&def);
        FilStaticsInfo light = settle(rod);
        FilPose tip;
        FilError error;
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(tip.axis[0][2], 1.0, 1e-12, 0.0);
        CHECK(light.smallest_eigenvalue > 0.0);

        must(fil_rod_set_gravity(rod, (double[3]){0.0, 0.0, -20.0}, &error), &error);
        compress(rod);
        FilStability upright = look(rod);
        double before = potential(rod);
        CHECK(!upright.stable && upright.smallest_eigenvalue < -1.5);
        CHECK(upright.residual < 1e-10);
        FilStaticsInfo fallen = settle(rod);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK(tip.position[2] < 0.5);
        CHECK(fallen.energy < before - 0.1);
        CHECK_NEAR(fallen.energy, potential(rod), 1e-12, 0.0);
        CHECK(look(rod).stable);
        fil_rod_destroy(rod);
    }
}

// The plane in which a pinned strut buckles costs nothing, nor does its turn about its axis.
static void hold_at_seven_tenths(void *user, double time, FilPose *pose) {
    (void)user;
    (void)time;
    *pose = (FilPose){.position = {0.7, 0.0, 0.0},
                      .axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
}

static FilRodDef strut_def(FilRodModel model, FilEndKind kind) {
    FilRodDef def = thin_def(model, 12);
    def.root_end.kind = kind;
    def.tip_end = (FilRodEnd){.kind = kind, .motion = hold_at_seven_tenths};
    return def;
}

static void neutral_equilibria_are_stable_with_an_eigenvalue_of_nearly_zero(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = strut_def((FilRodModel)m, FIL_END_PINNED);
        FilRod *rod = make(&def);
        FilStaticsInfo info = settle(rod);
        CHECK(info.stable && look(rod).stable);
        CHECK_NEAR(info.smallest_eigenvalue, 0.0, 0.0, 1e-8);
        fil_rod_destroy(rod);
    }
}

// --- held ends -----------------------------------------------------------------------------------

static void equilibria_keep_their_ends(void) {
    static const FilEndKind kinds[2] = {FIL_END_PINNED, FIL_END_CLAMPED};
    for (int k = 0; k < 2 * FIL_ROD_MODEL_COUNT; k++) {
        FilRodModel model = (FilRodModel)(k / 2);
        FilRodDef def = strut_def(model, kinds[k % 2]);
        def.gravity[2] = -9.81;
        FilRod *rod = make(&def);
        settle(rod);
        FilPose root, tip, held;
        hold_at_seven_tenths(NULL, 0.0, &held);
        fil_rod_at(rod, 0.0, &root, NULL);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(distance(root.position, def.root.position), 0.0, 0.0, 1e-9);
        CHECK_NEAR(distance(tip.position, held.position), 0.0, 0.0, 1e-9);
        // the frames of nodal models are those of edges: the clamp is on a ghost or half an edge
        for (int a = 0; kinds[k % 2] == FIL_END_CLAMPED && is_reduced(model) && a < 3; a++) {
            CHECK_NEAR(distance(root.axis[a], def.root.axis[a]), 0.0, 0.0, 1e-9);
            CHECK_NEAR(distance(tip.axis[a], held.axis[a]), 0.0, 0.0, 1e-9);
        }
        fil_rod_destroy(rod);
    }
}

// Goes round in the plane across x and turns about x.
static void swing(void *user, double time, FilPose *pose) {
    (void)user;
    double c = cos(3.0 * time), s = sin(3.0 * time);
    pose->position[1] += 0.1 * sin(5.0 * time);
    pose->position[2] += 0.1 * (1.0 - cos(5.0 * time));
    for (int k = 0; k < 3; k++) {
        double y = pose->axis[k][1], z = pose->axis[k][2];
        pose->axis[k][1] = c * y - s * z;
        pose->axis[k][2] = s * y + c * z;
    }
}

// Ends that are coordinates are where they are driven at the end of every step. The tip of a
// reduced rod is held by rows, linear in the step: it is off by the square of a step, and does not
// drift.
static void driven_ends_are_followed(void) {
    for (int k = 0; k < 4 * FIL_ROD_MODEL_COUNT; k++) {
        FilRodModel model = (FilRodModel)(k / 4);
        bool at_root = k % 2 == 0, exact = at_root || !is_reduced(model);
        FilEndKind kind = k % 4 < 2 ? FIL_END_CLAMPED : FIL_END_PINNED;
        FilRodDef def = thin_def(model, 6);
        def.start_curvatures = (double[18]){[1] = 2.0, [4] = 2.0, [7] = 1.0};
        def.start_count = 6;
        def.theta = k % 3 == 0 ? 0.5 : 1.0;
        def.damping = 0.01;
        *(at_root ? &def.root_end : &def.tip_end) = (FilRodEnd){.kind = kind, .motion = swing};
        FilRod *rod = make(&def);
        FilPose start, pose, held;
        fil_rod_at(rod, at_root ? 0.0 : 1.0, &start, NULL);
        for (int n = 0; n < 40; n++) {
            step(rod, 0.002);
            held = start;
            swing(NULL, fil_rod_time(rod), &held);
            fil_rod_at(rod, at_root ? 0.0 : 1.0, &pose, NULL);
            CHECK_NEAR(distance(pose.position, held.position), 0.0, 0.0, exact ? 1e-12 : 1e-5);
        }
        for (int a = 0; is_reduced(model) && kind == FIL_END_CLAMPED && a < 3; a++) {
            CHECK_NEAR(distance(pose.axis[a], held.axis[a]), 0.0, 0.0, exact ? 1e-12 : 1e-5);
        }
        fil_rod_destroy(rod);
    }
}

// Loads that stand for the rows of held ends give the generalised forces C^T lambda.
static void rows_of_held_ends_are_loads(void) {
    static const FilEndKind kinds[3] = {FIL_END_PINNED, FIL_END_SLIDING, FIL_END_CLAMPED};
    for (int k = 0; k < 3 * 3 * 3; k++) {
        static const FilRodModel models[3] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID, FIL_ROD_CORDE};
        FilRodDef def = thin_def(models[k / 9], 5);
        def.root_end.kind = kinds[k % 3];
        def.tip_end.kind = kinds[k / 3 % 3];
        def.start_curvatures = (double[15]){[1] = 2.0, [3] = 1.0, [8] = 3.0};
        def.start_count = 5;
        FilRod *rod = make(&def);
        int n = rod->dof_count, m = rod->row_count;
        double without[64], with[64], rows[FIL_ROD_ROWS * 64], error[FIL_ROD_ROWS];
        double lambda[FIL_ROD_ROWS];
        for (int i = 0; i < m; i++) {
            lambda[i] = 0.3 + 0.2 * i;
        }
        FilRodLoad loads[2];
        FilError why;
        rod->table->gradient(rod, without);
        must(fil_rod_set_loads(rod, loads, fil_rod_row_loads(rod, 0.0, lambda, loads), &why), &why);
        rod->table->gradient(rod, with);
        if (m > 0) {
            rod->table->end_rows(rod, 0.0, rows, error);
        }
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int i = 0; i < m; i++) {
                sum += lambda[i] * rows[i * n + j];
            }
            CHECK_NEAR(with[j] - without[j], sum, 1e-10, 1e-10);
        }
        fil_rod_destroy(rod);
    }
}

// --- loads ---------------------------------------------------------------------------------------

static void a_torque_at_the_tip_twists_a_straight_rod_by_its_length_over_the_stiffness(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        if (!is_framed((FilRodModel)m)) {
            continue;
        }
        FilRodDef def = thin_def((FilRodModel)m, 10);
        def.loads = &(FilRodLoad){.s = 1.0, .torque = {0.5, 0.0, 0.0}};
        def.load_count = 1;
        FilRod *rod = make(&def);
        settle(rod);
        FilPose tip;
        double kappa[3];
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(atan2(tip.axis[1][2], tip.axis[1][1]), 0.75, 1e-9, 0.0);
        fil_rod_curvature_at(rod, 4, 0.5, kappa);
        CHECK_NEAR(kappa[0], 0.75, 1e-9, 0.0);
        fil_rod_destroy(rod);
    }
}

static void loads_and_gravity_may_be_changed(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        FilRod *rod = make(&def);
        FilError error;
        FilRodEnergy energy;
        FilRodLoad loads[3] = {{.s = 1.0, .force = {0.0, 0.0, 1.0}},
                               {.s = 0.5, .force = {0.0, 0.0, 2.0}},
                               {.s = 0.0, .force = {0.0, 3.0, 0.0}}};
        must(fil_rod_set_loads(rod, loads, 3, &error), &error);
        must(fil_rod_set_gravity(rod, (double[3]){1.0, 0.0, 0.0}, &error), &error);
        FilStaticsInfo info = settle(rod);
        FilPose tip, middle;
        fil_rod_at(rod, 1.0, &tip, NULL);
        fil_rod_at(rod, 0.5, &middle, NULL);
        fil_rod_energy(rod, &energy);
        CHECK(tip.position[2] > 0.2);
        CHECK_NEAR(energy.loads, -tip.position[2] - 2.0 * middle.position[2], 1e-9, 0.0);
        CHECK_NEAR(info.energy, potential(rod), 1e-12, 0.0);
        must(fil_rod_set_loads(rod, NULL, 0, &error), &error);
        must(fil_rod_set_gravity(rod, (double[3]){0.0, 0.0, 0.0}, &error), &error);
        settle(rod);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(tip.position[2], 0.0, 0.0, 1e-8);
        fil_rod_destroy(rod);
    }
}

// --- torques -------------------------------------------------------------------------------------

// A dead moment across a cantilever bends it into an arc of curvature M / EI, here of up to two
// turns. The stiffness that is left is the same in all models.
static void a_dead_torque_bends_a_cantilever_by_up_to_two_turns(void) {
    static const double moments[4] = {1.0, 4.0, 9.0, 12.566370614359172};
    static const double softest[4] = {0.66462, 0.21929, 0.06845, 0.03877};
    for (int k = 0; k < 4 * FIL_ROD_CHAIN; k++) {
        FilRodDef def = thin_def((FilRodModel)(k / 4), 24);
        double M = moments[k % 4], kappa[3];
        def.loads = &(FilRodLoad){.s = 1.0, .torque = {0.0, M, 0.0}};
        def.load_count = 1;
        FilRod *rod = make(&def);
        FilStaticsInfo info = settle(rod);
        fil_rod_curvature_at(rod, 12, 0.5, kappa);
        CHECK_NEAR(kappa[1], M, def.model == FIL_ROD_DER ? 0.1 : 1e-8, 0.0);
        CHECK_NEAR(info.smallest_eigenvalue, softest[k % 4], 0.1, 0.0);
        CHECK(look(rod).stable && rod->loads[0].torque[1] == M);
        fil_rod_destroy(rod);
    }
}

// Bent and twisted, with torques at the tip, between frames and in the middle of an element.
static FilRod *make_torqued(FilRodModel model, FilEndKind root) {
    static const FilRodLoad loads[3] = {
        {.s = 1.0, .force = {1.0, 2.0, 3.0}, .torque = {0.5, -0.7, 1.0}},
        {.s = 0.37, .force = {-1.0, 0.2, 2.0}, .torque = {2.0, 0.8, -0.6}},
        {.s = 0.5, .torque = {0.0, 0.3, 0.8}}};
    FilRodDef def = thin_def(model, 5);
    def.section.radius = 0.1;
    def.section.bend[1] = 1.3;
    def.root_end.kind = root;
    def.gravity[1] = -4.0;
    def.loads = loads;
    def.load_count = 3;
    double start[15];
    for (int i = 0; i < 15; i++) {
        start[i] = 2.0 * sin(3.0 * i + 1.0);
    }
    def.start_curvatures = start;
    def.start_count = 5;
    return make(&def);
}

// (g(x + h v) - g(x - h v)) / 2 h, along `move`.
static void differentiate(FilRod *rod, const double *state, const double *v, double h,
                          double *out) {
    double dx[64], back[64];
    FilError error;
    int n = rod->dof_count;
    for (int side = 0; side < 2; side++) {
        must(fil_rod_set_state(rod, state, &error), &error);
        for (int i = 0; i < n; i++) {
            dx[i] = (side == 0 ? h : -h) * v[i];
        }
        rod->table->move(rod, dx);
        rod->table->gradient(rod, side == 0 ? out : back);
    }
    must(fil_rod_set_state(rod, state, &error), &error);
    for (int i = 0; i < n; i++) {
        out[i] = (out[i] - back[i]) / (2.0 * h);
    }
}

static void the_hessian_holds_the_symmetric_part_of_torques(void) {
    for (int k = 0; k < 2 * FIL_ROD_CHAIN; k++) {
        FilRod *rod = make_torqued((FilRodModel)(k / 2), k % 2 ? FIL_END_PINNED : FIL_END_CLAMPED);
        int n = rod->dof_count;
        double H[64 * 64] = {0.0}, v[64] = {0.0}, change[64], state[256], exact = 0.0, off[2];
        fil_rod_get_state(rod, state);
        rod->table->hessian(rod, H);
        for (int i = 0; i < n; i++) {
            v[i] = (is_reduced((FilRodModel)(k / 2)) ? 1.0 : 0.1) * sin(1.7 * i);
        }
        for (int i = 0; i < n * n; i++) {
            exact += v[i / n] * H[i] * v[i % n];
        }
        for (int half = 0; half < 2; half++) {
            differentiate(rod, state, v, half == 0 ? 2e-2 : 1e-2, change);
            off[half] = -exact;
            for (int i = 0; i < n; i++) {
                off[half] += v[i] * change[i];
            }
        }
        CHECK_NEAR(off[0] / off[1], 4.0, 0.02, 0.0);
        CHECK_NEAR(off[1], 0.0, 1e-4 * fabs(exact), 1e-4 * fabs(exact));
        fil_rod_destroy(rod);
    }
}

// At an equilibrium the Jacobian of the forces, unsymmetric, is what differences give.
static void the_jacobian_under_torques_is_that_of_the_forces(void) {
    for (int m = 0; m < FIL_ROD_CHAIN; m++) {
        FilRod *rod = make_torqued((FilRodModel)m, FIL_END_CLAMPED);
        settle(rod);
        FilArena arena = fil_arena_make(NULL);
        FilStatics s = {.rod = rod, .n = rod->dof_count, .circulates = true, .unit = 1.0};
        double change[64], v[64], state[256], worst = 0.0, twist = 0.0, largest = 0.0;
        if (!fil_statics_allocate(&s, &arena)) {
            abort();
        }
        fil_statics_measure(&s);
        fil_statics_place_hessian(&s, s.H);
        fil_rod_get_state(rod, state);
        for (int j = 0; j < s.n; j++) {
            memset(v, 0, sizeof v);
            v[j] = 1.0;
            differentiate(rod, state, v, 1e-5, change);
            for (int i = 0; i < s.n; i++) {
                largest = fmax(largest, fabs(change[i]));
                worst = fmax(worst, fabs(change[i] - s.J[i * s.n + j]));
                twist = fmax(twist, fabs(s.J[i * s.n + j] - s.J[j * s.n + i]));
            }
        }
        CHECK_NEAR(worst, 0.0, 0.0, 1e-7 * largest);
        CHECK(twist > 1e-2);
        fil_arena_destroy(&arena);
        fil_rod_destroy(rod);
    }
}

// --- every way to hold a rod ---------------------------------------------------------------------

enum { NO_LOAD, WEIGHT, PULL, CURL, CASES };

// Start curvatures that no equilibrium has.
static FilRodDef rough_def(FilRodModel model, int elements, int load, double *start) {
    static const FilRodLoad pull = {.s = 1.0, .force = {0.0, 1.0, -3.0}};
    FilRodDef def = thin_def(model, elements);
    for (int i = 0; i < 3 * elements; i++) {
        start[i] = 2.0 * sin(5.0 * i + 1.0);
    }
    def.start_curvatures = start;
    def.start_count = elements;
    def.gravity[2] = load == WEIGHT ? -9.81 : 0.0;
    def.loads = &pull;
    def.load_count = load == PULL ? 1 : 0;
    def.natural_curvature[1] = load == CURL && is_framed(model) ? 1.5 : 0.0;
    return def;
}

// All models, all ways to hold both ends, few and more elements: an equilibrium is found wherever
// there is one, and a rod that nothing holds stays where it is.
static void rods_settle_however_they_are_held(void) {
    static const int elements[3] = {1, 2, 5};
    for (int k = 0; k < FIL_ROD_MODEL_COUNT * 16 * 3 * CASES; k++) {
        int load = k % CASES, pair = k / CASES % 16, count = elements[k / CASES / 16 % 3];
        FilEndKind root = (FilEndKind)(pair / 4), tip = (FilEndKind)(pair % 4);
        bool falls = (root == FIL_END_FREE || tip == FIL_END_FREE) &&
                     (root % 2 == 0 && tip % 2 == 0) && (load == WEIGHT || load == PULL);
        double start[15];
        FilRodDef def = rough_def((FilRodModel)(k / CASES / 48), count, load, start);
        def.root_end.kind = root;
        def.tip_end.kind = tip;
        FilRod *rod = NULL;
        if (falls || fil_rod_create(&def, NULL, &rod, NULL) != FIL_OK) {
            continue; // a single element of der and chain is nothing when both its ends are held
        }
        FilPose before, after;
        fil_rod_at(rod, 1.0, &before, NULL);
        FilStaticsInfo info = settle(rod);
        fil_rod_at(rod, 1.0, &after, NULL);
        CHECK(isfinite(info.smallest_eigenvalue) && isfinite(info.energy));
        // two rails that are nearly parallel meet far away
        bool rails = root == FIL_END_SLIDING && tip == FIL_END_SLIDING;
        CHECK(rails || distance(before.position, after.position) < 2.1);
        fil_rod_destroy(rod);
    }
}

// A straight inextensible rod whose ends are as far apart as it is long would need infinite forces.
static void a_taut_rod_without_stretch_has_not_converged(void) {
    for (int m = 0; m <= FIL_ROD_CLOTHOID; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 4);
        def.root_end.kind = def.tip_end.kind = FIL_END_PINNED;
        def.gravity[2] = -9.81;
        FilRod *rod = make(&def);
        FilStaticsInfo info;
        FilError error;
        must(fil_rod_equilibrium(rod, NULL, &info, &error), &error);
        CHECK(!info.converged && isfinite(info.residual) && isfinite(info.smallest_eigenvalue));
        fil_rod_destroy(rod);
    }
}

// 1 for a rod without load; 0 when it may move as a whole.
static void the_eigenvalue_of_a_rod_without_load_is_one_or_zero(void) {
    static const FilEndKind ends[5][2] = {{FIL_END_CLAMPED, FIL_END_FREE},
                                          {FIL_END_PINNED, FIL_END_CLAMPED},
                                          {FIL_END_PINNED, FIL_END_FREE},
                                          {FIL_END_FREE, FIL_END_FREE},
                                          {FIL_END_SLIDING, FIL_END_FREE}};
    for (int k = 0; k < 5 * FIL_ROD_MODEL_COUNT; k++) {
        FilRodDef def = thin_def((FilRodModel)(k / 5), 30);
        def.root_end.kind = ends[k % 5][0];
        def.tip_end.kind = ends[k % 5][1];
        FilRod *rod = make(&def);
        FilStability stability = look(rod);
        CHECK(stability.stable);
        CHECK_NEAR(stability.smallest_eigenvalue, k % 5 < 2 ? 1.0 : 0.0, 1e-3, 1e-7);
        fil_rod_destroy(rod);
    }
}

static bool says(const FilError *error, const char *text) {
    if (strstr(error->text, text) != NULL) {
        return true;
    }
    (void)fprintf(stderr, "  said: %s\n", error->text);
    return false;
}

static void bad_changes_are_refused_and_change_nothing(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 4);
        FilRod *rod = make(&def);
        double before[256], after[256], table[15] = {0.0};
        FilError error;
        fil_rod_get_state(rod, before);
        CHECK(fil_rod_set_loads(rod, &(FilRodLoad){.s = 1.5}, 1, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "loads[0].s is 1.5"));
        CHECK(fil_rod_set_loads(rod, &(FilRodLoad){.force = {(double)NAN}}, 1, &error) ==
              FIL_E_ARGUMENT);
        CHECK(says(&error, "loads.force[0] is nan"));
        CHECK(fil_rod_set_loads(rod, NULL, 1, &error) == FIL_E_ARGUMENT);
        CHECK(fil_rod_set_loads(rod, NULL, -1, &error) == FIL_E_ARGUMENT);
        CHECK(fil_rod_set_gravity(rod, (double[3]){0.0, HUGE_VAL, 0.0}, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "gravity[1] is inf"));
        CHECK(fil_rod_set_length(rod, 0.0, &error) == FIL_E_ARGUMENT);
        CHECK(fil_rod_set_length(rod, (double)NAN, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "length is nan"));
        CHECK(fil_rod_set_natural(rod, table, 3, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "natural_curvatures has 3 places"));
        CHECK(fil_rod_set_natural(rod, NULL, 4, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "natural_curvatures"));
        if (!is_reduced(def.model)) { // the others have room for any number of turns
            table[4] = 30.0;
            CHECK(fil_rod_set_natural(rod, table, 5, &error) == FIL_E_ARGUMENT);
            CHECK(says(&error, "natural_curvatures"));
        }
        table[7] = (double)NAN;
        CHECK(fil_rod_set_natural(rod, table, 5, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "natural_curvatures[7] is nan"));
        memcpy(after, before, sizeof after);
        after[1] = -1.0;
        CHECK(fil_rod_set_state(rod, after, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "state[1], the length, is -1"));
        memcpy(after, before, sizeof after);
        after[4] = (double)NAN;
        CHECK(fil_rod_set_state(rod, after, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "state[4] is nan"));
        fil_rod_get_state(rod, after);
        CHECK(check_same_bits(before, after, sizeof(double) * (size_t)rod->state_count));
        CHECK(fil_rod_element_count(rod) == 4 && fil_rod_dof_count(rod) == rod->dof_count);
        fil_rod_destroy(rod);
    }
}

// --- natural shape, length, state ----------------------------------------------------------------

// A rod without load takes its natural shape: an arc of two radians.
static void a_new_natural_shape_is_taken(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        FilRod *rod = make(&def);
        FilError error;
        double table[33] = {0.0}, kappa[3];
        for (int k = 0; k < 11; k++) {
            table[3 * k + 2] = 2.0;
        }
        if (m == FIL_ROD_CHAIN) {
            CHECK(fil_rod_set_natural(rod, table, 11, &error) == FIL_E_ARGUMENT);
            CHECK(says(&error, "kappa2 = 2 in element 0; the model chain has no frames"));
        } else {
            for (int count = 10; count <= 11; count++) {
                must(fil_rod_set_natural(rod, table, count, &error), &error);
                settle(rod);
                FilPose tip;
                fil_rod_at(rod, 1.0, &tip, NULL);
                CHECK_NEAR(tip.position[1], (1.0 - cos(2.0)) / 2.0, 5e-3, 0.0);
                fil_rod_natural_at(rod, 3, 0.4, kappa);
                CHECK_NEAR(kappa[2], 2.0, 1e-15, 0.0);
                fil_rod_curvature_at(rod, 3, 0.5, kappa);
                CHECK_NEAR(kappa[2], 2.0, 5e-3, 0.0);
            }
        }
        fil_rod_destroy(rod);
    }
}

static void a_longer_rod_keeps_its_curvature(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        if (is_framed(def.model)) {
            def.natural_curvature[1] = 1.0;
        }
        FilRod *rod = make(&def);
        FilError error;
        must(fil_rod_set_length(rod, 1.5, &error), &error);
        CHECK(fil_rod_length(rod) == 1.5);
        settle(rod);
        FilPose tip;
        fil_rod_at(rod, 1.5, &tip, NULL);
        double high = is_framed(def.model) ? 1.0 - cos(1.5) : 0.0;
        CHECK_NEAR(fabs(tip.position[2]), high, 5e-3, 1e-9);
        fil_rod_destroy(rod);
    }
}

static void growth_lengthens_a_rod_as_stated(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.growth = 0.5;
        def.damping = 0.1;
        FilRod *rod = make(&def);
        for (int n = 1; n <= 100; n++) {
            step(rod, 0.005);
            CHECK_NEAR(fil_rod_length(rod), 1.0 + 0.5 * fil_rod_time(rod), 1e-14, 0.0);
        }
        FilPose tip;
        settle(rod);
        fil_rod_at(rod, fil_rod_length(rod), &tip, NULL);
        CHECK_NEAR(tip.position[0], 1.25, 1e-9, 0.0);
        fil_rod_destroy(rod);
    }
}

// A rod cannot shrink to nothing: that step fails, and the rod stays as it was.
static void a_rod_that_would_shrink_to_nothing_stays_as_it_was(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 4);
        def.growth = -10.0;
        FilRod *rod = make(&def);
        double before[256], after[256];
        FilError error;
        step(rod, 0.01);
        fil_rod_get_state(rod, before);
        CHECK(fil_rod_step(rod, 0.1, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "length"));
        fil_rod_get_state(rod, after);
        CHECK(check_same_bits(before, after, sizeof(double) * (size_t)rod->state_count));
        CHECK_NEAR(fil_rod_length(rod), 0.9, 1e-14, 0.0);
        fil_rod_destroy(rod);
    }
}

static void a_saved_state_goes_on_with_the_same_bits(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.gravity[2] = -9.81;
        def.growth = 0.1;
        def.theta = 0.6;
        FilRod *rod = make(&def), *other = make(&def);
        double saved[256], one[256], two[256];
        FilError error;
        for (int n = 0; n < 5; n++) {
            step(rod, 0.004);
        }
        fil_rod_get_state(rod, saved);
        must(fil_rod_set_state(other, saved, &error), &error);
        for (int n = 0; n < 5; n++) {
            step(rod, 0.004);
            step(other, 0.004);
        }
        fil_rod_get_state(rod, one);
        fil_rod_get_state(other, two);
        CHECK(check_same_bits(one, two, sizeof(double) * (size_t)fil_rod_state_count(rod)));
        must(fil_rod_set_state(rod, saved, &error), &error);
        for (int n = 0; n < 5; n++) {
            step(rod, 0.004);
        }
        fil_rod_get_state(rod, two);
        CHECK(check_same_bits(one, two, sizeof(double) * (size_t)fil_rod_state_count(rod)));
        fil_rod_destroy(rod);
        fil_rod_destroy(other);
    }
}

// --- settings ------------------------------------------------------------------------------------

static void a_limit_of_iterations_is_kept_and_is_no_error(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        for (int most = 0; most < 4; most++) {
            FilRodDef def = thin_def((FilRodModel)m, 10);
            def.gravity[2] = -50.0;
            FilRod *rod = make(&def);
            FilStaticsSettings settings = fil_statics_settings_default();
            FilStaticsInfo info;
            FilError error;
            settings.max_iterations = most;
            CHECK(fil_rod_equilibrium(rod, &settings, &info, &error) == FIL_OK);
            CHECK(info.iterations == most && !info.converged && info.residual > 1e-10);
            CHECK(isfinite(info.energy) && isfinite(info.smallest_eigenvalue));
            fil_rod_destroy(rod);
        }
    }
}

static void bad_settings_are_refused(void) {
    static const FilStaticsSettings bad[] = {{.tolerance = 0.0, .max_iterations = 10},
                                             {.tolerance = -1.0, .max_iterations = 10},
                                             {.tolerance = (double)NAN, .max_iterations = 10},
                                             {.tolerance = HUGE_VAL, .max_iterations = 10},
                                             {.tolerance = 1e-8, .max_iterations = -1}};
    FilRodDef def = thin_def(FIL_ROD_HELIX, 2);
    FilRod *rod = make(&def);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        FilError error;
        CHECK(fil_rod_equilibrium(rod, &bad[k], NULL, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, bad[k].max_iterations < 0 ? "max_iterations is -1" : "tolerance is"));
    }
    fil_rod_destroy(rod);
}

// --- frequencies ---------------------------------------------------------------------------------

// Without rotary inertia of the section, bending about the two axes differs by the stiffness alone.
static void an_ellipse_swings_about_its_axes_with_the_roots_of_the_stiffness(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        if (!is_framed(def.model)) {
            continue;
        }
        def.section = (FilSection){.kind = FIL_SECTION_ELLIPTIC,
                                   .radii = {2e-3, 3e-3},
                                   .young = 1e9,
                                   .poisson = 0.3,
                                   .density = 1000.0};
        FilRod *rod = make(&def);
        double frequency[2];
        FilError error;
        must(fil_rod_frequencies(rod, 2, frequency, &error), &error);
        const double *kappa = rod->sections[0].kappa;
        CHECK_NEAR(kappa[1] / kappa[2], 2.25, 1e-12, 0.0);
        double lower = sqrt(kappa[2] / rod->sections[0].mass);
        CHECK_NEAR(frequency[0], 3.51601527 * lower, 1e-2, 0.0);
        CHECK_NEAR(frequency[1] / frequency[0], 1.5, m == FIL_ROD_CORDE ? 2e-3 : 1e-8, 0.0);
        fil_rod_destroy(rod);
    }
}

// Small vibrations of an arch that its ends hold under load: the models agree as they converge.
static void an_arch_that_is_held_swings_alike_in_all_models(void) {
    double expected = 0.0;
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = strut_def((FilRodModel)m, FIL_END_CLAMPED);
        def.element_count = is_reduced(def.model) ? 20 : 60;
        def.gravity[1] = -9.81;
        FilRod *rod = make(&def);
        settle(rod);
        double frequency[3];
        FilError error;
        must(fil_rod_frequencies(rod, 3, frequency, &error), &error);
        expected = m == 0 ? frequency[0] : expected;
        CHECK_NEAR(frequency[0], expected, 1e-2, 0.0);
        fil_rod_destroy(rod);
    }
}

static void frequencies_of_what_cannot_vibrate_are_refused(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        stand(&def, 1.0);
        def.gravity[2] = -20.0;
        FilRod *rod = make(&def);
        compress(rod);
        double frequency[2] = {-1.0, -1.0};
        FilError error;
        CHECK(fil_rod_frequencies(rod, 2, frequency, &error) == FIL_E_ARGUMENT);
        CHECK(strcmp(error.text,
                     "the rod's shape is not a stable equilibrium; vibrations need one") == 0);
        CHECK(fil_rod_frequencies(rod, 0, frequency, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "count is 0"));
        CHECK(fil_rod_frequencies(rod, rod->dof_count + 1, frequency, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "degrees of freedom"));
        CHECK(frequency[0] == -1.0);
        fil_rod_destroy(rod);
    }
}

// --- memory --------------------------------------------------------------------------------------

static FilStatus ask(FilRod *rod, int question, FilError *error) {
    double frequency[2];
    FilStability stability;
    FilRodLoad loads[9] = {{.s = 0.0}};
    switch (question) {
    case 0:
        return fil_rod_equilibrium(rod, NULL, NULL, error);
    case 1:
        return fil_rod_stability(rod, &stability, error);
    case 2:
        return fil_rod_set_loads(rod, loads, 9, error);
    default:
        return fil_rod_frequencies(rod, 2, frequency, error);
    }
}

static void every_allocation_of_a_question_may_fail(void) {
    for (int k = 0; k < 4 * FIL_ROD_MODEL_COUNT; k++) {
        FailingAllocator memory = {0};
        const FilAllocator allocator = failing_allocator(&memory);
        FilRodDef def = strut_def((FilRodModel)(k / 4), FIL_END_CLAMPED);
        def.element_count = 30; // so that a block does not hold it all
        def.gravity[2] = -9.81; // against turning about the axis, which costs nothing
        FilRod *rod = NULL;
        FilError error;
        must(fil_rod_create(&def, &allocator, &rod, &error), &error);
        (void)settle(rod);
        int live = memory.live;
        for (int n = 1;; n++) {
            memory.failures = 0;
            memory.fail_at = memory.requests + n;
            FilStatus status = ask(rod, k % 4, &error);
            if (memory.failures == 0) {
                CHECK(status == FIL_OK);
                break;
            }
            CHECK(status == FIL_E_NO_MEMORY && says(&error, "there is no memory"));
            CHECK(memory.live == live);
        }
        fil_rod_destroy(rod);
        CHECK(failing_allocator_is_clean(&memory));
    }
}

static void every_allocation_of_a_rod_may_fail(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        for (int n = 1;; n++) {
            FailingAllocator memory = {.fail_at = n};
            const FilAllocator allocator = failing_allocator(&memory);
            FilRodDef def = strut_def((FilRodModel)m, FIL_END_CLAMPED);
            FilRod *rod = NULL;
            FilError error;
            FilStatus status = fil_rod_create(&def, &allocator, &rod, &error);
            fil_rod_destroy(rod);
            CHECK(failing_allocator_is_clean(&memory));
            if (memory.failures == 0) {
                CHECK(status == FIL_OK);
                break;
            }
            CHECK(status == FIL_E_NO_MEMORY && rod == NULL);
        }
    }
}

// --- fitting lengths -----------------------------------------------------------------------------

static double worst_length(int n, const double *lengths, const double *r) {
    double worst = 0.0;
    for (int j = 0; j < n; j++) {
        worst = fmax(worst, fabs(distance(r + 3 * j, r + 3 * j + 3) / lengths[j] - 1.0));
    }
    return worst;
}

static void a_polygon_is_fitted_between_its_ends(void) {
    enum { N = 8 };
    double lengths[N], r[3 * (N + 1)] = {0.0}, scratch[5 * N];
    const double first[3] = {0.1, 0.0, 0.2}, last[3] = {0.8, 0.3, 0.1};
    for (int j = 0; j < N; j++) {
        lengths[j] = 0.1 + 0.02 * (j % 3);
        double angle = 0.5 * pi * j / N;
        r[3 * j + 3] = r[3 * j] + lengths[j] * cos(angle);
        r[3 * j + 4] = r[3 * j + 1] + lengths[j] * sin(angle);
    }
    fil_lengths_fit(N, lengths, first, last, r, scratch);
    CHECK_NEAR(distance(r, first), 0.0, 0.0, 1e-15);
    CHECK_NEAR(distance(r + 3 * (ptrdiff_t)N, last), 0.0, 0.0, 1e-15);
    CHECK(worst_length(N, lengths, r) < 1e-12);

    double again[3 * (N + 1)];
    memcpy(again, r, sizeof again);
    fil_lengths_fit(N, lengths, first, last, again, scratch);
    for (int k = 0; k < 3 * (N + 1); k++) {
        CHECK_NEAR(again[k], r[k], 0.0, 1e-12); // what fits already stays
    }
}

// Ends that are too far apart, or on one spot, are met all the same; the lengths give way.
static void ends_are_met_even_where_the_lengths_cannot_be(void) {
    double lengths[4] = {0.25, 0.25, 0.25, 0.25}, scratch[20];
    for (int k = 0; k < 2; k++) {
        double r[15] = {[3] = 0.25, [6] = 0.5, [9] = 0.75, [12] = 1.0};
        const double first[3] = {0.0}, last[3] = {k == 0 ? 2.0 : 0.0, 0.0, 0.0};
        fil_lengths_fit(4, lengths, first, last, r, scratch);
        CHECK_NEAR(distance(r + 12, last), 0.0, 0.0, 1e-12);
        for (int i = 0; i < 15; i++) {
            CHECK(isfinite(r[i]) && fabs(r[i]) <= 4.0);
        }
    }
}

static void pull_away(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[0] += 0.1 * time;
}

static void scale_axes(void *user, double time, FilPose *pose) {
    (void)user;
    pose->axis[0][0] *= 1.0 + time;
}

// A straight inextensible rod between two clamps cannot be longer than it is.
static void a_step_whose_end_cannot_follow_has_not_converged(void) {
    for (int m = FIL_ROD_HELIX; m <= FIL_ROD_CLOTHOID; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.tip_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = pull_away};
        FilRod *rod = make(&def);
        FilRodStepInfo info;
        FilError error;
        must(fil_rod_step(rod, 0.1, &info, &error), &error);
        CHECK(!info.converged);
        CHECK_NEAR(info.residual, 0.01, 1e-6, 0.0);
        fil_rod_destroy(rod);
    }
}

static void driven_axes_must_be_orthonormal(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.root_end.motion = scale_axes;
        FilRod *rod = make(&def);
        FilError error = {0};
        CHECK(fil_rod_step(rod, 0.1, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(strstr(error.text, "root_end.motion: axis") != NULL);
        CHECK(fil_rod_time(rod) == 0.0);
        fil_rod_destroy(rod);
    }
}

// Free-free: six motions without resistance, then 22.373 of a free beam, twice.
static void a_free_rod_has_frequencies_of_zero_and_those_of_a_free_beam(void) {
    static const double allowed[FIL_ROD_MODEL_COUNT] = {2e-2, 1e-4, 2e-2, 2e-2, 2e-2};
    for (int m = 0; m < FIL_ROD_CHAIN; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 20);
        def.root_end.kind = FIL_END_FREE;
        def.section.radius = 1e-3;
        FilRod *rod = make(&def);
        double w[8];
        FilError error;
        must(fil_rod_frequencies(rod, 8, w, &error), &error);
        for (int k = 0; k < 6; k++) {
            CHECK_NEAR(w[k], 0.0, 0.0, 1e-3);
        }
        CHECK_NEAR(w[6], 22.3733, allowed[m], 0.0);
        CHECK_NEAR(w[7], 22.3733, allowed[m], 0.0);
        fil_rod_destroy(rod);
    }
}

static void a_shape_out_of_balance_is_not_called_stable(void) {
    FilRodDef def = thin_def(FIL_ROD_CLOTHOID, 10);
    def.natural_curvature[1] = 3.0;
    def.gravity[2] = -9.81;
    FilRod *rod = make(&def);
    FilStability s = look(rod);
    CHECK(s.residual > 0.1 && !s.stable);
    fil_rod_destroy(rod);
}

// A stiff hair that sticks out level and has not been given a step to sag is not at rest, although
// every motion costs energy.
static void what_is_not_at_rest_is_not_stable(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = fil_rod_def_default();
        def.model = (FilRodModel)model;
        def.length = 0.05;
        FilRod *rod = NULL;
        FilError error;
        FilStaticsInfo info;
        FilStaticsSettings settings = fil_statics_settings_default();
        settings.max_iterations = 0;
        must(fil_rod_create(&def, NULL, &rod, &error), &error);
        must(fil_rod_equilibrium(rod, &settings, &info, &error), &error);
        CHECK(info.residual > 1e-6 && info.smallest_eigenvalue > 0.5);
        CHECK(!info.converged && !info.stable);
        fil_rod_destroy(rod);
    }
}

#define TESTS(X)                                                                  \
    X(what_is_not_at_rest_is_not_stable)                                          \
    X(a_hanging_rod_is_stable)                                                    \
    X(an_upright_rod_leaves_its_saddle_when_it_is_too_heavy)                      \
    X(neutral_equilibria_are_stable_with_an_eigenvalue_of_nearly_zero)            \
    X(equilibria_keep_their_ends)                                                 \
    X(driven_ends_are_followed)                                                   \
    X(rows_of_held_ends_are_loads)                                                \
    X(a_torque_at_the_tip_twists_a_straight_rod_by_its_length_over_the_stiffness) \
    X(a_dead_torque_bends_a_cantilever_by_up_to_two_turns)                        \
    X(the_hessian_holds_the_symmetric_part_of_torques)                            \
    X(the_jacobian_under_torques_is_that_of_the_forces)                           \
    X(rods_settle_however_they_are_held)                                          \
    X(a_taut_rod_without_stretch_has_not_converged)                               \
    X(the_eigenvalue_of_a_rod_without_load_is_one_or_zero)                        \
    X(loads_and_gravity_may_be_changed)                                           \
    X(bad_changes_are_refused_and_change_nothing)                                 \
    X(a_new_natural_shape_is_taken)                                               \
    X(a_longer_rod_keeps_its_curvature)                                           \
    X(growth_lengthens_a_rod_as_stated)                                           \
    X(a_rod_that_would_shrink_to_nothing_stays_as_it_was)                         \
    X(a_saved_state_goes_on_with_the_same_bits)                                   \
    X(a_limit_of_iterations_is_kept_and_is_no_error)                              \
    X(bad_settings_are_refused)                                                   \
    X(an_ellipse_swings_about_its_axes_with_the_roots_of_the_stiffness)           \
    X(an_arch_that_is_held_swings_alike_in_all_models)                            \
    X(frequencies_of_what_cannot_vibrate_are_refused)                             \
    X(every_allocation_of_a_question_may_fail)                                    \
    X(every_allocation_of_a_rod_may_fail)                                         \
    X(a_polygon_is_fitted_between_its_ends)                                       \
    X(ends_are_met_even_where_the_lengths_cannot_be)                              \
    X(a_step_whose_end_cannot_follow_has_not_converged)                           \
    X(driven_axes_must_be_orthonormal)                                            \
    X(a_free_rod_has_frequencies_of_zero_and_those_of_a_free_beam)                \
    X(a_shape_out_of_balance_is_not_called_stable)

CHECK_MAIN(TESTS)
