// validate_contact_momentum.c - what collides in free space keeps its momentum.
//
// Contact forces come in pairs, so that bodies that collide far from everything else keep their
// linear momentum. Nodal rods (der, corde, chain) and rigid bodies do so to round-off, whatever the
// step: the places of the nodes are the unknowns. Helix and clothoid follow from curvatures and the
// root; their velocity terms are explicit, and momentum is kept to first order in dt.
//
// A rod is shot crosswise at another one that rests, off its middle, so that both turn and bend.
#include "validate_contact.h"

#include <math.h>
#include <string.h>

static double hypot3(const double x[3]) {
    return hypot(hypot(x[0], x[1]), x[2]);
}

// How much the momentum of two rods changes while they collide, relative to what it is.
static double momentum_change(Trial *t, FilRodModel model, double step) {
    FilWorldDef def = trial_world_def(step);
    memset(def.gravity, 0, sizeof def.gravity);
    trial_world(t, &def, 0.3, 0.0);
    FilRodDef a = trial_log(model, 0.0, false), b = trial_log(model, 0.024, true);
    a.section.young = b.section.young = 1e7;
    b.root.position[0] = 0.4;
    b.root.position[1] = -0.5;
    FilRod *rods[2] = {trial_rod(t, &a, 2, false), NULL};
    rods[1] = trial_rod(t, &b, 2, false);
    const double velocity[3] = {0.05, 0.0, -0.5}, spin[3] = {0};
    if (t->status == FIL_OK) {
        t->status = fil_rod_launch(rods[1], velocity, spin, &t->error);
    }
    double momentum[2][3], change[3] = {0}, hit = 0.0;
    for (int side = 0; side < 2 && trial_holds(t); side++) {
        if (side == 1) {
            (void)trial_run(t, (int)(0.1 / step + 0.5));
        }
        trial_momentum(rods[0], 1.0, momentum[0]);
        trial_momentum(rods[1], 1.0, momentum[1]);
        hit = hypot3(momentum[0]);
        for (int k = 0; k < 3; k++) {
            change[k] = momentum[0][k] + momentum[1][k] - change[k];
        }
    }
    return hit > 0.05 ? hypot3(change) / hypot3(velocity) : (double)NAN; // what was hit moves
}

static void validate_nodal(Validation *v) {
    static const FilRodModel models[] = {FIL_ROD_DER, FIL_ROD_CORDE, FIL_ROD_CHAIN};
    const char *name = "two rods collide: change of momentum";
    for (int m = 0; m < 3 && !v->stopped(); m++) {
        const char *model = fil_rod_model_name(models[m]);
        Trial t = trial_begin(v, name, model, 8);
        double change = momentum_change(&t, models[m], 1e-3);
        if (trial_holds(&t)) {
            validate_below(v, name, model, 8, change, 1e-12);
        }
        trial_end(&t);
    }
}

static void validate_reduced(Validation *v) {
    static const FilRodModel models[] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID};
    static const double steps[3] = {1e-3, 5e-4, 2.5e-4};
    const char *names[2] = {"two rods collide: change of momentum, 0.25 ms",
                            "two rods collide: its order in dt"};
    for (int m = 0; m < 2 && !v->stopped(); m++) {
        const char *model = fil_rod_model_name(models[m]);
        double change[3];
        bool fine = true;
        for (int k = 0; k < 3 && fine; k++) {
            Trial t = trial_begin(v, names[0], model, 8);
            change[k] = momentum_change(&t, models[m], steps[k]);
            fine = trial_holds(&t);
            trial_end(&t);
        }
        if (fine) {
            validate_below(v, names[0], model, 8, change[2], 5e-3);
            validate_near(v, names[1], model, 8, 1.0, log2(change[0] / change[2]) / 2.0, 0.25);
        }
    }
}

static void validate_rigid(Validation *v) {
    const char *name = "cube hits cube: change of momentum";
    Trial t = trial_begin(v, name, "cube", 0);
    FilWorldDef def = trial_world_def(1e-3);
    memset(def.gravity, 0, sizeof def.gravity);
    trial_world(&t, &def, 0.3, 0.5);
    FilRigidDef cubes[2] = {trial_cube(0.1, 0.0, 0.0), trial_cube(0.1, 0.03, 0.12)};
    cubes[1].rate = (FilRate){.velocity = {0.1, 0.2, -1.0}, .spin = {1.0, 2.0, 3.0}};
    const FilRigid *rigids[2] = {trial_rigid(&t, &cubes[0]), NULL};
    rigids[1] = trial_rigid(&t, &cubes[1]);
    if (trial_run(&t, 200)) {
        FilRate rate[2];
        double change[3];
        fil_rigid_rate(rigids[0], &rate[0]);
        fil_rigid_rate(rigids[1], &rate[1]);
        for (int k = 0; k < 3; k++) { // both of the same mass
            change[k] = rate[0].velocity[k] + rate[1].velocity[k] - cubes[1].rate.velocity[k];
        }
        bool hit = hypot3(rate[0].velocity) > 0.05;
        validate_below(v, name, "cube", 0, hit ? hypot3(change) : (double)NAN, 1e-14);
    }
    trial_end(&t);
}

void validate_contact_momentum(Validation *v) {
    validate_nodal(v);
    validate_reduced(v);
    validate_rigid(v);
}
