// residual.c - how good given impulses are, by every measure.
#include "base/error.h"
#include "reduce.h"
#include "system.h"

#include <string.h>

static FilStatus build(const FilFrictionProblem *problem, FilArena *arena, FilSystem *system) {
    if (problem->form != FIL_FORM_GLOBAL) {
        return fil_system_from_blocks(problem, arena, system);
    }
    FilReduction reduction;
    FilFrictionProblem reduced;
    bool regular;
    FIL_TRY(fil_system_begin(problem, arena, system));
    FIL_TRY(fil_reduction_begin(&problem->global, arena, &reduction));
    FIL_TRY(fil_reduction_factor(&reduction, &problem->global.M, arena, &regular));
    FIL_TRY(fil_reduction_problem(&reduction, problem, system->offset, arena, &reduced));
    return fil_system_from_blocks(&reduced, arena, system);
}

static FilStatus measure(const FilFrictionProblem *problem, const double *r, double *u,
                         FilResidual *residual, FilArena *arena) {
    FilSystem system;
    FIL_TRY(build(problem, arena, &system));
    double *velocity = FIL_NEW(arena, double, system.size);
    if (velocity == NULL) {
        return FIL_E_NO_MEMORY;
    }
    fil_system_velocity(&system, r, velocity, 1);
    *residual = fil_system_residual(&system, velocity, r, 1);
    if (u != NULL) {
        memcpy(u, velocity, (size_t)system.size * sizeof *u);
    }
    return FIL_OK;
}

FilStatus fil_friction_residual(const FilFrictionProblem *problem, const double *r, double *u,
                                FilResidual *residual, FilError *error) {
    FIL_TRY(fil_friction_check(problem, error));
    FilArena arena = fil_arena_make(NULL);
    const FilStatus status = measure(problem, r, u, residual, &arena);
    fil_arena_destroy(&arena);
    return status == FIL_OK
               ? FIL_OK
               : fil_fail(error, status, "no memory to measure %d blocks", problem->block_count);
}
