// The rod model corde: positions and quaternions, softly coupled.
#include "check.h"

#include <stdlib.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "filum/rod.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/rod.h"

static const double pi = 3.14159265358979323846;

// A rubber-like rod, thick enough that all its energies count: 1 m, EI = 1 N m^2, GJ = 0.7 N m^2.
static FilRodDef plain_def(int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = FIL_ROD_CORDE;
    def.element_count = elements;
    def.length = 1.0;
    def.section = (FilSection){
        .kind = FIL_SECTION_GIVEN, .radius = 0.02, .bend = {1.0, 1.0}, .twist = 0.7, .mass = 0.5};
    def.gravity[2] = 0.0;
    return def;
}

static FilRod *make(const FilRodDef *def) {
    FilRod *rod = NULL;
    FilError error;
    if (fil_rod_create(def, NULL, &rod, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return rod;
}

static void step_many(FilRod *rod, double dt, int count) {
    FilError error;
    for (int i = 0; i < count; i++) {
        if (fil_rod_step(rod, dt, NULL, &error) != FIL_OK) {
            CHECK(!"the step succeeds");
            (void)fprintf(stderr, "%s\n", error.text);
            return;
        }
    }
}

static void settle(FilRod *rod) {
    FilStaticsInfo info;
    FilError error;
    CHECK(fil_rod_equilibrium(rod, NULL, &info, &error) == FIL_OK);
    CHECK(info.converged);
}

static double potential(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

static double elastic(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.bend + e.twist + e.stretch;
}

static void fill_random(FilRandom *random, double size, int n, double *x) {
    for (int k = 0; k < n; k++) {
        x[k] = fil_random_uniform(random, -size, size);
    }
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// Uneven elements, different sections, natural curvature, gravity and a force: everything that has
// an energy.
static FilRod *make_rich(FilEndKind root, FilEndKind tip) {
    static const double lengths[5] = {0.15, 0.25, 0.2, 0.3, 0.1};
    static const double natural[18] = {1.0,  0.5, -1.0, 0.3, 1.2, 0.4, -0.7, 0.2, 1.5,
                                       -0.3, 0.8, 0.1,  0.9, 0.5, 0.2, 0.6,  0.1, -0.8};
    static const FilRodLoad load = {.s = 0.63, .force = {0.5, -0.7, 0.3}};
    FilSection sections[5];
    FilRodDef def = plain_def(5);
    for (int j = 0; j < 5; j++) {
        sections[j] = def.section;
        sections[j].bend[0] = 1.0 + 0.3 * j;
        sections[j].bend[1] = 2.0 - 0.2 * j;
        sections[j].twist = 0.5 + 0.1 * j;
    }
    def.sections = sections;
    def.element_lengths = lengths;
    def.natural_curvatures = natural;
    def.natural_count = 6;
    def.gravity[0] = 1.0;
    def.gravity[2] = -9.81;
    def.loads = &load;
    def.load_count = 1;
    def.root_end.kind = root;
    def.tip_end.kind = tip;
    return make(&def);
}

static void restore(FilRod *rod, const double *state) {
    FilError error;
    if (fil_rod_set_state(rod, state, &error) != FIL_OK) {
        CHECK(!"the state fits");
    }
}

enum { MAX_STATE = 400, MAX_DOF = 60 };

// Far from rest, so that every term of the derivatives counts.
static void deform(FilRod *rod, FilRandom *random) {
    double dx[MAX_DOF];
    fill_random(random, 0.3, rod->dof_count, dx);
    for (int k = 0; k < rod->dof_count; k++) {
        dx[k] *= k % 6 < 3 ? 0.2 : 1.0;
    }
    rod->table->move(rod, dx);
}

// --- derivatives ---------------------------------------------------------------------------------

// |central difference of the energy along d - g.d|
static double gradient_error(FilRod *rod, const double *state, const double *d, double h) {
    double dx[MAX_DOF], g[MAX_DOF], value[2];
    int n = rod->dof_count;
    restore(rod, state);
    rod->table->gradient(rod, g);
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < n; k++) {
            dx[k] = (side == 0 ? h : -h) * d[k];
        }
        restore(rod, state);
        rod->table->move(rod, dx);
        value[side] = potential(rod);
    }
    return fabs((value[0] - value[1]) / (2.0 * h) - dot(g, d, n));
}

static void gradient_is_the_derivative_of_the_energy_at_second_order(void) {
    FilRandom random = fil_random_make(7);
    for (int kind = 0; kind < FIL_END_COUNT; kind++) {
        FilRod *rod = make_rich((FilEndKind)kind, (FilEndKind)(3 - kind));
        double state[MAX_STATE], d[MAX_DOF] = {0.0};
        deform(rod, &random);
        fil_rod_get_state(rod, state);
        fill_random(&random, 1.0, rod->dof_count, d);
        double coarse = gradient_error(rod, state, d, 1e-2);
        double fine = gradient_error(rod, state, d, 5e-3);
        CHECK_NEAR(coarse / fine, 4.0, 0.1, 0.0);
        CHECK(gradient_error(rod, state, d, 1e-5) < 1e-5 * coarse + 1e-6);
        fil_rod_destroy(rod);
    }
}

// |second difference of the energy along d - d.H d|
static double hessian_error(FilRod *rod, const double *state, const double *d, double h) {
    double dx[MAX_DOF], value[3];
    static double H[MAX_DOF * MAX_DOF];
    int n = rod->dof_count;
    restore(rod, state);
    rod->table->hessian(rod, H);
    for (int side = -1; side <= 1; side++) {
        for (int k = 0; k < n; k++) {
            dx[k] = side * h * d[k];
        }
        restore(rod, state);
        rod->table->move(rod, dx);
        value[side + 1] = potential(rod);
    }
    double product = 0.0;
    for (int i = 0; i < n; i++) {
        product += d[i] * dot(H + (size_t)i * (size_t)n, d, n);
    }
    return fabs((value[0] - 2.0 * value[1] + value[2]) / (h * h) - product);
}

static void hessian_is_the_second_derivative_of_the_energy_at_second_order(void) {
    FilRandom random = fil_random_make(8);
    for (int kind = 0; kind < FIL_END_COUNT; kind++) {
        FilRod *rod = make_rich((FilEndKind)kind, (FilEndKind)(3 - kind));
        double state[MAX_STATE], d[MAX_DOF] = {0.0};
        deform(rod, &random);
        fil_rod_get_state(rod, state);
        for (int trial = 0; trial < 5; trial++) {
            fill_random(&random, 1.0, rod->dof_count, d);
            double coarse = hessian_error(rod, state, d, 1e-2);
            double fine = hessian_error(rod, state, d, 5e-3);
            CHECK_NEAR(coarse / fine, 4.0, 0.15, 0.0);
            CHECK(hessian_error(rod, state, d, 3e-4) < 2e-3 * coarse);
        }
        fil_rod_destroy(rod);
    }
}

// Symmetric; at rest the stiffness is the Hessian of the elastic energy.
static void stiffness_is_the_hessian_at_rest(void) {
    static double H[MAX_DOF * MAX_DOF], K[MAX_DOF * MAX_DOF];
    FilRod *rod = make_rich(FIL_END_CLAMPED, FIL_END_FREE);
    size_t n = (size_t)rod->dof_count;
    rod->table->hessian(rod, H);
    rod->table->stiffness(rod, K);
    double largest = 0.0;
    for (size_t k = 0; k < n * n; k++) {
        largest = fmax(largest, fabs(H[k]));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            CHECK_NEAR(H[i * n + j], H[j * n + i], 0.0, 1e-12 * largest);
            CHECK_NEAR(H[i * n + j], K[i * n + j], 0.0, 1e-12 * largest);
        }
    }
    fil_rod_destroy(rod);
}

// The rate of a section is its Jacobian times v, and the derivative of its pose.
static void jacobian_is_the_derivative_of_the_pose(void) {
    FilRandom random = fil_random_make(9);
    FilRod *rod = make_rich(FIL_END_SLIDING, FIL_END_FREE);
    double d[MAX_DOF], dx[MAX_DOF], state[MAX_STATE], rows[6 * MAX_DOF];
    const double h = 1e-5;
    int n = rod->dof_count;
    deform(rod, &random);
    fil_rod_get_state(rod, state);
    fill_random(&random, 1.0, n, d);
    for (int sample = 0; sample <= 20; sample++) {
        int element = sample / 4 < 5 ? sample / 4 : 4;
        double u = (sample - 4 * element) / 4.0;
        FilPose pose[2];
        restore(rod, state);
        rod->table->jacobian(rod, element, u, rows);
        for (int side = 0; side < 2; side++) {
            restore(rod, state);
            for (int k = 0; k < n; k++) {
                dx[k] = (side == 0 ? -h : h) * d[k];
            }
            rod->table->move(rod, dx);
            rod->table->at(rod, element, u, &pose[side], NULL);
        }
        for (int k = 0; k < 3; k++) {
            double velocity = (pose[1].position[k] - pose[0].position[k]) / (2.0 * h), spin = 0.0;
            for (int a = 0; a < 3; a++) { // half of n_a x n_a'
                int i = (k + 1) % 3, j = (k + 2) % 3;
                spin += 0.5 *
                        (pose[0].axis[a][i] * pose[1].axis[a][j] -
                         pose[0].axis[a][j] * pose[1].axis[a][i]) /
                        (2.0 * h);
            }
            CHECK_NEAR(dot(rows + (size_t)k * (size_t)n, d, n), velocity, 0.0, 1e-8);
            CHECK_NEAR(dot(rows + (size_t)(k + 3) * (size_t)n, d, n), spin, 0.0, 1e-7);
        }
    }
    fil_rod_destroy(rod);
}

// --- energies ------------------------------------------------------------------------------------

// A rod bent into a circle stores EI L / (2 R^2): exactly, for each joint counts its own length.
static void circle_stores_the_bending_energy_of_a_circle(void) {
    const double kappa[3] = {0.0, 0.0, 2.0 * pi};
    for (int n = 8; n <= 64; n *= 2) {
        double start[3 * 64];
        for (int k = 0; k < 3 * n; k++) {
            start[k] = kappa[k % 3];
        }
        FilRodDef def = plain_def(n);
        def.start_curvatures = start;
        def.start_count = n;
        def.tip_end.kind = FIL_END_CLAMPED;
        FilRod *rod = make(&def);
        FilRodEnergy energy;
        FilPose tip;
        double curvature[3];
        fil_rod_energy(rod, &energy);
        CHECK_NEAR(energy.bend, 0.5 * 4.0 * pi * pi, 1e-12, 0.0);
        CHECK_NEAR(energy.twist, 0.0, 0.0, 1e-20);
        CHECK_NEAR(energy.stretch, 0.0, 0.0, 1e-20);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(fil_norm3(tip.position), 0.0, 0.0, 1e-14);
        CHECK_NEAR(tip.axis[0][0], 1.0, 1e-12, 0.0);
        fil_rod_curvature_at(rod, n / 2, 0.3, curvature);
        CHECK_NEAR(curvature[2], 2.0 * pi, 1e-12, 0.0);
        fil_rod_destroy(rod);
    }
}

// A straight rod with the twist tau stores GJ L tau^2 / 2, here over 3 turns.
static void twisted_rod_stores_the_energy_of_twist(void) {
    double start[3 * 10] = {0.0};
    for (int j = 0; j < 10; j++) {
        start[3 * j] = 6.0 * pi;
    }
    FilRodDef def = plain_def(10);
    def.start_curvatures = start;
    def.start_count = 10;
    def.tip_end.kind = FIL_END_CLAMPED;
    FilRod *rod = make(&def);
    FilRodEnergy energy;
    fil_rod_energy(rod, &energy);
    CHECK_NEAR(energy.twist, 0.5 * 0.7 * 36.0 * pi * pi, 1e-12, 0.0);
    CHECK_NEAR(energy.bend, 0.0, 0.0, 1e-20);
    fil_rod_destroy(rod);
}

// A natural helix, and any natural shape, stores nothing where it starts, and stays.
static void natural_shape_stores_no_energy(void) {
    FilRodDef def = plain_def(20);
    def.natural_curvature[0] = 5.0;
    def.natural_curvature[1] = 12.0;
    FilRod *rod = make(&def);
    CHECK(elastic(rod) < 1e-26);
    step_many(rod, 1e-2, 100);
    CHECK(elastic(rod) < 1e-24);
    fil_rod_destroy(rod);
    rod = make_rich(FIL_END_FREE, FIL_END_FREE);
    CHECK(elastic(rod) < 1e-26);
    fil_rod_destroy(rod);
}

// The middle points of elements of a helix lie on a helix; its length and pitch come at order 2.
static void start_shape_converges_to_the_helix_at_second_order(void) {
    const double tau = 3.0, kappa = 4.0, omega = 5.0; // of unit length
    double previous = 0.0;
    for (int n = 10; n <= 40; n *= 2) {
        FilRodDef def = plain_def(n);
        def.natural_curvature[0] = tau;
        def.natural_curvature[2] = kappa;
        FilRod *rod = make(&def);
        FilPose tip;
        fil_rod_at(rod, 1.0, &tip, NULL);
        // r = u u.t s + sin(w s)/w (t - u u.t) + (1 - cos(w s))/w u x t,  u = axis, t = x
        const double axis[3] = {tau / omega, 0.0, kappa / omega};
        const double exact[3] = {axis[0] * axis[0] + sin(omega) / omega * (1.0 - axis[0] * axis[0]),
                                 (1.0 - cos(omega)) / omega * axis[2],
                                 axis[2] * axis[0] * (1.0 - sin(omega) / omega)};
        double off[3];
        fil_subtract3(tip.position, exact, off);
        double error = fil_norm3(off);
        if (previous > 0.0) {
            CHECK_NEAR(previous / error, 4.0, 0.1, 0.0);
        }
        previous = error;
        fil_rod_destroy(rod);
    }
}

static void rotate3(const double R[9], const double offset[3], double x[3]) {
    double out[3];
    fil_apply3(R, x, out);
    for (int k = 0; k < 3; k++) {
        x[k] = out[k] + offset[k];
    }
}

// Moved as a whole, a rod has the same elastic energy, forces that turn along, and no net force or
// moment.
static void elasticity_does_not_see_rigid_motions(void) {
    FilRandom random = fil_random_make(11);
    FilRod *rod = make_rich(FIL_END_FREE, FIL_END_FREE);
    const double none[3] = {0.0, 0.0, 0.0}, offset[3] = {3.0, -2.0, 5.0},
                 turn[3] = {0.7, -1.9, 0.4};
    FilError error;
    CHECK(fil_rod_set_gravity(rod, none, &error) == FIL_OK);
    CHECK(fil_rod_set_loads(rod, NULL, 0, &error) == FIL_OK);
    double R[9], qR[4], state[MAX_STATE], g[MAX_DOF], moved[MAX_DOF], force[3] = {0.0},
                                                                      moment[3] = {0.0};
    fil_rotation_exp(turn, R);
    fil_rotation_to_quaternion(R, qR);
    deform(rod, &random);
    double before = elastic(rod);
    rod->table->gradient(rod, g);
    fil_rod_get_state(rod, state);
    int nodes = rod->element_count + 1;
    for (int i = 0; i < nodes; i++) {
        double arm[3];
        const double *r = state + FIL_ROD_STATE + 3 * i;
        fil_cross3(r, g + 6 * i, arm);
        fil_add3(1.0, g + 6 * i, force);
        fil_add3(1.0, arm, moment);
        if (i + 1 < nodes) {
            fil_add3(1.0, g + 6 * i + 3, moment);
        }
        rotate3(R, offset, state + FIL_ROD_STATE + 3 * i);
    }
    CHECK_NEAR(fil_norm3(force), 0.0, 0.0, 1e-11);
    CHECK_NEAR(fil_norm3(moment), 0.0, 0.0, 1e-11);
    for (int f = 0; f <= nodes; f++) {
        double *q = state + FIL_ROD_STATE + 3 * nodes + 4 * f, out[4];
        fil_quaternion_multiply(qR, q, out);
        memcpy(q, out, sizeof out);
    }
    restore(rod, state);
    CHECK_NEAR(elastic(rod), before, 1e-12, 0.0);
    rod->table->gradient(rod, moved);
    for (int k = 0; k < rod->dof_count; k += 3) {
        rotate3(R, none, g + k);
        for (int i = k; i < k + 3; i++) {
            CHECK_NEAR(moved[i], g[i], 0.0, 1e-10);
        }
    }
    fil_rod_destroy(rod);
}

// --- statics -------------------------------------------------------------------------------------

// Small sag of a horizontal cantilever under its weight: w L^4 / (8 EI); error falls as 1/n^2.
static void cantilever_sag_converges_at_second_order(void) {
    double previous = 0.0;
    for (int n = 5; n <= 40; n *= 2) {
        FilRodDef def = plain_def(n);
        def.gravity[2] = -1e-3;
        FilRod *rod = make(&def);
        settle(rod);
        FilPose tip;
        fil_rod_at(rod, 1.0, &tip, NULL);
        const double exact = -0.5 * 1e-3 / 8.0;
        double error = fabs(tip.position[2] / exact - 1.0);
        if (previous > 0.0) {
            CHECK_NEAR(previous / error, 4.0, 0.05, 0.0);
        }
        CHECK(error < 1.7 / (n * n));
        previous = error;
        fil_rod_destroy(rod);
    }
}

// Force P at the tip: P L^3 / (3 EI), with half the error 3/4 / n^2 from the coupling's shear.
static void tip_load_sag_has_the_error_that_the_coupling_is_made_for(void) {
    for (int n = 5; n <= 40; n *= 2) {
        FilRodLoad load = {.s = 1.0, .force = {0.0, 1e-4, 0.0}};
        FilRodDef def = plain_def(n);
        def.loads = &load;
        def.load_count = 1;
        FilRod *rod = make(&def);
        settle(rod);
        FilPose tip;
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(tip.position[1] / (1e-4 / 3.0) - 1.0, 0.75 / (n * n), 1e-3, 1e-8);
        fil_rod_destroy(rod);
    }
}

// A torque M at the free tip twists it by M L / GJ, whatever the elements.
static void torque_at_the_tip_twists_by_the_right_angle(void) {
    for (int n = 2; n <= 20; n += 9) {
        FilRodLoad load = {.s = 1.0, .torque = {0.5, 0.0, 0.0}};
        FilRodDef def = plain_def(n);
        def.loads = &load;
        def.load_count = 1;
        FilRod *rod = make(&def);
        settle(rod);
        FilPose tip;
        double kappa[3];
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(atan2(tip.axis[1][2], tip.axis[1][1]), 0.5 / 0.7, 1e-9, 0.0);
        fil_rod_curvature_at(rod, 0, 0.0, kappa);
        CHECK_NEAR(kappa[0], 0.5 / 0.7, 1e-9, 0.0);
        fil_rod_destroy(rod);
    }
}

// A bending moment at the tip makes a circle: curvature M / EI everywhere.
static void moment_at_the_tip_bends_into_a_circle(void) {
    FilRodLoad load = {.s = 1.0, .torque = {0.0, 0.0, 0.5 * pi}};
    FilRodDef def = plain_def(10);
    def.loads = &load;
    def.load_count = 1;
    FilRod *rod = make(&def);
    settle(rod);
    for (int j = 0; j < 9; j++) {
        double kappa[3];
        fil_rod_curvature_at(rod, j, 0.5, kappa);
        CHECK_NEAR(kappa[2], 0.5 * pi, 1e-8, 0.0);
    }
    FilPose tip;
    fil_rod_at(rod, 1.0, &tip, NULL);
    CHECK_NEAR(tip.axis[0][1], 1.0, 1e-8, 0.0);
    CHECK_NEAR(tip.position[0], 2.0 / pi, 3e-3, 0.0);
    fil_rod_destroy(rod);
}

// First frequencies of a cantilever: 3.5160 and 22.034 sqrt(EI / (m L^4)).
static void cantilever_frequencies_converge(void) {
    double previous = 0.0;
    for (int n = 10; n <= 40; n *= 2) {
        FilRodDef def = plain_def(n);
        def.section.radius = 1e-3;
        FilRod *rod = make(&def);
        double frequency[3];
        FilError error;
        CHECK(fil_rod_frequencies(rod, 3, frequency, &error) == FIL_OK);
        double off = fabs(frequency[0] / (3.516015 * sqrt(2.0)) - 1.0);
        CHECK(off < 2.0 / (n * n));
        if (previous > 0.0) {
            CHECK_NEAR(previous / off, 4.0, 0.1, 0.0);
        }
        CHECK_NEAR(frequency[2], 22.0345 * sqrt(2.0), 12.0 / (n * n), 0.0);
        previous = off;
        fil_rod_destroy(rod);
    }
}

// --- dynamics ------------------------------------------------------------------------------------

static void set_spin(FilRod *rod, double spin) {
    double state[MAX_STATE];
    int n = rod->element_count;
    fil_rod_get_state(rod, state);
    double *v = state + FIL_ROD_STATE + 3 * (n + 1) + 4 * (n + 2);
    for (int f = 1; f <= n; f++) {
        v[6 * f] = spin;
    }
    restore(rod, state);
}

// A free straight rod spins about its axis for ever: it has the inertia of its sections.
static void free_straight_rod_keeps_its_spin(void) {
    const FilRodStepKind kinds[2] = {FIL_ROD_STEP_IMPLICIT, FIL_ROD_STEP_EXPLICIT};
    for (int k = 0; k < 2; k++) {
        FilRodDef def = plain_def(10);
        def.root_end.kind = FIL_END_FREE;
        def.step_kind = kinds[k];
        def.damping = 1e-4;
        FilRod *rod = make(&def);
        CHECK(fil_rod_dof_count(rod) == 63);
        set_spin(rod, 10.0);
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        CHECK_NEAR(energy.kinetic, 0.5 * (0.5 * 0.5 * 4e-4) * 100.0, 1e-12, 0.0);
        step_many(rod, kinds[k] == FIL_ROD_STEP_EXPLICIT ? 0.5 * fil_rod_largest_step(rod) : 1e-2,
                  300);
        FilRate rate;
        fil_rod_at(rod, 0.37, NULL, &rate);
        CHECK_NEAR(rate.spin[0], 10.0, 1e-10, 0.0);
        fil_rod_energy(rod, &energy);
        CHECK_NEAR(energy.kinetic, 5e-3, 1e-10, 0.0);
        fil_rod_destroy(rod);
    }
}

// A rod that flies freely falls with its centre as a stone does and keeps its angular momentum.
static void free_rod_keeps_momentum_and_angular_momentum(void) {
    FilRandom random = fil_random_make(3);
    FilRodDef def = plain_def(8);
    def.root_end.kind = FIL_END_FREE;
    def.step_kind = FIL_ROD_STEP_EXPLICIT;
    def.damping = 1e-4;
    FilRod *rod = make(&def);
    deform(rod, &random);
    set_spin(rod, 3.0);
    double L[2][3] = {{0.0}, {0.0}}, P[2][3] = {{0.0}, {0.0}};
    static double M[51 * 51];
    rod->table->mass(rod, M);
    for (int side = 0; side < 2; side++) {
        double v[MAX_DOF];
        rod->table->get_velocity(rod, v);
        const double *r = rod->state + FIL_ROD_STATE;
        for (int b = 0; b < 17; b++) {
            double m = M[(size_t)(3 * b) * 51 + (size_t)(3 * b)], arm[3];
            if (b % 2 == 0) {
                fil_cross3(r + 3 * (b / 2), v + 3 * b, arm);
                fil_add3(m, v + 3 * b, P[side]);
                fil_add3(m, arm, L[side]);
            } else {
                fil_add3(m, v + 3 * b, L[side]);
            }
        }
        step_many(rod, 0.3 * fil_rod_largest_step(rod), side == 0 ? 2000 : 0);
    }
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(P[1][k], P[0][k], 0.0, 1e-13);
        CHECK_NEAR(L[1][k], L[0][k], 0.0, 1e-12);
    }
    fil_rod_destroy(rod);
}

static FilRodDef swing_def(int elements, FilRodStepKind kind) {
    FilRodDef def = plain_def(elements);
    def.section.stretch = 1e3;
    def.gravity[2] = -9.81;
    def.step_kind = kind;
    return def;
}

static double total(const FilRod *rod) {
    FilRodEnergy e;
    fil_rod_energy(rod, &e);
    return e.kinetic + e.bend + e.twist + e.stretch + e.gravity + e.loads;
}

// The explicit step is stable just below the step that the rod reports, and not well above.
static void explicit_step_is_stable_below_the_reported_step_only(void) {
    const double dampings[2] = {0.0, 2e-3};
    for (int k = 0; k < 2; k++) {
        FilRodDef def = swing_def(20, FIL_ROD_STEP_EXPLICIT);
        def.damping = dampings[k];
        FilRod *rod = make(&def);
        double dt = fil_rod_largest_step(rod);
        FilRandom random = fil_random_make(5);
        double dx[200];
        fill_random(&random, 1e-6, rod->dof_count, dx);
        rod->table->move(rod, dx);
        double before = total(rod), highest = before;
        for (int i = 0; i < 50; i++) {
            step_many(rod, 0.9 * dt, 40);
            highest = fmax(highest, total(rod));
        }
        CHECK(highest < before + 0.02);
        fil_rod_destroy(rod);
        rod = make(&def);
        rod->table->move(rod, dx);
        bool exploded = false;
        for (int i = 0; i < 2000 && !exploded; i++) {
            exploded = fil_rod_step(rod, 1.3 * dt, NULL, NULL) != FIL_OK || total(rod) > 1.0;
        }
        CHECK(exploded);
        fil_rod_destroy(rod);
    }
}

static void run_swing(FilRodStepKind kind, double dt, int count, FilPose *tip) {
    FilRodDef def = swing_def(10, kind);
    FilRod *rod = make(&def);
    step_many(rod, dt, count);
    fil_rod_at(rod, 1.0, tip, NULL);
    fil_rod_destroy(rod);
}

// Both steps converge to the same motion, with order 1.
static void explicit_and_implicit_steps_agree_at_small_steps(void) {
    double previous = 0.0;
    for (int k = 0; k < 3; k++) {
        double dt = 2e-4 / (1 << k), off[3];
        int count = 1000 << k;
        FilPose a, b;
        run_swing(FIL_ROD_STEP_EXPLICIT, dt, count, &a);
        run_swing(FIL_ROD_STEP_IMPLICIT, dt, count, &b);
        fil_subtract3(a.position, b.position, off);
        double error = fil_norm3(off);
        CHECK(error < 0.01);
        if (previous > 0.0) {
            CHECK_NEAR(previous / error, 2.0, 0.15, 0.0);
        }
        previous = error;
    }
}

// Ten and a hundred times the explicit step: the implicit one stays bounded and comes to rest where
// the rod hangs in equilibrium.
static void implicit_step_takes_steps_ten_and_a_hundred_times_as_long(void) {
    for (int factor = 10; factor <= 100; factor *= 10) {
        FilRodDef def = swing_def(10, FIL_ROD_STEP_EXPLICIT);
        FilRod *rod = make(&def);
        double dt = factor * fil_rod_largest_step(rod);
        fil_rod_destroy(rod);
        def.step_kind = FIL_ROD_STEP_AUTO;
        def.drag = 2.0;
        rod = make(&def);
        double before = total(rod), highest = before;
        for (double time = 0.0; time < 15.0; time += dt) {
            step_many(rod, dt, 1);
            highest = fmax(highest, total(rod));
        }
        CHECK(highest <= before + 1e-9);
        FilPose moved, rest;
        fil_rod_at(rod, 1.0, &moved, NULL);
        settle(rod);
        fil_rod_at(rod, 1.0, &rest, NULL);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(moved.position[k], rest.position[k], 0.0, 1e-3);
        }
        fil_rod_destroy(rod);
    }
}

// theta = 1/2: order 2.
static void trapezoidal_step_converges_at_second_order(void) {
    double last[3] = {0.0}, previous = 0.0;
    for (int k = 0; k < 4; k++) {
        FilRodDef def = swing_def(10, FIL_ROD_STEP_IMPLICIT);
        def.theta = 0.5;
        FilRod *rod = make(&def);
        step_many(rod, 2e-3 / (1 << k), 100 << k);
        FilPose tip;
        double off[3];
        fil_rod_at(rod, 1.0, &tip, NULL);
        fil_subtract3(tip.position, last, off);
        double change = fil_norm3(off);
        if (k > 1) {
            CHECK_NEAR(previous / change, 4.0, 0.3, 0.0);
        }
        previous = change;
        fil_copy3(tip.position, last);
        fil_rod_destroy(rod);
    }
}

// A falling hair, as stiff to stretch as hair is, at the step that the rod itself reports.
static void implicit_step_is_safe_at_the_reported_step(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = FIL_ROD_CORDE;
        def.element_count = 20;
        def.theta = k == 0 ? 1.0 : 0.5;
        FilRod *rod = make(&def);
        double scale = 0.5 * 1300.0 * pi * 50e-6 * 50e-6 * 0.2 * 9.81 * 0.2; // weight times half L
        while (fil_rod_time(rod) < 1.0) {
            step_many(rod, fmin(fil_rod_largest_step(rod), 11e-3), 1);
            CHECK(total(rod) < 0.05 * scale);
        }
        fil_rod_destroy(rod);
    }
}

// --- ends ----------------------------------------------------------------------------------------

typedef struct Drive {
    double place[3], velocity[3]; // m, m/s
    double spin;                  // rad/s about x
} Drive;

static void drive_end(void *user, double time, FilPose *pose) {
    const Drive *drive = user;
    double angle = drive->spin * time;
    for (int k = 0; k < 3; k++) {
        pose->position[k] = drive->place[k] + drive->velocity[k] * time;
    }
    const double axis[3][3] = {
        {1.0, 0.0, 0.0}, {0.0, cos(angle), sin(angle)}, {0.0, -sin(angle), cos(angle)}};
    memcpy(pose->axis, axis, sizeof axis);
}

// Turning one end of a clamped rod by more than a turn stores GJ angle^2 / (2 L).
static void driven_tip_twists_the_rod(void) {
    Drive drive = {.place = {1.0, 0.0, 0.0}, .spin = 1.0};
    FilRodDef def = plain_def(20);
    def.tip_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = drive_end, .user = &drive};
    def.section.bend[0] = def.section.bend[1] = 10.0; // far from buckling
    def.damping = 1e-2;
    FilRod *rod = make(&def);
    CHECK(fil_rod_dof_count(rod) == 6 * 20 + 3 - 6);
    step_many(rod, 1e-2, 700);
    FilRodEnergy energy;
    FilPose tip;
    FilRate rate;
    fil_rod_energy(rod, &energy);
    CHECK_NEAR(energy.twist, 0.5 * 0.7 * 49.0, 1e-3, 0.0);
    fil_rod_at(rod, 1.0, &tip, &rate);
    CHECK_NEAR(tip.axis[1][1], cos(7.0), 0.0, 1e-9);
    CHECK_NEAR(rate.spin[0], 1.0, 1e-9, 0.0);
    fil_rod_at(rod, 0.5, NULL, &rate);
    CHECK_NEAR(rate.spin[0], 0.5, 1e-3, 0.0);
    fil_rod_destroy(rod);
}

// Both clamps move at one velocity: so does the rod, and it is not strained for long.
static void rod_follows_its_driven_clamps(void) {
    static const struct {
        FilRodStepKind kind;
        double theta, damping, dt, allowed;
    } list[] = {{FIL_ROD_STEP_IMPLICIT, 1.0, 1e-2, 1e-2, 1e-9},
                {FIL_ROD_STEP_IMPLICIT, 0.6, 1e-2, 1e-2, 1e-9},
                {FIL_ROD_STEP_EXPLICIT, 1.0, 1e-3, 1e-4, 5e-3}};
    Drive root = {.velocity = {0.3, 0.2, -0.1}};
    Drive tip = {.place = {1.0, 0.0, 0.0}, .velocity = {0.3, 0.2, -0.1}};
    for (int i = 0; i < 3; i++) {
        FilRodDef def = plain_def(10);
        def.root_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = drive_end, .user = &root};
        def.tip_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = drive_end, .user = &tip};
        def.step_kind = list[i].kind;
        def.damping = list[i].damping;
        def.theta = list[i].theta;
        FilRod *rod = make(&def);
        step_many(rod, list[i].dt, (int)(5.0 / list[i].dt + 0.5));
        FilPose middle;
        FilRate rate;
        fil_rod_at(rod, 0.5, &middle, &rate);
        for (int k = 0; k < 3; k++) {
            double place = (k == 0 ? 0.5 : 0.0) + 5.0 * root.velocity[k];
            CHECK_NEAR(middle.position[k], place, 0.0, list[i].allowed);
            CHECK_NEAR(rate.velocity[k], root.velocity[k], 0.0, 30.0 * list[i].allowed);
        }
        fil_rod_destroy(rod);
    }
}

// A sliding end keeps to its axis and its frame, and gives way along it.
static void sliding_end_gives_way_along_its_axis_only(void) {
    FilRodDef def = plain_def(10);
    def.tip_end.kind = FIL_END_SLIDING;
    def.gravity[0] = 2.0;
    def.gravity[2] = -3.0;
    def.section.stretch = 50.0;
    def.drag = 3.0;
    FilRod *rod = make(&def);
    step_many(rod, 1e-2, 2000);
    FilPose moved, rest;
    fil_rod_at(rod, 1.0, &moved, NULL);
    CHECK_NEAR(moved.position[2], 0.0, 0.0, 1e-12);
    CHECK_NEAR(moved.axis[0][0], 1.0, 1e-12, 0.0);
    CHECK(moved.position[0] > 1.005); // m g L^2 / (2 EA) = 0.01, less what the sag takes
    settle(rod);
    fil_rod_at(rod, 1.0, &rest, NULL);
    CHECK_NEAR(moved.position[0], rest.position[0], 1e-6, 0.0);
    fil_rod_destroy(rod);
}

// Pinned at both ends, a rod sags by 5 w L^4 / (384 EI) in the middle.
static void pinned_rod_sags_as_a_beam_on_two_supports(void) {
    FilRodDef def = plain_def(20);
    def.root_end.kind = FIL_END_PINNED;
    def.tip_end.kind = FIL_END_PINNED;
    def.gravity[2] = -1e-3;
    def.drag = 3.0;
    FilRod *rod = make(&def);
    CHECK(fil_rod_dof_count(rod) == 6 * 20 + 3 - 6);
    step_many(rod, 2e-2, 2000);
    FilPose middle;
    fil_rod_at(rod, 0.5, &middle, NULL);
    CHECK_NEAR(middle.position[2], -5.0 * 0.5e-3 / 384.0, 0.02, 0.0);
    fil_rod_destroy(rod);
}

// A start shape that does not reach its driven tip is brought there without being stretched.
static void start_shape_is_brought_to_its_driven_ends(void) {
    Drive drive = {.place = {0.7, 0.0, 0.0}};
    double start[3 * 21];
    for (int i = 0; i <= 20; i++) {
        start[3 * i] = start[3 * i + 2] = 0.0;
        start[3 * i + 1] = -6.0 * cos(0.1 * pi * i);
    }
    FilRodDef def = plain_def(20);
    def.section.radius = 1e-4;
    def.start_curvatures = start;
    def.start_count = 21;
    def.tip_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = drive_end, .user = &drive};
    FilRod *rod = make(&def);
    FilPose tip;
    FilRodEnergy energy;
    fil_rod_at(rod, 1.0, &tip, NULL);
    CHECK_NEAR(tip.position[0], 0.7, 1e-12, 0.0);
    CHECK_NEAR(tip.position[2], 0.0, 0.0, 1e-12);
    fil_rod_energy(rod, &energy);
    CHECK(energy.stretch < 1e-9);
    settle(rod);
    fil_rod_destroy(rod);
}

// --- damping, drag, growth -----------------------------------------------------------------------

// Internal damping takes energy from vibration and none from turning as a whole.
static void damping_sees_strain_rates_only(void) {
    for (int kind = 0; kind < 2; kind++) {
        FilRodDef def = plain_def(8);
        def.root_end.kind = FIL_END_FREE;
        def.damping = 0.05;
        def.step_kind = kind == 0 ? FIL_ROD_STEP_EXPLICIT : FIL_ROD_STEP_IMPLICIT;
        FilRod *rod = make(&def);
        double state[MAX_STATE];
        fil_rod_get_state(rod, state);
        double *v = state + FIL_ROD_STATE + 3 * 9 + 4 * 10;
        for (int b = 1; b <= 17; b++) { // one turn in 2 pi seconds about z, through the middle
            v[3 * b + (b % 2 == 0 ? 2 : 1)] = b % 2 == 0 ? 1.0 : (b - 1) / 16.0 - 0.5;
        }
        restore(rod, state);
        double before = total(rod);
        double dt = kind == 0 ? 0.5 * fil_rod_largest_step(rod) : 1e-4;
        step_many(rod, dt, 5000);
        CHECK_NEAR(total(rod), before, 1e-3, 0.0);
        FilRandom random = fil_random_make(2);
        deform(rod, &random);
        double bent = total(rod);
        step_many(rod, dt, 5000);
        CHECK(total(rod) < 0.9 * bent);
        fil_rod_destroy(rod);
    }
}

// Drag d against the weight m g: a free rod falls at m g / d in the end.
static void falling_rod_reaches_its_terminal_velocity(void) {
    FilRodDef def = plain_def(5);
    def.root_end.kind = FIL_END_FREE;
    def.gravity[2] = -9.81;
    def.drag = 2.0;
    FilRod *rod = make(&def);
    step_many(rod, 1e-2, 1000);
    FilRate rate;
    fil_rod_at(rod, 0.3, NULL, &rate);
    CHECK_NEAR(rate.velocity[2], -0.5 * 9.81 / 2.0, 1e-9, 0.0);
    fil_rod_destroy(rod);
}

static void growing_rod_becomes_longer(void) {
    FilRodDef def = plain_def(10);
    def.growth = 0.5;
    def.damping = 1e-3;
    FilRod *rod = make(&def);
    step_many(rod, 1e-3, 1000);
    FilPose tip;
    fil_rod_at(rod, fil_rod_length(rod), &tip, NULL);
    CHECK_NEAR(fil_rod_length(rod), 1.5, 1e-9, 0.0);
    CHECK_NEAR(tip.position[0], 1.5, 1e-2, 0.0);
    fil_rod_destroy(rod);
}

// --- robustness ----------------------------------------------------------------------------------

// A rod set to a saved state goes on with the same bits.
static void saved_state_goes_on_with_the_same_bits(void) {
    for (int kind = 0; kind < 2; kind++) {
        FilRodDef def = swing_def(10, kind == 0 ? FIL_ROD_STEP_EXPLICIT : FIL_ROD_STEP_IMPLICIT);
        def.natural_curvature[1] = 3.0;
        FilRod *a = make(&def), *b = make(&def);
        double saved[MAX_STATE], end[2][MAX_STATE];
        step_many(a, 1e-4, 50);
        fil_rod_get_state(a, saved);
        step_many(a, 1e-4, 50);
        restore(b, saved);
        step_many(b, 1e-4, 50);
        fil_rod_get_state(a, end[0]);
        fil_rod_get_state(b, end[1]);
        CHECK(check_same_bits(end[0], end[1], sizeof(double) * (size_t)fil_rod_state_count(a)));
        fil_rod_destroy(a);
        fil_rod_destroy(b);
    }
}

static void half_a_turn_between_elements_is_refused(void) {
    FilRodDef def = plain_def(10);
    def.natural_curvature[0] = 40.0;
    FilRod *rod = NULL;
    FilError error;
    CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_E_ARGUMENT);
    CHECK(strcmp(error.text,
                 "natural_curvature turns the frame by 4 rad from one element to the next; corde "
                 "needs more elements, so that it is below pi") == 0);
    def = plain_def(1);
    def.length = 1e-150;
    CHECK(fil_rod_create(&def, NULL, &rod, &error) == FIL_E_ARGUMENT);
    CHECK(strncmp(error.text, "an element of length 1e-150 m has", 33) == 0);
    CHECK(rod == NULL);
}

static bool is_finite(const FilRod *rod) {
    for (int k = 0; k < rod->state_count; k++) {
        if (!isfinite(rod->state[k])) {
            return false;
        }
    }
    FilRodEnergy energy;
    fil_rod_energy(rod, &energy);
    return isfinite(energy.kinetic + energy.bend + energy.twist + energy.stretch);
}

// A cable of 1 km, a fibre of 10 micrometres, 1000 turns of twist, a curvature of 1e5 per metre,
// steps of a nanosecond and of a day: finite numbers or a refusal, never NaN.
static void extreme_rods_stay_finite(void) {
    static const struct {
        int elements;
        double length, radius, natural[3];
    } list[] = {{50, 1000.0, 0.05, {0.0}},
                {20, 0.01, 10e-6, {0.0}},
                {2500, 1.0, 1e-3, {2000.0 * 3.14159, 0.0, 0.0}},
                {1000, 0.01, 10e-6, {0.0, 1e5, 1e5}},
                {1, 1e-4, 1e-6, {0.0}}};
    static const double steps[] = {1e-9, 1e-3, 1.0, 86400.0};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (int kind = 0; kind < 2; kind++) {
            FilRodDef def = fil_rod_def_default();
            def.model = FIL_ROD_CORDE;
            def.element_count = list[k].elements;
            def.length = list[k].length;
            def.section.radius = list[k].radius;
            memcpy(def.natural_curvature, list[k].natural, sizeof def.natural_curvature);
            def.step_kind = kind == 0 ? FIL_ROD_STEP_IMPLICIT : FIL_ROD_STEP_EXPLICIT;
            FilRod *rod = make(&def);
            double largest = fil_rod_largest_step(rod);
            CHECK(largest > 0.0 && isfinite(largest));
            for (int i = 0; i < 40; i++) {
                FilStatus status = fil_rod_step(rod, steps[i / 10], NULL, NULL);
                CHECK(status == FIL_OK || status == FIL_E_ARGUMENT);
                CHECK(is_finite(rod));
            }
            fil_rod_destroy(rod);
        }
    }
}

// A step that is refused leaves the rod as it was, and the next one works.
static void refused_step_leaves_the_rod_as_it_was(void) {
    const FilRodStepKind kinds[2] = {FIL_ROD_STEP_IMPLICIT, FIL_ROD_STEP_EXPLICIT};
    for (int kind = 0; kind < 2; kind++) {
        FilRodDef def = swing_def(5, kinds[kind]);
        FilRod *rod = make(&def);
        FilError error;
        double before[MAX_STATE], after[MAX_STATE];
        step_many(rod, 1e-5, 10);
        fil_rod_get_state(rod, before);
        const FilRodLoad load = {.s = def.length, .force = {1e305, 0.0, 0.0}};
        CHECK(fil_rod_set_loads(rod, &load, 1, NULL) == FIL_OK);
        CHECK(fil_rod_step(rod, 1e9, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(strncmp(error.text, "dt is 1e+09; the rod leaves the range of numbers", 48) == 0);
        CHECK(fil_rod_set_loads(rod, NULL, 0, NULL) == FIL_OK);
        fil_rod_get_state(rod, after);
        CHECK(check_same_bits(before, after, sizeof(double) * (size_t)fil_rod_state_count(rod)));
        step_many(rod, 1e-5, 10);
        fil_rod_destroy(rod);
    }
}

// Nodes in one place and a frame against its edge are legal states.
static void collapsed_and_reversed_elements_stay_finite(void) {
    FilRodDef def = plain_def(4);
    FilRod *rod = make(&def);
    double state[MAX_STATE], dx[MAX_DOF];
    static double H[MAX_DOF * MAX_DOF];
    fil_rod_get_state(rod, state);
    memset(state + FIL_ROD_STATE, 0, sizeof(double) * 15);
    restore(rod, state);
    rod->table->gradient(rod, dx);
    rod->table->hessian(rod, H);
    for (int k = 0; k < rod->dof_count; k++) {
        CHECK(isfinite(dx[k]) &&
              isfinite(dot(H + (size_t)k * (size_t)rod->dof_count, dx, rod->dof_count)));
    }
    step_many(rod, 1e-3, 100);
    CHECK(is_finite(rod));
    memset(state + FIL_ROD_STATE + 15, 0, sizeof(double) * 24); // quaternions of zero length
    for (int i = 0; i < 5; i++) {
        state[FIL_ROD_STATE + 3 * i] = -0.25 * i; // edges against their frames
    }
    restore(rod, state);
    step_many(rod, 1e-3, 100);
    CHECK(is_finite(rod));
    fil_rod_destroy(rod);
}

static void every_allocation_may_fail(void) {
    for (int n = 1; n < 100; n++) {
        FailingAllocator memory = {.fail_at = n};
        const FilAllocator allocator = failing_allocator(&memory);
        FilRodDef def = plain_def(10);
        FilRod *rod = NULL;
        FilError error;
        FilStatus status = fil_rod_create(&def, &allocator, &rod, &error);
        if (status == FIL_OK) {
            int requests = memory.requests;
            step_many(rod, 1e-3, 5);
            CHECK(memory.requests == requests); // a step allocates nothing
        }
        fil_rod_destroy(rod);
        CHECK(failing_allocator_is_clean(&memory));
        if (memory.failures == 0) {
            CHECK(status == FIL_OK);
            return;
        }
        CHECK(status == FIL_E_NO_MEMORY);
    }
    CHECK(!"creation succeeds in the end");
}

#define TESTS(X)                                                      \
    X(gradient_is_the_derivative_of_the_energy_at_second_order)       \
    X(hessian_is_the_second_derivative_of_the_energy_at_second_order) \
    X(stiffness_is_the_hessian_at_rest)                               \
    X(jacobian_is_the_derivative_of_the_pose)                         \
    X(circle_stores_the_bending_energy_of_a_circle)                   \
    X(twisted_rod_stores_the_energy_of_twist)                         \
    X(natural_shape_stores_no_energy)                                 \
    X(start_shape_converges_to_the_helix_at_second_order)             \
    X(elasticity_does_not_see_rigid_motions)                          \
    X(cantilever_sag_converges_at_second_order)                       \
    X(tip_load_sag_has_the_error_that_the_coupling_is_made_for)       \
    X(torque_at_the_tip_twists_by_the_right_angle)                    \
    X(moment_at_the_tip_bends_into_a_circle)                          \
    X(cantilever_frequencies_converge)                                \
    X(free_straight_rod_keeps_its_spin)                               \
    X(free_rod_keeps_momentum_and_angular_momentum)                   \
    X(explicit_step_is_stable_below_the_reported_step_only)           \
    X(explicit_and_implicit_steps_agree_at_small_steps)               \
    X(implicit_step_takes_steps_ten_and_a_hundred_times_as_long)      \
    X(trapezoidal_step_converges_at_second_order)                     \
    X(implicit_step_is_safe_at_the_reported_step)                     \
    X(driven_tip_twists_the_rod)                                      \
    X(rod_follows_its_driven_clamps)                                  \
    X(sliding_end_gives_way_along_its_axis_only)                      \
    X(pinned_rod_sags_as_a_beam_on_two_supports)                      \
    X(start_shape_is_brought_to_its_driven_ends)                      \
    X(damping_sees_strain_rates_only)                                 \
    X(falling_rod_reaches_its_terminal_velocity)                      \
    X(growing_rod_becomes_longer)                                     \
    X(saved_state_goes_on_with_the_same_bits)                         \
    X(half_a_turn_between_elements_is_refused)                        \
    X(extreme_rods_stay_finite)                                       \
    X(refused_step_leaves_the_rod_as_it_was)                          \
    X(collapsed_and_reversed_elements_stay_finite)                    \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
