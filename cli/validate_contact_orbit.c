// validate_contact_orbit.c - a strand on a rotating sphere: every exact solver gives the same
// motion.
//
// A curled strand, clamped above a ball that turns once a second, hangs onto it and is dragged
// along. The end of the strand describes an orbit. Friction has one law, so that all solvers that
// solve it, here to 1e-10, must find the same orbit; it is compared step by step over one turn with
// that of the default solver, relative to the strand's length. A pyramid in place of the cone is
// another law, and gives another orbit.
#include "validate_contact.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 1000, MAX_CHANGES = 6 };

static const char scene[] =
    "{\"duration\": 1, \"step\": 1e-3, \"materials\": {\"hair\": {}, \"skin\": {}},"
    "\"friction\": [{\"between\": [\"hair\", \"skin\"], \"mu\": 0.3}],"
    "\"rods\": [{\"model\": \"helix\", \"elements\": 10, \"material\": \"hair\", \"length\": 0.2,"
    " \"radius\": 5e-5, \"contact_radius\": 1e-3, \"natural\": {\"curvature\": [0, 40]},"
    " \"root\": {\"at\": [0, 0, 0.1], \"along\": [1, 0, 0]}}],"
    "\"obstacles\": [{\"shape\": \"sphere\", \"radius\": 0.05, \"material\": \"skin\","
    " \"motion\": {\"spin\": [0, 0, \"1 turn/s\"]}}]}";

typedef double Orbit[STEPS][3];

static bool find_orbit(Trial *t, const char *const *changes, int change_count, Orbit orbit) {
    const char *all[MAX_CHANGES + 1] = {"solver.tolerance=1e-10"};
    for (int k = 0; k < change_count; k++) {
        all[k + 1] = changes[k];
    }
    trial_scene(t, scene, all, change_count + 1);
    const FilRod *rod = trial_holds(t) ? fil_world_rod(t->world, 0) : NULL;
    for (int k = 0; k < STEPS && trial_step(t); k++) {
        trial_place(rod, fil_rod_length(rod), orbit[k]);
    }
    return trial_holds(t);
}

// The furthest that both are apart, relative to the strand's length.
static double apart(Orbit a, Orbit b) {
    double most = 0.0;
    for (int k = 0; k < STEPS; k++) {
        double d = hypot(hypot(a[k][0] - b[k][0], a[k][1] - b[k][1]), a[k][2] - b[k][2]);
        most = d <= most ? most : d; // NaN is taken
    }
    return most / 0.2;
}

static void compare_orbits(Validation *v, Orbit first, Orbit other) {
    static const struct {
        const char *model;
        int change_count;
        const char *changes[2];
    } list[] = {
        {"gs hybrid", 1, {"solver.name=gauss-seidel"}},
        {"gs newton", 2, {"solver.name=gauss-seidel", "solver.local=hybrid-newton"}},
        {"gs enum", 2, {"solver.name=gauss-seidel", "solver.local=enum"}},
        {"gs mfb", 2, {"solver.name=gauss-seidel", "solver.local=mfb"}},
        {"gs pac", 2, {"solver.name=gauss-seidel", "solver.local=pac"}},
        {"gs dac", 2, {"solver.name=gauss-seidel", "solver.local=dac"}},
        {"newton fb", 2, {"solver.name=newton", "solver.function=fb"}},
        {"newton ac", 2, {"solver.name=newton", "solver.function=ac"}},
        {"newton ds", 2, {"solver.name=newton", "solver.function=ds"}},
        {"cadoux", 1, {"solver.name=cadoux"}},
        {"pyramid", 1, {"contact.law=linearised"}},
    };
    const char *name = "orbit: distance from that of auto (lengths)";
    const char *pyramid = "  linearised: another orbit (comparator)";
    Trial t = trial_begin(v, name, "auto", 10);
    bool fine = find_orbit(&t, NULL, 0, first);
    if (fine) {
        double far = 0.0;
        for (int k = 0; k < STEPS; k++) {
            far = fmax(far, hypot(first[k][0] - first[0][0], first[k][1] - first[0][1]));
        }
        validate_above(v, "orbit: how far the end goes (m)", "auto", 10, 0.04, far);
        validate_below(v, "orbit: steps not converged", "auto", 10, t.unconverged, 0.0);
    }
    trial_end(&t);
    for (size_t k = 0; k < sizeof list / sizeof *list && fine; k++) {
        const bool other_law = k + 1 == sizeof list / sizeof *list;
        t = trial_begin(v, other_law ? pyramid : name, list[k].model, 10);
        fine = find_orbit(&t, list[k].changes, list[k].change_count, other);
        if (fine && other_law) {
            validate_above(v, pyramid, list[k].model, 10, 1e-3, apart(first, other));
        } else if (fine) {
            validate_below(v, name, list[k].model, 10, apart(first, other), 1e-3);
        }
        trial_end(&t);
    }
}

void validate_contact_orbit(Validation *v) {
    double(*orbits)[STEPS][3] = calloc(2, sizeof *orbits);
    if (orbits != NULL) {
        compare_orbits(v, orbits[0], orbits[1]);
    } else {
        const FilError error = {.text = "there is no memory for two orbits"};
        validate_fail(v, "orbit", "auto", 10, &error);
    }
    free(orbits);
}
