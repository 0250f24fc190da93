#ifndef FIL_FRICTION_UNREDUCED_H
#define FIL_FRICTION_UNREDUCED_H

#include "primal.h"
#include "reduce.h"

/// Solves with the matrix M of all bodies, one sparse factorisation.
typedef struct FilMassSolver FilMassSolver;

/// The system of a global problem whose bodies are too large to form W: cloth, one big mesh.
/// W r is had by solving with M; Newton steps are taken in the velocities. False in `*regular` when
/// M is singular.
FilStatus fil_system_unreduced(const FilFrictionProblem *problem, const FilReduction *reduction,
                               const FilSystemUse *use, FilArena *arena, FilArena *scratch,
                               FilSystem *out, bool *regular);

/// x := M^-1 x, in the order of v.
void fil_mass_solve(FilMassSolver *mass, double *x);

/// v = M^-1 (H r + f).
void fil_unreduced_velocity(FilMassSolver *mass, const FilGlobalForm *global, const double *r,
                            double *v);

#endif
