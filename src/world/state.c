// state.c - all that the next step depends on, as one array: time, the bodies, the contacts.
//
// Layout: step count, time, number of contacts, of those that sleep, of steps with a part of the
// budget (the last time, and still to come); the state of every body; in a world that sleeps, per
// body how long it was calm and its island, and per joint its force and torque; per contact its
// pieces, feature, rebound, approach speed and impulse; of those that sleep also what users see of
// them.
#include "sleep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "effort.h"
#include "math/vec3.h"

enum { HEAD = 6, PER_BODY = 2, PER_JOINT = 6, PER_CONTACT = 8, PER_KEPT = PER_CONTACT + 14 };

// Numbers before those of the joints, and of the contacts.
static int64_t count_bodies(const FilWorld *world) {
    const bool sleeps = world->def.sleep_speed > 0.0;
    return HEAD + world->state_count + (sleeps ? PER_BODY * (int64_t)world->body_count : 0);
}
static int64_t count_joints(const FilWorld *world) {
    const bool sleeps = world->def.sleep_speed > 0.0;
    return count_bodies(world) + (sleeps ? PER_JOINT * (int64_t)world->joint_count : 0);
}

int64_t fil_world_state_count(const FilWorld *world) {
    return count_joints(world) + PER_CONTACT * (int64_t)world->memory_count +
           PER_KEPT * (int64_t)world->kept_count;
}

// --- getting -------------------------------------------------------------------------------------

static void put_memory(const FilMemory *memory, double *out) {
    out[0] = memory->piece[0];
    out[1] = memory->piece[1];
    out[2] = memory->feature;
    out[3] = memory->rebounded;
    out[4] = memory->approach;
    fil_copy3(memory->impulse, out + 5);
}

static void put_kept(const FilKept *kept, double *out) {
    const FilContact *contact = &kept->contact;
    put_memory(&kept->memory, out);
    double *more = out + PER_CONTACT;
    fil_copy3(contact->a.point, more);
    fil_copy3(contact->b.point, more + 3);
    fil_copy3(contact->normal, more + 6);
    more[9] = contact->a.s;
    more[10] = contact->b.s;
    more[11] = contact->gap;
    more[12] = contact->mu;
    more[13] = contact->state;
}

void fil_world_get_state(const FilWorld *world, double *state) {
    state[0] = (double)world->clock.step_count;
    state[1] = world->time;
    state[2] = world->memory_count;
    state[3] = world->kept_count;
    state[4] = world->thrifty_steps;
    state[5] = world->thrifty_left;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->get_state(body->self, state + HEAD + body->first_state);
    }
    double *sleep = state + HEAD + world->state_count, *joints = state + count_bodies(world);
    double *out = state + count_joints(world);
    for (int i = 0; sleep < joints; i++, sleep += PER_BODY) {
        sleep[0] = world->bodies[i].calm;
        sleep[1] = world->bodies[i].island;
    }
    for (int i = 0; joints < out; i++, joints += PER_JOINT) {
        fil_copy3(world->joints[i].force, joints);
        fil_copy3(world->joints[i].torque, joints + 3);
    }
    for (int i = 0; i < world->memory_count; i++, out += PER_CONTACT) {
        put_memory(&world->memories[i], out);
    }
    for (int i = 0; i < world->kept_count; i++, out += PER_KEPT) {
        put_kept(&world->kept[i], out);
    }
}

// --- setting -------------------------------------------------------------------------------------

static bool is_index(double value, int count) {
    return value >= 0.0 && value < count && value == floor(value);
}

static FilStatus check_pieces(const FilWorld *world, const double *state, int64_t at,
                              FilError *error) {
    if (!is_index(state[at], world->piece_count) || !is_index(state[at + 1], world->piece_count)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "state[%lld] names a piece that this world does not have", (long long)at);
    }
    return FIL_OK;
}

// Islands, and contacts of them.
static FilStatus check_sleep(const FilWorld *world, const double *state, int64_t kept,
                             int64_t count, FilError *error) {
    int64_t bodies = HEAD + world->state_count, end = count_bodies(world);
    for (int64_t k = bodies; k < end; k += PER_BODY) {
        if (!(state[k] >= 0.0) || !is_index(state[k + 1], world->body_count + 1)) {
            return fil_fail(error, FIL_E_ARGUMENT, "state[%lld] is not that of a body's sleep",
                            (long long)k);
        }
    }
    for (int64_t k = kept; k < count; k += PER_KEPT) {
        FIL_TRY(check_pieces(world, state, k, error));
        if (!is_index(state[k + PER_KEPT - 1], FIL_CONTACT_STATE_COUNT)) {
            return fil_fail(error, FIL_E_ARGUMENT, "state[%lld] is not that of a contact",
                            (long long)k);
        }
    }
    return FIL_OK;
}

// Steps and time, which are one clock.
static FilStatus check_clock(const FilWorld *world, const double *state, FilError *error) {
    if (!(state[0] >= 0.0 && state[0] <= 9e15 && state[0] == floor(state[0]))) {
        return fil_fail(error, FIL_E_ARGUMENT, "state[0] is %g; it must count steps", state[0]);
    }
    const double time =
        fil_clock_time(world->def.step, (FilClock){.step_count = (int64_t)state[0]});
    if (state[1] != time) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "state[1], the time, is %.17g s; after %.0f steps of %g s it must be %.17g "
                        "s",
                        state[1], state[0], world->def.step, time);
    }
    return FIL_OK;
}

static FilStatus check_state(const FilWorld *world, const double *state, int64_t count,
                             FilError *error) {
    int64_t least = count_joints(world);
    for (int k = 2; k < 4 && count >= least; k++) {
        if (!is_index(state[k], INT32_MAX)) {
            return fil_fail(error, FIL_E_ARGUMENT, "state[%d] is %g; it must count contacts", k,
                            state[k]);
        }
    }
    if (count < least ||
        count != least + PER_CONTACT * (int64_t)state[2] + PER_KEPT * (int64_t)state[3]) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "a state of %lld numbers does not fit this world, which has %lld without "
                        "contacts",
                        (long long)count, (long long)least);
    }
    for (int64_t k = 0; k < count; k++) {
        if (!isfinite(state[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "state[%lld] is not finite", (long long)k);
        }
    }
    for (int k = 4; k < 6; k++) {
        if (!is_index(state[k], FIL_MOST_THRIFTY + 1)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "state[%d] is %g; it must count at most %d steps", k, state[k],
                            FIL_MOST_THRIFTY);
        }
    }
    FIL_TRY(check_clock(world, state, error));
    int64_t kept = least + PER_CONTACT * (int64_t)state[2];
    for (int64_t k = least; k < kept; k += PER_CONTACT) {
        FIL_TRY(check_pieces(world, state, k, error));
    }
    return check_sleep(world, state, kept, count, error);
}

static void take_memory(const double *in, FilMemory *memory) {
    *memory = (FilMemory){.piece = {(int)in[0], (int)in[1]},
                          .feature = (uint32_t)in[2],
                          .rebounded = in[3] != 0.0,
                          .approach = in[4]};
    fil_copy3(in + 5, memory->impulse);
}

static void take_side(const FilWorld *world, int piece, const double *point, double s,
                      FilContactSide *side) {
    const FilPiece *of = &world->pieces[piece];
    *side = (FilContactSide){.kind = FIL_BODY_OBSTACLE, .index = of->obstacle, .s = s};
    if (of->obstacle < 0) {
        side->kind = world->bodies[of->body].kind;
        side->index = world->bodies[of->body].index;
    }
    fil_copy3(point, side->point);
}

static void take_kept(const FilWorld *world, const double *in, FilKept *kept) {
    const double *more = in + PER_CONTACT;
    take_memory(in, &kept->memory);
    kept->contact =
        (FilContact){.gap = more[11], .mu = more[12], .state = (FilContactState)(int)more[13]};
    take_side(world, kept->memory.piece[0], more, more[9], &kept->contact.a);
    take_side(world, kept->memory.piece[1], more + 3, more[10], &kept->contact.b);
    fil_copy3(more + 6, kept->contact.normal);
    fil_copy3(kept->memory.impulse, kept->contact.impulse);
}

// Contacts and sleep; there is room for them.
static FilStatus take_contacts(FilWorld *world, const double *state, FilError *error) {
    const double *sleep = state + HEAD + world->state_count, *joints = state + count_bodies(world);
    const double *in = state + count_joints(world);
    world->memory_count = (int)state[2];
    world->kept_count = world->contact_count = (int)state[3];
    world->asleep_count = 0;
    for (int i = 0; sleep < joints; i++, sleep += PER_BODY) {
        world->bodies[i].calm = sleep[0];
        world->bodies[i].island = (int)sleep[1];
        world->asleep_count += world->bodies[i].island != 0;
    }
    for (int i = 0; joints < in; i++, joints += PER_JOINT) {
        fil_copy3(joints, world->joints[i].force);
        fil_copy3(joints + 3, world->joints[i].torque);
    }
    for (int i = 0; i < world->memory_count; i++, in += PER_CONTACT) {
        take_memory(in, &world->memories[i]);
    }
    for (int i = 0; i < world->kept_count; i++, in += PER_KEPT) {
        take_kept(world, in, &world->kept[i]);
        world->contacts[i] = world->kept[i].contact;
    }
    return fil_world_rest_points(world, error);
}

FilStatus fil_world_set_state(FilWorld *world, const double *state, int64_t count,
                              FilError *error) {
    FIL_TRY(check_state(world, state, count, error));
    FIL_TRY(fil_world_root(world, error)); // as the first step would have seen it
    int64_t kept = (int64_t)state[3], contacts = (int64_t)state[2] + kept;
    FIL_TRY(fil_world_reserve(world, &world->memories, &world->memory_room, contacts,
                              sizeof(FilMemory), error));
    FIL_TRY(fil_world_reserve(world, &world->contacts, &world->contact_room, kept,
                              sizeof(FilContact), error));
    FIL_TRY(
        fil_world_reserve(world, &world->kept, &world->kept_room, kept, sizeof(FilKept), error));
    world->past = (FilPast){0};
    world->near.piece_count = 0; // pairs that were kept are of another motion
    world->clock = (FilClock){.step_count = (int64_t)state[0]};
    world->time = state[1];
    world->thrifty_steps = (int)state[4];
    world->thrifty_left = (int)state[5];
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->set_state(body->self, state + HEAD + body->first_state);
    }
    for (int i = 0; i < world->obstacle_count; i++) {
        FilObstacle *obstacle = &world->obstacles[i];
        obstacle->pose = obstacle->def.pose;
        if (obstacle->def.motion != NULL) {
            obstacle->def.motion(obstacle->def.user, world->time, &obstacle->pose);
        }
    }
    return take_contacts(world, state, error);
}
