#ifndef FIL_MATH_BAND_H
#define FIL_MATH_BAND_H

// Symmetric positive definite band matrices. Row i of the `n` rows holds the columns i .. i + width
// (the upper half of the band), width + 1 numbers; what lies beyond column n - 1 is not looked at.

/// Factor A = L D L^T in place: row i becomes 1 / d_i and column i of L below the diagonal. Returns
/// 0, or 1 + the row whose pivot was not positive and finite; the matrix is lost then.
int fil_band_factor(int n, int width, double *a);

/// A from its factors, into `out`, as it was before but for round-off; 0 beyond column n - 1.
void fil_band_restore(int n, int width, const double *a, double *out);

/// x <- A^-1 x, for a factored A.
void fil_band_solve(int n, int width, const double *a, double *x);

/// The same for `count` columns, x row-major [n][count].
void fil_band_solve_columns(int n, int width, const double *a, int count, double *x);

typedef struct FilBandKernels {
    const char *name;
    void (*solve_columns)(int n, int width, const double *a, int count, double *x);
} FilBandKernels;

/// Every variant from 0 (portable) up, NULL past the last. All give the same bits.
const FilBandKernels *fil_band_variant(int index);

/// y = A x, for an A that is not factored.
void fil_band_multiply(int n, int width, const double *a, const double *x, double *y);

#endif
