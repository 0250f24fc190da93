// validate_rod_geometry.c - the frame and centreline of curves of known curvature (Casati 2015,
// chapter 4). V1 to V8 number what was made of that chapter to check a program by; its values are
// those of scripts/reference-values, with 60 digits, and not in the thesis unless this is said.
#include "validate.h"

#include "filum/curve.h"
#include "rod/curve_bound.h"

#include <float.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct Known {
    const char *name;
    int degree;
    double length;
    double coefficients[24];
    double position[3], tangent[3];
    double allowed;
} Known;

static const Known curves[] = {
    {"benchmark curve: 18 digits (V2)",
     1,
     0.2,
     {100.0, 0.0, 0.0, -500.0, 500.0, 500.0},
     {0.109268937442441605, -0.0123322445488184882, 0.00439822085752946348},
     {0.0477209139577992398, 0.14653322463814861, -0.988054010896255711},
     4e-15},
    {"Cornu spiral, kappa = s / 2 (V3)",
     1,
     4.0,
     {0.0, 0.0, 0.0, 0.0, 0.0, 0.5},
     {0.922922924866432746, 1.60955297868751222, 0.0},
     {-0.65364362086361191464, -0.75680249530792825137, 0.0},
     4e-15},
    {"Fresnel integrals at 4 (V3)",
     1,
     4.0,
     {0.0, 0.0, 0.0, 0.0, 0.0, 3.14159265358979323846},
     {0.498426033038177616, 0.420515754246928424, 0.0},
     {1.0, 0.0, 0.0},
     4e-15},
    {"helix of 50 rad (V4)",
     0,
     10.0,
     {3.0, 4.0, 0.0},
     {3.56641601872589712, 4.82518798595557716, -0.00560543544126187615},
     {0.9775782582349524954, 0.016816306323785628447, 0.20989988296314302873},
     4e-14},
    {"curvature of degree 7 (V7)",
     7,
     1.0,
     {0.0, 0.0, 0.0,     0.0, 0.0, -5.0,     0.0, 0.0, 353.0,   0.0, 0.0, -3026.0,
      0.0, 0.0, 10012.0, 0.0, 0.0, -15656.0, 0.0, 0.0, 11651.0, 0.0, 0.0, -3329.0},
     {0.99583734928617509568, 0.072046434762750749639, 0.0},
     {0.99931909655999245409, 0.036896385331363798977, 0.0},
     4e-15},
};

static double largest_difference(const double *a, const double *b, int count) {
    double worst = 0.0;
    for (int k = 0; k < count; k++) {
        worst = fmax(worst, fabs(a[k] - b[k]));
    }
    return worst;
}

static double off_orthonormal(const FilPose *pose) {
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? -1.0 : 0.0;
            for (int k = 0; k < 3; k++) {
                sum += pose->axis[i][k] * pose->axis[j][k];
            }
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

static bool follow(Validation *v, const char *name, const FilCurve *curve, FilCurveInfo *info) {
    FilError error;
    if (fil_curve_evaluate(curve, 0, NULL, NULL, info, &error) != FIL_OK) {
        validate_fail(v, name, "curve", 0, &error);
        return false;
    }
    return true;
}

static void validate_known(Validation *v) {
    for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) {
        const Known *known = &curves[k];
        FilCurve curve = fil_curve_default();
        curve.degree = known->degree;
        curve.coefficients = known->coefficients;
        curve.length = known->length;
        FilCurveInfo info;
        if (!follow(v, known->name, &curve, &info)) {
            continue;
        }
        double off = fmax(largest_difference(info.end.position, known->position, 3),
                          largest_difference(info.end.axis[0], known->tangent, 3));
        validate_below(v, known->name, "curve", info.segments, off, known->allowed);
        validate_below(v, "  its axes from orthonormal (V8)", "curve", info.segments,
                       off_orthonormal(&info.end), 2e-14);
    }
}

// kappa of a fixed direction: the frame turns by the integral of its size (V6).
static void validate_fixed_direction(Validation *v) {
    const double d[3] = {2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0}, f[3] = {28.0, 14.0, -21.0};
    double lambda[9], tangent[3];
    for (int k = 0; k < 9; k++) {
        lambda[k] = f[k / 3] * d[k % 3];
    }
    FilCurve curve = fil_curve_default();
    curve.degree = 2;
    curve.coefficients = lambda;
    curve.length = 1.5;
    double s = 1.5, angle = s * (28.0 + s * (7.0 - 7.0 * s));
    const double cross[3] = {0.0, d[2], -d[1]}; // d x e0
    for (int k = 0; k < 3; k++) {
        tangent[k] =
            (1.0 - cos(angle)) * d[0] * d[k] + sin(angle) * cross[k] + (k == 0 ? cos(angle) : 0.0);
    }
    FilCurveInfo info;
    if (follow(v, "fixed direction: turned by the integral (V6)", &curve, &info)) {
        validate_below(v, "fixed direction: turned by the integral (V6)", "curve", info.segments,
                       largest_difference(info.end.axis[0], tangent, 3), 2e-14);
    }
}

// A rotation by s radians. Summed without cuts its series loses digits as eps e^s / sqrt(2 pi s),
// 6e-9 at 20, all of them at 40 (V1).
static void validate_rotation(Validation *v) {
    static const double angles[3] = {20.0, 30.0, 50.0};
    const char *name = "turned where a naive series loses digits (V1)";
    const double lambda[3] = {0.0, 0.0, 1.0};
    for (int k = 0; k < 3; k++) {
        FilCurve curve = fil_curve_default();
        curve.degree = 0;
        curve.coefficients = lambda;
        curve.length = angles[k];
        const double tangent[3] = {cos(angles[k]), sin(angles[k]), 0.0};
        FilCurveInfo info;
        if (follow(v, name, &curve, &info)) {
            validate_below(v, name, "curve", (int)angles[k],
                           largest_difference(info.end.axis[0], tangent, 3), 2e-14);
        }
    }
}

// Casati's bounds: with C(s) = 2 sum |lambda_k| s^(k+1) the series may be cut off after f(omega)
// terms, 0 < omega < 1, for an error of epsilon (V4b); a segment may reach to C(s) = 20.44 (V5,
// V7).
static void validate_bounds(Validation *v) {
    const double affine[6] = {10.0, 0.0, 0.0, 0.0, 5.0, 0.0}; // C(s) = s (10 s + 20)
    const double helix[3] = {0.0, 1.0, 0.0};
    double best = HUGE_VAL, where = 0.0;
    for (int k = 0; k < 2000; k++) {
        const double omega = 0.5 + 1e-4 * k;
        const double terms = fil_casati_terms(1, affine, 10.0, omega, DBL_EPSILON);
        where = terms < best ? omega : where;
        best = fmin(best, terms);
    }
    validate_near(v, "Casati's bound: terms at omega = 1/2 (V4b)", "curve", 0, 6401.0,
                  ceil(fil_casati_terms(1, affine, 10.0, 0.5, DBL_EPSILON)), 0.0);
    validate_near(v, "Casati's bound: fewest terms (V4b)", "curve", 0, 6157.0, ceil(best), 0.0);
    validate_near(v, "Casati's bound: best omega (V4b)", "curve", 0, 0.586, where, 5e-4);
    validate_near(v, "Casati's segment of a helix, turns (V5)", "curve", 0, 1.63,
                  fil_casati_step(0, helix, 20.44) / (2.0 * pi), 5e-3);
    validate_near(v, "Casati's first segment, degree 7 (V7)", "curve", 0, 0.1916,
                  fil_casati_step(7, curves[4].coefficients, 20.44), 5e-5);
}

void validate_rod_geometry(Validation *v) {
    validate_known(v);
    validate_fixed_direction(v);
    validate_rotation(v);
    validate_bounds(v);
}
