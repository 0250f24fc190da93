// release.c - the end of a rod is let go.
//
// Held degrees of freedom are left out of a rod's unknowns, so that a rod with a free end is
// another one: it is made anew, at the present lengths and natural curvatures, takes over the state
// and moves in where the old one was. Whoever holds a pointer to the rod keeps it.
#include "rod.h"

#include <string.h>

#include "base/error.h"

static FilStatus fail_memory(const FilRod *rod, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory to let go a rod of %d elements",
                    rod->element_count);
}

// What the model starts from: all that is not its own.
static FilStatus copy_common(const FilRod *from, FilRod *rod, FilError *error) {
    size_t n = (size_t)from->element_count, loads = (size_t)from->load_room + 1;
    rod->sections = FIL_NEW(&rod->arena, FilStiffness, n);
    rod->lengths = FIL_NEW(&rod->arena, double, n);
    rod->start_lengths = FIL_NEW(&rod->arena, double, n);
    rod->natural = FIL_NEW(&rod->arena, double, 6 * n);
    rod->loads = FIL_NEW_ZEROED(&rod->arena, FilRodLoad, loads);
    rod->load_parts = FIL_NEW(&rod->arena, double, loads);
    rod->joints = from->joints != NULL ? FIL_NEW(&rod->arena, FilRodJoint, n) : NULL;
    if (rod->arena.failed) {
        return fail_memory(from, error);
    }
    memcpy(rod->sections, from->sections, sizeof(FilStiffness) * n);
    memcpy(rod->lengths, from->lengths, sizeof(double) * n);
    memcpy(rod->start_lengths, from->start_lengths, sizeof(double) * n);
    memcpy(rod->natural, from->natural, sizeof(double) * 6 * n);
    memcpy(rod->loads, from->loads, sizeof(FilRodLoad) * (size_t)from->load_count);
    memcpy(rod->load_parts, from->load_parts, sizeof(double) * loads);
    if (from->joints != NULL) {
        memcpy(rod->joints, from->joints, sizeof(FilRodJoint) * n);
    }
    return FIL_OK;
}

static FilStatus remake(const FilRod *from, FilRod *rod, FilError *error) {
    FIL_TRY(copy_common(from, rod, error));
    // any shape will do: the state comes after it
    double *straight = FIL_NEW_ZEROED(&rod->arena, double, 6 * (size_t)rod->element_count);
    if (straight == NULL) {
        return fail_memory(from, error);
    }
    FIL_TRY(rod->table->create(rod, straight, error));
    FIL_TRY(fil_rod_reserve_step(rod, error));
    if (rod->table->adopt != NULL) {
        rod->table->adopt(rod, from);
    } else {
        FIL_ASSERT(rod->state_count == from->state_count);
        memcpy(rod->state, from->state, sizeof(double) * (size_t)rod->state_count);
    }
    rod->table->refresh(rod);
    return FIL_OK;
}

FilStatus fil_rod_release(FilRod *rod, bool tip, FilError *error) {
    FilRod made = *rod;
    FilRodEnd *end = tip ? &made.tip_end : &made.root_end;
    if (end->kind == FIL_END_FREE) {
        return FIL_OK;
    }
    *end = (FilRodEnd){.kind = FIL_END_FREE};
    made.arena = fil_arena_make_small(&rod->arena.allocator, FIL_ROD_GRAIN);
    made.revision++;
    made.past_dt = 0.0;
    FilStatus status = remake(rod, &made, error);
    if (status != FIL_OK) {
        fil_arena_destroy(&made.arena);
        return status;
    }
    fil_arena_destroy(&rod->arena);
    *rod = made;
    return FIL_OK;
}
