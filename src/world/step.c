// step.c - one step of the world.
//
// Find the contacts, solve for the velocities (solve.c), move everything, and look whether
// something passed through something else on the way: such pairs become contacts and the step is
// solved again. A step that is too violent is done again in two halves.
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "effort.h"
#include "hold.h"
#include "lift.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "passing.h"
#include "place.h"
#include "problem.h"
#include "rejoin.h"
#include "rod/rod.h"
#include "sleep.h"
#include "solve.h"

static const double least_part = 0.24; // of the world's step: what is longer can be made shorter

static const int few_dofs = 8000;

enum { MAX_ROUNDS = 3 };      // of adding pairs that passed through each other
enum { MAX_LAST_ROUNDS = 6 }; // where the step can be cut no further
enum { MAX_PLACINGS = 4 };    // of taking out overlaps at the end
enum { MAX_LOSSES = 2 };      // of motion, in parts of a step of one length
enum { MAX_REFUSALS = 3 };    // of looking for bodies without velocities, one after the other

// --- preparation ---------------------------------------------------------------------------------

static FilStatus reserve_try(FilWorld *world, const FilSpan *span, FilWorldTry *step,
                             FilError *error) {
    fil_arena_reset(&world->scratch);
    world->past = (FilPast){0};
    // waiting for each other costs a few threads more than so little work
    world->threads =
        world->dof_count < few_dofs ? 1 : fil_thread_count(world->def.solver.thread_count);
    FilArena *arena = &world->scratch;
    size_t points = 3 * (size_t)world->point_count + 1, dofs = (size_t)world->dof_count + 1;
    *step = (FilWorldTry){.dt = span->dt, .end = span->end, .share = span->share};
    step->points = FIL_NEW(arena, double, points);
    step->rates = FIL_NEW(arena, double, points);
    step->ahead = FIL_NEW(arena, double, points);
    step->ahead_spin = FIL_NEW(arena, double, points);
    step->before = FIL_NEW(arena, double, dofs);
    step->after = FIL_NEW(arena, double, dofs);
    step->free_velocity = FIL_NEW(arena, double, dofs);
    step->shift = FIL_NEW_ZEROED(arena, double, dofs);
    step->push = FIL_NEW(arena, double, dofs);
    step->states = FIL_NEW(arena, double, (size_t)world->state_count + 1);
    step->refused = FIL_NEW_ZEROED(arena, bool, (size_t)world->body_count + 1);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a step of %lld unknowns",
                        (long long)world->dof_count);
    }
    return FIL_OK;
}

static void save_states(const FilWorld *world, double *states) {
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->get_state(body->self, states + body->first_state);
    }
}

static void restore_states(FilWorld *world, const double *states) {
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        if (body->island == 0) {
            body->table->set_state(body->self, states + body->first_state);
        }
    }
}

static FilStatus check_bodies(const FilWorld *world, double dt, FilError *error) {
    for (int i = 0; i < world->rod_count; i++) {
        FIL_TRY(fil_rod_check_step(world->bodies[world->rods[i]].self, dt, error));
    }
    return FIL_OK;
}

static FilStatus move_obstacles(FilWorld *world, double end, FilError *error) {
    for (int i = 0; i < world->obstacle_count; i++) {
        FilObstacle *obstacle = &world->obstacles[i];
        obstacle->next = obstacle->def.pose;
        obstacle->moves = false;
        if (obstacle->def.motion == NULL) {
            continue;
        }
        obstacle->def.motion(obstacle->def.user, end, &obstacle->next);
        if (!fil_all_finite(obstacle->next.position, 3)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "obstacle %d: motion gives a place that is not finite at time %g s", i,
                            end);
        }
        FIL_TRY(fil_rod_axes_check((const double(*)[3])obstacle->next.axis,
                                   "obstacle: motion: axis", error));
        obstacle->moves = !fil_poses_agree(&obstacle->pose, &obstacle->next);
    }
    return FIL_OK;
}

void fil_world_obstacle_rate(const FilObstacle *obstacle, double dt, const double p[3],
                             double rate[3]) {
    double arm[3], moved[3];
    fil_subtract3(p, obstacle->pose.position, arm);
    fil_copy3(obstacle->next.position, moved);
    for (int k = 0; k < 3; k++) {
        fil_add3(fil_dot3(arm, obstacle->pose.axis[k]), obstacle->next.axis[k], moved);
    }
    for (int k = 0; k < 3; k++) {
        rate[k] = (moved[k] - p[k]) / dt;
    }
}

// How a place of a rod moves or turns though v+ = 0: driven ends.
static void find_driven(const FilWorld *world, const FilWorldTry *step, const FilPlace *place,
                        bool turn, double rate[3]) {
    const FilPiece *piece = &world->pieces[place->piece];
    double spin[3], centre[3], arm[3];
    for (int k = 0; k < 3; k++) {
        ptrdiff_t from = 3 * (ptrdiff_t)piece->point[0] + k,
                  to = 3 * (ptrdiff_t)piece->point[1] + k;
        rate[k] = (1.0 - place->t) * step->ahead[from] + place->t * step->ahead[to];
        spin[k] = (1.0 - place->t) * step->ahead_spin[from] + place->t * step->ahead_spin[to];
    }
    if (turn) {
        fil_copy3(spin, rate);
        return;
    }
    double turned[3];
    fil_world_centre(world, step, place, centre);
    fil_subtract3(place->point, centre, arm);
    fil_cross3(spin, arm, turned);
    fil_add3(1.0, turned, rate);
}

// What moves the two places apart from v+, world axes.
static void find_carried(const FilWorld *world, const FilWorldTry *step, FilWorkContact *contact) {
    const FilPlace *places[2] = {&contact->a, &contact->b};
    memset(contact->carried, 0, sizeof contact->carried);
    for (int side = 0; side < 2 && contact->kind == FIL_BLOCK_COULOMB; side++) {
        const FilPiece *piece = &world->pieces[places[side]->piece];
        double rate[3] = {0.0, 0.0, 0.0};
        if (piece->obstacle >= 0) {
            fil_world_obstacle_rate(&world->obstacles[piece->obstacle], step->dt,
                                    places[side]->point, rate);
        } else if (places[side]->body >= 0 && world->bodies[piece->body].kind == FIL_BODY_ROD) {
            find_driven(world, step, places[side], false, rate);
        }
        fil_add3(side == 0 ? 1.0 : -1.0, rate, contact->carried);
    }
    for (int side = 0; side < 2 && contact->kind != FIL_BLOCK_COULOMB; side++) {
        // an obstacle is taken at its end of the step by the error already
        int body = places[side]->body;
        double rate[3];
        if (body >= 0 && world->bodies[body].kind == FIL_BODY_ROD) {
            find_driven(world, step, places[side], contact->turn, rate);
            fil_add3(side == 0 ? 1.0 : -1.0, rate, contact->carried);
        }
    }
}

typedef struct Carrying {
    const FilWorld *world;
    const FilWorldTry *step;
} Carrying;

static void carry_range(void *context, int first, int last) {
    const Carrying *carrying = context;
    for (int i = first; i < last; i++) {
        find_carried(carrying->world, carrying->step, &carrying->step->contacts[i]);
    }
}

static void mark_touched(FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; i < world->body_count; i++) {
        world->bodies[i].touched = false;
    }
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        if (contact->a.body >= 0) {
            world->bodies[contact->a.body].touched = true;
        }
        if (contact->b.body >= 0) {
            world->bodies[contact->b.body].touched = true;
        }
    }
}

// --- energy --------------------------------------------------------------------------------------

// The part of its motion that had to be taken from a rod, which would have gained energy else.
static double flaw_of(const FilBody *body) {
    const FilRod *rod = body->self;
    return body->kind == FIL_BODY_ROD ? rod->table->flaw(rod) : 0.0;
}

// Whether a step is so short that rods are made slower rather than to cut it further.
static bool is_short(const FilWorld *world, double dt) {
    return dt < least_part * world->def.step;
}

// --- the update ----------------------------------------------------------------------------------

// Whether steps are looked at once more when they were taken: comparators are taken as they are.
static bool is_swept(const FilWorld *world) {
    return world->def.contact == FIL_CONTACT_EXACT && !world->def.unswept;
}

// What came of one round of a try.
typedef struct Round {
    int number;   // rounds that went before it
    bool last;    // there is no shorter step
    bool failed;  // a body refused the step, or left the range of numbers
    bool violent; // it must not stand unless there is no shorter one
    bool woken;   // what slept is pressed on: the step was not taken
    bool mended;  // contacts were added: it is to be solved again
    bool stands;  // the step is taken
    FilFates fates;
    FilPassed passed;
} Round;

typedef struct Moving {
    FilWorld *world;
    const FilWorldTry *step;
    bool last;              // there is no shorter step
    bool *failed, *slowed;  // [body_count]
    double *flaws, *unpaid; // [body_count]
} Moving;

static void advance_range(void *context, int first, int last) {
    const Moving *moving = context;
    for (int i = first; i < last; i++) {
        const FilBody *body = &moving->world->bodies[i];
        if (body->island != 0 || moving->step->refused[i]) {
            continue;
        }
        const FilPush push = {
            .impulses = body->touched ? moving->step->push + body->first_dof : NULL,
            .unpaid = moving->unpaid[i],
            .shortest = moving->last || is_short(moving->world, moving->step->dt)};
        moving->failed[i] = !body->table->advance(body->self, moving->step->dt,
                                                  moving->step->after + body->first_dof, &push);
        moving->flaws[i] = moving->failed[i] ? 0.0 : flaw_of(body);
    }
}

// What joints did to mend what was wrong before is energy from nowhere: nobody keeps it.
static void find_unpaid(const FilWorld *world, const FilWorldTry *step, double *unpaid) {
    for (int i = 0; world->joint_count > 0 && i < step->contact_count; i++) {
        const FilWorkContact *half = &step->contacts[i];
        if (half->kind != FIL_BLOCK_EQUALITY || half->joint < 0) {
            continue;
        }
        const double work = fil_joint_mending(step, i);
        unpaid[half->a.body] += fmax(0.0, work);
        if (half->b.body >= 0) {
            unpaid[half->b.body] += fmax(0.0, work);
        }
    }
}

static FilStatus reserve_round(FilWorld *world, Round *round, FilError *error) {
    round->fates.lost = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    round->fates.stuck = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    round->fates.owing = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    round->fates.flawed = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    return !world->scratch.failed ? FIL_OK
                                  : fil_fail(error, FIL_E_NO_MEMORY,
                                             "there is no memory for %d bodies", world->body_count);
}

// Bring joints together. What gains energy by that lost motion, where the step is short, or makes
// it too violent.
static FilStatus rejoin_bodies(FilWorld *world, const FilWorldTry *step, const double *energies,
                               const bool *failed, Round *round, FilError *error) {
    bool *gained = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    if (gained == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    FIL_TRY(fil_world_rejoin_paid(world, step, energies, failed, gained, error));
    for (int i = 0; i < world->body_count; i++) {
        round->fates.owing[i] = round->fates.owing[i] || gained[i];
        round->violent = round->violent || (gained[i] && !is_short(world, step->dt));
    }
    return FIL_OK;
}

static FilStatus advance_bodies(FilWorld *world, const FilWorldTry *step, Round *round,
                                FilError *error) {
    Moving moving = {.world = world, .step = step, .last = round->last};
    moving.failed = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    moving.slowed = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    moving.flaws = FIL_NEW_ZEROED(&world->scratch, double, (size_t)world->body_count + 1);
    moving.unpaid = FIL_NEW_ZEROED(&world->scratch, double, (size_t)world->body_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    double *energies = NULL;
    const bool joined = world->joint_count > 0;
    FIL_TRY(step->shifted || joined ? fil_world_measure(world, step, &energies, error) : FIL_OK);
    find_unpaid(world, step, moving.unpaid);
    fil_parallel_ranges(world->body_count, 8, world->threads, advance_range, &moving);
    FIL_TRY(step->shifted
                ? fil_world_lift(world, step, energies, moving.failed, moving.slowed, error)
                : FIL_OK);
    const double most = is_short(world, step->dt) ? 1.0 : FIL_ROD_HARMLESS;
    const bool may_hold = round->last && is_swept(world);
    for (int i = 0; i < world->body_count; i++) {
        const bool failed = moving.failed[i] && !may_hold;
        world->culprit = failed && !round->failed ? i : world->culprit;
        round->failed = round->failed || failed;
        round->violent = round->violent || moving.flaws[i] > most;
        round->fates.lost[i] = moving.flaws[i] > FIL_ROD_HONEST;
        round->fates.owing[i] = moving.slowed[i];
        round->fates.flawed[i] = moving.flaws[i] > 1.0;
        round->fates.stuck[i] = step->refused[i] || (moving.failed[i] && may_hold);
    }
    round->violent = round->violent || round->failed;
    return joined && !round->failed
               ? rejoin_bodies(world, step, energies, moving.failed, round, error)
               : FIL_OK;
}

static void finish_obstacles(FilWorld *world) {
    for (int i = 0; i < world->obstacle_count; i++) {
        world->obstacles[i].pose = world->obstacles[i].next;
    }
}

// --- one try -------------------------------------------------------------------------------------

static FilStatus save_poses(FilWorld *world, FilPose **poses, FilError *error) {
    *poses = FIL_NEW(&world->scratch, FilPose, (size_t)world->rigid_count + 1);
    if (*poses == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->rigid_count);
    }
    for (int i = 0; i < world->rigid_count; i++) {
        fil_rigid_pose(world->bodies[world->rigids[i]].self, &(*poses)[i]);
    }
    return FIL_OK;
}

// Where everything is and what comes near what.
static FilStatus begin_try(FilWorld *world, const FilSpan *span, FilWorldTry *step, bool *woken,
                           FilError *error) {
    FIL_TRY(reserve_try(world, span, step, error));
    FIL_TRY(move_obstacles(world, span->end, error));
    fil_world_wake_changed(world, span->dt);
    FIL_TRY(check_bodies(world, span->dt, error));
    save_states(world, step->states);
    fil_world_sample(world, step->states, step->points, step->rates);
    FIL_TRY(fil_world_sample_driven(world, step, error));
    FIL_TRY(fil_world_detect(world, step, error));
    *woken = fil_world_part_sleepers(world, step);
    return *woken ? FIL_OK : fil_world_list_joints(world, step, error);
}

// Whether a body has velocities that are numbers.
static bool has_velocities(const FilWorld *world, const FilWorldTry *step, int i) {
    const FilBody *body = &world->bodies[i];
    const double *v = body->touched ? step->free_velocity : step->after;
    return fil_all_finite(v + body->first_dof, body->dof_count);
}

// The first body whose velocities are no numbers, or -1.
static int find_culprit(const FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; i < world->body_count; i++) {
        if (!has_velocities(world, step, i)) {
            return i;
        }
    }
    return -1;
}

// Bodies whose velocities are no numbers take no part in a step that can be cut no further: they
// are held (hold.c). Nor does any, where it is not known which. Returns whether that is news.
static bool refuse_bodies(const FilWorld *world, FilWorldTry *step, bool all) {
    bool news = false;
    for (int i = 0; i < world->body_count; i++) {
        const bool wrong = all || i == world->culprit || !has_velocities(world, step, i);
        news = news || (wrong && !step->refused[i] && world->bodies[i].island == 0);
        step->refused[i] = step->refused[i] || (wrong && world->bodies[i].island == 0);
    }
    return news;
}

// What takes no part has no contacts, and no joints: the group that it is held with has.
static void drop_refused(FilWorldTry *step) {
    int kept = 0;
    for (int i = 0; i < step->contact_count; i++) {
        const int a = step->contacts[i].a.body, b = step->contacts[i].b.body;
        if (!((a >= 0 && step->refused[a]) || (b >= 0 && step->refused[b]))) {
            step->contacts[kept++] = step->contacts[i];
        }
    }
    step->contact_count = kept;
}

static FilStatus solve_try(FilWorld *world, FilWorldTry *step, FilStepInfo *info, Round *round,
                           FilError *error) {
    Carrying carrying = {.world = world, .step = step};
    const bool may_hold = round->last && is_swept(world);
    bool again = true;
    for (int k = 0; again; k++) {
        drop_refused(step);
        fil_parallel_ranges(step->contact_count, 256, world->threads, carry_range, &carrying);
        mark_touched(world, step);
        world->culprit = -1;
        FIL_TRY(fil_world_solve(world, step, info, &round->failed, error));
        again = round->failed && may_hold && refuse_bodies(world, step, k >= MAX_REFUSALS);
    }
    if (round->failed && world->culprit < 0) {
        world->culprit = find_culprit(world, step);
    }
    return FIL_OK;
}

// Solve the step with the contacts that are known, and take it.
static FilStatus take_try(FilWorld *world, FilWorldTry *step, FilStepInfo *info, Round *round,
                          FilError *error) {
    FIL_TRY(solve_try(world, step, info, round, error));
    round->woken = !round->failed && fil_world_wake_pressed(world, step);
    if (round->failed || round->woken) {
        return FIL_OK;
    }
    double start = fil_seconds();
    FilStatus status = advance_bodies(world, step, round, error);
    info->seconds.update += fil_seconds() - start;
    return status;
}

// Make contacts of the pairs that went through or into each other, and wake those of them that
// sleep, before the states are taken back. It is not mended when there are none.
static FilStatus add_passed(FilWorld *world, FilWorldTry *step, const FilPose *poses, Round *round,
                            FilStepInfo *info, FilError *error) {
    round->mended = false;
    for (int k = 0; k < round->passed.count; k++) {
        const FilMeeting *meeting = &round->passed.list[k];
        int count;
        if (meeting->left) {
            continue;
        }
        round->woken = fil_world_wake_pair(world, meeting->pair) || round->woken;
        FIL_TRY(fil_world_add_met(world, step, poses, meeting, round->last, &count, error));
        info->added_count += count > 0;
        round->mended = round->mended || count > 0;
    }
    return FIL_OK;
}

// Whether overlaps are worth a shorter step: they are taken out again, and no more than five
// halvings are spent on them.
static bool may_be_cut(const FilWorld *world, const FilWorldTry *step) {
    return step->dt >= 0.03 * world->def.step;
}

// Whether a round may stand as it is: nothing went through anything, nor too deep into it.
static bool may_stand(const FilWorld *world, const FilWorldTry *step, const Round *round) {
    return !round->violent && round->passed.missed == 0 &&
           (round->passed.pressed == 0 || !may_be_cut(world, step));
}

static bool would_stand(const FilWorld *world, const FilWorldTry *step, const Round *round) {
    return !round->mended && !round->woken && !round->failed &&
           (round->last || may_stand(world, step, round));
}

static double energy_of_all(const FilWorld *world) {
    double sum = 0.0;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        const FilBodyEnergy energy = fil_body_energy(body);
        sum += body->island == 0 ? energy.kinetic + energy.potential : 0.0;
    }
    return sum;
}

// What the contacts of a step took out of it, J.
static double find_dissipated(const FilWorldTry *step) {
    double sum = 0.0;
    for (int i = 0; i < step->contact_count; i++) {
        if (step->contacts[i].kind == FIL_BLOCK_COULOMB) {
            sum -= fil_dot3(step->r + 3 * (ptrdiff_t)i, step->u + 3 * (ptrdiff_t)i);
        }
    }
    return sum;
}

static FilStatus move_apart(FilWorld *world, FilWorldTry *step, const FilPose *poses, Round *round,
                            FilError *error) {
    bool moved = true;
    for (int k = 0; k < MAX_PLACINGS && moved && round->passed.deep > 0; k++) {
        FIL_TRY(fil_world_place(world, step, poses, &round->passed, &moved, error));
        FIL_TRY(fil_world_find_passed(world, step, poses, &round->passed, error));
    }
    return FIL_OK;
}

// Take the overlaps that a round brought out of the places. What that lifts and bends must not cost
// more than contacts took out of the step: or they stay, and it is too violent.
static FilStatus place_round(FilWorld *world, FilWorldTry *step, const FilPose *poses, Round *round,
                             FilError *error) {
    double *states = FIL_NEW(&world->scratch, double, (size_t)world->state_count + 1);
    if (states == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    save_states(world, states);
    const double energy = energy_of_all(world);
    FIL_TRY(move_apart(world, step, poses, round, error));
    if (energy_of_all(world) - energy <= find_dissipated(step) + 1e-12 * fabs(energy)) {
        return FIL_OK;
    }
    round->violent = round->violent || may_be_cut(world, step);
    restore_states(world, states);
    return fil_world_find_passed(world, step, poses, &round->passed, error);
}

// Whether rods may have been made slower in a round.
static bool may_slow(const FilWorld *world, const FilWorldTry *step, bool last) {
    return (last || is_short(world, step->dt)) && is_swept(world);
}

// A round that must stand: what cannot do the step is held. Its contacts did not do what the law
// says, whatever the solver reached.
static FilStatus hold_stuck(FilWorld *world, FilWorldTry *step, const FilPose *poses, Round *round,
                            FilStepInfo *info, FilError *error) {
    FIL_TRY(fil_world_hold(world, step, poses, &round->passed, &round->fates, error));
    round->failed = round->fates.beyond;
    const bool changed = round->fates.held || round->fates.shortened;
    const bool claimed = changed && info->outcome == FIL_CONVERGED;
    info->outcome = claimed ? FIL_LIMIT : info->outcome;
    return FIL_OK;
}

// A round that would stand gains no energy.
static FilStatus balance_round(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                               Round *round, FilStepInfo *info, FilError *error) {
    bool stuck;
    FIL_TRY(fil_world_balance(world, step, &round->fates, &stuck, error));
    round->violent = round->violent || stuck || round->fates.shortened;
    if (round->fates.shortened) {
        FIL_TRY(fil_world_find_passed(world, step, poses, &round->passed, error));
    }
    return round->violent && round->last ? hold_stuck(world, step, poses, round, info, error)
                                         : FIL_OK;
}

// Whether what passed may have been moved through something because it overlaps: the last try
// leaves overlaps as they are, before anything is held.
static bool stays_pressed(FilWorldTry *step, const Round *round) {
    step->pressed = round->last && !round->mended && !round->failed && !round->woken &&
                    round->passed.missed > 0 && step->shifted;
    return step->pressed;
}

// Mend what a round did, if it can be: the states are taken back then, as they are where the round
// cannot stand.
static FilStatus judge_round(FilWorld *world, FilWorldTry *step, const FilPose *poses, Round *round,
                             FilStepInfo *info, FilError *error) {
    const bool last = round->last;
    const int rounds = last ? MAX_LAST_ROUNDS : MAX_ROUNDS;
    round->mended = round->number < rounds && !round->failed && !round->woken &&
                    round->passed.count > 0 && (!round->violent || last);
    if (round->mended) {
        FIL_TRY(add_passed(world, step, poses, round, info, error));
    }
    round->mended = round->mended || stays_pressed(step, round);
    if (!round->mended && !round->woken && !round->failed && (!round->violent || last) &&
        round->passed.deep > 0) {
        double start = fil_seconds();
        info->added_count += round->passed.deep;
        FIL_TRY(place_round(world, step, poses, round, error));
        info->seconds.update += fil_seconds() - start;
    }
    if (last && !round->mended && !round->woken && !round->failed && is_swept(world)) {
        FIL_TRY(hold_stuck(world, step, poses, round, info, error));
    }
    if (would_stand(world, step, round) && may_slow(world, step, last)) {
        FIL_TRY(balance_round(world, step, poses, round, info, error));
    }
    round->stands = would_stand(world, step, round);
    if (!round->stands) {
        restore_states(world, step->states);
    }
    return FIL_OK;
}

static FilStatus try_round(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                           FilStepInfo *info, Round *round, FilError *error) {
    *round = (Round){.number = round->number, .last = round->last};
    FIL_TRY(reserve_round(world, round, error));
    FIL_TRY(take_try(world, step, info, round, error));
    if (round->failed || round->woken || !is_swept(world)) {
        return FIL_OK;
    }
    double start = fil_seconds();
    FilStatus status = fil_world_find_passed(world, step, poses, &round->passed, error);
    info->seconds.sweep += fil_seconds() - start;
    round->violent = round->violent || round->passed.whirled;
    return status;
}

// One step over `span`, unless something wakes on the way: it is not taken then, but must be tried
// again.
static FilStatus try_awake(FilWorld *world, const FilSpan *span, bool last, FilStepInfo *info,
                           bool *taken, bool *woken, FilError *error) {
    FilWorldTry step;
    FilPose *poses;
    Round round = {.last = last};
    double start = fil_seconds();
    *taken = false;
    FIL_TRY(fil_effort_look(world, error));
    FIL_TRY(begin_try(world, span, &step, woken, error));
    FIL_TRY(save_poses(world, &poses, error));
    FIL_TRY(may_slow(world, &step, last) ? fil_world_energies(world, &step, error) : FIL_OK);
    info->seconds.collide += fil_seconds() - start;
    const FilOutcome outcome = info->outcome; // of what stands
    const FilResidual residual = info->residual;
    const double elastic = info->elastic_residual;
    for (int k = 0; !*woken && !*taken; k++) {
        round.number = k;
        FIL_TRY(try_round(world, &step, poses, info, &round, error));
        FIL_TRY(judge_round(world, &step, poses, &round, info, error));
        *woken = round.woken;
        *taken = round.stands;
        if (!*taken) {
            info->outcome = outcome;
            info->residual = residual;
            info->elastic_residual = elastic;
        }
        if (!round.mended) {
            break;
        }
    }
    if (!*taken) {
        return FIL_OK;
    }
    info->missed_count += round.passed.missed;
    info->pressed_count += round.passed.pressed;
    for (int i = 0; i < world->body_count; i++) {
        info->slowed_count += round.fates.lost[i];
    }
    finish_obstacles(world);
    fil_world_record_grab(world, &step);
    world->time = span->end;
    world->past = (FilPast){step.rates, step.states, world->point_count, span->dt};
    fil_world_record_joints(world, &step);
    return fil_world_record_contacts(world, &step, info, error);
}

FilStatus fil_world_try_step(FilWorld *world, const FilSpan *span, bool last, FilStepInfo *info,
                             bool *taken, FilError *error) {
    bool woken;
    do { // as often as there are islands asleep, at most
        FIL_TRY(try_awake(world, span, last, info, taken, &woken, error));
    } while (woken);
    return FIL_OK;
}

FilStatus fil_world_find_contacts(FilWorld *world, FilError *error) {
    FilWorldTry step;
    FilStepInfo unused = {0};
    FilClock clock = world->clock;
    const FilSpan span = fil_clock_span(world->def.step, 0, &clock);
    bool woken;
    do {
        FIL_TRY(begin_try(world, &span, &step, &woken, error));
    } while (woken);
    step.r = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)step.contact_count + 1);
    step.u = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)step.contact_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        step.contact_count);
    }
    return fil_world_record_contacts(world, &step, &unused, error);
}

// No step is short enough: who, and what may help.
static FilStatus fail_step(const FilWorld *world, double dt, FilError *error) {
    const FilBody *body = world->culprit >= 0 ? &world->bodies[world->culprit] : NULL;
    char who[80] = "the world", hint[60] = "";
    if (body != NULL) {
        bool rod = body->kind == FIL_BODY_ROD;
        double safe = rod ? fil_rod_largest_step(body->self) : HUGE_VAL;
        fil_world_name(world, body, sizeof who, who);
        if (safe >= FIL_ROD_HINTED_STEP && safe < dt) {
            (void)snprintf(hint, sizeof hint, "; a step of %.1g s may do", safe);
        }
    }
    return fil_fail(error, FIL_E_ARGUMENT,
                    "at time %g s %s leaves the range of numbers even with a step of %g s%s",
                    world->time, who, dt, hint);
}

// Keep the state that the step begins with, `*count` numbers: so little work beside a step that it
// is done always.
static FilStatus keep_state(FilWorld *world, int64_t *count, FilError *error) {
    const int64_t wanted = fil_world_state_count(world);
    FIL_TRY(fil_world_reserve(world, &world->undo, &world->undo_room, wanted, sizeof *world->undo,
                              error));
    fil_world_get_state(world, world->undo);
    *count = wanted;
    return FIL_OK;
}

// A step is cut in halves of halves: `left` of 2^depth parts; when it is calm again, less. Where
// MAX_LOSSES of the shortest parts lost motion even so, shorter ones are not what it lacks: the
// shortest are twice as long from there on.
static FilStatus take_parts(FilWorld *world, FilStepInfo *result, FilError *error) {
    int deepest = fil_clock_halvings(world->clock, world->def.max_halvings);
    int depth = 0, left = 1, calm = 0, losses = 0;
    while (left > 0) {
        FilClock end = world->clock;
        const FilSpan span = fil_clock_span(world->def.step, depth, &end);
        bool taken, last = depth >= deepest || fil_effort_is_spent(world);
        const int slowed = result->slowed_count;
        FIL_TRY(fil_world_try_step(world, &span, last, result, &taken, error));
        if (taken) {
            world->clock = end;
            result->substeps++;
            left--;
            calm++;
            losses += last && result->slowed_count > slowed;
            if (losses == MAX_LOSSES && deepest > 0) {
                deepest--;
                losses = 0;
            }
            if (calm >= 2 && left % 2 == 0 && depth > 0) {
                depth--;
                left /= 2;
                calm = 0;
            }
        } else if (depth < deepest) {
            depth++;
            left *= 2;
            calm = 0;
        } else {
            return fail_step(world, span.dt, error);
        }
    }
    world->clock = (FilClock){.step_count = world->clock.step_count + 1};
    return fil_world_fall_asleep(world, error);
}

FilStatus fil_world_step(FilWorld *world, FilStepInfo *info, FilError *error) {
    FilStepInfo unused = {0};
    FilStepInfo *result = info != NULL ? info : &unused;
    *result = (FilStepInfo){.outcome = FIL_CONVERGED};
    double start = fil_seconds();
    int64_t kept;
    FIL_TRY(keep_state(world, &kept, error));
    fil_effort_begin(world);
    FilStatus status = take_parts(world, result, error);
    if (status != FIL_OK) { // a part of it may be taken, something be woken, memory be used up
        (void)!fil_world_set_state(world, world->undo, kept, NULL); // all of it has its room
        return status;
    }
    fil_effort_end(world);
    result->asleep_count = world->asleep_count;
    result->seconds.total = fil_seconds() - start;
    return FIL_OK;
}
