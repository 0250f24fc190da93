// validate_contact_hair.c - hair with exact friction and with a pyramid, at the same cost.
//
// 24 wavy hairs on a head that turns, for a second. Both laws are solved by
// Gauss-Seidel with at most 20 sweeps, which cost the same: no clock decides. What differs is
// measured over all steps:
//     the angle between friction and slip, which is 0 by Coulomb's law and up to 45 deg by a
//     pyramid of four sides; how often a contact changes between stick and slide; the residual of
//     the exact law.
#include "validate_contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 90, KEPT = 2000 };

// What a contact did in the step before.
typedef struct Memory {
    int count;
    FilContact kept[KEPT];
} Memory;

typedef struct Hair {
    int changes;     // of contacts between stick and slide
    int slips;       // contacts that slide, in all steps
    double aside;    // rad: between friction and slip, mean
    double residual; // mean over the steps
} Hair;

static bool is_same(const FilContact *a, const FilContact *b) {
    return a->a.kind == b->a.kind && a->b.kind == b->b.kind && a->a.index == b->a.index &&
           a->b.index == b->b.index && fabs(a->a.s - b->a.s) < 5e-3 && fabs(a->b.s - b->b.s) < 5e-3;
}

// The angle between friction and the slip that it opposes; negative when there is no slip.
static double aside_of(const FilContact *c) {
    double r_normal = 0.0, u_normal = 0.0, along = 0.0, r_square = 0.0, u_square = 0.0;
    for (int k = 0; k < 3; k++) {
        r_normal += c->impulse[k] * c->normal[k];
        u_normal += c->velocity[k] * c->normal[k];
    }
    for (int k = 0; k < 3; k++) {
        double r = c->impulse[k] - r_normal * c->normal[k];
        double u = c->velocity[k] - u_normal * c->normal[k];
        along -= r * u;
        r_square += r * r;
        u_square += u * u;
    }
    if (c->state != FIL_CONTACT_SLIDE || !(r_square > 0.0 && u_square > 1e-12)) {
        return -1.0;
    }
    return acos(fmax(fmin(along / sqrt(r_square * u_square), 1.0), -1.0));
}

// Whether a contact stuck and slides now, or the other way.
static bool did_change(const FilContact *c, const Memory *memory) {
    for (int k = 0; k < memory->count; k++) {
        const FilContact *old = &memory->kept[k];
        if (is_same(c, old)) {
            return c->state != old->state && c->state != FIL_CONTACT_OPEN &&
                   old->state != FIL_CONTACT_OPEN;
        }
    }
    return false;
}

static void look_at(const Trial *t, Memory *memory, Hair *hair) {
    int count;
    const FilContact *contacts = fil_world_contacts(t->world, &count);
    for (int i = 0; i < count; i++) {
        const double aside = aside_of(&contacts[i]);
        hair->changes += did_change(&contacts[i], memory);
        hair->slips += aside >= 0.0;
        hair->aside += fmax(aside, 0.0);
    }
    memory->count = count < KEPT ? count : KEPT;
    memcpy(memory->kept, contacts, sizeof *contacts * (size_t)memory->count);
}

// Wavy hair, each one for a wisp, on top of a head that turns to and fro.
static const char head[] =
    "{ \"duration\": 1, \"step\": \"11 ms\", \"seed\": 1, \"friction_default\": 0.3,"
    "  \"materials\": { \"hair\": {}, \"skin\": {} },"
    "  \"solver\": { \"name\": \"gauss-seidel\", \"iterations\": 20 },"
    "  \"hairs\": [ { \"name\": \"hair\", \"count\": 24, \"on\": \"head\","
    "    \"towards\": [-0.3, 0, 1], \"spread\": \"35 deg\", \"comb\": [0, 0, -0.4],"
    "    \"curl\": { \"radius\": \"8 mm\", \"pitch\": \"6 cm\" },"
    "    \"vary\": { \"place\": 0.4, \"direction\": \"6 deg\", \"length\": 0.1, \"curl\": 0.2 },"
    "    \"rod\": { \"model\": \"helix\", \"elements\": 4, \"material\": \"hair\","
    "      \"length\": \"30 cm\", \"radius\": \"60 um\", \"contact_radius\": \"1 mm\","
    "      \"contact_length\": \"2 cm\", \"drag\": \"1e-4 kg/(m s)\" } } ],"
    "  \"obstacles\": [ { \"name\": \"head\", \"shape\": \"sphere\", \"radius\": \"9 cm\","
    "    \"at\": [0, 0, 1.6], \"material\": \"skin\", \"motion\": { \"keys\": ["
    "      { \"time\": 0.3, \"turn\": [0, 0, 0] }, { \"time\": 0.8, \"turn\": [0, 0, \"60 deg\"] },"
    "      { \"time\": 1.4, \"turn\": [0, 0, \"-60 deg\"] } ] } } ] }";

static bool comb(Trial *t, const char *law, Memory *memory, Hair *hair) {
    memset(memory, 0, sizeof *memory);
    *hair = (Hair){0};
    trial_scene(t, head, &law, 1);
    for (int k = 0; k < STEPS && trial_step(t); k++) {
        look_at(t, memory, hair);
        hair->residual += t->info.residual.scaled / STEPS;
    }
    hair->aside /= hair->slips;
    return trial_holds(t);
}

static void compare_hair(Validation *v, Memory *memory) {
    static const char *const laws[2] = {"contact.law=exact", "contact.law=linearised"};
    Hair hairs[2];
    for (int k = 0; k < 2; k++) {
        Trial t = trial_begin(v, "hair", "helix", 4);
        bool fine = comb(&t, laws[k], memory, &hairs[k]);
        trial_end(&t);
        if (!fine) {
            return;
        }
    }
    const Hair *exact = &hairs[0], *pyramid = &hairs[1];
    validate_below(v, "hair: friction aside of slip (rad)", "helix", 4, exact->aside, 0.03);
    validate_above(v, "  linearised: aside (comparator)", "helix", 4, 0.1, pyramid->aside);
    validate_below(v, "hair: mean residual, 20 sweeps", "helix", 4, exact->residual, 2e-3);
    validate_above(v, "  linearised: residual (comparator)", "helix", 4, 0.02, pyramid->residual);
    validate_above(v, "  linearised: changes, relative to exact (comparator)", "helix", 4, 1.5,
                   (double)pyramid->changes / exact->changes);
}

void validate_contact_hair(Validation *v) {
    Memory *memory = malloc(sizeof *memory);
    if (memory != NULL) {
        compare_hair(v, memory);
    } else {
        const FilError error = {.text = "there is no memory for the contacts of hair"};
        validate_fail(v, "hair", "helix", 4, &error);
    }
    free(memory);
}
