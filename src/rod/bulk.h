#ifndef FIL_ROD_BULK_H
#define FIL_ROD_BULK_H

// A rod of nodes and spinning pieces as one bulk: its mass, its inertia about its centre of mass,
// and the rigid motion that has a given momentum. Of all motions with that momentum it is the one
// of least kinetic energy, and at right angles (by mass) to what is left of any of them.

typedef struct FilBulk {
    double mass, centre[3]; // kg, m
    double inertia[9];      // kg m^2, about the centre
} FilBulk;

// Linear momentum and the angular one about the centre; or velocity of the centre and spin.
typedef struct FilTwistPair {
    double linear[3], angular[3];
} FilTwistPair;

/// First all nodes for the centre, then fil_bulk_finish_centre(), then inertias.
void fil_bulk_add_mass(FilBulk *bulk, double mass, const double x[3]);
void fil_bulk_finish_centre(FilBulk *bulk);
void fil_bulk_add_node(FilBulk *bulk, double mass, const double x[3]);
/// What spins about the direction t, and about any axis.
void fil_bulk_add_spin(FilBulk *bulk, double inertia, const double t[3]);
void fil_bulk_add_ball(FilBulk *bulk, double inertia);

/// The momentum of a node that has the momentum p there, added.
void fil_bulk_add_momentum(const FilBulk *bulk, const double x[3], double mass, const double v[3],
                           FilTwistPair *sum);
/// The rigid motion that has this momentum. About an axis without inertia it does not spin.
void fil_bulk_motion(const FilBulk *bulk, const FilTwistPair *momentum, FilTwistPair *motion);
/// v += the motion's velocity at x.
void fil_bulk_add_motion(const FilBulk *bulk, const FilTwistPair *motion, double factor,
                         const double x[3], double v[3]);

#endif
