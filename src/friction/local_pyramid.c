// local_pyramid.c - one contact with a pyramid in place of the cone (comparator).
//
// The cone's section is replaced by the regular polygon with corners mu r_N d_j, j < facet_count
// (Stewart and Trinkle 1996): r_T = sum beta_j d_j, beta >= 0, sum beta <= mu r_N, and -u_T
// maximises the dissipation over the polygon. That is a linear complementarity problem of
// facet_count + 2 unknowns; its complementary bases are few and have closed forms, so they are
// tried one by one, which is exact and cannot cycle as pivoting can:
//     take-off   r = 0, u_N >= 0
//     stick      u = 0, r_T in the polygon
//     corner     r_T = mu r_N d_j, u_N = 0, -u_T d_j >= -u_T d_i for all i, >= 0
//     edge       r_T between the corners j and j + 1, u_N = 0, u_T (d_j - d_j+1) = 0, -u_T d_j >=
//     0.
#include "local.h"

#include <math.h>
#include <string.h>

#include "small.h"

#define PI 3.14159265358979323846

typedef struct Pyramid {
    const FilLocalBlock *block;
    int facet_count;
} Pyramid;

static void corner_of(const Pyramid *p, int j, double *d) {
    const double angle = 2.0 * PI * (j % p->facet_count) / p->facet_count;
    d[0] = cos(angle);
    d[1] = sin(angle);
}

// By how much (u, r) breaks the law of the pyramid, in units of impulse.
static double violation(const Pyramid *p, const double *r) {
    const FilLocalBlock *block = p->block;
    double u[3], most = 0.0, outside = 0.0;
    const double trace = block->W[0] + block->W[4] + block->W[8],
                 rho = trace > 0.0 ? 3.0 / trace : 1;
    const double apothem = block->mu * r[0] * cos(PI / p->facet_count);
    fil_local_velocity(block, r, u);
    for (int j = 0; j < p->facet_count; j++) {
        double a[2], b[2];
        corner_of(p, j, a);
        corner_of(p, j + 1, b);
        most = fmax(most, -(u[1] * a[0] + u[2] * a[1]));
        const double x = a[0] + b[0], y = a[1] + b[1], length = hypot(x, y);
        outside = fmax(outside, (r[1] * x + r[2] * y) / length - apothem);
    }
    // r_N against u_N, and the dissipation that is missing
    const double normal = fabs(r[0] - fmax(r[0] - rho * u[0], 0.0));
    const double missing = block->mu * r[0] * most + u[1] * r[1] + u[2] * r[2];
    const double size = hypot(r[0], hypot(r[1], r[2])) + rho * (fabs(u[1]) + fabs(u[2]));
    return normal + outside + (size > 0.0 ? rho * fabs(missing) / size : 0.0);
}

// Corner j, or the edge from j to j + 1.
static bool slide(const Pyramid *p, int j, bool edge, double *r) {
    const double *W = p->block->W, *b = p->block->b, mu = p->block->mu;
    double d0[2], d1[2];
    corner_of(p, j, d0);
    corner_of(p, j + 1, d1);
    if (!edge) {
        const double rn = -b[0] / (W[0] + mu * (W[1] * d0[0] + W[2] * d0[1]));
        r[0] = rn;
        r[1] = mu * rn * d0[0];
        r[2] = mu * rn * d0[1];
        return isfinite(rn) && rn > 0.0;
    }
    // r = beta0 (1/mu, d0) + beta1 (1/mu, d1), scaled by mu: r = s0 (1, mu d0) + s1 (1, mu d1)
    const double e[2] = {d0[0] - d1[0], d0[1] - d1[1]};
    const double q0[3] = {1.0, mu * d0[0], mu * d0[1]}, q1[3] = {1.0, mu * d1[0], mu * d1[1]};
    double A[4] = {0.0}, x[2] = {-b[0], -(e[0] * b[1] + e[1] * b[2])};
    for (int k = 0; k < 3; k++) {
        const double across = e[0] * W[3 + k] + e[1] * W[6 + k];
        A[0] += W[k] * q0[k];
        A[1] += W[k] * q1[k];
        A[2] += across * q0[k];
        A[3] += across * q1[k];
    }
    if (!fil_small_eliminate(2, A, x)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        r[k] = x[0] * q0[k] + x[1] * q1[k];
    }
    return isfinite(x[0]) && isfinite(x[1]) && x[0] >= 0.0 && x[1] >= 0.0;
}

static void keep_better(const Pyramid *p, const double *trial, double *best, double *least) {
    const double now = violation(p, trial);
    if (now < *least) {
        *least = now;
        memcpy(best, trial, 3 * sizeof *best);
    }
}

FilOutcome fil_local_linearised(const FilLocalBlock *block, int facet_count, double *r) {
    if (block->kind != FIL_BLOCK_COULOMB || block->size != 3) {
        return fil_local_solve(FIL_LOCAL_HYBRID, block->kind, block->size, block->W, block->b,
                               block->mu, r, NULL);
    }
    const Pyramid p = {.block = block, .facet_count = facet_count};
    double trial[3] = {0.0}, best[3] = {0.0}, least = HUGE_VAL;
    keep_better(&p, trial, best, &least);
    if (block->b[0] < 0.0) {
        FilSmallLu lu;
        fil_small_factor(&lu, 3, block->W, 0.0);
        fil_small_solve(&lu, block->b, trial);
        for (int k = 0; k < 3; k++) {
            trial[k] = -trial[k];
        }
        if (lu.rank == 3 && isfinite(trial[0] + trial[1] + trial[2])) {
            keep_better(&p, trial, best, &least);
        }
        for (int j = 0; j < 2 * facet_count; j++) {
            if (slide(&p, j / 2, j % 2 == 1, trial)) {
                keep_better(&p, trial, best, &least);
            }
        }
    }
    memcpy(r, best, sizeof best);
    const double trace = block->W[0] + block->W[4] + block->W[8];
    const double b_size = hypot(block->b[0], hypot(block->b[1], block->b[2]));
    const double scale =
        hypot(r[0], hypot(r[1], r[2])) + (trace > 0.0 ? 3.0 * b_size / trace : b_size);
    return least <= 1e-10 * scale ? FIL_CONVERGED : FIL_NO_SOLUTION;
}
