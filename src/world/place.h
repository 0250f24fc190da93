#ifndef FIL_WORLD_PLACE_H
#define FIL_WORLD_PLACE_H

// Overlaps that a step brought are taken out at its end.

#include "passing.h"

/// Move bodies so that the pairs of `passed` that the step pressed into each other, and all that
/// touches them, do not overlap; no velocity comes of it. `moved` is false where nothing was to be
/// moved.
FilStatus fil_world_place(FilWorld *world, const FilWorldTry *step, const FilPose *poses,
                          const FilPassed *passed, bool *moved, FilError *error);

/// Move body i along step->shift; `work` is that of the thread.
void fil_world_move_body(const FilWorld *world, const FilWorldTry *step, int i, double *work);

/// Scratch for that, of every thread.
FilStatus fil_world_reserve_moves(FilWorld *world, double ***work, FilError *error);

/// Make the marked bodies ready where they are at the end of a step, with their velocities, whose
/// `before` and `free_velocity` have room. False when that gives no numbers.
bool fil_world_prepare_end(const FilWorld *world, const FilWorldTry *end, const bool *marked);

#endif
