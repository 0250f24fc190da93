// band.c - L D L^T of symmetric band matrices, as rods have them: long and narrow.
//
// Right-looking: with pivot row u = (d, u_1 .. u_w) of the upper half, row j below it becomes
//     row_j -= (u_j / d) (u_j .. u_w),
// which reads and writes memory in order. The widths of the rod models are compiled apart, so that
// their loops unroll; the operations and their order are the same for every width and every vector
// length, and so are the bits of the result.
#include "band.h"

#include <float.h>
#include <stddef.h>

#if defined(__clang__)
#define UNROLL // clang does by itself
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));
#define ALWAYS_INLINE __attribute__((always_inline))

// The pivot row and the `below` <= width rows under it.
static inline ALWAYS_INLINE int eliminate(int width, int below, double *restrict row) {
    const double d = row[0];
    if (!(d > 0.0 && d <= DBL_MAX)) {
        return 1;
    }
    const double inverse = 1.0 / d;
    UNROLL for (int j = 1; j <= below; j++) {
        const double factor = row[j] * inverse;
        double *restrict to = row + (ptrdiff_t)j * (width + 1) - j;
        int k = j;
        UNROLL for (; k + 1 <= below; k += 2) {
            *(Pair *)(to + k) -= factor * *(const Pair *)(row + k);
        }
        if (k <= below) {
            to[k] -= factor * row[k];
        }
    }
    for (int j = 1; j <= below; j++) {
        row[j] *= inverse;
    }
    row[0] = inverse;
    return 0;
}

static inline ALWAYS_INLINE int factor(int n, int width, double *a) {
    int full = n - width, i = 0;
    for (; i < full; i++) {
        if (eliminate(width, width, a + (ptrdiff_t)i * (width + 1)) != 0) {
            return i + 1;
        }
    }
    for (; i < n; i++) {
        if (eliminate(width, n - 1 - i, a + (ptrdiff_t)i * (width + 1)) != 0) {
            return i + 1;
        }
    }
    return 0;
}

static inline ALWAYS_INLINE void solve(int n, int width, const double *restrict a,
                                       double *restrict x) {
    int full = n - width > 0 ? n - width : 0;
    for (int i = 0; i < n; i++) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = i < full ? width : n - 1 - i;
        for (int j = 1; j <= below; j++) {
            x[i + j] -= row[j] * x[i];
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] *= a[(ptrdiff_t)i * (width + 1)];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = i < full ? width : n - 1 - i;
        double sum[2] = {0.0, 0.0};
        for (int j = below; j >= 1; j--) { // x[i + 1] comes last: it is known last
            sum[j & 1] += row[j] * x[i + j];
        }
        x[i] -= sum[0] + sum[1];
    }
}

int fil_band_factor(int n, int width, double *a) {
    switch (width) {
    case 8:
        return factor(n, 8, a);
    case 10:
        return factor(n, 10, a);
    default:
        return factor(n, width, a);
    }
}

void fil_band_solve(int n, int width, const double *a, double *x) {
    switch (width) {
    case 8:
        solve(n, 8, a, x);
        break;
    case 10:
        solve(n, 10, a, x);
        break;
    default:
        solve(n, width, a, x);
        break;
    }
}

#define FIL_KERNEL_FILE "math/band_kernels.h"
#include "math/variants.h"

const FilBandKernels *fil_band_variant(int index) {
    return CHOOSE_VARIANT(index, kernels);
}

void fil_band_solve_columns(int n, int width, const double *a, int count, double *x) {
    fil_band_variant(count_variants() - 1)->solve_columns(n, width, a, count, x);
}

void fil_band_restore(int n, int width, const double *a, double *out) {
    ptrdiff_t stride = width + 1;
    for (ptrdiff_t k = 0; k < n * stride; k++) {
        out[k] = 0.0;
    }
    for (int i = 0; i < n; i++) {
        const double *row = a + i * stride;
        const double d = 1.0 / row[0];
        const int below = width < n - 1 - i ? width : n - 1 - i;
        for (int p = 0; p <= below; p++) {
            const double factor = p == 0 ? d : d * row[p];
            double *to = out + (i + p) * stride - p;
            for (int q = p; q <= below; q++) {
                to[q] += factor * (q == 0 ? 1.0 : row[q]);
            }
        }
    }
}

void fil_band_multiply(int n, int width, const double *a, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = a[(ptrdiff_t)i * (width + 1)] * x[i];
    }
    for (int i = 0; i < n; i++) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = n - 1 - i < width ? n - 1 - i : width;
        double sum = 0.0;
        for (int j = 1; j <= below; j++) {
            sum += row[j] * x[i + j];
            y[i + j] += row[j] * x[i];
        }
        y[i] += sum;
    }
}
