// lengths.c - a polygon with given lengths of its edges between two given ends.
//
// One step of Newton's method: with t the directions of the edges, the least displacement of the
// inner nodes that corrects their lengths to first order is C^T lambda, where C C^T lambda = |e| -
// l is tridiagonal.
#include "lengths.h"

#include <stddef.h>

#include "math/vec3.h"

enum { MAX_STEPS = 50 };

static void spread_gaps(int n, const double *lengths, const double first[3], const double last[3],
                        double *r) {
    double gap[2][3], whole = 0.0, along = 0.0;
    fil_subtract3(first, r, gap[0]);
    fil_subtract3(last, r + 3 * (ptrdiff_t)n, gap[1]);
    for (int j = 0; j < n; j++) {
        whole += lengths[j];
    }
    for (int i = 0; i <= n; i++) {
        double u = i == n ? 1.0 : along / whole;
        fil_add3(1.0 - u, gap[0], r + 3 * (ptrdiff_t)i);
        fil_add3(u, gap[1], r + 3 * (ptrdiff_t)i);
        along += i < n ? lengths[i] : 0.0;
    }
}

// Returns the largest |e| / l - 1 before the step.
static double correct(int n, const double *lengths, double *r, double *scratch) {
    double *diagonal = scratch, *lambda = scratch + n, *tangents = scratch + 2 * (ptrdiff_t)n;
    double worst = 0.0;
    for (int j = 0; j < n; j++) {
        double *t = tangents + 3 * (ptrdiff_t)j;
        fil_subtract3(r + 3 * (ptrdiff_t)j + 3, r + 3 * (ptrdiff_t)j, t);
        double length = fil_norm3(t);
        for (int k = 0; k < 3; k++) {
            t[k] /= fmax(length, 1e-6 * lengths[j]);
        }
        worst = fmax(worst, fabs(length / lengths[j] - 1.0));
        double off = j > 0 ? -fil_dot3(t - 3, t) : 0.0;
        double above = j > 0 ? off / diagonal[j - 1] : 0.0;
        diagonal[j] = (j > 0) + (j < n - 1) + 1e-9 - above * off;
        lambda[j] = length - lengths[j] - (j > 0 ? above * lambda[j - 1] : 0.0);
    }
    for (int j = n - 1; j >= 0; j--) {
        const double *t = tangents + 3 * (ptrdiff_t)j;
        double below = j < n - 1 ? fil_dot3(t, t + 3) * lambda[j + 1] : 0.0;
        lambda[j] = (lambda[j] + below) / diagonal[j];
    }
    for (int j = 0; j < n; j++) {
        const double *t = tangents + 3 * (ptrdiff_t)j;
        if (j > 0) {
            fil_add3(lambda[j], t, r + 3 * (ptrdiff_t)j);
        }
        if (j < n - 1) {
            fil_add3(-lambda[j], t, r + 3 * (ptrdiff_t)j + 3);
        }
    }
    return worst;
}

void fil_lengths_fit(int n, const double *lengths, const double first[3], const double last[3],
                     double *r, double *scratch) {
    spread_gaps(n, lengths, first, last, r);
    for (int k = 0; k < MAX_STEPS; k++) {
        if (correct(n, lengths, r, scratch) < 1e-12) {
            return;
        }
    }
}
