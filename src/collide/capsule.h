#ifndef FIL_COLLIDE_CAPSULE_H
#define FIL_COLLIDE_CAPSULE_H

// What the tests of capsules share.

#include <math.h>

#include "math/least.h"

/// How far from the point at fraction t of its axis (of the given length) the surface of a capsule
/// lies along a unit direction that makes the cosine c with the axis: radius / sin on the side, the
/// farther crossing of the sphere at an end.
static inline double fil_capsule_exit(double radius, double length, double t, double c) {
    const double to_end = c > 0.0 ? (1.0 - t) * length : t * length;
    const double cosine = fabs(c), sine2 = 1.0 - cosine * cosine;
    if (sine2 > 0.0 && radius * cosine <= to_end * sqrt(sine2)) {
        return radius / sqrt(sine2);
    }
    return to_end * cosine + sqrt(fil_most(0.0, radius * radius - to_end * to_end * sine2));
}

/// How much of two touches there is where axes drift apart sideways by `drift` over their overlap:
/// 1 up to an eighth of `size`, 0 from its half on (see touch_capsules.c).
static inline double fil_pair_spread(double drift, double size) {
    const double spread = (0.5 * size - drift) / (0.375 * size);
    return spread > 0.0 ? fil_least(spread, 1.0) : 0.0; // 0 for 0 / 0
}

/// A unit vector perpendicular to `u`, which need not be of unit length (0: any).
static inline void fil_perpendicular3(const double u[3], double out[3]) {
    int k = 0;
    for (int i = 1; i < 3; i++) {
        k = fabs(u[i]) < fabs(u[k]) ? i : k;
    }
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double size = sqrt(u[i] * u[i] + u[j] * u[j]);
    out[k] = 0.0;
    out[i] = size > 0.0 ? u[j] / size : 1.0;
    out[j] = size > 0.0 ? -u[i] / size : 0.0;
}

#endif
