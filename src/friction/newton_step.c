// newton_step.c - Newton's linear system, by the block LU, in impulses or in velocities.
//
// Row i of the matrix is Fu_i (W_ij + D_ij) + Fr_i: the rows of W scaled from the left by small
// blocks. Open contacts have the row of the identity; their d_i = -F_i goes to the right-hand side
// of the others, and the factorisation skips them.
//
// Where M and H are known the same step can be had in the velocities of the bodies (primal.c);
// whichever factorisation takes fewer operations is used.
//
// A factorisation takes about n^2 operations for contacts that fill space. Large problems are
// solved by GMRES instead, with overlapping parts as preconditioner (schwarz.c), in unknowns scaled
// by sqrt(rho): velocities and impulses alike become roots of energies. Newton's early steps are
// far from exact anyway, and its late ones still gain a factor of 100 each.
#include "newton_step.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/block_lu.h"
#include "math/gmres.h"
#include "primal.h"
#include "schwarz.h"

struct FilNewtonStep {
    const FilSystem *s;
    FilBlockLu *lu;
    FilPrimalStep *primal; // in velocities; NULL: in impulses
    int threads;
    const int *block_at; // [n + 1] where the square block of i begins
    FilJacobian jacobian;
    double *value; // the matrix, in the pattern of W
    double *known; // W d of the open contacts
    bool *was_active;
    bool has_mask;
    FilSchwarz *schwarz; // solves by GMRES; NULL: directly
    FilGmres *gmres;
    double *scaled, *raw; // [size] right-hand side and solution of GMRES; a vector on its way
};

enum {
    PRIMAL_FROM_FLOPS = 20000000
}; // below, looking for the cheaper way costs more than it saves

enum { GMRES_STEPS = 100 };
static const int64_t ITERATE_FROM_FLOPS = 30000000000; // of one factorisation
static const double REDUCTION = 1e-2;                  // of the residual, by GMRES

// Whether a large problem fills space, so that a factorisation would cost too much. What the
// analysis takes of `arena` is given back.
static FilStatus is_iteration_cheaper(const FilSystem *s, FilArena *arena, FilArena *scratch,
                                      bool *cheaper) {
    *cheaper = false;
    if (!fil_schwarz_fits(s)) {
        return FIL_OK;
    }
    const FilArenaMark mark = fil_arena_mark(arena);
    FilPrimalStep *primal;
    int64_t flops;
    FIL_TRY(fil_primal_step_create(s->primal, s, 1, arena, scratch, &primal, &flops));
    fil_arena_release(arena, mark);
    *cheaper = flops >= ITERATE_FROM_FLOPS;
    return FIL_OK;
}

static FilStatus prepare_iterations(FilNewtonStep *step, FilArena *arena, FilArena *scratch) {
    const FilSystem *s = step->s;
    step->scaled = FIL_NEW(arena, double, s->size);
    step->raw = FIL_NEW(arena, double, s->size);
    if (step->scaled == NULL || step->raw == NULL) {
        return FIL_E_NO_MEMORY;
    }
    FIL_TRY(fil_gmres_create(s->size, GMRES_STEPS, step->threads, arena, &step->gmres));
    return fil_schwarz_create(s, step->threads, arena, scratch, &step->schwarz);
}

static FilStatus choose_factorisation(FilNewtonStep *step, FilArena *arena, FilArena *scratch) {
    const FilSystem *s = step->s;
    int64_t primal_flops;
    if (!s->has_blocks) {
        FIL_TRY(fil_primal_step_create(s->primal, s, step->threads, arena, scratch, &step->primal,
                                       &primal_flops));
        return fil_primal_step_reserve(step->primal, arena);
    }
    bool iterative;
    FIL_TRY(is_iteration_cheaper(s, arena, scratch, &iterative));
    if (iterative) {
        return prepare_iterations(step, arena, scratch);
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
    step->value = FIL_NEW(arena, double, s->W.at[s->W.start[s->n]]);
    if (step->value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    fil_block_lu_set_threads(step->lu, step->threads);
    return fil_block_lu_reserve(step->lu, arena);
}

FilStatus fil_newton_step_create(const FilSystem *s, int threads, FilArena *arena,
                                 FilArena *scratch, FilNewtonStep **out) {
    FilNewtonStep *step = FIL_NEW(arena, FilNewtonStep, 1);
    int *block_at = FIL_NEW(arena, int, s->n + 1);
    if (step == NULL || block_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    block_at[0] = 0;
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i);
        block_at[i + 1] = block_at[i] + d * d;
    }
    *step = (FilNewtonStep){.s = s,
                            .threads = threads,
                            .block_at = block_at,
                            .jacobian = {.Fu = FIL_NEW(arena, double, block_at[s->n]),
                                         .Fr = FIL_NEW(arena, double, block_at[s->n]),
                                         .shift = FIL_NEW(arena, double, s->n),
                                         .active = FIL_NEW(arena, bool, s->n)},
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

static void scale_block(int d, int e, const double *f, const double *w, double *out) {
    for (int a = 0; a < d; a++) {
        for (int c = 0; c < e; c++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) {
                sum += f[a * d + k] * w[k * e + c];
            }
            out[a * e + c] = sum;
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
                scale_block(d, e, Fu, W->value + W->at[k], step->value + W->at[k]);
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

// --- by GMRES ------------------------------------------------------------------------------------

// y = x sqrt(rho)^power.
static void scale_by_root(const FilSystem *s, int power, const double *x, double *y) {
    for (int i = 0; i < s->n; i++) {
        const double root = power > 0 ? sqrt(s->rho[i]) : 1.0 / sqrt(s->rho[i]);
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            y[k] = root * x[k];
        }
    }
}

// known := (Fu (W + D) + Fr) d, row by row, with W d in `known`.
static void finish_rows(void *context, int first, int last) {
    const FilNewtonStep *step = context;
    const FilSystem *s = step->s;
    const FilJacobian *J = &step->jacobian;
    for (int i = first; i < last; i++) {
        const int size = fil_system_block_size(s, i);
        const double *Fu = J->Fu + step->block_at[i], *Fr = J->Fr + step->block_at[i];
        const double *d = step->raw + s->offset[i];
        double *y = step->known + s->offset[i], sum[FIL_BLOCK_MAX];
        for (int a = 0; a < size; a++) {
            sum[a] = J->active[i] ? 0.0 : d[a];
            for (int c = 0; J->active[i] && c < size; c++) {
                sum[a] += Fu[a * size + c] * (y[c] + J->shift[i] * d[c]) + Fr[a * size + c] * d[c];
            }
        }
        memcpy(y, sum, (size_t)size * sizeof *y);
    }
}

// What GMRES sees: y = sqrt(rho)^-1 A B sqrt(rho) x, with B about A^-1.
static void multiply(void *context, const double *x, double *y) {
    FilNewtonStep *step = context;
    scale_by_root(step->s, 1, x, y);
    fil_schwarz_apply(step->schwarz, y, step->raw);
    fil_blocks_multiply(&step->s->W, step->raw, step->known, step->threads);
    fil_parallel_ranges(step->s->n, 512, step->threads, finish_rows, step);
    scale_by_root(step->s, -1, step->known, y);
}

static bool iterate(FilNewtonStep *step, const double *F, double *d) {
    const FilSystem *s = step->s;
    double reached;
    fil_schwarz_factor(step->schwarz, &step->jacobian, step->block_at);
    fill_right_side(step, F, d);
    // open contacts are known, and their rows are those of the identity
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            step->raw[k] = step->jacobian.active[i] ? d[k] : 0.0;
        }
    }
    scale_by_root(s, -1, step->raw, step->scaled);
    (void)fil_gmres_solve(step->gmres, multiply, step, step->scaled, REDUCTION, step->scaled,
                          &reached);
    scale_by_root(s, 1, step->scaled, step->known);
    fil_schwarz_apply(step->schwarz, step->known, step->raw);
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; step->jacobian.active[i] && k < s->offset[i + 1]; k++) {
            d[k] = step->raw[k];
        }
    }
    return reached < 1.0;
}

bool fil_newton_step_solve(FilNewtonStep *step, const double *F, double *d) {
    if (step->primal != NULL) {
        fil_primal_step_factor(step->primal, &step->jacobian);
        return fil_primal_step_solve(step->primal, &step->jacobian, F, true, d);
    }
    if (step->schwarz != NULL) {
        return iterate(step, F, d);
    }
    set_mask(step);
    fil_parallel_ranges(step->s->n, 128, step->threads, fill_rows, step);
    fill_right_side(step, F, d);
    (void)fil_block_lu_factor(step->lu, step->value, NULL);
    return fil_block_lu_solve(step->lu, d);
}
