#ifndef FIL_ROD_FIT_H
#define FIL_ROD_FIT_H

// Start shapes from points: the curvatures with which a rod of any model lies on a given curve.

#include "base/arena.h"
#include "filum/rod.h"

/// The curve through the points: 3 numbers each, at least 2 places.
typedef struct FilRodCurve {
    const double *points; // m
    int point_count;
    double up[3];    // n2 at the root, as nearly as possible
    double pretwist; // rad: of the tip against the frame that does not turn, spread evenly
} FilRodCurve;

typedef struct FilRodFit {
    FilPose root;
    double length;            // m: of the rod
    double curve_length;      // m: of the curve through the points
    const double *curvatures; // [count][3] for FilRodDef.start_curvatures, in the arena
    int count;                // element_count for helix, element_count + 1 for the others
    double error;             // m: largest distance between rod and curve, twice an element
    int iterations;
} FilRodFit;

/// Fit the rod `def` (model, element_count, element_lengths, and length: 0 stands for that of the
/// curve) to the curve. The curve is stretched evenly when the rod is longer or shorter. Scratch
/// memory comes from `arena` too. Fails when points are too few, not finite or equal to their
/// neighbour, or when an element would bend more than the model can.
FilStatus fil_rod_fit(const FilRodDef *def, const FilRodCurve *curve, FilArena *arena,
                      FilRodFit *out, FilError *error) FIL_MUST_CHECK;

/// Axes whose first is `along`, which is not 0, and whose third is as near to `up` as it can be;
/// any direction across when `up` is 0 or parallel.
void fil_axes_along(const double along[3], const double up[3], double axis[3][3]);

#endif
