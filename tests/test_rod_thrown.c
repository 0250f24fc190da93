// Rods of curvatures whose loads throw them round by many radians in a step: they swing to where
// the load points and settle there, as rods of nodes do.
#include "math/vec3.h"
#include "rods.h"

static const FilRodModel reduced[2] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID};

typedef struct Rest {
    double tip[3], kinetic;
    int unconverged;
} Rest;

// `steps` of a rod in a wind (m/s; NULL: none), which must not gain energy.
static Rest run(const FilRodDef *def, const double *wind, double dt, int steps) {
    FilRod *rod = make_rod(def);
    Rest rest = {.unconverged = 0};
    FilRodEnergy energy = {0};
    FilPose tip;
    FilError error;
    if (wind != NULL) {
        const double force[3] = {def->drag * wind[0], def->drag * wind[1], def->drag * wind[2]};
        must(fil_rod_set_air(rod, force, &error), &error);
    }
    for (int k = 0; k < steps; k++) {
        FilRodStepInfo info;
        fil_rod_energy(rod, &energy);
        const double before = potential(rod) + energy.kinetic;
        take_step(rod, dt, &info);
        fil_rod_energy(rod, &energy);
        const double after = potential(rod) + energy.kinetic;
        rest.unconverged += !info.converged;
        CHECK(!info.converged || after - before <= 1e-9 * (fabs(before) + fabs(after)));
    }
    fil_rod_at(rod, def->length, &tip, NULL);
    fil_copy3(tip.position, rest.tip);
    rest.kinetic = energy.kinetic;
    fil_rod_destroy(rod);
    return rest;
}

static double distance(const Rest *a, const Rest *b) {
    double way[3];
    fil_subtract3(a->tip, b->tip, way);
    return fil_norm3(way);
}

// 0.9 mN at the tip of a clamped thread of 14 micrograms: 6500 times its weight.
static void a_thread_under_a_huge_load_swings_round_and_settles(void) {
    static const double steps[3] = {1e-3, 4e-3, 12e-3};
    FilRodDef def = fil_rod_def_default();
    const FilRodLoad load = {.s = 0.034, .force = {0.0, 0.0, -0.9e-3}};
    def.length = 0.034;
    def.element_count = 10;
    def.section.radius = 1e-5;
    def.loads = &load;
    def.load_count = 1;
    for (int k = 0; k < 3; k++) {
        def.model = FIL_ROD_DER;
        const Rest nodes = run(&def, NULL, steps[k], 30);
        for (int m = 0; m < 2; m++) {
            def.model = reduced[m];
            const Rest rest = run(&def, NULL, steps[k], 30);
            CHECK(rest.unconverged == 0);
            CHECK(rest.kinetic <= 1e-10 * 0.9e-3 * def.length);
            CHECK(distance(&rest, &nodes) <= 0.05 * def.length); // half an element
        }
    }
}

static void a_hair_a_thousand_times_heavier_hangs_down(void) {
    static const double steps[2] = {4e-3, 12e-3};
    FilRodDef def = fil_rod_def_default();
    def.length = 0.1;
    def.element_count = 10;
    def.section.radius = 25e-6;
    def.gravity[2] *= 1000.0;
    for (int k = 0; k < 2; k++) {
        def.model = FIL_ROD_DER;
        const Rest nodes = run(&def, NULL, steps[k], 60);
        for (int m = 0; m < 2; m++) {
            def.model = reduced[m];
            const Rest rest = run(&def, NULL, steps[k], 60);
            CHECK(rest.unconverged == 0);
            CHECK(rest.tip[2] <= -0.95 * def.length);
            CHECK(distance(&rest, &nodes) <= 0.05 * def.length);
        }
    }
}

// 10 cm of hair, 50 um thick, a second of a wind across it.
static void hair_in_a_gale_streams_along_the_wind(void) {
    static const FilRodModel framed[4] = {FIL_ROD_DER, FIL_ROD_HELIX, FIL_ROD_CLOTHOID,
                                          FIL_ROD_CORDE};
    static const double steps[3] = {1e-3, 5e-3, 11e-3}, speeds[2] = {20.0, 40.0};
    FilRodDef def = fil_rod_def_default();
    def.length = 0.1;
    def.element_count = 10;
    def.section.radius = 25e-6;
    def.drag = 5e-5;
    for (int k = 0; k < 6; k++) {
        const double dt = steps[k % 3], wind[3] = {0.0, speeds[k / 3], 0.0};
        const int count = (int)(1.0 / dt);
        Rest nodes = {.unconverged = 0};
        for (int m = 0; m < 4; m++) {
            def.model = framed[m];
            const Rest rest = run(&def, wind, dt, count);
            nodes = m == 0 ? rest : nodes;
            CHECK(rest.unconverged <= count / 10);
            CHECK(rest.tip[1] >= 0.95 * def.length);
            CHECK(distance(&rest, &nodes) <= 0.05 * def.length);
        }
    }
}

#define TESTS(X)                                           \
    X(a_thread_under_a_huge_load_swings_round_and_settles) \
    X(a_hair_a_thousand_times_heavier_hangs_down)          \
    X(hair_in_a_gale_streams_along_the_wind)

CHECK_MAIN(TESTS)
