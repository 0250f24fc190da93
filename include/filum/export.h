#ifndef FIL_EXPORT_H
#define FIL_EXPORT_H

/// Results in the formats of other programs. docs/formats-result.md says what each file holds.

#include "filum/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// One table: the formats, their names and what they are.
#define FIL_EXPORT_FORMATS(X)                                                              \
    X(FIL_EXPORT_VTP, "vtp", "VTK: a .vtp file for each frame, and a .pvd with the times") \
    X(FIL_EXPORT_CSV, "csv", "one text file, a row for each point of each frame")          \
    X(FIL_EXPORT_NPY, "npy", "NumPy arrays, and a .json that tells rods apart")            \
    X(FIL_EXPORT_OBJ, "obj", "an .obj file with lines for each frame")

#define FIL_EXPORT_ENUM(code, name, text) code,
typedef enum FilExportFormat {
    FIL_EXPORT_FORMATS(FIL_EXPORT_ENUM) FIL_EXPORT_FORMAT_COUNT
} FilExportFormat;

/// "vtp" for FIL_EXPORT_VTP; NULL when out of range.
FIL_API const char *fil_export_format_name(FilExportFormat format);

typedef struct FilExportOptions {
    int64_t first, last; ///< frames, counted from 0, both included; last below 0: from the end
    int64_t every;       ///< 2: every other frame; at least 1
    bool y_up;           ///< turn the world so that its z axis becomes y
    bool force;          ///< replace files that exist
} FilExportOptions;

/// All frames, z up, replacing nothing.
FIL_API FilExportOptions fil_export_options_default(void);

/// Write files named `<folder>/<name>...`; the folder must exist. Files that exist are an error
/// unless forced, found out before any is written, but for those of others' making meanwhile.
/// `*file_count` (may be NULL) tells how many were written.
FIL_API FIL_MUST_CHECK FilStatus fil_export(FilResult *result, FilExportFormat format,
                                            const FilExportOptions *options, const char *folder,
                                            const char *name, int64_t *file_count, FilError *error);

#ifdef __cplusplus
}
#endif

#endif
