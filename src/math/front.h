#ifndef FIL_MATH_FRONT_H
#define FIL_MATH_FRONT_H

// The dense work on one front of the block LU (see block_lu.c), by one thread or by several: the
// same bits.

#include <stdatomic.h>
#include <stdint.h>

#include "dense.h"

/// Whether a factorisation is to end, asked now and then: see fil_block_lu_set_stop().
typedef struct FilHalt {
    bool (*stop)(void *user); // NULL: it never is
    void *user;
    _Atomic bool stopped;
    _Atomic int64_t since; // operations since it was asked
} FilHalt;

/// Whether it is to end, before so many more operations.
bool fil_halts(FilHalt *halt, double operations);

/// A front with k pivots and u rows, k4 and u4 rounded up to multiples of 4.
typedef struct FilFront {
    const FilDenseKernels *kernels;
    int k, k4, u, u4;
    FilPanel panel;      // k rows of: A11 (k4) | A12 (u4) | transpose of A21 (u4)
    FilPanel rest;       // u rows of u4: C
    const double *floor; // [k] as in FilDenseLu
    int *pivot;          // [k] out
    double *inverse;     // [k] out
    FilHalt *halt;       // or NULL
} FilFront;

/// Whether the front is large enough for several threads.
bool fil_front_is_large(const FilFront *front);

/// A11 := L11\U11, A12 := U12, A21^T := L21^T, C := C - L21 U12. Returns the pivots replaced.
int fil_front_factor(const FilFront *front);

/// The same on up to `threads` threads, block by block: it may be halted in between.
int fil_front_factor_parallel(const FilFront *front, int threads);

#endif
