// near.c - how near rods are to each other: from every point, by the length that it stands for, to
// the next piece of another rod.
//
// Pieces are sorted by the x of their middles. From a point one looks both ways until the pieces
// are further away in x alone than the nearest one found.
#include "claim/measure.h"

#include <math.h>
#include <stdlib.h>

#include "math/vec3.h"

static int compare_pieces(const void *a, const void *b) {
    const FilNearPiece *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->ab > q->ab) - (p->ab < q->ab);
}

// Sorted pieces; `*reach`: the most that one reaches from its middle.
static int sort_pieces(const FilMeasuring *m, double *reach) {
    const FilCloud *cloud = &m->cloud;
    int count = 0;
    *reach = 0.0;
    for (int p = 0; p < cloud->point_count; p++) {
        if (cloud->joined[p]) {
            const double *ab = cloud->x + 3 * (ptrdiff_t)p;
            m->pieces[count++] =
                (FilNearPiece){.x = 0.5 * (ab[0] + ab[3]), .ab = ab, .thing = cloud->thing[p]};
            *reach = fmax(*reach, 0.5 * fabs(ab[3] - ab[0]));
        }
    }
    qsort(m->pieces, (size_t)count, sizeof *m->pieces, compare_pieces);
    return count;
}

static double find_distance(const double x[3], const double *ab) {
    double s[3], from[3];
    fil_subtract3(ab + 3, ab, s);
    fil_subtract3(x, ab, from);
    const double length = fil_dot3(s, s);
    const double t = length > 0.0 ? fmin(fmax(fil_dot3(from, s) / length, 0.0), 1.0) : 0.0;
    fil_add3(-t, s, from);
    return fil_norm3(from);
}

// The first piece whose middle is not left of x.
static int find_start(const FilNearPiece *pieces, int count, double x) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (pieces[middle].x < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static double find_nearest(const FilMeasuring *m, int count, double reach, int point) {
    const double *x = m->cloud.x + 3 * (ptrdiff_t)point;
    const int own = m->cloud.thing[point];
    double best = m->claim->measure == FIL_MEASURE_CLUMPED ? m->claim->near : (double)INFINITY;
    bool found = false;
    int right = find_start(m->pieces, count, x[0]), left = right - 1;
    while (left >= 0 || right < count) {
        const double to_left = left >= 0 ? x[0] - m->pieces[left].x : (double)INFINITY;
        const double to_right = right < count ? m->pieces[right].x - x[0] : (double)INFINITY;
        if (fmin(to_left, to_right) > best + reach) {
            break;
        }
        const FilNearPiece *piece = &m->pieces[to_left < to_right ? left-- : right++];
        if (piece->thing != own) {
            const double distance = find_distance(x, piece->ab);
            found = found || distance <= best;
            best = fmin(best, distance);
        }
    }
    return found ? best : (double)INFINITY;
}

// The length that a point stands for: half of the pieces beside it.
static double length_of(const FilCloud *cloud, int p) {
    double sum = 0.0, s[3];
    if (cloud->joined[p]) {
        fil_subtract3(cloud->x + 3 * (ptrdiff_t)(p + 1), cloud->x + 3 * (ptrdiff_t)p, s);
        sum += 0.5 * fil_norm3(s);
    }
    if (p > 0 && cloud->joined[p - 1]) {
        fil_subtract3(cloud->x + 3 * (ptrdiff_t)(p - 1), cloud->x + 3 * (ptrdiff_t)p, s);
        sum += 0.5 * fil_norm3(s);
    }
    return sum;
}

double fil_measure_near(const FilMeasuring *m) {
    double reach = 0.0, sum = 0.0, near = 0.0, length = 0.0;
    const int count = sort_pieces(m, &reach);
    for (int p = 0; p < m->cloud.point_count; p++) {
        const double part = length_of(&m->cloud, p);
        const double distance = part > 0.0 ? find_nearest(m, count, reach, p) : 0.0;
        length += part;
        sum += part > 0.0 ? part * distance : 0.0;
        near += distance <= m->claim->near ? part : 0.0;
    }
    return m->claim->measure == FIL_MEASURE_CLUMPED ? near / length : sum / length;
}
