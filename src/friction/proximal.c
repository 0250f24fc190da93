// proximal.c - Newton on a sequence of proximal problems: the engine of `auto`.
//
// Why. Newton on an exact-friction function finds the active set in a few steps when W is well
// conditioned, and fails when W is nearly singular: stiff fibres, or more contacts than degrees of
// freedom. The proximal problem around the present iterate p,
//
//     u = (W + D) r + b - D p,    D_i = delta / rho_i,
//
// is as well conditioned as one likes, has the true solutions as fixed points (r = p), and moves r
// only as far as delta lets it in directions that W does not see. So: solve it by a few Newton
// steps, move p there, lower delta while that is easy, raise it when Newton fails.
//
// The function is Alart and Curnier's of 1991, the radius of the disc predicted with the normal
// part: with y = r - rho u, F = r - P(y), P the projection on [0, inf) x disc(mu max(0, y_N)).
// Full steps, no line search: on these problems the merit function has local minima and plain
// Newton, which jumps over them, needs fewer than half the steps (measured on 117 problems). But
// one that is a thousand times farther off than it began, three steps later, has never come back
// within the ten that it has: twisted bundles that touch all along take a third fewer steps when
// delta is raised at once.
#include "proximal.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "law.h"
#include "newton_step.h"

enum { MAX_INNER = 10, LOST_AFTER = 3, MAX_MOVE = 50, MAX_IDLE = 600 };

static const double DELTA_FIRST = 0.3; // in units of W_ii
static const double DELTA_WARM = 0.01; // the same, from a guess that is worth something
static const double DELTA_LEAST = 1e-9;
static const double DELTA_RISE = 5.0; // after Newton failed
static const double DELTA_LARGEST = 1e3;
static const double INNER_REDUCTION = 0.1;   // of the residual, per proximal problem
static const double LOST = 1e4;              // times what is wanted: Newton is not coming back
static const double MOVE_REDUCTION = 1e-9;   // the same, of a single proximal step
static const double ROUND_OFF_SHIFT = 1e-13; // keeps a singular W_ii solvable

struct FilProximal {
    const FilSystem *s;
    const FilIslandTask *task;
    FilNewtonStep *step;
    FilJacobian J;
    double *r, *u;   // present iterate, true velocity
    double *p;       // centre
    double *shifted; // u + D (r - p)
    double *F, *d;
    double *best; // best iterate by the true residual
    double best_scaled;
    double delta;
    int iterations;
    double seconds_factor; // spent in Newton's linear systems
    int progress_at;       // iteration of the last real progress
    double rho_factor;     // of rho_i in the function
};

// --- the function --------------------------------------------------------------------------------

static void set_identity(int d, double factor, double *block) {
    memset(block, 0, (size_t)(d * d) * sizeof *block);
    for (int k = 0; k < d; k++) {
        block[k * (d + 1)] = factor;
    }
}

// A Coulomb contact of size 3. Returns false when it is open.
static bool linearise_contact(double mu, double rho, const double *u, const double *r, double *F,
                              double *Fu, double *Fr) {
    const double y0 = r[0] - rho * u[0], y1 = r[1] - rho * u[1], y2 = r[2] - rho * u[2];
    if (!(y0 > 0.0)) {
        memcpy(F, r, 3 * sizeof *F);
        return false;
    }
    const double length = sqrt(y1 * y1 + y2 * y2), radius = mu * y0;
    if (length <= radius && mu > 0.0) {
        for (int k = 0; k < 3; k++) {
            F[k] = rho * u[k];
        }
        set_identity(3, rho, Fu);
        memset(Fr, 0, 9 * sizeof *Fr);
        return true;
    }
    const double e1 = length > 0.0 ? y1 / length : 0.0, e2 = length > 0.0 ? y2 / length : 0.0;
    const double ratio = length > 0.0 ? radius / length : 0.0;
    const double g11 = ratio * (1.0 - e1 * e1), g12 = -ratio * e1 * e2,
                 g22 = ratio * (1.0 - e2 * e2);
    F[0] = rho * u[0];
    F[1] = r[1] - radius * e1;
    F[2] = r[2] - radius * e2;
    const double fu[9] = {rho,           0,         0,        rho * mu * e1, rho * g11, rho * g12,
                          rho * mu * e2, rho * g12, rho * g22};
    const double fr[9] = {0, 0, 0, -mu * e1, 1 - g11, -g12, -mu * e2, -g12, 1 - g22};
    memcpy(Fu, fu, sizeof fu);
    memcpy(Fr, fr, sizeof fr);
    return true;
}

static bool is_zero(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (x[k] != 0.0) {
            return false;
        }
    }
    return true;
}

enum { GRAIN = 256 }; // contacts

static void linearise_range(void *context, int first, int last) {
    const FilProximal *x = context;
    const FilSystem *s = x->s;
    for (int i = first; i < last; i++) {
        const int d = fil_system_block_size(s, i), o = s->offset[i];
        const double rho = x->rho_factor * s->rho[i] / (1.0 + x->delta);
        double *Fu = x->J.Fu + x->J.at[i], *Fr = x->J.Fr + x->J.at[i];
        if (s->kind[i] == FIL_BLOCK_COULOMB && d == 3) {
            x->J.active[i] =
                linearise_contact(s->mu[i], rho, x->shifted + o, x->r + o, x->F + o, Fu, Fr);
        } else {
            const FilLawPoint point = {.kind = s->kind[i],
                                       .d = d,
                                       .mu = s->mu[i],
                                       .rho = rho,
                                       .u = x->shifted + o,
                                       .r = x->r + o};
            fil_law_function(FIL_FUNCTION_ALART_CURNIER, &point, x->F + o, Fu, Fr);
            x->J.active[i] = !is_zero(Fu, d * d);
        }
        x->J.shift[i] = (x->delta + ROUND_OFF_SHIFT) / s->rho[i];
    }
}

static void linearise(FilProximal *x) {
    fil_parallel_ranges(x->s->n, GRAIN, x->task->threads, linearise_range, x);
}

// --- residuals -----------------------------------------------------------------------------------

static double add_squares(void *context, int first, int last) {
    const FilProximal *x = context;
    const FilSystem *s = x->s;
    double sum = 0.0;
    for (int i = first; i < last; i++) {
        const double rho = s->rho[i] / (1.0 + x->delta);
        sum += fil_law_natural(s->kind[i], fil_system_block_size(s, i), s->mu[i], rho,
                               x->shifted + s->offset[i], x->r + s->offset[i], NULL) /
               (rho * rho);
    }
    return sum;
}

// The residual of the proximal problem, in the unit of a velocity.
static double inner_residual(FilProximal *x) {
    return sqrt(fil_parallel_sum(x->s->n, x->task->threads, add_squares, x));
}

static void shift_range(void *context, int first, int last) {
    const FilProximal *x = context;
    const FilSystem *s = x->s;
    for (int i = first; i < last; i++) {
        const double shift = x->delta / s->rho[i];
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            x->shifted[k] = x->u[k] + shift * (x->r[k] - x->p[k]);
        }
    }
}

static void find_velocity(FilProximal *x) {
    fil_system_velocity(x->s, x->r, x->u, x->task->threads);
    fil_parallel_ranges(x->s->n, GRAIN, x->task->threads, shift_range, x);
}

// The true residual; keeps the best iterate. True when it is good enough.
static bool measure(FilProximal *x, double *scaled) {
    const bool solved = fil_island_is_solved(x->s, x->task, x->u, x->r, scaled);
    if (solved || *scaled < x->best_scaled) {
        if (*scaled < 0.99 * x->best_scaled) {
            x->progress_at = x->iterations;
        }
        x->best_scaled = *scaled;
        memcpy(x->best, x->r, (size_t)x->s->size * sizeof *x->r);
    }
    return solved;
}

// --- the two loops -------------------------------------------------------------------------------

typedef enum Inner { INNER_DONE, INNER_SOLVED, INNER_FAILED, INNER_STOPPED } Inner;

// Newton on the proximal problem around p from r = p, until its residual is below `wanted`.
// INNER_SOLVED: the true problem is solved on the way.
static Inner solve_inner(FilProximal *x, double wanted, int max_count, int *count) {
    const int size = x->s->size;
    for (*count = 0;; (*count)++) {
        double scaled;
        find_velocity(x);
        if (measure(x, &scaled)) {
            return INNER_SOLVED;
        }
        if (!fil_island_report(x->task, "newton", x->iterations, scaled)) {
            return INNER_STOPPED;
        }
        const double left = *count > 0 ? inner_residual(x) : wanted;
        if (*count > 0 && left <= wanted) {
            return INNER_DONE;
        }
        if (*count >= LOST_AFTER && left > LOST * wanted) {
            return INNER_FAILED;
        }
        if (*count == max_count) {
            return INNER_FAILED;
        }
        linearise(x);
        x->iterations++;
        const double begin = fil_seconds();
        const bool found = fil_newton_step_solve(x->step, x->F, x->d);
        fil_island_count(x->task, fil_newton_step_work(x->step) + fil_system_product_work(x->s));
        x->seconds_factor += fil_seconds() - begin;
        if (!found) {
            return INNER_FAILED;
        }
        for (int k = 0; k < size; k++) {
            x->r[k] += x->d[k];
        }
    }
}

// By how much to lower delta after a proximal problem that took `count` Newton steps.
static double choose_reduction(int count, bool careful) {
    if (count > 8) {
        return 1.0;
    }
    if (count > 4) {
        return careful ? 0.7 : 0.5;
    }
    return careful ? 0.3 : count > 2 ? 0.1 : 0.03;
}

static FilOutcome iterate(FilProximal *x, int limit) {
    const size_t bytes = (size_t)x->s->size * sizeof *x->r;
    bool careful = false; // Newton has failed before
    double centre_scaled;
    memcpy(x->p, x->r, bytes);
    find_velocity(x);
    if (measure(x, &centre_scaled)) {
        return FIL_CONVERGED;
    }
    while (x->iterations < limit) {
        int count;
        const double wanted = fmax(INNER_REDUCTION * centre_scaled, 0.3 * x->task->scaled);
        const Inner inner = solve_inner(
            x, wanted, limit - x->iterations < MAX_INNER ? limit - x->iterations : MAX_INNER,
            &count);
        if (inner == INNER_SOLVED) {
            return FIL_CONVERGED;
        }
        if (inner == INNER_STOPPED) {
            return FIL_LIMIT;
        }
        double scaled;
        (void)fil_island_is_solved(x->s, x->task, x->u, x->r, &scaled);
        if (inner == INNER_DONE || scaled < centre_scaled) {
            memcpy(x->p, x->r, bytes);
            centre_scaled = scaled;
        } else {
            memcpy(x->r, x->p, bytes);
        }
        if (inner == INNER_DONE) {
            x->delta = fmax(DELTA_LEAST, x->delta * choose_reduction(count, careful));
        } else {
            x->delta *= DELTA_RISE;
            careful = true;
        }
        if (x->delta > DELTA_LARGEST || x->iterations - x->progress_at > MAX_IDLE) {
            return FIL_STALLED;
        }
    }
    return FIL_LIMIT;
}

FilStatus fil_proximal_create(const FilSystem *s, const FilIslandTask *task, FilProximal **out) {
    FilArena *arena = task->arena;
    FilProximal *x = FIL_NEW(arena, FilProximal, 1);
    if (x == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (FilProximal){.s = s,
                       .task = task,
                       .r = FIL_NEW(arena, double, s->size),
                       .u = FIL_NEW(arena, double, s->size),
                       .p = FIL_NEW(arena, double, s->size),
                       .shifted = FIL_NEW(arena, double, s->size),
                       .F = FIL_NEW(arena, double, s->size),
                       .d = FIL_NEW(arena, double, s->size),
                       .best = FIL_NEW(arena, double, s->size)};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(fil_newton_step_create(s, task->threads, arena, task->scratch, &x->step));
    fil_newton_step_set_stop(x->step, fil_island_wants_end, (void *)task);
    x->J = fil_newton_step_jacobian(x->step);
    *out = x;
    return FIL_OK;
}

void fil_proximal_run(FilProximal *x, double rho_factor, int limit, double *r,
                      FilIslandResult *result) {
    const size_t bytes = (size_t)x->s->size * sizeof *r;
    const int asked = x->task->settings->max_iterations;
    x->rho_factor = rho_factor;
    x->delta = x->task->settings->warm_start && !is_zero(r, x->s->size) ? DELTA_WARM : DELTA_FIRST;
    x->best_scaled = INFINITY;
    x->iterations = x->progress_at = 0;
    memcpy(x->r, r, bytes);
    memcpy(x->best, r, bytes);
    result->outcome = iterate(
        x, asked > 0 && asked - result->iterations < limit ? asked - result->iterations : limit);
    result->iterations += x->iterations;
    result->seconds_factor += x->seconds_factor;
    x->seconds_factor = 0.0;
    memcpy(r, x->best, bytes);
}

bool fil_proximal_move(FilProximal *x, double delta, double *r) {
    const size_t bytes = (size_t)x->s->size * sizeof *r;
    int count;
    x->rho_factor = 1.0;
    x->delta = delta;
    memcpy(x->r, r, bytes);
    memcpy(x->p, r, bytes);
    find_velocity(x);
    const double wanted = MOVE_REDUCTION * inner_residual(x);
    const Inner inner = solve_inner(x, wanted, MAX_MOVE, &count);
    memcpy(r, x->r, bytes);
    return inner == INNER_DONE || inner == INNER_SOLVED;
}

double fil_proximal_unit(const FilProximal *x) {
    return fil_newton_step_unit(x->step);
}

FilNewtonStep *fil_proximal_step(FilProximal *x) {
    return x->step;
}
