// passing.c - after a step: did a centreline pass through another one, or into a solid, or a solid
// into another?
//
// Between the start and the end of the step every point of a rod's piece is taken to move on a
// straight line, and a solid as one that turns at a constant rate. It need not be what really
// happened: it is one continuous motion from the start to the end, and where nothing meets on its
// way nothing has changed sides. Candidates are those of the broad phase; where a piece of a rod,
// or a body that was hit, went farther than its box foresaw, the broad phase is done again with the
// boxes of what really happened. Nobody knows where a body was that turned by more than a radian:
// next to something else that is violent.
//
// Nor must a step press two pieces into each other by more than a fifth of the thinner one
// (`promised`); beyond a twentieth (`most_pressed`) it is mended. Contacts hold the gap that is
// linear in the velocities; what turns or bends on its way has another one at the end, e. So a pair
// that met or was pressed gets a contact between the points that overlap, with the normal that is
// there, and for its gap what makes the linear one right at the velocities v that were found:
//     gap = e - dt u_N(v),
// a step of Newton's method on the true gap. The step is solved again. Where gap is below 0 the law
// holds on u_N alone, and the overlap is taken out of the places (correct.c): no velocity comes of
// it.
//
// At the start the centrelines of a pair were at least the sum of the radii apart, less the deepest
// overlap of all contacts. Pairs that did not go as far as that together cannot have met, nor those
// whose swept boxes, without radius, are apart; the others are tested (collide/sweep.h).
//
// Few pairs come to that. Where the axes were d apart at the start, and no point of one went
// farther than w as seen from a point of the other, they are d - w apart at least, on the way and
// at the end. Two capsules with
//     d - w > r_a + r_b - p,    p the overlap that a step may bring,
// neither met nor were pressed: the bounds of kept.c give a d that is nearly exact where it counts.
// Most are passed over by what kept.c foresaw, which needs nothing but the list of pairs: there w
// is dt v_ij and what both went beside that, and p that of the thinnest rod. For a capsule and a
// solid of radius r_a and 0, d is what the axis is outside of the sphere around the solid.
#include "passing.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/parallel.h"
#include "collide/mesh.h"
#include "collide/segment.h"
#include "collide/sweep.h"
#include "collide/sweep_solids.h"
#include "collide/touch.h"
#include "math/least.h"
#include "math/vec3.h"
#include "near.h"

static const double most_turn = 1.0;     // rad
static const double least_cosine = 0.54; // of about as much
static const double most_pressed = 0.05; // of the thinner one: overlap that is left
static const double promised = 0.2;      // and that a step may bring
static const double through = 0.5;       // solids that overlap by more of it are on their way out
static const double round_up = 1.0 + 1e-6;

static const double never = 2.0; // part of a step

enum { GRAIN = 256 }; // of pieces, and of pairs

// What came of a range of pairs.
typedef struct Looked {
    int met;
    bool whirled; // a body, next to something
} Looked;

// What came of a range of pieces.
typedef struct Gone {
    bool escaped; // a piece left the box, or the budget, that it had for the step
    bool whirled; // one of a rod turned so far that its way was not a straight line at all
} Gone;

typedef struct Sweeping {
    const FilWorld *world;
    const FilWorldTry *step;
    const double *after;  // [point_count][3]
    const FilPose *poses; // [rigid_count] of the rigid bodies' shapes before the step
    double *way;          // [piece_count] how far a point of it went, at most
    double *reach;        // [piece_count] what a capsule used of its budget; of solids inf
    double *use;          // [piece_count] the part of it without which nothing can have happened
    double least_depth;   // m: that a step may press any rod
    double overlap;       // m: deepest at the start
    const int **found;    // [candidates] that met: first by range, then all of them
    Looked *looked;       // [ranges of candidates]
    Gone *gone;           // [ranges of pieces]
} Sweeping;

static void paths_of(const Sweeping *sweeping, const FilPiece *piece, double path[2][2][3]) {
    for (int end = 0; end < 2; end++) {
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        fil_copy3(sweeping->step->points + at, path[0][end]);
        fil_copy3(sweeping->after + at, path[1][end]);
    }
}

static bool boxes_meet(const double a[2][2][3], const double b[2][2][3]) {
    for (int k = 0; k < 3; k++) {
        double low[2], high[2];
        for (int side = 0; side < 2; side++) {
            const double(*p)[2][3] = side == 0 ? a : b;
            low[side] =
                fil_least(fil_least(p[0][0][k], p[0][1][k]), fil_least(p[1][0][k], p[1][1][k]));
            high[side] =
                fil_most(fil_most(p[0][0][k], p[0][1][k]), fil_most(p[1][0][k], p[1][1][k]));
        }
        if (low[0] > high[1] || low[1] > high[0]) {
            return false;
        }
    }
    return true;
}

static void poses_of(const Sweeping *sweeping, const FilPiece *piece, FilShape *shape,
                     FilPose pose[2]) {
    const FilWorld *world = sweeping->world;
    fil_world_solid(world, piece, shape, &pose[1]);
    if (piece->obstacle >= 0) {
        pose[0] = world->obstacles[piece->obstacle].pose;
        pose[1] = world->obstacles[piece->obstacle].next;
    } else {
        pose[0] = sweeping->poses[world->bodies[piece->body].index];
    }
}

// A pair with the capsule, if there is one, first.
typedef struct Pair {
    const FilPiece *a, *b;
    int index[2]; // of a and b
    int capsules; // how many there are
    double scale; // m: half of how thick the thinner one is
} Pair;

static Pair make_pair(const Sweeping *sweeping, const int pair[2]) {
    const FilWorld *world = sweeping->world;
    Pair out = {0};
    fil_world_order(world, sweeping->step, pair, out.index);
    out.a = &world->pieces[out.index[0]];
    out.b = &world->pieces[out.index[1]];
    out.capsules = fil_piece_is_capsule(world, out.a) + fil_piece_is_capsule(world, out.b);
    out.scale = fil_least(out.a->thickness, out.b->thickness);
    return out;
}

// The part of the step at which the axis of a capsule came within `near` of another one, or of a
// solid, or two solids overlapped by half of how thick the thinner one is; above 1: never.
static double meeting_time(const Sweeping *sweeping, const Pair *pair, double near) {
    double path[2][2][2][3];
    FilShape shape[2];
    FilPose pose[2][2];
    if (pair->capsules == 0) {
        const double way = sweeping->way[pair->index[0]] + sweeping->way[pair->index[1]];
        poses_of(sweeping, pair->a, &shape[0], pose[0]);
        poses_of(sweeping, pair->b, &shape[1], pose[1]);
        return isfinite(pair->b->thickness) && isfinite(way) // no plane has another side
                   ? fil_sweep_shapes(&shape[0], pose[0], &shape[1], pose[1], 1.1 * way,
                                      through * pair->scale)
                   : never;
    }
    paths_of(sweeping, pair->a, path[0]);
    if (pair->capsules == 2) {
        paths_of(sweeping, pair->b, path[1]);
        return near > 0.0 ||
                       boxes_meet((const double(*)[2][3])path[0], (const double(*)[2][3])path[1])
                   ? fil_sweep_segments((const double(*)[2][3])path[0],
                                        (const double(*)[2][3])path[1], near)
                   : never;
    }
    poses_of(sweeping, pair->b, &shape[1], pose[1]);
    return fil_sweep_segment_shape((const double(*)[2][3])path[0], &shape[1], pose[1], near);
}

static bool did_pass(const Sweeping *sweeping, const Pair *pair) {
    const double met = meeting_time(sweeping, pair, 0.0);
    // what was inside a solid already did not come in now
    return met <= 1.0 && (pair->capsules == 2 || met > 0.0);
}

// Where two pieces touch at a part of the step, below `reach`. Returns how many touches.
static int touch_at(const Sweeping *sweeping, const Pair *pair, double time, double reach,
                    FilTouch out[FIL_TOUCH_MAX]) {
    const FilPiece *pieces[2] = {pair->a, pair->b};
    double ends[2][2][3];
    FilShape shape[2];
    FilPose pose[2];
    for (int side = 0; side < 2; side++) {
        if (side < pair->capsules) {
            double path[2][2][3];
            paths_of(sweeping, pieces[side], path);
            for (int k = 0; k < 6; k++) {
                ends[side][k / 3][k % 3] =
                    (1.0 - time) * path[0][k / 3][k % 3] + time * path[1][k / 3][k % 3];
            }
        } else {
            FilPose both[2];
            poses_of(sweeping, pieces[side], &shape[side], both);
            fil_pose_between(both, time, &pose[side]);
        }
    }
    const double radius = pair->a->thickness;
    if (pair->capsules == 2) {
        return fil_touch_capsules(FIL_POINTS(ends[0]), radius, FIL_POINTS(ends[1]),
                                  pair->b->thickness, reach, out);
    }
    // from a little outside, where the features of a mesh are seen as they are
    const double outside = fil_most(reach, most_pressed * pair->scale);
    const int found =
        pair->capsules == 1
            ? fil_touch_capsule_shape(FIL_POINTS(ends[0]), radius, &shape[1], &pose[1], outside,
                                      out)
            : fil_touch_shapes(&shape[0], &pose[0], &shape[1], &pose[1], outside, out);
    int count = 0;
    for (int k = 0; k < found; k++) {
        out[count] = out[k];
        count += out[k].gap < reach;
    }
    return count;
}

// Whether a touch counts: a held end of a rod presses on no obstacle.
static bool counts(const Sweeping *sweeping, const Pair *pair, const FilTouch *touch) {
    return pair->b->obstacle < 0 || !fil_world_is_held(sweeping->world, pair->index[0], touch->t_a);
}

// How deep two pieces overlap at the start (0) or the end (1), 0 unless it is more than `least`.
static double find_depth(const Sweeping *sweeping, const Pair *pair, int when, double least) {
    FilTouch touches[FIL_TOUCH_MAX];
    double depth = 0.0;
    const int count = touch_at(sweeping, pair, when, -least, touches);
    for (int k = 0; k < count; k++) {
        if (counts(sweeping, pair, &touches[k])) {
            depth = fil_most(depth, -touches[k].gap);
        }
    }
    return depth;
}

// A plane has no other side, but the middle of a solid may sink in it.
static bool did_sink(const Sweeping *sweeping, const Pair *pair) {
    if (pair->capsules > 0 || isfinite(pair->b->thickness)) {
        return false;
    }
    FilShape shape;
    FilPose solid[2], plane[2];
    double height[2];
    poses_of(sweeping, pair->a, &shape, solid);
    poses_of(sweeping, pair->b, &shape, plane);
    for (int when = 0; when < 2; when++) {
        double above[3];
        fil_subtract3(solid[when].position, plane[when].position, above);
        height[when] = fil_dot3(above, plane[when].axis[2]);
    }
    return height[0] >= 0.0 && height[1] < 0.0;
}

// How far a straight capsule is from the curve that it stands for, about: that turns as much along
// it as from the capsules next to it. An arc of length l that turns by a is a l / 8 high.
static double find_bulge(const Sweeping *sweeping, int index) {
    const FilWorld *world = sweeping->world;
    const FilPiece *piece = &world->pieces[index];
    const FilBody *body = &world->bodies[piece->body];
    double path[2][2][3], own[3], turn = 0.0;
    paths_of(sweeping, piece, path);
    fil_subtract3(path[1][1], path[1][0], own);
    const double length = fil_norm3(own);
    for (int by = -1; by <= 1; by += 2) {
        const int next = index + by;
        if (next >= body->first_piece && next < body->first_piece + body->piece_count) {
            double other[3], across[3];
            paths_of(sweeping, &world->pieces[next], path);
            fil_subtract3(path[1][1], path[1][0], other);
            fil_cross3(own, other, across);
            turn = fil_most(turn, atan2(fil_norm3(across), fil_dot3(own, other)));
        }
    }
    return 0.125 * turn * length;
}

// How deep a step may press one piece into the other before it is mended: of a bent rod whose
// capsules are off by more than is promised, as much as that.
static double depth_left(const Sweeping *sweeping, const Pair *pair) {
    double bulge = 0.0;
    for (int k = 0; k < pair->capsules; k++) {
        bulge = fil_most(bulge, find_bulge(sweeping, pair->index[k]));
    }
    return bulge > promised * pair->scale ? bulge : most_pressed * pair->scale;
}

// How deep the step pressed one piece into the other: 0 unless it is more than is left or promised.
// What overlapped as deep before, or beyond what is promised, is not the step's doing.
static double pressed_depth(const Sweeping *sweeping, const Pair *pair) {
    const double depth = find_depth(sweeping, pair, 1, most_pressed * pair->scale);
    if (!(depth > promised * pair->scale) &&
        (depth == 0.0 || depth <= depth_left(sweeping, pair))) {
        return 0.0;
    }
    const double before = fil_least(0.999 * depth, promised * pair->scale);
    return depth > 0.0 && !(find_depth(sweeping, pair, 0, before) > 0.0) ? depth : 0.0;
}

// How far two capsules went relative to each other, at most.
static double way_between(const Sweeping *sweeping, const FilAxis *a, const FilAxis *b) {
    double way[2][2][3], most = 0.0;
    for (int k = 0; k < 4; k++) {
        ptrdiff_t at = 3 * (ptrdiff_t)((k < 2 ? a : b)->point + k % 2);
        fil_subtract3(sweeping->after + at, sweeping->step->points + at, way[k / 2][k % 2]);
    }
    for (int k = 0; k < 4; k++) {
        double between[3];
        fil_subtract3(way[0][k % 2], way[1][k / 2], between);
        const double square = fil_dot3(between, between);
        most = square > most ? square : most;
    }
    return sqrt(most);
}

// The radii of a pair, 0 of a solid, and how deep a step may press one into the other; of two
// solids what they must go for one to come out of the other.
typedef struct Radii {
    double sum, depth;
} Radii;

static Radii radii_of(const Sweeping *sweeping, const int pair[2]) {
    const double a = sweeping->step->axes[pair[0]].radius, b = sweeping->step->axes[pair[1]].radius;
    const FilPiece *pieces = sweeping->world->pieces;
    const double least = fil_least(pieces[pair[0]].thickness, pieces[pair[1]].thickness);
    return (Radii){a + b > 0.0 ? a + b : through * least, most_pressed * least};
}

// Whether two capsules were so far apart, for how they moved, that nothing can have happened.
static bool stayed_apart(const Sweeping *sweeping, int k, Radii radii) {
    const FilWorld *world = sweeping->world;
    const int *pair = sweeping->step->pairs[k];
    const FilAxis *a = &sweeping->step->axes[pair[0]], *b = &sweeping->step->axes[pair[1]];
    const double paths = world->near.path[pair[0]] + world->near.path[pair[1]];
    const FilBound bound = sweeping->step->bounds[k];
    const double apart = (double)bound.apart - world->near.gone * (double)bound.rate - paths;
    return a->body >= 0 && b->body >= 0 &&
           apart > round_up * (radii.sum - radii.depth + way_between(sweeping, a, b));
}

// The sphere around a solid at the start.
typedef struct Ball {
    int piece; // -1: none yet
    bool finite;
    double centre[3], radius;
} Ball;

static void find_ball(const Sweeping *sweeping, int piece, Ball *ball) {
    const FilPiece *solid = &sweeping->world->pieces[piece];
    FilShape shape;
    FilPose pose[2];
    poses_of(sweeping, solid, &shape, pose);
    *ball =
        (Ball){.piece = piece, .finite = shape.kind != FIL_SHAPE_PLANE, .radius = solid->extent};
    fil_copy3(pose[0].position, ball->centre);
}

// The same of a capsule and a solid. `ball` is that of the pair before.
static bool stayed_away(const Sweeping *sweeping, const int pair[2], Radii radii, Ball *ball) {
    const int side = sweeping->step->axes[pair[0]].body >= 0 ? 0 : 1;
    const int capsule = pair[side], solid = pair[1 - side];
    const FilAxis *axis = &sweeping->step->axes[capsule];
    if (axis->body < 0) {
        return false;
    }
    if (ball->piece != solid) {
        find_ball(sweeping, solid, ball);
    }
    const double ways = sweeping->way[capsule] + sweeping->way[solid];
    const double far = round_up * (ball->radius + radii.sum - radii.depth + ways);
    return ball->finite && fil_axis_distance2(axis, ball->centre) > far * far;
}

// Where the centre of mass of a solid is before and after the step, and how far it reaches from it.
static double find_course(const Sweeping *sweeping, const FilPiece *piece, double course[2][3]) {
    FilShape shape;
    FilPose pose[2];
    double own[3];
    const double radius = fil_near_ball(sweeping->world, piece, course[1]);
    poses_of(sweeping, piece, &shape, pose);
    if (piece->obstacle >= 0) {
        fil_copy3(pose[0].position, course[0]);
        fil_copy3(pose[1].position, course[1]);
        return radius;
    }
    fil_pose_to_own(&pose[1], course[1], own);
    fil_pose_to_world(&pose[0], own, course[0]);
    return radius;
}

// Whether two solids stayed apart, however they turned: the balls around them did.
static bool stayed_clear(const Sweeping *sweeping, const int pair[2]) {
    const FilPiece *a = &sweeping->world->pieces[pair[0]], *b = &sweeping->world->pieces[pair[1]];
    double course[2][2][3], apart[2][3], way[3];
    if (!isfinite(a->thickness)) { // a plane is b
        const FilPiece *swap = a;
        a = b;
        b = swap;
    }
    const double reach = find_course(sweeping, a, course[0]);
    if (!isfinite(b->thickness)) {
        const FilObstacle *plane = &sweeping->world->obstacles[b->obstacle];
        bool clear = true;
        for (int when = 0; when < 2; when++) {
            const FilPose *pose = when == 0 ? &plane->pose : &plane->next;
            fil_subtract3(course[0][when], pose->position, apart[when]);
            clear = clear && fil_dot3(apart[when], pose->axis[2]) > round_up * reach;
        }
        return clear;
    }
    const double both = reach + find_course(sweeping, b, course[1]);
    for (int when = 0; when < 2; when++) {
        fil_subtract3(course[0][when], course[1][when], apart[when]);
    }
    fil_subtract3(apart[1], apart[0], way);
    return fil_norm3(apart[0]) > round_up * (both + fil_norm3(way));
}

// Whether nothing can have happened between two pieces: pair k of step->pairs, or of others (below
// 0). `ball` is that of the pair before.
static bool is_ruled_out(const Sweeping *sweeping, int k, const int pair[2], Radii radii,
                         Ball *ball) {
    const FilAxis *axes = sweeping->step->axes;
    const int capsules = (axes[pair[0]].body >= 0) + (axes[pair[1]].body >= 0);
    const double closer = sweeping->way[pair[0]] + sweeping->way[pair[1]] + sweeping->overlap;
    if (capsules == 1   ? stayed_away(sweeping, pair, radii, ball)
        : capsules == 2 ? stayed_apart(sweeping, k, radii)
                        : !(closer > radii.depth) || stayed_clear(sweeping, pair)) {
        return true;
    }
    return k >= 0 && !fil_world_is_candidate(sweeping->world, sweeping->step, pair);
}

// Whether two pieces met, or one was pressed into the other.
static bool did_meet(const Sweeping *sweeping, const int pair[2], Radii radii) {
    const double closer = sweeping->way[pair[0]] + sweeping->way[pair[1]] + sweeping->overlap;
    if (!(closer > radii.depth)) {
        return false;
    }
    const Pair ordered = make_pair(sweeping, pair);
    return (closer >= radii.sum && did_pass(sweeping, &ordered)) || did_sink(sweeping, &ordered) ||
           pressed_depth(sweeping, &ordered) > 0.0;
}

// Whether one of a pair is a body that whirled.
static bool is_whirled(const Sweeping *sweeping, const int pair[2]) {
    bool whirled = false;
    for (int side = 0; side < 2; side++) {
        whirled = whirled || (sweeping->step->axes[pair[side]].body < 0 &&
                              sweeping->world->pieces[pair[side]].obstacle < 0 &&
                              sweeping->way[pair[side]] == INFINITY);
    }
    return whirled;
}

// The candidates of a range that the bounds do not rule out. Returns how many there are.
static int list_left(const Sweeping *sweeping, int first, int last, int left[GRAIN]) {
    const FilWorldTry *step = sweeping->step;
    const double *use = sweeping->use, until = sweeping->world->near.gone + step->dt;
    int count = 0, c = first;
    for (; c < last && c < step->other_count; c++) {
        left[count++] = c;
    }
    for (; c < last; c++) {
        const int k = c - step->other_count;
        const FilBound bound = step->bounds[k];
        const double limit = use[step->pairs[k][0]] + use[step->pairs[k][1]];
        left[count] = c;
        count += !((double)bound.apart - until * (double)bound.rate > limit);
    }
    return count;
}

static void sweep_range(void *context, int first, int last) {
    const Sweeping *sweeping = context;
    const FilWorldTry *step = sweeping->step;
    int left[GRAIN] = {0};
    const int count = list_left(sweeping, first, last, left);
    Ball ball = {.piece = -1};
    Looked looked = {0};
    for (int m = 0; m < count; m++) {
        const int k = left[m] - step->other_count; // of step->pairs
        const int *pair = k < 0 ? step->others[left[m]] : step->pairs[k];
        const Radii radii = radii_of(sweeping, pair);
        if (is_ruled_out(sweeping, k, pair, radii, &ball)) {
            continue;
        }
        if (did_meet(sweeping, pair, radii)) {
            sweeping->found[first + looked.met++] = pair;
        }
        looked.whirled = looked.whirled || is_whirled(sweeping, pair);
    }
    sweeping->looked[first / GRAIN] = looked;
}

// Whether a body turned by more than about a radian, as its spin tells: where it is after a whole
// turn does not. What is round about its centre of mass, or about an axis through it, may.
static bool did_body_whirl(const Sweeping *sweeping, const FilPiece *piece) {
    if (piece->obstacle >= 0) {
        return false;
    }
    FilShape shape;
    FilPose pose;
    FilRate rate;
    double centre[3], about[3];
    fil_world_solid(sweeping->world, piece, &shape, &pose);
    fil_rigid_rate(sweeping->world->bodies[piece->body].self, &rate);
    fil_copy3(rate.spin, about);
    if (fil_near_ball(sweeping->world, piece, centre) < round_up * piece->extent) {
        if (shape.kind == FIL_SHAPE_SPHERE) {
            return false;
        }
        if (shape.kind == FIL_SHAPE_CAPSULE || shape.kind == FIL_SHAPE_CYLINDER) {
            fil_add3(-fil_dot3(rate.spin, pose.axis[0]), pose.axis[0], about);
        }
    }
    return sweeping->step->dt * fil_norm3(about) > most_turn;
}

// How far a point of a solid went, at most: the way of its position, and what its axes turned by.
static double solid_way(const Sweeping *sweeping, const FilPiece *piece) {
    FilShape shape;
    FilPose pose[2];
    double between[3];
    if (did_body_whirl(sweeping, piece)) {
        return INFINITY;
    }
    poses_of(sweeping, piece, &shape, pose);
    fil_subtract3(pose[1].position, pose[0].position, between);
    double way = fil_norm3(between);
    for (int k = 0; k < 3 && shape.kind != FIL_SHAPE_SPHERE; k++) { // one that turns stays
        fil_subtract3(pose[1].axis[k], pose[0].axis[k], between);
        way += (shape.kind == FIL_SHAPE_PLANE ? 1.0 : piece->extent) * fil_norm3(between);
    }
    return shape.kind == FIL_SHAPE_PLANE && way > 0.0 ? INFINITY : way; // it has no extent
}

// Whether a piece of a rod left the box that the broad phase had for it.
static bool did_escape(const Sweeping *sweeping, int i) {
    const FilPiece *piece = &sweeping->world->pieces[i];
    const FilBox *box = &sweeping->step->boxes[i];
    bool inside = true;
    for (int k = 0; k < 6; k++) {
        double x = sweeping->after[3 * (ptrdiff_t)piece->point[k / 3] + k % 3];
        inside = inside && x >= box->low[k % 3] && x <= box->high[k % 3];
    }
    return !inside;
}

// The same of a body, whose velocity is not what was foreseen when something hits it.
static bool did_body_escape(const Sweeping *sweeping, int i) {
    const FilPiece *piece = &sweeping->world->pieces[i];
    const FilBox *box = &sweeping->step->boxes[i];
    if (piece->obstacle >= 0 || box->low[0] > box->high[0]) { // ghosts have no box
        return false;
    }
    double centre[3];
    const double extent = fil_near_ball(sweeping->world, piece, centre);
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        inside = inside && centre[k] - extent >= box->low[k] && centre[k] + extent <= box->high[k];
    }
    return !inside;
}

// Whether a piece of a rod turned so far that its way was not a straight line at all.
static bool did_whirl(const Sweeping *sweeping, const FilPiece *piece) {
    const double *before = sweeping->step->points, *after = sweeping->after;
    double from[3], to[3];
    ptrdiff_t a = 3 * (ptrdiff_t)piece->point[0], b = 3 * (ptrdiff_t)piece->point[1];
    fil_subtract3(before + b, before + a, from);
    fil_subtract3(after + b, after + a, to);
    return fil_dot3(from, to) < least_cosine * fil_norm3(from) * fil_norm3(to);
}

static void way_range(void *context, int first, int last) {
    const Sweeping *sweeping = context;
    const FilWorld *world = sweeping->world;
    double *way = sweeping->way;
    Gone gone = {0};
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        way[i] = 0.0;
        sweeping->reach[i] = sweeping->use[i] = INFINITY;
        if (!fil_piece_is_capsule(world, piece)) {
            way[i] = solid_way(sweeping, piece);
            gone.escaped = gone.escaped || did_body_escape(sweeping, i);
            continue;
        }
        const FilBody *body = &world->bodies[piece->body];
        double beside = 0.0; // what kept.c foresaw
        for (int end = 0; end < 2; end++) {
            double between[3];
            ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
            fil_subtract3(sweeping->after + at, sweeping->step->points + at, between);
            way[i] = fil_most(way[i], fil_dot3(between, between));
            fil_add3(-sweeping->step->dt, world->near.rates + at, between);
            beside = fil_most(beside, fil_dot3(between, between));
        }
        way[i] = sqrt(way[i]);
        const double went = world->near.path[i] + body->radius + sqrt(beside);
        sweeping->reach[i] = round_up * (went + body->margin);
        sweeping->use[i] = round_up * (went - 0.5 * sweeping->least_depth);
        bool ghost = sweeping->step->axes[i].body < 0;
        gone.escaped =
            gone.escaped ||
            (!ghost && (did_escape(sweeping, i) || !(sweeping->reach[i] <= world->near.budget[i])));
        gone.whirled = gone.whirled || did_whirl(sweeping, piece);
    }
    sweeping->gone[first / GRAIN] = gone;
}

static double least_depth(const FilWorld *world) {
    double least = INFINITY;
    for (int i = 0; i < world->rod_count; i++) {
        least = fil_least(least, world->bodies[world->rods[i]].radius);
    }
    return most_pressed * least;
}

static double deepest_overlap(const FilWorldTry *step) {
    double deepest = 0.0;
    for (int i = 0; i < step->contact_count; i++) {
        deepest = fil_most(deepest, -step->contacts[i].start_gap);
    }
    return deepest;
}

// The broad phase again, with boxes that hold where the pieces really went.
static FilStatus find_pairs_again(FilWorld *world, FilWorldTry *step, const Sweeping *sweeping,
                                  FilError *error) {
    const double *after = sweeping->after;
    for (int i = 0; i < world->piece_count; i++) {
        const FilPiece *piece = &world->pieces[i];
        for (int k = 0; step->axes[i].body >= 0 && k < 6; k++) { // ghosts stay nowhere
            double x = after[3 * (ptrdiff_t)piece->point[k / 3] + k % 3];
            step->boxes[i].low[k % 3] = fil_least(step->boxes[i].low[k % 3], x);
            step->boxes[i].high[k % 3] = fil_most(step->boxes[i].high[k % 3], x);
        }
        if (!fil_piece_is_capsule(world, piece) && did_body_escape(sweeping, i)) {
            double centre[3];
            const double extent = fil_near_ball(world, piece, centre);
            fil_box_around(&step->boxes[i], centre, extent);
        }
    }
    return fil_world_find_more_pairs(world, step, sweeping->reach, error);
}

// Memory for the pieces; for the pairs.
static FilStatus reserve_pieces(FilWorld *world, Sweeping *sweeping, FilError *error) {
    const size_t n = (size_t)world->piece_count;
    sweeping->way = FIL_NEW(&world->scratch, double, n + 1);
    sweeping->reach = FIL_NEW(&world->scratch, double, n + 1);
    sweeping->use = FIL_NEW(&world->scratch, double, n + 1);
    sweeping->gone = FIL_NEW_ZEROED(&world->scratch, Gone, n / GRAIN + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d pieces",
                        world->piece_count);
    }
    return FIL_OK;
}

static FilStatus reserve_pairs(FilWorld *world, Sweeping *sweeping, FilError *error) {
    const size_t n = (size_t)sweeping->step->pair_count + (size_t)sweeping->step->other_count;
    sweeping->found = FIL_NEW(&world->scratch, const int *, n + 1);
    sweeping->looked = FIL_NEW_ZEROED(&world->scratch, Looked, n / GRAIN + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %zu pairs of pieces", n);
    }
    return FIL_OK;
}

// Whether a pair has contacts that hold its velocity.
static bool is_held_apart(const FilWorldTry *step, const Pair *pair) {
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        if (contact->kind == FIL_BLOCK_COULOMB && contact->memory.piece[0] == pair->index[0] &&
            contact->memory.piece[1] == pair->index[1]) {
            return true;
        }
    }
    return false;
}

// What a pair that was found did.
static FilMeeting look_closer(const Sweeping *sweeping, const int *pair, FilPassed *passed) {
    const Pair ordered = make_pair(sweeping, pair);
    const Radii radii = radii_of(sweeping, pair);
    const double closer = sweeping->way[pair[0]] + sweeping->way[pair[1]] + sweeping->overlap;
    const bool sank = did_sink(sweeping, &ordered);
    const bool went = sank || (closer >= radii.sum && did_pass(sweeping, &ordered));
    FilMeeting meeting = {.pair = pair, .time = 1.0, .went = went};
    meeting.held = is_held_apart(sweeping->step, &ordered);
    if (!went) {
        const double depth = pressed_depth(sweeping, &ordered);
        meeting.left = depth <= depth_left(sweeping, &ordered);
        passed->deep += !meeting.left;
        meeting.shallow = depth <= promised * ordered.scale;
        passed->pressed += !meeting.shallow;
        return meeting;
    }
    passed->missed++;
    if (sank) {
        return meeting;
    }
    // before the axes meet there is a normal
    static const double parts[] = {0.5, 0.1, 0.02};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        meeting.time = meeting_time(sweeping, &ordered, parts[k] * radii.sum);
        if (meeting.time > 0.0 && meeting.time <= 1.0) {
            return meeting;
        }
    }
    meeting.time = 0.0;
    return meeting;
}

static FilStatus list_meetings(FilWorld *world, const Sweeping *sweeping, int pairs,
                               FilPassed *passed, FilError *error) {
    for (int range = 0; range * GRAIN < pairs; range++) {
        passed->count += sweeping->looked[range].met;
        passed->whirled = passed->whirled || sweeping->looked[range].whirled;
    }
    passed->list = FIL_NEW(&world->scratch, FilMeeting, (size_t)passed->count + 1);
    if (passed->list == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d pairs of pieces",
                        passed->count);
    }
    int at = 0;
    for (int range = 0; range * GRAIN < pairs; range++) {
        for (int k = 0; k < sweeping->looked[range].met; k++) {
            passed->list[at++] =
                look_closer(sweeping, sweeping->found[(ptrdiff_t)range * GRAIN + k], passed);
        }
    }
    return FIL_OK;
}

// Where the point of a piece that is at `p` at a part of the step is at its start and its end: of a
// capsule the one that is `p` less the axis at t beside it.
static void follow_point(const Sweeping *sweeping, const FilPiece *piece, double t, double time,
                         const double p[3], double at[2][3]) {
    if (fil_piece_is_capsule(sweeping->world, piece)) {
        double path[2][2][3], axis[3];
        paths_of(sweeping, piece, path);
        for (int when = 0; when < 2; when++) {
            fil_segment_point(FIL_POINTS(path[when]), t, at[when]);
        }
        for (int k = 0; k < 3; k++) {
            axis[k] = (1.0 - time) * at[0][k] + time * at[1][k];
            at[0][k] += p[k] - axis[k];
            at[1][k] += p[k] - axis[k];
        }
        return;
    }
    FilShape shape;
    FilPose pose[2], then;
    double own[3];
    poses_of(sweeping, piece, &shape, pose);
    fil_pose_between(pose, time, &then);
    fil_pose_to_own(&then, p, own);
    fil_pose_to_world(&pose[0], own, at[0]);
    fil_pose_to_world(&pose[1], own, at[1]);
}

FilStatus fil_world_add_met(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                            const FilMeeting *meeting, bool last, int *added, FilError *error) {
    const Sweeping sweeping = {
        .world = world, .step = step, .after = world->samples.points, .poses = poses};
    const Pair pair = make_pair(&sweeping, meeting->pair);
    FilTouch touches[FIL_TOUCH_MAX];
    *added = 0;
    if (meeting->shallow || (meeting->held && !(meeting->went && last))) {
        return FIL_OK;
    }
    int count = touch_at(&sweeping, &pair, meeting->time, 0.0, touches);
    count = count > 0 ? count : touch_at(&sweeping, &pair, meeting->time, DBL_MAX, touches);
    for (int k = 0; k < count; k++) {
        FilTouch touch = touches[k];
        FilWorkContact contact;
        double on_a[2][3], on_b[2][3], between[3];
        if (!counts(&sweeping, &pair, &touch)) {
            continue;
        }
        follow_point(&sweeping, pair.a, touch.t_a, meeting->time, touch.on_a, on_a);
        follow_point(&sweeping, pair.b, touch.t_b, meeting->time, touch.on_b, on_b);
        fil_copy3(on_a[0], touch.on_a);
        fil_copy3(on_b[0], touch.on_b);
        fil_subtract3(on_a[0], on_b[0], between);
        touch.gap = fil_most(0.0, fil_dot3(touch.normal, between)); // they did not overlap there
        fil_world_fill_contact(world, pair.index, &touch, 0.0, &contact);
        fil_subtract3(on_a[1], on_b[1], between);
        contact.end_gap = fil_dot3(touch.normal, between);
        contact.sought = contact.mended = true;
        FIL_TRY(fil_world_add_contact(world, step, &contact, error));
        ++*added;
    }
    return FIL_OK;
}

int fil_world_touch_after(const FilWorld *world, const FilWorldTry *step, const FilPose *poses,
                          const int pair[2], double reach, int ordered[2],
                          FilTouch out[FIL_TOUCH_MAX]) {
    const Sweeping sweeping = {
        .world = world, .step = step, .after = world->samples.points, .poses = poses};
    const Pair both = make_pair(&sweeping, pair);
    const int found = touch_at(&sweeping, &both, 1.0, reach, out);
    int count = 0;
    ordered[0] = both.index[0];
    ordered[1] = both.index[1];
    for (int k = 0; k < found; k++) {
        out[count] = out[k];
        count += counts(&sweeping, &both, &out[k]);
    }
    return count;
}

FilStatus fil_world_find_passed(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                                FilPassed *passed, FilError *error) {
    FIL_TRY(fil_world_keep_samples(world, error));
    const double *after = world->samples.points;
    Sweeping sweeping = {.world = world,
                         .step = step,
                         .after = after,
                         .poses = poses,
                         .least_depth = least_depth(world),
                         .overlap = deepest_overlap(step)};
    FIL_TRY(reserve_pieces(world, &sweeping, error));
    fil_parallel_ranges(world->piece_count, GRAIN, world->threads, way_range, &sweeping);
    bool escaped = false;
    *passed = (FilPassed){0};
    for (int range = 0; range * GRAIN < world->piece_count; range++) {
        escaped = escaped || sweeping.gone[range].escaped;
        passed->whirled = passed->whirled || sweeping.gone[range].whirled;
    }
    if (escaped) {
        FIL_TRY(find_pairs_again(world, step, &sweeping, error));
    }
    FIL_TRY(reserve_pairs(world, &sweeping, error));
    const int pairs = step->other_count + step->pair_count;
    fil_parallel_ranges(pairs, GRAIN, world->threads, sweep_range, &sweeping);
    return list_meetings(world, &sweeping, pairs, passed, error);
}
