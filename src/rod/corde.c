// corde.c - the rod model `corde`: positions and quaternions, softly coupled (Spillmann and
// Teschner 2007).
//
// Unknowns. N + 1 nodes r_i and N unit quaternions q_j, one in the middle of each element, whose
// axis n0 is the tangent. Velocities are nodal velocities and spins in world axes; quaternions move
// by the exponential of a spin and stay of unit length.
//
// Energy (corde_energy.c). Each element stretches and pulls its frame towards its edge; each inner
// node is a joint that bends and twists between the frames next to it. Details that matter:
// 1. A joint is two half-elements in series: stiffness 1 / (l_a/(2 K_a) + l_b/(2 K_b)), natural
//    turn the integral of the natural curvature from middle to middle.
// 2. At an end with a held frame there is one more joint, half an element long, between the held
//    frame and the first q. Holding that q itself would shorten the rod by half an element; with
//    the half joint the sag of a cantilever converges with order 2.
// 3. The coupling stiffness is the one regularisation. It is C = 12 max(EI1, EI2) / l^2: it acts as
//    the compliance in shear of a Timoshenko beam, which lowers the bending stiffness by
//    3 EI / (C L^2) = 1 / (4 N^2), half of what the discretisation does itself, and leaves with
//    it. EA, or GA of the section, in its place would buy no accuracy, and divide the steps that an
//    explicit scheme can take by the slenderness l / radius of an element.
// 4. Masses are lumped at nodes. A frame has the inertia spin_inertia l about all three axes. About
//    the tangent that is the section's; about the others it is twice the section's (a part of order
//    (radius / wavelength)^2 of the kinetic energy). In return the mass matrix is constant and
//    diagonal, nothing gyroscopic is left, and spin about the tangent is still carried as it should
//    be when the tangent turns.
// 5. A turn between neighbouring frames is known up to half a turn; more is refused at creation.
//
// corde_create.c makes the rod, corde_look.c looks at it, corde_forces.c has its gradient and
// Hessian, corde_step.c its steps. The length changes at rest: the shape follows by elasticity.
#include "corde.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

// --- ends ----------------------------------------------------------------------------------------

static void shift_end(const FilRod *rod, const FilRodEnd *end, double time, double *shift) {
    const FilCorde *corde = rod->data;
    bool root = end == &rod->root_end;
    int node = root ? 0 : rod->element_count, frame = root ? 0 : rod->element_count + 1;
    FilPose pose;
    double *spin = shift + 6 * (size_t)frame, *move = shift + 6 * (size_t)node + 3;
    memset(spin, 0, 3 * sizeof *spin);
    if (fil_corde_holds_place(end->kind)) {
        memset(move, 0, 3 * sizeof *move);
    }
    if (end->motion == NULL) {
        return;
    }
    fil_rod_end_pose(rod, end, time, &pose);
    if (fil_corde_holds_place(end->kind)) {
        fil_subtract3(pose.position, corde->r + 3 * (size_t)node, move);
    }
    if (fil_corde_holds_frame(end->kind)) {
        double Q[9] = {0.0}, R[9];
        fil_rotation_from_quaternion(corde->q + 4 * (size_t)frame, R);
        for (int k = 0; k < 9; k++) { // the pose times R^T
            for (int a = 0; a < 3; a++) {
                Q[k] += pose.axis[a][k / 3] * R[3 * (k % 3) + a];
            }
        }
        fil_rotation_log(Q, spin);
    }
}

void fil_corde_held_shift(const FilRod *rod, double time, double *shift) {
    shift_end(rod, &rod->root_end, time, shift);
    shift_end(rod, &rod->tip_end, time, shift);
}

static int slide_rows(const FilRod *rod, const FilRodEnd *end, double time, double *rows,
                      double *error) {
    if (end->kind != FIL_END_SLIDING) {
        return 0;
    }
    const FilCorde *corde = rod->data;
    int node = end == &rod->root_end ? 0 : rod->element_count;
    FilPose pose;
    double gap[3];
    fil_rod_end_pose(rod, end, time, &pose);
    fil_subtract3(corde->r + 3 * (size_t)node, pose.position, gap);
    for (int k = 0; k < 2; k++) {
        double *row = rows + (size_t)k * (size_t)rod->dof_count;
        memset(row, 0, sizeof(double) * (size_t)rod->dof_count);
        fil_copy3(pose.axis[k + 1], row + 3 * (size_t)(2 * node + 1 - corde->first));
        error[k] = fil_dot3(pose.axis[k + 1], gap);
    }
    return 2;
}

static void end_rows(const FilRod *rod, double time, double *rows, double *error) {
    int count = slide_rows(rod, &rod->root_end, time, rows, error);
    slide_rows(rod, &rod->tip_end, time, rows + (size_t)count * (size_t)rod->dof_count,
               error + count);
}

// --- state ---------------------------------------------------------------------------------------

static void get_velocity(const FilRod *rod, double *velocity) {
    const FilCorde *corde = rod->data;
    memcpy(velocity, corde->v + 3 * (size_t)corde->first, sizeof(double) * (size_t)rod->dof_count);
}

static void stop(FilRod *rod) {
    FilCorde *corde = rod->data;
    corde->ready = false;
    memset(corde->v, 0, sizeof(double) * 3 * (size_t)fil_corde_block_count(rod));
}

static void launch(FilRod *rod, const double velocity[3], const double spin[3]) {
    FilCorde *corde = rod->data;
    stop(rod);
    for (int b = corde->first; b <= corde->last; b++) {
        double *v = corde->v + 3 * (size_t)b, arm[3];
        if (b % 2 == 0) {
            fil_copy3(spin, v);
            continue;
        }
        fil_subtract3(corde->r + 3 * (size_t)(b / 2), corde->r, arm);
        fil_cross3(spin, arm, v);
        fil_add3(1.0, velocity, v);
    }
}

static void slow_down(FilRod *rod, const double velocity[3], double part) {
    FilCorde *corde = rod->data;
    corde->ready = false;
    for (int k = 3 * corde->first; k < 3 * (corde->last + 1); k++) {
        const double whole = (k / 3) % 2 == 0 ? 0.0 : velocity[k % 3];
        corde->v[k] = whole + part * (corde->v[k] - whole);
    }
}

static void move(FilRod *rod, const double *dx) {
    FilCorde *corde = rod->data;
    fil_corde_forget(rod);
    for (int b = corde->first; b <= corde->last; b++, dx += 3) {
        if (b % 2 == 0) {
            fil_corde_rotate(dx, corde->q + 2 * (size_t)b);
        } else {
            fil_add3(1.0, dx, corde->r + 3 * (size_t)(b / 2));
        }
    }
}

const FilRodTable fil_rod_corde = {
    .name = "corde",
    .framed = true,
    .rows = {{[FIL_END_SLIDING] = 2}, {[FIL_END_SLIDING] = 2}},
    .create = fil_corde_create,
    .check_natural = fil_corde_check_natural,
    .place_ends = fil_corde_place_ends,
    .prepare = fil_corde_prepare,
    .get_rest = fil_corde_get_rest,
    .solve = fil_corde_solve,
    .solve_columns = fil_corde_solve_columns,
    .factors = fil_corde_factors,
    .advance = fil_corde_advance,
    .drift = fil_corde_drift,
    .get_velocity = get_velocity,
    .stop = stop,
    .launch = launch,
    .slow_down = slow_down,
    .move = move,
    .at = fil_corde_at,
    .sample = fil_corde_sample,
    .jacobian = fil_corde_jacobian,
    .span = fil_corde_span,
    .place_jacobian = fil_corde_place_jacobian,
    .place_span = fil_corde_place_span,
    .curvature_at = fil_corde_curvature_at,
    .elastic_at = fil_corde_elastic_at,
    .edge_tension = fil_corde_edge_tension,
    .end_rows = end_rows,
    .energy = fil_corde_energy,
    .gradient = fil_corde_free_gradient,
    .hessian = fil_corde_hessian,
    .stiffness = fil_corde_stiffness,
    .rigid_rates = fil_corde_rigid_rates,
    .axial_rates = fil_corde_axial_rates,
    .momentum = fil_corde_momentum,
    .body_wrench = fil_corde_body_wrench,
    .tip_reaction = fil_corde_tip_reaction,
    .mass = fil_corde_mass,
    .largest_step = fil_corde_largest_step,
    .flaw = fil_corde_flaw,
    .refresh = fil_corde_refresh,
};
