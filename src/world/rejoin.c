// rejoin.c - what a step moved joints apart by is taken out at its end, without adding velocity.
//
// A step holds the velocities of joints, linear where it begins: what turns on its way is off at
// the end, by second order. Were the next step to mend that, the velocity that it takes would stay:
// a rod that swings at a joint would be kicked in every step. So the bodies are moved where they
// are now, by the smallest displacement in the sense of their inertia and stiffness,
//     dx = dt P H^T p,    W p + error / dt = 0,
// with P, H and the errors of the end: one step of Newton's method, done again until they are
// small.
#include "rejoin.h"

#include <math.h>

#include "base/error.h"
#include "effort.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "place.h"
#include "problem.h"

enum { MAX_MOVES = 6 };
static const double small = 1e-9; // m, rad: errors that are left

typedef struct Joining {
    FilWorld *world;
    FilWorldTry end; // the same bodies where they are now: its contacts are the joints
    FilRows rows;
    bool *joined; // [body_count]
} Joining;

static FilStatus reserve_end(Joining *joining, const FilWorldTry *step, FilError *error) {
    FilWorld *world = joining->world;
    FilArena *arena = &world->scratch;
    const size_t dofs = (size_t)world->dof_count + 1;
    FilWorldTry *end = &joining->end;
    *end = (FilWorldTry){
        .dt = step->dt, .end = step->end, .share = step->share, .points = step->points};
    const size_t halves = 2 * (size_t)world->joint_count + 1;
    end->contacts = FIL_NEW(arena, FilWorkContact, halves);
    end->before = FIL_NEW(arena, double, dofs);
    end->free_velocity = FIL_NEW_ZEROED(arena, double, dofs);
    end->shift = FIL_NEW_ZEROED(arena, double, dofs);
    end->r = FIL_NEW_ZEROED(arena, double, 3 * halves);
    end->depth = FIL_NEW(arena, double, (size_t)world->body_count + 1);
    joining->joined = FIL_NEW_ZEROED(arena, bool, (size_t)world->body_count + 1);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d joints",
                        world->joint_count);
    }
    return FIL_OK;
}

// The joints where they are now. Returns the largest error, m or rad.
static double list_errors(Joining *joining) {
    FilWorld *world = joining->world;
    FilWorldTry *end = &joining->end;
    double worst = 0.0;
    end->contact_count = 0;
    for (int i = 0; i < world->joint_count; i++) {
        if (world->joints[i].removed || world->bodies[world->joints[i].a.body].island != 0) {
            continue;
        }
        const int count = fil_world_list_joint(world, i, end->contacts + end->contact_count);
        for (int k = 0; k < count; k++) {
            const FilWorkContact *half = &end->contacts[end->contact_count++];
            worst = fmax(worst, fil_norm3(half->error));
            joining->joined[half->a.body] = true;
            if (half->b.body >= 0) {
                joining->joined[half->b.body] = true;
            }
        }
    }
    return worst;
}

// Impulses that would take the errors away in a step from rest, times dt.
static FilStatus solve_joints(Joining *joining, bool *solved, FilError *error) {
    FilWorld *world = joining->world;
    FilWorldTry *end = &joining->end;
    const int n = end->contact_count;
    int *all = FIL_NEW(&world->scratch, int, (size_t)n + 1);
    if (all == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d joints", n);
    }
    for (int i = 0; i < n; i++) {
        all[i] = i;
    }
    *solved = fil_world_prepare_end(world, end, joining->joined);
    if (!*solved) {
        return FIL_OK;
    }
    FilFrictionProblem problem;
    FIL_TRY(fil_rows_build(world, end, &joining->rows, error));
    FIL_TRY(fil_world_problem_build(world, end, &joining->rows, all, n, &problem, error));
    double *b = FIL_NEW(&world->scratch, double, 3 * (size_t)n + 1);
    if (b == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d joints", n);
    }
    for (int k = 0; k < 3 * n; k++) {
        b[k] = end->contacts[k / 3].error[k % 3] / end->dt;
        end->r[k] = 0.0;
    }
    problem.b = b;
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-8;
    settings.thread_count = world->threads;
    FilFrictionSolution solution = {.r = end->r};
    FilFrictionInfo info;
    FIL_TRY(fil_effort_solve(world, &problem, &settings, &solution, &info, error));
    for (int k = 0; k < 3 * n; k++) {
        end->r[k] *= end->dt;
    }
    return FIL_OK;
}

// Move all that is joined along the displacements found, or back.
static void move_joined(const Joining *joining, double depth, double **work, bool back) {
    const FilWorld *world = joining->world;
    const FilWorldTry *end = &joining->end;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        end->depth[i] = depth;
        for (int k = 0; back && k < body->dof_count; k++) {
            end->shift[body->first_dof + k] *= -1.0;
        }
        if (joining->joined[i]) {
            fil_world_move_body(world, end, i, work[0]);
        }
    }
}

FilStatus fil_world_rejoin(FilWorld *world, const FilWorldTry *step, FilError *error) {
    Joining joining = {.world = world};
    FilWorldTry *end = &joining.end;
    double last = HUGE_VAL, **work;
    FIL_TRY(reserve_end(&joining, step, error));
    FIL_TRY(fil_world_reserve_moves(world, &work, error));
    for (int k = 0; k < MAX_MOVES; k++) {
        const double worst = list_errors(&joining);
        bool solved = false;
        if (worst > last) {
            move_joined(&joining, last, work, true);
        }
        if (!(worst > small && worst < 0.9 * last)) {
            return FIL_OK;
        }
        FIL_TRY(solve_joints(&joining, &solved, error));
        if (!solved || !fil_all_finite(end->r, 3 * end->contact_count)) {
            return FIL_OK;
        }
        fil_rows_push(world, &joining.rows, end->r, end->shift);
        move_joined(&joining, worst, work, false);
        last = worst;
    }
    return FIL_OK;
}
