// front.c - dense factorisation of one front.
//
// One thread: LU of the pivots, two triangular solves, one product, all recursive or packed inside.
//
// Several threads. [A11 A12] is worked off in blocks of BLOCK pivots, right-looking: when the
// columns of a block are factored, every later column takes its row exchanges, is solved with the
// block's L and loses the product, a tile of columns at a time and tiles in any order. The first
// tile is the next block, which is factored at once, while the other threads are still busy with
// the other tiles (look-ahead): of the whole only the first block is factored alone. Columns to the
// left take the later exchanges at the end, all at once. Then U11^T X = A21^T by tiles of columns,
// and C - L21 U12 by tiles of both.
//
// Bits. Every element loses its products one by one, those of earlier pivots first, whatever the
// cuts (see dense.h), so this gives the bits of the recursive form, and the tiles may depend on
// anything. Their sizes depend on the front alone all the same.
#include "front.h"

#include "base/parallel.h"

enum {
    BLOCK = 192,        // pivots of a step: one packed depth of the product; a multiple of 8
    LEAST_COLUMNS = 64, // of a tile: fewer would pack the coefficients too often
    MOST_COLUMNS = 256, // whose rows of B stay in the second-level cache
    PRODUCT_ROWS = 144, // of a tile of C
    PRODUCT_COLUMNS = 384,
};

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int count_tiles(int items, int size) {
    return items > 0 ? (items - 1) / size + 1 : 0;
}

bool fil_front_is_large(const FilFront *f) {
    const double k = f->k, u = f->u;
    return k > 0.0 && k * (2.0 / 3.0 * k * k + 2.0 * u * (k + u)) > 2e7; // half a millisecond
}

static const int64_t ASK_EVERY = 200000000; // operations

bool fil_halts(FilHalt *halt, double operations) {
    if (halt == NULL || halt->stop == NULL || halt->stopped) {
        return halt != NULL && halt->stopped;
    }
    const int64_t more = operations < (double)ASK_EVERY ? (int64_t)operations : ASK_EVERY;
    if (atomic_fetch_add(&halt->since, more) + more >= ASK_EVERY) {
        atomic_store(&halt->since, 0);
        if (halt->stop(halt->user)) {
            halt->stopped = true;
        }
    }
    return halt->stopped;
}

static double *at(const FilFront *f, int row, int column) {
    return f->panel.at + row * f->panel.stride + column;
}

static FilPanel panel_at(const FilFront *f, int row, int column) {
    return (FilPanel){at(f, row, column), f->panel.stride};
}

// LU of the columns first .. first + count - 1, rows exchanged in columns begin .. end - 1.
static int factor_columns(const FilFront *f, int first, int count, int begin, int end) {
    const FilDenseLu lu = {.panel = f->panel,
                           .order = f->k,
                           .begin = begin,
                           .width = end,
                           .floor = f->floor,
                           .pivot = f->pivot,
                           .inverse = f->inverse};
    return count > 0 ? f->kernels->factor_columns(&lu, first, count) : 0;
}

// A21^T := U11^-T A21^T, columns first .. first + count - 1 of the u4.
static void solve_lower_rows(const FilFront *f, int first, int count) {
    f->kernels->solve_lower(f->k, count, (FilCoefficients){f->panel.at, 1, f->panel.stride},
                            f->inverse, panel_at(f, 0, f->k4 + f->u4 + first));
}

// C -= L21 U12 for the rows and the columns of a tile.
static void subtract_tile(const FilFront *f, const int row[2], const int column[2]) {
    f->kernels->subtract_product(
        (const int[3]){row[1] - row[0], column[1] - column[0], f->k},
        (FilCoefficients){at(f, 0, f->k4 + f->u4 + row[0]), 1, f->panel.stride},
        panel_at(f, 0, f->k4 + column[0]),
        (FilPanel){f->rest.at + row[0] * f->rest.stride + column[0], f->rest.stride});
}

int fil_front_factor(const FilFront *f) {
    const int replaced = factor_columns(f, 0, f->k, 0, f->k4 + f->u4);
    if (f->k > 0 && f->u > 0) {
        f->kernels->solve_lower(f->k, f->u4, (FilCoefficients){f->panel.at, f->panel.stride, 1},
                                NULL, panel_at(f, 0, f->k4));
        solve_lower_rows(f, 0, f->u4);
        subtract_tile(f, (const int[2]){0, f->u}, (const int[2]){0, f->u4});
    }
    return replaced;
}

// The row exchanges of pivots begin .. end - 1, in columns first .. first + count - 1.
static void exchange_rows(const FilFront *f, int begin, int end, int first, int count) {
    for (int i = begin; i < end; i++) {
        double *restrict a = at(f, i, first);
        double *restrict b = at(f, f->pivot[i], first);
        for (int c = 0; c < count && f->pivot[i] != i; c++) {
            const double swap = a[c];
            a[c] = b[c];
            b[c] = swap;
        }
    }
}

// One loop over all threads.
typedef struct Step {
    const FilFront *front;
    int begin, end; // the pivots of the block that was factored last
    int next_end;   // the end of the block after it; `end` when there is none
    int first;      // column of the first tile
    int last;       // end of the tiles
    int width;      // of a tile
    int replaced;   // in the block after it
} Step;

// All that the pivots of the step do to columns first .. first + count - 1.
static void update_columns(const Step *s, int first, int count) {
    const FilFront *f = s->front;
    const int size = s->end - s->begin;
    const FilPanel above = panel_at(f, s->begin, first);
    exchange_rows(f, s->begin, s->end, first, count);
    f->kernels->solve_lower(
        size, count, (FilCoefficients){at(f, s->begin, s->begin), f->panel.stride, 1}, NULL, above);
    if (s->end < f->k) {
        f->kernels->subtract_product((const int[3]){f->k - s->end, count, size},
                                     (FilCoefficients){at(f, s->end, s->begin), f->panel.stride, 1},
                                     above, panel_at(f, s->end, first));
    }
}

// Item 0 is the next block where there is one; the others are the tiles to the right of it.
static void update_tile(void *context, int item) {
    Step *s = context;
    const bool has_next = s->next_end > s->end;
    if (has_next && item == 0) {
        const int count = s->next_end - s->end, columns = fil_round4(count);
        update_columns(s, s->end, columns);
        s->replaced = factor_columns(s->front, s->end, count, s->end, s->end + columns);
        return;
    }
    const int first = s->first + (item - has_next) * s->width;
    update_columns(s, first, smaller(s->width, s->last - first));
}

static int tile_width(int columns) {
    const int width = (columns / 8 + 7) & ~7;
    return smaller(width > LEAST_COLUMNS ? width : LEAST_COLUMNS, MOST_COLUMNS);
}

// L11\U11 and U12, rows of L11 not yet exchanged by the pivots of later blocks.
static int factor_by_blocks(const FilFront *f, int threads) {
    const int first_block = smaller(BLOCK, f->k);
    int replaced = factor_columns(f, 0, first_block, 0, fil_round4(first_block));
    for (int begin = 0; begin < f->k; begin += BLOCK) {
        const int end = smaller(begin + BLOCK, f->k);
        const double columns = f->k4 + f->u4 - begin;
        if (fil_halts(f->halt, 2.0 * BLOCK * (f->k - begin) * columns)) {
            return replaced;
        }
        Step s = {.front = f,
                  .begin = begin,
                  .end = end,
                  .next_end = smaller(end + BLOCK, f->k),
                  .last = f->k4 + f->u4};
        s.first = fil_round4(s.next_end);
        s.width = tile_width(s.last - s.first);
        const int items = count_tiles(s.last - s.first, s.width) + (s.next_end > end);
        fil_parallel_for(items, threads, update_tile, &s);
        replaced += s.replaced;
    }
    return replaced;
}

// The first items are tiles of A21^T, the others the blocks of L11, whose rows are exchanged.
static void finish_tile(void *context, int item) {
    const Step *s = context;
    const int tiles = count_tiles(s->last, s->width);
    if (item < tiles) {
        const int first = item * s->width;
        solve_lower_rows(s->front, first, smaller(s->width, s->last - first));
    } else {
        const int first = (item - tiles) * BLOCK;
        exchange_rows(s->front, first + BLOCK, s->front->k, first, BLOCK);
    }
}

static void product_tile(void *context, int item) {
    const Step *s = context;
    const FilFront *f = s->front;
    if (fil_halts(f->halt, 2.0 * PRODUCT_ROWS * PRODUCT_COLUMNS * f->k)) {
        return;
    }
    const int across = (f->u4 - 1) / PRODUCT_COLUMNS + 1;
    const int row = item / across * PRODUCT_ROWS, column = item % across * PRODUCT_COLUMNS;
    subtract_tile(f, (const int[2]){row, smaller(row + PRODUCT_ROWS, f->u)},
                  (const int[2]){column, smaller(column + PRODUCT_COLUMNS, f->u4)});
}

int fil_front_factor_parallel(const FilFront *f, int threads) {
    const int replaced = factor_by_blocks(f, threads);
    if (f->halt != NULL && f->halt->stopped) {
        return replaced; // later blocks have no pivots yet
    }
    Step s = {.front = f, .last = f->u4, .width = tile_width(f->u4)};
    fil_parallel_for(count_tiles(f->u4, s.width) + count_tiles(f->k, BLOCK) - 1, threads,
                     finish_tile, &s);
    fil_parallel_for(count_tiles(f->u, PRODUCT_ROWS) * count_tiles(f->u4, PRODUCT_COLUMNS), threads,
                     product_tile, &s);
    return replaced;
}
