// residual.c - how good given impulses are, by every measure.
#include "base/error.h"
#include "check.h"
#include "system.h"

#include <string.h>

static FilStatus measure(const FilFrictionProblem *problem, const double *r, double *u,
                         FilResidual *residual, FilArena *arena, FilArena *scratch,
                         FilError *error) {
    FilSystem system;
    const FilSystemUse use = {.sweeps = true, .threads = 1};
    FIL_TRY(fil_system_build(problem, &use, arena, scratch, &system, error));
    double *velocity = FIL_NEW(arena, double, system.size);
    if (velocity == NULL) {
        return FIL_E_NO_MEMORY;
    }
    fil_system_velocity(&system, r, velocity, 1);
    *residual = fil_system_residual(&system, velocity, r, 1);
    FilSystem near;
    FilUnits units;
    FIL_TRY(fil_system_rescale(&system, arena, &near, &units));
    if (units.w != 0 || units.b != 0) {
        double *impulse = FIL_NEW(arena, double, system.size);
        if (impulse == NULL) {
            return FIL_E_NO_MEMORY;
        }
        memcpy(impulse, r, (size_t)system.size * sizeof *r);
        fil_scale_by_power(system.size, units.w - units.b, impulse);
        fil_system_velocity(&near, impulse, velocity, 1);
        residual->scaled = fil_system_residual(&near, velocity, impulse, 1).scaled;
        fil_scale_by_power(system.size, units.b, velocity);
    }
    if (u != NULL && system.size > 0) {
        memcpy(u, velocity, (size_t)system.size * sizeof *u);
    }
    return FIL_OK;
}

FilStatus fil_friction_residual(const FilFrictionProblem *problem, const double *r, double *u,
                                FilResidual *residual, FilError *error) {
    FIL_TRY(fil_friction_check(problem, error));
    FIL_TRY(fil_friction_check_impulses(problem, r, "r", error));
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    FilStatus status = measure(problem, r, u, residual, &arena, &scratch, error);
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
    if (status == FIL_E_NO_MEMORY) {
        status = fil_fail(error, status, "no memory to measure %d blocks", problem->block_count);
    }
    return status;
}
