#ifndef FIL_MATH_CHOLESKY_H
#define FIL_MATH_CHOLESKY_H

// Cholesky factorisation of a dense symmetric matrix whose rows may start with zeros: the zeros in
// front of a row (its envelope) cost nothing, so a band matrix in dense storage is cheap.

/// Factor the lower triangle of the n x n row-major matrix `a` in place into L L^T. `first` [n]
/// receives where each row of L starts. Returns 0, or 1 + the row whose pivot was not above
/// `floor` times the matrix's diagonal there.
int fil_cholesky_factor(int n, double *a, int *first, double floor);

/// The same where round-off alone can bring a pivot to `floor` times the diagonal or below: it is
/// raised to that, and the factor always comes about.
void fil_cholesky_factor_raised(int n, double *a, int *first, double floor);

/// x <- L^-1 x, x <- L^-T x.
void fil_cholesky_lower(int n, const double *l, const int *first, double *x);
void fil_cholesky_upper(int n, const double *l, const int *first, double *x);

/// x <- (L L^T)^-1 x.
void fil_cholesky_solve(int n, const double *l, const int *first, double *x);

#endif
