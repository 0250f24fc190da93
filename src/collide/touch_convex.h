#ifndef FIL_COLLIDE_TOUCH_CONVEX_H
#define FIL_COLLIDE_TOUCH_CONVEX_H

// Touches of two convex solids: sphere, capsule, cylinder, box; see touch.h for the conventions.

#include "collide/touch.h"

/// Deepest first.
int fil_touch_convex(const FilShape *a, const FilPose *pose_a, const FilShape *b,
                     const FilPose *pose_b, double reach, FilTouch out[FIL_TOUCH_MAX]);

/// The points of a convex solid that face `direction` (world axes, unit): all that a plane at right
/// angles to it, or nearly, would touch first. A corner, an edge or a face of a box (1, 2, 4), a
/// point of the rim, a line or points around the end of a cylinder (1, 2, `rim`, which is 4 or 8),
/// one or both ends of the axis of a capsule, the centre of a sphere: spheres and capsules without
/// their radius. `id` numbers the feature. Returns how many.
int fil_convex_face(const FilShape *shape, const FilPose *pose, const double direction[3], int rim,
                    double points[8][3], uint32_t *id);

/// Sort touches by gap, deepest first; equal ones keep their order.
void fil_touch_sort(FilTouch *touches, int count);

#endif
