#ifndef FIL_COLLIDE_GRID_H
#define FIL_COLLIDE_GRID_H

// The broad phase for pieces of like size: a uniform grid. All pairs of boxes that overlap or touch,
// each once, i < j, sorted: the same list whatever the number of threads. Boxes are rounded
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

/// Which pairs do not count, asked before they are stored; NULL: all count.
typedef bool (*FilPairFilter)(const void *user, int i, int j);

/// Find the pairs. `*pairs` ([count][2]) belongs to the grid and lives until the next call. Boxes
/// may be of any size: what is much larger than a cell is tested against all by other means (a few
/// large boxes among many small ones must stay cheap).
FilStatus fil_grid_pairs(FilGrid *grid, int count, const FilBox *boxes, FilPairFilter skip,
                         const void *user, int threads, const int (**pairs)[2], int64_t *pair_count,
                         FilError *error);

#endif
