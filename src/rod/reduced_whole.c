// reduced_whole.c - rods whose unknowns are curvatures as a whole: how they move as one piece.
#include <string.h>

#include "math/vec3.h"
#include "reduced.h"

// Curvatures do not change.
void fil_reduced_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                             double *rates) {
    const FilReduced *data = fil_reduced(rod);
    memset(rates, 0, sizeof(double) * (size_t)rod->dof_count);
    if (data->root == 6) {
        fil_copy3(velocity, rates);
    }
    if (data->root > 0) {
        fil_copy3(spin, rates + data->root - 3);
    }
}

// The root spins about its tangent; seen from sections that turn, the curvature turns back.
void fil_reduced_axial_rates(const FilRod *rod, double *rates) {
    const FilReduced *data = fil_reduced(rod);
    for (int k = 0; k < data->root; k++) {
        rates[k] = k < data->root - 3 ? 0.0 : data->root_turn[3 * (k - data->root + 3)];
    }
    for (int k = 0; k < data->kappas; k += 3) {
        double *rate = rates + data->root + k;
        rate[0] = 0.0;
        rate[1] = data->kappa[k + 2];
        rate[2] = -data->kappa[k + 1];
    }
}
