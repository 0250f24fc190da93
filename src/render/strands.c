// strands.c - rods as round curves.
//
// Smooth. Recorded points are joined by cubics whose tangents are those of the parabola through
// three neighbours, and each cubic is cut into as many straight round pieces as keep it within a
// fraction of a pixel. Embree's round pieces are exact, and much faster than its cubics; shading
// takes tangents from the cubics, so that the pieces do not show. Where all is hair of a few
// pixels, whose shading knows no normal, Embree's flat pieces, turned to the ray, do in 4/5 of the
// time.
//
// Wisps. A hair of a simulation often stands for many, which the radius of its contacts tells. It
// is drawn as a wisp: fibres inside that radius, at fixed places of the section, more of them the
// nearer it is; from afar one strand as thick as the wisp does.
//
// Thin. A rod thinner than a pixel would be hit by chance. It is drawn a pixel wide and faded: its
// cover is the width that it has by the width that it is given, so that a tuft of hair is as dense
// from afar as it is from near.
#include "model.h"

#include "base/error.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "sites.h"

#include <string.h>

enum { MOST_PIECES = 24, MOST_FIBRES = 14 };
static const double deviation = 0.12;         // pixels, between a cubic and its pieces
static const double least_radius = 0.5;       // pixels
static const double wide = 1.5;               // least radii, from which on a hair looks round
static const double hair_slenderness = 800.0; // length by radius, from which on a rod is hair
static const double wisp_radius = 1.5;        // of contacts by that of the hair, for a wisp
static const double fibres_a_pixel = 5.0;     // of a wisp's radius

// --- cubics --------------------------------------------------------------------------------------

// A line of points, relative to the target; a fibre of a wisp lies beside it.
typedef struct Line {
    const double *position, *quaternion; // of its first point, in the world
    double origin[3];
    double beside[2]; // m, along the second and third axis of the frames
    int count;
} Line;

static V3 point_at(const Line *line, int i) {
    double at[3];
    fil_subtract3(line->position + 3 * (size_t)i, line->origin, at);
    if (line->beside[0] != 0.0) {
        const double local[3] = {0.0, line->beside[0], line->beside[1]};
        double R[9], off[3];
        fil_rotation_from_quaternion(line->quaternion + 4 * (size_t)i, R);
        fil_apply3(R, local, off);
        // gathered at the root, loose along the way, together again at the tip
        const double way = (double)i / (line->count - 1);
        fil_add3(0.25 + 0.75 * way * (1.6 - way), off, at);
    }
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

// Slope along the rod's own axis, by the length of the chord; the chord itself where there is none.
static V3 slope_of_axis(const Line *line, int i, V3 chord) {
    double R[9];
    fil_rotation_from_quaternion(line->quaternion + 4 * (size_t)i, R);
    const V3 axis = {(float)R[0], (float)R[3], (float)R[6]};
    const float length = v3_norm(chord);
    return v3_dot(axis, chord) > 0.5f * length ? v3_scale(length, axis) : chord;
}

static Cubic cubic_at(const Line *line, int i) {
    Cubic c = {.p = point_at(line, i), .q = point_at(line, i + 1)};
    if (line->count == 2) { // an element of a tree
        const V3 chord = v3_sub(c.q, c.p);
        c.m = slope_of_axis(line, 0, chord);
        c.n = slope_of_axis(line, 1, chord);
        return c;
    }
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

// Pieces for a cubic: a chord is off by at most 1/8 of the second derivative, which here is at
// most 2 max(|3 (q - p) - 2 m - n|, |3 (q - p) - m - 2 n|).
static int count_pieces(const FilModel *model, const Cubic *c) {
    const V3 chord = v3_scale(3.0f, v3_sub(c->q, c->p));
    const float a = v3_norm(v3_sub(v3_more(chord, -2.0f, c->m), c->n));
    const float b = v3_norm(v3_sub(v3_more(chord, -2.0f, c->n), c->m));
    const float pixel = fminf(fil_model_pixel(model, c->p), fil_model_pixel(model, c->q));
    const double off = 0.25 * fmaxf(a, b) / pixel;
    const double count = ceil(sqrt(off / deviation));
    return count >= 1.0 ? (int)fmin(count, MOST_PIECES) : 1; // NaN too
}

// --- curves --------------------------------------------------------------------------------------

static Line line_of(const FilRenderOptions *options, const FilResultDef *def, const FilFrame *frame,
                    int k) {
    const FilResultLine *from = &def->lines[k];
    Line line = {.position = frame->position + 3 * (size_t)from->first_point,
                 .quaternion = frame->quaternion + 4 * (size_t)from->first_point,
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
static V3 natural_colour(int rod, bool hair) {
    static const double brown[3] = {0.43, 0.31, 0.22}, hemp[3] = {0.80, 0.56, 0.33};
    const double shade = hair ? 0.75 + 0.5 * (fil_hash2((uint32_t)rod, 7) % 1024) / 1024.0 : 1.0;
    const double warm = hair ? 0.04 * (fil_hash2((uint32_t)rod, 8) % 1024) / 1024.0 : 0.0;
    const double *base = hair ? brown : hemp;
    const double rgb[3] = {base[0] * shade + warm, base[1] * shade, base[2] * shade - 0.5 * warm};
    return fil_colour_linear(rgb);
}

V3 fil_model_colour(const FilModel *model, const FilRenderOptions *options, int point, V3 natural) {
    if (model->values == NULL) {
        return natural;
    }
    double rgb[3];
    fil_colour_value((FilField)options->colour, options->range, model->values[point], rgb);
    return fil_colour_linear(rgb);
}

static void put_vertex(const FilModel *model, FilCurves *out, const Cubic *c, float t,
                       double radius) {
    const int v = out->vertex_count++;
    const V3 at = cubic_place(c, t);
    const double least = least_radius * fil_model_pixel(model, at);
    out->vertex[v][0] = at.x;
    out->vertex[v][1] = at.y;
    out->vertex[v][2] = at.z;
    out->vertex[v][3] = (float)fmax(radius, least);
    out->tangent[v] = cubic_tangent(c, t);
    out->filtered = out->filtered || radius < least;
    out->round = out->round || radius > wide * least;
}

typedef struct Source {
    const FilRenderOptions *options;
    const FilResultDef *def;
    const FilFrame *frame;
} Source;

// How a line is drawn.
typedef struct Brush {
    double radius; // m, of a fibre
    double spread; // m, of the fibres' axes
    int fibres;
    bool hair;
} Brush;

static Brush brush_of(const FilModel *model, const Source *from, int k, const Line *line) {
    const FilResultLine *about = &from->def->lines[k];
    const FilResultRod *rod = &from->def->rods[about->rod];
    const FilResultPoint *first = &from->def->points[about->first_point];
    const double length = first[about->point_count - 1].s - first->s;
    const double radius = fil_line_radius(from->def, k);
    Brush brush = {.radius = radius, .fibres = 1, .hair = length > hair_slenderness * radius};
    if (!brush.hair || !from->options->wisps || !(rod->contact_radius > wisp_radius * radius)) {
        return brush;
    }
    const float pixel = fil_model_pixel(model, point_at(line, line->count / 2));
    const double wanted = fibres_a_pixel * (rod->contact_radius / pixel - least_radius);
    brush.fibres = wanted > 1.0 ? (int)fmin(ceil(wanted), MOST_FIBRES) : 1; // NaN too
    brush.radius = rod->contact_radius / (brush.fibres > 1 ? 1.2 * sqrt(brush.fibres) : 1.0);
    brush.spread = 1.25 * rod->contact_radius - brush.radius;
    return brush;
}

// Fibres lie in the section like seeds in a sunflower, turned by rod.
static Line fibre_of(const Line *line, const Brush *brush, int rod, int fibre) {
    Line out = *line;
    if (brush->fibres > 1) {
        const double far = brush->spread * sqrt((fibre + 0.5) / brush->fibres);
        const double turn = 2.399963 * fibre + 1e-3 * (fil_hash2((uint32_t)rod, 5) % 6283);
        out.beside[0] = far * cos(turn);
        out.beside[1] = far * sin(turn);
    }
    return out;
}

// One fibre; the last vertex of a cubic is the first of the next.
static void fill_fibre(FilModel *model, const Source *from, const Line *line, const Brush *brush,
                       int k, int fibre) {
    FilCurves *out = &model->strands;
    const FilResultLine *about = &from->def->lines[k];
    const V3 natural = natural_colour(about->rod, brush->hair);
    const int start = out->piece_count;
    for (int i = 0; i < line->count - 1; i++) {
        const Cubic cubic = cubic_at(line, i);
        const int pieces = count_pieces(model, &cubic), point = about->first_point + i;
        const V3 here = fil_model_colour(model, from->options, point, natural);
        const V3 next = fil_model_colour(model, from->options, point + 1, natural);
        for (int s = 0; s < pieces + (i == line->count - 2); s++) {
            const float t = (float)s / (float)pieces;
            out->colour[out->vertex_count] = v3_mix(here, next, t);
            if (s < pieces) {
                const int p = out->piece_count++;
                out->first[p] = (unsigned)out->vertex_count;
                out->flags[p] = RTC_CURVE_FLAG_NEIGHBOR_LEFT | RTC_CURVE_FLAG_NEIGHBOR_RIGHT;
                out->pieces[p] = (FilPiece){.line = k,
                                            .name = fil_hash2((uint32_t)k, (uint32_t)fibre),
                                            .hair = brush->hair};
            }
            put_vertex(model, out, &cubic, t, brush->radius);
        }
    }
    for (int p = start; p < out->piece_count; p++) {
        for (int end = 0; end < 2; end++) {
            const float drawn = out->vertex[out->first[p] + (unsigned)end][3];
            out->pieces[p].cover[end] = (float)brush->radius / drawn;
            out->pieces[p].thick = 3.0f * ((float)brush->spread + drawn);
        }
    }
    out->flags[start] &= (unsigned char)~RTC_CURVE_FLAG_NEIGHBOR_LEFT;
    out->flags[out->piece_count - 1] &= (unsigned char)~RTC_CURVE_FLAG_NEIGHBOR_RIGHT;
    out->filtered = out->filtered || brush->hair;
    out->round = out->round || !brush->hair;
}

// Draw a line, or, for `counts` not NULL, count what it takes.
static void draw_line(FilModel *model, const Source *from, int k, size_t counts[2]) {
    if (!is_drawn(from->def, from->frame, k)) {
        return;
    }
    const int rod = from->def->lines[k].rod;
    const Line axis = line_of(from->options, from->def, from->frame, k);
    const Brush brush = brush_of(model, from, k, &axis);
    for (int f = 0; f < brush.fibres; f++) {
        const Line line = fibre_of(&axis, &brush, rod, f);
        if (counts == NULL) {
            fill_fibre(model, from, &line, &brush, k, f);
            continue;
        }
        counts[0] += 1;
        for (int i = 0; i < line.count - 1; i++) {
            const Cubic cubic = cubic_at(&line, i);
            counts[1] += (size_t)count_pieces(model, &cubic);
        }
    }
}

static bool reserve(FilArena *arena, FilCurves *curves, size_t vertices, size_t pieces) {
    curves->vertex = fil_arena_get(arena, vertices + 1, sizeof *curves->vertex);
    curves->tangent = FIL_NEW(arena, V3, vertices);
    curves->colour = FIL_NEW(arena, V3, vertices);
    curves->first = FIL_NEW(arena, unsigned, pieces + 4);
    curves->flags = FIL_NEW(arena, unsigned char, pieces + 16);
    curves->pieces = FIL_NEW(arena, FilPiece, pieces);
    return !arena->failed;
}

bool fil_model_has_hair(const FilModel *model) {
    enum { SOME = 20 };
    const FilCurves *strands = &model->strands;
    int lines = 0;
    for (int p = 0; lines < SOME && p < strands->piece_count; p++) {
        lines += strands->pieces[p].hair && (strands->flags[p] & RTC_CURVE_FLAG_NEIGHBOR_LEFT) == 0;
    }
    return lines >= SOME;
}

bool fil_model_add_strands(FilModel *model, const FilRenderOptions *options,
                           const FilResultDef *def, const FilFrame *frame) {
    const Source from = {.options = options, .def = def, .frame = frame};
    size_t counts[2] = {0, 0}; // fibres, pieces
    for (int k = 0; k < def->line_count; k++) {
        draw_line(model, &from, k, counts);
    }
    if (counts[0] + counts[1] >= INT32_MAX ||
        !reserve(&model->arena, &model->strands, counts[0] + counts[1], counts[1])) {
        return false;
    }
    for (int k = 0; k < def->line_count; k++) {
        draw_line(model, &from, k, NULL);
    }
    return fil_sites_lay(model);
}
