// colour.c - groups of blocks that may be solved at the same time.
//
// Greedy: a block takes the first colour that none of its coupled neighbours has. The neighbours
// come from the pattern of a stored W, or from the bodies of a factored one, where two blocks
// conflict when they touch the same body.
#include "colour.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"

static FilStatus group(const int *colour, int n, int count, FilArena *arena, FilColours *out) {
    int *start = FIL_NEW_ZEROED(arena, int, count + 2);
    int *block = FIL_NEW(arena, int, n);
    if (start == NULL || block == NULL) {
        return FIL_E_NO_MEMORY;
    }
    int *fill = start + 1; // after filling, the start of the next colour
    for (int i = 0; i < n; i++) {
        fill[colour[i] + 1]++;
    }
    for (int c = 0; c < count; c++) {
        fill[c + 1] += fill[c];
    }
    for (int i = 0; i < n; i++) {
        block[fill[colour[i]]++] = i;
    }
    *out = (FilColours){.count = count, .start = start, .block = block};
    return FIL_OK;
}

// The blocks of every body or column: block[start[k] ..], ascending.
typedef struct Members {
    int *start, *block;
} Members;

static FilStatus group_by_body(const FilBodyRows *bodies, int n, FilArena *arena, Members *out) {
    out->start = FIL_NEW_ZEROED(arena, int, bodies->body_count + 2);
    out->block = FIL_NEW(arena, int, bodies->start[n]);
    if (out->start == NULL || out->block == NULL) {
        return FIL_E_NO_MEMORY;
    }
    int *fill = out->start + 1; // after filling, the start of the next body
    for (int e = 0; e < bodies->start[n]; e++) {
        fill[bodies->body[e] + 1]++;
    }
    for (int body = 0; body < bodies->body_count; body++) {
        fill[body + 1] += fill[body];
    }
    for (int i = 0; i < n; i++) {
        for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
            out->block[fill[bodies->body[e]]++] = i;
        }
    }
    return FIL_OK;
}

// The rows that hold a block in every column, ascending: the pattern need not be symmetric.
static FilStatus group_by_column(const FilBlocks *W, FilArena *arena, Members *out) {
    out->start = FIL_NEW_ZEROED(arena, int, W->n + 2);
    out->block = FIL_NEW(arena, int, W->start[W->n]);
    if (out->start == NULL || out->block == NULL) {
        return FIL_E_NO_MEMORY;
    }
    int *fill = out->start + 1; // after filling, the start of the next column
    for (int k = 0; k < W->start[W->n]; k++) {
        fill[W->column[k] + 1]++;
    }
    for (int c = 0; c < W->n; c++) {
        fill[c + 1] += fill[c];
    }
    for (int i = 0; i < W->n; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            out->block[fill[W->column[k]]++] = i;
        }
    }
    return FIL_OK;
}

// taken[c] = i for the colours c of the blocks before i that i is coupled to.
static void mark_taken(const FilSystem *s, const Members *of, const int *colour, int i,
                       int *taken) {
    if (s->has_blocks) {
        for (int k = s->W.start[i]; s->W.column[k] < i; k++) { // the diagonal ends both loops
            taken[colour[s->W.column[k]]] = i;
        }
        for (int k = of->start[i]; of->block[k] < i; k++) {
            taken[colour[of->block[k]]] = i;
        }
        return;
    }
    for (int e = s->bodies->start[i]; e < s->bodies->start[i + 1]; e++) {
        const int body = s->bodies->body[e];
        for (int k = of->start[body]; of->block[k] < i; k++) { // i itself ends the loop
            taken[colour[of->block[k]]] = i;
        }
    }
}

FilStatus fil_colours_find(const FilSystem *s, bool several, FilArena *arena, FilColours *out) {
    const int n = s->n;
    Members of = {0};
    int *colour = FIL_NEW_ZEROED(arena, int, n);
    int *taken = FIL_NEW(arena, int, n + 1); // taken[c] == i: a neighbour of i has colour c
    if (colour == NULL || taken == NULL) {
        return FIL_E_NO_MEMORY;
    }
    if (!several) {
        return group(colour, n, n > 0 ? 1 : 0, arena, out);
    }
    FIL_TRY(s->has_blocks ? group_by_column(&s->W, arena, &of)
                          : group_by_body(s->bodies, n, arena, &of));
    for (int c = 0; c <= n; c++) {
        taken[c] = -1;
    }
    int count = 0;
    for (int i = 0; i < n; i++) {
        mark_taken(s, &of, colour, i, taken);
        int c = 0;
        while (taken[c] == i) {
            c++;
        }
        colour[i] = c;
        count = c + 1 > count ? c + 1 : count;
    }
    return group(colour, n, count, arena, out);
}
