// glide.c - which of many pairs of moving segments may come near each other, four pairs at a time.
//
// Two segments, m_a -+ u and m_b -+ v, w = m_a - m_b. For any vector n whatever they are apart by
//     (|w n| - |u n| - |v n|) / |n|
// at least. Three are tried: the common perpendicular u x v, and what is perpendicular to one of
// the segments and points to the middle of the other. As the middles move by g_a and g_b they come
// closer by |g_a - g_b| at most; all else that they do is in their reach.
//
// Floats. Nothing needs n to be perpendicular to anything, so that its own round-off does no harm,
// however parallel the segments are. The products with n are wrong by 4 2^-24 |n| (|w|_1 + |u|_1 +
// |v|_1) at most, for which `small` times lengths is taken off; the rounding of middle and way, up
// to 2^-24 of their own size, is in the reach from the start (as if they reached farther). Numbers
// beyond the range of floats become infinite or zero: neither says that a pair is far, as squares
// below 1e-30 say nothing, and NaN compares as near.
#include "glide.h"

#include <math.h>

#include "math/vec3.h"

enum { LANES = 4 };
typedef int Mask __attribute__((vector_size(16)));
static const float small = 0x1p-20F;

void fil_glide_set(FilGlide *glide, const FilGlideFrame *frame, const double middle[3],
                   const double half[3], const double way[3], double reach) {
    double from[3];
    fil_subtract3(middle, frame->origin, from);
    const double unit = frame->per_unit, rounded = fil_norm3(from) + fil_norm3(way);
    *glide = (FilGlide){0};
    for (int k = 0; k < 3; k++) {
        glide->middle[k] = (float)(unit * from[k]);
        glide->half[k] = (float)(unit * half[k]);
        glide->way[k] = (float)(unit * way[k]);
    }
    glide->half[3] = (float)(unit * fil_norm3(half));
    glide->way[3] = (float)(unit * ((1.0 + 1e-6) * reach + 0x1p-22 * rounded));
}

// Four vectors of four numbers into four components of four vectors.
static inline void transpose(FilFour x[LANES]) {
    const FilFour a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const FilFour b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const FilFour c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const FilFour d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

static inline FilFour absolute(FilFour x) {
    return (FilFour)((Mask)x & 0x7fffffff);
}

static inline FilFour dot(const FilFour a[3], const FilFour b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline FilFour root(FilFour x) {
    for (int k = 0; k < LANES; k++) {
        x[k] = sqrtf(x[k]);
    }
    return x;
}

// Pairs that are farther apart along n than that.
static inline Mask far_along(const FilFour n[3], const FilFour w[3], const FilFour u[3],
                             const FilFour v[3], FilFour than) {
    const FilFour apart = absolute(dot(w, n)) - absolute(dot(u, n)) - absolute(dot(v, n));
    const FilFour square = apart * apart, nn = dot(n, n);
    return (apart > 0.0F) & (nn > 1e-30F) & (square > 1e-30F) & (square > than * than * nn);
}

static inline Mask far_pairs(const FilFour w[3], const FilFour u[4], const FilFour v[4],
                             FilFour reach) {
    const FilFour sizes = absolute(w[0]) + absolute(w[1]) + absolute(w[2]) + 2.0F * (u[3] + v[3]);
    const FilFour than = reach + small * (reach + sizes);
    const FilFour uu = dot(u, u), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
    FilFour across[3], beside_a[3], beside_b[3];
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        across[k] = u[i] * v[j] - u[j] * v[i];
        beside_a[k] = uu * w[k] - uw * u[k];
        beside_b[k] = vv * w[k] - vw * v[k];
    }
    return far_along(across, w, u, v, than) | far_along(beside_a, w, u, v, than) |
           far_along(beside_b, w, u, v, than);
}

// The next pairs, of which the last one stands for those that are not there. A bit for each that is
// far.
static inline unsigned test_four(const FilGlide *glides, int (*pairs)[2], int count) {
    FilFour w[LANES], u[LANES], v[LANES], way[LANES];
    for (int k = 0; k < LANES; k++) {
        const int *pair = pairs[k < count ? k : count - 1];
        const FilGlide *a = &glides[pair[0]], *b = &glides[pair[1]];
        w[k] = a->middle - b->middle;
        u[k] = a->half;
        v[k] = b->half;
        way[k] = a->way + b->way * (FilFour){-1.0F, -1.0F, -1.0F, 1.0F}; // and both reaches
    }
    transpose(w);
    transpose(u);
    transpose(v);
    transpose(way);
    const Mask far = far_pairs(w, u, v, way[3] + root(dot(way, way)));
    return (far[0] & 1U) | (far[1] & 2U) | (far[2] & 4U) | (far[3] & 8U);
}

int fil_glides_near(const FilGlide *glides, int (*pairs)[2], int count) {
    int near = 0;
    for (int k = 0; k < count; k += LANES) {
        const unsigned far = test_four(glides, pairs + k, count - k);
        for (int lane = 0; lane < LANES && k + lane < count; lane++) {
            pairs[near][0] = pairs[k + lane][0];
            pairs[near][1] = pairs[k + lane][1];
            near += !(far >> lane & 1U);
        }
    }
    return near;
}
