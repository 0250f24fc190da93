// export_vtp.c - VTK's XML PolyData, for ParaView: lines with arrays on their points.
//
// A file is a short XML text that says where each array lies in the raw bytes that follow it:
// every array is its length in bytes (64 bits), then its numbers. The .pvd file lists the frames
// with their times: rods are part 0, solids part 1, so that ParaView opens both at once.
#include "export_things.h"

#include "point_contacts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { KNOWN = 10, MORE_MAX = 6, LINES_FROM = 1, POINT_DATA_FROM = 3 };

typedef struct Array {
    const char *name, *type;
    int width;
    size_t size; // bytes
    const void *bytes;
} Array;

static double norm(const double *v, int count) {
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        sum += v[k] * v[k];
    }
    return sqrt(sum);
}

// Lines as VTK has them: of two points or more. One of a single point it refuses, and then ends.
typedef struct Lines {
    size_t count, joined;
    int64_t *connectivity; // points that are joined
    int64_t *offsets;      // where each line ends
} Lines;

static Lines make_lines(const FilResultDef *def, FilArena *scratch) {
    size_t most = 0;
    for (int l = 0; l < def->line_count; l++) {
        most += (size_t)def->lines[l].point_count;
    }
    Lines lines = {.connectivity = FIL_NEW(scratch, int64_t, most),
                   .offsets = FIL_NEW(scratch, int64_t, def->line_count)};
    for (int l = 0; !scratch->failed && l < def->line_count; l++) {
        const FilResultLine *line = &def->lines[l];
        if (line->point_count < 2) {
            continue;
        }
        for (int i = 0; i < line->point_count; i++) {
            lines.connectivity[lines.joined++] = line->first_point + i;
        }
        lines.offsets[lines.count++] = (int64_t)lines.joined;
    }
    return lines;
}

typedef struct PointData {
    float *radius, *speed, *curvature, *twist, *velocity, *s;
    int *rod;
} PointData;

static void fill_points(const FilResultDef *def, const FilFrame *frame, PointData *data) {
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        for (int i = rod->first_point; i < rod->first_point + rod->point_count; i++) {
            const double *kappa = frame->curvature + 3 * (size_t)i;
            const double *v = frame->velocity + 3 * (size_t)i;
            data->speed[i] = (float)norm(v, 3);
            data->curvature[i] = (float)norm(kappa + 1, 2);
            data->twist[i] = (float)kappa[0];
            data->s[i] = (float)def->points[i].s;
            data->rod[i] = r;
            for (int k = 0; k < 3; k++) {
                data->velocity[3 * i + k] = (float)v[k];
            }
        }
    }
    for (int l = 0; l < def->line_count; l++) {
        const FilResultLine *line = &def->lines[l];
        for (int i = line->first_point; i < line->first_point + line->point_count; i++) {
            data->radius[i] = (float)fil_line_radius(def, l);
        }
    }
}

static void print_array(FilFileWriter *writer, const Array *array, uint64_t *offset) {
    fil_file_print(writer,
                   "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                   "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                   array->type, array->name, array->width, *offset);
    *offset += sizeof(uint64_t) + array->size;
}

static void print_head(FilFileWriter *writer, const FilExport *job, double time,
                       const Array *arrays, int array_count) {
    const size_t line_count = arrays[LINES_FROM + 1].size / sizeof(int64_t);
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    uint64_t offset = 0;
    fil_file_print(writer,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                   "byte_order=\"%s\" header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
                   "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                   "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n",
                   little ? "LittleEndian" : "BigEndian", time);
    fil_file_print(writer,
                   "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"%zu\" "
                   "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<Points>\n",
                   job->def->point_count, line_count);
    for (int k = 0; k < array_count; k++) {
        if (k == LINES_FROM) {
            fil_file_print(writer, "</Points>\n<Lines>\n");
        }
        if (k == POINT_DATA_FROM) {
            fil_file_print(writer,
                           "</Lines>\n<PointData Scalars=\"speed\" Vectors=\"velocity\">\n");
        }
        print_array(writer, &arrays[k], &offset);
    }
    fil_file_print(writer, "</PointData>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">_");
}

static const float *to_float(FilArena *scratch, const double *values, int count) {
    float *out = FIL_NEW(scratch, float, count);
    for (int i = 0; out != NULL && i < count; i++) {
        out[i] = (float)values[i];
    }
    return out;
}

// What acts on the points: tension and elastic energy where they are known, and forces of contact.
// Returns how many arrays there are.
static int add_loads(FilExport *job, const FilFrame *frame, Array *arrays) {
    const int n = job->def->point_count;
    double *force = FIL_NEW(&job->scratch, double, n);
    if (force == NULL) {
        return 0;
    }
    fil_point_contact_forces(job->def, frame, force);
    const char *const names[3] = {"tension", "elastic", "force"};
    const double *const values[3] = {frame->tension, frame->elastic, force};
    int count = 0;
    for (int k = 0; k < 3; k++) {
        if (values[k] != NULL) {
            arrays[count++] = (Array){names[k], "Float32", 1, (size_t)n * sizeof(float),
                                      to_float(&job->scratch, values[k], n)};
        }
    }
    return count;
}

// The sizes of sections along n1 and n2, and n1, where a rod is not round. Returns how many arrays
// there are.
static int add_sections(FilExport *job, const FilFrame *frame, Array *arrays) {
    const FilResultDef *def = job->def;
    const size_t n = (size_t)def->point_count;
    bool all_round = true;
    for (int r = 0; r < def->rod_count; r++) {
        all_round = all_round && fil_section_is_round(&def->rods[r]);
    }
    if (all_round) {
        return 0;
    }
    float *width = FIL_NEW(&job->scratch, float, n), *thickness = FIL_NEW(&job->scratch, float, n);
    float *n1 = FIL_NEW(&job->scratch, float, 3 * n);
    for (int r = 0; !job->scratch.failed && r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        const bool round = fil_section_is_round(rod);
        for (int i = rod->first_point; i < rod->first_point + rod->point_count; i++) {
            double R[9];
            fil_export_axes(frame, i, R);
            width[i] = (float)(round ? 2.0 * rod->radius : rod->width);
            thickness[i] = (float)(round ? 2.0 * rod->radius : rod->thickness);
            for (int k = 0; k < 3; k++) {
                n1[3 * i + k] = (float)R[3 * k + 1];
            }
        }
    }
    arrays[0] = (Array){"width", "Float32", 1, n * sizeof(float), width};
    arrays[1] = (Array){"thickness", "Float32", 1, n * sizeof(float), thickness};
    arrays[2] = (Array){"n1", "Float32", 3, 3 * n * sizeof(float), n1};
    return 3;
}

static FilStatus write_frame(FilExport *job, int64_t k, const FilFrame *frame) {
    const FilResultDef *def = job->def;
    const size_t n = (size_t)def->point_count;
    if (n == 0) {
        return FIL_OK;
    }
    PointData data = {.radius = FIL_NEW_ZEROED(&job->scratch, float, n),
                      .speed = FIL_NEW(&job->scratch, float, n),
                      .curvature = FIL_NEW(&job->scratch, float, n),
                      .twist = FIL_NEW(&job->scratch, float, n),
                      .velocity = FIL_NEW(&job->scratch, float, 3 * n),
                      .s = FIL_NEW(&job->scratch, float, n),
                      .rod = FIL_NEW(&job->scratch, int, n)};
    const Lines lines = make_lines(def, &job->scratch);
    FilFileWriter *writer = FIL_NEW(&job->scratch, FilFileWriter, 1);
    Array more[MORE_MAX] = {0};
    int more_count = add_loads(job, frame, more);
    more_count += add_sections(job, frame, more + more_count);
    if (job->scratch.failed) {
        return fil_export_no_memory(job);
    }
    fill_points(def, frame, &data);
    Array arrays[KNOWN + MORE_MAX] = {
        {"Points", "Float64", 3, 3 * n * sizeof(double), frame->position},
        {"connectivity", "Int64", 1, lines.joined * sizeof(int64_t), lines.connectivity},
        {"offsets", "Int64", 1, lines.count * sizeof(int64_t), lines.offsets},
        {"radius", "Float32", 1, n * sizeof(float), data.radius},
        {"speed", "Float32", 1, n * sizeof(float), data.speed},
        {"curvature", "Float32", 1, n * sizeof(float), data.curvature},
        {"twist", "Float32", 1, n * sizeof(float), data.twist},
        {"velocity", "Float32", 3, 3 * n * sizeof(float), data.velocity},
        {"s", "Float32", 1, n * sizeof(float), data.s},
        {"rod", "Int32", 1, n * sizeof(int), data.rod},
    };
    const int array_count = KNOWN + more_count;
    memcpy(arrays + KNOWN, more, sizeof more);
    FIL_TRY(fil_export_begin(job, writer, k, ".vtp"));
    print_head(writer, job, frame->time, arrays, array_count);
    for (int a = 0; a < array_count; a++) {
        const uint64_t size = arrays[a].size;
        fil_file_put(writer, &size, sizeof size);
        fil_file_put(writer, arrays[a].bytes, arrays[a].size);
    }
    fil_file_print(writer, "\n</AppendedData>\n</VTKFile>\n");
    return fil_export_end(job, writer, FIL_OK);
}

void fil_export_print_xml(FilFileWriter *writer, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        const char *const quoted = *c == '&'   ? "&amp;"
                                   : *c == '<' ? "&lt;"
                                   : *c == '"' ? "&quot;"
                                               : NULL;
        fil_file_put(writer, quoted != NULL ? quoted : c, quoted != NULL ? strlen(quoted) : 1);
    }
}

static void print_list_item(FilFileWriter *writer, const FilExport *job, double time, int64_t index,
                            const char *stem) {
    fil_file_print(writer, "<DataSet timestep=\"%.17g\" part=\"%d\" file=\"", time,
                   stem[0] == '\0' ? 0 : 1);
    fil_export_print_xml(writer, job->name);
    fil_file_print(writer, "%s-%06" PRId64 ".vtp\"/>\n", stem, index);
}

static FilStatus write_list(FilExport *job, bool rods, bool solids) {
    fil_arena_reset(&job->scratch);
    FilFileWriter *writer = FIL_NEW(&job->scratch, FilFileWriter, 1);
    double *times = FIL_NEW(&job->scratch, double, fil_export_index(job, job->frame_count - 1) + 1);
    if (job->scratch.failed) {
        return fil_export_no_memory(job);
    }
    const int64_t count = fil_export_index(job, job->frame_count - 1) + 1;
    FIL_TRY(fil_result_read_times(job->result, 0, count, times, job->error));
    FIL_TRY(fil_export_begin(job, writer, -1, ".pvd"));
    fil_file_print(writer,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                   "<Collection>\n");
    for (int64_t k = 0; k < job->frame_count; k++) {
        const int64_t index = fil_export_index(job, k);
        if (rods) {
            print_list_item(writer, job, times[index], index, "");
        }
        if (solids) {
            print_list_item(writer, job, times[index], index, FIL_VTP_SOLIDS);
        }
    }
    fil_file_print(writer, "</Collection>\n</VTKFile>\n");
    return fil_export_end(job, writer, FIL_OK);
}

static FilStatus write_rest(FilExport *job) {
    const bool rods = job->def->point_count > 0;
    const bool solids = job->def->rigid_count + job->def->obstacle_count > 0;
    if (!rods && !solids) {
        return fil_fail(job->error, FIL_E_ARGUMENT, "there is nothing to see in the run");
    }
    if (solids) {
        FIL_TRY(fil_export_vtp_solids(job));
    }
    FIL_TRY(write_list(job, rods, solids));
    return fil_export_vtp_contacts(job);
}

const FilExportKind fil_export_vtp = {.frame = write_frame,
                                      .run = write_rest,
                                      .frame_suffix = ".vtp",
                                      .run_suffixes = {".pvd", FIL_VTP_CONTACTS ".pvd"},
                                      .side_stems = {FIL_VTP_CONTACTS, FIL_VTP_SOLIDS}};
