// nodal_gyro.c - what spinning edges do to their nodes.
//
// Sections of an edge that turn about its direction t with the rate w (the velocity of the edge's
// turn: frames are carried along without spin, so w is all of the spin about t) have the angular
// momentum J w t. Its change, J w' t + J w t', takes a torque about t, which is the equation of the
// turn, and one across, J w t', which the nodes must give. They feel its opposite as a couple: with
// the velocities v of the nodes a and b of an edge of length l,
//     t' = (v_b - v_a)_across / l,    force on b = - J w (t' x t) / l = c t x (v_b - v_a),
//     force on a the opposite,        c = J w / l^2.
// This is M v' = G v with G = sum of E^T c [t]x E, E v = v_b - v_a: antisymmetric. It does no work
// and it may be fast, c dt / mass > 1 where edges are shorter than the rod is thick. As a force in
// the step it would be unstable (explicit) or would take the symmetry of A (implicit). So it is
// done half before the step, at the shape where it begins, and half after it, at that where it
// ends, each by Cayley's transform
//     M (v* - v) = h G (v* + v) / 2,    h = dt / 2,
// which keeps momentum and kinetic energy to round-off for any dt; the step goes on from v*. It
// keeps the angular momentum, that of the spins included, to second order in dt.
//
// With u = (v* + v) / 2 and W the inverse masses (0 for a node that is held, along its axis alone
// for an end that slides) it is (1 - h/2 W G) u = v, block tridiagonal, blocks of 3 x 3. All its
// leading parts are regular (W G has imaginary eigenvalues), so that it needs no pivoting.
#include <string.h>

#include "math/vec3.h"
#include "nodal.h"

// h/2 W of node i, as a factor of the axis that it may move along, or of all directions.
typedef struct Mobility {
    double factor;
    const double *axis; // NULL: all directions
} Mobility;

static Mobility find_mobility(const FilRod *rod, int i, double half_dt, double axes[2][3]) {
    const FilNodal *nodal = rod->data;
    const FilEndKind kinds[2] = {rod->root_end.kind, rod->tip_end.kind};
    int from = nodal->ghosts[0], to = nodal->edge_count - nodal->ghosts[1];
    if (i < from || i > to) {
        return (Mobility){.factor = 0.0};
    }
    Mobility mobility = {.factor = half_dt / nodal->mass[i]};
    for (int end = 0; end < 2; end++) {
        if (i != (end == 0 ? from : to) || kinds[end] == FIL_END_FREE) {
            continue;
        }
        mobility.axis = axes[end];
        mobility.factor = kinds[end] == FIL_END_SLIDING ? mobility.factor : 0.0;
    }
    return mobility;
}

// out = h/2 W c [t]x.
static void fill_block(Mobility mobility, double c, const double t[3], double out[9]) {
    c *= mobility.factor;
    if (mobility.axis == NULL) {
        fil_cross_matrix3(t, out);
        for (int k = 0; k < 9; k++) {
            out[k] *= c;
        }
        return;
    }
    double row[3];
    fil_cross3(mobility.axis, t, row); // axis^T [t]x
    for (int k = 0; k < 9; k++) {
        out[k] = c * mobility.axis[k / 3] * row[k % 3];
    }
}

static void invert(const double m[9], double out[9]) {
    double a[3], b[3], c[3]; // columns of the inverse, times the determinant
    fil_cross3(m + 3, m + 6, a);
    fil_cross3(m + 6, m, b);
    fil_cross3(m, m + 3, c);
    double factor = 1.0 / fil_dot3(m, a);
    for (int k = 0; k < 3; k++) {
        out[3 * k] = factor * a[k];
        out[3 * k + 1] = factor * b[k];
        out[3 * k + 2] = factor * c[k];
    }
}

// c of edge j; 0 beyond the ends.
static double find_coupling(const FilNodal *nodal, const FilShape *shape, const double *v, int j) {
    if (j < 0 || j >= nodal->edge_count) {
        return 0.0;
    }
    double length = shape->edges[j].length;
    return nodal->inertia[j] * v[4 * (ptrdiff_t)j + 3] / (length * length);
}

// Eliminate node i: u_i = y_i - P_i u_(i+1), with P_i and y_i at rows + 16 i.
static void eliminate(const FilRod *rod, const FilShape *shape, const double *v, int i,
                      Mobility mobility, double *rows) {
    const FilNodal *nodal = rod->data;
    const FilEdge *edges = shape->edges;
    double before[9] = {0.0}, after[9] = {0.0}, pivot[9], inverse[9], change[9], y[3], *row = rows;
    row += 16 * (ptrdiff_t)i;
    fil_copy3(v + 4 * (ptrdiff_t)i, y);
    if (i < nodal->edge_count) {
        fill_block(mobility, find_coupling(nodal, shape, v, i), edges[i].t, after);
    }
    for (int k = 0; k < 9; k++) {
        pivot[k] = (k % 4 == 0 ? 1.0 : 0.0) - after[k];
    }
    if (i > 0) {
        fill_block(mobility, find_coupling(nodal, shape, v, i - 1), edges[i - 1].t, before);
        fil_multiply3(before, row - 16, change);
        for (int k = 0; k < 9; k++) {
            pivot[k] -= before[k] + change[k];
        }
        double carried[3];
        fil_apply3(before, row - 16 + 9, carried);
        fil_subtract3(y, carried, y);
    }
    invert(pivot, inverse);
    fil_multiply3(inverse, after, row);
    fil_apply3(inverse, y, row + 9);
}

static bool spins(const FilNodal *nodal, const double *v) {
    for (int j = 0; nodal->stride == 4 && j < nodal->edge_count; j++) {
        if (nodal->inertia[j] * v[4 * (ptrdiff_t)j + 3] != 0.0) {
            return true;
        }
    }
    return false;
}

void fil_nodal_kick(const FilRod *rod, double time, double h, const FilShape *shape, double *v) {
    const FilNodal *nodal = rod->data;
    if (!spins(nodal, v)) {
        return;
    }
    double axes[2][3], u[3] = {0.0};
    fil_nodal_axes(rod, time, axes);
    for (int i = 0; i <= nodal->edge_count; i++) {
        eliminate(rod, shape, v, i, find_mobility(rod, i, 0.5 * h, axes), nodal->scratch);
    }
    for (int i = nodal->edge_count; i >= 0; i--) {
        const double *row = nodal->scratch + 16 * (ptrdiff_t)i;
        double next[3];
        fil_apply3(row, u, next);
        fil_subtract3(row + 9, next, u);
        for (int k = 0; k < 3; k++) {
            ptrdiff_t at = 4 * (ptrdiff_t)i + k;
            v[at] = 2.0 * u[k] - v[at];
        }
    }
}
