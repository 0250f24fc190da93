#ifndef FIL_FRICTION_CONE_H
#define FIL_FRICTION_CONE_H

// Algebra of the self-dual cone K_1 = { x : |x_T| <= x_N } of size d, 1 to FIL_PART_MAX, as
// interior point methods use it; d = 1 is the half-line. Nothing allocates.
//
// With J = diag(1, -1, ..): x o y = (x.y, x_N y_T + y_N x_T), e = (1, 0, ..), det x = x.J x.

#include "filum/friction.h"

/// Largest size of a part: a ball has one more component than its block.
#define FIL_PART_MAX (FIL_BLOCK_MAX + 1)

/// The automorphism T = root (2 v v^T - J) of the cone; T^2 = root^2 (2 w w^T - J).
typedef struct FilConeScaling {
    double root;
    double v[FIL_PART_MAX], w[FIL_PART_MAX]; // det v = det w = 1
} FilConeScaling;

/// x_N - |x_T|, positive inside the cone.
double fil_cone_depth(int d, const double *x);

/// Nesterov and Todd's scaling of two points inside the cone: T y = T^-1 x = lambda.
void fil_cone_scale(int d, const double *x, const double *y, FilConeScaling *T, double *lambda);

/// The scaling by one point: T e = x / sqrt(t).
void fil_cone_scale_primal(int d, const double *x, double t, FilConeScaling *T);

/// out = T a; out may not be a.
void fil_cone_apply(int d, const FilConeScaling *T, const double *a, double *out);

/// out = a o b; out may not be an argument.
void fil_cone_product(int d, const double *a, const double *b, double *out);

/// The z with a o z = c, a inside the cone; z may be c.
void fil_cone_divide(int d, const double *a, const double *c, double *z);

/// The largest t >= 0 with a + t b in the cone, a inside it; infinite where there is none.
double fil_cone_step(int d, const double *a, const double *b);

#endif
