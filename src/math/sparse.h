#ifndef FIL_MATH_SPARSE_H
#define FIL_MATH_SPARSE_H

// Scalar sparse matrices from entries in any order, and block rows from them; linear time.

#include "base/arena.h"
#include "filum/matrix.h"

/// The entries of a matrix, in any order; the same place may occur more than once.
typedef struct FilEntries {
    int row_count, column_count, count;
    const int *row, *column;
    const double *value;
} FilEntries;

/// Compress by columns: rows ascend in every column, entries of the same place are added up in
/// the order given. The result lives in `keep`, which may be `scratch`. False when there is no
/// memory.
bool fil_sparse_from_entries(const FilEntries *entries, FilArena *keep, FilArena *scratch,
                             FilSparse *out) FIL_MUST_CHECK;

/// Gather a square matrix (compressed by columns) into blocks: block i holds the scalar rows and
/// columns block_start[i] .. block_start[i + 1] - 1. Blocks without a non-zero entry are left out,
/// except those on the diagonal. The result lives in `keep`, which must not be `scratch`. False
/// when there is no memory.
bool fil_block_rows_from_sparse(const FilSparse *A, int block_count, const int *block_start,
                                FilArena *keep, FilArena *scratch,
                                FilBlockRows *out) FIL_MUST_CHECK;

/// A pattern by columns: column c is in the rows row[start[c] .. start[c + 1] - 1], never falling;
/// entry[k] is where that was found in the index of the rows.
typedef struct FilTransposed {
    int *start; // [columns + 1]
    int *row, *entry;
} FilTransposed;

/// Transpose a pattern of compressed rows: row i has the columns index[start[i] ..] up to
/// start[i + 1], in any order, even repeated. False when there is no memory.
bool fil_pattern_transpose(int rows, int columns, const int *start, const int *index,
                           FilArena *arena, FilTransposed *out) FIL_MUST_CHECK;

#endif
