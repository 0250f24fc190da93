#ifndef FIL_WORLD_LIFT_H
#define FIL_WORLD_LIFT_H

// What moves bodies at the end of a step, without adding velocity, must be paid for: overlaps that
// are taken out, joints that are brought together.

#include "world.h"

/// The energies of the bodies that step->shift moves, or, where there are joints, of all that is
/// touched, as they are: [body_count] J, scratch.
FilStatus fil_world_measure(FilWorld *world, const FilWorldTry *step, double **energies,
                            FilError *error);

/// Move bodies along step->shift after they took the step, but those that `failed`, and enter in
/// step->lifted, unless NULL, what that added to the energies for nothing. `slowed` [body_count]
/// are those whose groups must pay for it with motion; none where step->lifted is NULL.
FilStatus fil_world_lift(FilWorld *world, const FilWorldTry *step, const double *energies,
                         const bool *failed, bool *slowed, FilError *error);

/// Bring joints together after the step, at whose beginning bodies had the energies
/// `before`; `gained` [body_count] are those of groups that it gave more energy to than
/// they had lost.
FilStatus fil_world_rejoin_paid(FilWorld *world, const FilWorldTry *step, const double *before,
                                const bool *failed, bool *gained, FilError *error);

#endif
