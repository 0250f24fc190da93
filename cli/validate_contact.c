// validate_contact.c - the worlds that the cases of the group `contact` are made of.
#include "validate_contact.h"

#include <math.h>
#include <string.h>

#include "templates.h"

#define PI 3.14159265358979323846

static const double upright[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const double turned[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};

Trial trial_begin(Validation *v, const char *name, const char *model, int resolution) {
    return (Trial){.v = v, .name = name, .model = model, .resolution = resolution};
}

void trial_end(Trial *t) {
    if (t->stage != NULL) {
        fil_stage_destroy(t->stage);
    } else {
        fil_world_destroy(t->world);
    }
    fil_scene_destroy(t->scene);
    t->world = NULL;
    t->stage = NULL;
    t->scene = NULL;
    if (t->status != FIL_OK) {
        validate_fail(t->v, t->name, t->model, t->resolution, &t->error);
    }
}

bool trial_holds(const Trial *t) {
    return t->status == FIL_OK && !t->v->stopped();
}

// --- worlds --------------------------------------------------------------------------------------

FilWorldDef trial_world_def(double step) {
    FilWorldDef def = fil_world_def_default();
    def.step = step;
    def.solver.tolerance = 1e-10;
    def.solver.thread_count = 1;
    return def;
}

void trial_world(Trial *t, const FilWorldDef *def, double mu, double restitution) {
    int material;
    t->status = fil_world_create(def, NULL, &t->world, &t->error);
    if (t->status == FIL_OK) {
        t->status = fil_world_add_material(t->world, restitution, &material, &t->error);
    }
    if (t->status == FIL_OK) {
        t->status = fil_world_set_friction(t->world, material, material, mu, &t->error);
    }
}

void trial_scene(Trial *t, const char *text, const char *const *changes, int change_count) {
    const FilSceneOptions options = {.changes = changes, .change_count = change_count};
    const char *name = t->name;
    size_t size = strlen(text);
    const CliTemplate *carried = cli_template_find(text);
    if (carried != NULL) {
        name = carried->name;
        size = carried->size;
        text = carried->text;
    }
    t->status = fil_scene_read_text(name, text, size, &options, NULL, &t->scene, &t->error);
    if (t->status == FIL_OK) {
        t->status = fil_stage_create(t->scene, 1, NULL, NULL, &t->stage, &t->error);
    }
    if (t->status == FIL_OK) {
        t->world = fil_stage_world(t->stage);
    }
}

static void add_obstacle(Trial *t, const FilObstacleDef *def) {
    int index;
    FilSurface surface = fil_surface_default();
    if (t->status == FIL_OK) {
        t->status = fil_world_add_obstacle(t->world, def, &surface, &index, &t->error);
    }
}

void trial_floor(Trial *t) {
    FilObstacleDef def = {.shape = {.kind = FIL_SHAPE_PLANE}};
    memcpy(def.pose.axis, upright, sizeof upright);
    add_obstacle(t, &def);
}

void trial_cylinder(Trial *t, const double centre[3], const double axis[3], double radius) {
    FilObstacleDef def = {
        .shape = {.kind = FIL_SHAPE_CYLINDER, .radius = radius, .length = 100.0 * radius}};
    memcpy(def.pose.position, centre, 3 * sizeof(double));
    for (int k = 0; k < 3; k++) { // the axes turned round: axis is one of them
        def.pose.axis[0][k] = axis[k];
        def.pose.axis[1][k] = axis[(k + 2) % 3];
        def.pose.axis[2][k] = axis[(k + 1) % 3];
    }
    add_obstacle(t, &def);
}

FilRod *trial_rod(Trial *t, const FilRodDef *def, int pieces, bool self) {
    int index;
    FilSurface surface = fil_surface_default();
    surface.pieces = pieces;
    surface.self = self;
    if (t->status == FIL_OK) {
        t->status = fil_world_add_rod(t->world, def, &surface, &index, &t->error);
    }
    return t->status == FIL_OK ? fil_world_rod(t->world, index) : NULL;
}

FilRigid *trial_rigid(Trial *t, const FilRigidDef *def) {
    int index;
    FilSurface surface = fil_surface_default();
    if (t->status == FIL_OK) {
        t->status = fil_world_add_rigid(t->world, def, &surface, &index, &t->error);
    }
    return t->status == FIL_OK ? fil_world_rigid(t->world, index) : NULL;
}

void trial_tilt(Trial *t, double angle) {
    const double gravity[3] = {TRIAL_G * sin(angle), 0.0, -TRIAL_G * cos(angle)};
    if (t->status == FIL_OK) {
        t->status = fil_world_set_gravity(t->world, gravity, &t->error);
    }
}

void trial_loads(Trial *t, FilRod *rod, const FilRodLoad *loads, int count) {
    if (t->status == FIL_OK) {
        t->status = fil_rod_set_loads(rod, loads, count, &t->error);
    }
}

void trial_push(Trial *t, FilRod *rod, double force) {
    enum { COUNT = 17 };
    FilRodLoad loads[COUNT];
    for (int i = 0; i < COUNT; i++) {
        double part = (i == 0 || i == COUNT - 1 ? 0.5 : 1.0) / (COUNT - 1);
        loads[i] =
            (FilRodLoad){.s = (double)i / (COUNT - 1), .force = {part * force, 0.0, 0.0}}; // of 1 m
    }
    trial_loads(t, rod, loads, COUNT);
}

bool trial_step(Trial *t) {
    if (!trial_holds(t)) {
        return false;
    }
    t->status = t->stage != NULL ? fil_stage_step(t->stage, &t->info, &t->error)
                                 : fil_world_step(t->world, &t->info, &t->error);
    if (t->status != FIL_OK) {
        return false;
    }
    t->unconverged += t->info.outcome != FIL_CONVERGED;
    t->missed += t->info.missed_count;
    t->penetration = fmax(t->penetration, t->info.penetration);
    return true;
}

bool trial_run(Trial *t, int steps) {
    bool more = trial_holds(t);
    for (int k = 0; k < steps && more; k++) {
        more = trial_step(t);
    }
    return more;
}

// --- bodies --------------------------------------------------------------------------------------

FilRodDef trial_log(FilRodModel model, double z, bool along_y) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = 8;
    def.length = 1.0;
    def.section.radius = 0.01;
    def.section.density = 1.0 / (PI * 1e-4);
    def.section.young = 1e9;
    def.root.position[2] = z;
    memcpy(def.root.axis, along_y ? turned : upright, sizeof upright);
    def.root_end.kind = FIL_END_FREE;
    return def;
}

FilRigidDef trial_cube(double size, double x, double z) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {size, size, size}};
    def.pose.position[0] = x;
    def.pose.position[2] = z;
    return def;
}

FilRigidDef trial_roller(double x, double z) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 0.3};
    def.pose.position[0] = x;
    def.pose.position[2] = z;
    memcpy(def.pose.axis, turned, sizeof turned);
    return def;
}

// --- looking -------------------------------------------------------------------------------------

void trial_place(const FilRod *rod, double s, double place[3]) {
    FilPose pose;
    fil_rod_at(rod, s, &pose, NULL);
    memcpy(place, pose.position, sizeof pose.position);
}

void trial_velocity(const FilRod *rod, double s, double velocity[3]) {
    FilRate rate;
    fil_rod_at(rod, s, NULL, &rate);
    memcpy(velocity, rate.velocity, sizeof rate.velocity);
}

double trial_kinetic(const Trial *t) {
    FilRodEnergy energy;
    fil_world_energy(t->world, &energy);
    return energy.kinetic;
}

void trial_momentum(const FilRod *rod, double mass, double momentum[3]) {
    enum { SAMPLES = 2000 };
    memset(momentum, 0, 3 * sizeof(double));
    for (int i = 0; i < SAMPLES; i++) {
        double velocity[3];
        trial_velocity(rod, fil_rod_length(rod) * (i + 0.5) / SAMPLES, velocity);
        for (int k = 0; k < 3; k++) {
            momentum[k] += mass * velocity[k] / SAMPLES;
        }
    }
}
