// rays.c - random directions, and rays that ask what is in the way.
//
// Each pair of random numbers (place in the pixel, on the light, on the sky) is Sobol's first two
// dimensions, in an order and with a scrambling that hash the source's seed and the pair.
#include "rays.h"

FilSource fil_source_make(const FilModel *model, uint32_t seed, int samples) {
    FilSource source = {.query = {.model = model, .seed = seed, .thin = 1.0f, .own = -1}};
    rtcInitIntersectContext(&source.query.context);
    while (source.query.mask + 1 < (uint32_t)samples) {
        source.query.mask = 2 * source.query.mask + 1;
    }
    return source;
}

// --- random numbers ------------------------------------------------------------------------------

void fil_draw_pair(const FilSource *source, uint32_t pair, uint32_t every, float out[2]) {
    const uint32_t seed = source->query.seed;
    const uint32_t a = fil_hash2(seed, 3 * pair), b = fil_hash2(seed, 3 * pair + 1);
    const uint32_t at = fil_shuffle(source->query.sample / every, source->query.mask / every, a);
    uint32_t second = 0;
    for (uint32_t n = at, v = 1u << 31; n != 0; n >>= 1, v ^= v >> 1) {
        second ^= (n & 1) != 0 ? v : 0;
    }
    out[0] = fil_unit_float(fil_reverse(at) ^ b);
    out[1] = fil_unit_float(second ^ fil_hash2(b, pair));
}

// A place in the unit disc.
static void draw_disc(const FilSource *source, uint32_t pair, uint32_t every, float out[2]) {
    float u[2];
    fil_draw_pair(source, pair, every, u);
    const float radius = sqrtf(u[0]), angle = 6.2831853f * u[1];
    out[0] = radius * cosf(angle);
    out[1] = radius * sinf(angle);
}

// --- directions ----------------------------------------------------------------------------------

// Two directions at right angles to a third (Duff et al. 2017).
static void make_axes(V3 n, V3 *a, V3 *b) {
    const float sign = copysignf(1.0f, n.z), p = -1.0f / (sign + n.z), q = n.x * n.y * p;
    *a = v3(1.0f + sign * n.x * n.x * p, sign * q, -sign * n.x);
    *b = v3(q, sign + n.y * n.y * p, -n.y);
}

V3 fil_towards_light(const FilSource *source) {
    const V3 light = source->query.model->light;
    float disc[2];
    V3 a, b;
    if (source->query.mask == 0) {
        return light;
    }
    draw_disc(source, 1, 1, disc);
    make_axes(light, &a, &b);
    return v3_unit(
        v3_more(v3_more(light, FIL_LIGHT_RADIUS * disc[0], a), FIL_LIGHT_RADIUS * disc[1], b));
}

V3 fil_towards_sky(const FilSource *source, uint32_t every, V3 normal) {
    float disc[2];
    V3 a, b;
    draw_disc(source, 2, every, disc);
    make_axes(normal, &a, &b);
    const float rest = 1.0f - disc[0] * disc[0] - disc[1] * disc[1];
    const V3 up = v3_scale(sqrtf(larger(rest, 0.0f)), normal);
    return v3_more(v3_more(up, disc[0], a), disc[1], b);
}

// --- what is in the way --------------------------------------------------------------------------

// The part of a ray, from `low` to `high`, between two walls of the box.
static void cut(float from, float towards, const float wall[2], float *low, float *high) {
    const float a = (wall[0] - from) / towards, b = (wall[1] - from) / towards;
    if (a <= b || b <= a) { // in a wall, along it, they say nothing
        *low = larger(*low, smaller(a, b));
        *high = smaller(*high, larger(a, b));
    }
}

bool fil_is_near(const FilModel *model, V3 from, V3 towards, float distance) {
    float low = 0.0f, high = distance;
    cut(from.x, towards.x, model->box[0], &low, &high);
    cut(from.y, towards.y, model->box[1], &low, &high);
    cut(from.z, towards.z, model->box[2], &low, &high);
    return low <= high;
}

bool fil_is_blocked(FilSource *source, V3 from, V3 towards, float distance) {
    FilQuery *query = &source->query;
    if (!fil_is_near(query->model, from, towards, distance)) {
        return false;
    }
    source->sheltered = true;
    const bool touched = query->touched;
    struct RTCRay ray = {.org_x = from.x,
                         .org_y = from.y,
                         .org_z = from.z,
                         .dir_x = towards.x,
                         .dir_y = towards.y,
                         .dir_z = towards.z,
                         .tfar = distance,
                         .mask = 0xffffffffu};
    query->thin = FIL_HAIR_OPACITY;
    rtcOccluded1(query->model->scene, &query->context, &ray);
    query->thin = 1.0f;
    query->touched = touched;
    return ray.tfar < 0.0f;
}
