#ifndef FIL_MATH_BLOCK_LU_H
#define FIL_MATH_BLOCK_LU_H

// Sparse LU of A = W + D: W a block-sparse matrix with a fixed pattern, D block-diagonal. The
// pattern is analysed once; the values are factored as often as wanted without allocating.
//
//     FIL_TRY(fil_block_lu_analyse(&pattern, arena, scratch, &lu));   // order, structure, cost
//     if (fil_block_lu_info(lu).flops < too_many) {
//         FIL_TRY(fil_block_lu_reserve(lu, arena));                   // storage of the factors
//         int replaced = fil_block_lu_factor(lu, W, D);               // many times
//         fil_block_lu_solve(lu, x);
//     }
//
// A factorisation belongs to the arena it was made in: nothing to destroy.

#include "base/arena.h"

/// Block rows compressed: block row i has the blocks column[row_start[i] .. row_start[i + 1] - 1],
/// columns ascending. Block i covers unknowns offset[i] .. offset[i + 1] - 1, at least one. The
/// pattern need not be symmetric (what is missing is taken as zero), nor hold the diagonal.
typedef struct FilBlockPattern {
    int n;                // blocks
    const int *offset;    // [n + 1]
    const int *row_start; // [n + 1]
    const int *column;    // [row_start[n]]
} FilBlockPattern;

typedef struct FilBlockLu FilBlockLu;

/// What a factorisation costs, for the blocks that are active.
typedef struct FilBlockLuInfo {
    int64_t nonzeros;    // entries of L and U, without padding
    int64_t flops;       // of one factorisation
    int64_t bytes;       // of numeric storage
    int supernode_count; // dense panels
    int largest_pivot;   // columns of the widest panel
    int largest_front;   // rows of the largest front
} FilBlockLuInfo;

/// Order the blocks and find the structure of the factors. `*out` lives in `arena`; `scratch`, an
/// arena of its own, is given back as it was. The pattern is copied. FIL_E_ARGUMENT: the pattern is
/// not as described above; FIL_E_NO_MEMORY; `*out` is left alone then.
FilStatus fil_block_lu_analyse(const FilBlockPattern *pattern, FilArena *arena, FilArena *scratch,
                               FilBlockLu **out) FIL_MUST_CHECK;

FilBlockLuInfo fil_block_lu_info(const FilBlockLu *lu);

/// Take the memory of the factors, enough for every choice of active blocks.
FilStatus fil_block_lu_reserve(FilBlockLu *lu, FilArena *arena) FIL_MUST_CHECK;

/// Threads that factorisations and solves may use (1 unless set, 0 for all). The bits do not depend
/// on it.
void fil_block_lu_set_threads(FilBlockLu *lu, int threads);

/// Have `stop` asked about every 2e8 operations of the next factorisations (some tens of
/// milliseconds), by whichever thread comes to it. True ends the factorisation: then its factors
/// are of no use, and solves with them return false. NULL: nobody is asked.
void fil_block_lu_set_stop(FilBlockLu *lu, bool (*stop)(void *user), void *user);

/// Choose the blocks that take part in the next factorisations: rows and columns of the others are
/// those of the identity and cost nothing. NULL: all. Costs about as much as a solve. The factors
/// are void until the next factorisation.
void fil_block_lu_set_active(FilBlockLu *lu, const bool *active);

/// Factor W + D. `value` holds the blocks in the order of the pattern, each row-major; `diagonal`
/// holds the n square blocks of D, or is NULL. Rows are exchanged within a panel only, so a pivot
/// may be too small: below 1e-13 of the largest entry of its diagonal block it is replaced by that.
/// Returns how many were. Needs fil_block_lu_reserve().
int fil_block_lu_factor(FilBlockLu *lu, const double *value, const double *diagonal);

/// x := A^-1 x, in the order of the pattern. Inactive blocks keep their x and do not enter the rows
/// of the others. Returns false when an unknown overflowed (possible only after replaced pivots or
/// with entries near the limits of double), or the factorisation was stopped; it is set to 0 then,
/// so that x is always finite for finite input.
bool fil_block_lu_solve(FilBlockLu *lu, double *x);

/// Sign of the determinant of what was factored last: 1 or -1.
int fil_block_lu_sign(const FilBlockLu *lu);

#endif
