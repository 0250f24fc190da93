// near.c - which pieces may come near each other in a step: boxes, and candidate pairs that are
// kept from step to step.
//
// The box of a piece covers it now and where its velocity would take it, widened by its radius and
// margin. Candidates are the pairs whose boxes meet. Planes have no box: they are candidates with
// every piece.
//
// Kept pairs. The grid is asked with larger boxes, which reach to where the pieces will be some
// steps ahead at the velocities of now, and somewhat farther. As long as the box of every piece
// stays inside its larger one, all pairs whose boxes meet are among those found then. What else is
// among them is told apart by the boxes of the step (fil_world_is_candidate): the contacts of a
// step do not depend on when the pairs were found, and a run that goes on from a checkpoint has the
// same bits. Where the pieces leave their boxes at once, because they are thrown about, larger ones
// do not pay: the grid is asked with those of the step for a while. So it is where bodies sleep:
// most of the pieces are hidden from the grid then.
//
// Bounds. Points of a capsule go no farther than the farther one of its ends. With d the distance
// of the axes of a pair when it was last computed and path_i how far piece i has gone since the
// pairs were found, summed over the steps,
//     d(now) >= d + (path_i + path_j)(then) - (path_i + path_j)(now) = bound - path_i - path_j.
// Most candidates are far beyond reach by that, step after step, and are passed over at the cost of
// a comparison (detect.c, passing.c). Solids have no bound.
#include "world.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "rod/rod.h"
#include "sleep.h"

enum { GRAIN = 256 };                 // pieces
enum { FEW_STEPS = 3, PLAIN = 16 };   // that kept pairs should serve; lists without, if they do not
static const double steps_ahead = 10; // that the larger boxes reach
static const double astray = 0.15;    // of that way, to all sides
static const double slack = 0.25;     // of radius and margin, to all sides
static const double round_up = 1.0 + 1e-6;

// meets no box
static const FilBox nowhere = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

// --- boxes ---------------------------------------------------------------------------------------

typedef struct Boxing {
    FilWorld *world;
    FilWorldTry *step;
    bool *left; // [ranges] a piece left the box that the kept pairs are good for
} Boxing;

static void box_around(FilBox *box, const double p[3], double by) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], p[k] - by);
        box->high[k] = fmax(box->high[k], p[k] + by);
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
    bool plane = piece->obstacle >= 0 &&
                 world->obstacles[piece->obstacle].def.shape.kind == FIL_SHAPE_PLANE;
    return !plane && !fil_piece_surface(world, piece)->ghost;
}

static bool is_inside(const FilBox *box, const FilBox *of) {
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        inside = inside && box->low[k] >= of->low[k] && box->high[k] <= of->high[k];
    }
    return inside;
}

// What the ends of a capsule do: how fast they are at most, and how far they went since the points
// of its path.
static void follow_ends(const Boxing *boxing, const FilPiece *piece, double *speed, double *way) {
    const FilWorldTry *step = boxing->step;
    *speed = *way = 0.0;
    for (int end = 0; end < 2; end++) {
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        double between[3];
        *speed = fmax(*speed, fil_norm3(step->rates + at));
        if (boxing->world->near.piece_count > 0) {
            fil_subtract3(step->points + at, boxing->world->near.points + at, between);
            *way = fmax(*way, fil_norm3(between));
        }
    }
}

static void box_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    FilNear *near = &boxing->world->near;
    bool left = false;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &boxing->step->boxes[i];
        *box = nowhere;
        boxing->step->reach[i] = INFINITY;
        if (has_box(world, piece) && fil_piece_is_capsule(world, piece)) {
            const FilBody *body = &world->bodies[piece->body];
            double speed, way;
            box_capsule(world, boxing->step, piece, box);
            follow_ends(boxing, piece, &speed, &way);
            near->path[i] += way;
            boxing->step->reach[i] = round_up * (near->path[i] + body->radius + body->margin +
                                                 boxing->step->dt * speed);
        } else if (has_box(world, piece)) {
            box_solid(world, boxing->step, piece, box);
        }
        left = left || (near->piece_count > 0 && !is_inside(box, &near->boxes[i]));
    }
    boxing->left[first / GRAIN] = left;
}

static void stretch(FilBox *box, const double shift[3], double times) {
    for (int k = 0; k < 3; k++) {
        box->low[k] += fmin(times * shift[k], 0.0);
        box->high[k] += fmax(times * shift[k], 0.0);
    }
}

// The box of a piece for some steps ahead.
static void enlarge_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    const double dt = boxing->step->dt;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &boxing->world->near.boxes[i];
        *box = boxing->step->boxes[i];
        if (!has_box(world, piece)) {
            continue;
        }
        double shift[2][3], by = 0.0;
        if (fil_piece_is_capsule(world, piece)) {
            const FilBody *body = &world->bodies[piece->body];
            for (int k = 0; k < 6; k++) {
                shift[k / 3][k % 3] =
                    dt * boxing->step->rates[3 * (ptrdiff_t)piece->point[k / 3] + k % 3];
            }
            by = slack * (body->radius + body->margin);
        } else {
            shift_solid(world, dt, piece, shift[0]);
            fil_copy3(shift[0], shift[1]);
            by = slack * fil_piece_margin(world, piece);
        }
        by += astray * steps_ahead * fmax(fil_norm3(shift[0]), fil_norm3(shift[1]));
        stretch(box, shift[0], steps_ahead);
        stretch(box, shift[1], steps_ahead);
        for (int k = 0; k < 3; k++) {
            box->low[k] -= by;
            box->high[k] += by;
        }
    }
}

// --- pairs ---------------------------------------------------------------------------------------

// Whether two pieces of one rod are so near along it that they never touch.
static bool are_neighbours(const FilWorld *world, const FilPiece *a, const FilPiece *b) {
    const FilBody *body = &world->bodies[a->body];
    const FilRod *rod = body->self;
    if (rod->joints != NULL && a->element != b->element) {
        int i = a->element, j = b->element;
        int up = rod->joints[i].parent, across = rod->joints[j].parent;
        return up == j || across == i || up == across;
    }
    double between = fmax(b->s[0] - a->s[1], a->s[0] - b->s[1]) * rod->state[1];
    double longest = fmax(a->s[1] - a->s[0], b->s[1] - b->s[0]) * rod->state[1];
    return between < fmax(3.15 * body->radius, 0.5 * longest);
}

// Pairs that never count, as long as the lengths of the rods, the joints and what sleeps stay.
static bool skip_pair(const void *user, int i, int j) {
    const FilWorld *world = user;
    const FilPiece *a = &world->pieces[i], *b = &world->pieces[j];
    if (world->asleep_count > 0 && fil_piece_is_still(world, a) && fil_piece_is_still(world, b)) {
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

bool fil_world_is_candidate(const FilWorld *world, const FilWorldTry *step, int64_t pair) {
    const int i = step->pairs[pair][0], j = step->pairs[pair][1];
    if (pair >= step->boxed_count) {
        return true;
    }
    const FilBox *box = &step->boxes[i], *other = &step->boxes[j];
    for (int k = 0; k < 3; k++) {
        if (!(box->low[k] <= other->high[k] && other->low[k] <= box->high[k])) {
            return false;
        }
    }
    const FilPiece *a = &world->pieces[i], *b = &world->pieces[j];
    return (a->rooted == 0 || a->rooted != b->obstacle + 1) &&
           (b->rooted == 0 || b->rooted != a->obstacle + 1);
}

static FilStatus ask_grid(FilWorld *world, const FilBox *boxes, FilError *error) {
    FilNear *near = &world->near;
    const FilGridQuery query = {.count = world->piece_count,
                                .boxes = boxes,
                                .skip = skip_pair,
                                .user = world,
                                .threads = world->threads};
    return fil_grid_pairs(world->grid, &query, &near->pairs, &near->pair_count, error);
}

static bool meets_plane(const FilWorld *world, int obstacle, const FilPiece *piece) {
    return piece->obstacle < 0 && piece->rooted != obstacle + 1 &&
           !fil_piece_surface(world, piece)->ghost &&
           (world->obstacles[obstacle].moves || !fil_piece_is_still(world, piece));
}

// The candidates of the step: pairs of the grid, and with planes.
static FilStatus list_pairs(FilWorld *world, FilWorldTry *step, FilError *error) {
    FilNear *near = &world->near;
    int planes = 0;
    for (int i = 0; i < world->obstacle_count; i++) {
        planes += world->obstacles[i].def.shape.kind == FIL_SHAPE_PLANE &&
                  !world->obstacles[i].surface.ghost;
    }
    const int64_t room = near->pair_count + (int64_t)planes * world->piece_count;
    if (room > INT32_MAX / FIL_TOUCH_MAX) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)room);
    }
    FIL_TRY(fil_world_reserve(world, &near->bound, &near->bound_room, room + 1, sizeof(float),
                              error));
    step->bound = near->bound;
    step->pairs = near->pairs;
    step->pair_count = step->boxed_count = near->pair_count;
    if (planes == 0) {
        return FIL_OK;
    }
    int(*list)[2] = (int(*)[2])fil_arena_get(&world->scratch, (size_t)room + 1, sizeof(int[2]));
    if (list == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)room);
    }
    int64_t count = step->pair_count;
    if (count > 0) {
        memcpy(list, step->pairs, sizeof(int[2]) * (size_t)count);
    }
    for (int i = 0; i < world->obstacle_count; i++) {
        const FilObstacle *plane = &world->obstacles[i];
        bool solid = plane->def.shape.kind == FIL_SHAPE_PLANE && !plane->surface.ghost;
        for (int k = 0; solid && k < world->piece_count; k++) {
            if (meets_plane(world, i, &world->pieces[k])) {
                step->bound[count] = -INFINITY;
                list[count][0] = k;
                list[count++][1] = plane->piece;
            }
        }
    }
    step->pairs = (const int(*)[2])list;
    step->pair_count = count;
    return FIL_OK;
}

// Nothing is known of the distances of the pairs just found.
static FilStatus forget_bounds(FilWorld *world, FilError *error) {
    FilNear *near = &world->near;
    FIL_TRY(fil_world_reserve(world, &near->bound, &near->bound_room, near->pair_count + 1,
                              sizeof(float), error));
    for (int64_t k = 0; k < near->pair_count; k++) {
        near->bound[k] = -INFINITY;
    }
    return FIL_OK;
}

// --- kept pairs ----------------------------------------------------------------------------------

static FilStatus reserve_near(FilWorld *world, FilError *error) {
    FilNear *near = &world->near;
    const int pieces = world->piece_count;
    FIL_TRY(fil_world_reserve(world, &near->boxes, &near->box_room, pieces, sizeof(FilBox), error));
    FIL_TRY(fil_world_reserve(world, &near->path, &near->path_room, pieces, sizeof(double), error));
    FIL_TRY(fil_world_reserve(world, &near->points, &near->point_room,
                              3 * (int64_t)world->point_count, sizeof(double), error));
    return fil_world_reserve(world, &near->lengths, &near->length_room, world->rod_count,
                             sizeof(double), error);
}

static double length_of(const FilWorld *world, int rod) {
    return ((const FilRod *)world->bodies[world->rods[rod]].self)->state[1];
}

// Whether what skip_pair() looks at is as it was.
static bool are_kept(const FilWorld *world) {
    const FilNear *near = &world->near;
    bool kept = near->piece_count == world->piece_count && near->rod_count == world->rod_count &&
                near->apart_count == world->apart_count && world->asleep_count == 0;
    for (int i = 0; kept && i < world->rod_count; i++) {
        kept = near->lengths[i] == length_of(world, i);
    }
    return kept;
}

// Paths begin anew.
static void drop_kept(FilWorld *world) {
    world->near.piece_count = 0;
    for (int i = 0; i < world->piece_count; i++) {
        world->near.path[i] = 0.0;
    }
}

// Ask the grid, for some steps ahead where that pays.
static FilStatus renew_pairs(FilWorld *world, Boxing *boxing, FilError *error) {
    FilNear *near = &world->near;
    if (near->piece_count > 0 && near->age < FEW_STEPS) {
        near->plain = PLAIN;
    }
    for (int i = 0; i < world->piece_count; i++) {
        boxing->step->reach[i] -= near->path[i];
    }
    drop_kept(world);
    if (world->asleep_count > 0 || near->plain > 0) {
        const FilBox *boxes;
        near->plain -= near->plain > 0;
        FIL_TRY(fil_world_hide_sleepers(world, boxing->step, &boxes, error));
        FIL_TRY(ask_grid(world, boxes, error));
        return forget_bounds(world, error);
    }
    fil_parallel_ranges(world->piece_count, GRAIN, world->threads, enlarge_range, boxing);
    FIL_TRY(ask_grid(world, near->boxes, error));
    FIL_TRY(forget_bounds(world, error));
    for (int i = 0; i < world->rod_count; i++) {
        near->lengths[i] = length_of(world, i);
    }
    near->rod_count = world->rod_count;
    near->apart_count = world->apart_count;
    near->piece_count = world->piece_count;
    near->age = 0;
    return FIL_OK;
}

FilStatus fil_world_find_pairs(FilWorld *world, FilWorldTry *step, FilError *error) {
    FilNear *near = &world->near;
    const int pieces = world->piece_count, ranges = pieces / GRAIN + 1;
    Boxing boxing = {.world = world, .step = step};
    step->boxes = FIL_NEW(&world->scratch, FilBox, (size_t)pieces + 1);
    step->reach = FIL_NEW(&world->scratch, double, (size_t)pieces + 1);
    boxing.left = FIL_NEW_ZEROED(&world->scratch, bool, ranges);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        pieces);
    }
    FIL_TRY(reserve_near(world, error));
    if (!are_kept(world)) {
        drop_kept(world);
    }
    fil_parallel_ranges(pieces, GRAIN, world->threads, box_range, &boxing);
    bool kept = near->piece_count > 0;
    for (int k = 0; k < ranges; k++) {
        kept = kept && !boxing.left[k];
    }
    if (kept) {
        near->age++;
    } else {
        FIL_TRY(renew_pairs(world, &boxing, error));
    }
    if (world->point_count > 0) {
        memcpy(near->points, step->points, 3 * sizeof(double) * (size_t)world->point_count);
    }
    return list_pairs(world, step, error);
}

FilStatus fil_world_find_more_pairs(FilWorld *world, FilWorldTry *step, FilError *error) {
    const FilNear *near = &world->near;
    bool kept = near->piece_count > 0;
    for (int i = 0; kept && i < world->piece_count; i++) {
        kept = is_inside(&step->boxes[i], &near->boxes[i]);
    }
    if (kept) {
        return FIL_OK;
    }
    const FilBox *boxes;
    drop_kept(world);
    FIL_TRY(fil_world_hide_sleepers(world, step, &boxes, error));
    FIL_TRY(ask_grid(world, boxes, error));
    FIL_TRY(forget_bounds(world, error));
    return list_pairs(world, step, error);
}
