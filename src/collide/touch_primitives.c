// touch_primitives.c - touches of a capsule with a plane, sphere, capsule, cylinder or box.
//
// All is done in the solid's own axes. A touch belongs to a point of the capsule's axis: the
// closest point of the solid to it, the normal from there, and the capsule's surface where the line
// between the two leaves it. Any point of the axis gives a touch that is true; which ones are
// needed is the question. Convex solids:
//
// 1. The point of the axis that is nearest to the solid, always.
// 2. For each flat face in front of which the axis runs at less than 30 degrees: the two ends of
//    the stretch of axis that lies in front of it. The gap is linear there, so that the ends bound
//    it. Where the axis is parallel to the face the nearest point jumps from one end to the other,
//    but the set of both stays as it is: that is why nothing tips from step to step.
// 3. For a straight edge, or the side of a cylinder, to which the axis is nearly parallel: the two
//    ends of the overlap, drawn together as the angle grows (see touch_capsules.c).
//
// Touches that fall together are one. Touches beyond `reach` are dropped.
//
// Where the axis enters the solid there is no nearest point. The normal is the one along which the
// least motion takes the axis out again (for a box exactly: its faces, and the cross products of
// its edges with the axis; for a cylinder: its flat ends and its side, not its rims).
//
// Features: 0 the first end of the axis, 1 its second end, 2, 3, ... places between them, in order.
#include "touch_primitives.h"

#include "capsule.h"
#include "math/vec3.h"
#include "segment.h"
#include "solid.h"

typedef struct Probe {
    double x[2][3]; // the axis, in the solid's axes
    double u[3];    // its unit direction, 0 for a point
    double length;
    const double (*a)[3]; // the axis in the world
    const FilPose *pose;
    double radius, reach;
    FilTouch *out;
    int count;
} Probe;

static Probe start(const double a[2][3], double radius, const FilPose *pose, double reach,
                   FilTouch *out) {
    Probe p = {.a = a, .pose = pose, .radius = radius, .reach = reach, .out = out};
    for (int i = 0; i < 2; i++) {
        double from[3];
        fil_subtract3(a[i], pose->position, from);
        for (int k = 0; k < 3; k++) {
            p.x[i][k] = fil_dot3(pose->axis[k], from);
        }
    }
    fil_subtract3(p.x[1], p.x[0], p.u);
    p.length = fil_norm3(p.u);
    for (int k = 0; k < 3; k++) {
        p.u[k] = p.length > 0.0 ? p.u[k] / p.length : 0.0;
    }
    return p;
}

// Add the touch of the axis point at t, `distance` away from the solid along n.
static void add(Probe *p, double t, const double n[3], double distance) {
    const double out_a = fil_capsule_exit(p->radius, p->length, t, -fil_dot3(n, p->u));
    if (!(distance - out_a < p->reach) || p->count == FIL_TOUCH_MAX) {
        return;
    }
    for (int i = 0; i < p->count; i++) {
        if (!(fabs(t - p->out[i].t_a) * p->length > 0.02 * p->radius)) {
            return;
        }
    }
    FilTouch *touch = &p->out[p->count++];
    *touch = (FilTouch){.gap = distance - out_a, .t_a = t};
    double x[3];
    fil_segment_point(p->a, t, x);
    for (int k = 0; k < 3; k++) {
        touch->normal[k] =
            n[0] * p->pose->axis[0][k] + n[1] * p->pose->axis[1][k] + n[2] * p->pose->axis[2][k];
        touch->on_a[k] = x[k] - out_a * touch->normal[k];
        touch->on_b[k] = x[k] - distance * touch->normal[k];
    }
}

// In the order of the axis, with their features.
static int finish(Probe *p) {
    for (int i = 1; i < p->count; i++) {
        const FilTouch touch = p->out[i];
        int j = i;
        for (; j > 0 && p->out[j - 1].t_a > touch.t_a; j--) {
            p->out[j] = p->out[j - 1];
        }
        p->out[j] = touch;
    }
    uint32_t between = 2;
    for (int i = 0; i < p->count; i++) {
        const double t = p->out[i].t_a;
        p->out[i].feature = t < 1e-9 ? 0 : t > 1.0 - 1e-9 ? 1 : between++;
    }
    return p->count;
}

// Cut the stretch [range[0], range[1]] of the axis to where |x_k| <= h.
static void cut(const Probe *p, int k, double h, double range[2]) {
    const double x0 = p->x[0][k], d = p->x[1][k] - x0;
    if (d == 0.0) {
        if (!(fabs(x0) <= h)) {
            range[1] = -1.0;
        }
        return;
    }
    const double t0 = (-h - x0) / d, t1 = (h - x0) / d;
    range[0] = fmax(range[0], fmin(t0, t1));
    range[1] = fmin(range[1], fmax(t0, t1));
}

static void point_at(const Probe *p, double t, double x[3]) {
    fil_segment_point(FIL_POINTS(p->x), t, x);
}

// Rule 2, for the face x_k = sign h. Where the axis is steep the lower end is all there is: the
// touch above it would be the same one again. `inside`: the axis may lie behind the face.
static void add_face(Probe *p, int k, double sign, double h, const double range[2], bool inside) {
    const bool steep = fabs(p->u[k]) > 0.5;
    if (!(range[0] <= range[1]) || (steep && !inside)) {
        return;
    }
    const int lower = sign * p->u[k] < 0.0;
    double n[3] = {0.0};
    n[k] = sign;
    for (int i = 0; i < 2; i++) {
        double x[3];
        point_at(p, range[i], x);
        const double distance = sign * x[k] - h;
        if ((inside || distance >= 0.0) && (i == lower || !steep)) {
            add(p, range[i], n, distance);
        }
    }
}

// --- box -----------------------------------------------------------------------------------------

// Rule 3, for the edge along j next to the nearest point t.
static void add_edge(Probe *p, const double h[3], int j, double t, double distance) {
    double range[2] = {0.0, 1.0};
    cut(p, j, h[j], range);
    const double along = (range[1] - range[0]) * p->length;
    const double sine = sqrt(fmax(1.0 - p->u[j] * p->u[j], 0.0));
    const double spread = fil_pair_spread(along * sine, fmin(p->radius, distance));
    for (int i = 0; i < 2 && spread > 0.0 && along > 0.0; i++) {
        double x[3], n[3];
        const double s = fmin(fmax(t + spread * (range[i] - t), 0.0), 1.0);
        point_at(p, s, x);
        const double away = fil_box_point(h, x, n);
        add(p, s, n, away);
    }
}

static void touch_box_outside(Probe *p, const double h[3], const FilSolidGap *gap) {
    add(p, gap->t, gap->normal, gap->distance);
    int inside = -1, outside_count = 0;
    for (int k = 0; k < 3; k++) {
        if (gap->normal[k] == 0.0) {
            inside = k;
            continue;
        }
        outside_count++;
        double range[2] = {0.0, 1.0};
        cut(p, (k + 1) % 3, h[(k + 1) % 3], range);
        cut(p, (k + 2) % 3, h[(k + 2) % 3], range);
        add_face(p, k, copysign(1.0, gap->normal[k]), h[k], range, false);
    }
    if (outside_count == 2 && fabs(p->u[inside]) > 0.95) {
        add_edge(p, h, inside, gap->t, gap->distance);
    }
}

// How deep the axis is in the box along n, a unit vector.
static double box_depth(const Probe *p, const double h[3], const double n[3]) {
    const double nearest = fmin(fil_dot3(n, p->x[0]), fil_dot3(n, p->x[1]));
    return h[0] * fabs(n[0]) + h[1] * fabs(n[1]) + h[2] * fabs(n[2]) - nearest;
}

// The least depth over the cross products of the axis with the box's edges: the edge, and n.
static int find_edge(const Probe *p, const double h[3], double *depth, double normal[3]) {
    int found = -1;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double size = sqrt(p->u[i] * p->u[i] + p->u[j] * p->u[j]);
        for (int side = -1; side <= 1 && size > 1e-6; side += 2) {
            double n[3] = {0.0};
            n[i] = side * p->u[j] / size;
            n[j] = -side * p->u[i] / size;
            const double deep = box_depth(p, h, n);
            if (deep < *depth) {
                *depth = deep;
                fil_copy3(n, normal);
                found = k;
            }
        }
    }
    return found;
}

static void touch_box_inside(Probe *p, const double h[3]) {
    int face = 0;
    double sign = 1.0, depth = INFINITY;
    for (int k = 0; k < 6; k++) {
        const double side = k < 3 ? 1.0 : -1.0;
        const double deep = h[k % 3] - fmin(side * p->x[0][k % 3], side * p->x[1][k % 3]);
        if (deep < depth) {
            depth = deep;
            face = k % 3;
            sign = side;
        }
    }
    double n[3], by_edge = 0.999 * depth; // a face where it makes no difference
    const int edge = find_edge(p, h, &by_edge, n);
    if (edge >= 0) {
        double line[2][3];
        for (int k = 0; k < 3; k++) {
            line[0][k] = line[1][k] = copysign(h[k], n[k]);
        }
        line[0][edge] = -h[edge];
        line[1][edge] = h[edge];
        const FilClosest pair = fil_closest_segments(FIL_POINTS(p->x), FIL_POINTS(line));
        add(p, pair.t_a, n, -by_edge);
        return;
    }
    double range[2] = {0.0, 1.0};
    cut(p, (face + 1) % 3, h[(face + 1) % 3], range);
    cut(p, (face + 2) % 3, h[(face + 2) % 3], range);
    add_face(p, face, sign, h[face], range, true);
}

static void touch_box(Probe *p, const FilShape *shape) {
    const double h[3] = {0.5 * shape->size[0], 0.5 * shape->size[1], 0.5 * shape->size[2]};
    const FilSolidGap gap = fil_solid_gap(shape, FIL_POINTS(p->x));
    if (gap.distance > 0.0) {
        touch_box_outside(p, h, &gap);
    } else {
        touch_box_inside(p, h);
    }
}

// --- cylinder ------------------------------------------------------------------------------------

// The stretch of the axis in front of the flat ends: inside the disc.
static void cut_disc(const Probe *p, double radius, double range[2]) {
    const double y = p->x[0][1], z = p->x[0][2];
    const double dy = p->x[1][1] - y, dz = p->x[1][2] - z, dd = dy * dy + dz * dz;
    if (!(dd > 0.0)) {
        if (!(y * y + z * z <= radius * radius)) {
            range[1] = -1.0;
        }
        return;
    }
    // nearest to the centre at `middle`; half a chord to both sides of it
    const double middle = -(y * dy + z * dz) / dd, off = (y * dz - z * dy) / sqrt(dd);
    const double chord2 = radius * radius - off * off;
    const double half = sqrt(fmax(chord2, 0.0) / dd);
    range[0] = chord2 < 0.0 ? 1.0 : fmax(range[0], middle - half);
    range[1] = chord2 < 0.0 ? 0.0 : fmin(range[1], middle + half);
}

// The unit normal of the side at an axis point and the distance of the cylinder's own axis. Where
// the two axes meet, it is perpendicular to both.
static double side_normal(const Probe *p, const double x[3], double n[3]) {
    const double rho = sqrt(x[1] * x[1] + x[2] * x[2]);
    const double across = sqrt(p->u[1] * p->u[1] + p->u[2] * p->u[2]);
    n[0] = 0.0;
    if (rho > 1e-15 * (fabs(x[0]) + p->length)) {
        n[1] = x[1] / rho;
        n[2] = x[2] / rho;
    } else {
        n[1] = across > 0.0 ? p->u[2] / across : 1.0;
        n[2] = across > 0.0 ? -p->u[1] / across : 0.0;
    }
    return rho;
}

// Rule 3: where the axis runs along the side; the nearest point alone where it crosses it.
static void add_side(Probe *p, double radius, double half, bool nearest_too) {
    double range[2] = {0.0, 1.0}, x[3], n[3];
    cut(p, 0, half, range);
    if (!(range[0] <= range[1])) {
        return;
    }
    const double dy = p->u[1] * p->length, dz = p->u[2] * p->length, dd = dy * dy + dz * dz;
    const double t = dd > 0.0 ? -(p->x[0][1] * dy + p->x[0][2] * dz) / dd : range[0];
    const double nearest = fmin(fmax(t, range[0]), range[1]);
    point_at(p, nearest, x);
    const double rho = side_normal(p, x, n);
    const double drift = (range[1] - range[0]) * sqrt(dd);
    const double spread = fil_pair_spread(drift, fmin(rho, radius + p->radius));
    const double slant = fmin(fmax((fabs(p->u[0]) - 0.9) / 0.05, 0.0), 1.0);
    for (int i = 0; i < 2 && spread * slant > 0.0; i++) {
        const double s = nearest + spread * slant * (range[i] - nearest);
        point_at(p, s, x);
        const double away = side_normal(p, x, n);
        add(p, s, n, away - radius);
    }
    if (nearest_too && !(spread * slant > 0.0)) {
        add(p, nearest, n, rho - radius);
    }
}

// Whether the way out through a flat end, into *sign, is shorter than through the side.
static bool leaves_by_end(const Probe *p, double radius, double half, double *sign) {
    const double up = half - fmin(p->x[0][0], p->x[1][0]);
    const double down = half + fmax(p->x[0][0], p->x[1][0]);
    const double flat[2][3] = {{0.0, p->x[0][1], p->x[0][2]}, {0.0, p->x[1][1], p->x[1][2]}};
    const FilClosest pair = fil_closest_point_segment((double[3]){0.0}, flat);
    *sign = up <= down ? 1.0 : -1.0;
    return fmin(up, down) < radius - sqrt(pair.distance2);
}

static void touch_cylinder(Probe *p, const FilShape *shape) {
    const double radius = shape->radius, half = 0.5 * shape->length;
    const FilSolidGap gap = fil_solid_gap(shape, FIL_POINTS(p->x));
    const bool inside = !(gap.distance > 0.0);
    double sign = copysign(1.0, gap.normal[0]);
    bool by_end = gap.normal[0] != 0.0, by_side = gap.normal[1] != 0.0 || gap.normal[2] != 0.0;
    if (inside) {
        by_end = leaves_by_end(p, radius, half, &sign);
        by_side = !by_end;
    } else {
        add(p, gap.t, gap.normal, gap.distance);
    }
    if (by_end) {
        double range[2] = {0.0, 1.0};
        cut_disc(p, radius, range);
        add_face(p, 0, sign, half, range, inside);
    }
    if (by_side) {
        add_side(p, radius, half, inside);
    }
}

// --- plane, sphere, capsule ----------------------------------------------------------------------

static void touch_plane(Probe *p) {
    const double all[2] = {0.0, 1.0};
    add_face(p, 2, 1.0, 0.0, all, true);
}

static void touch_sphere(Probe *p, double radius) {
    const FilClosest pair = fil_closest_point_segment((double[3]){0.0}, FIL_POINTS(p->x));
    const double distance = sqrt(pair.distance2);
    double n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = distance > 0.0 ? -pair.apart[k] / distance : 0.0;
    }
    if (!(distance > 1e-15 * p->length)) {
        fil_perpendicular3(p->u, n); // the axis goes through the centre
    }
    add(p, pair.t_b, n, distance - radius);
}

static int touch_capsule(const double a[2][3], double radius, const FilShape *shape,
                         const FilPose *pose, double reach, FilTouch *out) {
    double b[2][3];
    for (int k = 0; k < 3; k++) {
        const double half = 0.5 * shape->length * pose->axis[0][k];
        b[0][k] = pose->position[k] - half;
        b[1][k] = pose->position[k] + half;
    }
    return fil_touch_capsules(a, radius, FIL_POINTS(b), shape->radius, reach, out);
}

int fil_touch_capsule_primitive(const double a[2][3], double radius, const FilShape *shape,
                                const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    if (shape->kind == FIL_SHAPE_CAPSULE) {
        return touch_capsule(a, radius, shape, pose, reach, out);
    }
    Probe p = start(a, radius, pose, reach, out);
    switch (shape->kind) {
    case FIL_SHAPE_PLANE:
        touch_plane(&p);
        break;
    case FIL_SHAPE_SPHERE:
        touch_sphere(&p, shape->radius);
        break;
    case FIL_SHAPE_CYLINDER:
        touch_cylinder(&p, shape);
        break;
    case FIL_SHAPE_BOX:
        touch_box(&p, shape);
        break;
    default:
        break;
    }
    return finish(&p);
}
