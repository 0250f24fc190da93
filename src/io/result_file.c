// result_file.c - the life of a result: making, locking, opening, mending, closing.
//
// Whether a file that HDF5 marks as open for writing has a living writer is told by a lock: the
// writer holds a lock of its open file description (Linux's "OFD" locks) on one byte far beyond
// the end of the file, and the kernel drops it when the writer dies. HDF5 and h5py lock with
// flock(), which does not see it, so that readers are not disturbed.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): F_OFD_SETLK
#include "result_layout.h"

#include "io/hdf_driver.h"
#include "io/superblock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const off_t lock_at = (off_t)1 << 62;

bool fil_result_lock(int descriptor) {
#if defined(F_OFD_SETLK)
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = lock_at, .l_len = 1};
    // a file system without locks cannot tell; the run goes on
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
#else
    (void)descriptor;
    return true;
#endif
}

static void unlock(int descriptor) {
#if defined(F_OFD_SETLK)
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = lock_at, .l_len = 1};
    (void)fcntl(descriptor, F_OFD_SETLK, &lock);
#else
    (void)descriptor;
#endif
}

bool fil_result_is_locked(int descriptor) {
#if defined(F_OFD_GETLK)
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = lock_at, .l_len = 1};
    return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
#else
    (void)descriptor;
    return false;
#endif
}

FilStatus fil_result_make(const char *path, const FilAllocator *allocator, FilResult **out,
                          FilError *error) {
    const FilAllocator memory = allocator != NULL ? *allocator : fil_libc_allocator;
    const size_t path_size = strlen(path) + 1;
    FilResult *result = memory.resize(memory.user, NULL, 0, sizeof *result);
    char *copy = result != NULL ? memory.resize(memory.user, NULL, 0, path_size) : NULL;
    if (copy == NULL) {
        if (result != NULL) {
            memory.resize(memory.user, result, sizeof *result, 0);
        }
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: there is not enough memory to open it", path);
    }
    memcpy(copy, path, path_size);
    *result = (FilResult){.allocator = memory,
                          .path = copy,
                          .path_size = path_size,
                          .descriptor = -1,
                          .file = -1,
                          .keep = fil_arena_make(&memory),
                          .scratch = fil_arena_make(&memory),
                          .frame_arena = fil_arena_make(&memory)};
    for (int k = 0; k < FIL_TABLE_GROWING; k++) {
        result->tables[k] = -1;
    }
    for (int k = 0; k < FIL_SERIES_COUNT; k++) {
        result->series[k] = -1;
    }
    *out = result;
    return FIL_OK;
}

// Where a write failed, the mark of an open file is still there.
static FilStatus tidy_end(const FilResult *result, bool closed, FilError *error) {
    if (result->reason != 0 || !closed) {
        FIL_TRY(fil_superblock_mend(result->descriptor, result->path, error));
    }
    if (result->reason != 0) {
        return fil_fail(error, FIL_E_IO, "%s: cannot write it: %s", result->path,
                        strerror(result->reason));
    }
    return closed ? FIL_OK : fil_fail(error, FIL_E_IO, "%s: cannot close it", result->path);
}

FilStatus fil_result_release(FilResult *result, FilError *error) {
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    for (int k = 0; k < FIL_TABLE_GROWING; k++) {
        fil_hdf_close(result->tables[k]);
    }
    for (int k = 0; k < FIL_SERIES_COUNT; k++) {
        fil_hdf_close(result->series[k]);
    }
    const bool closed = result->file < 0 || H5Fclose(result->file) >= 0;
    fil_hdf_quiet_end(quiet);
    FilStatus status = FIL_OK;
    if (result->writing && result->file >= 0) {
        status = tidy_end(result, closed, error);
    }
    if (result->descriptor >= 0) {
        (void)close(result->descriptor); // with it goes the lock
    }
    const FilAllocator memory = result->allocator;
    fil_arena_destroy(&result->keep);
    fil_arena_destroy(&result->scratch);
    fil_arena_destroy(&result->frame_arena);
    memory.resize(memory.user, result->pending,
                  (size_t)result->pending_room * sizeof *result->pending, 0);
    memory.resize(memory.user, result->path, result->path_size, 0);
    memory.resize(memory.user, result, sizeof *result, 0);
    return status;
}

FilStatus fil_result_fail_hdf(const FilResult *result, const char *what, FilError *error) {
    if (result->scratch.failed || result->keep.failed || result->frame_arena.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: there is not enough memory to %s it",
                        result->path, what);
    }
    if (result->reason == 0 && H5Eget_num(H5E_DEFAULT) <= 0) { // HDF5 has nothing against it
        return fil_fail(error, FIL_E_FORMAT, "%s is damaged: it holds impossible numbers",
                        result->path);
    }
    return fil_fail(error, result->writing ? FIL_E_IO : FIL_E_FORMAT, "%s: cannot %s it: %s",
                    result->path, what,
                    result->reason != 0 ? strerror(result->reason) : fil_hdf_reason().text);
}

// --- opening and mending -------------------------------------------------------------------------

// A file on the disk, before HDF5 sees it.
typedef struct Found {
    int descriptor;
    bool writable;
    bool living; // another program writes it
    FilSuperblock head;
} Found;

static FilStatus find_file(const char *path, Found *found, FilError *error) {
    *found = (Found){.descriptor = open(path, O_RDWR | O_CLOEXEC), .writable = true};
    if (found->descriptor < 0 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        *found = (Found){.descriptor = open(path, O_RDONLY | O_CLOEXEC)};
    }
    if (found->descriptor < 0) {
        return fil_fail(error, FIL_E_IO, "%s: cannot open it: %s", path, strerror(errno));
    }
    found->living = fil_result_is_locked(found->descriptor);
    FilStatus status = fil_superblock_read(found->descriptor, path, &found->head, error);
    // while it is written the file may be shorter than HDF5 plans it
    if (status == FIL_OK && !found->living && !found->head.marked &&
        found->head.size < found->head.end) {
        status =
            fil_fail(error, FIL_E_FORMAT, "%s is cut off: it has %llu bytes, not %llu", path,
                     (unsigned long long)found->head.size, (unsigned long long)found->head.end);
    }
    // with the lock in hand no other program can begin to write meanwhile
    if (status == FIL_OK && !found->living && found->head.marked && found->writable &&
        fil_result_lock(found->descriptor)) {
        status = fil_superblock_mend(found->descriptor, path, error);
        unlock(found->descriptor);
    }
    if (status != FIL_OK) {
        (void)close(found->descriptor);
    }
    return status;
}

FilStatus fil_result_mend(const char *path, bool *mended, FilError *error) {
    Found found = {0};
    FIL_TRY(find_file(path, &found, error));
    (void)close(found.descriptor);
    const bool due = found.head.marked && !found.living;
    if (mended != NULL) {
        *mended = due && found.writable;
    }
    if (due && !found.writable) {
        return fil_fail(error, FIL_E_IO,
                        "%s: the program that wrote it was killed, and repairing it needs "
                        "permission to write it",
                        path);
    }
    return FIL_OK;
}

hid_t fil_result_access(FilResult *result) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    (void)H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    // readers, too: not all file systems know flock(), which HDF5's own driver insists on
    (void)fil_hdf_use_descriptor(access, result->descriptor, &result->reason);
    return access;
}

static FilStatus open_result(FilResult *result, bool writing, FilError *error) {
    Found found = {0};
    FIL_TRY(find_file(result->path, &found, error));
    result->descriptor = found.descriptor;
    if (writing && (!found.writable || !fil_result_lock(found.descriptor))) {
        return fil_fail(error, FIL_E_IO,
                        found.writable ? "%s is being written by another program"
                                       : "%s cannot be written: permission denied",
                        result->path);
    }
    result->growing = found.living;
    result->writing = writing;
    const bool shared = found.living || (found.head.marked && !found.writable);
    const hid_t access = fil_result_access(result);
    result->file = H5Fopen(result->path,
                           writing  ? H5F_ACC_RDWR
                           : shared ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ
                                    : H5F_ACC_RDONLY,
                           access);
    const FilStatus status =
        result->file >= 0 ? FIL_OK : fil_result_fail_hdf(result, "open", error);
    fil_hdf_close(access);
    return status == FIL_OK ? fil_result_load(result, error) : status;
}

FilStatus fil_result_open(const char *path, const FilAllocator *allocator, FilResult **out,
                          FilError *error) {
    FilResult *result = NULL;
    const FilStatus made = fil_result_make(path, allocator, &result, error);
    if (result == NULL) {
        return made;
    }
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    const FilStatus status = open_result(result, false, error);
    fil_hdf_quiet_end(quiet);
    if (status != FIL_OK) {
        (void)!fil_result_release(result, NULL);
        return status;
    }
    *out = result;
    return FIL_OK;
}

// --- going on ------------------------------------------------------------------------------------

// Keep the frames and steps that whoever resumes knows of.
static FilStatus cut(FilResult *result, int64_t frame_count, int64_t step_count, FilError *error) {
    if (result->frame_count < frame_count || result->step_count < step_count) {
        return fil_fail(error, FIL_E_FORMAT,
                        "%s holds %lld frames and %lld steps; resuming needs %lld and %lld",
                        result->path, (long long)result->frame_count, (long long)result->step_count,
                        (long long)frame_count, (long long)step_count);
    }
    FilFrameRow row = {0};
    if (frame_count > 0 &&
        !fil_hdf_table_read(result->tables[FIL_TABLE_FRAMES], &fil_result_tables[FIL_TABLE_FRAMES],
                            frame_count - 1, 1, &row, &result->scratch)) {
        return fil_result_fail_hdf(result, "read", error);
    }
    const int64_t rows[FIL_TABLE_GROWING] = {
        [FIL_TABLE_FRAMES] = frame_count,
        [FIL_TABLE_STEPS] = step_count,
        [FIL_TABLE_CONTACTS] = row.first_contact + row.contact_count,
    };
    bool done = true;
    for (int k = 0; k < FIL_TABLE_GROWING; k++) {
        done = done && fil_hdf_rows_resize(result->tables[k], rows[k]);
    }
    for (int k = 0; k < FIL_SERIES_COUNT; k++) {
        const hid_t series = result->series[k];
        const bool shorter = fil_result_series[k].optional &&
                             (series < 0 || fil_hdf_rows_count(series) <= frame_count);
        done = done && (shorter || fil_hdf_rows_resize(series, frame_count));
    }
    if (!done || H5Fflush(result->file, H5F_SCOPE_LOCAL) < 0 ||
        !fil_result_start_streaming(result)) {
        return fil_result_fail_hdf(result, "write", error);
    }
    result->frame_count = frame_count;
    result->step_count = step_count;
    result->contact_count = rows[FIL_TABLE_CONTACTS];
    return FIL_OK;
}

FilStatus fil_result_resume(const char *path, int64_t frame_count, int64_t step_count,
                            const FilAllocator *allocator, FilResult **out, FilError *error) {
    FilResult *result = NULL;
    const FilStatus made = fil_result_make(path, allocator, &result, error);
    if (result == NULL) {
        return made;
    }
    const FilHdfQuiet quiet = fil_hdf_quiet_begin();
    FilStatus status = open_result(result, true, error);
    if (status == FIL_OK) {
        status = cut(result, frame_count, step_count, error);
    }
    fil_hdf_quiet_end(quiet);
    if (status != FIL_OK) {
        (void)!fil_result_release(result, NULL);
        return status;
    }
    *out = result;
    return FIL_OK;
}
