// record.c - what a world looks like, as arrays.
//
// Rods are sampled where their capsules end: what is seen is what touches. Elements of a tree are
// lines of their own; other rods are one line. What a rod carries is what its springs or, where it
// does not stretch, the balance of forces says (world/tension.c).
#include "filum/record.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/parallel.h"
#include "math/rotation.h"
#include "math/vector.h"
#include "rod/rod.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct FilRecorder {
    FilWorld *world;
    FilAllocator allocator;
    FilArena arena;
    FilResultDef def;
    FilResultRod *rods;
    FilResultLine *lines;
    FilResultPoint *points;
    FilResultSolid *rigids, *obstacles;
    FilResultMesh *meshes;
    const FilMesh **known; // [mesh_count] whose arrays `meshes` shows
    double *position, *quaternion, *velocity, *curvature;
    double *force; // [point_count][3] N: what sections of rods that do not stretch carry
    double *tension, *elastic;
    double *reaction_force, *reaction_moment;
    FilArena scratch; // of a frame
    double *rigid_position, *rigid_quaternion, *rigid_velocity, *rigid_spin;
    double *obstacle_position, *obstacle_quaternion;
};

// --- what there is -------------------------------------------------------------------------------

static int find_mesh(FilRecorder *recorder, const FilMesh *mesh) {
    for (int k = 0; k < recorder->def.mesh_count; k++) {
        if (recorder->known[k] == mesh) {
            return k;
        }
    }
    const int index = recorder->def.mesh_count++;
    recorder->known[index] = mesh;
    recorder->meshes[index] = (FilResultMesh){.vertex_count = fil_mesh_vertex_count(mesh),
                                              .triangle_count = fil_mesh_triangle_count(mesh),
                                              .vertices = fil_mesh_vertices(mesh),
                                              .triangles = fil_mesh_triangles(mesh)};
    return index;
}

static FilResultSolid describe_solid(FilRecorder *recorder, const FilShape *shape) {
    FilResultSolid solid = {.shape = shape->kind,
                            .radius = shape->radius,
                            .length = shape->length,
                            .size = {shape->size[0], shape->size[1], shape->size[2]},
                            .mesh = -1};
    if (shape->kind == FIL_SHAPE_MESH) {
        solid.mesh = find_mesh(recorder, shape->mesh);
    }
    return solid;
}

static void describe_points(FilRecorder *recorder, const FilBody *body) {
    const FilRod *rod = body->self;
    for (int k = 0; k < body->piece_count; k++) {
        const FilPiece *piece = &recorder->world->pieces[body->first_piece + k];
        for (int end = 0; end < 2; end++) {
            recorder->points[piece->point[end]] =
                (FilResultPoint){.element = piece->element,
                                 .u = piece->u[end],
                                 .s = piece->s[end] * fil_rod_length(rod)};
        }
    }
}

static void describe_rod(FilRecorder *recorder, int index) {
    const FilBody *body = &recorder->world->bodies[recorder->world->rods[index]];
    const FilRod *rod = body->self;
    double radius = 0.0, size[2] = {0.0};
    for (int e = 0; e < rod->element_count; e++) {
        const FilStiffness *section = &rod->sections[e];
        radius = section->radius > radius ? section->radius : radius;
        for (int k = 0; k < 2; k++) {
            size[k] = section->size[k] > size[k] ? section->size[k] : size[k];
        }
    }
    recorder->rods[index] = (FilResultRod){.model = rod->model,
                                           .element_count = rod->element_count,
                                           .length = fil_rod_length(rod),
                                           .radius = radius,
                                           .contact_radius = body->radius,
                                           .width = size[0],
                                           .thickness = size[1],
                                           .first_point = body->first_point,
                                           .point_count = body->point_count};
    const int parts = rod->joints != NULL ? rod->element_count : 1;
    const int each = body->point_count / parts;
    for (int k = 0; k < parts; k++) {
        recorder->lines[recorder->def.line_count++] =
            (FilResultLine){.rod = index,
                            .first_point = body->first_point + k * each,
                            .point_count = each,
                            .radius = parts > 1 ? rod->sections[k].radius : radius};
    }
    describe_points(recorder, body);
}

double fil_line_radius(const FilResultDef *def, int line) {
    const FilResultLine *it = &def->lines[line];
    return it->radius > 0.0 ? it->radius : def->rods[it->rod].radius;
}

static int count_lines(const FilWorld *world) {
    int count = 0;
    for (int r = 0; r < world->rod_count; r++) {
        const FilRod *rod = world->bodies[world->rods[r]].self;
        count += rod->joints != NULL ? rod->element_count : 1;
    }
    return count;
}

static bool take_memory(FilRecorder *recorder) {
    const FilWorld *world = recorder->world;
    FilArena *arena = &recorder->arena;
    const size_t n = (size_t)world->point_count, rigids = (size_t)world->rigid_count;
    const size_t obstacles = (size_t)world->obstacle_count, solids = rigids + obstacles;
    recorder->rods = FIL_NEW(arena, FilResultRod, world->rod_count);
    recorder->lines = FIL_NEW(arena, FilResultLine, count_lines(world));
    recorder->points = FIL_NEW(arena, FilResultPoint, n);
    recorder->rigids = FIL_NEW(arena, FilResultSolid, rigids);
    recorder->obstacles = FIL_NEW(arena, FilResultSolid, obstacles);
    recorder->meshes = FIL_NEW(arena, FilResultMesh, solids);
    recorder->known = FIL_NEW(arena, const FilMesh *, solids);
    recorder->position = FIL_NEW(arena, double, 3 * n);
    recorder->quaternion = FIL_NEW(arena, double, 4 * n);
    recorder->velocity = FIL_NEW(arena, double, 3 * n);
    recorder->curvature = FIL_NEW(arena, double, 3 * n);
    recorder->force = FIL_NEW(arena, double, 3 * n);
    recorder->tension = FIL_NEW(arena, double, n);
    recorder->elastic = FIL_NEW(arena, double, n);
    recorder->reaction_force = FIL_NEW(arena, double, 6 * (size_t)world->rod_count);
    recorder->reaction_moment = FIL_NEW(arena, double, 6 * (size_t)world->rod_count);
    recorder->rigid_position = FIL_NEW(arena, double, 3 * rigids);
    recorder->rigid_quaternion = FIL_NEW(arena, double, 4 * rigids);
    recorder->rigid_velocity = FIL_NEW(arena, double, 3 * rigids);
    recorder->rigid_spin = FIL_NEW(arena, double, 3 * rigids);
    recorder->obstacle_position = FIL_NEW(arena, double, 3 * obstacles);
    recorder->obstacle_quaternion = FIL_NEW(arena, double, 4 * obstacles);
    return !arena->failed;
}

static void describe(FilRecorder *recorder) {
    const FilWorld *world = recorder->world;
    recorder->def = (FilResultDef){.step = world->def.step,
                                   .rods = recorder->rods,
                                   .lines = recorder->lines,
                                   .points = recorder->points,
                                   .rigids = recorder->rigids,
                                   .obstacles = recorder->obstacles,
                                   .meshes = recorder->meshes,
                                   .rod_count = world->rod_count,
                                   .point_count = world->point_count,
                                   .rigid_count = world->rigid_count,
                                   .obstacle_count = world->obstacle_count};
    for (int r = 0; r < world->rod_count; r++) {
        describe_rod(recorder, r);
    }
    for (int k = 0; k < world->rigid_count; k++) {
        const FilRigid *rigid = world->bodies[world->rigids[k]].self;
        recorder->rigids[k] = describe_solid(recorder, fil_rigid_shape(rigid));
    }
    for (int k = 0; k < world->obstacle_count; k++) {
        recorder->obstacles[k] = describe_solid(recorder, &world->obstacles[k].def.shape);
    }
}

FilStatus fil_recorder_create(FilWorld *world, const FilAllocator *allocator, FilRecorder **out,
                              FilError *error) {
    const FilAllocator memory = allocator != NULL ? *allocator : fil_libc_allocator;
    FilRecorder *recorder = memory.resize(memory.user, NULL, 0, sizeof *recorder);
    if (recorder != NULL) {
        *recorder = (FilRecorder){.world = world,
                                  .allocator = memory,
                                  .arena = fil_arena_make(&memory),
                                  .scratch = fil_arena_make(&memory)};
    }
    if (recorder == NULL || !take_memory(recorder)) {
        fil_recorder_destroy(recorder);
        return fil_fail(error, FIL_E_NO_MEMORY, "there is not enough memory to record %d points",
                        world->point_count);
    }
    describe(recorder);
    *out = recorder;
    return FIL_OK;
}

void fil_recorder_destroy(FilRecorder *recorder) {
    if (recorder != NULL) {
        const FilAllocator memory = recorder->allocator;
        fil_arena_destroy(&recorder->arena);
        fil_arena_destroy(&recorder->scratch);
        memory.resize(memory.user, recorder, sizeof *recorder, 0);
    }
}

void fil_recorder_set_name(FilRecorder *recorder, FilBodyKind kind, int index, const char *name) {
    const FilResultDef *def = &recorder->def;
    char *place = NULL;
    if (kind == FIL_BODY_ROD && index >= 0 && index < def->rod_count) {
        place = recorder->rods[index].name;
    } else if (kind == FIL_BODY_RIGID && index >= 0 && index < def->rigid_count) {
        place = recorder->rigids[index].name;
    } else if (kind == FIL_BODY_OBSTACLE && index >= 0 && index < def->obstacle_count) {
        place = recorder->obstacles[index].name;
    }
    if (place != NULL) {
        size_t length = strlen(name);
        if (length >= FIL_RESULT_NAME) { // not in the middle of a character of UTF-8
            length = FIL_RESULT_NAME - 1;
            while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) {
                length--;
            }
        }
        memset(place, 0, FIL_RESULT_NAME);
        (void)snprintf(place, FIL_RESULT_NAME, "%.*s", (int)length, name);
    }
}

FilResultDef fil_recorder_def(const FilRecorder *recorder) {
    return recorder->def;
}

// --- frames --------------------------------------------------------------------------------------

static void put_pose(const FilPose *pose, int index, double *position, double *quaternion) {
    double R[9];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            R[3 * i + k] = pose->axis[k][i];
        }
    }
    memcpy(position + 3 * (ptrdiff_t)index, pose->position, sizeof pose->position);
    fil_rotation_to_quaternion(R, quaternion + 4 * (ptrdiff_t)index);
}

static void sample_rods(void *context, int first, int last) {
    FilRecorder *recorder = context;
    for (int r = first; r < last; r++) {
        const FilRod *rod = recorder->world->bodies[recorder->world->rods[r]].self;
        const FilResultRod *about = &recorder->rods[r];
        for (int i = about->first_point; i < about->first_point + about->point_count; i++) {
            const FilResultPoint *point = &recorder->points[i];
            FilPose pose;
            FilRate rate;
            fil_rod_element_at(rod, point->element, point->u, &pose, &rate);
            fil_rod_curvature_at(rod, point->element, point->u,
                                 recorder->curvature + 3 * (ptrdiff_t)i);
            recorder->elastic[i] = fil_rod_elastic_at(rod, point->element, point->u);
            put_pose(&pose, i, recorder->position, recorder->quaternion);
            memcpy(recorder->velocity + 3 * (ptrdiff_t)i, rate.velocity, sizeof rate.velocity);
        }
    }
}

// Along n0, which is the first column of the rotation.
static double along(const double q[4], const double force[3]) {
    double R[9];
    fil_rotation_from_quaternion(q, R);
    return R[0] * force[0] + R[3] * force[1] + R[6] * force[2];
}

static void find_tensions(void *context, int first, int last) {
    FilRecorder *recorder = context;
    for (int r = first; r < last; r++) {
        const FilRod *rod = recorder->world->bodies[recorder->world->rods[r]].self;
        const FilResultRod *about = &recorder->rods[r];
        for (int i = about->first_point; i < about->first_point + about->point_count; i++) {
            const FilResultPoint *point = &recorder->points[i];
            recorder->tension[i] =
                rod->table->edge_tension != NULL
                    ? fil_rod_edge_tension_at(rod, point->element, point->u)
                    : along(recorder->quaternion + 4 * (size_t)i, recorder->force + 3 * (size_t)i);
        }
    }
}

static void sample_solids(FilRecorder *recorder) {
    const FilWorld *world = recorder->world;
    for (int k = 0; k < world->rigid_count; k++) {
        const FilRigid *rigid = world->bodies[world->rigids[k]].self;
        FilPose pose;
        FilRate rate;
        fil_rigid_pose(rigid, &pose);
        fil_rigid_rate(rigid, &rate);
        put_pose(&pose, k, recorder->rigid_position, recorder->rigid_quaternion);
        memcpy(recorder->rigid_velocity + 3 * (ptrdiff_t)k, rate.velocity, sizeof rate.velocity);
        memcpy(recorder->rigid_spin + 3 * (ptrdiff_t)k, rate.spin, sizeof rate.spin);
    }
    for (int k = 0; k < world->obstacle_count; k++) {
        put_pose(&world->obstacles[k].pose, k, recorder->obstacle_position,
                 recorder->obstacle_quaternion);
    }
}

// --- is it possible? -----------------------------------------------------------------------------

static const double fastest = 1e6; // m/s: of all its mass; sound in a solid is 50 times slower

// A world that explodes does so by many powers of ten: what has more energy than it would have if
// all of it moved faster than anything that holds together is one.
static FilStatus check_energy(const FilRecorder *recorder, const FilFrame *frame, FilError *error) {
    const FilRodEnergy *e = &frame->energy;
    const double has = e->kinetic + fabs(e->bend) + fabs(e->twist) + fabs(e->stretch);
    const double most = 0.5 * fil_world_mass(recorder->world) * fastest * fastest;
    if (!(has <= most) || !isfinite(e->gravity + e->loads)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "at time %g s kinetic and elastic energy are %.3g J, more than the whole "
                        "mass has at %g m/s: the world has exploded",
                        frame->time, isnan(has) ? (double)NAN : has, fastest);
    }
    return FIL_OK;
}

static FilStatus check_numbers(const FilRecorder *recorder, const FilFrame *frame,
                               FilError *error) {
    const ptrdiff_t points = recorder->def.point_count, rigids = recorder->def.rigid_count;
    const ptrdiff_t obstacles = recorder->def.obstacle_count;
    const struct {
        const char *name;
        const double *numbers;
        ptrdiff_t count;
    } arrays[] = {{"a position", frame->position, 3 * points},
                  {"a quaternion", frame->quaternion, 4 * points},
                  {"a velocity", frame->velocity, 3 * points},
                  {"a curvature", frame->curvature, 3 * points},
                  {"a tension", frame->tension, points},
                  {"an elastic energy", frame->elastic, points},
                  {"the position of a body", frame->rigid_position, 3 * rigids},
                  {"the quaternion of a body", frame->rigid_quaternion, 4 * rigids},
                  {"the velocity of a body", frame->rigid_velocity, 3 * rigids},
                  {"the spin of a body", frame->rigid_spin, 3 * rigids},
                  {"the position of an obstacle", frame->obstacle_position, 3 * obstacles},
                  {"the quaternion of an obstacle", frame->obstacle_quaternion, 4 * obstacles}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        if (!fil_all_finite(arrays[k].numbers, (int)arrays[k].count)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "at time %g s %s is not finite: the world has exploded", frame->time,
                            arrays[k].name);
        }
    }
    return FIL_OK;
}

FilStatus fil_recorder_frame(FilRecorder *recorder, FilFrame *frame, FilError *error) {
    FilWorld *world = recorder->world;
    if (world->point_count != recorder->def.point_count ||
        world->rigid_count != recorder->def.rigid_count ||
        world->obstacle_count != recorder->def.obstacle_count) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "something was added to the world after its recording began");
    }
    fil_parallel_ranges(world->rod_count, 8, world->threads, sample_rods, recorder);
    fil_world_section_forces(world, recorder->velocity, recorder->force);
    fil_parallel_ranges(world->rod_count, 8, world->threads, find_tensions, recorder);
    fil_arena_reset(&recorder->scratch);
    FIL_TRY(fil_world_reactions(world, &recorder->scratch, recorder->reaction_force,
                                recorder->reaction_moment, error));
    sample_solids(recorder);
    *frame = (FilFrame){.time = fil_world_time(world),
                        .step = fil_world_step_count(world),
                        .position = recorder->position,
                        .quaternion = recorder->quaternion,
                        .velocity = recorder->velocity,
                        .curvature = recorder->curvature,
                        .tension = recorder->tension,
                        .elastic = recorder->elastic,
                        .reaction_force = recorder->reaction_force,
                        .reaction_moment = recorder->reaction_moment,
                        .rigid_position = recorder->rigid_position,
                        .rigid_quaternion = recorder->rigid_quaternion,
                        .rigid_velocity = recorder->rigid_velocity,
                        .rigid_spin = recorder->rigid_spin,
                        .obstacle_position = recorder->obstacle_position,
                        .obstacle_quaternion = recorder->obstacle_quaternion};
    frame->contacts = fil_world_contacts(world, &frame->contact_count);
    fil_world_energy(world, &frame->energy);
    FIL_TRY(check_numbers(recorder, frame, error));
    return check_energy(recorder, frame, error);
}
