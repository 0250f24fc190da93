#ifndef FIL_IO_FIELDS_H
#define FIL_IO_FIELDS_H

// Checked fields of an HDF5 file that may be hostile: what is read is of the type and size asked
// for, lies in the file itself, and costs no more memory than the file's own data justify.

#include "base/arena.h"
#include "base/error.h"
#include "io/hdf.h"

/// One file being read. Arrays live in `scratch`.
typedef struct FilFields {
    char name[104]; // what errors call the file
    size_t size;    // of the file, bytes
    FilArena *scratch;
    FilError *error;
} FilFields;

typedef struct FilGroup {
    hid_t id; // negative when not open
    char path[64];
} FilGroup;

typedef struct FilInts {
    int count;
    const int *value;
} FilInts;

typedef struct FilReals {
    int count;
    const double *value;
} FilReals;

FilFields fil_fields_make(const char *name, size_t size, FilArena *scratch, FilError *error);

/// Fail with "<file>: <sentence>".
FilStatus fil_fields_fail(const FilFields *fields, FilStatus status, const char *format, ...)
    FIL_PRINTF(3, 4);
FilStatus fil_fields_no_memory(const FilFields *fields);

bool fil_group_has(const FilGroup *group, const char *name);
FilStatus fil_group_open(const FilFields *fields, const FilGroup *parent, const char *name,
                         FilGroup *out) FIL_MUST_CHECK;
void fil_group_close(FilGroup *group);

/// One dataset each; numbers are finite, integers fit an int.
FilStatus fil_read_ints(const FilFields *fields, const FilGroup *group, const char *name,
                        FilInts *out) FIL_MUST_CHECK;
FilStatus fil_read_reals(const FilFields *fields, const FilGroup *group, const char *name,
                         FilReals *out) FIL_MUST_CHECK;
FilStatus fil_read_int(const FilFields *fields, const FilGroup *group, const char *name,
                       int *out) FIL_MUST_CHECK;

/// A string, "" when there is no such dataset; the copy lives in `keep`.
FilStatus fil_read_text(const FilFields *fields, const FilGroup *group, const char *name,
                        FilArena *keep, const char **out) FIL_MUST_CHECK;

#endif
