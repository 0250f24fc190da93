// state.c - all that the next step depends on, as one array: time, the bodies, the contacts.
//
// Layout: step count, time, number of contacts; the state of every body; per contact its pieces,
// feature, rebound, approach speed and impulse.
#include "world.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/vec3.h"

enum { HEAD = 3, PER_CONTACT = 8 };

int64_t fil_world_state_count(const FilWorld *world) {
    return HEAD + world->state_count + PER_CONTACT * (int64_t)world->memory_count;
}

void fil_world_get_state(const FilWorld *world, double *state) {
    state[0] = (double)world->step_count;
    state[1] = world->time;
    state[2] = world->memory_count;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->get_state(body->self, state + HEAD + body->first_state);
    }
    double *out = state + HEAD + world->state_count;
    for (int i = 0; i < world->memory_count; i++, out += PER_CONTACT) {
        const FilMemory *memory = &world->memories[i];
        out[0] = memory->piece[0];
        out[1] = memory->piece[1];
        out[2] = memory->feature;
        out[3] = memory->rebounded;
        out[4] = memory->approach;
        fil_copy3(memory->impulse, out + 5);
    }
}

static bool is_index(double value, int count) {
    return value >= 0.0 && value < count && value == floor(value);
}

static FilStatus check_state(const FilWorld *world, const double *state, int64_t count,
                             FilError *error) {
    int64_t least = HEAD + world->state_count;
    if (count < least || !is_index(state[2], INT32_MAX) ||
        count != least + PER_CONTACT * (int64_t)state[2]) {
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
    for (int64_t k = least; k < count; k += PER_CONTACT) {
        if (!is_index(state[k], world->piece_count) ||
            !is_index(state[k + 1], world->piece_count)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "state[%lld] names a piece that this world does not have",
                            (long long)k);
        }
    }
    return FIL_OK;
}

FilStatus fil_world_set_state(FilWorld *world, const double *state, int64_t count,
                              FilError *error) {
    FIL_TRY(check_state(world, state, count, error));
    int memories = (int)state[2];
    FIL_TRY(fil_world_reserve(world, &world->memories, &world->memory_room, memories,
                              sizeof(FilMemory), error));
    world->step_count = (int64_t)state[0];
    world->time = state[1];
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->set_state(body->self, state + HEAD + body->first_state);
    }
    const double *in = state + HEAD + world->state_count;
    for (int i = 0; i < memories; i++, in += PER_CONTACT) {
        world->memories[i] = (FilMemory){.piece = {(int)in[0], (int)in[1]},
                                         .feature = (uint32_t)in[2],
                                         .rebounded = in[3] != 0.0,
                                         .approach = in[4]};
        fil_copy3(in + 5, world->memories[i].impulse);
    }
    world->memory_count = memories;
    world->contact_count = 0;
    for (int i = 0; i < world->obstacle_count; i++) {
        FilObstacle *obstacle = &world->obstacles[i];
        obstacle->pose = obstacle->def.pose;
        if (obstacle->def.motion != NULL) {
            obstacle->def.motion(obstacle->def.user, world->time, &obstacle->pose);
        }
    }
    return FIL_OK;
}
