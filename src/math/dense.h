#ifndef FIL_MATH_DENSE_H
#define FIL_MATH_DENSE_H

// Dense kernels on row-major panels for factorisations: C -= A B, triangular solve with many right
// sides, LU with row pivoting. Written for sizes from 3 to a few thousand; they allocate nothing.
//
// Panels. A panel of n columns is stored with rows that may be read and written up to column
// fil_round4(n) - 1; what is there must be finite (it takes part in products) and comes out
// meaningless. Every kernel takes n already rounded up to a multiple of 4.
//
// Bits. Each element goes through the same operations in the same order in every variant (portable,
// AVX2) and however a product is cut into rows, columns or threads, so all of them give
// the same bits. No fused multiply-add: the library is compiled with -ffp-contract=off.

#include <stdbool.h>
#include <stddef.h>

/// A coefficient matrix read element by element: a(i, k) = at[i * row + k * step].
typedef struct FilCoefficients {
    const double *at;
    ptrdiff_t row, step;
} FilCoefficients;

/// A row-major panel; `stride` doubles from one row to the next.
typedef struct FilPanel {
    double *at;
    ptrdiff_t stride;
} FilPanel;

/// What an LU factorisation works on: P A11 = L U of the first `order` columns of a panel.
typedef struct FilDenseLu {
    FilPanel panel;
    int order;           // rows of the panel, and columns that are factored
    int begin, width;    // a row exchange moves columns begin .. width - 1
    const double *floor; // per column: a pivot below it in absolute value is replaced by +-floor
    int *pivot;          // out: row i was exchanged with row pivot[i] >= i, in this order
    double *inverse;     // out: 1 / U(i, i)
} FilDenseLu;

typedef struct FilDenseKernels {
    const char *name;

    /// c -= a b: c is m x n, a is m x depth, b is depth x n.
    void (*subtract_product)(const int size[3], FilCoefficients a, FilPanel b, FilPanel c);

    /// x := L^-1 x for the lower triangle L of `l`, order x order, x with n columns. The diagonal
    /// is 1 / inverse[i], or 1 where inverse is NULL.
    void (*solve_lower)(int order, int n, FilCoefficients l, const double *inverse, FilPanel x);

    /// L (unit, below the diagonal) and U in place. Rows are chosen for size, the diagonal being
    /// kept when it is at least half the largest. Returns how many pivots were replaced.
    int (*factor)(const FilDenseLu *lu);

    /// The same for columns first .. first + count - 1 alone, which have lost the products of the
    /// pivots before them; `first` is a multiple of 8.
    int (*factor_columns)(const FilDenseLu *lu, int first, int count);

    /// sum a[i] b[i], n a multiple of 4; the terms are added in eight lanes, always the same.
    double (*dot)(int n, const double *a, const double *b);
} FilDenseKernels;

/// The fastest variant this processor runs.
const FilDenseKernels *fil_dense_kernels(void);

/// Every variant this processor runs, from 0 (portable) up; NULL past the last.
const FilDenseKernels *fil_dense_variant(int index);

static inline int fil_round4(int n) {
    return (n + 3) & ~3;
}

#endif
