// correct.c - overlaps are taken out of the configuration, without adding velocity.
//
// Contacts whose gap is negative obey the law on u_N alone, so that an overlap, however it came
// about, is not thrown apart. Instead the configuration is moved, after the step, by the smallest
// displacement in the sense of the step's own inertia and stiffness that leaves no overlap,
//     dx = dt P H_N^T p,    0 <= p  orthogonal to  W_NN p + (gap + dt u_N) / dt >= 0:
// a contact problem without friction. Overlaps below a small part of the margins are left.
#include "problem.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/vector.h"

static const double allowed = 0.01; // of the margins

// Where contact i will be at the end of the step, m.
static double gap_after(const FilWorldTry *step, int i) {
    const FilWorkContact *contact = &step->contacts[i];
    double u = step->u[3 * (ptrdiff_t)i] - fil_contact_offset(contact, step->dt);
    return contact->gap + step->dt * u;
}

static bool is_needed(const FilWorldTry *step) {
    for (int i = 0; i < step->contact_count; i++) {
        if (gap_after(step, i) < -allowed * step->contacts[i].margin) {
            return true;
        }
    }
    return false;
}

FilStatus fil_world_correct(FilWorld *world, const FilWorldTry *step,
                            const FilWorldProblem *problem, double *shift, bool *moved,
                            FilError *error) {
    *moved = is_needed(step);
    if (!*moved) {
        return FIL_OK;
    }
    const FilFrictionProblem *whole = fil_world_problem_get(problem);
    int n = whole->block_count, blocks = whole->blocks.start[n];
    double *value = FIL_NEW(&world->scratch, double, (size_t)blocks + 1);
    double *b = FIL_NEW(&world->scratch, double, (size_t)n + 1);
    double *p = FIL_NEW_ZEROED(&world->scratch, double, (size_t)n + 1);
    double *r = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)n + 1);
    FilBlockKind *kinds = FIL_NEW(&world->scratch, FilBlockKind, (size_t)n + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n);
    }
    for (int k = 0; k < blocks; k++) {
        value[k] = whole->blocks.value[9 * (ptrdiff_t)k];
    }
    for (int i = 0; i < n; i++) {
        b[i] = gap_after(step, i) / step->dt;
        kinds[i] = FIL_BLOCK_UNILATERAL;
    }
    FilFrictionProblem normals = {.block_count = n,
                                  .block_size = 1,
                                  .kinds = kinds,
                                  .form = FIL_FORM_BLOCKS,
                                  .blocks = {whole->blocks.start, whole->blocks.column, value},
                                  .b = b};
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-4;
    settings.thread_count = world->threads;
    FilFrictionSolution solution = {.r = p};
    FilFrictionInfo info;
    FIL_TRY(fil_friction_solve(&normals, &settings, world->workspace, &solution, &info, error));
    for (int i = 0; i < n; i++) {
        r[3 * (ptrdiff_t)i] = step->dt * p[i];
    }
    fil_world_problem_push(world, problem, r, shift);
    return FIL_OK;
}
