// der.c - discrete elastic rods (Bergou et al. 2008, 2010): nodes joined by straight edges, and a
// turn of each edge about itself. nodal.c has what it shares with chains, der_energy.c the energy,
// nodal_gyro.c what spinning edges do to their nodes.
#include "base/error.h"
#include "nodal.h"

extern const FilRodTable fil_rod_der;

static FilStatus create(FilRod *rod, const double *start, FilError *error) {
    return fil_nodal_create(rod, 4, start, error);
}

const FilRodTable fil_rod_der =
    FIL_NODAL_TABLE("der", true, create, fil_nodal_check_natural, fil_nodal_axial_rates);
