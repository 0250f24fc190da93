// newton_step.c - Newton's linear system, by the block LU, in impulses or in velocities.
//
// Row i of the matrix is Fu_i (W_ij + D_ij) + Fr_i: the rows of W scaled from the left by small
// blocks. Open contacts have the row of the identity; their d_i = -F_i goes to the right-hand side
// of the others, and the factorisation skips them.
//
// Where M and H are known the same step can be had in the velocities of the bodies (primal.c);
// whichever factorisation takes fewer operations is used.
#include "newton_step.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/block_lu.h"
#include "primal.h"
#include "small.h"

struct FilNewtonStep {
    const FilSystem *s;
    FilBlockLu *lu;
    FilPrimalStep *primal; // in velocities; NULL: in impulses
    int threads;
    const int64_t *block_at; // [n + 1] where the square block of i begins
    FilJacobian jacobian;
    double *value; // the matrix, in the pattern of W
    double *known; // W d of the open contacts
    bool *was_active;
    bool has_mask;
};

enum {
    PRIMAL_FROM_FLOPS = 20000000
}; // below, looking for the cheaper way costs more than it saves

static FilStatus choose_factorisation(FilNewtonStep *step, FilArena *arena, FilArena *scratch) {
    const FilSystem *s = step->s;
    int64_t primal_flops;
    if (!s->has_blocks) {
        FIL_TRY(fil_primal_step_create(s->primal, s, step->threads, arena, scratch, &step->primal,
                                       &primal_flops));
        return fil_primal_step_reserve(step->primal, arena);
    }
    const FilBlockPattern pattern = {s->n, s->offset, s->W.start, s->W.column};
    FIL_TRY(fil_block_lu_analyse(&pattern, arena, scratch, &step->lu));
    const int64_t flops = fil_block_lu_info(step->lu).flops;
    if (s->primal != NULL && flops >= PRIMAL_FROM_FLOPS) {
        FilPrimalStep *primal;
        FIL_TRY(fil_primal_step_create(s->primal, s, step->threads, arena, scratch, &primal,
                                       &primal_flops));
        if (2 * primal_flops < flops) {
            step->primal = primal;
            return fil_primal_step_reserve(primal, arena);
        }
    }
    fil_block_lu_set_threads(step->lu, step->threads);
    return fil_block_lu_reserve(step->lu, arena);
}

FilStatus fil_newton_step_create(const FilSystem *s, int threads, FilArena *arena,
                                 FilArena *scratch, FilNewtonStep **out) {
    FilNewtonStep *step = FIL_NEW(arena, FilNewtonStep, 1);
    const int64_t *block_at = fil_system_squares(s, arena);
    if (step == NULL || block_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *step = (FilNewtonStep){
        .s = s,
        .threads = threads,
        .block_at = block_at,
        .jacobian = {.Fu = FIL_NEW(arena, double, block_at[s->n]),
                     .Fr = FIL_NEW(arena, double, block_at[s->n]),
                     .shift = FIL_NEW(arena, double, s->n),
                     .active = FIL_NEW(arena, bool, s->n)},
        .value = FIL_NEW(arena, double, s->has_blocks ? s->W.at[s->W.start[s->n]] : 0),
        .known = FIL_NEW(arena, double, s->size),
        .was_active = FIL_NEW(arena, bool, s->n)};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(choose_factorisation(step, arena, scratch));
    *out = step;
    return FIL_OK;
}

FilJacobian fil_newton_step_jacobian(FilNewtonStep *step) {
    return step->jacobian;
}

static void scale_3(const double *restrict f, const double *restrict w, double *restrict out) {
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            out[3 * a + c] = f[3 * a] * w[c] + f[3 * a + 1] * w[3 + c] + f[3 * a + 2] * w[6 + c];
        }
    }
}

static void fill_rows(void *context, int first, int last) {
    const FilNewtonStep *step = context;
    const FilSystem *s = step->s;
    const FilBlocks *W = &s->W;
    const FilJacobian *J = &step->jacobian;
    for (int i = first; i < last; i++) {
        if (!J->active[i]) {
            continue;
        }
        const int d = fil_system_block_size(s, i);
        const double *Fu = J->Fu + step->block_at[i], *Fr = J->Fr + step->block_at[i];
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            const int e = fil_system_block_size(s, W->column[k]);
            if (d == 3 && e == 3) {
                scale_3(Fu, W->value + W->at[k], step->value + W->at[k]);
            } else {
                fil_small_multiply(d, d, e, Fu, W->value + W->at[k], step->value + W->at[k]);
            }
        }
        double *diagonal = step->value + W->at[W->diagonal[i]];
        for (int k = 0; k < d * d; k++) {
            diagonal[k] += Fr[k] + J->shift[i] * Fu[k];
        }
    }
}

static void set_mask(FilNewtonStep *step) {
    const int n = step->s->n;
    if (!step->has_mask ||
        memcmp(step->was_active, step->jacobian.active, (size_t)n * sizeof(bool)) != 0) {
        memcpy(step->was_active, step->jacobian.active, (size_t)n * sizeof(bool));
        fil_block_lu_set_active(step->lu, step->jacobian.active);
        step->has_mask = true;
    }
}

// d = -F, less Fu W d of the open contacts in the rows of the others.
static void fill_right_side(FilNewtonStep *step, const double *F, double *d) {
    const FilSystem *s = step->s;
    const FilJacobian *J = &step->jacobian;
    bool any = false;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            d[k] = J->active[i] ? 0.0 : -F[k];
            any |= d[k] != 0.0;
        }
    }
    if (any) {
        fil_blocks_multiply(&s->W, d, step->known, step->threads);
    }
    for (int i = 0; i < s->n; i++) {
        if (!J->active[i]) {
            continue;
        }
        const int size = fil_system_block_size(s, i), at = s->offset[i];
        const double *Fu = J->Fu + step->block_at[i];
        for (int a = 0; a < size; a++) {
            double sum = -F[at + a];
            for (int c = 0; any && c < size; c++) {
                sum -= Fu[a * size + c] * step->known[at + c];
            }
            d[at + a] = sum;
        }
    }
}

bool fil_newton_step_solve(FilNewtonStep *step, const double *F, double *d) {
    if (step->primal != NULL) {
        return fil_primal_step_solve(step->primal, &step->jacobian, F, d);
    }
    set_mask(step);
    fil_parallel_ranges(step->s->n, 128, step->threads, fill_rows, step);
    fill_right_side(step, F, d);
    (void)fil_block_lu_factor(step->lu, step->value, NULL);
    return fil_block_lu_solve(step->lu, d);
}

bool fil_newton_step_again(FilNewtonStep *step, const double *F, double *d) {
    if (step->primal != NULL) {
        return fil_primal_step_solve(step->primal, &step->jacobian, F, d);
    }
    fill_right_side(step, F, d);
    return fil_block_lu_solve(step->lu, d);
}

int fil_newton_step_sign(const FilNewtonStep *step) {
    return step->primal != NULL ? 0 : fil_block_lu_sign(step->lu);
}
