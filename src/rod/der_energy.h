#ifndef FIL_ROD_DER_ENERGY_H
#define FIL_ROD_DER_ENERGY_H

// The elastic energy of a chain of straight edges with a material frame each: what an edge and a
// joint between two edges store, with gradients and Hessians in the edges' own variables.
//
// The variables of an edge are four: its vector e and a turn s about itself. A variation of e alone
// turns the edge's frame without spin about the edge (parallel transport); ds turns it about the
// edge. In these variables the Hessian of the whole rod is block tridiagonal, blocks of 4 x 4.

#include <stdbool.h>
#include <stddef.h>

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

// A rod's shape, and the springs on it.
typedef struct FilShape {
    double *x;      // [edge_count + 1][3] m
    FilEdge *edges; // [edge_count]
    FilBend *bends; // [edge_count - 1], room for one; bend j between the edges j and j + 1
} FilShape;

typedef struct FilSprings {
    const FilEdgeSpring *stretch; // [edge_count]
    const FilBendSpring *bend;    // [edge_count - 1]
    const double *tension;        // N, of each edge, instead of that of its stretch, or NULL
} FilSprings;

// How a Hessian becomes a band matrix. Unknowns stand in the order x0 s0 x1 s1 .. (stride 4) or
// x0 x1 .. (stride 3, the turns left out); row i holds the columns i .. i + 2 stride + 2.
typedef struct FilBandFrame {
    int edge_count, stride;
    int ghosts[2]; // 1 where the first, the last edge is given
    double factor; // of the Hessian
} FilBandFrame;

/// Numbers that such a matrix needs room for: all rows of a last edge that is not there, and what
/// the last vector may reach beyond.
static inline size_t fil_band_room(int edge_count, int stride) {
    return (size_t)(edge_count + 1) * (size_t)stride * (size_t)(2 * stride + 3) + 4;
}

// --- kernels (der_energy.c, der_kernels.h) -------------------------------------------------------

typedef struct FilDerKernels {
    const char *name;
    // Place the edges first .. last - 1 between the nodes x: n1 is that of `from`, transported to
    // the new direction without spin, then turned by the spin that the caller has set less that of
    // `from`.
    void (*place_edges)(int first, int last, const FilEdge *from, const double *x, FilEdge *edges);
    // Place all joints; of all twists that differ by full turns the one nearest to that of `from`,
    // changed as the edges turned since, is meant.
    void (*place_joints)(int edge_count, const FilShape *from, FilShape *to);
    // Gradient by the variables (e, s) of each edge, [edge_count][4]; `tension` is not looked at.
    void (*gradient)(int edge_count, const FilShape *shape, const FilSprings *springs, double *g);
    // The Hessian as a band matrix.
    void (*hessian)(const FilShape *shape, const FilSprings *springs, FilHessianPart part,
                    const FilBandFrame *frame, double *band);
} FilDerKernels;

/// The fastest variant that this machine runs; and variant `index`, NULL when it does not run or
/// there is none. All give the same bits.
const FilDerKernels *fil_der_kernels(void);
const FilDerKernels *fil_der_variant(int index);

double fil_stretch_energy(const FilEdge *edge, const FilEdgeSpring *spring);
double fil_bend_energy(const FilBend *bend, const FilBendSpring *spring);

// --- frames (der_frames.c) -----------------------------------------------------------------------

/// The frame of `from`, transported to the direction t without spin, then turned by `turn`; of
/// `edge` only t and n1 are set.
void fil_edge_carry(const FilEdge *from, const double t[3], double turn, FilEdge *edge);

/// The turn about t that takes the transported n1 of `from` to n1, both on the edge direction t.
double fil_edge_turn(const FilEdge *from, const double t[3], const double n1[3]);

/// The axes that follow after `axis` over a joint with these strains: the inverse of placing.
void fil_bend_follow(double axis[3][3], const double kappa[3], double next[3][3]);

/// The strains of a joint that turns by the integrated curvature `angle` (twist, 1, 2).
void fil_bend_strain(const double angle[3], double kappa[3]);
/// The integrated curvature of a joint with these strains.
void fil_bend_angle(const double kappa[3], double angle[3]);

#endif
