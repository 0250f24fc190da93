#include "base/random.h"
#include "check.h"
#include "friction/law.h"

#define D FIL_BLOCK_MAX

static double dot(int d, const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < d; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double norm(int d, const double *a) {
    return sqrt(dot(d, a, a));
}

static void draw(FilRandom *random, int d, double *x) {
    for (int i = 0; i < d; i++) {
        x[i] = fil_random_normal(random);
    }
}

static const double frictions[] = {0.0, 1e-6, 0.3, 1.0, 2.0, 1e6};
#define FRICTION_COUNT ((int)(sizeof frictions / sizeof *frictions))

// The kind whose impulse cone is the dual of the impulse cone of `kind`.
static FilBlockKind dual_of(FilBlockKind kind) {
    switch (kind) {
    case FIL_BLOCK_COULOMB:
    case FIL_BLOCK_CONE:
        return FIL_BLOCK_DUAL;
    case FIL_BLOCK_DUAL:
        return FIL_BLOCK_CONE;
    case FIL_BLOCK_EQUALITY:
        return FIL_BLOCK_FREE;
    case FIL_BLOCK_FREE:
        return FIL_BLOCK_EQUALITY;
    default:
        return kind;
    }
}

// Moreau: x = P_K(x) - P_K*(-x), and the two parts are orthogonal. This holds for the projection
// onto a closed convex cone and for nothing else.
static void projection_satisfies_moreaus_decomposition(void) {
    FilRandom random = fil_random_make(1);
    for (int kind = 0; kind < FIL_BLOCK_BALL; kind++) { // the ball is no cone: below
        for (int k = 0; k < 200 * FRICTION_COUNT; k++) {
            const int d = 1 + fil_random_int(&random, D);
            const double mu = frictions[k % FRICTION_COUNT];
            double x[D], minus[D], p[D], q[D];
            draw(&random, d, x);
            for (int i = 0; i < d; i++) {
                minus[i] = -x[i];
            }
            fil_law_project((FilBlockKind)kind, d, mu, x, p);
            fil_law_project(dual_of((FilBlockKind)kind), d, mu, minus, q);
            for (int i = 0; i < d; i++) {
                CHECK_NEAR(p[i] - q[i], x[i], 0.0, 1e-14 * norm(d, x));
            }
            CHECK_NEAR(dot(d, p, q), 0.0, 0.0, 1e-14 * dot(d, x, x));
            fil_law_project((FilBlockKind)kind, d, mu, x, x);
            CHECK(memcmp(x, p, (size_t)d * sizeof *x) == 0);
        }
    }
}

static void projection_at_the_ties_of_its_branches(void) {
    double p[3];
    const double apex[3] = {0.0}, boundary[3] = {1.0, 0.3, 0.4}, polar[3] = {-1.0, 0.6, 0.8};
    const double axis[3] = {2.0, 0.0, 0.0}, below[3] = {-2.0, 0.0, 0.0};
    fil_law_project(FIL_BLOCK_COULOMB, 3, 0.5, apex, p);
    CHECK(norm(3, p) == 0.0);
    fil_law_project(FIL_BLOCK_COULOMB, 3, 0.5, boundary, p);
    CHECK_NEAR(p[0], 1.0, 1e-15, 0.0);
    CHECK_NEAR(p[2], 0.4, 1e-15, 0.0);
    fil_law_project(FIL_BLOCK_COULOMB, 3, 1.0, polar, p);
    CHECK_NEAR(norm(3, p), 0.0, 0.0, 1e-15);
    for (int k = 0; k < FRICTION_COUNT; k++) {
        fil_law_project(FIL_BLOCK_COULOMB, 3, frictions[k], axis, p);
        CHECK(p[0] == 2.0 && p[1] == 0.0);
        fil_law_project(FIL_BLOCK_COULOMB, 3, frictions[k], below, p);
        CHECK(norm(3, p) == 0.0);
        fil_law_project(FIL_BLOCK_DUAL, 3, frictions[k], axis, p);
        CHECK(p[0] == 2.0 && p[1] == 0.0);
        fil_law_project(FIL_BLOCK_DUAL, 3, frictions[k], below, p);
        CHECK(norm(3, p) == 0.0);
    }
}

// Lawful pairs of every kind and regime: 0 take-off, 1 stick, 2 boundary.
static void draw_lawful(FilRandom *random, FilBlockKind kind, int d, double mu, int regime,
                        double *u, double *r) {
    double t[D] = {0.0};
    draw(random, d, t);
    t[0] = 0.0;
    const double length = norm(d, t), q = 0.1 + fil_random_uniform(random, 0.0, 2.0);
    const double v = 0.1 + fil_random_uniform(random, 0.0, 2.0);
    const bool dual = kind == FIL_BLOCK_DUAL;
    for (int i = 0; i < d; i++) {
        u[i] = r[i] = 0.0;
        const double direction = i > 0 ? t[i] / length : 0.0;
        if (kind == FIL_BLOCK_BALL) { // in the middle, at the boundary, there and slipping
            r[i] = mu * (regime == 0 ? 0.5 : 1.0) * (i == 0 ? 0.6 : d == 1 ? 1.0 : 0.8 * direction);
            r[i] = d == 1 ? r[i] / 0.6 : r[i];
            u[i] = regime == 2 || mu == 0.0 ? -v * r[i] + (mu == 0.0 ? v + i : 0.0) : 0.0;
        } else if (kind == FIL_BLOCK_EQUALITY) {
            r[i] = fil_random_normal(random);
        } else if (kind == FIL_BLOCK_FREE) {
            u[i] = fil_random_normal(random);
        } else if (kind == FIL_BLOCK_UNILATERAL) {
            *(fil_random_int(random, 2) == 0 ? &u[i] : &r[i]) = v + i;
        } else if (regime == 0) { // u inside the dual cone; for coulomb any u_N >= 0 will do
            u[i] = i > 0 ? v * direction : dual ? 1.5 * v / (mu + 1e-9) : (1.0 + mu) * v;
        } else if (regime == 1) { // half-way to the boundary
            r[i] = i > 0 ? 0.5 * q * direction * (dual ? 1.0 : mu) : (dual ? mu : 1.0) * q;
        } else {
            r[i] = i > 0 ? q * direction * (dual ? 1.0 : mu) : (dual ? mu : 1.0) * q;
            u[i] = i > 0 ? -v * direction * (dual ? mu : 1.0)
                         : v * (dual                        ? 1.0
                                : kind == FIL_BLOCK_COULOMB ? 0.0
                                                            : mu);
        }
    }
    if (d == 1 && regime == 2 && kind != FIL_BLOCK_EQUALITY && kind != FIL_BLOCK_BALL) {
        r[0] = kind == FIL_BLOCK_FREE ? 0.0 : r[0];
        u[0] = r[0] > 0.0 ? 0.0 : u[0];
    }
}

static double function_norm(FilNewtonFunction f, const FilLawPoint *at) {
    double F[D];
    fil_law_function(f, at, F, NULL, NULL);
    return norm(at->d, F);
}

static void every_function_vanishes_on_lawful_pairs_and_only_there(void) {
    FilRandom random = fil_random_make(2);
    for (int kind = 0; kind < FIL_BLOCK_KIND_COUNT; kind++) {
        for (int k = 0; k < 2000; k++) {
            const double mu = (double[]){0.0, 0.3, 1.0, 2.0}[k % 4];
            const int d = 1 + fil_random_int(&random, D);
            double u[D], r[D];
            draw_lawful(&random, (FilBlockKind)kind, d, mu, k % 3, u, r);
            if (kind == FIL_BLOCK_DUAL && mu == 0.0) {
                for (int i = 1; i < d; i++) { // r_N >= 0, r_T free, u_T = 0
                    u[i] = 0.0;
                }
                r[0] = 0.0;
            }
            if ((kind == FIL_BLOCK_CONE || kind == FIL_BLOCK_DUAL) && k % 3 == 0 && mu == 0.0) {
                u[0] = 1.0;
            }
            FilLawPoint at = {.kind = (FilBlockKind)kind, .d = d, .mu = mu, .u = u, .r = r};
            at.rho = fil_random_uniform(&random, 0.1, 3.0);
            for (int f = 0; f < FIL_NEWTON_FUNCTION_COUNT; f++) {
                CHECK_NEAR(function_norm((FilNewtonFunction)f, &at), 0.0, 0.0, 1e-12);
            }
            CHECK_NEAR(fil_law_natural(at.kind, d, mu, at.rho, u, r, NULL), 0.0, 0.0, 1e-24);
            u[0] += kind == FIL_BLOCK_FREE ? 0.0 : norm(d, r) > 0.0 ? 0.5 : -20.0;
            u[0] += kind == FIL_BLOCK_BALL ? 20.0 : 0.0; // with r, not against it
            r[0] += kind == FIL_BLOCK_FREE ? 0.5 : 0.0;
            const double broken = fil_law_natural(at.kind, d, mu, at.rho, u, r, NULL);
            for (int f = 0; f < FIL_NEWTON_FUNCTION_COUNT; f++) {
                CHECK((broken > 1e-20) == (function_norm((FilNewtonFunction)f, &at) > 1e-10));
            }
        }
    }
}

// F as it is defined, r - P(r - rho ut), with the rounding errors that this brings.
static void plain_natural(const FilLawPoint *at, double *F) {
    double x[D];
    fil_law_shift(at->kind, at->d, at->mu, at->u, x);
    for (int i = 0; i < at->d; i++) {
        x[i] = at->r[i] - at->rho * x[i];
    }
    fil_law_project(at->kind, at->d, at->mu, x, F);
    for (int i = 0; i < at->d; i++) {
        F[i] = at->r[i] - F[i];
    }
}

static void natural_map_is_what_it_is_defined_as(void) {
    FilRandom random = fil_random_make(7);
    for (int k = 0; k < 20000; k++) {
        double u[D], r[D], F[D], want[D];
        const int d = 1 + k % D;
        draw(&random, d, u);
        draw(&random, d, r);
        const FilLawPoint at = {.kind = (FilBlockKind)fil_random_int(&random, FIL_BLOCK_KIND_COUNT),
                                .d = d,
                                .mu = frictions[fil_random_int(&random, FRICTION_COUNT)],
                                .rho = fil_random_uniform(&random, 0.1, 3.0),
                                .u = u,
                                .r = r};
        plain_natural(&at, want);
        const double square = fil_law_natural(at.kind, d, at.mu, at.rho, u, r, F);
        const double unit = norm(d, r) + at.rho * (1.0 + at.mu) * norm(d, u);
        CHECK_NEAR(square, dot(d, F, F), 0.0, 0.0);
        for (int i = 0; i < d; i++) {
            CHECK_NEAR(F[i], want[i], 0.0, 4e-15 * unit);
        }
    }
}

// Impulses that ran away along a direction that W does not see: the velocity is still wrong.
static void natural_map_sees_velocities_beside_huge_impulses(void) {
    const double inside[3] = {1e19, 1e18, 0.0}, edge[3] = {1e19, 5e18, 0.0};
    const double down[3] = {-1.0, 0.0, 0.0}, across[3] = {0.0, 0.0, 0.25};
    double F[3];
    for (int kind = 0; kind < FIL_BLOCK_KIND_COUNT; kind++) {
        if (kind == FIL_BLOCK_FREE || kind == FIL_BLOCK_BALL) { // no impulse is huge in a ball
            continue;
        }
        CHECK(fil_law_natural((FilBlockKind)kind, 3, 0.5, 2.0, down, inside, F) == 4.0);
        CHECK(F[0] == -2.0 && F[1] == 0.0 && F[2] == 0.0);
    }
    CHECK(fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, 0.5, 2.0, down, inside, F) == 4.0);
    // sliding across the impulse: no Coulomb friction looks like that
    CHECK(fil_law_natural(FIL_BLOCK_COULOMB, 3, 0.5, 2.0, across, edge, F) >= 0.25);
    CHECK_NEAR(F[2], 0.5, 1e-15, 0.0);
}

// Seed 001, app. A and M4: components of P(r - rho u) - r, whose sign ours turns.
static void alart_curnier_has_the_values_of_its_proof(void) {
    double F[3];
    const double mu = 0.3, none[3] = {0.0};
    const double up[3] = {2.0, 1.0, -1.0}, stuck[3] = {1.0, 0.1, -0.2};
    CHECK(fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, mu, 1.0, up, none, F) == 0.0);
    CHECK(fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, mu, 1.0, none, stuck, F) == 0.0);
    const double u[3] = {0.0, 2.82, 3.76}, r[3] = {1.0, -0.18, -0.24};
    CHECK_NEAR(fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, mu, 1.0, u, r, F), 0.0, 0.0, 1e-30);
    // normal row: r_N where r_N < rho u_N, rho u_N otherwise; stick: rho u_T; empty ball: r_T
    const double u1[3] = {3.0, 0.01, 0.02}, r1[3] = {1.0, 0.1, 0.1};
    (void)fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, mu, 0.5, u1, r1, F);
    CHECK_NEAR(F[0], 1.0, 1e-15, 0.0);
    CHECK_NEAR(F[1], 0.005, 1e-13, 0.0);
    const double r2[3] = {-1.0, 0.1, 0.1};
    (void)fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, mu, 0.5, u1, r2, F);
    CHECK_NEAR(F[0], -1.0, 1e-15, 0.0);
    CHECK_NEAR(F[2], 0.1, 1e-15, 0.0);
    const double u3[3] = {0.5, -3.0, -4.0}, r3[3] = {2.0, 0.0, 0.0};
    (void)fil_law_alart_curnier(FIL_BLOCK_COULOMB, 3, mu, 1.0, u3, r3, F);
    CHECK_NEAR(F[0], 0.5, 1e-15, 0.0);
    CHECK_NEAR(F[1], -0.36, 1e-15, 0.0); // slide: r_T - delta y / |y|
    CHECK_NEAR(F[2], -0.48, 1e-15, 0.0);
}

// Largest difference between the Jacobians at `at` and central differences of step h.
static double difference(FilNewtonFunction f, const FilLawPoint *at, double h, const double *Fu,
                         const double *Fr) {
    const int d = at->d;
    double worst = 0.0;
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < d; j++) {
            double u[2][D], r[2][D], F[2][D];
            for (int s = 0; s < 2; s++) {
                memcpy(u[s], at->u, (size_t)d * sizeof(double));
                memcpy(r[s], at->r, (size_t)d * sizeof(double));
                (side == 0 ? u[s] : r[s])[j] += s == 0 ? -h : h;
                FilLawPoint moved = *at;
                moved.u = u[s];
                moved.r = r[s];
                fil_law_function(f, &moved, F[s], NULL, NULL);
            }
            for (int i = 0; i < d; i++) {
                const double slope = (F[1][i] - F[0][i]) / (2.0 * h);
                worst = fmax(worst, fabs(slope - (side == 0 ? Fu : Fr)[d * i + j]));
            }
        }
    }
    return worst;
}

// Is every branch and every direction of the functions settled within h of this point?
static bool is_smooth(const FilLawPoint *at, double h) {
    const int d = at->d;
    const double *u = at->u, *r = at->r;
    double x[D], y[D], a[D];
    fil_law_shift(at->kind, d, at->mu, u, x);
    for (int i = 0; i < d; i++) {
        x[i] = r[i] - at->rho * x[i];
        y[i] = r[i] - at->rho * u[i];
        a[i] = at->rho * u[i];
        if (at->kind == FIL_BLOCK_UNILATERAL && (fabs(y[i]) < h || hypot(a[i], r[i]) < h)) {
            return false;
        }
    }
    const double tx = norm(d - 1, x + 1), ty = norm(d - 1, y + 1), mu = at->mu;
    const double ray[4] = {tx - mu * x[0], mu * tx + x[0], mu * tx - x[0], tx + mu * x[0]};
    for (int i = 0; i < 4; i++) {
        if (fabs(ray[i]) < h) {
            return false;
        }
    }
    return fabs(y[0]) > h && fabs(ty - mu * r[0]) > h && fabs(r[0]) > h && tx > h && ty > h &&
           norm(d - 1, u + 1) > h && hypot(u[0], r[0]) > h;
}

static void jacobians_agree_with_central_differences_at_second_order(void) {
    FilRandom random = fil_random_make(4);
    for (int f = 0; f < FIL_NEWTON_FUNCTION_COUNT; f++) {
        for (int kind = 0; kind < FIL_BLOCK_KIND_COUNT; kind++) {
            double coarse = 0.0, fine = 0.0;
            for (int k = 0; k < 600; k++) {
                const int d = k % 2 == 0 ? 3 : 2 + fil_random_int(&random, D - 1);
                double u[D], r[D], F[D], Fu[D * D], Fr[D * D];
                draw(&random, d, u);
                draw(&random, d, r);
                FilLawPoint at = {.kind = (FilBlockKind)kind, .d = d, .u = u, .r = r};
                at.mu = k % 7 == 0 ? 0.0 : fil_random_uniform(&random, 0.1, 1.5);
                at.rho = fil_random_uniform(&random, 0.5, 2.0);
                at.epsilon = k % 3 == 0 ? 0.5 : 0.0;
                if (!is_smooth(&at, 0.2)) {
                    continue;
                }
                fil_law_function((FilNewtonFunction)f, &at, F, Fu, Fr);
                coarse += difference((FilNewtonFunction)f, &at, 2e-3, Fu, Fr);
                fine += difference((FilNewtonFunction)f, &at, 1e-3, Fu, Fr);
            }
            CHECK(fine < 1e-2);
            if (fine > 1e-6) { // else piecewise linear: the differences are exact
                CHECK_NEAR(coarse / fine, 4.0, 0.05, 0.0);
            } else {
                CHECK(coarse < 1e-6);
            }
        }
    }
}

// The nearest point p of a convex set: (x - p).(q - p) <= 0 for every q of it.
static void projection_on_a_ball_is_its_nearest_point(void) {
    FilRandom random = fil_random_make(8);
    for (int k = 0; k < 200 * FRICTION_COUNT; k++) {
        const int d = 1 + k % D;
        const double radius = frictions[k % FRICTION_COUNT];
        double x[D], y[D], p[D], q[D], J[D * D];
        draw(&random, d, x);
        draw(&random, d, y);
        fil_law_project_jacobian(FIL_BLOCK_BALL, d, radius, x, p, J);
        fil_law_project(FIL_BLOCK_BALL, d, radius, y, q);
        CHECK(norm(d, p) <= (1.0 + 1e-15) * radius);
        double along = 0.0;
        for (int i = 0; i < d; i++) {
            along += (x[i] - p[i]) * (q[i] - p[i]);
            // along x nothing moves outside, inside everything does
            CHECK_NEAR(dot(d, J + d * i, x), norm(d, x) > radius ? 0.0 : x[i], 0.0, 1e-14);
        }
        CHECK(along <= 1e-15 * radius * norm(d, x));
    }
}

static void projection_jacobian_is_that_of_the_natural_map(void) {
    FilRandom random = fil_random_make(5);
    for (int k = 0; k < 300; k++) {
        double x[3], p[3], J[9], q[3];
        const FilBlockKind kind = k % 2 == 0 ? FIL_BLOCK_CONE : FIL_BLOCK_DUAL;
        draw(&random, 3, x);
        fil_law_project_jacobian(kind, 3, 0.7, x, p, J);
        fil_law_project(kind, 3, 0.7, x, q);
        for (int i = 0; i < 3; i++) { // P is positively homogeneous: J x = P x
            CHECK(p[i] == q[i]);
            CHECK_NEAR(dot(3, J + 3 * i, x), p[i], 0.0, 1e-14);
            CHECK_NEAR(J[3 * i + (i + 1) % 3], J[3 * ((i + 1) % 3) + i], 0.0, 1e-15);
        }
    }
}

static bool all_finite(int n, const double *x) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

// All ties: every component of u and r from a list of special values.
static void functions_and_jacobians_are_finite_at_every_tie(void) {
    const double special[] = {0.0, 1.0, -1.0, 0.5, 1e-150, -1e150};
    for (int k = 0; k < 6 * 6 * 6 * 6 * 6 * 6; k++) {
        double u[3], r[3], F[3], Fu[9], Fr[9];
        for (int i = 0, code = k; i < 3; i++, code /= 36) {
            u[i] = special[code % 6];
            r[i] = special[code / 6 % 6];
        }
        FilLawPoint at = {.d = 3, .rho = 1.0, .u = u, .r = r};
        at.kind = (FilBlockKind)(k % FIL_BLOCK_KIND_COUNT);
        at.mu = (double[]){0.0, 0.5, 1.0}[k % 3];
        for (int f = 0; f < FIL_NEWTON_FUNCTION_COUNT; f++) {
            fil_law_function((FilNewtonFunction)f, &at, F, Fu, Fr);
            CHECK(all_finite(3, F) && all_finite(9, Fu) && all_finite(9, Fr));
        }
    }
}

// At u = r = 0 both Jacobians of Fischer-Burmeister are (1 - 1/sqrt2) times the scaling.
static void fischer_burmeister_at_the_origin_takes_a_regular_element(void) {
    const double zero[3] = {0.0}, mu = 0.4;
    double F[3], Fu[9], Fr[9];
    const FilLawPoint at = {FIL_BLOCK_COULOMB, 3, mu, 2.0, 0.0, zero, zero};
    fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, F, Fu, Fr);
    const double part = 1.0 - sqrt(0.5);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            CHECK_NEAR(Fu[3 * i + j], i == j ? part * 2.0 * (i == 0 ? 1.0 : mu) : 0.0, 1e-15,
                       1e-16);
            CHECK_NEAR(Fr[3 * i + j], i == j ? part * (i == 0 ? mu : 1.0) : 0.0, 1e-15, 1e-16);
        }
    }
}

// The textbook square root would leave eps / distance here.
static void fischer_burmeister_keeps_its_digits_near_the_boundary(void) {
    for (double inside = 1e-3; inside > 1e-15; inside *= 0.1) {
        const double mu = 0.5, r[3] = {2.0, 0.6 * (1.0 - inside), 0.8 * (1.0 - inside)};
        const double zero[3] = {0.0};
        double F[3];
        const FilLawPoint at = {FIL_BLOCK_COULOMB, 3, mu, 1.0, 0.0, zero, r};
        fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, F, NULL, NULL);
        CHECK(norm(3, F) <= 1e-15);
    }
}

static void smoothed_fischer_burmeister_tends_to_the_exact_one(void) {
    FilRandom random = fil_random_make(6);
    for (int k = 0; k < 1000; k++) {
        double u[3], r[3], exact[3], smooth[3];
        draw(&random, 3, u);
        draw(&random, 3, r);
        FilLawPoint at = {FIL_BLOCK_COULOMB, 3, 0.6, 1.0, 0.0, u, r};
        fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, exact, NULL, NULL);
        for (double epsilon = 1.0; epsilon > 1e-9; epsilon *= 0.1) {
            at.epsilon = epsilon;
            fil_law_function(FIL_FUNCTION_FISCHER_BURMEISTER, &at, smooth, NULL, NULL);
            for (int i = 0; i < 3; i++) { // sqrt(l + 2 eps^2) - sqrt(l) <= sqrt2 eps
                CHECK(fabs(smooth[i] - exact[i]) <= sqrt(2.0) * epsilon + 1e-15);
            }
        }
    }
}

static void functions_do_not_depend_on_units(void) {
    FilRandom random = fil_random_make(7);
    for (int k = 0; k < 300; k++) {
        const double velocity = ldexp(1.0, 20), impulse = ldexp(1.0, -30);
        double u[3], r[3], us[3], rs[3], F[3], Fs[3], Fu[9], Fr[9], Fus[9], Frs[9];
        draw(&random, 3, u);
        draw(&random, 3, r);
        for (int i = 0; i < 3; i++) {
            us[i] = velocity * u[i];
            rs[i] = impulse * r[i];
        }
        for (int f = 0; f < FIL_NEWTON_FUNCTION_COUNT; f++) {
            const FilLawPoint at = {FIL_BLOCK_COULOMB, 3, 0.6, 0.7, 0.0, u, r};
            const FilLawPoint scaled = {
                FIL_BLOCK_COULOMB, 3, 0.6, 0.7 * impulse / velocity, 0.0, us, rs};
            fil_law_function((FilNewtonFunction)f, &at, F, Fu, Fr);
            fil_law_function((FilNewtonFunction)f, &scaled, Fs, Fus, Frs);
            for (int i = 0; i < 9; i++) {
                CHECK(i >= 3 || Fs[i] == impulse * F[i]);
                CHECK(Fus[i] == impulse / velocity * Fu[i] && Frs[i] == Fr[i]);
            }
        }
    }
}

#define TESTS(X)                                                \
    X(projection_satisfies_moreaus_decomposition)               \
    X(projection_at_the_ties_of_its_branches)                   \
    X(every_function_vanishes_on_lawful_pairs_and_only_there)   \
    X(natural_map_is_what_it_is_defined_as)                     \
    X(natural_map_sees_velocities_beside_huge_impulses)         \
    X(alart_curnier_has_the_values_of_its_proof)                \
    X(jacobians_agree_with_central_differences_at_second_order) \
    X(projection_on_a_ball_is_its_nearest_point)                \
    X(projection_jacobian_is_that_of_the_natural_map)           \
    X(functions_and_jacobians_are_finite_at_every_tie)          \
    X(fischer_burmeister_at_the_origin_takes_a_regular_element) \
    X(fischer_burmeister_keeps_its_digits_near_the_boundary)    \
    X(smoothed_fischer_burmeister_tends_to_the_exact_one)       \
    X(functions_do_not_depend_on_units)

CHECK_MAIN(TESTS)
