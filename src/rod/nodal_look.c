// nodal_look.c - looking at rods of nodes and edges: poses, Jacobians, curvature, energy.
#include "nodal.h"

#include <string.h>

#include "math/vec3.h"

// The edge of a section and the fraction of it; at an end whose frame is held, the ghost's end.
static int find_edge(const FilRod *rod, int element, double *u) {
    const FilNodal *nodal = rod->data;
    if (element == 0 && *u <= 0.0 && nodal->ghosts[0] == 1) {
        *u = 1.0;
        return 0;
    }
    if (element == rod->element_count - 1 && *u >= 1.0 && nodal->ghosts[1] == 1) {
        *u = 0.0;
        return nodal->edge_count - 1;
    }
    return element + nodal->ghosts[0];
}

void fil_nodal_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    const FilNodal *nodal = rod->data;
    int j = find_edge(rod, element, &u);
    const FilEdge *edge = &nodal->start.edges[j];
    const double *x = nodal->x + 3 * (ptrdiff_t)j;
    const double *v = nodal->v + (ptrdiff_t)nodal->stride * j, *w = v + nodal->stride;
    for (int k = 0; k < 3; k++) {
        pose->position[k] = (1.0 - u) * x[k] + u * x[3 + k];
    }
    fil_copy3(edge->t, pose->axis[0]);
    fil_copy3(edge->n1, pose->axis[1]);
    fil_cross3(edge->t, edge->n1, pose->axis[2]);
    if (rate == NULL) {
        return;
    }
    double change[3];
    for (int k = 0; k < 3; k++) {
        rate->velocity[k] = (1.0 - u) * v[k] + u * w[k];
        change[k] = (w[k] - v[k]) / edge->length;
    }
    fil_cross3(edge->t, change, rate->spin);
    if (nodal->stride == 4) {
        fil_add3(v[3], edge->t, rate->spin);
    }
}

// One column of a Jacobian of unknowns, where the unknown is free.
static void put_column(const FilRod *rod, int unknown, const double *values, int row, int rows,
                       double *jacobian) {
    const FilNodal *nodal = rod->data;
    if (unknown < nodal->first || unknown >= nodal->last) {
        return;
    }
    double *to = jacobian + unknown - nodal->first;
    for (int k = 0; k < rows; k++) {
        to[(ptrdiff_t)(row + k) * rod->dof_count] = values[k];
    }
}

// The place of node i enters the rows with the matrix m (columns are world axes).
static void put_node(const FilRod *rod, int i, const double m[9], int row, double axes[2][3],
                     double *jacobian) {
    const FilNodal *nodal = rod->data;
    for (int end = 0; end < 2; end++) {
        if (i == fil_nodal_end_node(nodal, end) &&
            fil_nodal_end(rod, end)->kind == FIL_END_SLIDING) {
            double along[3];
            fil_apply3(m, axes[end], along);
            put_column(rod, end == 0 ? nodal->first : nodal->last - 1, along, row, 3, jacobian);
            return;
        }
    }
    for (int k = 0; k < 3; k++) {
        const double column[3] = {m[k], m[3 + k], m[6 + k]};
        put_column(rod, nodal->stride * i + k, column, row, 3, jacobian);
    }
}

void fil_nodal_jacobian(const FilRod *rod, int element, double u, double *jacobian) {
    const FilNodal *nodal = rod->data;
    int j = find_edge(rod, element, &u);
    const FilEdge *edge = &nodal->start.edges[j];
    double axes[2][3], turn[9];
    fil_nodal_axes(rod, rod->state[0], axes);
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)rod->dof_count);
    for (int side = 0; side < 2; side++) {
        double part = side == 0 ? 1.0 - u : u;
        const double m[9] = {part, 0.0, 0.0, 0.0, part, 0.0, 0.0, 0.0, part};
        put_node(rod, j + side, m, 0, axes, jacobian);
    }
    if (fil_nodal_element(rod, j) < 0) {
        return; // a ghost turns as it is driven
    }
    for (int side = 0; side < 2; side++) {
        fil_cross_matrix3(edge->t, turn);
        for (int k = 0; k < 9; k++) {
            turn[k] *= (side == 0 ? -1.0 : 1.0) / edge->length;
        }
        put_node(rod, j + side, turn, 3, axes, jacobian);
    }
    if (nodal->stride == 4) {
        put_column(rod, 4 * j + 3, edge->t, 3, 3, jacobian);
    }
}

// The mean curvature of the cell of a bend, and where along the rod its middle is.
static double cell_curvature(const FilRod *rod, int bend, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    fil_bend_angle(nodal->start.bends[bend].kappa, kappa);
    double s = 0.0;
    for (int k = 0; k < 3; k++) {
        kappa[k] /= nodal->cell[bend];
    }
    for (int e = 0; e <= bend - nodal->ghosts[0] && e < rod->element_count; e++) {
        s += rod->lengths[e];
    }
    if (fil_nodal_element(rod, bend) < 0) {
        return s + 0.5 * nodal->cell[bend];
    }
    return fil_nodal_element(rod, bend + 1) < 0 ? s - 0.5 * nodal->cell[bend] : s;
}

// A line through the curvatures of the two nearest cells, also beyond the last one: the end of a
// rod may carry a torque. With a single cell it is the same everywhere, with none the natural one.
void fil_nodal_curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    int last = nodal->edge_count - 2, a = element + nodal->ghosts[0] - 1;
    const double *natural = rod->natural + 6 * (ptrdiff_t)element;
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - u) * natural[k] + u * natural[3 + k];
    }
    a = a < 0 ? 0 : a > last - 1 ? last - 1 : a;
    if (last <= 0) {
        (void)(last == 0 ? cell_curvature(rod, 0, kappa) : 0.0);
        return;
    }
    double first[3], second[3], s = u * rod->lengths[element];
    double from = cell_curvature(rod, a, first), to = cell_curvature(rod, a + 1, second);
    for (int e = 0; e < element; e++) {
        s += rod->lengths[e];
    }
    double part = (s - from) / (to - from);
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - part) * first[k] + part * second[k];
    }
}
void fil_nodal_energy(const FilRod *rod, FilRodEnergy *energy) {
    const FilNodal *nodal = rod->data;
    for (int i = 0; i <= nodal->edge_count; i++) {
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * i, *x = nodal->x + 3 * (ptrdiff_t)i;
        energy->kinetic += 0.5 * nodal->mass[i] * fil_dot3(v, v);
        energy->gravity -= nodal->mass[i] * fil_dot3(rod->gravity, x);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            energy->kinetic += 0.5 * nodal->inertia[i] * v[3] * v[3];
        }
    }
    for (int j = 0; j < nodal->edge_count; j++) {
        energy->stretch += fil_stretch_energy(&nodal->start.edges[j], &nodal->stretch[j]);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        FilBendSpring twist = nodal->bend[j], bend = nodal->bend[j];
        bend.k[0] = twist.k[1] = twist.k[2] = 0.0;
        energy->bend += fil_bend_energy(&nodal->start.bends[j], &bend);
        energy->twist += fil_bend_energy(&nodal->start.bends[j], &twist);
    }
    for (int k = 0; k < rod->load_count; k++) {
        FilPose pose;
        fil_rod_at(rod, rod->loads[k].s, &pose, NULL);
        energy->loads -= fil_dot3(rod->loads[k].force, pose.position);
    }
}

double fil_nodal_largest_step(const FilRod *rod) {
    const FilNodal *nodal = rod->data;
    double rate = sqrt(fil_norm3(rod->gravity) / rod->state[1]);
    for (int j = 0; j < nodal->edge_count; j++) {
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * j;
        double change[3];
        fil_subtract3(v + nodal->stride, v, change);
        rate = fmax(rate, fil_norm3(change) / nodal->start.edges[j].length);
    }
    return rate > 1e-3 ? 1.0 / rate : 1e3;
}
