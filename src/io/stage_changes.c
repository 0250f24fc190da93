// stage_changes.c - what somebody who watches a run changes between its steps.
//
// Gravity, wind, friction and the hand are parameters: only the last value of each matters for what
// follows. So of each one change is kept, with the number of the scene's events that came before
// it, and the log stays short however long somebody plays. The text of a checkpoint is
//     events
//     after kind numbers...                a line for each change
// with numbers that are read back to the bit.
#include "stage.h"

#include "base/error.h"
#include "base/log.h"
#include "math/vec3.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME(code, name) [code] = name,
static const char *const names[FIL_CHANGE_COUNT] = {FIL_CHANGE_TABLE(NAME)};

enum { LINE = 512 }; // bytes that a line has room in

// --- changing ------------------------------------------------------------------------------------

static FilStatus apply(FilStage *stage, const FilChange *change, FilError *error) {
    switch (change->kind) {
    case FIL_CHANGE_GRAVITY:
        return fil_world_set_gravity(stage->world, change->vector, error);
    case FIL_CHANGE_WIND:
        return fil_world_set_wind(stage->world, change->vector, error);
    case FIL_CHANGE_FRICTION:
        return fil_world_set_friction(stage->world, change->a, change->b, change->mu, error);
    case FIL_CHANGE_GRAB:
        return fil_world_set_grab(stage->world, &change->grab, error);
    case FIL_CHANGE_LET_GO:
        return fil_world_set_grab(stage->world, NULL, error);
    default:
        return fil_fail(error, FIL_E_ARGUMENT, "kind is %d; there is no such change",
                        (int)change->kind);
    }
}

static void tell(const FilStage *stage, const FilChange *change) {
    const double time = fil_world_time(stage->world);
    const FilLog *log = &stage->log;
    const double *v = change->kind == FIL_CHANGE_GRAB ? change->grab.target : change->vector;
    if (change->kind == FIL_CHANGE_FRICTION) {
        fil_log(log, FIL_LOG_INFO, "change at %g s: friction of %s and %s becomes %g", time,
                stage->scene->materials[change->a].name, stage->scene->materials[change->b].name,
                change->mu);
    } else if (change->kind == FIL_CHANGE_GRAB) {
        char turn[96] = "";
        if (change->grab.turning) {
            const double *axis = change->grab.axis;
            (void)snprintf(turn, sizeof turn, ", with n1 turned to (%g, %g, %g)", axis[0], axis[1],
                           axis[2]);
        }
        fil_log(log, FIL_LOG_INFO,
                "change at %g s: rods[%d] at %g of its length is pulled to (%g, %g, %g)%s", time,
                change->grab.rod, change->grab.part, v[0], v[1], v[2], turn);
    } else if (change->kind == FIL_CHANGE_LET_GO) {
        fil_log(log, FIL_LOG_INFO, "change at %g s: the rod is let go", time);
    } else {
        fil_log(log, FIL_LOG_INFO, "change at %g s: %s becomes (%g, %g, %g)", time,
                names[change->kind], v[0], v[1], v[2]);
    }
}

// Whether `b` makes `a` of no account.
static bool replaces(const FilChange *a, const FilChange *b) {
    const bool hand = b->kind == FIL_CHANGE_GRAB || b->kind == FIL_CHANGE_LET_GO;
    if (hand) {
        return a->kind == FIL_CHANGE_GRAB || a->kind == FIL_CHANGE_LET_GO;
    }
    if (a->kind != b->kind) {
        return false;
    }
    return a->kind != FIL_CHANGE_FRICTION || (a->a == b->a && a->b == b->b) ||
           (a->a == b->b && a->b == b->a);
}

static FilStatus reserve(FilStage *stage, FilError *error) {
    if (stage->change_count < stage->change_room) {
        return FIL_OK;
    }
    const FilAllocator *memory = &stage->allocator;
    const int room = 2 * stage->change_room + 8;
    FilStageChange *changes =
        memory->resize(memory->user, stage->changes, sizeof *changes * (size_t)stage->change_room,
                       sizeof *changes * (size_t)room);
    if (changes == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d changes", room);
    }
    stage->changes = changes;
    stage->change_room = room;
    return FIL_OK;
}

FilStatus fil_stage_change(FilStage *stage, const FilChange *change, FilError *error) {
    FIL_TRY(reserve(stage, error));
    FIL_TRY(apply(stage, change, error));
    int left = 0;
    for (int k = 0; k < stage->change_count; k++) {
        if (!replaces(&stage->changes[k].change, change)) {
            stage->changes[left++] = stage->changes[k];
        }
    }
    stage->changes[left++] = (FilStageChange){.after = stage->event_count, .change = *change};
    stage->change_count = left;
    tell(stage, change);
    return FIL_OK;
}

// --- as a text -----------------------------------------------------------------------------------

// The numbers of a change, in their order; how many.
enum { NUMBERS = 15 };
static int list_numbers(const FilChange *change, double numbers[NUMBERS]) {
    const FilGrab *grab = &change->grab;
    switch (change->kind) {
    case FIL_CHANGE_GRAVITY:
    case FIL_CHANGE_WIND:
        fil_copy3(change->vector, numbers);
        return 3;
    case FIL_CHANGE_FRICTION:
        numbers[0] = change->a;
        numbers[1] = change->b;
        numbers[2] = change->mu;
        return 3;
    case FIL_CHANGE_GRAB:
        numbers[0] = grab->rod;
        numbers[1] = grab->turning;
        numbers[2] = grab->part;
        fil_copy3(grab->target, numbers + 3);
        fil_copy3(grab->axis, numbers + 6);
        numbers[9] = grab->stiffness;
        numbers[10] = grab->damping;
        numbers[11] = grab->turn_stiffness;
        numbers[12] = grab->turn_damping;
        numbers[13] = grab->most_force;
        numbers[14] = grab->most_torque;
        return 15;
    default:
        return 0;
    }
}

static bool is_int(double value) {
    return value >= 0.0 && value < 2147483647.0 && value == (double)(int)value;
}

// The other way; false: they are none of such a change.
static bool take_numbers(const double *numbers, FilChange *change) {
    FilGrab *grab = &change->grab;
    switch (change->kind) {
    case FIL_CHANGE_GRAVITY:
    case FIL_CHANGE_WIND:
        fil_copy3(numbers, change->vector);
        return true;
    case FIL_CHANGE_FRICTION:
        if (!is_int(numbers[0]) || !is_int(numbers[1])) {
            return false;
        }
        change->a = (int)numbers[0];
        change->b = (int)numbers[1];
        change->mu = numbers[2];
        return true;
    case FIL_CHANGE_GRAB:
        if (!is_int(numbers[0])) {
            return false;
        }
        grab->rod = (int)numbers[0];
        grab->turning = numbers[1] != 0.0;
        grab->part = numbers[2];
        fil_copy3(numbers + 3, grab->target);
        fil_copy3(numbers + 6, grab->axis);
        grab->stiffness = numbers[9];
        grab->damping = numbers[10];
        grab->turn_stiffness = numbers[11];
        grab->turn_damping = numbers[12];
        grab->most_force = numbers[13];
        grab->most_torque = numbers[14];
        return true;
    default:
        return true;
    }
}

static void append(char *text, size_t room, size_t *size, const char *format, ...) FIL_PRINTF(4, 5);
static void append(char *text, size_t room, size_t *size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int more = vsnprintf(text + *size, room - *size, format, args);
    va_end(args);
    *size += more > 0 && (size_t)more < room - *size ? (size_t)more : 0;
}

const char *fil_stage_events(FilStage *stage, size_t *size) {
    const FilAllocator *memory = &stage->allocator;
    const size_t room = LINE * ((size_t)stage->change_count + 1);
    *size = 0;
    if (room > stage->text_room) {
        char *text = memory->resize(memory->user, stage->text, stage->text_room, room);
        if (text == NULL) {
            return NULL;
        }
        stage->text = text;
        stage->text_room = room;
    }
    append(stage->text, room, size, "%d", stage->event_count);
    for (int k = 0; k < stage->change_count; k++) {
        double numbers[NUMBERS];
        const FilChange *change = &stage->changes[k].change;
        const int count = list_numbers(change, numbers);
        append(stage->text, room, size, "\n%d %s", stage->changes[k].after, names[change->kind]);
        for (int i = 0; i < count; i++) {
            append(stage->text, room, size, " %.17g", numbers[i]);
        }
    }
    return stage->text;
}

static bool find_kind(const char **at, FilChangeKind *kind) {
    while (**at == ' ') {
        (*at)++;
    }
    for (int k = 0; k < FIL_CHANGE_COUNT; k++) {
        const size_t length = strlen(names[k]);
        if (strncmp(*at, names[k], length) == 0 && strchr(" \n", (*at)[length]) != NULL) {
            *at += length;
            *kind = (FilChangeKind)k;
            return true;
        }
    }
    return false;
}

// One line; `*at` is then where the next one begins. False: it is none.
static bool read_change(const char **at, FilStageChange *out) {
    char *end = NULL;
    *out = (FilStageChange){0};
    out->after = (int)strtol(*at, &end, 10);
    if (end == *at) {
        return false;
    }
    *at = end;
    if (!find_kind(at, &out->change.kind)) {
        return false;
    }
    double numbers[NUMBERS];
    const int count = list_numbers(&out->change, numbers);
    for (int k = 0; k < count; k++) {
        if (**at != ' ') {
            return false;
        }
        numbers[k] = strtod(*at, &end);
        if (end == *at) {
            return false;
        }
        *at = end;
    }
    return (**at == '\n' || **at == '\0') && take_numbers(numbers, &out->change);
}

FilStatus fil_stage_resume_events(FilStage *stage, const double *state, int64_t state_count,
                                  const char *text, FilError *error) {
    char *end = NULL;
    const int event_count = (int)strtol(text, &end, 10);
    const char *at = end != text ? end : "x";
    const FilLog log = stage->log;
    stage->log = (FilLog){.write = NULL}; // they were told when they happened
    FilStatus status = FIL_OK;
    while (status == FIL_OK && *at == '\n') {
        FilStageChange change;
        at++;
        if (!read_change(&at, &change) || change.after > event_count ||
            change.after < stage->event_count || change.after > stage->scene->event_count) {
            status = fil_fail(error, FIL_E_FORMAT, "a change in the checkpoint cannot be read");
            break;
        }
        status = fil_stage_apply_events(stage, change.after, error);
        if (status == FIL_OK) {
            status = fil_stage_change(stage, &change.change, error);
        }
    }
    stage->log = log;
    if (status == FIL_OK && *at != '\0') {
        status = fil_fail(error, FIL_E_FORMAT, "the events in the checkpoint cannot be read");
    }
    FIL_TRY(status);
    return fil_stage_resume(stage, state, state_count, event_count, error);
}
