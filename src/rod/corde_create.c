// corde_create.c - the rod model `corde`: how it is made and what it is made of.
//
// Joints and elements at rest follow from sections, lengths and the natural curvature. The start
// shape is laid out joint by joint from the root; where driven ends are elsewhere it is fitted
// between them.
#include "corde.h"

#include <string.h>

#include "base/error.h"
#include "lengths.h"
#include "math/rotation.h"
#include "math/vec3.h"

static const double pi = 3.14159265358979323846;

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
void fil_corde_place_ends(FilRod *rod) {
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
        if (fil_corde_holds_frame(ends[k]->kind)) {
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
    fil_corde_forget(rod);
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

FilStatus fil_corde_check_natural(const FilRod *rod, int element, const double kappa[3],
                                  FilError *error) {
    double angle = fil_norm3(kappa) * rod->lengths[element];
    if (!(angle < pi)) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "%s turns element %d by %g rad; corde needs more elements, so that it is "
                        "below pi",
                        rod->natural_name, element, angle);
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
    corde->matrix = FIL_NEW_ZEROED(&rod->arena, double, fil_corde_matrix_size(rod));
    corde->left = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->rest = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->kicked = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->before = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->load = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->solution = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->guess = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->start_r = FIL_NEW_ZEROED(&rod->arena, double, 3 * (n + 1));
    corde->lean = FIL_NEW_ZEROED(&rod->arena, double, 3 * blocks);
    corde->pull = FIL_NEW_ZEROED(&rod->arena, double, 3 * (n + 1));
    double *state = fil_rod_new_state(rod, (int)(3 * (n + 1) + 4 * (n + 2) + 3 * blocks));
    if (rod->arena.failed) {
        return false;
    }
    corde->r = state;
    corde->q = corde->r + 3 * (n + 1);
    corde->v = corde->q + 4 * (n + 2);
    return true;
}

FilStatus fil_corde_create(FilRod *rod, const double *start, FilError *error) {
    int n = rod->element_count;
    FIL_TRY(check_turns(rod, rod->natural, rod->natural_name, error));
    FIL_TRY(check_turns(rod, start, "start_curvatures", error));
    FilCorde *corde = FIL_NEW_ZEROED(&rod->arena, FilCorde, 1);
    if (corde != NULL) {
        corde->first = fil_corde_holds_place(rod->root_end.kind) ? 2 : 1;
        corde->last = fil_corde_holds_place(rod->tip_end.kind) ? 2 * n : 2 * n + 1;
        corde->root_joint = fil_corde_holds_frame(rod->root_end.kind);
        corde->tip_joint = fil_corde_holds_frame(rod->tip_end.kind);
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

// Quaternions that came from outside are brought to unit length; those that have it keep every bit.
void fil_corde_refresh(FilRod *rod) {
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
    fil_corde_forget(rod);
}
