#ifndef FIL_WORLD_GROUPS_H
#define FIL_WORLD_GROUPS_H

// Bodies that are looked at together, in a step: groups of members, each with a leader.

#include "world.h"

typedef struct FilGroups {
    const FilWorld *world;
    int *leader; // [body_count] towards the leader of the group; -1: no member
} FilGroups;

/// No members. Memory is scratch.
FilStatus fil_groups_begin(FilWorld *world, FilGroups *groups, FilError *error);

static inline bool fil_groups_has(const FilGroups *groups, int body) {
    return body >= 0 && groups->leader[body] >= 0;
}

/// The leader of a member.
int fil_groups_leader(const FilGroups *groups, int body);
/// Make a body (-1: none) a member of a group of its own. False where it is a member, or sleeps.
bool fil_groups_enter(FilGroups *groups, int body);
/// Make one group of those of two members. False where they are in one, or not both are members.
bool fil_groups_unite(FilGroups *groups, int a, int b);
/// What joints connect with members are members of the same group.
void fil_groups_join(FilGroups *groups);

#endif
