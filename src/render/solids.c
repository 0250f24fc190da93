// solids.c - rigid bodies and obstacles: balls and capsules as round curves, planes as planes, all
// else as triangles; and ribbons, which are flat rods, as triangles too.
//
// Normals. A corner of a triangle takes the mean normal of the triangles around its vertex (by
// area) where that is near its own, and its own where an edge is sharp: spheres of triangles look
// round, boxes have edges, without being told.
#include "model.h"

#include "math/rotation.h"
#include "math/vec3.h"

#include <string.h>

enum { SIDES = 64, RIBBON_PIECES = 6 };
static const double shortest_capsule = 0.02; // length by radius
static const float sharp = 0.88f;            // cosine between a face's normal and its vertex's

// Where a solid is, and what it is.
typedef struct Placed {
    const FilResultSolid *solid;
    double place[3], R[9]; // relative to the target
    double scene;          // m, its size
    V3 colour;
} Placed;

static V3 move(const Placed *at, const double local[3]) {
    double out[3];
    fil_apply3(at->R, local, out);
    fil_add3(1.0, at->place, out);
    return v3_of(out);
}

// --- triangles -----------------------------------------------------------------------------------

static unsigned put_vertex(FilTriangles *out, V3 at) {
    float *v = out->vertex[out->vertex_count];
    v[0] = at.x;
    v[1] = at.y;
    v[2] = at.z;
    return (unsigned)out->vertex_count++;
}

static void put_triangle(FilTriangles *out, unsigned a, unsigned b, unsigned c, V3 colour) {
    const unsigned corners[3] = {a, b, c};
    memcpy(out->corner[out->count], corners, sizeof corners);
    out->colour[out->count++] = colour;
}

static void put_box(FilTriangles *out, const Placed *at) {
    static const unsigned char faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                              {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    unsigned v[8] = {0};
    for (int k = 0; k < 8; k++) {
        double local[3];
        for (int a = 0; a < 3; a++) {
            local[a] = at->solid->size[a] * ((k >> a & 1) != 0 ? 0.5 : -0.5);
        }
        v[k] = put_vertex(out, move(at, local));
    }
    for (int f = 0; f < 6; f++) {
        const unsigned char *c = faces[f];
        put_triangle(out, v[c[0]], v[c[1]], v[c[2]], at->colour);
        put_triangle(out, v[c[0]], v[c[2]], v[c[3]], at->colour);
    }
}

// Sides and ends have vertices of their own.
static void put_cylinder(FilTriangles *out, const Placed *at) {
    const double half = 0.5 * at->solid->length, radius = at->solid->radius;
    for (int part = 0; part < 2; part++) { // sides, ends
        const unsigned start = (unsigned)out->vertex_count;
        for (int k = 0; k < SIDES; k++) {
            const double angle = 2.0 * 3.14159265358979323846 * k / SIDES;
            for (int end = -1; end <= 1; end += 2) {
                const double local[3] = {end * half, radius * cos(angle), radius * sin(angle)};
                (void)put_vertex(out, move(at, local));
            }
        }
        for (unsigned k = 0; part == 0 && k < SIDES; k++) {
            const unsigned a = start + 2 * k, b = start + 2 * ((k + 1) % SIDES);
            put_triangle(out, a, b, a + 1, at->colour);
            put_triangle(out, a + 1, b, b + 1, at->colour);
        }
        for (unsigned k = 1; part == 1 && k < SIDES - 1; k++) {
            put_triangle(out, start, start + 2 * k + 2, start + 2 * k, at->colour);
            put_triangle(out, start + 1, start + 2 * k + 1, start + 2 * k + 3, at->colour);
        }
    }
}

static void put_mesh(FilTriangles *out, const FilResultMesh *mesh, const Placed *at) {
    const unsigned start = (unsigned)out->vertex_count;
    for (int i = 0; i < mesh->vertex_count; i++) {
        (void)put_vertex(out, move(at, mesh->vertices + 3 * (size_t)i));
    }
    for (int i = 0; i < mesh->triangle_count; i++) {
        const int *c = mesh->triangles + 3 * (size_t)i;
        put_triangle(out, start + (unsigned)c[0], start + (unsigned)c[1], start + (unsigned)c[2],
                     at->colour);
    }
}

static V3 face_normal(const FilTriangles *out, int i) {
    V3 p[3];
    for (int k = 0; k < 3; k++) {
        const float *v = out->vertex[out->corner[i][k]];
        p[k] = v3(v[0], v[1], v[2]);
    }
    return v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0]));
}

static bool set_normals(FilArena *arena, FilTriangles *out) {
    V3 *mean = FIL_NEW_ZEROED(arena, V3, out->vertex_count);
    if (mean == NULL) {
        return false;
    }
    for (int i = 0; i < out->count; i++) {
        for (int k = 0; k < 3; k++) {
            V3 *at = &mean[out->corner[i][k]];
            *at = v3_add(*at, face_normal(out, i));
        }
    }
    for (int i = 0; i < out->count; i++) {
        const V3 own = v3_unit(face_normal(out, i));
        for (int k = 0; k < 3; k++) {
            const V3 around = v3_unit(mean[out->corner[i][k]]);
            out->normal[i][k] = v3_dot(own, around) > sharp ? around : own;
        }
    }
    return true;
}

// --- ribbons -------------------------------------------------------------------------------------

// A ribbon is a tube with a rectangle as section, whose axes follow the recorded frames; each of
// the four sides has vertices of its own.
static void put_ring(FilTriangles *out, V3 at, const double R[9], const double half[2]) {
    static const signed char ends[8][2] = {{-1, -1}, {1, -1}, {1, -1}, {1, 1},
                                           {1, 1},   {-1, 1}, {-1, 1}, {-1, -1}};
    const V3 n1 = v3((float)R[1], (float)R[4], (float)R[7]);
    const V3 n2 = v3((float)R[2], (float)R[5], (float)R[8]);
    for (int k = 0; k < 8; k++) {
        const V3 side = v3_more(at, (float)(ends[k][0] * half[0]), n1);
        (void)put_vertex(out, v3_more(side, (float)(ends[k][1] * half[1]), n2));
    }
}

typedef struct Ribbon {
    const double *position, *quaternion; // of its first point
    double origin[3], half[2];
    int count;
} Ribbon;

static void ring_at(const Ribbon *ribbon, int i, double t, FilTriangles *out) {
    const double *p = ribbon->position + 3 * (size_t)i, *a = ribbon->quaternion + 4 * (size_t)i;
    const double *b = a + (i < ribbon->count - 1 ? 4 : 0), *q = p + (i < ribbon->count - 1 ? 3 : 0);
    const double *before = p - (i > 0 ? 3 : 0), *after = q + (i < ribbon->count - 2 ? 3 : 0);
    const double same = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double turn[4], R[9], at[3];
    for (int k = 0; k < 4; k++) {
        turn[k] = (1.0 - t) * a[k] + t * (same < 0.0 ? -b[k] : b[k]);
    }
    fil_rotation_from_quaternion(turn, R);
    for (int k = 0; k < 3; k++) { // a cubic with the slopes of central differences
        const double m = 0.5 * (q[k] - before[k]), n = 0.5 * (after[k] - p[k]), s = 1.0 - t;
        at[k] = s * s * (1.0 + 2.0 * t) * p[k] + t * t * (3.0 - 2.0 * t) * q[k] + t * s * s * m -
                t * t * s * n - ribbon->origin[k];
    }
    put_ring(out, v3_of(at), R, ribbon->half);
}

static void put_ribbon(FilModel *model, const FilRenderOptions *options, const Ribbon *ribbon,
                       int first_point, V3 natural) {
    FilTriangles *out = &model->triangles;
    const unsigned start = (unsigned)out->vertex_count;
    const int rings = (ribbon->count - 1) * RIBBON_PIECES + 1;
    for (int r = 0; r < rings; r++) {
        const bool last = r == rings - 1;
        ring_at(ribbon, last ? ribbon->count - 1 : r / RIBBON_PIECES,
                last ? 0.0 : (double)(r % RIBBON_PIECES) / RIBBON_PIECES, out);
    }
    for (int k = 0; k < 4 * (rings - 1); k++) {
        const unsigned a = start + 8 * (unsigned)(k / 4) + 2 * (unsigned)(k % 4);
        const int point = first_point + (k / 4 + RIBBON_PIECES / 2) / RIBBON_PIECES;
        const V3 colour = fil_model_colour(model, options, point, natural);
        put_triangle(out, a, a + 1, a + 9, colour);
        put_triangle(out, a, a + 9, a + 8, colour);
    }
}

// --- all of a frame ------------------------------------------------------------------------------

typedef struct Counts {
    size_t vertices, triangles, rounds;
} Counts;

static void count_solid(const FilResultDef *def, const FilResultSolid *solid, Counts *counts) {
    if (solid->shape == FIL_SHAPE_BOX) {
        counts->vertices += 8;
        counts->triangles += 12;
    } else if (solid->shape == FIL_SHAPE_CYLINDER) {
        counts->vertices += 4 * SIDES;
        counts->triangles += 4 * SIDES;
    } else if (solid->shape == FIL_SHAPE_MESH && solid->mesh >= 0 &&
               solid->mesh < def->mesh_count) {
        counts->vertices += (size_t)def->meshes[solid->mesh].vertex_count;
        counts->triangles += (size_t)def->meshes[solid->mesh].triangle_count;
    } else {
        counts->rounds += 1;
    }
}

static Counts count_all(const FilResultDef *def) {
    Counts counts = {.vertices = 0};
    for (int k = 0; k < def->rigid_count; k++) {
        count_solid(def, &def->rigids[k], &counts);
    }
    for (int k = 0; k < def->obstacle_count; k++) {
        count_solid(def, &def->obstacles[k], &counts);
    }
    for (int k = 0; k < def->line_count; k++) {
        double half[2];
        if (fil_section_is_flat(&def->rods[def->lines[k].rod], half)) {
            const size_t pieces = (size_t)def->lines[k].point_count * RIBBON_PIECES;
            counts.vertices += 8 * (pieces + 1);
            counts.triangles += 8 * pieces;
        }
    }
    return counts;
}

static bool reserve(FilModel *model, Counts counts) {
    FilArena *arena = &model->arena;
    FilTriangles *t = &model->triangles;
    t->vertex = fil_arena_get(arena, counts.vertices + 2, sizeof *t->vertex);
    t->corner = fil_arena_get(arena, counts.triangles + 2, sizeof *t->corner);
    t->normal = fil_arena_get(arena, counts.triangles, sizeof *t->normal);
    t->colour = FIL_NEW(arena, V3, counts.triangles);
    FilCurves *curves[2] = {&model->capsules, &model->balls};
    for (int k = 0; k < 2; k++) {
        curves[k]->vertex = fil_arena_get(arena, 2 * counts.rounds + 1, sizeof *curves[k]->vertex);
        curves[k]->first = FIL_NEW(arena, unsigned, counts.rounds + 4);
        curves[k]->flags = fil_arena_get_zeroed(arena, counts.rounds + 16, 1);
        curves[k]->colour = FIL_NEW(arena, V3, counts.rounds);
    }
    return !arena->failed && counts.vertices < INT32_MAX && counts.triangles < INT32_MAX;
}

// Embree loses the shape of capsules much shorter than thick: they are balls.
static void put_round(FilModel *model, const Placed *at) {
    const bool ball = at->solid->shape == FIL_SHAPE_SPHERE ||
                      at->solid->length < shortest_capsule * at->solid->radius;
    FilCurves *out = ball ? &model->balls : &model->capsules;
    out->first[out->piece_count] = (unsigned)out->vertex_count;
    out->colour[out->piece_count++] = at->colour;
    for (int end = ball ? 1 : -1; end <= 1; end += 2) {
        const double local[3] = {ball ? 0.0 : 0.5 * end * at->solid->length, 0.0, 0.0};
        const V3 place = move(at, local);
        float *v = out->vertex[out->vertex_count++];
        v[0] = place.x;
        v[1] = place.y;
        v[2] = place.z;
        v[3] = (float)at->solid->radius;
    }
}

// 1, 2 or 5 times a power of ten, some eight of them in the scene.
static float grid_step(double size) {
    const double wanted = 0.12 * size, power = pow(10.0, floor(log10(wanted)));
    return (float)(power * (wanted < 2.0 * power ? 1.0 : wanted < 5.0 * power ? 2.0 : 5.0));
}

static void put_plane(FilModel *model, const Placed *at) {
    FilPlane *plane = &model->planes[model->plane_count++];
    *plane = (FilPlane){.place = v3_of(at->place), .grid = grid_step(at->scene)};
    for (int k = 0; k < 3; k++) {
        plane->axis[k] = v3((float)at->R[k], (float)at->R[3 + k], (float)at->R[6 + k]);
    }
}

static void put_solid(FilModel *model, const FilResultDef *def, const Placed *at) {
    const FilResultSolid *solid = at->solid;
    if (!isfinite(fil_norm3(at->place) + at->R[0] + at->R[4] + at->R[8])) {
        return;
    }
    switch (solid->shape) {
    case FIL_SHAPE_BOX:
        put_box(&model->triangles, at);
        break;
    case FIL_SHAPE_CYLINDER:
        put_cylinder(&model->triangles, at);
        break;
    case FIL_SHAPE_PLANE:
        put_plane(model, at);
        break;
    case FIL_SHAPE_MESH:
        if (solid->mesh >= 0 && solid->mesh < def->mesh_count) {
            put_mesh(&model->triangles, &def->meshes[solid->mesh], at);
        }
        break;
    default:
        put_round(model, at);
        break;
    }
}

static Placed place_solid(const FilRenderOptions *options, const FilResultSolid *solid,
                          const double position[3], const double quaternion[4]) {
    Placed at = {.solid = solid, .scene = options->size};
    fil_subtract3(position, options->camera.target, at.place);
    fil_rotation_from_quaternion(quaternion, at.R);
    return at;
}

// Bodies that move: muted hues of their own, so that they can be told apart.
static V3 body_colour(int number) {
    static const double clay[3] = {0.86, 0.76, 0.62};
    double rgb[3];
    fil_colour_number(number, rgb);
    return v3_mix(fil_colour_linear(clay), fil_colour_linear(rgb), 0.6f);
}

static void put_ribbons(FilModel *model, const FilRenderOptions *options, const FilResultDef *def,
                        const FilFrame *frame) {
    static const double paper[3] = {0.80, 0.30, 0.26};
    for (int k = 0; k < def->line_count; k++) {
        const FilResultLine *line = &def->lines[k];
        Ribbon ribbon = {.position = frame->position + 3 * (size_t)line->first_point,
                         .quaternion = frame->quaternion + 4 * (size_t)line->first_point,
                         .count = line->point_count};
        if (!fil_section_is_flat(&def->rods[line->rod], ribbon.half) || line->point_count < 2) {
            continue;
        }
        fil_copy3(options->camera.target, ribbon.origin);
        double rgb[3];
        fil_colour_number(line->rod, rgb);
        put_ribbon(model, options, &ribbon, line->first_point,
                   fil_colour_linear(def->rod_count > 1 ? rgb : paper));
    }
}

bool fil_model_add_solids(FilModel *model, const FilRenderOptions *options, const FilResultDef *def,
                          const FilFrame *frame) {
    static const double stone[3] = {0.78, 0.76, 0.73}, skin[3] = {0.62, 0.47, 0.38};
    const bool head = fil_model_has_hair(model); // what hair grows on is not of stone
    model->planes = FIL_NEW(&model->arena, FilPlane, def->obstacle_count + 1);
    if (model->planes == NULL || !reserve(model, count_all(def))) {
        return false;
    }
    for (int k = 0; k < def->rigid_count; k++) {
        Placed at = place_solid(options, &def->rigids[k], frame->rigid_position + 3 * (size_t)k,
                                frame->rigid_quaternion + 4 * (size_t)k);
        at.colour = body_colour(k);
        put_solid(model, def, &at);
    }
    for (int k = 0; k < def->obstacle_count; k++) {
        Placed at =
            place_solid(options, &def->obstacles[k], frame->obstacle_position + 3 * (size_t)k,
                        frame->obstacle_quaternion + 4 * (size_t)k);
        at.colour = fil_colour_linear(head ? skin : stone);
        put_solid(model, def, &at);
    }
    put_ribbons(model, options, def, frame);
    if (model->plane_count == 0 && options->floor) {
        const double place[3] = {0.0, 0.0, options->floor_z - options->camera.target[2]};
        model->planes[model->plane_count++] =
            (FilPlane){.place = v3_of(place), .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    }
    return set_normals(&model->arena, &model->triangles);
}
