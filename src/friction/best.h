#ifndef FIL_FRICTION_BEST_H
#define FIL_FRICTION_BEST_H

// What iterations keep in mind: the best iterate so far, and for how long nothing got better.

#include <math.h>
#include <string.h>

#include "base/arena.h"

/// The iterate with the smallest residual. `r` is memory of the solver, [size].
typedef struct FilBest {
    int size;
    double *r;
    double scaled; // its residual
} FilBest;

/// Begin with `r`, whatever its residual.
static inline void fil_best_begin(FilBest *best, const double *r) {
    best->scaled = INFINITY;
    memcpy(best->r, r, (size_t)best->size * sizeof *r);
}

/// Keep `r` if it is better, or solves the task.
static inline void fil_best_offer(FilBest *best, const double *r, double scaled, bool solved) {
    if (solved || scaled < best->scaled) {
        best->scaled = scaled;
        memcpy(best->r, r, (size_t)best->size * sizeof *r);
    }
}

static inline void fil_best_take(const FilBest *best, double *r) {
    memcpy(r, best->r, (size_t)best->size * sizeof *r);
}

/// How long a value has not fallen; begin with {.least = INFINITY}.
typedef struct FilStall {
    double least;
    int idle; // values in sequence that did not fall
} FilStall;

/// Note the next value, which falls when it is below `factor` times the least. True when it is not
/// finite, or more than `most` in sequence did not fall.
static inline bool fil_stall_note(FilStall *stall, double value, double factor, int most) {
    stall->idle = value < factor * stall->least ? 0 : stall->idle + 1;
    stall->least = fmin(stall->least, value);
    return !isfinite(value) || stall->idle > most;
}

#endif
