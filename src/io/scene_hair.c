// scene_hair.c - hair on a head.
//
// Roots. On a sphere: the points of a golden spiral over the cap around `towards`, each of which
// stands for the same area, moved by a part of their distance. On a mesh: strata of equal area over
// the triangles that lie within the angle, seen from the mean of its vertices, one random point in
// each. Hair i draws from its own random numbers, so that more hairs leave the first ones alone.
//
// Curls. A helix of radius r and pitch 2 pi p has the curvature r / (r^2 + p^2) and the torsion
// p / (r^2 + p^2); which way it bends first is random. Hairs that are combed down: scene_laid.c.
#include "scene_build.h"

#include <math.h>

#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/fit.h"

#define PI 3.14159265358979323846

typedef struct Scalp {
    const FilHairSpec *spec;
    const FilSceneObstacle *head;
    double middle[3]; // direction of the middle, of unit length
    double cap;       // 1 - cos(spread)
    double lift;      // m
    double *area;     // mesh: [count] running sum over the triangles within
    int *triangle;    // mesh: [count]
    int count;
} Scalp;

static void normalise(double a[3]) {
    const double size = fil_norm3(a);
    for (int k = 0; k < 3; k++) {
        a[k] /= size;
    }
}

// ----------------------------------------------------------------------------------------- roots

static void sphere_root(const Scalp *scalp, int index, FilRandom *random, double place[3],
                        double normal[3]) {
    const FilHairSpec *spec = scalp->spec;
    const double radius = scalp->head->shape.radius;
    const double z = 1.0 - scalp->cap * (index + 0.5) / spec->count;
    const double angle = PI * (3.0 - sqrt(5.0)) * index, rho = sqrt(fmax(1.0 - z * z, 0.0));
    const double apart = sqrt(2.0 * PI * scalp->cap / spec->count) * spec->vary.place;
    double axis[3][3];
    static const double up[3] = {0.0, 0.0, 1.0};
    fil_axes_along(scalp->middle, up, axis);
    const double local[3] = {z + 0.5 * apart * fil_random_uniform(random, -1.0, 1.0),
                             rho * cos(angle) + 0.5 * apart * fil_random_uniform(random, -1.0, 1.0),
                             rho * sin(angle) +
                                 0.5 * apart * fil_random_uniform(random, -1.0, 1.0)};
    for (int k = 0; k < 3; k++) {
        normal[k] = local[0] * axis[0][k] + local[1] * axis[1][k] + local[2] * axis[2][k];
    }
    normalise(normal);
    fil_copy3(scalp->head->pose.position, place);
    fil_add3(radius + scalp->lift, normal, place);
}

// The corners of a triangle in the world, and its normal, as long as twice its area.
static void corners_of(const FilSceneObstacle *head, int triangle, double corner[3][3],
                       double normal[3]) {
    const double *vertices = fil_mesh_vertices(head->shape.mesh);
    const int *three = fil_mesh_triangles(head->shape.mesh) + 3 * (ptrdiff_t)triangle;
    double a[3], b[3];
    for (int c = 0; c < 3; c++) {
        const double *local = vertices + 3 * (ptrdiff_t)three[c];
        fil_copy3(head->pose.position, corner[c]);
        for (int k = 0; k < 3; k++) {
            fil_add3(local[k], head->pose.axis[k], corner[c]);
        }
    }
    fil_subtract3(corner[1], corner[0], a);
    fil_subtract3(corner[2], corner[0], b);
    fil_cross3(a, b, normal);
}

static void mesh_root(const Scalp *scalp, int index, FilRandom *random, double place[3],
                      double normal[3]) {
    FIL_ASSERT(scalp->area != NULL && scalp->count > 0);
    const double total = scalp->area[scalp->count - 1];
    const double at = total * (index + fil_random_uniform(random, 0.0, 1.0)) / scalp->spec->count;
    int low = 0, high = scalp->count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (scalp->area[middle] < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    double corner[3][3], u = fil_random_uniform(random, 0.0, 1.0);
    double v = fil_random_uniform(random, 0.0, 1.0);
    corners_of(scalp->head, scalp->triangle[low], corner, normal);
    if (u + v > 1.0) {
        u = 1.0 - u;
        v = 1.0 - v;
    }
    for (int k = 0; k < 3; k++) {
        place[k] = (1.0 - u - v) * corner[0][k] + u * corner[1][k] + v * corner[2][k];
    }
    normalise(normal);
    fil_add3(scalp->lift, normal, place);
}

// The triangles of the hairy part.
static FilStatus survey_mesh(FilSceneBuild *build, Scalp *scalp) {
    const FilMesh *mesh = scalp->head->shape.mesh;
    const int triangles = fil_mesh_triangle_count(mesh), n = fil_mesh_vertex_count(mesh);
    const double *vertices = fil_mesh_vertices(mesh);
    scalp->area = FIL_NEW(build->arena, double, triangles);
    scalp->triangle = FIL_NEW(build->arena, int, triangles);
    if (build->arena->failed) {
        return fil_scene_no_memory(build);
    }
    double centre[3];
    fil_copy3(scalp->head->pose.position, centre);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            fil_add3(vertices[3 * i + k] / n, scalp->head->pose.axis[k], centre);
        }
    }
    double sum = 0.0;
    for (int t = 0; t < triangles; t++) {
        double corner[3][3], normal[3], arm[3];
        corners_of(scalp->head, t, corner, normal);
        for (int k = 0; k < 3; k++) {
            arm[k] = (corner[0][k] + corner[1][k] + corner[2][k]) / 3.0 - centre[k];
        }
        if (fil_dot3(arm, scalp->middle) >= (1.0 - scalp->cap) * fil_norm3(arm) &&
            fil_norm3(normal) > 0.0) {
            sum += 0.5 * fil_norm3(normal);
            scalp->area[scalp->count] = sum;
            scalp->triangle[scalp->count++] = t;
        }
    }
    if (scalp->count == 0) {
        return fil_table_fail(&build->decoder, &fil_spec_hair, scalp->spec,
                              offsetof(FilHairSpec, spread),
                              "holds no triangle of the mesh; make it wider");
    }
    return FIL_OK;
}

static FilStatus find_head(FilSceneBuild *build, const FilHairSpec *spec, Scalp *scalp) {
    const FilScene *scene = &build->holder->scene;
    const int index = fil_scene_find_obstacle(scene, spec->on);
    if (index < 0) {
        return fil_table_fail(&build->decoder, &fil_spec_hair, spec, offsetof(FilHairSpec, on),
                              "is \"%.40s\"; there is no obstacle of that name", spec->on);
    }
    scalp->head = &scene->obstacles[index];
    const FilShapeKind kind = scalp->head->shape.kind;
    if (kind != FIL_SHAPE_SPHERE && kind != FIL_SHAPE_MESH) {
        return fil_table_fail(&build->decoder, &fil_spec_hair, spec, offsetof(FilHairSpec, on),
                              "is a %s; hair grows on spheres and meshes",
                              fil_scene_shape_name(kind));
    }
    if (!(fil_norm3(spec->towards) > 0.0 && isfinite(fil_norm3(spec->towards)))) {
        return fil_table_fail(&build->decoder, &fil_spec_hair, spec, offsetof(FilHairSpec, towards),
                              "has no direction; it must not be 0");
    }
    scalp->spec = spec;
    fil_copy3(spec->towards, scalp->middle);
    normalise(scalp->middle);
    scalp->cap = 1.0 - cos(fmin(spec->spread, PI));
    // half of them in the scalp: a root that only just touches would be a contact that cannot move
    scalp->lift = GIVEN(hair, spec, FilHairSpec, lift) ? spec->lift
                                                       : 0.5 * fil_scene_contact_radius(&spec->rod);
    return kind == FIL_SHAPE_MESH ? survey_mesh(build, scalp) : FIL_OK;
}

// ----------------------------------------------------------------------------------------- hairs

static double vary(FilRandom *random, double value, double part) {
    return value * (1.0 + part * fil_random_uniform(random, -1.0, 1.0));
}

// A direction across `along` that goes with it: that across the middle of the scalp, turned the
// shortest way. Neighbours get nearly the same, wherever they are.
static void carry_across(const double middle[3], const double along[3], double across[3]) {
    static const double up[3] = {0.0, 0.0, 1.0};
    double axis[3][3], sum[3];
    fil_axes_along(middle, up, axis);
    fil_copy3(along, sum);
    fil_add3(1.0, middle, sum);
    fil_copy3(axis[1], across);
    fil_add3(-fil_dot3(sum, axis[1]) / fmax(1.0 + fil_dot3(middle, along), 1e-12), sum, across);
}

// A helix whose axis is the direction `along`: n0 leans back from it by the angle whose tangent is
// r / p, and with n1 = sin d + cos q, where d is the direction and q is across, d is the helix's
// Darboux vector.
static void stand_upright(const double middle[3], double r, double p, double way,
                          FilRootSpec *root) {
    const double c = p / hypot(r, p), s = r / hypot(r, p);
    double d[3], a[3], b[3], q[3] = {0.0, 0.0, 0.0};
    fil_copy3(root->along, d);
    normalise(d);
    carry_across(middle, d, a);
    fil_cross3(d, a, b);
    fil_add3(cos(way), a, q);
    fil_add3(sin(way), b, q);
    fil_cross3(d, q, root->up);
    for (int k = 0; k < 3; k++) {
        root->along[k] = c * d[k] - s * q[k];
    }
}

static void curl(const Scalp *scalp, FilRandom *random, FilRodSpec *hair) {
    const FilHairSpec *spec = scalp->spec;
    const double r = vary(random, spec->curl.radius, spec->vary.curl);
    const double p = vary(random, spec->curl.pitch, spec->vary.curl) / (2.0 * PI);
    const double way = spec->vary.phase * fil_random_uniform(random, -1.0, 1.0);
    const double scale = 1.0 / (r * r + p * p);
    FilNaturalSpec *natural = &hair->natural;
    natural->curvature[0] = r * scale * (spec->curl.upright ? 1.0 : cos(way));
    natural->curvature[1] = r * scale * (spec->curl.upright ? 0.0 : sin(way));
    natural->twist = p * scale;
    natural->table.count = 0;
    if (spec->curl.upright) {
        stand_upright(scalp->middle, r, p, way, &hair->root);
    }
}

static FilStatus make_hair(FilSceneBuild *build, const Scalp *scalp, int index, FilRandom *random,
                           FilRodSpec *hair) {
    const FilHairSpec *spec = scalp->spec;
    double normal[3], turn[3], R[9], along[3];
    if (scalp->head->shape.kind == FIL_SHAPE_SPHERE) {
        sphere_root(scalp, index, random, hair->root.at, normal);
    } else {
        mesh_root(scalp, index, random, hair->root.at, normal);
    }
    fil_copy3(normal, along);
    fil_add3(1.0, spec->comb, along);
    if (!(fil_norm3(along) > 1e-6)) {
        fil_copy3(normal, along);
    }
    for (int k = 0; k < 3; k++) {
        turn[k] = spec->vary.direction * fil_random_uniform(random, -1.0, 1.0);
    }
    fil_rotation_exp(turn, R);
    fil_apply3(R, along, hair->root.along);
    hair->length = vary(random, spec->rod.length, spec->vary.length);
    if (spec->curl.head.json != NULL) {
        curl(scalp, random, hair);
    }
    return spec->laid.head.json != NULL ? fil_scene_lay_hair(build, spec, normal, hair) : FIL_OK;
}

static FilStatus check_hairs(const FilSceneBuild *build, const FilHairSpec *spec) {
    if (spec->rod.element_lengths.count > 0 && spec->vary.length > 0.0) {
        return fil_table_fail(&build->decoder, &fil_spec_vary, &spec->vary,
                              offsetof(FilVarySpec, length),
                              "cannot vary where element_lengths are given");
    }
    if (spec->laid.head.json == NULL) {
        return FIL_OK;
    }
    if (!(fil_norm3(spec->laid.down) > 0.0 && isfinite(fil_norm3(spec->laid.down)))) {
        return fil_table_fail(&build->decoder, &fil_spec_laid, &spec->laid,
                              offsetof(FilLaidSpec, down), "has no direction; it must not be 0");
    }
    if (spec->rod.element_lengths.count > 0 || spec->curl.upright ||
        GIVEN(rod, &spec->rod, FilRodSpec, start)) {
        return fil_table_fail(&build->decoder, &fil_spec_hair, spec, offsetof(FilHairSpec, laid),
                              "says how hairs start; start, element_lengths and curl.upright must "
                              "not");
    }
    return FIL_OK;
}

static FilStatus add_hairs(FilSceneBuild *build, const FilHairSpec *spec) {
    Scalp scalp = {0};
    FilPose unused;
    FilScene *scene = &build->holder->scene;
    FIL_TRY(find_head(build, spec, &scalp));
    FIL_ASSERT(scalp.head != NULL && scalp.spec != NULL);
    FIL_ASSERT(scalp.head->shape.kind == FIL_SHAPE_SPHERE || scalp.area != NULL);
    FIL_TRY(fil_scene_pattern(build, &spec->rod, "hairs", &unused));
    FIL_TRY(check_hairs(build, spec));
    FilRodSpec hair = spec->rod;
    if (hair.root.follows == NULL && hair.root.motion.head.json == NULL) {
        hair.root.follows = spec->on;
    }
    for (int k = 0; k < spec->count; k++) {
        FilRandom random = fil_scene_random(build, spec->seed, k);
        FilSceneRod *rod = &build->rods[scene->rod_count];
        hair.natural = spec->rod.natural;
        fil_copy3(spec->rod.root.up, hair.root.up);
        FIL_TRY(make_hair(build, &scalp, k, &random, &hair));
        FIL_TRY(fil_scene_rod_shape(build, &hair, rod));
        FIL_TRY(fil_scene_rod_ends(build, &hair, fil_scene_item_name(build, spec->name, k), rod));
        scene->rod_count++;
    }
    return FIL_OK;
}

FilStatus fil_scene_build_hairs(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.hairs.count; k++) {
        FIL_TRY(add_hairs(build, &build->spec.hairs.items[k]));
    }
    return FIL_OK;
}
