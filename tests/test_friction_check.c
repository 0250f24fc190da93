// What makes no sense is refused with a sentence that names field, index, value and rule.
#include "check.h"
#include "filum/friction.h"

#include <limits.h>

// Two contacts of size 2 on one body of 3 unknowns, in all three forms at once.
typedef struct Case {
    int sizes[2];
    FilBlockKind kinds[2];
    double mu[2];
    int start[3], column[4];
    double value[16], b[4], compliance[8];
    int body_start[2], entry_start[3], body[2];
    double H[12], HA[12];
    int m_start[4], m_index[3], h_start[5], h_index[4];
    double m_value[3], h_value[4], f[3], w[4];
    FilFrictionProblem problem;
} Case;

static Case *fresh(FilForm form) {
    static Case c;
    c = (Case){.sizes = {2, 2},
               .mu = {0.5, 0.0},
               .start = {0, 2, 4},
               .column = {0, 1, 0, 1},
               .value = {1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1},
               .b = {-1, 0, -1, 0},
               .body_start = {0, 3},
               .entry_start = {0, 1, 2},
               .H = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0},
               .HA = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0},
               .m_start = {0, 1, 2, 3},
               .m_index = {0, 1, 2},
               .m_value = {1, 1, 1},
               .h_start = {0, 1, 2, 3, 4},
               .h_index = {0, 1, 2, 1},
               .h_value = {1, 1, 1, 1},
               .w = {-1, 0, -1, 0}};
    c.problem = (FilFrictionProblem){.block_count = 2,
                                     .block_sizes = c.sizes,
                                     .kinds = c.kinds,
                                     .mu = c.mu,
                                     .form = form,
                                     .blocks = {c.start, c.column, c.value},
                                     .bodies = {1, c.body_start, c.entry_start, c.body, c.H, c.HA},
                                     .global = {{3, 3, c.m_start, c.m_index, c.m_value},
                                                {3, 4, c.h_start, c.h_index, c.h_value},
                                                c.f,
                                                c.w},
                                     .b = c.b,
                                     .compliance = c.compliance};
    return &c;
}

static void check_refused(const Case *c, const char *sentence, int line) {
    FilError error = {0};
    const FilStatus status = fil_friction_check(&c->problem, &error);
    if (status != FIL_E_ARGUMENT || error.status != status || strcmp(error.text, sentence) != 0) {
        check_failures++;
        (void)fprintf(stderr, "%s:%d: got \"%s\", want \"%s\"\n", __FILE__, line, error.text,
                      sentence);
    }
    CHECK(fil_friction_check(&c->problem, NULL) == FIL_E_ARGUMENT);
    // a solve refuses it too, and leaves the solution alone
    double r[4] = {7, 7, 7, 7};
    FilFrictionSolution solution = {.r = r};
    FilFrictionInfo info = {.iterations = 7};
    FilResidual residual;
    CHECK(fil_friction_solve(&c->problem, NULL, NULL, &solution, &info, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, sentence) == 0 && r[0] == 7 && info.iterations == 7);
    CHECK(fil_friction_residual(&c->problem, r, NULL, &residual, &error) == FIL_E_ARGUMENT);
}

// Spoil one thing of a fresh case in some form; nothing else is wrong.
#define REFUSED(form, change, sentence)         \
    do {                                        \
        Case *c = fresh(form);                  \
        change;                                 \
        check_refused(c, (sentence), __LINE__); \
    } while (0)

static const double nan_value = (double)NAN;

static void a_good_problem_passes_in_every_form(void) {
    FilError error;
    double r[4] = {0}, u[4] = {0};
    FilFrictionSolution solution = {.r = r, .u = u};
    FilFrictionInfo info;
    for (int form = FIL_FORM_BLOCKS; form <= FIL_FORM_GLOBAL; form++) {
        const Case *c = fresh((FilForm)form);
        CHECK(fil_friction_check(&c->problem, &error) == FIL_OK);
        CHECK(fil_friction_solve(&c->problem, NULL, NULL, &solution, &info, &error) == FIL_OK);
        CHECK(info.outcome == FIL_CONVERGED);
    }
}

static void bad_blocks_are_named(void) {
    const FilForm any = FIL_FORM_BLOCKS;
    FilError error;
    CHECK(fil_friction_check(NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "problem is NULL; there must be one") == 0);
    REFUSED(any, c->problem.block_count = -1, "block_count is -1; it must not be negative");
    REFUSED(any, c->problem.dof_count = -3, "dof_count is -3; it must not be negative");
    REFUSED(any, c->sizes[1] = 7, "block_sizes[1] is 7; it must be 1 to 6");
    REFUSED(any, c->problem.block_sizes = NULL, "block_size is 0; it must be 1 to 6");
    REFUSED(any, c->kinds[1] = (FilBlockKind)17, "kinds[1] is 17; it must be 0 to 6");
    REFUSED(any, c->kinds[0] = (FilBlockKind)-1, "kinds[0] is -1; it must be 0 to 6");
    REFUSED(any, c->mu[1] = -0.1, "mu[1] is -0.1; it must be finite and not negative");
    REFUSED(any, c->mu[1] = -nan_value, "mu[1] is nan; it must be finite and not negative");
    REFUSED(any, c->mu[0] = HUGE_VAL, "mu[0] is inf; it must be finite and not negative");
    REFUSED(any, c->problem.mu = NULL, "mu is NULL; block 0, of kind coulomb, needs it");
    REFUSED(any, c->problem.form = (FilForm)5, "form is 5; it must be 0 to 3");
    REFUSED(any, c->problem.b = NULL, "b is NULL; the problem needs it");
    REFUSED(any, c->b[3] = nan_value, "b[3] is nan; it must be finite");
    REFUSED(any, c->compliance[7] = -HUGE_VAL, "compliance[7] is -inf; it must be finite");
}

static void mu_is_judged_only_where_there_is_friction(void) {
    Case *c = fresh(FIL_FORM_BLOCKS);
    FilError error;
    c->kinds[0] = FIL_BLOCK_UNILATERAL;
    c->mu[0] = nan_value;
    CHECK(fil_friction_check(&c->problem, &error) == FIL_OK);
    c->kinds[1] = FIL_BLOCK_EQUALITY;
    c->problem.mu = NULL;
    CHECK(fil_friction_check(&c->problem, &error) == FIL_OK);
}

static void bad_block_rows_are_named(void) {
    const FilForm form = FIL_FORM_BLOCKS;
    REFUSED(form, c->problem.blocks.start = NULL, "blocks.start is NULL; the problem needs it");
    REFUSED(form, c->problem.blocks.column = NULL, "blocks.column is NULL; the problem needs it");
    REFUSED(form, c->problem.blocks.value = NULL, "blocks.value is NULL; the problem needs it");
    REFUSED(form, c->start[0] = 1, "blocks.start[0] is 1; it must be 0");
    REFUSED(form, c->start[1] = 5,
            "blocks.start[2] is 4; it must not be below the one before it, 5");
    REFUSED(form, c->start[1] = -2,
            "blocks.start[1] is -2; it must not be below the one before it, 0");
    REFUSED(form, c->column[2] = -1, "blocks.column[2] is -1; it must be 0 to 1");
    REFUSED(form, c->column[3] = 2, "blocks.column[3] is 2; it must be 0 to 1");
    REFUSED(form, c->column[3] = 0,
            "blocks.column[3] is 0, after 0 in block row 1; columns must ascend in a row");
    REFUSED(form, c->value[15] = HUGE_VAL, "blocks.value[15] is inf; it must be finite");
}

static void bad_bodies_are_named(void) {
    const FilForm form = FIL_FORM_BODIES;
    REFUSED(form, c->problem.bodies.body_count = -1,
            "bodies.body_count is -1; it must not be negative");
    REFUSED(form, c->problem.bodies.body_count = 0,
            "bodies.body[0] is 0; there is nothing to refer to");
    REFUSED(form, c->problem.bodies.body_start = NULL,
            "bodies.body_start is NULL; the problem needs it");
    REFUSED(form, c->problem.bodies.start = NULL, "bodies.start is NULL; the problem needs it");
    REFUSED(form, c->problem.bodies.body = NULL, "bodies.body is NULL; the problem needs it");
    REFUSED(form, c->problem.bodies.H = NULL, "bodies.H is NULL; the problem needs it");
    REFUSED(form, c->problem.bodies.HA = NULL, "bodies.HA is NULL; the problem needs it");
    REFUSED(form, c->body_start[0] = 3, "bodies.body_start[0] is 3; it must be 0");
    REFUSED(form, c->body_start[1] = -3,
            "bodies.body_start[1] is -3; it must not be below the one before it, 0");
    REFUSED(form, c->entry_start[2] = 0,
            "bodies.start[2] is 0; it must not be below the one before it, 1");
    REFUSED(form, c->body[1] = 1, "bodies.body[1] is 1; it must be 0 to 0");
    REFUSED(form, c->H[11] = nan_value, "bodies.H[11] is nan; it must be finite");
    REFUSED(form, c->HA[6] = HUGE_VAL, "bodies.HA[6] is inf; it must be finite");
    REFUSED(form, c->b[0] = HUGE_VAL, "b[0] is inf; it must be finite");
}

static void bad_global_forms_are_named(void) {
    const FilForm form = FIL_FORM_GLOBAL;
    REFUSED(form, c->problem.global.M.column_count = -1,
            "global.M.column_count is -1; it must be 0 to 1073741823");
    REFUSED(form, c->problem.global.M.row_count = 4,
            "global.M.row_count is 4; it must be 3, the unknowns in v");
    REFUSED(form, c->problem.dof_count = 4,
            "dof_count is 4; it must be 0 or 3, the columns of global.M");
    REFUSED(form, c->problem.global.H.row_count = 2,
            "global.H.row_count is 2; it must be 3, the unknowns in v");
    REFUSED(form, c->problem.global.H.column_count = 3, "global.H.column_count is 3; it must be 4");
    REFUSED(form, c->problem.global.M.start = NULL, "global.M.start is NULL; the problem needs it");
    REFUSED(form, c->problem.global.H.index = NULL, "global.H.index is NULL; the problem needs it");
    REFUSED(form, c->problem.global.M.value = NULL, "global.M.value is NULL; the problem needs it");
    REFUSED(form, c->problem.global.f = NULL, "global.f is NULL; the problem needs it");
    REFUSED(form, c->problem.global.w = NULL, "global.w is NULL; the problem needs it");
    REFUSED(form, c->h_start[0] = -1, "global.H.start[0] is -1; it must be 0");
    REFUSED(form, c->m_start[2] = 0,
            "global.M.start[2] is 0; it must not be below the one before it, 1");
    REFUSED(form, c->m_index[1] = 3, "global.M.index[1] is 3; it must be 0 to 2");
    REFUSED(form, c->h_index[0] = -1, "global.H.index[0] is -1; it must be 0 to 2");
    REFUSED(form, c->m_value[2] = nan_value, "global.M.value[2] is nan; it must be finite");
    REFUSED(form, c->h_value[1] = HUGE_VAL, "global.H.value[1] is inf; it must be finite");
    REFUSED(form, c->f[0] = nan_value, "global.f[0] is nan; it must be finite");
    REFUSED(form, c->w[3] = nan_value, "global.w[3] is nan; it must be finite");
}

static void bad_matrices_besides_the_operator_are_named(void) {
    for (int form = FIL_FORM_BLOCKS; form <= FIL_FORM_BODIES; form++) {
        REFUSED((FilForm)form, c->problem.global.H.column_count = 3,
                "global.H.column_count is 3; it must be 4");
        REFUSED((FilForm)form, c->m_value[2] = nan_value,
                "global.M.value[2] is nan; it must be finite");
        Case *c = fresh((FilForm)form);
        c->problem.global.f = c->problem.global.w = NULL; // nobody needs them
        CHECK(fil_friction_check(&c->problem, NULL) == FIL_OK);
        c->problem.global = (FilGlobalForm){0};
        CHECK(fil_friction_check(&c->problem, NULL) == FIL_OK);
        c = fresh((FilForm)form);
        c->m_value[1] = 0.0;
        double r[4] = {7, 7, 7, 7};
        FilFrictionSolution solution = {.r = r};
        FilError error = {0};
        CHECK(fil_friction_solve(&c->problem, NULL, NULL, &solution, NULL, &error) ==
              FIL_E_ARGUMENT);
        CHECK(strcmp(error.text, "global.M is 0 at (1, 1); the diagonal must be positive") == 0);
    }
}

// Found only when it is factored: not a matter of fil_friction_check().
static void check_unsolvable(const Case *c, const char *sentence) {
    double r[4] = {7, 7, 7, 7}, v[3] = {7, 7, 7};
    FilFrictionSolution solution = {.r = r, .v = v};
    FilError error = {0};
    FilResidual residual;
    CHECK(fil_friction_check(&c->problem, &error) == FIL_OK);
    CHECK(fil_friction_solve(&c->problem, NULL, NULL, &solution, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, sentence) == 0);
    CHECK(r[0] == 7 && v[0] == 7);
    CHECK(fil_friction_residual(&c->problem, r, NULL, &residual, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, sentence) == 0);
}

static void a_singular_mass_matrix_is_named(void) {
    Case *c = fresh(FIL_FORM_GLOBAL);
    c->m_value[1] = 0.0;
    check_unsolvable(c, "global.M is 0 at (1, 1); the diagonal must be positive");
    c->m_value[1] = -2.0;
    check_unsolvable(c, "global.M is -2 at (1, 1); the diagonal must be positive");
    // two unknowns that move as one, but for round-off
    static const int start[] = {0, 1, 3, 5}, index[] = {0, 1, 2, 1, 2};
    static const double value[] = {1.0, 0.1, 0.3, 0.3, 0.3 * 0.3 / 0.1};
    c->problem.global.M = (FilSparse){3, 3, start, index, value};
    check_unsolvable(c, "global.M is singular at body 1, the unknowns that M couples to v[1]; it "
                        "must be positive definite");
}

static void overflow_of_the_operator_is_refused(void) {
    Case *c = fresh(FIL_FORM_BODIES);
    c->H[0] = c->HA[0] = 1e200;
    check_unsolvable(c, "W = H A^-1 H^T overflows; its factors are too large");
    c = fresh(FIL_FORM_GLOBAL);
    c->f[0] = 1e300;
    c->m_value[0] = 1e-20;
    check_unsolvable(c, "b = w + H^T M^-1 f overflows; f is too large, or M nearly singular");
}

static void the_unknowns_must_fit_an_int(void) {
    const FilFrictionProblem problem = {.block_count = INT_MAX / 6 + 1, .block_size = 6};
    FilError error;
    CHECK(fil_friction_check(&problem, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text,
                 "the blocks have 2147483652 unknowns in all; 1073741823 is the most") == 0);
}

static void check_settings(FilFrictionSettings settings, const char *sentence) {
    const Case *c = fresh(FIL_FORM_BLOCKS);
    double r[4] = {7, 7, 7, nan_value};
    FilFrictionSolution solution = {.r = r};
    FilError error = {0};
    CHECK(fil_friction_solve(&c->problem, &settings, NULL, &solution, NULL, &error) ==
          FIL_E_ARGUMENT);
    CHECK(r[0] == 7);
    if (strcmp(error.text, sentence) != 0) {
        check_failures++;
        (void)fprintf(stderr, "got \"%s\", want \"%s\"\n", error.text, sentence);
    }
}

static void bad_settings_are_named(void) {
#define SETTING(field, value, sentence)                                 \
    do {                                                                \
        FilFrictionSettings settings = fil_friction_settings_default(); \
        settings.field = (value);                                       \
        check_settings(settings, (sentence));                           \
    } while (0)
    SETTING(solver, (FilFrictionSolver)8, "solver is 8; it must be 0 to 7");
    SETTING(local, (FilLocalSolver)-1, "local is -1; it must be 0 to 6");
    SETTING(function, (FilNewtonFunction)3, "function is 3; it must be 0 to 2");
    SETTING(convex, (FilConvexSolver)99, "convex is 99; it must be 0 to 2");
    SETTING(tolerance, 0.0, "tolerance is 0; it must be positive and finite");
    SETTING(tolerance, nan_value, "tolerance is nan; it must be positive and finite");
    SETTING(tolerance, HUGE_VAL, "tolerance is inf; it must be positive and finite");
    SETTING(natural_tolerance, -1.0, "natural_tolerance is -1; it must be finite and not negative");
    SETTING(max_iterations, -1, "max_iterations is -1; it must not be negative");
    SETTING(facet_count, 2, "facet_count is 2; it must be 3 to 256");
    SETTING(facet_count, 257, "facet_count is 257; it must be 3 to 256");
    SETTING(thread_count, -1, "thread_count is -1; it must not be negative");
    SETTING(warm_start, true, "solution.r[3] is nan; it must be finite");
#undef SETTING
}

static void a_place_for_the_impulses_is_asked_for(void) {
    const Case *c = fresh(FIL_FORM_BLOCKS);
    FilFrictionSolution solution = {0};
    FilError error;
    FilResidual residual;
    CHECK(fil_friction_solve(&c->problem, NULL, NULL, NULL, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "solution is NULL; the impulses need a place") == 0);
    CHECK(fil_friction_solve(&c->problem, NULL, NULL, &solution, NULL, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "solution.r is NULL; the impulses need a place") == 0);
    CHECK(fil_friction_residual(&c->problem, NULL, NULL, &residual, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "r is NULL; the problem needs it") == 0);
}

#define TESTS(X)                                   \
    X(a_good_problem_passes_in_every_form)         \
    X(bad_blocks_are_named)                        \
    X(mu_is_judged_only_where_there_is_friction)   \
    X(bad_block_rows_are_named)                    \
    X(bad_bodies_are_named)                        \
    X(bad_global_forms_are_named)                  \
    X(bad_matrices_besides_the_operator_are_named) \
    X(a_singular_mass_matrix_is_named)             \
    X(overflow_of_the_operator_is_refused)         \
    X(the_unknowns_must_fit_an_int)                \
    X(bad_settings_are_named)                      \
    X(a_place_for_the_impulses_is_asked_for)

CHECK_MAIN(TESTS)
