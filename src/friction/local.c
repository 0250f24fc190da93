// local.c - one block alone: which solver does what.
//
// The fast path, a Coulomb contact of size 2 or 3 by `hybrid`, goes straight to local_contact.c.
// All else first brings W and b to order 1 by powers of two, which changes no digit, so that
// squares and products of four entries neither overflow nor vanish, and the answer is the same in
// any unit.
//
//     kind           take-off, stick     boundary                          certificate of none
//     coulomb d<=3   yes                 hybrid: local_contact, then enum  enum sees all candidates
//     coulomb d>=4   yes                 Newton, then the scalar equation  -
//     cone, dual     yes                 the same                          -
//     unilateral     all 2^d choices of which components act               none of them fits
//     equality       u = 0, also singular                                  inconsistent
//     ball           inside as equality; else (W + a) r = -b, |r| = radius, by bisection and Newton
//                    on 1 / |r|, which is nearly linear in a (More and Sorensen 1983)
//
// For blocks that the scalar equation cannot do (W singular), proximal steps: W + e I, b - e r_k.
#include "local.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "law.h"
#include "small.h"

#define D FIL_BLOCK_MAX

// A smallest error above this is no matter of rounding: there is no solution.
#define CERTAIN 1e-8

void fil_local_velocity(const FilLocalBlock *block, const double *r, double *u) {
    const int d = block->size;
    for (int i = 0; i < d; i++) {
        double sum = 0.0;
        for (int j = 0; j < d; j++) {
            sum += block->W[d * i + j] * r[j];
        }
        u[i] = sum + block->b[i];
    }
}

static double norm(int d, const double *x) {
    double most = 0.0, sum = 0.0;
    for (int i = 0; i < d; i++) {
        most = fmax(most, fabs(x[i]));
    }
    if (!(most > 0.0)) {
        return 0.0;
    }
    for (int i = 0; i < d; i++) {
        sum += (x[i] / most) * (x[i] / most);
    }
    return most * sqrt(sum);
}

double fil_local_residual(const FilLocalBlock *block, const double *r) {
    const int d = block->size;
    double trace = 0.0, u[D] = {0.0}, F[D] = {0.0};
    for (int i = 0; i < d; i++) {
        trace += block->W[d * i + i];
    }
    const double rho = trace > 0.0 ? d / trace : 1.0;
    fil_local_velocity(block, r, u);
    (void)fil_law_natural(block->kind, d, block->mu, rho, u, r, F);
    const double error = norm(d, F), size = norm(d, r) + rho * norm(d, block->b);
    return error == 0.0 ? 0.0 : error / size;
}

double fil_local_error(const FilLocalBlock *block, const double *r) {
    const int d = block->size;
    const bool coulomb = block->kind == FIL_BLOCK_COULOMB;
    if (!coulomb && block->kind != FIL_BLOCK_UNILATERAL) {
        return fil_local_residual(block, r);
    }
    double trace = 0.0, scale = 0.0, u[D] = {0.0}, F[D] = {0.0};
    fil_local_velocity(block, r, u);
    for (int i = 0; i < d; i++) {
        trace += block->W[d * i + i];
        scale += fabs(block->b[i]);
        for (int j = 0; j < d; j++) {
            scale += fabs(block->W[d * i + j] * r[j]);
        }
    }
    const double rho = trace > 0.0 ? d / trace : 1.0;
    double normal = 0.0;
    for (int i = 0; i < (coulomb ? 1 : d); i++) {
        normal = fmax(normal, fabs(fmin(r[i], rho * u[i])));
    }
    (void)fil_law_alart_curnier(block->kind, d, block->mu, rho, u, r, F);
    const double tangent = coulomb ? norm(d - 1, F + 1) : 0.0;
    return (normal == 0.0 ? 0.0 : normal / (rho * scale)) +
           (tangent == 0.0 ? 0.0 : tangent / (norm(d - 1, r + 1) + rho * scale));
}

static void set_zero(int d, double *r) {
    memset(r, 0, (size_t)d * sizeof *r);
}

static bool is_solved(const FilLocalBlock *block, const double *r) {
    return fil_local_error(block, r) <= FIL_LOCAL_TOLERANCE;
}

// What to say about the best r when nothing solved the block and every case was tried.
static FilOutcome judge(const FilLocalBlock *block, const double *r) {
    const double error = fil_local_error(block, r);
    return error <= FIL_LOCAL_TOLERANCE ? FIL_CONVERGED
           : error <= CERTAIN           ? FIL_STALLED
                                        : FIL_NO_SOLUTION;
}

// ---- kinds without a cone ----

// Solve the rows and columns in `mask` (a set of components) with the rest of r at 0.
static bool solve_subset(const FilLocalBlock *block, unsigned mask, double *r) {
    const int d = block->size;
    int index[D], n = 0;
    for (int i = 0; i < d; i++) {
        if ((mask >> i & 1u) != 0) {
            index[n++] = i;
        }
    }
    double A[D * D], x[D], u[D] = {0.0};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): W is filled d x d
            A[n * i + j] = block->W[d * index[i] + index[j]];
        }
    }
    FilSmallLu lu;
    fil_small_factor(&lu, n, A, 16.0 * DBL_EPSILON);
    set_zero(d, r);
    for (int pass = 0; pass < 2; pass++) { // the second refines the first
        fil_local_velocity(block, r, u);
        for (int i = 0; i < n; i++) {
            u[i] = u[index[i]];
        }
        fil_small_solve(&lu, u, x);
        for (int i = 0; i < n; i++) {
            r[index[i]] -= x[i];
        }
    }
    for (int i = 0; i < d; i++) {
        if (!isfinite(r[i])) {
            return false;
        }
    }
    return true;
}

static FilOutcome solve_unilateral(const FilLocalBlock *block, double *r) {
    const int d = block->size;
    unsigned guess = 0;
    for (int i = 0; i < d; i++) {
        guess |= r[i] > 0.0 ? 1u << i : 0u;
    }
    double best = HUGE_VAL, trial[D];
    for (unsigned change = 0; change < 1u << d; change++) {
        if (!solve_subset(block, guess ^ change, trial)) {
            continue;
        }
        const double error = fil_local_error(block, trial);
        if (error < best) {
            best = error;
            memcpy(r, trial, (size_t)d * sizeof *r);
        }
        if (error <= FIL_LOCAL_TOLERANCE) {
            return FIL_CONVERGED;
        }
    }
    return judge(block, r);
}

static FilOutcome solve_equality(const FilLocalBlock *block, double *r) {
    if (!solve_subset(block, (1u << block->size) - 1u, r)) {
        set_zero(block->size, r);
    }
    return judge(block, r);
}

// r = -(W + alpha)^-1 b and the slope of 1 / |r| in alpha.
static double shift_ball(const FilLocalBlock *block, double alpha, double *r, double *slope) {
    const int d = block->size;
    double A[D * D], moved[D];
    memcpy(A, block->W, (size_t)(d * d) * sizeof *A);
    for (int i = 0; i < d; i++) {
        A[d * i + i] += alpha;
    }
    FilSmallLu lu;
    fil_small_factor(&lu, d, A, 0.0);
    fil_small_solve(&lu, block->b, r);
    fil_small_solve(&lu, r, moved);
    double along = 0.0;
    for (int i = 0; i < d; i++) {
        along += r[i] * moved[i];
        r[i] = -r[i];
    }
    const double length = norm(d, r);
    *slope = along / (length * length * length);
    return length;
}

// Newton on W r + b + alpha r = 0, |r| = radius, which brings the residual to rounding.
static void polish_ball(const FilLocalBlock *block, double alpha, double *r) {
    const int d = block->size, n = d + 1;
    double best = fil_local_error(block, r), x[D];
    memcpy(x, r, (size_t)d * sizeof *x);
    for (int k = 0; k < 8 && best > 0.05 * FIL_LOCAL_TOLERANCE; k++) {
        double M[FIL_SMALL_MAX * FIL_SMALL_MAX] = {0.0}, step[FIL_SMALL_MAX], u[D] = {0.0};
        const double length = norm(d, x);
        fil_local_velocity(block, x, u);
        for (int i = 0; i < d; i++) {
            memcpy(M + (ptrdiff_t)n * i, block->W + (ptrdiff_t)d * i, (size_t)d * sizeof *M);
            M[n * i + i] += alpha;
            M[n * i + d] = x[i];
            M[n * d + i] = x[i] / length;
            step[i] = -(u[i] + alpha * x[i]);
        }
        step[d] = block->mu - length;
        if (!fil_small_eliminate(n, M, step)) {
            return;
        }
        for (int i = 0; i < d; i++) {
            x[i] += step[i];
        }
        alpha += step[d];
        const double error = fil_local_error(block, x);
        if (error < best) {
            best = error;
            memcpy(r, x, (size_t)d * sizeof *r);
        }
    }
}

// |r| falls as alpha grows: a bracket, and Newton inside of it.
static FilOutcome solve_ball(const FilLocalBlock *block, double *r) {
    const int d = block->size;
    const double radius = block->mu, most = norm(d, block->b);
    if (!(radius > 0.0) || most == 0.0) {
        set_zero(d, r);
        return FIL_CONVERGED;
    }
    if (solve_subset(block, (1u << d) - 1u, r) && norm(d, r) <= radius && is_solved(block, r)) {
        return FIL_CONVERGED;
    }
    double low = 0.0, high = most / radius, alpha = high, slope; // W >= 0: |r| <= |b| / alpha
    for (int k = 0; k < 100; k++) {
        const double length = shift_ball(block, alpha, r, &slope);
        if (fabs(length - radius) <= 1e-9 * radius) {
            break;
        }
        *(length > radius ? &low : &high) = alpha;
        const double next = alpha + (1.0 / radius - 1.0 / length) / slope;
        const bool inside = next > low && next < high;
        alpha = inside ? next : low > 0.0 ? sqrt(low) * sqrt(high) : 1e-3 * high;
    }
    polish_ball(block, alpha, r);
    return judge(block, r);
}

// mu = 0: only the normal component is unilateral; the others are free (u_T = 0, dual) or absent.
static FilOutcome solve_frictionless(const FilLocalBlock *block, double *r) {
    const unsigned all = (1u << block->size) - 1u, normal = 1u;
    const unsigned rest = block->kind == FIL_BLOCK_DUAL ? all & ~normal : 0u;
    if (solve_subset(block, rest, r) && is_solved(block, r)) {
        return FIL_CONVERGED;
    }
    if (!solve_subset(block, rest | normal, r)) {
        set_zero(block->size, r);
    }
    return judge(block, r);
}

// ---- cones ----

// Proximal point iteration for singular W: a solution of the block is a fixed point.
static bool solve_proximal(const FilLocalBlock *block, double *r) {
    const int d = block->size;
    double W[D * D], b[D], x[D];
    const double e = 1e-5;
    memcpy(W, block->W, (size_t)(d * d) * sizeof *W);
    for (int i = 0; i < d; i++) {
        W[d * i + i] += e;
    }
    const FilLocalBlock regular = {block->kind, d, block->mu, W, b};
    set_zero(d, x);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < d; i++) {
            b[i] = block->b[i] - e * x[i];
        }
        set_zero(d, r);
        if (!is_solved(&regular, r) && !fil_local_stick(&regular, r) &&
            !fil_local_secular(&regular, r)) {
            return false;
        }
        memcpy(x, r, (size_t)d * sizeof *x);
        if (is_solved(block, r)) {
            return true;
        }
    }
    return false;
}

// Take-off, stick, then the boundary; any size and conic kind.
static FilOutcome solve_conic(const FilLocalBlock *block, double *r, int *fallbacks) {
    const int d = block->size;
    double guess[D], trial[D] = {0.0}, u[D];
    memcpy(guess, r, (size_t)d * sizeof *guess);
    set_zero(d, r);
    if (is_solved(block, r) || fil_local_stick(block, r)) {
        return FIL_CONVERGED;
    }
    memcpy(trial, guess, (size_t)d * sizeof *trial);
    if (fil_local_newton(block, FIL_FUNCTION_FISCHER_BURMEISTER, true, trial)) {
        memcpy(r, trial, (size_t)d * sizeof *r);
        return FIL_CONVERGED;
    }
    ++*fallbacks;
    if (fil_local_secular(block, r) || solve_proximal(block, r)) {
        return FIL_CONVERGED;
    }
    // nothing was certified; give the best of Newton and zero
    set_zero(d, u);
    memcpy(r, fil_local_error(block, trial) < fil_local_error(block, u) ? trial : u,
           (size_t)d * sizeof *r);
    return judge(block, r) == FIL_CONVERGED ? FIL_CONVERGED : FIL_STALLED;
}

// Coulomb up to size 3: take-off, else stick, else the slide nearest to the guess.
static FilOutcome solve_enum(const FilLocalBlock *block, double *r) {
    const int d = block->size;
    double solution[FIL_LOCAL_SOLUTIONS][D], best[D], u[D] = {0.0};
    memcpy(best, r, (size_t)d * sizeof *best);
    const int count = fil_local_enumerate(block, solution, best);
    if (count == 0) {
        memcpy(r, best, (size_t)d * sizeof *r);
        return judge(block, r);
    }
    int chosen = 0;
    fil_local_velocity(block, solution[0], u);
    double nearest = HUGE_VAL;
    const bool slides =
        norm(d, solution[0]) > 0.0 &&
        norm(d, u) > FIL_LOCAL_TOLERANCE * (norm(d, solution[0]) + norm(d, block->b));
    for (int k = 0; k < count && slides; k++) {
        double apart[D];
        for (int i = 0; i < d; i++) {
            apart[i] = solution[k][i] - r[i];
        }
        const double distance = norm(d, apart);
        chosen = distance < nearest ? k : chosen;
        nearest = fmin(nearest, distance);
    }
    memcpy(r, solution[chosen], (size_t)d * sizeof *r);
    return FIL_CONVERGED;
}

static FilOutcome solve_exact(const FilLocalBlock *block, double *r, int *fallbacks) {
    return block->kind == FIL_BLOCK_COULOMB && block->size <= 3 ? solve_enum(block, r)
                                                                : solve_conic(block, r, fallbacks);
}

// The fast path; r is left alone when it fails.
static inline bool solve_contact(int size, const double *W, const double *b, double mu, double *r) {
    double x[3] = {r[0], r[1], size == 3 ? r[2] : 0.0};
    if (!(size == 3 ? fil_local_contact3(W, b, mu, x) : fil_local_contact2(W, b, mu, x))) {
        return false;
    }
    memcpy(r, x, (size_t)size * sizeof *r);
    return true;
}

static FilOutcome solve_hybrid(const FilLocalBlock *block, double *r, int *fallbacks) {
    if (block->kind == FIL_BLOCK_COULOMB && block->size <= 3) {
        if (solve_contact(block->size, block->W, block->b, block->mu, r)) {
            return FIL_CONVERGED;
        }
        ++*fallbacks;
    }
    return solve_exact(block, r, fallbacks);
}

static FilOutcome solve_newton_first(const FilLocalBlock *block, double *r, int *fallbacks) {
    double trial[D];
    memcpy(trial, r, (size_t)block->size * sizeof *trial);
    if (fil_local_newton(block, FIL_FUNCTION_FISCHER_BURMEISTER, true, trial)) {
        memcpy(r, trial, (size_t)block->size * sizeof *trial);
        return FIL_CONVERGED;
    }
    ++*fallbacks;
    return solve_exact(block, r, fallbacks);
}

static FilOutcome dispatch(FilLocalSolver solver, const FilLocalBlock *block, double *r,
                           int *fallbacks) {
    const bool conic = block->kind == FIL_BLOCK_COULOMB || block->kind == FIL_BLOCK_CONE ||
                       block->kind == FIL_BLOCK_DUAL;
    if (block->kind == FIL_BLOCK_FREE) {
        set_zero(block->size, r);
        return FIL_CONVERGED;
    }
    if (block->kind == FIL_BLOCK_EQUALITY) {
        return solve_equality(block, r);
    }
    if (block->kind == FIL_BLOCK_BALL) {
        return solve_ball(block, r);
    }
    if (!conic) {
        return solve_unilateral(block, r);
    }
    if (!(block->mu > 0.0) || block->size == 1) {
        return solve_frictionless(block, r);
    }
    switch (solver) {
    case FIL_LOCAL_MFB:
        return fil_local_newton(block, FIL_FUNCTION_FISCHER_BURMEISTER, true, r) ? FIL_CONVERGED
                                                                                 : FIL_STALLED;
    case FIL_LOCAL_PAC:
        return fil_local_newton(block, FIL_FUNCTION_ALART_CURNIER, false, r) ? FIL_CONVERGED
                                                                             : FIL_STALLED;
    case FIL_LOCAL_DAC:
        return fil_local_newton(block, FIL_FUNCTION_ALART_CURNIER, true, r) ? FIL_CONVERGED
                                                                            : FIL_STALLED;
    case FIL_LOCAL_LINEARISED:
        return block->kind == FIL_BLOCK_COULOMB && block->size == 3
                   ? fil_local_linearised(block, FIL_LOCAL_FACETS, r)
                   : solve_exact(block, r, fallbacks);
    case FIL_LOCAL_ENUM:
        return solve_exact(block, r, fallbacks);
    case FIL_LOCAL_HYBRID_NEWTON:
        return solve_newton_first(block, r, fallbacks);
    default:
        return solve_hybrid(block, r, fallbacks);
    }
}

// ---- units ----

// y = x / 2^k with k such that the largest entry is of order 1; returns k.
static int normalise(int count, const double *x, double *y) {
    double most = 0.0;
    int exponent = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(x[i]));
    }
    (void)frexp(most, &exponent);
    for (int i = 0; i < count; i++) {
        y[i] = ldexp(x[i], -exponent);
    }
    return exponent;
}

static FilOutcome solve_scaled(FilLocalSolver solver, const FilLocalBlock *block, double *r,
                               int *fallbacks) {
    const int d = block->size;
    double W[D * D], b[D], x[D];
    const int unit = normalise(d, block->b, b) - normalise(d * d, block->W, W);
    for (int i = 0; i < d; i++) {
        x[i] = ldexp(r[i], -unit);
        x[i] = fabs(x[i]) < 1e100 ? x[i] : 0.0; // a guess so far off is none
    }
    const double mu = block->kind == FIL_BLOCK_BALL ? ldexp(block->mu, -unit) : block->mu;
    const FilLocalBlock scaled = {block->kind, d, fmin(mu, 1e100), W, b};
    FilOutcome outcome = dispatch(solver, &scaled, x, fallbacks);
    bool finite = true;
    for (int i = 0; i < d; i++) {
        r[i] = ldexp(x[i], unit);
        finite = finite && isfinite(r[i]);
    }
    if (!finite) { // the answer exists, but is too large for a double
        set_zero(d, r);
        outcome = outcome == FIL_NO_SOLUTION ? outcome : FIL_STALLED;
    }
    return outcome;
}

// eight parameters: the public header says so
// NOLINTNEXTLINE(readability-function-size)
FilOutcome fil_local_solve(FilLocalSolver solver, FilBlockKind kind, int size, const double *W,
                           const double *b, double mu, double *r, int *fallbacks) {
    FIL_ASSERT(size >= 1 && size <= FIL_BLOCK_MAX && mu >= 0.0);
    double sum = 0.0; // not finite when anything is not: NaN would pass for solved
    for (int k = 0; k < size * size; k++) {
        sum += fabs(W[k]);
    }
    for (int k = 0; k < size; k++) {
        sum += fabs(b[k]) + fabs(r[k]);
    }
    if (!(sum + mu <= DBL_MAX)) {
        memset(r, 0, (size_t)size * sizeof *r);
        return FIL_STALLED;
    }
    const bool fast = solver == FIL_LOCAL_HYBRID && kind == FIL_BLOCK_COULOMB;
    if (fast && (size == 3 || size == 2) && solve_contact(size, W, b, mu, r)) {
        return FIL_CONVERGED;
    }
    const FilLocalBlock block = {kind, size, mu, W, b};
    int ignored = 0;
    return solve_scaled(solver, &block, r, fallbacks != NULL ? fallbacks : &ignored);
}
