// validate_rods.c - the rod that most cases start from.
#include "validate.h"

#include <stdio.h>

FilRodDef validate_rod(FilRodModel model, int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.length = 1.0;
    def.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .bend = {1.0, 1.0},
                               .twist = 2.0 / 3.0,
                               .mass = 1.0,
                               .radius = 1e-3};
    for (int k = 0; k < 3; k++) {
        def.gravity[k] = 0.0;
    }
    return def;
}

FilRod *validate_create(Validation *v, const char *name, const FilRodDef *def) {
    FilError error;
    FilRod *rod = NULL;
    if (fil_rod_create(def, NULL, &rod, &error) != FIL_OK) {
        validate_fail(v, name, fil_rod_model_name(def->model), def->element_count, &error);
        return NULL;
    }
    return rod;
}

bool validate_equilibrium(Validation *v, const char *name, const FilRodDef *def, FilRod *rod) {
    FilError error = {0};
    FilStaticsInfo info;
    if (fil_rod_equilibrium(rod, NULL, &info, &error) == FIL_OK && info.converged) {
        return true;
    }
    if (error.text[0] == '\0') {
        (void)snprintf(error.text, sizeof error.text, "no equilibrium in %d steps, residual %.1e",
                       info.iterations, info.residual);
    }
    validate_fail(v, name, fil_rod_model_name(def->model), def->element_count, &error);
    return false;
}
