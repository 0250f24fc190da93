#ifndef FIL_FRICTION_ISLAND_H
#define FIL_FRICTION_ISLAND_H

// What a solver of one island is asked for and what it reports.

#include "base/arena.h"
#include "system.h"

/// Operations that a solve took and may take: counted, so that every machine stops at the same
/// iterate.
typedef struct FilWork {
    double done, limit; // limit 0: none
} FilWork;

typedef struct FilIslandTask {
    const FilFrictionSettings *settings;
    double scaled;      // wanted: sqrt(sum of squares) of the island, in the unit of a velocity
    double natural;     // the same for the natural map; infinite when it was not asked for
    double unit;        // |b| of the whole problem, for reports
    int threads;        // for work inside the island
    FilArena *arena;    // memory of the solve
    FilArena *scratch;  // a second one
    _Atomic bool *stop; // set when the callback asked to stop, perhaps on another thread
    FilWork *work;
} FilIslandTask;

typedef struct FilIslandResult {
    FilOutcome outcome;
    int iterations;
    int fallbacks;
    double seconds_sweeps, seconds_factor;
    double work; // operations
    double unit; // operations of a Newton step with every contact pressed; 0: none was made ready
} FilIslandResult;

/// Whether (u, r) is good enough; `*scaled`, when not NULL, receives the residual as in the task.
bool fil_island_is_solved(const FilSystem *s, const FilIslandTask *task, const double *u,
                          const double *r, double *scaled);

/// Count operations.
static inline void fil_island_count(const FilIslandTask *task, double operations) {
    task->work->done += operations;
}

/// Whether the work that a solve may take is done.
static inline bool fil_island_is_spent(const FilIslandTask *task) {
    return task->work->limit > 0.0 && task->work->done >= task->work->limit;
}

/// Tell the callback, one thread at a time; false when it asked to stop (now or before), or the
/// work that the solve may take is done.
bool fil_island_report(const FilIslandTask *task, const char *phase, int iteration, double scaled);

/// Whether somebody asked to stop, now or before: what factorisations ask (math/block_lu.h). `task`
/// is a FilIslandTask.
bool fil_island_wants_end(void *task);

/// The blocks of island k are member[start[k] .. start[k + 1] - 1], ascending.
typedef struct FilIslands {
    int count;
    const int *start, *member;
} FilIslands;

FilStatus fil_islands_find(const FilBlocks *W, FilArena *arena, FilIslands *out);

/// All blocks as one island, where the pattern of W is not known.
FilStatus fil_islands_whole(int n, FilArena *arena, FilIslands *out);

#endif
