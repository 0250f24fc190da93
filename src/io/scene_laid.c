// scene_laid.c - hair that starts combed.
//
// A hair with the root r and the scalp's normal n there lies in the plane of `down` and of u, the
// part of n + comb across `down`. It leaves the scalp at the angle `rise`, that is in the direction
//     t = cos(b) u + sin(b) down   with   t . n = sin(rise),
// turns down on a circle until it hangs, and goes on straight. On a sphere a hair that started
// nearer the middle has climbed more by the time it passes above another one's root, so hairs lie
// in layers and do not cross. The length of the arc is a = radius (pi/2 - b).
//
// The elements are shared out between arc and straight part, so that the shape is exact for a
// helix; of a clothoid, whose curvature is linear in every element, the curvature falls to 0 within
// the first element of the straight part, half of which belongs to the arc: the angle is the same.
// Nodal models have elements of one length, and curvatures at the joints.
#include "scene_build.h"

#include <math.h>

#include "math/vec3.h"

#define PI 3.14159265358979323846

// How the elements are shared out: `bent` of them on the arc, of the length `first`; the others of
// the length `second`.
typedef struct Share {
    int bent;
    double first, second;
} Share;

// Where `joints`, half of the element after the arc is part of it.
static Share share_out(int elements, double length, double arc, bool joints) {
    const double half = joints ? 0.5 : 0.0;
    Share share = {.bent = elements, .first = length / elements, .second = length / elements};
    if (!(arc < length)) {
        return share;
    }
    if (elements > 1) {
        const int wanted = (int)floor(elements * arc / length - half + 0.5);
        share.bent = wanted < 1 ? 1 : wanted > elements - 1 ? elements - 1 : wanted;
        share.second = (length - arc) / (elements - share.bent - half);
        share.first = (arc - half * share.second) / share.bent;
    }
    // the arc has no element of its own, or too short a one
    if (elements == 1 || !(share.first > 0.1 * share.second)) {
        share = (Share){.first = length / elements, .second = length / elements};
    }
    return share;
}

// Curvatures in the hair's own axes, where kappa1 > 0 bends it down.
static void bend_hair(FilRodSpec *hair, const Share *share, double kappa, double arc, bool joints) {
    const int count = hair->elements + (joints ? 1 : 0);
    for (int k = 0; k < count; k++) {
        hair->curvatures.items[k][0] = hair->curvatures.items[k][2] = 0.0;
        hair->curvatures.items[k][1] = k < share->bent + (joints ? 1 : 0) ? kappa : 0.0;
    }
    if (share->bent == 0) { // all of the angle in the first element
        hair->curvatures.items[0][1] = kappa * arc / share->first * (joints ? 2.0 : 1.0);
    }
}

// The direction at the root, and the arc's length for a radius of 1.
static double aim_hair(const FilHairSpec *spec, const double normal[3], FilRootSpec *root) {
    double down[3], u[3];
    const double size = fil_norm3(spec->laid.down);
    for (int k = 0; k < 3; k++) {
        down[k] = spec->laid.down[k] / size;
        u[k] = normal[k] + spec->comb[k];
    }
    fil_add3(-fil_dot3(u, down), down, u);
    double across = fil_norm3(u);
    if (!(across > 1e-6)) { // the middle itself: any direction
        const int least = fabs(down[0]) < 0.6 ? 0 : 1;
        for (int k = 0; k < 3; k++) {
            u[k] = (k == least) - down[least] * down[k];
        }
        across = fil_norm3(u);
    }
    for (int k = 0; k < 3; k++) {
        u[k] /= across;
    }
    // normal . t = A cos(b + phi)
    const double x = fil_dot3(u, normal), y = -fil_dot3(down, normal), A = hypot(x, y);
    const double b = acos(fmin(sin(spec->laid.rise) / fmax(A, 1e-9), 1.0)) - atan2(y, x);
    for (int k = 0; k < 3; k++) {
        root->along[k] = cos(b) * u[k] + sin(b) * down[k];
        root->up[k] = sin(b) * u[k] - cos(b) * down[k];
    }
    return 0.5 * PI - b;
}

FilStatus fil_scene_lay_hair(FilSceneBuild *build, const FilHairSpec *spec, const double normal[3],
                             FilRodSpec *hair) {
    const int n = hair->elements;
    const bool helix = hair->model == FIL_ROD_HELIX, clothoid = hair->model == FIL_ROD_CLOTHOID;
    const double turn = fmax(aim_hair(spec, normal, &hair->root), 0.0);
    const double arc = turn * spec->laid.radius, kappa = 1.0 / spec->laid.radius;
    double *lengths = FIL_NEW(build->arena, double, n);
    hair->curvatures.items = FIL_NEW_ZEROED(build->arena, FilVec3, (size_t)n + 1);
    if (lengths == NULL || hair->curvatures.items == NULL) {
        return fil_scene_no_memory(build);
    }
    hair->start = FIL_START_CURVATURES;
    hair->curvatures.count = helix ? n : n + 1;
    if (helix || clothoid) {
        const Share share = share_out(n, hair->length, arc, clothoid);
        bend_hair(hair, &share, kappa, arc, clothoid);
        for (int k = 0; k < n; k++) {
            lengths[k] = k < share.bent ? share.first : share.second;
        }
        hair->element_lengths.items = lengths;
        hair->element_lengths.count = n;
        return FIL_OK;
    }
    for (int k = 0; k <= n; k++) { // the mean of what is half an element to both sides
        const double h = hair->length / n, from = fmax((k - 0.5) * h, 0.0);
        const double part = fmin(fmax((arc - from) / ((k + 0.5) * h - from), 0.0), 1.0);
        hair->curvatures.items[k][1] = part * kappa;
    }
    return FIL_OK;
}
