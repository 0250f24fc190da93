// The rod model corde: positions and quaternions, softly coupled. Derivatives, energies, statics,
// held ends.
#include "corde_rods.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "math/vector.h"

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
    return fabs((value[0] - value[1]) / (2.0 * h) - fil_dot(g, d, n));
}

static FilRod *make_deformed(int kind, FilRandom *random, double *state) {
    FilRod *rod = make_rich((FilEndKind)kind, (FilEndKind)(3 - kind));
    deform(rod, random);
    fil_rod_get_state(rod, state);
    return rod;
}

static void gradient_is_the_derivative_of_the_energy_at_second_order(void) {
    FilRandom random = fil_random_make(7);
    for (int kind = 0; kind < FIL_END_COUNT; kind++) {
        double state[MAX_STATE], d[MAX_DOF] = {0.0};
        FilRod *rod = make_deformed(kind, &random, state);
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
        product += d[i] * fil_dot(H + (size_t)i * (size_t)n, d, n);
    }
    return fabs((value[0] - 2.0 * value[1] + value[2]) / (h * h) - product);
}

static void hessian_is_the_second_derivative_of_the_energy_at_second_order(void) {
    FilRandom random = fil_random_make(8);
    for (int kind = 0; kind < FIL_END_COUNT; kind++) {
        double state[MAX_STATE], d[MAX_DOF] = {0.0};
        FilRod *rod = make_deformed(kind, &random, state);
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
            CHECK_NEAR(fil_dot(rows + (size_t)k * (size_t)n, d, n), velocity, 0.0, 1e-8);
            CHECK_NEAR(fil_dot(rows + (size_t)(k + 3) * (size_t)n, d, n), spin, 0.0, 1e-7);
        }
    }
    fil_rod_destroy(rod);
}

static void a_section_is_moved_by_the_unknowns_around_it(void) {
    FilRandom random = fil_random_make(10);
    const FilEndKind ends[] = {FIL_END_FREE, FIL_END_PINNED, FIL_END_CLAMPED, FIL_END_SLIDING};
    for (int trial = 0; trial < 16; trial++) {
        FilRod *rod = make_rich(ends[trial % 4], ends[trial / 4]);
        double all[6 * MAX_DOF], few[6 * FIL_ROD_PLACE];
        int n = rod->dof_count, first, last;
        deform(rod, &random);
        for (int k = 0; k < 4 * rod->element_count; k++) {
            const double u = (k % 4) / 3.0;
            rod->table->jacobian(rod, k / 4, u, all);
            rod->table->place_span(rod, k / 4, u, &first, &last);
            CHECK(0 <= first && first < last && last <= n && last - first <= FIL_ROD_PLACE);
            rod->table->place_jacobian(rod, k / 4, u, few);
            for (int e = 0; e < 6 * n; e++) {
                int row = e / n, c = e % n;
                CHECK(all[e] ==
                      (c >= first && c < last ? few[row * (last - first) + c - first] : 0.0));
            }
        }
        fil_rod_destroy(rod);
    }
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
        FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        check_twist(plain_def(n));
    }
}

// A bending moment at the tip makes a circle: curvature M / EI everywhere.
static void moment_at_the_tip_bends_into_a_circle(void) {
    FilRodLoad load = {.s = 1.0, .torque = {0.0, 0.0, 0.5 * pi}};
    FilRodDef def = plain_def(10);
    def.loads = &load;
    def.load_count = 1;
    FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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

#define TESTS(X)                                                      \
    X(gradient_is_the_derivative_of_the_energy_at_second_order)       \
    X(hessian_is_the_second_derivative_of_the_energy_at_second_order) \
    X(stiffness_is_the_hessian_at_rest)                               \
    X(a_section_is_moved_by_the_unknowns_around_it)                   \
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
    X(driven_tip_twists_the_rod)                                      \
    X(rod_follows_its_driven_clamps)                                  \
    X(sliding_end_gives_way_along_its_axis_only)                      \
    X(pinned_rod_sags_as_a_beam_on_two_supports)                      \
    X(start_shape_is_brought_to_its_driven_ends)

CHECK_MAIN(TESTS)
