#ifndef FIL_TESTS_WORLD_BENCH_H
#define FIL_TESTS_WORLD_BENCH_H

// Small worlds for tests: a floor, rods and bodies on it.

#include <stdio.h>
#include <stdlib.h>

#include "filum/world.h"

static inline void must(FilStatus status, const FilError *error) {
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

static inline FilWorld *make_world(const FilWorldDef *def, double mu, double restitution) {
    FilError error;
    FilWorld *world = NULL;
    int material;
    must(fil_world_create(def, NULL, &world, &error), &error);
    must(fil_world_add_material(world, restitution, &material, &error), &error);
    must(fil_world_set_friction(world, material, material, mu, &error), &error);
    return world;
}

static inline int add_floor(FilWorld *world) {
    FilError error;
    int obstacle;
    FilObstacleDef def = {.shape = {.kind = FIL_SHAPE_PLANE},
                          .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    FilSurface surface = fil_surface_default();
    must(fil_world_add_obstacle(world, &def, &surface, &obstacle, &error), &error);
    return obstacle;
}

// A free rod of 1 m and 1 kg, 2 cm thick, stiff, that lies along x at the height z.
static inline FilRodDef log_def(FilRodModel model, double z) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = 8;
    def.length = 1.0;
    def.section.radius = 0.01;
    def.section.density = 1.0 / (3.14159265358979323846 * 1e-4);
    def.section.young = 1e9;
    def.root.position[2] = z;
    def.root_end.kind = FIL_END_FREE;
    return def;
}

static inline FilRod *add_rod(FilWorld *world, const FilRodDef *def, int pieces) {
    FilError error;
    int rod;
    FilSurface surface = fil_surface_default();
    surface.pieces = pieces;
    surface.self = false;
    must(fil_world_add_rod(world, def, &surface, &rod, &error), &error);
    return fil_world_rod(world, rod);
}

static inline FilRigid *add_rigid(FilWorld *world, const FilRigidDef *def) {
    FilError error;
    int rigid;
    FilSurface surface = fil_surface_default();
    must(fil_world_add_rigid(world, def, &surface, &rigid, &error), &error);
    return fil_world_rigid(world, rigid);
}

static inline FilStepInfo take_step(FilWorld *world) {
    FilError error;
    FilStepInfo info;
    must(fil_world_step(world, &info, &error), &error);
    return info;
}

#endif
