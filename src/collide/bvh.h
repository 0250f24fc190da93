#ifndef FIL_COLLIDE_BVH_H
#define FIL_COLLIDE_BVH_H

// A tree of boxes over things that do not move: which of them may overlap a box? The same tree for
// the same boxes, always.

#include "collide/grid.h"

#define FIL_BVH_DEPTH 64 // levels, at most

typedef struct FilBvhNode {
    FilBox box;
    int first; // leaf: place in `order`; inner node: its second child (the first one follows it)
    int count; // leaf: things in it; inner node: 0
} FilBvhNode;

typedef struct FilBvh {
    FilBvhNode *nodes; // [node_count], the root is 0
    int *order;        // [count]: the things, leaf by leaf
    int node_count, count;
} FilBvh;

/// Build over `count` (at least 1) boxes, in `arena`. Returns false when there is no memory.
bool fil_bvh_build(FilBvh *bvh, int count, const FilBox *boxes, FilArena *arena);

// One walk through all leaves whose box overlaps a box.
typedef struct FilBvhWalk {
    const FilBvh *bvh;
    FilBox box;
    int stack[FIL_BVH_DEPTH];
    int depth, at, end; // places in `order` that are left of the present leaf
} FilBvhWalk;

void fil_bvh_walk(FilBvhWalk *walk, const FilBvh *bvh, const FilBox *box);
/// The next place in `order` (not the thing itself) in a leaf that overlaps; -1 at the end.
int fil_bvh_next(FilBvhWalk *walk);

/// The square of the distance between two boxes; 0 where they overlap.
static inline double fil_box_distance2(const FilBox *a, const FilBox *b) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double below = a->low[k] - b->high[k], above = b->low[k] - a->high[k];
        double gap = below > above ? below : above;
        gap = gap > 0.0 ? gap : 0.0;
        sum += gap * gap;
    }
    return sum;
}

static inline bool fil_box_overlap(const FilBox *a, const FilBox *b) {
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
           b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

/// The box of the points of a segment, grown by `margin`.
static inline void fil_box_of_segment(const double a[2][3], double margin, FilBox *box) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = (a[0][k] < a[1][k] ? a[0][k] : a[1][k]) - margin;
        box->high[k] = (a[0][k] < a[1][k] ? a[1][k] : a[0][k]) + margin;
    }
}

#endif
