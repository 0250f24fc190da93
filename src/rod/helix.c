// helix.c - the super-helix (Bertails et al. 2006): curvature and twist constant in each element.
#include "reduced.h"

extern const FilRodTable fil_rod_helix;

static FilStatus create(FilRod *rod, const double *start, FilError *error) {
    return fil_reduced_create(rod, 3, start, error);
}

const FilRodTable fil_rod_helix = FIL_REDUCED_TABLE("helix", create);
