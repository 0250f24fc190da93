// cholesky.c - L L^T by rows. Row i of L needs rows j < i: L_ij = (a_ij - L_i . L_j) / L_jj, where
// the product runs over the columns where both rows have started. Every loop is a product of two
// contiguous rows, summed in four lanes whose order does not depend on anything but the lengths.
#include "cholesky.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static double product(const double *a, const double *b, int count) {
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        for (int l = 0; l < 4; l++) {
            s[l] += a[k + l] * b[k + l];
        }
    }
    for (; k < count; k++) {
        s[k & 3] += a[k] * b[k];
    }
    return (s[0] + s[2]) + (s[1] + s[3]);
}

// Row i of L, but for its diagonal; returns the pivot that is left there.
static double eliminate_row(int n, int i, double *a, int *first) {
    double *row = a + (ptrdiff_t)i * n;
    int start = 0;
    while (start < i && row[start] == 0.0) {
        start++;
    }
    first[i] = start;
    for (int j = start; j < i; j++) {
        const double *other = a + (ptrdiff_t)j * n;
        int from = first[j] > start ? first[j] : start;
        row[j] = (row[j] - product(row + from, other + from, j - from)) / other[j];
    }
    return row[i] - product(row + start, row + start, i - start);
}

int fil_cholesky_factor(int n, double *a, int *first, double floor) {
    for (int i = 0; i < n; i++) {
        double pivot = eliminate_row(n, i, a, first), *diagonal = &a[(ptrdiff_t)i * n + i];
        if (!(pivot > floor * fabs(*diagonal) && pivot > 0.0)) {
            return i + 1;
        }
        *diagonal = sqrt(pivot);
    }
    return 0;
}

void fil_cholesky_factor_raised(int n, double *a, int *first, double floor) {
    for (int i = 0; i < n; i++) {
        double pivot = eliminate_row(n, i, a, first), *diagonal = &a[(ptrdiff_t)i * n + i];
        double least = floor * fabs(*diagonal) + DBL_MIN;
        *diagonal = sqrt(pivot > least ? pivot : least);
    }
}

void fil_cholesky_lower(int n, const double *l, const int *first, double *x) {
    for (int i = 0; i < n; i++) {
        const double *row = l + (ptrdiff_t)i * n;
        x[i] = (x[i] - product(row + first[i], x + first[i], i - first[i])) / row[i];
    }
}

void fil_cholesky_upper(int n, const double *l, const int *first, double *x) {
    for (int i = n - 1; i >= 0; i--) {
        const double *row = l + (ptrdiff_t)i * n;
        x[i] /= row[i];
        for (int j = first[i]; j < i; j++) {
            x[j] -= x[i] * row[j];
        }
    }
}

void fil_cholesky_solve(int n, const double *l, const int *first, double *x) {
    fil_cholesky_lower(n, l, first, x);
    fil_cholesky_upper(n, l, first, x);
}
