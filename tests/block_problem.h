#ifndef FIL_TESTS_BLOCK_PROBLEM_H
#define FIL_TESTS_BLOCK_PROBLEM_H

// Block-sparse matrices like those of contact problems, for tests and benchmarks. Blocks (contacts)
// that share a body form a clique: W = sum over bodies of G G^T, with G the random rows of the
// body's contacts, six columns. W is positive semi-definite before `asymmetry` spoils it a little.

#include "base/arena.h"
#include "base/random.h"
#include "math/block_lu.h"

#include <stdlib.h>
#include <string.h>

typedef struct Bodies {
    int count, block_count;
    int *start;  // [count + 1]
    int *member; // blocks of a body
} Bodies;

typedef struct BlockProblem {
    FilBlockPattern pattern;
    int unknowns;
    double *value;    // W
    double *diagonal; // D, positive definite
} BlockProblem;

typedef struct Link {
    int body[2];
} Link;

// Bodies from links: link l is a block that touches two bodies (-1: none).
static inline Bodies bodies_from_links(FilArena *arena, int body_count, int link_count,
                                       const Link *link) {
    Bodies b = {.count = body_count,
                .block_count = link_count,
                .start = FIL_NEW_ZEROED(arena, int, body_count + 2),
                .member = FIL_NEW(arena, int, 2 * link_count)};
    for (int i = 0; i < 2 * link_count; i++) {
        const int body = link[i / 2].body[i % 2];
        if (body >= 0) {
            b.start[body + 2]++;
        }
    }
    for (int i = 0; i < body_count; i++) {
        b.start[i + 2] += b.start[i + 1];
    }
    for (int i = 0; i < 2 * link_count; i++) {
        const int body = link[i / 2].body[i % 2];
        if (body >= 0) {
            b.member[b.start[body + 1]++] = i / 2;
        }
    }
    return b;
}

static inline void shuffle(FilRandom *random, int count, int *order) {
    for (int i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int i = count - 1; i > 0; i--) {
        const int j = fil_random_int(random, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

// Spheres on a cubic lattice that touch their 18 nearest neighbours, contacts in random order: 35
// blocks a row inside.
static inline Bodies lattice_bodies(FilArena *arena, FilRandom *random, int side) {
    static const int step[9][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                   {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
    const int bodies = side * side * side;
    Link *link = FIL_NEW(arena, Link, 9 * bodies), *mixed = FIL_NEW(arena, Link, 9 * bodies);
    int *order = FIL_NEW(arena, int, 9 * bodies), count = 0;
    for (int b = 0; b < bodies; b++) {
        const int at[3] = {b % side, b / side % side, b / side / side};
        for (int k = 0; k < 9; k++) {
            const int to[3] = {at[0] + step[k][0], at[1] + step[k][1], at[2] + step[k][2]};
            bool inside = true;
            for (int c = 0; c < 3; c++) {
                inside = inside && to[c] >= 0 && to[c] < side;
            }
            if (inside) {
                link[count++] = (Link){{b, to[0] + side * (to[1] + side * to[2])}};
            }
        }
    }
    shuffle(random, count, order);
    for (int l = 0; l < count; l++) {
        mixed[l] = link[order[l]];
    }
    return bodies_from_links(arena, bodies, count, mixed);
}

// A tower: each body rests on the one below at `per_layer` points.
static inline Bodies tower_bodies(FilArena *arena, int layers, int per_layer) {
    Link *link = FIL_NEW(arena, Link, layers * per_layer);
    for (int l = 0; l < layers * per_layer; l++) {
        link[l] = (Link){{l / per_layer, l / per_layer - 1}};
    }
    return bodies_from_links(arena, layers, layers * per_layer, link);
}

// `blocks` contacts between random bodies.
static inline Bodies random_bodies(FilArena *arena, FilRandom *random, int bodies, int blocks) {
    Link *link = FIL_NEW(arena, Link, blocks);
    for (int l = 0; l < blocks; l++) {
        const int one = fil_random_int(random, bodies);
        link[l] = (Link){{one, (one + 1 + fil_random_int(random, bodies - 1)) % bodies}};
    }
    return bodies_from_links(arena, bodies, blocks, link);
}

static inline int compare_ints(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

// The blocks of a body that `seen` does not mark with i yet; returns how many.
static inline int list_unseen(const Bodies *bodies, int body, int i, int *seen, int *out) {
    int count = 0;
    for (int k = bodies->start[body]; k < bodies->start[body + 1]; k++) {
        if (seen[bodies->member[k]] != i) {
            seen[bodies->member[k]] = i;
            out[count++] = bodies->member[k];
        }
    }
    return count;
}

// Blocks i and j are coupled when they share a body; sizes are given.
static inline FilBlockPattern pattern_of(FilArena *arena, const Bodies *bodies, const int *size) {
    const int n = bodies->block_count, uses = bodies->start[bodies->count];
    int *first = FIL_NEW_ZEROED(arena, int, n + 2), *body = FIL_NEW(arena, int, uses);
    for (int k = 0; k < uses; k++) {
        first[bodies->member[k] + 2]++;
    }
    for (int i = 0; i < n; i++) {
        first[i + 2] += first[i + 1];
    }
    for (int b = 0; b < bodies->count; b++) {
        for (int k = bodies->start[b]; k < bodies->start[b + 1]; k++) {
            body[first[bodies->member[k] + 1]++] = b;
        }
    }
    size_t room = (size_t)n;
    for (int b = 0; b < bodies->count; b++) {
        const size_t c = (size_t)(bodies->start[b + 1] - bodies->start[b]);
        room += c * c;
    }
    int *offset = FIL_NEW(arena, int, n + 1), *row_start = FIL_NEW(arena, int, n + 1);
    int *column = FIL_NEW(arena, int, room), *seen = FIL_NEW(arena, int, n), count = 0;
    memset(seen, -1, (size_t)n * sizeof *seen);
    offset[0] = 0;
    for (int i = 0; i < n; i++) {
        offset[i + 1] = offset[i] + size[i];
        row_start[i] = count;
        seen[i] = i;
        column[count++] = i;
        for (int f = first[i]; f < first[i + 1]; f++) {
            count += list_unseen(bodies, body[f], i, seen, column + count);
        }
        qsort(column + row_start[i], (size_t)(count - row_start[i]), sizeof(int), compare_ints);
    }
    row_start[n] = count;
    return (FilBlockPattern){.n = n, .offset = offset, .row_start = row_start, .column = column};
}

static inline int find_block(const FilBlockPattern *p, int i, int j) {
    int low = p->row_start[i], high = p->row_start[i + 1] - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (p->column[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static inline int size_of(const FilBlockPattern *p, int i) {
    return p->offset[i + 1] - p->offset[i];
}

// Where each block starts in the values: [row_start[n] + 1].
static inline ptrdiff_t *block_places(FilArena *arena, const FilBlockPattern *p) {
    ptrdiff_t *place = FIL_NEW(arena, ptrdiff_t, p->row_start[p->n] + 1);
    place[0] = 0;
    for (int i = 0; i < p->n; i++) {
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            place[e + 1] = place[e] + (ptrdiff_t)size_of(p, i) * size_of(p, p->column[e]);
        }
    }
    return place;
}

// to += A B^T for `height` rows of A and `width` of B, six columns.
static inline void add_outer(double *to, const double *a, int height, const double *b, int width) {
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < width; j++) {
            for (int k = 0; k < 6; k++) {
                to[i * width + j] += a[6 * i + k] * b[6 * j + k];
            }
        }
    }
}

// Add G G^T of one body to the values.
static inline void add_body(const FilBlockPattern *p, const ptrdiff_t *place, const int *member,
                            int count, const double *g, double *value) {
    const double *row = g;
    for (int a = 0; a < count; a++) {
        const int height = size_of(p, member[a]);
        const double *column = g;
        for (int b = 0; b < count; b++) {
            const int width = size_of(p, member[b]);
            add_outer(value + place[find_block(p, member[a], member[b])], row, height, column,
                      width);
            column += (ptrdiff_t)6 * width;
        }
        row += (ptrdiff_t)6 * height;
    }
}

static inline BlockProblem make_problem(FilArena *arena, FilRandom *random, const Bodies *bodies,
                                        const int *size, double asymmetry) {
    BlockProblem out = {.pattern = pattern_of(arena, bodies, size)};
    const FilBlockPattern *p = &out.pattern;
    out.unknowns = p->offset[p->n];
    const ptrdiff_t *place = block_places(arena, p);
    const ptrdiff_t entries = place[p->row_start[p->n]];
    out.value = FIL_NEW_ZEROED(arena, double, entries);
    double *g = FIL_NEW(arena, double, 6 * out.unknowns + 6);
    for (int b = 0; b < bodies->count; b++) {
        for (int k = 0; k < 6 * out.unknowns; k++) {
            g[k] = fil_random_normal(random);
            if (k >= 36 * (bodies->start[b + 1] - bodies->start[b])) {
                break; // no block is larger than 6
            }
        }
        add_body(p, place, bodies->member + bodies->start[b],
                 bodies->start[b + 1] - bodies->start[b], g, out.value);
    }
    for (ptrdiff_t k = 0; k < entries; k++) {
        out.value[k] *= 1.0 + asymmetry * fil_random_uniform(random, -1.0, 1.0);
    }
    ptrdiff_t squares = 0;
    for (int i = 0; i < p->n; i++) {
        squares += (ptrdiff_t)size_of(p, i) * size_of(p, i);
    }
    out.diagonal = FIL_NEW_ZEROED(arena, double, squares);
    double *d = out.diagonal;
    for (int i = 0; i < p->n; i++) {
        const int s = size_of(p, i);
        for (int r = 0; r < s; r++) {
            for (int c = 0; c < s; c++) {
                *d++ = r == c ? fil_random_uniform(random, 0.5, 1.5)
                              : fil_random_uniform(random, -0.1, 0.1);
            }
        }
    }
    return out;
}

static inline BlockProblem make_problem3(FilArena *arena, FilRandom *random, const Bodies *bodies) {
    int *size = FIL_NEW(arena, int, bodies->block_count);
    for (int i = 0; i < bodies->block_count; i++) {
        size[i] = 3;
    }
    return make_problem(arena, random, bodies, size, 0.03);
}

// y += B x for a row-major block.
static inline void add_block_times(const double *block, int height, int width, const double *x,
                                   double *y) {
    for (int r = 0; r < height; r++) {
        for (int c = 0; c < width; c++) {
            y[r] += block[r * width + c] * x[c];
        }
    }
}

// y = (W + D) x; D may be NULL.
static inline void multiply(const BlockProblem *a, const double *diagonal, const double *x,
                            double *y) {
    const FilBlockPattern *p = &a->pattern;
    const double *v = a->value, *d = diagonal;
    memset(y, 0, (size_t)a->unknowns * sizeof *y);
    for (int i = 0; i < p->n; i++) {
        const int height = size_of(p, i), at = p->offset[i];
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            const int width = size_of(p, p->column[e]);
            add_block_times(v, height, width, x + p->offset[p->column[e]], y + at);
            v += (ptrdiff_t)height * width;
        }
        if (d != NULL) {
            add_block_times(d, height, height, x + at, y + at);
            d += (ptrdiff_t)height * height;
        }
    }
}

// Compressed columns of W + D, for the oracles.
typedef struct ScalarMatrix {
    int *start, *row;
    double *value;
} ScalarMatrix;

// Row r of block e, which belongs to block row i, to the columns: next[c] is where c goes on.
static inline void append_row(const BlockProblem *a, int i, int r, int e, const double *values,
                              const double *diagonal, const ScalarMatrix *m) {
    const FilBlockPattern *p = &a->pattern;
    const int j = p->column[e], width = size_of(p, j);
    for (int c = 0; c < width; c++) {
        const int at = m->start[p->offset[j] + c + 1]++;
        m->row[at] = p->offset[i] + r;
        m->value[at] = values[r * width + c] + (i == j ? diagonal[r * width + c] : 0.0);
    }
}

static inline ScalarMatrix scalar_columns(FilArena *arena, const BlockProblem *a) {
    const FilBlockPattern *p = &a->pattern;
    const ptrdiff_t *place = block_places(arena, p);
    const size_t entries = (size_t)place[p->row_start[p->n]];
    ScalarMatrix m = {.start = FIL_NEW_ZEROED(arena, int, a->unknowns + 2),
                      .row = FIL_NEW(arena, int, entries),
                      .value = FIL_NEW(arena, double, entries)};
    for (int i = 0; i < p->n; i++) {
        for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            for (int c = p->offset[p->column[e]]; c < p->offset[p->column[e] + 1]; c++) {
                m.start[c + 2] += size_of(p, i);
            }
        }
    }
    for (int c = 0; c < a->unknowns; c++) {
        m.start[c + 2] += m.start[c + 1];
    }
    const double *diagonal = a->diagonal;
    for (int i = 0; i < p->n; i++) {
        for (int r = 0; r < size_of(p, i); r++) {
            for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
                append_row(a, i, r, e, a->value + place[e], diagonal, &m);
            }
        }
        diagonal += (ptrdiff_t)size_of(p, i) * size_of(p, i);
    }
    return m;
}

#endif
