#ifndef FIL_TESTS_NODAL_CHECKS_H
#define FIL_TESTS_NODAL_CHECKS_H

// What the tests of der and chain share: rods to look at, derivatives against differences.

#include "base/random.h"
#include "rod/nodal.h"
#include "rods.h"

enum { MOST = 64 }; // unknowns of a rod whose derivatives are checked

// A short thick rod of numbers near 1.
static FilRodDef unit_def(FilRodModel model, int elements) {
    const FilSection section = {.radius = 0.05,
                                .bend = {1.0, 1.0},
                                .twist = 0.7,
                                .mass = 1.0,
                                .stretch = 50.0,
                                .spin_inertia = 0.02};
    return metre_def(model, elements, section);
}

// Bring the rod to a shape without symmetry, moving.
static void shake(FilRod *rod, double size) {
    FilNodal *nodal = rod->data;
    FilRandom random = fil_random_make(7);
    double dx[MOST];
    for (int k = 0; k < rod->dof_count; k++) {
        dx[k] = fil_random_uniform(&random, -size, size);
    }
    rod->table->move(rod, dx);
    for (int k = nodal->first; k < nodal->last; k++) {
        nodal->v[k] = fil_random_uniform(&random, -1.0, 1.0);
    }
}

// The potential energy after a move from the saved state along h (e_i) + h' (e_j).
static double energy_at(FilRod *rod, const double *state, int i, double h, int j, double k) {
    double dx[MOST] = {0.0};
    FilError error;
    if (fil_rod_set_state(rod, state, &error) != FIL_OK) {
        abort();
    }
    dx[i] += h;
    dx[j] += k;
    rod->table->move(rod, dx);
    return potential(rod);
}

// Largest error of gradient and Hessian against differences of width h.
static void derivative_errors(FilRod *rod, double h, double errors[2]) {
    int n = rod->dof_count;
    double g[MOST], *H = malloc(sizeof(double) * MOST * MOST), state[1024];
    fil_rod_get_state(rod, state);
    rod->table->gradient(rod, g);
    rod->table->hessian(rod, H);
    errors[0] = errors[1] = 0.0;
    for (int i = 0; i < n; i++) {
        double up = energy_at(rod, state, i, h, 0, 0.0),
               down = energy_at(rod, state, i, -h, 0, 0.0);
        errors[0] = fmax(errors[0], fabs((up - down) / (2.0 * h) - g[i]));
        for (int j = 0; j <= i; j++) {
            double sum = energy_at(rod, state, i, h, j, h) - energy_at(rod, state, i, h, j, -h) -
                         energy_at(rod, state, i, -h, j, h) + energy_at(rod, state, i, -h, j, -h);
            errors[1] = fmax(errors[1], fabs(sum / (4.0 * h * h) - H[i * n + j]));
            CHECK(H[i * n + j] == H[j * n + i]);
        }
    }
    (void)energy_at(rod, state, 0, 0.0, 0, 0.0);
    free(H);
}

static void check_derivatives(FilRodDef def) {
    double coarse[2], fine[2];
    FilRod *rod = make_rod(&def);
    shake(rod, 0.05);
    derivative_errors(rod, 2e-3, coarse);
    derivative_errors(rod, 1e-3, fine);
    for (int k = 0; k < 2; k++) {
        CHECK(fine[k] < (k == 0 ? 0.05 : 0.5));
        CHECK_NEAR(coarse[k] / fine[k], 4.0, 0.05, 0.0);
    }
    fil_rod_destroy(rod);
}

// The step's equations are the gradient of the merit, and A is its Hessian.
static void check_step_matrix(FilRodDef def) {
    FilRod *rod = make_rod(&def);
    shake(rod, 0.05);
    const FilNodal *nodal = rod->data;
    int n = rod->dof_count;
    double dt = 0.05, h = 1e-3, guess[MOST], rhs[MOST], x[MOST] = {0.0}, y[MOST] = {0.0};
    rod->table->get_velocity(rod, guess);
    (void)rod->table->prepare(rod, dt, NULL, rhs);
    for (int k = 0; k < n; k++) {
        guess[k] += 0.3 * sin(3.0 * k);
    }
    double residual = rod->table->prepare(rod, dt, guess, rhs);
    (void)rod->table->prepare(rod, dt, guess, rhs); // now the tension is that of the guess
    CHECK(residual > 0.0 && isfinite(residual));
    FilRandom random = fil_random_make(9);
    for (int k = 0; k < n; k++) {
        x[k] = fil_random_uniform(&random, -1.0, 1.0);
    }
    double right[MOST], worst[2] = {0.0};
    memcpy(right, x, sizeof right);
    rod->table->solve(rod, x);
    for (int i = 0; i < n; i++) {
        double v[MOST], m[4];
        for (int s = 0; s < 2; s++) {
            memcpy(v, guess, sizeof v);
            v[i] += s == 0 ? h : -h;
            m[s] = rod->table->merit(rod, dt, v);
        }
        worst[0] = fmax(worst[0], fabs((m[0] - m[1]) / (2.0 * h) - nodal->rest[i]));
        for (int j = 0; j < n; j++) {
            for (int s = 0; s < 4; s++) {
                memcpy(v, guess, sizeof v);
                v[i] += s < 2 ? h : -h;
                v[j] += s % 2 == 0 ? h : -h;
                m[s] = rod->table->merit(rod, dt, v);
            }
            y[i] += (m[0] - m[1] - m[2] + m[3]) / (4.0 * h * h) * x[j];
        }
        worst[1] = fmax(worst[1], fabs(y[i] - right[i]));
    }
    CHECK(worst[0] < 1e-6);
    CHECK(worst[1] < 1e-4);
    fil_rod_destroy(rod);
}

// The rows of a section in the window of unknowns that move it are those of its Jacobian `J`; those
// of spin where it has a frame.
static void check_window(const FilRod *rod, int element, double u, const double *J) {
    double few[6 * FIL_ROD_PLACE];
    int first, last, n = rod->dof_count;
    rod->table->place_span(rod, element, u, &first, &last);
    CHECK(0 <= first && first < last && last <= n && last - first <= FIL_ROD_PLACE);
    rod->table->place_jacobian(rod, element, u, few);
    for (int k = 0; k < (rod->table->framed ? 6 : 3) * n; k++) {
        int row = k / n, c = k % n, width = last - first;
        CHECK(J[k] == (c >= first && c < last ? few[row * width + c - first] : 0.0));
    }
    for (int k = 0; !rod->table->framed && k < 3 * (last - first); k++) {
        CHECK(few[3 * (last - first) + k] == 0.0); // contacts act on the axis
    }
}

// Rows of the Jacobian against the change of the pose along moves.
static void check_jacobian(FilRodDef def, int element, double u) {
    FilRod *rod = make_rod(&def);
    shake(rod, 0.05);
    int n = rod->dof_count;
    double J[6 * MOST], state[1024], h = 1e-5;
    FilError error;
    fil_rod_get_state(rod, state);
    rod->table->jacobian(rod, element, u, J);
    check_window(rod, element, u, J);
    for (int k = 0; k < n; k++) {
        FilPose pose[2];
        for (int s = 0; s < 2; s++) {
            double dx[MOST] = {0.0};
            dx[k] = s == 0 ? h : -h;
            CHECK(fil_rod_set_state(rod, state, &error) == FIL_OK);
            rod->table->move(rod, dx);
            rod->table->at(rod, element, u, &pose[s], NULL);
        }
        for (int i = 0; i < 3; i++) {
            double want = 0.0; // spin_i = sum_a axis_a x axis_a' / 2
            for (int a = 0; a < 3; a++) {
                int p = (i + 1) % 3, q = (i + 2) % 3;
                double dp = (pose[0].axis[a][p] - pose[1].axis[a][p]) / (2.0 * h);
                double dq = (pose[0].axis[a][q] - pose[1].axis[a][q]) / (2.0 * h);
                want += 0.25 * ((pose[0].axis[a][p] + pose[1].axis[a][p]) * dq -
                                (pose[0].axis[a][q] + pose[1].axis[a][q]) * dp);
            }
            double moved = (pose[0].position[i] - pose[1].position[i]) / (2.0 * h);
            CHECK_NEAR(J[i * n + k], moved, 0.0, 1e-8);
            CHECK_NEAR(J[(3 + i) * n + k], want, 0.0, 1e-7);
        }
    }
    fil_rod_destroy(rod);
}

// w sqrt(m L^4 / EI) of the first mode of a cantilever.
static double first_frequency(FilRodDef def) {
    def.gravity[2] = 0.0;
    FilRod *rod = make_rod(&def);
    double w = 0.0;
    FilError error;
    CHECK(fil_rod_frequencies(rod, 1, &w, &error) == FIL_OK);
    fil_rod_destroy(rod);
    return w;
}

static void check_frequencies(FilRodModel model) {
    double previous = 0.0;
    for (int n = 8; n <= 32; n *= 2) {
        FilRodDef def = unit_def(model, n);
        def.section.stretch = 1e6;
        double error = fabs(first_frequency(def) / 3.51601526850015 - 1.0);
        CHECK(error < 1.0 / (n * n));
        if (previous > 0.0) {
            CHECK_NEAR(previous / error, 4.0, 0.1, 0.0);
        }
        previous = error;
    }
}

// The heavy cantilever of the tables: tip at (0.656353752, -0.700199700).
static void check_heavy_cantilever(FilRodModel model) {
    double previous = 0.0;
    for (int n = 16; n <= 64; n *= 2) {
        FilRodDef def = unit_def(model, n);
        def.section.stretch = 1e6;
        def.gravity[2] = -10.0;
        FilRod *rod = make_rod(&def);
        FilStaticsSettings settings = fil_statics_settings_default();
        FilStaticsInfo info;
        FilError error;
        CHECK(fil_rod_equilibrium(rod, &settings, &info, &error) == FIL_OK);
        CHECK(info.converged && info.stable);
        FilPose tip;
        fil_rod_at(rod, 1.0, &tip, NULL);
        double off = hypot(tip.position[0] - 0.656353752, tip.position[2] + 0.700199700);
        CHECK(off < 1.0 / (n * n));
        if (previous > 0.0) {
            CHECK_NEAR(previous / off, 4.0, 0.2, 0.0); // 3.3, 3.6, 3.8, ...
        }
        previous = off;
        fil_rod_destroy(rod);
    }
}

// Stretch up to 10 000 times stiffer than a hair's, steps of 1 to 10 ms: no step fails, the length
// is kept and no energy appears.
static void check_stiff_stretch(FilRodModel model, double theta) {
    for (int power = 0; power <= 4; power += 2) {
        for (int k = 0; k < 2; k++) {
            FilRodDef def = fil_rod_def_default();
            def.model = model;
            def.element_count = 20;
            def.theta = theta;
            double EI = 3.9e9 * 0.25 * 3.14159265 * pow(50e-6, 4);
            def.section = (FilSection){.kind = FIL_SECTION_GIVEN,
                                       .radius = 50e-6,
                                       .bend = {EI, EI},
                                       .twist = EI,
                                       .mass = 1.02e-5,
                                       .stretch = 30.0 * pow(10.0, power)};
            FilRod *rod = make_rod(&def);
            double dt = k == 0 ? 1e-3 : 1e-2, most = -1.0, longest = 0.0;
            for (int i = 0; i < (k == 0 ? 300 : 60); i++) {
                FilRodStepInfo info;
                take_step(rod, dt, &info);
                CHECK(info.converged);
                most = fmax(most, total(rod));
                const FilNodal *nodal = rod->data;
                for (int j = 1; j < nodal->edge_count; j++) {
                    longest = fmax(longest, fabs(nodal->start.edges[j].length / 0.01 - 1.0));
                }
            }
            CHECK(most < 2e-8); // of 1.6e-6 that gravity gives
            CHECK(longest < 1e-3 / pow(10.0, power));
            fil_rod_destroy(rod);
        }
    }
}

static void sum_momentum(const FilRod *rod, double p[3]) {
    const FilNodal *nodal = rod->data;
    p[0] = p[1] = p[2] = 0.0;
    for (int i = 0; i <= nodal->edge_count; i++) {
        for (int k = 0; k < 3; k++) {
            p[k] += nodal->mass[i] * nodal->v[nodal->stride * i + k];
        }
    }
}

static void check_momentum(FilRodDef def) {
    def.root_end.kind = def.tip_end.kind = FIL_END_FREE;
    def.gravity[2] = 0.0;
    FilRod *rod = make_rod(&def);
    shake(rod, 0.05);
    double before[3], after[3];
    sum_momentum(rod, before);
    for (int i = 0; i < 100; i++) {
        FilRodStepInfo info;
        take_step(rod, 1e-3, &info);
        CHECK(info.converged);
    }
    sum_momentum(rod, after);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(after[k], before[k], 0.0, 1e-9);
    }
    fil_rod_destroy(rod);
}

// The same rod, turned as a whole with its gravity, does the same.
static void check_turned(FilRodDef def) {
    const double c = 0.6, s = 0.8;
    FilRodDef turned = def;
    for (int k = 0; k < 3; k++) { // about y
        const double *a = def.root.axis[k];
        turned.root.axis[k][0] = c * a[0] + s * a[2];
        turned.root.axis[k][2] = c * a[2] - s * a[0];
    }
    turned.gravity[0] = s * def.gravity[2];
    turned.gravity[2] = c * def.gravity[2];
    FilRod *a = make_rod(&def), *b = make_rod(&turned);
    for (int i = 0; i < 50; i++) {
        take_step(a, 2e-3, NULL);
        take_step(b, 2e-3, NULL);
    }
    FilPose p, q;
    fil_rod_at(a, def.length, &p, NULL);
    fil_rod_at(b, def.length, &q, NULL);
    CHECK_NEAR(q.position[0], c * p.position[0] + s * p.position[2], 0.0, 1e-7 * def.length);
    CHECK_NEAR(q.position[1], p.position[1], 0.0, 1e-7 * def.length);
    CHECK_NEAR(q.position[2], c * p.position[2] - s * p.position[0], 0.0, 1e-7 * def.length);
    CHECK_NEAR(total(b), total(a), 1e-6, 0.0);
    fil_rod_destroy(a);
    fil_rod_destroy(b);
}

// A rod that slides along its axis falls as any body does: g t^2 / 2, exact with theta = 1/2.
static void check_free_sliding(FilRodModel model) {
    for (int k = 0; k < 8; k++) {
        FilRodDef def = unit_def(model, 1 << (2 * (k / 2)));
        def.root_end.kind = k % 2 == 0 ? FIL_END_SLIDING : FIL_END_FREE;
        def.tip_end.kind = k % 2 == 0 ? FIL_END_FREE : FIL_END_SLIDING;
        def.gravity[0] = 2.0;
        def.gravity[2] = 0.0;
        def.theta = 0.5;
        FilRod *rod = make_rod(&def);
        for (int i = 0; i < 100; i++) {
            take_step(rod, 1e-2, NULL);
        }
        FilPose pose;
        FilRate rate;
        for (int end = 0; end < 2; end++) {
            fil_rod_at(rod, end, &pose, &rate);
            CHECK_NEAR(pose.position[0], 1.0 + end, 1e-9, 0.0);
            CHECK_NEAR(rate.velocity[0], 2.0, 1e-9, 0.0);
        }
        fil_rod_destroy(rod);
    }
}

#endif
