// Small problems by the public call: closed forms, degenerate cases, invariances, the other ways to
// say the same problem, and what a caller may rely on.
#include "check.h"
#include "friction_answer.h"
#include "friction_problem.h"

static FilFrictionSettings with_tolerance(double tolerance) {
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = tolerance;
    return settings;
}

static Dense *clear(void) {
    static Dense p;
    memset(&p, 0, sizeof p);
    return &p;
}

// Contacts with W = I and b = 0, to be changed.
static Dense *contacts(int n, double mu) {
    Dense *p = clear();
    for (int i = 0; i < n; i++) {
        dense_add(p, FIL_BLOCK_COULOMB, 3, mu);
    }
    for (int k = 0; k < p->size; k++) {
        p->W[k][k] = 1.0;
    }
    return p;
}

static void draw_contacts(Dense *p, FilRandom *random, int n) {
    memset(p, 0, sizeof *p);
    for (int i = 0; i < n; i++) {
        dense_add(p, FIL_BLOCK_COULOMB, 3, fil_random_uniform(random, 0.1, 0.7));
    }
    dense_random(p, random, 3 * p->size, 1.0);
}

// --- the laws, in words of their own -------------------------------------------------------------

static double tangent(int d, const double *x) {
    double sum = 0.0;
    for (int k = 1; k < d; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

static double product(int d, const double *a, const double *b) {
    double sum = 0.0;
    for (int k = 0; k < d; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// How far x is from the cone K_mu, and from its dual; 0 inside.
static double outside(int d, double mu, const double *x) {
    return fmax(0.0, fmax(-x[0], tangent(d, x) - mu * x[0]));
}

static double outside_dual(int d, double mu, const double *x) {
    return fmax(0.0, mu * tangent(d, x) - x[0]);
}

// Largest violation of the law of a block, for u and r of order 1.
static double unlawful(FilBlockKind kind, int d, double mu, const double *u, const double *r) {
    double shifted[FIL_BLOCK_MAX], most = 0.0;
    memcpy(shifted, u, (size_t)d * sizeof *u);
    switch (kind) {
    case FIL_BLOCK_COULOMB: // Signorini; and friction dissipates all it can
        most = fmax(outside(d, mu, r), fmax(-u[0], fabs(u[0] * r[0])));
        return fmax(most, fabs(product(d, u, r) - u[0] * r[0] + mu * r[0] * tangent(d, u)));
    case FIL_BLOCK_UNILATERAL:
        for (int k = 0; k < d; k++) {
            most = fmax(most, fmax(fabs(u[k] * r[k]), fmax(-u[k], -r[k])));
        }
        return most;
    case FIL_BLOCK_EQUALITY:
        return largest(u, d);
    case FIL_BLOCK_FREE:
        return largest(r, d);
    case FIL_BLOCK_CONE:
        most = fmax(outside(d, mu, r), outside_dual(d, mu, shifted));
        return fmax(most, fabs(product(d, u, r)));
    case FIL_BLOCK_BALL: // no more than the radius; and slip dissipates all it can
        most = sqrt(product(d, r, r)) - mu;
        return fmax(most, fabs(product(d, u, r) + mu * sqrt(product(d, u, u))));
    default:
        most = fmax(outside(d, mu, u), outside_dual(d, mu, r));
        return fmax(most, fabs(product(d, u, r)));
    }
}

static double worst_law(const Dense *p, const Answer *answer) {
    double worst = 0.0;
    for (int i = 0; i < p->n; i++) {
        const int at = p->offset[i];
        const double off =
            unlawful(p->kinds[i], p->sizes[i], p->mu[i], answer->u + at, answer->r + at);
        worst = fmax(worst, off);
    }
    return worst;
}

// --- closed forms and degenerate cases -----------------------------------------------------------

static void without_friction_a_contact_stops_and_slides_freely(void) {
    Dense *p = contacts(2, 0.0);
    p->b[0] = -2.0;
    p->b[1] = 3.0;
    p->b[3] = 1.0;
    Answer answer = answer_of(dense_finish(p), NULL);
    const double r[6] = {2, 0, 0, 0, 0, 0}, u[6] = {0, 3, 0, 1, 0, 0};
    CHECK(answer.info.outcome == FIL_CONVERGED);
    CHECK(distance(answer.r, r, 6) < 1e-8 && distance(answer.u, u, 6) < 1e-8);
    answer_free(&answer);
}

static void what_separates_is_left_alone(void) {
    Dense *p = contacts(3, 0.5);
    for (int i = 0; i < 3; i++) {
        p->b[3 * i] = i; // the first one just touches
    }
    Answer answer = answer_of(dense_finish(p), NULL);
    CHECK(answer.info.outcome == FIL_CONVERGED && answer.info.iterations == 0);
    CHECK(largest(answer.r, 9) == 0.0 && distance(answer.u, p->b, 9) == 0.0);
    answer_free(&answer);
}

static void what_rests_stays_at_rest(void) {
    Dense *p = contacts(3, 0.5); // b = 0
    Answer answer = answer_of(dense_finish(p), NULL);
    CHECK(answer.info.outcome == FIL_CONVERGED && answer.info.iterations == 0);
    CHECK(largest(answer.r, 9) == 0.0 && largest(answer.u, 9) == 0.0);
    answer_free(&answer);
}

// A body on four equal contacts: the impulses share the load in any way, their sum is known.
static void a_singular_operator_fixes_the_sum(void) {
    Dense *p = contacts(4, 0.5);
    for (int k = 0; k < 12; k++) {
        for (int l = 0; l < 12; l++) {
            p->W[k][l] = k % 3 == l % 3 ? 1.0 : 0.0;
        }
        p->b[k] = k % 3 == 0 ? -1.0 : k % 3 == 1 ? 0.2 : 0.0;
    }
    Answer answer = answer_of(dense_finish(p), NULL);
    double sum[3] = {0};
    for (int k = 0; k < 12; k++) {
        sum[k % 3] += answer.r[k];
    }
    CHECK(answer.info.outcome == FIL_CONVERGED);
    CHECK_NEAR(sum[0], 1.0, 1e-7, 0.0);
    CHECK_NEAR(sum[1], -0.2, 1e-6, 0.0);
    CHECK(worst_law(p, &answer) < 1e-7);
    answer_free(&answer);
}

static void one_contact_is_what_the_local_solver_finds(void) {
    FilRandom random = fil_random_make(50);
    const FilFrictionSettings settings = with_tolerance(1e-12);
    for (int trial = 0; trial < 200; trial++) {
        Dense *p = clear();
        draw_contacts(p, &random, 1);
        double W[9], r[3] = {0};
        for (int k = 0; k < 9; k++) {
            W[k] = p->W[k / 3][k % 3];
        }
        CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 3, W, p->b, p->mu[0], r, NULL) ==
              FIL_CONVERGED);
        Answer answer = answer_of(dense_finish(p), &settings);
        CHECK(answer.info.outcome == FIL_CONVERGED);
        CHECK(distance(answer.r, r, 3) < 1e-9);
        answer_free(&answer);
    }
}

static void no_contact_is_solved_in_every_form(void) {
    static const int start[] = {0, 1, 2}, index[] = {0, 1}, none[] = {0};
    static const double M[] = {2.0, 4.0}, f[] = {6.0, 8.0};
    const FilSparse mass = {2, 2, start, index, M}, nothing = {2, 0, none, NULL, NULL};
    for (int solver = 0; solver < FIL_FRICTION_SOLVER_COUNT; solver++) {
        FilFrictionSettings settings = fil_friction_settings_default();
        settings.solver = (FilFrictionSolver)solver;
        for (int form = FIL_FORM_BLOCKS; form <= FIL_FORM_GLOBAL; form++) {
            const FilFrictionProblem problem = {.form = (FilForm)form,
                                                .global = {.M = mass, .H = nothing, .f = f}};
            double v[2] = {0};
            FilFrictionSolution solution = {.v = v};
            FilFrictionInfo info;
            FilResidual residual = {.scaled = 1.0};
            CHECK(fil_friction_solve(&problem, &settings, NULL, &solution, &info, NULL) == FIL_OK);
            CHECK(info.outcome == FIL_CONVERGED && info.island_count == 0);
            CHECK(fil_friction_residual(&problem, NULL, NULL, &residual, NULL) == FIL_OK);
            CHECK(residual.scaled == 0.0 && residual.natural == 0.0);
            if (form == FIL_FORM_GLOBAL) {
                CHECK(v[0] == 3.0 && v[1] == 2.0);
            }
        }
    }
}

// Nothing moves such a contact; it is lawful when it need not be moved.
static void a_contact_with_a_zero_block_is_solved_where_it_can_be(void) {
    for (int opens = 0; opens < 2; opens++) {
        Dense *p = contacts(2, 0.5);
        memset(p->W[3], 0, 3 * sizeof p->W[3]);
        p->b[0] = -1.0;
        p->b[3] = opens != 0 ? 1.0 : -1.0;
        p->b[4] = 0.3;
        Answer answer = answer_of(dense_finish(p), NULL);
        CHECK(answer_is_finite(&answer));
        CHECK((answer.info.outcome == FIL_CONVERGED) == (opens != 0));
        CHECK_NEAR(answer.r[0], 1.0, 1e-7, 0.0);
        CHECK(answer.u[3] == p->b[3] && answer.u[4] == 0.3);
        answer_free(&answer);
    }
}

// Entries left out of the block rows are zero, diagonal ones too.
static void blocks_that_are_left_out_are_zero(void) {
    static const int start[] = {0, 1, 1, 3}, column[] = {2, 0, 2};
    static const double value[] = {0.5, 0.5, 1.0}, b[] = {1.0, 2.0, -1.0}, mu[3] = {0};
    const FilFrictionProblem problem = {
        .block_count = 3, .block_size = 1, .mu = mu, .blocks = {start, column, value}, .b = b};
    Answer answer = answer_of(&problem, NULL);
    const double r[] = {0.0, 0.0, 1.0}, u[] = {1.5, 2.0, 0.0};
    CHECK(answer.info.outcome == FIL_CONVERGED && answer.info.island_count == 2);
    CHECK(distance(answer.r, r, 3) < 1e-8 && distance(answer.u, u, 3) < 1e-8);
    answer_free(&answer);
}

// --- several solutions, and none -----------------------------------------------------------------

// Sliding at mu = 2 presses the contact down by more than it carries: it may open, slide or stick.
static Dense *three_solutions(void) {
    Dense *p = contacts(1, 2.0);
    p->W[1][1] = p->W[2][2] = 2.0;
    p->W[0][1] = p->W[1][0] = 1.0;
    p->b[0] = 1.0;
    p->b[1] = 4.0;
    (void)dense_finish(p);
    return p;
}

static void any_of_three_solutions_will_do(void) {
    static const double known[3][3] = {{0, 0, 0}, {1, -2, 0}, {2, -3, 0}};
    const Dense *p = three_solutions();
    const FilFrictionSettings settings = with_tolerance(1e-10);
    FilRandom random = fil_random_make(51);
    for (int trial = 0; trial < 100; trial++) {
        double start[3];
        for (int k = 0; k < 3; k++) {
            start[k] = trial < 3 ? known[trial][k] : 3.0 * fil_random_normal(&random);
        }
        Answer answer = answer_from(&p->problem, &settings, start, NULL);
        CHECK(answer.info.outcome == FIL_CONVERGED);
        CHECK(worst_law(p, &answer) < 1e-8);
        int which = -1;
        for (int s = 0; s < 3; s++) {
            which = distance(answer.r, known[s], 3) < 1e-6 ? s : which;
        }
        CHECK(which >= 0 && (trial >= 3 || which == trial)); // started at one, it stays there
        answer_free(&answer);
    }
}

static void check_without_solution(const Dense *p) {
    for (int solver = 0; solver < FIL_FRICTION_SOLVER_COUNT; solver++) {
        FilFrictionSettings settings = fil_friction_settings_default();
        settings.solver = (FilFrictionSolver)solver;
        Answer answer = answer_of(&p->problem, &settings);
        CHECK(answer.info.outcome != FIL_CONVERGED);
        CHECK(solver != FIL_SOLVER_AUTO || answer.info.outcome == FIL_NO_SOLUTION);
        CHECK(answer_is_finite(&answer));
        answer_free(&answer);
    }
}

// Two contacts of one body with two walls that both come nearer.
static void a_body_between_closing_walls_has_no_solution(void) {
    Dense *p = contacts(2, 0.3);
    for (int k = 0; k < 3; k++) {
        p->W[k][k + 3] = p->W[k + 3][k] = -1.0;
    }
    p->b[0] = p->b[3] = -1.0;
    (void)dense_finish(p);
    check_without_solution(p);
}

static void a_contact_that_nothing_opens_has_no_solution(void) {
    Dense *p = contacts(1, 0.3);
    p->W[0][0] = 0.0;
    p->b[0] = -1.0;
    (void)dense_finish(p);
    check_without_solution(p);
}

// --- kinds and sizes -----------------------------------------------------------------------------

static void every_kind_and_size_obeys_its_law(void) {
    static const int sizes[] = {1, 2, 3, 6};
    FilRandom random = fil_random_make(52);
    const FilFrictionSettings settings = with_tolerance(1e-10);
    for (int trial = 0; trial < 60; trial++) {
        Dense *p = clear();
        for (int i = 0; i < 14; i++) {
            const double mu = i % 5 == 0 ? 0.0 : fil_random_uniform(&random, 0.1, 1.0);
            dense_add(p, (FilBlockKind)fil_random_int(&random, FIL_BLOCK_KIND_COUNT),
                      sizes[fil_random_int(&random, 4)], mu);
        }
        dense_random(p, &random, 2 * p->size, 0.2);
        Answer answer = answer_of(dense_finish(p), &settings);
        CHECK(answer.info.outcome == FIL_CONVERGED);
        CHECK(worst_law(p, &answer) < 1e-7);
        for (int k = 0; k < p->size; k++) {
            double u = p->b[k];
            for (int l = 0; l < p->size; l++) {
                u += p->W[k][l] * answer.r[l];
            }
            CHECK_NEAR(answer.u[k], u, 0.0, 1e-12);
        }
        answer_free(&answer);
    }
}

static void compliance_adds_to_the_diagonal_blocks(void) {
    FilRandom random = fil_random_make(53);
    const FilFrictionSettings settings = with_tolerance(1e-11);
    for (int trial = 0; trial < 10; trial++) {
        static Dense plain, soft;
        double compliance[DENSE_BLOCKS * 9], *next = compliance;
        draw_contacts(&plain, &random, 8);
        soft = plain;
        for (int i = 0; i < 8; i++) {
            const double a[3] = {fil_random_normal(&random), fil_random_normal(&random), 1.0};
            for (int k = 0; k < 9; k++) {
                *next = a[k / 3] * a[k % 3];
                soft.W[3 * i + k / 3][3 * i + k % 3] += *next++;
            }
        }
        (void)dense_finish(&plain);
        plain.problem.compliance = compliance;
        Answer got = answer_of(&plain.problem, &settings);
        Answer want = answer_of(dense_finish(&soft), &settings);
        CHECK(got.info.outcome == FIL_CONVERGED && want.info.outcome == FIL_CONVERGED);
        CHECK(check_same_bits(got.r, want.r, (size_t)got.size * sizeof *got.r));
        answer_free(&got);
        answer_free(&want);
    }
}

// --- invariances ---------------------------------------------------------------------------------

static void the_unit_does_not_matter(void) {
    static const double W_units[] = {1e-12, 1e-3, 1.0, 1e12}, b_units[] = {1e-9, 1.0, 1e9};
    static const FilFrictionSolver solvers[] = {FIL_SOLVER_AUTO, FIL_SOLVER_GAUSS_SEIDEL};
    FilRandom random = fil_random_make(54);
    static Dense p, scaled;
    draw_contacts(&p, &random, 12);
    for (int trial = 0; trial < 4 * 3 * 2; trial++) {
        const double W = W_units[trial % 4], b = b_units[trial / 4 % 3];
        FilFrictionSettings settings = with_tolerance(1e-10);
        settings.solver = solvers[trial / 12];
        scaled = p;
        for (int k = 0; k < p.size; k++) {
            scaled.b[k] = b * p.b[k];
            for (int l = 0; l < p.size; l++) {
                scaled.W[k][l] = W * p.W[k][l];
            }
        }
        Answer want = answer_of(dense_finish(&p), &settings);
        Answer got = answer_of(dense_finish(&scaled), &settings);
        CHECK(got.info.outcome == FIL_CONVERGED);
        CHECK(got.info.iterations == want.info.iterations);
        CHECK_NEAR(got.info.residual.scaled, want.info.residual.scaled, 0.5, 1e-13);
        for (int k = 0; k < p.size; k++) {
            CHECK_NEAR(got.r[k] * W / b, want.r[k], 0.0, 1e-9);
            CHECK_NEAR(got.u[k] / b, want.u[k], 0.0, 1e-9);
        }
        answer_free(&want);
        answer_free(&got);
    }
}

// x := Q x, the tangents of every contact turned by its own angle.
static void turn(const Dense *p, const double *angle, double *x, int stride) {
    for (int i = 0; i < p->n; i++) {
        double *t = x + (ptrdiff_t)(3 * i + 1) * stride;
        const double c = cos(angle[i]), s = sin(angle[i]), first = t[0], second = t[stride];
        t[0] = c * first - s * second;
        t[stride] = s * first + c * second;
    }
}

static void tangents_may_point_anywhere(void) {
    FilRandom random = fil_random_make(55);
    const FilFrictionSettings settings = with_tolerance(1e-11);
    for (int trial = 0; trial < 10; trial++) {
        static Dense p, turned;
        double angle[DENSE_BLOCKS] = {0};
        draw_contacts(&p, &random, 12);
        turned = p;
        for (int i = 0; i < p.n; i++) {
            angle[i] = fil_random_uniform(&random, 0.0, 6.3);
        }
        turn(&p, angle, turned.b, 1);
        for (int k = 0; k < p.size; k++) { // Q W Q^T: the columns, then the rows
            turn(&p, angle, &turned.W[0][k], DENSE_SIZE);
        }
        for (int k = 0; k < p.size; k++) {
            turn(&p, angle, turned.W[k], 1);
        }
        Answer want = answer_of(dense_finish(&p), &settings);
        Answer got = answer_of(dense_finish(&turned), &settings);
        turn(&p, angle, want.r, 1);
        turn(&p, angle, want.u, 1);
        CHECK(got.info.outcome == FIL_CONVERGED);
        CHECK(distance(got.r, want.r, p.size) < 1e-9);
        CHECK(distance(got.u, want.u, p.size) < 1e-9);
        answer_free(&want);
        answer_free(&got);
    }
}

static void the_order_of_contacts_does_not_matter(void) {
    FilRandom random = fil_random_make(56);
    const FilFrictionSettings settings = with_tolerance(1e-11);
    for (int trial = 0; trial < 10; trial++) {
        static Dense p, shuffled;
        int to[DENSE_BLOCKS] = {0};
        draw_contacts(&p, &random, 12);
        shuffled = p;
        for (int i = 0; i < p.n; i++) {
            const int j = fil_random_int(&random, i + 1);
            to[i] = i;
            to[i] = to[j];
            to[j] = i;
        }
        for (int k = 0; k < p.size; k++) {
            const int at = 3 * to[k / 3] + k % 3;
            shuffled.mu[to[k / 3]] = p.mu[k / 3];
            shuffled.b[at] = p.b[k];
            for (int l = 0; l < p.size; l++) {
                shuffled.W[at][3 * to[l / 3] + l % 3] = p.W[k][l];
            }
        }
        Answer want = answer_of(dense_finish(&p), &settings);
        Answer got = answer_of(dense_finish(&shuffled), &settings);
        CHECK(got.info.outcome == FIL_CONVERGED);
        for (int i = 0; i < p.n; i++) {
            CHECK(distance(got.r + 3 * (ptrdiff_t)to[i], want.r + 3 * (ptrdiff_t)i, 3) < 1e-9);
        }
        answer_free(&want);
        answer_free(&got);
    }
}

#define TESTS(X)                                             \
    X(without_friction_a_contact_stops_and_slides_freely)    \
    X(what_separates_is_left_alone)                          \
    X(what_rests_stays_at_rest)                              \
    X(a_singular_operator_fixes_the_sum)                     \
    X(one_contact_is_what_the_local_solver_finds)            \
    X(no_contact_is_solved_in_every_form)                    \
    X(a_contact_with_a_zero_block_is_solved_where_it_can_be) \
    X(blocks_that_are_left_out_are_zero)                     \
    X(any_of_three_solutions_will_do)                        \
    X(a_body_between_closing_walls_has_no_solution)          \
    X(a_contact_that_nothing_opens_has_no_solution)          \
    X(every_kind_and_size_obeys_its_law)                     \
    X(compliance_adds_to_the_diagonal_blocks)                \
    X(the_unit_does_not_matter)                              \
    X(tangents_may_point_anywhere)                           \
    X(the_order_of_contacts_does_not_matter)

CHECK_MAIN(TESTS)
