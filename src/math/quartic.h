#ifndef FIL_MATH_QUARTIC_H
#define FIL_MATH_QUARTIC_H

/// Real roots of a[0] + a[1] x + ... + a[4] x^4, ascending, each once whatever its multiplicity; a
/// pair that is complex by no more than rounding errors of the coefficients counts as a real double
/// root. Leading coefficients may be zero; the zero polynomial has no roots. Returns their number.
/// Coefficients must be finite; scale them so that their products are.
int fil_quartic_roots(const double a[5], double root[4]);

#endif
