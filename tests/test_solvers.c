// The named solvers against each other, closed forms, and problems without a solution.
#include "check.h"
#include "failing_allocator.h"
#include "friction_problem.h"

#include "friction/law.h"

typedef struct Named {
    const char *name;
    FilFrictionSettings settings;
} Named;

enum { MOST_SOLVERS = 16 };

static Named list[MOST_SOLVERS];

// The default and everything that solves exact friction.
static int list_exact(double tolerance) {
    static const FilLocalSolver locals[] = {FIL_LOCAL_HYBRID, FIL_LOCAL_HYBRID_NEWTON,
                                            FIL_LOCAL_ENUM,   FIL_LOCAL_MFB,
                                            FIL_LOCAL_PAC,    FIL_LOCAL_DAC};
    FilFrictionSettings base = fil_friction_settings_default();
    int count = 0;
    base.tolerance = tolerance;
    list[count++] = (Named){"auto", base};
    base.solver = FIL_SOLVER_GAUSS_SEIDEL;
    for (size_t k = 0; k < sizeof locals / sizeof *locals; k++) {
        base.local = locals[k];
        list[count++] = (Named){fil_local_solver_name(locals[k]), base};
    }
    base.solver = FIL_SOLVER_NEWTON;
    for (int f = 0; f < FIL_NEWTON_FUNCTION_COUNT; f++) {
        base.function = (FilNewtonFunction)f;
        list[count++] = (Named){fil_newton_function_name(base.function), base};
    }
    base.solver = FIL_SOLVER_CADOUX;
    for (int c = 0; c < FIL_CONVEX_SOLVER_COUNT; c++) {
        base.convex = (FilConvexSolver)c;
        list[count++] = (Named){fil_convex_solver_name(base.convex), base};
    }
    return count;
}

typedef struct Answer {
    double r[DENSE_SIZE], u[DENSE_SIZE];
    FilFrictionInfo info;
} Answer;

static Answer solve(const FilFrictionProblem *problem, const FilFrictionSettings *settings) {
    Answer answer = {0};
    FilFrictionSolution solution = {.r = answer.r, .u = answer.u};
    FilError error = {0};
    CHECK(fil_friction_solve(problem, settings, NULL, &solution, &answer.info, &error) == FIL_OK);
    return answer;
}

static Answer solve_named(const FilFrictionProblem *problem, FilFrictionSolver solver,
                          double tolerance) {
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.solver = solver;
    settings.tolerance = tolerance;
    return solve(problem, &settings);
}

static double distance(const double *a, const double *b, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static bool is_finite(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

// All exact solvers on one problem with one solution.
static void check_agreement(const FilFrictionProblem *problem, int size, double relative) {
    const int count = list_exact(1e-10);
    const Answer first = solve(problem, &list[0].settings);
    for (int k = 0; k < count; k++) {
        const Answer answer = solve(problem, &list[k].settings);
        const double off = distance(answer.u, first.u, size);
        if (answer.info.outcome != FIL_CONVERGED || !(off <= relative)) {
            check_failures++;
            (void)fprintf(stderr, "%s: %s, residual %g, u off by %g\n", list[k].name,
                          fil_outcome_name(answer.info.outcome), answer.info.residual.scaled, off);
        }
    }
}

static void exact_solvers_agree_where_the_solution_is_unique(void) {
    FilRandom random = fil_random_make(10);
    for (int trial = 0; trial < 30; trial++) {
        static Dense p;
        memset(&p, 0, sizeof p);
        const int n = 1 + trial % 15;
        for (int i = 0; i < n; i++) {
            dense_add(&p, FIL_BLOCK_COULOMB, 3, fil_random_uniform(&random, 0.0, 0.6));
        }
        dense_random(&p, &random, 3 * p.size, 1.0);
        check_agreement(dense_finish(&p), p.size, 1e-7);
    }
}

static void exact_solvers_agree_on_mixed_kinds_and_sizes(void) {
    static const int sizes[] = {1, 2, 3, 6};
    FilRandom random = fil_random_make(11);
    for (int trial = 0; trial < 20; trial++) {
        static Dense p;
        memset(&p, 0, sizeof p);
        for (int i = 0; i < 12; i++) {
            const double mu = i % 5 == 0 ? 0.0 : fil_random_uniform(&random, 0.1, 0.5);
            dense_add(&p, (FilBlockKind)(i % FIL_BLOCK_KIND_COUNT), sizes[(i + trial) % 4], mu);
        }
        dense_random(&p, &random, 3 * p.size, 1.0);
        check_agreement(dense_finish(&p), p.size, 1e-7);
    }
}

// Contacts of rigid bodies; up to twice as many rows as degrees of freedom.
static void robust_solvers_solve_rigid_bodies(void) {
    FilRandom random = fil_random_make(12);
    int newton = 0, cases = 0;
    for (int trial = 0; trial < 40; trial++) {
        static Dense p;
        memset(&p, 0, sizeof p);
        for (int i = 0; i < 4 + trial % 9; i++) {
            dense_add(&p, FIL_BLOCK_COULOMB, 3, 0.3);
        }
        dense_rigid(&p, &random, 3 + trial % 5);
        const FilFrictionProblem *problem = dense_finish(&p);
        const FilFrictionSolver robust[] = {FIL_SOLVER_AUTO, FIL_SOLVER_GAUSS_SEIDEL,
                                            FIL_SOLVER_CADOUX};
        for (size_t k = 0; k < sizeof robust / sizeof *robust; k++) {
            const Answer answer = solve_named(problem, robust[k], 1e-8);
            CHECK(answer.info.outcome == FIL_CONVERGED);
        }
        newton += solve_named(problem, FIL_SOLVER_NEWTON, 1e-8).info.outcome == FIL_CONVERGED;
        cases++;
    }
    CHECK(newton >= cases * 9 / 10); // the seed's method has no cure for local minima
}

static void without_friction_all_solve_the_same_lcp(void) {
    FilRandom random = fil_random_make(13);
    for (int trial = 0; trial < 10; trial++) {
        static Dense contacts, scalars;
        memset(&contacts, 0, sizeof contacts);
        memset(&scalars, 0, sizeof scalars);
        for (int i = 0; i < 8; i++) {
            dense_add(&contacts, FIL_BLOCK_COULOMB, 3, 0.0);
            dense_add(&scalars, FIL_BLOCK_UNILATERAL, 1, 0.0);
        }
        dense_random(&contacts, &random, 60, 0.3);
        for (int i = 0; i < 8; i++) {
            for (int j = 0; j < 8; j++) {
                scalars.W[i][j] = contacts.W[3 * i][3 * j];
            }
            scalars.b[i] = contacts.b[3 * i];
        }
        const FilFrictionProblem *problem = dense_finish(&contacts);
        const Answer lcp = solve_named(dense_finish(&scalars), FIL_SOLVER_AUTO, 1e-12);
        const int count = list_exact(1e-10);
        for (int k = 0; k < count; k++) {
            const Answer answer = solve(problem, &list[k].settings);
            CHECK(answer.info.outcome == FIL_CONVERGED);
            for (int i = 0; i < 8; i++) {
                CHECK_NEAR(answer.r[3 * i], lcp.r[i], 0.0, 1e-8);
                CHECK_NEAR(answer.r[3 * i + 1], 0.0, 0.0, 1e-8);
            }
        }
    }
}

// Schur complement of the first `e` unknowns: eliminate rows and columns one by one.
static void eliminate(Dense *p, int e) {
    for (int k = 0; k < e; k++) {
        for (int i = k + 1; i < p->size; i++) {
            const double f = p->W[i][k] / p->W[k][k];
            for (int j = k; j < p->size; j++) {
                p->W[i][j] -= f * p->W[k][j];
            }
            p->b[i] -= f * p->b[k];
        }
    }
}

static void joints_are_the_same_as_their_elimination(void) {
    FilRandom random = fil_random_make(14);
    for (int trial = 0; trial < 8; trial++) {
        static Dense whole, reduced;
        memset(&whole, 0, sizeof whole);
        memset(&reduced, 0, sizeof reduced);
        dense_add(&whole, FIL_BLOCK_EQUALITY, 6, 0.0);
        dense_add(&whole, FIL_BLOCK_EQUALITY, 1, 0.0);
        for (int i = 0; i < 5; i++) {
            dense_add(&whole, FIL_BLOCK_COULOMB, 3, 0.4);
            dense_add(&reduced, FIL_BLOCK_COULOMB, 3, 0.4);
        }
        dense_random(&whole, &random, 80, 0.5);
        static Dense copy;
        copy = whole;
        eliminate(&copy, 7);
        for (int i = 0; i < 15; i++) {
            memcpy(reduced.W[i], &copy.W[7 + i][7], 15 * sizeof(double));
            reduced.b[i] = copy.b[7 + i];
        }
        const FilFrictionProblem *problem = dense_finish(&whole);
        const Answer want = solve_named(dense_finish(&reduced), FIL_SOLVER_AUTO, 1e-12);
        const int count = list_exact(1e-10);
        for (int k = 0; k < count; k++) {
            const Answer answer = solve(problem, &list[k].settings);
            CHECK(answer.info.outcome == FIL_CONVERGED);
            CHECK(distance(answer.r + 7, want.r, 15) < 1e-7);
            CHECK(distance(answer.u + 7, want.u, 15) < 1e-7);
        }
    }
}

// --- the convex problem --------------------------------------------------------------------------

static double violation(FilBlockKind kind, int d, double mu, const double *x) {
    double p[FIL_BLOCK_MAX], most = 0.0;
    fil_law_project(kind, d, mu, x, p);
    for (int k = 0; k < d; k++) {
        most = fmax(most, fabs(x[k] - p[k]));
    }
    return most;
}

// r in its cone, u in the dual, no gap between the primal and the dual value.
static void check_optimal(const Dense *p, const Answer *answer) {
    double gap = 0.0;
    for (int i = 0; i < p->n; i++) {
        const int d = p->sizes[i], at = p->offset[i];
        CHECK(violation(FIL_BLOCK_CONE, d, p->mu[i], answer->r + at) < 1e-8);
        CHECK(violation(FIL_BLOCK_DUAL, d, p->mu[i], answer->u + at) < 1e-8);
        for (int k = at; k < at + d; k++) {
            gap += answer->r[k] * answer->u[k];
        }
    }
    CHECK_NEAR(gap, 0.0, 0.0, 1e-8);
}

static void convex_solvers_find_the_optimum(void) {
    FilRandom random = fil_random_make(20);
    for (int trial = 0; trial < 24; trial++) {
        static Dense p;
        memset(&p, 0, sizeof p);
        for (int i = 0; i < 2 + trial % 10; i++) {
            dense_add(&p, i % 2 == 0 ? FIL_BLOCK_COULOMB : FIL_BLOCK_CONE, 2 + i % 2,
                      fil_random_uniform(&random, 0.1, 1.5));
        }
        dense_random(&p, &random, 2 * p.size, 0.1);
        const FilFrictionProblem *problem = dense_finish(&p);
        FilFrictionSettings settings = fil_friction_settings_default();
        settings.solver = FIL_SOLVER_SOCQP;
        settings.tolerance = 1e-11;
        const Answer first = solve(problem, &settings);
        for (int c = 0; c < FIL_CONVEX_SOLVER_COUNT; c++) {
            settings.convex = (FilConvexSolver)c;
            const Answer answer = solve(problem, &settings);
            CHECK(answer.info.outcome == FIL_CONVERGED);
            CHECK(distance(answer.r, first.r, p.size) < 1e-8);
            check_optimal(&p, &answer);
        }
    }
}

// W of rank below its size: u is unique, r is not.
static void convex_solvers_do_not_mind_a_singular_matrix(void) {
    FilRandom random = fil_random_make(21);
    for (int trial = 0; trial < 20; trial++) {
        static Dense p;
        memset(&p, 0, sizeof p);
        for (int i = 0; i < 12; i++) {
            dense_add(&p, FIL_BLOCK_CONE, 3, 0.5);
        }
        dense_rigid(&p, &random, 2 + trial % 3);
        const FilFrictionProblem *problem = dense_finish(&p);
        FilFrictionSettings settings = fil_friction_settings_default();
        settings.solver = FIL_SOLVER_SOCQP;
        settings.tolerance = 1e-8;
        const Answer first = solve(problem, &settings);
        for (int c = 0; c < FIL_CONVEX_SOLVER_COUNT; c++) {
            settings.convex = (FilConvexSolver)c;
            const Answer answer = solve(problem, &settings);
            CHECK(answer.info.outcome == FIL_CONVERGED);
            CHECK(distance(answer.u, first.u, p.size) < 3e-6);
        }
    }
}

static void interior_points_reach_round_off(void) {
    FilRandom random = fil_random_make(22);
    for (int trial = 0; trial < 20; trial++) {
        static Dense p;
        memset(&p, 0, sizeof p);
        for (int i = 0; i < 10; i++) {
            dense_add(&p, FIL_BLOCK_CONE, 3, 0.7);
        }
        dense_random(&p, &random, 60, 0.2);
        const FilFrictionProblem *problem = dense_finish(&p);
        FilFrictionSettings settings = fil_friction_settings_default();
        settings.solver = FIL_SOLVER_SOCQP;
        settings.tolerance = 1e-12;
        CHECK(solve(problem, &settings).info.outcome == FIL_CONVERGED);
        settings.convex = FIL_CONVEX_INTERIOR_PRIMAL;
        CHECK(solve(problem, &settings).info.outcome == FIL_CONVERGED);
    }
}

// --- closed forms --------------------------------------------------------------------------------

static Dense *one_contact(double mu, double b0, double b1, double b2) {
    static Dense p;
    memset(&p, 0, sizeof p);
    dense_add(&p, FIL_BLOCK_COULOMB, 3, mu);
    for (int k = 0; k < 3; k++) {
        p.W[k][k] = 1.0;
    }
    p.b[0] = b0;
    p.b[1] = b1;
    p.b[2] = b2;
    (void)dense_finish(&p);
    return &p;
}

// The convex relaxation makes a sliding block jump at speed mu |u_T|; the fixed point does not.
static void convex_lifts_a_sliding_block_and_cadoux_does_not(void) {
    const double mu = 0.3;
    const Dense *p = one_contact(mu, -1.0, 3.0, 0.0);
    const Answer convex = solve_named(&p->problem, FIL_SOLVER_CONVEX, 1e-12);
    const double r = (1.0 + 3.0 * mu) / (1.0 + mu * mu); // u.r = 0 with r on the edge of the cone
    CHECK(convex.info.outcome == FIL_STALLED);
    CHECK_NEAR(convex.r[0], r, 1e-10, 0.0);
    CHECK_NEAR(convex.u[0], mu * convex.u[1], 1e-9, 0.0);
    CHECK_NEAR(convex.u[0], r - 1.0, 1e-9, 0.0);

    const Answer cadoux = solve_named(&p->problem, FIL_SOLVER_CADOUX, 1e-12);
    CHECK(cadoux.info.outcome == FIL_CONVERGED);
    CHECK_NEAR(cadoux.u[0], 0.0, 0.0, 1e-11);
    CHECK_NEAR(cadoux.u[1], 3.0 - mu, 1e-11, 0.0);

    const Answer socqp = solve_named(&p->problem, FIL_SOLVER_SOCQP, 1e-12);
    CHECK(socqp.info.outcome == FIL_CONVERGED); // its law is the plain cone
    CHECK_NEAR(socqp.r[0], r, 1e-10, 0.0);
}

// Two solids of masses 1 and 5 on a plane, dragged ever harder: each starts at mu m g.
static void solids_start_to_slide_at_their_own_limit(void) {
    const double mu = 0.4, mass[2] = {1.0, 5.0}, g = 9.81, dt = 0.01;
    for (double force = 1.0; force < 30.0; force += 1.0) {
        static Dense p;
        memset(&p, 0, sizeof p);
        for (int i = 0; i < 2; i++) {
            dense_add(&p, FIL_BLOCK_COULOMB, 3, mu);
            for (int k = 0; k < 3; k++) {
                p.W[3 * i + k][3 * i + k] = 1.0 / mass[i];
            }
            p.b[3 * i] = -g * dt;
            p.b[3 * i + 1] = force * dt / mass[i];
        }
        const FilFrictionProblem *problem = dense_finish(&p);
        const int count = list_exact(1e-10);
        for (int k = 0; k < count; k++) {
            const Answer answer = solve(problem, &list[k].settings);
            for (int i = 0; i < 2; i++) {
                const double speed = fmax(0.0, force / mass[i] - mu * g) * dt;
                CHECK_NEAR(answer.u[3 * i + 1], speed, 1e-7, 1e-9);
            }
        }
    }
}

// A solid pulled by a handle above its contact: friction presses it down (W_NT < 0) and so raises
// its own limit. A threshold from a frictionless solve cannot know: it lets go too early.
static void tresca_takes_its_threshold_from_the_wrong_normal_force(void) {
    const double mu = 0.5, couple = -0.4;
    for (double pull = 0.2; pull < 1.2; pull += 0.05) {
        Dense *p = one_contact(mu, -1.0, pull, 0.0);
        p->W[0][1] = p->W[1][0] = -couple;
        const FilFrictionProblem *problem = dense_finish(p);
        const Answer exact = solve_named(problem, FIL_SOLVER_CADOUX, 1e-12);
        const Answer tresca = solve_named(problem, FIL_SOLVER_TRESCA, 1e-12);
        // frictionless: r_N = 1; then r_T = -min(pull.., mu), r_N = 1 - couple r_T
        const double stick = (-pull + couple) / (1.0 - couple * couple); // r_T with u = 0
        const double r_T = fmax(-mu, stick);
        CHECK_NEAR(tresca.r[1], r_T, 1e-9, 1e-10);
        CHECK_NEAR(tresca.r[0], 1.0 + couple * r_T, 1e-9, 1e-10);
        CHECK_NEAR(tresca.u[0], 0.0, 0.0, 1e-10);
        CHECK(exact.info.outcome == FIL_CONVERGED);
        const bool sticks = fabs(exact.u[1]) < 1e-9, tresca_sticks = fabs(tresca.u[1]) < 1e-9;
        CHECK(sticks || !tresca_sticks);
        if (!tresca_sticks) {
            CHECK(tresca.info.outcome == FIL_STALLED);
            CHECK(tresca.info.residual.scaled > 1e-3);
        }
    }
}

// Where normal and tangential motion do not couple, the thresholds are right.
static void tresca_is_exact_where_nothing_couples(void) {
    const Dense *p = one_contact(0.3, -1.0, 3.0, 4.0);
    const Answer answer = solve_named(&p->problem, FIL_SOLVER_TRESCA, 1e-10);
    CHECK(answer.info.outcome == FIL_CONVERGED);
    CHECK_NEAR(answer.r[1], -0.18, 1e-9, 0.0);
    CHECK_NEAR(answer.r[2], -0.24, 1e-9, 0.0);
}

// A pyramid of few facets bends the direction of sliding; its own problem is solved all the same.
static void pyramids_deflect_a_sliding_contact(void) {
    const double angle = 0.3;
    const Dense *p = one_contact(0.3, -1.0, 3.0 * cos(angle), 3.0 * sin(angle));
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.solver = FIL_SOLVER_LINEARISED;
    for (int facets = 3; facets <= 96; facets *= 2) {
        settings.facet_count = facets;
        const Answer answer = solve(&p->problem, &settings);
        const double length = hypot(answer.r[1], answer.r[2]);
        const double off = fabs(answer.r[2] * cos(angle) - answer.r[1] * sin(angle)) / length;
        CHECK(answer.info.outcome == FIL_STALLED);
        CHECK(answer.info.iterations < 10);
        CHECK(off > 1e-4 && off < sin(acos(-1.0) / facets));
    }
}

// --- trouble -------------------------------------------------------------------------------------

// Two opposed contacts that both want to close: nothing satisfies the laws.
static void nothing_is_nan_where_there_is_no_solution(void) {
    static Dense p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 2; i++) {
        dense_add(&p, FIL_BLOCK_COULOMB, 3, 0.3);
        p.b[3 * i] = -1.0;
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < 3; k++) {
                p.W[3 * i + k][3 * j + k] = i == j ? 1.0 : -1.0;
            }
        }
    }
    const FilFrictionProblem *problem = dense_finish(&p);
    const int count = list_exact(1e-8);
    for (int k = 0; k < count; k++) {
        list[k].settings.max_iterations = 500;
        const Answer answer = solve(problem, &list[k].settings);
        CHECK(answer.info.outcome != FIL_CONVERGED);
        CHECK(is_finite(answer.r, p.size) && is_finite(answer.u, p.size));
    }
    for (int solver = 0; solver < FIL_FRICTION_SOLVER_COUNT; solver++) {
        const Answer answer = solve_named(problem, (FilFrictionSolver)solver, 1e-8);
        CHECK(answer.info.outcome != FIL_CONVERGED);
        CHECK(is_finite(answer.r, p.size) && is_finite(answer.u, p.size));
    }
}

static void empty_and_trivial_problems_are_solved(void) {
    static Dense p;
    memset(&p, 0, sizeof p);
    dense_add(&p, FIL_BLOCK_COULOMB, 3, 0.3);
    dense_add(&p, FIL_BLOCK_FREE, 2, 0.0);
    const FilFrictionProblem *problem = dense_finish(&p); // W = 0, b = 0
    FilFrictionProblem none = {.block_size = 3, .blocks = {p.start, p.column, p.value}, .b = p.b};
    for (int solver = 0; solver < FIL_FRICTION_SOLVER_COUNT; solver++) {
        CHECK(solve_named(problem, (FilFrictionSolver)solver, 1e-8).info.outcome == FIL_CONVERGED);
        CHECK(solve_named(&none, (FilFrictionSolver)solver, 1e-8).info.outcome == FIL_CONVERGED);
    }
}

static bool stop_at_third(void *user, const FilFrictionProgress *progress) {
    (void)progress;
    int *calls = user;
    return ++*calls < 3;
}

static void every_solver_can_be_stopped(void) {
    FilRandom random = fil_random_make(30);
    static Dense p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 8; i++) {
        dense_add(&p, FIL_BLOCK_COULOMB, 3, 0.5);
    }
    dense_random(&p, &random, 16, 1e-3);
    const FilFrictionProblem *problem = dense_finish(&p);
    const int count = list_exact(1e-14);
    for (int k = 0; k < count; k++) {
        int calls = 0;
        list[k].settings.on_iteration = stop_at_third;
        list[k].settings.user = &calls;
        const Answer answer = solve(problem, &list[k].settings);
        CHECK(calls == 3);
        CHECK(answer.info.outcome == FIL_LIMIT);
        CHECK(is_finite(answer.r, p.size));
    }
}

static void a_warm_start_at_the_solution_stays_there(void) {
    FilRandom random = fil_random_make(31);
    static Dense p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 6; i++) {
        dense_add(&p, FIL_BLOCK_COULOMB, 3, 0.5);
    }
    dense_random(&p, &random, 60, 1.0);
    const FilFrictionProblem *problem = dense_finish(&p);
    const Answer exact = solve_named(problem, FIL_SOLVER_AUTO, 1e-12);
    const int count = list_exact(1e-8);
    for (int k = 0; k < count; k++) {
        Answer answer = exact;
        FilFrictionSolution solution = {.r = answer.r, .u = answer.u};
        list[k].settings.warm_start = true;
        CHECK(fil_friction_solve(problem, &list[k].settings, NULL, &solution, &answer.info, NULL) ==
              FIL_OK);
        CHECK(answer.info.outcome == FIL_CONVERGED && answer.info.iterations == 0);
    }
}

static void check_failing(const FilFrictionProblem *problem, const FilFrictionSettings *settings) {
    for (int n = 1; n < 1000; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilFrictionWorkspace *workspace = NULL;
        Answer answer = {0};
        FilFrictionSolution solution = {.r = answer.r, .u = answer.u};
        FilStatus status = fil_friction_workspace_create(&allocator, &workspace, NULL);
        if (status == FIL_OK) {
            status =
                fil_friction_solve(problem, settings, workspace, &solution, &answer.info, NULL);
        }
        fil_friction_workspace_destroy(workspace);
        CHECK(failing_allocator_is_clean(&memory));
        if (memory.failures == 0) {
            CHECK(status == FIL_OK);
            return;
        }
        CHECK(status == FIL_E_NO_MEMORY);
    }
    CHECK(false);
}

static void every_allocation_may_fail(void) {
    FilRandom random = fil_random_make(32);
    static Dense p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 20; i++) {
        dense_add(&p, i == 3 ? FIL_BLOCK_FREE : FIL_BLOCK_COULOMB, 3, i == 5 ? 0.0 : 0.5);
    }
    dense_random(&p, &random, 60, 1.0);
    const FilFrictionProblem *problem = dense_finish(&p);
    const int count = list_exact(1e-8);
    for (int k = 0; k < count; k++) {
        list[k].settings.thread_count = 1;
        check_failing(problem, &list[k].settings);
    }
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.thread_count = 1;
    for (int solver = 0; solver < FIL_FRICTION_SOLVER_COUNT; solver++) {
        settings.solver = (FilFrictionSolver)solver;
        check_failing(problem, &settings);
    }
}

#define TESTS(X)                                              \
    X(exact_solvers_agree_where_the_solution_is_unique)       \
    X(exact_solvers_agree_on_mixed_kinds_and_sizes)           \
    X(robust_solvers_solve_rigid_bodies)                      \
    X(without_friction_all_solve_the_same_lcp)                \
    X(joints_are_the_same_as_their_elimination)               \
    X(convex_solvers_find_the_optimum)                        \
    X(convex_solvers_do_not_mind_a_singular_matrix)           \
    X(interior_points_reach_round_off)                        \
    X(convex_lifts_a_sliding_block_and_cadoux_does_not)       \
    X(solids_start_to_slide_at_their_own_limit)               \
    X(tresca_takes_its_threshold_from_the_wrong_normal_force) \
    X(tresca_is_exact_where_nothing_couples)                  \
    X(pyramids_deflect_a_sliding_contact)                     \
    X(nothing_is_nan_where_there_is_no_solution)              \
    X(empty_and_trivial_problems_are_solved)                  \
    X(every_solver_can_be_stopped)                            \
    X(a_warm_start_at_the_solution_stays_there)               \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
