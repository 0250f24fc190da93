// sweep.c - the swept check: conservative advancement along separating planes.
//
// At time t let n be the unit vector between the closest points of two moving segments, which are
// `distance` apart. The plane perpendicular to n separates them, and goes on doing so for a while:
// the separation along the fixed n,
//     sigma(t') = min over the ends i, j of n . (a_i(t') - b_j(t')),
// is the least of four functions that are linear in time, and the distance is never below it. So
// until the first of them falls to the tolerance nothing can happen, and the search goes on there.
// It is Newton's method from the safe side: a head-on approach takes two steps; what grazes at a
// distance just above the tolerance halves its way in and then steps over; what rests or slides
// along does not move against n, and takes one. A step never reaches beyond a time at which the
// distance is the tolerance: nothing is missed, which is what makes it different from solving the
// cubic of coplanarity and hoping for its roots.
//
// A solid that turns is looked at from its own axes, where it stands still and where n bounds it
// for ever. There the ends of the segment run on curves, x(t) = R(t)^T (a(t) - p(t)), with
//     x' = R^T (a' - p' - w x (a - p)),    |x''| <= |w|^2 |a - p| + 2 |w| |a' - p'| =: K,
// and sigma_i(t') >= sigma_i + sigma_i' dt - K dt^2 / 2.
//
// Round-off: a distance is known to some eps times the size of the input; that much is added to
// the tolerance, and a step ends where at least half of it is still left. LIMIT is never reached
// in the tests; if it were, the time reached would be reported, which is on the safe side.
#include "sweep.h"

#include <float.h>

#include "math/rotation.h"
#include "math/vec3.h"
#include "segment.h"
#include "solid.h"
#include "sweep_mesh.h"

enum { LIMIT = 200 };
static const double NEVER = 2.0;

// Margins around a tolerance: below `hit` counts as a meeting, a step stays above `safe`.
typedef struct Margin {
    double safe, hit;
} Margin;

static Margin make_margin(double tolerance, double size) {
    const double noise = 64.0 * DBL_EPSILON * size;
    const double slack = fmax(noise, ldexp(tolerance, -16));
    return (Margin){tolerance + noise, tolerance + noise + slack};
}

// The point x at time t of a motion from x[0] on a line, `stride` doubles further to x[1].
static void move_points(const double *from, const double *to, double t, double out[2][3]) {
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            out[i][k] = (1.0 - t) * from[3 * i + k] + t * to[3 * i + k];
        }
    }
}

// The largest difference of coordinates from the first point, of `count` points.
static double find_size(const double *points, int count, const double origin[3]) {
    double size = 0.0;
    for (int i = 0; i < 3 * count; i++) {
        size = fmax(size, fabs(points[i] - origin[i % 3]));
    }
    return size;
}

// How long four corners stay apart along n.
static double safe_time(const double a[2][3], const double b[2][3], const double rate_a[2][3],
                        const double rate_b[2][3], const double n[3], double safe) {
    double least = NEVER;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            double apart[3], rate[3];
            fil_subtract3(a[i], b[j], apart);
            fil_subtract3(rate_a[i], rate_b[j], rate);
            const double sigma = fil_dot3(n, apart) - safe, fall = -fil_dot3(n, rate);
            if (fall > 0.0) {
                least = fmin(least, fmax(sigma, 0.0) / fall);
            }
        }
    }
    return least;
}

double fil_sweep_segments(const double a[2][2][3], const double b[2][2][3], double tolerance) {
    double rate_a[2][3], rate_b[2][3], fastest = 0.0;
    for (int i = 0; i < 2; i++) {
        fil_subtract3(a[1][i], a[0][i], rate_a[i]);
        fil_subtract3(b[1][i], b[0][i], rate_b[i]);
    }
    for (int i = 0; i < 4; i++) {
        double rate[3];
        fil_subtract3(rate_a[i / 2], rate_b[i % 2], rate);
        fastest = fmax(fastest, fil_norm3(rate));
    }
    const double size = fmax(find_size(a[0][0], 4, a[0][0]), find_size(b[0][0], 4, a[0][0]));
    const double far = fmax(fabs(a[0][0][0]), fmax(fabs(a[0][0][1]), fabs(a[0][0][2])));
    const Margin margin = make_margin(tolerance, size + 0.1 * far);
    double t = 0.0;
    for (int pass = 0; pass < LIMIT; pass++) {
        double p[2][3], q[2][3], n[3];
        move_points(a[0][0], a[1][0], t, p);
        move_points(b[0][0], b[1][0], t, q);
        const FilClosest pair = fil_closest_segments(FIL_POINTS(p), FIL_POINTS(q));
        const double distance = sqrt(pair.distance2);
        if (!(distance > margin.hit)) {
            return t;
        }
        for (int k = 0; k < 3; k++) {
            n[k] = pair.apart[k] / distance;
        }
        const double plane = safe_time(FIL_POINTS(p), FIL_POINTS(q), FIL_POINTS(rate_a),
                                       FIL_POINTS(rate_b), n, margin.safe);
        t += fmax(plane, (distance - margin.safe) / fastest);
        if (!(t <= 1.0)) {
            return NEVER;
        }
    }
    return t;
}

// --- solids --------------------------------------------------------------------------------------

// A segment seen from a solid that moves.
typedef struct Ride {
    const double (*a)[2][3];
    const FilPose *start;
    double shift[3], turn[3]; // of the solid, over the whole step
    double rate[2][3];        // of the segment's ends
    double bend;              // the bound K
} Ride;

static Ride make_ride(const double a[2][2][3], const FilPose pose[2]) {
    Ride ride = {.a = a, .start = &pose[0]};
    // columns of the rotations are the axes: R1 R0^T
    double turn[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            turn[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) {
                turn[3 * i + j] += pose[1].axis[k][i] * pose[0].axis[k][j];
            }
        }
    }
    fil_rotation_log(turn, ride.turn);
    fil_subtract3(pose[1].position, pose[0].position, ride.shift);
    const double spin = fil_norm3(ride.turn);
    for (int i = 0; i < 2; i++) {
        double before[3], after[3], rate[3];
        fil_subtract3(a[1][i], a[0][i], ride.rate[i]);
        fil_subtract3(ride.rate[i], ride.shift, rate);
        fil_subtract3(a[0][i], pose[0].position, before);
        fil_subtract3(a[1][i], pose[1].position, after);
        const double away = fmax(fil_norm3(before), fil_norm3(after)); // convex in time
        ride.bend = fmax(ride.bend, spin * (spin * away + 2.0 * fil_norm3(rate)));
    }
    return ride;
}

// The segment and its ends' rates at time t, in the solid's axes.
static void see(const Ride *ride, double t, double x[2][3], double rate[2][3]) {
    double turn[3], R[9], axis[3][3], p[2][3];
    for (int k = 0; k < 3; k++) {
        turn[k] = t * ride->turn[k];
    }
    fil_rotation_exp(turn, R);
    for (int k = 0; k < 3; k++) {
        fil_apply3(R, ride->start->axis[k], axis[k]);
    }
    move_points(ride->a[0][0], ride->a[1][0], t, p);
    for (int i = 0; i < 2; i++) {
        double from[3], moving[3], turning[3];
        for (int k = 0; k < 3; k++) {
            from[k] = p[i][k] - (ride->start->position[k] + t * ride->shift[k]);
        }
        fil_cross3(ride->turn, from, turning);
        for (int k = 0; k < 3; k++) {
            moving[k] = ride->rate[i][k] - ride->shift[k] - turning[k];
        }
        for (int k = 0; k < 3; k++) {
            x[i][k] = fil_dot3(axis[k], from);
            rate[i][k] = fil_dot3(axis[k], moving);
        }
    }
}

// The first time at which sigma - fall t - K t^2 / 2 is 0, sigma >= 0.
static double fall_time(double sigma, double fall, double bend) {
    const double root = sqrt(fall * fall + 2.0 * bend * sigma);
    if (fall > 0.0) {
        return 2.0 * sigma / (fall + root);
    }
    return bend > 0.0 ? (root - fall) / bend : NEVER;
}

static double sweep_solid(const double a[2][2][3], const FilShape *shape, const FilPose pose[2],
                          double tolerance) {
    const Ride ride = make_ride(a, pose);
    const double size = fmax(find_size(a[0][0], 4, pose[0].position),
                             find_size(pose[1].position, 1, pose[0].position));
    const double *o = pose[0].position;
    const double far = fmax(fabs(o[0]), fmax(fabs(o[1]), fabs(o[2])));
    const Margin margin = make_margin(tolerance, size + 0.1 * far);
    double t = 0.0;
    for (int pass = 0; pass < LIMIT; pass++) {
        double x[2][3], rate[2][3];
        see(&ride, t, x, rate);
        const FilSolidGap gap = fil_solid_gap(shape, FIL_POINTS(x));
        if (!(gap.distance > margin.hit)) {
            return t;
        }
        double nearest[3], step = NEVER;
        fil_segment_point(FIL_POINTS(x), gap.t, nearest);
        for (int i = 0; i < 2; i++) {
            double from[3];
            fil_subtract3(x[i], nearest, from);
            const double sigma = gap.distance + fil_dot3(gap.normal, from) - margin.safe;
            const double fall = -fil_dot3(gap.normal, rate[i]);
            step = fmin(step, fall_time(fmax(sigma, 0.0), fall, ride.bend));
        }
        t += step;
        if (!(t <= 1.0)) {
            return NEVER;
        }
    }
    return t;
}

double fil_sweep_segment_shape(const double a[2][2][3], const FilShape *shape,
                               const FilPose pose[2], double tolerance) {
    if (shape->kind == FIL_SHAPE_MESH) {
        return fil_sweep_segment_mesh(a, shape->mesh, pose, tolerance);
    }
    return sweep_solid(a, shape, pose, tolerance);
}
