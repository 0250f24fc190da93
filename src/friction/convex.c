// convex.c - cones of a system as self-dual parts, and the linear systems of interior points.
//
// A conic block with mu > 0 is one part of its size: with f = (sqrt mu, 1 / sqrt mu, ..) for K_mu,
// the inverse for its dual, y = f r and x = u / f are both in K_1 and x.y = u.r. A block that is
// componentwise (unilateral, mu = 0, size 1) falls apart: a component is a half-line (a part of
// size 1), free of its cone (u = 0: no part, D = 0) or dropped (r = 0). A ball of radius R is the
// section y_0 = R of a cone that has one component more, x_0 the multiplier. Dropped unknowns keep
// their place in the matrix, uncoupled, so that the pattern is that of W.
//
// Newton's equation of an interior point is dx + T^2 dy = c in every part, du = W dr + .., so
//     (W + D) dr = ..,    D = f T^2 f.
// The block D_i of a sliding contact has a condition of 1e12 and more near the solution, so W + D
// is factored as L (L^-1 (W + D) L^-T) L^T, L L^T = W_ii + D_i: unit diagonal blocks, and pivots
// that the block LU, which compares them with the largest entry of their block, takes as they are.
#include "convex.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "law.h"

// Of a typical W_ii, added for unknowns without a cone: joints may be redundant.
static const double ROUND_OFF_SHIFT = 1e-12;

FilStatus fil_system_as_cones(const FilSystem *s, FilArena *arena, FilSystem *out) {
    FilBlockKind *kind = FIL_NEW(arena, FilBlockKind, s->n);
    if (kind == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        kind[i] = s->kind[i] == FIL_BLOCK_COULOMB ? FIL_BLOCK_CONE : s->kind[i];
    }
    *out = *s;
    out->kind = kind;
    return FIL_OK;
}

static bool has_balls(const FilSystem *s) {
    for (int i = 0; i < s->n; i++) {
        if (s->kind[i] == FIL_BLOCK_BALL) {
            return true;
        }
    }
    return false;
}

const FilConvexMethod *fil_convex_method(FilConvexSolver solver, const FilSystem *s) {
    switch (solver) {
    case FIL_CONVEX_INTERIOR_PRIMAL:
        return has_balls(s) ? &fil_interior_method : &fil_interior_primal_method;
    case FIL_CONVEX_GRADIENT:
        return &fil_gradient_method;
    default:
        return &fil_interior_method;
    }
}

// --- parts ---------------------------------------------------------------------------------------

typedef enum Component { COMPONENT_POSITIVE, COMPONENT_EQUAL, COMPONENT_DROPPED } Component;

static bool is_conic(FilBlockKind kind) {
    return kind == FIL_BLOCK_COULOMB || kind == FIL_BLOCK_CONE || kind == FIL_BLOCK_DUAL;
}

// Of a block that is componentwise.
static Component component_of(FilBlockKind kind, int k) {
    switch (kind) {
    case FIL_BLOCK_EQUALITY:
        return COMPONENT_EQUAL;
    case FIL_BLOCK_FREE:
    case FIL_BLOCK_BALL: // of radius 0
        return COMPONENT_DROPPED;
    case FIL_BLOCK_UNILATERAL:
        return COMPONENT_POSITIVE;
    case FIL_BLOCK_DUAL: // mu = 0: the half-space r_N >= 0
        return k == 0 ? COMPONENT_POSITIVE : COMPONENT_EQUAL;
    default: // mu = 0: the half-line
        return k == 0 ? COMPONENT_POSITIVE : COMPONENT_DROPPED;
    }
}

static FilConePart *add_part(FilCones *c, int block, int first, int size) {
    FilConePart *part = &c->part[c->count++];
    *part = (FilConePart){.block = block,
                          .first = first,
                          .at = c->storage,
                          .size = size,
                          .normal = 1.0,
                          .tangent = 1.0};
    c->storage += size;
    return part;
}

static void add_components(FilCones *c, int i, int from) {
    const FilSystem *s = c->s;
    for (int k = from; k < fil_system_block_size(s, i); k++) {
        const Component component = component_of(s->kind[i], k);
        c->dropped[s->offset[i] + k] = component == COMPONENT_DROPPED;
        c->equal[s->offset[i] + k] = component == COMPONENT_EQUAL;
        if (component == COMPONENT_POSITIVE) {
            (void)add_part(c, i, s->offset[i] + k, 1);
        }
    }
}

// r_N >= 0 and the disc |r_T| <= threshold; without a disc r_T = 0.
static void add_cylinder(FilCones *c, int i) {
    const FilSystem *s = c->s;
    const int d = fil_system_block_size(s, i), at = s->offset[i];
    (void)add_part(c, i, at, 1);
    if (d > 1 && c->threshold[i] > 0.0) {
        FilConePart *disc = add_part(c, i, at, d);
        disc->fixed = true;
        disc->radius = c->threshold[i];
    } else {
        add_components(c, i, 1);
    }
}

static void add_block(FilCones *c, int i) {
    const FilSystem *s = c->s;
    const bool dual = s->kind[i] == FIL_BLOCK_DUAL;
    if (c->threshold != NULL && is_conic(s->kind[i]) && !dual) {
        add_cylinder(c, i);
    } else if (s->kind[i] == FIL_BLOCK_BALL && s->mu[i] > 0.0) {
        FilConePart *ball = add_part(c, i, s->offset[i] - 1, fil_system_block_size(s, i) + 1);
        ball->fixed = true;
        ball->radius = s->mu[i];
    } else if (is_conic(s->kind[i]) && s->mu[i] > 0.0 && fil_system_block_size(s, i) > 1) {
        FilConePart *part = add_part(c, i, s->offset[i], fil_system_block_size(s, i));
        const double root = sqrt(s->mu[i]);
        part->normal = dual ? 1.0 / root : root;
        part->tangent = 1.0 / part->normal;
    } else {
        add_components(c, i, 0);
    }
}

// --- the matrix ----------------------------------------------------------------------------------

// W with dropped rows and columns replaced by a diagonal; W itself where none is.
static FilStatus mask_matrix(FilCones *c, FilArena *arena) {
    const FilSystem *s = c->s;
    const FilBlocks *W = &s->W;
    bool any = false;
    for (int k = 0; k < s->size; k++) {
        any |= c->dropped[k];
    }
    c->W = W->value;
    if (!any) {
        return FIL_OK;
    }
    double *value = FIL_NEW(arena, double, W->at[W->start[s->n]]);
    if (value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            const int j = W->column[k], e = fil_system_block_size(s, j);
            for (int64_t m = W->at[k]; m < W->at[k + 1]; m++) {
                const int row = s->offset[i] + (int)((m - W->at[k]) / e);
                const int column = s->offset[j] + (int)((m - W->at[k]) % e);
                const bool keep = !c->dropped[row] && !c->dropped[column];
                value[m] = keep ? W->value[m] : row == column ? 1.0 / s->rho[i] : 0.0;
            }
        }
    }
    c->W = value;
    return FIL_OK;
}

FilStatus fil_cones_create(const FilSystem *s, const FilIslandTask *task, const double *threshold,
                           FilCones *out) {
    FilArena *arena = task->arena;
    *out = (FilCones){.s = s,
                      .threads = task->threads,
                      .threshold = threshold,
                      .part = FIL_NEW(arena, FilConePart, s->size + s->n),
                      .dropped = FIL_NEW_ZEROED(arena, bool, s->size),
                      .equal = FIL_NEW_ZEROED(arena, bool, s->size),
                      .D_at = fil_system_squares(s, arena)};
    if (arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        add_block(out, i);
    }
    out->D = FIL_NEW(arena, double, out->D_at[s->n]);
    out->L = FIL_NEW(arena, double, out->D_at[s->n]);
    out->scaled = FIL_NEW(arena, double, s->W.at[s->W.start[s->n]]);
    FIL_TRY(mask_matrix(out, arena));
    const FilBlockPattern pattern = {s->n, s->offset, s->W.start, s->W.column};
    FIL_TRY(fil_block_lu_analyse(&pattern, arena, task->scratch, &out->lu));
    FIL_TRY(fil_block_lu_reserve(out->lu, arena));
    fil_block_lu_set_threads(out->lu, task->threads);
    fil_block_lu_set_stop(out->lu, fil_island_wants_end, (void *)task);
    return arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

static double factor_of(const FilConePart *part, int k) {
    return k == 0 ? part->normal : part->tangent;
}

static void add_scaling(FilCones *c, const FilConePart *part, const FilConeScaling *T) {
    const int d = fil_system_block_size(c->s, part->block);
    const int shift = part->first - c->s->offset[part->block];
    const double square = T->root * T->root;
    for (int k = part->fixed ? 1 : 0; k < part->size; k++) {
        const int64_t row = c->D_at[part->block] + (int64_t)(shift + k) * d + shift;
        for (int l = part->fixed ? 1 : 0; l < part->size; l++) {
            const double J = k != l ? 0.0 : k == 0 ? 1.0 : -1.0;
            c->D[row + l] +=
                factor_of(part, k) * square * (2.0 * T->w[k] * T->w[l] - J) * factor_of(part, l);
        }
    }
}

// C := L of the symmetric part of C = L L^T, lower triangle. A pivot lost to round-off is replaced.
static void factor_block(int d, double *C) {
    double most = 0.0;
    for (int k = 0; k < d; k++) {
        most = fmax(most, C[k * (d + 1)]);
    }
    for (int k = 0; k < d; k++) {
        for (int l = 0; l <= k; l++) {
            double sum = 0.5 * (C[k * d + l] + C[l * d + k]);
            for (int m = 0; m < l; m++) {
                sum -= C[k * d + m] * C[l * d + m];
            }
            C[k * d + l] = k > l ? sum / C[l * (d + 1)] : sqrt(fmax(sum, DBL_EPSILON * most));
        }
    }
}

// x := L^-1 x, for the columns of a d x e matrix.
static void solve_lower(int d, const double *L, int e, double *x) {
    for (int k = 0; k < d; k++) {
        for (int m = 0; m < e; m++) {
            double sum = x[k * e + m];
            for (int l = 0; l < k; l++) {
                sum -= L[k * d + l] * x[l * e + m];
            }
            x[k * e + m] = sum / L[k * (d + 1)];
        }
    }
}

// x := x L^-T, for the rows of a d x e matrix.
static void solve_upper(int e, const double *L, int d, double *x) {
    for (int k = 0; k < d; k++) {
        for (int m = 0; m < e; m++) {
            double sum = x[k * e + m];
            for (int l = 0; l < m; l++) {
                sum -= L[m * e + l] * x[k * e + l];
            }
            x[k * e + m] = sum / L[m * (e + 1)];
        }
    }
}

// x := L^-T x.
static void solve_transposed(int d, const double *L, double *x) {
    for (int k = d - 1; k >= 0; k--) {
        for (int l = k + 1; l < d; l++) {
            x[k] -= L[l * d + k] * x[l];
        }
        x[k] /= L[k * (d + 1)];
    }
}

// Rows of L^-1 (W + D) L^-T, L of the diagonal blocks.
static void scale_rows(void *context, int first, int last) {
    const FilCones *c = context;
    const FilSystem *s = c->s;
    const FilBlocks *W = &s->W;
    for (int i = first; i < last; i++) {
        const int d = fil_system_block_size(s, i);
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            const int j = W->column[k], e = fil_system_block_size(s, j);
            double *block = c->scaled + W->at[k];
            for (int m = 0; m < d * e; m++) {
                block[m] = c->W[W->at[k] + m] + (i == j ? c->D[c->D_at[i] + m] : 0.0);
            }
            solve_lower(d, c->L + c->D_at[i], e, block);
            solve_upper(e, c->L + c->D_at[j], d, block);
        }
    }
}

void fil_cones_factor(FilCones *cones, const FilConeScaling *scaling) {
    const FilSystem *s = cones->s;
    memset(cones->D, 0, (size_t)cones->D_at[s->n] * sizeof *cones->D);
    for (int p = 0; p < cones->count; p++) {
        add_scaling(cones, &cones->part[p], &scaling[p]);
    }
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i);
        const double *diagonal = cones->W + s->W.at[s->W.diagonal[i]];
        double *D = cones->D + cones->D_at[i], *L = cones->L + cones->D_at[i];
        for (int k = 0; k < d; k++) {
            D[k * (d + 1)] += cones->equal[s->offset[i] + k] ? ROUND_OFF_SHIFT / s->rho[i] : 0.0;
        }
        for (int k = 0; k < d * d; k++) {
            L[k] = diagonal[k] + D[k];
        }
        factor_block(d, L);
    }
    fil_parallel_ranges(s->n, 128, cones->threads, scale_rows, cones);
    (void)fil_block_lu_factor(cones->lu, cones->scaled, NULL);
}

double fil_cones_work(const FilCones *cones) {
    const FilBlockLuInfo info = fil_block_lu_info(cones->lu);
    return (double)info.flops + 4.0 * (double)info.nonzeros +
           4.0 * fil_system_product_work(cones->s);
}

bool fil_cones_solve(FilCones *cones, double *x) {
    const FilSystem *s = cones->s;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            x[k] = cones->dropped[k] ? 0.0 : x[k];
        }
        solve_lower(fil_system_block_size(s, i), cones->L + cones->D_at[i], 1, x + s->offset[i]);
    }
    const bool useful = fil_block_lu_solve(cones->lu, x);
    for (int i = 0; i < s->n; i++) {
        solve_transposed(fil_system_block_size(s, i), cones->L + cones->D_at[i], x + s->offset[i]);
    }
    return useful;
}

// --- coordinates and measures --------------------------------------------------------------------

void fil_cones_gather(const FilCones *cones, const double *r, double *y) {
    for (int p = 0; p < cones->count; p++) {
        const FilConePart *part = &cones->part[p];
        for (int k = part->fixed ? 1 : 0; k < part->size; k++) {
            y[part->at + k] = factor_of(part, k) * r[part->first + k];
        }
    }
}

void fil_cones_add(const FilConePart *part, const double *y, double *r) {
    for (int k = part->fixed ? 1 : 0; k < part->size; k++) {
        r[part->first + k] += factor_of(part, k) * y[k];
    }
}

// |r - P(r - rho u)|^2 with the cylinder for the cone.
static double cylinder_square(int d, double threshold, double rho, const double *u,
                              const double *r) {
    double y[FIL_BLOCK_MAX] = {0.0}, length = 0.0;
    for (int k = 0; k < d; k++) {
        y[k] = r[k] - rho * u[k];
        length += k > 0 ? y[k] * y[k] : 0.0;
    }
    length = sqrt(length);
    const double scale = length > threshold ? threshold / length : 1.0;
    double sum = pow(r[0] - fmax(y[0], 0.0), 2.0);
    for (int k = 1; k < d; k++) {
        sum += pow(r[k] - scale * y[k], 2.0);
    }
    return sum;
}

// What round-off of r - rho u hides. Where there is no solution the central path runs to infinity,
// and with it r, until u disappears in the difference and everything looks solved.
static double blindness(const FilSystem *s, const double *r) {
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            sum += pow(r[k] / s->rho[i], 2.0);
        }
    }
    return DBL_EPSILON * sqrt(sum);
}

bool fil_cones_is_solved(const FilCones *cones, const FilIslandTask *task, const double *u,
                         const double *r, double *scaled) {
    const FilSystem *s = cones->s;
    const double hidden = blindness(s, r);
    if (cones->threshold == NULL) {
        const bool solved = fil_island_is_solved(s, task, u, r, scaled);
        *scaled = fmax(*scaled, hidden);
        return solved && hidden <= task->scaled;
    }
    double sum = 0.0, natural = 0.0;
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i), o = s->offset[i];
        const double rho = s->rho[i];
        if (is_conic(s->kind[i]) && s->kind[i] != FIL_BLOCK_DUAL) {
            sum += cylinder_square(d, cones->threshold[i], rho, u + o, r + o) / (rho * rho);
            natural += cylinder_square(d, cones->threshold[i], 1.0, u + o, r + o);
        } else {
            sum += fil_law_natural(s->kind[i], d, s->mu[i], rho, u + o, r + o, NULL) / (rho * rho);
            natural += fil_law_natural(s->kind[i], d, s->mu[i], 1.0, u + o, r + o, NULL);
        }
    }
    *scaled = fmax(sqrt(sum), hidden);
    return *scaled <= task->scaled && sqrt(natural) <= task->natural;
}

double fil_cones_unit(const FilCones *cones) {
    const FilSystem *s = cones->s;
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        for (int k = s->offset[i]; k < s->offset[i + 1]; k++) {
            sum += s->rho[i] * s->b[k] * s->b[k];
        }
    }
    return sqrt(sum / (s->n > 0 ? s->n : 1));
}
