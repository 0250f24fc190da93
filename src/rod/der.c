// der.c - discrete elastic rods (Bergou et al. 2008, 2010): nodes joined by straight edges, and a
// turn of each edge about itself. nodal.c has what it shares with chains, der_energy.c the energy,
// nodal_gyro.c what spinning edges do to their nodes.
#include "base/error.h"
#include "nodal.h"

extern const FilRodTable fil_rod_der;

static FilStatus create(FilRod *rod, const double *start, FilError *error) {
    return fil_nodal_create(rod, 4, start, error);
}

const FilRodTable fil_rod_der = {
    .name = "der",
    .framed = true,
    .create = create,
    .place_ends = fil_nodal_place_ends,
    .prepare = fil_nodal_prepare,
    .residual = fil_nodal_residual,
    .get_rest = fil_nodal_get_rest,
    .merit = fil_nodal_merit,
    .solve = fil_nodal_solve,
    .advance = fil_nodal_advance,
    .get_velocity = fil_nodal_get_velocity,
    .stop = fil_nodal_stop,
    .move = fil_nodal_move,
    .at = fil_nodal_at,
    .jacobian = fil_nodal_jacobian,
    .curvature_at = fil_nodal_curvature_at,
    .energy = fil_nodal_energy,
    .gradient = fil_nodal_gradient,
    .hessian = fil_nodal_hessian,
    .stiffness = fil_nodal_stiffness,
    .mass = fil_nodal_mass,
    .check_natural = fil_nodal_check_natural,
    .largest_step = fil_nodal_largest_step,
    .refresh = fil_nodal_refresh,
};
