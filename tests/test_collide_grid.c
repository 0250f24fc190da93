// The broad phase against all pairs.
#include "base/random.h"
#include "check.h"
#include "collide/grid.h"
#include "failing_allocator.h"

#include <float.h>

// Overlap of boxes after both have grown by `extra`.
static bool overlaps(const FilBox *a, const FilBox *b, double extra) {
    for (int k = 0; k < 3; k++) {
        if (!(a->low[k] - extra <= b->high[k] && b->low[k] - extra <= a->high[k])) {
            return false;
        }
    }
    return true;
}

static int keep_all(const void *user, int (*pairs)[2], int count) {
    (void)user;
    (void)pairs;
    return count;
}

// All that overlap are there, all that are there overlap but for `extra`, sorted, each once.
static void check_pairs(FilGrid *grid, int n, const FilBox *boxes, double extra) {
    const int(*pairs)[2] = NULL;
    int64_t count = 0, next = 0, wrong = 0;
    CHECK(fil_grid_pairs(grid, &(FilGridQuery){n, boxes, NULL, NULL, 1}, &pairs, &count, NULL) ==
          FIL_OK);
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            const bool listed = next < count && pairs[next][0] == i && pairs[next][1] == j;
            next += listed;
            wrong += listed ? !overlaps(&boxes[i], &boxes[j], extra)
                            : overlaps(&boxes[i], &boxes[j], 0.0);
        }
    }
    CHECK(wrong == 0);
    CHECK(next == count);
}

typedef struct Recipe {
    double spread[3];
    double size_low, size_high; // powers of ten
    double offset;
    double lattice; // all coordinates are multiples of it, if positive
} Recipe;

static void fill(FilRandom *random, const Recipe *recipe, int n, FilBox *boxes) {
    for (int i = 0; i < n; i++) {
        const double size =
            pow(10.0, fil_random_uniform(random, recipe->size_low, recipe->size_high));
        for (int k = 0; k < 3; k++) {
            double low = recipe->offset + fil_random_uniform(random, 0.0, 1.0) * recipe->spread[k];
            double side = size * fil_random_uniform(random, 0.0, 1.0);
            if (recipe->lattice > 0.0) {
                low = recipe->lattice * floor(low / recipe->lattice);
                side = recipe->lattice * floor(side / recipe->lattice);
            }
            boxes[i].low[k] = low;
            boxes[i].high[k] = low + side;
        }
    }
}

static void all_pairs_are_found(void) {
    static const Recipe recipes[] = {
        {{1.0, 1.0, 1.0}, -1.0, -1.0, 0.0, 0.0},         // alike
        {{1.0, 1.0, 1.0}, -3.0, 0.5, 0.0, 0.0},          // of all sizes
        {{100.0, 1.0, 0.0}, -2.0, 0.0, 0.0, 0.0},        // flat and long
        {{0.0, 0.0, 1.0}, -2.0, -1.0, 0.0, 0.0},         // on a line
        {{1.0, 1.0, 1.0}, -1.0, -1.0, 1e7, 0.0},         // far from the origin
        {{8.0, 8.0, 8.0}, 0.0, 0.6, 0.0, 1.0},           // that touch exactly
        {{1.0, 1.0, 1.0}, -300.0, -299.0, 0.0, 0.0},     // points
        {{0.0, 0.0, 0.0}, -1.0, -1.0, 3.0, 0.0},         // all in one place
        {{1e6, 1e6, 1e6}, -1.0, 5.0, 0.0, 0.0},          // sizes of every level
        {{1e300, 1e300, 1e300}, 298.0, 300.0, 0.0, 0.0}, // huge
        {{1e-200, 1e-200, 1e-200}, -201.0, -200.0, 0.0, 0.0},
    };
    FilGrid *grid = NULL;
    CHECK(fil_grid_create(NULL, &grid, NULL) == FIL_OK);
    FilRandom random = fil_random_make(1);
    static FilBox boxes[1500];
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) {
        for (int n = 0; n <= 1500; n += n < 10 ? 1 : n < 300 ? 97 : 401) {
            fill(&random, &recipes[k], n, boxes);
            const double size = fmax(recipes[k].spread[0], pow(10.0, recipes[k].size_high));
            check_pairs(grid, n, boxes, 1e-6 * size + 1e-37);
        }
    }
    fil_grid_destroy(grid);
}

static void a_few_strange_boxes_among_many_lose_nothing(void) {
    FilRandom random = fil_random_make(2);
    static FilBox boxes[1200];
    const Recipe plain = {{1.0, 1.0, 1.0}, -1.2, -1.0, 0.0, 0.0};
    FilGrid *grid = NULL;
    CHECK(fil_grid_create(NULL, &grid, NULL) == FIL_OK);
    for (int round = 0; round < 8; round++) {
        fill(&random, &plain, 1200, boxes);
        for (int i = 0; i < 12; i++) {
            FilBox *box = &boxes[fil_random_int(&random, 1200)];
            for (int k = 0; k < 3; k++) {
                const double reach = pow(10.0, fil_random_uniform(&random, -1.0, 12.0));
                const double away = round < 4 ? 0.5 : fil_random_uniform(&random, -1e9, 1e9);
                box->low[k] = i == 0 ? -INFINITY : i == 1 ? -DBL_MAX : away - reach;
                box->high[k] = i == 0 ? INFINITY : i == 1 ? DBL_MAX : away + reach;
            }
        }
        check_pairs(grid, 1200, boxes, 1e3);
    }
    fil_grid_destroy(grid);
}

// Boxes at the border of the grid: cells are clamped there.
static void clamped_cells_lose_nothing(void) {
    FilRandom random = fil_random_make(3);
    static FilBox boxes[1500];
    const Recipe plain = {{1.0, 1.0, 1.0}, -3.0, -3.0, 0.0, 0.0};
    FilGrid *grid = NULL;
    CHECK(fil_grid_create(NULL, &grid, NULL) == FIL_OK);
    fill(&random, &plain, 1500, boxes);
    for (int i = 0; i < 600; i++) { // far out, of several sizes, in clusters
        const double size = pow(2.0, fil_random_int(&random, 12) - 10);
        for (int k = 0; k < 3; k++) {
            const double centre = (fil_random_int(&random, 7) - 3) * 4.1;
            boxes[2 * i].low[k] = centre + fil_random_uniform(&random, -4.0, 4.0) * size;
            boxes[2 * i].high[k] = boxes[2 * i].low[k] + size;
        }
    }
    check_pairs(grid, 1500, boxes, 1e-4);
    fil_grid_destroy(grid);
}

static void nan_overlaps_nothing_and_harms_nothing(void) {
    FilRandom random = fil_random_make(4);
    static FilBox boxes[300];
    const Recipe plain = {{1.0, 1.0, 1.0}, -1.0, -1.0, 0.0, 0.0};
    FilGrid *grid = NULL;
    CHECK(fil_grid_create(NULL, &grid, NULL) == FIL_OK);
    fill(&random, &plain, 300, boxes);
    const int(*pairs)[2] = NULL;
    int64_t before = 0, after = 0;
    CHECK(fil_grid_pairs(grid, &(FilGridQuery){299, boxes, NULL, NULL, 1}, &pairs, &before, NULL) ==
          FIL_OK);
    boxes[299].low[1] = boxes[299].high[1] = (double)NAN;
    CHECK(fil_grid_pairs(grid, &(FilGridQuery){300, boxes, NULL, NULL, 1}, &pairs, &after, NULL) ==
          FIL_OK);
    CHECK(before == after);
    fil_grid_destroy(grid);
}

static int leave_neighbours(const void *user, int (*pairs)[2], int count) {
    int left = 0;
    for (int k = 0; k < count; k++) {
        if (pairs[k][1] - pairs[k][0] > *(const int *)user) {
            pairs[left][0] = pairs[k][0];
            pairs[left++][1] = pairs[k][1];
        }
    }
    return left;
}

static void a_filter_takes_pairs_out(void) {
    FilRandom random = fil_random_make(5);
    static FilBox boxes[500];
    const Recipe plain = {{1.0, 1.0, 1.0}, -0.7, -0.7, 0.0, 0.0};
    fill(&random, &plain, 500, boxes);
    FilGrid *grid = NULL;
    CHECK(fil_grid_create(NULL, &grid, NULL) == FIL_OK);
    const int(*pairs)[2] = NULL;
    int64_t count = 0, kept = 0;
    const int reach = 100;
    CHECK(fil_grid_pairs(grid, &(FilGridQuery){500, boxes, keep_all, NULL, 1}, &pairs, &count,
                         NULL) == FIL_OK);
    for (int64_t p = 0; p < count; p++) {
        kept += pairs[p][1] - pairs[p][0] > reach;
    }
    CHECK(kept > 0 && kept < count);
    CHECK(fil_grid_pairs(grid, &(FilGridQuery){500, boxes, leave_neighbours, &reach, 1}, &pairs,
                         &count, NULL) == FIL_OK);
    CHECK(count == kept);
    fil_grid_destroy(grid);
}

static void the_list_does_not_depend_on_threads(void) {
    enum { N = 20000 };
    FilRandom random = fil_random_make(6);
    FilBox *boxes = malloc(N * sizeof *boxes);
    FilGrid *grid[3] = {NULL};
    const int threads[3] = {1, 2, 4};
    const int(*pairs[3])[2] = {NULL};
    int64_t count[3] = {0};
    const Recipe plain = {{1.0, 1.0, 1.0}, -1.5, -1.0, 0.0, 0.0};
    if (boxes == NULL) {
        CHECK_SKIP("no memory");
    }
    fill(&random, &plain, N, boxes);
    for (int k = 0; k < 3; k++) {
        CHECK(fil_grid_create(NULL, &grid[k], NULL) == FIL_OK);
        CHECK(fil_grid_pairs(grid[k], &(FilGridQuery){N, boxes, keep_all, NULL, threads[k]},
                             &pairs[k], &count[k], NULL) == FIL_OK);
        CHECK(count[k] == count[0] && count[k] > N);
        CHECK(check_same_bits(pairs[k], pairs[0], (size_t)count[0] * sizeof *pairs[0]));
    }
    for (int k = 0; k < 3; k++) {
        fil_grid_destroy(grid[k]);
    }
    free(boxes);
}

static void the_same_boxes_again_allocate_nothing(void) {
    FilRandom random = fil_random_make(7);
    static FilBox boxes[5000];
    const Recipe plain = {{1.0, 1.0, 1.0}, -1.5, -1.0, 0.0, 0.0};
    fill(&random, &plain, 5000, boxes);
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilGrid *grid = NULL;
    const int(*pairs)[2] = NULL;
    int64_t count = 0;
    CHECK(fil_grid_create(&allocator, &grid, NULL) == FIL_OK);
    CHECK(fil_grid_pairs(grid, &(FilGridQuery){5000, boxes, NULL, NULL, 2}, &pairs, &count, NULL) ==
          FIL_OK);
    const int requests = memory.requests;
    for (int i = 0; i < 3; i++) {
        CHECK(fil_grid_pairs(grid, &(FilGridQuery){5000 - i, boxes, NULL, NULL, 2}, &pairs, &count,
                             NULL) == FIL_OK);
    }
    CHECK(memory.requests == requests);
    fil_grid_destroy(grid);
    CHECK(failing_allocator_is_clean(&memory));
}

static void every_allocation_may_fail(void) {
    FilRandom random = fil_random_make(8);
    static FilBox boxes[3000];
    const Recipe plain = {{1.0, 1.0, 1.0}, -1.5, -1.0, 0.0, 0.0};
    fill(&random, &plain, 3000, boxes);
    for (int n = 1; n < 100; n++) {
        FailingAllocator memory = {.fail_at = n, .fail_once = true};
        const FilAllocator allocator = failing_allocator(&memory);
        FilGrid *grid = NULL;
        const int(*pairs)[2] = NULL;
        int64_t count = 0;
        FilError error;
        FilStatus status = fil_grid_create(&allocator, &grid, &error);
        if (status == FIL_OK) {
            status = fil_grid_pairs(grid, &(FilGridQuery){3000, boxes, NULL, NULL, 1}, &pairs,
                                    &count, &error);
        }
        if (grid != NULL && status != FIL_OK) { // and it works once there is memory
            CHECK(fil_grid_pairs(grid, &(FilGridQuery){3000, boxes, NULL, NULL, 1}, &pairs, &count,
                                 &error) == FIL_OK);
            CHECK(count > 0);
        }
        fil_grid_destroy(grid);
        CHECK(failing_allocator_is_clean(&memory));
        if (memory.failures == 0) {
            CHECK(status == FIL_OK);
            CHECK(n > 10);
            return;
        }
        CHECK(status == FIL_E_NO_MEMORY);
        CHECK(strstr(error.text, "memory") != NULL || strstr(error.text, "bytes") != NULL);
    }
    CHECK(false);
}

#define TESTS(X)                                   \
    X(all_pairs_are_found)                         \
    X(a_few_strange_boxes_among_many_lose_nothing) \
    X(clamped_cells_lose_nothing)                  \
    X(nan_overlaps_nothing_and_harms_nothing)      \
    X(a_filter_takes_pairs_out)                    \
    X(the_list_does_not_depend_on_threads)         \
    X(the_same_boxes_again_allocate_nothing)       \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
