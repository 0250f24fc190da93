#ifndef FIL_CHECKPOINT_H
#define FIL_CHECKPOINT_H

/// Checkpoints: all that a run needs to go on, bit for bit, in one file that is either the old one
/// or the new one, complete, whatever happens while it is written.

#include "filum/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FilCheckpoint {
    uint64_t scene;      ///< fil_scene_hash() of the scene and of the options that shape the run
    int64_t step_count;  ///< steps done: rows of the result file, too
    int64_t frame_count; ///< frames in the result file
    const double *state; ///< fil_world_get_state()
    int64_t state_count;
    const char *events; ///< changes between the steps so far, as whoever replays them wrote them
    int64_t events_size;
} FilCheckpoint;

/// A number that tells texts apart: of `size` bytes, going on from `start` (0 to begin with).
FIL_API uint64_t fil_scene_hash(const void *bytes, size_t size, uint64_t start);

/// Write `path`, replacing the checkpoint before it once the new one has reached the disk. Call
/// fil_result_sync() first, so that the frames it counts are there.
FIL_API FIL_MUST_CHECK FilStatus fil_checkpoint_write(const char *path,
                                                      const FilCheckpoint *checkpoint,
                                                      FilError *error);

/// Read a checkpoint of this version of the library and of the scene of that hash; anything else
/// is refused. `*out`, arrays included, is one block, given back with fil_checkpoint_destroy().
FIL_API FIL_MUST_CHECK FilStatus fil_checkpoint_read(const char *path, uint64_t scene,
                                                     const FilAllocator *allocator,
                                                     FilCheckpoint **out, FilError *error);
/// `allocator` as for reading; NULL is fine for both.
FIL_API void fil_checkpoint_destroy(FilCheckpoint *checkpoint, const FilAllocator *allocator);

#ifdef __cplusplus
}
#endif

#endif
