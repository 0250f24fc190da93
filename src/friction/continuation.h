#ifndef FIL_FRICTION_CONTINUATION_H
#define FIL_FRICTION_CONTINUATION_H

// A path from a smooth problem that is easy to the problem itself: see continuation.c.

#include "newton_step.h"
#include "proximal.h"

/// Follow the path. `finish` solves the problem itself from points of the path that are near its
/// end; its linear system is used on the way. `r` receives the best that it found, and is left
/// alone where it found nothing. For systems with a stored W,
/// small enough to be factored (not fil_schwarz_fits()).
FilStatus fil_continuation_solve(const FilSystem *s, const FilIslandTask *task, FilProximal *finish,
                                 double *r, FilIslandResult *result);

#endif
