// stage.c - a world built from a scene.
//
// Order: materials and friction, obstacles, rods, bodies, joints. Everything gets the number that
// it has in the scene, because worlds count from 0, too. Places of joints that move are obstacles
// that touch nothing.
//
// The state of the world is not all: loads, gravity and wind are parameters that events change. So
// a run goes on from a state and the number of events applied before it; they are applied again
// first, and the state, lengths of rods included, comes after them.
#include "stage.h"

#include "base/error.h"
#include "base/log.h"
#include "math/vec3.h"
#include "world/world.h"

#include <stdio.h>
#include <string.h>

FilStatus fil_stage_blame(const FilStage *stage, FilError *error, FilStatus status,
                          const FilBlamed *blamed) {
    if (status == FIL_E_NO_MEMORY || error == NULL) {
        return status;
    }
    const FilSceneOrigin at = blamed->origin;
    const bool named = blamed->name != NULL && blamed->name[0] != '\0';
    char text[sizeof error->text], place[40] = "";
    memcpy(text, error->text, sizeof text);
    if (at.line > 0) {
        (void)snprintf(place, sizeof place, ":%d:%d", at.line, at.column);
    }
    return fil_fail_at(error, status, at.line, at.column, "%.80s%s: %s[%d]%s%.40s%s: %s",
                       stage->scene->file, place, blamed->list, blamed->index, named ? " (" : "",
                       named ? blamed->name : "", named ? ")" : "", text);
}

// --- building ------------------------------------------------------------------------------------

static FilStatus make_world(FilStage *stage, int threads, FilError *error) {
    const FilScene *scene = stage->scene;
    FilWorldDef def = fil_world_def_default();
    def.step = scene->step;
    fil_copy3(scene->gravity, def.gravity);
    fil_copy3(scene->wind, def.wind);
    def.contact = scene->contact.kind;
    def.law = scene->contact.law;
    def.solver = scene->friction_settings;
    def.solver.thread_count = threads;
    def.margin = scene->contact.margin;
    def.penalty_stiffness = scene->contact.stiffness;
    def.penalty_damping = scene->contact.damping;
    def.slip_speed = scene->contact.slip_speed;
    def.max_halvings = scene->contact.substeps;
    def.unswept = !scene->contact.sweep;
    def.sleep_speed = scene->contact.sleep_speed;
    def.sleep_after = scene->contact.sleep_after;
    return fil_world_create(&def, &stage->allocator, &stage->world, error);
}

static FilStatus add_materials(FilStage *stage, FilError *error) {
    const FilScene *scene = stage->scene;
    const int n = scene->material_count;
    for (int a = 0; a < n; a++) {
        int number;
        FilStatus status =
            fil_world_add_material(stage->world, scene->materials[a].restitution, &number, error);
        if (status != FIL_OK) {
            return fil_stage_blame(stage, error, status,
                                   &(FilBlamed){"materials", a, scene->materials[a].name, {0}});
        }
    }
    FilStatus status = FIL_OK;
    for (int k = 0; k < n * n && status == FIL_OK; k++) {
        if (scene->friction[k] >= 0.0 && k / n <= k % n) {
            status = fil_world_set_friction(stage->world, k / n, k % n, scene->friction[k], error);
        }
    }
    return status;
}

static FilStatus add_obstacles(FilStage *stage, FilError *error) {
    for (int k = 0; k < stage->scene->obstacle_count; k++) {
        const FilSceneObstacle *from = &stage->scene->obstacles[k];
        FilObstacleDef def = {.shape = from->shape, .pose = from->pose};
        if (from->motion != NULL) {
            def.motion = fil_motion_apply;
            def.user = (void *)from->motion; // which it does not change
        }
        FilSurface surface = fil_surface_default();
        surface.material = from->material;
        int number;
        FilStatus status = fil_world_add_obstacle(stage->world, &def, &surface, &number, error);
        if (status != FIL_OK) {
            return fil_stage_blame(stage, error, status,
                                   &(FilBlamed){"obstacles", k, from->name, from->origin});
        }
    }
    return FIL_OK;
}

// The rod at its start: in equilibrium, or in motion.
static FilStatus start_rod(FilStage *stage, int index, FilError *error) {
    const FilSceneRod *from = &stage->scene->rods[index];
    FilRod *rod = fil_world_rod(stage->world, index);
    if (from->start == FIL_START_EQUILIBRIUM) {
        FilStaticsInfo info;
        const FilStaticsSettings settings = fil_statics_settings_default();
        FIL_TRY(fil_rod_equilibrium(rod, &settings, &info, error));
        if (!info.converged) {
            stage->unsettled_count++;
            fil_log(&stage->log, FIL_LOG_WARNING,
                    "rods[%d]%s%.40s: no equilibrium was found to start from (residual %.1e)",
                    index, from->name[0] != '\0' ? " " : "", from->name, info.residual);
        }
    }
    if (fil_norm3(from->velocity) > 0.0 || fil_norm3(from->spin) > 0.0) {
        FIL_TRY(fil_rod_launch(rod, from->velocity, from->spin, error));
    }
    return FIL_OK;
}

static FilStatus add_rod(FilStage *stage, int index, FilError *error) {
    const FilSceneRod *from = &stage->scene->rods[index];
    FilSurface surface = {.material = from->material,
                          .radius = from->contact_radius,
                          .pieces = from->contact_pieces,
                          .self = from->self_contact};
    int number;
    FIL_TRY(fil_world_add_rod(stage->world, &from->def, &surface, &number, error));
    FIL_TRY(fil_world_set_wind_share(stage->world, index, from->wind, error));
    stage->rods[index] = (FilStageRod){.length = from->def.length};
    return start_rod(stage, index, error);
}

static FilStatus add_rods(FilStage *stage, FilError *error) {
    int most = 0;
    for (int k = 0; k < stage->scene->rod_count; k++) {
        const int count = stage->scene->rods[k].def.load_count;
        most = count > most ? count : most;
    }
    stage->rods = FIL_NEW_ZEROED(&stage->arena, FilStageRod, stage->scene->rod_count + 1);
    stage->loads = FIL_NEW(&stage->arena, FilRodLoad, (size_t)most + 1);
    if (stage->arena.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d rods",
                        stage->scene->rod_count);
    }
    for (int k = 0; k < stage->scene->rod_count; k++) {
        FilStatus status = add_rod(stage, k, error);
        if (status != FIL_OK) {
            const FilSceneRod *from = &stage->scene->rods[k];
            return fil_stage_blame(stage, error, status,
                                   &(FilBlamed){"rods", k, from->name, from->origin});
        }
    }
    return FIL_OK;
}

// Of a body whose force grows with time: that at the end of the step to come.
static FilStatus set_load(FilStage *stage, int index, double time, FilError *error) {
    const FilSceneBody *from = &stage->scene->bodies[index];
    double force[3];
    fil_copy3(from->force, force);
    fil_add3(time, from->force_rate, force);
    return fil_rigid_set_load(fil_world_rigid(stage->world, index), force, from->torque, error);
}

static FilStatus add_bodies(FilStage *stage, FilError *error) {
    for (int k = 0; k < stage->scene->body_count; k++) {
        const FilSceneBody *from = &stage->scene->bodies[k];
        FilRigidDef def = fil_rigid_def_default();
        def.shape = from->shape;
        def.density = from->density;
        def.mass = from->mass;
        def.pose = from->pose;
        fil_copy3(from->velocity, def.rate.velocity);
        fil_copy3(from->spin, def.rate.spin);
        FilSurface surface = fil_surface_default();
        surface.material = from->material;
        int number;
        FilStatus status = fil_world_add_rigid(stage->world, &def, &surface, &number, error);
        if (status == FIL_OK) {
            status = set_load(stage, k, 0.0, error);
        }
        if (status != FIL_OK) {
            return fil_stage_blame(stage, error, status,
                                   &(FilBlamed){"bodies", k, from->name, from->origin});
        }
    }
    return FIL_OK;
}

// --- joints --------------------------------------------------------------------------------------

// A place in the world that moves: an obstacle that touches nothing.
static FilStatus add_carrier(FilStage *stage, const FilScenePlace *place, FilJointSide *side,
                             FilError *error) {
    FilObstacleDef def = {.shape = {.kind = FIL_SHAPE_SPHERE, .radius = 1e-6},
                          .pose = {.axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}},
                          .motion = fil_motion_apply,
                          .user = (void *)place->motion};
    fil_copy3(place->at, def.pose.position);
    FilSurface surface = fil_surface_default();
    surface.ghost = true;
    side->kind = FIL_BODY_OBSTACLE;
    return fil_world_add_obstacle(stage->world, &def, &surface, &side->index, error);
}

static FilStatus make_side(FilStage *stage, const FilScenePlace *place, FilJointSide *side,
                           FilError *error) {
    *side = (FilJointSide){.kind = FIL_BODY_WORLD, .s = place->s};
    fil_copy3(place->at, side->point);
    if (place->rod >= 0) {
        side->kind = FIL_BODY_ROD;
        side->index = place->rod;
    } else if (place->body >= 0) {
        const FilPose *pose = &stage->scene->bodies[place->body].pose;
        side->kind = FIL_BODY_RIGID;
        side->index = place->body;
        fil_copy3(pose->position, side->point);
        for (int k = 0; k < 3; k++) {
            fil_add3(place->at[k], pose->axis[k], side->point);
        }
    } else if (place->motion != NULL) {
        return add_carrier(stage, place, side, error);
    }
    return FIL_OK;
}

static FilStatus add_joint(FilStage *stage, const FilSceneJoint *from, FilError *error) {
    const bool swap = from->a.rod < 0 && from->a.body < 0; // a world has what moves first
    FilJointDef def = {.turning = from->kind == FIL_JOINT_PINNED};
    int number;
    FIL_TRY(make_side(stage, swap ? &from->b : &from->a, &def.a, error));
    FIL_TRY(make_side(stage, swap ? &from->a : &from->b, &def.b, error));
    return fil_world_add_joint(stage->world, &def, &number, error);
}

static FilStatus add_joints(FilStage *stage, FilError *error) {
    for (int k = 0; k < stage->scene->joint_count; k++) {
        FilStatus status = add_joint(stage, &stage->scene->joints[k], error);
        if (status != FIL_OK) {
            return fil_stage_blame(stage, error, status,
                                   &(FilBlamed){"joints", k, NULL, stage->scene->joints[k].origin});
        }
    }
    return FIL_OK;
}

// The names of the scene, for messages of the world.
static const char *name_body(void *user, FilBodyKind kind, int index) {
    const FilScene *scene = user;
    if (kind == FIL_BODY_ROD && index < scene->rod_count) {
        return scene->rods[index].name;
    }
    return kind == FIL_BODY_RIGID && index < scene->body_count ? scene->bodies[index].name : NULL;
}

// --- a stage -------------------------------------------------------------------------------------

static FilStatus build(FilStage *stage, int threads, FilError *error) {
    FIL_TRY(make_world(stage, threads, error));
    fil_world_set_names(stage->world, name_body, (void *)stage->scene);
    FIL_TRY(add_materials(stage, error));
    FIL_TRY(add_obstacles(stage, error));
    FIL_TRY(add_rods(stage, error));
    FIL_TRY(add_bodies(stage, error));
    FIL_TRY(add_joints(stage, error));
    return fil_world_root(stage->world, error); // events may change lengths before a run goes on
}

FilStatus fil_stage_create(const FilScene *scene, int threads, const FilLog *log,
                           const FilAllocator *allocator, FilStage **out, FilError *error) {
    if (scene->friction == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT, "the scene was only counted (count_only)");
    }
    const FilAllocator *memory = allocator != NULL ? allocator : &fil_libc_allocator;
    FilStage *stage = memory->resize(memory->user, NULL, 0, sizeof *stage);
    if (stage == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a stage");
    }
    *stage = (FilStage){.scene = scene,
                        .allocator = *memory,
                        .arena = fil_arena_make(memory),
                        .log = log != NULL ? *log : (FilLog){.write = NULL}};
    FilStatus status = build(stage, threads, error);
    if (status != FIL_OK) {
        fil_stage_destroy(stage);
        return status;
    }
    *out = stage;
    return FIL_OK;
}

void fil_stage_destroy(FilStage *stage) {
    if (stage == NULL) {
        return;
    }
    fil_world_destroy(stage->world);
    fil_arena_destroy(&stage->arena);
    FilAllocator memory = stage->allocator;
    (void)memory.resize(memory.user, stage->changes,
                        sizeof(FilStageChange) * (size_t)stage->change_room, 0);
    (void)memory.resize(memory.user, stage->text, stage->text_room, 0);
    (void)memory.resize(memory.user, stage, sizeof *stage, 0);
}

FilWorld *fil_stage_world(FilStage *stage) {
    return stage->world;
}

int fil_stage_unsettled_count(const FilStage *stage) {
    return stage->unsettled_count;
}

int fil_stage_event_count(const FilStage *stage) {
    return stage->event_count;
}

FilStatus fil_stage_apply_due(FilStage *stage, FilError *error) {
    return fil_stage_apply_events(stage, fil_stage_due_events(stage), error);
}

FilStatus fil_stage_step(FilStage *stage, FilStepInfo *info, FilError *error) {
    FIL_TRY(fil_stage_apply_due(stage, error));
    const double end = stage->scene->step * (double)(fil_world_step_count(stage->world) + 1);
    FilStatus status = FIL_OK;
    for (int k = 0; k < stage->scene->body_count && status == FIL_OK; k++) {
        if (fil_norm3(stage->scene->bodies[k].force_rate) > 0.0) {
            status = set_load(stage, k, end, error);
        }
    }
    return status == FIL_OK ? fil_world_step(stage->world, info, error) : status;
}

FilStatus fil_stage_resume(FilStage *stage, const double *state, int64_t state_count,
                           int event_count, FilError *error) {
    if (event_count < stage->event_count || event_count > stage->scene->event_count) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "event_count is %d; the scene has %d events, and %d "
                        "of them have been applied already",
                        event_count, stage->scene->event_count, stage->event_count);
    }
    const FilLog log = stage->log;
    stage->log = (FilLog){.write = NULL}; // they were told when they happened
    FilStatus status = fil_stage_apply_events(stage, event_count, error);
    stage->log = log;
    FIL_TRY(status);
    return fil_world_set_state(stage->world, state, state_count, error);
}
