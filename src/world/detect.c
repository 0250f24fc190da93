// detect.c - the contacts of a step: boxes, candidate pairs, closest points, and what each contact
// remembers of the step before.
//
// The box of a piece covers it now and where its velocity would take it, widened by its radius and
// margin. Planes have no box: every piece is tested against them. Of the candidate pairs those that
// come within reach in the step are contacts: closer than the margins, or than the margins and the
// way that both go. Candidates are sorted by piece, so are the contacts, and so were those of the
// step before: one walk through both lists finds again what was there. A contact that slid on to
// the next piece is looked for among its neighbours.
#include "world.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "rod/rod.h"
#include "sleep.h"

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

static const FilSurface *surface_of(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle >= 0 ? &world->obstacles[piece->obstacle].surface
                                : &world->bodies[piece->body].surface;
}

static double margin_of(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle >= 0 ? 0.0 : world->bodies[piece->body].margin;
}

// --- the broad phase -----------------------------------------------------------------------------

static void box_around(FilBox *box, const double p[3], double by) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], p[k] - by);
        box->high[k] = fmax(box->high[k], p[k] + by);
    }
}

static void box_solid(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                      FilBox *box) {
    FilShape shape;
    FilPose pose;
    fil_world_solid(world, piece, &shape, &pose);
    double by = piece->extent + margin_of(world, piece);
    box_around(box, pose.position, by);
    if (piece->obstacle >= 0) {
        box_around(box, world->obstacles[piece->obstacle].next.position, by);
        return;
    }
    FilRate rate;
    fil_rigid_rate(world->bodies[piece->body].self, &rate);
    fil_add3(step->dt, rate.velocity, pose.position);
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

typedef struct Boxing {
    const FilWorld *world;
    const FilWorldTry *step;
    FilBox *boxes;
} Boxing;

static bool is_plane(const FilWorld *world, const FilPiece *piece) {
    return piece->obstacle >= 0 &&
           world->obstacles[piece->obstacle].def.shape.kind == FIL_SHAPE_PLANE;
}

static void box_range(void *context, int first, int last) {
    const Boxing *boxing = context;
    const FilWorld *world = boxing->world;
    for (int i = first; i < last; i++) {
        const FilPiece *piece = &world->pieces[i];
        FilBox *box = &boxing->boxes[i];
        *box = (FilBox){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
        if (is_plane(world, piece) || surface_of(world, piece)->ghost) {
            // far from all others: it meets nobody in the grid
            *box = (FilBox){{0.0, 0.0, 0.0}, {-1.0, -1.0, -1.0}};
        } else if (fil_piece_is_capsule(world, piece)) {
            box_capsule(world, boxing->step, piece, box);
        } else {
            box_solid(world, boxing->step, piece, box);
        }
    }
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
    double between = fmax(b->s[0] - a->s[1], a->s[0] - b->s[1]) * rod->state[1];
    double longest = fmax(a->s[1] - a->s[0], b->s[1] - b->s[0]) * rod->state[1];
    return between < fmax(3.15 * body->radius, 0.5 * longest);
}

static bool skip_pair(const void *user, int i, int j) {
    const FilWorld *world = user;
    const FilPiece *a = &world->pieces[i], *b = &world->pieces[j];
    if (fil_piece_is_still(world, a) && fil_piece_is_still(world, b)) {
        return true;
    }
    if (a->obstacle >= 0 && b->obstacle >= 0) {
        return true;
    }
    if (a->obstacle >= 0 || b->obstacle >= 0) {
        const FilPiece *body = a->obstacle < 0 ? a : b;
        return body->rooted == 1 + (a->obstacle < 0 ? b->obstacle : a->obstacle);
    }
    if (a->body != b->body) {
        return world->apart_count > 0 && fil_world_are_joined(world, i, j);
    }
    return !world->bodies[a->body].surface.self || are_neighbours(world, a, b);
}

static FilStatus make_boxes(FilWorld *world, FilWorldTry *step, FilError *error) {
    step->boxes = FIL_NEW(&world->scratch, FilBox, (size_t)world->piece_count + 1);
    if (step->boxes == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        world->piece_count);
    }
    Boxing boxing = {.world = world, .step = step, .boxes = step->boxes};
    fil_parallel_ranges(world->piece_count, 256, world->threads, box_range, &boxing);
    return FIL_OK;
}

// --- the narrow phase ----------------------------------------------------------------------------

static void ends_of(const FilWorldTry *step, const FilPiece *piece, double ends[2][3]) {
    for (int end = 0; end < 2; end++) {
        fil_copy3(step->points + 3 * (ptrdiff_t)piece->point[end], ends[end]);
    }
}

// How the place of a piece at fraction t, or the point p of a solid, moves.
static void rate_at(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece, double t,
                    const double p[3], double rate[3]) {
    if (fil_piece_is_capsule(world, piece)) {
        const double *from = step->rates + 3 * (ptrdiff_t)piece->point[0];
        const double *to = step->rates + 3 * (ptrdiff_t)piece->point[1];
        for (int k = 0; k < 3; k++) {
            rate[k] = (1.0 - t) * from[k] + t * to[k];
        }
        return;
    }
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

// How fast two pieces move, one against the other, at most.
static double speed_between(const FilWorld *world, const FilWorldTry *step, const FilPiece *a,
                            const FilPiece *b) {
    double most = 0.0;
    const FilPiece *both[2] = {a, b};
    double rates[2][2][3], spins[2] = {0.0, 0.0};
    for (int side = 0; side < 2; side++) {
        const FilPiece *piece = both[side];
        if (fil_piece_is_capsule(world, piece)) {
            fil_copy3(step->rates + 3 * (ptrdiff_t)piece->point[0], rates[side][0]);
            fil_copy3(step->rates + 3 * (ptrdiff_t)piece->point[1], rates[side][1]);
            continue;
        }
        FilShape shape;
        FilPose pose;
        fil_world_solid(world, piece, &shape, &pose);
        rate_at(world, step, piece, 0.0, pose.position, rates[side][0]);
        fil_copy3(rates[side][0], rates[side][1]);
        for (int k = 0; k < 3; k++) { // how its own axes turn
            double end[3], turned[3];
            fil_copy3(pose.position, end);
            fil_add3(1.0, pose.axis[k], end);
            rate_at(world, step, piece, 0.0, end, turned);
            fil_add3(-1.0, rates[side][0], turned);
            spins[side] += fil_norm3(turned) * piece->extent;
        }
    }
    for (int k = 0; k < 4; k++) {
        double difference[3];
        fil_subtract3(rates[0][k % 2], rates[1][k / 2], difference);
        most = fmax(most, fil_norm3(difference));
    }
    return most + spins[0] + spins[1];
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
static bool is_next(const FilWorld *world, int piece, double t) {
    const FilPiece *at = &world->pieces[piece];
    if (t < 1.0 || !fil_piece_is_capsule(world, at)) {
        return false;
    }
    const FilBody *body = &world->bodies[at->body];
    return piece + 1 < body->first_piece + body->piece_count &&
           world->pieces[piece + 1].point[0] == at->point[1];
}

// Whether a touch is at an end of a rod that is held there: no impulse moves it.
static bool is_held(const FilWorld *world, int piece, double t) {
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

typedef struct Touches {
    int count;
    double margin; // m, of the pair
    FilTouch touch[FIL_TOUCH_MAX];
    double closing[FIL_TOUCH_MAX]; // m/s: how fast each closes
} Touches;

// Touches of a pair that are within the margins, or will be by the end of the step; a is the
// capsule where one is.
static void touch_pair(const FilWorld *world, const FilWorldTry *step, const int pair[2],
                       Touches *out) {
    const FilPiece *a = &world->pieces[pair[0]], *b = &world->pieces[pair[1]];
    out->margin = margin_of(world, a) + margin_of(world, b);
    double reach = out->margin + step->dt * speed_between(world, step, a, b);
    int found = touch_within(world, step, a, b, reach, out->touch);
    out->count = 0;
    for (int k = 0; k < found; k++) {
        const FilTouch *touch = &out->touch[k];
        if (is_next(world, pair[0], touch->t_a) || is_next(world, pair[1], touch->t_b)) {
            continue;
        }
        if (b->obstacle >= 0 && is_held(world, pair[0], touch->t_a)) {
            continue;
        }
        double rate[2][3];
        rate_at(world, step, a, touch->t_a, touch->on_a, rate[0]);
        rate_at(world, step, b, touch->t_b, touch->on_b, rate[1]);
        double closing = fil_dot3(rate[1], touch->normal) - fil_dot3(rate[0], touch->normal);
        if (touch->gap <= out->margin + step->dt * fmax(closing, 0.0)) {
            out->closing[out->count] = closing;
            out->touch[out->count++] = *touch;
        }
    }
}

// Pieces in the order in which touch_pair() wants them: capsules first, then bodies, then
// obstacles.
static void order_pair(const FilWorld *world, const int pair[2], int ordered[2]) {
    const FilPiece *a = &world->pieces[pair[0]], *b = &world->pieces[pair[1]];
    int rank_a = fil_piece_is_capsule(world, a) ? 0 : a->obstacle < 0 ? 1 : 2;
    int rank_b = fil_piece_is_capsule(world, b) ? 0 : b->obstacle < 0 ? 1 : 2;
    bool swap = rank_b < rank_a;
    ordered[0] = pair[swap ? 1 : 0];
    ordered[1] = pair[swap ? 0 : 1];
}

typedef struct Touching {
    const FilWorld *world;
    FilWorldTry *step;
    int *counts; // [pair_count + 1], then where each pair's contacts begin
} Touching;

static void count_range(void *context, int first, int last) {
    const Touching *touching = context;
    Touches touches;
    for (int k = first; k < last; k++) {
        int pair[2];
        order_pair(touching->world, touching->step->pairs[k], pair);
        touch_pair(touching->world, touching->step, pair, &touches);
        touching->counts[k] = touches.count;
    }
}

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

static void fill_contact(const FilWorld *world, const int pair[2], const Touches *touches, int k,
                         FilWorkContact *contact) {
    const FilTouch *touch = &touches->touch[k];
    *contact = (FilWorkContact){
        .a = {.body = world->pieces[pair[0]].body, .piece = pair[0], .t = touch->t_a},
        .b = {.body = world->pieces[pair[1]].body, .piece = pair[1], .t = touch->t_b},
        .gap = touch->gap,
        .margin = touches->margin,
        .memory = {.piece = {pair[0], pair[1]},
                   .feature = touch->feature,
                   .approach = fmax(touches->closing[k], 0.0)},
    };
    fil_copy3(touch->on_a, contact->a.point);
    fil_copy3(touch->on_b, contact->b.point);
    fil_copy3(touch->normal, contact->normal);
    complete_frame(touch->normal, contact->frame);
}

static void fill_range(void *context, int first, int last) {
    const Touching *touching = context;
    Touches touches;
    for (int k = first; k < last; k++) {
        int at = touching->counts[k], pair[2];
        if (touching->counts[k + 1] == at) {
            continue;
        }
        order_pair(touching->world, touching->step->pairs[k], pair);
        touch_pair(touching->world, touching->step, pair, &touches);
        for (int c = 0; c < touches.count; c++) {
            fill_contact(touching->world, pair, &touches, c, &touching->step->contacts[at + c]);
        }
    }
}

FilStatus fil_world_find_pairs(FilWorld *world, FilWorldTry *step, FilError *error) {
    const FilBox *boxes;
    FIL_TRY(fil_world_hide_sleepers(world, step, &boxes, error));
    const FilGridQuery query = {.count = world->piece_count,
                                .boxes = boxes,
                                .skip = skip_pair,
                                .user = world,
                                .threads = world->threads};
    FIL_TRY(fil_grid_pairs(world->grid, &query, &step->pairs, &step->pair_count, error));
    int planes = 0;
    for (int i = 0; i < world->obstacle_count; i++) {
        planes += world->obstacles[i].def.shape.kind == FIL_SHAPE_PLANE &&
                  !world->obstacles[i].surface.ghost;
    }
    int64_t room = step->pair_count + (int64_t)planes * world->piece_count;
    int(*list)[2] = (int(*)[2])fil_arena_get(&world->scratch, (size_t)room + 1, sizeof(int[2]));
    if (list == NULL || room > INT32_MAX / FIL_TOUCH_MAX) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %lld pairs of pieces",
                        (long long)room);
    }
    int64_t count = step->pair_count;
    if (count > 0) {
        memcpy(list, step->pairs, sizeof(int[2]) * (size_t)count);
    }
    for (int i = 0; i < world->obstacle_count; i++) {
        const FilObstacle *plane = &world->obstacles[i];
        if (plane->def.shape.kind != FIL_SHAPE_PLANE || plane->surface.ghost) {
            continue;
        }
        for (int k = 0; k < world->piece_count; k++) {
            const FilPiece *piece = &world->pieces[k];
            if (piece->obstacle < 0 && piece->rooted != i + 1 && !surface_of(world, piece)->ghost &&
                (plane->moves || !fil_piece_is_still(world, piece))) {
                list[count][0] = k;
                list[count++][1] = plane->piece;
            }
        }
    }
    step->pairs = (const int(*)[2])list;
    step->pair_count = count;
    return FIL_OK;
}

static FilStatus touch_all(FilWorld *world, FilWorldTry *step, FilError *error) {
    int pairs = (int)step->pair_count;
    int *counts = FIL_NEW(&world->scratch, int, (size_t)pairs + 1);
    if (counts == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d pairs of pieces", pairs);
    }
    Touching touching = {.world = world, .step = step, .counts = counts};
    fil_parallel_ranges(pairs, 64, world->threads, count_range, &touching);
    int sum = 0;
    for (int k = 0; k <= pairs; k++) {
        int count = k < pairs ? counts[k] : 0;
        counts[k] = sum;
        sum += count;
    }
    step->contact_count = sum;
    step->contacts = FIL_NEW(&world->scratch, FilWorkContact, (size_t)sum + 1);
    if (step->contacts == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", sum);
    }
    fil_parallel_ranges(pairs, 64, world->threads, fill_range, &touching);
    return FIL_OK;
}

// --- laws and memory -----------------------------------------------------------------------------

static FilStatus set_law(const FilWorld *world, FilWorkContact *contact, FilError *error) {
    int a = surface_of(world, &world->pieces[contact->a.piece])->material;
    int b = surface_of(world, &world->pieces[contact->b.piece])->material;
    double mu = world->frictions[fil_world_friction(a, b)];
    if (mu < 0.0 && world->def.friction_default < 0.0) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "materials %d and %d touch, but their friction is not set and there is no "
                        "friction_default",
                        a, b);
    }
    contact->mu = mu >= 0.0 ? mu : world->def.friction_default;
    contact->restitution = fmax(world->materials[a].restitution, world->materials[b].restitution);
    return FIL_OK;
}

static int compare_memory(const FilMemory *a, const FilMemory *b) {
    if (a->piece[0] != b->piece[0]) {
        return a->piece[0] < b->piece[0] ? -1 : 1;
    }
    if (a->piece[1] != b->piece[1]) {
        return a->piece[1] < b->piece[1] ? -1 : 1;
    }
    return a->feature == b->feature ? 0 : a->feature < b->feature ? -1 : 1;
}

// The memory of a pair of pieces and a feature (any feature where `any`), or NULL.
static const FilMemory *find_memory(const FilWorld *world, const FilMemory *key, bool any) {
    int low = 0, high = world->memory_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_memory(&world->memories[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const FilMemory *found = low < world->memory_count ? &world->memories[low] : NULL;
    if (found == NULL || found->piece[0] != key->piece[0] || found->piece[1] != key->piece[1] ||
        (!any && found->feature != key->feature)) {
        return NULL;
    }
    return found;
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

static const FilMemory *find_slid(const FilWorld *world, const FilMemory *key) {
    static const int ways[8][2] = {{1, 0}, {-1, 0},  {0, 1},  {0, -1},
                                   {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    for (int k = 0; k < 8; k++) {
        FilMemory near = {.piece = {neighbour(world, key->piece[0], ways[k][0]),
                                    neighbour(world, key->piece[1], ways[k][1])}};
        const FilMemory *found =
            near.piece[0] >= 0 && near.piece[1] >= 0 ? find_memory(world, &near, true) : NULL;
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

static void remember(const FilWorld *world, FilWorkContact *contact) {
    const FilMemory *found = find_memory(world, &contact->memory, false);
    found = found != NULL ? found : find_memory(world, &contact->memory, true);
    found = found != NULL ? found : find_slid(world, &contact->memory);
    contact->known = found != NULL;
    if (found != NULL) {
        // as long as they do not press, the approach is that of now
        bool pressed =
            found->impulse[0] != 0.0 || found->impulse[1] != 0.0 || found->impulse[2] != 0.0;
        contact->memory.rebounded = found->rebounded && pressed;
        contact->memory.approach = pressed ? found->approach : contact->memory.approach;
        fil_copy3(found->impulse, contact->memory.impulse);
    }
}

// --- roots ---------------------------------------------------------------------------------------

// The obstacle that a piece overlaps by `depth` or more, or -1.
static int find_overlap(const FilWorld *world, const FilWorldTry *step, const FilPiece *piece,
                        double depth) {
    FilTouch touches[FIL_TOUCH_MAX];
    for (int i = 0; i < world->obstacle_count; i++) {
        const FilPiece *solid = &world->pieces[world->obstacles[i].piece];
        int count = touch_within(world, step, piece, solid, fmax(0.0, -depth), touches);
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

FilStatus fil_world_add_contact(FilWorld *world, FilWorldTry *step, const int pair[2], bool *added,
                                FilError *error) {
    int ordered[2];
    order_pair(world, pair, ordered);
    *added = false;
    for (int i = 0; i < step->contact_count; i++) {
        const int *pieces = step->contacts[i].memory.piece;
        if (pieces[0] == ordered[0] && pieces[1] == ordered[1]) {
            return FIL_OK;
        }
    }
    Touches touches = {0};
    const FilPiece *a = &world->pieces[ordered[0]], *b = &world->pieces[ordered[1]];
    touches.margin = margin_of(world, a) + margin_of(world, b);
    int found = touch_within(world, step, a, b, DBL_MAX, touches.touch), n = step->contact_count;
    int count = 0;
    for (int k = 0; k < found; k++) {
        if (b->obstacle < 0 || !is_held(world, ordered[0], touches.touch[k].t_a)) {
            touches.touch[count++] = touches.touch[k];
        }
    }
    if (count == 0) {
        return FIL_OK;
    }
    FilWorkContact *contacts = FIL_NEW(&world->scratch, FilWorkContact, (size_t)(n + count));
    if (contacts == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n + count);
    }
    memcpy(contacts, step->contacts, sizeof(FilWorkContact) * (size_t)n);
    for (int k = 0; k < count; k++) {
        fill_contact(world, ordered, &touches, k, &contacts[n + k]);
        FIL_TRY(set_law(world, &contacts[n + k], error));
    }
    step->contacts = contacts;
    step->contact_count = n + count;
    *added = true;
    return FIL_OK;
}

FilStatus fil_world_detect(FilWorld *world, FilWorldTry *step, FilError *error) {
    find_roots(world, step);
    FIL_TRY(make_boxes(world, step, error));
    FIL_TRY(fil_world_find_pairs(world, step, error));
    FIL_TRY(touch_all(world, step, error));
    for (int i = 0; i < step->contact_count; i++) {
        FIL_TRY(set_law(world, &step->contacts[i], error));
        remember(world, &step->contacts[i]);
    }
    return FIL_OK;
}
