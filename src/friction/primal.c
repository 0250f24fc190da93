// primal.c - what Newton's step in velocities (primal_step.c) is made of: nodes and their pattern.
//
// A contact couples the few nodes that it touches, not all contacts of its bodies: with slender
// bodies and many contacts M + H S H^T is far sparser than W (30 times fewer operations for fibres
// with 10 000 contacts), and W is never needed.
//
// Nodes, the blocks of the factorisation, begin where the rows of contacts begin: at the nodes of a
// mesh or a rod, whatever their size. Stretches between are cut evenly.
#include "primal.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "math/sparse.h"

// --- nodes and pattern ---------------------------------------------------------------------------

typedef struct Build {
    const FilGlobalForm *global;
    const FilReduction *reduction;
    const int *offset, *member;
    int count;    // contacts
    int *local;   // [all dofs] place of a dof among those that matter, or -1
    int *dof;     // its inverse
    int *node_of; // [dofs that matter]
    int *node_offset;
    int node_count, dof_count;
    int *contact_start, *contact_node;
    int *mark;  // [nodes]
    bool *cuts; // [all dofs] rows of a contact begin at this place
} Build;

static int contact_block(const Build *b, int i) {
    return b->member != NULL ? b->member[i] : i;
}

// Find where the rows of contacts begin: at unknowns that they touch, and not the one before.
static void find_cuts(Build *b) {
    const FilReduction *x = b->reduction;
    const FilSparse *H = &b->global->H;
    fil_blocks_clear_marks(b->mark, x->dof_count);
    for (int i = 0; i < b->count; i++) {
        const int block = contact_block(b, i);
        const int first = H->start[b->offset[block]], last = H->start[b->offset[block + 1]];
        for (int k = first; k < last; k++) {
            b->mark[x->place[H->index[k]]] = i;
        }
        for (int k = first; k < last; k++) {
            const int place = x->place[H->index[k]];
            b->cuts[place] |= place > 0 && b->mark[place - 1] != i;
        }
    }
}

static void add_node(Build *b, const int *dof, int size) {
    b->node_offset[b->node_count] = b->dof_count;
    for (int k = 0; k < size; k++) {
        b->local[dof[k]] = b->dof_count;
        b->node_of[b->dof_count] = b->node_count;
        b->dof[b->dof_count++] = dof[k];
    }
    b->node_count++;
}

// Number the unknowns of the bodies that a contact touches, body by body.
static void add_body(Build *b, int body) {
    const FilReduction *x = b->reduction;
    const int last = x->body_start[body + 1];
    for (int k = x->body_start[body]; k < last;) {
        int size = 1;
        while (k + size < last && !b->cuts[k + size]) {
            size++;
        }
        for (int nodes = (size + FIL_NODE_MOST - 1) / FIL_NODE_MOST; nodes > 0; nodes--) {
            const int part = (size + nodes - 1) / nodes;
            add_node(b, x->dof + k, part);
            k += part;
            size -= part;
        }
    }
}

static void number_unknowns(Build *b) {
    const FilSparse *H = &b->global->H;
    for (int k = 0; k < b->reduction->dof_count; k++) {
        b->local[k] = -1;
    }
    find_cuts(b);
    for (int i = 0; i < b->count; i++) {
        const int block = contact_block(b, i);
        for (int k = H->start[b->offset[block]]; k < H->start[b->offset[block + 1]]; k++) {
            if (b->local[H->index[k]] < 0) {
                add_body(b, b->reduction->body_of[H->index[k]]);
            }
        }
    }
    b->node_offset[b->node_count] = b->dof_count;
}

// Keep the offsets of the nodes, now that their number is known; find the nodes that each contact
// touches, ascending.
static FilStatus find_contact_nodes(Build *b, FilArena *arena) {
    const FilSparse *H = &b->global->H;
    int most = 0;
    for (int i = 0; i < b->count; i++) {
        const int block = contact_block(b, i);
        most += H->start[b->offset[block + 1]] - H->start[b->offset[block]];
    }
    int *node_offset = FIL_NEW(arena, int, b->node_count + 1);
    b->contact_node = FIL_NEW(arena, int, most);
    if (node_offset == NULL || b->contact_node == NULL) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(node_offset, b->node_offset, (size_t)(b->node_count + 1) * sizeof *node_offset);
    b->node_offset = node_offset;
    fil_blocks_clear_marks(b->mark, b->node_count);
    int next = 0;
    for (int i = 0; i < b->count; i++) {
        const int block = contact_block(b, i);
        b->contact_start[i] = next;
        for (int k = H->start[b->offset[block]]; k < H->start[b->offset[block + 1]]; k++) {
            const int node = b->node_of[b->local[H->index[k]]];
            fil_blocks_note(i, node, b->mark, b->contact_node, &next);
        }
        fil_blocks_sort(b->contact_node + b->contact_start[i], next - b->contact_start[i]);
    }
    b->contact_start[b->count] = next;
    return FIL_OK;
}

// Count (column NULL) or write the columns of a row of nodes: M's and the contacts'.
static int find_columns(const Build *b, int row, const FilTransposed *of, int *column) {
    const FilSparse *M = &b->global->M;
    int count = 0;
    fil_blocks_note(row, row, b->mark, column, &count);
    for (int k = b->node_offset[row]; k < b->node_offset[row + 1]; k++) {
        for (int e = M->start[b->dof[k]]; e < M->start[b->dof[k] + 1]; e++) {
            fil_blocks_note(row, b->node_of[b->local[M->index[e]]], b->mark, column, &count);
        }
    }
    for (int k = of->start[row]; k < of->start[row + 1]; k++) {
        const int contact = of->row[k];
        for (int e = b->contact_start[contact]; e < b->contact_start[contact + 1]; e++) {
            fil_blocks_note(row, b->contact_node[e], b->mark, column, &count);
        }
    }
    return count;
}

static FilStatus find_pattern(Build *b, FilArena *arena, FilArena *scratch, FilBlocks *A) {
    FilTransposed of; // the contacts of every node
    int *start = FIL_NEW(arena, int, b->node_count + 1);
    if (start == NULL || !fil_pattern_transpose(b->count, b->node_count, b->contact_start,
                                                b->contact_node, scratch, &of)) {
        return FIL_E_NO_MEMORY;
    }
    for (int pass = 0; pass < 2; pass++) {
        fil_blocks_clear_marks(b->mark, b->node_count);
        int *column = NULL;
        if (pass == 1) {
            column = FIL_NEW(arena, int, start[b->node_count]);
            if (column == NULL) {
                return FIL_E_NO_MEMORY;
            }
            A->column = column;
        }
        start[0] = 0;
        for (int row = 0; row < b->node_count; row++) {
            const int count =
                find_columns(b, row, &of, column != NULL ? column + start[row] : NULL);
            if (count > INT_MAX - 1 - start[row]) {
                return FIL_E_NO_MEMORY;
            }
            start[row + 1] = start[row] + count;
            if (column != NULL) {
                fil_blocks_sort(column + start[row], count);
            }
        }
    }
    A->n = b->node_count;
    A->offset = b->node_offset;
    A->start = start;
    return fil_blocks_index(A, arena) ? FIL_OK : FIL_E_NO_MEMORY;
}

static FilStatus fill_mass(const Build *b, FilArena *arena, FilBlocks *A) {
    const FilSparse *M = &b->global->M;
    double *value = FIL_NEW_ZEROED(arena, double, A->at[A->start[A->n]]);
    if (value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int k = 0; k < b->dof_count; k++) { // column k of M
        const int node = b->node_of[k], size = fil_blocks_size(A->offset, node);
        for (int e = M->start[b->dof[k]]; e < M->start[b->dof[k] + 1]; e++) {
            const int row = b->local[M->index[e]], row_node = b->node_of[row];
            double *block = value + A->at[fil_blocks_find(A, row_node, node)];
            block[(row - A->offset[row_node]) * size + k - A->offset[node]] += M->value[e];
        }
    }
    A->value = value;
    return FIL_OK;
}

// The entries of A that the pairs of nodes of contact i reach.
static void find_pairs(const Build *b, const FilBlocks *A, int i, int *pair) {
    const int *node = b->contact_node + b->contact_start[i];
    const int64_t nodes = b->contact_start[i + 1] - b->contact_start[i];
    for (int64_t k = 0; k < nodes * nodes; k++) {
        pair[k] = fil_blocks_find(A, node[k / nodes], node[k % nodes]);
    }
}

// The rows of H of contact i, by node.
static void fill_rows(const Build *b, const int *node_offset, int i, const int64_t *H_at,
                      double *value) {
    const FilSparse *H = &b->global->H;
    const int block = contact_block(b, i), first = b->offset[block];
    const int d = b->offset[block + 1] - first;
    for (int c = 0; c < d; c++) {
        for (int k = H->start[first + c]; k < H->start[first + c + 1]; k++) {
            const int dof = b->local[H->index[k]], node = b->node_of[dof];
            int e = b->contact_start[i];
            while (b->contact_node[e] != node) {
                e++;
            }
            value[H_at[e] + (dof - node_offset[node]) * d + c] += H->value[k];
        }
    }
}

static FilStatus fill_contacts(const Build *b, FilArena *arena, FilPrimal *out) {
    const FilBlocks *A = &out->A;
    const int entries = b->contact_start[b->count];
    int64_t *H_at = FIL_NEW(arena, int64_t, entries + 1);
    int64_t *pair_at = FIL_NEW(arena, int64_t, b->count + 1);
    if (H_at == NULL || pair_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    H_at[0] = pair_at[0] = 0;
    for (int i = 0; i < b->count; i++) {
        const int block = contact_block(b, i), d = b->offset[block + 1] - b->offset[block];
        const int nodes = b->contact_start[i + 1] - b->contact_start[i];
        for (int e = b->contact_start[i]; e < b->contact_start[i + 1]; e++) {
            H_at[e + 1] = H_at[e] + (int64_t)d * fil_blocks_size(A->offset, b->contact_node[e]);
        }
        pair_at[i + 1] = pair_at[i] + (int64_t)nodes * nodes;
    }
    double *value = FIL_NEW_ZEROED(arena, double, H_at[entries]);
    int *pair = FIL_NEW(arena, int, pair_at[b->count]);
    if (value == NULL || pair == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < b->count; i++) {
        find_pairs(b, A, i, pair + pair_at[i]);
        fill_rows(b, A->offset, i, H_at, value);
    }
    out->H_at = H_at;
    out->H = value;
    out->pair_at = pair_at;
    out->pair = pair;
    return FIL_OK;
}

// The compliance of the contacts, from that of all blocks.
static FilStatus copy_compliance(const Build *b, const double *compliance, FilArena *arena,
                                 FilPrimal *out) {
    int64_t size = 0;
    for (int i = 0; i < b->count; i++) {
        const int block = contact_block(b, i), d = b->offset[block + 1] - b->offset[block];
        size += (int64_t)d * d;
    }
    double *copy = FIL_NEW(arena, double, size);
    if (copy == NULL) {
        return FIL_E_NO_MEMORY;
    }
    double *next = copy;
    for (int i = 0, block = 0; i < b->count; i++, block++) {
        for (; block < contact_block(b, i); block++) {
            const int d = b->offset[block + 1] - b->offset[block];
            compliance += (ptrdiff_t)d * d;
        }
        const int d = b->offset[block + 1] - b->offset[block];
        memcpy(next, compliance, (size_t)(d * d) * sizeof *next);
        compliance += (ptrdiff_t)d * d;
        next += (ptrdiff_t)d * d;
    }
    out->compliance = copy;
    return FIL_OK;
}

FilStatus fil_primal_create(const FilFrictionProblem *problem, const FilSystem *whole,
                            const int *member, int count, FilArena *arena, FilArena *scratch,
                            FilPrimal **out) {
    const FilGlobalForm *global = &problem->global;
    const int m = whole->reduction->dof_count;
    const FilArenaMark mark = fil_arena_mark(scratch);
    FilPrimal *primal = FIL_NEW(arena, FilPrimal, 1);
    Build b = {.global = global,
               .reduction = whole->reduction,
               .offset = whole->offset,
               .member = member,
               .count = count,
               .local = FIL_NEW(scratch, int, m),
               .dof = FIL_NEW(scratch, int, m),
               .node_of = FIL_NEW(scratch, int, m),
               .node_offset = FIL_NEW(scratch, int, m + 1),
               .contact_start = FIL_NEW(arena, int, count + 1),
               .mark = FIL_NEW(scratch, int, m),
               .cuts = FIL_NEW_ZEROED(scratch, bool, m)};
    FilStatus status = arena->failed || scratch->failed ? FIL_E_NO_MEMORY : FIL_OK;
    if (status == FIL_OK) {
        *primal = (FilPrimal){.problem = problem, .whole = whole, .member = member};
        number_unknowns(&b);
        status = find_contact_nodes(&b, arena);
    }
    if (status == FIL_OK) {
        status = find_pattern(&b, arena, scratch, &primal->A);
    }
    if (status == FIL_OK) {
        status = fill_mass(&b, arena, &primal->A);
    }
    if (status == FIL_OK) {
        status = fill_contacts(&b, arena, primal);
    }
    if (status == FIL_OK && problem->compliance != NULL) {
        status = copy_compliance(&b, problem->compliance, arena, primal);
    }
    if (status == FIL_OK) {
        primal->node_count = b.node_count;
        primal->dof_count = b.dof_count;
        primal->node_offset = b.node_offset;
        primal->contact_start = b.contact_start;
        primal->contact_node = b.contact_node;
        *out = primal;
    }
    fil_arena_release(scratch, mark);
    return status;
}
