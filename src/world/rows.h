#ifndef FIL_WORLD_ROWS_H
#define FIL_WORLD_ROWS_H

// How contacts move with the velocities of their bodies: the rows H of the friction problem.
//
//     u = F (J_a v_a - J_b v_b) + F carried,
//
// F the rows normal and tangents of a contact, J the velocity of its place on the surface: that of
// the centre of the section, and its spin across the arm. H = F J is kept per body, without the
// zeros at its two ends. It does not change while a step is solved.

#include "world.h"

// A contact as one of its bodies sees it.
typedef struct FilIncidence {
    int contact;
    int first, width; // unknowns of the body that it moves
    double *H;        // [3][width]
} FilIncidence;

typedef struct FilRows {
    int *body_start;          // [body_count + 1] of the incidences of each body
    FilIncidence *incidences; // by body, contacts ascending
    int (*of_contact)[2];     // its incidences: those of a and b; -1 where there is none
} FilRows;

/// The rows of all contacts of a step, in the world's scratch.
FilStatus fil_rows_build(FilWorld *world, const FilWorldTry *step, FilRows *rows, FilError *error);

/// u of contact i for the velocities v of all bodies, in the contact's own axes.
void fil_rows_velocity(const FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                       const double *v, int i, double u[3]);

/// The generalised impulses of r (3 per contact) on the bodies in contact, H^T r; those on others
/// are left alone.
void fil_rows_gather(const FilWorld *world, const FilRows *rows, const double *r, double *out);

/// What the impulses r (3 per contact) do to the velocities of the bodies in contact, P H^T r;
/// those of others are left alone.
void fil_rows_push(const FilWorld *world, const FilRows *rows, const double *r, double *out);

#endif
