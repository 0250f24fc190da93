#ifndef FIL_HAIR_H
#define FIL_HAIR_H

/// Strands in Cem Yuksel's .hair files, which modellers of hair and research codes exchange. The
/// format has no unit of length and no axis that points up; whoever reads one says what they are.

#include "filum/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Polylines. Arrays that may be NULL give way to one value for all.
typedef struct FilHair {
    int strand_count, point_count;
    const int *first;          ///< [strand_count + 1] strand k has points first[k]..first[k+1]-1
    const float *points;       ///< [point_count][3]
    const float *thickness;    ///< [point_count] whole widths, or NULL
    const float *transparency; ///< [point_count] 0 to 1, or NULL
    const float *colour;       ///< [point_count][3] 0 to 1, or NULL
    float default_thickness, default_transparency, default_colour[3];
    char about[89]; ///< a line of text, with the 0 at its end
} FilHair;

/// Read a file. Every strand has two points or more, and all coordinates are finite; what is not
/// so is FIL_E_FORMAT, with the strand. The caller gives `*out` back with fil_hair_destroy().
FIL_API FIL_MUST_CHECK FilStatus fil_hair_read(const char *path, const FilAllocator *allocator,
                                               FilHair **out, FilError *error);

/// The same from memory; `name` is what errors call it.
FIL_API FIL_MUST_CHECK FilStatus fil_hair_read_memory(const void *bytes, size_t size,
                                                      const char *name,
                                                      const FilAllocator *allocator, FilHair **out,
                                                      FilError *error);

FIL_API void fil_hair_destroy(FilHair *hair); ///< NULL is fine; only for what was read

/// Write a file, which appears complete or not at all; what exists is replaced only with `force`.
/// A strand can have 2 to 65536 points.
FIL_API FIL_MUST_CHECK FilStatus fil_hair_write(const char *path, const FilHair *hair, bool force,
                                                FilError *error);

#ifdef __cplusplus
}
#endif

#endif
