#ifndef FIL_MATH_CUT_H
#define FIL_MATH_CUT_H

// Cutting a graph into parts of about equal size with few edges between them.

#include "base/arena.h"

/// part_of[i], 0 .. parts - 1, for each of the n nodes of the symmetric pattern with the columns
/// column[start[i] .. start[i + 1] - 1] in row i; the diagonal is ignored. A part may be empty.
/// `scratch` is given back as it was; METIS takes memory of its own besides.
FilStatus fil_graph_cut(int n, const int *start, const int *column, int parts, FilArena *scratch,
                        int *part_of) FIL_MUST_CHECK;

#endif
