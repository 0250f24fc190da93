// Helix and clothoid as whole rods: derivatives, velocity terms, known values.
#include "math/cholesky.h"
#include "reduced_rods.h"

// Central differences of f along random directions: their error must fall as h^2.
static void the_gradient_is_that_of_the_energy(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = loaded_def(models[k % 2], 4, root_kinds[k / 2]);
        FilRod *rod = make_rod(&def);
        shake(rod, 3.0, 0.0, 11 + (uint64_t)k);
        int n = rod->dof_count;
        double gradient[MAX_DOFS], dx[MAX_DOFS], back[MAX_DOFS], state[500], previous = 0.0;
        rod->table->gradient(rod, gradient);
        FilRandom random = fil_random_make(5);
        double direction[MAX_DOFS], slope = 0.0;
        for (int i = 0; i < n; i++) {
            direction[i] = noise(&random);
            slope += direction[i] * gradient[i];
        }
        fil_rod_get_state(rod, state);
        for (int level = 0; level < 2; level++) {
            double h = level == 0 ? 0.02 : 0.01;
            for (int i = 0; i < n; i++) {
                dx[i] = h * direction[i];
                back[i] = -dx[i];
            }
            rod->table->move(rod, dx);
            double up = potential(rod);
            CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
            rod->table->move(rod, back);
            double down = potential(rod);
            CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
            double off = fabs((up - down) / (2.0 * h) - slope);
            CHECK(off <= 0.01 * fabs(slope) + 1e-2);
            if (level == 1) {
                CHECK_NEAR(previous / off, 4.0, 0.15, 0.0);
            }
            previous = off;
        }
        fil_rod_destroy(rod);
    }
}

// Off by how much is H direction from the difference of gradients over 2 h?
static double hessian_error(FilRod *rod, const double *direction, double h, const double *want) {
    int n = rod->dof_count;
    double dx[MAX_DOFS], up[MAX_DOFS] = {0.0}, down[MAX_DOFS] = {0.0}, state[500];
    fil_rod_get_state(rod, state);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < n; i++) {
            dx[i] = sign * h * direction[i];
        }
        rod->table->move(rod, dx);
        rod->table->gradient(rod, sign > 0 ? up : down);
        CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
    }
    for (int i = 0; i < n; i++) {
        up[i] = (up[i] - down[i]) / (2.0 * h);
    }
    return difference(up, want, n);
}

static void the_hessian_is_that_of_the_energy(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = loaded_def(models[k % 2], 3, k < 2 ? FIL_END_CLAMPED : FIL_END_PINNED);
        FilRod *rod = make_rod(&def);
        shake(rod, k % 2 == 0 ? 2.0 : 9.0, 0.0, 21 + (uint64_t)k);
        int n = rod->dof_count;
        double *H = calloc((size_t)n * (size_t)n, sizeof *H), direction[MAX_DOFS] = {0.0};
        double want[MAX_DOFS] = {0.0};
        rod->table->hessian(rod, H);
        FilRandom random = fil_random_make(9);
        for (int j = 0; j < n; j++) {
            // the chart of a turning root is not flat: its gradient changes along the way
            direction[j] = j < fil_reduced(rod)->root ? 0.0 : noise(&random);
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                CHECK_NEAR(H[n * i + j], H[n * j + i], 1e-12, 1e-12);
                want[i] += H[n * i + j] * direction[j];
            }
        }
        double coarse = hessian_error(rod, direction, 0.02, want);
        double fine = hessian_error(rod, direction, 0.01, want);
        CHECK(fine <= 1e-2 * largest(want, n));
        CHECK_NEAR(coarse / fine, 4.0, 0.15, 0.0);
        free(H);
        fil_rod_destroy(rod);
    }
}

// Along any line x + h d in the chart of move(), the energy's second difference is d H d.
static void the_hessian_holds_for_a_free_root_too(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = loaded_def(models[k], 3, FIL_END_FREE);
        FilRod *rod = make_rod(&def);
        shake(rod, 2.0, 0.0, 31 + (uint64_t)k);
        int n = rod->dof_count;
        double *H = calloc((size_t)n * (size_t)n, sizeof *H), dx[MAX_DOFS], d[MAX_DOFS] = {0.0},
               state[500];
        rod->table->hessian(rod, H);
        FilRandom random = fil_random_make(9);
        double want = 0.0, previous = 0.0, here = potential(rod);
        for (int i = 0; i < n; i++) {
            d[i] = noise(&random);
        }
        for (int i = 0; i < n * n; i++) {
            want += d[i / n] * H[i] * d[i % n];
        }
        fil_rod_get_state(rod, state);
        for (int level = 0; level < 2; level++) {
            double h = level == 0 ? 0.04 : 0.02, sum = -2.0 * here;
            for (int sign = -1; sign <= 1; sign += 2) {
                for (int i = 0; i < n; i++) {
                    dx[i] = sign * h * d[i];
                }
                rod->table->move(rod, dx);
                sum += potential(rod);
                CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
            }
            double off = fabs(sum / (h * h) - want);
            CHECK(off <= 0.02 * fabs(want));
            if (level == 1) {
                CHECK_NEAR(previous / off, 4.0, 0.2, 0.0);
            }
            previous = off;
        }
        free(H);
        fil_rod_destroy(rod);
    }
}

// The Jacobian against differences of poses, and the rate of a section against J v.
static void the_jacobian_is_that_of_the_pose(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = loaded_def(models[k % 2], 5, root_kinds[k / 2]);
        FilRod *rod = make_rod(&def);
        shake(rod, 4.0, 1.0, 41 + (uint64_t)k);
        int n = rod->dof_count;
        double J[6 * MAX_DOFS], v[MAX_DOFS], dx[MAX_DOFS], state[500], worst[2];
        fil_rod_get_state(rod, state);
        rod->table->get_velocity(rod, v);
        rod->table->jacobian(rod, 3, 0.37, J);
        FilPose pose;
        FilRate rate;
        rod->table->at(rod, 3, 0.37, &pose, &rate);
        for (int level = 0; level < 2; level++) {
            double h = level == 0 ? 0.02 : 0.01, axis[2][3][3], place[2][3];
            for (int side = 0; side < 2; side++) {
                for (int i = 0; i < n; i++) {
                    dx[i] = (side == 0 ? -h : h) * v[i];
                }
                FilPose moved;
                rod->table->move(rod, dx);
                rod->table->at(rod, 3, 0.37, &moved, NULL);
                memcpy(axis[side], moved.axis, sizeof moved.axis);
                memcpy(place[side], moved.position, sizeof moved.position);
                CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
            }
            worst[level] = 0.0;
            for (int c = 0; c < 3; c++) {
                double sum = 0.0, turned[3];
                for (int i = 0; i < n; i++) {
                    sum += J[n * c + i] * v[i];
                }
                CHECK_NEAR(rate.velocity[c], sum, 1e-12, 1e-12);
                worst[level] =
                    fmax(worst[level], fabs((place[1][c] - place[0][c]) / (2.0 * h) - sum));
                fil_cross3(rate.spin, pose.axis[c], turned);
                for (int e = 0; e < 3; e++) {
                    double got = (axis[1][c][e] - axis[0][c][e]) / (2.0 * h);
                    worst[level] = fmax(worst[level], fabs(got - turned[e]));
                }
                sum = 0.0;
                for (int i = 0; i < n; i++) {
                    sum += J[n * (3 + c) + i] * v[i];
                }
                CHECK_NEAR(rate.spin[c], sum, 1e-12, 1e-12);
            }
        }
        CHECK(worst[1] <= 0.02);
        CHECK_NEAR(worst[0] / worst[1], 4.0, 0.1, 0.0);
        fil_rod_destroy(rod);
    }
}

static void assemble_mass(const FilRod *rod, double *M) {
    fil_reduced_pass(rod, &(FilReducedPass){.moving = true, .sums = true});
    fil_composite_assemble(rod, 0.0, M);
}

// v M v / 2 is the kinetic energy, here summed up from many sections.
static void the_mass_matrix_holds_the_kinetic_energy(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = loaded_def(models[k % 2], 3, root_kinds[k / 2]);
        FilRod *rod = make_rod(&def);
        shake(rod, 4.0, 1.0, 51 + (uint64_t)k);
        int n = rod->dof_count;
        double M[MAX_DOFS * 20], v[MAX_DOFS], half = 0.0, sum = 0.0;
        assemble_mass(rod, M);
        rod->table->get_velocity(rod, v);
        for (int i = 0; i < n * n; i++) {
            half += 0.5 * v[i / n] * M[i] * v[i % n];
        }
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        CHECK_NEAR(energy.kinetic, half, 1e-13, 0.0);
        const FilCollocation *rule = &fil_collocations[5];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 4 * rule->count; j++) {
                FilPose pose;
                FilRate rate;
                int quarter = j / rule->count;
                double u = (quarter + rule->nodes[j % rule->count]) / 4.0;
                rod->table->at(rod, i, u, &pose, &rate);
                double spin = fil_dot3(rate.spin, pose.axis[0]);
                sum += rule->weights[j % rule->count] * rod->lengths[i] / 8.0 *
                       (rod->sections[i].mass * fil_dot3(rate.velocity, rate.velocity) +
                        rod->sections[i].spin_inertia * spin * spin);
            }
        }
        CHECK_NEAR(sum, half, 1e-12, 0.0);
        fil_rod_destroy(rod);
    }
}

// A torque works on the spin of its section; its Hessian is the symmetric part of how that changes.
static void torques_are_generalised_forces(void) {
    static const double torque[3] = {0.4, -0.7, 0.9};
    for (int k = 0; k < 6; k++) {
        double gradient[2][MAX_DOFS], J[6 * MAX_DOFS], u;
        FilRodDef def = soft_def(models[k % 2], 4);
        def.root_end.kind = root_kinds[k / 2];
        FilRod *rod = make_rod(&def);
        shake(rod, 3.0, 0.0, 121);
        int n = rod->dof_count;
        FilRodLoad load = {.s = 0.9};
        fil_copy3(torque, load.torque);
        rod->table->gradient(rod, gradient[0]);
        CHECK(fil_rod_set_loads(rod, &load, 1, NULL) == FIL_OK);
        rod->table->gradient(rod, gradient[1]);
        int element = fil_rod_locate(rod, 0.9, &u);
        rod->table->jacobian(rod, element, u, J);
        for (int i = 0; i < n; i++) {
            double work =
                J[3 * n + i] * torque[0] + J[4 * n + i] * torque[1] + J[5 * n + i] * torque[2];
            CHECK_NEAR(gradient[1][i], gradient[0][i] - work, 1e-12, 1e-12);
        }
        fil_rod_destroy(rod);
    }
}

static void the_hessian_of_a_torque_is_symmetric(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 3);
        FilRodLoad load = {.s = 1.1, .torque = {0.4, -0.7, 0.9}};
        def.loads = &load;
        def.load_count = 1;
        FilRod *rod = make_rod(&def);
        shake(rod, 3.0, 0.0, 131);
        int n = rod->dof_count;
        double *H = calloc((size_t)n * (size_t)n, sizeof *H),
               *F = calloc((size_t)n * (size_t)n, sizeof *F);
        double dx[MAX_DOFS] = {0.0}, gradient[MAX_DOFS], state[500];
        rod->table->hessian(rod, H);
        fil_rod_get_state(rod, state);
        for (int j = 0; j < n; j++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                dx[j] = sign * 1e-4;
                rod->table->move(rod, dx);
                rod->table->gradient(rod, gradient);
                CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
                for (int i = 0; i < n; i++) {
                    F[n * i + j] += sign * gradient[i] / 2e-4;
                }
            }
            dx[j] = 0.0;
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                CHECK_NEAR(H[n * i + j], 0.5 * (F[n * i + j] + F[n * j + i]), 1e-6, 1e-6);
            }
        }
        free(H);
        free(F);
        fil_rod_destroy(rod);
    }
}

// --- velocity terms ------------------------------------------------------------------------------

// dM/dt v - 1/2 d(v M v)/dq, by differences over h; kappa dofs of a clamped rod.
static void difference_bias(FilRod *rod, double h, double *bias) {
    int n = rod->dof_count;
    double state[500], dx[MAX_DOFS] = {0.0}, v[MAX_DOFS];
    double *M = calloc((size_t)n * (size_t)n, sizeof *M);
    rod->table->get_velocity(rod, v);
    fil_rod_get_state(rod, state);
    memset(bias, 0, sizeof(double) * (size_t)n);
    for (int k = -1; k < n; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int j = 0; j < n; j++) {
                dx[j] = sign * h * (k < 0 ? v[j] : (j == k ? 1.0 : 0.0));
            }
            rod->table->move(rod, dx);
            assemble_mass(rod, M);
            CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    double part = sign * M[n * i + j] * v[j] / (2.0 * h);
                    bias[k < 0 ? i : k] += k < 0 ? part : -0.5 * v[i] * part;
                }
            }
        }
    }
    free(M);
}

static void velocity_terms_follow_from_the_mass_matrix(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 3);
        memset(def.gravity, 0, sizeof def.gravity);
        FilRod *rod = make_rod(&def);
        shake(rod, 3.0, 1.5, 81);
        int n = rod->dof_count;
        double want[2][MAX_DOFS], got[MAX_DOFS];
        difference_bias(rod, 0.02, want[0]);
        difference_bias(rod, 0.01, want[1]);
        fil_reduced_pass(rod, &(FilReducedPass){.dt = -1.0, .moving = true, .sums = true});
        fil_reduced_gather(rod, got);
        CHECK(difference(want[1], got, n) <= 1e-2 * largest(got, n));
        CHECK_NEAR(difference(want[0], got, n) / difference(want[1], got, n), 4.0, 0.1, 0.0);
        fil_rod_destroy(rod);
    }
}

// --- known values --------------------------------------------------------------------------------

// B = mass = length = 1, round.
static FilRodDef unit_def(FilRodModel model, int elements) {
    const FilSection section = {.radius = 1e-3, .bend = {1.0, 1.0}, .twist = 0.8, .mass = 1.0};
    FilRodDef def = metre_def(model, elements, section);
    memset(def.gravity, 0, sizeof def.gravity);
    return def;
}

// Bending about n1 alone: rows and columns of kappa1.
static int pick_plane(const FilRod *rod, const double *full, double *some) {
    int n = rod->dof_count, count = n / 3;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            some[count * i + j] = full[n * (3 * i + 1) + 3 * j + 1];
        }
    }
    return count;
}

// The two largest eigenvalues of S x = mu K x, S symmetric, K positive definite.
static void largest_pair(int n, const double *S, const double *K, double mu[2]) {
    double L[70 * 70], first[70] = {0.0}, x[70] = {0.0}, y[70] = {0.0};
    memcpy(L, K, sizeof(double) * (size_t)(n * n));
    int starts[70];
    CHECK(fil_cholesky_factor(n, L, starts, 0.0) == 0);
    for (int which = 0; which < 2 && which < n; which++) {
        for (int i = 0; i < n; i++) {
            x[i] = 1.0 + 0.3 * i * i - which * 2.0 * i;
        }
        for (int iteration = 0; iteration < 300; iteration++) {
            double norm = 0.0, along = 0.0;
            for (int i = 0; i < n; i++) {
                y[i] = 0.0;
                for (int j = 0; j < n; j++) {
                    y[i] += S[n * i + j] * x[j];
                }
            }
            fil_cholesky_solve(n, L, starts, y);
            for (int i = 0; i < n * n; i++) {
                along += first[i / n] * K[i] * y[i % n];
            }
            for (int i = 0; i < n; i++) {
                y[i] -= along * first[i];
            }
            for (int i = 0; i < n * n; i++) {
                norm += y[i / n] * K[i] * y[i % n];
            }
            mu[which] = sqrt(norm);
            for (int i = 0; i < n; i++) {
                x[i] = y[i] / sqrt(norm);
            }
        }
        memcpy(first, x, sizeof x);
    }
}

static void cantilever_frequencies(FilRodModel model, int elements, double f[2]) {
    FilRodDef def = unit_def(model, elements);
    FilRod *rod = make_rod(&def);
    size_t n = (size_t)rod->dof_count;
    double *full = calloc(n * n, sizeof *full), mu[2] = {1.0, 1.0};
    static double M[70 * 70], K[70 * 70];
    assemble_mass(rod, full);
    int count = pick_plane(rod, full, M);
    rod->table->stiffness(rod, full);
    pick_plane(rod, full, K);
    largest_pair(count, M, K, mu);
    f[0] = 1.0 / sqrt(mu[0]);
    f[1] = 1.0 / sqrt(mu[1]);
    free(full);
    fil_rod_destroy(rod);
}

static void cantilevers_swing_with_the_printed_frequencies(void) {
    static const struct {
        int model, elements;
        double first, second;
    } rows[] = {{0, 1, 4.4721, 0.0},     {0, 2, 3.6948, 0.0},     {0, 5, 3.5435, 23.300},
                {0, 10, 3.5228, 22.337}, {0, 20, 3.5177, 22.109}, {1, 1, 3.5327, 0.0},
                {1, 2, 3.5182, 22.248},  {1, 5, 3.5161, 22.049}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double f[2];
        cantilever_frequencies(models[rows[k].model], rows[k].elements, f);
        CHECK_NEAR(f[0], rows[k].first, 0.0, 6e-5);
        if (rows[k].second > 0.0) {
            CHECK_NEAR(f[1], rows[k].second, 0.0, 6e-4);
        }
    }
}

// Upright under gravity g = Gamma: the Hessian K - Gamma S is singular at the buckling load.
static void upright_rods_buckle_at_the_printed_loads(void) {
    static const struct {
        int model, elements;
        double load;
    } rows[] = {{0, 1, 12.0},  {0, 2, 8.432}, {0, 3, 8.102}, {0, 5, 7.934}, {0, 10, 7.862},
                {1, 1, 7.889}, {1, 2, 7.872}, {1, 3, 7.844}, {1, 5, 7.838}, {1, 10, 7.837}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        FilRodDef def = unit_def(models[rows[k].model], rows[k].elements);
        def.gravity[0] = -1.0; // the rod stands along x
        FilRod *rod = make_rod(&def);
        size_t n = (size_t)rod->dof_count;
        double *full = calloc(n * n, sizeof *full), mu[2] = {1.0, 1.0};
        static double H[70 * 70], K[70 * 70];
        rod->table->hessian(rod, full);
        int count = pick_plane(rod, full, H);
        rod->table->stiffness(rod, full);
        pick_plane(rod, full, K);
        for (int i = 0; i < count * count; i++) {
            H[i] = K[i] - H[i];
        }
        largest_pair(count, H, K, mu);
        CHECK_NEAR(1.0 / mu[0], rows[k].load, 0.0, 6e-4);
        free(full);
        fil_rod_destroy(rod);
    }
}

// A horizontal rod that should stay straight: natural curvature w (L - s)^2 / (2 B), its element
// means for a helix.
static void holding_a_straight_rod_needs_the_known_curvature(void) {
    FilRodDef def = unit_def(FIL_ROD_HELIX, 4);
    def.gravity[2] = -2.0;
    FilRod *rod = make_rod(&def);
    CHECK(fil_rod_hold_shape(rod, NULL) == FIL_OK);
    for (int i = 0; i < 4; i++) {
        double a = 1.0 - 0.25 * i, b = a - 0.25; // mean of (1 - s)^2 over the element
        double mean = (a * a * a - b * b * b) / (3.0 * 0.25);
        CHECK_NEAR(fabs(rod->natural[6 * i + 1]), mean, 1e-13, 0.0);
        CHECK_NEAR(rod->natural[6 * i + 2], 0.0, 0.0, 1e-15);
    }
    fil_rod_destroy(rod);
}

static void a_held_shape_stays(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = loaded_def(models[k], 6, FIL_END_CLAMPED);
        def.section.bend[0] = def.section.bend[1] = def.section.twist = 40.0;
        FilRod *rod = make_rod(&def);
        shake(rod, 2.0, 0.0, 91);
        CHECK(fil_rod_hold_shape(rod, NULL) == FIL_OK);
        double gradient[MAX_DOFS], before[500], after[500];
        rod->table->gradient(rod, gradient);
        CHECK(largest(gradient, rod->dof_count) <= 1e-12);
        fil_rod_get_state(rod, before);
        for (int step = 0; step < 100; step++) {
            CHECK(fil_rod_step(rod, 0.01, NULL, NULL) == FIL_OK);
        }
        fil_rod_get_state(rod, after);
        CHECK(difference(before + 20, after + 20, fil_rod_state_count(rod) - 20) <= 1e-10);
        fil_rod_destroy(rod);
    }
}

#define TESTS(X)                                        \
    X(the_gradient_is_that_of_the_energy)               \
    X(the_hessian_is_that_of_the_energy)                \
    X(the_hessian_holds_for_a_free_root_too)            \
    X(the_jacobian_is_that_of_the_pose)                 \
    X(the_mass_matrix_holds_the_kinetic_energy)         \
    X(torques_are_generalised_forces)                   \
    X(the_hessian_of_a_torque_is_symmetric)             \
    X(velocity_terms_follow_from_the_mass_matrix)       \
    X(cantilevers_swing_with_the_printed_frequencies)   \
    X(upright_rods_buckle_at_the_printed_loads)         \
    X(holding_a_straight_rod_needs_the_known_curvature) \
    X(a_held_shape_stays)

CHECK_MAIN(TESTS)
