// curve_bound.c - bounds of the power series of a frame.
//
// Let kappa = sum mu_k x^k and |.| the Euclidean norm, so that |R [mu]x| <= |R| |mu| in the
// spectral norm. The recurrence of the terms then gives |R_n| <= a_n with
//
//     a_(n+1) = 1/(n+1) sum_k |mu_k| a_(n-k),
//
// the coefficients of the scalar a' = (sum |mu_k| x^k) a, that is of exp(A(x)) with
// A(x) = sum |mu_k| x^(k+1) / (k+1). As all a_n are positive, a_n <= exp(A(w)) / w^n for every
// w > 0, and the terms from n on sum to at most
//
//     exp(A(w)) w^-n / (1 - 1/w)    for every w > 1, at |x| <= 1.
//
// Casati's bound has C = 2 sum max|mu_k| x^(k+1) in place of A, from |AB| <= 2 |A| |B| in the
// largest-entry norm, and w = 1/omega. A is exact for constant curvature.
#include "curve_bound.h"

#include <math.h>

#include "filum/curve.h"

int fil_series_degree(int degree, const double *norm, int most) {
    // w, 1 / ln w, and (54 ln 2 - ln(1 - 1/w)) / ln w; the best w is about n / A
    static const double table[][3] = {
        {1.5, 2.466303462, 95.025},  {2.0, 1.442695041, 55.001},  {3.0, 0.910239227, 34.440},
        {4.5, 0.664859403, 25.053},  {7.0, 0.513898342, 19.315},  {11.0, 0.417032391, 15.650},
        {17.0, 0.352956124, 13.233}, {28.0, 0.300101629, 11.244},
    };
    double least = most + 2.0;
    double part[FIL_CURVE_DEGREE_MAX + 1]; // of A(1)
    for (int k = 0; k <= degree; k++) {
        part[k] = norm[k] / (k + 1.0);
    }
    for (int i = 0; i < (int)(sizeof table / sizeof *table); i++) {
        double growth = 0.0;
        for (int k = degree; k >= 0; k--) {
            growth = (growth + part[k]) * table[i][0];
        }
        const double terms = growth * table[i][1] + table[i][2];
        least = terms < least ? terms : least;
    }
    const int last = (int)least; // of ceil(terms) terms, the last has this degree
    return last > 1 ? last : 1;
}

static double largest(const double *v) {
    return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

double fil_casati_growth(int degree, const double *lambda, double s) {
    double sum = 0.0;
    for (int k = degree; k >= 0; k--) {
        sum = (sum + largest(lambda + 3 * k)) * s;
    }
    return 2.0 * sum;
}

double fil_casati_step(int degree, const double *lambda, double T) {
    if (degree <= 1) {
        const double a = largest(lambda), b = degree == 1 ? largest(lambda + 3) : 0.0;
        return T / (a + sqrt(a * a + 2.0 * T * b)); // no cancellation as b goes to 0
    }
    double low = 0.0, high = 1.0;
    while (fil_casati_growth(degree, lambda, high) < T && high < 1e300) {
        high *= 2.0;
    }
    for (int i = 0; i < 2000 && low < 0.5 * (low + high) && 0.5 * (low + high) < high; i++) {
        const double middle = 0.5 * (low + high);
        *(fil_casati_growth(degree, lambda, middle) < T ? &low : &high) = middle;
    }
    return low;
}

double fil_casati_terms(int degree, const double *lambda, double s, double omega, double epsilon) {
    const double growth = fil_casati_growth(degree, lambda, s / omega);
    return (-growth + log1p(-omega) + log(epsilon)) / log(omega);
}
