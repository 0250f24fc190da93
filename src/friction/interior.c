// interior.c - primal-dual interior point method for the convex cone problem.
//
// The unknowns r and u start inside their cones, with u = W r + b violated, and follow the central
// path x o y = m e (in the self-dual coordinates of convex.h) to m = 0. Each iteration scales every
// part by the T of Nesterov and Todd, T y = T^-1 x = lambda, and solves twice with one factor:
//
//     (W + D) dr = -(W r + b) + f T q,   D = f T^2 f,   hy = T f dr,   hx = q - lambda - hy,
//
// where hx = T^-1 dx, hy = T dy. Mehrotra's predictor has q = 0; the corrector, with the centring
// sigma that the predictor deserved, lambda o q = sigma m e - hx o hy. The right-hand side holds
// the true velocity of r, whatever x is, so round-off in x and D slows convergence but does not
// displace the solution. Steps to the boundary are found in the scaled space, where lambda is far
// from it.
//
// A sliding contact has x and y near opposite edges of the cone, x.y falling as their depth; but
// their tangents are opposite only as well as the point is centred: an angle a costs x.y no more
// than a^2. When the depth reaches round-off no step can centre any more, and the angle would stay
// at 1e-8. So every part aims at a product x.y of at least FLATTEST x_N y_N, where Newton still
// centres it, and quadratically: that brings the residual from 1e-8 to 1e-13.
//
// W may be singular: D is positive in all directions but those without a cone.
//
// No warm start: a point near the solution is a bad start for an interior method.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/timer.h"
#include "best.h"
#include "convex.h"

enum { MAX_ITERATIONS = 100, MAX_IDLE = 12 };

static const double BOUNDARY = 0.99;  // of the step to the boundary
static const double FLATTEST = 1e-13; // least x.y / (x_N y_N) that is aimed at

typedef struct Interior {
    FilCones cones;
    FilConeScaling *scaling;              // [parts]
    double *x, *y, *lambda, *hx, *hy, *q; // [storage]
    double *r, *u, *right, *dr, *try_r;   // [size]
    FilBest best;
    double *try_x, *try_y; // [storage]
} Interior;

static FilStatus create(const FilSystem *s, const FilIslandTask *task, const double *threshold,
                        void **self) {
    FilArena *arena = task->arena;
    Interior *x = FIL_NEW(arena, Interior, 1);
    if (x == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (Interior){.best.size = s->size};
    FIL_TRY(fil_cones_create(s, task, threshold, &x->cones));
    x->scaling = FIL_NEW(arena, FilConeScaling, x->cones.count);
    double **of_parts[] = {&x->x, &x->y, &x->lambda, &x->hx, &x->hy, &x->q, &x->try_x, &x->try_y};
    for (size_t k = 0; k < sizeof of_parts / sizeof *of_parts; k++) {
        *of_parts[k] = FIL_NEW(arena, double, x->cones.storage);
    }
    double **of_unknowns[] = {&x->r, &x->u, &x->right, &x->dr, &x->try_r, &x->best.r};
    for (size_t k = 0; k < sizeof of_unknowns / sizeof *of_unknowns; k++) {
        *of_unknowns[k] = FIL_NEW(arena, double, s->size);
    }
    *self = x;
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

FilStatus fil_interior_create_tresca(const FilSystem *s, const FilIslandTask *task,
                                     const double *threshold, void **self) {
    return create(s, task, threshold, self);
}

static FilStatus create_plain(const FilSystem *s, const FilIslandTask *task, void **self) {
    return create(s, task, NULL, self);
}

// x = y = e in units of block i.
static void set_start(Interior *x) {
    const FilCones *c = &x->cones;
    const FilSystem *s = c->s;
    const double unit = fil_cones_unit(c);
    memset(x->x, 0, (size_t)c->storage * sizeof *x->x);
    memset(x->y, 0, (size_t)c->storage * sizeof *x->y);
    memset(x->r, 0, (size_t)s->size * sizeof *x->r);
    for (int p = 0; p < c->count; p++) {
        const FilConePart *part = &c->part[p];
        const double root = sqrt(s->rho[part->block]);
        x->x[part->at] = unit / root;
        x->y[part->at] = part->fixed ? part->radius : unit * root;
        if (!part->fixed) {
            x->r[part->first] = x->y[part->at] / part->normal;
        }
    }
}

// Scale every part; returns the gap x.y per part.
static double scale(Interior *x) {
    const FilCones *c = &x->cones;
    double gap = 0.0;
    for (int p = 0; p < c->count; p++) {
        const int at = c->part[p].at, d = c->part[p].size;
        fil_cone_scale(d, x->x + at, x->y + at, &x->scaling[p], x->lambda + at);
        for (int k = 0; k < d; k++) {
            gap += x->lambda[at + k] * x->lambda[at + k];
        }
    }
    return gap / (c->count > 0 ? c->count : 1);
}

// The direction (dr, hx, hy) for a given q (NULL: 0). False when it is of no use.
static bool find_direction(Interior *x, const double *q) {
    const FilCones *c = &x->cones;
    for (int k = 0; k < c->s->size; k++) {
        x->dr[k] = -x->u[k];
    }
    double moved[FIL_PART_MAX], scaled[FIL_PART_MAX];
    for (int p = 0; q != NULL && p < c->count; p++) {
        const FilConePart *part = &c->part[p];
        fil_cone_apply(part->size, &x->scaling[p], q + part->at, moved);
        fil_cones_add(part, moved, x->dr);
    }
    if (!fil_cones_solve(&x->cones, x->dr)) {
        return false;
    }
    memset(x->hx, 0, (size_t)c->storage * sizeof *x->hx); // dy, the constants standing still
    fil_cones_gather(c, x->dr, x->hx);
    for (int p = 0; p < c->count; p++) {
        const int at = c->part[p].at, d = c->part[p].size;
        fil_cone_apply(d, &x->scaling[p], x->hx + at, scaled);
        for (int k = 0; k < d; k++) {
            x->hy[at + k] = scaled[k];
            x->hx[at + k] = (q != NULL ? q[at + k] : 0.0) - x->lambda[at + k] - scaled[k];
        }
    }
    return true;
}

static double find_step(const Interior *x) {
    const FilCones *c = &x->cones;
    double step = INFINITY;
    for (int p = 0; p < c->count; p++) {
        const int at = c->part[p].at, d = c->part[p].size;
        step = fmin(step, fil_cone_step(d, x->lambda + at, x->hx + at));
        step = fmin(step, fil_cone_step(d, x->lambda + at, x->hy + at));
    }
    return step;
}

// q of the corrector, from the predictor's direction; `gap` per part.
static void find_correction(Interior *x, double gap) {
    const FilCones *c = &x->cones;
    const double step = fmin(1.0, find_step(x));
    double ahead = 0.0;
    for (int k = 0; k < c->storage; k++) {
        ahead += (x->lambda[k] + step * x->hx[k]) * (x->lambda[k] + step * x->hy[k]);
    }
    const double left = fmin(1.0, fmax(0.0, ahead / c->count / gap));
    const double sigma = fmax(left * left * left, 1e-6);
    for (int p = 0; p < c->count; p++) {
        const int at = c->part[p].at, d = c->part[p].size;
        const double least = d > 1 ? FLATTEST * x->x[at] * x->y[at] : 0.0;
        const double target = fmax(sigma * gap, least);
        double product[FIL_PART_MAX];
        fil_cone_product(d, x->hx + at, x->hy + at, product);
        for (int k = 0; k < d; k++) {
            product[k] = (k == 0 ? target : 0.0) - product[k];
        }
        fil_cone_divide(d, x->lambda + at, product, x->q + at);
    }
}

// Move along the direction. False when not even a tiny step stays inside the cones.
static bool move(Interior *x) {
    const FilCones *c = &x->cones;
    const int size = c->s->size;
    double step = fmin(1.0, BOUNDARY * find_step(x));
    for (int trial = 0; trial < 30; trial++) {
        for (int k = 0; k < size; k++) {
            x->try_r[k] = x->r[k] + step * x->dr[k];
        }
        memcpy(x->try_y, x->y, (size_t)c->storage * sizeof *x->y);
        fil_cones_gather(c, x->try_r, x->try_y);
        bool inside = true;
        for (int p = 0; p < c->count && inside; p++) {
            const int at = c->part[p].at, d = c->part[p].size;
            fil_cone_apply(d, &x->scaling[p], x->hx + at, x->try_x + at);
            for (int k = 0; k < d; k++) {
                x->try_x[at + k] = x->x[at + k] + step * x->try_x[at + k];
            }
            inside =
                fil_cone_depth(d, x->try_x + at) > 0.0 && fil_cone_depth(d, x->try_y + at) > 0.0;
        }
        if (inside) {
            memcpy(x->r, x->try_r, (size_t)size * sizeof *x->r);
            memcpy(x->x, x->try_x, (size_t)c->storage * sizeof *x->x);
            memcpy(x->y, x->try_y, (size_t)c->storage * sizeof *x->y);
            return step > 1e-10;
        }
        step *= 0.5;
    }
    return false;
}

// Residual of the present r; keeps the best.
static bool measure(Interior *x, const FilIslandTask *task, double *scaled) {
    const FilSystem *s = x->cones.s;
    fil_system_velocity(s, x->r, x->u, task->threads);
    const bool solved = fil_cones_is_solved(&x->cones, task, x->u, x->r, scaled);
    fil_best_offer(&x->best, x->r, *scaled, solved);
    return solved;
}

static FilOutcome iterate(Interior *x, const FilIslandTask *task, int limit,
                          FilIslandResult *result) {
    FilStall stall = {.least = INFINITY};
    for (int iteration = 0;; iteration++) {
        double scaled;
        if (measure(x, task, &scaled)) {
            return FIL_CONVERGED;
        }
        if (fil_stall_note(&stall, scaled, 0.9, MAX_IDLE)) {
            return FIL_STALLED;
        }
        if (!fil_island_report(task, "interior", result->iterations, scaled) ||
            iteration == limit) {
            return FIL_LIMIT;
        }
        const double begin = fil_seconds(), gap = scale(x);
        fil_cones_factor(&x->cones, x->scaling);
        fil_island_count(task, fil_cones_work(&x->cones));
        result->seconds_factor += fil_seconds() - begin;
        result->iterations++;
        if (!find_direction(x, NULL)) {
            return FIL_STALLED;
        }
        if (x->cones.count > 0) {
            find_correction(x, gap);
            if (!find_direction(x, x->q)) {
                return FIL_STALLED;
            }
        }
        if (!move(x)) {
            return FIL_STALLED;
        }
    }
}

static FilOutcome solve(void *self, const FilIslandTask *task, int limit, double *r,
                        FilIslandResult *result) {
    Interior *x = self;
    double scaled;
    memcpy(x->r, r, (size_t)x->cones.s->size * sizeof *r);
    fil_best_begin(&x->best, r);
    if (measure(x, task, &scaled)) {
        return FIL_CONVERGED;
    }
    set_start(x);
    const FilOutcome outcome = iterate(x, task, limit, result);
    fil_best_take(&x->best, r);
    return outcome;
}

const FilConvexMethod fil_interior_method = {MAX_ITERATIONS, create_plain, solve};
