// GMRES, and the approximate inverse from overlapping parts that it is used with.
#include "check.h"
#include "failing_allocator.h"
#include "filum/friction.h"
#include "filum/generate.h"
#include "friction/primal.h"
#include "friction/schwarz.h"
#include "math/gmres.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

// --- GMRES ---------------------------------------------------------------------------------------

enum { SMALL = 30 };

typedef struct Dense {
    double A[SMALL * SMALL];
} Dense;

static void multiply_dense(void *context, const double *x, double *y) {
    const Dense *m = context;
    for (int i = 0; i < SMALL; i++) {
        y[i] = 0.0;
        for (int j = 0; j < SMALL; j++) {
            y[i] += m->A[SMALL * i + j] * x[j];
        }
    }
}

static Dense make_dense(FilRandom *random) {
    Dense m;
    for (int k = 0; k < SMALL * SMALL; k++) {
        m.A[k] = fil_random_normal(random) + (k % (SMALL + 1) == 0 ? 3.0 : 0.0);
    }
    return m;
}

static void gmres_ends_after_as_many_steps_as_unknowns(void) {
    FilRandom random = fil_random_make(1);
    Dense m = make_dense(&random);
    FilArena arena = fil_arena_make(NULL);
    FilGmres *g;
    double want[SMALL], b[SMALL], x[SMALL], reached;
    for (int k = 0; k < SMALL; k++) {
        want[k] = fil_random_normal(&random);
    }
    multiply_dense(&m, want, b);
    CHECK(fil_gmres_create(SMALL, SMALL, 1, &arena, &g) == FIL_OK);
    CHECK(fil_gmres_solve(g, multiply_dense, &m, b, 1e-12, x, &reached) <= SMALL);
    CHECK(reached <= 1e-12);
    for (int k = 0; k < SMALL; k++) {
        CHECK_NEAR(x[k], want[k], 0.0, 1e-9);
    }
    fil_arena_destroy(&arena);
}

static void what_gmres_reached_is_the_residual(void) {
    FilRandom random = fil_random_make(2);
    Dense m = make_dense(&random);
    FilArena arena = fil_arena_make(NULL);
    FilGmres *g;
    double b[SMALL], x[SMALL], y[SMALL], reached, off = 0.0, size = 0.0;
    for (int k = 0; k < SMALL; k++) {
        b[k] = fil_random_normal(&random);
    }
    CHECK(fil_gmres_create(SMALL, 7, 1, &arena, &g) == FIL_OK);
    CHECK(fil_gmres_solve(g, multiply_dense, &m, b, 1e-12, x, &reached) == 7);
    multiply_dense(&m, x, y);
    for (int k = 0; k < SMALL; k++) {
        off += (b[k] - y[k]) * (b[k] - y[k]);
        size += b[k] * b[k];
    }
    CHECK(reached > 1e-12 && reached < 1.0);
    CHECK_NEAR(sqrt(off / size), reached, 1e-10, 0.0);
    fil_arena_destroy(&arena);
}

static void nothing_is_asked_nothing_is_done(void) {
    Dense m = {{0}};
    FilArena arena = fil_arena_make(NULL);
    FilGmres *g;
    double b[SMALL] = {0}, x[SMALL], reached;
    CHECK(fil_gmres_create(SMALL, 5, 1, &arena, &g) == FIL_OK);
    CHECK(fil_gmres_solve(g, multiply_dense, &m, b, 1e-2, x, &reached) == 0);
    CHECK(reached == 0.0 && x[0] == 0.0 && x[SMALL - 1] == 0.0);
    fil_arena_destroy(&arena);
}

// A singular matrix: no step helps, and x stays finite.
static void a_zero_matrix_does_no_harm(void) {
    Dense m = {{0}};
    FilArena arena = fil_arena_make(NULL);
    FilGmres *g;
    double b[SMALL] = {1.0}, x[SMALL], reached;
    CHECK(fil_gmres_create(SMALL, 5, 1, &arena, &g) == FIL_OK);
    (void)fil_gmres_solve(g, multiply_dense, &m, b, 1e-2, x, &reached);
    CHECK(x[0] == 0.0);
    CHECK_NEAR(reached, 1.0, 1e-15, 0.0);
    fil_arena_destroy(&arena);
}

// --- parts ---------------------------------------------------------------------------------------

// Fibres, a Jacobian like Newton's, and the matrix A = Fu (W + D) + Fr by its products.
typedef struct Case {
    FilGenerated *made;
    FilArena arena, scratch;
    FilSystem s;
    FilJacobian J;
    int64_t *square;
    FilSchwarz *parts;
    double *work, *y;
} Case;

static void fill_jacobian(Case *c) {
    FilRandom random = fil_random_make(8);
    for (int i = 0; i < c->s.n; i++) {
        const bool active = i % 4 != 0;
        c->square[i] = 9 * (int64_t)i;
        c->J.active[i] = active;
        c->J.shift[i] = 1e-3 / c->s.rho[i];
        for (int k = 0; k < 9; k++) {
            const double identity = k % 4 == 0, noise = 0.1 * fil_random_normal(&random);
            c->J.Fu[9 * i + k] = active ? c->s.rho[i] * (identity + noise) : 0.0;
            c->J.Fr[9 * i + k] = active ? (i % 3 == 0 ? 0.3 * identity : 0.0) : identity;
        }
    }
    for (int k = 0; k < c->s.size; k++) {
        c->y[k] = c->J.active[k / 3] ? fil_random_normal(&random) : 0.0;
    }
}

static void make_case(int contacts, int threads, Case *c) {
    FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
    def.contact_count = contacts;
    def.conditioning = 0.5;
    *c = (Case){.arena = fil_arena_make(NULL), .scratch = fil_arena_make(NULL)};
    CHECK(fil_generate(&def, NULL, &c->made, NULL) == FIL_OK);
    const FilSystemUse use = {.threads = 1};
    CHECK(fil_system_build(&c->made->global, &use, &c->arena, &c->scratch, &c->s, NULL) == FIL_OK);
    FilPrimal *primal;
    CHECK(fil_primal_create(&c->made->global, &c->s, NULL, c->s.n, &c->arena, &c->scratch,
                            &primal) == FIL_OK);
    c->s.primal = primal;
    c->J = (FilJacobian){.Fu = FIL_NEW(&c->arena, double, 9 * c->s.n),
                         .Fr = FIL_NEW(&c->arena, double, 9 * c->s.n),
                         .shift = FIL_NEW(&c->arena, double, c->s.n),
                         .active = FIL_NEW(&c->arena, bool, c->s.n)};
    c->square = FIL_NEW(&c->arena, int64_t, c->s.n);
    c->work = FIL_NEW(&c->arena, double, c->s.size);
    c->y = FIL_NEW(&c->arena, double, c->s.size);
    fill_jacobian(c);
    CHECK(fil_schwarz_create(&c->s, threads, &c->arena, &c->scratch, &c->parts) == FIL_OK);
    fil_schwarz_factor(c->parts, &c->J, c->square);
}

static void destroy_case(Case *c) {
    fil_arena_destroy(&c->arena);
    fil_arena_destroy(&c->scratch);
    fil_generated_destroy(c->made);
}

// y = A B x, B the approximate inverse.
static void multiply_case(void *context, const double *x, double *y) {
    Case *c = context;
    fil_schwarz_apply(c->parts, x, c->work);
    fil_blocks_multiply(&c->s.W, c->work, y, 1);
    for (int i = 0; i < c->s.n; i++) {
        const double *d = c->work + 3 * i,
                     u[3] = {y[3 * i] + c->J.shift[i] * d[0], y[3 * i + 1] + c->J.shift[i] * d[1],
                             y[3 * i + 2] + c->J.shift[i] * d[2]};
        for (int a = 0; a < 3; a++) {
            y[3 * i + a] = 0.0;
            for (int k = 0; k < 3; k++) {
                y[3 * i + a] +=
                    c->J.Fu[9 * i + 3 * a + k] * u[k] + c->J.Fr[9 * i + 3 * a + k] * d[k];
            }
        }
    }
}

static void one_part_is_the_inverse(void) {
    Case c;
    make_case(400, 1, &c);
    double *z = FIL_NEW(&c.arena, double, c.s.size);
    multiply_case(&c, c.y, z);
    for (int k = 0; k < c.s.size; k++) {
        CHECK_NEAR(z[k], c.y[k], 0.0, 1e-9);
    }
    destroy_case(&c);
}

static void a_few_steps_with_several_parts_solve_it(void) {
    Case c;
    FilGmres *g;
    double reached;
    make_case(4500, 1, &c);
    double *x = FIL_NEW(&c.arena, double, c.s.size);
    CHECK(fil_gmres_create(c.s.size, 60, 1, &c.arena, &g) == FIL_OK);
    const int steps = fil_gmres_solve(g, multiply_case, &c, c.y, 1e-8, x, &reached);
    CHECK(steps > 1 && steps < 40);
    CHECK(reached <= 1e-8);
    destroy_case(&c);
}

static void bits_do_not_depend_on_threads(void) {
    double *want = NULL;
    Case c[3];
    for (int k = 0; k < 3; k++) {
        FilGmres *g;
        make_case(4500, 1 << k, &c[k]);
        double *x = FIL_NEW(&c[k].arena, double, c[k].s.size);
        CHECK(fil_gmres_create(c[k].s.size, 5, 1 << k, &c[k].arena, &g) == FIL_OK);
        (void)fil_gmres_solve(g, multiply_case, &c[k], c[k].y, 1e-8, x, NULL);
        if (k == 0) {
            want = x;
            continue;
        }
        CHECK(want != NULL && memcmp(x, want, (size_t)c[k].s.size * sizeof *x) == 0);
    }
    for (int k = 0; k < 3; k++) {
        destroy_case(&c[k]);
    }
}

// How far a Newton step by at most that many steps of GMRES is from the one by a factorisation.
static double compare_steps(int steps, double shift) {
    Case c;
    FilNewtonStep *step[2];
    make_case(3200, 1, &c);
    FilSystem velocities = c.s;
    velocities.has_blocks = false;
    double *d = FIL_NEW(&c.arena, double, c.s.size), *e = FIL_NEW(&c.arena, double, c.s.size);
    CHECK(fil_newton_step_create(&velocities, 1, &c.arena, &c.scratch, &step[0]) == FIL_OK);
    CHECK(fil_newton_step_create_iterative(&c.s, steps, 1, &c.arena, &c.scratch, &step[1]) ==
          FIL_OK);
    for (int side = 0; side < 2; side++) {
        const FilJacobian J = fil_newton_step_jacobian(step[side]);
        memcpy(J.Fu, c.J.Fu, 9 * (size_t)c.s.n * sizeof *J.Fu);
        memcpy(J.Fr, c.J.Fr, 9 * (size_t)c.s.n * sizeof *J.Fr);
        memcpy(J.active, c.J.active, (size_t)c.s.n * sizeof *J.active);
        for (int i = 0; i < c.s.n; i++) {
            J.shift[i] = shift / c.s.rho[i];
        }
    }
    CHECK(fil_newton_step_solve(step[0], c.y, d));
    CHECK(fil_newton_step_solve(step[1], c.y, e));
    double off = 0.0, size = 0.0;
    for (int k = 0; k < c.s.size; k++) {
        off += (d[k] - e[k]) * (d[k] - e[k]);
        size += d[k] * d[k];
    }
    destroy_case(&c);
    return sqrt(off / size);
}

static void a_step_by_iterations_is_near_the_direct_one(void) {
    const double off = compare_steps(100, 1e-1);
    CHECK(off > 1e-6 && off < 0.05);
}

// The first step of GMRES alone gains next to nothing here.
static void where_gmres_stagnates_a_factorisation_finds_the_step(void) {
    CHECK(compare_steps(1, 1e-6) == 0.0);
}

static void small_problems_are_left_to_factorisations(void) {
    Case c;
    make_case(400, 1, &c);
    CHECK(!fil_schwarz_fits(&c.s));
    destroy_case(&c);
}

static void every_allocation_may_fail(void) {
    Case c;
    make_case(400, 1, &c);
    FilStatus status = FIL_E_NO_MEMORY;
    for (int n = 1; status == FIL_E_NO_MEMORY && n < 200; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilArena arena = fil_arena_make(&allocator), scratch = fil_arena_make(&allocator);
        FilNewtonStep *step;
        status = fil_newton_step_create_iterative(&c.s, 20, 1, &arena, &scratch, &step);
        CHECK(status == (memory.failures > 0 ? FIL_E_NO_MEMORY : FIL_OK));
        fil_arena_destroy(&arena);
        fil_arena_destroy(&scratch);
        CHECK(failing_allocator_is_clean(&memory));
    }
    CHECK(status == FIL_OK);
    destroy_case(&c);
}

#define TESTS(X)                                            \
    X(gmres_ends_after_as_many_steps_as_unknowns)           \
    X(what_gmres_reached_is_the_residual)                   \
    X(nothing_is_asked_nothing_is_done)                     \
    X(a_zero_matrix_does_no_harm)                           \
    X(one_part_is_the_inverse)                              \
    X(a_few_steps_with_several_parts_solve_it)              \
    X(bits_do_not_depend_on_threads)                        \
    X(a_step_by_iterations_is_near_the_direct_one)          \
    X(where_gmres_stagnates_a_factorisation_finds_the_step) \
    X(small_problems_are_left_to_factorisations)            \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
