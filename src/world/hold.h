#ifndef FIL_WORLD_HOLD_H
#define FIL_WORLD_HOLD_H

// The last resort of a step that can be cut no further: what cannot do it is held together.

#include "passing.h"

/// Bodies that are stuck, or of `passed` went through each other, are taken back to the start of
/// the step, and go on as one piece with what is in their way: they lost motion, and were held.
/// `passed` is what is left then. Where fates->beyond the step must be taken back.
FilStatus fil_world_hold(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                         FilPassed *passed, FilFates *fates, FilError *error);

#endif
