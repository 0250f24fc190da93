// stage_events.c - what a scene changes between steps.
//
// Events come in the order of their times; one is due when the step that begins at its time, to a
// millionth of a step, begins. The force and the torque that events put on the tip of a rod add to
// its loads in the scene.
#include "stage.h"

#include "base/error.h"
#include "base/log.h"
#include "math/vec3.h"
#include "rod/rod.h"

#include <stdio.h>
#include <string.h>

#define NAME(code, name, text) [code] = name,
static const char *const names[FIL_EVENT_COUNT] = {FIL_EVENT_TABLE(NAME)};

static bool is_release(FilEventKind kind) {
    return kind == FIL_EVENT_RELEASE_ROOT || kind == FIL_EVENT_RELEASE_TIP;
}

// Whether it is about a rod, or all of them.
static bool is_of_rods(FilEventKind kind) {
    return kind != FIL_EVENT_GRAVITY && kind != FIL_EVENT_WIND && kind != FIL_EVENT_UNJOIN;
}

int fil_stage_due_events(const FilStage *stage) {
    const double now = fil_world_time(stage->world) + 1e-6 * stage->scene->step;
    int count = stage->event_count;
    while (count < stage->scene->event_count && stage->scene->events[count].time <= now) {
        count++;
    }
    return count;
}

// The loads of a rod: those of the scene, where they are on the rod, and what events put on its
// tip. They are known by parts of the length: what is applied again before a run goes on, when the
// rod is as long as it was at the start, gives the same bits.
static FilStatus set_loads(FilStage *stage, int index, FilError *error) {
    const FilRodDef *def = &stage->scene->rods[index].def;
    const FilStageRod *rod = &stage->rods[index];
    FilRod *of = fil_world_rod(stage->world, index);
    int count = 0;
    for (; count < def->load_count; count++) {
        stage->loads[count] = def->loads[count];
        stage->loads[count].s /= rod->length;
    }
    if (fil_norm3(rod->force) > 0.0 || fil_norm3(rod->torque) > 0.0) {
        FilRodLoad *tip = &stage->loads[count++];
        *tip = (FilRodLoad){.s = 1.0};
        fil_copy3(rod->force, tip->force);
        fil_copy3(rod->torque, tip->torque);
    }
    return fil_rod_set_load_parts(of, stage->loads, count, error);
}

static FilStatus change_rod(FilStage *stage, const FilSceneEvent *event, int index,
                            FilError *error) {
    FilStageRod *rod = &stage->rods[index];
    if (is_release(event->kind)) {
        const bool tip = event->kind == FIL_EVENT_RELEASE_TIP;
        return fil_world_release(stage->world, index, tip, error);
    }
    if (event->kind == FIL_EVENT_FORCE) {
        fil_copy3(event->vector, rod->force);
    } else if (event->kind == FIL_EVENT_TORQUE) {
        fil_copy3(event->vector, rod->torque);
    } else {
        return fil_rod_set_length(fil_world_rod(stage->world, index), event->value, error);
    }
    return set_loads(stage, index, error);
}

// Which of the rods an event could not change; where the event is comes before it.
static FilStatus blame_rod(FilError *error, FilStatus status, int index, const char *name) {
    if (status == FIL_E_NO_MEMORY || error == NULL) {
        return status;
    }
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    const bool named = name[0] != '\0';
    return fil_fail(error, status, "rods[%d]%s%.40s%s: %s", index, named ? " (" : "", name,
                    named ? ")" : "", text);
}

static FilStatus apply(FilStage *stage, const FilSceneEvent *event, FilError *error) {
    if (event->kind == FIL_EVENT_GRAVITY) {
        return fil_world_set_gravity(stage->world, event->vector, error);
    }
    if (event->kind == FIL_EVENT_WIND) {
        return fil_world_set_wind(stage->world, event->vector, error);
    }
    if (event->kind == FIL_EVENT_UNJOIN) {
        return fil_world_remove_joint(stage->world, (int)event->value, error);
    }
    const int first = event->rod >= 0 ? event->rod : 0;
    const int last = event->rod >= 0 ? event->rod + 1 : stage->scene->rod_count;
    for (int k = first; k < last; k++) {
        FilStatus status = change_rod(stage, event, k, error);
        if (status != FIL_OK) {
            return blame_rod(error, status, k, stage->scene->rods[k].name);
        }
    }
    return FIL_OK;
}

static void tell(const FilStage *stage, const FilSceneEvent *event) {
    char of[80] = "", becomes[100];
    if (event->rod >= 0) {
        (void)snprintf(of, sizeof of, " of rods[%d] %.40s", event->rod,
                       stage->scene->rods[event->rod].name);
    } else if (is_of_rods(event->kind)) {
        (void)snprintf(of, sizeof of, " of all rods");
    }
    if (is_release(event->kind)) {
        (void)snprintf(becomes, sizeof becomes, " is done");
    } else if (event->kind == FIL_EVENT_UNJOIN) {
        (void)snprintf(becomes, sizeof becomes, " of joints[%d] is done", (int)event->value);
    } else if (event->kind == FIL_EVENT_LENGTH) {
        (void)snprintf(becomes, sizeof becomes, " becomes %g", event->value);
    } else {
        (void)snprintf(becomes, sizeof becomes, " becomes (%g, %g, %g)", event->vector[0],
                       event->vector[1], event->vector[2]);
    }
    fil_log(&stage->log, FIL_LOG_INFO, "event at %g s: %s%s%s", event->time, names[event->kind], of,
            becomes);
}

FilStatus fil_stage_apply_events(FilStage *stage, int count, FilError *error) {
    while (stage->event_count < count) {
        const FilSceneEvent *event = &stage->scene->events[stage->event_count];
        FilStatus status = apply(stage, event, error);
        if (status != FIL_OK) {
            char name[60];
            (void)snprintf(name, sizeof name, "%s at %g s", names[event->kind], event->time);
            return fil_stage_blame(stage, error, status,
                                   &(FilBlamed){"events", stage->event_count, name, event->origin});
        }
        tell(stage, event);
        stage->event_count++;
    }
    return FIL_OK;
}
