#ifndef FIL_CLI_REACH_H
#define FIL_CLI_REACH_H

// How far the frames of a film reach, however many there are, in memory that does not grow.

#include "render/camera.h"

enum { CLI_REACH_WAYS = 98 };

/// The ball that reaches furthest in each of many directions. Starts from cli_reach_make().
typedef struct CliReach {
    double way[CLI_REACH_WAYS][3]; // unit vectors
    double most[CLI_REACH_WAYS];   // m, along each
    double ball[CLI_REACH_WAYS][4];
} CliReach;

void cli_reach_make(CliReach *reach);

/// Take the balls of an extent into account.
void cli_reach_add(CliReach *reach, const FilExtent *extent);

/// Add to an extent what reaches beyond it; false when there is no memory.
bool cli_reach_give(const CliReach *reach, FilExtent *extent);

#endif
