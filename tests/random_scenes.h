#ifndef FIL_TESTS_RANDOM_SCENES_H
#define FIL_TESTS_RANDOM_SCENES_H

// Scenes that nobody drew, from a seed: small ones in which everything that a scene can have meets
// everything else. Rods of all models, held in every way, driven, loaded, growing, let go; bodies;
// obstacles at rest and in motion; joints; events; sleep. Most are valid; some are refused, with a
// sentence. Work is bounded, by iterations and halvings: what does not converge is as good as what
// does.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"

enum { SCENE_TEXT = 16384 };

typedef struct SceneWriter {
    FilRandom random;
    char *text;
    size_t size;
    double step, duration;
    int obstacle_count, rod_count, body_count;
} SceneWriter;

static void put(SceneWriter *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(SceneWriter *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int more = vsnprintf(w->text + w->size, SCENE_TEXT - w->size, format, args);
    va_end(args);
    w->size += more > 0 ? (size_t)more : 0;
    w->size = w->size < SCENE_TEXT ? w->size : SCENE_TEXT - 1;
}

static double pick(SceneWriter *w, double low, double high) {
    return fil_random_uniform(&w->random, low, high);
}

static bool chance(SceneWriter *w, double probability) {
    return pick(w, 0.0, 1.0) < probability;
}

static const char *choose(SceneWriter *w, const char *const *names, int count) {
    return names[fil_random_int(&w->random, count)];
}

static void put_vector(SceneWriter *w, const char *name, double size) {
    put(w, "\"%s\": [%.17g, %.17g, %.17g]", name, pick(w, -size, size), pick(w, -size, size),
        pick(w, -size, size));
}

static void put_motion(SceneWriter *w, double speed) {
    put(w, "\"motion\": {");
    switch (fil_random_int(&w->random, 4)) {
    case 0:
        put_vector(w, "velocity", speed);
        put(w, ", ");
        put_vector(w, "spin", 10.0 * speed);
        put(w, ", \"from\": %.17g, \"until\": %.17g", pick(w, 0.0, 0.3 * w->duration),
            pick(w, 0.4 * w->duration, 1.5 * w->duration));
        break;
    case 1:
        put_vector(w, "velocity", speed);
        break;
    case 2:
        put(w, "\"swing\": {");
        put_vector(w, "at", 0.02 * speed);
        put(w, ", ");
        put_vector(w, "turn", 0.3 * speed);
        put(w, ", \"period\": %.17g, \"phase\": %.17g}", pick(w, 3.0, 40.0) * w->step,
            chance(w, 0.5) ? 0.0 : pick(w, 0.0, 6.0));
        break;
    default:
        put(w, "\"between\": \"%s\", \"keys\": [", chance(w, 0.5) ? "linear" : "smooth");
        for (int k = 0; k < 3; k++) {
            put(w, "%s{\"time\": %.17g, ", k > 0 ? ", " : "",
                (k + pick(w, 0.0, 0.9)) * 0.4 * w->duration);
            put_vector(w, "at", k == 0 ? 0.0 : 0.3 * speed * w->duration);
            put(w, ", ");
            put_vector(w, "turn", k == 0 ? 0.0 : 2.0 * speed * w->duration);
            put(w, "}");
        }
        put(w, "]");
    }
    put(w, "}");
}

static void put_obstacles(SceneWriter *w) {
    static const char *const shapes[] = {
        "\"shape\": \"sphere\", \"radius\": 0.04", "\"shape\": \"box\", \"size\": [0.1, 0.2, 0.05]",
        "\"shape\": \"capsule\", \"radius\": 0.02, \"length\": 0.1",
        "\"shape\": \"cylinder\", \"radius\": 0.03, \"length\": 0.08"};
    w->obstacle_count = 1 + fil_random_int(&w->random, 3);
    put(w, ",\n \"obstacles\": [{\"name\": \"o0\", \"shape\": \"plane\", \"material\": \"wood\"");
    if (chance(w, 0.6)) {
        put(w, ", ");
        put_motion(w, 0.3);
    }
    put(w, "}");
    for (int k = 1; k < w->obstacle_count; k++) {
        put(w, ",\n  {\"name\": \"o%d\", %s, \"material\": \"wood\", \"at\": [%.17g, %.17g, %.17g]",
            k, choose(w, shapes, 4), pick(w, -0.15, 0.15), pick(w, -0.15, 0.15), pick(w, 0.0, 0.1));
        if (chance(w, 0.3)) {
            put(w, ", \"follows\": \"o0\"");
        } else if (chance(w, 0.7)) {
            put(w, ", ");
            put_motion(w, 0.5);
        }
        put(w, "}");
    }
    put(w, "]");
}

static void put_drive(SceneWriter *w) {
    if (chance(w, 0.3)) {
        put(w, ", \"follows\": \"o%d\"", fil_random_int(&w->random, w->obstacle_count));
    } else if (chance(w, 0.6)) {
        put(w, ", ");
        put_motion(w, 0.3);
    }
}

// What only some rods have.
static void put_extras(SceneWriter *w, bool chain, double length) {
    if (!chain && chance(w, 0.4)) {
        put(w, ", \"natural\": {\"curvature\": [%.17g, %.17g], \"twist\": %.17g}",
            pick(w, -8.0, 8.0), pick(w, -8.0, 8.0), pick(w, -4.0, 4.0));
    }
    if (chance(w, 0.3)) {
        put(w, ", \"growth\": %.17g", pick(w, -0.5, 2.0));
    }
    if (chance(w, 0.3)) {
        put(w, ", \"damping\": %.17g", pick(w, 0.0, 0.02));
    }
    if (chance(w, 0.3)) {
        put(w, ", \"drag\": %.17g", pick(w, 0.0, 0.1));
    }
    if (chance(w, 0.3)) {
        put(w, ", \"loads\": [{\"at\": %.17g, ", pick(w, 0.0, length));
        put_vector(w, "force", 0.02);
        put(w, "}]");
    }
    if (!chain && chance(w, 0.1)) {
        put(w, ", \"section\": {\"kind\": \"elliptic\", \"radii\": [0.003, 0.0015]}");
    }
}

static void put_rod(SceneWriter *w, int index) {
    static const char *const models[] = {"helix", "clothoid", "der", "corde", "chain"};
    static const char *const ends[] = {"free", "pinned", "sliding", "clamped"};
    const char *model = models[(index + fil_random_int(&w->random, 5)) % 5];
    const bool chain = strcmp(model, "chain") == 0;
    const char *root = chain ? ends[fil_random_int(&w->random, 2)] : choose(w, ends, 4);
    const char *tip = chance(w, 0.6) ? "free"
                      : chain        ? ends[fil_random_int(&w->random, 2)]
                                     : choose(w, ends, 4);
    const double length = pick(w, 0.05, 0.25);
    put(w, "%s\n  {\"name\": \"r%d\", \"model\": \"%s\", \"elements\": %d, \"length\": %.17g, ",
        index > 0 ? "," : "", index, model, 1 + fil_random_int(&w->random, 7) + (chain ? 2 : 0),
        length);
    put(w, "\"radius\": %.17g, \"material\": \"%s\", ", pick(w, 0.001, 0.004),
        chance(w, 0.7) ? "rubber" : "wood");
    put(w, "\"root\": {\"at\": [%.17g, %.17g, %.17g], \"along\": [%.17g, %.17g, %.17g], ",
        pick(w, -0.1, 0.1), pick(w, -0.1, 0.1), pick(w, 0.005, 0.12), pick(w, -1.0, 1.0),
        pick(w, -1.0, 1.0), pick(w, -0.4, 0.4));
    put(w, "\"held\": \"%s\"", root);
    if (strcmp(root, "free") != 0) {
        put_drive(w);
    }
    put(w, "}, \"tip\": {\"held\": \"%s\"", tip);
    if (strcmp(tip, "free") != 0) {
        put_drive(w);
    }
    put(w, "}");
    if (strcmp(root, "sliding") != 0 && strcmp(tip, "sliding") != 0 && chance(w, 0.5)) {
        put(w, ", ");
        put_vector(w, "velocity", chance(w, 0.1) ? 20.0 : 1.0);
        put(w, ", ");
        put_vector(w, "spin", 3.0);
    }
    put_extras(w, chain, length);
    put(w, "}");
}

static void put_body(SceneWriter *w, int index) {
    static const char *const shapes[] = {
        "\"shape\": \"sphere\", \"radius\": 0.02",
        "\"shape\": \"box\", \"size\": [0.03, 0.02, 0.04]",
        "\"shape\": \"capsule\", \"radius\": 0.01, \"length\": 0.04",
        "\"shape\": \"cylinder\", \"radius\": 0.015, \"length\": 0.03"};
    put(w, "%s\n  {\"name\": \"b%d\", %s, \"material\": \"wood\", ", index > 0 ? "," : "", index,
        choose(w, shapes, 4));
    put(w, "\"at\": [%.17g, %.17g, %.17g], ", pick(w, -0.1, 0.1), pick(w, -0.1, 0.1),
        pick(w, 0.03, 0.15));
    put_vector(w, "turn", 1.0);
    if (chance(w, 0.6)) {
        put(w, ", ");
        put_vector(w, "velocity", chance(w, 0.1) ? 10.0 : 1.0);
        put(w, ", ");
        put_vector(w, "spin", 5.0);
    }
    if (chance(w, 0.2)) {
        put(w, ", ");
        put_vector(w, "force_rate", 0.5);
    }
    put(w, "}");
}

static void put_side(SceneWriter *w, const char *side, bool moves) {
    put(w, "\"%s\": {", side);
    if (!moves && chance(w, 0.6)) {
        put_vector(w, "at", 0.1);
        if (chance(w, 0.6)) {
            put(w, ", ");
            put_motion(w, 0.2);
        }
    } else if (w->rod_count > 0 && (w->body_count == 0 || chance(w, 0.5))) {
        put(w, "\"rod\": \"r%d\", \"end\": \"%s\"", fil_random_int(&w->random, w->rod_count),
            chance(w, 0.2) ? "root" : "tip");
    } else {
        put(w, "\"body\": \"b%d\", ", fil_random_int(&w->random, w->body_count));
        put_vector(w, "at", 0.01);
    }
    put(w, "}");
}

static int put_joints(SceneWriter *w) {
    const int count = chance(w, 0.4) ? 1 + fil_random_int(&w->random, 2) : 0;
    put(w, ",\n \"joints\": [");
    for (int k = 0; k < count; k++) {
        put(w, "%s{\"kind\": \"%s\", ", k > 0 ? ", " : "", chance(w, 0.7) ? "pinned" : "clamped");
        put_side(w, "a", true);
        put(w, ", ");
        put_side(w, "b", false);
        put(w, "}");
    }
    put(w, "]");
    return count;
}

static void put_events(SceneWriter *w, int joint_count) {
    static const char *const vectors[] = {"gravity", "wind", "force"};
    static const double sizes[] = {12.0, 5.0, 0.02};
    const int count = chance(w, 0.6) ? 1 + fil_random_int(&w->random, 4) : 0;
    put(w, ",\n \"events\": [");
    for (int k = 0; k < count; k++) {
        const double steps = (k + pick(w, 0.0, 1.0)) / count * w->duration / w->step;
        const double time = chance(w, 0.5) ? w->step * (double)(int)steps : w->step * steps;
        const int kind = fil_random_int(&w->random, 6);
        put(w, "%s{\"time\": %.17g, ", k > 0 ? ", " : "", time);
        if (w->rod_count > 0 && kind >= 2 && kind != 5) {
            put(w, "\"rod\": \"r%d\", ", fil_random_int(&w->random, w->rod_count));
        }
        if (kind < 2 || (kind == 2 && w->rod_count > 0)) {
            put_vector(w, vectors[kind], sizes[kind]);
        } else if (kind == 3 && w->rod_count > 0) {
            put(w, "\"release\": \"%s\"", chance(w, 0.6) ? "root" : "tip");
        } else if (kind == 4 && w->rod_count > 0) {
            put(w, "\"length\": %.17g", pick(w, 0.1, 0.2));
        } else if (joint_count > 0) {
            put(w, "\"unjoin\": %d", fil_random_int(&w->random, joint_count));
        } else {
            put_vector(w, "gravity", 10.0);
        }
        put(w, "}");
    }
    put(w, "]");
}

/// The scene of a seed, of so many steps, into `text` (SCENE_TEXT bytes).
// NOLINTNEXTLINE(readability-non-const-parameter): it is written through the writer
static void write_random_scene(uint64_t seed, int steps, char *text) {
    SceneWriter writer = {.random = fil_random_make(seed), .text = text};
    SceneWriter *w = &writer;
    w->step = pick(w, 0.0005, 0.005);
    w->duration = steps * w->step;
    put(w, "{\"duration\": %.17g, \"step\": %.17g, \"friction_default\": %.17g, \"theta\": %.17g",
        w->duration, w->step, chance(w, 0.1) ? 0.0 : pick(w, 0.0, 1.0),
        chance(w, 0.7) ? 1.0 : pick(w, 0.55, 1.0));
    put(w, ",\n \"materials\": {\"rubber\": {\"young\": %.17g, \"density\": 1000}, ",
        pick(w, 2e6, 2e7));
    put(w, "\"wood\": {\"young\": 1e9, \"density\": 600, \"restitution\": %.17g}}",
        chance(w, 0.5) ? 0.0 : pick(w, 0.0, 0.8));
    put(w, ",\n \"solver\": {\"iterations\": 300}, \"contact\": {\"substeps\": %d",
        2 + fil_random_int(&w->random, 4));
    if (chance(w, 0.5)) {
        put(w, ", \"sleep_speed\": %.17g, \"sleep_after\": %.17g", pick(w, 0.01, 0.3),
            pick(w, 1.0, 6.0) * w->step);
    }
    put(w, "}");
    w->rod_count = fil_random_int(&w->random, 4);
    w->body_count = fil_random_int(&w->random, w->rod_count > 0 ? 3 : 4) + (w->rod_count == 0);
    put_obstacles(w);
    put(w, ",\n \"rods\": [");
    for (int k = 0; k < w->rod_count; k++) {
        put_rod(w, k);
    }
    put(w, "],\n \"bodies\": [");
    for (int k = 0; k < w->body_count; k++) {
        put_body(w, k);
    }
    put(w, "]");
    put_events(w, put_joints(w));
    put(w, "}\n");
}

#endif
