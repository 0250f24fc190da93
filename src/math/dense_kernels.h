// dense_kernels.h - the kernels of dense.h for one vector width. Included for each variant by
// math/variants.h.
//
// The heart is a tile: up to TILE_ROWS rows by two vectors of C held in registers while the
// products of one step after the other are subtracted: twelve sums, enough to hide the latency of
// the additions, and with two vectors of B, one coefficient and one product all sixteen registers.
// Large products pack A and B so that a tile reads both in order (Goto and van de Geijn 2008); LU
// and the triangular solve are recursive (Gustavson 1997), which makes most of their work products
// of the largest depth there is.

#if FIL_WIDTH == 4
typedef Vector4 FIL_KERNEL(Vector);
#else
typedef Vector2 FIL_KERNEL(Vector);
#endif

// One tile: `rows` x (count * lanes of type); a(i, k) = t->a[i * row + k * step].
#define DEFINE_TILE(tile_name, type, count)                                                        \
    FIL_TARGET static inline ALWAYS_INLINE void tile_name(int rows, ptrdiff_t row, ptrdiff_t step, \
                                                          const Tile *t) {                         \
        enum { LANES = (int)(sizeof(type) / sizeof(double)) };                                     \
        type acc[TILE_ROWS][count];                                                                \
        const double *restrict a = t->a;                                                           \
        const double *restrict b = t->b;                                                           \
        UNROLL for (int i = 0; i < rows; i++) {                                                    \
            UNROLL for (int v = 0; v < (count); v++) {                                             \
                acc[i][v] = *(const type *)(t->c + i * t->c_stride + (ptrdiff_t)v * LANES);        \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k < t->depth; k++) {                                                       \
            UNROLL for (int i = 0; i < rows; i++) {                                                \
                UNROLL for (int v = 0; v < (count); v++) {                                         \
                    acc[i][v] -= *(const type *)(b + (ptrdiff_t)v * LANES) * a[i * row];           \
                }                                                                                  \
            }                                                                                      \
            a += step;                                                                             \
            b += t->b_stride;                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < rows; i++) {                                                    \
            UNROLL for (int v = 0; v < (count); v++) {                                             \
                *(type *)(t->c + i * t->c_stride + (ptrdiff_t)v * LANES) = acc[i][v];              \
            }                                                                                      \
        }                                                                                          \
    }

// The last rows of a strip, fewer than TILE_ROWS.
#define LAST_TILE(tile_name, rows, row, step, t) \
    switch (rows) {                              \
    case 5:                                      \
        tile_name(5, row, step, t);              \
        break;                                   \
    case 4:                                      \
        tile_name(4, row, step, t);              \
        break;                                   \
    case 3:                                      \
        tile_name(3, row, step, t);              \
        break;                                   \
    case 2:                                      \
        tile_name(2, row, step, t);              \
        break;                                   \
    case 1:                                      \
        tile_name(1, row, step, t);              \
        break;                                   \
    default:                                     \
        break;                                   \
    }

// All m rows of a strip of columns: with A where it is, and with A packed. There, where C is large,
// the rows of the next tile are on their way while this one is worked on.
#define DEFINE_STRIPS(strip_name, packed_name, tile_name)       \
    FIL_TARGET static void strip_name(int m, Tile t) {          \
        int i = 0;                                              \
        for (; i + TILE_ROWS <= m; i += TILE_ROWS) {            \
            tile_name(TILE_ROWS, t.row, t.step, &t);            \
            t.a += TILE_ROWS * t.row;                           \
            t.c += TILE_ROWS * t.c_stride;                      \
        }                                                       \
        LAST_TILE(tile_name, m - i, t.row, t.step, &t)          \
    }                                                           \
    FIL_TARGET static void packed_name(int m, Tile t) {         \
        int i = 0;                                              \
        for (; i + TILE_ROWS <= m; i += TILE_ROWS) {            \
            for (int r = TILE_ROWS; r < m - i && r < 12; r++) { \
                __builtin_prefetch(t.c + r * t.c_stride, 1);    \
            }                                                   \
            tile_name(TILE_ROWS, 1, TILE_ROWS, &t);             \
            t.a += TILE_ROWS * (ptrdiff_t)t.depth;              \
            t.c += TILE_ROWS * t.c_stride;                      \
        }                                                       \
        LAST_TILE(tile_name, m - i, 1, TILE_ROWS, &t)           \
    }

DEFINE_TILE(FIL_KERNEL(tile_pair), FIL_KERNEL(Vector), 2)
DEFINE_STRIPS(FIL_KERNEL(strip_pair), FIL_KERNEL(packed_pair), FIL_KERNEL(tile_pair))
DEFINE_TILE(FIL_KERNEL(tile_wide), FIL_KERNEL(Vector), 8)
#if FIL_WIDTH == 4
DEFINE_TILE(FIL_KERNEL(tile_one), FIL_KERNEL(Vector), 1)
DEFINE_STRIPS(FIL_KERNEL(strip_one), FIL_KERNEL(packed_one), FIL_KERNEL(tile_one))
#endif

// The widest strip that fits in `n` columns, for all m rows of C; returns its columns.
FIL_TARGET static inline ALWAYS_INLINE int FIL_KERNEL(strip)(int m, int n, Tile t) {
    if (m == 1 && n >= 8 * FIL_WIDTH) { // two sums would wait for each other
        FIL_KERNEL(tile_wide)(1, t.row, t.step, &t);
        return 8 * FIL_WIDTH;
    }
#if FIL_WIDTH == 4
    if (n < 8) {
        FIL_KERNEL(strip_one)(m, t);
        return 4;
    }
#endif
    FIL_KERNEL(strip_pair)(m, t);
    return 2 * FIL_WIDTH;
}

FIL_TARGET static void FIL_KERNEL(product_in_place)(const int size[3], FilCoefficients a,
                                                    FilPanel b, FilPanel c) {
    for (int j = 0; j < size[1];) {
        const Tile t = {.a = a.at,
                        .row = a.row,
                        .step = a.step,
                        .b = b.at + j,
                        .b_stride = b.stride,
                        .c = c.at + j,
                        .c_stride = c.stride,
                        .depth = size[2]};
        j += FIL_KERNEL(strip)(size[0], size[1] - j, t);
    }
}

// `quads` times four columns of B in sequence, row after row.
FIL_TARGET static inline ALWAYS_INLINE void FIL_KERNEL(pack_strip)(int depth, int quads,
                                                                   const double *restrict from,
                                                                   ptrdiff_t stride,
                                                                   double *restrict to) {
    for (int k = 0; k < depth; k++) {
        UNROLL for (int q = 0; q < quads; q++) {
            *(Vector4 *)(to + (ptrdiff_t)4 * q) = *(const Vector4 *)(from + (ptrdiff_t)4 * q);
        }
        from += stride;
        to += (ptrdiff_t)4 * quads;
    }
}

// C(rows) -= A(rows) B for one packed block of A, `rows` x `depth`, stored TILE_ROWS at a time.
FIL_TARGET static void FIL_KERNEL(product_packed_rows)(const int size[3], const double *packed_a,
                                                       FilPanel b, FilPanel c) {
    double packed_b[PACKED_DEPTH * 2 * FIL_WIDTH];
    Tile t = {.a = packed_a,
              .b = packed_b,
              .b_stride = (ptrdiff_t)2 * FIL_WIDTH,
              .c = c.at,
              .c_stride = c.stride,
              .depth = size[2]};
    int j = 0;
    for (; j + 2 * FIL_WIDTH <= size[1]; j += 2 * FIL_WIDTH) {
        FIL_KERNEL(pack_strip)(size[2], FIL_WIDTH / 2, b.at + j, b.stride, packed_b);
        FIL_KERNEL(packed_pair)(size[0], t);
        t.c += (ptrdiff_t)2 * FIL_WIDTH;
    }
#if FIL_WIDTH == 4
    if (j < size[1]) {
        FIL_KERNEL(pack_strip)(size[2], 1, b.at + j, b.stride, packed_b);
        t.b_stride = 4;
        FIL_KERNEL(packed_one)(size[0], t);
    }
#endif
}

FIL_TARGET static void FIL_KERNEL(subtract_product)(const int size[3], FilCoefficients a,
                                                    FilPanel b, FilPanel c) {
    if (size[0] < 32 || size[2] < 24) { // packing would cost more than it saves
        FIL_KERNEL(product_in_place)(size, a, b, c);
        return;
    }
    double packed[PACKED_ROWS * PACKED_DEPTH];
    for (int k = 0; k < size[2]; k += PACKED_DEPTH) {
        const int depth = size[2] - k < PACKED_DEPTH ? size[2] - k : PACKED_DEPTH;
        const FilPanel rows_of_b = {b.at + k * b.stride, b.stride};
        for (int i = 0; i < size[0]; i += PACKED_ROWS) {
            const int rows = size[0] - i < PACKED_ROWS ? size[0] - i : PACKED_ROWS;
            const FilCoefficients block = {a.at + i * a.row + k * a.step, a.row, a.step};
            pack_coefficients(rows, depth, block, packed);
            FIL_KERNEL(product_packed_rows)
            ((const int[3]){rows, size[1], depth}, packed, rows_of_b,
             (FilPanel){c.at + i * c.stride, c.stride});
        }
    }
}

// x := L^-1 x for at most PANEL rows: row i loses the rows above it, then is scaled.
FIL_TARGET static void FIL_KERNEL(solve_few)(int order, int n, FilCoefficients l,
                                             const double *inverse, FilPanel x) {
    for (int i = 0; i < order; i++) {
        double *row = x.at + i * x.stride;
        for (int j = 0; j < n;) {
            const Tile t = {.a = l.at + i * l.row,
                            .step = l.step,
                            .b = x.at + j,
                            .b_stride = x.stride,
                            .c = row + j,
                            .depth = i};
            j += FIL_KERNEL(strip)(1, n - j, t);
        }
        if (inverse != NULL) {
            for (int j = 0; j < n; j += 4) {
                *(Vector4 *)(row + j) *= inverse[i];
            }
        }
    }
}

FIL_TARGET static void FIL_KERNEL(solve_lower)(int order, int n, FilCoefficients l,
                                               const double *inverse, FilPanel x) {
    if (order <= PANEL) {
        FIL_KERNEL(solve_few)(order, n, l, inverse, x);
        return;
    }
    const int top = split(order);
    const FilPanel below = {x.at + top * x.stride, x.stride};
    FIL_KERNEL(solve_lower)(top, n, l, inverse, x);
    FIL_KERNEL(subtract_product)
    ((const int[3]){order - top, n, top}, (FilCoefficients){l.at + top * l.row, l.row, l.step}, x,
     below);
    FIL_KERNEL(solve_lower)
    (order - top, n, (FilCoefficients){l.at + top * (l.row + l.step), l.row, l.step},
     inverse != NULL ? inverse + top : NULL, below);
}

// Eliminate column `c` from the rows below it within a panel whose columns start at `first`, and
// return the row that holds the largest entry of column c + 1.
FIL_TARGET static inline ALWAYS_INLINE int FIL_KERNEL(eliminate)(const FilDenseLu *lu, int first,
                                                                 int c, int quads) {
    const ptrdiff_t stride = lu->panel.stride;
    double *top = lu->panel.at + c * stride + first;
    Vector4 u[PANEL / 4] = {{0.0}};
    const int at = c - first;
    for (int j = at + 1; j < 4 * quads; j++) {
        u[j / 4][j % 4] = top[j];
    }
    const int next = at + 1 < 4 * quads ? at + 1 : at;
    int best_row = c + 1;
    double best = -1.0;
    for (int r = c + 1; r < lu->order; r++) {
        double *row = lu->panel.at + r * stride + first;
        const double l = row[at] * lu->inverse[c];
        for (int q = 0; q < quads; q++) {
            *(Vector4 *)(row + 4 * (ptrdiff_t)q) -= u[q] * l;
        }
        row[at] = l;
        const double size = fabs(row[next]);
        if (size > best) {
            best = size;
            best_row = r;
        }
    }
    return best_row;
}

FIL_TARGET static int FIL_KERNEL(factor_panel)(const FilDenseLu *lu, int first, int width) {
    int replaced = 0;
    int best = find_largest(lu, first);
    for (int c = first; c < first + width; c++) {
        replaced += take_pivot(lu, c, best);
        best = width > 4 ? FIL_KERNEL(eliminate)(lu, first, c, 2)
                         : FIL_KERNEL(eliminate)(lu, first, c, 1);
    }
    return replaced;
}

FIL_TARGET static int FIL_KERNEL(factor_columns)(const FilDenseLu *lu, int first, int width) {
    if (width <= PANEL) {
        return FIL_KERNEL(factor_panel)(lu, first, width);
    }
    const int left = split(width);
    int replaced = FIL_KERNEL(factor_columns)(lu, first, left);

    const ptrdiff_t stride = lu->panel.stride;
    const int middle = first + left;
    const int right = fil_round4(width - left);
    double *corner = lu->panel.at + first * stride;
    const FilPanel above = {corner + middle, stride};
    FIL_KERNEL(solve_lower)(left, right, (FilCoefficients){corner + first, stride, 1}, NULL, above);
    FIL_KERNEL(subtract_product)
    ((const int[3]){lu->order - middle, right, left},
     (FilCoefficients){corner + left * stride + first, stride, 1}, above,
     (FilPanel){corner + left * stride + middle, stride});
    replaced += FIL_KERNEL(factor_columns)(lu, middle, width - left);
    return replaced;
}

FIL_TARGET static int FIL_KERNEL(factor)(const FilDenseLu *lu) {
    return lu->order > 0 ? FIL_KERNEL(factor_columns)(lu, 0, lu->order) : 0;
}

FIL_TARGET static double FIL_KERNEL(dot)(int n, const double *a, const double *b) {
    Vector4 low = {0.0}, high = {0.0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        low += *(const Vector4 *)(a + i) * *(const Vector4 *)(b + i);
        high += *(const Vector4 *)(a + i + 4) * *(const Vector4 *)(b + i + 4);
    }
    if (i < n) {
        low += *(const Vector4 *)(a + i) * *(const Vector4 *)(b + i);
    }
    low += high;
    return (low[0] + low[2]) + (low[1] + low[3]);
}

static const FilDenseKernels FIL_KERNEL(kernels) = {
    .name = FIL_VARIANT,
    .subtract_product = FIL_KERNEL(subtract_product),
    .solve_lower = FIL_KERNEL(solve_lower),
    .factor = FIL_KERNEL(factor),
    .factor_columns = FIL_KERNEL(factor_columns),
    .dot = FIL_KERNEL(dot),
};

#undef DEFINE_TILE
#undef LAST_TILE
#undef DEFINE_STRIPS
