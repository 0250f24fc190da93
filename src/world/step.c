// step.c - one step of the world.
//
// Find the contacts, make the bodies ready, solve the friction problem, move everything, and look
// whether something passed through something else on the way. Elasticity that is not linear is
// linearised again at the velocity found, with the same contacts, until that changes no more. A
// step that is too violent is done again in two halves.
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "passing.h"
#include "problem.h"
#include "rod/rod.h"

static const double most_gain = 2e-3;        // of the kinetic energy, in a step
static const double newton_tolerance = 1e-4; // of the velocities: what is left is its square

enum {
    MAX_ROUNDS = 3,        // of adding pairs that passed through each other
    MAX_ACTIVE_ROUNDS = 12 // of adding contacts that overlap
};

// --- preparation ---------------------------------------------------------------------------------

static FilStatus reserve_try(FilWorld *world, double dt, FilWorldTry *step, FilError *error) {
    fil_arena_reset(&world->scratch);
    FilArena *arena = &world->scratch;
    size_t points = 3 * (size_t)world->point_count + 1, dofs = (size_t)world->dof_count + 1;
    *step = (FilWorldTry){.dt = dt};
    step->points = FIL_NEW(arena, double, points);
    step->rates = FIL_NEW(arena, double, points);
    step->ahead = FIL_NEW(arena, double, points);
    step->ahead_spin = FIL_NEW(arena, double, points);
    step->before = FIL_NEW(arena, double, dofs);
    step->after = FIL_NEW(arena, double, dofs);
    step->free_velocity = FIL_NEW(arena, double, dofs);
    step->shift = FIL_NEW(arena, double, dofs);
    step->push = FIL_NEW(arena, double, dofs);
    step->energies = FIL_NEW(arena, double, (size_t)world->body_count + 1);
    step->states = FIL_NEW(arena, double, (size_t)world->state_count + 1);
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
        body->table->set_state(body->self, states + body->first_state);
    }
}

static FilStatus check_bodies(const FilWorld *world, double dt, FilError *error) {
    for (int i = 0; i < world->body_count; i++) {
        if (world->bodies[i].kind == FIL_BODY_ROD) {
            FIL_TRY(fil_rod_check_step(world->bodies[i].self, dt, error));
        }
    }
    return FIL_OK;
}

static FilStatus move_obstacles(FilWorld *world, double dt, FilError *error) {
    for (int i = 0; i < world->obstacle_count; i++) {
        FilObstacle *obstacle = &world->obstacles[i];
        obstacle->next = obstacle->def.pose;
        if (obstacle->def.motion == NULL) {
            continue;
        }
        obstacle->def.motion(obstacle->def.user, world->time + dt, &obstacle->next);
        if (!fil_all_finite(obstacle->next.position, 3)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "obstacle %d: motion gives a place that is not finite at time %g s", i,
                            world->time + dt);
        }
        FIL_TRY(fil_rod_axes_check((const double(*)[3])obstacle->next.axis,
                                   "obstacle: motion: axis", error));
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
        } else if (world->bodies[piece->body].kind == FIL_BODY_ROD) {
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

typedef struct Preparing {
    FilWorld *world;
    FilWorldTry *step;
    bool first; // the first linearisation of the step, at the velocities it begins with
} Preparing;

static void prepare_body(void *context, int i) {
    const Preparing *preparing = context;
    FilWorldTry *step = preparing->step;
    FilBody *body = &preparing->world->bodies[i];
    double *before = step->before + body->first_dof;
    if (preparing->first) {
        body->table->get_velocity(body->self, before);
    }
    if (body->touched && (preparing->first || !body->linear)) {
        body->table->prepare(body->self, step->dt, before, step->free_velocity + body->first_dof);
    } else if (!body->touched && preparing->first) {
        (void)body->table->free_step(body->self, step->dt, step->after + body->first_dof);
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

// --- the friction problem ------------------------------------------------------------------------

// Impulses to start from: those of the step before, turned into the contact's axes; for a new
// contact those that would solve it alone.
static void guess_impulse(const FilWorkContact *contact, const FilFrictionProblem *problem, int a,
                          double r[3]) {
    if (contact->known) {
        for (int row = 0; row < 3; row++) {
            r[row] = fil_dot3(contact->frame + 3 * (ptrdiff_t)row, contact->memory.impulse);
        }
        return;
    }
    memset(r, 0, 3 * sizeof(double));
    if (contact->kind != FIL_BLOCK_COULOMB) {
        return;
    }
    int k = problem->blocks.start[a];
    while (problem->blocks.column[k] != a) {
        k++;
    }
    (void)fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 3,
                          problem->blocks.value + 9 * (ptrdiff_t)k, problem->b + 3 * (ptrdiff_t)a,
                          contact->mu, r, NULL);
}

static FilFrictionSettings settings_of(const FilWorld *world) {
    static const FilFrictionSolver solvers[FIL_LAW_COUNT] = {
        [FIL_LAW_TRESCA] = FIL_SOLVER_TRESCA,
        [FIL_LAW_CONVEX] = FIL_SOLVER_CONVEX,
        [FIL_LAW_LINEARISED] = FIL_SOLVER_LINEARISED,
    };
    FilFrictionSettings settings = world->def.solver;
    settings.warm_start = true;
    settings.thread_count = world->threads;
    if (solvers[world->def.law] != FIL_SOLVER_AUTO) {
        settings.solver = solvers[world->def.law];
    }
    return settings;
}

static void add_solve(const FilFrictionInfo *solve, FilStepInfo *info) {
    info->outcome = solve->outcome > info->outcome ? solve->outcome : info->outcome;
    info->residual.scaled = fmax(info->residual.scaled, solve->residual.scaled);
    info->residual.natural = fmax(info->residual.natural, solve->residual.natural);
    info->residual.alart_curnier =
        fmax(info->residual.alart_curnier, solve->residual.alart_curnier);
    info->iterations += solve->iterations;
    info->island_count = solve->island_count;
    info->conditioning = solve->conditioning;
}

// How much the velocities of the bodies in contact changed since they were linearised, relative to
// the largest of them, in contact or free. Bodies whose step is linear do not count.
static double find_change(const FilWorld *world, const FilWorldTry *step) {
    double change = 0.0;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        double most = 1e-300, differ = 0.0;
        for (int k = 0; body->touched && !body->linear && k < body->dof_count; k++) {
            double to = step->after[body->first_dof + k];
            most = fmax(most, fmax(fabs(to), fabs(step->free_velocity[body->first_dof + k])));
            differ = fmax(differ, fabs(to - step->before[body->first_dof + k]));
        }
        change = fmax(change, differ / most);
    }
    return change;
}

// v+ = v_free + what the impulses do.
static void add_free(const FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        if (body->touched) {
            fil_axpy(1.0, step->free_velocity + body->first_dof, step->after + body->first_dof,
                     body->dof_count);
        }
    }
}

// Whether all velocities are numbers: a body refuses a step that is far too long with NaN.
static bool are_finite(const FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        const double *v = body->touched ? step->free_velocity : step->after;
        if (!fil_all_finite(v + body->first_dof, body->dof_count)) {
            return false;
        }
    }
    return true;
}

typedef struct Correcting {
    FilWorld *world;
    FilWorldTry *step;
    bool *corrected; // [body_count]
} Correcting;

static void correct_body(void *context, int i) {
    const Correcting *correcting = context;
    FilWorldTry *step = correcting->step;
    FilBody *body = &correcting->world->bodies[i];
    correcting->corrected[i] =
        body->touched &&
        body->table->correct(body->self, step->dt, step->after + body->first_dof,
                             step->push + body->first_dof, step->free_velocity + body->first_dof);
}

// Forces that depend on the velocities, at those found. False when nothing changed.
static FilStatus correct_free(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                              bool *changed, FilError *error) {
    Correcting correcting = {.world = world, .step = step};
    correcting.corrected = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    fil_rows_gather(world, rows, step->r, step->push);
    fil_parallel_for(world->body_count, world->threads, correct_body, &correcting);
    *changed = false;
    for (int i = 0; i < world->body_count; i++) {
        *changed = *changed || correcting.corrected[i];
    }
    return FIL_OK;
}

// --- the contacts that matter --------------------------------------------------------------------

// Of the contacts within reach most stay open. Those matter that touch, pressed in the step before
// or would overlap without an impulse; others join when the solution makes them overlap. What is
// left out obeys the law with r = 0.
typedef struct Active {
    int *list, count; // ascending
    bool *in;         // [contact_count]
    int guessed;      // contacts that have a guess
} Active;

static void gather_active(const FilWorldTry *step, Active *active) {
    active->count = 0;
    for (int i = 0; i < step->contact_count; i++) {
        if (active->in[i]) {
            active->list[active->count++] = i;
        }
    }
}

// Add the contacts that overlap at the end of a step with the velocities v. Returns how many.
static int add_active(const FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                      const double *v, Active *active) {
    int added = 0;
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        double u[3], offset[3];
        if (active->in[i]) {
            continue;
        }
        fil_rows_velocity(world, step, rows, v, i, u);
        fil_contact_offset(contact, step->dt, offset);
        memcpy(step->u + 3 * (ptrdiff_t)i, u, sizeof u);
        if (u[0] + offset[0] < -1e-6 * contact->margin / step->dt) {
            active->in[i] = true;
            added++;
        }
    }
    gather_active(step, active);
    return added;
}

static FilStatus begin_active(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                              Active *active, FilError *error) {
    size_t n = (size_t)step->contact_count;
    active->list = FIL_NEW(&world->scratch, int, n + 1);
    active->in = FIL_NEW_ZEROED(&world->scratch, bool, n + 1);
    step->r = FIL_NEW_ZEROED(&world->scratch, double, 3 * n + 1);
    step->u = FIL_NEW_ZEROED(&world->scratch, double, 3 * n + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        step->contact_count);
    }
    for (size_t i = 0; i < n; i++) {
        const double *impulse = step->contacts[i].memory.impulse;
        bool touches = step->contacts[i].gap <= 1e-3 * step->contacts[i].margin;
        active->in[i] = step->contacts[i].kind != FIL_BLOCK_COULOMB || touches ||
                        impulse[0] != 0.0 || impulse[1] != 0.0 || impulse[2] != 0.0;
    }
    (void)add_active(world, step, rows, step->free_velocity, active);
    return FIL_OK;
}

// Solve the problem of the contacts that matter: step->r, step->u and v+ of the bodies.
static FilStatus solve_active(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                              const Active *active, const bool *guessed,
                              const FilFrictionProblem *problem, FilStepInfo *info,
                              FilError *error) {
    size_t n = (size_t)active->count;
    FilFrictionSettings settings = settings_of(world);
    FilFrictionSolution solution = {.r = FIL_NEW(&world->scratch, double, 3 * n + 1),
                                    .u = FIL_NEW(&world->scratch, double, 3 * n + 1)};
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        active->count);
    }
    for (int a = 0; a < active->count; a++) {
        int i = active->list[a];
        double *r = solution.r + 3 * (ptrdiff_t)a;
        if (guessed[i]) {
            memcpy(r, step->r + 3 * (ptrdiff_t)i, 3 * sizeof(double));
        } else {
            guess_impulse(&step->contacts[i], problem, a, r);
        }
    }
    FilFrictionInfo solve;
    FIL_TRY(fil_friction_solve(problem, &settings, world->workspace, &solution, &solve, error));
    add_solve(&solve, info);
    for (int a = 0; a < active->count; a++) {
        int i = active->list[a];
        memcpy(step->r + 3 * (ptrdiff_t)i, solution.r + 3 * (ptrdiff_t)a, 3 * sizeof(double));
        memcpy(step->u + 3 * (ptrdiff_t)i, solution.u + 3 * (ptrdiff_t)a, 3 * sizeof(double));
        double offset[3];
        fil_contact_offset(&step->contacts[i], step->dt, offset);
        fil_add3(-1.0, offset, step->u + 3 * (ptrdiff_t)i);
    }
    fil_rows_push(world, rows, step->r, step->after);
    add_free(world, step);
    return FIL_OK;
}

// The comparator `penalty`: springs at overlaps, and friction against the velocities with which the
// step begins.
static void push_apart(FilWorld *world, FilWorldTry *step, const FilRows *rows) {
    const FilWorldDef *def = &world->def;
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        double *r = step->r + 3 * (ptrdiff_t)i, *u = step->u + 3 * (ptrdiff_t)i;
        fil_rows_velocity(world, step, rows, step->before, i, u);
        double force = -def->penalty_stiffness * contact->gap - def->penalty_damping * u[0];
        double slip = fmax(hypot(u[1], u[2]), def->slip_speed);
        r[0] = contact->gap < 0.0 ? step->dt * fmax(force, 0.0) : 0.0;
        r[1] = -contact->mu * r[0] * u[1] / slip;
        r[2] = -contact->mu * r[0] * u[2] / slip;
    }
    fil_rows_push(world, rows, step->r, step->after);
    add_free(world, step);
}

// v+ of all bodies into step->after: linearise, solve, add contacts that now overlap, until nothing
// changes any more.
static FilStatus solve_step(FilWorld *world, FilWorldTry *step, FilStepInfo *info, bool *failed,
                            FilError *error) {
    FilRows rows;
    Active active = {0};
    Preparing preparing = {.world = world, .step = step, .first = true};
    bool *guessed = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)step->contact_count + 1);
    double start = fil_seconds();
    fil_parallel_for(world->body_count, world->threads, prepare_body, &preparing);
    info->seconds.bodies += fil_seconds() - start;
    *failed = !are_finite(world, step);
    if (step->contact_count == 0 || *failed) {
        return FIL_OK;
    }
    start = fil_seconds();
    FIL_TRY(fil_rows_build(world, step, &rows, error));
    FIL_TRY(begin_active(world, step, &rows, &active, error));
    if (world->def.contact == FIL_CONTACT_PENALTY) {
        push_apart(world, step, &rows);
        return FIL_OK;
    }
    bool corrected = false;
    for (int round = 1, newton = 1;; round++) {
        FilArenaMark mark = fil_arena_mark(&world->scratch);
        FilFrictionProblem problem;
        FIL_TRY(fil_world_problem_build(world, step, &rows, active.list, active.count, &problem,
                                        error));
        double built = fil_seconds();
        info->seconds.assemble += built - start;
        FIL_TRY(solve_active(world, step, &rows, &active, guessed, &problem, info, error));
        start = fil_seconds();
        info->seconds.friction += start - built;
        for (int a = 0; a < active.count; a++) {
            guessed[active.list[a]] = true;
        }
        int before = active.count;
        int added =
            round < MAX_ACTIVE_ROUNDS ? add_active(world, step, &rows, step->after, &active) : 0;
        info->newton_count = newton;
        info->elastic_residual = find_change(world, step);
        bool again = info->elastic_residual > newton_tolerance && newton < world->def.max_newton;
        bool changed = false;
        if (!corrected && !again) {
            corrected = true;
            FIL_TRY(correct_free(world, step, &rows, &changed, error));
        }
        if (added == 0 && !again && !changed) {
            fil_rows_gather(world, &rows, step->r, step->push);
            active.count = before;
            return fil_world_correct(world, step, &rows, active.list, &problem, step->shift,
                                     &step->shifted, error);
        }
        fil_arena_release(&world->scratch, mark);
        if (again) {
            newton++;
            memcpy(step->before, step->after, sizeof(double) * (size_t)world->dof_count);
            preparing.first = false;
            fil_parallel_for(world->body_count, world->threads, prepare_body, &preparing);
            double prepared = fil_seconds();
            info->seconds.bodies += prepared - start;
            start = prepared;
            *failed = !are_finite(world, step);
            if (*failed) {
                return FIL_OK;
            }
        }
    }
}

// --- energy --------------------------------------------------------------------------------------

// Rods whose velocity terms are explicit may gain energy in a step that is too long for how they
// move. Implicit Euler only ever loses some: what a rod has more after the step than before and
// than the impulses did on it, it has from nowhere.
static bool may_gain(const FilBody *body) {
    if (body->kind != FIL_BODY_ROD || !body->linear) {
        return false;
    }
    const FilRod *rod = body->self;
    return rod->root_end.motion == NULL && rod->tip_end.motion == NULL && rod->growth == 0.0;
}

static double energy_of(const FilBody *body, double *kinetic) {
    FilRodEnergy energy = {0};
    body->table->energy(body->self, &energy);
    *kinetic = energy.kinetic;
    return energy.kinetic + energy.bend + energy.twist + energy.stretch + energy.gravity +
           energy.loads;
}

static void measure_range(void *context, int first, int last) {
    const Preparing *preparing = context;
    for (int i = first; i < last; i++) {
        double kinetic;
        const FilBody *body = &preparing->world->bodies[i];
        preparing->step->energies[i] = may_gain(body) ? energy_of(body, &kinetic) : 0.0;
    }
}

// Whether a body gained energy: E+ - E - (impulses) . v+ beyond a small part of the kinetic energy.
static bool did_gain(const FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        if (!may_gain(body)) {
            continue;
        }
        double kinetic, now = energy_of(body, &kinetic), work = 0.0;
        if (body->touched) {
            const double *push = step->push + body->first_dof, *v = step->after + body->first_dof;
            work = fil_dot(push, v, body->dof_count);
        }
        double before = step->energies[i], noise = 1e-9 * (fabs(now) + fabs(before) + fabs(work));
        if (now - before - work > most_gain * kinetic + noise) {
            return true;
        }
    }
    return false;
}

// --- the update ----------------------------------------------------------------------------------

typedef struct Moving {
    FilWorld *world;
    const FilWorldTry *step;
    bool *failed; // [body_count]
} Moving;

static void advance_range(void *context, int first, int last) {
    const Moving *moving = context;
    for (int i = first; i < last; i++) {
        const FilBody *body = &moving->world->bodies[i];
        moving->failed[i] = !body->table->advance(body->self, moving->step->dt,
                                                  moving->step->after + body->first_dof);
        if (moving->step->shifted && body->touched && !moving->failed[i]) {
            body->table->move(body->self, moving->step->shift + body->first_dof);
        }
    }
}

static FilStatus advance_bodies(FilWorld *world, const FilWorldTry *step, bool *failed,
                                FilError *error) {
    Moving moving = {.world = world, .step = step};
    moving.failed = FIL_NEW_ZEROED(&world->scratch, bool, (size_t)world->body_count + 1);
    if (moving.failed == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    fil_parallel_ranges(world->body_count, 8, world->threads, advance_range, &moving);
    *failed = false;
    for (int i = 0; i < world->body_count; i++) {
        *failed = *failed || moving.failed[i];
    }
    return FIL_OK;
}

static FilContactState state_of(const FilWorkContact *contact, const double r[3],
                                const double u[3]) {
    double push = hypot(r[1], r[2]), slip = hypot(u[1], u[2]);
    if (!(r[0] > 0.0)) {
        return FIL_CONTACT_OPEN;
    }
    return contact->mu > 0.0 && (push < (1.0 - 1e-6) * contact->mu * r[0] || slip == 0.0)
               ? FIL_CONTACT_STICK
               : FIL_CONTACT_SLIDE;
}

static void fill_side(const FilWorld *world, const FilPlace *place, FilContactSide *side) {
    const FilPiece *piece = &world->pieces[place->piece];
    *side = (FilContactSide){.kind = FIL_BODY_OBSTACLE, .index = piece->obstacle};
    fil_copy3(place->point, side->point);
    if (piece->obstacle < 0) {
        const FilBody *body = &world->bodies[piece->body];
        side->kind = body->kind;
        side->index = body->index;
        if (body->kind == FIL_BODY_ROD) {
            const FilRod *rod = body->self;
            side->s = (piece->s[0] + place->t * (piece->s[1] - piece->s[0])) * rod->state[1];
        }
    }
}

static void to_world(const double frame[9], const double x[3], double out[3]) {
    fil_apply_transposed3(frame, x, out);
}

static int compare_memories(const void *x, const void *y) {
    const FilMemory *a = x, *b = y;
    int order = (a->piece[0] > b->piece[0]) - (a->piece[0] < b->piece[0]);
    order = order != 0 ? order : (a->piece[1] > b->piece[1]) - (a->piece[1] < b->piece[1]);
    return order != 0 ? order : (a->feature > b->feature) - (a->feature < b->feature);
}

// What others may look at, and what the next step starts from.
static FilStatus record_contacts(FilWorld *world, const FilWorldTry *step, FilStepInfo *info,
                                 FilError *error) {
    int n = step->contact_count;
    FIL_TRY(fil_world_reserve(world, &world->contacts, &world->contact_room, n, sizeof(FilContact),
                              error));
    FIL_TRY(fil_world_reserve(world, &world->memories, &world->memory_room, n, sizeof(FilMemory),
                              error));
    int count = 0;
    info->active_count = 0;
    for (int i = 0; i < n; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        if (contact->kind != FIL_BLOCK_COULOMB) {
            continue;
        }
        double r[3], u[3];
        memcpy(r, step->r + 3 * (ptrdiff_t)i, sizeof r);
        memcpy(u, step->u + 3 * (ptrdiff_t)i, sizeof u);
        FilContact *out = &world->contacts[count];
        *out =
            (FilContact){.gap = contact->gap, .mu = contact->mu, .state = state_of(contact, r, u)};
        fill_side(world, &contact->a, &out->a);
        fill_side(world, &contact->b, &out->b);
        fil_copy3(contact->normal, out->normal);
        to_world(contact->frame, r, out->impulse);
        to_world(contact->frame, u, out->velocity);
        info->active_count += r[0] > 0.0;
        info->penetration = fmax(info->penetration, -contact->gap);
        FilMemory *memory = &world->memories[count++];
        *memory = contact->memory;
        fil_copy3(out->impulse, memory->impulse);
        memory->rebounded = contact->memory.rebounded || fil_contact_rebounds(contact);
        info->dissipated -= fil_dot3(out->impulse, out->velocity);
    }
    info->contact_count = world->contact_count = world->memory_count = count;
    if (count > 0) {
        qsort(world->memories, (size_t)count, sizeof(FilMemory), compare_memories);
    }
    return FIL_OK;
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
static FilStatus begin_try(FilWorld *world, double dt, FilWorldTry *step, FilError *error) {
    FIL_TRY(reserve_try(world, dt, step, error));
    FIL_TRY(check_bodies(world, dt, error));
    FIL_TRY(move_obstacles(world, dt, error));
    save_states(world, step->states);
    fil_world_sample(world, world->threads, step->points, step->rates);
    FIL_TRY(fil_world_sample_driven(world, step, error));
    FIL_TRY(fil_world_detect(world, step, error));
    return fil_world_list_joints(world, step, error);
}

// Solve the step with the contacts that are known, and take it.
static FilStatus take_try(FilWorld *world, FilWorldTry *step, FilStepInfo *info, bool *failed,
                          bool *violent, FilError *error) {
    for (int i = 0; i < step->contact_count; i++) {
        find_carried(world, step, &step->contacts[i]);
    }
    mark_touched(world, step);
    Preparing measuring = {.world = world, .step = step};
    fil_parallel_ranges(world->body_count, 16, world->threads, measure_range, &measuring);
    FIL_TRY(solve_step(world, step, info, failed, error));
    if (*failed) {
        return FIL_OK;
    }
    double start = fil_seconds();
    FilStatus status = advance_bodies(world, step, failed, error);
    *violent = *failed || did_gain(world, step);
    info->seconds.update += fil_seconds() - start;
    return status;
}

// Make contacts of the pairs that passed through each other. False when they were contacts already.
static FilStatus add_passed(FilWorld *world, FilWorldTry *step, const int *passed, int count,
                            FilStepInfo *info, bool *added, FilError *error) {
    *added = false;
    for (int k = 0; k < count; k++) {
        bool one;
        FIL_TRY(fil_world_add_contact(world, step, step->pairs[passed[k]], &one, error));
        info->added_count += one;
        *added = *added || one;
    }
    return FIL_OK;
}

FilStatus fil_world_try_step(FilWorld *world, double dt, bool last, FilStepInfo *info, bool *taken,
                             FilError *error) {
    FilWorldTry step;
    FilPose *poses;
    double start = fil_seconds();
    FIL_TRY(begin_try(world, dt, &step, error));
    FIL_TRY(save_poses(world, &poses, error));
    info->seconds.collide += fil_seconds() - start;
    for (int round = 0;; round++) {
        bool failed = false, violent = false, added = false;
        FilPassed passed = {0};
        FIL_TRY(take_try(world, &step, info, &failed, &violent, error));
        start = fil_seconds();
        if (!failed && world->def.contact == FIL_CONTACT_EXACT && !world->def.unswept) {
            FIL_TRY(fil_world_find_passed(world, &step, poses, &passed, error));
        }
        info->seconds.sweep += fil_seconds() - start;
        violent = violent || passed.whirled;
        bool fine = !failed && passed.count == 0 && !violent;
        if (!failed && !violent && passed.count > 0 && round < MAX_ROUNDS) {
            FIL_TRY(add_passed(world, &step, passed.list, passed.count, info, &added, error));
        }
        if (fine || (!failed && !added && last)) {
            info->missed_count += passed.count;
            break;
        }
        restore_states(world, step.states);
        if (!added) {
            *taken = false;
            return FIL_OK;
        }
    }
    *taken = true;
    finish_obstacles(world);
    world->time += dt;
    return record_contacts(world, &step, info, error);
}

FilStatus fil_world_step(FilWorld *world, FilStepInfo *info, FilError *error) {
    FilStepInfo unused;
    FilStepInfo *result = info != NULL ? info : &unused;
    *result = (FilStepInfo){.outcome = FIL_CONVERGED};
    double start = fil_seconds();
    // a step is cut in halves of halves: `left` of 2^depth parts; when it is calm again, less
    int depth = 0, left = 1, calm = 0;
    while (left > 0) {
        bool taken;
        FIL_TRY(fil_world_try_step(world, ldexp(world->def.step, -depth),
                                   depth == world->def.max_halvings, result, &taken, error));
        if (taken) {
            result->substeps++;
            left--;
            calm++;
            if (calm >= 2 && left % 2 == 0 && depth > 0) {
                depth--;
                left /= 2;
                calm = 0;
            }
        } else if (depth < world->def.max_halvings) {
            depth++;
            left *= 2;
            calm = 0;
        } else {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "at time %g s the world leaves the range of numbers even with a step "
                            "of %g s",
                            world->time, ldexp(world->def.step, -depth));
        }
    }
    world->step_count++;
    world->time = world->def.step * (double)world->step_count;
    result->seconds.total = fil_seconds() - start;
    return FIL_OK;
}
