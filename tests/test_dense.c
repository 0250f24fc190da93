// Dense kernels and fronts: every variant and every number of threads gives the same bits.
#include "block_lu_checks.h"
#include "math/dense.h"
#include "math/front.h"

// C -= A^T B by plain loops and by every variant: the same bits.
static void check_product(FilArena *arena, FilRandom *random, const int size[3]) {
    const int m = size[0], n = size[1], depth = size[2];
    const double *a = random_vector(arena, random, m * depth);
    double *b = random_vector(arena, random, n * depth);
    const double *c = random_vector(arena, random, m * n);
    double *want = copy_vector(arena, m * n, c);
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < depth; p++) {
            for (int j = 0; j < n; j++) {
                want[i * n + j] -= b[p * n + j] * a[p * m + i];
            }
        }
    }
    for (int v = 0; fil_dense_variant(v) != NULL; v++) {
        double *got = copy_vector(arena, m * n, c);
        fil_dense_variant(v)->subtract_product(size, (FilCoefficients){a, 1, m}, (FilPanel){b, n},
                                               (FilPanel){got, n});
        CHECK(memcmp(got, want, (size_t)(m * n) * sizeof *got) == 0);
    }
}

static void products_have_the_bits_of_plain_loops(void) {
    static const int sizes[][3] = {{1, 4, 1},    {3, 4, 2},     {4, 8, 8},     {7, 12, 5},
                                   {33, 20, 31}, {97, 36, 130}, {200, 44, 24}, {2, 64, 300}};
    FilRandom random = fil_random_make(7);
    FilArena arena = fil_arena_make(NULL);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_product(&arena, &random, sizes[k]);
    }
    CHECK(fil_dense_kernels() != NULL);
    fil_arena_destroy(&arena);
}

// (L U)(i, j) from factors stored in one array with rows of w.
static double product_entry(const double *lu, int w, int i, int j) {
    double sum = i <= j ? lu[i * w + j] : 0.0;
    for (int k = 0; k < i && k <= j; k++) {
        sum += lu[i * w + k] * lu[k * w + j];
    }
    return sum;
}

// Bit for bit, without the padding, whose content means nothing.
static bool same_columns(int n, int w, const double *a, const double *b) {
    for (int i = 0; i < n; i++) {
        if (memcmp(a + (ptrdiff_t)i * w, b + (ptrdiff_t)i * w, (size_t)n * sizeof *a) != 0) {
            return false;
        }
    }
    return true;
}

// L U = P A to round-off, with the same bits in all variants.
static void check_dense_factor(FilArena *arena, FilRandom *random, int n) {
    const int w = fil_round4(n);
    double *a = random_vector(arena, random, n * w), *first = NULL;
    bool same = true;
    double *floor = FIL_NEW_ZEROED(arena, double, n), *inverse = FIL_NEW(arena, double, n);
    int *pivot = FIL_NEW(arena, int, n);
    for (int v = 0; fil_dense_variant(v) != NULL; v++) {
        double *lu = copy_vector(arena, n * w, a);
        const FilDenseLu dense = {.panel = {lu, w},
                                  .order = n,
                                  .width = w,
                                  .floor = floor,
                                  .pivot = pivot,
                                  .inverse = inverse};
        CHECK(fil_dense_variant(v)->factor(&dense) == 0);
        first = first != NULL ? first : lu;
        same = same && same_columns(n, w, first, lu);
    }
    CHECK(same);
    for (int i = 0; i < n; i++) { // P A
        for (int c = 0; c < w; c++) {
            const double swap = a[i * w + c];
            a[i * w + c] = a[pivot[i] * w + c];
            a[pivot[i] * w + c] = swap;
        }
    }
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            worst = fmax(worst, fabs(product_entry(first, w, i, j) - a[i * w + j]));
        }
    }
    CHECK(worst <= 1e-13 * n);
}

static void dense_factors_multiply_back(void) {
    FilRandom random = fil_random_make(8);
    FilArena arena = fil_arena_make(NULL);
    for (int n = 1; n <= 20; n++) { // all orders around the panel width
        check_dense_factor(&arena, &random, n);
    }
    check_dense_factor(&arena, &random, 77);
    check_dense_factor(&arena, &random, 150);
    fil_arena_destroy(&arena);
}

// A random front, not yet factored. The floor of every 50th pivot is out of reach.
static FilFront random_front(FilArena *arena, FilRandom *random, int k, int u) {
    FilFront f = {.k = k, .k4 = fil_round4(k), .u = u, .u4 = fil_round4(u)};
    const int stride = f.k4 + 2 * f.u4;
    double *floor = FIL_NEW(arena, double, k + 1);
    for (int i = 0; i < k; i++) {
        floor[i] = i % 50 == 7 ? 1e6 : 0.0;
    }
    f.kernels = fil_dense_kernels();
    f.panel = (FilPanel){random_vector(arena, random, k * stride), stride};
    f.rest = (FilPanel){random_vector(arena, random, u * f.u4), f.u4};
    f.floor = floor;
    return f;
}

// The same front with storage of its own.
static FilFront copy_front(FilArena *arena, const FilFront *f) {
    FilFront out = *f;
    out.panel.at = copy_vector(arena, f->k * (int)f->panel.stride, f->panel.at);
    out.rest.at = copy_vector(arena, f->u * f->u4, f->rest.at);
    out.pivot = FIL_NEW(arena, int, f->k + 1);
    out.inverse = FIL_NEW(arena, double, f->k + 1);
    return out;
}

static bool same_part(const double *a, const double *b, ptrdiff_t stride, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        if (memcmp(a + i * stride, b + i * stride, (size_t)columns * sizeof *a) != 0) {
            return false;
        }
    }
    return true;
}

static void check_front(FilArena *arena, const FilFront *front) {
    const FilFront want = copy_front(arena, front);
    const int replaced = fil_front_factor(&want), k = want.k;
    CHECK(k < 100 || replaced > 0);
    for (int threads = 1; threads <= 4; threads++) {
        const FilFront got = copy_front(arena, front);
        CHECK(fil_front_factor_parallel(&got, threads) == replaced);
        CHECK(memcmp(got.pivot, want.pivot, (size_t)k * sizeof(int)) == 0);
        CHECK(memcmp(got.inverse, want.inverse, (size_t)k * sizeof(double)) == 0);
        const int place[3] = {0, want.k4, want.k4 + want.u4};
        for (int part = 0; part < 3; part++) { // without the padding, which means nothing
            CHECK(same_part(got.panel.at + place[part], want.panel.at + place[part],
                            want.panel.stride, k, part == 0 ? k : want.u));
        }
        CHECK(same_part(got.rest.at, want.rest.at, want.rest.stride, want.u, want.u));
    }
}

// Pivots around one, two and three blocks of the parallel form, rows from none to several tiles.
static void fronts_have_the_same_bits_on_any_number_of_threads(void) {
    static const int sizes[][2] = {{1, 1},   {7, 0},     {5, 500},   {191, 3},  {192, 200},
                                   {193, 1}, {384, 400}, {501, 333}, {579, 77}, {650, 0}};
    FilRandom random = fil_random_make(15);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        FilArena arena = fil_arena_make(NULL);
        const FilFront front = random_front(&arena, &random, sizes[i][0], sizes[i][1]);
        check_front(&arena, &front);
        fil_arena_destroy(&arena);
    }
}

#define TESTS(X)                             \
    X(products_have_the_bits_of_plain_loops) \
    X(dense_factors_multiply_back)           \
    X(fronts_have_the_same_bits_on_any_number_of_threads)

CHECK_MAIN(TESTS)
