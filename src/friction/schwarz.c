// schwarz.c - an approximate inverse of Newton's matrix from overlapping parts.
//
// The contacts are cut into parts of about 1500 (METIS on the pattern of W). A part is then
// extended by the contacts that W couples strongly to it; its share of the Newton system, all other
// contacts held fixed, is solved directly, in velocities (primal.c); of the result only what
// belongs to the part itself is kept: the restricted additive method of Cai and Sarkis (1999). Work
// and memory grow as the number of contacts, and the parts are independent of each other.
//
// The overlap. Without it GMRES needs hundreds of steps on stiff fibres, and all neighbours in W
// (every contact of every chain that is touched) make the parts four times as large. Taking only
// |W_ij| > 0.2 sqrt(|W_ii| |W_jj|) costs a factor of two and keeps the steps: measured on fibres
// with 10 000 contacts.
#include "schwarz.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/cut.h"
#include "primal.h"

enum { FITS_FROM = 20000, PART_SIZE = 1500 }; // contacts

static const double STRONG = 0.2; // coupling, relative to the diagonal blocks

typedef struct Part {
    int count;
    const int *member; // [count] contacts, ascending
    const bool *own;   // [count] false: overlap
    FilSystem s;       // sizes only
    FilPrimalStep *step;
    FilJacobian J;
    double *F, *d;
} Part;

struct FilSchwarz {
    const FilSystem *s;
    int threads, part_count;
    Part *part;
    // of the call in progress
    const FilJacobian *J;
    const int64_t *square;
    const double *y;
    double *d;
};

bool fil_schwarz_fits(const FilSystem *s) {
    return s->has_blocks && s->primal != NULL && s->n >= FITS_FROM;
}

// --- the parts -----------------------------------------------------------------------------------

static double square_norm(const FilBlocks *W, int k) {
    double sum = 0.0;
    for (int64_t a = W->at[k]; a < W->at[k + 1]; a++) {
        sum += W->value[a] * W->value[a];
    }
    return sum;
}

// Whether entry k, in row i, is a strong coupling; `size` holds the norms of the diagonal blocks.
static bool is_strong(const FilBlocks *W, const double *size, int i, int k) {
    return square_norm(W, k) > STRONG * STRONG * size[i] * size[W->column[k]];
}

// Mark the members of a part with its number; returns how many there are.
static int mark_members(const FilBlocks *W, const double *size, const int *own, int own_count,
                        int number, int *mark) {
    int count = own_count;
    for (int m = 0; m < own_count; m++) {
        mark[own[m]] = number;
    }
    for (int m = 0; m < own_count; m++) {
        const int i = own[m];
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            if (mark[W->column[k]] != number && is_strong(W, size, i, k)) {
                mark[W->column[k]] = number;
                count++;
            }
        }
    }
    return count;
}

static FilStatus list_members(const FilSystem *s, const int *mark, const int *part_of, int number,
                              FilArena *arena, Part *part) {
    int *member = FIL_NEW(arena, int, part->count), *offset = FIL_NEW(arena, int, part->count + 1);
    bool *own = FIL_NEW(arena, bool, part->count);
    if (member == NULL || offset == NULL || own == NULL) {
        return FIL_E_NO_MEMORY;
    }
    int next = 0;
    offset[0] = 0;
    for (int i = 0; i < s->n; i++) {
        if (mark[i] == number) {
            member[next] = i;
            own[next] = part_of[i] == number;
            offset[next + 1] = offset[next] + fil_system_block_size(s, i);
            next++;
        }
    }
    part->member = member;
    part->own = own;
    part->s = (FilSystem){.n = part->count, .size = offset[part->count], .offset = offset};
    return FIL_OK;
}

static FilStatus prepare_part(const FilSystem *s, FilArena *arena, FilArena *scratch, Part *part) {
    const FilPrimal *whole = s->primal;
    FilPrimal *primal;
    int64_t flops;
    const int64_t *squares = fil_system_squares(&part->s, arena);
    int *block = FIL_NEW(arena, int, part->count); // in the problem
    if (squares == NULL || block == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int m = 0; m < part->count; m++) {
        block[m] = whole->member != NULL ? whole->member[part->member[m]] : part->member[m];
    }
    FIL_TRY(fil_primal_create(whole->problem, whole->whole, block, part->count, arena, scratch,
                              &primal));
    FIL_TRY(fil_primal_step_create(primal, &part->s, 1, arena, scratch, &part->step, &flops));
    FIL_TRY(fil_primal_step_reserve(part->step, arena));
    part->J = (FilJacobian){.at = squares,
                            .Fu = FIL_NEW(arena, double, squares[part->count]),
                            .Fr = FIL_NEW(arena, double, squares[part->count]),
                            .shift = FIL_NEW(arena, double, part->count),
                            .active = FIL_NEW(arena, bool, part->count)};
    part->F = FIL_NEW(arena, double, part->s.size);
    part->d = FIL_NEW(arena, double, part->s.size);
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

static FilStatus make_parts(FilSchwarz *x, FilArena *arena, FilArena *scratch) {
    const FilSystem *s = x->s;
    int *part_of = FIL_NEW(scratch, int, s->n);
    int *mark = FIL_NEW(scratch, int, s->n), *own = FIL_NEW(scratch, int, s->n);
    double *size = FIL_NEW(scratch, double, s->n);
    if (part_of == NULL || mark == NULL || own == NULL || size == NULL) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(fil_graph_cut(s->n, s->W.start, s->W.column, x->part_count, scratch, part_of));
    fil_blocks_clear_marks(mark, s->n);
    for (int i = 0; i < s->n; i++) {
        size[i] = sqrt(square_norm(&s->W, s->W.diagonal[i]));
    }
    for (int number = 0; number < x->part_count; number++) {
        int count = 0;
        for (int i = 0; i < s->n; i++) {
            if (part_of[i] == number) {
                own[count++] = i;
            }
        }
        Part *part = &x->part[number];
        part->count = mark_members(&s->W, size, own, count, number, mark);
        FIL_TRY(list_members(s, mark, part_of, number, arena, part));
        FIL_TRY(prepare_part(s, arena, scratch, part));
    }
    return FIL_OK;
}

FilStatus fil_schwarz_create(const FilSystem *s, int threads, FilArena *arena, FilArena *scratch,
                             FilSchwarz **out) {
    const int count = s->n / PART_SIZE > 1 ? s->n / PART_SIZE : 1;
    const FilArenaMark mark = fil_arena_mark(scratch);
    FilSchwarz *x = FIL_NEW(arena, FilSchwarz, 1);
    Part *part = FIL_NEW_ZEROED(arena, Part, count);
    if (x == NULL || part == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *x = (FilSchwarz){.s = s, .threads = threads, .part_count = count, .part = part};
    const FilStatus status = make_parts(x, arena, scratch);
    fil_arena_release(scratch, mark);
    *out = x;
    return status;
}

// --- factors and their use -----------------------------------------------------------------------

static void factor_part(void *context, int item) {
    const FilSchwarz *x = context;
    Part *part = &x->part[item];
    int64_t at = 0;
    for (int m = 0; m < part->count; m++) {
        const int i = part->member[m], d = fil_system_block_size(&part->s, m);
        memcpy(part->J.Fu + at, x->J->Fu + x->square[i], (size_t)(d * d) * sizeof(double));
        memcpy(part->J.Fr + at, x->J->Fr + x->square[i], (size_t)(d * d) * sizeof(double));
        part->J.shift[m] = x->J->shift[i];
        part->J.active[m] = x->J->active[i];
        at += (int64_t)d * d;
    }
    fil_primal_step_factor(part->step, &part->J);
}

void fil_schwarz_factor(FilSchwarz *x, const FilJacobian *J, const int64_t *square) {
    x->J = J;
    x->square = square;
    fil_parallel_for(x->part_count, x->threads, factor_part, x);
}

FilStepCost fil_schwarz_cost(const FilSchwarz *x) {
    FilStepCost sum = {0.0, 0.0};
    for (int k = 0; k < x->part_count; k++) {
        const FilStepCost one = fil_primal_step_cost(x->part[k].step);
        sum.factor += one.factor;
        sum.solve += one.solve;
    }
    return sum;
}

static void apply_part(void *context, int item) {
    const FilSchwarz *x = context;
    Part *part = &x->part[item];
    const int *offset = part->s.offset;
    for (int m = 0; m < part->count; m++) {
        const double *y = x->y + x->s->offset[part->member[m]];
        for (int k = offset[m]; k < offset[m + 1]; k++) {
            part->F[k] = -y[k - offset[m]];
        }
    }
    (void)fil_primal_step_solve(part->step, &part->J, part->F, false, part->d);
    for (int m = 0; m < part->count; m++) {
        if (part->own[m]) {
            memcpy(x->d + x->s->offset[part->member[m]], part->d + offset[m],
                   (size_t)(offset[m + 1] - offset[m]) * sizeof(double));
        }
    }
}

void fil_schwarz_apply(FilSchwarz *x, const double *y, double *d) {
    x->y = y;
    x->d = d;
    fil_parallel_for(x->part_count, x->threads, apply_part, x);
}
