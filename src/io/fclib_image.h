#ifndef FIL_IO_FCLIB_IMAGE_H
#define FIL_IO_FCLIB_IMAGE_H

// FCLIB files as bytes in memory, for the writer, tests and fuzzers.

#include "base/arena.h"
#include "filum/fclib.h"

/// The bytes of the file that fil_fclib_write() would write, in `arena`; the same problem always
/// gives the same bytes.
FilStatus fil_fclib_write_memory(const FilFclib *file, FilArena *arena, void **bytes, size_t *size,
                                 FilError *error) FIL_MUST_CHECK;

#endif
