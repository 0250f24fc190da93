// corde_whole.c - a rod of the model `corde` as a whole: how it moves as one piece, its momentum,
// and what holds its tip.
//
// What holds a node or a frame gives it the gradient of the energy there, and what damping, inertia
// and drag want.
#include "corde.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

// --- motion --------------------------------------------------------------------------------------

void fil_corde_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                           double *rates) {
    const FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++, rates += 3) {
        if (b % 2 == 0) {
            fil_copy3(spin, rates);
            continue;
        }
        double arm[3];
        fil_subtract3(corde->r + 3 * (size_t)(b / 2), corde->r, arm);
        fil_cross3(spin, arm, rates);
        fil_add3(1.0, velocity, rates);
    }
}

void fil_corde_axial_rates(const FilRod *rod, double *rates) {
    const FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++, rates += 3) {
        double R[9];
        fil_rotation_from_quaternion(corde->q + 4 * (size_t)(b / 2), R);
        for (int k = 0; k < 3; k++) {
            rates[k] = b % 2 == 0 ? R[3 * k] : 0.0;
        }
    }
}

void fil_corde_momentum(const FilRod *rod, const double *state, const double about[3],
                        double linear[3], double angular[3]) {
    const FilCorde *corde = rod->data;
    const double *r = state + (corde->r - rod->state), *v = state + (corde->v - rod->state);
    static const double none[3] = {0.0, 0.0, 0.0};
    double sum[2][3] = {{0.0}};
    for (int b = 1; b < fil_corde_block_count(rod) - 1; b++) {
        double momentum[3] = {0.0, 0.0, 0.0};
        fil_add3(corde->inertia[b], v + 3 * (size_t)b, momentum);
        if (b % 2 == 0) {
            fil_add3(1.0, momentum, sum[1]);
        } else {
            fil_rod_add_wrench(about, r + 3 * (size_t)(b / 2), momentum, none, sum);
        }
    }
    fil_copy3(sum[0], linear);
    fil_copy3(sum[1], angular);
}

// --- what acts -----------------------------------------------------------------------------------

void fil_corde_body_wrench(const FilRod *rod, const double about[3], double force[3],
                           double moment[3]) {
    const FilCorde *corde = rod->data;
    static const double none[3] = {0.0, 0.0, 0.0};
    double sum[2][3] = {{0.0}};
    for (int i = 0; i <= rod->element_count; i++) {
        const int b = 2 * i + 1;
        double push[3] = {0.0, 0.0, 0.0};
        fil_add3(corde->inertia[b], rod->gravity, push);
        fil_add3(-corde->drag[b], corde->v + 3 * (size_t)b, push);
        fil_rod_add_wrench(about, corde->r + 3 * (size_t)i, push, none, sum);
    }
    fil_copy3(sum[0], force);
    fil_copy3(sum[1], moment);
}

// What a push gives to the tip: its part of the last node, and of the last frame where it is held.
static void subtract_push(const FilRod *rod, const FilRodLoad *push, double force[3],
                          double moment[3]) {
    double u, B[9], part[3];
    const int element = fil_rod_locate(rod, push->s, &u), last = rod->element_count;
    if (element != last - 1) {
        return;
    }
    fil_add3(-u, push->force, force);
    FilCordeSection section = fil_corde_find_section(rod, element, u);
    if (section.joint == last && section.x >= 0.0 && section.x <= 1.0) {
        fil_corde_turn_weights(&section, section.x, B);
        fil_apply_transposed3(B, push->torque, part);
        fil_add3(-1.0, part, moment);
    }
}

static void add_damping(const FilRod *rod, double force[3], double moment[3]) {
    const FilCorde *corde = rod->data;
    const int last = rod->element_count;
    const double *r = corde->r + 3 * (size_t)(last - 1), *v = corde->v + 6 * (size_t)last - 3;
    double e[3], de[3], part[3], S[9], difference[3];
    FilCordeEdgeHessian hessian;
    fil_subtract3(r + 3, r, e);
    fil_subtract3(v + 6, v, de);
    fil_corde_edge_stiffness(&corde->edges[last - 1], e, 0.0, &hessian);
    fil_apply3(hessian.ee, de, part);
    fil_add3(rod->damping, part, force);
    fil_apply3(hessian.ew, v + 3, part);
    fil_add3(rod->damping, part, force);
    if (corde->tip_joint) {
        fil_corde_joint_world(rod, last, false, S);
        fil_subtract3(v + 9, v + 3, difference);
        fil_apply3(S, difference, part);
        fil_add3(rod->damping, part, moment);
    }
}

void fil_corde_tip_reaction(const FilRod *rod, const FilRodPast *past, double force[3],
                            double moment[3]) {
    const FilCorde *corde = rod->data;
    const int node = 2 * rod->element_count + 1;
    const double *v = corde->v + 3 * (size_t)node;
    FilRodLoad push;
    fil_corde_gradient(rod, corde->gradient);
    fil_copy3(corde->gradient + 3 * (size_t)node, force);
    fil_copy3(corde->gradient + 3 * (size_t)node + 3, moment);
    while (past->next != NULL && past->next(past->context, &push)) {
        subtract_push(rod, &push, force, moment);
    }
    if (past->state == NULL) {
        return;
    }
    fil_add3(corde->drag[node], v, force);
    fil_add3(corde->inertia[node] / past->dt, v, force);
    fil_add3(-corde->inertia[node] / past->dt, past->state + (v - rod->state), force);
    add_damping(rod, force, moment);
}
