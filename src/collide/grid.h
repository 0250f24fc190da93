#ifndef FIL_COLLIDE_GRID_H
#define FIL_COLLIDE_GRID_H

// The broad phase for pieces of like size: a uniform grid. All pairs of boxes that overlap or
// touch, each once, i < j, sorted: the same list whatever the number of threads. Boxes are rounded
// outwards to floats from the middle of the scene: a pair that is apart by less than 1e-6 of its
// distance from there may be listed too. A grid keeps its memory: the same boxes, done again,
// allocate nothing.

#include "base/arena.h"

typedef struct FilBox {
    double low[3], high[3]; // m
} FilBox;

typedef struct FilGrid FilGrid;

FilStatus fil_grid_create(const FilAllocator *allocator, FilGrid **out, FilError *error);
void fil_grid_destroy(FilGrid *grid);

/// Asked about pairs before they are stored: bring those that count to the front, and return how
/// many there are.
typedef int (*FilPairFilter)(const void *user, int (*pairs)[2], int count);

typedef struct FilGridQuery {
    int count;
    const FilBox *boxes; // [count]
    FilPairFilter sift;  // called from several threads at once; NULL: all pairs count
    const void *user;    // for sift
    int threads;
} FilGridQuery;

/// Find the pairs. `*pairs` ([pair_count][2]) belongs to the grid and lives until the next call.
/// Boxes may be of any size: each meets those of its own size and larger ones, so that a few large
/// boxes among many small ones stay cheap. Infinite boxes are fine; a NaN spoils its own box only.
FilStatus fil_grid_pairs(FilGrid *grid, const FilGridQuery *query, const int (**pairs)[2],
                         int64_t *pair_count, FilError *error);

#endif
