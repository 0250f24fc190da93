// scene_links.c - what ties the things of a scene together: materials, friction, joints, events.
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

// ------------------------------------------------------------------------------------- materials

FilStatus fil_scene_build_materials(FilSceneBuild *build) {
    const FilSceneSpec *spec = &build->spec;
    FilScene *scene = &build->holder->scene;
    const int count = spec->materials.count > 0 ? spec->materials.count : 1;
    build->materials = FIL_NEW_ZEROED(build->arena, FilMaterial, count);
    if (build->materials == NULL) {
        return fil_scene_no_memory(build);
    }
    if (spec->materials.count == 0) { // the one that a scene without materials has
        const FilSection hair = fil_rod_def_default().section;
        build->materials[0] = (FilMaterial){.name = "default",
                                            .young = hair.young,
                                            .poisson = hair.poisson,
                                            .density = hair.density};
    }
    for (int k = 0; k < spec->materials.count; k++) {
        const FilMaterialSpec *from = &spec->materials.items[k];
        build->materials[k] = (FilMaterial){.name = from->head.json->key,
                                            .young = from->young,
                                            .poisson = from->poisson,
                                            .density = from->density,
                                            .restitution = from->restitution};
    }
    scene->materials = build->materials;
    scene->material_count = count;
    return FIL_OK;
}

static FilStatus fail_material(const FilSceneBuild *build, const FilTable *table,
                               const void *record, size_t offset, const char *name) {
    const char *near = fil_nearest_name(name, &build->materials->name, sizeof *build->materials,
                                        build->holder->scene.material_count);
    return fil_table_fail(&build->decoder, table, record, offset,
                          "is \"%.40s\"; there is no such material%s%.40s%s", name,
                          near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                          near != NULL ? "?" : "");
}

FilStatus fil_scene_material(FilSceneBuild *build, const FilTable *table, const void *record,
                             size_t offset, const char *name, int *out) {
    const FilScene *scene = &build->holder->scene;
    *out = 0;
    if (name == NULL) {
        if (scene->material_count == 1) {
            return FIL_OK;
        }
        return fil_table_fail(&build->decoder, table, record, offset,
                              "is missing; there are %d materials to choose from: %.40s, %.40s%s",
                              scene->material_count, scene->materials[0].name,
                              scene->materials[1].name, scene->material_count > 2 ? ", ..." : "");
    }
    *out = fil_scene_find_material(scene, name);
    return *out >= 0 ? FIL_OK : fail_material(build, table, record, offset, name);
}

// -------------------------------------------------------------------------------------- friction

static FilStatus fill_friction(FilSceneBuild *build, double *mu) {
    const FilSceneSpec *spec = &build->spec;
    const int n = build->holder->scene.material_count;
    const bool standard = GIVEN(scene, spec, FilSceneSpec, friction_default);
    for (int k = 0; k < n * n; k++) {
        mu[k] = standard ? spec->friction_default : -1.0;
    }
    const FilArenaMark mark = fil_arena_mark(build->arena);
    bool *listed = FIL_NEW_ZEROED(build->arena, bool, (size_t)n *(size_t)n);
    if (listed == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < spec->friction.count; k++) {
        const FilPairSpec *pair = &spec->friction.items[k];
        int side[2];
        for (int s = 0; s < 2; s++) {
            side[s] = fil_scene_find_material(&build->holder->scene, pair->between[s]);
            if (side[s] < 0) {
                return fail_material(build, &fil_spec_pair, pair, offsetof(FilPairSpec, between),
                                     pair->between[s]);
            }
        }
        const size_t a = (size_t)side[0] * (size_t)n + (size_t)side[1];
        const size_t b = (size_t)side[1] * (size_t)n + (size_t)side[0];
        if (listed[a]) {
            return fil_table_fail(&build->decoder, &fil_spec_pair, pair,
                                  offsetof(FilPairSpec, between),
                                  "names a pair that is listed already: %.40s and %.40s",
                                  pair->between[0], pair->between[1]);
        }
        mu[a] = mu[b] = pair->mu;
        listed[a] = listed[b] = true;
    }
    fil_arena_release(build->arena, mark);
    return FIL_OK;
}

static FilStatus fail_pair(const FilSceneBuild *build, int a, int b) {
    const FilMaterial *materials = build->materials;
    return fil_table_fail(&build->decoder, &fil_spec_scene, &build->spec,
                          offsetof(FilSceneSpec, friction),
                          "says nothing of %.40s and %.40s, which may touch; list them or give "
                          "friction_default",
                          materials[a].name, materials[b].name);
}

// Pairs that may touch: what moves with what moves, once there are two of them, and with obstacles.
static FilStatus check_pairs(const FilSceneBuild *build, const double *mu, int *moving,
                             int *resting) {
    const FilScene *scene = &build->holder->scene;
    const int n = scene->material_count;
    for (int k = 0; k < scene->rod_count; k++) {
        moving[scene->rods[k].material]++;
    }
    for (int k = 0; k < scene->body_count; k++) {
        moving[scene->bodies[k].material]++;
    }
    for (int k = 0; k < scene->obstacle_count; k++) {
        resting[scene->obstacles[k].material]++;
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n && moving[a] > 0; b++) {
            const bool touch = resting[b] > 0 || (a == b ? moving[a] > 1 : moving[b] > 0);
            if (touch && mu[(ptrdiff_t)a * n + b] < 0.0) {
                return fail_pair(build, a, b);
            }
        }
    }
    return FIL_OK;
}

FilStatus fil_scene_build_friction(FilSceneBuild *build) {
    const size_t n = (size_t)build->holder->scene.material_count;
    double *mu = FIL_NEW(build->arena, double, n *n);
    if (mu == NULL) {
        return fil_scene_no_memory(build);
    }
    FIL_TRY(fill_friction(build, mu));
    build->holder->scene.friction = mu;
    return FIL_OK;
}

FilStatus fil_scene_check_friction(FilSceneBuild *build) {
    const size_t n = (size_t)build->holder->scene.material_count;
    int *counts = FIL_NEW_ZEROED(build->arena, int, 2 * n);
    if (counts == NULL) {
        return fil_scene_no_memory(build);
    }
    return check_pairs(build, build->holder->scene.friction, counts, counts + n);
}

// ---------------------------------------------------------------------------------------- joints

static FilStatus find_rod(const FilSceneBuild *build, const FilTable *table, const void *record,
                          size_t offset, const char *name, int *out) {
    const FilScene *scene = &build->holder->scene;
    *out = fil_scene_find_rod(scene, name);
    if (*out >= 0) {
        return FIL_OK;
    }
    const char *near = scene->rod_count > 0
                           ? fil_nearest_name(name, &build->rods->name, sizeof *build->rods,
                                              scene->rod_count > 1000 ? 1000 : scene->rod_count)
                           : NULL;
    const bool hint = near != NULL && near[0] != '\0';
    return fil_table_fail(&build->decoder, table, record, offset,
                          "is \"%.40s\"; there is no rod of that name%s%.40s%s", name,
                          hint ? "; did you mean " : "", hint ? near : "", hint ? "?" : "");
}

static FilStatus build_place(FilSceneBuild *build, const FilPlaceSpec *spec, FilScenePlace *out) {
    const FilScene *scene = &build->holder->scene;
    *out = (FilScenePlace){.rod = -1, .body = -1};
    fil_copy3(spec->at, out->at);
    if (spec->rod != NULL && spec->body != NULL) {
        return fil_table_fail(&build->decoder, &fil_spec_place, spec, offsetof(FilPlaceSpec, body),
                              "is given beside a rod; a place is on one of them");
    }
    if (spec->motion.head.json != NULL) {
        if (spec->rod != NULL || spec->body != NULL) {
            return fil_table_fail(&build->decoder, &fil_spec_place, spec,
                                  offsetof(FilPlaceSpec, motion),
                                  "is that of a place in the world, not on a rod or a body");
        }
        FIL_TRY(fil_scene_make_motion(build, &spec->motion, spec->at, &out->motion));
    }
    if (spec->body != NULL) {
        out->body = fil_scene_find_body(scene, spec->body);
        if (out->body < 0) {
            return fil_table_fail(&build->decoder, &fil_spec_place, spec,
                                  offsetof(FilPlaceSpec, body),
                                  "is \"%.40s\"; there is no body of that name", spec->body);
        }
    }
    if (spec->rod != NULL) {
        FIL_TRY(find_rod(build, &fil_spec_place, spec, offsetof(FilPlaceSpec, rod), spec->rod,
                         &out->rod));
        const double length = scene->rods[out->rod].def.length;
        const bool given = GIVEN(place, spec, FilPlaceSpec, s);
        out->s = given ? spec->s : spec->end == FIL_PLACE_TIP ? length : 0.0;
        if (out->s > length) {
            return fil_table_fail(&build->decoder, &fil_spec_place, spec, offsetof(FilPlaceSpec, s),
                                  "is %g m; the rod is only %g m long", spec->s, length);
        }
    }
    return FIL_OK;
}

// A joint of a place with itself holds nothing, and its equations have no one solution.
static FilStatus check_apart(const FilSceneBuild *build, const FilJointSpec *spec,
                             const FilScenePlace *a, const FilScenePlace *b) {
    if (a->body >= 0 && a->body == b->body) {
        return fil_table_fail(
            &build->decoder, &fil_spec_joint, spec, offsetof(FilJointSpec, b),
            "is on the body \"%.40s\", as a is; a joint holds two things together", spec->b.body);
    }
    const double length = a->rod >= 0 ? build->holder->scene.rods[a->rod].def.length : 0.0;
    if (a->rod >= 0 && a->rod == b->rod && fabs(a->s - b->s) <= 1e-9 * length) {
        return fil_table_fail(&build->decoder, &fil_spec_joint, spec, offsetof(FilJointSpec, b),
                              "is the same place of the rod \"%.40s\" as a, %g m along it; a joint "
                              "holds two places together",
                              spec->b.rod, b->s);
    }
    return FIL_OK;
}

FilStatus fil_scene_build_joints(FilSceneBuild *build) {
    FilScene *scene = &build->holder->scene;
    const int count = build->spec.joints.count;
    FilSceneJoint *joints = FIL_NEW_ZEROED(build->arena, FilSceneJoint, count + 1);
    if (joints == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < count; k++) {
        const FilJointSpec *spec = &build->spec.joints.items[k];
        joints[k].kind = (FilJointKind)spec->kind;
        joints[k].origin = fil_scene_origin(&spec->head);
        FIL_TRY(build_place(build, &spec->a, &joints[k].a));
        FIL_TRY(build_place(build, &spec->b, &joints[k].b));
        const FilScenePlace *a = &joints[k].a, *b = &joints[k].b;
        if (a->rod < 0 && a->body < 0 && b->rod < 0 && b->body < 0) {
            return fil_table_fail(&build->decoder, &fil_spec_joint, spec, offsetof(FilJointSpec, a),
                                  "and b are both in the world; a joint holds a rod or a body");
        }
        FIL_TRY(check_apart(build, spec, a, b));
    }
    scene->joints = joints;
    scene->joint_count = count;
    return FIL_OK;
}

// ---------------------------------------------------------------------------------------- events

static FilStatus build_event(const FilSceneBuild *build, const FilEventSpec *spec,
                             FilSceneEvent *out) {
    const struct {
        FilEventKind kind;
        bool given;
        const double *vector;
    } kinds[] = {
        {FIL_EVENT_GRAVITY, GIVEN(event, spec, FilEventSpec, gravity), spec->gravity},
        {FIL_EVENT_WIND, GIVEN(event, spec, FilEventSpec, wind), spec->wind},
        {spec->release == FIL_PLACE_ROOT ? FIL_EVENT_RELEASE_ROOT : FIL_EVENT_RELEASE_TIP,
         GIVEN(event, spec, FilEventSpec, release), NULL},
        {FIL_EVENT_UNJOIN, GIVEN(event, spec, FilEventSpec, unjoin), NULL},
        {FIL_EVENT_FORCE, GIVEN(event, spec, FilEventSpec, force), spec->force},
        {FIL_EVENT_TORQUE, GIVEN(event, spec, FilEventSpec, torque), spec->torque},
        {FIL_EVENT_LENGTH, GIVEN(event, spec, FilEventSpec, length), NULL},
    };
    int found = 0;
    *out = (FilSceneEvent){.origin = fil_scene_origin(&spec->head),
                           .time = spec->time,
                           .rod = -1,
                           .value = spec->length};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].given) {
            found++;
            out->kind = kinds[k].kind;
            if (kinds[k].vector != NULL) {
                fil_copy3(kinds[k].vector, out->vector);
            }
        }
    }
    if (found != 1) {
        return fil_json_fail(build->decoder.document, spec->head.json, build->error,
                             "changes %d things; it must be one of gravity, wind, release, unjoin, "
                             "force, torque and length",
                             found);
    }
    if (out->kind == FIL_EVENT_UNJOIN) {
        out->value = spec->unjoin;
        if (spec->unjoin >= build->spec.joints.count) {
            return fil_table_fail(&build->decoder, &fil_spec_event, spec,
                                  offsetof(FilEventSpec, unjoin), "is %d; the scene has %d joints",
                                  spec->unjoin, build->spec.joints.count);
        }
    }
    if (spec->rod != NULL) {
        FIL_TRY(find_rod(build, &fil_spec_event, spec, offsetof(FilEventSpec, rod), spec->rod,
                         &out->rod));
    }
    return FIL_OK;
}

FilStatus fil_scene_build_events(FilSceneBuild *build) {
    FilScene *scene = &build->holder->scene;
    const int count = build->spec.events.count;
    FilSceneEvent *events = FIL_NEW_ZEROED(build->arena, FilSceneEvent, count + 1);
    if (events == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < count; k++) {
        FIL_TRY(build_event(build, &build->spec.events.items[k], &events[k]));
        if (k > 0 && events[k].time < events[k - 1].time) {
            return fil_table_fail(&build->decoder, &fil_spec_event, &build->spec.events.items[k],
                                  offsetof(FilEventSpec, time),
                                  "is %g s, before the event above it; events are listed by time",
                                  events[k].time);
        }
    }
    scene->events = events;
    scene->event_count = count;
    return FIL_OK;
}
