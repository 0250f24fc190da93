// validate_rod_dynamics.c - frequencies of a cantilever, energy and what motion must keep.
#include "validate.h"

#include <math.h>

// --- frequencies ---------------------------------------------------------------------------------

typedef struct Cantilever {
    FilRodModel model;
    int elements;
    double frequency[2]; // first and second; 0: not looked at
    double allowed[2];
} Cantilever;

// Every bending mode comes twice, once in each plane.
static void validate_cantilever(Validation *v, const char *const names[2], const Cantilever *c) {
    const char *model = fil_rod_model_name(c->model);
    FilRodDef def = validate_rod(c->model, c->elements);
    FilRod *rod = validate_create(v, names[0], &def);
    double found[4];
    FilError error;
    const int count = c->frequency[1] > 0.0 ? 2 : 1;
    if (rod == NULL) {
        return;
    }
    if (fil_rod_frequencies(rod, 2 * count, found, &error) != FIL_OK) {
        validate_fail(v, names[0], model, c->elements, &error);
    } else {
        for (int k = 0; k < count; k++) {
            validate_ratio(v, names[k], model, c->elements, c->frequency[k], found[2 * k],
                           c->allowed[k]);
        }
    }
    fil_rod_destroy(rod);
}

static void validate_frequencies(Validation *v) {
    static const double first = 3.5160152685001512, second = 22.0344915646667699;
    static const char *const few[2] = {"cantilever of N elements: first frequency",
                                       "cantilever of N elements: second frequency"};
    static const char *const many[2] = {"cantilever: first frequency",
                                        "cantilever: second frequency"};
    static const Cantilever elements[] = {
        {FIL_ROD_HELIX, 1, {4.472135955, 0.0}, {1e-9, 0.0}},
        {FIL_ROD_HELIX, 2, {3.694819168, 37.60030407}, {1e-9, 1e-9}},
        {FIL_ROD_HELIX, 5, {3.543445427, 23.30025858}, {1e-9, 1e-9}},
        {FIL_ROD_HELIX, 10, {3.522836232, 22.33649621}, {1e-9, 1e-9}},
        {FIL_ROD_HELIX, 20, {3.517718268, 22.10916705}, {1e-9, 1e-9}},
        {FIL_ROD_CLOTHOID, 1, {3.532731543, 34.80689311}, {1e-9, 1e-9}},
        {FIL_ROD_CLOTHOID, 2, {3.51818371, 22.24779133}, {1e-9, 1e-9}},
        {FIL_ROD_CLOTHOID, 5, {3.516064988, 22.04909187}, {1e-9, 1e-9}},
        {FIL_ROD_CLOTHOID, 20, {3.516015458, 22.03453875}, {1e-9, 1e-9}},
    };
    const Cantilever rods[] = {
        {FIL_ROD_HELIX, 40, {first, second}, {5e-4, 4e-3}},
        {FIL_ROD_CLOTHOID, 10, {first, second}, {4e-6, 1.5e-4}},
        {FIL_ROD_DER, 100, {first, second}, {4e-4, 2e-3}},
        {FIL_ROD_CORDE, 100, {first, second}, {5e-4, 2.5e-3}},
    };
    for (size_t k = 0; k < sizeof elements / sizeof *elements && !v->stopped(); k++) {
        validate_cantilever(v, few, &elements[k]);
    }
    for (size_t k = 0; k < sizeof rods / sizeof *rods && !v->stopped(); k++) {
        validate_cantilever(v, many, &rods[k]);
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
    const char *names[2] = {"falling rod: energy change, theta 1",
                            "falling rod: energy change, theta 1/2"};
    static const double allowed[FIL_ROD_CHAIN][2] = {[FIL_ROD_HELIX] = {0.02, 1.4e-6},
                                                     [FIL_ROD_CLOTHOID] = {0.02, 1.4e-6},
                                                     [FIL_ROD_DER] = {0.02, 1e-3},
                                                     [FIL_ROD_CORDE] = {0.02, 4e-4}};
    for (int m = 0; m < FIL_ROD_CHAIN && !v->stopped(); m++) {
        const char *model = fil_rod_model_name((FilRodModel)m);
        for (int k = 0; k < 2; k++) {
            const double change = energy_change(v, names[k], (FilRodModel)m, k == 0 ? 1.0 : 0.5);
            validate_below(v, names[k], model, 10, change, allowed[m][k]);
        }
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

static double worst_axes(const FilRod *rod) {
    double worst = 0.0;
    for (int i = 0; i < fil_rod_element_count(rod); i++) {
        FilPose end;
        fil_rod_element_at(rod, i, 1.0, &end, NULL);
        worst = fmax(worst, axes_error(&end));
    }
    return worst;
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
        double length = (4.0 * polygon(rod, 16000) - polygon(rod, 8000)) / 3.0;
        validate_near(v, "moving coil: length", model, 10, 1.0, length, 1e-12);
        validate_below(v, "moving coil: axes from orthonormal", model, 10, worst_axes(rod), 1e-14);
        fil_rod_destroy(rod);
    }
}

void validate_rod_dynamics(Validation *v) {
    validate_frequencies(v);
    validate_energy(v);
    validate_motion(v);
}
