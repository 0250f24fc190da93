// export_vtp_contacts.c - the contacts of frames as VTK points: one file for each frame that has
// any, and a list of their times. See export_vtp.c for how a file is laid out.
//
// A contact is a point on the surface of its first side; `normal` points to that side, and `force`
// is what it feels, on average over the step: the impulse by the length of a step.
#include "export_parts.h"

#include "math/vec3.h"

#include <inttypes.h>

enum { VECTORS = 3, NUMBERS = 2, ARRAYS = 3 + VECTORS + NUMBERS + 1 };

typedef struct Array {
    const char *name, *type;
    int width;
    size_t size; // bytes
    const void *bytes;
} Array;

typedef struct Columns {
    double *place;
    int64_t *connectivity, *offsets;
    float *vectors[VECTORS], *numbers[NUMBERS];
    int32_t *state;
} Columns;

// A vector of the world as the export turns it.
static void turn(const FilExport *job, const double v[3], double out[3]) {
    fil_copy3((double[3]){v[0], job->y_up ? v[2] : v[1], job->y_up ? -v[1] : v[2]}, out);
}

static bool allocate(FilArena *scratch, size_t count, Columns *columns) {
    columns->place = FIL_NEW(scratch, double, 3 * count);
    columns->connectivity = FIL_NEW(scratch, int64_t, count);
    columns->offsets = FIL_NEW(scratch, int64_t, count);
    columns->state = FIL_NEW(scratch, int32_t, count);
    for (int k = 0; k < VECTORS; k++) {
        columns->vectors[k] = FIL_NEW(scratch, float, 3 * count);
    }
    for (int k = 0; k < NUMBERS; k++) {
        columns->numbers[k] = FIL_NEW(scratch, float, count);
    }
    return !scratch->failed;
}

static void fill(const FilExport *job, const FilFrame *frame, const Columns *columns) {
    for (int i = 0; i < frame->contact_count; i++) {
        const FilContact *contact = &frame->contacts[i];
        const double *const vectors[VECTORS] = {contact->impulse, contact->normal,
                                                contact->velocity};
        turn(job, contact->a.point, columns->place + 3 * (size_t)i);
        for (int k = 0; k < VECTORS; k++) {
            const double scale = k == 0 && job->def->step > 0.0 ? 1.0 / job->def->step : 1.0;
            double v[3];
            turn(job, vectors[k], v);
            for (int c = 0; c < 3; c++) {
                columns->vectors[k][3 * i + c] = (float)(scale * v[c]);
            }
        }
        columns->numbers[0][i] = (float)contact->gap;
        columns->numbers[1][i] = (float)contact->mu;
        columns->state[i] = (int32_t)contact->state;
        columns->connectivity[i] = i;
        columns->offsets[i] = i + 1;
    }
}

static void print_head(FilFileWriter *writer, const FilFrame *frame, const Array arrays[ARRAYS]) {
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    uint64_t offset = 0;
    fil_file_print(writer,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                   "byte_order=\"%s\" header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
                   "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                   "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n",
                   little ? "LittleEndian" : "BigEndian", frame->time);
    fil_file_print(writer,
                   "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" "
                   "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<Points>\n",
                   frame->contact_count, frame->contact_count);
    for (int k = 0; k < ARRAYS; k++) {
        fil_file_print(writer, k == 1   ? "</Points>\n<Verts>\n"
                               : k == 3 ? "</Verts>\n<PointData Scalars=\"state\" "
                                          "Vectors=\"force\">\n"
                                        : "");
        fil_file_print(writer,
                       "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                       "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                       arrays[k].type, arrays[k].name, arrays[k].width, offset);
        offset += sizeof(uint64_t) + arrays[k].size;
    }
    fil_file_print(writer, "</PointData>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">_");
}

static FilStatus write_frame(FilExport *job, int64_t k, const FilFrame *frame) {
    const size_t n = (size_t)frame->contact_count;
    Columns columns = {.place = NULL};
    if (!allocate(&job->scratch, n, &columns)) {
        return fil_export_no_memory(job);
    }
    fill(job, frame, &columns);
    const Array arrays[ARRAYS] = {
        {"Points", "Float64", 3, 3 * n * sizeof(double), columns.place},
        {"connectivity", "Int64", 1, n * sizeof(int64_t), columns.connectivity},
        {"offsets", "Int64", 1, n * sizeof(int64_t), columns.offsets},
        {"force", "Float32", 3, 3 * n * sizeof(float), columns.vectors[0]},
        {"normal", "Float32", 3, 3 * n * sizeof(float), columns.vectors[1]},
        {"velocity", "Float32", 3, 3 * n * sizeof(float), columns.vectors[2]},
        {"gap", "Float32", 1, n * sizeof(float), columns.numbers[0]},
        {"mu", "Float32", 1, n * sizeof(float), columns.numbers[1]},
        {"state", "Int32", 1, n * sizeof(int32_t), columns.state},
    };
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, k, ".vtp"));
    print_head(&writer, frame, arrays);
    for (int a = 0; a < ARRAYS; a++) {
        const uint64_t size = arrays[a].size;
        fil_file_put(&writer, &size, sizeof size);
        fil_file_put(&writer, arrays[a].bytes, arrays[a].size);
    }
    fil_file_print(&writer, "\n</AppendedData>\n</VTKFile>\n");
    return fil_export_end(job, &writer, FIL_OK);
}

// Write the frames, and a line for each of those that have contacts.
static FilStatus list_frames(FilExport *job, FilFileWriter *list, int64_t *listed) {
    fil_file_print(list, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                         "<Collection>\n");
    for (int64_t k = 0; k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        if (frame.contact_count == 0) {
            continue;
        }
        FIL_TRY(write_frame(job, k, &frame));
        fil_file_print(list, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"", frame.time);
        fil_export_print_xml(list, job->name);
        fil_file_print(list, "%s-%06" PRId64 ".vtp\"/>\n", job->stem, fil_export_index(job, k));
        (*listed)++;
    }
    fil_file_print(list, "</Collection>\n</VTKFile>\n");
    return FIL_OK;
}

FilStatus fil_export_vtp_contacts(FilExport *job) {
    FilFileWriter list;
    int64_t listed = 0;
    job->stem = FIL_VTP_CONTACTS;
    FIL_TRY(fil_export_begin(job, &list, -1, ".pvd"));
    const FilStatus status = list_frames(job, &list, &listed);
    if (status == FIL_OK && listed == 0) {
        return fil_file_end(&list, false, job->error);
    }
    return fil_export_end(job, &list, status);
}
