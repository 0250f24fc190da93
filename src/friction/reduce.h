#ifndef FIL_FRICTION_REDUCE_H
#define FIL_FRICTION_REDUCE_H

// From the global problem M v = H r + f, u = H^T v + w to bodies and reduced velocities.

#include "base/arena.h"
#include "system.h"

/// The bodies of a global problem are the connected parts of M.
typedef struct FilReduction {
    int dof_count;
    int body_count;
    const int *body_start; // [body_count + 1] in the order of the bodies
    const int *dof;        // [dof_count] unknown of v at a place of that order
    const int *place;      // [dof_count] its inverse
    const int *body_of;    // [dof_count] body of an unknown of v
    int largest_body;
    double *factor; // LU of the bodies' blocks of M, one after the other; NULL until factored
    int *pivot;     // [dof_count]
    const int64_t *factor_at; // [body_count + 1]
} FilReduction;

/// Find the bodies.
FilStatus fil_reduction_begin(const FilGlobalForm *global, FilArena *arena, FilReduction *out);

/// Factor M body by body; meant for bodies of a few hundred unknowns at most. `*singular` is the
/// first body whose part of M is singular to round-off, -1 when there is none.
FilStatus fil_reduction_factor(FilReduction *x, const FilSparse *M, FilArena *arena, int *singular);

/// v := M^-1 v; `work` has dof_count places.
void fil_reduction_solve(const FilReduction *x, double *v, double *work);

/// v = M^-1 (H r + f).
void fil_reduction_velocity(const FilReduction *x, const FilGlobalForm *global, const double *r,
                            double *v, double *work);

/// A problem by bodies with the same W and b; the arrays live in `arena`.
FilStatus fil_reduction_problem(const FilReduction *x, const FilFrictionProblem *problem,
                                const int *offset, FilArena *arena, FilFrictionProblem *out);

#endif
