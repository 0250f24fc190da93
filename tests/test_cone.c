// The algebra of the self-dual cone that interior point methods stand on.
#include "check.h"

#include "base/random.h"
#include "friction/cone.h"

#define D FIL_BLOCK_MAX

// A point inside the cone, as near to the boundary as `depth` says.
static void draw_inside(FilRandom *random, int d, double depth, double *x) {
    double square = 0.0;
    for (int k = 1; k < d; k++) {
        x[k] = fil_random_normal(random);
        square += x[k] * x[k];
    }
    x[0] = sqrt(square) * (1.0 + depth) + (d == 1 ? 1.0 : 0.0);
}

static void scaling_maps_one_point_to_the_other(void) {
    FilRandom random = fil_random_make(1);
    for (int trial = 0; trial < 2000; trial++) {
        const int d = 1 + trial % D;
        double x[D], y[D], lambda[D], back[D], Ty[D];
        FilConeScaling T;
        draw_inside(&random, d, pow(10.0, -trial % 4), x);
        draw_inside(&random, d, pow(10.0, -trial % 3), y);
        fil_cone_scale(d, x, y, &T, lambda);
        fil_cone_apply(d, &T, y, Ty);
        fil_cone_apply(d, &T, lambda, back);
        for (int k = 0; k < d; k++) {
            CHECK_NEAR(Ty[k], lambda[k], 0.0, 1e-10 * lambda[0]);
            CHECK_NEAR(back[k], x[k], 0.0, 1e-10 * x[0]);
        }
    }
}

static void primal_scaling_sends_the_unit_to_the_point(void) {
    FilRandom random = fil_random_make(2);
    for (int d = 1; d <= D; d++) {
        const double e[D] = {1.0};
        double x[D], Te[D], TTx[D], y[D], t = 0.3;
        FilConeScaling T;
        draw_inside(&random, d, 0.2, x);
        fil_cone_scale_primal(d, x, t, &T);
        fil_cone_apply(d, &T, e, Te);
        // T^2 maps t x^-1 to x
        double det = x[0] * x[0];
        for (int k = 1; k < d; k++) {
            det -= x[k] * x[k];
        }
        for (int k = 0; k < d; k++) {
            CHECK_NEAR(Te[k], x[k] / sqrt(t), 1e-13, 1e-13);
            y[k] = (k == 0 ? t : -t) * x[k] / det;
        }
        fil_cone_apply(d, &T, y, Te);
        fil_cone_apply(d, &T, Te, TTx);
        for (int k = 0; k < d; k++) {
            CHECK_NEAR(TTx[k], x[k], 1e-11, 1e-11);
        }
    }
}

static void division_undoes_the_product(void) {
    FilRandom random = fil_random_make(3);
    for (int trial = 0; trial < 600; trial++) {
        const int d = 1 + trial % D;
        double a[D], z[D], c[D], got[D];
        draw_inside(&random, d, 0.1, a);
        for (int k = 0; k < d; k++) {
            z[k] = fil_random_normal(&random);
        }
        fil_cone_product(d, a, z, c);
        fil_cone_divide(d, a, c, got);
        for (int k = 0; k < d; k++) {
            CHECK_NEAR(got[k], z[k], 1e-11, 1e-11);
        }
    }
}

static void step_ends_on_the_boundary(void) {
    FilRandom random = fil_random_make(4);
    int finite = 0;
    for (int trial = 0; trial < 3000; trial++) {
        const int d = 1 + trial % D;
        double a[D], b[D], end[D];
        draw_inside(&random, d, pow(10.0, -trial % 9), a);
        for (int k = 0; k < d; k++) {
            b[k] = fil_random_normal(&random);
        }
        const double step = fil_cone_step(d, a, b), far = isinf(step) ? 1e6 : step;
        for (int k = 0; k < d; k++) {
            end[k] = a[k] + far * b[k];
        }
        finite += isfinite(step);
        CHECK(step > 0.0);
        if (isinf(step)) {
            CHECK(fil_cone_depth(d, end) > 0.0);
        } else {
            CHECK_NEAR(fil_cone_depth(d, end), 0.0, 0.0, 1e-9 * (fabs(a[0]) + far));
        }
    }
    CHECK(finite > 1500);
}

static void step_knows_the_special_directions(void) {
    const double a[3] = {2, 1, 0}, inward[3] = {1, 0.5, 0}, edge[3] = {1, 1, 0},
                 none[3] = {0, 0, 0}, down[3] = {-1, 0, 0}, apex[3] = {-2, -1, 0};
    CHECK(isinf(fil_cone_step(3, a, inward)));
    CHECK(isinf(fil_cone_step(3, a, edge)));
    CHECK(isinf(fil_cone_step(3, a, none)));
    CHECK_NEAR(fil_cone_step(3, a, down), 1.0, 1e-15, 0.0);
    CHECK_NEAR(fil_cone_step(3, a, apex), 1.0, 1e-7, 0.0);
}

#define TESTS(X)                                  \
    X(scaling_maps_one_point_to_the_other)        \
    X(primal_scaling_sends_the_unit_to_the_point) \
    X(division_undoes_the_product)                \
    X(step_ends_on_the_boundary)                  \
    X(step_knows_the_special_directions)

CHECK_MAIN(TESTS)
