#include "base/random.h"
#include "check.h"
#include "math/quartic.h"

// Coefficients of a4 (x - root0) (x - root1) ...
static void expand(int n, const double *root, double lead, double *a) {
    for (int i = 0; i <= 4; i++) {
        a[i] = 0.0;
    }
    a[0] = lead;
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i > 0; i--) {
            a[i] = a[i - 1] - root[k] * a[i];
        }
        a[0] *= -root[k];
    }
}

static void four_separate_roots_are_found_to_rounding(void) {
    const double want[4] = {-2.0, -0.5, 0.25, 3.0};
    double a[5], root[4];
    expand(4, want, 7.0, a);
    CHECK(fil_quartic_roots(a, root) == 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(root[i], want[i], 1e-14, 0.0);
    }
}

static void a_polynomial_without_real_roots_has_none(void) {
    const double a[5] = {1.0, 0.0, 0.0, 0.0, 1.0}, b[5] = {2.0, -2.0, 3.0, -2.0, 1.0};
    const double zero[5] = {0.0}, constant[5] = {3.0};
    double root[4];
    CHECK(fil_quartic_roots(a, root) == 0);
    CHECK(fil_quartic_roots(b, root) == 0);
    CHECK(fil_quartic_roots(zero, root) == 0);
    CHECK(fil_quartic_roots(constant, root) == 0);
}

static void leading_zeros_lower_the_degree(void) {
    const double cubic[5] = {-6.0, 11.0, -6.0, 1.0, 0.0}, square[5] = {-2.0, 0.0, 1.0};
    const double line[5] = {3.0, -4.0};
    double root[4];
    CHECK(fil_quartic_roots(cubic, root) == 3);
    CHECK_NEAR(root[0], 1.0, 1e-14, 0.0);
    CHECK_NEAR(root[2], 3.0, 1e-14, 0.0);
    CHECK(fil_quartic_roots(square, root) == 2);
    CHECK_NEAR(root[1], sqrt(2.0), 1e-15, 0.0);
    CHECK(fil_quartic_roots(line, root) == 1);
    CHECK_NEAR(root[0], 0.75, 1e-15, 0.0);
}

// A root of multiplicity m moves by eps^(1/m) when the coefficients are rounded: no method gets
// more from them.
static void multiple_roots_are_found_once_to_what_the_coefficients_hold(void) {
    const double twice[4] = {0.5, 0.5, 2.0, 3.0}, triple[4] = {-0.25, 0.75, 0.75, 0.75};
    const double four[4] = {0.5, 0.5, 0.5, 0.5}, pairs[4] = {-3.0, -3.0, 0.125, 0.125};
    double a[5], root[4];
    expand(4, twice, 1.0, a);
    CHECK(fil_quartic_roots(a, root) == 3);
    CHECK_NEAR(root[0], 0.5, 0.0, 1e-7);
    CHECK_NEAR(root[2], 3.0, 1e-13, 0.0);
    expand(4, triple, 1.0, a);
    CHECK(fil_quartic_roots(a, root) >= 2);
    CHECK_NEAR(root[0], -0.25, 1e-13, 0.0);
    CHECK_NEAR(root[1], 0.75, 0.0, 1e-4);
    expand(4, four, 1.0, a);
    CHECK(fil_quartic_roots(a, root) >= 1);
    CHECK_NEAR(root[0], 0.5, 0.0, 1e-3);
    expand(4, pairs, 2.0, a);
    const int count = fil_quartic_roots(a, root);
    CHECK(count >= 2);
    CHECK_NEAR(root[0], -3.0, 0.0, 1e-6);
    CHECK_NEAR(root[count - 1], 0.125, 0.0, 1e-7);
}

static void clustered_roots_are_told_apart(void) {
    for (double gap = 1e-1; gap > 1e-6; gap *= 0.1) {
        const double want[4] = {0.5, 0.5 + gap, 2.0, 2.0 + gap};
        double a[5], root[4];
        expand(4, want, 1.0, a);
        CHECK(fil_quartic_roots(a, root) == 4);
        CHECK_NEAR(root[1] - root[0], gap, 1e-1, 1e-12 / gap);
        CHECK_NEAR(root[3] - root[2], gap, 1e-1, 1e-11 / gap);
    }
}

static void roots_of_any_size_are_found_to_relative_accuracy(void) {
    const double want[4] = {-1e12, -1e-9, 1e-3, 1e6};
    double a[5], root[4];
    expand(4, want, 1.0, a);
    CHECK(fil_quartic_roots(a, root) == 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(root[i], want[i], 1e-13, 0.0);
    }
}

static void roots_at_plus_and_minus_one_are_found_once(void) {
    const double want[4] = {-1.0, 1.0, 1.0, 4.0}, far[4] = {-1.0, 0.0, 1.0, 2.0};
    double a[5], root[4];
    expand(4, want, 1.0, a);
    CHECK(fil_quartic_roots(a, root) == 3);
    expand(4, far, 1.0, a);
    CHECK(fil_quartic_roots(a, root) == 4);
    CHECK_NEAR(root[0], -1.0, 1e-14, 0.0);
    CHECK_NEAR(root[1], 0.0, 0.0, 1e-300);
    CHECK_NEAR(root[3], 2.0, 1e-14, 0.0);
}

static void random_quartics_have_the_roots_they_were_made_of(void) {
    FilRandom random = fil_random_make(3);
    for (int k = 0; k < 20000; k++) {
        double want[4], a[5], root[4];
        want[0] = fil_random_uniform(&random, -5.0, 0.0);
        for (int i = 1; i < 4; i++) {
            want[i] = want[i - 1] + 0.05 + fil_random_uniform(&random, 0.0, 2.0);
        }
        expand(4, want, fil_random_uniform(&random, 0.5, 2.0), a);
        const int count = fil_quartic_roots(a, root);
        CHECK(count == 4);
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(root[i], want[i], 0.0, 1e-9);
        }
        // two real roots times a positive quadratic
        const double p = fil_random_uniform(&random, -1.0, 1.0), q = p * p + 0.1;
        double pair[5];
        expand(2, want, 1.0, pair);
        for (int i = 4; i >= 0; i--) {
            a[i] =
                q * pair[i] + (i > 0 ? 2.0 * p * pair[i - 1] : 0.0) + (i > 1 ? pair[i - 2] : 0.0);
        }
        CHECK(fil_quartic_roots(a, root) == 2);
        CHECK_NEAR(root[0], want[0], 0.0, 1e-9);
        CHECK_NEAR(root[1], want[1], 0.0, 1e-9);
    }
}

#define TESTS(X)                                                   \
    X(four_separate_roots_are_found_to_rounding)                   \
    X(a_polynomial_without_real_roots_has_none)                    \
    X(leading_zeros_lower_the_degree)                              \
    X(multiple_roots_are_found_once_to_what_the_coefficients_hold) \
    X(clustered_roots_are_told_apart)                              \
    X(roots_of_any_size_are_found_to_relative_accuracy)            \
    X(roots_at_plus_and_minus_one_are_found_once)                  \
    X(random_quartics_have_the_roots_they_were_made_of)

CHECK_MAIN(TESTS)
