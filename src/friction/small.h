#ifndef FIL_FRICTION_LOCAL_SMALL_H
#define FIL_FRICTION_LOCAL_SMALL_H

// Dense blocks, row-major: products, and linear systems of at most FIL_SMALL_MAX unknowns.

#include <stdbool.h>
#include <stddef.h>

#define FIL_SMALL_MAX 7

/// out = A B, A rows x inner and B inner x columns.
static inline void fil_small_multiply(int rows, int inner, int columns, const double *A,
                                      const double *B, double *out) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            double sum = 0.0;
            for (int k = 0; k < inner; k++) {
                sum += A[i * inner + k] * B[k * columns + j];
            }
            out[i * columns + j] = sum;
        }
    }
}

/// out += A B^T, A rows x inner and B columns x inner.
static inline void fil_small_add_transposed(int rows, int inner, int columns, const double *A,
                                            const double *B, double *out) {
    for (int i = 0; i < rows; i++) {
        const double *a = A + (ptrdiff_t)i * inner; // inner may be a large body
        for (int j = 0; j < columns; j++) {
            const double *b = B + (ptrdiff_t)j * inner;
            double sum = 0.0;
            for (int k = 0; k < inner; k++) {
                sum += a[k] * b[k];
            }
            out[i * columns + j] += sum;
        }
    }
}

/// LU factors of a square matrix with complete pivoting: P A Q = L U.
typedef struct FilSmallLu {
    int n;
    int rank; // pivots that are not rounding errors
    int sign; // of the determinant; 0 when the rank is not full
    int row[FIL_SMALL_MAX], column[FIL_SMALL_MAX];
    double lu[FIL_SMALL_MAX * FIL_SMALL_MAX];
} FilSmallLu;

/// Factor the row-major n x n matrix A. A pivot below `tolerance` times the largest entry that its
/// row had at the start is taken as zero: it is what cancellation left over.
void fil_small_factor(FilSmallLu *lu, int n, const double *A, double tolerance);

/// Solve A x = b by the first `rank` pivots: the unknowns without a pivot are set to 0. When the
/// rank is not full the caller checks whether A x = b holds.
void fil_small_solve(const FilSmallLu *lu, const double *b, double *x);

/// Column k, 0 <= k < n - rank, of a basis of the null space.
void fil_small_null(const FilSmallLu *lu, int k, double *z);

/// Solve A x = b by elimination with row pivoting; A and b are overwritten, x in b. False when a
/// pivot is zero or not a number.
bool fil_small_eliminate(int n, double *A, double *b);

#endif
