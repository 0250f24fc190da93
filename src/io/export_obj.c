// export_obj.c - Wavefront OBJ: vertices, then an `l` for each segment of a rod's lines (Blender
// takes only the first two vertices of an `l`); then the solids, each with its own vertices and
// triangles. Vertices are counted from 1.
#include "export_things.h"

#include "math/rotation.h"
#include "math/vec3.h"

#include <inttypes.h>

// A name on one line.
static void print_name(FilFileWriter *writer, const FilResultRod *rod, int index) {
    if (rod->name[0] == '\0') {
        fil_file_print(writer, "o rod%d\n", index);
        return;
    }
    fil_file_put(writer, "o ", 2);
    for (const char *c = rod->name; *c != '\0'; c++) {
        fil_file_put(writer, (unsigned char)*c <= 32 ? "_" : c, 1);
    }
    fil_file_put(writer, "\n", 1);
}

static void print_vertex(FilFileWriter *writer, const double x[3]) {
    fil_file_print(writer, "v %.15g %.15g %.15g\n", x[0], x[1], x[2]);
}

static void print_rods(FilExport *job, FilFileWriter *writer, const FilFrame *frame) {
    const FilResultDef *def = job->def;
    for (int i = 0; i < def->point_count; i++) {
        print_vertex(writer, frame->position + 3 * (size_t)i);
    }
    int rod = -1;
    for (int l = 0; l < def->line_count; l++) {
        const FilResultLine *line = &def->lines[l];
        if (line->rod != rod) {
            rod = line->rod;
            print_name(writer, &def->rods[rod], rod);
        }
        for (int i = 1; i < line->point_count; i++) {
            fil_file_print(writer, "l %d %d\n", line->first_point + i, line->first_point + i + 1);
        }
    }
}

// A solid where it is in chosen frame `k`; `first` is the number of its first vertex.
static void print_solid(FilFileWriter *writer, const FilExportSolid *solid, int64_t k,
                        const FilExportMesh *mesh, int64_t first) {
    double R[9];
    fil_rotation_from_quaternion(solid->quaternion + 4 * k, R);
    fil_file_print(writer, "o %s\n", solid->name);
    for (int i = 0; i < mesh->vertex_count; i++) {
        double x[3];
        fil_apply3(R, mesh->position + 3 * (size_t)i, x);
        fil_add3(1.0, solid->position + 3 * k, x);
        print_vertex(writer, x);
    }
    for (int t = 0; t < mesh->triangle_count; t++) {
        const int *corner = mesh->triangle + 3 * (size_t)t;
        fil_file_print(writer, "f %" PRId64 " %" PRId64 " %" PRId64 "\n", first + corner[0],
                       first + corner[1], first + corner[2]);
    }
}

static FilStatus write_frame(FilExport *job, int64_t k, const FilExportSolids *solids,
                             const FilExportMesh *meshes) {
    FilFileWriter writer;
    FilFrame frame = {0};
    FIL_TRY(fil_export_read(job, k, &frame));
    FIL_TRY(fil_export_begin(job, &writer, k, ".obj"));
    fil_file_print(&writer, "# filum %s, time %.17g s, metres, %c up\n", job->def->version,
                   frame.time, job->y_up ? 'y' : 'z');
    print_rods(job, &writer, &frame);
    int64_t first = (int64_t)job->def->point_count + 1;
    for (int i = 0; i < solids->count; i++) {
        print_solid(&writer, &solids->items[i], k, &meshes[i], first);
        first += meshes[i].vertex_count;
    }
    return fil_export_end(job, &writer, FIL_OK);
}

static FilStatus write_frames(FilExport *job, FilArena *memory) {
    FilExportSolids solids;
    FIL_TRY(fil_export_solids(job, memory, &solids));
    FilExportMesh *meshes = FIL_NEW(memory, FilExportMesh, solids.count + 1);
    if (meshes == NULL) {
        return fil_export_no_memory(job);
    }
    for (int i = 0; i < solids.count; i++) {
        FIL_TRY(fil_export_mesh(job, memory, &solids, i, &meshes[i]));
    }
    for (int64_t k = 0; k < job->frame_count; k++) {
        FIL_TRY(write_frame(job, k, &solids, meshes));
    }
    return FIL_OK;
}

static FilStatus write_run(FilExport *job) {
    FilArena memory = fil_arena_make(NULL); // the scratch of the job is reset with every frame
    const FilStatus status = write_frames(job, &memory);
    fil_arena_destroy(&memory);
    return status;
}

const FilExportKind fil_export_obj = {.run = write_run, .frame_suffix = ".obj"};
