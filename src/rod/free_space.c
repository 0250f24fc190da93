// free_space.c - coordinates of what rows leave free.
//
// Householder reflections bring the rows, the longest that is left first, to a triangle in the
// first places: C Q = (R^T 0). What is left of a row that depends on those before is round-off and
// holds nothing. With at most FIL_FREE_ROWS reflections a matrix is turned in O(n^2), a vector in
// O(n).
#include "free_space.h"

#include <string.h>

#include "math/vector.h"

static const double dependent = 1e-10; // of the longest row

static const double *reflection(const FilFreeSpace *space, int k) {
    return space->v + (size_t)k * (size_t)space->n;
}

// x <- x - beta v (v . x), from place k on.
static void reflect(const FilFreeSpace *space, int k, double *x) {
    const double *v = reflection(space, k);
    double factor = space->beta[k] * fil_dot(v + k, x + k, space->n - k);
    for (int i = k; i < space->n; i++) {
        x[i] -= factor * v[i];
    }
}

// The longest of the rows k .. m - 1 from place k on comes to row k. Returns its length.
static double choose_row(const FilFreeSpace *space, int k, int m, double *C) {
    int n = space->n, best = k;
    double longest = -1.0;
    for (int i = k; i < m; i++) {
        const double *row = C + (size_t)i * (size_t)n + k;
        double square = fil_dot(row, row, n - k);
        if (square > longest) {
            longest = square;
            best = i;
        }
    }
    double *a = C + (size_t)k * (size_t)n, *b = C + (size_t)best * (size_t)n;
    for (int i = 0; i < n && best != k; i++) {
        double keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
    return sqrt(fmax(0.0, longest));
}

void fil_free_space_make(FilFreeSpace *space, int m, double *C) {
    int n = space->n;
    double longest = 0.0;
    for (space->held = 0; space->held < m && space->held < n; space->held++) {
        int k = space->held;
        double length = choose_row(space, k, m, C);
        longest = fmax(longest, length);
        if (!(length > dependent * longest)) {
            return;
        }
        const double *row = C + (size_t)k * (size_t)n;
        double *v = space->v + (size_t)k * (size_t)n;
        memset(v, 0, sizeof(double) * (size_t)k);
        memcpy(v + k, row + k, sizeof(double) * (size_t)(n - k));
        v[k] += row[k] < 0.0 ? -length : length;
        space->beta[k] = 2.0 / fil_dot(v + k, v + k, n - k);
        for (int i = k; i < m; i++) {
            reflect(space, k, C + (size_t)i * (size_t)n);
        }
    }
}

void fil_free_space_reduce(const FilFreeSpace *space, double *A) {
    size_t n = (size_t)space->n, held = (size_t)space->held, left = n - held;
    for (int k = 0; k < space->held; k++) {
        const double *v = reflection(space, k);
        for (size_t i = 0; i < n; i++) { // the rows
            reflect(space, k, A + n * i);
        }
        for (size_t j = 0; j < n; j++) { // the columns
            double sum = 0.0;
            for (size_t i = (size_t)k; i < n; i++) {
                sum += v[i] * A[n * i + j];
            }
            sum *= space->beta[k];
            for (size_t i = (size_t)k; i < n; i++) {
                A[n * i + j] -= sum * v[i];
            }
        }
    }
    for (size_t i = 0; held > 0 && i < left; i++) {
        memmove(A + left * i, A + n * (held + i) + held, sizeof(double) * left);
    }
}

void fil_free_space_gather(const FilFreeSpace *space, double *x) {
    for (int k = 0; k < space->held; k++) {
        reflect(space, k, x);
    }
    memmove(x, x + space->held, sizeof(double) * (size_t)(space->n - space->held));
}

void fil_free_space_scatter(const FilFreeSpace *space, double *y) {
    memmove(y + space->held, y, sizeof(double) * (size_t)(space->n - space->held));
    memset(y, 0, sizeof(double) * (size_t)space->held);
    for (int k = space->held - 1; k >= 0; k--) {
        reflect(space, k, y);
    }
}
