#ifndef FIL_IO_LOAD_H
#define FIL_IO_LOAD_H

#include "base/arena.h"
#include "filum/base.h"

/// All bytes of a regular file, in the arena. What is none, a device above all, is refused at once
/// and never waited for.
FilStatus fil_load_file(const char *path, FilArena *arena, void **bytes, size_t *size,
                        FilError *error) FIL_MUST_CHECK;

#endif
