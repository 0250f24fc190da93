#include "block_problem.h"
#include "check.h"
#include "math/block_lu.h"
#include "math/dense.h"
#include "math/front.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>

#ifdef HAVE_CHOLMOD
#include <cholmod.h>
#endif
#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif
#ifdef HAVE_KLU
#include <klu.h>
#endif
#ifdef HAVE_UMFPACK
#include <umfpack.h>
#endif

// An allocator that counts, and fails from request `limit` on.
typedef struct Counter {
    int requests, limit;
} Counter;

static void *counted_resize(void *user, void *block, size_t old_size, size_t new_size) {
    Counter *counter = user;
    if (new_size == 0) {
        return fil_libc_allocator.resize(NULL, block, old_size, 0);
    }
    if (counter->requests++ >= counter->limit) {
        return NULL;
    }
    return fil_libc_allocator.resize(NULL, block, old_size, new_size);
}

static double norm(int n, const double *x) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static double distance(int n, const double *x, const double *y) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrt(sum);
}

static double *random_vector(FilArena *arena, FilRandom *random, int n) {
    double *x = FIL_NEW(arena, double, n + 1);
    for (int i = 0; i < n; i++) {
        x[i] = fil_random_normal(random);
    }
    return x;
}

static double *copy_vector(FilArena *arena, int n, const double *from) {
    double *x = FIL_NEW(arena, double, n + 1);
    memcpy(x, from, (size_t)n * sizeof *x);
    return x;
}

static FilBlockLu *make_lu(FilArena *arena, const FilBlockPattern *pattern) {
    FilArena scratch = fil_arena_make(NULL);
    FilBlockLu *lu = NULL;
    CHECK(fil_block_lu_analyse(pattern, arena, &scratch, &lu) == FIL_OK);
    CHECK(lu != NULL && fil_block_lu_reserve(lu, arena) == FIL_OK);
    fil_arena_destroy(&scratch);
    return lu;
}

static int *random_sizes(FilArena *arena, FilRandom *random, int n, int largest) {
    int *size = FIL_NEW(arena, int, n + 1);
    for (int i = 0; i < n; i++) {
        size[i] = 1 + fil_random_int(random, largest);
    }
    return size;
}

#ifdef HAVE_LAPACKE
static double *dense_matrix(FilArena *arena, const BlockProblem *a) {
    const ScalarMatrix m = scalar_columns(arena, a);
    double *dense = FIL_NEW_ZEROED(arena, double, (size_t)a->unknowns *(size_t)a->unknowns + 1);
    for (int c = 0; c < a->unknowns; c++) {
        for (int k = m.start[c]; k < m.start[c + 1]; k++) {
            dense[(size_t)m.row[k] * (size_t)a->unknowns + (size_t)c] = m.value[k];
        }
    }
    return dense;
}
#endif

// |A x - b| / |b|, and against LAPACK where it is there.
static void check_solution(FilArena *arena, const BlockProblem *a, const double *b,
                           const double *x) {
    const int n = a->unknowns;
    double *ax = FIL_NEW(arena, double, n + 1);
    multiply(a, a->diagonal, x, ax);
    CHECK(distance(n, ax, b) <= 1e-12 * norm(n, b));
#ifdef HAVE_LAPACKE
    double *want = copy_vector(arena, n, b);
    int *pivot = FIL_NEW(arena, int, n + 1);
    if (n > 0) {
        CHECK(LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, dense_matrix(arena, a), n, pivot, want, 1) ==
              0);
    }
    CHECK(distance(n, x, want) <= 1e-10 * norm(n, want));
#endif
}

static void check_bodies(FilArena *arena, FilRandom *random, const Bodies *bodies,
                         int largest_block) {
    const int *size = random_sizes(arena, random, bodies->block_count, largest_block);
    const BlockProblem a = make_problem(arena, random, bodies, size, 0.04);
    FilBlockLu *lu = make_lu(arena, &a.pattern);
    const double *b = random_vector(arena, random, a.unknowns);
    for (int round = 0; round < 2; round++) { // the second on used storage, with another D
        double *x = copy_vector(arena, a.unknowns, b);
        CHECK(fil_block_lu_factor(lu, a.value, a.diagonal) == 0);
        CHECK(fil_block_lu_solve(lu, x));
        check_solution(arena, &a, b, x);
        for (int i = 0, at = 0; i < a.pattern.n; i++) {
            const int d = size_of(&a.pattern, i);
            a.diagonal[at] *= 3.0;
            at += d * d;
        }
    }
}

// C -= A^T B by plain loops and by every variant: the same bits.
static void check_product(FilArena *arena, FilRandom *random, const int size[3]) {
    const int m = size[0], n = size[1], depth = size[2];
    const double *a = random_vector(arena, random, m * depth);
    double *b = random_vector(arena, random, n * depth);
    const double *c = random_vector(arena, random, m * n);
    double *want = copy_vector(arena, m * n, c);
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < depth; p++) {
            for (int j = 0; j < n; j++) {
                want[i * n + j] -= b[p * n + j] * a[p * m + i];
            }
        }
    }
    for (int v = 0; fil_dense_variant(v) != NULL; v++) {
        double *got = copy_vector(arena, m * n, c);
        fil_dense_variant(v)->subtract_product(size, (FilCoefficients){a, 1, m}, (FilPanel){b, n},
                                               (FilPanel){got, n});
        CHECK(memcmp(got, want, (size_t)(m * n) * sizeof *got) == 0);
    }
}

static void products_have_the_bits_of_plain_loops(void) {
    static const int sizes[][3] = {{1, 4, 1},    {3, 4, 2},     {4, 8, 8},     {7, 12, 5},
                                   {33, 20, 31}, {97, 36, 130}, {200, 44, 24}, {2, 64, 300}};
    FilRandom random = fil_random_make(7);
    FilArena arena = fil_arena_make(NULL);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_product(&arena, &random, sizes[k]);
    }
    CHECK(fil_dense_kernels() != NULL);
    fil_arena_destroy(&arena);
}

// (L U)(i, j) from factors stored in one array with rows of w.
static double product_entry(const double *lu, int w, int i, int j) {
    double sum = i <= j ? lu[i * w + j] : 0.0;
    for (int k = 0; k < i && k <= j; k++) {
        sum += lu[i * w + k] * lu[k * w + j];
    }
    return sum;
}

// Bit for bit, without the padding, whose content means nothing.
static bool same_columns(int n, int w, const double *a, const double *b) {
    for (int i = 0; i < n; i++) {
        if (memcmp(a + (ptrdiff_t)i * w, b + (ptrdiff_t)i * w, (size_t)n * sizeof *a) != 0) {
            return false;
        }
    }
    return true;
}

// L U = P A to round-off, with the same bits in all variants.
static void check_dense_factor(FilArena *arena, FilRandom *random, int n) {
    const int w = fil_round4(n);
    double *a = random_vector(arena, random, n * w), *first = NULL;
    bool same = true;
    double *floor = FIL_NEW_ZEROED(arena, double, n), *inverse = FIL_NEW(arena, double, n);
    int *pivot = FIL_NEW(arena, int, n);
    for (int v = 0; fil_dense_variant(v) != NULL; v++) {
        double *lu = copy_vector(arena, n * w, a);
        const FilDenseLu dense = {.panel = {lu, w},
                                  .order = n,
                                  .width = w,
                                  .floor = floor,
                                  .pivot = pivot,
                                  .inverse = inverse};
        CHECK(fil_dense_variant(v)->factor(&dense) == 0);
        first = first != NULL ? first : lu;
        same = same && same_columns(n, w, first, lu);
    }
    CHECK(same);
    for (int i = 0; i < n; i++) { // P A
        for (int c = 0; c < w; c++) {
            const double swap = a[i * w + c];
            a[i * w + c] = a[pivot[i] * w + c];
            a[pivot[i] * w + c] = swap;
        }
    }
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            worst = fmax(worst, fabs(product_entry(first, w, i, j) - a[i * w + j]));
        }
    }
    CHECK(worst <= 1e-13 * n);
}

static void dense_factors_multiply_back(void) {
    FilRandom random = fil_random_make(8);
    FilArena arena = fil_arena_make(NULL);
    for (int n = 1; n <= 20; n++) { // all orders around the panel width
        check_dense_factor(&arena, &random, n);
    }
    check_dense_factor(&arena, &random, 77);
    check_dense_factor(&arena, &random, 150);
    fil_arena_destroy(&arena);
}

static void dense_systems_agree_with_lapack(void) {
    FilRandom random = fil_random_make(1);
    for (int n = 1; n < 60; n = n * 3 / 2 + 1) {
        FilArena arena = fil_arena_make(NULL);
        const Bodies bodies = tower_bodies(&arena, 1, n);
        check_bodies(&arena, &random, &bodies, 6);
        fil_arena_destroy(&arena);
    }
#ifndef HAVE_LAPACKE
    CHECK_SKIP("LAPACKE was not found; only residuals were checked");
#endif
}

// Blocks on a grid of `width` columns; the bodies are the edges.
static Bodies grid_bodies(FilArena *arena, int width, int count) {
    Bodies grid = {.block_count = count,
                   .start = FIL_NEW(arena, int, 2 * count + 1),
                   .member = FIL_NEW(arena, int, 4 * count)};
    for (int edge = 0; edge < 2 * count; edge++) {
        const int from = edge / 2, to = from + (edge % 2 == 0 ? 1 : width);
        if (to < count && (edge % 2 == 1 || to % width != 0)) {
            grid.start[grid.count] = 2 * grid.count;
            int *pair = grid.member + (ptrdiff_t)2 * grid.count;
            pair[0] = from;
            pair[1] = to;
            grid.count++;
        }
    }
    grid.start[grid.count] = 2 * grid.count;
    return grid;
}

// The last block is coupled to every other, by a body each.
static Bodies arrow_bodies(FilArena *arena, int count) {
    Bodies arrow = {.count = count - 1,
                    .block_count = count,
                    .start = FIL_NEW(arena, int, count),
                    .member = FIL_NEW(arena, int, 2 * count)};
    for (int i = 0; i < count; i++) {
        arrow.start[i] = 2 * i;
        int *pair = arrow.member + (ptrdiff_t)2 * i;
        pair[0] = i;
        pair[1] = count - 1;
    }
    return arrow;
}

// A chain, a chain of cliques, a grid, an arrow, a lattice, random graphs from dense to islands.
static void every_graph_agrees_with_lapack(void) {
    FilRandom random = fil_random_make(2);
    FilArena arena = fil_arena_make(NULL);
    const Bodies kinds[] = {tower_bodies(&arena, 70, 1),
                            tower_bodies(&arena, 20, 4),
                            grid_bodies(&arena, 10, 83),
                            arrow_bodies(&arena, 60),
                            lattice_bodies(&arena, &random, 3),
                            random_bodies(&arena, &random, 5, 60),
                            random_bodies(&arena, &random, 14, 60),
                            random_bodies(&arena, &random, 25, 60),
                            random_bodies(&arena, &random, 50, 60),
                            random_bodies(&arena, &random, 100, 60),
                            random_bodies(&arena, &random, 400, 70)};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_bodies(&arena, &random, &kinds[k], 1);
        check_bodies(&arena, &random, &kinds[k], 3);
        check_bodies(&arena, &random, &kinds[k], 6);
    }
    fil_arena_destroy(&arena);
#ifndef HAVE_LAPACKE
    CHECK_SKIP("LAPACKE was not found; only residuals were checked");
#endif
}

static void no_block_and_one_block_are_fine(void) {
    FilArena arena = fil_arena_make(NULL);
    const int zero = 0;
    const FilBlockPattern empty = {.offset = &zero, .row_start = &zero, .column = &zero};
    FilBlockLu *lu = make_lu(&arena, &empty);
    double x = 3.0;
    CHECK(fil_block_lu_factor(lu, &x, NULL) == 0);
    CHECK(fil_block_lu_solve(lu, &x) && x == 3.0);
    CHECK(fil_block_lu_info(lu).flops == 0);

    const int offset[2] = {0, 2}, start[2] = {0, 1};
    const FilBlockPattern one = {.n = 1, .offset = offset, .row_start = start, .column = &zero};
    const double value[4] = {0.0, 2.0, 1.0, 0.0}; // needs a row exchange
    double y[2] = {4.0, 5.0};
    lu = make_lu(&arena, &one);
    CHECK(fil_block_lu_factor(lu, value, NULL) == 0);
    CHECK(fil_block_lu_solve(lu, y));
    CHECK(y[0] == 5.0 && y[1] == 2.0);
    fil_arena_destroy(&arena);
}

// Missing blocks, even on the diagonal, are zero: a cyclic shift plus D.
static void pattern_may_be_unsymmetric(void) {
    enum { N = 40 };
    int offset[N + 1], start[N + 1], column[N];
    double value[N], diagonal[N], x[N];
    for (int i = 0; i < N; i++) {
        offset[i] = start[i] = i;
        column[i] = (i + 1) % N;
        value[i] = -0.5;
        diagonal[i] = 1.0;
        x[i] = i == 0 ? 1.0 : 0.0;
    }
    offset[N] = start[N] = N;
    FilArena arena = fil_arena_make(NULL);
    const FilBlockPattern pattern = {
        .n = N, .offset = offset, .row_start = start, .column = column};
    FilBlockLu *lu = make_lu(&arena, &pattern);
    CHECK(fil_block_lu_factor(lu, value, diagonal) == 0);
    CHECK(fil_block_lu_solve(lu, x));
    for (int i = 0; i < N; i++) { // x_i = x_{i+1} / 2 + e_0: powers of one half
        CHECK_NEAR(x[i], pow(0.5, (N - i) % N) / (1.0 - pow(0.5, N)), 1e-14, 0.0);
    }
    fil_arena_destroy(&arena);
}

static void bad_patterns_are_refused(void) {
    const int offset[3] = {0, 3, 6}, start[3] = {0, 2, 4}, column[4] = {0, 1, 0, 1};
    const int flat[3] = {0, 3, 3}, back[3] = {0, 2, 1}, twice[4] = {0, 0, 0, 1};
    const int outside[4] = {0, 2, 0, 1}, negative[4] = {-1, 1, 0, 1}, late[3] = {1, 3, 6};
    const FilBlockPattern good = {2, offset, start, column};
    const FilBlockPattern bad[] = {{-1, offset, start, column}, {2, flat, start, column},
                                   {2, late, start, column},    {2, offset, back, column},
                                   {2, offset, start, twice},   {2, offset, start, outside},
                                   {2, offset, start, negative}};
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    FilBlockLu *lu = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(fil_block_lu_analyse(&bad[i], &arena, &scratch, &lu) == FIL_E_ARGUMENT);
        CHECK(lu == NULL);
    }
    CHECK(fil_block_lu_analyse(&good, &arena, &scratch, &lu) == FIL_OK);
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
}

// A dense matrix of order m: m^2 entries, 2/3 m^3 operations. A tree has no fill to speak of.
static void cost_is_known_before_storage_is_taken(void) {
    FilRandom random = fil_random_make(3);
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    Bodies bodies = tower_bodies(&arena, 1, 20);
    BlockProblem a = make_problem3(&arena, &random, &bodies);
    FilBlockLu *lu = NULL;
    CHECK(fil_block_lu_analyse(&a.pattern, &arena, &scratch, &lu) == FIL_OK);
    FilBlockLuInfo info = fil_block_lu_info(lu);
    CHECK(info.nonzeros == 3600 && info.flops == 144000);
    CHECK(info.supernode_count == 1 && info.largest_front == 60 && info.largest_pivot == 60);

    bodies = tower_bodies(&arena, 400, 3);
    a = make_problem3(&arena, &random, &bodies);
    CHECK(fil_block_lu_analyse(&a.pattern, &arena, &scratch, &lu) == FIL_OK);
    info = fil_block_lu_info(lu);
    CHECK(info.nonzeros >= 9 * (int64_t)a.pattern.row_start[a.pattern.n]);
    CHECK(info.nonzeros <= 18 * (int64_t)a.pattern.row_start[a.pattern.n]);
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
}

#ifdef HAVE_KLU
static void solve_with_klu(const BlockProblem *a, const ScalarMatrix *m, double *x) {
    klu_common common;
    klu_defaults(&common);
    klu_symbolic *symbolic = klu_analyze(a->unknowns, m->start, m->row, &common);
    klu_numeric *numeric = klu_factor(m->start, m->row, m->value, symbolic, &common);
    CHECK(klu_solve(symbolic, numeric, a->unknowns, 1, x, &common) == 1);
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
}
#endif

static void large_sparse_systems_agree_with_klu_and_umfpack(void) {
    FilRandom random = fil_random_make(4);
    FilArena arena = fil_arena_make(NULL);
    const Bodies kinds[] = {tower_bodies(&arena, 300, 5), lattice_bodies(&arena, &random, 4),
                            random_bodies(&arena, &random, 600, 900)};
    int oracles = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const BlockProblem a = make_problem3(&arena, &random, &kinds[k]);
        const int n = a.unknowns;
        const ScalarMatrix m = scalar_columns(&arena, &a);
        const double *b = random_vector(&arena, &random, n);
        double *x = copy_vector(&arena, n, b), *ax = FIL_NEW(&arena, double, n);
        FilBlockLu *lu = make_lu(&arena, &a.pattern);
        CHECK(fil_block_lu_factor(lu, a.value, a.diagonal) == 0);
        CHECK(fil_block_lu_solve(lu, x));
        multiply(&a, a.diagonal, x, ax);
        CHECK(distance(n, ax, b) <= 1e-12 * norm(n, b));
        CHECK(m.start[n] > 0);
#ifdef HAVE_KLU
        double *klu = copy_vector(&arena, n, b);
        solve_with_klu(&a, &m, klu);
        CHECK(distance(n, x, klu) <= 1e-10 * norm(n, klu));
        oracles++;
#endif
#ifdef HAVE_UMFPACK
        void *symbolic = NULL, *numeric = NULL;
        double *umf = FIL_NEW_ZEROED(&arena, double, n);
        CHECK(umfpack_di_symbolic(n, n, m.start, m.row, m.value, &symbolic, NULL, NULL) == 0);
        CHECK(umfpack_di_numeric(m.start, m.row, m.value, symbolic, &numeric, NULL, NULL) == 0);
        CHECK(umfpack_di_solve(UMFPACK_A, m.start, m.row, m.value, umf, b, numeric, NULL, NULL) ==
              0);
        umfpack_di_free_numeric(&numeric);
        umfpack_di_free_symbolic(&symbolic);
        CHECK(distance(n, x, umf) <= 1e-10 * norm(n, umf));
        oracles++;
#endif
    }
    fil_arena_destroy(&arena);
    if (oracles == 0) {
        CHECK_SKIP("neither KLU nor UMFPACK was found");
    }
}

#ifdef HAVE_CHOLMOD
static void solve_with_cholmod(int n, const ScalarMatrix *m, const double *b, double *x) {
    cholmod_common common;
    CHECK(cholmod_start(&common) == 1);
    cholmod_sparse a = {.nrow = (size_t)n,
                        .ncol = (size_t)n,
                        .nzmax = (size_t)m->start[n],
                        .p = m->start,
                        .i = m->row,
                        .x = m->value,
                        .stype = 1, // symmetric: the upper triangle counts
                        .itype = CHOLMOD_INT,
                        .xtype = CHOLMOD_REAL,
                        .sorted = 1,
                        .packed = 1};
    cholmod_dense right = {.nrow = (size_t)n,
                           .ncol = 1,
                           .nzmax = (size_t)n,
                           .d = (size_t)n,
                           .x = (void *)b, // only read
                           .xtype = CHOLMOD_REAL};
    cholmod_factor *factor = cholmod_analyze(&a, &common);
    CHECK(cholmod_factorize(&a, factor, &common) == 1 && common.status == CHOLMOD_OK);
    cholmod_dense *found = cholmod_solve(CHOLMOD_A, factor, &right, &common);
    if (found == NULL) {
        abort();
    }
    memcpy(x, found->x, (size_t)n * sizeof *x);
    cholmod_free_dense(&found, &common);
    cholmod_free_factor(&factor, &common);
    CHECK(cholmod_finish(&common) == 1);
}

// W + D as contacts make it: symmetric and positive definite.
static void check_with_cholmod(FilArena *arena, FilRandom *random, const Bodies *bodies) {
    int *size = random_sizes(arena, random, bodies->block_count, 6);
    const BlockProblem a = make_problem(arena, random, bodies, size, 0.0);
    double *d = a.diagonal;
    for (int i = 0; i < a.pattern.n; i++) {
        for (int k = 0; k < size[i] * size[i]; k++) {
            d[k] = k % (size[i] + 1) == 0 ? 0.01 : 0.0;
        }
        d += (ptrdiff_t)size[i] * size[i];
    }
    const int n = a.unknowns;
    const ScalarMatrix m = scalar_columns(arena, &a);
    const double *b = random_vector(arena, random, n);
    double *x = copy_vector(arena, n, b), *want = FIL_NEW(arena, double, n);
    FilBlockLu *lu = make_lu(arena, &a.pattern);
    CHECK(fil_block_lu_factor(lu, a.value, a.diagonal) == 0);
    CHECK(fil_block_lu_solve(lu, x));
    solve_with_cholmod(n, &m, b, want);
    CHECK(distance(n, x, want) <= 1e-10 * norm(n, want));
}
#endif

static void symmetric_systems_agree_with_cholmod(void) {
#ifdef HAVE_CHOLMOD
    FilRandom random = fil_random_make(44);
    FilArena arena = fil_arena_make(NULL);
    const Bodies kinds[] = {tower_bodies(&arena, 300, 5), lattice_bodies(&arena, &random, 4),
                            random_bodies(&arena, &random, 600, 900)};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_with_cholmod(&arena, &random, &kinds[k]);
    }
    fil_arena_destroy(&arena);
#else
    CHECK_SKIP("CHOLMOD was not found (libsuitesparse-dev)");
#endif
}

static bool all_finite(int n, const double *x) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

// W of one body has rank 6: 3 n - 6 pivots are replaced, and a right-hand side in its range is
// still met.
static void singular_matrices_give_finite_answers(void) {
    FilRandom random = fil_random_make(6);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = tower_bodies(&arena, 1, 12);
    int size[12];
    for (int i = 0; i < 12; i++) {
        size[i] = 3;
    }
    const BlockProblem a = make_problem(&arena, &random, &bodies, size, 0.0);
    FilBlockLu *lu = make_lu(&arena, &a.pattern);
    const double *x0 = random_vector(&arena, &random, 36);
    double x[36], b[36];
    multiply(&a, NULL, x0, b);
    memcpy(x, b, sizeof x);
    CHECK(fil_block_lu_factor(lu, a.value, NULL) == 30);
    CHECK(fil_block_lu_solve(lu, x));
    double *ax = FIL_NEW(&arena, double, 36);
    multiply(&a, NULL, x, ax);
    CHECK(distance(36, ax, b) <= 1e-10 * norm(36, b));

    memset(a.value, 0, sizeof(double) * 9 * 144); // nothing at all
    CHECK(fil_block_lu_factor(lu, a.value, NULL) == 36);
    CHECK(fil_block_lu_solve(lu, x) && all_finite(36, x));
    fil_arena_destroy(&arena);
}

static void check_scales(FilArena *arena, FilRandom *random, const BlockProblem *a) {
    static const double scales[] = {1.0, 1e-300, 1e-150, 1e150, 1e300, DBL_MAX};
    const ptrdiff_t entries = block_places(arena, &a->pattern)[a->pattern.row_start[a->pattern.n]];
    double *scaled = FIL_NEW(arena, double, entries);
    FilBlockLu *lu = make_lu(arena, &a->pattern);
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        for (ptrdiff_t e = 0; e < entries; e++) {
            scaled[e] = fmax(fmin(a->value[e] * scales[k], DBL_MAX), -DBL_MAX);
        }
        double *x = random_vector(arena, random, a->unknowns);
        CHECK(fil_block_lu_factor(lu, scaled, NULL) >= 0);
        (void)fil_block_lu_solve(lu, x);
        CHECK(all_finite(a->unknowns, x));
    }
}

// Indefinite at worst: with the diagonal blocks zero, pivots come from neighbours or the floor.
static void zero_diagonals_and_extreme_scales_stay_finite(void) {
    FilRandom random = fil_random_make(9);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = random_bodies(&arena, &random, 40, 60);
    const int *size = random_sizes(&arena, &random, 60, 3);
    const BlockProblem a = make_problem(&arena, &random, &bodies, size, 0.04);
    check_scales(&arena, &random, &a);
    const ptrdiff_t *place = block_places(&arena, &a.pattern);
    for (int i = 0; i < 60; i++) {
        const int e = find_block(&a.pattern, i, i);
        memset(a.value + place[e], 0, (size_t)(place[e + 1] - place[e]) * sizeof(double));
    }
    check_scales(&arena, &random, &a);
    fil_arena_destroy(&arena);
}

// Solve with some blocks inactive: those keep b, the others solve the reduced system.
static void check_active(FilArena *arena, FilRandom *random, const BlockProblem *a, FilBlockLu *lu,
                         const bool *active) {
    const FilBlockPattern *p = &a->pattern;
    const int n = a->unknowns;
    const double *b = random_vector(arena, random, n);
    double *x = copy_vector(arena, n, b), *ax = FIL_NEW(arena, double, n);
    double *masked = FIL_NEW_ZEROED(arena, double, n);
    fil_block_lu_set_active(lu, active);
    CHECK(fil_block_lu_factor(lu, a->value, a->diagonal) == 0);
    CHECK(fil_block_lu_solve(lu, x));
    for (int i = 0; i < p->n; i++) {
        const size_t bytes = (size_t)size_of(p, i) * sizeof *x;
        memcpy(masked + p->offset[i], x + p->offset[i], active[i] ? bytes : 0);
    }
    multiply(a, a->diagonal, masked, ax);
    for (int i = 0; i < p->n; i++) {
        const double *got = active[i] ? ax : x;
        const double off = distance(size_of(p, i), got + p->offset[i], b + p->offset[i]);
        CHECK(off <= (active[i] ? 1e-11 : 0.0));
    }
}

// Inactive rows and columns are those of the identity: half, most, none, all, half active.
static void inactive_blocks_are_left_out(void) {
    FilRandom random = fil_random_make(10);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = random_bodies(&arena, &random, 40, 100);
    const int *size = random_sizes(&arena, &random, 100, 5);
    const BlockProblem a = make_problem(&arena, &random, &bodies, size, 0.04);
    FilBlockLu *lu = make_lu(&arena, &a.pattern);
    const FilBlockLuInfo full = fil_block_lu_info(lu);
    static const int percent[] = {50, 90, 0, 100, 50};
    for (int round = 0; round < 5; round++) {
        bool active[100];
        for (int i = 0; i < 100; i++) {
            active[i] = fil_random_int(&random, 100) < percent[round];
        }
        check_active(&arena, &random, &a, lu, active);
        CHECK(round == 3 || fil_block_lu_info(lu).flops < full.flops);
    }
    fil_block_lu_set_active(lu, NULL);
    CHECK(fil_block_lu_info(lu).flops == full.flops);
    fil_arena_destroy(&arena);
}

// The same matrix with its blocks in another order has the same solution.
static void order_of_the_blocks_does_not_matter(void) {
    enum { N = 90 };
    FilRandom random = fil_random_make(11);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = random_bodies(&arena, &random, 30, N);
    const BlockProblem a = make_problem3(&arena, &random, &bodies);
    const ptrdiff_t *place = block_places(&arena, &a.pattern);
    int order[N], rank[N], start[N + 1] = {0}; // new block i is old block order[i]
    shuffle(&random, N, order);
    for (int i = 0; i < N; i++) {
        rank[order[i]] = i;
    }
    BlockProblem b = a;
    const int count = a.pattern.row_start[N];
    int *column = FIL_NEW(&arena, int, count), at = 0;
    b.value = FIL_NEW(&arena, double, 9 * count);
    b.diagonal = FIL_NEW(&arena, double, 9 * N);
    for (int i = 0; i < N; i++) {
        const int from = a.pattern.row_start[order[i]], to = a.pattern.row_start[order[i] + 1];
        for (int e = from; e < to; e++) {
            column[at++] = rank[a.pattern.column[e]];
        }
        start[i + 1] = at;
        qsort(column + start[i], (size_t)(at - start[i]), sizeof(int), compare_ints);
        for (int e = start[i]; e < at; e++) {
            memcpy(b.value + (ptrdiff_t)9 * e,
                   a.value + place[find_block(&a.pattern, order[i], order[column[e]])],
                   9 * sizeof(double));
        }
        memcpy(b.diagonal + (ptrdiff_t)9 * i, a.diagonal + (ptrdiff_t)9 * order[i],
               9 * sizeof(double));
    }
    b.pattern.row_start = start;
    b.pattern.column = column;
    double *x = random_vector(&arena, &random, 3 * N), *y = FIL_NEW(&arena, double, 3 * N);
    for (int i = 0; i < 3 * N; i++) {
        y[i] = x[3 * order[i / 3] + i % 3];
    }
    FilBlockLu *lu_a = make_lu(&arena, &a.pattern), *lu_b = make_lu(&arena, &b.pattern);
    CHECK(fil_block_lu_factor(lu_a, a.value, a.diagonal) == 0);
    CHECK(fil_block_lu_factor(lu_b, b.value, b.diagonal) == 0);
    CHECK(fil_block_lu_solve(lu_a, x) && fil_block_lu_solve(lu_b, y));
    for (int i = 0; i < 3 * N; i++) {
        CHECK_NEAR(y[i], x[3 * order[i / 3] + i % 3], 1e-10, 1e-12);
    }
    fil_arena_destroy(&arena);
}

static void factoring_again_allocates_nothing(void) {
    FilRandom random = fil_random_make(12);
    Counter counter = {.limit = INT_MAX};
    const FilAllocator allocator = {.resize = counted_resize, .user = &counter};
    FilArena arena = fil_arena_make(NULL), own = fil_arena_make(&allocator);
    FilArena scratch = fil_arena_make(&allocator);
    const Bodies bodies = random_bodies(&arena, &random, 50, 150);
    const BlockProblem a = make_problem3(&arena, &random, &bodies);
    double *x = random_vector(&arena, &random, a.unknowns);
    bool active[150] = {true, false, true};
    int after_first = 0;
    for (int round = 0; round < 3; round++) { // a new analysis in used arenas is free as well
        FilBlockLu *lu = NULL;
        CHECK(fil_block_lu_analyse(&a.pattern, &own, &scratch, &lu) == FIL_OK);
        CHECK(fil_block_lu_reserve(lu, &own) == FIL_OK);
        const int before = counter.requests;
        for (int k = 0; k < 3; k++) {
            fil_block_lu_set_active(lu, k == 1 ? active : NULL);
            (void)fil_block_lu_factor(lu, a.value, a.diagonal);
            (void)fil_block_lu_solve(lu, x);
        }
        CHECK(counter.requests == before);
        after_first = round == 0 ? counter.requests : after_first;
        fil_arena_reset(&own);
    }
    CHECK(counter.requests == after_first);
    fil_arena_destroy(&own);
    fil_arena_destroy(&scratch);
    fil_arena_destroy(&arena);
}

// Fail the 1st, 2nd, ... allocation until the calls succeed; the sanitizer proves nothing leaked.
static void every_allocation_may_fail(void) {
    FilRandom random = fil_random_make(13);
    FilArena arena = fil_arena_make(NULL);
    const Bodies bodies = lattice_bodies(&arena, &random, 4);
    const BlockProblem a = make_problem3(&arena, &random, &bodies);
    int failures = 0;
    for (bool done = false; !done && failures < 100;) {
        Counter counter = {.limit = failures};
        const FilAllocator allocator = {.resize = counted_resize, .user = &counter};
        FilArena own = fil_arena_make(&allocator), scratch = fil_arena_make(&allocator);
        FilBlockLu *lu = NULL;
        FilStatus status = fil_block_lu_analyse(&a.pattern, &own, &scratch, &lu);
        CHECK((status == FIL_OK) == (lu != NULL));
        if (status == FIL_OK) {
            status = fil_block_lu_reserve(lu, &own);
        }
        CHECK(status == FIL_OK || status == FIL_E_NO_MEMORY);
        done = status == FIL_OK;
        failures += !done;
        fil_arena_destroy(&own);
        fil_arena_destroy(&scratch);
    }
    CHECK(failures > 3 && failures < 100);
    fil_arena_destroy(&arena);
}

// A random front, not yet factored. The floor of every 50th pivot is out of reach.
static FilFront random_front(FilArena *arena, FilRandom *random, int k, int u) {
    FilFront f = {.k = k, .k4 = fil_round4(k), .u = u, .u4 = fil_round4(u)};
    const int stride = f.k4 + 2 * f.u4;
    double *floor = FIL_NEW(arena, double, k + 1);
    for (int i = 0; i < k; i++) {
        floor[i] = i % 50 == 7 ? 1e6 : 0.0;
    }
    f.kernels = fil_dense_kernels();
    f.panel = (FilPanel){random_vector(arena, random, k * stride), stride};
    f.rest = (FilPanel){random_vector(arena, random, u * f.u4), f.u4};
    f.floor = floor;
    return f;
}

// The same front with storage of its own.
static FilFront copy_front(FilArena *arena, const FilFront *f) {
    FilFront out = *f;
    out.panel.at = copy_vector(arena, f->k * (int)f->panel.stride, f->panel.at);
    out.rest.at = copy_vector(arena, f->u * f->u4, f->rest.at);
    out.pivot = FIL_NEW(arena, int, f->k + 1);
    out.inverse = FIL_NEW(arena, double, f->k + 1);
    return out;
}

static bool same_part(const double *a, const double *b, ptrdiff_t stride, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        if (memcmp(a + i * stride, b + i * stride, (size_t)columns * sizeof *a) != 0) {
            return false;
        }
    }
    return true;
}

static void check_front(FilArena *arena, const FilFront *front) {
    const FilFront want = copy_front(arena, front);
    const int replaced = fil_front_factor(&want), k = want.k;
    CHECK(k < 100 || replaced > 0);
    for (int threads = 1; threads <= 4; threads++) {
        const FilFront got = copy_front(arena, front);
        CHECK(fil_front_factor_parallel(&got, threads) == replaced);
        CHECK(memcmp(got.pivot, want.pivot, (size_t)k * sizeof(int)) == 0);
        CHECK(memcmp(got.inverse, want.inverse, (size_t)k * sizeof(double)) == 0);
        const int place[3] = {0, want.k4, want.k4 + want.u4};
        for (int part = 0; part < 3; part++) { // without the padding, which means nothing
            CHECK(same_part(got.panel.at + place[part], want.panel.at + place[part],
                            want.panel.stride, k, part == 0 ? k : want.u));
        }
        CHECK(same_part(got.rest.at, want.rest.at, want.rest.stride, want.u, want.u));
    }
}

// Pivots around one, two and three blocks of the parallel form, rows from none to several tiles.
static void fronts_have_the_same_bits_on_any_number_of_threads(void) {
    static const int sizes[][2] = {{1, 1},   {7, 0},     {5, 500},   {191, 3},  {192, 200},
                                   {193, 1}, {384, 400}, {501, 333}, {579, 77}, {650, 0}};
    FilRandom random = fil_random_make(15);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        FilArena arena = fil_arena_make(NULL);
        const FilFront front = random_front(&arena, &random, sizes[i][0], sizes[i][1]);
        check_front(&arena, &front);
        fil_arena_destroy(&arena);
    }
}

static void check_threads(FilArena *arena, FilRandom *random, const Bodies *bodies) {
    const BlockProblem a = make_problem3(arena, random, bodies);
    const double *b = random_vector(arena, random, a.unknowns);
    FilBlockLu *lu = make_lu(arena, &a.pattern);
    bool *active = FIL_NEW(arena, bool, a.pattern.n);
    for (int i = 0; i < a.pattern.n; i++) {
        active[i] = fil_random_int(random, 8) != 0;
    }
    for (int round = 0; round < 2; round++) {
        double *first = NULL;
        fil_block_lu_set_active(lu, round == 0 ? NULL : active);
        for (int threads = 1; threads <= 4; threads++) {
            double *x = copy_vector(arena, a.unknowns, b);
            fil_block_lu_set_threads(lu, threads);
            CHECK(fil_block_lu_factor(lu, a.value, a.diagonal) == 0);
            CHECK(fil_block_lu_solve(lu, x));
            first = first != NULL ? first : x;
            CHECK(memcmp(first, x, (size_t)a.unknowns * sizeof *x) == 0);
        }
    }
}

// Two bodies with `own` contacts each and `shared` between them: two fronts.
static Bodies twin_bodies(FilArena *arena, int own, int shared) {
    const int count = 2 * own + shared;
    Link *link = FIL_NEW(arena, Link, count);
    for (int l = 0; l < count; l++) {
        link[l] = (Link){{l < own + shared ? 0 : -1, l >= own ? 1 : -1}};
    }
    return bodies_from_links(arena, 2, count, link);
}

// Many small fronts, and a few of several hundred pivots that all threads share.
static void threads_do_not_change_a_bit(void) {
    FilRandom random = fil_random_make(14);
    FilArena arena = fil_arena_make(NULL);
    const Bodies kinds[] = {lattice_bodies(&arena, &random, 5), tower_bodies(&arena, 500, 12),
                            random_bodies(&arena, &random, 100, 300),
                            random_bodies(&arena, &random, 3000, 3400),
                            twin_bodies(&arena, 250, 150)};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_threads(&arena, &random, &kinds[k]);
    }
    fil_arena_destroy(&arena);
}

// Exchanging two rows, or turning one, turns the sign of the determinant.
static void sign_of_the_determinant_is_known(void) {
    FilArena arena = fil_arena_make(NULL);
    static const int offset[] = {0, 2, 3}, start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
    const FilBlockPattern pattern = {2, offset, start, column};
    FilBlockLu *lu = make_lu(&arena, &pattern);
    // blocks of [a b | c; d e | f; g h | i]: a b d e, c f, g h, i
    static const double cases[][9] = {
        {1, 0, 0, 1, 0, 0, 0, 0, 1},    {0, 1, 1, 0, 0, 0, 0, 0, 1},
        {1, 0, 0, 1, 0, 0, 0, 0, -1},   {0, 1, -1, 0, 0, 0, 0, 0, 1},
        {2, 1, 1, 3, 1, -2, 1, 4, -5},  {1, 2, 3, 4, 5, 6, 7, 8, 0.5},
        {-2, 1, 1, -3, 1, 2, 1, 1, -4}, {0, 0.1, -3, 7, 1, 2, 1, 1, 0.5}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double *v = cases[k];
        const double determinant = v[0] * (v[3] * v[8] - v[5] * v[7]) -
                                   v[1] * (v[2] * v[8] - v[5] * v[6]) +
                                   v[4] * (v[2] * v[7] - v[3] * v[6]);
        CHECK(fil_block_lu_factor(lu, v, NULL) == 0);
        CHECK(fil_block_lu_sign(lu) == (determinant > 0.0 ? 1 : -1));
    }
    fil_arena_destroy(&arena);
}

#define TESTS(X)                                          \
    X(products_have_the_bits_of_plain_loops)              \
    X(dense_factors_multiply_back)                        \
    X(dense_systems_agree_with_lapack)                    \
    X(every_graph_agrees_with_lapack)                     \
    X(no_block_and_one_block_are_fine)                    \
    X(pattern_may_be_unsymmetric)                         \
    X(bad_patterns_are_refused)                           \
    X(cost_is_known_before_storage_is_taken)              \
    X(large_sparse_systems_agree_with_klu_and_umfpack)    \
    X(symmetric_systems_agree_with_cholmod)               \
    X(singular_matrices_give_finite_answers)              \
    X(zero_diagonals_and_extreme_scales_stay_finite)      \
    X(sign_of_the_determinant_is_known)                   \
    X(inactive_blocks_are_left_out)                       \
    X(order_of_the_blocks_does_not_matter)                \
    X(factoring_again_allocates_nothing)                  \
    X(every_allocation_may_fail)                          \
    X(fronts_have_the_same_bits_on_any_number_of_threads) \
    X(threads_do_not_change_a_bit)

CHECK_MAIN(TESTS)
