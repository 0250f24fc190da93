// nodal_whole.c - rods of nodes and edges as a whole: how they move as one piece, their momentum,
// and what holds their tip.
//
// The tip. What holds a node gives it the gradient of the energy there, its inertia and drag. A
// frame is held by its ghost edge, whose vector e and turn s are given: a spin w of it changes them
// by w x e and w . t, so that its moment is e x dE/de + t dE/ds. Damping is the same gradient for
// springs whose rest is the shape that the last step began at.
#include "nodal.h"

#include <string.h>

#include "math/vec3.h"

// --- motion --------------------------------------------------------------------------------------

// Nodes move with the motion, edges turn about themselves by what the spin has along them.
void fil_nodal_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                           double *rates) {
    const FilNodal *nodal = rod->data;
    const double *root = nodal->x + 3 * (ptrdiff_t)nodal->ghosts[0];
    double axes[2][3];
    for (int i = 0; i <= nodal->edge_count; i++) {
        double *v = nodal->work + (ptrdiff_t)nodal->stride * i, arm[3];
        fil_subtract3(nodal->x + 3 * (ptrdiff_t)i, root, arm);
        fil_cross3(spin, arm, v);
        fil_add3(1.0, velocity, v);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            v[3] = fil_dot3(spin, nodal->start.edges[i].t);
        }
    }
    fil_nodal_axes(rod, rod->state[0], axes);
    fil_nodal_gather(rod, axes, nodal->work, rates);
}

void fil_nodal_axial_rates(const FilRod *rod, double *rates) {
    const FilNodal *nodal = rod->data;
    for (int k = 0; k < rod->dof_count; k++) {
        rates[k] = (nodal->first + k) % nodal->stride == 3 ? 1.0 : 0.0;
    }
}

// Nodes, and edges that turn about themselves.
void fil_nodal_momentum(const FilRod *rod, const double *state, const double about[3],
                        double linear[3], double angular[3]) {
    const FilNodal *nodal = rod->data;
    const double *x = state + (nodal->x - rod->state), *v = state + (nodal->v - rod->state);
    static const double none[3] = {0.0, 0.0, 0.0};
    double sum[2][3] = {{0.0}};
    for (int i = 0; i <= nodal->edge_count; i++, x += 3, v += nodal->stride) {
        double along[3], momentum[3] = {0.0, 0.0, 0.0};
        fil_add3(nodal->mass[i], v, momentum);
        fil_rod_add_wrench(about, x, momentum, none, sum);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            fil_subtract3(x + 3, x, along);
            fil_add3(nodal->inertia[i] * v[3] / fil_norm3(along), along, sum[1]);
        }
    }
    fil_copy3(sum[0], linear);
    fil_copy3(sum[1], angular);
}

// --- what acts -----------------------------------------------------------------------------------

void fil_nodal_body_wrench(const FilRod *rod, const double about[3], double force[3],
                           double moment[3]) {
    const FilNodal *nodal = rod->data;
    static const double none[3] = {0.0, 0.0, 0.0};
    double sum[2][3] = {{0.0}};
    for (int i = 0; i <= nodal->edge_count; i++) {
        double push[3] = {0.0, 0.0, 0.0};
        fil_add3(nodal->mass[i], rod->gravity, push);
        fil_add3(-nodal->drag[i], nodal->v + (ptrdiff_t)nodal->stride * i, push);
        fil_rod_add_wrench(about, nodal->x + 3 * (ptrdiff_t)i, push, none, sum);
    }
    fil_copy3(sum[0], force);
    fil_copy3(sum[1], moment);
}

// Forces of springs on the tip, and on what holds its frame.
static void add_springs(const FilRod *rod, const FilSprings *springs, double force[3],
                        double moment[3]) {
    const FilNodal *nodal = rod->data;
    const int ghost = nodal->edge_count - 1, last = ghost - nodal->ghosts[1];
    nodal->kernels->gradient(nodal->edge_count, &nodal->start, springs, nodal->pulls);
    fil_add3(1.0, nodal->pulls + 4 * (ptrdiff_t)last, force);
    if (nodal->ghosts[1] == 1) {
        const FilEdge *edge = &nodal->start.edges[ghost];
        const double *g = nodal->pulls + 4 * (ptrdiff_t)ghost;
        double turned[3];
        fil_cross3(edge->t, g, turned);
        fil_add3(edge->length, turned, moment);
        fil_add3(g[3], edge->t, moment);
    }
}

// The shape that the state `from` stands for becomes `start`.
static void load_from(const FilRod *rod, const double *from) {
    FilNodal *nodal = rod->data;
    FilNodal other = *nodal;
    other.x = (double *)from + (nodal->x - rod->state); // only looked at
    other.director = (double *)from + (nodal->director - rod->state);
    other.twist = (double *)from + (nodal->twist - rod->state);
    fil_nodal_load(&other);
    nodal->begun = nodal->tried = nodal->known = false;
}

static void add_damping(const FilRod *rod, const FilRodPast *past, double force[3],
                        double moment[3]) {
    FilNodal *nodal = rod->data;
    const double c = rod->damping / past->dt;
    load_from(rod, past->state);
    for (int j = 0; j < nodal->edge_count; j++) {
        nodal->step_stretch[j] =
            (FilEdgeSpring){c * nodal->stretch[j].k, nodal->start.edges[j].length};
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        for (int k = 0; k < 3; k++) {
            nodal->step_bend[j].k[k] = c * nodal->bend[j].k[k];
            nodal->step_bend[j].rest[k] = nodal->start.bends[j].kappa[k];
        }
    }
    load_from(rod, rod->state);
    const FilSprings springs = {nodal->step_stretch, nodal->step_bend, NULL};
    add_springs(rod, &springs, force, moment);
}

// What a load gives to the tip, gravity left out, and its torque to the ghost there.
static void subtract_load(const FilRod *rod, const FilRodLoad *load, double force[3],
                          double moment[3]) {
    const FilNodal *nodal = rod->data;
    FilRodLoad one = *load;
    FilRod alone = *rod; // the same rod under this load and no other
    FilNodalSection section;
    FilNodalTurn turn;
    double u;
    alone.loads = &one;
    alone.load_count = 1;
    memset(alone.gravity, 0, sizeof alone.gravity);
    memset(nodal->work, 0, sizeof(double) * (size_t)nodal->full_count);
    fil_nodal_add_loads(&alone, nodal->work);
    fil_add3(-1.0, nodal->work + (ptrdiff_t)nodal->stride * fil_nodal_end_node(nodal, 1), force);
    if (nodal->ghosts[1] == 0 || fil_norm3(load->torque) == 0.0) {
        return;
    }
    const int element = fil_rod_locate(rod, load->s, &u), ghost = nodal->edge_count - 1;
    fil_nodal_find_section(rod, element, u, &section);
    fil_nodal_find_turn(rod, &section, &turn);
    for (int side = 0; side < 2; side++) {
        const FilEdge *edge = &nodal->start.edges[ghost];
        double pull[3], turned[3];
        if (section.e + side != ghost || section.f != ghost) {
            continue;
        }
        fil_apply_transposed3(turn.edge[side], load->torque, pull);
        fil_cross3(edge->t, pull, turned);
        fil_add3(-edge->length, turned, moment);
        fil_add3(-fil_dot3(turn.spin[side], load->torque), edge->t, moment);
    }
}

void fil_nodal_tip_reaction(const FilRod *rod, const FilRodPast *past, double force[3],
                            double moment[3]) {
    const FilNodal *nodal = rod->data;
    const int tip = fil_nodal_end_node(nodal, 1);
    const double *v = nodal->v + (ptrdiff_t)nodal->stride * tip;
    const FilSprings springs = {nodal->stretch, nodal->bend, NULL};
    FilRodLoad push;
    memset(force, 0, 3 * sizeof *force);
    memset(moment, 0, 3 * sizeof *moment);
    add_springs(rod, &springs, force, moment);
    fil_add3(-nodal->mass[tip], rod->gravity, force);
    for (int k = 0; k < rod->load_count; k++) {
        subtract_load(rod, &rod->loads[k], force, moment);
    }
    while (past->next != NULL && past->next(past->context, &push)) {
        subtract_load(rod, &push, force, moment);
    }
    if (past->state == NULL) {
        return;
    }
    fil_add3(nodal->drag[tip], v, force);
    fil_add3(nodal->mass[tip] / past->dt, v, force);
    fil_add3(-nodal->mass[tip] / past->dt, past->state + (v - rod->state), force);
    if (rod->damping > 0.0) {
        add_damping(rod, past, force, moment);
    }
}
