#ifndef FIL_TESTS_FRICTION_PROBLEM_H
#define FIL_TESTS_FRICTION_PROBLEM_H

// Small dense contact problems for tests: every block couples to every other.

#include "base/random.h"
#include "filum/friction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_BLOCKS = 24, DENSE_SIZE = 72 };

typedef struct Dense {
    int n, size;
    int sizes[DENSE_BLOCKS], offset[DENSE_BLOCKS + 1];
    FilBlockKind kinds[DENSE_BLOCKS];
    double mu[DENSE_BLOCKS];
    double W[DENSE_SIZE][DENSE_SIZE], b[DENSE_SIZE];
    int start[DENSE_BLOCKS + 1], column[DENSE_BLOCKS * DENSE_BLOCKS];
    double value[DENSE_SIZE * DENSE_SIZE];
    FilFrictionProblem problem;
} Dense;

static inline void dense_add(Dense *p, FilBlockKind kind, int size, double mu) {
    p->kinds[p->n] = kind;
    p->sizes[p->n] = size;
    p->mu[p->n] = mu;
    p->offset[p->n] = p->size;
    p->size += size;
    p->n++;
}

// After W and b were filled in.
static inline const FilFrictionProblem *dense_finish(Dense *p) {
    double *value = p->value;
    p->offset[p->n] = p->size;
    for (int i = 0; i < p->n; i++) {
        p->start[i + 1] = p->start[i] + p->n;
        for (int j = 0; j < p->n; j++) {
            p->column[p->start[i] + j] = j;
            for (int k = p->offset[i]; k < p->offset[i] + p->sizes[i]; k++) {
                memcpy(value, &p->W[k][p->offset[j]], (size_t)p->sizes[j] * sizeof *value);
                value += p->sizes[j];
            }
        }
    }
    p->problem = (FilFrictionProblem){.block_count = p->n,
                                      .block_sizes = p->sizes,
                                      .kinds = p->kinds,
                                      .mu = p->mu,
                                      .form = FIL_FORM_BLOCKS,
                                      .blocks = {p->start, p->column, p->value},
                                      .b = p->b};
    return &p->problem;
}

// W = sum over `rank` of a a^T / rank, a normal, plus `shift` on the diagonal.
static inline void dense_random(Dense *p, FilRandom *random, int rank, double shift) {
    double a[DENSE_SIZE];
    for (int m = 0; m < rank; m++) {
        for (int k = 0; k < p->size; k++) {
            a[k] = fil_random_normal(random);
        }
        for (int k = 0; k < p->size; k++) {
            for (int l = 0; l < p->size; l++) {
                p->W[k][l] += a[k] * a[l] / rank;
            }
        }
    }
    for (int k = 0; k < p->size; k++) {
        p->W[k][k] += shift;
        p->b[k] = fil_random_normal(random);
    }
}

// A contact of two rigid bodies (or one and the ground, b < 0) adds to the rows of H; W = H H^T
// with unit masses and inertias. At most 8 bodies.
static inline void dense_rigid(Dense *p, FilRandom *random, int bodies) {
    static double H[DENSE_SIZE][48];
    memset(H, 0, sizeof H);
    for (int i = 0; i < p->n; i++) {
        const int a = fil_random_int(random, bodies), c = fil_random_int(random, bodies + 1);
        for (int side = 0; side < 2; side++) {
            const int body = side == 0 ? a : c;
            if (body == bodies || (side == 1 && a == c)) {
                continue;
            }
            const double sign = side == 0 ? 1.0 : -1.0;
            double x[3];
            for (int k = 0; k < 3; k++) {
                x[k] = fil_random_normal(random);
                H[p->offset[i] + k][6 * body + k] = sign;
            }
            const double cross[9] = {0, x[2], -x[1], -x[2], 0, x[0], x[1], -x[0], 0};
            for (int k = 0; k < 9; k++) {
                H[p->offset[i] + k / 3][6 * body + 3 + k % 3] = sign * cross[k];
            }
        }
    }
    double v[48];
    for (int m = 0; m < 48; m++) {
        v[m] = fil_random_normal(random);
    }
    for (int k = 0; k < p->size; k++) {
        p->b[k] = 0.0;
        for (int m = 0; m < 6 * bodies; m++) {
            p->b[k] += H[k][m] * v[m];
        }
        for (int l = 0; l < p->size; l++) {
            p->W[k][l] = 0.0;
            for (int m = 0; m < 6 * bodies; m++) {
                p->W[k][l] += H[k][m] * H[l][m];
            }
        }
    }
}

#endif
