// curve_series_kernels.h - the kernels of curve_series.h for one set of instructions. Included once
// for each variant by curve_series.c, which defines
//     FIL_KERNEL(name)   the variant's name of a function
//     FIL_TARGET         the attribute that lets the compiler use its instructions
//     FIL_VARIANT        the name of the variant

// Load and store four numbers that lie anywhere.
#define AT(place) (*(Vector4 *)(place))
#define FROM(place) (*(const Vector4 *)(place))

// next += (n0 n1 n2) [mu]x; a macro, for a function would pass vectors in memory.
#define TURN(next, n, mu)                                 \
    do {                                                  \
        (next)[0] += (n)[1] * (mu)[2] - (n)[2] * (mu)[1]; \
        (next)[1] += (n)[2] * (mu)[0] - (n)[0] * (mu)[2]; \
        (next)[2] += (n)[0] * (mu)[1] - (n)[1] * (mu)[0]; \
    } while (0)

// Store a term: r of the term after n0 before, then the columns, each putting right what the one
// before it spilled.
#define STORE(row, position, column)        \
    do {                                    \
        AT((row) + POSITION) = (position);  \
        AT((row) + AXIS) = (column)[0];     \
        AT((row) + AXIS + 3) = (column)[1]; \
        AT((row) + AXIS + 6) = (column)[2]; \
    } while (0)

FIL_TARGET static void FIL_KERNEL(build_affine)(const double *mu, FilSeries *series) {
    const Vector4 zero = {0.0};
    Vector4 now[3] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
    Vector4 before[3] = {zero, zero, zero};
    STORE(series->term[0], zero, now);
    for (int n = 0; n < series->degree; n++) {
        // the factor goes to the curvature, off the chain from term to term
        Vector4 p = FROM(mu), q = FROM(mu + 4);
        if (n < DIVIDED) {
            p /= n + 1.0;
            q /= n + 1.0;
        } else {
            p *= reciprocal[n];
            q *= reciprocal[n];
        }
        Vector4 next[3] = {zero, zero, zero};
        TURN(next, before, q);
        TURN(next, now, p);
        const Vector4 position = now[0] * reciprocal[n];
        for (int c = 0; c < 3; c++) {
            before[c] = now[c];
            now[c] = next[c];
        }
        STORE(series->term[n + 1], position, now);
    }
}

FIL_TARGET static void FIL_KERNEL(build_any)(int degree, const double *mu, FilSeries *series) {
    const Vector4 zero = {0.0};
    Vector4 column[FIL_SERIES_DEGREE + 1][3] = {
        {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
    STORE(series->term[0], zero, column[0]);
    for (int n = 0; n < series->degree; n++) {
        Vector4 next[3] = {zero, zero, zero};
        for (int k = degree < n ? degree : n; k >= 0; k--) { // small ones first
            TURN(next, column[n - k], mu + 4 * k);
        }
        const Vector4 position = column[n][0] * reciprocal[n];
        for (int c = 0; c < 3; c++) {
            column[n + 1][c] = n < DIVIDED ? next[c] / (n + 1.0) : next[c] * reciprocal[n];
        }
        STORE(series->term[n + 1], position, column[n + 1]);
    }
}

// Sums at x = 1 and -1, smallest terms first.
FIL_TARGET static void FIL_KERNEL(sum_ends)(FilSeries *series) {
    Vector4 even[3] = {{0.0}, {0.0}, {0.0}}, odd[3] = {{0.0}, {0.0}, {0.0}};
    for (int n = series->degree; n > 0; n -= 2) {
        for (int v = 0; v < 3; v++) {
            odd[v] += FROM(series->term[n] + 4 * v);
            even[v] += FROM(series->term[n - 1] + 4 * v);
        }
    }
    for (int v = 0; v < 3; v++) {
        AT(series->first + 4 * v) = even[v] - odd[v];
        AT(series->last + 4 * v) = even[v] + odd[v];
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
FIL_TARGET static void FIL_KERNEL(place)(const double *local, double h, const FilPose *middle,
                                         FilPose *pose) {
    const double *m = middle->position;
    const Vector4 g0 = FROM(m + AXIS), g1 = FROM(m + AXIS + 3);
    const Vector4 g2 = {m[AXIS + 6], m[AXIS + 7], m[AXIS + 8], 0.0};
    Vector4 column[4];
    for (int c = 0; c < 4; c++) {
        const double *q = local + 3 * c;
        column[c] = g0 * q[0] + g1 * q[1] + g2 * q[2];
    }
    double *out = pose->position;
    AT(out) = FROM(m) + column[0] * h;
    AT(out + AXIS) = column[1];
    AT(out + AXIS + 3) = column[2];
    for (int i = 0; i < 3; i++) {
        out[AXIS + 6 + i] = column[3][i];
    }
}

FIL_TARGET static void FIL_KERNEL(advance)(const FilSeries *series, double h, const FilPose *start,
                                           FilPose *middle, FilPose *end) {
    const double *first = series->first, *last = series->last;
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            middle->axis[j][i] = start->axis[0][i] * first[AXIS + j] +
                                 start->axis[1][i] * first[AXIS + 3 + j] +
                                 start->axis[2][i] * first[AXIS + 6 + j];
        }
    }
    for (int i = 0; i < 3; i++) {
        middle->position[i] = start->position[i] -
                              h * (middle->axis[0][i] * first[0] + middle->axis[1][i] * first[1] +
                                   middle->axis[2][i] * first[2]);
    }
    FIL_KERNEL(place)(last, h, middle, end);
}

// Two places at a time, even and odd terms apart: four chains of three vectors hide the latency of
// each other.
FIL_TARGET static void FIL_KERNEL(sample)(const FilSeries *series, double h, const FilPose *middle,
                                          int count, const double *x, FilPose *poses) {
    for (int i = 0; i < count; i += 2) {
        const double a = x[i], b = x[i + 1 < count ? i + 1 : i], aa = a * a, bb = b * b;
        Vector4 p[3], q[3], s[3], t[3]; // odd and even of a, odd and even of b
        for (int v = 0; v < 3; v++) {
            p[v] = s[v] = FROM(series->term[series->degree] + 4 * v);
            q[v] = t[v] = FROM(series->term[series->degree - 1] + 4 * v);
        }
        for (int n = series->degree - 2; n > 0; n -= 2) {
            for (int v = 0; v < 3; v++) {
                const Vector4 odd = FROM(series->term[n] + 4 * v);
                const Vector4 even = FROM(series->term[n - 1] + 4 * v);
                p[v] = p[v] * aa + odd;
                q[v] = q[v] * aa + even;
                s[v] = s[v] * bb + odd;
                t[v] = t[v] * bb + even;
            }
        }
        double local[2][FIL_SERIES_ROW];
        for (int v = 0; v < 3; v++) {
            AT(local[0] + 4 * v) = p[v] * a + q[v];
            AT(local[1] + 4 * v) = s[v] * b + t[v];
        }
        FIL_KERNEL(place)(local[0], h, middle, &poses[i]);
        if (i + 1 < count) {
            FIL_KERNEL(place)(local[1], h, middle, &poses[i + 1]);
        }
    }
}

static const FilSeriesKernels FIL_KERNEL(kernels) = {.name = FIL_VARIANT,
                                                     .build = FIL_KERNEL(build),
                                                     .advance = FIL_KERNEL(advance),
                                                     .sample = FIL_KERNEL(sample)};

#undef AT
#undef FROM
#undef TURN
#undef STORE
#undef FIL_KERNEL
#undef FIL_TARGET
#undef FIL_VARIANT
