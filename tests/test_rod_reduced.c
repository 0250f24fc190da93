// Helix and clothoid as whole rods: derivatives, steps, conservation, known frequencies.
#include "check.h"

#include <math.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "filum/rod.h"
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
    def.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                               .radius = 0.2,
                               .bend = {0.7, 0.9},
                               .twist = 0.5,
                               .mass = 1.1};
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
    double dx[MAX_DOFS], up[MAX_DOFS], down[MAX_DOFS], state[500];
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
        double *H = calloc((size_t)(n * n), sizeof *H), direction[MAX_DOFS], want[MAX_DOFS] = {0.0};
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
        double *H = calloc((size_t)(n * n), sizeof *H), dx[MAX_DOFS], d[MAX_DOFS], state[500];
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
                worst[level] = fmax(worst[level],
                                    fabs((place[1][c] - place[0][c]) / (2.0 * h) - sum));
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
                double u = (j / rule->count + rule->nodes[j % rule->count]) / 4.0;
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
        FilError error;
        FilRodStepInfo info;
        CHECK(fil_rod_step(rod, dt, &info, &error) == FIL_OK);
        CHECK(info.converged);
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

#define TESTS(X)                              \
    X(the_gradient_is_that_of_the_energy)     \
    X(the_hessian_is_that_of_the_energy)      \
    X(the_hessian_holds_for_a_free_root_too)  \
    X(the_jacobian_is_that_of_the_pose)       \
    X(the_mass_matrix_holds_the_kinetic_energy) \
    X(elimination_and_dense_matrix_agree)     \
    X(trees_agree_too)

CHECK_MAIN(TESTS)
