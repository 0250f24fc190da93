// curve_series_kernels.h - the kernels of curve_series.h for one set of instructions. Included
// for each variant by math/variants.h.
// A column, three numbers and one to spare, is PARTS vectors; a term is VECTORS.

#define PARTS (4 / FIL_WIDTH)
#define VECTORS (FIL_SERIES_ROW / FIL_WIDTH)
#if FIL_WIDTH == 4
typedef Vector4 FIL_KERNEL(Vector);
#else
typedef Vector2 FIL_KERNEL(Vector);
#endif
#define VECTOR FIL_KERNEL(Vector)

// Load and store the part of what lies anywhere.
#define AT(place, part) (*(VECTOR *)((place) + (ptrdiff_t)FIL_WIDTH * (part)))
#define FROM(place, part) (*(const VECTOR *)((place) + (ptrdiff_t)FIL_WIDTH * (part)))

// Columns n0 n1 n2 lie in a row, PARTS vectors each. next += (n0 n1 n2) [mu]x:
FIL_TARGET static inline ALWAYS_INLINE void FIL_KERNEL(turn)(const VECTOR *n, const double *mu,
                                                             VECTOR *next) {
    for (int p = 0; p < PARTS; p++) {
        const VECTOR n0 = n[p], n1 = n[PARTS + p], n2 = n[2 * PARTS + p];
        next[p] += n1 * mu[2] - n2 * mu[1];
        next[PARTS + p] += n2 * mu[0] - n0 * mu[2];
        next[2 * PARTS + p] += n0 * mu[1] - n1 * mu[0];
    }
}

// Store a term: r, `factor` times n0 of the term before, then the columns, each putting right what
// the one before it spilled.
FIL_TARGET static inline ALWAYS_INLINE void
FIL_KERNEL(store)(double *row, double factor, const VECTOR *before, const VECTOR *n) {
    for (int p = 0; p < PARTS; p++) {
        AT(row, p) = before[p] * factor;
    }
    for (int p = 0; p < 3 * PARTS; p++) {
        AT(row + AXIS + (ptrdiff_t)3 * (p / PARTS), p % PARTS) = n[p];
    }
}

FIL_TARGET static void FIL_KERNEL(build_affine)(const double *mu, FilSeries *series) {
    VECTOR now[3 * PARTS], before[3 * PARTS] = {{0.0}};
    for (int p = 0; p < 3 * PARTS; p++) {
        now[p] = FROM(identity, p);
    }
    FIL_KERNEL(store)(series->term[0], 0.0, now, now);
    for (int n = 0; n < series->degree; n++) {
        // the factor goes to the curvature, off the chain from term to term
        double a[8];
        for (int p = 0; p < 2 * PARTS; p++) {
            AT(a, p) = n < DIVIDED ? FROM(mu, p) / (n + 1.0) : FROM(mu, p) * reciprocal[n];
        }
        VECTOR next[3 * PARTS] = {{0.0}};
        FIL_KERNEL(turn)(before, a + 4, next);
        FIL_KERNEL(turn)(now, a, next);
        FIL_KERNEL(store)(series->term[n + 1], reciprocal[n], now, next);
        memcpy(before, now, sizeof before);
        memcpy(now, next, sizeof now);
    }
}

FIL_TARGET static void FIL_KERNEL(build_any)(int degree, const double *mu, FilSeries *series) {
    VECTOR column[FIL_SERIES_DEGREE + 1][3 * PARTS];
    for (int p = 0; p < 3 * PARTS; p++) {
        column[0][p] = FROM(identity, p);
    }
    FIL_KERNEL(store)(series->term[0], 0.0, column[0], column[0]);
    for (int n = 0; n < series->degree; n++) {
        VECTOR next[3 * PARTS] = {{0.0}};
        for (int k = degree < n ? degree : n; k >= 0; k--) { // small ones first
            FIL_KERNEL(turn)(column[n - k], mu + (ptrdiff_t)4 * k, next);
        }
        for (int p = 0; p < 3 * PARTS; p++) {
            column[n + 1][p] = n < DIVIDED ? next[p] / (n + 1.0) : next[p] * reciprocal[n];
        }
        FIL_KERNEL(store)(series->term[n + 1], reciprocal[n], column[n], column[n + 1]);
    }
}

// Sums at x = 1 and -1, smallest terms first.
FIL_TARGET static void FIL_KERNEL(sum_ends)(FilSeries *series) {
    VECTOR even[VECTORS] = {{0.0}}, odd[VECTORS] = {{0.0}};
    for (int n = series->degree; n > 0; n -= 2) {
        for (int v = 0; v < VECTORS; v++) {
            odd[v] += FROM(series->term[n], v);
            even[v] += FROM(series->term[n - 1], v);
        }
    }
    for (int v = 0; v < VECTORS; v++) {
        AT(series->first, v) = even[v] - odd[v];
        AT(series->last, v) = even[v] + odd[v];
    }
}

FIL_TARGET static void FIL_KERNEL(build)(int degree, const double *mu, FilSeries *series) {
    if (degree == 1) {
        FIL_KERNEL(build_affine)(mu, series);
    } else {
        FIL_KERNEL(build_any)(degree, mu, series);
    }
    FIL_KERNEL(sum_ends)(series);
}

// A pose in the local frame, to the world.
FIL_TARGET static void FIL_KERNEL(place)(const FilSeries *series, const double *local,
                                         FilPose *pose) {
    const double *m = series->middle;
    VECTOR column[4][PARTS]; // before the first store, which might be to what is loaded
    for (int p = 0; p < PARTS; p++) {
        const VECTOR g0 = FROM(m + AXIS, p), g1 = FROM(m + AXIS + 3, p), g2 = FROM(m + AXIS + 6, p);
        for (int c = 0; c < 4; c++) {
            const double *q = local + (ptrdiff_t)3 * c;
            column[c][p] = g0 * q[0] + g1 * q[1] + g2 * q[2];
        }
        column[0][p] = FROM(m, p) + column[0][p] * series->h;
    }
    double *out = pose->position;
    for (int c = 0; c < 3; c++) {
        for (int p = 0; p < PARTS; p++) {
            AT(out + (ptrdiff_t)3 * c, p) = column[c][p];
        }
    }
    for (int i = 0; i < 3; i++) { // has no room to spill
        pose->axis[2][i] = column[3][i / FIL_WIDTH][i % FIL_WIDTH];
    }
}

FIL_TARGET static void FIL_KERNEL(advance)(FilSeries *series, FilPose *pose) {
    const double *q = series->first + AXIS;
    double *m = series->middle, *axis = series->middle + AXIS;
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            axis[3 * j + i] =
                pose->axis[0][i] * q[j] + pose->axis[1][i] * q[3 + j] + pose->axis[2][i] * q[6 + j];
        }
    }
    for (int i = 0; i < 3; i++) {
        m[i] = pose->position[i] -
               series->h * (axis[i] * series->first[0] + axis[3 + i] * series->first[1] +
                            axis[6 + i] * series->first[2]);
    }
    m[FIL_SERIES_ROW] = 0.0;
    FIL_KERNEL(place)(series, series->last, pose);
}

// Two places at a time, even and odd terms apart: the chains hide the latency of each other.
FIL_TARGET static void FIL_KERNEL(sample)(const FilSeries *series, int count, const double *x,
                                          FilPose *poses) {
    for (int i = 0; i < count; i += 2) {
        const double a = x[i], b = x[i + 1 < count ? i + 1 : i], aa = a * a, bb = b * b;
        VECTOR p[VECTORS], q[VECTORS], s[VECTORS], t[VECTORS]; // odd, even of a; odd, even of b
        for (int v = 0; v < VECTORS; v++) {
            p[v] = s[v] = FROM(series->term[series->degree], v);
            q[v] = t[v] = FROM(series->term[series->degree - 1], v);
        }
        for (int n = series->degree - 2; n > 0; n -= 2) {
            for (int v = 0; v < VECTORS; v++) {
                const VECTOR odd = FROM(series->term[n], v), even = FROM(series->term[n - 1], v);
                p[v] = p[v] * aa + odd;
                q[v] = q[v] * aa + even;
                s[v] = s[v] * bb + odd;
                t[v] = t[v] * bb + even;
            }
        }
        double local[2][FIL_SERIES_ROW];
        for (int v = 0; v < VECTORS; v++) {
            AT(local[0], v) = p[v] * a + q[v];
            AT(local[1], v) = s[v] * b + t[v];
        }
        FIL_KERNEL(place)(series, local[0], &poses[i]);
        if (i + 1 < count) {
            FIL_KERNEL(place)(series, local[1], &poses[i + 1]);
        }
    }
}

static const FilSeriesKernels FIL_KERNEL(kernels) = {.name = FIL_VARIANT,
                                                     .build = FIL_KERNEL(build),
                                                     .advance = FIL_KERNEL(advance),
                                                     .sample = FIL_KERNEL(sample)};

#undef PARTS
#undef VECTORS
#undef VECTOR
#undef AT
#undef FROM
