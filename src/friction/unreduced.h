#ifndef FIL_FRICTION_UNREDUCED_H
#define FIL_FRICTION_UNREDUCED_H

#include "primal.h"
#include "reduce.h"

/// Solves with the matrix M of all bodies, one sparse factorisation.
typedef struct FilMassSolver FilMassSolver;

/// The system of a global problem whose bodies are too large to form W: cloth, one big mesh.
/// W r is had by solving with M; Newton steps are taken in the velocities. The solver of M, in
/// `*mass`, lives in `arena`.
FilStatus fil_system_unreduced(const FilFrictionProblem *problem, const FilReduction *reduction,
                               int threads, FilArena *arena, FilArena *scratch, FilSystem *out,
                               FilMassSolver **mass);

/// x := M^-1 x, in the order of v; unknowns that no contact touches are solved too.
bool fil_mass_solve(FilMassSolver *mass, double *x);

#endif
