// groups.c - bodies that are looked at together: union-find, the lowest body leads.
#include "groups.h"

#include "base/error.h"

FilStatus fil_groups_begin(FilWorld *world, FilGroups *groups, FilError *error) {
    *groups = (FilGroups){.world = world};
    groups->leader = FIL_NEW(&world->scratch, int, (size_t)world->body_count + 1);
    if (groups->leader == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    for (int i = 0; i < world->body_count; i++) {
        groups->leader[i] = -1;
    }
    return FIL_OK;
}

int fil_groups_leader(const FilGroups *groups, int body) {
    while (groups->leader[body] != body) {
        groups->leader[body] = groups->leader[groups->leader[body]];
        body = groups->leader[body];
    }
    return body;
}

bool fil_groups_enter(FilGroups *groups, int body) {
    if (body < 0 || groups->leader[body] >= 0 || groups->world->bodies[body].island != 0) {
        return false;
    }
    groups->leader[body] = body;
    return true;
}

bool fil_groups_unite(FilGroups *groups, int a, int b) {
    if (!fil_groups_has(groups, a) || !fil_groups_has(groups, b)) {
        return false;
    }
    const int first = fil_groups_leader(groups, a), second = fil_groups_leader(groups, b);
    groups->leader[first > second ? first : second] = first > second ? second : first;
    return first != second;
}

void fil_groups_join(FilGroups *groups) {
    const FilWorld *world = groups->world;
    for (bool grew = true; grew;) {
        grew = false;
        for (int i = 0; i < world->joint_count; i++) {
            const FilJoint *joint = &world->joints[i];
            const int a = joint->a.body, b = joint->b.body;
            if (joint->removed || b < 0) {
                continue;
            }
            grew = (fil_groups_has(groups, a) && fil_groups_enter(groups, b)) || grew;
            grew = (fil_groups_has(groups, b) && fil_groups_enter(groups, a)) || grew;
            (void)fil_groups_unite(groups, a, b);
        }
    }
}
