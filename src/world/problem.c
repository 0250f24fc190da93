// problem.c - the friction problem of a step: rows, W and b.
//
// A contact moves with u = F (J_a v_a - J_b v_b) + F carried, F the rows normal and tangents, J the
// velocity of the place on the surface: that of the centre of the section and its spin across the
// arm. H = F J is kept without the zeros at its two ends. Per body, with the k contacts it is in,
//     W_body = H P H^T,    P H^T by 3 k solves, or, where the body has fewer unknowns than that, by
// P itself. Then W_ij is the sum over the one or two bodies that contacts i and j share. Bodies are
// worked on in parallel, then rows of W are; both write to places of their own, so the bits do not
// depend on the threads.
//
// For gap >= 0 the law holds on u_N + gap / dt, for gap < 0 on u_N. Rebound: at touch the law holds
// on u_N - e (approach).
#include "problem.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "rod/rod.h"

// A contact as one of its bodies sees it.
typedef struct Incidence {
    int contact;
    int first, width; // unknowns of the body that it moves
    double *H;        // [3][width]
} Incidence;

struct FilWorldProblem {
    int *body_start;       // [body_count + 1] of the incidences of each body
    Incidence *incidences; // by body, contacts ascending
    int (*of_contact)[2];  // its incidences: those of a and b, -1 where there is none
    double **own;          // [body_count] W_body, [3 k][3 k]
    int *start, *column;   // block pattern of W
    double *value, *b, *mu;
    FilFrictionProblem friction;
};

typedef struct Build {
    FilWorld *world;
    FilWorldTry *step;
    FilWorldProblem *problem;
    double **room; // [threads] scratch
} Build;

static FilStatus no_memory(const FilWorldTry *step, FilError *error) {
    return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for the problem of %d contacts",
                    step->contact_count);
}

// --- who touches whom ----------------------------------------------------------------------------

static FilStatus list_incidences(FilWorld *world, const FilWorldTry *step, FilWorldProblem *p,
                                 FilError *error) {
    int n = step->contact_count, bodies = world->body_count;
    p->body_start = FIL_NEW_ZEROED(&world->scratch, int, (size_t)bodies + 2);
    p->incidences = FIL_NEW(&world->scratch, Incidence, 2 * (size_t)n + 1);
    p->of_contact =
        (int(*)[2])fil_arena_get(&world->scratch, (size_t)n + 1, sizeof(*p->of_contact));
    p->own = FIL_NEW_ZEROED(&world->scratch, double *, (size_t)bodies + 1);
    if (world->scratch.failed) {
        return no_memory(step, error);
    }
    int *next = p->body_start + 1; // shifted by one while counting
    for (int i = 0; i < n; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        int a = contact->a.body, b = contact->b.body;
        next[a + 1] += a >= 0;
        next[b + 1] += b >= 0 && b != a;
    }
    for (int k = 0; k < bodies; k++) {
        next[k + 1] += next[k];
    }
    for (int i = 0; i < n; i++) {
        int ends[2] = {step->contacts[i].a.body, step->contacts[i].b.body};
        for (int side = 0; side < 2; side++) {
            int body = ends[side];
            if (side == 1 && body == ends[0]) {
                p->of_contact[i][1] = -1; // one incidence holds both places
                continue;
            }
            p->of_contact[i][side] = body >= 0 ? next[body] : -1;
            if (body >= 0) {
                p->incidences[next[body]++] = (Incidence){.contact = i};
            }
        }
    }
    return FIL_OK;
}

// --- rows ----------------------------------------------------------------------------------------

// H += sign F (velocity rows + spin rows x arm) of a place, dense: [3][m].
static void add_rows(const Build *build, const FilWorkContact *contact, const FilPlace *place,
                     double sign, double *H, double *work) {
    const FilBody *body = &build->world->bodies[place->body];
    int m = body->dof_count;
    double *jacobian = work, centre[3], arm[3];
    fil_world_jacobian(build->world, place, jacobian, work + 6 * (ptrdiff_t)m);
    fil_world_centre(build->world, build->step, place, centre);
    fil_subtract3(place->point, centre, arm);
    for (int row = 0; row < 3; row++) {
        const double *f = contact->frame + 3 * (ptrdiff_t)row;
        double turn[3]; // f . (w x arm) = (arm x f) . w
        fil_cross3(arm, f, turn);
        double *out = H + (ptrdiff_t)row * m;
        for (int k = 0; k < 3; k++) {
            fil_axpy(sign * f[k], jacobian + (ptrdiff_t)k * m, out, m);
            fil_axpy(sign * turn[k], jacobian + (ptrdiff_t)(3 + k) * m, out, m);
        }
    }
}

// Drop the zeros at both ends.
static void keep_rows(Incidence *incidence, int m, const double *H, double *kept) {
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
        memcpy(kept + (ptrdiff_t)row * incidence->width, H + (ptrdiff_t)row * m + first,
               sizeof(double) * (size_t)incidence->width);
    }
    incidence->H = kept;
}

static void make_rows(const Build *build, int body, double *work) {
    const FilWorldProblem *p = build->problem;
    int m = build->world->bodies[body].dof_count;
    double *H = work, *rest = work + 3 * (ptrdiff_t)m;
    for (int k = p->body_start[body]; k < p->body_start[body + 1]; k++) {
        Incidence *incidence = &p->incidences[k];
        const FilWorkContact *contact = &build->step->contacts[incidence->contact];
        memset(H, 0, sizeof(double) * 3 * (size_t)m);
        if (contact->a.body == body) {
            add_rows(build, contact, &contact->a, 1.0, H, rest);
        }
        if (contact->b.body == body) {
            add_rows(build, contact, &contact->b, -1.0, H, rest);
        }
        keep_rows(incidence, m, H, incidence->H);
    }
}

// --- W -------------------------------------------------------------------------------------------

// X = P H^T of all contacts of a body, as rows [3 k][m].
static void spread_rows(const FilBody *body, const Incidence *incidences, int count, double *X) {
    int m = body->dof_count;
    memset(X, 0, sizeof(double) * 3 * (size_t)count * (size_t)m);
    for (int k = 0; k < count; k++) {
        for (int row = 0; row < 3; row++) {
            memcpy(X + (3 * (ptrdiff_t)k + row) * m + incidences[k].first,
                   incidences[k].H + (ptrdiff_t)row * incidences[k].width,
                   sizeof(double) * (size_t)incidences[k].width);
        }
    }
    body->table->solve(body->self, 3 * count, X);
}

// The same by way of P, which is m solves.
static void spread_rows_dense(const FilBody *body, const Incidence *incidences, int count,
                              double *X, double *P) {
    int m = body->dof_count;
    memset(P, 0, sizeof(double) * (size_t)m * (size_t)m);
    for (int k = 0; k < m; k++) {
        P[(ptrdiff_t)k * (m + 1)] = 1.0;
    }
    body->table->solve(body->self, m, P);
    memset(X, 0, sizeof(double) * 3 * (size_t)count * (size_t)m);
    for (int k = 0; k < count; k++) {
        const Incidence *incidence = &incidences[k];
        for (int row = 0; row < 3; row++) {
            const double *H = incidence->H + (ptrdiff_t)row * incidence->width;
            double *x = X + (3 * (ptrdiff_t)k + row) * m;
            for (int c = 0; c < incidence->width; c++) {
                fil_axpy(H[c], P + (ptrdiff_t)(incidence->first + c) * m, x, m);
            }
        }
    }
}

// W_body = H X^T, symmetric: what is below the diagonal is what is above it.
static void multiply_rows(const FilBody *body, const Incidence *incidences, int count,
                          const double *X, double *W) {
    int m = body->dof_count;
    ptrdiff_t n = 3 * (ptrdiff_t)count;
    for (int i = 0; i < count; i++) {
        const Incidence *incidence = &incidences[i];
        for (int row = 0; row < 3; row++) {
            const double *H = incidence->H + (ptrdiff_t)row * incidence->width;
            ptrdiff_t r = 3 * (ptrdiff_t)i + row;
            for (ptrdiff_t c = r; c < n; c++) {
                double sum = fil_dot(H, X + c * m + incidence->first, incidence->width);
                W[r * n + c] = sum;
                W[c * n + r] = sum;
            }
        }
    }
}

static void make_body(void *context, int body) {
    const Build *build = context;
    const FilWorldProblem *p = build->problem;
    int at = p->body_start[body], count = p->body_start[body + 1] - at;
    if (count == 0) {
        return;
    }
    const FilBody *self = &build->world->bodies[body];
    ptrdiff_t m = self->dof_count;
    double *work = build->room[fil_thread_index()];
    make_rows(build, body, work);
    if (3 * count > m) {
        spread_rows_dense(self, p->incidences + at, count, work + m * m, work);
        multiply_rows(self, p->incidences + at, count, work + m * m, p->own[body]);
    } else {
        spread_rows(self, p->incidences + at, count, work);
        multiply_rows(self, p->incidences + at, count, work, p->own[body]);
    }
}

// Memory for the rows and W of every body, and scratch for every thread.
static FilStatus reserve_bodies(FilWorld *world, const FilWorldTry *step, Build *build,
                                FilError *error) {
    FilWorldProblem *p = build->problem;
    size_t most = 0;
    for (int k = 0; k < world->body_count; k++) {
        size_t count = (size_t)(p->body_start[k + 1] - p->body_start[k]);
        size_t m = (size_t)world->bodies[k].dof_count;
        if (count == 0) {
            continue;
        }
        double *H = FIL_NEW(&world->scratch, double, 3 * m *count);
        p->own[k] = FIL_NEW(&world->scratch, double, 9 * count * count);
        for (size_t i = 0; H != NULL && i < count; i++) {
            p->incidences[(size_t)p->body_start[k] + i].H = H + 3 * m * i;
        }
        size_t need = 3 * count > m ? m * m + 3 * count * m : 3 * count * m;
        need = need > 15 * m ? need : 15 * m;
        most = need > most ? need : most;
    }
    build->room = FIL_NEW(&world->scratch, double *, world->threads);
    for (int t = 0; build->room != NULL && t < world->threads; t++) {
        build->room[t] = FIL_NEW(&world->scratch, double, most + 1);
    }
    return world->scratch.failed ? no_memory(step, error) : FIL_OK;
}

// --- the block rows of W -------------------------------------------------------------------------

// The contacts that share a body with contact i, ascending: the union of two sorted lists.
// `column` may be NULL: count only.
static int merge_row(const FilWorldProblem *p, const int bodies[2], int *column) {
    int at[2] = {0, 0}, end[2] = {0, 0}, count = 0;
    for (int side = 0; side < 2; side++) {
        if (bodies[side] >= 0) {
            at[side] = p->body_start[bodies[side]];
            end[side] = p->body_start[bodies[side] + 1];
        }
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        int left = at[0] < end[0] ? p->incidences[at[0]].contact : INT32_MAX;
        int right = at[1] < end[1] ? p->incidences[at[1]].contact : INT32_MAX;
        int least = left < right ? left : right;
        at[0] += left == least;
        at[1] += right == least;
        if (column != NULL) {
            column[count] = least;
        }
        count++;
    }
    return count;
}

static void bodies_of(const FilWorkContact *contact, int bodies[2]) {
    bodies[0] = contact->a.body;
    bodies[1] = contact->b.body == contact->a.body ? -1 : contact->b.body;
}

// W_ij of row i from what its bodies know.
static void fill_row(const Build *build, int i) {
    const FilWorldProblem *p = build->problem;
    int bodies[2];
    bodies_of(&build->step->contacts[i], bodies);
    int at = p->start[i], count = merge_row(p, bodies, p->column + at);
    memset(p->value + 9 * (ptrdiff_t)at, 0, sizeof(double) * 9 * (size_t)count);
    for (int side = 0; side < 2; side++) {
        if (bodies[side] < 0) {
            continue;
        }
        int first = p->body_start[bodies[side]];
        ptrdiff_t n = 3 * (ptrdiff_t)(p->body_start[bodies[side] + 1] - first);
        ptrdiff_t row = 3 * (ptrdiff_t)(p->of_contact[i][side] - first);
        const double *own = p->own[bodies[side]];
        for (int k = 0, j = first; j < p->body_start[bodies[side] + 1]; j++) {
            while (p->column[at + k] != p->incidences[j].contact) {
                k++;
            }
            double *block = p->value + 9 * (ptrdiff_t)(at + k);
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < 3; c++) {
                    block[3 * r + c] += own[(row + r) * n + 3 * (ptrdiff_t)(j - first) + c];
                }
            }
        }
    }
}

// u of contact i in the free motion, world axes into the contact's own.
static void find_free(const Build *build, int i, double u[3]) {
    const FilWorldProblem *p = build->problem;
    const FilWorkContact *contact = &build->step->contacts[i];
    for (int row = 0; row < 3; row++) {
        u[row] = fil_dot3(contact->frame + 3 * (ptrdiff_t)row, contact->carried);
    }
    int bodies[2];
    bodies_of(contact, bodies);
    for (int side = 0; side < 2; side++) {
        if (bodies[side] < 0) {
            continue;
        }
        const Incidence *incidence = &p->incidences[p->of_contact[i][side]];
        const double *v = build->step->free_velocity +
                          build->world->bodies[bodies[side]].first_dof + incidence->first;
        for (int row = 0; row < 3; row++) {
            u[row] += fil_dot(incidence->H + (ptrdiff_t)row * incidence->width, v, incidence->width);
        }
    }
}

static void fill_range(void *context, int first, int last) {
    const Build *build = context;
    const FilWorldProblem *p = build->problem;
    for (int i = first; i < last; i++) {
        const FilWorkContact *contact = &build->step->contacts[i];
        double *b = p->b + 3 * (ptrdiff_t)i;
        fill_row(build, i);
        find_free(build, i, b);
        b[0] += fil_contact_offset(contact, build->step->dt);
        p->mu[i] = contact->mu;
    }
}

double fil_contact_offset(const FilWorkContact *contact, double dt) {
    double offset = contact->gap > 0.0 ? contact->gap / dt : 0.0;
    if (fil_contact_rebounds(contact)) {
        offset -= contact->restitution * contact->memory.approach;
    }
    return offset;
}

bool fil_contact_rebounds(const FilWorkContact *contact) {
    return contact->restitution > 0.0 && contact->known && !contact->memory.rebounded &&
           contact->gap <= 1e-3 * contact->margin;
}

static FilStatus reserve_rows(FilWorld *world, const FilWorldTry *step, FilWorldProblem *p,
                              FilError *error) {
    int n = step->contact_count;
    p->start = FIL_NEW(&world->scratch, int, (size_t)n + 1);
    p->b = FIL_NEW(&world->scratch, double, 3 * (size_t)n + 1);
    p->mu = FIL_NEW(&world->scratch, double, (size_t)n + 1);
    if (world->scratch.failed) {
        return no_memory(step, error);
    }
    int64_t blocks = 0;
    for (int i = 0; i < n; i++) {
        int bodies[2];
        bodies_of(&step->contacts[i], bodies);
        p->start[i] = (int)blocks;
        blocks += merge_row(p, bodies, NULL);
        if (blocks > INT32_MAX) {
            return no_memory(step, error);
        }
    }
    p->start[n] = (int)blocks;
    p->column = FIL_NEW(&world->scratch, int, (size_t)blocks + 1);
    p->value = FIL_NEW(&world->scratch, double, 9 * (size_t)blocks + 1);
    return world->scratch.failed ? no_memory(step, error) : FIL_OK;
}

FilStatus fil_world_problem_build(FilWorld *world, FilWorldTry *step, FilWorldProblem **out,
                                  FilError *error) {
    FilWorldProblem *p = FIL_NEW_ZEROED(&world->scratch, FilWorldProblem, 1);
    if (p == NULL) {
        return no_memory(step, error);
    }
    Build build = {.world = world, .step = step, .problem = p};
    FIL_TRY(list_incidences(world, step, p, error));
    FIL_TRY(reserve_bodies(world, step, &build, error));
    FIL_TRY(reserve_rows(world, step, p, error));
    fil_parallel_for(world->body_count, world->threads, make_body, &build);
    fil_parallel_ranges(step->contact_count, 32, world->threads, fill_range, &build);
    int64_t dofs = 0;
    for (int k = 0; k < world->body_count; k++) {
        dofs += p->body_start[k + 1] > p->body_start[k] ? world->bodies[k].dof_count : 0;
    }
    p->friction = (FilFrictionProblem){
        .block_count = step->contact_count,
        .block_size = 3,
        .mu = p->mu,
        .dof_count = (int)(dofs < INT32_MAX ? dofs : INT32_MAX),
        .form = FIL_FORM_BLOCKS,
        .blocks = {.start = p->start, .column = p->column, .value = p->value},
        .b = p->b,
    };
    *out = p;
    return FIL_OK;
}

const FilFrictionProblem *fil_world_problem_get(const FilWorldProblem *problem) {
    return &problem->friction;
}

// --- back to the bodies --------------------------------------------------------------------------

typedef struct Push {
    const FilWorld *world;
    const FilWorldProblem *problem;
    const double *r;
    double *out;
} Push;

static void push_range(void *context, int first, int last) {
    const Push *push = context;
    const FilWorldProblem *p = push->problem;
    for (int body = first; body < last; body++) {
        const FilBody *self = &push->world->bodies[body];
        if (p->body_start[body] == p->body_start[body + 1]) {
            continue;
        }
        double *v = push->out + self->first_dof;
        memset(v, 0, sizeof(double) * (size_t)self->dof_count);
        for (int k = p->body_start[body]; k < p->body_start[body + 1]; k++) {
            const Incidence *incidence = &p->incidences[k];
            const double *r = push->r + 3 * (ptrdiff_t)incidence->contact;
            for (int row = 0; row < 3; row++) {
                fil_axpy(r[row], incidence->H + (ptrdiff_t)row * incidence->width,
                         v + incidence->first, incidence->width);
            }
        }
        self->table->solve(self->self, 1, v);
    }
}

void fil_world_problem_push(const FilWorld *world, const FilWorldProblem *problem, const double *r,
                            double *out) {
    Push push = {.world = world, .problem = problem, .r = r, .out = out};
    fil_parallel_ranges(world->body_count, 8, world->threads, push_range, &push);
}
