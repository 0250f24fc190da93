// quartic.c - real roots of polynomials up to degree four by nested monotone intervals.
//
// Between two neighbouring critical points a polynomial is monotone: it has a root there if and
// only if its signs at the ends differ, and a bracketed Newton iteration finds it to the last bit.
// The critical points are the roots of the derivative, found in the same way, from the linear case
// up. No closed formula is used: Ferrari's loses digits in its cubic resolvent and companion
// matrices know nothing of multiplicity. A critical point where |p| is below the rounding error of
// its own evaluation is a (double) root.
//
// The line is covered as [-1, 1] in x and [-1, 1] in 1/x with the coefficients reversed, so that
// nothing overflows and every root is found to a relative accuracy.
#include "quartic.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define DEGREE 4

// p(x), its derivative, and a bound of the rounding error of p.
static double evaluate(int n, const double *a, double x, double *slope, double *error) {
    double p = a[n], dp = 0.0, size = fabs(a[n]);
    for (int i = n - 1; i >= 0; i--) {
        dp = dp * x + p;
        p = p * x + a[i];
        size = size * fabs(x) + fabs(p) + fabs(a[i]);
    }
    *slope = dp;
    *error = DBL_EPSILON * size;
    return p;
}

// Root in [low, high], where p has the sign of `p_low` at low and the opposite one at high.
static double bracketed_root(int n, const double *a, double low, double high, double p_low) {
    double x = 0.5 * (low + high);
    for (int k = 0; k < 200; k++) {
        double slope, error;
        const double p = evaluate(n, a, x, &slope, &error);
        if (p == 0.0) {
            return x;
        }
        *((p > 0.0) == (p_low > 0.0) ? &low : &high) = x;
        const double step = p / slope;
        double next = x - step;
        // Newton only inside the bracket, and bisection now and then against slow double roots
        if (!(next > low && next < high) || k % 6 == 5) {
            next = 0.5 * (low + high);
        }
        if (next == x || !(next > low && next < high)) {
            return x;
        }
        if (fabs(next - x) <= DBL_EPSILON * fabs(x) && k % 6 != 5) {
            return next;
        }
        x = next;
    }
    return x;
}

// Roots of degree n in [-1, 1].
static int unit_roots(int n, const double *a, double *root) {
    double knot[DEGREE + 1] = {-1.0};
    int knot_count = 1;
    if (n > 1) {
        double derivative[DEGREE];
        for (int i = 0; i < n; i++) {
            derivative[i] = (i + 1) * a[i + 1];
        }
        knot_count += unit_roots(n - 1, derivative, knot + 1);
    }
    knot[knot_count++] = 1.0;
    int count = 0;
    double slope, error, left = evaluate(n, a, knot[0], &slope, &error);
    bool left_zero = fabs(left) <= error;
    if (left_zero) {
        root[count++] = knot[0];
    }
    for (int i = 1; i < knot_count; i++) {
        const double right = evaluate(n, a, knot[i], &slope, &error);
        const bool right_zero = fabs(right) <= error;
        if (right_zero && !(left_zero && knot[i] - knot[i - 1] <= 1e-7)) {
            root[count++] = knot[i];
        } else if (!left_zero && !right_zero && (left > 0.0) != (right > 0.0)) {
            root[count++] = bracketed_root(n, a, knot[i - 1], knot[i], left);
        }
        left = right;
        left_zero = right_zero;
    }
    return count < n ? count : n;
}

static void sort_up(int count, double *x) {
    for (int i = 1; i < count; i++) {
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            const double swap = x[j];
            x[j] = x[j - 1];
            x[j - 1] = swap;
        }
    }
}

int fil_quartic_roots(const double a[5], double root[4]) {
    int n = DEGREE;
    while (n > 0 && a[n] == 0.0) {
        n--;
    }
    if (n == 0) {
        return 0;
    }
    double inner[DEGREE], outer[DEGREE], reversed[DEGREE + 1];
    for (int i = 0; i <= n; i++) {
        reversed[i] = a[n - i];
    }
    const int inner_count = unit_roots(n, a, inner), outer_count = unit_roots(n, reversed, outer);
    int count = 0;
    bool at_end[2] = {false, false}; // -1 or 1 itself is a root, as far as rounding can tell
    for (int i = 0; i < inner_count; i++) {
        at_end[0] |= inner[i] == -1.0;
        at_end[1] |= inner[i] == 1.0;
        root[count++] = inner[i];
    }
    for (int i = 0; i < outer_count && count < n; i++) {
        const double y = outer[i];
        const bool known = fabs(y) == 1.0 || (at_end[y > 0.0] && 1.0 - fabs(y) < 1e-7);
        if (y != 0.0 && !known && isfinite(1.0 / y)) {
            root[count++] = 1.0 / y;
        }
    }
    sort_up(count, root);
    return count;
}
