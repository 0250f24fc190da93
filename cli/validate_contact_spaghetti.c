// validate_contact_spaghetti.c - 31 spaghetti: three kinds of friction, three outcomes.
//
// The scene spaghetti-31 (Bertails-Descoubes, Cadoux, Daviet and Acary, ACM TOG 30(1), 2011, Fig.
// 7, which prints no numbers): they fall on a plate, nearly side by side. Without friction they
// spread out in all directions and slide on; with friction on the plate alone they are a low stack;
// with friction everywhere a higher stack that lies perfectly still. As numbers, at the end:
// spread, the standard deviation of the rods' middles across them; height, that of the highest; and
// their fastest speed. Rods of 4 elements and one capsule each, steps of 4 ms, dropped from 1.5 cm:
// the scene itself is finer.
#include "validate_contact.h"

#include <math.h>

enum { RODS = 31, STEPS = 300 };

typedef struct Outcome {
    double spread, height, speed; // m, m, m/s
} Outcome;

static Outcome look_at(const Trial *t) {
    Outcome outcome = {0};
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < RODS; i++) {
        const FilRod *rod = fil_world_rod(t->world, i);
        double place[3], velocity[3];
        trial_place(rod, 0.5 * fil_rod_length(rod), place);
        trial_velocity(rod, 0.5 * fil_rod_length(rod), velocity);
        sum += place[1];
        square += place[1] * place[1];
        outcome.height = fmax(outcome.height, place[2]);
        outcome.speed = fmax(outcome.speed, hypot(hypot(velocity[0], velocity[1]), velocity[2]));
    }
    outcome.spread = sqrt(fmax(square / RODS - sum * sum / RODS / RODS, 0.0));
    return outcome;
}

static bool drop(Trial *t, const char *rods, const char *plate, Outcome *outcome) {
    const char *changes[] = {"piles[0].rod.elements=4",
                             "piles[0].rod.contact_pieces=1",
                             "piles[0].rod.damping=10 ms",
                             "piles[0].rod.root.at=[0, 0, 0.015]",
                             "step=4 ms",
                             rods,
                             plate};
    trial_scene(t, "spaghetti-31", changes, (int)(sizeof changes / sizeof *changes));
    if (trial_run(t, STEPS)) {
        *outcome = look_at(t);
    }
    return trial_holds(t);
}

void validate_contact_spaghetti(Validation *v) {
    static const char *const mu[3][2] = {{"friction[0].mu=0", "friction[1].mu=0"},
                                         {"friction[0].mu=0", "friction[1].mu=0.3"},
                                         {"friction[0].mu=0.3", "friction[1].mu=0.3"}};
    Outcome none = {0}, plate = {0}, all = {0}, *outcomes[3] = {&none, &plate, &all};
    for (int k = 0; k < 3; k++) {
        Trial t = trial_begin(v, "spaghetti", "chain", 4);
        bool fine = drop(&t, mu[k][0], mu[k][1], outcomes[k]);
        trial_end(&t);
        if (!fine) {
            return;
        }
    }
    validate_above(v, "spaghetti: height with plate and without", "chain", 4, 1.3,
                   plate.height / none.height);
    validate_above(v, "spaghetti, mu 0: they slide on at (m/s)", "chain", 4, 0.1, none.speed);
    validate_above(v, "spaghetti: spread without and with plate", "chain", 4, 3.0,
                   none.spread / plate.spread);
    validate_above(v, "spaghetti, mu on the plate: height (m)", "chain", 4, 3e-3, plate.height);
    validate_above(v, "spaghetti: spread with plate and with all", "chain", 4, 1.2,
                   plate.spread / all.spread);
    validate_above(v, "spaghetti: height with all and with plate", "chain", 4, 1.2,
                   all.height / plate.height);
    validate_below(v, "spaghetti, mu everywhere: rest (m/s)", "chain", 4, all.speed, 1e-7);
}
