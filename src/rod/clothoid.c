// clothoid.c - the super-clothoid (Casati and Bertails-Descoubes 2013): curvature and twist linear
// in each element and continuous, so that the centreline is twice differentiable. Where the section
// jumps, moments are continuous and curvatures are not; there the model is of first order, with an
// error that goes with the lengths of the two elements at the jump (docs/rods.md).
#include "reduced.h"

extern const FilRodTable fil_rod_clothoid;

static FilStatus create(FilRod *rod, const double *start, FilError *error) {
    return fil_reduced_create(rod, 6, start, error);
}

const FilRodTable fil_rod_clothoid = FIL_REDUCED_TABLE("clothoid", create);
