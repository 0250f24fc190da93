#ifndef FIL_COLLIDE_SWEEP_SOLIDS_H
#define FIL_COLLIDE_SWEEP_SOLIDS_H

// The swept check of two solids.

#include "filum/shape.h"

/// Where a solid that moves from pose[0] to pose[1] is after the part `time` of the step: its
/// position on a line, turning at a constant rate.
void fil_pose_between(const FilPose pose[2], double time, FilPose *out);

/// The earliest part of the step, in [0, 1], at which two moving solids overlap by `depth` (m,
/// above 0); above 1 where they do not. No point of one goes farther than `way` (m) as seen from
/// the other. No planes.
double fil_sweep_shapes(const FilShape *a, const FilPose pose_a[2], const FilShape *b,
                        const FilPose pose_b[2], double way, double depth);

#endif
