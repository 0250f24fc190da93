// reduce.c - reduce a global problem to its contacts.
//
// M is block-diagonal up to an order of the unknowns: a block per body (rigid bodies: 6, a fibre:
// a few dozen). The connected parts of its graph are those blocks; each is factored densely, and
// W = H^T M^-1 H, b = w + H^T M^-1 f follow body by body.
#include "reduce.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/union_find.h"

FilStatus fil_reduction_begin(const FilGlobalForm *global, FilArena *arena, FilReduction *out) {
    const FilSparse *M = &global->M;
    const int m = M->row_count;
    int *parent = FIL_NEW(arena, int, m);
    int *body_of = FIL_NEW(arena, int, m);
    int *start = FIL_NEW_ZEROED(arena, int, m + 2);
    int *dof = FIL_NEW(arena, int, m);
    int *place = FIL_NEW(arena, int, m);
    int64_t *factor_at = FIL_NEW(arena, int64_t, m + 1);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int k = 0; k < m; k++) {
        parent[k] = k;
    }
    for (int c = 0; c < m; c++) {
        for (int k = M->start[c]; k < M->start[c + 1]; k++) {
            fil_union_join(parent, c, M->index[k]);
        }
    }
    int count = 0;
    int *fill = start + 1; // after filling, the start of the next body
    for (int k = 0; k < m; k++) {
        const int root = fil_union_root(parent, k);
        body_of[k] = root == k ? count++ : body_of[root];
        fill[body_of[k] + 1]++;
    }
    int largest = 0;
    factor_at[0] = 0;
    for (int body = 0; body < count; body++) {
        const int size = fill[body + 1];
        largest = size > largest ? size : largest;
        factor_at[body + 1] = factor_at[body] + (int64_t)size * size;
        fill[body + 1] += fill[body];
    }
    for (int k = 0; k < m; k++) {
        place[k] = fill[body_of[k]]++;
        dof[place[k]] = k;
    }
    *out = (FilReduction){.dof_count = m,
                          .body_count = count,
                          .body_start = start,
                          .dof = dof,
                          .place = place,
                          .body_of = body_of,
                          .largest_body = largest,
                          .factor_at = factor_at};
    return FIL_OK;
}

// Largest magnitude in column k.
static double column_size(ptrdiff_t n, const double *a, ptrdiff_t k) {
    double most = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i * n + k]));
    }
    return most;
}

// Dense LU with partial pivoting, row-major in place. False when nothing but round-off of its
// column (`size`, n values of scratch) is left of a pivot.
static bool factor_dense(ptrdiff_t n, double *a, int *pivot, double *size) {
    for (ptrdiff_t k = 0; k < n; k++) {
        size[k] = column_size(n, a, k);
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t best = k;
        for (ptrdiff_t i = k + 1; i < n; i++) {
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        }
        pivot[k] = (int)best;
        if (!(fabs(a[best * n + k]) > (double)(n - 1) * DBL_EPSILON * size[k])) {
            return false;
        }
        for (ptrdiff_t j = 0; best != k && j < n; j++) {
            const double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swap;
        }
        for (ptrdiff_t i = k + 1; i < n; i++) {
            const double l = a[i * n + k] /= a[k * n + k];
            for (ptrdiff_t j = k + 1; l != 0.0 && j < n; j++) {
                a[i * n + j] -= l * a[k * n + j];
            }
        }
    }
    return true;
}

static void solve_dense(ptrdiff_t n, const double *a, const int *pivot, double *x) {
    for (ptrdiff_t k = 0; k < n; k++) {
        const double swap = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = swap;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = 0; j < i; j++) {
            x[i] -= a[i * n + j] * x[j];
        }
    }
    for (ptrdiff_t i = n - 1; i >= 0; i--) {
        for (ptrdiff_t j = i + 1; j < n; j++) {
            x[i] -= a[i * n + j] * x[j];
        }
        x[i] /= a[i * n + i];
    }
}

static int body_size(const FilReduction *x, int body) {
    return x->body_start[body + 1] - x->body_start[body];
}

FilStatus fil_reduction_factor(FilReduction *x, const FilSparse *M, FilArena *arena,
                               int *singular) {
    x->factor = FIL_NEW_ZEROED(arena, double, x->factor_at[x->body_count]);
    x->pivot = FIL_NEW(arena, int, x->dof_count);
    double *sizes = FIL_NEW(arena, double, x->largest_body);
    if (x->factor == NULL || x->pivot == NULL || sizes == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int c = 0; c < x->dof_count; c++) {
        const int body = x->body_of[c], first = x->body_start[body];
        const ptrdiff_t size = body_size(x, body);
        double *block = x->factor + x->factor_at[body];
        for (int k = M->start[c]; k < M->start[c + 1]; k++) {
            block[(x->place[M->index[k]] - first) * size + x->place[c] - first] += M->value[k];
        }
    }
    *singular = -1;
    for (int body = 0; *singular < 0 && body < x->body_count; body++) {
        if (!factor_dense(body_size(x, body), x->factor + x->factor_at[body],
                          x->pivot + x->body_start[body], sizes)) {
            *singular = body;
        }
    }
    return FIL_OK;
}

void fil_reduction_solve(const FilReduction *x, double *v, double *work) {
    for (int k = 0; k < x->dof_count; k++) {
        work[k] = v[x->dof[k]];
    }
    for (int body = 0; body < x->body_count; body++) {
        solve_dense(body_size(x, body), x->factor + x->factor_at[body],
                    x->pivot + x->body_start[body], work + x->body_start[body]);
    }
    for (int k = 0; k < x->dof_count; k++) {
        v[x->dof[k]] = work[k];
    }
}

void fil_reduction_velocity(const FilReduction *x, const FilGlobalForm *global, const double *r,
                            double *v, double *work) {
    const FilSparse *H = &global->H;
    for (int k = 0; k < x->dof_count; k++) {
        v[k] = global->f[k];
    }
    for (int c = 0; c < H->column_count; c++) {
        for (int k = H->start[c]; k < H->start[c + 1]; k++) {
            v[H->index[k]] += H->value[k] * r[c];
        }
    }
    fil_reduction_solve(x, v, work);
}

// Bodies that the columns of block i touch, in the order met; mark[body] == i says that it was.
static int find_touched(const FilReduction *x, const FilSparse *H, const int *offset, int i,
                        int *mark, int *body) {
    int count = 0;
    for (int c = offset[i]; c < offset[i + 1]; c++) {
        for (int k = H->start[c]; k < H->start[c + 1]; k++) {
            const int touched = x->body_of[H->index[k]];
            if (mark[touched] != i) {
                mark[touched] = i;
                body[count++] = touched;
            }
        }
    }
    return count;
}

// One row per component of block i: what of H touches `body`, in the order of its unknowns.
static void gather_rows(const FilReduction *x, const FilSparse *H, int first, int d, int body,
                        double *rows) {
    const int size = body_size(x, body);
    memset(rows, 0, (size_t)d * (size_t)size * sizeof *rows);
    for (int a = 0; a < d; a++, rows += size) {
        for (int k = H->start[first + a]; k < H->start[first + a + 1]; k++) {
            if (x->body_of[H->index[k]] == body) {
                rows[x->place[H->index[k]] - x->body_start[body]] += H->value[k];
            }
        }
    }
}

// Rows of an entry, `d` of them, solved with the body's matrix.
static void solve_rows(const FilReduction *x, int d, int body, const double *rows, double *out) {
    const int size = body_size(x, body);
    memcpy(out, rows, (size_t)d * (size_t)size * sizeof *out);
    for (int a = 0; a < d; a++) {
        solve_dense(size, x->factor + x->factor_at[body], x->pivot + x->body_start[body],
                    out + (ptrdiff_t)a * size);
    }
}

// b = w + H^T M^-1 f.
static FilStatus find_free_velocity(const FilReduction *x, const FilGlobalForm *global, int size,
                                    FilArena *arena, const double **out) {
    double *v = FIL_NEW(arena, double, x->dof_count);
    double *work = FIL_NEW(arena, double, x->dof_count);
    double *b = FIL_NEW(arena, double, size);
    if (v == NULL || work == NULL || b == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int k = 0; k < x->dof_count; k++) {
        v[k] = global->f[k];
    }
    fil_reduction_solve(x, v, work);
    for (int c = 0; c < size; c++) {
        b[c] = global->w[c];
        for (int k = global->H.start[c]; k < global->H.start[c + 1]; k++) {
            b[c] += global->H.value[k] * v[global->H.index[k]];
        }
    }
    *out = b;
    return FIL_OK;
}

FilStatus fil_reduction_problem(const FilReduction *x, const FilFrictionProblem *problem,
                                const int *offset, FilArena *arena, FilFrictionProblem *out) {
    const FilSparse *H = &problem->global.H;
    const int n = problem->block_count;
    int *mark = FIL_NEW(arena, int, x->body_count);
    int *start = FIL_NEW(arena, int, n + 1);
    int *body = FIL_NEW(arena, int, H->start[H->column_count]);
    int64_t *at = FIL_NEW(arena, int64_t, H->start[H->column_count] + 1);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int k = 0; k < x->body_count; k++) {
        mark[k] = -1;
    }
    start[0] = 0;
    at[0] = 0;
    for (int i = 0; i < n; i++) {
        start[i + 1] = start[i] + find_touched(x, H, offset, i, mark, body + start[i]);
        for (int e = start[i]; e < start[i + 1]; e++) {
            at[e + 1] = at[e] + (int64_t)(offset[i + 1] - offset[i]) * body_size(x, body[e]);
        }
    }
    double *Hr = FIL_NEW(arena, double, at[start[n]]);
    double *HA = FIL_NEW(arena, double, at[start[n]]);
    if (Hr == NULL || HA == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *out = *problem;
    out->form = FIL_FORM_BODIES;
    out->bodies = (FilBodyRows){.body_count = x->body_count,
                                .body_start = x->body_start,
                                .start = start,
                                .body = body,
                                .H = Hr,
                                .HA = HA};
    for (int i = 0; i < n; i++) {
        const int d = offset[i + 1] - offset[i];
        for (int e = start[i]; e < start[i + 1]; e++) {
            gather_rows(x, H, offset[i], d, body[e], Hr + at[e]);
            solve_rows(x, d, body[e], Hr + at[e], HA + at[e]);
        }
    }
    return find_free_velocity(x, &problem->global, offset[n], arena, &out->b);
}
