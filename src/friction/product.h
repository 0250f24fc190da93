#ifndef FIL_FRICTION_PRODUCT_H
#define FIL_FRICTION_PRODUCT_H

#include "system.h"

/// The system of a checked problem in FIL_FORM_PRODUCT: for solvers that ask for u = W r + b alone.
FilStatus fil_system_from_product(const FilFrictionProblem *problem, FilArena *arena,
                                  FilSystem *out);

#endif
