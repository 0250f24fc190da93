// block_lu_tasks.c - which thread factors which part of the tree of supernodes.
//
// The tree is cut into subtrees that share nothing, and small ones are put together; each is a task
// for one thread. Of the fronts above the cut, small ones whose descendants are small are links: a
// link is factored by the thread that finishes the last of its children, while others still work on
// subtrees. (Minimum degree likes to make one long chain of them, with subtrees along it.) What is
// left follows one by one, every large front by all threads. Where to cut is decided by the model
// of a front's time, for four threads, whatever the number of threads will be: the tasks depend on
// the pattern alone.
//
// Memory. Links that follow each other form a path, and a path has one pair of stacks.
#include "block_lu_analysis.h"

#include "base/error.h"
#include "front.h"

// Times of the subtrees, and of the fronts alone.
typedef struct Times {
    double *front, *below; // by supernode; `below` with all its descendants
    double *path;          // the longest way up to and with it, from where the tree is cut
    bool *large;           // by all threads
    double total;
} Times;

static FilStatus estimate_times(const Analysis *a, const FilBlockLu *lu, Times *out) {
    const int count = lu->supernode_count;
    Times times = {.front = FIL_NEW(a->scratch, double, count),
                   .below = FIL_NEW_ZEROED(a->scratch, double, count),
                   .path = FIL_NEW(a->scratch, double, count),
                   .large = FIL_NEW(a->scratch, bool, count)};
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int t = 0; t < count; t++) {
        const int s = a->final_node[t], p = lu->node[t].parent;
        times.front[t] = fil_front_time(a->k[s], a->u[s]);
        times.large[t] = fil_front_is_large(&(FilFront){.k = a->k[s], .u = a->u[s]});
        times.below[t] += times.front[t];
        times.total += times.front[t];
        if (p >= 0) {
            times.below[p] += times.below[t];
        }
    }
    *out = times;
    return FIL_OK;
}

// What a supernode is when subtrees of at most `largest` are cut off.
typedef enum Part { PART_INSIDE, PART_SUBTREE, PART_LINK, PART_REST } Part;

// Children must be known: `part` is by supernode.
static Part find_part(const FilBlockLu *lu, const Times *times, int t, double largest,
                      const uint8_t *part) {
    const int p = lu->node[t].parent;
    if (times->below[t] <= largest) {
        return p < 0 || times->below[p] > largest ? PART_SUBTREE : PART_INSIDE;
    }
    bool free = lu->node[t].first_child != -1 && !times->large[t];
    for (int c = lu->node[t].first_child; c != -1; c = lu->node[c].next_sibling) {
        free = free && part[c] != PART_REST;
    }
    return free ? PART_LINK : PART_REST;
}

// The time on four threads when subtrees of at most `largest` are handed out; large fronts (see
// front.c) of the rest gain from the threads as well. Writes `part`.
static double time_of_cut(const FilBlockLu *lu, const Times *times, double largest, uint8_t *part) {
    double rest = 0.0, work = 0.0, longest = 0.0;
    for (int t = 0; t < lu->supernode_count; t++) {
        part[t] = (uint8_t)find_part(lu, times, t, largest, part);
        const double front = times->front[t];
        double path = 0.0;
        for (int c = lu->node[t].first_child; c != -1; c = lu->node[c].next_sibling) {
            path = times->path[c] > path ? times->path[c] : path;
        }
        if (part[t] == PART_REST) {
            rest += times->large[t] ? front / 3.0 : front;
        } else {
            work += front;
            path = part[t] == PART_LINK ? path + front : times->below[t];
            longest = path > longest ? path : longest;
        }
        times->path[t] = path;
    }
    return rest + (work / 4.0 > longest ? work / 4.0 : longest);
}

static double choose_cut(const FilBlockLu *lu, const Times *times, uint8_t *part) {
    const double worth = 5e5; // below this, 0.5 ms, threads cost more than they bring
    double best = times->total, shortest = time_of_cut(lu, times, times->total, part);
    double largest = times->total;
    for (int k = 0; k < 7 && times->total > worth; k++) {
        largest *= 0.5;
        const double time = time_of_cut(lu, times, largest, part);
        if (time < shortest) {
            shortest = time;
            best = largest;
        }
    }
    return times->total > worth ? best : 2.0 * times->total;
}

// Give the task after which most is still to be done number 0, and so on: then the last to end end
// about together. `ahead` is the time of a task and of the way up from it.
static FilStatus sort_tasks(const Analysis *a, FilBlockLu *lu, double *ahead) {
    int *rank = FIL_NEW(a->scratch, int, lu->leaf_count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int r = 0; r < lu->leaf_count; r++) {
        int longest = 0;
        for (int i = 1; i < lu->leaf_count; i++) {
            longest = ahead[i] > ahead[longest] ? i : longest;
        }
        rank[longest] = r;
        ahead[longest] = -1.0;
    }
    for (int t = 0; t < lu->supernode_count; t++) {
        Supernode *node = &lu->node[t];
        node->task = node->task >= 0 ? rank[node->task] : -1;
    }
    return FIL_OK;
}

// Whole subtrees become tasks, small ones together; all else has task -1. `up` is the time of the
// way from a supernode to the root, without its own.
static FilStatus gather_subtrees(const Analysis *a, FilBlockLu *lu, const Times *times,
                                 double together, const uint8_t *part) {
    double *time = FIL_NEW(a->scratch, double, lu->supernode_count);
    double *ahead = FIL_NEW(a->scratch, double, lu->supernode_count);
    double *up = FIL_NEW(a->scratch, double, lu->supernode_count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int t = lu->supernode_count - 1; t >= 0; t--) {
        const int p = lu->node[t].parent;
        up[t] = p >= 0 ? up[p] + times->front[p] : 0.0;
    }
    int task = -1;
    for (int t = 0; t < lu->supernode_count; t++) {
        lu->node[t].task = -1;
        if (part[t] != PART_SUBTREE) {
            continue;
        }
        if (task < 0 || time[task] + times->below[t] > together) {
            task++;
            time[task] = ahead[task] = 0.0;
        }
        time[task] += times->below[t];
        ahead[task] = up[t] > ahead[task] ? up[t] : ahead[task];
        lu->node[t].task = task;
    }
    for (int t = lu->supernode_count - 1; t >= 0; t--) {
        const int p = lu->node[t].parent;
        if (part[t] == PART_INSIDE) {
            lu->node[t].task = lu->node[p].task;
        }
    }
    for (int i = 0; i <= task; i++) {
        ahead[i] += time[i];
    }
    lu->leaf_count = task + 1;
    return sort_tasks(a, lu, ahead);
}

// A link continues the path of the first child that is a link, or begins one.
static void gather_paths(FilBlockLu *lu, const uint8_t *part) {
    lu->task_count = lu->leaf_count;
    for (int t = 0; t < lu->supernode_count; t++) {
        if (part[t] != PART_LINK) {
            continue;
        }
        int c = lu->node[t].first_child;
        while (c != -1 && part[c] != PART_LINK) {
            c = lu->node[c].next_sibling;
        }
        lu->node[t].task = c != -1 ? lu->node[c].task : lu->task_count++;
    }
}

static FilStatus cut_into_tasks(Analysis *a, FilBlockLu *lu) {
    Times times = {0};
    FIL_TRY(estimate_times(a, lu, &times));
    uint8_t *part = FIL_NEW(a->scratch, uint8_t, lu->supernode_count);
    if (a->scratch->failed) {
        return FIL_E_NO_MEMORY;
    }
    const double largest = choose_cut(lu, &times, part);
    (void)time_of_cut(lu, &times, largest, part);
    FIL_TRY(
        gather_subtrees(a, lu, &times, largest > times.total ? largest : times.total / 64.0, part));
    gather_paths(lu, part);
    return FIL_OK;
}

static FilStatus list_tasks(FilBlockLu *lu, FilArena *arena) {
    lu->task_begin = FIL_NEW_ZEROED(arena, int, lu->task_count + 3);
    lu->task_node = FIL_NEW(arena, int, lu->supernode_count);
    lu->waits_for = FIL_NEW(arena, _Atomic int, lu->supernode_count);
    lu->next_ready = FIL_NEW(arena, int, lu->supernode_count);
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
