#ifndef FIL_TESTS_COLLIDE_CASES_H
#define FIL_TESTS_COLLIDE_CASES_H

// Segments for the tests of collision detection: random ones and nasty ones. Parallel, degenerate,
// touching, crossing and coplanar cases come from points on a small lattice, which meet exactly,
// with disturbances of any size on top.

#include "base/random.h"
#include "check.h"
#include "collide/segment.h"
#include "filum/pose.h"
#include "math/rotation.h"
#include "math/vec3.h"

static inline double case_power(FilRandom *random, double low, double high) {
    return pow(10.0, fil_random_uniform(random, low, high));
}

// Points of one of five kinds of configuration, of size about 1.
static inline void case_points(FilRandom *random, double (*p)[3], int count) {
    const int kind = fil_random_int(random, 5);
    const double noise = kind == 2 ? case_power(random, -18.0, -1.0) : 0.0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            const double lattice = fil_random_int(random, 4) - 1;
            const double free = fil_random_uniform(random, -1.0, 1.0);
            p[i][k] = kind == 0 ? free : lattice + noise * free;
        }
        if (kind == 1 && fil_random_int(random, 2) == 0) {
            fil_copy3(p[fil_random_int(random, i + 1)], p[i]); // points that fall together
        }
    }
    if (kind >= 3 && count > 3) { // the second pair parallel to the first one, or nearly
        const double factor =
            kind == 3 ? fil_random_int(random, 5) - 2 : fil_random_uniform(random, -2.0, 2.0);
        const double off = fil_random_int(random, 2) == 0 ? 0.0 : case_power(random, -18.0, -1.0);
        for (int k = 0; k < 3; k++) {
            p[3][k] = p[2][k] + factor * (p[1][k] - p[0][k]) +
                      off * fil_random_uniform(random, -1.0, 1.0);
        }
    }
    if (fil_random_int(random, 4) == 0 && count > 1) { // wildly different lengths
        const double factor = case_power(random, -12.0, 3.0);
        for (int k = 0; k < 3; k++) {
            p[1][k] = p[0][k] + factor * (p[1][k] - p[0][k]);
        }
    }
}

static inline double case_size(const double (*p)[3], int count) {
    double size = 0.0;
    for (int i = 1; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            size = fmax(size, fabs(p[i][k] - p[0][k]));
        }
    }
    return size;
}

static inline void case_direction(FilRandom *random, double n[3]) {
    double size = 0.0;
    while (!(size > 1e-3)) {
        for (int k = 0; k < 3; k++) {
            n[k] = fil_random_normal(random);
        }
        size = fil_norm3(n);
    }
    for (int k = 0; k < 3; k++) {
        n[k] /= size;
    }
}

static inline FilPose case_pose(FilRandom *random, double distance) {
    FilPose pose;
    double q[4], R[9];
    for (int k = 0; k < 4; k++) {
        q[k] = fil_random_normal(random);
    }
    fil_rotation_from_quaternion(q, R);
    for (int i = 0; i < 3; i++) {
        pose.position[i] = fil_random_uniform(random, -distance, distance);
        for (int k = 0; k < 3; k++) {
            pose.axis[i][k] = R[3 * i + k];
        }
    }
    return pose;
}

// From a pose's own axes to the world's, and back.
static inline void case_place(const FilPose *pose, const double x[3], double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = pose->position[k] + x[0] * pose->axis[0][k] + x[1] * pose->axis[1][k] +
                 x[2] * pose->axis[2][k];
    }
}

static inline void case_local(const FilPose *pose, const double x[3], double out[3]) {
    double from[3];
    fil_subtract3(x, pose->position, from);
    for (int k = 0; k < 3; k++) {
        out[k] = fil_dot3(pose->axis[k], from);
    }
}

#endif
