#ifndef FIL_IO_SUPERBLOCK_H
#define FIL_IO_SUPERBLOCK_H

// The first bytes of an HDF5 file of the newest kind (superblock 3), read and written without HDF5.

#include "filum/base.h"

typedef struct FilSuperblock {
    bool marked;    // open for writing, or so it says
    bool streaming; // ... by a writer that lets others read (SWMR)
    uint64_t end;   // of the file, as HDF5 knows it, bytes
    uint64_t size;  // of the file, as the system knows it
} FilSuperblock;

/// Read from an open file. `path` is for messages.
FilStatus fil_superblock_read(int descriptor, const char *path, FilSuperblock *out,
                              FilError *error) FIL_MUST_CHECK;

/// Take the marks back, and let HDF5 see the file to its end. Reaches the disk.
FilStatus fil_superblock_mend(int descriptor, const char *path, FilError *error) FIL_MUST_CHECK;

/// HDF5's checksum of metadata.
uint32_t fil_hdf_checksum(const unsigned char *bytes, size_t size);

#endif
