// Touches of capsules with capsules and solids: what every touch promises, that the nearest place
// is among them, and that nothing jumps.
#include "collide/touch.h"
#include "collide_cases.h"

enum { CASES = 200000 };

// What every touch promises about itself and about the surface of capsule a.
static bool touch_is_sound(const FilTouch *touch, const double a[2][3], double radius, double reach,
                           double size) {
    double wrong = fabs(fil_norm3(touch->normal) - 1.0);
    for (int k = 0; k < 3; k++) {
        const double apart = touch->on_a[k] - touch->on_b[k];
        wrong = fmax(wrong, fabs(apart - touch->gap * touch->normal[k]) / size);
    }
    const FilClosest foot = fil_closest_point_segment(touch->on_a, a);
    wrong = fmax(wrong, fabs(sqrt(foot.distance2) - radius) / size);
    return wrong <= 1e-13 && touch->gap < reach && touch->t_a >= 0.0 && touch->t_a <= 1.0;
}

static bool features_differ(const FilTouch *touch, int count) {
    bool differ = true;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            differ = differ && touch[i].feature != touch[j].feature;
        }
    }
    return differ;
}

static double least_gap(const FilTouch *touch, int count) {
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = fmin(least, touch[i].gap);
    }
    return least;
}

// --- two capsules --------------------------------------------------------------------------------

static void touches_of_capsules_lie_on_their_surfaces(void) {
    FilRandom random = fil_random_make(1);
    int twice = 0;
    for (int i = 0; i < 4 * CASES && check_failures < 5; i++) {
        double p[4][3];
        FilTouch touch[2];
        case_points(&random, p, 4);
        const double(*a)[3] = FIL_POINTS(p), (*b)[3] = FIL_POINTS(p + 2);
        const double ra = case_power(&random, -4.0, 0.0), rb = case_power(&random, -4.0, 0.0);
        const double reach = case_power(&random, -4.0, 0.5), size = 1.0 + case_size(a, 4);
        const int count = fil_touch_capsules(a, ra, b, rb, reach, touch);
        const double distance = sqrt(fil_closest_segments(a, b).distance2);
        const double gap = distance - ra - rb,
                     unseen = 0.004 * fmax(distance, ra + rb) + 1e-13 * size;
        const bool meet = distance < 1e-12 * size; // the normal is any
        twice += count == 2;
        CHECK(count > 0 || gap > reach - 1e-14 * size);
        CHECK(features_differ(touch, count));
        for (int k = 0; k < count; k++) {
            CHECK(touch_is_sound(&touch[k], a, ra, reach, size));
            const FilClosest foot = fil_closest_point_segment(touch[k].on_b, b);
            CHECK_NEAR(sqrt(foot.distance2), rb, 0.0, 1e-13 * size);
            CHECK(meet || touch[k].gap >= gap - unseen);
        }
        if (count == 2 && !meet) {
            CHECK_NEAR(least_gap(touch, count), gap, 0.0, unseen);
        }
    }
    CHECK(twice > 1000);
}

static void exchanging_the_capsules_turns_the_normals(void) {
    FilRandom random = fil_random_make(2);
    for (int i = 0; i < CASES && check_failures < 5; i++) {
        double p[4][3];
        FilTouch one[2], two[2];
        case_points(&random, p, 4);
        // in general position: where many pairs are closest, either may be taken
        for (int k = 0; k < 12; k++) {
            p[k / 3][k % 3] += fil_random_uniform(&random, -1e-2, 1e-2);
        }
        const int count = fil_touch_capsules(FIL_POINTS(p), 0.3, FIL_POINTS(p + 2), 0.1, 0.5, one);
        CHECK(fil_touch_capsules(FIL_POINTS(p + 2), 0.1, FIL_POINTS(p), 0.3, 0.5, two) == count);
        for (int k = 0; k < count; k++) {
            const int same = count == 2 && fabs(two[0].t_b - one[k].t_a) > 1e-9;
            CHECK_NEAR(two[same].gap, one[k].gap, 0.0, 1e-9);
            CHECK_NEAR(two[same].t_a, one[k].t_b, 0.0, 1e-6);
            CHECK_NEAR(fil_dot3(two[same].normal, one[k].normal), -1.0, 0.0, 1e-6);
        }
    }
}

static void a_rigid_motion_takes_the_touches_along(void) {
    FilRandom random = fil_random_make(3);
    for (int i = 0; i < CASES && check_failures < 5; i++) {
        double p[4][3], q[4][3];
        FilTouch one[2], two[2];
        case_points(&random, p, 4);
        const FilPose pose = case_pose(&random, 10.0);
        for (int k = 0; k < 4; k++) {
            for (int d = 0; d < 3; d++) {
                p[k][d] += fil_random_uniform(&random, -1e-2, 1e-2);
            }
            case_place(&pose, p[k], q[k]);
        }
        const int count = fil_touch_capsules(FIL_POINTS(p), 0.3, FIL_POINTS(p + 2), 0.1, 0.5, one);
        CHECK(fil_touch_capsules(FIL_POINTS(q), 0.3, FIL_POINTS(q + 2), 0.1, 0.5, two) == count);
        for (int k = 0; k < count; k++) {
            double x[3], apart[3];
            case_place(&pose, one[k].on_a, x);
            fil_subtract3(x, two[k].on_a, apart);
            CHECK_NEAR(fil_norm3(apart), 0.0, 0.0, 1e-8);
            CHECK_NEAR(two[k].gap, one[k].gap, 0.0, 1e-10);
            CHECK(two[k].feature == one[k].feature);
        }
    }
}

static void crossing_axes_have_a_common_perpendicular_as_normal(void) {
    const double a[2][3] = {{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    const double b[2][3] = {{0.0, -1.0, 0.0}, {0.5, 1.0, 0.0}};
    FilTouch touch[2];
    CHECK(fil_touch_capsules(a, 0.1, b, 0.2, 0.0, touch) == 1);
    CHECK_NEAR(fabs(touch->normal[2]), 1.0, 0.0, 1e-15);
    CHECK_NEAR(touch->gap, -0.3, 0.0, 1e-15);

    // the same line: any perpendicular; the same point: any direction
    CHECK(fil_touch_capsules(a, 0.1, a, 0.2, 0.0, touch) >= 1);
    CHECK_NEAR(touch->normal[0], 0.0, 0.0, 1e-15);
    CHECK_NEAR(touch->gap, -0.3, 0.0, 1e-15);
    const double point[2][3] = {{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}};
    CHECK(fil_touch_capsules(point, 0.1, point, 0.2, 0.0, touch) == 1);
    CHECK_NEAR(fil_norm3(touch->normal), 1.0, 0.0, 1e-15);

    // end to end: along the line
    const double next[2][3] = {{1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}};
    CHECK(fil_touch_capsules(next, 0.1, a, 0.2, 0.0, touch) == 1);
    CHECK_NEAR(touch->normal[0], 1.0, 0.0, 1e-15);
}

static void parallel_capsules_touch_at_the_ends_of_their_overlap(void) {
    const double a[2][3] = {{0.0, 0.0, 0.0}, {2.0, 0.0, 0.0}};
    const double b[2][3] = {{3.0, 0.2, 0.0}, {0.5, 0.2, 0.0}}; // runs the other way
    FilTouch touch[2];
    CHECK(fil_touch_capsules(a, 0.1, b, 0.1, 0.01, touch) == 2);
    CHECK_NEAR(touch[0].t_a, 0.25, 0.0, 1e-15);
    CHECK_NEAR(touch[0].t_b, 1.0, 0.0, 1e-15);
    CHECK_NEAR(touch[1].t_a, 1.0, 0.0, 1e-15);
    CHECK_NEAR(touch[1].t_b, 0.4, 0.0, 1e-15);
    CHECK_NEAR(touch[0].gap, 0.0, 0.0, 1e-15);
    CHECK_NEAR(touch[1].normal[1], -1.0, 0.0, 1e-15);
}

// How far the touches of one step are from those of the next, at most.
static double jump(const FilTouch *one, int one_count, const FilTouch *two, int two_count) {
    double worst = 0.0;
    for (int i = 0; i < one_count; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < two_count; j++) {
            double apart[3];
            fil_subtract3(one[i].on_a, two[j].on_a, apart);
            nearest = fmin(nearest, fil_norm3(apart));
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

// One capsule turns over another one, slowly, from parallel to crossing and back: the places move
// by a small part of the radius in each step, also where two touches become one.
static void touches_do_not_jump_while_a_capsule_turns(void) {
    const double a[2][3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, radius = 0.01;
    FilTouch before[2], now[2];
    int before_count = 0, changes = 0;
    double worst = 0.0;
    for (int i = -40000; i <= 40000; i++) {
        const double angle = 1e-6 * i, c = cos(angle), s = sin(angle);
        const double b[2][3] = {{0.4 - 0.3 * c, -0.3 * s, 0.019}, {0.4 + 0.5 * c, 0.5 * s, 0.0205}};
        const int count = fil_touch_capsules(a, radius, b, radius, 0.05, now);
        CHECK(count > 0);
        if (before_count > 0) {
            worst = fmax(worst, jump(before, before_count, now, count));
            worst = fmax(worst, jump(now, count, before, before_count));
            changes += count != before_count;
        }
        before_count = count;
        memcpy(before, now, sizeof now);
    }
    CHECK(changes >= 2);
    CHECK(worst < 0.03 * 2.0 * radius);
}

// --- solids --------------------------------------------------------------------------------------

// Signed distances, written down once more.
static double solid_distance(const FilShape *shape, const double x[3]) {
    const double rho = hypot(x[1], x[2]), half = 0.5 * shape->length;
    switch (shape->kind) {
    case FIL_SHAPE_PLANE:
        return x[2];
    case FIL_SHAPE_SPHERE:
        return fil_norm3(x) - shape->radius;
    case FIL_SHAPE_CAPSULE: {
        const double along = fmax(fabs(x[0]) - half, 0.0);
        return hypot(along, rho) - shape->radius;
    }
    case FIL_SHAPE_CYLINDER: {
        const double side = rho - shape->radius, cap = fabs(x[0]) - half;
        const double out = hypot(fmax(side, 0.0), fmax(cap, 0.0));
        return out > 0.0 ? out : fmax(side, cap);
    }
    default: {
        double out = 0.0, in = -INFINITY;
        for (int k = 0; k < 3; k++) {
            const double over = fabs(x[k]) - 0.5 * shape->size[k];
            out = hypot(out, fmax(over, 0.0));
            in = fmax(in, over);
        }
        return out > 0.0 ? out : in;
    }
    }
}

// The least signed distance along a segment, in the solid's axes: it is convex.
static double search_distance(const FilShape *shape, const double x[2][3]) {
    double low = 0.0, high = 1.0, least = INFINITY;
    for (int pass = 0; pass < 90; pass++) {
        double p[3], q[3];
        const double s = low + (high - low) / 3.0, t = high - (high - low) / 3.0;
        fil_segment_point(x, s, p);
        fil_segment_point(x, t, q);
        const double at_s = solid_distance(shape, p), at_t = solid_distance(shape, q);
        least = fmin(least, fmin(at_s, at_t));
        if (at_s < at_t) {
            high = t;
        } else {
            low = s;
        }
    }
    return fmin(least, fmin(solid_distance(shape, x[0]), solid_distance(shape, x[1])));
}

static FilShape make_shape(FilRandom *random, FilShapeKind kind) {
    FilShape shape = {.kind = kind, .radius = fil_random_uniform(random, 0.2, 1.0)};
    shape.length = fil_random_uniform(random, 0.2, 2.0);
    for (int k = 0; k < 3; k++) {
        shape.size[k] = fil_random_uniform(random, 0.2, 2.0);
    }
    return shape;
}

// A segment in the solid's axes: free, along an axis, parallel to a face, on an edge, tiny.
static void make_axis(FilRandom *random, const FilShape *shape, double x[2][3]) {
    const int kind = fil_random_int(random, 5);
    for (int k = 0; k < 3; k++) {
        x[0][k] = fil_random_uniform(random, -1.5, 1.5);
        x[1][k] = fil_random_uniform(random, -1.5, 1.5);
    }
    const int d = fil_random_int(random, 3);
    if (kind == 1 || kind == 2) {
        x[1][d] = x[0][d];
        x[1][(d + 1) % 3] = kind == 2 ? x[0][(d + 1) % 3] : x[1][(d + 1) % 3];
    } else if (kind == 3) {
        for (int k = 0; k < 3; k++) {
            x[0][k] = k == d ? x[0][k] : 0.5 * shape->size[k];
            x[1][k] = k == d ? x[1][k] : x[0][k];
        }
    } else if (kind == 4) {
        for (int k = 0; k < 3; k++) {
            x[1][k] = x[0][k] + 1e-3 * (x[1][k] - x[0][k]) * (fil_random_int(random, 2));
        }
    }
}

typedef struct Scene {
    FilShape shape;
    FilPose pose;
    double x[2][3], a[2][3]; // in the solid's axes and in the world
    double radius, reach;
    FilTouch touch[FIL_TOUCH_MAX];
    int count;
} Scene;

static Scene make_scene(FilRandom *random, FilShapeKind kind) {
    Scene scene = {.shape = make_shape(random, kind), .pose = case_pose(random, 5.0)};
    make_axis(random, &scene.shape, scene.x);
    case_place(&scene.pose, scene.x[0], scene.a[0]);
    case_place(&scene.pose, scene.x[1], scene.a[1]);
    scene.radius = case_power(random, -3.0, -0.3);
    scene.reach = case_power(random, -3.0, 0.5);
    scene.count = fil_touch_capsule_shape(FIL_POINTS(scene.a), scene.radius, &scene.shape,
                                          &scene.pose, scene.reach, scene.touch);
    return scene;
}

// How deep the axis is along a normal: how far it must be moved along it to leave the solid.
static double way_out(const Scene *scene, double depth, const double n[3]) {
    double moved[2][3];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            moved[i][k] = scene->x[i][k] + depth * n[k];
        }
    }
    return search_distance(&scene->shape, FIL_POINTS(moved));
}

static void check_scene(const Scene *scene) {
    const double distance = search_distance(&scene->shape, FIL_POINTS(scene->x));
    CHECK(features_differ(scene->touch, scene->count));
    CHECK(scene->count > 0 || distance > scene->radius + scene->reach - 1e-12);
    double deepest = INFINITY, normal[3] = {0.0};
    for (int i = 0; i < scene->count; i++) {
        const FilTouch *touch = &scene->touch[i];
        double y[3], x[3], beyond[3];
        CHECK(touch_is_sound(touch, FIL_POINTS(scene->a), scene->radius, scene->reach, 10.0));
        case_local(&scene->pose, touch->on_b, y);
        CHECK_NEAR(solid_distance(&scene->shape, y), 0.0, 0.0, 1e-12);
        fil_copy3(touch->on_b, beyond);
        fil_add3(1e-6, touch->normal, beyond);
        case_local(&scene->pose, beyond, x);
        CHECK(solid_distance(&scene->shape, x) > 0.4e-6); // it points out
        fil_segment_point(FIL_POINTS(scene->a), touch->t_a, x);
        fil_subtract3(x, touch->on_b, y);
        const double along = fil_dot3(touch->normal, y);
        if (along < deepest) {
            deepest = along;
            for (int k = 0; k < 3; k++) {
                normal[k] = fil_dot3(scene->pose.axis[k], touch->normal);
            }
        }
    }
    if (scene->count > 0 && distance > 1e-9) {
        CHECK_NEAR(deepest, distance, 0.0, scene->shape.kind == FIL_SHAPE_CAPSULE ? 1e-2 : 1e-12);
    } else if (scene->count > 0 && distance < -1e-9 && scene->shape.kind != FIL_SHAPE_CAPSULE) {
        // (two touches on the side of a cylinder have a normal each)
        const double left =
            scene->shape.kind == FIL_SHAPE_CYLINDER ? 0.02 * scene->shape.radius : 0.0;
        CHECK(way_out(scene, -deepest + 1e-9, normal) > -1e-9 - left);
    }
}

static void touches_of_solids_keep_their_promises(void) {
    FilRandom random = fil_random_make(4);
    for (int i = 0; i < CASES && check_failures < 5; i++) {
        const FilShapeKind kind = (FilShapeKind)fil_random_int(&random, FIL_SHAPE_MESH);
        const Scene scene = make_scene(&random, kind);
        check_scene(&scene);
    }
}

// No direction leads out of a box on a shorter way than the one that is given.
static void the_way_out_of_a_box_is_the_shortest(void) {
    FilRandom random = fil_random_make(5);
    int seen = 0;
    for (int i = 0; i < 4000 && check_failures < 5; i++) {
        Scene scene = make_scene(&random, FIL_SHAPE_BOX);
        if (search_distance(&scene.shape, FIL_POINTS(scene.x)) > -1e-6) {
            continue;
        }
        seen++;
        double deepest = 0.0, x[3], apart[3];
        for (int k = 0; k < scene.count; k++) {
            fil_segment_point(FIL_POINTS(scene.a), scene.touch[k].t_a, x);
            fil_subtract3(x, scene.touch[k].on_b, apart);
            deepest = fmax(deepest, -fil_dot3(scene.touch[k].normal, apart));
        }
        double least = INFINITY;
        for (int k = 0; k < 500; k++) {
            double n[3];
            case_direction(&random, n);
            double support = 0.0;
            for (int d = 0; d < 3; d++) {
                support += 0.5 * scene.shape.size[d] * fabs(n[d]);
            }
            const double near = fmin(fil_dot3(n, scene.x[0]), fil_dot3(n, scene.x[1]));
            least = fmin(least, support - near);
        }
        CHECK(deepest <= least * 1.0011);
    }
    CHECK(seen > 500);
}

static const FilPose HERE = {{0.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};

static void a_capsule_that_lies_on_something_touches_it_twice(void) {
    const double a[2][3] = {{-0.3, 0.1, 0.11}, {0.9, 0.1, 0.11}};
    FilTouch touch[FIL_TOUCH_MAX];
    const FilShape plane = {.kind = FIL_SHAPE_PLANE};
    CHECK(fil_touch_capsule_shape(a, 0.1, &plane, &HERE, 0.05, touch) == 2);
    CHECK(touch[0].t_a == 0.0 && touch[1].t_a == 1.0);
    CHECK_NEAR(touch[0].gap, 0.01, 0.0, 1e-15);

    // a box whose face ends before the capsule does
    const double on_box[2][3] = {{-0.3, 0.1, 0.61}, {0.9, 0.1, 0.61}};
    const FilShape box = {.kind = FIL_SHAPE_BOX, .size = {1.2, 1.0, 1.0}};
    CHECK(fil_touch_capsule_shape(on_box, 0.1, &box, &HERE, 0.05, touch) == 2);
    CHECK_NEAR(touch[0].t_a, 0.0, 0.0, 1e-15);
    CHECK_NEAR(touch[1].t_a, 0.75, 0.0, 1e-15);
    CHECK(touch[0].feature == 0 && touch[1].feature == 2);

    // along an edge of it
    const double on_edge[2][3] = {{-0.3, 0.57, 0.57}, {0.9, 0.57, 0.57}};
    CHECK(fil_touch_capsule_shape(on_edge, 0.1, &box, &HERE, 0.05, touch) == 2);
    CHECK_NEAR(touch[1].t_a, 0.75, 0.0, 1e-15);
    CHECK_NEAR(touch[0].normal[1], sqrt(0.5), 0.0, 1e-15);

    // along a cylinder, and on its flat end
    const FilShape cylinder = {.kind = FIL_SHAPE_CYLINDER, .radius = 0.5, .length = 1.2};
    const double along[2][3] = {{-0.3, 0.0, 0.61}, {0.9, 0.0, 0.61}};
    CHECK(fil_touch_capsule_shape(along, 0.1, &cylinder, &HERE, 0.05, touch) == 2);
    CHECK_NEAR(touch[1].t_a, 0.75, 0.0, 1e-15);
    const double on_end[2][3] = {{0.71, -0.7, 0.0}, {0.71, 0.3, 0.0}};
    CHECK(fil_touch_capsule_shape(on_end, 0.1, &cylinder, &HERE, 0.05, touch) == 2);
    CHECK_NEAR(touch[0].t_a, 0.2, 0.0, 1e-15);
    CHECK_NEAR(touch[1].normal[0], 1.0, 0.0, 1e-15);

    // a sphere once
    const FilShape sphere = {.kind = FIL_SHAPE_SPHERE, .radius = 0.5};
    CHECK(fil_touch_capsule_shape(along, 0.1, &sphere, &HERE, 0.05, touch) == 1);
    CHECK_NEAR(touch[0].t_a, 0.25, 0.0, 1e-15);
}

// A rod that rocks on the edge of a table by a hair's breadth keeps both of its touches.
static void a_rod_on_a_table_does_not_tip_from_step_to_step(void) {
    const FilShape box = {.kind = FIL_SHAPE_BOX, .size = {1.0, 1.0, 1.0}};
    FilTouch touch[FIL_TOUCH_MAX];
    for (int i = -20; i <= 20; i++) {
        const double tilt = i < 0   ? -pow(10.0, i / 2.0 - 3.0)
                            : i > 0 ? pow(10.0, -i / 2.0 - 3.0)
                                    : 0.0;
        for (int side = 0; side < 2; side++) { // across the edge at a right angle, and askew
            const double a[2][3] = {{0.2, side * 0.3, 0.51 - 0.3 * tilt},
                                    {0.8, 0.0, 0.51 + 0.3 * tilt}};
            const int count = fil_touch_capsule_shape(a, 0.01, &box, &HERE, 0.002, touch);
            CHECK(count == 2);
            CHECK_NEAR(touch[0].t_a, 0.0, 0.0, 1e-12);
            CHECK_NEAR(touch[1].t_a, 0.5, 0.0, 1e-3);
            CHECK(touch[0].feature == 0 && touch[1].feature == 2);
            CHECK(touch[1].normal[2] > 0.99);
        }
    }
}

static void what_is_not_finite_touches_nothing(void) {
    const double wrong[] = {(double)NAN, INFINITY, -INFINITY};
    FilTouch touch[FIL_TOUCH_MAX];
    for (int i = 0; i < 18; i++) {
        double a[2][3] = {{-0.1, 0.0, 0.0}, {0.1, 0.0, 0.0}};
        const double b[2][3] = {{0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}};
        a[i / 3 % 2][i % 3] = wrong[i / 6];
        CHECK(fil_touch_capsules(FIL_POINTS(a), 0.1, b, 0.1, 1.0, touch) == 0);
        CHECK(fil_touch_capsules(b, 0.1, FIL_POINTS(a), 0.1, 1.0, touch) == 0);
        for (int kind = 0; kind < FIL_SHAPE_MESH; kind++) {
            const FilShape shape = {
                .kind = (FilShapeKind)kind, .radius = 1.0, .length = 1.0, .size = {1.0, 1.0, 1.0}};
            CHECK(fil_touch_capsule_shape(FIL_POINTS(a), 0.1, &shape, &HERE, 1.0, touch) == 0);
        }
    }
}

#define TESTS(X)                                            \
    X(touches_of_capsules_lie_on_their_surfaces)            \
    X(exchanging_the_capsules_turns_the_normals)            \
    X(a_rigid_motion_takes_the_touches_along)               \
    X(crossing_axes_have_a_common_perpendicular_as_normal)  \
    X(parallel_capsules_touch_at_the_ends_of_their_overlap) \
    X(touches_do_not_jump_while_a_capsule_turns)            \
    X(touches_of_solids_keep_their_promises)                \
    X(the_way_out_of_a_box_is_the_shortest)                 \
    X(a_capsule_that_lies_on_something_touches_it_twice)    \
    X(a_rod_on_a_table_does_not_tip_from_step_to_step)      \
    X(what_is_not_finite_touches_nothing)

CHECK_MAIN(TESTS)
