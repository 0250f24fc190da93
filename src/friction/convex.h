#ifndef FIL_FRICTION_CONVEX_H
#define FIL_FRICTION_CONVEX_H

// The convex problems that solvers of friction are built from,
//
//     min 1/2 r^T W r + b^T r  over the r_i in their impulse cones,
//
// that is u = W r + b with u_i in the dual cone, orthogonal to r_i. Optionally the cones of
// contacts are replaced by cylinders r_N >= 0, |r_T| <= threshold (Tresca's friction).

#include "cone.h"
#include "island.h"
#include "math/block_lu.h"

/// The system with coulomb blocks as plain cones, whose residuals are those of the convex problem.
FilStatus fil_system_as_cones(const FilSystem *s, FilArena *arena, FilSystem *out);

/// A convex solver. The system must outlive it; its b may change between solves. `solve` starts at
/// r where the method can, leaves the best iterate there, adds to the iterations of `result`, and
/// takes at most `limit` of its own.
typedef struct FilConvexMethod {
    int limit; // iterations that a solve may need
    FilStatus (*create)(const FilSystem *s, const FilIslandTask *task, void **self);
    FilOutcome (*solve)(void *self, const FilIslandTask *task, int limit, double *r,
                        FilIslandResult *result);
} FilConvexMethod;

/// NULL is never returned. The primal barrier does not know balls: a system that has some gets the
/// primal-dual one.
const FilConvexMethod *fil_convex_method(FilConvexSolver solver, const FilSystem *s);

extern const FilConvexMethod fil_interior_method;
extern const FilConvexMethod fil_interior_primal_method;
extern const FilConvexMethod fil_gradient_method;

/// The interior point method for Tresca's problem: threshold[i] >= 0 for every block, used where
/// the block is a cone (not a dual one).
FilStatus fil_interior_create_tresca(const FilSystem *s, const FilIslandTask *task,
                                     const double *threshold, void **self);

// --- what the two interior point methods share ---------------------------------------------------

/// One factor of the product of cones, in coordinates that make it self-dual:
///     y_k = f_k r_(first + k),   x_k = u_(first + k) / f_k,   f = (normal, tangent, tangent, ..).
/// `fixed`: y_0 is a constant, the radius, not an impulse, and x_0 not a velocity: the disc of
/// Tresca, or a ball, whose `first` is one before its block.
typedef struct FilConePart {
    int block;
    int first; // unknown of its first component
    int at;    // place of its first component in x and y
    int size;
    bool fixed;
    double radius; // of a fixed part
    double normal, tangent;
} FilConePart;

typedef struct FilCones {
    const FilSystem *s;
    int threads;
    const double *threshold; // or NULL
    FilConePart *part;
    int count;       // parts
    int storage;     // components of all parts
    bool *dropped;   // [size] unknowns that are 0: no part, no equation
    bool *equal;     // [size] unknowns without a cone: u = 0
    int64_t *D_at;   // [n + 1] where the square block of i begins
    double *D;       // the scaling, in the coordinates of r
    double *L;       // L L^T = W_ii + D_i, lower triangles
    const double *W; // values of W, dropped rows and columns being those of a diagonal
    double *scaled;  // values of L^-1 (W + D) L^-T
    FilBlockLu *lu;
} FilCones;

FilStatus fil_cones_create(const FilSystem *s, const FilIslandTask *task, const double *threshold,
                           FilCones *out);

/// Factor W + D, D the blocks T^2 of the parts.
void fil_cones_factor(FilCones *cones, const FilConeScaling *scaling);

/// Operations of an iteration: a factorisation, products, solves.
double fil_cones_work(const FilCones *cones);

/// x := (W + D)^-1 x, with 0 in the dropped unknowns. False when that is of no use.
bool fil_cones_solve(FilCones *cones, double *x);

/// y of the parts from r; the constants of fixed parts are left alone.
void fil_cones_gather(const FilCones *cones, const double *r, double *y);

/// r += factor * y of a part, fixed components left out.
void fil_cones_add(const FilConePart *part, const double *y, double *r);

/// As fil_island_is_solved(), for the problem at hand; a residual that round-off may hide does not
/// count as one.
bool fil_cones_is_solved(const FilCones *cones, const FilIslandTask *task, const double *u,
                         const double *r, double *scaled);

/// A typical sqrt(impulse * velocity): where interior point methods begin.
double fil_cones_unit(const FilCones *cones);

#endif
