// triangle.c - closest points of a triangle to a point and to a segment.
//
// A point above the inside of the triangle is closest to its foot on the plane; any other is
// closest to a side. Which of the two is decided by the signs of three volumes; when round-off
// decides wrongly, the foot and the side are within round-off of each other, so the distance is
// right in either case. A segment that does not cross the triangle is closest to it at one of its
// own ends above the inside, or at a side.
#include "triangle.h"

#include <stdbool.h>

#include "math/vec3.h"

static double clamp01(double x) {
    return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; // NaN gives 0
}

static double distance2(const double a[3], const double b[3]) {
    double d[3];
    fil_subtract3(a, b, d);
    return fil_dot3(d, d);
}

// The point of side k nearest to p.
static int find_on_side(const double corner[3][3], int k, const double p[3], double q[3]) {
    const double *a = corner[k], *b = corner[(k + 1) % 3];
    double e[3], d[3];
    fil_subtract3(b, a, e);
    fil_subtract3(p, a, d);
    const double ee = fil_dot3(e, e);
    const double u = ee > 0.0 ? clamp01(fil_dot3(d, e) / ee) : 0.0;
    for (int i = 0; i < 3; i++) {
        q[i] = a[i] + u * e[i];
    }
    if (u > 0.0 && u < 1.0) {
        return FIL_PART_SIDE + k;
    }
    fil_copy3(u > 0.0 ? b : a, q);
    return FIL_PART_CORNER + (u > 0.0 ? (k + 1) % 3 : k);
}

static void find_normal(const double corner[3][3], double n[3]) {
    double e[3], f[3];
    fil_subtract3(corner[1], corner[0], e);
    fil_subtract3(corner[2], corner[0], f);
    fil_cross3(e, f, n);
}

// Whether p lies above or below the triangle, strictly within its sides; n is its normal.
static bool is_above(const double corner[3][3], const double n[3], const double p[3]) {
    for (int k = 0; k < 3; k++) {
        double e[3], d[3], c[3];
        fil_subtract3(corner[(k + 1) % 3], corner[k], e);
        fil_subtract3(p, corner[k], d);
        fil_cross3(e, d, c);
        if (!(fil_dot3(c, n) > 0.0)) {
            return false;
        }
    }
    return true;
}

int fil_triangle_to_point(const double corner[3][3], const double p[3], double q[3],
                          double *square) {
    double n[3], d[3];
    find_normal(corner, n);
    const double nn = fil_dot3(n, n);
    if (nn > 0.0 && is_above(corner, n, p)) {
        fil_subtract3(p, corner[0], d);
        const double height = fil_dot3(d, n);
        for (int i = 0; i < 3; i++) {
            q[i] = p[i] - height / nn * n[i];
        }
        *square = height * height / nn;
        return FIL_PART_INSIDE;
    }
    int part = find_on_side(corner, 0, p, q);
    *square = distance2(p, q);
    for (int k = 1; k < 3; k++) {
        double other[3];
        const int on = find_on_side(corner, k, p, other);
        const double far = distance2(p, other);
        if (far < *square) {
            *square = far;
            part = on;
            fil_copy3(other, q);
        }
    }
    return part;
}

double fil_segment_to_segment(const double s[2][3], const double r[2][3], double *t, double *u) {
    double e[3], f[3], w[3], c[3];
    fil_subtract3(s[1], s[0], e);
    fil_subtract3(r[1], r[0], f);
    fil_subtract3(s[0], r[0], w);
    const double ee = fil_dot3(e, e), ff = fil_dot3(f, f), ef = fil_dot3(e, f);
    const double ew = fil_dot3(e, w), fw = fil_dot3(f, w);
    // the cross product, not ee ff - ef^2, which loses every digit as the two become parallel
    fil_cross3(e, f, c);
    const double cc = fil_dot3(c, c);
    double at = 0.0;
    if (cc > 1e-24 * ee * ff) {
        double wf[3];
        fil_cross3(w, f, wf);
        at = clamp01(-fil_dot3(wf, c) / cc);
    }
    double on = ff > 0.0 ? (ef * at + fw) / ff : 0.0;
    if (!(on >= 0.0 && on <= 1.0)) {
        on = clamp01(on);
        at = ee > 0.0 ? clamp01((ef * on - ew) / ee) : 0.0;
    } else if (!(cc > 1e-24 * ee * ff)) {
        at = ee > 0.0 ? clamp01((ef * on - ew) / ee) : 0.0;
    }
    double d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = w[i] + at * e[i] - on * f[i];
    }
    *t = at;
    *u = on;
    return fil_dot3(d, d);
}

// Where the segment crosses the plane of the triangle, within its sides.
static bool find_crossing(const double corner[3][3], const double n[3], const double s[2][3],
                          double *t, double q[3]) {
    double d[3];
    fil_subtract3(s[0], corner[0], d);
    const double h0 = fil_dot3(d, n);
    fil_subtract3(s[1], corner[0], d);
    const double h1 = fil_dot3(d, n);
    if (!((h0 > 0.0 && h1 < 0.0) || (h0 < 0.0 && h1 > 0.0))) {
        return false;
    }
    *t = h0 / (h0 - h1);
    for (int i = 0; i < 3; i++) {
        q[i] = s[0][i] + *t * (s[1][i] - s[0][i]);
    }
    return is_above(corner, n, q);
}

int fil_triangle_to_segment(const double corner[3][3], const double s[2][3], double *t, double q[3],
                            double *square) {
    double n[3], d[3];
    find_normal(corner, n);
    const double nn = fil_dot3(n, n);
    *square = 0.0;
    if (nn > 0.0 && find_crossing(corner, n, s, t, q)) {
        return FIL_PART_INSIDE;
    }
    int part = -1;
    for (int end = 0; end < 2 && nn > 0.0; end++) {
        fil_subtract3(s[end], corner[0], d);
        const double height = fil_dot3(d, n), far = height * height / nn;
        if ((part < 0 || far < *square) && is_above(corner, n, s[end])) {
            part = FIL_PART_INSIDE;
            *square = far;
            *t = end;
            for (int i = 0; i < 3; i++) {
                q[i] = s[end][i] - height / nn * n[i];
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        const double side[2][3] = {
            {corner[k][0], corner[k][1], corner[k][2]},
            {corner[(k + 1) % 3][0], corner[(k + 1) % 3][1], corner[(k + 1) % 3][2]}};
        double at, u;
        const double far = fil_segment_to_segment(s, side, &at, &u);
        if (part < 0 || far < *square) {
            *square = far;
            *t = at;
            part = u <= 0.0   ? FIL_PART_CORNER + k
                   : u >= 1.0 ? FIL_PART_CORNER + (k + 1) % 3
                              : FIL_PART_SIDE + k;
            for (int i = 0; i < 3; i++) {
                q[i] = side[0][i] + u * (side[1][i] - side[0][i]);
            }
        }
    }
    return part;
}
