// rigid.c - a rigid body in time.
//
// The orientation R turns principal axes into world axes, J(R) = R diag(moment) R^T. Free flight
// keeps the angular momentum L = J w in world axes; how it turns the body is known in closed form
// (flight.c), so that momentum and energy stay at any spin and any step, at the same cost.
//
// With contact, the world solves A v+ = rhs + impulses with A = J(R+ of free flight) and rhs = L,
// so that angular impulses add to the momentum; the orientation takes the rest of the spin on top
// of free flight: R+ = exp(dt (w+ - w_free)) R_free.
#include "rigid.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "flight.h"
#include "math/rotation.h"
#include "math/vec3.h"

// ---------------------------------------------------------------------------------- inertia

// Turn rows and columns p, q of `a` so that a[p][q] vanishes; the columns of v follow.
static void rotate(double a[3][3], double v[3][3], int p, int q) {
    if (!(fabs(a[p][q]) > 1e-17 * (fabs(a[p][p]) + fabs(a[q][q])))) {
        return;
    }
    const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
    const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(1.0 + theta * theta));
    const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        const double x = a[p][k], y = a[q][k], vx = v[k][p], vy = v[k][q];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        v[k][p] = c * vx - s * vy;
        v[k][q] = s * vx + c * vy;
    }
    a[p][q] = a[q][p] = 0.0;
}

// Principal moments and axes (rows) of a symmetric matrix: Jacobi's rotations.
static void find_principal(const double inertia[3][3], double moment[3], double axes[9]) {
    double a[3][3];
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; // columns: axes
    memcpy(a, inertia, sizeof a);
    for (int sweep = 0; sweep < 50; sweep++) {
        rotate(a, v, 0, 1);
        rotate(a, v, 0, 2);
        rotate(a, v, 1, 2);
    }
    double handed[3], first[3] = {v[0][0], v[1][0], v[2][0]},
                      second[3] = {v[0][1], v[1][1], v[2][1]};
    fil_cross3(first, second, handed);
    for (int k = 0; k < 3; k++) {
        moment[k] = a[k][k];
        axes[k] = first[k];
        axes[3 + k] = second[k];
        axes[6 + k] = handed[k];
    }
    fil_rotation_polish(axes);
}

static FilStatus check_inertia(const FilRigidDef *def, FilError *error) {
    double moment[3], axes[9];
    const double(*I)[3] = def->inertia;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (!isfinite(I[i][j])) {
                return fil_fail(error, FIL_E_ARGUMENT, "inertia[%d][%d] is %g; it must be finite",
                                i, j, I[i][j]);
            }
            if (!(fabs(I[i][j] - I[j][i]) <= 1e-9 * (fabs(I[i][i]) + fabs(I[j][j])))) {
                return fil_fail(error, FIL_E_ARGUMENT,
                                "inertia[%d][%d] is %g and inertia[%d][%d] is %g; inertia must be "
                                "symmetric",
                                i, j, I[i][j], j, i, I[j][i]);
            }
        }
        if (!isfinite(def->centre[i])) {
            return fil_fail(error, FIL_E_ARGUMENT, "centre[%d] is %g; it must be finite", i,
                            def->centre[i]);
        }
    }
    find_principal(I, moment, axes);
    const double sum = moment[0] + moment[1] + moment[2];
    for (int k = 0; k < 3; k++) {
        if (!(moment[k] > 1e-12 * fabs(sum))) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "inertia has the principal moment %g; it must be positive", moment[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (!(moment[k] <= (0.5 + 1e-9) * sum)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "inertia has the principal moments %g, %g and %g; none may exceed the "
                            "sum of the other two",
                            moment[0], moment[1], moment[2]);
        }
    }
    return FIL_OK;
}

static bool has_inertia(const FilRigidDef *def) {
    for (int k = 0; k < 9; k++) {
        if (def->inertia[k / 3][k % 3] != 0.0) { // NaN too
            return true;
        }
    }
    return false;
}

// ------------------------------------------------------------------------------------ checks

static FilStatus check_vector(const double x[3], const char *name, FilError *error) {
    for (int k = 0; k < 3; k++) {
        if (!(fabs(x[k]) < 1e100)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "%s[%d] is %g; it must be between -1e100 and 1e100", name, k,
                            isnan(x[k]) ? (double)NAN : x[k]);
        }
    }
    return FIL_OK;
}

static FilStatus check_pose(const FilPose *pose, FilError *error) {
    FIL_TRY(check_vector(pose->position, "pose.position", error));
    double cross[3];
    fil_cross3(pose->axis[0], pose->axis[1], cross);
    bool fine = fil_dot3(cross, pose->axis[2]) > 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double product = fil_dot3(pose->axis[i], pose->axis[j]);
            fine = fine && fabs(product - (i == j)) <= 1e-6;
        }
    }
    if (!fine) {
        return fil_fail(
            error, FIL_E_ARGUMENT,
            "the axes of pose must be three unit vectors at right angles, right-handed");
    }
    return FIL_OK;
}

static FilStatus check_def(const FilRigidDef *def, FilError *error) {
    if (def->shape.kind == FIL_SHAPE_PLANE) {
        return fil_fail(error, FIL_E_ARGUMENT, "shape is a plane; a body must be bounded");
    }
    FIL_TRY(fil_shape_check(&def->shape, error));
    if (!(def->mass >= 0.0 && isfinite(def->mass))) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "mass is %g; it must be positive and finite, or 0 to use the density",
                        def->mass);
    }
    if (!(def->mass > 0.0) && !(def->density > 0.0 && isfinite(def->density))) {
        return fil_fail(error, FIL_E_ARGUMENT, "density is %g; it must be positive and finite",
                        def->density);
    }
    if (has_inertia(def)) {
        FIL_TRY(check_inertia(def, error));
    }
    FIL_TRY(check_pose(&def->pose, error));
    FIL_TRY(check_vector(def->rate.velocity, "rate.velocity", error));
    FIL_TRY(check_vector(def->rate.spin, "rate.spin", error));
    return check_vector(def->gravity, "gravity", error);
}

// ---------------------------------------------------------------------------------- creation

FilRigidDef fil_rigid_def_default(void) {
    return (FilRigidDef){.shape = {.kind = FIL_SHAPE_SPHERE, .radius = 0.01},
                         .density = 1000.0,
                         .pose = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                         .gravity = {0.0, 0.0, -9.81}};
}

static void place(FilRigid *rigid, const FilPose *pose) {
    double own[9], world[9];
    // columns of `own`: the shape's axes in the world; principal axes are rows in those
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            own[3 * i + j] = pose->axis[j][i];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            world[3 * i + j] = fil_dot3(&own[3 * i], &rigid->axes[3 * j]);
        }
    }
    fil_rotation_polish(world);
    fil_rotation_to_quaternion(world, rigid->quaternion);
    fil_apply3(own, rigid->offset, rigid->centre);
    fil_add3(1.0, pose->position, rigid->centre);
}

FilStatus fil_rigid_create(const FilRigidDef *def, const FilAllocator *allocator, FilRigid **out,
                           FilError *error) {
    FIL_TRY(check_def(def, error));
    FilSolidMoments solid;
    fil_shape_moments(&def->shape, &solid);
    const double mass = def->mass > 0.0 ? def->mass : def->density * solid.volume;
    double inertia[3][3];
    for (int k = 0; k < 9; k++) {
        inertia[k / 3][k % 3] = mass * (solid.inertia[k / 3][k % 3] / solid.volume);
    }
    const bool given = has_inertia(def);
    FilRigid made = {.allocator = allocator != NULL ? *allocator : fil_libc_allocator,
                     .shape = def->shape,
                     .mass = mass};
    find_principal(given ? def->inertia : (const double(*)[3])inertia, made.moment, made.axes);
    for (int k = 0; k < 3; k++) {
        if (!(made.moment[k] > 0.0 && isfinite(made.moment[k]) && mass > 0.0 && isfinite(mass))) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "the body has the mass %g kg and a principal moment of %g kg m^2; both "
                            "must be positive and finite",
                            mass, made.moment[k]);
        }
    }
    fil_copy3(given ? def->centre : solid.centre, made.offset);
    fil_copy3(def->gravity, made.gravity);
    fil_copy3(def->rate.velocity, made.velocity);
    fil_copy3(def->rate.spin, made.velocity + 3);
    place(&made, &def->pose);
    FilRigid *rigid = made.allocator.resize(made.allocator.user, NULL, 0, sizeof *rigid);
    if (rigid == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rigid body");
    }
    *rigid = made;
    *out = rigid;
    return FIL_OK;
}

void fil_rigid_destroy(FilRigid *rigid) {
    if (rigid != NULL) {
        const FilAllocator allocator = rigid->allocator;
        allocator.resize(allocator.user, rigid, sizeof *rigid, 0);
    }
}

// ------------------------------------------------------------------------------------ in time

// y = R diag(moment)^power R^T x, power 1 or -1.
static void apply_inertia(const FilRigid *rigid, const double R[9], int power, const double x[3],
                          double y[3]) {
    double own[3];
    fil_apply_transposed3(R, x, own);
    for (int k = 0; k < 3; k++) {
        own[k] = power > 0 ? own[k] * rigid->moment[k] : own[k] / rigid->moment[k];
    }
    fil_apply3(R, own, y);
}

void fil_rigid_prepare(FilRigid *rigid, double dt, double *A, double rhs[FIL_RIGID_DOF]) {
    double R[9], L[3];
    fil_rotation_from_quaternion(rigid->quaternion, R);
    apply_inertia(rigid, R, 1, rigid->velocity + 3, L);
    for (int k = 0; k < 3; k++) {
        rhs[k] = rigid->mass * (rigid->velocity[k] + dt * rigid->gravity[k]) + dt * rigid->force[k];
        L[k] += dt * rigid->torque[k];
        rhs[3 + k] = L[k];
    }
    fil_rigid_fly(rigid->moment, L, dt, rigid->quaternion, rigid->turned);
    fil_rotation_from_quaternion(rigid->turned, R);
    apply_inertia(rigid, R, -1, L, rigid->free_spin);
    const double *m = rigid->moment;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            rigid->inertia[3 * i + j] = R[3 * i] * m[0] * R[3 * j] +
                                        R[3 * i + 1] * m[1] * R[3 * j + 1] +
                                        R[3 * i + 2] * m[2] * R[3 * j + 2];
        }
    }
    if (A != NULL) {
        memset(A, 0, 36 * sizeof *A);
        for (int i = 0; i < 3; i++) {
            A[7 * i] = rigid->mass;
            for (int j = 0; j < 3; j++) {
                A[6 * (3 + i) + 3 + j] = rigid->inertia[3 * i + j];
            }
        }
    }
}

void fil_rigid_solve(const FilRigid *rigid, double x[FIL_RIGID_DOF]) {
    double R[9], spin[3];
    fil_rotation_from_quaternion(rigid->turned, R);
    apply_inertia(rigid, R, -1, x + 3, spin);
    for (int k = 0; k < 3; k++) {
        x[k] /= rigid->mass;
        x[3 + k] = spin[k];
    }
}

void fil_rigid_advance(FilRigid *rigid, double dt, const double velocity[FIL_RIGID_DOF]) {
    double turn[3];
    for (int k = 0; k < 3; k++) {
        turn[k] = dt * (velocity[3 + k] - rigid->free_spin[k]);
        rigid->centre[k] += dt * velocity[k];
    }
    memcpy(rigid->velocity, velocity, sizeof rigid->velocity);
    fil_rigid_turn(turn, rigid->turned, rigid->quaternion);
}

void fil_rigid_move(FilRigid *rigid, const double dx[FIL_RIGID_DOF]) {
    double from[4];
    memcpy(from, rigid->quaternion, sizeof from);
    for (int k = 0; k < 3; k++) {
        rigid->centre[k] += dx[k];
    }
    fil_rigid_turn(dx + 3, from, rigid->quaternion);
    double R[9], spin[3];
    fil_rotation_exp(dx + 3, R);
    fil_apply3(R, rigid->velocity + 3, spin);
    fil_copy3(spin, rigid->velocity + 3);
}

static bool is_finite(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

FilStatus fil_rigid_step(FilRigid *rigid, double dt, FilError *error) {
    double saved[FIL_RIGID_STATE], state[FIL_RIGID_STATE], v[FIL_RIGID_DOF];
    if (!(dt > 0.0 && isfinite(dt))) {
        return fil_fail(error, FIL_E_ARGUMENT, "dt is %g; it must be positive and finite", dt);
    }
    fil_rigid_get_state(rigid, saved);
    fil_rigid_prepare(rigid, dt, NULL, v);
    fil_rigid_solve(rigid, v);
    fil_rigid_advance(rigid, dt, v);
    fil_rigid_get_state(rigid, state);
    if (!is_finite(state, FIL_RIGID_STATE)) {
        memcpy(rigid->centre, saved, sizeof rigid->centre);
        memcpy(rigid->quaternion, saved + 3, sizeof rigid->quaternion);
        memcpy(rigid->velocity, saved + 7, sizeof rigid->velocity);
        return fil_fail(error, FIL_E_ARGUMENT,
                        "a step of %g s leaves the range of numbers; the body stays as it was", dt);
    }
    return FIL_OK;
}

// ------------------------------------------------------------------------------------ looking

const FilShape *fil_rigid_shape(const FilRigid *rigid) {
    return &rigid->shape;
}

double fil_rigid_mass(const FilRigid *rigid) {
    return rigid->mass;
}

void fil_rigid_inertia(const FilRigid *rigid, double inertia[3][3]) {
    double R[9];
    fil_rotation_from_quaternion(rigid->quaternion, R);
    for (int i = 0; i < 3; i++) {
        double e[3] = {0.0, 0.0, 0.0};
        e[i] = 1.0;
        apply_inertia(rigid, R, 1, e, inertia[i]);
    }
}

void fil_rigid_centre(const FilRigid *rigid, double centre[3]) {
    fil_copy3(rigid->centre, centre);
}

void fil_rigid_pose(const FilRigid *rigid, FilPose *pose) {
    double R[9], own[9];
    fil_rotation_from_quaternion(rigid->quaternion, R);
    fil_multiply3(R, rigid->axes, own); // columns: the shape's axes in the world
    fil_copy3(rigid->centre, pose->position);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            pose->axis[k][i] = own[3 * i + k];
        }
        fil_add3(-rigid->offset[k], pose->axis[k], pose->position);
    }
}

void fil_rigid_rate(const FilRigid *rigid, FilRate *rate) {
    fil_copy3(rigid->velocity, rate->velocity);
    fil_copy3(rigid->velocity + 3, rate->spin);
}

void fil_rigid_angular_momentum(const FilRigid *rigid, double momentum[3]) {
    double R[9];
    fil_rotation_from_quaternion(rigid->quaternion, R);
    apply_inertia(rigid, R, 1, rigid->velocity + 3, momentum);
}

void fil_rigid_energy(const FilRigid *rigid, FilRigidEnergy *energy) {
    double L[3];
    fil_rigid_angular_momentum(rigid, L);
    energy->translation = 0.5 * rigid->mass * fil_dot3(rigid->velocity, rigid->velocity);
    energy->rotation = 0.5 * fil_dot3(L, rigid->velocity + 3);
    energy->gravity = -rigid->mass * fil_dot3(rigid->gravity, rigid->centre);
}

// velocity + spin x (at - centre)
void fil_rigid_jacobian(const FilRigid *rigid, const double at[3], double rows[18]) {
    double arm[3], cross[9];
    fil_subtract3(at, rigid->centre, arm);
    fil_cross_matrix3(arm, cross);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            rows[6 * i + j] = i == j;
            rows[6 * i + 3 + j] = -cross[3 * i + j];
        }
    }
}

// ------------------------------------------------------------------------------------ changing

FilStatus fil_rigid_set_pose(FilRigid *rigid, const FilPose *pose, FilError *error) {
    FIL_TRY(check_pose(pose, error));
    place(rigid, pose);
    rigid->revision++;
    return FIL_OK;
}

FilStatus fil_rigid_set_rate(FilRigid *rigid, const FilRate *rate, FilError *error) {
    FIL_TRY(check_vector(rate->velocity, "rate.velocity", error));
    FIL_TRY(check_vector(rate->spin, "rate.spin", error));
    fil_copy3(rate->velocity, rigid->velocity);
    fil_copy3(rate->spin, rigid->velocity + 3);
    rigid->revision++;
    return FIL_OK;
}

FilStatus fil_rigid_set_gravity(FilRigid *rigid, const double gravity[3], FilError *error) {
    FIL_TRY(check_vector(gravity, "gravity", error));
    fil_copy3(gravity, rigid->gravity);
    rigid->revision++;
    return FIL_OK;
}

FilStatus fil_rigid_set_load(FilRigid *rigid, const double force[3], const double torque[3],
                             FilError *error) {
    FIL_TRY(check_vector(force, "force", error));
    FIL_TRY(check_vector(torque, "torque", error));
    fil_copy3(force, rigid->force);
    fil_copy3(torque, rigid->torque);
    rigid->revision++;
    return FIL_OK;
}

void fil_rigid_get_state(const FilRigid *rigid, double state[FIL_RIGID_STATE]) {
    memcpy(state, rigid->centre, sizeof rigid->centre);
    memcpy(state + 3, rigid->quaternion, sizeof rigid->quaternion);
    memcpy(state + 7, rigid->velocity, sizeof rigid->velocity);
}

FilStatus fil_rigid_set_state(FilRigid *rigid, const double state[FIL_RIGID_STATE],
                              FilError *error) {
    const double *q = state + 3;
    const double length = sqrt(q[0] * q[0] + fil_dot3(q + 1, q + 1));
    if (!is_finite(state, FIL_RIGID_STATE) || !(fabs(length - 1.0) < 1e-6)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "this is not the state of a rigid body: it has numbers that are not "
                        "finite, or an orientation that is none");
    }
    memcpy(rigid->centre, state, sizeof rigid->centre);
    memcpy(rigid->quaternion, q, sizeof rigid->quaternion);
    memcpy(rigid->velocity, state + 7, sizeof rigid->velocity);
    rigid->revision++;
    return FIL_OK;
}
