// build.c - from a problem in any form to the system that solvers see.
//
// The global form is reduced to its contacts (reduce.c); the reduction stays with the system, for
// the velocities of the bodies; with a large body W is left an operator (unreduced.c). Products of
// finite numbers may overflow: W and b are looked at once more where they were computed here.
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "math/sparse.h"
#include "product.h"
#include "reduce.h"
#include "system.h"
#include "unreduced.h"

enum { LARGE_BODY = 500 }; // unknowns: above, M^-1 H is not formed

static bool is_finite(const double *x, int64_t count) {
    int bad = 0;
    for (int64_t k = 0; k < count; k++) {
        bad |= !(fabs(x[k]) <= DBL_MAX);
    }
    return bad == 0;
}

static FilStatus check_made(const FilSystem *s, FilError *error) {
    if (s->has_blocks && !is_finite(s->W.value, s->W.at[s->W.start[s->n]])) {
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

// An entry at (r, c) wants one at (c, r): a file with one triangle would pass for a lighter body.
static FilStatus check_triangles(const FilSparse *M, FilArena *scratch, FilError *error) {
    const int m = M->column_count;
    const FilArenaMark arena_mark = fil_arena_mark(scratch);
    FilTransposed rows; // the columns that hold an entry in a row
    int *mark = FIL_NEW(scratch, int, m);
    if (mark == NULL || !fil_pattern_transpose(m, m, M->start, M->index, scratch, &rows)) {
        return FIL_E_NO_MEMORY;
    }
    fil_blocks_clear_marks(mark, m);
    FilStatus status = FIL_OK;
    for (int c = 0; status == FIL_OK && c < m; c++) {
        for (int k = M->start[c]; k < M->start[c + 1]; k++) {
            mark[M->index[k]] = c;
        }
        for (int k = rows.start[c]; status == FIL_OK && k < rows.start[c + 1]; k++) {
            if (mark[rows.row[k]] != c) {
                status = fil_fail(error, FIL_E_ARGUMENT,
                                  "global.M has an entry at (%d, %d) but none at (%d, %d); both "
                                  "triangles must be given",
                                  c, rows.row[k], rows.row[k], c);
            }
        }
    }
    fil_arena_release(scratch, arena_mark);
    return status;
}

// Check M and find the bodies.
static FilStatus find_bodies(const FilFrictionProblem *problem, FilArena *arena, FilArena *scratch,
                             FilReduction **out, FilError *error) {
    FilReduction *reduction = FIL_NEW(arena, FilReduction, 1);
    if (reduction == NULL) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(check_masses(&problem->global.M, error));
    FIL_TRY(check_triangles(&problem->global.M, scratch, error));
    *out = reduction;
    return fil_reduction_begin(&problem->global, arena, reduction);
}

static FilStatus fail_singular(const FilReduction *reduction, int body, FilError *error) {
    return fil_fail(
        error, FIL_E_ARGUMENT,
        "global.M is singular at body %d, the unknowns that M couples to v[%d]; it must "
        "be positive definite",
        body, reduction->dof[reduction->body_start[body]]);
}

static FilStatus build_reduced(const FilFrictionProblem *problem, FilReduction *reduction,
                               FilArena *arena, FilSystem *out, FilError *error) {
    int singular = -1;
    FilFrictionProblem reduced;
    FIL_TRY(fil_reduction_factor(reduction, &problem->global.M, arena, &singular));
    if (singular >= 0) {
        return fail_singular(reduction, singular, error);
    }
    FIL_TRY(fil_system_begin(problem, arena, out));
    FIL_TRY(fil_reduction_problem(reduction, problem, out->offset, arena, &reduced));
    return fil_system_from_blocks(&reduced, arena, out);
}

static FilStatus build_global(const FilFrictionProblem *problem, const FilSystemUse *use,
                              FilArena *arena, FilArena *scratch, FilSystem *out, FilError *error) {
    FilReduction *reduction;
    FIL_TRY(find_bodies(problem, arena, scratch, &reduction, error));
    if (reduction->largest_body <= LARGE_BODY) {
        FIL_TRY(build_reduced(problem, reduction, arena, out, error));
    } else {
        bool regular;
        FIL_TRY(fil_system_unreduced(problem, reduction, use, arena, scratch, out, &regular));
        if (!regular) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "global.M is singular; it must be positive definite");
        }
    }
    out->reduction = reduction;
    return FIL_OK;
}

FilStatus fil_system_add_bodies(const FilFrictionProblem *problem, FilArena *arena,
                                FilArena *scratch, FilSystem *s, FilError *error) {
    FilReduction *reduction;
    FIL_TRY(find_bodies(problem, arena, scratch, &reduction, error));
    s->reduction = reduction;
    return FIL_OK;
}

// Whether a sweep is cheaper with the rows of the bodies than with the blocks of W.
static bool is_cheaper_factored(const FilFrictionProblem *problem, const int *offset,
                                FilArena *scratch) {
    const FilBodyRows *bodies = &problem->bodies;
    const FilArenaMark mark = fil_arena_mark(scratch);
    double *weight = FIL_NEW_ZEROED(scratch, double, bodies->body_count); // unknowns of r on a body
    double stored = 0.0, factored = 0.0;
    for (int i = 0; weight != NULL && i < problem->block_count; i++) {
        for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
            const int body = bodies->body[e], d = offset[i + 1] - offset[i];
            weight[body] += d;
            factored += 2.0 * d * (bodies->body_start[body + 1] - bodies->body_start[body]);
        }
    }
    for (int body = 0; weight != NULL && body < bodies->body_count; body++) {
        stored += weight[body] * weight[body];
    }
    fil_arena_release(scratch, mark);
    return factored < stored;
}

static FilStatus build_bodies(const FilFrictionProblem *problem, const FilSystemUse *use,
                              FilArena *arena, FilArena *scratch, FilSystem *out) {
    FIL_TRY(fil_system_begin(problem, arena, out));
    return use->sweeps && is_cheaper_factored(problem, out->offset, scratch)
               ? fil_system_from_bodies(problem, arena, out)
               : fil_system_from_blocks(problem, arena, out);
}

FilStatus fil_system_build(const FilFrictionProblem *problem, const FilSystemUse *use,
                           FilArena *arena, FilArena *scratch, FilSystem *out, FilError *error) {
    switch (problem->form) {
    case FIL_FORM_BLOCKS:
        FIL_TRY(fil_system_from_blocks(problem, arena, out));
        if (problem->compliance == NULL) { // values were checked as they came
            return FIL_OK;
        }
        break;
    case FIL_FORM_BODIES:
        FIL_TRY(build_bodies(problem, use, arena, scratch, out));
        break;
    case FIL_FORM_GLOBAL:
        FIL_TRY(build_global(problem, use, arena, scratch, out, error));
        break;
    case FIL_FORM_PRODUCT:
        return fil_system_from_product(problem, arena, out);
    }
    return check_made(out, error);
}
