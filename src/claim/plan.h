#ifndef FIL_CLAIM_PLAN_H
#define FIL_CLAIM_PLAN_H

// Which variants of a scene its claims need: each is run once.

#include "base/arena.h"
#include "filum/claim.h"

/// A variant to run.
typedef struct FilClaimRun {
    FilSceneWords changes; // all of them, those of the settings first
    const char *text;      // the same as one text: what tells variants apart
    const char *beside;    // the variant of the variant that runs beside it; NULL: none
    const char *told;      // what makes it the variant that it is, for messages; "": nothing
    int first_claim;       // that asked for it
    double until;          // s
} FilClaimRun;

typedef struct FilClaimPlan {
    FilClaimFigure *figures;
    int *run; // [figure_count] which run it is measured in
    FilClaimRun *runs;
    int figure_count, run_count;
} FilClaimPlan;

/// All figures of a scene, without values. Lives in `arena`; false when there is no memory.
bool fil_claim_plan(const FilScene *scene, const FilClaimSettings *settings, FilArena *arena,
                    FilClaimPlan *out) FIL_MUST_CHECK;

/// The changes of a variant, "a=1; b=2", after others; false when there is no memory.
bool fil_claim_split(const FilSceneWords *before, const char *variant, FilArena *arena,
                     FilSceneWords *out) FIL_MUST_CHECK;

#endif
