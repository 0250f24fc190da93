// validate_kirchhoff.c - the shape of a heavy rod by Kirchhoff's equations, with none of the code
// that it is to check.
//
// Length 1, EI1 = EI2 = 1, GJ = 2/3, clamped at the origin along x, the tip free, weight w per
// length along -z, natural curvature kn. With the axes n0 = r', n1, n2 of the section and the
// moment m in them,
//     kappa = kn + K^-1 m,    n_k' = (R [kappa]x)_k,    m' = -kappa x m - e0 x R^T F,
// where F = -w (1 - s) e_z is what hangs beyond s. These are integrated from the root by RK4 (4000
// steps: error below 1e-11), and m(0) is found by Newton's method with differences from m(1) = 0,
// while the weight grows in ten parts.
#include "validate.h"

#include <math.h>
#include <string.h>

enum { PLACE = 0, AXES = 3, MOMENT = 12, SIZE = 15, PARTS = 10 };

typedef struct Heavy {
    double weight;
    const double *natural;
} Heavy;

static void differentiate(const Heavy *h, double s, const double y[SIZE], double out[SIZE]) {
    static const double stiffness[3] = {2.0 / 3.0, 1.0, 1.0};
    const double *n = y + AXES, *m = y + MOMENT, force = -h->weight * (1.0 - s);
    double k[3];
    for (int i = 0; i < 3; i++) {
        k[i] = h->natural[i] + m[i] / stiffness[i];
    }
    for (int i = 0; i < 3; i++) {
        out[PLACE + i] = n[i];
        out[AXES + i] = k[2] * n[3 + i] - k[1] * n[6 + i];
        out[AXES + 3 + i] = k[0] * n[6 + i] - k[2] * n[i];
        out[AXES + 6 + i] = k[1] * n[i] - k[0] * n[3 + i];
    }
    out[MOMENT] = k[2] * m[1] - k[1] * m[2];
    out[MOMENT + 1] = k[0] * m[2] - k[2] * m[0] + force * n[8];
    out[MOMENT + 2] = k[1] * m[0] - k[0] * m[1] - force * n[5];
}

static void step_rk4(const Heavy *h, double s, double step, double y[SIZE]) {
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double k[SIZE] = {0.0}, sum[SIZE] = {0.0}, at[SIZE];
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < SIZE; i++) {
            at[i] = y[i] + part[stage] * step * k[i];
        }
        differentiate(h, s + part[stage] * step, at, k);
        for (int i = 0; i < SIZE; i++) {
            sum[i] += weight[stage] * k[i];
        }
    }
    for (int i = 0; i < SIZE; i++) {
        y[i] += step / 6.0 * sum[i];
    }
}

// Integrate from the moment m(0) with count * fine steps; `off` is m(1), `point` may be NULL.
static void shoot(const Heavy *h, const double moment[3], int count, int fine, double (*point)[3],
                  double off[3]) {
    double y[SIZE] = {[AXES] = 1.0, [AXES + 4] = 1.0, [AXES + 8] = 1.0};
    memcpy(y + MOMENT, moment, 3 * sizeof(double));
    const int steps = count * fine;
    for (int i = 0; i <= steps; i++) {
        if (point != NULL && i % fine == 0) {
            memcpy(point[i / fine], y + PLACE, 3 * sizeof(double));
        }
        if (i < steps) {
            step_rk4(h, (double)i / steps, 1.0 / steps, y);
        }
    }
    memcpy(off, y + MOMENT, 3 * sizeof(double));
}

// Cramer's rule for the columns a, b, c.
static void solve3(const double a[3], const double b[3], const double c[3], const double right[3],
                   double x[3]) {
    const double *columns[3] = {a, b, c};
    double det[4];
    for (int k = 0; k < 4; k++) {
        const double *p = k == 1 ? right : columns[0], *q = k == 2 ? right : columns[1],
                     *r = k == 3 ? right : columns[2];
        det[k] = p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
                 p[2] * (q[0] * r[1] - q[1] * r[0]);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = det[k + 1] / det[0];
    }
}

// m(0) for which m(1) = 0.
static bool find_moment(const Heavy *h, int count, int fine, double moment[3]) {
    const double small = 1e-6;
    for (int round = 0; round < 30; round++) {
        double off[3], column[3][3], change[3];
        shoot(h, moment, count, fine, NULL, off);
        if (fmax(fabs(off[0]), fmax(fabs(off[1]), fabs(off[2]))) < 1e-12) {
            return true;
        }
        for (int j = 0; j < 3; j++) {
            double near[3] = {moment[0], moment[1], moment[2]};
            near[j] += small;
            shoot(h, near, count, fine, NULL, column[j]);
            for (int i = 0; i < 3; i++) {
                column[j][i] = (column[j][i] - off[i]) / small;
            }
        }
        solve3(column[0], column[1], column[2], off, change);
        for (int j = 0; j < 3; j++) {
            moment[j] -= change[j];
        }
    }
    return false;
}

bool validate_kirchhoff(double weight, const double natural[3], int count, double (*point)[3]) {
    Heavy heavy = {.natural = natural};
    const int fine = 4000 / count;
    double moment[3] = {0.0}, off[3];
    bool found = true;
    for (int part = 1; part <= PARTS && found; part++) {
        heavy.weight = weight * part / PARTS;
        found = find_moment(&heavy, count, part < PARTS ? fine / 8 : fine, moment);
    }
    if (found) {
        shoot(&heavy, moment, count, fine, point, off);
    }
    return found;
}
