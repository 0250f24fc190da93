// validate_rod_models.c - helix, clothoid and der beside each other (protocol of Casati 2015,
// section 5.2): a straight and a ring-shaped rod, clamped, in gravity. All three must come to one
// equilibrium as they are refined: that of Kirchhoff's equations (validate_kirchhoff.c). The error
// is the L2 distance over 100 samples relative to the length; then the degrees of freedom that each
// model needs for 1 % and 0.1 %, by which the models are compared with each other.
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 100, LEVELS = 8 };

typedef struct Scene {
    const char *name;
    double natural[3];
    double allowed[3]; // clothoid, helix, der, of the most elements
} Scene;

typedef struct Shape {
    double point[SAMPLES][3];
    int dofs;
} Shape;

static bool find_shape(Validation *v, const Scene *scene, FilRodModel model, int elements,
                       Shape *shape) {
    FilRodDef def = validate_rod(model, elements);
    def.gravity[2] = -10.0;
    memcpy(def.natural_curvature, scene->natural, sizeof def.natural_curvature);
    FilRod *rod = validate_create(v, scene->name, &def);
    bool fine = rod != NULL && validate_equilibrium(v, scene->name, &def, rod);
    for (int k = 0; fine && k < SAMPLES; k++) {
        FilPose pose;
        fil_rod_at(rod, (k + 1.0) / SAMPLES, &pose, NULL);
        memcpy(shape->point[k], pose.position, sizeof pose.position);
    }
    shape->dofs = fine ? fil_rod_dof_count(rod) : 0;
    fil_rod_destroy(rod);
    return fine;
}

static double distance(const Shape *a, double (*exact)[3]) {
    double sum = 0.0;
    for (int k = 0; k < SAMPLES; k++) {
        for (int i = 0; i < 3; i++) {
            double d = a->point[k][i] - exact[k + 1][i];
            sum += d * d;
        }
    }
    return sqrt(sum / SAMPLES);
}

// Degrees of freedom at which the error falls to `wanted`, on the line through the two levels
// around it in logarithms; NAN when the levels do not reach it.
static double dofs_for(const double *errors, const int *dofs, int count, double wanted) {
    if (errors[0] <= wanted) {
        return dofs[0];
    }
    for (int k = 1; k < count; k++) {
        if (errors[k] <= wanted) {
            double part = log(errors[k - 1] / wanted) / log(errors[k - 1] / errors[k]);
            return exp(log(dofs[k - 1]) + part * log((double)dofs[k] / dofs[k - 1]));
        }
    }
    return (double)NAN;
}

static void compare_scene(Validation *v, const Scene *scene) {
    static const FilRodModel models[3] = {FIL_ROD_CLOTHOID, FIL_ROD_HELIX, FIL_ROD_DER};
    static const int elements[3][LEVELS] = {
        {1, 2, 3, 4, 6, 8, 12, 20}, {2, 3, 4, 6, 8, 16, 32, 64}, {4, 8, 12, 16, 32, 64, 96, 128}};
    static const double enough[2][3] = {{9.0, 16.0, 50.0}, {16.0, 48.0, 160.0}};
    static const double wanted[2] = {1e-2, 1e-3};
    static const char *const percent[2] = {"1 %", "0.1 %"};
    double exact[SAMPLES + 1][3], needed[3][2] = {{0.0}};
    if (!validate_kirchhoff(10.0, scene->natural, SAMPLES, exact)) {
        const FilError error = {.text = "Kirchhoff's equations were not solved"};
        validate_fail(v, scene->name, "all", 0, &error);
        return;
    }
    for (int m = 0; m < 3 && !v->stopped(); m++) {
        double errors[LEVELS];
        int dofs[LEVELS], count = 0;
        Shape shape;
        for (; count < LEVELS; count++) {
            if (!find_shape(v, scene, models[m], elements[m][count], &shape)) {
                return;
            }
            errors[count] = distance(&shape, exact);
            dofs[count] = shape.dofs;
        }
        char name[64];
        (void)snprintf(name, sizeof name, "%s: distance from the exact shape", scene->name);
        validate_below(v, name, fil_rod_model_name(models[m]), elements[m][LEVELS - 1],
                       errors[LEVELS - 1], scene->allowed[m]);
        for (int w = 0; w < 2; w++) {
            needed[m][w] = dofs_for(errors, dofs, count, wanted[w]);
            (void)snprintf(name, sizeof name, "%s: unknowns for %s", scene->name, percent[w]);
            validate_below(v, name, fil_rod_model_name(models[m]), 0, needed[m][w], enough[w][m]);
        }
    }
    for (int w = 0; w < 2 && !v->stopped(); w++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s: clothoid's unknowns by helix's, %s", scene->name,
                       percent[w]);
        validate_below(v, name, "both", 0, needed[0][w] / needed[1][w], 1.0);
        (void)snprintf(name, sizeof name, "%s: helix's unknowns by der's, %s", scene->name,
                       percent[w]);
        validate_below(v, name, "both", 0, needed[1][w] / needed[2][w], 1.0);
    }
}

void validate_rod_models(Validation *v) {
    static const Scene scenes[] = {{"straight rod", {0.0, 0.0, 0.0}, {6e-7, 2e-4, 7e-5}},
                                   {"ring", {0.0, 0.0, 6.28318530717958648}, {1.4e-6, 7e-5, 3e-4}}};
    for (int k = 0; k < 2 && !v->stopped(); k++) {
        compare_scene(v, &scenes[k]);
    }
}
