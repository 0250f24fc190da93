// solid.c - the distance of a segment from a box, a cylinder and the simpler solids.
//
// The squared distance D^2 of a point from a convex set is convex and has a continuous gradient,
// twice the vector from the closest point. Along a segment x0 + t d its half has the derivative
//     g(t) = e(t) . d,   e = x - (closest point of the solid),
// which never decreases. So the nearest point of the segment is an end, where g has the same sign
// at both, or the zero of g, found by the secant method kept in a bracket (Illinois) with bisection
// when it dawdles. Close to the zero D^2 is flat: the distance is exact long before t is.
#include "solid.h"

#include <float.h>

#include "math/vec3.h"
#include "segment.h"

double fil_box_point(const double h[3], const double x[3], double normal[3]) {
    double e[3], sum = 0.0, depth = DBL_MAX;
    int nearest = 0;
    for (int k = 0; k < 3; k++) {
        const double over = fabs(x[k]) - h[k];
        e[k] = over > 0.0 ? copysign(over, x[k]) : 0.0;
        sum += e[k] * e[k];
        if (-over < depth) {
            depth = -over;
            nearest = k;
        }
    }
    const double distance = sqrt(sum);
    for (int k = 0; k < 3; k++) {
        normal[k] = distance > 0.0 ? e[k] / distance : 0.0;
    }
    if (distance > 0.0) {
        return distance;
    }
    normal[nearest] = copysign(1.0, x[nearest]);
    return -depth;
}

double fil_cylinder_point(double radius, double half, const double x[3], double normal[3]) {
    const double rho = sqrt(x[1] * x[1] + x[2] * x[2]);
    const double side = rho - radius, cap = fabs(x[0]) - half;
    const double out[3] = {copysign(1.0, x[0]), rho > 0.0 ? x[1] / rho : 1.0,
                           rho > 0.0 ? x[2] / rho : 0.0};
    double on_cap = cap > 0.0 ? cap : 0.0, on_side = side > 0.0 ? side : 0.0;
    double distance = sqrt(on_cap * on_cap + on_side * on_side), size = distance;
    if (!(distance > 0.0)) {
        distance = fmax(side, cap);
        on_cap = cap > side;
        on_side = !(cap > side);
        size = 1.0;
    }
    normal[0] = out[0] * on_cap / size;
    normal[1] = out[1] * on_side / size;
    normal[2] = out[2] * on_side / size;
    return distance;
}

static double point_distance(const FilShape *shape, const double x[3], double normal[3]) {
    if (shape->kind == FIL_SHAPE_BOX) {
        const double h[3] = {0.5 * shape->size[0], 0.5 * shape->size[1], 0.5 * shape->size[2]};
        return fil_box_point(h, x, normal);
    }
    return fil_cylinder_point(shape->radius, 0.5 * shape->length, x, normal);
}

// The derivative g at t; fills what is known there.
static double slope(const FilShape *shape, const double x[2][3], const double d[3], double t,
                    FilSolidGap *gap) {
    double point[3];
    fil_segment_point(x, t, point);
    gap->t = t;
    gap->distance = point_distance(shape, point, gap->normal);
    return gap->distance > 0.0 ? gap->distance * fil_dot3(gap->normal, d) : 0.0;
}

// The zero of g between low, where it is negative, and high, where it is positive.
static FilSolidGap find_zero(const FilShape *shape, const double x[2][3], const double d[3],
                             double g_low, double g_high) {
    FilSolidGap gap = {0};
    double low = 0.0, high = 1.0;
    int side = 0; // which end moved last, and how often in a row
    for (int pass = 0; pass < 100 && high - low > 2.0 * DBL_EPSILON; pass++) {
        double t = (low * g_high - high * g_low) / (g_high - g_low);
        if (pass % 4 == 3 || !(t > low && t < high)) {
            t = 0.5 * (low + high);
        }
        const double g = slope(shape, x, d, t, &gap);
        if (g == 0.0 || !(t > low && t < high)) {
            break;
        }
        if (g < 0.0) {
            low = t;
            g_low = g;
            g_high *= side < 0 ? 0.5 : 1.0;
            side = -1;
        } else {
            high = t;
            g_high = g;
            g_low *= side > 0 ? 0.5 : 1.0;
            side = 1;
        }
    }
    return gap;
}

static FilSolidGap convex_gap(const FilShape *shape, const double x[2][3]) {
    FilSolidGap first, last;
    double d[3];
    fil_subtract3(x[1], x[0], d);
    const double g_first = slope(shape, x, d, 0.0, &first);
    if (!(g_first < 0.0)) {
        return first;
    }
    const double g_last = slope(shape, x, d, 1.0, &last);
    if (!(g_last > 0.0)) {
        return last;
    }
    const FilSolidGap found = find_zero(shape, x, d, g_first, g_last);
    if (!(found.distance > 0.0)) {
        return found;
    }
    const FilSolidGap end = first.distance < last.distance ? first : last;
    return found.distance < end.distance ? found : end;
}

// A ball around the nearest point of a segment, or of a point: sphere and capsule.
static FilSolidGap round_gap(const FilShape *shape, const double x[2][3]) {
    const double half = shape->kind == FIL_SHAPE_CAPSULE ? 0.5 * shape->length : 0.0;
    const double axis[2][3] = {{-half, 0.0, 0.0}, {half, 0.0, 0.0}};
    const FilClosest pair = fil_closest_segments(x, axis);
    const double size = sqrt(pair.distance2);
    FilSolidGap gap = {.t = pair.t_a, .distance = size - shape->radius};
    for (int k = 0; k < 3; k++) {
        gap.normal[k] = size > 0.0 ? pair.apart[k] / size : 0.0;
    }
    return gap;
}

FilSolidGap fil_solid_gap(const FilShape *shape, const double x[2][3]) {
    switch (shape->kind) {
    case FIL_SHAPE_PLANE: {
        const int low = x[1][2] < x[0][2];
        return (FilSolidGap){.t = low, .distance = x[low][2], .normal = {0.0, 0.0, 1.0}};
    }
    case FIL_SHAPE_SPHERE:
    case FIL_SHAPE_CAPSULE:
        return round_gap(shape, x);
    default:
        return convex_gap(shape, x);
    }
}
