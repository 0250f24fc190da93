// Two rods fall crosswise on a floor: how many contacts stick, and what presses there?
#include <filum/filum.h>

#include <stdio.h>

static FilStatus build(FilWorld *world, FilError *error) {
    int material, made;
    FilStatus status = fil_world_add_material(world, 0.0, &material, error);
    if (status == FIL_OK) {
        status = fil_world_set_friction(world, material, material, 0.4, error);
    }
    FilSurface surface = fil_surface_default(); // of the first material
    FilObstacleDef floor = {.shape = {.kind = FIL_SHAPE_PLANE},
                            .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    if (status == FIL_OK) {
        status = fil_world_add_obstacle(world, &floor, &surface, &made, error);
    }
    for (int k = 0; k < 2 && status == FIL_OK; k++) {
        FilRodDef rod = fil_rod_def_default();
        rod.model = FIL_ROD_DER;
        rod.element_count = 20;
        rod.length = 0.3;
        rod.section.radius = 2e-3;
        rod.section.young = 1e7;
        rod.damping = 1e-3;
        rod.root_end.kind = FIL_END_FREE;
        rod.root.position[k] = -0.15; // along x, then along y above it
        rod.root.position[2] = 0.01 + 0.01 * k;
        const double along_y[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        for (int i = 0; k == 1 && i < 9; i++) {
            rod.root.axis[i / 3][i % 3] = along_y[i / 3][i % 3];
        }
        status = fil_world_add_rod(world, &rod, &surface, &made, error);
    }
    return status;
}

int main(void) {
    FilWorldDef def = fil_world_def_default(); // steps of 1 ms, exact friction
    FilWorld *world = NULL;
    FilError error;
    FilStatus status = fil_world_create(&def, NULL, &world, &error);
    if (status == FIL_OK) {
        status = build(world, &error);
    }
    FilStepInfo info = {0};
    while (status == FIL_OK && fil_world_time(world) < 0.5) {
        status = fil_world_step(world, &info, &error);
    }
    if (status != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        fil_world_destroy(world);
        return 1;
    }
    int count, sticking = 0;
    double push = 0.0;
    const FilContact *contacts = fil_world_contacts(world, &count);
    for (int i = 0; i < count; i++) {
        sticking += contacts[i].state == FIL_CONTACT_STICK;
        push += contacts[i].b.kind == FIL_BODY_OBSTACLE ? contacts[i].impulse[2] / def.step : 0.0;
    }
    (void)printf("%s, %s\n", fil_outcome_name(info.outcome),
                 sticking > 0 ? "some contacts stick" : "nothing sticks");
    (void)printf("the floor carries %.1f mN\n", 1e3 * push);
    fil_world_destroy(world);
    return 0;
}
