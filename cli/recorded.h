#ifndef FIL_CLI_RECORDED_H
#define FIL_CLI_RECORDED_H

// Friction problems of a world, kept: what `filum dump` writes.

#include "filum/filum.h"

// A copy of a problem and of what its solve starts from; contacts first, then joints, as FCLIB has
// them.
typedef struct CliRecorded {
    FilFrictionProblem problem; // its arrays are the record's own
    double *r;
    bool there;  // a problem is in it
    bool failed; // there was no memory for the last one, or it has no blocks
    void *memory;
    size_t room;
} CliRecorded;

/// For fil_world_watch_problems(): keep the last problem in the CliRecorded that `user` is.
void cli_recorded_keep(void *user, const FilFrictionProblem *problem, const double *r,
                       const bool *fresh);
void cli_recorded_free(CliRecorded *recorded);

#endif
