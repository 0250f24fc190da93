// validate_grounds.c - what each case of filum validate is worth.
//
// The first line that fits counts: the case's name begins with the line's, and the model is the
// line's or the line has none. A case that no line fits fails. `why` is for what is allowed more
// than five times the error that is seen: scripts/validation says where it is missing.
#include "validate.h"

#include <string.h>

#define C VALIDATION_CLOSED
#define L VALIDATION_LAW
#define P VALIDATION_PUBLISHED
#define N VALIDATION_COMPUTED
#define F VALIDATION_CONSISTENCY
#define O VALIDATION_COMPARATOR

static const char round_off[] = "round-off, which differs between machines";
static const char solved[] = "what a contact solve to 1e-10 of g dt leaves";
static const char settled[] = "the residual at which a search for equilibrium ends";
static const char chaos[] = "chaotic: round-off decides how it moves; see the file for the bound";
static const char whole[] = "a whole number";
static const char last[] = "a few units of the last digit that is known";
static const char fewer[] = "fewer is all that is said";
static const char turns[] = "its error changes sign near this resolution";
static const char own[] = "itself";
static const char reference[] = "scripts/reference-values";

static const ValidationGrounds grounds[] = {
    // curves of given curvature
    {"benchmark curve", NULL, N, reference, round_off},
    {"  its axes from orthonormal", NULL, F, own, round_off},
    {"Cornu spiral", NULL, C, "Fresnel integrals", round_off},
    {"Fresnel integrals", NULL, C, "Fresnel integrals", round_off},
    {"helix of 50 rad", NULL, C, "Rodrigues", round_off},
    {"curvature of degree 7", NULL, N, reference, round_off},
    {"fixed direction", NULL, C, "Rodrigues", round_off},
    {"turned where a naive series", NULL, C, "a rotation", round_off},
    {"Casati's bound", NULL, N, reference, ""},
    {"Casati's segment of a helix", NULL, P, "Casati 2015, 4.2.3", last},
    {"Casati's first segment", NULL, N, reference, last},
    // rods in equilibrium
    {"heavy cantilever: rms distance", NULL, N, reference, last},
    {"heavy cantilever: distance of chain", NULL, F, "der", settled},
    {"heavy cantilever", NULL, N, "Kirchhoff by shooting", ""},
    {"curled cantilever", NULL, N, reference, last},
    {"small sag", NULL, C, "w L^4 / (8 EI)", ""},
    {"natural helix: elastic energy", NULL, F, own, round_off},
    {"pure twist: energy", NULL, F, own, round_off},
    {"rod held straight", NULL, C, "w (L - s)^2 / (2 EI)", round_off},
    {"helix under tension and twist", NULL, C, "Love 1927", settled},
    {"clamped strip, k = 0.85", "der", C, "elastica", turns},
    {"clamped strip", NULL, C, "elastica", ""},
    // buckling
    {"self-buckling of N elements", NULL, N, reference, last},
    {"self-buckling", NULL, C, "Greenhill 1881", ""},
    {"column with a load", NULL, C, "Euler", ""},
    {"twisted rod", NULL, C, "Greenhill 1883", ""},
    {"twisted ring", NULL, C, "Michell 1889", ""},
    // vibration and energy
    {"cantilever of N elements", NULL, N, reference, last},
    {"cantilever", NULL, C, "1 + cos x cosh x = 0", ""},
    {"falling rod: energy change", NULL, L, "energy", ""},
    {"moving coil", NULL, F, own, round_off},
    {"coil let go", NULL, F, own, ""},
    // models beside each other
    {"straight rod: distance", NULL, N, "Kirchhoff by shooting", ""},
    {"ring: distance", NULL, N, "Kirchhoff by shooting", ""},
    {"straight rod", NULL, F, "the other models", fewer},
    {"ring", NULL, F, "the other models", fewer},
    // stick, slide, roll, rebound
    {"stick: speed", NULL, C, "Coulomb", solved},
    {"  regularised: it creeps", NULL, O, "F c / (mu m g)", solved},
    {"pushed with 5 N", NULL, C, "Coulomb", solved},
    {"slope: tan", NULL, C, "Coulomb", ""},
    {"slope: acceleration", NULL, C, "Coulomb", solved},
    {"stopping distance", NULL, C, "Coulomb", ""},
    {"rebound", NULL, C, "Newton's restitution", round_off},
    {"rolling down", "cylinder", C, "2/3 g sin", solved},
    {"rolling down", "der", C, "2/3 g sin", solved},
    {"rolling down", NULL, C, "2/3 g sin", ""},
    // stacks and heaps
    {"three logs", NULL, C, "balance of moments", ""},
    {"wall of 20 cubes: kinetic", NULL, C, "rest", chaos},
    {"wall of 20 cubes: steps", NULL, F, own, ""},
    {"heap of rods: most", NULL, L, "dissipation", chaos},
    {"heap of rods: penetration, falling", NULL, F, own, chaos},
    {"heap of rods: penetration, at rest", NULL, F, own, chaos},
    {"heap of rods: kinetic", NULL, C, "rest", chaos},
    {"heap of rods: pairs missed", NULL, F, own, ""},
    // capstan
    {"capstan: T2 / T1", NULL, C, "exp(mu phi)", ""},
    {"capstan: the error falls", NULL, C, "exp(mu phi)", ""},
    // knots
    {"knot pulled with", NULL, L, "topology", whole},
    {"knot pulled: pairs missed", NULL, F, own, ""},
    {"knot pulled: penetration", NULL, F, own, ""},
    {"  penalty: it passes", NULL, O, "no knot", whole},
    {"loose knot, eps to 0: sigma", NULL, P, "Audoly et al. 2007", ""},
    {"loose knot, eps", NULL, C, "Audoly et al. 2007", ""},
    {"loose knot: - dU", NULL, C, "dU = - T de", ""},
    {"loose knot: pairs missed", NULL, F, own, ""},
    {"knot tightening", NULL, C, "T + mu P", ""},
    // momentum
    {"two rods collide: change of momentum, ", NULL, L, "momentum", ""},
    {"two rods collide: change of momentum", NULL, L, "momentum", round_off},
    {"two rods collide: its order", NULL, L, "momentum",
     "one impact: it falls between the steps as it happens to"},
    {"cube hits cube", NULL, L, "momentum", round_off},
    // orbit of a strand on a sphere
    {"orbit: distance from that of auto", NULL, F, "the default solver",
     "a contact that opens a step later moves the orbit so far"},
    {"orbit", NULL, F, own, ""},
    {"  linearised: another orbit", NULL, O, "the exact law", ""},
    // twining, plectoneme
    {"twining", NULL, N, reference, ""},
    {"plectoneme: pitch", NULL, C, "Clauvelin et al. 2008", ""},
    {"plectoneme: torque", NULL, C, "Clauvelin et al. 2008", ""},
    {"plectoneme: its radius", NULL, F, own, solved},
    {"plectoneme: pairs missed", NULL, F, own, ""},
    {"plectoneme: penetration", NULL, F, own, ""},
    // 31 spaghetti: the paper has pictures; the order of the outcomes is theirs, the numbers are
    // not
    {"spaghetti, mu everywhere: rest", NULL, C, "rest", ""},
    {"spaghetti", NULL, F, "each other; order of Bertails-Descoubes et al. 2011", ""},
    // hair
    {"hair: friction aside", NULL, C, "Coulomb", ""},
    {"hair: mean residual", NULL, F, own, chaos},
    {"hair", NULL, C, "Coulomb", ""},
    {"  linearised", NULL, O, "the exact law", ""},
};

const ValidationGrounds *validation_grounds(const char *name, const char *model) {
    for (size_t k = 0; k < sizeof grounds / sizeof *grounds; k++) {
        const ValidationGrounds *g = &grounds[k];
        if (strncmp(name, g->name, strlen(g->name)) == 0 &&
            (g->model == NULL || strcmp(model, g->model) == 0)) {
            return g;
        }
    }
    return NULL;
}
