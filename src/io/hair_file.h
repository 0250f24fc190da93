#ifndef FIL_IO_HAIR_FILE_H
#define FIL_IO_HAIR_FILE_H

#include "filum/hair.h"
#include "io/atomic.h"

/// Whether the strands can be written; `name` is what errors call them.
FilStatus fil_hair_check(const FilHair *hair, const char *name, FilError *error) FIL_MUST_CHECK;

/// Put what fil_hair_check() found good into a file that was begun.
void fil_hair_put(FilFileWriter *writer, const FilHair *hair);

#endif
