// Rigid bodies: moments of solids, free flight, checks and checkpoints.
#include "check.h"
#include "failing_allocator.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "mesh_shapes.h"
#include "rigid/flight.h"
#include "rigid/rigid.h"

static FilRigid *make(const FilRigidDef *def) {
    FilRigid *rigid = NULL;
    FilError error;
    if (fil_rigid_create(def, NULL, &rigid, &error) != FIL_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return rigid;
}

static void step(FilRigid *rigid, double dt) {
    FilError error = {0};
    CHECK(fil_rigid_step(rigid, dt, &error) == FIL_OK);
}

// A brick of three different sides in free flight without gravity, spinning about its middle axis,
// which is unstable: it tumbles over and over (Dzhanibekov's body).
static FilRigidDef brick(void) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_BOX, .size = {0.1, 0.2, 0.35}};
    memset(def.gravity, 0, sizeof def.gravity);
    def.rate.spin[0] = 1e-4;
    def.rate.spin[1] = 10.0;
    def.rate.spin[2] = 2e-4;
    return def;
}

// Over 10^5 steps, some 40 tumbles, momentum and energy are kept to round-off, 1e-16 a step.
static void tumbling_body_keeps_momentum_and_energy(void) {
    const FilRigidDef def = brick();
    FilRigid *rigid = make(&def);
    FilRigidEnergy start, now;
    double L0[3], L[3], worst = 0.0, drift = 0.0, flips = 0.0, before = 1.0;
    fil_rigid_energy(rigid, &start);
    fil_rigid_angular_momentum(rigid, L0);
    for (int i = 0; i < 100000; i++) {
        step(rigid, 1e-3);
        fil_rigid_energy(rigid, &now);
        fil_rigid_angular_momentum(rigid, L);
        worst = fmax(worst, fabs(now.rotation / start.rotation - 1.0));
        fil_subtract3(L, L0, L);
        drift = fmax(drift, fil_norm3(L) / fil_norm3(L0));
        FilPose pose;
        fil_rigid_pose(rigid, &pose);
        const double up = pose.axis[1][1];
        flips += up * before < 0.0;
        before = up;
    }
    CHECK(worst < 1e-10);
    CHECK(drift < 1e-11);
    CHECK(flips > 20.0);
    fil_rigid_destroy(rigid);
}

// q' = w q / 2 with w = J(R)^-1 L, as it stands, in many small steps of Runge and Kutta.
static void slope(const double moment[3], const double L[3], const double q[4], double out[4]) {
    double R[9], own[3], w[4] = {0.0};
    fil_rotation_from_quaternion(q, R);
    fil_apply_transposed3(R, L, own);
    for (int k = 0; k < 3; k++) {
        own[k] /= moment[k];
    }
    fil_apply3(R, own, w + 1);
    fil_quaternion_multiply(w, q, out);
    for (int k = 0; k < 4; k++) {
        out[k] *= 0.5;
    }
}

static void integrate(const double moment[3], const double L[3], double time, double q[4]) {
    enum { STEPS = 20000 };
    const double h = time / STEPS, part[4] = {0.0, 0.5 * h, 0.5 * h, h};
    for (int i = 0; i < STEPS; i++) {
        double d[4] = {0.0}, sum[4] = {0.0};
        for (int stage = 0; stage < 4; stage++) {
            double at[4];
            for (int k = 0; k < 4; k++) {
                at[k] = q[k] + part[stage] * d[k];
            }
            slope(moment, L, at, d);
            for (int k = 0; k < 4; k++) {
                sum[k] += (stage == 0 || stage == 3 ? 1.0 : 2.0) * h / 6.0 * d[k];
            }
        }
        for (int k = 0; k < 4; k++) {
            q[k] += sum[k];
        }
    }
}

static double twice_energy(const double moment[3], const double L[3], const double q[4]) {
    double R[9], own[3], sum = 0.0;
    fil_rotation_from_quaternion(q, R);
    fil_apply_transposed3(R, L, own);
    for (int k = 0; k < 3; k++) {
        sum += own[k] * own[k] / moment[k];
    }
    return sum;
}

// One step of any length is the exact motion: any moments, also equal or nearly equal ones, any
// spin, also along an axis or nearly so, either way in time.
static void free_flight_is_exact(void) {
    FilRandom random = fil_random_make(5);
    double worst = 0.0;
    for (int trial = 0; trial < 300; trial++) {
        double m[3], L[3], q[4], start[4], got[4];
        do {
            for (int k = 0; k < 3; k++) {
                m[k] = fil_random_uniform(&random, 0.1, 1.0);
            }
        } while (m[0] + m[1] < m[2] || m[1] + m[2] < m[0] || m[2] + m[0] < m[1]);
        if (trial % 5 == 1) {
            m[trial % 3] = m[(trial + 1) % 3] * (1.0 + pow(10.0, -(trial % 16)));
        }
        for (int k = 0; k < 4; k++) {
            start[k] = fil_random_uniform(&random, -1.0, 1.0);
            L[k % 3] = fil_random_uniform(&random, -1.0, 1.0);
        }
        if (trial % 5 == 2) { // about an axis, or nearly
            double R[9], own[3] = {0.0};
            own[trial % 3] = 1.0;
            own[(trial + 1) % 3] = trial % 2 == 0 ? 0.0 : pow(10.0, -(trial % 12));
            fil_rotation_from_quaternion(start, R);
            fil_apply3(R, own, L);
        }
        const double time = (trial % 2 == 0 ? 1.0 : -1.0) * pow(10.0, 0.01 * (trial % 100));
        const double size = sqrt(start[0] * start[0] + fil_dot3(start + 1, start + 1));
        for (int k = 0; k < 4; k++) {
            start[k] /= size;
        }
        memcpy(q, start, sizeof q);
        integrate(m, L, time, q);
        fil_rigid_fly(m, L, time, start, got);
        const double same = q[0] * got[0] + fil_dot3(q + 1, got + 1);
        double off = 0.0;
        for (int k = 0; k < 4; k++) {
            off = fmax(off, fabs(got[k] - copysign(1.0, same) * q[k]));
        }
        worst = fmax(worst, off);
        CHECK_NEAR(twice_energy(m, L, got), twice_energy(m, L, start), 1e-12, 0.0);
    }
    CHECK(worst < 1e-9);
}

// However long the step and fast the spin, momentum and energy are kept to round-off.
static void giant_steps_keep_momentum_and_energy(void) {
    for (double dt = 0.1; dt < 2e9; dt *= 10.0) {
        const FilRigidDef def = brick();
        FilRigid *rigid = make(&def);
        double L0[3], L[3];
        FilRigidEnergy start, end;
        fil_rigid_angular_momentum(rigid, L0);
        fil_rigid_energy(rigid, &start);
        for (int i = 0; i < 20; i++) {
            step(rigid, dt);
        }
        fil_rigid_angular_momentum(rigid, L);
        fil_rigid_energy(rigid, &end);
        fil_subtract3(L, L0, L);
        CHECK(fil_norm3(L) < 1e-13 * fil_norm3(L0));
        CHECK_NEAR(end.rotation, start.rotation, 1e-12, 0.0);
        fil_rigid_destroy(rigid);
    }
}

static void symmetric_top_precesses_as_euler_says(void) {
    // a cylinder: the axis goes around L at |L| / I_across
    FilRigidDef def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_CYLINDER, .radius = 0.05, .length = 0.3};
    memset(def.gravity, 0, sizeof def.gravity);
    def.rate.spin[0] = 40.0;
    def.rate.spin[1] = 3.0;
    FilRigid *rigid = make(&def);
    double L[3], J[3][3], turn[3], R[9], want[3];
    fil_rigid_angular_momentum(rigid, L);
    fil_rigid_inertia(rigid, J);
    const double time = 0.5;
    for (int i = 0; i < 5000; i++) {
        step(rigid, time / 5000);
    }
    for (int k = 0; k < 3; k++) {
        turn[k] = time * L[k] / J[1][1];
    }
    fil_rotation_exp(turn, R);
    const double x[3] = {1.0, 0.0, 0.0};
    fil_apply3(R, x, want);
    FilPose pose;
    fil_rigid_pose(rigid, &pose);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(pose.axis[0][k], want[k], 0.0, 1e-11);
    }
    fil_rigid_destroy(rigid);
}

// The origin of the shape's axes is not its centre of mass: the latter falls freely.
static void thrown_mesh_turns_about_its_centre_of_mass(void) {
    FilMesh *mesh = mesh_corner();
    FilRigidDef def = fil_rigid_def_default();
    FilRandom random = fil_random_make(3);
    def.shape = (FilShape){.kind = FIL_SHAPE_MESH, .mesh = mesh};
    def.pose = pose_random(&random, 1.0);
    def.rate = (FilRate){{1.0, 2.0, 3.0}, {5.0, -4.0, 3.0}};
    FilRigid *rigid = make(&def);
    FilPose pose;
    fil_rigid_pose(rigid, &pose);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(pose.position[k], def.pose.position[k], 0.0, 1e-14);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(pose.axis[i][k], def.pose.axis[i][k], 0.0, 1e-14);
        }
    }
    double from[3], to[3];
    fil_rigid_centre(rigid, from);
    // the centre of an L of arms 2 x 1: area 3, at (5/6, 5/6)
    for (int k = 0; k < 3; k++) {
        const double c = 5.0 / 6.0;
        const double want =
            pose.position[k] + c * pose.axis[0][k] + c * pose.axis[1][k] + 0.5 * pose.axis[2][k];
        CHECK_NEAR(from[k], want, 0.0, 1e-14);
    }
    CHECK_NEAR(fil_rigid_mass(rigid), 3000.0, 1e-14, 0.0);
    for (int i = 0; i < 100; i++) {
        step(rigid, 1e-3);
    }
    fil_rigid_centre(rigid, to);
    CHECK_NEAR(to[0] - from[0], 0.1, 1e-12, 0.0);
    CHECK_NEAR(to[2] - from[2], 0.3 - 9.81 * 0.01 * 0.505, 1e-12, 0.0); // symplectic Euler
    fil_rigid_destroy(rigid);
    fil_mesh_destroy(mesh);
}

// A v = rhs and the rows of a point are those of a rigid motion.
static void matrix_solve_and_rows_agree(void) {
    FilRigidDef def = brick();
    FilRandom random = fil_random_make(5);
    def.pose = pose_random(&random, 1.0);
    FilRigid *rigid = make(&def);
    double A[36], rhs[6], v[6], rows[18];
    fil_rigid_prepare(rigid, 1e-2, A, rhs);
    memcpy(v, rhs, sizeof v);
    fil_rigid_solve(rigid, v);
    for (int i = 0; i < 6; i++) {
        double sum = 0.0;
        for (int j = 0; j < 6; j++) {
            sum += A[6 * i + j] * v[j];
            CHECK_NEAR(A[6 * i + j], A[6 * j + i], 0.0, 1e-15 * A[0]);
        }
        CHECK_NEAR(sum, rhs[i], 1e-12, 1e-14);
    }
    const double at[3] = {0.3, 0.5, -0.2};
    double arm[3], want[3], centre[3];
    fil_rigid_centre(rigid, centre);
    fil_subtract3(at, centre, arm);
    fil_cross3(v + 3, arm, want);
    fil_rigid_jacobian(rigid, at, rows);
    for (int i = 0; i < 3; i++) {
        double got = 0.0;
        for (int j = 0; j < 6; j++) {
            got += rows[6 * i + j] * v[j];
        }
        CHECK_NEAR(got, v[i] + want[i], 1e-13, 1e-13);
    }
    // a body that is stopped stays where it is
    double zero[6] = {0};
    def.rate = (FilRate){{0}, {0}};
    FilRigid *still = make(&def);
    FilPose before, after;
    fil_rigid_pose(still, &before);
    fil_rigid_prepare(still, 1e-2, A, rhs);
    fil_rigid_advance(still, 1e-2, zero);
    fil_rigid_pose(still, &after);
    CHECK(check_same_bits(&before, &after, sizeof before));
    fil_rigid_destroy(still);
    fil_rigid_destroy(rigid);
}

static void torque_about_a_principal_axis_spins_up_linearly(void) {
    FilRigidDef def = brick();
    memset(&def.rate, 0, sizeof def.rate);
    FilRigid *rigid = make(&def);
    const double force[3] = {1.0, 0.0, 0.0}, torque[3] = {0.0, 0.0, 0.1};
    double J[3][3];
    CHECK(fil_rigid_set_load(rigid, force, torque, NULL) == FIL_OK);
    fil_rigid_inertia(rigid, J);
    for (int i = 0; i < 100; i++) {
        step(rigid, 1e-3);
    }
    FilRate rate;
    fil_rigid_rate(rigid, &rate);
    CHECK_NEAR(rate.spin[2], 0.1 * 0.1 / J[2][2], 1e-12, 0.0);
    CHECK_NEAR(rate.velocity[0], 0.1 / fil_rigid_mass(rigid), 1e-12, 0.0);
    fil_rigid_destroy(rigid);
}

static void state_restores_the_same_bits(void) {
    const FilRigidDef def = brick();
    FilRigid *a = make(&def), *b = make(&def);
    double state[FIL_RIGID_STATE], end[2][FIL_RIGID_STATE];
    for (int i = 0; i < 10; i++) {
        step(a, 1e-2);
    }
    fil_rigid_get_state(a, state);
    CHECK(fil_rigid_set_state(b, state, NULL) == FIL_OK);
    for (int i = 0; i < 10; i++) {
        step(a, 1e-2);
        step(b, 1e-2);
    }
    fil_rigid_get_state(a, end[0]);
    fil_rigid_get_state(b, end[1]);
    CHECK(check_same_bits(end[0], end[1], sizeof end[0]));
    state[3] = 7.0;
    CHECK(fil_rigid_set_state(a, state, NULL) == FIL_E_ARGUMENT);
    state[3] = (double)NAN;
    CHECK(fil_rigid_set_state(a, state, NULL) == FIL_E_ARGUMENT);
    fil_rigid_destroy(a);
    fil_rigid_destroy(b);
}

static void refuse(FilRigidDef def, const char *start) {
    FilRigid *rigid = NULL;
    FilError error = {0};
    CHECK(fil_rigid_create(&def, NULL, &rigid, &error) == FIL_E_ARGUMENT);
    CHECK(rigid == NULL);
    if (strncmp(error.text, start, strlen(start)) != 0) {
        (void)fprintf(stderr, "got: %s\n", error.text);
        CHECK(!"the message starts as it should");
    }
}

static void bad_definitions_are_named(void) {
    FilRigidDef def = fil_rigid_def_default();
    def.shape.radius = -1.0;
    refuse(def, "the radius of a sphere is -1;");
    def = fil_rigid_def_default();
    def.shape.kind = FIL_SHAPE_PLANE;
    refuse(def, "shape is a plane;");
    def = fil_rigid_def_default();
    def.density = (double)NAN;
    refuse(def, "density is ");
    def = fil_rigid_def_default();
    def.mass = -3.0;
    refuse(def, "mass is -3;");
    def = fil_rigid_def_default();
    def.pose.axis[1][0] = 0.5;
    refuse(def, "the axes of pose");
    def = fil_rigid_def_default();
    def.gravity[2] = (double)INFINITY;
    refuse(def, "gravity[2] is inf;");
    def = fil_rigid_def_default();
    def.inertia[0][0] = 1.0;
    def.inertia[1][1] = 1.0;
    def.inertia[2][2] = 5.0;
    refuse(def, "inertia has the principal moments");
    def.inertia[2][2] = -5.0;
    refuse(def, "inertia has the principal moment -5;");
    def.inertia[0][1] = 1.0;
    refuse(def, "inertia[0][1] is 1 and");
    def = fil_rigid_def_default();
    def.shape = (FilShape){.kind = FIL_SHAPE_MESH};
    refuse(def, "a shape of kind mesh has no mesh");
    def.shape.kind = (FilShapeKind)77;
    refuse(def, "there is no shape of kind 77");
}

// A given inertia with its own axes: kept as given, about the centre given.
static void given_inertia_is_kept(void) {
    FilRigidDef def = fil_rigid_def_default();
    const double inertia[3][3] = {{2.0, 0.3, 0.1}, {0.3, 1.5, -0.2}, {0.1, -0.2, 1.8}};
    memcpy(def.inertia, inertia, sizeof inertia);
    def.mass = 4.0;
    def.centre[0] = 0.25;
    FilRigid *rigid = make(&def);
    double J[3][3], centre[3];
    fil_rigid_inertia(rigid, J);
    fil_rigid_centre(rigid, centre);
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(J[k / 3][k % 3], inertia[k / 3][k % 3], 0.0, 1e-14);
    }
    CHECK_NEAR(centre[0], 0.25, 1e-15, 0.0);
    CHECK_NEAR(fil_rigid_mass(rigid), 4.0, 0.0, 0.0);
    fil_rigid_destroy(rigid);
}

static void steps_that_leave_the_numbers_are_refused(void) {
    FilRigidDef def = brick();
    def.rate.velocity[0] = 1e99;
    FilRigid *rigid = make(&def);
    double before[FIL_RIGID_STATE], after[FIL_RIGID_STATE];
    fil_rigid_get_state(rigid, before);
    CHECK(fil_rigid_step(rigid, 1e300, NULL) == FIL_E_ARGUMENT);
    CHECK(fil_rigid_step(rigid, -1.0, NULL) == FIL_E_ARGUMENT);
    CHECK(fil_rigid_step(rigid, (double)NAN, NULL) == FIL_E_ARGUMENT);
    fil_rigid_get_state(rigid, after);
    CHECK(check_same_bits(before, after, sizeof before));
    fil_rigid_destroy(rigid);
}

static void allocation_may_fail(void) {
    FailingAllocator memory = {.fail_at = 1};
    const FilAllocator allocator = failing_allocator(&memory);
    const FilRigidDef def = brick();
    FilRigid *rigid = NULL;
    CHECK(fil_rigid_create(&def, &allocator, &rigid, NULL) == FIL_E_NO_MEMORY);
    memory = (FailingAllocator){0};
    CHECK(fil_rigid_create(&def, &allocator, &rigid, NULL) == FIL_OK);
    fil_rigid_destroy(rigid);
    CHECK(failing_allocator_is_clean(&memory));
}

#define TESTS(X)                                       \
    X(tumbling_body_keeps_momentum_and_energy)         \
    X(free_flight_is_exact)                            \
    X(giant_steps_keep_momentum_and_energy)            \
    X(symmetric_top_precesses_as_euler_says)           \
    X(thrown_mesh_turns_about_its_centre_of_mass)      \
    X(matrix_solve_and_rows_agree)                     \
    X(torque_about_a_principal_axis_spins_up_linearly) \
    X(state_restores_the_same_bits)                    \
    X(bad_definitions_are_named)                       \
    X(given_inertia_is_kept)                           \
    X(steps_that_leave_the_numbers_are_refused)        \
    X(allocation_may_fail)

CHECK_MAIN(TESTS)
