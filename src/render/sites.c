// sites.c - how much light reaches a hair, found at sites along it.
//
// Rays to the light and to the sky are what a picture of hair takes most of its time for, and what
// makes it noisy: each tells yes or no, and neighbouring samples, on the same hair, ask again. Here
// sites lie a few pixels apart along each hair, some rays from each tell what part of light and sky
// it sees, and between two sites what is seen changes evenly: a fifth of the rays, and less noise.
//
// A hair does not shade itself near by, with all the fibres of its wisp: what is seen from the
// middle of a fibre would say little of the light on its sides. What its own shade does, shade.c
// knows.
//
// A site is looked at when it is first needed. Threads may do so at the same time: its rays are its
// own, so that both find the same, and both floats are written as one word.
#include "sites.h"

#include "rays.h"

#include <string.h>

enum { MOST_SITES = 32, MOST_WIDTH = 64 }; // of a piece; pixels
static const float spacing = 6.0f;         // pixels
static const float near_part = 0.08f;      // of the scene's size: what is further off dims no sky
static const uint64_t unseen = UINT64_MAX;

static V3 place_of(const FilCurves *strands, unsigned vertex) {
    const float *at = strands->vertex[vertex];
    return v3(at[0], at[1], at[2]);
}

static bool is_last(const FilCurves *strands, unsigned piece) {
    return (strands->flags[piece] & RTC_CURVE_FLAG_NEIGHBOR_RIGHT) == 0;
}

// Where the picture shows a place: across and up, -1 .. 1 inside it, times its depth.
static V3 place_in_view(const FilModel *model, V3 at) {
    const V3 d = v3_sub(at, model->eye);
    return v3(v3_dot(d, model->right) / v3_dot(model->right, model->right),
              v3_dot(d, model->up) / v3_dot(model->up, model->up), v3_dot(d, model->forward));
}

// May anything of a piece be seen? Not where both ends lie beyond the same side.
static bool is_in_view(const FilModel *model, V3 from, V3 to) {
    const V3 a = place_in_view(model, from), b = place_in_view(model, to);
    const float wide = 1.1f, da = wide * a.z, db = wide * b.z;
    return !((a.z < 0.0f && b.z < 0.0f) || (a.x > da && b.x > db) || (a.x < -da && b.x < -db) ||
             (a.y > da && b.y > db) || (a.y < -da && b.y < -db));
}

// From site to site of a piece.
static int count_steps(const FilModel *model, unsigned piece) {
    const FilCurves *strands = &model->strands;
    const V3 a = place_of(strands, strands->first[piece]);
    const V3 b = place_of(strands, strands->first[piece] + 1);
    const float pixel = fil_model_pixel(model, v3_mix(a, b, 0.5f));
    if (!is_in_view(model, a, b)) {
        return 1;
    }
    const float wanted = v3_norm(v3_sub(b, a)) / (spacing * pixel);
    return wanted > 1.0f ? (int)smaller(ceilf(wanted), MOST_SITES) : 1; // NaN too
}

bool fil_sites_lay(FilModel *model) {
    FilCurves *strands = &model->strands;
    size_t count = 0;
    uint32_t step = 0; // of a fibre
    strands->site = FIL_NEW_ZEROED(&model->arena, size_t, strands->piece_count + 1);
    for (int p = 0; strands->site != NULL && p < strands->piece_count; p++) {
        const bool last = is_last(strands, (unsigned)p);
        const int steps = strands->pieces[p].hair ? count_steps(model, (unsigned)p) : 0;
        strands->pieces[p].step = step;
        step = last ? 0 : step + (uint32_t)steps;
        count += (size_t)steps + (steps > 0 && last ? 1 : 0);
        strands->site[p + 1] = count;
    }
    strands->seen = strands->site != NULL ? FIL_NEW(&model->arena, _Atomic uint64_t, count) : NULL;
    for (size_t k = 0; strands->seen != NULL && k < count; k++) {
        atomic_init(&strands->seen[k], unseen);
    }
    return strands->seen != NULL;
}

// As many as the pixels that it stands for ask for: the wider a hair, the more of them.
static int count_rays(const FilModel *model, const FilRenderOptions *options, unsigned vertex) {
    const FilCurves *strands = &model->strands;
    const float pixel = fil_model_pixel(model, place_of(strands, vertex));
    const float width = smaller(2.0f * strands->vertex[vertex][3] / pixel, MOST_WIDTH);
    const float wanted = 0.25f * (float)options->samples * width;
    return wanted > 2.0f ? (int)wanted : options->samples > 1 ? 2 : 1; // NaN too
}

// Look around from part u of a piece, on the side that is seen.
static FilSeen look_around(const FilModel *model, const FilRenderOptions *options, unsigned piece,
                           int step, float u) {
    const FilCurves *strands = &model->strands;
    const unsigned v = strands->first[piece];
    const int samples = options->samples, rays = count_rays(model, options, v);
    const float size = (float)options->size;
    const FilPiece *about = &strands->pieces[piece];
    const uint32_t seed = fil_hash2(about->name, about->step + (uint32_t)step);
    FilSource source = fil_source_make(model, seed, rays);
    source.query.own = about->line;
    const V3 axis = v3_mix(place_of(strands, v), place_of(strands, v + 1), u);
    const V3 tangent = v3_unit(v3_mix(strands->tangent[v], strands->tangent[v + 1], u));
    const V3 view = v3_sub(model->eye, axis);
    const V3 normal = v3_unit(v3_more(view, -v3_dot(view, tangent), tangent));
    const float radius = strands->vertex[v][3];
    const V3 from = v3_more(axis, 1.2f * radius + 1e-5f * size, normal);
    FilSeen sum = {0.0f, 0.0f};
    for (int k = 0; k < rays; k++) {
        source.query.sample = (uint32_t)k;
        sum.light += fil_is_blocked(&source, from, fil_towards_light(&source), INFINITY) ? 0 : 1;
        if (samples > 1 && k % 2 == 0) { // of the sky, which says less, half as many
            const V3 up = fil_towards_sky(&source, 2, normal);
            sum.sky += fil_is_blocked(&source, from, up, near_part * size) ? 0 : 1;
        }
    }
    const int of_sky = (rays + 1) / 2;
    return (FilSeen){sum.light / (float)rays, sum.sky / (float)of_sky};
}

// From the start of a step, or from the end of the piece, which is the start of the next one.
static FilSeen see_from(const FilModel *model, const FilRenderOptions *options, unsigned piece,
                        int step, int steps) {
    const size_t site = model->strands.site[piece] + (size_t)step;
    _Atomic uint64_t *kept = &model->strands.seen[site];
    uint64_t word = atomic_load_explicit(kept, memory_order_relaxed);
    FilSeen seen;
    if (word == unseen) {
        const bool next = step == steps && !is_last(&model->strands, piece);
        seen = next ? look_around(model, options, piece + 1, 0, 0.0f)
                    : look_around(model, options, piece, step, (float)step / (float)steps);
        memcpy(&word, &seen, sizeof word);
        atomic_store_explicit(kept, word, memory_order_relaxed);
    }
    memcpy(&seen, &word, sizeof seen);
    return seen;
}

FilSeen fil_sites_see(const FilModel *model, const FilRenderOptions *options, unsigned piece,
                      float u) {
    const FilCurves *strands = &model->strands;
    const int steps =
        (int)(strands->site[piece + 1] - strands->site[piece]) - (is_last(strands, piece) ? 1 : 0);
    const float at = smaller(larger(u, 0.0f), 1.0f) * (float)steps;
    const int step = at < (float)steps ? (int)at : steps - 1;
    const float part = at - (float)step;
    const FilSeen a = see_from(model, options, piece, step, steps);
    const FilSeen b = see_from(model, options, piece, step + 1, steps);
    return (FilSeen){a.light + part * (b.light - a.light), a.sky + part * (b.sky - a.sky)};
}
