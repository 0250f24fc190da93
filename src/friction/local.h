#ifndef FIL_FRICTION_LOCAL_H
#define FIL_FRICTION_LOCAL_H

// One block alone, the parts behind fil_local_solve(): find r such that (W r + b, r) obeys the law.
// W is row-major and may be unsymmetric or singular. Nothing allocates.
//
// The parts (all but the residual and the contacts) expect entries of W and b of order 1, which
// fil_local_solve() sees to.

#include "filum/friction.h"

typedef struct FilLocalBlock {
    FilBlockKind kind;
    int size;
    double mu;
    const double *W, *b;
} FilLocalBlock;

/// A solution has an error below this.
#define FIL_LOCAL_TOLERANCE 2e-13

/// Facets of the pyramid of FIL_LOCAL_LINEARISED in fil_local_solve().
#define FIL_LOCAL_FACETS 8

/// Most solutions that fil_local_enumerate() can return.
#define FIL_LOCAL_SOLUTIONS 8

/// |r - P(r - rho ut)| / (|r| + rho |b|), rho = d / trace W: the relative residual, unit-free.
double fil_local_residual(const FilLocalBlock *block, const double *r);

/// The error by which the solvers judge an answer, also unit-free. The residual above has two blind
/// spots: its rounding errors grow, and its sense of u_N < 0 fades, with mu; and r may run away to
/// where W r does not grow. So coulomb and unilateral blocks are measured by min(r_N, rho u_N) over
/// rho (|W||r| + |b|) and by the tangential part of Alart-Curnier.
double fil_local_error(const FilLocalBlock *block, const double *r);

/// u = W r + b.
void fil_local_velocity(const FilLocalBlock *block, const double *r, double *u);

/// The fast solver of a Coulomb contact of size 3: r holds a guess, then the solution. False, with
/// r of no use, when the answer could not be verified.
bool fil_local_contact3(const double *W, const double *b, double mu, double *r);

/// The same for a Coulomb contact of size 2, where everything is in closed form.
bool fil_local_contact2(const double *W, const double *b, double mu, double *r);

/// All solutions of a Coulomb block of size 1, 2 or 3: take-off, stick, then slides. Returns their
/// number. `best`, when not NULL, is replaced by any candidate with a smaller error.
int fil_local_enumerate(const FilLocalBlock *block, double (*solution)[FIL_BLOCK_MAX],
                        double *best);

/// Stick: r in the impulse cone with W r + b = 0, also for a singular W. False when there is none.
bool fil_local_stick(const FilLocalBlock *block, double *r);

/// Newton on a function of law.h from the guess in r; `damped`: with a line search. True when the
/// error is below FIL_LOCAL_TOLERANCE; r is the best iterate.
bool fil_local_newton(const FilLocalBlock *block, FilNewtonFunction function, bool damped,
                      double *r);

/// Slide (boundary of the cone) by a scalar equation, for coulomb, cone and dual blocks of any
/// size whose take-off and stick were ruled out. True when r solves the block.
bool fil_local_secular(const FilLocalBlock *block, double *r);

/// The pyramid of `facet_count` >= FIL_FACET_MIN facets in place of the cone, for coulomb blocks of
/// size 3; other blocks are solved exactly. r is the solution of that problem.
FilOutcome fil_local_linearised(const FilLocalBlock *block, int facet_count, double *r);

#endif
