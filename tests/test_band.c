// Band matrices against dense elimination.
#include "math/band.h"

#include <stdlib.h>

#include "base/random.h"
#include "check.h"

enum { MOST = 60 };

// A random band matrix, diagonally dominant, as a band and dense.
static void make_matrix(int n, int width, double *band, double *dense) {
    FilRandom random = fil_random_make((uint64_t)n * 100 + (uint64_t)width);
    memset(dense, 0, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= width; j++) {
            double value =
                fil_random_uniform(&random, -1.0, 1.0) + (j == 0 ? 2.0 * width + 1.5 : 0.0);
            band[i * (width + 1) + j] = value;
            if (i + j < n) {
                dense[i * n + i + j] = dense[(i + j) * n + i] = value;
            }
        }
    }
}

static void a_solution_satisfies_the_dense_equations(void) {
    double band[MOST * 16], dense[MOST * MOST], x[MOST], y[MOST], b[MOST];
    const int widths[] = {0, 1, 3, 8, 10, 13};
    for (int n = 1; n <= MOST; n++) {
        for (int w = 0; w < 6; w++) {
            make_matrix(n, widths[w], band, dense);
            for (int i = 0; i < n; i++) {
                b[i] = x[i] = 1.0 + i % 7;
            }
            fil_band_multiply(n, widths[w], band, b, y);
            CHECK(fil_band_factor(n, widths[w], band) == 0);
            fil_band_solve(n, widths[w], band, x);
            double worst = 0.0;
            for (int i = 0; i < n; i++) {
                double sum = 0.0, product = 0.0;
                for (int j = 0; j < n; j++) {
                    sum += dense[i * n + j] * x[j];
                    product += dense[i * n + j] * b[j];
                }
                worst = fmax(worst, fmax(fabs(sum - b[i]), fabs(product - y[i]) / 20.0));
            }
            CHECK(worst < 1e-13);
        }
    }
}

static void a_matrix_comes_back_from_its_factors(void) {
    double band[MOST * 16], back[MOST * 16], dense[MOST * MOST];
    const int widths[] = {0, 1, 3, 8, 10, 13};
    for (int n = 1; n <= MOST; n++) {
        for (int w = 0; w < 6; w++) {
            int width = widths[w];
            make_matrix(n, width, band, dense);
            CHECK(fil_band_factor(n, width, band) == 0);
            fil_band_restore(n, width, band, back);
            for (int k = 0; k < n * (width + 1); k++) {
                int i = k / (width + 1), j = i + k % (width + 1);
                CHECK_NEAR(back[k], j < n ? dense[i * n + j] : 0.0, 0.0, 1e-13);
            }
        }
    }
}

static void columns_are_solved_as_if_each_were_alone_by_every_variant(void) {
    enum { COLUMNS = 21 };
    double band[MOST * 16], dense[MOST * MOST], x[MOST * COLUMNS] = {0}, y[MOST * COLUMNS];
    const int widths[] = {0, 1, 8, 10, 13};
    for (int w = 0; w < 5; w++) {
        for (int count = 1; count <= COLUMNS; count += 4) {
            int n = MOST - count;
            make_matrix(n, widths[w], band, dense);
            CHECK(fil_band_factor(n, widths[w], band) == 0);
            for (int v = 0; fil_band_variant(v) != NULL; v++) {
                for (int i = 0; i < n * count; i++) {
                    x[i] = sin(3.0 * i);
                }
                fil_band_variant(v)->solve_columns(n, widths[w], band, count, x);
                CHECK(v == 0 || check_same_bits(x, y, sizeof(double) * (size_t)(n * count)));
                memcpy(y, x, sizeof(double) * (size_t)(n * count));
            }
            double worst = 0.0;
            for (int c = 0; c < count; c++) {
                double one[MOST];
                for (int i = 0; i < n; i++) {
                    one[i] = sin(3.0 * (i * count + c));
                }
                fil_band_solve(n, widths[w], band, one);
                for (int i = 0; i < n; i++) {
                    worst = fmax(worst, fabs(one[i] - x[i * count + c]));
                }
            }
            CHECK(worst < 1e-15);
        }
    }
}

static void the_row_of_a_pivot_that_is_not_positive_is_named(void) {
    double band[MOST * 16], dense[MOST * MOST];
    const double bad[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
    for (int row = 0; row < 40; row++) {
        for (int k = 0; k < 4; k++) {
            make_matrix(40, 10, band, dense);
            for (int j = 0; j <= 10; j++) {
                band[row * 11 + j] = j == 0 ? bad[k] : 0.0;
            }
            for (int i = row > 10 ? row - 10 : 0; i < row; i++) {
                band[i * 11 + row - i] = 0.0;
            }
            CHECK(fil_band_factor(40, 10, band) == row + 1);
        }
    }
}

#define TESTS(X)                                                 \
    X(a_solution_satisfies_the_dense_equations)                  \
    X(a_matrix_comes_back_from_its_factors)                      \
    X(columns_are_solved_as_if_each_were_alone_by_every_variant) \
    X(the_row_of_a_pivot_that_is_not_positive_is_named)

CHECK_MAIN(TESTS)
