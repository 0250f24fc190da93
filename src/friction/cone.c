// cone.c - the self-dual cone: Jordan product, Nesterov-Todd scaling, steps to the boundary.
//
// The two spectral values of x are x_N - |x_T| and x_N + |x_T|; det x is taken as their product,
// never as x_N^2 - |x_T|^2, which loses twice the digits near the boundary, where solutions are. A
// small spectral value is kept above a few units of round-off, so that scalings stay finite.
//
// The scaled point lambda comes by the formula of Andersen, Dahl and Vandenberghe (2003), without
// the product T y, whose terms are as large as the square root of the condition of T:
//     lambda = (det x det y)^(1/4) (g, ((g + y_N) x_T + (g + x_N) y_T) / (x_N + y_N + 2 g)),
//     x, y divided by the roots of their determinants, g^2 = (1 + x.y) / 2.
#include "cone.h"

#include <float.h>
#include <math.h>

static double dot(int d, const double *a, const double *b) {
    double sum = 0.0;
    for (int k = 0; k < d; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

double fil_cone_depth(int d, const double *x) {
    return x[0] - sqrt(dot(d - 1, x + 1, x + 1));
}

static double root_of_det(int d, const double *x) {
    if (d == 1) {
        return x[0];
    }
    const double t = sqrt(dot(d - 1, x + 1, x + 1));
    return sqrt(fmax(x[0] - t, 2.0 * DBL_EPSILON * x[0])) * sqrt(x[0] + t);
}

// v = w^(1/2) for det w = 1.
static void take_root(int d, FilConeScaling *T) {
    const double over = 1.0 / sqrt(2.0 * (T->w[0] + 1.0));
    for (int k = 0; k < d; k++) {
        T->v[k] = (T->w[k] + (k == 0 ? 1.0 : 0.0)) * over;
    }
}

void fil_cone_scale(int d, const double *x, const double *y, FilConeScaling *T, double *lambda) {
    const double dx = root_of_det(d, x), dy = root_of_det(d, y);
    // x.y >= sqrt(det x det y) inside the cone; round-off may say otherwise
    const double g = sqrt(0.5 * (1.0 + fmax(1.0, dot(d, x, y) / dx / dy)));
    const double x0 = x[0] / dx, y0 = y[0] / dy, size = sqrt(dx) * sqrt(dy);
    T->root = sqrt(dx / dy);
    T->w[0] = 0.5 * (x0 + y0) / g;
    lambda[0] = size * g;
    for (int k = 1; k < d; k++) {
        T->w[k] = 0.5 * (x[k] / dx - y[k] / dy) / g;
        lambda[k] = size * ((g + y0) * (x[k] / dx) + (g + x0) * (y[k] / dy)) / (x0 + y0 + 2.0 * g);
    }
    take_root(d, T);
}

void fil_cone_scale_primal(int d, const double *x, double t, FilConeScaling *T) {
    const double dx = root_of_det(d, x);
    T->root = dx / sqrt(t);
    for (int k = 0; k < d; k++) {
        T->w[k] = x[k] / dx;
    }
    take_root(d, T);
}

void fil_cone_apply(int d, const FilConeScaling *T, const double *a, double *out) {
    const double along = 2.0 * dot(d, T->v, a);
    out[0] = T->root * (along * T->v[0] - a[0]);
    for (int k = 1; k < d; k++) {
        out[k] = T->root * (along * T->v[k] + a[k]);
    }
}

void fil_cone_product(int d, const double *a, const double *b, double *out) {
    out[0] = dot(d, a, b);
    for (int k = 1; k < d; k++) {
        out[k] = a[0] * b[k] + b[0] * a[k];
    }
}

void fil_cone_divide(int d, const double *a, const double *c, double *z) {
    const double t = sqrt(dot(d - 1, a + 1, a + 1));
    const double det = fmax(a[0] - t, 2.0 * DBL_EPSILON * a[0]) * (a[0] + t);
    const double head = (a[0] * c[0] - dot(d - 1, a + 1, c + 1)) / det;
    for (int k = 1; k < d; k++) {
        z[k] = (c[k] - head * a[k]) / a[0];
    }
    z[0] = head;
}

// det(a + t b) = A t^2 + 2 B t + C has its first positive root where a + t b leaves the cone.
double fil_cone_step(int d, const double *a, const double *b) {
    if (d == 1) {
        return b[0] < 0.0 ? -a[0] / b[0] : INFINITY;
    }
    const double at = sqrt(dot(d - 1, a + 1, a + 1)), bt = sqrt(dot(d - 1, b + 1, b + 1));
    const double A = (b[0] - bt) * (b[0] + bt), C = (a[0] - at) * (a[0] + at);
    const double B = a[0] * b[0] - dot(d - 1, a + 1, b + 1);
    const double square = B * B - A * C;
    if (square < 0.0 || (A >= 0.0 && B >= 0.0)) {
        return INFINITY;
    }
    return B < 0.0 ? C / (sqrt(square) - B) : -(B + sqrt(square)) / A;
}
