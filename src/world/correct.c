// correct.c - overlaps are taken out of the configuration, without adding velocity.
//
// Contacts whose gap is negative obey the law on u_N alone, so that an overlap, however it came
// about, is not thrown apart. Instead the configuration is moved, after the step, by the smallest
// displacement in the sense of the step's own inertia and stiffness that leaves no overlap,
//     dx = dt P H_N^T p,    0 <= p  orthogonal to  W_NN p + (gap + dt u_N) / dt >= 0:
// a contact problem without friction. Overlaps below a small part of the margins are left.
//
// That gap is linear in the velocities. What is not of it is taken out where it is found, at the
// end of the step, in the same way (place.c).
//
// Joints take no part: the next step mends what moved them.
//
// A rod next to a clamp can hardly be moved, and the rest of it would be thrown far. So (1) an
// overlap that is deep beside how far away the clamp is stays; (2) no point of a rod is moved much
// farther than its deepest overlap, or that of rods that push it (step.c); (3) a part of a step
// mends its part of an overlap that it began with, and all of what it brought itself (passing.c).
#include "problem.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "effort.h"
#include "math/vector.h"
#include "rod/rod.h"

static const double allowed = 0.01; // of the margins
static const double sharpest = 0.1; // rad: how a rod may be bent next to where it is held

// Where contact i will be at the end of the step, m.
static double gap_after(const FilWorldTry *step, int i) {
    return step->contacts[i].gap + step->dt * step->u[3 * (ptrdiff_t)i];
}

bool fil_contact_overlaps(const FilWorkContact *contact, double gap) {
    return contact->kind == FIL_BLOCK_COULOMB && gap < -allowed * contact->margin;
}

// How far along a rod a place is from the next end that is held, m.
static double reach_of(const FilWorld *world, const FilPlace *place) {
    const FilRod *rod = world->bodies[place->body].self;
    const FilPiece *piece = &world->pieces[place->piece];
    double s = piece->s[0] + place->t * (piece->s[1] - piece->s[0]), reach = HUGE_VAL;
    if (rod->root_end.kind != FIL_END_FREE) {
        reach = s * rod->state[1];
    }
    if (rod->tip_end.kind != FIL_END_FREE) {
        reach = fmin(reach, (1.0 - s) * rod->state[1]);
    }
    return reach;
}

// Whether an overlap is mended: joints are not, nor are contacts whose bodies would have to be bent
// sharply next to where they are held.
static bool is_mended(const FilWorld *world, const FilWorldTry *step, int i) {
    const FilWorkContact *contact = &step->contacts[i];
    const FilPlace *places[2] = {&contact->a, &contact->b};
    if (contact->kind != FIL_BLOCK_COULOMB) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        int body = places[side]->body;
        if (body >= 0 && (world->bodies[body].kind != FIL_BODY_ROD ||
                          -gap_after(step, i) < sharpest * reach_of(world, places[side]))) {
            return true;
        }
    }
    return false;
}

static bool is_needed(const FilWorld *world, const FilWorldTry *step, const int *active,
                      int count) {
    for (int a = 0; a < count; a++) {
        if (fil_contact_overlaps(&step->contacts[active[a]], gap_after(step, active[a])) &&
            is_mended(world, step, active[a])) {
            return true;
        }
    }
    return false;
}

// --- how deep bodies overlap ---------------------------------------------------------------------

static int root_of(int *parent, int body) {
    while (parent[body] != body) {
        parent[body] = parent[parent[body]];
        body = parent[body];
    }
    return body;
}

// How deep every body overlaps, or one of those that push it along with them: step->depth.
static FilStatus find_depths(FilWorld *world, FilWorldTry *step, const int *list, int count,
                             const double *p, FilError *error) {
    const int bodies = world->body_count;
    int *parent = FIL_NEW(&world->scratch, int, (size_t)bodies + 1);
    step->depth = FIL_NEW_ZEROED(&world->scratch, double, (size_t)bodies + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies", bodies);
    }
    for (int i = 0; i < bodies; i++) {
        parent[i] = i;
    }
    for (int k = 0; k < count; k++) {
        const FilWorkContact *contact = &step->contacts[list[k]];
        if (p[k] > 0.0 && contact->a.body >= 0 && contact->b.body >= 0) {
            const int a = root_of(parent, contact->a.body), b = root_of(parent, contact->b.body);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        const int both[2] = {contact->a.body, contact->b.body};
        // what a try brought is there at its end
        const double gap = contact->mended ? gap_after(step, i) : contact->gap;
        for (int side = 0; side < 2; side++) {
            double *depth = &step->depth[both[side] < 0 ? bodies : root_of(parent, both[side])];
            *depth = fmax(*depth, -gap);
        }
    }
    for (int i = 0; i < bodies; i++) {
        step->depth[i] = step->depth[root_of(parent, i)];
    }
    return FIL_OK;
}

FilStatus fil_world_correct(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                            const int *active, const FilFrictionProblem *problem, FilError *error) {
    int n = problem->block_count;
    step->shifted = !step->pressed && is_needed(world, step, active, n);
    if (!step->shifted) {
        return FIL_OK;
    }
    FilFrictionProblem formed = *problem;
    if (problem->form == FIL_FORM_PRODUCT) {
        FIL_TRY(fil_world_problem_build(world, step, rows, active, n, &formed, error));
    }
    const FilBlockRows *W = &formed.blocks;
    int blocks = W->start[n];
    const double part = fmin(1.0, step->dt / world->def.step);
    double *value = FIL_NEW(&world->scratch, double, (size_t)blocks + 1);
    double *b = FIL_NEW(&world->scratch, double, (size_t)n + 1);
    double *p = FIL_NEW_ZEROED(&world->scratch, double, (size_t)n + 1);
    double *r = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)step->contact_count + 1);
    FilBlockKind *kinds = FIL_NEW(&world->scratch, FilBlockKind, (size_t)n + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n);
    }
    for (int k = 0; k < blocks; k++) {
        value[k] = W->value[9 * (ptrdiff_t)k];
    }
    for (int a = 0; a < n; a++) {
        bool left = !is_mended(world, step, active[a]);
        const double share = step->contacts[active[a]].mended ? 1.0 : part;
        b[a] = left ? 0.0 : share * gap_after(step, active[a]) / step->dt;
        kinds[a] = left ? FIL_BLOCK_FREE : FIL_BLOCK_UNILATERAL;
    }
    FilFrictionProblem normals = {.block_count = n,
                                  .block_size = 1,
                                  .kinds = kinds,
                                  .form = FIL_FORM_BLOCKS,
                                  .blocks = {W->start, W->column, value},
                                  .b = b};
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-8;
    settings.thread_count = world->threads;
    settings.warm_start = true; // at 0: it takes few Newton steps, the fewer the less overlaps
    FilFrictionSolution solution = {.r = p};
    FilFrictionInfo info;
    FIL_TRY(fil_effort_solve(world, &normals, &settings, &solution, &info, error));
    for (int a = 0; a < n; a++) {
        r[3 * (ptrdiff_t)active[a]] = step->dt * p[a];
    }
    fil_rows_push(world, rows, r, step->shift);
    return find_depths(world, step, active, n, p, error);
}
