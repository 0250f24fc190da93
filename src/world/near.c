// near.c - which pieces may come near each other in a step: boxes, and candidate pairs that are
// kept from step to step.
//
// The box of a piece covers it now and where its velocity would take it, widened by its radius and
// margin. Candidates are the pairs whose boxes meet. Planes have no box: they are candidates with
// every piece. Where there are only a few solids, as there are beside hair, each is tested against
// the boxes of all pieces; more of them go to the grid, with all else.
//
// Kept pairs. A capsule that has moved by path_i since the pairs were found, and acts as far as
// far_i from its axis (radius, margin, and its way in this step), uses path_i + far_i of its
// budget. The grid finds the pairs whose axes are closer than the sum of their budgets; no pair
// within far_i + far_j can be missing before a capsule has used up its own. What else is among them
// is told apart by the boxes of the step (fil_world_is_candidate): the contacts of a step do not
// depend on when the pairs were found, and a run that goes on from a checkpoint has the same bits.
//
// Paths. Points of a capsule go no farther than the farther one of its ends. Distances do not change
// when everything moves as one rigid body: what counts is how far a capsule moves beside the rigid
// motion that all of them share, the best one for the points of the step. A head that turns with
// its hair uses up little.
//
// Bounds. With d the distance of the axes of a pair when it was last computed,
//     d(now) >= d + (path_i + path_j)(then) - (path_i + path_j)(now) = bound - path_i - path_j.
// Most candidates are beyond reach by that, step after step, and are passed over at the cost of a
// comparison (detect.c, passing.c). Solids have no bound.
#include "world.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/rod.h"
#include "sleep.h"

enum { GRAIN = 256 };      // pieces
enum { FEW_SOLIDS = 8 };   // that the grid does not need
enum { MANY_POINTS = 512 }; // of which the common motion is found
static const double round_up = 1.0 + 1e-6;
static const double least_skin = 0.125, most_skin = 4.0; // of radius and margin
static const double steps_ahead = 6.0;                   // that the way of the last step is for

// meets no box
static const FilBox nowhere = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

// --- the motion that all share -------------------------------------------------------------------

// x -> to + R (x - from).
typedef struct Motion {
    double from[3], to[3], R[9];
} Motion;

// omega that makes sum |turn x arm - way|^2 least, of rows (sum arm^2 I - arm arm^T | arm x way).
static void solve_turn(const double rows[3][3], const double right[3], double turn[3]) {
    double across[3][3];
    for (int k = 0; k < 3; k++) {
        fil_cross3(rows[(k + 1) % 3], rows[(k + 2) % 3], across[k]);
        turn[k] = 0.0;
    }
    const double volume = fil_dot3(rows[0], across[0]);
    const double size = rows[0][0] + rows[1][1] + rows[2][2];
    for (int k = 0; k < 3 && volume > 1e-6 * size * size * size; k++) {
        fil_add3(right[k] / volume, across[k], turn);
    }
}

// The rigid motion that is nearest to that of the points, of `count` of them `stride` apart; the
// identity where that is no better by far.
static void find_motion(const double *before, const double *after, int count, int stride,
                        Motion *motion) {
    double rows[3][3] = {{0.0}}, right[3] = {0.0}, turn[3], all = 0.0, left = 0.0;
    *motion = (Motion){.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    for (int i = 0; i < count; i++) {
        fil_add3(1.0 / count, before + 3 * (ptrdiff_t)i * stride, motion->from);
        fil_add3(1.0 / count, after + 3 * (ptrdiff_t)i * stride, motion->to);
    }
    for (int i = 0; i < count; i++) {
        double arm[3], way[3], across[3];
        fil_subtract3(before + 3 * (ptrdiff_t)i * stride, motion->from, arm);
        fil_subtract3(after + 3 * (ptrdiff_t)i * stride, before + 3 * (ptrdiff_t)i * stride, way);
        fil_cross3(arm, way, across);
        fil_add3(1.0, across, right);
        for (int k = 0; k < 3; k++) {
            rows[k][k] += fil_dot3(arm, arm);
            fil_add3(-arm[k], arm, rows[k]);
        }
        all += fil_dot3(way, way);
    }
    solve_turn((const double(*)[3])rows, right, turn);
    fil_rotation_exp(turn, motion->R);
    for (int i = 0; i < count; i++) {
        double arm[3], moved[3], way[3];
        fil_subtract3(before + 3 * (ptrdiff_t)i * stride, motion->from, arm);
        fil_apply3(motion->R, arm, moved);
        fil_add3(1.0, motion->to, moved);
        fil_subtract3(after + 3 * (ptrdiff_t)i * stride, moved, way);
        left += fil_dot3(way, way);
    }
    if (!(left < 0.25 * all)) {
        *motion = (Motion){.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    }
}

// --- boxes ---------------------------------------------------------------------------------------

typedef struct Boxing {
    FilWorld *world;
    FilWorldTry *step;
    Motion motion; // of all, since the step before
    bool *spent;   // [ranges] the budget of a piece is used up
    FilBox *asked; // [piece_count] for the grid
    bool few;      // solids: they are not for the grid
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

// How far the ends of a capsule went since the step before, beside the motion of all.
static double follow_ends(const Boxing *boxing, const FilPiece *piece) {
    const Motion *motion = &boxing->motion;
    double way = 0.0;
    for (int end = 0; end < 2; end++) {
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        double arm[3], moved[3];
        fil_subtract3(boxing->world->near.points + at, motion->from, arm);
        fil_apply3(motion->R, arm, moved);
        fil_add3(1.0, motion->to, moved);
        fil_add3(-1.0, boxing->step->points + at, moved);
        way = fmax(way, fil_norm3(moved));
    }
    return way;
}

static void box_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    const FilWorldTry *step = boxing->step;
    FilNear *near = &boxing->world->near;
    bool spent = false;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &step->boxes[i];
        *box = nowhere;
        step->reach[i] = INFINITY;
        if (has_box(world, piece) && fil_piece_is_capsule(world, piece)) {
            const FilBody *body = &world->bodies[piece->body];
            double speed = fmax(fil_norm3(step->rates + 3 * (ptrdiff_t)piece->point[0]),
                                fil_norm3(step->rates + 3 * (ptrdiff_t)piece->point[1]));
            box_capsule(world, step, piece, box);
            near->way[i] = near->piece_count > 0 ? follow_ends(boxing, piece) : step->dt * speed;
            near->path[i] += near->piece_count > 0 ? near->way[i] : 0.0;
            step->reach[i] =
                round_up * (near->path[i] + body->radius + body->margin + step->dt * speed);
            spent = spent || !(step->reach[i] <= near->budget[i]);
        } else if (has_box(world, piece)) {
            box_solid(world, step, piece, box);
        }
    }
    boxing->spent[first / GRAIN] = spent;
}

// A budget for each capsule, and the box that holds what is within it.
static void ask_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    FilNear *near = &boxing->world->near;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        bool capsule = fil_piece_is_capsule(world, piece);
        boxing->asked[i] = capsule || boxing->few ? nowhere : boxing->step->boxes[i];
        near->budget[i] = INFINITY;
        if (capsule && has_box(world, piece)) {
            const FilBody *body = &world->bodies[piece->body];
            near->budget[i] = boxing->step->reach[i] + near->skin * (body->radius + body->margin) +
                              steps_ahead * near->way[i];
            for (int end = 0; end < 2; end++) {
                box_around(&boxing->asked[i],
                           boxing->step->points + 3 * (ptrdiff_t)piece->point[end],
                           near->budget[i]);
            }
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

// A lower bound of the distance of two segments: along the common perpendicular of their lines, and
// along what is perpendicular to one of them and points to the middle of the other.
static bool are_farther(const double *a[2], const double *b[2], double than) {
    double u[3], v[3], w[3], n[3];
    for (int k = 0; k < 3; k++) {
        u[k] = 0.5 * (a[1][k] - a[0][k]);
        v[k] = 0.5 * (b[1][k] - b[0][k]);
        w[k] = 0.5 * ((a[0][k] - b[0][k]) + (a[1][k] - b[1][k]));
    }
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

static bool are_beyond(const Boxing *boxing, int i, int j) {
    const FilNear *near = &boxing->world->near;
    const double budget = near->budget[i] + near->budget[j];
    if (!(budget < INFINITY)) {
        return false;
    }
    const FilPiece *a = &boxing->world->pieces[i], *b = &boxing->world->pieces[j];
    const double *points = boxing->step->points;
    const double *ends_a[2] = {points + 3 * (ptrdiff_t)a->point[0],
                               points + 3 * (ptrdiff_t)a->point[1]};
    const double *ends_b[2] = {points + 3 * (ptrdiff_t)b->point[0],
                               points + 3 * (ptrdiff_t)b->point[1]};
    return are_farther(ends_a, ends_b, round_up * budget);
}

// Pairs that never count, as long as the lengths of the rods, the joints and what sleeps stay, and
// those beyond their budgets.
static bool skip_pair(const void *user, int i, int j) {
    const Boxing *boxing = user;
    const FilWorld *world = boxing->world;
    const FilPiece *a = &world->pieces[i], *b = &world->pieces[j];
    if (world->asleep_count > 0 && fil_piece_is_still(world, a) && fil_piece_is_still(world, b)) {
        return true;
    }
    if (a->obstacle >= 0 || b->obstacle >= 0) {
        return a->obstacle >= 0 && b->obstacle >= 0;
    }
    if (a->body == b->body &&
        (!world->bodies[a->body].surface.self || are_neighbours(world, a, b))) {
        return true;
    }
    return are_beyond(boxing, i, j) || (a->body != b->body && world->apart_count > 0 &&
                                        fil_world_are_joined(world, i, j));
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

// Ask the grid, and forget what was known of distances.
static FilStatus ask_grid(FilWorld *world, Boxing *boxing, FilError *error) {
    FilNear *near = &world->near;
    FilWorldTry asking = {.boxes = boxing->asked};
    FilGridQuery query = {.count = world->piece_count,
                          .skip = skip_pair,
                          .user = boxing,
                          .threads = world->threads};
    FIL_TRY(fil_world_hide_sleepers(world, &asking, &query.boxes, error));
    FIL_TRY(fil_grid_pairs(world->grid, &query, &near->pairs, &near->pair_count, error));
    if (near->pair_count > INT32_MAX / FIL_TOUCH_MAX) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)near->pair_count);
    }
    FIL_TRY(fil_world_reserve(world, &near->bound, &near->bound_room, near->pair_count + 1,
                              sizeof(float), error));
    for (int64_t k = 0; k < near->pair_count; k++) {
        near->bound[k] = -INFINITY;
    }
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
                        (long long)count + (long long)world->near.pair_count);
    }
    others.count = 0;
    list_others(world, step, &others);
    step->others = (const int(*)[2])others.list;
    step->other_count = (int)count;
    step->pairs = world->near.pairs;
    step->pair_count = (int)world->near.pair_count;
    step->bound = world->near.bound;
    return FIL_OK;
}

// --- kept pairs ----------------------------------------------------------------------------------

static FilStatus reserve_near(FilWorld *world, FilError *error) {
    FilNear *near = &world->near;
    const int pieces = world->piece_count;
    const size_t size = sizeof(double);
    FIL_TRY(fil_world_reserve(world, &near->budget, &near->budget_room, pieces, size, error));
    FIL_TRY(fil_world_reserve(world, &near->path, &near->path_room, pieces, size, error));
    FIL_TRY(fil_world_reserve(world, &near->way, &near->way_room, pieces, size, error));
    FIL_TRY(fil_world_reserve(world, &near->points, &near->point_room,
                              3 * (int64_t)world->point_count, size, error));
    return fil_world_reserve(world, &near->lengths, &near->length_room, world->rod_count, size,
                             error);
}

static double length_of(const FilWorld *world, int rod) {
    return ((const FilRod *)world->bodies[world->rods[rod]].self)->state[1];
}

// Whether what skip_pair() looks at is as it was.
static bool are_kept(const FilWorld *world, bool few) {
    const FilNear *near = &world->near;
    bool kept = near->piece_count == world->piece_count && near->rod_count == world->rod_count &&
                near->apart_count == world->apart_count && world->asleep_count == 0 && few;
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
        world->near.budget[i] = INFINITY;
    }
}

// A thicker skin where it wears off soon, a thinner one where it lasts: both cost.
static void choose_skin(FilNear *near) {
    if (near->age > 0 && near->age < 4) {
        near->skin = fmin(2.0 * near->skin, most_skin);
    } else if (near->age > 12) {
        near->skin *= 0.7;
    }
    near->skin = fmax(near->skin, least_skin);
}

// Find the pairs for the steps to come, from step->reach on.
static FilStatus renew_pairs(FilWorld *world, Boxing *boxing, FilError *error) {
    FilNear *near = &world->near;
    for (int i = 0; i < world->piece_count; i++) {
        boxing->step->reach[i] -= near->path[i];
    }
    choose_skin(near);
    drop_kept(world);
    boxing->asked = FIL_NEW(&world->scratch, FilBox, (size_t)world->piece_count + 1);
    if (boxing->asked == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        world->piece_count);
    }
    fil_parallel_ranges(world->piece_count, GRAIN, world->threads, ask_range, boxing);
    FIL_TRY(ask_grid(world, boxing, error));
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
    int solids[FEW_SOLIDS];
    Boxing boxing = {.world = world, .step = step};
    boxing.few = count_solids(world, solids) <= FEW_SOLIDS;
    step->boxes = FIL_NEW(&world->scratch, FilBox, (size_t)pieces + 1);
    step->reach = FIL_NEW(&world->scratch, double, (size_t)pieces + 1);
    boxing.spent = FIL_NEW_ZEROED(&world->scratch, bool, ranges);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        pieces);
    }
    FIL_TRY(reserve_near(world, error));
    if (!are_kept(world, boxing.few)) {
        drop_kept(world);
    } else {
        const int stride = 1 + world->point_count / MANY_POINTS;
        find_motion(near->points, step->points, world->point_count / stride, stride,
                    &boxing.motion);
    }
    fil_parallel_ranges(pieces, GRAIN, world->threads, box_range, &boxing);
    bool kept = near->piece_count > 0;
    for (int k = 0; k < ranges; k++) {
        kept = kept && !boxing.spent[k];
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
    int solids[FEW_SOLIDS];
    Boxing boxing = {.world = world, .step = step};
    boxing.few = count_solids(world, solids) <= FEW_SOLIDS;
    bool kept = boxing.few;
    for (int i = 0; i < world->piece_count; i++) {
        kept = kept && (reach[i] <= world->near.budget[i]);
        step->reach[i] = fmax(step->reach[i], reach[i]);
    }
    if (!kept) {
        FIL_TRY(renew_pairs(world, &boxing, error));
    }
    return make_lists(world, step, error);
}
