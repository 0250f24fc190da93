#ifndef FIL_FRICTION_BLOCKS_H
#define FIL_FRICTION_BLOCKS_H

// W stored as dense blocks, compressed by block rows.

#include "base/arena.h"
#include "filum/friction.h"

typedef struct FilBlocks {
    int n;               // blocks in a row
    const int *offset;   // [n + 1] first unknown of a block
    const int *start;    // [n + 1] first entry of a row
    const int *column;   // [start[n]] ascending in a row
    const int64_t *at;   // [start[n] + 1] where an entry's values begin
    const int *diagonal; // [n] entry of the diagonal block
    const double *value; // row-major blocks
} FilBlocks;

static inline int fil_blocks_size(const int *offset, int i) {
    return offset[i + 1] - offset[i];
}

/// Rows of a pattern are found column by column: mark[j] == i says that row i has j already.
static inline void fil_blocks_clear_marks(int *mark, int n) {
    for (int i = 0; i < n; i++) {
        mark[i] = -1;
    }
}

/// Column j of row i: counted if it is new, and written where `column` is not NULL.
static inline void fil_blocks_note(int i, int j, int *mark, int *column, int *count) {
    if (mark[j] != i) {
        mark[j] = i;
        if (column != NULL) {
            column[*count] = j;
        }
        (*count)++;
    }
}

/// Sort the columns of a row.
void fil_blocks_sort(int *column, int count);

/// The entry of row i in column j, which must be in the pattern.
int fil_blocks_find(const FilBlocks *W, int i, int j);

/// y_i = sum_j W_ij x_j for one block row.
void fil_blocks_row(const FilBlocks *W, int i, const double *x, double *y);

/// y = W x, on up to `threads` threads.
void fil_blocks_multiply(const FilBlocks *W, const double *x, double *y, int threads);

/// Entries, their offsets and the diagonal from `start` and `column`, which must hold it.
/// Returns false without memory.
bool fil_blocks_index(FilBlocks *W, FilArena *arena);

/// [entries + 1] where the rows of an entry begin in H and HA. NULL without memory.
int64_t *fil_blocks_entry_offsets(const FilBodyRows *bodies, int n, const int *offset,
                                  FilArena *arena);

/// The blocks of W = sum over bodies of H A^-1 H^T.
FilStatus fil_blocks_from_bodies(const FilBodyRows *bodies, int n, const int *offset,
                                 FilArena *arena, FilBlocks *out);

/// The rows of W of an island: the blocks `member` (ascending, `count`), which W couples to no
/// others; `local` maps a block to its place among the members.
FilStatus fil_blocks_part(const FilBlocks *W, const int *member, int count, const int *local,
                          FilArena *arena, FilBlocks *out);

#endif
