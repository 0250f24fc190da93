#ifndef FIL_WORLD_PROBLEM_H
#define FIL_WORLD_PROBLEM_H

// The friction problem of a step, between contacts and bodies.

#include "world.h"

typedef struct FilWorldProblem FilWorldProblem;

/// Rows, W and free velocities of the contacts, linearised where the bodies were prepared.
FilStatus fil_world_problem_build(FilWorld *world, FilWorldTry *step, FilWorldProblem **out,
                                  FilError *error);
const FilFrictionProblem *fil_world_problem_get(const FilWorldProblem *problem);

/// What the impulses r do to the velocities of the bodies in contact, P H^T r; those of others are
/// left alone.
void fil_world_problem_push(const FilWorld *world, const FilWorldProblem *problem, const double *r,
                            double *out);

/// How far the bodies in contact must move so that nothing overlaps at the end of the step:
/// displacements into `shift`, as velocities over the step. False when nothing must.
FilStatus fil_world_correct(FilWorld *world, const FilWorldTry *step,
                            const FilWorldProblem *problem, double *shift, bool *moved,
                            FilError *error);

/// What is added to u_N before the law holds: gap and rebound, m/s.
double fil_contact_offset(const FilWorkContact *contact, double dt);
/// Whether this is the step in which the contact throws its bodies back.
bool fil_contact_rebounds(const FilWorkContact *contact);

#endif
