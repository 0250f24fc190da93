// shade.c - the colour of a pixel.
//
// Light. A wide key light over the left shoulder, with a soft shadow, and a sky that is brighter
// above than below, dimmed by rays that look for what is near (ambient occlusion).
//
// Surfaces are Lambert's with a highlight and a bright rim. Hair has no surface: Kajiya and Kay's
// model of a thin cylinder, whose light depends on the angle to the tangent alone, with two
// highlights as Marschner found them: a white one, shifted towards the root, from light that is
// reflected at once, and a coloured one, shifted to the tip, from light that went through.
//
// Rays. Each sample looks for what is there; the hair of a pixel is much alike, so that two of its
// samples share a ray to the light and four share one to the sky, surfaces share those by twos: a
// fifth less time than with rays of their own, for a twentieth more noise. The ground does not:
// four samples tell whether it is in the open, and must know.
//
// Samples. Each pair of random numbers (place in the pixel, on the light, on the sky) is Sobol's
// first two dimensions, in an order and with a scrambling that hash the pixel, so that pixels and
// pairs know nothing of each other and any order of the pixels gives the same picture.
#include "model.h"

#include <string.h>

static const float light_radius = 0.10f;  // tangent of half the angle of the light
static const float bounced = 0.22f;       // of the sky's light, that what is near gives back
static const float preview_sky = 0.75f;   // how much of the sky is seen, where nobody looks
static const float hair_opacity = 0.70f;  // of a hair, to light
static const float filter_radius = 0.75f; // pixels

typedef enum Sky { SKY_NONE, SKY_HAIR, SKY_SURFACE, SKY_PLANE } Sky; // who looks at it

// All that holds for a pixel.
typedef struct Context {
    const FilModel *model;
    const FilRenderOptions *options;
    FilQuery query;
    uint32_t seed, mask; // mask: samples of a power of two, less one
    uint32_t sample;
    V3 behind; // what there is where nothing is
    float size;
    Sky open_kind; // what saw the sky last, and how much of it
    float open;
    bool has_lit; // the last sample was of hair, and lit so
    float lit;
} Context;

typedef struct Surface {
    V3 place, normal, tangent, colour;
    float offset; // m, from where rays may start
    bool hair;
} Surface;

// --- random numbers ------------------------------------------------------------------------------

static float unit_float(uint32_t bits) {
    return (float)(bits >> 8) * 0x1p-24f;
}

static uint32_t reverse(uint32_t n) {
    n = n << 16 | n >> 16;
    n = (n & 0x00ff00ffu) << 8 | (n & 0xff00ff00u) >> 8;
    n = (n & 0x0f0f0f0fu) << 4 | (n & 0xf0f0f0f0u) >> 4;
    n = (n & 0x33333333u) << 2 | (n & 0xccccccccu) >> 2;
    return (n & 0x55555555u) << 1 | (n & 0xaaaaaaaau) >> 1;
}

// For every sample, or for every 2nd or 4th (`every`), a pair of its own.
static void draw_pair(const Context *c, uint32_t pair, uint32_t every, float out[2]) {
    const uint32_t a = fil_hash2(c->seed, 3 * pair), b = fil_hash2(c->seed, 3 * pair + 1);
    const uint32_t at = (c->sample / every * (2 * (a >> 16) + 1) + a) & (c->mask / every);
    uint32_t second = 0;
    for (uint32_t n = at, v = 1u << 31; n != 0; n >>= 1, v ^= v >> 1) {
        second ^= (n & 1) != 0 ? v : 0;
    }
    out[0] = unit_float(reverse(at) ^ b);
    out[1] = unit_float(second ^ fil_hash2(b, pair));
}

static float tent(float u) {
    return u < 0.5f ? sqrtf(2.0f * u) - 1.0f : 1.0f - sqrtf(2.0f - 2.0f * u);
}

// Two directions at right angles to a third (Duff et al. 2017).
static void make_axes(V3 n, V3 *a, V3 *b) {
    const float sign = copysignf(1.0f, n.z), p = -1.0f / (sign + n.z), q = n.x * n.y * p;
    *a = v3(1.0f + sign * n.x * n.x * p, sign * q, -sign * n.x);
    *b = v3(q, sign + n.y * n.y * p, -n.y);
}

// A place in the unit disc.
static void draw_disc(const Context *c, uint32_t pair, uint32_t every, float out[2]) {
    float u[2];
    draw_pair(c, pair, every, u);
    const float radius = sqrtf(u[0]), angle = 6.2831853f * u[1];
    out[0] = radius * cosf(angle);
    out[1] = radius * sinf(angle);
}

// --- rays ----------------------------------------------------------------------------------------

// Does a ray come near anything at all? Most of those from the ground do not.
static bool is_near(const FilModel *model, V3 from, V3 towards, float distance) {
    const V3 to = v3_sub(model->centre, from);
    const float along = v3_dot(to, towards), off = v3_dot(to, to) - along * along;
    const float reach = model->reach;
    return off < reach * reach && along > -reach && along - reach < distance;
}

static bool is_blocked(Context *c, V3 from, V3 towards, float distance) {
    if (!is_near(c->model, from, towards, distance)) {
        return false;
    }
    const bool touched = c->query.touched;
    struct RTCRay ray = {.org_x = from.x,
                         .org_y = from.y,
                         .org_z = from.z,
                         .dir_x = towards.x,
                         .dir_y = towards.y,
                         .dir_z = towards.z,
                         .tfar = distance,
                         .mask = 0xffffffffu};
    c->query.thin = hair_opacity;
    rtcOccluded1(c->model->scene, &c->query.context, &ray);
    c->query.thin = 1.0f;
    c->query.touched = touched;
    return ray.tfar < 0.0f;
}

// How much of the key light is seen. Samples of hair share a ray by twos.
static float see_light(Context *c, V3 from, bool hair, V3 *direction) {
    const uint32_t every = hair ? 2 : 1;
    float disc[2] = {0.0f, 0.0f}; // a preview has hard shadows rather than noise
    V3 a, b;
    if (c->options->samples > 1) {
        draw_disc(c, 1, every, disc);
    }
    make_axes(c->model->light, &a, &b);
    V3 towards = v3_more(c->model->light, light_radius * disc[0], a);
    *direction = v3_unit(v3_more(towards, light_radius * disc[1], b));
    if (!(hair && c->has_lit && c->sample % every != 0)) {
        c->lit = is_blocked(c, from, *direction, INFINITY) ? 0.0f : 1.0f;
    }
    c->has_lit = hair;
    return c->lit;
}

// How much of the sky is seen, weighed by the cosine to the normal. What one sample of a pixel sees
// holds for the next ones on the same kind of thing too.
static float see_sky(Context *c, V3 from, V3 normal, Sky kind) {
    const uint32_t every = kind == SKY_HAIR ? 4 : kind == SKY_SURFACE ? 2 : 1;
    float disc[2];
    V3 a, b;
    if (c->options->samples == 1) {
        return preview_sky;
    }
    if (c->open_kind == kind && c->sample % every != 0) {
        return c->open;
    }
    draw_disc(c, 2, every, disc);
    make_axes(normal, &a, &b);
    const float rest = 1.0f - disc[0] * disc[0] - disc[1] * disc[1];
    V3 towards = v3_scale(sqrtf(larger(rest, 0.0f)), normal);
    towards = v3_more(v3_more(towards, disc[0], a), disc[1], b);
    const float distance = (kind == SKY_HAIR ? 0.08f : kind == SKY_PLANE ? 0.7f : 0.4f) * c->size;
    c->open = is_blocked(c, from, towards, distance) ? bounced : 1.0f; // what is near is lit too
    c->open_kind = kind;
    return c->open;
}

// --- surfaces ------------------------------------------------------------------------------------

static V3 sky(V3 normal) {
    const V3 above = v3(0.50f, 0.54f, 0.60f), below = v3(0.24f, 0.22f, 0.20f);
    return v3_mix(below, above, 0.5f + 0.5f * normal.z);
}

static V3 key_light(void) {
    return v3(0.98f, 0.94f, 0.87f);
}

// sine of the angle between unit vectors
static float sine(V3 a, V3 b) {
    const float cosine = v3_dot(a, b);
    return sqrtf(larger(1.0f - cosine * cosine, 0.0f));
}

static V3 shade_hair(const Surface *at, V3 view, V3 light, float lit, float open) {
    const V3 t = at->tangent, facing = v3_unit(v3_more(view, -v3_dot(view, t), t));
    const V3 half = v3_unit(v3_add(light, view));
    const float diffuse = 0.15f + 0.75f * sine(t, light);
    const float first = powf(sine(v3_unit(v3_more(t, 0.16f, facing)), half), 110.0f);
    const float second = powf(sine(v3_unit(v3_more(t, -0.14f, facing)), half), 22.0f);
    const float through = 0.35f * powf(larger(-v3_dot(view, light), 0.0f), 6.0f);
    // light that has wandered through the others is what a hair in the shade is seen by
    V3 key = v3_scale(diffuse + 1.1f * second + through, at->colour);
    key = v3_add(key, v3_scale(0.22f * first, v3(1.0f, 1.0f, 1.0f)));
    V3 out = v3_scale(1.15f * lit, v3_times(key, key_light()));
    const V3 around = v3_times(at->colour, sky(v3_unit(v3_add(facing, v3(0.0f, 0.0f, 0.6f)))));
    return v3_more(out, 0.25f + 0.75f * open, around);
}

static V3 shade_surface(const Surface *at, V3 view, V3 light, float lit, float open) {
    const V3 half = v3_unit(v3_add(light, view));
    const float facing = larger(v3_dot(at->normal, light), 0.0f);
    const float highlight = powf(larger(v3_dot(at->normal, half), 0.0f), 70.0f);
    const float away = 1.0f - larger(v3_dot(at->normal, view), 0.0f);
    const float rim = 0.22f * away * away * away * away;
    V3 out = v3_scale(facing * lit, v3_times(at->colour, key_light()));
    out = v3_more(out, facing > 0.0f ? 0.20f * highlight * lit : 0.0f, key_light());
    out = v3_more(out, open, v3_times(at->colour, sky(at->normal)));
    return v3_more(out, rim * open, sky(at->normal));
}

static V3 shade(Context *c, const Surface *at, V3 view) {
    const V3 from = v3_more(at->place, at->offset, at->normal);
    V3 light;
    const bool dark = !at->hair && v3_dot(at->normal, c->model->light) < -light_radius;
    const float lit = dark ? 0.0f : see_light(c, from, at->hair, &light);
    if (dark) {
        light = c->model->light;
    }
    const float open = see_sky(c, from, at->normal, at->hair ? SKY_HAIR : SKY_SURFACE);
    return at->hair ? shade_hair(at, view, light, lit, open)
                    : shade_surface(at, view, light, lit, open);
}

static void meet_strand(const FilModel *model, const struct RTCHit *hit, Surface *out) {
    const FilCurves *s = &model->strands;
    const unsigned v = s->first[hit->primID];
    const float u = hit->u;
    const bool free_end =
        (u <= 0.0f && (s->flags[hit->primID] & RTC_CURVE_FLAG_NEIGHBOR_LEFT) == 0) ||
        (u >= 1.0f && (s->flags[hit->primID] & RTC_CURVE_FLAG_NEIGHBOR_RIGHT) == 0);
    out->tangent = v3_unit(v3_mix(s->tangent[v], s->tangent[v + 1], u));
    out->colour = v3_mix(s->colour[v], s->colour[v + 1], u);
    out->hair = s->hair[hit->primID] != 0;
    out->normal = v3_unit(v3(hit->Ng_x, hit->Ng_y, hit->Ng_z));
    if (!free_end) {
        out->normal =
            v3_unit(v3_more(out->normal, -v3_dot(out->normal, out->tangent), out->tangent));
    }
    out->offset = (out->hair ? 0.2f : 2e-3f) * s->vertex[v][3];
}

static void meet_triangle(const FilModel *model, const struct RTCHit *hit, V3 view, Surface *out) {
    const V3 *n = model->triangles.normal[hit->primID];
    V3 normal = v3_scale(1.0f - hit->u - hit->v, n[0]);
    normal = v3_unit(v3_more(v3_more(normal, hit->u, n[1]), hit->v, n[2]));
    // both sides are seen, of ribbons; which one, the triangle tells, not its smooth normal
    const V3 face = v3(hit->Ng_x, hit->Ng_y, hit->Ng_z);
    const bool back = (v3_dot(face, view) < 0.0f) != (v3_dot(face, normal) < 0.0f);
    out->normal = back ? v3_scale(-1.0f, normal) : normal;
    out->colour = model->triangles.colour[hit->primID];
}

static Surface meet(const Context *c, const struct RTCRayHit *ray, V3 view) {
    const struct RTCHit *hit = &ray->hit;
    const V3 eye = c->model->eye;
    Surface out = {.place = v3_more(eye, -ray->ray.tfar, view)};
    if (hit->geomID == FIL_PART_STRANDS) {
        meet_strand(c->model, hit, &out);
    } else if (hit->geomID == FIL_PART_TRIANGLES) {
        meet_triangle(c->model, hit, view, &out);
    } else {
        out.normal = v3_unit(v3(hit->Ng_x, hit->Ng_y, hit->Ng_z));
        out.colour = (hit->geomID == FIL_PART_BALLS ? &c->model->balls : &c->model->capsules)
                         ->colour[hit->primID];
    }
    out.offset += 2e-6f * ray->ray.tfar + 1e-5f * c->size;
    return out;
}

// --- the ground ----------------------------------------------------------------------------------

// Lines of a grid, as dark as they are wide in the pixel.
static float draw_grid(const Context *c, const FilPlane *plane, V3 at, float depth) {
    const float wanted = 0.12f * c->size, power = powf(10.0f, floorf(log10f(wanted)));
    const float step = power * (wanted < 2.0f * power ? 1.0f : wanted < 5.0f * power ? 2.0f : 5.0f);
    const V3 from = v3_sub(at, plane->place);
    const float width = 1.2f * c->model->pixel * depth;
    float dark = 0.0f;
    for (int k = 0; k < 2; k++) {
        const float place = v3_dot(from, plane->axis[k]) / step;
        const float off = fabsf(place - roundf(place)) * step;
        dark = larger(dark, smaller(larger(1.0f - off / width, 0.0f), step / (6.0f * width)));
    }
    return smaller(dark, 1.0f);
}

static FilPixel shade_plane(Context *c, const FilPlane *plane, V3 view, float depth) {
    const V3 at = v3_more(c->model->eye, -depth, view);
    const V3 from = v3_more(at, 1e-4f * c->size, plane->axis[2]);
    const float far = v3_norm(at) / c->size, fade = expf(-0.30f * far * far);
    const bool dark = c->options->background == FIL_BACKGROUND_DARK;
    V3 light;
    const float lit = see_light(c, from, false, &light);
    const float open = see_sky(c, from, plane->axis[2], SKY_PLANE);
    const float shadow = 1.0f - fade * (1.0f - (0.42f * open + 0.58f * lit));
    const float grid = plane->grid ? fade * draw_grid(c, plane, at, depth) : 0.0f;
    if (c->options->background == FIL_BACKGROUND_NONE) {
        return (FilPixel){.cover = 0.75f * (1.0f - shadow)};
    }
    const V3 base = dark ? v3_scale(1.0f + 0.9f * fade, c->behind) : c->behind;
    const float line = dark ? 1.0f + 0.5f * grid : 1.0f - 0.16f * grid;
    const float deep = dark ? 0.15f : 0.22f;
    return (FilPixel){.colour = v3_scale(line * (deep + (1.0f - deep) * shadow), base),
                      .cover = 1.0f};
}

// The nearest plane that is seen from above; planes cut nothing off from below.
static const FilPlane *find_plane(const FilModel *model, V3 view, float *depth) {
    const FilPlane *found = NULL;
    for (int k = 0; k < model->plane_count; k++) {
        const FilPlane *plane = &model->planes[k];
        const float height = v3_dot(v3_sub(model->eye, plane->place), plane->axis[2]);
        const float slope = v3_dot(view, plane->axis[2]);
        if (height > 0.0f && slope > 0.0f && height < *depth * slope) {
            *depth = height / slope;
            found = plane;
        }
    }
    return found;
}

// --- pixels --------------------------------------------------------------------------------------

static struct RTCRayHit look(Context *c, float x, float y) {
    const FilModel *model = c->model;
    const V3 towards = v3_unit(v3_more(v3_more(model->forward, x, model->right), y, model->up));
    struct RTCRayHit ray = {.ray = {.org_x = model->eye.x,
                                    .org_y = model->eye.y,
                                    .org_z = model->eye.z,
                                    .dir_x = towards.x,
                                    .dir_y = towards.y,
                                    .dir_z = towards.z,
                                    .tfar = INFINITY,
                                    .mask = 0xffffffffu},
                            .hit = {.geomID = RTC_INVALID_GEOMETRY_ID}};
    c->query.turn = 0.61803399f * (float)c->sample;
    rtcIntersect1(model->scene, &c->query.context, &ray);
    c->query.touched = c->query.touched || ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    return ray;
}

// Is nothing near the pixel? Its samples may have missed what lies at its corners.
static bool is_empty(Context *c, const float at[2], const float reach[2]) {
    for (int k = 0; k < 4 && !c->query.touched; k++) {
        (void)look(c, at[0] + ((k & 1) != 0 ? reach[0] : -reach[0]),
                   at[1] + ((k & 2) != 0 ? reach[1] : -reach[1]));
    }
    return !c->query.touched;
}

static FilPixel trace(Context *c, float x, float y) {
    const FilModel *model = c->model;
    const struct RTCRayHit ray = look(c, x, y);
    const V3 towards = v3(ray.ray.dir_x, ray.ray.dir_y, ray.ray.dir_z);
    const V3 view = v3_scale(-1.0f, towards);
    float depth = ray.hit.geomID != RTC_INVALID_GEOMETRY_ID ? ray.ray.tfar : 1e6f * c->size;
    const FilPlane *plane = find_plane(model, view, &depth);
    if (plane != NULL) {
        return shade_plane(c, plane, view, depth);
    }
    if (ray.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
        const Surface at = meet(c, &ray, view);
        return (FilPixel){.colour = shade(c, &at, view), .cover = 1.0f};
    }
    const bool none = c->options->background == FIL_BACKGROUND_NONE;
    return (FilPixel){.colour = none ? v3(0.0f, 0.0f, 0.0f) : c->behind,
                      .cover = none ? 0.0f : 1.0f};
}

// Nearly one colour, a little brighter in the middle of the picture's upper part.
static V3 find_behind(const FilRenderOptions *options, float x, float y) {
    const float off = x * x + (y - 0.25f) * (y - 0.25f);
    const float fall = 1.0f / (1.0f + 0.14f * off);
    return options->background == FIL_BACKGROUND_DARK ? v3_scale(fall, v3(0.020f, 0.022f, 0.027f))
                                                      : v3_scale(fall, v3(0.93f, 0.935f, 0.94f));
}

static float spread(V3 low, V3 high) {
    const V3 d = v3_sub(high, low);
    return larger(d.x, larger(d.y, d.z));
}

FilPixel fil_shade_pixel(const FilModel *model, const FilRenderOptions *options, int x, int y) {
    enum { FIRST = 4 };
    const float wide = 2.0f / (float)options->width, tall = 2.0f / (float)options->height;
    const float at[2] = {wide * ((float)x + 0.5f) - 1.0f, 1.0f - tall * ((float)y + 0.5f)};
    Context c = {.model = model,
                 .options = options,
                 .seed = fil_hash2((uint32_t)x, (uint32_t)y),
                 .behind = find_behind(options, at[0], at[1]),
                 .size = (float)options->size};
    while (c.mask + 1 < (uint32_t)options->samples) {
        c.mask = 2 * c.mask + 1;
    }
    rtcInitIntersectContext(&c.query.context);
    c.query.model = model;
    c.query.seed = c.seed;
    c.query.thin = 1.0f;
    V3 sum = v3(0.0f, 0.0f, 0.0f), low = sum, high = sum;
    float cover = 0.0f;
    int done = 0;
    for (; done < options->samples; done++) {
        if (done == FIRST && spread(low, high) < 0.004f && cover == floorf(cover) &&
            is_empty(&c, at, (const float[2]){filter_radius * wide, filter_radius * tall})) {
            break; // nothing is there: four samples tell all
        }
        float place[2] = {0.5f, 0.5f};
        c.sample = (uint32_t)done;
        if (options->samples > 1) {
            draw_pair(&c, 0, 1, place);
        }
        const FilPixel one = trace(&c, at[0] + filter_radius * wide * tent(place[0]),
                                   at[1] + filter_radius * tall * tent(place[1]));
        const V3 colour = one.colour;
        low = done == 0 ? colour
                        : v3(smaller(low.x, colour.x), smaller(low.y, colour.y),
                             smaller(low.z, colour.z));
        high = done == 0 ? colour
                         : v3(larger(high.x, colour.x), larger(high.y, colour.y),
                              larger(high.z, colour.z));
        sum = v3_add(sum, colour);
        cover += one.cover;
    }
    return (FilPixel){.colour = v3_scale(1.0f / (float)done, sum), .cover = cover / (float)done};
}
