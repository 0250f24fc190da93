// dense.c - dense kernels, one copy for each vector width, and the choice between them.
//
// dense_kernels.h holds the algorithms; here are the parts that do not depend on the vector width.
// An AVX-512 variant was tried and was no faster than AVX2 on Zen 4, where without fused
// multiply-add both have the same peak.
#include "dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    TILE_ROWS = 6,      // that a tile holds in registers
    PANEL = 8,          // columns of the smallest LU, rows of the smallest triangular solve
    PACKED_ROWS = 144,  // a packed block of A fills a fifth of a second-level cache of 1 MB
    PACKED_DEPTH = 192, // a packed strip of B fills a third of the first-level cache
};

typedef double Vector2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double Vector4 __attribute__((vector_size(32), aligned(8), may_alias));

#define ALWAYS_INLINE __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

typedef struct Tile {
    const double *a; // first coefficient
    ptrdiff_t row, step;
    const double *b;
    ptrdiff_t b_stride;
    double *c;
    ptrdiff_t c_stride;
    int depth;
} Tile;

// The first part of `order` > PANEL: about half, a multiple of PANEL.
static int split(int order) {
    return (order / 2 + PANEL - 1) / PANEL * PANEL;
}

// Row after row, when they are not next to each other or too few.
static void pack_rows(int rows, int depth, FilCoefficients a, double *packed) {
    for (int r = 0; r < rows; r++) {
        const double *from = a.at + r * a.row;
        for (int k = 0; k < depth; k++) {
            packed[TILE_ROWS * k + r] = from[k * a.step];
        }
    }
}

// TILE_ROWS rows at a time, step after step, so that a tile reads `rows` x `depth` of A in order.
static void pack_coefficients(int rows, int depth, FilCoefficients a, double *packed) {
    for (; rows > 0; rows -= TILE_ROWS) {
        if (a.row == 1 && rows >= TILE_ROWS) {
            for (int k = 0; k < depth; k++) {
                memcpy(packed + (ptrdiff_t)TILE_ROWS * k, a.at + k * a.step,
                       TILE_ROWS * sizeof(double));
            }
        } else {
            pack_rows(rows < TILE_ROWS ? rows : TILE_ROWS, depth, a, packed);
        }
        a.at += TILE_ROWS * a.row;
        packed += TILE_ROWS * (ptrdiff_t)depth;
    }
}

// The row, `c` or below, with the largest entry of column c.
static int find_largest(const FilDenseLu *lu, int c) {
    int best_row = c;
    double best = -1.0;
    for (int r = c; r < lu->order; r++) {
        const double size = fabs(lu->panel.at[r * lu->panel.stride + c]);
        if (size > best) {
            best = size;
            best_row = r;
        }
    }
    return best_row;
}

static void exchange_rows(const FilDenseLu *lu, int i, int j) {
    double *restrict a = lu->panel.at + i * lu->panel.stride;
    double *restrict b = lu->panel.at + j * lu->panel.stride;
    for (int c = lu->begin; c < lu->width; c++) {
        const double swap = a[c];
        a[c] = b[c];
        b[c] = swap;
    }
}

// Bring a pivot for column c to the diagonal. Returns 1 when none was large enough (or finite) and
// the floor took its place.
static int take_pivot(const FilDenseLu *lu, int c, int best) {
    const ptrdiff_t stride = lu->panel.stride;
    double *diagonal = lu->panel.at + c * stride + c;
    const double largest = fabs(lu->panel.at[best * stride + c]);
    const bool usable = largest >= lu->floor[c] && largest <= DBL_MAX;
    int row = c;
    if (!usable) {
        *diagonal = copysign(lu->floor[c], *diagonal);
    } else if (!(fabs(*diagonal) >= 0.5 * largest)) {
        row = best;
        exchange_rows(lu, c, row);
    }
    lu->pivot[c] = row;
    lu->inverse[c] = 1.0 / *diagonal;
    return !usable;
}

#define FIL_KERNEL_FILE "math/dense_kernels.h"
#include "math/variants.h"

const FilDenseKernels *fil_dense_variant(int index) {
    return CHOOSE_VARIANT(index, kernels);
}

const FilDenseKernels *fil_dense_kernels(void) {
    return fil_dense_variant(count_variants() - 1);
}
