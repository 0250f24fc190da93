#ifndef FIL_IO_ATOMIC_H
#define FIL_IO_ATOMIC_H

#include "filum/base.h"

#define FIL_PATH_MAX 4096 // bytes of a path, with the 0 at its end

/// Write a file that appears complete or not at all: the bytes go to a temporary file in the same
/// folder, reach the disk, and only then take the name, which reaches the disk before this returns.
/// What exists is replaced only with `force`, and only when it is a regular file. On failure
/// nothing is left behind.
FilStatus fil_write_file(const char *path, const void *bytes, size_t size, bool force,
                         FilError *error) FIL_MUST_CHECK;

/// The same for files too long for memory: begin, put, end. A failure to put is remembered and
/// told at the end, which must come even so.
typedef struct FilFileWriter {
    char path[FIL_PATH_MAX], temporary[FIL_PATH_MAX];
    int descriptor;
    bool force;
    int reason; // errno of what failed first, 0: nothing
    size_t used;
    char buffer[1 << 15];
} FilFileWriter;

FilStatus fil_file_begin(FilFileWriter *writer, const char *path, bool force,
                         FilError *error) FIL_MUST_CHECK;
void fil_file_put(FilFileWriter *writer, const void *bytes, size_t size);
void fil_file_print(FilFileWriter *writer, const char *format, ...) FIL_PRINTF(2, 3);
/// `keep` false: the file is not wanted after all.
FilStatus fil_file_end(FilFileWriter *writer, bool keep, FilError *error) FIL_MUST_CHECK;

/// Remove the temporary files that killed writers of `path` left beside it. Nobody may be writing
/// it.
void fil_file_tidy(const char *path);

#endif
