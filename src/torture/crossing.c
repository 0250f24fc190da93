// crossing.c - did something pass through something else between two frames?
//
// Points move on straight lines from frame to frame, where a step was not done in parts. Else
// nobody knows their way: centrelines that cross on straight ones did so perhaps (a tip may have
// gone around the other one), and of solids only what is inside at the end counts.
//
// Centrelines among themselves. Segments a0 a1 and b0 b1 that move linearly lie in one plane where
// det(a1 - a0, b0 - a0, b1 - a0), a cubic in time, is 0. Its sign is sampled, its roots bisected;
// they cross where at a root the lines meet within both segments. Segments that turn by more than
// half a radian from one frame to the next are left out: nobody knows their way. So are neighbours
// on the same rod, and what is joined.
//
// Centrelines and solids. A point goes on a straight line, a solid on one too while it turns at a
// constant rate; the point passed where it came into the core, half as thick as the solid, and was
// outside before. Into a plane: deeper than its radius. The line is sampled so finely that no core
// is stepped over.
//
// Bodies and solids: the same for the centres of the bodies.
#include "crossing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/mesh.h"
#include "collide/segment.h"
#include "collide/sweep_solids.h"
#include "math/rotation.h"
#include "math/vec3.h"

enum { TIMES = 24, ALONG = 4, MOST_SAMPLES = 2000, NEIGHBOURS = 3 };

typedef struct Solid {
    const FilShape *shape;
    const char *name, *kind;
    int index;
} Solid;

struct FilCrossing {
    const FilScene *scene;
    const FilResultDef *def;
    Solid *solids; // [obstacle_count + body_count] of the scene
    int solid_count;
    double *before, *now; // [3 point_count + 12 solid_count]: points; places and axes of the solids
    bool begun, straight;
};

// --- frames --------------------------------------------------------------------------------------

FilCrossing *fil_crossing_create(const FilScene *scene, const FilResultDef *def) {
    FilCrossing *crossing = calloc(1, sizeof *crossing);
    if (crossing == NULL) {
        return NULL;
    }
    crossing->scene = scene;
    crossing->def = def;
    crossing->solid_count = scene->obstacle_count + scene->body_count;
    const size_t size = 3 * (size_t)def->point_count + 12 * (size_t)crossing->solid_count + 1;
    crossing->solids = calloc((size_t)crossing->solid_count + 1, sizeof *crossing->solids);
    crossing->before = calloc(size, sizeof(double));
    crossing->now = calloc(size, sizeof(double));
    if (crossing->solids == NULL || crossing->before == NULL || crossing->now == NULL) {
        fil_crossing_destroy(crossing);
        return NULL;
    }
    for (int k = 0; k < scene->obstacle_count; k++) {
        const FilSceneObstacle *from = &scene->obstacles[k];
        crossing->solids[k] = (Solid){&from->shape, from->name, "obstacle", k};
    }
    for (int k = 0; k < scene->body_count; k++) {
        const FilSceneBody *from = &scene->bodies[k];
        crossing->solids[scene->obstacle_count + k] = (Solid){&from->shape, from->name, "body", k};
    }
    return crossing;
}

void fil_crossing_destroy(FilCrossing *crossing) {
    if (crossing != NULL) {
        free(crossing->solids);
        free(crossing->before);
        free(crossing->now);
        free(crossing);
    }
}

static double *solid_of(const FilCrossing *crossing, double *frame, int solid) {
    return frame + 3 * (ptrdiff_t)crossing->def->point_count + 12 * (ptrdiff_t)solid;
}

static void keep_frame(FilCrossing *crossing, const FilFrame *frame) {
    double *old = crossing->before;
    crossing->before = crossing->now;
    crossing->now = old;
    if (crossing->def->point_count > 0) {
        memcpy(crossing->now, frame->position,
               sizeof(double) * 3 * (size_t)crossing->def->point_count);
    }
    const int obstacles = crossing->scene->obstacle_count;
    for (int k = 0; k < crossing->solid_count; k++) {
        double *at = solid_of(crossing, crossing->now, k);
        const bool body = k >= obstacles;
        const int i = body ? k - obstacles : k;
        fil_copy3((body ? frame->rigid_position : frame->obstacle_position) + 3 * (ptrdiff_t)i, at);
        fil_rotation_from_quaternion((body ? frame->rigid_quaternion : frame->obstacle_quaternion) +
                                         4 * (ptrdiff_t)i,
                                     at + 3);
    }
}

// --- centrelines among themselves ----------------------------------------------------------------

// Two segments at two times: [time][end][coordinate].
typedef double Path[2][2][3];

static void at_time(const Path path, double t, double out[2][3]) {
    for (int end = 0; end < 2; end++) {
        for (int k = 0; k < 3; k++) {
            out[end][k] = (1.0 - t) * path[0][end][k] + t * path[1][end][k];
        }
    }
}

static double volume(const Path a, const Path b, double t) {
    double p[2][3], q[2][3], u[3], v[3], w[3], n[3];
    at_time(a, t, p);
    at_time(b, t, q);
    fil_subtract3(p[1], p[0], u);
    fil_subtract3(q[0], p[0], v);
    fil_subtract3(q[1], p[0], w);
    fil_cross3(v, w, n);
    return fil_dot3(u, n);
}

// Whether segments in one plane meet.
static bool meet(const Path a, const Path b, double t) {
    double p[2][3], q[2][3], u[3], v[3], w[3], n[3], c[3];
    at_time(a, t, p);
    at_time(b, t, q);
    fil_subtract3(p[1], p[0], u);
    fil_subtract3(q[1], q[0], v);
    fil_subtract3(q[0], p[0], w);
    fil_cross3(u, v, n);
    const double size = fil_dot3(n, n);
    if (!(size > 1e-12 * fil_dot3(u, u) * fil_dot3(v, v))) {
        return false; // parallel: they slide along each other
    }
    fil_cross3(w, v, c);
    const double along_a = fil_dot3(c, n) / size;
    fil_cross3(w, u, c);
    const double along_b = fil_dot3(c, n) / size;
    return along_a >= 0.0 && along_a <= 1.0 && along_b >= 0.0 && along_b <= 1.0;
}

static bool do_boxes_meet(const Path a, const Path b) {
    for (int k = 0; k < 3; k++) {
        double low[2], high[2];
        for (int side = 0; side < 2; side++) {
            const double(*p)[2][3] = side == 0 ? a : b;
            low[side] = fmin(fmin(p[0][0][k], p[0][1][k]), fmin(p[1][0][k], p[1][1][k]));
            high[side] = fmax(fmax(p[0][0][k], p[0][1][k]), fmax(p[1][0][k], p[1][1][k]));
        }
        if (low[0] > high[1] || low[1] > high[0]) {
            return false;
        }
    }
    return true;
}

static bool do_cross(const Path a, const Path b) {
    double before = volume(a, b, 0.0);
    for (int k = 1; k <= TIMES; k++) {
        double low = (k - 1.0) / TIMES, high = (double)k / TIMES;
        const double after = volume(a, b, high);
        if ((before < 0.0) != (after < 0.0)) {
            for (int i = 0; i < 50; i++) {
                const double middle = 0.5 * (low + high);
                *((volume(a, b, middle) < 0.0) == (before < 0.0) ? &low : &high) = middle;
            }
            if (meet(a, b, 0.5 * (low + high))) {
                return true;
            }
        }
        before = after;
    }
    return false;
}

static void path_of(const FilCrossing *crossing, int point, Path path) {
    memcpy(path[0], crossing->before + 3 * (ptrdiff_t)point, sizeof path[0]);
    memcpy(path[1], crossing->now + 3 * (ptrdiff_t)point, sizeof path[1]);
}

// By more than half a radian.
static bool turns(const Path path) {
    double a[3], b[3];
    fil_subtract3(path[0][1], path[0][0], a);
    fil_subtract3(path[1][1], path[1][0], b);
    return fil_dot3(a, b) < 0.878 * fil_norm3(a) * fil_norm3(b);
}

static bool is_place_of(const FilScenePlace *place, int rod, int body) {
    return (rod >= 0 && place->rod == rod) || (body >= 0 && place->body == body);
}

// Whether a joint keeps two things together.
static bool are_joined(const FilScene *scene, int rod_a, int rod_b, int body_a, int body_b) {
    for (int k = 0; k < scene->joint_count; k++) {
        const FilSceneJoint *joint = &scene->joints[k];
        if ((is_place_of(&joint->a, rod_a, body_a) && is_place_of(&joint->b, rod_b, body_b)) ||
            (is_place_of(&joint->b, rod_a, body_a) && is_place_of(&joint->a, rod_b, body_b))) {
            return true;
        }
    }
    return false;
}

static bool lines_cross(const FilCrossing *crossing, const FilResultLine *x, const FilResultLine *y,
                        char *what) {
    for (int i = 0; i + 1 < x->point_count; i++) {
        const int first = x == y ? i + NEIGHBOURS : 0;
        Path a;
        path_of(crossing, x->first_point + i, a);
        if (turns((const double(*)[2][3])a)) {
            continue;
        }
        for (int j = first; j + 1 < y->point_count; j++) {
            Path b;
            path_of(crossing, y->first_point + j, b);
            if (do_boxes_meet((const double(*)[2][3])a, (const double(*)[2][3])b) &&
                !turns((const double(*)[2][3])b) &&
                do_cross((const double(*)[2][3])a, (const double(*)[2][3])b)) {
                (void)snprintf(what, 240, "rod %d, segment %d, crossed rod %d, segment %d", x->rod,
                               i, y->rod, j);
                return true;
            }
        }
    }
    return false;
}

// --- points and solids ---------------------------------------------------------------------------

// Half of how thick a solid is; of a plane 0.
static double thickness(const FilShape *shape) {
    switch (shape->kind) {
    case FIL_SHAPE_PLANE:
        return 0.0;
    case FIL_SHAPE_BOX:
        return 0.5 * fmin(shape->size[0], fmin(shape->size[1], shape->size[2]));
    case FIL_SHAPE_MESH: {
        double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
        const double *v = fil_mesh_vertices(shape->mesh);
        for (int k = 0; k < 3 * fil_mesh_vertex_count(shape->mesh); k++) {
            low[k % 3] = fmin(low[k % 3], v[k]);
            high[k % 3] = fmax(high[k % 3], v[k]);
        }
        return 0.5 * fmin(high[0] - low[0], fmin(high[1] - low[1], high[2] - low[2]));
    }
    case FIL_SHAPE_CYLINDER:
        return fmin(shape->radius, 0.5 * shape->length);
    default:
        return shape->radius;
    }
}

// How deep a point of the solid's own axes is in it, below 0 outside; of a mesh, which here is a
// cube, that of its box.
static double depth_of(const FilShape *shape, const double p[3], double thick) {
    double d[3];
    switch (shape->kind) {
    case FIL_SHAPE_PLANE:
        return -p[2];
    case FIL_SHAPE_SPHERE:
        return shape->radius - fil_norm3(p);
    case FIL_SHAPE_CAPSULE:
        d[0] = fmax(0.0, fabs(p[0]) - 0.5 * shape->length);
        return shape->radius - sqrt(d[0] * d[0] + p[1] * p[1] + p[2] * p[2]);
    case FIL_SHAPE_CYLINDER:
        return fmin(shape->radius - hypot(p[1], p[2]), 0.5 * shape->length - fabs(p[0]));
    default:
        for (int k = 0; k < 3; k++) {
            d[k] = (shape->kind == FIL_SHAPE_BOX ? 0.5 * shape->size[k] : thick) - fabs(p[k]);
        }
        return fmin(d[0], fmin(d[1], d[2]));
    }
}

// The radius of the ball around a solid.
static double extent_of(const FilShape *shape, double thick) {
    switch (shape->kind) {
    case FIL_SHAPE_SPHERE:
        return shape->radius;
    case FIL_SHAPE_CAPSULE:
        return shape->radius + 0.5 * shape->length;
    case FIL_SHAPE_CYLINDER:
        return hypot(shape->radius, 0.5 * shape->length);
    case FIL_SHAPE_BOX:
        return 0.5 * fil_norm3(shape->size);
    default:
        return 2.0 * thick; // a cube
    }
}

// Whether a point stayed outside of the ball around a solid: both go on straight lines.
static bool stayed_away(const FilPose pose[2], const double before[3], const double now[3],
                        double radius) {
    double from[3], to[3], way[3];
    fil_subtract3(before, pose[0].position, from);
    fil_subtract3(now, pose[1].position, to);
    fil_subtract3(to, from, way);
    const double square = fil_dot3(way, way);
    const double t = square > 0.0 ? fmin(1.0, fmax(0.0, -fil_dot3(from, way) / square)) : 0.0;
    fil_add3(t, way, from);
    return fil_norm3(from) > radius;
}

static void pose_of(const double *solid, FilPose *pose) {
    fil_copy3(solid, pose->position);
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 3; k++) {
            pose->axis[axis][k] = solid[3 + 3 * k + axis];
        }
    }
}

// Whether a point on a straight way came into the core of a solid that turns at a constant rate, or
// deeper than `least` into a plane.
static bool came_in(const FilCrossing *crossing, int solid, const double before[3],
                    const double now[3], double least) {
    const FilShape *shape = crossing->solids[solid].shape;
    FilPose pose[2], then;
    double a[3], b[3], way[3];
    pose_of(solid_of(crossing, crossing->before, solid), &pose[0]);
    pose_of(solid_of(crossing, crossing->now, solid), &pose[1]);
    fil_pose_to_own(&pose[0], before, a);
    fil_pose_to_own(&pose[1], now, b);
    const double thick = thickness(shape);
    const double core = shape->kind == FIL_SHAPE_PLANE ? least : 0.5 * thick;
    if (depth_of(shape, a, thick) > core) {
        return false; // it was in already
    }
    if (shape->kind == FIL_SHAPE_PLANE || !crossing->straight) {
        return depth_of(shape, b, thick) > core;
    }
    if (stayed_away(pose, before, now, extent_of(shape, thick))) {
        return false;
    }
    fil_subtract3(b, a, way);
    const double steps = ceil(4.0 * fil_norm3(way) / thick) + 1.0;
    const int count = steps < MOST_SAMPLES ? (int)steps : MOST_SAMPLES;
    fil_subtract3(now, before, way);
    for (int k = 1; k <= count; k++) {
        double p[3], own[3];
        fil_copy3(before, p);
        fil_add3((double)k / count, way, p);
        fil_pose_between(pose, (double)k / count, &then);
        fil_pose_to_own(&then, p, own);
        if (depth_of(shape, own, thick) > core) {
            return true;
        }
    }
    return false;
}

static bool line_enters(const FilCrossing *crossing, const FilResultLine *line, int solid,
                        char *what) {
    const int body = solid - crossing->scene->obstacle_count;
    if (body >= 0 && are_joined(crossing->scene, line->rod, -1, -1, body)) {
        return false;
    }
    const double radius = crossing->def->rods[line->rod].contact_radius;
    for (int k = 0; k < ALONG * (line->point_count - 1); k++) {
        double p[2][3];
        Path path;
        path_of(crossing, line->first_point + k / ALONG, path);
        for (int time = 0; time < 2; time++) {
            fil_segment_point(FIL_POINTS(path[time]), (double)(k % ALONG) / ALONG, p[time]);
        }
        if (came_in(crossing, solid, p[0], p[1], radius)) {
            (void)snprintf(what, 240, "rod %d, segment %d, came into %s %d, a %s", line->rod,
                           k / ALONG, crossing->solids[solid].kind, crossing->solids[solid].index,
                           fil_shape_name(crossing->solids[solid].shape->kind));
            return true;
        }
    }
    return false;
}

static bool body_enters(const FilCrossing *crossing, int body, int solid, char *what) {
    const int obstacles = crossing->scene->obstacle_count;
    if (solid == obstacles + body ||
        (solid >= obstacles && are_joined(crossing->scene, -1, -1, body, solid - obstacles))) {
        return false;
    }
    const double *before = solid_of(crossing, crossing->before, obstacles + body);
    const double *now = solid_of(crossing, crossing->now, obstacles + body);
    if (!came_in(crossing, solid, before, now, 0.0)) {
        return false;
    }
    (void)snprintf(what, 240, "body %d, a %s, came into %s %d, a %s", body,
                   fil_shape_name(crossing->solids[obstacles + body].shape->kind),
                   crossing->solids[solid].kind, crossing->solids[solid].index,
                   fil_shape_name(crossing->solids[solid].shape->kind));
    return true;
}

// Whether a centreline crossed another one, or itself.
static bool any_lines_cross(const FilCrossing *crossing, char *what) {
    const FilResultDef *def = crossing->def;
    for (int i = 0; i < def->line_count; i++) {
        for (int j = i; j < def->line_count; j++) {
            const FilResultLine *x = &def->lines[i], *y = &def->lines[j];
            const bool self = x->rod == y->rod;
            if ((self ? crossing->scene->rods[x->rod].self_contact
                      : !are_joined(crossing->scene, x->rod, y->rod, -1, -1)) &&
                lines_cross(crossing, x, y, what)) {
                return true;
            }
        }
    }
    return false;
}

static bool any_enters(const FilCrossing *crossing, char *what) {
    for (int k = 0; k < crossing->solid_count; k++) {
        for (int i = 0; i < crossing->def->line_count; i++) {
            if (line_enters(crossing, &crossing->def->lines[i], k, what)) {
                return true;
            }
        }
        for (int body = 0; body < crossing->scene->body_count; body++) {
            if (body_enters(crossing, body, k, what)) {
                return true;
            }
        }
    }
    return false;
}

FilCrossed fil_crossing_look(FilCrossing *crossing, const FilFrame *frame, bool straight,
                             char *what) {
    keep_frame(crossing, frame);
    crossing->straight = straight;
    if (!crossing->begun) {
        crossing->begun = true;
        return FIL_CROSSED_NOTHING;
    }
    if (any_enters(crossing, what)) {
        return FIL_CROSSED;
    }
    return !any_lines_cross(crossing, what) ? FIL_CROSSED_NOTHING
           : straight                       ? FIL_CROSSED
                                            : FIL_CROSSED_PERHAPS;
}
