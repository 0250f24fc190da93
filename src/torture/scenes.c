// scenes.c - random worlds, as scenes.
//
// A scene has a size S. A floor lies at z = 0, up to three solids on it, below 0.5 S; above them
// every rod and every body has a layer of its own, so that little overlaps at the start (what does
// is set aside by who runs it). What is free is thrown down so fast that it arrives before the run
// ends; what is held hangs, swings, or is driven, never downwards.
//
// `tame` scenes are what users write: a decimetre, millimetres thick, rubber to wood, 0.5 to 5 ms.
// `wild` ones take everything over decades: radii from 10 um to 1 cm, stiffness from foam to steel,
// masses over six decades, friction from 0 to 2, speeds to 200 m/s, steps from 0.1 to 20 ms, thin
// plates, meshes, joints, events. `throw` has one rod and a floor, for its energy.
#include "torture.h"

#include "writer.h"

#include <string.h>

typedef struct Drawn {
    bool wild;
    double size;     // m: S
    double step;     // s
    double duration; // s
    double fastest;  // m/s
    int solids, rods, bodies, joints, layers;
} Drawn;

static const char *const models[] = {"helix", "clothoid", "der", "corde", "chain"};

// --- solids --------------------------------------------------------------------------------------

static void put_shape(FilSceneWriter *w, const Drawn *d, double size) {
    const int kind = below(w, d->wild ? 6 : 4);
    switch (kind) {
    case 0:
        put(w, "\"shape\": \"sphere\", \"radius\": %.7g", 0.5 * size);
        break;
    case 1:
        put(w, "\"shape\": \"box\", \"size\": [%.7g, %.7g, %.7g]", size * pick(w, 0.4, 1.0),
            size * pick(w, 0.4, 1.0), size * pick(w, 0.4, 1.0));
        break;
    case 2:
    case 3:
        put(w, "\"shape\": \"%s\", \"radius\": %.7g, \"length\": %.7g",
            kind == 2 ? "capsule" : "cylinder", size * pick(w, 0.15, 0.35), 0.6 * size);
        break;
    case 4:
        put(w, "\"shape\": \"mesh\", \"file\": \"cube.obj\", \"scale\": %.7g", 0.6 * size);
        break;
    default: // a thin plate
        put(w, "\"shape\": \"box\", \"size\": [%.7g, %.7g, %.7g]", size, size,
            size * spread(w, 0.01, 0.1));
    }
}

static void put_solids(FilSceneWriter *w, Drawn *d) {
    const double s = d->size;
    d->solids = below(w, 4);
    put(w,
        ",\n \"obstacles\": [{\"name\": \"floor\", \"shape\": \"plane\", \"material\": \"hard\"");
    if (chance(w, d->wild ? 0.3 : 0.15)) { // a belt
        const double speed = fmin(0.1 * d->fastest, 5.0);
        put(w, ", \"motion\": {\"velocity\": [%.7g, %.7g, 0]}", pick(w, -speed, speed),
            pick(w, -speed, speed));
    }
    put(w, "}");
    for (int k = 0; k < d->solids; k++) {
        const double angle = 2.1 * k + pick(w, 0.0, 0.5);
        put(w, ",\n  {\"name\": \"o%d\", \"material\": \"hard\", ", k);
        put_shape(w, d, s * pick(w, 0.15, 0.35));
        put(w, ", ");
        put_point(w, "at", 0.4 * s * cos(angle), 0.4 * s * sin(angle), s * pick(w, 0.2, 0.3));
        put(w, ", ");
        put_vector(w, "turn", 1.0);
        if (chance(w, 0.25)) {
            put(w, ", \"motion\": {\"swing\": {\"at\": [%.7g, %.7g, 0], \"period\": %.7g}}",
                0.1 * s * pick(w, -1.0, 1.0), 0.1 * s * pick(w, -1.0, 1.0),
                d->duration * pick(w, 0.3, 2.0));
        }
        put(w, "}");
    }
    put(w, "]");
}

// --- what moves ----------------------------------------------------------------------------------

// The height of the next layer.
static double next_layer(Drawn *d) {
    return d->size * (0.75 + 0.45 * d->layers++);
}

// How fast it must fall to arrive in time; of wild things some are as fast as anything may be.
static double draw_fall(FilSceneWriter *w, const Drawn *d, double height) {
    const double enough = height / (d->duration * pick(w, 0.2, 0.8));
    return -(d->wild && chance(w, 0.2) ? d->fastest : fmin(d->fastest, enough));
}

static void put_throw(FilSceneWriter *w, const Drawn *d, double height, double spin) {
    const double fall = draw_fall(w, d, height), side = fmin(-fall, 0.1 * d->fastest);
    put(w, ", ");
    put_point(w, "velocity", pick(w, -side, side), pick(w, -side, side), fall);
    put(w, ", ");
    put_vector(w, "spin", spin);
}

// Of a held end: never down.
static void put_drive(FilSceneWriter *w, const Drawn *d) {
    const double speed = d->wild ? spread(w, 0.1, 5.0) : 0.3;
    put(w, ", \"motion\": {");
    switch (below(w, 3)) {
    case 0:
        put_point(w, "velocity", pick(w, -speed, speed), pick(w, -speed, speed),
                  pick(w, 0.0, 0.5 * speed));
        break;
    case 1:
        put(w, "\"swing\": {");
        put_vector(w, "at", 0.2 * d->size);
        put(w, ", \"period\": %.7g}", fmax(d->duration * pick(w, 0.2, 2.0), 1.2 * d->size / speed));
        break;
    default:
        put_vector(w, "spin", fmin(speed / d->size, 0.3 / d->step));
    }
    put(w, "}");
}

// Where a straight rod begins, and where it ends.
typedef struct Line {
    double at[3], along[3], length;
} Line;

static Line draw_line(FilSceneWriter *w, Drawn *d) {
    const double angle = pick(w, 0.0, 6.2831853), tilt = pick(w, -0.15, 0.15);
    Line line = {.length = d->size * pick(w, 0.3, 1.0)};
    line.along[0] = cos(angle);
    line.along[1] = sin(angle);
    line.along[2] = tilt;
    const double norm = sqrt(1.0 + tilt * tilt);
    for (int k = 0; k < 3; k++) {
        line.along[k] /= norm;
        line.at[k] = k == 2 ? next_layer(d) : -0.5 * line.length * line.along[k];
    }
    return line;
}

static void put_rod_shape(FilSceneWriter *w, const Drawn *d, const Line *line, const char *model) {
    const bool chain = strcmp(model, "chain") == 0;
    const int elements = 1 + below(w, d->wild ? 20 : 10) + (chain ? 2 : 0);
    double radius = d->wild ? spread(w, 1e-5, 1e-2) : pick(w, 1e-3, 4e-3);
    radius = fmin(radius, 0.03 * line->length);
    put(w, "\"model\": \"%s\", \"elements\": %d, \"length\": %.7g, \"radius\": %.7g", model,
        elements, line->length, radius);
    if (!chain && chance(w, 0.4)) {
        const double angle = d->wild ? spread(w, 0.01, 6.0) : pick(w, 0.0, 1.0);
        const double turn =
            fmin(angle, 1.5 * elements) / line->length; // an element of der: 2.8 rad
        put(w, ",\n   \"natural\": {\"curvature\": [%.7g, %.7g], \"twist\": %.7g}",
            pick(w, -turn, turn), pick(w, -turn, turn), pick(w, -turn, turn));
        put(w, "%s", d->wild && chance(w, 0.5) ? "" : ", \"start\": \"straight\"");
    }
    if (!chain && d->wild && chance(w, 0.1)) {
        put(w, ", \"section\": {\"kind\": \"elliptic\", \"radii\": [%.7g, %.7g]}", radius,
            radius * pick(w, 0.1, 1.0));
    }
    if (chance(w, 0.3)) {
        put(w, ", \"damping\": %.7g", d->wild ? spread(w, 1e-4, 1.0) : 0.01);
    }
}

static void put_ends(FilSceneWriter *w, const Drawn *d, const Line *line, bool held, bool chain) {
    static const char *const kinds[] = {"pinned", "clamped", "sliding"};
    put(w, ",\n   \"root\": {");
    put_point(w, "at", line->at[0], line->at[1], line->at[2]);
    put(w, ", ");
    put_point(w, "along", line->along[0], line->along[1], line->along[2]);
    if (!held) {
        put(w, ", \"held\": \"free\"}");
        return;
    }
    put(w, ", \"held\": \"%s\"", chain ? "pinned" : choose(w, kinds, d->wild ? 3 : 2));
    if (chance(w, 0.4)) {
        put_drive(w, d);
    }
    put(w, "}");
    if (d->wild && chance(w, 0.1)) {
        put(w, ", \"tip\": {\"held\": \"%s\"}", chain ? "pinned" : choose(w, kinds, 3));
    }
}

static void put_rod(FilSceneWriter *w, Drawn *d, int index, Line *line) {
    const char *model = choose(w, models, 5);
    const bool held = chance(w, 0.35), chain = strcmp(model, "chain") == 0;
    *line = draw_line(w, d);
    put(w, "%s\n  {\"name\": \"r%d\", \"material\": \"m%d\", ", index > 0 ? "," : "", index, index);
    put_rod_shape(w, d, line, model);
    put_ends(w, d, line, held, chain);
    if (!held) {
        put_throw(w, d, line->at[2],
                  d->wild ? fmin(spread(w, 0.1, 100.0), 0.5 / d->step) : pick(w, 0.0, 5.0));
    }
    if (d->wild && chance(w, 0.15)) {
        put(w, ", \"loads\": [{");
        put_vector(w, "force", spread(w, 1e-6, 1e-1));
        put(w, "}]");
    }
    if (chance(w, 0.15)) {
        put(w, ", \"drag\": %.7g", d->wild ? spread(w, 1e-5, 1.0) : 0.01);
    }
    put(w, "}");
}

// A body in a layer of its own, or beyond the tip of the rod that it is joined to: `arm`, which it
// sets, is where its centre is as seen from there, so far that nothing of it reaches the rod.
static void put_body(FilSceneWriter *w, Drawn *d, int index, const Line *line, double arm[3]) {
    const double z = line != NULL ? line->at[2] : next_layer(d);
    const double size = d->size * pick(w, 0.1, 0.25);
    put(w, "%s\n  {\"name\": \"b%d\", \"material\": \"hard\", ", index > 0 ? "," : "", index);
    put_shape(w, d, size);
    put(w, ", ");
    if (line != NULL) {
        double at[3];
        for (int k = 0; k < 3; k++) {
            arm[k] = 0.95 * size * line->along[k];
            at[k] = line->at[k] + line->length * line->along[k] + arm[k];
        }
        put_point(w, "at", at[0], at[1], at[2]);
    } else {
        put_point(w, "at", d->size * pick(w, -0.3, 0.3), d->size * pick(w, -0.3, 0.3), z);
        put(w, ", ");
        put_vector(w, "turn", 1.0);
        put_throw(w, d, z, d->wild ? spread(w, 0.1, 30.0) : pick(w, 0.0, 5.0));
    }
    if (d->wild && chance(w, 0.6)) {
        put(w, ", \"mass\": %.7g", spread(w, 1e-5, 10.0));
    }
    put(w, "}");
}

// --- links and changes ---------------------------------------------------------------------------

static void put_joints(FilSceneWriter *w, Drawn *d, const Line *lines, int jointed,
                       double arms[][3]) {
    put(w, ",\n \"joints\": [");
    for (int k = 0; k < jointed; k++) { // body k hangs at the tip of rod k
        put(w, "%s{\"kind\": \"%s\", \"a\": {\"rod\": \"r%d\"}, \"b\": {\"body\": \"b%d\", ",
            k > 0 ? ", " : "", chance(w, 0.6) ? "pinned" : "clamped", k, k);
        put_point(w, "at", -arms[k][0], -arms[k][1], -arms[k][2]);
        put(w, "}}");
    }
    d->joints = jointed;
    if (d->rods > jointed && chance(w, d->wild ? 0.3 : 0.1)) { // a tip at a place
        const Line *line = &lines[d->rods - 1];
        put(w, "%s{\"a\": {\"rod\": \"r%d\"}, \"b\": {", jointed > 0 ? ", " : "", d->rods - 1);
        put_point(w, "at", line->at[0] + line->length * line->along[0],
                  line->at[1] + line->length * line->along[1],
                  line->at[2] + line->length * line->along[2]);
        put(w, "}}");
        d->joints++;
    }
    put(w, "]");
}

static void put_event(FilSceneWriter *w, const Drawn *d) {
    const int kind = below(w, 7), rod = below(w, d->rods > 0 ? d->rods : 1);
    if (d->rods == 0 || kind == 0) {
        put_vector(w, "gravity", 15.0);
    } else if (kind == 1) {
        put_vector(w, "wind", d->wild ? spread(w, 1.0, 50.0) : 5.0);
    } else if (kind == 2) {
        put(w, "\"rod\": \"r%d\", ", rod);
        put_vector(w, "force", d->wild ? spread(w, 1e-6, 0.1) : 1e-3);
    } else if (kind == 3) {
        put(w, "\"rod\": \"r%d\", \"release\": \"%s\"", rod, chance(w, 0.7) ? "root" : "tip");
    } else if (kind == 4 && d->joints > 0) {
        put(w, "\"unjoin\": %d", below(w, d->joints));
    } else {
        put_point(w, "gravity", pick(w, -5.0, 5.0), pick(w, -5.0, 5.0), pick(w, -15.0, 5.0));
    }
}

static void put_events(FilSceneWriter *w, const Drawn *d) {
    const int count = chance(w, d->wild ? 0.5 : 0.25) ? 1 + below(w, 3) : 0;
    put(w, ",\n \"events\": [");
    for (int k = 0; k < count; k++) {
        put(w, "%s{\"time\": %.7g, ", k > 0 ? ", " : "",
            d->duration * (k + pick(w, 0.0, 1.0)) / count);
        put_event(w, d);
        put(w, "}");
    }
    put(w, "]");
}

static void put_materials(FilSceneWriter *w, const Drawn *d) {
    put(w, ",\n \"materials\": {\"hard\": {\"density\": %.7g%s}",
        d->wild ? spread(w, 30.0, 2e4) : pick(w, 300.0, 3000.0),
        chance(w, 0.2) ? ", \"restitution\": 0.5" : "");
    for (int k = 0; k < d->rods; k++) {
        put(w, ", \"m%d\": {\"young\": %.7g, \"density\": %.7g}", k,
            d->wild ? spread(w, 1e5, 2e11) : spread(w, 1e6, 1e9),
            d->wild ? spread(w, 30.0, 2e4) : pick(w, 500.0, 2000.0));
    }
    put(w, "}");
}

// --- whole scenes --------------------------------------------------------------------------------

static void put_head(FilSceneWriter *w, Drawn *d) {
    const int steps = 50 + below(w, 101);
    d->size = d->wild ? spread(w, 0.02, 1.0) : pick(w, 0.1, 0.3);
    d->step = d->wild ? spread(w, 1e-4, 0.02) : spread(w, 5e-4, 5e-3);
    d->duration = steps * d->step;
    d->fastest = d->wild ? spread(w, 0.3, 200.0) : 3.0;
    const double mu = d->wild ? (chance(w, 0.15) ? 0.0 : pick(w, 0.0, 2.0)) : pick(w, 0.1, 0.8);
    const double theta = d->wild && chance(w, 0.3) ? pick(w, 0.5, 1.0) : 1.0;
    put(w, "{\"duration\": %.7g, \"step\": %.7g, \"friction_default\": %.7g, \"theta\": %.7g",
        d->duration, d->step, mu, theta);
}

static void write_world(FilSceneWriter *w, bool wild) {
    enum { MOST = 6 };
    Line lines[MOST] = {0};
    double arms[MOST][3] = {{0.0}};
    Drawn d = {.wild = wild};
    put_head(w, &d);
    d.rods = below(w, MOST);
    d.bodies = below(w, 4) + (d.rods == 0);
    put_materials(w, &d);
    put_solids(w, &d);
    put(w, ",\n \"rods\": [");
    for (int k = 0; k < d.rods; k++) {
        put_rod(w, &d, k, &lines[k]);
    }
    const int most = d.rods < d.bodies ? d.rods : d.bodies;
    const int jointed = most > 0 && chance(w, wild ? 0.35 : 0.2) ? 1 + below(w, most) : 0;
    put(w, "],\n \"bodies\": [");
    for (int k = 0; k < d.bodies; k++) {
        put_body(w, &d, k, k < jointed ? &lines[k] : NULL, arms[k]);
    }
    put(w, "]");
    put_joints(w, &d, lines, jointed, arms);
    put_events(w, &d);
    put(w, "}\n");
}

static void write_throw(FilSceneWriter *w, int model) {
    const char *name = models[model];
    const bool chain = strcmp(name, "chain") == 0;
    const double length = pick(w, 0.1, 0.5), radius = spread(w, 5e-4, 5e-3);
    const double step = spread(w, 2e-4, 2e-3), speed = spread(w, 0.2, 5.0);
    const double angle = pick(w, 0.0, 6.2831853), tilt = pick(w, -1.0, 1.0);
    const double height = 0.02 + radius + fmax(0.0, -tilt) * length;
    put(w, "{\"duration\": %.7g, \"step\": %.7g, \"friction_default\": %.7g", 100.0 * step, step,
        chance(w, 0.3) ? 0.0 : pick(w, 0.0, 1.0));
    put(w, ",\n \"materials\": {\"m\": {\"young\": %.7g, \"density\": %.7g}}", spread(w, 5e5, 1e9),
        pick(w, 500.0, 2000.0));
    put(w, ",\n \"obstacles\": [{\"shape\": \"plane\"}]");
    put(w,
        ",\n \"rods\": [{\"model\": \"%s\", \"elements\": %d, \"length\": %.7g, \"radius\": %.7g",
        name, 2 + below(w, 15), length, radius);
    if (!chain && chance(w, 0.3)) {
        const double turn = pick(w, 0.0, 2.0) / length;
        put(w, ",\n  \"natural\": {\"curvature\": [%.7g, %.7g]}, \"start\": \"straight\"",
            pick(w, -turn, turn), pick(w, -turn, turn));
    }
    put(w, ",\n  ");
    put_point(w, "velocity", pick(w, -speed, speed), pick(w, -speed, speed), -speed);
    put(w, ", ");
    put_vector(w, "spin", spread(w, 0.1, 20.0));
    put(w,
        ",\n  \"root\": {\"at\": [0, 0, %.7g], \"along\": [%.7g, %.7g, %.7g], \"held\": ", height,
        sqrt(1.0 - tilt * tilt) * cos(angle), sqrt(1.0 - tilt * tilt) * sin(angle), tilt);
    put(w, "\"free\"}}]}\n");
}

// NOLINTNEXTLINE(readability-non-const-parameter): it is written through the writer
void fil_torture_world_scene(FilTortureKind kind, uint64_t seed, char *text) {
    FilSceneWriter writer = {.random = fil_random_make(seed), .text = text};
    text[0] = '\0';
    if (kind == FIL_TORTURE_WILD || kind == FIL_TORTURE_TAME) {
        write_world(&writer, kind == FIL_TORTURE_WILD);
    } else {
        write_throw(&writer, (int)kind - (int)FIL_TORTURE_THROW);
    }
}

// A unit cube, for the meshes of wild scenes.
const char *fil_torture_cube(void) {
    return "v -0.5 -0.5 -0.5\nv 0.5 -0.5 -0.5\nv 0.5 0.5 -0.5\nv -0.5 0.5 -0.5\n"
           "v -0.5 -0.5 0.5\nv 0.5 -0.5 0.5\nv 0.5 0.5 0.5\nv -0.5 0.5 0.5\n"
           "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
}
