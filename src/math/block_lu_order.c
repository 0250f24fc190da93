// block_lu_order.c - order of elimination of the block LU.
//
// 1. The graph of the pattern made symmetric, without the diagonal.
// 2. Approximate minimum degree order (Amestoy, Davis, Duff 1996; SuiteSparse's AMD through amd_2,
//    which works in memory that it is given); then nested dissection instead, when the matrix is
//    large and fills up; none when it is nearly dense.
// 3. Elimination tree (Liu 1986) and a postorder of it.
#include "block_lu_analysis.h"

#include <limits.h>
#include <string.h>

#include <amd.h>
#include <metis.h>

#include "base/error.h"

// Row i of the graph is the union of row i and column i of the pattern, both ascending.
static FilStatus build_graph(Analysis *a, const FilTransposed *c) {
    const FilBlockPattern *p = a->pattern;
    a->graph_start = FIL_NEW(a->scratch, int, a->n + 1);
    a->graph = FIL_NEW(a->scratch, int, 2 * (size_t)p->row_start[a->n]);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    int count = 0;
    for (int i = 0; i < a->n; i++) {
        a->graph_start[i] = count;
        int r = p->row_start[i], s = c->start[i];
        const int r_end = p->row_start[i + 1], s_end = c->start[i + 1];
        while (r < r_end || s < s_end) {
            const int row = r < r_end ? p->column[r] : INT_MAX;
            const int column = s < s_end ? c->row[s] : INT_MAX;
            const int j = row < column ? row : column;
            r += row == j;
            s += column == j;
            if (j != i) {
                a->graph[count++] = j;
            }
        }
    }
    a->graph_start[a->n] = count;
    return FIL_OK;
}

// Also estimates the operations of a factorisation in this order, for blocks of the mean size.
static FilStatus order_by_degree(Analysis *a, double *flops) {
    const int n = a->n;
    const int64_t edges = a->graph_start[n];
    const int64_t room = edges + edges / 5 + n + 1;
    if (room > INT_MAX) {
        return FIL_E_ARGUMENT;
    }
    const FilArenaMark mark = fil_arena_mark(a->scratch);
    int *list = FIL_NEW(a->scratch, int, room);
    int *w = FIL_NEW(a->scratch, int, 7 * (size_t)n);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    int *start = w, *length = w + n;
    double info[AMD_INFO];
    for (int i = 0; i < n; i++) {
        start[i] = a->graph_start[i];
        length[i] = a->graph_start[i + 1] - a->graph_start[i];
    }
    memcpy(list, a->graph, (size_t)edges * sizeof *list);
    amd_2(n, start, list, length, (int)room, (int)edges, w + (ptrdiff_t)2 * n, a->position,
          a->order, w + (ptrdiff_t)3 * n, w + (ptrdiff_t)4 * n, w + (ptrdiff_t)5 * n,
          w + (ptrdiff_t)6 * n, NULL, info);
    fil_arena_release(a->scratch, mark);
    const double size = n > 0 ? (double)a->pattern->offset[n] / n : 0.0;
    *flops = 2.0 * info[AMD_NMULTSUBS_LU] * size * size * size;
    return FIL_OK;
}

// Nested dissection takes 0.2 to 0.4 microseconds an edge, five times what minimum degree does, and
// pays where a factorisation takes longer than that. Below, as among hairs that touch a few
// neighbours, it even gives 1.2 to 1.6 times the operations; above, three quarters to a half.
enum {
    DISSECTION_FROM = 2000,       // blocks
    DISSECTION_FROM_FLOPS = 4000, // an edge
};

// Nested dissection (Karypis and Kumar 1998, METIS). False when METIS had no memory; it takes its
// own, which is why only large patterns come here. The order may be spoilt then.
static bool order_by_dissection(Analysis *a) {
    idx_t n = a->n;
    idx_t options[METIS_NOPTIONS];
    (void)METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    return METIS_NodeND(&n, a->graph_start, a->graph, NULL, options, a->order, a->position) ==
           METIS_OK;
}

void fil_block_lu_set_positions(Analysis *a) {
    for (int p = 0; p < a->n; p++) {
        a->position[a->order[p]] = p;
    }
}

static FilStatus choose_order(Analysis *a) {
    const bool dense = a->graph_start[a->n] >= 0.7 * ((double)a->n * (a->n - 1));
    for (int p = 0; dense && p < a->n; p++) {
        a->order[p] = p;
    }
    double flops = 0.0;
    if (!dense) {
        FIL_TRY(order_by_degree(a, &flops));
    }
    if (a->n >= DISSECTION_FROM && flops > DISSECTION_FROM_FLOPS * (double)a->graph_start[a->n] &&
        !order_by_dissection(a)) {
        FIL_TRY(order_by_degree(a, &flops));
    }
    fil_block_lu_set_positions(a);
    return FIL_OK;
}

// Climb from column q to the root of what is known of its tree, and hang that below p.
static void hang_below(int p, int q, int *tree, int *ancestor) {
    while (q != -1 && q < p) {
        const int next = ancestor[q];
        ancestor[q] = p;
        if (next == -1) {
            tree[q] = p;
        }
        q = next;
    }
}

static void build_tree(Analysis *a) {
    int *ancestor = a->work;
    for (int p = 0; p < a->n; p++) {
        a->tree[p] = ancestor[p] = -1;
        const int i = a->order[p];
        for (int e = a->graph_start[i]; e < a->graph_start[i + 1]; e++) {
            hang_below(p, a->position[a->graph[e]], a->tree, ancestor);
        }
    }
}

void fil_block_lu_postorder(int count, const int *parent, int *w, int *post) {
    int *child = w, *sibling = w + count;
    for (int i = 0; i < count; i++) {
        child[i] = -1;
    }
    for (int i = count - 1; i >= 0; i--) { // backwards: children come out ascending
        if (parent[i] >= 0) {
            sibling[i] = child[parent[i]];
            child[parent[i]] = i;
        }
    }
    int rank = 0;
    for (int root = 0; root < count; root++) {
        if (parent[root] >= 0) {
            continue;
        }
        int node = root;
        while (node != -1) {
            if (child[node] != -1) { // go down; the way back is the parent
                const int down = child[node];
                child[node] = sibling[down];
                node = down;
            } else {
                post[rank++] = node;
                node = node == root ? -1 : parent[node];
            }
        }
    }
}

static FilStatus postorder_columns(Analysis *a) {
    const int n = a->n;
    const FilArenaMark mark = fil_arena_mark(a->scratch);
    int *w = FIL_NEW(a->scratch, int, 5 * (size_t)n + 1);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    int *post = w + (ptrdiff_t)2 * n, *rank = w + (ptrdiff_t)3 * n, *old = w + (ptrdiff_t)4 * n;
    fil_block_lu_postorder(n, a->tree, w, post);
    for (int p = 0; p < n; p++) {
        rank[post[p]] = p;
        old[p] = a->order[p];
    }
    for (int p = 0; p < n; p++) {
        w[p] = a->tree[p];
    }
    for (int p = 0; p < n; p++) {
        a->order[p] = old[post[p]];
        a->tree[p] = w[post[p]] >= 0 ? rank[w[post[p]]] : -1;
    }
    fil_block_lu_set_positions(a);
    fil_arena_release(a->scratch, mark);
    return FIL_OK;
}

FilStatus fil_block_lu_order(Analysis *a, const FilTransposed *columns) {
    FIL_TRY(build_graph(a, columns));
    FIL_TRY(choose_order(a));
    build_tree(a);
    return postorder_columns(a);
}
