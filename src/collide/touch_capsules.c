// touch_capsules.c - touches of two capsules.
//
// Where the axes cross at an angle there is one touch, at the closest points. Where they are nearly
// parallel the closest points say little: they run from one end of the overlap to the other when
// the angle changes by nothing. There are two touches then, at the ends of the overlap.
//
// Between the two cases nothing jumps. Let m be the bisector of the axes, and the overlap the
// stretch of m above which both axes lie; its length L and the angle theta give the drift
// w = 2 L tan(theta/2), by which the axes move sideways past each other along it. The two touches
// lie at
//     (s*, t*) + lambda ((s, t)_end - (s*, t*)),
// (s*, t*) the closest points, lambda = 1 up to w = h/8, 0 from h/2 on and linear between them, h
// the smaller one of the sum of radii and the distance d of the axes (deep inside each other the
// normals at the two ends would point apart); and it falls from 1 to 0 between 5.7 and 10 degrees.
// So the touches slide together and meet before they become one. The gap that they leave unseen,
// between them (lambda w)^2 / 8h or beyond them d theta^2 / 8, is below 0.004 times the larger one
// of d and the sum of radii.
//
// On the surface. At a touch that is not the closest pair the normal is not perpendicular to the
// axes; the point on a surface is where the line through the two axis points leaves the capsule.
//
// The normal, where the axes meet, is their common perpendicular; where the ends of two parallel
// ones meet, it points from one middle to the other; otherwise it is any perpendicular.
//
// The definition is symmetric: a and b change places and the normals change sign.
#include "touch.h"

#include "capsule.h"
#include "math/vec3.h"
#include "segment.h"

typedef struct Pair {
    const double (*a)[3], (*b)[3];
    double radius_a, radius_b;
    double r[3], u[3], v[3]; // a0 - b0, a1 - a0, b1 - b0
    double uu, vv, uv;
    double length_a, length_b;
} Pair;

// The normal of axes that meet or nearly do; `apart` is too short to tell.
static void choose_normal(const Pair *p, double s, double t, const double apart[3],
                          double normal[3]) {
    double n[3];
    fil_cross3(p->u, p->v, n);
    double size = fil_norm3(n);
    if (!(size > 1e-9 * p->length_a * p->length_b)) {
        // parallel: two ends that meet, and not one beside the other
        const bool ends = (s <= 0.0 || s >= 1.0) && (t <= 0.0 || t >= 1.0) &&
                          (s > 0.5) == ((t > 0.5) == (p->uv < 0.0));
        for (int k = 0; k < 3; k++) {
            n[k] = p->r[k] + 0.5 * (p->u[k] - p->v[k]); // from middle to middle
        }
        size = ends ? fil_norm3(n) : 0.0;
        if (!(size > 1e-9 * (p->length_a + p->length_b))) {
            fil_perpendicular3(p->length_a > p->length_b ? p->u : p->v, n);
            size = 1.0;
        }
    }
    const double sign = fil_dot3(n, apart) < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) {
        normal[k] = sign * n[k] / size;
    }
}

// Whether the difference of the two axis points is too short for its direction to be trusted.
static bool is_crossing(const Pair *p, double s, double t, double distance) {
    const double size = p->length_a + p->length_b;
    if (!(distance > 1e-15 * size)) {
        return true;
    }
    // inside both axes the common perpendicular is more exact
    const bool inside = s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0;
    return inside && distance < 1e-9 * size && p->uv * p->uv < 0.999 * p->uu * p->vv;
}

static void make_touch(const Pair *p, double s, double t, FilTouch *touch) {
    double apart[3], n[3], x[3], y[3];
    for (int k = 0; k < 3; k++) {
        apart[k] = p->r[k] + s * p->u[k] - t * p->v[k];
    }
    double distance = fil_norm3(apart);
    if (is_crossing(p, s, t, distance)) {
        choose_normal(p, s, t, apart, n);
        distance = fil_dot3(n, apart);
    } else {
        for (int k = 0; k < 3; k++) {
            n[k] = apart[k] / distance;
        }
    }
    const double cosine_a = p->length_a > 0.0 ? -fil_dot3(n, p->u) / p->length_a : 0.0;
    const double cosine_b = p->length_b > 0.0 ? fil_dot3(n, p->v) / p->length_b : 0.0;
    const double out_a = fil_capsule_exit(p->radius_a, p->length_a, s, cosine_a);
    const double out_b = fil_capsule_exit(p->radius_b, p->length_b, t, cosine_b);
    fil_segment_point(p->a, s, x);
    fil_segment_point(p->b, t, y);
    *touch = (FilTouch){.gap = distance - out_a - out_b, .t_a = s, .t_b = t};
    for (int k = 0; k < 3; k++) {
        touch->normal[k] = n[k];
        touch->on_a[k] = x[k] - out_a * n[k];
        touch->on_b[k] = y[k] + out_b * n[k];
    }
}

// The fractions (s, t) at the two ends of the overlap along the bisector, and how far the touches
// go to them; 0 where one touch, at the closest points, is right.
static double find_overlap(const Pair *p, double distance, double end[2][2]) {
    const double lengths = p->length_a * p->length_b, cosine = fabs(p->uv) / lengths;
    if (!(lengths > 0.0 && cosine > 0.985)) {
        return 0.0;
    }
    double m[3], c[3];
    const double sign = p->uv < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) {
        m[k] = p->u[k] / p->length_a + sign * p->v[k] / p->length_b;
    }
    const double size = fil_norm3(m);
    fil_cross3(p->u, p->v, c);
    const double drift_rate = 2.0 * fil_norm3(c) / lengths / (1.0 + cosine); // 2 tan(theta/2)
    const double um = fil_dot3(p->u, m) / size, vm = fil_dot3(p->v, m) / size;
    const double b0 = -fil_dot3(p->r, m) / size, b1 = b0 + vm;
    const double low = fil_most(0.0, fil_least(b0, b1)), high = fil_least(um, fil_most(b0, b1));
    const double radii = p->radius_a + p->radius_b;
    const double near_angle = fil_least((cosine - 0.985) / 0.01, 1.0);
    const double spread =
        near_angle * fil_pair_spread(drift_rate * (high - low), fil_least(radii, distance));
    if (!(spread * (high - low) > 0.01 * radii)) {
        return 0.0;
    }
    end[0][0] = low / um;
    end[0][1] = (low - b0) / vm;
    end[1][0] = high / um;
    end[1][1] = (high - b0) / vm;
    return spread;
}

static double clamp01(double t) {
    return t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0; // NaN gives 0
}

int fil_touch_capsules(const double a[2][3], double radius_a, const double b[2][3], double radius_b,
                       double reach, FilTouch out[2]) {
    const FilClosest closest = fil_closest_segments(a, b);
    const double limit = radius_a + radius_b + reach;
    if (!(limit > 0.0 && closest.distance2 < limit * limit)) {
        return 0;
    }
    Pair p = {.a = a, .b = b, .radius_a = radius_a, .radius_b = radius_b};
    fil_subtract3(a[0], b[0], p.r);
    fil_subtract3(a[1], a[0], p.u);
    fil_subtract3(b[1], b[0], p.v);
    p.uu = fil_dot3(p.u, p.u);
    p.vv = fil_dot3(p.v, p.v);
    p.uv = fil_dot3(p.u, p.v);
    p.length_a = sqrt(p.uu);
    p.length_b = sqrt(p.vv);

    double end[2][2];
    const double spread = find_overlap(&p, sqrt(closest.distance2), end);
    int count = 0;
    for (int i = 0; i < 2 && spread > 0.0; i++) {
        const double s = closest.t_a + spread * (end[i][0] - closest.t_a);
        const double t = closest.t_b + spread * (end[i][1] - closest.t_b);
        make_touch(&p, clamp01(s), clamp01(t), &out[count]);
        out[count].feature = (uint32_t)i;
        count += out[count].gap < reach;
    }
    if (count == 0) {
        make_touch(&p, closest.t_a, closest.t_b, &out[0]);
        count = out[0].gap < reach;
    }
    return count;
}
