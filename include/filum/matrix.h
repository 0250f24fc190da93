#ifndef FIL_MATRIX_H
#define FIL_MATRIX_H

/// Sparse matrices, as the parts of Filum hand them to each other. All arrays belong to whoever
/// made the matrix; these structs only point to them.

#ifdef __cplusplus
extern "C" {
#endif

/// Scalar sparse matrix, compressed by columns.
typedef struct FilSparse {
    int row_count, column_count;
    const int *start;    ///< column_count + 1 offsets
    const int *index;    ///< row of every entry
    const double *value; ///< every entry
} FilSparse;

/// Square matrix of dense blocks, compressed by block rows; who uses it says how many blocks there
/// are and how large they are.
typedef struct FilBlockRows {
    const int *start;    ///< block_count + 1 offsets
    const int *column;   ///< block column of every block, ascending in a row
    const double *value; ///< the blocks in that order, each row-major d_i x d_j
} FilBlockRows;

#ifdef __cplusplus
}
#endif

#endif
