// lengths.c - a polygon with given lengths of its edges between two given ends.
//
// One step of Newton's method: with t the directions of the edges, the least displacement of the
// inner nodes that corrects their lengths to first order is C^T lambda, where C C^T lambda = |e| -
// l is tridiagonal.
#include "lengths.h"

#include <stdbool.h>
#include <stddef.h>

#include "math/vec3.h"

enum { MAX_STEPS = 50 };
static const double pi = 3.14159265358979323846;

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

// How far the nodes are from the line through the ends, at most, times its length.
static double find_bend(int n, const double chord[3], const double *r) {
    double worst = 0.0;
    for (int i = 1; i < n; i++) {
        double to[3], across[3];
        fil_subtract3(r + 3 * (ptrdiff_t)i, r, to);
        fil_cross3(chord, to, across);
        worst = fmax(worst, fil_norm3(across));
    }
    return worst;
}

// A unit vector across `chord`.
static void find_side(const double chord[3], double side[3]) {
    double axis[3] = {0.0, 0.0, 0.0};
    bool flat = fabs(chord[2]) <= fmax(fabs(chord[0]), fabs(chord[1]));
    axis[flat ? 2 : 0] = 1.0;
    fil_cross3(axis, chord, side);
    double norm = fil_norm3(side);
    for (int k = 0; k < 3; k++) {
        side[k] = norm > 0.0 ? side[k] / norm : axis[k];
    }
}

// A straight line that is too long for its ends does not become shorter to first order: it is bent
// to the side before, into half a wave of about its length.
static void bend_line(int n, const double *lengths, double *r) {
    double chord[3], side[3], whole = 0.0, along = 0.0;
    fil_subtract3(r + 3 * (ptrdiff_t)n, r, chord);
    for (int j = 0; j < n; j++) {
        whole += lengths[j];
    }
    double slack = whole - fil_norm3(chord);
    if (!(slack > 1e-12 * whole) || find_bend(n, chord, r) > 1e-6 * whole * whole) {
        return;
    }
    find_side(chord, side);
    double height = 2.0 / pi * sqrt(slack * (whole - 0.4 * slack));
    for (int i = 0; i < n; i++) {
        fil_add3(height * sin(pi * along / whole), side, r + 3 * (ptrdiff_t)i);
        along += lengths[i];
    }
}

void fil_lengths_fit(int n, const double *lengths, const double first[3], const double last[3],
                     double *r, double *scratch) {
    spread_gaps(n, lengths, first, last, r);
    bend_line(n, lengths, r);
    for (int k = 0; k < MAX_STEPS; k++) {
        if (correct(n, lengths, r, scratch) < 1e-12) {
            return;
        }
    }
}
