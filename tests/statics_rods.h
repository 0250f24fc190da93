#ifndef FIL_TESTS_STATICS_RODS_H
#define FIL_TESTS_STATICS_RODS_H

// What the tests of equilibria and of changes share: rods of every model.

#include "math/vec3.h"
#include "rods.h"

// Length 1, EI = 1, GJ = 2/3, 1 kg/m, thin, clamped along x, no gravity.
static inline FilRodDef thin_def(FilRodModel model, int elements) {
    const FilSection section = {
        .bend = {1.0, 1.0}, .twist = 2.0 / 3.0, .mass = 1.0, .radius = 1e-2};
    FilRodDef def = metre_def(model, elements, section);
    def.gravity[2] = 0.0;
    return def;
}

static inline FilStability look(FilRod *rod) {
    FilStability stability;
    FilError error;
    must(fil_rod_stability(rod, &stability, &error), &error);
    return stability;
}

static inline double distance(const double a[3], const double b[3]) {
    double d[3];
    fil_subtract3(a, b, d);
    return fil_norm3(d);
}

// Which of the models have frames.
static inline bool is_framed(FilRodModel model) {
    return model != FIL_ROD_CHAIN;
}

static inline bool is_reduced(FilRodModel model) {
    return model == FIL_ROD_HELIX || model == FIL_ROD_CLOTHOID;
}

// The root's axes: n0 along direction z times `sign`.
static inline void stand(FilRodDef *def, double sign) {
    FilPose root = {.axis = {{0.0, 0.0, sign}, {0.0, 1.0, 0.0}, {-sign, 0.0, 0.0}}};
    def->root = root;
}

static inline void hold_at_seven_tenths(void *user, double time, FilPose *pose) {
    (void)user;
    (void)time;
    *pose = (FilPose){.position = {0.7, 0.0, 0.0},
                      .axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
}

// Pushed together to 0.7 of its length.
static inline FilRodDef strut_def(FilRodModel model, FilEndKind kind) {
    FilRodDef def = thin_def(model, 12);
    def.root_end.kind = kind;
    def.tip_end = (FilRodEnd){.kind = kind, .motion = hold_at_seven_tenths};
    return def;
}

static inline bool says(const FilError *error, const char *text) {
    if (strstr(error->text, text) != NULL) {
        return true;
    }
    (void)fprintf(stderr, "  said: %s\n", error->text);
    return false;
}

#endif
