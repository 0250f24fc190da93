#ifndef FIL_RENDER_SITES_H
#define FIL_RENDER_SITES_H

// How much light reaches a hair, found at sites along it.

#include "model.h"

// Parts of the key light and of the sky that are seen from somewhere, 0 .. 1.
typedef struct FilSeen {
    float light, sky;
} FilSeen;

/// Lay the sites of all strands; false when there is no memory.
bool fil_sites_lay(FilModel *model);

/// What is seen from part u, 0 .. 1, of a piece of a hair.
FilSeen fil_sites_see(const FilModel *model, const FilRenderOptions *options, unsigned piece,
                      float u);

#endif
