#ifndef FIL_RIGID_FLIGHT_H
#define FIL_RIGID_FLIGHT_H

/// Turn a body that nothing touches for the time dt: exactly, at a cost that does not grow with how
/// fast it spins. `moment`: its principal moments; L: its angular momentum, world axes; q: the
/// quaternion that turns its principal axes into world axes; `out`: that at the end.
void fil_rigid_fly(const double moment[3], const double L[3], double dt, const double q[4],
                   double out[4]);

/// out = exp(turn) q, of unit length; without a turn it is q to the bit.
void fil_rigid_turn(const double turn[3], const double q[4], double out[4]);

#endif
