// between.c - copies of frames, and frames between two: see look/between.h.
//
// Places go straight, not along the curve that their velocities tell of: where something was hit
// between two frames such a curve would pass through it. Two quaternions q and -q are the same
// turn; of b the one is taken that is nearer to a, and the mean of both is made of unit length.
#include "look/between.h"

#include <math.h>
#include <string.h>

// The arrays of a frame: name, how many, numbers of each.
#define NUMBERS(X)                    \
    X(position, point_count, 3)       \
    X(velocity, point_count, 3)       \
    X(curvature, point_count, 3)      \
    X(tension, point_count, 1)        \
    X(elastic, point_count, 1)        \
    X(reaction_force, rod_count, 6)   \
    X(reaction_moment, rod_count, 6)  \
    X(rigid_position, rigid_count, 3) \
    X(rigid_velocity, rigid_count, 3) \
    X(rigid_spin, rigid_count, 3)     \
    X(obstacle_position, obstacle_count, 3)
#define TURNS(X)                        \
    X(quaternion, point_count, 4)       \
    X(rigid_quaternion, rigid_count, 4) \
    X(obstacle_quaternion, obstacle_count, 4)

// NULL, what is not known, stays NULL.
static const double *copy(FilArena *memory, const double *from, size_t count) {
    double *to = from != NULL ? FIL_NEW(memory, double, count) : NULL;
    if (to != NULL && count > 0) {
        memcpy(to, from, sizeof *to * count);
    }
    return to;
}

bool fil_frame_copy(const FilResultDef *def, const FilFrame *frame, FilArena *memory,
                    FilFrame *out) {
    *out = *frame;
#define COPY(name, many, width) out->name = copy(memory, frame->name, (size_t)def->many * (width));
    NUMBERS(COPY)
    TURNS(COPY)
#undef COPY
    const size_t count = (size_t)frame->contact_count;
    FilContact *contacts = FIL_NEW(memory, FilContact, count);
    if (contacts != NULL && count > 0) {
        memcpy(contacts, frame->contacts, sizeof *contacts * count);
    }
    out->contacts = contacts;
    return !memory->failed;
}

static const double *mix(FilArena *memory, const double *a, const double *b, double t,
                         size_t count) {
    double *to = a != NULL && b != NULL ? FIL_NEW(memory, double, count) : NULL;
    for (size_t k = 0; to != NULL && k < count; k++) {
        to[k] = (1.0 - t) * a[k] + t * b[k];
    }
    return to;
}

static const double *mix_turns(FilArena *memory, const double *a, const double *b, double t,
                               size_t count) {
    double *to = a != NULL && b != NULL ? FIL_NEW(memory, double, count) : NULL;
    for (size_t k = 0; to != NULL && k < count; k += 4) {
        const double dot =
            a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3];
        const double part = dot < 0.0 ? -t : t;
        double size = 0.0;
        for (size_t c = k; c < k + 4; c++) {
            to[c] = (1.0 - t) * a[c] + part * b[c];
            size += to[c] * to[c];
        }
        // at least 1/2, for dot >= 0
        for (size_t c = k; c < k + 4; c++) {
            to[c] = size > 0.0 ? to[c] / sqrt(size) : a[c];
        }
    }
    return to;
}

bool fil_frame_mix(const FilResultDef *def, const FilFrame *a, const FilFrame *b, double t,
                   FilArena *memory, FilFrame *out) {
    *out = t < 0.5 ? *a : *b;
    out->time = (1.0 - t) * a->time + t * b->time;
#define MIX(name, many, width) \
    out->name = mix(memory, a->name, b->name, t, (size_t)def->many * (width));
    NUMBERS(MIX)
#undef MIX
#define MIX(name, many, width) \
    out->name = mix_turns(memory, a->name, b->name, t, (size_t)def->many * (width));
    TURNS(MIX)
#undef MIX
    return !memory->failed;
}
