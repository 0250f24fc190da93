#ifndef FIL_WORLD_EFFORT_H
#define FIL_WORLD_EFFORT_H

// What a step may take: the work of its friction solves, and whether somebody wants it to end.

#include "world.h"

/// Steps in a row that get a part of the budget, at most.
enum { FIL_MOST_THRIFTY = 16 };

/// A step begins: nothing is spent, and nobody has asked for its end.
void fil_effort_begin(FilWorld *world);

/// A step is done: what the next may take.
void fil_effort_end(FilWorld *world);

/// FIL_E_INTERRUPTED where somebody wants the step to end. Called often, by the thread that steps.
FilStatus fil_effort_look(FilWorld *world, FilError *error);

/// Solve a friction problem of the step, with what is left of its budget. The solve ends early, and
/// fails with FIL_E_INTERRUPTED, where somebody wants the step to end.
FilStatus fil_effort_solve(FilWorld *world, const FilFrictionProblem *problem,
                           const FilFrictionSettings *settings, FilFrictionSolution *solution,
                           FilFrictionInfo *info, FilError *error);

/// Whether the budget of the step is spent: solves go on, with little, but what would make more of
/// them is left out.
bool fil_effort_is_spent(const FilWorld *world);

#endif
