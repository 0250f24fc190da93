#ifndef FIL_COLLIDE_SEGMENT_H
#define FIL_COLLIDE_SEGMENT_H

// Closest points of points, segments and triangles. Every finite input has an answer: segments may
// be points, triangles may be segments or points, and what is parallel has one of its many closest
// pairs. Distances are right to round-off relative to the size of the input (the differences of its
// coordinates, however far from the origin it lies).

/// A closest pair of two segments, a[0] a[1] and b[0] b[1].
typedef struct FilClosest {
    double t_a, t_b;  // fractions along the segments, in [0, 1]
    double apart[3];  // m: from the point on b to the point on a
    double distance2; // m^2: |apart|^2
} FilClosest;

/// Closest points of two segments.
FilClosest fil_closest_segments(const double a[2][3], const double b[2][3]);

/// Closest point of a segment b to the point p (t_a is 0).
FilClosest fil_closest_point_segment(const double p[3], const double b[2][3]);

/// Closest point of a triangle to the point p or to the segment a.
typedef struct FilClosestTriangle {
    double t_a;       // fraction along the segment, 0 for a point
    double weight[3]; // of the corners, at least 0, their sum 1
    double apart[3];  // m: from the point on the triangle to the point on a
    double distance2; // m^2
} FilClosestTriangle;

FilClosestTriangle fil_closest_point_triangle(const double p[3], const double corner[3][3]);
FilClosestTriangle fil_closest_segment_triangle(const double a[2][3], const double corner[3][3]);

/// An array of points where one of constant points is asked for (C converts it only by a cast).
#define FIL_POINTS(p) ((const double(*)[3])(p))

/// (1 - t) s[0] + t s[1], which is s[0] at 0 and s[1] at 1 exactly.
static inline void fil_segment_point(const double s[2][3], double t, double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = (1.0 - t) * s[0][k] + t * s[1][k];
    }
}

#endif
