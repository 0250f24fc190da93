// touch_mesh.c - a capsule against a closed mesh.
//
// Let phi be the signed distance to the surface (below 0 inside). The touches are points of the
// segment at which phi - radius is below the reach: its two ends, the places in between where phi
// has a local minimum outside (a pair of closest points of the segment and a triangle, edge or
// vertex, such that the direction between them belongs to the normals of the surface there), and,
// where the segment is inside or passes through, the middle of the part that is inside. They are
// grouped by direction, deepest first; a group gives its deepest point and the farthest points on
// either side of it. A segment that lies on a flat face, however many triangles it has, thus gives
// its two ends.
//
// Where the segment runs along a face or a sharp edge, or nearly so, the place of least distance is
// any of many, and what rests there would tip about it. So the ends of the stretch that it shares
// with them are places too: where it leaves the face over a sharp edge, and beside the ends of the
// sharp edge.
#include "touch_mesh.h"

#include <math.h>

#include "collide/mesh.h"
#include "collide/mesh_cells.h"
#include "collide/touch_convex.h"
#include "collide/triangle.h"
#include "math/vec3.h"

enum { ROOM = 48, CROSSINGS = 8 };
enum { AT_START, AT_END, BETWEEN, BETWEEN_TOO }; // where on the segment: two bits of the feature

#define SAME_DIRECTION 0.94 // cosine of 20 degrees
#define SAME_PLACE 0.1      // of the length of the segment, or half the size of the mesh
#define ALONG 0.2           // sine of the angle up to which the segment runs along a face or edge
#define SHALLOW 0.02        // of a stretch: deeper inside it may have come in beside the face
#define NO_CROSSING 1e-13   // of the size of the mesh: closer is taken for a crossing
#define NO_DISTANCE 1e-9    // of the size of the mesh: below it a direction has too few digits

// A point of the segment and the closest one of the surface, in the mesh's own axes.
typedef struct Place {
    double t, phi, rank; // rank: phi, with what is between the ends put a little behind
    double q[3], normal[3];
    uint32_t feature;
    int where;
} Place;

typedef struct Search {
    const FilMesh *mesh;
    double a[2][3]; // own axes
    double radius, bound, length;
    double same_place; // difference of t
    Place place[ROOM];
    int count;
    // nearest triangle of each end within the bound
    double far[2], foot[2][3];
    int triangle[2], part[2];
    // where it passes through the surface, the first CROSSINGS found, sorted; and one of them
    double crossing[CROSSINGS], crossing_t, crossing_at[3];
    int crossing_count, crossing_triangle, crossing_part;
} Search;

static void find_point(const Search *s, double t, double p[3]) {
    for (int k = 0; k < 3; k++) {
        p[k] = (1.0 - t) * s->a[0][k] + t * s->a[1][k];
    }
}

// The normal where the segment meets the surface itself: that of the part, but on an edge that of
// the triangle which the segment runs along, if it runs along one.
static const double *choose_normal(const Search *s, int triangle, int part) {
    const FilMesh *mesh = s->mesh;
    if (part < FIL_PART_SIDE || part >= FIL_PART_CORNER || !(s->length > 0.0)) {
        return fil_mesh_normal(mesh, triangle, part);
    }
    const int edge = mesh->sides[triangle][part - FIL_PART_SIDE];
    double d[3], tilt[2];
    fil_subtract3(s->a[1], s->a[0], d);
    for (int k = 0; k < 2; k++) {
        tilt[k] = fabs(fil_dot3(mesh->triangle_normals[mesh->edge_triangles[edge][k]], d));
    }
    const int flatter = tilt[1] < tilt[0];
    return tilt[flatter] < 0.1 * tilt[!flatter]
               ? mesh->triangle_normals[mesh->edge_triangles[edge][flatter]]
               : mesh->edge_normals[edge];
}

// Add a place, or let it take that of the shallowest one; returns phi.
static double add_place(Search *s, int where, double t, const double q[3], int triangle, int part) {
    Place place = {.t = t, .where = where, .feature = fil_mesh_feature(s->mesh, triangle, part)};
    double p[3], d[3];
    find_point(s, t, p);
    fil_subtract3(p, q, d);
    const double *n = fil_mesh_normal(s->mesh, triangle, part);
    const double distance = fil_norm3(d), sign = fil_dot3(d, n) < 0.0 ? -1.0 : 1.0;
    place.phi = sign * distance;
    place.rank = place.phi + (where >= BETWEEN ? 1e-6 * s->bound : 0.0);
    fil_copy3(q, place.q);
    const bool clear = distance > NO_DISTANCE * s->mesh->size;
    const double *flat = clear ? n : choose_normal(s, triangle, part);
    for (int k = 0; k < 3; k++) {
        place.normal[k] = clear ? d[k] / place.phi : flat[k];
    }
    if (!(place.phi < s->bound)) {
        return place.phi;
    }
    int slot = s->count;
    if (slot == ROOM) {
        slot = 0;
        for (int i = 1; i < ROOM; i++) {
            slot = s->place[i].rank > s->place[slot].rank ? i : slot;
        }
        if (!(place.rank < s->place[slot].rank)) {
            return place.phi;
        }
    } else {
        s->count++;
    }
    s->place[slot] = place;
    return place.phi;
}

// Whether the direction d at a point of the surface is one of its normals there: no step along the
// neighbouring triangles goes along d.
static bool is_normal(const FilMesh *mesh, int triangle, int part, const double d[3]) {
    const double slack = 1e-7 * fil_norm3(d);
    if (part >= FIL_PART_CORNER) {
        const int v = mesh->triangles[triangle][part - FIL_PART_CORNER];
        for (int i = mesh->spoke_first[v]; i < mesh->spoke_first[v + 1]; i++) {
            const int *edge = mesh->edges[mesh->spokes[i]];
            double e[3];
            fil_subtract3(mesh->vertices[edge[0] == v ? edge[1] : edge[0]], mesh->vertices[v], e);
            if (fil_dot3(e, d) > slack * fil_norm3(e)) {
                return false;
            }
        }
        return true;
    }
    if (part >= FIL_PART_SIDE) {
        const int side = mesh->sides[triangle][part - FIL_PART_SIDE];
        for (int way = 0; way < 2; way++) {
            double e[3], in[3];
            fil_subtract3(mesh->vertices[mesh->edges[side][!way]],
                          mesh->vertices[mesh->edges[side][way]], e);
            fil_cross3(mesh->triangle_normals[mesh->edge_triangles[side][way]], e, in);
            if (fil_dot3(in, d) > slack * fil_norm3(e)) {
                return false;
            }
        }
    }
    return true;
}

// An end and the triangle at place i of the tree: a place of its own where the direction is a
// normal of the surface, so that a capsule in a corner touches both sides of it.
static void try_end(Search *s, int end, int i) {
    const int triangle = s->mesh->bvh.order[i];
    double q[3], far, d[3];
    const int part = fil_triangle_to_point(FIL_ROWS3(s->mesh->corners[i]), s->a[end], q, &far);
    if (!(far < s->bound * s->bound)) {
        return;
    }
    if (far < s->far[end]) {
        s->far[end] = far;
        s->triangle[end] = triangle;
        s->part[end] = part;
        fil_copy3(q, s->foot[end]);
    }
    fil_subtract3(s->a[end], q, d);
    if (fil_dot3(d, fil_mesh_normal(s->mesh, triangle, part)) > 0.0 &&
        is_normal(s->mesh, triangle, part, d)) {
        (void)add_place(s, end, end, q, triangle, part);
    }
}

static void add_crossing(Search *s, double t, const double q[3], int triangle, int part) {
    if (s->crossing_count == CROSSINGS) {
        return;
    }
    int at = s->crossing_count++;
    for (; at > 0 && t < s->crossing[at - 1]; at--) {
        s->crossing[at] = s->crossing[at - 1];
    }
    s->crossing[at] = t;
    s->crossing_t = t;
    s->crossing_triangle = triangle;
    s->crossing_part = part;
    fil_copy3(q, s->crossing_at);
}

// The point of the segment at t and the triangle at place i of the tree: an end of a stretch. It
// counts where the direction is a normal of the surface, and inside down to `deepest`. `corner` is
// the one that the stretch ends beside, or -1.
static void try_between(Search *s, double t, int corner, double deepest, int i) {
    const int triangle = s->mesh->bvh.order[i];
    double p[3], q[3], far, d[3];
    if (!(t > 0.0 && t < 1.0)) { // the ends are tried in any case
        return;
    }
    find_point(s, t, p);
    const int part = fil_triangle_to_point(FIL_ROWS3(s->mesh->corners[i]), p, q, &far);
    fil_subtract3(p, q, d);
    if (corner >= 0 && part != FIL_PART_CORNER + corner) {
        return; // the corner is not what is next to it
    }
    const bool outside = fil_dot3(d, s->mesh->triangle_normals[triangle]) > 0.0;
    if (outside ? far < s->bound * s->bound && is_normal(s->mesh, triangle, part, d)
                : far < deepest * deepest) {
        (void)add_place(s, BETWEEN, t, q, triangle, part);
    }
}

// How deep below a triangle the point at t is; 0 where it is not inside, or nearer to the surface
// elsewhere: it came in there.
static double find_depth(const Search *s, double t, int i) {
    const double *n = s->mesh->triangle_normals[s->mesh->bvh.order[i]];
    double p[3], d[3];
    FilMeshPoint nearest;
    find_point(s, t, p);
    fil_subtract3(p, s->mesh->corners[i][0], d);
    const double depth = -fil_dot3(d, n);
    return depth > 0.0 && fil_mesh_closest(s->mesh, p, 1.1 * depth, &nearest) &&
                   -nearest.distance > 0.99 * depth
               ? depth
               : 0.0;
}

// The ends of the stretch above a triangle that the segment d runs along.
static void try_face(Search *s, const double d[3], int i) {
    const int triangle = s->mesh->bvh.order[i];
    const double(*corner)[3] = FIL_ROWS3(s->mesh->corners[i]);
    const double *n = s->mesh->triangle_normals[triangle];
    double from = 0.0, to = 1.0;
    int first = -1, last = -1; // the sides where it comes in and goes out
    if (!(fabs(fil_dot3(n, d)) < ALONG * s->length)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        double e[3], in[3], w[3];
        fil_subtract3(corner[(k + 1) % 3], corner[k], e);
        fil_cross3(n, e, in);
        fil_subtract3(s->a[0], corner[k], w);
        const double height = fil_dot3(in, w), climb = fil_dot3(in, d), t = -height / climb;
        if (climb > 0.0 && t > from) {
            from = t;
            first = k;
        } else if (climb < 0.0 && t < to) {
            to = t;
            last = k;
        } else if (climb == 0.0 && height < 0.0) {
            return;
        }
    }
    const int *sides = s->mesh->sides[triangle];
    const bool ends[2] = {first >= 0 && s->mesh->sharp_edges[sides[first]],
                          last >= 0 && s->mesh->sharp_edges[sides[last]]};
    if (!(from < to) || !(ends[0] || ends[1])) {
        return;
    }
    const double deepest =
        fmin(1.5 * find_depth(s, 0.5 * (from + to), i), SHALLOW * (to - from) * s->length);
    for (int end = 0; end < 2; end++) {
        if (ends[end]) {
            try_between(s, end == 0 ? from : to, -1, deepest, i);
        }
    }
}

// The ends of the stretch beside a sharp edge of a triangle that the segment d runs along.
static void try_edges(Search *s, const double d[3], int i) {
    const int triangle = s->mesh->bvh.order[i];
    const double(*corner)[3] = FIL_ROWS3(s->mesh->corners[i]);
    for (int k = 0; k < 3; k++) {
        double e[3], across[3];
        fil_subtract3(corner[(k + 1) % 3], corner[k], e);
        fil_cross3(d, e, across);
        if (!s->mesh->sharp_edges[s->mesh->sides[triangle][k]] ||
            !(fil_norm3(across) < ALONG * s->length * fil_norm3(e))) {
            continue;
        }
        for (int end = 0; end < 2; end++) {
            double w[3];
            fil_subtract3(corner[(k + end) % 3], s->a[0], w);
            try_between(s, fil_dot3(w, d) / fil_dot3(d, d), (k + end) % 3, 0.0, i);
        }
    }
}

// The triangle at place i of the tree.
static void try_triangle(Search *s, int i) {
    double q[3], far, t, p[3], d[3];
    const int part =
        fil_triangle_to_segment(FIL_ROWS3(s->mesh->corners[i]), FIL_ROWS3(s->a), &t, q, &far);
    const int triangle = s->mesh->bvh.order[i];
    if (!(far < s->bound * s->bound)) {
        return;
    }
    try_end(s, 0, i);
    if (s->length > 0.0) {
        double along[3];
        fil_subtract3(s->a[1], s->a[0], along);
        try_end(s, 1, i);
        try_face(s, along, i);
        try_edges(s, along, i);
    }
    if (!(far > NO_CROSSING * NO_CROSSING * s->mesh->size * s->mesh->size)) {
        add_crossing(s, t, q, triangle, part);
        if (part >= FIL_PART_SIDE && t > 0.0 && t < 1.0) { // on an edge: it may only touch
            (void)add_place(s, BETWEEN, t, q, triangle, part);
        }
        return;
    }
    find_point(s, t, p);
    fil_subtract3(p, q, d);
    if (t > 0.0 && t < 1.0 && fil_dot3(d, fil_mesh_normal(s->mesh, triangle, part)) > 0.0 &&
        is_normal(s->mesh, triangle, part, d)) {
        (void)add_place(s, BETWEEN, t, q, triangle, part);
    }
}

// The closest point of the surface, however far, when the point at t is inside.
static bool add_inside(Search *s, int where, double t) {
    double p[3];
    FilMeshPoint nearest;
    find_point(s, t, p);
    if (fil_mesh_cell(s->mesh, p) == FIL_CELL_OUTSIDE ||
        !fil_mesh_closest(s->mesh, p, INFINITY, &nearest) || !(nearest.distance < 0.0)) {
        return false;
    }
    (void)add_place(s, where, t, nearest.at, nearest.triangle, nearest.part);
    return true;
}

// The ends: what is known of them from the triangles in reach, and where there are none, whether
// they are deep inside. That need not be asked of an end whose segment does not cross the surface
// and is seen to be outside elsewhere.
static void add_ends(Search *s, bool inside[2]) {
    const int ends = s->length > 0.0 ? 2 : 1;
    bool outside = s->count > 0;
    for (int end = 0; end < ends; end++) {
        if (s->triangle[end] >= 0) {
            const double phi = add_place(s, end, end, s->foot[end], s->triangle[end], s->part[end]);
            inside[end] = phi < 0.0;
            outside = outside || !inside[end];
        }
    }
    for (int end = 0; end < ends; end++) {
        if (s->triangle[end] < 0 && (s->crossing_count > 0 || !outside)) {
            inside[end] = add_inside(s, end, end);
            outside = outside || !inside[end];
        }
    }
}

// Whether the box of a triangle overlaps a box; the leaves of the tree are not so fine.
static bool is_near(const double corner[3][3], const FilBox *box) {
    for (int k = 0; k < 3; k++) {
        const double a = corner[0][k], b = corner[1][k], c = corner[2][k];
        if ((a > box->high[k] && b > box->high[k] && c > box->high[k]) ||
            (a < box->low[k] && b < box->low[k] && c < box->low[k])) {
            return false;
        }
    }
    return true;
}

static void find_places(Search *s) {
    FilBox box;
    FilBvhWalk walk;
    bool inside[2] = {false, false};
    fil_box_of_segment(FIL_ROWS3(s->a), s->bound, &box);
    fil_bvh_walk(&walk, &s->mesh->bvh, &box);
    for (int i; (i = fil_bvh_next(&walk)) >= 0;) {
        if (is_near(FIL_ROWS3(s->mesh->corners[i]), &box)) {
            try_triangle(s, i);
        }
    }
    add_ends(s, inside);
    double
        cut[CROSSINGS + 2]; // between these it may be inside; the middle is half as deep at least
    int cuts = 0;
    if (inside[0]) {
        cut[cuts++] = 0.0;
    }
    for (int i = 0; i < s->crossing_count; i++) {
        cut[cuts++] = s->crossing[i];
    }
    if (inside[1]) {
        cut[cuts++] = 1.0;
    }
    for (int i = 1; i < cuts; i++) {
        (void)add_inside(s, BETWEEN, 0.5 * (cut[i - 1] + cut[i]));
    }
    if (s->count == 0 && s->crossing_count > 0) {
        (void)add_place(s, BETWEEN, s->crossing_t, s->crossing_at, s->crossing_triangle,
                        s->crossing_part);
    }
}

// ------------------------------------------------------------------------------------ choosing

static void write_touch(const Search *s, const FilPose *pose, const Place *place, FilTouch *touch) {
    fil_pose_to_world(pose, place->q, touch->on_b);
    fil_pose_turn(pose, place->normal, touch->normal);
    touch->gap = place->phi - s->radius;
    for (int k = 0; k < 3; k++) {
        touch->on_a[k] = touch->on_b[k] + touch->gap * touch->normal[k];
    }
    touch->t_a = place->t;
    touch->t_b = 0.0;
    touch->feature = place->feature | ((uint32_t)place->where << 30);
}

// Add a touch unless there is one of the same feature that cannot be told apart.
static int keep(const Search *s, const FilPose *pose, Place *place, FilTouch *out, int count) {
    FilTouch touch;
    if (count == FIL_TOUCH_MAX) {
        return count;
    }
    write_touch(s, pose, place, &touch);
    for (int i = 0; i < count; i++) {
        if (out[i].feature == touch.feature) {
            if (place->where != BETWEEN) {
                return count;
            }
            place->where = BETWEEN_TOO;
            touch.feature |= (uint32_t)BETWEEN_TOO << 30;
            i = -1; // look again under the other name
        }
    }
    out[count] = touch;
    return count + 1;
}

// Sort by rank, keeping the order of equals.
static void sort_places(Search *s) {
    for (int i = 1; i < s->count; i++) {
        const Place place = s->place[i];
        int at = i;
        for (; at > 0 && place.rank < s->place[at - 1].rank; at--) {
            s->place[at] = s->place[at - 1];
        }
        s->place[at] = place;
    }
}

static int choose(Search *s, const FilPose *pose, FilTouch *out) {
    bool used[ROOM] = {false};
    int count = 0;
    sort_places(s);
    for (int i = 0; i < s->count; i++) {
        if (used[i]) {
            continue;
        }
        int before = -1, after = -1; // the farthest places of the group on either side
        for (int j = i + 1; j < s->count; j++) {
            const Place *p = &s->place[j];
            if (used[j] || !(fil_dot3(p->normal, s->place[i].normal) > SAME_DIRECTION)) {
                continue;
            }
            used[j] = true;
            if (p->t < s->place[i].t - s->same_place &&
                (before < 0 || p->t < s->place[before].t - s->same_place)) {
                before = j;
            }
            if (p->t > s->place[i].t + s->same_place &&
                (after < 0 || p->t > s->place[after].t + s->same_place)) {
                after = j;
            }
        }
        count = keep(s, pose, &s->place[i], out, count);
        for (int k = 0; k < 2; k++) {
            const int other = k == 0 ? before : after;
            if (other >= 0) {
                count = keep(s, pose, &s->place[other], out, count);
            }
        }
    }
    return count;
}

int fil_touch_capsule_mesh(const double a[2][3], double radius, const FilMesh *mesh,
                           const FilPose *pose, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    Search s;
    double d[3];
    FilBox box;
    s.mesh = mesh;
    fil_pose_to_own(pose, a[0], s.a[0]);
    fil_pose_to_own(pose, a[1], s.a[1]);
    fil_subtract3(s.a[1], s.a[0], d);
    s.radius = radius;
    s.bound = radius + reach;
    s.length = fil_norm3(d);
    s.same_place = SAME_PLACE * (2.0 * s.length > mesh->size ? 0.5 * mesh->size / s.length : 1.0);
    s.count = s.crossing_count = 0;
    for (int end = 0; end < 2; end++) {
        s.far[end] = s.bound * s.bound;
        s.triangle[end] = -1;
        s.part[end] = 0;
    }
    fil_box_of_segment(FIL_ROWS3(s.a), s.bound, &box);
    if (!fil_box_overlap(&box, &mesh->box)) {
        return 0;
    }
    find_places(&s);
    const int count = choose(&s, pose, out);
    fil_touch_sort(out, count);
    return count;
}
