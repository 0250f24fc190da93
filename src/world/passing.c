// passing.c - after a step: did a centreline pass through another one, or into a solid?
//
// Between the start and the end of the step every point of a piece is taken to move on a straight
// line. Candidates are those of the broad phase; where a piece went farther than its box foresaw,
// the broad phase is done again with the boxes of what really happened.
//
// A step must not press two rods into each other, either, by more than a fifth of a radius.
//
// At the start the centrelines of a pair were at least the sum of the radii apart, less the deepest
// overlap of all contacts. Pairs that did not go as far as that together cannot have met, nor those
// whose swept boxes, without radius, are apart; the others are tested (collide/sweep.h).
#include "passing.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "collide/segment.h"
#include "collide/sweep.h"
#include "collide/touch.h"
#include "math/vec3.h"

static const double least_cosine = 0.54; // about 1 rad
static const double most_pressed = 0.2;  // of the thinner radius: overlap that a step may bring

typedef struct Sweeping {
    const FilWorld *world;
    const FilWorldTry *step;
    const double *after;  // [point_count][3]
    const FilPose *poses; // [rigid_count] of the rigid bodies' shapes before the step
    double *way;          // [piece_count] how far a point of it went, at most
    double overlap;       // m: deepest at the start
    bool *passed;         // [pair_count]
    bool *pressed;        // [pair_count]
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
            low[side] = fmin(fmin(p[0][0][k], p[0][1][k]), fmin(p[1][0][k], p[1][1][k]));
            high[side] = fmax(fmax(p[0][0][k], p[0][1][k]), fmax(p[1][0][k], p[1][1][k]));
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

static double radius_of(const FilWorld *world, const FilPiece *piece) {
    return fil_piece_is_capsule(world, piece) ? world->bodies[piece->body].radius : 0.0;
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
                                  other, -most_pressed * fmin(radius, other), touches) > 0;
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

static void sweep_range(void *context, int first, int last) {
    const Sweeping *sweeping = context;
    const FilWorld *world = sweeping->world;
    for (int k = first; k < last; k++) {
        const int *pair = sweeping->step->pairs[k];
        const FilPiece *a = &world->pieces[pair[0]], *b = &world->pieces[pair[1]];
        double radii[2] = {radius_of(world, a), radius_of(world, b)};
        bool rods = radii[0] > 0.0 && radii[1] > 0.0;
        double apart = radii[0] + radii[1];
        double pressed = most_pressed * (rods ? fmin(radii[0], radii[1]) : apart);
        double closer = sweeping->way[pair[0]] + sweeping->way[pair[1]] + sweeping->overlap;
        sweeping->passed[k] = closer >= apart && did_pass(sweeping, pair);
        sweeping->pressed[k] = closer > pressed && did_press(sweeping, pair);
    }
}

// How far a point of a solid went, at most: the way of its position, and what its axes turned by.
static double solid_way(const Sweeping *sweeping, const FilPiece *piece) {
    FilShape shape;
    FilPose pose[2];
    double between[3];
    poses_of(sweeping, piece, &shape, pose);
    fil_subtract3(pose[1].position, pose[0].position, between);
    double way = fil_norm3(between);
    for (int k = 0; k < 3; k++) {
        fil_subtract3(pose[1].axis[k], pose[0].axis[k], between);
        way += (shape.kind == FIL_SHAPE_PLANE ? 1.0 : piece->extent) * fil_norm3(between);
    }
    return shape.kind == FIL_SHAPE_PLANE && way > 0.0 ? INFINITY : way; // it has no extent
}

static void way_range(void *context, int first, int last) {
    const Sweeping *sweeping = context;
    double *way = sweeping->way;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &sweeping->world->pieces[i];
        way[i] = 0.0;
        if (!fil_piece_is_capsule(sweeping->world, piece)) {
            way[i] = solid_way(sweeping, piece);
            continue;
        }
        for (int end = 0; end < 2; end++) {
            double between[3];
            ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
            fil_subtract3(sweeping->after + at, sweeping->step->points + at, between);
            way[i] = fmax(way[i], fil_norm3(between));
        }
    }
}

static double deepest_overlap(const FilWorldTry *step) {
    double deepest = 0.0;
    for (int i = 0; i < step->contact_count; i++) {
        deepest = fmax(deepest, -step->contacts[i].gap);
    }
    return deepest;
}

// Whether a piece of a rod left the box that the broad phase had for it.
static bool did_escape(const FilWorld *world, const FilWorldTry *step, const double *after) {
    for (int i = 0; i < world->piece_count; i++) {
        const FilPiece *piece = &world->pieces[i];
        if (!fil_piece_is_capsule(world, piece)) {
            continue;
        }
        for (int k = 0; k < 6; k++) {
            double x = after[3 * (ptrdiff_t)piece->point[k / 3] + k % 3];
            if (!(x >= step->boxes[i].low[k % 3] && x <= step->boxes[i].high[k % 3])) {
                return true;
            }
        }
    }
    return false;
}

// Whether a piece of a rod turned so far that its way was not a straight line at all.
static bool did_whirl(const FilWorld *world, const FilWorldTry *step, const double *after) {
    for (int i = 0; i < world->piece_count; i++) {
        const FilPiece *piece = &world->pieces[i];
        if (!fil_piece_is_capsule(world, piece)) {
            continue;
        }
        double from[3], to[3];
        ptrdiff_t a = 3 * (ptrdiff_t)piece->point[0], b = 3 * (ptrdiff_t)piece->point[1];
        fil_subtract3(step->points + b, step->points + a, from);
        fil_subtract3(after + b, after + a, to);
        if (fil_dot3(from, to) < least_cosine * fil_norm3(from) * fil_norm3(to)) {
            return true;
        }
    }
    return false;
}

// The broad phase again, with boxes that hold where the pieces really went.
static FilStatus find_pairs_again(FilWorld *world, FilWorldTry *step, const double *after,
                                  FilError *error) {
    for (int i = 0; i < world->piece_count; i++) {
        const FilPiece *piece = &world->pieces[i];
        for (int k = 0; fil_piece_is_capsule(world, piece) && k < 6; k++) {
            double x = after[3 * (ptrdiff_t)piece->point[k / 3] + k % 3];
            step->boxes[i].low[k % 3] = fmin(step->boxes[i].low[k % 3], x);
            step->boxes[i].high[k % 3] = fmax(step->boxes[i].high[k % 3], x);
        }
    }
    return fil_world_find_pairs(world, step, error);
}

FilStatus fil_world_find_passed(FilWorld *world, FilWorldTry *step, const FilPose *poses,
                                FilPassed *passed_pairs, FilError *error) {
    FIL_TRY(fil_world_keep_samples(world, error));
    const double *after = world->samples.points;
    if (did_escape(world, step, after)) {
        FIL_TRY(find_pairs_again(world, step, after, error));
    }
    bool *passed = FIL_NEW(&world->scratch, bool, (size_t)step->pair_count + 1);
    bool *pressed = FIL_NEW(&world->scratch, bool, (size_t)step->pair_count + 1);
    double *way = FIL_NEW(&world->scratch, double, (size_t)world->piece_count + 1);
    int *found = FIL_NEW(&world->scratch, int, (size_t)step->pair_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)step->pair_count);
    }
    Sweeping sweeping = {.world = world,
                         .step = step,
                         .after = after,
                         .poses = poses,
                         .way = way,
                         .overlap = deepest_overlap(step),
                         .passed = passed,
                         .pressed = pressed};
    fil_parallel_ranges(world->piece_count, 256, world->threads, way_range, &sweeping);
    fil_parallel_ranges((int)step->pair_count, 64, world->threads, sweep_range, &sweeping);
    *passed_pairs = (FilPassed){.list = found, .whirled = did_whirl(world, step, after)};
    for (int k = 0; k < (int)step->pair_count; k++) {
        passed_pairs->pressed = passed_pairs->pressed || pressed[k];
        if (passed[k]) {
            found[passed_pairs->count++] = k;
        }
    }
    return FIL_OK;
}
