#ifndef FIL_BASE_PARALLEL_H
#define FIL_BASE_PARALLEL_H

// Parallel loops whose result does not depend on the number of threads: an item writes only its
// own output, and sums go over fixed chunks in a fixed order. `threads` counts as
// fil_thread_count() gives it; 1 or less runs on the calling thread alone.

#include "filum/base.h"

/// Which thread of the running loop this is, 0 .. threads - 1: for choosing scratch memory only.
int fil_thread_index(void);

/// Call body(context, item) for every item in [0, count), in any order, on up to `threads` threads.
/// For few, large, uneven items: each is handed out when a thread is free. `body` must not depend
/// on which thread runs it.
void fil_parallel_for(int count, int threads, void (*body)(void *context, int item), void *context);

/// Call body(context) when no other thread is inside such a call.
void fil_one_at_a_time(void (*body)(void *context), void *context);

/// Call body(context, first, last) for the ranges [0, grain), [grain, 2 grain), ... that make up
/// [0, count), in any order, several in turn each time that a thread is free. For many small items.
/// The ranges depend on `count` and `grain` (at least 1) alone.
void fil_parallel_ranges(int count, int grain, int threads,
                         void (*body)(void *context, int first, int last), void *context);

/// Sum of chunk(context, first, last) over fixed ranges that make up [0, count): the same bits for
/// any number of threads. The ranges depend on `count` alone, the partial sums are added pairwise
/// in their order, and nothing is allocated. 0 when `count` is 0.
double fil_parallel_sum(int count, int threads, double (*chunk)(void *context, int first, int last),
                        void *context);

#endif
