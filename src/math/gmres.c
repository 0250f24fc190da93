// gmres.c - the generalised minimal residual method.
//
// Arnoldi's process builds an orthonormal basis V of b, A b, A^2 b, ... with A V_m = V_m+1 H; the x
// in its span with the least residual has coefficients y that minimise |beta e_1 - H y|. Rotations
// make H triangular as it grows, and the last entry of the rotated beta e_1 is the residual.
// Vectors are made orthogonal one by one (modified Gram-Schmidt), which is enough to the accuracy
// of its use.
#include "gmres.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

enum { GRAIN = 4096 };

struct FilGmres {
    int size, steps, threads;
    double *V;       // [(steps + 1) size]
    double *H;       // [(steps + 1) steps] columns, triangular after the rotations
    double *cosine;  // [steps]
    double *sine;    // [steps]
    double *rest;    // [steps + 1] beta e_1, rotated
    double *y;       // [steps]
    const double *a; // operands of the loop that runs
    double *b;       // the one that it changes
    double factor;   // of a
};

FilStatus fil_gmres_create(int size, int steps, int threads, FilArena *arena, FilGmres **out) {
    FilGmres *g = FIL_NEW(arena, FilGmres, 1);
    if (g == NULL) {
        return FIL_E_NO_MEMORY;
    }
    const size_t rows = (size_t)steps + 1;
    *g = (FilGmres){.size = size,
                    .steps = steps,
                    .threads = threads,
                    .V = FIL_NEW(arena, double, rows *(size_t)size),
                    .H = FIL_NEW(arena, double, rows *(size_t)steps),
                    .cosine = FIL_NEW(arena, double, steps),
                    .sine = FIL_NEW(arena, double, steps),
                    .rest = FIL_NEW(arena, double, rows),
                    .y = FIL_NEW(arena, double, steps)};
    *out = g;
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

static double dot_range(void *context, int first, int last) {
    const FilGmres *g = context;
    double sum = 0.0;
    for (int k = first; k < last; k++) {
        sum += g->a[k] * g->b[k];
    }
    return sum;
}

static double dot(FilGmres *g, const double *a, double *b) {
    g->a = a;
    g->b = b;
    return fil_parallel_sum(g->size, g->threads, dot_range, g);
}

static void add_range(void *context, int first, int last) {
    const FilGmres *g = context;
    for (int k = first; k < last; k++) {
        g->b[k] += g->factor * g->a[k];
    }
}

// b += factor a.
static void add(FilGmres *g, double factor, const double *a, double *b) {
    g->a = a;
    g->b = b;
    g->factor = factor;
    fil_parallel_ranges(g->size, GRAIN, g->threads, add_range, g);
}

static double *basis(const FilGmres *g, int j) {
    return g->V + (size_t)j * (size_t)g->size;
}

static void scale(FilGmres *g, double factor, double *v) {
    for (int k = 0; k < g->size; k++) {
        v[k] *= factor;
    }
}

// Column j of H and vector j + 1 of the basis from A V_j.
static void extend(FilGmres *g, int j, double *h) {
    double *w = basis(g, j + 1);
    for (int i = 0; i <= j; i++) {
        h[i] = dot(g, basis(g, i), w);
        add(g, -h[i], basis(g, i), w);
    }
    h[j + 1] = sqrt(dot(g, w, w));
    scale(g, h[j + 1] > 0.0 ? 1.0 / h[j + 1] : 0.0, w);
}

// Turn column j by the rotations so far, and find the one that removes its last entry.
static void rotate(FilGmres *g, int j, double *h) {
    for (int i = 0; i < j; i++) {
        const double upper = g->cosine[i] * h[i] + g->sine[i] * h[i + 1];
        h[i + 1] = g->cosine[i] * h[i + 1] - g->sine[i] * h[i];
        h[i] = upper;
    }
    const double length = hypot(h[j], h[j + 1]);
    g->cosine[j] = length > 0.0 ? h[j] / length : 0.0; // a singular matrix: the step is void
    g->sine[j] = length > 0.0 ? h[j + 1] / length : 1.0;
    h[j] = length;
    g->rest[j + 1] = -g->sine[j] * g->rest[j];
    g->rest[j] *= g->cosine[j];
}

// x = V y with the y that solves the triangular system of `count` steps.
static void combine(FilGmres *g, int count, double *x) {
    memset(x, 0, (size_t)g->size * sizeof *x);
    for (int j = count - 1; j >= 0; j--) {
        const double *h = g->H + (size_t)j * (size_t)(g->steps + 1);
        g->y[j] = h[j] > 0.0 ? g->rest[j] / h[j] : 0.0;
        for (int i = 0; i < j; i++) {
            g->rest[i] -= h[i] * g->y[j];
        }
    }
    for (int j = 0; j < count; j++) {
        add(g, g->y[j], basis(g, j), x);
    }
}

int fil_gmres_solve(FilGmres *g, void (*multiply)(void *context, const double *x, double *y),
                    void *context, const double *b, double reduction, double *x, double *reached) {
    double *first = basis(g, 0);
    memcpy(first, b, (size_t)g->size * sizeof *b);
    const double beta = sqrt(dot(g, first, first));
    scale(g, beta > 0.0 ? 1.0 / beta : 0.0, first);
    g->rest[0] = beta;
    int j = 0;
    // written so that a residual that is not a number stops it
    while (j < g->steps && fabs(g->rest[j]) > reduction * beta) {
        double *h = g->H + (size_t)j * (size_t)(g->steps + 1);
        multiply(context, basis(g, j), basis(g, j + 1));
        extend(g, j, h);
        rotate(g, j, h);
        j++;
    }
    if (reached != NULL) {
        *reached = beta != 0.0 ? fabs(g->rest[j]) / beta : 0.0;
    }
    combine(g, j, x);
    return j;
}
