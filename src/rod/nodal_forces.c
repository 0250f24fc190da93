// nodal_forces.c - rods of nodes and edges: gradient and Hessian of their energy.
#include "nodal.h"

#include <string.h>

#include "math/vec3.h"

// --- forces --------------------------------------------------------------------------------------

// By the motion of the section it acts on.
static void add_torque(const FilRod *rod, int element, double u, const double torque[3],
                       double *full) {
    const FilNodal *nodal = rod->data;
    FilNodalSection section;
    FilNodalTurn turn;
    if (fil_norm3(torque) == 0.0) {
        return;
    }
    fil_nodal_find_section(rod, element, u, &section);
    fil_nodal_find_turn(rod, &section, &turn);
    fil_nodal_let_ghosts(rod, &section, &turn);
    for (int side = 0; side < (section.f != section.e ? 2 : 1); side++) {
        double *at = full + (ptrdiff_t)nodal->stride * (section.e + side), pull[3];
        fil_apply_transposed3(turn.edge[side], torque, pull);
        fil_add3(-1.0, pull, at);
        fil_add3(1.0, pull, at + nodal->stride);
        if (nodal->stride == 4) {
            at[3] += fil_dot3(turn.spin[side], torque);
        }
    }
}

void fil_nodal_add_loads(const FilRod *rod, double *full) {
    const FilNodal *nodal = rod->data;
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_add3(nodal->mass[i], rod->gravity, full + (ptrdiff_t)nodal->stride * i);
    }
    for (int k = 0; k < rod->load_count; k++) {
        const FilRodLoad *load = &rod->loads[k];
        double u;
        int element = fil_rod_locate(rod, load->s, &u), j = element + nodal->ghosts[0];
        fil_add3(1.0 - u, load->force, full + (ptrdiff_t)nodal->stride * j);
        fil_add3(u, load->force, full + (ptrdiff_t)nodal->stride * (j + 1));
        add_torque(rod, element, u, load->torque, full);
    }
}

void fil_nodal_pull(const FilNodal *nodal, const FilShape *shape, const FilSprings *springs,
                    double *full) {
    int n = nodal->edge_count, stride = nodal->stride;
    double *g = nodal->pulls;
    nodal->kernels->gradient(n, shape, springs, g);
    for (int end = 0; end < 2; end++) { // the vector of a ghost edge is given
        for (int k = 0; k < 3 && nodal->ghosts[end] == 1; k++) {
            double *pull = &g[4 * (ptrdiff_t)(end == 0 ? 0 : n - 1) + k];
            nodal->ghost_pull[3 * end + k] = *pull;
            *pull = 0.0;
        }
    }
    for (int k = 0; k < 3; k++) {
        full[k] = -g[k];
        full[stride * (ptrdiff_t)n + k] = g[4 * (ptrdiff_t)(n - 1) + k];
    }
    for (int i = 1; i < n; i++) {
        fil_subtract3(g + 4 * (ptrdiff_t)(i - 1), g + 4 * (ptrdiff_t)i,
                      full + (ptrdiff_t)stride * i);
    }
    for (int j = 0; stride == 4 && j < n; j++) {
        full[4 * (ptrdiff_t)j + 3] = g[4 * (ptrdiff_t)j + 3];
    }
}

void fil_nodal_gradient(const FilRod *rod, double *gradient) {
    const FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    memset(nodal->work, 0, sizeof(double) * (size_t)nodal->full_count);
    fil_nodal_add_loads(rod, nodal->work);
    const FilSprings springs = {nodal->stretch, nodal->bend, NULL};
    fil_nodal_pull(nodal, &nodal->start, &springs, nodal->gradient);
    for (int k = 0; k < nodal->full_count; k++) {
        nodal->gradient[k] -= nodal->work[k];
    }
    fil_nodal_gather(rod, axes, nodal->gradient, gradient);
}

// --- the Hessian ---------------------------------------------------------------------------------

void fil_nodal_stiffen(const FilNodal *nodal, const FilShape *shape, const FilSprings *springs,
                       FilHessianPart part, double factor) {
    const FilBandFrame frame = {.edge_count = nodal->edge_count,
                                .stride = nodal->stride,
                                .ghosts = {nodal->ghosts[0], nodal->ghosts[1]},
                                .factor = factor};
    nodal->kernels->hessian(shape, springs, part, &frame, nodal->band);
}

static double *entry(const FilNodal *nodal, int row, int column) {
    int low = row < column ? row : column, high = row < column ? column : row;
    return nodal->band + (ptrdiff_t)low * (fil_nodal_width(nodal) + 1) + (high - low);
}

// The one unknown that is left of the place of an end, `slot`, is the way along its axis.
static void turn_end(const FilNodal *nodal, int node, int slot, const double axis[3]) {
    int at = nodal->stride * node, width = fil_nodal_width(nodal);
    double own = 0.0;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            own += axis[a] * axis[b] * *entry(nodal, at + a, at + b);
        }
    }
    int begin = slot == at + 2 ? at + 3 : at - width + 2,
        end = slot == at + 2 ? at + width + 1 : at;
    for (int k = begin; k < end; k++) {
        if (k < 0 || k >= nodal->full_count) {
            continue;
        }
        double sum = 0.0;
        for (int a = 0; a < 3; a++) {
            int gap = k > at + a ? k - at - a : at + a - k;
            sum += gap <= width ? axis[a] * *entry(nodal, at + a, k) : 0.0;
        }
        int gap = k > slot ? k - slot : slot - k;
        if (gap <= width) {
            *entry(nodal, slot, k) = sum;
        }
    }
    *entry(nodal, slot, slot) = own;
}

void fil_nodal_turn_ends(const FilRod *rod, double axes[2][3]) {
    const FilNodal *nodal = rod->data;
    for (int end = 0; end < 2; end++) {
        if (fil_nodal_end(rod, end)->kind == FIL_END_SLIDING) {
            turn_end(nodal, fil_nodal_end_node(nodal, end),
                     end == 0 ? nodal->first : nodal->last - 1, axes[end]);
        }
    }
}

// Subtract an entry of the edges' variables p and q of (e, turn of e, f, turn of f) from the band
// matrix: an edge's vector is the place of its second node less that of its first.
static void subtract_entry(const FilNodal *nodal, int e, int p, int q, double value) {
    int first = 4 * (e + p / 4) + p % 4, second = 4 * (e + q / 4) + q % 4;
    int rows = p % 4 == 3 ? 1 : 2, columns = q % 4 == 3 ? 1 : 2;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            bool opposite = (rows == 2 && i == 0) != (columns == 2 && j == 0);
            if (first + 4 * i <= second + 4 * j) { // the upper half
                *entry(nodal, first + 4 * i, second + 4 * j) -= opposite ? -value : value;
            }
        }
    }
}

// The band matrix less how the forces of torques change.
static void subtract_torques(const FilRod *rod) {
    for (int k = 0; k < rod->load_count; k++) {
        const FilRodLoad *load = &rod->loads[k];
        FilNodalSection section;
        double u, H[64];
        if (fil_norm3(load->torque) == 0.0) {
            continue;
        }
        int element = fil_rod_locate(rod, load->s, &u);
        fil_nodal_find_section(rod, element, u, &section);
        fil_nodal_torque_hessian(rod, &section, load->torque, H);
        int count = section.f == section.e ? 4 : 8;
        for (int at = 0; at < count * count; at++) {
            int p = at / count, q = at % count;
            subtract_entry(rod->data, section.e, p, q, H[8 * p + q]);
        }
    }
}

static void spread_band(const FilRod *rod, FilHessianPart part, double *dense) {
    const FilNodal *nodal = rod->data;
    int n = rod->dof_count, width = fil_nodal_width(nodal);
    double axes[2][3];
    fil_nodal_axes(rod, rod->state[0], axes);
    const FilSprings springs = {nodal->stretch, nodal->bend, NULL};
    fil_nodal_stiffen(nodal, &nodal->start, &springs, part, 1.0);
    if (part == FIL_HESSIAN_FULL) {
        subtract_torques(rod);
    }
    fil_nodal_turn_ends(rod, axes);
    memset(dense, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n && j <= i + width; j++) {
            double value = *entry(nodal, nodal->first + i, nodal->first + j);
            dense[(ptrdiff_t)i * n + j] = value;
            dense[(ptrdiff_t)j * n + i] = value;
        }
    }
}

void fil_nodal_hessian(const FilRod *rod, double *hessian) {
    spread_band(rod, FIL_HESSIAN_FULL, hessian);
}

void fil_nodal_stiffness(const FilRod *rod, double *stiffness) {
    spread_band(rod, FIL_HESSIAN_STRESSFREE, stiffness);
}

void fil_nodal_mass(const FilRod *rod, double *mass) {
    const FilNodal *nodal = rod->data;
    int n = rod->dof_count;
    memset(mass, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int k = 0; k < n; k++) {
        int i = (nodal->first + k) / nodal->stride, part = (nodal->first + k) % nodal->stride;
        mass[(ptrdiff_t)k * n + k] = part < 3 ? nodal->mass[i] : nodal->inertia[i];
    }
}
