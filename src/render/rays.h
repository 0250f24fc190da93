#ifndef FIL_RENDER_RAYS_H
#define FIL_RENDER_RAYS_H

// Random directions, and rays that ask what is in the way.

#include "model.h"

// Where rays come from: a pixel, or a site on a hair. Samples of two sources know nothing of each
// other, so that any order of them gives the same picture.
typedef struct FilSource {
    FilQuery query;
    bool sheltered; // a ray came near something
} FilSource;

FilSource fil_source_make(const FilModel *model, uint32_t seed, int samples);

/// Two numbers in 0 .. 1, for each sample or for `every` so many; each use has a `pair` of its own.
void fil_draw_pair(const FilSource *source, uint32_t pair, uint32_t every, float out[2]);

/// A direction to somewhere on the key light; its middle where there is but one sample.
V3 fil_towards_light(const FilSource *source);

/// A direction to the half above, weighed by the cosine to the normal.
V3 fil_towards_sky(const FilSource *source, uint32_t every, V3 normal);

/// Does a ray come near anything at all? Most of those from the ground do not.
bool fil_is_near(const FilModel *model, V3 from, V3 towards, float distance);

/// Is anything in the way? Light goes through hair, so that some samples do too.
bool fil_is_blocked(FilSource *source, V3 from, V3 towards, float distance);

#endif
