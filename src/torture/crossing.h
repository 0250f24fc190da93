#ifndef FIL_TORTURE_CROSSING_H
#define FIL_TORTURE_CROSSING_H

// Did something pass through something else between two frames? Brute force, by other means than
// the swept check of the library (crossing.c).

#include "filum/record.h"
#include "filum/scene.h"

typedef struct FilCrossing FilCrossing;

/// Prepare to compare frames of a scene; NULL: no memory.
FilCrossing *fil_crossing_create(const FilScene *scene, const FilResultDef *def);
void fil_crossing_destroy(FilCrossing *crossing);

typedef enum FilCrossed {
    FIL_CROSSED_NOTHING,
    FIL_CROSSED_PERHAPS, // centrelines cross if they went straight, and nobody knows whether
    FIL_CROSSED,
} FilCrossed;

/// Compare the frame with the one before it (the first is kept alone): did something pass through
/// something else? `what` (240 bytes) then says what. `straight`: from frame to frame every point
/// went on a line, as it does in a step that was not done in parts.
FilCrossed fil_crossing_look(FilCrossing *crossing, const FilFrame *frame, bool straight,
                             char *what);

#endif
