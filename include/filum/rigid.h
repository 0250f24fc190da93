#ifndef FIL_RIGID_H
#define FIL_RIGID_H

/// Rigid bodies: a solid shape with mass and inertia that moves freely.
///
/// Velocities and momenta are those of the centre of mass, which need not be the origin of the
/// shape's axes. A body is used by one thread at a time.

#include "filum/base.h"
#include "filum/pose.h"
#include "filum/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a body is and how it starts.
typedef struct FilRigidDef {
    FilShape shape; ///< not a plane; a mesh is borrowed and must outlive the body
    double density; ///< kg/m^3; used when `mass` is 0
    double mass;    ///< kg; 0: volume times density
    /// kg m^2, about the centre of mass, along the shape's own axes; all zeros: that of the shape
    /// with its mass spread evenly. Otherwise symmetric, positive definite, and such that each
    /// principal moment is at most the sum of the other two.
    double inertia[3][3];
    /// m: where the centre of mass is, in the shape's own axes, when `inertia` is given; otherwise
    /// it is that of the shape.
    double centre[3];
    FilPose pose;      ///< of the shape
    FilRate rate;      ///< velocity of the centre of mass, spin
    double gravity[3]; ///< m/s^2
} FilRigidDef;

/// A ball of 1 cm radius and 1000 kg/m^3 at rest at the origin; gravity along -z.
FIL_API FilRigidDef fil_rigid_def_default(void);

typedef struct FilRigid FilRigid;

/// Make a body. The caller owns `*out` and gives it back with fil_rigid_destroy(). On failure
/// `*out` is left alone and `error`, when not NULL, names the field, its value and the rule.
FIL_API FIL_MUST_CHECK FilStatus fil_rigid_create(const FilRigidDef *def,
                                                  const FilAllocator *allocator, FilRigid **out,
                                                  FilError *error);
FIL_API void fil_rigid_destroy(FilRigid *rigid); ///< NULL is fine

/// Advance by `dt` seconds in free flight, under gravity and load. Angular momentum is kept to
/// round-off, whatever the step; energy has no drift. When the step would leave the range of
/// numbers the body stays as it was and the call fails.
FIL_API FIL_MUST_CHECK FilStatus fil_rigid_step(FilRigid *rigid, double dt, FilError *error);

FIL_API const FilShape *fil_rigid_shape(const FilRigid *rigid); ///< borrowed
FIL_API double fil_rigid_mass(const FilRigid *rigid);           ///< kg
/// kg m^2, about the centre of mass, along the world's axes, now.
FIL_API void fil_rigid_inertia(const FilRigid *rigid, double inertia[3][3]);
FIL_API void fil_rigid_pose(const FilRigid *rigid, FilPose *pose);      ///< of the shape
FIL_API void fil_rigid_centre(const FilRigid *rigid, double centre[3]); ///< of mass, m
FIL_API void fil_rigid_rate(const FilRigid *rigid, FilRate *rate);      ///< of the centre of mass
/// kg m^2/s, about the centre of mass, along the world's axes.
FIL_API void fil_rigid_angular_momentum(const FilRigid *rigid, double momentum[3]);

typedef struct FilRigidEnergy {
    double translation, rotation; ///< J, kinetic
    double gravity;               ///< J, 0 at the world's origin
} FilRigidEnergy;

FIL_API void fil_rigid_energy(const FilRigid *rigid, FilRigidEnergy *energy);

FIL_API FIL_MUST_CHECK FilStatus fil_rigid_set_pose(FilRigid *rigid, const FilPose *pose,
                                                    FilError *error);
FIL_API FIL_MUST_CHECK FilStatus fil_rigid_set_rate(FilRigid *rigid, const FilRate *rate,
                                                    FilError *error);
FIL_API FIL_MUST_CHECK FilStatus fil_rigid_set_gravity(FilRigid *rigid, const double gravity[3],
                                                       FilError *error);
/// A force (N) on the centre of mass and a torque (N m), world axes, until changed.
FIL_API FIL_MUST_CHECK FilStatus fil_rigid_set_load(FilRigid *rigid, const double force[3],
                                                    const double torque[3], FilError *error);

/// The state as one array: what a checkpoint saves. It fits bodies of the same definition. Gravity
/// and load are not part of it.
#define FIL_RIGID_STATE 13
FIL_API void fil_rigid_get_state(const FilRigid *rigid, double state[FIL_RIGID_STATE]);
FIL_API FIL_MUST_CHECK FilStatus fil_rigid_set_state(FilRigid *rigid,
                                                     const double state[FIL_RIGID_STATE],
                                                     FilError *error);

#ifdef __cplusplus
}
#endif

#endif
