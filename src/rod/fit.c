// fit.c - start curvatures that lay a rod on a curve.
//
// The curve goes through the points as cubics whose slopes are differences of neighbours. It is cut
// into short chords; along them a frame is carried that does not turn about the tangent (Bishop).
//
// First guess. In that frame the tangent turns as t' = kappa2 n1 - kappa1 n2; the curvature of an
// element (helix) or around a joint (the others) is the mean of that, turned by the pretwist.
//
// Then Gauss-Newton with damping (Levenberg-Marquardt) on the places x(s_i), twice an element.
// The rod itself is the forward map (fil_rod_create, fil_rod_at), so that every model is fitted as
// it is; its derivative is that of the smooth curve: turning the section s by dw moves all that
// lies behind by dw x (x - x(s)), so
//     dx_i = sum_q w_q (dkappa1 n1 + dkappa2 n2)(s_q) x (x_i - x_q),   s_q < s_i.
// Only the two bending curvatures are unknown; the twist stays what the pretwist says. Beyond
// FIT_ELEMENTS the first guess is good to second order and the dense equations would be slow.
#include "fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/cholesky.h"
#include "math/rotation.h"
#include "math/vec3.h"

#define BEND_MAX 6.0

enum { FINE = 4000, FIT_ELEMENTS = 200, ITERATIONS = 25, PER_ELEMENT = 4 };

// The fine curve: chords, with the sums of what the tangent turns in the frame.
typedef struct Fine {
    int count;
    double *x;    // [count][3]
    double *s;    // [count] arc length
    double *turn; // [count][2]: integral of (kappa1, kappa2) up to there
    double axis[3][3];
} Fine;

typedef struct Fit {
    const FilRodDef *def;
    FilArena *arena;
    FilError *error;
    Fine fine;
    double length, stretch; // of the rod; rod / curve
    double twist;           // 1/m
    int places;             // with curvatures
    double *joint;          // [element_count + 1] arc length
    double *kappa, *trial;  // [places][3]
    int samples;            // 2 per element
    double *residual;       // [samples][3]: where it should be minus where it is
    double *section;        // [PER_ELEMENT * element_count][9]: x, n1, n2
    double *jacobian;       // [3 samples][2 places]
    double *normal, *step;
    int *first;
    FilPose root;
} Fit;

static FilStatus fail_memory(FilError *error) {
    (void)fil_fail(error, FIL_E_NO_MEMORY, "not enough memory to fit a rod to points");
    return FIL_E_NO_MEMORY;
}

static FilStatus check_points(const FilRodCurve *curve, FilError *error) {
    if (curve->point_count < 2) {
        return fil_fail(error, FIL_E_ARGUMENT, "points has %d places; a curve needs at least 2",
                        curve->point_count);
    }
    for (int i = 0; i < curve->point_count; i++) {
        const double *p = curve->points + 3 * (ptrdiff_t)i;
        if (!(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))) {
            return fil_fail(error, FIL_E_ARGUMENT, "points[%d] is not finite", i);
        }
        double edge[3];
        if (i > 0) {
            fil_subtract3(p, p - 3, edge);
            if (!(fil_norm3(edge) > 0.0 && isfinite(fil_norm3(edge)))) {
                return fil_fail(error, FIL_E_ARGUMENT,
                                "points[%d] is where points[%d] is; neighbours must differ", i,
                                i - 1);
            }
        }
    }
    return FIL_OK;
}

// ------------------------------------------------------------------------------------ the curve

static double distance(const double *a, const double *b) {
    double edge[3];
    fil_subtract3(b, a, edge);
    return fil_norm3(edge);
}

// Slope at point i per chord length: of the parabola through it and its neighbours.
static void slope_at(const FilRodCurve *curve, int i, double out[3]) {
    const double *p = curve->points + 3 * (ptrdiff_t)i;
    const int last = curve->point_count - 1;
    if (last == 1 || i == 0 || i == last) {
        const double *a = i == 0 ? p : p - 3, *b = i == 0 ? p + 3 : p;
        const double h = distance(a, b);
        double inner[3];
        for (int k = 0; k < 3; k++) {
            out[k] = (b[k] - a[k]) / h;
        }
        if (last > 1) { // the end of the parabola whose other end has the slope `inner`
            slope_at(curve, i == 0 ? 1 : last - 1, inner);
            for (int k = 0; k < 3; k++) {
                out[k] = 2.0 * out[k] - inner[k];
            }
        }
        return;
    }
    const double h0 = distance(p - 3, p), h1 = distance(p, p + 3);
    for (int k = 0; k < 3; k++) {
        const double d0 = (p[k] - p[k - 3]) / h0, d1 = (p[k + 3] - p[k]) / h1;
        out[k] = (h1 * d0 + h0 * d1) / (h0 + h1);
    }
}

static void refine(const FilRodCurve *curve, int parts, Fine *fine) {
    int count = 0;
    for (int i = 0; i + 1 < curve->point_count; i++) {
        const double *a = curve->points + 3 * (ptrdiff_t)i, *b = a + 3;
        const double h = distance(a, b);
        double m0[3], m1[3];
        slope_at(curve, i, m0);
        slope_at(curve, i + 1, m1);
        for (int j = 0; j < parts; j++, count++) {
            const double u = (double)j / parts, v = 1.0 - u;
            double *x = fine->x + 3 * (ptrdiff_t)count;
            for (int k = 0; k < 3; k++) {
                x[k] = a[k] * v * v * (1.0 + 2.0 * u) + b[k] * u * u * (1.0 + 2.0 * v) +
                       h * u * v * (v * m0[k] - u * m1[k]);
            }
        }
    }
    fil_copy3(curve->points + 3 * (ptrdiff_t)(curve->point_count - 1),
              fine->x + 3 * (ptrdiff_t)count);
    fine->count = count + 1;
}

void fil_axes_along(const double along[3], const double up[3], double axis[3][3]) {
    const double size = fil_norm3(along);
    for (int k = 0; k < 3; k++) {
        axis[0][k] = along[k] / size;
    }
    double third[3];
    fil_copy3(up, third);
    fil_add3(-fil_dot3(up, axis[0]), axis[0], third);
    if (!(fil_norm3(third) > 1e-9 * fil_norm3(up))) { // any direction across
        const int least = fabs(axis[0][0]) < 0.6 ? 0 : 1;
        for (int k = 0; k < 3; k++) {
            third[k] = (k == least) - axis[0][least] * axis[0][k];
        }
    }
    const double width = fil_norm3(third);
    for (int k = 0; k < 3; k++) {
        axis[2][k] = third[k] / width;
    }
    fil_cross3(axis[2], axis[0], axis[1]);
}

// Arc lengths, and what the tangent turns by in a frame that does not turn about it.
static bool measure(const FilRodCurve *curve, Fine *fine) {
    double tangent[3], next[3], n1[3], n2[3], R[9], moved[3];
    slope_at(curve, 0, tangent);
    if (!(fil_norm3(tangent) > 0.0)) {
        return false;
    }
    fil_axes_along(tangent, curve->up, fine->axis);
    fil_copy3(fine->axis[0], tangent);
    fil_copy3(fine->axis[1], n1);
    fil_copy3(fine->axis[2], n2);
    fine->s[0] = fine->turn[0] = fine->turn[1] = 0.0;
    for (int i = 1; i < fine->count; i++) {
        const double *x = fine->x + 3 * (ptrdiff_t)i;
        fil_subtract3(x, x - 3, next);
        const double h = fil_norm3(next);
        if (!(h > 0.0)) {
            return false;
        }
        for (int k = 0; k < 3; k++) {
            next[k] /= h;
        }
        double axis[3]; // of the turn, its length the sine
        fil_cross3(tangent, next, axis);
        const double sine = fil_norm3(axis), angle = atan2(sine, fil_dot3(tangent, next));
        const double scale = sine > 0.0 ? angle / sine : 0.0;
        fine->s[i] = fine->s[i - 1] + h;
        double *turn = fine->turn + 2 * (ptrdiff_t)i; // the turn happens at point i - 1
        turn[0] = turn[-2] + scale * fil_dot3(axis, n1);
        turn[1] = turn[-1] + scale * fil_dot3(axis, n2);
        fil_rotation_between(tangent, next, R);
        fil_apply3(R, n1, moved);
        fil_copy3(moved, n1);
        fil_apply3(R, n2, moved);
        fil_copy3(moved, n2);
        fil_copy3(next, tangent);
    }
    return isfinite(fine->s[fine->count - 1]);
}

static FilStatus build_fine(Fit *fit, const FilRodCurve *curve) {
    const int chords = curve->point_count - 1;
    const int parts = chords >= FINE / 2 ? 1 : FINE / chords > 64 ? 64 : FINE / chords;
    const size_t most = (size_t)chords * (size_t)parts + 1;
    Fine *fine = &fit->fine;
    fine->x = FIL_NEW(fit->arena, double, 3 * most);
    fine->s = FIL_NEW(fit->arena, double, most);
    fine->turn = FIL_NEW(fit->arena, double, 2 * most);
    if (fit->arena->failed) {
        return fail_memory(fit->error);
    }
    refine(curve, parts, fine);
    if (!measure(curve, fine)) {
        return fil_fail(fit->error, FIL_E_ARGUMENT,
                        "points make a curve that turns back on itself; give them closer together");
    }
    return FIL_OK;
}

// The chord that holds the arc length s of the rod, and the fraction of it.
static int find_chord(const Fit *fit, double s, double *fraction) {
    const Fine *fine = &fit->fine;
    const double target = s / fit->stretch;
    int low = 0, high = fine->count - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(fine->s[middle] <= target ? &low : &high) = middle;
    }
    const double u = (target - fine->s[low]) / (fine->s[high] - fine->s[low]);
    *fraction = fmin(fmax(u, 0.0), 1.0);
    return low;
}

static void curve_at(const Fit *fit, double s, double x[3]) {
    double u;
    const double *a = fit->fine.x + 3 * (ptrdiff_t)find_chord(fit, s, &u);
    for (int k = 0; k < 3; k++) {
        x[k] = fit->fine.x[0 + k] +
               fit->stretch * ((1.0 - u) * a[k] + u * a[3 + k] - fit->fine.x[0 + k]);
    }
}

static void turn_until(const Fit *fit, double s, double turn[2]) {
    double u;
    const double *a = fit->fine.turn + 2 * (ptrdiff_t)find_chord(fit, s, &u);
    turn[0] = (1.0 - u) * a[0] + u * a[2];
    turn[1] = (1.0 - u) * a[1] + u * a[3];
}

// ------------------------------------------------------------------------------------ first guess

// Arc lengths of the joints, and of the rod.
static void lay_joints(Fit *fit) {
    const int n = fit->def->element_count;
    const double *given = fit->def->element_lengths;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += given != NULL ? given[i] : 1.0;
    }
    fit->joint[0] = 0.0;
    for (int i = 0; i < n; i++) {
        const double share = (given != NULL ? given[i] : 1.0) / sum;
        fit->joint[i + 1] = fit->joint[i] + share * fit->length;
    }
    fit->joint[n] = fit->length;
}

// The part of the rod whose curvature place k is.
static void reach_of(const Fit *fit, int k, double reach[2]) {
    const int n = fit->def->element_count;
    const double *joint = fit->joint;
    const bool whole = fit->places == n;
    reach[0] = whole || k == 0 ? joint[k] : 0.5 * (joint[k - 1] + joint[k]);
    reach[1] = whole ? joint[k + 1] : k == n ? joint[n] : 0.5 * (joint[k] + joint[k + 1]);
}

static void guess(Fit *fit) {
    for (int k = 0; k < fit->places; k++) {
        double reach[2], from[2], to[2];
        reach_of(fit, k, reach);
        turn_until(fit, reach[0], from);
        turn_until(fit, reach[1], to);
        const double h = reach[1] - reach[0], angle = fit->twist * 0.5 * (reach[0] + reach[1]);
        const double a = (to[0] - from[0]) / h, b = (to[1] - from[1]) / h;
        double *kappa = fit->kappa + 3 * (ptrdiff_t)k;
        kappa[0] = fit->twist;
        kappa[1] = cos(angle) * a + sin(angle) * b;
        kappa[2] = -sin(angle) * a + cos(angle) * b;
    }
}

// The most that the rod bends within the reach of one place, rad. Beyond BEND_MAX a curve is not
// resolved, and looking at it would take long.
static double largest_bend(const Fit *fit, const double *kappa) {
    double worst = 0.0;
    for (int k = 0; k < fit->places; k++) {
        double reach[2];
        reach_of(fit, k, reach);
        const double bend =
            hypot(kappa[3 * (ptrdiff_t)k + 1], kappa[3 * (ptrdiff_t)k + 2]) * (reach[1] - reach[0]);
        worst = bend <= worst ? worst : bend; // NaN stays
    }
    return worst;
}

// --------------------------------------------------------------------------------- Gauss-Newton

static double sample_at(const Fit *fit, int i) {
    const double *joint = fit->joint + i / 2;
    return i % 2 == 0 ? 0.5 * (joint[0] + joint[1]) : joint[1];
}

static FilStatus make_rod(const Fit *fit, const double *kappa, FilRod **rod) {
    FilRodDef def = fil_rod_def_default();
    def.model = fit->def->model;
    def.element_count = fit->def->element_count;
    def.length = fit->length;
    double *lengths = FIL_NEW(fit->arena, double, def.element_count);
    if (lengths == NULL) {
        return fail_memory(fit->error);
    }
    for (int i = 0; i < def.element_count; i++) {
        lengths[i] = fit->joint[i + 1] - fit->joint[i];
    }
    def.element_lengths = lengths;
    def.section.radius = fmin(def.section.radius, 0.01 * fit->length);
    def.root = fit->root;
    def.start_curvatures = kappa;
    def.start_count = fit->places;
    return fil_rod_create(&def, &fit->arena->allocator, rod, fit->error);
}

// The rod with these curvatures: residuals, sections when `sections`, and the sum of squares.
static FilStatus look(Fit *fit, const double *kappa, bool sections, double *squares,
                      double *worst) {
    const FilArenaMark mark = fil_arena_mark(fit->arena);
    FilRod *rod = NULL;
    FIL_TRY(make_rod(fit, kappa, &rod));
    *squares = *worst = 0.0;
    for (int i = 0; i < fit->samples; i++) {
        FilPose pose;
        double target[3], *r = fit->residual + 3 * (ptrdiff_t)i;
        const double s = sample_at(fit, i);
        fil_rod_at(rod, s, &pose, NULL);
        curve_at(fit, s, target);
        fil_subtract3(target, pose.position, r);
        *squares += fil_dot3(r, r);
        *worst = fmax(*worst, fil_norm3(r));
    }
    for (int q = 0; sections && q < PER_ELEMENT * fit->def->element_count; q++) {
        FilPose pose;
        const double *joint = fit->joint + q / PER_ELEMENT;
        const double u = (q % PER_ELEMENT + 0.5) / PER_ELEMENT;
        fil_rod_at(rod, joint[0] + u * (joint[1] - joint[0]), &pose, NULL);
        memcpy(fit->section + 9 * (ptrdiff_t)q, pose.position, 3 * sizeof(double));
        memcpy(fit->section + 9 * (ptrdiff_t)q + 3, pose.axis[1], 6 * sizeof(double));
    }
    fil_rod_destroy(rod);
    fil_arena_release(fit->arena, mark);
    return FIL_OK;
}

// What section q adds to the row of sample i: to one place (helix) or to the two around it.
static void add_section(Fit *fit, int i, int q, const double x[3], double *row) {
    const int e = q / PER_ELEMENT, columns = 2 * fit->places;
    const double *section = fit->section + 9 * (ptrdiff_t)q, *joint = fit->joint + e;
    const double h = joint[1] - joint[0], u = (q % PER_ELEMENT + 0.5) / PER_ELEMENT;
    const double until = sample_at(fit, i) - (joint[0] + u * h - 0.5 * h / PER_ELEMENT);
    const double w = fmin(h / PER_ELEMENT, until);
    double arm[3], push[2][3];
    fil_subtract3(x, section, arm);
    fil_cross3(section + 3, arm, push[0]);
    fil_cross3(section + 6, arm, push[1]);
    const bool whole = fit->places == fit->def->element_count;
    for (int side = 0; side < (whole ? 1 : 2); side++) {
        const double share = whole ? w : w * (side == 0 ? 1.0 - u : u);
        for (int k = 0; k < 3; k++) {
            double *at = row + (ptrdiff_t)k * columns + 2 * (ptrdiff_t)(e + side);
            at[0] += share * push[0][k];
            at[1] += share * push[1][k];
        }
    }
}

static void build_jacobian(Fit *fit) {
    const int columns = 2 * fit->places;
    memset(fit->jacobian, 0, sizeof(double) * 3 * (size_t)fit->samples * (size_t)columns);
    for (int i = 0; i < fit->samples; i++) {
        double target[3], x[3];
        curve_at(fit, sample_at(fit, i), target);
        fil_subtract3(target, fit->residual + 3 * (ptrdiff_t)i, x);
        double *row = fit->jacobian + 3 * (ptrdiff_t)i * columns;
        const int until = (i / 2) * PER_ELEMENT + (i % 2 == 0 ? PER_ELEMENT / 2 : PER_ELEMENT);
        for (int q = 0; q < until; q++) {
            add_section(fit, i, q, x, row);
        }
    }
}

// step = (J^T J + lambda diag)^-1 J^T r.
static void solve_step(Fit *fit, double lambda) {
    const int n = 2 * fit->places, rows = 3 * fit->samples;
    memset(fit->normal, 0, sizeof(double) * (size_t)n * (size_t)n);
    memset(fit->step, 0, sizeof(double) * (size_t)n);
    for (int r = 0; r < rows; r++) {
        const double *row = fit->jacobian + (ptrdiff_t)r * n;
        for (int i = 0; i < n; i++) {
            if (row[i] == 0.0) { // places behind the sample
                continue;
            }
            double *out = fit->normal + (ptrdiff_t)i * n;
            for (int j = 0; j <= i; j++) {
                out[j] += row[i] * row[j];
            }
            fit->step[i] += row[i] * fit->residual[r];
        }
    }
    double mean = 0.0;
    for (int i = 0; i < n; i++) {
        mean += fit->normal[(ptrdiff_t)i * n + i] / n;
    }
    for (int i = 0; i < n; i++) {
        double *diagonal = &fit->normal[(ptrdiff_t)i * n + i];
        *diagonal += lambda * (*diagonal + 1e-3 * mean) + 1e-14 * mean;
    }
    fil_cholesky_factor_raised(n, fit->normal, fit->first, 1e-13);
    fil_cholesky_solve(n, fit->normal, fit->first, fit->step);
}

static bool take_step(const Fit *fit) {
    for (int k = 0; k < 3 * fit->places; k++) {
        const double change = k % 3 == 0 ? 0.0 : fit->step[2 * (k / 3) + k % 3 - 1];
        fit->trial[k] = fit->kappa[k] + change;
    }
    return largest_bend(fit, fit->trial) < BEND_MAX;
}

static FilStatus allocate(Fit *fit) {
    const size_t n = (size_t)fit->def->element_count, columns = 2 * (size_t)fit->places;
    fit->samples = 2 * fit->def->element_count;
    fit->joint = FIL_NEW(fit->arena, double, n + 1);
    fit->trial = FIL_NEW(fit->arena, double, 3 * (n + 1));
    fit->residual = FIL_NEW(fit->arena, double, 6 * n);
    fit->section = FIL_NEW(fit->arena, double, 9 * PER_ELEMENT * n);
    if (n <= FIT_ELEMENTS) {
        fit->jacobian = FIL_NEW(fit->arena, double, 6 * n * columns);
        fit->normal = FIL_NEW(fit->arena, double, columns *columns);
        fit->step = FIL_NEW(fit->arena, double, columns);
        fit->first = FIL_NEW(fit->arena, int, columns);
    }
    return fit->arena->failed ? fail_memory(fit->error) : FIL_OK;
}

static FilStatus improve(Fit *fit, FilRodFit *out) {
    double squares = 0.0, lambda = 1e-3;
    FIL_TRY(look(fit, fit->kappa, true, &squares, &out->error));
    if (fit->jacobian == NULL) {
        return FIL_OK;
    }
    FilError unused;
    FilError *error = fit->error;
    while (out->iterations < ITERATIONS && lambda < 1e6 && out->error > 1e-12 * fit->length) {
        double tried = 0.0, worst = 0.0;
        out->iterations++;
        build_jacobian(fit);
        solve_step(fit, lambda);
        fit->error = &unused; // a trial that bends too much is only a bad trial
        const bool better = take_step(fit) &&
                            look(fit, fit->trial, false, &tried, &worst) == FIL_OK &&
                            tried < squares;
        fit->error = error;
        if (better) {
            memcpy(fit->kappa, fit->trial, sizeof(double) * 3 * (size_t)fit->places);
        }
        const bool settled = better && tried > 0.999 * squares;
        lambda *= better ? 0.2 : 8.0;
        FIL_TRY(look(fit, fit->kappa, true, &squares, &out->error));
        if (settled) {
            break;
        }
    }
    return FIL_OK;
}

FilStatus fil_rod_fit(const FilRodDef *def, const FilRodCurve *curve, FilArena *arena,
                      FilRodFit *out, FilError *error) {
    FIL_TRY(check_points(curve, error));
    FIL_ASSERT(def->element_count >= 1);
    Fit fit = {.def = def, .arena = arena, .error = error};
    fit.places = def->model == FIL_ROD_HELIX ? def->element_count : def->element_count + 1;
    fit.kappa = FIL_NEW(arena, double, 3 * ((size_t)def->element_count + 1));
    if (fit.kappa == NULL) {
        return fail_memory(error);
    }
    const FilArenaMark mark = fil_arena_mark(arena);
    FIL_TRY(build_fine(&fit, curve));
    FIL_TRY(allocate(&fit));
    FilRodFit result = {.curve_length = fit.fine.s[fit.fine.count - 1]};
    fit.length = result.length = def->length > 0.0 ? def->length : result.curve_length;
    fit.stretch = fit.length / result.curve_length;
    fit.twist = curve->pretwist / fit.length;
    fil_copy3(fit.fine.x, fit.root.position);
    memcpy(fit.root.axis, fit.fine.axis, sizeof fit.root.axis);
    lay_joints(&fit);
    guess(&fit);
    const double bend = largest_bend(&fit, fit.kappa);
    if (!(bend < BEND_MAX)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "points bend an element by %.3g rad; take more elements", bend);
    }
    FIL_TRY(improve(&fit, &result));
    result.root = fit.root;
    result.curvatures = fit.kappa;
    result.count = fit.places;
    fil_arena_release(arena, mark);
    *out = result;
    return FIL_OK;
}
