// corde_forces.c - the rod model `corde`: energy, gradient and Hessian of the whole rod.
//
// corde_energy.c has those of one edge and one joint; here they are summed over the blocks of
// unknowns (corde.h), with loads and gravity.
#include "corde.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

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

void fil_corde_energy(const FilRod *rod, FilRodEnergy *out) {
    const FilCorde *corde = rod->data;
    for (int b = 1; b < fil_corde_block_count(rod) - 1; b++) { // nodes that are driven move, too
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
        fil_corde_place_position(rod, element, u, position);
        out->loads -= fil_dot3(rod->loads[k].force, position);
    }
}

static void add_torque(const FilRod *rod, int element, double u, const double torque[3],
                       double *gradient) {
    FilCordeSection section = fil_corde_find_section(rod, element, u);
    double part[3] = {0.0, 0.0, 0.0}, B[9];
    if (section.joint < 0 || section.x < 0.0 || section.x > 1.0) {
        fil_add3(-1.0, torque, gradient + 6 * (size_t)element + 6);
        return;
    }
    fil_corde_turn_weights(&section, section.x, B);
    fil_apply_transposed3(B, torque, part);
    double *a = gradient + 6 * (size_t)section.joint;
    fil_add3(-1.0, torque, a);
    fil_add3(1.0, part, a);
    fil_add3(-1.0, part, a + 6);
}

void fil_corde_add_loads(const FilRod *rod, double *gradient) {
    const FilCorde *corde = rod->data;
    for (int i = 0; i <= rod->element_count; i++) {
        fil_add3(-corde->inertia[2 * i + 1], rod->gravity, gradient + 6 * (size_t)i + 3);
    }
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
    }
    fil_corde_add_loads(rod, gradient);
}

void fil_corde_free_gradient(const FilRod *rod, double *out) {
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
    FilCordeSection section = fil_corde_find_section(rod, element, u);
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
void fil_corde_hessian(const FilRod *rod, double *out) {
    FilCordeSink sink = {.corde = rod->data, .matrix = out, .add = add_dense, .n = rod->dof_count};
    place_dense(rod, true, out);
    for (int k = 0; k < rod->load_count; k++) {
        add_torque_hessian(rod, &rod->loads[k], &sink);
    }
}

void fil_corde_stiffness(const FilRod *rod, double *out) {
    place_dense(rod, false, out);
}

void fil_corde_mass(const FilRod *rod, double *out) {
    const FilCorde *corde = rod->data;
    size_t n = (size_t)rod->dof_count;
    memset(out, 0, sizeof(double) * n * n);
    for (size_t i = 0; i < n; i++) {
        out[i * n + i] = corde->inertia[(size_t)corde->first + i / 3];
    }
}
