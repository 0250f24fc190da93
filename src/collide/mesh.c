// mesh.c - making a closed mesh: joining vertices, pairing edges, normals, parts, moments.
//
// 1 Vertices with the same coordinates become one (a hash table on their bits); triangles with two
//   equal corners vanish, which leaves no hole.
// 2 Every edge is met once in each direction (a second hash table): the surface is closed and
//   oriented alike everywhere.
// 3 Connected parts: a part whose volume is negative is a cavity, and must lie within another part.
// 4 Normals. Triangles without height (three corners on a line) do no harm where they are, since
//   their sides are edges like others; their normal means nothing, so they take that of the
//   neighbour across their longest side, of which they are a seam. Edges have the sum of their two
//   triangles' normals, vertices the sum weighted by the angles.
// 5 Patches: triangles that meet at less than SMOOTH_ANGLE belong to the same patch; the identity
//   of a contact that slides over a patch does not change.
#include "mesh.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/union_find.h"
#include "math/vec3.h"

#define SMOOTH_COSINE 0.866 // 30 degrees
#define LARGEST 1e50        // m: volumes of volumes must fit a double
#define NO_HEIGHT 1e-12     // of the longest side: a triangle without area
#define NO_VOLUME 1e-13     // of the cube of the diagonal

// The arrays given, as they are cleaned, and scratch.
typedef struct Maker {
    FilMesh *mesh;
    FilArena scratch;
    const double *vertices; // as given
    int vertex_count;
    const int *triangles; // as given
    int triangle_count;
    int *origin;          // [mesh->vertex_count]: the vertex given that it was
    int *given_triangles; // [mesh->triangle_count]: the triangle given that it was
    FilError *error;
} Maker;

static FilStatus no_memory(const Maker *m) {
    return fil_fail(m->error, FIL_E_NO_MEMORY, "there is no memory for a mesh of %d triangles",
                    m->triangle_count);
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 32);
}

// A power of two that leaves half of the table free.
static size_t choose_table_size(size_t count) {
    size_t size = 16;
    while (size < 2 * count) {
        size *= 2;
    }
    return size;
}

// ------------------------------------------------------------------------------ 1: vertices

static FilStatus check_numbers(const Maker *m) {
    if (m->vertex_count < 4 || m->vertices == NULL) {
        return fil_fail(m->error, FIL_E_ARGUMENT,
                        "the mesh has %d vertices; a closed surface has at least 4",
                        m->vertex_count);
    }
    if (m->triangle_count < 4 || m->triangles == NULL) {
        return fil_fail(m->error, FIL_E_ARGUMENT,
                        "the mesh has %d triangles; a closed surface has at least 4",
                        m->triangle_count);
    }
    if (m->triangle_count > (1 << 28)) {
        return fil_fail(m->error, FIL_E_ARGUMENT, "the mesh has %d triangles; at most %d fit",
                        m->triangle_count, 1 << 28);
    }
    for (int i = 0; i < 3 * m->triangle_count; i++) {
        if (m->triangles[i] < 0 || m->triangles[i] >= m->vertex_count) {
            return fil_fail(m->error, FIL_E_ARGUMENT,
                            "triangle %d has vertex %d; there are %d, counted from 0", i / 3,
                            m->triangles[i], m->vertex_count);
        }
        const double *x = &m->vertices[3 * (size_t)m->triangles[i]];
        for (int k = 0; k < 3; k++) {
            if (!(fabs(x[k]) < LARGEST)) {
                return fil_fail(m->error, FIL_E_ARGUMENT,
                                "vertex %d has the coordinate %g; it must be finite and below %g",
                                m->triangles[i], x[k], LARGEST);
            }
        }
    }
    return FIL_OK;
}

static uint64_t hash_place(const double x[3]) {
    uint64_t h = 0;
    for (int k = 0; k < 3; k++) {
        const double positive = x[k] + 0.0; // -0 becomes 0
        uint64_t bits;
        memcpy(&bits, &positive, sizeof bits);
        h = mix(h ^ bits) + (uint64_t)k;
    }
    return h;
}

// Number the places that triangles use in the order of their first use; `joined` [vertex_count]
// receives the number of each vertex given.
static FilStatus join_vertices(Maker *m, int *joined) {
    const size_t size = choose_table_size((size_t)m->vertex_count);
    int *table = FIL_NEW(&m->scratch, int, size);
    m->mesh->vertices = fil_arena_get(&m->mesh->arena, (size_t)m->vertex_count, 3 * sizeof(double));
    m->origin = FIL_NEW(&m->scratch, int, m->vertex_count);
    if (table == NULL || m->mesh->vertices == NULL || m->origin == NULL) {
        return no_memory(m);
    }
    memset(table, -1, size * sizeof *table);
    memset(joined, -1, (size_t)m->vertex_count * sizeof *joined);
    int count = 0;
    for (int i = 0; i < 3 * m->triangle_count; i++) {
        const int given = m->triangles[i];
        if (joined[given] >= 0) {
            continue;
        }
        const double *x = &m->vertices[3 * (size_t)given];
        size_t slot = (size_t)hash_place(x) & (size - 1);
        while (table[slot] >= 0) {
            const double *y = m->mesh->vertices[table[slot]];
            if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
                break;
            }
            slot = (slot + 1) & (size - 1);
        }
        if (table[slot] < 0) {
            table[slot] = count;
            m->origin[count] = given;
            for (int k = 0; k < 3; k++) {
                m->mesh->vertices[count][k] = x[k] + 0.0;
            }
            count++;
        }
        joined[given] = table[slot];
    }
    m->mesh->vertex_count = count;
    return FIL_OK;
}

static FilStatus copy_triangles(Maker *m, const int *joined) {
    FilMesh *mesh = m->mesh;
    mesh->triangles = fil_arena_get(&mesh->arena, (size_t)m->triangle_count, 3 * sizeof(int));
    m->given_triangles = FIL_NEW(&m->scratch, int, m->triangle_count);
    if (mesh->triangles == NULL || m->given_triangles == NULL) {
        return no_memory(m);
    }
    for (int i = 0; i < m->triangle_count; i++) {
        int corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = joined[m->triangles[3 * i + k]];
        }
        if (corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]) {
            m->given_triangles[mesh->triangle_count] = i;
            memcpy(mesh->triangles[mesh->triangle_count++], corner, sizeof corner);
        }
    }
    if (mesh->triangle_count < 4) {
        return fil_fail(m->error, FIL_E_ARGUMENT,
                        "the mesh has %d triangles with three different corners; a closed surface "
                        "has at least 4",
                        mesh->triangle_count);
    }
    return FIL_OK;
}

// --------------------------------------------------------------------------------- 2: edges

static FilStatus fail_edge(const Maker *m, int edge, int triangle, const char *what) {
    const int a = m->mesh->edges[edge][0], b = m->mesh->edges[edge][1];
    const double *x = m->mesh->vertices[a], *y = m->mesh->vertices[b];
    return fil_fail(m->error, FIL_E_ARGUMENT,
                    "the edge of vertices %d and %d, from (%.6g, %.6g, %.6g) to (%.6g, %.6g, "
                    "%.6g), %s (triangle %d)",
                    m->origin[a], m->origin[b], x[0], x[1], x[2], y[0], y[1], y[2], what,
                    m->given_triangles[triangle]);
}

// The edge of two vertices (a < b), a new one when they have none yet.
static int find_edge(FilMesh *mesh, int *table, size_t size, int a, int b) {
    size_t slot = (size_t)mix(((uint64_t)(uint32_t)a << 32) | (uint32_t)b) & (size - 1);
    while (table[slot] >= 0) {
        const int *edge = mesh->edges[table[slot]];
        if (edge[0] == a && edge[1] == b) {
            return table[slot];
        }
        slot = (slot + 1) & (size - 1);
    }
    table[slot] = mesh->edge_count;
    mesh->edges[mesh->edge_count][0] = a;
    mesh->edges[mesh->edge_count][1] = b;
    mesh->edge_triangles[mesh->edge_count][0] = -1;
    mesh->edge_triangles[mesh->edge_count][1] = -1;
    return mesh->edge_count++;
}

static FilStatus pair_edges(Maker *m) {
    FilMesh *mesh = m->mesh;
    const size_t most = 3 * (size_t)mesh->triangle_count, size = choose_table_size(most);
    int *table = FIL_NEW(&m->scratch, int, size);
    mesh->sides = fil_arena_get(&mesh->arena, (size_t)mesh->triangle_count, 3 * sizeof(int));
    mesh->edges = fil_arena_get(&mesh->arena, most, 2 * sizeof(int));
    mesh->edge_triangles = fil_arena_get(&mesh->arena, most, 2 * sizeof(int));
    if (table == NULL || mesh->arena.failed) {
        return no_memory(m);
    }
    memset(table, -1, size * sizeof *table);
    for (int i = 0; i < mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            const int a = mesh->triangles[i][k], b = mesh->triangles[i][(k + 1) % 3];
            const int edge = find_edge(mesh, table, size, a < b ? a : b, a < b ? b : a);
            int *of = mesh->edge_triangles[edge];
            const int way = a > b;
            if (of[way] >= 0) {
                return fail_edge(m, edge, i,
                                 of[!way] >= 0
                                     ? "belongs to more than two triangles"
                                     : "is run along twice in the same direction: one of its "
                                       "triangles is inside out");
            }
            of[way] = i;
            mesh->sides[i][k] = edge;
        }
    }
    for (int e = 0; e < mesh->edge_count; e++) {
        const int *of = mesh->edge_triangles[e];
        if (of[0] < 0 || of[1] < 0) {
            return fail_edge(m, e, of[0] < 0 ? of[1] : of[0],
                             "belongs to one triangle alone: the mesh is not closed");
        }
    }
    return FIL_OK;
}

// --------------------------------------------------------------------------------- 3: parts

typedef struct Part {
    int first, count; // in the list of triangles by part
    double volume;
    FilBox box;
} Part;

static void grow_box(FilBox *box, const double x[3]) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], x[k]);
        box->high[k] = fmax(box->high[k], x[k]);
    }
}

static void empty_box(FilBox *box) {
    *box = (FilBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static double get_diagonal(const FilBox *box) {
    double d[3];
    fil_subtract3(box->high, box->low, d);
    return fil_norm3(d);
}

// Six times the volume of the tetrahedron of a triangle and `from`.
static double get_wedge(const FilMesh *mesh, int triangle, const double from[3]) {
    double r[3][3], c[3];
    for (int k = 0; k < 3; k++) {
        fil_subtract3(mesh->vertices[mesh->triangles[triangle][k]], from, r[k]);
    }
    fil_cross3(r[1], r[2], c);
    return fil_dot3(r[0], c);
}

// The solid angle of a triangle seen from p, over 2 (van Oosterom and Strackee 1983).
static double get_half_angle(const FilMesh *mesh, int triangle, const double p[3]) {
    double r[3][3], n[3];
    for (int k = 0; k < 3; k++) {
        fil_subtract3(mesh->vertices[mesh->triangles[triangle][k]], p, r[k]);
        n[k] = fil_norm3(r[k]);
    }
    const double down = n[0] * n[1] * n[2] + fil_dot3(r[0], r[1]) * n[2] +
                        fil_dot3(r[1], r[2]) * n[0] + fil_dot3(r[2], r[0]) * n[1];
    return atan2(get_wedge(mesh, triangle, p), down);
}

static void measure_part(const FilMesh *mesh, const int *list, Part *part) {
    const double *from = mesh->vertices[mesh->triangles[list[part->first]][0]];
    empty_box(&part->box);
    for (int i = part->first; i < part->first + part->count; i++) {
        part->volume += get_wedge(mesh, list[i], from) / 6.0;
        for (int k = 0; k < 3; k++) {
            grow_box(&part->box, mesh->vertices[mesh->triangles[list[i]][k]]);
        }
    }
}

static bool is_within(const FilMesh *mesh, const int *list, const Part *part, const double p[3]) {
    for (int k = 0; k < 3; k++) {
        if (!(p[k] >= part->box.low[k] && p[k] <= part->box.high[k])) {
            return false;
        }
    }
    double sum = 0.0;
    for (int i = part->first; i < part->first + part->count; i++) {
        sum += get_half_angle(mesh, list[i], p);
    }
    return sum > 3.141592653589793; // 2 pi inside, 0 outside
}

// A part with a negative volume is a cavity in a part that has a positive one.
static FilStatus check_part(const Maker *m, const int *list, const Part *parts, int count, int k) {
    const FilMesh *mesh = m->mesh;
    const int triangle = m->given_triangles[list[parts[k].first]];
    const double diagonal = get_diagonal(&parts[k].box);
    if (!(fabs(parts[k].volume) > NO_VOLUME * diagonal * diagonal * diagonal)) {
        return fil_fail(m->error, FIL_E_ARGUMENT,
                        "the part of the mesh with triangle %d has no volume", triangle);
    }
    if (parts[k].volume > 0.0) {
        return FIL_OK;
    }
    const double *p = mesh->vertices[mesh->triangles[list[parts[k].first]][0]];
    for (int other = 0; other < count; other++) {
        if (parts[other].volume > 0.0 && is_within(mesh, list, &parts[other], p)) {
            return FIL_OK;
        }
    }
    return fil_fail(m->error, FIL_E_ARGUMENT,
                    "the part of the mesh with triangle %d is inside out: its volume is %g m^3; "
                    "triangles must run anticlockwise seen from outside",
                    triangle, parts[k].volume);
}

// Sort the triangles by part: `list` has those of part k at parts[k].first. Returns the parts.
static int sort_parts(const FilMesh *mesh, int *parent, int *number, int *list, Part *parts) {
    int count = 0, at = 0;
    for (int i = 0; i < mesh->triangle_count; i++) {
        const int root = fil_union_root(parent, i);
        if (root == i) {
            number[i] = count;
            parts[count++] = (Part){0};
        }
        parts[number[root]].count++;
    }
    for (int k = 0; k < count; k++) {
        parts[k].first = at;
        at += parts[k].count;
        parts[k].count = 0;
    }
    for (int i = 0; i < mesh->triangle_count; i++) {
        Part *part = &parts[number[fil_union_root(parent, i)]];
        list[part->first + part->count++] = i;
    }
    return count;
}

static FilStatus check_parts(Maker *m) {
    const FilMesh *mesh = m->mesh;
    const int n = mesh->triangle_count;
    int *parent = FIL_NEW(&m->scratch, int, n), *number = FIL_NEW(&m->scratch, int, n);
    int *list = FIL_NEW(&m->scratch, int, n);
    Part *parts = FIL_NEW(&m->scratch, Part, n / 2); // a closed part has 2 triangles at least
    if (m->scratch.failed) {
        return no_memory(m);
    }
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
    for (int e = 0; e < mesh->edge_count; e++) {
        fil_union_join(parent, mesh->edge_triangles[e][0], mesh->edge_triangles[e][1]);
    }
    const int count = sort_parts(mesh, parent, number, list, parts);
    for (int k = 0; k < count; k++) {
        measure_part(mesh, list, &parts[k]);
    }
    for (int k = 0; k < count; k++) {
        FIL_TRY(check_part(m, list, parts, count, k));
    }
    return FIL_OK;
}

// ------------------------------------------------------------------------------- 4: normals

static void normalise(double n[3]) {
    const double length = fil_norm3(n);
    for (int k = 0; k < 3; k++) {
        n[k] = length > 0.0 ? n[k] / length : 0.0;
    }
}

// The unit normal; false for a triangle without height, of which `longest` is the longest side.
static bool find_triangle_normal(const FilMesh *mesh, int i, double n[3], int *longest) {
    double e[3][3], square[3];
    for (int k = 0; k < 3; k++) {
        fil_subtract3(mesh->vertices[mesh->triangles[i][(k + 1) % 3]],
                      mesh->vertices[mesh->triangles[i][k]], e[k]);
        square[k] = fil_dot3(e[k], e[k]);
    }
    *longest = square[1] > square[0] ? 1 : 0;
    *longest = square[2] > square[*longest] ? 2 : *longest;
    fil_cross3(e[(*longest + 1) % 3], e[(*longest + 2) % 3], n); // of the two shorter sides
    const bool flat = fil_norm3(n) > NO_HEIGHT * square[*longest];
    normalise(n);
    return flat;
}

// Triangles without height take the normal of the neighbour across their longest side, which may be
// without height itself: follow on for a while.
static void find_triangle_normals(FilMesh *mesh) {
    for (int i = 0; i < mesh->triangle_count; i++) {
        int at = i, longest;
        double *n = mesh->triangle_normals[i];
        for (int tries = 0; !find_triangle_normal(mesh, at, n, &longest) && tries < 64; tries++) {
            const int *of = mesh->edge_triangles[mesh->sides[at][longest]];
            at = of[0] == at ? of[1] : of[0];
        }
    }
}

static double get_angle(const FilMesh *mesh, int i, int k) {
    double e[3], f[3], c[3];
    const double *at = mesh->vertices[mesh->triangles[i][k]];
    fil_subtract3(mesh->vertices[mesh->triangles[i][(k + 1) % 3]], at, e);
    fil_subtract3(mesh->vertices[mesh->triangles[i][(k + 2) % 3]], at, f);
    fil_cross3(e, f, c);
    return atan2(fil_norm3(c), fil_dot3(e, f));
}

static void find_normals(FilMesh *mesh) {
    find_triangle_normals(mesh);
    for (int i = 0; i < mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            fil_add3(get_angle(mesh, i, k), mesh->triangle_normals[i],
                     mesh->vertex_normals[mesh->triangles[i][k]]);
        }
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        normalise(mesh->vertex_normals[v]);
    }
    for (int e = 0; e < mesh->edge_count; e++) {
        const double *a = mesh->triangle_normals[mesh->edge_triangles[e][0]],
                     *b = mesh->triangle_normals[mesh->edge_triangles[e][1]];
        for (int k = 0; k < 3; k++) {
            mesh->edge_normals[e][k] = a[k] + b[k];
        }
        normalise(mesh->edge_normals[e]);
    }
}

// ------------------------------------------------------------------------------- 5: patches

static void find_patches(FilMesh *mesh) {
    for (int i = 0; i < mesh->triangle_count; i++) {
        mesh->patches[i] = i;
    }
    for (int e = 0; e < mesh->edge_count; e++) {
        const int *of = mesh->edge_triangles[e];
        if (fil_dot3(mesh->triangle_normals[of[0]], mesh->triangle_normals[of[1]]) >
            SMOOTH_COSINE) {
            fil_union_join(mesh->patches, of[0], of[1]);
        } else {
            mesh->sharp_edges[e] = true;
            mesh->sharp_vertices[mesh->edges[e][0]] = true;
            mesh->sharp_vertices[mesh->edges[e][1]] = true;
        }
    }
    for (int i = 0; i < mesh->triangle_count; i++) {
        mesh->patches[i] = fil_union_root(mesh->patches, i);
    }
}

// The edges of each vertex, and its first triangle.
static void find_spokes(FilMesh *mesh) {
    for (int e = 0; e < 2 * mesh->edge_count; e++) {
        mesh->spoke_first[mesh->edges[e / 2][e % 2] + 1]++;
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        mesh->spoke_first[v + 1] += mesh->spoke_first[v];
    }
    for (int e = 2 * mesh->edge_count - 1; e >= 0; e--) { // fill each list from its end
        mesh->spokes[--mesh->spoke_first[mesh->edges[e / 2][e % 2] + 1]] = e / 2;
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        mesh->spoke_first[v] = mesh->spoke_first[v + 1];
    }
    mesh->spoke_first[mesh->vertex_count] = 2 * mesh->edge_count;
    for (int i = mesh->triangle_count - 1; i >= 0; i--) {
        for (int k = 0; k < 3; k++) {
            mesh->owners[mesh->triangles[i][k]] = i;
        }
    }
}

// ------------------------------------------------------------------------------ 6: moments

// Sums over the tetrahedra of the triangles and the middle of the box: with corners 0, a, b, c and
// volume V, int x_i x_j = V / 20 (sum of products of corners + product of their sums).
static void measure(FilMesh *mesh) {
    FilSolidMoments *m = &mesh->moments;
    double middle[3], first[3] = {0}, second[3][3] = {{0}};
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (mesh->box.low[k] + mesh->box.high[k]);
    }
    for (int t = 0; t < mesh->triangle_count; t++) {
        const double volume = get_wedge(mesh, t, middle) / 6.0;
        double r[3][3], sum[3] = {0};
        for (int k = 0; k < 3; k++) {
            fil_subtract3(mesh->vertices[mesh->triangles[t][k]], middle, r[k]);
            fil_add3(1.0, r[k], sum);
        }
        m->volume += volume;
        fil_add3(volume / 4.0, sum, first);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                second[i][j] +=
                    volume / 20.0 *
                    (sum[i] * sum[j] + r[0][i] * r[0][j] + r[1][i] * r[1][j] + r[2][i] * r[2][j]);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            second[i][j] -= first[i] * first[j] / m->volume;
        }
    }
    const double trace = second[0][0] + second[1][1] + second[2][2];
    for (int i = 0; i < 3; i++) {
        m->centre[i] = middle[i] + first[i] / m->volume;
        for (int j = 0; j < 3; j++) {
            m->inertia[i][j] = (i == j ? trace : 0.0) - second[i][j];
        }
    }
}

// ---------------------------------------------------------------------------------- creation

static FilStatus build_tree(Maker *m) {
    FilMesh *mesh = m->mesh;
    FilBox *boxes = FIL_NEW(&m->scratch, FilBox, mesh->triangle_count);
    mesh->corners = fil_arena_get(&mesh->arena, (size_t)mesh->triangle_count, 9 * sizeof(double));
    if (boxes == NULL || mesh->corners == NULL) {
        return no_memory(m);
    }
    empty_box(&mesh->box);
    for (int i = 0; i < mesh->triangle_count; i++) {
        empty_box(&boxes[i]);
        for (int k = 0; k < 3; k++) {
            grow_box(&boxes[i], mesh->vertices[mesh->triangles[i][k]]);
            grow_box(&mesh->box, mesh->vertices[mesh->triangles[i][k]]);
        }
    }
    mesh->size = get_diagonal(&mesh->box);
    if (!fil_bvh_build(&mesh->bvh, mesh->triangle_count, boxes, &mesh->arena)) {
        return no_memory(m);
    }
    for (int i = 0; i < mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            fil_copy3(mesh->vertices[mesh->triangles[mesh->bvh.order[i]][k]], mesh->corners[i][k]);
        }
    }
    return FIL_OK;
}

static FilStatus make(Maker *m) {
    FilMesh *mesh = m->mesh;
    FIL_TRY(check_numbers(m));
    int *joined = FIL_NEW(&m->scratch, int, m->vertex_count);
    if (joined == NULL) {
        return no_memory(m);
    }
    FIL_TRY(join_vertices(m, joined));
    FIL_TRY(copy_triangles(m, joined));
    FIL_TRY(pair_edges(m));
    FIL_TRY(check_parts(m));
    const size_t n = (size_t)mesh->triangle_count, v = (size_t)mesh->vertex_count,
                 e = (size_t)mesh->edge_count;
    mesh->triangle_normals = fil_arena_get(&mesh->arena, n, 3 * sizeof(double));
    mesh->edge_normals = fil_arena_get(&mesh->arena, e, 3 * sizeof(double));
    mesh->vertex_normals = fil_arena_get_zeroed(&mesh->arena, v, 3 * sizeof(double));
    mesh->patches = FIL_NEW(&mesh->arena, int, n);
    mesh->sharp_edges = FIL_NEW_ZEROED(&mesh->arena, bool, e);
    mesh->sharp_vertices = FIL_NEW_ZEROED(&mesh->arena, bool, v);
    mesh->spoke_first = FIL_NEW_ZEROED(&mesh->arena, int, v + 1);
    mesh->spokes = FIL_NEW(&mesh->arena, int, 2 * e);
    mesh->owners = FIL_NEW(&mesh->arena, int, v);
    if (mesh->arena.failed) {
        return no_memory(m);
    }
    find_normals(mesh);
    find_patches(mesh);
    find_spokes(mesh);
    FIL_TRY(build_tree(m));
    measure(mesh);
    return FIL_OK;
}

FilStatus fil_mesh_create(const double *vertices, int vertex_count, const int *triangles,
                          int triangle_count, const FilAllocator *allocator, FilMesh **out,
                          FilError *error) {
    FilArena arena = fil_arena_make(allocator);
    FilMesh *mesh = FIL_NEW_ZEROED(&arena, FilMesh, 1);
    if (mesh == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a mesh");
    }
    mesh->arena = arena;
    Maker maker = {.mesh = mesh,
                   .scratch = fil_arena_make(allocator),
                   .vertices = vertices,
                   .vertex_count = vertex_count,
                   .triangles = triangles,
                   .triangle_count = triangle_count,
                   .error = error};
    const FilStatus status = make(&maker);
    fil_arena_destroy(&maker.scratch);
    if (status != FIL_OK) {
        fil_mesh_destroy(mesh);
        return status;
    }
    *out = mesh;
    return FIL_OK;
}

void fil_mesh_destroy(FilMesh *mesh) {
    if (mesh != NULL) {
        FilArena arena = mesh->arena; // the mesh lies in its own arena
        fil_arena_destroy(&arena);
    }
}

int fil_mesh_vertex_count(const FilMesh *mesh) {
    return mesh->vertex_count;
}

int fil_mesh_triangle_count(const FilMesh *mesh) {
    return mesh->triangle_count;
}

const double *fil_mesh_vertices(const FilMesh *mesh) {
    return mesh->vertices[0];
}

const int *fil_mesh_triangles(const FilMesh *mesh) {
    return mesh->triangles[0];
}
