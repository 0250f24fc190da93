// touch_convex.c - two convex solids.
//
// A solid is a core (point, line, cylinder, box) with a radius around it. For a unit direction n,
//     gap(n) = min over a of n . x - max over b of n . x
// is how far the cores are apart along n; the distance of the cores, or minus the depth of their
// overlap, is the largest gap(n) of all directions. Cores that are apart: Gilbert, Johnson and
// Keerthi's algorithm gives the closest points. Cores that overlap: the largest gap lies among
// the normals of the faces and the products of the edges (exactly so for points, lines and boxes);
// for the curved sides of a cylinder the best of these is improved by a search on the sphere.
//
// The touches follow from n alone: the features of a and b that face each other along it (points,
// edges, faces, the ends of cylinders as octagons), one clipped against the other.
#include "touch_convex.h"

#include <math.h>
#include <string.h>

#include "collide/mesh.h"
#include "collide/triangle.h"
#include "math/vec3.h"

#define FLAT 0.1         // sine of the angle up to which an edge or a face counts as facing
#define APART 1e-9       // of the size: closer cores are taken as overlapping
#define EDGE_BIAS 1e-5   // of the size: a face wins over a pair of edges
#define STEADY_TILT 1e-3 // below it the points of a rim stay where they are on the body

enum { SEARCH_STARTS = 2, SEARCH_STEPS = 24, GJK_STEPS = 100 };

// ------------------------------------------------------------------------------------- cores

typedef struct Core {
    FilShapeKind kind;
    const FilPose *pose;
    double half[3]; // m: half sizes of a box; half[0]: half length of line and cylinder
    double rim;     // m: radius of a cylinder
    double round;   // m: radius around the core
    double size;    // m: of the ball around it all
} Core;

static Core make_core(const FilShape *shape, const FilPose *pose) {
    Core core = {.kind = shape->kind, .pose = pose};
    if (shape->kind == FIL_SHAPE_BOX) {
        for (int k = 0; k < 3; k++) {
            core.half[k] = 0.5 * shape->size[k];
        }
    } else {
        core.half[0] = shape->kind == FIL_SHAPE_SPHERE ? 0.0 : 0.5 * shape->length;
        *(shape->kind == FIL_SHAPE_CYLINDER ? &core.rim : &core.round) = shape->radius;
    }
    core.size = core.round + sqrt(fil_dot3(core.half, core.half) + core.rim * core.rim);
    return core;
}

// The point of the core that is farthest along d.
static void find_support(const Core *core, const double d[3], double out[3]) {
    double own[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) {
        own[k] = fil_dot3(core->pose->axis[k], d) < 0.0 ? -core->half[k] : core->half[k];
    }
    if (core->kind == FIL_SHAPE_CYLINDER) {
        const double y = fil_dot3(core->pose->axis[1], d), z = fil_dot3(core->pose->axis[2], d);
        const double across = sqrt(y * y + z * z);
        own[1] = across > 0.0 ? core->rim * y / across : 0.0;
        own[2] = across > 0.0 ? core->rim * z / across : 0.0;
    }
    fil_pose_to_world(core->pose, own, out);
}

static double find_gap(const Core *a, const Core *b, const double n[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    double x[3], y[3], d[3];
    find_support(a, back, x);
    find_support(b, n, y);
    fil_subtract3(x, y, d);
    return fil_dot3(d, n);
}

// ------------------------------------------------------------- distance of cores that are apart

// A simplex of points of a - b, with the points they come from.
typedef struct Simplex {
    double w[4][3], on_a[4][3], on_b[4][3], weight[4];
    int count;
} Simplex;

static void keep_corners(Simplex *s, int count, const int *which, const double *weight) {
    const Simplex old = *s;
    s->count = 0;
    for (int i = 0; i < count; i++) {
        if (weight[i] > 0.0) {
            fil_copy3(old.w[which[i]], s->w[s->count]);
            fil_copy3(old.on_a[which[i]], s->on_a[s->count]);
            fil_copy3(old.on_b[which[i]], s->on_b[s->count]);
            s->weight[s->count++] = weight[i];
        }
    }
}

// The weights of the corners for the point of a triangle that is closest to the origin.
static double weigh_triangle(const double corner[3][3], double q[3], double weight[3]) {
    static const double origin[3];
    double square;
    const int part = fil_triangle_to_point(corner, origin, q, &square);
    memset(weight, 0, 3 * sizeof *weight);
    if (part >= FIL_PART_CORNER) {
        weight[part - FIL_PART_CORNER] = 1.0;
    } else if (part >= FIL_PART_SIDE) {
        const int k = part - FIL_PART_SIDE, l = (k + 1) % 3;
        double e[3], d[3];
        fil_subtract3(corner[l], corner[k], e);
        fil_subtract3(q, corner[k], d);
        weight[l] = fil_dot3(e, d) / fil_dot3(e, e);
        weight[k] = 1.0 - weight[l];
    } else {
        double n[3], e[3], f[3], sum = 0.0;
        fil_subtract3(corner[1], corner[0], e);
        fil_subtract3(corner[2], corner[0], f);
        fil_cross3(e, f, n);
        for (int k = 0; k < 3; k++) {
            double c[3];
            fil_subtract3(corner[(k + 1) % 3], q, e);
            fil_subtract3(corner[(k + 2) % 3], q, f);
            fil_cross3(e, f, c);
            weight[k] = fmax(fil_dot3(c, n), 0.0);
            sum += weight[k];
        }
        for (int k = 0; k < 3; k++) {
            weight[k] /= sum;
        }
    }
    return square;
}

// Whether the origin is within a tetrahedron: on the inner side of each face.
static bool holds_origin(const double w[4][3]) {
    for (int k = 0; k < 4; k++) {
        const double *a = w[(k + 1) % 4], *b = w[(k + 2) % 4], *c = w[(k + 3) % 4];
        double e[3], f[3], n[3], d[3];
        fil_subtract3(b, a, e);
        fil_subtract3(c, a, f);
        fil_cross3(e, f, n);
        fil_subtract3(w[k], a, d);
        const double side = fil_dot3(n, d), origin = -fil_dot3(n, a);
        if (!(side * origin > 0.0)) {
            return false;
        }
    }
    return true;
}

// Reduce the simplex to the smallest one that has its point closest to the origin, v. Returns false
// when the origin is inside.
static bool reduce(Simplex *s, double v[3]) {
    static const int face[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
    double best = INFINITY, weight[3] = {0};
    int which = 0;
    if (s->count == 4 && holds_origin(FIL_ROWS3(s->w))) {
        return false;
    }
    const int faces = s->count == 4 ? 4 : 1;
    for (int f = 0; f < faces; f++) {
        double corner[3][3], q[3], try_weight[3];
        for (int k = 0; k < 3; k++) { // missing corners repeat the last one
            fil_copy3(s->w[face[f][k] < s->count ? face[f][k] : s->count - 1], corner[k]);
        }
        const double far = weigh_triangle(FIL_ROWS3(corner), q, try_weight);
        if (far < best) {
            best = far;
            which = f;
            fil_copy3(q, v);
            memcpy(weight, try_weight, sizeof weight);
        }
    }
    const int count = s->count < 3 ? s->count : 3;
    for (int k = count; k < 3; k++) { // the repeated corners are one
        weight[count - 1] += weight[k];
    }
    keep_corners(s, count, face[which], weight);
    return best < INFINITY;
}

// The distance of two cores and their closest points; 0 when they overlap, or nearly.
static double find_distance(const Core *a, const Core *b, double on_a[3], double on_b[3]) {
    const double size = a->size + b->size;
    Simplex s = {.count = 0};
    double v[3];
    fil_subtract3(a->pose->position, b->pose->position, v);
    if (!(fil_norm3(v) > 0.0)) {
        v[0] = 1.0;
    }
    for (int step = 0; step < GJK_STEPS; step++) {
        const double back[3] = {-v[0], -v[1], -v[2]};
        const int i = s.count;
        find_support(a, back, s.on_a[i]);
        find_support(b, v, s.on_b[i]);
        fil_subtract3(s.on_a[i], s.on_b[i], s.w[i]);
        const double vv = fil_dot3(v, v);
        if (step > 0 && vv - fil_dot3(v, s.w[i]) <= 1e-13 * vv) {
            break;
        }
        s.count++;
        double before[3];
        fil_copy3(v, before);
        if (!reduce(&s, v) || fil_norm3(v) <= APART * size) {
            return 0.0;
        }
        if (step > 0 && !(fil_dot3(v, v) < fil_dot3(before, before))) {
            break; // round-off: no progress
        }
    }
    memset(on_a, 0, 3 * sizeof *on_a);
    memset(on_b, 0, 3 * sizeof *on_b);
    for (int i = 0; i < s.count; i++) {
        fil_add3(s.weight[i], s.on_a[i], on_a);
        fil_add3(s.weight[i], s.on_b[i], on_b);
    }
    fil_subtract3(on_a, on_b, v);
    // flat simplices of nearly parallel faces end early: then v separates nothing
    const double distance = fil_norm3(v);
    const double n[3] = {v[0] / distance, v[1] / distance, v[2] / distance};
    return distance > APART * size && find_gap(a, b, n) > 0.5 * distance ? distance : 0.0;
}

// -------------------------------------------------------------------------- the best direction

typedef struct Best {
    double gap, rank, n[3];
} Best;

typedef struct Axes {
    const Core *a, *b;
    Best best[SEARCH_STARTS]; // by rank
} Axes;

// Try n and -n; `bias` is what it must be better by.
static void try_axis(Axes *axes, const double axis[3], double bias) {
    const double length = fil_norm3(axis);
    if (!(length > 1e-3)) {
        return;
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        Best now;
        for (int k = 0; k < 3; k++) {
            now.n[k] = sign * axis[k] / length;
        }
        now.gap = find_gap(axes->a, axes->b, now.n);
        now.rank = now.gap - bias;
        for (int i = 0; i < SEARCH_STARTS; i++) {
            if (now.rank > axes->best[i].rank) {
                const Best moved = axes->best[i];
                axes->best[i] = now;
                now = moved;
            }
        }
    }
}

// How many of a core's axes are normals of faces, and how many are edges.
static int count_faces(const Core *core) {
    return core->kind == FIL_SHAPE_BOX ? 3 : core->kind == FIL_SHAPE_CYLINDER ? 1 : 0;
}

static int count_edges(const Core *core) {
    return core->kind == FIL_SHAPE_BOX ? 3 : core->kind == FIL_SHAPE_SPHERE ? 0 : 1;
}

// From the axis of a line or cylinder to the middle of the other core.
static void try_radial(Axes *axes, const Core *core, const Core *other) {
    double d[3];
    fil_subtract3(other->pose->position, core->pose->position, d);
    fil_add3(-fil_dot3(d, core->pose->axis[0]), core->pose->axis[0], d);
    const double length = fil_norm3(d);
    for (int k = 0; k < 3 && length > 1e-12 * core->size; k++) {
        d[k] /= length;
    }
    try_axis(axes, d, 0.0);
}

static void try_axes(Axes *axes) {
    const Core *both[2] = {axes->a, axes->b};
    const double size = axes->a->size + axes->b->size;
    for (int i = 0; i < SEARCH_STARTS; i++) {
        axes->best[i] = (Best){.gap = -INFINITY, .rank = -INFINITY};
    }
    for (int i = 1; i >= 0; i--) {
        for (int k = 0; k < count_faces(both[i]); k++) {
            try_axis(axes, both[i]->pose->axis[k], 0.0);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (both[i]->kind == FIL_SHAPE_CYLINDER || both[i]->kind == FIL_SHAPE_CAPSULE) {
            try_radial(axes, both[i], both[!i]);
        }
    }
    for (int i = 0; i < count_edges(axes->a); i++) {
        for (int j = 0; j < count_edges(axes->b); j++) {
            double n[3];
            fil_cross3(axes->a->pose->axis[i], axes->b->pose->axis[j], n);
            try_axis(axes, n, EDGE_BIAS * size);
        }
    }
    if (count_faces(axes->a) + count_faces(axes->b) == 0) {
        // points and lines that meet: any direction across both will do
        try_axis(axes, axes->a->pose->axis[2], 0.0);
        try_axis(axes, axes->a->pose->axis[1], 0.0);
        try_axis(axes, axes->b->pose->axis[2], 0.0);
        try_axis(axes, axes->b->pose->axis[1], 0.0);
    }
}

// Improve a direction: try four neighbours, half as far when none is better.
static void search(const Core *a, const Core *b, Best *best) {
    static const double around[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    double step = 0.2;
    for (int i = 0; i < SEARCH_STEPS && best->gap > -INFINITY; i++) {
        const double *n = best->n;
        const int small = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                                  : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
        double e[3] = {0.0, 0.0, 0.0}, u[3], w[3];
        e[small] = 1.0;
        fil_cross3(n, e, u);
        fil_cross3(n, u, w);
        Best found = *best;
        for (int k = 0; k < 4; k++) {
            Best now;
            for (int j = 0; j < 3; j++) {
                now.n[j] = n[j] + step * (around[k][0] * u[j] + around[k][1] * w[j]);
            }
            const double length = fil_norm3(now.n);
            for (int j = 0; j < 3; j++) {
                now.n[j] /= length;
            }
            now.gap = find_gap(a, b, now.n);
            // a gain worth leaving a plain direction for
            if (now.gap > found.gap + 1e-12 * (a->size + b->size)) {
                now.rank = now.gap;
                found = now;
            }
        }
        step = found.gap > best->gap ? step : 0.5 * step;
        *best = found;
    }
}

// The direction of the largest gap of cores that overlap.
static Best find_direction(const Core *a, const Core *b) {
    Axes axes = {.a = a, .b = b};
    try_axes(&axes);
    if (a->kind != FIL_SHAPE_CYLINDER && b->kind != FIL_SHAPE_CYLINDER) {
        return axes.best[0];
    }
    Best best = axes.best[0];
    for (int i = 0; i < SEARCH_STARTS; i++) {
        Best from = axes.best[i];
        search(a, b, &from);
        if (from.gap > best.gap + EDGE_BIAS * (a->size + b->size)) {
            best = from;
        }
    }
    return best;
}

// ------------------------------------------------------------------------------------ features

static int find_box_face(const Core *core, const double own[3], double points[8][3], uint32_t *id) {
    int flat[3], count = 0, steepest = 0;
    double corner[3];
    *id = 0;
    for (int k = 0; k < 3; k++) {
        corner[k] = own[k] < 0.0 ? -core->half[k] : core->half[k];
        steepest = fabs(own[k]) > fabs(own[steepest]) ? k : steepest;
    }
    for (int k = 0, weight = 1; k < 3; k++, weight *= 3) {
        const bool is_flat = fabs(own[k]) < FLAT && k != steepest;
        *id += (uint32_t)(weight * (is_flat ? 2 : own[k] < 0.0));
        if (is_flat) {
            flat[count++] = k;
        }
    }
    const int points_count = 1 << count;
    for (int i = 0; i < points_count; i++) {
        double at[3];
        fil_copy3(corner, at);
        if (count > 0) { // 00 10 11 01: around the face
            at[flat[0]] = (i == 1 || i == 2 ? 1.0 : -1.0) * core->half[flat[0]];
        }
        if (count > 1) {
            at[flat[1]] = (i >= 2 ? 1.0 : -1.0) * core->half[flat[1]];
        }
        fil_pose_to_world(core->pose, at, points[i]);
    }
    return points_count;
}

static int find_cylinder_face(const Core *core, const double own[3], int rim, double points[8][3],
                              uint32_t *id) {
    const double across = sqrt(own[1] * own[1] + own[2] * own[2]);
    const double end = own[0] < 0.0 ? -core->half[0] : core->half[0];
    const double c = across > 0.0 ? own[1] / across : 1.0, s = across > 0.0 ? own[2] / across : 0.0;
    *id = own[0] < 0.0;
    if (across < FLAT) { // the whole end
        const double turn = across > STEADY_TILT ? atan2(s, c) : 0.0;
        for (int i = 0; i < rim; i++) {
            const double angle = turn + 6.283185307179586 * i / rim;
            const double at[3] = {end, core->rim * cos(angle), core->rim * sin(angle)};
            fil_pose_to_world(core->pose, at, points[i]);
        }
        *id += 2;
        return rim;
    }
    const int count = fabs(own[0]) < FLAT ? 2 : 1;
    for (int i = 0; i < count; i++) {
        const double at[3] = {count == 1 ? end : (i == 0 ? -core->half[0] : core->half[0]),
                              core->rim * c, core->rim * s};
        fil_pose_to_world(core->pose, at, points[i]);
    }
    *id = count == 2 ? 4 : *id;
    return count;
}

static int find_face(const Core *core, const double direction[3], int rim, double points[8][3],
                     uint32_t *id) {
    double own[3];
    for (int k = 0; k < 3; k++) {
        own[k] = fil_dot3(core->pose->axis[k], direction);
    }
    if (core->kind == FIL_SHAPE_BOX) {
        return find_box_face(core, own, points, id);
    }
    if (core->kind == FIL_SHAPE_CYLINDER) {
        return find_cylinder_face(core, own, rim, points, id);
    }
    const int count = core->kind == FIL_SHAPE_CAPSULE && fabs(own[0]) < FLAT ? 2 : 1;
    *id = count == 2 ? 2 : own[0] < 0.0 && core->kind == FIL_SHAPE_CAPSULE;
    for (int i = 0; i < count; i++) {
        const double sign = count == 2 ? 2.0 * i - 1.0 : own[0] < 0.0 ? -1.0 : 1.0;
        const double at[3] = {sign * core->half[0], 0.0, 0.0};
        fil_pose_to_world(core->pose, at, points[i]);
    }
    return count;
}

int fil_convex_face(const FilShape *shape, const FilPose *pose, const double direction[3], int rim,
                    double points[8][3], uint32_t *id) {
    const Core core = make_core(shape, pose);
    return find_face(&core, direction, rim, points, id);
}

// ------------------------------------------------------------------------------------ touches

// The features that face each other, and the touches of the cores found so far.
typedef struct Meeting {
    double n[3], gap;
    double pa[8][3], pb[8][3];
    int na, nb;
    bool known; // the closest points are
    double on_a[3], on_b[3];
    uint32_t base; // of the numbers of features
    FilTouch *out;
    int count;
} Meeting;

static void add_touch(Meeting *m, const double on_a[3], const double on_b[3], uint32_t feature) {
    double d[3];
    if (m->count == FIL_TOUCH_MAX) {
        return;
    }
    FilTouch *touch = &m->out[m->count++];
    *touch = (FilTouch){.feature = m->base | feature};
    fil_copy3(on_a, touch->on_a);
    fil_copy3(on_b, touch->on_b);
    fil_copy3(m->n, touch->normal);
    fil_subtract3(on_a, on_b, d);
    touch->gap = fil_dot3(d, m->n);
}

// A touch at a point of a, or of b, and the point across the gap.
static void add_across(Meeting *m, bool from_a, const double p[3], double gap, uint32_t feature) {
    double q[3];
    fil_copy3(p, q);
    fil_add3(from_a ? -gap : gap, m->n, q);
    add_touch(m, from_a ? p : q, from_a ? q : p, feature);
}

static void add_single(Meeting *m) {
    if (m->known) {
        add_touch(m, m->on_a, m->on_b, 0);
    } else if (m->na == 2 && m->nb == 2) {
        double t, u, p[3], q[3];
        (void)fil_segment_to_segment(FIL_ROWS3(m->pa), FIL_ROWS3(m->pb), &t, &u);
        for (int k = 0; k < 3; k++) {
            p[k] = m->pa[0][k] + t * (m->pa[1][k] - m->pa[0][k]);
            q[k] = m->pb[0][k] + u * (m->pb[1][k] - m->pb[0][k]);
            p[k] = 0.5 * (p[k] + q[k] + m->gap * m->n[k]);
        }
        add_across(m, true, p, m->gap, 0);
    } else {
        const bool from_a = m->na <= m->nb;
        double(*points)[3] = from_a ? m->pa : m->pb;
        const int count = from_a ? m->na : m->nb;
        int deepest = 0; // the lowest of a, the highest of b
        for (int i = 1; i < count; i++) {
            const double rise = fil_dot3(points[i], m->n) - fil_dot3(points[deepest], m->n);
            deepest = (from_a ? rise < 0.0 : rise > 0.0) ? i : deepest;
        }
        add_across(m, from_a, points[deepest], m->gap, 0);
    }
}

// Two edges that run nearly alike: the ends of what they have in common.
static void add_edges(Meeting *m) {
    double e[3], f[3], c[3];
    fil_subtract3(m->pa[1], m->pa[0], e);
    fil_subtract3(m->pb[1], m->pb[0], f);
    fil_cross3(e, f, c);
    const double ee = fil_dot3(e, e);
    if (!(fil_dot3(c, c) < FLAT * FLAT * ee * fil_dot3(f, f))) {
        return;
    }
    double u[2];
    for (int i = 0; i < 2; i++) {
        double d[3];
        fil_subtract3(m->pb[i], m->pa[0], d);
        u[i] = fil_dot3(d, e) / ee;
    }
    const bool along = u[0] < u[1];
    const double from = fmax(0.0, fmin(u[0], u[1])), to = fmin(1.0, fmax(u[0], u[1]));
    if (!(to - from > 1e-3)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        const double t = i == 0 ? from : to;
        const double w = (t - u[0]) / (u[1] - u[0]);
        double p[3], q[3], d[3];
        for (int k = 0; k < 3; k++) {
            p[k] = m->pa[0][k] + t * e[k];
            q[k] = m->pb[0][k] + w * f[k];
        }
        fil_subtract3(p, q, d);
        add_across(m, true, p, fil_dot3(d, m->n), (uint32_t)(1 + 2 * i + along));
    }
}

// A polygon or line that is being clipped. Its edges have labels: 0 .. 7 those it had, 8 and on the
// planes that cut it; a point is known by the labels of its two edges.
typedef struct Outline {
    double p[16][3];
    uint32_t in[16], out[16]; // labels of the edges before and after each point
    int count;
    bool closed;
} Outline;

static void add_point(Outline *outline, const double p[3], uint32_t in, uint32_t out) {
    if (outline->count < 16) {
        fil_copy3(p, outline->p[outline->count]);
        outline->in[outline->count] = in;
        outline->out[outline->count++] = out;
    }
}

// Keep what lies on the inner side of a plane through `at`.
static void clip(Outline *outline, const double at[3], const double inward[3], uint32_t plane) {
    const Outline old = *outline;
    double height[16] = {0};
    for (int i = 0; i < old.count; i++) {
        double d[3];
        fil_subtract3(old.p[i], at, d);
        height[i] = fil_dot3(d, inward);
    }
    outline->count = 0;
    for (int i = 0; i < old.count; i++) {
        const int j = (i + 1) % old.count;
        const bool stays = height[i] >= 0.0, next = height[j] >= 0.0;
        if (stays) {
            add_point(outline, old.p[i], old.in[i], old.out[i]);
        }
        if (stays != next && (old.closed || i + 1 < old.count)) {
            const double t = height[i] / (height[i] - height[j]);
            double p[3];
            for (int k = 0; k < 3; k++) {
                p[k] = old.p[i][k] + t * (old.p[j][k] - old.p[i][k]);
            }
            add_point(outline, p, stays ? old.out[i] : 8 + plane, stays ? 8 + plane : old.out[i]);
        }
    }
}

// The plane of a polygon: unit normal, by Newell's sums.
static void find_plane(const double p[8][3], int count, double normal[3]) {
    memset(normal, 0, 3 * sizeof *normal);
    for (int i = 1; i + 1 < count; i++) {
        double e[3], f[3], c[3];
        fil_subtract3(p[i], p[0], e);
        fil_subtract3(p[i + 1], p[0], f);
        fil_cross3(e, f, c);
        fil_add3(1.0, c, normal);
    }
    const double length = fil_norm3(normal);
    for (int k = 0; k < 3; k++) {
        normal[k] /= length;
    }
}

// A face and a face or an edge: what of the other lies within the sides of the face.
static void add_face(Meeting *m, double reach) {
    double plane_a[3] = {0}, plane_b[3] = {0};
    if (m->na > 2) {
        find_plane(FIL_ROWS3(m->pa), m->na, plane_a);
    }
    if (m->nb > 2) {
        find_plane(FIL_ROWS3(m->pb), m->nb, plane_b);
    }
    const bool on_a = fabs(fil_dot3(plane_a, m->n)) > fabs(fil_dot3(plane_b, m->n)) + 1e-6;
    double(*face)[3] = on_a ? m->pa : m->pb, (*other)[3] = on_a ? m->pb : m->pa;
    const int sides = on_a ? m->na : m->nb;
    const double *plane = on_a ? plane_a : plane_b;
    Outline outline = {.count = on_a ? m->nb : m->na};
    outline.closed = outline.count > 2;
    for (int i = 0; i < outline.count; i++) {
        fil_copy3(other[i], outline.p[i]);
        outline.in[i] = (uint32_t)((i + outline.count - 1) % outline.count);
        outline.out[i] = (uint32_t)i;
    }
    for (int i = 0; i < sides; i++) {
        double e[3], inward[3];
        fil_subtract3(face[(i + 1) % sides], face[i], e);
        fil_cross3(plane, e, inward); // the corners run around the normal
        clip(&outline, face[i], inward, (uint32_t)i);
    }
    for (int i = 0; i < outline.count; i++) {
        double d[3];
        fil_subtract3(outline.p[i], face[0], d);
        const double height = fil_dot3(d, plane) / fil_dot3(m->n, plane);
        // along n nothing is deeper than the gap of the cores, but a tilted plane may say so
        const double gap = fmax(on_a ? -height : height, m->gap);
        if (gap < reach) {
            const uint32_t id = 1 + 16 * outline.in[i] + outline.out[i];
            add_across(m, !on_a, outline.p[i], gap, id + (on_a ? 1u << 10 : 0));
        }
    }
}

void fil_touch_sort(FilTouch *touches, int count) {
    for (int i = 1; i < count; i++) {
        const FilTouch touch = touches[i];
        int at = i;
        for (; at > 0 && touch.gap < touches[at - 1].gap; at--) {
            touches[at] = touches[at - 1];
        }
        touches[at] = touch;
    }
}

// Put the radii back, leave out what is beyond reach.
static int finish(const Meeting *m, const Core *a, const Core *b, double reach) {
    int count = 0;
    for (int i = 0; i < m->count; i++) {
        FilTouch touch = m->out[i];
        touch.gap -= a->round + b->round;
        fil_add3(-a->round, m->n, touch.on_a);
        fil_add3(b->round, m->n, touch.on_b);
        if (touch.gap < reach) {
            m->out[count++] = touch;
        }
    }
    fil_touch_sort(m->out, count);
    return count;
}

// The direction of cores that are apart. Where it is that of a face up to round-off, the face's own
// is taken, which has all its digits.
static void find_normal(const Core *a, const Core *b, double distance, Meeting *m) {
    const double near = distance - APART * (a->size + b->size);
    m->gap = distance;
    for (int k = 0; k < 3; k++) {
        m->n[k] = (m->on_a[k] - m->on_b[k]) / distance;
    }
    for (int i = 0; i < 2; i++) {
        const Core *core = i == 0 ? b : a;
        for (int k = 0; k < count_faces(core); k++) {
            const double *axis = core->pose->axis[k];
            const double cosine = fil_dot3(axis, m->n);
            const double sign = cosine < 0.0 ? -1.0 : 1.0;
            const double n[3] = {sign * axis[0], sign * axis[1], sign * axis[2]};
            if (fabs(cosine) > 0.999 && find_gap(a, b, n) > near) {
                fil_copy3(n, m->n);
                m->gap = find_gap(a, b, n);
                return;
            }
        }
    }
}

int fil_touch_convex(const FilShape *a, const FilPose *pose_a, const FilShape *b,
                     const FilPose *pose_b, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    const Core core_a = make_core(a, pose_a), core_b = make_core(b, pose_b);
    double d[3];
    fil_subtract3(pose_a->position, pose_b->position, d);
    if (!(fil_norm3(d) < core_a.size + core_b.size + reach)) {
        return 0;
    }
    Meeting m = {.out = out};
    const double round = core_a.round + core_b.round;
    const double distance = find_distance(&core_a, &core_b, m.on_a, m.on_b);
    m.known = distance > 0.0; // otherwise they overlap, who knows how deep
    if (m.known && !(distance - round < reach)) {
        return 0;
    }
    if (m.known) {
        find_normal(&core_a, &core_b, distance, &m);
    } else {
        const Best best = find_direction(&core_a, &core_b);
        m.gap = best.gap;
        fil_copy3(best.n, m.n);
    }
    const double back[3] = {-m.n[0], -m.n[1], -m.n[2]};
    uint32_t id_a, id_b;
    m.na = find_face(&core_a, back, 8, m.pa, &id_a);
    m.nb = find_face(&core_b, m.n, 8, m.pb, &id_b);
    m.base = (id_a << 16) | (id_b << 24);
    if (m.na == 2 && m.nb == 2) {
        add_edges(&m);
    } else if (m.na > 1 && m.nb > 1) {
        add_face(&m, reach + round);
    }
    // the deepest place may lie beyond the sides of a face, or on a curve that was made straight
    double deepest = INFINITY;
    for (int i = 0; i < m.count; i++) {
        deepest = fmin(deepest, out[i].gap);
    }
    if (!(deepest < m.gap + 1e-6 * (core_a.size + core_b.size))) {
        add_single(&m);
    }
    return finish(&m, &core_a, &core_b, reach);
}
