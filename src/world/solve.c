// solve.c - the velocities of a step: bodies made ready, the contacts that matter, the friction
// problem.
//
// Elasticity that is not linear is linearised again at the velocity found, with the same contacts,
// until that changes no more. Forces that depend on the velocities are corrected once, at those
// found. Of the contacts within reach most stay open: those matter that pressed in the step before,
// overlap, or would overlap if the impulses were those of the step before; others join when the
// solution makes them overlap. What is left out obeys the law with r = 0.
#include "solve.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "effort.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "problem.h"

enum { MAX_ACTIVE_ROUNDS = 12 };             // of adding contacts that overlap
static const double newton_tolerance = 1e-4; // of the velocities: what is left is its square

// Heaps are solved roughly until no contact joins.
static const double HEAP = 1e6;               // sum of the cubes of the contacts of bodies
static const double CROWDED = 20.0;           // contacts of a body, in the mean over contacts
static const double PRODUCT_TOLERANCE = 1e-6; // least that products are good for
static const double ROUGH = 30.0;             // times the tolerance
enum { ROUGH_NEWTON = 2 };                    // linearisations meanwhile

// --- bodies --------------------------------------------------------------------------------------

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
    if (step->refused[i]) { // it stays where it is
        body->table->get_velocity(body->self, before);
        body->table->get_velocity(body->self, step->after + body->first_dof);
        return;
    }
    if (body->island != 0) { // it sleeps
        memset(step->after + body->first_dof, 0, sizeof(double) * (size_t)body->dof_count);
        return;
    }
    if (preparing->first) {
        body->table->get_velocity(body->self, before);
    }
    if (preparing->first && body->table->begin != NULL) {
        body->table->begin(body->self);
    }
    if (body->touched && (preparing->first || !body->linear)) {
        body->table->prepare(body->self, step->dt, before, step->free_velocity + body->first_dof);
    } else if (!body->touched && preparing->first) {
        (void)body->table->free_step(body->self, step->dt, step->after + body->first_dof);
    }
}

// --- the friction problem ------------------------------------------------------------------------

// Whether a contact did press in the step before.
static bool did_press(const FilWorkContact *contact) {
    const double *r = contact->memory.impulse;
    return contact->known && (r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0);
}

// Impulses to start from: those of the step before, turned into the contact's axes; 0 where it did
// not press. Tried for those: what would stop the contact were it alone, which is far too much
// where many close at once (up to twice the iterations of a solve), and what new contacts would
// need if they shared the work, which is no better than 0 (filum bench world --table guess).
static void guess_impulse(const FilWorkContact *contact, double r[3]) {
    memset(r, 0, 3 * sizeof(double));
    for (int row = 0; row < 3 && contact->known; row++) {
        r[row] = fil_dot3(contact->frame + 3 * (ptrdiff_t)row, contact->memory.impulse);
    }
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

// What every solve adds, taken or not.
static void add_solve(const FilFrictionInfo *solve, FilStepInfo *info) {
    info->iterations += solve->iterations;
    info->work += solve->work;
    info->island_count = solve->island_count;
    info->conditioning = solve->conditioning;
}

// The outcome of the solve whose answer is taken. Elasticity that max_newton linearisations left
// out of balance is named, too: a limit was reached.
static void add_outcome(const FilFrictionInfo *solve, FilStepInfo *info) {
    const FilOutcome elastic =
        info->elastic_residual > FIL_MOST_UNBALANCED ? FIL_LIMIT : FIL_CONVERGED;
    info->outcome = solve->outcome > info->outcome ? solve->outcome : info->outcome;
    info->outcome = elastic > info->outcome ? elastic : info->outcome;
    info->residual.scaled = fmax(info->residual.scaled, solve->residual.scaled);
    info->residual.natural = fmax(info->residual.natural, solve->residual.natural);
    info->residual.alart_curnier =
        fmax(info->residual.alart_curnier, solve->residual.alart_curnier);
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
        body->touched && body->table->correct != NULL &&
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

typedef struct Active {
    int *list, count; // ascending
    bool *in;         // [contact_count]
    bool *guessed;    // [contact_count]: step->r holds a guess of it
} Active;

static void gather_active(const FilWorldTry *step, Active *active) {
    active->count = 0;
    for (int i = 0; i < step->contact_count; i++) {
        if (active->in[i]) {
            active->list[active->count++] = i;
        }
    }
}

enum { GRAIN = 256 }; // contacts

typedef struct Adding {
    const FilWorld *world;
    const FilWorldTry *step;
    const FilRows *rows;
    const double *v;
    Active *active;
} Adding;

static void add_range(void *context, int first, int last) {
    const Adding *adding = context;
    const FilWorldTry *step = adding->step;
    for (int i = first; i < last; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        double u[3], offset[3];
        if (adding->active->in[i]) {
            continue;
        }
        fil_rows_velocity(adding->world, step, adding->rows, adding->v, i, u);
        fil_contact_offset(contact, step->dt, offset);
        memcpy(step->u + 3 * (ptrdiff_t)i, u, sizeof u);
        adding->active->in[i] = u[0] + offset[0] < -1e-6 * contact->margin / step->dt;
    }
}

// Add the contacts that overlap at the end of a step with the velocities v. Returns how many.
static int add_active(const FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                      const double *v, Active *active) {
    Adding adding = {.world = world, .step = step, .rows = rows, .v = v, .active = active};
    const int before = active->count;
    fil_parallel_ranges(step->contact_count, GRAIN, world->threads, add_range, &adding);
    gather_active(step, active);
    return active->count - before;
}

// The impulses of the step before, in the contact's axes, and what matters because of them.
static void begin_range(void *context, int first, int last) {
    const Adding *adding = context;
    const FilWorldTry *step = adding->step;
    for (int i = first; i < last; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        double *r = step->r + 3 * (ptrdiff_t)i;
        for (int row = 0; row < 3; row++) {
            r[row] = fil_dot3(contact->frame + 3 * (ptrdiff_t)row, contact->memory.impulse);
        }
        adding->active->in[i] = contact->kind != FIL_BLOCK_COULOMB || r[0] != 0.0 ||
                                fil_contact_overlaps(contact, contact->gap);
    }
}

static FilStatus begin_active(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                              Active *active, FilError *error) {
    size_t n = (size_t)step->contact_count;
    active->list = FIL_NEW(&world->scratch, int, n + 1);
    active->in = FIL_NEW_ZEROED(&world->scratch, bool, n + 1);
    active->guessed = FIL_NEW_ZEROED(&world->scratch, bool, n + 1);
    step->r = FIL_NEW_ZEROED(&world->scratch, double, 3 * n + 1);
    step->u = FIL_NEW_ZEROED(&world->scratch, double, 3 * n + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        step->contact_count);
    }
    Adding adding = {.world = world, .step = step, .active = active};
    fil_parallel_ranges(step->contact_count, GRAIN, world->threads, begin_range, &adding);
    fil_rows_push(world, rows, step->r, step->after);
    add_free(world, step);
    (void)add_active(world, step, rows, step->after, active);
    return FIL_OK;
}

// Show a problem to whoever looks, always with W; with its product where that is what is solved.
static FilStatus show_problem(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                              const Active *active, const FilFrictionProblem *problem,
                              const double *r, FilError *error) {
    FilArenaMark mark = fil_arena_mark(&world->scratch);
    bool *fresh = FIL_NEW(&world->scratch, bool, (size_t)active->count + 1);
    FilFrictionProblem formed = *problem;
    if (problem->form == FIL_FORM_PRODUCT) {
        FIL_TRY(fil_world_problem_build(world, step, rows, active->list, active->count, &formed,
                                        error));
        formed.product = problem->product;
    }
    if (fresh == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        active->count);
    }
    for (int a = 0; a < active->count; a++) {
        int i = active->list[a];
        fresh[a] = !active->guessed[i] && !did_press(&step->contacts[i]);
    }
    world->watch(world->watch_user, &formed, r, fresh);
    fil_arena_release(&world->scratch, mark);
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
    fil_rows_gather(world, rows, step->r, step->push);
    fil_rows_push(world, rows, step->r, step->after);
    add_free(world, step);
}

// What the rounds of a solve share.
typedef struct Solving {
    FilWorld *world;
    FilWorldTry *step;
    FilStepInfo *info;
    FilRows rows;
    Active active;
    int rounds;     // problems solved
    bool rough;     // the next one is solved to a part of the tolerance: contacts may still join
    bool corrected; // forces that depend on the velocities
    FilFrictionProblem problem;
    FilFrictionInfo solve; // of the last problem
} Solving;

// What comes after a solve.
typedef enum Next { NEXT_NOTHING, NEXT_SOLVE, NEXT_REFRESH, NEXT_BUILD, NEXT_LINEARISE } Next;

// Make the bodies ready, at the velocities the step begins with or at those found.
static bool prepare_bodies(const Solving *solving, bool first) {
    FilWorld *world = solving->world;
    FilWorldTry *step = solving->step;
    double start = fil_seconds();
    Preparing preparing = {.world = world, .step = step, .first = first};
    if (!first) {
        memcpy(step->before, step->after, sizeof(double) * (size_t)world->dof_count);
    }
    fil_parallel_for(world->body_count, world->threads, prepare_body, &preparing);
    solving->info->seconds.bodies += fil_seconds() - start;
    return are_finite(world, step);
}

// What the hand does stays within its bound whatever the tolerance is, and where a budget ended.
static void hold_ball(const FilWorkContact *contact, double r[3]) {
    const double length = fil_norm3(r);
    for (int k = 0; contact->kind == FIL_BLOCK_BALL && length > contact->mu && k < 3; k++) {
        r[k] *= contact->mu / length;
    }
}

// Contacts do not pull, and friction stays within the cone. A solver measures what is left over in
// velocities, beside the largest of all contacts: next to what is fast, impulses of what is slow
// may be off by more than they are. Taken into the cone they change velocities by no more than
// that.
static void hold_cone(const FilWorld *world, const FilWorkContact *contact, double r[3]) {
    if (contact->kind != FIL_BLOCK_COULOMB || world->def.law != FIL_LAW_EXACT) {
        return;
    }
    const double most = contact->mu * fmax(r[0], 0.0), across = hypot(r[1], r[2]);
    const double part = across > most ? most / across : 1.0;
    r[0] = fmax(r[0], 0.0);
    r[1] *= part;
    r[2] *= part;
}

// Solve the problem of the contacts that matter: step->r, step->u and v+ of the bodies.
static FilStatus solve_active(Solving *solving, FilError *error) {
    FilWorld *world = solving->world;
    FilWorldTry *step = solving->step;
    const Active *active = &solving->active;
    const FilFrictionProblem *problem = &solving->problem;
    size_t n = (size_t)active->count;
    FilFrictionSettings settings = settings_of(world);
    settings.tolerance *= solving->rough ? ROUGH : 1.0;
    FilFrictionSolution solution = {.r = FIL_NEW(&world->scratch, double, 3 * n + 1),
                                    .u = FIL_NEW(&world->scratch, double, 3 * n + 1)};
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        active->count);
    }
    for (int a = 0; a < active->count; a++) {
        int i = active->list[a];
        double *r = solution.r + 3 * (ptrdiff_t)a;
        if (active->guessed[i]) {
            memcpy(r, step->r + 3 * (ptrdiff_t)i, 3 * sizeof(double));
        } else {
            guess_impulse(&step->contacts[i], r);
        }
    }
    if (world->watch != NULL) {
        FIL_TRY(show_problem(world, step, &solving->rows, active, problem, solution.r, error));
    }
    FIL_TRY(fil_effort_solve(world, problem, &settings, &solution, &solving->solve, error));
    for (int a = 0; a < active->count; a++) {
        int i = active->list[a];
        active->guessed[i] = true;
        memcpy(step->r + 3 * (ptrdiff_t)i, solution.r + 3 * (ptrdiff_t)a, 3 * sizeof(double));
        memcpy(step->u + 3 * (ptrdiff_t)i, solution.u + 3 * (ptrdiff_t)a, 3 * sizeof(double));
        double offset[3];
        fil_contact_offset(&step->contacts[i], step->dt, offset);
        fil_add3(-1.0, offset, step->u + 3 * (ptrdiff_t)i);
        hold_ball(&step->contacts[i], step->r + 3 * (ptrdiff_t)i);
        hold_cone(world, &step->contacts[i], step->r + 3 * (ptrdiff_t)i);
    }
    fil_rows_push(world, &solving->rows, step->r, step->after);
    add_free(world, step);
    return FIL_OK;
}

// Whether W is better not formed: where bodies have so many contacts that forming it, and what
// solvers do with it, costs more than hundreds of products. Those are good for a rough tolerance.
static bool is_heap(const Solving *solving) {
    const FilWorld *world = solving->world;
    const FilRows *rows = &solving->rows;
    double sum = 0.0, cubes = 0.0;
    if (settings_of(world).solver != FIL_SOLVER_AUTO ||
        world->def.solver.tolerance < PRODUCT_TOLERANCE) {
        return false;
    }
    for (int body = 0; body < world->body_count; body++) {
        double count = 0.0;
        for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
            count += solving->active.in[rows->incidences[k].contact];
        }
        sum += count;
        cubes += count * count * count;
    }
    return cubes >= HEAP && cubes >= CROWDED * CROWDED * sum;
}

// The problem of the next round; of the one before, memory from `mark` on is given back unless only
// free velocities changed: P and the contacts are the same then.
static FilStatus build_problem(Solving *solving, Next next, FilArenaMark mark, FilError *error) {
    FilWorld *world = solving->world;
    const Active *active = &solving->active;
    double start = fil_seconds();
    FilStatus status;
    if (next == NEXT_SOLVE) {
        return FIL_OK;
    }
    if (next == NEXT_REFRESH) {
        status = fil_world_problem_refresh(world, solving->step, &solving->rows, active->list,
                                           &solving->problem, error);
    } else {
        fil_arena_release(&world->scratch, mark);
        status = (is_heap(solving) ? fil_world_product_build : fil_world_problem_build)(
            world, solving->step, &solving->rows, active->list, active->count, &solving->problem,
            error);
    }
    solving->info->seconds.assemble += fil_seconds() - start;
    return status;
}

// A body of the first contact whose velocity is no number though those of the bodies are: they are
// too large for their sums. -1: there is none.
static int find_overflow(const Solving *solving) {
    const Active *active = &solving->active;
    for (int a = 0; a < active->count; a++) {
        if (!fil_all_finite(solving->problem.b + 3 * (ptrdiff_t)a, 3)) {
            const FilWorkContact *contact = &solving->step->contacts[active->list[a]];
            return contact->a.body >= 0 ? contact->a.body : contact->b.body;
        }
    }
    return -1;
}

static FilStatus solve_problem(Solving *solving, FilError *error) {
    FilWorld *world = solving->world;
    const Active *active = &solving->active;
    double start = fil_seconds();
    FIL_TRY(solve_active(solving, error));
    if (solving->problem.form == FIL_FORM_PRODUCT && solving->solve.outcome != FIL_CONVERGED) {
        add_solve(&solving->solve, solving->info);
        FIL_TRY(fil_world_problem_build(world, solving->step, &solving->rows, active->list,
                                        active->count, &solving->problem, error));
        FIL_TRY(solve_active(solving, error));
    }
    add_solve(&solving->solve, solving->info);
    solving->info->seconds.friction += fil_seconds() - start;
    solving->rounds++;
    return FIL_OK;
}

// What must be done next: contacts that overlap now, elasticity that changed, forces that depend on
// the velocities.
static FilStatus look_back(Solving *solving, Next *next, FilError *error) {
    FilWorld *world = solving->world;
    FilWorldTry *step = solving->step;
    FilStepInfo *info = solving->info;
    int added = solving->rounds < MAX_ACTIVE_ROUNDS
                    ? add_active(world, step, &solving->rows, step->after, &solving->active)
                    : 0;
    bool changed = false;
    info->elastic_residual = find_change(world, step);
    bool again = info->elastic_residual > newton_tolerance &&
                 info->newton_count < (solving->rough && world->def.max_newton > ROUGH_NEWTON
                                           ? ROUGH_NEWTON
                                           : world->def.max_newton);
    if (!solving->corrected && !again) {
        solving->corrected = true;
        FIL_TRY(correct_free(world, step, &solving->rows, &changed, error));
    }
    *next = again            ? NEXT_LINEARISE
            : added > 0      ? NEXT_BUILD
            : changed        ? NEXT_REFRESH
            : solving->rough ? NEXT_SOLVE
                             : NEXT_NOTHING;
    solving->rough = solving->rough && again;
    return FIL_OK;
}

static FilStatus solve_rounds(Solving *solving, bool *failed, FilError *error) {
    FilWorld *world = solving->world;
    FilArenaMark mark = fil_arena_mark(&world->scratch);
    Next next = NEXT_BUILD;
    while (next != NEXT_NOTHING) {
        if (next == NEXT_LINEARISE) {
            solving->info->newton_count++;
            *failed = !prepare_bodies(solving, false);
        }
        if (*failed) {
            return FIL_OK;
        }
        FIL_TRY(build_problem(solving, next, mark, error));
        world->culprit = find_overflow(solving);
        *failed = world->culprit >= 0;
        if (*failed) {
            return FIL_OK;
        }
        FIL_TRY(solve_problem(solving, error));
        FIL_TRY(look_back(solving, &next, error));
    }
    add_outcome(&solving->solve, solving->info);
    fil_rows_gather(world, &solving->rows, solving->step->r, solving->step->push);
    return fil_world_correct(world, solving->step, &solving->rows, solving->active.list,
                             &solving->problem, error);
}

// The gaps of contacts that were found at the end of a try (passing.c): what it was there, less
// what the velocities of that try, and the overlaps that it took out, did to it.
static void settle_gaps(const FilWorld *world, FilWorldTry *step, const FilRows *rows) {
    for (int i = 0; i < step->contact_count; i++) {
        FilWorkContact *contact = &step->contacts[i];
        double u[3], moved[3];
        if (!contact->sought) {
            continue;
        }
        fil_rows_velocity(world, step, rows, step->after, i, u);
        contact->gap = contact->end_gap - step->dt * u[0];
        if (step->shifted) {
            fil_rows_velocity(world, step, rows, step->shift, i, moved);
            contact->gap -= moved[0] - fil_dot3(contact->normal, contact->carried);
        }
        contact->sought = false;
    }
}

FilStatus fil_world_solve(FilWorld *world, FilWorldTry *step, FilStepInfo *info, bool *failed,
                          FilError *error) {
    Solving solving = {.world = world, .step = step, .info = info};
    *failed = !prepare_bodies(&solving, true);
    if (step->contact_count == 0 || *failed) {
        return FIL_OK;
    }
    double start = fil_seconds();
    FIL_TRY(fil_rows_build(world, step, &solving.rows, error));
    settle_gaps(world, step, &solving.rows);
    FIL_TRY(begin_active(world, step, &solving.rows, &solving.active, error));
    info->seconds.assemble += fil_seconds() - start;
    if (world->def.contact == FIL_CONTACT_PENALTY) {
        push_apart(world, step, &solving.rows);
        return FIL_OK;
    }
    info->newton_count = 1;
    solving.rough = is_heap(&solving);
    return solve_rounds(&solving, failed, error);
}
