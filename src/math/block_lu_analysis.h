#ifndef FIL_MATH_BLOCK_LU_ANALYSIS_H
#define FIL_MATH_BLOCK_LU_ANALYSIS_H

// What the parts of the analysis share: order (block_lu_order.c), structure (block_lu_symbolic.c),
// tasks (block_lu_tasks.c).

#include "block_lu_private.h"
#include "sparse.h"

typedef struct Analysis {
    const FilBlockPattern *pattern;
    FilArena *scratch;
    int n;
    int *graph_start, *graph; // symmetric, no diagonal, ascending
    int *order, *position;    // position -> block, block -> position
    int *tree;                // [n] parent column
    int *work, *mark;         // [n + 1] each
    // supernodes before relaxation
    int count;
    int *first;         // [count + 1] columns
    int **rows;         // later columns
    int *row_count;     // blocks
    int *k, *u;         // unknowns
    int *parent;        // supernode
    int *merged_into;   // itself, or the supernode that took it
    int *member, *tail; // chain of the supernodes in one: head is `member`, links in `next_member`
    int *next_member;
    int final_count;
    int *final_node;  // [final_count] the supernodes that are left, children first
    int *final_index; // inverse
} Analysis;

/// The graph of the pattern (`columns` is its transpose), an order of it, and the elimination tree
/// in postorder.
FilStatus fil_block_lu_order(Analysis *a, const FilTransposed *columns);

/// The inverse of the order.
void fil_block_lu_set_positions(Analysis *a);

/// Number the nodes of a forest children first: post[rank] = node. `w` has room for 2 count.
void fil_block_lu_postorder(int count, const int *parent, int *w, int *post);

/// Cut the tree of supernodes into tasks for threads, and list their nodes in `arena`.
FilStatus fil_block_lu_cut(Analysis *a, FilBlockLu *lu, FilArena *arena);

// Nanoseconds of a front: fixed cost, one pivot after the other, zeroing and adding of the update,
// arithmetic. The constants matter little: four sets, up to a factor of 3 apart, gave times within
// 20 percent on random graphs, a tower and a lattice, and none was best on all.
static inline double fil_front_time(double k, double u) {
    return 200.0 + 20.0 * k + 0.5 * k * (k + 2.0 * u) + 0.8 * u * u + 0.045 * fil_front_flops(k, u);
}

#endif
