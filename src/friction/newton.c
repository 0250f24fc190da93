// newton.c - global nonsmooth Newton with a Goldstein-Price search (Bertails-Descoubes et al.
// 2011).
//
// All contacts at once: find r with F(W r + b, r) = 0, F one of the functions of law.h, by
//
//     A d = -F,   A = Fu W + Fr,   r <- r + a d,
//
// with the merit q(a) = 1/2 sum |F_i / rho_i|^2, in the unit of a velocity, so that contacts of
// heavy and light bodies count alike. The length a is accepted when
//
//     m2 q'(0) <= (q(a) - q(0)) / a <= m1 q'(0),    m1 = 0.1, m2 = 0.9,
//
// the slope too steep meaning too short, too shallow too long; a is bisected, or multiplied by ten
// while no upper bound is known. q'(0) is taken from A d itself, which is -F only where A is
// regular. Where A is singular (or d does not descend) W is shifted by delta / rho, delta growing
// until d descends. This is the method of the seed, kept as it was: it has no cure for local
// minima of q, where the step length collapses and it stops as stalled.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/timer.h"
#include "best.h"
#include "law.h"
#include "newton_step.h"
#include "solvers.h"

enum { MAX_ITERATIONS = 200, MAX_TRIALS = 40, MAX_IDLE = 25, MAX_SHIFTS = 6 };

static const double M1 = 0.1, M2 = 0.9;
static const double LONGEST = 1e10;      // step length
static const double SHORTEST = 1e-12;    // step length that counts as none
static const double SHIFT_FIRST = 1e-12; // in units of W_ii

typedef struct Newton {
    const FilSystem *s;
    const FilIslandTask *task;
    FilNewtonStep *step;
    FilJacobian J;
    double *r, *u, *F; // present iterate
    double *d, *Wd;    // direction
    double *try_r, *try_u, *try_F;
    FilBest best;
} Newton;

static void evaluate(const Newton *x, const double *u, const double *r, double *F,
                     const FilJacobian *J) {
    const FilSystem *s = x->s;
    int64_t at = 0; // of the square blocks
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i), o = s->offset[i];
        const FilLawPoint point = {
            .kind = s->kind[i], .d = d, .mu = s->mu[i], .rho = s->rho[i], .u = u + o, .r = r + o};
        fil_law_function(x->task->settings->function, &point, F + o, J != NULL ? J->Fu + at : NULL,
                         J != NULL ? J->Fr + at : NULL);
        at += (int64_t)d * d;
    }
}

static double merit(const FilSystem *s, const double *F) {
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            sum += pow(F[k] / s->rho[i], 2.0);
        }
    }
    return 0.5 * sum;
}

// A block leaves the linear system when it says r = something: Fu = 0 and Fr = 1.
static bool is_open(int d, const double *Fu, const double *Fr) {
    for (int k = 0; k < d * d; k++) {
        if (Fu[k] != 0.0 || Fr[k] != (k % (d + 1) == 0 ? 1.0 : 0.0)) {
            return false;
        }
    }
    return true;
}

static void choose_active(Newton *x, double shift) {
    const FilSystem *s = x->s;
    int64_t at = 0; // of the square blocks
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i);
        x->J.active[i] = !is_open(d, x->J.Fu + at, x->J.Fr + at);
        x->J.shift[i] = shift / s->rho[i];
        at += (int64_t)d * d;
    }
}

// q'(0) = sum F_i.(A d)_i / rho_i^2; leaves W d.
static double slope_along(Newton *x) {
    const FilSystem *s = x->s;
    double sum = 0.0;
    int64_t at = 0;                                        // of the square blocks
    fil_system_velocity(s, x->d, x->Wd, x->task->threads); // W d + b
    for (int k = 0; k < s->size; k++) {
        x->Wd[k] -= s->b[k];
    }
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i), o = s->offset[i];
        const double weight = 1.0 / (s->rho[i] * s->rho[i]);
        for (int k = 0; k < d; k++) {
            double Ad = 0.0;
            for (int l = 0; l < d; l++) {
                Ad +=
                    x->J.Fu[at + k * d + l] * x->Wd[o + l] + x->J.Fr[at + k * d + l] * x->d[o + l];
            }
            sum += weight * x->F[o + k] * Ad;
        }
        at += (int64_t)d * d;
    }
    return sum;
}

// A direction of descent, and the slope along it. False when there is none.
static bool find_direction(Newton *x, double q, double *slope) {
    evaluate(x, x->u, x->r, x->F, &x->J);
    for (int attempt = 0; attempt <= MAX_SHIFTS; attempt++) {
        choose_active(x, attempt > 0 ? SHIFT_FIRST * pow(100.0, attempt - 1) : 0.0);
        const bool found = fil_newton_step_solve(x->step, x->F, x->d);
        fil_island_count(x->task, fil_newton_step_work(x->step) + fil_system_product_work(x->s));
        if (!found) {
            continue;
        }
        *slope = slope_along(x);
        if (*slope <= -1e-3 * q && isfinite(*slope)) { // a regular A has -2 q
            return true;
        }
    }
    return false;
}

// q at r + length d.
static double try_step(Newton *x, double length) {
    for (int k = 0; k < x->s->size; k++) {
        x->try_r[k] = x->r[k] + length * x->d[k];
        x->try_u[k] = x->u[k] + length * x->Wd[k];
    }
    evaluate(x, x->try_u, x->try_r, x->try_F, NULL);
    return merit(x->s, x->try_F);
}

// Goldstein and Price. Returns the length, or the best length tried where none was accepted.
static double search(Newton *x, double q0, double slope) {
    double low = 0.0, high = INFINITY, length = 1.0, best = 0.0, best_q = q0;
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
        const double q = try_step(x, length), secant = (q - q0) / length;
        if (q < best_q) {
            best_q = q;
            best = length;
        }
        if (secant >= M2 * slope && secant <= M1 * slope) {
            return length;
        }
        if (secant < M2 * slope) {
            low = length;
        } else { // also when q is not a number
            high = length;
        }
        length = high < LONGEST ? 0.5 * (low + high) : 10.0 * length;
        if (length > LONGEST) {
            break;
        }
    }
    return best;
}

static bool measure(Newton *x, double *scaled) {
    fil_system_velocity(x->s, x->r, x->u, x->task->threads);
    const bool solved = fil_island_is_solved(x->s, x->task, x->u, x->r, scaled);
    fil_best_offer(&x->best, x->r, *scaled, solved);
    return solved;
}

static FilOutcome iterate(Newton *x, FilIslandResult *result) {
    const int given = x->task->settings->max_iterations;
    const int limit = given > 0 ? given : MAX_ITERATIONS;
    FilStall stall = {.least = INFINITY};
    for (int iteration = 0;; iteration++) {
        double scaled, slope;
        if (measure(x, &scaled)) {
            return FIL_CONVERGED;
        }
        if (!fil_island_report(x->task, "newton", iteration, scaled) || iteration == limit) {
            return FIL_LIMIT;
        }
        evaluate(x, x->u, x->r, x->F, NULL);
        const double q = merit(x->s, x->F);
        if (fil_stall_note(&stall, q, 0.999, MAX_IDLE)) {
            return FIL_STALLED;
        }
        const double begin = fil_seconds();
        const bool descends = find_direction(x, q, &slope);
        result->seconds_factor += fil_seconds() - begin;
        result->iterations++;
        const double length = descends ? search(x, q, slope) : 0.0;
        if (length < SHORTEST) {
            return FIL_STALLED;
        }
        for (int k = 0; k < x->s->size; k++) {
            x->r[k] += length * x->d[k];
        }
    }
}

FilStatus fil_newton_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result) {
    FilArena *arena = task->arena;
    Newton x = {.s = s, .task = task, .r = r, .best.size = s->size};
    double **arrays[] = {&x.u, &x.F, &x.d, &x.Wd, &x.try_r, &x.try_u, &x.try_F, &x.best.r};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = FIL_NEW(arena, double, s->size);
    }
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(fil_newton_step_create(s, task->threads, arena, task->scratch, &x.step));
    fil_newton_step_set_stop(x.step, fil_island_wants_end, (void *)task);
    x.J = fil_newton_step_jacobian(x.step);
    fil_best_begin(&x.best, r);
    result->outcome = iterate(&x, result);
    fil_best_take(&x.best, r);
    return FIL_OK;
}
