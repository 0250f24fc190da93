// reaction.c - what holds the ends of the rods of a world.
//
// rod/whole.c has it from the balance of a rod, which here includes all that pushes the rod:
// contacts, joints and the hand, with the forces of the last part of the last step. Pushes are
// listed once for all rods, sorted by rod; then rods are looked at side by side. What touches a rod
// on its surface has a moment about the axis, unless the model has no frames.
#include "world.h"

#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "rod/rod.h"

// All pushes: those of rod r are first[r] .. first[r + 1] - 1.
typedef struct Pushes {
    const FilWorld *world;
    FilRodLoad *loads;
    int *first;
    int begin;              // the rod that force and moment begin with
    double *force, *moment; // [..][2][3]
} Pushes;

// One push on a rod, or none: `rod` is -1.
typedef struct Push {
    int rod;
    FilRodLoad load;
} Push;

// --- what pushes ---------------------------------------------------------------------------------

// Nobody asks what pushes a rod that is held nowhere.
static bool is_held(const FilRod *rod) {
    return rod->root_end.kind != FIL_END_FREE || rod->tip_end.kind != FIL_END_FREE;
}

static Push push_contact(const FilWorld *world, const FilContact *contact, bool b) {
    const FilContactSide *side = b ? &contact->b : &contact->a;
    Push push = {.rod = -1, .load = {.s = side->s}};
    const FilRod *rod =
        side->kind == FIL_BODY_ROD ? world->bodies[world->rods[side->index]].self : NULL;
    if (rod == NULL || !is_held(rod)) {
        return push;
    }
    FilPose pose;
    double arm[3];
    push.rod = side->index;
    fil_add3((b ? -1.0 : 1.0) / world->def.step, contact->impulse, push.load.force);
    if (rod->table->framed) {
        fil_rod_at(rod, side->s, &pose, NULL);
        fil_subtract3(side->point, pose.position, arm);
        fil_cross3(arm, push.load.force, push.load.torque);
    }
    return push;
}

static Push push_place(const FilWorld *world, const FilPlace *place, double sign,
                       const double force[3], const double torque[3]) {
    Push push = {.rod = -1};
    if (place->body < 0 || world->bodies[place->body].kind != FIL_BODY_ROD) {
        return push;
    }
    const FilPiece *piece = &world->pieces[place->piece];
    const FilRod *rod = world->bodies[place->body].self;
    push.rod = world->bodies[place->body].index;
    push.load.s = (piece->s[0] + place->t * (piece->s[1] - piece->s[0])) * rod->state[1];
    fil_add3(sign, force, push.load.force);
    fil_add3(sign, torque, push.load.torque);
    return push;
}

static Push push_hand(const FilWorld *world) {
    static const double none[3] = {0.0, 0.0, 0.0};
    FilPlace hand;
    FilPose pose;
    if (!fil_world_grab_place(world, &hand)) {
        return (Push){.rod = -1};
    }
    Push push = push_place(world, &hand, 1.0, world->grab_force, none);
    fil_rod_at(world->bodies[hand.body].self, push.load.s, &pose, NULL);
    fil_add3(world->grab_torque, pose.axis[0], push.load.torque);
    return push;
}

// Sides of contacts first, then those of joints, then the hand.
static int count_sides(const FilWorld *world) {
    return 2 * world->contact_count + 2 * world->joint_count + 1;
}

static Push push_of(const FilWorld *world, int side) {
    const int contacts = 2 * world->contact_count;
    const bool b = side % 2 == 1;
    if (side < contacts) {
        return push_contact(world, &world->contacts[side / 2], b);
    }
    if (side == count_sides(world) - 1) {
        return push_hand(world);
    }
    const FilJoint *joint = &world->joints[(side - contacts) / 2];
    if (joint->removed) {
        return (Push){.rod = -1};
    }
    return push_place(world, b ? &joint->b : &joint->a, b ? -1.0 : 1.0, joint->force,
                      joint->torque);
}

static bool list_pushes(Pushes *pushes, FilArena *arena) {
    const FilWorld *world = pushes->world;
    const int sides = count_sides(world), rods = world->rod_count;
    Push *all = FIL_NEW(arena, Push, sides);
    pushes->loads = FIL_NEW(arena, FilRodLoad, sides);
    pushes->first = FIL_NEW_ZEROED(arena, int, rods + 2);
    if (arena->failed) {
        return false;
    }
    for (int k = 0; k < sides; k++) {
        all[k] = push_of(world, k);
        pushes->first[all[k].rod + 2]++; // those on no rod are counted in front
    }
    pushes->first[1] = 0;
    for (int r = 0; r < rods; r++) {
        pushes->first[r + 2] += pushes->first[r + 1];
    }
    for (int k = 0; k < sides; k++) { // first[r + 1] moves from the first of rod r to its end
        if (all[k].rod >= 0) {
            pushes->loads[pushes->first[all[k].rod + 1]++] = all[k].load;
        }
    }
    pushes->first[0] = 0;
    return true;
}

// --- rods ----------------------------------------------------------------------------------------

// The pushes of one rod, one after the other.
typedef struct Walk {
    const FilRodLoad *loads;
    int count, at;
} Walk;

static bool next_push(void *context, FilRodLoad *push) {
    Walk *walk = context;
    if (walk->at == walk->count) {
        walk->at = 0;
        return false;
    }
    *push = walk->loads[walk->at++];
    return true;
}

static void find_range(void *context, int first, int last) {
    const Pushes *pushes = context;
    const FilWorld *world = pushes->world;
    for (int r = first; r < last; r++) {
        const FilBody *body = &world->bodies[world->rods[r]];
        Walk walk = {.loads = pushes->loads + pushes->first[r],
                     .count = pushes->first[r + 1] - pushes->first[r]};
        FilRodPast past = {.dt = world->past.dt, .next = next_push, .context = &walk};
        if (body->island == 0 && world->past.states != NULL && past.dt > 0.0 &&
            body->first_point < world->past.point_count) {
            past.state = world->past.states + body->first_state;
        }
        double force[2][3], moment[2][3];
        const ptrdiff_t at = 6 * (ptrdiff_t)(r - pushes->begin);
        fil_rod_find_reactions(body->self, &past, force, moment);
        memcpy(pushes->force + at, force, sizeof force);
        memcpy(pushes->moment + at, moment, sizeof moment);
    }
}

FilStatus fil_world_reactions(const FilWorld *world, FilArena *arena, double *force, double *moment,
                              FilError *error) {
    Pushes pushes = {.world = world};
    pushes.force = force;
    pushes.moment = moment;
    if (!list_pushes(&pushes, arena)) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the reactions of %d rods",
                        world->rod_count);
    }
    fil_parallel_ranges(world->rod_count, 8, world->threads, find_range, &pushes);
    return FIL_OK;
}

FilStatus fil_world_reaction(const FilWorld *world, int rod, bool tip, double force[3],
                             double moment[3], FilError *error) {
    if (rod < 0 || rod >= world->rod_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "rod is %d; there are %d", rod, world->rod_count);
    }
    FilArena arena = fil_arena_make(&world->allocator);
    double found[2][6] = {{0.0}};
    Pushes pushes = {.world = world, .begin = rod, .force = found[0], .moment = found[1]};
    const bool listed = list_pushes(&pushes, &arena);
    if (listed) {
        find_range(&pushes, rod, rod + 1);
        fil_copy3(found[0] + (tip ? 3 : 0), force);
        fil_copy3(found[1] + (tip ? 3 : 0), moment);
    }
    fil_arena_destroy(&arena);
    return listed ? FIL_OK
                  : fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the pushes on a rod");
}
