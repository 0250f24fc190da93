// scene_solids.c - obstacles and rigid bodies of scenes.
#include "scene_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "rod/fit.h"

// --------------------------------------------------------------------------------------- meshes

static FilStatus read_mesh(FilSceneBuild *build, const FilTable *table, const FilSolidSpec *spec,
                           const FilMesh **out) {
    for (const FilSceneMesh *known = build->holder->meshes; known != NULL; known = known->next) {
        if (strcmp(known->file, spec->file) == 0 && known->scale == spec->scale) {
            *out = known->mesh;
            return FIL_OK;
        }
    }
    FilSceneMesh *entry = FIL_NEW_ZEROED(build->arena, FilSceneMesh, 1);
    const char *path = fil_scene_path(build, spec->file);
    if (build->arena->failed) {
        return fil_scene_no_memory(build);
    }
    const FilStatus status =
        fil_mesh_read(path, spec->scale, &build->holder->allocator, &entry->mesh, build->error);
    if (status == FIL_E_NO_MEMORY) {
        return status;
    }
    if (status != FIL_OK) {
        char why[200];
        (void)snprintf(why, sizeof why, "%.199s", build->error->text);
        return fil_table_fail(&build->decoder, table, spec, offsetof(FilSolidSpec, file),
                              "cannot be used: %s", why);
    }
    entry->file = spec->file;
    entry->scale = spec->scale;
    entry->next = build->holder->meshes;
    build->holder->meshes = entry;
    build->holder->scene.estimate.triangles += fil_mesh_triangle_count(entry->mesh);
    *out = entry->mesh;
    return FIL_OK;
}

// --------------------------------------------------------------------------------------- shapes

const char *fil_scene_shape_name(FilShapeKind kind) {
    static const char *const names[] = {
#define X(code, name, text) [code] = name,
        FIL_SHAPE_TABLE(X)
#undef X
    };
    return names[kind];
}

// What each shape needs, and may have; the others would be read by nobody.
static FilStatus check_fields(const FilSceneBuild *build, const FilTable *table,
                              const FilSolidSpec *spec) {
    const struct {
        size_t offset;
        unsigned kinds; // a bit each
    } fields[] = {
        {offsetof(FilSolidSpec, radius),
         1U << FIL_SHAPE_SPHERE | 1U << FIL_SHAPE_CAPSULE | 1U << FIL_SHAPE_CYLINDER},
        {offsetof(FilSolidSpec, length), 1U << FIL_SHAPE_CAPSULE | 1U << FIL_SHAPE_CYLINDER},
        {offsetof(FilSolidSpec, size), 1U << FIL_SHAPE_BOX},
        {offsetof(FilSolidSpec, file), 1U << FIL_SHAPE_MESH},
    };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        const bool needed = (fields[k].kinds >> spec->shape & 1) != 0;
        const bool given = fil_table_given(table, spec, fields[k].offset);
        if (needed != given) {
            return fil_table_fail(&build->decoder, table, spec, fields[k].offset,
                                  needed ? "is missing; a %s needs it" : "is not used by a %s",
                                  fil_scene_shape_name((FilShapeKind)spec->shape));
        }
    }
    return FIL_OK;
}

static FilStatus build_shape(FilSceneBuild *build, const FilTable *table, const FilSolidSpec *spec,
                             FilShape *shape, FilPose *pose) {
    FIL_TRY(check_fields(build, table, spec));
    *shape = (FilShape){
        .kind = (FilShapeKind)spec->shape, .radius = spec->radius, .length = spec->length};
    fil_copy3(spec->size, shape->size);
    fil_copy3(spec->at, pose->position);
    fil_scene_turned_axes(spec->turn, pose->axis);
    return spec->file != NULL ? read_mesh(build, table, spec, &shape->mesh) : FIL_OK;
}

FilStatus fil_scene_build_obstacles(FilSceneBuild *build) {
    FilScene *scene = &build->holder->scene;
    for (int k = 0; k < build->spec.obstacles.count; k++) {
        const FilSolidSpec *spec = &build->spec.obstacles.items[k];
        FilSceneObstacle *out = &build->obstacles[k];
        out->name = spec->name;
        out->origin = fil_scene_origin(&spec->head);
        FIL_TRY(build_shape(build, &fil_spec_obstacle, spec, &out->shape, &out->pose));
        FIL_TRY(fil_scene_material(build, &fil_spec_obstacle, spec,
                                   offsetof(FilSolidSpec, material), spec->material,
                                   &out->material));
        FIL_TRY(fil_scene_motion(build, &spec->motion, &fil_spec_obstacle, spec,
                                 offsetof(FilSolidSpec, follows), spec->at, &out->motion));
        scene->obstacle_count++; // the next one may follow it
    }
    return FIL_OK;
}

static FilStatus add_rail(FilSceneBuild *build, const FilRailSpec *spec) {
    static const double up[3] = {0.0, 0.0, 1.0};
    FilScene *scene = &build->holder->scene;
    int material;
    FIL_TRY(fil_scene_material(build, &fil_spec_rail, spec, offsetof(FilRailSpec, material),
                               spec->material, &material));
    if (spec->points.count < 2) {
        return fil_table_fail(&build->decoder, &fil_spec_rail, spec, offsetof(FilRailSpec, points),
                              "has %d entries; a rail needs at least 2", spec->points.count);
    }
    for (int k = 1; k < spec->points.count; k++) {
        const double *from = spec->points.items[k - 1], *to = spec->points.items[k];
        double edge[3];
        fil_subtract3(to, from, edge);
        const double length = fil_norm3(edge);
        if (!(length > 1e-9 * spec->radius && isfinite(length))) {
            return fil_table_fail(&build->decoder, &fil_spec_rail, spec,
                                  offsetof(FilRailSpec, points),
                                  "has the same place twice, as entries %d and %d", k - 1, k);
        }
        FilSceneObstacle *out = &build->obstacles[scene->obstacle_count];
        *out = (FilSceneObstacle){
            .name = fil_scene_item_name(build, spec->name, k - 1),
            .origin = fil_scene_origin(&spec->head),
            .shape = {.kind = FIL_SHAPE_CAPSULE, .radius = spec->radius, .length = length},
            .material = material};
        fil_axes_along(edge, up, out->pose.axis);
        fil_copy3(from, out->pose.position);
        fil_add3(0.5, edge, out->pose.position);
        scene->obstacle_count++;
    }
    return FIL_OK;
}

FilStatus fil_scene_build_rails(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.rails.count; k++) {
        FIL_TRY(add_rail(build, &build->spec.rails.items[k]));
    }
    return FIL_OK;
}

FilStatus fil_scene_body(FilSceneBuild *build, const FilSolidSpec *spec, FilSceneBody *out) {
    const FilTable *table = &fil_spec_body;
    if (spec->shape == FIL_SHAPE_PLANE) {
        return fil_table_fail(&build->decoder, table, spec, offsetof(FilSolidSpec, shape),
                              "is a plane, which has no mass; it can be an obstacle only");
    }
    out->name = spec->name;
    out->origin = fil_scene_origin(&spec->head);
    FIL_TRY(build_shape(build, table, spec, &out->shape, &out->pose));
    FIL_TRY(fil_scene_material(build, table, spec, offsetof(FilSolidSpec, material), spec->material,
                               &out->material));
    const bool mass = GIVEN(body, spec, FilSolidSpec, mass);
    const bool density = GIVEN(body, spec, FilSolidSpec, density);
    if (mass && density) {
        return fil_table_fail(&build->decoder, table, spec, offsetof(FilSolidSpec, mass),
                              "is given beside a density; it must be one of them");
    }
    out->mass = mass ? spec->mass : 0.0;
    out->density = density ? spec->density : build->materials[out->material].density;
    fil_copy3(spec->velocity, out->velocity);
    fil_copy3(spec->spin, out->spin);
    fil_copy3(spec->force, out->force);
    fil_copy3(spec->force_rate, out->force_rate);
    fil_copy3(spec->torque, out->torque);
    return FIL_OK;
}

FilStatus fil_scene_build_bodies(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.bodies.count; k++) {
        FIL_TRY(fil_scene_body(build, &build->spec.bodies.items[k], &build->bodies[k]));
        build->holder->scene.body_count++;
    }
    return FIL_OK;
}
