#ifndef FIL_FCLIB_H
#define FIL_FCLIB_H

/// Friction problems in FCLIB's HDF5 layout.
///
/// A file holds one problem, for contacts in 2 or 3 dimensions, in one of two forms:
///
///     /fclib_local     u = W r + V l + q,   V^T r + R l + s = 0       (V, R, s optional)
///     /fclib_global    M v = H r + G l + f,  u = H^T v + w,  G^T v + b = 0   (G, b optional)
///
/// with one `mu` per contact, and may hold a solution and first guesses. In memory the contacts are
/// the first blocks, of kind coulomb, and every equality row is one further block of size 1 and
/// kind equality: l follows r, s follows q, the columns of G follow those of H, b follows w.
///
/// Matrices may be compressed by columns (nz = -1), by rows (nz = -2) or be triplets (nz >= 0),
/// `i` the rows and `p` the columns, or the reverse where only that fits the sizes.

#include "filum/friction.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Vectors laid out like FilFrictionSolution: the multipliers l follow the impulses r, and u is 0
/// there. NULL where not known; v belongs to the global form.
typedef struct FilFclibVectors {
    const double *r, *u, *v;
} FilFclibVectors;

/// What a file holds. One that was read owns all that it points to; one to be written may be made
/// by hand, from zero, with arrays that belong to the caller.
typedef struct FilFclib {
    FilFrictionProblem problem; ///< FIL_FORM_BLOCKS (local) or FIL_FORM_GLOBAL
    int dimension;              ///< 2 or 3: size of the contacts' blocks
    int contact_count;          ///< the first blocks
    int equality_count;         ///< the blocks after those
    const char *title;          ///< texts; "" when there are none, never NULL after reading
    const char *description;
    const char *math_info;
    FilFclibVectors guess;    ///< the first of /guesses
    FilFclibVectors solution; ///< /solution as stored, for what it is worth: often none at all
} FilFclib;

/// Read a file. The caller owns `*out` and gives it back with fil_fclib_destroy(). On failure
/// `*out` is left alone and `error` names the file, the field, the value and the rule. A stored
/// guess or solution that does not fit the problem, or is not finite, counts as absent.
/// `allocator` NULL means libc's; HDF5 has its own memory besides.
FIL_API FIL_MUST_CHECK FilStatus fil_fclib_read(const char *path, const FilAllocator *allocator,
                                                FilFclib **out, FilError *error);

/// The same for a file that is already in memory; `name` is what errors call it.
FIL_API FIL_MUST_CHECK FilStatus fil_fclib_read_memory(const void *bytes, size_t size,
                                                       const char *name,
                                                       const FilAllocator *allocator,
                                                       FilFclib **out, FilError *error);

/// Only for what was read. NULL is fine.
FIL_API void fil_fclib_destroy(FilFclib *file);

/// Write `problem`, the texts (NULL: empty), and `guess` and `solution` where their r is not NULL;
/// the counts are taken from the problem. It must be FIL_FORM_BLOCKS or FIL_FORM_GLOBAL, coulomb
/// blocks of one size, 2 or 3, first and equality blocks after them. The file appears complete or
/// not at all; one that exists is replaced only with `force`.
FIL_API FIL_MUST_CHECK FilStatus fil_fclib_write(const char *path, const FilFclib *file, bool force,
                                                 FilError *error);

/// The library behind, as "HDF5 1.10.8".
FIL_API const char *fil_fclib_library(void);

#ifdef __cplusplus
}
#endif

#endif
