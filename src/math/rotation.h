#ifndef FIL_MATH_ROTATION_H
#define FIL_MATH_ROTATION_H

// Rotations as 3 x 3 matrices (row-major) and as unit quaternions (w, x, y, z).

/// The rotation by |a| radians about the axis a: exp([a]x).
void fil_rotation_exp(const double a[3], double out[9]);

/// The rotation vector of R, |a| <= pi: the inverse of fil_rotation_exp().
void fil_rotation_log(const double R[9], double a[3]);

/// The matrix of a quaternion that need not be exactly of unit length, and the unit quaternion
/// (w >= 0) of a rotation.
void fil_rotation_from_quaternion(const double q[4], double R[9]);
void fil_rotation_to_quaternion(const double R[9], double q[4]);

/// out = a b, the product of quaternions.
void fil_quaternion_multiply(const double a[4], const double b[4], double out[4]);

/// The smallest rotation that turns the unit vector a into the unit vector b. Where they are
/// opposite, any half turn that does.
void fil_rotation_between(const double a[3], const double b[3], double R[9]);

/// The nearest rotation to a matrix that is one up to round-off: takes the error of one
/// multiplication out, in place.
void fil_rotation_polish(double R[9]);

#endif
