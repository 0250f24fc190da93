#ifndef FIL_FRICTION_SCHWARZ_H
#define FIL_FRICTION_SCHWARZ_H

// An approximate inverse of Newton's matrix from overlapping parts of the problem: see schwarz.c.

#include "newton_step.h"

typedef struct FilSchwarz FilSchwarz;

/// Whether it is meant for such a system: large, in the global form, W stored.
bool fil_schwarz_fits(const FilSystem *s);

/// Cut the contacts into parts, order each, take the memory of the factors. `scratch` is given back
/// as it was.
FilStatus fil_schwarz_create(const FilSystem *s, int threads, FilArena *arena, FilArena *scratch,
                             FilSchwarz **out);

/// Factor the parts of the matrix of J. `square` says where the square block of a contact begins.
void fil_schwarz_factor(FilSchwarz *x, const FilJacobian *J, const int64_t *square);

/// Operations of the factorisations of all parts, and of an application.
FilStepCost fil_schwarz_cost(const FilSchwarz *x);

/// d := about A^-1 y.
void fil_schwarz_apply(FilSchwarz *x, const double *y, double *d);

#endif
