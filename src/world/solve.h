#ifndef FIL_WORLD_SOLVE_H
#define FIL_WORLD_SOLVE_H

// The velocities at the end of a step.

#include "world.h"

/// How much the last linearisation of elasticity may change the velocities, of the largest of them.
/// What is left is about the square; a step that leaves more is not converged.
#define FIL_MOST_UNBALANCED 3e-2

/// v+ of all bodies into step->after, impulses and velocities of the contacts into step->r and u,
/// generalised impulses into step->push, and the correction of overlaps into step->shift. `failed`:
/// a body refuses the step.
FilStatus fil_world_solve(FilWorld *world, FilWorldTry *step, FilStepInfo *info, bool *failed,
                          FilError *error);

#endif
