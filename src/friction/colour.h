#ifndef FIL_FRICTION_COLOUR_H
#define FIL_FRICTION_COLOUR_H

#include "base/arena.h"
#include "system.h"

/// Blocks grouped so that those of a colour are not coupled: block[start[c] .. start[c + 1] - 1].
typedef struct FilColours {
    int count;
    const int *start; // [count + 1]
    const int *block; // [n]
} FilColours;

/// Colour the blocks of a system greedily in their order; with `several` false, one group with all
/// blocks in order, for sequential sweeps.
FilStatus fil_colours_find(const FilSystem *s, bool several, FilArena *arena, FilColours *out);

#endif
