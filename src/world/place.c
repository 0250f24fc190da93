// place.c - overlaps that a step brought are taken out at its end, without adding velocity.
//
// Contacts hold the gap g + dt u_N that is linear in the velocities, with closest points and
// normals of the start of the step. Two things are not in it: what turns, rolls or bends on its way
// has another gap at the end, by second order; and pairs that were within no reach. So after the
// step the gaps are looked at where the bodies are now (passing.c), and the bodies moved from there
// by the smallest displacement in the sense of their inertia and stiffness that leaves no overlap,
//     dx = dt P H_N^T p,    0 <= p  orthogonal to  W_NN p + gap / dt >= 0,
// with P, H and gap of the end. It is the problem of correct.c, one step of Newton's method on the
// true gaps, and is done again until they are small. The contacts of what overlaps, of what touches
// it, and of what touches that, take part, so that nothing is pushed into its neighbours. (Tried:
// the same with P and H of the start. Reduced rods that roll by a radian in a step are moved in
// wrong directions then.)
#include "place.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "near.h"
#include "problem.h"
#include "rod/rod.h"

enum { NEIGHBOURS = 2 }; // of neighbours of what overlaps, that take part

static const double most_lever = 4.0; // how many times farther than an overlap a rod is moved

// --- moves ---------------------------------------------------------------------------------------

// Move a rod along the correction, but no point of it much farther than `depth`, how deep it
// overlaps: what is next to a clamp would throw the rest of it about. `shift` is what it was moved.
static void move_rod(const FilBody *body, double *shift, double depth, double *work) {
    const FilRod *rod = body->self;
    double farthest = 0.0;
    FilPose pose;
    for (int pass = 0; pass < 2; pass++) {
        for (int e = 0; e < rod->element_count; e++) {
            double *at = work + 3 * (ptrdiff_t)e, way[3];
            rod->table->at(rod, e, 1.0, &pose, NULL);
            fil_subtract3(pose.position, at, way);
            farthest = pass == 1 ? fmax(farthest, fil_norm3(way)) : 0.0;
            fil_copy3(pose.position, at);
        }
        if (pass == 0) {
            body->table->move(body->self, shift);
        }
    }
    double part = most_lever * depth / farthest;
    if (part < 1.0) { // back by what is too much
        for (int k = 0; k < body->dof_count; k++) {
            work[k] = (part - 1.0) * shift[k];
            shift[k] *= part;
        }
        body->table->move(body->self, work);
    }
}

void fil_world_move_body(const FilWorld *world, const FilWorldTry *step, int i, double *work) {
    const FilBody *body = &world->bodies[i];
    double *shift = step->shift + body->first_dof;
    if (body->kind == FIL_BODY_ROD) {
        move_rod(body, shift, step->depth[i], work);
    } else {
        body->table->move(body->self, shift);
    }
}

FilStatus fil_world_reserve_moves(FilWorld *world, double ***work, FilError *error) {
    size_t most = 1;
    for (int i = 0; i < world->rod_count; i++) {
        const FilBody *body = &world->bodies[world->rods[i]];
        const FilRod *rod = body->self;
        size_t need = 3 * (size_t)rod->element_count + (size_t)body->dof_count;
        most = need > most ? need : most;
    }
    *work = FIL_NEW(&world->scratch, double *, world->threads);
    for (int t = 0; !world->scratch.failed && t < world->threads; t++) {
        (*work)[t] = FIL_NEW(&world->scratch, double, most);
    }
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    return FIL_OK;
}

// --- contacts at the end -------------------------------------------------------------------------

typedef struct Placing {
    FilWorld *world;
    const FilWorldTry *step; // that was taken
    const FilPose *poses;
    FilWorldTry end; // the same bodies where they are now: its contacts are those of the end
    FilRows rows;
    int room;      // for contacts
    bool *near[2]; // [body_count] it overlaps, or touches one that does, and so on
    bool *touched; // [body_count] it has one of the contacts
    double **work;
} Placing;

static FilStatus reserve_end(Placing *placing, const FilPassed *passed, FilError *error) {
    FilWorld *world = placing->world;
    FilArena *arena = &world->scratch;
    const size_t dofs = (size_t)world->dof_count + 1, bodies = (size_t)world->body_count + 1;
    FilWorldTry *end = &placing->end;
    *end = (FilWorldTry){.dt = placing->step->dt,
                         .end = placing->step->end,
                         .share = placing->step->share,
                         .points = world->samples.points};
    placing->room = FIL_TOUCH_MAX * (placing->step->contact_count + passed->count);
    end->contacts = FIL_NEW(arena, FilWorkContact, (size_t)placing->room + 1);
    end->before = FIL_NEW(arena, double, dofs);
    end->free_velocity = FIL_NEW_ZEROED(arena, double, dofs);
    end->shift = FIL_NEW_ZEROED(arena, double, dofs);
    placing->near[0] = FIL_NEW_ZEROED(arena, bool, bodies);
    placing->near[1] = FIL_NEW_ZEROED(arena, bool, bodies);
    placing->touched = FIL_NEW_ZEROED(arena, bool, bodies);
    if (arena->failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts",
                        placing->room);
    }
    return FIL_OK;
}

// Touches of a pair where it is now.
static void add_pair(Placing *placing, const int pair[2], bool pressed) {
    FilWorldTry *end = &placing->end;
    const FilWorld *world = placing->world;
    const double reach = fil_piece_margin(world, &world->pieces[pair[0]]) +
                         fil_piece_margin(world, &world->pieces[pair[1]]);
    FilTouch touches[FIL_TOUCH_MAX];
    int ordered[2];
    const int count =
        fil_world_touch_after(world, placing->step, placing->poses, pair, reach, ordered, touches);
    for (int k = 0; k < count; k++) {
        FilWorkContact *contact = &end->contacts[end->contact_count++];
        fil_world_fill_contact(world, ordered, &touches[k], 0.0, contact);
        contact->mended = pressed;
    }
}

// Whether a pair is one of those that the step pressed into each other.
static bool is_pressed(const Placing *placing, const int pair[2], int pressed) {
    for (int i = 0; i < pressed; i++) {
        const int *other = placing->end.contacts[i].memory.piece;
        if (other[0] == pair[0] && other[1] == pair[1]) {
            return true;
        }
    }
    return false;
}

static bool is_marked(const bool *marks, const FilWorkContact *contact) {
    return (contact->a.body >= 0 && marks[contact->a.body]) ||
           (contact->b.body >= 0 && marks[contact->b.body]);
}

static void mark(bool *marks, const FilWorkContact *contact) {
    if (contact->a.body >= 0) {
        marks[contact->a.body] = true;
    }
    if (contact->b.body >= 0) {
        marks[contact->b.body] = true;
    }
}

// Those that touch one that is marked are marked, too.
static void spread(Placing *placing) {
    const FilWorldTry *end = &placing->end;
    bool *from = placing->near[0], *to = placing->near[1];
    memcpy(to, from, sizeof(bool) * (size_t)placing->world->body_count);
    for (int i = 0; i < end->contact_count; i++) {
        if (is_marked(from, &end->contacts[i])) {
            mark(to, &end->contacts[i]);
        }
    }
    placing->near[0] = to;
    placing->near[1] = from;
}

// The contacts of what overlaps because of the step, and of its neighbours.
static void list_contacts(Placing *placing, const FilPassed *passed) {
    const FilWorldTry *step = placing->step;
    FilWorldTry *end = &placing->end;
    const int *last = NULL;
    int kept = 0;
    for (int k = 0; k < passed->count; k++) {
        if (!passed->list[k].left) {
            add_pair(placing, passed->list[k].pair, true);
        }
    }
    const int pressed = end->contact_count;
    for (int i = 0; i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        const int *pair = contact->memory.piece;
        if (contact->kind == FIL_BLOCK_COULOMB &&
            (last == NULL || pair[0] != last[0] || pair[1] != last[1])) {
            last = pair;
            if (!is_pressed(placing, pair, pressed)) {
                add_pair(placing, pair, false);
            }
        }
    }
    for (int i = 0; i < pressed; i++) {
        mark(placing->near[0], &end->contacts[i]);
    }
    for (int k = 0; k < NEIGHBOURS; k++) {
        spread(placing);
    }
    for (int i = 0; i < end->contact_count; i++) {
        if (is_marked(placing->near[0], &end->contacts[i])) {
            mark(placing->touched, &end->contacts[i]);
            end->contacts[kept++] = end->contacts[i];
        }
    }
    end->contact_count = kept;
}

// --- displacements -------------------------------------------------------------------------------

typedef struct Preparing {
    const FilWorld *world;
    const FilWorldTry *end;
    const bool *marked;
} Preparing;

static void prepare_body(void *context, int i) {
    const Preparing *preparing = context;
    const FilWorldTry *end = preparing->end;
    const FilBody *body = &preparing->world->bodies[i];
    if (preparing->marked[i]) {
        double *before = end->before + body->first_dof;
        body->table->get_velocity(body->self, before);
        body->table->prepare(body->self, end->dt, before, end->free_velocity + body->first_dof);
    }
}

bool fil_world_prepare_end(const FilWorld *world, const FilWorldTry *end, const bool *marked) {
    Preparing preparing = {world, end, marked};
    fil_parallel_for(world->body_count, world->threads, prepare_body, &preparing);
    return fil_all_finite(end->free_velocity, (int)world->dof_count);
}

static void move_range(void *context, int first, int last) {
    const Placing *placing = context;
    for (int i = first; i < last; i++) {
        if (placing->rows.body_start[i] < placing->rows.body_start[i + 1]) {
            fil_world_move_body(placing->world, &placing->end, i,
                                placing->work[fil_thread_index()]);
        }
    }
}

FilStatus fil_world_place(FilWorld *world, const FilWorldTry *step, const FilPose *poses,
                          const FilPassed *passed, bool *moved, FilError *error) {
    Placing placing = {.world = world, .step = step, .poses = poses};
    FilWorldTry *end = &placing.end;
    *moved = false;
    FIL_TRY(reserve_end(&placing, passed, error));
    list_contacts(&placing, passed);
    const int n = end->contact_count;
    if (!fil_world_prepare_end(world, end, placing.touched)) {
        return FIL_OK;
    }
    int *all = FIL_NEW(&world->scratch, int, (size_t)n + 1);
    end->r = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)n + 1);
    end->u = FIL_NEW_ZEROED(&world->scratch, double, 3 * (size_t)n + 1);
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n);
    }
    for (int i = 0; i < n; i++) {
        all[i] = i;
    }
    FilFrictionProblem problem;
    FIL_TRY(fil_rows_build(world, end, &placing.rows, error));
    FIL_TRY(fil_world_problem_build(world, end, &placing.rows, all, n, &problem, error));
    FIL_TRY(fil_world_correct(world, end, &placing.rows, all, &problem, error));
    *moved = end->shifted;
    if (*moved) {
        FIL_TRY(fil_world_reserve_moves(world, &placing.work, error));
        fil_parallel_ranges(world->body_count, 8, world->threads, move_range, &placing);
    }
    return FIL_OK;
}
