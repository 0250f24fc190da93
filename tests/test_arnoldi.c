// Eigenvalues at the outside of a spectrum.
#include "check.h"
#include "math/arnoldi.h"

#include <string.h>

enum { N = 40 };

typedef struct Matrix {
    double a[N][N];
} Matrix;

static void apply(void *user, const double *x, double *y) {
    const Matrix *m = user;
    for (int i = 0; i < N; i++) {
        y[i] = 0.0;
        for (int j = 0; j < N; j++) {
            y[i] += m->a[i][j] * x[j];
        }
    }
}

static void measure(void *user, const double *x, double *y) {
    (void)user;
    memcpy(y, x, N * sizeof *y);
}

// A matrix of known eigenvalues, sheared: 1 / (k + 1), and two of its own.
static Matrix make(double real, double imaginary) {
    Matrix m = {{{0.0}}};
    for (int i = 0; i < N; i++) {
        m.a[i][i] = i < 2 ? real : 1.0 / (i + 1.0);
    }
    m.a[0][1] = imaginary;
    m.a[1][0] = -imaginary;
    for (int k = 0; k < 3 * N; k++) {
        int i = (7 * k + 3) % N, j = (11 * k + 5) % N;
        for (int c = 0; c < N && i != j; c++) {
            m.a[i][c] += 0.3 * m.a[j][c];
        }
        for (int c = 0; c < N && i != j; c++) {
            m.a[c][j] -= 0.3 * m.a[c][i];
        }
    }
    return m;
}

static FilLeftmost find(Matrix *m, double *vector) {
    static double work[FIL_ARNOLDI_WORK(N, N)];
    for (size_t k = 0; k < FIL_ARNOLDI_WORK(N, N); k++) {
        work[k] = k % 2 == 0 ? (double)NAN : 1e300; // what memory held before is of no concern
    }
    FilOperator T = {.n = N, .user = m, .apply = apply, .measure = measure};
    for (int i = 0; i < N; i++) {
        vector[i] = sin(1.0 + i);
    }
    return fil_arnoldi_leftmost(&T, N, 1e-10, vector, work);
}

static void the_leftmost_eigenvalue_is_found_with_its_vector(void) {
    double x[N], y[N];
    Matrix m = make(-0.7, 0.0);
    FilLeftmost left = find(&m, x);
    CHECK(left.found && left.converged && left.imaginary == 0.0);
    CHECK_NEAR(left.real, -0.7, 1e-8, 0.0);
    apply(&m, x, y);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(y[i], -0.7 * x[i], 0.0, 1e-6);
    }
}

static void a_pair_of_complex_eigenvalues_is_found(void) {
    double x[N];
    Matrix m = make(-0.5, 2.0);
    FilLeftmost left = find(&m, x);
    CHECK(left.found && left.converged);
    CHECK_NEAR(left.real, -0.5, 1e-7, 0.0);
    CHECK_NEAR(left.imaginary, 2.0, 1e-7, 0.0);
}

static void nothing_is_found_where_there_is_nothing(void) {
    double x[N];
    Matrix m = {{{0.0}}};
    FilLeftmost left = find(&m, x);
    CHECK(isfinite(left.real) && left.real == 0.0 && left.imaginary == 0.0);
    for (int i = 0; i < N; i++) {
        CHECK(isfinite(x[i]));
    }
}

#define TESTS(X)                                        \
    X(the_leftmost_eigenvalue_is_found_with_its_vector) \
    X(a_pair_of_complex_eigenvalues_is_found)           \
    X(nothing_is_found_where_there_is_nothing)

CHECK_MAIN(TESTS)
