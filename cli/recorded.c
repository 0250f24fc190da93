// recorded.c - friction problems of a world, kept.
//
// One block of memory, which grows and stays: recording hundreds of problems allocates a few times.
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

// How many numbers of each kind a problem has; its blocks are all 3 wide.
typedef struct Sizes {
    size_t blocks, entries; // of W
} Sizes;

static bool reserve(CliRecorded *to, const FilFrictionProblem *problem, Sizes sizes) {
    const size_t n = sizes.blocks, compliance = problem->compliance != NULL ? 9 * n : 0;
    const size_t doubles = 9 * sizes.entries + 7 * n + compliance;
    const size_t bytes =
        doubles * sizeof(double) + n * sizeof(FilBlockKind) + (n + 1 + sizes.entries) * sizeof(int);
    if (bytes > to->room) {
        void *memory = realloc(to->memory, bytes + bytes / 2);
        if (memory == NULL) {
            return false;
        }
        to->memory = memory;
        to->room = bytes + bytes / 2;
    }
    return true;
}

// Contacts first, then joints, in the order they have among themselves: where each block goes.
static void place_blocks(const FilFrictionProblem *problem, int *place) {
    int next = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < problem->block_count; i++) {
            const bool joint = problem->kinds != NULL && problem->kinds[i] != FIL_BLOCK_COULOMB;
            if (joint == (pass == 1)) {
                place[i] = next++;
            }
        }
    }
}

typedef struct Arrays {
    double *value, *b, *mu, *compliance;
    FilBlockKind *kinds;
    int *start, *column;
} Arrays;

static Arrays carve(CliRecorded *to, const FilFrictionProblem *problem, Sizes sizes) {
    const size_t n = sizes.blocks;
    Arrays a = {.value = to->memory};
    a.b = a.value + 9 * sizes.entries;
    a.mu = a.b + 3 * n;
    to->r = a.mu + n;
    a.compliance = to->r + 3 * n;
    a.kinds = (FilBlockKind *)(void *)(a.compliance + (problem->compliance != NULL ? 9 * n : 0));
    a.start = (int *)(void *)(a.kinds + n);
    a.column = a.start + n + 1;
    return a;
}

// Block rows with their columns ascending: blocks that moved are sorted in.
static void copy_row(const FilBlockRows *W, int i, const int *place, const Arrays *a, int at) {
    int count = 0;
    for (int e = W->start[i]; e < W->start[i + 1]; e++, count++) {
        int k = at + count;
        for (; k > at && a->column[k - 1] > place[W->column[e]]; k--) {
            a->column[k] = a->column[k - 1];
            memcpy(a->value + 9 * (ptrdiff_t)k, a->value + 9 * (ptrdiff_t)(k - 1),
                   9 * sizeof(double));
        }
        a->column[k] = place[W->column[e]];
        memcpy(a->value + 9 * (ptrdiff_t)k, W->value + 9 * (ptrdiff_t)e, 9 * sizeof(double));
    }
}

static void copy_blocks(CliRecorded *to, const FilFrictionProblem *problem, const double *r,
                        const int *place, const Arrays *a) {
    const int n = problem->block_count;
    for (int i = 0; i < n; i++) {
        const FilBlockRows *W = &problem->blocks;
        a->start[place[i] + 1] = W->start[i + 1] - W->start[i];
    }
    a->start[0] = 0;
    for (int i = 0; i < n; i++) {
        a->start[i + 1] += a->start[i];
    }
    for (int i = 0; i < n; i++) {
        const ptrdiff_t from_at = 3 * (ptrdiff_t)i, to_at = 3 * (ptrdiff_t)place[i];
        const size_t three = 3 * sizeof(double);
        copy_row(&problem->blocks, i, place, a, a->start[place[i]]);
        a->kinds[place[i]] = problem->kinds != NULL ? problem->kinds[i] : FIL_BLOCK_COULOMB;
        a->mu[place[i]] = problem->mu[i];
        memcpy(a->b + to_at, problem->b + from_at, three);
        memcpy(to->r + to_at, r + from_at, three);
        if (problem->compliance != NULL) {
            memcpy(a->compliance + 3 * to_at, problem->compliance + 3 * from_at, 3 * three);
        }
    }
}

void cli_recorded_keep(void *user, const FilFrictionProblem *problem, const double *r,
                       const bool *fresh) {
    CliRecorded *to = user;
    (void)fresh;
    to->there = false;
    to->failed = true;
    if (problem->form != FIL_FORM_BLOCKS || problem->block_size != 3) {
        return;
    }
    const Sizes sizes = {.blocks = (size_t)problem->block_count,
                         .entries = (size_t)problem->blocks.start[problem->block_count]};
    int *place = malloc((sizes.blocks + 1) * sizeof *place);
    if (place == NULL || !reserve(to, problem, sizes)) {
        free(place);
        return;
    }
    const Arrays a = carve(to, problem, sizes);
    place_blocks(problem, place);
    copy_blocks(to, problem, r, place, &a);
    free(place);
    to->problem = *problem;
    to->problem.kinds = a.kinds;
    to->problem.mu = a.mu;
    to->problem.b = a.b;
    to->problem.blocks = (FilBlockRows){.start = a.start, .column = a.column, .value = a.value};
    to->problem.compliance = problem->compliance != NULL ? a.compliance : NULL;
    to->there = true;
    to->failed = false;
}

void cli_recorded_free(CliRecorded *recorded) {
    free(recorded->memory);
    *recorded = (CliRecorded){.there = false};
}
