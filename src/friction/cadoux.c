// cadoux.c - friction as a fixed point over convex problems (Cadoux 2009; Acary et al. 2011).
//
// With s_i = |u_T,i| known, De Saxce's law says that r solves the convex problem of the velocities
// u + E s, E s the stack of mu_i s_i e_i. So: solve it for s, take the new s from its solution,
// until both agree:
//
//     r = argmin over K of 1/2 r^T W r + (b + E s)^T r,    s <- s + w (|u_T| - s),  u = W r + b.
//
// w = 1 converges for most problems, but creeps or cycles for some; Aitken's w of two successive
// changes c = |u_T| - s (Irons and Tuck 1969), w <- -w c0.(c1 - c0) / |c1 - c0|^2 within bounds,
// cures both. The inner tolerance follows the residual. One iteration from s = 0 is the convex
// relaxation of Anitescu and others, in which sliding contacts lift off at speed mu |u_T|.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "best.h"
#include "convex.h"
#include "solvers.h"

enum { MAX_OUTER = 200 };

static const double INNER_REDUCTION = 0.01; // of the residual, by each convex problem
static const double LEAST_WEIGHT = 0.1, LARGEST_WEIGHT = 20.0;

typedef struct Cadoux {
    const FilSystem *s;
    const FilIslandTask *task;
    FilSystem convex; // cones, b + E s
    const FilConvexMethod *method;
    void *self;
    double *shifted; // b + E s
    double *speed;   // s
    double *change;  // |u_T| - s
    double *u;
    FilBest best;
} Cadoux;

static FilStatus begin(Cadoux *x, const FilSystem *s, const FilIslandTask *task) {
    FilArena *arena = task->arena;
    *x = (Cadoux){.s = s,
                  .task = task,
                  .method = fil_convex_method(task->settings->convex, s),
                  .shifted = FIL_NEW(arena, double, s->size),
                  .speed = FIL_NEW_ZEROED(arena, double, s->n),
                  .change = FIL_NEW_ZEROED(arena, double, s->n),
                  .u = FIL_NEW(arena, double, s->size),
                  .best = {.size = s->size, .r = FIL_NEW(arena, double, s->size)}};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(fil_system_as_cones(s, arena, &x->convex));
    x->convex.b = x->shifted;
    return x->method->create(&x->convex, task, &x->self);
}

static void shift(Cadoux *x) {
    const FilSystem *s = x->s;
    memcpy(x->shifted, s->b, (size_t)s->size * sizeof *s->b);
    for (int i = 0; i < s->n; i++) {
        if (s->kind[i] == FIL_BLOCK_COULOMB) {
            x->shifted[s->offset[i]] += s->mu[i] * x->speed[i];
        }
    }
}

static double tangential_speed(const FilSystem *s, const double *u, int i) {
    double sum = 0.0;
    for (int k = s->offset[i] + 1; k < s->offset[i + 1]; k++) {
        sum += u[k] * u[k];
    }
    return sqrt(sum);
}

// c = |u_T| - s, measured as it enters the velocities, and Aitken's weight from it and the last c.
static double find_weight(Cadoux *x, double weight, bool first) {
    const FilSystem *s = x->s;
    double along = 0.0, square = 0.0;
    for (int i = 0; i < s->n; i++) {
        const double change =
            s->kind[i] == FIL_BLOCK_COULOMB ? tangential_speed(s, x->u, i) - x->speed[i] : 0.0;
        const double difference = s->mu[i] * (change - x->change[i]);
        along += s->mu[i] * x->change[i] * difference;
        square += difference * difference;
        x->change[i] = change;
    }
    if (first || !(square > 0.0)) {
        return 1.0;
    }
    return fmin(LARGEST_WEIGHT, fmax(LEAST_WEIGHT, -weight * along / square));
}

// The true residual of r; keeps the best.
static bool measure(Cadoux *x, const double *r, double *scaled) {
    fil_system_velocity(x->s, r, x->u, x->task->threads);
    const bool solved = fil_island_is_solved(x->s, x->task, x->u, r, scaled);
    fil_best_offer(&x->best, r, *scaled, solved);
    return solved;
}

static FilOutcome iterate(Cadoux *x, double *r, FilIslandResult *result) {
    const FilFrictionSettings *settings = x->task->settings;
    FilIslandTask inner = *x->task;
    double scaled, weight = 1.0;
    fil_best_begin(&x->best, r);
    if (measure(x, r, &scaled)) {
        return FIL_CONVERGED;
    }
    if (settings->warm_start) {
        for (int i = 0; i < x->s->n; i++) {
            x->speed[i] = tangential_speed(x->s, x->u, i);
        }
    }
    for (int outer = 0; outer < MAX_OUTER; outer++) {
        const int left = settings->max_iterations > 0
                             ? settings->max_iterations - result->iterations
                             : x->method->limit;
        if (left <= 0 || !fil_island_report(x->task, "cadoux", result->iterations, scaled)) {
            return FIL_LIMIT;
        }
        shift(x);
        inner.scaled = fmax(INNER_REDUCTION * scaled, 0.1 * x->task->scaled);
        inner.natural = scaled > 10.0 * x->task->scaled ? INFINITY : 0.1 * x->task->natural;
        (void)x->method->solve(x->self, &inner, left < x->method->limit ? left : x->method->limit,
                               r, result);
        if (measure(x, r, &scaled)) {
            return FIL_CONVERGED;
        }
        weight = find_weight(x, weight, outer == 0);
        for (int i = 0; i < x->s->n; i++) {
            x->speed[i] = fmax(0.0, x->speed[i] + weight * x->change[i]);
        }
    }
    return FIL_STALLED;
}

FilStatus fil_cadoux_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result) {
    Cadoux x;
    FIL_TRY(begin(&x, s, task));
    result->outcome = iterate(&x, r, result);
    fil_best_take(&x.best, r);
    return FIL_OK;
}

FilStatus fil_convex_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result) {
    Cadoux x;
    FIL_TRY(begin(&x, s, task));
    const int limit = task->settings->max_iterations;
    shift(&x);
    result->outcome = x.method->solve(x.self, task, limit > 0 ? limit : x.method->limit, r, result);
    return FIL_OK;
}
