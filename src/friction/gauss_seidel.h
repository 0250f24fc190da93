#ifndef FIL_FRICTION_GAUSS_SEIDEL_H
#define FIL_FRICTION_GAUSS_SEIDEL_H

#include "colour.h"
#include "island.h"

/// Sweeps of one-block solves: see gauss_seidel.c. `r` holds the start, then the best iterate.
FilStatus fil_gauss_seidel_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                                 FilIslandResult *result);

#endif
