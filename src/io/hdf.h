#ifndef FIL_IO_HDF_H
#define FIL_IO_HDF_H

// What reading and writing share of HDF5: files live in memory (HDF5's core driver), so that no
// file is locked, a file that changes cannot hurt, and a full disk meets our code, not HDF5's.

#include "base/error.h"

#include <hdf5.h>

/// HDF5's way of printing errors, put aside while we work; per thread where HDF5 knows threads.
typedef struct FilHdfQuiet {
    H5E_auto2_t print;
    void *data;
} FilHdfQuiet;

FilHdfQuiet fil_hdf_quiet_begin(void);
void fil_hdf_quiet_end(FilHdfQuiet quiet);

/// Why the last HDF5 call failed, in HDF5's own words.
typedef struct FilHdfReason {
    char text[96];
} FilHdfReason;

FilHdfReason fil_hdf_reason(void);

/// Open a copy of `bytes` for reading, or make an empty file in memory. Negative on failure.
hid_t fil_hdf_open_image(const void *bytes, size_t size);
hid_t fil_hdf_create_image(void);

/// Close when open.
void fil_hdf_close(hid_t id);

#endif
