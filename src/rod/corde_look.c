// corde_look.c - looking at a rod of the model `corde`: poses, Jacobians, curvature.
//
// Between the middles of elements frames are interpolated (at constant curvature); in a last
// half-element with a free end they are extrapolated. A torque there acts on the last frame: its
// moment in the rod is then exact.
#include "corde.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"

// The joint around a section, or -1.
static int find_joint(const FilRod *rod, int element, double u) {
    const int near = u < 0.5 ? element : element + 1, far = 2 * element + 1 - near;
    return fil_corde_acts(rod, near) ? near : fil_corde_acts(rod, far) ? far : -1;
}

FilCordeSection fil_corde_find_section(const FilRod *rod, int element, double u) {
    const FilCorde *corde = rod->data;
    FilCordeSection section = {.joint = find_joint(rod, element, u)};
    if (section.joint < 0) {
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
void fil_corde_turn_weights(const FilCordeSection *section, double x, double B[9]) {
    double local[9], RB[9];
    fil_corde_between(section->turn, x, local);
    fil_multiply3(section->R, local, RB);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            B[3 * i + j] = fil_dot3(RB + 3 * i, section->R + 3 * j);
        }
    }
}

static void place_axes(const FilCordeSection *section, double axis[3][3]) {
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

void fil_corde_place_position(const FilRod *rod, int element, double u, double position[3]) {
    const FilCorde *corde = rod->data;
    const double *a = corde->r + 3 * (size_t)element, *b = a + 3;
    for (int k = 0; k < 3; k++) {
        position[k] = (1.0 - u) * a[k] + u * b[k];
    }
}

void fil_corde_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    const FilCorde *corde = rod->data;
    FilCordeSection section = fil_corde_find_section(rod, element, u);
    fil_corde_place_position(rod, element, u, pose->position);
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
        fil_corde_turn_weights(&section, section.x, B);
        fil_subtract3(wb, wa, difference);
        fil_apply3(B, difference, turned);
        for (int k = 0; k < 3; k++) {
            rate->spin[k] = wa[k] + turned[k];
        }
    }
}

void fil_corde_sample(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                      double *rates) {
    const FilCorde *corde = rod->data;
    for (int i = 0; i < count; i++) {
        double u = places[i].u;
        const double *v = corde->v + 3 * (2 * (size_t)places[i].element + 1);
        fil_corde_place_position(rod, places[i].element, u, points + 3 * (size_t)i);
        for (int k = 0; rates != NULL && k < 3; k++) {
            rates[3 * i + k] = (1.0 - u) * v[k] + u * v[k + 6];
        }
    }
}

// A matrix of some columns: `width` of them, from those of the block `first` on.
typedef struct Columns {
    double *at;
    int first, width;
} Columns;

// Add a 3 x 3 block to the rows `row`.. of a matrix.
static void add_columns(const FilRod *rod, int row, int block, const double B[9],
                        const Columns *jacobian) {
    const FilCorde *corde = rod->data;
    if (block < corde->first || block > corde->last) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        double *out = jacobian->at + (size_t)(row + i) * (size_t)jacobian->width +
                      3 * (size_t)(block - jacobian->first);
        fil_add3(1.0, B + 3 * i, out);
    }
}

static void fill_scalar(double x, double B[9]) {
    for (int k = 0; k < 9; k++) {
        B[k] = k % 4 == 0 ? x : 0.0;
    }
}

static void add_section(const FilRod *rod, int element, double u, const Columns *jacobian) {
    double B[9], rest[9];
    fill_scalar(1.0 - u, B);
    add_columns(rod, 0, 2 * element + 1, B, jacobian);
    fill_scalar(u, B);
    add_columns(rod, 0, 2 * element + 3, B, jacobian);
    FilCordeSection section = fil_corde_find_section(rod, element, u);
    if (section.joint < 0) {
        fill_scalar(1.0, B);
        add_columns(rod, 3, 2 * element + 2, B, jacobian);
        return;
    }
    fil_corde_turn_weights(&section, section.x, B);
    for (int k = 0; k < 9; k++) {
        rest[k] = (k % 4 == 0 ? 1.0 : 0.0) - B[k];
    }
    add_columns(rod, 3, 2 * section.joint, rest, jacobian);
    add_columns(rod, 3, 2 * section.joint + 2, B, jacobian);
}

void fil_corde_jacobian(const FilRod *rod, int element, double u, double *rows) {
    const FilCorde *corde = rod->data;
    const Columns all = {rows, corde->first, rod->dof_count};
    memset(rows, 0, sizeof(double) * 6 * (size_t)rod->dof_count);
    add_section(rod, element, u, &all);
}

void fil_corde_place_jacobian(const FilRod *rod, int element, double u, double *rows) {
    const FilCorde *corde = rod->data;
    int first, last;
    fil_corde_place_span(rod, element, u, &first, &last);
    const Columns few = {rows, corde->first + first / 3, last - first};
    memset(rows, 0, sizeof(double) * 6 * (size_t)(last - first));
    add_section(rod, element, u, &few);
}

// The two nodes, the frame between them, and that before or after.
void fil_corde_place_span(const FilRod *rod, int element, double u, int *first, int *last) {
    const FilCorde *corde = rod->data;
    int joint = find_joint(rod, element, u);
    int from = joint == element ? 2 * element : 2 * element + 1;
    int to = joint == element + 1 ? 2 * element + 4 : 2 * element + 3;
    from = 3 * (from - corde->first);
    to = 3 * (to + 1 - corde->first);
    *first = from < 0 ? 0 : from;
    *last = to > rod->dof_count ? rod->dof_count : to;
}

void fil_corde_span(const FilRod *rod, int element, int *first, int *last) {
    const FilCorde *corde = rod->data;
    int from = 3 * (2 * element - corde->first), to = 3 * (2 * element + 5 - corde->first);
    *first = from < 0 ? 0 : from;
    *last = to > rod->dof_count ? rod->dof_count : to;
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

void fil_corde_curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    double a[3], b[3];
    curvature_at_node(rod, element, a);
    curvature_at_node(rod, element + 1, b);
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - u) * a[k] + u * b[k];
    }
}

// --- what it stores and carries ------------------------------------------------------------------

// What a joint stores, by its length; at an end that is not held that of its curvature.
static double node_density(const FilRod *rod, int i) {
    const FilCorde *corde = rod->data;
    double turn[3];
    if (!fil_corde_acts(rod, i)) {
        curvature_at_end(rod, i == 0, turn);
        return fil_rod_elastic_density(rod, i == 0 ? 0 : i - 1, i == 0 ? 0.0 : 1.0, turn);
    }
    fil_corde_turn(corde->q + 4 * (size_t)i, corde->q + 4 * (size_t)i + 4, turn);
    const FilCordeJoint *joint = &corde->joints[i];
    return (fil_corde_joint_bend(joint, turn) + fil_corde_joint_twist(joint, turn)) /
           corde->cell[i];
}

// Linear between the nodes: the integral is the sum over the joints, each of which reaches half-way
// to its neighbours.
double fil_corde_elastic_at(const FilRod *rod, int element, double u) {
    return (1.0 - u) * node_density(rod, element) + u * node_density(rod, element + 1);
}

double fil_corde_edge_tension(const FilRod *rod, int element) {
    const FilCorde *corde = rod->data;
    const FilCordeEdge *edge = &corde->edges[element];
    const double *r = corde->r + 3 * (size_t)element;
    double e[3];
    fil_subtract3(r + 3, r, e);
    return edge->stretch * (fil_norm3(e) - edge->length) / edge->length;
}
