// validate_rod_statics.c - rods in equilibrium against closed forms.
//
// Heavy cantilever: clamped along x, weight 10 per length along -z, EI = 1, natural curvature about
// y. Its shape is that of Kirchhoff's equations (validate_kirchhoff.c). How far a rod of few
// elements is from it is the model's own: scripts/reference-values minimises the energy of the
// planar helix and clothoid anew. Rods of nodes are held to the order of convergence and to the
// tip.
//
// Helix under tension and twist (Love, Kirchhoff): with constant kappa = (tau, kappa_1, 0) and
// moments m = (GJ (tau - tau_n), EI (kappa_1 - kappa_n), 0) in the section's axes, m' + n0 x F = 0
// asks for a force along the helix's axis, F = f kappa / |kappa|, f = |kappa| (kappa_1 m_0 - tau
// m_1) / kappa_1.
//
// Elastica, clamped at both ends, pushed together to the distance d: with the modulus k,
// d / L = 2 E(k) / K(k) - 1 and the middle stands out by k L / K(k).
#include "validate.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 100 };

// --- the heavy cantilever ------------------------------------------------------------------------

typedef struct Shape {
    double point[SAMPLES + 1][3]; // at s = k / SAMPLES
} Shape;

typedef struct Cantilever {
    double weight, natural;
    Shape exact;
} Cantilever;

static FilRodDef cantilever_def(FilRodModel model, int elements, double weight, double natural) {
    FilRodDef def = validate_rod(model, elements);
    def.gravity[2] = -weight;
    def.natural_curvature[1] = natural;
    return def;
}

static bool solve_cantilever(Validation *v, const char *name, double weight, double natural,
                             Cantilever *c) {
    *c = (Cantilever){.weight = weight, .natural = natural};
    if (!validate_kirchhoff(weight, (const double[3]){0.0, natural, 0.0}, SAMPLES,
                            c->exact.point)) {
        const FilError error = {.text = "Kirchhoff's equations were not solved"};
        validate_fail(v, name, "all", 0, &error);
        return false;
    }
    return true;
}

static double distance(const Shape *a, const Shape *b) {
    double sum = 0.0;
    for (int i = 0; i < 3 * SAMPLES; i++) {
        sum += pow(a->point[1 + i / 3][i % 3] - b->point[1 + i / 3][i % 3], 2.0);
    }
    return sqrt(sum / SAMPLES);
}

// The samples of a model's equilibrium; false: failed.
static bool find_shape(Validation *v, const char *name, FilRodModel model, int elements,
                       const Cantilever *c, Shape *shape) {
    FilRodDef def = cantilever_def(model, elements, c->weight, c->natural);
    FilRod *rod = validate_create(v, name, &def);
    bool fine = rod != NULL && validate_equilibrium(v, name, &def, rod);
    for (int k = 0; fine && k <= SAMPLES; k++) {
        FilPose pose;
        fil_rod_at(rod, (double)k / SAMPLES, &pose, NULL);
        memcpy(shape->point[k], pose.position, sizeof pose.position);
    }
    fil_rod_destroy(rod);
    return fine;
}

typedef struct Convergence {
    FilRodModel model;
    double rms[3]; // at 4, 8, 16 elements; 0: not known otherwise
    double rms_allowed, order, order_allowed, tip_allowed;
} Convergence;

static void validate_convergence(Validation *v, const Convergence *p, const Cantilever *c) {
    const char *model = fil_rod_model_name(p->model);
    Shape shape;
    double last = 0.0, error = 0.0;
    for (int k = 0; k < 3; k++) {
        if (!find_shape(v, "heavy cantilever", p->model, 4 << k, c, &shape)) {
            return;
        }
        last = error;
        error = distance(&shape, &c->exact);
        if (p->rms[k] > 0.0) {
            validate_ratio(v, "heavy cantilever: rms distance", model, 4 << k, p->rms[k], error,
                           p->rms_allowed);
        }
    }
    validate_near(v, "heavy cantilever: order of convergence", model, 16, p->order,
                  log2(last / error), p->order_allowed);
    validate_near(v, "heavy cantilever: tip x", model, 16, c->exact.point[SAMPLES][0],
                  shape.point[SAMPLES][0], p->tip_allowed);
    validate_near(v, "heavy cantilever: tip z", model, 16, c->exact.point[SAMPLES][2],
                  shape.point[SAMPLES][2], p->tip_allowed);
}

// In a plane a chain bends as der does: all that is said of der holds for it.
static void validate_chain(Validation *v, const Cantilever *c) {
    const char *name = "heavy cantilever: distance of chain from der";
    Shape der, chain;
    if (find_shape(v, name, FIL_ROD_DER, 16, c, &der) &&
        find_shape(v, name, FIL_ROD_CHAIN, 16, c, &chain)) {
        validate_below(v, name, "chain", 16, distance(&chain, &der), 1e-11);
    }
}

static void validate_cantilever(Validation *v) {
    static const Convergence list[] = {
        {FIL_ROD_HELIX, {0.01093007, 0.002717027, 6.778522e-4}, 1e-6, 2.0, 0.014, 1e-3},
        {FIL_ROD_CLOTHOID, {1.0247e-4, 5.790372e-6, 3.53671e-7}, 1e-6, 4.0, 0.15, 6e-7},
        {FIL_ROD_DER, {0}, 0.0, 2.0, 0.2, 1.5e-3},
        {FIL_ROD_CORDE, {0}, 0.0, 2.0, 0.02, 5e-3},
    };
    Cantilever c;
    if (!solve_cantilever(v, "heavy cantilever", 10.0, 0.0, &c)) {
        return;
    }
    for (size_t m = 0; m < sizeof list / sizeof *list && !v->stopped(); m++) {
        validate_convergence(v, &list[m], &c);
    }
    validate_chain(v, &c);
}

// A rod that curls naturally into a full circle.
static void validate_curled(Validation *v) {
    const char *name = "curled cantilever: rms distance";
    static const struct {
        FilRodModel model;
        double rms;
    } list[] = {{FIL_ROD_HELIX, 6.323663e-4}, {FIL_ROD_CLOTHOID, 2.614205e-6}};
    Cantilever c;
    if (!solve_cantilever(v, name, 10.0, -2.0 * 3.14159265358979323846, &c)) {
        return;
    }
    for (int m = 0; m < 2; m++) {
        Shape shape;
        if (find_shape(v, name, list[m].model, 16, &c, &shape)) {
            validate_ratio(v, name, fil_rod_model_name(list[m].model), 16, list[m].rms,
                           distance(&shape, &c.exact), 1e-6);
        }
    }
}

static void validate_small_sag(Validation *v) {
    const double weight = 1e-3;
    static const double allowed[FIL_ROD_CHAIN] = {[FIL_ROD_HELIX] = 3e-3,
                                                  [FIL_ROD_CLOTHOID] = 2e-8,
                                                  [FIL_ROD_DER] = 1e-2,
                                                  [FIL_ROD_CORDE] = 1e-2};
    for (int m = 0; m < FIL_ROD_CHAIN && !v->stopped(); m++) {
        FilRodDef def = cantilever_def((FilRodModel)m, 20, weight, 0.0);
        FilRod *rod = validate_create(v, "small sag: tip", &def);
        if (rod != NULL && validate_equilibrium(v, "small sag: tip", &def, rod)) {
            FilPose tip;
            fil_rod_at(rod, 1.0, &tip, NULL);
            validate_ratio(v, "small sag: tip", fil_rod_model_name(def.model), 20, -weight / 8.0,
                           tip.position[2], allowed[m]);
        }
        fil_rod_destroy(rod);
    }
}

// --- shapes at rest ------------------------------------------------------------------------------

static double elastic_energy(const FilRod *rod) {
    FilRodEnergy energy;
    fil_rod_energy(rod, &energy);
    return energy.bend + energy.twist + energy.stretch;
}

static void validate_rest(Validation *v) {
    for (int m = 0; m < FIL_ROD_CHAIN && !v->stopped(); m++) {
        FilRodDef def = validate_rod((FilRodModel)m, 10);
        const char *model = fil_rod_model_name(def.model);
        def.natural_curvature[0] = 2.0;
        def.natural_curvature[1] = 3.0;
        def.natural_curvature[2] = 4.0;
        FilRod *rod = validate_create(v, "natural helix: elastic energy", &def);
        if (rod != NULL) {
            validate_below(v, "natural helix: elastic energy", model, 10, elastic_energy(rod),
                           1e-24);
        }
        fil_rod_destroy(rod);

        def = validate_rod((FilRodModel)m, 10);
        double twist[30] = {0.0};
        for (int k = 0; k < 10; k++) {
            twist[3 * k] = 5.0;
        }
        def.start_curvatures = twist;
        def.start_count = 10;
        rod = validate_create(v, "pure twist: energy", &def);
        if (rod != NULL) {
            // nodal models have no twist between the last node and the free tip
            double expected = 0.5 * def.section.twist * 25.0;
            bool nodal = m == FIL_ROD_DER || m == FIL_ROD_CORDE;
            validate_ratio(v, "pure twist: energy", model, 10, nodal ? 0.95 * expected : expected,
                           elastic_energy(rod), 1e-12);
        }
        fil_rod_destroy(rod);
    }
}

// The natural curvature of a rod that gravity holds straight is w (L - s)^2 / (2 EI): a helix takes
// the mean over each element, a clothoid the projection on its hat functions.
static void validate_straight(Validation *v) {
    static const int counts[] = {1, 5};
    for (int c = 0; c < 2; c++) {
        int n = counts[c];
        FilRodDef def = cantilever_def(FIL_ROD_HELIX, n, 10.0, 0.0);
        FilRod *rod = validate_create(v, "rod held straight: natural curvature", &def);
        if (rod == NULL || fil_rod_hold_shape(rod, NULL) != FIL_OK) {
            fil_rod_destroy(rod);
            continue;
        }
        double worst = 0.0;
        for (int i = 0; i < n; i++) {
            double a = 1.0 - (double)i / n, b = 1.0 - (double)(i + 1) / n, kappa[3];
            fil_rod_natural_at(rod, i, 0.5, kappa);
            worst = fmax(worst, fabs(kappa[1] + 10.0 * n * (a * a * a - b * b * b) / 6.0));
        }
        validate_below(v, "rod held straight: off the element's mean", "helix", n, worst, 2e-14);
        fil_rod_destroy(rod);
    }
    FilRodDef def = cantilever_def(FIL_ROD_CLOTHOID, 1, 10.0, 0.0);
    FilRod *rod = validate_create(v, "rod held straight: natural curvature", &def);
    if (rod != NULL && fil_rod_hold_shape(rod, NULL) == FIL_OK) {
        // the projection of 5 (1 - s)^2 on lines is 5 (5/6 - s)
        double root[3], tip[3];
        fil_rod_natural_at(rod, 0, 0.0, root);
        fil_rod_natural_at(rod, 0, 1.0, tip);
        validate_near(v, "rod held straight: at the root", "clothoid", 1, -25.0 / 6.0, root[1],
                      2e-14);
        validate_near(v, "rod held straight: at the tip", "clothoid", 1, 5.0 / 6.0, tip[1], 2e-14);
    }
    fil_rod_destroy(rod);
}

// --- loaded ends ---------------------------------------------------------------------------------

static const double kappa_target[3] = {3.0, 8.0, 0.0}, kappa_natural[3] = {1.0, 7.0, 0.0};

// exp(s [kappa]x) e: where a vector of the section at s points, seen from the root; and its
// integral.
static void turn(const double kappa[3], double s, const double e[3], double out[3], double way[3]) {
    double w = sqrt(kappa[0] * kappa[0] + kappa[1] * kappa[1] + kappa[2] * kappa[2]);
    double n[3] = {kappa[0] / w, kappa[1] / w, kappa[2] / w};
    double along = n[0] * e[0] + n[1] * e[1] + n[2] * e[2];
    const double cross[3] = {n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2],
                             n[0] * e[1] - n[1] * e[0]};
    for (int k = 0; k < 3; k++) {
        double across = e[k] - along * n[k];
        out[k] = along * n[k] + cos(w * s) * across + sin(w * s) * cross[k];
        way[k] = s * along * n[k] + (sin(w * s) * across + (1.0 - cos(w * s)) * cross[k]) / w;
    }
}

static void validate_wrench(Validation *v, FilRodModel model, int elements, double allowed) {
    const char *name = "helix under tension and twist: distance";
    FilRodDef def = validate_rod(model, elements);
    for (int k = 0; k < 3; k++) {
        def.natural_curvature[k] = kappa_natural[k];
    }
    double m[3] = {def.section.twist * (kappa_target[0] - kappa_natural[0]),
                   def.section.bend[0] * (kappa_target[1] - kappa_natural[1]), 0.0};
    FilRodLoad load = {.s = 1.0};
    for (int k = 0; k < 3; k++) { // f / |kappa| times kappa
        load.force[k] =
            (kappa_target[1] * m[0] - kappa_target[0] * m[1]) / kappa_target[1] * kappa_target[k];
    }
    double unused[3];
    turn(kappa_target, 1.0, m, load.torque, unused);
    def.loads = &load;
    def.load_count = 1;
    FilRod *rod = validate_create(v, name, &def);
    if (rod != NULL && validate_equilibrium(v, name, &def, rod)) {
        const double e0[3] = {1.0, 0.0, 0.0};
        double worst = 0.0;
        for (int i = 1; i <= elements; i++) {
            FilPose pose;
            double tangent[3], place[3], d[3];
            fil_rod_element_at(rod, i - 1, 1.0, &pose, NULL);
            turn(kappa_target, (double)i / elements, e0, tangent, place);
            for (int k = 0; k < 3; k++) {
                d[k] = pose.position[k] - place[k];
            }
            worst = fmax(worst, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        }
        validate_below(v, name, fil_rod_model_name(model), elements, worst, allowed);
    }
    fil_rod_destroy(rod);
}

// Complete elliptic integrals K(k) and E(k) by the arithmetic-geometric mean.
static void elliptic(double k, double *K, double *E) {
    double a = 1.0, b = sqrt(1.0 - k * k), sum = 0.5 * k * k, power = 0.5;
    for (int i = 0; i < 8; i++) {
        double c = 0.5 * (a - b), mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
        power *= 2.0;
        sum += power * c * c;
    }
    *K = 3.14159265358979323846 / (2.0 * a);
    *E = *K * (1.0 - sum);
}

static void hold_at(void *user, double time, FilPose *pose) {
    (void)time;
    *pose = (FilPose){.position = {*(const double *)user, 0.0, 0.0},
                      .axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
}

static void validate_strip(Validation *v, const char *name, FilRodModel model, int elements,
                           double k, double allowed) {
    const double pi = 3.14159265358979323846;
    double K, E;
    elliptic(k, &K, &E);
    double distance = 2.0 * E / K - 1.0, start[3 * 101] = {0.0};
    for (int i = 0; i <= elements; i++) { // like the first mode of buckling
        start[3 * i + 1] = -8.0 * asin(k) * cos(2.0 * pi * i / elements);
    }
    FilRodDef def = validate_rod(model, elements);
    def.section.bend[1] = 100.0; // a strip: it bends about one axis only
    def.section.twist = 10.0;
    def.tip_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = hold_at, .user = &distance};
    def.start_curvatures = start;
    def.start_count = elements + 1;
    FilRod *rod = validate_create(v, name, &def);
    if (rod != NULL && validate_equilibrium(v, name, &def, rod)) {
        FilPose middle;
        fil_rod_at(rod, 0.5, &middle, NULL);
        validate_ratio(v, name, fil_rod_model_name(model), elements, k / K,
                       fabs(middle.position[2]), allowed);
    }
    fil_rod_destroy(rod);
}

static void validate_loaded(Validation *v) {
    static const struct {
        FilRodModel model;
        int elements;
        double wrench, strip[2];
    } list[] = {
        {FIL_ROD_HELIX, 10, 1e-10, {5e-3, 2e-2}},    {FIL_ROD_HELIX, 20, 1e-10, {1e-3, 5e-3}},
        {FIL_ROD_CLOTHOID, 10, 1e-10, {1e-3, 1e-3}}, {FIL_ROD_CLOTHOID, 20, 1e-10, {5e-5, 5e-5}},
        {FIL_ROD_DER, 40, 1e-2, {4e-3, 4e-3}},       {FIL_ROD_DER, 80, 2.5e-3, {1e-3, 1e-3}},
        {FIL_ROD_CORDE, 40, 2.5e-3, {5e-3, 1e-2}}};
    for (size_t m = 0; m < sizeof list / sizeof *list && !v->stopped(); m++) {
        const FilRodModel model = list[m].model;
        const int elements = list[m].elements;
        validate_wrench(v, model, elements, list[m].wrench);
        validate_strip(v, "clamped strip, k = 0.5: height", model, elements, 0.5, list[m].strip[0]);
        validate_strip(v, "clamped strip, k = 0.85: height", model, elements, 0.85,
                       list[m].strip[1]);
    }
}

void validate_rod_statics(Validation *v) {
    validate_cantilever(v);
    validate_curled(v);
    validate_small_sag(v);
    validate_rest(v);
    validate_straight(v);
    validate_loaded(v);
}
