#ifndef FIL_IO_RESULT_LAYOUT_H
#define FIL_IO_RESULT_LAYOUT_H

// What lies where in a result file: the lists that writing, reading and cutting share, and what an
// open result is.

#include "base/arena.h"
#include "filum/result.h"
#include "io/hdf_table.h"

#define FIL_RESULT_FORMAT "filum result"
enum { FIL_RESULT_FORMAT_VERSION = 1 };

/// The row of a frame: written last, so that a frame whose row is there is there whole.
typedef struct FilFrameRow {
    double time;
    int64_t step;
    int64_t first_contact, contact_count;
    FilRodEnergy energy;
} FilFrameRow;

// Tables. The first three grow with the run.
typedef enum FilResultTable {
    FIL_TABLE_FRAMES,
    FIL_TABLE_STEPS,
    FIL_TABLE_CONTACTS,
    FIL_TABLE_GROWING,
    FIL_TABLE_RODS = FIL_TABLE_GROWING,
    FIL_TABLE_LINES,
    FIL_TABLE_POINTS,
    FIL_TABLE_RIGIDS,
    FIL_TABLE_OBSTACLES,
    FIL_TABLE_COUNT
} FilResultTable;

extern const FilHdfTable fil_result_tables[FIL_TABLE_COUNT];

// Arrays with one entry for each frame: path, member of FilFrame, member of FilResultDef that
// counts, numbers of each, how they are stored, unit. Those that are SERIES_OPTIONAL are stored as
// floats; a frame may do without them, and so do files of old versions.
#define FIL_RESULT_SERIES(X)                                                           \
    X("/rods/position", position, point_count, 3, SERIES_DOUBLE, "m")                  \
    X("/rods/quaternion", quaternion, point_count, 4, SERIES_FLOAT, "1")               \
    X("/rods/velocity", velocity, point_count, 3, SERIES_FLOAT, "m/s")                 \
    X("/rods/curvature", curvature, point_count, 3, SERIES_FLOAT, "1/m")               \
    X("/rods/tension", tension, point_count, 1, SERIES_OPTIONAL, "N")                  \
    X("/rods/elastic", elastic, point_count, 1, SERIES_OPTIONAL, "J/m")                \
    X("/rods/reaction_force", reaction_force, rod_count, 6, SERIES_OPTIONAL, "N")      \
    X("/rods/reaction_moment", reaction_moment, rod_count, 6, SERIES_OPTIONAL, "N m")  \
    X("/rigids/position", rigid_position, rigid_count, 3, SERIES_DOUBLE, "m")          \
    X("/rigids/quaternion", rigid_quaternion, rigid_count, 4, SERIES_DOUBLE, "1")      \
    X("/rigids/velocity", rigid_velocity, rigid_count, 3, SERIES_DOUBLE, "m/s")        \
    X("/rigids/spin", rigid_spin, rigid_count, 3, SERIES_DOUBLE, "rad/s")              \
    X("/obstacles/position", obstacle_position, obstacle_count, 3, SERIES_DOUBLE, "m") \
    X("/obstacles/quaternion", obstacle_quaternion, obstacle_count, 4, SERIES_DOUBLE, "1")

enum { FIL_SERIES_COUNT = 14 };

typedef struct FilSeries {
    const char *path, *unit;
    size_t array; // offset of the pointer in FilFrame
    size_t items; // offset of the count in FilResultDef
    int width;
    bool single;   // float in the file
    bool optional; // what a frame does not know is NAN in the file, or beyond its end
} FilSeries;

extern const FilSeries fil_result_series[FIL_SERIES_COUNT];

struct FilResult {
    FilAllocator allocator;
    char *path;
    size_t path_size;
    int descriptor; // our own: lock, fsync, and what a writer writes through
    int reason;     // errno of the first write that failed
    hid_t file;
    hid_t tables[FIL_TABLE_GROWING];
    hid_t series[FIL_SERIES_COUNT];
    FilResultDef def;     // lives in `keep`
    FilArena keep;        // as long as the result
    FilArena scratch;     // a call
    FilArena frame_arena; // the frame last read
    bool writing, growing;
    bool broken; // a write failed: `failure` says why
    FilError failure;
    int64_t frame_count, step_count, contact_count; // rows in the file
    FilResultStep *pending;                         // steps not yet written
    int64_t pending_count, pending_room;
};

/// How many items of a series each frame holds.
int fil_series_items(const FilSeries *series, const FilResultDef *def);
const double *fil_series_array(const FilSeries *series, const FilFrame *frame);
void fil_series_set_array(const FilSeries *series, FilFrame *frame, const double *array);

/// Make an empty result, and give back what it holds, open or not.
FilStatus fil_result_make(const char *path, const FilAllocator *allocator, FilResult **out,
                          FilError *error) FIL_MUST_CHECK;
FilStatus fil_result_release(FilResult *result, FilError *error);

/// Take the lock that tells others that a living program writes the file; whether one holds it.
bool fil_result_lock(int descriptor);
bool fil_result_is_locked(int descriptor);

/// How HDF5 opens the file; close it when done.
hid_t fil_result_access(FilResult *result);

/// Open the tables and series of an open file, and read its definition.
FilStatus fil_result_load(FilResult *result, FilError *error) FIL_MUST_CHECK;

/// "<path>: cannot <what> it: <why>", with HDF5's reason.
FilStatus fil_result_fail_hdf(const FilResult *result, const char *what, FilError *error);

/// Axes of a series in the file: frames, items and, where it is more than one, numbers of each.
static inline int fil_series_rank(const FilSeries *series) {
    return series->width > 1 ? 3 : 2;
}
/// How a series is cut into chunks: frames, items, numbers.
void fil_series_chunk(const FilSeries *series, const FilResultDef *def, hsize_t chunk[3]);

/// Start to let others read while we write.
bool fil_result_start_streaming(FilResult *result);

#endif
