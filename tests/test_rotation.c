#include "base/random.h"
#include "check.h"
#include "math/rotation.h"
#include "math/vec3.h"

#include <float.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static void draw_vector(FilRandom *random, double size, double a[3]) {
    for (int k = 0; k < 3; k++) {
        a[k] = fil_random_normal(random);
    }
    double scale = size / fil_norm3(a);
    for (int k = 0; k < 3; k++) {
        a[k] *= scale;
    }
}

static double off_orthonormal(const double R[9]) {
    double worst = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            worst = fmax(worst, fabs(fil_dot3(R + 3 * i, R + 3 * j) - (i == j ? 1.0 : 0.0)));
        }
    }
    return worst;
}

static void the_exponential_of_any_vector_is_a_rotation_about_it(void) {
    FilRandom random = fil_random_make(1);
    for (int k = 0; k < 2000; k++) {
        double a[3], R[9], turned[3];
        draw_vector(&random, pow(10.0, fil_random_uniform(&random, -20.0, 3.0)), a);
        fil_rotation_exp(a, R);
        CHECK(off_orthonormal(R) <= 4.0 * DBL_EPSILON * fmax(1.0, fil_norm3(a)));
        fil_apply3(R, a, turned);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(turned[i], a[i], 0.0, 1e-13 * fil_norm3(a));
        }
        CHECK_NEAR(R[0] + R[4] + R[8], 1.0 + 2.0 * cos(fil_norm3(a)), 0.0, 1e-12);
    }
}

static void the_logarithm_is_the_inverse_up_to_half_turns(void) {
    FilRandom random = fil_random_make(2);
    const double angles[] = {1e-300, 1e-20, 1e-9, 1e-8, 1e-4, 1.0, 3.0, pi - 1e-6, pi - 1e-9, pi};
    for (int k = 0; k < 10; k++) {
        for (int trial = 0; trial < 100; trial++) {
            double a[3], b[3], R[9];
            draw_vector(&random, angles[k], a);
            fil_rotation_exp(a, R);
            fil_rotation_log(R, b);
            // at a half turn both signs are right
            double sign = angles[k] > 3.1 && fil_dot3(a, b) < 0.0 ? -1.0 : 1.0;
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(sign * b[i], a[i], 0.0, 4e-15 * angles[k]);
            }
        }
    }
}

static void quaternions_and_matrices_multiply_alike(void) {
    FilRandom random = fil_random_make(3);
    for (int k = 0; k < 500; k++) {
        double a[3], b[3], A[9], B[9], AB[9], p[4], q[4], pq[4], back[9];
        draw_vector(&random, fil_random_uniform(&random, 0.0, 6.0), a);
        draw_vector(&random, fil_random_uniform(&random, 0.0, 6.0), b);
        fil_rotation_exp(a, A);
        fil_rotation_exp(b, B);
        fil_multiply3(A, B, AB);
        fil_rotation_to_quaternion(A, p);
        fil_rotation_to_quaternion(B, q);
        fil_quaternion_multiply(p, q, pq);
        fil_rotation_from_quaternion(pq, back);
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR(back[i], AB[i], 0.0, 4e-15);
        }
    }
}

static void the_smallest_turn_between_two_directions_takes_one_to_the_other(void) {
    FilRandom random = fil_random_make(4);
    for (int k = 0; k < 1000; k++) {
        double a[3], b[3], R[9], turned[3];
        draw_vector(&random, 1.0, a);
        draw_vector(&random, 1.0, b);
        if (k % 3 == 1) { // nearly opposite, and exactly
            double size = pow(10.0, fil_random_uniform(&random, -18.0, -3.0));
            for (int i = 0; i < 3; i++) {
                b[i] = -a[i] + size * b[i];
            }
            double norm = fil_norm3(b);
            for (int i = 0; i < 3; i++) {
                b[i] /= norm;
            }
        }
        fil_rotation_between(a, b, R);
        fil_apply3(R, a, turned);
        CHECK(off_orthonormal(R) < 1e-14);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(turned[i], b[i], 0.0, 1e-11);
        }
        CHECK_NEAR(R[0] + R[4] + R[8], 1.0 + 2.0 * fil_dot3(a, b), 0.0, 1e-11);
    }
}

static void polishing_squares_the_error(void) {
    double a[3] = {0.3, -1.0, 2.0}, R[9];
    fil_rotation_exp(a, R);
    R[0] += 1e-6;
    R[5] -= 2e-6;
    fil_rotation_polish(R);
    CHECK(off_orthonormal(R) < 1e-10);
    fil_rotation_polish(R);
    CHECK(off_orthonormal(R) < 1e-15);
}

#define TESTS(X)                                                       \
    X(the_exponential_of_any_vector_is_a_rotation_about_it)            \
    X(the_logarithm_is_the_inverse_up_to_half_turns)                   \
    X(quaternions_and_matrices_multiply_alike)                         \
    X(the_smallest_turn_between_two_directions_takes_one_to_the_other) \
    X(polishing_squares_the_error)
CHECK_MAIN(TESTS)
