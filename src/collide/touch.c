// touch.c - which test belongs to which shape.
#include "touch.h"

#include "base/error.h"
#include "touch_mesh.h"
#include "touch_primitives.h"

int fil_touch_capsule_shape(const double a[2][3], double radius, const FilShape *shape,
                            const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    FIL_ASSERT(shape->kind < FIL_SHAPE_COUNT);
    if (shape->kind == FIL_SHAPE_MESH) {
        return fil_touch_capsule_mesh(a, radius, shape->mesh, pose, reach, out);
    }
    return fil_touch_capsule_primitive(a, radius, shape, pose, reach, out);
}
