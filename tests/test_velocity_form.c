// Problems with large bodies, solved on M v = H r + f without W, and Newton steps in velocities.
#include "check.h"
#include "failing_allocator.h"
#include "filum/friction.h"
#include "filum/generate.h"
#include "friction/newton_step.h"
#include "friction/primal.h"
#include "friction/system.h"
#include "friction/unreduced.h"

#include "base/random.h"

#include <stdlib.h>

enum { SIDE = 15, NODES = SIDE * SIDE, DOFS = 3 * NODES, CONTACTS = 60, SIZE = 3 * CONTACTS };

// A sheet of SIDE x SIDE nodes joined by springs, some of which touch obstacles at random angles.
typedef struct Sheet {
    int M_start[DOFS + 1], M_index[15 * DOFS];
    double M_value[15 * DOFS];
    int H_start[SIZE + 1], H_index[3 * SIZE];
    double H_value[3 * SIZE];
    double f[DOFS], w[SIZE], mu[CONTACTS], compliance[9 * CONTACTS];
    FilFrictionProblem problem;
} Sheet;

static void add_springs(Sheet *s, int i, int j, double mass, int *next) {
    static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    const double stiffness = 50.0;
    for (int axis = 0; axis < 3; axis++) {
        double own = mass;
        s->M_start[3 * (i * SIDE + j) + axis] = *next;
        for (int k = 0; k < 4; k++) {
            const int a = i + step[k][0], b = j + step[k][1];
            if (a >= 0 && b >= 0 && a < SIDE && b < SIDE) {
                s->M_index[*next] = 3 * (a * SIDE + b) + axis;
                s->M_value[(*next)++] = -stiffness;
                own += stiffness;
            }
        }
        for (int k = 0; k < 3; k++) { // the axes of a node are coupled too
            s->M_index[*next] = 3 * (i * SIDE + j) + k;
            s->M_value[(*next)++] = k == axis ? own : 0.2 * mass;
        }
    }
}

static void add_contact(Sheet *s, int c, int node, FilRandom *random) {
    double e[3][3], size = 0.0;
    for (int k = 0; k < 3; k++) {
        e[0][k] = fil_random_normal(random) + (k == 2 ? 3.0 : 0.0);
        size += e[0][k] * e[0][k];
    }
    for (int k = 0; k < 3; k++) {
        e[0][k] /= sqrt(size);
    }
    const double flat = sqrt(e[0][0] * e[0][0] + e[0][2] * e[0][2]);
    e[1][0] = e[0][2] / flat;
    e[1][1] = 0.0;
    e[1][2] = -e[0][0] / flat;
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        e[2][k] = e[0][l] * e[1][m] - e[0][m] * e[1][l];
    }
    for (int a = 0; a < 3; a++) {
        s->H_start[3 * c + a] = 3 * (3 * c + a);
        for (int k = 0; k < 3; k++) {
            s->H_index[3 * (3 * c + a) + k] = 3 * node + k;
            s->H_value[3 * (3 * c + a) + k] = e[a][k];
        }
        s->w[3 * c + a] = 0.01 * fil_random_normal(random);
        s->compliance[9 * c + 4 * a] = 0.002;
    }
    s->mu[c] = 0.4;
}

static Sheet *make_sheet(double mass) {
    Sheet *s = calloc(1, sizeof *s);
    FilRandom random = fil_random_make(3);
    int next = 0;
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            add_springs(s, i, j, mass, &next);
        }
    }
    s->M_start[DOFS] = next;
    for (int c = 0; c < CONTACTS; c++) {
        add_contact(s, c, (c * 37) % NODES, &random);
    }
    s->H_start[SIZE] = 3 * SIZE;
    for (int k = 0; k < DOFS; k++) {
        s->f[k] = (k % 3 == 2 ? 20.0 : 5.0) * fil_random_normal(&random);
    }
    s->problem =
        (FilFrictionProblem){.block_count = CONTACTS,
                             .block_size = 3,
                             .mu = s->mu,
                             .form = FIL_FORM_GLOBAL,
                             .global = {.M = {DOFS, DOFS, s->M_start, s->M_index, s->M_value},
                                        .H = {DOFS, SIZE, s->H_start, s->H_index, s->H_value},
                                        .f = s->f,
                                        .w = s->w},
                             .compliance = s->compliance};
    return s;
}

// The sheet as blocks: every block of W from the operator, one unit impulse at a time.
static FilFrictionProblem as_blocks(const Sheet *sheet, const FilSystem *s, FilArena *arena) {
    double *value = FIL_NEW_ZEROED(arena, double, (size_t)SIZE *SIZE);
    int *start = FIL_NEW(arena, int, CONTACTS + 1),
        *column = FIL_NEW(arena, int, CONTACTS *CONTACTS);
    for (int c = 0; c < SIZE; c++) {
        double r[SIZE] = {0}, u[SIZE];
        r[c] = 1.0;
        fil_system_velocity(s, r, u, 1);
        for (int i = 0; i < SIZE; i++) {
            value[9 * ((i / 3) * CONTACTS + c / 3) + 3 * (i % 3) + c % 3] = u[i] - s->b[i];
        }
    }
    for (int i = 0; i <= CONTACTS; i++) {
        start[i] = i * CONTACTS;
        for (int j = 0; i < CONTACTS && j < CONTACTS; j++) {
            column[i * CONTACTS + j] = j;
        }
    }
    FilFrictionProblem p = sheet->problem;
    p.form = FIL_FORM_BLOCKS;
    p.blocks = (FilBlockRows){start, column, value};
    p.b = s->b;
    p.compliance = NULL; // W has it already
    p.global = (FilGlobalForm){0};
    return p;
}

static FilSystem build(const FilFrictionProblem *problem, FilArena *arena, FilArena *scratch) {
    FilSystem s = {0};
    FilError error;
    if (fil_system_build(problem, &(FilSystemUse){.newton = true, .threads = 1}, arena, scratch, &s,
                         &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return s;
}

static void a_large_body_is_solved_without_forming_its_operator(void) {
    Sheet *sheet = make_sheet(1.0);
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    const FilSystem s = build(&sheet->problem, &arena, &scratch);
    CHECK(!s.has_blocks && s.primal != NULL && s.mass != NULL);
    FilSystem swept = {0}; // without Newton steps nobody needs the primal
    CHECK(fil_system_build(&sheet->problem, &(FilSystemUse){.sweeps = true, .threads = 1}, &arena,
                           &scratch, &swept, NULL) == FIL_OK);
    CHECK(!swept.has_blocks && swept.primal == NULL && swept.mass != NULL);
    const FilFrictionProblem blocks = as_blocks(sheet, &s, &arena);
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-11;
    double r[SIZE], u[SIZE], v[DOFS], r2[SIZE], u2[SIZE];
    FilFrictionSolution one = {r, u, v}, two = {r2, u2, NULL};
    FilFrictionInfo info;
    CHECK(fil_friction_solve(&sheet->problem, &settings, NULL, &one, &info, NULL) == FIL_OK);
    CHECK(info.outcome == FIL_CONVERGED);
    CHECK(fil_friction_solve(&blocks, &settings, NULL, &two, &info, NULL) == FIL_OK);
    CHECK(info.outcome == FIL_CONVERGED);
    int active = 0;
    for (int k = 0; k < SIZE; k++) {
        CHECK_NEAR(u[k], u2[k], 0.0, 1e-9);
        CHECK_NEAR(r[k], r2[k], 0.0, 1e-7);
        active += k % 3 == 0 && r[k] > 0.0;
    }
    CHECK(active > 5 && active < CONTACTS);
    // v is that of the bodies: M v = H r + f
    double rest[DOFS];
    memcpy(rest, sheet->f, sizeof rest);
    for (int c = 0; c < SIZE; c++) {
        for (int k = sheet->H_start[c]; k < sheet->H_start[c + 1]; k++) {
            rest[sheet->H_index[k]] += sheet->H_value[k] * r[c];
        }
    }
    for (int c = 0; c < DOFS; c++) {
        for (int k = sheet->M_start[c]; k < sheet->M_start[c + 1]; k++) {
            rest[sheet->M_index[k]] -= sheet->M_value[k] * v[c];
        }
    }
    for (int k = 0; k < DOFS; k++) {
        CHECK_NEAR(rest[k], 0.0, 0.0, 1e-11);
    }
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
    free(sheet);
}

static void other_solvers_work_on_a_large_body_too(void) {
    Sheet *sheet = make_sheet(1.0);
    FilFrictionSettings settings = fil_friction_settings_default();
    double r[SIZE], u[SIZE], r2[SIZE], u2[SIZE];
    FilFrictionSolution one = {r, u, NULL}, two = {r2, u2, NULL};
    FilFrictionInfo info;
    settings.tolerance = 1e-9;
    CHECK(fil_friction_solve(&sheet->problem, &settings, NULL, &one, &info, NULL) == FIL_OK);
    static const FilFrictionSolver solvers[] = {FIL_SOLVER_GAUSS_SEIDEL, FIL_SOLVER_NEWTON};
    for (int which = 0; which < 2; which++) {
        settings.solver = solvers[which];
        CHECK(fil_friction_solve(&sheet->problem, &settings, NULL, &two, &info, NULL) == FIL_OK);
        CHECK(info.outcome == FIL_CONVERGED);
        for (int k = 0; k < SIZE; k++) {
            CHECK_NEAR(u[k], u2[k], 0.0, 1e-7);
        }
    }
    free(sheet);
}

static void a_solver_that_needs_blocks_says_so(void) {
    Sheet *sheet = make_sheet(1.0);
    FilFrictionSettings settings = fil_friction_settings_default();
    double r[SIZE] = {0};
    FilFrictionSolution solution = {r, NULL, NULL};
    FilError error;
    settings.solver = FIL_SOLVER_CADOUX;
    CHECK(fil_friction_solve(&sheet->problem, &settings, NULL, &solution, NULL, &error) ==
          FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "solver is cadoux, which needs W, but a body has 675 unknowns; take "
                             "auto, newton or gauss-seidel") == 0);
    free(sheet);
}

static void a_singular_sheet_is_refused(void) {
    Sheet *sheet = make_sheet(0.0); // springs alone let it float
    const FilFrictionProblem problem = sheet->problem;
    double r[SIZE] = {0};
    FilFrictionSolution solution = {r, NULL, NULL};
    FilError error;
    CHECK(fil_friction_solve(&problem, NULL, NULL, &solution, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "global.M is singular; it must be positive definite") == 0);
    free(sheet);
}

static void one_triangle_of_M_is_refused(void) {
    Sheet *sheet = make_sheet(1.0);
    sheet->M_start[1]--; // column 0 loses its last entry, row 2; (0, 2) is still there
    memmove(sheet->M_index + sheet->M_start[1], sheet->M_index + sheet->M_start[1] + 1,
            (size_t)(sheet->M_start[DOFS] - sheet->M_start[1] - 1) * sizeof(int));
    memmove(sheet->M_value + sheet->M_start[1], sheet->M_value + sheet->M_start[1] + 1,
            (size_t)(sheet->M_start[DOFS] - sheet->M_start[1] - 1) * sizeof(double));
    for (int c = 2; c <= DOFS; c++) {
        sheet->M_start[c]--;
    }
    double r[SIZE] = {0};
    FilFrictionSolution solution = {r, NULL, NULL};
    FilError error = {0};
    CHECK(fil_friction_solve(&sheet->problem, NULL, NULL, &solution, NULL, &error) ==
          FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "global.M has an entry at (0, 2) but none at (2, 0); both triangles "
                             "must be given") == 0);
    free(sheet);
}

static void a_block_that_is_not_finite_is_not_solved(void) {
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {(double)NAN, 0, 0};
    double r[3] = {0};
    CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 3, W, b, 0.3, r, NULL) ==
          FIL_STALLED);
    CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
}

// A Jacobian of which the contacts `active` press, the same for both steps.
static void fill_jacobians(const FilSystem *s, const bool *active, FilRandom *random,
                           const FilJacobian J[2]) {
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < 9; k++) {
            const double identity = k % 4 == 0, noise = 0.2 * fil_random_normal(random);
            for (int side = 0; side < 2; side++) {
                J[side].Fu[9 * i + k] = active[i] ? s->rho[i] * (identity + noise) : 0.0;
                J[side].Fr[9 * i + k] = active[i] ? (i % 3 == 0 ? 0.3 * identity : 0.0) : identity;
            }
        }
        for (int side = 0; side < 2; side++) {
            J[side].active[i] = active[i];
            J[side].shift[i] = 1e-3 / s->rho[i];
        }
    }
}

// The step found in velocities is that found in impulses, however many contacts press.
static void both_forms_give_the_same_newton_step(void) {
    FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
    def.contact_count = 400;
    def.conditioning = 0.9;
    FilGenerated *made = NULL;
    CHECK(fil_generate(&def, NULL, &made, NULL) == FIL_OK);
    FilArena arena = fil_arena_make(NULL), scratch = fil_arena_make(NULL);
    const FilFrictionProblem problem = made->global;
    FilSystem s = build(&problem, &arena, &scratch);
    FilPrimal *primal;
    CHECK(fil_primal_create(&problem, &s, NULL, s.n, &arena, &scratch, &primal) == FIL_OK);
    FilNewtonStep *dual, *other;
    CHECK(fil_newton_step_create(&s, 1, &arena, &scratch, &dual) == FIL_OK);
    FilSystem velocities = s;
    velocities.primal = primal;
    velocities.has_blocks = false;
    CHECK(fil_newton_step_create(&velocities, 1, &arena, &scratch, &other) == FIL_OK);
    FilRandom random = fil_random_make(8);
    double *F = FIL_NEW(&arena, double, s.size), *d = FIL_NEW(&arena, double, s.size),
           *e = FIL_NEW(&arena, double, s.size);
    bool *active = FIL_NEW(&arena, bool, s.n);
    const FilJacobian J[2] = {fil_newton_step_jacobian(dual), fil_newton_step_jacobian(other)};
    // most; a quarter, twice; one more; others; a few; none; all
    static const int choice[][2] = {{4, -1}, {4, 0},  {4, 0}, {4, 17},
                                    {3, 0},  {50, 0}, {0, 0}, {1, 0}};
    for (size_t trial = 0; trial < sizeof choice / sizeof *choice; trial++) {
        const int every = choice[trial][0], extra = choice[trial][1];
        for (int i = 0; i < s.n; i++) {
            active[i] = every > 0 && (extra < 0 ? i % every != 0 : i % every == 0 || i == extra);
        }
        fill_jacobians(&s, active, &random, J);
        double size = 0.0, off = 0.0;
        for (int k = 0; k < s.size; k++) {
            F[k] = fil_random_normal(&random);
        }
        CHECK(fil_newton_step_solve(dual, F, d));
        CHECK(fil_newton_step_solve(other, F, e));
        for (int k = 0; k < s.size; k++) {
            size += d[k] * d[k];
            off += (d[k] - e[k]) * (d[k] - e[k]);
        }
        CHECK(size > 0.0);
        CHECK_NEAR(sqrt(off / size), 0.0, 0.0, 1e-9);
    }
    fil_arena_destroy(&arena);
    fil_arena_destroy(&scratch);
    fil_generated_destroy(made);
}

// W by bodies, with M and H besides: the same solution as without, in about as many steps. In
// extreme units M and H are left alone.
static void matrices_besides_the_operator_change_nothing_but_the_work(void) {
    FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
    def.contact_count = 600;
    def.conditioning = 0.9;
    FilGenerated *made = NULL;
    CHECK(fil_generate(&def, NULL, &made, NULL) == FIL_OK);
    enum { LENGTH = 1800 };
    static double r[2][LENGTH], u[2][LENGTH], b[LENGTH];
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = 1e-11;
    settings.thread_count = 1;
    for (int extreme = 0; extreme < 2; extreme++) {
        FilFrictionInfo info[2];
        for (int with = 0; with < 2; with++) {
            FilFrictionProblem problem = made->problem;
            for (int k = 0; k < LENGTH; k++) {
                b[k] = ldexp(made->problem.b[k], extreme == 0 ? 0 : 400);
            }
            problem.b = b;
            if (with == 1) {
                problem.global.M = made->global.global.M;
                problem.global.H = made->global.global.H;
            }
            FilFrictionSolution solution = {r[with], u[with], NULL};
            CHECK(fil_friction_solve(&problem, &settings, NULL, &solution, &info[with], NULL) ==
                  FIL_OK);
            CHECK(info[with].outcome == FIL_CONVERGED);
        }
        CHECK(info[1].iterations <= info[0].iterations + 2);
        double size = 0.0, off = 0.0;
        for (int k = 0; k < LENGTH; k++) {
            size = fmax(size, fabs(u[0][k]));
            off = fmax(off, fabs(u[0][k] - u[1][k]));
        }
        CHECK(size > 0.0 && off <= 1e-8 * size);
    }
    fil_generated_destroy(made);
}

static void every_allocation_may_fail(void) {
    Sheet *sheet = make_sheet(1.0);
    double r[SIZE] = {0}, v[DOFS] = {0};
    FilStatus status = FIL_E_NO_MEMORY;
    for (int n = 1; status == FIL_E_NO_MEMORY && n < 200; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilFrictionWorkspace *workspace = NULL;
        FilFrictionSolution solution = {r, NULL, v};
        status = fil_friction_workspace_create(&allocator, &workspace, NULL);
        if (status == FIL_OK) {
            status = fil_friction_solve(&sheet->problem, NULL, workspace, &solution, NULL, NULL);
        }
        fil_friction_workspace_destroy(workspace);
        CHECK(status == (memory.failures > 0 ? FIL_E_NO_MEMORY : FIL_OK));
        CHECK(failing_allocator_is_clean(&memory));
    }
    CHECK(status == FIL_OK);
    free(sheet);
}

#define TESTS(X)                                                 \
    X(one_triangle_of_M_is_refused)                              \
    X(a_block_that_is_not_finite_is_not_solved)                  \
    X(a_large_body_is_solved_without_forming_its_operator)       \
    X(other_solvers_work_on_a_large_body_too)                    \
    X(a_solver_that_needs_blocks_says_so)                        \
    X(a_singular_sheet_is_refused)                               \
    X(both_forms_give_the_same_newton_step)                      \
    X(matrices_besides_the_operator_change_nothing_but_the_work) \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
