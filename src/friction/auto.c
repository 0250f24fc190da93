// auto.c - the default solver: users never have to think about it.
//
//   1  one block alone: the one-contact solver, which also certifies that nothing solves it
//   2  a heap, whose contacts share bodies with many others, without a guess: accelerated gradient
//      (gradient.c), to 1e-5 at best; a factorisation costs as much as hundreds of its steps. From
//      a guess Newton is faster: it factors the contacts that press, few of those of strands that
//      lie side by side (a braid of 355 contacts: 0.05 s, where 2500 products take 1 s)
//   3  proximal Newton (proximal.c): solves nearly everything
//   4  if it stalls: from zero where it began at a guess, which may lead nowhere; then once more
//      from the best iterate with another scale of the function
//   5  if that did not help: look for a proof that there is no solution
//   6  else a path from a smoothed problem (continuation.c): finds what Newton cycles around
//   7  else the Cadoux fixed point, which shares none of Newton's failure modes
//
// The last two factor in every step: they are left out where that may be out of reach.
//
// A budget of work is shared out, so that no link uses up what the next ones need. Of 149 problems
// of wild scenes that take more than 100 Newton steps (capstans of stiff rods with mu > 1, bundles
// and braids that begin in touch, masses over 6 decades) Newton from the guess solves half, in the
// median by 30 units, and most of the others creep between 1e-5 and 1e-8. (Tried on these, without
// gain: other lengths of the inner loop, other rates of delta, damped steps, going on along the
// line on which the centre creeps.)
//
// The proof. Let y have y_i in the impulse cone of its block, with no tangential part in coulomb
// blocks and 0 in balls, W^T y = 0 and y . b < 0. For every r then y . u = y . b < 0, but a lawful
// u has y . u >= 0: there is no solution. Such a y exists exactly when the problem without friction
// has none, and it is what the increments of the proximal-point method tend to on that problem
// (Pazy 1971: the displacement of least norm).
//
// Every choice depends on iterations and residuals alone.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "continuation.h"
#include "convex.h"
#include "law.h"
#include "proximal.h"
#include "schwarz.h"
#include "solvers.h"

enum { ITERATIONS = 1000, CERTIFICATE_STEPS = 40, GRADIENT_STEPS = 2500 };

static const double HEAP_FROM_FLOPS = 5e7;   // at least, of a factorisation
static const double HEAP_ROW = 120.0;        // unknowns in a row, in the mean
static const double GRADIENT_REACHES = 1e-5; // of |b|; beyond, Newton is faster

// Shares of the budget: the most of it that may be done when a link ends.
static const double PROXIMAL_SHARE = 0.5, RESTART_SHARE = 0.65, SCALE_SHARE = 0.8,
                    PROOF_SHARE = 0.85, PATH_SHARE = 1.0;

static const double CERTIFICATE_TOLERANCE = 1e-6;
static const double CERTIFICATE_DELTA = 1e-7;

static FilStatus solve_alone(const FilSystem *s, const FilIslandTask *task, double *r,
                             FilIslandResult *result) {
    double u[FIL_BLOCK_MAX], W[FIL_BLOCK_MAX * FIL_BLOCK_MAX];
    fil_system_velocity(s, r, u, 1);
    if (fil_island_is_solved(s, task, u, r, NULL)) { // of several solutions, the one we are at
        result->outcome = FIL_CONVERGED;
        return FIL_OK;
    }
    s->delassus.diagonal(s->delassus.self, 0, W);
    const FilOutcome outcome = fil_local_solve(FIL_LOCAL_HYBRID, s->kind[0], s->size, W, s->b,
                                               s->mu[0], r, &result->fallbacks);
    fil_system_velocity(s, r, u, 1);
    const bool solved = fil_island_is_solved(s, task, u, r, NULL);
    result->outcome = solved ? FIL_CONVERGED : outcome == FIL_CONVERGED ? FIL_STALLED : outcome;
    result->iterations = 1;
    return FIL_OK;
}

// --- proof that there is no solution -------------------------------------------------------------

// x = W^T y; only a stored W may be unsymmetric.
static void multiply_transposed(const FilSystem *s, const double *y, double *x) {
    if (!s->has_blocks) {
        fil_system_velocity(s, y, x, 1);
        for (int k = 0; k < s->size; k++) {
            x[k] -= s->b[k];
        }
        return;
    }
    memset(x, 0, (size_t)s->size * sizeof *x);
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i);
        for (int k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
            const int first = s->offset[s->W.column[k]];
            const int e = fil_system_block_size(s, s->W.column[k]);
            for (int a = 0; a < d * e; a++) {
                x[first + a % e] += s->W.value[s->W.at[k] + a] * y[s->offset[i] + a / e];
            }
        }
    }
}

// Whether y proves that the problem has no solution; Wy is scratch.
static bool is_certificate(const FilSystem *s, const double *y, double *Wy) {
    double gain = 0.0, size = 0.0, motion = 0.0, free_motion = 0.0;
    multiply_transposed(s, y, Wy);
    for (int i = 0; i < s->n; i++) {
        double p[FIL_BLOCK_MAX];
        const double mu = s->kind[i] == FIL_BLOCK_BALL ? 0.0 : s->mu[i]; // no ray in a ball
        fil_law_project(s->kind[i], fil_system_block_size(s, i), mu, y + s->offset[i], p);
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            const double wy = Wy[k], rho = s->rho[i];
            const double outside = y[k] - p[k - s->offset[i]];
            size += y[k] * y[k] / rho;
            motion += (wy * wy * rho) + outside * outside / rho;
            free_motion += s->b[k] * s->b[k] * rho;
            gain -= s->b[k] * y[k];
        }
    }
    return size > 0.0 && sqrt(motion) <= CERTIFICATE_TOLERANCE * sqrt(size) &&
           gain > CERTIFICATE_TOLERANCE * sqrt(size * free_motion);
}

static FilStatus prove_no_solution(const FilSystem *s, const FilIslandTask *task, bool *proven) {
    FilSystem frictionless;
    FIL_TRY(fil_system_without_friction(s, task->arena, &frictionless));
    double *p = FIL_NEW_ZEROED(task->arena, double, s->size);
    double *y = FIL_NEW(task->arena, double, s->size);
    double *work = FIL_NEW(task->arena, double, s->size);
    if (p == NULL || y == NULL || work == NULL) {
        return FIL_E_NO_MEMORY;
    }
    FilProximal *x;
    FIL_TRY(fil_proximal_create(&frictionless, task, &x));
    *proven = false;
    for (int k = 0; k < CERTIFICATE_STEPS && !*proven; k++) {
        memcpy(y, p, (size_t)s->size * sizeof *y);
        // the smaller delta, the faster fades what is not part of the ray
        if (!fil_proximal_move(x, fmax(CERTIFICATE_DELTA, pow(0.25, k)), p)) {
            break;
        }
        for (int j = 0; j < s->size; j++) {
            y[j] = p[j] - y[j];
        }
        *proven = is_certificate(&frictionless, y, work);
    }
    return FIL_OK;
}

// --- the chain -----------------------------------------------------------------------------------

static bool is_over(const FilIslandResult *result, const FilIslandTask *task) {
    return result->outcome == FIL_CONVERGED || *task->stop || fil_island_is_spent(task) ||
           (task->settings->max_iterations > 0 &&
            result->iterations >= task->settings->max_iterations);
}

// Keep the better of two impulse vectors in r.
static void keep_better(const FilSystem *s, const FilIslandTask *task, const double *other,
                        double *r, double *u) {
    double old, new;
    fil_system_velocity(s, r, u, task->threads);
    (void)fil_island_is_solved(s, task, u, r, &old);
    fil_system_velocity(s, other, u, task->threads);
    const bool solved = fil_island_is_solved(s, task, u, other, &new);
    if (solved || new < old) {
        memcpy(r, other, (size_t)s->size * sizeof *r);
    }
}

static FilStatus try_continuation(const FilSystem *s, const FilIslandTask *task,
                                  FilProximal *finish, double *r, FilIslandResult *result) {
    double *other = FIL_NEW(task->arena, double, s->size);
    double *u = FIL_NEW(task->arena, double, s->size);
    if (other == NULL || u == NULL) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(other, r, (size_t)s->size * sizeof *r);
    FIL_TRY(fil_continuation_solve(s, task, finish, other, result));
    keep_better(s, task, other, r, u);
    return FIL_OK;
}

static FilStatus try_cadoux(const FilSystem *s, const FilIslandTask *task, double *r,
                            FilIslandResult *result) {
    double *other = FIL_NEW(task->arena, double, s->size);
    double *u = FIL_NEW(task->arena, double, s->size);
    if (other == NULL || u == NULL) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(other, r, (size_t)s->size * sizeof *r);
    FilIslandResult inner = {.outcome = FIL_STALLED};
    FilFrictionSettings settings = *task->settings;
    FilIslandTask rest = *task;
    if (settings.max_iterations > 0) {
        settings.max_iterations -= result->iterations;
    }
    rest.settings = &settings;
    FIL_TRY(fil_cadoux_solve(s, &rest, other, &inner));
    keep_better(s, task, other, r, u);
    result->iterations += inner.iterations;
    result->outcome = inner.outcome == FIL_CONVERGED ? FIL_CONVERGED
                      : *task->stop                  ? FIL_LIMIT
                                                     : FIL_STALLED;
    return FIL_OK;
}

// The next link may go on until so much of the budget is spent.
static void allow(const FilIslandTask *task, const FilIslandResult *result, double share) {
    task->work->limit = share * task->settings->budget * result->unit;
}

// Proximal Newton from where r is; from zero, if that stalls and r was a guess; then from the best
// of all with another scale.
static FilStatus try_proximal(const FilSystem *s, const FilIslandTask *task, FilProximal *x,
                              double *r, FilIslandResult *result) {
    double *other = FIL_NEW_ZEROED(task->arena, double, s->size);
    double *u = FIL_NEW(task->arena, double, s->size);
    if (other == NULL || u == NULL) {
        return FIL_E_NO_MEMORY;
    }
    bool guessed = false; // else zero is where the first run began
    for (int k = 0; k < s->size && task->settings->warm_start; k++) {
        guessed = guessed || r[k] != 0.0;
    }
    allow(task, result, guessed ? PROXIMAL_SHARE : RESTART_SHARE);
    fil_proximal_run(x, 1.0, ITERATIONS, r, result);
    allow(task, result, RESTART_SHARE);
    result->fallbacks += !is_over(result, task);
    if (!is_over(result, task) && guessed) {
        fil_proximal_run(x, 1.0, ITERATIONS, other, result);
        keep_better(s, task, other, r, u);
    }
    allow(task, result, SCALE_SHARE);
    if (!is_over(result, task)) {
        fil_proximal_run(x, 3.0, ITERATIONS, r, result);
        allow(task, result, PROOF_SHARE);
        result->fallbacks += !is_over(result, task);
    }
    allow(task, result, PROOF_SHARE);
    return FIL_OK;
}

// Whether a factorisation of W takes many operations, even if its rows fill no more than they have
// already, and those of most are long.
static bool is_heap(const FilSystem *s) {
    double flops = 0.0, sum = 0.0;
    for (int i = 0; s->has_blocks && i < s->n; i++) {
        const double d = fil_system_block_size(s, i);
        const double row = (double)(s->W.at[s->W.start[i + 1]] - s->W.at[s->W.start[i]]) / d;
        flops += row * row * d;
        sum += row * d;
    }
    return flops >= HEAP_FROM_FLOPS && flops >= HEAP_ROW * sum;
}

// Steps of the gradient from where r is, to what was asked for or as far as they are worth it.
static FilStatus try_gradient(const FilSystem *s, const FilIslandTask *task, double *r,
                              FilIslandResult *result) {
    const FilFrictionSettings *settings = task->settings;
    const int asked = settings->max_iterations;
    FilIslandTask rough = *task;
    if (s->has_blocks && settings->tolerance < GRADIENT_REACHES) {
        rough.scaled *= GRADIENT_REACHES / settings->tolerance;
        rough.natural = INFINITY;
    }
    void *gradient;
    FIL_TRY(fil_gradient_method.create(s, task, &gradient));
    result->outcome = fil_gradient_method.solve(
        gradient, &rough, asked > 0 && asked < GRADIENT_STEPS ? asked : GRADIENT_STEPS, r, result);
    if (result->outcome == FIL_CONVERGED && rough.scaled > task->scaled) {
        result->outcome = FIL_STALLED;
    }
    return FIL_OK;
}

// Whether r solves the problem already: then nothing needs to be made ready.
static FilStatus look_first(const FilSystem *s, const FilIslandTask *task, const double *r,
                            FilIslandResult *result) {
    double *u = FIL_NEW(task->arena, double, s->size);
    if (u == NULL) {
        return FIL_E_NO_MEMORY;
    }
    fil_system_velocity(s, r, u, task->threads);
    result->outcome = fil_island_is_solved(s, task, u, r, NULL) ? FIL_CONVERGED : FIL_STALLED;
    return FIL_OK;
}

FilStatus fil_auto_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                         FilIslandResult *result) {
    if (s->n == 1) {
        return solve_alone(s, task, r, result);
    }
    FIL_TRY(look_first(s, task, r, result));
    if (result->outcome == FIL_CONVERGED) {
        return FIL_OK;
    }
    const bool known = s->has_blocks || s->primal != NULL; // else W is a product, no more
    if (!known || (!task->settings->warm_start && is_heap(s))) {
        FIL_TRY(try_gradient(s, task, r, result));
        if (!known || is_over(result, task)) {
            return FIL_OK;
        }
    }
    FilProximal *x;
    FIL_TRY(fil_proximal_create(s, task, &x));
    result->unit = fil_proximal_unit(x);
    FIL_TRY(try_proximal(s, task, x, r, result));
    if (is_over(result, task)) {
        return FIL_OK;
    }
    bool proven = false;
    FIL_TRY(prove_no_solution(s, task, &proven));
    if (proven) {
        result->outcome = FIL_NO_SOLUTION;
        return FIL_OK;
    }
    allow(task, result, PATH_SHARE);
    if (!s->has_blocks || fil_schwarz_fits(s)) {
        return FIL_OK;
    }
    FIL_TRY(try_continuation(s, task, x, r, result));
    if (is_over(result, task)) {
        return FIL_OK;
    }
    result->fallbacks++;
    return try_cadoux(s, task, r, result);
}
