// export_glb.c - glTF for Blender, three.js and game engines: rods as tubes and ribbons, solids as
// meshes.
//
// Of several frames, the tubes of the first are the mesh and those of frame k are its morph target
// k - 1, as displacements; the weights go from one target to the next. That costs 24 bytes a vertex
// and frame, which is why there is a limit. Solids move as nodes.
#include "export_tubes.h"

#include "glb_file.h"

#include <inttypes.h>
#include <math.h>

enum {
    FRAMES_MAX = 256, // what every WebGL 2 can hold as layers of a texture
};
#define BYTES_MAX 1e9

typedef struct Tubes {
    int vertex_count, triangle_count;
    float *base[2];   // of the first frame: positions, normals
    int *accessor[2]; // [frame]
    int indices;      // accessor
} Tubes;

typedef struct Scene {
    FilExport *job;
    FilArena *memory;
    FilGlb glb;
    FilExportClock clock;
    FilExportGroups groups;
    FilExportSolids solids;
    Tubes *tubes; // [group]
    int sides;
    int times; // accessor
} Scene;

// --- tubes ---------------------------------------------------------------------------------------

static FilExportTubes get_tubes(const Scene *scene, int g) {
    return (FilExportTubes){
        .def = scene->job->def, .group = &scene->groups.items[g], .sides = scene->sides};
}

static FilStatus add_indices(Scene *scene, int g) {
    const FilArenaMark mark = fil_arena_mark(scene->memory);
    const FilExportTubes from = get_tubes(scene, g);
    const size_t count = 3 * (size_t)scene->tubes[g].triangle_count;
    uint32_t *indices = FIL_NEW(scene->memory, uint32_t, count);
    if (indices == NULL) {
        return fil_export_no_memory(scene->job);
    }
    fil_export_tube_triangles(&from, indices);
    scene->tubes[g].indices = fil_glb_add_indices(&scene->glb, indices, count);
    fil_arena_release(scene->memory, mark);
    return FIL_OK;
}

static int choose_sides(const FilExport *job) {
    const int points = job->def->point_count;
    return job->options->tube_sides > 0 ? job->options->tube_sides
           : points <= 20000            ? 8
           : points <= 100000           ? 6
                                        : 4;
}

static FilStatus check_size(const Scene *scene) {
    double vertices = 0.0;
    for (int g = 0; g < scene->groups.count; g++) {
        const FilExportTubes tubes = get_tubes(scene, g);
        double counts[2];
        fil_export_tube_counts(&tubes, counts);
        vertices += counts[0];
    }
    const double bytes = vertices * 24.0 * ((double)scene->job->frame_count + 1.0);
    if (scene->job->frame_count > FRAMES_MAX) {
        return fil_fail(scene->job->error, FIL_E_ARGUMENT,
                        "%" PRId64 " frames are too many for glb, which shows at most %d: choose "
                        "fewer frames, or usda",
                        scene->job->frame_count, (int)FRAMES_MAX);
    }
    if (bytes > BYTES_MAX) {
        return fil_fail(scene->job->error, FIL_E_ARGUMENT,
                        "%" PRId64 " frames of %.0f vertices would make a glb of %.2g GB; at most "
                        "%g GB are written: choose fewer frames or sides, or usda",
                        scene->job->frame_count, vertices, bytes / 1e9, BYTES_MAX / 1e9);
    }
    return FIL_OK;
}

static FilStatus allocate_tubes(Scene *scene) {
    scene->tubes = FIL_NEW_ZEROED(scene->memory, Tubes, scene->groups.count + 1);
    for (int g = 0; scene->tubes != NULL && g < scene->groups.count; g++) {
        const FilExportTubes from = get_tubes(scene, g);
        Tubes *tubes = &scene->tubes[g];
        double counts[2];
        fil_export_tube_counts(&from, counts);
        tubes->vertex_count = (int)counts[0]; // check_size() has looked at it
        tubes->triangle_count = (int)counts[1];
        for (int a = 0; a < 2; a++) {
            tubes->base[a] = FIL_NEW(scene->memory, float, 3 * (size_t)tubes->vertex_count);
            tubes->accessor[a] = FIL_NEW(scene->memory, int, scene->job->frame_count);
        }
    }
    return scene->memory->failed ? fil_export_no_memory(scene->job) : FIL_OK;
}

static FilStatus add_frame(Scene *scene, int64_t k, float *const room[2]) {
    FilFrame frame = {0};
    FIL_TRY(fil_export_read(scene->job, k, &frame));
    for (int g = 0; g < scene->groups.count; g++) {
        const FilExportTubes from = get_tubes(scene, g);
        const Tubes *tubes = &scene->tubes[g];
        const size_t count = (size_t)tubes->vertex_count;
        float *const *to = k == 0 ? tubes->base : room;
        fil_export_tube_vertices(&from, &frame, to);
        for (int a = 0; a < 2; a++) {
            for (size_t i = 0; k > 0 && i < 3 * count; i++) {
                to[a][i] -= tubes->base[a][i];
            }
            tubes->accessor[a][k] = fil_glb_add_floats(
                &scene->glb, to[a], count, 3, a == 0 ? FIL_GLB_POSITIONS : FIL_GLB_VERTICES);
        }
    }
    return FIL_OK;
}

static FilStatus add_tubes(Scene *scene) {
    size_t most = 1;
    FIL_TRY(allocate_tubes(scene));
    for (int g = 0; g < scene->groups.count; g++) {
        FIL_TRY(add_indices(scene, g));
        most = (size_t)scene->tubes[g].vertex_count > most ? (size_t)scene->tubes[g].vertex_count
                                                           : most;
    }
    float *const room[2] = {FIL_NEW(scene->memory, float, 3 * most),
                            FIL_NEW(scene->memory, float, 3 * most)};
    if (scene->memory->failed) {
        return fil_export_no_memory(scene->job);
    }
    for (int64_t k = 0; k < scene->job->frame_count && scene->groups.count > 0; k++) {
        FIL_TRY(add_frame(scene, k, room));
    }
    return FIL_OK;
}

// --- meshes and nodes ----------------------------------------------------------------------------

static int add_material(Scene *scene, const char *name, int colour) {
    const double *c = fil_export_colour(colour);
    FilGlb *glb = &scene->glb;
    fil_glb_next(&glb->materials);
    fil_glb_print(&glb->materials, "{\"name\":");
    fil_glb_print_text(&glb->materials, name);
    fil_glb_print(&glb->materials,
                  ",\"pbrMetallicRoughness\":{\"baseColorFactor\":[%.9g,%.9g,%.9g,1],"
                  "\"metallicFactor\":0,\"roughnessFactor\":0.6}}",
                  c[0], c[1], c[2]);
    return glb->material_count++;
}

static void add_group_mesh(Scene *scene, int g) {
    const Tubes *tubes = &scene->tubes[g];
    FilGlb *glb = &scene->glb;
    FilGlbBytes *text = &glb->meshes;
    const int64_t targets = scene->job->frame_count - 1;
    const int material = add_material(scene, scene->groups.items[g].name, g);
    fil_glb_next(text);
    fil_glb_print(text,
                  "{\"name\":\"%s\",\"primitives\":[{\"attributes\":{\"POSITION\":%d,"
                  "\"NORMAL\":%d},\"indices\":%d,\"material\":%d",
                  scene->groups.items[g].name, tubes->accessor[0][0], tubes->accessor[1][0],
                  tubes->indices, material);
    for (int64_t k = 1; k <= targets; k++) {
        fil_glb_print(text, "%s{\"POSITION\":%d,\"NORMAL\":%d}%s", k == 1 ? ",\"targets\":[" : ",",
                      tubes->accessor[0][k], tubes->accessor[1][k], k == targets ? "]" : "");
    }
    fil_glb_print(text, "}]");
    for (int64_t k = 1; k <= targets; k++) {
        fil_glb_print(text, "%s%s", k == 1 ? ",\"weights\":[0" : ",0", k == targets ? "]" : "");
    }
    fil_glb_print(text, "}");
    fil_glb_next(&glb->nodes);
    fil_glb_print(&glb->nodes, "{\"name\":\"%s\",\"mesh\":%d}", scene->groups.items[g].name,
                  glb->mesh_count);
    glb->mesh_count++;
    glb->node_count++;
}

// Accessor of the times of all frames, made when it is needed first.
static int get_times(Scene *scene, float *room) {
    if (scene->times < 0) {
        for (int64_t k = 0; k < scene->job->frame_count; k++) {
            room[k] = (float)scene->clock.time[k];
        }
        scene->times = fil_glb_add_floats(&scene->glb, room, (size_t)scene->job->frame_count, 1,
                                          FIL_GLB_TIMES);
    }
    return scene->times;
}

static int add_sampler(Scene *scene, int times, int values) {
    fil_glb_next(&scene->glb.samplers);
    fil_glb_print(&scene->glb.samplers, "{\"input\":%d,\"interpolation\":\"LINEAR\",\"output\":%d}",
                  times, values);
    return scene->glb.sampler_count++;
}

static void add_channel(Scene *scene, int sampler, int node, const char *path) {
    fil_glb_next(&scene->glb.channels);
    fil_glb_print(&scene->glb.channels, "{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}",
                  sampler, node, path);
}

// One sampler for all groups: of target k - 1 in frame k all, and of the others nothing.
static FilStatus add_weights(Scene *scene) {
    const size_t frames = (size_t)scene->job->frame_count, targets = frames - 1;
    if (targets == 0 || scene->groups.count == 0) {
        return FIL_OK;
    }
    float *weights = FIL_NEW_ZEROED(scene->memory, float, frames *targets);
    float *room = FIL_NEW(scene->memory, float, frames);
    if (scene->memory->failed) {
        return fil_export_no_memory(scene->job);
    }
    for (size_t k = 1; k < frames; k++) {
        weights[k * targets + k - 1] = 1.0F;
    }
    const int times = get_times(scene, room);
    const int values =
        fil_glb_add_floats(&scene->glb, weights, frames * targets, 1, FIL_GLB_VALUES);
    const int sampler = add_sampler(scene, times, values);
    for (int g = 0; g < scene->groups.count; g++) {
        add_channel(scene, sampler, g, "weights"); // groups are the first nodes
    }
    return FIL_OK;
}

// --- solids --------------------------------------------------------------------------------------

static bool is_same_shape(const FilResultSolid *a, const FilResultSolid *b) {
    return a->shape == b->shape && a->shape != FIL_SHAPE_PLANE && a->radius == b->radius &&
           a->length == b->length && a->mesh == b->mesh && a->size[0] == b->size[0] &&
           a->size[1] == b->size[1] && a->size[2] == b->size[2];
}

// Add the surface of a solid as a mesh of its own.
static FilStatus add_surface(Scene *scene, int index, int material) {
    const FilArenaMark mark = fil_arena_mark(scene->memory);
    FilExportMesh mesh;
    FIL_TRY(fil_export_mesh(scene->job, scene->memory, &scene->solids, index, &mesh));
    const size_t n = (size_t)mesh.vertex_count, corners = 3 * (size_t)mesh.triangle_count;
    float *values = FIL_NEW(scene->memory, float, 3 * n + 1);
    uint32_t *indices = FIL_NEW(scene->memory, uint32_t, corners + 1);
    if (scene->memory->failed) {
        return fil_export_no_memory(scene->job);
    }
    int accessor[2] = {-1, -1};
    for (int a = 0; a < 2; a++) {
        const double *from = a == 0 ? mesh.position : mesh.normal;
        for (size_t k = 0; from != NULL && k < 3 * n; k++) {
            values[k] = (float)from[k];
        }
        if (from != NULL) {
            accessor[a] = fil_glb_add_floats(&scene->glb, values, n, 3,
                                             a == 0 ? FIL_GLB_POSITIONS : FIL_GLB_VERTICES);
        }
    }
    for (size_t k = 0; k < corners; k++) {
        indices[k] = (uint32_t)mesh.triangle[k];
    }
    FilGlbBytes *text = &scene->glb.meshes;
    fil_glb_next(text);
    fil_glb_print(text, "{\"name\":\"%s\",\"primitives\":[{\"attributes\":{\"POSITION\":%d",
                  scene->solids.items[index].name, accessor[0]);
    if (accessor[1] >= 0) {
        fil_glb_print(text, ",\"NORMAL\":%d", accessor[1]);
    }
    fil_glb_print(text, "},\"indices\":%d,\"material\":%d}]}",
                  fil_glb_add_indices(&scene->glb, indices, corners), material);
    scene->glb.mesh_count++;
    fil_arena_release(scene->memory, mark);
    return FIL_OK;
}

// Numbers w x y z of a result in glTF's order, x y z w.
static void put_pose(const FilExportSolid *solid, int64_t k, float place[3], float turn[4]) {
    for (int c = 0; c < 4; c++) {
        turn[c] = (float)solid->quaternion[4 * k + (c + 1) % 4];
    }
    for (int c = 0; c < 3; c++) {
        place[c] = (float)solid->position[3 * k + c];
    }
}

static FilStatus add_motion(Scene *scene, const FilExportSolid *solid) {
    const size_t frames = (size_t)scene->job->frame_count;
    const FilArenaMark mark = fil_arena_mark(scene->memory);
    float *place = FIL_NEW(scene->memory, float, 3 * frames);
    float *turn = FIL_NEW(scene->memory, float, 4 * frames);
    if (scene->memory->failed) {
        return fil_export_no_memory(scene->job);
    }
    const int times = get_times(scene, place), node = scene->glb.node_count - 1;
    for (size_t k = 0; k < frames; k++) {
        put_pose(solid, (int64_t)k, place + 3 * k, turn + 4 * k);
    }
    const int places = fil_glb_add_floats(&scene->glb, place, frames, 3, FIL_GLB_VALUES);
    const int turns = fil_glb_add_floats(&scene->glb, turn, frames, 4, FIL_GLB_VALUES);
    add_channel(scene, add_sampler(scene, times, places), node, "translation");
    add_channel(scene, add_sampler(scene, times, turns), node, "rotation");
    fil_arena_release(scene->memory, mark);
    return FIL_OK;
}

// Add the node of a solid, with the mesh that was added last.
static FilStatus add_node(Scene *scene, const FilExportSolid *solid) {
    FilGlb *glb = &scene->glb;
    float place[3], turn[4];
    put_pose(solid, 0, place, turn);
    fil_glb_next(&glb->nodes);
    fil_glb_print(&glb->nodes,
                  "{\"name\":\"%s\",\"mesh\":%d,\"translation\":[%.9g,%.9g,%.9g],"
                  "\"rotation\":[%.9g,%.9g,%.9g,%.9g]}",
                  solid->name, glb->mesh_count - 1, (double)place[0], (double)place[1],
                  (double)place[2], (double)turn[0], (double)turn[1], (double)turn[2],
                  (double)turn[3]);
    glb->node_count++;
    return solid->moves ? add_motion(scene, solid) : FIL_OK;
}

// Make the mesh of a solid the last one, which it is already after a neighbour of the same shape.
static FilStatus need_surface(Scene *scene, int index, const FilExportSolid *last, int material) {
    const bool same =
        last != NULL && is_same_shape(&scene->solids.items[index].solid, &last->solid);
    return same ? FIL_OK : add_surface(scene, index, material);
}

// Solids from..to, which share a material.
static FilStatus add_solids(Scene *scene, const char *material_name, int from, int to) {
    const FilExportSolid *items = scene->solids.items, *last = NULL;
    const int colour = from < scene->solids.body_count ? 2 : 5;
    int material = -1;
    for (int i = from; i < to; i++) {
        if (items[i].solid.shape == FIL_SHAPE_MESH && items[i].solid.mesh < 0) {
            continue;
        }
        if (material < 0) {
            material = add_material(scene, material_name, colour);
        }
        FIL_TRY(need_surface(scene, i, last, material));
        FIL_TRY(add_node(scene, &items[i]));
        last = &items[i];
    }
    return FIL_OK;
}

// --- the file ------------------------------------------------------------------------------------

static FilStatus build_scene(Scene *scene) {
    FilExport *job = scene->job;
    FIL_TRY(fil_export_clock(job, scene->memory, &scene->clock));
    FIL_TRY(fil_export_groups(job, scene->memory, &scene->groups));
    FIL_TRY(check_size(scene));
    FIL_TRY(fil_export_solids(job, scene->memory, &scene->solids));
    FIL_TRY(add_tubes(scene));
    for (int g = 0; g < scene->groups.count; g++) {
        add_group_mesh(scene, g);
    }
    FIL_TRY(add_weights(scene));
    FIL_TRY(add_solids(scene, "bodies", 0, scene->solids.body_count));
    FIL_TRY(add_solids(scene, "obstacles", scene->solids.body_count, scene->solids.count));
    if (scene->glb.node_count == 0) {
        return fil_fail(job->error, FIL_E_ARGUMENT, "there is nothing to see in the run");
    }
    if (scene->glb.not_finite) {
        return fil_fail(job->error, FIL_E_FORMAT, "the run holds numbers that are not finite");
    }
    return FIL_OK;
}

static FilStatus write_scene(Scene *scene) {
    FilExport *job = scene->job;
    FIL_TRY(build_scene(scene));
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, -1, ".glb"));
    const bool done = fil_glb_put(&scene->glb, "filum", &writer);
    return fil_export_end(job, &writer, done ? FIL_OK : fil_export_no_memory(job));
}

static FilStatus write_run(FilExport *job) {
    FilArena memory = fil_arena_make(NULL); // the scratch of the job is reset with every frame
    Scene scene = {.job = job, .memory = &memory, .sides = choose_sides(job), .times = -1};
    const FilStatus status = write_scene(&scene);
    fil_glb_free(&scene.glb);
    fil_arena_destroy(&memory);
    return status;
}

const FilExportKind fil_export_glb = {.run = write_run, .run_suffixes = {".glb"}, .is_y_up = true};
