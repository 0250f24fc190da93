#include "base/random.h"
#include "check.h"
#include "friction/generate.h"
#include "friction/law.h"
#include "friction/local.h"

#define D FIL_BLOCK_MAX

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static bool is_exact(int solver) {
    return solver != FIL_LOCAL_LINEARISED;
}

// These never fail; pac, dac and mfb may.
static bool is_safe(int solver) {
    return solver == FIL_LOCAL_HYBRID || solver == FIL_LOCAL_HYBRID_NEWTON ||
           solver == FIL_LOCAL_ENUM;
}

static double residual_of(FilBlockKind kind, int d, const double *W, const double *b, double mu,
                          const double *r) {
    const FilLocalBlock block = {kind, d, mu, W, b};
    return fil_local_residual(&block, r);
}

static FilOutcome solve3(int solver, const double *W, const double *b, double mu, double *r) {
    r[0] = r[1] = r[2] = 0.0;
    return fil_local_solve((FilLocalSolver)solver, FIL_BLOCK_COULOMB, 3, W, b, mu, r, NULL);
}

// ---- known answers ----

// Seed 001, table of section 3.2.
static void golden_values_of_every_exact_solver(void) {
    const double W1[9] = {2, .5, 0, .5, 1, .2, 0, .2, 1.5};
    const struct {
        const double *W;
        double b[3], r[3];
    } cases[] = {
        {identity, {1, 2, 3}, {0, 0, 0}},
        {identity, {-1, .1, .2}, {1, -.1, -.2}},
        {identity, {-1, 3, 4}, {1, -.18, -.24}},
        {identity, {-1, .3, 0}, {1, -.3, 0}},
        {W1, {-1, 3, 4}, {0.525084187895, -0.100336751579, -0.121436167086}},
        {W1, {-1, .1, .2}, {0.537513418905, -0.150053675621, -0.0590487529741}},
        {W1, {-2, 1, -1}, {1.06812066728, -0.272482669139, 0.168619552272}},
    };
    for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases && is_exact(s); k++) {
            double r[3];
            CHECK(solve3(s, cases[k].W, cases[k].b, 0.3, r) == FIL_CONVERGED);
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(r[i], cases[k].r[i], 1e-11, 1e-13);
            }
        }
    }
}

// The block on an incline: sticks when tan(slope) <= mu, else slides at sin - mu cos.
static void a_block_on_an_incline_sticks_up_to_the_friction_angle(void) {
    for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
        for (double slope = 0.05; slope < 1.5 && is_exact(s); slope += 0.1) {
            const double mu = 0.5, b[3] = {-cos(slope), sin(slope), 0.0};
            double r[3];
            CHECK(solve3(s, identity, b, mu, r) == FIL_CONVERGED);
            const double speed = fmax(0.0, sin(slope) - mu * cos(slope));
            CHECK_NEAR(r[1] + b[1], speed, 1e-13, 1e-14);
        }
    }
}

static void every_branch_tie_has_an_answer(void) {
    const double mu = 0.5;
    const double b[][3] = {{0, 0, 0},       {0, 1, 0},   {-1, 0, 0},   {-1, 0.3, 0.4},
                           {-1, -0.5, 0},   {-1, 0, .5}, {0, -1, 1},   {-1e-300, 1, 0},
                           {-1, 1e-300, 0}, {1, 0, 0},   {-1, 0, 1e6}, {-1e-12, 0, 1}};
    for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
        for (size_t k = 0; k < sizeof b / sizeof *b; k++) {
            double r[3];
            const FilOutcome outcome = solve3(s, identity, b[k], mu, r);
            CHECK(!is_safe(s) || outcome == FIL_CONVERGED);
            CHECK(!is_safe(s) || residual_of(FIL_BLOCK_COULOMB, 3, identity, b[k], mu, r) <= 1e-12);
            CHECK(isfinite(r[0] + r[1] + r[2]));
        }
    }
}

// Without friction r_N = max(0, -b_N / w_N); with much of it the contact sticks whenever it can.
static void no_friction_and_endless_friction(void) {
    FilRandom random = fil_random_make(11);
    for (int k = 0; k < 2000; k++) {
        double W[9], b[3], r[3];
        fil_generate_local(&random, 3, 1e4, W, b);
        for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
            CHECK(solve3(s, W, b, 0.0, r) == FIL_CONVERGED);
            CHECK_NEAR(r[0], fmax(0.0, -b[0] / W[0]), 1e-14, 0.0);
            CHECK(r[1] == 0.0 && r[2] == 0.0);
            const FilOutcome outcome = solve3(s, W, b, 1e6, r);
            if (is_safe(s)) {
                CHECK(outcome == FIL_CONVERGED);
                const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, 1e6, W, b};
                CHECK(fil_local_error(&block, r) <= 1e-12);
            }
        }
    }
}

// ---- several solutions, none ----

// A contact that may stay off, stick and slide: a strong coupling between normal and tangent.
static void three_coexisting_solutions_are_all_found(void) {
    FilRandom random = fil_random_make(12);
    int three = 0, off_stick_slide = 0, slides = 0;
    for (int k = 0; k < 20000; k++) {
        double W[9], b[3], r[3], solution[FIL_LOCAL_SOLUTIONS][D];
        fil_generate_local(&random, 3, 1e3, W, b);
        const double mu = fil_random_uniform(&random, 0.5, 2.0);
        const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, mu, W, b};
        const int count = fil_local_enumerate(&block, solution, NULL);
        CHECK(count >= 1);
        CHECK(count % 2 == 1); // generically odd
        int slide_count = 0;
        for (int i = 0; i < count; i++) {
            CHECK(fil_local_error(&block, solution[i]) <= FIL_LOCAL_TOLERANCE);
            const double t = hypot(solution[i][1], solution[i][2]);
            slide_count += t > 0.0 && t > (1.0 - 1e-9) * mu * solution[i][0];
        }
        three += count == 3;
        off_stick_slide += count == 3 && b[0] > 0.0 && slide_count == 1;
        slides += slide_count == 3;
        if (slide_count < 2 || b[0] >= 0.0 || slide_count < count) {
            continue;
        }
        for (int i = 0; i < count; i++) { // started next to a slide, the solvers stay there
            for (int s = 0; s < 2; s++) {
                const int solver = s == 0 ? FIL_LOCAL_HYBRID : FIL_LOCAL_ENUM;
                memcpy(r, solution[i], sizeof r);
                CHECK(fil_local_solve((FilLocalSolver)solver, FIL_BLOCK_COULOMB, 3, W, b, mu, r,
                                      NULL) == FIL_CONVERGED);
                CHECK_NEAR(r[0], solution[i][0], 1e-6, 0.0);
            }
        }
    }
    CHECK(three > 50 && off_stick_slide > 10 && slides > 0);
}

static void no_solution_is_certified(void) {
    const double flat[9] = {0, 0, 0, 0, 1, 0, 0, 0, 1}, zero[9] = {0};
    const double b[3] = {-1, 0.5, 0.2}, down[3] = {-1, 0, 0}, up[3] = {1, 2, 3};
    const int safe[] = {FIL_LOCAL_HYBRID, FIL_LOCAL_HYBRID_NEWTON, FIL_LOCAL_ENUM};
    for (int k = 0; k < 3; k++) {
        double r[3];
        CHECK(solve3(safe[k], flat, b, 0.3, r) == FIL_NO_SOLUTION);
        CHECK(isfinite(r[0] + r[1] + r[2]));
        CHECK(solve3(safe[k], flat, down, 0.3, r) == FIL_NO_SOLUTION);
        CHECK(solve3(safe[k], flat, down, 0.0, r) == FIL_NO_SOLUTION);
        CHECK(solve3(safe[k], zero, down, 0.3, r) == FIL_NO_SOLUTION);
        CHECK(solve3(safe[k], zero, up, 0.3, r) == FIL_CONVERGED);
        CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
        CHECK(solve3(safe[k], flat, up, 0.3, r) == FIL_CONVERGED);
        CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
    }
    double r = 1.0;
    const double none = 0.0, minus = -1.0;
    CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_UNILATERAL, 1, &none, &minus, 0.0, &r,
                          NULL) == FIL_NO_SOLUTION);
    CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_EQUALITY, 1, &none, &minus, 0.0, &r, NULL) ==
          FIL_NO_SOLUTION);
}

// Singular W that has solutions: stick families (a line, a plane) and slides.
static void singular_blocks_are_solved_where_they_can_be(void) {
    FilRandom random = fil_random_make(13);
    for (int k = 0; k < 3000; k++) {
        const int rank = 1 + k % 2;
        double W[9] = {0.0}, b[3] = {0.0}, r[3], z[3] = {1.0, 0.0, 0.0};
        const double mu = fil_random_uniform(&random, 0.1, 1.5);
        for (int m = 0; m < rank; m++) {
            double v[3];
            for (int i = 0; i < 3; i++) {
                v[i] = (double)fil_random_int(&random, 9) - 4.0;
            }
            for (int i = 0; i < 9; i++) {
                W[i] += v[i / 3] * v[i % 3];
            }
        }
        z[1] = fil_random_uniform(&random, -0.7, 0.7) * mu;
        z[2] = fil_random_uniform(&random, -0.7, 0.7) * mu;
        for (int i = 0; i < 3; i++) { // b = -W z with z in the cone: stick is possible
            b[i] = -(W[3 * i] * z[0] + W[3 * i + 1] * z[1] + W[3 * i + 2] * z[2]);
        }
        for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
            if (is_safe(s)) {
                CHECK(solve3(s, W, b, mu, r) == FIL_CONVERGED);
                CHECK(residual_of(FIL_BLOCK_COULOMB, 3, W, b, mu, r) <= 1e-12);
            }
        }
    }
    const double normal_only[9] = {1, 0, 0, 0, 0, 0, 0, 0, 0}, b[3] = {-1, 3, 4};
    double r[3];
    CHECK(solve3(FIL_LOCAL_HYBRID, normal_only, b, 0.5, r) == FIL_CONVERGED);
    CHECK_NEAR(r[1], -0.3, 1e-14, 0.0);
    CHECK_NEAR(r[2], -0.4, 1e-14, 0.0);
}

// ---- random problems ----

static void hybrid_solves_random_contacts_to_rounding(void) {
    FilRandom random = fil_random_make(14);
    double worst = 0.0;
    int fallbacks = 0, failures = 0;
    for (int k = 0; k < 200000; k++) {
        double W[9], b[3], r[3] = {0.0};
        fil_generate_local(&random, 3, exp(fil_random_uniform(&random, 0.0, log(1e8))), W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        failures += fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 3, W, b, mu, r,
                                    &fallbacks) != FIL_CONVERGED;
        worst = fmax(worst, residual_of(FIL_BLOCK_COULOMB, 3, W, b, mu, r));
    }
    CHECK(failures == 0);
    CHECK(worst <= 1e-12);
    CHECK(fallbacks < 20);
}

// Started from anything, the answer is a solution all the same.
static void a_wild_guess_does_no_harm(void) {
    FilRandom random = fil_random_make(15);
    for (int k = 0; k < 20000; k++) {
        double W[9], b[3], r[3];
        fil_generate_local(&random, 3, 1e6, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        for (int i = 0; i < 3; i++) {
            r[i] = fil_random_normal(&random) * ldexp(1.0, fil_random_int(&random, 60) - 30);
        }
        CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 3, W, b, mu, r, NULL) ==
              FIL_CONVERGED);
        CHECK(residual_of(FIL_BLOCK_COULOMB, 3, W, b, mu, r) <= 1e-12);
    }
}

// Where the solution is unique all exact solvers find the same one, if they find one.
static void exact_solvers_agree(void) {
    FilRandom random = fil_random_make(16);
    int failures[FIL_LOCAL_SOLVER_COUNT] = {0};
    for (int k = 0; k < 5000; k++) {
        double W[9], b[3], r[3], solution[FIL_LOCAL_SOLUTIONS][D];
        fil_generate_local(&random, 3, 100.0, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, mu, W, b};
        if (fil_local_enumerate(&block, solution, NULL) != 1) {
            continue;
        }
        for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
            const FilOutcome outcome = solve3(s, W, b, mu, r);
            failures[s] += outcome != FIL_CONVERGED;
            for (int i = 0; i < 3 && is_exact(s) && outcome == FIL_CONVERGED; i++) {
                CHECK_NEAR(r[i], solution[0][i], 1e-9, 1e-9 * fabs(solution[0][0]) + 1e-12);
            }
        }
    }
    for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
        CHECK(is_safe(s) || !is_exact(s) ? failures[s] == 0 : failures[s] < 500);
    }
}

static void unsymmetric_blocks_are_taken_as_they_are(void) {
    FilRandom random = fil_random_make(17);
    for (int k = 0; k < 20000; k++) {
        double W[9], b[3], r[3];
        fil_generate_local(&random, 3, 20.0, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        for (int i = 0; i < 9; i++) {
            W[i] *= 1.0 + 0.05 * fil_random_uniform(&random, -1.0, 1.0);
        }
        for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
            if (is_safe(s)) {
                CHECK(solve3(s, W, b, mu, r) == FIL_CONVERGED);
                CHECK(residual_of(FIL_BLOCK_COULOMB, 3, W, b, mu, r) <= 1e-12);
            }
        }
    }
}

// ---- invariances ----

// W in units of 1e+-12, b of 1e+-12: powers of two change no bit, others only the last digits.
static void the_answer_does_not_depend_on_units(void) {
    FilRandom random = fil_random_make(18);
    for (int k = 0; k < 3000; k++) {
        double W[9], b[3], r[3], Ws[9], bs[3], rs[3];
        fil_generate_local(&random, 3, 1e3, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        const double w = k % 2 == 0 ? 1e12 : 1e-12, v = k % 3 == 0 ? 1e-12 : 1e12;
        for (int i = 0; i < 9; i++) {
            Ws[i] = w * W[i];
        }
        for (int i = 0; i < 3; i++) {
            bs[i] = v * b[i];
        }
        for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
            const FilOutcome outcome = solve3(s, W, b, mu, r), scaled = solve3(s, Ws, bs, mu, rs);
            CHECK(!is_safe(s) || outcome == scaled);
            const bool comparable = outcome == FIL_CONVERGED && scaled == FIL_CONVERGED;
            for (int i = 0; i < 3 && comparable && is_safe(s); i++) {
                CHECK_NEAR(rs[i] * (w / v), r[i], 1e-8, 1e-8 * r[0] + 1e-15);
            }
        }
    }
}

static void the_answer_turns_with_the_tangent_basis(void) {
    FilRandom random = fil_random_make(19);
    for (int k = 0; k < 3000; k++) {
        double W[9], b[3], r[3], TW[9], Wt[9], bt[3], rt[3];
        fil_generate_local(&random, 3, 1e3, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        const double angle = fil_random_uniform(&random, 0.0, 6.3), c = cos(angle), s = sin(angle);
        const double T[9] = {1, 0, 0, 0, c, -s, 0, s, c};
        for (int i = 0; i < 9; i++) {
            TW[i] = 0.0;
            for (int j = 0; j < 3; j++) {
                TW[i] += T[i / 3 * 3 + j] * W[3 * j + i % 3];
            }
        }
        for (int i = 0; i < 9; i++) {
            Wt[i] = 0.0;
            for (int j = 0; j < 3; j++) {
                Wt[i] += TW[i / 3 * 3 + j] * T[i % 3 * 3 + j];
            }
        }
        for (int i = 0; i < 3; i++) {
            bt[i] = T[3 * i] * b[0] + T[3 * i + 1] * b[1] + T[3 * i + 2] * b[2];
        }
        CHECK(solve3(FIL_LOCAL_HYBRID, W, b, mu, r) == FIL_CONVERGED);
        CHECK(solve3(FIL_LOCAL_HYBRID, Wt, bt, mu, rt) == FIL_CONVERGED);
        for (int i = 0; i < 3; i++) {
            const double want = T[3 * i] * r[0] + T[3 * i + 1] * r[1] + T[3 * i + 2] * r[2];
            CHECK_NEAR(rt[i], want, 1e-8, 1e-8 * r[0]);
        }
    }
}

// ---- other sizes and kinds ----

static void every_kind_and_size_is_solved(void) {
    FilRandom random = fil_random_make(20);
    for (int kind = 0; kind < FIL_BLOCK_KIND_COUNT; kind++) {
        for (int k = 0; k < 3000; k++) {
            const int d = 1 + k % D;
            double W[D * D], b[D], r[D] = {0.0};
            fil_generate_local(&random, d, k % 5 == 0 ? 1e8 : 100.0, W, b);
            const double mu = k % 7 == 0 ? 0.0 : fil_random_uniform(&random, 0.0, 2.0);
            const FilLocalSolver solver = k % 2 == 0 ? FIL_LOCAL_HYBRID : FIL_LOCAL_HYBRID_NEWTON;
            CHECK(fil_local_solve(solver, (FilBlockKind)kind, d, W, b, mu, r, NULL) ==
                  FIL_CONVERGED);
            CHECK(residual_of((FilBlockKind)kind, d, W, b, mu, r) <= 1e-12);
        }
    }
}

// A cone block minimises r W r / 2 + b r over the cone: no point of it does better.
static void cone_blocks_minimise_their_energy(void) {
    FilRandom random = fil_random_make(21);
    for (int k = 0; k < 500; k++) {
        const int d = 2 + k % (D - 1);
        const FilBlockKind kind = k % 2 == 0 ? FIL_BLOCK_CONE : FIL_BLOCK_DUAL;
        double W[D * D], b[D], r[D] = {0.0}, x[D], u[D];
        fil_generate_local(&random, d, 50.0, W, b);
        const double mu = fil_random_uniform(&random, 0.05, 3.0);
        CHECK(fil_local_solve(FIL_LOCAL_HYBRID, kind, d, W, b, mu, r, NULL) == FIL_CONVERGED);
        const FilLocalBlock block = {kind, d, mu, W, b};
        fil_local_velocity(&block, r, u);
        for (int trial = 0; trial < 50; trial++) {
            double gain = 0.0, size = 1.0;
            for (int i = 0; i < d; i++) {
                x[i] = r[i] + fil_random_normal(&random);
            }
            fil_law_project(kind, d, mu, x, x);
            for (int i = 0; i < d; i++) {
                gain += u[i] * (x[i] - r[i]);
                size += fabs(u[i]) * (fabs(x[i]) + fabs(r[i]));
            }
            CHECK(gain >= -1e-11 * size);
        }
    }
}

// In the plane the problem is the linear complementarity problem of the two edges of the cone.
static void a_plane_contact_is_the_space_contact_in_a_plane(void) {
    FilRandom random = fil_random_make(22);
    for (int k = 0; k < 3000; k++) {
        double W2[4], b2[2], r2[2] = {0.0}, r3[3];
        fil_generate_local(&random, 2, 100.0, W2, b2);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        const double W3[9] = {W2[0], W2[1], 0, W2[2], W2[3], 0, 0, 0, 1};
        const double b3[3] = {b2[0], b2[1], 0};
        for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
            r2[0] = r2[1] = 0.0;
            const FilOutcome outcome =
                fil_local_solve((FilLocalSolver)s, FIL_BLOCK_COULOMB, 2, W2, b2, mu, r2, NULL);
            CHECK(outcome == FIL_CONVERGED || !is_safe(s));
            CHECK(outcome != FIL_CONVERGED ||
                  residual_of(FIL_BLOCK_COULOMB, 2, W2, b2, mu, r2) <= 1e-12);
        }
        r2[0] = r2[1] = 0.0;
        CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 2, W2, b2, mu, r2, NULL) ==
              FIL_CONVERGED);
        CHECK(solve3(FIL_LOCAL_ENUM, W3, b3, mu, r3) == FIL_CONVERGED);
        CHECK_NEAR(r2[0], r3[0], 1e-10, 1e-12);
        CHECK_NEAR(r2[1], r3[1], 1e-10, 1e-12);
    }
}

// Coulomb blocks of size 4 to 6 that live in a 3-dimensional subspace have the answer of size 3.
static void larger_blocks_contain_the_contact_of_size_three(void) {
    FilRandom random = fil_random_make(23);
    for (int k = 0; k < 1000; k++) {
        const int d = 4 + k % 3;
        double W[9], b[3], r[3], Wd[D * D] = {0.0}, bd[D] = {0.0}, rd[D] = {0.0};
        double solution[FIL_LOCAL_SOLUTIONS][D];
        fil_generate_local(&random, 3, 100.0, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, mu, W, b};
        if (fil_local_enumerate(&block, solution, NULL) != 1) {
            continue;
        }
        for (int i = 0; i < d; i++) {
            Wd[(d + 1) * i] = 1.0;
        }
        for (int i = 0; i < 3; i++) {
            bd[i] = b[i];
            for (int j = 0; j < 3; j++) {
                Wd[d * i + j] = W[3 * i + j];
            }
        }
        CHECK(solve3(FIL_LOCAL_HYBRID, W, b, mu, r) == FIL_CONVERGED);
        CHECK(fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, d, Wd, bd, mu, rd, NULL) ==
              FIL_CONVERGED);
        for (int i = 0; i < d; i++) {
            CHECK_NEAR(rd[i], i < 3 ? r[i] : 0.0, 1e-9, 1e-10 * (1.0 + r[0]));
        }
    }
}

// The scalar equation alone, without Newton before it.
static void the_scalar_equation_solves_every_boundary_case(void) {
    FilRandom random = fil_random_make(24);
    for (int k = 0; k < 4000; k++) {
        const int d = 2 + k % (D - 1);
        const FilBlockKind kind =
            (FilBlockKind[]){FIL_BLOCK_COULOMB, FIL_BLOCK_CONE, FIL_BLOCK_DUAL}[k % 3];
        double W[D * D], b[D], r[D] = {0.0};
        fil_generate_local(&random, d, 1e4, W, b);
        const FilLocalBlock block = {kind, d, fil_random_uniform(&random, 0.05, 2.0), W, b};
        if (b[0] >= 0.0 && kind == FIL_BLOCK_COULOMB) {
            continue;
        }
        if (fil_local_residual(&block, r) <= 1e-12 || fil_local_stick(&block, r)) {
            continue;
        }
        CHECK(fil_local_secular(&block, r));
        CHECK(fil_local_residual(&block, r) <= 1e-12);
    }
}

// ---- the pyramid ----

// Its error falls as the width of a facet; with W = I the slide along a corner is exact.
static void the_pyramid_tends_to_the_cone(void) {
    FilRandom random = fil_random_make(25);
    double error[3] = {0.0};
    for (int k = 0; k < 400; k++) {
        double W[9], b[3], r[3], exact[3], solution[FIL_LOCAL_SOLUTIONS][D];
        fil_generate_local(&random, 3, 5.0, W, b);
        const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, 0.4, W, b};
        if (fil_local_enumerate(&block, solution, NULL) != 1) {
            continue;
        }
        memcpy(exact, solution[0], sizeof exact);
        for (int level = 0; level < 3; level++) {
            CHECK(fil_local_linearised(&block, 8 << (2 * level), r) == FIL_CONVERGED);
            for (int i = 0; i < 3; i++) {
                error[level] += fabs(r[i] - exact[i]);
            }
        }
    }
    // the direction is off by up to half a facet, the length by its square
    CHECK(error[1] < 0.4 * error[0] && error[2] < 0.4 * error[1]);
    const double b[3] = {-1.0, 3.0, 0.0};
    const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, 0.3, identity, b};
    double r[3];
    CHECK(fil_local_linearised(&block, 3, r) == FIL_CONVERGED);
    CHECK(fil_local_linearised(&block, 8, r) == FIL_CONVERGED);
    CHECK_NEAR(r[1], -0.3, 1e-14, 0.0);
}

// ---- robustness ----

// Any finite input, whatever its size, gives finite numbers.
static void finite_input_never_gives_nan(void) {
    FilRandom random = fil_random_make(26);
    const double special[] = {0.0, 1.0, -1.0, 1e150, -1e150, 1e-150, -1e-150, 1e-308, 1e300, 0.5};
    for (int k = 0; k < 60000; k++) {
        const int d = 1 + fil_random_int(&random, D);
        double W[D * D] = {0.0}, b[D], r[D];
        for (int i = 0; i < d * d; i++) {
            W[i] = special[fil_random_int(&random, 10)];
        }
        for (int i = 0; i < d; i++) {
            b[i] = special[fil_random_int(&random, 10)];
            r[i] = special[fil_random_int(&random, 10)];
            W[(d + 1) * i] = fabs(W[(d + 1) * i]);
        }
        if (k % 3 == 0) { // symmetric, with zero rows
            for (int i = 0; i < d; i++) {
                for (int j = 0; j < i; j++) {
                    W[d * i + j] = W[d * j + i] =
                        W[(d + 1) * i] * W[(d + 1) * j] == 0.0 ? 0.0 : W[d * i + j];
                }
            }
        }
        const double mu = (double[]){0.0, 0.3, 1e150, 1e-150, 2.0}[k % 5];
        const FilLocalSolver solver =
            (FilLocalSolver)fil_random_int(&random, FIL_LOCAL_SOLVER_COUNT);
        const FilBlockKind kind = (FilBlockKind)fil_random_int(&random, FIL_BLOCK_KIND_COUNT);
        (void)fil_local_solve(solver, kind, d, W, b, mu, r, NULL);
        for (int i = 0; i < d; i++) {
            CHECK(isfinite(r[i]));
        }
    }
}

// Positive definite blocks in the most unlikely units are solved like any other.
static void extreme_units_are_solved(void) {
    FilRandom random = fil_random_make(27);
    for (int k = 0; k < 3000; k++) {
        double W[9], b[3], r[3];
        fil_generate_local(&random, 3, 100.0, W, b);
        const double mu = fil_random_uniform(&random, 0.0, 2.0);
        const int w = fil_random_int(&random, 900) - 450, v = fil_random_int(&random, 900) - 450;
        double Ws[9], bs[3], rs[3];
        for (int i = 0; i < 9; i++) {
            Ws[i] = ldexp(W[i], w);
        }
        for (int i = 0; i < 3; i++) {
            bs[i] = ldexp(b[i], v);
        }
        CHECK(solve3(FIL_LOCAL_HYBRID, W, b, mu, r) == FIL_CONVERGED);
        CHECK(solve3(FIL_LOCAL_HYBRID, Ws, bs, mu, rs) == FIL_CONVERGED);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(ldexp(rs[i], w - v), r[i], 1e-9, 1e-9 * r[0]);
        }
    }
}

#define TESTS(X)                                             \
    X(golden_values_of_every_exact_solver)                   \
    X(a_block_on_an_incline_sticks_up_to_the_friction_angle) \
    X(every_branch_tie_has_an_answer)                        \
    X(no_friction_and_endless_friction)                      \
    X(three_coexisting_solutions_are_all_found)              \
    X(no_solution_is_certified)                              \
    X(singular_blocks_are_solved_where_they_can_be)          \
    X(hybrid_solves_random_contacts_to_rounding)             \
    X(a_wild_guess_does_no_harm)                             \
    X(exact_solvers_agree)                                   \
    X(unsymmetric_blocks_are_taken_as_they_are)              \
    X(the_answer_does_not_depend_on_units)                   \
    X(the_answer_turns_with_the_tangent_basis)               \
    X(every_kind_and_size_is_solved)                         \
    X(cone_blocks_minimise_their_energy)                     \
    X(a_plane_contact_is_the_space_contact_in_a_plane)       \
    X(larger_blocks_contain_the_contact_of_size_three)       \
    X(the_scalar_equation_solves_every_boundary_case)        \
    X(the_pyramid_tends_to_the_cone)                         \
    X(finite_input_never_gives_nan)                          \
    X(extreme_units_are_solved)

CHECK_MAIN(TESTS)
