#ifndef FIL_ROD_DER_ENERGY_H
#define FIL_ROD_DER_ENERGY_H

// The elastic energy of a chain of straight edges with a material frame each: what an edge and a
// joint between two edges store, with gradients and Hessians in the edges' own variables.
//
// The variables of an edge are four: its vector e and a turn s about itself. A variation of e alone
// turns the edge's frame without spin about the edge (parallel transport); ds turns it about the
// edge. In these variables the Hessian of the whole rod is block tridiagonal, blocks of 4 x 4.

#include <stdbool.h>

// An edge as it is placed. t, n1 and t x n1 are its axes.
typedef struct FilEdge {
    double t[3], n1[3];
    double length; // m
    double spin;   // rad: turn about itself since the step began
} FilEdge;

// A spring k/2 (length - rest)^2 along an edge.
typedef struct FilEdgeSpring {
    double k, rest; // N/m, m
} FilEdgeSpring;

// A joint as it is placed: strains integrated over the cell of a node.
typedef struct FilBend {
    double kb[3];    // curvature binormal, 2 tan(angle / 2) about the axis of the bend
    double inverse;  // 1 / (1 + cos(angle))
    double d1[3];    // n1 at the middle of the twist, seen from the first edge
    double kappa[3]; // (twist, kappa1, kappa2): rad, -, -
} FilBend;

// A spring k/2 (kappa - rest)^2 for each of the three strains of a joint.
typedef struct FilBendSpring {
    double k[3], rest[3]; // N m
} FilBendSpring;

// How much of the Hessian is kept: all of it; without what compression takes away from the
// transverse stiffness of an edge; only the part without stresses, which is never negative.
typedef enum FilHessianPart {
    FIL_HESSIAN_FULL,
    FIL_HESSIAN_CLIPPED,
    FIL_HESSIAN_STRESSFREE
} FilHessianPart;

// --- frames (der_frames.c) -----------------------------------------------------------------------

/// Place an edge from x to y: its n1 is that of `from`, transported to the new direction without
/// spin, then turned by edge->spin - from->spin, which the caller has set.
void fil_edge_place(const FilEdge *from, const double x[3], const double y[3], FilEdge *edge);

/// The turn about t that takes the transported n1 of `from` to n1, both on the edge direction t.
double fil_edge_turn(const FilEdge *from, const double t[3], const double n1[3]);

/// Place a joint between edges e and f; of all twists that differ by full turns the one nearest to
/// `twist` is meant.
void fil_bend_place(const FilEdge *e, const FilEdge *f, double twist, FilBend *bend);

/// The axes that follow after `axis` over a joint with these strains: the inverse of placing.
void fil_bend_follow(double axis[3][3], const double kappa[3], double next[3][3]);

/// The strains of a joint that turns by the integrated curvature `angle` (twist, 1, 2).
void fil_bend_strain(const double angle[3], double kappa[3]);
/// The integrated curvature of a joint with these strains.
void fil_bend_angle(const double kappa[3], double angle[3]);

// --- energies (der_energy.c) ---------------------------------------------------------------------

double fil_stretch_energy(const FilEdge *edge, const FilEdgeSpring *spring);
double fil_bend_energy(const FilBend *bend, const FilBendSpring *spring);

/// Add to the gradient g = (e, s) of an edge; of both edges of a joint.
void fil_stretch_gradient(const FilEdge *edge, const FilEdgeSpring *spring, double g[4]);
void fil_bend_gradient(const FilEdge *e, const FilEdge *f, const FilBend *bend,
                       const FilBendSpring *spring, double ge[4], double gf[4]);

/// Subtract from the block of an edge how the generalised force of a torque, fixed in space,
/// changes with the edge: its symmetric part.
void fil_torque_hessian(const FilEdge *edge, const double torque[3], double H[16]);

/// Add to the 4 x 4 blocks (row-major): of an edge; of `count` joints in a row, with the blocks own
/// of their count + 1 edges and, between the edges j and j + 1, the block with rows of j and
/// columns of j + 1.
void fil_stretch_hessian(const FilEdge *edge, const FilEdgeSpring *spring, FilHessianPart part,
                         double H[16]);
void fil_bends_hessian(int count, const FilEdge *edges, const FilBend *bends,
                       const FilBendSpring *springs, FilHessianPart part, double *own,
                       double *between);

#endif
