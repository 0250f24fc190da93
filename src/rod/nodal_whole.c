// nodal_whole.c - rods of nodes and edges as a whole: how they move as one piece.
#include "nodal.h"

#include <string.h>

#include "math/vec3.h"

// Nodes move with the motion, edges turn about themselves by what the spin has along them.
void fil_nodal_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                           double *rates) {
    const FilNodal *nodal = rod->data;
    const double *root = nodal->x + 3 * (ptrdiff_t)nodal->ghosts[0];
    double axes[2][3];
    for (int i = 0; i <= nodal->edge_count; i++) {
        double *v = nodal->work + (ptrdiff_t)nodal->stride * i, arm[3];
        fil_subtract3(nodal->x + 3 * (ptrdiff_t)i, root, arm);
        fil_cross3(spin, arm, v);
        fil_add3(1.0, velocity, v);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            v[3] = fil_dot3(spin, nodal->start.edges[i].t);
        }
    }
    fil_nodal_axes(rod, rod->state[0], axes);
    fil_nodal_gather(rod, axes, nodal->work, rates);
}

void fil_nodal_axial_rates(const FilRod *rod, double *rates) {
    const FilNodal *nodal = rod->data;
    for (int k = 0; k < rod->dof_count; k++) {
        rates[k] = (nodal->first + k) % nodal->stride == 3 ? 1.0 : 0.0;
    }
}
