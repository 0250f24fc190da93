// frames.c - frames as bytes.
//
// A header of 64 bytes, then the arrays of the mask in the order of their bits, each padded with
// zeros to a multiple of 8 bytes, so that a browser lays typed arrays over them without a copy.
// Little endian, as all machines that this is built for are.
#include "frames.h"

#include <math.h>
#include <string.h>

// Header: where its fields are.
enum { AT_TIME = 8, AT_STEP = 16, AT_COUNTS = 24, AT_MASK = 40, AT_INDEX = 44 };

// Numbers of an array for each of its items, what it is counted by, and bytes of a number.
typedef struct Layout {
    int numbers, counted, bytes;
} Layout;
static const Layout layouts[FIL_ARRAY_COUNT] = {
    [FIL_ARRAY_POSITION] = {3, 0, 4},
    [FIL_ARRAY_QUATERNION] = {4, 0, 4},
    [FIL_ARRAY_VELOCITY] = {3, 0, 4},
    [FIL_ARRAY_CURVATURE] = {3, 0, 4},
    [FIL_ARRAY_TENSION] = {1, 0, 4},
    [FIL_ARRAY_ELASTIC] = {1, 0, 4},
    [FIL_ARRAY_FORCE] = {1, 0, 4},
    [FIL_ARRAY_STATE] = {1, 0, 1},
    [FIL_ARRAY_RIGIDS] = {7, 1, 4},
    [FIL_ARRAY_OBSTACLES] = {7, 2, 4},
    [FIL_ARRAY_CONTACTS] = {FIL_CONTACT_NUMBERS, 3, 4},
};

size_t fil_frame_array_size(FilFrameArray array, uint32_t points, uint32_t rigids,
                            uint32_t obstacles, uint32_t contacts) {
    const uint32_t counts[4] = {points, rigids, obstacles, contacts};
    const Layout *layout = &layouts[array];
    const size_t size =
        (size_t)counts[layout->counted] * (size_t)layout->numbers * (size_t)layout->bytes;
    return (size + 7) & ~(size_t)7;
}

// --- arrays --------------------------------------------------------------------------------------

static void put_floats(const double *from, size_t count, float *to) {
    for (size_t k = 0; k < count; k++) {
        to[k] = (float)from[k];
    }
}

static void put_poses(const double *position, const double *quaternion, int count, float *to) {
    for (int k = 0; k < count; k++, to += 7) {
        put_floats(position + 3 * (ptrdiff_t)k, 3, to);
        put_floats(quaternion + 4 * (ptrdiff_t)k, 4, to + 3);
    }
}

static void put_contact(const FilContact *contact, double step, float to[FIL_CONTACT_NUMBERS]) {
    double normal = 0.0, speed = 0.0;
    for (int k = 0; k < 3; k++) {
        to[k] = (float)(0.5 * (contact->a.point[k] + contact->b.point[k]));
        to[3 + k] = (float)contact->normal[k];
        to[6 + k] = (float)(contact->impulse[k] / step);
        normal += contact->normal[k] * contact->velocity[k];
        speed += contact->velocity[k] * contact->velocity[k];
    }
    to[9] = (float)contact->mu;
    to[10] = (float)contact->gap;
    to[11] = (float)contact->state;
    to[12] = (float)contact->a.kind;
    to[13] = (float)contact->a.index;
    to[14] = (float)contact->a.s;
    to[15] = (float)contact->b.kind;
    to[16] = (float)contact->b.index;
    to[17] = (float)contact->b.s;
    to[18] = (float)sqrt(fmax(0.0, speed - normal * normal));
    to[19] = 0.0F;
}

static void put_state(const double *values, int count, char *to) {
    for (int k = 0; k < count; k++) {
        to[k] = (char)values[k];
    }
}

static bool is_known(FilFrameArray array, const FilFrame *frame) {
    return array == FIL_ARRAY_TENSION   ? frame->tension != NULL
           : array == FIL_ARRAY_ELASTIC ? frame->elastic != NULL
                                        : true;
}

// Arrays that are those of the frame, as floats; NULL: it must be worked out.
static const double *source_of(FilFrameArray array, const FilFrame *frame) {
    switch (array) {
    case FIL_ARRAY_POSITION:
        return frame->position;
    case FIL_ARRAY_QUATERNION:
        return frame->quaternion;
    case FIL_ARRAY_VELOCITY:
        return frame->velocity;
    case FIL_ARRAY_CURVATURE:
        return frame->curvature;
    case FIL_ARRAY_TENSION:
        return frame->tension;
    case FIL_ARRAY_ELASTIC:
        return frame->elastic;
    default:
        return NULL;
    }
}

static void fill(FilFrameArray array, const FilResultDef *def, const FilFrame *frame,
                 double *scratch, char *to) {
    const int points = def->point_count;
    const double *source = source_of(array, frame);
    if (source != NULL) {
        put_floats(source, (size_t)points * (size_t)layouts[array].numbers, (float *)(void *)to);
    } else if (array == FIL_ARRAY_FORCE) {
        fil_field_compute(FIL_FIELD_FORCE, def, frame, scratch);
        put_floats(scratch, (size_t)points, (float *)(void *)to);
    } else if (array == FIL_ARRAY_STATE) {
        fil_field_compute(FIL_FIELD_STATE, def, frame, scratch);
        put_state(scratch, points, to);
    } else if (array == FIL_ARRAY_RIGIDS) {
        put_poses(frame->rigid_position, frame->rigid_quaternion, def->rigid_count,
                  (float *)(void *)to);
    } else if (array == FIL_ARRAY_OBSTACLES) {
        put_poses(frame->obstacle_position, frame->obstacle_quaternion, def->obstacle_count,
                  (float *)(void *)to);
    } else if (array == FIL_ARRAY_CONTACTS) {
        for (int k = 0; k < frame->contact_count; k++) {
            put_contact(&frame->contacts[k], def->step,
                        (float *)(void *)to + FIL_CONTACT_NUMBERS * (ptrdiff_t)k);
        }
    }
}

// --- frames --------------------------------------------------------------------------------------

void fil_frame_encode(const FilResultDef *def, const FilFrame *frame, uint32_t mask, uint32_t index,
                      double *scratch, FilBytes *out) {
    const uint32_t counts[4] = {(uint32_t)def->point_count, (uint32_t)def->rigid_count,
                                (uint32_t)def->obstacle_count, (uint32_t)frame->contact_count};
    size_t size = FIL_FRAME_HEADER;
    mask &= FIL_ARRAY_ALL;
    for (int k = 0; k < FIL_ARRAY_COUNT; k++) {
        mask &= is_known((FilFrameArray)k, frame) ? ~0U : ~(1U << k);
        if ((mask >> k & 1U) != 0) {
            size +=
                fil_frame_array_size((FilFrameArray)k, counts[0], counts[1], counts[2], counts[3]);
        }
    }
    char *to = fil_bytes_more(out, size);
    if (to == NULL) {
        return;
    }
    memset(to, 0, size);
    const uint32_t version = 1;
    const double step = (double)frame->step;
    static const char mark[4] = {'F', 'I', 'L', 'F'};
    memcpy(to, mark, sizeof mark);
    memcpy(to + 4, &version, 4);
    memcpy(to + AT_TIME, &frame->time, 8);
    memcpy(to + AT_STEP, &step, 8);
    memcpy(to + AT_COUNTS, counts, sizeof counts);
    memcpy(to + AT_MASK, &mask, 4);
    memcpy(to + AT_INDEX, &index, 4);
    to += FIL_FRAME_HEADER;
    for (int k = 0; k < FIL_ARRAY_COUNT; k++) {
        if ((mask >> k & 1U) != 0) {
            fill((FilFrameArray)k, def, frame, scratch, to);
            to +=
                fil_frame_array_size((FilFrameArray)k, counts[0], counts[1], counts[2], counts[3]);
        }
    }
}

void fil_frame_select(const char *frame, size_t size, uint32_t mask, FilBytes *out) {
    uint32_t counts[4], has;
    const size_t begin = out->size;
    if (size < FIL_FRAME_HEADER) {
        out->failed = true;
        return;
    }
    memcpy(counts, frame + AT_COUNTS, sizeof counts);
    memcpy(&has, frame + AT_MASK, sizeof has);
    fil_bytes_add(out, frame, FIL_FRAME_HEADER);
    size_t at = FIL_FRAME_HEADER;
    for (int k = 0; k < FIL_ARRAY_COUNT; k++) {
        const size_t part =
            fil_frame_array_size((FilFrameArray)k, counts[0], counts[1], counts[2], counts[3]);
        if ((has >> k & 1U) == 0) {
            continue;
        }
        if (part > size - at) {
            out->failed = true;
            return;
        }
        if ((mask >> k & 1U) != 0) {
            fil_bytes_add(out, frame + at, part);
        }
        at += part;
    }
    has &= mask;
    if (!out->failed) {
        memcpy(out->data + begin + AT_MASK, &has, sizeof has);
    }
}
