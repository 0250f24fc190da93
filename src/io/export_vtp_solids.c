// export_vtp_solids.c - bodies and obstacles of frames as VTK triangles: one file for each frame.
// See export_vtp.c for how a file is laid out, and for the list that has their times.
//
// Every vertex says whose it is (kind, index) and how fast it moves. Results hold the velocities of
// bodies alone; those of obstacles, which follow a motion or stand still, are NaN.
#include "export_things.h"

#include "math/rotation.h"
#include "math/vec3.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ARRAYS = 7 };

typedef struct Array {
    const char *name, *type;
    int width;
    size_t size; // bytes
    const void *bytes;
} Array;

typedef struct Columns {
    double *place;
    int64_t *connectivity, *offsets;
    int32_t *kind, *index;
    float *velocity, *speed;
    size_t vertex_count, corner_count; // so far
} Columns;

typedef struct Solids {
    FilExportSolids all;
    FilExportMesh *meshes;               // [all.count]
    size_t vertex_count, triangle_count; // of all together
} Solids;

static bool allocate(FilArena *scratch, const Solids *solids, Columns *columns) {
    const size_t n = solids->vertex_count, triangles = solids->triangle_count;
    *columns = (Columns){.place = FIL_NEW(scratch, double, 3 * n),
                         .connectivity = FIL_NEW(scratch, int64_t, 3 * triangles),
                         .offsets = FIL_NEW(scratch, int64_t, triangles),
                         .kind = FIL_NEW(scratch, int32_t, n),
                         .index = FIL_NEW(scratch, int32_t, n),
                         .velocity = FIL_NEW(scratch, float, 3 * n),
                         .speed = FIL_NEW(scratch, float, n)};
    return !scratch->failed;
}

// How fast the place `arm` from the middle of body `i` moves.
static void find_velocity(const FilFrame *frame, int i, const double arm[3], double out[3]) {
    fil_cross3(frame->rigid_spin + 3 * (size_t)i, arm, out);
    fil_add3(1.0, frame->rigid_velocity + 3 * (size_t)i, out);
}

static void add_solid(const Solids *solids, int s, const FilFrame *frame, int64_t k, Columns *to) {
    const FilExportSolid *solid = &solids->all.items[s];
    const FilExportMesh *mesh = &solids->meshes[s];
    const int index = solid->is_body ? s : s - solids->all.body_count;
    const int64_t first = (int64_t)to->vertex_count;
    double R[9];
    fil_rotation_from_quaternion(solid->quaternion + 4 * k, R);
    for (int i = 0; i < mesh->vertex_count; i++) {
        const size_t at = to->vertex_count++;
        double arm[3], v[3] = {NAN, NAN, NAN};
        fil_apply3(R, mesh->position + 3 * (size_t)i, arm);
        if (solid->is_body) {
            find_velocity(frame, index, arm, v);
        }
        fil_copy3(solid->position + 3 * k, to->place + 3 * at);
        fil_add3(1.0, arm, to->place + 3 * at);
        to->kind[at] = solid->is_body ? 0 : 1;
        to->index[at] = index;
        to->speed[at] = (float)fil_norm3(v);
        for (int c = 0; c < 3; c++) {
            to->velocity[3 * at + (size_t)c] = (float)v[c];
        }
    }
    for (int c = 0; c < 3 * mesh->triangle_count; c++) {
        to->connectivity[to->corner_count++] = first + mesh->triangle[c];
        if (c % 3 == 2) {
            to->offsets[to->corner_count / 3 - 1] = (int64_t)to->corner_count;
        }
    }
}

static void print_head(FilFileWriter *writer, const Solids *solids, double time,
                       const Array arrays[ARRAYS]) {
    static const char *const before[ARRAYS] = {
        [1] = "</Points>\n<Polys>\n",
        [3] = "</Polys>\n<PointData Scalars=\"kind\" Vectors=\"velocity\">\n"};
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
                   "<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
                   "NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n<Points>\n",
                   solids->vertex_count, solids->triangle_count);
    for (int k = 0; k < ARRAYS; k++) {
        fil_file_print(writer, "%s", before[k] != NULL ? before[k] : "");
        fil_file_print(writer,
                       "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                       "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                       arrays[k].type, arrays[k].name, arrays[k].width, offset);
        offset += sizeof(uint64_t) + arrays[k].size;
    }
    fil_file_print(writer, "</PointData>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">_");
}

static FilStatus write_frame(FilExport *job, int64_t k, const Solids *solids) {
    FilFrame frame = {0};
    Columns columns;
    FIL_TRY(fil_export_read(job, k, &frame));
    if (!allocate(&job->scratch, solids, &columns)) {
        return fil_export_no_memory(job);
    }
    for (int s = 0; s < solids->all.count; s++) {
        add_solid(solids, s, &frame, k, &columns);
    }
    const size_t n = solids->vertex_count, triangles = solids->triangle_count;
    const Array arrays[ARRAYS] = {
        {"Points", "Float64", 3, 3 * n * sizeof(double), columns.place},
        {"connectivity", "Int64", 1, 3 * triangles * sizeof(int64_t), columns.connectivity},
        {"offsets", "Int64", 1, triangles * sizeof(int64_t), columns.offsets},
        {"kind", "Int32", 1, n * sizeof(int32_t), columns.kind},
        {"index", "Int32", 1, n * sizeof(int32_t), columns.index},
        {"velocity", "Float32", 3, 3 * n * sizeof(float), columns.velocity},
        {"speed", "Float32", 1, n * sizeof(float), columns.speed},
    };
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, k, ".vtp"));
    print_head(&writer, solids, frame.time, arrays);
    for (int a = 0; a < ARRAYS; a++) {
        const uint64_t size = arrays[a].size;
        fil_file_put(&writer, &size, sizeof size);
        fil_file_put(&writer, arrays[a].bytes, arrays[a].size);
    }
    fil_file_print(&writer, "\n</AppendedData>\n</VTKFile>\n");
    return fil_export_end(job, &writer, FIL_OK);
}

static FilStatus write_frames(FilExport *job, FilArena *memory) {
    Solids solids = {.meshes = NULL};
    FIL_TRY(fil_export_solids(job, memory, &solids.all));
    solids.meshes = FIL_NEW(memory, FilExportMesh, solids.all.count);
    if (solids.meshes == NULL) {
        return fil_export_no_memory(job);
    }
    for (int s = 0; s < solids.all.count; s++) {
        FIL_TRY(fil_export_mesh(job, memory, &solids.all, s, &solids.meshes[s]));
        solids.vertex_count += (size_t)solids.meshes[s].vertex_count;
        solids.triangle_count += (size_t)solids.meshes[s].triangle_count;
    }
    for (int64_t k = 0; k < job->frame_count; k++) {
        FIL_TRY(write_frame(job, k, &solids));
    }
    return FIL_OK;
}

FilStatus fil_export_vtp_solids(FilExport *job) {
    FilArena memory = fil_arena_make(NULL); // the scratch of the job is reset with every frame
    job->stem = FIL_VTP_SOLIDS;
    const FilStatus status = write_frames(job, &memory);
    job->stem = "";
    fil_arena_destroy(&memory);
    return status;
}
