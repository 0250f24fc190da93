// bvh.c - a tree of boxes, split by the surface area heuristic.
//
// A node is split where the sum over the two sides of (area of its box) x (things in it) is
// smallest, tried at BINS - 1 places along the longest side of the box of the centres. Below half
// of the depth that the walk has room for, a node is cut in half by number, so that the depth is
// bounded whatever the boxes: 32 levels by area and 31 by number hold any count of things.
#include "bvh.h"

#include <math.h>

enum { BINS = 16, LEAF = 4, AREA_DEPTH = FIL_BVH_DEPTH / 2 };

typedef struct Builder {
    FilBvh *bvh;
    const FilBox *boxes;
} Builder;

static void empty_box(FilBox *box) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = INFINITY;
        box->high[k] = -INFINITY;
    }
}

static void grow(FilBox *box, const FilBox *by) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], by->low[k]);
        box->high[k] = fmax(box->high[k], by->high[k]);
    }
}

static double get_area(const FilBox *box) {
    const double x = box->high[0] - box->low[0], y = box->high[1] - box->low[1],
                 z = box->high[2] - box->low[2];
    return x >= 0.0 ? x * y + y * z + z * x : 0.0;
}

static double get_centre(const FilBox *box, int k) {
    return 0.5 * box->low[k] + 0.5 * box->high[k];
}

// Which bin the centre of a thing falls in.
static int find_bin(const Builder *b, int thing, int axis, double low, double scale) {
    const int bin = (int)((get_centre(&b->boxes[thing], axis) - low) * scale);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

// The best bin to end the first side with, -1 where no split separates anything.
static int find_split(const Builder *b, int first, int count, int axis, double low, double scale) {
    FilBox box[BINS], side;
    int in[BINS] = {0};
    double cost[BINS];
    for (int k = 0; k < BINS; k++) {
        empty_box(&box[k]);
    }
    for (int i = first; i < first + count; i++) {
        const int bin = find_bin(b, b->bvh->order[i], axis, low, scale);
        in[bin]++;
        grow(&box[bin], &b->boxes[b->bvh->order[i]]);
    }
    empty_box(&side);
    int seen = 0;
    for (int k = 0; k + 1 < BINS; k++) {
        grow(&side, &box[k]);
        seen += in[k];
        cost[k] = get_area(&side) * seen;
    }
    empty_box(&side);
    int best = -1, left = count - seen;
    double least = INFINITY;
    for (int k = BINS - 1; k > 0; k--) {
        grow(&side, &box[k]);
        const double sum = cost[k - 1] + get_area(&side) * left;
        if (left > 0 && left < count && sum < least) {
            least = sum;
            best = k - 1;
        }
        left += in[k - 1];
    }
    return best;
}

// Order the things of a node so that those of its first side come first; returns how many.
static int split(const Builder *b, int first, int count, int depth) {
    if (depth >= AREA_DEPTH) {
        return count / 2;
    }
    FilBox centres;
    empty_box(&centres);
    for (int i = first; i < first + count; i++) {
        for (int k = 0; k < 3; k++) {
            const double c = get_centre(&b->boxes[b->bvh->order[i]], k);
            centres.low[k] = fmin(centres.low[k], c);
            centres.high[k] = fmax(centres.high[k], c);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        if (centres.high[k] - centres.low[k] > centres.high[axis] - centres.low[axis]) {
            axis = k;
        }
    }
    const double low = centres.low[axis], scale = BINS / (centres.high[axis] - low);
    if (!(isfinite(scale) && scale > 0.0)) {
        return count / 2; // all in one place
    }
    const int last = find_split(b, first, count, axis, low, scale);
    if (last < 0) {
        return count / 2;
    }
    int *order = b->bvh->order, middle = first;
    for (int i = first; i < first + count; i++) {
        const int thing = order[i];
        if (find_bin(b, thing, axis, low, scale) <= last) {
            order[i] = order[middle];
            order[middle++] = thing;
        }
    }
    return middle - first;
}

static void build_node(const Builder *b, int first, int count, int depth) {
    FilBvhNode *node = &b->bvh->nodes[b->bvh->node_count++];
    empty_box(&node->box);
    for (int i = first; i < first + count; i++) {
        grow(&node->box, &b->boxes[b->bvh->order[i]]);
    }
    if (count <= LEAF || depth + 1 >= FIL_BVH_DEPTH) {
        node->first = first;
        node->count = count;
        return;
    }
    const int near = split(b, first, count, depth);
    build_node(b, first, near, depth + 1);
    node->count = 0;
    node->first = b->bvh->node_count;
    build_node(b, first + near, count - near, depth + 1);
}

bool fil_bvh_build(FilBvh *bvh, int count, const FilBox *boxes, FilArena *arena) {
    *bvh = (FilBvh){.nodes = FIL_NEW(arena, FilBvhNode, 2 * (size_t)count),
                    .order = FIL_NEW(arena, int, count),
                    .count = count};
    if (bvh->nodes == NULL || bvh->order == NULL) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        bvh->order[i] = i;
    }
    const Builder builder = {bvh, boxes};
    build_node(&builder, 0, count, 0);
    return true;
}

void fil_bvh_walk(FilBvhWalk *walk, const FilBvh *bvh, const FilBox *box) {
    walk->bvh = bvh;
    walk->box = *box;
    walk->stack[0] = 0;
    walk->depth = 1;
    walk->at = walk->end = 0;
}

int fil_bvh_next(FilBvhWalk *walk) {
    while (walk->at == walk->end) {
        if (walk->depth == 0) {
            return -1;
        }
        const int index = walk->stack[--walk->depth];
        const FilBvhNode *node = &walk->bvh->nodes[index];
        if (!fil_box_overlap(&node->box, &walk->box)) {
            continue;
        }
        if (node->count > 0) {
            walk->at = node->first;
            walk->end = node->first + node->count;
        } else {
            walk->stack[walk->depth++] = node->first;
            walk->stack[walk->depth++] = index + 1;
        }
    }
    return walk->at++;
}
