// curve.c - frame and centreline of a curve of polynomial curvature, segment by segment.
//
// The curve is cut where the power series of curve_series.c would lose digits: its terms are at
// most those of exp(A x), x = 1 at the ends of a segment (curve_bound.c), so that A <= GROWTH keeps
// the largest term below a small number whatever the curvature. GROWTH = 2 was measured: a segment
// turns by about 4 rad and takes 26 terms. The time with 50 samples is flat from 2 to 4 (the
// samples of long segments take more terms) and a third more at 1; the error after 1000 turns grows
// from 1e-14 to six times that at 4.
//
// Affine curvature has its own path: the step is the root of a quadratic. With u the curvature at
// the start and v its slope, half a step h must obey |u + h v| h + |v| h^2 / 2 <= GROWTH; for
// |u| h + 3/2 |v| h^2 = GROWTH it does, and h = 2 G / (|u| + sqrt(u^2 + 6 G |v|)) has no
// cancellation. Higher degrees are kept in Chebyshev's basis (curve_polynomial.c), expanded about
// the middle of a step that is guessed from the one before, and tried again if A is too large.
//
// Arc length is cut so that a segment's length, end - start, is exact: nothing accumulates there.
// The number of segments is bounded, for the angle is: those of affine curvature turn by 1 rad or
// more where |kappa| is largest, and a polynomial of degree d needs at most about d^2 more.
#include "filum/curve.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "curve_bound.h"
#include "curve_polynomial.h"
#include "curve_series.h"

#define GROWTH 2.0
#define LENGTH_MIN 1e-60 // so that squares of curvatures and slopes neither overflow nor vanish
#define LENGTH_MAX 1e60
#define NEGLIGIBLE 0x1p-60 // rad, of a segment's angle

typedef struct Curve {
    int degree;
    double length;
    double angle; // bound of the integral of |kappa|
    double condition;
    double coefficient[FIL_CURVE_ROWS][4]; // of s^k for degree <= 1, else of T_k(2 s / length - 1)
} Curve;

typedef struct Segment {
    double start, end, h;         // h is half its length
    int degree;                   // of the curvature here
    double mu[FIL_CURVE_ROWS][4]; // h kappa = sum mu_k x^k
} Segment;

// --- what is asked for ---------------------------------------------------------------------------

FilCurve fil_curve_default(void) {
    static const double straight[3] = {0.0, 0.0, 0.0};
    return (FilCurve){.coefficients = straight,
                      .length = 1.0,
                      .start = {.axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
}

static double norm3(const double *v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static FilStatus check_start(const FilPose *start, FilError *error) {
    const double(*n)[3] = start->axis;
    double off = 0.0;
    for (int i = 0; i < 3; i++) {
        if (!isfinite(start->position[i])) {
            return fil_fail(error, FIL_E_ARGUMENT, "start.position[%d] is %g; it must be finite", i,
                            start->position[i]);
        }
        const double *a = n[(i + 1) % 3], *b = n[(i + 2) % 3];
        const double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                 a[0] * b[1] - a[1] * b[0]};
        for (int k = 0; k < 3; k++) { // written so that NaN stays
            const double miss = fabs(n[i][k] - cross[k]);
            off = miss <= off ? off : miss;
        }
        const double miss = fabs(dot3(n[i], n[i]) - 1.0);
        off = miss <= off ? off : miss;
    }
    if (!(off <= 1e-6)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "start.axis is off by %g from a right-handed orthonormal frame; at most "
                        "1e-6 is allowed",
                        off);
    }
    return FIL_OK;
}

static FilStatus check_curve(const FilCurve *curve, FilError *error) {
    if (curve->basis != FIL_CURVE_POWERS && curve->basis != FIL_CURVE_CHEBYSHEV) {
        return fil_fail(error, FIL_E_ARGUMENT, "basis is %d; it must be powers or chebyshev",
                        (int)curve->basis);
    }
    if (curve->degree < 0 || curve->degree > FIL_CURVE_DEGREE_MAX) {
        return fil_fail(error, FIL_E_ARGUMENT, "degree is %d; it must be 0 to %d", curve->degree,
                        FIL_CURVE_DEGREE_MAX);
    }
    if (!(curve->length >= LENGTH_MIN && curve->length <= LENGTH_MAX)) {
        return fil_fail(error, FIL_E_ARGUMENT, "length is %g; it must be positive, %g to %g",
                        curve->length, LENGTH_MIN, LENGTH_MAX);
    }
    if (curve->coefficients == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT, "coefficients is NULL; %d are needed",
                        3 * (curve->degree + 1));
    }
    for (int i = 0; i < 3 * (curve->degree + 1); i++) {
        if (!isfinite(curve->coefficients[i])) {
            return fil_fail(error, FIL_E_ARGUMENT, "coefficients[%d] is %g; it must be finite", i,
                            curve->coefficients[i]);
        }
    }
    return check_start(&curve->start, error);
}

// The last place may lie beyond the end by rounding.
static FilStatus check_places(int count, const double *s, const FilPose *poses, double length,
                              FilError *error) {
    if (count < 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "count is %d; it must not be negative", count);
    }
    if (count > 0 && (s == NULL || poses == NULL)) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is NULL; an array of %d is needed",
                        s == NULL ? "s" : "poses", count);
    }
    for (int i = 0; i < count; i++) {
        if (!(s[i] >= 0.0 && s[i] <= length * (1.0 + 4.0 * DBL_EPSILON))) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "s[%d] is %.17g; it must lie in [0, length] = "
                            "[0, %.17g]",
                            i, s[i], length);
        }
        if (i > 0 && s[i] < s[i - 1]) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "s[%d] is %.17g, below s[%d] = %.17g; places must ascend", i, s[i],
                            i - 1, s[i - 1]);
        }
    }
    return FIL_OK;
}

// --- the curvature -------------------------------------------------------------------------------

static void copy_rows(int degree, const double *from, double to[][4]) {
    for (int k = 0; k <= degree; k++) {
        for (int i = 0; i < 4; i++) {
            to[k][i] = i < 3 ? from[3 * k + i] : 0.0;
        }
    }
}

// Coefficients of s^k from those of T_k, degree <= 1.
static void make_affine(const FilCurve *curve, Curve *c) {
    copy_rows(curve->degree, curve->coefficients, c->coefficient);
    for (int i = 0; i < 3 && curve->basis == FIL_CURVE_CHEBYSHEV && curve->degree == 1; i++) {
        c->coefficient[0][i] -= c->coefficient[1][i];
        c->coefficient[1][i] *= 2.0 / curve->length;
    }
    double far[3];
    for (int i = 0; i < 3; i++) {
        c->coefficient[1][i] = curve->degree == 1 ? c->coefficient[1][i] : 0.0;
        far[i] = c->coefficient[0][i] + curve->length * c->coefficient[1][i];
    }
    const double at_start = norm3(c->coefficient[0]), at_end = norm3(far);
    const double larger = at_start > at_end ? at_start : at_end;
    c->angle = curve->length * (at_end <= larger ? larger : at_end); // NaN stays
    const double sum = at_start + curve->length * norm3(c->coefficient[1]);
    c->condition = larger > 0.0 ? sum / larger : 1.0;
}

static void make_chebyshev(const FilCurve *curve, Curve *c) {
    double sum = 0.0, largest = 0.0, total = 0.0;
    if (curve->basis == FIL_CURVE_POWERS) {
        sum = fil_curve_to_chebyshev(curve->degree, curve->length, curve->coefficients,
                                     c->coefficient);
    } else {
        copy_rows(curve->degree, curve->coefficients, c->coefficient);
    }
    for (int k = 0; k <= curve->degree; k++) {
        const double size = norm3(c->coefficient[k]);
        largest = size <= largest ? largest : size;
        total += size;
    }
    c->angle = curve->length * total;
    c->condition = sum > largest && largest > 0.0 ? sum / largest : 1.0;
}

static void make_curve(const FilCurve *curve, Curve *c) {
    c->degree = curve->degree;
    c->length = curve->length;
    (curve->degree <= 1 ? make_affine : make_chebyshev)(curve, c);
}

static FilStatus check_angle(const Curve *c, FilError *error) {
    if (!(c->angle <= FIL_CURVE_ANGLE_MAX)) { // not a number where infinities met
        return fil_fail(error, FIL_E_ARGUMENT,
                        "coefficients let the curve turn by up to %g rad over its length of %g; "
                        "at most %g can be followed",
                        isnan(c->angle) ? INFINITY : c->angle, c->length, FIL_CURVE_ANGLE_MAX);
    }
    return FIL_OK;
}

void fil_curve_curvature(const FilCurve *curve, double s, double kappa[3]) {
    Curve c;
    make_curve(curve, &c);
    double local[FIL_CURVE_ROWS][4];
    if (c.degree > 1) {
        fil_curve_expand(c.degree, c.coefficient[0], 2.0 * s / c.length - 1.0, local);
    }
    for (int i = 0; i < 3; i++) {
        kappa[i] = c.degree > 1 ? local[0][i] : c.coefficient[0][i] + s * c.coefficient[1][i];
    }
}

// --- segments ------------------------------------------------------------------------------------

static void set_end(const Curve *c, double h, Segment *segment) {
    const double end = segment->start + 2.0 * h;
    // no crumbs: what would be left for a last, tiny segment is shared
    const double left = c->length - segment->start;
    segment->end = !(end < c->length) ? c->length
                   : 4.0 * h > left   ? segment->start + 0.5 * left
                                      : end;
    segment->h = 0.5 * (segment->end - segment->start);
}

// The next segment of affine curvature, and the degree of its series.
static int cut_affine(const Curve *c, Segment *segment) {
    const double *u0 = c->coefficient[0], *v = c->coefficient[1];
    double u[3], middle[3];
    for (int i = 0; i < 3; i++) {
        u[i] = u0[i] + segment->start * v[i];
    }
    const double uu = dot3(u, u), slope = norm3(v);
    set_end(c, 2.0 * GROWTH / (sqrt(uu) + sqrt(uu + 6.0 * GROWTH * slope)), segment);
    const double h = segment->h, s = segment->start + h;
    for (int i = 0; i < 3; i++) {
        middle[i] = u0[i] + s * v[i];
        segment->mu[0][i] = middle[i] * h;
        segment->mu[1][i] = v[i] * h * h;
    }
    segment->degree = 1;
    const double norm[2] = {norm3(middle) * h, slope * h * h};
    return fil_series_degree(1, norm, FIL_SERIES_DEGREE);
}

// Scale the expansion about the middle to half the length h, and drop what does not matter.
static double scale_local(const Curve *c, Segment *segment, double *norm) {
    const double eta = 2.0 * segment->h / c->length;
    double factor = segment->h, growth = 0.0;
    for (int k = 0; k <= c->degree; k++) {
        for (int i = 0; i < 3; i++) {
            segment->mu[k][i] *= factor;
        }
        norm[k] = norm3(segment->mu[k]);
        growth += norm[k] / (k + 1.0);
        factor *= eta;
    }
    double dropped = 0.0;
    segment->degree = c->degree;
    while (segment->degree > 1 && dropped + norm[segment->degree] <= NEGLIGIBLE) {
        dropped += norm[segment->degree--];
    }
    return growth;
}

// The same for any degree. `guess`, half a length, becomes that for the next segment.
static int cut_any(const Curve *c, double *guess, Segment *segment) {
    double norm[FIL_CURVE_ROWS];
    bool again = false;
    for (double h = *guess;; again = true) {
        set_end(c, h, segment);
        const double middle = 2.0 * (segment->start + segment->h) / c->length - 1.0;
        fil_curve_expand(c->degree, c->coefficient[0], fmin(middle, 1.0), segment->mu);
        const double growth = scale_local(c, segment, norm);
        const int degree = fil_series_degree(segment->degree, norm, FIL_SERIES_DEGREE);
        if (growth <= GROWTH && degree <= FIL_SERIES_DEGREE) {
            *guess = segment->h * fmin(fmax(0.95 * GROWTH / growth, 0.5), again ? 1.0 : 2.0);
            return degree;
        }
        h = segment->h * fmin(fmax(0.95 * GROWTH / growth, 0.25), 0.75);
    }
}

// --- the walk ------------------------------------------------------------------------------------

// Poses at the places up to the end of the segment; returns how many.
static int sample(const FilSeriesKernels *kernels, const FilSeries *series, const Segment *segment,
                  int count, const double *s, FilPose *poses) {
    enum { BATCH = 64 };
    double x[BATCH];
    int done = 0, ready = 0;
    do {
        for (ready = 0; ready < BATCH && done + ready < count && s[done + ready] <= segment->end;
             ready++) {
            x[ready] = (s[done + ready] - segment->start - segment->h) / segment->h;
        }
        kernels->sample(series, ready, x, poses + done);
        done += ready;
    } while (ready == BATCH);
    return done;
}

FilStatus fil_curve_evaluate(const FilCurve *curve, int count, const double *s, FilPose *poses,
                             FilCurveInfo *info, FilError *error) {
    FIL_TRY(check_curve(curve, error));
    FIL_TRY(check_places(count, s, poses, curve->length, error));
    Curve c;
    make_curve(curve, &c);
    FIL_TRY(check_angle(&c, error));

    const FilSeriesKernels *kernels = fil_series_kernels();
    Segment segment = {.end = 0.0};
    FilSeries series;
    FilPose pose = curve->start;
    int segments = 0, terms = 0, done = 0;
    double guess = c.angle > 0.0 ? GROWTH * c.length / c.angle : c.length;
    while (segment.end < c.length && (info != NULL || done < count)) {
        segment.start = segment.end;
        series.degree = c.degree <= 1 ? cut_affine(&c, &segment) : cut_any(&c, &guess, &segment);
        series.degree |= 1;
        kernels->build(segment.degree, segment.mu[0], &series);
        series.h = segment.h;
        kernels->advance(&series, &pose);
        if (done < count && s[done] <= segment.end) {
            done += sample(kernels, &series, &segment, count - done, s + done, poses + done);
        }
        segments++;
        terms += series.degree + 1;
    }
    while (done < count) { // beyond the end by rounding
        poses[done++] = pose;
    }
    if (info != NULL) {
        *info = (FilCurveInfo){.end = pose,
                               .segments = segments,
                               .terms = terms,
                               .angle = c.angle,
                               .condition = c.condition};
    }
    return FIL_OK;
}
