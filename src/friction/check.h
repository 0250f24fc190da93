#ifndef FIL_FRICTION_CHECK_H
#define FIL_FRICTION_CHECK_H

// What a solve refuses besides a bad problem.

#include "filum/friction.h"

/// Choices in range, tolerances and counts that make sense.
FilStatus fil_friction_check_settings(const FilFrictionSettings *settings, FilError *error);

/// Impulses of a checked problem, one per unknown: there, and finite. Errors call them `name`.
FilStatus fil_friction_check_impulses(const FilFrictionProblem *problem, const double *r,
                                      const char *name, FilError *error);

#endif
