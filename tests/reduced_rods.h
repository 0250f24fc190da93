#ifndef FIL_TESTS_REDUCED_RODS_H
#define FIL_TESTS_REDUCED_RODS_H

// What the tests of helix and clothoid share: rods of those models.

#include "base/random.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/reduced.h"
#include "rods.h"

enum { MAX_DOFS = 200 };

static inline double noise(FilRandom *random) {
    return fil_random_uniform(random, -1.0, 1.0);
}

static const FilRodModel models[2] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID};

// A rod of order one in everything: stiffness, mass, length, gravity.
static inline FilRodDef soft_def(FilRodModel model, int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.length = 1.3;
    def.section = (FilSection){
        .kind = FIL_SECTION_GIVEN, .radius = 0.2, .bend = {0.7, 0.9}, .twist = 0.5, .mass = 1.1};
    def.gravity[0] = 1.0;
    def.gravity[1] = -2.0;
    def.gravity[2] = -3.0;
    def.natural_curvature[1] = 0.4;
    return def;
}

// Shape and velocities at random.
static inline void shake(FilRod *rod, double curvature, double speed, uint64_t seed) {
    double state[2 * MAX_DOFS + 40];
    FilReduced *data = fil_reduced(rod);
    FilRandom random = fil_random_make(seed);
    fil_rod_get_state(rod, state);
    double *own = state + FIL_ROD_STATE, turn[3] = {noise(&random), noise(&random), noise(&random)};
    if (data->root > 0) {
        double R[9], Q[9];
        fil_rotation_exp(turn, R);
        fil_multiply3(R, own + 3, Q);
        memcpy(own + 3, Q, sizeof Q);
    }
    for (int k = 0; k < data->root; k++) {
        own[18 - data->root + k] = speed * noise(&random);
    }
    for (int k = 0; k < data->kappas; k++) {
        own[18 + k] = curvature * noise(&random);
        own[18 + data->kappas + k] = speed * noise(&random);
    }
    FilError error;
    CHECK(fil_rod_set_state(rod, state, &error) == FIL_OK);
}

static inline double largest(const double *x, int n) {
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

static inline double difference(const double *a, const double *b, int n) {
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static const FilEndKind root_kinds[3] = {FIL_END_CLAMPED, FIL_END_PINNED, FIL_END_FREE};

static const FilRodLoad some_loads[2] = {
    {.s = 0.5, .force = {1.0, 0.3, -0.4}},
    {.s = 1.3, .force = {-0.2, 0.6, 0.8}},
};

static inline FilRodDef loaded_def(FilRodModel model, int elements, FilEndKind root) {
    FilRodDef def = soft_def(model, elements);
    def.root_end.kind = root;
    def.loads = some_loads;
    def.load_count = 2;
    return def;
}

#endif
