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

// L y = x from row `from` on, in place.
static inline ALWAYS_INLINE void forward(int n, int width, int from, const double *restrict a,
                                         double *restrict x) {
    for (int i = from; i < n; i++) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = n - 1 - i < width ? n - 1 - i : width;
        for (int j = 1; j <= below; j++) {
            x[i + j] -= row[j] * x[i];
        }
    }
}

// L^T x = D^-1 y down to row `to`, in place. What is known last, x[i + 1], comes last.
static inline ALWAYS_INLINE void backward(int n, int width, int to, const double *restrict a,
                                          double *restrict x) {
    for (int i = n - 1; i >= to; i--) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const int below = n - 1 - i < width ? n - 1 - i : width;
        double sum = x[i] * row[0];
        for (int j = below; j >= 1; j--) {
            sum -= row[j] * x[i + j];
        }
        x[i] = sum;
    }
}

enum { WIDEST = 10 }; // of the widths below

// The same for a width that the compiler knows: the numbers at hand stay in registers, and a row
// waits for no more than one product and one difference of the row before.
static inline ALWAYS_INLINE void solve_known(int n, int width, const double *restrict a,
                                             double *restrict x) {
    const int full = n - width;
    double near[WIDEST + 1];
    if (full <= 0) {
        forward(n, width, 0, a, x);
        backward(n, width, 0, a, x);
        return;
    }
    UNROLL for (int j = 0; j < width; j++) {
        near[j] = x[j];
    }
    for (int i = 0; i < full; i++) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        const double known = near[0];
        x[i] = known;
        near[width] = x[i + width];
        UNROLL for (int j = 1; j <= width; j++) {
            near[j - 1] = near[j] - row[j] * known;
        }
    }
    UNROLL for (int j = 0; j < width; j++) {
        x[full + j] = near[j];
    }
    forward(n, width, full, a, x);
    backward(n, width, full, a, x);
    UNROLL for (int j = 1; j <= width; j++) {
        near[j] = x[full - 1 + j];
    }
    for (int i = full - 1; i >= 0; i--) {
        const double *row = a + (ptrdiff_t)i * (width + 1);
        double sum = x[i] * row[0];
        UNROLL for (int j = width; j >= 1; j--) {
            sum -= row[j] * near[j];
        }
        x[i] = sum;
        UNROLL for (int j = width; j >= 2; j--) {
            near[j] = near[j - 1];
        }
        near[1] = sum;
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
        solve_known(n, 8, a, x);
        break;
    case 10:
        solve_known(n, 10, a, x);
        break;
    default:
        forward(n, width, 0, a, x);
        backward(n, width, 0, a, x);
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
