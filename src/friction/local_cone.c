// local_cone.c - the boundary case of a block of any size as one scalar equation.
//
// Let the impulse cone have the ray (c, s). On its boundary, r = q (c, s d) with d a unit vector,
// the laws say, with a multiplier alpha > 0,
//     (W + alpha E) r = -b,   E = diag(0, 1, .., 1) for coulomb:  u_N = 0, u_T = -alpha r_T,
//                             E = diag(-s^2, c^2, .., c^2) for the plain cones: u orthogonal to r
//                             on the boundary of the dual,
// and h(alpha) = s r_N - c |r_T| = 0. Take-off and stick being excluded and W positive definite:
//     coulomb   h < 0 at alpha = 0, h > 0 at infinity: bisection.
//     cones     W + alpha E is singular at exactly one alpha* > 0, since E has one negative
//               eigenvalue, and r runs through infinity inside the cone there, r being in K on one
//               side of alpha* and in -K on the other. The root, unique by convexity, is below
//               alpha* if r is in K just below, else above. Neither alpha* nor the case is needed:
//               with the sign of the determinant telling the side, h < 0 below or h >= 0 above
//               raises the lower end of the bracket, the other two lower the upper end.
// Bisection is on log alpha, in turn with Newton on the d + 1 equations in (r, alpha), which ends
// with a residual of rounding size whatever the condition of W.
#include "local.h"

#include <math.h>
#include <string.h>

#include "small.h"

#define D FIL_BLOCK_MAX

typedef struct Boundary {
    const FilLocalBlock *block;
    double c, s;            // ray of the cone
    double normal, tangent; // E = diag(normal, tangent, ..)
} Boundary;

static Boundary boundary_of(const FilLocalBlock *block) {
    const double length = hypot(1.0, block->mu);
    const double one = 1.0 / length, mu = block->mu / length;
    const bool dual = block->kind == FIL_BLOCK_DUAL;
    Boundary at = {.block = block, .c = dual ? mu : one, .s = dual ? one : mu};
    const bool coulomb = block->kind == FIL_BLOCK_COULOMB;
    at.normal = coulomb ? 0.0 : -at.s * at.s;
    at.tangent = coulomb ? 1.0 : at.c * at.c;
    return at;
}

static double tangent_norm(int d, const double *r) {
    double sum = 0.0;
    for (int i = 1; i < d; i++) {
        sum += r[i] * r[i];
    }
    return sqrt(sum);
}

// M = W + alpha E with row length n >= d.
static void add_multiplier(const Boundary *at, double alpha, int n, double *M) {
    const int d = at->block->size;
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            M[n * i + j] = at->block->W[d * i + j];
        }
        M[n * i + i] += alpha * (i == 0 ? at->normal : at->tangent);
    }
}

// Newton on W r + b + alpha E r = 0, s r_N - c |r_T| = 0.
static bool polish(const Boundary *at, double alpha, double *r) {
    const FilLocalBlock *block = at->block;
    const int d = block->size, n = d + 1;
    double x[D];
    memcpy(x, r, (size_t)d * sizeof *x);
    for (int k = 0; k < 6; k++) {
        double M[FIL_SMALL_MAX * FIL_SMALL_MAX] = {0.0}, step[FIL_SMALL_MAX], u[D];
        const double t = tangent_norm(d, x);
        fil_local_velocity(block, x, u);
        add_multiplier(at, alpha, n, M);
        for (int i = 0; i < d; i++) {
            const double Er = x[i] * (i == 0 ? at->normal : at->tangent);
            M[n * i + d] = Er;
            M[n * d + i] = i == 0 ? at->s : t > 0.0 ? -at->c * x[i] / t : 0.0;
            step[i] = -(u[i] + alpha * Er);
        }
        step[d] = -(at->s * x[0] - at->c * t);
        if (!fil_small_eliminate(n, M, step)) {
            return false;
        }
        for (int i = 0; i < d; i++) {
            x[i] += step[i];
        }
        alpha += step[d];
        if (!(fabs(alpha) < 1e300)) {
            return false;
        }
        if (fil_local_error(block, x) <= 0.05 * FIL_LOCAL_TOLERANCE) {
            break;
        }
    }
    if (!(fil_local_error(block, x) <= FIL_LOCAL_TOLERANCE)) {
        return false;
    }
    memcpy(r, x, (size_t)d * sizeof *r);
    return true;
}

bool fil_local_secular(const FilLocalBlock *block, double *r) {
    const Boundary at = boundary_of(block);
    const int d = block->size;
    double low = log(1e-24), high = log(1e24), M[D * D], x[D];
    for (int k = 0; k < 120; k++) {
        const double alpha = exp(0.5 * (low + high));
        FilSmallLu lu;
        add_multiplier(&at, alpha, d, M);
        fil_small_factor(&lu, d, M, 0.0);
        fil_small_solve(&lu, block->b, x);
        for (int i = 0; i < d; i++) {
            x[i] = -x[i];
        }
        const double h = at.s * x[0] - at.c * tangent_norm(d, x);
        *((h < 0.0) == (lu.sign >= 0) ? &low : &high) = 0.5 * (low + high);
        if (k % 6 == 5 && polish(&at, alpha, x)) {
            memcpy(r, x, (size_t)d * sizeof *r);
            return true;
        }
    }
    return false;
}
