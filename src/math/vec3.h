#ifndef FIL_MATH_VEC3_H
#define FIL_MATH_VEC3_H

// Vectors of 3 and matrices of 3 x 3 (row-major) as plain arrays. Results may not overlap arguments
// unless a comment says so.

#include <math.h>

static inline void fil_copy3(const double a[3], double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = a[k];
    }
}

static inline double fil_dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double fil_norm3(const double a[3]) {
    return sqrt(fil_dot3(a, a));
}

static inline void fil_cross3(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// out += factor * a.
static inline void fil_add3(double factor, const double a[3], double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] += factor * a[k];
    }
}

/// out = a - b.
static inline void fil_subtract3(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] - b[k];
    }
}

/// out = m a.
static inline void fil_apply3(const double m[9], const double a[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = m[3 * i] * a[0] + m[3 * i + 1] * a[1] + m[3 * i + 2] * a[2];
    }
}

/// out = m^T a.
static inline void fil_apply_transposed3(const double m[9], const double a[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = m[i] * a[0] + m[3 + i] * a[1] + m[6 + i] * a[2];
    }
}

/// out = a b.
static inline void fil_multiply3(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}

/// The matrix of a x.
static inline void fil_cross_matrix3(const double a[3], double out[9]) {
    const double m[9] = {0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0};
    for (int k = 0; k < 9; k++) {
        out[k] = m[k];
    }
}

#endif
