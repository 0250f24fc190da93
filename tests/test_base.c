#include "check.h"
#include "failing_allocator.h"
#include "filum/filum.h"

#include <limits.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/timer.h"

// --- status, errors, log -------------------------------------------------------------------------

static void every_status_has_its_own_message(void) {
    for (int i = 0; i < FIL_STATUS_COUNT; i++) {
        CHECK(fil_status_text((FilStatus)i)[0] != '\0');
        for (int j = 0; j < i; j++) {
            CHECK(strcmp(fil_status_text((FilStatus)i), fil_status_text((FilStatus)j)) != 0);
        }
    }
}

static void a_status_out_of_bounds_is_unknown(void) {
    const int outside[] = {FIL_STATUS_COUNT, FIL_STATUS_COUNT + 1, -1, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        CHECK(strcmp(fil_status_text((FilStatus)outside[i]), "unknown status") == 0);
    }
}

static void the_version_has_three_numbers(void) {
    int major = -1, minor = -1, patch = -1, length = 0;
    // NOLINTNEXTLINE(cert-err34-c)
    CHECK(sscanf(fil_version(), "%d.%d.%d%n", &major, &minor, &patch, &length) == 3);
    CHECK(fil_version()[length] == '\0');
    CHECK(major >= 0 && minor >= 0 && patch >= 0);
}

static void a_failure_returns_its_status_and_fills_the_error(void) {
    FilError error = {.line = 7, .column = 8, .text = "left over"};
    CHECK(fil_fail(&error, FIL_E_ARGUMENT, "mu is %g; it must not be negative.", -0.5) ==
          FIL_E_ARGUMENT);
    CHECK(error.status == FIL_E_ARGUMENT);
    CHECK(error.line == 0 && error.column == 0);
    CHECK(strcmp(error.text, "mu is -0.5; it must not be negative.") == 0);

    CHECK(fil_fail_at(&error, FIL_E_FORMAT, 3, 14, "unexpected %c", '}') == FIL_E_FORMAT);
    CHECK(error.status == FIL_E_FORMAT && error.line == 3 && error.column == 14);
    CHECK(strcmp(error.text, "unexpected }") == 0);

    CHECK(fil_fail(NULL, FIL_E_IO, "nobody listens") == FIL_E_IO);
    CHECK(fil_fail_at(NULL, FIL_E_IO, 1, 1, "nobody listens") == FIL_E_IO);
}

static void an_error_may_quote_itself(void) {
    FilError error;
    CHECK(fil_fail_at(&error, FIL_E_FORMAT, 2, 5, "W is missing.") == FIL_E_FORMAT);
    CHECK(fil_fail_at(&error, error.status, error.line, error.column, "%s: %s", "a.hdf5",
                      error.text) == FIL_E_FORMAT);
    CHECK(strcmp(error.text, "a.hdf5: W is missing.") == 0);
    CHECK(error.line == 2 && error.column == 5);
}

static void a_long_error_is_cut_visibly(void) {
    enum { ROOM = (int)sizeof((FilError *)NULL)->text };
    char word[2 * ROOM];
    memset(word, 'x', sizeof word);
    for (int length = ROOM - 5; length < 2 * ROOM; length++) {
        FilError error;
        (void)fil_fail(&error, FIL_E_IO, "%.*s", length, word);
        if (length < ROOM) {
            CHECK(strlen(error.text) == (size_t)length);
        } else {
            CHECK(strlen(error.text) == ROOM - 1);
            CHECK(strcmp(error.text + ROOM - 5, "x...") == 0);
        }
    }
}

// Whatever its length in bytes, a text is never cut inside a character of several bytes.
static void a_cut_keeps_utf8_whole(void) {
    for (int shift = 0; shift < 4; shift++) {
        char word[1024] = "abc";
        size_t length = (size_t)shift;
        while (length + 4 < sizeof word) {
            memcpy(word + length, "\xf0\x9f\xaa\xa2", 4); // one knot
            length += 4;
        }
        word[length] = '\0';
        FilError error;
        (void)fil_fail(&error, FIL_E_IO, "%s", word);
        const size_t cut = strlen(error.text) - 3;
        CHECK(strcmp(error.text + cut, "...") == 0);
        CHECK(strncmp(error.text, word, cut) == 0);
        CHECK((cut - (size_t)shift) % 4 == 0);
        CHECK(cut + 3 + 4 >= sizeof error.text - 1); // no more is lost than has to be
    }
}

static FilStatus try_twice(FilStatus first, FilStatus second, int *reached) {
    FIL_TRY(first);
    *reached = 1;
    FIL_TRY(second);
    *reached = 2;
    return FIL_OK;
}

static void try_passes_the_first_failure_on(void) {
    int reached = 0;
    CHECK(try_twice(FIL_E_IO, FIL_OK, &reached) == FIL_E_IO && reached == 0);
    CHECK(try_twice(FIL_OK, FIL_E_FORMAT, &reached) == FIL_E_FORMAT && reached == 1);
    CHECK(try_twice(FIL_OK, FIL_OK, &reached) == FIL_OK && reached == 2);
}

typedef struct Heard {
    int count;
    FilLogLevel level;
    char text[1024];
} Heard;

static void hear(void *user, FilLogLevel level, const char *text) {
    Heard *heard = user;
    heard->count++;
    heard->level = level;
    (void)snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void a_log_hears_level_and_text(void) {
    Heard heard = {0};
    const FilLog log = {.write = hear, .user = &heard};
    fil_log(&log, FIL_LOG_WARNING, "%d of %d islands did not converge", 1, 12);
    CHECK(heard.count == 1 && heard.level == FIL_LOG_WARNING);
    CHECK(strcmp(heard.text, "1 of 12 islands did not converge") == 0);
    fil_log(&log, FIL_LOG_INFO, "%800s", "far");
    CHECK(heard.count == 2 && heard.level == FIL_LOG_INFO);
    CHECK(strlen(heard.text) == 511 && strcmp(heard.text + 508, "...") == 0);
}

static void no_log_is_silence(void) {
    fil_log(NULL, FIL_LOG_INFO, "nobody listens");
    fil_log(&(FilLog){0}, FIL_LOG_INFO, "nobody listens");
    CHECK(true);
}

static void every_log_level_has_a_name(void) {
    CHECK(strcmp(fil_log_level_text(FIL_LOG_DEBUG), "debug") == 0);
    CHECK(strcmp(fil_log_level_text(FIL_LOG_INFO), "info") == 0);
    CHECK(strcmp(fil_log_level_text(FIL_LOG_WARNING), "warning") == 0);
    CHECK(strcmp(fil_log_level_text((FilLogLevel)FIL_LOG_LEVEL_COUNT), "unknown level") == 0);
    CHECK(strcmp(fil_log_level_text((FilLogLevel)-1), "unknown level") == 0);
}

// --- arena ---------------------------------------------------------------------------------------

static bool is_aligned(const void *block) {
    return (uintptr_t)block % FIL_CACHE_LINE == 0;
}

static void blocks_are_aligned_and_apart(void) {
    enum { COUNT = 300 };
    FilArena arena = fil_arena_make(NULL);
    unsigned char *block[COUNT];
    size_t size[COUNT];
    FilRandom random = fil_random_make(1);
    for (int i = 0; i < COUNT; i++) {
        size[i] = (size_t)fil_random_int(&random, i % 10 == 0 ? 100000 : 200);
        block[i] = FIL_NEW(&arena, unsigned char, size[i]);
        CHECK(block[i] != NULL && is_aligned(block[i]));
        memset(block[i], i % 251, size[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < size[i]; k++) {
            if (block[i][k] != i % 251) {
                CHECK(block[i][k] == i % 251);
                break;
            }
        }
    }
    CHECK(!arena.failed);
    fil_arena_destroy(&arena);
}

// An allocator that is aligned to 16 bytes and no better, as malloc may be.
static void *resize_off_line(void *user, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    char *start = block != NULL ? (char *)block - *(size_t *)user : NULL;
    if (new_size == 0) {
        free(start);
        return NULL;
    }
    start = aligned_alloc(FIL_CACHE_LINE,
                          (new_size + 2 * FIL_CACHE_LINE - 1) / FIL_CACHE_LINE * FIL_CACHE_LINE);
    return start + *(size_t *)user;
}

static void blocks_are_aligned_whatever_the_allocator_gives(void) {
    for (size_t shift = 0; shift < FIL_CACHE_LINE; shift += 16) {
        const FilAllocator allocator = {.resize = resize_off_line, .user = &shift};
        FilArena arena = fil_arena_make(&allocator);
        for (size_t size = 1; size < 300000; size = 3 * size + 1) {
            char *block = FIL_NEW(&arena, char, size);
            CHECK(block != NULL && is_aligned(block));
            memset(block, 1, size);
        }
        fil_arena_destroy(&arena);
    }
}

static void an_unused_arena_takes_no_memory(void) {
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilArena arena = fil_arena_make(&allocator);
    const FilArenaMark mark = fil_arena_mark(&arena);
    fil_arena_release(&arena, mark);
    fil_arena_reset(&arena);
    fil_arena_destroy(&arena);
    CHECK(memory.requests == 0);
}

static void empty_blocks_are_not_failures(void) {
    FilArena arena = fil_arena_make(NULL);
    CHECK(FIL_NEW(&arena, double, 0) != NULL);
    CHECK(fil_arena_get(&arena, 5, 0) != NULL);
    CHECK(FIL_NEW_ZEROED(&arena, double, 0) != NULL);
    CHECK(!arena.failed);
    fil_arena_destroy(&arena);
}

static void zeroed_blocks_are_zero_even_when_used_before(void) {
    FilArena arena = fil_arena_make(NULL);
    enum { COUNT = 1000 };
    memset(FIL_NEW(&arena, double, COUNT), 0xff, COUNT * sizeof(double));
    fil_arena_reset(&arena);
    const double *zero = FIL_NEW_ZEROED(&arena, double, COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK(zero[i] == 0.0);
    }
    fil_arena_destroy(&arena);
}

static void release_gives_back_what_came_after_the_mark(void) {
    FilArena arena = fil_arena_make(NULL);
    double *kept = FIL_NEW(&arena, double, 10);
    kept[9] = 1.5;
    const FilArenaMark mark = fil_arena_mark(&arena);
    double *first = FIL_NEW(&arena, double, 100);
    FIL_NEW(&arena, double, 1000000); // in a chunk of its own
    fil_arena_release(&arena, mark);
    CHECK(FIL_NEW(&arena, double, 100) == first);
    CHECK(kept[9] == 1.5);
    // marks nest
    const FilArenaMark inner = fil_arena_mark(&arena);
    double *second = FIL_NEW(&arena, double, 1);
    fil_arena_release(&arena, inner);
    CHECK(FIL_NEW(&arena, double, 1) == second);
    fil_arena_release(&arena, mark);
    CHECK(FIL_NEW(&arena, double, 1) == first);
    fil_arena_destroy(&arena);
}

static void a_mark_older_than_the_first_chunk_empties_the_arena(void) {
    FilArena arena = fil_arena_make(NULL);
    const FilArenaMark mark = fil_arena_mark(&arena);
    const char *first = FIL_NEW(&arena, char, 10);
    FIL_NEW(&arena, char, 1000000);
    fil_arena_release(&arena, mark);
    CHECK(FIL_NEW(&arena, char, 10) == first);
    fil_arena_destroy(&arena);
}

// A step of varied work: arrays of all sizes, nested marks, large and small in turn.
static void do_scratch_work(FilArena *arena, uint64_t seed) {
    FilRandom random = fil_random_make(seed);
    for (int round = 0; round < 20; round++) {
        const FilArenaMark mark = fil_arena_mark(arena);
        for (int i = 0; i < 20; i++) {
            const size_t size = (size_t)1 << fil_random_int(&random, 20);
            char *block = FIL_NEW(arena, char, size);
            CHECK(block != NULL);
            block[0] = block[size - 1] = 1;
        }
        if (round % 3 != 0) {
            fil_arena_release(arena, mark);
        }
    }
}

static void the_same_work_again_allocates_nothing(void) {
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilArena arena = fil_arena_make(&allocator);
    do_scratch_work(&arena, 42);
    const int requests = memory.requests;
    CHECK(requests > 1);
    for (int step = 0; step < 5; step++) {
        fil_arena_reset(&arena);
        do_scratch_work(&arena, 42);
        CHECK(memory.requests == requests);
    }
    fil_arena_destroy(&arena);
    CHECK(failing_allocator_is_clean(&memory));
}

static void a_large_block_does_not_make_later_chunks_large(void) {
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    FilArena arena = fil_arena_make(&allocator);
    const size_t large = (size_t)200 << 20;
    FIL_NEW(&arena, char, large);
    FIL_NEW(&arena, char, 1000);
    CHECK(memory.requests == 2);
    CHECK(memory.live_bytes < large + ((size_t)65 << 20));
    fil_arena_destroy(&arena);
    CHECK(failing_allocator_is_clean(&memory));
}

static void sizes_that_overflow_fail(void) {
    FailingAllocator memory = {0};
    const FilAllocator allocator = failing_allocator(&memory);
    const size_t many[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, SIZE_MAX / 8 + 1, SIZE_MAX / 16};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        FilArena arena = fil_arena_make(&allocator);
        CHECK(FIL_NEW(&arena, char, 1) != NULL);
        CHECK(fil_arena_get(&arena, many[i], sizeof(double)) == NULL);
        CHECK(arena.failed);
        CHECK(fil_arena_get_zeroed(&arena, sizeof(double), many[i]) == NULL);
        CHECK(FIL_NEW(&arena, double, -3) == NULL);
        // what fits is still to be had, and the failure stays on record until the reset
        CHECK(FIL_NEW(&arena, char, 1) != NULL);
        CHECK(arena.failed);
        fil_arena_reset(&arena);
        CHECK(!arena.failed);
        fil_arena_destroy(&arena);
    }
    CHECK(failing_allocator_is_clean(&memory));
}

static void every_allocation_may_fail(void) {
    int fail_at = 0, failures = 0;
    do {
        fail_at++;
        FailingAllocator memory = {.fail_at = fail_at};
        const FilAllocator allocator = failing_allocator(&memory);
        FilArena arena = fil_arena_make(&allocator);
        bool missing = false;
        for (size_t size = 1; size < 3000000; size = 2 * size + 1) {
            char *block = FIL_NEW(&arena, char, size);
            if (block != NULL) {
                block[0] = block[size - 1] = 1;
            }
            missing = missing || block == NULL;
        }
        failures = memory.failures;
        CHECK(missing == (failures > 0));
        CHECK(arena.failed == missing);
        fil_arena_destroy(&arena);
        CHECK(failing_allocator_is_clean(&memory));
    } while (failures > 0 && fail_at < 100);
    CHECK(fail_at > 3 && fail_at < 100);
}

// A request that fails must not cost the room that is left in the chunk in use.
static void a_failed_request_leaves_the_arena_as_it_was(void) {
    FailingAllocator memory = {.fail_at = 3};
    const FilAllocator allocator = failing_allocator(&memory);
    FilArena arena = fil_arena_make(&allocator);
    const FilArenaMark start = fil_arena_mark(&arena);
    FIL_NEW(&arena, char, 1000);
    FIL_NEW(&arena, char, 100000); // a second chunk
    fil_arena_release(&arena, start);
    FIL_NEW(&arena, char, 1000);
    const FilArenaMark mark = fil_arena_mark(&arena);
    const char *next = FIL_NEW(&arena, char, 10);
    fil_arena_release(&arena, mark);
    CHECK(FIL_NEW(&arena, char, 10000000) == NULL);
    CHECK(memory.failures == 1);
    CHECK(FIL_NEW(&arena, char, 10) == next);
    fil_arena_destroy(&arena);
    CHECK(failing_allocator_is_clean(&memory));
}

// The helper that other tests lean on.
static void the_failing_allocator_keeps_its_books(void) {
    FailingAllocator memory = {.fail_at = 2, .fail_once = true};
    const FilAllocator a = failing_allocator(&memory);
    char *block = a.resize(a.user, NULL, 0, 100);
    CHECK(block != NULL && memory.live == 1 && memory.live_bytes == 100);
    CHECK(a.resize(a.user, block, 100, 200) == NULL); // the second request; the block stays
    CHECK(memory.failures == 1 && memory.live_bytes == 100);
    char *less = a.resize(a.user, block, 100, 50);
    CHECK(less != NULL && memory.live == 1 && memory.live_bytes == 50);
    CHECK(!failing_allocator_is_clean(&memory) && memory.wrong_sizes == 0);
    CHECK(a.resize(a.user, less != NULL ? less : block, 51, 0) == NULL);
    CHECK(memory.live == 0 && memory.live_bytes == 0 && memory.peak_bytes == 100);
    CHECK(memory.wrong_sizes == 1 && !failing_allocator_is_clean(&memory));
}

// --- parallel loops ------------------------------------------------------------------------------

static const int thread_counts[] = {-1, 0, 1, 2, 3, 4, 7};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

static void a_thread_count_is_at_least_one(void) {
    CHECK(fil_thread_count(3) == 3);
    CHECK(fil_thread_count(1) == 1);
    CHECK(fil_thread_count(0) >= 1);
    CHECK(fil_thread_count(-5) >= 1);
}

static void count_item(void *context, int item) {
    int *visits = context;
    visits[item]++;
}

static void a_parallel_loop_visits_every_item_once(void) {
    enum { MOST = 1000 };
    for (int t = 0; t < THREAD_COUNTS; t++) {
        const int counts[] = {-3, 0, 1, 2, 3, 100, MOST};
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            int visits[MOST + 1] = {0};
            fil_parallel_for(counts[c], thread_counts[t], count_item, visits);
            for (int i = 0; i <= MOST; i++) {
                CHECK(visits[i] == (i < counts[c]));
            }
        }
    }
}

typedef struct Ranges {
    int count, grain;
    int *visits;
    int *cuts; // 1 where a range began
} Ranges;

static void mark_range(void *context, int first, int last) {
    Ranges *ranges = context;
    ranges->cuts[first] = 1;
    for (int i = first; i < last; i++) {
        ranges->visits[i]++;
    }
}

static void ranges_cover_every_item_once_and_cut_at_the_grain(void) {
    enum { MOST = 500 };
    const int counts[] = {-1, 0, 1, 31, 32, 33, 64, MOST};
    const int grains[] = {1, 32, 100, INT_MAX};
    for (int run = 0; run < THREAD_COUNTS * 8 * 4; run++) {
        const int count = counts[run % 8], grain = grains[run / 8 % 4];
        int visits[MOST + 1] = {0}, cuts[MOST + 1] = {0};
        Ranges ranges = {.count = count, .grain = grain, .visits = visits, .cuts = cuts};
        fil_parallel_ranges(count, grain, thread_counts[run / 32], mark_range, &ranges);
        for (int i = 0; i <= MOST; i++) {
            CHECK(visits[i] == (i < count));
            CHECK(cuts[i] == (i < count && i % grain == 0));
        }
    }
}

static void add_lengths(void *context, int first, int last) {
    int *length = context; // one per range of 2^28 items
    length[first >> 28] = last - first;
}

static void ranges_do_not_overflow_near_the_largest_count(void) {
    int length[8] = {0};
    fil_parallel_ranges(INT_MAX, 1 << 28, 2, add_lengths, length);
    int64_t total = 0;
    for (int i = 0; i < 8; i++) {
        total += length[i];
    }
    CHECK(total == INT_MAX);
    CHECK(length[7] == (1 << 28) - 1);
}

// Values whose sum depends on the order: magnitudes over many decades, both signs.
static double *make_terms(int count) {
    double *term = malloc((size_t)count * sizeof *term);
    FilRandom random = fil_random_make(5);
    for (int i = 0; i < count; i++) {
        term[i] = ldexp(fil_random_normal(&random), fil_random_int(&random, 60) - 30);
    }
    return term;
}

static double add_terms(void *context, int first, int last) {
    const double *term = context;
    double sum = 0.0;
    for (int i = first; i < last; i++) {
        sum += term[i];
    }
    return sum;
}

static void a_parallel_sum_has_the_same_bits_for_any_thread_count(void) {
    const int counts[] = {0, 1, 1023, 1024, 1025, 5000, 262144, 262145, 1000003};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const int count = counts[c];
        double *term = make_terms(count + 1);
        const double one = fil_parallel_sum(count, 1, add_terms, term);
        for (int t = 0; t < THREAD_COUNTS; t++) {
            const double sum = fil_parallel_sum(count, thread_counts[t], add_terms, term);
            CHECK(check_same_bits(&sum, &one, sizeof sum));
        }
        long double exact = 0.0, size = 0.0;
        for (int i = 0; i < count; i++) {
            exact += term[i];
            size += fabs(term[i]);
        }
        CHECK_NEAR(one, (double)exact, 0.0, 1e-13 * (double)size);
        free(term);
    }
}

static double count_terms(void *context, int first, int last) {
    (void)context;
    return last - first;
}

static void a_parallel_sum_covers_the_largest_count(void) {
    CHECK(fil_parallel_sum(INT_MAX, 2, count_terms, NULL) == INT_MAX);
    CHECK(fil_parallel_sum(-7, 2, count_terms, NULL) == 0.0);
}

// Uneven items, each a little random walk; what an item gives depends on the item alone.
static void walk(void *context, int item) {
    double *out = context;
    FilRandom random = fil_random_make((uint64_t)item);
    double x = 0.0;
    for (int i = 0; i < 10 * (item % 37); i++) {
        x = 0.9 * x + fil_random_normal(&random);
    }
    out[item] = x;
}

static void a_parallel_loop_gives_the_same_bits_for_any_thread_count(void) {
    enum { COUNT = 400 };
    double one[COUNT], several[COUNT];
    fil_parallel_for(COUNT, 1, walk, one);
    for (int threads = 2; threads <= 4; threads *= 2) {
        fil_parallel_for(COUNT, threads, walk, several);
        CHECK(check_same_bits(one, several, sizeof one));
    }
}

static void sum_inside(void *context, int item) {
    double *out = context;
    out[item] = fil_parallel_sum(1000 * item, 2, count_terms, NULL);
}

static void loops_may_nest(void) {
    double out[20];
    fil_parallel_for(20, 2, sum_inside, out);
    for (int i = 0; i < 20; i++) {
        CHECK(out[i] == 1000.0 * i);
    }
}

// --- random numbers and time ---------------------------------------------------------------------

// The values of splitmix64's published reference code.
static void random_bits_are_those_of_splitmix64(void) {
    static const uint64_t from_zero[] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u,
                                         0x06c45d188009454fu, 0xf88bb8a8724c81ecu};
    static const uint64_t from_1234567[] = {6457827717110365317u, 3203168211198807973u,
                                            9817491932198370423u, 4593380528125082431u};
    FilRandom a = fil_random_make(0), b = fil_random_make(1234567);
    for (int i = 0; i < 4; i++) {
        CHECK(fil_random_bits(&a) == from_zero[i]);
        CHECK(fil_random_bits(&b) == from_1234567[i]);
    }
}

// Fixed to the last bit: a change here changes every generated problem.
static void random_draws_are_golden(void) {
    FilRandom random = fil_random_make(2024);
    CHECK(fil_random_uniform(&random, 0.0, 1.0) == 0x1.3edb1fd9f11ddp-1);
    CHECK(fil_random_uniform(&random, -2.0, 3.0) == -0x1.838b0c5896a65p+0);
    CHECK(fil_random_int(&random, 1000000) == 298576);
    CHECK(fil_random_normal(&random) == 0x1.45549c515410cp-3);
    CHECK(fil_random_normal(&random) == 0x1.5cacc1c4b2229p-2);
}

// With N draws the k-th sample moment lies within 6 standard errors of the true one.
static void random_moments_are_right(void) {
    enum { N = 200000 };
    FilRandom random = fil_random_make(99);
    double u1 = 0, u2 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0;
    for (int i = 0; i < N; i++) {
        const double u = fil_random_uniform(&random, 0.0, 1.0), x = fil_random_normal(&random);
        u1 += u / N;
        u2 += u * u / N;
        n1 += x / N;
        n2 += x * x / N;
        n3 += x * x * x / N;
        n4 += x * x * x * x / N;
    }
    const double scale = 6.0 / sqrt(N);
    CHECK_NEAR(u1, 1.0 / 2.0, 0.0, scale * sqrt(1.0 / 12.0));
    CHECK_NEAR(u2, 1.0 / 3.0, 0.0, scale * sqrt(4.0 / 45.0));
    CHECK_NEAR(n1, 0.0, 0.0, scale * sqrt(1.0));
    CHECK_NEAR(n2, 1.0, 0.0, scale * sqrt(2.0));
    CHECK_NEAR(n3, 0.0, 0.0, scale * sqrt(15.0));
    CHECK_NEAR(n4, 3.0, 0.0, scale * sqrt(96.0));
}

// The tails show whether the logarithm is right: P(|x| > 3) = 0.0026998.
static void normal_tails_are_right(void) {
    enum { N = 500000 };
    FilRandom random = fil_random_make(7);
    double beyond_1 = 0, beyond_2 = 0, beyond_3 = 0;
    for (int i = 0; i < N; i++) {
        const double x = fabs(fil_random_normal(&random));
        beyond_1 += (x > 1.0) / (double)N;
        beyond_2 += (x > 2.0) / (double)N;
        beyond_3 += (x > 3.0) / (double)N;
    }
    CHECK_NEAR(beyond_1, 0.3173105, 0.0, 6.0 * sqrt(0.3173105 / N));
    CHECK_NEAR(beyond_2, 0.0455003, 0.0, 6.0 * sqrt(0.0455003 / N));
    CHECK_NEAR(beyond_3, 0.0026998, 0.0, 6.0 * sqrt(0.0026998 / N));
}

static void random_integers_fill_their_range_evenly(void) {
    enum { N = 100000, SIDES = 10 };
    const double expected = (double)N / SIDES;
    FilRandom random = fil_random_make(3);
    int seen[SIDES] = {0};
    for (int i = 0; i < N; i++) {
        const int k = fil_random_int(&random, SIDES);
        CHECK(k >= 0 && k < SIDES);
        seen[k]++;
    }
    for (int k = 0; k < SIDES; k++) {
        CHECK_NEAR(seen[k], expected, 0.0, 6.0 * sqrt(expected));
    }
    CHECK(fil_random_int(&random, 1) == 0);
    const int large = fil_random_int(&random, INT_MAX);
    CHECK(large >= 0 && large < INT_MAX);
}

// splitmix64's output is a bijection of its state; this state gives all bits set, the largest draw.
static uint64_t undo_xor_shift(uint64_t z, int shift) {
    uint64_t x = z;
    for (int done = shift; done < 64; done += shift) {
        x = z ^ (x >> shift);
    }
    return x;
}

// Inverse of an odd number modulo 2^64, by Newton's iteration.
static uint64_t invert(uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) {
        x *= 2 - odd * x;
    }
    return x;
}

static void a_uniform_draw_stays_below_its_upper_end(void) {
    uint64_t z = undo_xor_shift(UINT64_MAX, 31) * invert(0x94d049bb133111ebu);
    z = undo_xor_shift(z, 27) * invert(0xbf58476d1ce4e5b9u);
    const uint64_t seed = undo_xor_shift(z, 30) - 0x9e3779b97f4a7c15u;
    FilRandom random = fil_random_make(seed);
    CHECK(fil_random_bits(&random) == UINT64_MAX);
    const double ends[][2] = {{0.0, 1.0}, {1.0, 2.0}, {-1.0, 1.0}, {1e6, 1e6 + 1e-9}, {-2.0, -1.0}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        random = fil_random_make(seed);
        const double draw = fil_random_uniform(&random, ends[i][0], ends[i][1]);
        CHECK(draw >= ends[i][0] && draw < ends[i][1]);
    }
    CHECK(fil_random_uniform(&random, 4.0, 4.0) == 4.0);
}

static void time_does_not_run_backwards(void) {
    double before = fil_seconds();
    for (int i = 0; i < 1000; i++) {
        const double now = fil_seconds();
        CHECK(now >= before);
        before = now;
    }
}

#define TESTS(X)                                                \
    X(every_status_has_its_own_message)                         \
    X(a_status_out_of_bounds_is_unknown)                        \
    X(the_version_has_three_numbers)                            \
    X(a_failure_returns_its_status_and_fills_the_error)         \
    X(an_error_may_quote_itself)                                \
    X(a_long_error_is_cut_visibly)                              \
    X(a_cut_keeps_utf8_whole)                                   \
    X(try_passes_the_first_failure_on)                          \
    X(a_log_hears_level_and_text)                               \
    X(no_log_is_silence)                                        \
    X(every_log_level_has_a_name)                               \
    X(blocks_are_aligned_and_apart)                             \
    X(blocks_are_aligned_whatever_the_allocator_gives)          \
    X(an_unused_arena_takes_no_memory)                          \
    X(empty_blocks_are_not_failures)                            \
    X(zeroed_blocks_are_zero_even_when_used_before)             \
    X(release_gives_back_what_came_after_the_mark)              \
    X(a_mark_older_than_the_first_chunk_empties_the_arena)      \
    X(the_same_work_again_allocates_nothing)                    \
    X(a_large_block_does_not_make_later_chunks_large)           \
    X(sizes_that_overflow_fail)                                 \
    X(every_allocation_may_fail)                                \
    X(a_failed_request_leaves_the_arena_as_it_was)              \
    X(the_failing_allocator_keeps_its_books)                    \
    X(a_thread_count_is_at_least_one)                           \
    X(a_parallel_loop_visits_every_item_once)                   \
    X(ranges_cover_every_item_once_and_cut_at_the_grain)        \
    X(ranges_do_not_overflow_near_the_largest_count)            \
    X(a_parallel_sum_has_the_same_bits_for_any_thread_count)    \
    X(a_parallel_sum_covers_the_largest_count)                  \
    X(a_parallel_loop_gives_the_same_bits_for_any_thread_count) \
    X(loops_may_nest)                                           \
    X(random_bits_are_those_of_splitmix64)                      \
    X(random_draws_are_golden)                                  \
    X(random_moments_are_right)                                 \
    X(normal_tails_are_right)                                   \
    X(random_integers_fill_their_range_evenly)                  \
    X(a_uniform_draw_stays_below_its_upper_end)                 \
    X(time_does_not_run_backwards)

CHECK_MAIN(TESTS)
