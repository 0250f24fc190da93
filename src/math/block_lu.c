// block_lu.c - numeric part of the block LU: layout, factorisation, solution.
//
// Multifrontal (Duff and Reid 1983), on the tree of supernodes that block_lu_symbolic.c finds. The
// front of a supernode with k pivots and u rows is
//
//     [ A11  A12 ]   k     A11 = P^-1 L11 U11,  U12 = L11^-1 P A12,  L21 = A21 U11^-1,
//     [ A21   C  ]   u     C - L21 U12 is handed to the parent, which adds it to its own front.
//
// A supernode stores k rows: row i is [ row i of L11\U11 | row i of U12 | column i of L21 ], the
// parts padded to multiples of 4. With L21 kept as its transpose, both triangular solves work on
// rows, L11 X = P A12 and U11^T X = A21^T, and both the factorisation and the forward solution read
// memory in order. P exchanges rows among the k pivots only. C lives in a second array until the
// parent has taken it.
//
// Memory of C. Supernodes are worked off children first, so a stack would do if a parent did not
// have to be written while its children are read: there are two stacks, for even and odd depth.
// Every task (a set of subtrees or a path, see block_lu_tasks.c) has a pair of its own.
//
// Threads. First the subtrees, each by one thread, and the links above them, each by the thread
// that finished the last of its children; then the fronts above those, one after the other, the
// large ones by all threads (front.c). Same bits for any number of threads: a front adds its
// children in a fixed order, and the kernels give the same bits however a product is cut. The
// solution goes up the tree in the same way; down, subtrees alone are shared out.
#include "block_lu_private.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "front.h"

enum {
    SLICE = 32,         // rows of a large front that one thread assembles at a time
    SOLVE_BLOCK = 1024, // pivots of a large front that one thread solves; a multiple of 4
    SOLVE_GRAIN = 16,   // rows of it that one thread takes at a time
};

// Of the largest entry of the diagonal block. The pivots of a singular W of 36 unknowns are noise
// of up to 3e-14 of it; with 1e-14 some of them passed as pivots.
#define PIVOT_FLOOR 1e-13

static ptrdiff_t panel_stride(const Supernode *s) {
    return (ptrdiff_t)s->k4 + 2 * (ptrdiff_t)s->u4;
}

// Places of the local blocks of a supernode, and its sizes.
static void place_blocks(FilBlockLu *lu, Supernode *s) {
    int *local = lu->local + s->local_begin;
    s->k = s->u = 0;
    for (int b = 0; b < s->pivot_blocks; b++) {
        const bool active = lu->active[s->first + b];
        local[b] = active ? s->k : -1;
        s->k += active ? lu->size[s->first + b] : 0;
    }
    s->k4 = fil_round4(s->k);
    for (int r = 0; r < s->row_blocks; r++) {
        const int p = lu->rows[s->row_begin + r];
        const bool active = lu->active[p];
        local[s->pivot_blocks + r] = active ? s->k4 + s->u : -1;
        s->u += active ? lu->size[p] : 0;
    }
    s->u4 = fil_round4(s->u);
}

// Join rows that are neighbours in the child, in the parent and in the new numbering.
static void find_runs(FilBlockLu *lu, Supernode *s) {
    const int *local = lu->local + s->local_begin + s->pivot_blocks;
    Run *run = lu->run + s->row_begin;
    s->run_count = s->pivot_run_count = 0;
    if (s->parent < 0) { // a root has no rows
        return;
    }
    const Supernode *parent = &lu->node[s->parent];
    for (int r = 0; r < s->row_blocks; r++) {
        if (local[r] < 0) {
            continue;
        }
        const int p = lu->rows[s->row_begin + r];
        const int in_parent = lu->row_parent[s->row_begin + r];
        const Run next = {.from = local[r] - s->k4,
                          .to = lu->local[parent->local_begin + in_parent],
                          .length = lu->size[p],
                          .unknown = lu->unknown[p]};
        const bool on_pivot = in_parent < parent->pivot_blocks;
        Run *last = s->run_count > 0 ? &run[s->run_count - 1] : NULL;
        const bool same_side = last != NULL && (s->pivot_run_count == s->run_count) == on_pivot;
        if (same_side && last->to + last->length == next.to &&
            last->unknown + last->length == next.unknown) {
            last->length += next.length;
            continue;
        }
        run[s->run_count++] = next;
        s->pivot_run_count += on_pivot;
    }
}

// Doubles that a supernode leaves to its parent: an update matrix, or in a solve one row (`rows`
// 1).
static ptrdiff_t left_behind(const Supernode *s, int rows) {
    return (ptrdiff_t)(rows < s->u ? rows : s->u) * s->u4;
}

// Doubles that the children of a supernode hold on the stacks of its task.
static ptrdiff_t held_by_children(const FilBlockLu *lu, const Supernode *s, int rows) {
    ptrdiff_t held = 0;
    for (int c = s->first_child; c != -1; c = lu->node[c].next_sibling) {
        const Supernode *child = &lu->node[c];
        held += child->task == s->task ? left_behind(child, rows) : 0;
    }
    return held;
}

static ptrdiff_t *place_of(Supernode *s, int rows) {
    return rows == 1 ? &s->carry : &s->contribution;
}

// Stack positions of what is left to parents, at most `rows` rows each: for each task a pair of
// stacks, one behind the other. Returns their size.
static ptrdiff_t place_on_stacks(FilBlockLu *lu, int rows) {
    ptrdiff_t base = 0;
    for (int task = 0; task <= lu->task_count; task++) {
        ptrdiff_t top[2] = {0, 0}, high[2] = {0, 0};
        const int begin = lu->task_begin[task], end = lu->task_begin[task + 1];
        for (int i = begin; i < end; i++) {
            Supernode *s = &lu->node[lu->task_node[i]];
            const int own = s->parity;
            *place_of(s, rows) = top[own];
            top[own] += left_behind(s, rows);
            high[own] = top[own] > high[own] ? top[own] : high[own];
            top[1 - own] -= held_by_children(lu, s, rows);
        }
        for (int i = begin; i < end; i++) {
            Supernode *s = &lu->node[lu->task_node[i]];
            *place_of(s, rows) += base + (s->parity == 1 ? high[0] : 0);
        }
        base += high[0] + high[1];
    }
    return base;
}

static void add_to_info(FilBlockLuInfo *info, const Supernode *s) {
    const double k = s->k, u = s->u;
    info->nonzeros += (int64_t)(k * (k + 2.0 * u));
    info->flops += (int64_t)fil_front_flops(k, u);
    if (info->largest_pivot < s->k) {
        info->largest_pivot = s->k;
    }
    if (info->largest_front < s->k + s->u) {
        info->largest_front = s->k + s->u;
    }
}

void fil_block_lu_lay_out(FilBlockLu *lu) {
    int unknown = 0;
    for (int p = 0; p < lu->n; p++) {
        lu->unknown[p] = unknown;
        unknown += lu->active[p] ? lu->size[p] : 0;
    }
    lu->active_unknowns = unknown;
    lu->info = (FilBlockLuInfo){.supernode_count = lu->supernode_count};
    ptrdiff_t panel = 0;
    for (int t = lu->supernode_count - 1; t >= 0; t--) { // parents first: runs need their places
        Supernode *s = &lu->node[t];
        place_blocks(lu, s);
        find_runs(lu, s);
        s->unknown = lu->unknown[s->first];
        add_to_info(&lu->info, s);
    }
    for (int t = 0; t < lu->supernode_count; t++) {
        Supernode *s = &lu->node[t];
        s->panel = panel;
        panel += s->k * panel_stride(s);
    }
    lu->panel_size = panel;
    lu->contribution_size = place_on_stacks(lu, INT_MAX);
    lu->carry_size = place_on_stacks(lu, 1);
    lu->info.bytes =
        (int64_t)sizeof(double) * (lu->panel_size + lu->contribution_size + lu->carry_size);
}

FilBlockLuInfo fil_block_lu_info(const FilBlockLu *lu) {
    return lu->info;
}

FilStatus fil_block_lu_reserve(FilBlockLu *lu, FilArena *arena) {
    FIL_ASSERT(lu->active_unknowns == lu->unknowns);
    const FilArenaMark mark = fil_arena_mark(arena);
    const size_t m = (size_t)lu->unknowns;
    lu->panel = FIL_NEW(arena, double, lu->panel_size);
    lu->contribution = FIL_NEW(arena, double, lu->contribution_size);
    lu->carry = FIL_NEW(arena, double, lu->carry_size);
    lu->floor = FIL_NEW(arena, double, m);
    lu->inverse = FIL_NEW(arena, double, m);
    lu->pivot = FIL_NEW(arena, int, m);
    lu->x = FIL_NEW(arena, double, m);
    lu->replaced = FIL_NEW(arena, int, lu->supernode_count);
    if (arena->failed) {
        fil_arena_release(arena, mark);
        return FIL_E_NO_MEMORY;
    }
    lu->reserved = true;
    return FIL_OK;
}

void fil_block_lu_set_threads(FilBlockLu *lu, int threads) {
    lu->threads = fil_thread_count(threads);
}

void fil_block_lu_set_active(FilBlockLu *lu, const bool *active) {
    for (int p = 0; p < lu->n; p++) {
        lu->active[p] = active == NULL || active[lu->order[p]];
    }
    fil_block_lu_lay_out(lu);
}

// One block of W to its place: element (i, j) to to[i * down + j * right].
static inline void put_block(double *restrict to, const double *restrict from, int height,
                             int width, ptrdiff_t down, ptrdiff_t right) {
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < width; j++) {
            to[i * down + j * right] = from[i * width + j];
        }
    }
}

// Put the blocks of W that belong to a supernode into its panel, which is zero.
static void scatter_values(const FilBlockLu *lu, const Supernode *s, const double *value) {
    const int *local = lu->local + s->local_begin;
    double *panel = lu->panel + s->panel;
    const ptrdiff_t stride = panel_stride(s);
    for (int e = s->entry_begin; e < s->entry_end; e++) {
        const Entry *entry = &lu->entry[e];
        const int row = local[entry->row], column = local[entry->column];
        if (row < 0 || column < 0) {
            continue;
        }
        const double *from = value + entry->source;
        const bool three = entry->height == 3 && entry->width == 3; // known sizes are unrolled
        if (entry->row < s->pivot_blocks) {
            double *to = panel + row * stride + column;
            if (three) {
                put_block(to, from, 3, 3, stride, 1);
            } else {
                put_block(to, from, entry->height, entry->width, stride, 1);
            }
        } else { // a block of A21, kept as its transpose
            double *to = panel + column * stride + row + s->u4;
            if (three) {
                put_block(to, from, 3, 3, 1, stride);
            } else {
                put_block(to, from, entry->height, entry->width, 1, stride);
            }
        }
    }
}

static double largest_entry(const double *at, ptrdiff_t stride, int rows, ptrdiff_t columns) {
    double largest = 0.0;
    for (int i = 0; i < rows; i++) {
        for (ptrdiff_t j = 0; j < columns; j++) {
            const double size = fabs(at[i * stride + j]);
            largest = size > largest ? size : largest;
        }
    }
    return largest;
}

static void add_square(double *to, ptrdiff_t stride, const double *from, int d) {
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            to[i * stride + j] += from[i * d + j];
        }
    }
}

// Add D and set the floors of the pivots: relative to the diagonal block, or, when that is zero, to
// the rest of its rows; 1 for a block that is zero altogether.
static void add_diagonal(const FilBlockLu *lu, const Supernode *s, const double *diagonal) {
    const int *local = lu->local + s->local_begin;
    const ptrdiff_t stride = panel_stride(s);
    for (int b = 0; b < s->pivot_blocks; b++) {
        if (local[b] < 0) {
            continue;
        }
        const int d = lu->size[s->first + b];
        double *row = lu->panel + s->panel + local[b] * stride;
        double *at = row + local[b];
        if (diagonal != NULL) {
            add_square(at, stride, diagonal + lu->square[s->first + b], d);
        }
        double scale = largest_entry(at, stride, d, d);
        scale = scale > 0.0 ? scale : largest_entry(row, stride, d, stride);
        scale = scale > 0.0 ? scale : 1.0;
        const double least = 1e-290; // whose inverse does not overflow
        const double floor = PIVOT_FLOOR * scale > least ? PIVOT_FLOOR * scale : least;
        for (int i = 0; i < d; i++) {
            lu->floor[s->unknown + local[b] + i] = floor;
        }
    }
}

static inline void add_run(const Run *run, double *restrict to, const double *restrict from) {
    for (int i = 0; i < run->length; i++) {
        to[i] += from[i];
    }
}

// Some of the runs of a child; their places in the parent are counted from `origin`.
typedef struct Part {
    int first, end, origin;
} Part;

// Rows of `run` of a child's contribution, the columns in `part`, to rows of the parent.
static inline void add_rows(const FilBlockLu *lu, const Supernode *child, const Run *run, Part part,
                            FilPanel to) {
    const Run *all = lu->run + child->row_begin;
    const double *row = lu->contribution + child->contribution + (ptrdiff_t)run->from * child->u4;
    for (int i = 0; i < run->length; i++) {
        for (int b = part.first; b < part.end; b++) {
            add_run(&all[b], to.at + (all[b].to - part.origin), row + all[b].from);
        }
        to.at += to.stride;
        row += child->u4;
    }
}

// Columns of `run` of a child's contribution, the rows in `part`, to rows of the parent.
static inline void add_columns(const FilBlockLu *lu, const Supernode *child, const Run *run,
                               Part part, FilPanel to) {
    const Run *all = lu->run + child->row_begin;
    const ptrdiff_t stride = child->u4;
    for (int j = 0; j < run->length; j++) {
        const double *column = lu->contribution + child->contribution + run->from + j;
        for (int a = part.first; a < part.end; a++) {
            double *at = to.at + (all[a].to - part.origin);
            for (int i = 0; i < all[a].length; i++) {
                at[i] += column[(all[a].from + i) * stride];
            }
        }
        to.at += to.stride;
    }
}

// Rows of a front, the k pivots counted before the others.
typedef struct Rows {
    int first, end;
} Rows;

// The part of `run` that falls on `rows`; `shift` leads from places in the front to rows.
static inline Run cut_run(Run run, Rows rows, int shift) {
    const int low = rows.first - (run.to + shift), high = rows.end - (run.to + shift);
    const int skip = low > 0 ? low : 0, end = high < run.length ? high : run.length;
    run.from += skip;
    run.to += skip;
    run.length = end - skip; // not positive: none
    return run;
}

// Add the contribution of a child to rows of the front of its parent.
static void add_child(const FilBlockLu *lu, const Supernode *s, const Supernode *child, Rows part) {
    const Run *run = lu->run + child->row_begin;
    double *panel = lu->panel + s->panel;
    double *rest = lu->contribution + s->contribution;
    const ptrdiff_t stride = panel_stride(s);
    const int pivots = child->pivot_run_count, count = child->run_count;
    const Part all = {0, count, 0}, rows = {pivots, count, s->k4};
    for (int a = 0; a < pivots; a++) { // to A11 and A12, and to A21, which is kept transposed
        const Run cut = cut_run(run[a], part, 0);
        double *to = panel + cut.to * stride;
        if (cut.length > 0) {
            add_rows(lu, child, &cut, all, (FilPanel){to, stride});
            add_columns(lu, child, &cut, rows, (FilPanel){to + s->k4 + s->u4, stride});
        }
    }
    for (int a = pivots; a < count; a++) { // to its own contribution
        const Run cut = cut_run(run[a], part, s->k - s->k4);
        double *to = rest + (ptrdiff_t)(cut.to - s->k4) * s->u4;
        if (cut.length > 0) {
            add_rows(lu, child, &cut, rows, (FilPanel){to, s->u4});
        }
    }
}

static void assemble(const FilBlockLu *lu, const Supernode *s, const double *value,
                     const double *diagonal) {
    memset(lu->panel + s->panel, 0, (size_t)(s->k * panel_stride(s)) * sizeof(double));
    memset(lu->contribution + s->contribution, 0, (size_t)s->u * (size_t)s->u4 * sizeof(double));
    scatter_values(lu, s, value);
    add_diagonal(lu, s, diagonal);
    for (int c = s->first_child; c != -1; c = lu->node[c].next_sibling) {
        add_child(lu, s, &lu->node[c], (Rows){0, s->k + s->u});
    }
}

static FilFront front_of(FilBlockLu *lu, const Supernode *s) {
    return (FilFront){.kernels = lu->kernels,
                      .k = s->k,
                      .k4 = s->k4,
                      .u = s->u,
                      .u4 = s->u4,
                      .panel = {lu->panel + s->panel, panel_stride(s)},
                      .rest = {lu->contribution + s->contribution, s->u4},
                      .floor = lu->floor + s->unknown,
                      .pivot = lu->pivot + s->unknown,
                      .inverse = lu->inverse + s->unknown,
                      .halt = &lu->halt};
}

// --- up the tree ---------------------------------------------------------------------------------

typedef struct Climb {
    const FilBlockLu *lu;
    void (*body)(void *context, int t); // for supernode t, whose children are done
    void *context;
} Climb;

// Supernode t is done: if its parent is a link that waited for nothing else it joins `ready`, a
// list of links that may begin. Returns the list.
static int tell_parent(const FilBlockLu *lu, int t, int ready) {
    const int p = lu->node[t].parent;
    if (p < 0 || lu->node[p].task < lu->leaf_count || atomic_fetch_sub(&lu->waits_for[p], 1) > 1) {
        return ready;
    }
    lu->next_ready[p] = ready;
    return p;
}

static void climb_from(void *context, int task) {
    const Climb *climb = context;
    const FilBlockLu *lu = climb->lu;
    int ready = -1;
    for (int i = lu->task_begin[task]; i < lu->task_begin[task + 1]; i++) {
        climb->body(climb->context, lu->task_node[i]);
    }
    for (int i = lu->task_begin[task]; i < lu->task_begin[task + 1]; i++) {
        ready = tell_parent(lu, lu->task_node[i], ready);
    }
    while (ready != -1) {
        const int t = ready;
        ready = lu->next_ready[t];
        climb->body(climb->context, t);
        ready = tell_parent(lu, t, ready);
    }
}

// Subtrees and links.
static void climb_tasks(const FilBlockLu *lu, int threads, void (*body)(void *context, int t),
                        void *context) {
    Climb climb = {.lu = lu, .body = body, .context = context};
    for (int i = lu->task_begin[lu->leaf_count]; i < lu->task_begin[lu->task_count]; i++) {
        int children = 0;
        const int t = lu->task_node[i];
        for (int c = lu->node[t].first_child; c != -1; c = lu->node[c].next_sibling) {
            children++;
        }
        atomic_init(&lu->waits_for[t], children);
    }
    fil_parallel_for(lu->leaf_count, threads, climb_from, &climb);
}

static const double HUGE_FRONT = 4e8; // operations: by blocks, so that it can be stopped

typedef struct FactorJob {
    FilBlockLu *lu;
    const Supernode *node;
    const double *value, *diagonal;
} FactorJob;

static void factor_one(void *context, int t) {
    const FactorJob *job = context;
    FilBlockLu *lu = job->lu;
    const Supernode *s = &lu->node[t];
    const FilFront front = front_of(lu, s);
    const double flops = fil_front_flops(s->k, s->u);
    lu->replaced[t] = 0;
    if (fil_halts(&lu->halt, flops)) {
        return;
    }
    assemble(lu, s, job->value, job->diagonal);
    lu->replaced[t] =
        flops > HUGE_FRONT ? fil_front_factor_parallel(&front, 1) : fil_front_factor(&front);
}

// Rows first .. last - 1 of a front, the pivots counted before the others.
static void clear_rows(void *context, int first, int last) {
    const FactorJob *job = context;
    const FilBlockLu *lu = job->lu;
    const Supernode *s = job->node;
    const ptrdiff_t stride = panel_stride(s);
    const int pivots = last < s->k ? last : s->k, others = first > s->k ? first : s->k;
    if (first < pivots) {
        memset(lu->panel + s->panel + first * stride, 0,
               (size_t)((pivots - first) * stride) * sizeof(double));
    }
    if (others < last) {
        memset(lu->contribution + s->contribution + (ptrdiff_t)(others - s->k) * s->u4, 0,
               (size_t)(last - others) * (size_t)s->u4 * sizeof(double));
    }
}

static void add_children(void *context, int item) {
    const FactorJob *job = context;
    const FilBlockLu *lu = job->lu;
    const Supernode *s = job->node;
    const int first = item * SLICE, end = s->k + s->u;
    const Rows rows = {first, first + SLICE < end ? first + SLICE : end};
    for (int c = s->first_child; c != -1; c = lu->node[c].next_sibling) {
        add_child(lu, s, &lu->node[c], rows);
    }
}

// A large front above the tasks, by all threads.
static void factor_by_all(FactorJob *job, int t) {
    FilBlockLu *lu = job->lu;
    const Supernode *s = job->node = &lu->node[t];
    const FilFront front = front_of(lu, s);
    const int rows = s->k + s->u;
    fil_parallel_ranges(rows, SLICE, lu->threads, clear_rows, job);
    scatter_values(lu, s, job->value);
    add_diagonal(lu, s, job->diagonal);
    if (s->first_child != -1) {
        fil_parallel_for((rows - 1) / SLICE + 1, lu->threads, add_children, job);
    }
    lu->replaced[t] = fil_front_factor_parallel(&front, lu->threads);
}

// What is above the tasks, one front after the other.
static void factor_top(FactorJob *job) {
    FilBlockLu *lu = job->lu;
    for (int i = lu->task_begin[lu->task_count]; i < lu->supernode_count; i++) {
        const int t = lu->task_node[i];
        const FilFront front = front_of(lu, &lu->node[t]);
        if (lu->threads > 1 && fil_front_is_large(&front)) {
            factor_by_all(job, t);
        } else {
            factor_one(job, t);
        }
    }
}

int fil_block_lu_factor(FilBlockLu *lu, const double *value, const double *diagonal) {
    FIL_ASSERT(lu->reserved);
    FactorJob job = {.lu = lu, .value = value, .diagonal = diagonal};
    lu->halt.stopped = false;
    climb_tasks(lu, lu->threads, factor_one, &job);
    factor_top(&job);
    int replaced = 0;
    for (int t = 0; t < lu->supernode_count; t++) {
        replaced += lu->replaced[t];
    }
    return replaced;
}

// --- solution ------------------------------------------------------------------------------------
// What a supernode takes off its rows is carried up to its parent, as C is in the factorisation and
// on stacks of the same kind: so subtrees share nothing here either.

static double *carry_of(const FilBlockLu *lu, const Supernode *s) {
    return lu->carry + s->carry;
}

// What the children carry, to the pivots and to what the supernode itself carries on.
static void take_carries(const FilBlockLu *lu, const Supernode *s) {
    double *x = lu->x + s->unknown;
    double *carry = carry_of(lu, s);
    if (s->u > 0) {
        memset(carry, 0, (size_t)s->u4 * sizeof *carry);
    }
    for (int c = s->first_child; c != -1; c = lu->node[c].next_sibling) {
        const Supernode *child = &lu->node[c];
        const double *from = carry_of(lu, child);
        const Run *run = lu->run + child->row_begin;
        for (int r = 0; r < child->run_count; r++) {
            double *to = r < child->pivot_run_count ? x + run[r].to : carry + (run[r].to - s->k4);
            add_run(&run[r], to, from + run[r].from);
        }
    }
}

typedef struct SolveJob {
    const FilBlockLu *lu;
    const Supernode *node;
    int begin; // of a block of pivots
} SolveJob;

// Rows are independent of each other, so one thread takes them all at once.
static void for_rows(int count, int threads, void (*body)(void *context, int first, int last),
                     SolveJob *job) {
    if (threads > 1) {
        fil_parallel_ranges(count, SOLVE_GRAIN, threads, body, job);
    } else if (count > 0) {
        body(job, 0, count);
    }
}

// sum row[j] x[j] over j in begin .. end - 1;
static double dot_part(const FilBlockLu *lu, const double *row, const double *x, int begin,
                       int end) {
    const int whole = begin + ((end - begin) & ~3);
    double sum = lu->kernels->dot(whole - begin, row + begin, x + begin);
    for (int j = whole; j < end; j++) {
        sum += row[j] * x[j];
    }
    return sum;
}

// Pivots first .. last - 1 after `begin` lose the products of all pivots before `begin`.
static void lower_rows(void *context, int first, int last) {
    const SolveJob *job = context;
    const Supernode *s = job->node;
    const ptrdiff_t stride = panel_stride(s);
    double *x = job->lu->x + s->unknown;
    for (int i = job->begin + first; i < job->begin + last; i++) {
        const double *row = job->lu->panel + s->panel + i * stride;
        x[i] -= job->lu->kernels->dot(job->begin, row, x);
    }
}

// The carried rows 4 first .. 4 last - 1 lose L21 x1.
static void carry_rows(void *context, int first, int last) {
    const SolveJob *job = context;
    const Supernode *s = job->node;
    const ptrdiff_t stride = panel_stride(s);
    double *panel = job->lu->panel + s->panel + s->k4 + s->u4;
    job->lu->kernels->subtract_product((const int[3]){1, 4 * (last - first), s->k},
                                       (FilCoefficients){job->lu->x + s->unknown, 0, 1},
                                       (FilPanel){panel + (ptrdiff_t)4 * first, stride},
                                       (FilPanel){carry_of(job->lu, s) + (ptrdiff_t)4 * first, 0});
}

// x1 := L11^-1 P x1, then the rows of the supernode lose L21 x1.
static void solve_forward(const FilBlockLu *lu, const Supernode *s, int threads) {
    SolveJob job = {.lu = lu, .node = s};
    const ptrdiff_t stride = panel_stride(s);
    double *x = lu->x + s->unknown;
    take_carries(lu, s);
    for (int i = 0; i < s->k; i++) {
        const int other = lu->pivot[s->unknown + i];
        const double swap = x[i];
        x[i] = x[other];
        x[other] = swap;
    }
    for (int begin = 0; begin < s->k; begin += SOLVE_BLOCK) {
        const int end = s->k - begin < SOLVE_BLOCK ? s->k : begin + SOLVE_BLOCK;
        job.begin = begin;
        if (begin > 0) {
            for_rows(end - begin, threads, lower_rows, &job);
        }
        for (int i = begin + 1; i < end; i++) {
            x[i] -= dot_part(lu, lu->panel + s->panel + i * stride, x, begin, i);
        }
    }
    if (s->u > 0) {
        for_rows(s->u4 / 4, threads, carry_rows, &job);
    }
}

// Pivots first .. last - 1 lose U12 x2.
static void upper_rows(void *context, int first, int last) {
    const SolveJob *job = context;
    const Supernode *s = job->node;
    const double *rows = carry_of(job->lu, s);
    for (int i = first; i < last; i++) {
        const double *row = job->lu->panel + s->panel + i * panel_stride(s) + s->k4;
        job->lu->x[s->unknown + i] -= job->lu->kernels->dot(s->u4, row, rows);
    }
}

// Pivots first .. last - 1 lose the products of the block that begins at `begin`.
static void block_rows(void *context, int first, int last) {
    const SolveJob *job = context;
    const Supernode *s = job->node;
    const int end = s->k - job->begin < SOLVE_BLOCK ? s->k : job->begin + SOLVE_BLOCK;
    double *x = job->lu->x + s->unknown;
    for (int i = first; i < last; i++) {
        const double *row = job->lu->panel + s->panel + i * panel_stride(s);
        x[i] -= dot_part(job->lu, row, x, job->begin, end);
    }
}

// x2, the rows of the supernode, from the supernodes above it.
static void gather_rows(const FilBlockLu *lu, const Supernode *s) {
    double *rows = carry_of(lu, s);
    const Run *run = lu->run + s->row_begin;
    for (int i = s->u; i < s->u4; i++) {
        rows[i] = 0.0;
    }
    for (int r = 0; r < s->run_count; r++) {
        memcpy(rows + run[r].from, lu->x + run[r].unknown, (size_t)run[r].length * sizeof *rows);
    }
}

// x1 := U11^-1 (x1 - U12 x2). One thread takes the rows of U12 and U11 of the last block, for most
// supernodes the only one, together as they lie in memory.
static void solve_backward(const FilBlockLu *lu, const Supernode *s, int threads) {
    SolveJob job = {.lu = lu, .node = s};
    double *x = lu->x + s->unknown;
    const int last_block = s->k > 0 ? (s->k - 1) / SOLVE_BLOCK * SOLVE_BLOCK : 0;
    const int apart = threads > 1 ? s->k : last_block; // rows of U12 that are taken first
    gather_rows(lu, s);
    if (s->u > 0) {
        for_rows(apart, threads, upper_rows, &job);
    }
    for (int begin = last_block; begin >= 0; begin -= SOLVE_BLOCK) {
        const int end = begin == last_block ? s->k : begin + SOLVE_BLOCK;
        for (int i = end - 1; i >= begin; i--) {
            const double *row = lu->panel + s->panel + i * panel_stride(s);
            if (i >= apart) {
                upper_rows(&job, i, i + 1);
            }
            x[i] = (x[i] - dot_part(lu, row, x, i + 1, end)) * lu->inverse[s->unknown + i];
        }
        job.begin = begin;
        for_rows(begin, threads, block_rows, &job);
    }
}

static void forward_one(void *context, int t) {
    const FilBlockLu *lu = ((const SolveJob *)context)->lu;
    solve_forward(lu, &lu->node[t], 1);
}

static void backward_task(void *context, int task) {
    const FilBlockLu *lu = ((const SolveJob *)context)->lu;
    for (int i = lu->task_begin[task + 1] - 1; i >= lu->task_begin[task]; i--) {
        solve_backward(lu, &lu->node[lu->task_node[i]], 1);
    }
}

// Threads for a supernode above the tasks: there must be 8 MB to read, 1 ms.
static int threads_for(const FilBlockLu *lu, const Supernode *s) {
    return (double)s->k * (s->k + 2.0 * s->u) > 1e6 ? lu->threads : 1;
}

// Subtrees and links, then the fronts above them; backwards the other way round.
static void solve_tree(const FilBlockLu *lu) {
    SolveJob job = {.lu = lu};
    const int top = lu->task_begin[lu->task_count];
    const int threads = lu->panel_size > 100000 ? lu->threads : 1; // 0.1 ms: worth waking them for
    climb_tasks(lu, threads, forward_one, &job);
    for (int i = top; i < lu->supernode_count; i++) {
        const Supernode *s = &lu->node[lu->task_node[i]];
        solve_forward(lu, s, threads_for(lu, s));
    }
    for (int i = lu->supernode_count - 1; i >= top; i--) {
        const Supernode *s = &lu->node[lu->task_node[i]];
        solve_backward(lu, s, threads_for(lu, s));
    }
    for (int t = lu->supernode_count - 1; t >= 0; t--) {
        const Supernode *s = &lu->node[t];
        if (s->task >= lu->leaf_count) {
            solve_backward(lu, s, 1);
        }
    }
    fil_parallel_for(lu->leaf_count, threads, backward_task, &job);
}

void fil_block_lu_set_stop(FilBlockLu *lu, bool (*stop)(void *user), void *user) {
    lu->halt.stop = stop;
    lu->halt.user = user;
}

bool fil_block_lu_solve(FilBlockLu *lu, double *x) {
    FIL_ASSERT(lu->reserved);
    for (int p = 0; p < lu->n; p++) {
        if (lu->active[p]) {
            memcpy(lu->x + lu->unknown[p], x + lu->natural[p], (size_t)lu->size[p] * sizeof *x);
        }
    }
    bool finite = !lu->halt.stopped;
    if (finite) {
        solve_tree(lu);
    }
    for (int i = 0; i < lu->active_unknowns; i++) {
        if (lu->halt.stopped || !(fabs(lu->x[i]) <= DBL_MAX)) {
            lu->x[i] = 0.0;
            finite = false;
        }
    }
    for (int p = 0; p < lu->n; p++) {
        if (lu->active[p]) {
            memcpy(x + lu->natural[p], lu->x + lu->unknown[p], (size_t)lu->size[p] * sizeof *x);
        }
    }
    return finite;
}

int fil_block_lu_sign(const FilBlockLu *lu) {
    int sign = 1;
    for (int t = 0; t < lu->supernode_count; t++) {
        const Supernode *s = &lu->node[t];
        for (int i = 0; i < s->k; i++) {
            const bool exchanged = lu->pivot[s->unknown + i] != i;
            sign = exchanged != (lu->inverse[s->unknown + i] < 0.0) ? -sign : sign;
        }
    }
    return sign;
}
