#ifndef FIL_MOTION_H
#define FIL_MOTION_H

/// Prescribed motions, of obstacles and of the ends of rods.

#include "filum/base.h"
#include "filum/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where the motion stands at one time.
typedef struct FilMotionKey {
    double time;    ///< s
    double at[3];   ///< m: how far from the start
    double turn[3]; ///< rad: rotation vector, how it is turned against the start
} FilMotionKey;

#define FIL_MOTION_BETWEEN_TABLE(X) \
    X(FIL_MOTION_SMOOTH, "smooth")  \
    X(FIL_MOTION_LINEAR, "linear")

#define FIL_MOTION_ENUM(code, name) code,
typedef enum FilMotionBetween {
    FIL_MOTION_BETWEEN_TABLE(FIL_MOTION_ENUM) FIL_MOTION_BETWEEN_COUNT
} FilMotionBetween;

/// A rigid motion of space, x -> pivot + R(t) (x - pivot) + d(t), so that everything that follows
/// it keeps together: a head and its hair. Three parts add up (the turns in this order, the last
/// one first on the body):
///   keys      between them cubics that do not overshoot and rest at both ends, or straight lines
///   swing     sine of time: swing_at and swing_turn are the amplitudes
///   constant  velocity and spin, while from <= t <= until
/// All zero is rest. It is a continuous function of time, and the identity at time 0 unless the
/// keys or the phase say otherwise.
typedef struct FilMotion {
    double pivot[3]; ///< m
    int key_count;
    const FilMotionKey *keys; ///< times rising; before the first and after the last it rests
    FilMotionBetween between;
    double swing_at[3];   ///< m
    double swing_turn[3]; ///< rad
    double swing_period;  ///< s; 0: no swing
    double swing_phase;   ///< rad
    double velocity[3];   ///< m/s
    double spin[3];       ///< rad/s
    double from, until;   ///< s; until may be infinite
} FilMotion;

/// Rest.
FIL_API FilMotion fil_motion_default(void);

/// The pose at `time` of what was at `start`, and how it moves (each may be NULL).
FIL_API void fil_motion_at(const FilMotion *motion, double time, const FilPose *start,
                           FilPose *pose, FilRate *rate);

/// The same in the form of FilRodEnd.motion: `motion` is a FilMotion, `pose` the start pose on
/// entry.
FIL_API void fil_motion_apply(void *motion, double time, FilPose *pose);

#ifdef __cplusplus
}
#endif

#endif
