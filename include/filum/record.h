#ifndef FIL_RECORD_H
#define FIL_RECORD_H

/// From a world to a result file: what to record of it, and frames of it.
///
///     fil_recorder_create(world, NULL, &recorder, &error);
///     fil_recorder_set_name(recorder, FIL_BODY_ROD, 0, "strand");
///     FilResultDef def = fil_recorder_def(recorder);
///     def.scene = text;
///     fil_result_create("run/result.h5", &def, false, NULL, &result, &error);
///     ... fil_recorder_frame(recorder, &frame, &error); fil_result_append(result, &frame, &error);

#include "filum/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FilRecorder FilRecorder;

/// Prepare to record a world to which nothing will be added any more. Rods are recorded at the ends
/// of the capsules that stand for them in contact. The world must outlive the recorder; the caller
/// gives it back with fil_recorder_destroy().
FIL_API FIL_MUST_CHECK FilStatus fil_recorder_create(FilWorld *world, const FilAllocator *allocator,
                                                     FilRecorder **out, FilError *error);
FIL_API void fil_recorder_destroy(FilRecorder *recorder); ///< NULL is fine

/// Give a rod, rigid body or obstacle a name; what does not fit is cut.
FIL_API void fil_recorder_set_name(FilRecorder *recorder, FilBodyKind kind, int index,
                                   const char *name);

/// What the world holds; its arrays belong to the recorder. Texts, seed are for the caller to set.
FIL_API FilResultDef fil_recorder_def(const FilRecorder *recorder);

/// The world as it is now. The arrays belong to the recorder until the next call, the contacts to
/// the world. Allocates nothing. Fails with FIL_E_ARGUMENT when the world has exploded: a number is
/// not finite, or kinetic and elastic energy are more than all the mass would have at 1e6 m/s.
FIL_API FIL_MUST_CHECK FilStatus fil_recorder_frame(FilRecorder *recorder, FilFrame *frame,
                                                    FilError *error);

#ifdef __cplusplus
}
#endif

#endif
