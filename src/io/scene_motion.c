// scene_motion.c - motions of scenes.
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

static FilStatus copy_keys(FilSceneBuild *build, const FilMotionSpec *spec, FilMotion *motion) {
    FilMotionKey *keys = FIL_NEW(build->arena, FilMotionKey, spec->keys.count + 1);
    if (keys == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < spec->keys.count; k++) {
        const FilKeySpec *from = &spec->keys.items[k];
        keys[k].time = from->time;
        fil_copy3(from->at, keys[k].at);
        fil_copy3(from->turn, keys[k].turn);
        if (k > 0 && !(keys[k].time > keys[k - 1].time)) {
            return fil_table_fail(&build->decoder, &fil_spec_key, from, offsetof(FilKeySpec, time),
                                  "is %g s; it must be later than the key before, %g s", from->time,
                                  keys[k - 1].time);
        }
    }
    motion->keys = keys;
    motion->key_count = spec->keys.count;
    return FIL_OK;
}

FilStatus fil_scene_make_motion(FilSceneBuild *build, const FilMotionSpec *spec,
                                const double place[3], const FilMotion **out) {
    FilMotion *motion = FIL_NEW(build->arena, FilMotion, 1);
    if (motion == NULL) {
        return fil_scene_no_memory(build);
    }
    *motion = fil_motion_default();
    fil_copy3(GIVEN(motion, spec, FilMotionSpec, pivot) ? spec->pivot : place, motion->pivot);
    motion->between = (FilMotionBetween)spec->between;
    if (spec->swing.head.json != NULL) {
        fil_copy3(spec->swing.at, motion->swing_at);
        fil_copy3(spec->swing.turn, motion->swing_turn);
        motion->swing_period = spec->swing.period;
        motion->swing_phase = spec->swing.phase;
    }
    fil_copy3(spec->velocity, motion->velocity);
    fil_copy3(spec->spin, motion->spin);
    motion->from = spec->from;
    motion->until = GIVEN(motion, spec, FilMotionSpec, until) ? spec->until : (double)INFINITY;
    if (!(motion->until >= motion->from)) {
        return fil_table_fail(
            &build->decoder, &fil_spec_motion, spec, offsetof(FilMotionSpec, until),
            "is %g s; it must not be before `from`, %g s", spec->until, spec->from);
    }
    FIL_TRY(copy_keys(build, spec, motion));
    *out = motion;
    return FIL_OK;
}

FilStatus fil_scene_motion(FilSceneBuild *build, const FilMotionSpec *spec, const FilTable *table,
                           const void *record, size_t offset, const double place[3],
                           const FilMotion **out) {
    const FilScene *scene = &build->holder->scene;
    const char *follows = NULL;
    memcpy(&follows, (const char *)record + offset, sizeof follows);
    *out = NULL;
    if (follows == NULL) {
        return spec->head.json != NULL ? fil_scene_make_motion(build, spec, place, out) : FIL_OK;
    }
    if (spec->head.json != NULL) {
        return fil_table_fail(&build->decoder, table, record, offset,
                              "is given beside a motion; it must be one of them");
    }
    const int leader = fil_scene_find_obstacle(scene, follows);
    if (leader < 0) {
        return fil_table_fail(&build->decoder, table, record, offset,
                              "is \"%.40s\"; there is no obstacle of that name%s", follows,
                              table == &fil_spec_obstacle ? " above this one" : "");
    }
    *out = scene->obstacles[leader].motion;
    return FIL_OK;
}
