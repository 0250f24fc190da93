// parallel.c - loops over OpenMP threads.
#include "parallel.h"

#include <omp.h>

int fil_thread_count(int requested) {
    return requested > 0 ? requested : omp_get_max_threads();
}

void fil_parallel_for(int count, int threads, void (*body)(void *context, int item),
                      void *context) {
    if (threads <= 1 || count <= 1) {
        for (int i = 0; i < count; i++) {
            body(context, i);
        }
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int i = 0; i < count; i++) {
        body(context, i);
    }
}
