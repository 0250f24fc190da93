// curve_polynomial.c - polynomial curvature in Chebyshev's basis.
//
// Coefficients of powers about one end of the curve cancel: those of the degree-20 interpolant of
// sin(10 pi s / L) exceed it by 14 digits. Chebyshev's basis has no such cancellation, so the
// powers are brought there once, in doubled precision (a value is an unevaluated sum of two
// doubles; Dekker 1971), and all further work is in plain double. The change of basis is Horner's
// rule: with y = s / L = (1 + x) / 2,
//
//     p := b_k + y p,    x T_0 = T_1,  x T_j = (T_(j-1) + T_(j+1)) / 2,
//
// whose factors are powers of two: only additions round.
//
// About a centre c, x = c + y, the polynomials come from Clenshaw's recurrence, done on
// polynomials of y in place of numbers:
//
//     b_k(y) = a_k + 2 (c + y) b_(k+1)(y) - b_(k+2)(y),    p = a_0 + (c + y) b_1 - b_2.
#include "curve_polynomial.h"

#include <math.h>
#include <string.h>

typedef struct Doubled {
    double high, low;
} Doubled;

static Doubled add_doubled(Doubled a, Doubled b) {
    const double sum = a.high + b.high, part = sum - a.high;
    const double off = (a.high - (sum - part)) + (b.high - part) + (a.low + b.low);
    const double high = sum + off;
    return (Doubled){high, off - (high - sum)};
}

static Doubled times(Doubled a, double b) {
    const double product = a.high * b;
    const double off = fma(a.high, b, -product) + a.low * b;
    const double high = product + off;
    return (Doubled){high, off - (high - product)};
}

static Doubled scale(Doubled a, double power_of_two) {
    return (Doubled){a.high * power_of_two, a.low * power_of_two};
}

// p := b + (1 + x) / 2 p, p of degree n before and n + 1 after.
static void multiply_and_add(int n, Doubled *p, Doubled b) {
    const Doubled zero = {0.0, 0.0};
    Doubled below = zero; // p_(j-1) before
    for (int j = 0; j <= n + 1; j++) {
        const Doubled here = j <= n ? p[j] : zero;
        const Doubled above = j < n ? p[j + 1] : zero;
        const Doubled sides = add_doubled(scale(below, j == 1 ? 0.5 : 0.25), scale(above, 0.25));
        p[j] = add_doubled(scale(here, 0.5), sides);
        below = here;
    }
    p[0] = add_doubled(p[0], b);
}

double fil_curve_to_chebyshev(int degree, double length, const double *powers,
                              double chebyshev[][4]) {
    Doubled power[FIL_CURVE_ROWS] = {{1.0, 0.0}}, p[FIL_CURVE_ROWS + 1] = {{0.0, 0.0}};
    for (int k = 1; k <= degree; k++) {
        power[k] = times(power[k - 1], length);
    }
    double largest = 0.0;
    memset(chebyshev, 0, (size_t)(degree + 1) * sizeof *chebyshev);
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        p[0] = times(power[degree], powers[3 * degree + i]);
        sum += fabs(p[0].high);
        for (int k = degree - 1; k >= 0; k--) {
            const Doubled b = times(power[k], powers[3 * k + i]);
            sum += fabs(b.high);
            multiply_and_add(degree - 1 - k, p, b);
        }
        for (int k = 0; k <= degree; k++) {
            chebyshev[k][i] = p[k].high;
        }
        largest = sum > largest || isnan(sum) ? sum : largest;
    }
    return largest;
}

void fil_curve_expand(int degree, const double *chebyshev, double centre, double local[][4]) {
    double work[FIL_CURVE_ROWS][4];
    double(*const b[2])[4] = {local, work}; // b_(k+1) and b_(k+2), by turns
    int newest = degree % 2;                // so that b_0 comes to lie in local
    memset(local, 0, (size_t)(degree + 1) * sizeof *local);
    memset(work, 0, (size_t)(degree + 1) * sizeof *work);
    for (int k = degree; k >= 0; k--) {
        double(*const one)[4] = b[1 - newest], (*const two)[4] = b[newest];
        const double factor = k > 0 ? 2.0 : 1.0, here = factor * centre;
        for (int j = degree - k; j > 0; j--) { // b_k takes the place of b_(k+2)
            for (int i = 0; i < 4; i++) {
                two[j][i] = here * one[j][i] + factor * one[j - 1][i] - two[j][i];
            }
        }
        for (int i = 0; i < 4; i++) {
            two[0][i] = chebyshev[4 * k + i] + (here * one[0][i] - two[0][i]);
        }
        newest = 1 - newest;
    }
}

double fil_curve_node(int degree, double length, int index) {
    const double pi = 3.14159265358979323846;
    const double half = sin(0.5 * pi * (index + 0.5) / (degree + 1.0)); // (1 - cos) / 2, no loss
    return length * half * half;
}

void fil_curve_interpolate(int degree, const double *values, double *coefficients) {
    const double pi = 3.14159265358979323846;
    const int n = degree + 1;
    for (int k = 0; k < n; k++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int j = 0; j < n; j++) {
            // T_k at x = -cos(pi (j + 1/2) / n); the integer is reduced, not the angle
            const int turn = k * (2 * j + 1) % (4 * n);
            const double T = (k % 2 == 0 ? 1.0 : -1.0) * cos(0.5 * pi * turn / n);
            for (int i = 0; i < 3; i++) {
                sum[i] += T * values[3 * j + i];
            }
        }
        for (int i = 0; i < 3; i++) {
            coefficients[3 * k + i] = sum[i] * (k == 0 ? 1.0 : 2.0) / n;
        }
    }
}
