// balance.c - the energy of what acts on each other, in a step that can be cut no further.
//
// Joints and contacts give and take the same impulse. A rod that is made slower, so that it does
// not gain energy, does not take all that was given to it, and what gave it has too much. So groups
// of bodies that act on each other are looked at together: with the energy E+ after the step, E
// before it and the work W of moving obstacles, all of a group is made slower about the velocity V
// of its centre,
//     v <- V + s (v - V),    E+ - (1 - s^2) T(v - V) = E + W,
// which leaves its momentum; V = 0 where an end is held. Where s^2 would be below 0 the group
// gained more than it moves with: it goes less far beside V, a half of the way, a quarter and so
// on, for the velocities that a step finds lead downhill where they lead at all; s is no more than
// that share of the way. Where nothing is little enough it is stuck: hold.c. Groups that are
// driven, or that a hand or a torque acts on, are left alone: nobody knows the work. They are stuck
// where a driven rod did not follow though all of its motion was taken from it; so is one that
// moves faster than `absurd`: ends that are driven further apart than a rod is long tear at it.
#include "balance.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "groups.h"
#include "math/vec3.h"
#include "rigid/rigid.h"
#include "sleep.h"

static const double absurd = 1e5;      // m/s: nothing moves like that, whatever drives it
static const double round_off = 1e-10; // of the energies: a gain that is none

enum { MAX_SHORTENINGS = 6 }; // of the way of a group, to a quarter

// The sums of a group; kept at its leader.
typedef struct Sum {
    FilBodyEnergy before, after;
    double work;    // J: of moving obstacles
    double mending; // J: of joints that brought together, and of overlaps that were taken apart
    double mass, momentum[3]; // kg, N s: after the step
    bool lost;                // somebody did, or owes some
    bool held;                // an end is
    bool open;                // something does work that nobody knows
    bool torn;                // it is of a rod that did not follow even so
} Sum;

FilBodyEnergy fil_body_energy(const FilBody *body) {
    FilRodEnergy e = {0};
    body->table->energy(body->self, &e);
    return (FilBodyEnergy){e.kinetic, e.bend + e.twist + e.stretch + e.gravity + e.loads};
}

FilStatus fil_world_energies(FilWorld *world, FilWorldTry *step, FilError *error) {
    const size_t bodies = (size_t)world->body_count + 1;
    step->energies = FIL_NEW(&world->scratch, FilBodyEnergy, bodies);
    step->lifted = FIL_NEW_ZEROED(&world->scratch, double, bodies);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    for (int i = 0; i < world->body_count; i++) {
        step->energies[i] = fil_body_energy(&world->bodies[i]);
    }
    return FIL_OK;
}

bool fil_body_is_torn(const FilBody *body, const FilBodyEnergy *before) {
    const FilBodyEnergy now = fil_body_energy(body);
    const double gain = now.potential - before->potential;
    return !(now.kinetic + gain <= before->kinetic + 0.5 * fil_body_mass(body) * absurd * absurd);
}

static void add_energy(const FilBodyEnergy *energy, FilBodyEnergy *sum) {
    sum->kinetic += energy->kinetic;
    sum->potential += energy->potential;
}

// --- groups --------------------------------------------------------------------------------------

// Awake bodies that impulses connect are groups.
static void find_groups(const FilWorldTry *step, FilGroups *groups) {
    for (int i = 0; i < groups->world->body_count; i++) {
        (void)fil_groups_enter(groups, i);
    }
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        if (fil_norm3(step->r + 3 * (ptrdiff_t)i) > 0.0) {
            (void)fil_groups_unite(groups, contact->a.body, contact->b.body);
        }
    }
    fil_groups_join(groups);
}

bool fil_world_is_worked_on(const FilWorld *world, const FilBody *body, double dt) {
    if (body->kind == FIL_BODY_RIGID) {
        const FilRigid *rigid = body->self;
        return fil_norm3(rigid->force) + fil_norm3(rigid->torque) > 0.0;
    }
    const FilRod *rod = body->self;
    bool worked = rod->growth != 0.0 || fil_world_is_driven(world, body, -dt);
    for (int k = 0; k < rod->load_count; k++) {
        worked = worked || fil_norm3(rod->loads[k].torque) > 0.0;
    }
    return worked || (world->grabbed && body == &world->bodies[world->rods[world->grab.rod]]);
}

static void add_body(const FilWorld *world, int i, const FilWorldTry *step, const FilFates *fates,
                     Sum *sum) {
    const FilBody *body = &world->bodies[i];
    const FilBodyEnergy after = fil_body_energy(body);
    const double origin[3] = {0.0};
    double linear[3], angular[3];
    add_energy(&step->energies[i], &sum->before);
    add_energy(&after, &sum->after);
    sum->mass += fil_body_mass(body);
    const bool open = fil_world_is_worked_on(world, body, step->dt);
    sum->lost = sum->lost || fates->lost[i] || fates->owing[i];
    sum->open = sum->open || open;
    sum->torn = sum->torn || (open && fates->flawed[i]);
    sum->mending += fmax(0.0, step->lifted[i]);
    if (body->kind == FIL_BODY_RIGID) {
        const FilRigid *rigid = body->self;
        fil_add3(rigid->mass, rigid->velocity, sum->momentum);
        return;
    }
    const FilRod *rod = body->self;
    fil_rod_momentum(rod, origin, linear, angular);
    fil_add3(1.0, linear, sum->momentum);
    sum->held =
        sum->held || rod->root_end.kind != FIL_END_FREE || rod->tip_end.kind != FIL_END_FREE;
}

// What prescribed motion did by a contact: its impulse by how it moves the places apart.
static void add_contact(const FilWorld *world, const FilWorldTry *step, int i, Sum *sum) {
    const FilWorkContact *contact = &step->contacts[i];
    double carried[3];
    if (contact->kind != FIL_BLOCK_COULOMB) {
        const int obstacle = contact->joint >= 0 ? world->joints[contact->joint].obstacle : -1;
        sum->open = sum->open || (obstacle >= 0 && world->obstacles[obstacle].moves);
        sum->held = sum->held || contact->b.body < 0;
        sum->mending += fmax(0.0, fil_joint_mending(step, i));
        return;
    }
    fil_apply3(contact->frame, contact->carried, carried);
    sum->work += fmax(0.0, -fil_dot3(step->r + 3 * (ptrdiff_t)i, carried));
}

static void add_up(const FilGroups *groups, const FilWorldTry *step, const FilFates *fates,
                   Sum *sums) {
    const FilWorld *world = groups->world;
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(groups, i)) {
            add_body(world, i, step, fates, &sums[fil_groups_leader(groups, i)]);
        }
    }
    for (int i = 0; i < step->contact_count; i++) {
        const int a = step->contacts[i].a.body, b = step->contacts[i].b.body;
        if (fil_groups_has(groups, a) || fil_groups_has(groups, b)) {
            const int body = fil_groups_has(groups, a) ? a : b;
            add_contact(world, step, i, &sums[fil_groups_leader(groups, body)]);
        }
    }
}

// --- slower --------------------------------------------------------------------------------------

// V
static void find_velocity(const Sum *sum, double velocity[3]) {
    memset(velocity, 0, 3 * sizeof(double));
    if (!sum->held) {
        fil_add3(1.0 / sum->mass, sum->momentum, velocity);
    }
}

// The part of the motion beside V that a group may keep; below 0: not even 0 is little enough.
static double find_part(const Sum *sum, const double velocity[3]) {
    const FilBodyEnergy *before = &sum->before, *after = &sum->after;
    const double lift = after->potential - before->potential;
    const double gain = after->kinetic - before->kinetic + lift - sum->work -
                        fmin(sum->mending, fmax(0.0, lift)); // it lifts, but leaves no motion
    const double rest = after->kinetic - 0.5 * sum->mass * fil_dot3(velocity, velocity);
    const double size = before->kinetic + after->kinetic + fabs(before->potential) +
                        fabs(after->potential) + sum->work;
    if (sum->torn || after->kinetic + lift > 0.5 * sum->mass * absurd * absurd) {
        return -1.0;
    }
    if (!sum->lost || sum->open || gain <= round_off * size) {
        return 1.0;
    }
    return gain <= rest ? sqrt(1.0 - gain / rest) : -1.0;
}

static void slow_down(const FilBody *body, const double velocity[3], double part) {
    if (body->kind == FIL_BODY_ROD) {
        FilRod *rod = body->self;
        rod->table->slow_down(rod, velocity, part);
        return;
    }
    FilRigid *rigid = body->self;
    for (int c = 0; c < 6; c++) {
        const double whole = c < 3 ? velocity[c] : 0.0;
        rigid->velocity[c] = whole + part * (rigid->velocity[c] - whole);
    }
}

// Take back `share` of the way that a body went in the step beside that of its group.
static void go_back(const FilBody *body, const FilWorldTry *step, const double velocity[3],
                    double share, double *way) {
    const double still[3] = {0.0}, *after = step->after + body->first_dof;
    if (body->kind == FIL_BODY_ROD) {
        const FilRod *rod = body->self;
        rod->table->rigid_rates(rod, velocity, still, way);
    } else {
        memset(way, 0, sizeof(double) * (size_t)body->dof_count);
        fil_copy3(velocity, way);
    }
    for (int c = 0; c < body->dof_count; c++) {
        way[c] = share * step->dt * (way[c] - after[c]);
    }
    body->table->move(body->self, way);
}

// --- all groups ----------------------------------------------------------------------------------

typedef struct Balance {
    FilWorld *world;
    const FilWorldTry *step;
    FilFates *fates;
    FilGroups groups;
    Sum *sums;   // [body_count]
    double *way; // [dof_count]
    double gone; // of the way that the step found: how much of it is gone by groups that are stuck
} Balance;

static FilStatus reserve_balance(FilWorld *world, Balance *balance, FilError *error) {
    FIL_TRY(fil_groups_begin(world, &balance->groups, error));
    balance->sums = FIL_NEW(&world->scratch, Sum, (size_t)world->body_count + 1);
    balance->way = FIL_NEW(&world->scratch, double, (size_t)world->dof_count + 1);
    return !world->scratch.failed ? FIL_OK
                                  : fil_fail(error, FIL_E_NO_MEMORY,
                                             "there is no memory for %d bodies", world->body_count);
}

// Make groups slower that may be, and find those that are stuck. Returns whether any is.
static bool settle_groups(Balance *balance, double most) {
    FilWorld *world = balance->world;
    FilFates *fates = balance->fates;
    bool any = false;
    memset(balance->sums, 0, sizeof(Sum) * (size_t)world->body_count);
    add_up(&balance->groups, balance->step, fates, balance->sums);
    for (int i = 0; i < world->body_count; i++) {
        double velocity[3];
        if (!fil_groups_has(&balance->groups, i)) {
            continue;
        }
        const Sum *sum = &balance->sums[fil_groups_leader(&balance->groups, i)];
        find_velocity(sum, velocity);
        const double part = find_part(sum, velocity);
        const bool was_stuck = fates->stuck[i];
        fates->stuck[i] = part < 0.0;
        any = any || fates->stuck[i];
        if (part >= 0.0 && (part < 1.0 || was_stuck)) {
            slow_down(&world->bodies[i], velocity, was_stuck ? fmin(part, most) : part);
            fates->lost[i] = fates->lost[i] || was_stuck || part < 1.0 - FIL_ROD_HONEST;
        }
    }
    return any;
}

// What is stuck goes a quarter as far.
static void shorten(Balance *balance) {
    for (int i = 0; i < balance->world->body_count; i++) {
        double velocity[3];
        if (balance->fates->stuck[i]) {
            const Sum *sum = &balance->sums[fil_groups_leader(&balance->groups, i)];
            find_velocity(sum, velocity);
            go_back(&balance->world->bodies[i], balance->step, velocity, 0.75 * balance->gone,
                    balance->way);
        }
    }
    balance->gone *= 0.25;
    balance->fates->shortened = true;
}

FilStatus fil_world_balance(FilWorld *world, const FilWorldTry *step, FilFates *fates, bool *any,
                            FilError *error) {
    Balance balance = {.world = world, .step = step, .fates = fates, .gone = 1.0};
    FIL_TRY(reserve_balance(world, &balance, error));
    find_groups(step, &balance.groups);
    *any = settle_groups(&balance, 1.0);
    for (int k = 0; k < MAX_SHORTENINGS && *any; k++) {
        shorten(&balance);
        *any = settle_groups(&balance, balance.gone);
    }
    return FIL_OK;
}
