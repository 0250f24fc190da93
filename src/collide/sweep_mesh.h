#ifndef FIL_COLLIDE_SWEEP_MESH_H
#define FIL_COLLIDE_SWEEP_MESH_H

#include "sweep.h"

/// A moving segment and a moving mesh: see fil_sweep_segment_shape().
double fil_sweep_segment_mesh(const double a[2][2][3], const FilMesh *mesh, const FilPose pose[2],
                              double tolerance);

#endif
