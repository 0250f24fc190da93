// global.c - what the operator W of a step is made of: the bodies' matrices M and the rows H.
//
// Newton's step for the contacts can be factored in impulses, with W, or in velocities, with
// M + H S H^T. In a heap of rods every contact couples all contacts of its two rods through W, but
// only a few nodes next to it through H: in velocities the factorisation takes about 20 times fewer
// operations; where strands lie side by side, as in bundles and capstans, 100 times and more. Only
// bodies that contacts touch are there, one after the other.
#include "problem.h"

#include "base/error.h"

typedef struct Global {
    const FilWorld *world;
    const FilRows *rows;
    const int *active;
    int count;
    int *first; // [body_count] its first unknown, or -1 where no contact touches it
    int dof_count;
    int *M_start, *M_index, *H_start, *H_index;
    double *M_value, *H_value;
    double *band; // room for the matrix of one body
    double *work; // as much
} Global;

// The incidence of an active contact on one of its sides, or NULL.
static const FilIncidence *incidence_of(const Global *global, int a, int side) {
    const int k = global->rows->of_contact[global->active[a]][side];
    return k >= 0 ? &global->rows->incidences[k] : NULL;
}

// Number the unknowns of the bodies, and see how much memory their matrices take. False where a
// body does not know its own, or they are too many.
static bool number_bodies(Global *global, const FilWorldTry *step, size_t *entries, size_t *room) {
    int64_t dofs = 0, sum = 0;
    for (int k = 0; k < global->world->body_count; k++) {
        global->first[k] = -1;
    }
    for (int a = 0; a < global->count; a++) {
        const FilWorkContact *contact = &step->contacts[global->active[a]];
        const int bodies[2] = {contact->a.body, contact->b.body};
        for (int side = 0; side < 2; side++) {
            if (incidence_of(global, a, side) != NULL) {
                global->first[bodies[side]] = 0;
            }
        }
    }
    *room = 0;
    for (int k = 0; k < global->world->body_count; k++) {
        if (global->first[k] < 0) {
            continue;
        }
        const FilBody *body = &global->world->bodies[k];
        const int width = body->table->matrix_width(body->self);
        if (width < 0) {
            return false;
        }
        const size_t need = (size_t)body->dof_count * (size_t)(width + 2);
        *room = need > *room ? need : *room;
        global->first[k] = (int)dofs;
        dofs += body->dof_count;
        sum += (int64_t)body->dof_count * (2 * width + 1);
        if (sum > INT32_MAX) {
            return false;
        }
    }
    global->dof_count = (int)dofs;
    *entries = (size_t)sum;
    return true;
}

// The matrix of a body, both triangles; returns the next free entry.
static int fill_body(const Global *global, const FilBody *body, int first, int next) {
    const int width = body->table->matrix_width(body->self), n = body->dof_count;
    body->table->matrix(body->self, global->band, global->work);
    for (int c = 0; c < n; c++) {
        global->M_start[first + c] = next;
        const int from = c > width ? c - width : 0, to = c + width < n ? c + width : n - 1;
        for (int r = from; r <= to; r++) {
            const ptrdiff_t row = r < c ? r : c, off = r < c ? c - r : r - c;
            const double value = global->band[row * (width + 1) + off];
            if (value != 0.0) {
                global->M_index[next] = first + r;
                global->M_value[next++] = value;
            }
        }
    }
    return next;
}

// A row of an incidence on the body whose first unknown is `first`; returns the next free entry.
static int fill_row(const Global *global, const FilIncidence *incidence, int row, int first,
                    int next) {
    const double *H = incidence->H + (ptrdiff_t)row * incidence->width;
    for (int k = 0; k < incidence->width; k++) {
        if (H[k] != 0.0) {
            global->H_index[next] = first + incidence->first + k;
            global->H_value[next++] = H[k];
        }
    }
    return next;
}

// The rows of an active contact, each a column of H; returns the next free entry.
static int fill_contact(const Global *global, const FilWorkContact *contact, int a, int next) {
    const int bodies[2] = {contact->a.body, contact->b.body};
    for (int row = 0; row < 3; row++) {
        global->H_start[3 * (ptrdiff_t)a + row] = next;
        for (int side = 0; side < 2; side++) {
            const FilIncidence *incidence = incidence_of(global, a, side);
            if (incidence != NULL) {
                next = fill_row(global, incidence, row, global->first[bodies[side]], next);
            }
        }
    }
    return next;
}

static bool count_rows(const Global *global, size_t *entries) {
    size_t sum = 0;
    for (int a = 0; a < global->count; a++) {
        for (int side = 0; side < 2; side++) {
            const FilIncidence *incidence = incidence_of(global, a, side);
            sum += incidence != NULL ? 3 * (size_t)incidence->width : 0;
        }
    }
    *entries = sum;
    return sum <= INT32_MAX;
}

static FilStatus reserve(FilArena *arena, Global *global, size_t masses, size_t rows, size_t room,
                         FilError *error) {
    global->M_start = FIL_NEW(arena, int, (size_t)global->dof_count + 1);
    global->M_index = FIL_NEW(arena, int, masses + 1);
    global->M_value = FIL_NEW(arena, double, masses + 1);
    global->H_start = FIL_NEW(arena, int, 3 * (size_t)global->count + 1);
    global->H_index = FIL_NEW(arena, int, rows + 1);
    global->H_value = FIL_NEW(arena, double, rows + 1);
    global->band = FIL_NEW(arena, double, room + 1);
    global->work = FIL_NEW(arena, double, room + 1);
    return arena->failed
               ? fil_fail(error, FIL_E_NO_MEMORY,
                          "there is no memory for the matrices of %d contacts", global->count)
               : FIL_OK;
}

FilStatus fil_world_global_build(FilWorld *world, const FilWorldTry *step, const FilRows *rows,
                                 const int *active, int count, FilGlobalForm *global,
                                 FilError *error) {
    Global build = {.world = world, .rows = rows, .active = active, .count = count};
    FilArena *arena = &world->scratch;
    size_t masses, entries, room;
    *global = (FilGlobalForm){0};
    build.first = FIL_NEW(arena, int, (size_t)world->body_count + 1);
    if (build.first == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d bodies",
                        world->body_count);
    }
    if (!number_bodies(&build, step, &masses, &room) || !count_rows(&build, &entries)) {
        return FIL_OK;
    }
    FIL_TRY(reserve(arena, &build, masses, entries, room, error));
    int next = 0;
    for (int k = 0; k < world->body_count; k++) {
        if (build.first[k] >= 0) {
            next = fill_body(&build, &world->bodies[k], build.first[k], next);
        }
    }
    build.M_start[build.dof_count] = next;
    next = 0;
    for (int a = 0; a < count; a++) {
        next = fill_contact(&build, &step->contacts[active[a]], a, next);
    }
    build.H_start[3 * (ptrdiff_t)count] = next;
    const int m = build.dof_count;
    global->M = (FilSparse){m, m, build.M_start, build.M_index, build.M_value};
    global->H = (FilSparse){m, 3 * count, build.H_start, build.H_index, build.H_value};
    return FIL_OK;
}
