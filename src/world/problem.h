#ifndef FIL_WORLD_PROBLEM_H
#define FIL_WORLD_PROBLEM_H

// The friction problem of a step, between contacts and bodies.

#include "world.h"

typedef struct FilWorldProblem FilWorldProblem;

/// Rows, W and free velocities of the contacts, linearised where the bodies were prepared.
FilStatus fil_world_problem_build(FilWorld *world, FilWorldTry *step, FilWorldProblem **out,
                                  FilError *error);
const FilFrictionProblem *fil_world_problem_get(const FilWorldProblem *problem);

/// v+ = v_free + P H^T r into step->after, for the bodies in contact.
void fil_world_problem_apply(const FilWorld *world, const FilWorldProblem *problem,
                             FilWorldTry *step);

/// What is added to u_N before the law holds: gap and rebound, m/s.
double fil_contact_offset(const FilWorkContact *contact, double dt);
/// Whether this is the step in which the contact throws its bodies back.
bool fil_contact_rebounds(const FilWorkContact *contact);

#endif
