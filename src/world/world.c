// world.c - making a world and filling it.
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "friction/check.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/rod.h"
#include "sleep.h"

#define NAME(code, name, text) [code] = name,

const char *fil_contact_kind_name(FilContactKind kind) {
    static const char *const names[FIL_CONTACT_COUNT] = {FIL_CONTACT_TABLE(NAME)};
    return (unsigned)kind < FIL_CONTACT_COUNT ? names[kind] : NULL;
}

const char *fil_friction_law_name(FilFrictionLaw law) {
    static const char *const names[FIL_LAW_COUNT] = {FIL_FRICTION_LAW_TABLE(NAME)};
    return (unsigned)law < FIL_LAW_COUNT ? names[law] : NULL;
}

FilWorldDef fil_world_def_default(void) {
    FilFrictionSettings solver = fil_friction_settings_default();
    solver.budget = FIL_WORLD_BUDGET;
    return (FilWorldDef){
        .step = 1e-3,
        .gravity = {0.0, 0.0, -9.81},
        .friction_default = -1.0,
        .solver = solver,
        .penalty_stiffness = 1e3,
        .slip_speed = 1e-3,
        .max_newton = 6,
        .max_halvings = 12,
        .sleep_after = 0.5,
    };
}

FilSurface fil_surface_default(void) {
    return (FilSurface){.self = true};
}

static FilStatus check_positive(double value, const char *name, FilError *error) {
    if (!(value > 0.0 && isfinite(value))) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s is %g; it must be positive and finite", name,
                        isnan(value) ? (double)NAN : value);
    }
    return FIL_OK;
}

static FilStatus check_vector(const double *value, const char *name, FilError *error) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(value[k])) {
            return fil_fail(error, FIL_E_ARGUMENT, "%s[%d] is %g; it must be finite", name, k,
                            isnan(value[k]) ? (double)NAN : value[k]);
        }
    }
    return FIL_OK;
}

static FilStatus check_def(const FilWorldDef *def, FilError *error) {
    FIL_TRY(check_positive(def->step, "step", error));
    FIL_TRY(check_vector(def->gravity, "gravity", error));
    FIL_TRY(check_vector(def->wind, "wind", error));
    if (isnan(def->friction_default) || isinf(def->friction_default)) {
        return fil_fail(error, FIL_E_ARGUMENT, "friction_default is not finite");
    }
    if ((unsigned)def->contact >= FIL_CONTACT_COUNT || (unsigned)def->law >= FIL_LAW_COUNT) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "contact is %d and law is %d; they must be FilContactKind and "
                        "FilFrictionLaw",
                        (int)def->contact, (int)def->law);
    }
    FIL_TRY(fil_friction_check_settings(&def->solver, error));
    if (!(def->margin >= 0.0 && isfinite(def->margin))) {
        return fil_fail(error, FIL_E_ARGUMENT, "margin is %g; it must be 0 or positive",
                        def->margin);
    }
    FIL_TRY(check_positive(def->penalty_stiffness, "penalty_stiffness", error));
    FIL_TRY(check_positive(def->slip_speed, "slip_speed", error));
    if (!(def->penalty_damping >= 0.0 && isfinite(def->penalty_damping))) {
        return fil_fail(error, FIL_E_ARGUMENT, "penalty_damping is %g; it must be 0 or positive",
                        def->penalty_damping);
    }
    if (def->max_newton < 1) {
        return fil_fail(error, FIL_E_ARGUMENT, "max_newton is %d; it must be at least 1",
                        def->max_newton);
    }
    if (def->max_halvings < 0 || def->max_halvings > 20) {
        return fil_fail(error, FIL_E_ARGUMENT, "max_halvings is %d; it must be 0 to 20",
                        def->max_halvings);
    }
    if (!(def->sleep_speed >= 0.0 && isfinite(def->sleep_speed))) {
        return fil_fail(error, FIL_E_ARGUMENT, "sleep_speed is %g; it must be 0 or positive",
                        isnan(def->sleep_speed) ? (double)NAN : def->sleep_speed);
    }
    return check_positive(def->sleep_after, "sleep_after", error);
}

FilStatus fil_world_create(const FilWorldDef *def, const FilAllocator *allocator, FilWorld **out,
                           FilError *error) {
    FIL_TRY(check_def(def, error));
    const FilAllocator *memory = allocator != NULL ? allocator : &fil_libc_allocator;
    FilWorld *world = memory->resize(memory->user, NULL, 0, sizeof *world);
    if (world == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a world");
    }
    memset(world, 0, sizeof *world);
    world->def = *def;
    world->culprit = -1;
    world->allocator = *memory;
    world->scratch = fil_arena_make(memory);
    world->threads = fil_thread_count(def->solver.thread_count);
    FilStatus status = fil_grid_create(memory, &world->grid, error);
    if (status == FIL_OK) {
        status = fil_friction_workspace_create(memory, &world->workspace, error);
    }
    if (status != FIL_OK) {
        fil_world_destroy(world);
        return status;
    }
    *out = world;
    return FIL_OK;
}

static void give_back(FilWorld *world, void *items, int room, size_t size) {
    if (items != NULL) {
        (void)world->allocator.resize(world->allocator.user, items, (size_t)room * size, 0);
    }
}

void fil_world_destroy(FilWorld *world) {
    if (world == NULL) {
        return;
    }
    for (int i = 0; i < world->body_count; i++) {
        if (world->bodies[i].kind == FIL_BODY_ROD) {
            fil_rod_destroy(world->bodies[i].self);
        } else {
            fil_rigid_destroy(world->bodies[i].self);
        }
    }
    fil_friction_workspace_destroy(world->workspace);
    fil_grid_destroy(world->grid);
    fil_arena_destroy(&world->scratch);
    give_back(world, world->bodies, world->body_room, sizeof *world->bodies);
    give_back(world, world->obstacles, world->obstacle_room, sizeof *world->obstacles);
    give_back(world, world->pieces, world->piece_room, sizeof *world->pieces);
    give_back(world, world->places, world->place_room, sizeof *world->places);
    give_back(world, world->samples.points, world->samples.point_room, sizeof(double));
    give_back(world, world->samples.rates, world->samples.rate_room, sizeof(double));
    give_back(world, world->samples.states, world->samples.state_room, sizeof(double));
    give_back(world, world->near.budget, world->near.budget_room, sizeof(double));
    give_back(world, world->near.rates, world->near.rate_room, sizeof(double));
    give_back(world, world->near.path, world->near.path_room, sizeof(double));
    give_back(world, world->near.points, world->near.point_room, sizeof(double));
    give_back(world, world->near.lengths, world->near.length_room, sizeof(double));
    give_back(world, world->near.pairs, world->near.pair_room, sizeof *world->near.pairs);
    give_back(world, world->near.bounds, world->near.bound_room, sizeof(FilBound));
    give_back(world, world->undo, world->undo_room, sizeof *world->undo);
    give_back(world, world->materials, world->material_room, sizeof *world->materials);
    give_back(world, world->frictions, world->friction_room, sizeof *world->frictions);
    give_back(world, world->joints, world->joint_room, sizeof *world->joints);
    give_back(world, world->apart, world->apart_room, sizeof *world->apart);
    give_back(world, world->rods, world->rod_room, sizeof *world->rods);
    give_back(world, world->rigids, world->rigid_room, sizeof *world->rigids);
    give_back(world, world->contacts, world->contact_room, sizeof *world->contacts);
    give_back(world, world->kept, world->kept_room, sizeof *world->kept);
    give_back(world, world->rest_points, world->rest_room, sizeof *world->rest_points);
    give_back(world, world->memories, world->memory_room, sizeof *world->memories);
    FilAllocator memory = world->allocator;
    (void)memory.resize(memory.user, world, sizeof *world, 0);
}

FilStatus fil_world_reserve(FilWorld *world, void *items, int *room, int64_t count, size_t size,
                            FilError *error) {
    if (count <= *room) {
        return FIL_OK;
    }
    int64_t wanted = 2 * count > 16 ? 2 * count : 16;
    void **array = items, *grown = NULL;
    if (wanted <= INT32_MAX && (size_t)wanted <= SIZE_MAX / size) {
        grown = world->allocator.resize(world->allocator.user, *array, (size_t)*room * size,
                                        (size_t)wanted * size);
    }
    if (grown == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld items of the world",
                        (long long)count);
    }
    *array = grown;
    *room = (int)wanted;
    return FIL_OK;
}

// --- materials -----------------------------------------------------------------------------------

FilStatus fil_world_add_material(FilWorld *world, double restitution, int *material,
                                 FilError *error) {
    if (!(restitution >= 0.0 && restitution <= 1.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "restitution is %g; it must be 0 to 1", restitution);
    }
    FIL_TRY(fil_world_reserve(world, &world->materials, &world->material_room,
                              world->material_count + 1, sizeof(FilWorldMaterial), error));
    const int64_t first = fil_world_friction(0, world->material_count),
                  count = first + world->material_count + 1;
    FIL_TRY(fil_world_reserve(world, &world->frictions, &world->friction_room, count,
                              sizeof(double), error));
    for (int64_t k = first; k < count; k++) {
        world->frictions[k] = -1.0;
    }
    world->materials[world->material_count] = (FilWorldMaterial){.restitution = restitution};
    *material = world->material_count++;
    return FIL_OK;
}

static FilStatus check_material(const FilWorld *world, int material, FilError *error) {
    if (material < 0 || material >= world->material_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "material is %d; there are %d", material,
                        world->material_count);
    }
    return FIL_OK;
}

FilStatus fil_world_set_friction(FilWorld *world, int a, int b, double mu, FilError *error) {
    FIL_TRY(check_material(world, a, error));
    FIL_TRY(check_material(world, b, error));
    if (!(mu >= 0.0 && isfinite(mu))) {
        return fil_fail(error, FIL_E_ARGUMENT, "mu is %g; it must be 0 or positive, and finite",
                        isnan(mu) ? (double)NAN : mu);
    }
    world->frictions[fil_world_friction(a, b)] = mu;
    fil_world_wake_all(world);
    return FIL_OK;
}

static FilStatus check_surface(const FilWorld *world, const FilSurface *surface, FilError *error) {
    FIL_TRY(check_material(world, surface->material, error));
    if (!(surface->radius >= 0.0 && isfinite(surface->radius))) {
        return fil_fail(error, FIL_E_ARGUMENT, "surface.radius is %g; it must be 0 or positive",
                        surface->radius);
    }
    if (surface->pieces < 0 || surface->pieces > 10000) {
        return fil_fail(error, FIL_E_ARGUMENT, "surface.pieces is %d; it must be 0 to 10000",
                        surface->pieces);
    }
    return FIL_OK;
}

// --- bodies --------------------------------------------------------------------------------------

// Room for one more body and its number among its kind.
static FilStatus reserve_body(FilWorld *world, int **kind, int *room, int count, FilError *error) {
    FIL_TRY(fil_world_reserve(world, &world->bodies, &world->body_room, world->body_count + 1,
                              sizeof(FilBody), error));
    return fil_world_reserve(world, kind, room, count + 1, sizeof(int), error);
}

// Velocities and states of all bodies follow each other in the order of the bodies.
static void number_body(FilWorld *world, FilBody *body) {
    body->first_dof = world->dof_count;
    body->first_state = world->state_count;
    world->dof_count += body->dof_count;
    world->state_count += body->table->state_count(body->self);
}

static void enter_body(FilWorld *world, const FilBody *body) {
    FilBody *entered = &world->bodies[world->body_count++];
    *entered = *body;
    number_body(world, entered);
}

static double surface_radius(const FilRod *rod, const FilSurface *surface) {
    double radius = surface->radius;
    for (int i = 0; surface->radius == 0.0 && i < rod->element_count; i++) {
        radius = fmax(radius, rod->sections[i].radius);
    }
    return radius;
}

// Gravity and wind. Drag is a force of drag (wind - velocity) per length; its constant part is that
// of an acceleration where all sections have the same mass, else a force along the rod.
static FilStatus set_rod_gravity(const FilBody *body, const double gravity[3], const double wind[3],
                                 FilError *error) {
    FilRod *rod = body->self;
    double sum[3];
    fil_copy3(gravity, sum);
    double force[3] = {0.0, 0.0, 0.0}, push = body->wind * rod->drag;
    bool even = true;
    for (int e = 1; e < rod->element_count; e++) {
        even = even && rod->sections[e].mass == rod->sections[0].mass;
    }
    fil_add3(even ? push / rod->sections[0].mass : 0.0, wind, sum);
    fil_add3(even ? 0.0 : push, wind, force);
    for (int k = 0; k < 3; k++) {
        if (!isfinite(sum[k]) || !isfinite(force[k])) {
            return fil_fail(
                error, FIL_E_ARGUMENT,
                "wind[%d] is %g and drag is %g; their force on the rod leaves the range "
                "of numbers",
                k, wind[k], rod->drag);
        }
    }
    FIL_TRY(fil_rod_set_air(rod, force, error));
    return fil_rod_set_gravity(rod, sum, error);
}

FilStatus fil_world_add_rod(FilWorld *world, const FilRodDef *def, const FilSurface *surface,
                            int *rod, FilError *error) {
    FIL_TRY(check_surface(world, surface, error));
    FIL_TRY(reserve_body(world, &world->rods, &world->rod_room, world->rod_count, error));
    FilRodDef own = *def;
    fil_copy3(world->def.gravity, own.gravity);
    FilRod *made = NULL;
    FIL_TRY(fil_rod_create(&own, &world->allocator, &made, error));
    FilBody body = {.table = &fil_body_rod,
                    .self = made,
                    .kind = FIL_BODY_ROD,
                    .index = world->rod_count,
                    .dof_count = made->dof_count,
                    .linear = made->table->merit == NULL,
                    .surface = *surface,
                    .wind = 1.0,
                    .radius = surface_radius(made, surface)};
    body.margin = world->def.margin > 0.0 ? world->def.margin : 0.25 * body.radius;
    FilStatus status = set_rod_gravity(&body, world->def.gravity, world->def.wind, error);
    if (status == FIL_OK) {
        status = fil_world_add_pieces(world, &body, error);
    }
    if (status != FIL_OK) {
        fil_rod_destroy(made);
        return status;
    }
    world->rods[world->rod_count] = world->body_count;
    enter_body(world, &body);
    *rod = world->rod_count++;
    return FIL_OK;
}

FilStatus fil_world_add_rigid(FilWorld *world, const FilRigidDef *def, const FilSurface *surface,
                              int *rigid, FilError *error) {
    FIL_TRY(check_surface(world, surface, error));
    FIL_TRY(reserve_body(world, &world->rigids, &world->rigid_room, world->rigid_count, error));
    FilRigidDef own = *def;
    fil_copy3(world->def.gravity, own.gravity);
    FilRigid *made = NULL;
    FIL_TRY(fil_rigid_create(&own, &world->allocator, &made, error));
    FilBody body = {.table = &fil_body_rigid,
                    .self = made,
                    .kind = FIL_BODY_RIGID,
                    .index = world->rigid_count,
                    .dof_count = 6,
                    .linear = true,
                    .surface = *surface};
    FilStatus status = fil_world_add_solid(world, world->body_count, -1, fil_rigid_shape(made),
                                           &body.first_piece, error);
    if (status != FIL_OK) {
        fil_rigid_destroy(made);
        return status;
    }
    body.piece_count = 1;
    body.margin =
        world->def.margin > 0.0 ? world->def.margin : 0.02 * world->pieces[body.first_piece].extent;
    world->rigids[world->rigid_count] = world->body_count;
    enter_body(world, &body);
    *rigid = world->rigid_count++;
    return FIL_OK;
}

FilStatus fil_world_add_obstacle(FilWorld *world, const FilObstacleDef *def,
                                 const FilSurface *surface, int *obstacle, FilError *error) {
    FIL_TRY(check_surface(world, surface, error));
    FIL_TRY(fil_shape_check(&def->shape, error));
    FIL_TRY(check_vector(def->pose.position, "pose.position", error));
    FIL_TRY(fil_rod_axes_check((const double(*)[3])def->pose.axis, "pose.axis", error));
    FIL_TRY(fil_world_reserve(world, &world->obstacles, &world->obstacle_room,
                              world->obstacle_count + 1, sizeof(FilObstacle), error));
    FilObstacle made = {.def = *def, .surface = *surface, .pose = def->pose, .next = def->pose};
    if (def->motion != NULL) {
        def->motion(def->user, world->time, &made.pose);
    }
    FIL_TRY(fil_world_add_solid(world, -1, world->obstacle_count, &def->shape, &made.piece, error));
    world->obstacles[world->obstacle_count] = made;
    fil_world_wake_all(world);
    *obstacle = world->obstacle_count++;
    return FIL_OK;
}

// --- looking -------------------------------------------------------------------------------------

void fil_world_set_names(FilWorld *world, FilBodyName *name, void *user) {
    world->name = name;
    world->name_user = user;
}

void fil_world_name(const FilWorld *world, const FilBody *body, size_t size, char *text) {
    const char *kind = body->kind == FIL_BODY_ROD ? "rod" : "rigid body";
    const char *name =
        world->name != NULL ? world->name(world->name_user, body->kind, body->index) : NULL;
    if (name != NULL && name[0] != '\0') {
        (void)snprintf(text, size, "%s \"%.48s\"", kind, name);
    } else {
        (void)snprintf(text, size, "%s %d", kind, body->index);
    }
}

void fil_world_watch_problems(FilWorld *world, FilProblemWatch *watch, void *user) {
    world->watch = watch;
    world->watch_user = user;
}

void fil_world_set_stop(FilWorld *world, bool (*stop)(void *user), void *user) {
    world->stop = stop;
    world->stop_user = user;
}

int fil_world_rod_count(const FilWorld *world) {
    return world->rod_count;
}

int fil_world_rigid_count(const FilWorld *world) {
    return world->rigid_count;
}

int fil_world_obstacle_count(const FilWorld *world) {
    return world->obstacle_count;
}

FilRod *fil_world_rod(FilWorld *world, int rod) {
    return rod >= 0 && rod < world->rod_count ? world->bodies[world->rods[rod]].self : NULL;
}

FilRigid *fil_world_rigid(FilWorld *world, int rigid) {
    return rigid >= 0 && rigid < world->rigid_count ? world->bodies[world->rigids[rigid]].self
                                                    : NULL;
}

void fil_world_obstacle_at(const FilWorld *world, int obstacle, FilPose *pose, FilRate *rate) {
    if (obstacle < 0 || obstacle >= world->obstacle_count) {
        return;
    }
    const FilObstacle *of = &world->obstacles[obstacle];
    if (pose != NULL) {
        *pose = of->pose;
    }
    if (rate == NULL) {
        return;
    }
    FilClock clock = world->clock;
    const FilSpan span = fil_clock_span(world->def.step, 0, &clock);
    FilPose next = of->def.pose;
    if (of->def.motion != NULL) {
        of->def.motion(of->def.user, span.end, &next);
    }
    double R[9] = {0.0},
           turn[3]; // the sum of next.axis[k] of->pose.axis[k]^T turns one into the other
    for (int k = 0; k < 9; k++) {
        for (int a = 0; a < 3; a++) {
            R[k] += next.axis[a][k / 3] * of->pose.axis[a][k % 3];
        }
    }
    fil_rotation_log(R, turn);
    for (int k = 0; k < 3; k++) {
        rate->velocity[k] = (next.position[k] - of->pose.position[k]) / span.dt;
        rate->spin[k] = turn[k] / span.dt;
    }
}

double fil_world_time(const FilWorld *world) {
    return world->time;
}

int64_t fil_world_step_count(const FilWorld *world) {
    return world->clock.step_count;
}

const FilContact *fil_world_contacts(const FilWorld *world, int *count) {
    *count = world->contact_count;
    return world->contacts;
}

void fil_world_energy(const FilWorld *world, FilRodEnergy *energy) {
    *energy = (FilRodEnergy){0};
    for (int i = 0; i < world->body_count; i++) {
        FilRodEnergy one = {0};
        world->bodies[i].table->energy(world->bodies[i].self, &one);
        energy->kinetic += one.kinetic;
        energy->bend += one.bend;
        energy->twist += one.twist;
        energy->stretch += one.stretch;
        energy->gravity += one.gravity;
        energy->loads += one.loads;
    }
}

double fil_body_mass(const FilBody *body) {
    if (body->kind == FIL_BODY_RIGID) {
        return fil_rigid_mass(body->self);
    }
    const FilRod *rod = body->self;
    double mass = 0.0;
    for (int k = 0; k < rod->element_count; k++) {
        mass += rod->sections[k].mass * rod->lengths[k];
    }
    return mass;
}

double fil_world_mass(const FilWorld *world) {
    double mass = 0.0;
    for (int i = 0; i < world->body_count; i++) {
        mass += fil_body_mass(&world->bodies[i]);
    }
    return mass;
}

static FilStatus set_air(FilWorld *world, const double gravity[3], const double wind[3],
                         FilError *error) {
    FilStatus status = FIL_OK;
    for (int i = 0; i < world->body_count && status == FIL_OK; i++) {
        const FilBody *body = &world->bodies[i];
        status = body->kind == FIL_BODY_ROD ? set_rod_gravity(body, gravity, wind, error)
                                            : fil_rigid_set_gravity(body->self, gravity, error);
    }
    return status;
}

FilStatus fil_world_set_gravity(FilWorld *world, const double gravity[3], FilError *error) {
    FIL_TRY(check_vector(gravity, "gravity", error));
    FIL_TRY(set_air(world, gravity, world->def.wind, error));
    fil_copy3(gravity, world->def.gravity);
    fil_world_wake_all(world);
    return FIL_OK;
}

FilStatus fil_world_set_wind(FilWorld *world, const double wind[3], FilError *error) {
    FIL_TRY(check_vector(wind, "wind", error));
    FilStatus status = set_air(world, world->def.gravity, wind, error);
    if (status != FIL_OK) { // back to what was fine before
        (void)!set_air(world, world->def.gravity, world->def.wind, NULL);
        return status;
    }
    fil_copy3(wind, world->def.wind);
    fil_world_wake_all(world);
    return FIL_OK;
}

double fil_world_get_friction(const FilWorld *world, int a, int b) {
    const bool there = a >= 0 && b >= 0 && a < world->material_count && b < world->material_count;
    return there ? world->frictions[fil_world_friction(a, b)] : -1.0;
}

void fil_world_get_gravity(const FilWorld *world, double gravity[3]) {
    fil_copy3(world->def.gravity, gravity);
}

void fil_world_get_wind(const FilWorld *world, double wind[3]) {
    fil_copy3(world->def.wind, wind);
}

FilStatus fil_world_release(FilWorld *world, int rod, bool tip, FilError *error) {
    if (rod < 0 || rod >= world->rod_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "rod is %d; there are %d", rod, world->rod_count);
    }
    FilBody *body = &world->bodies[world->rods[rod]];
    FilRod *self = body->self;
    FIL_TRY(fil_rod_release(self, tip, error));
    world->past = (FilPast){0}; // its states are laid out as before
    fil_world_wake_all(world);
    body->dof_count = self->dof_count;
    world->dof_count = world->state_count = 0;
    for (int i = 0; i < world->body_count; i++) {
        number_body(world, &world->bodies[i]);
    }
    for (int k = 0; k < body->piece_count; k++) {
        int at = body->first_piece + (tip ? body->piece_count - 1 - k : k);
        if (world->pieces[at].rooted == 0) {
            break;
        }
        world->pieces[at].rooted = 0;
    }
    return FIL_OK;
}

FilStatus fil_world_set_wind_share(FilWorld *world, int rod, double share, FilError *error) {
    if (rod < 0 || rod >= world->rod_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "rod is %d; there are %d", rod, world->rod_count);
    }
    if (!(share >= 0.0 && share <= 1.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "share is %g; it must be 0 to 1", share);
    }
    FilBody *body = &world->bodies[world->rods[rod]];
    double before = body->wind;
    body->wind = share;
    FilStatus status = set_rod_gravity(body, world->def.gravity, world->def.wind, error);
    if (status != FIL_OK) {
        body->wind = before;
    }
    fil_world_wake_all(world);
    return status;
}
