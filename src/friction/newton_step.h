#ifndef FIL_FRICTION_NEWTON_STEP_H
#define FIL_FRICTION_NEWTON_STEP_H

// The linear system of a Newton step on F(W r + b, r) = 0:
//
//     (Fu (W + D) + Fr) d = -F,     Fu, Fr, D block-diagonal.
//
// Blocks with Fu = 0 (open contacts) are known at once and leave the system.

#include "system.h"

typedef struct FilNewtonStep FilNewtonStep;

/// Prepare for a system with a stored W, or with a primal where W is an operator: order the blocks,
/// take the memory of the factors. `scratch` is given back as it was.
FilStatus fil_newton_step_create(const FilSystem *s, int threads, FilArena *arena,
                                 FilArena *scratch, FilNewtonStep **out);

/// The same by at most `steps` iterations, whatever the size, with a factorisation to the rescue. M
/// and H must be known, and W stored. For tests: the call above finds out where it pays.
FilStatus fil_newton_step_create_iterative(const FilSystem *s, int steps, int threads,
                                           FilArena *arena, FilArena *scratch, FilNewtonStep **out);

/// Have `stop` asked by factorisations: see math/block_lu.h. A step that was stopped is of no use.
void fil_newton_step_set_stop(FilNewtonStep *step, bool (*stop)(void *user), void *user);

/// Jacobian blocks, d_i x d_i row-major each, one after the other; the caller fills them.
typedef struct FilJacobian {
    const int64_t *at; // [n + 1] where the blocks of i begin
    double *Fu, *Fr;
    double *shift; // [n] D_i = shift_i I
    bool *active;  // [n] false: Fu = 0 and Fr = I
} FilJacobian;

FilJacobian fil_newton_step_jacobian(FilNewtonStep *step);

/// d from F: exact to rounding, or to a hundredth where the system is so large that it is solved by
/// iterations, for which fil_schwarz_fits() is necessary. False when the matrix was so singular
/// that d is of no use.
bool fil_newton_step_solve(FilNewtonStep *step, const double *F, double *d);

/// The same for another F, with the Jacobian of the last solve. This and the sign below are there
/// only where steps are exact.
bool fil_newton_step_again(FilNewtonStep *step, const double *F, double *d);

/// What linear systems cost, in operations: a count, the same on every machine.
typedef struct FilStepCost {
    double factor, solve;
} FilStepCost;

/// Operations of the last solve, and of one with every contact pressed. The first count a third of
/// the second at least: where few contacts press, products with a dense W and what memory takes are
/// most of a step, and a budget would be thousands of them.
double fil_newton_step_work(const FilNewtonStep *step);
double fil_newton_step_unit(const FilNewtonStep *step);

/// Sign of the determinant of the matrix of the last solve; 0 where it is not known.
int fil_newton_step_sign(const FilNewtonStep *step);

#endif
