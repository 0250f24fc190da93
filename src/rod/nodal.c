// nodal.c - rods of nodes and edges: their unknowns, and the shape that these stand for.
//
// A shape is the places of the nodes with what follows from them: the direction, length and frame
// of each edge, the bend and twist between neighbours. Frames are carried from shape to shape
// (der_frames.c), so that a shape is always placed from another one. nodal_create.c makes the rod,
// nodal_look.c looks at it, nodal_forces.c has its gradient and Hessian, nodal_step.c its step.
#include "nodal.h"

#include <string.h>

#include "math/vec3.h"

// --- unknowns ------------------------------------------------------------------------------------

void fil_nodal_axes(const FilRod *rod, double time, double axes[2][3]) {
    for (int end = 0; end < 2; end++) {
        axes[end][0] = axes[end][1] = axes[end][2] = 0.0;
        if (fil_nodal_end(rod, end)->kind == FIL_END_SLIDING) {
            FilPose pose;
            fil_rod_end_pose(rod, fil_nodal_end(rod, end), time, &pose);
            fil_copy3(pose.axis[0], axes[end]);
        }
    }
}

void fil_nodal_gather(const FilRod *rod, double axes[2][3], const double *full, double *free) {
    const FilNodal *nodal = rod->data;
    int count = nodal->last - nodal->first;
    memcpy(free, full + nodal->first, sizeof(double) * (size_t)count);
    for (int end = 0; end < 2; end++) {
        if (fil_nodal_end(rod, end)->kind == FIL_END_SLIDING) {
            const double *x = full + (ptrdiff_t)nodal->stride * fil_nodal_end_node(nodal, end);
            free[end == 0 ? 0 : count - 1] = fil_dot3(axes[end], x);
        }
    }
}

void fil_nodal_scatter(const FilRod *rod, double axes[2][3], const double *free, double *full) {
    const FilNodal *nodal = rod->data;
    int count = nodal->last - nodal->first;
    memset(full, 0, sizeof(double) * (size_t)nodal->full_count);
    memcpy(full + nodal->first, free, sizeof(double) * (size_t)count);
    for (int end = 0; end < 2; end++) {
        if (fil_nodal_end(rod, end)->kind == FIL_END_SLIDING) {
            double *x = full + (ptrdiff_t)nodal->stride * fil_nodal_end_node(nodal, end);
            for (int k = 0; k < 3; k++) {
                x[k] = axes[end][k] * free[end == 0 ? 0 : count - 1];
            }
        }
    }
}
void fil_nodal_get_velocity(const FilRod *rod, double *velocity) {
    const FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    fil_nodal_gather(rod, axes, nodal->v, velocity);
}
// --- placing -------------------------------------------------------------------------------------

// Bring an end and its ghost to where they are held.
static void hold_end(const FilRod *rod, int end, double time, const FilShape *from, FilShape *to) {
    const FilNodal *nodal = rod->data;
    FilEndKind kind = fil_nodal_end(rod, end)->kind;
    if (kind == FIL_END_FREE) {
        return;
    }
    FilPose pose;
    fil_rod_end_pose(rod, fil_nodal_end(rod, end), time, &pose);
    double *x = to->x + 3 * (ptrdiff_t)fil_nodal_end_node(nodal, end);
    double along = 0.0;
    for (int k = 0; k < 3 && kind == FIL_END_SLIDING; k++) {
        along += pose.axis[0][k] * (x[k] - pose.position[k]);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = pose.position[k] + along * pose.axis[0][k];
    }
    if (nodal->ghosts[end] == 0) {
        return;
    }
    int ghost = end == 0 ? 0 : nodal->edge_count - 1;
    FilEdge *edge = &to->edges[ghost];
    double length = from->edges[ghost].length, *beyond = x + (end == 0 ? -3 : 3);
    for (int k = 0; k < 3; k++) {
        beyond[k] = x[k] + (end == 0 ? -length : length) * pose.axis[0][k];
    }
    // its direction is that of its nodes, which are all that a state keeps of it: to the bit
    edge->spin = from->edges[ghost].spin;
    nodal->kernels->place_edges(ghost, ghost + 1, from->edges, to->x, to->edges);
    fil_copy3(pose.axis[1], edge->n1);
    fil_add3(-fil_dot3(edge->n1, edge->t), edge->t, edge->n1);
    edge->spin = from->edges[ghost].spin + fil_edge_turn(&from->edges[ghost], edge->t, edge->n1);
}

void fil_nodal_place(const FilRod *rod, double time, const FilShape *from, FilShape *to) {
    const FilNodal *nodal = rod->data;
    hold_end(rod, 0, time, from, to);
    hold_end(rod, 1, time, from, to);
    nodal->kernels->place_edges(nodal->ghosts[0], nodal->edge_count - nodal->ghosts[1], from->edges,
                                to->x, to->edges);
    nodal->kernels->place_joints(nodal->edge_count, from, to);
}

void fil_nodal_copy(const FilNodal *nodal, const FilShape *from, FilShape *to) {
    size_t n = (size_t)nodal->edge_count;
    memcpy(to->x, from->x, sizeof(double) * 3 * (n + 1));
    memcpy(to->edges, from->edges, sizeof(FilEdge) * n);
    memcpy(to->bends, from->bends, sizeof(FilBend) * (n - 1));
    for (size_t j = 0; j < n; j++) {
        to->edges[j].spin = 0.0;
    }
}

// The anchor takes the state as it is, the shape is placed from there.
void fil_nodal_load(FilNodal *nodal) {
    FilShape *shape = &nodal->start, *as_is = &nodal->anchor;
    int n = nodal->edge_count;
    memcpy(shape->x, nodal->x, sizeof(double) * 3 * (size_t)(n + 1));
    for (int j = 0; j < n; j++) {
        FilEdge *edge = &as_is->edges[j];
        const double *x = shape->x + 3 * (ptrdiff_t)j;
        fil_subtract3(x + 3, x, edge->t);
        double inverse = 1.0 / fil_norm3(edge->t);
        for (int k = 0; k < 3; k++) {
            edge->t[k] *= inverse;
        }
        fil_copy3(nodal->director + 3 * (ptrdiff_t)j, edge->n1);
        edge->spin = shape->edges[j].spin = 0.0;
        as_is->bends[j].kappa[0] = j + 1 < n ? nodal->twist[j] : 0.0;
    }
    nodal->kernels->place_edges(0, n, as_is->edges, shape->x, shape->edges);
    for (int j = 0; j < n; j++) { // to the bit, so that a rod goes on from a state as it would have
        const double *n1 = nodal->director + 3 * (ptrdiff_t)j;
        double change[3];
        fil_subtract3(n1, shape->edges[j].n1, change);
        if (fil_norm3(change) < 1e-14) {
            fil_copy3(n1, shape->edges[j].n1);
        }
    }
    nodal->kernels->place_joints(n, as_is, shape);
    nodal->begun = nodal->tried = nodal->known = false;
}

void fil_nodal_store(FilNodal *nodal) {
    const FilShape *shape = &nodal->start;
    memcpy(nodal->x, shape->x, sizeof(double) * 3 * (size_t)(nodal->edge_count + 1));
    for (int j = 0; j < nodal->edge_count; j++) {
        fil_copy3(shape->edges[j].n1, nodal->director + 3 * (ptrdiff_t)j);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        nodal->twist[j] = shape->bends[j].kappa[0];
    }
    nodal->begun = nodal->tried = nodal->known = false;
}
// --- moving --------------------------------------------------------------------------------------

void fil_nodal_forget(FilRod *rod) {
    FilNodal *nodal = rod->data;
    nodal->begun = nodal->tried = nodal->known = false;
}

void fil_nodal_stop(FilRod *rod) {
    const FilNodal *nodal = rod->data;
    memset(nodal->v, 0, sizeof(double) * (size_t)nodal->full_count);
    fil_nodal_forget(rod);
}

void fil_nodal_launch(FilRod *rod, const double velocity[3], const double spin[3]) {
    FilNodal *nodal = rod->data;
    const double *root = nodal->x + 3 * (ptrdiff_t)nodal->ghosts[0];
    fil_nodal_stop(rod);
    for (int k = nodal->first; k < nodal->last; k++) {
        const int i = k / nodal->stride, part = k % nodal->stride;
        const double *x = nodal->x + 3 * (ptrdiff_t)i;
        double arm[3], turned[3];
        fil_subtract3(part < 3 ? x : x + 3, part < 3 ? root : x, arm);
        fil_cross3(spin, arm, turned);
        nodal->v[k] = part < 3 ? velocity[part] + turned[part]
                               : fil_dot3(spin, arm) / fil_norm3(arm); // about the edge
    }
}

void fil_nodal_slow_down(FilRod *rod, const double velocity[3], double part) {
    FilNodal *nodal = rod->data;
    for (int k = nodal->first; k < nodal->last; k++) {
        const int c = k % nodal->stride;
        const double whole = c < 3 ? velocity[c] : 0.0;
        nodal->v[k] = whole + part * (nodal->v[k] - whole);
    }
    fil_nodal_forget(rod);
}

void fil_nodal_move(FilRod *rod, const double *dx) {
    FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    fil_nodal_scatter(rod, axes, dx, nodal->work);
    for (int i = 0; i <= nodal->edge_count; i++) {
        const double *way = nodal->work + (ptrdiff_t)nodal->stride * i;
        for (int k = 0; k < 3; k++) {
            nodal->trial.x[3 * i + k] = nodal->start.x[3 * i + k] + way[k];
        }
        if (i < nodal->edge_count) {
            nodal->trial.edges[i].spin = nodal->stride == 4 ? way[3] : 0.0;
        }
    }
    fil_nodal_place(rod, rod->state[0], &nodal->start, &nodal->trial);
    fil_nodal_copy(nodal, &nodal->trial, &nodal->start);
    fil_nodal_store(nodal);
}
