// lift.c - what it costs to take overlaps out of the places.
//
// The displacement of correct.c adds no velocity, but it lifts and bends: next to what is stiff, or
// where the contact of a fast body is far from linear, by more energy than the world has. So bodies
// that act on each other are looked at together: what the displacement adds to their potential
// energy must not be more than what they lost in the same step,
//     sum U(x + dx) - U(x)  <=  max(what contacts dissipated, E before + work - E after),
// the work that of moving obstacles.
// In a step that is short they may pay with half of their motion too: balance.c takes it. Or else
// they go a quarter of the displacement, a sixteenth and so on, or stay as they are: the overlap
// that is left is taken out of later steps. For nothing are taken out overlaps that were not there
// before, of more than a step may bring, or with which the world begins; and rigid bodies are
// lifted against their weight: they hold no energy but that, and would sink while they come to rest
// on what is round. (Tried: the same rule for them. Spheres on two bars sink by a twentieth.)
//
// What brings joints together (rejoin.c) goes by the same rule, but it is the step that is too long
// then, or lost motion: a joint that is left open would only be mended by velocities later. Groups
// that are driven are left alone: nobody knows what they may cost.
#include "lift.h"

#include <math.h>
#include <string.h>

#include "balance.h"
#include "base/error.h"
#include "base/parallel.h"
#include "groups.h"
#include "math/vec3.h"
#include "place.h"
#include "rejoin.h"

enum { MAX_CUTS = 3 };                 // of a displacement, to a quarter; after that there is none
static const double brought = 0.2;     // of the thinner one: what a step may press at most
static const double round_off = 1e-12; // of the energy
static const double unseen = 1e-4;     // of it: what joints may gain in a step

// The sums of a group, J; kept at its leader.
typedef struct Cost {
    double dissipated, lost, kinetic, lift, size;
    bool given; // it overlaps because somebody put it there
    bool open;  // something does work that nobody knows
} Cost;

typedef struct Lifting {
    FilWorld *world;
    const FilWorldTry *step;
    FilGroups groups;
    const double *before;        // [body_count] J: when the step began
    double *potential, *kinetic; // [body_count] J: after the step
    double *lift;                // [body_count] J
    double *states;              // [state_count] after the step
    bool *again;                 // [body_count] it is to be moved
    double part;                 // of the displacement that was tried last
    Cost *costs;                 // [body_count]
    double **work;               // [threads]
} Lifting;

static double total(const FilBody *body) {
    const FilBodyEnergy energy = fil_body_energy(body);
    return energy.kinetic + energy.potential;
}

// Whether a body is to be moved: of others nothing is asked, for energies cost as much as moves.
static bool is_moved(const FilWorld *world, const FilWorldTry *step, int i) {
    const FilBody *body = &world->bodies[i];
    bool moved = false;
    for (int k = 0; body->touched && !moved && k < body->dof_count; k++) {
        moved = step->shift[body->first_dof + k] != 0.0;
    }
    return moved;
}

typedef struct Measuring {
    const FilWorld *world;
    const FilWorldTry *step;
    double *energies;
} Measuring;

static void measure_range(void *context, int first, int last) {
    const Measuring *measuring = context;
    for (int i = first; i < last; i++) {
        const FilBody *body = &measuring->world->bodies[i];
        const bool asked = measuring->world->joint_count > 0
                               ? body->touched
                               : is_moved(measuring->world, measuring->step, i);
        measuring->energies[i] = asked ? total(body) : 0.0;
    }
}

FilStatus fil_world_measure(FilWorld *world, const FilWorldTry *step, double **energies,
                            FilError *error) {
    *energies = FIL_NEW(&world->scratch, double, (size_t)world->body_count + 1);
    if (*energies == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    Measuring measuring = {world, step, *energies};
    fil_parallel_ranges(world->body_count, 8, world->threads, measure_range, &measuring);
    return FIL_OK;
}

static FilStatus reserve_lifting(Lifting *lifting, FilError *error) {
    FilWorld *world = lifting->world;
    FilArena *arena = &world->scratch;
    const size_t bodies = (size_t)world->body_count + 1;
    FIL_TRY(fil_groups_begin(world, &lifting->groups, error));
    FIL_TRY(fil_world_reserve_moves(world, &lifting->work, error));
    lifting->potential = FIL_NEW_ZEROED(arena, double, bodies);
    lifting->kinetic = FIL_NEW_ZEROED(arena, double, bodies);
    lifting->lift = FIL_NEW_ZEROED(arena, double, bodies);
    lifting->states = FIL_NEW(arena, double, (size_t)world->state_count + 1);
    lifting->again = FIL_NEW_ZEROED(arena, bool, bodies);
    lifting->costs = FIL_NEW_ZEROED(arena, Cost, bodies);
    return !arena->failed ? FIL_OK
                          : fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                                     world->body_count);
}

// --- groups --------------------------------------------------------------------------------------

static void find_groups(Lifting *lifting, const bool *failed) {
    const FilWorld *world = lifting->world;
    const FilWorldTry *step = lifting->step;
    for (int i = 0; i < world->body_count; i++) {
        const bool asked =
            world->joint_count > 0 ? world->bodies[i].touched : is_moved(world, step, i);
        if (asked && !failed[i] && !step->refused[i]) {
            (void)fil_groups_enter(&lifting->groups, i);
        }
    }
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        const double *r = step->r + 3 * (ptrdiff_t)i, *u = step->u + 3 * (ptrdiff_t)i;
        if (fil_norm3(r) > 0.0 || contact->gap < 0.0 || contact->gap + step->dt * u[0] < 0.0) {
            (void)fil_groups_unite(&lifting->groups, contact->a.body, contact->b.body);
        }
    }
    fil_groups_join(&lifting->groups);
}

static Cost *cost_of(const Lifting *lifting, int body) {
    return &lifting->costs[fil_groups_leader(&lifting->groups, body)];
}

// Whether a pair overlaps because somebody put it there: no step knows it.
static bool is_given(const FilWorld *world, const FilWorkContact *contact) {
    const double thickness =
        fmin(world->pieces[contact->a.piece].thickness, world->pieces[contact->b.piece].thickness);
    const double most = world->clock.step_count == 0 ? 0.0 : brought * thickness;
    return !contact->mended && !contact->known && contact->start_gap < -most;
}

static void add_contacts(const Lifting *lifting) {
    const FilWorldTry *step = lifting->step;
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        const int a = contact->a.body, b = contact->b.body;
        const int body = fil_groups_has(&lifting->groups, a) ? a : b;
        if (contact->kind == FIL_BLOCK_COULOMB && fil_groups_has(&lifting->groups, body)) {
            Cost *cost = cost_of(lifting, body);
            double carried[3];
            fil_apply3(contact->frame, contact->carried, carried);
            cost->dissipated -= fil_dot3(step->r + 3 * (ptrdiff_t)i, step->u + 3 * (ptrdiff_t)i);
            cost->lost += fmax(0.0, -fil_dot3(step->r + 3 * (ptrdiff_t)i, carried));
            cost->given = cost->given || is_given(lifting->world, contact);
        }
    }
}

static bool is_driven_joint(const FilWorld *world, const FilWorkContact *half) {
    const int obstacle = half->joint >= 0 ? world->joints[half->joint].obstacle : -1;
    return obstacle >= 0 && world->obstacles[obstacle].moves;
}

static void find_open(const Lifting *lifting) {
    const FilWorld *world = lifting->world;
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(&lifting->groups, i)) {
            Cost *cost = cost_of(lifting, i);
            cost->open =
                cost->open || fil_world_is_worked_on(world, &world->bodies[i], lifting->step->dt);
        }
    }
    for (int i = 0; i < lifting->step->contact_count; i++) {
        const FilWorkContact *half = &lifting->step->contacts[i];
        if (half->kind != FIL_BLOCK_COULOMB && fil_groups_has(&lifting->groups, half->a.body)) {
            Cost *cost = cost_of(lifting, half->a.body);
            cost->open = cost->open || is_driven_joint(world, half);
        }
    }
}

// --- moves ---------------------------------------------------------------------------------------

static void move_body(const Lifting *lifting, int i) {
    const FilBody *body = &lifting->world->bodies[i];
    double *shift = lifting->step->shift + body->first_dof;
    if (lifting->part < 1.0) {
        body->table->set_state(body->self, lifting->states + body->first_state);
    }
    for (int k = 0; lifting->part < 1.0 && k < body->dof_count; k++) {
        shift[k] *= lifting->part;
    }
    if (lifting->part > 0.0) {
        fil_world_move_body(lifting->world, lifting->step, i, lifting->work[fil_thread_index()]);
    }
    if (body->kind == FIL_BODY_ROD) {
        lifting->lift[i] = fil_body_energy(body).potential - lifting->potential[i];
    }
}

static void move_range(void *context, int first, int last) {
    const Lifting *lifting = context;
    for (int i = first; i < last; i++) {
        if (lifting->again[i]) {
            move_body(lifting, i);
        }
    }
}

static void begin_range(void *context, int first, int last) {
    const Lifting *lifting = context;
    for (int i = first; i < last; i++) {
        const FilBody *body = &lifting->world->bodies[i];
        lifting->again[i] = fil_groups_has(&lifting->groups, i);
        if (lifting->again[i]) {
            const FilBodyEnergy energy = fil_body_energy(body);
            lifting->potential[i] = energy.potential;
            lifting->kinetic[i] = energy.kinetic;
            body->table->get_state(body->self, lifting->states + body->first_state);
            move_body(lifting, i);
        }
    }
}

static void add_losses(const Lifting *lifting) {
    for (int i = 0; i < lifting->world->body_count; i++) {
        if (fil_groups_has(&lifting->groups, i)) {
            Cost *cost = cost_of(lifting, i);
            const double after = lifting->potential[i] + lifting->kinetic[i];
            cost->lost += lifting->before[i] - after;
            cost->kinetic += lifting->kinetic[i];
            cost->size += fabs(lifting->before[i]);
        }
    }
}

static double find_paid(const Cost *cost) {
    return fmax(0.0, fmax(cost->dissipated, cost->lost)) + round_off * cost->size;
}

// Find the groups that cannot pay, and those that pay with motion. Returns whether there are any of
// the first kind.
static bool find_debtors(const Lifting *lifting, bool *slowed) {
    const FilWorld *world = lifting->world;
    bool any = false;
    for (int i = 0; i < world->body_count; i++) {
        lifting->costs[i].lift = 0.0;
    }
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(&lifting->groups, i)) {
            cost_of(lifting, i)->lift += lifting->lift[i];
        }
    }
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(&lifting->groups, i)) {
            const Cost *cost = cost_of(lifting, i);
            const double debt = cost->given || cost->open ? 0.0 : cost->lift - find_paid(cost);
            const double motion = lifting->step->lifted != NULL ? 0.5 * cost->kinetic : 0.0;
            lifting->again[i] = !(debt <= motion);
            slowed[i] = debt > 0.0 && debt <= motion;
            any = any || lifting->again[i];
        }
    }
    return any;
}

FilStatus fil_world_lift(FilWorld *world, const FilWorldTry *step, const double *energies,
                         const bool *failed, bool *slowed, FilError *error) {
    Lifting lifting = {.world = world, .step = step, .before = energies, .part = 1.0};
    FIL_TRY(reserve_lifting(&lifting, error));
    find_groups(&lifting, failed);
    add_contacts(&lifting);
    find_open(&lifting);
    fil_parallel_ranges(world->body_count, 8, world->threads, begin_range, &lifting);
    add_losses(&lifting);
    for (int k = 0; k <= MAX_CUTS && find_debtors(&lifting, slowed); k++) {
        lifting.part = k < MAX_CUTS ? 0.25 : 0.0;
        fil_parallel_ranges(world->body_count, 8, world->threads, move_range, &lifting);
    }
    for (int i = 0; step->lifted != NULL && i < world->body_count; i++) {
        const bool given = fil_groups_has(&lifting.groups, i) && cost_of(&lifting, i)->given;
        step->lifted[i] = given ? lifting.lift[i] : 0.0;
    }
    return FIL_OK;
}

// --- joints --------------------------------------------------------------------------------------

// Of motion and shape.
static double own_energy(const FilBody *body) {
    FilRodEnergy e = {0};
    body->table->energy(body->self, &e);
    return e.kinetic + e.bend + e.twist + e.stretch;
}

FilStatus fil_world_rejoin_paid(FilWorld *world, const FilWorldTry *step, const double *before,
                                const bool *failed, bool *gained, FilError *error) {
    Lifting lifting = {.world = world, .step = step, .before = before};
    double *after, *now;
    FIL_TRY(fil_groups_begin(world, &lifting.groups, error));
    lifting.costs = FIL_NEW_ZEROED(&world->scratch, Cost, (size_t)world->body_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    find_groups(&lifting, failed);
    add_contacts(&lifting);
    find_open(&lifting);
    FIL_TRY(fil_world_measure(world, step, &after, error));
    FIL_TRY(fil_world_rejoin(world, step, error));
    FIL_TRY(fil_world_measure(world, step, &now, error));
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(&lifting.groups, i)) {
            Cost *cost = cost_of(&lifting, i);
            cost->lost += before[i] - after[i];
            cost->lift += now[i] - after[i];
            cost->size += own_energy(&world->bodies[i]);
        }
    }
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(&lifting.groups, i)) {
            const Cost *cost = cost_of(&lifting, i);
            gained[i] = !cost->open && !(cost->lift <= find_paid(cost) + unseen * cost->size);
        }
    }
    return FIL_OK;
}
