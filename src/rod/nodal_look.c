// nodal_look.c - looking at rods of nodes and edges: poses, Jacobians, curvature, energy.
#include "nodal.h"

#include <string.h>

#include "math/vec3.h"

// --- poses ---------------------------------------------------------------------------------------

// Velocities of the unknowns as a rate: of an edge's vector and of its turn.
static void add_spin(const FilNodal *nodal, int j, const double map[9], const double axis[3],
                     double spin[3]) {
    const double *v = nodal->v + (ptrdiff_t)nodal->stride * j, *w = v + nodal->stride;
    double change[3], turned[3];
    fil_subtract3(w, v, change);
    fil_apply3(map, change, turned);
    fil_add3(1.0, turned, spin);
    if (nodal->stride == 4) {
        fil_add3(v[3], axis, spin);
    }
}

void fil_nodal_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate) {
    const FilNodal *nodal = rod->data;
    int j = element + nodal->ghosts[0];
    const double *x = nodal->x + 3 * (ptrdiff_t)j;
    const double *v = nodal->v + (ptrdiff_t)nodal->stride * j, *w = v + nodal->stride;
    FilNodalSection section;
    fil_nodal_find_section(rod, element, u, &section);
    memcpy(pose->axis, section.axis, sizeof pose->axis);
    for (int k = 0; k < 3; k++) {
        pose->position[k] = (1.0 - u) * x[k] + u * x[3 + k];
    }
    if (rate == NULL) {
        return;
    }
    FilNodalTurn turn;
    fil_nodal_find_turn(rod, &section, &turn);
    *rate = (FilRate){0};
    for (int k = 0; k < 3; k++) {
        rate->velocity[k] = (1.0 - u) * v[k] + u * w[k];
    }
    add_spin(nodal, section.e, turn.edge[0], turn.spin[0], rate->spin);
    if (section.f != section.e) {
        add_spin(nodal, section.f, turn.edge[1], turn.spin[1], rate->spin);
    }
}

void fil_nodal_sample(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                      double *rates) {
    const FilNodal *nodal = rod->data;
    for (int i = 0; i < count; i++) {
        int j = places[i].element + nodal->ghosts[0];
        double u = places[i].u;
        const double *x = nodal->x + 3 * (ptrdiff_t)j;
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * j, *w = v + nodal->stride;
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = (1.0 - u) * x[k] + u * x[3 + k];
        }
        for (int k = 0; rates != NULL && k < 3; k++) {
            rates[3 * i + k] = (1.0 - u) * v[k] + u * w[k];
        }
    }
}

// A matrix of some columns: those of the unknowns first .. first + width - 1 of the full list.
typedef struct Columns {
    double *at;
    int first, width;
} Columns;

// One column of a Jacobian of unknowns, where the unknown is free.
static void put_column(const FilRod *rod, int unknown, const double values[3], int row,
                       const Columns *jacobian) {
    const FilNodal *nodal = rod->data;
    if (unknown < nodal->first || unknown >= nodal->last) {
        return;
    }
    double *to = jacobian->at + unknown - jacobian->first;
    for (int k = 0; k < 3; k++) {
        to[(ptrdiff_t)(row + k) * jacobian->width] = values[k];
    }
}

// The place of node i enters the rows with the matrix m (columns are world axes).
static void put_node(const FilRod *rod, int i, const double m[9], int row,
                     const Columns *jacobian) {
    const FilNodal *nodal = rod->data;
    for (int end = 0; end < 2; end++) {
        if (i == fil_nodal_end_node(nodal, end) &&
            fil_nodal_end(rod, end)->kind == FIL_END_SLIDING) {
            double axes[2][3], along[3];
            fil_nodal_axes(rod, rod->state[0], axes);
            fil_apply3(m, axes[end], along);
            put_column(rod, end == 0 ? nodal->first : nodal->last - 1, along, row, jacobian);
            return;
        }
    }
    for (int k = 0; k < 3; k++) {
        const double column[3] = {m[k], m[3 + k], m[6 + k]};
        put_column(rod, nodal->stride * i + k, column, row, jacobian);
    }
}

// The rows of velocity of a place at the part u of edge j.
static void put_place(const FilRod *rod, int j, double u, const Columns *jacobian) {
    for (int side = 0; side < 2; side++) {
        double part = side == 0 ? 1.0 - u : u;
        const double m[9] = {part, 0.0, 0.0, 0.0, part, 0.0, 0.0, 0.0, part};
        put_node(rod, j + side, m, 0, jacobian);
    }
}

// The rows of spin: nodes e, e + 1 and e + 2 begin and end the edges e and f.
static void put_turn(const FilRod *rod, const FilNodalSection *section, const Columns *jacobian) {
    const FilNodal *nodal = rod->data;
    bool both = section->f != section->e;
    FilNodalTurn turn;
    fil_nodal_find_turn(rod, section, &turn);
    fil_nodal_let_ghosts(rod, section, &turn);
    for (int i = 0; i < (both ? 3 : 2); i++) {
        double m[9];
        for (int k = 0; k < 9; k++) {
            m[k] = i == 0 ? -turn.edge[0][k] : i == 1 ? turn.edge[0][k] : 0.0;
            m[k] += !both || i == 0 ? 0.0 : i == 1 ? -turn.edge[1][k] : turn.edge[1][k];
        }
        put_node(rod, section->e + i, m, 3, jacobian);
    }
    for (int side = 0; side < (both ? 2 : 1) && nodal->stride == 4; side++) {
        put_column(rod, 4 * (section->e + side) + 3, turn.spin[side], 3, jacobian);
    }
}

void fil_nodal_jacobian(const FilRod *rod, int element, double u, double *jacobian) {
    const FilNodal *nodal = rod->data;
    const Columns all = {jacobian, nodal->first, rod->dof_count};
    FilNodalSection section;
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)rod->dof_count);
    put_place(rod, element + nodal->ghosts[0], u, &all);
    fil_nodal_find_section(rod, element, u, &section);
    put_turn(rod, &section, &all);
}

void fil_nodal_place_jacobian(const FilRod *rod, int element, double u, double *jacobian) {
    const FilNodal *nodal = rod->data;
    int first, last;
    FilNodalSection section;
    fil_nodal_place_span(rod, element, u, &first, &last);
    const Columns few = {jacobian, nodal->first + first, last - first};
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)(last - first));
    put_place(rod, element + nodal->ghosts[0], u, &few);
    if (rod->table->framed) {
        fil_nodal_find_section(rod, element, u, &section);
        put_turn(rod, &section, &few);
    }
}

// The nodes of the edges around the section: its own, and that before or after. Without frames
// contacts act on the axis, and do not turn: its own.
void fil_nodal_place_span(const FilRod *rod, int element, double u, int *first, int *last) {
    const FilNodal *nodal = rod->data;
    int j = element + nodal->ghosts[0], from = u >= 0.5 ? j : j - 1, to = u >= 0.5 ? j + 2 : j + 1;
    if (!rod->table->framed) {
        from = j;
        to = j + 1;
    }
    from = nodal->stride * from - nodal->first;
    to = nodal->stride * to + 3 - nodal->first;
    *first = from < 0 ? 0 : from;
    *last = to > rod->dof_count ? rod->dof_count : to;
}

// Nodes from that before the element to that after its end, which sections next to it need.
void fil_nodal_span(const FilRod *rod, int element, int *first, int *last) {
    const FilNodal *nodal = rod->data;
    int j = element + nodal->ghosts[0], from = nodal->stride * (j - 1),
        to = nodal->stride * (j + 3);
    *first = j <= fil_nodal_end_node(nodal, 0) + 1 || from < nodal->first ? 0 : from - nodal->first;
    *last = j + 2 >= fil_nodal_end_node(nodal, 1) || to > nodal->last ? rod->dof_count
                                                                      : to - nodal->first;
}

// --- curvature -----------------------------------------------------------------------------------

// Curvature at an end whose frame is not held: the natural one and what torques right there make of
// it.
static void end_curvature(const FilRod *rod, int end, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    int element = end == 0 ? 0 : rod->element_count - 1;
    const FilEdge *edge = &nodal->start.edges[element + nodal->ghosts[0]];
    double n2[3], s = end == 0 ? 0.0 : rod->state[1], sign = end == 0 ? -1.0 : 1.0;
    fil_cross3(edge->t, edge->n1, n2);
    const double *const axis[3] = {edge->t, edge->n1, n2};
    fil_copy3(rod->natural + 6 * (ptrdiff_t)element + (end == 0 ? 0 : 3), kappa);
    for (int l = 0; l < rod->load_count; l++) {
        const FilRodLoad *load = &rod->loads[l];
        if (fabs(load->s - s) > 1e-9 * rod->state[1]) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            kappa[k] += sign * fil_dot3(axis[k], load->torque) / rod->sections[element].kappa[k];
        }
    }
}

// Curvature is known at the ends that are not held and, as a mean, in the middle of every cell:
// that of bend 0, 1, .. Returns where along the rod.
static double known_curvature(const FilRod *rod, int bend, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    if (bend < 0 || bend > nodal->edge_count - 2) {
        end_curvature(rod, bend < 0 ? 0 : 1, kappa);
        return bend < 0 ? 0.0 : rod->state[1];
    }
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

// A line through the two nearest places where curvature is known; a clamp lies beyond the last one.
void fil_nodal_curvature_at(const FilRod *rod, int element, double u, double kappa[3]) {
    const FilNodal *nodal = rod->data;
    int first = nodal->ghosts[0] == 1 ? 0 : -1;
    int last = nodal->edge_count - 2 + (nodal->ghosts[1] == 1 ? 0 : 1);
    int a = element + nodal->ghosts[0] - 1;
    a = a < first ? first : a > last - 1 ? last - 1 : a;
    double before[3], after[3], s = u * rod->lengths[element];
    double from = known_curvature(rod, a, before), to = known_curvature(rod, a + 1, after);
    for (int e = 0; e < element; e++) {
        s += rod->lengths[e];
    }
    double part = (s - from) / (to - from);
    for (int k = 0; k < 3; k++) {
        kappa[k] = (1.0 - part) * before[k] + part * after[k];
    }
}

// --- energy --------------------------------------------------------------------------------------

// What a bend stores, by the length of its cell; at an end that is not held that of its curvature.
static double bend_density(const FilRod *rod, int bend) {
    const FilNodal *nodal = rod->data;
    if (bend < 0 || bend > nodal->edge_count - 2) {
        double kappa[3];
        end_curvature(rod, bend < 0 ? 0 : 1, kappa);
        return fil_rod_elastic_density(rod, bend < 0 ? 0 : rod->element_count - 1,
                                       bend < 0 ? 0.0 : 1.0, kappa);
    }
    return fil_bend_energy(&nodal->start.bends[bend], &nodal->bend[bend]) / nodal->cell[bend];
}

// Linear between the nodes: the integral is the sum over the bends, for a cell reaches half-way to
// its neighbours.
double fil_nodal_elastic_at(const FilRod *rod, int element, double u) {
    const FilNodal *nodal = rod->data;
    const int bend = element + nodal->ghosts[0] - 1;
    return (1.0 - u) * bend_density(rod, bend) + u * bend_density(rod, bend + 1);
}

double fil_nodal_edge_tension(const FilRod *rod, int element) {
    const FilNodal *nodal = rod->data;
    const int edge = element + nodal->ghosts[0];
    const FilEdgeSpring *spring = &nodal->stretch[edge];
    return spring->k * (nodal->start.edges[edge].length - spring->rest);
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

// An edge turns by 1 rad at most, and the rod falls by less than its length; theta near 1/2, which
// damps nothing but stretch, takes a twentieth of that (curled, flat and unevenly stiff rods that
// were kicked, see test_rod_motion.c).
double fil_nodal_largest_step(const FilRod *rod) {
    const FilNodal *nodal = rod->data;
    double rate = sqrt(fil_norm3(rod->gravity) / rod->state[1]);
    for (int j = 0; j < nodal->edge_count; j++) {
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * j;
        double change[3];
        fil_subtract3(v + nodal->stride, v, change);
        rate = fmax(rate, fil_norm3(change) / nodal->start.edges[j].length);
    }
    double part = fmin(1.0, 0.05 + 3.8 * (rod->theta - 0.5));
    return part * (rate > 1e-3 ? 1.0 / rate : 1e3);
}
