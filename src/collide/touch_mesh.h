#ifndef FIL_COLLIDE_TOUCH_MESH_H
#define FIL_COLLIDE_TOUCH_MESH_H

#include "touch.h"

/// A capsule of a rod (a) and a mesh (b): see fil_touch_capsule_shape().
int fil_touch_capsule_mesh(const double a[2][3], double radius, const FilMesh *mesh,
                           const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]);

#endif
