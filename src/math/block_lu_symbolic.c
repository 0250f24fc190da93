// block_lu_symbolic.c - structure of the block LU.
//
// 1. Order and elimination tree: block_lu_order.c.
// 2. Fundamental supernodes. Column j joins its predecessor when that is its only child and the
//    structure of the predecessor holds that of j; otherwise j opens a supernode, whose structure
//    is the union of its row of the graph and of its children's. Only supernodes have a structure
//    stored, so the cost is that of reading the graph plus the structures.
// 3. Relaxation: a child is merged into its parent when a model of the time of a front says that
//    one front with some explicit zeros is faster than two.
// 4. Renumbering children first, structures sorted by two bucket passes, and the tables of
//    block_lu_private.h.
// 5. Tasks for threads: block_lu_tasks.c.
#include "block_lu_analysis.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"

static FilStatus check_pattern(const FilBlockPattern *p) {
    if (p->n < 0 || p->offset[0] != 0 || p->row_start[0] != 0) {
        return FIL_E_ARGUMENT;
    }
    for (int i = 0; i < p->n; i++) {
        if (p->offset[i + 1] <= p->offset[i] || p->offset[i + 1] - p->offset[i] > UINT16_MAX ||
            p->row_start[i + 1] < p->row_start[i]) {
            return FIL_E_ARGUMENT;
        }
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            if (p->column[e] < 0 || p->column[e] >= p->n ||
                (e > p->row_start[i] && p->column[e] <= p->column[e - 1])) {
                return FIL_E_ARGUMENT;
            }
        }
    }
    return FIL_OK;
}

static int block_size(const Analysis *a, int p) {
    const int i = a->order[p];
    return a->pattern->offset[i + 1] - a->pattern->offset[i];
}

// The later neighbours of column j all in the structure of the open supernode?
static bool fits(const Analysis *a, int j, int stamp) {
    const int i = a->order[j];
    for (int e = a->graph_start[i]; e < a->graph_start[i + 1]; e++) {
        const int p = a->position[a->graph[e]];
        if (p > j && a->mark[p] != stamp) {
            return false;
        }
    }
    return true;
}

// Finished supernodes, chained by the column of their parent.
typedef struct Chains {
    int *head; // [n] by column; -1: none
    int *next; // [n] by supernode
} Chains;

// Open a supernode at column j, the parent of the supernodes chained at j.
static FilStatus open_supernode(Analysis *a, int j, const Chains *below) {
    const int s = a->count++, i = a->order[j];
    int count = 0;
    for (int e = a->graph_start[i]; e < a->graph_start[i + 1]; e++) {
        const int p = a->position[a->graph[e]];
        if (p > j) {
            a->mark[p] = s;
            a->work[count++] = p;
        }
    }
    for (int c = below->head[j]; c != -1; c = below->next[c]) {
        for (int r = 0; r < a->row_count[c]; r++) {
            const int p = a->rows[c][r];
            if (p > j && a->mark[p] != s) {
                a->mark[p] = s;
                a->work[count++] = p;
            }
        }
    }
    a->first[s] = j;
    a->row_count[s] = count;
    a->rows[s] = FIL_NEW(a->scratch, int, count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(a->rows[s], a->work, (size_t)count * sizeof(int));
    return FIL_OK;
}

// The open supernode, if there is one, ends before column `end`: forget the rows that became
// pivots, count unknowns.
static void close_supernode(Analysis *a, int end, const Chains *below) {
    const int s = a->count - 1;
    int kept = 0;
    if (s < 0) {
        return;
    }
    a->k[s] = a->u[s] = 0;
    for (int p = a->first[s]; p < end; p++) {
        a->k[s] += block_size(a, p);
    }
    for (int r = 0; r < a->row_count[s]; r++) {
        const int p = a->rows[s][r];
        if (p >= end) {
            a->rows[s][kept++] = p;
            a->u[s] += block_size(a, p);
        }
    }
    a->row_count[s] = kept;
    a->first[s + 1] = end;
    const int up = a->tree[end - 1];
    if (up >= 0) {
        below->next[s] = below->head[up];
        below->head[up] = s;
    }
}

static FilStatus find_supernodes(Analysis *a) {
    const int n = a->n;
    int *children = FIL_NEW_ZEROED(a->scratch, int, n + 1); // of a column, in the tree
    int *of_column = FIL_NEW(a->scratch, int, n + 1);
    const Chains below = {FIL_NEW(a->scratch, int, n + 1), FIL_NEW(a->scratch, int, n + 1)};
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        a->mark[j] = below.head[j] = -1;
        children[a->tree[j] >= 0 ? a->tree[j] : n]++;
    }
    for (int j = 0; j < n; j++) {
        const bool only_child = j > 0 && a->tree[j - 1] == j && children[j] == 1;
        FilStatus status = FIL_OK;
        if (!only_child || !fits(a, j, a->count - 1)) {
            close_supernode(a, j, &below);
            status = open_supernode(a, j, &below);
        }
        FIL_TRY(status);
        of_column[j] = a->count - 1;
    }
    close_supernode(a, n, &below);
    for (int s = 0; s < a->count; s++) {
        const int up = a->tree[a->first[s + 1] - 1];
        a->parent[s] = up >= 0 ? of_column[up] : -1;
    }
    return FIL_OK;
}

// Merge children into parents where that pays; children are tried before their parents.
static void relax(Analysis *a) {
    for (int s = 0; s < a->count; s++) {
        a->merged_into[s] = a->member[s] = a->tail[s] = s;
        a->next_member[s] = -1;
    }
    a->final_count = a->count;
    for (int s = 0; s < a->count; s++) {
        const int p = a->parent[s];
        if (p < 0) {
            continue;
        }
        const double apart = fil_front_time(a->k[s], a->u[s]) + fil_front_time(a->k[p], a->u[p]);
        if (fil_front_time((double)a->k[s] + a->k[p], a->u[p]) <= apart) {
            a->merged_into[s] = p;
            a->k[p] += a->k[s];
            a->next_member[a->tail[s]] = a->member[p];
            a->member[p] = a->member[s];
            a->final_count--;
        }
    }
    // parents that were merged themselves hand over; parents come later, so go backwards
    for (int s = a->count - 1; s >= 0; s--) {
        if (a->merged_into[s] != s) {
            a->merged_into[s] = a->merged_into[a->merged_into[s]];
        }
    }
    for (int s = 0; s < a->count; s++) {
        if (a->parent[s] >= 0) {
            a->parent[s] = a->merged_into[a->parent[s]];
        }
    }
}

// Number the supernodes that are left, children first, and the columns in that order.
static FilStatus renumber(Analysis *a, FilBlockLu *lu) {
    const int count = a->final_count;
    const FilArenaMark mark = fil_arena_mark(a->scratch);
    int *w = FIL_NEW(a->scratch, int, 4 * (size_t)count + (size_t)a->count + (size_t)a->n);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    int *parent = w + (ptrdiff_t)2 * count, *post = parent + count, *compact = post + count;
    int *old_order = compact + a->count;
    int at = 0;
    for (int s = 0; s < a->count; s++) {
        if (a->merged_into[s] == s) {
            compact[s] = at;
            a->final_node[at++] = s;
        }
    }
    for (int t = 0; t < count; t++) {
        const int p = a->parent[a->final_node[t]];
        parent[t] = p >= 0 ? compact[p] : -1;
    }
    fil_block_lu_postorder(count, parent, w, post);
    memcpy(w, a->final_node, (size_t)count * sizeof(int));
    for (int t = 0; t < count; t++) {
        a->final_node[t] = w[post[t]];
        a->final_index[a->final_node[t]] = t;
    }
    memcpy(old_order, a->order, (size_t)a->n * sizeof(int));
    int position = 0;
    for (int t = 0; t < count; t++) {
        Supernode *node = &lu->node[t];
        *node = (Supernode){.first = position, .parent = -1, .first_child = -1};
        node->next_sibling = -1;
        for (int s = a->member[a->final_node[t]]; s != -1; s = a->next_member[s]) {
            for (int p = a->first[s]; p < a->first[s + 1]; p++) {
                a->mark[p] = position; // old position -> new
                a->order[position++] = old_order[p];
            }
        }
        node->pivot_blocks = position - node->first;
    }
    fil_block_lu_set_positions(a);
    fil_arena_release(a->scratch, mark);
    return FIL_OK;
}

static void link_tree(const Analysis *a, FilBlockLu *lu) {
    for (int t = lu->supernode_count - 1; t >= 0; t--) { // backwards: children come out ascending
        Supernode *node = &lu->node[t];
        const int p = a->parent[a->final_node[t]];
        if (p >= 0) {
            node->parent = a->final_index[p];
            node->next_sibling = lu->node[node->parent].first_child;
            lu->node[node->parent].first_child = t;
        }
        const bool root = node->parent < 0;
        node->parity = root ? 0 : 1 - lu->node[node->parent].parity;
    }
}

// Rows of every supernode in the new numbering, ascending: put the supernodes into the buckets of
// their rows, then read the buckets in order.
static FilStatus sort_rows(Analysis *a, FilBlockLu *lu) {
    const FilArenaMark mark = fil_arena_mark(a->scratch);
    int *start = FIL_NEW_ZEROED(a->scratch, int, a->n + 2);
    int *bucket = FIL_NEW(a->scratch, int, lu->row_count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int t = 0; t < lu->supernode_count; t++) {
        const int s = a->final_node[t];
        for (int r = 0; r < a->row_count[s]; r++) {
            start[a->mark[a->rows[s][r]] + 2]++;
        }
    }
    for (int p = 0; p < a->n; p++) {
        start[p + 1] += start[p];
    }
    for (int t = 0; t < lu->supernode_count; t++) {
        const int s = a->final_node[t];
        for (int r = 0; r < a->row_count[s]; r++) {
            bucket[start[a->mark[a->rows[s][r]] + 1]++] = t;
        }
    }
    for (int p = 0; p < a->n; p++) {
        for (int b = start[p]; b < start[p + 1]; b++) {
            Supernode *node = &lu->node[bucket[b]];
            lu->rows[node->row_begin + node->row_blocks++] = p;
        }
    }
    fil_arena_release(a->scratch, mark);
    return FIL_OK;
}

static int add_entry(FilBlockLu *lu, int count, int row, int column, Entry shape) {
    shape.row = row;
    shape.column = column;
    lu->entry[count] = shape;
    return count + 1;
}

// The blocks of W that supernode t holds: those of its pivots' rows and columns that no earlier
// supernode has. place[position] is the number of a local block.
static int list_entries(const Analysis *a, FilBlockLu *lu, int t, const FilTransposed *c,
                        const ptrdiff_t *source, const int *place) {
    const FilBlockPattern *p = a->pattern;
    Supernode *node = &lu->node[t];
    const int end = node->first + node->pivot_blocks;
    int count = t > 0 ? lu->node[t - 1].entry_end : 0;
    node->entry_begin = count;
    for (int q = node->first; q < end; q++) {
        const int i = a->order[q];
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            const int to = a->position[p->column[e]];
            if (to >= node->first) {
                const Entry shape = {.source = source[e],
                                     .height = (uint16_t)lu->size[q],
                                     .width = (uint16_t)lu->size[to]};
                count = add_entry(lu, count, q - node->first, place[to], shape);
            }
        }
        for (int s = c->start[i]; s < c->start[i + 1]; s++) {
            const int from = a->position[c->row[s]];
            if (from >= end) {
                const Entry shape = {.source = source[c->entry[s]],
                                     .height = (uint16_t)lu->size[from],
                                     .width = (uint16_t)lu->size[q]};
                count = add_entry(lu, count, place[from], q - node->first, shape);
            }
        }
    }
    node->entry_end = count;
    return count;
}

static FilStatus fill_tables(Analysis *a, FilBlockLu *lu, const FilTransposed *c) {
    const FilBlockPattern *p = a->pattern;
    ptrdiff_t *source = FIL_NEW(a->scratch, ptrdiff_t, p->row_start[a->n]);
    ptrdiff_t *square = FIL_NEW(a->scratch, ptrdiff_t, a->n + 1);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    ptrdiff_t at = 0;
    square[0] = 0;
    for (int i = 0; i < a->n; i++) {
        const ptrdiff_t d = p->offset[i + 1] - p->offset[i];
        square[i + 1] = square[i] + d * d;
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            source[e] = at;
            at += d * (p->offset[p->column[e] + 1] - p->offset[p->column[e]]);
        }
    }
    for (int q = 0; q < a->n; q++) {
        const int i = a->order[q];
        lu->order[q] = i;
        lu->size[q] = p->offset[i + 1] - p->offset[i];
        lu->natural[q] = p->offset[i];
        lu->square[q] = square[i];
        lu->active[q] = true;
    }
    int *place = a->work;
    for (int t = 0; t < lu->supernode_count; t++) {
        const Supernode *node = &lu->node[t];
        for (int b = 0; b < node->pivot_blocks; b++) {
            place[node->first + b] = b;
        }
        for (int r = 0; r < node->row_blocks; r++) {
            place[lu->rows[node->row_begin + r]] = node->pivot_blocks + r;
        }
        (void)list_entries(a, lu, t, c, source, place);
        for (int child = node->first_child; child != -1; child = lu->node[child].next_sibling) {
            const Supernode *below = &lu->node[child];
            for (int r = 0; r < below->row_blocks; r++) {
                lu->row_parent[below->row_begin + r] = place[lu->rows[below->row_begin + r]];
            }
        }
    }
    return FIL_OK;
}

// Memory of the analysis itself.
static FilStatus take_scratch(Analysis *a) {
    FilArena *s = a->scratch;
    const size_t n = (size_t)a->n + 1;
    int **arrays[] = {&a->order, &a->position,    &a->tree,       &a->work,
                      &a->mark,  &a->first,       &a->row_count,  &a->k,
                      &a->u,     &a->parent,      &a->member,     &a->merged_into,
                      &a->tail,  &a->next_member, &a->final_node, &a->final_index};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = FIL_NEW(s, int, n);
    }
    a->rows = FIL_NEW(s, int *, n);
    return s->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

// Memory of the result. Row counts are known, and in `node` nothing is yet.
static FilStatus take_tables(const Analysis *a, FilArena *arena, FilBlockLu *lu) {
    int64_t rows = 0;
    for (int t = 0; t < a->final_count; t++) {
        rows += a->row_count[a->final_node[t]];
    }
    if (rows + a->n > INT_MAX) {
        return FIL_E_ARGUMENT;
    }
    const int n = a->n;
    lu->row_count = (int)rows;
    lu->local_count = (int)rows + n;
    lu->entry = FIL_NEW(arena, Entry, a->pattern->row_start[n]);
    lu->order = FIL_NEW(arena, int, n);
    lu->size = FIL_NEW(arena, int, n);
    lu->natural = FIL_NEW(arena, int, n);
    lu->square = FIL_NEW(arena, ptrdiff_t, n);
    lu->active = FIL_NEW(arena, bool, n);
    lu->unknown = FIL_NEW(arena, int, n);
    lu->rows = FIL_NEW(arena, int, rows);
    lu->row_parent = FIL_NEW_ZEROED(arena, int, rows);
    lu->run = FIL_NEW(arena, Run, rows);
    lu->local = FIL_NEW(arena, int, lu->local_count);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    int row_begin = 0;
    for (int t = 0; t < lu->supernode_count; t++) {
        Supernode *node = &lu->node[t];
        node->row_begin = row_begin;
        node->local_begin = row_begin + node->first;
        row_begin += a->row_count[a->final_node[t]];
    }
    return FIL_OK;
}

static FilStatus find_structure(Analysis *a, const FilTransposed *c) {
    FIL_TRY(take_scratch(a));
    FIL_TRY(fil_block_lu_order(a, c));
    FIL_TRY(find_supernodes(a));
    relax(a);
    return FIL_OK;
}

static FilStatus analyse(Analysis *a, FilArena *arena, FilBlockLu **out) {
    FilTransposed columns;
    const FilBlockPattern *p = a->pattern;
    if (!fil_pattern_transpose(a->n, a->n, p->row_start, p->column, a->scratch, &columns)) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(find_structure(a, &columns));

    FilBlockLu *lu = FIL_NEW_ZEROED(arena, FilBlockLu, 1);
    Supernode *nodes = FIL_NEW_ZEROED(arena, Supernode, a->final_count);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    *lu = (FilBlockLu){.kernels = fil_dense_kernels(),
                       .n = a->n,
                       .unknowns = a->pattern->offset[a->n],
                       .supernode_count = a->final_count,
                       .threads = 1,
                       .node = nodes};
    FIL_TRY(renumber(a, lu));
    link_tree(a, lu);
    FIL_TRY(take_tables(a, arena, lu));
    FIL_TRY(sort_rows(a, lu));
    FIL_TRY(fill_tables(a, lu, &columns));
    FIL_TRY(fil_block_lu_cut(a, lu, arena));
    fil_block_lu_lay_out(lu);
    *out = lu;
    return FIL_OK;
}

FilStatus fil_block_lu_analyse(const FilBlockPattern *pattern, FilArena *arena, FilArena *scratch,
                               FilBlockLu **out) {
    FIL_ASSERT(arena != scratch);
    FIL_TRY(check_pattern(pattern));
    const FilArenaMark begin = fil_arena_mark(arena), mark = fil_arena_mark(scratch);
    Analysis a = {.pattern = pattern, .scratch = scratch, .n = pattern->n};
    const FilStatus status = analyse(&a, arena, out);
    fil_arena_release(scratch, mark);
    if (status != FIL_OK) {
        fil_arena_release(arena, begin);
    }
    return status;
}
