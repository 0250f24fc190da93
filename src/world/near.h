#ifndef FIL_WORLD_NEAR_H
#define FIL_WORLD_NEAR_H

// Axes and boxes of a step, and the pairs that are kept for it.

#include "collide/glide.h"
#include "math/least.h"
#include "world.h"

enum { FIL_NEAR_GRAIN = 256 }; // pieces

typedef struct FilBoxing {
    FilWorld *world;
    FilWorldTry *step;
    double elapsed;   // s, since the step before
    bool *spent;      // [ranges] the budget of a piece is used up
    FilBox *asked;    // [piece_count] for the grid
    FilGlide *glides; // [piece_count] likewise
    FilGlideFrame frame;
    bool few;   // solids: they are not for the grid
    bool plain; // it knows capsules only, none of them asleep or joined
} FilBoxing;

/// It meets no box.
extern const FilBox fil_box_nowhere;

static inline void fil_box_around(FilBox *box, const double p[3], double by) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fil_least(box->low[k], p[k] - by);
        box->high[k] = fil_most(box->high[k], p[k] + by);
    }
}

/// A ball that holds a solid however it turns: about its position, of a body about its centre of
/// mass. Returns its radius, m.
double fil_near_ball(const FilWorld *world, const FilPiece *piece, double centre[3]);

/// How far an axis is from a point, squared, m^2.
double fil_axis_distance2(const FilAxis *axis, const double point[3]);

/// The axis of a capsule at the start of the step, which moves with `rates`.
void fil_near_axis(const FilWorld *world, const FilWorldTry *step, const double *rates,
                   const FilPiece *piece, FilAxis *axis);

/// Room for what is kept; where the world is no longer that of the pairs, they are dropped.
FilStatus fil_kept_begin(FilWorld *world, bool few, FilError *error);

/// Find the pairs for the steps to come, from step->reach on.
FilStatus fil_kept_renew(FilWorld *world, FilBoxing *boxing, FilError *error);

/// Give new budgets to the few pieces that used up theirs. `mended` is false where that does not
/// do.
FilStatus fil_kept_mend(FilWorld *world, FilBoxing *boxing, bool *mended, FilError *error);

#endif
