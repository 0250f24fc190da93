#ifndef FIL_FRICTION_PROXIMAL_H
#define FIL_FRICTION_PROXIMAL_H

// Newton on proximal problems: see proximal.c.

#include "island.h"
#include "newton_step.h"

typedef struct FilProximal FilProximal;

/// Prepare for a system that Newton steps can be taken on (newton_step.h), in the memory of the
/// task.
FilStatus fil_proximal_create(const FilSystem *s, const FilIslandTask *task, FilProximal **out);

/// Iterate from `r` until the task is done, nothing helps any more, or `limit` Newton steps are
/// spent; `r` receives the best iterate. `rho_factor` scales rho in the nonsmooth function.
void fil_proximal_run(FilProximal *x, double rho_factor, int limit, double *r,
                      FilIslandResult *result);

/// One step of the proximal-point method with a fixed delta: r := the solution of the proximal
/// problem around r. False when Newton did not find it.
bool fil_proximal_move(FilProximal *x, double delta, double *r);

/// Operations of a Newton step with every contact pressed.
double fil_proximal_unit(const FilProximal *x);

/// Its linear system, for others to use between runs.
FilNewtonStep *fil_proximal_step(FilProximal *x);

#endif
