// hold.c - the last resort of a step that can be cut no further: what cannot do it is held
// together.
//
// Contacts hold velocities. Where a body cannot follow the velocity that they ask for (a thin rod
// that a heavy body hits would gain energy by bending so far), or the solver's budget is spent, two
// bodies may still pass through each other; and a rod may still gain energy over a hill of its
// elastic energy. Such bodies go back to where the step began, with everything that joints or other
// such pairs connect with them: a group. It goes on as one piece, with the velocity V of its
// centre,
//     (mass + dt drag) V = (momentum at the start) + dt (gravity, wind, loads),
// or, where something holds it, with that: an obstacle's where they met, a held end's. What does
// not move relative to each other does not pass. A group has the momentum that it had and what acts
// from outside, and no more energy: implicit Euler of one mass. What a body gains another one of
// its group pays, so that they are not asked for their own energy (`generous`). The group loses the
// motion of its bodies relative to each other; `slowed_count` tells.
// What the group no longer makes way for may pass now; it joins. After MAX_GROWTHS rounds all that
// is awake is one group.
//
// What holds a group may itself be what is in the way: ends that are driven apart, or into
// obstacles, bend a rod wherever it goes, or tear at it. Where something passes even so, or a rod
// has more energy than anything can have given to it, the group stays where the step began, at
// rest, its driven ends too: they lag behind, and go on to their places in the next step. Where an
// obstacle moves through what stays, and nothing else holds it, it goes with the obstacle.
//
// What passes then is an obstacle that is driven through a held rod. A group that its momentum and
// forces would make faster than light is no step at all: it leaves the range of numbers.
#include "hold.h"

#include <string.h>

#include "balance.h"
#include "base/error.h"
#include "groups.h"
#include "math/vec3.h"
#include "rigid/rigid.h"

enum { MAX_GROWTHS = 8 };
static const double generous = 1e100; // J
static const double beyond = 3e8;     // m/s: of no group, whatever pulls it, for light is no faster

// What the bodies of a group do together; kept at its leader.
typedef struct Motion {
    double mass, momentum[3]; // kg, with the drag of dt; N s, with the forces of dt
    double velocity[3];       // m/s
    bool anchored;            // something prescribes it
    bool stays;               // it is at rest where the step began
} Motion;

typedef struct Holding {
    FilWorld *world;
    FilWorldTry *step;
    FilGroups groups;
    int *met;        // [body_count] an obstacle in the way of a member; -1: none
    bool *stays;     // [body_count] its group does not go on at all
    int *pusher;     // [body_count] an obstacle that goes through it where it stays; -1: none
    Motion *motions; // [body_count]
    double *impulse; // [most dofs of a body] none
    double *way;     // [most dofs of a body]
} Holding;

static FilStatus reserve_holding(FilWorld *world, FilWorldTry *step, Holding *holding,
                                 FilError *error) {
    FilArena *arena = &world->scratch;
    const size_t bodies = (size_t)world->body_count + 1;
    *holding = (Holding){.world = world, .step = step};
    FIL_TRY(fil_groups_begin(world, &holding->groups, error));
    holding->met = FIL_NEW(arena, int, bodies);
    holding->stays = FIL_NEW_ZEROED(arena, bool, bodies);
    holding->pusher = FIL_NEW(arena, int, bodies);
    holding->motions = FIL_NEW_ZEROED(arena, Motion, bodies);
    holding->impulse = FIL_NEW_ZEROED(arena, double, (size_t)world->dof_count + 1);
    holding->way = FIL_NEW(arena, double, (size_t)world->dof_count + 1);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    for (int i = 0; i < world->body_count; i++) {
        holding->met[i] = holding->pusher[i] = -1;
    }
    return FIL_OK;
}

// --- members -------------------------------------------------------------------------------------

static bool enter_stuck(Holding *holding, const bool *stuck) {
    bool any = false;
    for (int i = 0; i < holding->world->body_count; i++) {
        any = (stuck[i] && fil_groups_enter(&holding->groups, i)) || any;
    }
    return any;
}

// Whether two pieces are in each other's way: they went through each other, or a group was pressed
// into something.
static bool is_in_the_way(const Holding *holding, const FilMeeting *meeting) {
    const FilPiece *pieces = holding->world->pieces;
    return meeting->went ||
           (!meeting->left && (fil_groups_has(&holding->groups, pieces[meeting->pair[0]].body) ||
                               fil_groups_has(&holding->groups, pieces[meeting->pair[1]].body)));
}

// An obstacle is in the way of a body. Returns whether that is news.
static bool meet(Holding *holding, int body, int obstacle) {
    if (!fil_groups_has(&holding->groups, body) || obstacle < 0) {
        return false;
    }
    const bool first = holding->met[body] < 0;
    holding->met[body] = obstacle;
    return first;
}

// Bodies in each other's way are members of one group. Returns whether that is news.
static bool enter_passed(Holding *holding, const FilPassed *passed) {
    const FilPiece *pieces = holding->world->pieces;
    FilGroups *groups = &holding->groups;
    bool grew = false;
    for (int k = 0; k < passed->count; k++) {
        const FilPiece *a = &pieces[passed->list[k].pair[0]];
        const FilPiece *b = &pieces[passed->list[k].pair[1]];
        if (is_in_the_way(holding, &passed->list[k])) {
            grew = fil_groups_enter(groups, a->body) || grew;
            grew = fil_groups_enter(groups, b->body) || grew;
            grew = fil_groups_unite(groups, a->body, b->body) || grew;
            grew = meet(holding, a->body, b->obstacle) || grew;
            grew = meet(holding, b->body, a->obstacle) || grew;
        }
    }
    return grew;
}

// A body whose group passes through something even so stays, or, where it does, goes with the
// obstacle that moves through it. Returns whether that is news.
static bool stop_body(const Holding *holding, int body, int obstacle) {
    if (!fil_groups_has(&holding->groups, body)) {
        return false;
    }
    const bool pushed = holding->stays[body] && obstacle >= 0 && holding->pusher[body] < 0 &&
                        holding->world->obstacles[obstacle].moves;
    const bool news = pushed || !holding->stays[body];
    holding->pusher[body] = pushed ? obstacle : holding->pusher[body];
    holding->stays[body] = true;
    return news;
}

static bool stop_passing(const Holding *holding, const FilPassed *passed) {
    const FilPiece *pieces = holding->world->pieces;
    bool news = false;
    for (int k = 0; k < passed->count; k++) {
        const FilPiece *a = &pieces[passed->list[k].pair[0]];
        const FilPiece *b = &pieces[passed->list[k].pair[1]];
        if (passed->list[k].went) {
            news = stop_body(holding, a->body, b->obstacle) || news;
            news = stop_body(holding, b->body, a->obstacle) || news;
        }
    }
    return news;
}

// The same of bodies that came to more energy than anything can have given to them.
static bool stop_torn(const Holding *holding) {
    const FilWorld *world = holding->world;
    bool news = false;
    for (int i = 0; i < world->body_count; i++) {
        if (fil_groups_has(&holding->groups, i) &&
            fil_body_is_torn(&world->bodies[i], &holding->step->energies[i])) {
            news = news || !holding->stays[i];
            holding->stays[i] = true;
        }
    }
    return news;
}

static void enter_all(Holding *holding) {
    int first = -1;
    for (int i = 0; i < holding->world->body_count; i++) {
        (void)fil_groups_enter(&holding->groups, i);
        first = first < 0 && fil_groups_has(&holding->groups, i) ? i : first;
        (void)fil_groups_unite(&holding->groups, first, i);
    }
}

// --- how a group moves ---------------------------------------------------------------------------

static Motion *motion_of(const Holding *holding, int body) {
    return &holding->motions[fil_groups_leader(&holding->groups, body)];
}

static void anchor(const Holding *holding, int body, const double velocity[3]) {
    Motion *motion = motion_of(holding, body);
    motion->anchored = true;
    fil_copy3(velocity, motion->velocity);
}

// How the held end of a rod moves in the mean over the step; false: both ends are free.
static bool find_held_rate(const FilRod *rod, double dt, double rate[3]) {
    const FilRodEnd *end = rod->root_end.kind != FIL_END_FREE ? &rod->root_end : &rod->tip_end;
    FilPose from, to;
    memset(rate, 0, 3 * sizeof(double));
    if (end->kind != FIL_END_FREE && end->motion != NULL) {
        fil_rod_end_pose(rod, end, rod->state[0], &from);
        fil_rod_end_pose(rod, end, rod->state[0] + dt, &to);
        for (int c = 0; c < 3; c++) {
            rate[c] = (to.position[c] - from.position[c]) / dt;
        }
    }
    return end->kind != FIL_END_FREE;
}

static void add_rod(const FilBody *body, double dt, Motion *motion) {
    const FilRod *rod = body->self;
    const double mass = fil_body_mass(body), drag = rod->drag * rod->state[1];
    const double origin[3] = {0.0};
    double linear[3], angular[3], force[3], moment[3];
    fil_rod_momentum(rod, origin, linear, angular);
    rod->table->body_wrench(rod, origin, force, moment);
    fil_add3(drag / mass, linear, force); // what V does, not what the present velocity did
    for (int k = 0; k < rod->load_count; k++) {
        fil_add3(1.0, rod->loads[k].force, force);
    }
    motion->mass += mass + dt * drag;
    fil_add3(1.0, linear, motion->momentum);
    fil_add3(dt, force, motion->momentum);
}

static void add_rigid(const FilRigid *rigid, double dt, Motion *motion) {
    motion->mass += rigid->mass;
    fil_add3(rigid->mass, rigid->velocity, motion->momentum);
    fil_add3(dt * rigid->mass, rigid->gravity, motion->momentum);
    fil_add3(dt, rigid->force, motion->momentum);
}

// Members begin where the step did; their groups know mass and momentum, and what holds them.
static void begin_again(const Holding *holding) {
    const FilWorld *world = holding->world;
    const double dt = holding->step->dt;
    memset(holding->motions, 0, sizeof(Motion) * (size_t)world->body_count);
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        double rate[3];
        if (!fil_groups_has(&holding->groups, i)) {
            continue;
        }
        body->table->set_state(body->self, holding->step->states + body->first_state);
        motion_of(holding, i)->stays = motion_of(holding, i)->stays || holding->stays[i];
        if (body->kind == FIL_BODY_RIGID) {
            add_rigid(body->self, dt, motion_of(holding, i));
            continue;
        }
        add_rod(body, dt, motion_of(holding, i));
        if (find_held_rate(body->self, dt, rate)) {
            anchor(holding, i, rate);
        }
    }
}

static void anchor_to(const Holding *holding, int body, int obstacle) {
    const FilObstacle *at = obstacle >= 0 ? &holding->world->obstacles[obstacle] : NULL;
    double rate[3] = {0.0};
    if (fil_groups_has(&holding->groups, body) && !motion_of(holding, body)->anchored) {
        if (at != NULL) {
            fil_world_obstacle_rate(at, holding->step->dt, at->pose.position, rate);
        }
        anchor(holding, body, rate);
    }
}

// Where no held end does, joints to space and obstacles hold a group, and obstacles in its way.
static void anchor_groups(const Holding *holding) {
    const FilWorld *world = holding->world;
    for (int i = 0; i < world->joint_count; i++) {
        const FilJoint *joint = &world->joints[i];
        if (!joint->removed && joint->b.body < 0) {
            anchor_to(holding, joint->a.body, joint->obstacle);
        }
    }
    for (int i = 0; i < world->body_count; i++) {
        if (holding->pusher[i] >= 0 && !motion_of(holding, i)->anchored) {
            anchor_to(holding, i, holding->pusher[i]);
            motion_of(holding, i)->stays = false;
        }
    }
    for (int i = 0; i < world->body_count; i++) {
        if (holding->met[i] >= 0) {
            anchor_to(holding, i, holding->met[i]);
        }
    }
}

// The velocities of groups. Returns the leader of one that is `beyond`, or -1.
static int find_velocities(const Holding *holding) {
    int culprit = -1;
    for (int i = 0; i < holding->world->body_count; i++) {
        Motion *motion = &holding->motions[i];
        if (holding->groups.leader[i] == i && !motion->anchored && !motion->stays) {
            fil_add3(1.0 / motion->mass, motion->momentum, motion->velocity);
            const bool sane = fil_norm3(motion->velocity) <= beyond; // false for NaN
            culprit = sane || culprit >= 0 ? culprit : i;
        }
    }
    return culprit;
}

// Whether a rod of a group goes just where the group does: nothing holds it, or all stands still.
static bool is_carried(const FilRod *rod, const Motion *motion) {
    const bool is_free = rod->root_end.kind == FIL_END_FREE && rod->tip_end.kind == FIL_END_FREE;
    const bool is_driven = rod->root_end.motion != NULL || rod->tip_end.motion != NULL;
    return rod->growth == 0.0 && (is_free || (!is_driven && fil_norm3(motion->velocity) == 0.0));
}

// Its shape stays as it is, to the bit but for round-off: a step would bend it a little.
static void carry_rod(const FilBody *body, double dt, const double *rates, double *way) {
    FilRod *rod = body->self;
    fil_rod_get_state(rod, rod->saved);
    for (int c = 0; c < body->dof_count; c++) {
        way[c] = dt * rates[c];
    }
    body->table->move(rod, way);
    body->table->set_time(rod, fil_rod_time(rod) + dt);
    rod->past_dt = dt;
    rod->past_revision = rod->revision;
}

static void stay(const FilBody *body, double dt, double *after) {
    body->table->stop(body->self);
    body->table->get_velocity(body->self, after);
    body->table->set_time(body->self, body->table->get_time(body->self) + dt);
}

// Take the step of a body with the velocity of its group. One that refuses stays where it was.
static void take_body(const Holding *holding, int i) {
    const FilBody *body = &holding->world->bodies[i];
    const double *v = motion_of(holding, i)->velocity, still[3] = {0.0};
    double *after = holding->step->after + body->first_dof;
    if (motion_of(holding, i)->stays) {
        stay(body, holding->step->dt, after);
        return;
    }
    if (body->kind == FIL_BODY_ROD) {
        FilRod *rod = body->self;
        rod->table->launch(rod, v, still);
        rod->table->rigid_rates(rod, v, still, after);
        if (is_carried(rod, motion_of(holding, i))) {
            carry_rod(body, holding->step->dt, after, holding->way);
            return;
        }
    } else {
        FilRigid *rigid = body->self;
        memset(rigid->velocity, 0, sizeof rigid->velocity);
        fil_copy3(v, rigid->velocity);
        memcpy(after, rigid->velocity, sizeof rigid->velocity);
    }
    const FilPush push = {.impulses = holding->impulse, .unpaid = -generous, .shortest = true};
    body->table->prepare(body->self, holding->step->dt, after,
                         holding->step->free_velocity + body->first_dof);
    if (!body->table->advance(body->self, holding->step->dt, after, &push)) {
        stay(body, holding->step->dt, after);
    }
}

static void take_members(const Holding *holding, bool *lost) {
    for (int i = 0; i < holding->world->body_count; i++) {
        if (fil_groups_has(&holding->groups, i)) {
            take_body(holding, i);
            lost[i] = true;
        }
    }
}

static bool is_any(const FilWorld *world, const bool *stuck) {
    bool any = false;
    for (int i = 0; i < world->body_count; i++) {
        any = any || stuck[i];
    }
    return any;
}

FilStatus fil_world_hold(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                         FilPassed *passed, FilFates *fates, FilError *error) {
    Holding holding;
    if (passed->missed == 0 && !is_any(world, fates->stuck)) {
        return FIL_OK;
    }
    FIL_TRY(reserve_holding(world, step, &holding, error));
    bool news = enter_stuck(&holding, fates->stuck);
    for (int k = 0; k <= 2 * MAX_GROWTHS; k++) {
        news = enter_passed(&holding, passed) || news;
        if (!news && !stop_torn(&holding) && !stop_passing(&holding, passed)) {
            break;
        }
        if (k == MAX_GROWTHS) {
            enter_all(&holding);
        }
        fil_groups_join(&holding.groups);
        begin_again(&holding);
        anchor_groups(&holding);
        world->culprit = find_velocities(&holding);
        fates->beyond = world->culprit >= 0;
        if (fates->beyond) {
            break;
        }
        take_members(&holding, fates->lost);
        fates->held = true;
        FIL_TRY(fil_world_find_passed(world, step, poses, passed, error));
        news = false;
    }
    return FIL_OK;
}
