// remember.c - what a step leaves: contacts for others to look at, memories of them for the next
// step to start from, and the forces of joints.
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "problem.h"
#include "rod/rod.h"

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

void fil_memories_sort(FilWorld *world) {
    if (world->memory_count > 0) {
        qsort(world->memories, (size_t)world->memory_count, sizeof(FilMemory), compare_memories);
    }
}

enum { GRAIN = 512 }; // contacts

// Sums over a range of contacts, added in the order of the ranges.
typedef struct Sums {
    int active;
    double penetration, dissipated;
} Sums;

typedef struct Recording {
    FilWorld *world;
    const FilWorldTry *step;
    int count;   // contacts, without joints
    int *listed; // [count] which of the step's
    int *sorted; // [count] of the listed ones, in the order of memories
    Sums *sums;  // [ranges]
} Recording;

static void record_range(void *context, int first, int last) {
    const Recording *recording = context;
    const FilWorld *world = recording->world;
    Sums sums = {0};
    for (int k = first; k < last; k++) {
        const int i = recording->listed[k];
        const FilWorkContact *contact = &recording->step->contacts[i];
        double r[3], u[3];
        memcpy(r, recording->step->r + 3 * (ptrdiff_t)i, sizeof r);
        memcpy(u, recording->step->u + 3 * (ptrdiff_t)i, sizeof u);
        FilContact *out = &world->contacts[k];
        *out = (FilContact){
            .gap = contact->start_gap, .mu = contact->mu, .state = state_of(contact, r, u)};
        fill_side(world, &contact->a, &out->a);
        fill_side(world, &contact->b, &out->b);
        fil_copy3(contact->normal, out->normal);
        to_world(contact->frame, r, out->impulse);
        to_world(contact->frame, u, out->velocity);
        sums.active += r[0] > 0.0;
        sums.penetration = fmax(sums.penetration, -contact->start_gap);
        sums.dissipated -= fil_dot3(out->impulse, out->velocity);
        for (int j = 0; j < 3; j++) { // that of a part, as if it were of the whole step
            out->impulse[j] /= recording->step->share;
        }
    }
    recording->sums[first / GRAIN] = sums;
}

static void remember_range(void *context, int first, int last) {
    const Recording *recording = context;
    for (int k = first; k < last; k++) {
        const int number = recording->sorted[k];
        const FilWorkContact *contact = &recording->step->contacts[recording->listed[number]];
        FilMemory *memory = &recording->world->memories[k];
        *memory = contact->memory;
        memory->contact = number;
        to_world(contact->frame, recording->step->r + 3 * (ptrdiff_t)recording->listed[number],
                 memory->impulse);
        memory->rebounded = contact->memory.rebounded || fil_contact_rebounds(contact);
    }
}

static const FilMemory *memory_of(const Recording *recording, int number) {
    return &recording->step->contacts[recording->listed[number]].memory;
}

// Bring contacts to the order of memories: by their first pieces, counted; then, of each first
// piece, those few that are not in order yet.
static void sort_contacts(const Recording *recording, int *start) {
    int *sorted = recording->sorted;
    for (int k = 0; k < recording->count; k++) {
        start[memory_of(recording, k)->piece[0] + 1]++;
    }
    for (int piece = 0; piece < recording->world->piece_count; piece++) {
        start[piece + 1] += start[piece];
    }
    for (int k = 0; k < recording->count; k++) {
        sorted[start[memory_of(recording, k)->piece[0]]++] = k;
    }
    for (int k = 1; k < recording->count; k++) {
        const int number = sorted[k];
        const FilMemory *memory = memory_of(recording, number);
        int at = k;
        for (; at > 0 && compare_memories(memory_of(recording, sorted[at - 1]), memory) > 0; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = number;
    }
}

static FilStatus list_contacts(FilWorld *world, const FilWorldTry *step, Recording *recording,
                               FilError *error) {
    const int n = step->contact_count;
    const int64_t room = (int64_t)n + world->kept_count;
    FIL_TRY(fil_world_reserve(world, &world->contacts, &world->contact_room, room,
                              sizeof(FilContact), error));
    FIL_TRY(fil_world_reserve(world, &world->memories, &world->memory_room, room, sizeof(FilMemory),
                              error));
    int *start = FIL_NEW_ZEROED(&world->scratch, int, (size_t)world->piece_count + 2);
    *recording = (Recording){.world = world, .step = step};
    recording->listed = FIL_NEW(&world->scratch, int, (size_t)n + 1);
    recording->sorted = FIL_NEW(&world->scratch, int, (size_t)n + 1);
    recording->sums = FIL_NEW_ZEROED(&world->scratch, Sums, n / GRAIN + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n);
    }
    for (int i = 0; i < n; i++) {
        if (step->contacts[i].kind == FIL_BLOCK_COULOMB) {
            recording->listed[recording->count++] = i;
        }
    }
    sort_contacts(recording, start);
    return FIL_OK;
}

FilStatus fil_world_record_contacts(FilWorld *world, const FilWorldTry *step, FilStepInfo *info,
                                    FilError *error) {
    Recording recording;
    FIL_TRY(list_contacts(world, step, &recording, error));
    const int count = recording.count;
    fil_parallel_ranges(count, GRAIN, world->threads, record_range, &recording);
    fil_parallel_ranges(count, GRAIN, world->threads, remember_range, &recording);
    info->active_count = 0;
    for (int range = 0; range * GRAIN < count; range++) {
        const Sums *sums = &recording.sums[range];
        info->active_count += sums->active;
        info->penetration = fmax(info->penetration, sums->penetration);
        info->dissipated += sums->dissipated;
    }
    info->contact_count = world->contact_count = world->memory_count = count;
    for (int k = 0; k < world->kept_count; k++) {
        world->contacts[world->contact_count++] = world->kept[k].contact;
    }
    return FIL_OK;
}

void fil_world_record_joints(FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; world->joint_count > 0 && i < step->contact_count; i++) {
        const FilWorkContact *half = &step->contacts[i];
        if (half->kind != FIL_BLOCK_EQUALITY || half->joint < 0) {
            continue;
        }
        FilJoint *joint = &world->joints[half->joint];
        for (int k = 0; k < 3; k++) {
            (half->turn ? joint->torque : joint->force)[k] =
                step->r[3 * (ptrdiff_t)i + k] / step->dt;
        }
    }
}
