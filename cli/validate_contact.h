#ifndef FIL_CLI_VALIDATE_CONTACT_H
#define FIL_CLI_VALIDATE_CONTACT_H

// Worlds for the cases of the group `contact`.
//
// A trial is one world under one case. Whatever goes wrong in it is kept: all that follows does
// nothing, what is asked for is NULL, and trial_end() reports the case as failed, once. So cases
// read like a list of what they do:
//
//     Trial t = trial_begin(v, "name of the case", "der", 8);
//     trial_world(&t, &def, mu, 0.0);
//     FilRod *rod = trial_rod(&t, &rod_def, 1, false);
//     trial_run(&t, 300);
//     if (trial_holds(&t)) { validate_near(v, ...); }
//     trial_end(&t);

#include "validate.h"

#include "filum/stage.h"
#include "filum/world.h"

typedef struct Trial {
    Validation *v;
    const char *name, *model;
    int resolution;
    FilWorld *world; // its own, or that of the stage
    FilStage *stage; // NULL unless it was made from a scene
    FilScene *scene;
    FilStepInfo info;   // of the last step
    int unconverged;    // steps so far whose friction was not solved to tolerance
    int missed;         // pairs so far that the swept check could not mend
    double penetration; // m, deepest so far
    FilStatus status;
    FilError error;
} Trial;

Trial trial_begin(Validation *v, const char *name, const char *model, int resolution);
/// Destroy what it made; a trial that failed becomes a failed row.
void trial_end(Trial *t);
/// Nothing failed so far, and the user wants more.
bool trial_holds(const Trial *t);

/// 1e-10, one thread, steps of `step`.
FilWorldDef trial_world_def(double step);
/// A world with one material, of friction `mu` with itself.
void trial_world(Trial *t, const FilWorldDef *def, double mu, double restitution);
/// The world of a scene; `changes` as for --set. The text is a scene, or the name of one in
/// scenes/.
void trial_scene(Trial *t, const char *text, const char *const *changes, int change_count);

/// The plane z = 0.
void trial_floor(Trial *t);
/// A cylinder that lies along `axis` (unit), long enough for all.
void trial_cylinder(Trial *t, const double centre[3], const double axis[3], double radius);
FilRod *trial_rod(Trial *t, const FilRodDef *def, int pieces, bool self);
FilRigid *trial_rigid(Trial *t, const FilRigidDef *def);
/// Gravity of 9.81 m/s^2, turned by `angle` from -z towards x: a slope.
void trial_tilt(Trial *t, double angle);
void trial_loads(Trial *t, FilRod *rod, const FilRodLoad *loads, int count);
/// `force` along x in all, spread evenly over the length.
void trial_push(Trial *t, FilRod *rod, double force);

/// One step; false when it failed or the user wants no more.
bool trial_step(Trial *t);
bool trial_run(Trial *t, int steps);

// --- bodies of the cases -------------------------------------------------------------------------

/// A free rod of 1 m and 1 kg, 2 cm thick, stiff, that lies along x (or y) at the height z.
FilRodDef trial_log(FilRodModel model, double z, bool along_y);
/// Of 1000 kg/m^3, turned by 0.
FilRigidDef trial_cube(double size, double x, double z);
/// A cylinder of radius 5 cm that lies along y.
FilRigidDef trial_roller(double x, double z);

// --- what is looked at ---------------------------------------------------------------------------

#define TRIAL_G 9.81

void trial_place(const FilRod *rod, double s, double place[3]);
void trial_velocity(const FilRod *rod, double s, double velocity[3]);
double trial_kinetic(const Trial *t);
/// Momentum of a rod of the given mass, its mass spread evenly.
void trial_momentum(const FilRod *rod, double mass, double momentum[3]);

/// The determinant of the knot that the rod, its ends led away along -x and x, is tied in: 1 when
/// it is not knotted, 3 for an overhand knot. It is seen along z as a polygon of `samples` edges.
double trial_knot(const FilRod *rod, int samples);

#endif
