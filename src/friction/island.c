// island.c - independent parts of a problem.
//
// Blocks that W couples, directly or through others, form an island; union-find with path halving
// over the pattern of W finds them in nearly linear time. Islands are numbered by their first
// block, so that the order does not depend on anything but the problem.
#include "island.h"

#include <math.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/union_find.h"

static const double STEEP_PART = 0.1;

bool fil_island_is_solved(const FilSystem *s, const FilIslandTask *task, const double *u,
                          const double *r, double *scaled) {
    const double residual =
        fmax(sqrt(fil_system_square(s, FIL_MEASURE_SCALED, u, r, task->threads)),
             STEEP_PART * sqrt(fil_system_square(s, FIL_MEASURE_STEEP, u, r, task->threads)));
    if (scaled != NULL) {
        *scaled = residual;
    }
    return residual <= task->scaled &&
           (isinf(task->natural) ||
            sqrt(fil_system_square(s, FIL_MEASURE_NATURAL, u, r, task->threads)) <= task->natural);
}

typedef struct Report {
    const FilIslandTask *task;
    FilFrictionProgress progress;
} Report;

static void tell_callback(void *context) {
    const Report *report = context;
    const FilFrictionSettings *settings = report->task->settings;
    if (!*report->task->stop && !settings->on_iteration(settings->user, &report->progress)) {
        *report->task->stop = true;
    }
}

bool fil_island_report(const FilIslandTask *task, const char *phase, int iteration, double scaled) {
    if (task->settings->on_iteration != NULL && !*task->stop) {
        Report report = {task, {iteration, scaled / task->unit, phase}};
        fil_one_at_a_time(tell_callback, &report);
    }
    return !*task->stop && !fil_island_is_spent(task);
}

static void ask_callback(void *context) {
    const FilIslandTask *task = context;
    if (!*task->stop && task->settings->stop(task->settings->user)) {
        *task->stop = true;
    }
}

bool fil_island_wants_end(void *task) {
    const FilIslandTask *x = task;
    if (x->settings->stop != NULL && !*x->stop) {
        fil_one_at_a_time(ask_callback, task);
    }
    return *x->stop;
}

FilStatus fil_islands_find(const FilBlocks *W, FilArena *arena, FilIslands *out) {
    const int n = W->n;
    int *parent = FIL_NEW(arena, int, n);
    int *number = FIL_NEW(arena, int, n);
    int *member = FIL_NEW(arena, int, n);
    int *start = FIL_NEW_ZEROED(arena, int, n + 1);
    if (parent == NULL || number == NULL || member == NULL || start == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
    for (int i = 0; i < n; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            fil_union_join(parent, i, W->column[k]);
        }
    }
    int count = 0;
    for (int i = 0; i < n; i++) {
        const int root = fil_union_root(parent, i); // the smallest block, so numbered before i
        number[i] = root == i ? count++ : number[root];
        start[number[i] + 1]++;
    }
    for (int k = 0; k < count; k++) {
        start[k + 1] += start[k];
    }
    int *fill = parent; // no longer needed
    for (int k = 0; k < count; k++) {
        fill[k] = start[k];
    }
    for (int i = 0; i < n; i++) {
        member[fill[number[i]]++] = i;
    }
    *out = (FilIslands){.count = count, .start = start, .member = member};
    return FIL_OK;
}

FilStatus fil_islands_whole(int n, FilArena *arena, FilIslands *out) {
    int *member = FIL_NEW(arena, int, n);
    int *start = FIL_NEW(arena, int, 2);
    if (member == NULL || start == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        member[i] = i;
    }
    start[0] = 0;
    start[1] = n;
    *out = (FilIslands){.count = n > 0 ? 1 : 0, .start = start, .member = member};
    return FIL_OK;
}
