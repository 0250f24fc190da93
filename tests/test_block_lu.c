// Solutions of the block LU against other solvers, and what they do not depend on.
#include "block_lu_checks.h"

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

#define TESTS(X)                                       \
    X(dense_systems_agree_with_lapack)                 \
    X(every_graph_agrees_with_lapack)                  \
    X(no_block_and_one_block_are_fine)                 \
    X(pattern_may_be_unsymmetric)                      \
    X(bad_patterns_are_refused)                        \
    X(cost_is_known_before_storage_is_taken)           \
    X(large_sparse_systems_agree_with_klu_and_umfpack) \
    X(symmetric_systems_agree_with_cholmod)            \
    X(sign_of_the_determinant_is_known)                \
    X(inactive_blocks_are_left_out)                    \
    X(order_of_the_blocks_does_not_matter)

CHECK_MAIN(TESTS)
