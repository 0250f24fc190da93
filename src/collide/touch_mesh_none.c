// touch_mesh_none.c - stands in for the tests of meshes until they are there.
#include "sweep_mesh.h"
#include "touch_mesh.h"

int fil_touch_capsule_mesh(const double a[2][3], double radius, const FilMesh *mesh,
                           const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    (void)a, (void)radius, (void)mesh, (void)pose, (void)reach, (void)out;
    return 0;
}

double fil_sweep_segment_mesh(const double a[2][2][3], const FilMesh *mesh, const FilPose pose[2],
                              double tolerance) {
    (void)a, (void)mesh, (void)pose, (void)tolerance;
    return 2.0;
}
