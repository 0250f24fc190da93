// check.c - what a problem must satisfy before a solver may see it.
#include <math.h>

#include "base/error.h"
#include "filum/friction.h"

FilStatus fil_friction_check(const FilFrictionProblem *problem, FilError *error) {
    (void)problem;
    (void)error;
    return FIL_OK;
}
