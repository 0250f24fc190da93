// bench_block_lu.c - times of the block LU next to KLU and UMFPACK on the same matrices.
//
// One row a matrix: unknowns, blocks a row, analysis, one factorisation and one solve (best of
// several), arithmetic rate, fill (entries of L and U over entries of A), residual
// |A x - b| / |b|; then the same with a quarter of the blocks inactive, and the rivals: their
// refactorisation with a known pattern (KLU) or numeric phase (UMFPACK) plus one solve.
#include "base/timer.h"
#include "block_problem.h"

#include <math.h>
#include <stdio.h>

#ifdef HAVE_KLU
#include <klu.h>
#endif
#ifdef HAVE_UMFPACK
#include <umfpack.h>
#endif
#ifdef HAVE_OPENBLAS
void openblas_set_num_threads(int count);
#endif

typedef struct Timing {
    double analyse, factor, solve, residual;
} Timing;

static double residual(const BlockProblem *a, const double *x, const double *b, double *w) {
    multiply(a, a->diagonal, x, w);
    double off = 0.0, size = 0.0;
    for (int i = 0; i < a->unknowns; i++) {
        off += (w[i] - b[i]) * (w[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(off / size);
}

static double shorter(double best, double begin) {
    const double now = fil_seconds() - begin;
    return now < best ? now : best;
}

static Timing time_factor(FilBlockLu *lu, const BlockProblem *a, const double *b, double *x) {
    Timing t = {.factor = 1e9, .solve = 1e9};
    const double end = fil_seconds() + 0.3;
    int rounds = 0;
    do {
        double begin = fil_seconds();
        (void)fil_block_lu_factor(lu, a->value, a->diagonal);
        t.factor = shorter(t.factor, begin);
        memcpy(x, b, (size_t)a->unknowns * sizeof *x);
        begin = fil_seconds();
        (void)fil_block_lu_solve(lu, x);
        t.solve = shorter(t.solve, begin);
    } while (++rounds < 3 || fil_seconds() < end);
    return t;
}

#ifdef HAVE_KLU
static Timing time_klu(FilArena *arena, const BlockProblem *a, const double *b, double *x,
                       double *w) {
    const ScalarMatrix m = scalar_columns(arena, a);
    klu_common common;
    klu_defaults(&common);
    Timing t = {.factor = 1e9, .solve = 1e9};
    double begin = fil_seconds();
    klu_symbolic *symbolic = klu_analyze(a->unknowns, m.start, m.row, &common);
    t.analyse = fil_seconds() - begin;
    klu_numeric *numeric = klu_factor(m.start, m.row, m.value, symbolic, &common);
    const double end = fil_seconds() + 0.3;
    do {
        begin = fil_seconds();
        (void)klu_refactor(m.start, m.row, m.value, symbolic, numeric, &common);
        t.factor = shorter(t.factor, begin);
        memcpy(x, b, (size_t)a->unknowns * sizeof *x);
        begin = fil_seconds();
        (void)klu_solve(symbolic, numeric, a->unknowns, 1, x, &common);
        t.solve = shorter(t.solve, begin);
    } while (fil_seconds() < end);
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
    t.residual = residual(a, x, b, w);
    return t;
}
#endif

#ifdef HAVE_UMFPACK
static Timing time_umfpack(FilArena *arena, const BlockProblem *a, const double *b, double *x,
                           double *w) {
    const ScalarMatrix m = scalar_columns(arena, a);
    void *symbolic = NULL, *numeric = NULL;
    double control[UMFPACK_CONTROL];
    umfpack_di_defaults(control);
    control[UMFPACK_IRSTEP] = 0; // no refinement: ours does none
    Timing t = {.factor = 1e9, .solve = 1e9};
    double begin = fil_seconds();
    (void)umfpack_di_symbolic(a->unknowns, a->unknowns, m.start, m.row, m.value, &symbolic, control,
                              NULL);
    t.analyse = fil_seconds() - begin;
    const double end = fil_seconds() + 0.3;
    do {
        umfpack_di_free_numeric(&numeric);
        begin = fil_seconds();
        (void)umfpack_di_numeric(m.start, m.row, m.value, symbolic, &numeric, control, NULL);
        t.factor = shorter(t.factor, begin);
        begin = fil_seconds();
        (void)umfpack_di_solve(UMFPACK_A, m.start, m.row, m.value, x, b, numeric, control, NULL);
        t.solve = shorter(t.solve, begin);
    } while (fil_seconds() < end);
    umfpack_di_free_numeric(&numeric);
    umfpack_di_free_symbolic(&symbolic);
    t.residual = residual(a, x, b, w);
    return t;
}
#endif

static void print_row(const char *name, Timing t) {
    (void)printf("  %-22s analyse %9.1f  factor %10.1f  solve %8.1f us", name, 1e6 * t.analyse,
                 1e6 * t.factor, 1e6 * t.solve);
    if (t.residual >= 0.0) {
        (void)printf("  residual %.1e", t.residual);
    }
    (void)printf("\n");
}

static void print_cost(FilBlockLuInfo info, double entries, double seconds) {
    (void)printf("  %-22s %.2f GFlop/s, %.3g Mflop, fill %.2f, %d supernodes, widest %d, front %d, "
                 "%.1f MB\n",
                 "", 1e-9 * (double)info.flops / seconds, 1e-6 * (double)info.flops,
                 (double)info.nonzeros / entries, info.supernode_count, info.largest_pivot,
                 info.largest_front, 1e-6 * (double)info.bytes);
}

static void bench_variants(FilBlockLu *lu, const BlockProblem *a, const double *b, double *x,
                           FilRandom *random) {
    bool *active = malloc((size_t)a->pattern.n + 1);
    if (active == NULL) {
        return;
    }
    fil_block_lu_set_threads(lu, 2);
    Timing t = time_factor(lu, a, b, x);
    t.residual = -1.0;
    print_row("block LU, 2 threads", t);
    fil_block_lu_set_threads(lu, 1);
    for (int i = 0; i < a->pattern.n; i++) {
        active[i] = fil_random_int(random, 4) != 0;
    }
    const double begin = fil_seconds();
    fil_block_lu_set_active(lu, active);
    const double seconds = fil_seconds() - begin;
    t = time_factor(lu, a, b, x);
    t.analyse = seconds;
    t.residual = -1.0;
    print_row("block LU, 3/4 active", t);
    free(active);
}

static void bench(const char *name, FilArena *arena, const BlockProblem *a, bool rivals) {
    FilRandom random = fil_random_make(5);
    FilArena scratch = fil_arena_make(NULL);
    double *b = FIL_NEW(arena, double, a->unknowns), *x = FIL_NEW(arena, double, a->unknowns);
    double *w = FIL_NEW(arena, double, a->unknowns);
    for (int i = 0; i < a->unknowns; i++) {
        b[i] = fil_random_normal(&random);
    }
    const int blocks = a->pattern.row_start[a->pattern.n];
    (void)printf("%s: %d blocks, %.1f a row\n", name, a->pattern.n, (double)blocks / a->pattern.n);

    FilBlockLu *lu = NULL;
    double analyse = 1e9;
    for (int k = 0; k < 4; k++) {
        const FilArenaMark mark = fil_arena_mark(arena);
        const double begin = fil_seconds();
        const FilStatus status = fil_block_lu_analyse(&a->pattern, arena, &scratch, &lu);
        analyse = shorter(analyse, begin);
        if (status != FIL_OK) {
            return;
        }
        if (k < 3) {
            fil_arena_release(arena, mark);
        }
    }
    if (fil_block_lu_reserve(lu, arena) != FIL_OK) {
        return;
    }
    Timing t = time_factor(lu, a, b, x);
    t.analyse = analyse;
    t.residual = residual(a, x, b, w);
    print_row("block LU", t);
    print_cost(fil_block_lu_info(lu), 9.0 * blocks, t.factor);
    bench_variants(lu, a, b, x, &random);
    (void)rivals;
#ifdef HAVE_KLU
    if (rivals) {
        print_row("KLU refactor", time_klu(arena, a, b, x, w));
    }
#endif
#ifdef HAVE_UMFPACK
    print_row("UMFPACK", time_umfpack(arena, a, b, x, w));
#endif
    fil_arena_destroy(&scratch);
}

typedef struct Case {
    const char *name;
    char kind;
    int first, second;
    bool klu; // false: it would take minutes
} Case;

int main(int argc, char **argv) {
    static const Case cases[] = {
        {"dense 25", 't', 1, 25, true},
        {"dense 100", 't', 1, 100, true},
        {"random bodies, n = 20", 'r', 8, 20, true},
        {"random bodies, n = 50", 'r', 20, 50, true},
        {"random bodies, n = 200", 'r', 60, 200, true},
        {"tower of 86 layers", 't', 86, 7, true},
        {"lattice of 4^3", 'l', 4, 0, true},
        {"lattice of 7^3", 'l', 7, 0, true},
        {"lattice of 8^3", 'l', 8, 0, false},
        {"lattice of 11^3", 'l', 11, 0, false},
    };
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(1);
#endif
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        if (argc > 1 && strstr(c->name, argv[1]) == NULL) {
            continue;
        }
        FilArena arena = fil_arena_make(NULL);
        FilRandom random = fil_random_make(1);
        const Bodies bodies = c->kind == 't' ? tower_bodies(&arena, c->first, c->second)
                              : c->kind == 'l'
                                  ? lattice_bodies(&arena, &random, c->first)
                                  : random_bodies(&arena, &random, c->first, c->second);
        const BlockProblem a = make_problem3(&arena, &random, &bodies);
        bench(c->name, &arena, &a, c->klu);
        fil_arena_destroy(&arena);
    }
    return 0;
}
