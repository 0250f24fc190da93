// Steps of helix and clothoid: two ways to solve them, driven roots, conservation, limits.
#include "reduced_rods.h"

// --- steps ---------------------------------------------------------------------------------------

// One step by elimination and one by the dense matrix, and A^-1 on a random row.
static void compare_steps(const FilRodDef *base, double curvature, double speed, double dt) {
    double answer[2][500], row[2][MAX_DOFS];
    int count = 0, n = 0;
    for (int k = 0; k < 2; k++) {
        FilRodDef def = *base;
        def.step_kind = k == 0 ? FIL_ROD_STEP_RECURSIVE : FIL_ROD_STEP_DENSE;
        FilRod *rod = make_rod(&def);
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

// A rod held at both ends under gravity: the far end stays to second order in the step.
static void a_held_tip_stays(void) {
    for (int k = 0; k < 6; k++) {
        const FilEndKind kinds[3] = {FIL_END_PINNED, FIL_END_SLIDING, FIL_END_CLAMPED};
        FilRodDef def = soft_def(models[k % 2], 6);
        def.tip_end.kind = kinds[k / 2];
        def.natural_curvature[1] = 2.0;
        def.damping = 0.02;
        FilRod *rod = make_rod(&def);
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

// --- geometry ------------------------------------------------------------------------------------

static void joints_are_smooth_and_length_is_kept(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 5);
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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

static void a_free_rod_keeps_its_momenta(void) {
    for (int k = 0; k < 2; k++) {
        CHECK(momentum_drift(models[k], 5e-5) < 1e-10);
        CHECK(momentum_drift(models[k], 1e-3) < 1e-10);
    }
}

// Without the section's inertia about the tangent this step would be singular.
static void a_free_straight_rod_spins_on(void) {
    for (int k = 0; k < 4; k++) {
        FilRodDef def = fil_rod_def_default();
        def.model = models[k % 2];
        def.root_end.kind = k < 2 ? FIL_END_FREE : FIL_END_PINNED;
        memset(def.gravity, 0, sizeof def.gravity);
        FilRod *rod = make_rod(&def);
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
            FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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

// A hair in a gale of ten thousand times its weight swings round and comes to rest. Then it rests:
// sections do not go on spinning about their tangents, and steps are taken whole, or nearly.
static void a_hair_in_a_gale_comes_to_rest(void) {
    enum { LOADS = 8, STEPS = 300 };
    for (int k = 0; k < 2; k++) {
        FilRodDef def = fil_rod_def_default();
        FilRodLoad loads[LOADS];
        def.model = models[k];
        for (int i = 0; i < LOADS; i++) {
            loads[i] = (FilRodLoad){.s = def.length * (i + 0.5) / LOADS,
                                    .force = {0.0, def.length / LOADS, 0.0}};
        }
        def.loads = loads;
        def.load_count = LOADS;
        FilRod *rod = make_rod(&def);
        FilRodStepInfo info = {0};
        FilError error;
        for (int i = 0; i < STEPS; i++) {
            CHECK(fil_rod_step(rod, 1e-3, &info, &error) == FIL_OK);
        }
        FilRodEnergy energy;
        FilPose tip;
        fil_rod_energy(rod, &energy);
        fil_rod_at(rod, def.length, &tip, NULL);
        CHECK(energy.kinetic <= 1e-12 * fabs(energy.loads));
        CHECK(info.parts <= 2);
        CHECK(tip.position[1] > 0.9 * def.length);
        fil_rod_destroy(rod);
    }
}

static void a_state_beyond_all_turns_is_shown_but_not_stepped(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = soft_def(models[k], 6);
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRodDef def = loaded_def(models[k % 2], 60, FIL_END_SLIDING);
        def.step_kind = k < 2 ? FIL_ROD_STEP_RECURSIVE : FIL_ROD_STEP_DENSE;
        check_allocations(def);
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
            rods[i] = make_rod(&def);
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
    X(elimination_and_dense_matrix_agree)                       \
    X(trees_agree_too)                                          \
    X(a_held_tip_stays)                                         \
    X(a_hair_in_a_gale_comes_to_rest)                           \
    X(a_state_beyond_all_turns_is_shown_but_not_stepped)        \
    X(joints_are_smooth_and_length_is_kept)                     \
    X(a_driven_root_is_where_it_is_driven_and_growth_lengthens) \
    X(a_turning_root_takes_the_rod_along)                       \
    X(energy_is_kept_to_second_order)                           \
    X(a_free_rod_keeps_its_momenta)                             \
    X(a_free_straight_rod_spins_on)                             \
    X(a_turned_world_gives_the_same_curvatures)                 \
    X(extreme_rods_stay_finite)                                 \
    X(too_many_turns_are_refused)                               \
    X(the_largest_step_is_stable)                               \
    X(every_allocation_may_fail)                                \
    X(many_rods_give_the_same_bits_on_any_number_of_threads)

CHECK_MAIN(TESTS)
