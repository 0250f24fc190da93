// air.c - the loads of a rod, and those that the air puts on it.
//
// Air pushes a rod with a force per length. Where all sections have the same mass, that is an
// acceleration, and gravity stands for it. Elsewhere it is loads at the two Gauss points of each
// element, so that force and moment on a straight element are exact. They come after the loads of
// the user.
#include "rod.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/vec3.h"

FilStatus fil_rod_reserve_loads(FilRod *rod, int count, FilError *error) {
    if (count <= rod->load_room) {
        return FIL_OK;
    }
    FilRodLoad *room = FIL_NEW(&rod->arena, FilRodLoad, 2 * (size_t)count);
    double *parts = FIL_NEW(&rod->arena, double, 2 * (size_t)count + 1);
    if (room == NULL || parts == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d loads", count);
    }
    if (rod->load_count > 0) {
        memcpy(room, rod->loads, sizeof(FilRodLoad) * (size_t)rod->load_count);
    }
    memcpy(parts, rod->load_parts, sizeof(double) * (size_t)(rod->load_room + 1));
    rod->loads = room;
    rod->load_parts = parts;
    rod->load_room = 2 * count;
    return FIL_OK;
}

void fil_rod_place_air(FilRod *rod) {
    const double gauss = 0.5 / sqrt(3.0);
    FilRodLoad *load = rod->loads + (rod->load_count - rod->air_count);
    double start = 0.0;
    for (int i = 0; rod->air_count > 0 && i < rod->element_count; i++) {
        const double length = rod->lengths[i];
        for (int side = -1; side <= 1; side += 2, load++) {
            *load = (FilRodLoad){.s = start + length * (0.5 + side * gauss)};
            fil_add3(0.5 * length, rod->air, load->force);
        }
        start += length;
    }
}

FilStatus fil_rod_set_air(FilRod *rod, const double force[3], FilError *error) {
    const int own = rod->load_count - rod->air_count;
    const int count = fil_norm3(force) > 0.0 ? 2 * rod->element_count : 0;
    FIL_TRY(fil_rod_reserve_loads(rod, own + count, error));
    fil_copy3(force, rod->air);
    rod->air_count = count;
    rod->load_count = own + count;
    rod->revision++;
    fil_rod_place_air(rod);
    return FIL_OK;
}
