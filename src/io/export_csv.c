// export_csv.c - tables of text: a row for each point of each frame and, where there are solids, a
// table of their own with a row for each body and each obstacle.
//
// Numbers that the result holds as doubles get 15 digits, which print 0.1 as 0.1; those that it
// holds in single precision get 8.
#include "export_parts.h"

#include "point_contacts.h"

#include <inttypes.h>

// What may not be known is left empty.
static void print_carried(FilFileWriter *writer, const FilFrame *frame, int i, double force) {
    const double *const values[2] = {frame->tension, frame->elastic};
    for (int k = 0; k < 2; k++) {
        if (values[k] == NULL) {
            fil_file_print(writer, ",");
        } else {
            fil_file_print(writer, ",%.8g", values[k][i]);
        }
    }
    fil_file_print(writer, ",%.8g\n", force);
}

static void print_frame(FilFileWriter *writer, const FilExport *job, int64_t k,
                        const FilFrame *frame, const double *force) {
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
            fil_file_print(writer, "%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g", v[0], v[1],
                           v[2], q[0], q[1], q[2], q[3], kappa[0], kappa[1], kappa[2]);
            print_carried(writer, frame, i, force[i]);
        }
    }
}

// Poses of `count` solids; `v` and `w`, how they move, are NULL for obstacles.
typedef struct Solids {
    const char *kind;
    int count;
    const double *x, *q, *v, *w;
} Solids;

static void print_solids(FilFileWriter *writer, const Solids *solids, int64_t index, double time) {
    for (int i = 0; i < solids->count; i++) {
        const double *x = solids->x + 3 * (size_t)i, *q = solids->q + 4 * (size_t)i;
        fil_file_print(writer, "%" PRId64 ",%.15g,%s,%d,%.15g,%.15g,%.15g,", index, time,
                       solids->kind, i, x[0], x[1], x[2]);
        fil_file_print(writer, "%.15g,%.15g,%.15g,%.15g", q[0], q[1], q[2], q[3]);
        for (int k = 0; k < 6; k++) {
            const double *rate = k < 3 ? solids->v : solids->w;
            if (rate == NULL) {
                fil_file_print(writer, ",");
            } else {
                fil_file_print(writer, ",%.8g", rate[3 * (size_t)i + (size_t)(k % 3)]);
            }
        }
        fil_file_print(writer, "\n");
    }
}

static FilStatus print_all_solids(FilExport *job, FilFileWriter *writer) {
    fil_file_print(writer, "frame,time,kind,index,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n");
    for (int64_t k = 0; k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        const Solids bodies = {"body",
                               job->def->rigid_count,
                               frame.rigid_position,
                               frame.rigid_quaternion,
                               frame.rigid_velocity,
                               frame.rigid_spin};
        const Solids obstacles = {.kind = "obstacle",
                                  .count = job->def->obstacle_count,
                                  .x = frame.obstacle_position,
                                  .q = frame.obstacle_quaternion};
        print_solids(writer, &bodies, fil_export_index(job, k), frame.time);
        print_solids(writer, &obstacles, fil_export_index(job, k), frame.time);
    }
    return FIL_OK;
}

static FilStatus print_frames(FilExport *job, FilFileWriter *writer) {
    fil_file_print(writer, "frame,time,rod,point,s,x,y,z,vx,vy,vz,qw,qx,qy,qz,twist,kappa1,kappa2,"
                           "tension,elastic,force\n");
    for (int64_t k = 0; k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        double *force = FIL_NEW(&job->scratch, double, job->def->point_count);
        if (force == NULL) {
            return fil_fail(job->error, FIL_E_NO_MEMORY, "there is not enough memory to export");
        }
        fil_point_contact_forces(job->def, &frame, force);
        print_frame(writer, job, k, &frame, force);
    }
    return FIL_OK;
}

static FilStatus write_tables(FilExport *job) {
    FilFileWriter writer;
    FIL_TRY(fil_export_begin(job, &writer, -1, ".csv"));
    FIL_TRY(fil_export_end(job, &writer, print_frames(job, &writer)));
    if (job->def->rigid_count + job->def->obstacle_count == 0) {
        return FIL_OK;
    }
    FIL_TRY(fil_export_begin(job, &writer, -1, "-solids.csv"));
    return fil_export_end(job, &writer, print_all_solids(job, &writer));
}

const FilExportKind fil_export_csv = {
    .is_table = true, .run = write_tables, .run_suffixes = {".csv", "-solids.csv"}};
