#ifndef FIL_RENDER_V3_H
#define FIL_RENDER_V3_H

// Vectors of 3 floats: places and directions near the middle of the picture, and linear colours.

#include <math.h>

// fmaxf() and fminf() are calls where NaN must not be lost; here the second one wins.
static inline float larger(float a, float b) {
    return a > b ? a : b;
}

static inline float smaller(float a, float b) {
    return a < b ? a : b;
}

typedef struct V3 {
    float x, y, z;
} V3;

static inline V3 v3(float x, float y, float z) {
    return (V3){x, y, z};
}

static inline V3 v3_of(const double a[3]) {
    return (V3){(float)a[0], (float)a[1], (float)a[2]};
}

static inline V3 v3_add(V3 a, V3 b) {
    return (V3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline V3 v3_sub(V3 a, V3 b) {
    return (V3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline V3 v3_scale(float s, V3 a) {
    return (V3){s * a.x, s * a.y, s * a.z};
}

/// a + s b
static inline V3 v3_more(V3 a, float s, V3 b) {
    return (V3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

/// part by part
static inline V3 v3_times(V3 a, V3 b) {
    return (V3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline V3 v3_mix(V3 a, V3 b, float t) {
    return v3_more(a, t, v3_sub(b, a));
}

static inline float v3_dot(V3 a, V3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline V3 v3_cross(V3 a, V3 b) {
    return (V3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float v3_norm(V3 a) {
    return sqrtf(v3_dot(a, a));
}

/// Of length 1; what is too short to have a direction becomes z.
static inline V3 v3_unit(V3 a) {
    const float length = v3_norm(a);
    return length > 1e-30f ? v3_scale(1.0f / length, a) : v3(0.0f, 0.0f, 1.0f);
}

#endif
