#ifndef FIL_MATH_UNION_FIND_H
#define FIL_MATH_UNION_FIND_H

// Disjoint sets of 0 .. n - 1 with path halving: nearly linear. The root of a set is its smallest
// member, so that sets can be numbered in one pass upwards. Begin with parent[i] = i.

static inline int fil_union_root(int *parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void fil_union_join(int *parent, int i, int j) {
    const int a = fil_union_root(parent, i), b = fil_union_root(parent, j);
    parent[a > b ? a : b] = a > b ? b : a;
}

#endif
