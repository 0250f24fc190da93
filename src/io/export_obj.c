// export_obj.c - Wavefront OBJ with lines: vertices, then one `l` for each line of a rod. Vertices
// are counted from 1.
#include "export_parts.h"

#include <string.h>

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

static FilStatus write_frame(FilExport *job, int64_t k, const FilFrame *frame) {
    const FilResultDef *def = job->def;
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, k, ".obj"));
    fil_file_print(&writer, "# filum %s, time %.17g s, metres, %c up\n", def->version, frame->time,
                   job->y_up ? 'y' : 'z');
    for (int i = 0; i < def->point_count; i++) {
        const double *x = frame->position + 3 * (size_t)i;
        fil_file_print(&writer, "v %.15g %.15g %.15g\n", x[0], x[1], x[2]);
    }
    int rod = -1;
    for (int l = 0; l < def->line_count; l++) {
        const FilResultLine *line = &def->lines[l];
        if (line->rod != rod) {
            rod = line->rod;
            print_name(&writer, &def->rods[rod], rod);
        }
        if (line->point_count < 2) {
            continue;
        }
        fil_file_put(&writer, "l", 1);
        for (int i = 0; i < line->point_count; i++) {
            fil_file_print(&writer, " %d", line->first_point + i + 1);
        }
        fil_file_put(&writer, "\n", 1);
    }
    return fil_export_end(job, &writer, FIL_OK);
}

const FilExportKind fil_export_obj = {.frame = write_frame, .frame_suffix = ".obj"};
