#ifndef FIL_WORLD_PASSING_H
#define FIL_WORLD_PASSING_H

// The swept check of a step that was taken.

#include "world.h"

// Two pieces that went through or into each other.
typedef struct FilMeeting {
    const int *pair; // candidates of the step
    double time;     // part of the step at which to look at them; 1: at the end
    bool went;       // through each other
    bool held;       // they have contacts
    bool left;       // they overlap by no more than is left to them
    bool shallow;    // or than is promised: that is taken out of the places
} FilMeeting;

typedef struct FilPassed {
    FilMeeting *list; // in the order of the candidates
    int count;
    int missed;   // of them went through each other
    int deep;     // of them overlap by more than is left to them
    int pressed;  // of them overlap by more than a fifth of the thinner one, and than before
    bool whirled; // a rod, or a body next to something, turned by more than about a radian: nobody
                  // knows where it was on its way
} FilPassed;

/// What happened between the start of the step and now. `poses` are those of the rigid bodies'
/// shapes at its start. The list lives in the world's scratch; step->pairs grows where a piece went
/// farther than was foreseen.
FilStatus fil_world_find_passed(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                                FilPassed *passed, FilError *error);

/// Contacts of a meeting, before the step is taken back: `added` says how many. A pair that has
/// some gets no others, unless it went through each other in the `last` step, that cannot be cut.
FilStatus fil_world_add_met(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                            const FilMeeting *meeting, bool last, int *added, FilError *error);

/// Where the two pieces of a pair, in their order, touch at the end of the step. Returns how often.
int fil_world_touch_after(const FilWorld *world, const FilWorldTry *step, const FilPose *poses,
                          const int pair[2], double reach, int ordered[2],
                          FilTouch out[FIL_TOUCH_MAX]);

#endif
