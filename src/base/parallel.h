#ifndef FIL_BASE_PARALLEL_H
#define FIL_BASE_PARALLEL_H

// Parallel loops whose result does not depend on the number of threads: an item writes only its
// own output, and sums go over fixed chunks in a fixed order.

/// Threads that a request stands for: 0 means all that OpenMP offers; never below 1.
int fil_thread_count(int requested);

/// Call body(context, item) for every item in [0, count), in any order, on up to `threads` threads.
/// `body` must not depend on which thread runs it.
void fil_parallel_for(int count, int threads, void (*body)(void *context, int item), void *context);

#endif
