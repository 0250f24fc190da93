// export.c - results in the formats of other programs: what all formats share.
//
// Every file appears complete or not at all (io/atomic.h). Whether a name is taken is looked at for
// all files before the first is written, so that a refusal costs nothing.
//
// Tables hold the numbers of the run as they are. In all else a NaN is a strand that some reader
// draws through half the world, or a file that it does not open: such a frame is refused, by name.
//
// Frames show in real time unless the user says how many in a second: then frame k shows at k /
// fps, whatever its time, and velocities on the screen are those of the world divided by `slow`.
//
// Turning the world from z up to y up is a quarter turn about x: (x, y, z) -> (x, z, -y).
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "export_parts.h"

#include "math/rotation.h"
#include "result_layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FPS_OF_A_STILL 24.0
#define LARGEST 1e30 // of a number that is to be seen: most formats have floats

#define NAME_OF(code, name, text) name,
static const char *const names[] = {FIL_EXPORT_FORMATS(NAME_OF)};

static const FilExportKind *const kinds[FIL_EXPORT_FORMAT_COUNT] = {
    [FIL_EXPORT_USDA] = &fil_export_usda, [FIL_EXPORT_HAIR] = &fil_export_hair,
    [FIL_EXPORT_GLB] = &fil_export_glb,   [FIL_EXPORT_VTP] = &fil_export_vtp,
    [FIL_EXPORT_CSV] = &fil_export_csv,   [FIL_EXPORT_NPY] = &fil_export_npy,
    [FIL_EXPORT_OBJ] = &fil_export_obj,
};

const char *fil_export_format_name(FilExportFormat format) {
    return (unsigned)format < FIL_EXPORT_FORMAT_COUNT ? names[format] : NULL;
}

FilExportOptions fil_export_options_default(void) {
    return (FilExportOptions){.to = INT64_MAX, .stride = 1};
}

int64_t fil_export_index(const FilExport *job, int64_t k) {
    return job->first_frame + k * job->options->stride;
}

FilStatus fil_export_no_memory(const FilExport *job) {
    return fil_fail(job->error, FIL_E_NO_MEMORY, "there is not enough memory to export");
}

static FilStatus check_time(const FilExport *job, int64_t index, double time) {
    if (!isfinite(time)) {
        return fil_fail(job->error, FIL_E_FORMAT,
                        "%.160s: the time of frame %" PRId64 " is %g s; it must be finite",
                        job->result->path, index, time);
    }
    return FIL_OK;
}

FilStatus fil_export_clock(FilExport *job, FilArena *memory, FilExportClock *clock) {
    const int64_t count = job->frame_count;
    double *all = FIL_NEW(memory, double, (count - 1) * job->options->stride + 1);
    double *time = FIL_NEW(memory, double, count);
    if (memory->failed) {
        return fil_export_no_memory(job);
    }
    FIL_TRY(fil_result_read_times(job->result, job->first_frame,
                                  (count - 1) * job->options->stride + 1, all, job->error));
    for (int64_t k = 0; k < count; k++) {
        time[k] = all[k * job->options->stride] - all[0];
    }
    for (int64_t k = 1; k < count; k++) {
        FIL_TRY(check_time(job, fil_export_index(job, k), time[k] + all[0]));
        if (job->options->fps == 0.0 && !(time[k] >= time[k - 1])) {
            return fil_fail(job->error, FIL_E_FORMAT,
                            "%.80s: the times fall: frame %" PRId64 " is at %g s, after %g s; give "
                            "fps (--fps) to show frames one after the other",
                            job->result->path, fil_export_index(job, k), time[k] + all[0],
                            time[k - 1] + all[0]);
        }
    }
    const bool even = count > 1 && time[1] > 0.0;
    const double recorded = even ? 1.0 / time[1] : FPS_OF_A_STILL; // a last frame may come early
    *clock = (FilExportClock){.fps = recorded, .slow = 1.0, .time = time};
    if (job->options->fps > 0.0) {
        clock->fps = job->options->fps;
        clock->slow = even ? recorded / clock->fps : 1.0;
        for (int64_t k = 0; k < count; k++) {
            time[k] = (double)k / clock->fps;
        }
    }
    return FIL_OK;
}

// --- turning -------------------------------------------------------------------------------------

static const double *turn_vectors(FilArena *scratch, const double *v, int count) {
    double *out = FIL_NEW(scratch, double, 3 * (size_t)count);
    for (int i = 0; out != NULL && i < count; i++) {
        out[3 * i] = v[3 * i];
        out[3 * i + 1] = v[3 * i + 2];
        out[3 * i + 2] = -v[3 * i + 1];
    }
    return out;
}

static const double *turn_quaternions(FilArena *scratch, const double *q, int count) {
    const double half = sqrt(0.5), turn[4] = {half, -half, 0.0, 0.0};
    double *out = FIL_NEW(scratch, double, 4 * (size_t)count);
    for (int i = 0; out != NULL && i < count; i++) {
        fil_quaternion_multiply(turn, q + 4 * (size_t)i, out + 4 * (size_t)i);
    }
    return out;
}

static void turn_frame(FilExport *job, FilFrame *frame) {
    FilArena *scratch = &job->scratch;
    const int n = job->def->point_count, bodies = job->def->rigid_count,
              obstacles = job->def->obstacle_count;
    frame->position = turn_vectors(scratch, frame->position, n);
    frame->velocity = turn_vectors(scratch, frame->velocity, n);
    frame->quaternion = turn_quaternions(scratch, frame->quaternion, n);
    frame->rigid_position = turn_vectors(scratch, frame->rigid_position, bodies);
    frame->rigid_quaternion = turn_quaternions(scratch, frame->rigid_quaternion, bodies);
    frame->rigid_velocity = turn_vectors(scratch, frame->rigid_velocity, bodies);
    frame->rigid_spin = turn_vectors(scratch, frame->rigid_spin, bodies);
    frame->obstacle_position = turn_vectors(scratch, frame->obstacle_position, obstacles);
    frame->obstacle_quaternion = turn_quaternions(scratch, frame->obstacle_quaternion, obstacles);
}

// --- numbers -------------------------------------------------------------------------------------

#define RULE "numbers must be finite, and at most %g"

// The first of `count` vectors of that width with a number that cannot be shown; -1: none.
static int find_bad(const double *values, int count, int width, double *number) {
    for (int i = 0; values != NULL && i < count; i++) {
        for (int k = 0; k < width; k++) {
            *number = values[(size_t)i * (size_t)width + (size_t)k];
            if (!(fabs(*number) <= LARGEST)) {
                return i;
            }
        }
    }
    return -1;
}

static FilStatus check_points(const FilExport *job, int64_t index, const FilFrame *frame) {
    const struct {
        const double *values;
        int width;
        const char *name;
    } parts[] = {{frame->position, 3, "place"},
                 {frame->velocity, 3, "velocity"},
                 {frame->quaternion, 4, "turn"}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        double number = 0.0;
        const int bad = find_bad(parts[k].values, job->def->point_count, parts[k].width, &number);
        if (bad < 0) {
            continue;
        }
        int r = 0;
        while (r + 1 < job->def->rod_count && job->def->rods[r + 1].first_point <= bad) {
            r++;
        }
        const FilResultRod *rod = &job->def->rods[r];
        return fil_fail(job->error, FIL_E_FORMAT,
                        "%.80s: frame %" PRId64
                        ", rods[%d]%s%.32s, point %d: its %s holds %g; " RULE,
                        job->result->path, index, r, rod->name[0] != '\0' ? " " : "", rod->name,
                        bad - rod->first_point, parts[k].name, number, LARGEST);
    }
    return FIL_OK;
}

static FilStatus check_solids(const FilExport *job, int64_t index, const FilFrame *frame) {
    const struct {
        const double *values;
        int count, width;
        const char *list, *name;
    } parts[] = {
        {frame->rigid_position, job->def->rigid_count, 3, "bodies", "place"},
        {frame->rigid_quaternion, job->def->rigid_count, 4, "bodies", "turn"},
        {frame->obstacle_position, job->def->obstacle_count, 3, "obstacles", "place"},
        {frame->obstacle_quaternion, job->def->obstacle_count, 4, "obstacles", "turn"},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        double number = 0.0;
        const int bad = find_bad(parts[k].values, parts[k].count, parts[k].width, &number);
        if (bad >= 0) {
            return fil_fail(job->error, FIL_E_FORMAT,
                            "%.80s: frame %" PRId64 ", %s[%d]: its %s holds %g; " RULE,
                            job->result->path, index, parts[k].list, bad, parts[k].name, number,
                            LARGEST);
        }
    }
    return FIL_OK;
}

static FilStatus check_numbers(const FilExport *job, int64_t index, const FilFrame *frame) {
    FIL_TRY(check_time(job, index, frame->time));
    FIL_TRY(check_points(job, index, frame));
    return check_solids(job, index, frame);
}

FilStatus fil_export_go_on(const FilExport *job, int64_t k) {
    if (job->options->stop != NULL && job->options->stop(job->options->user)) {
        return fil_fail(job->error, FIL_E_IO, "the export was stopped at frame %" PRId64,
                        fil_export_index(job, k));
    }
    return FIL_OK;
}

FilStatus fil_export_read(FilExport *job, int64_t k, FilFrame *frame) {
    const int64_t index = fil_export_index(job, k);
    FIL_TRY(fil_export_go_on(job, k));
    FIL_TRY(fil_result_read(job->result, index, frame, job->error));
    if (!job->as_is) {
        FIL_TRY(check_numbers(job, index, frame));
    }
    fil_arena_reset(&job->scratch);
    if (job->y_up) {
        turn_frame(job, frame);
    }
    if (job->scratch.failed) {
        return fil_export_no_memory(job);
    }
    return FIL_OK;
}

// --- files ---------------------------------------------------------------------------------------

static FilStatus make_path(const FilExport *job, int64_t k, const char *suffix,
                           char path[FIL_PATH_MAX]) {
    char number[32] = "";
    if (k >= 0) {
        (void)snprintf(number, sizeof number, "-%06" PRId64, fil_export_index(job, k));
    }
    const int length = snprintf(path, FIL_PATH_MAX, "%s/%s%s%s%s", job->folder, job->name,
                                job->stem, number, suffix);
    if (length < 0 || length >= FIL_PATH_MAX) {
        return fil_fail(job->error, FIL_E_IO, "%s: the name is too long", job->folder);
    }
    return FIL_OK;
}

FilStatus fil_export_begin(FilExport *job, FilFileWriter *writer, int64_t k, const char *suffix) {
    char path[FIL_PATH_MAX];
    FIL_TRY(make_path(job, k, suffix, path));
    return fil_file_begin(writer, path, job->options->force, job->error);
}

FilStatus fil_export_end(FilExport *job, FilFileWriter *writer, FilStatus so_far) {
    if (so_far != FIL_OK) {
        (void)!fil_file_end(writer, false, NULL);
        return so_far;
    }
    FIL_TRY(fil_file_end(writer, true, job->error));
    job->file_count++;
    return FIL_OK;
}

static FilStatus check_free(const FilExport *job, int64_t k, const char *suffix) {
    char path[FIL_PATH_MAX];
    FIL_TRY(make_path(job, k, suffix, path));
    struct stat about;
    if (lstat(path, &about) == 0) {
        return fil_fail(job->error, FIL_E_IO, "%s exists already; force (--force) replaces it",
                        path);
    }
    return FIL_OK;
}

static FilStatus check_frame_names(const FilExport *job, const FilExportKind *kind) {
    for (int64_t k = 0; kind->frame_suffix != NULL && k < job->frame_count; k++) {
        FIL_TRY(check_free(job, k, kind->frame_suffix));
    }
    return FIL_OK;
}

static FilStatus check_names(const FilExport *job, const FilExportKind *kind) {
    FIL_TRY(check_frame_names(job, kind));
    for (int i = 0; kind->run_suffixes[i] != NULL; i++) {
        FIL_TRY(check_free(job, -1, kind->run_suffixes[i]));
    }
    FilExport side = *job;
    for (int i = 0; kind->side_stems[i] != NULL; i++) {
        side.stem = kind->side_stems[i];
        FIL_TRY(check_frame_names(&side, kind));
    }
    return FIL_OK;
}

// --- the call ------------------------------------------------------------------------------------

static FilStatus check_options(const FilExport *job) {
    const FilExportOptions *options = job->options;
    if (options->stride < 1) {
        return fil_fail(job->error, FIL_E_ARGUMENT, "stride is %" PRId64 "; it must be at least 1",
                        options->stride);
    }
    if (!(options->fps >= 0.0 && options->fps <= 1e9)) {
        return fil_fail(job->error, FIL_E_ARGUMENT, "fps is %g; it must be positive, at most 1e9",
                        options->fps);
    }
    if ((unsigned)options->up >= FIL_EXPORT_UP_COUNT) {
        return fil_fail(job->error, FIL_E_ARGUMENT, "up is %d; there is no such axis",
                        (int)options->up);
    }
    if (options->tube_sides != 0 && (options->tube_sides < 3 || options->tube_sides > 64)) {
        return fil_fail(job->error, FIL_E_ARGUMENT, "tube_sides is %d; it must be 3 to 64, or 0",
                        options->tube_sides);
    }
    return FIL_OK;
}

// An end of a slice: from the end when negative, and never beyond it.
static int64_t clamp_end(int64_t end, int64_t count) {
    const int64_t from_start = end < 0 ? end + count : end;
    return from_start < 0 ? 0 : from_start > count ? count : from_start;
}

static FilStatus choose_frames(FilExport *job) {
    const FilExportOptions *options = job->options;
    const int64_t held = fil_result_frame_count(job->result);
    const int64_t from = clamp_end(options->from, held), to = clamp_end(options->to, held);
    if (held == 0) {
        return fil_fail(job->error, FIL_E_FORMAT, "there are no frames to export");
    }
    if (to <= from && options->to == options->from + 1) {
        return fil_fail(job->error, FIL_E_ARGUMENT,
                        held == 1 ? "frame %" PRId64 " is not there: the run has one frame, 0"
                                  : "frame %" PRId64 " is not there: the run has %" PRId64
                                    " frames, 0 to %" PRId64,
                        options->from, held, held - 1);
    }
    if (to <= from) {
        char end[32] = "";
        if (options->to != INT64_MAX) {
            (void)snprintf(end, sizeof end, "%" PRId64, options->to);
        }
        return fil_fail(job->error, FIL_E_ARGUMENT,
                        "frames %" PRId64 ":%s hold none; there are 0 to %" PRId64, options->from,
                        end, held - 1);
    }
    job->first_frame = from;
    job->frame_count = (to - from - 1) / options->stride + 1;
    return FIL_OK;
}

static FilStatus export_frames(FilExport *job, const FilExportKind *kind) {
    for (int64_t k = 0; kind->frame != NULL && k < job->frame_count; k++) {
        FilFrame frame = {0};
        FIL_TRY(fil_export_read(job, k, &frame));
        FIL_TRY(kind->frame(job, k, &frame));
    }
    return kind->run != NULL ? kind->run(job) : FIL_OK;
}

FilStatus fil_export(FilResult *result, FilExportFormat format, const FilExportOptions *options,
                     const char *folder, const char *name, int64_t *file_count, FilError *error) {
    if ((unsigned)format >= FIL_EXPORT_FORMAT_COUNT) {
        return fil_fail(error, FIL_E_ARGUMENT, "format is %d; there is no such format",
                        (int)format);
    }
    FilExport job = {.result = result,
                     .def = fil_result_def(result),
                     .options = options,
                     .folder = folder,
                     .name = name,
                     .stem = "",
                     .scratch = fil_arena_make(NULL),
                     .error = error};
    const FilExportKind *kind = kinds[format];
    job.as_is = kind->is_table;
    job.y_up = options->up == FIL_EXPORT_UP_AUTO ? kind->is_y_up : options->up == FIL_EXPORT_UP_Y;
    FilStatus status = check_options(&job);
    if (status == FIL_OK) {
        status = choose_frames(&job);
    }
    if (status == FIL_OK && !options->force) {
        status = check_names(&job, kind);
    }
    if (status == FIL_OK) {
        status = export_frames(&job, kind);
    }
    fil_arena_destroy(&job.scratch);
    if (file_count != NULL) {
        *file_count = job.file_count;
    }
    return status;
}
