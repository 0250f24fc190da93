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
// Rays. Each sample looks for what is there, and from there to the light and the sky; hair knows
// what it gets of them (sites.c), and two samples of the ground share a ray to the sky.
#include "rays.h"
#include "sites.h"

static const float bounced = 0.22f;       // of the sky's light, that what is near gives back
static const float preview_sky = 0.75f;   // how much of the sky is seen, where nobody looks
static const float filter_radius = 0.75f; // pixels

// All that holds for a pixel.
typedef struct Context {
    const FilModel *model;
    const FilRenderOptions *options;
    FilSource source;
    V3 behind; // what there is where nothing is
    float size;
    bool clear; // nothing is near the pixel but the ground
    bool has_open;
    float open; // how much of the sky the ground saw last
} Context;

typedef struct Surface {
    V3 place, normal, tangent, colour;
    float offset; // m, from where rays may start
    bool hair;
    unsigned piece; // of a strand, and the part of it
    float u;
    float width; // of a strand, pixels
} Surface;

// --- light and sky -------------------------------------------------------------------------------

static float see_light(Context *c, V3 from, V3 towards) {
    return fil_is_blocked(&c->source, from, towards, INFINITY) ? 0.0f : 1.0f;
}

// What is near is lit too, and gives some of that back.
static float see_sky(Context *c, V3 from, V3 normal, uint32_t every, float distance) {
    if (c->options->samples == 1) {
        return preview_sky;
    }
    const V3 towards = fil_towards_sky(&c->source, every, normal);
    return fil_is_blocked(&c->source, from, towards, distance * c->size) ? bounced : 1.0f;
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

// Its highlights are wider than the light, so that the middle of it does. The wider it is seen to
// be, the more its far side is in its own shade.
static V3 light_hair(const Context *c, const Surface *at, V3 view) {
    const FilModel *model = c->model;
    const FilSeen seen = fil_sites_see(model, c->options, at->piece, at->u);
    const float open =
        c->options->samples > 1 ? bounced + (1.0f - bounced) * seen.sky : preview_sky;
    const float turned =
        smaller(larger(0.5f + 1.5f * v3_dot(at->normal, model->light), 0.0f), 1.0f);
    const float round = smaller(larger((at->width - 1.5f) / 3.0f, 0.0f), 1.0f);
    const float side = 1.0f - FIL_HAIR_OPACITY * round * (1.0f - turned);
    return shade_hair(at, view, model->light, side * seen.light, open);
}

static V3 shade_at(Context *c, const Surface *at, V3 view) {
    if (at->hair) {
        return light_hair(c, at, view);
    }
    const V3 from = v3_more(at->place, at->offset, at->normal);
    const V3 light = fil_towards_light(&c->source);
    const bool dark = v3_dot(at->normal, c->model->light) < -FIL_LIGHT_RADIUS;
    const float lit = dark ? 0.0f : see_light(c, from, light);
    return shade_surface(at, view, light, lit, see_sky(c, from, at->normal, 1, 0.4f));
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
    out->hair = s->pieces[hit->primID].hair;
    out->piece = hit->primID;
    out->u = u;
    out->width = 2.0f * s->vertex[v][3] / fil_model_pixel(model, out->place);
    out->normal = v3_unit(v3(hit->Ng_x, hit->Ng_y, hit->Ng_z));
    if (!free_end) {
        out->normal =
            v3_unit(v3_more(out->normal, -v3_dot(out->normal, out->tangent), out->tangent));
    }
    out->offset = 2e-3f * s->vertex[v][3];
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
    const float step = plane->grid;
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
    const float lit = see_light(c, from, fil_towards_light(&c->source));
    if (!c->has_open || c->source.query.sample % 2 == 0) {
        c->open = see_sky(c, from, plane->axis[2], 2, 0.7f);
        c->has_open = true;
    }
    const float shadow = 1.0f - fade * (1.0f - (0.42f * c->open + 0.58f * lit));
    const float grid = plane->grid > 0.0f ? fade * draw_grid(c, plane, at, depth) : 0.0f;
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
    FilQuery *query = &c->source.query;
    if (c->clear) {
        return ray;
    }
    rtcIntersect1(model->scene, &query->context, &ray);
    query->touched = query->touched || ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    return ray;
}

static float tent(float u) {
    return u < 0.5f ? sqrtf(2.0f * u) - 1.0f : 1.0f - sqrtf(2.0f - 2.0f * u);
}

// Is nothing near the pixel? Its samples may have missed what lies at its corners.
static bool is_empty(Context *c, const float at[2], const float reach[2]) {
    for (int k = 0; k < 4 && !c->source.query.touched; k++) {
        (void)look(c, at[0] + ((k & 1) != 0 ? reach[0] : -reach[0]),
                   at[1] + ((k & 2) != 0 ? reach[1] : -reach[1]));
    }
    return !c->source.query.touched;
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
        return (FilPixel){.colour = shade_at(c, &at, view), .cover = 1.0f};
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
                 .source =
                     fil_source_make(model, fil_hash2((uint32_t)x, (uint32_t)y), options->samples),
                 .behind = find_behind(options, at[0], at[1]),
                 .size = (float)options->size};
    V3 sum = v3(0.0f, 0.0f, 0.0f), low = sum, high = sum;
    float cover = 0.0f;
    int done = 0;
    for (; done < options->samples; done++) {
        if (done == FIRST) {
            c.clear =
                is_empty(&c, at, (const float[2]){filter_radius * wide, filter_radius * tall});
            if (c.clear && !c.source.sheltered && spread(low, high) < 0.004f) {
                break; // ground in the open: four samples tell all
            }
        }
        float place[2] = {0.5f, 0.5f};
        c.source.query.sample = (uint32_t)done;
        if (options->samples > 1) {
            fil_draw_pair(&c.source, 0, 1, place);
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
