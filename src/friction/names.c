// names.c - names of the enums of friction.h, from the tables that define them; defaults.
#include "filum/friction.h"

#define NAME(code, name, text) [code] = (name),
#define NAME_FUNCTION(call, Type, value, TABLE, COUNT)              \
    const char *call(Type value) {                                  \
        static const char *const names[] = {TABLE(NAME)};           \
        return (unsigned)(value) < (COUNT) ? names[(value)] : NULL; \
    }

NAME_FUNCTION(fil_block_kind_name, FilBlockKind, kind, FIL_BLOCK_KINDS, FIL_BLOCK_KIND_COUNT)
NAME_FUNCTION(fil_local_solver_name, FilLocalSolver, local, FIL_LOCAL_SOLVERS,
              FIL_LOCAL_SOLVER_COUNT)
NAME_FUNCTION(fil_friction_solver_name, FilFrictionSolver, solver, FIL_FRICTION_SOLVERS,
              FIL_FRICTION_SOLVER_COUNT)
NAME_FUNCTION(fil_newton_function_name, FilNewtonFunction, function, FIL_NEWTON_FUNCTIONS,
              FIL_NEWTON_FUNCTION_COUNT)
NAME_FUNCTION(fil_convex_solver_name, FilConvexSolver, convex, FIL_CONVEX_SOLVERS,
              FIL_CONVEX_SOLVER_COUNT)
NAME_FUNCTION(fil_outcome_name, FilOutcome, outcome, FIL_OUTCOMES, FIL_OUTCOME_COUNT)

FilFrictionSettings fil_friction_settings_default(void) {
    return (FilFrictionSettings){.solver = FIL_SOLVER_AUTO,
                                 .local = FIL_LOCAL_HYBRID,
                                 .function = FIL_FUNCTION_FISCHER_BURMEISTER,
                                 .convex = FIL_CONVEX_INTERIOR,
                                 .tolerance = 1e-8,
                                 .facet_count = 8};
}
