#ifndef FIL_ROD_CURVE_POLYNOMIAL_H
#define FIL_ROD_CURVE_POLYNOMIAL_H

// Three polynomials of the same degree, the curvatures: from powers to Chebyshev's basis, and from
// there to powers about any place. Coefficients lie in rows of four:
// twist, kappa1, kappa2 and a zero.

#include "filum/curve.h"

enum { FIL_CURVE_ROWS = FIL_CURVE_DEGREE_MAX + 1 };

/// Coefficients of T_k(2 s / length - 1) from those of s^k, correctly rounded as long as their
/// cancellation costs less than 16 digits. Returns the largest sum of |coefficient| length^k of
/// the three.
double fil_curve_to_chebyshev(int degree, double length, const double *powers,
                              double chebyshev[][4]);

/// Coefficients of (x - centre)^k from those of T_k(x), centre in [-1, 1].
void fil_curve_expand(int degree, const double *chebyshev, double centre, double local[][4]);

#endif
