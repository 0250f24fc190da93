// near.c - which pieces may come near each other in a step.
//
// The box of a piece covers it now and where its velocity would take it, widened by its radius and
// margin. Candidates are the pairs whose boxes meet. Planes have no box: they are candidates with
// every piece. Where there are only a few solids, as there are beside hair, each is tested against
// the boxes of all pieces; more of them go to the grid, with all else. Pairs of the grid are kept
// from step to step (kept.c).
#include "near.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/least.h"
#include "math/vec3.h"
#include "sleep.h"

enum { FEW_SOLIDS = 8 }; // that the grid does not need
static const double round_up = 1.0 + 1e-6;

const FilBox fil_box_nowhere = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

// --- boxes ---------------------------------------------------------------------------------------

double fil_near_ball(const FilWorld *world, const FilPiece *piece, double centre[3]) {
    FilShape shape;
    FilPose pose;
    double arm[3];
    fil_world_solid(world, piece, &shape, &pose);
    fil_copy3(pose.position, centre);
    if (piece->obstacle < 0) {
        fil_rigid_centre(world->bodies[piece->body].self, centre);
    }
    fil_subtract3(centre, pose.position, arm);
    return piece->extent + fil_norm3(arm);
}

// How the centre of that ball moves over the step, m.
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
    double centre[3], shift[3];
    const double by = fil_near_ball(world, piece, centre) + fil_piece_margin(world, piece);
    shift_solid(world, step->dt, piece, shift);
    fil_box_around(box, centre, by);
    fil_add3(1.0, shift, centre);
    fil_box_around(box, centre, by);
}

static void box_capsule(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                        FilBox *box) {
    const FilBody *body = &world->bodies[piece->body];
    double by = body->radius + body->margin;
    for (int end = 0; end < 2; end++) {
        double ahead[3];
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        fil_box_around(box, step->points + at, by);
        for (int k = 0; k < 3; k++) {
            ahead[k] = step->points[at + k] + step->dt * step->rates[at + k];
        }
        fil_box_around(box, ahead, by);
    }
}

static bool has_box(const FilWorld *world, const FilPiece *piece) {
    bool plane =
        piece->obstacle >= 0 && world->obstacles[piece->obstacle].def.shape.kind == FIL_SHAPE_PLANE;
    return !plane && !fil_piece_surface(world, piece)->ghost;
}

// How far the ends of a capsule went since the step before, beside what v foresaw.
static double follow_ends(const FilBoxing *boxing, const FilPiece *piece) {
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
static double compare_rates(const FilBoxing *boxing, const FilPiece *piece) {
    double most = 0.0;
    for (int end = 0; end < 2; end++) {
        ptrdiff_t at = 3 * (ptrdiff_t)piece->point[end];
        double between[3];
        fil_subtract3(boxing->step->rates + at, boxing->world->near.rates + at, between);
        most = fil_most(most, fil_dot3(between, between));
    }
    return sqrt(most);
}

void fil_near_axis(const FilWorld *world, const FilWorldTry *step, const double *rates,
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

double fil_axis_distance2(const FilAxis *axis, const double point[3]) {
    double w[3];
    fil_subtract3(point, axis->middle, w);
    const double uu = fil_dot3(axis->half, axis->half), uw = fil_dot3(axis->half, w);
    const double t = uw > uu ? 1.0 : uw < -uu ? -1.0 : uu > 0.0 ? uw / uu : 0.0;
    fil_add3(-t, axis->half, w);
    return fil_dot3(w, w);
}

static void box_range(void *context, int first, int last) {
    const FilBoxing *boxing = context;
    const FilWorld *world = boxing->world;
    const FilWorldTry *step = boxing->step;
    FilNear *near = &boxing->world->near;
    const bool kept = near->piece_count > 0;
    bool spent = false;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &step->boxes[i];
        *box = fil_box_nowhere;
        step->reach[i] = INFINITY;
        step->axes[i] = (FilAxis){.body = -1, .until = -1};
        if (has_box(world, piece) && fil_piece_is_capsule(world, piece)) {
            const FilBody *body = &world->bodies[piece->body];
            box_capsule(world, step, piece, box);
            fil_near_axis(world, step, kept ? near->rates : step->rates, piece, &step->axes[i]);
            near->path[i] += kept ? follow_ends(boxing, piece) : 0.0;
            const double ahead = kept ? step->dt * compare_rates(boxing, piece) : 0.0;
            step->reach[i] = round_up * (near->path[i] + body->radius + body->margin + ahead);
            spent = spent || !(step->reach[i] <= near->budget[i]);
        } else if (has_box(world, piece)) {
            box_solid(world, step, piece, box);
        }
    }
    boxing->spent[first / FIL_NEAR_GRAIN] = spent;
}

// --- candidates ----------------------------------------------------------------------------------

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

// --- the candidates of a step --------------------------------------------------------------------

static void begin_boxing(FilWorld *world, FilWorldTry *step, FilBoxing *boxing) {
    int solids[FEW_SOLIDS];
    *boxing = (FilBoxing){.world = world, .step = step};
    boxing->few = count_solids(world, solids) <= FEW_SOLIDS;
    boxing->plain = boxing->few && world->asleep_count == 0 && world->apart_count == 0;
}

FilStatus fil_world_find_pairs(FilWorld *world, FilWorldTry *step, FilError *error) {
    FilNear *near = &world->near;
    const int pieces = world->piece_count;
    FilBoxing boxing;
    begin_boxing(world, step, &boxing);
    step->boxes = FIL_NEW(&world->scratch, FilBox, (size_t)pieces + 1);
    step->axes = FIL_NEW(&world->scratch, FilAxis, (size_t)pieces + 1);
    step->reach = FIL_NEW(&world->scratch, double, (size_t)pieces + 1);
    boxing.spent = FIL_NEW_ZEROED(&world->scratch, bool, pieces / FIL_NEAR_GRAIN + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        pieces);
    }
    FIL_TRY(fil_kept_begin(world, boxing.few, error));
    boxing.elapsed = world->time - near->time;
    near->gone += near->piece_count > 0 ? fabs(boxing.elapsed) : 0.0;
    near->time = world->time;
    fil_parallel_ranges(pieces, FIL_NEAR_GRAIN, world->threads, box_range, &boxing);
    bool kept = near->piece_count > 0 && near->gone + step->dt <= near->span;
    if (kept) {
        FIL_TRY(fil_kept_mend(world, &boxing, &kept, error));
    }
    near->age += kept;
    if (!kept) {
        FIL_TRY(fil_kept_renew(world, &boxing, error));
    }
    if (world->point_count > 0) {
        memcpy(near->points, step->points, 3 * sizeof(double) * (size_t)world->point_count);
    }
    return make_lists(world, step, error);
}

FilStatus fil_world_find_more_pairs(FilWorld *world, FilWorldTry *step, const double *reach,
                                    FilError *error) {
    FilBoxing boxing;
    begin_boxing(world, step, &boxing);
    boxing.spent = FIL_NEW_ZEROED(&world->scratch, bool, world->piece_count / FIL_NEAR_GRAIN + 1);
    if (boxing.spent == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d pieces",
                        world->piece_count);
    }
    for (int i = 0; i < world->piece_count; i++) {
        step->reach[i] = fil_most(step->reach[i], reach[i]);
        boxing.spent[i / FIL_NEAR_GRAIN] = true;
    }
    bool kept = boxing.few && world->asleep_count == 0;
    if (kept) {
        FIL_TRY(fil_kept_mend(world, &boxing, &kept, error));
    }
    if (!kept) { // for where they were when the step began
        FIL_TRY(fil_kept_renew(world, &boxing, error));
    }
    return make_lists(world, step, error);
}
