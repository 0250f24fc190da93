#include "base/random.h"
#include "check.h"
#include "math/cholesky.h"

#include <math.h>
#include <string.h>

enum { N = 60 };

// A = G G^T + I, zero beyond `band` below the diagonal when G is.
static void draw_matrix(FilRandom *random, int band, double *a) {
    static double g[N * N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            bool inside = j <= i && i - j <= band;
            g[N * i + j] = inside ? fil_random_normal(random) : 0.0;
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < N; k++) {
                sum += g[N * i + k] * g[N * j + k];
            }
            a[N * i + j] = sum;
        }
    }
}

static void solutions_satisfy_the_system_whatever_its_envelope(void) {
    FilRandom random = fil_random_make(1);
    static double a[N * N], l[N * N];
    for (int band = 0; band < N; band += 7) {
        double x[N], b[N];
        int first[N];
        draw_matrix(&random, band, a);
        memcpy(l, a, sizeof a);
        CHECK(fil_cholesky_factor(N, l, first, 0.0) == 0);
        for (int i = 0; i < N; i++) {
            b[i] = x[i] = fil_random_normal(&random);
            CHECK(i - first[i] <= band);
        }
        fil_cholesky_solve(N, l, first, x);
        for (int i = 0; i < N; i++) {
            double sum = 0.0;
            for (int j = 0; j < N; j++) {
                sum += a[N * i + j] * x[j];
            }
            CHECK_NEAR(sum, b[i], 1e-11, 1e-11);
        }
    }
}

static void the_row_of_the_first_pivot_that_is_not_positive_is_named(void) {
    FilRandom random = fil_random_make(2);
    static double a[N * N];
    int first[N];
    draw_matrix(&random, 9, a);
    a[N * 30 + 30] -= 1e4;
    CHECK(fil_cholesky_factor(N, a, first, 0.0) == 31);
    draw_matrix(&random, 9, a);
    a[N * 17 + 17] = (double)NAN;
    CHECK(fil_cholesky_factor(N, a, first, 0.0) == 18);
}

// The matrix of ones has rank 1: what is raised keeps the factor finite, and A^-1 b for b in the
// range right.
static void raised_pivots_change_what_round_off_made_alone(void) {
    FilRandom random = fil_random_make(3);
    static double a[N * N], raised[N * N];
    int first[N], raised_first[N];
    draw_matrix(&random, 9, a);
    memcpy(raised, a, sizeof a);
    CHECK(fil_cholesky_factor(N, a, first, 1e-15) == 0);
    fil_cholesky_factor_raised(N, raised, raised_first, 1e-15);
    CHECK(check_same_bits(a, raised, sizeof a));
    CHECK(check_same_bits(first, raised_first, sizeof first));

    double ones[9], x[3] = {3.0, 3.0, 3.0};
    for (int k = 0; k < 9; k++) {
        ones[k] = 1.0;
    }
    fil_cholesky_factor_raised(3, ones, first, 1e-15);
    fil_cholesky_solve(3, ones, first, x);
    CHECK_NEAR(x[0] + x[1] + x[2], 3.0, 1e-12, 0.0);
    double zero = 0.0, y = 0.0;
    fil_cholesky_factor_raised(1, &zero, first, 1e-15);
    fil_cholesky_solve(1, &zero, first, &y);
    CHECK(y == 0.0);
}

#define TESTS(X)                                                \
    X(solutions_satisfy_the_system_whatever_its_envelope)       \
    X(the_row_of_the_first_pivot_that_is_not_positive_is_named) \
    X(raised_pivots_change_what_round_off_made_alone)
CHECK_MAIN(TESTS)
