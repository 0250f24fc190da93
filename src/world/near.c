// near.c - which pieces may come near each other in a step: boxes, and candidate pairs that are
// kept from step to step.
//
// The box of a piece covers it now and where its velocity would take it, widened by its radius and
// margin. Candidates are the pairs whose boxes meet. Planes have no box: they are candidates with
// every piece. Where there are only a few solids, as there are beside hair, each is tested against
// the boxes of all pieces; more of them go to the grid, with all else.
//
// Kept pairs. Pairs are found for a span of time. Let v be the velocities when they were found, and
// path_i how far capsule i has gone since beside v, summed over the steps. A capsule acts as far as
// R_i (radius and margin) around where it is and will be at the end of the step, so that it uses
//     use_i = path_i + R_i + dt |v_now - v|
// of a budget. The grid is asked with the boxes of all that a capsule would sweep with v in the
// span, widened by its budget; and as capsules i and j come closer no faster than v_ij, the
// greatest difference of their v, than by what goes beside v, those that are farther apart than
//     budget_i + budget_j + span v_ij
// are left out. No candidate is missing before the span is over or a budget is used up. What else
// is among them is told apart by the boxes of the step (fil_world_is_candidate): the contacts of a
// step do not depend on when the pairs were found, and a run that goes on from a checkpoint has the
// same bits. A few capsules are thrown about where most are not: those that have used up their
// budgets get new ones, and their pairs are looked for among all pieces.
//
// (Tried: v = 0, and the rigid motion that fits all points best. Hair moves by a good part of its
// radius in a step, but its neighbours move with it: lists for v = 0 are used up in two or three
// steps, and no rigid motion fits the hair of a head that turns.)
//
// Bounds. With d the distance of the axes of a pair when it was last computed, at time s,
//     d(t) >= d - (t - s) v_ij - (what path_i + path_j grew by) = bound - t v_ij - path_i - path_j.
// Most candidates are beyond reach by that, step after step, and are passed over at the cost of a
// comparison (detect.c, passing.c). Solids have no bound.
#include "world.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "collide/glide.h"
#include "math/least.h"
#include "math/vec3.h"
#include "rod/rod.h"
#include "sleep.h"

enum { GRAIN = 256 };                      // pieces
enum { FEW_SOLIDS = 8 };                   // that the grid does not need
enum { FEW_SPENT = 16, SPENT_PART = 256 }; // pieces that get a new budget: so many and a part
enum { MOST_NEW = 256 };                   // pairs that a new budget brings
static const double round_up = 1.0 + 1e-6;
static const double skin = 1.0; // of radius and margin: what a budget has beyond what is used
enum { LEAST_SPAN = 2, MOST_SPAN = 6 }; // steps (32 tried: twice the pairs)

// meets no box
static const FilBox nowhere = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

// --- boxes ---------------------------------------------------------------------------------------

typedef struct Boxing {
    FilWorld *world;
    FilWorldTry *step;
    double elapsed;   // s, since the step before
    bool *spent;      // [ranges] the budget of a piece is used up
    FilBox *asked;    // [piece_count] for the grid
    FilGlide *glides; // [piece_count] likewise
    FilGlideFrame frame;
    bool few;   // solids: they are not for the grid
    bool plain; // it knows capsules only, none of them asleep or joined
} Boxing;

static void box_around(FilBox *box, const double p[3], double by) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fil_least(box->low[k], p[k] - by);
        box->high[k] = fil_most(box->high[k], p[k] + by);
    }
}

// How a solid's position moves over the step, m.
static void shift_solid(const FilWorld *world, double dt, const FilPiece *piece, double shift[3]) {
    if (piece->obstacle >= 0) {
        const FilObstacle *obstacle = &world->obstacles[piece->obstacle];
        fil_subtract3(obstacle->next.position, obstacle->pose.position, shift);
        return;
    }
    FilRate rate;
    fil_rigid_rate(world->bodies[piece->body].self, &rate);
    for (int k = 0; k < 3; k++) {
        shift[k] = dt * rate.velocity[k];
    }
}

static void box_solid(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                      FilBox *box) {
    FilShape shape;
    FilPose pose;
    double shift[3], by = piece->extent + fil_piece_margin(world, piece);
    fil_world_solid(world, piece, &shape, &pose);
    shift_solid(world, step->dt, piece, shift);
    box_around(box, pose.position, by);
    fil_add3(1.0, shift, pose.position);
    box_around(box, pose.position, by);
}

static void box_capsule(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                        FilBox *box) {
    const FilBody *body = &world->bodies[piece->body];
    double by = body->radius + body->margin;
    for (int end = 0; end < 2; end++) {
        double ahead[3];
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        box_around(box, step->points + at, by);
        for (int k = 0; k < 3; k++) {
            ahead[k] = step->points[at + k] + step->dt * step->rates[at + k];
        }
        box_around(box, ahead, by);
    }
}

static bool has_box(const FilWorld *world, const FilPiece *piece) {
    bool plane =
        piece->obstacle >= 0 && world->obstacles[piece->obstacle].def.shape.kind == FIL_SHAPE_PLANE;
    return !plane && !fil_piece_surface(world, piece)->ghost;
}

// How far the ends of a capsule went since the step before, beside what v foresaw.
static double follow_ends(const Boxing *boxing, const FilPiece *piece) {
    const FilNear *near = &boxing->world->near;
    double most = 0.0;
    for (int end = 0; end < 2; end++) {
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        double between[3];
        fil_subtract3(boxing->step->points + at, near->points + at, between);
        fil_add3(-boxing->elapsed, near->rates + at, between);
        most = fil_most(most, fil_dot3(between, between));
    }
    return sqrt(most);
}

// How much faster or slower than foreseen they are.
static double compare_rates(const Boxing *boxing, const FilPiece *piece) {
    double most = 0.0;
    for (int end = 0; end < 2; end++) {
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        double between[3];
        fil_subtract3(boxing->step->rates + at, boxing->world->near.rates + at, between);
        most = fil_most(most, fil_dot3(between, between));
    }
    return sqrt(most);
}

static void find_axis(const FilWorld *world, const FilWorldTry *step, const double *rates,
                      const FilPiece *piece, FilAxis *axis) {
    const FilBody *body = &world->bodies[piece->body];
    ptrdiff_t a = 3 * (ptrdiff_t)piece->point[0], b = 3 * (ptrdiff_t)piece->point[1];
    double spin[3];
    for (int k = 0; k < 3; k++) {
        axis->middle[k] = 0.5 * step->points[a + k] + 0.5 * step->points[b + k];
        axis->half[k] = 0.5 * step->points[b + k] - 0.5 * step->points[a + k];
        axis->rate[k] = 0.5 * rates[a + k] + 0.5 * rates[b + k];
        spin[k] = 0.5 * rates[b + k] - 0.5 * rates[a + k];
    }
    axis->length = fil_norm3(axis->half);
    axis->spin = fil_norm3(spin);
    axis->speed = round_up * (fil_norm3(axis->rate) + axis->spin);
    axis->radius = body->radius;
    axis->margin = body->margin;
    axis->body = piece->body;
    axis->point = piece->point[0];
}

// Whether two pieces of one rod are so near along it that they never touch.
static bool are_neighbours(const FilWorld *world, const FilPiece *a, const FilPiece *b) {
    const FilBody *body = &world->bodies[a->body];
    const FilRod *rod = body->self;
    if (rod->joints != NULL && a->element != b->element) {
        int i = a->element, j = b->element;
        int up = rod->joints[i].parent, across = rod->joints[j].parent;
        return up == j || across == i || up == across;
    }
    double between = fil_most(b->s[0] - a->s[1], a->s[0] - b->s[1]) * rod->state[1];
    double longest = fil_most(a->s[1] - a->s[0], b->s[1] - b->s[0]) * rod->state[1];
    return between < fil_most(3.15 * body->radius, 0.5 * longest);
}

// Up to where along its rod a piece touches none of the next ones.
static int find_until(const FilWorld *world, int i) {
    const FilPiece *piece = &world->pieces[i];
    const FilBody *body = &world->bodies[piece->body];
    const int end = body->first_piece + body->piece_count;
    int until = i;
    while (until + 1 < end &&
           (!body->surface.self || are_neighbours(world, piece, &world->pieces[until + 1]))) {
        until++;
    }
    return until;
}

static void box_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    const FilWorldTry *step = boxing->step;
    FilNear *near = &boxing->world->near;
    const bool kept = near->piece_count > 0;
    bool spent = false;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &step->boxes[i];
        *box = nowhere;
        step->reach[i] = INFINITY;
        step->axes[i] = (FilAxis){.body = -1, .until = -1};
        if (has_box(world, piece) && fil_piece_is_capsule(world, piece)) {
            const FilBody *body = &world->bodies[piece->body];
            box_capsule(world, step, piece, box);
            find_axis(world, step, kept ? near->rates : step->rates, piece, &step->axes[i]);
            near->path[i] += kept ? follow_ends(boxing, piece) : 0.0;
            const double ahead = kept ? step->dt * compare_rates(boxing, piece) : 0.0;
            step->reach[i] = round_up * (near->path[i] + body->radius + body->margin + ahead);
            spent = spent || !(step->reach[i] <= near->budget[i]);
        } else if (has_box(world, piece)) {
            box_solid(world, step, piece, box);
        }
    }
    boxing->spent[first / GRAIN] = spent;
}

static double choose_budget(const Boxing *boxing, int i) {
    const FilBody *body = &boxing->world->bodies[boxing->world->pieces[i].body];
    return boxing->step->reach[i] + skin * (body->radius + body->margin) +
           boxing->world->near.path[i];
}

// What the grid's pairs are sifted by.
static void set_glide(const Boxing *boxing, int i) {
    const FilNear *near = &boxing->world->near;
    const FilAxis *axis = &boxing->step->axes[i];
    double way[3] = {0.0};
    fil_add3(near->span, axis->rate, way);
    fil_glide_set(&boxing->glides[i], &boxing->frame, axis->middle, axis->half, way,
                  near->budget[i] + near->span * axis->spin);
}

// Around what, and in what unit, the glides are measured.
static void find_frame(Boxing *boxing) {
    const int pieces = boxing->world->piece_count;
    double sum = 0.0, middle[3] = {0.0}, count = 0.0;
    for (int i = 0; i < pieces; i++) {
        const FilAxis *axis = &boxing->step->axes[i];
        if (axis->body >= 0) {
            fil_add3(1.0, axis->middle, middle);
            sum += axis->length + axis->radius;
            count += 1.0;
        }
    }
    boxing->frame = (FilGlideFrame){.per_unit = sum > 0.0 ? count / sum : 1.0};
    fil_add3(count > 0.0 ? 1.0 / count : 0.0, middle, boxing->frame.origin);
}

// A budget for each capsule, and the box that holds what it may reach in the span.
static void ask_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    const FilWorldTry *step = boxing->step;
    FilNear *near = &boxing->world->near;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &boxing->asked[i];
        bool capsule = step->axes[i].body >= 0;
        *box = capsule || boxing->few ? nowhere : step->boxes[i];
        near->budget[i] = capsule ? choose_budget(boxing, i) : INFINITY;
        near->path[i] = 0.0;
        for (int end = 0; end < 2 && capsule; end++) {
            ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
            double ahead[3];
            fil_copy3(step->points + at, ahead);
            fil_add3(near->span, step->rates + at, ahead);
            box_around(box, step->points + at, near->budget[i]);
            box_around(box, ahead, near->budget[i]);
        }
        if (capsule) {
            FilAxis *axis = &step->axes[i];
            find_axis(world, step, step->rates, piece, axis);
            axis->until = find_until(world, i);
        }
        set_glide(boxing, i);
    }
}

// --- pairs ---------------------------------------------------------------------------------------

// Whether two segments are farther apart than that, by lower bounds of their distance: along the
// common perpendicular of their lines, and along what is perpendicular to one of them and points to
// the middle of the other.
static bool are_farther(const FilAxis *a, const FilAxis *b, double than) {
    const double *u = a->half, *v = b->half;
    double w[3], n[3];
    fil_subtract3(a->middle, b->middle, w);
    fil_cross3(u, v, n);
    const double across = fil_dot3(w, n), square = than * than;
    if (across * across > square * fil_dot3(n, n)) {
        return true;
    }
    const double uu = fil_dot3(u, u), vv = fil_dot3(v, v), uv = fil_dot3(u, v);
    const double ww = fil_dot3(w, w), uw = fil_dot3(u, w), vw = fil_dot3(v, w);
    // n = uu w - (u w) u, and n = vv w - (v w) v, without roots or quotients
    const double beside_a = uu * ww - uw * uw - fabs(uu * vw - uw * uv);
    const double beside_b = vv * ww - vw * vw - fabs(vv * uw - vw * uv);
    return (beside_a > 0.0 && beside_a * beside_a > square * uu * (uu * ww - uw * uw)) ||
           (beside_b > 0.0 && beside_b * beside_b > square * vv * (vv * ww - vw * vw));
}

// Pairs that never count, as long as the lengths of the rods, the joints and what sleeps stay.
static bool are_strangers(const Boxing *boxing, int i, int j) {
    const FilWorld *world = boxing->world;
    const FilAxis *axes = boxing->step->axes;
    if (boxing->plain && axes[i].body != axes[j].body) {
        return false;
    }
    if (axes[i].body >= 0 && j <= axes[i].until) {
        return true;
    }
    const FilPiece *a = &world->pieces[i], *b = &world->pieces[j];
    if (fil_piece_is_still(world, a) && fil_piece_is_still(world, b)) {
        return true;
    }
    if (a->obstacle >= 0 || b->obstacle >= 0) {
        return a->obstacle >= 0 && b->obstacle >= 0;
    }
    if (a->body != b->body) {
        return world->apart_count > 0 && fil_world_are_joined(world, i, j);
    }
    return !world->bodies[a->body].surface.self || are_neighbours(world, a, b);
}

// v_ij: how fast two capsules come closer, as foreseen, at most.
static double foresee_rate(const FilAxis *a, const FilAxis *b) {
    double between[3];
    fil_subtract3(a->rate, b->rate, between);
    return round_up * (fil_norm3(between) + a->spin + b->spin);
}

// Without those, and those beyond their budgets.
static int sift_pairs(const void *user, int (*pairs)[2], int count) {
    const Boxing *boxing = user;
    const int near = fil_glides_near(boxing->glides, pairs, count);
    int left = 0;
    for (int k = 0; k < near; k++) {
        const int i = pairs[k][0], j = pairs[k][1];
        pairs[left][0] = i;
        pairs[left][1] = j;
        left += !are_strangers(boxing, i, j);
    }
    return left;
}

static bool boxes_meet(const FilBox *a, const FilBox *b) {
    bool meet = true;
    for (int k = 0; k < 3; k++) {
        meet = meet && a->low[k] <= b->high[k] && b->low[k] <= a->high[k];
    }
    return meet;
}

static bool is_rooted(const FilWorld *world, int i, int j) {
    const FilPiece *a = &world->pieces[i], *b = &world->pieces[j];
    return (a->rooted != 0 && a->rooted == b->obstacle + 1) ||
           (b->rooted != 0 && b->rooted == a->obstacle + 1);
}

bool fil_world_is_candidate(const FilWorld *world, const FilWorldTry *step, const int pair[2]) {
    return boxes_meet(&step->boxes[pair[0]], &step->boxes[pair[1]]) &&
           !is_rooted(world, pair[0], pair[1]);
}

static FilStatus reserve_pairs(FilWorld *world, int64_t count, FilError *error) {
    FilNear *near = &world->near;
    if (count > INT32_MAX / FIL_TOUCH_MAX) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)count);
    }
    FIL_TRY(
        fil_world_reserve(world, &near->pairs, &near->pair_room, count + 1, sizeof(int[2]), error));
    return fil_world_reserve(world, &near->bounds, &near->bound_room, count + 1, sizeof(FilBound),
                             error);
}

static FilBound unknown_bound(const FilWorldTry *step, const int pair[2]) {
    const FilAxis *a = &step->axes[pair[0]], *b = &step->axes[pair[1]];
    bool capsules = a->body >= 0 && b->body >= 0;
    return (FilBound){-INFINITY, capsules ? (float)foresee_rate(a, b) : 0.0F};
}

static void bound_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    FilNear *near = &boxing->world->near;
    for (int k = first; k < last; k++) {
        near->bounds[k] = unknown_bound(boxing->step, near->pairs[k]);
    }
}

// Ask the grid. Nothing is known of distances.
static FilStatus ask_grid(FilWorld *world, Boxing *boxing, FilError *error) {
    FilNear *near = &world->near;
    FilWorldTry asking = {.boxes = boxing->asked};
    FilGridQuery query = {
        .count = world->piece_count, .sift = sift_pairs, .user = boxing, .threads = world->threads};
    FIL_TRY(fil_world_hide_sleepers(world, &asking, &query.boxes, error));
    const int(*pairs)[2];
    int64_t count;
    FIL_TRY(fil_grid_pairs(world->grid, &query, &pairs, &count, error));
    FIL_TRY(reserve_pairs(world, count, error));
    if (count > 0) {
        memcpy(near->pairs, pairs, sizeof(int[2]) * (size_t)count);
    }
    near->pair_count = (int)count;
    fil_parallel_ranges(near->pair_count, GRAIN, world->threads, bound_range, boxing);
    return FIL_OK;
}

// --- solids --------------------------------------------------------------------------------------

static bool is_solid(const FilWorld *world, int piece) {
    return has_box(world, &world->pieces[piece]) &&
           !fil_piece_is_capsule(world, &world->pieces[piece]);
}

// The pieces of solids, if they are few. Returns how many there are.
static int count_solids(const FilWorld *world, int solids[FEW_SOLIDS]) {
    int count = 0;
    for (int i = 0; i < world->obstacle_count; i++) {
        if (is_solid(world, world->obstacles[i].piece)) {
            solids[count < FEW_SOLIDS ? count : 0] = world->obstacles[i].piece;
            count++;
        }
    }
    for (int i = 0; i < world->rigid_count; i++) {
        const int piece = world->bodies[world->rigids[i]].first_piece;
        if (is_solid(world, piece)) {
            solids[count < FEW_SOLIDS ? count : 0] = piece;
            count++;
        }
    }
    return count;
}

static bool meets_plane(const FilWorld *world, int obstacle, const FilPiece *piece) {
    return piece->obstacle < 0 && piece->rooted != obstacle + 1 &&
           !fil_piece_surface(world, piece)->ghost &&
           (world->obstacles[obstacle].moves || !fil_piece_is_still(world, piece));
}

typedef struct Others {
    int (*list)[2];
    int64_t count;
    int64_t room; // where the list is NULL it is counted
} Others;

static void add_other(Others *others, int i, int j) {
    if (others->list != NULL) {
        others->list[others->count][0] = i;
        others->list[others->count][1] = j;
    }
    others->count++;
}

// Pairs of a solid with all pieces that are no solids, and with the solids after it.
static void meet_solid(const FilWorld *world, const FilWorldTry *step, const int *solids, int count,
                       int at, Others *others) {
    const int solid = solids[at];
    const FilPiece *self = &world->pieces[solid];
    const bool still = fil_piece_is_still(world, self);
    for (int i = 0; i < world->piece_count; i++) {
        const FilPiece *piece = &world->pieces[i];
        if (!boxes_meet(&step->boxes[i], &step->boxes[solid]) || i == solid) {
            continue;
        }
        bool later = fil_piece_is_capsule(world, piece);
        for (int k = at + 1; k < count; k++) {
            later = later || solids[k] == i;
        }
        if (later && !(self->obstacle >= 0 && piece->obstacle >= 0) &&
            !(still && fil_piece_is_still(world, piece)) && !is_rooted(world, i, solid) &&
            !(world->apart_count > 0 && self->body >= 0 && piece->body >= 0 &&
              fil_world_are_joined(world, i < solid ? i : solid, i < solid ? solid : i))) {
            add_other(others, i < solid ? i : solid, i < solid ? solid : i);
        }
    }
}

// Candidates that the grid does not know: with solids where there are few, and with planes.
static void list_others(const FilWorld *world, const FilWorldTry *step, Others *others) {
    int solids[FEW_SOLIDS], count = count_solids(world, solids);
    for (int k = 0; count <= FEW_SOLIDS && k < count; k++) {
        meet_solid(world, step, solids, count, k, others);
    }
    for (int i = 0; i < world->obstacle_count; i++) {
        const FilObstacle *plane = &world->obstacles[i];
        bool solid = plane->def.shape.kind == FIL_SHAPE_PLANE && !plane->surface.ghost;
        for (int k = 0; solid && k < world->piece_count; k++) {
            if (meets_plane(world, i, &world->pieces[k])) {
                add_other(others, k, plane->piece);
            }
        }
    }
}

static FilStatus make_lists(FilWorld *world, FilWorldTry *step, FilError *error) {
    Others others = {0};
    list_others(world, step, &others);
    const int64_t count = others.count;
    others.list = (int(*)[2])fil_arena_get(&world->scratch, (size_t)count + 1, sizeof(int[2]));
    if (others.list == NULL || count > INT32_MAX / FIL_TOUCH_MAX - world->near.pair_count) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)count + world->near.pair_count);
    }
    others.count = 0;
    list_others(world, step, &others);
    step->others = (const int(*)[2])others.list;
    step->other_count = (int)count;
    step->pairs = (const int(*)[2])world->near.pairs;
    step->pair_count = world->near.pair_count;
    step->bounds = world->near.bounds;
    return FIL_OK;
}

// --- kept pairs ----------------------------------------------------------------------------------

static FilStatus reserve_near(FilWorld *world, FilError *error) {
    FilNear *near = &world->near;
    const int pieces = world->piece_count;
    const size_t size = sizeof(double);
    FIL_TRY(fil_world_reserve(world, &near->budget, &near->budget_room, pieces, size, error));
    FIL_TRY(fil_world_reserve(world, &near->path, &near->path_room, pieces, size, error));
    FIL_TRY(fil_world_reserve(world, &near->points, &near->point_room,
                              3 * (int64_t)world->point_count, size, error));
    FIL_TRY(fil_world_reserve(world, &near->rates, &near->rate_room,
                              3 * (int64_t)world->point_count, size, error));
    return fil_world_reserve(world, &near->lengths, &near->length_room, world->rod_count, size,
                             error);
}

static double length_of(const FilWorld *world, int rod) {
    return ((const FilRod *)world->bodies[world->rods[rod]].self)->state[1];
}

// Whether what are_strangers() looks at is as it was.
static bool are_kept(const FilWorld *world, bool few) {
    const FilNear *near = &world->near;
    bool kept = world->asleep_count == 0 && near->piece_count == world->piece_count &&
                near->rod_count == world->rod_count && near->apart_count == world->apart_count &&
                !near->partial && few;
    for (int i = 0; kept && i < world->rod_count; i++) {
        kept = near->lengths[i] == length_of(world, i);
    }
    return kept;
}

// Paths begin anew.
static void drop_kept(FilWorld *world) {
    world->near.piece_count = 0;
    world->near.gone = 0.0;
    for (int i = 0; i < world->piece_count; i++) {
        world->near.path[i] = 0.0;
        world->near.budget[i] = INFINITY;
    }
}

// A longer span where the budgets last for all of it, a shorter one where they are used up soon:
// both cost.
static void choose_span(FilNear *near, bool over) {
    near->steps = near->steps == 0 ? MOST_SPAN : near->steps;
    if (near->piece_count > 0 && !over && near->age < near->steps / 2) {
        near->steps /= 2;
    } else if (near->piece_count > 0 && over) {
        near->steps += near->steps / 2;
    }
    near->steps = near->steps < LEAST_SPAN ? LEAST_SPAN : near->steps;
    near->steps = near->steps < MOST_SPAN ? near->steps : MOST_SPAN;
}

// Find the pairs for the steps to come, from step->reach on.
static FilStatus renew_pairs(FilWorld *world, Boxing *boxing, FilError *error) {
    FilNear *near = &world->near;
    for (int i = 0; i < world->piece_count; i++) {
        boxing->step->reach[i] -= near->path[i];
    }
    choose_span(near, near->gone + boxing->step->dt > near->span);
    near->span = near->steps * boxing->step->dt;
    boxing->asked = FIL_NEW(&world->scratch, FilBox, (size_t)world->piece_count + 1);
    boxing->glides = FIL_NEW(&world->scratch, FilGlide, (size_t)world->piece_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        world->piece_count);
    }
    near->piece_count = 0;
    near->gone = 0.0;
    find_frame(boxing);
    fil_parallel_ranges(world->piece_count, GRAIN, world->threads, ask_range, boxing);
    FIL_TRY(ask_grid(world, boxing, error));
    for (int i = 0; i < world->rod_count; i++) {
        near->lengths[i] = length_of(world, i);
    }
    if (world->point_count > 0) {
        memcpy(near->rates, boxing->step->rates, 3 * sizeof(double) * (size_t)world->point_count);
    }
    near->rod_count = world->rod_count;
    near->apart_count = world->apart_count;
    near->piece_count = world->piece_count;
    near->partial = world->asleep_count > 0;
    near->age = 0;
    return FIL_OK;
}

// --- capsules that go astray ---------------------------------------------------------------------

typedef struct Mending {
    Boxing *boxing;
    const int *spent; // pieces, ascending
    int spent_count;
    int (*found)[MOST_NEW][2]; // [spent_count]
    int *counts;               // [spent_count] above MOST_NEW: too many
} Mending;

static int compare_pairs(const void *x, const void *y) {
    const int *a = x, *b = y;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static bool is_listed(const FilNear *near, const int pair[2]) {
    return near->pair_count > 0 && bsearch(pair, near->pairs, (size_t)near->pair_count,
                                           sizeof(int[2]), compare_pairs) != NULL;
}

static int compare_pieces(const void *x, const void *y) {
    const int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

// Pairs of a piece within its new budget that are not known yet. Pairs of two such pieces are left
// to the first of them.
static void find_new(void *context, int item) {
    const Mending *mending = context;
    const FilWorld *world = mending->boxing->world;
    const FilNear *near = &world->near;
    const FilAxis *axes = mending->boxing->step->axes;
    const int i = mending->spent[item];
    int count = 0;
    const double until = near->span - near->gone, own = near->budget[i] - near->path[i];
    for (int j = 0; j < world->piece_count; j++) {
        const double budgets = own + near->budget[j] - near->path[j];
        const double most = budgets + until * (axes[i].speed + axes[j].speed);
        const double reach = most + axes[i].length + axes[j].length;
        double between[3];
        fil_subtract3(axes[i].middle, axes[j].middle, between);
        if (fil_dot3(between, between) > reach * reach || axes[j].body < 0 || i == j) {
            continue;
        }
        const double left = round_up * (budgets + until * foresee_rate(&axes[i], &axes[j]));
        const int pair[2] = {i < j ? i : j, i < j ? j : i};
        bool first = j > i || bsearch(&j, mending->spent, (size_t)mending->spent_count, sizeof(int),
                                      compare_pieces) == NULL;
        if (!first || are_farther(&axes[i], &axes[j], left) ||
            are_strangers(mending->boxing, pair[0], pair[1]) || is_listed(near, pair)) {
            continue;
        }
        if (count < MOST_NEW) {
            mending->found[item][count][0] = pair[0];
            mending->found[item][count][1] = pair[1];
        }
        count++;
    }
    mending->counts[item] = count;
}

// Put new pairs, sorted, where they belong.
static FilStatus merge_pairs(FilWorld *world, const FilWorldTry *step, int (*pairs)[2], int count,
                             FilError *error) {
    FilNear *near = &world->near;
    FIL_TRY(reserve_pairs(world, (int64_t)near->pair_count + count, error));
    int from = near->pair_count - 1;
    for (int k = count - 1, to = from + count; k >= 0; to--) {
        if (from >= 0 && compare_pairs(near->pairs[from], pairs[k]) > 0) {
            memcpy(near->pairs[to], near->pairs[from], sizeof(int[2]));
            near->bounds[to] = near->bounds[from--];
        } else {
            memcpy(near->pairs[to], pairs[k], sizeof(int[2]));
            near->bounds[to] = unknown_bound(step, pairs[k--]);
        }
    }
    near->pair_count += count;
    return FIL_OK;
}

// The pieces whose budgets are used up; too many are only counted.
static int list_spent(const Boxing *boxing, int *spent, int room) {
    const FilWorld *world = boxing->world;
    int count = 0;
    for (int i = 0; i < world->piece_count; i++) {
        const bool over = boxing->spent[i / GRAIN] && boxing->step->axes[i].body >= 0 &&
                          !(boxing->step->reach[i] <= world->near.budget[i]);
        if (over && count < room) {
            spent[count] = i;
        }
        count += over;
    }
    return count;
}

// Give new budgets to the few pieces that used up theirs. `mended` is false where that does not do.
static FilStatus mend_pairs(FilWorld *world, Boxing *boxing, bool *mended, FilError *error) {
    FilArena *arena = &world->scratch;
    const int room = FEW_SPENT + world->piece_count / SPENT_PART;
    int *spent = FIL_NEW(arena, int, room);
    const int count = spent != NULL ? list_spent(boxing, spent, room) : 0;
    *mended = count <= room;
    if (count == 0 || count > room) {
        return FIL_OK;
    }
    Mending mending = {.boxing = boxing, .spent = spent, .spent_count = count};
    mending.found = (int(*)[MOST_NEW][2])fil_arena_get(arena, (size_t)count, sizeof *mending.found);
    mending.counts = FIL_NEW(arena, int, count);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the pairs of %d pieces",
                        count);
    }
    for (int k = 0; k < count; k++) {
        world->near.budget[spent[k]] = choose_budget(boxing, spent[k]);
    }
    fil_parallel_for(count, world->threads, find_new, &mending);
    int sum = 0, (*all)[2] = mending.found[0];
    for (int k = 0; k < count && *mended; k++) {
        *mended = mending.counts[k] <= MOST_NEW;
        if (*mended) {
            memmove(all + sum, mending.found[k], sizeof(int[2]) * (size_t)mending.counts[k]);
            sum += mending.counts[k];
        }
    }
    if (*mended && sum > 0) {
        qsort(all, (size_t)sum, sizeof(int[2]), compare_pairs);
        return merge_pairs(world, boxing->step, all, sum, error);
    }
    return FIL_OK;
}

// --- the candidates of a step --------------------------------------------------------------------

static void begin_boxing(FilWorld *world, FilWorldTry *step, Boxing *boxing) {
    int solids[FEW_SOLIDS];
    *boxing = (Boxing){.world = world, .step = step};
    boxing->few = count_solids(world, solids) <= FEW_SOLIDS;
    boxing->plain = boxing->few && world->asleep_count == 0 && world->apart_count == 0;
}

FilStatus fil_world_find_pairs(FilWorld *world, FilWorldTry *step, FilError *error) {
    FilNear *near = &world->near;
    const int pieces = world->piece_count;
    Boxing boxing;
    begin_boxing(world, step, &boxing);
    step->boxes = FIL_NEW(&world->scratch, FilBox, (size_t)pieces + 1);
    step->axes = FIL_NEW(&world->scratch, FilAxis, (size_t)pieces + 1);
    step->reach = FIL_NEW(&world->scratch, double, (size_t)pieces + 1);
    boxing.spent = FIL_NEW_ZEROED(&world->scratch, bool, pieces / GRAIN + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        pieces);
    }
    FIL_TRY(reserve_near(world, error));
    if (!are_kept(world, boxing.few)) {
        drop_kept(world);
    }
    boxing.elapsed = world->time - near->time;
    near->gone += near->piece_count > 0 ? fabs(boxing.elapsed) : 0.0;
    near->time = world->time;
    fil_parallel_ranges(pieces, GRAIN, world->threads, box_range, &boxing);
    bool kept = near->piece_count > 0 && near->gone + step->dt <= near->span;
    if (kept) {
        FIL_TRY(mend_pairs(world, &boxing, &kept, error));
    }
    near->age += kept;
    if (!kept) {
        FIL_TRY(renew_pairs(world, &boxing, error));
    }
    if (world->point_count > 0) {
        memcpy(near->points, step->points, 3 * sizeof(double) * (size_t)world->point_count);
    }
    return make_lists(world, step, error);
}

FilStatus fil_world_find_more_pairs(FilWorld *world, FilWorldTry *step, const double *reach,
                                    FilError *error) {
    Boxing boxing;
    begin_boxing(world, step, &boxing);
    boxing.spent = FIL_NEW_ZEROED(&world->scratch, bool, world->piece_count / GRAIN + 1);
    if (boxing.spent == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d pieces",
                        world->piece_count);
    }
    for (int i = 0; i < world->piece_count; i++) {
        step->reach[i] = fil_most(step->reach[i], reach[i]);
        boxing.spent[i / GRAIN] = true;
    }
    bool kept = boxing.few && world->asleep_count == 0;
    if (kept) {
        FIL_TRY(mend_pairs(world, &boxing, &kept, error));
    }
    if (!kept) { // for where they were when the step began
        FIL_TRY(renew_pairs(world, &boxing, error));
    }
    return make_lists(world, step, error);
}
