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
// turn
//    the integral of the natural curvature from middle to middle.
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
// Between the middles of elements frames are interpolated (at constant curvature); in a last
// half-element with a free end they are extrapolated. A torque there acts on the last frame: its
// moment in the rod is then exact. The length changes at rest: the shape follows by elasticity.
#include "corde.h"

#include <string.h>

#include "base/error.h"
#include "lengths.h"
#include "math/rotation.h"
#include "math/vec3.h"

static const double pi = 3.14159265358979323846;

// --- creation ------------------------------------------------------------------------------------

static bool holds_place(FilEndKind kind) {
    return kind == FIL_END_CLAMPED || kind == FIL_END_PINNED;
}

static bool holds_frame(FilEndKind kind) {
    return kind == FIL_END_CLAMPED || kind == FIL_END_SLIDING;
}

// Curvatures (both ends of each element) integrated over half an element.
static void add_half(const double *kappa, double length, bool second, double turn[3]) {
    for (int k = 0; k < 3; k++) {
        double near = second ? kappa[3 + k] : kappa[k], far = second ? kappa[k] : kappa[3 + k];
        turn[k] += 0.125 * length * (3.0 * near + far);
    }
}

// From the middle of one element to that of the next; at the ends, over half an element.
static void integrate_joint(const FilRod *rod, const double *kappa, int joint, double turn[3]) {
    memset(turn, 0, 3 * sizeof *turn);
    if (joint > 0) {
        add_half(kappa + 6 * (size_t)(joint - 1), rod->lengths[joint - 1], true, turn);
    }
    if (joint < rod->element_count) {
        add_half(kappa + 6 * (size_t)joint, rod->lengths[joint], false, turn);
    }
}

static void place_joint(const FilRod *rod, int i) {
    FilCorde *corde = rod->data;
    double compliance[3] = {0.0, 0.0, 0.0};
    corde->cell[i] = 0.0;
    for (int j = i - 1; j <= i; j++) {
        if (j < 0 || j >= rod->element_count) {
            continue;
        }
        corde->cell[i] += 0.5 * rod->lengths[j];
        for (int k = 0; k < 3; k++) {
            compliance[k] += 0.5 * rod->lengths[j] / rod->sections[j].kappa[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        corde->joints[i].stiffness[k] = 1.0 / compliance[k];
    }
    integrate_joint(rod, rod->natural, i, corde->joints[i].rest);
}

static void place_element(const FilRod *rod, int j) {
    FilCorde *corde = rod->data;
    const FilStiffness *section = &rod->sections[j];
    double l = rod->lengths[j];
    corde->edges[j] =
        (FilCordeEdge){.length = l,
                       .stretch = section->stretch,
                       .couple = 12.0 * fmax(section->kappa[1], section->kappa[2]) / (l * l)};
    for (int side = 1; side <= 3; side += 2) {
        corde->inertia[2 * j + side] += 0.5 * section->mass * l;
        corde->drag[2 * j + side] += 0.5 * rod->drag * l;
    }
    corde->inertia[2 * j + 2] = section->spin_inertia * l;
}

// Everything that follows from lengths, sections and natural curvatures.
static void place_rest(FilRod *rod) {
    FilCorde *corde = rod->data;
    size_t blocks = (size_t)fil_corde_block_count(rod);
    memset(corde->inertia, 0, sizeof(double) * blocks);
    memset(corde->drag, 0, sizeof(double) * blocks);
    for (int j = 0; j < rod->element_count; j++) {
        place_element(rod, j);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        place_joint(rod, i);
    }
}

// Frame after frame from the root; an edge lies along the axis of its frame, at its rest length.
static void place_start(FilRod *rod, const double *start) {
    FilCorde *corde = rod->data;
    double R[9], turn[3];
    for (int k = 0; k < 9; k++) {
        R[k] = rod->root_start.axis[k % 3][k / 3];
    }
    fil_rotation_to_quaternion(R, corde->q);
    fil_copy3(rod->root_start.position, corde->r);
    for (int i = 0; i <= rod->element_count; i++) {
        double spin[3];
        integrate_joint(rod, start, i, turn);
        fil_rotation_from_quaternion(corde->q + 4 * i, R);
        fil_apply3(R, turn, spin);
        memcpy(corde->q + 4 * i + 4, corde->q + 4 * i, 4 * sizeof(double));
        fil_corde_rotate(spin, corde->q + 4 * i + 4);
        if (i < rod->element_count) {
            fil_rotation_from_quaternion(corde->q + 4 * i + 4, R);
            for (int k = 0; k < 3; k++) {
                corde->r[3 * i + 3 + k] = corde->r[3 * i + k] + rod->lengths[i] * R[3 * k];
            }
        }
    }
}

// Turn a frame by the least that brings its n0 along its edge.
static void align_frame(FilCorde *corde, int j) {
    double e[3], n[3], R[9], Q[9], turn[3];
    fil_subtract3(corde->r + 3 * (size_t)j + 3, corde->r + 3 * (size_t)j, e);
    fil_rotation_from_quaternion(corde->q + 4 * (size_t)j + 4, R);
    double length = fil_norm3(e);
    if (!(length > 0.0)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        e[k] /= length;
        n[k] = R[3 * k];
    }
    fil_rotation_between(n, e, Q);
    fil_rotation_log(Q, turn);
    fil_corde_rotate(turn, corde->q + 4 * (size_t)j + 4);
}

// A start shape whose driven ends are not where they are held at time 0 is fitted between them.
static void place_ends(FilRod *rod) {
    FilCorde *corde = rod->data;
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    int n = rod->element_count;
    double place[2][3], moved = 0.0;
    for (int k = 0; k < 2; k++) {
        FilPose pose;
        const double *r = corde->r + (k == 0 ? 0 : 3 * (size_t)n);
        fil_copy3(r, place[k]);
        fil_rod_end_pose(rod, ends[k], 0.0, &pose);
        double sum = fil_norm3(pose.position) + fil_norm3(pose.axis[0]) + fil_norm3(pose.axis[1]);
        if (ends[k]->motion == NULL || ends[k]->kind == FIL_END_FREE || !isfinite(sum)) {
            continue; // what is not finite, the first step says
        }
        fil_copy3(pose.position, place[k]);
        for (int i = 0; i < 3; i++) {
            moved = fmax(moved, fabs(place[k][i] - r[i]));
        }
        if (holds_frame(ends[k]->kind)) {
            double R[9];
            for (int i = 0; i < 9; i++) {
                R[i] = pose.axis[i % 3][i / 3];
            }
            fil_rotation_to_quaternion(R, corde->q + (k == 0 ? 0 : 4 * (size_t)(n + 1)));
        }
    }
    if (!(moved > 1e-12 * rod->start_length)) {
        return;
    }
    fil_lengths_fit(n, rod->lengths, place[0], place[1], corde->r, corde->gradient);
    for (int j = 0; j < n; j++) {
        align_frame(corde, j);
    }
}

static FilStatus check_turns(const FilRod *rod, const double *kappa, const char *name,
                             FilError *error) {
    for (int i = 0; i <= rod->element_count; i++) {
        double turn[3];
        integrate_joint(rod, kappa, i, turn);
        double angle = fil_norm3(turn);
        if (!(angle < pi)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "%s turns the frame by %g rad from one element to the next; corde "
                            "needs more elements, so that it is below pi",
                            name, isnan(angle) ? (double)INFINITY : angle);
        }
    }
    return FIL_OK;
}

static FilStatus check_natural(const FilRod *rod, int element, const double kappa[3],
                               FilError *error) {
    double angle = fil_norm3(kappa) * rod->lengths[element];
    if (!(angle < pi)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "natural_curvatures turns element %d by %g rad; corde needs more elements, "
                        "so that it is below pi",
                        element, angle);
    }
    return FIL_OK;
}

// Products of legal numbers may leave the range of numbers.
static FilStatus check_range(const FilRod *rod, FilError *error) {
    const FilCorde *corde = rod->data;
    for (int j = 0; j < rod->element_count; j++) {
        const FilCordeEdge *edge = &corde->edges[j];
        double spin = corde->inertia[2 * j + 2], mass = corde->inertia[2 * j + 1];
        double stiff = fmax(corde->joints[j].stiffness[0], edge->couple * edge->length);
        double least = fmin(fmin(spin, mass), edge->couple);
        double most = fmax(fmax(spin, mass), fmax(stiff, edge->stretch / edge->length));
        if (!(least > 1e-140 && most < 1e140)) {
            return fil_fail(error, FIL_E_ARGUMENT,
                            "an element of length %g m has masses and stiffnesses from %g to %g; "
                            "they must be between 1e-140 and 1e140",
                            rod->lengths[j], least, most);
        }
    }
    return FIL_OK;
}

static bool allocate(FilRod *rod, FilCorde *corde) {
    size_t n = (size_t)rod->element_count, blocks = 2 * n + 3;
    corde->edges = FIL_NEW_ZEROED(&rod->arena, FilCordeEdge, n);
    corde->joints = FIL_NEW_ZEROED(&rod->arena, FilCordeJoint, n + 1);
    corde->cell = FIL_NEW_ZEROED(&rod->arena, double, n + 1);
    corde->inertia = FIL_NEW_ZEROED(&rod->arena, double, blocks);
    corde->drag = FIL_NEW_ZEROED(&rod->arena, double, blocks);
    corde->gradient = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->guess_r = FIL_NEW_ZEROED(&rod->arena, double, 3 * (n + 1));
    corde->guess_q = FIL_NEW_ZEROED(&rod->arena, double, 4 * (n + 2));
    corde->force = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->shift = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->A = FIL_NEW_ZEROED(&rod->arena, double, fil_corde_matrix_size(rod));
    double *state = fil_rod_new_state(rod, (int)(3 * (n + 1) + 4 * (n + 2) + 3 * blocks));
    if (rod->arena.failed) {
        return false;
    }
    corde->r = state;
    corde->q = corde->r + 3 * (n + 1);
    corde->v = corde->q + 4 * (n + 2);
    return true;
}

static FilStatus create(FilRod *rod, const double *start, FilError *error) {
    int n = rod->element_count;
    FIL_TRY(check_turns(rod, rod->natural, "natural_curvatures", error));
    FIL_TRY(check_turns(rod, start, "start_curvatures", error));
    FilCorde *corde = FIL_NEW_ZEROED(&rod->arena, FilCorde, 1);
    if (corde != NULL) {
        corde->first = holds_place(rod->root_end.kind) ? 2 : 1;
        corde->last = holds_place(rod->tip_end.kind) ? 2 * n : 2 * n + 1;
        corde->root_joint = holds_frame(rod->root_end.kind);
        corde->tip_joint = holds_frame(rod->tip_end.kind);
        rod->dof_count = 3 * (corde->last - corde->first + 1);
        rod->row_count = fil_rod_count_rows(rod);
        rod->data = corde;
    }
    if (corde == NULL || !allocate(rod, corde)) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for a rod of %d elements", n);
    }
    if (rod->step_kind == FIL_ROD_STEP_EXPLICIT) {
        rod->theta = 1.0; // positions move with the new velocity
    }
    place_rest(rod);
    FIL_TRY(check_range(rod, error));
    place_start(rod, start);
    return FIL_OK;
}

// --- places on the rod ---------------------------------------------------------------------------

// A frame on the rod: the part x of the way from frame `joint` to the next one. joint is -1 where
// there is only one frame, that of the element.
typedef struct Section {
    int joint;
    double x;
    double turn[3]; // of the joint
    double R[9];    // of its first frame
} Section;

static Section find_section(const FilRod *rod, int element, double u) {
    const FilCorde *corde = rod->data;
    Section section = {.joint = u < 0.5 ? element : element + 1};
    if (!fil_corde_acts(rod, section.joint)) {
        section.joint = u < 0.5 ? element + 1 : element;
    }
    if (!fil_corde_acts(rod, section.joint)) {
        section.joint = -1;
        fil_rotation_from_quaternion(corde->q + 4 * element + 4, section.R);
        return section;
    }
    const double *q = corde->q + 4 * (size_t)section.joint;
    double from_middle = (u - 0.5) * rod->lengths[element] / corde->cell[section.joint];
    section.x = section.joint == element ? 1.0 + from_middle : from_middle;
    fil_corde_turn(q, q + 4, section.turn);
    fil_rotation_from_quaternion(q, section.R);
    return section;
}

// B of fil_corde_between() in world axes.
static void turn_weights(const Section *section, double x, double B[9]) {
    double local[9], RB[9];
    fil_corde_between(section->turn, x, local);
    fil_multiply3(section->R, local, RB);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            B[3 * i + j] = fil_dot3(RB + 3 * i, section->R + 3 * j);
        }
    }
}

static void place_axes(const Section *section, double axis[3][3]) {
    double turn[3], Q[9], R[9];
    for (int k = 0; k < 3; k++) {
        turn[k] = section->x * section->turn[k];
    }
    fil_rotation_exp(turn, Q);
    fil_multiply3(section->R, Q, R);
    for (int k = 0; k < 9; k++) {
        axis[k % 3][k / 3] = R[k];
    }
}

static void place_position(const FilRod *rod, int element, double u, double position[3]) {
    const FilCorde *corde = rod->data;
    const double *a = corde->r + 3 * (size_t)element, *b = a + 3;
    for (int k = 0; k < 3; k++) {
        position[k] = (1.0 - u) * a[k] + u * b[k];
    }
}

static void at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    const FilCorde *corde = rod->data;
    Section section = find_section(rod, element, u);
    place_position(rod, element, u, pose->position);
    place_axes(&section, pose->axis);
    if (rate == NULL) {
        return;
    }
    const double *v = corde->v + 3 * (2 * (size_t)element + 1);
    for (int k = 0; k < 3; k++) {
        rate->velocity[k] = (1.0 - u) * v[k] + u * v[k + 6];
        rate->spin[k] = v[k + 3];
    }
    if (section.joint >= 0) {
        const double *wa = corde->v + 6 * (size_t)section.joint, *wb = wa + 6;
        double B[9], difference[3], turned[3];
        turn_weights(&section, section.x, B);
        fil_subtract3(wb, wa, difference);
        fil_apply3(B, difference, turned);
        for (int k = 0; k < 3; k++) {
            rate->spin[k] = wa[k] + turned[k];
        }
    }
}

// Add a 3 x 3 block to the rows `row`.. of a matrix of dof_count columns.
static void add_columns(const FilRod *rod, int row, int block, const double B[9],
                        double *jacobian) {
    const FilCorde *corde = rod->data;
    if (block < corde->first || block > corde->last) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        double *out = jacobian + (size_t)(row + i) * (size_t)rod->dof_count +
                      3 * (size_t)(block - corde->first);
        fil_add3(1.0, B + 3 * i, out);
    }
}

static void fill_scalar(double x, double B[9]) {
    for (int k = 0; k < 9; k++) {
        B[k] = k % 4 == 0 ? x : 0.0;
    }
}

static void jacobian(const FilRod *rod, int element, double u, double *rows) {
    double B[9], rest[9];
    memset(rows, 0, sizeof(double) * 6 * (size_t)rod->dof_count);
    fill_scalar(1.0 - u, B);
    add_columns(rod, 0, 2 * element + 1, B, rows);
    fill_scalar(u, B);
    add_columns(rod, 0, 2 * element + 3, B, rows);
    Section section = find_section(rod, element, u);
    if (section.joint < 0) {
        fill_scalar(1.0, B);
        add_columns(rod, 3, 2 * element + 2, B, rows);
        return;
    }
    turn_weights(&section, section.x, B);
    for (int k = 0; k < 9; k++) {
        rest[k] = (k % 4 == 0 ? 1.0 : 0.0) - B[k];
    }
    add_columns(rod, 3, 2 * section.joint, rest, rows);
    add_columns(rod, 3, 2 * section.joint + 2, B, rows);
}

// Curvature at an end whose frame is not held: the natural one and what torques right there make of
// it.
static void curvature_at_end(const FilRod *rod, bool root, double kappa[3]) {
    const FilCorde *corde = rod->data;
    int element = root ? 0 : rod->element_count - 1;
    double length = rod->state[1], R[9], local[3];
    fil_copy3(rod->natural + 6 * (size_t)element + (root ? 0 : 3), kappa);
    fil_rotation_from_quaternion(corde->q + 4 * (size_t)element + 4, R);
    for (int l = 0; l < rod->load_count; l++) {
        const FilRodLoad *load = &rod->loads[l];
        if (fabs(load->s - (root ? 0.0 : length)) > 1e-9 * length) {
            continue;
        }
        fil_apply_transposed3(R, load->torque, local);
        for (int k = 0; k < 3; k++) {
            kappa[k] += (root ? -1.0 : 1.0) * local[k] / rod->sections[element].kappa[k];
        }
    }
}

static void curvature_at_node(const FilRod *rod, int i, double kappa[3]) {
    const FilCorde *corde = rod->data;
    if (fil_corde_acts(rod, i)) {
        fil_corde_turn(corde->q + 4 * (size_t)i, corde->q + 4 * (size_t)i + 4, kappa);
        for (int k = 0; k < 3; k++) {
            kappa[k] /= corde->cell[i];
        }
        return;
    }
    curvature_at_end(rod, i == 0, kappa);
}

static void curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    double a[3], b[3];
    curvature_at_node(rod, element, a);
    curvature_at_node(rod, element + 1, b);
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - u) * a[k] + u * b[k];
    }
}

// --- ends ----------------------------------------------------------------------------------------

static void shift_end(const FilRod *rod, const FilRodEnd *end, double time, double *shift) {
    const FilCorde *corde = rod->data;
    bool root = end == &rod->root_end;
    int node = root ? 0 : rod->element_count, frame = root ? 0 : rod->element_count + 1;
    FilPose pose;
    double *spin = shift + 6 * (size_t)frame, *move = shift + 6 * (size_t)node + 3;
    memset(spin, 0, 3 * sizeof *spin);
    if (holds_place(end->kind)) {
        memset(move, 0, 3 * sizeof *move);
    }
    if (end->motion == NULL) {
        return;
    }
    fil_rod_end_pose(rod, end, time, &pose);
    if (holds_place(end->kind)) {
        fil_subtract3(pose.position, corde->r + 3 * (size_t)node, move);
    }
    if (holds_frame(end->kind)) {
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

// --- energy and its derivatives ------------------------------------------------------------------

// Edge vector and axis n0 of an element.
static void find_edge(const FilCorde *corde, int j, double e[3], double n[3]) {
    double R[9];
    fil_subtract3(corde->r + 3 * (size_t)j + 3, corde->r + 3 * (size_t)j, e);
    fil_rotation_from_quaternion(corde->q + 4 * (size_t)j + 4, R);
    for (int k = 0; k < 3; k++) {
        n[k] = R[3 * k];
    }
}

static double squared_speed(const double *v) {
    return fil_dot3(v, v);
}

static void energy(const FilRod *rod, FilRodEnergy *out) {
    const FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++) {
        out->kinetic += 0.5 * corde->inertia[b] * squared_speed(corde->v + 3 * (size_t)b);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        out->gravity -=
            corde->inertia[2 * i + 1] * fil_dot3(rod->gravity, corde->r + 3 * (size_t)i);
    }
    for (int j = 0; j < rod->element_count; j++) {
        double e[3], n[3], couple;
        find_edge(corde, j, e, n);
        out->stretch += fil_corde_edge_energy(&corde->edges[j], e, n, &couple);
        out->stretch += couple;
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (fil_corde_acts(rod, i)) {
            double turn[3];
            fil_corde_turn(corde->q + 4 * (size_t)i, corde->q + 4 * (size_t)i + 4, turn);
            out->bend += fil_corde_joint_bend(&corde->joints[i], turn);
            out->twist += fil_corde_joint_twist(&corde->joints[i], turn);
        }
    }
    for (int k = 0; k < rod->load_count; k++) {
        double u, position[3];
        int element = fil_rod_locate(rod, rod->loads[k].s, &u);
        place_position(rod, element, u, position);
        out->loads -= fil_dot3(rod->loads[k].force, position);
    }
}

static void add_torque(const FilRod *rod, int element, double u, const double torque[3],
                       double *gradient) {
    Section section = find_section(rod, element, u);
    double part[3] = {0.0, 0.0, 0.0}, B[9];
    if (section.joint < 0 || section.x < 0.0 || section.x > 1.0) {
        fil_add3(-1.0, torque, gradient + 6 * (size_t)element + 6);
        return;
    }
    turn_weights(&section, section.x, B);
    fil_apply_transposed3(B, torque, part);
    double *a = gradient + 6 * (size_t)section.joint;
    fil_add3(-1.0, torque, a);
    fil_add3(1.0, part, a);
    fil_add3(-1.0, part, a + 6);
}

static void add_loads(const FilRod *rod, double *gradient) {
    for (int k = 0; k < rod->load_count; k++) {
        const FilRodLoad *load = &rod->loads[k];
        double u;
        int element = fil_rod_locate(rod, load->s, &u);
        fil_add3(u - 1.0, load->force, gradient + 6 * (size_t)element + 3);
        fil_add3(-u, load->force, gradient + 6 * (size_t)element + 9);
        add_torque(rod, element, u, load->torque, gradient);
    }
}

void fil_corde_gradient(const FilRod *rod, double *gradient) {
    const FilCorde *corde = rod->data;
    memset(gradient, 0, sizeof(double) * 3 * (size_t)fil_corde_block_count(rod));
    for (int j = 0; j < rod->element_count; j++) {
        double e[3], n[3], force[3], torque[3];
        double *g = gradient + 6 * (size_t)j + 3;
        find_edge(corde, j, e, n);
        fil_corde_edge_gradient(&corde->edges[j], e, n, force, torque);
        fil_add3(-1.0, force, g);
        fil_add3(1.0, torque, g + 3);
        fil_add3(1.0, force, g + 6);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        double turn[3], R[9], local[3], moment[3];
        if (fil_corde_acts(rod, i)) {
            const double *q = corde->q + 4 * (size_t)i;
            fil_corde_turn(q, q + 4, turn);
            fil_corde_joint_moment(&corde->joints[i], turn, local);
            fil_rotation_from_quaternion(q, R);
            fil_apply3(R, local, moment);
            fil_add3(-1.0, moment, gradient + 6 * (size_t)i);
            fil_add3(1.0, moment, gradient + 6 * (size_t)i + 6);
        }
        fil_add3(-corde->inertia[2 * i + 1], rod->gravity, gradient + 6 * (size_t)i + 3);
    }
    add_loads(rod, gradient);
}

static void gradient(const FilRod *rod, double *out) {
    const FilCorde *corde = rod->data;
    fil_corde_gradient(rod, corde->gradient);
    memcpy(out, corde->gradient + 3 * (size_t)corde->first,
           sizeof(double) * (size_t)rod->dof_count);
}

void fil_corde_add_edge(const FilCordeSink *sink, int element, double factor,
                        const FilCordeEdgeHessian *hessian) {
    double we[9];
    for (int k = 0; k < 9; k++) {
        we[k] = hessian->ew[3 * (k % 3) + k / 3];
    }
    int a = 2 * element + 1, w = a + 1, b = a + 2;
    sink->add(sink, a, a, factor, hessian->ee);
    sink->add(sink, b, a, -factor, hessian->ee);
    sink->add(sink, b, b, factor, hessian->ee);
    sink->add(sink, w, a, -factor, we);
    sink->add(sink, b, w, factor, hessian->ew);
    sink->add(sink, w, w, factor, hessian->ww);
}

void fil_corde_add_joint(const FilCordeSink *sink, int joint, double factor, const double S[9]) {
    int a = 2 * joint, b = a + 2;
    sink->add(sink, a, a, factor, S);
    sink->add(sink, b, a, -factor, S);
    sink->add(sink, b, b, factor, S);
}

void fil_corde_joint_world(const FilRod *rod, int joint, bool exact, double S[9]) {
    const FilCorde *corde = rod->data;
    const double *q = corde->q + 4 * (size_t)joint;
    double turn[3], local[9], R[9], RS[9];
    fil_corde_turn(q, q + 4, turn);
    if (exact) {
        fil_corde_joint_hessian(&corde->joints[joint], turn, local);
    } else {
        fil_corde_joint_stiffness(&corde->joints[joint], turn, local);
    }
    fil_rotation_from_quaternion(q, R);
    fil_multiply3(R, local, RS);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            S[3 * i + j] = fil_dot3(RS + 3 * i, R + 3 * j);
        }
    }
}

// The part -1/2 [moment]x of (b, a) that makes the Hessian along exp(w) exact.
static void add_joint_moment(const FilRod *rod, const FilCordeSink *sink, int joint) {
    const FilCorde *corde = rod->data;
    const double *q = corde->q + 4 * (size_t)joint;
    double turn[3], local[3], moment[3], R[9], X[9];
    fil_corde_turn(q, q + 4, turn);
    fil_corde_joint_moment(&corde->joints[joint], turn, local);
    fil_rotation_from_quaternion(q, R);
    fil_apply3(R, local, moment);
    fil_cross_matrix3(moment, X);
    sink->add(sink, 2 * joint + 2, 2 * joint, -0.5, X);
}

static void add_dense(const FilCordeSink *sink, int I, int J, double factor, const double B[9]) {
    const FilCorde *corde = sink->corde;
    if (J < corde->first || I > corde->last) {
        return;
    }
    size_t row = 3 * (size_t)(I - corde->first), column = 3 * (size_t)(J - corde->first);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            double x = factor * B[3 * i + j];
            sink->matrix[(row + i) * (size_t)sink->n + column + j] += x;
            if (I != J) {
                sink->matrix[(column + j) * (size_t)sink->n + row + i] += x;
            }
        }
    }
}

static void place_dense(const FilRod *rod, bool exact, double *matrix) {
    const FilCorde *corde = rod->data;
    FilCordeSink sink = {.corde = corde, .matrix = matrix, .add = add_dense, .n = rod->dof_count};
    memset(matrix, 0, sizeof(double) * (size_t)rod->dof_count * (size_t)rod->dof_count);
    for (int j = 0; j < rod->element_count; j++) {
        double e[3], n[3];
        FilCordeEdgeHessian hessian;
        find_edge(corde, j, e, n);
        if (exact) {
            fil_corde_edge_hessian(&corde->edges[j], e, n, &hessian);
        } else {
            fil_corde_edge_stiffness(&corde->edges[j], e, 0.0, &hessian);
        }
        fil_corde_add_edge(&sink, j, 1.0, &hessian);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (fil_corde_acts(rod, i)) {
            double S[9];
            fil_corde_joint_world(rod, i, exact, S);
            fil_corde_add_joint(&sink, i, 1.0, S);
            if (exact) {
                add_joint_moment(rod, &sink, i);
            }
        }
    }
}

// A torque between two frames; on one frame alone it is constant along exp(w).
static void add_torque_hessian(const FilRod *rod, const FilRodLoad *load,
                               const FilCordeSink *sink) {
    double u, local[3], S[36];
    int element = fil_rod_locate(rod, load->s, &u);
    Section section = find_section(rod, element, u);
    if (section.joint < 0 || section.x < 0.0 || section.x > 1.0) {
        return;
    }
    fil_apply_transposed3(section.R, load->torque, local);
    fil_corde_between_torque(section.turn, section.x, local, S);
    for (int k = 0; k < 3; k++) { // (a, a), (b, a), (b, b)
        int row = k > 0, column = k > 1;
        double block[9], half[9], world[9];
        for (int i = 0; i < 9; i++) {
            block[i] = S[6 * (3 * row + i / 3) + 3 * column + i % 3];
        }
        fil_multiply3(section.R, block, half);
        for (int i = 0; i < 9; i++) {
            world[i] = fil_dot3(half + 3 * (size_t)(i / 3), section.R + 3 * (size_t)(i % 3));
        }
        sink->add(sink, 2 * (section.joint + row), 2 * (section.joint + column), -1.0, world);
    }
}

// Forces and gravity are linear in the nodes. Of a torque, which has no energy, the symmetric part.
static void hessian(const FilRod *rod, double *out) {
    FilCordeSink sink = {.corde = rod->data, .matrix = out, .add = add_dense, .n = rod->dof_count};
    place_dense(rod, true, out);
    for (int k = 0; k < rod->load_count; k++) {
        add_torque_hessian(rod, &rod->loads[k], &sink);
    }
}

static void stiffness(const FilRod *rod, double *out) {
    place_dense(rod, false, out);
}

static void mass(const FilRod *rod, double *out) {
    const FilCorde *corde = rod->data;
    size_t n = (size_t)rod->dof_count;
    memset(out, 0, sizeof(double) * n * n);
    for (size_t i = 0; i < n; i++) {
        out[i * n + i] = corde->inertia[(size_t)corde->first + i / 3];
    }
}

// --- state ---------------------------------------------------------------------------------------

static void get_velocity(const FilRod *rod, double *velocity) {
    const FilCorde *corde = rod->data;
    memcpy(velocity, corde->v + 3 * (size_t)corde->first, sizeof(double) * (size_t)rod->dof_count);
}

static void stop(FilRod *rod) {
    FilCorde *corde = rod->data;
    memset(corde->v, 0, sizeof(double) * 3 * (size_t)fil_corde_block_count(rod));
}

static void move(FilRod *rod, const double *dx) {
    FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++, dx += 3) {
        if (b % 2 == 0) {
            fil_corde_rotate(dx, corde->q + 2 * (size_t)b);
        } else {
            fil_add3(1.0, dx, corde->r + 3 * (size_t)(b / 2));
        }
    }
}

// Quaternions that came from outside are brought to unit length; those that have it keep every bit.
static void refresh(FilRod *rod) {
    FilCorde *corde = rod->data;
    for (int f = 0; f <= rod->element_count + 1; f++) {
        double *q = corde->q + 4 * (size_t)f;
        double norm = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
        if (!(norm > 0.0)) {
            q[0] = norm = 1.0;
        }
        for (int k = 0; k < 4 && fabs(norm - 1.0) > 1e-12; k++) {
            q[k] /= norm;
        }
    }
    place_rest(rod);
}

const FilRodTable fil_rod_corde = {
    .name = "corde",
    .framed = true,
    .rows = {{[FIL_END_SLIDING] = 2}, {[FIL_END_SLIDING] = 2}},
    .create = create,
    .check_natural = check_natural,
    .place_ends = place_ends,
    .prepare = fil_corde_prepare,
    .solve = fil_corde_solve,
    .advance = fil_corde_advance,
    .get_velocity = get_velocity,
    .stop = stop,
    .move = move,
    .at = at,
    .jacobian = jacobian,
    .curvature_at = curvature_at,
    .end_rows = end_rows,
    .energy = energy,
    .gradient = gradient,
    .hessian = hessian,
    .stiffness = stiffness,
    .mass = mass,
    .largest_step = fil_corde_largest_step,
    .refresh = refresh,
};
