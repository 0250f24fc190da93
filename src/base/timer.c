// timer.c - the monotonic clock.
#define _POSIX_C_SOURCE 199309L
#include "timer.h"

#include <time.h>

double fil_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
