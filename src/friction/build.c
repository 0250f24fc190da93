// build.c - from a problem in any form to the system that solvers see.
//
// The global form is reduced to its contacts (reduce.c); the reduction stays with the system, for
// the velocities of the bodies. Products of finite numbers may overflow: W and b are looked at once
// more where they were computed here.
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "reduce.h"
#include "system.h"

static bool is_finite(const double *x, int64_t count) {
    int bad = 0;
    for (int64_t k = 0; k < count; k++) {
        bad |= !(fabs(x[k]) <= DBL_MAX);
    }
    return bad == 0;
}

static FilStatus check_made(const FilSystem *s, FilError *error) {
    if (!is_finite(s->W.value, s->W.at[s->W.start[s->n]])) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "W = H A^-1 H^T overflows; its factors are too large");
    }
    if (!is_finite(s->b, s->size)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "b = w + H^T M^-1 f overflows; f is too large, or M nearly singular");
    }
    return FIL_OK;
}

// Every diagonal entry of a positive definite matrix is positive.
static FilStatus check_masses(const FilSparse *M, FilError *error) {
    for (int c = 0; c < M->column_count; c++) {
        double sum = 0.0;
        for (int k = M->start[c]; k < M->start[c + 1]; k++) {
            sum += M->index[k] == c ? M->value[k] : 0.0;
        }
        if (!(sum > 0.0)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "global.M is %g at (%d, %d); the diagonal must be positive", sum, c, c);
        }
    }
    return FIL_OK;
}

static FilStatus reduce(const FilFrictionProblem *problem, const int *offset, FilArena *arena,
                        FilReduction *reduction, FilFrictionProblem *reduced, FilError *error) {
    int singular = -1;
    FIL_TRY(check_masses(&problem->global.M, error));
    FIL_TRY(fil_reduction_begin(&problem->global, arena, reduction));
    FIL_TRY(fil_reduction_factor(reduction, &problem->global.M, arena, &singular));
    if (singular >= 0) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "global.M is singular at body %d, the unknowns that M couples to v[%d]; it "
                        "must be positive definite",
                        singular, reduction->dof[reduction->body_start[singular]]);
    }
    return fil_reduction_problem(reduction, problem, offset, arena, reduced);
}

FilStatus fil_system_build(const FilFrictionProblem *problem, FilArena *arena, FilSystem *out,
                           FilError *error) {
    if (problem->form == FIL_FORM_BLOCKS) {
        return fil_system_from_blocks(problem, arena, out);
    }
    FilFrictionProblem reduced = *problem;
    FilReduction *reduction = NULL;
    if (problem->form == FIL_FORM_GLOBAL) {
        reduction = FIL_NEW(arena, FilReduction, 1);
        if (reduction == NULL) {
            return FIL_E_NO_MEMORY;
        }
        FIL_TRY(fil_system_begin(problem, arena, out));
        FIL_TRY(reduce(problem, out->offset, arena, reduction, &reduced, error));
    }
    FIL_TRY(fil_system_from_blocks(&reduced, arena, out));
    out->reduction = reduction;
    return check_made(out, error);
}
