// Hair that is combed or curled, braids, rails, and what overlaps at the start.
#include "check.h"

#include "filum/stage.h"
#include "math/vec3.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

enum { PLACES = 120 };

static FilScene *read(const char *text) {
    FilScene *scene = NULL;
    FilError error;
    if (fil_scene_read_text("t.json", text, strlen(text), NULL, NULL, &scene, &error) != FIL_OK) {
        check_failures++;
        (void)fprintf(stderr, "refused: %s\n", error.text);
        return NULL;
    }
    return scene;
}

static bool refused(const char *text, const char *sentence) {
    FilScene *scene = NULL;
    FilError error = {0};
    if (fil_scene_read_text("t.json", text, strlen(text), NULL, NULL, &scene, &error) == FIL_OK ||
        strcmp(error.text, sentence) != 0) {
        (void)fprintf(stderr, "wanted: %s\ngot:    %s\n", sentence,
                      scene != NULL ? "(accepted)" : error.text);
        fil_scene_destroy(scene);
        return false;
    }
    return true;
}

// Places along a rod at its start, and the tangents there.
static bool trace(const FilSceneRod *from, double x[PLACES][3], double t[PLACES][3]) {
    FilRod *rod = NULL;
    FilError error;
    if (fil_rod_create(&from->def, NULL, &rod, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return false;
    }
    for (int k = 0; k < PLACES; k++) {
        FilPose pose;
        fil_rod_at(rod, from->def.length * k / (PLACES - 1), &pose, NULL);
        fil_copy3(pose.position, x[k]);
        fil_copy3(pose.axis[0], t[k]);
    }
    fil_rod_destroy(rod);
    return true;
}

// The least distance of two rods of a scene.
static double least_gap(const FilScene *scene) {
    enum { MOST = 128 };
    static double x[MOST][PLACES][3], t[PLACES][3];
    double square = INFINITY;
    CHECK(scene->rod_count <= MOST);
    for (int a = 0; a < scene->rod_count && a < MOST; a++) {
        if (!trace(&scene->rods[a], x[a], t)) {
            return 0.0;
        }
        for (int k = 0; k < a * PLACES * PLACES; k++) {
            const double *p = x[a][k % PLACES], *q = x[k / PLACES / PLACES][k / PLACES % PLACES];
            double edge[3];
            fil_subtract3(p, q, edge);
            square = fmin(square, fil_dot3(edge, edge));
        }
    }
    return sqrt(square);
}

#define HEAD "\"obstacles\": [{\"name\": \"head\", \"shape\": \"sphere\", \"radius\": 0.1}]"
#define COMBED(model, elements)                                                                 \
    "{\"duration\": 1, \"friction_default\": 0.3, \"hairs\": [{\"count\": 60, \"on\": \"head\"" \
    ", \"laid\": {\"radius\": \"12 cm\", \"rise\": \"20 deg\"}, \"vary\": {\"place\": 0}, "     \
    "\"rod\": {\"model\": \"" model "\", \"elements\": " elements                               \
    ", \"length\": \"30 cm\", \"radius\": \"0.5 mm\", \"natural\": {\"shape\": "                \
    "\"start\"}}}], " HEAD "}"

// It leaves the scalp at the angle of rise, never comes back to it, and hangs in the end.
static void check_combed(const char *text, double straight) {
    FilScene *scene = read(text);
    for (int k = 0; scene != NULL && k < scene->rod_count; k++) {
        static double x[PLACES][3], t[PLACES][3];
        if (!trace(&scene->rods[k], x, t)) {
            check_failures++;
            break;
        }
        CHECK_NEAR(fil_dot3(x[0], t[0]) / fil_norm3(x[0]), sin(PI / 9.0), 0.0, straight);
        CHECK(t[PLACES - 1][2] < -1.0 + straight); // straight down
        for (int i = 1; i < PLACES; i++) {
            CHECK(fil_norm3(x[i]) > 0.1);
        }
    }
    fil_scene_destroy(scene);
}

static void combed_hair_rises_and_hangs(void) {
    check_combed(COMBED("helix", "5"), 1e-9);
    check_combed(COMBED("clothoid", "4"), 1e-9);
    check_combed(COMBED("der", "40"), 1e-2);
    check_combed(COMBED("corde", "40"), 1e-2);
}

static void combed_hairs_do_not_cross(void) {
    FilScene *scene = read(COMBED("helix", "5"));
    CHECK(scene != NULL && least_gap(scene) > 2e-3);
    CHECK(scene != NULL && scene->rods[0].def.natural_curvatures != NULL); // and are so by nature
    fil_scene_destroy(scene);
}

static void combed_hair_is_refused_with_a_start_of_its_own(void) {
    CHECK(refused(
        "{\"duration\": 1, \"friction_default\": 0.3, \"hairs\": [{\"count\": 3, \"on\": "
        "\"head\", \"laid\": {\"radius\": 0.1}, \"rod\": {\"start\": \"straight\"}}], " HEAD "}",
        "t.json:1:87: hairs[0].laid says how hairs start; start, element_lengths and "
        "curl.upright must not"));
    CHECK(refused("{\"duration\": 1, \"friction_default\": 0.3, \"hairs\": [{\"count\": 3, \"on\": "
                  "\"head\", \"laid\": {\"radius\": 0.1, \"down\": [0, 0, 0]}, \"rod\": {}}], " HEAD
                  "}",
                  "t.json:1:111: hairs[0].laid.down has no direction; it must not be 0"));
}

// The axis of an upright curl is normal to the scalp; curls in phase stay apart though each is
// wider than the distance of its roots.
static void upright_curls_stand_on_the_scalp(void) {
    FilScene *scene = read("{\"duration\": 1, \"friction_default\": 0.3, \"hairs\": [{\"count\": "
                           "100, \"on\": \"head\", \"curl\": {\"radius\": \"9 mm\", \"pitch\": "
                           "\"4 cm\", \"upright\": true}, \"vary\": {\"phase\": 0, \"place\": 0}, "
                           "\"rod\": {\"length\": \"15 cm\"}}], " HEAD "}");
    for (int a = 0; scene != NULL && a < scene->rod_count; a++) {
        const FilRodDef *def = &scene->rods[a].def;
        double axis[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 3; k++) {
            fil_add3(def->natural_curvature[k], def->root.axis[k], axis);
        }
        CHECK_NEAR(fil_dot3(axis, def->root.position),
                   fil_norm3(axis) * fil_norm3(def->root.position), 1e-12, 0.0);
    }
    CHECK(scene != NULL && least_gap(scene) > 2e-3);
    fil_scene_destroy(scene);
}

static void braids_have_any_number_of_strands(void) {
    for (int n = 2; n <= 7; n++) {
        char text[500];
        (void)snprintf(
            text, sizeof text,
            "{\"duration\": 1, \"friction_default\": 0.3, \"braids\": [{\"strands\": %d, "
            "\"width\": %g, \"thickness\": %g, \"pitch\": %g, \"rod\": {\"model\": "
            "\"der\", \"elements\": %d, \"length\": %g, \"radius\": 0.002}}]}",
            n, 0.01 * n, 0.006 / sin(PI / n), 0.05 * n, 40 * n, 0.12 * n);
        FilScene *scene = read(text);
        CHECK(scene != NULL && scene->rod_count == n && scene->estimate.rods == n);
        CHECK(scene != NULL && least_gap(scene) > 0.0038); // 4 mm, but for the fit
        fil_scene_destroy(scene);
    }
}

static void rails_are_capsules_end_to_end(void) {
    FilScene *scene =
        read("{\"duration\": 1, \"friction_default\": 0.3, \"rails\": [{\"name\": \"rail\", "
             "\"radius\": 0.01, \"points\": [[0, 0, 0], [0, 0, 2], [1, 0, 2]]}], \"rods\": [{}]}");
    CHECK(scene != NULL && scene->obstacle_count == 2 && scene->estimate.obstacles == 2);
    if (scene != NULL && scene->obstacle_count == 2) {
        const FilSceneObstacle *o = scene->obstacles;
        CHECK(strcmp(o[1].name, "rail/1") == 0 && o[0].shape.kind == FIL_SHAPE_CAPSULE);
        CHECK_NEAR(o[0].shape.length, 2.0, 1e-15, 0.0);
        CHECK_NEAR(o[0].pose.axis[0][2], 1.0, 1e-15, 0.0);
        CHECK_NEAR(o[1].pose.position[0], 0.5, 1e-15, 0.0);
    }
    fil_scene_destroy(scene);
    CHECK(refused("{\"duration\": 1, \"rails\": [{\"radius\": 0.01, \"points\": [[0, 0, 0]]}]}",
                  "t.json:1:54: rails[0].points has 1 entries; a rail needs at least 2"));
    CHECK(refused("{\"duration\": 1, \"rails\": [{\"radius\": 0.01, \"points\": [[0, 0, 1], [0, 0, "
                  "1]]}]}",
                  "t.json:1:54: rails[0].points has the same place twice, as entries 0 and 1"));
}

// Two rods 1.5 mm apart that are 2 mm thick, a third with its end in the floor.
static void overlaps_are_found_before_a_step(void) {
    FilScene *scene = read(
        "{\"duration\": 1, \"friction_default\": 0.3, \"rods\": ["
        "{\"name\": \"a\", \"radius\": 0.001, \"root\": {\"at\": [0, 0, 1], \"held\": \"free\"}},"
        "{\"name\": \"b\", \"radius\": 0.001, \"root\": {\"at\": [0.1, -0.1, 1.0015], \"along\": "
        "[0, 1, 0], \"held\": \"free\"}},"
        "{\"name\": \"c\", \"radius\": 0.001, \"root\": {\"at\": [2, 0, 0.1], \"along\": [1, 0, "
        "-0.6], \"held\": \"free\"}}], \"obstacles\": [{\"name\": \"floor\", \"shape\": "
        "\"plane\"}]}");
    FilSceneOverlaps found = {.apart = {.count = 0}};
    FilError error;
    CHECK(scene != NULL && fil_scene_overlaps(scene, 1, NULL, &found, &error) == FIL_OK);
    CHECK(found.apart.count == 1 && found.inside.count >= 1);
    CHECK_NEAR(found.apart.depth, 0.0005, 1e-6, 0.0);
    CHECK(found.apart.a.index + found.apart.b.index == 1);
    CHECK(found.inside.a.kind == FIL_BODY_ROD && found.inside.a.index == 2);
    CHECK(found.inside.b.kind == FIL_BODY_OBSTACLE && found.inside.b.index == 0);
    CHECK(found.inside.depth > -found.inside.a.point[2] - 1e-9 && found.inside.depth > 1e-4);
    fil_scene_destroy(scene);
}

#define TESTS(X)                                      \
    X(combed_hair_rises_and_hangs)                    \
    X(combed_hairs_do_not_cross)                      \
    X(combed_hair_is_refused_with_a_start_of_its_own) \
    X(upright_curls_stand_on_the_scalp)               \
    X(braids_have_any_number_of_strands)              \
    X(rails_are_capsules_end_to_end)                  \
    X(overlaps_are_found_before_a_step)

CHECK_MAIN(TESTS)
