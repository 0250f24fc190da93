#ifndef FIL_WORLD_CLOCK_H
#define FIL_WORLD_CLOCK_H

// The clock of a world: whole numbers. A step is 2^20 ticks, a part of it that was halved `depth`
// times 2^(20 - depth) of them, and the time is
//     t = step (steps + ticks / 2^20),
// whichever way led there: a world that goes on from a state reads the same bits as one that never
// stopped, and the end of one part is the start of the next. Nothing that depends on time adds
// steps up: (k - 1) h + h is not k h.
//
// A part from t to t' lasts dt = t' - t, not h 2^-depth. As parts begin where parts as long as they
// end, t' <= 2 t unless t = 0, so that the difference is exact (Sterbenz 1974) and t + dt is t' to
// the bit: rods, which keep a clock of their own, arrive with the world. Late in a run dt differs
// from h 2^-depth by what rounding makes of t; where that would be more than a hundredth, parts are
// not halved any more.

#include <math.h>
#include <stdint.h>

enum { FIL_CLOCK_BITS = 20 };

typedef struct FilClock {
    int64_t step_count, ticks; // whole steps done; of the step in hand
} FilClock;

/// What the clock of a world of so long steps shows, s.
static inline double fil_clock_time(double step, FilClock clock) {
    return step * ((double)clock.step_count + ldexp((double)clock.ticks, -FIL_CLOCK_BITS));
}

/// A stretch of time that begins now.
typedef struct FilSpan {
    double end;   // s: when it is over
    double dt;    // s
    double share; // of a whole step, without rounding
} FilSpan;

/// The part of a step that was halved `depth` times and begins at `clock`; its end goes there.
static inline FilSpan fil_clock_span(double step, int depth, FilClock *clock) {
    const double start = fil_clock_time(step, *clock);
    clock->ticks += (int64_t)1 << (FIL_CLOCK_BITS - depth);
    const double end = fil_clock_time(step, *clock);
    return (FilSpan){.end = end, .dt = end - start, .share = ldexp(1.0, -depth)};
}

/// How often a step may be halved so late, and `most` times at most.
static inline int fil_clock_halvings(FilClock clock, int most) {
    const int digits = ilogb((double)clock.step_count + 1.0);
    const int fine = 52 - 8 - digits; // parts of 2^-fine steps are 2^8 units in the last place
    const int depth = fine < FIL_CLOCK_BITS ? fine : FIL_CLOCK_BITS;
    return most < depth ? most : depth > 0 ? depth : 0;
}

#endif
