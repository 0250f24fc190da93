// The same problems given to Siconos (where it is installed): where the solution is unique, both
// must find the same velocities.
#include "check.h"
#include "friction_problem.h"

#ifdef HAVE_SICONOS
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>

// Siconos loses memory of its own.
const char *__lsan_default_suppressions(void);  // NOLINT(bugprone-reserved-identifier)
const char *__lsan_default_suppressions(void) { // NOLINT(bugprone-reserved-identifier)
    return "leak:libsiconos_numerics";
}

// Velocities by a Siconos solver; false when it says that it failed.
static bool solve_by_siconos(Dense *p, int solver, double *u) {
    double r[DENSE_SIZE] = {0};
    NumericsMatrix *M = NM_create(NM_DENSE, p->size, p->size);
    for (int k = 0; k < p->size; k++) {
        for (int l = 0; l < p->size; l++) {
            M->matrix0[l * p->size + k] = p->W[k][l]; // by columns
        }
    }
    FrictionContactProblem problem = {
        .dimension = 3, .numberOfContacts = p->n, .M = M, .q = p->b, .mu = p->mu};
    SolverOptions *options = solver_options_create(solver);
    options->dparam[SICONOS_DPARAM_TOL] = 1e-10;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 20000;
    memset(u, 0, DENSE_SIZE * sizeof *u);
    const int failed = fc3d_driver(&problem, r, u, options);
    solver_options_delete(options);
    free(options);
    NM_clear(M);
    free(M);
    return failed == 0;
}

static void draw(Dense *p, FilRandom *random, int n) {
    memset(p, 0, sizeof *p);
    for (int i = 0; i < n; i++) {
        dense_add(p, FIL_BLOCK_COULOMB, 3, fil_random_uniform(random, 0.1, 0.6));
    }
    dense_random(p, random, 3 * p->size, 1.0);
}

static void check_against(int solver, FilFrictionSolver ours) {
    FilRandom random = fil_random_make(40);
    int compared = 0;
    for (int trial = 0; trial < 20; trial++) {
        static Dense p;
        double want[DENSE_SIZE], r[DENSE_SIZE] = {0}, u[DENSE_SIZE] = {0};
        draw(&p, &random, 1 + trial);
        const FilFrictionProblem *problem = dense_finish(&p);
        FilFrictionSettings settings = fil_friction_settings_default();
        FilFrictionSolution solution = {.r = r, .u = u};
        FilFrictionInfo info;
        settings.solver = ours;
        settings.tolerance = 1e-12;
        CHECK(fil_friction_solve(problem, &settings, NULL, &solution, &info, NULL) == FIL_OK);
        CHECK(info.outcome == FIL_CONVERGED);
        if (!solve_by_siconos(&p, solver, want)) {
            continue;
        }
        compared++;
        for (int k = 0; k < p.size; k++) {
            CHECK_NEAR(u[k], want[k], 0.0, 1e-7);
        }
    }
    CHECK(compared >= 18);
}
#define AGREES(solver, ours) check_against(solver, ours)
#else
#define AGREES(solver, ours) CHECK_SKIP("libsiconos-numerics-dev was not there at build time")
#endif

static void default_agrees_with_siconos_gauss_seidel(void) {
    AGREES(SICONOS_FRICTION_3D_NSGS, FIL_SOLVER_AUTO);
}

static void default_agrees_with_siconos_newton(void) {
    AGREES(SICONOS_FRICTION_3D_NSN_AC, FIL_SOLVER_AUTO);
}

static void gauss_seidel_agrees_with_siconos(void) {
    AGREES(SICONOS_FRICTION_3D_NSGS, FIL_SOLVER_GAUSS_SEIDEL);
}

static void newton_agrees_with_siconos(void) {
    AGREES(SICONOS_FRICTION_3D_NSN_AC, FIL_SOLVER_NEWTON);
}

static void cadoux_agrees_with_siconos(void) {
    AGREES(SICONOS_FRICTION_3D_NSGS, FIL_SOLVER_CADOUX);
}

#define TESTS(X)                                \
    X(default_agrees_with_siconos_gauss_seidel) \
    X(default_agrees_with_siconos_newton)       \
    X(gauss_seidel_agrees_with_siconos)         \
    X(newton_agrees_with_siconos)               \
    X(cadoux_agrees_with_siconos)

CHECK_MAIN(TESTS)
