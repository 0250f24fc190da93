// sleep.c - bodies at rest are left alone until something acts on them.
//
// Bodies that press on each other, or are joined, are an island. When no point of an island was
// faster than `sleep_speed` for `sleep_after` seconds, its bodies fall asleep: velocities are 0,
// places stay, and the contacts among them, and with obstacles that stay, are kept as they are, for
// users to look at and to start from when the island wakes. So it goes on where it stopped.
//
// In a step pairs of still pieces are no candidates. What sleeps is an obstacle to what is awake;
// where the solution presses on it, the island wakes and the step begins again: whoever is hit
// moves in the same step as one that never slept. An obstacle that moves wakes what it is near to,
// in whichever way it moves: a floor that drops, a belt that begins to run. Changes of parameters
// show in the revisions of rods and rigid bodies, driven ends in where they will be.
//
// Invariants: (1) islands sleep and wake as a whole; (2) a kept contact has no awake body; (3) the
// memories have room for all kept ones, so that waking never fails.
#include "sleep.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "rigid/rigid.h"
#include "rod/rod.h"

bool fil_poses_agree(const FilPose *a, const FilPose *b) {
    double size = 0.0, off = 0.0, turn = 0.0;
    for (int k = 0; k < 3; k++) {
        size = fmax(size, fabs(a->position[k]));
        off = fmax(off, fabs(a->position[k] - b->position[k]));
        for (int c = 0; c < 3; c++) {
            turn = fmax(turn, fabs(a->axis[k][c] - b->axis[k][c]));
        }
    }
    return off <= 4.0 * DBL_EPSILON * size && turn <= 4.0 * DBL_EPSILON;
}

static unsigned revision_of(const FilBody *body) {
    if (body->kind == FIL_BODY_ROD) {
        const FilRod *rod = body->self;
        return rod->revision;
    }
    const FilRigid *rigid = body->self;
    return rigid->revision;
}

// --- waking --------------------------------------------------------------------------------------

static bool is_awake(const FilWorld *world, int piece) {
    const FilPiece *of = &world->pieces[piece];
    return of->obstacle < 0 && world->bodies[of->body].island == 0;
}

// Kept contacts with a body that is awake become memories again.
static void return_memories(FilWorld *world) {
    int left = 0;
    for (int k = 0; k < world->kept_count; k++) {
        const FilKept *kept = &world->kept[k];
        if (is_awake(world, kept->memory.piece[0]) || is_awake(world, kept->memory.piece[1])) {
            world->memories[world->memory_count++] = kept->memory;
        } else {
            world->kept[left++] = *kept;
        }
    }
    if (left < world->kept_count) {
        world->kept_count = left;
        fil_memories_sort(world);
    }
}

static void wake_island(FilWorld *world, int island) {
    for (int i = 0; i < world->body_count; i++) {
        FilBody *body = &world->bodies[i];
        if (body->island == island) {
            body->island = 0;
            body->calm = 0.0;
            body->table->set_time(body->self, world->time - body->late);
            world->asleep_count--;
        }
    }
}

static bool wake_body(FilWorld *world, int body) {
    int island = body >= 0 ? world->bodies[body].island : 0;
    if (island != 0) {
        wake_island(world, island);
    }
    return island != 0;
}

static bool wake_piece(FilWorld *world, int piece) {
    const FilPiece *of = &world->pieces[piece];
    return of->obstacle < 0 && wake_body(world, of->body);
}

void fil_world_wake_all(FilWorld *world) {
    for (int i = 0; i < world->body_count && world->asleep_count > 0; i++) {
        (void)wake_body(world, i);
    }
    return_memories(world);
}

static int find_body(const FilWorld *world, FilBodyKind kind, int index) {
    if (kind == FIL_BODY_ROD && index >= 0 && index < world->rod_count) {
        return world->rods[index];
    }
    return kind == FIL_BODY_RIGID && index >= 0 && index < world->rigid_count ? world->rigids[index]
                                                                              : -1;
}

void fil_world_wake(FilWorld *world, FilBodyKind kind, int index) {
    if (wake_body(world, find_body(world, kind, index))) {
        return_memories(world);
    }
}

bool fil_world_is_asleep(const FilWorld *world, FilBodyKind kind, int index) {
    int body = find_body(world, kind, index);
    return body >= 0 && world->bodies[body].island != 0;
}

// Whether a held end of a rod will be elsewhere when the step of `dt` is over.
bool fil_world_is_driven(const FilWorld *world, const FilBody *body, double dt) {
    if (body->kind != FIL_BODY_ROD) {
        return false;
    }
    const FilRod *rod = body->self;
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    const double now = body->island != 0 ? world->time - body->late : fil_rod_time(rod);
    for (int k = 0; k < 2; k++) {
        FilPose from, to;
        if (ends[k]->kind == FIL_END_FREE || ends[k]->motion == NULL) {
            continue;
        }
        fil_rod_end_pose(rod, ends[k], now, &from);
        fil_rod_end_pose(rod, ends[k], now + dt, &to);
        if (!fil_poses_agree(&from, &to)) {
            return true;
        }
    }
    return false;
}

void fil_world_wake_changed(FilWorld *world, double dt) {
    if (world->def.sleep_speed == 0.0) {
        return;
    }
    bool woken = false;
    for (int i = 0; i < world->body_count; i++) {
        FilBody *body = &world->bodies[i];
        body->driven = fil_world_is_driven(world, body, dt);
        if (body->island != 0 && (body->driven || revision_of(body) != body->revision)) {
            woken = wake_body(world, i);
        }
    }
    for (int i = 0; i < world->joint_count; i++) {
        const FilJoint *joint = &world->joints[i];
        if (!joint->removed && joint->obstacle >= 0 && world->obstacles[joint->obstacle].moves) {
            woken = wake_body(world, joint->a.body) || woken;
        }
    }
    if (woken) {
        return_memories(world);
    }
}

// Whether the obstacle on the other side of a contact, which moves, touches what sleeps, or will.
static bool presses(const FilWorld *world, const FilWorldTry *step, const FilWorkContact *contact) {
    int obstacle = world->pieces[contact->b.piece].obstacle;
    if (obstacle < 0) {
        return false;
    }
    double rate[3];
    fil_world_obstacle_rate(&world->obstacles[obstacle], step->dt, contact->b.point, rate);
    double later = contact->gap - step->dt * fil_dot3(contact->normal, rate);
    return fmin(contact->gap, later) <= 1e-2 * contact->margin;
}

bool fil_world_part_sleepers(FilWorld *world, FilWorldTry *step) {
    bool woken = false;
    for (int i = 0; i < step->contact_count && world->asleep_count > 0; i++) {
        FilWorkContact *contact = &step->contacts[i];
        FilPlace *places[2] = {&contact->a, &contact->b};
        for (int side = 0; side < 2 && contact->kind == FIL_BLOCK_COULOMB; side++) {
            int body = places[side]->body;
            if (body < 0 || world->bodies[body].island == 0) {
                continue;
            }
            places[side]->body = -1;
            if (side == 0 && presses(world, step, contact)) {
                woken = wake_body(world, body);
            }
        }
    }
    if (woken) {
        return_memories(world);
    }
    return woken;
}

bool fil_world_wake_pressed(FilWorld *world, const FilWorldTry *step) {
    bool woken = false;
    for (int i = 0; i < step->contact_count && world->asleep_count > 0; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        const double *r = step->r + 3 * (ptrdiff_t)i;
        if (contact->kind == FIL_BLOCK_COULOMB && (r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0)) {
            woken = wake_piece(world, contact->a.piece) || woken;
            woken = wake_piece(world, contact->b.piece) || woken;
        }
    }
    if (woken) {
        return_memories(world);
    }
    return woken;
}

bool fil_world_wake_pair(FilWorld *world, const int pair[2]) {
    bool woken = wake_piece(world, pair[0]);
    woken = wake_piece(world, pair[1]) || woken;
    if (woken) {
        return_memories(world);
    }
    return woken;
}

// --- the broad phase -----------------------------------------------------------------------------

static bool is_empty(const FilBox *box) {
    return !(box->low[0] <= box->high[0]);
}

FilStatus fil_world_hide_sleepers(FilWorld *world, const FilWorldTry *step, const FilBox **boxes,
                                  FilError *error) {
    *boxes = step->boxes;
    if (world->asleep_count == 0) {
        return FIL_OK;
    }
    FilBox *own = FIL_NEW(&world->scratch, FilBox, (size_t)world->piece_count + 1);
    if (own == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the boxes of %d pieces",
                        world->piece_count);
    }
    const FilBox empty = {{0.0, 0.0, 0.0}, {-1.0, -1.0, -1.0}};
    FilBox all = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int i = 0; i < world->piece_count; i++) {
        const FilBox *box = &step->boxes[i];
        for (int k = 0; k < 3 && !fil_piece_is_still(world, &world->pieces[i]) && !is_empty(box);
             k++) {
            all.low[k] = fmin(all.low[k], box->low[k]);
            all.high[k] = fmax(all.high[k], box->high[k]);
        }
    }
    for (int i = 0; i < world->piece_count; i++) {
        const FilBox *box = &step->boxes[i];
        bool apart = false;
        for (int k = 0; k < 3; k++) {
            apart = apart || box->low[k] > all.high[k] || box->high[k] < all.low[k];
        }
        own[i] = apart ? empty : *box;
    }
    *boxes = own;
    return FIL_OK;
}

// --- falling asleep ------------------------------------------------------------------------------

// Whether all points of a body, those of the surface too, are slower than `speed`.
static bool is_calm(const FilWorld *world, const FilBody *body, double speed) {
    if (body->kind == FIL_BODY_RIGID) {
        FilRate rate;
        fil_rigid_rate(body->self, &rate);
        double turn = fil_norm3(rate.spin) * 2.0 * world->pieces[body->first_piece].extent;
        return fil_norm3(rate.velocity) + turn < speed;
    }
    const FilRod *rod = body->self;
    if (rod->growth != 0.0 || body->driven) {
        return false;
    }
    for (int k = 0; k < body->piece_count; k++) {
        const FilPiece *piece = &world->pieces[body->first_piece + k];
        for (int end = k == 0 ? 0 : 1; end < 2; end++) {
            FilPose pose;
            FilRate rate;
            rod->table->at(rod, piece->element, piece->u[end], &pose, &rate);
            if (!(fil_norm3(rate.velocity) + body->radius * fil_norm3(rate.spin) < speed)) {
                return false;
            }
        }
    }
    return true;
}

static void calm_range(void *context, int first, int last) {
    FilWorld *world = context;
    for (int i = first; i < last; i++) {
        FilBody *body = &world->bodies[i];
        if (body->island == 0) {
            bool calm = is_calm(world, body, world->def.sleep_speed);
            body->calm = calm ? body->calm + world->def.step : 0.0;
        }
    }
}

static int find_root(int *parent, int i) {
    while (parent[i] != i) {
        i = parent[i] = parent[parent[i]];
    }
    return i;
}

// The lower body is the root: the number of an island does not depend on the order of its contacts.
static void join(int *parent, int a, int b) {
    int x = find_root(parent, a), y = find_root(parent, b);
    parent[x > y ? x : y] = x < y ? x : y;
}

// The islands of bodies that are awake: `parent`; `restless` are those that must stay so.
static void find_islands(const FilWorld *world, int *parent, bool *restless) {
    for (int i = 0; i < world->body_count; i++) {
        parent[i] = i;
        restless[i] = world->bodies[i].calm < world->def.sleep_after;
    }
    for (int i = 0; i < world->memory_count; i++) {
        const FilMemory *memory = &world->memories[i];
        const FilPiece *a = &world->pieces[memory->piece[0]], *b = &world->pieces[memory->piece[1]];
        if (fil_norm3(memory->impulse) == 0.0) {
            continue;
        }
        if (b->obstacle >= 0) {
            restless[a->body] = restless[a->body] || world->obstacles[b->obstacle].moves;
        } else {
            join(parent, a->body, b->body);
        }
    }
    for (int i = 0; i < world->joint_count; i++) {
        const FilJoint *joint = &world->joints[i];
        int a = joint->a.body;
        if (joint->removed) {
            continue;
        }
        if (joint->b.body >= 0) {
            join(parent, a, joint->b.body);
        } else if (joint->obstacle >= 0) {
            restless[a] = restless[a] || world->obstacles[joint->obstacle].moves;
        }
    }
    for (int i = world->body_count - 1; i >= 0; i--) { // a root is below all others
        int root = find_root(parent, i);
        restless[root] = restless[root] || restless[i];
    }
}

static void sample_rest(const FilWorld *world, const FilBody *body) {
    const FilRod *rod = body->self;
    for (int k = 0; body->kind == FIL_BODY_ROD && k < body->piece_count; k++) {
        const FilPiece *piece = &world->pieces[body->first_piece + k];
        for (int end = 0; end < 2; end++) {
            FilPose pose;
            rod->table->at(rod, piece->element, piece->u[end], &pose, NULL);
            fil_copy3(pose.position, world->rest_points + 3 * (ptrdiff_t)piece->point[end]);
        }
    }
}

// What is known of a body that sleeps, beside its state.
static void lay_down(FilWorld *world, FilBody *body) {
    body->revision = revision_of(body);
    body->late = world->time - body->table->get_time(body->self);
    sample_rest(world, body);
}

static FilStatus reserve_rest(FilWorld *world, FilError *error) {
    return fil_world_reserve(world, &world->rest_points, &world->rest_room,
                             3 * (int64_t)world->point_count + 1, sizeof(double), error);
}

FilStatus fil_world_rest_points(FilWorld *world, FilError *error) {
    if (world->asleep_count == 0) {
        return FIL_OK;
    }
    FIL_TRY(reserve_rest(world, error));
    for (int i = 0; i < world->body_count; i++) {
        FilBody *body = &world->bodies[i];
        if (body->island != 0) {
            lay_down(world, body);
        }
    }
    return FIL_OK;
}

// Keep the contacts of bodies that sleep now; the memories left are those of bodies awake.
static void keep_contacts(FilWorld *world) {
    int left = 0;
    for (int i = 0; i < world->memory_count; i++) {
        const FilMemory *memory = &world->memories[i];
        if (is_awake(world, memory->piece[0]) || is_awake(world, memory->piece[1])) {
            world->memories[left++] = *memory;
            continue;
        }
        FilKept *kept = &world->kept[world->kept_count++];
        *kept = (FilKept){.memory = *memory, .contact = world->contacts[memory->contact]};
        memset(kept->contact.velocity, 0, sizeof kept->contact.velocity);
        fil_copy3(kept->contact.impulse, kept->memory.impulse); // of a whole step
    }
    world->memory_count = left;
}

FilStatus fil_world_fall_asleep(FilWorld *world, FilError *error) {
    if (world->def.sleep_speed == 0.0) {
        return FIL_OK;
    }
    fil_parallel_ranges(world->body_count, 16, world->threads, calm_range, world);
    int ready = 0, asleep = world->asleep_count;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        ready += body->island == 0 && body->calm >= world->def.sleep_after;
        if (body->island != 0) {
            body->table->set_time(body->self, world->time - body->late);
        }
    }
    if (ready == 0) {
        return FIL_OK;
    }
    int *parent = FIL_NEW(&world->scratch, int, world->body_count);
    bool *restless = FIL_NEW(&world->scratch, bool, world->body_count);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    FIL_TRY(reserve_rest(world, error));
    FIL_TRY(fil_world_reserve(world, &world->kept, &world->kept_room,
                              (int64_t)world->kept_count + world->memory_count, sizeof(FilKept),
                              error));
    find_islands(world, parent, restless);
    for (int i = 0; i < world->body_count; i++) {
        FilBody *body = &world->bodies[i];
        int root = find_root(parent, i);
        if (body->island == 0 && !restless[root]) {
            body->table->stop(body->self);
            body->island = root + 1;
            lay_down(world, body);
            world->asleep_count++;
        }
    }
    if (world->asleep_count > asleep) {
        keep_contacts(world);
    }
    return FIL_OK;
}
