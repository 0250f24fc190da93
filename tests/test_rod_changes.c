// Held ends of a rod, and changes of its loads, shape and length, for every model.
#include "rod/lengths.h"
#include "statics_rods.h"

static const double pi = 3.14159265358979323846;

// --- held ends -----------------------------------------------------------------------------------

static void equilibria_keep_their_ends(void) {
    static const FilEndKind kinds[2] = {FIL_END_PINNED, FIL_END_CLAMPED};
    for (int k = 0; k < 2 * FIL_ROD_MODEL_COUNT; k++) {
        FilRodModel model = (FilRodModel)(k / 2);
        FilRodDef def = strut_def(model, kinds[k % 2]);
        def.gravity[2] = -9.81;
        FilRod *rod = make_rod(&def);
        settle(rod);
        FilPose root, tip, held;
        hold_at_seven_tenths(NULL, 0.0, &held);
        fil_rod_at(rod, 0.0, &root, NULL);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(distance(root.position, def.root.position), 0.0, 0.0, 1e-9);
        CHECK_NEAR(distance(tip.position, held.position), 0.0, 0.0, 1e-9);
        // the frames of nodal models are those of edges: the clamp is on a ghost or half an edge
        for (int a = 0; kinds[k % 2] == FIL_END_CLAMPED && is_reduced(model) && a < 3; a++) {
            CHECK_NEAR(distance(root.axis[a], def.root.axis[a]), 0.0, 0.0, 1e-9);
            CHECK_NEAR(distance(tip.axis[a], held.axis[a]), 0.0, 0.0, 1e-9);
        }
        fil_rod_destroy(rod);
    }
}

// Goes round in the plane across x and turns about x.
static void swing(void *user, double time, FilPose *pose) {
    (void)user;
    double c = cos(3.0 * time), s = sin(3.0 * time);
    pose->position[1] += 0.1 * sin(5.0 * time);
    pose->position[2] += 0.1 * (1.0 - cos(5.0 * time));
    for (int k = 0; k < 3; k++) {
        double y = pose->axis[k][1], z = pose->axis[k][2];
        pose->axis[k][1] = c * y - s * z;
        pose->axis[k][2] = s * y + c * z;
    }
}

// Ends that are coordinates are where they are driven at the end of every step. The tip of a
// reduced rod is held by rows, linear in the step: it is off by the square of a step, and does not
// drift.
static void driven_ends_are_followed(void) {
    for (int k = 0; k < 4 * FIL_ROD_MODEL_COUNT; k++) {
        FilRodModel model = (FilRodModel)(k / 4);
        bool at_root = k % 2 == 0, exact = at_root || !is_reduced(model);
        FilEndKind kind = k % 4 < 2 ? FIL_END_CLAMPED : FIL_END_PINNED;
        FilRodDef def = thin_def(model, 6);
        def.start_curvatures = (double[18]){[1] = 2.0, [4] = 2.0, [7] = 1.0};
        def.start_count = 6;
        def.theta = k % 3 == 0 ? 0.5 : 1.0;
        def.damping = 0.01;
        *(at_root ? &def.root_end : &def.tip_end) = (FilRodEnd){.kind = kind, .motion = swing};
        FilRod *rod = make_rod(&def);
        FilPose start, pose, held;
        fil_rod_at(rod, at_root ? 0.0 : 1.0, &start, NULL);
        for (int n = 0; n < 40; n++) {
            take_step(rod, 0.002, NULL);
            held = start;
            swing(NULL, fil_rod_time(rod), &held);
            fil_rod_at(rod, at_root ? 0.0 : 1.0, &pose, NULL);
            CHECK_NEAR(distance(pose.position, held.position), 0.0, 0.0, exact ? 1e-12 : 1e-5);
        }
        for (int a = 0; is_reduced(model) && kind == FIL_END_CLAMPED && a < 3; a++) {
            CHECK_NEAR(distance(pose.axis[a], held.axis[a]), 0.0, 0.0, exact ? 1e-12 : 1e-5);
        }
        fil_rod_destroy(rod);
    }
}

// Loads that stand for the rows of held ends give the generalised forces C^T lambda.
static void rows_of_held_ends_are_loads(void) {
    static const FilEndKind kinds[3] = {FIL_END_PINNED, FIL_END_SLIDING, FIL_END_CLAMPED};
    for (int k = 0; k < 3 * 3 * 3; k++) {
        static const FilRodModel models[3] = {FIL_ROD_HELIX, FIL_ROD_CLOTHOID, FIL_ROD_CORDE};
        FilRodDef def = thin_def(models[k / 9], 5);
        def.root_end.kind = kinds[k % 3];
        def.tip_end.kind = kinds[k / 3 % 3];
        def.start_curvatures = (double[15]){[1] = 2.0, [3] = 1.0, [8] = 3.0};
        def.start_count = 5;
        FilRod *rod = make_rod(&def);
        int n = rod->dof_count, m = rod->row_count;
        double without[64], with[64], rows[FIL_ROD_ROWS * 64], error[FIL_ROD_ROWS];
        double lambda[FIL_ROD_ROWS];
        for (int i = 0; i < m; i++) {
            lambda[i] = 0.3 + 0.2 * i;
        }
        FilRodLoad loads[2];
        FilError why;
        rod->table->gradient(rod, without);
        must(fil_rod_set_loads(rod, loads, fil_rod_row_loads(rod, 0.0, lambda, loads), &why), &why);
        rod->table->gradient(rod, with);
        if (m > 0) {
            rod->table->end_rows(rod, 0.0, rows, error);
        }
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int i = 0; i < m; i++) {
                sum += lambda[i] * rows[i * n + j];
            }
            CHECK_NEAR(with[j] - without[j], sum, 1e-10, 1e-10);
        }
        fil_rod_destroy(rod);
    }
}

static void pull_away(void *user, double time, FilPose *pose) {
    (void)user;
    pose->position[0] += 0.1 * time;
}

static void scale_axes(void *user, double time, FilPose *pose) {
    (void)user;
    pose->axis[0][0] *= 1.0 + time;
}

// A straight inextensible rod between two clamps cannot be longer than it is.
static void a_step_whose_end_cannot_follow_has_not_converged(void) {
    for (int m = FIL_ROD_HELIX; m <= FIL_ROD_CLOTHOID; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.tip_end = (FilRodEnd){.kind = FIL_END_CLAMPED, .motion = pull_away};
        FilRod *rod = make_rod(&def);
        FilRodStepInfo info;
        FilError error;
        must(fil_rod_step(rod, 0.1, &info, &error), &error);
        CHECK(!info.converged);
        CHECK_NEAR(info.residual, 0.01, 1e-6, 0.0);
        fil_rod_destroy(rod);
    }
}

static void driven_axes_must_be_orthonormal(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.root_end.motion = scale_axes;
        FilRod *rod = make_rod(&def);
        FilError error = {0};
        CHECK(fil_rod_step(rod, 0.1, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(strstr(error.text, "root_end.motion: axis") != NULL);
        CHECK(fil_rod_time(rod) == 0.0);
        fil_rod_destroy(rod);
    }
}

// --- changes -------------------------------------------------------------------------------------

static void loads_and_gravity_may_be_changed(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        FilRod *rod = make_rod(&def);
        FilError error;
        FilRodEnergy energy;
        FilRodLoad loads[3] = {{.s = 1.0, .force = {0.0, 0.0, 1.0}},
                               {.s = 0.5, .force = {0.0, 0.0, 2.0}},
                               {.s = 0.0, .force = {0.0, 3.0, 0.0}}};
        must(fil_rod_set_loads(rod, loads, 3, &error), &error);
        must(fil_rod_set_gravity(rod, (double[3]){1.0, 0.0, 0.0}, &error), &error);
        FilStaticsInfo info = settle(rod);
        FilPose tip, middle;
        fil_rod_at(rod, 1.0, &tip, NULL);
        fil_rod_at(rod, 0.5, &middle, NULL);
        fil_rod_energy(rod, &energy);
        CHECK(tip.position[2] > 0.2);
        CHECK_NEAR(energy.loads, -tip.position[2] - 2.0 * middle.position[2], 1e-9, 0.0);
        CHECK_NEAR(info.energy, potential(rod), 1e-12, 0.0);
        must(fil_rod_set_loads(rod, NULL, 0, &error), &error);
        must(fil_rod_set_gravity(rod, (double[3]){0.0, 0.0, 0.0}, &error), &error);
        settle(rod);
        fil_rod_at(rod, 1.0, &tip, NULL);
        CHECK_NEAR(tip.position[2], 0.0, 0.0, 1e-8);
        fil_rod_destroy(rod);
    }
}

static void bad_changes_are_refused_and_change_nothing(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 4);
        FilRod *rod = make_rod(&def);
        double before[256], after[256], table[15] = {0.0};
        FilError error;
        fil_rod_get_state(rod, before);
        CHECK(fil_rod_set_loads(rod, &(FilRodLoad){.s = 1.5}, 1, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "loads[0].s is 1.5"));
        CHECK(fil_rod_set_loads(rod, &(FilRodLoad){.force = {(double)NAN}}, 1, &error) ==
              FIL_E_ARGUMENT);
        CHECK(says(&error, "loads.force[0] is nan"));
        CHECK(fil_rod_set_loads(rod, NULL, 1, &error) == FIL_E_ARGUMENT);
        CHECK(fil_rod_set_loads(rod, NULL, -1, &error) == FIL_E_ARGUMENT);
        CHECK(fil_rod_set_gravity(rod, (double[3]){0.0, HUGE_VAL, 0.0}, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "gravity[1] is inf"));
        CHECK(fil_rod_set_length(rod, 0.0, &error) == FIL_E_ARGUMENT);
        CHECK(fil_rod_set_length(rod, (double)NAN, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "length is nan"));
        CHECK(fil_rod_set_natural(rod, table, 3, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "natural_curvatures has 3 places"));
        CHECK(fil_rod_set_natural(rod, NULL, 4, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "natural_curvatures"));
        if (!is_reduced(def.model)) { // the others have room for any number of turns
            table[4] = 30.0;
            CHECK(fil_rod_set_natural(rod, table, 5, &error) == FIL_E_ARGUMENT);
            CHECK(says(&error, "natural_curvatures"));
        }
        table[7] = (double)NAN;
        CHECK(fil_rod_set_natural(rod, table, 5, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "natural_curvatures[7] is nan"));
        memcpy(after, before, sizeof after);
        after[1] = -1.0;
        CHECK(fil_rod_set_state(rod, after, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "state[1], the length, is -1"));
        memcpy(after, before, sizeof after);
        after[4] = (double)NAN;
        CHECK(fil_rod_set_state(rod, after, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "state[4] is nan"));
        fil_rod_get_state(rod, after);
        CHECK(check_same_bits(before, after, sizeof(double) * (size_t)rod->state_count));
        CHECK(fil_rod_element_count(rod) == 4 && fil_rod_dof_count(rod) == rod->dof_count);
        fil_rod_destroy(rod);
    }
}

// --- natural shape, length, state ----------------------------------------------------------------

// A rod without load takes its natural shape: an arc of two radians.
static void a_new_natural_shape_is_taken(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        FilRod *rod = make_rod(&def);
        FilError error;
        double table[33] = {0.0}, kappa[3];
        for (int k = 0; k < 11; k++) {
            table[3 * k + 2] = 2.0;
        }
        if (m == FIL_ROD_CHAIN) {
            CHECK(fil_rod_set_natural(rod, table, 11, &error) == FIL_E_ARGUMENT);
            CHECK(says(&error, "kappa2 = 2 in element 0; the model chain has no frames"));
        } else {
            for (int count = 10; count <= 11; count++) {
                must(fil_rod_set_natural(rod, table, count, &error), &error);
                settle(rod);
                FilPose tip;
                fil_rod_at(rod, 1.0, &tip, NULL);
                CHECK_NEAR(tip.position[1], (1.0 - cos(2.0)) / 2.0, 5e-3, 0.0);
                fil_rod_natural_at(rod, 3, 0.4, kappa);
                CHECK_NEAR(kappa[2], 2.0, 1e-15, 0.0);
                fil_rod_curvature_at(rod, 3, 0.5, kappa);
                CHECK_NEAR(kappa[2], 2.0, 5e-3, 0.0);
            }
        }
        fil_rod_destroy(rod);
    }
}

static void a_longer_rod_keeps_its_curvature(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 10);
        if (is_framed(def.model)) {
            def.natural_curvature[1] = 1.0;
        }
        FilRod *rod = make_rod(&def);
        FilError error;
        must(fil_rod_set_length(rod, 1.5, &error), &error);
        CHECK(fil_rod_length(rod) == 1.5);
        settle(rod);
        FilPose tip;
        fil_rod_at(rod, 1.5, &tip, NULL);
        double high = is_framed(def.model) ? 1.0 - cos(1.5) : 0.0;
        CHECK_NEAR(fabs(tip.position[2]), high, 5e-3, 1e-9);
        fil_rod_destroy(rod);
    }
}

// What pulls at the tip goes on to when the rod grows, and is cut with it: its energy is that of
// the force at where the tip is.
static void loads_stay_on_their_sections_however_long_the_rod_is(void) {
    const FilRodLoad loads[2] = {{.s = 0.1, .force = {0.0, 0.0, 1e-4}},
                                 {.s = 0.2, .force = {0.0, 2e-4, 0.0}}};
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        for (int way = 0; way < 2; way++) { // it grows; it is given another length
            FilRodDef def = fil_rod_def_default();
            def.model = (FilRodModel)model;
            def.length = 0.2;
            def.loads = loads;
            def.load_count = 2;
            def.growth = way == 0 ? 3.0 : 0.0;
            FilRod *rod = make_rod(&def);
            FilError error;
            for (int k = 0; k < 10; k++) {
                CHECK(fil_rod_step(rod, 1e-3, NULL, &error) == FIL_OK);
            }
            CHECK(way == 0 || fil_rod_set_length(rod, 0.15, &error) == FIL_OK);
            FilRodEnergy energy;
            FilPose middle, tip;
            fil_rod_energy(rod, &energy);
            fil_rod_at(rod, 0.5 * fil_rod_length(rod), &middle, NULL);
            fil_rod_at(rod, fil_rod_length(rod), &tip, NULL);
            CHECK_NEAR(energy.loads, -1e-4 * middle.position[2] - 2e-4 * tip.position[1], 1e-9,
                       1e-16);
            fil_rod_destroy(rod);
        }
    }
}

static void growth_lengthens_a_rod_as_stated(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.growth = 0.5;
        def.damping = 0.1;
        FilRod *rod = make_rod(&def);
        for (int n = 1; n <= 100; n++) {
            take_step(rod, 0.005, NULL);
            CHECK_NEAR(fil_rod_length(rod), 1.0 + 0.5 * fil_rod_time(rod), 1e-14, 0.0);
        }
        FilPose tip;
        settle(rod);
        fil_rod_at(rod, fil_rod_length(rod), &tip, NULL);
        CHECK_NEAR(tip.position[0], 1.25, 1e-9, 0.0);
        fil_rod_destroy(rod);
    }
}

// A rod cannot shrink to nothing: that step fails, and the rod stays as it was.
static void a_rod_that_would_shrink_to_nothing_stays_as_it_was(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 4);
        def.growth = -10.0;
        FilRod *rod = make_rod(&def);
        double before[256], after[256];
        FilError error;
        take_step(rod, 0.01, NULL);
        fil_rod_get_state(rod, before);
        CHECK(fil_rod_step(rod, 0.1, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "length"));
        fil_rod_get_state(rod, after);
        CHECK(check_same_bits(before, after, sizeof(double) * (size_t)rod->state_count));
        CHECK_NEAR(fil_rod_length(rod), 0.9, 1e-14, 0.0);
        fil_rod_destroy(rod);
    }
}

static void a_saved_state_goes_on_with_the_same_bits(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        FilRodDef def = thin_def((FilRodModel)m, 6);
        def.gravity[2] = -9.81;
        def.growth = 0.1;
        def.theta = 0.6;
        FilRod *rod = make_rod(&def), *other = make_rod(&def);
        double saved[256], one[256], two[256];
        FilError error;
        for (int n = 0; n < 5; n++) {
            take_step(rod, 0.004, NULL);
        }
        fil_rod_get_state(rod, saved);
        must(fil_rod_set_state(other, saved, &error), &error);
        for (int n = 0; n < 5; n++) {
            take_step(rod, 0.004, NULL);
            take_step(other, 0.004, NULL);
        }
        fil_rod_get_state(rod, one);
        fil_rod_get_state(other, two);
        CHECK(check_same_bits(one, two, sizeof(double) * (size_t)fil_rod_state_count(rod)));
        must(fil_rod_set_state(rod, saved, &error), &error);
        for (int n = 0; n < 5; n++) {
            take_step(rod, 0.004, NULL);
        }
        fil_rod_get_state(rod, two);
        CHECK(check_same_bits(one, two, sizeof(double) * (size_t)fil_rod_state_count(rod)));
        fil_rod_destroy(rod);
        fil_rod_destroy(other);
    }
}

// --- memory --------------------------------------------------------------------------------------

static FilStatus ask(FilRod *rod, int question, FilError *error) {
    double frequency[2];
    FilStability stability;
    FilRodLoad loads[9] = {{.s = 0.0}};
    switch (question) {
    case 0:
        return fil_rod_equilibrium(rod, NULL, NULL, error);
    case 1:
        return fil_rod_stability(rod, &stability, error);
    case 2:
        return fil_rod_set_loads(rod, loads, 9, error);
    default:
        return fil_rod_frequencies(rod, 2, frequency, error);
    }
}

// Any order, several in a place, both ends of elements.
static void sections_sampled_together_are_where_each_is_alone(void) {
    for (int model = 0; model < FIL_ROD_MODEL_COUNT; model++) {
        FilRodDef def = thin_def((FilRodModel)model, 5);
        def.gravity[2] = -9.81;
        def.natural_curvature[1] = model == FIL_ROD_CHAIN ? 0.0 : 6.0;
        def.natural_curvature[2] = model == FIL_ROD_CHAIN ? 0.0 : 2.0;
        FilRod *rod = make_rod(&def);
        for (int k = 0; k < 30; k++) {
            take_step(rod, 0.004, NULL);
        }
        enum { COUNT = 43 };
        FilRodPlace places[COUNT];
        double points[3 * COUNT], rates[3 * COUNT], still[3 * COUNT], worst = 0.0, fastest = 0.0;
        for (int i = 0; i < COUNT; i++) {
            int k = i < 36 ? i : 7 * (i % 5) + i % 3;
            places[i] = (FilRodPlace){k < 35 ? k / 7 : 4, k < 35 ? k % 7 / 6.0 : 1.0};
        }
        rod->table->sample(rod, places, COUNT, points, rates);
        rod->table->sample(rod, places, COUNT, still, NULL);
        CHECK(check_same_bits(points, still, sizeof points));
        for (int i = 0; i < COUNT; i++) {
            FilPose pose;
            FilRate rate;
            rod->table->at(rod, places[i].element, places[i].u, &pose, &rate);
            for (int c = 0; c < 3; c++) {
                worst = fmax(worst, fabs(points[3 * i + c] - pose.position[c]) / def.length);
                worst = fmax(worst, fabs(rates[3 * i + c] - rate.velocity[c]));
                fastest = fmax(fastest, fabs(rate.velocity[c]));
            }
        }
        CHECK(worst < 1e-14 && fastest > 0.01);
        fil_rod_destroy(rod);
    }
}

static void every_allocation_of_a_question_may_fail(void) {
    for (int k = 0; k < 4 * FIL_ROD_MODEL_COUNT; k++) {
        FailingAllocator memory = {0};
        const FilAllocator allocator = failing_allocator(&memory);
        FilRodDef def = strut_def((FilRodModel)(k / 4), FIL_END_CLAMPED);
        def.element_count = 30; // so that a block does not hold it all
        def.gravity[2] = -9.81; // against turning about the axis, which costs nothing
        FilRod *rod = NULL;
        FilError error;
        must(fil_rod_create(&def, &allocator, &rod, &error), &error);
        (void)settle(rod);
        int live = memory.live;
        for (int n = 1;; n++) {
            memory.failures = 0;
            memory.fail_at = memory.requests + n;
            FilStatus status = ask(rod, k % 4, &error);
            if (memory.failures == 0) {
                CHECK(status == FIL_OK);
                break;
            }
            CHECK(status == FIL_E_NO_MEMORY && says(&error, "there is no memory"));
            CHECK(memory.live == live);
        }
        fil_rod_destroy(rod);
        CHECK(failing_allocator_is_clean(&memory));
    }
}

static void every_allocation_of_a_rod_may_fail(void) {
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        check_allocations(strut_def((FilRodModel)m, FIL_END_CLAMPED));
    }
}

// --- fitting lengths -----------------------------------------------------------------------------

static double worst_length(int n, const double *lengths, const double *r) {
    double worst = 0.0;
    for (int j = 0; j < n; j++) {
        worst = fmax(worst, fabs(distance(r + 3 * j, r + 3 * j + 3) / lengths[j] - 1.0));
    }
    return worst;
}

static void a_polygon_is_fitted_between_its_ends(void) {
    enum { N = 8 };
    double lengths[N], r[3 * (N + 1)] = {0.0}, scratch[5 * N];
    const double first[3] = {0.1, 0.0, 0.2}, last[3] = {0.8, 0.3, 0.1};
    for (int j = 0; j < N; j++) {
        lengths[j] = 0.1 + 0.02 * (j % 3);
        double angle = 0.5 * pi * j / N;
        r[3 * j + 3] = r[3 * j] + lengths[j] * cos(angle);
        r[3 * j + 4] = r[3 * j + 1] + lengths[j] * sin(angle);
    }
    fil_lengths_fit(N, lengths, first, last, r, scratch);
    CHECK_NEAR(distance(r, first), 0.0, 0.0, 1e-15);
    CHECK_NEAR(distance(r + 3 * (ptrdiff_t)N, last), 0.0, 0.0, 1e-15);
    CHECK(worst_length(N, lengths, r) < 1e-12);

    double again[3 * (N + 1)];
    memcpy(again, r, sizeof again);
    fil_lengths_fit(N, lengths, first, last, again, scratch);
    for (int k = 0; k < 3 * (N + 1); k++) {
        CHECK_NEAR(again[k], r[k], 0.0, 1e-12); // what fits already stays
    }
}

// Ends that are too far apart, or on one spot, are met all the same; the lengths give way.
static void ends_are_met_even_where_the_lengths_cannot_be(void) {
    double lengths[4] = {0.25, 0.25, 0.25, 0.25}, scratch[20];
    for (int k = 0; k < 2; k++) {
        double r[15] = {[3] = 0.25, [6] = 0.5, [9] = 0.75, [12] = 1.0};
        const double first[3] = {0.0}, last[3] = {k == 0 ? 2.0 : 0.0, 0.0, 0.0};
        fil_lengths_fit(4, lengths, first, last, r, scratch);
        CHECK_NEAR(distance(r + 12, last), 0.0, 0.0, 1e-12);
        for (int i = 0; i < 15; i++) {
            CHECK(isfinite(r[i]) && fabs(r[i]) <= 4.0);
        }
    }
}

// A load beyond all numbers ends the step of a corde. A shorter step is recommended where somebody
// could take it, and not where it would be below a nanosecond, as for a very stiff explicit one.
static void no_step_below_a_nanosecond_is_recommended(void) {
    for (int k = 0; k < 2; k++) {
        FilRodDef def = thin_def(FIL_ROD_CORDE, 4);
        FilError error;
        const double stiff = k == 0 ? 1.0 : 1e40;
        def.step_kind = FIL_ROD_STEP_EXPLICIT;
        def.section.bend[0] = def.section.bend[1] = def.section.twist = stiff;
        def.loads = &(FilRodLoad){.s = 1.0, .force = {0.0, 1e305, 0.0}};
        def.load_count = 1;
        FilRod *rod = make_rod(&def);
        const double safe = fil_rod_largest_step(rod);
        CHECK(k == 0 ? safe > 1e-6 : safe > 0.0 && safe < 1e-15);
        CHECK(fil_rod_step(rod, 1e9, NULL, &error) == FIL_E_ARGUMENT);
        CHECK(says(&error, "leaves the range of numbers"));
        CHECK((strstr(error.text, "may do") != NULL) == (k == 0));
        fil_rod_destroy(rod);
    }
}

#define TESTS(X)                                            \
    X(no_step_below_a_nanosecond_is_recommended)            \
    X(equilibria_keep_their_ends)                           \
    X(driven_ends_are_followed)                             \
    X(rows_of_held_ends_are_loads)                          \
    X(loads_and_gravity_may_be_changed)                     \
    X(bad_changes_are_refused_and_change_nothing)           \
    X(a_new_natural_shape_is_taken)                         \
    X(a_longer_rod_keeps_its_curvature)                     \
    X(loads_stay_on_their_sections_however_long_the_rod_is) \
    X(growth_lengthens_a_rod_as_stated)                     \
    X(a_rod_that_would_shrink_to_nothing_stays_as_it_was)   \
    X(a_saved_state_goes_on_with_the_same_bits)             \
    X(sections_sampled_together_are_where_each_is_alone)    \
    X(every_allocation_of_a_question_may_fail)              \
    X(every_allocation_of_a_rod_may_fail)                   \
    X(a_polygon_is_fitted_between_its_ends)                 \
    X(ends_are_met_even_where_the_lengths_cannot_be)        \
    X(a_step_whose_end_cannot_follow_has_not_converged)     \
    X(driven_axes_must_be_orthonormal)

CHECK_MAIN(TESTS)
