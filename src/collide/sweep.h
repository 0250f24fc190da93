#ifndef FIL_COLLIDE_SWEEP_H
#define FIL_COLLIDE_SWEEP_H

// The swept check: did a centreline pass through another one, or into a solid, during a step in
// which every point moved on a straight line? Never misses a crossing (round-off included); may
// report one that only came within `tolerance` of it, or within round-off of that: some 1e-5 of the
// tolerance and 1e-11 of the size of the input. Where long segments turn past each other so closely
// (1e-3 of their length) that a thousand steps do not settle it, it reports a meeting too. Input
// that is not finite gives 0.

#include "filum/shape.h"

/// The earliest part of the step, in [0, 1], at which two moving segments come within `tolerance`
/// (m, at least 0) of each other; above 1 where they do not. [time][end][coordinate].
double fil_sweep_segments(const double a[2][2][3], const double b[2][2][3], double tolerance);

/// The same for a moving segment and a solid that moves from pose[0] to pose[1] (rigidly: its
/// position on a line, turning at a constant rate). A segment that is inside at the start gives 0.
double fil_sweep_segment_shape(const double a[2][2][3], const FilShape *shape,
                               const FilPose pose[2], double tolerance);

#endif
