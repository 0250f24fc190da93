// passing.c - after a step: did a centreline pass through another one, or into a solid?
//
// Between the start and the end of the step every point of a piece is taken to move on a straight
// line. Candidates are those of the broad phase; where a piece of a rod, or a body that was hit,
// went farther than its box foresaw, the broad phase is done again with the boxes of what really
// happened. Nobody knows where a body was that turned by more than a radian: next to a rod that is
// violent.
//
// A step must not press two rods into each other, either, by more than a fifth of a radius.
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

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "collide/segment.h"
#include "collide/sweep.h"
#include "collide/touch.h"
#include "math/least.h"
#include "math/vec3.h"
#include "near.h"

static const double most_turn = 1.0;     // rad
static const double least_cosine = 0.54; // of about as much
static const double most_pressed = 0.2;  // of the thinner radius: overlap that a step may bring
static const double round_up = 1.0 + 1e-6;

enum { GRAIN = 256 }; // of pieces, and of pairs

// What came of a range of pairs.
typedef struct Looked {
    int passed;
    bool pressed;
    bool whirled; // a body, next to a rod
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
    const int **found;    // [candidates] that passed: first by range, then all of them
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

// Whether the centreline of a capsule met another one, or a solid. Solids among themselves are
// thick: their own contacts hold them.
static bool did_pass(const Sweeping *sweeping, const int pair[2]) {
    const FilWorld *world = sweeping->world;
    const FilPiece *a = &world->pieces[pair[0]], *b = &world->pieces[pair[1]];
    if (!fil_piece_is_capsule(world, a)) {
        const FilPiece *swap = a;
        a = b;
        b = swap;
    }
    if (!fil_piece_is_capsule(world, a)) {
        return false;
    }
    double path[2][2][2][3];
    paths_of(sweeping, a, path[0]);
    if (fil_piece_is_capsule(world, b)) {
        paths_of(sweeping, b, path[1]);
        return boxes_meet((const double(*)[2][3])path[0], (const double(*)[2][3])path[1]) &&
               fil_sweep_segments((const double(*)[2][3])path[0], (const double(*)[2][3])path[1],
                                  0.0) <= 1.0;
    }
    FilShape shape;
    FilPose pose[2];
    poses_of(sweeping, b, &shape, pose);
    double met = fil_sweep_segment_shape((const double(*)[2][3])path[0], &shape, pose, 0.0);
    return met > 0.0 && met <= 1.0; // what was inside already did not come in now
}

// Whether a rod overlaps another one or a solid by more than it may, at the start (0) or the end
// (1).
static bool is_pressed(const Sweeping *sweeping, const FilPiece *a, const FilPiece *b, int when) {
    const FilWorld *world = sweeping->world;
    const double radius = world->bodies[a->body].radius;
    double path[2][2][2][3];
    paths_of(sweeping, a, path[0]);
    FilTouch touches[FIL_TOUCH_MAX];
    if (fil_piece_is_capsule(world, b)) {
        const double other = world->bodies[b->body].radius;
        paths_of(sweeping, b, path[1]);
        return fil_touch_capsules(FIL_POINTS(path[0][when]), radius, FIL_POINTS(path[1][when]),
                                  other, -most_pressed * fil_least(radius, other), touches) > 0;
    }
    FilShape shape;
    FilPose pose[2];
    poses_of(sweeping, b, &shape, pose);
    return fil_touch_capsule_shape(FIL_POINTS(path[0][when]), radius, &shape, &pose[when],
                                   -most_pressed * radius, touches) > 0;
}

// Whether the step pressed a rod into another one, or into a solid: contacts hold along straight
// ways, and what turns does not go straight. What overlapped before is not the step's doing.
// Overlaps are taken out again: no more than five halvings are spent on them.
static bool did_press(const Sweeping *sweeping, const int pair[2]) {
    const FilWorld *world = sweeping->world;
    if (sweeping->step->dt < 0.03 * world->def.step) {
        return false;
    }
    const FilPiece *a = &world->pieces[pair[0]], *b = &world->pieces[pair[1]];
    if (!fil_piece_is_capsule(world, a)) {
        const FilPiece *swap = a;
        a = b;
        b = swap;
    }
    return fil_piece_is_capsule(world, a) && is_pressed(sweeping, a, b, 1) &&
           !is_pressed(sweeping, a, b, 0);
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

// The radii of a pair, 0 of a solid, and how deep a step may press one into the other.
typedef struct Radii {
    double sum, depth;
} Radii;

static Radii radii_of(const Sweeping *sweeping, const int pair[2]) {
    const double a = sweeping->step->axes[pair[0]].radius, b = sweeping->step->axes[pair[1]].radius;
    const double sum = a + b, least = a < b ? a : b;
    return (Radii){sum, most_pressed * (least > 0.0 ? least : sum)};
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

static void sweep_pair(const Sweeping *sweeping, const int pair[2], Radii radii, bool *passed,
                       bool *pressed) {
    const double closer = sweeping->way[pair[0]] + sweeping->way[pair[1]] + sweeping->overlap;
    *passed = closer >= radii.sum && did_pass(sweeping, pair);
    *pressed = closer > radii.depth && did_press(sweeping, pair);
}

// Whether one of a pair is a rod and the other a body that whirled.
static bool is_whirled(const Sweeping *sweeping, const int pair[2]) {
    const int side = sweeping->step->axes[pair[0]].body >= 0 ? 0 : 1;
    return sweeping->step->axes[pair[side]].body >= 0 &&
           sweeping->world->pieces[pair[1 - side]].obstacle < 0 &&
           sweeping->way[pair[1 - side]] == INFINITY;
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
        if (k < 0 ? stayed_away(sweeping, pair, radii, &ball)
                  : stayed_apart(sweeping, k, radii) ||
                        !fil_world_is_candidate(sweeping->world, step, pair)) {
            continue;
        }
        bool passed, pressed;
        sweep_pair(sweeping, pair, radii, &passed, &pressed);
        if (passed) {
            sweeping->found[first + looked.passed++] = pair;
        }
        looked.pressed = looked.pressed || pressed;
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
        deepest = fil_most(deepest, -step->contacts[i].gap);
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
    passed->list = sweeping.found;
    for (int range = 0; range * GRAIN < pairs; range++) {
        const Looked looked = sweeping.looked[range];
        memmove(passed->list + passed->count, sweeping.found + (ptrdiff_t)range * GRAIN,
                sizeof(const int *) * (size_t)looked.passed);
        passed->count += looked.passed;
        passed->pressed = passed->pressed || looked.pressed;
        passed->whirled = passed->whirled || looked.whirled;
    }
    return FIL_OK;
}
