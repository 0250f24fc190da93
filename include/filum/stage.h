#ifndef FIL_STAGE_H
#define FIL_STAGE_H

/// A scene brought to life: a world with all that the scene says, in it and in time.
///
///     fil_stage_create(scene, 0, NULL, NULL, &stage, &error);
///     while (fil_world_time(fil_stage_world(stage)) < scene->duration) {
///         fil_stage_step(stage, &info, &error);
///     }

#include "filum/scene.h"
#include "filum/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FilStage FilStage;

/// Build the world of a scene at time 0, on up to `threads` threads (0: all). Rods that start in
/// equilibrium are brought there; one that has none is told to `log` (may be NULL), as each event
/// is when it comes. The scene must outlive the stage; the caller gives `*out` back with
/// fil_stage_destroy(). What the world cannot do is refused with the name of the thing.
FIL_API FIL_MUST_CHECK FilStatus fil_stage_create(const FilScene *scene, int threads,
                                                  const FilLog *log, const FilAllocator *allocator,
                                                  FilStage **out, FilError *error);
FIL_API void fil_stage_destroy(FilStage *stage); ///< NULL is fine

/// The world; it belongs to the stage. Rods, bodies and obstacles have the numbers they have in the
/// scene. Joints to moving places have obstacles that touch nothing, after those of the scene.
FIL_API FilWorld *fil_stage_world(FilStage *stage);

/// Rods that were to start in equilibrium and do not.
FIL_API int fil_stage_unsettled_count(const FilStage *stage);

/// Apply the events that are due, and advance by a step. An event is due when the step that begins
/// at its time begins, or the first one after it. Fails as fil_world_step() does, and when an event
/// is refused.
FIL_API FIL_MUST_CHECK FilStatus fil_stage_step(FilStage *stage, FilStepInfo *info,
                                                FilError *error);

/// Apply the events that are due: fil_stage_step() does so itself.
FIL_API FIL_MUST_CHECK FilStatus fil_stage_apply_due(FilStage *stage, FilError *error);

/// Events applied so far: what a checkpoint must keep beside the state of the world.
FIL_API int fil_stage_event_count(const FilStage *stage);

/// Go on from a state that the world of a stage of the same scene had when `event_count` events had
/// been applied: what follows has the same bits.
FIL_API FIL_MUST_CHECK FilStatus fil_stage_resume(FilStage *stage, const double *state,
                                                  int64_t state_count, int event_count,
                                                  FilError *error);

// --- changes by hand -----------------------------------------------------------------------------

#define FIL_CHANGE_TABLE(X)            \
    X(FIL_CHANGE_GRAVITY, "gravity")   \
    X(FIL_CHANGE_WIND, "wind")         \
    X(FIL_CHANGE_FRICTION, "friction") \
    X(FIL_CHANGE_GRAB, "grab")         \
    X(FIL_CHANGE_LET_GO, "let-go")

#define FIL_CHANGE_ENUM(code, name) code,
typedef enum FilChangeKind { FIL_CHANGE_TABLE(FIL_CHANGE_ENUM) FIL_CHANGE_COUNT } FilChangeKind;

/// What somebody who watches changes between two steps.
typedef struct FilChange {
    FilChangeKind kind;
    double vector[3]; ///< gravity (m/s^2), wind (m/s)
    int a, b;         ///< friction: materials
    double mu;        ///< friction
    FilGrab grab;     ///< grab
} FilChange;

/// Change something now. Like an event it is told to the log, and fil_stage_events() keeps it.
FIL_API FIL_MUST_CHECK FilStatus fil_stage_change(FilStage *stage, const FilChange *change,
                                                  FilError *error);

/// Events and changes applied so far, as a text: what a checkpoint keeps beside the state of the
/// world. It belongs to the stage until the next call; NULL when there is no memory.
FIL_API const char *fil_stage_events(FilStage *stage, size_t *size);

/// As fil_stage_resume(), after the events and changes of such a text.
FIL_API FIL_MUST_CHECK FilStatus fil_stage_resume_events(FilStage *stage, const double *state,
                                                         int64_t state_count, const char *text,
                                                         FilError *error);

// --- is the start what was meant? ----------------------------------------------------------------

/// Contacts that overlap, and the deepest of them.
typedef struct FilOverlap {
    int count;
    double depth;        ///< m
    FilContactSide a, b; ///< when there are any
} FilOverlap;

typedef struct FilSceneOverlaps {
    FilOverlap apart;  ///< rods and bodies that should be apart
    FilOverlap inside; ///< a, a rod or a body, begins inside b, an obstacle
    int touching;      ///< contacts without a gap, however little they overlap
    /// Of the matrix that couples those: the first step forms it, unless it is a heap that is
    /// solved by products (docs/friction.md). It grows with the square of the contacts of a body.
    double matrix_bytes;
} FilSceneOverlaps;

/// What touches at time 0, and what overlaps by more than a hundredth of a contact radius (1e-5 m
/// for bodies). Roots of hair inside the head that holds them are meant so. It takes a world of its
/// own, for a while.
FIL_API FIL_MUST_CHECK FilStatus fil_scene_overlaps(const FilScene *scene, int threads,
                                                    const FilAllocator *allocator,
                                                    FilSceneOverlaps *out, FilError *error);

#ifdef __cplusplus
}
#endif

#endif
