#ifndef FIL_IO_HDF_DRIVER_H
#define FIL_IO_HDF_DRIVER_H

// How HDF5 reaches a file that we write: through a descriptor of ours, and without ever hearing of
// a failure.

#include "io/hdf.h"

/// Make HDF5 use `descriptor`, which stays the caller's, for the file that is opened or created
/// with `access`. The first failure to write goes to `*reason` (an errno, 0 before), and nothing is
/// written after it; `reason` must live until the file is closed. Negative on failure.
herr_t fil_hdf_use_descriptor(hid_t access, int descriptor, int *reason);

#endif
