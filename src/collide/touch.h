#ifndef FIL_COLLIDE_TOUCH_H
#define FIL_COLLIDE_TOUCH_H

// The narrow phase: where two pieces come within reach of each other. Pure functions that allocate
// nothing.
//
// A piece is a capsule of a rod (a segment with a radius) or a solid shape with a pose. A touch is
// a pair of points on the two surfaces, the unit normal there, which points from b to a, and the
// signed distance along it (negative: they overlap): on_a - on_b = gap * normal. Nearly parallel
// capsules, flat faces and long edges give two touches and more, so that what rests on a line or a
// face does not tip from step to step. `feature` is the same for the same pair of features in the
// next step, so that impulses can be carried over; the features of one pair of pieces differ. Input
// that is not finite has no touches.

#include <stdint.h>

#include "filum/shape.h"

typedef struct FilTouch {
    double on_a[3], on_b[3]; // m: on the surfaces
    double normal[3];        // unit, from b to a
    double gap;              // m
    double t_a, t_b;         // fraction along the segment, where a piece is a capsule of a rod
    uint32_t feature;
} FilTouch;

#define FIL_TOUCH_MAX 16 // touches of one pair of pieces, at most (meshes: the deepest ones)

/// Two capsules, segments a[0] a[1] and b[0] b[1], wherever the gap is below `reach`: 0, 1, or 2
/// where they are nearly parallel (`feature` 0 and 1 along a; one touch alone is 0).
int fil_touch_capsules(const double a[2][3], double radius_a, const double b[2][3], double radius_b,
                       double reach, FilTouch out[2]);

/// A capsule of a rod (a) and a solid (b). `feature`: 0 and 1 are the ends of the capsule's axis,
/// 2, 3, ... places between them, in order; a solid capsule as above; meshes have their own.
int fil_touch_capsule_shape(const double a[2][3], double radius, const FilShape *shape,
                            const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]);

/// Two solids.
int fil_touch_shapes(const FilShape *a, const FilPose *pose_a, const FilShape *b,
                     const FilPose *pose_b, double reach, FilTouch out[FIL_TOUCH_MAX]);

#endif
