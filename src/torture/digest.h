#ifndef FIL_TORTURE_DIGEST_H
#define FIL_TORTURE_DIGEST_H

// Everything that a result file would hold of a step, as one number.

#include "filum/record.h"
#include "filum/stage.h"

/// Of the state of the world, the record of the step, and the frame after it; false: no memory. A
/// frame that is refused, because the world has exploded, counts as its sentence.
bool fil_torture_digest(FilStage *stage, FilRecorder *recorder, const FilStepInfo *info,
                        uint64_t *digest);

#endif
