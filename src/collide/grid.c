// grid.c - all pairs of boxes that overlap, by rows of a grid that are swept along their length.
//
// A box lies in the row in which its centre is: a cell of a two-dimensional grid across the longest
// extent of the scene (`axis[0]`). The cell is larger than the box, so that what overlaps lies in
// the same row or in one of the eight around it. Within a row boxes are sorted by where they begin,
// and two rows are swept together. There is no third dimension of cells and no hash: rows and
// their order are one radix sort of
//     key = level | cell across, second | cell across, first | beginning along the row.
//
// Sizes. Level 0 has cells a little larger than the median box; each level doubles them. A box
// belongs to the first level whose cell holds it, and a row meets the rows of its own level and
// those of all coarser ones. What fits no level is met by every row. So boxes of any size may be
// mixed, and cost what they overlap.
//
// Numbers. Boxes are kept as floats from a common origin, rounded outwards, and tested eight at a
// time; a pair that is apart by less than the rounding may be among those found, none is missing.
// (Testing again in doubles was tried: it fetches each box from where it came, and costs as much
// as all the rest.) Beginnings are sorted by 21 bits, rounded down, which saves a pass. Cells far
// from the origin are clamped to the border of the grid: clamping brings cells closer together, so
// that no pair is lost.
//
// Invariants. 1: every pair is met once, from the row with the smaller key; within a row, from the
// box that begins first. 2: the output is sorted by two counting sorts, so that it does not depend
// on the order in which pairs were found. 3: memory is taken by the calling thread only; a range of
// rows whose buffer is too small goes on counting, and is done again with a larger one.
#include "grid.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"

enum {
    LEVELS = 15,        // and one more, for what is larger than all of them
    CELL_BITS = 14,     // per direction across
    ORDER_BITS = 21,    // of the beginning along the row
    ORDER_DROPPED = 11, // of 32
    DIGIT_BITS = 11,
    DIGITS = 5,
    LANES = 8,
    SAMPLES = 255,
    RANGES_MAX = 64,
    RANGE_BOXES = 1024,
    WAITING = 128,
    GRAIN = 4096
};
static const int CELL_MAX = (1 << (CELL_BITS - 1)) - 1; // cells are -CELL_MAX .. CELL_MAX

typedef struct Entry {
    uint64_t key;
    int box;
} Entry;

// A box in floats from the origin, in units of the smallest cell, directions in the order of
// grid->axis.
typedef struct Small {
    float low[3], high[3];
} Small;

typedef struct Row {
    uint32_t key;
    int first;
    float width; // the longest of its boxes
} Row;

// One list of what there is per box.
#define GRID_ARRAYS(X)                                                        \
    X(Entry, entry, n)             /* sorted by key                        */ \
    X(Entry, other, n)             /* while they are sorted                */ \
    X(Small, small, n)             /* boxes as they came                   */ \
    X(Row, row, n + 1)             /*                                      */ \
    X(float, begin, n)             /* in the order of rows from here on    */ \
    X(float, low, 3 * (n + LANES)) /*                                      */ \
    X(float, high, 3 * (n + LANES))                                           \
    X(int, place, n) /* which box it is                      */               \
    X(int64_t, offset, n + 1)

typedef int PairOfBoxes[2];

typedef struct Range {
    PairOfBoxes *pair;
    int64_t capacity, count;
    int first_row, last_row;
    PairOfBoxes waiting[WAITING]; // to be sifted
    int waiting_count;
} Range;

struct FilGrid {
    FilAllocator allocator;
    int capacity; // boxes
#define X(type, name, count) type *name;
    GRID_ARRAYS(X)
#undef X
    Range range[RANGES_MAX];
    PairOfBoxes *pairs, *half_sorted;
    int64_t pair_capacity;

    // this call
    int count, row_count, range_count;
    const FilBox *boxes;
    FilPairFilter sift;
    const void *user;
    int axis[3]; // along the rows, and the two directions across
    double origin[3], cell;
    double per_cell[LEVELS];   // 1 / cell of a level
    int level_row[LEVELS + 2]; // where the rows of a level start
};

// --- memory --------------------------------------------------------------------------------------

FilStatus fil_grid_create(const FilAllocator *allocator, FilGrid **out, FilError *error) {
    const FilAllocator a = allocator != NULL ? *allocator : fil_libc_allocator;
    FilGrid *grid = a.resize(a.user, NULL, 0, sizeof *grid);
    if (grid == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "a grid needs %zu bytes", sizeof *grid);
    }
    *grid = (FilGrid){.allocator = a};
    *out = grid;
    return FIL_OK;
}

static void free_array(FilGrid *grid, void *array, size_t count, size_t size) {
    if (array != NULL) {
        grid->allocator.resize(grid->allocator.user, array, count * size, 0);
    }
}

static void free_boxes(FilGrid *grid) {
    const size_t n = (size_t)grid->capacity;
    grid->capacity = 0;
#define X(type, name, count)                             \
    free_array(grid, grid->name, (count), sizeof(type)); \
    grid->name = NULL;
    GRID_ARRAYS(X)
#undef X
}

static void free_pairs(FilGrid *grid) {
    free_array(grid, grid->pairs, (size_t)grid->pair_capacity, sizeof *grid->pairs);
    free_array(grid, grid->half_sorted, (size_t)grid->pair_capacity, sizeof *grid->half_sorted);
    grid->pairs = grid->half_sorted = NULL;
    grid->pair_capacity = 0;
}

void fil_grid_destroy(FilGrid *grid) {
    if (grid == NULL) {
        return;
    }
    free_boxes(grid);
    free_pairs(grid);
    for (int k = 0; k < RANGES_MAX; k++) {
        free_array(grid, grid->range[k].pair, (size_t)grid->range[k].capacity, sizeof(PairOfBoxes));
    }
    const FilAllocator a = grid->allocator;
    a.resize(a.user, grid, sizeof *grid, 0);
}

// An array without its contents; NULL where there is no memory.
static void *get_array(FilGrid *grid, size_t count, size_t size) {
    if (count > SIZE_MAX / size) {
        return NULL;
    }
    return grid->allocator.resize(grid->allocator.user, NULL, 0, count * size);
}

static FilStatus need_boxes(FilGrid *grid, int count, FilError *error) {
    if (count <= grid->capacity) {
        return FIL_OK;
    }
    free_boxes(grid);
    const size_t n = (size_t)count;
    bool failed = false;
#define X(type, name, size)                             \
    grid->name = get_array(grid, (size), sizeof(type)); \
    failed = failed || grid->name == NULL;
    GRID_ARRAYS(X)
#undef X
    grid->capacity = count;
    if (failed) {
        free_boxes(grid);
        return fil_fail(error, FIL_E_NO_MEMORY, "no memory for the grid of %d boxes", count);
    }
    return FIL_OK;
}

static FilStatus fail_pairs(FilError *error, int64_t count) {
    return fil_fail(error, FIL_E_NO_MEMORY, "no memory for %lld pairs of boxes", (long long)count);
}

// Twice what is needed now, so that a growing number of pairs settles soon.
static FilStatus need_range(FilGrid *grid, Range *range, FilError *error) {
    if (range->count <= range->capacity) {
        return FIL_OK;
    }
    free_array(grid, range->pair, (size_t)range->capacity, sizeof(PairOfBoxes));
    range->capacity = 0;
    range->pair = get_array(grid, (size_t)(2 * range->count), sizeof(PairOfBoxes));
    if (range->pair == NULL) {
        return fail_pairs(error, range->count);
    }
    range->capacity = 2 * range->count;
    range->count = -1; // to be done again
    return FIL_OK;
}

static FilStatus need_pairs(FilGrid *grid, int64_t count, FilError *error) {
    if (count <= grid->pair_capacity) {
        return FIL_OK;
    }
    free_pairs(grid);
    const int64_t capacity = count + count / 2;
    grid->pairs = get_array(grid, (size_t)capacity, sizeof(PairOfBoxes));
    grid->half_sorted = get_array(grid, (size_t)capacity, sizeof(PairOfBoxes));
    grid->pair_capacity = capacity;
    if (grid->pairs == NULL || grid->half_sorted == NULL) {
        free_pairs(grid);
        return fail_pairs(error, count);
    }
    return FIL_OK;
}

// --- the shape of the grid -----------------------------------------------------------------------

static void sort_numbers(double *x, int n) {
    for (int gap = n / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < n; i++) {
            const double value = x[i];
            int j = i;
            for (; j >= gap && x[j - gap] > value; j -= gap) {
                x[j] = x[j - gap];
            }
            x[j] = value;
        }
    }
}

static double longest_side(const FilBox *box) {
    double side = box->high[0] - box->low[0];
    for (int k = 1; k < 3; k++) {
        const double other = box->high[k] - box->low[k];
        side = other > side ? other : side;
    }
    return side;
}

// The origin, the direction of the rows and the size of cells, from a sample of the boxes: medians,
// so that a few strange ones do not count.
static void shape_grid(FilGrid *grid) {
    const int n = grid->count < SAMPLES ? grid->count : SAMPLES;
    double value[SAMPLES], spread[3];
    for (int k = 0; k < 3; k++) {
        int found = 0;
        for (int i = 0; i < n; i++) {
            const FilBox *box = &grid->boxes[(int64_t)i * grid->count / n];
            const double centre = 0.5 * box->low[k] + 0.5 * box->high[k];
            value[found] = centre;
            found += fabs(centre) <= DBL_MAX;
        }
        sort_numbers(value, found);
        grid->origin[k] = found > 0 ? value[found / 2] : 0.0;
        spread[k] = found > 0 ? value[found - 1 - found / 10] - value[found / 10] : 0.0;
    }
    int along = spread[1] > spread[0] ? 1 : 0;
    along = spread[2] > spread[along] ? 2 : along;
    for (int k = 0; k < 3; k++) {
        grid->axis[k] = (along + k) % 3;
    }
    int found = 0;
    for (int i = 0; i < n; i++) {
        const double side = longest_side(&grid->boxes[(int64_t)i * grid->count / n]);
        value[found] = side;
        found += side <= DBL_MAX;
    }
    sort_numbers(value, found);
    const double median = found > 0 ? value[found / 2] : 0.0;
    const double across = fmax(spread[grid->axis[1]], spread[grid->axis[2]]);
    const double cell = fmax(1.3 * median, across / CELL_MAX);
    grid->cell = cell > 1e-290 && cell <= 1e302 ? cell : 1.0;
    for (int level = 0; level < LEVELS; level++) {
        grid->per_cell[level] = ldexp(1.0 / grid->cell, -level);
    }
}

// --- keys ----------------------------------------------------------------------------------------

// A float that is not above (sign 1) or not below (-1) x.
static float round_out(double x, double sign) {
    const double outer = x - sign * (fabs(x) * 0x1p-23 + 1e-38);
    return (float)(outer > -3e38 ? (outer < 3e38 ? outer : 3e38) : -3e38); // NaN: -3e38
}

// Floats in the order of unsigned integers, and back.
static uint32_t order_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 31 != 0 ? 0xffffffffU : 0x80000000U);
}

static float float_of_order(uint32_t order) {
    const uint32_t bits = order ^ (order >> 31 != 0 ? 0x80000000U : 0xffffffffU);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int find_cell(double x) {
    const double index = floor(x);
    return index > -CELL_MAX ? (index < CELL_MAX ? (int)index : CELL_MAX) : -CELL_MAX;
}

static uint32_t row_key(int level, int second, int first) {
    const uint32_t bias = 1U << (CELL_BITS - 1);
    // sums, not bits: a cell beyond the border of one field carries into the next, as an order must
    return ((uint32_t)level << (2 * CELL_BITS)) + (((uint32_t)second + bias) << CELL_BITS) +
           ((uint32_t)first + bias);
}

static int row_cell(uint32_t key, int direction) {
    const uint32_t mask = (1U << CELL_BITS) - 1;
    return (int)(key >> (direction * CELL_BITS) & mask) - (1 << (CELL_BITS - 1));
}

static int row_level(uint32_t key) {
    return (int)(key >> (2 * CELL_BITS));
}

// The first level whose cell is larger than the box; a margin of 1 % takes care of round-off.
static int find_level(double side, double cell) {
    const double ratio = side / (0.99 * cell);
    int level = 0;
    if (ratio > 1.0) {
        (void)frexp(ratio, &level);
        level = ratio < 0x1p14 ? level : LEVELS;
    }
    return level < LEVELS ? level : LEVELS;
}

static void make_entries(void *context, int first, int last) {
    FilGrid *grid = context;
    const double unit = grid->per_cell[0];
    for (int i = first; i < last; i++) {
        const FilBox *box = &grid->boxes[i];
        const int level = find_level(longest_side(box), grid->cell);
        int cell[2] = {0, 0};
        for (int k = 0; k < 2 && level < LEVELS; k++) {
            const int d = grid->axis[k + 1];
            const double low = box->low[d] - grid->origin[d], high = box->high[d] - grid->origin[d];
            cell[k] = find_cell((0.5 * low + 0.5 * high) * grid->per_cell[level]);
        }
        Small *small = &grid->small[i];
        for (int k = 0; k < 3; k++) {
            const int d = grid->axis[k];
            small->low[k] = round_out((box->low[d] - grid->origin[d]) * unit, 1.0);
            small->high[k] = round_out((box->high[d] - grid->origin[d]) * unit, -1.0);
        }
        const uint32_t begin = order_of_float(small->low[0]) >> ORDER_DROPPED;
        const uint64_t row = row_key(level, cell[1], cell[0]);
        grid->entry[i] = (Entry){.key = row << ORDER_BITS | begin, .box = i};
    }
}

// Stable, digit by digit; digits that are the same everywhere are passed over.
static void sort_entries(FilGrid *grid) {
    enum { BUCKETS = 1 << DIGIT_BITS };
    int bucket[DIGITS][BUCKETS];
    memset(bucket, 0, sizeof bucket);
    const int n = grid->count;
    for (int i = 0; i < n; i++) {
        const uint64_t key = grid->entry[i].key;
        for (int d = 0; d < DIGITS; d++) {
            bucket[d][key >> (d * DIGIT_BITS) & (BUCKETS - 1)]++;
        }
    }
    for (int d = 0; d < DIGITS; d++) {
        const int shift = d * DIGIT_BITS;
        if (bucket[d][grid->entry[0].key >> shift & (BUCKETS - 1)] == n) {
            continue;
        }
        int sum = 0;
        for (int k = 0; k < BUCKETS; k++) {
            const int size = bucket[d][k];
            bucket[d][k] = sum;
            sum += size;
        }
        for (int i = 0; i < n; i++) {
            grid->other[bucket[d][grid->entry[i].key >> shift & (BUCKETS - 1)]++] = grid->entry[i];
        }
        Entry *sorted = grid->other;
        grid->other = grid->entry;
        grid->entry = sorted;
    }
}

// The boxes in the order of the rows.
static void fill_boxes(void *context, int first, int last) {
    FilGrid *grid = context;
    const size_t stride = (size_t)grid->count + LANES;
    for (int i = first; i < last; i++) {
        const Entry *entry = &grid->entry[i];
        const Small *small = &grid->small[entry->box];
        for (int k = 0; k < 3; k++) {
            grid->low[k * stride + i] = small->low[k];
            grid->high[k * stride + i] = small->high[k];
        }
        const uint32_t order = (uint32_t)(entry->key & ((1U << ORDER_BITS) - 1));
        grid->begin[i] = float_of_order(order << ORDER_DROPPED);
        grid->place[i] = entry->box;
    }
}

static void find_rows(FilGrid *grid) {
    int rows = 0;
    uint32_t last = ~0U;
    for (int i = 0; i < grid->count; i++) {
        const uint32_t key = (uint32_t)(grid->entry[i].key >> ORDER_BITS);
        if (key != last) {
            grid->row[rows++] = (Row){.key = key, .first = i};
            last = key;
        }
        Row *row = &grid->row[rows - 1];
        const float width = (grid->high[i] - grid->begin[i]) * 1.000001F;
        row->width = row->width > width ? row->width : width;
    }
    grid->row[rows] = (Row){.key = ~0U, .first = grid->count};
    grid->row_count = rows;
    int row = 0;
    for (int level = 0; level <= LEVELS + 1; level++) {
        while (row < rows && row_level(grid->row[row].key) < level) {
            row++;
        }
        grid->level_row[level] = row;
    }
}

// --- pairs ---------------------------------------------------------------------------------------

// Store those of the waiting pairs that count.
static void sift_pairs(const FilGrid *grid, Range *range) {
    int count = range->waiting_count;
    if (grid->sift != NULL && count > 0) {
        count = grid->sift(grid->user, range->waiting, count);
    }
    if (range->count + count <= range->capacity && count > 0) {
        memcpy(range->pair + range->count, range->waiting, sizeof(PairOfBoxes) * (size_t)count);
    }
    range->count += count;
    range->waiting_count = 0;
}

static void add_pair(const FilGrid *grid, Range *range, int p, int q) {
    const int i = grid->place[p], j = grid->place[q];
    int *pair = range->waiting[range->waiting_count++];
    pair[0] = i < j ? i : j;
    pair[1] = i < j ? j : i;
    if (range->waiting_count == WAITING) {
        sift_pairs(grid, range);
    }
}

// Which of the LANES boxes from `at` on overlap with a box: a bit each. Two vectors at once: most
// stretches are that short, and the end of the loop is then foreseen.
#if defined(__SSE__)
typedef float Vector __attribute__((vector_size(16)));
typedef float Loose __attribute__((vector_size(16), aligned(4), may_alias));
typedef int Mask __attribute__((vector_size(16)));

static inline unsigned test_four(const float *low, const float *high, size_t stride,
                                 const Vector box[6]) {
    Mask apart = {0};
    for (int k = 0; k < 3; k++) {
        const Vector low_k = *(const Loose *)(low + k * stride);
        const Vector high_k = *(const Loose *)(high + k * stride);
        apart |= (Mask)(low_k > box[2 * k + 1]) | (Mask)(high_k < box[2 * k]);
    }
    return (unsigned)__builtin_ia32_movmskps((Vector)apart);
}

static inline Vector spread(float x) {
    return (Vector){x, x, x, x};
}

static inline unsigned test_lanes(const float *low, const float *high, size_t stride,
                                  const Vector box[6]) {
    const unsigned first = test_four(low, high, stride, box);
    return ~(first | test_four(low + 4, high + 4, stride, box) << 4) & 255U;
}
#else
typedef float Vector;

static inline Vector spread(float x) {
    return x;
}

static inline unsigned test_lanes(const float *low, const float *high, size_t stride,
                                  const Vector box[6]) {
    unsigned together = 0;
    for (int lane = 0; lane < LANES; lane++) {
        bool apart = false;
        for (int k = 0; k < 3; k++) {
            apart |=
                low[k * stride + lane] > box[2 * k + 1] || high[k * stride + lane] < box[2 * k];
        }
        together |= (unsigned)!apart << lane;
    }
    return together;
}
#endif

// Box p against the boxes [at, end) of a row, up to the first that begins beyond its end.
static void sweep_box(const FilGrid *grid, Range *range, int p, int at, int end) {
    const size_t stride = (size_t)grid->count + LANES;
    Vector box[6];
    for (int k = 0; k < 3; k++) {
        box[2 * k] = spread(grid->low[k * stride + p]);
        box[2 * k + 1] = spread(grid->high[k * stride + p]);
    }
    const float beyond = grid->high[p];
    for (; at < end && grid->begin[at] <= beyond; at += LANES) {
        unsigned together = test_lanes(grid->low + at, grid->high + at, stride, box);
        if (end - at < LANES) {
            together &= (1U << (end - at)) - 1;
        }
        for (; together != 0; together &= together - 1) {
            add_pair(grid, range, p, at + __builtin_ctz(together));
        }
    }
}

static void sweep_row(const FilGrid *grid, Range *range, const Row *row) {
    for (int p = row[0].first; p < row[1].first; p++) {
        sweep_box(grid, range, p, p + 1, row[1].first);
    }
}

static void sweep_rows(const FilGrid *grid, Range *range, const Row *row, const Row *with) {
    int at = with[0].first;
    const int end = with[1].first;
    for (int p = row[0].first; p < row[1].first; p++) {
        const float from = grid->begin[p] - with->width;
        // by whole steps: what begins too early is cheaper tested than searched for
        while (end - at >= LANES && grid->begin[at + LANES - 1] < from) {
            at += LANES;
        }
        sweep_box(grid, range, p, at, end);
    }
}

// The first row from `low` on, and before `high`, whose key is not below `key`.
static int find_row(const FilGrid *grid, int low, int high, uint32_t key) {
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (grid->row[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The cells of a level `up` levels coarser that boxes of cell i may reach.
static void find_reach(int i, int up, int reach[2]) {
    const int64_t half = (int64_t)1 << up; // half a coarse cell, in halves of fine ones
    const int64_t low = 2 * (int64_t)i - 1 - half, high = 2 * (int64_t)i + 3 + half;
    const int shift = up + 1;
    const int64_t base = (int64_t)1 << 40; // keeps the shifted numbers positive
    reach[0] = (int)(((low + base) >> shift) - (base >> shift));
    reach[1] = (int)(((high + base) >> shift) - (base >> shift));
    // cells at the border hold all that lies beyond it
    reach[0] = i > -CELL_MAX && reach[0] > -CELL_MAX ? reach[0] : -CELL_MAX;
    reach[1] = i < CELL_MAX && reach[1] < CELL_MAX ? reach[1] : CELL_MAX;
}

static void meet_level(const FilGrid *grid, Range *range, const Row *row, int level) {
    const int low = grid->level_row[level], high = grid->level_row[level + 1];
    int first[2], second[2];
    find_reach(row_cell(row->key, 0), level - row_level(row->key), first);
    find_reach(row_cell(row->key, 1), level - row_level(row->key), second);
    int at = find_row(grid, low, high, row_key(level, second[0], first[0]));
    while (at < high && row_cell(grid->row[at].key, 1) <= second[1]) {
        const int y = row_cell(grid->row[at].key, 0), z = row_cell(grid->row[at].key, 1);
        if (y < first[0]) {
            at = find_row(grid, at, high, row_key(level, z, first[0]));
        } else if (y > first[1]) {
            at = find_row(grid, at, high, row_key(level, z + 1, first[0]));
        } else {
            sweep_rows(grid, range, row, &grid->row[at]);
            at++;
        }
    }
}

// A row with itself, with what follows it in its own level, and with all coarser levels. `*ahead`
// is the first row that may be one cell on in the second direction; it moves on with the rows.
static void meet_row(const FilGrid *grid, Range *range, int r, int *ahead) {
    const Row *row = &grid->row[r];
    const int level = row_level(row->key);
    sweep_row(grid, range, row);
    if (level < LEVELS) {
        const int y = row_cell(row->key, 0), z = row_cell(row->key, 1);
        const int end = grid->level_row[level + 1];
        if (r + 1 < end && row[1].key == row->key + 1) {
            sweep_rows(grid, range, row, &row[1]);
        }
        const uint32_t from = row_key(level, z + 1, y - 1), to = row_key(level, z + 1, y + 1);
        *ahead = *ahead > r ? *ahead : r + 1;
        while (*ahead < end && grid->row[*ahead].key < from) {
            ++*ahead;
        }
        for (int k = *ahead; k < end && grid->row[k].key <= to; k++) {
            sweep_rows(grid, range, row, &grid->row[k]);
        }
    }
    for (int coarse = level + 1; coarse < LEVELS; coarse++) {
        if (grid->level_row[coarse] < grid->level_row[coarse + 1]) {
            meet_level(grid, range, row, coarse);
        }
    }
    for (int k = grid->level_row[LEVELS]; level < LEVELS && k < grid->row_count; k++) {
        sweep_rows(grid, range, row, &grid->row[k]);
    }
}

static void meet_range(void *context, int k) {
    FilGrid *grid = context;
    Range *range = &grid->range[k];
    if (range->count <= range->capacity && range->count >= 0) {
        return; // done before
    }
    range->count = range->waiting_count = 0;
    if (range->first_row >= range->last_row) {
        return;
    }
    const uint32_t key = grid->row[range->first_row].key;
    const uint32_t from = row_key(row_level(key), row_cell(key, 1) + 1, row_cell(key, 0) - 1);
    int ahead = find_row(grid, range->first_row, grid->row_count, from);
    for (int r = range->first_row; r < range->last_row; r++) {
        meet_row(grid, range, r, &ahead);
    }
    sift_pairs(grid, range);
}

// Ranges of rows that hold about the same number of boxes. They do not depend on the threads.
static void cut_ranges(FilGrid *grid) {
    const int wanted = 1 + grid->count / RANGE_BOXES;
    grid->range_count = wanted < RANGES_MAX ? wanted : RANGES_MAX;
    int row = 0;
    for (int k = 0; k < grid->range_count; k++) {
        const int64_t until = (int64_t)(k + 1) * grid->count / grid->range_count;
        grid->range[k].first_row = row;
        while (row < grid->row_count && grid->row[row].first < until) {
            row++;
        }
        grid->range[k].last_row = row;
        grid->range[k].count = -1; // not done
    }
}

// Larger buffers for the ranges that need them; whether there are any.
static FilStatus grow_ranges(FilGrid *grid, bool *grown, FilError *error) {
    *grown = false;
    for (int k = 0; k < grid->range_count; k++) {
        *grown = *grown || grid->range[k].count > grid->range[k].capacity;
        FIL_TRY(need_range(grid, &grid->range[k], error));
    }
    return FIL_OK;
}

static FilStatus find_pairs(FilGrid *grid, int threads, int64_t *total, FilError *error) {
    bool again = true;
    while (again) {
        fil_parallel_for(grid->range_count, threads, meet_range, grid);
        FIL_TRY(grow_ranges(grid, &again, error));
    }
    *total = 0;
    for (int k = 0; k < grid->range_count; k++) {
        *total += grid->range[k].count;
    }
    return FIL_OK;
}

// --- the sorted list -----------------------------------------------------------------------------

// offset[i] = how many of the pairs counted in offset[i + 1] come before i.
static void sum_offsets(FilGrid *grid) {
    for (int i = 0; i < grid->count; i++) {
        grid->offset[i + 1] += grid->offset[i];
    }
}

static void sort_pairs(FilGrid *grid, int64_t total) {
    const size_t bytes = ((size_t)grid->count + 1) * sizeof *grid->offset;
    memset(grid->offset, 0, bytes);
    for (int k = 0; k < grid->range_count; k++) {
        for (int64_t p = 0; p < grid->range[k].count; p++) {
            grid->offset[grid->range[k].pair[p][1] + 1]++;
        }
    }
    sum_offsets(grid);
    for (int k = 0; k < grid->range_count; k++) {
        for (int64_t p = 0; p < grid->range[k].count; p++) {
            const int *pair = grid->range[k].pair[p];
            memcpy(grid->half_sorted[grid->offset[pair[1]]++], pair, sizeof(PairOfBoxes));
        }
    }
    memset(grid->offset, 0, bytes);
    for (int64_t p = 0; p < total; p++) {
        grid->offset[grid->half_sorted[p][0] + 1]++;
    }
    sum_offsets(grid);
    for (int64_t p = 0; p < total; p++) {
        const int *pair = grid->half_sorted[p];
        memcpy(grid->pairs[grid->offset[pair[0]]++], pair, sizeof(PairOfBoxes));
    }
}

// What the last lanes read beyond the boxes, and mask out.
static void pad_boxes(FilGrid *grid) {
    const size_t stride = (size_t)grid->count + LANES;
    for (int k = 0; k < 3; k++) {
        memset(grid->low + k * stride + grid->count, 0, LANES * sizeof(float));
        memset(grid->high + k * stride + grid->count, 0, LANES * sizeof(float));
    }
}

FilStatus fil_grid_pairs(FilGrid *grid, const FilGridQuery *query, const int (**pairs)[2],
                         int64_t *pair_count, FilError *error) {
    FIL_ASSERT(query->count >= 0);
    const int threads = query->threads;
    int64_t total = 0;
    if (query->count >= 2) {
        FIL_TRY(need_boxes(grid, query->count, error));
        grid->count = query->count;
        grid->boxes = query->boxes;
        grid->sift = query->sift;
        grid->user = query->user;
        shape_grid(grid);
        fil_parallel_ranges(grid->count, GRAIN, threads, make_entries, grid);
        sort_entries(grid);
        fil_parallel_ranges(grid->count, GRAIN, threads, fill_boxes, grid);
        pad_boxes(grid);
        find_rows(grid);
        cut_ranges(grid);
        FIL_TRY(find_pairs(grid, threads, &total, error));
        FIL_TRY(need_pairs(grid, total, error));
        sort_pairs(grid, total);
    }
    *pairs = (const int(*)[2])grid->pairs;
    *pair_count = total;
    return FIL_OK;
}
