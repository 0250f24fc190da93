#ifndef FIL_ROD_HELD_H
#define FIL_ROD_HELD_H

// A rod as contact solvers use it: a step of A v+ = rhs + (impulses) in which the held ends stay
// where they are held, whatever the impulses are.
//
//     v+ = v_free + P (impulses),    P = A^-1 - A^-1 C^T (C A^-1 C^T)^-1 C A^-1,
//
// C the rows that hold the ends (rod.h). P is symmetric; without such rows it is A^-1.

#include "rod.h"

/// Make the step ready, linearised at the velocity `guess` (NULL: the present one), and write
/// v_free. Returns the residual of the nonlinear step at the guess, as FilRodTable.prepare does.
double fil_rod_prepare_held(FilRod *rod, double dt, const double *guess, double *free_velocity);

/// The velocity turned out to be another one than prepare_held() took it for, because of the
/// impulses `push`: correct v_free for the same P. False where there is nothing to correct.
bool fil_rod_correct_held(FilRod *rod, double dt, const double *velocity, const double *push,
                          double *free_velocity);

/// x <- P x for `count` vectors, one after the other.
void fil_rod_solve_held(const FilRod *rod, int count, double *x);
/// The same for the columns of x, [dof_count][count]. False, and nothing done, where that is no
/// faster.
bool fil_rod_solve_held_columns(const FilRod *rod, int count, double *x);

#endif
