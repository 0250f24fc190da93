#ifndef FIL_MATH_ARNOLDI_H
#define FIL_MATH_ARNOLDI_H

// Eigenvalues at the outside of the spectrum of a linear operator, symmetric or not: Arnoldi's
// method. See arnoldi.c.

#include <stdbool.h>

/// y = T x, and y = G x with G symmetric and positive definite: the measure <x, y> = x^T G y in
/// which the basis is orthonormal. Both on `n` numbers; they may use `user` as scratch.
typedef struct FilOperator {
    int n;
    void *user;
    void (*apply)(void *user, const double *x, double *y);
    void (*measure)(void *user, const double *x, double *y);
} FilOperator;

/// How many doubles fil_arnoldi_leftmost() needs for `room` basis vectors of `n` numbers.
#define FIL_ARNOLDI_WORK(n, room) \
    ((size_t)(n) * ((size_t)(room) + 3) + 4 * ((size_t)(room) + 2) * ((size_t)(room) + 2))

typedef struct FilLeftmost {
    double real, imaginary; // of the eigenvalue, imaginary >= 0
    bool found;             // false: T is zero where it was looked at
    bool converged;         // more basis vectors would change it by less than the tolerance
} FilLeftmost;

/// The eigenvalue of T with the smallest real part; where it is real, `vector` [n] receives its
/// eigenvector, of length 1 in the measure. `vector` holds the vector to start from. At most `room`
/// basis vectors are made.
FilLeftmost fil_arnoldi_leftmost(const FilOperator *T, int room, double tolerance, double *vector,
                                 double *work);

/// Eigenvalues of the upper Hessenberg matrix `a` (order x order, row-major: real part and
/// imaginary part in turn), which is destroyed. False when they were not found.
bool fil_hessenberg_values(int order, double *a, double *values);

#endif
