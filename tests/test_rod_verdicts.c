// Whether a rod is stable, and how it vibrates: one verdict, whoever is asked. Motions that cost
// nothing are counted from how the rod is held and what acts on it.
#include "rod/zero_modes.h"
#include "statics_rods.h"

// How a rod is held, and the motions that cost it nothing: of straight rods with frames, of curls,
// of straight chains; without gravity and hanging (-1: it would fall, or is not tried).
typedef struct Held {
    FilEndKind root, tip;
    int free[3], hanging[3];
} Held;

static const Held cases[] = {
    {FIL_END_FREE, FIL_END_FREE, {6, 6, 5}, {-1, -1, -1}},
    {FIL_END_PINNED, FIL_END_FREE, {3, 3, 2}, {1, 1, 0}},
    {FIL_END_FREE, FIL_END_PINNED, {3, 3, 2}, {-1, -1, -1}},
    {FIL_END_SLIDING, FIL_END_FREE, {1, 1, 1}, {-1, -1, -1}},
    {FIL_END_FREE, FIL_END_SLIDING, {1, 1, 1}, {-1, -1, -1}},
    {FIL_END_PINNED, FIL_END_PINNED, {1, 1, 0}, {-1, -1, -1}},
    {FIL_END_CLAMPED, FIL_END_FREE, {0, 0, 0}, {0, 0, 0}},
    {FIL_END_CLAMPED, FIL_END_PINNED, {0, 0, 0}, {-1, -1, -1}},
};
enum { CASES = sizeof cases / sizeof *cases, RADII = 4 };

// A hair of 0.2 m whose radius is 10 um to 10 mm: stiffness over 12 decades.
static FilRodDef hair_def(FilRodModel model, const Held *held, double radius, bool curled,
                          bool hanging) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = 6;
    def.section.radius = radius;
    def.root_end.kind = held->root;
    def.tip_end.kind = held->tip;
    def.natural_curvature[0] = curled ? 10.0 : 0.0;
    def.natural_curvature[1] = curled ? 20.0 : 0.0;
    def.gravity[2] = hanging ? -9.81 : 0.0;
    if (hanging) {
        stand(&def, -1.0);
    }
    return def;
}

static int count_zero(FilRod *rod, double *modes) {
    const size_t n = (size_t)rod->dof_count;
    double *mass = malloc(sizeof(double) * n * n);
    if (mass == NULL) {
        abort();
    }
    rod->table->mass(rod, mass);
    const int count = fil_rod_zero_modes(rod, mass, modes);
    free(mass);
    return count;
}

// What H makes of a motion that costs nothing, beside what it makes of others.
static double resistance(FilRod *rod, const double *mode) {
    const int n = rod->dof_count;
    double *H = malloc(sizeof(double) * (size_t)n * (size_t)n), worst = 0.0;
    if (H == NULL) {
        abort();
    }
    rod->table->hessian(rod, H);
    for (int i = 0; i < n; i++) {
        double sum = 0.0, parts = 0.0;
        for (int k = 0; k < n; k++) {
            sum += H[i * n + k] * mode[k];
            parts += fabs(H[i * n + k] * mode[k]);
        }
        worst = fmax(worst, parts > 0.0 ? fabs(sum) / parts : 0.0);
    }
    free(H);
    return worst;
}

static void check_verdict(FilRodDef def, int zero) {
    FilRod *rod = make_rod(&def);
    FilStaticsInfo info = settle(rod);
    FilStability stability = look(rod);
    FilError error;
    double modes[FIL_ZERO_MODES * 128], frequencies[12];
    CHECK(rod->dof_count <= 128);
    CHECK(count_zero(rod, modes) == zero);
    CHECK(stability.stable);
    CHECK((stability.smallest_eigenvalue == 0.0) == (zero > 0));
    CHECK_NEAR(stability.smallest_eigenvalue, info.smallest_eigenvalue, 1e-9, 0.0);
    must(fil_rod_frequencies(rod, zero + 3, frequencies, &error), &error);
    for (int k = 0; k < zero + 3; k++) {
        CHECK(k < zero ? frequencies[k] == 0.0 : frequencies[k] > 1e-3);
    }
    fil_rod_destroy(rod);
}

static void what_costs_nothing_follows_from_how_a_rod_is_held(void) {
    for (int k = 0; k < FIL_ROD_MODEL_COUNT * CASES * RADII * 2; k++) {
        const FilRodModel model = (FilRodModel)(k % FIL_ROD_MODEL_COUNT);
        const Held *held = &cases[k / FIL_ROD_MODEL_COUNT % CASES];
        const double radius = 1e-5 * pow(10.0, k / FIL_ROD_MODEL_COUNT / CASES % RADII);
        const bool curled = k / FIL_ROD_MODEL_COUNT / CASES / RADII == 1;
        const int kind = !is_framed(model) ? 2 : curled ? 1 : 0;
        if (curled && !is_framed(model)) {
            continue;
        }
        check_verdict(hair_def(model, held, radius, curled, false), held->free[kind]);
        if (held->hanging[kind] >= 0) {
            check_verdict(hair_def(model, held, radius, curled, true), held->hanging[kind]);
        }
    }
}

// A strut between pins, bent to one side: its plane costs nothing, nor does a shaft's turn inside.
static void a_bent_shaft_turns_inside_its_shape(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        check_verdict(strut_def((FilRodModel)m, FIL_END_PINNED), is_framed((FilRodModel)m) ? 2 : 1);
        if (!is_framed((FilRodModel)m)) {
            continue;
        }
        FilRodDef flat = strut_def((FilRodModel)m, FIL_END_PINNED);
        flat.section.bend[1] = 2.0; // a ribbon does not
        check_verdict(flat, 1);
    }
}

// Between clamps a frame is held; a chain, which has none, turns about the line between them.
static void a_chain_turns_about_its_clamps(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = strut_def((FilRodModel)m, FIL_END_CLAMPED);
        def.section.bend[1] = is_framed((FilRodModel)m) ? 2.0 : 1.0;
        check_verdict(def, is_framed((FilRodModel)m) ? 0 : 1);
    }
}

// Loads restore what is not along them: two forces that pull a free rod straight leave the motions
// of the whole and the turn about their line.
static void loads_restore_what_they_are_not_along(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        const FilRodLoad loads[2] = {{.s = 0.0, .force = {-2.0, 0.0, 0.0}},
                                     {.s = 1.0, .force = {2.0, 0.0, 0.0}}};
        FilRodDef def = thin_def((FilRodModel)m, 8);
        def.root_end.kind = FIL_END_FREE;
        def.loads = loads;
        def.load_count = 2;
        check_verdict(def, is_framed((FilRodModel)m) ? 4 : 3);
        def.root_end.kind = FIL_END_PINNED; // the force on what is held is nothing
        check_verdict(def, is_framed((FilRodModel)m) ? 1 : 0);
    }
}

static void the_hessian_maps_to_nothing_what_costs_nothing(void) {
    for (int k = 0; k < FIL_ROD_MODEL_COUNT * CASES; k++) {
        const FilRodModel model = (FilRodModel)(k % FIL_ROD_MODEL_COUNT);
        FilRodDef def =
            hair_def(model, &cases[k / FIL_ROD_MODEL_COUNT], 1e-3, is_framed(model), false);
        double modes[FIL_ZERO_MODES * 128];
        FilRod *rod = make_rod(&def);
        settle(rod);
        const int count = count_zero(rod, modes);
        for (int i = 0; i < count; i++) {
            CHECK(resistance(rod, modes + (size_t)i * (size_t)rod->dof_count) < 1e-7);
        }
        fil_rod_destroy(rod);
    }
}

// Upright on a pin, or falling: all three say no, and why.
static void what_is_not_stable_has_no_frequencies(void) {
    for (int k = 0; k < 2 * FIL_ROD_MODEL_COUNT; k++) {
        FilRodDef def = thin_def((FilRodModel)(k / 2), 6);
        // models that stretch are pressed together by their weight first
        FilStaticsSettings few = {.tolerance = 1e-10,
                                  .max_iterations = is_reduced((FilRodModel)(k / 2)) ? 0 : 1};
        FilStaticsInfo info;
        FilError error;
        double frequency;
        stand(&def, 1.0);
        def.gravity[2] = -1.0;
        def.root_end.kind = k % 2 == 0 ? FIL_END_PINNED : FIL_END_FREE;
        FilRod *rod = make_rod(&def);
        must(fil_rod_equilibrium(rod, &few, &info, &error), &error);
        CHECK(!info.stable && !info.converged && !look(rod).stable);
        CHECK(fil_rod_frequencies(rod, 1, &frequency, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, k % 2 == 0 ? "is not a stable equilibrium: the smallest eigenvalue is -"
                                      : "is not an equilibrium: the forces out of balance are"));
        fil_rod_destroy(rod);
    }
}

// A cantilever that a dead torque bends by a turn is stable; its vibrations are not natural ones.
static void a_torque_that_allows_no_frequencies_is_named(void) {
    FilRodDef def = thin_def(FIL_ROD_CLOTHOID, 10);
    FilError error;
    double frequency;
    def.loads = &(FilRodLoad){.s = 1.0, .torque = {0.0, 6.0, 0.0}};
    def.load_count = 1;
    FilRod *rod = make_rod(&def);
    settle(rod);
    CHECK(look(rod).stable);
    CHECK(fil_rod_frequencies(rod, 1, &frequency, &error) == FIL_E_ARGUMENT);
    CHECK(says(&error, "a torque that is fixed in space"));
    fil_rod_destroy(rod);
}

#define TESTS(X)                                         \
    X(what_costs_nothing_follows_from_how_a_rod_is_held) \
    X(a_bent_shaft_turns_inside_its_shape)               \
    X(a_chain_turns_about_its_clamps)                    \
    X(loads_restore_what_they_are_not_along)             \
    X(the_hessian_maps_to_nothing_what_costs_nothing)    \
    X(what_is_not_stable_has_no_frequencies)             \
    X(a_torque_that_allows_no_frequencies_is_named)

CHECK_MAIN(TESTS)
