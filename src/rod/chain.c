// chain.c - masses and springs with an implicit step (Baraff and Witkin 1998).
//
// Stretch springs between neighbours; a bend spring across each node whose energy is
// EI / (2 l) |2 tan(angle / 2)|^2, so that a cantilever bends as it should. That is a discrete
// elastic rod of equal bending stiffness in all directions, straight at rest, less its twist: the
// energy does not see how edges are turned about themselves, and nothing turns them. What needs a
// frame is refused.
#include <math.h>

#include "base/error.h"
#include "nodal.h"

extern const FilRodTable fil_rod_chain;

static FilStatus check_natural(const FilRod *rod, int element, const double kappa[3],
                               FilError *error) {
    static const char *const names[3] = {"twist", "kappa1", "kappa2"};
    for (int k = 0; k < 3; k++) {
        if (fabs(kappa[k]) * rod->lengths[element] > FIL_ROD_ROUND_OFF) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "%s has %s = %g in element %d; the model chain has no frames, it must "
                            "be 0",
                            rod->natural_name, names[k], kappa[k], element);
        }
    }
    return FIL_OK;
}

static FilStatus check_sections(const FilRod *rod, FilError *error) {
    for (int i = 0; i < rod->element_count; i++) {
        const double *EI = rod->sections[i].kappa + 1;
        if (EI[0] != EI[1]) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "section of element %d has EI1 = %g and EI2 = %g; the model chain has "
                            "no frames, they must be equal",
                            i, EI[0], EI[1]);
        }
    }
    return FIL_OK;
}

static FilStatus create(FilRod *rod, const double *start, FilError *error) {
    FIL_TRY(check_sections(rod, error));
    return fil_nodal_create(rod, 3, start, error);
}

const FilRodTable fil_rod_chain = FIL_NODAL_TABLE("chain", false, create, check_natural, NULL);
