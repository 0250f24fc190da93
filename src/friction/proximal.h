#ifndef FIL_FRICTION_PROXIMAL_H
#define FIL_FRICTION_PROXIMAL_H

#include "island.h"

/// Proximal Newton: see proximal.c. `r` holds the start, then the best iterate.
FilStatus fil_proximal_solve(const FilSystem *s, const FilIslandTask *task, double *r,
                             FilIslandResult *result);

#endif
