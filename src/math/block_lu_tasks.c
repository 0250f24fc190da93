// block_lu_tasks.c - which thread factors which part of the tree of supernodes.
//
// The tree is cut into subtrees that share nothing, and small ones are put together; each is a task
// for one thread. The fronts above the cut follow one by one, every large one by all threads. Where
// to cut is decided by the model of a front's time, for four threads, whatever the number of
// threads will be: the tasks, and with them the bits, depend on the pattern alone.
#include "block_lu_analysis.h"

#include "base/error.h"

// Times of the subtrees, and of the fronts alone.
typedef struct Times {
    double *front, *below; // by supernode; `below` with all its descendants
    double total;
} Times;

static FilStatus estimate_times(const Analysis *a, const FilBlockLu *lu, Times *out) {
    const int count = lu->supernode_count;
    Times times = {.front = FIL_NEW(a->scratch, double, count),
                   .below = FIL_NEW_ZEROED(a->scratch, double, count)};
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int t = 0; t < count; t++) {
        const int s = a->final_node[t], p = lu->node[t].parent;
        times.front[t] = fil_front_time(a->k[s], a->u[s]);
        times.below[t] += times.front[t];
        times.total += times.front[t];
        if (p >= 0) {
            times.below[p] += times.below[t];
        }
    }
    *out = times;
    return FIL_OK;
}

// Is t the root of one of the subtrees of at most `largest` that the tree is cut into?
static bool is_cut_off(const FilBlockLu *lu, const Times *times, int t, double largest) {
    const int p = lu->node[t].parent;
    return times->below[t] <= largest && (p < 0 || times->below[p] > largest);
}

// The time on four threads when subtrees of at most `largest` are handed out and the fronts above
// them follow one by one: those that are large enough (see front.c) gain from the threads as well.
static double time_of_cut(const FilBlockLu *lu, const Times *times, double largest) {
    double top = 0.0, subtrees = 0.0, longest = 0.0;
    for (int t = 0; t < lu->supernode_count; t++) {
        const double below = times->below[t], front = times->front[t];
        if (below > largest) {
            top += front > 1e6 ? front / 3.0 : front;
        } else if (is_cut_off(lu, times, t, largest)) {
            subtrees += below;
            longest = below > longest ? below : longest;
        }
    }
    return top + (subtrees / 4.0 > longest ? subtrees / 4.0 : longest);
}

static double choose_cut(const FilBlockLu *lu, const Times *times) {
    const double worth = 5e5; // below this, 0.5 ms, threads cost more than they bring
    double best = times->total, shortest = time_of_cut(lu, times, times->total);
    double largest = times->total;
    for (int k = 0; k < 7 && times->total > worth; k++) {
        largest *= 0.5;
        const double time = time_of_cut(lu, times, largest);
        if (time < shortest) {
            shortest = time;
            best = largest;
        }
    }
    return times->total > worth ? best : 2.0 * times->total;
}

// Give the longest task number 0, the next one 1, ...: then the last to end end about together.
static FilStatus sort_tasks(const Analysis *a, FilBlockLu *lu, double *time) {
    int *rank = FIL_NEW(a->scratch, int, lu->task_count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int r = 0; r < lu->task_count; r++) {
        int longest = 0;
        for (int i = 1; i < lu->task_count; i++) {
            longest = time[i] > time[longest] ? i : longest;
        }
        rank[longest] = r;
        time[longest] = -1.0;
    }
    for (int t = 0; t < lu->supernode_count; t++) {
        Supernode *node = &lu->node[t];
        node->task = node->task >= 0 ? rank[node->task] : -1;
    }
    return FIL_OK;
}

// Cut the tree into tasks that share nothing: whole subtrees, small ones together. What is above
// them has task -1. The cut depends on the pattern alone.
static FilStatus cut_into_tasks(Analysis *a, FilBlockLu *lu) {
    Times times = {0};
    FIL_TRY(estimate_times(a, lu, &times));
    double *time = FIL_NEW(a->scratch, double, lu->supernode_count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    const double largest = choose_cut(lu, &times);
    const double together = largest > times.total ? largest : times.total / 64.0;
    int task = -1;
    for (int t = 0; t < lu->supernode_count; t++) {
        lu->node[t].task = -1;
        if (is_cut_off(lu, &times, t, largest)) {
            if (task < 0 || time[task] + times.below[t] > together) {
                time[++task] = 0.0;
            }
            time[task] += times.below[t];
            lu->node[t].task = task;
        }
    }
    for (int t = lu->supernode_count - 1; t >= 0; t--) {
        const int p = lu->node[t].parent;
        if (p >= 0 && lu->node[p].task >= 0) {
            lu->node[t].task = lu->node[p].task;
        }
    }
    lu->task_count = task + 1;
    return sort_tasks(a, lu, time);
}

static FilStatus list_tasks(FilBlockLu *lu, FilArena *arena) {
    lu->task_begin = FIL_NEW_ZEROED(arena, int, lu->task_count + 3);
    lu->task_node = FIL_NEW(arena, int, lu->supernode_count);
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    const int rest = lu->task_count;
    for (int t = 0; t < lu->supernode_count; t++) {
        const int task = lu->node[t].task >= 0 ? lu->node[t].task : rest;
        lu->task_begin[task + 2]++;
    }
    for (int i = 0; i <= rest; i++) {
        lu->task_begin[i + 2] += lu->task_begin[i + 1];
    }
    for (int t = 0; t < lu->supernode_count; t++) {
        const int task = lu->node[t].task >= 0 ? lu->node[t].task : rest;
        lu->task_node[lu->task_begin[task + 1]++] = t;
    }
    return FIL_OK;
}

FilStatus fil_block_lu_cut(Analysis *a, FilBlockLu *lu, FilArena *arena) {
    FIL_TRY(cut_into_tasks(a, lu));
    return list_tasks(lu, arena);
}
