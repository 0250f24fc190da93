// small.c - dense elimination for a handful of unknowns.
#include "small.h"

#include <math.h>

#define N FIL_SMALL_MAX

static void swap_rows(FilSmallLu *lu, int i, int j) {
    for (int k = 0; k < lu->n; k++) {
        const double swap = lu->lu[N * i + k];
        lu->lu[N * i + k] = lu->lu[N * j + k];
        lu->lu[N * j + k] = swap;
    }
    const int swap = lu->row[i];
    lu->row[i] = lu->row[j];
    lu->row[j] = swap;
    lu->sign = -lu->sign;
}

static void swap_columns(FilSmallLu *lu, int i, int j) {
    for (int k = 0; k < lu->n; k++) {
        const double swap = lu->lu[N * k + i];
        lu->lu[N * k + i] = lu->lu[N * k + j];
        lu->lu[N * k + j] = swap;
    }
    const int swap = lu->column[i];
    lu->column[i] = lu->column[j];
    lu->column[j] = swap;
    lu->sign = -lu->sign;
}

// Bring the largest entry of the rest to (k, k) and return its size.
static double pivot(FilSmallLu *lu, int k) {
    int best_i = k, best_j = k;
    double best = 0.0;
    for (int i = k; i < lu->n; i++) {
        for (int j = k; j < lu->n; j++) {
            if (fabs(lu->lu[N * i + j]) > best) {
                best = fabs(lu->lu[N * i + j]);
                best_i = i;
                best_j = j;
            }
        }
    }
    if (best_i != k) {
        swap_rows(lu, best_i, k);
    }
    if (best_j != k) {
        swap_columns(lu, best_j, k);
    }
    return best;
}

void fil_small_factor(FilSmallLu *lu, int n, const double *A, double tolerance) {
    double most[N];
    lu->n = n;
    lu->sign = 1;
    for (int i = 0; i < n; i++) {
        lu->row[i] = lu->column[i] = i;
        most[i] = 0.0;
        for (int j = 0; j < n; j++) {
            lu->lu[N * i + j] = A[n * i + j];
            most[i] = fmax(most[i], fabs(A[n * i + j]));
        }
    }
    for (lu->rank = 0; lu->rank < n; lu->rank++) {
        const int k = lu->rank;
        const double size = pivot(lu, k);
        if (!(size > tolerance * most[lu->row[k]])) {
            lu->sign = 0;
            return;
        }
        lu->sign = lu->lu[N * k + k] < 0.0 ? -lu->sign : lu->sign;
        for (int i = k + 1; i < n; i++) {
            const double l = lu->lu[N * i + k] /= lu->lu[N * k + k];
            for (int j = k + 1; j < n; j++) {
                lu->lu[N * i + j] -= l * lu->lu[N * k + j];
            }
        }
    }
}

// U y = y with the first `rank` rows, in place.
static void back_substitute(const FilSmallLu *lu, double *y) {
    for (int i = lu->rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < lu->rank; j++) {
            y[i] -= lu->lu[N * i + j] * y[j];
        }
        y[i] /= lu->lu[N * i + i];
    }
}

void fil_small_solve(const FilSmallLu *lu, const double *b, double *x) {
    double y[N] = {0.0};
    for (int i = 0; i < lu->rank; i++) {
        y[i] = b[lu->row[i]];
        for (int j = 0; j < i; j++) {
            y[i] -= lu->lu[N * i + j] * y[j];
        }
    }
    back_substitute(lu, y);
    for (int i = 0; i < lu->n; i++) {
        x[lu->column[i]] = i < lu->rank ? y[i] : 0.0;
    }
}

void fil_small_null(const FilSmallLu *lu, int k, double *z) {
    double y[N] = {0.0};
    for (int i = 0; i < lu->rank; i++) {
        y[i] = -lu->lu[N * i + lu->rank + k];
    }
    back_substitute(lu, y);
    for (int i = 0; i < lu->n; i++) {
        z[lu->column[i]] = i < lu->rank ? y[i] : i == lu->rank + k ? 1.0 : 0.0;
    }
}

bool fil_small_eliminate(int n, double *A, double *b) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(A[n * i + k]) > fabs(A[n * best + k]) ? i : best;
        }
        if (!(fabs(A[n * best + k]) > 0.0)) {
            return false;
        }
        for (int j = k; j < n && best != k; j++) {
            const double swap = A[n * k + j];
            A[n * k + j] = A[n * best + j];
            A[n * best + j] = swap;
        }
        const double swap = b[k];
        b[k] = b[best];
        b[best] = swap;
        const double inverse = 1.0 / A[n * k + k];
        for (int i = k + 1; i < n; i++) {
            const double l = A[n * i + k] * inverse;
            for (int j = k + 1; j < n; j++) {
                A[n * i + j] -= l * A[n * k + j];
            }
            b[i] -= l * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            b[i] -= A[n * i + j] * b[j];
        }
        b[i] /= A[n * i + i];
    }
    return true;
}
