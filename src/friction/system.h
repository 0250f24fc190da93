#ifndef FIL_FRICTION_SYSTEM_H
#define FIL_FRICTION_SYSTEM_H

// A contact problem as the solvers see it: laws, free velocities, and W behind a small table.

#include "base/arena.h"
#include "blocks.h"

/// W as sweeping solvers use it. A stored W needs no update; a factored one keeps the velocities
/// of the bodies and updates them as r changes, so that a row costs what the bodies cost.
typedef struct FilDelassus {
    void *self;
    void (*diagonal)(const void *self, int i, double *block);         // W_ii, row-major
    void (*reset)(void *self, const double *r);                       // r as a whole is new
    void (*row)(const void *self, int i, const double *r, double *u); // u = (W r)_i
    void (*update)(void *self, int i, const double *change);          // r_i grew by change
    void (*multiply)(void *self, const double *r, double *Wr);        // all rows; NULL: one by one
} FilDelassus;

typedef struct FilSystem {
    int n;                    // blocks
    int size;                 // unknowns
    const int *offset;        // [n + 1]
    const FilBlockKind *kind; // [n]
    const double *mu;         // [n]
    const double *b;          // [size]
    const double *rho;        // [n] d_i / trace W_ii: velocity to impulse
    FilDelassus delassus;
    bool has_blocks;                      // W is stored as blocks
    FilBlocks W;                          // those
    const FilBodyRows *bodies;            // where it is kept factored, else NULL
    const struct FilReduction *reduction; // of a problem with M and H, else NULL
    struct FilMassSolver *mass;           // solves with M, where W is an operator; else NULL
    const struct FilPrimal *primal;       // M and H, where they are known and may pay; or NULL
} FilSystem;

static inline int fil_system_block_size(const FilSystem *s, int i) {
    return s->offset[i + 1] - s->offset[i];
}

/// What a system is wanted for.
typedef struct FilSystemUse {
    bool sweeps; // rows and updates only: W may stay factored by bodies
    bool newton; // Newton steps: where W is an operator the primal is made
    int threads;
} FilSystemUse;

/// The system of a checked problem in any form. W is stored as blocks, but for two cases: bodies
/// too large for that make it an operator (unreduced.c), and for sweeps it stays factored where
/// that is cheaper. `scratch` is given back as it was. FIL_E_ARGUMENT when M is singular, or W or b
/// overflow.
FilStatus fil_system_build(const FilFrictionProblem *problem, const FilSystemUse *use,
                           FilArena *arena, FilArena *scratch, FilSystem *out, FilError *error);

/// Find the bodies of a problem that has M and H besides W, so that steps in velocities can be
/// made. FIL_E_ARGUMENT when M is not that of bodies.
FilStatus fil_system_add_bodies(const FilFrictionProblem *problem, FilArena *arena,
                                FilArena *scratch, FilSystem *s, FilError *error);

/// Offsets, kinds and coefficients of a checked problem, defaults filled in; b, rho and W are left
/// to the builders below.
FilStatus fil_system_begin(const FilFrictionProblem *problem, FilArena *arena, FilSystem *out);

/// rho from the diagonal blocks, once the operator is there.
FilStatus fil_system_find_scales(FilSystem *s, FilArena *arena);

/// The system of a problem given by blocks or bodies, W stored as blocks.
FilStatus fil_system_from_blocks(const FilFrictionProblem *problem, FilArena *arena,
                                 FilSystem *out);

/// The system of a problem given by bodies, W kept factored.
FilStatus fil_system_from_bodies(const FilFrictionProblem *problem, FilArena *arena,
                                 FilSystem *out);

/// The blocks `member` of a system with a stored W, as a system of its own.
FilStatus fil_system_part(const FilSystem *whole, const int *member, int count, const int *local,
                          FilArena *arena, FilSystem *out);

/// [n + 1] where block i begins among square blocks, d_i x d_i, one after the other. NULL without
/// memory.
int64_t *fil_system_squares(const FilSystem *s, FilArena *arena);

/// The same system with mu = 0 in its coulomb blocks.
FilStatus fil_system_without_friction(const FilSystem *s, FilArena *arena, FilSystem *out);

/// Powers of two that bring a system near 1: W' = W / 2^w, b' = b / 2^b, and with them
/// r' = r 2^(w - b), u' = u / 2^b. Both 0: it was left as it is.
typedef struct FilUnits {
    int w, b;
} FilUnits;

/// The same system in units in which no square of an entry overflows or vanishes, where it is given
/// by blocks or bodies and W, b or the impulses b / W are beyond 1e60 or below 1e-60. `out` may be
/// s.
FilStatus fil_system_rescale(const FilSystem *s, FilArena *arena, FilSystem *out, FilUnits *units);

/// x 2^power, kept finite.
void fil_scale_by_power(int size, int power, double *x);

/// Wr = W r.
void fil_system_multiply(const FilSystem *s, const double *r, double *Wr, int threads);

/// Operations of a product with W, and of measuring what came of it.
double fil_system_product_work(const FilSystem *s);

/// u = W r + b.
void fil_system_velocity(const FilSystem *s, const double *r, double *u, int threads);

typedef enum FilMeasure {
    FIL_MEASURE_SCALED,
    FIL_MEASURE_NATURAL,
    FIL_MEASURE_ALART_CURNIER,
    FIL_MEASURE_STEEP
} FilMeasure;

/// Sum over the blocks of the squared residual of (u, r), before any division by |b|: of the
/// natural map with rho_i in the unit of a velocity, of the natural map with rho = 1, of half the
/// Alart-Curnier function with rho = 1, or of that function with rho_i in the unit of a velocity,
/// over the coulomb blocks with mu > 1 only.
double fil_system_square(const FilSystem *s, FilMeasure measure, const double *u, const double *r,
                         int threads);

/// The residuals of a whole problem; what overflows is DBL_MAX.
FilResidual fil_system_residual(const FilSystem *s, const double *u, const double *r, int threads);

/// Whether coulomb blocks with mu > 1 obey the law by the Alart-Curnier function too, to ten times
/// `scaled`. The natural map is blind there: it sees u_N < 0 divided by the length of (1, mu).
bool fil_system_is_steep_lawful(const FilSystem *s, const double *u, const double *r, double scaled,
                                int threads);

/// |b|, or 1 where b = 0: what `scaled` is divided by.
double fil_system_unit(const FilSystem *s);

/// What `natural` is divided by: as Siconos has it, nothing where |b| is below 1e-15.
static inline double fil_natural_unit(double unit) {
    return unit < 1e-15 ? 1.0 : unit;
}

#endif
