#ifndef FIL_COLLIDE_TRIANGLE_H
#define FIL_COLLIDE_TRIANGLE_H

// Closest points of a triangle to a point and to a segment. Degenerate triangles and segments are
// fine: they are the lines and points that they have become.

// Rows of three as arguments of functions that do not change them: C has no such conversion.
#define FIL_ROWS3(rows) ((const double(*)[3])(rows))

// Which part of the triangle a point is on: the inside, side k (from corner k to the next), corner
// k.
enum { FIL_PART_INSIDE = 0, FIL_PART_SIDE = 1, FIL_PART_CORNER = 4 };

/// The point of the triangle that is closest to `p`; returns its part and writes the square of the
/// distance.
int fil_triangle_to_point(const double corner[3][3], const double p[3], double q[3],
                          double *distance2);

/// The closest points of a triangle and a segment: at the fraction `t` of the segment, and `q` on
/// the triangle. Returns the part of `q`. The square of the distance is 0 where they cross.
int fil_triangle_to_segment(const double corner[3][3], const double s[2][3], double *t, double q[3],
                            double *distance2);

/// The closest points of two segments, at the fractions `t` and `u`; returns the square of their
/// distance.
double fil_segment_to_segment(const double s[2][3], const double r[2][3], double *t, double *u);

#endif
