#ifndef FIL_COLLIDE_TOUCH_MESH_H
#define FIL_COLLIDE_TOUCH_MESH_H

// Touches of a capsule with a mesh; see touch.h for the conventions.

#include "collide/touch.h"

/// A capsule of a rod (a) and a mesh (b), deepest touch first. Most often 1 or 2: the ends of the
/// segment and the places between them that are nearest, one group for each direction of the
/// surface. Normals point out of the mesh even where the axis of the capsule is inside.
int fil_touch_capsule_mesh(const double a[2][3], double radius, const FilMesh *mesh,
                           const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]);

#endif
