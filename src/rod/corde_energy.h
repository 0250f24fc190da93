#ifndef FIL_ROD_CORDE_ENERGY_H
#define FIL_ROD_CORDE_ENERGY_H

// The two elastic parts of the model `corde`: edges (stretch, and the coupling of the frame to the
// edge) and joints (bending and twist between two frames). The mathematics is in corde_energy.c.
// Gradients and Hessians are with respect to the edge vector e and to spins in world axes, the
// Hessians along exp(w) q. Matrices of 3 x 3 are row-major.

// An element: an edge with the frame that lives on it.
typedef struct FilCordeEdge {
    double length;  // m, at rest
    double stretch; // N: EA
    double couple;  // N: stiffness of the coupling
} FilCordeEdge;

// What holds two neighbouring frames a and b together.
typedef struct FilCordeJoint {
    double stiffness[3]; // N m: about n0, n1, n2
    double rest[3];      // rad: the turn from a to b in the natural shape, in the axes of a
} FilCordeJoint;

// Hessian of an edge: blocks (e, e), (e, w) and (w, w).
typedef struct FilCordeEdgeHessian {
    double ee[9], ew[9], ww[9];
} FilCordeEdgeHessian;

/// Stretch energy and, in `couple`, that of the coupling, J; n is the frame's axis n0.
double fil_corde_edge_energy(const FilCordeEdge *edge, const double e[3], const double n[3],
                             double *couple);
void fil_corde_edge_gradient(const FilCordeEdge *edge, const double e[3], const double n[3],
                             double force[3], double torque[3]);
void fil_corde_edge_hessian(const FilCordeEdge *edge, const double e[3], const double n[3],
                            FilCordeEdgeHessian *hessian);
/// Positive semi-definite: the part that rates of strain see, and the stiffness of a string under
/// `tension`.
void fil_corde_edge_stiffness(const FilCordeEdge *edge, const double e[3], double tension,
                              FilCordeEdgeHessian *hessian);

/// What resists the change of strain from shape 0 to shape 1 (edge vectors and matrices of the
/// frames), in shape 1: C l and EA/l times the changes. Rigid motions change nothing.
void fil_corde_edge_change(const FilCordeEdge *edge, const double *const e[2],
                           const double *const R[2], double force[3], double torque[3]);

/// The turn from frame a to frame b as a rotation vector in the axes of a (and of b), |turn| <= pi.
void fil_corde_turn(const double qa[4], const double qb[4], double turn[3]);

double fil_corde_joint_bend(const FilCordeJoint *joint, const double turn[3]);
double fil_corde_joint_twist(const FilCordeJoint *joint, const double turn[3]);
/// In the axes of a: the gradient with respect to the spin of b is R_a moment, that of a minus it.
void fil_corde_joint_moment(const FilCordeJoint *joint, const double turn[3], double moment[3]);
/// The same for the change from one turn to another, in shape 1.
void fil_corde_joint_change(const FilCordeJoint *joint, const double turn0[3],
                            const double turn1[3], double moment[3]);
/// In the axes of a, with respect to spin b - spin a: symmetric; the exact Hessian has the further
/// block -1/2 [R_a moment]x in (b, a).
void fil_corde_joint_hessian(const FilCordeJoint *joint, const double turn[3], double hessian[9]);
/// The same, only the part that rates of strain see: positive semi-definite.
void fil_corde_joint_stiffness(const FilCordeJoint *joint, const double turn[3],
                               double stiffness[9]);

/// The frame at the part x of the way from a to b, beyond both too, turns with the spin
/// (I - B) w_a + B w_b; B in the axes of a.
void fil_corde_between(const double turn[3], double x, double B[9]);

/// How the generalised force of a torque, fixed in space, on that frame changes with both spins:
/// the symmetric part of its derivative, 6 x 6 in (w_a, w_b), all in the axes of a.
void fil_corde_between_torque(const double turn[3], double x, const double torque[3], double S[36]);

/// q <- exp(w) q, of unit length.
void fil_corde_rotate(const double w[3], double q[4]);

#endif
