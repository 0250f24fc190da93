// newton_step.c - Newton's linear system, by the block LU, in impulses or in velocities.
//
// Row i of the matrix is Fu_i (W_ij + D_ij) + Fr_i: the rows of W scaled from the left by small
// blocks. Open contacts have the row of the identity; their d_i = -F_i goes to the right-hand side
// of the others, and the factorisation skips them.
//
// Where M and H are known the same step can be had in the velocities of the bodies (primal.c).
// Contacts that are open cost nothing in impulses and still something in velocities: each step uses
// whichever factorisation takes fewer operations for the contacts that press now, unless there is
// no memory to keep both.
//
// A factorisation takes about n^2 operations for contacts that fill space. Large problems are
// solved by GMRES instead, with overlapping parts as preconditioner (schwarz.c), in unknowns scaled
// by sqrt(rho): velocities and impulses alike become roots of energies. Newton's early steps are
// far from exact anyway, and its late ones still gain a factor of 100 each. Where GMRES stagnates
// the step is found by a factorisation after all if that takes less than 1e12 operations. For yet
// larger problems it is taken as it is: the proximal method judges by the residual, and raises
// delta, which makes the matrix better, where steps do not help.
#include "newton_step.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/block_lu.h"
#include "math/gmres.h"
#include "primal.h"
#include "schwarz.h"
#include "small.h"

struct FilNewtonStep {
    const FilSystem *s;
    FilBlockLu *lu;
    FilPrimalStep *primal; // in velocities; NULL: always in impulses
    bool in_velocities;    // the last factorisation was
    int threads;
    const int64_t *block_at; // [n + 1] where the square block of i begins
    FilJacobian jacobian;
    double *value; // the matrix, in the pattern of W
    double *known; // W d of the open contacts
    bool *was_active;
    bool has_mask;
    FilSchwarz *schwarz; // solves by GMRES; NULL: directly
    FilGmres *gmres;
    FilPrimalStep *rescue; // where GMRES stagnates; NULL: out of reach
    double *scaled, *raw;  // [size] right-hand side and solution of GMRES; a vector on its way
    double work, unit;     // operations of the last solve; of one with every contact pressed
};

enum {
    PRIMAL_FROM_FLOPS = 20000000
}; // below, looking for the cheaper way costs more than it saves

// How many times fewer operations a step in velocities must take with all contacts, where one way
// must be chosen for all steps: in a heap where half of them are open both took the same time at 9,
// and impulses half of it at 4; where most press, velocities were 5 times faster at 15.
enum { PRIMAL_GAIN = 6 };
static const int64_t BOTH_BYTES = 1 << 26; // of the factors in impulses: up to there both are kept

enum { GMRES_STEPS = 100, GMRES_USUAL = 20 };
static const int64_t ITERATE_FROM_FLOPS = 30000000000;   // of one factorisation in velocities
static const int64_t RESCUE_UP_TO_FLOPS = 1000000000000; // of that, where GMRES stagnates
static const double REDUCTION = 1e-2;                    // of the residual, by GMRES
static const double LEAST_WORK = 1.0 / 3.0;              // of a step with every contact pressed
static const double STAGNATED = 0.5;                     // when no better

static FilStatus begin(const FilSystem *s, int threads, FilArena *arena, FilNewtonStep **out) {
    FilNewtonStep *step = FIL_NEW(arena, FilNewtonStep, 1);
    const int64_t *block_at = fil_system_squares(s, arena);
    if (step == NULL || block_at == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *step = (FilNewtonStep){.s = s,
                            .threads = threads,
                            .block_at = block_at,
                            .jacobian = {.at = block_at,
                                         .Fu = FIL_NEW(arena, double, block_at[s->n]),
                                         .Fr = FIL_NEW(arena, double, block_at[s->n]),
                                         .shift = FIL_NEW(arena, double, s->n),
                                         .active = FIL_NEW(arena, bool, s->n)},
                            .known = FIL_NEW(arena, double, s->size),
                            .was_active = FIL_NEW(arena, bool, s->n)};
    *out = step;
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

static FilStatus analyse_primal(const FilNewtonStep *step, FilArena *arena, FilArena *scratch,
                                FilPrimalStep **primal, int64_t *flops) {
    const FilSystem *s = step->s;
    return fil_primal_step_create(s->primal, s, step->threads, arena, scratch, primal, flops);
}

static FilStatus prepare_primal(FilNewtonStep *step, FilPrimalStep *primal, FilArena *arena,
                                FilArena *scratch) {
    step->primal = primal;
    FIL_TRY(fil_primal_step_reserve(primal, arena));
    return fil_primal_step_follow(primal, arena, scratch);
}

// GMRES and its preconditioner. `rescue`, of the whole problem, may be NULL.
static FilStatus prepare_iterations(FilNewtonStep *step, FilPrimalStep *rescue, int steps,
                                    FilArena *arena, FilArena *scratch) {
    const FilSystem *s = step->s;
    step->scaled = FIL_NEW(arena, double, s->size);
    step->raw = FIL_NEW(arena, double, s->size);
    if (step->scaled == NULL || step->raw == NULL) {
        return FIL_E_NO_MEMORY;
    }
    if (rescue != NULL) {
        step->rescue = rescue;
        FIL_TRY(fil_primal_step_reserve(rescue, arena));
        FIL_TRY(fil_primal_step_follow(rescue, arena, scratch));
    }
    FIL_TRY(fil_gmres_create(s->size, steps, step->threads, arena, &step->gmres));
    return fil_schwarz_create(s, step->threads, arena, scratch, &step->schwarz);
}

// In impulses or in velocities, whichever is cheaper; `primal` may be analysed already.
static FilStatus choose_factorisation(FilNewtonStep *step, FilPrimalStep *primal,
                                      int64_t primal_flops, FilArena *arena, FilArena *scratch) {
    const FilSystem *s = step->s;
    const FilBlockPattern pattern = {s->n, s->offset, s->W.start, s->W.column};
    FIL_TRY(fil_block_lu_analyse(&pattern, arena, scratch, &step->lu));
    const int64_t flops = fil_block_lu_info(step->lu).flops;
    const bool compare = s->primal != NULL && flops >= PRIMAL_FROM_FLOPS;
    if (compare && primal == NULL) {
        FIL_TRY(analyse_primal(step, arena, scratch, &primal, &primal_flops));
    }
    const bool both =
        compare && primal_flops < flops && fil_block_lu_info(step->lu).bytes <= BOTH_BYTES;
    if (both || (compare && PRIMAL_GAIN * primal_flops < flops)) {
        FIL_TRY(prepare_primal(step, primal, arena, scratch));
    }
    if (step->primal != NULL && !both) {
        step->lu = NULL;
        return FIL_OK;
    }
    step->value = FIL_NEW(arena, double, s->W.at[s->W.start[s->n]]);
    if (step->value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    fil_block_lu_set_threads(step->lu, step->threads);
    return fil_block_lu_reserve(step->lu, arena);
}

static FilStatus choose_method(FilNewtonStep *step, FilArena *arena, FilArena *scratch) {
    const FilSystem *s = step->s;
    const FilArenaMark mark = fil_arena_mark(arena);
    FilPrimalStep *primal = NULL;
    int64_t flops = 0;
    if (!s->has_blocks || fil_schwarz_fits(s)) {
        FIL_TRY(analyse_primal(step, arena, scratch, &primal, &flops));
    }
    if (!s->has_blocks) {
        return prepare_primal(step, primal, arena, scratch);
    }
    if (flops < ITERATE_FROM_FLOPS) {
        return choose_factorisation(step, primal, flops, arena, scratch);
    }
    if (flops > RESCUE_UP_TO_FLOPS) {
        fil_arena_release(arena, mark);
        primal = NULL;
    }
    return prepare_iterations(step, primal, GMRES_STEPS, arena, scratch);
}

// Operations of a solve by factorisation, in velocities and in impulses, as they are ordered now.
static double primal_work(const FilNewtonStep *step) {
    const FilStepCost cost = fil_primal_step_cost(step->primal);
    return cost.factor + 2.0 * cost.solve;
}

static double dual_work(const FilNewtonStep *step) {
    const FilBlockLuInfo info = fil_block_lu_info(step->lu);
    return (double)info.flops + 2.0 * (double)info.nonzeros;
}

// Whether the next step is cheaper in velocities.
static bool prefers_velocities(const FilNewtonStep *step) {
    return step->primal != NULL && (step->lu == NULL || primal_work(step) < dual_work(step));
}

// Operations of a solve by so many steps of GMRES.
static double iterated_work(const FilNewtonStep *step, int steps) {
    const FilStepCost cost = fil_schwarz_cost(step->schwarz);
    return cost.factor + (steps + 1) * (cost.solve + fil_system_product_work(step->s));
}

static void find_unit(FilNewtonStep *step) {
    step->unit =
        fil_system_product_work(step->s) + (step->schwarz != NULL ? iterated_work(step, GMRES_USUAL)
                                            : prefers_velocities(step) ? primal_work(step)
                                                                       : dual_work(step));
}

double fil_newton_step_work(const FilNewtonStep *step) {
    return fmax(step->work, LEAST_WORK * step->unit);
}

double fil_newton_step_unit(const FilNewtonStep *step) {
    return step->unit;
}

FilStatus fil_newton_step_create(const FilSystem *s, int threads, FilArena *arena,
                                 FilArena *scratch, FilNewtonStep **out) {
    FilNewtonStep *step;
    FIL_TRY(begin(s, threads, arena, &step));
    FIL_TRY(choose_method(step, arena, scratch));
    find_unit(step);
    *out = step;
    return FIL_OK;
}

FilStatus fil_newton_step_create_iterative(const FilSystem *s, int steps, int threads,
                                           FilArena *arena, FilArena *scratch,
                                           FilNewtonStep **out) {
    FilNewtonStep *step;
    FilPrimalStep *rescue;
    int64_t flops;
    FIL_TRY(begin(s, threads, arena, &step));
    FIL_TRY(analyse_primal(step, arena, scratch, &rescue, &flops));
    FIL_TRY(prepare_iterations(step, rescue, steps, arena, scratch));
    find_unit(step);
    *out = step;
    return FIL_OK;
}

void fil_newton_step_set_stop(FilNewtonStep *step, bool (*stop)(void *user), void *user) {
    if (step->lu != NULL) {
        fil_block_lu_set_stop(step->lu, stop, user);
    }
    if (step->primal != NULL) {
        fil_primal_step_set_stop(step->primal, stop, user);
    }
    if (step->rescue != NULL) {
        fil_primal_step_set_stop(step->rescue, stop, user);
    }
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

typedef struct RightSide {
    const FilNewtonStep *step;
    const double *F;
    double *d;
    bool any; // open contacts move
} RightSide;

static void fill_right_rows(void *context, int first, int last) {
    const RightSide *right = context;
    const FilNewtonStep *step = right->step;
    const FilSystem *s = step->s;
    for (int i = first; i < last; i++) {
        if (!step->jacobian.active[i]) {
            continue;
        }
        const int size = fil_system_block_size(s, i), at = s->offset[i];
        const double *Fu = step->jacobian.Fu + step->block_at[i];
        for (int a = 0; a < size; a++) {
            double sum = -right->F[at + a];
            for (int c = 0; right->any && c < size; c++) {
                sum -= Fu[a * size + c] * step->known[at + c];
            }
            right->d[at + a] = sum;
        }
    }
}

// d = -F, less Fu W d of the open contacts in the rows of the others.
static void fill_right_side(FilNewtonStep *step, const double *F, double *d) {
    const FilSystem *s = step->s;
    const FilJacobian *J = &step->jacobian;
    RightSide right = {.step = step, .F = F, .d = d};
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            d[k] = J->active[i] ? 0.0 : -F[k];
            right.any |= d[k] != 0.0;
        }
    }
    if (right.any) {
        fil_blocks_multiply(&s->W, d, step->known, step->threads);
    }
    fil_parallel_ranges(s->n, 512, step->threads, fill_right_rows, &right);
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
        double *y = step->known + s->offset[i], sum[FIL_BLOCK_MAX] = {0.0};
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

static bool factor_and_solve(FilPrimalStep *primal, const FilJacobian *J, const double *F,
                             double *d) {
    fil_primal_step_factor(primal, J);
    return fil_primal_step_solve(primal, J, F, true, d);
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
    const int steps = fil_gmres_solve(step->gmres, multiply, step, step->scaled, REDUCTION,
                                      step->scaled, &reached);
    step->work = iterated_work(step, steps);
    if (!(reached <= STAGNATED) && step->rescue != NULL) { // or not a number
        const bool found = factor_and_solve(step->rescue, &step->jacobian, F, d);
        step->work += fil_primal_step_cost(step->rescue).factor;
        return found;
    }
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
    if (step->schwarz != NULL) {
        return iterate(step, F, d);
    }
    if (step->lu != NULL) {
        set_mask(step);
    }
    step->in_velocities = prefers_velocities(step);
    if (step->in_velocities) {
        const bool found = factor_and_solve(step->primal, &step->jacobian, F, d);
        step->work = primal_work(step);
        return found;
    }
    fil_parallel_ranges(step->s->n, 128, step->threads, fill_rows, step);
    fill_right_side(step, F, d);
    (void)fil_block_lu_factor(step->lu, step->value, NULL);
    step->work = dual_work(step);
    return fil_block_lu_solve(step->lu, d);
}

bool fil_newton_step_again(FilNewtonStep *step, const double *F, double *d) {
    FIL_ASSERT(step->schwarz == NULL);
    if (step->in_velocities) {
        return fil_primal_step_solve(step->primal, &step->jacobian, F, true, d);
    }
    fill_right_side(step, F, d);
    return fil_block_lu_solve(step->lu, d);
}

int fil_newton_step_sign(const FilNewtonStep *step) {
    FIL_ASSERT(step->schwarz == NULL);
    return step->in_velocities ? 0 : fil_block_lu_sign(step->lu);
}
