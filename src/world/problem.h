#ifndef FIL_WORLD_PROBLEM_H
#define FIL_WORLD_PROBLEM_H

// The friction problem of the contacts that matter.

#include "members.h"

/// W, b and mu of the contacts `active` (ascending), for bodies as they were prepared. All arrays
/// live in the world's scratch.
FilStatus fil_world_problem_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                  const int *active, int count, FilFrictionProblem *problem,
                                  FilError *error);

/// The same, with W as a product by way of the bodies (product.c).
FilStatus fil_world_product_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                  const int *active, int count, FilFrictionProblem *problem,
                                  FilError *error);

/// What these two begin with: laws and b of the contacts, all but W.
FilStatus fil_world_problem_begin(FilWorld *world, const FilWorldTry *step,
                                  const FilMembers *members, FilFrictionProblem *problem,
                                  FilError *error);

/// M and H of the same contacts, besides W (global.c): nothing where a body does not know its
/// matrix.
FilStatus fil_world_global_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                 const int *active, int count, FilGlobalForm *global,
                                 FilError *error);

/// b of the same problem once more, for other free velocities.
FilStatus fil_world_problem_refresh(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                    const int *active, FilFrictionProblem *problem,
                                    FilError *error);

/// Displacements that leave no overlap of the contacts of `problem` at the end of the step, into
/// step->shift; step->shifted is false when nothing must move (correct.c).
FilStatus fil_world_correct(FilWorld *world, FilWorldTry *step, const FilRows *rows,
                            const int *active, const FilFrictionProblem *problem, FilError *error);

/// What is added to u before the law holds, m/s: gap and rebound of contacts, errors of joints.
void fil_contact_offset(const FilWorkContact *contact, double dt, double offset[3]);
/// Whether a contact with this gap is to be corrected.
bool fil_contact_overlaps(const FilWorkContact *contact, double gap);
/// Whether this is the step in which the contact throws its bodies back.
bool fil_contact_rebounds(const FilWorkContact *contact);

#endif
