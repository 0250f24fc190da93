// generate_local.c - random one-block problems with known properties.
//
// One block: W = Q diag(l) Q^T. Q is the product of d - 1 Householder reflections along normal
// vectors of dimension d, d - 1, ..., 2, which makes it uniform over the orthogonal group
// (Stewart 1980). The extreme eigenvalues are condition^(+1/2) and condition^(-1/2), the others
// log-uniform between them. A third of the b is drawn as b = -W r for an r in a cone
// that is near the usual ones, since with b alone drawn at random an ill-conditioned W almost never
// sticks.
#include "generate.h"

#include <math.h>

#define D FIL_BLOCK_MAX

// W <- H W H with the reflection H along a normal vector in the components first .. d - 1.
static void reflect(FilRandom *random, int d, int first, double *W) {
    double v[D] = {0.0}, square = 0.0;
    for (int i = first; i < d; i++) {
        v[i] = fil_random_normal(random);
        square += v[i] * v[i];
    }
    if (square == 0.0) {
        return;
    }
    double p[D], vp = 0.0; // p = W v, vp = v.p
    for (int i = 0; i < d; i++) {
        p[i] = 0.0;
        for (int j = 0; j < d; j++) {
            p[i] += W[d * i + j] * v[j];
        }
        vp += v[i] * p[i];
    }
    const double f = 2.0 / square;
    for (int i = 0; i < d; i++) {
        for (int j = 0; j <= i; j++) {
            const double change = f * (v[i] * p[j] + p[i] * v[j]) - f * f * vp * v[i] * v[j];
            W[d * i + j] -= change;
            W[d * j + i] = W[d * i + j];
        }
    }
}

void fil_generate_local(FilRandom *random, int d, double condition, double *W, double *b) {
    const double half = 0.5 * log(condition);
    for (int i = 0; i < d * d; i++) {
        W[i] = 0.0;
    }
    for (int i = 0; i < d; i++) {
        const double between = fil_random_uniform(random, -half, half);
        W[d * i + i] = exp(i == 0 ? half : i == d - 1 ? -half : between);
    }
    for (int first = d - 2; first >= 0; first--) {
        reflect(random, d, first, W);
    }
    const bool near_stick = fil_random_int(random, 3) == 0;
    double r[D] = {0.0};
    if (near_stick) {
        const double limit = fil_random_uniform(random, 0.0, 1.5);
        r[0] = fabs(fil_random_normal(random));
        for (int i = 1; i < d; i++) {
            r[i] = r[0] * fil_random_uniform(random, -limit, limit);
        }
    }
    for (int i = 0; i < d; i++) {
        b[i] = near_stick ? 0.0 : fil_random_normal(random);
        for (int j = 0; j < d; j++) {
            b[i] -= W[d * i + j] * r[j];
        }
    }
}
