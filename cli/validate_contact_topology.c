// validate_contact_topology.c - which knot a rod is tied in.
//
// The rod's ends are led far away along its pull, the way out turned aside, and joined there: a
// closed polygon. Seen from one side it has c crossings, which cut it into c arcs, each from one
// passage below to the next. Numbers on the arcs with
//     2 (arc above) = (arc coming in below) + (arc going out below)      at every crossing
// are Fox's colourings; any (c - 1) x (c - 1) minor of that system has the same |determinant|,
// which no deformation changes but passing through itself: 1 for what is not knotted, 3 for the
// overhand knot (trefoil), 5 for the figure-eight. It is an integer, so that round-off does not
// matter.
#include "validate_contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CROSSINGS = 400 };

// One passage of the curve through a crossing.
typedef struct Passage {
    double at; // edge + part of it
    int crossing;
    bool above;
} Passage;

typedef struct Diagram {
    int count; // of crossings
    Passage passages[2 * MAX_CROSSINGS];
    double matrix[MAX_CROSSINGS * MAX_CROSSINGS];
} Diagram;

static int by_place(const void *a, const void *b) {
    const double x = ((const Passage *)a)->at, y = ((const Passage *)b)->at;
    return (x > y) - (x < y);
}

// Note a crossing of the edges i < j of a closed polygon, seen along z; false when there are too
// many.
static bool note_crossing(Diagram *diagram, const double *x, int count, int i, int j) {
    const double *a = x + 3 * (ptrdiff_t)i, *b = x + 3 * (ptrdiff_t)((i + 1) % count);
    const double *c = x + 3 * (ptrdiff_t)j, *d = x + 3 * (ptrdiff_t)((j + 1) % count);
    const double e[2] = {b[0] - a[0], b[1] - a[1]}, f[2] = {d[0] - c[0], d[1] - c[1]};
    const double g[2] = {c[0] - a[0], c[1] - a[1]}, cross = e[0] * f[1] - e[1] * f[0];
    const double t = (g[0] * f[1] - g[1] * f[0]) / cross, s = (g[0] * e[1] - g[1] * e[0]) / cross;
    if (!(t >= 0.0 && t < 1.0 && s >= 0.0 && s < 1.0)) {
        return true;
    }
    if (diagram->count == MAX_CROSSINGS) {
        return false;
    }
    const bool above = a[2] + t * (b[2] - a[2]) > c[2] + s * (d[2] - c[2]);
    Passage *p = diagram->passages + 2 * (ptrdiff_t)diagram->count;
    p[0] = (Passage){.at = i + t, .crossing = diagram->count, .above = above};
    p[1] = (Passage){.at = j + s, .crossing = diagram->count, .above = !above};
    diagram->count++;
    return true;
}

// |determinant| of a matrix of n rows, each MAX_CROSSINGS long; the matrix is lost.
static double determinant(double *matrix, int n) {
    double product = 1.0;
    for (int k = 0; k < n; k++) {
        double *row = matrix + MAX_CROSSINGS * (ptrdiff_t)k;
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(matrix[MAX_CROSSINGS * i + k]) > fabs(matrix[MAX_CROSSINGS * best + k])
                       ? i
                       : best;
        }
        double *other = matrix + MAX_CROSSINGS * (ptrdiff_t)best;
        for (int j = k; j < n; j++) {
            double swap = row[j];
            row[j] = other[j];
            other[j] = swap;
        }
        product *= fabs(row[k]);
        for (int i = k + 1; i < n && product > 0.0; i++) {
            double *below = matrix + MAX_CROSSINGS * (ptrdiff_t)i;
            double factor = below[k] / row[k];
            for (int j = k; j < n; j++) {
                below[j] -= factor * row[j];
            }
        }
    }
    return product;
}

static double knot_determinant(Diagram *diagram) {
    const int c = diagram->count;
    qsort(diagram->passages, 2 * (size_t)c, sizeof *diagram->passages, by_place);
    memset(diagram->matrix, 0, sizeof diagram->matrix);
    int arc = 0; // the first and the last arc are one, of number 0
    for (int k = 0; k < 2 * c; k++) {
        const Passage *p = &diagram->passages[k];
        double *row = diagram->matrix + MAX_CROSSINGS * (ptrdiff_t)p->crossing;
        row[arc] += p->above ? 2.0 : -1.0;
        if (!p->above) {
            arc = (arc + 1) % c;
            row[arc] -= 1.0;
        }
    }
    return c < 3 ? 1.0 : determinant(diagram->matrix, c - 1);
}

double trial_knot(const FilRod *rod, int samples) {
    enum { TAIL = 4 };
    const int count = samples + 1 + TAIL;
    const double length = fil_rod_length(rod);
    double *x = calloc(3 * (size_t)count, sizeof(double));
    Diagram *diagram = calloc(1, sizeof *diagram);
    double found = (double)NAN;
    if (x != NULL && diagram != NULL) {
        for (int i = 0; i <= samples; i++) {
            trial_place(rod, length * i / samples, x + 3 * (ptrdiff_t)i);
        }
        // out along +x, round, and back along +x to the root: far outside of all that is knotted
        const double *root = x, *tip = x + 3 * (ptrdiff_t)samples;
        double *tail = x + 3 * ((ptrdiff_t)samples + 1);
        const double far = 50.0 * length;
        const double offset[TAIL][3] = {{far, 0, 0}, {far, far, 0}, {-far, far, 0}, {-far, 0, 0}};
        for (int i = 0; i < 3 * TAIL; i++) {
            tail[i] = (i < 6 ? tip : root)[i % 3] + offset[i / 3][i % 3];
        }
        bool fits = true;
        for (int i = 0; i < count && fits; i++) {
            for (int j = i + 2; j < count && fits; j++) {
                fits = (i == 0 && j == count - 1) || note_crossing(diagram, x, count, i, j);
            }
        }
        found = fits ? knot_determinant(diagram) : (double)NAN;
    }
    free(x);
    free(diagram);
    return found;
}
