#ifndef FIL_LOOK_BETWEEN_H
#define FIL_LOOK_BETWEEN_H

// Frames between the frames of a result, so that films can be slower than they were recorded.

#include "base/arena.h"
#include "filum/result.h"

/// A frame whose arrays live in `memory`, not in the result that it was read from. False when there
/// is no memory.
bool fil_frame_copy(const FilResultDef *def, const FilFrame *frame, FilArena *memory,
                    FilFrame *out);

/// The frame at part t = 0 .. 1 of the way from `a` to `b`: every number on the straight line
/// between its two, quaternions on the short way round and of unit length. Contacts, energies and
/// the count of steps are those of the nearer frame, of which `out` borrows them; arrays live in
/// `memory`. False when there is no memory.
bool fil_frame_mix(const FilResultDef *def, const FilFrame *a, const FilFrame *b, double t,
                   FilArena *memory, FilFrame *out);

#endif
