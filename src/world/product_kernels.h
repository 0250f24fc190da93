// product_kernels.h - kernels of product.c, compiled once for every variant: see variants.h.

// y += r[0] row_0 + r[1] row_1 + r[2] row_2, rows of n numbers, one after the other.
FIL_TARGET static inline __attribute__((always_inline)) void
FIL_KERNEL(add_rows)(int n, const double r[3], const double *restrict rows, double *restrict y) {
    const double *second = rows + n, *third = second + n;
    for (int c = 0; c < n; c++) {
        y[c] += r[0] * rows[c] + r[1] * second[c] + r[2] * third[c];
    }
}

// row . v, summed in four parts: the same in all variants.
FIL_TARGET static inline __attribute__((always_inline)) double
FIL_KERNEL(dot)(int n, const double *restrict row, const double *restrict v) {
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    int c = 0;
    for (; c + 4 <= n; c += 4) {
        for (int lane = 0; lane < 4; lane++) {
            part[lane] += row[c + lane] * v[c + lane];
        }
    }
    for (int lane = 0; c + lane < n; lane++) {
        part[lane] += row[c + lane] * v[c + lane];
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// y = W_body x, x the impulses of its contacts, many of them 0; W_body is symmetric.
FIL_TARGET static void FIL_KERNEL(multiply_own)(const FilMembers *members, int body,
                                                const double *own, const double *r, double *y) {
    int first = members->start[body], count = fil_members_count(members, body), n = 3 * count;
    memset(y, 0, sizeof(double) * (size_t)n);
    for (int k = 0; k < count; k++) {
        const double *x =
            r + 3 * (ptrdiff_t)members->place[fil_member(members, first + k)->contact];
        if (x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0) {
            FIL_KERNEL(add_rows)(n, x, own + 3 * (ptrdiff_t)k * n, y);
        }
    }
}

// v += H^T r of the contacts of a body.
FIL_TARGET static void FIL_KERNEL(push)(const FilMembers *members, int body, const double *r,
                                        double *v) {
    for (int k = members->start[body]; k < members->start[body + 1]; k++) {
        const FilIncidence *incidence = fil_member(members, k);
        const double *x = r + 3 * (ptrdiff_t)members->place[incidence->contact];
        if (x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0) {
            FIL_KERNEL(add_rows)(incidence->width, x, incidence->H, v + incidence->first);
        }
    }
}

// y = H v of the contacts of a body.
FIL_TARGET static void FIL_KERNEL(pull)(const FilMembers *members, int body, const double *v,
                                        double *y) {
    for (int k = members->start[body]; k < members->start[body + 1]; k++) {
        const FilIncidence *incidence = fil_member(members, k);
        for (int row = 0; row < 3; row++) {
            *y++ =
                FIL_KERNEL(dot)(incidence->width, incidence->H + (ptrdiff_t)row * incidence->width,
                                v + incidence->first);
        }
    }
}

static const ProductKernels FIL_KERNEL(kernels) = {FIL_KERNEL(multiply_own), FIL_KERNEL(push),
                                                   FIL_KERNEL(pull)};
