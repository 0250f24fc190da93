// gradient.c - accelerated projected gradient: for the convex cone problem, and for friction
// itself.
//
// In impulses measured block by block in units of sqrt(rho_i), a metric that leaves the projection
// on a cone what it is, one step from the point p is
//
//     r_i <- P(p_i - rho_i / L u~_i),    u = W p + b,    u~ = u, or u + mu |u_T| e in coulomb
//     blocks:
//
// De Saxce's change of variable makes a fixed point of this obey Coulomb's law. There it is no
// gradient, and nothing warrants convergence; but on heaps of rods, whose contacts outnumber what
// they hold, it reaches 1e-5 in about 500 products with W, where Newton takes 60 factorisations and
// Gauss-Seidel 10 000 sweeps. Their number grows with the height of the heap: its slow modes are
// layers that move together over those below. (Tried instead: Anderson acceleration, 1000 products
// and more; rho from the row sums of W, no gain; steps that solve each contact with L W_ii, twice
// as many: contacts on one rod work together along it; corrections in the space of the slowest
// modes, no gain: impulses that they ask for leave their cones; u_T kept for some steps, the longer
// the worse.)
//
// Nesterov's extrapolation p = r + beta (r - old r) with the restart of O'Donoghue and Candes
// (2015), but a third of the momentum is kept: restarts are frequent where contacts open and close.
// L is the curvature along the steps, not the largest of all: it begins as the estimate of a few
// power iterations, grows whenever a step shows more, and shrinks a little with every other
// step (together a third fewer products). Where that leads no further it stays at the largest that
// was seen.
// W p follows from W r by linearity, so an iteration costs one product with W.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/timer.h"
#include "best.h"
#include "convex.h"
#include "law.h"

enum { MAX_ITERATIONS = 20000, POWER_ITERATIONS = 5, CHECK_EVERY = 5, MAX_IDLE = 200 };

static const double CURVATURE_FALL = 0.93; // of L, by every step that does not show more
static const double MOMENTUM_LEFT = 0.4;   // after a restart

typedef struct Gradient {
    const FilSystem *s;
    double *r, *old, *p;    // [size]
    double *Wr, *Wold, *Wp; // [size]
    double *u;              // [size]
    double *weight;         // [n] 1 / rho
    FilBest best;
    double L, largest; // curvature that steps allow for, the largest that was seen
    bool steady;       // L stays at the largest
} Gradient;

static FilStatus create(const FilSystem *s, const FilIslandTask *task, void **self) {
    FilArena *arena = task->arena;
    Gradient *x = FIL_NEW(arena, Gradient, 1);
    if (x == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (Gradient){.s = s, .best.size = s->size};
    double **arrays[] = {&x->r, &x->old, &x->p, &x->Wr, &x->Wold, &x->Wp, &x->u, &x->best.r};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = FIL_NEW(arena, double, s->size);
    }
    x->weight = FIL_NEW(arena, double, s->n);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        x->weight[i] = 1.0 / s->rho[i];
    }
    *self = x;
    return FIL_OK;
}

// The largest eigenvalue of R W, from below. Starts at a vector that no symmetry of the problem
// makes orthogonal to the wanted one.
static double estimate_curvature(Gradient *x, int threads) {
    const FilSystem *s = x->s;
    double curvature = 1.0;
    for (int k = 0; k < s->size; k++) {
        x->p[k] = 1.0 + 0.5 * sin(1.0 + 3.7 * k);
    }
    for (int iteration = 0; iteration < POWER_ITERATIONS; iteration++) {
        double along = 0.0, square = 0.0, next = 0.0;
        fil_system_multiply(s, x->p, x->Wp, threads);
        for (int i = 0; i < s->n; i++) {
            for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
                along += x->p[k] * x->Wp[k];
                square += x->p[k] * x->p[k] / s->rho[i];
                x->p[k] = s->rho[i] * x->Wp[k];
                next += x->p[k] * x->p[k] / s->rho[i];
            }
        }
        if (!(next > 0.0 && isfinite(next))) {
            break;
        }
        curvature = fmax(along / square, 1e-3);
        for (int k = 0; k < s->size; k++) {
            x->p[k] /= sqrt(next);
        }
    }
    return curvature;
}

// The projection on the cone of a contact in space: the case that matters.
static void project_contact(double mu, const double y[3], double r[3]) {
    const double slip = sqrt(y[1] * y[1] + y[2] * y[2]);
    if (slip <= mu * y[0] && y[0] >= 0.0) {
        memcpy(r, y, 3 * sizeof *r);
        return;
    }
    const double along = fmax(0.0, (y[0] + mu * slip) / (1.0 + mu * mu));
    const double part = slip > 0.0 ? mu * along / slip : 0.0;
    r[0] = along;
    r[1] = part * y[1];
    r[2] = part * y[2];
}

// r_i from p_i, by steps of `length` = 1 / L.
static void take_block_step(Gradient *x, int i, double length) {
    const FilSystem *s = x->s;
    const int d = fil_system_block_size(s, i), at = s->offset[i];
    const double step = s->rho[i] * length;
    double y[FIL_BLOCK_MAX] = {0.0}, slip = 0.0;
    for (int k = 0; k < d; k++) {
        const double u = x->Wp[at + k] + s->b[at + k];
        y[k] = x->p[at + k] - step * u;
        slip += k > 0 ? u * u : 0.0;
    }
    if (s->kind[i] == FIL_BLOCK_COULOMB) {
        y[0] -= step * s->mu[i] * sqrt(slip);
    }
    if (d == 3 && (s->kind[i] == FIL_BLOCK_COULOMB || s->kind[i] == FIL_BLOCK_CONE)) {
        project_contact(s->mu[i], y, x->r + at);
    } else {
        fil_law_project(s->kind[i], d, s->mu[i], y, x->r + at);
    }
}

// What a step shows.
typedef struct Shown {
    double curvature; // along r - p
    bool uphill;      // the momentum r - old points against r - p
} Shown;

// r from p, W r from r.
static Shown take_step(Gradient *x, int threads) {
    const FilSystem *s = x->s;
    const double length = 1.0 / x->L;
    for (int i = 0; i < s->n; i++) {
        take_block_step(x, i, length);
    }
    fil_system_multiply(s, x->r, x->Wr, threads);
    double along = 0.0, square = 0.0, momentum = 0.0;
    for (int i = 0; i < s->n; i++) {
        double own = 0.0, past = 0.0;
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            const double change = x->r[k] - x->p[k];
            along += change * (x->Wr[k] - x->Wp[k]);
            own += change * change;
            past -= change * (x->r[k] - x->old[k]);
        }
        square += own * x->weight[i];
        momentum += past * x->weight[i];
    }
    return (Shown){square > 0.0 ? along / square : 0.0, momentum > 0.0};
}

static void extrapolate(Gradient *x, double beta) {
    for (int k = 0; k < x->s->size; k++) {
        const double r = x->r[k], Wr = x->Wr[k];
        x->p[k] = r + beta * (r - x->old[k]);
        x->Wp[k] = Wr + beta * (Wr - x->Wold[k]);
        x->old[k] = r;
        x->Wold[k] = Wr;
    }
}

static bool measure(Gradient *x, const FilIslandTask *task, double *scaled) {
    const FilSystem *s = x->s;
    for (int k = 0; k < s->size; k++) {
        x->u[k] = x->Wr[k] + s->b[k];
    }
    const bool solved = fil_island_is_solved(s, task, x->u, x->r, scaled);
    fil_best_offer(&x->best, x->r, *scaled, solved);
    return solved;
}

// Begin at r, without momentum.
static void begin(Gradient *x, const double *r, int threads) {
    const size_t bytes = (size_t)x->s->size * sizeof *r;
    memcpy(x->r, r, bytes);
    memcpy(x->old, r, bytes);
    fil_system_multiply(x->s, x->r, x->Wr, threads);
    memcpy(x->Wold, x->Wr, bytes);
    extrapolate(x, 0.0);
}

// The next L, after a step that showed this curvature.
static void adapt(Gradient *x, double curvature) {
    x->largest = fmax(x->largest, curvature);
    if (curvature > x->L) {
        x->L = 1.1 * curvature;
    } else if (!x->steady) {
        x->L *= CURVATURE_FALL;
    }
}

static FilOutcome iterate(Gradient *x, const FilIslandTask *task, int limit,
                          FilIslandResult *result) {
    double theta = 1.0;
    FilStall stall = {.least = INFINITY};
    for (int iteration = 0;; iteration++) {
        double scaled = 0.0;
        const bool look = iteration % CHECK_EVERY == 0 || iteration == limit;
        if (look && measure(x, task, &scaled)) {
            return FIL_CONVERGED;
        }
        if (look && fil_stall_note(&stall, scaled, 0.99, MAX_IDLE)) {
            if (x->steady || !isfinite(scaled)) {
                return FIL_STALLED;
            }
            x->steady = true;
            x->L = 1.02 * x->largest;
            begin(x, x->best.r, task->threads);
            stall.idle = 0;
            theta = 1.0;
        }
        if (iteration == limit ||
            (look && !fil_island_report(task, "gradient", result->iterations, scaled))) {
            return FIL_LIMIT;
        }
        result->iterations++;
        fil_island_count(task, fil_system_product_work(x->s));
        const Shown shown = take_step(x, task->threads);
        adapt(x, shown.curvature);
        const double next = shown.uphill ? 1.0 + MOMENTUM_LEFT * (theta - 1.0)
                                         : 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta));
        extrapolate(x, shown.uphill ? 0.0 : (theta - 1.0) / next);
        theta = next;
    }
}

static FilOutcome solve(void *self, const FilIslandTask *task, int limit, double *r,
                        FilIslandResult *result) {
    Gradient *x = self;
    const double start = fil_seconds();
    if (x->L == 0.0) {
        x->L = x->largest = 1.02 * estimate_curvature(x, task->threads);
        fil_island_count(task, POWER_ITERATIONS * fil_system_product_work(x->s));
    }
    x->steady = false;
    fil_best_begin(&x->best, r);
    begin(x, r, task->threads);
    const FilOutcome outcome = iterate(x, task, limit, result);
    fil_best_take(&x->best, r);
    result->seconds_sweeps += fil_seconds() - start;
    return outcome;
}

const FilConvexMethod fil_gradient_method = {MAX_ITERATIONS, create, solve};
