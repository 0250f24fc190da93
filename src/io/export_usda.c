// export_usda.c - Pixar's USD as text: one stage with the curves, the solids and their motion.
//
//     World                    Xform, the default prim
//       Rods                   Scope: a BasisCurves for each group of round rods, a Mesh for each
//                              group of others (io/export_things.h)
//       Bodies, Obstacles      Scope: Sphere, Capsule, Cylinder, Cube or Mesh with translate,
//       orient
//
// Curves are linear: their vertices are the points of the result, and nothing is smoothed away.
// Widths are diameters. What is not round is a mesh that moves: curves with normals, USD's ribbons,
// have no thickness, and Blender shows them as round. Time codes count frames from 0; velocities of
// curves are lengths in a second of the stage, as motion blur wants them; a mesh keeps its
// vertices, so that renderers find its velocities themselves. A value that stays is written once,
// not as samples.
//
// USD keeps an attribute with all its samples together. What frames say is read once and kept where
// it is not much; of long runs the frames are read for each attribute of each group, and memory
// holds one frame, however long the run.
#include "export_tubes.h"

#include "math/vec3.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define KEPT_MAX 6.4e7 // bytes of what is kept

enum { SIDES = 8 }; // of the rings of meshes

// What frames say of points, and is kept.
typedef enum Values { POSITIONS, VELOCITIES, QUATERNIONS, VALUES_COUNT } Values;
static const int width_of[VALUES_COUNT] = {3, 3, 4};

typedef struct Stage {
    FilExport *job;
    FilFileWriter *writer;
    FilArena *memory;
    FilExportClock clock;
    FilExportGroups groups;
    FilExportSolids solids;
    float (*extents)[6];        // [frame]
    double *kept[VALUES_COUNT]; // [frame][point][3 or 4]; none is NULL, or all that are needed are
} Stage;

// --- numbers -------------------------------------------------------------------------------------

// Nine digits are what a float needs.
static void print_float3(FilFileWriter *writer, const double v[3], double scale) {
    fil_file_print(writer, "(%.9g, %.9g, %.9g)", scale * v[0], scale * v[1], scale * v[2]);
}

// The time code of a frame: whole where it is meant to be.
static double get_code(const Stage *stage, int64_t k) {
    const double code = stage->clock.time[k] * stage->clock.fps, whole = floor(code + 0.5);
    return fabs(code - whole) < 1e-6 * (1.0 + whole) ? whole : code;
}

static void print_code(const Stage *stage, int64_t k) {
    fil_file_print(stage->writer, "%.12g: ", get_code(stage, k));
}

// A text in quotes, on one line.
static void print_text(FilFileWriter *writer, const char *text) {
    fil_file_put(writer, "\"", 1);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fil_file_put(writer, "\\", 1);
        }
        fil_file_put(writer, (unsigned char)*c < 32 ? " " : c, 1);
    }
    fil_file_put(writer, "\"", 1);
}

// --- curves --------------------------------------------------------------------------------------

static double get_width(const FilResultDef *def, int line) {
    return 2.0 * fil_line_radius(def, line);
}

// What chosen frame `k` says of points, kept or read for it.
static FilStatus get_frame(const Stage *stage, int64_t k, FilFrame *frame) {
    FilExport *job = stage->job;
    const size_t first = (size_t)k * (size_t)job->def->point_count;
    if (stage->kept[POSITIONS] == NULL) {
        return fil_export_read(job, k, frame);
    }
    const double *values[VALUES_COUNT] = {NULL};
    for (int what = 0; what < VALUES_COUNT; what++) {
        values[what] =
            stage->kept[what] != NULL ? stage->kept[what] + first * (size_t)width_of[what] : NULL;
    }
    *frame = (FilFrame){.position = values[POSITIONS],
                        .velocity = values[VELOCITIES],
                        .quaternion = values[QUATERNIONS]};
    return fil_export_go_on(job, k);
}

static bool has_meshes(const Stage *stage) {
    bool has = false;
    for (int g = 0; g < stage->groups.count; g++) {
        has = has || !stage->groups.items[g].is_round;
    }
    return has;
}

// Read all frames, and keep what they say, unless that is too much.
static FilStatus keep_values(Stage *stage) {
    FilExport *job = stage->job;
    const size_t points = (size_t)job->def->point_count, frames = (size_t)job->frame_count;
    const int kinds = has_meshes(stage) ? VALUES_COUNT : QUATERNIONS;
    if ((double)points * (double)frames * (kinds > QUATERNIONS ? 10.0 : 6.0) * sizeof(double) >
        KEPT_MAX) {
        return FIL_OK;
    }
    for (int what = 0; what < kinds; what++) {
        stage->kept[what] = FIL_NEW(stage->memory, double, points *frames *(size_t)width_of[what]);
    }
    if (stage->memory->failed) {
        return fil_export_no_memory(job);
    }
    for (size_t k = 0; k < frames; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, (int64_t)k, &frame));
        const double *const values[VALUES_COUNT] = {frame.position, frame.velocity,
                                                    frame.quaternion};
        for (int what = 0; what < kinds; what++) {
            const size_t count = points * (size_t)width_of[what];
            memcpy(stage->kept[what] + k * count, values[what], count * sizeof(double));
        }
    }
    return FIL_OK;
}

static void clear_box(float box[6]) {
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
}

static void widen_box(float box[6], const double x[3], double radius) {
    for (int k = 0; k < 3; k++) {
        box[k] = fminf(box[k], (float)(x[k] - radius));
        box[3 + k] = fmaxf(box[3 + k], (float)(x[k] + radius));
    }
}

// All points of a group, and the box around their tubes.
static void print_points(const Stage *stage, const FilExportGroup *group, const double *values,
                         double scale, float box[6]) {
    const FilResultDef *def = stage->job->def;
    const char *separator = "[";
    clear_box(box);
    for (int l = group->first_line; l < group->end_line; l++) {
        const FilResultLine *line = &def->lines[l];
        const double radius = 0.5 * get_width(def, l);
        for (int i = 0; fil_export_has_line(def, group, l) && i < line->point_count; i++) {
            const double *x = values + 3 * (size_t)(line->first_point + i);
            fil_file_put(stage->writer, separator, strlen(separator));
            print_float3(stage->writer, x, scale);
            separator = ", ";
            widen_box(box, x, radius);
        }
    }
    fil_file_print(stage->writer, "]");
}

static void begin_sample(const Stage *stage, int64_t k) {
    fil_file_print(stage->writer, "                ");
    print_code(stage, k);
}

static FilStatus print_samples(Stage *stage, const FilExportGroup *group, Values what) {
    FilFileWriter *writer = stage->writer;
    const bool moves = what == VELOCITIES;
    fil_file_print(writer, "            %s.timeSamples = {\n",
                   moves ? "vector3f[] velocities" : "point3f[] points");
    for (int64_t k = 0; k < stage->job->frame_count; k++) {
        FilFrame frame = {0};
        float unused[6];
        FIL_TRY(get_frame(stage, k, &frame));
        begin_sample(stage, k);
        print_points(stage, group, moves ? frame.velocity : frame.position,
                     moves ? 1.0 / stage->clock.slow : 1.0, moves ? unused : stage->extents[k]);
        fil_file_print(writer, ",\n");
    }
    fil_file_print(writer, "            }\n");
    return FIL_OK;
}

static void print_extents(const Stage *stage) {
    fil_file_print(stage->writer, "            float3[] extent.timeSamples = {\n");
    for (int64_t k = 0; k < stage->job->frame_count; k++) {
        const float *box = stage->extents[k];
        begin_sample(stage, k);
        fil_file_print(stage->writer, "[(%.9g, %.9g, %.9g), (%.9g, %.9g, %.9g)],\n", (double)box[0],
                       (double)box[1], (double)box[2], (double)box[3], (double)box[4],
                       (double)box[5]);
    }
    fil_file_print(stage->writer, "            }\n");
}

// How many vertices each curve has, and how wide it is at each.
static void print_shape(const Stage *stage, const FilExportGroup *group) {
    const FilResultDef *def = stage->job->def;
    FilFileWriter *writer = stage->writer;
    const char *separator = "";
    fil_file_print(writer, "            int[] curveVertexCounts = [");
    for (int l = group->first_line; l < group->end_line; l++) {
        if (fil_export_has_line(def, group, l)) {
            fil_file_print(writer, "%s%d", separator, def->lines[l].point_count);
            separator = ", ";
        }
    }
    fil_file_print(writer, "]\n            float[] widths = [");
    separator = "";
    for (int l = group->first_line; l < group->end_line; l++) {
        const FilResultLine *line = &def->lines[l];
        for (int i = 0; fil_export_has_line(def, group, l) && i < line->point_count; i++) {
            fil_file_print(writer, "%s%.9g", separator, get_width(def, l));
            separator = ", ";
        }
    }
    fil_file_print(writer, "] (\n                interpolation = \"vertex\"\n            )\n");
}

static void print_colour(const Stage *stage, int index) {
    fil_file_print(stage->writer, "            color3f[] primvars:displayColor = [");
    print_float3(stage->writer, fil_export_colour(index), 1.0);
    fil_file_print(stage->writer, "] (\n                interpolation = \"constant\"\n"
                                  "            )\n");
}

static FilStatus print_curves(Stage *stage, int index) {
    const FilExportGroup *group = &stage->groups.items[index];
    FilFileWriter *writer = stage->writer;
    fil_file_print(writer,
                   "        def BasisCurves \"%s\"\n        {\n"
                   "            uniform token type = \"linear\"\n"
                   "            uniform token wrap = \"nonperiodic\"\n",
                   group->name);
    print_shape(stage, group);
    print_colour(stage, index);
    FIL_TRY(print_samples(stage, group, POSITIONS));
    FIL_TRY(print_samples(stage, group, VELOCITIES));
    print_extents(stage);
    fil_file_print(writer, "        }\n");
    return FIL_OK;
}

// --- rods that are not round ---------------------------------------------------------------------

static void print_triangles(FilFileWriter *writer, const uint32_t *corners, size_t count) {
    fil_file_print(writer, "            int[] faceVertexCounts = [");
    for (size_t t = 0; t < count; t++) {
        fil_file_print(writer, "%s3", t > 0 ? ", " : "");
    }
    fil_file_print(writer, "]\n            int[] faceVertexIndices = [");
    for (size_t k = 0; k < 3 * count; k++) {
        fil_file_print(writer, "%s%" PRIu32, k > 0 ? ", " : "", corners[k]);
    }
    fil_file_print(writer, "]\n");
}

static void print_floats(FilFileWriter *writer, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float *v = values + 3 * i;
        fil_file_print(writer, i > 0 ? ", " : "[");
        print_float3(writer, (double[3]){(double)v[0], (double)v[1], (double)v[2]}, 1.0);
    }
    fil_file_print(writer, "],\n");
}

// Positions (which: 0) or normals (1) of all vertices, frame after frame; positions give the boxes.
static FilStatus print_vertices(Stage *stage, const FilExportTubes *tubes, float *const room[2],
                                size_t count, int which) {
    for (int64_t k = 0; k < stage->job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(get_frame(stage, k, &frame));
        fil_export_tube_vertices(tubes, &frame, room);
        begin_sample(stage, k);
        print_floats(stage->writer, room[which], count);
        clear_box(stage->extents[k]);
        for (size_t i = 0; i < count; i++) {
            const float *x = room[0] + 3 * i;
            widen_box(stage->extents[k], (double[3]){(double)x[0], (double)x[1], (double)x[2]},
                      0.0);
        }
    }
    fil_file_print(stage->writer, "            }\n");
    return FIL_OK;
}

static FilStatus print_tubes(Stage *stage, int index) {
    const FilExportGroup *group = &stage->groups.items[index];
    const FilExportTubes tubes = {.def = stage->job->def, .group = group, .sides = SIDES};
    const FilArenaMark mark = fil_arena_mark(stage->memory);
    FilFileWriter *writer = stage->writer;
    double counts[2];
    fil_export_tube_counts(&tubes, counts);
    const size_t vertices = (size_t)counts[0], triangles = (size_t)counts[1];
    uint32_t *corners = FIL_NEW(stage->memory, uint32_t, 3 * triangles);
    float *const room[2] = {FIL_NEW(stage->memory, float, 3 * vertices),
                            FIL_NEW(stage->memory, float, 3 * vertices)};
    if (stage->memory->failed) {
        return fil_export_no_memory(stage->job);
    }
    fil_file_print(writer,
                   "        def Mesh \"%s\"\n        {\n"
                   "            uniform token subdivisionScheme = \"none\"\n",
                   group->name);
    fil_export_tube_triangles(&tubes, corners);
    print_triangles(writer, corners, triangles);
    print_colour(stage, index);
    fil_file_print(writer, "            point3f[] points.timeSamples = {\n");
    FIL_TRY(print_vertices(stage, &tubes, room, vertices, 0));
    fil_file_print(writer, "            normal3f[] normals (\n                interpolation = "
                           "\"vertex\"\n            )\n            normal3f[] "
                           "normals.timeSamples = {\n");
    FIL_TRY(print_vertices(stage, &tubes, room, vertices, 1));
    print_extents(stage);
    fil_file_print(writer, "        }\n");
    fil_arena_release(stage->memory, mark);
    return FIL_OK;
}

// --- solids --------------------------------------------------------------------------------------

static void print_quaternion(FilFileWriter *writer, const double q[4]) {
    fil_file_print(writer, "(%.15g, %.15g, %.15g, %.15g)", q[0], q[1], q[2], q[3]);
}

static void print_double3(FilFileWriter *writer, const double v[3]) {
    fil_file_print(writer, "(%.15g, %.15g, %.15g)", v[0], v[1], v[2]);
}

static void print_pose(const Stage *stage, const FilExportSolid *solid, bool turn) {
    FilFileWriter *writer = stage->writer;
    const int64_t count = solid->moves ? stage->job->frame_count : 1;
    fil_file_print(writer, "            %s%s",
                   turn ? "quatd xformOp:orient" : "double3 xformOp:translate",
                   solid->moves ? ".timeSamples = {\n" : " = ");
    for (int64_t k = 0; k < count; k++) {
        if (solid->moves) {
            fil_file_print(writer, "                ");
            print_code(stage, k);
        }
        if (turn) {
            print_quaternion(writer, solid->quaternion + 4 * k);
        } else {
            print_double3(writer, solid->position + 3 * k);
        }
        fil_file_print(writer, solid->moves ? ",\n" : "\n");
    }
    fil_file_print(writer, solid->moves ? "            }\n" : "");
}

static FilStatus print_mesh(Stage *stage, int index) {
    FilFileWriter *writer = stage->writer;
    const FilArenaMark mark = fil_arena_mark(stage->memory);
    FilExportMesh mesh;
    FIL_TRY(fil_export_mesh(stage->job, stage->memory, &stage->solids, index, &mesh));
    fil_file_print(writer, "            uniform token subdivisionScheme = \"none\"\n"
                           "            int[] faceVertexCounts = [");
    for (int t = 0; t < mesh.triangle_count; t++) {
        fil_file_print(writer, "%s3", t > 0 ? ", " : "");
    }
    fil_file_print(writer, "]\n            int[] faceVertexIndices = [");
    for (int k = 0; k < 3 * mesh.triangle_count; k++) {
        fil_file_print(writer, "%s%d", k > 0 ? ", " : "", mesh.triangle[k]);
    }
    fil_file_print(writer, "]\n            point3f[] points = [");
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < mesh.vertex_count; i++) {
        const double *x = mesh.position + 3 * (size_t)i;
        fil_file_print(writer, i > 0 ? ", " : "");
        print_float3(writer, x, 1.0);
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], x[k]);
            high[k] = fmax(high[k], x[k]);
        }
    }
    fil_file_print(writer, "]\n            float3[] extent = [");
    print_float3(writer, low, 1.0);
    fil_file_print(writer, ", ");
    print_float3(writer, high, 1.0);
    fil_file_print(writer, "]\n");
    fil_arena_release(stage->memory, mark);
    return FIL_OK;
}

// Radius and height of what is round, and the box around it.
static void print_round(FilFileWriter *writer, const FilResultSolid *solid) {
    const bool sphere = solid->shape == FIL_SHAPE_SPHERE;
    const double r = solid->radius, half = sphere ? r
                                           : solid->shape == FIL_SHAPE_CAPSULE
                                               ? 0.5 * solid->length + r
                                               : 0.5 * solid->length;
    if (!sphere) {
        fil_file_print(
            writer, "            uniform token axis = \"X\"\n            double height = %.15g\n",
            solid->length);
    }
    fil_file_print(writer, "            double radius = %.15g\n            float3[] extent = [", r);
    print_float3(writer, (double[3]){-half, -r, -r}, 1.0);
    fil_file_print(writer, ", ");
    print_float3(writer, (double[3]){half, r, r}, 1.0);
    fil_file_print(writer, "]\n");
}

static const char *prim_of(FilShapeKind shape) {
    return shape == FIL_SHAPE_SPHERE     ? "Sphere"
           : shape == FIL_SHAPE_CAPSULE  ? "Capsule"
           : shape == FIL_SHAPE_CYLINDER ? "Cylinder"
           : shape == FIL_SHAPE_BOX      ? "Cube"
                                         : "Mesh";
}

static FilStatus print_solid(Stage *stage, int index) {
    const FilExportSolid *solid = &stage->solids.items[index];
    FilFileWriter *writer = stage->writer;
    const bool box = solid->solid.shape == FIL_SHAPE_BOX;
    fil_file_print(writer, "        def %s \"%s\"\n        {\n", prim_of(solid->solid.shape),
                   solid->name);
    if (box) {
        fil_file_print(writer, "            double size = 1\n            float3[] extent = "
                               "[(-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)]\n");
    } else if (strcmp(prim_of(solid->solid.shape), "Mesh") == 0) {
        FIL_TRY(print_mesh(stage, index));
    } else {
        print_round(writer, &solid->solid);
    }
    print_colour(stage, solid->is_body ? 2 : 5);
    print_pose(stage, solid, false);
    print_pose(stage, solid, true);
    if (box) {
        fil_file_print(writer, "            float3 xformOp:scale = ");
        print_float3(writer, solid->solid.size, 1.0);
        fil_file_print(writer, "\n");
    }
    fil_file_print(writer,
                   "            uniform token[] xformOpOrder = [\"xformOp:translate\", "
                   "\"xformOp:orient\"%s]\n        }\n",
                   box ? ", \"xformOp:scale\"" : "");
    return FIL_OK;
}

// --- the file ------------------------------------------------------------------------------------

static void print_head(const Stage *stage) {
    const FilResultDef *def = stage->job->def;
    FilFileWriter *writer = stage->writer;
    fil_file_print(writer, "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = ");
    print_text(writer, def->name != NULL ? def->name : "");
    fil_file_print(writer,
                   "\n    metersPerUnit = 1\n    upAxis = \"%c\"\n    timeCodesPerSecond = %.12g\n"
                   "    framesPerSecond = %.12g\n    startTimeCode = 0\n    endTimeCode = %.12g\n"
                   ")\n\n",
                   stage->job->y_up ? 'Y' : 'Z', stage->clock.fps, stage->clock.fps,
                   get_code(stage, stage->job->frame_count - 1));
}

static FilStatus print_solids(Stage *stage, const char *scope, int from, int to) {
    if (from == to) {
        return FIL_OK;
    }
    fil_file_print(stage->writer, "    def Scope \"%s\"\n    {\n", scope);
    for (int i = from; i < to; i++) {
        FIL_TRY(print_solid(stage, i));
    }
    fil_file_print(stage->writer, "    }\n");
    return FIL_OK;
}

static FilStatus print_groups(Stage *stage) {
    if (stage->groups.count == 0) {
        return FIL_OK;
    }
    fil_file_print(stage->writer, "    def Scope \"Rods\"\n    {\n");
    for (int g = 0; g < stage->groups.count; g++) {
        FIL_TRY(stage->groups.items[g].is_round ? print_curves(stage, g) : print_tubes(stage, g));
    }
    fil_file_print(stage->writer, "    }\n");
    return FIL_OK;
}

static FilStatus print_stage(Stage *stage) {
    print_head(stage);
    fil_file_print(stage->writer, "def Xform \"World\" (\n    kind = \"component\"\n)\n{\n");
    FIL_TRY(print_groups(stage));
    FIL_TRY(print_solids(stage, "Bodies", 0, stage->solids.body_count));
    FIL_TRY(print_solids(stage, "Obstacles", stage->solids.body_count, stage->solids.count));
    fil_file_print(stage->writer, "}\n");
    return FIL_OK;
}

static FilStatus write_stage(FilExport *job, FilArena *memory) {
    Stage stage = {.job = job,
                   .memory = memory,
                   .writer = FIL_NEW(memory, FilFileWriter, 1),
                   .extents = fil_arena_get(memory, (size_t)job->frame_count, sizeof(float[6]))};
    if (memory->failed) {
        return fil_export_no_memory(job);
    }
    FIL_TRY(fil_export_clock(job, memory, &stage.clock));
    FIL_TRY(fil_export_groups(job, memory, &stage.groups));
    FIL_TRY(fil_export_solids(job, memory, &stage.solids));
    if (stage.groups.count > 0) {
        FIL_TRY(keep_values(&stage));
    }
    FIL_TRY(fil_export_begin(job, stage.writer, -1, ".usda"));
    return fil_export_end(job, stage.writer, print_stage(&stage));
}

static FilStatus write_run(FilExport *job) {
    FilArena memory = fil_arena_make(NULL); // the scratch of the job is reset with every frame
    const FilStatus status = write_stage(job, &memory);
    fil_arena_destroy(&memory);
    return status;
}

const FilExportKind fil_export_usda = {.run = write_run, .run_suffixes = {".usda"}};
