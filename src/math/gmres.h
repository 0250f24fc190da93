#ifndef FIL_MATH_GMRES_H
#define FIL_MATH_GMRES_H

// The generalised minimal residual method (Saad and Schultz 1986): A x = b with A known by its
// products alone. The bits do not depend on the number of threads.

#include "base/arena.h"

typedef struct FilGmres FilGmres;

/// Room for `size` unknowns and at most `steps` steps; there are no restarts.
FilStatus fil_gmres_create(int size, int steps, int threads, FilArena *arena,
                           FilGmres **out) FIL_MUST_CHECK;

/// From x = 0 until the residual is at most `reduction` |b| or no step is left. `multiply` sets
/// y = A x. Returns the steps taken; `*reached`, when not NULL, receives the residual / |b|.
int fil_gmres_solve(FilGmres *g, void (*multiply)(void *context, const double *x, double *y),
                    void *context, const double *b, double reduction, double *x, double *reached);

#endif
