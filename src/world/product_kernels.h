// product_kernels.h - kernels of product.c, compiled once for every variant: see variants.h.

// y += r[0] row_0 + r[1] row_1 + r[2] row_2, rows of n numbers, one after the other.
FIL_TARGET static inline __attribute__((always_inline)) void
FIL_KERNEL(add_rows)(int n, const double r[3], const double *restrict rows, double *restrict y) {
    const double *second = rows + n, *third = second + n;
    for (int c = 0; c < n; c++) {
        y[c] += r[0] * rows[c] + r[1] * second[c] + r[2] * third[c];
    }
}

// y = W_body x, x the impulses of its contacts, many of them 0; W_body is symmetric. `room` is
// large enough for y without the gaps between contacts.
FIL_TARGET static void FIL_KERNEL(multiply_own)(const Part *part, const double *r, double *room,
                                                double *y) {
    const int n = 3 * part->count;
    memset(room, 0, sizeof(double) * (size_t)n);
    for (int k = 0; k < part->count; k++) {
        const double *x = r + part->places[k].impulse;
        if (x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0) {
            FIL_KERNEL(add_rows)(n, x, part->own + 3 * (ptrdiff_t)k * n, room);
        }
    }
    for (int e = 0; e < n; e++) {
        y[e / 3 * 4 + e % 3] = room[e];
    }
}

// v += H^T r of the contacts of a part; rows are `common` wide, or each as it says.
FIL_TARGET static inline __attribute__((always_inline)) void
FIL_KERNEL(push_wide)(const Part *part, int common, const double *r, double *v) {
    const double *H = part->H;
    for (int k = 0; k < part->count; k++) {
        const int stride = common > 0 ? common : part->places[k].stride;
        const double *x = r + part->places[k].impulse;
        double *to = v + part->places[k].first;
        for (int c = 0; c < stride; c += 4) {
            *(Vector4 *)(to + c) += x[0] * *(const Vector4 *)(H + c) +
                                    x[1] * *(const Vector4 *)(H + stride + c) +
                                    x[2] * *(const Vector4 *)(H + 2 * (ptrdiff_t)stride + c);
        }
        H += 3 * (ptrdiff_t)stride;
    }
}

// The sums of the lanes of three vectors, and a number of no use.
FIL_TARGET static inline __attribute__((always_inline)) void
FIL_KERNEL(sum_lanes)(const Vector4 x[3], double *y) {
    const Vector4 a = x[0], b = x[1], c = x[2];
    const Vector4 ab =
        __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Vector4 cc =
        __builtin_shufflevector(c, c, 0, 0, 2, 2) + __builtin_shufflevector(c, c, 1, 1, 3, 3);
    *(Vector4 *)y =
        __builtin_shufflevector(ab, cc, 0, 1, 4, 5) + __builtin_shufflevector(ab, cc, 2, 3, 6, 7);
}

// y = H v of the contacts of a part, four numbers each, the last of no use.
FIL_TARGET static inline __attribute__((always_inline)) void
FIL_KERNEL(pull_wide)(const Part *part, int common, const double *v, double *y) {
    const double *H = part->H;
    for (int k = 0; k < part->count; k++) {
        const int stride = common > 0 ? common : part->places[k].stride;
        const double *from = v + part->places[k].first;
        Vector4 sum[3] = {{0.0}, {0.0}, {0.0}};
        for (int c = 0; c < stride; c += 4) {
            const Vector4 x = *(const Vector4 *)(from + c);
            for (int row = 0; row < 3; row++) {
                sum[row] += *(const Vector4 *)(H + (ptrdiff_t)row * stride + c) * x;
            }
        }
        FIL_KERNEL(sum_lanes)(sum, y + 4 * (ptrdiff_t)k);
        H += 3 * (ptrdiff_t)stride;
    }
}

FIL_TARGET static void FIL_KERNEL(push)(const Part *part, const double *r, double *v) {
    switch (part->stride) {
    case 8: // chain
        FIL_KERNEL(push_wide)(part, 8, r, v);
        break;
    case 12: // der, corde
        FIL_KERNEL(push_wide)(part, 12, r, v);
        break;
    default:
        FIL_KERNEL(push_wide)(part, 0, r, v);
        break;
    }
}

FIL_TARGET static void FIL_KERNEL(pull)(const Part *part, const double *v, double *y) {
    switch (part->stride) {
    case 8:
        FIL_KERNEL(pull_wide)(part, 8, v, y);
        break;
    case 12:
        FIL_KERNEL(pull_wide)(part, 12, v, y);
        break;
    default:
        FIL_KERNEL(pull_wide)(part, 0, v, y);
        break;
    }
}

static const ProductKernels FIL_KERNEL(kernels) = {FIL_KERNEL(multiply_own), FIL_KERNEL(push),
                                                   FIL_KERNEL(pull)};
