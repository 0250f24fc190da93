// sparse.c - scalar sparse matrices and block rows, by counting sorts.
//
// Entries are sorted by row, then, stably, by column; so rows ascend inside a column, and entries
// of the same place meet in the order they were given and are added up.
//
// Block rows come from a matrix compressed by columns, read block column by block column: every
// block row sees its blocks in ascending order, and one mark per block row ("the last block column
// that reached me") is all that is needed to tell a new block from a known one. Nothing is sorted.
#include "sparse.h"

#include <string.h>

// counts[k + 1] holds how many of kind k there are; afterwards counts[k] is where kind k begins.
static void accumulate(int *counts, int kinds) {
    for (int k = 0; k < kinds; k++) {
        counts[k + 1] += counts[k];
    }
}

static int *count_kinds(FilArena *arena, int kinds, int count, const int *kind) {
    int *counts = FIL_NEW_ZEROED(arena, int, (size_t)kinds + 2);
    if (counts != NULL) {
        for (int e = 0; e < count; e++) {
            counts[kind[e] + 1]++;
        }
        accumulate(counts, kinds);
    }
    return counts;
}

// Add up neighbours in the same place and close the gaps.
static void merge_duplicates(int column_count, int *start, int *index, double *value) {
    int filled = 0;
    for (int j = 0, begin = 0; j < column_count; j++) {
        const int end = start[j + 1], first = filled;
        for (int e = begin; e < end; e++) {
            if (filled > first && index[filled - 1] == index[e]) {
                value[filled - 1] += value[e];
            } else {
                index[filled] = index[e];
                value[filled++] = value[e];
            }
        }
        begin = end;
        start[j + 1] = filled;
    }
}

bool fil_sparse_from_entries(const FilEntries *entries, FilArena *keep, FilArena *scratch,
                             FilSparse *out) {
    const int count = entries->count, columns = entries->column_count;
    int *start = FIL_NEW(keep, int, (size_t)columns + 1);
    int *index = FIL_NEW(keep, int, count);
    double *value = FIL_NEW(keep, double, count);
    const FilArenaMark mark = fil_arena_mark(scratch); // after those: the arenas may be the same
    int *by_row = FIL_NEW(scratch, int, count);
    int *row_next = count_kinds(scratch, entries->row_count, count, entries->row);
    int *next = count_kinds(scratch, columns, count, entries->column);
    if (keep->failed || scratch->failed) {
        fil_arena_release(scratch, mark);
        return false;
    }
    memcpy(start, next, ((size_t)columns + 1) * sizeof *start);
    for (int e = 0; e < count; e++) {
        by_row[row_next[entries->row[e]]++] = e;
    }
    for (int k = 0; k < count; k++) {
        const int e = by_row[k], at = next[entries->column[e]]++;
        index[at] = entries->row[e];
        value[at] = entries->value[e];
    }
    merge_duplicates(columns, start, index, value);
    *out = (FilSparse){.row_count = entries->row_count,
                       .column_count = columns,
                       .start = start,
                       .index = index,
                       .value = value};
    fil_arena_release(scratch, mark);
    return true;
}

typedef struct Blocks {
    const FilSparse *A;
    int count;
    const int *first; // first scalar of every block
    int *of;          // block of every scalar
    int *reached;     // per block row: the last block column that reached it
    int *next;        // per block row: where its next block goes
} Blocks;

// Block row i is reached from block column j: true when that is a new block.
static bool reach(Blocks *b, int i, int j) {
    const bool fresh = b->reached[i] != j;
    b->reached[i] = j;
    return fresh;
}

static void forget(Blocks *b) {
    for (int i = 0; i < b->count; i++) {
        b->reached[i] = -1;
    }
}

// Note block (i, j) when it is new; `column` NULL: only count it in start[i + 1].
static void note_block(Blocks *b, int i, int j, int *start, int *column) {
    if (reach(b, i, j)) {
        if (column == NULL) {
            start[i + 1]++;
        } else {
            column[b->next[i]++] = j;
        }
    }
}

static void find_blocks(Blocks *b, int *start, int *column) {
    forget(b);
    for (int j = 0; j < b->count; j++) {
        note_block(b, j, j, start, column); // the diagonal block is always there
        for (int e = b->A->start[b->first[j]]; e < b->A->start[b->first[j + 1]]; e++) {
            if (b->A->value[e] != 0.0) {
                note_block(b, b->of[b->A->index[e]], j, start, column);
            }
        }
    }
}

// Put the entries of scalar column k, in block column j, into their blocks; `offset` says where
// every block begins.
static void fill_column(Blocks *b, int k, int j, const size_t *offset, double *value) {
    const size_t width = (size_t)(b->first[j + 1] - b->first[j]),
                 across = (size_t)(k - b->first[j]);
    for (int e = b->A->start[k]; e < b->A->start[k + 1]; e++) {
        if (b->A->value[e] != 0.0) {
            const int row = b->A->index[e], i = b->of[row];
            b->next[i] += reach(b, i, j);
            const size_t down = (size_t)(row - b->first[i]);
            value[offset[b->next[i] - 1] + down * width + across] = b->A->value[e];
        }
    }
}

static void fill_blocks(Blocks *b, const size_t *offset, double *value) {
    forget(b);
    for (int j = 0; j < b->count; j++) {
        b->next[j] += reach(b, j, j);
        for (int k = b->first[j]; k < b->first[j + 1]; k++) {
            fill_column(b, k, j, offset, value);
        }
    }
}

// Where every block's values begin; the last is how many there are.
static void place_blocks(const Blocks *b, const int *start, const int *column, size_t *offset) {
    offset[0] = 0;
    for (int i = 0; i < b->count; i++) {
        const size_t height = (size_t)(b->first[i + 1] - b->first[i]);
        for (int e = start[i]; e < start[i + 1]; e++) {
            const int j = column[e];
            offset[e + 1] = offset[e] + height * (size_t)(b->first[j + 1] - b->first[j]);
        }
    }
}

static bool build_blocks(Blocks *b, FilArena *keep, FilArena *scratch, FilBlockRows *out) {
    const int n = b->count;
    b->of = FIL_NEW(scratch, int, b->A->row_count);
    b->reached = FIL_NEW(scratch, int, n);
    b->next = FIL_NEW(scratch, int, n);
    int *start = FIL_NEW_ZEROED(keep, int, (size_t)n + 1);
    if (keep->failed || scratch->failed) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        for (int k = b->first[i]; k < b->first[i + 1]; k++) {
            b->of[k] = i;
        }
    }
    find_blocks(b, start, NULL);
    accumulate(start, n);
    int *column = FIL_NEW(keep, int, start[n]);
    size_t *offset = FIL_NEW(scratch, size_t, (size_t)start[n] + 1);
    if (keep->failed || scratch->failed) {
        return false;
    }
    memcpy(b->next, start, (size_t)n * sizeof *start);
    find_blocks(b, start, column);
    place_blocks(b, start, column, offset);
    double *value = FIL_NEW_ZEROED(keep, double, offset[start[n]]);
    if (keep->failed) {
        return false;
    }
    memcpy(b->next, start, (size_t)n * sizeof *start);
    fill_blocks(b, offset, value);
    *out = (FilBlockRows){.start = start, .column = column, .value = value};
    return true;
}

bool fil_block_rows_from_sparse(const FilSparse *A, int block_count, const int *block_start,
                                FilArena *keep, FilArena *scratch, FilBlockRows *out) {
    const FilArenaMark mark = fil_arena_mark(scratch);
    Blocks blocks = {.A = A, .count = block_count, .first = block_start};
    const bool done = build_blocks(&blocks, keep, scratch, out);
    fil_arena_release(scratch, mark);
    return done;
}

bool fil_pattern_transpose(int rows, int columns, const int *start, const int *index,
                           FilArena *arena, FilTransposed *out) {
    const int count = start[rows];
    *out = (FilTransposed){.start = FIL_NEW_ZEROED(arena, int, columns + 2),
                           .row = FIL_NEW(arena, int, count),
                           .entry = FIL_NEW(arena, int, count)};
    if (out->start == NULL || out->row == NULL || out->entry == NULL) {
        return false;
    }
    int *fill = out->start + 1; // after filling, the start of the next column
    for (int e = 0; e < count; e++) {
        fill[index[e] + 1]++;
    }
    for (int c = 0; c < columns; c++) {
        fill[c + 1] += fill[c];
    }
    for (int i = 0; i < rows; i++) {
        for (int e = start[i]; e < start[i + 1]; e++) {
            const int at = fill[index[e]]++;
            out->row[at] = i;
            out->entry[at] = e;
        }
    }
    return true;
}
