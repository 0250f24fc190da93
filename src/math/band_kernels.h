// band_kernels.h - kernels of band.c, compiled once for every variant: see variants.h.
//
// Columns of right-hand sides lie side by side: every operation on a row of them is one on `count`
// numbers in a row. They are taken a few vectors at a time, which stay in registers while a row of
// the factor goes by.

enum { FIL_KERNEL(some) = 8 }; // columns at a time

// Rows of x are `stride` apart; `count` <= some of their columns are worked on.
FIL_TARGET static inline __attribute__((always_inline)) void
FIL_KERNEL(solve_some)(int n, int width, const double *restrict a, int count, ptrdiff_t stride,
                       double *restrict x) {
    for (int i = 0; i < n; i++) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = n - 1 - i < width ? n - 1 - i : width;
        const double *from = x + i * stride;
        for (int j = 1; j <= below; j++) {
            double *to = x + (i + j) * stride;
            for (int c = 0; c < count; c++) {
                to[c] -= row[j] * from[c];
            }
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = n - 1 - i < width ? n - 1 - i : width;
        double sum[FIL_KERNEL(some)], *to = x + i * stride;
        for (int c = 0; c < count; c++) {
            sum[c] = row[0] * to[c];
        }
        for (int j = below; j >= 1; j--) {
            const double *from = x + (i + j) * stride;
            for (int c = 0; c < count; c++) {
                sum[c] -= row[j] * from[c];
            }
        }
        for (int c = 0; c < count; c++) {
            to[c] = sum[c];
        }
    }
}

FIL_TARGET static void FIL_KERNEL(solve_columns)(int n, int width, const double *a, int count,
                                                 double *x) {
    int c = 0;
    for (; c + FIL_KERNEL(some) <= count; c += FIL_KERNEL(some)) {
        FIL_KERNEL(solve_some)(n, width, a, FIL_KERNEL(some), count, x + c);
    }
    if (c < count) {
        FIL_KERNEL(solve_some)(n, width, a, count - c, count, x + c);
    }
}

static const FilBandKernels FIL_KERNEL(kernels) = {FIL_VARIANT, FIL_KERNEL(solve_columns)};
