#ifndef FIL_ROD_CURVE_BOUND_H
#define FIL_ROD_CURVE_BOUND_H

// How far a power series of a frame may be taken, and how many terms it needs.

/// A degree at which the series of the frame may end at |x| <= 1: what is left out is below 2^-54
/// in norm. A number above `most` when that would take more. `norm` holds |mu_k|, k = 0 to degree.
int fil_series_degree(int degree, const double *norm, int most);

/// The same as Casati states them (2015, 4.2): C(s) = 2 sum |lambda_k| s^(k+1) with the largest
/// component as norm; the step at which C(s) = T; the terms after which the rest is below epsilon,
/// from a bound with 0 < omega < 1. For comparison: C is 2 to 3.5 times larger than need be.
double fil_casati_growth(int degree, const double *lambda, double s);
double fil_casati_step(int degree, const double *lambda, double T);
double fil_casati_terms(int degree, const double *lambda, double s, double omega, double epsilon);

#endif
