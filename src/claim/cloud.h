#ifndef FIL_CLAIM_CLOUD_H
#define FIL_CLAIM_CLOUD_H

// The things that a claim is about, and the points of them that it looks at.
//
// A thing is a rod, a body or an obstacle. Rods give the points of the part of their length that
// the claim names, joined where they follow each other on one line; bodies and obstacles give their
// middle.

#include "base/arena.h"
#include "filum/result.h"
#include "filum/scene.h"

typedef struct FilClaimThing {
    FilBodyKind kind;
    int index;
    int first, count; // its points in the cloud
} FilClaimThing;

typedef struct FilCloud {
    int thing_count, point_count;
    FilClaimThing *things;
    int *thing;    // [point_count] whose it is
    int *source;   // [point_count] point of the frame, of rods; else the number of the thing
    double *part;  // [point_count] of the length of its rod, 0 .. 1; 0 of bodies
    bool *joined;  // [point_count] to the next one
    double *x, *v; // [point_count][3] m, m/s: of the frame taken last
} FilCloud;

/// The things that `words` name; those that nothing moves only when they are named. `*things` gets
/// `*count` of them, without points. False when there is no memory, or a word names nothing: then
/// `*unknown` is that word.
bool fil_claim_find(const FilScene *scene, const FilSceneWords *words, FilArena *arena,
                    FilClaimThing **things, int *count, const char **unknown) FIL_MUST_CHECK;

/// The points of things that the claim is about, without places. False when there is no memory.
bool fil_cloud_make(const FilResultDef *def, FilClaimThing *things, int count,
                    const FilSceneClaim *claim, FilArena *arena, FilCloud *out) FIL_MUST_CHECK;

/// Where they are in a frame.
void fil_cloud_take(FilCloud *cloud, const FilFrame *frame);

/// The quaternion of a point in a frame.
const double *fil_cloud_turn(const FilCloud *cloud, const FilFrame *frame, int point);

/// The middle of the points of a thing.
void fil_cloud_middle(const FilCloud *cloud, int thing, double out[3]);

#endif
