#ifndef FIL_ROD_FREE_SPACE_H
#define FIL_ROD_FREE_SPACE_H

// The motions that rows C x = 0 leave free, as coordinates: x = Q (0, y) with Q orthogonal. See
// free_space.c.

#include "zero_modes.h"

#define FIL_FREE_ROWS (FIL_ROD_ROWS + FIL_ZERO_MODES) // at most

typedef struct FilFreeSpace {
    int n;     // of x
    int held;  // rows that do not depend on others; y has n - held numbers
    double *v; // [FIL_FREE_ROWS][n]: Q is the product of the 1 - beta v v^T
    double beta[FIL_FREE_ROWS];
} FilFreeSpace;

/// Find Q for the m rows C [m][n], which are destroyed; `space` has n and v.
void fil_free_space_make(FilFreeSpace *space, int m, double *C);

/// A <- Q^T A Q, [n][n], whole, and then packed: its last n - held rows and columns, [n - held][n -
/// held], come to the front of A.
void fil_free_space_reduce(const FilFreeSpace *space, double *A);

/// x <- y: the last part of Q^T x, packed to the front.
void fil_free_space_gather(const FilFreeSpace *space, double *x);
/// y <- x = Q (0, y).
void fil_free_space_scatter(const FilFreeSpace *space, double *y);

#endif
