// generate.c - whole contact problems from a seed: what all makers share.
//
// A maker (fibres, rigid, boxes, spheres) leaves bodies, each with its step matrix A, and contacts,
// each with rows H for one or two bodies. Here that becomes a problem:
//
//     HA    = H A^-1, by a Cholesky factorisation of A within its envelope (chains are banded),
//     b     = u* - W r* for a lawful pair, or H v for the velocities v without contact,
//     M, H  = the same as sparse matrices, with (f, w) = (0, b), or (A v, 0).
//
// The same bits everywhere: one thread, one order, and only operations that IEEE 754 fixes to the
// last bit. There is no logarithm, power or trigonometry of libm here: exponential variates come
// from von Neumann's comparisons, powers from square roots, directions from rejection.
#include "generate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

typedef struct Owner {
    FilGenerated generated; // first, so that a pointer to it is one to us
    FilArena arena;
} Owner;

static bool is_chain(FilGenerator generator) {
    return generator == FIL_GENERATE_FIBRES || generator == FIL_GENERATE_TANGLES;
}

const char *fil_generator_name(FilGenerator generator) {
    static const char *const name[] = {
#define X(code, word, text) [code] = (word),
        FIL_GENERATORS(X)
#undef X
    };
    return (unsigned)generator < FIL_GENERATOR_COUNT ? name[generator] : NULL;
}

const char *fil_generator_text(FilGenerator generator) {
    static const char *const what[] = {
#define X(code, word, text) [code] = (text),
        FIL_GENERATORS(X)
#undef X
    };
    return (unsigned)generator < FIL_GENERATOR_COUNT ? what[generator] : NULL;
}

FilGenerateDef fil_generate_def_default(FilGenerator generator) {
    const bool chain = is_chain(generator), rigid = generator == FIL_GENERATE_RIGID;
    return (FilGenerateDef){.generator = generator,
                            .seed = 1,
                            .contact_count = 100,
                            .conditioning = chain ? 0.9 : 1.0,
                            .mu = chain ? 0.3 : 0.5,
                            .solvable = chain || rigid,
                            .stretch = 1e4,
                            .bending = 1.0,
                            .density = generator == FIL_GENERATE_TANGLES ? 0.4 : 2.0,
                            .mass_ratio = rigid ? 100.0 : 1.0};
}

static FilStatus check_def(const FilGenerateDef *def, FilError *error) {
    if (fil_generator_name(def->generator) == NULL) {
        return fil_fail(error, FIL_E_ARGUMENT, "generator is %d; there are %d", (int)def->generator,
                        (int)FIL_GENERATOR_COUNT);
    }
    if (def->contact_count < 1 || def->contact_count > FIL_GENERATE_CONTACT_MAX) {
        return fil_fail(error, FIL_E_ARGUMENT, "contact_count is %d; it must be 1 to %d",
                        def->contact_count, FIL_GENERATE_CONTACT_MAX);
    }
    const struct {
        const char *name;
        double value, low, high;
    } ranges[] = {
        {"conditioning", def->conditioning, 0.05, 4.0},
        {"mu", def->mu, 0.0, 1e6},
        {"stretch", def->stretch, 0.0, 1e12},
        {"bending", def->bending, 0.0, 1e12},
        {"density", def->density, 1e-3, 1e3},
        {"mass_ratio", def->mass_ratio, 1.0, 1e12},
        {"slope", def->slope, -1e3, 1e3},
    };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        if (!(ranges[k].value >= ranges[k].low && ranges[k].value <= ranges[k].high)) {
            return fil_fail(error, FIL_E_ARGUMENT, "%s is %g; it must be %g to %g", ranges[k].name,
                            ranges[k].value, ranges[k].low, ranges[k].high);
        }
    }
    return FIL_OK;
}

// --- building a scene ----------------------------------------------------------------------------

FilStatus fil_scene_reserve(FilScene *scene, int body_count, int body_size, int contact_room) {
    const size_t room = (size_t)contact_room;
    FIL_ASSERT(body_size <= FIL_SCENE_BODY_MAX);
    scene->body_count = body_count;
    scene->body_size = body_size;
    scene->velocity = FIL_NEW_ZEROED(scene->arena, double, (size_t)body_count *(size_t)body_size);
    scene->entry_start = FIL_NEW_ZEROED(scene->arena, int, room + 2);
    scene->entry_body = FIL_NEW(scene->arena, int, 2 * room);
    scene->H = FIL_NEW_ZEROED(scene->arena, double, 6 * room * (size_t)body_size);
    return scene->arena->failed ? FIL_E_NO_MEMORY : FIL_OK;
}

double *fil_scene_add_entry(FilScene *scene, int body) {
    const int e = scene->entry_start[scene->contact_count + 1]++;
    scene->entry_body[e] = body;
    return scene->H + 3 * (size_t)scene->body_size * (size_t)e;
}

void fil_scene_end_contact(FilScene *scene) {
    scene->contact_count++;
    scene->entry_start[scene->contact_count + 1] = scene->entry_start[scene->contact_count];
}

static double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double a[3], const double b[3], double c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

void fil_scene_frame(const double e[3], double frame[9]) {
    const double axis[3] = {fabs(e[0]) < 0.7, fabs(e[0]) >= 0.7, 0.0};
    double t[3];
    cross3(e, axis, t);
    const double length = sqrt(dot3(t, t));
    for (int k = 0; k < 3; k++) {
        frame[k] = e[k];
        frame[3 + k] = t[k] / length;
    }
    cross3(e, frame + 3, frame + 6);
}

// The velocity of a point at `lever` is v + spin x lever, seen in the frame.
static void touch_body(FilScene *scene, int body, const double *lever, const double *frame,
                       double sign) {
    double *H = fil_scene_add_entry(scene, body);
    for (int row = 0; row < 3; row++) {
        double turn[3];
        cross3(lever, frame + (size_t)3 * row, turn);
        for (int k = 0; k < 3; k++) {
            H[6 * row + k] = sign * frame[3 * row + k];
            H[6 * row + 3 + k] = sign * turn[k];
        }
    }
}

void fil_scene_touch(FilScene *scene, int a, const double *lever_a, int b, const double *lever_b,
                     const double *normal) {
    double frame[9];
    fil_scene_frame(normal, frame);
    touch_body(scene, a, lever_a, frame, 1.0);
    if (b >= 0) {
        touch_body(scene, b, lever_b, frame, -1.0);
    }
    fil_scene_end_contact(scene);
}

static void rigid_matrix(const FilScene *scene, int body, double *A) {
    const FilRigidMasses *masses = scene->self;
    for (int k = 0; k < 6; k++) {
        A[7 * k] = masses->mass[body] * (k < 3 ? 1.0 : masses->inertia);
    }
}

// base^u, u uniform in [0, 1) by its first 16 bits.
static double draw_power(FilRandom *random, double base) {
    double power = 1.0;
    for (uint64_t bits = fil_random_bits(random), k = 0; k < 16; k++) {
        base = sqrt(base);
        power *= (bits >> k) % 2 == 1 ? base : 1.0;
    }
    return power;
}

FilStatus fil_scene_masses(FilScene *scene, double inertia) {
    FilRigidMasses *masses = FIL_NEW(scene->scratch, FilRigidMasses, 1);
    double *mass = FIL_NEW(scene->scratch, double, scene->body_count);
    if (masses == NULL || mass == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int body = 0; body < scene->body_count; body++) {
        mass[body] = draw_power(&scene->random, scene->def->mass_ratio);
    }
    *masses = (FilRigidMasses){mass, inertia};
    scene->self = masses;
    scene->matrix = rigid_matrix;
    return FIL_OK;
}

void fil_scene_drop(FilScene *scene, double noise) {
    const double slope = scene->def->slope, length = sqrt(1.0 + slope * slope);
    for (int body = 0; body < scene->body_count; body++) {
        double *v = scene->velocity + (size_t)6 * body;
        for (int k = 0; k < 6; k++) {
            v[k] = noise * fil_random_normal(&scene->random);
        }
        v[0] += slope / length;
        v[2] -= 1.0 / length;
    }
}

void fil_random_direction(FilRandom *random, double e[3]) {
    double square;
    do {
        for (int k = 0; k < 3; k++) {
            e[k] = fil_random_uniform(random, -1.0, 1.0);
        }
        square = dot3(e, e);
    } while (square > 1.0 || square < 0.01);
    const double length = sqrt(square);
    for (int k = 0; k < 3; k++) {
        e[k] /= length;
    }
}

// --- grid ----------------------------------------------------------------------------------------

static void find_cell(const FilGrid *grid, const double *point, int cell[3]) {
    for (int k = 0; k < 3; k++) {
        const int at = (int)((point[k] - grid->low[k]) * grid->per_cell);
        cell[k] = at < grid->size[k] ? at : grid->size[k] - 1;
    }
}

static int find_index(const FilGrid *grid, const double *point) {
    int cell[3];
    find_cell(grid, point, cell);
    return (cell[2] * grid->size[1] + cell[1]) * grid->size[0] + cell[0];
}

void fil_grid_around(const FilGrid *grid, const double *point, int near, int *first, int *last) {
    int cell[3];
    find_cell(grid, point, cell);
    const int x = cell[0] + near % 3 - 1, y = cell[1] + near / 3 % 3 - 1,
              z = cell[2] + near / 9 - 1;
    *first = *last = 0;
    if (x >= 0 && y >= 0 && z >= 0 && x < grid->size[0] && y < grid->size[1] && z < grid->size[2]) {
        const int c = (z * grid->size[1] + y) * grid->size[0] + x;
        *first = grid->start[c];
        *last = grid->start[c + 1];
    }
}

FilStatus fil_grid_make(const double *points, int count, double edge, FilArena *arena,
                        FilGrid *grid) {
    double high[3];
    memcpy(grid->low, points, sizeof high);
    memcpy(high, points, sizeof high);
    for (int i = 0; i < 3 * count; i++) {
        grid->low[i % 3] = fmin(grid->low[i % 3], points[i]);
        high[i % 3] = fmax(high[i % 3], points[i]);
    }
    double cells;
    do { // widen the cells until there are not many more than points
        cells = 1.0;
        for (int k = 0; k < 3; k++) {
            cells *= floor((high[k] - grid->low[k]) / edge) + 1.0;
        }
        edge *= cells > 8.0 * count + 64.0 ? 1.25 : 1.0;
    } while (cells > 8.0 * count + 64.0);
    grid->per_cell = 1.0 / edge;
    int total = 1;
    for (int k = 0; k < 3; k++) {
        grid->size[k] = (int)((high[k] - grid->low[k]) / edge) + 1;
        total *= grid->size[k];
    }
    int *start = FIL_NEW_ZEROED(arena, int, total + 2), *member = FIL_NEW(arena, int, count);
    if (start == NULL || member == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        start[find_index(grid, points + (size_t)3 * i) + 2]++;
    }
    for (int c = 0; c <= total; c++) {
        start[c + 1] += start[c];
    }
    for (int i = 0; i < count; i++) {
        member[start[find_index(grid, points + (size_t)3 * i) + 1]++] = i;
    }
    grid->start = start;
    grid->member = member;
    return FIL_OK;
}

// --- from a scene to a problem -------------------------------------------------------------------

// First nonzero of every row of the lower triangle, then A = L L^T in place within that envelope.
static void factor(int n, double *A, int *first) {
    for (int i = 0; i < n; i++) {
        first[i] = 0;
        while (first[i] < i && A[n * i + first[i]] == 0.0) {
            first[i]++;
        }
        for (int j = first[i]; j <= i; j++) {
            double sum = A[n * i + j];
            for (int k = first[i] > first[j] ? first[i] : first[j]; k < j; k++) {
                sum -= A[n * i + k] * A[n * j + k];
            }
            A[n * i + j] = j < i ? sum / A[n * j + j] : sqrt(sum);
        }
    }
}

// x := (L L^T)^-1 x.
static void solve(int n, const double *L, const int *first, double *x) {
    for (int i = 0; i < n; i++) {
        for (int k = first[i]; k < i; k++) {
            x[i] -= L[n * i + k] * x[k];
        }
        x[i] /= L[n * i + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= L[n * i + i];
        for (int k = first[i]; k < i; k++) {
            x[k] -= L[n * i + k] * x[i];
        }
    }
}

// Entries by body: those of body k are list[start[k]] .. list[start[k + 1] - 1].
static FilStatus list_by_body(const FilScene *scene, int **start_out, int **list_out) {
    const int count = scene->entry_start[scene->contact_count];
    int *start = FIL_NEW_ZEROED(scene->scratch, int, scene->body_count + 2);
    int *list = FIL_NEW(scene->scratch, int, count);
    if (start == NULL || list == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int e = 0; e < count; e++) {
        start[scene->entry_body[e] + 2]++;
    }
    for (int k = 0; k <= scene->body_count; k++) {
        start[k + 1] += start[k];
    }
    for (int e = 0; e < count; e++) {
        list[start[scene->entry_body[e] + 1]++] = e;
    }
    *start_out = start;
    *list_out = list;
    return FIL_OK;
}

static void load_matrix(const FilScene *scene, int body, double *A) {
    const size_t m = (size_t)scene->body_size;
    memset(A, 0, m * m * sizeof *A);
    scene->matrix(scene, body, A);
}

// M of the global form, and f = M v.
static FilStatus fill_mass(const FilScene *scene, FilFrictionProblem *global) {
    const int m = scene->body_size, size = m * scene->body_count;
    double A[FIL_SCENE_BODY_MAX * FIL_SCENE_BODY_MAX];
    int *start = FIL_NEW_ZEROED(scene->arena, int, size + 1);
    double *f = FIL_NEW_ZEROED(scene->arena, double, size);
    if (start == NULL || f == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int body = 0; body < scene->body_count; body++) {
        load_matrix(scene, body, A);
        for (int j = 0; j < m; j++) { // A is symmetric: its rows are its columns
            const int column = m * body + j;
            start[column + 1] = start[column];
            for (int i = 0; i < m; i++) {
                start[column + 1] += A[m * j + i] != 0.0;
                f[column] += A[m * j + i] * scene->velocity[m * body + i];
            }
        }
    }
    int *index = FIL_NEW(scene->arena, int, start[size]);
    double *value = FIL_NEW(scene->arena, double, start[size]);
    if (index == NULL || value == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int body = 0, at = 0; body < scene->body_count; body++) {
        load_matrix(scene, body, A);
        for (int k = 0; k < m * m; k++) {
            if (A[k] != 0.0) {
                index[at] = m * body + k % m;
                value[at++] = A[k];
            }
        }
    }
    global->global.M = (FilSparse){size, size, start, index, value};
    global->global.f = f;
    return FIL_OK;
}

// The nonzeros of `row` of an entry; returns where the next ones go.
static int append_row(const FilScene *scene, int entry, int row, int at, int *index,
                      double *value) {
    const int m = scene->body_size;
    const double *H = scene->H + (3 * (size_t)entry + (size_t)row) * (size_t)m;
    for (int k = 0; k < m; k++) {
        if (H[k] != 0.0) {
            index[at] = m * scene->entry_body[entry] + k;
            value[at++] = H[k];
        }
    }
    return at;
}

// H of the global form: column 3 i + k holds row k of the entries of contact i, by rising body.
static FilStatus fill_columns(const FilScene *scene, FilFrictionProblem *global) {
    const int m = scene->body_size, columns = 3 * scene->contact_count;
    const int count = scene->entry_start[scene->contact_count];
    int total = 0;
    for (size_t k = 0; k < 3 * (size_t)m * (size_t)count; k++) {
        total += scene->H[k] != 0.0;
    }
    int *start = FIL_NEW(scene->arena, int, columns + 1);
    int *index = FIL_NEW(scene->arena, int, total);
    double *value = FIL_NEW(scene->arena, double, total);
    if (scene->arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    start[0] = 0;
    for (int c = 0, at = 0; c < columns; c++) {
        const int first = scene->entry_start[c / 3], last = scene->entry_start[c / 3 + 1] - 1;
        const bool swap = scene->entry_body[first] > scene->entry_body[last];
        for (int e = first; e <= last; e++) {
            at = append_row(scene, swap ? first + last - e : e, c % 3, at, index, value);
        }
        start[c + 1] = at;
    }
    global->global.H = (FilSparse){m * scene->body_count, columns, start, index, value};
    return FIL_OK;
}

static FilStatus fill_bodies(const FilScene *scene, FilFrictionProblem *problem) {
    const int m = scene->body_size;
    const size_t entry = 3 * (size_t)m;
    const size_t count = (size_t)scene->entry_start[scene->contact_count];
    int *by_body, *list, first[FIL_SCENE_BODY_MAX];
    FIL_TRY(list_by_body(scene, &by_body, &list));
    double A[FIL_SCENE_BODY_MAX * FIL_SCENE_BODY_MAX];
    int *body_start = FIL_NEW(scene->arena, int, scene->body_count + 1);
    double *HA = FIL_NEW(scene->arena, double, entry *count);
    if (body_start == NULL || HA == NULL) {
        return FIL_E_NO_MEMORY;
    }
    memcpy(HA, scene->H, entry * count * sizeof *HA);
    for (int body = 0; body <= scene->body_count; body++) {
        body_start[body] = m * body;
    }
    for (int body = 0; body < scene->body_count; body++) {
        load_matrix(scene, body, A);
        factor(m, A, first);
        for (int k = by_body[body]; k < by_body[body + 1]; k++) {
            for (int row = 0; row < 3; row++) {
                solve(m, A, first, HA + entry * (size_t)list[k] + (size_t)m * (size_t)row);
            }
        }
    }
    problem->bodies = (FilBodyRows){.body_count = scene->body_count,
                                    .body_start = body_start,
                                    .start = scene->entry_start,
                                    .body = scene->entry_body,
                                    .H = scene->H,
                                    .HA = HA};
    return FIL_OK;
}

// --- right-hand sides ----------------------------------------------------------------------------

// Exponential with mean 1 (von Neumann 1951): x uniform is kept when the run x > x' > x'' > ...
// that starts there has odd length, which happens with probability e^-x; else 1 is added.
static double draw_exponential(FilRandom *random) {
    for (int whole = 0;; whole++) {
        const double x = fil_random_uniform(random, 0.0, 1.0);
        double last = x;
        bool odd = true;
        for (;;) {
            const double next = fil_random_uniform(random, 0.0, 1.0);
            if (next >= last) {
                break;
            }
            last = next;
            odd = !odd;
        }
        if (odd) {
            return whole + x;
        }
    }
}

// A pair that obeys Coulomb's law.
static void draw_lawful(FilRandom *random, double mu, double u[3], double r[3]) {
    const double kind = fil_random_uniform(random, 0.0, 1.0);
    double t[2], square;
    do {
        t[0] = fil_random_uniform(random, -1.0, 1.0);
        t[1] = fil_random_uniform(random, -1.0, 1.0);
        square = t[0] * t[0] + t[1] * t[1];
    } while (square > 1.0 || square < 0.01);
    const double length = sqrt(square);
    for (int k = 0; k < 3; k++) {
        u[k] = r[k] = 0.0;
    }
    if (kind < 0.2) {
        u[0] = draw_exponential(random);
        u[1] = fil_random_normal(random);
        u[2] = fil_random_normal(random);
        return;
    }
    const bool slides = kind < 0.7;
    const double inside = fil_random_uniform(random, 0.0, 1.0), speed = draw_exponential(random);
    r[0] = draw_exponential(random);
    for (int k = 0; k < 2; k++) {
        r[1 + k] = mu * r[0] * t[k] / length * (slides ? 1.0 : inside);
        u[1 + k] = slides ? -speed * t[k] / length : 0.0;
    }
}

// y_i += factor * H_e v, or v += H^T y: a row of entries times the velocities of their bodies.
static void add_velocity(const FilBodyRows *bodies, int m, int contact, const double *v,
                         double factor_of, double u[3]) {
    for (int e = bodies->start[contact]; e < bodies->start[contact + 1]; e++) {
        const double *H = bodies->H + 3 * (size_t)m * (size_t)e;
        const double *velocity = v + (size_t)m * (size_t)bodies->body[e];
        for (int row = 0; row < 3; row++) {
            double sum = 0.0;
            for (int k = 0; k < m; k++) {
                sum += H[m * row + k] * velocity[k];
            }
            u[row] += factor_of * sum;
        }
    }
}

static FilStatus fill_solvable(FilScene *scene, const FilBodyRows *bodies, double *b,
                               FilGenerated *out) {
    const int n = scene->contact_count, m = scene->body_size;
    double *r = FIL_NEW(scene->arena, double, 3 * n), *u = FIL_NEW(scene->arena, double, 3 * n);
    double *v = FIL_NEW_ZEROED(scene->scratch, double, m * scene->body_count);
    if (r == NULL || u == NULL || v == NULL) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        const size_t at = 3 * (size_t)i;
        draw_lawful(&scene->random, scene->def->mu, u + at, r + at);
        for (int e = bodies->start[i]; e < bodies->start[i + 1]; e++) {
            const double *HA = bodies->HA + 3 * (size_t)m * (size_t)e;
            double *velocity = v + (size_t)m * (size_t)bodies->body[e];
            for (int k = 0; k < 3 * m; k++) {
                velocity[k % m] += HA[k] * r[at + (size_t)(k / m)];
            }
        }
    }
    memcpy(b, u, 3 * (size_t)n * sizeof *b);
    for (int i = 0; i < n; i++) {
        add_velocity(bodies, m, i, v, -1.0, b + (size_t)3 * i);
    }
    out->r = r;
    out->u = u;
    return FIL_OK;
}

static FilStatus fill_sides(FilScene *scene, FilGenerated *out) {
    const int n = scene->contact_count;
    double *b = FIL_NEW_ZEROED(scene->arena, double, 3 * n);
    double *zero = FIL_NEW_ZEROED(scene->arena, double, 3 * n);
    double *mu = FIL_NEW(scene->arena, double, n);
    if (scene->arena->failed) {
        return FIL_E_NO_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        mu[i] = scene->def->mu;
    }
    if (scene->def->solvable) {
        FIL_TRY(fill_solvable(scene, &out->problem.bodies, b, out));
    }
    for (int i = 0; !scene->def->solvable && i < n; i++) {
        add_velocity(&out->problem.bodies, scene->body_size, i, scene->velocity, 1.0,
                     b + (size_t)3 * i);
    }
    out->problem.b = b;
    out->global.global.w = scene->def->solvable ? b : zero;
    out->problem.mu = out->global.mu = mu;
    return FIL_OK;
}

static FilStatus make_scene(FilScene *scene) {
    switch (scene->def->generator) {
    case FIL_GENERATE_RIGID:
        return fil_scene_rigid(scene);
    case FIL_GENERATE_TOWER:
    case FIL_GENERATE_WALL:
        return fil_scene_boxes(scene);
    case FIL_GENERATE_SPHERES:
        return fil_scene_spheres(scene);
    default:
        return fil_scene_fibres(scene);
    }
}

static FilStatus make_problem(FilScene *scene, FilGenerated *out) {
    FIL_TRY(make_scene(scene));
    const size_t size = (size_t)scene->body_size * (size_t)scene->body_count;
    if (scene->def->solvable) {
        memset(scene->velocity, 0, size * sizeof *scene->velocity);
    }
    const FilFrictionProblem common = {.block_count = scene->contact_count,
                                       .block_size = 3,
                                       .dof_count = (int)size,
                                       .form = FIL_FORM_BODIES};
    out->problem = out->global = common;
    out->global.form = FIL_FORM_GLOBAL;
    FIL_TRY(fill_bodies(scene, &out->problem));
    FIL_TRY(fill_mass(scene, &out->global));
    FIL_TRY(fill_columns(scene, &out->global));
    return fill_sides(scene, out);
}

FilStatus fil_generate(const FilGenerateDef *def, const FilAllocator *allocator, FilGenerated **out,
                       FilError *error) {
    FIL_TRY(check_def(def, error));
    const FilAllocator a = allocator != NULL ? *allocator : fil_libc_allocator;
    Owner *owner = a.resize(a.user, NULL, 0, sizeof *owner);
    if (owner != NULL) {
        *owner = (Owner){.arena = fil_arena_make(&a)};
        FilArena scratch = fil_arena_make(&a);
        // a stream of its own for every generator
        FilScene scene = {.def = def,
                          .random = fil_random_make(def->seed ^ ((uint64_t)def->generator << 56)),
                          .arena = &owner->arena,
                          .scratch = &scratch};
        const FilStatus status = make_problem(&scene, &owner->generated);
        fil_arena_destroy(&scratch);
        if (status == FIL_OK) {
            *out = &owner->generated;
            return FIL_OK;
        }
        fil_generated_destroy(&owner->generated);
    }
    return fil_fail(error, FIL_E_NO_MEMORY, "no memory to make a problem of %d contacts",
                    def->contact_count);
}

void fil_generated_destroy(FilGenerated *generated) {
    if (generated != NULL) {
        Owner *owner = (Owner *)(void *)generated;
        const FilAllocator a = owner->arena.allocator;
        fil_arena_destroy(&owner->arena);
        a.resize(a.user, owner, sizeof *owner, 0);
    }
}
