#ifndef FIL_TESTS_CORDE_RODS_H
#define FIL_TESTS_CORDE_RODS_H

// What the tests of corde share: rods of that model, plain and with all that has an energy.

#include "base/random.h"
#include "rods.h"

static const double pi = 3.14159265358979323846;

// A rubber-like rod, thick enough that all its energies count: 1 m, EI = 1 N m^2, GJ = 0.7 N m^2.
static inline FilRodDef plain_def(int elements) {
    const FilSection section = {.radius = 0.02, .bend = {1.0, 1.0}, .twist = 0.7, .mass = 0.5};
    FilRodDef def = metre_def(FIL_ROD_CORDE, elements, section);
    def.gravity[2] = 0.0;
    return def;
}

static inline void step_many(FilRod *rod, double dt, int count) {
    for (int i = 0; i < count; i++) {
        take_step(rod, dt, NULL);
    }
}

static inline double elastic(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.stretch;
}

static inline void fill_random(FilRandom *random, double size, int n, double *x) {
    for (int k = 0; k < n; k++) {
        x[k] = fil_random_uniform(random, -size, size);
    }
}

// Uneven elements, different sections, natural curvature, gravity and a force: everything that has
// an energy.
static inline FilRod *make_rich(FilEndKind root, FilEndKind tip) {
    static const double lengths[5] = {0.15, 0.25, 0.2, 0.3, 0.1};
    static const double natural[18] = {1.0,  0.5, -1.0, 0.3, 1.2, 0.4, -0.7, 0.2, 1.5,
                                       -0.3, 0.8, 0.1,  0.9, 0.5, 0.2, 0.6,  0.1, -0.8};
    static const FilRodLoad load = {.s = 0.63, .force = {0.5, -0.7, 0.3}};
    FilSection sections[5];
    FilRodDef def = plain_def(5);
    for (int j = 0; j < 5; j++) {
        sections[j] = def.section;
        sections[j].bend[0] = 1.0 + 0.3 * j;
        sections[j].bend[1] = 2.0 - 0.2 * j;
        sections[j].twist = 0.5 + 0.1 * j;
    }
    def.sections = sections;
    def.element_lengths = lengths;
    def.natural_curvatures = natural;
    def.natural_count = 6;
    def.gravity[0] = 1.0;
    def.gravity[2] = -9.81;
    def.loads = &load;
    def.load_count = 1;
    def.root_end.kind = root;
    def.tip_end.kind = tip;
    return make_rod(&def);
}

static inline void restore(FilRod *rod, const double *state) {
    FilError error;
    if (fil_rod_set_state(rod, state, &error) != FIL_OK) {
        CHECK(!"the state fits");
    }
}

enum { MAX_STATE = 400, MAX_DOF = 60 };

// Far from rest, so that every term of the derivatives counts.
static inline void deform(FilRod *rod, FilRandom *random) {
    double dx[MAX_DOF];
    fill_random(random, 0.3, rod->dof_count, dx);
    for (int k = 0; k < rod->dof_count; k++) {
        dx[k] *= k % 6 < 3 ? 0.2 : 1.0;
    }
    rod->table->move(rod, dx);
}

#endif
