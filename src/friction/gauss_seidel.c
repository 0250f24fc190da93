// gauss_seidel.c - nonlinear block Gauss-Seidel: solve one block at a time, the others frozen.
//
//     u_i = W_ii r_i + (b_i + sum over j != i of W_ij r_j),   (u_i, r_i) in the law of block i.
//
// Blocks that W does not couple may be solved at once. Large systems are coloured (greedily, so
// that two blocks of a colour share no entry of W) and swept colour by colour, on any number of
// threads with the same bits; small ones in the given order, which converges a little faster.
//
// The residual costs as much as a sweep, so it is looked at when the sum of the changes says that
// it may be good enough, and otherwise every CHECK_EVERY sweeps. With pyramids in place of the
// cones the exact residual says nothing of convergence: then the sweeps end when they change
// little.
#include "gauss_seidel.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "best.h"
#include "law.h"
#include "local.h"
#include "solvers.h"

enum { MAX_SWEEPS = 20000, CHECK_EVERY = 25, COLOUR_FROM = 4096 };
enum { LOCAL_WORK = 500 }; // operations of a one-contact solve, about

static const double SETTLED = 0.1; // change of a sweep, in units of the wanted residual

typedef struct Sweep {
    const FilSystem *s;
    const FilIslandTask *task;
    const int64_t *block_at; // [n + 1] where W_ii begins in `diagonal`
    const double *diagonal;
    const int *order; // blocks, colour by colour
    double *r;
    double *change; // [n] square of the change of a block, in the unit of a velocity
    int *fallbacks; // [n]
    int first;      // of the colour being swept
} Sweep;

static void solve_block(const Sweep *x, int i) {
    const FilSystem *s = x->s;
    const FilFrictionSettings *settings = x->task->settings;
    const int d = fil_system_block_size(s, i);
    const double *W = x->diagonal + x->block_at[i];
    double *r = x->r + s->offset[i];
    double b[FIL_BLOCK_MAX], old[FIL_BLOCK_MAX], step[FIL_BLOCK_MAX];
    memcpy(old, r, (size_t)d * sizeof *r);
    s->delassus.row(s->delassus.self, i, x->r, b);
    for (int k = 0; k < d; k++) {
        b[k] += s->b[s->offset[i] + k];
        for (int l = 0; l < d; l++) {
            b[k] -= W[k * d + l] * old[l];
        }
    }
    if (settings->local == FIL_LOCAL_LINEARISED && s->kind[i] == FIL_BLOCK_COULOMB && d == 3) {
        const FilLocalBlock block = {s->kind[i], d, s->mu[i], W, b};
        (void)fil_local_linearised(&block, settings->facet_count, r);
    } else {
        (void)fil_local_solve(settings->local, s->kind[i], d, W, b, s->mu[i], r, &x->fallbacks[i]);
    }
    double sum = 0.0;
    for (int k = 0; k < d; k++) {
        step[k] = r[k] - old[k];
        sum += step[k] * step[k];
    }
    x->change[i] = sum / (s->rho[i] * s->rho[i]);
    if (sum > 0.0) {
        s->delassus.update(s->delassus.self, i, step);
    }
}

static void solve_range(void *context, int first, int last) {
    const Sweep *x = context;
    for (int k = first; k < last; k++) {
        solve_block(x, x->order[x->first + k]);
    }
}

static FilStatus copy_diagonal(const FilSystem *s, FilArena *arena, Sweep *x) {
    const int64_t *at = fil_system_squares(s, arena);
    double *diagonal = at != NULL ? FIL_NEW(arena, double, at[s->n]) : NULL;
    if (diagonal == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        s->delassus.diagonal(s->delassus.self, i, diagonal + at[i]);
    }
    x->block_at = at;
    x->diagonal = diagonal;
    return FIL_OK;
}

FilStatus fil_gauss_seidel_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                                 FilIslandResult *result) {
    FilArena *arena = task->arena;
    FilColours colours;
    // an operator on all bodies at once (unreduced.c) leaves nothing to do side by side
    const bool parallel = s->n >= COLOUR_FROM && (s->has_blocks || s->bodies != NULL);
    FIL_TRY(fil_colours_find(s, parallel, arena, &colours));
    Sweep x = {.s = s, .task = task, .order = colours.block, .r = r};
    FIL_TRY(copy_diagonal(s, arena, &x));
    x.change = FIL_NEW_ZEROED(arena, double, s->n);
    x.fallbacks = FIL_NEW_ZEROED(arena, int, s->n);
    double *u = FIL_NEW(arena, double, s->size);
    FilBest best = {.size = s->size, .r = FIL_NEW(arena, double, s->size)};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    const int limit =
        task->settings->max_iterations > 0 ? task->settings->max_iterations : MAX_SWEEPS;
    const bool pyramids = task->settings->local == FIL_LOCAL_LINEARISED;
    const double begin = fil_seconds();
    fil_best_begin(&best, r);
    result->outcome = FIL_LIMIT;
    for (int sweep = 0;; sweep++) {
        double change = 0.0;
        for (int i = 0; i < s->n; i++) {
            change += x.change[i];
        }
        const bool settled = pyramids && sweep > 0 && sqrt(change) <= SETTLED * task->scaled;
        const bool last = sweep == limit || settled;
        if (last || sweep % CHECK_EVERY == 0 || (sweep > 0 && sqrt(change) <= 2.0 * task->scaled)) {
            double scaled;
            fil_system_velocity(s, r, u, task->threads);
            const bool solved = fil_island_is_solved(s, task, u, r, &scaled);
            // pyramids: their own solution, not the one that happened to be nearest to exact
            fil_best_offer(&best, r, scaled, solved || settled);
            result->outcome = solved || settled ? FIL_CONVERGED : FIL_LIMIT;
            if (solved || last || !fil_island_report(task, "gauss-seidel", sweep, scaled)) {
                result->iterations += sweep;
                break;
            }
        }
        fil_island_count(task, fil_system_product_work(s) + (double)LOCAL_WORK * s->n);
        for (int c = 0; c < colours.count; c++) {
            x.first = colours.start[c];
            fil_parallel_ranges(colours.start[c + 1] - x.first, 64, parallel ? task->threads : 1,
                                solve_range, &x);
        }
    }
    for (int i = 0; i < s->n; i++) {
        result->fallbacks += x.fallbacks[i];
    }
    result->seconds_sweeps += fil_seconds() - begin;
    fil_best_take(&best, r);
    return FIL_OK;
}

FilStatus fil_linearised_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                               FilIslandResult *result) {
    FilFrictionSettings settings = *task->settings;
    settings.local = FIL_LOCAL_LINEARISED;
    FilIslandTask pyramids = *task;
    pyramids.settings = &settings;
    return fil_gauss_seidel_solve(s, &pyramids, r, result);
}
