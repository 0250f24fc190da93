#include "check.h"

#include "base/random.h"
#include "math/sparse.h"
#include "math/union_find.h"

static void entries_in_any_order_give_sorted_columns_and_sums(void) {
    FilArena keep = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    const FilEntries entries = {.row_count = 3,
                                .column_count = 4,
                                .count = 6,
                                .row = (int[]){2, 0, 2, 1, 2, 0},
                                .column = (int[]){3, 3, 0, 0, 3, 1},
                                .value = (double[]){1, 2, 3, 4, 10, 0}};
    FilSparse A = {0};
    CHECK(fil_sparse_from_entries(&entries, &keep, &scratch, &A));
    CHECK(A.row_count == 3 && A.column_count == 4);
    CHECK(memcmp(A.start, (int[]){0, 2, 3, 3, 5}, 5 * sizeof(int)) == 0);
    CHECK(memcmp(A.index, (int[]){1, 2, 0, 0, 2}, 5 * sizeof(int)) == 0);
    CHECK(A.value[0] == 4 && A.value[1] == 3 && A.value[2] == 0 && A.value[3] == 2 &&
          A.value[4] == 11);
    fil_arena_destroy(&keep);
    fil_arena_destroy(&scratch);
}

static void nothing_at_all_is_a_matrix_too(void) {
    FilArena keep = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    FilSparse A = {0};
    FilBlockRows rows = {0};
    CHECK(fil_sparse_from_entries(&(FilEntries){0}, &keep, &scratch, &A));
    CHECK(A.start[0] == 0);
    CHECK(fil_block_rows_from_sparse(&A, 0, (int[]){0}, &keep, &scratch, &rows));
    CHECK(rows.start[0] == 0);
    fil_arena_destroy(&keep);
    fil_arena_destroy(&scratch);
}

// Block (i, j), of which `value` holds the entries, is that of the dense 6 x 6 matrix.
static int check_block(const int *first, int i, int j, const double *value, const double *dense) {
    const int width = first[j + 1] - first[j], count = (first[i + 1] - first[i]) * width;
    for (int k = 0; k < count; k++) {
        CHECK(value[k] == dense[6 * (first[i] + k / width) + first[j] + k % width]);
    }
    return count;
}

// Blocks of sizes 3, 1, 2: the dense matrix comes back, zero blocks are gone, diagonals are there.
static void block_rows_hold_the_matrix_and_no_zero_block(void) {
    enum { N = 6, BLOCKS = 3 };
    static const int first[BLOCKS + 1] = {0, 3, 4, 6};
    double dense[N][N] = {{1, 2, 3, 0, 0, 0}, {4, 5, 6, 0, 0, 7}, {0, 0, 0, 0, 8, 0},
                          {0, 0, 0, 0, 0, 0}, {9, 0, 0, 0, 1, 2}, {0, 0, 3, 0, 3, 4}};
    int row[N * N], column[N * N];
    double value[N * N];
    for (int k = 0; k < N * N; k++) {
        row[k] = k / N;
        column[k] = k % N;
        value[k] = dense[k / N][k % N];
    }
    const FilEntries entries = {N, N, N * N, row, column, value};
    FilArena keep = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    FilSparse A = {0};
    FilBlockRows rows = {0};
    CHECK(fil_sparse_from_entries(&entries, &keep, &scratch, &A));
    CHECK(fil_block_rows_from_sparse(&A, BLOCKS, first, &keep, &scratch, &rows));
    CHECK(memcmp(rows.start, (int[]){0, 2, 3, 5}, 4 * sizeof(int)) == 0);
    CHECK(memcmp(rows.column, (int[]){0, 2, 1, 0, 2}, 5 * sizeof(int)) == 0);
    const double *at = rows.value;
    for (int i = 0; i < BLOCKS; i++) {
        for (int e = rows.start[i]; e < rows.start[i + 1]; e++) {
            at += check_block(first, i, rows.column[e], at, &dense[0][0]);
        }
    }
    fil_arena_destroy(&keep);
    fil_arena_destroy(&scratch);
}

// Rows {2, 0}, {}, {2, 2}: unsorted, empty, repeated.
static void a_pattern_is_transposed_in_order(void) {
    FilArena arena = fil_arena_make(NULL);
    FilTransposed t = {0};
    CHECK(fil_pattern_transpose(3, 4, (int[]){0, 2, 2, 4}, (int[]){2, 0, 2, 2}, &arena, &t));
    CHECK(memcmp(t.start, (int[]){0, 1, 1, 4, 4}, 5 * sizeof(int)) == 0);
    CHECK(memcmp(t.row, (int[]){0, 0, 2, 2}, 4 * sizeof(int)) == 0);
    CHECK(memcmp(t.entry, (int[]){1, 0, 2, 3}, 4 * sizeof(int)) == 0);
    CHECK(fil_pattern_transpose(0, 0, (int[]){0}, NULL, &arena, &t) && t.start[0] == 0);
    fil_arena_destroy(&arena);
}

static void the_root_of_a_set_is_its_smallest_member(void) {
    int parent[7] = {0, 1, 2, 3, 4, 5, 6};
    fil_union_join(parent, 6, 4);
    fil_union_join(parent, 5, 3);
    fil_union_join(parent, 3, 6);
    fil_union_join(parent, 1, 1);
    const int root[7] = {0, 1, 2, 3, 3, 3, 3};
    for (int i = 0; i < 7; i++) {
        CHECK(fil_union_root(parent, i) == root[i]);
    }
}

#define TESTS(X)                                         \
    X(entries_in_any_order_give_sorted_columns_and_sums) \
    X(nothing_at_all_is_a_matrix_too)                    \
    X(block_rows_hold_the_matrix_and_no_zero_block)      \
    X(a_pattern_is_transposed_in_order)                  \
    X(the_root_of_a_set_is_its_smallest_member)

CHECK_MAIN(TESTS)
