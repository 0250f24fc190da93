// Helix and clothoid as whole rods: derivatives, steps, conservation, known frequencies.
#include "check.h"

#include <math.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "filum/rod.h"
#include "math/cholesky.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/reduced.h"

enum { MAX_DOFS = 200 };

static FilRod *make(const FilRodDef *def) {
    FilRod *rod = NULL;
    FilError error = {.text = ""};
    if (fil_rod_create(def, NULL, &rod, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return rod;
}

static double noise(FilRandom *random) {
    return fil_random_uniform(random, -1.0, 1.0);
}

static const FilRodModel models[2] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID};

// A rod of order one in everything: stiffness, mass, length, gravity.
static FilRodDef soft_def(FilRodModel model, int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.length = 1.3;
    def.section = (FilSection){
        .kind = FIL_SECTION_GIVEN, .radius = 0.2, .bend = {0.7, 0.9}, .twist = 0.5, .mass = 1.1};
    def.gravity[0] = 1.0;
    def.gravity[1] = -2.0;
    def.gravity[2] = -3.0;
    def.natural_curvature[1] = 0.4;
    return def;
}

// Shape and velocities at random.
static void shake(FilRod *rod, double curvature, double speed, uint64_t seed) {
    double state[2 * MAX_DOFS + 40];
    FilReduced *data = fil_reduced(rod);
    FilRandom random = fil_random_make(seed);
    fil_rod_get_state(rod, state);
    double *own = state + FIL_ROD_STATE, turn[3] = {noise(&random), noise(&random), noise(&random)};
    if (data->root > 0) {
        double R[9], Q[9];
        fil_rotation_exp(turn, R);
        fil_multiply3(R, own + 3, Q);
        memcpy(own + 3, Q, sizeof Q);
    }
    for (int k = 0; k < data->root; k++) {
        own[18 - data->root + k] = speed * noise(&random);
    }
    for (int k = 0; k < data->kappas; k++) {
        own[18 + k] = curvature * noise(&random);
        own[18 + data->kappas + k] = speed * noise(&random);
    }
    FilError error;
    CHECK(fil_rod_set_state(rod, state, &error) == FIL_OK);
}

static double potential(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.gravity + e.loads;
}

static double largest(const double *x, int n) {
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

static double difference(const double *a, const double *b, int n) {
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static const FilEndKind root_kinds[3] = {FIL_END_CLAMPED, FIL_END_PINNED, FIL_END_FREE};

static const FilRodLoad some_loads[2] = {
    {.s = 0.5, .force = {1.0, 0.3, -0.4}},
    {.s = 1.3, .force = {-0.2, 0.6, 0.8}},
};

static FilRodDef loaded_def(FilRodModel model, int elements, FilEndKind root) {
    FilRodDef def = soft_def(model, elements);
    def.root_end.kind = root;
    def.loads = some_loads;
    def.load_count = 2;
    return def;
}

// Central differences of f along random directions: their error must fall as h^2.
static void the_gradient_is_that_of_the_energy(void) {
    for (int k = 0; k < 6; k++) {
        FilRodDef def = loaded_def(models[k % 2], 4, root_kinds[k / 2]);
        FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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

// --- steps ---------------------------------------------------------------------------------------

// One step by elimination and one by the dense matrix, and A^-1 on a random row.
static void compare_steps(const FilRodDef *base, double curvature, double speed, double dt) {
    double answer[2][500], row[2][MAX_DOFS];
    int count = 0, n = 0;
    for (int k = 0; k < 2; k++) {
        FilRodDef def = *base;
        def.step_kind = k == 0 ? FIL_ROD_STEP_RECURSIVE : FIL_ROD_STEP_DENSE;
        FilRod *rod = make(&def);
        shake(rod, curvature, speed, 61);
        rod->table->at(rod, 0, 0.0, &rod->root_start, NULL); // held where it is
        rod->table->at(rod, rod->element_count - 1, 1.0, &rod->tip_start, NULL);
        FilError error;
        FilRodStepInfo info;
        CHECK(fil_rod_step(rod, dt, &info, &error) == FIL_OK);
        fil_rod_get_state(rod, answer[k]);
        count = fil_rod_state_count(rod);
        n = fil_rod_dof_count(rod);
        FilRandom random = fil_random_make(3);
        for (int i = 0; i < n; i++) {
            row[k][i] = noise(&random);
        }
        rod->table->solve(rod, row[k]);
        fil_rod_destroy(rod);
    }
    double scale = largest(answer[0], count);
    CHECK(difference(answer[0], answer[1], count) <= 1e-11 * scale);
    CHECK(difference(row[0], row[1], n) <= 1e-11 * largest(row[0], n));
}

static void elimination_and_dense_matrix_agree(void) {
    const FilEndKind tips[3] = {FIL_END_FREE, FIL_END_PINNED, FIL_END_CLAMPED};
    const FilEndKind roots[4] = {FIL_END_CLAMPED, FIL_END_PINNED, FIL_END_FREE, FIL_END_SLIDING};
    for (int k = 0; k < 24; k++) {
        FilRodDef def = loaded_def(models[k % 2], 7, roots[k / 2 % 4]);
        def.tip_end.kind = tips[k / 8];
        def.theta = k % 3 == 0 ? 0.5 : 1.0;
        def.damping = 0.01;
        def.drag = 0.3;
        compare_steps(&def, 1.0, 0.5, 0.01);
    }
}

static void trees_agree_too(void) {
    FilRodJoint joints[7];
    const int parents[7] = {-1, 0, 0, 2, 2, -1, 5};
    FilRandom random = fil_random_make(77);
    for (int i = 0; i < 7; i++) {
        double turn[3] = {noise(&random), noise(&random), noise(&random)}, R[9];
        fil_rotation_exp(turn, R);
        joints[i].parent = parents[i];
        for (int k = 0; k < 9; k++) {
            joints[i].axis[k % 3][k / 3] = R[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        FilRodDef def = soft_def(FIL_ROD_HELIX, 7);
        def.root_end.kind = root_kinds[k];
        def.joints = joints;
        compare_steps(&def, 2.0, 0.5, 0.02);
    }
}

// A torque works on the spin of its section; its Hessian is the symmetric part of how that changes.
static void torques_are_generalised_forces(void) {
    static const double torque[3] = {0.4, -0.7, 0.9};
    for (int k = 0; k < 6; k++) {
        double gradient[2][MAX_DOFS], J[6 * MAX_DOFS], u;
        FilRodDef def = soft_def(models[k % 2], 4);
        def.root_end.kind = root_kinds[k / 2];
        FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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

// A rod held at both ends under gravity: the far end stays to second order in the step.
static void a_held_tip_stays(void) {
    for (int k = 0; k < 6; k++) {
        const FilEndKind kinds[3] = {FIL_END_PINNED, FIL_END_SLIDING, FIL_END_CLAMPED};
        FilRodDef def = soft_def(models[k % 2], 6);
        def.tip_end.kind = kinds[k / 2];
        def.natural_curvature[1] = 2.0;
        def.damping = 0.02;
        FilRod *rod = make(&def);
        FilPose pose;
        for (int step = 0; step < 400; step++) {
            CHECK(fil_rod_step(rod, 0.005, NULL, NULL) == FIL_OK);
        }
        double rows[12 * MAX_DOFS], error[12];
        rod->table->end_rows(rod, fil_rod_time(rod), rows, error);
        CHECK(largest(error, rod->row_count) <= 1e-4);
        fil_rod_at(rod, 1.3, &pose, NULL);
        CHECK(k / 2 == 1 || difference(pose.position, rod->tip_start.position, 3) <= 1e-4);
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
        FilRod *rod = make(&def);
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
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.length = 1.0;
    def.section = (FilSection){
        .kind = FIL_SECTION_GIVEN, .radius = 1e-3, .bend = {1.0, 1.0}, .twist = 0.8, .mass = 1.0};
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
    FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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
    FilRod *rod = make(&def);
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
        FilRod *rod = make(&def);
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

// --- geometry ------------------------------------------------------------------------------------

static void joints_are_smooth_and_length_is_kept(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 5);
        FilRod *rod = make(&def);
        shake(rod, 20.0, 0.0, 101);
        for (int i = 0; i + 1 < 5; i++) {
            FilPose end, next;
            double left[3], right[3];
            fil_rod_element_at(rod, i, 1.0, &end, NULL);
            fil_rod_element_at(rod, i + 1, 0.0, &next, NULL);
            CHECK(difference(end.position, next.position, 3) <= 1e-15);
            CHECK(difference(end.axis[0], next.axis[0], 9) <= 1e-14);
            fil_rod_curvature_at(rod, i, 1.0, left);
            fil_rod_curvature_at(rod, i + 1, 0.0, right);
            CHECK(k == 0 || difference(left, right, 3) == 0.0);
        }
        // the centreline runs along n0 with speed 1: differences over h fall as h^2
        double worst[2];
        for (int level = 0; level < 2; level++) {
            double h = level == 0 ? 2e-3 : 1e-3;
            FilPose here, up, down;
            fil_rod_at(rod, 0.7, &here, NULL);
            fil_rod_at(rod, 0.7 + h, &up, NULL);
            fil_rod_at(rod, 0.7 - h, &down, NULL);
            double t[3];
            for (int c = 0; c < 3; c++) {
                t[c] = (up.position[c] - down.position[c]) / (2.0 * h);
            }
            worst[level] = difference(t, here.axis[0], 3);
            CHECK_NEAR(fil_norm3(here.axis[0]), 1.0, 1e-13, 0.0);
        }
        CHECK_NEAR(worst[0] / worst[1], 4.0, 0.1, 0.0);
        fil_rod_destroy(rod);
    }
}

static void lengthen(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[1] += 0.3 * time;
    double c = cos(2.0 * time), s = sin(2.0 * time);
    const double axis[3][3] = {{c, s, 0.0}, {-s, c, 0.0}, {0.0, 0.0, 1.0}};
    memcpy(pose->axis, axis, sizeof axis);
}

static void a_driven_root_is_where_it_is_driven_and_growth_lengthens(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = soft_def(models[k % 2], 6);
        def.root_end.kind = k < 2 ? FIL_END_CLAMPED : FIL_END_PINNED;
        def.root_end.motion = lengthen;
        def.growth = 0.5;
        def.damping = 0.05;
        FilRod *rod = make(&def);
        for (int step = 0; step < 200; step++) {
            CHECK(fil_rod_step(rod, 0.005, NULL, NULL) == FIL_OK);
        }
        FilPose want = rod->root_start, got;
        lengthen(NULL, fil_rod_time(rod), &want);
        fil_rod_at(rod, 0.0, &got, NULL);
        CHECK(difference(got.position, want.position, 3) == 0.0);
        CHECK(k >= 2 || difference(got.axis[0], want.axis[0], 9) == 0.0);
        CHECK_NEAR(fil_rod_length(rod), 1.3 * 1.5, 1e-12, 0.0);
        fil_rod_destroy(rod);
    }
}

// A stiff rod that turns with its root about z is thrown outwards, not left behind: after the start
// has died out its rates vanish in the turning frame.
static void turn_steadily(void *user, double time, FilPose *pose) {
    (void)user;
    double c = cos(3.0 * time), s = sin(3.0 * time);
    const double axis[3][3] = {{c, s, 0.0}, {-s, c, 0.0}, {0.0, 0.0, 1.0}};
    memcpy(pose->axis, axis, sizeof axis);
}

static void a_turning_root_takes_the_rod_along(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 5);
        memset(def.gravity, 0, sizeof def.gravity);
        def.root_end.motion = turn_steadily;
        def.damping = 0.3;
        FilRod *rod = make(&def);
        for (int step = 0; step < 16000; step++) {
            CHECK(fil_rod_step(rod, 0.005, NULL, NULL) == FIL_OK);
        }
        double v[MAX_DOFS];
        rod->table->get_velocity(rod, v);
        CHECK(largest(v, rod->dof_count) <= 1e-7);
        FilRate rate;
        fil_rod_at(rod, 1.3, NULL, &rate);
        CHECK_NEAR(rate.spin[2], 3.0, 1e-6, 0.0);
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        CHECK(energy.bend > 1e-3); // drawn outwards against its natural curve
        fil_rod_destroy(rod);
    }
}

// --- conservation --------------------------------------------------------------------------------

// theta = 1/2, no damping: relative change of the total energy of a falling rod after 0.5 s.
static double energy_drift(FilRodModel model, double dt) {
    FilRodDef def = soft_def(model, 5);
    def.theta = 0.5;
    FilRod *rod = make(&def);
    FilRodEnergy e;
    double first = 0.0, worst = 0.0, scale = 0.0;
    int steps = (int)(0.5 / dt + 0.5);
    for (int step = 0; step <= steps; step++) {
        fil_rod_energy(rod, &e);
        double total = e.kinetic + e.bend + e.twist + e.gravity + e.loads;
        first = step == 0 ? total : first;
        worst = fmax(worst, fabs(total - first));
        scale = fmax(scale, e.kinetic);
        CHECK(fil_rod_step(rod, dt, NULL, NULL) == FIL_OK);
    }
    fil_rod_destroy(rod);
    return worst / scale;
}

static void energy_is_kept_to_second_order(void) {
    for (int k = 0; k < 2; k++) {
        double coarse = energy_drift(models[k], 2e-3), fine = energy_drift(models[k], 1e-3);
        CHECK(fine < 1e-4);
        CHECK_NEAR(coarse / fine, 4.0, 0.1, 0.0);
    }
}

// Momentum and moment of momentum about the origin, summed over sections.
static void find_momenta(const FilRod *rod, double p[6]) {
    const FilCollocation *rule = &fil_collocations[3];
    memset(p, 0, 6 * sizeof(double));
    for (int i = 0; i < rod->element_count; i++) {
        for (int j = 0; j < rule->count; j++) {
            FilPose pose;
            FilRate rate;
            double arm[3], w = rule->weights[j] * rod->lengths[i];
            fil_rod_element_at(rod, i, rule->nodes[j], &pose, &rate);
            fil_cross3(pose.position, rate.velocity, arm);
            fil_add3(w * rod->sections[i].mass, rate.velocity, p);
            fil_add3(w * rod->sections[i].mass, arm, p + 3);
            fil_add3(w * rod->sections[i].spin_inertia * fil_dot3(rate.spin, pose.axis[0]),
                     pose.axis[0], p + 3);
        }
    }
}

static double momentum_drift(FilRodModel model, double dt) {
    FilRodDef def = soft_def(model, 4);
    def.root_end.kind = FIL_END_FREE;
    memset(def.gravity, 0, sizeof def.gravity);
    FilRod *rod = make(&def);
    shake(rod, 0.8, 0.8, 111);
    double before[6], after[6];
    find_momenta(rod, before);
    for (int step = 0; step < (int)(0.2 / dt + 0.5); step++) {
        CHECK(fil_rod_step(rod, dt, NULL, NULL) == FIL_OK);
    }
    find_momenta(rod, after);
    fil_rod_destroy(rod);
    return difference(before, after, 6) / largest(before, 6);
}

static void a_free_rod_keeps_its_momenta_to_first_order(void) {
    for (int k = 0; k < 2; k++) {
        double coarse = momentum_drift(models[k], 5e-5), fine = momentum_drift(models[k], 2.5e-5);
        CHECK(fine < 0.01);
        CHECK_NEAR(coarse / fine, 2.0, 0.15, 0.0);
    }
}

// Without the section's inertia about the tangent this step would be singular.
static void a_free_straight_rod_spins_on(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = models[k % 2];
        def.root_end.kind = k < 2 ? FIL_END_FREE : FIL_END_PINNED;
        memset(def.gravity, 0, sizeof def.gravity);
        FilRod *rod = make(&def);
        double state[500];
        fil_rod_get_state(rod, state);
        state[FIL_ROD_STATE + 15] = 2.0; // spin about x, its axis
        CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
        for (int step = 0; step < 100; step++) {
            CHECK(fil_rod_step(rod, 1e-3, NULL, NULL) == FIL_OK);
        }
        FilPose pose;
        FilRate rate;
        fil_rod_at(rod, 0.2, &pose, &rate);
        CHECK_NEAR(rate.spin[0], 2.0, 1e-9, 0.0);
        CHECK_NEAR(pose.position[0], 0.2, 1e-9, 0.0);
        CHECK_NEAR(atan2(pose.axis[1][2], pose.axis[1][1]), 0.2, 1e-9, 0.0);
        fil_rod_destroy(rod);
    }
}

// Root, gravity and loads turned and moved together: the same curvatures.
static void a_turned_world_gives_the_same_curvatures(void) {
    const double turn[3] = {0.7, -1.1, 0.4};
    double Q[9], answer[2][500];
    int count = 0;
    fil_rotation_exp(turn, Q);
    for (int k = 0; k < 6; k++) {
        for (int moved = 0; moved < 2; moved++) {
            FilRodDef def = loaded_def(models[k % 2], 5, root_kinds[k / 2]);
            FilRodLoad loads[2] = {some_loads[0], some_loads[1]};
            if (moved == 1) {
                fil_apply3(Q, some_loads[0].force, loads[0].force);
                fil_apply3(Q, some_loads[1].force, loads[1].force);
                double g[3];
                fil_apply3(Q, def.gravity, g);
                fil_copy3(g, def.gravity);
                for (int a = 0; a < 3; a++) {
                    for (int c = 0; c < 3; c++) {
                        def.root.axis[a][c] = Q[3 * c + a];
                    }
                }
                def.root.position[2] = 3.0;
            }
            def.loads = loads;
            FilRod *rod = make(&def);
            for (int step = 0; step < 20; step++) {
                CHECK(fil_rod_step(rod, 0.01, NULL, NULL) == FIL_OK);
            }
            fil_rod_get_state(rod, answer[moved]);
            count = fil_rod_state_count(rod);
            fil_rod_destroy(rod);
        }
        CHECK(difference(answer[0] + 20, answer[1] + 20, count - 20) <= 1e-10);
    }
}

// --- limits --------------------------------------------------------------------------------------

static bool all_finite(const FilRod *rod) {
    double state[3000];
    fil_rod_get_state(rod, state);
    bool fine = true;
    for (int k = 0; k < fil_rod_state_count(rod); k++) {
        fine &= isfinite(state[k]) != 0;
    }
    return fine;
}

static void extreme_rods_stay_finite(void) {
    for (int k = 0; k < 8; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = models[k % 2];
        switch (k / 2) {
        case 0: // a cable of a kilometre
            def.length = 1000.0;
            def.section.radius = 0.02;
            def.section.young = 1e11;
            break;
        case 1: // a fibre of 10 micrometres
            def.section.radius = 5e-6;
            break;
        case 2: // a thousand turns of twist
            def.natural_curvature[0] = 2000.0 * 3.14159265 / def.length;
            break;
        default: // curled to 10 micrometres
            def.length = 1e-3;
            def.natural_curvature[2] = 1e5;
            break;
        }
        FilRod *rod = make(&def);
        double dt = fil_rod_largest_step(rod);
        CHECK(dt > 0.0 && isfinite(dt));
        for (int step = 0; step < 20; step++) {
            FilStatus status = fil_rod_step(rod, fmin(dt, 1e-3), NULL, NULL);
            CHECK(status == FIL_OK);
            CHECK(all_finite(rod));
        }
        fil_rod_destroy(rod);
    }
}

static void too_many_turns_are_refused(void) {
    FilRodDef def = fil_rod_def_default();
    def.length = 1000.0;
    def.natural_curvature[1] = 1e5;
    FilRod *rod = NULL;
    FilError error;
    CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text, "element 0 turns by 1e+07 rad; it must be at most 100000: take more "
                             "elements or less curvature") == 0);
    CHECK(rod == NULL);
}

static void a_state_beyond_all_turns_is_shown_but_not_stepped(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 6);
        FilRod *rod = make(&def);
        double state[500], after[500];
        fil_rod_get_state(rod, state);
        state[FIL_ROD_STATE + 18 + 4] = 1e300;
        CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
        FilPose pose;
        fil_rod_at(rod, 1.3, &pose, NULL);
        CHECK(isfinite(fil_norm3(pose.position)));
        FilError error;
        CHECK(fil_rod_step(rod, 1e-3, NULL, &error) == FIL_E_ARGUMENT);
        fil_rod_get_state(rod, after);
        CHECK(difference(state, after, fil_rod_state_count(rod)) == 0.0);
        fil_rod_destroy(rod);
    }
}

// At the step that the rod reports a hanging, almost limp strand comes to rest.
static void the_largest_step_is_stable(void) {
    for (int k = 0; k < 8; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = models[k % 2];
        def.element_count = k < 4 ? 10 : 40;
        def.length = 1.0;
        def.section.radius = k % 4 < 2 ? 50e-6 : 1e-3;
        const double down[3][3] = {{0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}};
        memcpy(def.root.axis, down, sizeof down);
        FilRod *rod = make(&def);
        double state[900], dt = fil_rod_largest_step(rod);
        fil_rod_get_state(rod, state);
        state[FIL_ROD_STATE + 18 + 1] += 0.01;
        CHECK(fil_rod_set_state(rod, state, NULL) == FIL_OK);
        for (int step = 0; step < 3000; step++) {
            CHECK(fil_rod_step(rod, dt, NULL, NULL) == FIL_OK);
        }
        CHECK(all_finite(rod));
        FilRate rate;
        fil_rod_at(rod, 1.0, NULL, &rate);
        CHECK(fil_norm3(rate.velocity) <= 0.1);
        fil_rod_destroy(rod);
    }
}

static void every_allocation_may_fail(void) {
    for (int k = 0; k < 4; k++) {
        for (int n = 1;; n++) {
            FailingAllocator memory = {.fail_at = n};
            const FilAllocator allocator = failing_allocator(&memory);
            FilRodDef def = loaded_def(models[k % 2], 60, FIL_END_SLIDING);
            def.step_kind = k < 2 ? FIL_ROD_STEP_RECURSIVE : FIL_ROD_STEP_DENSE;
            FilRod *rod = NULL;
            FilError error;
            FilStatus status = fil_rod_create(&def, &allocator, &rod, &error);
            if (status == FIL_OK) {
                int before = memory.requests;
                CHECK(fil_rod_step(rod, 1e-3, NULL, &error) == FIL_OK);
                CHECK(memory.requests == before); // a step allocates nothing
            }
            fil_rod_destroy(rod);
            CHECK(failing_allocator_is_clean(&memory));
            if (memory.failures == 0) {
                CHECK(status == FIL_OK);
                break;
            }
            CHECK(status == FIL_E_NO_MEMORY);
        }
    }
}

static void many_rods_give_the_same_bits_on_any_number_of_threads(void) {
    enum { COUNT = 70 };
    static double answer[3][COUNT][300];
    const int threads[3] = {1, 2, 4};
    for (int t = 0; t < 3; t++) {
        FilRod *rods[COUNT];
        for (int i = 0; i < COUNT; i++) {
            FilRodDef def = soft_def(models[i % 2], 3 + i % 5);
            rods[i] = make(&def);
            shake(rods[i], 2.0, 0.5, (uint64_t)i);
        }
        for (int step = 0; step < 10; step++) {
            CHECK(fil_rods_step(rods, COUNT, 1e-3, threads[t], NULL, NULL) == FIL_OK);
        }
        for (int i = 0; i < COUNT; i++) {
            fil_rod_get_state(rods[i], answer[t][i]);
            fil_rod_destroy(rods[i]);
        }
    }
    CHECK(check_same_bits(answer[0], answer[1], sizeof answer[0]));
    CHECK(check_same_bits(answer[0], answer[2], sizeof answer[0]));
}

#define TESTS(X)                                                \
    X(the_gradient_is_that_of_the_energy)                       \
    X(the_hessian_is_that_of_the_energy)                        \
    X(the_hessian_holds_for_a_free_root_too)                    \
    X(the_jacobian_is_that_of_the_pose)                         \
    X(the_mass_matrix_holds_the_kinetic_energy)                 \
    X(elimination_and_dense_matrix_agree)                       \
    X(trees_agree_too)                                          \
    X(torques_are_generalised_forces)                           \
    X(the_hessian_of_a_torque_is_symmetric)                     \
    X(a_held_tip_stays)                                         \
    X(a_state_beyond_all_turns_is_shown_but_not_stepped)        \
    X(velocity_terms_follow_from_the_mass_matrix)               \
    X(cantilevers_swing_with_the_printed_frequencies)           \
    X(upright_rods_buckle_at_the_printed_loads)                 \
    X(holding_a_straight_rod_needs_the_known_curvature)         \
    X(a_held_shape_stays)                                       \
    X(joints_are_smooth_and_length_is_kept)                     \
    X(a_driven_root_is_where_it_is_driven_and_growth_lengthens) \
    X(a_turning_root_takes_the_rod_along)                       \
    X(energy_is_kept_to_second_order)                           \
    X(a_free_rod_keeps_its_momenta_to_first_order)              \
    X(a_free_straight_rod_spins_on)                             \
    X(a_turned_world_gives_the_same_curvatures)                 \
    X(extreme_rods_stay_finite)                                 \
    X(too_many_turns_are_refused)                               \
    X(the_largest_step_is_stable)                               \
    X(every_allocation_may_fail)                                \
    X(many_rods_give_the_same_bits_on_any_number_of_threads)

CHECK_MAIN(TESTS)
