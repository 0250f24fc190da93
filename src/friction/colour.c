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

FilStatus fil_colours_find(const FilSystem *s, bool several, FilArena *arena, FilColours *out) {
    const int n = s->n;
    int *colour = FIL_NEW_ZEROED(arena, int, n);
    int *taken = FIL_NEW(arena, int, n + 1); // taken[c] == i: a neighbour of i has colour c
    if (colour == NULL || taken == NULL) {
        return FIL_E_NO_MEMORY;
    }
    if (!several || s->W.value == NULL) {
        return group(colour, n, n > 0 ? 1 : 0, arena, out);
    }
    for (int c = 0; c <= n; c++) {
        taken[c] = -1;
    }
    int count = 0;
    for (int i = 0; i < n; i++) {
        for (int k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
            const int j = s->W.column[k];
            if (j < i) {
                taken[colour[j]] = i;
            }
        }
        int c = 0;
        while (taken[c] == i) {
            c++;
        }
        colour[i] = c;
        count = c + 1 > count ? c + 1 : count;
    }
    return group(colour, n, count, arena, out);
}
