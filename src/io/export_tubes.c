// export_tubes.c - the surfaces of rods: a tube around each line, closed at both ends.
//
// A tube has a ring of vertices at each point of a line, and one vertex at each end, which closes
// it. So a vertex is the same place of the rod in every frame.
//
// Round: the ring lies across the line there (the difference of the neighbours), and starts in the
// direction of the section's axis n1, or n2 where n1 runs along the line: twist shows.
// Elliptic: the ring lies along n1 and n2, with half the sizes of the section.
// Flat, more than twice as wide as thick: a rectangle along n1 and n2; the ring has eight vertices,
// two for each of its four sides, which are flat.
#include "export_tubes.h"

#include "math/rotation.h"
#include "math/vec3.h"

#include <math.h>

enum { RIBBON_SIDES = 8 }; // vertices of a ring
#define PI 3.14159265358979323846

static bool normalise(double a[3]) {
    const double size = fil_norm3(a);
    if (!(size > 0.0 && isfinite(size))) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        a[k] /= size;
    }
    return true;
}

// The axes of the ring at a point of a line: along it, and two across it.
static void find_axes(const FilResultLine *line, const FilFrame *frame, int i, double axis[3][3]) {
    const int before = i > 0 ? i - 1 : i, after = i + 1 < line->point_count ? i + 1 : i;
    const size_t first = (size_t)line->first_point;
    double R[9];
    fil_export_axes(frame, line->first_point + i, R);
    fil_subtract3(frame->position + 3 * (first + (size_t)after),
                  frame->position + 3 * (first + (size_t)before), axis[0]);
    if (!normalise(axis[0])) {
        fil_copy3((double[3]){R[0], R[3], R[6]}, axis[0]);
    }
    for (int k = 1; k < 3; k++) { // at least one of two unit vectors across each other will do
        fil_copy3((double[3]){R[k], R[3 + k], R[6 + k]}, axis[1]);
        fil_add3(-fil_dot3(axis[0], axis[1]), axis[0], axis[1]);
        if (fil_norm3(axis[1]) > 0.5) {
            break;
        }
    }
    (void)normalise(axis[1]);
    fil_cross3(axis[0], axis[1], axis[2]);
}

static void put_vertex(float *to[2], const double x[3], const double normal[3]) {
    for (int k = 0; k < 3; k++) {
        *to[0]++ = (float)x[k];
        *to[1]++ = (float)normal[k];
    }
}

// An ellipse, or a circle where both halves are the same.
static void put_oval_ring(const double x[3], double axis[3][3], const double half[2], int sides,
                          float *to[2]) {
    for (int j = 0; j < sides; j++) {
        const double angle = 2.0 * PI * j / sides, c = cos(angle), s = sin(angle);
        const bool round = half[0] == half[1];
        double normal[3] = {0.0, 0.0, 0.0}, place[3];
        fil_add3(round ? c : c * half[1], axis[1], normal);
        fil_add3(round ? s : s * half[0], axis[2], normal);
        (void)(round || normalise(normal));
        fil_copy3(x, place);
        fil_add3(c * half[0], axis[1], place);
        fil_add3(s * half[1], axis[2], place);
        put_vertex(to, place, normal);
    }
}

static void put_flat_ring(const double x[3], double axis[3][3], const double half[2],
                          float *to[2]) {
    static const signed char corners[RIBBON_SIDES][2] = {{-1, -1}, {1, -1}, {1, -1}, {1, 1},
                                                         {1, 1},   {-1, 1}, {-1, 1}, {-1, -1}};
    static const signed char normals[RIBBON_SIDES][2] = {{0, -1}, {0, -1}, {1, 0},  {1, 0},
                                                         {0, 1},  {0, 1},  {-1, 0}, {-1, 0}};
    for (int j = 0; j < RIBBON_SIDES; j++) {
        double normal[3] = {0.0, 0.0, 0.0}, place[3];
        fil_copy3(x, place);
        for (int k = 0; k < 2; k++) {
            fil_add3(corners[j][k] * half[k], axis[1 + k], place);
            fil_add3(normals[j][k], axis[1 + k], normal);
        }
        put_vertex(to, place, normal);
    }
}

static void find_section_axes(const FilFrame *frame, int point, double axis[3][3]) {
    double R[9];
    fil_export_axes(frame, point, R);
    for (int k = 0; k < 3; k++) {
        fil_copy3((double[3]){R[k], R[3 + k], R[6 + k]}, axis[k]);
    }
}

// Half the sizes of the section of a line; branches that are thinner than their rod are so in both.
static void find_halves(const FilResultDef *def, int line, double half[2]) {
    const FilResultRod *rod = &def->rods[def->lines[line].rod];
    const double radius = fil_line_radius(def, line);
    if (fil_section_is_round(rod)) {
        half[0] = half[1] = radius;
        return;
    }
    (void)fil_section_is_flat(rod, half);
    for (int k = 0; k < 2 && rod->radius > 0.0; k++) {
        half[k] *= radius / rod->radius;
    }
}

static void put_line(const FilExportTubes *tubes, int l, const FilFrame *frame, float *to[2]) {
    const FilResultDef *def = tubes->def;
    const FilResultLine *line = &def->lines[l];
    const FilResultRod *rod = &def->rods[line->rod];
    double axis[3][3], ends[2][3] = {{0.0}}, half[2];
    const bool flat = fil_section_is_flat(rod, half), round = fil_section_is_round(rod);
    find_halves(def, l, half);
    for (int i = 0; i < line->point_count; i++) {
        const double *x = frame->position + 3 * (size_t)(line->first_point + i);
        if (round) {
            find_axes(line, frame, i, axis);
        } else {
            find_section_axes(frame, line->first_point + i, axis);
        }
        if (flat) {
            put_flat_ring(x, axis, half, to);
        } else {
            put_oval_ring(x, axis, half, tubes->sides, to);
        }
        fil_copy3(axis[0], ends[i > 0]);
    }
    for (int end = 0; end < 2; end++) {
        const int i = end == 0 ? 0 : line->point_count - 1;
        const double side = end == 0 ? -1.0 : 1.0;
        const double normal[3] = {side * ends[end][0], side * ends[end][1], side * ends[end][2]};
        put_vertex(to, frame->position + 3 * (size_t)(line->first_point + i), normal);
    }
}

void fil_export_tube_vertices(const FilExportTubes *tubes, const FilFrame *frame,
                              float *const arrays[2]) {
    float *to[2] = {arrays[0], arrays[1]};
    for (int l = tubes->group->first_line; l < tubes->group->end_line; l++) {
        if (fil_export_has_line(tubes->def, tubes->group, l)) {
            put_line(tubes, l, frame, to);
        }
    }
}

// --- triangles -----------------------------------------------------------------------------------

static void add_three(uint32_t **to, int a, int b, int c) {
    *(*to)++ = (uint32_t)a;
    *(*to)++ = (uint32_t)b;
    *(*to)++ = (uint32_t)c;
}

// The ring of a line: its vertices, and from how many on the next side begins.
typedef struct Ring {
    int sides, stride;
} Ring;

static Ring get_ring(const FilExportTubes *tubes, int line) {
    double half[2];
    return fil_section_is_flat(&tubes->def->rods[tubes->def->lines[line].rod], half)
               ? (Ring){.sides = RIBBON_SIDES, .stride = 2}
               : (Ring){.sides = tubes->sides, .stride = 1};
}

// The triangles of a line whose first vertex is `first`; returns the vertex after its last one.
static int put_triangles(Ring ring, int first, int points, uint32_t **to) {
    const int sides = ring.sides, root = first + points * sides, last = root - sides;
    for (int j = 0; j < sides; j += ring.stride) {
        const int next = (j + 1) % sides;
        for (int a = first; a < last; a += sides) {
            add_three(to, a + j, a + next, a + sides + j);
            add_three(to, a + next, a + sides + next, a + sides + j);
        }
        add_three(to, root, first + next, first + j);
        add_three(to, root + 1, last + j, last + next);
    }
    return root + 2;
}

void fil_export_tube_triangles(const FilExportTubes *tubes, uint32_t *indices) {
    int vertex = 0;
    for (int l = tubes->group->first_line; l < tubes->group->end_line; l++) {
        if (fil_export_has_line(tubes->def, tubes->group, l)) {
            const int points = tubes->def->lines[l].point_count;
            vertex = put_triangles(get_ring(tubes, l), vertex, points, &indices);
        }
    }
}

void fil_export_tube_counts(const FilExportTubes *tubes, double counts[2]) {
    counts[0] = counts[1] = 0.0;
    for (int l = tubes->group->first_line; l < tubes->group->end_line; l++) {
        const double points = tubes->def->lines[l].point_count;
        const Ring ring = get_ring(tubes, l);
        if (fil_export_has_line(tubes->def, tubes->group, l)) {
            counts[0] += points * ring.sides + 2.0;
            counts[1] += 2.0 * points * ring.sides / ring.stride;
        }
    }
}
