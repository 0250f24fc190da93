// export_usda.c - Pixar's USD as text: one stage with the curves, the solids and their motion.
//
//     World                    Xform, the default prim
//       Rods                   Scope: a BasisCurves for each group of rods (io/export_things.h)
//       Bodies, Obstacles      Scope: Sphere, Capsule, Cylinder, Cube or Mesh with translate,
//       orient
//
// Curves are linear: their vertices are the points of the result, and nothing is smoothed away.
// Widths are diameters. Ribbons are curves with normals, which USD shows as flat, as wide as they
// are, and without thickness. Time codes count frames from 0; velocities are lengths in a second of
// the stage, as motion blur wants them. A value that stays is written once, not as samples.
//
// USD keeps an attribute with all its samples together. What frames say is read once and kept where
// it is not much; of long runs the frames are read for the points, the velocities and the normals
// of each group, and memory holds one frame, however long the run.
#include "export_things.h"

#include "math/vec3.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define KEPT_MAX 6.4e7 // bytes of what is kept

typedef enum Samples { POINTS, VELOCITIES, NORMALS, SAMPLES_COUNT } Samples;
static const char *const sample_names[SAMPLES_COUNT] = {"point3f[] points", "vector3f[] velocities",
                                                        "normal3f[] normals"};

typedef struct Stage {
    FilExport *job;
    FilFileWriter *writer;
    FilArena *memory;
    FilExportClock clock;
    FilExportGroups groups;
    FilExportSolids solids;
    float (*extents)[6];         // [frame]
    double *kept[SAMPLES_COUNT]; // [frame][point][3]; NULL: not kept
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

// How wide a line is to look at: a ribbon as its longer side.
static double get_width(const FilResultDef *def, const FilExportGroup *group, int line) {
    const FilResultRod *rod = &def->rods[def->lines[line].rod];
    return group->is_flat ? fmax(rod->width, rod->thickness) : 2.0 * fil_line_radius(def, line);
}

// The normals of ribbons, and of all else: the axis of their shorter side.
static void find_normals(const FilResultDef *def, const FilFrame *frame, double *out) {
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        const int axis = rod->width < rod->thickness ? 1 : 2;
        for (int i = rod->first_point; i < rod->first_point + rod->point_count; i++) {
            double R[9];
            fil_export_axes(frame, i, R);
            for (int k = 0; k < 3; k++) {
                out[3 * (size_t)i + (size_t)k] = R[3 * k + axis];
            }
        }
    }
}

// Vectors of all points in a frame that has just been read; `out` has room for them.
static void copy_values(const FilResultDef *def, const FilFrame *frame, Samples what, double *out) {
    if (what == NORMALS) {
        find_normals(def, frame, out);
    } else {
        memcpy(out, what == POINTS ? frame->position : frame->velocity,
               3 * sizeof *out * (size_t)def->point_count);
    }
}

// The same of chosen frame `k`, kept or read for it.
static FilStatus get_values(const Stage *stage, Samples what, int64_t k, const double **out) {
    FilExport *job = stage->job;
    const size_t count = 3 * (size_t)job->def->point_count;
    if (stage->kept[what] != NULL) {
        *out = stage->kept[what] + (size_t)k * count;
        return fil_export_go_on(job, k);
    }
    FilFrame frame = {0};
    FIL_TRY(fil_export_read(job, k, &frame));
    double *values = FIL_NEW(&job->scratch, double, count);
    if (values == NULL) {
        return fil_export_no_memory(job);
    }
    copy_values(job->def, &frame, what, values);
    *out = values;
    return FIL_OK;
}

// Read all frames, and keep what they say, unless that is too much.
static FilStatus keep_values(Stage *stage) {
    FilExport *job = stage->job;
    const size_t count = 3 * (size_t)job->def->point_count, frames = (size_t)job->frame_count;
    int kinds = VELOCITIES + 1;
    for (int g = 0; g < stage->groups.count; g++) {
        kinds = stage->groups.items[g].is_flat ? SAMPLES_COUNT : kinds;
    }
    if ((double)count * (double)frames * kinds * sizeof(double) > KEPT_MAX) {
        return FIL_OK;
    }
    for (int what = 0; what < kinds; what++) {
        stage->kept[what] = FIL_NEW(stage->memory, double, count *frames);
    }
    if (stage->memory->failed) {
        return fil_export_no_memory(job);
    }
    for (size_t k = 0; k < frames; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, (int64_t)k, &frame));
        for (int what = 0; what < kinds; what++) {
            copy_values(job->def, &frame, (Samples)what, stage->kept[what] + k * count);
        }
    }
    return FIL_OK;
}

// All points of a group, and the box around their tubes.
static void print_points(const Stage *stage, const FilExportGroup *group, const double *values,
                         double scale, float box[6]) {
    const FilResultDef *def = stage->job->def;
    const char *separator = "[";
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
    for (int l = group->first_line; l < group->end_line; l++) {
        const FilResultLine *line = &def->lines[l];
        const double radius = 0.5 * get_width(def, group, l);
        for (int i = 0; fil_export_has_line(def, group, l) && i < line->point_count; i++) {
            const double *x = values + 3 * (size_t)(line->first_point + i);
            fil_file_put(stage->writer, separator, strlen(separator));
            print_float3(stage->writer, x, scale);
            separator = ", ";
            for (int k = 0; k < 3; k++) {
                box[k] = fminf(box[k], (float)(x[k] - radius));
                box[3 + k] = fmaxf(box[3 + k], (float)(x[k] + radius));
            }
        }
    }
    fil_file_print(stage->writer, "]");
}

static FilStatus print_samples(Stage *stage, const FilExportGroup *group, Samples what) {
    FilFileWriter *writer = stage->writer;
    const double scale = what == VELOCITIES ? 1.0 / stage->clock.slow : 1.0;
    fil_file_print(writer, "            %s.timeSamples = {\n", sample_names[what]);
    for (int64_t k = 0; k < stage->job->frame_count; k++) {
        const double *values = NULL;
        float unused[6];
        FIL_TRY(get_values(stage, what, k, &values));
        fil_file_print(writer, "                ");
        print_code(stage, k);
        print_points(stage, group, values, scale, what == POINTS ? stage->extents[k] : unused);
        fil_file_print(writer, ",\n");
    }
    fil_file_print(writer, "            }\n");
    return FIL_OK;
}

static void print_extents(const Stage *stage) {
    fil_file_print(stage->writer, "            float3[] extent.timeSamples = {\n");
    for (int64_t k = 0; k < stage->job->frame_count; k++) {
        const float *box = stage->extents[k];
        fil_file_print(stage->writer, "                ");
        print_code(stage, k);
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
            fil_file_print(writer, "%s%.9g", separator, get_width(def, group, l));
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

static FilStatus print_group(Stage *stage, int index) {
    const FilExportGroup *group = &stage->groups.items[index];
    FilFileWriter *writer = stage->writer;
    fil_file_print(writer,
                   "        def BasisCurves \"%s\"\n        {\n"
                   "            uniform token type = \"linear\"\n"
                   "            uniform token wrap = \"nonperiodic\"\n",
                   group->name);
    print_shape(stage, group);
    print_colour(stage, index);
    FIL_TRY(print_samples(stage, group, POINTS));
    FIL_TRY(print_samples(stage, group, VELOCITIES));
    if (group->is_flat) {
        fil_file_print(writer, "            normal3f[] normals (\n                interpolation = "
                               "\"vertex\"\n            )\n");
        FIL_TRY(print_samples(stage, group, NORMALS));
    }
    print_extents(stage);
    fil_file_print(writer, "        }\n");
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
        FIL_TRY(print_group(stage, g));
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
