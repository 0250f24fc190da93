// validate_rod_dynamics.c - frequencies of a cantilever, energy and what motion must keep.
#include "validate.h"

#include <math.h>

// --- frequencies ---------------------------------------------------------------------------------

typedef struct Published {
    FilRodModel model;
    int elements;
    double first, second; // 0: not published
    double allowed;
} Published;

// Every bending mode comes twice, once in each plane.
static void validate_frequencies(Validation *v) {
    static const Published list[] = {
        {FIL_ROD_HELIX, 1, 4.4721, 0.0, 2e-5},        {FIL_ROD_HELIX, 2, 3.6948, 0.0, 2e-5},
        {FIL_ROD_HELIX, 5, 3.5435, 23.300, 3e-5},     {FIL_ROD_HELIX, 10, 3.5228, 22.337, 3e-5},
        {FIL_ROD_HELIX, 20, 3.5177, 22.109, 3e-5},    {FIL_ROD_CLOTHOID, 1, 3.5327, 0.0, 3e-5},
        {FIL_ROD_CLOTHOID, 2, 3.5182, 22.248, 3e-5},  {FIL_ROD_CLOTHOID, 5, 3.5161, 22.049, 3e-5},
        {FIL_ROD_CLOTHOID, 20, 3.5160, 22.034, 3e-5}, {FIL_ROD_DER, 100, 3.5160, 22.034, 1e-2},
        {FIL_ROD_CORDE, 100, 3.5160, 22.034, 2e-2},   {FIL_ROD_CHAIN, 100, 3.5160, 22.034, 2e-2},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list && !v->stopped(); k++) {
        const Published *p = &list[k];
        const char *model = fil_rod_model_name(p->model);
        FilRodDef def = validate_rod(p->model, p->elements);
        FilRod *rod = validate_create(v, "cantilever: first frequency", &def);
        double frequencies[4];
        FilError error;
        if (rod == NULL) {
            continue;
        }
        if (fil_rod_frequencies(rod, p->second > 0.0 ? 4 : 2, frequencies, &error) != FIL_OK) {
            validate_fail(v, "cantilever: first frequency", model, p->elements, &error);
        } else {
            validate_ratio(v, "cantilever: first frequency", model, p->elements, p->first,
                           frequencies[0], p->allowed);
            if (p->second > 0.0) {
                validate_ratio(v, "cantilever: second frequency", model, p->elements, p->second,
                               frequencies[2], p->allowed);
            }
        }
        fil_rod_destroy(rod);
    }
}

// --- energy --------------------------------------------------------------------------------------

static double total_energy(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.kinetic + e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

// A straight rod lets go of the horizontal, no damping: the change of energy over 1 s at 1 ms,
// relative to the energy that falling straight down would free.
static double energy_change(Validation *v, const char *name, FilRodModel model, double theta) {
    FilRodDef def = validate_rod(model, 10);
    def.gravity[2] = -10.0;
    def.theta = theta;
    FilRod *rod = validate_create(v, name, &def);
    if (rod == NULL) {
        return NAN;
    }
    double start = total_energy(rod);
    for (int k = 0; k < 1000; k++) {
        FilError error;
        if (fil_rod_step(rod, 1e-3, NULL, &error) != FIL_OK) {
            validate_fail(v, name, fil_rod_model_name(model), 10, &error);
            fil_rod_destroy(rod);
            return NAN;
        }
    }
    double change = (total_energy(rod) - start) / 5.0;
    fil_rod_destroy(rod);
    return change;
}

static void validate_energy(Validation *v) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT && !v->stopped(); m++) {
        const char *model = fil_rod_model_name((FilRodModel)m);
        double euler = energy_change(v, "falling rod: energy kept, theta 1", (FilRodModel)m, 1.0);
        double middle =
            energy_change(v, "falling rod: energy kept, theta 1/2", (FilRodModel)m, 0.5);
        validate_below(v, "falling rod: energy change, theta 1", model, 10, euler, 0.02);
        validate_below(v, "falling rod: energy change, theta 1/2", model, 10, middle, 1e-3);
    }
}

// --- what motion must keep -----------------------------------------------------------------------

// Length of the polygon through `count` + 1 points.
static double polygon(const FilRod *rod, int count) {
    double sum = 0.0;
    FilPose last, next;
    fil_rod_at(rod, 0.0, &last, NULL);
    for (int k = 1; k <= count; k++) {
        fil_rod_at(rod, (double)k / count, &next, NULL);
        double d[3];
        for (int i = 0; i < 3; i++) {
            d[i] = next.position[i] - last.position[i];
        }
        sum += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        last = next;
    }
    return sum;
}

static double axes_error(const FilPose *pose) {
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double product = 0.0;
            for (int k = 0; k < 3; k++) {
                product += pose->axis[i][k] * pose->axis[j][k];
            }
            worst = fmax(worst, fabs(product - (i == j ? 1.0 : 0.0)));
        }
    }
    return worst;
}

// Largest jump over the joints: of the tangent, and of the curvature.
static void measure_joints(const FilRod *rod, double jump[2], double *axes) {
    jump[0] = jump[1] = *axes = 0.0;
    for (int i = 0; i + 1 < fil_rod_element_count(rod); i++) {
        FilPose before, after;
        double kappa[2][3];
        fil_rod_element_at(rod, i, 1.0, &before, NULL);
        fil_rod_element_at(rod, i + 1, 0.0, &after, NULL);
        fil_rod_curvature_at(rod, i, 1.0, kappa[0]);
        fil_rod_curvature_at(rod, i + 1, 0.0, kappa[1]);
        *axes = fmax(*axes, axes_error(&before));
        for (int k = 0; k < 3; k++) {
            jump[0] = fmax(jump[0], fabs(before.axis[0][k] - after.axis[0][k]));
            jump[1] = fmax(jump[1], fabs(kappa[0][k] - kappa[1][k]));
        }
    }
}

static void validate_motion(Validation *v) {
    for (int m = 0; m <= FIL_ROD_CLOTHOID && !v->stopped(); m++) {
        const char *model = fil_rod_model_name((FilRodModel)m), *name = "coil let go for 1 s";
        FilRodDef def = validate_rod((FilRodModel)m, 10);
        def.natural_curvature[2] = 6.0;
        def.natural_curvature[0] = 2.0;
        def.gravity[2] = -10.0;
        FilRod *rod = validate_create(v, name, &def);
        FilError error;
        bool fine = rod != NULL;
        for (int k = 0; fine && k < 1000; k++) {
            fine = fil_rod_step(rod, 1e-3, NULL, &error) == FIL_OK;
        }
        if (!fine) {
            if (rod != NULL) {
                validate_fail(v, name, model, 10, &error);
            }
            fil_rod_destroy(rod);
            continue;
        }
        double jump[2], axes;
        measure_joints(rod, jump, &axes);
        double length = (4.0 * polygon(rod, 16000) - polygon(rod, 8000)) / 3.0;
        validate_near(v, "moving coil: length", model, 10, 1.0, length, 1e-12);
        validate_below(v, "moving coil: axes from orthonormal", model, 10, axes, 1e-13);
        validate_below(v, "moving coil: jump of the tangent", model, 10, jump[0], 1e-13);
        if (m == FIL_ROD_CLOTHOID) {
            validate_below(v, "moving coil: jump of the curvature", model, 10, jump[1], 1e-12);
        }
        fil_rod_destroy(rod);
    }
}

void validate_rod_dynamics(Validation *v) {
    validate_frequencies(v);
    validate_energy(v);
    validate_motion(v);
}
