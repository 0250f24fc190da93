// touch_shapes.c - two solids of any kind.
//
// Spheres, capsules, cylinders and boxes among themselves: touch_convex.c. Against a plane: the
// corners, ends and points of the rim that are below the reach. Against a mesh: a sphere or capsule
// is what touch_mesh.c takes; a box or cylinder touches it with its edges (capsules without
// radius), a cylinder also with its round side, and is touched by the vertices of the mesh; two
// meshes touch with their vertices and sharp edges. Many touches of a pair are thinned to those
// that are deepest and farthest apart.
//
// A plane, or else a mesh, is always b; the other order is the same with normals turned around.
#include "collide/touch.h"

#include <math.h>

#include "collide/mesh.h"
#include "collide/touch_convex.h"
#include "collide/touch_mesh.h"
#include "collide/triangle.h"
#include "math/vec3.h"

enum { ROOM = 64, RIM = 8 };

#define SAME_PLACE 0.01     // of the size of the smaller solid
#define SAME_DIRECTION 0.99 // cosine
#define SIDEWAYS 0.2        // cosine of the angle to the axis from which on a side touches

static void turn_around(FilTouch *touches, int count) {
    for (int i = 0; i < count; i++) {
        FilTouch *touch = &touches[i];
        for (int k = 0; k < 3; k++) {
            const double x = touch->on_a[k];
            touch->on_a[k] = touch->on_b[k];
            touch->on_b[k] = x;
            touch->normal[k] = -touch->normal[k];
        }
        const double t = touch->t_a;
        touch->t_a = touch->t_b;
        touch->t_b = t;
    }
}

// --------------------------------------------------------------------------------- many touches

// Touches of one pair while they are found; mesh is b.
typedef struct Pool {
    FilTouch touch[ROOM];
    int count;
    double near; // m: touches of like direction that are closer are one
    double reach;
} Pool;

// Among equals the deepest stays; in a full pool a deeper one takes the place of the shallowest.
static void add_touch(Pool *pool, const FilTouch *touch) {
    int shallowest = 0;
    for (int i = 0; i < pool->count; i++) {
        FilTouch *other = &pool->touch[i];
        double d[3];
        fil_subtract3(other->on_b, touch->on_b, d);
        if (fil_dot3(other->normal, touch->normal) > SAME_DIRECTION &&
            fil_dot3(d, d) < pool->near * pool->near) {
            if (touch->gap < other->gap) {
                *other = *touch;
            }
            return;
        }
        shallowest = other->gap > pool->touch[shallowest].gap ? i : shallowest;
    }
    if (pool->count < ROOM) {
        pool->touch[pool->count++] = *touch;
    } else if (touch->gap < pool->touch[shallowest].gap) {
        pool->touch[shallowest] = *touch;
    }
}

// The deepest, then always the one that is farthest from those chosen.
static int thin_out(Pool *pool, FilTouch out[FIL_TOUCH_MAX]) {
    double far[ROOM];
    int count = 0;
    fil_touch_sort(pool->touch, pool->count);
    for (int i = 0; i < pool->count; i++) {
        far[i] = INFINITY;
    }
    for (int next = 0; count < FIL_TOUCH_MAX && count < pool->count;) {
        out[count++] = pool->touch[next];
        far[next] = -1.0;
        int best = 0;
        for (int i = 0; i < pool->count; i++) {
            double d[3];
            fil_subtract3(pool->touch[i].on_b, pool->touch[next].on_b, d);
            far[i] = fmin(far[i], fil_dot3(d, d));
            best = far[i] > far[best] ? i : best;
        }
        next = best;
    }
    // no two features alike: what a pair of hashes has in common is told apart by the order
    for (int i = 1; i < count; i++) {
        for (int j = 0; j < i; j++) {
            if (out[j].feature == out[i].feature) {
                out[i].feature++;
                j = -1;
            }
        }
    }
    fil_touch_sort(out, count);
    return count;
}

static uint32_t mix(uint32_t x, uint32_t y) {
    x = (x ^ (y * 0x9e3779b1u)) * 0x85ebca6bu;
    return x ^ (x >> 15);
}

// --------------------------------------------------------------------------------------- planes

enum { WAYS = 8 };

// A mesh above a plane, in the mesh's own axes: the deepest vertex, and those below the reach that
// are farthest along eight directions in the plane, which are fixed to the mesh.
typedef struct Footing {
    const FilMesh *mesh;
    double n[3], at[3], way[WAYS][3];
    double reach, best[WAYS + 1];
    int vertex[WAYS + 1];
} Footing;

static void start_footing(Footing *f, const FilPose *pose, const FilPose *plane) {
    double e[3] = {0.0, 0.0, 0.0}, side[3], *n = f->n;
    for (int k = 0; k < 3; k++) {
        n[k] = fil_dot3(pose->axis[k], plane->axis[2]);
    }
    fil_pose_to_own(pose, plane->position, f->at);
    const int small = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                              : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    e[small] = 1.0;
    fil_add3(-n[small], n, e);
    fil_cross3(n, e, side);
    for (int i = 0; i <= WAYS; i++) {
        const double angle = 0.3 + 6.283185307179586 * i / WAYS; // not along the edges of boxes
        f->vertex[i] = -1;
        f->best[i] = -INFINITY;
        for (int k = 0; k < 3 && i < WAYS; k++) {
            f->way[i][k] = cos(angle) * e[k] + sin(angle) * side[k];
        }
    }
}

static void try_vertex(Footing *f, int v) {
    double d[3];
    fil_subtract3(f->mesh->vertices[v], f->at, d);
    const double height = fil_dot3(d, f->n);
    for (int w = 0; w <= WAYS && height < f->reach; w++) {
        const double value = w < WAYS ? fil_dot3(d, f->way[w]) : -height;
        if (value > f->best[w] || (value >= f->best[w] && v < f->vertex[w])) {
            f->best[w] = value;
            f->vertex[w] = v;
        }
    }
}

static void find_footing(Footing *f) {
    const FilBvh *bvh = &f->mesh->bvh;
    int stack[FIL_BVH_DEPTH], depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const int index = stack[--depth];
        const FilBvhNode *node = &bvh->nodes[index];
        double lowest = -fil_dot3(f->n, f->at);
        for (int k = 0; k < 3; k++) {
            lowest += f->n[k] * (f->n[k] > 0.0 ? node->box.low[k] : node->box.high[k]);
        }
        if (!(lowest < f->reach)) {
            continue;
        }
        if (node->count == 0) {
            stack[depth++] = node->first;
            stack[depth++] = index + 1;
        }
        for (int i = 0; i < 3 * node->count; i++) {
            try_vertex(f, f->mesh->triangles[bvh->order[node->first + i / 3]][i % 3]);
        }
    }
}

static int touch_mesh_plane(const FilMesh *mesh, const FilPose *pose, const FilPose *plane,
                            double reach, FilTouch *out) {
    Footing f = {.mesh = mesh, .reach = reach};
    int count = 0;
    start_footing(&f, pose, plane);
    find_footing(&f);
    for (int w = WAYS; w >= 0; w--) {
        bool seen = f.vertex[w] < 0;
        for (int i = 0; i < count; i++) {
            seen = seen || out[i].feature == (uint32_t)f.vertex[w];
        }
        if (!seen) {
            double d[3];
            FilTouch *touch = &out[count++];
            *touch = (FilTouch){.feature = (uint32_t)f.vertex[w]};
            fil_copy3(plane->axis[2], touch->normal);
            fil_pose_to_world(pose, mesh->vertices[f.vertex[w]], touch->on_a);
            fil_subtract3(touch->on_a, plane->position, d);
            touch->gap = fil_dot3(d, touch->normal);
            fil_copy3(touch->on_a, touch->on_b);
            fil_add3(-touch->gap, touch->normal, touch->on_b);
        }
    }
    fil_touch_sort(out, count);
    return count;
}

// All points by which a shape can stand on a plane whose normal is n, without the radius of spheres
// and capsules. Their numbers are their places in the list.
static int find_feet(const FilShape *shape, const FilPose *pose, const double n[3],
                     double points[8][3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    uint32_t id;
    if (shape->kind == FIL_SHAPE_BOX) {
        for (int i = 0; i < 8; i++) {
            double own[3];
            for (int k = 0; k < 3; k++) {
                own[k] = (i >> k & 1 ? 0.5 : -0.5) * shape->size[k];
            }
            fil_pose_to_world(pose, own, points[i]);
        }
        return 8;
    }
    if (shape->kind == FIL_SHAPE_CAPSULE) {
        for (int i = 0; i < 2; i++) {
            const double own[3] = {(i - 0.5) * shape->length, 0.0, 0.0};
            fil_pose_to_world(pose, own, points[i]);
        }
        return 2;
    }
    if (shape->kind != FIL_SHAPE_CYLINDER) {
        fil_copy3(pose->position, points[0]);
        return 1;
    }
    const int count = fil_convex_face(shape, pose, back, 4, points, &id);
    if (count > 1) {
        return count;
    }
    // on its rim: the lowest points of both ends
    double along[3];
    const double cosine = fil_dot3(pose->axis[0], back), sign = cosine < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) {
        along[k] = points[0][k] - sign * shape->length * pose->axis[0][k];
    }
    fil_copy3(along, points[1]);
    return 2;
}

static int touch_plane(const FilShape *a, const FilPose *pose, const FilPose *plane, double reach,
                       FilTouch *out) {
    if (a->kind == FIL_SHAPE_MESH) {
        return touch_mesh_plane(a->mesh, pose, plane, reach, out);
    }
    const double *n = plane->axis[2];
    const double radius =
        a->kind == FIL_SHAPE_SPHERE || a->kind == FIL_SHAPE_CAPSULE ? a->radius : 0.0;
    double points[8][3];
    const int feet = find_feet(a, pose, n, points);
    int count = 0;
    for (int i = 0; i < feet; i++) {
        double d[3];
        fil_subtract3(points[i], plane->position, d);
        const double height = fil_dot3(d, n);
        if (height - radius < reach) {
            FilTouch *touch = &out[count++];
            *touch = (FilTouch){.gap = height - radius, .feature = (uint32_t)i};
            fil_copy3(n, touch->normal);
            for (int k = 0; k < 3; k++) {
                touch->on_a[k] = points[i][k] - radius * n[k];
                touch->on_b[k] = points[i][k] - height * n[k];
            }
        }
    }
    fil_touch_sort(out, count);
    return count < 4 ? count : 4; // a box stands on four corners
}

// --------------------------------------------------------------------------------------- meshes

// The wires of a solid: corners, and pairs of corners.
typedef struct Wires {
    double corner[2 * RIM][3], out[2 * RIM][3]; // own axes: places, directions that point outward
    int corner_count;
    int wire[3 * RIM][2];
    int wire_count;
} Wires;

static void make_box_wires(const FilShape *shape, Wires *wires) {
    wires->corner_count = 8;
    wires->wire_count = 0;
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            const double side = i >> k & 1 ? 1.0 : -1.0;
            wires->corner[i][k] = 0.5 * side * shape->size[k];
            wires->out[i][k] = side;
            if (side < 0.0) {
                wires->wire[wires->wire_count][0] = i;
                wires->wire[wires->wire_count++][1] = i | (1 << k);
            }
        }
    }
}

// The corners of its rims are some of many: one of them is where it comes closest to the mesh.
static void make_cylinder_wires(const FilShape *shape, double first, Wires *wires) {
    wires->corner_count = 2 * RIM;
    wires->wire_count = 3 * RIM;
    for (int i = 0; i < RIM; i++) {
        const double angle = first + 6.283185307179586 * i / RIM, c = cos(angle), s = sin(angle);
        for (int end = 0; end < 2; end++) {
            const int at = i + end * RIM, next = (i + 1) % RIM + end * RIM;
            const double side = end == 0 ? -1.0 : 1.0;
            const double place[3] = {0.5 * side * shape->length, shape->radius * c,
                                     shape->radius * s};
            const double out[3] = {side, c, s};
            fil_copy3(place, wires->corner[at]);
            fil_copy3(out, wires->out[at]);
            wires->wire[at][0] = at;
            wires->wire[at][1] = next;
        }
        wires->wire[2 * RIM + i][0] = i;
        wires->wire[2 * RIM + i][1] = i + RIM;
    }
}

// Where the wires of a meet the mesh from their outward side.
static void add_wires(Pool *pool, const Wires *wires, const FilPose *pose, const FilMesh *mesh,
                      const FilPose *pose_b) {
    for (int i = 0; i < wires->wire_count; i++) {
        FilTouch found[FIL_TOUCH_MAX];
        double line[2][3];
        const int *wire = wires->wire[i];
        for (int end = 0; end < 2; end++) {
            fil_pose_to_world(pose, wires->corner[wire[end]], line[end]);
        }
        const int count =
            fil_touch_capsule_mesh(FIL_ROWS3(line), 0.0, mesh, pose_b, pool->reach, found);
        for (int k = 0; k < count; k++) {
            const bool at_end = found[k].t_a <= 0.0 || found[k].t_a >= 1.0;
            const int corner = wire[found[k].t_a >= 1.0];
            double own[3], out[3];
            for (int j = 0; j < 3; j++) {
                own[j] = at_end ? wires->out[corner][j]
                                : wires->out[wire[0]][j] + wires->out[wire[1]][j];
            }
            fil_pose_turn(pose, own, out);
            if (fil_dot3(out, found[k].normal) < 0.0) {
                const uint32_t name = (uint32_t)(at_end ? corner : 64 + i);
                found[k].feature = mix(found[k].feature & 0x3fffffffu, name);
                found[k].t_a = 0.0;
                add_touch(pool, &found[k]);
            }
        }
    }
}

// Where around its axis a cylinder is closest to the mesh, as an angle.
static double find_side(const FilPose *pose, const FilMesh *mesh, const FilPose *pose_b) {
    FilMeshPoint nearest;
    double centre[3], way[3];
    fil_pose_to_own(pose_b, pose->position, centre);
    if (!fil_mesh_closest(mesh, centre, INFINITY, &nearest)) {
        return 0.0;
    }
    fil_pose_turn(pose_b, nearest.normal, way);
    const double y = -fil_dot3(way, pose->axis[1]), z = -fil_dot3(way, pose->axis[2]);
    return y * y + z * z > 1e-6 ? atan2(z, y) : 0.0; // it stands: any will do
}

// Whether a point is as far from the mesh as a touch there says, or it is beside the face that the
// touch is with.
static bool is_as_far(const FilMesh *mesh, const FilPose *pose, const double p[3], double gap,
                      double slack) {
    FilMeshPoint nearest;
    double own[3];
    fil_pose_to_own(pose, p, own);
    return fil_mesh_closest(mesh, own, INFINITY, &nearest) && nearest.distance < gap + slack;
}

// The round side of a cylinder: where a capsule around its axis touches the mesh, if not with its
// ends.
static void add_side(Pool *pool, const FilShape *a, const FilPose *pose, const FilMesh *mesh,
                     const FilPose *pose_b) {
    FilTouch found[FIL_TOUCH_MAX];
    double line[2][3];
    for (int k = 0; k < 3; k++) {
        line[0][k] = pose->position[k] - 0.5 * a->length * pose->axis[0][k];
        line[1][k] = pose->position[k] + 0.5 * a->length * pose->axis[0][k];
    }
    const int count =
        fil_touch_capsule_mesh(FIL_ROWS3(line), a->radius, mesh, pose_b, pool->reach, found);
    for (int k = 0; k < count; k++) {
        FilTouch *touch = &found[k];
        double out[3], d[3];
        const double cosine = fil_dot3(touch->normal, pose->axis[0]);
        if (!(fabs(cosine) < SIDEWAYS)) {
            continue;
        }
        fil_copy3(touch->normal, out);
        fil_add3(-cosine, pose->axis[0], out);
        const double size = fil_norm3(out);
        for (int j = 0; j < 3; j++) {
            touch->on_a[j] = (1.0 - touch->t_a) * line[0][j] + touch->t_a * line[1][j] -
                             a->radius / size * out[j];
        }
        fil_subtract3(touch->on_a, touch->on_b, d);
        touch->gap = fil_dot3(d, touch->normal);
        fil_copy3(touch->on_a, touch->on_b);
        fil_add3(-touch->gap, touch->normal, touch->on_b);
        touch->feature = mix(touch->feature, 96u);
        touch->t_a = 0.0;
        if (touch->gap < pool->reach &&
            is_as_far(mesh, pose_b, touch->on_a, touch->gap, pool->near)) {
            add_touch(pool, touch);
        }
    }
}

// One vertex of the mesh b against the solid a (a mesh too).
static void add_vertex(Pool *pool, const FilShape *a, const FilPose *pose_a, const FilMesh *mesh,
                       const FilPose *pose_b, int v) {
    const FilShape point = {.kind = FIL_SHAPE_SPHERE};
    FilTouch found[FIL_TOUCH_MAX];
    FilPose at = *pose_b;
    double out[3];
    int count;
    fil_pose_to_world(pose_b, mesh->vertices[v], at.position);
    fil_pose_turn(pose_b, mesh->vertex_normals[v], out);
    if (a->kind == FIL_SHAPE_MESH) {
        double line[2][3];
        fil_copy3(at.position, line[0]);
        fil_copy3(at.position, line[1]);
        count = fil_touch_capsule_mesh(FIL_ROWS3(line), 0.0, a->mesh, pose_a, pool->reach, found);
        turn_around(found, count);
    } else {
        count = fil_touch_convex(a, pose_a, &point, &at, pool->reach, found);
    }
    for (int k = 0; k < count; k++) {
        if (fil_dot3(out, found[k].normal) > 0.0) {
            found[k].feature = mix(found[k].feature & 0x3fffffffu, 128u + (uint32_t)v);
            found[k].t_b = 0.0;
            add_touch(pool, &found[k]);
        }
    }
}

// The box of a solid, in the axes of the mesh b.
static void find_box(const FilShape *a, const FilPose *pose_a, const FilPose *pose_b, double margin,
                     FilBox *box) {
    double middle[3] = {0.0, 0.0, 0.0}, half[3], world[3], centre[3];
    for (int k = 0; k < 3; k++) {
        half[k] = 0.5 * a->size[k];
    }
    if (a->kind == FIL_SHAPE_CYLINDER) {
        half[0] = 0.5 * a->length;
        half[1] = half[2] = a->radius;
    } else if (a->kind == FIL_SHAPE_MESH) {
        for (int k = 0; k < 3; k++) {
            middle[k] = 0.5 * (a->mesh->box.low[k] + a->mesh->box.high[k]);
            half[k] = 0.5 * (a->mesh->box.high[k] - a->mesh->box.low[k]);
        }
    }
    fil_pose_to_world(pose_a, middle, world);
    fil_pose_to_own(pose_b, world, centre);
    for (int k = 0; k < 3; k++) {
        double extent = margin;
        for (int i = 0; i < 3; i++) {
            extent += half[i] * fabs(fil_dot3(pose_a->axis[i], pose_b->axis[k]));
        }
        box->low[k] = centre[k] - extent;
        box->high[k] = centre[k] + extent;
    }
}

// The vertices of the mesh b near the solid a.
static void add_vertices(Pool *pool, const FilShape *a, const FilPose *pose_a, const FilMesh *mesh,
                         const FilPose *pose_b) {
    FilBox box;
    FilBvhWalk walk;
    find_box(a, pose_a, pose_b, pool->reach, &box);
    fil_bvh_walk(&walk, &mesh->bvh, &box);
    for (int i; (i = fil_bvh_next(&walk)) >= 0;) {
        const int triangle = mesh->bvh.order[i];
        for (int k = 0; k < 3; k++) {
            const int v = mesh->triangles[triangle][k];
            const double *x = mesh->vertices[v];
            const FilBox at = {{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
            if (mesh->owners[v] == triangle && fil_box_overlap(&at, &box)) {
                add_vertex(pool, a, pose_a, mesh, pose_b, v);
            }
        }
    }
}

// One sharp edge of the mesh a against the mesh b, away from its ends, which are vertices.
static void add_sharp_edge(Pool *pool, const FilMesh *mesh, const FilPose *pose_a, int edge,
                           const FilShape *b, const FilPose *pose_b) {
    FilTouch found[FIL_TOUCH_MAX];
    double line[2][3], out[3];
    for (int end = 0; end < 2; end++) {
        fil_pose_to_world(pose_a, mesh->vertices[mesh->edges[edge][end]], line[end]);
    }
    fil_pose_turn(pose_a, mesh->edge_normals[edge], out);
    const int count =
        fil_touch_capsule_mesh(FIL_ROWS3(line), 0.0, b->mesh, pose_b, pool->reach, found);
    for (int j = 0; j < count; j++) {
        if (found[j].t_a > 0.0 && found[j].t_a < 1.0 && fil_dot3(out, found[j].normal) < 0.0) {
            found[j].feature = mix(found[j].feature & 0x3fffffffu, 64u + (uint32_t)edge);
            found[j].t_a = 0.0;
            add_touch(pool, &found[j]);
        }
    }
}

// The sharp edges of the mesh a near the mesh b.
static void add_sharp_edges(Pool *pool, const FilShape *a, const FilPose *pose_a, const FilShape *b,
                            const FilPose *pose_b) {
    const FilMesh *mesh = a->mesh;
    FilBox box;
    FilBvhWalk walk;
    find_box(b, pose_b, pose_a, pool->reach, &box);
    fil_bvh_walk(&walk, &mesh->bvh, &box);
    for (int i; (i = fil_bvh_next(&walk)) >= 0;) {
        const int triangle = mesh->bvh.order[i];
        for (int k = 0; k < 3; k++) {
            const int edge = mesh->sides[triangle][k];
            if (mesh->sharp_edges[edge] && mesh->edge_triangles[edge][0] == triangle) {
                add_sharp_edge(pool, mesh, pose_a, edge, b, pose_b);
            }
        }
    }
}

// Touches with the mesh b.
static int touch_mesh(const FilShape *a, const FilPose *pose_a, const FilShape *b,
                      const FilPose *pose_b, double reach, FilTouch *out) {
    if (a->kind == FIL_SHAPE_SPHERE || a->kind == FIL_SHAPE_CAPSULE) {
        const double half = a->kind == FIL_SHAPE_CAPSULE ? 0.5 * a->length : 0.0;
        double line[2][3];
        for (int k = 0; k < 3; k++) {
            line[0][k] = pose_a->position[k] - half * pose_a->axis[0][k];
            line[1][k] = pose_a->position[k] + half * pose_a->axis[0][k];
        }
        const int count =
            fil_touch_capsule_mesh(FIL_ROWS3(line), a->radius, b->mesh, pose_b, reach, out);
        for (int i = 0; i < count; i++) {
            out[i].t_a = 0.0;
        }
        return count;
    }
    Pool pool;
    FilBox box;
    pool.count = 0;
    pool.reach = reach;
    find_box(a, pose_a, pose_b, reach, &box);
    if (!fil_box_overlap(&box, &b->mesh->box)) {
        return 0;
    }
    if (a->kind == FIL_SHAPE_MESH) {
        pool.near = SAME_PLACE * fmin(a->mesh->size, b->mesh->size);
        add_vertices(&pool, a, pose_a, b->mesh, pose_b);
        add_sharp_edges(&pool, a, pose_a, b, pose_b);
        // and the same with the two exchanged
        turn_around(pool.touch, pool.count);
        add_vertices(&pool, b, pose_b, a->mesh, pose_a);
        add_sharp_edges(&pool, b, pose_b, a, pose_a);
        turn_around(pool.touch, pool.count);
    } else {
        Wires wires;
        const double size = a->kind == FIL_SHAPE_BOX
                                ? fmin(a->size[0], fmin(a->size[1], a->size[2]))
                                : fmin(a->length, a->radius);
        pool.near = SAME_PLACE * fmin(size, b->mesh->size);
        if (a->kind == FIL_SHAPE_BOX) {
            make_box_wires(a, &wires);
        } else {
            make_cylinder_wires(a, find_side(pose_a, b->mesh, pose_b), &wires);
            add_side(&pool, a, pose_a, b->mesh, pose_b);
        }
        add_wires(&pool, &wires, pose_a, b->mesh, pose_b);
        add_vertices(&pool, a, pose_a, b->mesh, pose_b);
    }
    return thin_out(&pool, out);
}

int fil_touch_shapes(const FilShape *a, const FilPose *pose_a, const FilShape *b,
                     const FilPose *pose_b, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    if (a->kind == FIL_SHAPE_PLANE && b->kind == FIL_SHAPE_PLANE) {
        return 0; // obstacles both
    }
    if (a->kind == FIL_SHAPE_PLANE ||
        (a->kind == FIL_SHAPE_MESH && b->kind != FIL_SHAPE_PLANE && b->kind != FIL_SHAPE_MESH)) {
        const int count = fil_touch_shapes(b, pose_b, a, pose_a, reach, out);
        turn_around(out, count);
        return count;
    }
    if (b->kind == FIL_SHAPE_PLANE) {
        return touch_plane(a, pose_a, pose_b, reach, out);
    }
    if (b->kind == FIL_SHAPE_MESH) {
        return touch_mesh(a, pose_a, b, pose_b, reach, out);
    }
    return fil_touch_convex(a, pose_a, b, pose_b, reach, out);
}
