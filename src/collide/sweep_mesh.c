// sweep_mesh.c - did a moving segment meet a moving mesh?
//
// Conservative advancement. Seen from the mesh, a point x of the segment moves at
//     R^T (v_x - v_p - w x (x - p)),
// which over the whole step is at most |v_x - v_p| + |w| |x - p|; between the ends of the segment
// it is a mean of theirs. The distance to the surface cannot shrink faster, so after each look at
// the distance d the time (d - tolerance) / speed is free. Steps shrink geometrically on the way
// to a hit; a segment that skims the surface at height h takes (way / h) looks.
#include "sweep_mesh.h"

#include <math.h>

#include "collide/mesh.h"
#include "collide/sweep_solids.h"
#include "collide/triangle.h"
#include "math/rotation.h"
#include "math/vec3.h"

enum { MOST_LOOKS = 4000 }; // then the time reached is reported: early, never late
#define CLEAR 2.0           // no hit

typedef struct Motion {
    const FilPose *pose; // [2]
    double turn[3];      // rotation vector of the step, world axes
} Motion;

static void find_turn(const FilPose pose[2], double turn[3]) {
    double R[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) {
                R[3 * i + j] += pose[1].axis[k][i] * pose[0].axis[k][j];
            }
        }
    }
    fil_rotation_log(R, turn);
}

// The segment at `time`, in the axes of the mesh.
static void find_segment(const double a[2][2][3], const Motion *motion, double time,
                         double own[2][3]) {
    FilPose pose;
    fil_pose_between(motion->pose, time, &pose);
    for (int end = 0; end < 2; end++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = (1.0 - time) * a[0][end][k] + time * a[1][end][k];
        }
        fil_pose_to_own(&pose, x, own[end]);
    }
}

// The fastest that a point of the segment moves, seen from the mesh, per step; and the largest
// coordinate there is, for the rounding.
static double bound_speed(const double a[2][2][3], const Motion *motion, double *largest) {
    const double angle = fil_norm3(motion->turn);
    double speed = 0.0;
    for (int end = 0; end < 2; end++) {
        double from[3], to[3], way[3];
        fil_subtract3(a[0][end], motion->pose[0].position, from);
        fil_subtract3(a[1][end], motion->pose[1].position, to);
        fil_subtract3(to, from, way);
        const double arm = fmax(fil_norm3(from), fil_norm3(to));
        speed = fmax(speed, fil_norm3(way) + angle * arm);
        *largest = fmax(*largest, arm);
        for (int time = 0; time < 2; time++) {
            *largest = fmax(*largest, fil_norm3(a[time][end]));
            *largest = fmax(*largest, fil_norm3(motion->pose[time].position));
        }
    }
    return speed;
}

double fil_sweep_segment_mesh(const double a[2][2][3], const FilMesh *mesh, const FilPose pose[2],
                              double tolerance) {
    Motion motion = {.pose = pose};
    double own[2][3], largest = mesh->size;
    FilBox box;
    find_turn(pose, motion.turn);
    const double speed = bound_speed(a, &motion, &largest);
    const double slack = fmax(1e-3 * tolerance, 1e-13 * largest);
    find_segment(a, &motion, 0.0, own);
    if (!(isfinite(speed) && isfinite(largest))) {
        return 0.0; // nothing is known: say so at once
    }
    fil_box_of_segment(FIL_ROWS3(own), speed + tolerance + slack, &box);
    if (!fil_box_overlap(&box, &mesh->box)) {
        return CLEAR;
    }
    if (fil_mesh_contains(mesh, own[0])) {
        return 0.0;
    }
    double time = 0.0;
    for (int look = 0; look < MOST_LOOKS; look++) {
        const double ahead = speed * (1.0 - time) + tolerance + 2.0 * slack;
        const double free_way =
            fil_mesh_segment_distance(mesh, FIL_ROWS3(own), ahead) - tolerance - slack;
        if (!(free_way > 0.0)) {
            return time;
        }
        time += free_way / speed;
        if (!(time <= 1.0)) { // speed 0 too
            return CLEAR;
        }
        find_segment(a, &motion, time, own);
    }
    return time;
}
