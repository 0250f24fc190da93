// kept.c - candidate pairs that are kept from step to step.
//
// Pairs are found for a span of time. Let v be the velocities when they were found, and path_i how
// far capsule i has gone since beside v, summed over the steps. A capsule acts as far as R_i
// (radius and margin) around where it is and will be at the end of the step, so that it uses
//     use_i = path_i + R_i + dt |v_now - v|
// of a budget. The grid is asked with the boxes of all that a capsule would sweep with v in the
// span, widened by its budget; and as capsules i and j come closer no faster than v_ij, the
// greatest difference of their v, than by what goes beside v, those that are farther apart than
//     budget_i + budget_j + span v_ij
// are left out (collide/glide.h). No candidate is missing before the span is over or a budget is
// used up. What else is among them is told apart by the boxes of the step (fil_world_is_candidate):
// the contacts of a step do not depend on when the pairs were found, and a run that goes on from a
// checkpoint has the same bits. A few capsules are thrown about where most are not: those that have
// used up their budgets get new ones, and their pairs are looked for among all pieces.
//
// (Tried: v = 0, and the rigid motion that fits all points best. Hair moves by a good part of its
// radius in a step, but its neighbours move with it: lists for v = 0 are used up in two or three
// steps, and no rigid motion fits the hair of a head that turns. Spans of 8 and 10 steps: fewer
// lists, but as many more pairs in each, and no gain.)
//
// Bounds. With d the distance of the axes of a pair when it was last computed, at time s,
//     d(t) >= d - (t - s) v_ij - (what path_i + path_j grew by) = bound - t v_ij - path_i - path_j.
// Most candidates are beyond reach by that, step after step, and are passed over at the cost of a
// comparison (detect.c, passing.c). Solids have no bound.
#include "near.h"

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

enum { FEW_SPENT = 16, SPENT_PART = 256 }; // pieces that get a new budget: so many and a part
enum { MOST_NEW = 256 };                   // pairs that a new budget brings
enum { LEAST_SPAN = 2, MOST_SPAN = 6 };    // steps
static const double round_up = 1.0 + 1e-6;
static const double skin = 1.0; // of radius and margin: what a budget has beyond what is used

// --- pairs that never touch ----------------------------------------------------------------------

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
    int until = body->surface.self ? i : end - 1;
    while (until + 1 < end && are_neighbours(world, piece, &world->pieces[until + 1])) {
        until++;
    }
    return until;
}

// A solid whose pairs are listed elsewhere (near.c). The grid is not asked about it, but boxes that
// a violent try made larger than any number meet even boxes that are nowhere.
static bool is_elsewhere(const FilBoxing *boxing, int i) {
    const FilBox *box = &boxing->step->boxes[i];
    return boxing->step->axes[i].body < 0 && (boxing->few || !(box->low[0] <= box->high[0]));
}

// Pairs that never count, as long as the lengths of the rods, the joints and what sleeps stay.
static bool are_strangers(const FilBoxing *boxing, int i, int j) {
    const FilWorld *world = boxing->world;
    const FilAxis *axes = boxing->step->axes;
    if (is_elsewhere(boxing, i) || is_elsewhere(boxing, j)) {
        return true;
    }
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

// --- asking the grid -----------------------------------------------------------------------------

// What is used now, a skin, and once more what it went beside v: what went astray does so again.
static double choose_budget(const FilBoxing *boxing, int i) {
    const FilBody *body = &boxing->world->bodies[boxing->world->pieces[i].body];
    return boxing->step->reach[i] + skin * (body->radius + body->margin) +
           boxing->world->near.path[i];
}

// What the grid's pairs are sifted by.
static void set_glide(const FilBoxing *boxing, int i) {
    const FilNear *near = &boxing->world->near;
    const FilAxis *axis = &boxing->step->axes[i];
    double way[3] = {0.0};
    fil_add3(near->span, axis->rate, way);
    fil_glide_set(&boxing->glides[i], &boxing->frame, axis->middle, axis->half, way,
                  near->budget[i] + near->span * axis->spin);
}

// Around what, and in what unit, the glides are measured.
static void find_frame(FilBoxing *boxing) {
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
    const FilBoxing *boxing = context;
    const FilWorld *world = boxing->world;
    const FilWorldTry *step = boxing->step;
    FilNear *near = &boxing->world->near;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &boxing->asked[i];
        bool capsule = step->axes[i].body >= 0;
        *box = capsule || boxing->few ? fil_box_nowhere : step->boxes[i];
        near->budget[i] = capsule ? choose_budget(boxing, i) : INFINITY;
        near->path[i] = 0.0;
        for (int end = 0; end < 2 && capsule; end++) {
            ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
            double ahead[3];
            fil_copy3(step->points + at, ahead);
            fil_add3(near->span, step->rates + at, ahead);
            fil_box_around(box, step->points + at, near->budget[i]);
            fil_box_around(box, ahead, near->budget[i]);
        }
        if (capsule) {
            FilAxis *axis = &step->axes[i];
            fil_near_axis(world, step, step->rates, piece, axis);
            axis->until = find_until(world, i);
        }
        set_glide(boxing, i);
    }
}

// v_ij: how fast two capsules come closer, as foreseen, at most.
static double foresee_rate(const FilAxis *a, const FilAxis *b) {
    double between[3];
    fil_subtract3(a->rate, b->rate, between);
    return round_up * (fil_norm3(between) + a->spin + b->spin);
}

// Without strangers, and pairs that are beyond their budgets.
static int sift_pairs(const void *user, int (*pairs)[2], int count) {
    const FilBoxing *boxing = user;
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
    const FilBoxing *boxing = context;
    FilNear *near = &boxing->world->near;
    for (int k = first; k < last; k++) {
        near->bounds[k] = unknown_bound(boxing->step, near->pairs[k]);
    }
}

// Ask the grid. Nothing is known of distances.
static FilStatus ask_grid(FilWorld *world, FilBoxing *boxing, FilError *error) {
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
    fil_parallel_ranges(near->pair_count, FIL_NEAR_GRAIN, world->threads, bound_range, boxing);
    return FIL_OK;
}

// --- renewal -------------------------------------------------------------------------------------

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

FilStatus fil_kept_begin(FilWorld *world, bool few, FilError *error) {
    FIL_TRY(reserve_near(world, error));
    if (!are_kept(world, few)) {
        drop_kept(world);
    }
    return FIL_OK;
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

FilStatus fil_kept_renew(FilWorld *world, FilBoxing *boxing, FilError *error) {
    FilNear *near = &world->near;
    for (int i = 0; i < world->piece_count; i++) {
        boxing->step->reach[i] -= near->path[i];
    }
    choose_span(near, near->gone + boxing->step->dt > near->span);
    near->span = round_up * near->steps * boxing->step->dt; // sums of times are rounded
    boxing->asked = FIL_NEW(&world->scratch, FilBox, (size_t)world->piece_count + 1);
    boxing->glides = FIL_NEW(&world->scratch, FilGlide, (size_t)world->piece_count + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        world->piece_count);
    }
    near->piece_count = 0;
    near->gone = 0.0;
    find_frame(boxing);
    fil_parallel_ranges(world->piece_count, FIL_NEAR_GRAIN, world->threads, ask_range, boxing);
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
    FilBoxing *boxing;
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

// Whether two segments are farther apart than that: along their common perpendicular, or along what
// is perpendicular to one of them and points to the middle of the other (see collide/glide.c).
static bool are_farther(const FilAxis *a, const FilAxis *b, double than) {
    const double *u = a->half, *v = b->half;
    double w[3], n[3][3];
    fil_subtract3(a->middle, b->middle, w);
    const double uu = fil_dot3(u, u), uw = fil_dot3(u, w), vv = fil_dot3(v, v), vw = fil_dot3(v, w);
    fil_cross3(u, v, n[0]);
    for (int k = 0; k < 3; k++) {
        n[1][k] = uu * w[k] - uw * u[k];
        n[2][k] = vv * w[k] - vw * v[k];
    }
    const double far = than + 1e-14 * (fil_norm3(w) + a->length + b->length); // and round-off
    bool farther = false;
    for (int k = 0; k < 3; k++) {
        const double apart =
            fabs(fil_dot3(w, n[k])) - fabs(fil_dot3(u, n[k])) - fabs(fil_dot3(v, n[k]));
        farther = farther || (apart > 0.0 && apart * apart > far * far * fil_dot3(n[k], n[k]));
    }
    return farther;
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
static int list_spent(const FilBoxing *boxing, int *spent, int room) {
    const FilWorld *world = boxing->world;
    int count = 0;
    for (int i = 0; i < world->piece_count; i++) {
        const bool over = boxing->spent[i / FIL_NEAR_GRAIN] && boxing->step->axes[i].body >= 0 &&
                          !(boxing->step->reach[i] <= world->near.budget[i]);
        if (over && count < room) {
            spent[count] = i;
        }
        count += over;
    }
    return count;
}

FilStatus fil_kept_mend(FilWorld *world, FilBoxing *boxing, bool *mended, FilError *error) {
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
