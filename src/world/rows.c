// rows.c - the rows of the contacts: see rows.h. Bodies are worked on in parallel, each writes what
// is its own.
//
// Models that know the few unknowns that move a section are asked for the one at the contact, so
// that rows are narrow: what a factorisation in velocities costs grows with the cube of that.
// Others, joints, and what is next to a driven end, whose motion is known at the ends of pieces
// alone, take a mean of the two ends of their piece. (Tried: contacts that turn with the edge they
// lie on, which is narrower yet. Where two edges meet their contacts then turn apart: contacts that
// stick there lock the rod against bending, and solves took three times the iterations.)
#include "rows.h"

#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "rod/rod.h"

typedef struct Making {
    const FilWorld *world;
    const FilWorldTry *step;
    const FilRows *rows;
    double **room; // [threads] scratch
    int **made;    // [threads] of points that are in it
} Making;

// --- who touches whom ----------------------------------------------------------------------------

static void count_incidences(const FilWorld *world, const FilWorldTry *step, int *next) {
    for (int i = 0; i < step->contact_count; i++) {
        int a = step->contacts[i].a.body, b = step->contacts[i].b.body;
        if (a >= 0) {
            next[a + 1]++;
        }
        if (b >= 0 && b != a) {
            next[b + 1]++;
        }
    }
    for (int k = 0; k < world->body_count; k++) {
        next[k + 1] += next[k];
    }
}

static FilStatus list_incidences(FilWorld *world, const FilWorldTry *step, FilRows *rows,
                                 FilError *error) {
    int n = step->contact_count;
    rows->body_start = FIL_NEW_ZEROED(&world->scratch, int, (size_t)world->body_count + 2);
    rows->incidences = FIL_NEW(&world->scratch, FilIncidence, 2 * (size_t)n + 1);
    rows->of_contact =
        (int(*)[2])fil_arena_get(&world->scratch, (size_t)n + 1, sizeof(*rows->of_contact));
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d contacts", n);
    }
    int *next = rows->body_start + 1; // where the next incidence of a body goes
    count_incidences(world, step, next);
    for (int i = 0; i < n; i++) {
        int ends[2] = {step->contacts[i].a.body, step->contacts[i].b.body};
        for (int side = 0; side < 2; side++) {
            int body = ends[side];
            if (body < 0 || (side == 1 && body == ends[0])) { // one incidence holds both places
                rows->of_contact[i][side] = -1;
                continue;
            }
            rows->of_contact[i][side] = next[body];
            rows->incidences[next[body]++] = (FilIncidence){.contact = i};
        }
    }
    return FIL_OK;
}

// --- the unknowns that a contact moves -----------------------------------------------------------

// Whether the rows of a contact's place on a rod are those of the section there.
static bool is_narrow(const FilWorld *world, const FilWorkContact *contact, const FilPlace *place) {
    const FilRod *rod = world->bodies[place->body].self;
    const int e = world->pieces[place->piece].element;
    return rod->table->place_jacobian != NULL && contact->kind == FIL_BLOCK_COULOMB &&
           (e >= 2 || rod->root_end.motion == NULL) &&
           (e < rod->element_count - 2 || rod->tip_end.motion == NULL);
}

// The fraction of the element where a place is.
static double fraction_of(const FilPiece *piece, const FilPlace *place) {
    return (1.0 - place->t) * piece->u[0] + place->t * piece->u[1];
}

static void widen(const FilWorld *world, const FilWorkContact *contact, const FilPlace *place,
                  int *first, int *last) {
    const FilBody *body = &world->bodies[place->body];
    const FilRod *rod = body->self;
    const FilPiece *piece = &world->pieces[place->piece];
    int from = 0, to = body->dof_count;
    if (body->kind == FIL_BODY_ROD && is_narrow(world, contact, place)) {
        rod->table->place_span(rod, piece->element, fraction_of(piece, place), &from, &to);
    } else if (body->kind == FIL_BODY_ROD) {
        rod->table->span(rod, piece->element, &from, &to);
    }
    *first = from < *first ? from : *first;
    *last = to > *last ? to : *last;
}

// How wide the rows of every incidence are, and memory for them.
static FilStatus reserve_rows(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                              FilError *error) {
    size_t sum = 0;
    for (int body = 0; body < world->body_count; body++) {
        for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
            FilIncidence *incidence = &rows->incidences[k];
            const FilWorkContact *contact = &step->contacts[incidence->contact];
            int first = INT32_MAX, last = 0;
            if (contact->a.body == body) {
                widen(world, contact, &contact->a, &first, &last);
            }
            if (contact->b.body == body) {
                widen(world, contact, &contact->b, &first, &last);
            }
            incidence->first = first;
            incidence->width = last - first;
            sum += 3 * (size_t)incidence->width;
        }
    }
    double *H = FIL_NEW(&world->scratch, double, sum + 1);
    if (H == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the rows of %d contacts",
                        step->contact_count);
    }
    for (int k = 0; k < rows->body_start[world->body_count]; k++) {
        rows->incidences[k].H = H;
        H += 3 * (ptrdiff_t)rows->incidences[k].width;
    }
    return FIL_OK;
}

// --- rows ----------------------------------------------------------------------------------------

// Jacobians at the points of the body at hand, each made when it is first asked for.
typedef struct Points {
    int *made;     // [point_count] whether it is there
    double *J;     // [point_count][6][widest]
    double *dense; // [6][dof_count]
    int widest;
} Points;

static const double *jacobian_at(const FilWorld *world, const FilBody *body, int piece_index,
                                 int end, const Points *points) {
    const FilPiece *piece = &world->pieces[piece_index];
    const FilRod *rod = body->self;
    int k = piece->point[end] - body->first_point, m = body->dof_count, first, last;
    double *J = points->J + 6 * (ptrdiff_t)points->widest * k;
    rod->table->span(rod, piece->element, &first, &last);
    // a point between two elements is kept for the one it was made for
    if (points->made[k] != piece->element + 1) {
        points->made[k] = piece->element + 1;
        rod->table->jacobian(rod, piece->element, piece->u[end], points->dense);
        for (int row = 0; row < 6; row++) {
            memcpy(J + (ptrdiff_t)row * (last - first), points->dense + (ptrdiff_t)row * m + first,
                   sizeof(double) * (size_t)(last - first));
        }
    }
    return J;
}

// What the rows of a contact take of velocity and spin at a place: [3] of each.
static void take_rows(const Making *making, const FilWorkContact *contact, const FilPlace *place,
                      double sign, double along[3][3], double about[3][3]) {
    double centre[3], arm[3];
    fil_world_centre(making->world, making->step, place, centre);
    fil_subtract3(place->point, centre, arm);
    const FilBody *body = &making->world->bodies[place->body];
    if (body->kind == FIL_BODY_ROD && !((const FilRod *)body->self)->table->framed) {
        memset(arm, 0, sizeof arm); // it acts on the axis
    }
    for (int row = 0; row < 3; row++) {
        const double *f = contact->frame + 3 * (ptrdiff_t)row;
        double turn[3];
        fil_cross3(arm, f, turn); // f . (w x arm) = (arm x f) . w
        for (int k = 0; k < 3; k++) {
            along[row][k] = contact->turn ? 0.0 : sign * f[k];
            about[row][k] = contact->turn ? sign * f[k] : sign * turn[k];
        }
    }
}

static void add_section(const Making *making, const FilPlace *place, double along[3][3],
                        double about[3][3], const FilIncidence *incidence) {
    const FilPiece *piece = &making->world->pieces[place->piece];
    const FilRod *rod = making->world->bodies[place->body].self;
    double J[6 * FIL_ROD_PLACE], u = fraction_of(piece, place);
    int first, last;
    rod->table->place_span(rod, piece->element, u, &first, &last);
    rod->table->place_jacobian(rod, piece->element, u, J);
    for (int row = 0; row < 3; row++) {
        double *H = incidence->H + (ptrdiff_t)row * incidence->width + first - incidence->first;
        for (int c = 0, width = last - first; c < width; c++) {
            for (int k = 0; k < 3; k++) {
                H[c] += along[row][k] * J[k * width + c] + about[row][k] * J[(3 + k) * width + c];
            }
        }
    }
}

static void add_rod(const Making *making, const FilPlace *place, const Points *points,
                    double along[3][3], double about[3][3], const FilIncidence *incidence) {
    const FilBody *body = &making->world->bodies[place->body];
    const FilRod *rod = body->self;
    int first, last;
    rod->table->span(rod, making->world->pieces[place->piece].element, &first, &last);
    int width = last - first;
    for (int end = 0; end < 2; end++) {
        double part = end == 0 ? 1.0 - place->t : place->t;
        const double *J = jacobian_at(making->world, body, place->piece, end, points);
        for (int row = 0; row < 3 && part != 0.0; row++) {
            double *H = incidence->H + (ptrdiff_t)row * incidence->width + first - incidence->first;
            for (int k = 0; k < 3; k++) {
                fil_axpy(part * along[row][k], J + (ptrdiff_t)k * width, H, width);
                fil_axpy(part * about[row][k], J + (ptrdiff_t)(3 + k) * width, H, width);
            }
        }
    }
}

// H += sign F (velocity rows + spin rows x arm) of a place.
static void add_place(const Making *making, const FilWorkContact *contact, const FilPlace *place,
                      double sign, const Points *points, const FilIncidence *incidence) {
    double along[3][3], about[3][3];
    take_rows(making, contact, place, sign, along, about);
    const FilBody *body = &making->world->bodies[place->body];
    if (body->kind == FIL_BODY_ROD && is_narrow(making->world, contact, place)) {
        add_section(making, place, along, about, incidence);
        return;
    }
    if (body->kind == FIL_BODY_ROD) {
        add_rod(making, place, points, along, about, incidence);
        return;
    }
    for (int row = 0; row < 3; row++) {
        double *H = incidence->H + (ptrdiff_t)row * incidence->width;
        fil_add3(1.0, along[row], H);
        fil_add3(1.0, about[row], H + 3);
    }
}

static int widest_of(const FilBody *body) {
    int widest = body->kind == FIL_BODY_ROD ? 0 : body->dof_count;
    const FilRod *rod = body->self;
    for (int e = 0; body->kind == FIL_BODY_ROD && e < rod->element_count; e++) {
        int first, last;
        rod->table->span(rod, e, &first, &last);
        widest = last - first > widest ? last - first : widest;
    }
    return widest;
}

static void make_body(void *context, int body) {
    const Making *making = context;
    const FilRows *rows = making->rows;
    const FilBody *self = &making->world->bodies[body];
    if (rows->body_start[body] == rows->body_start[body + 1]) {
        return;
    }
    double *room = making->room[fil_thread_index()];
    Points points = {.dense = room, .widest = widest_of(self)};
    points.J = room + 6 * (ptrdiff_t)self->dof_count;
    points.made = making->made[fil_thread_index()];
    memset(points.made, 0, sizeof(int) * (size_t)self->point_count);
    for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
        const FilIncidence *incidence = &rows->incidences[k];
        const FilWorkContact *contact = &making->step->contacts[incidence->contact];
        memset(incidence->H, 0, sizeof(double) * 3 * (size_t)incidence->width);
        if (contact->a.body == body) {
            add_place(making, contact, &contact->a, 1.0, &points, incidence);
        }
        if (contact->b.body == body) {
            add_place(making, contact, &contact->b, -1.0, &points, incidence);
        }
    }
}

// Scratch for every thread: Jacobians at the points of any one body.
static FilStatus reserve_room(FilWorld *world, Making *making, FilError *error) {
    size_t most = 1, points = 1;
    for (int k = 0; k < world->body_count; k++) {
        const FilBody *body = &world->bodies[k];
        size_t count = (size_t)body->point_count;
        size_t need = 6 * (count * (size_t)widest_of(body) + (size_t)body->dof_count);
        bool used = making->rows->body_start[k] < making->rows->body_start[k + 1];
        most = used && need > most ? need : most;
        points = used && count > points ? count : points;
    }
    making->room = FIL_NEW(&world->scratch, double *, world->threads);
    making->made = FIL_NEW(&world->scratch, int *, world->threads);
    for (int t = 0; !world->scratch.failed && t < world->threads; t++) {
        making->room[t] = FIL_NEW(&world->scratch, double, most);
        making->made[t] = FIL_NEW(&world->scratch, int, points);
    }
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the rows of %d contacts",
                        making->step->contact_count);
    }
    return FIL_OK;
}

FilStatus fil_rows_build(FilWorld *world, const FilWorldTry *step, FilRows *rows, FilError *error) {
    FIL_TRY(list_incidences(world, step, rows, error));
    FIL_TRY(reserve_rows(world, step, rows, error));
    Making making = {.world = world, .step = step, .rows = rows};
    FIL_TRY(reserve_room(world, &making, error));
    fil_parallel_for(world->body_count, world->threads, make_body, &making);
    return FIL_OK;
}

// --- there and back ------------------------------------------------------------------------------

void fil_rows_velocity(const FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                       const double *v, int i, double u[3]) {
    const FilWorkContact *contact = &step->contacts[i];
    const int bodies[2] = {contact->a.body, contact->b.body};
    for (int row = 0; row < 3; row++) {
        u[row] = fil_dot3(contact->frame + 3 * (ptrdiff_t)row, contact->carried);
    }
    for (int side = 0; side < 2; side++) {
        if (rows->of_contact[i][side] < 0) {
            continue;
        }
        const FilIncidence *incidence = &rows->incidences[rows->of_contact[i][side]];
        const double *own = v + world->bodies[bodies[side]].first_dof + incidence->first;
        for (int row = 0; row < 3; row++) {
            u[row] +=
                fil_dot(incidence->H + (ptrdiff_t)row * incidence->width, own, incidence->width);
        }
    }
}

typedef struct Push {
    const FilWorld *world;
    const FilRows *rows;
    const double *r;
    double *out;
    bool solve;
} Push;

// v += H^T r.
static void add_impulse(const FilIncidence *incidence, const double *r, double *v) {
    for (int row = 0; row < 3; row++) {
        if (r[row] != 0.0) {
            fil_axpy(r[row], incidence->H + (ptrdiff_t)row * incidence->width, v + incidence->first,
                     incidence->width);
        }
    }
}

static void push_range(void *context, int first, int last) {
    const Push *push = context;
    const FilRows *rows = push->rows;
    for (int body = first; body < last; body++) {
        const FilBody *self = &push->world->bodies[body];
        double *v = push->out + self->first_dof;
        if (rows->body_start[body] == rows->body_start[body + 1]) {
            continue;
        }
        memset(v, 0, sizeof(double) * (size_t)self->dof_count);
        for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
            add_impulse(&rows->incidences[k], push->r + 3 * (ptrdiff_t)rows->incidences[k].contact,
                        v);
        }
        if (push->solve) {
            self->table->solve(self->self, 1, v);
        }
    }
}

void fil_rows_gather(const FilWorld *world, const FilRows *rows, const double *r, double *out) {
    Push push = {.world = world, .rows = rows, .r = r};
    push.out = out;
    fil_parallel_ranges(world->body_count, 8, world->threads, push_range, &push);
}

void fil_rows_push(const FilWorld *world, const FilRows *rows, const double *r, double *out) {
    Push push = {.world = world, .rows = rows, .r = r, .solve = true};
    push.out = out;
    fil_parallel_ranges(world->body_count, 8, world->threads, push_range, &push);
}
