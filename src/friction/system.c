// system.c - from the public problem to what the solvers work on, and the error measures.
//
// rho_i = d_i / trace W_ii turns velocities of block i into impulses; a block with W_ii = 0 (a
// contact that nothing can move) takes the mean of the others, so that its residual keeps the
// unit of a velocity.
#include "system.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "law.h"
#include "small.h"

FilStatus fil_system_begin(const FilFrictionProblem *problem, FilArena *arena, FilSystem *out) {
    const int n = problem->block_count;
    int *offset = FIL_NEW(arena, int, n + 1);
    FilBlockKind *kind = FIL_NEW(arena, FilBlockKind, n);
    double *mu = FIL_NEW(arena, double, n);
    if (offset == NULL || kind == NULL || mu == NULL) {
        return FIL_E_NO_MEMORY;
    }
    offset[0] = 0;
    for (int i = 0; i < n; i++) {
        offset[i + 1] = offset[i] + (problem->block_sizes != NULL ? problem->block_sizes[i]
                                                                  : problem->block_size);
        kind[i] = problem->kinds != NULL ? problem->kinds[i] : FIL_BLOCK_COULOMB;
        mu[i] = fil_law_has_mu(kind[i]) ? problem->mu[i] : 0.0;
    }
    *out = (FilSystem){
        .n = n, .size = offset[n], .offset = offset, .kind = kind, .mu = mu, .b = problem->b};
    return FIL_OK;
}

FilStatus fil_system_find_scales(FilSystem *s, FilArena *arena) {
    double *rho = FIL_NEW(arena, double, s->n);
    if (rho == NULL) {
        return FIL_E_NO_MEMORY;
    }
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i);
        double block[FIL_BLOCK_MAX * FIL_BLOCK_MAX], trace = 0.0;
        s->delassus.diagonal(s->delassus.self, i, block);
        for (int k = 0; k < d; k++) {
            trace += block[k * d + k];
        }
        rho[i] = trace > 0.0 ? d / trace : 0.0;
        if (isfinite(rho[i]) && rho[i] > 0.0) {
            sum += rho[i];
            count++;
        } else {
            rho[i] = 0.0;
        }
    }
    for (int i = 0; i < s->n; i++) {
        if (rho[i] == 0.0) {
            rho[i] = count > 0 ? sum / count : 1.0;
        }
    }
    s->rho = rho;
    return FIL_OK;
}

// --- W stored as blocks --------------------------------------------------------------------------

static void stored_diagonal(const void *self, int i, double *block) {
    const FilBlocks *W = self;
    const int d = fil_blocks_size(W->offset, i);
    memcpy(block, W->value + W->at[W->diagonal[i]], (size_t)(d * d) * sizeof *block);
}

static void stored_reset(void *self, const double *r) {
    (void)self;
    (void)r;
}

static void stored_row(const void *self, int i, const double *r, double *u) {
    fil_blocks_row(self, i, r, u);
}

static void stored_update(void *self, int i, const double *change) {
    (void)self;
    (void)i;
    (void)change;
}

static FilStatus use_stored(FilSystem *s, const FilBlocks *W, FilArena *arena) {
    FilBlocks *kept = FIL_NEW(arena, FilBlocks, 1);
    if (kept == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *kept = s->W = *W;
    s->has_blocks = true;
    s->delassus =
        (FilDelassus){kept, stored_diagonal, stored_reset, stored_row, stored_update, NULL};
    return fil_system_find_scales(s, arena);
}

static bool has_all_diagonals(const FilBlockRows *rows, int n) {
    for (int i = 0; i < n; i++) {
        bool found = false;
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            found |= rows->column[k] == i;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

// Columns of a row with the diagonal among them; returns how many.
static int place_columns(const int *given, int count, int i, int *column) {
    int k = 0, next = 0;
    while (k < count && given[k] < i) {
        column[next++] = given[k++];
    }
    column[next++] = i;
    k += k < count && given[k] == i;
    while (k < count) {
        column[next++] = given[k++];
    }
    return next;
}

// Copy the given blocks, with a zero diagonal block where there was none.
static FilStatus copy_with_diagonal(const FilBlockRows *rows, FilSystem *s, FilArena *arena,
                                    FilBlocks *out) {
    const int n = s->n;
    int *start = FIL_NEW(arena, int, n + 1);
    int *column = FIL_NEW(arena, int, rows->start[n] + n);
    if (start == NULL || column == NULL) {
        return FIL_E_NO_MEMORY;
    }
    int next = 0;
    for (int i = 0; i < n; i++) {
        start[i] = next;
        next += place_columns(rows->column + rows->start[i], rows->start[i + 1] - rows->start[i], i,
                              column + next);
    }
    start[n] = next;
    *out = (FilBlocks){.n = n, .offset = s->offset, .start = start, .column = column};
    if (!fil_blocks_index(out, arena)) {
        return FIL_E_NO_MEMORY;
    }
    double *value = FIL_NEW_ZEROED(arena, double, out->at[next]);
    if (value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    const double *given = rows->value;
    for (int i = 0; i < n; i++) {
        int k = start[i];
        for (int g = rows->start[i]; g < rows->start[i + 1]; g++) {
            while (column[k] != rows->column[g]) {
                k++;
            }
            const int64_t count = out->at[k + 1] - out->at[k];
            memcpy(value + out->at[k], given, (size_t)count * sizeof *value);
            given += count;
        }
    }
    out->value = value;
    return FIL_OK;
}

static FilStatus add_compliance(const double *compliance, FilBlocks *W, FilArena *arena) {
    const int64_t count = W->at[W->start[W->n]];
    double *value = FIL_NEW(arena, double, count);
    if (value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(value, W->value, (size_t)count * sizeof *value);
    for (int i = 0; i < W->n; i++) {
        const int d = fil_blocks_size(W->offset, i);
        double *block = value + W->at[W->diagonal[i]];
        for (int k = 0; k < d * d; k++) {
            block[k] += compliance[k];
        }
        compliance += (ptrdiff_t)d * d;
    }
    W->value = value;
    return FIL_OK;
}

FilStatus fil_system_from_blocks(const FilFrictionProblem *problem, FilArena *arena,
                                 FilSystem *out) {
    FIL_TRY(fil_system_begin(problem, arena, out));
    static const int nothing[1] = {0};
    FilBlocks W = {.offset = out->offset, .start = nothing};
    if (out->n == 0) { // the arrays of the problem may be NULL
        if (!fil_blocks_index(&W, arena)) {
            return FIL_E_NO_MEMORY;
        }
    } else if (problem->form == FIL_FORM_BODIES) {
        FIL_TRY(fil_blocks_from_bodies(&problem->bodies, out->n, out->offset, arena, &W));
    } else if (has_all_diagonals(&problem->blocks, out->n)) {
        const FilBlockRows *rows = &problem->blocks;
        W = (FilBlocks){.n = out->n,
                        .offset = out->offset,
                        .start = rows->start,
                        .column = rows->column,
                        .value = rows->value};
        if (!fil_blocks_index(&W, arena)) {
            return FIL_E_NO_MEMORY;
        }
    } else {
        FIL_TRY(copy_with_diagonal(&problem->blocks, out, arena, &W));
    }
    if (problem->compliance != NULL && out->n > 0) {
        FIL_TRY(add_compliance(problem->compliance, &W, arena));
    }
    return use_stored(out, &W, arena);
}

FilStatus fil_system_part(const FilSystem *whole, const int *member, int count, const int *local,
                          FilArena *arena, FilSystem *out) {
    FilBlocks W;
    FIL_TRY(fil_blocks_part(&whole->W, member, count, local, arena, &W));
    const int size = W.offset[count];
    FilBlockKind *kind = FIL_NEW(arena, FilBlockKind, count);
    double *mu = FIL_NEW(arena, double, count);
    double *rho = FIL_NEW(arena, double, count);
    double *b = FIL_NEW(arena, double, size);
    FilBlocks *kept = FIL_NEW(arena, FilBlocks, 1);
    if (kind == NULL || mu == NULL || rho == NULL || b == NULL || kept == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int m = 0; m < count; m++) {
        const int i = member[m];
        kind[m] = whole->kind[i];
        mu[m] = whole->mu[i];
        rho[m] = whole->rho[i];
        memcpy(b + W.offset[m], whole->b + whole->offset[i],
               (size_t)fil_system_block_size(whole, i) * sizeof *b);
    }
    *kept = W;
    *out = (FilSystem){
        .n = count,
        .size = size,
        .offset = W.offset,
        .kind = kind,
        .mu = mu,
        .b = b,
        .rho = rho,
        .delassus = {kept, stored_diagonal, stored_reset, stored_row, stored_update, NULL},
        .has_blocks = true,
        .W = W};
    return FIL_OK;
}

// --- W kept factored by bodies -------------------------------------------------------------------

typedef struct Factored {
    const FilBodyRows *bodies;
    const double *compliance; // or NULL
    const int *offset;
    int n;
    int64_t *at;            // [entries + 1] where the rows of an entry begin in H and HA
    int64_t *compliance_at; // [n + 1]
    double *velocity;       // of the bodies, A^-1 H^T r
} Factored;

static int body_size(const FilBodyRows *bodies, int e) {
    const int body = bodies->body[e];
    return bodies->body_start[body + 1] - bodies->body_start[body];
}

static void factored_diagonal(const void *self, int i, double *block) {
    const Factored *f = self;
    const FilBodyRows *bodies = f->bodies;
    const int d = f->offset[i + 1] - f->offset[i];
    memset(block, 0, (size_t)(d * d) * sizeof *block);
    for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
        for (int g = bodies->start[i]; g < bodies->start[i + 1]; g++) {
            if (bodies->body[e] == bodies->body[g]) {
                fil_small_add_transposed(d, body_size(bodies, e), d, bodies->H + f->at[e],
                                         bodies->HA + f->at[g], block);
            }
        }
    }
    for (int k = 0; f->compliance != NULL && k < d * d; k++) {
        block[k] += f->compliance[f->compliance_at[i] + k];
    }
}

static void factored_update(void *self, int i, const double *change) {
    const Factored *f = self;
    const FilBodyRows *bodies = f->bodies;
    const int d = f->offset[i + 1] - f->offset[i];
    for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
        const int m = body_size(bodies, e);
        const double *HA = bodies->HA + f->at[e];
        double *v = f->velocity + bodies->body_start[bodies->body[e]];
        for (int a = 0; a < d; a++) {
            for (int k = 0; k < m; k++) {
                v[k] += HA[a * m + k] * change[a];
            }
        }
    }
}

static void factored_reset(void *self, const double *r) {
    Factored *f = self;
    memset(f->velocity, 0,
           (size_t)f->bodies->body_start[f->bodies->body_count] * sizeof *f->velocity);
    for (int i = 0; i < f->n; i++) {
        factored_update(self, i, r + f->offset[i]);
    }
}

static void factored_row(const void *self, int i, const double *r, double *u) {
    const Factored *f = self;
    const FilBodyRows *bodies = f->bodies;
    const int d = f->offset[i + 1] - f->offset[i];
    for (int a = 0; a < d; a++) {
        u[a] = 0.0;
        for (int c = 0; f->compliance != NULL && c < d; c++) {
            u[a] += f->compliance[f->compliance_at[i] + a * d + c] * r[f->offset[i] + c];
        }
    }
    for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
        const int m = body_size(bodies, e);
        const double *v = f->velocity + bodies->body_start[bodies->body[e]];
        for (int a = 0; a < d; a++) {
            const double *H = bodies->H + f->at[e] + (ptrdiff_t)a * m;
            for (int k = 0; k < m; k++) {
                u[a] += H[k] * v[k];
            }
        }
    }
}

FilStatus fil_system_from_bodies(const FilFrictionProblem *problem, FilArena *arena,
                                 FilSystem *out) {
    FIL_TRY(fil_system_begin(problem, arena, out));
    const FilBodyRows *bodies = &problem->bodies;
    const int n = out->n;
    Factored *f = FIL_NEW(arena, Factored, 1);
    int64_t *at = fil_blocks_entry_offsets(bodies, n, out->offset, arena);
    int64_t *compliance_at = fil_system_squares(out, arena);
    double *velocity = FIL_NEW_ZEROED(arena, double, bodies->body_start[bodies->body_count]);
    if (f == NULL || at == NULL || compliance_at == NULL || velocity == NULL) {
        return FIL_E_NO_MEMORY;
    }
    *f = (Factored){bodies, problem->compliance, out->offset, n, at, compliance_at, velocity};
    out->bodies = bodies;
    out->delassus =
        (FilDelassus){f, factored_diagonal, factored_reset, factored_row, factored_update, NULL};
    return fil_system_find_scales(out, arena);
}

int64_t *fil_system_squares(const FilSystem *s, FilArena *arena) {
    int64_t *at = FIL_NEW(arena, int64_t, s->n + 1);
    if (at != NULL) {
        at[0] = 0;
        for (int i = 0; i < s->n; i++) {
            const int64_t d = fil_system_block_size(s, i);
            at[i + 1] = at[i] + d * d;
        }
    }
    return at;
}

FilStatus fil_system_without_friction(const FilSystem *s, FilArena *arena, FilSystem *out) {
    double *mu = FIL_NEW(arena, double, s->n);
    if (mu == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        mu[i] = s->kind[i] == FIL_BLOCK_COULOMB ? 0.0 : s->mu[i];
    }
    *out = *s;
    out->mu = mu;
    return FIL_OK;
}

// --- units ---------------------------------------------------------------------------------------

// Binary exponent of the largest entry; 0 where all are zero.
static int exponent_of(double largest) {
    return largest > 0.0 ? ilogb(largest) : 0;
}

static double largest_entry(const double *x, int64_t count, double largest) {
    for (int64_t k = 0; k < count; k++) {
        largest = fmax(largest, fabs(x[k]));
    }
    return largest;
}

void fil_scale_by_power(int size, int power, double *x) {
    for (int k = 0; power != 0 && k < size; k++) {
        x[k] = fmin(fmax(ldexp(x[k], power), -DBL_MAX), DBL_MAX);
    }
}

FilStatus fil_system_rescale(const FilSystem *s, FilArena *arena, FilSystem *out, FilUnits *units) {
    const int far = 200; // 2^200 = 1.6e60
    *out = *s;
    *units = (FilUnits){0, 0};
    if (!s->has_blocks || s->reduction != NULL || s->primal != NULL) {
        return FIL_OK;
    }
    double largest = 0.0;
    for (int i = 0; i < s->n; i++) {
        const int d = fil_system_block_size(s, i);
        largest = largest_entry(s->W.value + s->W.at[s->W.diagonal[i]], (int64_t)d * d, largest);
    }
    const int w = exponent_of(largest), b = exponent_of(largest_entry(s->b, s->size, 0.0));
    if (abs(w) < far && abs(b) < far && abs(w - b) < far) {
        return FIL_OK;
    }
    const int64_t count = s->W.at[s->W.start[s->n]];
    double *value = FIL_NEW(arena, double, count);
    double *scaled_b = FIL_NEW(arena, double, s->size);
    double *mu = FIL_NEW(arena, double, s->n);
    if (value == NULL || scaled_b == NULL || mu == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < s->n; i++) { // the radius of a ball is an impulse
        mu[i] = s->mu[i];
        fil_scale_by_power(s->kind[i] == FIL_BLOCK_BALL ? 1 : 0, w - b, &mu[i]);
    }
    for (int64_t k = 0; k < count; k++) {
        value[k] = ldexp(s->W.value[k], -w);
    }
    for (int k = 0; k < s->size; k++) {
        scaled_b[k] = ldexp(s->b[k], -b);
    }
    FilBlocks W = s->W;
    W.value = value;
    out->b = scaled_b;
    out->mu = mu;
    *units = (FilUnits){w, b};
    return use_stored(out, &W, arena);
}

// --- velocities and residuals --------------------------------------------------------------------

typedef struct Velocity {
    const FilSystem *s;
    const double *r;
    double *u;
} Velocity;

static void velocity_rows(void *context, int first, int last) {
    const Velocity *v = context;
    const FilSystem *s = v->s;
    for (int i = first; i < last; i++) {
        double *u = v->u + s->offset[i];
        s->delassus.row(s->delassus.self, i, v->r, u);
        for (int k = 0; k < fil_system_block_size(s, i); k++) {
            u[k] += s->b[s->offset[i] + k];
        }
    }
}

double fil_system_product_work(const FilSystem *s) {
    const double each = 100.0; // of a block: its law, and its rows where W is not stored
    return (s->has_blocks ? 2.0 * (double)s->W.at[s->W.start[s->n]] : 40.0 * s->size) + each * s->n;
}

// NOLINTNEXTLINE(readability-non-const-parameter): u is written through the measure
void fil_system_velocity(const FilSystem *s, const double *r, double *u, int threads) {
    s->delassus.reset(s->delassus.self, r);
    Velocity v = {s, r, u};
    fil_parallel_ranges(s->n, 256, threads, velocity_rows, &v);
}

void fil_system_multiply(const FilSystem *s, const double *r, double *Wr, int threads) {
    if (s->delassus.multiply != NULL) {
        s->delassus.multiply(s->delassus.self, r, Wr);
        return;
    }
    fil_system_velocity(s, r, Wr, threads);
    for (int k = 0; k < s->size; k++) {
        Wr[k] -= s->b[k];
    }
}

typedef struct Square {
    const FilSystem *s;
    FilMeasure measure;
    const double *u, *r;
} Square;

static double add_squares(void *context, int first, int last) {
    const Square *x = context;
    const FilSystem *s = x->s;
    double sum = 0.0;
    for (int i = first; i < last; i++) {
        const double *u = x->u + s->offset[i], *r = x->r + s->offset[i];
        const int d = fil_system_block_size(s, i);
        switch (x->measure) {
        case FIL_MEASURE_SCALED:
            sum += fil_law_natural(s->kind[i], d, s->mu[i], s->rho[i], u, r, NULL) /
                   (s->rho[i] * s->rho[i]);
            break;
        case FIL_MEASURE_NATURAL:
            sum += fil_law_natural(s->kind[i], d, s->mu[i], 1.0, u, r, NULL);
            break;
        case FIL_MEASURE_STEEP:
            if (s->kind[i] == FIL_BLOCK_COULOMB && s->mu[i] > 1.0) {
                sum += fil_law_alart_curnier(s->kind[i], d, s->mu[i], s->rho[i], u, r, NULL) /
                       (s->rho[i] * s->rho[i]);
            }
            break;
        case FIL_MEASURE_ALART_CURNIER:
            sum += 0.5 * fil_law_alart_curnier(s->kind[i], d, s->mu[i], 1.0, u, r, NULL);
            break;
        }
    }
    return sum;
}

double fil_system_square(const FilSystem *s, FilMeasure measure, const double *u, const double *r,
                         int threads) {
    Square x = {s, measure, u, r};
    return fil_parallel_sum(s->n, s->n > 2048 ? threads : 1, add_squares, &x);
}

bool fil_system_is_steep_lawful(const FilSystem *s, const double *u, const double *r, double scaled,
                                int threads) {
    return sqrt(fil_system_square(s, FIL_MEASURE_STEEP, u, r, threads)) <= 10.0 * scaled;
}

double fil_system_unit(const FilSystem *s) {
    double largest = 0.0, sum = 0.0;
    for (int k = 0; k < s->size; k++) {
        largest = fmax(largest, fabs(s->b[k]));
    }
    for (int k = 0; largest > 0.0 && k < s->size; k++) {
        const double x = s->b[k] / largest; // squares neither overflow nor vanish
        sum += x * x;
    }
    return largest > 0.0 ? largest * sqrt(sum) : 1.0;
}

static double finite(double x) {
    return isfinite(x) ? x : DBL_MAX;
}

FilResidual fil_system_residual(const FilSystem *s, const double *u, const double *r, int threads) {
    const double unit = fil_system_unit(s);
    return (FilResidual){
        .scaled = finite(sqrt(fil_system_square(s, FIL_MEASURE_SCALED, u, r, threads)) / unit),
        .natural = finite(sqrt(fil_system_square(s, FIL_MEASURE_NATURAL, u, r, threads)) /
                          fil_natural_unit(unit)),
        .alart_curnier = finite(fil_system_square(s, FIL_MEASURE_ALART_CURNIER, u, r, threads))};
}
