// detect.c - the contacts of a step: closest points of the candidates, and what each contact
// remembers of the step before.
//
// Of the candidate pairs (near.c) those that come within reach in the step are contacts: closer
// than the margins, or than the margins and the way that both go. Three passes, each a loop over
// ranges that threads share, with sums over counts between them, so that contacts come in the order
// of the candidates: which pairs are near; where they touch; contacts, their laws and memories.
//
// Memories are sorted by piece: those of the first piece of a contact are found at once, the one of
// its second piece among them. A contact that slid on to the next piece is looked for among its
// neighbours.
#include "world.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "collide/segment.h"
#include "math/least.h"
#include "math/vec3.h"
#include "near.h"
#include "rod/rod.h"

void fil_world_solid(const FilWorld *world, const FilPiece *piece, FilShape *shape, FilPose *pose) {
    if (piece->obstacle >= 0) {
        *shape = world->obstacles[piece->obstacle].def.shape;
        *pose = world->obstacles[piece->obstacle].pose;
        return;
    }
    const FilRigid *rigid = world->bodies[piece->body].self;
    *shape = *fil_rigid_shape(rigid);
    fil_rigid_pose(rigid, pose);
}

// --- the narrow phase ----------------------------------------------------------------------------

static void ends_of(const FilWorldTry *step, const FilPiece *piece, double ends[2][3]) {
    for (int end = 0; end < 2; end++) {
        fil_copy3(step->points + 3 * (ptrdiff_t)piece->point[end], ends[end]);
    }
}

static bool is_capsule(const FilWorldTry *step, int piece) {
    return step->axes[piece].body >= 0;
}

// The ends of a capsule, and how they move.
static const double (*ends_at(const FilWorldTry *step, int capsule))[3] {
    return FIL_POINTS(step->points + 3 * (ptrdiff_t)step->axes[capsule].point);
}
static const double (*rates_at(const FilWorldTry *step, int capsule))[3] {
    return FIL_POINTS(step->rates + 3 * (ptrdiff_t)step->axes[capsule].point);
}

// How the point p of a solid moves.
static void solid_rate_at(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                          const double p[3], double rate[3]) {
    if (piece->obstacle >= 0) {
        fil_world_obstacle_rate(&world->obstacles[piece->obstacle], step->dt, p, rate);
        return;
    }
    FilRate motion;
    double centre[3], arm[3];
    fil_rigid_rate(world->bodies[piece->body].self, &motion);
    fil_rigid_centre(world->bodies[piece->body].self, centre);
    fil_subtract3(p, centre, arm);
    fil_cross3(motion.spin, arm, rate);
    fil_add3(1.0, motion.velocity, rate);
}

// How the position of a solid moves, and how fast its other points do beside it, at most.
static double solid_rate(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                         double rate[3]) {
    FilShape shape;
    FilPose pose;
    double spin = 0.0;
    fil_world_solid(world, piece, &shape, &pose);
    solid_rate_at(world, step, piece, pose.position, rate);
    for (int k = 0; k < 3; k++) { // how its own axes turn
        double end[3], turned[3];
        fil_copy3(pose.position, end);
        fil_add3(1.0, pose.axis[k], end);
        solid_rate_at(world, step, piece, end, turned);
        fil_add3(-1.0, rate, turned);
        spin += fil_norm3(turned) * piece->extent;
    }
    return spin;
}

// The greatest difference of two times two velocities.
static double greatest_difference(const double a[2][3], const double b[2][3]) {
    double most = 0.0;
    for (int k = 0; k < 4; k++) {
        double difference[3];
        fil_subtract3(a[k % 2], b[k / 2], difference);
        most = fil_most(most, fil_dot3(difference, difference));
    }
    return sqrt(most);
}

// How fast two pieces move, one against the other, at most.
static double speed_between(const FilWorld *world, const FilWorldTry *step, const int pair[2]) {
    double solid[2][2][3], spins = 0.0;
    const double(*rates[2])[3];
    for (int side = 0; side < 2; side++) {
        if (is_capsule(step, pair[side])) {
            rates[side] = rates_at(step, pair[side]);
        } else {
            spins += solid_rate(world, step, &world->pieces[pair[side]], solid[side][0]);
            fil_copy3(solid[side][0], solid[side][1]);
            rates[side] = FIL_POINTS(solid[side]);
        }
    }
    return greatest_difference(rates[0], rates[1]) + spins;
}

static int touch_within(const FilWorld *world, const FilWorldTry *step, const FilPiece *a,
                        const FilPiece *b, double reach, FilTouch out[FIL_TOUCH_MAX]) {
    double at[2][3], to[2][3];
    FilShape shape[2];
    FilPose pose[2];
    if (fil_piece_is_capsule(world, a)) {
        double radius = world->bodies[a->body].radius;
        ends_of(step, a, at);
        if (fil_piece_is_capsule(world, b)) {
            ends_of(step, b, to);
            return fil_touch_capsules((const double(*)[3])at, radius, (const double(*)[3])to,
                                      world->bodies[b->body].radius, reach, out);
        }
        fil_world_solid(world, b, &shape[0], &pose[0]);
        return fil_touch_capsule_shape((const double(*)[3])at, radius, &shape[0], &pose[0], reach,
                                       out);
    }
    fil_world_solid(world, a, &shape[0], &pose[0]);
    fil_world_solid(world, b, &shape[1], &pose[1]);
    return fil_touch_shapes(&shape[0], &pose[0], &shape[1], &pose[1], reach, out);
}

// Whether a touch at the end of a capsule belongs to the next one along the rod, which begins there
// and finds it too, or one that is nearer.
static bool is_next(const FilWorld *world, const FilWorldTry *step, int piece, double t) {
    const FilAxis *at = &step->axes[piece], *next = at + 1;
    return !(t < 1.0) && at->body >= 0 && piece + 1 < world->piece_count &&
           next->body == at->body && next->point == at->point + 1;
}

bool fil_world_is_held(const FilWorld *world, int piece, double t) {
    const FilPiece *at = &world->pieces[piece];
    if (!fil_piece_is_capsule(world, at)) {
        return false;
    }
    const FilBody *body = &world->bodies[at->body];
    const FilRod *rod = body->self;
    const FilEndKind root = rod->root_end.kind, tip = rod->tip_end.kind;
    return (t <= 0.0 && piece == body->first_piece && root != FIL_END_FREE &&
            root != FIL_END_SLIDING) ||
           (t >= 1.0 && piece + 1 == body->first_piece + body->piece_count && tip != FIL_END_FREE &&
            tip != FIL_END_SLIDING);
}

// A touch of a pair that is a contact.
typedef struct Found {
    FilTouch touch;
    double closing; // m/s: how fast it closes
} Found;

// How the place of a touch on a piece moves.
static void rate_at(const FilWorld *world, const FilWorldTry *step, int piece, double t,
                    const double p[3], double rate[3]) {
    if (is_capsule(step, piece)) {
        fil_segment_point(rates_at(step, piece), t, rate);
    } else {
        solid_rate_at(world, step, &world->pieces[piece], p, rate);
    }
}

// Touches of a pair that are within the margins, or will be by the end of the step; a is the
// capsule where one is. Returns how many there are.
static int touch_pair(const FilWorld *world, const FilWorldTry *step, const int pair[2],
                      Found *out) {
    const FilAxis *a = &step->axes[pair[0]], *b = &step->axes[pair[1]];
    const FilPiece *pieces[2] = {&world->pieces[pair[0]], &world->pieces[pair[1]]};
    const bool capsules = a->body >= 0 && b->body >= 0;
    FilTouch touches[FIL_TOUCH_MAX];
    const double margin =
        capsules ? a->margin + b->margin
                 : fil_piece_margin(world, pieces[0]) + fil_piece_margin(world, pieces[1]);
    const double reach = margin + step->dt * speed_between(world, step, pair);
    const int found = capsules
                          ? fil_touch_capsules(ends_at(step, pair[0]), a->radius,
                                               ends_at(step, pair[1]), b->radius, reach, touches)
                          : touch_within(world, step, pieces[0], pieces[1], reach, touches);
    int count = 0;
    for (int k = 0; k < found; k++) {
        const FilTouch *touch = &touches[k];
        if (is_next(world, step, pair[0], touch->t_a) ||
            is_next(world, step, pair[1], touch->t_b)) {
            continue;
        }
        if (!capsules && pieces[1]->obstacle >= 0 &&
            fil_world_is_held(world, pair[0], touch->t_a)) {
            continue;
        }
        double rate[2][3];
        rate_at(world, step, pair[0], touch->t_a, touch->on_a, rate[0]);
        rate_at(world, step, pair[1], touch->t_b, touch->on_b, rate[1]);
        double closing = fil_dot3(rate[1], touch->normal) - fil_dot3(rate[0], touch->normal);
        if (touch->gap <= margin + step->dt * fil_most(0.0, closing)) {
            out[count++] = (Found){*touch, closing};
        }
    }
    return count;
}

void fil_world_order(const FilWorld *world, const FilWorldTry *step, const int pair[2],
                     int ordered[2]) {
    int rank[2];
    for (int side = 0; side < 2; side++) {
        rank[side] = is_capsule(step, pair[side])             ? 0
                     : world->pieces[pair[side]].obstacle < 0 ? 1
                                                              : 2;
    }
    const bool swap = rank[1] < rank[0];
    ordered[0] = pair[swap ? 1 : 0];
    ordered[1] = pair[swap ? 0 : 1];
}

// --- near pairs ----------------------------------------------------------------------------------

enum { GRAIN = 1024 }; // candidates

typedef struct Touching {
    const FilWorld *world;
    FilWorldTry *step;
    int *near;       // candidates that are near: step->others, then step->pairs
    int *near_count; // [ranges] of step->pairs
    int *slot;       // [near + 1] where the touches of a pair begin in `found`, which has room
    int *start;      // [near + 1] how many there are; then, where its contacts begin
    Found *found;
    int *memory_start; // [piece_count + 1] of the memories of each first piece
    bool *lawless;     // [ranges] a pair of materials has no friction
} Touching;

static const int *candidate(const FilWorldTry *step, int k) {
    return k < step->other_count ? step->others[k] : step->pairs[k - step->other_count];
}

static double clamp(double t) {
    return t > -1.0 ? (t < 1.0 ? t : 1.0) : -1.0;
}

// The distance of two axes: to some 1e-8 of itself, which is what a bound needs.
static double distance_of(const FilAxis *a, const FilAxis *b) {
    const double *u = a->half, *v = b->half;
    double w[3];
    fil_subtract3(a->middle, b->middle, w);
    const double uu = fil_dot3(u, u), vv = fil_dot3(v, v), uv = fil_dot3(u, v);
    const double uw = fil_dot3(u, w), vw = fil_dot3(v, w), cc = uu * vv - uv * uv;
    if (!(cc > 1e-6 * uu * vv)) { // parallel
        double p[2][3], q[2][3];
        for (int k = 0; k < 3; k++) {
            p[0][k] = w[k] - u[k];
            p[1][k] = w[k] + u[k];
            q[0][k] = -v[k];
            q[1][k] = v[k];
        }
        return sqrt(fil_closest_segments(FIL_POINTS(p), FIL_POINTS(q)).distance2);
    }
    double s = clamp((uv * vw - vv * uw) / cc), t = (uv * s + vw) / vv;
    if (!(t >= -1.0 && t <= 1.0)) {
        t = clamp(t);
        s = clamp((uv * t - uw) / uu);
    }
    for (int k = 0; k < 3; k++) {
        w[k] += s * u[k] - t * v[k];
    }
    return fil_norm3(w);
}

// Whether the axes of two capsules are within reach. The bound is brought up to date.
static bool are_near(const FilWorld *world, const FilWorldTry *step, int k) {
    const int i = step->pairs[k][0], j = step->pairs[k][1];
    const double paths = world->near.path[i] + world->near.path[j];
    const double apart = distance_of(&step->axes[i], &step->axes[j]);
    FilBound *bound = &step->bounds[k];
    bound->apart = (float)((apart + paths + world->near.gone * (double)bound->rate) * (1.0 - 1e-6));
    if (apart + paths > step->reach[i] + step->reach[j] + step->dt * (double)bound->rate) {
        return false;
    }
    const FilAxis *a = &step->axes[i], *b = &step->axes[j];
    const double reach = a->radius + a->margin + b->radius + b->margin;
    if (!(apart > reach)) {
        return true;
    }
    const double speed = greatest_difference(rates_at(step, i), rates_at(step, j));
    return !(apart > (reach + step->dt * speed) * (1.0 + 1e-6));
}

// Candidates are in the order of their first pieces, but the second ones lie all over the memory:
// what will be needed of them soon is asked for ahead: the axis first, then where it points to.
enum { AHEAD = 8 };

static void fetch_axis(const FilWorldTry *step, int piece) {
    __builtin_prefetch(step->axes[piece].middle);
    __builtin_prefetch(step->axes[piece].rate);
}

static void fetch_ends(const FilWorldTry *step, int piece) {
    const ptrdiff_t at = 3 * (ptrdiff_t)step->axes[piece].point;
    __builtin_prefetch(step->points + at);
    __builtin_prefetch(step->rates + at);
}

static void near_range(void *context, int first, int last) {
    const Touching *touching = context;
    const FilWorldTry *step = touching->step;
    const double *reach = step->reach, until = touching->world->near.gone + step->dt;
    int *near = touching->near + step->other_count + first;
    int left = 0, count = 0;
    for (int k = first; k < last; k++) {
        const FilBound bound = step->bounds[k];
        const double limit = reach[step->pairs[k][0]] + reach[step->pairs[k][1]];
        near[left] = k;
        left += !((double)bound.apart - until * (double)bound.rate > limit);
    }
    for (int m = 0; m < left; m++) {
        const int k = near[m], *pair = step->pairs[k];
        if (m + AHEAD < left) {
            fetch_axis(step, step->pairs[near[m + AHEAD]][1]);
        }
        bool capsules = is_capsule(step, pair[0]) && is_capsule(step, pair[1]);
        if ((!capsules || are_near(touching->world, step, k)) &&
            fil_world_is_candidate(touching->world, step, pair)) {
            near[count++] = step->other_count + k;
        }
    }
    touching->near_count[first / GRAIN] = count;
}

// The lists of the ranges, one after the other. Returns how many candidates there are.
static int join_near(const Touching *touching) {
    const int others = touching->step->other_count, pairs = touching->step->pair_count;
    int *near = touching->near, count = others;
    for (int k = 0; k < others; k++) {
        near[k] = k;
    }
    for (int range = 0; range * GRAIN < pairs; range++) {
        memmove(near + count, near + others + (ptrdiff_t)range * GRAIN,
                sizeof(int) * (size_t)touching->near_count[range]);
        count += touching->near_count[range];
    }
    return count;
}

// Room for the touches of the near pairs. Returns how much.
static int count_slots(const Touching *touching, int near) {
    const double *reach = touching->step->reach;
    int sum = 0;
    for (int k = 0; k < near; k++) {
        const int *pair = candidate(touching->step, touching->near[k]);
        touching->slot[k] = sum;
        sum += reach[pair[0]] < INFINITY && reach[pair[1]] < INFINITY ? 2 : FIL_TOUCH_MAX;
    }
    return sum;
}

// The sphere around a solid, as far as it may reach in the step.
typedef struct Ball {
    int piece; // -1: none yet
    bool finite;
    double centre[3], radius;
} Ball;

static void find_ball(const FilWorld *world, const FilWorldTry *step, int piece, Ball *ball) {
    const FilPiece *solid = &world->pieces[piece];
    FilShape shape;
    FilPose pose;
    double rate[3];
    fil_world_solid(world, solid, &shape, &pose);
    const double spin = solid_rate(world, step, solid, rate);
    *ball = (Ball){.piece = piece, .finite = shape.kind != FIL_SHAPE_PLANE};
    fil_copy3(pose.position, ball->centre);
    ball->radius =
        solid->extent + fil_piece_margin(world, solid) + step->dt * (fil_norm3(rate) + spin);
}

// Whether a capsule is beyond all that a solid may reach in the step.
static bool is_beyond(const FilWorldTry *step, int capsule, const Ball *ball) {
    const FilAxis *axis = &step->axes[capsule];
    const double(*rates)[3] = rates_at(step, capsule);
    const double square = fil_most(fil_dot3(rates[0], rates[0]), fil_dot3(rates[1], rates[1]));
    const double reach = axis->radius + axis->margin + step->dt * sqrt(square);
    const double far = (1.0 + 1e-6) * (ball->radius + reach);
    return ball->finite && fil_axis_distance2(axis, ball->centre) > far * far;
}

static void touch_range(void *context, int first, int last) {
    const Touching *touching = context;
    const FilWorld *world = touching->world;
    const FilWorldTry *step = touching->step;
    Ball ball = {.piece = -1};
    for (int k = first; k < last; k++) {
        int pair[2];
        if (k + 2 * AHEAD < last) {
            fetch_axis(step, candidate(step, touching->near[k + 2 * AHEAD])[1]);
            fetch_ends(step, candidate(step, touching->near[k + AHEAD])[1]);
        }
        fil_world_order(world, step, candidate(step, touching->near[k]), pair);
        bool mixed = is_capsule(step, pair[0]) && !is_capsule(step, pair[1]);
        if (mixed && ball.piece != pair[1]) {
            find_ball(world, step, pair[1], &ball);
        }
        touching->start[k] =
            mixed && is_beyond(step, pair[0], &ball)
                ? 0
                : touch_pair(world, step, pair, touching->found + touching->slot[k]);
    }
}

// --- contacts ------------------------------------------------------------------------------------

// Two unit tangents across the normal, the first one as the least component of it says.
static void complete_frame(const double normal[3], double frame[9]) {
    int least = 0;
    for (int k = 1; k < 3; k++) {
        least = fabs(normal[k]) < fabs(normal[least]) ? k : least;
    }
    double axis[3] = {0.0, 0.0, 0.0};
    axis[least] = 1.0;
    fil_copy3(normal, frame);
    fil_cross3(normal, axis, frame + 3);
    double norm = fil_norm3(frame + 3);
    for (int k = 0; k < 3; k++) {
        frame[3 + k] /= norm;
    }
    fil_cross3(normal, frame + 3, frame + 6);
}

void fil_world_fill_contact(const FilWorld *world, const int pair[2], const FilTouch *touch,
                            double closing, FilWorkContact *contact) {
    const FilPiece *a = &world->pieces[pair[0]], *b = &world->pieces[pair[1]];
    *contact = (FilWorkContact){
        .a = {.body = a->body, .piece = pair[0], .t = touch->t_a},
        .b = {.body = b->body, .piece = pair[1], .t = touch->t_b},
        .gap = touch->gap,
        .start_gap = touch->gap,
        .margin = fil_piece_margin(world, a) + fil_piece_margin(world, b),
        .memory = {.piece = {pair[0], pair[1]},
                   .feature = touch->feature,
                   .approach = fil_most(0.0, closing)},
    };
    fil_copy3(touch->on_a, contact->a.point);
    fil_copy3(touch->on_b, contact->b.point);
    fil_copy3(touch->normal, contact->normal);
    complete_frame(touch->normal, contact->frame);
}

// --- laws and memory -----------------------------------------------------------------------------

// Friction and restitution of a contact. False where nobody set the friction.
static bool set_law(const FilWorld *world, FilWorkContact *contact) {
    int a = fil_piece_surface(world, &world->pieces[contact->a.piece])->material;
    int b = fil_piece_surface(world, &world->pieces[contact->b.piece])->material;
    double mu = world->frictions[fil_world_friction(a, b)];
    contact->mu = mu >= 0.0 ? mu : world->def.friction_default;
    contact->restitution =
        fil_most(world->materials[a].restitution, world->materials[b].restitution);
    return contact->mu >= 0.0;
}

static FilStatus fail_law(const FilWorld *world, const FilWorkContact *contact, FilError *error) {
    return fil_fail(error, FIL_E_ARGUMENT,
                    "materials %d and %d touch, but their friction is not set and there is no "
                    "friction_default",
                    fil_piece_surface(world, &world->pieces[contact->a.piece])->material,
                    fil_piece_surface(world, &world->pieces[contact->b.piece])->material);
}

// Where the memories of each first piece begin.
static void index_memories(const FilWorld *world, int *start) {
    int at = 0;
    for (int piece = 0; piece <= world->piece_count; piece++) {
        while (at < world->memory_count && world->memories[at].piece[0] < piece) {
            at++;
        }
        start[piece] = at;
    }
}

// The memory of a pair of pieces and a feature, else of the next feature of the pair; or NULL.
static const FilMemory *find_memory(const Touching *touching, int a, int b, uint32_t feature) {
    const FilMemory *memories = touching->world->memories;
    const int end = touching->memory_start[a + 1];
    int low = touching->memory_start[a], high = end;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const FilMemory *at = &memories[middle];
        if (at->piece[1] < b || (at->piece[1] == b && at->feature < feature)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && memories[low].piece[1] == b ? &memories[low] : NULL;
}

// The neighbour of a piece on the same rod, or -1.
static int neighbour(const FilWorld *world, int piece, int by) {
    const FilPiece *from = &world->pieces[piece];
    if (!fil_piece_is_capsule(world, from)) {
        return by == 0 ? piece : -1;
    }
    const FilBody *body = &world->bodies[from->body];
    int to = piece + by;
    return to >= body->first_piece && to < body->first_piece + body->piece_count ? to : -1;
}

static const FilMemory *find_slid(const Touching *touching, const FilMemory *key) {
    static const int ways[8][2] = {{1, 0}, {-1, 0},  {0, 1},  {0, -1},
                                   {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    const FilMemory *found = NULL;
    for (int k = 0; k < 8 && found == NULL; k++) {
        int a = neighbour(touching->world, key->piece[0], ways[k][0]);
        int b = neighbour(touching->world, key->piece[1], ways[k][1]);
        found = a >= 0 && b >= 0 ? find_memory(touching, a, b, 0) : NULL;
    }
    return found;
}

static void remember(const Touching *touching, FilWorkContact *contact) {
    FilMemory *own = &contact->memory;
    const FilMemory *found = find_memory(touching, own->piece[0], own->piece[1], own->feature);
    found = found != NULL ? found : find_slid(touching, own);
    contact->known = found != NULL;
    if (found != NULL) {
        // as long as they do not press, the approach is that of now
        bool pressed =
            found->impulse[0] != 0.0 || found->impulse[1] != 0.0 || found->impulse[2] != 0.0;
        own->rebounded = found->rebounded && pressed;
        own->approach = pressed ? found->approach : own->approach;
        fil_copy3(found->impulse, own->impulse);
    }
}

static void fill_range(void *context, int first, int last) {
    const Touching *touching = context;
    bool lawless = false;
    for (int k = first; k < last; k++) {
        if (k + AHEAD < last) {
            const int *next = candidate(touching->step, touching->near[k + AHEAD]);
            __builtin_prefetch(&touching->world->pieces[next[1]]);
        }
        int pair[2];
        fil_world_order(touching->world, touching->step,
                        candidate(touching->step, touching->near[k]), pair);
        for (int c = touching->start[k]; c < touching->start[k + 1]; c++) {
            FilWorkContact *contact = &touching->step->contacts[c];
            const Found *found = &touching->found[touching->slot[k] + c - touching->start[k]];
            fil_world_fill_contact(touching->world, pair, &found->touch, found->closing, contact);
            lawless = !set_law(touching->world, contact) || lawless;
            remember(touching, contact);
        }
    }
    touching->lawless[first / GRAIN] = lawless;
}

// Contacts of the near pairs, whose touches are known.
static FilStatus make_contacts(FilWorld *world, Touching *touching, int near, FilError *error) {
    FilWorldTry *step = touching->step;
    const int ranges = near / GRAIN + 1;
    int sum = 0;
    for (int k = 0; k <= near; k++) {
        int count = k < near ? touching->start[k] : 0;
        touching->start[k] = sum;
        sum += count;
    }
    step->contact_count = sum;
    step->contacts = FIL_NEW(&world->scratch, FilWorkContact, (size_t)sum + 1);
    touching->memory_start = FIL_NEW(&world->scratch, int, (size_t)world->piece_count + 2);
    touching->lawless = FIL_NEW_ZEROED(&world->scratch, bool, ranges);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", sum);
    }
    index_memories(world, touching->memory_start);
    fil_parallel_ranges(near, GRAIN, world->threads, fill_range, touching);
    for (int k = 0; k < ranges; k++) {
        for (int c = 0; touching->lawless[k] && c < sum; c++) { // the first of them
            if (!(step->contacts[c].mu >= 0.0)) {
                return fail_law(world, &step->contacts[c], error);
            }
        }
    }
    return FIL_OK;
}

static FilStatus touch_all(FilWorld *world, FilWorldTry *step, FilError *error) {
    FilArena *arena = &world->scratch;
    const int pairs = step->pair_count;
    Touching touching = {.world = world, .step = step};
    touching.near = FIL_NEW(arena, int, (size_t)pairs + (size_t)step->other_count + 1);
    touching.near_count = FIL_NEW(arena, int, pairs / GRAIN + 1);
    if (!arena->failed) {
        fil_parallel_ranges(pairs, GRAIN, world->threads, near_range, &touching);
    }
    const int near = arena->failed ? 0 : join_near(&touching);
    touching.slot = FIL_NEW(arena, int, (size_t)near + 1);
    touching.start = FIL_NEW(arena, int, (size_t)near + 1);
    const int slots = arena->failed ? 0 : count_slots(&touching, near);
    touching.found = FIL_NEW(arena, Found, (size_t)slots + 1);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d pairs of pieces", pairs);
    }
    fil_parallel_ranges(near, GRAIN / 4, world->threads, touch_range, &touching);
    return make_contacts(world, &touching, near, error);
}

// --- roots ---------------------------------------------------------------------------------------

// The obstacle that a piece overlaps by `depth` or more, or -1.
static int find_overlap(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                        double depth) {
    FilTouch touches[FIL_TOUCH_MAX];
    for (int i = 0; i < world->obstacle_count; i++) {
        const FilPiece *solid = &world->pieces[world->obstacles[i].piece];
        int count = touch_within(world, step, piece, solid, fil_most(0.0, -depth), touches);
        for (int k = 0; k < count; k++) {
            if (touches[k].gap <= -depth) {
                return i;
            }
        }
    }
    return -1;
}

// The pieces next to an end of a rod, for as long as they overlap an obstacle, are rooted there.
// Hair that starts on a head just touches it, and round-off must not tell whether it is rooted: the
// first piece is if it touches, the others if they overlap beyond doubt.
static void root_end(FilWorld *world, const FilWorldTry *step, const FilBody *body, bool tip) {
    const double small = 1e-3 * body->radius;
    for (int k = 0; k < body->piece_count; k++) {
        int at = body->first_piece + (tip ? body->piece_count - 1 - k : k);
        int obstacle = find_overlap(world, step, &world->pieces[at], k == 0 ? -small : small);
        if (obstacle < 0) {
            return;
        }
        world->pieces[at].rooted = obstacle + 1;
    }
}

// Hair grows out of a head: what overlaps an obstacle next to a held end of its rod never touches
// it.
static void find_roots(FilWorld *world, const FilWorldTry *step) {
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        if (body->kind != FIL_BODY_ROD || body->first_piece < world->rooted_count) {
            continue;
        }
        const FilRod *rod = body->self;
        if (rod->root_end.kind != FIL_END_FREE) {
            root_end(world, step, body, false);
        }
        if (rod->tip_end.kind != FIL_END_FREE) {
            root_end(world, step, body, true);
        }
    }
    world->rooted_count = world->piece_count;
}

FilStatus fil_world_root(FilWorld *world, FilError *error) {
    if (world->rooted_count == world->piece_count) {
        return FIL_OK;
    }
    fil_arena_reset(&world->scratch);
    world->past = (FilPast){0};
    FilWorldTry now = {.points =
                           FIL_NEW(&world->scratch, double, 3 * (size_t)world->point_count + 1)};
    if (now.points == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d points",
                        world->point_count);
    }
    fil_world_sample(world, NULL, now.points, NULL);
    find_roots(world, &now);
    return FIL_OK;
}

FilStatus fil_world_add_contact(FilWorld *world, FilWorldTry *step, const FilWorkContact *contact,
                                FilError *error) {
    const int n = step->contact_count;
    int at = 0;
    for (; at < n; at++) {
        const FilWorkContact *other = &step->contacts[at];
        if (other->mended && other->memory.piece[0] == contact->memory.piece[0] &&
            other->memory.piece[1] == contact->memory.piece[1] &&
            other->memory.feature == contact->memory.feature) {
            break;
        }
    }
    if (at == n && n >= step->contact_room) {
        const int room = n + n / 2 + 16;
        FilWorkContact *contacts = FIL_NEW(&world->scratch, FilWorkContact, (size_t)room);
        if (contacts == NULL) {
            return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", room);
        }
        memcpy(contacts, step->contacts, sizeof(FilWorkContact) * (size_t)n);
        step->contacts = contacts;
        step->contact_room = room;
    }
    step->contact_count += at == n;
    step->contacts[at] = *contact;
    return set_law(world, &step->contacts[at]) ? FIL_OK : fail_law(world, contact, error);
}

FilStatus fil_world_detect(FilWorld *world, FilWorldTry *step, FilError *error) {
    find_roots(world, step);
    FIL_TRY(fil_world_find_pairs(world, step, error));
    return touch_all(world, step, error);
}
