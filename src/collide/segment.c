// segment.c - closest points of points, segments and triangles.
//
// Two segments. The squared distance of a0 + s u and b0 + t v is a convex quadratic over the unit
// square, so its minimum is inside, where the gradient vanishes, or on an edge of the square, which
// is an end of one segment against the other. The four edges are always well conditioned. Inside,
// with r = a0 - b0 and c = u x v,
//     s = (v x r) . c / |c|^2,    t = (u x r) . c / |c|^2;
// the cross product, not uu vv - uv^2, which loses every digit where the segments are nearly
// parallel. Its own error, eps |u||v|, still turns s by eps / sin(angle)^2. The formula is
// therefore applied again to what is left, r + s u - t v, which is small: each pass takes the error
// of the distance down by eps / sin(angle), and where that no longer helps the segments are
// parallel to round-off and the edges of the square hold the answer. What is inside is compared
// with the edges, never trusted: every candidate is a pair of points of the two segments.
//
// A triangle is treated the same way: its plane's solution, corrected once more, against its edges.
//
// Scale. Products of four lengths appear; an input outside [1e-60, 1e60] is brought to size 1 first
// (by a power of two, which is exact).
#include "segment.h"

#include <float.h>
#include <stdbool.h>

#include "math/vec3.h"

static double clamp01(double t) {
    return t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0; // NaN gives 0
}

// --- scale ---------------------------------------------------------------------------------------

static double largest_difference(const double *points, int count) {
    double size = 0.0;
    for (int i = 3; i < 3 * count; i++) {
        const double d = fabs(points[i] - points[i % 3]);
        size = d > size ? d : size;
    }
    return size;
}

static bool has_plain_size(double size) {
    return size > 1e-60 && size < 1e60;
}

// Differences from the first point, brought to about size 1 by the power of two that is returned.
static int rescale(const double *points, int count, double *out) {
    // halves, so that differences of the largest numbers do not overflow
    double half[15], size = 0.0;
    for (int i = 0; i < 3 * count; i++) {
        half[i] = 0.5 * points[i] - 0.5 * points[i % 3];
        size = fabs(half[i]) > size ? fabs(half[i]) : size;
    }
    int exponent = 0;
    (void)frexp(size, &exponent);
    for (int i = 0; i < 3 * count; i++) {
        out[i] = ldexp(half[i], -exponent);
    }
    return size > 0.0 ? exponent + 1 : 0;
}

static double unscale(double apart[3], int exponent) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        apart[k] = ldexp(apart[k], exponent);
        sum += apart[k] * apart[k];
    }
    return sum < DBL_MAX ? sum : DBL_MAX;
}

// --- segments ------------------------------------------------------------------------------------

// Keep the pair (s, t) where it is closer than what is known. r = a0 - b0.
static void try_pair(const double r[3], const double u[3], const double v[3], double s, double t,
                     FilClosest *best) {
    double apart[3];
    for (int k = 0; k < 3; k++) {
        apart[k] = r[k] + s * u[k] - t * v[k];
    }
    const double distance2 = fil_dot3(apart, apart);
    if (distance2 < best->distance2) {
        *best = (FilClosest){s, t, {apart[0], apart[1], apart[2]}, distance2};
    }
}

// The place inside the square, improved until the distance falls no further.
static void try_inside(const double r[3], const double u[3], const double v[3], const double c[3],
                       double cc, FilClosest *best) {
    double s = 0.0, t = 0.0, left[3] = {r[0], r[1], r[2]};
    for (int pass = 0; pass < 4; pass++) {
        double vr[3], ur[3];
        fil_cross3(v, left, vr);
        fil_cross3(u, left, ur);
        const double s1 = clamp01(s + fil_dot3(vr, c) / cc), t1 = clamp01(t + fil_dot3(ur, c) / cc);
        const double before = best->distance2;
        try_pair(r, u, v, s1, t1, best);
        if (pass > 0 && !(best->distance2 < before)) {
            return;
        }
        s = s1;
        t = t1;
        for (int k = 0; k < 3; k++) {
            left[k] = r[k] + s * u[k] - t * v[k];
        }
    }
}

// u = a1 - a0, v = b1 - b0, r = a0 - b0, of plain size.
static FilClosest closest_of_vectors(const double r[3], const double u[3], const double v[3]) {
    const double uu = fil_dot3(u, u), vv = fil_dot3(v, v), uv = fil_dot3(u, v);
    const double ur = fil_dot3(u, r), vr = fil_dot3(v, r);
    double c[3];
    fil_cross3(u, v, c);
    const double cc = fil_dot3(c, c);
    FilClosest best = {.distance2 = INFINITY};
    // well inside and far from parallel: nothing else can be closer
    if (cc > 0.01 * uu * vv) {
        const double s = (uv * vr - vv * ur) / cc, t = (uu * vr - uv * ur) / cc;
        if (s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0) {
            try_pair(r, u, v, s, t, &best);
            return best;
        }
    } else if (cc > 0.0) {
        try_inside(r, u, v, c, cc, &best);
    }
    const double per_u = uu > 0.0 ? 1.0 / uu : 0.0, per_v = vv > 0.0 ? 1.0 / vv : 0.0;
    try_pair(r, u, v, clamp01(-ur * per_u), 0.0, &best);
    try_pair(r, u, v, clamp01((uv - ur) * per_u), 1.0, &best);
    try_pair(r, u, v, 0.0, clamp01(vr * per_v), &best);
    try_pair(r, u, v, 1.0, clamp01((vr + uv) * per_v), &best);
    return best;
}

static FilClosest closest_at_any_scale(const double a[2][3], const double b[2][3]) {
    double p[4][3], q[4][3], r[3], u[3], v[3];
    for (int k = 0; k < 3; k++) {
        p[0][k] = a[0][k];
        p[1][k] = a[1][k];
        p[2][k] = b[0][k];
        p[3][k] = b[1][k];
    }
    const int exponent = rescale(p[0], 4, q[0]);
    fil_subtract3(q[0], q[2], r);
    fil_subtract3(q[1], q[0], u);
    fil_subtract3(q[3], q[2], v);
    FilClosest best = closest_of_vectors(r, u, v);
    best.distance2 = unscale(best.apart, exponent);
    return best;
}

FilClosest fil_closest_segments(const double a[2][3], const double b[2][3]) {
    double r[3], u[3], v[3], size = 0.0;
    for (int k = 0; k < 3; k++) {
        r[k] = a[0][k] - b[0][k];
        u[k] = a[1][k] - a[0][k];
        v[k] = b[1][k] - b[0][k];
        size += fabs(r[k]) + fabs(u[k]) + fabs(v[k]);
    }
    return has_plain_size(size) ? closest_of_vectors(r, u, v) : closest_at_any_scale(a, b);
}

FilClosest fil_closest_point_segment(const double p[3], const double b[2][3]) {
    double r[3], v[3], size = 0.0;
    for (int k = 0; k < 3; k++) {
        r[k] = p[k] - b[0][k];
        v[k] = b[1][k] - b[0][k];
        size += fabs(r[k]) + fabs(v[k]);
    }
    if (!has_plain_size(size)) {
        const double a[2][3] = {{p[0], p[1], p[2]}, {p[0], p[1], p[2]}};
        FilClosest best = closest_at_any_scale(a, b);
        best.t_a = 0.0;
        return best;
    }
    const double vv = fil_dot3(v, v), zero[3] = {0.0};
    FilClosest best = {.distance2 = INFINITY};
    try_pair(r, zero, v, 0.0, vv > 0.0 ? clamp01(fil_dot3(v, r) / vv) : 0.0, &best);
    return best;
}

// --- triangles -----------------------------------------------------------------------------------

// Keep the point with weights (1 - y - z, y, z) where it is closer than what is known; r from the
// first corner to p, u and v from it to the other two.
static void try_weights(const double r[3], const double u[3], const double v[3], double t_a,
                        const double yz[2], FilClosestTriangle *best) {
    double apart[3];
    for (int k = 0; k < 3; k++) {
        apart[k] = r[k] - yz[0] * u[k] - yz[1] * v[k];
    }
    const double distance2 = fil_dot3(apart, apart);
    if (distance2 < best->distance2) {
        *best = (FilClosestTriangle){t_a,
                                     {fmax(1.0 - yz[0] - yz[1], 0.0), yz[0], yz[1]},
                                     {apart[0], apart[1], apart[2]},
                                     distance2};
    }
}

// The foot of p in the plane, where it lies in the triangle: corrected as long as it comes closer.
static void try_foot(const double r[3], const double u[3], const double v[3], double t_a,
                     FilClosestTriangle *best) {
    double c[3], yz[2] = {0.0, 0.0}, left[3] = {r[0], r[1], r[2]};
    fil_cross3(u, v, c);
    const double cc = fil_dot3(c, c);
    for (int pass = 0; cc > 0.0 && pass < 4; pass++) {
        double rv[3], ur[3];
        fil_cross3(left, v, rv);
        fil_cross3(u, left, ur);
        const double y = clamp01(yz[0] + fil_dot3(rv, c) / cc);
        const double z = fmin(clamp01(yz[1] + fil_dot3(ur, c) / cc), 1.0 - y);
        const double before = best->distance2;
        yz[0] = y;
        yz[1] = z;
        try_weights(r, u, v, t_a, yz, best);
        if (pass > 0 && !(best->distance2 < before)) {
            return;
        }
        for (int k = 0; k < 3; k++) {
            left[k] = r[k] - y * u[k] - z * v[k];
        }
    }
}

// A point r, seen from the first corner, against the triangle.
static void try_point(const double r[3], const double u[3], const double v[3], double t_a,
                      FilClosestTriangle *best) {
    double w[3], rw[3];
    fil_subtract3(v, u, w);
    fil_subtract3(r, u, rw);
    const double uu = fil_dot3(u, u), vv = fil_dot3(v, v), ww = fil_dot3(w, w);
    const double on_u = uu > 0.0 ? clamp01(fil_dot3(u, r) / uu) : 0.0;
    const double on_v = vv > 0.0 ? clamp01(fil_dot3(v, r) / vv) : 0.0;
    const double on_w = ww > 0.0 ? clamp01(fil_dot3(w, rw) / ww) : 0.0;
    try_weights(r, u, v, t_a, (double[2]){on_u, 0.0}, best);
    try_weights(r, u, v, t_a, (double[2]){0.0, on_v}, best);
    try_weights(r, u, v, t_a, (double[2]){1.0 - on_w, on_w}, best);
    try_foot(r, u, v, t_a, best);
}

// Where the segment goes through the triangle: r0 + t d = y u + z v, with d . c / |c| as the speed
// towards the plane, and corrected as the other solutions are.
static void try_crossing(const double r[2][3], const double u[3], const double v[3],
                         FilClosestTriangle *best) {
    double c[3], d[3], x[3], yz[2] = {0.0, 0.0}, t = 0.0;
    fil_cross3(u, v, c);
    fil_subtract3(r[1], r[0], d);
    const double h0 = fil_dot3(c, r[0]), h1 = fil_dot3(c, r[1]), cc = fil_dot3(c, c);
    // a needle's plane is known so badly that an end may seem to be on the other side
    const double noise = 8.0 * DBL_EPSILON * sqrt(fil_dot3(u, u) * fil_dot3(v, v)) *
                         (fil_norm3(r[0]) + fil_norm3(r[1]));
    if (h0 == h1 || !(cc > 0.0) || (h0 > noise && h1 > noise) || (h0 < -noise && h1 < -noise)) {
        return;
    }
    fil_copy3(r[0], x);
    for (int pass = 0; pass < 4; pass++) {
        double left[3], lv[3], ul[3];
        for (int k = 0; k < 3; k++) {
            left[k] = x[k] - yz[0] * u[k] - yz[1] * v[k];
        }
        const double later = clamp01(t + fil_dot3(left, c) / (h0 - h1));
        fil_add3(later - t, d, left);
        t = later;
        fil_cross3(left, v, lv);
        fil_cross3(u, left, ul);
        yz[0] = clamp01(yz[0] + fil_dot3(lv, c) / cc);
        yz[1] = fmin(clamp01(yz[1] + fil_dot3(ul, c) / cc), 1.0 - yz[0]);
        const double before = best->distance2;
        fil_segment_point(r, t, x);
        try_weights(x, u, v, t, yz, best);
        if (pass > 0 && !(best->distance2 < before)) {
            return;
        }
    }
}

// The segment r[0] r[1], seen from the first corner, against an edge: corners i and j.
static void try_edge(const double r[2][3], const double corner[3][3], int i, int j,
                     FilClosestTriangle *best) {
    double from[3], along[3], edge[3];
    fil_subtract3(r[0], corner[i], from);
    fil_subtract3(r[1], r[0], along);
    fil_subtract3(corner[j], corner[i], edge);
    const FilClosest pair = closest_of_vectors(from, along, edge);
    if (pair.distance2 < best->distance2) {
        *best = (FilClosestTriangle){pair.t_a, {0.0}, {0.0}, pair.distance2};
        fil_copy3(pair.apart, best->apart);
        best->weight[i] = 1.0 - pair.t_b;
        best->weight[j] = pair.t_b;
    }
}

// Points seen from the first corner, of plain size: corner[0] is 0.
static FilClosestTriangle closest_to_triangle(const double r[2][3], int point_count,
                                              const double corner[3][3]) {
    FilClosestTriangle best = {.distance2 = INFINITY};
    if (point_count == 1) {
        try_point(r[0], corner[1], corner[2], 0.0, &best);
        return best;
    }
    try_crossing(r, corner[1], corner[2], &best);
    try_foot(r[0], corner[1], corner[2], 0.0, &best);
    try_foot(r[1], corner[1], corner[2], 1.0, &best);
    for (int i = 0; i < 3; i++) {
        try_edge(r, corner, i, (i + 1) % 3, &best);
    }
    return best;
}

static FilClosestTriangle closest_triangle(const double *a, int point_count,
                                           const double corner[3][3]) {
    double p[5][3], q[5][3];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            p[i][k] = corner[i][k];
        }
        p[3][k] = a[k];
        p[4][k] = a[3 * (point_count - 1) + k];
    }
    const double size = largest_difference(p[0], 3 + point_count);
    if (has_plain_size(size)) {
        for (int i = 0; i < 5; i++) {
            fil_subtract3(p[i], p[0], q[i]);
        }
        return closest_to_triangle(FIL_POINTS(q + 3), point_count, FIL_POINTS(q));
    }
    const int exponent = rescale(p[0], 5, q[0]);
    FilClosestTriangle best = closest_to_triangle(FIL_POINTS(q + 3), point_count, FIL_POINTS(q));
    best.distance2 = unscale(best.apart, exponent);
    return best;
}

FilClosestTriangle fil_closest_point_triangle(const double p[3], const double corner[3][3]) {
    return closest_triangle(p, 1, corner);
}

FilClosestTriangle fil_closest_segment_triangle(const double a[2][3], const double corner[3][3]) {
    return closest_triangle(a[0], 2, corner);
}
