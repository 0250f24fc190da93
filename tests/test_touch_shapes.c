// Touches of two solids: closed cases, and random ones against sampling.
#include "check.h"
#include "collide/mesh.h"
#include "collide/touch.h"
#include "math/vec3.h"
#include "mesh_shapes.h"

static const FilShape unit_box = {.kind = FIL_SHAPE_BOX, .size = {1.0, 1.0, 1.0}};

// What holds for every list of touches.
static void check_list(const FilTouch *touch, int count, double reach) {
    CHECK(count >= 0 && count <= FIL_TOUCH_MAX);
    for (int i = 0; i < count; i++) {
        double d[3];
        fil_subtract3(touch[i].on_a, touch[i].on_b, d);
        fil_add3(-touch[i].gap, touch[i].normal, d);
        CHECK(fil_norm3(d) < 1e-7);
        CHECK_NEAR(fil_norm3(touch[i].normal), 1.0, 1e-12, 0.0);
        CHECK(touch[i].gap < reach);
        CHECK(i == 0 || touch[i].gap >= touch[i - 1].gap);
        for (int j = 0; j < i; j++) {
            CHECK(touch[i].feature != touch[j].feature);
        }
    }
}

static int touch_at(const FilShape *a, FilPose pa, const FilShape *b, FilPose pb, double reach,
                    FilTouch *touch) {
    FilTouch other[FIL_TOUCH_MAX];
    const int count = fil_touch_shapes(a, &pa, b, &pb, reach, touch);
    check_list(touch, count, reach);
    // the other way around: as many, as deep, normals turned
    const int back = fil_touch_shapes(b, &pb, a, &pa, reach, other);
    check_list(other, back, reach);
    CHECK((count > 0) == (back > 0));
    if (count > 0 && back > 0) {
        CHECK_NEAR(other[0].gap, touch[0].gap, 1e-9, 1e-6);
    }
    return count;
}

static FilPose turned(FilPose pose, double x, double y, double z) {
    const double turn[3] = {x, y, z};
    double R[9];
    fil_rotation_exp(turn, R);
    for (int k = 0; k < 3; k++) {
        double axis[3];
        fil_apply3(R, pose.axis[k], axis);
        fil_copy3(axis, pose.axis[k]);
    }
    return pose;
}

// ---------------------------------------------------------------------------------------- planes

static void box_stands_on_a_plane_by_four_corners(void) {
    const FilShape plane = {.kind = FIL_SHAPE_PLANE};
    FilTouch touch[FIL_TOUCH_MAX];
    const FilPose floor = turned(pose_at(0.0, 0.0, 1.0), 0.0, 0.0, 0.3);
    CHECK(touch_at(&unit_box, pose_at(0.2, 0.1, 1.499), &plane, floor, 0.01, touch) == 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(touch[i].gap, -0.001, 1e-12, 0.0);
        CHECK_NEAR(touch[i].normal[2], 1.0, 1e-15, 0.0);
        CHECK_NEAR(touch[i].on_b[2], 1.0, 1e-15, 0.0);
    }
    // on an edge, on a corner, above, deep below
    const double half = sqrt(0.5);
    CHECK(touch_at(&unit_box, turned(pose_at(0.0, 0.0, 1.0 + half), 0.785398163397448, 0.0, 0.0),
                   &plane, floor, 0.01, touch) == 2);
    CHECK(touch_at(&unit_box, pose_at(0.0, 0.0, 1.52), &plane, floor, 0.01, touch) == 0);
    CHECK(touch_at(&unit_box, pose_at(0.0, 0.0, -5.0), &plane, floor, 0.01, touch) == 4);
    CHECK_NEAR(touch[0].gap, -6.5, 1e-14, 0.0);
    FilMesh *mesh = mesh_box(1.0, 1.0, 1.0);
    const FilShape same = {.kind = FIL_SHAPE_MESH, .mesh = mesh};
    CHECK(touch_at(&same, pose_at(0.2, 0.1, 1.499), &plane, floor, 0.01, touch) == 4);
    CHECK_NEAR(touch[3].gap, -0.001, 1e-12, 0.0);
    fil_mesh_destroy(mesh);
}

static void round_shapes_on_a_plane(void) {
    const FilShape plane = {.kind = FIL_SHAPE_PLANE};
    const FilShape ball = {.kind = FIL_SHAPE_SPHERE, .radius = 0.5};
    const FilShape capsule = {.kind = FIL_SHAPE_CAPSULE, .radius = 0.5, .length = 2.0};
    const FilShape cylinder = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.5, .length = 2.0};
    const FilPose floor = pose_at(0.0, 0.0, 0.0);
    FilTouch touch[FIL_TOUCH_MAX];
    CHECK(touch_at(&ball, pose_at(1.0, 2.0, 0.5), &plane, floor, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, 0.0, 0.0, 1e-15);
    CHECK(touch_at(&capsule, pose_at(0.0, 0.0, 0.5), &plane, floor, 0.01, touch) == 2);
    CHECK(touch_at(&cylinder, pose_at(0.0, 0.0, 0.5), &plane, floor, 0.01, touch) == 2);
    CHECK_NEAR(fabs(touch[0].on_a[0]), 1.0, 1e-14, 0.0);
    CHECK_NEAR(touch[1].gap, 0.0, 0.0, 1e-15);
    // standing on its end, which is its first axis
    const double quarter = 1.5707963267948966;
    CHECK(touch_at(&cylinder, turned(pose_at(0.0, 0.0, 1.0), 0.0, quarter, 0.0), &plane, floor,
                   0.01, touch) == 4);
    CHECK_NEAR(touch[3].gap, 0.0, 0.0, 1e-12);
    // on its rim: the lowest point of it
    CHECK(touch_at(&cylinder, turned(pose_at(0.0, 0.0, 0.919), 0.0, 0.5, 0.0), &plane, floor, 0.01,
                   touch) == 1);
    CHECK_NEAR(touch[0].gap, 0.919 - sin(0.5) - 0.5 * cos(0.5), 0.0, 1e-12);
}

// ----------------------------------------------------------------------------------------- boxes

static void box_on_a_box_touches_all_over_the_common_face(void) {
    FilTouch touch[FIL_TOUCH_MAX];
    // exactly on top, shifted: a square of 0.7 x 0.6
    CHECK(touch_at(&unit_box, pose_at(0.3, 0.4, 1.0), &unit_box, pose_at(0.0, 0.0, 0.0), 0.01,
                   touch) == 4);
    double low = 1.0, high = -1.0;
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(touch[i].gap, 0.0, 0.0, 1e-15);
        CHECK_NEAR(touch[i].normal[2], 1.0, 1e-15, 0.0);
        low = fmin(low, touch[i].on_a[0]);
        high = fmax(high, touch[i].on_a[0]);
    }
    CHECK_NEAR(low, -0.2, 1e-14, 0.0);
    CHECK_NEAR(high, 0.5, 1e-14, 0.0);
    // turned by 45 degrees, a little apart and a little in: an octagon
    for (int i = 0; i < 2; i++) {
        const double gap = i == 0 ? 0.003 : -0.003;
        const FilPose top = turned(pose_at(0.0, 0.0, 1.0 + gap), 0.0, 0.0, 0.785398163397448);
        CHECK(touch_at(&unit_box, top, &unit_box, pose_at(0.0, 0.0, 0.0), 0.01, touch) == 8);
        CHECK_NEAR(touch[7].gap, gap, 1e-9, 0.0);
    }
    // out of reach
    CHECK(touch_at(&unit_box, pose_at(0.3, 0.4, 1.02), &unit_box, pose_at(0.0, 0.0, 0.0), 0.01,
                   touch) == 0);
}

static void edges_and_corners_of_boxes(void) {
    FilTouch touch[FIL_TOUCH_MAX];
    const double eighth = 0.785398163397448, half = sqrt(0.5);
    // crossed edges: one roof on another, at right angles
    for (int i = -1; i <= 1; i++) {
        const double gap = 0.002 * i;
        const FilPose below = turned(pose_at(0.0, 0.0, 0.0), eighth, 0.0, 0.0);
        const FilPose above = turned(pose_at(0.1, 0.1, 2.0 * half + gap), 0.0, eighth, 0.0);
        CHECK(touch_at(&unit_box, above, &unit_box, below, 0.01, touch) == 1);
        CHECK_NEAR(touch[0].gap, gap, 0.0, 1e-9);
        CHECK_NEAR(touch[0].normal[2], 1.0, 1e-6, 0.0);
        CHECK_NEAR(touch[0].on_a[0], 0.1, 0.0, 1e-6);
        CHECK_NEAR(touch[0].on_b[1], 0.0, 0.0, 0.11);
    }
    // edge along edge
    const FilPose roof = turned(pose_at(0.0, 0.0, 0.0), eighth, 0.0, 0.0);
    const FilPose other = turned(pose_at(0.3, 0.0, 2.0 * half + 0.001), eighth, 0.0, 0.0);
    CHECK(touch_at(&unit_box, other, &unit_box, roof, 0.01, touch) == 2);
    CHECK_NEAR(touch[1].gap, 0.001, 1e-6, 0.0);
    CHECK_NEAR(fabs(touch[0].on_a[0] - touch[1].on_a[0]), 0.7, 1e-9, 0.0);
    // corner on corner, apart along the diagonal, and exactly touching
    const double third = sqrt(1.0 / 3.0);
    CHECK(touch_at(&unit_box, pose_at(1.001, 1.001, 1.001), &unit_box, pose_at(0.0, 0.0, 0.0), 0.01,
                   touch) == 1);
    CHECK_NEAR(touch[0].gap, 0.001 / third, 1e-9, 0.0);
    CHECK_NEAR(touch[0].normal[0], third, 1e-9, 0.0);
    CHECK(touch_at(&unit_box, pose_at(1.0, 1.0, 1.0), &unit_box, pose_at(0.0, 0.0, 0.0), 0.01,
                   touch) >= 1);
    CHECK_NEAR(touch[0].gap, 0.0, 0.0, 1e-9);
    // one in the other: out by the shortest way
    CHECK(touch_at(&unit_box, pose_at(0.1, 0.0, 0.2), &unit_box, pose_at(0.0, 0.0, 0.0), 0.01,
                   touch) == 4);
    CHECK_NEAR(touch[0].gap, -0.8, 1e-14, 0.0);
    CHECK_NEAR(touch[0].normal[2], 1.0, 1e-14, 0.0);
    CHECK(touch_at(&unit_box, pose_at(0.0, 0.0, 0.0), &unit_box, pose_at(0.0, 0.0, 0.0), 0.01,
                   touch) == 4);
    CHECK_NEAR(touch[0].gap, -1.0, 1e-14, 0.0);
}

// The features of a box that slides on another do not change.
static void features_stay_while_sliding(void) {
    FilTouch before[FIL_TOUCH_MAX], after[FIL_TOUCH_MAX];
    const FilShape wide = {.kind = FIL_SHAPE_BOX, .size = {5.0, 5.0, 1.0}};
    FilMesh *mesh = mesh_box(5.0, 5.0, 1.0);
    const FilShape same = {.kind = FIL_SHAPE_MESH, .mesh = mesh};
    for (int i = 0; i < 2; i++) {
        const FilShape *floor = i == 0 ? &wide : &same;
        const FilPose at = pose_at(0.0, 0.0, 0.0);
        CHECK(touch_at(&unit_box, turned(pose_at(0.3, 0.1, 0.999), 0.0, 0.0, 0.2), floor, at, 0.01,
                       before) == 4);
        CHECK(touch_at(&unit_box, turned(pose_at(-0.5, 0.2, 0.9995), 1e-5, 0.0, 0.21), floor, at,
                       0.01, after) == 4);
        for (int j = 0; j < 4; j++) {
            bool found = false;
            for (int k = 0; k < 4; k++) {
                found = found || after[k].feature == before[j].feature;
            }
            CHECK(found);
        }
    }
    fil_mesh_destroy(mesh);
}

// ------------------------------------------------------------------------------- round and sharp

static void balls_and_capsules_and_cylinders(void) {
    const FilShape ball = {.kind = FIL_SHAPE_SPHERE, .radius = 0.5};
    const FilShape capsule = {.kind = FIL_SHAPE_CAPSULE, .radius = 0.2, .length = 1.0};
    const FilShape cylinder = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.5, .length = 2.0};
    FilTouch touch[FIL_TOUCH_MAX];
    const FilPose origin = pose_at(0.0, 0.0, 0.0);
    CHECK(touch_at(&ball, pose_at(0.6, 0.8, 0.0), &ball, origin, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, 0.0, 0.0, 1e-15);
    CHECK_NEAR(touch[0].normal[1], 0.8, 1e-14, 0.0);
    CHECK(touch_at(&ball, origin, &ball, origin, 0.01, touch) == 1); // one in the other
    CHECK_NEAR(touch[0].gap, -1.0, 1e-14, 0.0);
    CHECK(touch_at(&ball, pose_at(0.0, 0.0, 0.99), &unit_box, origin, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, -0.01, 1e-12, 0.0);
    CHECK(touch_at(&ball, pose_at(0.1, 0.0, 0.2), &unit_box, origin, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, -0.8, 1e-12, 0.0); // its centre inside
    CHECK(touch_at(&capsule, pose_at(0.0, 0.0, 0.7), &unit_box, origin, 0.01, touch) == 2);
    CHECK_NEAR(touch[1].gap, 0.0, 0.0, 1e-12);
    CHECK(touch_at(&capsule, pose_at(0.0, 0.0, 0.4), &capsule, origin, 0.01, touch) == 2);
    CHECK_NEAR(touch[1].gap, 0.0, 0.0, 1e-12);
    CHECK(touch_at(&capsule, turned(pose_at(0.0, 0.0, 0.4), 0.0, 0.0, 1.0), &capsule, origin, 0.01,
                   touch) == 1);
    CHECK(touch_at(&capsule, turned(origin, 0.0, 0.0, 1.0), &capsule, origin, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, -0.4, 1e-12, 0.0); // axes cross
    // a lying cylinder on a box; two lying side by side; one standing on the other's end
    CHECK(touch_at(&cylinder, pose_at(0.0, 0.0, 1.0), &unit_box, origin, 0.01, touch) == 2);
    CHECK_NEAR(touch[1].gap, 0.0, 0.0, 1e-9);
    CHECK(touch_at(&cylinder, pose_at(0.3, 0.6, 0.8), &cylinder, origin, 0.01, touch) == 2);
    CHECK_NEAR(touch[1].gap, 0.0, 0.0, 1e-9);
    CHECK_NEAR(touch[0].normal[1], 0.6, 1e-6, 0.0);
    CHECK(touch_at(&cylinder, pose_at(1.999, 0.0, 0.0), &cylinder, origin, 0.01, touch) >= 4);
    CHECK_NEAR(touch[0].gap, -0.001, 1e-9, 0.0);
    CHECK_NEAR(touch[0].normal[0], 1.0, 1e-12, 0.0);
    CHECK(touch_at(&ball, pose_at(0.0, 0.3, 0.0), &cylinder, origin, 0.01, touch) == 1);
    CHECK_NEAR(touch[0].gap, -0.7, 1e-9, 0.0);
}

// --------------------------------------------------------------------------------- random pairs

static bool is_inside(const FilShape *s, const FilPose *pose, const double world[3]) {
    double x[3];
    fil_pose_to_own(pose, world, x);
    const double across = x[1] * x[1] + x[2] * x[2];
    const double t = fmax(-0.5 * s->length, fmin(0.5 * s->length, x[0]));
    switch (s->kind) {
    case FIL_SHAPE_BOX:
        return fabs(x[0]) < 0.5 * s->size[0] && fabs(x[1]) < 0.5 * s->size[1] &&
               fabs(x[2]) < 0.5 * s->size[2];
    case FIL_SHAPE_CYLINDER:
        return fabs(x[0]) < 0.5 * s->length && across < s->radius * s->radius;
    case FIL_SHAPE_MESH:
        return fil_mesh_contains(s->mesh, x);
    default:
        return (x[0] - t) * (x[0] - t) + across < s->radius * s->radius;
    }
}

// For two convex solids whose first touch has the gap g along n: moving a by anything above -g
// along n takes them apart (no sampled point is in both), and where they overlap by more than a
// little, some point is in both.
static void check_apart(const FilShape *a, FilPose pa, const FilShape *b, const FilPose *pb,
                        const FilTouch *touch, FilRandom *random) {
    const double move = fmax(0.0, -touch->gap) + 1e-5;
    fil_add3(move, touch->normal, pa.position);
    for (int i = 0; i < 300; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = touch->on_b[k] + fil_random_uniform(random, -0.5, 0.5);
        }
        CHECK(!(is_inside(a, &pa, x) && is_inside(b, pb, x)));
    }
}

static void random_convex_pairs_come_apart_along_the_normal(void) {
    const FilShape shapes[4] = {{.kind = FIL_SHAPE_SPHERE, .radius = 0.4},
                                {.kind = FIL_SHAPE_CAPSULE, .radius = 0.2, .length = 0.8},
                                {.kind = FIL_SHAPE_CYLINDER, .radius = 0.4, .length = 0.7},
                                {.kind = FIL_SHAPE_BOX, .size = {0.5, 0.8, 1.0}}};
    FilRandom random = fil_random_make(21);
    int touching = 0, deep = 0;
    for (int i = 0; i < 8000; i++) {
        const FilShape *a = &shapes[i % 4], *b = &shapes[i / 4 % 4];
        FilPose pa = pose_random(&random, 0.5), pb = pose_random(&random, 0.2);
        if (i % 7 == 0) { // axes alike: parallel faces and edges
            memcpy(pa.axis, pb.axis, sizeof pa.axis);
        }
        FilTouch touch[FIL_TOUCH_MAX];
        if (touch_at(a, pa, b, pb, 0.05, touch) > 0) {
            touching++;
            deep += touch[0].gap < -0.1;
            check_apart(a, pa, b, &pb, &touch[0], &random);
        }
    }
    CHECK(touching > 4000);
    CHECK(deep > 2000);
}

// No direction does better than the one found, among many random ones: what a must move by to be
// apart from b is at least -gap. (Boxes, by their corners.)
// A reach below 0 asks for what overlaps by more than that.
static void a_reach_below_zero_finds_what_is_deeper(void) {
    FilMesh *mesh = mesh_box(1.0, 1.0, 1.0);
    const FilShape shapes[2] = {unit_box, {.kind = FIL_SHAPE_CYLINDER, .radius = 0.5, .length = 1}};
    FilTouch touch[FIL_TOUCH_MAX];
    for (int i = 0; i < 2; i++) {
        const FilPose low = pose_at(0.0, 0.0, 0.0), high = pose_at(0.1, 0.2, 0.95);
        CHECK(touch_at(&shapes[i], high, &unit_box, low, -0.04, touch) > 0);
        CHECK_NEAR(touch[0].gap, -0.05, 1e-9, 0.0);
        CHECK(touch_at(&shapes[i], high, &unit_box, low, -0.06, touch) == 0);
    }
    fil_mesh_destroy(mesh);
}

// A long capsule under a cube made of triangles: it touches at both ends of what they share,
// however the triangles lie; also along an edge, and an edge of a box along a face.
static void a_mesh_lies_on_a_capsule_by_both_ends_of_their_stretch(void) {
    FilMesh *mesh = mesh_box(1.0, 1.0, 1.0);
    const FilShape cube = {.kind = FIL_SHAPE_MESH, .mesh = mesh};
    const FilShape under[3] = {{.kind = FIL_SHAPE_CAPSULE, .radius = 0.1, .length = 8.0},
                               {.kind = FIL_SHAPE_BOX, .size = {8.0, 0.2, 0.2}},
                               {.kind = FIL_SHAPE_CYLINDER, .radius = 0.1, .length = 8.0}};
    FilRandom random = fil_random_make(33);
    for (int i = 0; i < 300; i++) {
        const FilShape *bar = &under[i % 3];
        const double y = fil_random_uniform(&random, -0.1, 0.1);
        const double x = fil_random_uniform(&random, -0.2, 0.2);
        const double angle = fil_random_uniform(&random, -0.3, 0.3);
        const FilPose at =
            turned(pose_at(x, y, -0.6 + fil_random_uniform(&random, -1e-3, 1e-3)), 0.0, 0.0, angle);
        FilTouch touch[FIL_TOUCH_MAX];
        const int count = touch_at(&cube, pose_at(0.0, 0.0, 0.0), bar, at, 0.01, touch);
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int k = 0; k < count; k++) {
            CHECK_NEAR(touch[k].normal[2], 1.0, 1e-3, 0.0);
            low = fmin(low, touch[k].on_a[0]);
            high = fmax(high, touch[k].on_a[0]);
        }
        CHECK(count >= 2);
        CHECK(high - low > 0.9);
    }
    fil_mesh_destroy(mesh);
}

static void depth_of_boxes_is_the_least_one(void) {
    FilRandom random = fil_random_make(22);
    for (int i = 0; i < 1500; i++) {
        const FilPose pose[2] = {pose_random(&random, 0.4), pose_random(&random, 0.4)};
        FilTouch touch[FIL_TOUCH_MAX];
        const int count = touch_at(&unit_box, pose[0], &unit_box, pose[1], 0.05, touch);
        double best = -INFINITY;
        for (int j = 0; j < 200; j++) {
            double n[3], low = INFINITY, high = -INFINITY;
            for (int k = 0; k < 3; k++) {
                n[k] = fil_random_normal(&random);
            }
            const double length = fil_norm3(n);
            for (int c = 0; c < 16; c++) {
                double own[3], x[3];
                for (int k = 0; k < 3; k++) {
                    own[k] = c >> k & 1 ? 0.5 : -0.5;
                }
                fil_pose_to_world(&pose[c / 8], own, x);
                const double h = fil_dot3(x, n) / length;
                low = c < 8 ? fmin(low, h) : low;
                high = c < 8 ? high : fmax(high, h);
            }
            best = fmax(best, low - high);
        }
        CHECK(count > 0 ? best < touch[0].gap + 1e-4 : best < 10.0);
        CHECK(count > 0 || best > -0.7);
    }
}

// ---------------------------------------------------------------------------------------- meshes

// A box made of triangles touches as the box itself does.
static void box_as_a_mesh_touches_like_the_box(void) {
    FilMesh *mesh = mesh_box(1.0, 1.0, 1.0);
    const FilShape same = {.kind = FIL_SHAPE_MESH, .mesh = mesh};
    const FilShape shapes[5] = {{.kind = FIL_SHAPE_SPHERE, .radius = 0.4},
                                {.kind = FIL_SHAPE_CAPSULE, .radius = 0.2, .length = 0.8},
                                {.kind = FIL_SHAPE_CYLINDER, .radius = 0.4, .length = 0.7},
                                {.kind = FIL_SHAPE_BOX, .size = {0.5, 0.8, 1.0}},
                                {.kind = FIL_SHAPE_MESH, .mesh = mesh}};
    FilRandom random = fil_random_make(31);
    FilTouch touch[FIL_TOUCH_MAX], want[FIL_TOUCH_MAX];
    int compared = 0;
    for (int i = 0; i < 3000; i++) {
        const FilShape *a = &shapes[i % 5];
        const FilShape *plain = a->kind == FIL_SHAPE_MESH ? &unit_box : a;
        const FilPose pa = pose_random(&random, 1.2), pb = pose_random(&random, 0.1);
        const int count = touch_at(plain, pa, &unit_box, pb, 0.02, want);
        const int got = touch_at(a, pa, &same, pb, 0.02, touch);
        // shallow ones: the cylinder's rim is a polygon there
        if (count > 0 && want[0].gap > -0.02 && plain->kind != FIL_SHAPE_CYLINDER) {
            compared++;
            // edges that overlap are pushed out by a face, which may be half as deep
            const double deepest = fmin(1.001 * want[0].gap, 0.999 * want[0].gap) - 1e-6;
            const double shallowest = fmax(1.001 * want[0].gap, 0.45 * want[0].gap) + 1e-6;
            CHECK(got > 0 && touch[0].gap > deepest && touch[0].gap < shallowest);
        }
        CHECK(count > 0 || got == 0);
    }
    CHECK(compared > 100);
    // face on face: a box on the mesh, the mesh on the mesh
    for (int i = 3; i < 5; i++) {
        const int count = touch_at(&shapes[i], turned(pose_at(0.1, 0.0, 1.0), 0.0, 0.0, 0.5), &same,
                                   pose_at(0.0, 0.0, 0.0), 0.01, touch);
        CHECK(count >= 4 && count <= 12);
        for (int k = 0; k < count; k++) {
            CHECK_NEAR(touch[k].gap, 0.0, 0.0, 1e-9);
            CHECK_NEAR(touch[k].normal[2], 1.0, 1e-9, 0.0);
        }
    }
    fil_mesh_destroy(mesh);
}

static void two_round_meshes_touch_at_the_nearest_place(void) {
    FilMesh *ball = mesh_ball(1.0, 24, 32);
    const FilShape a = {.kind = FIL_SHAPE_MESH, .mesh = ball};
    FilRandom random = fil_random_make(41);
    FilTouch touch[FIL_TOUCH_MAX];
    for (int i = 0; i < 50; i++) {
        FilPose pa = pose_random(&random, 1.0), pb = pose_random(&random, 0.01);
        double d[3];
        fil_subtract3(pa.position, pb.position, d);
        const double length = fil_norm3(d), far = 1.97;
        for (int k = 0; k < 3; k++) {
            pa.position[k] = pb.position[k] + far * d[k] / length;
        }
        const int count = touch_at(&a, pa, &a, pb, 0.01, touch);
        CHECK(count >= 1);
        CHECK(count == 0 || fabs(touch[0].gap + 0.03) < 0.025);
        CHECK(count == 0 || fil_dot3(touch[0].normal, d) > 0.95 * length);
    }
    fil_mesh_destroy(ball);
}

#define TESTS(X)                                              \
    X(box_stands_on_a_plane_by_four_corners)                  \
    X(round_shapes_on_a_plane)                                \
    X(box_on_a_box_touches_all_over_the_common_face)          \
    X(edges_and_corners_of_boxes)                             \
    X(features_stay_while_sliding)                            \
    X(balls_and_capsules_and_cylinders)                       \
    X(random_convex_pairs_come_apart_along_the_normal)        \
    X(a_reach_below_zero_finds_what_is_deeper)                \
    X(a_mesh_lies_on_a_capsule_by_both_ends_of_their_stretch) \
    X(depth_of_boxes_is_the_least_one)                        \
    X(box_as_a_mesh_touches_like_the_box)                     \
    X(two_round_meshes_touch_at_the_nearest_place)

CHECK_MAIN(TESTS)
