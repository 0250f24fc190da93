// What defeats Newton and fixed points, what misleads a residual, what overflows: the default
// solver on problems that are hard but have a solution, and what it may say of them.
#include "check.h"
#include "failing_allocator.h"
#include "friction_answer.h"
#include "friction_problem.h"

#include "friction/law.h"

static Dense p;

// 24 contacts of 6 rigid bodies with b = H v, which some impulses stop: a solution exists
// (Klarbring and Pang 1998). mu is log-uniform in 10^low .. 10^high.
static const FilFrictionProblem *make_bodies(uint64_t seed, double low, double high) {
    FilRandom random = fil_random_make(seed);
    memset(&p, 0, sizeof p);
    for (int i = 0; i < DENSE_BLOCKS; i++) {
        dense_add(&p, FIL_BLOCK_COULOMB, 3, pow(10.0, fil_random_uniform(&random, low, high)));
    }
    dense_rigid(&p, &random, 6);
    return dense_finish(&p);
}

// The law by Alart and Curnier's function in the unit of a velocity, over |b|: sees a contact that
// penetrates whatever mu is.
static double contact_error(const Answer *answer) {
    double sum = 0.0, b = 0.0;
    for (int i = 0; i < p.n; i++) {
        const int o = p.offset[i];
        const double rho = 3.0 / (p.W[o][o] + p.W[o + 1][o + 1] + p.W[o + 2][o + 2]);
        sum += fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, p.mu[i], rho, answer->u + o,
                                     answer->r + o, NULL) /
               (rho * rho);
    }
    for (int k = 0; k < p.size; k++) {
        b += p.b[k] * p.b[k];
    }
    return sqrt(sum / b);
}

// Of the first 60 seeds proximal Newton and Cadoux's fixed point leave 21 unsolved.
static void much_and_little_friction_in_one_problem_is_solved(void) {
    static const uint64_t seeds[] = {5, 11, 13, 14, 16, 19, 27, 29};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        const FilFrictionProblem *problem = make_bodies(seeds[k], -6.0, 6.0);
        Answer answer = answer_of(problem, NULL);
        CHECK(answer.info.outcome == FIL_CONVERGED);
        CHECK(contact_error(&answer) <= 1e-7);
        answer_free(&answer);
    }
}

// With mu = 1e9 the natural map divides what penetrates by 1e9: 1e-10 where nothing is solved.
static void converged_is_not_said_of_contacts_that_penetrate(void) {
    static const double exponents[] = {2.0, 6.0, 9.0, 12.0};
    for (int k = 0; k < 4; k++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            const FilFrictionProblem *problem = make_bodies(seed, exponents[k], exponents[k]);
            Answer answer = answer_of(problem, NULL);
            CHECK(answer_is_finite(&answer));
            CHECK(answer.info.outcome != FIL_CONVERGED || contact_error(&answer) <= 1.1e-7);
            // the best iterate is chosen by it too, until mu |u_T| is noise
            CHECK(exponents[k] > 6.0 || contact_error(&answer) <= 1e-7);
            answer_free(&answer);
        }
    }
}

static void scale_problem(double w, double b) {
    for (int k = 0; k < p.size; k++) {
        p.b[k] *= b;
        for (int l = 0; l < p.size; l++) {
            p.W[k][l] *= w;
        }
    }
    memset(p.start, 0, sizeof p.start);
    (void)dense_finish(&p);
}

static void extreme_units_change_nothing(void) {
    static const double units[][2] = {{1e-160, 1e140},  {1e160, 1e155}, {1e300, 1e-300},
                                      {1e-300, 1e-300}, {1e300, 1e300}, {1.0, 1e-170}};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        const FilFrictionProblem *problem = make_bodies(3, -1.0, 0.0);
        Answer plain = answer_of(problem, NULL);
        scale_problem(units[k][0], units[k][1]);
        Answer scaled = answer_of(problem, NULL);
        CHECK(scaled.info.outcome == FIL_CONVERGED && scaled.info.residual.scaled <= 1e-8);
        CHECK(answer_is_finite(&scaled));
        for (int i = 0; i < p.size; i++) {
            scaled.u[i] /= units[k][1];
        }
        CHECK(distance(plain.u, scaled.u, p.size) <= 1e-5 * largest(plain.u, p.size));
        FilResidual residual;
        FilError error;
        CHECK(fil_friction_residual(problem, scaled.r, NULL, &residual, &error) == FIL_OK);
        CHECK(isfinite(residual.natural) && isfinite(residual.alart_curnier));
        answer_free(&plain);
        answer_free(&scaled);
    }
}

static void impulses_beyond_the_range_of_double_stay_finite(void) {
    const FilFrictionProblem *problem = make_bodies(3, -1.0, 0.0);
    scale_problem(1e-300, 1e300);
    Answer answer = answer_of(problem, NULL);
    CHECK(answer_is_finite(&answer));
    answer_free(&answer);
}

static bool stop_in_path(void *user, const FilFrictionProgress *progress) {
    *(bool *)user |= strcmp(progress->phase, "continuation") == 0;
    return !*(bool *)user;
}

static void the_path_can_be_stopped_and_limited(void) {
    const FilFrictionProblem *problem = make_bodies(5, -6.0, 6.0);
    FilFrictionSettings settings = fil_friction_settings_default();
    bool reached = false;
    settings.on_iteration = stop_in_path;
    settings.user = &reached;
    Answer answer = answer_of(problem, &settings);
    CHECK(reached && answer.info.outcome == FIL_LIMIT && answer_is_finite(&answer));
    settings.on_iteration = NULL;
    settings.max_iterations = answer.info.iterations + 20;
    answer_free(&answer);
    answer = answer_of(problem, &settings);
    CHECK(answer.info.outcome == FIL_LIMIT);
    CHECK(answer.info.iterations <= settings.max_iterations + 6); // the corrections of a step
    answer_free(&answer);
}

static void every_allocation_of_the_path_may_fail(void) {
    const FilFrictionProblem *problem = make_bodies(16, -6.0, 6.0);
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.thread_count = 1;
    for (int n = 1; n < 100; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilFrictionWorkspace *workspace = NULL;
        if (fil_friction_workspace_create(&allocator, &workspace, NULL) != FIL_OK) {
            continue;
        }
        Answer answer = answer_from(problem, &settings, NULL, workspace);
        fil_friction_workspace_destroy(workspace);
        CHECK(failing_allocator_is_clean(&memory));
        const bool done = memory.failures == 0;
        CHECK(answer.status == (done ? FIL_OK : FIL_E_NO_MEMORY));
        answer_free(&answer);
        if (done) {
            return;
        }
    }
    CHECK(false);
}

#define TESTS(X)                                         \
    X(much_and_little_friction_in_one_problem_is_solved) \
    X(converged_is_not_said_of_contacts_that_penetrate)  \
    X(extreme_units_change_nothing)                      \
    X(impulses_beyond_the_range_of_double_stay_finite)   \
    X(the_path_can_be_stopped_and_limited)               \
    X(every_allocation_of_the_path_may_fail)

CHECK_MAIN(TESTS)
