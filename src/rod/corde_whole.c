// corde_whole.c - a rod of the model `corde` as a whole: how it moves as one piece.
#include "corde.h"

#include "math/rotation.h"
#include "math/vec3.h"

void fil_corde_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                           double *rates) {
    const FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++, rates += 3) {
        if (b % 2 == 0) {
            fil_copy3(spin, rates);
            continue;
        }
        double arm[3];
        fil_subtract3(corde->r + 3 * (size_t)(b / 2), corde->r, arm);
        fil_cross3(spin, arm, rates);
        fil_add3(1.0, velocity, rates);
    }
}

void fil_corde_axial_rates(const FilRod *rod, double *rates) {
    const FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++, rates += 3) {
        double R[9];
        fil_rotation_from_quaternion(corde->q + 4 * (size_t)(b / 2), R);
        for (int k = 0; k < 3; k++) {
            rates[k] = b % 2 == 0 ? R[3 * k] : 0.0;
        }
    }
}
