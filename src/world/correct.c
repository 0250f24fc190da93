// correct.c - overlaps are taken out of the configuration, without adding velocity.
//
// Contacts whose gap is negative obey the law on u_N alone, so that an overlap, however it came
// about, is not thrown apart. Instead the configuration is moved, after the step, by the smallest
// displacement in the sense of the step's own inertia and stiffness that leaves no overlap,
//     dx = dt P H_N^T p,    0 <= p  orthogonal to  W_NN p + (gap + dt u_N) / dt >= 0:
// a contact problem without friction. Overlaps below a small part of the margins are left.
// Joints take no part: the next step mends what moved them. W_NN is softened by a small part of its
// largest entry: what can hardly be moved, as a rod next to a clamp, is moved a little, else the
// rest of it would be thrown far.
#include "problem.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/vector.h"

static const double allowed = 0.01; // of the margins
static const double soft = 1e-3;    // of the largest diagonal entry

// Where contact i will be at the end of the step, m.
static double gap_after(const FilWorldTry *step, int i) {
    return step->contacts[i].gap + step->dt * step->u[3 * (ptrdiff_t)i];
}

bool fil_contact_overlaps(const FilWorkContact *contact, double gap) {
    return contact->kind == FIL_BLOCK_COULOMB && gap < -allowed * contact->margin;
}

static bool is_needed(const FilWorldTry *step, const int *active, int count) {
    for (int a = 0; a < count; a++) {
        if (fil_contact_overlaps(&step->contacts[active[a]], gap_after(step, active[a]))) {
            return true;
        }
    }
    return false;
}

FilStatus fil_world_correct(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                            const int *active, const FilFrictionProblem *problem, FilError *error) {
    int n = problem->block_count, blocks = problem->blocks.start[n];
    step->shifted = is_needed(step, active, n);
    if (!step->shifted) {
        return FIL_OK;
    }
    double *value = FIL_NEW(&world->scratch, double, (size_t)blocks + 1);
    double *b = FIL_NEW(&world->scratch, double, (size_t)n + 1);
    double *p = FIL_NEW_ZEROED(&world->scratch, double, (size_t)n + 1);
    double *r = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)step->contact_count + 1);
    double *compliance = FIL_NEW(&world->scratch, double, (size_t)n + 1), largest = 0.0;
    FilBlockKind *kinds = FIL_NEW(&world->scratch, FilBlockKind, (size_t)n + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n);
    }
    for (int k = 0; k < blocks; k++) {
        value[k] = problem->blocks.value[9 * (ptrdiff_t)k];
        largest = fmax(largest, value[k]); // which is on the diagonal
    }
    for (int a = 0; a < n; a++) {
        bool joint = step->contacts[active[a]].kind != FIL_BLOCK_COULOMB;
        b[a] = joint ? 0.0 : gap_after(step, active[a]) / step->dt;
        kinds[a] = joint ? FIL_BLOCK_FREE : FIL_BLOCK_UNILATERAL;
        compliance[a] = soft * largest;
    }
    FilFrictionProblem normals = {.block_count = n,
                                  .block_size = 1,
                                  .kinds = kinds,
                                  .form = FIL_FORM_BLOCKS,
                                  .blocks = {problem->blocks.start, problem->blocks.column, value},
                                  .b = b,
                                  .compliance = compliance};
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-4;
    settings.thread_count = world->threads;
    FilFrictionSolution solution = {.r = p};
    FilFrictionInfo info;
    FIL_TRY(fil_friction_solve(&normals, &settings, world->workspace, &solution, &info, error));
    for (int a = 0; a < n; a++) {
        r[3 * (ptrdiff_t)active[a]] = step->dt * p[a];
    }
    fil_rows_push(world, rows, r, step->shift);
    return FIL_OK;
}
