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

#define TESTS(X)                                          \
    X(solutions_satisfy_the_system_whatever_its_envelope) \
    X(the_row_of_the_first_pivot_that_is_not_positive_is_named)
CHECK_MAIN(TESTS)
