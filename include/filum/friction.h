#ifndef FIL_FRICTION_H
#define FIL_FRICTION_H

/// Contact problems with exact Coulomb friction.
///
/// The problem. Unknowns come in blocks (one per contact, joint, ...). Block i has a velocity u_i
/// and an impulse r_i of the same size d_i, normal component first, and
///
///     u = W r + b,      (u_i, r_i) obeys the law of block i,
///
/// where W is positive semi-definite (the Delassus operator; small asymmetry is tolerated). The
/// law of a block is its kind:
///
///     coulomb(mu)   r in K_mu, u + mu |u_T| e in the dual of K_mu, orthogonal: Signorini's
///                   condition with Coulomb friction; mu = 0 is a frictionless contact
///     unilateral    0 <= u  orthogonal to  r >= 0, component by component
///     equality      u = 0: joints, clamps
///     free          r = 0
///     cone(mu)      r in K_mu, u in its dual, orthogonal: friction without the mu |u_T| term
///     dual(mu)      r in the dual of K_mu, u in K_mu, orthogonal
///     ball(c)       |r| <= c, u = 0 where |r| < c, else u = -l r with l >= 0: a joint that holds
///                   up to the impulse c and slips beyond; with a compliance a spring that gives
///                   way; c, N s, is given as its mu
///
/// with K_mu = { x : |x_T| <= mu x_N }. W may be given in three forms: as blocks, factored by
/// bodies, or implicitly by the global problem M v = H r + f, u = H^T v + w.
///
/// Four nouns: problem, settings, solution, info. Not converged is a result (FilOutcome), not an
/// error. All arrays belong to the caller and are only borrowed during the call.

#include "filum/base.h"
#include "filum/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Largest size of a block.
#define FIL_BLOCK_MAX 6

/// Fewest and most facets of the pyramid of `linearised`.
#define FIL_FACET_MIN 3
#define FIL_FACET_MAX 256

// Name in files and on the command line, what it is.
#define FIL_BLOCK_KINDS(X)                                                               \
    X(FIL_BLOCK_COULOMB, "coulomb", "unilateral contact with Coulomb friction")          \
    X(FIL_BLOCK_UNILATERAL, "unilateral", "0 <= u orthogonal to r >= 0, each component") \
    X(FIL_BLOCK_EQUALITY, "equality", "u = 0")                                           \
    X(FIL_BLOCK_FREE, "free", "r = 0")                                                   \
    X(FIL_BLOCK_CONE, "cone", "r in K_mu, u in its dual, orthogonal")                    \
    X(FIL_BLOCK_DUAL, "dual", "r in the dual of K_mu, u in K_mu, orthogonal")            \
    X(FIL_BLOCK_BALL, "ball", "|r| <= c, u = 0 or opposite to r on the boundary")

#define FIL_LOCAL_SOLVERS(X)                                                                  \
    X(FIL_LOCAL_HYBRID, "hybrid", "enumeration of the easy cases, Newton, quartic if needed") \
    X(FIL_LOCAL_HYBRID_NEWTON, "hybrid-newton", "Newton first, enumeration as fail-safe")     \
    X(FIL_LOCAL_ENUM, "enum", "take-off, stick, then slide by the roots of a quartic")        \
    X(FIL_LOCAL_MFB, "mfb", "Newton on the Fischer-Burmeister function of the cone")          \
    X(FIL_LOCAL_PAC, "pac", "pure Newton on the Alart-Curnier function")                      \
    X(FIL_LOCAL_DAC, "dac", "damped Newton on the Alart-Curnier function")                    \
    X(FIL_LOCAL_LINEARISED, "linearised", "pyramid in place of the cone (comparator)")

#define FIL_FRICTION_SOLVERS(X)                                                        \
    X(FIL_SOLVER_AUTO, "auto", "proximal Newton with fail-safes; the default")         \
    X(FIL_SOLVER_GAUSS_SEIDEL, "gauss-seidel", "sweeps of one-contact solves")         \
    X(FIL_SOLVER_NEWTON, "newton", "global nonsmooth Newton with line search")         \
    X(FIL_SOLVER_CADOUX, "cadoux", "fixed point over convex cone programs")            \
    X(FIL_SOLVER_SOCQP, "socqp", "the convex problem, without the mu |u_T| term")      \
    X(FIL_SOLVER_TRESCA, "tresca", "threshold from a frictionless solve (comparator)") \
    X(FIL_SOLVER_CONVEX, "convex", "one Cadoux iteration (comparator)")                \
    X(FIL_SOLVER_LINEARISED, "linearised", "pyramid in place of the cone (comparator)")

#define FIL_NEWTON_FUNCTIONS(X)                                                              \
    X(FIL_FUNCTION_FISCHER_BURMEISTER, "fb", "Fischer-Burmeister after the De Saxce change") \
    X(FIL_FUNCTION_ALART_CURNIER, "ac", "Alart-Curnier")                                     \
    X(FIL_FUNCTION_DE_SAXCE, "ds", "De Saxce natural map")

#define FIL_CONVEX_SOLVERS(X)                                                                     \
    X(FIL_CONVEX_INTERIOR, "interior", "interior point on the dual (impulses)")                   \
    X(FIL_CONVEX_INTERIOR_PRIMAL, "interior-primal", "interior point on the primal (velocities)") \
    X(FIL_CONVEX_GRADIENT, "gradient", "accelerated projected gradient on the dual")

#define FIL_OUTCOMES(X)                                                                          \
    X(FIL_CONVERGED, "converged", "every residual that was asked for is below tolerance")        \
    X(FIL_STALLED, "stalled", "no further progress; the best iterate is returned")               \
    X(FIL_NO_SOLUTION, "no-solution", "shown to have no solution; the best iterate is returned") \
    X(FIL_LIMIT, "limit", "limit or budget reached, or stopped; the best iterate is returned")

#define FIL_NAMED_ENUM(code, name, text) code,
typedef enum FilBlockKind { FIL_BLOCK_KINDS(FIL_NAMED_ENUM) FIL_BLOCK_KIND_COUNT } FilBlockKind;
typedef enum FilLocalSolver {
    FIL_LOCAL_SOLVERS(FIL_NAMED_ENUM) FIL_LOCAL_SOLVER_COUNT
} FilLocalSolver;
typedef enum FilFrictionSolver {
    FIL_FRICTION_SOLVERS(FIL_NAMED_ENUM) FIL_FRICTION_SOLVER_COUNT
} FilFrictionSolver;
typedef enum FilNewtonFunction {
    FIL_NEWTON_FUNCTIONS(FIL_NAMED_ENUM) FIL_NEWTON_FUNCTION_COUNT
} FilNewtonFunction;
typedef enum FilConvexSolver {
    FIL_CONVEX_SOLVERS(FIL_NAMED_ENUM) FIL_CONVEX_SOLVER_COUNT
} FilConvexSolver;
typedef enum FilOutcome { FIL_OUTCOMES(FIL_NAMED_ENUM) FIL_OUTCOME_COUNT } FilOutcome;

/// W kept factored by bodies: W = sum over bodies of H A^-1 H^T. Entry e of block i says how the
/// velocity of body `body[e]` moves block i: u_i += H_e v_body. A body may come twice in a block.
typedef struct FilBodyRows {
    int body_count;
    const int *body_start; ///< body_count + 1 offsets of the bodies' unknowns in v
    const int *start;      ///< block_count + 1 offsets of the entries
    const int *body;       ///< body of every entry
    const double *H;       ///< per entry, row-major d_i x m_body
    const double *HA;      ///< per entry, row-major d_i x m_body: H A^-1 (A symmetric)
} FilBodyRows;

/// W given by the global problem M v = H r + f, u = H^T v + w; M symmetric positive definite.
/// Equality rows G^T v + b_G = 0 are equality blocks: append the columns of G to H and b_G to w.
typedef struct FilGlobalForm {
    FilSparse M;     ///< m x m, both triangles
    FilSparse H;     ///< m x (sum of d_i): column k is what component k of r does to the bodies
    const double *f; ///< m
    const double *w; ///< sum of d_i
} FilGlobalForm;

/// W by its product with a vector, where forming it would cost more than solving with it: heaps,
/// whose contacts share bodies with hundreds of others. For the solver `auto` alone, which takes
/// steps of an accelerated gradient then: right for a tolerance of 1e-5 or so, not for 1e-10.
typedef struct FilProductForm {
    /// Wr = W r, sum of d_i each; called from one thread at a time.
    void (*multiply)(void *user, const double *r, double *Wr);
    void *user;
    const double *diagonal; ///< W_ii of every block, d_i x d_i each, without the compliance
} FilProductForm;

typedef enum FilForm {
    FIL_FORM_BLOCKS,
    FIL_FORM_BODIES,
    FIL_FORM_GLOBAL,
    FIL_FORM_PRODUCT
} FilForm;

/// One contact problem. Start from a zeroed struct, fill block_count, block_size, mu, and one form.
typedef struct FilFrictionProblem {
    int block_count;
    int block_size;            ///< of every block, when block_sizes is NULL; 1 to FIL_BLOCK_MAX
    const int *block_sizes;    ///< or one per block
    const FilBlockKind *kinds; ///< one per block; NULL: all coulomb
    /// One per block, >= 0 where the kind has friction (coulomb, cone, dual) or is a ball (its
    /// radius), not read elsewhere; NULL only where no block has one.
    const double *mu;
    /// m, unknowns of the bodies behind W: for the conditioning number alone. 0: not known; in
    /// FIL_FORM_GLOBAL 0 or the size of M.
    int dof_count;
    FilForm form;
    FilBlockRows blocks; ///< FIL_FORM_BLOCKS: W
    FilBodyRows bodies;  ///< FIL_FORM_BODIES
    /// FIL_FORM_GLOBAL. In the other forms M and H (not f and w) may be given besides W, which is
    /// H^T M^-1 H then: solvers that factor may do so in velocities where that is less work. No
    /// columns in M: not given.
    FilGlobalForm global;
    FilProductForm product;   ///< FIL_FORM_PRODUCT
    const double *b;          ///< sum of d_i, m/s; not used by FIL_FORM_GLOBAL
    const double *compliance; ///< optional block-diagonal C added to W: d_i x d_i each, or NULL
} FilFrictionProblem;

/// How far (u, r) is from obeying the laws; u~ = u + mu |u_T| e for coulomb blocks, else u. Always
/// finite: what overflows is DBL_MAX.
typedef struct FilResidual {
    double
        scaled; ///< sqrt(sum |(r_i - P(r_i - rho_i u~_i)) / rho_i|^2) / |b|, rho = d_i / trace W_ii
    double natural;       ///< |r - P(r - u~)| / |b|
    double alart_curnier; ///< 1/2 |f_AC|^2, rho = 1
} FilResidual;

typedef struct FilFrictionProgress {
    int iteration;
    double scaled;     ///< residual of the present iterate
    const char *phase; ///< what is running: "gauss-seidel", "newton", ...
} FilFrictionProgress;

/// How to solve. Start from fil_friction_settings_default().
typedef struct FilFrictionSettings {
    FilFrictionSolver solver;
    FilLocalSolver local;       ///< for gauss-seidel
    FilNewtonFunction function; ///< for newton
    FilConvexSolver convex;     ///< for cadoux, socqp, convex
    /// > 0; converged means residual.scaled <= tolerance. Contacts with mu > 1, where that measure
    /// is blind to penetration, must obey the Alart-Curnier function as well, in velocities, to 10
    /// tolerance |b|.
    double tolerance;
    double natural_tolerance; ///< and residual.natural <= this; 0: not asked for
    int max_iterations;       ///< 0: the solver's own limit
    /// Most work of a solve, for `auto`: in Newton steps with every contact pressed, of which
    /// products and cheaper steps are parts (a step a third at least). Operations are counted, not
    /// timed: every machine stops at the same iterate. 0: no limit but those of its iterations.
    double budget;
    int facet_count;  ///< of the pyramid of `linearised`, FIL_FACET_MIN to FIL_FACET_MAX
    int thread_count; ///< 0: as many as OpenMP offers
    bool warm_start;  ///< start from the r given in the solution
    /// False stops. Never called by two threads at once; the reports of islands interleave.
    bool (*on_iteration)(void *user, const FilFrictionProgress *progress);
    /// True stops, as above: asked in the middle of factorisations too, some tens of milliseconds
    /// apart. Never called by two threads at once.
    bool (*stop)(void *user);
    void *user;
} FilFrictionSettings;

/// Arrays of the caller, sum of d_i each; v (m) only for FIL_FORM_GLOBAL, and may be NULL.
typedef struct FilFrictionSolution {
    double *r; ///< impulses; with warm_start also the first guess
    double *u; ///< relative velocities W r + b; may be NULL
    double *v; ///< velocities of the bodies
} FilFrictionSolution;

typedef struct FilFrictionSeconds {
    double total, setup, sweeps, factor, other;
} FilFrictionSeconds;

/// What came of it. `residual` and `outcome` are those of the exact laws, whichever solver was
/// asked: the comparators (tresca, convex, linearised) solve a problem of their own and are
/// converged only where its solution obeys the exact laws to tolerance; where it does not they are
/// stalled, or limit. For socqp alone coulomb blocks count as cones, in both.
typedef struct FilFrictionInfo {
    FilOutcome outcome;
    FilResidual residual;
    int iterations;      ///< sweeps and Newton steps together
    double work;         ///< what was done, in the unit of the budget; of `auto` alone
    int fallbacks;       ///< calls of the fail-safe: of the local solver, or of a global method
    int island_count;    ///< independent parts
    int largest_island;  ///< blocks in the largest
    double conditioning; ///< nu = (sum of d_i) / m; 0 where m is not known
    FilFrictionSeconds seconds;
} FilFrictionInfo;

/// Memory that solves share: after the first solve of a size, the next ones allocate nothing.
typedef struct FilFrictionWorkspace FilFrictionWorkspace;

FIL_API FilFrictionSettings fil_friction_settings_default(void);

/// Names of the tables above, for programs; the text says what it is. NULL when out of range.
FIL_API const char *fil_friction_solver_name(FilFrictionSolver solver);
FIL_API const char *fil_local_solver_name(FilLocalSolver local);
FIL_API const char *fil_newton_function_name(FilNewtonFunction function);
FIL_API const char *fil_convex_solver_name(FilConvexSolver convex);
FIL_API const char *fil_block_kind_name(FilBlockKind kind);
FIL_API const char *fil_outcome_name(FilOutcome outcome);

/// Check sizes, indices, ranges and finiteness of a problem. Solves do it themselves.
FIL_API FIL_MUST_CHECK FilStatus fil_friction_check(const FilFrictionProblem *problem,
                                                    FilError *error);

/// Make a workspace. The caller owns `*out` and gives it back with the destroy function.
FIL_API FIL_MUST_CHECK FilStatus fil_friction_workspace_create(const FilAllocator *allocator,
                                                               FilFrictionWorkspace **out,
                                                               FilError *error);

/// NULL is fine.
FIL_API void fil_friction_workspace_destroy(FilFrictionWorkspace *workspace);

/// Solve. `settings` NULL means defaults. `workspace` NULL means a temporary one. FIL_OK also when
/// the solve did not converge: see info->outcome; the solution is then the best iterate found and
/// is always finite. On failure the solution is left alone.
FIL_API FIL_MUST_CHECK FilStatus fil_friction_solve(const FilFrictionProblem *problem,
                                                    const FilFrictionSettings *settings,
                                                    FilFrictionWorkspace *workspace,
                                                    FilFrictionSolution *solution,
                                                    FilFrictionInfo *info, FilError *error);

/// Measure given impulses r by all residuals; `u`, when not NULL, receives W r + b.
FIL_API FIL_MUST_CHECK FilStatus fil_friction_residual(const FilFrictionProblem *problem,
                                                       const double *r, double *u,
                                                       FilResidual *residual, FilError *error);

/// One block alone: find r with (W r + b, r) in the law of the block. W is row-major size x size.
/// `r` holds a guess on entry. Returns FIL_CONVERGED, FIL_NO_SOLUTION or FIL_STALLED; r is the best
/// found, always finite. `fallbacks`, when not NULL, is increased by calls of the fail-safe.
FIL_API FilOutcome fil_local_solve(FilLocalSolver solver, FilBlockKind kind, int size,
                                   const double *W, const double *b, double mu, double *r,
                                   int *fallbacks);

#ifdef __cplusplus
}
#endif

#endif
