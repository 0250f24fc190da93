#ifndef FIL_IO_HDF_CHECK_H
#define FIL_IO_HDF_CHECK_H

#include "io/hdf.h"

/// Look through the structure of an HDF5 file before HDF5 itself sees it, because HDF5 1.10 crashes
/// on damaged files. True when the file may be opened, else `reason` says what is wrong.
bool fil_hdf_check(const void *bytes, size_t size, FilHdfReason *reason);

#endif
