#ifndef FIL_WORLD_SLEEP_H
#define FIL_WORLD_SLEEP_H

// Bodies at rest that are left alone: see sleep.c.

#include "world.h"

/// Whether nothing moves a piece in this step: it sleeps, or is an obstacle that stays.
static inline bool fil_piece_is_still(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle >= 0 ? !world->obstacles[piece->obstacle].moves
                                : world->bodies[piece->body].island != 0;
}

/// Whether two poses are the same, to round-off.
bool fil_poses_agree(const FilPose *a, const FilPose *b);

/// Whether a held end of a body moves in a step of `dt` from now.
bool fil_world_is_driven(const FilWorld *world, const FilBody *body, double dt);

/// Wake all; the world's memories have room for what they kept.
void fil_world_wake_all(FilWorld *world);

/// When a step of `dt` begins and the obstacles know where they go: find out which held ends are
/// driven, and wake what was changed since it fell asleep, or is joined to what moves.
void fil_world_wake_changed(FilWorld *world, double dt);

/// Of the contacts of a step those with bodies that sleep: a moving obstacle wakes them, others
/// see them as obstacles. True when something woke: the contacts must be found again.
bool fil_world_part_sleepers(FilWorld *world, FilWorldTry *step);

/// After the step was solved: wake what is pressed on, or what the pair `passed` (NULL: none)
/// is about. True when something woke: the step must be taken back and begin again.
bool fil_world_wake_pressed(FilWorld *world, const FilWorldTry *step);
bool fil_world_wake_pair(FilWorld *world, const int pair[2]);

/// The boxes that the broad phase needs: those of still pieces, far from all that moves, are
/// emptied.
FilStatus fil_world_hide_sleepers(FilWorld *world, const FilWorldTry *step, const FilBox **boxes,
                                  FilError *error);

/// When a step is over: who has been calm for long enough falls asleep. The memories, sorted, and
/// the contacts are those of the step.
FilStatus fil_world_fall_asleep(FilWorld *world, FilError *error);

/// After a state was set: where the points of bodies that sleep are.
FilStatus fil_world_rest_points(FilWorld *world, FilError *error);

#endif
