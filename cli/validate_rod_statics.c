// validate_rod_statics.c - rods in equilibrium against closed forms.
//
// Heavy cantilever: clamped along x, weight w per length along -z, EI = 1, natural curvature
// kappa_n about y. Its angle theta (from x towards -z) obeys theta'' = -w (L - s) cos(theta),
// theta(0) = 0, theta'(L) = kappa_n. (theta, theta', x, z) is integrated from the root by RK4 with
// 4000 steps (error below 1e-12); theta'(0) is found by the secant method.
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
#include <stdio.h>

enum { SAMPLES = 100, REFINE = 40, STEPS = SAMPLES * REFINE };

// --- the heavy cantilever ------------------------------------------------------------------------

typedef struct Cantilever {
    double weight, natural;
    double point[SAMPLES + 1][2];   // x, z at s = k / SAMPLES
    double refined[SAMPLES + 1][2]; // the same of a clothoid of 32 elements
} Cantilever;

// y = (theta, theta', x, z).
static void differentiate(const Cantilever *c, double s, const double y[4], double out[4]) {
    out[0] = y[1];
    out[1] = -c->weight * (1.0 - s) * cos(y[0]);
    out[2] = cos(y[0]);
    out[3] = -sin(y[0]);
}

static void step_rk4(const Cantilever *c, double s, double h, double y[4]) {
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double k[4] = {0.0}, sum[4] = {0.0}, at[4];
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 4; i++) {
            at[i] = y[i] + part[stage] * h * k[i];
        }
        differentiate(c, s + part[stage] * h, at, k);
        for (int i = 0; i < 4; i++) {
            sum[i] += weight[stage] * k[i];
        }
    }
    for (int i = 0; i < 4; i++) {
        y[i] += h / 6.0 * sum[i];
    }
}

// Integrate with theta'(0) = slope; returns how far theta'(L) is from the natural curvature.
static double shoot(Cantilever *c, double slope) {
    double y[4] = {0.0, slope, 0.0, 0.0};
    c->point[0][0] = c->point[0][1] = 0.0;
    for (int i = 0; i < STEPS; i++) {
        step_rk4(c, (double)i / STEPS, 1.0 / STEPS, y);
        if ((i + 1) % REFINE == 0) {
            c->point[(i + 1) / REFINE][0] = y[2];
            c->point[(i + 1) / REFINE][1] = y[3];
        }
    }
    return y[1] - c->natural;
}

static Cantilever solve_cantilever(double weight, double natural, double guess) {
    Cantilever c = {.weight = weight, .natural = natural};
    double a = guess, b = guess * (1.0 + 1e-4), fa = shoot(&c, a), fb = shoot(&c, b);
    for (int k = 0; k < 30 && fabs(fb) > 1e-13 && fa != fb; k++) {
        double next = b - fb * (b - a) / (fb - fa);
        a = b;
        fa = fb;
        b = next;
        fb = shoot(&c, b);
    }
    return c;
}

static void sample(const FilRod *rod, double point[][2]) {
    for (int k = 0; k <= SAMPLES; k++) {
        FilPose pose;
        fil_rod_at(rod, (double)k / SAMPLES, &pose, NULL);
        point[k][0] = pose.position[0];
        point[k][1] = pose.position[2];
    }
}

static FilRodDef cantilever_def(FilRodModel model, int elements, double weight, double natural) {
    FilRodDef def = validate_rod(model, elements);
    def.gravity[2] = -weight;
    def.natural_curvature[1] = natural;
    return def;
}

// A clothoid of 32 elements, which the published distances are taken from; its curvature at the
// clamp is where the reference starts.
static Cantilever find_reference(Validation *v, double weight, double natural) {
    FilRodDef def = cantilever_def(FIL_ROD_CLOTHOID, 32, weight, natural);
    FilRod *rod = validate_create(v, "heavy cantilever", &def);
    double kappa[3] = {0.0};
    Cantilever c = {0};
    if (rod != NULL && validate_equilibrium(v, "heavy cantilever", &def, rod)) {
        fil_rod_curvature_at(rod, 0, 0.0, kappa);
        c = solve_cantilever(weight, natural, kappa[1]);
        sample(rod, c.refined);
    }
    fil_rod_destroy(rod);
    return c;
}

static double rms(double (*a)[2], double (*b)[2]) {
    double sum = 0.0;
    for (int k = 1; k <= SAMPLES; k++) {
        double dx = a[k][0] - b[k][0], dz = a[k][1] - b[k][1];
        sum += dx * dx + dz * dz;
    }
    return sqrt(sum / SAMPLES);
}

// The samples of a model's equilibrium; false: failed.
static bool find_shape(Validation *v, const char *name, FilRodModel model, int elements,
                       const Cantilever *c, double point[][2]) {
    FilRodDef def = cantilever_def(model, elements, c->weight, c->natural);
    FilRod *rod = validate_create(v, name, &def);
    bool fine = rod != NULL && validate_equilibrium(v, name, &def, rod);
    if (fine) {
        sample(rod, point);
    }
    fil_rod_destroy(rod);
    return fine;
}

typedef struct Published {
    FilRodModel model;
    double rms[3]; // at 4, 8, 16 elements; 0: nothing is published
    double order, order_allowed, tip_allowed;
} Published;

static void validate_published(Validation *v, const Published *p, Cantilever *c) {
    const char *model = fil_rod_model_name(p->model);
    double point[SAMPLES + 1][2], last = 0.0, error = 0.0;
    for (int k = 0; k < 3; k++) {
        if (!find_shape(v, "heavy cantilever", p->model, 4 << k, c, point)) {
            return;
        }
        last = error;
        error = rms(point, c->point);
        if (p->rms[k] > 0.0) {
            validate_ratio(v, "heavy cantilever: rms distance", model, 4 << k, p->rms[k],
                           rms(point, c->refined), 0.03);
        }
    }
    validate_near(v, "heavy cantilever: order of convergence", model, 16, p->order,
                  log2(last / error), p->order_allowed);
    validate_near(v, "heavy cantilever: tip x", model, 16, c->point[SAMPLES][0], point[SAMPLES][0],
                  p->tip_allowed);
    validate_near(v, "heavy cantilever: tip z", model, 16, c->point[SAMPLES][1], point[SAMPLES][1],
                  p->tip_allowed);
}

static void validate_cantilever(Validation *v) {
    static const Published list[] = {
        {FIL_ROD_HELIX, {1.09e-2, 2.70e-3, 6.75e-4}, 2.0, 0.1, 2e-3},
        {FIL_ROD_CLOTHOID, {1.02e-4, 5.74e-6, 3.34e-7}, 4.0, 0.2, 1e-6},
        {FIL_ROD_DER, {0}, 2.0, 0.2, 1e-2},
        {FIL_ROD_CORDE, {0}, 2.0, 0.5, 1e-2},
        {FIL_ROD_CHAIN, {0}, 2.0, 0.5, 1e-2},
    };
    Cantilever c = find_reference(v, 10.0, 0.0);
    validate_near(v, "heavy cantilever: reference, tip x", "-", STEPS, 0.656353752,
                  c.point[SAMPLES][0], 2e-8);
    validate_near(v, "heavy cantilever: reference, tip z", "-", STEPS, -0.700199700,
                  c.point[SAMPLES][1], 2e-8);
    for (size_t m = 0; m < sizeof list / sizeof *list && !v->stopped(); m++) {
        validate_published(v, &list[m], &c);
    }
}

// A rod that curls naturally into a full circle.
static void validate_curled(Validation *v) {
    const double natural = -2.0 * 3.14159265358979323846;
    static const struct {
        FilRodModel model;
        double rms;
    } list[] = {{FIL_ROD_HELIX, 6.3e-4}, {FIL_ROD_CLOTHOID, 2.5e-6}};
    Cantilever c = find_reference(v, 10.0, natural);
    for (int m = 0; m < 2; m++) {
        double point[SAMPLES + 1][2];
        if (find_shape(v, "curled cantilever", list[m].model, 16, &c, point)) {
            validate_ratio(v, "curled cantilever: rms distance", fil_rod_model_name(list[m].model),
                           16, list[m].rms, rms(point, c.refined), 0.03);
        }
    }
}

static void validate_small_sag(Validation *v) {
    const double weight = 1e-3;
    static const double allowed[FIL_ROD_MODEL_COUNT] = {[FIL_ROD_HELIX] = 5e-3,
                                                        [FIL_ROD_CLOTHOID] = 1e-6,
                                                        [FIL_ROD_DER] = 1e-2,
                                                        [FIL_ROD_CORDE] = 1e-2,
                                                        [FIL_ROD_CHAIN] = 1e-2};
    for (int m = 0; m < FIL_ROD_MODEL_COUNT && !v->stopped(); m++) {
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
                           1e-20);
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
        validate_below(v, "rod held straight: off the element's mean", "helix", n, worst, 1e-13);
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
                      1e-13);
        validate_near(v, "rod held straight: at the tip", "clothoid", 1, 5.0 / 6.0, tip[1], 1e-13);
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

static void validate_strip(Validation *v, FilRodModel model, int elements, double k,
                           double allowed) {
    const char *name = "clamped strip pushed together: height";
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
        double wrench, strip;
    } list[] = {{FIL_ROD_HELIX, 10, 1e-9, 2e-2},    {FIL_ROD_HELIX, 20, 1e-9, 5e-3},
                {FIL_ROD_CLOTHOID, 10, 1e-9, 1e-3}, {FIL_ROD_CLOTHOID, 20, 1e-9, 5e-5},
                {FIL_ROD_DER, 40, 1e-2, 2e-2},      {FIL_ROD_DER, 80, 2.5e-3, 5e-3},
                {FIL_ROD_CORDE, 40, 1e-2, 2e-2}};
    for (size_t m = 0; m < sizeof list / sizeof *list && !v->stopped(); m++) {
        validate_wrench(v, list[m].model, list[m].elements, list[m].wrench);
        validate_strip(v, list[m].model, list[m].elements, 0.5, list[m].strip);
        validate_strip(v, list[m].model, list[m].elements, 0.85, list[m].strip);
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
