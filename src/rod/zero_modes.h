#ifndef FIL_ROD_ZERO_MODES_H
#define FIL_ROD_ZERO_MODES_H

// The motions of a rod that cost no energy, known from how it is held and what acts on it. See
// zero_modes.c.

#include "rod.h"

#define FIL_ZERO_MODES 7 // at most: six as one rigid piece, and each section about its tangent

/// Write a basis of them, [count][dof_count], orthonormal in the measure of the mass matrix `mass`
/// (dense, symmetric); returns the count. Exact where the rod is in equilibrium.
int fil_rod_zero_modes(const FilRod *rod, const double *mass, double *modes);

#endif
