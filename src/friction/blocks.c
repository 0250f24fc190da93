// blocks.c - the Delassus operator as a block-sparse matrix.
//
// Contacts that share a body are coupled, so the pattern of W is the union of a clique per body.
// Blocks are stored row by row; nearly all are 3 x 3, which has its own inner loop.
#include "blocks.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/sparse.h"
#include "small.h"

static void multiply_add_3(const double *restrict a, const double *restrict x, double *restrict y) {
    y[0] += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
    y[1] += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
    y[2] += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
}

static void multiply_add(int rows, int columns, const double *a, const double *x, double *y) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            y[i] += a[i * columns + j] * x[j];
        }
    }
}

void fil_blocks_row(const FilBlocks *W, int i, const double *x, double *y) {
    const int d = fil_blocks_size(W->offset, i);
    double sum[FIL_BLOCK_MAX] = {0};
    for (int k = W->start[i]; k < W->start[i + 1]; k++) {
        const int j = W->column[k], e = fil_blocks_size(W->offset, j);
        if (d == 3 && e == 3) {
            multiply_add_3(W->value + W->at[k], x + W->offset[j], sum);
        } else {
            multiply_add(d, e, W->value + W->at[k], x + W->offset[j], sum);
        }
    }
    memcpy(y, sum, (size_t)d * sizeof *y);
}

typedef struct Product {
    const FilBlocks *W;
    const double *x;
    double *y;
} Product;

static void multiply_rows(void *context, int first, int last) {
    const Product *p = context;
    for (int i = first; i < last; i++) {
        fil_blocks_row(p->W, i, p->x, p->y + p->W->offset[i]);
    }
}

// NOLINTNEXTLINE(readability-non-const-parameter): y is written through the product
void fil_blocks_multiply(const FilBlocks *W, const double *x, double *y, int threads) {
    Product product = {W, x, y};
    fil_parallel_ranges(W->n, 256, threads, multiply_rows, &product);
}

int fil_blocks_find(const FilBlocks *W, int i, int j) {
    int low = W->start[i], high = W->start[i + 1] - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (W->column[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool fil_blocks_index(FilBlocks *W, FilArena *arena) {
    int64_t *at = FIL_NEW(arena, int64_t, W->start[W->n] + 1);
    int *diagonal = FIL_NEW(arena, int, W->n);
    if (at == NULL || diagonal == NULL) {
        return false;
    }
    int64_t next = 0;
    for (int i = 0; i < W->n; i++) {
        diagonal[i] = -1;
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            at[k] = next;
            next +=
                (int64_t)fil_blocks_size(W->offset, i) * fil_blocks_size(W->offset, W->column[k]);
            if (W->column[k] == i) {
                diagonal[i] = k;
            }
        }
        FIL_ASSERT(diagonal[i] >= 0);
    }
    at[W->start[W->n]] = next;
    W->at = at;
    W->diagonal = diagonal;
    return true;
}

void fil_blocks_sort(int *column, int count) {
    // rows are short and nearly sorted: insertion beats anything cleverer
    for (int k = 1; k < count; k++) {
        const int c = column[k];
        int j = k;
        for (; j > 0 && column[j - 1] > c; j--) {
            column[j] = column[j - 1];
        }
        column[j] = c;
    }
}

// Count (column NULL) or write the columns of row i.
static int find_columns(const FilBodyRows *bodies, const FilTransposed *of, int i, int *mark,
                        int *column) {
    int count = 0;
    for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
        const int body = bodies->body[e];
        for (int k = of->start[body]; k < of->start[body + 1]; k++) {
            fil_blocks_note(i, of->row[k], mark, column, &count);
        }
    }
    // a block that touches no body still has a (zero) diagonal block
    fil_blocks_note(i, i, mark, column, &count);
    return count;
}

typedef struct Assembly {
    const FilBodyRows *bodies;
    const FilTransposed *of; // the blocks and entries of every body
    const int64_t *entry_at; // where the rows of an entry begin in H and HA
    FilBlocks *W;
    double *value;
} Assembly;

static void assemble_row(void *context, int i) {
    const Assembly *a = context;
    const FilBodyRows *bodies = a->bodies;
    const FilBlocks *W = a->W;
    const int d = fil_blocks_size(W->offset, i);
    for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
        const int body = bodies->body[e];
        const int m = bodies->body_start[body + 1] - bodies->body_start[body];
        for (int k = a->of->start[body]; k < a->of->start[body + 1]; k++) {
            const int j = a->of->row[k];
            fil_small_add_transposed(d, m, fil_blocks_size(W->offset, j),
                                     bodies->H + a->entry_at[e],
                                     bodies->HA + a->entry_at[a->of->entry[k]],
                                     a->value + W->at[fil_blocks_find(W, i, j)]);
        }
    }
}

int64_t *fil_blocks_entry_offsets(const FilBodyRows *bodies, int n, const int *offset,
                                  FilArena *arena) {
    int64_t *at = FIL_NEW(arena, int64_t, bodies->start[n] + 1);
    if (at == NULL) {
        return NULL;
    }
    at[0] = 0;
    for (int i = 0; i < n; i++) {
        for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
            const int body = bodies->body[e];
            at[e + 1] = at[e] + (int64_t)fil_blocks_size(offset, i) *
                                    (bodies->body_start[body + 1] - bodies->body_start[body]);
        }
    }
    return at;
}

FilStatus fil_blocks_from_bodies(const FilBodyRows *bodies, int n, const int *offset,
                                 FilArena *arena, FilBlocks *out) {
    FilTransposed of;
    int *mark = FIL_NEW(arena, int, n);
    int *start = FIL_NEW(arena, int, n + 1);
    if (mark == NULL || start == NULL ||
        !fil_pattern_transpose(n, bodies->body_count, bodies->start, bodies->body, arena, &of)) {
        return FIL_E_NO_MEMORY;
    }
    fil_blocks_clear_marks(mark, n);
    start[0] = 0;
    for (int i = 0; i < n; i++) {
        const int count = find_columns(bodies, &of, i, mark, NULL);
        if (count > INT_MAX - 1 - start[i]) { // a hundred thousand contacts on one body
            return FIL_E_NO_MEMORY;
        }
        start[i + 1] = start[i] + count;
    }
    int *column = FIL_NEW(arena, int, start[n]);
    if (column == NULL) {
        return FIL_E_NO_MEMORY;
    }
    fil_blocks_clear_marks(mark, n);
    for (int i = 0; i < n; i++) {
        fil_blocks_sort(column + start[i], find_columns(bodies, &of, i, mark, column + start[i]));
    }
    *out = (FilBlocks){.n = n, .offset = offset, .start = start, .column = column};
    if (!fil_blocks_index(out, arena)) {
        return FIL_E_NO_MEMORY;
    }
    double *value = FIL_NEW_ZEROED(arena, double, out->at[start[n]]);
    int64_t *entry_at = fil_blocks_entry_offsets(bodies, n, offset, arena);
    if (value == NULL || entry_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    out->value = value;
    Assembly assembly = {bodies, &of, entry_at, out, value};
    for (int i = 0; i < n; i++) {
        assemble_row(&assembly, i);
    }
    return FIL_OK;
}

FilStatus fil_blocks_part(const FilBlocks *W, const int *member, int count, const int *local,
                          FilArena *arena, FilBlocks *out) {
    int *offset = FIL_NEW(arena, int, count + 1);
    int *start = FIL_NEW(arena, int, count + 1);
    if (offset == NULL || start == NULL) {
        return FIL_E_NO_MEMORY;
    }
    offset[0] = start[0] = 0;
    for (int m = 0; m < count; m++) {
        const int i = member[m];
        offset[m + 1] = offset[m] + fil_blocks_size(W->offset, i);
        start[m + 1] = start[m] + W->start[i + 1] - W->start[i];
    }
    int *column = FIL_NEW(arena, int, start[count]);
    if (column == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int m = 0; m < count; m++) {
        const int *from = W->column + W->start[member[m]];
        for (int k = 0; k < start[m + 1] - start[m]; k++) {
            column[start[m] + k] = local[from[k]];
        }
    }
    *out = (FilBlocks){.n = count, .offset = offset, .start = start, .column = column};
    if (!fil_blocks_index(out, arena)) {
        return FIL_E_NO_MEMORY;
    }
    double *value = FIL_NEW(arena, double, out->at[start[count]]);
    if (value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int m = 0; m < count; m++) {
        const int i = member[m];
        memcpy(value + out->at[start[m]], W->value + W->at[W->start[i]],
               (size_t)(W->at[W->start[i + 1]] - W->at[W->start[i]]) * sizeof *value);
    }
    out->value = value;
    return FIL_OK;
}
