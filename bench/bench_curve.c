// bench_curve.c - filum-curve-bench: what the digits of a curve's frame cost.
//
//     filum-curve-bench [--json]
//
// Case `space` is the benchmark of Casati's thesis (2015, 5.1): 0.2 m, the twist falls from 100 to
// 0, both curvatures rise from 0 to 100 per metre. A row is one method at one setting: the error is
// the root mean square over 100 uniform samples, of the frame (Frobenius norm) and of the
// centreline (over the length), against the series in extended precision; the time includes 50
// uniform samples, and is the best of many runs. Rules of the match:
//
// 1. All integrate the same seven or twelve unknowns: quaternion (never normalised, which would
// cost
//    order) or frame, and centreline. The better one counts.
// 2. CVODE: Adams, fixed-point iteration, samples by its own interpolation; memory is made once.
//    Tolerances are tightened until the error no longer falls.
// 3. `casati` is the series of the thesis as printed: about the start of each segment, cut at
//    C = 20.44. `series` is the library.
//
// Case `fresnel` is the plane one: kappa2 = pi s, the end at s = 4, against QAG and QNG of GSL.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(HAVE_CVODE)
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#endif
#if defined(HAVE_GSL)
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#endif

#include "base/timer.h"
#include "filum/curve.h"
#include "rod/curve_bound.h"

enum { ERROR_SAMPLES = 100, TIMED_SAMPLES = 50 };

static const double pi = 3.14159265358979323846;
static const double space[6] = {100.0, 0.0, 0.0, -500.0, 500.0, 500.0};
static const double length = 0.2;

// A method: poses at `count` uniform samples, ends included; `setting` is steps a sample interval,
// or a tolerance. Returns steps or evaluations.
typedef long Method(double setting, int count, FilPose *poses);

static FilPose reference[ERROR_SAMPLES];
static bool json;

// --- reference: the series in extended precision -------------------------------------------------

typedef struct Extended {
    long double r[3], n[3][3];
} Extended;

// One step of the series about its start, by the recurrence as it stands.
static void extended_step(Extended *e, const long double a[3], const long double b[3],
                          long double h) {
    Extended sum = *e;
    long double now[3][3], before[3][3] = {{0}};
    memcpy(now, e->n, sizeof now);
    for (int n = 0; n < 40; n++) {
        const long double f = h / (n + 1);
        for (int i = 0; i < 3; i++) {
            const long double c[3] = {now[0][i], now[1][i], now[2][i]};
            const long double d[3] = {h * before[0][i], h * before[1][i], h * before[2][i]};
            sum.r[i] += f * c[0];
            now[0][i] = f * (c[1] * a[2] - c[2] * a[1] + d[1] * b[2] - d[2] * b[1]);
            now[1][i] = f * (c[2] * a[0] - c[0] * a[2] + d[2] * b[0] - d[0] * b[2]);
            now[2][i] = f * (c[0] * a[1] - c[1] * a[0] + d[0] * b[1] - d[1] * b[0]);
            for (int k = 0; k < 3; k++) {
                sum.n[k][i] += now[k][i];
                before[k][i] = c[k];
            }
        }
    }
    *e = sum;
}

static void make_reference(void) {
    Extended e = {{0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const long double h = (long double)length / (ERROR_SAMPLES - 1);
    for (int i = 0; i < ERROR_SAMPLES; i++) {
        for (int k = 0; k < 3; k++) {
            reference[i].position[k] = (double)e.r[k];
            for (int j = 0; j < 3; j++) {
                reference[i].axis[k][j] = (double)e.n[k][j];
            }
        }
        long double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            b[k] = space[3 + k];
            a[k] = space[k] + b[k] * h * i;
        }
        extended_step(&e, a, b, h);
    }
}

// --- methods -------------------------------------------------------------------------------------

static long run_series(double setting, int count, FilPose *poses) {
    (void)setting;
    FilCurve curve = fil_curve_default();
    curve.degree = 1;
    curve.coefficients = space;
    curve.length = length;
    static double s[ERROR_SAMPLES];
    static int made;
    for (int i = 0; made != count && i < count; i++) { // what a caller has at hand
        s[i] = length * i / (count - 1);
    }
    made = count;
    FilCurveInfo info;
    if (fil_curve_evaluate(&curve, count, s, poses, &info, NULL) != FIL_OK) {
        abort();
    }
    return info.terms;
}

// A term of the frame, by columns, from the two before it.
static void casati_term(const double *a, const double *b, double h, int n, double now[3][3],
                        double before[3][3]) {
    const double f = h / (n + 1);
    double next[3][3];
    for (int i = 0; i < 3; i++) {
        next[0][i] = f * (now[1][i] * a[2] - now[2][i] * a[1] +
                          h * (before[1][i] * b[2] - before[2][i] * b[1]));
        next[1][i] = f * (now[2][i] * a[0] - now[0][i] * a[2] +
                          h * (before[2][i] * b[0] - before[0][i] * b[2]));
        next[2][i] = f * (now[0][i] * a[1] - now[1][i] * a[0] +
                          h * (before[0][i] * b[1] - before[1][i] * b[0]));
    }
    memcpy(before, now, sizeof next);
    memcpy(now, next, sizeof next);
}

// The pose at h from the start of a segment; returns terms. Ends after two terms below 1e-17.
static long casati_pose(const double *a, const double *b, double h, const FilPose *start,
                        FilPose *pose) {
    double now[3][3], before[3][3] = {{0.0}};
    memcpy(now, start->axis, sizeof now);
    *pose = *start;
    int small = 0, n = 0;
    for (; small < 2 && n < 400; n++) {
        for (int i = 0; i < 3; i++) {
            pose->position[i] += h / (n + 1) * now[0][i];
        }
        casati_term(a, b, h, n, now, before);
        double largest = 0.0;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                pose->axis[k][i] += now[k][i];
                largest = fmax(largest, fabs(now[k][i]));
            }
        }
        small = largest < 1e-17 ? small + 1 : 0;
    }
    return n;
}

static long run_casati(double setting, int count, FilPose *poses) {
    FilPose start = fil_curve_default().start;
    double local[6];
    memcpy(local, space, sizeof local);
    long terms = 0;
    int done = 0;
    for (double s = 0.0; done < count;) {
        for (int k = 0; k < 3; k++) {
            local[k] = space[k] + s * space[3 + k];
        }
        const double step = fil_casati_step(1, local, setting);
        const double end = fmin(s + step, length);
        for (; done < count && (length * done / (count - 1) <= end || end >= length); done++) {
            terms += casati_pose(local, local + 3, length * done / (count - 1) - s, &start,
                                 &poses[done]);
        }
        const FilPose from = start;
        terms += casati_pose(local, local + 3, end - s, &from, &start);
        s = end;
    }
    return terms;
}

// Seven unknowns: quaternion w x y z, then r.
static void quaternion_rate(double s, const double *y, double *rate) {
    const double t = 0.5 * (space[0] + s * space[3]), u = 0.5 * (space[1] + s * space[4]),
                 v = 0.5 * (space[2] + s * space[5]);
    rate[0] = -y[1] * t - y[2] * u - y[3] * v;
    rate[1] = y[0] * t + y[2] * v - y[3] * u;
    rate[2] = y[0] * u + y[3] * t - y[1] * v;
    rate[3] = y[0] * v + y[1] * u - y[2] * t;
    rate[4] = y[0] * y[0] + y[1] * y[1] - y[2] * y[2] - y[3] * y[3];
    rate[5] = 2.0 * (y[1] * y[2] + y[0] * y[3]);
    rate[6] = 2.0 * (y[1] * y[3] - y[0] * y[2]);
}

static void quaternion_pose(const double *y, FilPose *pose) {
    const double w = y[0], x = y[1], u = y[2], v = y[3];
    *pose = (FilPose){
        .position = {y[4], y[5], y[6]},
        .axis = {{w * w + x * x - u * u - v * v, 2.0 * (x * u + w * v), 2.0 * (x * v - w * u)},
                 {2.0 * (x * u - w * v), w * w - x * x + u * u - v * v, 2.0 * (u * v + w * x)},
                 {2.0 * (x * v + w * u), 2.0 * (u * v - w * x), w * w - x * x - u * u + v * v}}};
}

// Explicit Runge-Kutta of order 1 (Euler), 2 (midpoint) or 4, fixed steps.
static void runge_kutta(int order, double s, double h, double *y) {
    double k[4][7], z[7];
    quaternion_rate(s, y, k[0]);
    for (int stage = 1; stage < order; stage++) {
        const double part = stage == 3 ? h : 0.5 * h;
        for (int i = 0; i < 7; i++) {
            z[i] = y[i] + part * k[stage - 1][i];
        }
        quaternion_rate(s + part, z, k[stage]);
    }
    for (int i = 0; i < 7; i++) {
        y[i] += order == 4 ? h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i])
                           : h * k[order - 1][i];
    }
}

// q := q exp(h kappa / 2), r by the exact helix of constant kappa.
static void lie_step(double s, double h, double *y) {
    double k[3], first[7], e[4];
    for (int i = 0; i < 3; i++) {
        k[i] = space[i] + s * space[3 + i];
    }
    const double w = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]), angle = w * h;
    const double sine = sin(0.5 * angle) / w;
    e[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) {
        e[1 + i] = sine * k[i];
    }
    FilPose pose;
    quaternion_pose(y, &pose);
    // integral of exp(s [k]x) e_x: e_x h + (1 - cos) / w^2 k x e_x + (angle - sin) / w^3 k (k
    // e_x)..
    const double a = 2.0 * sine * sine, b = (h - sin(angle) / w) / (w * w);
    const double d[3] = {h + b * (k[0] * k[0] - w * w), a * k[2] + b * k[0] * k[1],
                         -a * k[1] + b * k[0] * k[2]};
    for (int i = 0; i < 3; i++) {
        y[4 + i] += pose.axis[0][i] * d[0] + pose.axis[1][i] * d[1] + pose.axis[2][i] * d[2];
    }
    memcpy(first, y, sizeof first);
    y[0] = first[0] * e[0] - first[1] * e[1] - first[2] * e[2] - first[3] * e[3];
    y[1] = first[0] * e[1] + first[1] * e[0] + first[2] * e[3] - first[3] * e[2];
    y[2] = first[0] * e[2] + first[2] * e[0] + first[3] * e[1] - first[1] * e[3];
    y[3] = first[0] * e[3] + first[3] * e[0] + first[1] * e[2] - first[2] * e[1];
}

// Runge-Kutta of an order, or Lie steps for order 0; returns how often the rate was found.
static long run_fixed(int order, double setting, int count, FilPose *poses) {
    double y[7] = {1.0};
    const int steps = (int)setting;
    const double h = length / ((double)(count - 1) * steps);
    quaternion_pose(y, &poses[0]);
    for (int i = 1; i < count; i++) {
        for (int k = 0; k < steps; k++) {
            const double s = h * ((double)(i - 1) * steps + k);
            if (order > 0) {
                runge_kutta(order, s, h, y);
            } else {
                lie_step(s, h, y);
            }
        }
        quaternion_pose(y, &poses[i]);
    }
    return (long)(order > 0 ? order : 1) * steps * (count - 1);
}

static long run_lie(double setting, int count, FilPose *poses) {
    return run_fixed(0, setting, count, poses);
}

static long run_euler(double setting, int count, FilPose *poses) {
    return run_fixed(1, setting, count, poses);
}

static long run_rk2(double setting, int count, FilPose *poses) {
    return run_fixed(2, setting, count, poses);
}

static long run_rk4(double setting, int count, FilPose *poses) {
    return run_fixed(4, setting, count, poses);
}

// --- CVODE ---------------------------------------------------------------------------------------

#if defined(HAVE_CVODE)
typedef struct Solver {
    SUNContext context;
    N_Vector y;
    void *cvode;
    SUNNonlinearSolver iteration;
} Solver;

static int rate_of_quaternion(realtype s, N_Vector y, N_Vector rate, void *user) {
    (void)user;
    quaternion_rate(s, N_VGetArrayPointer(y), N_VGetArrayPointer(rate));
    return 0;
}

// Twelve unknowns, as a pose has them.
static int rate_of_frame(realtype s, N_Vector y, N_Vector rate, void *user) {
    (void)user;
    const double *p = N_VGetArrayPointer(y) + 3;
    double *q = N_VGetArrayPointer(rate);
    const double t = space[0] + s * space[3], u = space[1] + s * space[4],
                 v = space[2] + s * space[5];
    for (int i = 0; i < 3; i++) {
        q[i] = p[i];
        q[3 + i] = p[3 + i] * v - p[6 + i] * u;
        q[6 + i] = p[6 + i] * t - p[i] * v;
        q[9 + i] = p[i] * u - p[3 + i] * t;
    }
    return 0;
}

static Solver *get_solver(int unknowns) {
    static Solver made[2];
    Solver *s = &made[unknowns == 12];
    if (s->cvode == NULL) {
        (void)SUNContext_Create(NULL, &s->context);
        s->y = N_VNew_Serial(unknowns, s->context);
        s->cvode = CVodeCreate(CV_ADAMS, s->context);
        N_VConst(0.0, s->y);
        (void)CVodeInit(s->cvode, unknowns == 12 ? rate_of_frame : rate_of_quaternion, 0.0, s->y);
        s->iteration = SUNNonlinSol_FixedPoint(s->y, 0, s->context);
        (void)CVodeSStolerances(s->cvode, 1e-6, 1e-6);
        (void)CVodeSetNonlinearSolver(s->cvode, s->iteration);
        (void)CVodeSetMaxNumSteps(s->cvode, 10000000);
        (void)CVodeSetErrFile(s->cvode, NULL);
    }
    return s;
}

static long run_cvode(int unknowns, double tolerance, int count, FilPose *poses) {
    Solver *s = get_solver(unknowns);
    double *y = N_VGetArrayPointer(s->y);
    FilPose pose = fil_curve_default().start;
    N_VConst(0.0, s->y);
    y[0] = 1.0;
    if (unknowns == 12) {
        memcpy(y, &pose, sizeof pose);
    }
    (void)CVodeReInit(s->cvode, 0.0, s->y);
    (void)CVodeSStolerances(s->cvode, tolerance, tolerance);
    poses[0] = pose;
    for (int i = 1; i < count; i++) {
        double reached;
        if (CVode(s->cvode, length * i / (count - 1), s->y, &reached, CV_NORMAL) < 0) {
            return -1;
        }
        if (unknowns == 12) {
            memcpy(&poses[i], y, sizeof *poses);
        } else {
            quaternion_pose(y, &poses[i]);
        }
    }
    long evaluations = 0;
    (void)CVodeGetNumRhsEvals(s->cvode, &evaluations);
    return evaluations;
}

static long run_cvode_quaternion(double setting, int count, FilPose *poses) {
    return run_cvode(7, setting, count, poses);
}

static long run_cvode_frame(double setting, int count, FilPose *poses) {
    return run_cvode(12, setting, count, poses);
}
#endif

// --- rows ----------------------------------------------------------------------------------------

typedef struct Score {
    double frame, position, seconds;
} Score;

// The best of many runs, in wall-clock windows so short that other programs rarely come between.
static double time_of(Method *method, double setting) {
    static FilPose poses[TIMED_SAMPLES];
    double best = INFINITY, spent = 0.0;
    for (int run = 0; run < 5 || (spent < 0.2 && run < 2000); run++) {
        const int repeat = best < 2e-5 ? 8 : 1;
        const double start = fil_seconds();
        for (int k = 0; k < repeat; k++) {
            (void)method(setting, TIMED_SAMPLES, poses);
        }
        const double seconds = fil_seconds() - start;
        best = fmin(best, seconds / repeat);
        spent += seconds;
    }
    return best;
}

static Score play(const char *name, Method *method, double setting, double timed_setting) {
    static FilPose poses[ERROR_SAMPLES];
    const long work = method(setting, ERROR_SAMPLES, poses);
    Score score = {.seconds = time_of(method, timed_setting)};
    for (int i = 0; i < ERROR_SAMPLES; i++) {
        for (int k = 0; k < 3; k++) {
            score.position += pow((poses[i].position[k] - reference[i].position[k]) / length, 2.0);
            for (int j = 0; j < 3; j++) {
                score.frame += pow(poses[i].axis[k][j] - reference[i].axis[k][j], 2.0);
            }
        }
    }
    score.frame = sqrt(score.frame / ERROR_SAMPLES);
    score.position = sqrt(score.position / ERROR_SAMPLES);
    (void)printf(json ? "{\"case\":\"space\",\"method\":\"%s\",\"setting\":%g,\"work\":%ld,"
                        "\"frame_error\":%.3g,\"position_error\":%.3g,\"microseconds\":%.4g}\n"
                      : "space    %-16s %10g %9ld %11.2e %11.2e %12.2f\n",
                 name, setting, work, score.frame, score.position, 1e6 * score.seconds);
    return score;
}

// Fixed steps, four times as many each time, as long as a run stays below 50 ms.
static void play_fixed(const char *name, Method *method) {
    for (int steps = 1; steps <= 65536; steps *= 4) {
        if (play(name, method, steps, 2.0 * steps).seconds > 0.05) {
            break;
        }
    }
}

static void compare(const char *rival, Score them, Score us) {
    (void)printf(json ? "{\"case\":\"space\",\"rival\":\"%s\",\"frame_error\":%.3g,"
                        "\"rival_frame_error\":%.3g,\"times_faster\":%.4g}\n"
                      : "space    series against %s at its best (error %.1e against %.1e): "
                        "%.0f times faster\n",
                 rival, us.frame, them.frame, them.seconds / us.seconds);
}

#if defined(HAVE_CVODE)
// Tightens until the error no longer falls; its best is the smallest error, or the fastest within
// twice that.
static void play_cvode(Score us) {
    static const double tolerance[] = {1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-12, 1e-13, 1e-14, 3e-15};
    enum { COUNT = sizeof tolerance / sizeof *tolerance };
    Score all[2 * COUNT], best = {.frame = INFINITY};
    for (int i = 0; i < COUNT; i++) {
        all[2 * i] = play("cvode-quaternion", run_cvode_quaternion, tolerance[i], tolerance[i]);
        all[2 * i + 1] = play("cvode-frame", run_cvode_frame, tolerance[i], tolerance[i]);
        best.frame = fmin(best.frame, fmin(all[2 * i].frame, all[2 * i + 1].frame));
    }
    Score fastest = {.seconds = INFINITY};
    for (int i = 0; i < 2 * COUNT; i++) {
        if (all[i].frame <= 2.0 * best.frame && all[i].seconds < fastest.seconds) {
            fastest = all[i];
        }
    }
    compare("cvode", fastest, us);
}
#endif

// --- the plane case ------------------------------------------------------------------------------

static const double fresnel_end[2] = {0.49842603303817754728, 0.42051575424692843264};

static void fresnel_series(double *end) {
    static const double coefficients[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 3.14159265358979323846};
    FilCurve curve = fil_curve_default();
    curve.degree = 1;
    curve.coefficients = coefficients;
    curve.length = 4.0;
    FilCurveInfo info;
    if (fil_curve_evaluate(&curve, 0, NULL, NULL, &info, NULL) != FIL_OK) {
        abort();
    }
    memcpy(end, info.end.position, 2 * sizeof *end);
}

#if defined(HAVE_GSL)
static gsl_integration_workspace *workspace;
static double tolerance;

static double cosine(double s, void *user) {
    (void)user;
    return cos(0.5 * pi * s * s);
}

static double sine(double s, void *user) {
    (void)user;
    return sin(0.5 * pi * s * s);
}

static void fresnel_qag(double *end) {
    double error;
    gsl_function f = {.function = cosine}, g = {.function = sine};
    (void)gsl_integration_qag(&f, 0.0, 4.0, 0.0, tolerance, 1000, GSL_INTEG_GAUSS21, workspace,
                              &end[0], &error);
    (void)gsl_integration_qag(&g, 0.0, 4.0, 0.0, tolerance, 1000, GSL_INTEG_GAUSS21, workspace,
                              &end[1], &error);
}

static void fresnel_qng(double *end) {
    double error;
    size_t evaluations;
    gsl_function f = {.function = cosine}, g = {.function = sine};
    (void)gsl_integration_qng(&f, 0.0, 4.0, 0.0, tolerance, &end[0], &error, &evaluations);
    (void)gsl_integration_qng(&g, 0.0, 4.0, 0.0, tolerance, &end[1], &error, &evaluations);
}
#endif

static double play_fresnel(const char *name, void (*method)(double *end), double setting) {
    double end[2], best = INFINITY;
    for (int run = 0; run < 500; run++) {
        const double start = fil_seconds();
        for (int k = 0; k < 10; k++) {
            method(end);
        }
        best = fmin(best, 0.1 * (fil_seconds() - start));
    }
    const double error = fmax(fabs(end[0] - fresnel_end[0]), fabs(end[1] - fresnel_end[1]));
    (void)printf(json ? "{\"case\":\"fresnel\",\"method\":\"%s\",\"setting\":%g,"
                        "\"position_error\":%.3g,\"microseconds\":%.4g}\n"
                      : "fresnel  %-16s %10g                       %11.2e %12.2f\n",
                 name, setting, error, 1e6 * best);
    return best;
}

static void play_plane(void) {
    const double us = play_fresnel("series", fresnel_series, 0.0);
#if defined(HAVE_GSL)
    (void)gsl_set_error_handler_off();
    workspace = gsl_integration_workspace_alloc(1000);
    static const double asked[] = {1e-6, 1e-10, 2e-14}; // GSL accepts no less
    double seconds = 0.0;
    for (int i = 0; i < 3; i++) {
        tolerance = asked[i];
        (void)play_fresnel("gsl-qng", fresnel_qng, tolerance);
        seconds = play_fresnel("gsl-qag", fresnel_qag, tolerance);
    }
    (void)printf(json ? "{\"case\":\"fresnel\",\"rival\":\"gsl-qag\",\"rival_setting\":%g,"
                        "\"times_faster\":%.4g}\n"
                      : "fresnel  series against gsl-qag asked for %g: %.1f times faster\n",
                 tolerance, seconds / us);
    gsl_integration_workspace_free(workspace);
#else
    (void)us;
    (void)pi;
    (void)fprintf(stderr, "built without GSL: no quadrature\n");
#endif
}

int main(int argc, char **argv) {
    json = argc > 1 && strcmp(argv[1], "--json") == 0;
    if (argc > 2 || (argc == 2 && !json)) {
        (void)fprintf(stderr, "usage: filum-curve-bench [--json]\n");
        return 2;
    }
    make_reference();
    if (!json) {
        (void)printf("case     method              setting      work frame error  position error"
                     "  microseconds\n");
    }
    const Score us = play("series", run_series, 0.0, 0.0);
    const Score casati = play("casati", run_casati, 20.44, 20.44);
    (void)play("casati", run_casati, 2.0, 2.0);
    play_fixed("euler", run_euler);
    play_fixed("rk2", run_rk2);
    play_fixed("rk4", run_rk4);
    play_fixed("lie-euler", run_lie);
    compare("casati", casati, us);
#if defined(HAVE_CVODE)
    play_cvode(us);
#else
    (void)fprintf(stderr, "built without SUNDIALS: no CVODE\n");
#endif
    play_plane();
    return 0;
}
