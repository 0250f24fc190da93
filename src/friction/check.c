// check.c - a problem and settings that make no sense are refused before anything is computed.
//
// What is checked is what the solvers rely on: pointers, sizes, indices, finiteness and mu. Values
// are not judged beyond that: W may be unsymmetric, indefinite or singular, and the solvers make
// the best of it. A singular M is found when it is factored (reduce.c).
//
// Two things are allowed on purpose. One body may occur twice in a block of FilBodyRows, and one
// place twice in a column of a FilSparse: the entries add up.
//
// Every pass is one sweep over an array that the solve reads many times; the numbers are scanned
// first, without branches, and only looked at one by one when one of them is not finite.
#include "check.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "base/error.h"
#include "law.h"

static FilStatus fail_null(FilError *error, const char *name) {
    return fil_fail(error, FIL_E_ARGUMENT, "%s is NULL; the problem needs it", name);
}

// NaN without a sign, which means nothing to a reader.
static double show(double x) {
    return isnan(x) ? (double)NAN : x;
}

static FilStatus check_reals(const double *x, int64_t count, const char *name, FilError *error) {
    if (count == 0) {
        return FIL_OK;
    }
    if (x == NULL) {
        return fail_null(error, name);
    }
    int bad = 0;
    for (int64_t k = 0; k < count; k++) {
        bad |= !(fabs(x[k]) <= DBL_MAX);
    }
    for (int64_t k = 0; bad != 0 && k < count; k++) {
        if (!isfinite(x[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "%s[%lld] is %g; it must be finite", name,
                            (long long)k, show(x[k]));
        }
    }
    return FIL_OK;
}

// `count` + 1 offsets into another array: from 0, never falling.
static FilStatus check_offsets(const int *start, int count, const char *name, FilError *error) {
    if (start == NULL) {
        return fail_null(error, name);
    }
    if (start[0] != 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s[0] is %d; it must be 0", name, start[0]);
    }
    for (int k = 0; k < count; k++) {
        if (start[k + 1] < start[k]) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "%s[%d] is %d; it must not be below the one before it, %d", name, k + 1,
                            start[k + 1], start[k]);
        }
    }
    return FIL_OK;
}

// Indices below `limit`.
static FilStatus check_indices(const int *index, int count, int limit, const char *name,
                               FilError *error) {
    if (count > 0 && index == NULL) {
        return fail_null(error, name);
    }
    for (int k = 0; k < count; k++) {
        if (limit == 0) {
            return fil_fail(error, FIL_E_ARGUMENT, "%s[%d] is %d; there is nothing to refer to",
                            name, k, index[k]);
        }
        if (index[k] < 0 || index[k] >= limit) {
            return fil_fail(error, FIL_E_ARGUMENT, "%s[%d] is %d; it must be 0 to %d", name, k,
                            index[k], limit - 1);
        }
    }
    return FIL_OK;
}

// ---- blocks ----

static int get_size(const FilFrictionProblem *problem, int i) {
    return problem->block_sizes != NULL ? problem->block_sizes[i] : problem->block_size;
}

static FilStatus check_sizes(const FilFrictionProblem *problem, int *total, FilError *error) {
    const int *sizes = problem->block_sizes;
    const int n = problem->block_count, size = problem->block_size;
    int64_t sum = sizes == NULL ? (int64_t)n * size : 0;
    if (sizes == NULL && n > 0 && (size < 1 || size > FIL_BLOCK_MAX)) {
        return fil_fail(error, FIL_E_ARGUMENT, "block_size is %d; it must be 1 to %d", size,
                        FIL_BLOCK_MAX);
    }
    for (int i = 0; sizes != NULL && i < n; i++) {
        sum += sizes[i];
        if (sizes[i] < 1 || sizes[i] > FIL_BLOCK_MAX) {
            return fil_fail(error, FIL_E_ARGUMENT, "block_sizes[%d] is %d; it must be 1 to %d", i,
                            sizes[i], FIL_BLOCK_MAX);
        }
    }
    if (sum > INT_MAX / 2) { // so that sizes plus a few fit an int everywhere
        return fil_fail(error, FIL_E_ARGUMENT,
                        "the blocks have %lld unknowns in all; %d is the most", (long long)sum,
                        INT_MAX / 2);
    }
    *total = (int)sum;
    return FIL_OK;
}

static FilStatus check_kinds(const FilFrictionProblem *problem, FilError *error) {
    for (int i = 0; i < problem->block_count; i++) {
        const FilBlockKind kind = problem->kinds != NULL ? problem->kinds[i] : FIL_BLOCK_COULOMB;
        if ((unsigned)kind >= FIL_BLOCK_KIND_COUNT) {
            return fil_fail(error, FIL_E_ARGUMENT, "kinds[%d] is %d; it must be 0 to %d", i,
                            (int)kind, FIL_BLOCK_KIND_COUNT - 1);
        }
        if (!fil_law_has_mu(kind)) {
            continue;
        }
        if (problem->mu == NULL) {
            return fil_fail(error, FIL_E_ARGUMENT, "mu is NULL; block %d, of kind %s, needs it", i,
                            fil_block_kind_name(kind));
        }
        if (!(problem->mu[i] >= 0.0 && isfinite(problem->mu[i]))) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "mu[%d] is %g; it must be finite and not negative", i,
                            show(problem->mu[i]));
        }
    }
    return FIL_OK;
}

// ---- the three forms ----

static FilStatus check_blocks(const FilFrictionProblem *problem, FilError *error) {
    const FilBlockRows *rows = &problem->blocks;
    const int n = problem->block_count;
    FIL_TRY(check_offsets(rows->start, n, "blocks.start", error));
    FIL_TRY(check_indices(rows->column, rows->start[n], n, "blocks.column", error));
    int64_t count = 0;
    for (int i = 0; i < n; i++) {
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            if (k > rows->start[i] && rows->column[k] <= rows->column[k - 1]) {
                return fil_fail(error, FIL_E_ARGUMENT,
                                "blocks.column[%d] is %d, after %d in block row %d; columns must "
                                "ascend in a row",
                                k, rows->column[k], rows->column[k - 1], i);
            }
            count += get_size(problem, i) * get_size(problem, rows->column[k]);
        }
    }
    return check_reals(rows->value, count, "blocks.value", error);
}

static FilStatus check_bodies(const FilFrictionProblem *problem, FilError *error) {
    const FilBodyRows *bodies = &problem->bodies;
    const int n = problem->block_count;
    if (bodies->body_count < 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "bodies.body_count is %d; it must not be negative",
                        bodies->body_count);
    }
    FIL_TRY(check_offsets(bodies->body_start, bodies->body_count, "bodies.body_start", error));
    FIL_TRY(check_offsets(bodies->start, n, "bodies.start", error));
    FIL_TRY(
        check_indices(bodies->body, bodies->start[n], bodies->body_count, "bodies.body", error));
    int64_t count = 0;
    for (int i = 0; i < n; i++) {
        for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
            const int *of_body = bodies->body_start + bodies->body[e];
            count += (int64_t)get_size(problem, i) * (of_body[1] - of_body[0]);
        }
    }
    FIL_TRY(check_reals(bodies->H, count, "bodies.H", error));
    return check_reals(bodies->HA, count, "bodies.HA", error);
}

typedef struct SparseNames {
    const char *row_count, *column_count, *start, *index, *value;
} SparseNames;

#define SPARSE_NAMES(name) \
    { name ".row_count", name ".column_count", name ".start", name ".index", name ".value" }

static FilStatus check_sparse(const FilSparse *matrix, int rows, int columns,
                              const SparseNames *names, FilError *error) {
    if (matrix->row_count != rows) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is %d; it must be %d, the unknowns in v",
                        names->row_count, matrix->row_count, rows);
    }
    if (matrix->column_count != columns) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is %d; it must be %d", names->column_count,
                        matrix->column_count, columns);
    }
    FIL_TRY(check_offsets(matrix->start, columns, names->start, error));
    const int count = matrix->start[columns];
    FIL_TRY(check_indices(matrix->index, count, rows, names->index, error));
    return check_reals(matrix->value, count, names->value, error);
}

// M and H.
static FilStatus check_matrices(const FilFrictionProblem *problem, int total, FilError *error) {
    static const SparseNames of_M = SPARSE_NAMES("global.M"), of_H = SPARSE_NAMES("global.H");
    const FilGlobalForm *global = &problem->global;
    const int m = global->M.column_count;
    if (m < 0 || m > INT_MAX / 2) {
        return fil_fail(error, FIL_E_ARGUMENT, "global.M.column_count is %d; it must be 0 to %d", m,
                        INT_MAX / 2);
    }
    if (problem->dof_count != 0 && problem->dof_count != m) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "dof_count is %d; it must be 0 or %d, the columns of global.M",
                        problem->dof_count, m);
    }
    FIL_TRY(check_sparse(&global->M, m, m, &of_M, error));
    return check_sparse(&global->H, m, total, &of_H, error);
}

static FilStatus check_global(const FilFrictionProblem *problem, int total, FilError *error) {
    FIL_TRY(check_matrices(problem, total, error));
    FIL_TRY(check_reals(problem->global.f, problem->global.M.column_count, "global.f", error));
    return check_reals(problem->global.w, total, "global.w", error);
}

static int64_t count_squares(const FilFrictionProblem *problem) {
    int64_t squares = 0;
    for (int i = 0; i < problem->block_count; i++) {
        squares += get_size(problem, i) * get_size(problem, i);
    }
    return squares;
}

static FilStatus check_product(const FilFrictionProblem *problem, FilError *error) {
    if (problem->product.multiply == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "product.multiply is NULL; W is known by its product alone");
    }
    return check_reals(problem->product.diagonal, count_squares(problem), "product.diagonal",
                       error);
}

static FilStatus check_form(const FilFrictionProblem *problem, int total, FilError *error) {
    switch (problem->form) {
    case FIL_FORM_BLOCKS:
        return problem->block_count > 0 ? check_blocks(problem, error) : FIL_OK;
    case FIL_FORM_BODIES:
        return problem->block_count > 0 ? check_bodies(problem, error) : FIL_OK;
    case FIL_FORM_GLOBAL:
        return check_global(problem, total, error);
    case FIL_FORM_PRODUCT:
        return problem->block_count > 0 ? check_product(problem, error) : FIL_OK;
    }
    return fil_fail(error, FIL_E_ARGUMENT, "form is %d; it must be 0 to %d", (int)problem->form,
                    (int)FIL_FORM_PRODUCT);
}

FilStatus fil_friction_check(const FilFrictionProblem *problem, FilError *error) {
    if (problem == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT, "problem is NULL; there must be one");
    }
    if (problem->block_count < 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "block_count is %d; it must not be negative",
                        problem->block_count);
    }
    if (problem->dof_count < 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "dof_count is %d; it must not be negative",
                        problem->dof_count);
    }
    int total = 0;
    FIL_TRY(check_sizes(problem, &total, error));
    FIL_TRY(check_kinds(problem, error));
    FIL_TRY(check_form(problem, total, error));
    if (problem->form != FIL_FORM_GLOBAL) {
        FIL_TRY(check_reals(problem->b, total, "b", error));
    }
    if (problem->form != FIL_FORM_GLOBAL && problem->global.M.column_count != 0) {
        FIL_TRY(check_matrices(problem, total, error));
    }
    return problem->compliance != NULL
               ? check_reals(problem->compliance, count_squares(problem), "compliance", error)
               : FIL_OK;
}

// ---- settings ----

static FilStatus check_choice(int value, int count, const char *name, FilError *error) {
    if (value < 0 || value >= count) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is %d; it must be 0 to %d", name, value,
                        count - 1);
    }
    return FIL_OK;
}

FilStatus fil_friction_check_settings(const FilFrictionSettings *settings, FilError *error) {
    FIL_TRY(check_choice((int)settings->solver, FIL_FRICTION_SOLVER_COUNT, "solver", error));
    FIL_TRY(check_choice((int)settings->local, FIL_LOCAL_SOLVER_COUNT, "local", error));
    FIL_TRY(check_choice((int)settings->function, FIL_NEWTON_FUNCTION_COUNT, "function", error));
    FIL_TRY(check_choice((int)settings->convex, FIL_CONVEX_SOLVER_COUNT, "convex", error));
    if (!(settings->tolerance > 0.0 && isfinite(settings->tolerance))) {
        return fil_fail(error, FIL_E_ARGUMENT, "tolerance is %g; it must be positive and finite",
                        show(settings->tolerance));
    }
    if (!(settings->natural_tolerance >= 0.0 && isfinite(settings->natural_tolerance))) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "natural_tolerance is %g; it must be finite and not negative",
                        show(settings->natural_tolerance));
    }
    if (!(settings->budget >= 0.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "budget is %g; it must not be negative",
                        settings->budget);
    }
    if (settings->max_iterations < 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "max_iterations is %d; it must not be negative",
                        settings->max_iterations);
    }
    if (settings->facet_count < FIL_FACET_MIN || settings->facet_count > FIL_FACET_MAX) {
        return fil_fail(error, FIL_E_ARGUMENT, "facet_count is %d; it must be %d to %d",
                        settings->facet_count, FIL_FACET_MIN, FIL_FACET_MAX);
    }
    if (settings->thread_count < 0) {
        return fil_fail(error, FIL_E_ARGUMENT, "thread_count is %d; it must not be negative",
                        settings->thread_count);
    }
    return FIL_OK;
}

FilStatus fil_friction_check_impulses(const FilFrictionProblem *problem, const double *r,
                                      const char *name, FilError *error) {
    int64_t total = 0;
    for (int i = 0; i < problem->block_count; i++) {
        total += get_size(problem, i);
    }
    return check_reals(r, total, name, error);
}
