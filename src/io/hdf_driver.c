// hdf_driver.c - a file driver for HDF5 that survives a full disk.
//
// HDF5 1.10 loses its way when a write fails: closing the file then crashes. So this driver never
// tells it. When a write fails, that write and all that follow are dropped and HDF5 goes on in
// good faith; whoever asked for the write looks at `reason` afterwards and closes the file.
//
// What is then on the disk is a prefix of HDF5's writes, as if the program had been killed at that
// moment, and in the mode for a single writer and many readers (SWMR) every prefix is a consistent
// file: HDF5 writes what is pointed to before what points to it. The one write that failed may be
// there in part; it lies in new space, which nothing points to yet, because old space does not run
// out.
//
// HDF5's own locks (flock) are left out: the result takes its own, see result_file.c.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "hdf_driver.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

typedef struct Target {
    int descriptor;
    int *reason;
} Target;

typedef struct File {
    H5FD_t head; // HDF5's part, must be first
    Target target;
    haddr_t eoa, eof;
} File;

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t max) {
    (void)name;
    (void)max;
    const Target *target = H5Pget_driver_info(access);
    struct stat about;
    if (target == NULL || ((flags & H5F_ACC_TRUNC) != 0 && ftruncate(target->descriptor, 0) != 0) ||
        fstat(target->descriptor, &about) != 0) {
        return NULL;
    }
    File *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return NULL;
    }
    file->target = *target;
    file->eof = (haddr_t)about.st_size;
    return &file->head;
}

static herr_t close_file(H5FD_t *head) {
    free(head);
    return 0;
}

static int compare_files(const H5FD_t *a, const H5FD_t *b) {
    const int x = ((const File *)(const void *)a)->target.descriptor;
    const int y = ((const File *)(const void *)b)->target.descriptor;
    return x < y ? -1 : x > y;
}

static herr_t tell_features(const H5FD_t *head, unsigned long *flags) {
    (void)head;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_eoa(const H5FD_t *head, H5FD_mem_t type) {
    (void)type;
    return ((const File *)(const void *)head)->eoa;
}

static herr_t set_eoa(H5FD_t *head, H5FD_mem_t type, haddr_t eoa) {
    (void)type;
    ((File *)(void *)head)->eoa = eoa;
    return 0;
}

static haddr_t get_eof(const H5FD_t *head, H5FD_mem_t type) {
    (void)type;
    return ((const File *)(const void *)head)->eof;
}

// Beyond the end of the file there are zeros.
static herr_t read_bytes(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         void *buffer) {
    (void)type;
    (void)transfer;
    const File *file = (const File *)(const void *)head;
    char *next = buffer;
    while (size > 0) {
        const ssize_t got = pread(file->target.descriptor, next, size, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            memset(next, 0, size);
            return 0;
        }
        next += got;
        at += (haddr_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static herr_t write_bytes(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          const void *buffer) {
    (void)type;
    (void)transfer;
    File *file = (File *)(void *)head;
    const char *next = buffer;
    const haddr_t end = at + size;
    while (size > 0 && *file->target.reason == 0) {
        const ssize_t done = pwrite(file->target.descriptor, next, size, (off_t)at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            *file->target.reason = done < 0 ? errno : ENOSPC;
            break;
        }
        next += done;
        at += (haddr_t)done;
        size -= (size_t)done;
    }
    file->eof = file->eof > end ? file->eof : end;
    return 0;
}

static herr_t truncate_file(H5FD_t *head, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    File *file = (File *)(void *)head;
    if (file->eoa != file->eof) {
        if (*file->target.reason == 0 &&
            ftruncate(file->target.descriptor, (off_t)file->eoa) != 0) {
            *file->target.reason = errno;
        }
        file->eof = file->eoa;
    }
    return 0;
}

// Nothing is locked here; but HDF5 marks a file as open for writing only where it could lock it.
static herr_t lock_file(H5FD_t *head, hbool_t exclusive) {
    (void)head;
    (void)exclusive;
    return 0;
}

static herr_t unlock_file(H5FD_t *head) {
    (void)head;
    return 0;
}

static const H5FD_class_t driver = {.name = "filum",
                                    .maxaddr = (haddr_t)INT64_MAX,
                                    .fc_degree = H5F_CLOSE_STRONG,
                                    .fapl_size = sizeof(Target),
                                    .open = open_file,
                                    .close = close_file,
                                    .cmp = compare_files,
                                    .query = tell_features,
                                    .get_eoa = get_eoa,
                                    .set_eoa = set_eoa,
                                    .get_eof = get_eof,
                                    .read = read_bytes,
                                    .write = write_bytes,
                                    .truncate = truncate_file,
                                    .lock = lock_file,
                                    .unlock = unlock_file,
                                    .fl_map = H5FD_FLMAP_DICHOTOMY};

// Registered once and for good: as HDF5 closes a file it reads the driver's class after giving back
// what may be the last hold on it.
static hid_t driver_id = H5I_INVALID_HID;

static void register_driver(void) {
    driver_id = H5FDregister(&driver);
}

// NOLINTNEXTLINE(readability-non-const-parameter): the driver writes there
herr_t fil_hdf_use_descriptor(hid_t access, int descriptor, int *reason) {
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, register_driver);
    const Target target = {.descriptor = descriptor, .reason = reason};
    return driver_id < 0 ? -1 : H5Pset_driver(access, driver_id, &target);
}
