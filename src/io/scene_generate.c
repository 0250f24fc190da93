// scene_generate.c - arrays, bundles, piles and braids.
//
// Array: copies of one rod or body, moved, and turned about their own place.
// Bundle: the points of the hexagonal lattice a i + b j with the smallest i^2 + i j + j^2; with
// turns, strand p is the helix around the axis at the distance of its lattice point, and longer
// than the axis accordingly.
// Pile: strand k lies k spacings above the first, turned about the pile's axis through its middle,
// so that straight strands do not touch, whichever way they lie. Braid: strand k of n, phi = 2 pi x
// / pitch + 2 pi k / n:
//     across = width / 2 sin phi,   above = thickness / 2 sin((n - 1) phi + c),
// c = 0 for odd n, pi / 2 for even n. Strands j and j + k pass each other where the sines of phi
// are equal; there they are thickness |sin(pi k / n)| apart, and each goes over and under in turn.
// Two strands make a rope.
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

enum { POINTS_MIN = 64, POINTS_MAX = 4000, PERIOD_POINTS = 48 };

static void jitter_of(const FilArraySpec *spec, FilRandom *random, double shift[3], double R[9]) {
    double turn[3];
    for (int k = 0; k < 3; k++) {
        shift[k] += fil_random_uniform(random, -1.0, 1.0) * spec->jitter;
        turn[k] = fil_random_uniform(random, -1.0, 1.0) * spec->turn_jitter;
    }
    fil_rotation_exp(turn, R);
}

static void move_pose(const double shift[3], const double R[9], FilPose *pose) {
    fil_add3(1.0, shift, pose->position);
    for (int k = 0; k < 3; k++) {
        double axis[3];
        fil_copy3(pose->axis[k], axis);
        fil_apply3(R, axis, pose->axis[k]);
    }
}

// ---------------------------------------------------------------------------------------- arrays

static FilStatus copy_item(FilSceneBuild *build, const FilArraySpec *spec, int index,
                           const FilSceneRod *rod, const FilSceneBody *body) {
    FilScene *scene = &build->holder->scene;
    const int *count = spec->count;
    const int layer = index / count[0] / count[1];
    double shift[3] = {spec->spacing[0] * (index % count[0]),
                       spec->spacing[1] * (index / count[0] % count[1]), spec->spacing[2] * layer};
    double R[9];
    FilRandom random = fil_scene_random(build, spec->seed, index);
    jitter_of(spec, &random, shift, R);
    const char *name = fil_scene_item_name(build, spec->name, index);
    if (rod != NULL) {
        FilSceneRod *out = &build->rods[scene->rod_count];
        *out = *rod;
        move_pose(shift, R, &out->def.root);
        FIL_TRY(fil_scene_rod_ends(build, &spec->rod, name, out));
        scene->rod_count++;
    } else {
        FilSceneBody *out = &build->bodies[scene->body_count++];
        *out = *body;
        move_pose(shift, R, &out->pose);
        out->name = name;
    }
    return FIL_OK;
}

static FilStatus add_array(FilSceneBuild *build, const FilArraySpec *spec) {
    const bool rods = spec->rod.head.json != NULL, bodies = spec->body.head.json != NULL;
    if (rods == bodies) {
        return fil_json_fail(build->decoder.document, spec->head.json, build->error,
                             "must have a rod or a body, and not both");
    }
    FilSceneRod rod;
    FilSceneBody body = {0};
    FIL_TRY(rods ? fil_scene_rod_shape(build, &spec->rod, &rod)
                 : fil_scene_body(build, &spec->body, &body));
    const int count = spec->count[0] * spec->count[1] * spec->count[2]; // counted before
    for (int i = 0; i < count; i++) {
        FIL_TRY(copy_item(build, spec, i, rods ? &rod : NULL, &body));
    }
    return FIL_OK;
}

FilStatus fil_scene_build_arrays(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.arrays.count; k++) {
        FIL_TRY(add_array(build, &build->spec.arrays.items[k]));
    }
    return FIL_OK;
}

// --------------------------------------------------------------------------------------- bundles

typedef struct Lattice {
    int i, j, square;
} Lattice;

static int compare_lattice(const void *a, const void *b) {
    const Lattice *x = a, *y = b;
    if (x->square != y->square) {
        return x->square < y->square ? -1 : 1;
    }
    if (x->i != y->i) {
        return x->i < y->i ? -1 : 1;
    }
    return (x->j > y->j) - (x->j < y->j);
}

// The `count` points nearest to the middle. A disc of radius r holds about 3.6 r^2 of them.
static FilStatus make_lattice(FilSceneBuild *build, int count, Lattice **out) {
    const int reach = (int)ceil(1.3 * sqrt(count / 3.6)) + 2, width = 2 * reach + 1;
    Lattice *points = FIL_NEW(build->arena, Lattice, (size_t)width * (size_t)width);
    if (points == NULL) {
        return fil_scene_no_memory(build);
    }
    int used = 0;
    for (int i = -reach; i <= reach; i++) {
        for (int j = -reach; j <= reach; j++) {
            points[used++] = (Lattice){.i = i, .j = j, .square = i * i + i * j + j * j};
        }
    }
    qsort(points, (size_t)used, sizeof *points, compare_lattice);
    *out = points;
    return FIL_OK;
}

// A strand at (y, z) of the section that turns about the axis.
static FilStatus turn_strand(FilSceneBuild *build, const FilBundleSpec *spec, const FilPose *root,
                             const double place[2], const char *name) {
    const double length = spec->rod.length, angle = 2.0 * PI * spec->turns;
    const int wanted = (int)fmin(fabs(spec->turns), 1e4) * PERIOD_POINTS + POINTS_MIN;
    const int count = wanted < POINTS_MAX ? wanted : POINTS_MAX;
    FilVec3 *points = FIL_NEW(build->arena, FilVec3, count);
    if (points == NULL) {
        return fil_scene_no_memory(build);
    }
    for (int k = 0; k < count; k++) {
        const double u = (double)k / (count - 1), c = cos(angle * u), s = sin(angle * u);
        fil_copy3(root->position, points[k]);
        fil_add3(u * length, root->axis[0], points[k]);
        fil_add3(c * place[0] - s * place[1], root->axis[1], points[k]);
        fil_add3(s * place[0] + c * place[1], root->axis[2], points[k]);
    }
    return fil_scene_rod_along(build, &spec->rod, points, count, 0.0, name);
}

static FilStatus add_strand(FilSceneBuild *build, const FilBundleSpec *spec, const FilPose *root,
                            int index, const Lattice *lattice, const FilSceneRod *straight) {
    const double spacing = GIVEN(bundle, spec, FilBundleSpec, spacing)
                               ? spec->spacing
                               : 2.02 * fil_scene_contact_radius(&spec->rod);
    FilRandom random = fil_scene_random(build, spec->seed, index);
    double place[2] = {spacing * (lattice->i + 0.5 * lattice->j),
                       spacing * 0.5 * sqrt(3.0) * lattice->j};
    for (int k = 0; k < 2; k++) {
        place[k] += fil_random_uniform(&random, -1.0, 1.0) * spec->jitter;
    }
    const char *name = fil_scene_item_name(build, spec->name, index);
    if (straight == NULL) {
        return turn_strand(build, spec, root, place, name);
    }
    FilScene *scene = &build->holder->scene;
    FilSceneRod *rod = &build->rods[scene->rod_count];
    *rod = *straight;
    fil_add3(place[0], root->axis[1], rod->def.root.position);
    fil_add3(place[1], root->axis[2], rod->def.root.position);
    FIL_TRY(fil_scene_rod_ends(build, &spec->rod, name, rod));
    scene->rod_count++;
    return FIL_OK;
}

static FilStatus add_bundle(FilSceneBuild *build, const FilBundleSpec *spec) {
    const bool turned = spec->turns != 0.0;
    FilPose root;
    FilSceneRod rod;
    Lattice *lattice = NULL;
    FIL_TRY(fil_scene_pattern(build, &spec->rod, "bundles", &root));
    if (!turned) {
        FIL_TRY(fil_scene_rod_shape(build, &spec->rod, &rod));
    }
    FIL_TRY(make_lattice(build, spec->count, &lattice));
    FIL_ASSERT(lattice != NULL);
    for (int i = 0; i < spec->count; i++) {
        FIL_TRY(add_strand(build, spec, &root, i, &lattice[i], turned ? NULL : &rod));
    }
    return FIL_OK;
}

FilStatus fil_scene_build_bundles(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.bundles.count; k++) {
        FIL_TRY(add_bundle(build, &build->spec.bundles.items[k]));
    }
    return FIL_OK;
}

// ----------------------------------------------------------------------------------------- piles

// A rod of the pile whose axes are `pile`: its middle is moved along and across, then it is turned.
static void place_in_pile(const FilPileSpec *spec, const FilPose *pile, double above,
                          FilRandom *random, double length, FilPose *root) {
    double turn[3] = {0.0, 0.0, 0.0}, R[9];
    const double angle = fil_random_uniform(random, -1.0, 1.0) * spec->turn;
    double shift[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        fil_add3(fil_random_uniform(random, -1.0, 1.0) * spec->jitter, pile->axis[k], shift);
    }
    fil_add3(above, pile->axis[2], shift);
    fil_add3(angle, pile->axis[2], turn);
    fil_rotation_exp(turn, R);
    move_pose(shift, R, root);
    fil_add3(-0.5 * length, root->axis[0], root->position);
}

static FilStatus add_pile(FilSceneBuild *build, const FilPileSpec *spec) {
    FilScene *scene = &build->holder->scene;
    const double spacing = GIVEN(pile, spec, FilPileSpec, spacing)
                               ? spec->spacing
                               : 2.02 * fil_scene_contact_radius(&spec->rod);
    FilPose pile;
    FilSceneRod rod;
    FIL_TRY(fil_scene_pattern(build, &spec->rod, "piles", &pile));
    FIL_TRY(fil_scene_rod_shape(build, &spec->rod, &rod));
    for (int i = 0; i < spec->count; i++) {
        FilRandom random = fil_scene_random(build, spec->seed, i);
        FilSceneRod *out = &build->rods[scene->rod_count];
        *out = rod;
        place_in_pile(spec, &pile, spacing * i, &random, rod.def.length, &out->def.root);
        FIL_TRY(
            fil_scene_rod_ends(build, &spec->rod, fil_scene_item_name(build, spec->name, i), out));
        scene->rod_count++;
    }
    return FIL_OK;
}

FilStatus fil_scene_build_piles(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.piles.count; k++) {
        FIL_TRY(add_pile(build, &build->spec.piles.items[k]));
    }
    return FIL_OK;
}

// ---------------------------------------------------------------------------------------- braids

static void braid_at(const FilBraidSpec *spec, int strand, double x, double out[3]) {
    const int n = spec->strands;
    const double phi = 2.0 * PI * (x / spec->pitch + (double)strand / n);
    out[0] = x;
    out[1] = 0.5 * spec->width * sin(phi);
    out[2] = 0.5 * spec->thickness * sin((n - 1) * phi + (n % 2 == 0 ? 0.5 * PI : 0.0));
}

static double distance(const double a[3], const double b[3]) {
    double edge[3];
    fil_subtract3(a, b, edge);
    return fil_norm3(edge);
}

// Arc length of one period, and the least distance of two strands.
static double measure_braid(const FilBraidSpec *spec, double *gap) {
    enum { PARTS = 240 };
    double length = 0.0, a[3], b[3], before[3];
    *gap = INFINITY;
    braid_at(spec, 0, 0.0, before);
    for (int i = 1; i <= PARTS; i++) {
        braid_at(spec, 0, spec->pitch * i / PARTS, a);
        length += distance(a, before);
        fil_copy3(a, before);
        const int others = (spec->strands / 2) * (PARTS + 1);
        for (int k = 0; k < others; k++) {
            const int j = k % (PARTS + 1) - PARTS / 2, strand = 1 + k / (PARTS + 1);
            braid_at(spec, strand, spec->pitch * (i + j) / PARTS, b);
            *gap = fmin(*gap, distance(a, b));
        }
    }
    return length;
}

static FilStatus add_braid(FilSceneBuild *build, const FilBraidSpec *spec) {
    FilPose root;
    double gap = 0.0;
    FIL_TRY(fil_scene_pattern(build, &spec->rod, "braids", &root));
    const double period = measure_braid(spec, &gap), radius = fil_scene_contact_radius(&spec->rod);
    if (!(gap >= 2.0 * radius)) {
        return fil_json_fail(build->decoder.document, spec->head.json, build->error,
                             "brings its strands to %.3g m of each other; their contact radius of "
                             "%.3g m needs %.3g m",
                             gap, radius, 2.0 * radius);
    }
    const double reach = spec->rod.length * spec->pitch / period;
    const int wanted = (int)fmin(reach / spec->pitch * PERIOD_POINTS, 1e6) + POINTS_MIN;
    const int count = wanted < POINTS_MAX ? wanted : POINTS_MAX;
    for (int strand = 0; strand < spec->strands; strand++) {
        FilVec3 *points = FIL_NEW(build->arena, FilVec3, count);
        if (points == NULL) {
            return fil_scene_no_memory(build);
        }
        for (int k = 0; k < count; k++) {
            double local[3];
            braid_at(spec, strand, reach * k / (count - 1), local);
            fil_copy3(root.position, points[k]);
            for (int axis = 0; axis < 3; axis++) {
                fil_add3(local[axis], root.axis[axis], points[k]);
            }
        }
        FIL_TRY(fil_scene_rod_along(build, &spec->rod, points, count, spec->rod.length,
                                    fil_scene_item_name(build, spec->name, strand)));
        FIL_TRY(fil_scene_check_fit(build, &spec->rod, gap));
    }
    return FIL_OK;
}

FilStatus fil_scene_build_braids(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.braids.count; k++) {
        FIL_TRY(add_braid(build, &build->spec.braids.items[k]));
    }
    return FIL_OK;
}
