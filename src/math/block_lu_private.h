#ifndef FIL_MATH_BLOCK_LU_PRIVATE_H
#define FIL_MATH_BLOCK_LU_PRIVATE_H

// What the analysis (block_lu_analysis.h) hands to the numeric part (block_lu.c).
//
// Blocks are renumbered: position p holds block order[p]. A supernode owns consecutive positions,
// its pivots, and has rows, the later positions that its elimination touches, ascending. Pivots and
// then rows are its local blocks, numbered from 0. Supernodes are numbered children first, and the
// rows of a supernode are among the local blocks of its parent.

#include "block_lu.h"
#include "dense.h"
#include "front.h"

typedef struct Supernode {
    // fixed by the analysis
    int first;        // position of its first pivot
    int pivot_blocks; // number of pivots
    int row_begin;    // its rows are rows[row_begin ..]
    int row_blocks;
    int local_begin; // its local blocks are local[local_begin ..]
    int entry_begin, entry_end;
    int parent; // -1: none
    int first_child, next_sibling;
    int task; // that factors it, see below; -1: factored after all tasks, by all threads
    int parity;
    // fixed by the choice of active blocks; counts of unknowns
    int k, u;               // pivots, rows
    int k4, u4;             // rounded up to multiples of 4
    int unknown;            // of its first pivot, in the new numbering
    int run_count;          // runs of rows, at run[row_begin ..]
    int pivot_run_count;    // of these, the first ones fall on pivots of the parent
    ptrdiff_t panel;        // k rows of: L11\U11 (k4) | U12 (u4) | transpose of L21 (u4)
    ptrdiff_t contribution; // u rows of u4: the update it leaves to its parent
    ptrdiff_t carry;        // one row of u4: the same in a solve
} Supernode;

// One block of W and where it goes: block (row, column) among local blocks, one of them a pivot.
typedef struct Entry {
    ptrdiff_t source; // in the values
    int row, column;  // local
    uint16_t height, width;
} Entry;

// `length` rows in sequence whose places in the parent are in sequence too.
typedef struct Run {
    int from; // in the rows of the child
    int to;   // in the parent: a pivot, or k4 + a row
    int length;
    int unknown; // in the new numbering
} Run;

struct FilBlockLu {
    const FilDenseKernels *kernels;
    int n, unknowns;
    int supernode_count, local_count, row_count;
    int leaf_count; // tasks that are whole subtrees, handed out in turn
    int task_count; // the others are paths of links: each link waits for its children
    int threads;
    bool reserved;
    Supernode *node;        // [supernode_count]
    Entry *entry;           // [row_start[n]] by supernode
    int *order;             // [n] position -> block
    int *size;              // [n] by position
    int *natural;           // [n] by position: first unknown in the caller's numbering
    ptrdiff_t *square;      // [n] by position: the block's place in D
    int *rows;              // [row_count] positions
    int *row_parent;        // [row_count] the same block among the local blocks of the parent
    int *task_begin;        // [task_count + 1] into task_node
    int *task_node;         // [supernode_count] tasks in turn, then the nodes that have none
    _Atomic int *waits_for; // [supernode_count] links: children that are not done yet
    int *next_ready;        // [supernode_count] links: the next of those that may begin
    bool *active;           // [n] by position
    int *local;   // [local_count] place of a local block (pivot, or k4 + row); -1: inactive
    int *unknown; // [n] by position: first unknown in the new numbering
    Run *run;     // [row_count]
    FilBlockLuInfo info;
    ptrdiff_t panel_size, contribution_size, carry_size; // doubles, for the active blocks
    // numeric
    double *panel, *contribution, *carry;
    double *floor, *inverse; // [unknowns] new numbering
    int *pivot;              // [unknowns]
    double *x;               // [unknowns + 4] right-hand side in the new numbering
    int *replaced;           // [supernode_count]
    int active_unknowns;
    FilHalt halt;
};

/// Sizes and places of everything for the blocks that lu->active names.
void fil_block_lu_lay_out(FilBlockLu *lu);

// Operations of a front with k pivots and u rows.
static inline double fil_front_flops(double k, double u) {
    return k * k * (2.0 / 3.0 * k + 2.0 * u) + 2.0 * k * u * u;
}

#endif
