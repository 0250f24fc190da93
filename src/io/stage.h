#ifndef FIL_IO_STAGE_H
#define FIL_IO_STAGE_H

// What a stage keeps beside its world, and the parts of it.

#include "base/arena.h"
#include "filum/stage.h"

// What events make of a rod.
typedef struct FilStageRod {
    double force[3], torque[3]; // N, N m: at the tip, beside the loads of the scene
    double length;              // m: that the loads of the scene were made for
} FilStageRod;

// A change by hand, and after how many events it came.
typedef struct FilStageChange {
    int after;
    FilChange change;
} FilStageChange;

struct FilStage {
    const FilScene *scene;
    FilWorld *world;
    FilAllocator allocator;
    FilArena arena;
    FilLog log;
    FilStageRod *rods; // [rod_count]
    FilRodLoad *loads; // room for those of any rod, and one more
    int event_count;   // applied
    int unsettled_count;
    FilStageChange *changes; // in their order; of each parameter only the last
    int change_count, change_room;
    char *text; // of fil_stage_events()
    size_t text_room;
};

// What an error is about: an entry of a list of the scene.
typedef struct FilBlamed {
    const char *list;
    int index;
    const char *name; // may be NULL
    FilSceneOrigin origin;
} FilBlamed;

/// Put "hair.json:12:5: rods[3] (strand): " before the sentence of an error; returns its status.
FilStatus fil_stage_blame(const FilStage *stage, FilError *error, FilStatus status,
                          const FilBlamed *blamed);

/// Apply events until `count` of them are.
FilStatus fil_stage_apply_events(FilStage *stage, int count, FilError *error);
/// How many are due at the present time of the world.
int fil_stage_due_events(const FilStage *stage);

#endif
