#ifndef FIL_POSE_H
#define FIL_POSE_H

/// Where something is, how it is turned, and how it moves.

#ifdef __cplusplus
extern "C" {
#endif

/// A place and three orthonormal axes there: axis[k] is n_k in world coordinates. On a rod n0 is
/// the tangent.
typedef struct FilPose {
    double position[3]; ///< m
    double axis[3][3];
} FilPose;

/// How a pose moves.
typedef struct FilRate {
    double velocity[3]; ///< m/s
    double spin[3];     ///< angular velocity about the world's axes, rad/s
} FilRate;

#ifdef __cplusplus
}
#endif

#endif
