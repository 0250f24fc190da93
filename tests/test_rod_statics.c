// Equilibria, stability and frequencies of a rod, for every model.
#include "rod/statics.h"
#include "statics_rods.h"

// --- stability -----------------------------------------------------------------------------------

static void a_hanging_rod_is_stable(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        stand(&def, -1.0);
        def.gravity[2] = -20.0;
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
static void neutral_equilibria_are_stable_with_an_eigenvalue_of_nearly_zero(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = strut_def((FilRodModel)m, FIL_END_PINNED);
        FilRod *rod = make_rod(&def);
        FilStaticsInfo info = settle(rod);
        CHECK(info.stable && look(rod).stable);
        CHECK_NEAR(info.smallest_eigenvalue, 0.0, 0.0, 1e-8);
        fil_rod_destroy(rod);
    }
}

static void a_shape_out_of_balance_is_not_called_stable(void) {
    FilRodDef def = thin_def(FIL_ROD_CLOTHOID, 10);
    def.natural_curvature[1] = 3.0;
    def.gravity[2] = -9.81;
    FilRod *rod = make_rod(&def);
    FilStability s = look(rod);
    CHECK(s.residual > 0.1 && !s.stable);
    fil_rod_destroy(rod);
}

// --- torques -------------------------------------------------------------------------------------

static void a_torque_at_the_tip_twists_a_straight_rod_by_its_length_over_the_stiffness(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        if (is_framed((FilRodModel)m)) {
            check_twist(thin_def((FilRodModel)m, 10));
        }
    }
}

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
        FilRod *rod = make_rod(&def);
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
    return make_rod(&def);
}

// (g(x + h v) - g(x - h v)) / 2 h, along `move`.
static void differentiate(FilRod *rod, const double *state, const double *v, double h,
                          double *out) {
    double dx[64], back[64] = {0.0};
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
        FilStability stability = look(rod);
        CHECK(stability.stable);
        CHECK_NEAR(stability.smallest_eigenvalue, k % 5 < 2 ? 1.0 : 0.0, 1e-3, 1e-7);
        fil_rod_destroy(rod);
    }
}

// --- settings ------------------------------------------------------------------------------------

static void a_limit_of_iterations_is_kept_and_is_no_error(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        for (int most = 0; most < 4; most++) {
            FilRodDef def = thin_def((FilRodModel)m, 10);
            def.gravity[2] = -50.0;
            FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
        compress(rod);
        double frequency[2] = {-1.0, -1.0};
        FilError error;
        CHECK(fil_rod_frequencies(rod, 2, frequency, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "not a stable equilibrium: the smallest eigenvalue is -"));
        CHECK(fil_rod_frequencies(rod, 0, frequency, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "count is 0"));
        CHECK(fil_rod_frequencies(rod, rod->dof_count + 1, frequency, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "degrees of freedom"));
        CHECK(frequency[0] == -1.0);
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
        FilRod *rod = make_rod(&def);
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

// A stiff hair that sticks out level and has not been given a step to sag is not at rest, although
// every motion costs energy.
static void what_is_not_at_rest_is_not_stable(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = fil_rod_def_default();
        def.model = (FilRodModel)model;
        def.length = 0.05;
        FilRod *rod = make_rod(&def);
        FilError error;
        FilStaticsInfo info;
        FilStaticsSettings settings = fil_statics_settings_default();
        settings.max_iterations = 0;
        must(fil_rod_equilibrium(rod, &settings, &info, &error), &error);
        CHECK(info.residual > 1e-6 && info.smallest_eigenvalue > 0.5);
        CHECK(!info.converged && !info.stable);
        fil_rod_destroy(rod);
    }
}

// A flat curl of a turn and a half unrolls under its weight and leaves its plane: a long way.
static void a_curl_finds_its_equilibrium_in_every_model(void) {
    const FilRodModel framed[4] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID, FIL_ROD_DER, FIL_ROD_CORDE};
    for (int k = 0; k < 4; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = framed[k];
        def.element_count = 40;
        def.length = 0.25;
        def.natural_curvature[1] = 40.0;
        FilRod *rod = make_rod(&def);
        (void)settle(rod);
        FilPose tip;
        fil_rod_at(rod, def.length, &tip, NULL);
        CHECK_NEAR(tip.position[0], 0.01664, 0.0, 1.1e-3);
        CHECK_NEAR(tip.position[2], -0.12055, 0.0, 1.1e-3);
        fil_rod_destroy(rod);
    }
}

#define TESTS(X)                                                                  \
    X(a_curl_finds_its_equilibrium_in_every_model)                                \
    X(what_is_not_at_rest_is_not_stable)                                          \
    X(a_hanging_rod_is_stable)                                                    \
    X(an_upright_rod_leaves_its_saddle_when_it_is_too_heavy)                      \
    X(neutral_equilibria_are_stable_with_an_eigenvalue_of_nearly_zero)            \
    X(a_torque_at_the_tip_twists_a_straight_rod_by_its_length_over_the_stiffness) \
    X(a_dead_torque_bends_a_cantilever_by_up_to_two_turns)                        \
    X(the_hessian_holds_the_symmetric_part_of_torques)                            \
    X(the_jacobian_under_torques_is_that_of_the_forces)                           \
    X(rods_settle_however_they_are_held)                                          \
    X(a_taut_rod_without_stretch_has_not_converged)                               \
    X(the_eigenvalue_of_a_rod_without_load_is_one_or_zero)                        \
    X(a_limit_of_iterations_is_kept_and_is_no_error)                              \
    X(bad_settings_are_refused)                                                   \
    X(an_ellipse_swings_about_its_axes_with_the_roots_of_the_stiffness)           \
    X(an_arch_that_is_held_swings_alike_in_all_models)                            \
    X(frequencies_of_what_cannot_vibrate_are_refused)                             \
    X(a_free_rod_has_frequencies_of_zero_and_those_of_a_free_beam)                \
    X(a_shape_out_of_balance_is_not_called_stable)

CHECK_MAIN(TESTS)
