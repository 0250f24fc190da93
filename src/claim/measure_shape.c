// measure_shape.c - the shape of the rods of a claim.
//
// How parallel rods are is the nematic order S = (3 lambda - 1) / 2, with lambda the largest
// eigenvalue of the mean of t t^T over the tangents t, by length (de Gennes and Prost, The Physics
// of Liquid Crystals, 1993). The writhe of an open polyline is the sum over its pairs of segments
// of the solid angle from which they are seen to cross, over 2 pi (Klenin and Langowski,
// Biopolymers 54, 2000, method 1a).
#include "claim/measure.h"

#include <math.h>

#include "math/vec3.h"

static const double PI = 3.141592653589793;

// From a point of the cloud to the next.
static void segment_of(const FilCloud *cloud, int p, double out[3]) {
    fil_subtract3(cloud->x + 3 * (ptrdiff_t)(p + 1), cloud->x + 3 * (ptrdiff_t)p, out);
}

// ------------------------------------------------------------------------------------------- order

// The largest eigenvalue of a symmetric matrix, in closed form (Smith, CACM 4, 1961).
static double find_largest_eigenvalue(const double a[9]) {
    const double q = (a[0] + a[4] + a[8]) / 3.0;
    const double off = a[1] * a[1] + a[2] * a[2] + a[5] * a[5];
    const double d[3] = {a[0] - q, a[4] - q, a[8] - q};
    const double p = sqrt((d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 2.0 * off) / 6.0);
    if (!(p > 0.0)) {
        return q;
    }
    const double det = d[0] * (d[1] * d[2] - a[5] * a[5]) - a[1] * (a[1] * d[2] - a[5] * a[2]) +
                       a[2] * (a[1] * a[5] - d[1] * a[2]);
    const double r = fmin(fmax(det / (2.0 * p * p * p), -1.0), 1.0);
    return q + 2.0 * p * cos(acos(r) / 3.0);
}

static double measure_order(const FilCloud *cloud) {
    double tensor[9] = {0.0}, length = 0.0;
    for (int p = 0; p < cloud->point_count; p++) {
        double t[3];
        if (!cloud->joined[p]) {
            continue;
        }
        segment_of(cloud, p, t);
        const double l = fil_norm3(t);
        length += l;
        for (int k = 0; k < 9 && l > 0.0; k++) {
            tensor[k] += t[k / 3] * t[k % 3] / l;
        }
    }
    for (int k = 0; k < 9; k++) {
        tensor[k] /= length;
    }
    return 0.5 * (3.0 * find_largest_eigenvalue(tensor) - 1.0);
}

// ------------------------------------------------------------------------------------ one by one

static double measure_straightness(const FilCloud *cloud, const FilClaimThing *thing) {
    const int last = thing->first + thing->count - 1;
    double length = 0.0, whole[3];
    for (int p = thing->first; p < last; p++) {
        double t[3];
        segment_of(cloud, p, t);
        length += cloud->joined[p] ? fil_norm3(t) : 0.0;
    }
    fil_subtract3(cloud->x + 3 * (ptrdiff_t)last, cloud->x + 3 * (ptrdiff_t)thing->first, whole);
    return fil_norm3(whole) / length;
}

// The angle, rad, by which a rod goes round the line.
static double measure_turning(const FilSceneClaim *claim, const FilCloud *cloud,
                              const FilClaimThing *thing) {
    double sum = 0.0;
    for (int p = thing->first; p < thing->first + thing->count; p++) {
        double a[3], b[3], cross[3];
        if (!cloud->joined[p]) {
            continue;
        }
        fil_subtract3(cloud->x + 3 * (ptrdiff_t)p, claim->through, a);
        fil_subtract3(cloud->x + 3 * (ptrdiff_t)(p + 1), claim->through, b);
        fil_add3(-fil_dot3(a, claim->axis), claim->axis, a);
        fil_add3(-fil_dot3(b, claim->axis), claim->axis, b);
        fil_cross3(a, b, cross);
        sum += atan2(fil_dot3(cross, claim->axis), fil_dot3(a, b));
    }
    return fabs(sum);
}

static double measure_advance(const FilSceneClaim *claim, const FilCloud *cloud,
                              const FilClaimThing *thing) {
    double whole[3];
    fil_subtract3(cloud->x + 3 * (ptrdiff_t)(thing->first + thing->count - 1),
                  cloud->x + 3 * (ptrdiff_t)thing->first, whole);
    return fabs(fil_dot3(whole, claim->axis));
}

// The solid angle of two segments, over 2 pi, with the sign of their crossing.
static double find_crossing(const double *p, const double *q) {
    double r[4][3], n[4][3], s[3], t[3], st[3];
    static const int of[4][2] = {{0, 1}, {1, 3}, {3, 2}, {2, 0}};
    for (int k = 0; k < 4; k++) { // from p[k / 2] to q[k % 2]
        fil_subtract3(q + 3 * (ptrdiff_t)(k % 2), p + 3 * (ptrdiff_t)(k / 2), r[k]);
    }
    double angle = 0.0;
    for (int k = 0; k < 4; k++) {
        fil_cross3(r[of[k][0]], r[of[k][1]], n[k]);
        const double length = fil_norm3(n[k]);
        if (!(length > 0.0)) {
            return 0.0; // in one plane
        }
        for (int c = 0; c < 3; c++) {
            n[k][c] /= length;
        }
    }
    for (int k = 0; k < 4; k++) {
        angle += asin(fmin(fmax(fil_dot3(n[k], n[(k + 1) % 4]), -1.0), 1.0));
    }
    fil_subtract3(p + 3, p, s);
    fil_subtract3(q + 3, q, t);
    fil_cross3(t, s, st);
    return copysign(angle, fil_dot3(st, r[0])) / (2.0 * PI);
}

static double measure_writhe(const FilCloud *cloud, const FilClaimThing *thing) {
    double sum = 0.0;
    for (int p = thing->first; p < thing->first + thing->count; p++) {
        for (int q = thing->first; cloud->joined[p] && q < p - 1; q++) {
            if (cloud->joined[q]) {
                sum += find_crossing(cloud->x + 3 * (ptrdiff_t)q, cloud->x + 3 * (ptrdiff_t)p);
            }
        }
    }
    return sum;
}

static double measure_rod(const FilMeasuring *m, const FilClaimThing *thing) {
    switch (m->claim->measure) {
    case FIL_MEASURE_STRAIGHT:
        return measure_straightness(&m->cloud, thing);
    case FIL_MEASURE_TURNS:
        return measure_turning(m->claim, &m->cloud, thing) / (2.0 * PI);
    case FIL_MEASURE_PITCH:
        return measure_advance(m->claim, &m->cloud, thing) * 2.0 * PI /
               measure_turning(m->claim, &m->cloud, thing);
    default:
        return measure_writhe(&m->cloud, thing);
    }
}

// --------------------------------------------------------------------------------------- curvature

static const double *curvature_at(const FilCloud *cloud, const FilFrame *frame, int p) {
    return frame->curvature + 3 * (ptrdiff_t)cloud->source[p] + 1;
}

static double measure_curvature(const FilCloud *cloud, const FilFrame *frame) {
    double sum = 0.0;
    int count = 0;
    for (int p = 0; p < cloud->point_count; p++) {
        if (cloud->things[cloud->thing[p]].kind == FIL_BODY_ROD) {
            const double *kappa = curvature_at(cloud, frame, p);
            sum += kappa[0] * kappa[0] + kappa[1] * kappa[1];
            count++;
        }
    }
    return sqrt(sum / count);
}

static double measure_kink(const FilCloud *cloud, const FilFrame *frame) {
    double jump = 0.0, most = 0.0;
    for (int p = 0; p < cloud->point_count; p++) {
        if (cloud->joined[p]) {
            const double *a = curvature_at(cloud, frame, p), *b = curvature_at(cloud, frame, p + 1);
            jump = fmax(jump, hypot(a[0] - b[0], a[1] - b[1]));
            most = fmax(most, fmax(hypot(a[0], a[1]), hypot(b[0], b[1])));
        }
    }
    return jump / most;
}

// ---------------------------------------------------------------------------------------- all of
// it

double fil_measure_shape(const FilMeasuring *m, const FilFrame *frame) {
    switch (m->claim->measure) {
    case FIL_MEASURE_ALIGNED:
        return measure_order(&m->cloud);
    case FIL_MEASURE_CURVATURE:
        return measure_curvature(&m->cloud, frame);
    case FIL_MEASURE_KINK:
        return measure_kink(&m->cloud, frame);
    default:
        break;
    }
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < m->cloud.thing_count; k++) {
        if (m->cloud.things[k].kind == FIL_BODY_ROD) {
            sum += measure_rod(m, &m->cloud.things[k]);
            count++;
        }
    }
    return sum / count;
}
