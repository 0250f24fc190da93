#ifndef FIL_MATH_VECTOR_H
#define FIL_MATH_VECTOR_H

// Vectors of any length.

#include <float.h>
#include <math.h>
#include <stdbool.h>

static inline double fil_dot(const double *a, const double *b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// y += factor x.
static inline void fil_axpy(double factor, const double *x, double *y, int n) {
    for (int i = 0; i < n; i++) {
        y[i] += factor * x[i];
    }
}

// Without a way out of the loop, so that it runs in lanes.
static inline bool fil_all_finite(const double *x, int n) {
    int bad = 0;
    for (int i = 0; i < n; i++) {
        bad |= !(fabs(x[i]) <= DBL_MAX);
    }
    return bad == 0;
}

#endif
