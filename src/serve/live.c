// live.c - a world that runs now, as a source of answers.
//
// The end. Once `stop` was asked for, or the run has ended otherwise, nothing more is taken.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "live.h"

#include "base/error.h"
#include "frames.h"
#include "math/vec3.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 64 };
static const double patience = 0.025; // s: how long a request waits for the present

typedef struct Kept {
    int64_t index;
    char *bytes;
    size_t size;
} Kept;

// The hand, as the thread that steps the world knows it.
typedef struct Hand {
    bool held;
    int rod;
    double part;
    FilGrab grab;
    double side[3], along[3]; // where n1 would point if nobody turned it, and the tangent then
} Hand;

struct FilLive {
    const FilResultDef *def;
    const FilScene *scene;
    double *scratch; // [point_count] of the thread that steps
    bool has_tension, has_elastic;
    Hand hand;
    size_t memory;

    pthread_mutex_t lock; // for all that follows
    pthread_cond_t wake, fresh;
    Kept *frames; // by index
    int kept_count, kept_room;
    size_t kept_bytes;
    FilBytes times, energies, steps; // rows of numbers
    int64_t frame_count, step_count;
    FilBytes now;
    uint64_t now_number; // counts them
    bool wanted;
    FilSourceState state; // `more` is a text of its own
    FilAction queue[QUEUE];
    int queue_first, queue_count;
    bool ended;
    double asked; // of the clock
};

static double read_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// `seconds` from now, as pthread_cond_timedwait() wants it.
static struct timespec time_after(double seconds) {
    const double end = read_clock() + seconds;
    return (struct timespec){.tv_sec = (time_t)end, .tv_nsec = (long)(1e9 * (end - floor(end)))};
}

static void hold(FilLive *live) {
    (void)pthread_mutex_lock(&live->lock);
}

static void let_go(FilLive *live) {
    (void)pthread_mutex_unlock(&live->lock);
}

// --- making --------------------------------------------------------------------------------------

static bool make_locks(FilLive *live) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    // with these attributes the C library has nothing to allocate, and nothing that could fail
    const bool fine = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(&live->wake, &attributes) == 0 &&
                      pthread_cond_init(&live->fresh, &attributes) == 0 &&
                      pthread_mutex_init(&live->lock, NULL) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return fine;
}

FilStatus fil_live_create(const FilResultDef *def, const FilScene *scene, size_t memory,
                          FilLive **out, FilError *error) {
    FilLive *live = calloc(1, sizeof *live);
    double *scratch = malloc(sizeof *scratch * ((size_t)def->point_count + 1));
    if (live != NULL) {
        live->def = def;
        live->scene = scene;
        live->memory = memory > 0 ? memory : (size_t)1 << 29;
        live->asked = read_clock();
    }
    if (live == NULL || scratch == NULL || !make_locks(live)) {
        free(scratch);
        free(live);
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory");
    }
    live->scratch = scratch;
    *out = live;
    return FIL_OK;
}

void fil_live_destroy(FilLive *live) {
    if (live == NULL) {
        return;
    }
    for (int k = 0; k < live->kept_count; k++) {
        free(live->frames[k].bytes);
    }
    free(live->frames);
    free(live->scratch);
    fil_bytes_free(&live->times);
    fil_bytes_free(&live->energies);
    fil_bytes_free(&live->steps);
    fil_bytes_free(&live->now);
    fil_bytes_free(&live->state.more);
    (void)pthread_cond_destroy(&live->wake);
    (void)pthread_cond_destroy(&live->fresh);
    (void)pthread_mutex_destroy(&live->lock);
    free(live);
}

// --- what the world tells ------------------------------------------------------------------------

void fil_live_add_step(FilLive *live, const FilResultStep *step) {
    double row[FIL_STEP_NUMBERS];
    fil_source_step_row(step, row);
    hold(live);
    fil_bytes_add(&live->steps, row, sizeof row);
    live->step_count += !live->steps.failed;
    let_go(live);
}

// Drop every second frame but the first.
static void thin_out(FilLive *live) {
    int left = 0;
    live->kept_bytes = 0;
    for (int k = 0; k < live->kept_count; k++) {
        if (k % 2 == 0) {
            live->frames[left++] = live->frames[k];
            live->kept_bytes += live->frames[k].size;
        } else {
            free(live->frames[k].bytes);
        }
    }
    live->kept_count = left;
}

static void keep_frame(FilLive *live, int64_t index, FilBytes *bytes) {
    if (live->kept_count == live->kept_room) {
        const int room = 2 * live->kept_room + 64;
        Kept *frames = realloc(live->frames, sizeof *frames * (size_t)room);
        if (frames == NULL) {
            return;
        }
        live->frames = frames;
        live->kept_room = room;
    }
    while (live->kept_bytes + bytes->size > live->memory && live->kept_count > 1) {
        thin_out(live);
    }
    live->frames[live->kept_count++] = (Kept){index, bytes->data, bytes->size};
    live->kept_bytes += bytes->size;
    *bytes = (FilBytes){.data = NULL};
}

void fil_live_add_frame(FilLive *live, const FilFrame *frame) {
    FilBytes bytes = {.data = NULL};
    double row[FIL_ENERGY_NUMBERS];
    fil_frame_encode(live->def, frame, FIL_ARRAY_ALL, (uint32_t)live->frame_count, live->scratch,
                     &bytes);
    fil_source_energy_row(frame->time, &frame->energy, row);
    hold(live);
    fil_bytes_add(&live->times, &frame->time, sizeof frame->time);
    fil_bytes_add(&live->energies, row, sizeof row);
    if (!live->times.failed && !live->energies.failed) {
        if (!bytes.failed) {
            keep_frame(live, live->frame_count, &bytes);
        }
        live->frame_count++;
    }
    let_go(live);
    fil_bytes_free(&bytes);
}

bool fil_live_is_wanted(FilLive *live) {
    hold(live);
    const bool wanted = live->wanted;
    live->wanted = false;
    let_go(live);
    return wanted;
}

void fil_live_set_now(FilLive *live, const FilFrame *frame) {
    FilBytes bytes = {.data = NULL};
    fil_frame_encode(live->def, frame, FIL_ARRAY_ALL, FIL_FRAME_NOW, live->scratch, &bytes);
    live->has_tension = frame->tension != NULL;
    live->has_elastic = frame->elastic != NULL;
    hold(live);
    const FilBytes before = live->now;
    live->now = bytes;
    live->now_number++;
    (void)pthread_cond_signal(&live->fresh);
    let_go(live);
    free(before.data);
}

static void put_friction(const FilWorld *world, const FilScene *scene, FilBytes *body) {
    bool first = true;
    fil_bytes_format(body, ",\"friction\":[");
    for (int a = 0; a < scene->material_count; a++) {
        for (int b = a; b < scene->material_count; b++) {
            const double mu = fil_world_get_friction(world, a, b);
            if (mu < 0.0) {
                continue;
            }
            fil_bytes_format(body, "%s{\"a\":", first ? "" : ",");
            fil_bytes_text(body, scene->materials[a].name);
            fil_bytes_format(body, ",\"b\":");
            fil_bytes_text(body, scene->materials[b].name);
            fil_bytes_format(body, ",\"mu\":");
            fil_bytes_number(body, mu);
            fil_bytes_add(body, "}", 1);
            first = false;
        }
    }
    fil_bytes_add(body, "]", 1);
}

static void put_grab(const FilLive *live, const FilWorld *world, FilBytes *body) {
    double force[3], torque;
    const FilGrab *grab = fil_world_grab(world, force, &torque);
    fil_bytes_format(body, ",\"grab\":");
    if (grab == NULL) {
        fil_bytes_add(body, "null", 4);
        return;
    }
    fil_bytes_format(body, "{\"rod\":%d,\"s\":", grab->rod);
    fil_bytes_number(body, grab->part * live->def->rods[grab->rod].length);
    fil_bytes_format(body, ",\"target\":");
    fil_bytes_vector(body, grab->target);
    fil_bytes_format(body, ",\"force\":");
    fil_bytes_vector(body, force);
    fil_bytes_format(body, ",\"torque\":");
    fil_bytes_number(body, torque);
    fil_bytes_format(body, ",\"most_force\":");
    fil_bytes_number(body, grab->most_force);
    fil_bytes_format(body, ",\"most_torque\":");
    fil_bytes_number(body, grab->most_torque);
    fil_bytes_add(body, "}", 1);
}

static void copy_sentence(const char *sentence, char *to, size_t size) {
    (void)snprintf(to, size, "%s", sentence != NULL ? sentence : "");
}

void fil_live_publish(FilLive *live, const FilWorld *world, const FilLiveNews *news) {
    FilSourceState state = {.time = fil_world_time(world),
                            .running = news->running,
                            .finished = news->finished,
                            .until = news->until,
                            .growing = !news->ended};
    double gravity[3], wind[3];
    fil_world_get_gravity(world, gravity);
    fil_world_get_wind(world, wind);
    fil_bytes_format(&state.more, ",\"gravity\":");
    fil_bytes_vector(&state.more, gravity);
    fil_bytes_format(&state.more, ",\"wind\":");
    fil_bytes_vector(&state.more, wind);
    put_friction(world, live->scene, &state.more);
    put_grab(live, world, &state.more);
    copy_sentence(news->error, state.error, sizeof state.error);
    copy_sentence(news->note, state.note, sizeof state.note);
    hold(live);
    char *before = live->state.more.data;
    live->state = state;
    live->ended = live->ended || news->ended;
    let_go(live);
    free(before);
}

// --- what the world is asked ---------------------------------------------------------------------

bool fil_live_take(FilLive *live, double seconds, FilAction *action) {
    hold(live);
    if (live->queue_count == 0 && seconds > 0.0) {
        const struct timespec until = time_after(fmin(seconds, 3600.0));
        int timed_out = 0;
        while (live->queue_count == 0 && !live->wanted && timed_out == 0) {
            timed_out = pthread_cond_timedwait(&live->wake, &live->lock, &until);
        }
    }
    const bool there = live->queue_count > 0;
    if (there) {
        *action = live->queue[live->queue_first];
        live->queue_first = (live->queue_first + 1) % QUEUE;
        live->queue_count--;
    }
    let_go(live);
    return there;
}

double fil_live_silence(FilLive *live) {
    hold(live);
    const double silence = read_clock() - live->asked;
    let_go(live);
    return silence;
}

// Carry `side` from the section with the tangent `before` to that with `after`, by the smallest
// turn between them.
static void carry(const double before[3], const double after[3], double side[3]) {
    double axis[3], once[3], twice[3];
    const double cosine = fil_dot3(before, after);
    if (!(cosine > -0.99)) { // it has turned round: there is no smallest turn
        return;
    }
    fil_cross3(before, after, axis);
    fil_cross3(axis, side, once);
    fil_cross3(axis, once, twice);
    fil_add3(1.0, once, side);
    fil_add3(1.0 / (1.0 + cosine), twice, side);
}

static FilStatus move_hand(FilLive *live, FilWorld *world, const FilAction *action,
                           FilError *error) {
    Hand *hand = &live->hand;
    const double part = fmin(1.0, action->s / live->def->rods[action->rod].length);
    const FilRod *rod = fil_world_rod(world, action->rod);
    FilPose pose;
    fil_rod_at(rod, part * fil_rod_length(rod), &pose, NULL);
    if (!hand->held || hand->rod != action->rod || hand->part != part) {
        FIL_TRY(fil_world_grab_make(world, action->rod, part, &hand->grab, error));
        hand->held = true;
        hand->rod = action->rod;
        hand->part = part;
        fil_copy3(pose.axis[1], hand->side);
    } else {
        carry(hand->along, pose.axis[0], hand->side);
    }
    fil_copy3(pose.axis[0], hand->along);
    double across[3];
    fil_cross3(hand->along, hand->side, across);
    for (int k = 0; k < 3; k++) {
        hand->grab.axis[k] = cos(action->twist) * hand->side[k] + sin(action->twist) * across[k];
    }
    fil_copy3(action->value, hand->grab.target);
    hand->grab.turning = hand->grab.turning || action->twist != 0.0;
    return FIL_OK;
}

FilStatus fil_live_apply(FilLive *live, FilStage *stage, const FilAction *action, FilError *error) {
    FilChange change = {.kind = FIL_CHANGE_LET_GO};
    switch (action->kind) {
    case FIL_ACTION_GRAVITY:
    case FIL_ACTION_WIND:
        change.kind = action->kind == FIL_ACTION_GRAVITY ? FIL_CHANGE_GRAVITY : FIL_CHANGE_WIND;
        fil_copy3(action->value, change.vector);
        break;
    case FIL_ACTION_FRICTION:
        change.kind = FIL_CHANGE_FRICTION;
        change.a = fil_scene_find_material(live->scene, action->a);
        change.b = fil_scene_find_material(live->scene, action->b);
        change.mu = action->mu;
        break;
    case FIL_ACTION_GRAB:
        change.kind = FIL_CHANGE_GRAB;
        FIL_TRY(move_hand(live, fil_stage_world(stage), action, error));
        change.grab = live->hand.grab;
        break;
    case FIL_ACTION_RELEASE:
        live->hand.held = false;
        if (fil_world_grab(fil_stage_world(stage), NULL, NULL) == NULL) {
            return FIL_OK;
        }
        break;
    default:
        return FIL_OK;
    }
    return fil_stage_change(stage, &change, error);
}

// --- the source ----------------------------------------------------------------------------------

static void get_state(void *self, FilSourceState *state) {
    FilLive *live = self;
    hold(live);
    live->asked = read_clock();
    *state = live->state;
    state->growing = state->growing && !live->ended; // from the moment that it was asked to end
    state->more = (FilBytes){.data = NULL};
    fil_bytes_add(&state->more, live->state.more.data, live->state.more.size);
    state->more.failed = state->more.failed || live->state.more.failed;
    state->frame_count = live->frame_count;
    state->step_count = live->step_count;
    let_go(live);
}

// Rows of `numbers` from a list of them.
static void copy_rows(const FilBytes *from, int numbers, int64_t first, int64_t count, double *to) {
    const size_t size = sizeof(double) * (size_t)numbers;
    memcpy(to, from->data + (size_t)first * size, (size_t)count * size);
}

static FilStatus check_rows(int64_t first, int64_t count, int64_t there, FilError *error) {
    return first + count <= there
               ? FIL_OK
               : fil_fail(error, FIL_E_ARGUMENT, "there are only %lld rows", (long long)there);
}

static FilStatus get_times(void *self, int64_t first, int64_t count, double *times,
                           FilError *error) {
    FilLive *live = self;
    hold(live);
    const FilStatus status = check_rows(first, count, live->frame_count, error);
    if (status == FIL_OK) {
        copy_rows(&live->times, 1, first, count, times);
    }
    let_go(live);
    return status;
}

static FilStatus get_steps(void *self, int64_t first, int64_t count, double *rows,
                           FilError *error) {
    FilLive *live = self;
    hold(live);
    const FilStatus status = check_rows(first, count, live->step_count, error);
    if (status == FIL_OK) {
        copy_rows(&live->steps, FIL_STEP_NUMBERS, first, count, rows);
    }
    let_go(live);
    return status;
}

static FilStatus get_energies(void *self, int64_t first, int64_t count, double *rows,
                              FilError *error) {
    FilLive *live = self;
    hold(live);
    const FilStatus status = check_rows(first, count, live->frame_count, error);
    if (status == FIL_OK) {
        copy_rows(&live->energies, FIL_ENERGY_NUMBERS, first, count, rows);
    }
    let_go(live);
    return status;
}

static FilStatus get_frame(void *self, int64_t index, uint32_t mask, FilBytes *out,
                           FilError *error) {
    FilLive *live = self;
    FilStatus status = FIL_OK;
    hold(live);
    if (index >= live->frame_count || live->kept_count == 0) {
        status = fil_fail(error, FIL_E_ARGUMENT, "there is no frame %lld yet", (long long)index);
    } else {
        int low = 0, high = live->kept_count; // the last that is not after it
        while (high - low > 1) {
            const int middle = low + (high - low) / 2;
            *(live->frames[middle].index <= index ? &low : &high) = middle;
        }
        fil_frame_select(live->frames[low].bytes, live->frames[low].size, mask, out);
    }
    let_go(live);
    return status;
}

static FilStatus get_now(void *self, uint32_t mask, FilBytes *out, FilError *error) {
    FilLive *live = self;
    FilStatus status = FIL_OK;
    hold(live);
    live->asked = read_clock();
    live->wanted = true;
    (void)pthread_cond_signal(&live->wake);
    // a step may take long: then what was shown before is shown again
    const struct timespec until = time_after(patience);
    const uint64_t before = live->now_number;
    int timed_out = 0;
    while (live->now_number == before && timed_out == 0) {
        timed_out = pthread_cond_timedwait(&live->fresh, &live->lock, &until);
    }
    if (live->now.size == 0 || live->now.failed) {
        status = fil_fail(error, FIL_E_ARGUMENT, "the world is still being built");
    } else {
        fil_frame_select(live->now.data, live->now.size, mask, out);
    }
    let_go(live);
    return status;
}

static FilStatus check_action(const FilLive *live, const FilAction *action, FilError *error) {
    if (action->kind == FIL_ACTION_FRICTION) {
        const char *const names[2] = {action->a, action->b};
        for (int k = 0; k < 2; k++) {
            if (fil_scene_find_material(live->scene, names[k]) < 0) {
                return fil_fail(error, FIL_E_ARGUMENT, "there is no material \"%.60s\"", names[k]);
            }
        }
    }
    if (action->kind == FIL_ACTION_GRAB) {
        if (action->rod >= live->def->rod_count) {
            return fil_fail(error, FIL_E_ARGUMENT, "rod is %d; there are %d", action->rod,
                            live->def->rod_count);
        }
        const double length = live->def->rods[action->rod].length;
        if (!(action->s >= 0.0 && action->s <= (1.0 + 1e-6) * length)) {
            return fil_fail(error, FIL_E_ARGUMENT, "s is %g; the rod is %g m long", action->s,
                            length);
        }
    }
    return FIL_OK;
}

static FilStatus act(void *self, const FilAction *action, FilError *error) {
    FilLive *live = self;
    FIL_TRY(check_action(live, action, error));
    FilStatus status = FIL_OK;
    hold(live);
    live->asked = read_clock();
    const int last = (live->queue_first + live->queue_count + QUEUE - 1) % QUEUE;
    if (live->ended) {
        status = fil_fail(error, FIL_E_IO, "the run has ended; it takes no more actions");
    } else if (live->queue_count > 0 && action->kind == FIL_ACTION_GRAB &&
               live->queue[last].kind == FIL_ACTION_GRAB && live->queue[last].rod == action->rod &&
               live->queue[last].s == action->s) {
        live->queue[last] = *action; // the hand moved on before the world saw it
    } else if (live->queue_count == QUEUE) {
        status = fil_fail(error, FIL_E_IO, "64 actions are waiting already; try again");
    } else {
        live->queue[(live->queue_first + live->queue_count) % QUEUE] = *action;
        live->queue_count++;
        live->ended = action->kind == FIL_ACTION_STOP;
    }
    (void)pthread_cond_signal(&live->wake);
    let_go(live);
    return status;
}

FilSource fil_live_source(FilLive *live) {
    return (FilSource){.self = live,
                       .def = live->def,
                       .scene = live->scene,
                       .live = true,
                       .has_tension = live->has_tension,
                       .has_elastic = live->has_elastic,
                       .state = get_state,
                       .times = get_times,
                       .frame = get_frame,
                       .steps = get_steps,
                       .energies = get_energies,
                       .now = get_now,
                       .act = act};
}
