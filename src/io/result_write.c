// result_write.c - frames into a result file that others read meanwhile, and full disks.
//
// A frame is written in this order: the arrays, contacts and steps; flush; its row in /frames;
// flush. So whatever instant the program dies at, what /frames counts is in the file.
//
// A disk that fills up, or fails, is met by the driver below HDF5 (hdf_driver.c), which drops what
// follows. So after each frame its verdict is asked; from then on nothing is written any more.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "result_layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK_POINTS = 1 << 14, // of a large frame
    SMALL_FRAME = 1 << 14,  // bytes: smaller ones share chunks of this size
    SHARED_MAX = 64         // frames in a chunk
};

// --- failing -------------------------------------------------------------------------------------

static FilStatus break_off(FilResult *result, FilError *error) {
    const char *why = result->reason != 0      ? strerror(result->reason)
                      : result->scratch.failed ? "out of memory"
                                               : fil_hdf_reason().text;
    result->broken = true;
    (void)fil_fail(&result->failure, FIL_E_IO, "%s: cannot write it: %s; its %lld frames are safe",
                   result->path, why, (long long)result->frame_count);
    return fil_fail(error, FIL_E_IO, "%s", result->failure.text);
}

static FilStatus check_open(const FilResult *result, FilError *error) {
    if (result->broken) {
        return fil_fail(error, FIL_E_IO, "%s", result->failure.text);
    }
    return result->writing
               ? FIL_OK
               : fil_fail(error, FIL_E_ARGUMENT, "%s is open for reading only", result->path);
}

static FilStatus no_memory(const FilResult *result, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "%s: there is not enough memory to write it",
                    result->path);
}

void fil_series_chunk(const FilSeries *series, const FilResultDef *def, hsize_t chunk[3]) {
    const uint64_t items = (uint64_t)fil_series_items(series, def);
    const uint64_t bytes =
        items * (uint64_t)series->width * (series->single ? sizeof(float) : sizeof(double));
    const uint64_t fit = SMALL_FRAME / (bytes > 0 ? bytes : 1);
    const uint64_t parts = (items + CHUNK_POINTS - 1) / CHUNK_POINTS;
    chunk[0] = fit < 1 ? 1 : fit > SHARED_MAX ? SHARED_MAX : fit;
    chunk[1] = parts > 0 ? (items + parts - 1) / parts : 1;
    chunk[2] = (hsize_t)series->width;
}

// --- appending -----------------------------------------------------------------------------------

FilStatus fil_result_add_step(FilResult *result, const FilResultStep *step, FilError *error) {
    FIL_TRY(check_open(result, error));
    if (result->pending_count == result->pending_room) {
        const int64_t room = 2 * result->pending_room + 64;
        FilResultStep *moved = result->allocator.resize(
            result->allocator.user, result->pending, (size_t)result->pending_room * sizeof *moved,
            (size_t)room * sizeof *moved);
        if (moved == NULL) {
            return no_memory(result, error);
        }
        result->pending = moved;
        result->pending_room = room;
    }
    result->pending[result->pending_count++] = *step;
    return FIL_OK;
}

static bool write_steps(FilResult *result) {
    if (!fil_hdf_table_write(result->tables[FIL_TABLE_STEPS], &fil_result_tables[FIL_TABLE_STEPS],
                             result->step_count, result->pending_count, result->pending,
                             &result->scratch)) {
        return false;
    }
    result->step_count += result->pending_count;
    result->pending_count = 0;
    return true;
}

static bool flush_all(FilResult *result) {
    return H5Fflush(result->file, H5F_SCOPE_LOCAL) >= 0 && result->reason == 0;
}

static bool write_frame(FilResult *result, const FilFrame *frame) {
    bool done = true;
    for (int k = 0; done && k < FIL_SERIES_COUNT; k++) {
        const FilSeries *series = &fil_result_series[k];
        const double *array = fil_series_array(series, frame);
        if (series->optional && (array == NULL || result->series[k] < 0)) {
            continue; // not known, or there is no place for it in this file
        }
        done =
            fil_hdf_rows_resize(result->series[k], result->frame_count + 1) &&
            fil_hdf_rows_write(result->series[k], H5T_NATIVE_DOUBLE, result->frame_count, 1, array);
    }
    done = done &&
           fil_hdf_table_write(result->tables[FIL_TABLE_CONTACTS],
                               &fil_result_tables[FIL_TABLE_CONTACTS], result->contact_count,
                               frame->contact_count, frame->contacts, &result->scratch) &&
           write_steps(result) && flush_all(result);
    const FilFrameRow row = {.time = frame->time,
                             .step = frame->step,
                             .first_contact = result->contact_count,
                             .contact_count = frame->contact_count,
                             .energy = frame->energy};
    done =
        done &&
        fil_hdf_table_write(result->tables[FIL_TABLE_FRAMES], &fil_result_tables[FIL_TABLE_FRAMES],
                            result->frame_count, 1, &row, &result->scratch) &&
        H5Dflush(result->tables[FIL_TABLE_FRAMES]) >= 0 && result->reason == 0;
    if (done) {
        result->frame_count++;
        result->contact_count += frame->contact_count;
    }
    return done;
}

FilStatus fil_result_append(FilResult *result, const FilFrame *frame, FilError *error) {
    FIL_TRY(check_open(result, error));
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    const bool done = write_frame(result, frame);
    const FilStatus status = done ? FIL_OK : break_off(result, error);
    fil_hdf_quiet_end(quiet);
    return status;
}

FilStatus fil_result_sync(FilResult *result, FilError *error) {
    FIL_TRY(check_open(result, error));
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    bool done = write_steps(result) && flush_all(result);
    if (done && fsync(result->descriptor) != 0 && errno != EINVAL) {
        result->reason = errno;
        done = false;
    }
    const FilStatus status = done ? FIL_OK : break_off(result, error);
    fil_hdf_quiet_end(quiet);
    return status;
}

// --- closing -------------------------------------------------------------------------------------

FilStatus fil_result_close(FilResult *result, FilError *error) {
    FilStatus status = FIL_OK;
    if (result->writing && result->broken) {
        status = fil_fail(error, FIL_E_IO, "%s", result->failure.text);
    } else if (result->writing && result->pending_count > 0) {
        status = fil_result_sync(result, error);
    }
    const FilStatus closed = fil_result_release(result, status == FIL_OK ? error : NULL);
    return status == FIL_OK ? closed : status;
}

void fil_result_discard(FilResult *result) {
    if (result != NULL) {
        (void)!fil_result_close(result, NULL);
    }
}
