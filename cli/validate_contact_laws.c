// validate_contact_laws.c - friction on a floor: what sticks, slides, stops, rolls and rebounds.
//
// Stick. A rod of 1 kg is pushed along a floor, mu = 0.4, by a force F spread over its length. Up
// to mu m g = 3.924 N it must not move at all: its mean speed over the last 0.2 s of 0.3 s is
// printed. Above, it gains (F - mu m g) / m. Friction that is regularised, mu N min(|u| / c, 1),
// lets it creep at F c / (mu m g): that is printed beside it.
//
// Slope. A cube rests up to tan(angle) = mu, then slides at g (sin - mu cos). The threshold is
// bisected: the angle above which the cube is faster than 1e-8 m/s after 0.05 s, which takes 2e-8
// more than the limit.
//
// Stopping. From v0 a cube slides v0^2 / (2 mu g). A step of implicit Euler ends with the velocity
// it moves with, so that it travels v0 dt / 2 less: first order in dt.
//
// Rolling. A full cylinder or round rod that does not slip has the inertia m + m / 2:
// a = 2/3 g sin(angle).
#include "validate_contact.h"

#include <math.h>

// --- stick ---------------------------------------------------------------------------------------

// Mean speed of the pushed rod over the last 0.2 s of 0.3 s.
static double mean_speed(Trial *t, FilFrictionLaw law, FilRodModel model, double force) {
    FilWorldDef def = trial_world_def(1e-3);
    def.law = law;
    trial_world(t, &def, 0.4, 0.0);
    trial_floor(t);
    FilRodDef rod_def = trial_log(model, 0.01, false);
    FilRod *rod = trial_rod(t, &rod_def, 2, false);
    trial_push(t, rod, force);
    double from[3] = {0}, to[3] = {0};
    if (trial_run(t, 100)) {
        trial_place(rod, 0.5, from);
    }
    if (trial_run(t, 200)) {
        trial_place(rod, 0.5, to);
    }
    return hypot(to[0] - from[0], to[1] - from[1]) / 0.2;
}

static void validate_stick(Validation *v) {
    const double slip_speed = fil_world_def_default().slip_speed;
    static const struct {
        double force;
        const char *exact, *regularised;
    } list[] = {
        {1.0, "stick: speed, pushed with 1 N of 3.92", "  regularised: it creeps (comparator)"},
        {2.0, "stick: speed, pushed with 2 N of 3.92", "  regularised: it creeps (comparator)"},
        {3.0, "stick: speed, pushed with 3 N of 3.92", "  regularised: it creeps (comparator)"},
        {3.5, "stick: speed, pushed with 3.5 N of 3.92", "  regularised: it creeps (comparator)"},
        {3.9, "stick: speed, pushed with 3.9 N of 3.92", "  regularised: it creeps (comparator)"},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (int m = 0; m < FIL_ROD_MODEL_COUNT && !v->stopped(); m++) {
            const char *model = fil_rod_model_name((FilRodModel)m);
            Trial t = trial_begin(v, list[k].exact, model, 8);
            double speed = mean_speed(&t, FIL_LAW_EXACT, (FilRodModel)m, list[k].force);
            if (trial_holds(&t)) {
                validate_below(v, list[k].exact, model, 8, speed, 1e-12);
            }
            trial_end(&t);
        }
        Trial t = trial_begin(v, list[k].regularised, "chain", 8);
        double creep = mean_speed(&t, FIL_LAW_REGULARISED, FIL_ROD_CHAIN, list[k].force);
        if (trial_holds(&t)) {
            validate_ratio(v, list[k].regularised, "chain", 8,
                           list[k].force * slip_speed / (0.4 * TRIAL_G), creep, 1e-9);
        }
        trial_end(&t);
    }
}

static void validate_push(Validation *v) {
    const char *name = "pushed with 5 N: acceleration (m/s^2)";
    for (int m = 0; m < FIL_ROD_MODEL_COUNT && !v->stopped(); m++) {
        const char *model = fil_rod_model_name((FilRodModel)m);
        Trial t = trial_begin(v, name, model, 8);
        FilWorldDef def = trial_world_def(1e-3);
        trial_world(&t, &def, 0.4, 0.0);
        trial_floor(&t);
        FilRodDef rod_def = trial_log((FilRodModel)m, 0.01, false);
        FilRod *rod = trial_rod(&t, &rod_def, 2, false);
        trial_push(&t, rod, 5.0);
        if (trial_run(&t, 200)) {
            double velocity[3];
            trial_velocity(rod, 0.5, velocity);
            validate_ratio(v, name, model, 8, 5.0 - 0.4 * TRIAL_G, velocity[0] / 0.2, 1e-10);
        }
        trial_end(&t);
    }
}

// --- slope ---------------------------------------------------------------------------------------

// Speed of a cube on a slope after `steps` of 1 ms.
static double slope_speed(Trial *t, double mu, double angle, int steps) {
    FilWorldDef def = trial_world_def(1e-3);
    trial_world(t, &def, mu, 0.0);
    trial_floor(t);
    FilRigidDef cube = trial_cube(0.1, 0.0, 0.05);
    FilRigid *rigid = trial_rigid(t, &cube);
    trial_tilt(t, angle);
    FilRate rate = {0};
    if (trial_run(t, steps)) {
        fil_rigid_rate(rigid, &rate);
    }
    return rate.velocity[0];
}

static void validate_slope(Validation *v) {
    static const double list[] = {0.1, 0.5, 1.0};
    for (int k = 0; k < 3 && !v->stopped(); k++) {
        const char *names[2] = {"slope: tan of the angle at which it slips",
                                "slope: acceleration, 5 % above (m/s^2)"};
        const double mu = list[k], limit = atan(mu);
        double low = 0.9 * limit, high = 1.1 * limit;
        bool fine = true;
        for (int i = 0; i < 24 && fine; i++) {
            double middle = 0.5 * (low + high);
            Trial t = trial_begin(v, names[0], "cube", 0);
            double speed = slope_speed(&t, mu, middle, 50);
            fine = trial_holds(&t);
            trial_end(&t);
            *(speed > 1e-8 ? &high : &low) = middle;
        }
        if (fine) {
            validate_ratio(v, names[0], "cube", 0, mu, tan(0.5 * (low + high)), 1e-7 / mu);
        }
        Trial t = trial_begin(v, names[1], "cube", 0);
        const double angle = 1.05 * limit;
        double speed = slope_speed(&t, mu, angle, 300);
        if (trial_holds(&t)) {
            validate_ratio(v, names[1], "cube", 0, TRIAL_G * (sin(angle) - mu * cos(angle)),
                           speed / 0.3, mu < 1.0 ? 1e-10 : 1e-8);
        }
        trial_end(&t);
    }
}

// --- stopping ------------------------------------------------------------------------------------

static double stopping_distance(Trial *t, double mu, double step) {
    FilWorldDef def = trial_world_def(step);
    trial_world(t, &def, mu, 0.0);
    trial_floor(t);
    FilRigidDef cube = trial_cube(0.1, 0.0, 0.05);
    cube.rate.velocity[0] = 1.0;
    FilRigid *rigid = trial_rigid(t, &cube);
    double centre[3] = {0};
    if (trial_run(t, (int)(1.1 / (mu * TRIAL_G) / step))) {
        fil_rigid_centre(rigid, centre);
    }
    return centre[0];
}

static void validate_stopping(Validation *v) {
    static const double mu = 0.3, steps[3] = {2e-3, 1e-3, 5e-4};
    const char *names[2] = {"stopping distance at 0.5 ms (m)", "stopping distance: order in dt"};
    const double expected = 1.0 / (2.0 * mu * TRIAL_G);
    double errors[3];
    for (int k = 0; k < 3; k++) {
        Trial t = trial_begin(v, names[0], "cube", 0);
        double distance = stopping_distance(&t, mu, steps[k]);
        errors[k] = distance - expected;
        bool fine = trial_holds(&t);
        trial_end(&t);
        if (!fine) {
            return;
        }
    }
    validate_ratio(v, names[0], "cube", 0, expected, expected + errors[2], 2e-3);
    validate_near(v, names[1], "cube", 0, 1.0, log2(errors[0] / errors[1]), 4e-4);
    validate_near(v, names[1], "cube", 0, 1.0, log2(errors[1] / errors[2]), 8e-4);
}

// --- rebound -------------------------------------------------------------------------------------

static void validate_rebound(Validation *v) {
    static const double list[] = {0.0, 0.25, 0.5, 0.75, 1.0};
    const char *name = "rebound speed relative to the approach";
    for (int k = 0; k < 5 && !v->stopped(); k++) {
        Trial t = trial_begin(v, name, "ball", 0);
        FilWorldDef def = trial_world_def(1e-3);
        trial_world(&t, &def, 0.3, list[k]);
        trial_floor(&t);
        FilRigidDef ball = fil_rigid_def_default();
        ball.pose.position[2] = 0.11;
        FilRigid *rigid = trial_rigid(&t, &ball);
        double fastest = 0.0, rebound = 0.0;
        for (int step = 0; step < 180 && trial_step(&t); step++) {
            FilRate rate;
            fil_rigid_rate(rigid, &rate);
            fastest = fmax(fastest, -rate.velocity[2]);
            rebound = fmax(rebound, rate.velocity[2]);
        }
        if (trial_holds(&t)) {
            validate_near(v, name, "ball", 0, list[k], rebound / fastest, 1e-12);
        }
        trial_end(&t);
    }
}

// --- rolling -------------------------------------------------------------------------------------

static void validate_rolling(Validation *v) {
    static const FilRodModel models[] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID, FIL_ROD_DER,
                                         FIL_ROD_CORDE};
    const char *name = "rolling down: acceleration (m/s^2)";
    const double angle = 0.2, expected = 2.0 / 3.0 * TRIAL_G * sin(angle);
    static const double allowed[] = {1e-10, 1e-3, 1e-3, 1e-10, 5e-9};
    for (int m = -1; m < 4 && !v->stopped(); m++) {
        const char *model = m < 0 ? "cylinder" : fil_rod_model_name(models[m]);
        Trial t = trial_begin(v, name, model, m < 0 ? 0 : 8);
        FilWorldDef def = trial_world_def(1e-3);
        trial_world(&t, &def, 0.5, 0.0);
        trial_floor(&t);
        FilRigidDef roller = trial_roller(0.0, 0.05);
        FilRodDef rod_def = trial_log(m < 0 ? FIL_ROD_DER : models[m], 0.01, true);
        FilRigid *rigid = m < 0 ? trial_rigid(&t, &roller) : NULL;
        const FilRod *rod = m < 0 ? NULL : trial_rod(&t, &rod_def, 1, false);
        trial_tilt(&t, angle);
        if (trial_run(&t, 200)) {
            FilRate rate;
            if (m < 0) {
                fil_rigid_rate(rigid, &rate);
            } else {
                fil_rod_at(rod, 0.5, NULL, &rate);
            }
            validate_ratio(v, name, model, t.resolution, expected, rate.velocity[0] / 0.2,
                           allowed[m + 1]);
        }
        trial_end(&t);
    }
}

void validate_contact_laws(Validation *v) {
    validate_stick(v);
    validate_push(v);
    validate_slope(v);
    validate_stopping(v);
    validate_rebound(v);
    validate_rolling(v);
}
