// rows.c - the rows of the contacts: see rows.h. Bodies are worked on in parallel, each writes what
// is its own.
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

// --- rows ----------------------------------------------------------------------------------------

// H += sign F (velocity rows + spin rows x arm) of a place, dense: [3][m].
static void add_place(const Making *making, const FilWorkContact *contact, const FilPlace *place,
                      double sign, double *H, double *work) {
    int m = making->world->bodies[place->body].dof_count;
    double *jacobian = work, centre[3], arm[3];
    fil_world_jacobian(making->world, place, jacobian, work + 6 * (ptrdiff_t)m);
    fil_world_centre(making->world, making->step, place, centre);
    fil_subtract3(place->point, centre, arm);
    for (int row = 0; row < 3; row++) {
        const double *f = contact->frame + 3 * (ptrdiff_t)row;
        double turn[3], *out = H + (ptrdiff_t)row * m;
        fil_cross3(arm, f, turn); // f . (w x arm) = (arm x f) . w
        for (int k = 0; k < 3; k++) {
            double along = contact->turn ? 0.0 : sign * f[k];
            double about = contact->turn ? sign * f[k] : sign * turn[k];
            fil_axpy(along, jacobian + (ptrdiff_t)k * m, out, m);
            fil_axpy(about, jacobian + (ptrdiff_t)(3 + k) * m, out, m);
        }
    }
}

// Drop the zeros at both ends.
static void keep_rows(FilIncidence *incidence, int m, const double *H) {
    int first = 0, last = m;
    while (first < last - 1 && H[first] == 0.0 && H[m + first] == 0.0 && H[2 * m + first] == 0.0) {
        first++;
    }
    while (last > first + 1 && H[last - 1] == 0.0 && H[m + last - 1] == 0.0 &&
           H[2 * m + last - 1] == 0.0) {
        last--;
    }
    incidence->first = first;
    incidence->width = last - first;
    for (int row = 0; row < 3; row++) {
        memcpy(incidence->H + (ptrdiff_t)row * incidence->width, H + (ptrdiff_t)row * m + first,
               sizeof(double) * (size_t)incidence->width);
    }
}

static void make_body(void *context, int body) {
    const Making *making = context;
    const FilRows *rows = making->rows;
    int m = making->world->bodies[body].dof_count;
    double *H = making->room[fil_thread_index()], *rest = H + 3 * (ptrdiff_t)m;
    for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
        const FilWorkContact *contact = &making->step->contacts[rows->incidences[k].contact];
        memset(H, 0, sizeof(double) * 3 * (size_t)m);
        if (contact->a.body == body) {
            add_place(making, contact, &contact->a, 1.0, H, rest);
        }
        if (contact->b.body == body) {
            add_place(making, contact, &contact->b, -1.0, H, rest);
        }
        keep_rows(&rows->incidences[k], m, H);
    }
}

static FilStatus reserve_rows(FilWorld *world, Making *making, FilError *error) {
    const FilRows *rows = making->rows;
    size_t most = 1;
    for (int k = 0; k < world->body_count; k++) {
        size_t at = (size_t)rows->body_start[k], count = (size_t)rows->body_start[k + 1] - at;
        size_t m = (size_t)world->bodies[k].dof_count;
        double *H = count > 0 ? FIL_NEW(&world->scratch, double, 3 * m * count) : NULL;
        for (size_t i = 0; H != NULL && i < count; i++) {
            rows->incidences[at + i].H = H + 3 * m * i;
        }
        most = count > 0 && m > most ? m : most;
    }
    making->room = FIL_NEW(&world->scratch, double *, world->threads);
    for (int t = 0; making->room != NULL && t < world->threads; t++) {
        making->room[t] = FIL_NEW(&world->scratch, double, 15 * most);
    }
    if (world->scratch.failed) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the rows of %d contacts",
                        making->step->contact_count);
    }
    return FIL_OK;
}

FilStatus fil_rows_build(FilWorld *world, const FilWorldTry *step, FilRows *rows, FilError *error) {
    FIL_TRY(list_incidences(world, step, rows, error));
    Making making = {.world = world, .step = step, .rows = rows};
    FIL_TRY(reserve_rows(world, &making, error));
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

static void push_range(void *context, int first, int last) {
    const Push *push = context;
    const FilRows *rows = push->rows;
    for (int body = first; body < last; body++) {
        const FilBody *self = &push->world->bodies[body];
        if (rows->body_start[body] == rows->body_start[body + 1]) {
            continue;
        }
        double *v = push->out + self->first_dof;
        memset(v, 0, sizeof(double) * (size_t)self->dof_count);
        for (int k = rows->body_start[body]; k < rows->body_start[body + 1]; k++) {
            const FilIncidence *incidence = &rows->incidences[k];
            const double *r = push->r + 3 * (ptrdiff_t)incidence->contact;
            for (int row = 0; row < 3; row++) {
                if (r[row] != 0.0) {
                    fil_axpy(r[row], incidence->H + (ptrdiff_t)row * incidence->width,
                             v + incidence->first, incidence->width);
                }
            }
        }
        if (push->solve) {
            self->table->solve(self->self, 1, v);
        }
    }
}

void fil_rows_gather(const FilWorld *world, const FilRows *rows, const double *r, double *out) {
    Push push = {.world = world, .rows = rows, .r = r, .out = out};
    fil_parallel_ranges(world->body_count, 8, world->threads, push_range, &push);
}

void fil_rows_push(const FilWorld *world, const FilRows *rows, const double *r, double *out) {
    Push push = {.world = world, .rows = rows, .r = r, .out = out, .solve = true};
    fil_parallel_ranges(world->body_count, 8, world->threads, push_range, &push);
}
