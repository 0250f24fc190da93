#ifndef FIL_EXPORT_H
#define FIL_EXPORT_H

/// Results in the formats of other programs. docs/formats-result.md says what each file holds.

#include "filum/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// One table: the formats, their names and what they are.
#define FIL_EXPORT_FORMATS(X)                                                                    \
    X(FIL_EXPORT_USDA, "usda", "USD as text: rods, solids and their motion in one file")         \
    X(FIL_EXPORT_HAIR, "hair", "Cem Yuksel's .hair: the strands of each frame, no solids")       \
    X(FIL_EXPORT_GLB, "glb", "glTF: rods and solids, of one frame or with their motion")         \
    X(FIL_EXPORT_VTP, "vtp", "VTK: rods, solids, contacts of each frame; a .pvd lists them")     \
    X(FIL_EXPORT_CSV, "csv", "text: a row for each point and each solid of each frame")          \
    X(FIL_EXPORT_NPY, "npy", "NumPy arrays of points and solids; a .json says what each row is") \
    X(FIL_EXPORT_OBJ, "obj", "each frame: rods as lines, solids as triangles")

#define FIL_EXPORT_ENUM(code, name, text) code,
typedef enum FilExportFormat {
    FIL_EXPORT_FORMATS(FIL_EXPORT_ENUM) FIL_EXPORT_FORMAT_COUNT
} FilExportFormat;

/// "vtp" for FIL_EXPORT_VTP; NULL when out of range.
FIL_API const char *fil_export_format_name(FilExportFormat format);

// One table: which axis points up.
#define FIL_EXPORT_UPS(X)                                                        \
    X(FIL_EXPORT_UP_AUTO, "auto", "what the format wants: y for glb, else z")    \
    X(FIL_EXPORT_UP_Y, "y", "the world is turned: (x, y, z) becomes (x, z, -y)") \
    X(FIL_EXPORT_UP_Z, "z", "as in the world")

#define FIL_EXPORT_UP_ENUM(code, name, text) code,
typedef enum FilExportUp { FIL_EXPORT_UPS(FIL_EXPORT_UP_ENUM) FIL_EXPORT_UP_COUNT } FilExportUp;

typedef struct FilExportOptions {
    int64_t from;   ///< frames from..to, as a slice of Python: counted from 0, or from the end
    int64_t to;     ///< when negative; `to` is left out; INT64_MAX: up to the last
    int64_t stride; ///< 2: every other frame; at least 1
    FilExportUp up; ///< y turns the world: (x, y, z) becomes (x, z, -y)
    double fps;     ///< usda, glb: frames shown in a second; 0: they show in real time
    int tube_sides; ///< glb: 3 to 64; 0: 8, fewer where there are many points
    bool force;     ///< replace files that exist
    /// Asked before each frame that is read; true: stop, with FIL_E_IO and without the file at
    /// hand. NULL: never.
    bool (*stop)(void *user);
    void *user;
} FilExportOptions;

/// All frames, in real time, replacing nothing.
FIL_API FilExportOptions fil_export_options_default(void);

/// Write files named `<folder>/<name>...`; the folder must exist. Files that exist are an error
/// unless forced, found out before any is written, but for those of others' making meanwhile. csv
/// and npy hold what the run holds; the others refuse frames whose times, places, turns or
/// velocities are no numbers, or beyond 1e30.
/// `*file_count` (may be NULL) tells how many were written.
FIL_API FIL_MUST_CHECK FilStatus fil_export(FilResult *result, FilExportFormat format,
                                            const FilExportOptions *options, const char *folder,
                                            const char *name, int64_t *file_count, FilError *error);

/// What of a run this format cannot hold, as a list: "2 bodies, 1 obstacle"; it is cut where it is
/// longer than `size` - 1 bytes. False, and "": it holds all that there is to see.
FIL_API bool fil_export_losses(const FilResultDef *def, FilExportFormat format, char *text,
                               size_t size);

#ifdef __cplusplus
}
#endif

#endif
