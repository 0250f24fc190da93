// The swept check against times at which the distance is known: sampled ones, and crossings that
// were put where they are.
#include "collide/solid.h"
#include "collide/sweep.h"
#include "collide_cases.h"

enum { CASES = 60000, SAMPLES = 200 };

typedef struct Motion {
    double at[2][2][3]; // [time][end][coordinate]
} Motion;

#define FIL_MOTION(m) ((const double(*)[2][3])(m).at)

static void place_at(const Motion *motion, double t, double out[2][3]) {
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            out[i][k] = (1.0 - t) * motion->at[0][i][k] + t * motion->at[1][i][k];
        }
    }
}

static double distance_at(const Motion *a, const Motion *b, double t) {
    double p[2][3], q[2][3];
    place_at(a, t, p);
    place_at(b, t, q);
    return sqrt(fil_closest_segments(FIL_POINTS(p), FIL_POINTS(q)).distance2);
}

// Segments of size about 1 that move by `speed`; nasty ones on a lattice.
static Motion make_motion(FilRandom *random, double speed) {
    Motion motion = {0};
    case_points(random, motion.at[0], 2);
    const double length = case_size(FIL_POINTS(motion.at[0]), 2);
    for (int k = 0; k < 3 && length > 10.0; k++) {
        motion.at[0][1][k] = motion.at[0][0][k] + 1e-3 * (motion.at[0][1][k] - motion.at[0][0][k]);
    }
    const int kind = fil_random_int(random, 3);
    double shift[3];
    case_direction(random, shift);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            const double own = kind == 0   ? shift[k]
                               : kind == 1 ? fil_random_uniform(random, -1.0, 1.0)
                                           : fil_random_int(random, 3) - 1;
            motion.at[1][i][k] = motion.at[0][i][k] + speed * own;
        }
    }
    return motion;
}

// What a returned time promises: the segments are within the tolerance then, and were not before.
static void check_time(const Motion *a, const Motion *b, double tolerance, double t) {
    const double slack = 1e-4 * tolerance + 1e-11 * (1.0 + case_size(FIL_POINTS(a->at[0]), 4) +
                                                     case_size(FIL_POINTS(b->at[0]), 4));
    CHECK(t >= 0.0);
    if (t <= 1.0) {
        CHECK(distance_at(a, b, t) <= tolerance + slack);
    }
    for (int i = 0; i <= SAMPLES; i++) {
        const double s = (double)i / SAMPLES;
        if (s < t && !(distance_at(a, b, s) > tolerance)) {
            CHECK(false);
            return;
        }
    }
}

static void the_time_is_the_first_one_within_the_tolerance(void) {
    FilRandom random = fil_random_make(1);
    int met = 0;
    for (int i = 0; i < CASES / 4 && check_failures < 5; i++) {
        const double speed = case_power(&random, -3.0, 1.5);
        const Motion a = make_motion(&random, speed), b = make_motion(&random, speed);
        const double tolerance =
            fil_random_int(&random, 3) == 0 ? 0.0 : case_power(&random, -6.0, -0.5);
        const double t = fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(b), tolerance);
        check_time(&a, &b, tolerance, t);
        met += t <= 1.0;
    }
    CHECK(met > CASES / 100);
}

// A point of each segment is put at the same place at the same time.
static void no_crossing_is_missed(void) {
    FilRandom random = fil_random_make(2);
    for (int i = 0; i < 20 * CASES && check_failures < 5; i++) {
        const double speed = case_power(&random, -6.0, 3.0);
        const Motion a = make_motion(&random, speed);
        Motion b = make_motion(&random, speed);
        const double when = fil_random_uniform(&random, 0.0, 1.0);
        const double s =
            fil_random_int(&random, 4) == 0 ? 0.0 : fil_random_uniform(&random, 0.0, 1.0);
        const double t =
            fil_random_int(&random, 4) == 0 ? 1.0 : fil_random_uniform(&random, 0.0, 1.0);
        double p[2][3], q[2][3], x[3], y[3];
        place_at(&a, when, p);
        place_at(&b, when, q);
        fil_segment_point(FIL_POINTS(p), s, x);
        fil_segment_point(FIL_POINTS(q), t, y);
        for (int k = 0; k < 12; k++) {
            b.at[k / 6][k / 3 % 2][k % 3] += x[k % 3] - y[k % 3];
        }
        const double size = 1.0 + speed; // the place is right to round-off of this
        CHECK(fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(b), 1e-15 * size) <= when + 1e-9);
    }
}

static void head_on_lines_meet_when_they_should(void) {
    const Motion a = {{{{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, {{-1.0, 0.0, 4.0}, {1.0, 0.0, 4.0}}}};
    const Motion b = {{{{0.0, -1.0, 1.0}, {0.0, 1.0, 1.0}}, {{0.0, -1.0, 1.0}, {0.0, 1.0, 1.0}}}};
    CHECK_NEAR(fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(b), 0.0), 0.25, 0.0, 1e-11);
    CHECK_NEAR(fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(b), 0.2), 0.2, 0.0, 1e-5);
    const Motion far = {{{{0.0, -1.0, 5.0}, {0.0, 1.0, 5.0}}, {{0.0, -1.0, 5.0}, {0.0, 1.0, 5.0}}}};
    CHECK(fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(far), 0.5) > 1.0);
}

// What passes at 1.001 tolerances goes free, what passes at 0.999 of it does not; ends, middles.
static void grazing_is_told_apart(void) {
    FilRandom random = fil_random_make(3);
    for (int i = 0; i < CASES && check_failures < 5; i++) {
        const double tolerance = case_power(&random, -5.0, -1.0);
        const double miss = tolerance * (i % 2 == 0 ? 1.001 : 0.999);
        const FilPose pose = case_pose(&random, 1.0);
        // b slides past a at the height `miss`, across it or along it, and both ends of a stay
        const double angle = fil_random_uniform(&random, 0.0, 3.2);
        const double d[3] = {cos(angle), sin(angle), 0.0};
        Motion a = {0}, b = {0};
        for (int k = 0; k < 4; k++) {
            const double side = k % 2 == 0 ? -1.0 : 1.0, when = k < 2 ? -1.0 : 1.0;
            const double x[3] = {side, 0.0, 0.0};
            const double y[3] = {side * d[0] + when * 3.0 * d[1], side * d[1] - when * 3.0 * d[0],
                                 miss};
            case_place(&pose, x, a.at[k / 2][k % 2]);
            case_place(&pose, y, b.at[k / 2][k % 2]);
        }
        const double t = fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(b), tolerance);
        CHECK((t <= 1.0) == (i % 2 == 1));
    }
}

// Rods at rest on each other, two radii apart, shiver and slide for the whole step.
static void resting_contact_is_no_crossing(void) {
    FilRandom random = fil_random_make(4);
    for (int i = 0; i < CASES && check_failures < 5; i++) {
        const double radius = 1e-4, tolerance = radius * fil_random_uniform(&random, 0.1, 1.8);
        const double angle = fil_random_int(&random, 2) == 0 ? 0.0 : case_power(&random, -6.0, 0.0);
        Motion a = {0}, b = {0};
        for (int k = 0; k < 12; k++) {
            const double side = k / 3 % 2 == 0 ? -0.01 : 0.01, late = k < 6 ? 0.0 : 1.0;
            const double x[3] = {side, 0.0, 0.0};
            const double y[3] = {side * cos(angle), side * sin(angle), 2.0 * radius};
            const double shiver = 0.05 * radius * fil_random_uniform(&random, -1.0, 1.0);
            const double slide = k % 3 == 0 ? 0.02 * late : 0.0;
            a.at[k / 6][k / 3 % 2][k % 3] = x[k % 3] + shiver + slide;
            b.at[k / 6][k / 3 % 2][k % 3] = y[k % 3];
        }
        CHECK(fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(b), tolerance) > 1.0);
    }
}

// --- solids --------------------------------------------------------------------------------------

typedef struct Ride {
    FilShape shape;
    FilPose pose[2];
    double turn[3];
    Motion a;
} Ride;

static Ride make_ride(FilRandom *random) {
    Ride ride = {.shape = {.kind = (FilShapeKind)fil_random_int(random, FIL_SHAPE_MESH)}};
    ride.shape.radius = fil_random_uniform(random, 0.05, 0.6);
    ride.shape.length = fil_random_uniform(random, 0.1, 2.0);
    for (int k = 0; k < 3; k++) {
        ride.shape.size[k] = fil_random_uniform(random, 0.05, 1.0);
    }
    ride.a = make_motion(random, case_power(random, -3.0, 1.0));
    ride.pose[0] = case_pose(random, 1.5);
    double R[9];
    const double angle = fil_random_int(random, 3) == 0 ? 0.0 : case_power(random, -3.0, 0.45);
    case_direction(random, ride.turn);
    for (int k = 0; k < 3; k++) {
        ride.turn[k] *= angle;
        ride.pose[1].position[k] = ride.pose[0].position[k] + fil_random_uniform(random, -1.0, 1.0);
    }
    fil_rotation_exp(ride.turn, R);
    for (int k = 0; k < 3; k++) {
        fil_apply3(R, ride.pose[0].axis[k], ride.pose[1].axis[k]);
    }
    return ride;
}

static double solid_distance_at(const Ride *ride, double t) {
    FilPose pose;
    double turn[3], R[9], p[2][3], x[2][3];
    for (int k = 0; k < 3; k++) {
        turn[k] = t * ride->turn[k];
        pose.position[k] = (1.0 - t) * ride->pose[0].position[k] + t * ride->pose[1].position[k];
    }
    fil_rotation_exp(turn, R);
    for (int k = 0; k < 3; k++) {
        fil_apply3(R, ride->pose[0].axis[k], pose.axis[k]);
    }
    place_at(&ride->a, t, p);
    case_local(&pose, p[0], x[0]);
    case_local(&pose, p[1], x[1]);
    return fil_solid_gap(&ride->shape, FIL_POINTS(x)).distance;
}

static void no_way_into_a_solid_is_missed(void) {
    FilRandom random = fil_random_make(5);
    int met = 0;
    for (int i = 0; i < CASES / 4 && check_failures < 5; i++) {
        const Ride ride = make_ride(&random);
        const double tolerance =
            fil_random_int(&random, 3) == 0 ? 0.0 : case_power(&random, -6.0, -1.0);
        const double t =
            fil_sweep_segment_shape(FIL_MOTION(ride.a), &ride.shape, ride.pose, tolerance);
        CHECK(t >= 0.0);
        if (t <= 1.0) {
            CHECK(solid_distance_at(&ride, t) <= tolerance * 1.0001 + 1e-9);
        }
        for (int k = 0; k <= SAMPLES; k++) {
            const double s = (double)k / SAMPLES;
            if (s < t && !(solid_distance_at(&ride, s) > tolerance)) {
                CHECK(false);
                break;
            }
        }
        met += t > 0.0 && t <= 1.0;
    }
    CHECK(met > CASES / 80);
}

static void inside_at_the_start_gives_zero(void) {
    const FilPose pose[2] = {
        {{0.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}},
        {{9.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
    const Motion a = {{{{-0.1, 0.0, -0.1}, {0.1, 0.0, -0.1}}, {{9.0, 9.0, 9.0}, {9.0, 8.0, 8.0}}}};
    for (int kind = 0; kind < FIL_SHAPE_MESH; kind++) {
        const FilShape shape = {
            .kind = (FilShapeKind)kind, .radius = 1.0, .length = 1.0, .size = {1.0, 1.0, 1.0}};
        CHECK(fil_sweep_segment_shape(FIL_MOTION(a), &shape, pose, 0.0) == 0.0);
    }
}

// A strand that lies on a turning head, and one that a floor carries along, do not enter it.
static void what_rides_on_a_solid_does_not_enter_it(void) {
    FilRandom random = fil_random_make(6);
    for (int i = 0; i < CASES / 4 && check_failures < 5; i++) {
        Ride ride = make_ride(&random);
        const double radius = 1e-4;
        double x[2][3] = {{-0.01, 0.0, 0.0}, {0.01, 0.0, 0.0}};
        const double top = ride.shape.kind == FIL_SHAPE_PLANE ? 0.0
                           : ride.shape.kind == FIL_SHAPE_BOX ? 0.5 * ride.shape.size[2]
                                                              : ride.shape.radius;
        x[0][2] = x[1][2] = top + radius;
        // straight lines leave a turning path by half a square of the angle: small turns
        double size = 0.0;
        for (int k = 0; k < 3; k++) {
            ride.turn[k] *= 1e-3;
            size += fabs(ride.turn[k]);
        }
        double R[9];
        fil_rotation_exp(ride.turn, R);
        for (int k = 0; k < 3; k++) {
            fil_apply3(R, ride.pose[0].axis[k], ride.pose[1].axis[k]);
        }
        for (int k = 0; k < 4; k++) {
            case_place(&ride.pose[k / 2], x[k % 2], ride.a.at[k / 2][k % 2]);
        }
        CHECK(size < 0.01);
        CHECK(fil_sweep_segment_shape(FIL_MOTION(ride.a), &ride.shape, ride.pose, 0.5 * radius) >
              1.0);
    }
}

static void what_is_not_finite_counts_as_a_meeting(void) {
    const FilPose pose[2] = {
        {{0.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}},
        {{0.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
    const FilShape shape = {.kind = FIL_SHAPE_BOX, .size = {1.0, 1.0, 1.0}};
    const Motion far = {{{{9.0, 9.0, 9.0}, {9.0, 8.0, 9.0}}, {{9.0, 9.0, 9.0}, {9.0, 8.0, 9.0}}}};
    for (int i = 0; i < 12; i++) {
        Motion a = far;
        a.at[i / 6][i / 3 % 2][i % 3] = i % 2 == 0 ? (double)NAN : INFINITY;
        CHECK(fil_sweep_segments(FIL_MOTION(a), FIL_MOTION(far), 0.0) == 0.0);
        CHECK(fil_sweep_segments(FIL_MOTION(far), FIL_MOTION(a), 0.0) == 0.0);
        CHECK(fil_sweep_segment_shape(FIL_MOTION(a), &shape, pose, 0.0) == 0.0);
    }
}

#define TESTS(X)                                      \
    X(the_time_is_the_first_one_within_the_tolerance) \
    X(no_crossing_is_missed)                          \
    X(head_on_lines_meet_when_they_should)            \
    X(grazing_is_told_apart)                          \
    X(resting_contact_is_no_crossing)                 \
    X(no_way_into_a_solid_is_missed)                  \
    X(inside_at_the_start_gives_zero)                 \
    X(what_rides_on_a_solid_does_not_enter_it)        \
    X(what_is_not_finite_counts_as_a_meeting)

CHECK_MAIN(TESTS)
