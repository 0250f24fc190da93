#ifndef FIL_WORLD_BALANCE_H
#define FIL_WORLD_BALANCE_H

// The energy of what acts on each other, in a step that can be cut no further.

#include "world.h"

/// Begin step->energies and step->lifted, in scratch: the bodies are where the step begins.
FilStatus fil_world_energies(FilWorld *world, FilWorldTry *step, FilError *error);

/// Whether a body got more energy in the step than anything can have given to it, or none that is a
/// number.
bool fil_body_is_torn(const FilBody *body, const FilBodyEnergy *before);

/// Whether something did work on a body in a step of `dt` that its energies do not know: driven
/// ends, forces and torques, growth, the hand.
bool fil_world_is_worked_on(const FilWorld *world, const FilBody *body, double dt);

/// Groups of bodies that act on each other, some of which lost motion, have no more energy than
/// step->energies and the work of obstacles: they are made slower, and lost motion where that
/// is a good part of it. Where it is not enough they go less far. Where nothing is they are stuck,
/// and `any` says so.
FilStatus fil_world_balance(FilWorld *world, const FilWorldTry *step, FilFates *fates, bool *any,
                            FilError *error);

#endif
