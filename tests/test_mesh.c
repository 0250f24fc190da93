// Closed meshes: what is accepted and refused, moments, closest points, files.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "check.h"
#include "collide/mesh.h"
#include "collide/sweep_mesh.h"
#include "collide/touch_mesh.h"
#include "collide/triangle.h"
#include "failing_allocator.h"
#include "io/mesh_read.h"
#include "math/vec3.h"
#include "mesh_shapes.h"

#include <unistd.h>

// ------------------------------------------------------------------------------------- making

static void refuse(const double *v, int vertices, const int *t, int triangles, const char *has) {
    FilMesh *mesh = NULL;
    FilError error = {0};
    CHECK(fil_mesh_create(v, vertices, t, triangles, NULL, &mesh, &error) == FIL_E_ARGUMENT);
    CHECK(mesh == NULL);
    if (strstr(error.text, has) == NULL) {
        (void)fprintf(stderr, "got: %s\n", error.text);
        CHECK(!"the message says so");
    }
}

static void bad_meshes_are_refused_with_the_place(void) {
    const double size[3] = {1.0, 1.0, 1.0};
    double v[8][3];
    int t[13][3];
    box_vertices(size, v);
    memcpy(t, box_triangles, sizeof box_triangles);
    refuse(v[0], 8, t[0], 11, "belongs to one triangle alone: the mesh is not closed");
    refuse(v[0], 3, t[0], 12, "has 3 vertices");
    refuse(v[0], 8, t[0], 2, "has 2 triangles");
    memcpy(t[12], (int[3]){0, 1, 2}, sizeof t[12]);
    refuse(v[0], 8, t[0], 13, "belongs to more than two triangles");
    memcpy(t[3], (int[3]){5, 6, 7}, sizeof t[3]);
    refuse(v[0], 8, t[0], 12, "in the same direction: one of its triangles is inside out");
    memcpy(t[3], (int[3]){5, 7, 8}, sizeof t[3]);
    refuse(v[0], 8, t[0], 12, "triangle 3 has vertex 8;");
    memcpy(t, box_triangles, sizeof box_triangles);
    v[3][1] = (double)NAN;
    refuse(v[0], 8, t[0], 12, "vertex 3 has the coordinate");
    box_vertices(size, v);
    for (int i = 0; i < 12; i++) {
        const int swap = t[i][1];
        t[i][1] = t[i][2];
        t[i][2] = swap;
    }
    refuse(v[0], 8, t[0], 12, "is inside out: its volume is -1 m^3");
    for (int i = 0; i < 8; i++) {
        v[i][2] = 0.0;
    }
    refuse(v[0], 8, box_triangles[0], 12, "");
}

// A soup of triangles with their own vertices, one of them twisted flat, and unused ones: all
// joined, dropped or left out.
static void soup_is_joined(void) {
    const double size[3] = {1.0, 2.0, 3.0};
    double v[8][3], soup[40][3];
    int t[13][3];
    box_vertices(size, v);
    for (int i = 0; i < 36; i++) {
        fil_copy3(v[box_triangles[i / 3][i % 3]], soup[i]);
        t[i / 3][i % 3] = i;
    }
    for (int i = 36; i < 40; i++) {
        fil_copy3(v[0], soup[i]);
        soup[i][0] += 100.0;
    }
    soup[0][0] += 0.0;
    memcpy(t[12], (int[3]){0, 0, 5}, sizeof t[12]);
    FilMesh *mesh = mesh_make(soup[0], 40, t[0], 13);
    CHECK(fil_mesh_vertex_count(mesh) == 8);
    CHECK(fil_mesh_triangle_count(mesh) == 12);
    CHECK(mesh->edge_count == 18);
    CHECK_NEAR(mesh->moments.volume, 6.0, 1e-14, 0.0);
    int sharp = 0;
    for (int e = 0; e < mesh->edge_count; e++) {
        sharp += mesh->sharp_edges[e];
    }
    CHECK(sharp == 12);
    fil_mesh_destroy(mesh);
}

// A vertex in the middle of an edge, which one side does not know: a triangle without area seams
// them. Inside and outside are still told apart there.
static void seam_without_area_does_no_harm(void) {
    const double size[3] = {1.0, 1.0, 1.0};
    double v[9][3];
    int t[14][3];
    box_vertices(size, v);
    // triangle 2 (4 5 6) is cut at the middle of its edge 4 5; the seam 4 5 8 closes it
    v[8][0] = 0.0, v[8][1] = -0.5, v[8][2] = 0.5;
    memcpy(t, box_triangles, sizeof box_triangles);
    memcpy(t[2], (int[3]){4, 8, 6}, sizeof t[2]);
    memcpy(t[12], (int[3]){8, 5, 6}, sizeof t[12]);
    memcpy(t[13], (int[3]){4, 5, 8}, sizeof t[13]);
    FilMesh *mesh = mesh_make(v[0], 9, t[0], 14);
    CHECK_NEAR(mesh->moments.volume, 1.0, 1e-14, 0.0);
    FilRandom random = fil_random_make(4);
    for (int i = 0; i < 2000; i++) {
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = v[8][k] + fil_random_uniform(&random, -0.3, 0.3);
        }
        const bool inside = fabs(p[0]) < 0.5 && fabs(p[1]) < 0.5 && fabs(p[2]) < 0.5;
        CHECK(fil_mesh_contains(mesh, p) == inside);
    }
    fil_mesh_destroy(mesh);
}

// A box with a box cut out of its middle is a mesh of two parts; the cavity alone is inside out.
static void cavities_are_allowed(void) {
    double v[16][3];
    int t[24][3];
    const double outer[3] = {2.0, 2.0, 2.0}, inner[3] = {1.0, 1.0, 1.0};
    box_vertices(outer, v);
    box_vertices(inner, v + 8);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 3; k++) {
            t[i][k] = box_triangles[i][k];
            t[12 + i][k] = 8 + box_triangles[i][2 - k];
        }
    }
    FilMesh *mesh = mesh_make(v[0], 16, t[0], 24);
    CHECK_NEAR(mesh->moments.volume, 7.0, 1e-14, 0.0);
    CHECK(fil_mesh_contains(mesh, (double[3]){0.7, 0.0, 0.0}));
    CHECK(!fil_mesh_contains(mesh, (double[3]){0.2, 0.1, 0.0}));
    fil_mesh_destroy(mesh);
    for (int i = 8; i < 16; i++) {
        v[i][0] += 5.0; // no longer within
    }
    refuse(v[0], 16, t[0], 24, "is inside out");
}

// ------------------------------------------------------------------------------------ moments

// Against a mean over random points.
static void check_moments(const FilShape *shape, const double half[3],
                          bool (*inside)(const FilShape *, const double *)) {
    FilSolidMoments got;
    FilRandom random = fil_random_make(11);
    const int count = 400000;
    int hits = 0;
    double first[3] = {0}, second[3][3] = {{0}};
    fil_shape_moments(shape, &got);
    for (int i = 0; i < count; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = fil_random_uniform(&random, -half[k], half[k]);
        }
        if (!inside(shape, x)) {
            continue;
        }
        hits++;
        for (int j = 0; j < 3; j++) {
            first[j] += x[j];
            for (int k = 0; k < 3; k++) {
                second[j][k] += x[j] * x[k];
            }
        }
    }
    const double box = 8.0 * half[0] * half[1] * half[2], volume = box * hits / count;
    CHECK_NEAR(got.volume, volume, 0.01, 0.0);
    const double size = fmax(half[0], fmax(half[1], half[2]));
    for (int j = 0; j < 3; j++) {
        first[j] /= hits;
        CHECK_NEAR(got.centre[j], first[j], 0.0, 0.005 * size);
    }
    double trace = 0.0;
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) {
            second[j][k] = second[j][k] / hits - first[j] * first[k];
        }
        trace += second[j][j];
    }
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) {
            const double want = (j == k ? trace : 0.0) - second[j][k];
            CHECK_NEAR(got.inertia[j][k] / got.volume, want, 0.01, 0.005 * size * size);
        }
    }
}

static bool in_capsule(const FilShape *s, const double *x) {
    const double t = fmax(-0.5 * s->length, fmin(0.5 * s->length, x[0]));
    return (x[0] - t) * (x[0] - t) + x[1] * x[1] + x[2] * x[2] < s->radius * s->radius;
}

static bool in_cylinder(const FilShape *s, const double *x) {
    return fabs(x[0]) < 0.5 * s->length && x[1] * x[1] + x[2] * x[2] < s->radius * s->radius;
}

static bool in_mesh(const FilShape *s, const double *x) {
    return fil_mesh_contains(s->mesh, x);
}

static void moments_agree_with_random_points(void) {
    const FilShape capsule = {.kind = FIL_SHAPE_CAPSULE, .radius = 0.5, .length = 1.2};
    check_moments(&capsule, (double[3]){1.1, 0.5, 0.5}, in_capsule);
    const FilShape sphere = {.kind = FIL_SHAPE_SPHERE, .radius = 0.7};
    check_moments(&sphere, (double[3]){0.7, 0.7, 0.7}, in_capsule);
    const FilShape cylinder = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.5, .length = 1.2};
    check_moments(&cylinder, (double[3]){0.6, 0.5, 0.5}, in_cylinder);
    FilMesh *mesh = mesh_corner();
    const FilShape corner = {.kind = FIL_SHAPE_MESH, .mesh = mesh};
    check_moments(&corner, (double[3]){2.0, 2.0, 1.0}, in_mesh);
    fil_mesh_destroy(mesh);
}

static void mesh_moments_are_exact(void) {
    FilMesh *mesh = mesh_box(0.3, 0.5, 0.7);
    const FilShape box = {.kind = FIL_SHAPE_BOX, .size = {0.3, 0.5, 0.7}};
    const FilShape same = {.kind = FIL_SHAPE_MESH, .mesh = mesh};
    FilSolidMoments a, b;
    fil_shape_moments(&box, &a);
    fil_shape_moments(&same, &b);
    CHECK_NEAR(b.volume, a.volume, 1e-14, 0.0);
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(b.inertia[k / 3][k % 3], a.inertia[k / 3][k % 3], 1e-13, 1e-17);
    }
    fil_mesh_destroy(mesh);
    mesh = mesh_torus(0.1, 0.5, 400, 200); // 2 pi^2 r^2 R; the mesh is inside it by 1/n^2
    CHECK_NEAR(mesh->moments.volume, 2.0 * 9.8696044 * 0.01 * 0.5, 5e-4, 0.0);
    const double m = mesh->moments.volume;
    CHECK_NEAR(mesh->moments.inertia[2][2], m * (0.25 + 0.75 * 0.01), 1e-3, 0.0);
    CHECK_NEAR(mesh->moments.inertia[0][0], m * (0.125 + 0.625 * 0.01), 1e-3, 0.0);
    fil_mesh_destroy(mesh);
}

static void shapes_have_names_and_are_checked(void) {
    for (int k = 0; k < FIL_SHAPE_COUNT; k++) {
        CHECK(fil_shape_name((FilShapeKind)k)[0] != '\0');
    }
    CHECK(strcmp(fil_shape_name((FilShapeKind)99), "unknown shape") == 0);
    FilError error;
    FilShape shape = {.kind = FIL_SHAPE_BOX, .size = {1.0, 0.0, 1.0}};
    CHECK(fil_shape_check(&shape, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "the size of a box is 0; it must be positive and finite") == 0);
    shape.size[1] = 1.0;
    CHECK(fil_shape_check(&shape, &error) == FIL_OK);
}

// ------------------------------------------------------------------------------------- queries

// Distance by all triangles, sign by the sum of solid angles.
static double brute_distance(const FilMesh *mesh, const double p[3]) {
    double best = INFINITY, angle = 0.0;
    for (int i = 0; i < mesh->triangle_count; i++) {
        double q[3], far, r[3][3], n[3], c[3];
        (void)fil_triangle_to_point(FIL_ROWS3(mesh->corners[i]), p, q, &far);
        best = fmin(best, far);
        for (int k = 0; k < 3; k++) {
            fil_subtract3(mesh->corners[i][k], p, r[k]);
            n[k] = fil_norm3(r[k]);
        }
        fil_cross3(r[1], r[2], c);
        angle += 2.0 * atan2(fil_dot3(r[0], c), n[0] * n[1] * n[2] + fil_dot3(r[0], r[1]) * n[2] +
                                                    fil_dot3(r[1], r[2]) * n[0] +
                                                    fil_dot3(r[2], r[0]) * n[1]);
    }
    return angle > 6.283185307179586 ? -sqrt(best) : sqrt(best);
}

static void signed_distance_agrees_with_brute_force(void) {
    FilMesh *meshes[4] = {mesh_box(1.0, 0.2, 2.0), mesh_corner(), mesh_torus(0.3, 1.0, 24, 12),
                          mesh_ball(1.0, 7, 9)};
    FilRandom random = fil_random_make(1);
    for (int m = 0; m < 4; m++) {
        for (int i = 0; i < 5000; i++) {
            double p[3];
            for (int k = 0; k < 3; k++) {
                // at times exactly on planes of symmetry, edges and vertices
                p[k] = fil_random_uniform(&random, -2.0, 3.0);
                p[k] = i % 4 == 0 ? round(2.0 * p[k]) / 2.0 : p[k];
            }
            FilMeshPoint found;
            const double want = brute_distance(meshes[m], p);
            CHECK(fil_mesh_closest(meshes[m], p, INFINITY, &found));
            CHECK_NEAR(fabs(found.distance), fabs(want), 1e-12, 1e-14);
            CHECK(fabs(want) < 1e-9 || (found.distance < 0.0) == (want < 0.0));
            CHECK(!fil_mesh_closest(meshes[m], p, 0.999 * fabs(want), &found));
        }
        fil_mesh_destroy(meshes[m]);
    }
}

// Triangle and segment: against a fine sampling of the segment.
static void segment_to_triangle_agrees_with_sampling(void) {
    FilRandom random = fil_random_make(2);
    for (int i = 0; i < 3000; i++) {
        double corner[3][3], s[2][3], q[3], t, square;
        for (int k = 0; k < 15; k++) {
            const double x =
                i % 3 == 0 ? fil_random_int(&random, 3) : fil_random_uniform(&random, 0.0, 2.0);
            *(k < 9 ? &corner[k / 3][k % 3] : &s[(k - 9) / 3][k % 3]) = x;
        }
        (void)fil_triangle_to_segment(FIL_ROWS3(corner), FIL_ROWS3(s), &t, q, &square);
        double least = INFINITY, way[3];
        const int samples = 400;
        for (int j = 0; j <= samples; j++) {
            double p[3], foot[3], far;
            for (int k = 0; k < 3; k++) {
                p[k] = s[0][k] + (s[1][k] - s[0][k]) * j / samples;
            }
            (void)fil_triangle_to_point(FIL_ROWS3(corner), p, foot, &far);
            least = fmin(least, far);
        }
        fil_subtract3(s[1], s[0], way);
        const double off = sqrt(least) - sqrt(square);
        CHECK(off > -1e-9 && off < fil_norm3(way) / samples + 1e-9);
        double p[3], d[3];
        for (int k = 0; k < 3; k++) {
            p[k] = s[0][k] + t * (s[1][k] - s[0][k]);
        }
        fil_subtract3(p, q, d);
        CHECK_NEAR(fil_norm3(d), sqrt(square), 1e-9, 1e-12);
    }
}

// ------------------------------------------------------------------------------------- capsules

// Every touch: on_a - on_b = gap normal, unit normal, features all different; the deepest gap is
// the least signed distance along the segment.
static void check_touches(const double a[2][3], double radius, const FilMesh *mesh,
                          const FilPose *pose, double reach, bool convex) {
    FilTouch touch[FIL_TOUCH_MAX];
    const int count = fil_touch_capsule_mesh(a, radius, mesh, pose, reach, touch);
    double least = INFINITY, span = 0.0;
    const int samples = 64;
    for (int j = 0; j <= samples; j++) {
        double world[3], p[3];
        for (int k = 0; k < 3; k++) {
            world[k] = a[0][k] + (a[1][k] - a[0][k]) * j / samples;
        }
        fil_pose_to_own(pose, world, p);
        least = fmin(least, brute_distance(mesh, p) - radius);
    }
    for (int k = 0; k < 3; k++) {
        span += (a[1][k] - a[0][k]) * (a[1][k] - a[0][k]);
    }
    const double slack = sqrt(span) / samples + 1e-9;
    CHECK((count > 0) == (least < reach) || fabs(least - reach) < slack);
    for (int i = 0; i < count; i++) {
        double d[3];
        fil_subtract3(touch[i].on_a, touch[i].on_b, d);
        fil_add3(-touch[i].gap, touch[i].normal, d);
        CHECK(fil_norm3(d) < 1e-12);
        CHECK_NEAR(fil_norm3(touch[i].normal), 1.0, 1e-12, 0.0);
        CHECK(touch[i].gap < reach);
        for (int j = 0; j < i; j++) {
            CHECK(touch[i].feature != touch[j].feature);
        }
    }
    if (count > 0 && least > -radius) { // outside: the deepest is found exactly
        CHECK(touch[0].gap < least + 1e-5 * (radius + reach) && touch[0].gap > least - slack);
    } else if (count > 0 && convex) { // inside: at least half as deep
        CHECK(touch[0].gap < -radius + 0.49 * (least + radius) + 1e-9);
    }
}

static void capsules_touch_as_sampling_says(void) {
    FilMesh *meshes[4] = {mesh_box(1.0, 0.4, 2.0), mesh_corner(), mesh_torus(0.3, 1.0, 12, 8),
                          mesh_ball(1.0, 7, 9)};
    FilRandom random = fil_random_make(7);
    for (int m = 0; m < 4; m++) {
        for (int i = 0; i < 500; i++) {
            double a[2][3];
            const FilPose pose = pose_random(&random, 1.0);
            const double length = i % 5 == 0 ? 0.0 : 0.5;
            for (int k = 0; k < 3; k++) {
                a[0][k] = pose.position[k] + fil_random_uniform(&random, -1.5, 1.5);
                a[1][k] = a[0][k] + length * fil_random_uniform(&random, -1.0, 1.0);
            }
            check_touches((const double(*)[3])a, fil_random_uniform(&random, 0.0, 0.1), meshes[m],
                          &pose, 0.05, m == 0 || m == 3);
        }
        fil_mesh_destroy(meshes[m]);
    }
}

static int touch_ball(const FilMesh *mesh, double x, double y, double z, double radius,
                      FilTouch *touch) {
    const double a[2][3] = {{x, y, z}, {x, y, z}};
    const FilPose pose = pose_at(0.0, 0.0, 0.0);
    return fil_touch_capsule_mesh(a, radius, mesh, &pose, 0.01, touch);
}

static void capsule_on_a_face_rests_on_its_two_ends(void) {
    FilMesh *mesh = mesh_box(1.0, 1.0, 1.0);
    const FilPose pose = pose_at(0.0, 0.0, 0.0);
    FilTouch touch[FIL_TOUCH_MAX], later[FIL_TOUCH_MAX];
    double a[2][3] = {{-0.3, -0.2, 0.55}, {0.3, 0.25, 0.55}}; // over the diagonal of the face
    CHECK(fil_touch_capsule_mesh((const double(*)[3])a, 0.05, mesh, &pose, 0.01, touch) == 2);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(touch[i].gap, 0.0, 0.0, 1e-15);
        CHECK_NEAR(touch[i].normal[2], 1.0, 1e-15, 0.0);
    }
    CHECK_NEAR(touch[0].t_a + touch[1].t_a, 1.0, 0.0, 0.0);
    // slid and pressed in a little, its features are the same
    for (int i = 0; i < 2; i++) {
        a[i][0] += 0.15;
        a[i][2] -= 1e-4 * (i + 1);
    }
    CHECK(fil_touch_capsule_mesh((const double(*)[3])a, 0.05, mesh, &pose, 0.01, later) == 2);
    CHECK(later[0].feature == touch[later[0].t_a == touch[0].t_a ? 0 : 1].feature);
    // across an edge: one touch there, along the edge's normals
    const double across[2][3] = {{0.4, 0.0, 0.66}, {0.66, 0.0, 0.4}};
    CHECK(fil_touch_capsule_mesh(across, 0.05, mesh, &pose, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, 0.03 * sqrt(2.0) - 0.05, 1e-12, 0.0);
    CHECK_NEAR(touch[0].t_a, 0.5, 1e-12, 0.0);
    CHECK_NEAR(touch[0].normal[0], sqrt(0.5), 1e-12, 0.0);
    // exactly through the edge, and exactly through a vertex: pushed out
    const double edge[2][3] = {{0.4, 0.0, 0.6}, {0.6, 0.0, 0.4}};
    CHECK(fil_touch_capsule_mesh(edge, 0.05, mesh, &pose, 0.01, touch) >= 1);
    CHECK_NEAR(touch[0].gap, -0.05, 1e-9, 0.0);
    CHECK(touch[0].normal[0] + touch[0].normal[2] > 0.9);
    CHECK(touch_ball(mesh, 0.5, 0.5, 0.5, 0.1, touch) == 1);
    CHECK_NEAR(touch[0].gap, -0.1, 1e-12, 0.0);
    CHECK_NEAR(touch[0].normal[1], sqrt(1.0 / 3.0), 1e-12, 0.0);
    // deep inside: out by the nearest face
    CHECK(touch_ball(mesh, 0.1, 0.2, 0.0, 0.05, touch) == 1);
    CHECK_NEAR(touch[0].gap, -0.35, 1e-12, 0.0);
    CHECK_NEAR(touch[0].normal[1], 1.0, 1e-12, 0.0);
    fil_mesh_destroy(mesh);
}

static void capsule_in_a_corner_touches_both_sides(void) {
    FilMesh *mesh = mesh_corner();
    FilTouch touch[FIL_TOUCH_MAX];
    // in the inner edge at (1, 1): one face with normal x, one with normal y
    const double a[2][3] = {{1.1, 1.1, 0.3}, {1.1, 1.1, 0.7}};
    const FilPose pose = pose_at(0.0, 0.0, 0.0);
    const int count = fil_touch_capsule_mesh(a, 0.1, mesh, &pose, 0.01, touch);
    CHECK(count == 4); // two ends on each of two faces
    double sum[3] = {0};
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(touch[i].gap, 0.0, 0.0, 1e-14);
        fil_add3(1.0, touch[i].normal, sum);
    }
    CHECK(count < 4 || (fabs(sum[0] - 2.0) < 1e-9 && fabs(sum[1] - 2.0) < 1e-9));
    fil_mesh_destroy(mesh);
}

// ---------------------------------------------------------------------------------------- sweep

// A segment thrown at a mesh that moves and turns: the time of the hit against many small steps.
static void sweep_never_misses(void) {
    FilMesh *meshes[3] = {mesh_box(1.0, 0.01, 1.0), mesh_corner(), mesh_torus(0.2, 0.8, 16, 8)};
    FilRandom random = fil_random_make(9);
    int hits = 0;
    for (int i = 0; i < 300; i++) {
        const FilMesh *mesh = meshes[i % 3];
        double a[2][2][3], turn[3], R[9];
        FilPose pose[2];
        pose[0] = pose_random(&random, 0.5);
        for (int k = 0; k < 3; k++) {
            turn[k] = fil_random_uniform(&random, -1.0, 1.0);
            pose[1].position[k] = pose[0].position[k] + fil_random_uniform(&random, -1.0, 1.0);
            a[0][0][k] = fil_random_uniform(&random, -2.0, 2.0);
            a[0][1][k] = a[0][0][k] + fil_random_uniform(&random, -0.3, 0.3);
            a[1][0][k] = a[0][0][k] + fil_random_uniform(&random, -3.0, 3.0);
            a[1][1][k] = a[1][0][k] + fil_random_uniform(&random, -0.3, 0.3);
        }
        fil_rotation_exp(turn, R);
        for (int k = 0; k < 3; k++) {
            fil_apply3(R, pose[0].axis[k], pose[1].axis[k]);
        }
        const double tolerance = i % 2 == 0 ? 0.0 : 0.02;
        const double time = fil_sweep_segment_mesh((const double(*)[2][3])a, mesh, pose, tolerance);
        double first = 2.0;
        for (int j = 0; j <= 1000 && first > 1.0; j++) {
            const double s = j / 1000.0;
            FilPose now;
            double part[3], own[2][3];
            for (int k = 0; k < 3; k++) {
                part[k] = s * turn[k];
                now.position[k] = (1.0 - s) * pose[0].position[k] + s * pose[1].position[k];
            }
            fil_rotation_exp(part, R);
            for (int k = 0; k < 3; k++) {
                fil_apply3(R, pose[0].axis[k], now.axis[k]);
            }
            for (int end = 0; end < 2; end++) {
                double x[3];
                for (int k = 0; k < 3; k++) {
                    x[k] = (1.0 - s) * a[0][end][k] + s * a[1][end][k];
                }
                fil_pose_to_own(&now, x, own[end]);
            }
            const double distance = fil_mesh_segment_distance(mesh, FIL_ROWS3(own), 10.0);
            first = distance <= tolerance || fil_mesh_contains(mesh, own[0]) ? s : first;
        }
        CHECK(time <= first + 1e-12);
        // not much too early: within a few of the samples' steps, unless it only grazes
        CHECK(first > 1.0 || time > first - 0.02);
        hits += first <= 1.0;
    }
    CHECK(hits > 25);
    for (int m = 0; m < 3; m++) {
        fil_mesh_destroy(meshes[m]);
    }
}

static void sweep_of_what_rests_is_clear(void) {
    FilMesh *mesh = mesh_box(1.0, 1.0, 1.0);
    const FilPose pose[2] = {pose_at(0.0, 0.0, 0.0), pose_at(0.0, 0.0, 0.0)};
    const double still[2][2][3] = {{{-0.2, 0.0, 0.51}, {0.2, 0.0, 0.51}},
                                   {{-0.2, 0.0, 0.51}, {0.2, 0.0, 0.51}}};
    CHECK(fil_sweep_segment_mesh(still, mesh, pose, 0.005) > 1.0);
    CHECK(fil_sweep_segment_mesh(still, mesh, pose, 0.02) <= 0.0);
    const double slides[2][2][3] = {{{-0.2, 0.0, 0.51}, {0.2, 0.0, 0.51}},
                                    {{-0.2, 3.0, 0.51}, {0.2, 3.0, 0.51}}};
    CHECK(fil_sweep_segment_mesh(slides, mesh, pose, 0.005) > 1.0);
    const double through[2][2][3] = {{{0.0, 0.0, 2.5}, {0.1, 0.0, 2.5}},
                                     {{0.0, 0.0, -2.5}, {0.1, 0.0, -2.5}}};
    CHECK_NEAR(fil_sweep_segment_mesh(through, mesh, pose, 0.0), 0.4, 1e-9, 0.0);
    const double inside[2][2][3] = {{{0.0, 0.0, 0.1}, {0.1, 0.0, 0.1}},
                                    {{0.0, 0.0, 0.1}, {0.1, 0.0, 0.1}}};
    CHECK(fil_sweep_segment_mesh(inside, mesh, pose, 0.0) <= 0.0);
    fil_mesh_destroy(mesh);
}

// ---------------------------------------------------------------------------------------- files

static FilMesh *read_text(const char *text, size_t size, double scale, FilError *error) {
    FilMesh *mesh = NULL;
    const FilStatus status = fil_mesh_read_memory(text, size, "file", scale, NULL, &mesh, error);
    CHECK((status == FIL_OK) == (mesh != NULL));
    return mesh;
}

#define OBJ_VERTICES                                                                      \
    "v -0.5 -0.5 -0.5\nv .5 -.5 -5e-1 1 0 0\nv -0.5 0.5 -0.5\r\nv 0.5 0.5 -0.5\n# half\n" \
    "v -0.5 -0.5 +0.5\nv 0.5 -0.5 0.5\nv -0.5 0.5 0.5\nv 50.0e-2 0.50000000000000000000000 0.5"
static const char obj_cube[] = "# a cube\r\nmtllib a.mtl\no cube\n" OBJ_VERTICES
                               "\nvn 0 0 1\nf 1 3 4 2\nf 5/1 6/2/3 8//4 7\ns off\n"
                               "f 1 2 6 \\\n 5\nf -6 -2 -1 -5\nf 1 5 7 3\nf 2 4 8 6 # last";

static void obj_files_are_read(void) {
    FilError error = {0};
    FilMesh *mesh = read_text(obj_cube, sizeof obj_cube - 1, 2.0, &error);
    if (mesh == NULL) {
        (void)fprintf(stderr, "%s\n", error.text);
        return;
    }
    CHECK(fil_mesh_vertex_count(mesh) == 8);
    CHECK(fil_mesh_triangle_count(mesh) == 12);
    CHECK_NEAR(mesh->moments.volume, 8.0, 1e-14, 0.0);
    fil_mesh_destroy(mesh);
}

static void bad_obj_files_say_where(void) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "file: there are no vertices in this OBJ file"},
        {"v 0 0 0\n", "file: there are no faces in this OBJ file"},
        {"v 0 0 0\nv 1 0\nf 1 2 3\n", "file: line 2: a vertex has 2 coordinates; it must have 3"},
        {"v 0 0 zero\nf 1 2 3\n", "file: line 1: 'zero' is not a finite number"},
        {"v 0 0 1e999\nf 1 2 3\n", "file: line 1: '1e999' is not a finite number"},
        {"v 0 0 nan\nf 1 2 3\n", "file: line 1: 'nan' is not a finite number"},
        {"v 0 0 0\n\nf 1 2 3\n", "file: line 3: a face has vertex 2; there are 1, counted from 1"},
        {"v 0 0 0\nf 1 1 1 0\n", "file: line 2: a face has vertex 0; there are 1"},
        {"v 0 0 0\nf 1 1 -2\n", "file: line 2: a face has vertex -2; there are 1"},
        {"v 0 0 0\nf 1 1 1\nf 1 1\n", "file: line 3: a face has 2 corners;"},
        {"v 0 0 0\nf 1 1 99999999999999999999\n", "file: line 2: '99999999999999999999' is not a"},
        {"v 0 0 0\n\001\002\003\n", "file: line 2: '\001\002\003' is not the start of a line"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3 4\n", "file: the mesh has 2 triangles;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FilError error = {0};
        CHECK(read_text(cases[i].text, strlen(cases[i].text), 1.0, &error) == NULL);
        CHECK(error.status == FIL_E_FORMAT);
        if (strncmp(error.text, cases[i].says, strlen(cases[i].says)) != 0) {
            (void)fprintf(stderr, "want: %s\ngot:  %s\n", cases[i].says, error.text);
            CHECK(!"the message is as it should be");
        }
    }
}

// A concave polygon: an arrow head whose fan from the first corner would turn over.
static void concave_polygons_are_cut_well(void) {
    static const char text[] = "v 0 0 0\nv 4 -2 0\nv 1 0 0\nv 4 2 0\n"
                               "v 0 0 1\nv 4 -2 1\nv 1 0 1\nv 4 2 1\n"
                               "f 4 3 2 1\nf 6 7 8 5\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    FilError error = {0};
    FilMesh *mesh = read_text(text, sizeof text - 1, 1.0, &error);
    CHECK(mesh != NULL);
    if (mesh != NULL) {
        CHECK_NEAR(mesh->moments.volume, 2.0, 1e-14, 0.0);
        CHECK(!fil_mesh_contains(mesh, (double[3]){3.0, 0.0, 0.5}));
        CHECK(fil_mesh_contains(mesh, (double[3]){3.0, 1.42, 0.5}));
        double worst = 1.0;
        for (int i = 0; i < mesh->triangle_count; i++) {
            worst = fmin(worst, fabs(mesh->triangle_normals[i][2]) > 0.5 ? 1.0 : worst);
        }
        CHECK(worst > 0.0);
    }
    fil_mesh_destroy(mesh);
}

// A PLY cube of quads; order: 0 text, 1 little endian, 2 big endian.
static size_t write_ply(int order, char *out, size_t room) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const double size[3] = {1.0, 2.0, 3.0};
    double v[8][3];
    box_vertices(size, v);
    size_t at = (size_t)snprintf(
        out, room,
        "ply\nformat %s 1.0\ncomment made by hand\nelement extra 1\nproperty list uchar short a\n"
        "element vertex 8\nproperty float x\nproperty uchar red\nproperty double y\n"
        "property float32 z\nelement face 6\nproperty int flag\n"
        "property list uchar int vertex_indices\nend_header\n",
        names[order]);
    if (order == 0) {
        at += (size_t)snprintf(out + at, room - at, "2 7 -8\n");
        for (int i = 0; i < 8; i++) {
            at +=
                (size_t)snprintf(out + at, room - at, "%g 255 %g\n%g\n", v[i][0], v[i][1], v[i][2]);
        }
        for (int i = 0; i < 6; i++) {
            at += (size_t)snprintf(out + at, room - at, "1 4 %d %d %d %d\r\n", quads[i][0],
                                   quads[i][1], quads[i][2], quads[i][3]);
        }
        return at;
    }
#define PUT(type, value)                                                \
    do {                                                                \
        const type x_ = (type)(value);                                  \
        unsigned char b_[sizeof x_];                                    \
        memcpy(b_, &x_, sizeof x_);                                     \
        for (size_t k_ = 0; k_ < sizeof x_; k_++) {                     \
            out[at++] = (char)b_[order == 1 ? k_ : sizeof x_ - 1 - k_]; \
        }                                                               \
    } while (0)
    PUT(uint8_t, 2);
    PUT(int16_t, 7);
    PUT(int16_t, -8);
    for (int i = 0; i < 8; i++) {
        PUT(float, v[i][0]);
        PUT(uint8_t, 255);
        PUT(double, v[i][1]);
        PUT(float, v[i][2]);
    }
    for (int i = 0; i < 6; i++) {
        PUT(int32_t, 1);
        PUT(uint8_t, 4);
        for (int k = 0; k < 4; k++) {
            PUT(int32_t, quads[i][k]);
        }
    }
    return at;
}

static void ply_files_are_read_whole_or_refused(void) {
    for (int order = 0; order < 3; order++) {
        char text[2000];
        FilError error = {0};
        const size_t size = write_ply(order, text, sizeof text);
        FilMesh *mesh = read_text(text, size, 1.0, &error);
        CHECK(mesh != NULL);
        if (mesh != NULL) {
            CHECK_NEAR(mesh->moments.volume, 6.0, 1e-14, 0.0);
            fil_mesh_destroy(mesh);
        }
        for (size_t cut = 0; cut < size - 3; cut++) {
            char *copy = malloc(cut + 1);
            if (copy != NULL) {
                memcpy(copy, text, cut);
                CHECK(read_text(copy, cut, 1.0, &error) == NULL);
                CHECK(error.status == FIL_E_FORMAT);
                free(copy);
            }
        }
    }
}

static void bad_ply_files_say_where(void) {
#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"ply\nelement vertex 3\nend_header\n", "file: line 3: the header has no format"},
        {"ply\nformat utf8 1.0\n", "file: line 2: the format is 'utf8';"},
        {HEAD "element vertex 2000000000\n" XYZ "end_header\n0 0 0\n",
         "file: line 8: the header says 2000000000 vertices, more than the file holds"},
        {HEAD "element vertex -3\n", "file: line 3: '-3' is not a count of elements"},
        {HEAD "element vertex 99999999999\n", "file: line 3: '99999999999' is not a count"},
        {HEAD "property float x\n", "file: line 3: a property comes before the first element"},
        {HEAD "element vertex 1\nproperty quad x\n", "file: line 4: 'quad' is not a type"},
        {HEAD "element vertex 1\nproperty float x\nend_header\n1\n",
         "file: line 6: the vertices lack one of the properties x, y, z"},
        {HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_index\n"
              "end_header\n0 0 0\n3 0 0 1\n",
         "file: line 11: a face has vertex 1; there are 1, counted from 0"},
        {HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_index\n"
              "end_header\n0 0 0\n200 0 0 1\n",
         "file: line 11: a list has 200 values"},
        {HEAD "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_index\n"
              "end_header\n0 0 0\n2 0 0\n",
         "file: line 11: face 0 has 2 corners;"},
        {HEAD "junk\n", "file: line 3: 'junk' does not belong in the header"},
        {HEAD "element vertex 1\n" XYZ "end_header\n0 0 a\n", "file: line 8: 'a' is not a finite"},
        {HEAD "element vertex 1\n" XYZ "end_header\n0 0 0\n", "file: there are no faces in this"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FilError error = {0};
        CHECK(read_text(cases[i].text, strlen(cases[i].text), 1.0, &error) == NULL);
        CHECK(error.status == FIL_E_FORMAT);
        if (strncmp(error.text, cases[i].says, strlen(cases[i].says)) != 0) {
            (void)fprintf(stderr, "want: %s\ngot:  %s\n", cases[i].says, error.text);
            CHECK(!"the message is as it should be");
        }
    }
}

static void files_that_cannot_be_opened_say_why(void) {
    FilMesh *mesh = NULL;
    FilError error = {0};
    CHECK(fil_mesh_read("no/such/file.obj", 1.0, NULL, &mesh, &error) == FIL_E_IO);
    CHECK(strstr(error.text, "no/such/file.obj: cannot open it") == error.text);
    CHECK(fil_mesh_read(".", 1.0, NULL, &mesh, &error) == FIL_E_IO);
    char path[] = "mesh-XXXXXX";
    const int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    CHECK(write(descriptor, obj_cube, sizeof obj_cube - 1) == (ssize_t)sizeof obj_cube - 1);
    (void)close(descriptor);
    CHECK(fil_mesh_read(path, 0.0, NULL, &mesh, &error) == FIL_E_ARGUMENT);
    CHECK(fil_mesh_read(path, 1.0, NULL, &mesh, &error) == FIL_OK);
    fil_mesh_destroy(mesh);
    (void)unlink(path);
}

static void every_allocation_may_fail(void) {
    for (int n = 1; n < 100; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilMesh *mesh = NULL;
        FilError error = {0};
        const FilStatus status = fil_mesh_read_memory(obj_cube, sizeof obj_cube - 1, "file", 1.0,
                                                      &allocator, &mesh, &error);
        fil_mesh_destroy(mesh);
        CHECK(failing_allocator_is_clean(&memory));
        if (memory.failures == 0) {
            CHECK(status == FIL_OK);
            return;
        }
        CHECK(status == FIL_E_NO_MEMORY);
    }
    CHECK(!"it works with enough memory");
}

#define TESTS(X)                                \
    X(bad_meshes_are_refused_with_the_place)    \
    X(soup_is_joined)                           \
    X(seam_without_area_does_no_harm)           \
    X(cavities_are_allowed)                     \
    X(moments_agree_with_random_points)         \
    X(mesh_moments_are_exact)                   \
    X(shapes_have_names_and_are_checked)        \
    X(signed_distance_agrees_with_brute_force)  \
    X(segment_to_triangle_agrees_with_sampling) \
    X(capsules_touch_as_sampling_says)          \
    X(capsule_on_a_face_rests_on_its_two_ends)  \
    X(capsule_in_a_corner_touches_both_sides)   \
    X(sweep_never_misses)                       \
    X(sweep_of_what_rests_is_clear)             \
    X(obj_files_are_read)                       \
    X(bad_obj_files_say_where)                  \
    X(concave_polygons_are_cut_well)            \
    X(ply_files_are_read_whole_or_refused)      \
    X(bad_ply_files_say_where)                  \
    X(files_that_cannot_be_opened_say_why)      \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
