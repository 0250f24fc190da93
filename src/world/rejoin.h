#ifndef FIL_WORLD_REJOIN_H
#define FIL_WORLD_REJOIN_H

#include "world.h"

/// At the end of a step, where the bodies are now: move them so that joints hold what they join; no
/// velocity comes of it.
FilStatus fil_world_rejoin(FilWorld *world, const FilWorldTry *step, FilError *error);

#endif
