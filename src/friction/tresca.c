// tresca.c - friction with thresholds from a frictionless solve (comparator).
//
// After Kaufman et al. 2005: solve the contact problem without friction, keep its normal impulses
// as thresholds, |r_T| <= mu r_N(frictionless), and solve again with those discs: two convex
// problems, each with one solution u, by the interior point method. What is lost is that friction
// changes the normal impulses and with them its own limit; the exact residual shows by how much.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "convex.h"
#include "solvers.h"

// Coulomb blocks become cones; without friction, half-lines.
static FilStatus make_convex(const FilSystem *s, bool friction, FilArena *arena, FilSystem *out) {
    FIL_TRY(fil_system_as_cones(s, arena, out));
    if (!friction) {
        FilSystem slippery;
        FIL_TRY(fil_system_without_friction(s, arena, &slippery));
        out->mu = slippery.mu;
    }
    return FIL_OK;
}

FilStatus fil_tresca_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result) {
    FilSystem slippery, rough;
    void *self;
    double *threshold = FIL_NEW_ZEROED(task->arena, double, s->n);
    if (threshold == NULL) {
        return FIL_E_NO_MEMORY;
    }
    const FilConvexMethod *method = &fil_interior_method;
    const int given = task->settings->max_iterations;
    const int limit = given > 0 ? given : method->limit;
    FIL_TRY(make_convex(s, false, task->arena, &slippery));
    FIL_TRY(method->create(&slippery, task, &self));
    memset(r, 0, (size_t)s->size * sizeof *r);
    const int before = result->iterations;
    const FilOutcome first = method->solve(self, task, limit, r, result);
    const int left = given > 0 ? limit - (result->iterations - before) : limit;
    if (left <= 0) {
        result->outcome = FIL_LIMIT;
        return FIL_OK;
    }

    FIL_TRY(make_convex(s, true, task->arena, &rough));
    for (int i = 0; i < s->n; i++) {
        threshold[i] = s->mu[i] * fmax(0.0, r[s->offset[i]]);
    }
    FIL_TRY(fil_interior_create_tresca(&rough, task, threshold, &self));
    const FilOutcome second = method->solve(self, task, left, r, result);
    result->outcome = first == FIL_CONVERGED ? second : first;
    return FIL_OK;
}
