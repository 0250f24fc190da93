#ifndef FIL_COLLIDE_TOUCH_PRIMITIVES_H
#define FIL_COLLIDE_TOUCH_PRIMITIVES_H

#include "touch.h"

/// A capsule of a rod (a) and a solid that is not a mesh (b): see fil_touch_capsule_shape().
int fil_touch_capsule_primitive(const double a[2][3], double radius, const FilShape *shape,
                                const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]);

#endif
