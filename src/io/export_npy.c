// export_npy.c - NumPy arrays [frames][points][...] of rods and [frames][solids][...] of bodies and
// obstacles, as the result holds them, and a JSON file that says what each row is. Of a run that
// does not know tension and elastic energy there are no arrays of them; a frame that does not, in a
// run that does, has NAN.
//
// The format (NumPy's NEP 1, version 1.0): a magic string, the length of the header in 2 bytes, a
// Python dictionary as text, padded so that the numbers start at a multiple of 64 bytes.
#include "export_parts.h"

#include "point_contacts.h"
#include "section.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ARRAY_COUNT = 13, ALIGNMENT = 64, HEADER_MAX = 192 };

typedef enum Rows { POINTS, BODIES, OBSTACLES } Rows; // of what an array has a row each

typedef struct Array {
    const char *suffix;
    size_t member; // offset of the array in FilFrame; NOWHERE: the forces of contacts
    int width;
    bool single;
    Rows rows;
} Array;

#define NOWHERE sizeof(FilFrame)

static const Array arrays[ARRAY_COUNT] = {
    {"-position.npy", offsetof(FilFrame, position), 3, false, POINTS},
    {"-velocity.npy", offsetof(FilFrame, velocity), 3, true, POINTS},
    {"-quaternion.npy", offsetof(FilFrame, quaternion), 4, true, POINTS},
    {"-curvature.npy", offsetof(FilFrame, curvature), 3, true, POINTS},
    {"-tension.npy", offsetof(FilFrame, tension), 1, true, POINTS},
    {"-elastic.npy", offsetof(FilFrame, elastic), 1, true, POINTS},
    {"-force.npy", NOWHERE, 1, true, POINTS},
    {"-body-position.npy", offsetof(FilFrame, rigid_position), 3, false, BODIES},
    {"-body-quaternion.npy", offsetof(FilFrame, rigid_quaternion), 4, false, BODIES},
    {"-body-velocity.npy", offsetof(FilFrame, rigid_velocity), 3, true, BODIES},
    {"-body-spin.npy", offsetof(FilFrame, rigid_spin), 3, true, BODIES},
    {"-obstacle-position.npy", offsetof(FilFrame, obstacle_position), 3, false, OBSTACLES},
    {"-obstacle-quaternion.npy", offsetof(FilFrame, obstacle_quaternion), 4, false, OBSTACLES},
};

static int count_rows(const FilResultDef *def, Rows rows) {
    return rows == POINTS   ? def->point_count
           : rows == BODIES ? def->rigid_count
                            : def->obstacle_count;
}

// The array of a frame; `force` is that of contacts.
static const double *find_array(const Array *array, const FilFrame *frame, const double *force) {
    return array->member == NOWHERE
               ? force
               : *(const double *const *)(const void *)((const char *)frame + array->member);
}

static void print_header(FilFileWriter *writer, const FilExport *job, const Array *array) {
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    char text[HEADER_MAX], more[16] = "";
    if (array->width > 1) {
        (void)snprintf(more, sizeof more, ", %d", array->width);
    }
    const int length =
        snprintf(text, sizeof text,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (%" PRId64 ", %d%s), }",
                 little ? '<' : '>', array->single ? "f4" : "f8", job->frame_count,
                 count_rows(job->def, array->rows), more);
    const int unpadded = 10 + length + 1;
    const int size = (unpadded + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - 10;
    const unsigned char head[10] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    1,
                                    0,
                                    (unsigned char)(size % 256),
                                    (unsigned char)(size / 256)};
    fil_file_put(writer, head, sizeof head);
    fil_file_print(writer, "%s%*s\n", text, size - 1 - length, "");
}

static void put_values(FilFileWriter *writer, const double *values, size_t count, bool single) {
    if (!single) {
        fil_file_put(writer, values, count * sizeof *values);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const float value = values != NULL ? (float)values[k] : NAN;
        fil_file_put(writer, &value, sizeof value);
    }
}

// Writers of the arrays that the run knows; the times of its frames.
typedef struct Output {
    FilFileWriter *writers; // [ARRAY_COUNT]
    bool known[ARRAY_COUNT];
    double *times; // [frame_count]
    double *force; // [point_count]
} Output;

static FilStatus put_frames(FilExport *job, Output *out) {
    for (int64_t k = 0; k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        out->times[k] = frame.time;
        fil_point_contact_forces(job->def, &frame, out->force);
        for (int a = 0; a < ARRAY_COUNT; a++) {
            if (out->known[a]) {
                put_values(&out->writers[a], find_array(&arrays[a], &frame, out->force),
                           (size_t)count_rows(job->def, arrays[a].rows) * (size_t)arrays[a].width,
                           arrays[a].single);
            }
        }
    }
    return FIL_OK;
}

static void print_text(FilFileWriter *writer, const char *text) {
    fil_file_put(writer, "\"", 1);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fil_file_put(writer, "\\", 1);
        }
        if ((unsigned char)*c < 32) {
            fil_file_print(writer, "\\u%04x", (unsigned)*c);
        } else {
            fil_file_put(writer, c, 1);
        }
    }
    fil_file_put(writer, "\"", 1);
}

static void print_rods(FilFileWriter *writer, const FilResultDef *def) {
    fil_file_print(writer, "  \"rods\": [");
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        const bool round = fil_section_is_round(rod);
        fil_file_print(writer, "%s\n    {\"name\": ", r > 0 ? "," : "");
        print_text(writer, rod->name);
        fil_file_print(writer,
                       ", \"model\": \"%s\", \"length\": %.17g, \"radius\": %.17g, "
                       "\"width\": %.17g, \"thickness\": %.17g, "
                       "\"first_point\": %d, \"point_count\": %d}",
                       fil_rod_model_name(rod->model), rod->length, rod->radius,
                       round ? 2.0 * rod->radius : rod->width,
                       round ? 2.0 * rod->radius : rod->thickness, rod->first_point,
                       rod->point_count);
    }
    fil_file_print(writer, "\n  ],\n");
}

static void print_solids(FilFileWriter *writer, const char *title, const FilResultSolid *solids,
                         int count) {
    fil_file_print(writer, "  \"%s\": [", title);
    for (int i = 0; i < count; i++) {
        const FilResultSolid *solid = &solids[i];
        fil_file_print(writer, "%s\n    {\"name\": ", i > 0 ? "," : "");
        print_text(writer, solid->name);
        fil_file_print(writer,
                       ", \"shape\": \"%s\", \"radius\": %.17g, \"length\": %.17g, "
                       "\"size\": [%.17g, %.17g, %.17g], \"mesh\": %d}",
                       fil_shape_name(solid->shape), solid->radius, solid->length, solid->size[0],
                       solid->size[1], solid->size[2], solid->mesh);
    }
    fil_file_print(writer, "\n  ],\n");
}

static void print_meshes(FilFileWriter *writer, const FilResultDef *def) {
    fil_file_print(writer, "  \"meshes\": [");
    for (int m = 0; m < def->mesh_count; m++) {
        const FilResultMesh *mesh = &def->meshes[m];
        fil_file_print(writer, "%s\n    {\"vertices\": [", m > 0 ? "," : "");
        for (int i = 0; i < mesh->vertex_count; i++) {
            const double *x = mesh->vertices + 3 * (size_t)i;
            fil_file_print(writer, "%s[%.17g, %.17g, %.17g]", i > 0 ? ", " : "", x[0], x[1], x[2]);
        }
        fil_file_print(writer, "],\n     \"triangles\": [");
        for (int t = 0; t < mesh->triangle_count; t++) {
            const int *corner = mesh->triangles + 3 * (size_t)t;
            fil_file_print(writer, "%s[%d, %d, %d]", t > 0 ? ", " : "", corner[0], corner[1],
                           corner[2]);
        }
        fil_file_print(writer, "]}");
    }
    fil_file_print(writer, "\n  ]\n");
}

static FilStatus write_json(FilExport *job, FilFileWriter *writer, const double *times) {
    const FilResultDef *def = job->def;
    FIL_TRY(fil_export_begin(job, writer, -1, ".json"));
    fil_file_print(writer, "{\n  \"name\": ");
    print_text(writer, def->name);
    fil_file_print(writer, ",\n  \"up\": \"%c\",\n  \"frames\": [", job->y_up ? 'y' : 'z');
    for (int64_t k = 0; k < job->frame_count; k++) {
        fil_file_print(writer, "%s%" PRId64, k > 0 ? ", " : "", fil_export_index(job, k));
    }
    fil_file_print(writer, "],\n  \"times\": [");
    for (int64_t k = 0; k < job->frame_count; k++) {
        fil_file_print(writer, "%s%.17g", k > 0 ? ", " : "", times[k]);
    }
    fil_file_print(writer, "],\n");
    print_rods(writer, def);
    print_solids(writer, "bodies", def->rigids, def->rigid_count);
    print_solids(writer, "obstacles", def->obstacles, def->obstacle_count);
    print_meshes(writer, def);
    fil_file_print(writer, "}\n");
    return fil_export_end(job, writer, FIL_OK);
}

static FilStatus begin_array(FilExport *job, Output *out, int a) {
    FIL_TRY(fil_export_begin(job, &out->writers[a], -1, arrays[a].suffix));
    print_header(&out->writers[a], job, &arrays[a]);
    return FIL_OK;
}

static FilStatus write_arrays(FilExport *job, Output *out) {
    FilFrame frame = {0};
    FilStatus status = fil_export_read(job, job->frame_count - 1, &frame);
    int begun = 0;
    for (; status == FIL_OK && begun < ARRAY_COUNT; begun += status == FIL_OK) {
        out->known[begun] =
            find_array(&arrays[begun], &frame, out->force) != NULL &&
            (arrays[begun].rows == POINTS || count_rows(job->def, arrays[begun].rows) > 0);
        status = out->known[begun] ? begin_array(job, out, begun) : FIL_OK;
    }
    if (status == FIL_OK) {
        status = put_frames(job, out);
    }
    for (int a = 0; a < begun; a++) {
        status = out->known[a] ? fil_export_end(job, &out->writers[a], status) : status;
    }
    return status == FIL_OK ? write_json(job, &out->writers[0], out->times) : status;
}

static FilStatus write_run(FilExport *job) {
    FilArena memory = fil_arena_make(NULL); // the scratch of the job is reset with every frame
    Output out = {.writers = FIL_NEW(&memory, FilFileWriter, ARRAY_COUNT),
                  .times = FIL_NEW(&memory, double, job->frame_count),
                  .force = FIL_NEW(&memory, double, job->def->point_count)};
    const FilStatus status = memory.failed ? fil_fail(job->error, FIL_E_NO_MEMORY,
                                                      "there is not enough memory to export")
                                           : write_arrays(job, &out);
    fil_arena_destroy(&memory);
    return status;
}

const FilExportKind fil_export_npy = {
    .is_table = true,
    .run = write_run,
    .run_suffixes = {"-position.npy", "-velocity.npy", "-quaternion.npy", "-curvature.npy",
                     "-tension.npy", "-elastic.npy", "-force.npy", "-body-position.npy",
                     "-body-quaternion.npy", "-body-velocity.npy", "-body-spin.npy",
                     "-obstacle-position.npy", "-obstacle-quaternion.npy", ".json"}};
