#ifndef FIL_IO_ATOMIC_H
#define FIL_IO_ATOMIC_H

#include "filum/base.h"

/// Write a file that appears complete or not at all: the bytes go to a temporary file in the same
/// folder, reach the disk, and only then take the name. What exists is replaced only with `force`,
/// and only when it is a regular file. On failure nothing is left behind.
FilStatus fil_write_file(const char *path, const void *bytes, size_t size, bool force,
                         FilError *error) FIL_MUST_CHECK;

#endif
