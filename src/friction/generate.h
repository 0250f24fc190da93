#ifndef FIL_FRICTION_GENERATE_H
#define FIL_FRICTION_GENERATE_H

// Seeded random problems for tests and benchmarks.

#include "base/random.h"
#include "filum/friction.h"

/// A random one-block problem: W symmetric positive definite of size d, row-major, with a random
/// eigenbasis, log-uniform eigenvalues and the given condition number; b normal in every component.
/// Every regime (take-off, stick, slide) occurs.
void fil_generate_local(FilRandom *random, int d, double condition, double *W, double *b);

#endif
