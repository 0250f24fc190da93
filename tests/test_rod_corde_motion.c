// The rod model corde in motion: steps, damping, growth, and what is refused.
#include "corde_rods.h"
#include "math/vec3.h"
#include "math/vector.h"

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
        FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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

// The explicit step is stable just below the step that the rod reports, and not well above.
static void explicit_step_is_stable_below_the_reported_step_only(void) {
    const double dampings[2] = {0.0, 2e-3};
    for (int k = 0; k < 2; k++) {
        FilRodDef def = swing_def(20, FIL_ROD_STEP_EXPLICIT);
        def.damping = dampings[k];
        FilRod *rod = make_rod(&def);
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
        rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
        double dt = factor * fil_rod_largest_step(rod);
        fil_rod_destroy(rod);
        def.step_kind = FIL_ROD_STEP_AUTO;
        def.drag = 2.0;
        rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
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
        FilRod *rod = make_rod(&def);
        double scale = 0.5 * 1300.0 * pi * 50e-6 * 50e-6 * 0.2 * 9.81 * 0.2; // weight times half L
        while (fil_rod_time(rod) < 1.0) {
            step_many(rod, fmin(fil_rod_largest_step(rod), 11e-3), 1);
            CHECK(total(rod) < 0.05 * scale);
        }
        fil_rod_destroy(rod);
    }
}

// --- damping, drag, growth -----------------------------------------------------------------------

// Internal damping takes energy from vibration and none from turning as a whole.
static void damping_sees_strain_rates_only(void) {
    for (int kind = 0; kind < 2; kind++) {
        FilRodDef def = plain_def(8);
        def.root_end.kind = FIL_END_FREE;
        def.damping = 0.05;
        def.step_kind = kind == 0 ? FIL_ROD_STEP_EXPLICIT : FIL_ROD_STEP_IMPLICIT;
        FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
    FilRod *rod = make_rod(&def);
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
        FilRod *a = make_rod(&def), *b = make_rod(&def);
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
            FilRod *rod = make_rod(&def);
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

// What no step can follow: an explicit one is refused and leaves the rod as it was, an implicit one
// holds the rod fast and says so; the next one works.
static void steps_that_cannot_be_done_say_so(void) {
    const FilRodStepKind kinds[2] = {FIL_ROD_STEP_IMPLICIT, FIL_ROD_STEP_EXPLICIT};
    for (int kind = 0; kind < 2; kind++) {
        FilRodDef def = swing_def(5, kinds[kind]);
        FilRod *rod = make_rod(&def);
        FilError error;
        FilRodStepInfo info;
        double before[MAX_STATE], after[MAX_STATE];
        step_many(rod, 1e-5, 10);
        fil_rod_get_state(rod, before);
        const FilRodLoad load = {.s = def.length, .force = {1e305, 0.0, 0.0}};
        CHECK(fil_rod_set_loads(rod, &load, 1, NULL) == FIL_OK);
        const FilStatus status = fil_rod_step(rod, 1e9, &info, &error);
        if (kinds[kind] == FIL_ROD_STEP_IMPLICIT) {
            CHECK(status == FIL_OK && !info.converged && is_finite(rod));
            CHECK(fil_rod_set_state(rod, before, NULL) == FIL_OK);
        } else {
            CHECK(status == FIL_E_ARGUMENT);
            CHECK(strncmp(error.text, "dt is 1e+09; the rod leaves the range of numbers", 48) == 0);
        }
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
    FilRod *rod = make_rod(&def);
    double state[MAX_STATE], dx[MAX_DOF];
    static double H[MAX_DOF * MAX_DOF];
    fil_rod_get_state(rod, state);
    memset(state + FIL_ROD_STATE, 0, sizeof(double) * 15);
    restore(rod, state);
    rod->table->gradient(rod, dx);
    rod->table->hessian(rod, H);
    for (int k = 0; k < rod->dof_count; k++) {
        CHECK(isfinite(dx[k]) &&
              isfinite(fil_dot(H + (size_t)k * (size_t)rod->dof_count, dx, rod->dof_count)));
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
    check_allocations(plain_def(10));
}

#define TESTS(X)                                                 \
    X(free_straight_rod_keeps_its_spin)                          \
    X(free_rod_keeps_momentum_and_angular_momentum)              \
    X(explicit_step_is_stable_below_the_reported_step_only)      \
    X(explicit_and_implicit_steps_agree_at_small_steps)          \
    X(implicit_step_takes_steps_ten_and_a_hundred_times_as_long) \
    X(trapezoidal_step_converges_at_second_order)                \
    X(implicit_step_is_safe_at_the_reported_step)                \
    X(damping_sees_strain_rates_only)                            \
    X(falling_rod_reaches_its_terminal_velocity)                 \
    X(growing_rod_becomes_longer)                                \
    X(saved_state_goes_on_with_the_same_bits)                    \
    X(half_a_turn_between_elements_is_refused)                   \
    X(extreme_rods_stay_finite)                                  \
    X(steps_that_cannot_be_done_say_so)                          \
    X(collapsed_and_reversed_elements_stay_finite)               \
    X(every_allocation_may_fail)

CHECK_MAIN(TESTS)
