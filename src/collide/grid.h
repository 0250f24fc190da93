#ifndef FIL_COLLIDE_GRID_H
#define FIL_COLLIDE_GRID_H

// The broad phase for pieces of like size: a uniform grid, hashed. All pairs of boxes that overlap,
// each once, i < j, sorted: the same list whatever the number of threads. A grid keeps its memory:
// the same number of boxes, done again, allocates nothing.

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
