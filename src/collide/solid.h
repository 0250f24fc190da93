#ifndef FIL_COLLIDE_SOLID_H
#define FIL_COLLIDE_SOLID_H

// How far a segment is from a solid that is not a mesh, all of it in the solid's own axes.

#include "filum/shape.h"

typedef struct FilSolidGap {
    double t;         // fraction along the segment of its point nearest to the solid
    double distance;  // m; 0 or less: the segment enters the solid
    double normal[3]; // unit, out of the solid; meaningless where distance is not positive
} FilSolidGap;

/// The segment against the solid. Where it does not enter, the whole of the solid lies below the
/// plane through its nearest point with this normal, and the segment above `distance` over it.
FilSolidGap fil_solid_gap(const FilShape *shape, const double x[2][3]);

/// A point outside or inside a box of half sizes h: signed distance, and the unit normal there.
double fil_box_point(const double h[3], const double x[3], double normal[3]);

/// The same for a cylinder of the given radius around the first axis, |x[0]| <= half.
double fil_cylinder_point(double radius, double half, const double x[3], double normal[3]);

#endif
