#ifndef FIL_COLLIDE_SWEEP_MESH_H
#define FIL_COLLIDE_SWEEP_MESH_H

// The swept check of a segment against a mesh; see sweep.h for the conventions.

#include "filum/shape.h"

/// The earliest part of the step, in [0, 1], at which a moving segment comes within `tolerance` of
/// the surface of a mesh that moves from pose[0] to pose[1], or 0 when it starts inside; above 1
/// where it does not. Never late; early by no more than a thousandth of the tolerance, or by the
/// rounding of the coordinates.
double fil_sweep_segment_mesh(const double a[2][2][3], const FilMesh *mesh, const FilPose pose[2],
                              double tolerance);

#endif
