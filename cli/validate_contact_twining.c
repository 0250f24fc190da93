// validate_contact_twining.c - a climbing plant holds on to a pole, or coils up on itself.
//
// A rod of natural curvature k grows around a disc of radius R, in the plane, without weight and
// without friction; its root is clamped along the disc. As it grows it lies on the disc, leaves it,
// and touches it again with its tip, which presses at right angles:
//     free part   EI (kappa - k)' = -Q,  force constant and normal to the disc at the tip,
//     tip         kappa = k,             where it leaves   kappa = 1 / R.
// For rho = R k below rho_c the tip moves on at a constant angle and the plant climbs; above, no
// such shape exists, the tip turns over, and the rod coils up on itself (Goriely and Neukirch, PRL
// 97, 184302, 2006; about 3.3, and 3.309272 by scripts/reference-values). The threshold is bisected
// with the rod growing slowly to 4 R: it has coiled when its tangent has turned by more than two
// radians per R.
#include "validate_contact.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS = 10, PIECES = 4 };

// How far the tangent turns from root to tip.
static double turning(const FilRod *rod) {
    double sum = 0.0;
    for (int i = 0; i < ELEMENTS; i++) {
        double kappa[3]; // linear in an element
        fil_rod_curvature_at(rod, i, 0.5, kappa);
        sum += kappa[2] * fil_rod_length(rod) / ELEMENTS;
    }
    return sum;
}

// Whether a rod of natural curvature k on a disc of radius 1 m coils up.
static bool coils_up(Trial *t, double k) {
    const double thickness = 0.01, gap = 1e-3; // what touches at its root is not seen to touch
    const double start = 0.5, end = 4.0, rate = 0.2;
    FilWorldDef def = trial_world_def(1e-2);
    memset(def.gravity, 0, sizeof def.gravity);
    trial_world(t, &def, 0.0, 0.0);
    static const double centre[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
    trial_cylinder(t, centre, axis, 1.0 - thickness);
    double zero[3 * (ELEMENTS + 1)] = {0};
    FilRodDef plant = fil_rod_def_default();
    plant.model = FIL_ROD_CLOTHOID;
    plant.element_count = ELEMENTS;
    plant.length = start;
    plant.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                                 .bend = {100.0, 1.0}, // in the plane it is soft
                                 .twist = 100.0,
                                 .mass = 1e-2,
                                 .radius = thickness};
    plant.natural_curvature[2] = k;
    plant.start_curvatures = zero;
    plant.start_count = ELEMENTS + 1;
    plant.root.position[1] = -1.0 - gap;
    plant.damping = 0.02;
    plant.growth = rate / start;
    const FilRod *rod = trial_rod(t, &plant, PIECES, false);
    const int steps = (int)((end - start) / (rate * def.step) + 0.5);
    for (int i = 0; i < steps && trial_step(t); i++) {
        double length = fil_rod_length(rod);
        if (length > 1.5 && turning(rod) > 2.0 * length) {
            return true;
        }
    }
    return false;
}

void validate_contact_twining(Validation *v) {
    const char *name = "twining: R k above which it coils up";
    double low = 3.2, high = 3.4;
    for (int i = 0; i < 7; i++) {
        Trial t = trial_begin(v, name, "clothoid", ELEMENTS);
        double middle = 0.5 * (low + high);
        bool coils = coils_up(&t, middle);
        bool fine = trial_holds(&t);
        trial_end(&t);
        if (!fine) {
            return;
        }
        *(coils ? &high : &low) = middle;
    }
    validate_ratio(v, name, "clothoid", ELEMENTS, 3.309272, 0.5 * (low + high), 0.01);
}
