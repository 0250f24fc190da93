// sweep_solids.c - did two moving solids go through each other?
//
// Conservative advancement. Let g be the signed distance of the solids (below 0: they overlap). It
// falls no faster than their points move against each other, so that from g to -depth takes the
// part
//     (g + depth) / way
// of the step at least, and the search goes on there. Steps are as large as the gap; where the
// solids rest against each other or slide along, g stays at 0 and every step is depth / way.
#include "sweep_solids.h"

#include "collide/touch.h"
#include "math/rotation.h"
#include "math/vec3.h"

enum { MOST_LOOKS = 1000 }; // then the time reached is reported: early, never late
#define CLEAR 2.0           // no hit

void fil_pose_between(const FilPose pose[2], double time, FilPose *out) {
    double R[9], turn[3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) {
                R[3 * i + j] += pose[1].axis[k][i] * pose[0].axis[k][j];
            }
        }
    }
    fil_rotation_log(R, turn);
    for (int k = 0; k < 3; k++) {
        turn[k] *= time;
        out->position[k] = (1.0 - time) * pose[0].position[k] + time * pose[1].position[k];
    }
    fil_rotation_exp(turn, R);
    for (int k = 0; k < 3; k++) {
        fil_apply3(R, pose[0].axis[k], out->axis[k]);
    }
}

double fil_sweep_shapes(const FilShape *a, const FilPose pose_a[2], const FilShape *b,
                        const FilPose pose_b[2], double way, double depth) {
    double time = 0.0;
    for (int look = 0; look < MOST_LOOKS; look++) {
        FilTouch touches[FIL_TOUCH_MAX];
        FilPose at[2];
        fil_pose_between(pose_a, time, &at[0]);
        fil_pose_between(pose_b, time, &at[1]);
        const double ahead = way * (1.0 - time) - depth;
        const int count = fil_touch_shapes(a, &at[0], b, &at[1], ahead, touches);
        if (count == 0) {
            return CLEAR; // out of reach until the end
        }
        if (!(touches[0].gap > -depth)) {
            return time;
        }
        time += (touches[0].gap + depth + 1e-3 * depth) / way;
        if (!(time <= 1.0)) {
            return CLEAR;
        }
    }
    return time;
}
