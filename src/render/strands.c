// strands.c - rods as round curves.
//
// Smooth. Recorded points are joined by cubics whose tangents are those of the parabola through
// three neighbours, and each cubic is cut into as many straight round pieces as keep it within a
// fraction of a pixel. Embree's round pieces are exact, and much faster than its cubics; shading
// takes tangents from the cubics, so that the pieces do not show.
//
// Thin. A rod thinner than a pixel would be hit by chance. It is drawn a pixel wide and faded: its
// cover is the width that it has by the width that it is given, so that a tuft of hair is as dense
// from afar as it is from near.
#include "model.h"

#include "base/error.h"
#include "math/vec3.h"

#include <string.h>

enum { MOST_PIECES = 24 };
static const double deviation = 0.12;         // pixels, between a cubic and its pieces
static const double least_radius = 0.5;       // pixels
static const double hair_slenderness = 800.0; // length by radius, from which on a rod is hair

bool fil_section_is_flat(const FilResultRod *rod, double half[2]) {
    (void)rod;
    half[0] = half[1] = 0.0;
    return false;
}

// --- cubics --------------------------------------------------------------------------------------

// A line of points, relative to the target.
typedef struct Line {
    const double *position; // of its first point, in the world
    double origin[3];
    int count;
} Line;

static V3 point_at(const Line *line, int i) {
    double at[3];
    fil_subtract3(line->position + 3 * (size_t)i, line->origin, at);
    return v3_of(at);
}

// Slope of the parabola through point i and its neighbours, by the length to point `to`.
static V3 slope_at(const Line *line, int i, int to) {
    const V3 p = point_at(line, i);
    const int before = i > 0 ? i - 1 : i, after = i < line->count - 1 ? i + 1 : i;
    const V3 a = v3_sub(p, point_at(line, before)), b = v3_sub(point_at(line, after), p);
    const float u = v3_norm(a), v = v3_norm(b), h = v3_norm(v3_sub(point_at(line, to), p));
    if (!(u > 0.0f) || !(v > 0.0f)) { // an end, or a point twice: half way to a straight one
        return v3_sub(point_at(line, after), point_at(line, before));
    }
    const float sum = u + v;
    return v3_add(v3_scale(h * v / (u * sum), a), v3_scale(h * u / (v * sum), b));
}

typedef struct Cubic {
    V3 p, q, m, n; // ends and their slopes
} Cubic;

static Cubic cubic_at(const Line *line, int i) {
    Cubic c = {.p = point_at(line, i), .q = point_at(line, i + 1)};
    c.m = slope_at(line, i, i + 1);
    c.n = slope_at(line, i + 1, i);
    if (i == 0 && line->count > 2) { // natural: no curvature at the ends
        c.m = v3_scale(0.5f, v3_sub(v3_scale(3.0f, v3_sub(c.q, c.p)), c.n));
    }
    if (i == line->count - 2 && line->count > 2) {
        c.n = v3_scale(0.5f, v3_sub(v3_scale(3.0f, v3_sub(c.q, c.p)), c.m));
    }
    return c;
}

static V3 cubic_place(const Cubic *c, float t) {
    const float s = 1.0f - t;
    V3 at = v3_scale(s * s * (1.0f + 2.0f * t), c->p);
    at = v3_more(at, t * t * (3.0f - 2.0f * t), c->q);
    at = v3_more(at, t * s * s, c->m);
    return v3_more(at, -t * t * s, c->n);
}

static V3 cubic_tangent(const Cubic *c, float t) {
    const float s = 1.0f - t;
    V3 d = v3_scale(6.0f * t * s, v3_sub(c->q, c->p));
    d = v3_more(d, s * (1.0f - 3.0f * t), c->m);
    d = v3_more(d, t * (3.0f * t - 2.0f), c->n);
    return v3_unit(d);
}

static float pixel_at(const FilModel *model, V3 place) {
    const float depth = v3_dot(v3_sub(place, model->eye), model->forward);
    return model->pixel * fmaxf(depth, 1e-6f);
}

// Pieces for a cubic: a chord is off by at most 1/8 of the second derivative, which here is at
// most 2 max(|3 (q - p) - 2 m - n|, |3 (q - p) - m - 2 n|).
static int count_pieces(const FilModel *model, const Cubic *c) {
    const V3 chord = v3_scale(3.0f, v3_sub(c->q, c->p));
    const float a = v3_norm(v3_sub(v3_more(chord, -2.0f, c->m), c->n));
    const float b = v3_norm(v3_sub(v3_more(chord, -2.0f, c->n), c->m));
    const float pixel = fminf(pixel_at(model, c->p), pixel_at(model, c->q));
    const double off = 0.25 * fmaxf(a, b) / pixel;
    const double count = ceil(sqrt(off / deviation));
    return count >= 1.0 ? (int)fmin(count, MOST_PIECES) : 1; // NaN too
}

// --- curves --------------------------------------------------------------------------------------

static Line line_of(const FilRenderOptions *options, const FilResultDef *def,
                    const FilFrame *frame, int k) {
    const FilResultLine *from = &def->lines[k];
    Line line = {.position = frame->position + 3 * (size_t)from->first_point,
                 .count = from->point_count};
    fil_copy3(options->camera.target, line.origin);
    return line;
}

static bool is_drawn(const FilResultDef *def, const FilFrame *frame, int k) {
    const FilResultLine *line = &def->lines[k];
    double half[2];
    bool finite = line->point_count >= 2;
    for (int i = 0; finite && i < 3 * line->point_count; i++) {
        finite = isfinite(frame->position[3 * (size_t)line->first_point + (size_t)i]);
    }
    return finite && !fil_section_is_flat(&def->rods[line->rod], half);
}

// Colours of natural rods: hair in shades of brown, ropes in one of hemp.
static V3 natural_colour(const FilResultDef *def, int rod, bool hair) {
    static const double brown[3] = {0.42, 0.27, 0.17}, hemp[3] = {0.80, 0.56, 0.33};
    const double shade =
        hair ? 0.75 + 0.5 * (fil_hash2((uint32_t)rod, 7) % 1024) / 1024.0 : 1.0;
    const double warm = hair ? 0.04 * (fil_hash2((uint32_t)rod, 8) % 1024) / 1024.0 : 0.0;
    const double *base = hair ? brown : hemp;
    const double rgb[3] = {base[0] * shade + warm, base[1] * shade, base[2] * shade - 0.5 * warm};
    (void)def;
    return fil_colour_linear(rgb);
}

static V3 colour_at(const FilRenderOptions *options, const double *values, int i, V3 natural) {
    if (values == NULL) {
        return natural;
    }
    double rgb[3];
    fil_colour_value((FilField)options->colour, options->range, values[i], rgb);
    return fil_colour_linear(rgb);
}

static void put_vertex(const FilModel *model, FilCurves *out, const Cubic *c, float t,
                       double radius) {
    const int v = out->vertex_count++;
    const V3 at = cubic_place(c, t);
    const double least = least_radius * pixel_at(model, at);
    out->vertex[v][0] = at.x;
    out->vertex[v][1] = at.y;
    out->vertex[v][2] = at.z;
    out->vertex[v][3] = (float)fmax(radius, least);
    out->cover[v] = (float)fmin(radius / least, 1.0);
    out->tangent[v] = cubic_tangent(c, t);
    out->filtered = out->filtered || out->cover[v] < 1.0f;
}

typedef struct Source {
    const FilRenderOptions *options;
    const FilResultDef *def;
    const FilFrame *frame;
    const double *values; // NULL: natural colours
} Source;

static void fill_line(FilModel *model, const Source *from, int k) {
    FilCurves *out = &model->strands;
    const FilResultLine *about = &from->def->lines[k];
    const FilResultRod *rod = &from->def->rods[about->rod];
    const Line line = line_of(from->options, from->def, from->frame, k);
    const double radius = from->options->wide ? rod->contact_radius : rod->radius;
    const bool hair = rod->length > hair_slenderness * rod->radius;
    const V3 natural = natural_colour(from->def, about->rod, hair);
    const int start = out->piece_count;
    out->filtered = out->filtered || hair;
    for (int i = 0; i < line.count - 1; i++) {
        const Cubic cubic = cubic_at(&line, i);
        const int pieces = count_pieces(model, &cubic), point = about->first_point + i;
        const V3 here = colour_at(from->options, from->values, point, natural);
        const V3 next = colour_at(from->options, from->values, point + 1, natural);
        for (int s = 0; s < pieces + (i == line.count - 2); s++) {
            const float t = (float)s / (float)pieces;
            out->colour[out->vertex_count] = v3_mix(here, next, t);
            if (s < pieces) {
                const int p = out->piece_count++;
                out->first[p] = (unsigned)out->vertex_count;
                out->flags[p] = RTC_CURVE_FLAG_NEIGHBOR_LEFT | RTC_CURVE_FLAG_NEIGHBOR_RIGHT;
                out->hair[p] = hair;
                out->line[p] = k;
            }
            put_vertex(model, out, &cubic, t, radius);
        }
    }
    out->flags[start] &= (unsigned char)~RTC_CURVE_FLAG_NEIGHBOR_LEFT;
    out->flags[out->piece_count - 1] &= (unsigned char)~RTC_CURVE_FLAG_NEIGHBOR_RIGHT;
}

static bool reserve(FilArena *arena, FilCurves *curves, size_t vertices, size_t pieces) {
    curves->vertex = fil_arena_get(arena, vertices + 1, sizeof *curves->vertex);
    curves->tangent = FIL_NEW(arena, V3, vertices);
    curves->colour = FIL_NEW(arena, V3, vertices);
    curves->cover = FIL_NEW(arena, float, vertices);
    curves->first = FIL_NEW(arena, unsigned, pieces + 4);
    curves->flags = FIL_NEW(arena, unsigned char, pieces + 16);
    curves->hair = FIL_NEW(arena, unsigned char, pieces);
    curves->line = FIL_NEW(arena, int, pieces);
    return !arena->failed;
}

bool fil_model_add_strands(FilModel *model, const FilRenderOptions *options,
                           const FilResultDef *def, const FilFrame *frame) {
    size_t pieces = 0, lines = 0;
    for (int k = 0; k < def->line_count; k++) {
        const Line line = line_of(options, def, frame, k);
        const bool drawn = is_drawn(def, frame, k);
        lines += drawn;
        for (int i = 0; drawn && i < line.count - 1; i++) {
            const Cubic cubic = cubic_at(&line, i);
            pieces += (size_t)count_pieces(model, &cubic);
        }
    }
    if (pieces + lines >= INT32_MAX || !reserve(&model->arena, &model->strands, pieces + lines, pieces)) {
        return false;
    }
    Source from = {.options = options, .def = def, .frame = frame};
    if (options->colour != FIL_COLOUR_NATURAL) {
        double *values = FIL_NEW(&model->arena, double, def->point_count);
        if (values == NULL) {
            return false;
        }
        fil_field_compute((FilField)options->colour, def, frame, values);
        from.values = values;
    }
    for (int k = 0; k < def->line_count; k++) {
        if (is_drawn(def, frame, k)) {
            fill_line(model, &from, k);
        }
    }
    return true;
}
