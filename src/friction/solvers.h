#ifndef FIL_FRICTION_SOLVERS_H
#define FIL_FRICTION_SOLVERS_H

// The named global solvers besides Gauss-Seidel. `r` holds the start, then the best
// iterate; the outcome speaks of the problem that the solver itself sets out to solve.

#include "island.h"

/// The default, a chain of methods: see auto.c.
FilStatus fil_auto_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                         FilIslandResult *result);

/// Newton on a nonsmooth function, damped: see newton.c.
FilStatus fil_newton_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result);

/// Fixed point over convex problems: see cadoux.c.
FilStatus fil_cadoux_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result);

/// The convex problem alone: coulomb blocks as plain cones.
FilStatus fil_convex_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result);

/// Discs of fixed radius: see tresca.c.
FilStatus fil_tresca_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                           FilIslandResult *result);

/// Gauss-Seidel with pyramids in place of the cones.
FilStatus fil_linearised_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                               FilIslandResult *result);

#endif
