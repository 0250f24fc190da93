// parallel.c - loops over OpenMP threads.
//
// What is computed must not depend on how many threads compute it. So the cuts between ranges are a
// function of the sizes only, each range is worked through in order by one thread, and where
// results are joined they are joined by the calling thread, in the order of the ranges.
#include "parallel.h"

#include <omp.h>

#include "error.h"

int fil_thread_count(int requested) {
    return requested > 0 ? requested : omp_get_max_threads();
}

// Of the loop that runs; OpenMP's own number would be that of a loop of the caller, where he has
// one.
static _Thread_local int thread_index;

int fil_thread_index(void) {
    return thread_index;
}

void fil_parallel_for(int count, int threads, void (*body)(void *context, int item),
                      void *context) {
    if (threads <= 1 || count <= 1) {
        for (int i = 0; i < count; i++) {
            body(context, i);
        }
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const int before = thread_index;
        thread_index = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < count; i++) {
            body(context, i);
        }
        thread_index = before;
    }
}

void fil_one_at_a_time(void (*body)(void *context), void *context) {
#pragma omp critical(fil_one_at_a_time)
    body(context);
}

// Number of ranges of `grain` items, the last one perhaps shorter, in `count` items.
static int count_ranges(int count, int grain) {
    return count <= 0 ? 0 : (count - 1) / grain + 1;
}

// End of the range that starts at `first`, without overflow near INT_MAX.
static int end_range(int first, int count, int grain) {
    return count - first < grain ? count : first + grain;
}

void fil_parallel_ranges(int count, int grain, int threads,
                         void (*body)(void *context, int first, int last), void *context) {
    FIL_ASSERT(grain > 0);
    const int range_count = count_ranges(count, grain);
    if (threads <= 1 || range_count <= 1) {
        for (int k = 0; k < range_count; k++) {
            body(context, k * grain, end_range(k * grain, count, grain));
        }
        return;
    }
    // about eight pieces for every thread: halves would often be of unequal cost
#pragma omp parallel num_threads(threads)
    {
        const int before = thread_index;
        thread_index = omp_get_thread_num();
#pragma omp for schedule(dynamic, (range_count - 1) / (8 * threads) + 1)
        for (int k = 0; k < range_count; k++) {
            body(context, k * grain, end_range(k * grain, count, grain));
        }
        thread_index = before;
    }
}

// Ranges of a sum: short ones cost more to hand out than to add, and their number is bounded so
// that the partial sums fit on the stack.
enum { SUM_GRAIN = 1024, SUM_RANGES = 256 };

typedef struct PartialSums {
    double (*chunk)(void *context, int first, int last);
    void *context;
    int grain;
    double value[SUM_RANGES];
} PartialSums;

static void add_chunk(void *context, int first, int last) {
    PartialSums *sums = context;
    sums->value[first / sums->grain] = sums->chunk(sums->context, first, last);
}

double fil_parallel_sum(int count, int threads, double (*chunk)(void *context, int first, int last),
                        void *context) {
    PartialSums sums = {.chunk = chunk, .context = context, .grain = SUM_GRAIN};
    if (count_ranges(count, SUM_GRAIN) > SUM_RANGES) {
        sums.grain = count_ranges(count, SUM_RANGES);
    }
    fil_parallel_ranges(count, sums.grain, threads, add_chunk, &sums);
    // halve the list until one is left: rounding errors grow with its logarithm
    int left = count_ranges(count, sums.grain);
    while (left > 1) {
        const int pairs = left / 2;
        for (int k = 0; k < pairs; k++) {
            sums.value[k] = sums.value[2 * k] + sums.value[2 * k + 1];
        }
        if (left % 2 != 0) {
            sums.value[pairs] = sums.value[left - 1];
        }
        left = pairs + left % 2;
    }
    return left == 1 ? sums.value[0] : 0.0;
}
