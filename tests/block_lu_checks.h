#ifndef FIL_TESTS_BLOCK_LU_CHECKS_H
#define FIL_TESTS_BLOCK_LU_CHECKS_H

// What the tests of dense and block factorisations share: vectors, sizes, factors.

#include "block_problem.h"
#include "check.h"
#include "math/block_lu.h"

static inline double norm(int n, const double *x) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static inline double distance(int n, const double *x, const double *y) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrt(sum);
}

static inline double *random_vector(FilArena *arena, FilRandom *random, int n) {
    double *x = FIL_NEW(arena, double, n + 1);
    for (int i = 0; i < n; i++) {
        x[i] = fil_random_normal(random);
    }
    return x;
}

static inline double *copy_vector(FilArena *arena, int n, const double *from) {
    double *x = FIL_NEW(arena, double, n + 1);
    memcpy(x, from, (size_t)n * sizeof *x);
    return x;
}

static inline FilBlockLu *make_lu(FilArena *arena, const FilBlockPattern *pattern) {
    FilArena scratch = fil_arena_make(NULL);
    FilBlockLu *lu = NULL;
    CHECK(fil_block_lu_analyse(pattern, arena, &scratch, &lu) == FIL_OK);
    CHECK(lu != NULL && fil_block_lu_reserve(lu, arena) == FIL_OK);
    fil_arena_destroy(&scratch);
    return lu;
}

static inline int *random_sizes(FilArena *arena, FilRandom *random, int n, int largest) {
    int *size = FIL_NEW(arena, int, n + 1);
    for (int i = 0; i < n; i++) {
        size[i] = 1 + fil_random_int(random, largest);
    }
    return size;
}

#endif
