// Discrete elastic rods.
#include "math/vec3.h"
#include "nodal_checks.h"

static const double pi = 3.14159265358979323846;

// Different stiffness in all directions, natural curl and twist.
static FilRodDef curly_def(int elements) {
    FilRodDef def = unit_def(FIL_ROD_DER, elements);
    def.section.bend[1] = 2.3;
    def.natural_curvature[0] = 1.5;
    def.natural_curvature[1] = 2.0;
    def.natural_curvature[2] = -1.0;
    return def;
}

static void derivatives_converge_at_second_order(void) {
    const FilEndKind ends[][2] = {{FIL_END_FREE, FIL_END_FREE},
                                  {FIL_END_CLAMPED, FIL_END_FREE},
                                  {FIL_END_PINNED, FIL_END_CLAMPED},
                                  {FIL_END_SLIDING, FIL_END_CLAMPED},
                                  {FIL_END_CLAMPED, FIL_END_SLIDING}};
    FilRodLoad load = {.s = 0.6, .force = {1.0, -2.0, 3.0}};
    for (int k = 0; k < 5; k++) {
        FilRodDef def = curly_def(3);
        def.root_end.kind = ends[k][0];
        def.tip_end.kind = ends[k][1];
        def.loads = &load;
        def.load_count = 1;
        check_derivatives(def);
    }
}

// Torques have no energy: the Hessian is the symmetric part of how the gradient changes.
static double asymmetry(FilRod *rod, double h) {
    int n = rod->dof_count;
    double H[MOST * MOST], D[MOST * MOST] = {0.0}, state[1024], worst = 0.0;
    FilError error;
    fil_rod_get_state(rod, state);
    rod->table->hessian(rod, H);
    for (int j = 0; j < n; j++) {
        double g[2][MOST];
        for (int s = 0; s < 2; s++) {
            double dx[MOST] = {0.0};
            dx[j] = s == 0 ? h : -h;
            CHECK(fil_rod_set_state(rod, state, &error) == FIL_OK);
            rod->table->move(rod, dx);
            rod->table->gradient(rod, g[s]);
        }
        for (int i = 0; i < n; i++) {
            D[i * n + j] = (g[0][i] - g[1][i]) / (2.0 * h);
        }
    }
    CHECK(fil_rod_set_state(rod, state, &error) == FIL_OK);
    for (int i = 0; i < n * n; i++) {
        double mean = 0.5 * (D[i] + D[i % n * n + i / n]);
        worst = fmax(worst, fabs(mean - H[i]));
    }
    return worst;
}

static void hessian_under_torques_converges_at_second_order(void) {
    const double places[] = {0.0, 0.1, 0.2, 0.4, 0.5, 0.65, 0.9, 1.0};
    for (int k = 0; k < 16; k++) {
        FilRodDef def = curly_def(3);
        FilRodLoad load = {.s = places[k % 8], .torque = {20.0, -10.0, 30.0}};
        FilSection sections[3] = {def.section, def.section, def.section};
        sections[1].bend[0] = sections[1].twist = 3.0;
        def.sections = sections;
        def.root_end.kind = k < 8 ? FIL_END_CLAMPED : FIL_END_FREE;
        def.tip_end.kind = k < 8 ? FIL_END_FREE : FIL_END_SLIDING;
        def.loads = &load;
        def.load_count = 1;
        FilRod *rod = make_rod(&def);
        shake(rod, 0.05);
        double coarse = asymmetry(rod, 2e-3), fine = asymmetry(rod, 1e-3);
        CHECK(fine < 0.5);
        CHECK_NEAR(coarse / fine, 4.0, 0.05, 0.0);
        fil_rod_destroy(rod);
    }
}

static void equations_of_a_step_are_the_gradient_of_its_merit(void) {
    for (int k = 0; k < 16; k++) {
        FilRodDef def = curly_def(3);
        def.root_end.kind = k % 2 == 0 ? FIL_END_CLAMPED : FIL_END_FREE;
        def.tip_end.kind = k / 2 % 2 == 0 ? FIL_END_FREE : FIL_END_SLIDING;
        def.theta = k / 4 % 2 == 0 ? 1.0 : 0.6;
        def.quasistatic_twist = k / 8 % 2 == 1;
        def.damping = 0.02;
        def.drag = 0.5;
        check_step_matrix(def);
    }
}

static void jacobian_rows_are_those_of_the_pose(void) {
    FilRodDef def = curly_def(3);
    check_jacobian(def, 0, 0.0);
    check_jacobian(def, 0, 0.3);
    check_jacobian(def, 0, 1.0);
    check_jacobian(def, 1, 0.4);
    check_jacobian(def, 2, 1.0);
    def.tip_end.kind = FIL_END_SLIDING;
    check_jacobian(def, 2, 0.4);
    check_jacobian(def, 2, 0.7);
    check_jacobian(def, 2, 1.0);
    def.root_end.kind = FIL_END_FREE;
    check_jacobian(def, 0, 0.2);
    FilSection sections[3] = {def.section, def.section, def.section};
    sections[1].bend[0] = sections[1].twist = 5.0;
    def.sections = sections;
    check_jacobian(def, 0, 0.9);
    check_jacobian(def, 1, 0.2);
}

// The motion of a section is that of its Jacobian.
static void a_section_moves_as_its_jacobian_says(void) {
    FilRodDef def = curly_def(3);
    FilRod *rod = make_rod(&def);
    shake(rod, 0.05);
    double J[6 * MOST], v[MOST];
    int n = rod->dof_count;
    rod->table->get_velocity(rod, v);
    for (int k = 0; k <= 12; k++) {
        FilPose pose;
        FilRate rate;
        int element = k < 12 ? k / 4 : 2;
        double u = k < 12 ? 0.25 * (k % 4) : 1.0;
        rod->table->at(rod, element, u, &pose, &rate);
        rod->table->jacobian(rod, element, u, J);
        for (int i = 0; i < 6; i++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++) {
                sum += J[i * n + j] * v[j];
            }
            CHECK_NEAR(i < 3 ? rate.velocity[i] : rate.spin[i - 3], sum, 0.0, 1e-12);
        }
    }
    fil_rod_destroy(rod);
}

// Analytic: torque times the compliance from the clamp to the section, wherever it acts and
// wherever one looks; the second half of the rod is three times stiffer.
static void torque_twists_every_section_by_the_compliance_before_it(void) {
    const double places[] = {0.0, 0.03, 0.125, 0.2, 0.25, 0.5, 0.625, 0.7, 0.875, 0.97, 1.0};
    enum { PLACES = sizeof places / sizeof *places };
    for (int k = 0; k < PLACES * PLACES; k++) {
        double acts = places[k / PLACES], at = places[k % PLACES], reach = fmin(acts, at);
        FilRodDef def = unit_def(FIL_ROD_DER, 4);
        FilSection sections[4] = {def.section, def.section, def.section, def.section};
        sections[2].twist = sections[3].twist = 2.1;
        FilRodLoad load = {.s = acts, .torque = {0.5, 0.0, 0.0}};
        def.sections = sections;
        def.loads = &load;
        def.load_count = 1;
        def.gravity[2] = 0.0;
        FilRod *rod = make_rod(&def);
        settle(rod);
        FilPose pose;
        fil_rod_at(rod, at, &pose, NULL);
        double want = 0.5 * (fmin(reach, 0.5) / 0.7 + fmax(reach - 0.5, 0.0) / 2.1);
        CHECK_NEAR(atan2(pose.axis[1][2], pose.axis[1][1]), want, 0.0, 1e-8);
        fil_rod_destroy(rod);
    }
}

// Analytic: a torque at the tip bends the rod to an arc, EI / torque its radius; tip and tangent
// there are off by a quarter when the elements are half as long.
static void torque_at_the_tip_bends_the_rod_to_an_arc(void) {
    double previous[2] = {0.0};
    for (int n = 4; n <= 64; n *= 2) {
        FilRodDef def = unit_def(FIL_ROD_DER, n);
        FilRodLoad load = {.s = 1.0, .torque = {0.0, -1.2, 0.0}};
        def.section.stretch = 1e7;
        def.loads = &load;
        def.load_count = 1;
        def.gravity[2] = 0.0;
        FilRod *rod = make_rod(&def);
        settle(rod);
        FilPose tip;
        fil_rod_at(rod, 1.0, &tip, NULL);
        double error[2] = {
            hypot(tip.position[0] - sin(1.2) / 1.2, tip.position[2] - (1.0 - cos(1.2)) / 1.2),
            fabs(atan2(tip.axis[0][2], tip.axis[0][0]) - 1.2)};
        for (int k = 0; k < 2; k++) {
            CHECK(error[k] < 0.6 / (n * n));
            if (n > 8) { // 3.3, 3.7, 3.9, ...
                CHECK_NEAR(previous[k] / error[k], 4.0, 0.1, 0.0);
            }
            previous[k] = error[k];
        }
        fil_rod_destroy(rod);
    }
}

// At its natural shape a rod has the frames of the curve, at nodes and between them, at the ends
// and where the natural curvature jumps.
static void frames_of_the_natural_shape_converge_at_second_order(void) {
    double previous = 0.0;
    for (int n = 8; n <= 64; n *= 2) {
        double curvatures[3 * 64], worst = 0.0;
        for (int i = 0; i < n; i++) {
            curvatures[3 * i] = i < n / 2 ? 3.0 : -2.0;
            curvatures[3 * i + 1] = i < n / 2 ? 1.0 : 4.0;
            curvatures[3 * i + 2] = 0.5;
        }
        FilRodDef def = unit_def(FIL_ROD_DER, n), exact = unit_def(FIL_ROD_HELIX, 2);
        def.natural_curvatures = curvatures;
        def.natural_count = n;
        exact.natural_curvatures = (double[6]){3.0, 1.0, 0.5, -2.0, 4.0, 0.5};
        exact.natural_count = 2;
        FilRod *rod = make_rod(&def), *helix = make_rod(&exact);
        for (int k = 0; k <= 4 * n; k++) {
            FilPose pose, want;
            fil_rod_at(rod, 0.25 * k / n, &pose, NULL);
            fil_rod_at(helix, 0.25 * k / n, &want, NULL);
            for (int i = 0; i < 9; i++) {
                worst = fmax(worst, fabs(pose.axis[i / 3][i % 3] - want.axis[i / 3][i % 3]));
            }
        }
        CHECK(worst < 5.0 / (n * n));
        if (n > 8) {
            CHECK_NEAR(previous / worst, 4.0, 0.15, 0.0);
        }
        previous = worst;
        fil_rod_destroy(rod);
        fil_rod_destroy(helix);
    }
}

// The curvature at an end that is not held is what the torque there demands, and the natural one
// without it.
static void curvature_at_a_free_end_is_that_of_its_torque(void) {
    FilRodDef def = curly_def(8);
    FilRodLoad load = {.s = 1.0, .force = {0.0, 0.3, 0.0}};
    def.loads = &load;
    def.load_count = 1;
    FilRod *rod = make_rod(&def);
    settle(rod);
    double kappa[3];
    FilError error;
    fil_rod_curvature_at(rod, 7, 1.0, kappa);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(kappa[k], def.natural_curvature[k], 0.0, 1e-12);
    }
    fil_copy3((double[3]){0.2, -0.1, 0.4}, load.torque);
    CHECK(fil_rod_set_loads(rod, &load, 1, &error) == FIL_OK);
    settle(rod);
    FilPose last;
    fil_rod_at(rod, 0.9375, &last, NULL); // the middle of the last edge
    fil_rod_curvature_at(rod, 7, 1.0, kappa);
    const double stiffness[3] = {0.7, 1.0, 2.3};
    for (int k = 0; k < 3; k++) {
        double moment = fil_dot3(last.axis[k], load.torque);
        CHECK_NEAR(kappa[k], def.natural_curvature[k] + moment / stiffness[k], 0.0, 1e-12);
    }
    fil_rod_destroy(rod);
}

// Stiff stretch does not cost steps of Newton's method: tensions are unknowns of their own.
static void a_step_of_a_hair_takes_two_steps_of_newtons_method(void) {
    FilRodDef def = fil_rod_def_default();
    def.model = FIL_ROD_DER;
    def.element_count = 100;
    def.damping = 1e-3;
    def.natural_curvature[0] = 10.0;
    def.natural_curvature[1] = 30.0;
    FilRod *rod = make_rod(&def);
    int iterations = 0;
    for (int k = 0; k < 100; k++) {
        FilRodStepInfo info;
        take_step(rod, 1e-3, &info);
        CHECK(info.converged);
        iterations += info.iterations;
    }
    CHECK(iterations <= 220);
    fil_rod_destroy(rod);
}

// Analytic: B L / (2 R^2).
static void energy_of_a_circle_converges_at_second_order(void) {
    double previous = 0.0, circle[3] = {0.0, 2.0 * pi, 0.0}, table[128 * 3];
    for (int n = 16; n <= 128; n *= 2) {
        FilRodDef def = unit_def(FIL_ROD_DER, n);
        for (int i = 0; i < n; i++) {
            memcpy(table + 3 * (size_t)i, circle, sizeof circle);
        }
        def.start_curvatures = table;
        def.start_count = n;
        def.tip_end.kind = FIL_END_CLAMPED;
        FilRod *rod = make_rod(&def);
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        double error = fabs(energy.bend / (2.0 * pi * pi) - 1.0);
        CHECK(energy.twist < 1e-20 && error < 8.0 / (n * n));
        if (previous > 0.0) {
            CHECK_NEAR(previous / error, 4.0, 0.1, 0.0);
        }
        previous = error;
        double kappa[3];
        fil_rod_curvature_at(rod, n / 2, 0.3, kappa);
        CHECK_NEAR(kappa[1], 2.0 * pi, 1e-12, 0.0);
        fil_rod_destroy(rod);
    }
}

// Analytic: GJ L tau^2 / 2, for any number of elements and any twist.
static void energy_of_pure_twist_is_exact(void) {
    for (int k = 0; k < 3; k++) {
        double tau = k == 0 ? 1.0 : k == 1 ? 40.0 : 2000.0 * pi;
        double table[5 * 3] = {0.0};
        for (int i = 0; i < 5; i++) {
            table[3 * i] = tau;
        }
        FilRodDef def = unit_def(FIL_ROD_DER, 5);
        def.start_curvatures = table;
        def.start_count = 5;
        def.tip_end.kind = FIL_END_CLAMPED;
        FilRod *rod = make_rod(&def);
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        CHECK_NEAR(energy.twist, 0.5 * 0.7 * tau * tau, 1e-12, 0.0);
        CHECK(energy.bend < 1e-20);
        double g[MOST];
        rod->table->gradient(rod, g);
        for (int i = 0; i < rod->dof_count; i++) {
            CHECK(fabs(g[i]) < 2.0 + 1e-11 * tau); // weight alone
        }
        fil_rod_destroy(rod);
    }
}

static void a_rod_at_its_natural_shape_has_no_energy_and_no_force(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = curly_def(12);
        def.natural_curvature[0] = 5.0;
        def.natural_curvature[1] = 9.0;
        def.gravity[2] = 0.0;
        def.root_end.kind = (FilEndKind)k;
        def.tip_end.kind = (FilEndKind)(3 - k);
        FilRod *rod = make_rod(&def);
        double g[MOST];
        rod->table->gradient(rod, g);
        CHECK(fabs(potential(rod)) < 1e-24);
        for (int i = 0; i < rod->dof_count; i++) {
            CHECK(fabs(g[i]) < 1e-10);
        }
        take_step(rod, 1e-2, NULL);
        CHECK(fabs(total(rod)) < 1e-20);
        fil_rod_destroy(rod);
    }
}

static void cantilever_frequency_converges_at_second_order(void) {
    check_frequencies(FIL_ROD_DER);
}

static void heavy_cantilever_converges_at_second_order(void) {
    check_heavy_cantilever(FIL_ROD_DER);
}

static void a_free_straight_rod_spins_about_its_axis(void) {
    FilRodDef def = unit_def(FIL_ROD_DER, 6);
    def.root_end.kind = FIL_END_FREE;
    def.gravity[2] = 0.0;
    FilRod *rod = make_rod(&def);
    FilNodal *nodal = rod->data;
    for (int j = 0; j < 6; j++) {
        nodal->v[4 * j + 3] = 50.0;
    }
    double start = total(rod);
    for (int i = 0; i < 200; i++) {
        FilRodStepInfo info;
        take_step(rod, 1e-2, &info);
        CHECK(info.converged);
    }
    CHECK_NEAR(start, 0.5 * 0.02 * 2500.0, 1e-12, 0.0);
    CHECK_NEAR(total(rod), start, 1e-9, 0.0);
    FilPose pose;
    FilRate rate;
    fil_rod_at(rod, 0.5, &pose, &rate);
    CHECK_NEAR(rate.spin[0], 50.0, 1e-9, 0.0);
    CHECK_NEAR(pose.axis[1][1], cos(100.0), 0.0, 1e-8);
    fil_rod_destroy(rod);
}

static void stiff_stretch_is_stable(void) {
    check_stiff_stretch(FIL_ROD_DER, 1.0);
    check_stiff_stretch(FIL_ROD_DER, 0.5);
}

// Theta 1/2 loses less than implicit Euler, and less with smaller steps.
static void energy_of_a_falling_rod_drifts_less_with_theta_one_half(void) {
    double lost[3];
    for (int k = 0; k < 3; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = FIL_ROD_DER;
        def.theta = k == 0 ? 1.0 : 0.5;
        FilRod *rod = make_rod(&def);
        double dt = k == 2 ? 2.5e-4 : 1e-3;
        for (int i = 0; i < (int)(0.5 / dt + 0.5); i++) {
            take_step(rod, dt, NULL);
        }
        FilRodEnergy energy;
        fil_rod_energy(rod, &energy);
        lost[k] = total(rod) / energy.gravity;
        fil_rod_destroy(rod);
    }
    CHECK(lost[0] > 0.02 && lost[0] < 0.05);
    CHECK(lost[1] > 0.0 && lost[1] < 0.4 * lost[0]);
    CHECK(lost[2] > 0.0 && lost[2] < 0.3 * lost[1]);
}

static void momentum_of_a_free_rod_is_kept(void) {
    check_momentum(curly_def(8));
}

static void a_rod_turned_as_a_whole_does_the_same(void) {
    check_turned(curly_def(8));
}

static void every_allocation_may_fail_and_steps_make_none(void) {
    check_allocations(curly_def(4));
}

static void a_thousand_turns_of_twist_stay_finite(void) {
    enum { N = 20 };
    double table[N * 3] = {0.0};
    for (int i = 0; i < N; i++) {
        table[3 * i] = 1000.0 * 2.0 * pi / 0.2;
        table[3 * i + 1] = 0.1;
    }
    for (int k = 0; k < 2; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = FIL_ROD_DER;
        def.element_count = N;
        def.start_curvatures = table;
        def.start_count = N;
        def.tip_end.kind = k == 0 ? FIL_END_CLAMPED : FIL_END_FREE;
        FilRod *rod = make_rod(&def);
        for (int i = 0; i < 30; i++) {
            take_step(rod, 1e-4, NULL);
            CHECK(isfinite(total(rod)));
        }
        fil_rod_destroy(rod);
    }
}

static void a_tip_is_driven_through_many_turns(void) {
    FilRodDef def = unit_def(FIL_ROD_DER, 4);
    def.gravity[2] = 0.0;
    def.damping = 0.5;
    FilRodLoad load = {.s = 1.0, .torque = {35.0, 0.0, 0.0}};
    def.loads = &load;
    def.load_count = 1;
    FilRod *rod = make_rod(&def);
    for (int i = 0; i < 400; i++) {
        FilRodStepInfo info;
        take_step(rod, 0.05, &info);
        CHECK(info.converged);
    }
    double kappa[3];
    fil_rod_curvature_at(rod, 1, 0.5, kappa);
    CHECK_NEAR(kappa[0], 35.0 / 0.7, 1e-6, 0.0);
    fil_rod_destroy(rod);
}

static void spin_root(void *user, double time, FilPose *pose) {
    const double rate = *(const double *)user, c = cos(rate * time), s = sin(rate * time);
    *pose = (FilPose){.position = {0.1 * time, 0.0, 0.2 * time},
                      .axis = {{1.0, 0.0, 0.0}, {0.0, c, s}, {0.0, -s, c}}};
}

static void a_driven_clamp_is_followed_exactly(void) {
    double rate = 30.0;
    FilRodDef def = curly_def(6);
    def.root_end.motion = spin_root;
    def.root_end.user = &rate;
    FilRod *rod = make_rod(&def);
    for (int i = 0; i < 50; i++) {
        take_step(rod, 1e-2, NULL);
    }
    FilPose pose, want;
    FilRate motion;
    fil_rod_at(rod, 0.0, &pose, &motion);
    spin_root(&rate, fil_rod_time(rod), &want);
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(pose.axis[k / 3][k % 3], want.axis[k / 3][k % 3], 0.0, 1e-12);
    }
    CHECK_NEAR(pose.position[2], want.position[2], 1e-12, 0.0);
    CHECK_NEAR(motion.velocity[0], 0.1, 1e-9, 0.0);
    CHECK_NEAR(motion.spin[0], 30.0, 1e-9, 0.0);
    fil_rod_destroy(rod);
}

static void quasistatic_twist_is_in_balance_after_every_step(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = curly_def(8);
        def.quasistatic_twist = true;
        def.theta = k == 0 ? 1.0 : 0.5;
        def.root_end.kind = k == 0 ? FIL_END_CLAMPED : FIL_END_FREE;
        FilRod *rod = make_rod(&def);
        for (int i = 0; i < 40; i++) {
            FilRodStepInfo info;
            take_step(rod, 5e-3, &info);
            CHECK(info.converged);
            const FilNodal *nodal = rod->data;
            double g[MOST];
            rod->table->gradient(rod, g);
            for (int j = nodal->ghosts[0]; j < nodal->edge_count; j++) {
                CHECK(fabs(g[4 * j + 3 - nodal->first]) < 1e-6);
            }
        }
        fil_rod_destroy(rod);
    }
}

static void a_sliding_end_stays_on_its_axis(void) {
    FilRodDef def = unit_def(FIL_ROD_DER, 8);
    def.root_end.kind = FIL_END_SLIDING;
    def.tip_end.kind = FIL_END_PINNED;
    def.damping = 0.05;
    FilRod *rod = make_rod(&def);
    for (int i = 0; i < 100; i++) {
        FilRodStepInfo info;
        take_step(rod, 1e-2, &info);
        CHECK(info.converged);
    }
    FilPose pose;
    fil_rod_at(rod, 0.0, &pose, NULL);
    CHECK(pose.position[0] > 1e-3 && pose.position[1] == 0.0 && pose.position[2] == 0.0);
    CHECK_NEAR(pose.axis[0][0], 1.0, 1e-15, 0.0);
    fil_rod_destroy(rod);
}

static void extreme_rods_step_or_are_refused(void) {
    const struct {
        double length, radius, curvature;
        int elements;
    } cases[] = {{1000.0, 0.05, 0.0, 50}, {1e-3, 1e-5, 0.0, 10}, {0.2, 5e-5, 1e5, 10},
                 {0.02, 5e-6, 1e5, 2000}, {1e-6, 1e-9, 1e3, 4},  {0.2, 5e-5, 0.0, 1}};
    for (int k = 0; k < 6; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = FIL_ROD_DER;
        def.length = cases[k].length;
        def.section.radius = cases[k].radius;
        def.natural_curvature[1] = cases[k].curvature;
        def.element_count = cases[k].elements;
        FilRod *rod = NULL;
        FilError error;
        FilStatus status = fil_rod_create(&def, NULL, &rod, &error);
        CHECK(k == 2 ? status == FIL_E_ARGUMENT && strstr(error.text, "2.8 rad") != NULL
                     : status == FIL_OK);
        for (int i = 0; rod != NULL && i < 5; i++) {
            status = fil_rod_step(rod, 1e-3, NULL, &error);
            CHECK(status == FIL_OK && isfinite(total(rod)));
        }
        fil_rod_destroy(rod);
    }
}

static void a_rod_slides_freely_as_any_body_falls(void) {
    check_free_sliding(FIL_ROD_DER);
}

// A free straight rod along x, which spins about itself and turns about y.
static FilRod *make_top(int elements, double stiffness, double theta) {
    FilRodDef def = unit_def(FIL_ROD_DER, elements);
    def.root_end.kind = FIL_END_FREE;
    def.root.position[0] = -0.5;
    def.gravity[2] = 0.0;
    def.section.bend[0] = def.section.bend[1] = def.section.twist = stiffness;
    def.section.stretch = 100.0 * stiffness;
    def.theta = theta;
    FilRod *rod = make_rod(&def);
    FilNodal *nodal = rod->data;
    for (int i = 0; i <= elements; i++) {
        nodal->v[4 * i + 2] = -1.0 * nodal->x[3 * i];
        if (i < elements) {
            nodal->v[4 * i + 3] = 20.0;
        }
    }
    return rod;
}

// Angular momentum about the origin, that of the spins included; the inertia about the middle.
static double sum_angular_momentum(const FilRod *rod, double L[3]) {
    const FilNodal *nodal = rod->data;
    double across = 0.0;
    L[0] = L[1] = L[2] = 0.0;
    for (int i = 0; i <= nodal->edge_count; i++) {
        const double *x = nodal->x + 3 * (ptrdiff_t)i, *v = nodal->v + 4 * (ptrdiff_t)i;
        double moment[3];
        fil_cross3(x, v, moment);
        fil_add3(nodal->mass[i], moment, L);
        across += nodal->mass[i] * fil_dot3(x, x);
        if (i < nodal->edge_count) {
            fil_add3(nodal->inertia[i] * v[3], nodal->start.edges[i].t, L);
        }
    }
    return across;
}

// Analytic: the axis of a symmetric top turns about its angular momentum L at the rate |L| / A, A
// the inertia across its axis.
static void a_spinning_rod_precesses_as_a_symmetric_top(void) {
    FilRod *rod = make_top(10, 100.0, 0.5);
    double L[3], across = sum_angular_momentum(rod, L), size = fil_norm3(L), worst = 0.0;
    double start[3] = {1.0, 0.0, 0.0}, along = L[0] / size, tip[3], side[3];
    for (int k = 0; k < 3; k++) {
        L[k] /= size;
    }
    fil_cross3(L, start, side);
    for (int i = 0; i < 15000; i++) { // 1.1 turns
        take_step(rod, 1e-4, NULL);
        double angle = size / across * fil_rod_time(rod), off[3];
        const FilNodal *nodal = rod->data;
        fil_subtract3(nodal->x + 30, nodal->x, tip);
        for (int k = 0; k < 3; k++) {
            double exact = cos(angle) * (start[k] - along * L[k]) + sin(angle) * side[k];
            off[k] = tip[k] - along * L[k] - exact;
        }
        worst = fmax(worst, fil_norm3(off));
    }
    CHECK(worst < 2e-3 * fil_norm3(side));
    fil_rod_destroy(rod);
}

static void angular_momentum_is_kept_at_any_step(void) {
    for (int k = 0; k < 3; k++) {
        FilRod *rod = make_top(10, 100.0, 0.5);
        double before[3], after[3];
        (void)sum_angular_momentum(rod, before);
        for (int i = 0; i < (200 << k); i++) {
            take_step(rod, 2e-3 / (1 << k), NULL);
        }
        (void)sum_angular_momentum(rod, after);
        fil_subtract3(after, before, after);
        CHECK(fil_norm3(after) < 1e-12 * fil_norm3(before));
        fil_rod_destroy(rod);
    }
}

// Short edges and large steps: what the gyroscopic forces do takes and gives no energy.
static void gyroscopic_forces_do_no_work(void) {
    const FilEndKind kinds[][2] = {{FIL_END_FREE, FIL_END_FREE},
                                   {FIL_END_CLAMPED, FIL_END_FREE},
                                   {FIL_END_SLIDING, FIL_END_PINNED},
                                   {FIL_END_FREE, FIL_END_SLIDING}};
    for (int k = 0; k < 4; k++) {
        FilRodDef def = unit_def(FIL_ROD_DER, 8);
        def.root_end.kind = kinds[k][0];
        def.tip_end.kind = kinds[k][1];
        FilRod *rod = make_rod(&def);
        FilNodal *nodal = rod->data;
        shake(rod, 0.05);
        rod->table->get_velocity(rod, nodal->rest);
        double axes[2][3], change = 0.0, energy = 0.0, most = 0.0, momentum[3] = {0.0};
        fil_nodal_axes(rod, 0.0, axes);
        fil_nodal_scatter(rod, axes, nodal->rest, nodal->v);
        memcpy(nodal->kicked, nodal->v, sizeof(double) * (size_t)nodal->full_count);
        fil_nodal_kick(rod, 0.0, 0.3, &nodal->start, nodal->kicked);
        for (int i = 0; i <= nodal->edge_count; i++) {
            const double *v = nodal->v + 4 * (ptrdiff_t)i, *w = nodal->kicked + 4 * (ptrdiff_t)i;
            energy += nodal->mass[i] * fil_dot3(v, v);
            change += nodal->mass[i] * (fil_dot3(w, w) - fil_dot3(v, v));
            double kick[3];
            fil_subtract3(w, v, kick);
            fil_add3(nodal->mass[i], kick, momentum);
            most = fmax(most, fil_norm3(kick));
        }
        CHECK(most > 0.1 && fabs(change) < 1e-13 * energy);
        CHECK(k > 0 || fil_norm3(momentum) < 1e-13);
        fil_nodal_gather(rod, axes, nodal->kicked, nodal->rest); // held unknowns stay at rest
        fil_nodal_scatter(rod, axes, nodal->rest, nodal->work);
        for (int i = 0; i < nodal->full_count; i++) {
            CHECK_NEAR(nodal->work[i], nodal->kicked[i], 0.0, 1e-14);
        }
        fil_rod_destroy(rod);
    }
}

static void shake_root(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[0] = 0.03 * sin(40.0 * time);
    pose->position[2] = 0.02 * sin(63.0 * time);
}

// The root moves by several elements in a step; edges are pushed, pulled and turned over.
static void a_hair_that_is_shaken_converges_in_large_steps(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = k % 2 == 0 ? FIL_ROD_DER : FIL_ROD_CHAIN;
        def.element_count = 50;
        def.root_end.motion = shake_root;
        def.natural_curvature[1] = k % 2 == 0 ? 30.0 : 0.0;
        FilRod *rod = make_rod(&def);
        int iterations = 0;
        for (int i = 0; i < 50; i++) {
            FilRodStepInfo info;
            take_step(rod, k < 2 ? 5e-3 : 11e-3, &info);
            CHECK(info.converged);
            iterations += info.iterations;
        }
        CHECK(iterations < (k < 2 ? 450 : 2000)); // with those of steps that had to be parted
        fil_rod_destroy(rod);
    }
}

// Whatever the number of elements, and with it of lanes that are not used.
static void variants_of_the_kernels_give_the_same_bits(void) {
    for (int k = 0; k < 40 && fil_der_variant(1) != NULL; k++) {
        FilRodDef def = unit_def(k % 2 == 0 ? FIL_ROD_DER : FIL_ROD_CHAIN, 1 + k / 4);
        def.natural_curvature[1] = k % 2 == 0 ? 1.0 : 0.0;
        def.root_end.kind = k % 4 < 2 ? FIL_END_CLAMPED : FIL_END_FREE;
        def.section.stretch = 1e4;
        double states[2][1024] = {{0.0}};
        for (int variant = 0; variant < 2; variant++) {
            FilRod *rod = make_rod(&def);
            ((FilNodal *)rod->data)->kernels = fil_der_variant(variant);
            shake(rod, 0.01);
            for (int i = 0; i < 5; i++) {
                take_step(rod, 1e-2, NULL);
            }
            fil_rod_get_state(rod, states[variant]);
            fil_rod_destroy(rod);
        }
        for (int i = 0; i < 1024; i++) {
            CHECK(states[0][i] == states[1][i]);
        }
    }
}

#define TESTS(X)                                               \
    X(derivatives_converge_at_second_order)                    \
    X(hessian_under_torques_converges_at_second_order)         \
    X(equations_of_a_step_are_the_gradient_of_its_merit)       \
    X(jacobian_rows_are_those_of_the_pose)                     \
    X(a_section_moves_as_its_jacobian_says)                    \
    X(torque_twists_every_section_by_the_compliance_before_it) \
    X(torque_at_the_tip_bends_the_rod_to_an_arc)               \
    X(frames_of_the_natural_shape_converge_at_second_order)    \
    X(curvature_at_a_free_end_is_that_of_its_torque)           \
    X(a_step_of_a_hair_takes_two_steps_of_newtons_method)      \
    X(energy_of_a_circle_converges_at_second_order)            \
    X(energy_of_pure_twist_is_exact)                           \
    X(a_rod_at_its_natural_shape_has_no_energy_and_no_force)   \
    X(cantilever_frequency_converges_at_second_order)          \
    X(heavy_cantilever_converges_at_second_order)              \
    X(a_free_straight_rod_spins_about_its_axis)                \
    X(stiff_stretch_is_stable)                                 \
    X(energy_of_a_falling_rod_drifts_less_with_theta_one_half) \
    X(momentum_of_a_free_rod_is_kept)                          \
    X(a_rod_turned_as_a_whole_does_the_same)                   \
    X(every_allocation_may_fail_and_steps_make_none)           \
    X(a_thousand_turns_of_twist_stay_finite)                   \
    X(a_tip_is_driven_through_many_turns)                      \
    X(a_driven_clamp_is_followed_exactly)                      \
    X(quasistatic_twist_is_in_balance_after_every_step)        \
    X(a_spinning_rod_precesses_as_a_symmetric_top)             \
    X(angular_momentum_is_kept_at_any_step)                    \
    X(gyroscopic_forces_do_no_work)                            \
    X(a_sliding_end_stays_on_its_axis)                         \
    X(a_rod_slides_freely_as_any_body_falls)                   \
    X(a_hair_that_is_shaken_converges_in_large_steps)          \
    X(variants_of_the_kernels_give_the_same_bits)              \
    X(extreme_rods_step_or_are_refused)

CHECK_MAIN(TESTS)
