// interior_primal.c - barrier method in the velocities for the convex cone problem.
//
// The primal problem, strongly convex in the velocities v of the bodies,
//
//     min 1/2 v^T M v - f^T v - t sum_i 1/2 log det x_i,    x_i = u_i = H v + w in K_1,
//
// (self-dual coordinates of convex.h) has the impulses y_i = t x_i^-1. Newton's matrix in v is
// M + H^T D^-1 H with D = T^2, T e = x / sqrt t. The system holds W = H M^-1 H^T only, so the step
// is taken by Woodbury's identity: with r the impulses that the step predicts,
//
//     (W + D) r = 2 u - b,      dx / sqrt t = T (e - T y / sqrt t):
//
// the iterates in v are those of the primal method, v = M^-1 (H^T r + f). A u that is no velocity
// (at the start) becomes one with the first full step. When |e - T y / sqrt t| < 1 in every part, r
// is inside its cones: the pair brackets the optimum, and t may fall.
//
// As a comparator it keeps the weaknesses of its kind: it needs a strictly separating motion (none
// exists where bodies are clamped between walls), and more iterations than a primal-dual method.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/timer.h"
#include "best.h"
#include "convex.h"
#include "law.h"

enum { MAX_ITERATIONS = 300, MAX_IDLE = 20 };

static const double BOUNDARY = 0.9;  // of the step to the boundary
static const double CENTRED = 0.7;   // decrement below which t falls
static const double REDUCTION = 0.1; // of t

typedef struct Barrier {
    FilCones cones;
    FilConeScaling *scaling;        // [parts]
    double *x, *y, *step;           // [storage] velocities, impulses, T^-1 dx / sqrt t
    double *try_x;                  // [storage]
    double *r, *u, *right, *inside; // [size] inside: r projected on its cones
    FilBest best;
    double t;
} Barrier;

static FilStatus create(const FilSystem *s, const FilIslandTask *task, void **self) {
    FilArena *arena = task->arena;
    Barrier *x = FIL_NEW(arena, Barrier, 1);
    if (x == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (Barrier){.best.size = s->size};
    FIL_TRY(fil_cones_create(s, task, NULL, &x->cones));
    x->scaling = FIL_NEW(arena, FilConeScaling, x->cones.count);
    double **of_parts[] = {&x->x, &x->y, &x->step, &x->try_x};
    for (size_t k = 0; k < sizeof of_parts / sizeof *of_parts; k++) {
        *of_parts[k] = FIL_NEW(arena, double, x->cones.storage);
    }
    double **of_unknowns[] = {&x->r, &x->u, &x->right, &x->inside, &x->best.r};
    for (size_t k = 0; k < sizeof of_unknowns / sizeof *of_unknowns; k++) {
        *of_unknowns[k] = FIL_NEW(arena, double, s->size);
    }
    *self = x;
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

static void set_start(Barrier *x) {
    const FilCones *c = &x->cones;
    const double unit = fil_cones_unit(c);
    memset(x->x, 0, (size_t)c->storage * sizeof *x->x);
    memset(x->r, 0, (size_t)c->s->size * sizeof *x->r);
    for (int p = 0; p < c->count; p++) {
        x->x[c->part[p].at] = unit / sqrt(c->s->rho[c->part[p].block]);
    }
    x->t = unit * unit;
}

// r := (W + D)^-1 (2 u - b), as a correction of the present r, which keeps its digits.
static bool find_impulses(Barrier *x, const FilIslandTask *task) {
    const FilCones *c = &x->cones;
    const FilSystem *s = c->s;
    double moved[FIL_PART_MAX], twice[FIL_PART_MAX];
    fil_system_velocity(s, x->r, x->right, task->threads);
    for (int k = 0; k < s->size; k++) {
        x->right[k] = -x->right[k];
    }
    fil_cones_gather(c, x->r, x->y);
    for (int p = 0; p < c->count; p++) {
        const int at = c->part[p].at, d = c->part[p].size;
        fil_cone_apply(d, &x->scaling[p], x->y + at, moved);
        fil_cone_apply(d, &x->scaling[p], moved, twice);
        for (int k = 0; k < d; k++) {
            twice[k] = 2.0 * x->x[at + k] - twice[k];
        }
        fil_cones_add(&c->part[p], twice, x->right);
    }
    if (!fil_cones_solve(&x->cones, x->right)) {
        return false;
    }
    for (int k = 0; k < s->size; k++) {
        x->r[k] += x->right[k];
    }
    return true;
}

// The scaled step of every part; returns the largest norm.
static double find_step(Barrier *x) {
    const FilCones *c = &x->cones;
    const double over = 1.0 / sqrt(x->t);
    double most = 0.0;
    fil_cones_gather(c, x->r, x->y);
    for (int p = 0; p < c->count; p++) {
        const int at = c->part[p].at, d = c->part[p].size;
        double sum = 0.0;
        fil_cone_apply(d, &x->scaling[p], x->y + at, x->step + at);
        for (int k = 0; k < d; k++) {
            x->step[at + k] = (k == 0 ? 1.0 : 0.0) - over * x->step[at + k];
            sum += x->step[at + k] * x->step[at + k];
        }
        most = fmax(most, sqrt(sum));
    }
    return most;
}

// x += dx, cut short of the boundary.
static bool move(Barrier *x, double decrement) {
    const FilCones *c = &x->cones;
    static const double e[FIL_PART_MAX] = {1.0};
    double length = INFINITY;
    for (int p = 0; p < c->count; p++) {
        length = fmin(length, fil_cone_step(c->part[p].size, e, x->step + c->part[p].at));
    }
    length = decrement < 1.0 ? 1.0 : fmin(1.0, BOUNDARY * length);
    for (int trial = 0; trial < 30; trial++) {
        bool inside = true;
        for (int p = 0; p < c->count && inside; p++) {
            const int at = c->part[p].at, d = c->part[p].size;
            fil_cone_apply(d, &x->scaling[p], x->step + at, x->try_x + at);
            for (int k = 0; k < d; k++) {
                x->try_x[at + k] = x->x[at + k] + length * sqrt(x->t) * x->try_x[at + k];
            }
            inside = fil_cone_depth(d, x->try_x + at) > 0.0;
        }
        if (inside) {
            memcpy(x->x, x->try_x, (size_t)c->storage * sizeof *x->x);
            return true;
        }
        length *= 0.5;
    }
    return false;
}

// Residual of the present r, brought into its cones; keeps the best.
static bool measure(Barrier *x, const FilIslandTask *task, double *scaled) {
    const FilSystem *s = x->cones.s;
    for (int i = 0; i < s->n; i++) {
        fil_law_project(s->kind[i], fil_system_block_size(s, i), s->mu[i], x->r + s->offset[i],
                        x->inside + s->offset[i]);
    }
    fil_system_velocity(s, x->inside, x->u, task->threads);
    const bool solved = fil_cones_is_solved(&x->cones, task, x->u, x->inside, scaled);
    fil_best_offer(&x->best, x->inside, *scaled, solved);
    return solved;
}

static FilOutcome iterate(Barrier *x, const FilIslandTask *task, int limit,
                          FilIslandResult *result) {
    const FilCones *c = &x->cones;
    FilStall stall = {.least = INFINITY};
    for (int iteration = 0; iteration < limit; iteration++) {
        const double begin = fil_seconds();
        double scaled;
        for (int p = 0; p < c->count; p++) {
            fil_cone_scale_primal(c->part[p].size, x->x + c->part[p].at, x->t, &x->scaling[p]);
        }
        fil_cones_factor(&x->cones, x->scaling);
        fil_island_count(task, fil_cones_work(&x->cones));
        result->seconds_factor += fil_seconds() - begin;
        result->iterations++;
        if (!find_impulses(x, task)) {
            return FIL_STALLED;
        }
        if (measure(x, task, &scaled)) {
            return FIL_CONVERGED;
        }
        if (fil_stall_note(&stall, scaled, 0.9, MAX_IDLE)) {
            return FIL_STALLED;
        }
        if (!fil_island_report(task, "interior-primal", result->iterations, scaled)) {
            return FIL_LIMIT;
        }
        const double decrement = find_step(x);
        if (!move(x, decrement)) {
            return FIL_STALLED;
        }
        if (decrement < CENTRED) {
            x->t *= REDUCTION;
        }
    }
    return FIL_LIMIT;
}

static FilOutcome solve(void *self, const FilIslandTask *task, int limit, double *r,
                        FilIslandResult *result) {
    Barrier *x = self;
    double scaled;
    memcpy(x->r, r, (size_t)x->cones.s->size * sizeof *r);
    fil_best_begin(&x->best, r);
    if (measure(x, task, &scaled)) {
        fil_best_take(&x->best, r);
        return FIL_CONVERGED;
    }
    set_start(x);
    const FilOutcome outcome = iterate(x, task, limit, result);
    fil_best_take(&x->best, r);
    return outcome;
}

const FilConvexMethod fil_interior_primal_method = {MAX_ITERATIONS, create, solve};
