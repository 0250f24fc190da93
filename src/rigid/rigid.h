#ifndef FIL_RIGID_RIGID_H
#define FIL_RIGID_RIGID_H

// A rigid body as the world sees it, in the words of rod/rod.h. The velocity v is (velocity of the
// centre of mass, spin), 6 numbers in world axes, and
//     A v+ = rhs + (contact rows)^T r
// where A is block diagonal: mass, and the inertia in the orientation that free flight would lead
// to. Without contact the step keeps the angular momentum to round-off.

#include "base/arena.h"
#include "filum/rigid.h"

#define FIL_RIGID_DOF 6

struct FilRigid {
    FilAllocator allocator;

    // model: frozen
    FilShape shape;
    double mass;      // kg
    double moment[3]; // kg m^2: principal moments
    double axes[9];   // rows: principal axes, in the shape's own axes
    double offset[3]; // m: centre of mass, in the shape's own axes

    // parameters
    double gravity[3], force[3], torque[3];
    unsigned revision; // grows with every change from outside, of parameters or state

    // state
    double centre[3];     // m
    double quaternion[4]; // turns the principal axes to where they are in the world
    double velocity[6];   // of the centre of mass, spin

    // scratch: of the last prepare()
    double turned[4];    // quaternion after free flight
    double free_spin[3]; // spin after free flight
    double inertia[9];   // world axes, after free flight
};

/// Write A (6 x 6, row-major; may be NULL) and rhs (6).
void fil_rigid_prepare(FilRigid *rigid, double dt, double *A, double rhs[FIL_RIGID_DOF]);
/// x <- A^-1 x, for the A of the last prepare().
void fil_rigid_solve(const FilRigid *rigid, double x[FIL_RIGID_DOF]);
/// Take the step with the velocity v+ of its end, after prepare() with the same dt.
void fil_rigid_advance(FilRigid *rigid, double dt, const double velocity[FIL_RIGID_DOF]);

/// Move the body by a displacement of its centre of mass and a small turn (6 numbers, world axes).
/// The spin turns with it, so that the energy stays.
void fil_rigid_move(FilRigid *rigid, const double dx[FIL_RIGID_DOF]);

/// The rows that turn v into the velocity of the point `at` (world) of the body: 3 x 6, row-major.
void fil_rigid_jacobian(const FilRigid *rigid, const double at[3], double rows[18]);

#endif
