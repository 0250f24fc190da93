#ifndef FIL_IO_POINT_CONTACTS_H
#define FIL_IO_POINT_CONTACTS_H

// What the contacts of a frame do to the recorded points of the rods: one number for each point.

#include "filum/result.h"

/// N: how hard contacts press on the rods, shared out to the two points next to each.
void fil_point_contact_forces(const FilResultDef *def, const FilFrame *frame, double *values);

/// 0 nothing presses, 1 it sticks, 2 it slides: of the contacts nearest to each point.
void fil_point_contact_states(const FilResultDef *def, const FilFrame *frame, double *values);

#endif
