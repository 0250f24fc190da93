// tension.c - the force that sections carry of rods that do not stretch: helix and clothoid.
//
// A section carries what acts at it and beyond, less what moves there:
//     F(s) = sum over s' >= s of (contacts, joints, loads) + integral of (m (g - a) - drag v) ds',
// beyond being the way to the tip, or all branches that begin there. Forces are those of the last
// part of the last step: impulses by the step, and a = (v+ - v) / dt of the points. Along a piece
// what acts by length is taken as linear. The force of what holds a tip follows from the balance of
// the rod (rod/reduced_force.c). A force right at the root acts before all sections.
//
// Every piece of a rod has its first point to itself, and so has the last point of a line: what
// acts in a piece, or at that point, is gathered there, in the order of contacts and joints; then
// rods are summed up from the tip, each by one thread. So the bits do not depend on threads.
#include "world.h"

#include <string.h>

#include "base/parallel.h"
#include "math/vec3.h"
#include "rod/rod.h"

static const double at_end = 1e-9; // of a piece: round-off of places along the rod

typedef struct Forces {
    const FilWorld *world;
    const double *velocity;
    double *force;
} Forces;

// A rod whose tension follows from balance, or NULL.
static const FilRod *balanced_rod(const FilWorld *world, int body) {
    if (body < 0 || world->bodies[body].kind != FIL_BODY_ROD) {
        return NULL;
    }
    const FilRod *rod = world->bodies[body].self;
    return rod->table->edge_tension == NULL ? rod : NULL;
}

static int parent_of(const FilRod *rod, int element) {
    return rod->joints != NULL ? rod->joints[element].parent : element - 1;
}

// A force at the fraction t of a piece.
static void push_piece(const Forces *forces, const FilPiece *piece, double t, double factor,
                       const double push[3]) {
    const FilRod *rod = forces->world->bodies[piece->body].self;
    const bool first = piece->u[0] == 0.0 && parent_of(rod, piece->element) < 0;
    if (t < at_end && first) {
        return;
    }
    const int point = piece->point[t > 1.0 - at_end ? 1 : 0];
    fil_add3(factor, push, forces->force + 3 * (ptrdiff_t)point);
}

// The same at the arc length s.
static void push_rod(const Forces *forces, const FilBody *body, double s, double factor,
                     const double push[3]) {
    const FilRod *rod = body->self;
    const double part = s / rod->state[1];
    int low = body->first_piece, high = body->first_piece + body->piece_count - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (part <= forces->world->pieces[middle].s[1]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const FilPiece *piece = &forces->world->pieces[low];
    push_piece(forces, piece, (part - piece->s[0]) / (piece->s[1] - piece->s[0]), factor, push);
}

// --- contacts and joints -------------------------------------------------------------------------

static void push_side(const Forces *forces, const FilContactSide *side, double sign,
                      const double impulse[3]) {
    const FilWorld *world = forces->world;
    const int body = side->kind == FIL_BODY_ROD ? world->rods[side->index] : -1;
    if (balanced_rod(world, body) != NULL) {
        push_rod(forces, &world->bodies[body], side->s, sign / world->def.step, impulse);
    }
}

static void push_joints(const Forces *forces) {
    const FilWorld *world = forces->world;
    for (int i = 0; i < world->joint_count; i++) {
        const FilJoint *joint = &world->joints[i];
        const FilPlace *places[2] = {&joint->a, &joint->b};
        for (int side = 0; side < 2 && !joint->removed; side++) {
            if (balanced_rod(world, places[side]->body) != NULL) {
                push_piece(forces, &world->pieces[places[side]->piece], places[side]->t,
                           side == 0 ? 1.0 : -1.0, joint->force);
            }
        }
    }
    FilPlace hand;
    if (fil_world_grab_place(world, &hand) && balanced_rod(world, hand.body) != NULL) {
        push_piece(forces, &world->pieces[hand.piece], hand.t, 1.0, world->grab_force);
    }
}

// --- the held tip --------------------------------------------------------------------------------

// All that pushes a rod from outside, one after the other.
typedef struct Pushes {
    const FilWorld *world;
    int body, at; // sides of contacts first, then those of joints, then the hand
} Pushes;

// Where a place is along its rod, m.
static double arc_length(const FilWorld *world, const FilPlace *place) {
    const FilPiece *piece = &world->pieces[place->piece];
    const FilRod *rod = world->bodies[place->body].self;
    return (piece->s[0] + place->t * (piece->s[1] - piece->s[0])) * rod->state[1];
}

static bool push_by_hand(const Pushes *pushes, FilRodLoad *push) {
    FilPlace hand;
    *push = (FilRodLoad){0};
    if (!fil_world_grab_place(pushes->world, &hand) || hand.body != pushes->body) {
        return false;
    }
    push->s = arc_length(pushes->world, &hand);
    fil_copy3(pushes->world->grab_force, push->force);
    return true;
}

static bool next_push(void *context, FilRodLoad *push) {
    Pushes *pushes = context;
    const FilWorld *world = pushes->world;
    const FilBody *body = &world->bodies[pushes->body];
    const int contacts = 2 * world->contact_count;
    while (pushes->at < contacts + 2 * world->joint_count) {
        const int at = pushes->at++, b = at % 2;
        const double sign = b == 0 ? 1.0 : -1.0;
        *push = (FilRodLoad){0};
        if (at < contacts) {
            const FilContact *contact = &world->contacts[at / 2];
            const FilContactSide *side = b == 0 ? &contact->a : &contact->b;
            push->s = side->s;
            fil_add3(sign / world->def.step, contact->impulse, push->force);
            if (side->kind == FIL_BODY_ROD && side->index == body->index) {
                return true;
            }
            continue;
        }
        const FilJoint *joint = &world->joints[(at - contacts) / 2];
        const FilPlace *place = b == 0 ? &joint->a : &joint->b;
        if (place->body == pushes->body && !joint->removed) {
            push->s = arc_length(world, place);
            fil_add3(sign, joint->force, push->force);
            return true;
        }
    }
    if (pushes->at++ == contacts + 2 * world->joint_count && push_by_hand(pushes, push)) {
        return true;
    }
    pushes->at = 0;
    return false;
}

static void push_tip(const Forces *forces, int body) {
    const FilWorld *world = forces->world;
    const FilBody *of = &world->bodies[body];
    const FilRod *rod = of->self;
    Pushes pushes = {.world = world, .body = body};
    FilRodPast past = {.dt = world->past.dt, .next = next_push, .context = &pushes};
    double force[3], moment[3];
    if (of->island == 0 && world->past.states != NULL && past.dt > 0.0 &&
        of->first_point < world->past.point_count) {
        past.state = world->past.states + of->first_state;
    }
    rod->table->tip_reaction(rod, &past, force, moment);
    push_rod(forces, of, rod->state[1], 1.0, force);
}

// --- sums ----------------------------------------------------------------------------------------

// What acts by length at a point, N/m.
static void find_spread(const Forces *forces, const FilBody *body, int element, int point,
                        double spread[3]) {
    const FilRod *rod = body->self;
    const FilPast *past = &forces->world->past;
    const double *v = forces->velocity + 3 * (ptrdiff_t)point, m = rod->sections[element].mass;
    const bool moves = body->island == 0 && past->rates != NULL && point < past->point_count;
    for (int k = 0; k < 3; k++) {
        const double before = moves ? past->rates[3 * (ptrdiff_t)point + k] : v[k];
        const double a = moves ? (v[k] - before) / past->dt : 0.0;
        spread[k] = m * (rod->gravity[k] - a) - rod->drag * v[k];
    }
}

static void sum_element(const Forces *forces, const FilBody *body, int element) {
    const FilRod *rod = body->self;
    const int each = body->piece_count / rod->element_count;
    for (int k = each - 1; k >= 0; k--) {
        const FilPiece *piece =
            &forces->world->pieces[body->first_piece + (ptrdiff_t)element * each + k];
        const double half = 0.5 * (piece->u[1] - piece->u[0]) * rod->lengths[element];
        double *to = forces->force + 3 * (ptrdiff_t)piece->point[0];
        for (int end = 0; end < 2; end++) {
            double spread[3];
            find_spread(forces, body, element, piece->point[end], spread);
            fil_add3(half, spread, to);
        }
        fil_add3(1.0, forces->force + 3 * (ptrdiff_t)piece->point[1], to);
    }
}

static void sum_rod(const Forces *forces, int index) {
    const FilWorld *world = forces->world;
    const FilBody *body = &world->bodies[index];
    const FilRod *rod = body->self;
    const int each = body->piece_count / rod->element_count;
    for (int k = 0; k < rod->load_count; k++) {
        push_rod(forces, body, rod->loads[k].s, 1.0, rod->loads[k].force);
    }
    if (rod->tip_end.kind != FIL_END_FREE) {
        push_tip(forces, index);
    }
    for (int e = rod->element_count - 1; e >= 0; e--) {
        sum_element(forces, body, e);
        const int parent = parent_of(rod, e);
        if (rod->joints != NULL && parent >= 0) { // what hangs at the end of the parent
            const int first = world->pieces[body->first_piece + e * each].point[0];
            const int last = world->pieces[body->first_piece + parent * each + each - 1].point[1];
            fil_add3(1.0, forces->force + 3 * (ptrdiff_t)first,
                     forces->force + 3 * (ptrdiff_t)last);
        }
    }
}

static void sum_range(void *context, int first, int last) {
    const Forces *forces = context;
    for (int r = first; r < last; r++) {
        const int body = forces->world->rods[r];
        if (balanced_rod(forces->world, body) != NULL) {
            sum_rod(forces, body);
        }
    }
}

void fil_world_section_forces(const FilWorld *world, const double *velocity, double *force) {
    Forces forces = {.world = world, .velocity = velocity, .force = force};
    memset(force, 0, sizeof(double) * 3 * (size_t)world->point_count);
    for (int i = 0; i < world->contact_count; i++) {
        const FilContact *contact = &world->contacts[i];
        push_side(&forces, &contact->a, 1.0, contact->impulse);
        push_side(&forces, &contact->b, -1.0, contact->impulse);
    }
    push_joints(&forces);
    fil_parallel_ranges(world->rod_count, 8, world->threads, sum_range, &forces);
}
