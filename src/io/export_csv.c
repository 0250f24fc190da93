// export_csv.c - one table of text: a row for each point of each frame.
//
// Numbers that the result holds as doubles get 15 digits, which print 0.1 as 0.1; those that it
// holds in single precision get 8.
#include "export_parts.h"

#include <inttypes.h>

static void print_frame(FilFileWriter *writer, const FilExport *job, int64_t k,
                        const FilFrame *frame) {
    const FilResultDef *def = job->def;
    for (int r = 0; r < def->rod_count; r++) {
        const FilResultRod *rod = &def->rods[r];
        for (int i = rod->first_point; i < rod->first_point + rod->point_count; i++) {
            const double *x = frame->position + 3 * (size_t)i;
            const double *v = frame->velocity + 3 * (size_t)i;
            const double *q = frame->quaternion + 4 * (size_t)i;
            const double *kappa = frame->curvature + 3 * (size_t)i;
            fil_file_print(writer, "%" PRId64 ",%.15g,%d,%d,%.15g,%.15g,%.15g,%.15g,",
                           fil_export_index(job, k), frame->time, r, i - rod->first_point,
                           def->points[i].s, x[0], x[1], x[2]);
            fil_file_print(writer, "%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g\n", v[0],
                           v[1], v[2], q[0], q[1], q[2], q[3], kappa[0], kappa[1], kappa[2]);
        }
    }
}

static FilStatus print_frames(FilExport *job, FilFileWriter *writer) {
    fil_file_print(writer,
                   "frame,time,rod,point,s,x,y,z,vx,vy,vz,qw,qx,qy,qz,twist,kappa1,kappa2\n");
    for (int64_t k = 0; k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        print_frame(writer, job, k, &frame);
    }
    return FIL_OK;
}

static FilStatus write_table(FilExport *job) {
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, -1, ".csv"));
    return fil_export_end(job, &writer, print_frames(job, &writer));
}

const FilExportKind fil_export_csv = {.run = write_table, .run_suffixes = {".csv"}};
