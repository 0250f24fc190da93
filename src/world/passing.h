#ifndef FIL_WORLD_PASSING_H
#define FIL_WORLD_PASSING_H

// The swept check of a step that was taken.

#include "world.h"

typedef struct FilPassed {
    const int **list; // candidates of the step whose centrelines met, in their order
    int count;
    bool whirled; // a rod, or a body next to one, turned by more than about a radian: nobody knows
                  // where it was on its way
    bool pressed; // a rod overlaps something by more than a fifth of its radius that it did not
                  // before
} FilPassed;

/// What happened between the start of the step and now. `poses` are those of the rigid bodies'
/// shapes at its start. The list lives in the world's scratch; step->pairs grows where a piece went
/// farther than was foreseen.
FilStatus fil_world_find_passed(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                                FilPassed *passed, FilError *error);

#endif
