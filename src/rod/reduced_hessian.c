// reduced_hessian.c - the exact Hessian of a reduced rod's energy.
//
// The elastic part is the constant stiffness. For gravity and loads let y be a place or a section
// that carries the force f (and the torque tau). Inside one element the second derivatives
//     Z_ab = d theta_a / d k_b:   Z_ab' = theta_b x theta_a',
//     Q_ab = d^2 r / dk_a dk_b:   Q_ab' = Z_ab x t + theta_a x (theta_b x t)
// are integrated like the first (element.c). What hangs behind its end, at y from it, moves by
//     Q_ab + Z_ab x y + theta_a x (theta_b x y),
// so that only sums over what is behind matter: F = sum f, T = sum f y^T, and sum tau. A curvature
// of an element further to the root turns all of this as one: the mixed derivative is
//     theta_a . sum (dr/dk_b x f),
// one vector for each k_b. A torque has no potential; its part, tau . Z, is made symmetric. The
// rotation of a free root acts like a curvature before the first element, in the chart of move().
#include "reduced.h"

#include <string.h>

#include "math/vec3.h"

// Sums over what is behind a place, in the axes of an element.
typedef struct Behind {
    double force[3], T[9], torque[3];
} Behind;

// Second derivatives at a section, and the integral of Q up to it.
typedef struct Second {
    double Z[36][3], Q[36][3], sum[36][3];
} Second;

typedef struct SecondNodes {
    FilReducedSection section[FIL_MAX_NODES];
    double Z[FIL_MAX_NODES][36][3], Q[FIL_MAX_NODES][36][3];
} SecondNodes;

static double weight_of(int d, int a, double u) {
    return d == 3 ? 1.0 : (a < 3 ? 1.0 - u : u);
}

// slope of Z_ab at node j: theta_b x (phi_a R e_a).
static void slope_turn(const FilReducedSection *at, int a, int b, double phi, double out[3]) {
    const double column[3] = {phi * at->turn[a % 3], phi * at->turn[3 + a % 3],
                              phi * at->turn[6 + a % 3]};
    fil_cross3(at->theta[b], column, out);
}

static void slope_place(const FilReducedSection *at, int a, int b, const double Z[3],
                        double out[3]) {
    const double t[3] = {at->turn[0], at->turn[3], at->turn[6]};
    double moved[3], twice[3];
    fil_cross3(Z, t, out);
    fil_cross3(at->theta[b], t, moved);
    fil_cross3(at->theta[a], moved, twice);
    fil_add3(1.0, twice, out);
}

// A segment: its nodes as fractions of the element, and its length.
typedef struct Segment {
    const FilCollocation *rule;
    double u[FIL_MAX_NODES], length;
} Segment;

// to[i] = the integral of `slope` from the start of the segment, where it is `last`, to node i;
// then `last` is that at the end.
static void integrate(const Segment *segment, double (*slope)[3], double (*to)[36][3], int k,
                      double last[3]) {
    const FilCollocation *rule = segment->rule;
    int n = rule->count;
    for (int i = 0; i < n; i++) {
        fil_copy3(last, to[i][k]);
        for (int j = 0; j < n; j++) {
            fil_add3(segment->length * rule->until[n * i + j], slope[j], to[i][k]);
        }
    }
    for (int j = 0; j < n; j++) {
        fil_add3(segment->length * rule->weights[j], slope[j], last);
    }
}

// One pair (a, b) over one segment.
static void integrate_pair(int d, int a, int b, const Segment *segment, SecondNodes *nodes,
                           Second *end) {
    int n = segment->rule->count, k = d * a + b;
    double slope[FIL_MAX_NODES][3];
    for (int j = 0; j < n; j++) {
        slope_turn(&nodes->section[j], a, b, weight_of(d, a, segment->u[j]), slope[j]);
    }
    integrate(segment, slope, nodes->Z, k, end->Z[k]);
    for (int j = 0; j < n; j++) {
        slope_place(&nodes->section[j], a, b, nodes->Z[j][k], slope[j]);
    }
    integrate(segment, slope, nodes->Q, k, end->Q[k]);
    for (int j = 0; j < n; j++) {
        fil_add3(segment->length * segment->rule->weights[j], nodes->Q[j][k], end->sum[k]);
    }
}

// From the start of element i to its fraction `upto`.
static void find_second(const FilRod *rod, int i, double upto, Second *second) {
    const FilReduced *data = fil_reduced(rod);
    int d = data->d;
    const FilCollocation *rule = &fil_collocations[FIL_COLLOCATIONS - 2];
    double turn = fil_norm3(data->kappa + 3 * (size_t)i), largest = rule->angle[d / 3 - 1];
    turn = upto * rod->lengths[i] *
           fmax(turn, fil_norm3(data->kappa + 3 * (size_t)i + (size_t)(d - 3)));
    int segments = turn <= FIL_ELEMENT_TURN ? 1 + (int)(turn / largest) : 1;
    double part = upto / segments;
    SecondNodes nodes;
    Segment segment = {.rule = rule, .length = rod->lengths[i] * part};
    memset(second, 0, sizeof *second);
    for (int s = 0; s < segments; s++) {
        for (int j = 0; j < rule->count; j++) {
            segment.u[j] = (s + rule->nodes[j]) * part;
            fil_reduced_section(rod, i, segment.u[j], &nodes.section[j]);
        }
        for (int k = 0; k < d * d; k++) {
            integrate_pair(d, k / d, k % d, &segment, &nodes, second);
        }
    }
}

// f . (A x (B x y)), summed over what is behind.
static double bend_twice(const double T[9], const double A[3], const double B[3]) {
    double TA[3];
    fil_apply3(T, A, TA);
    return fil_dot3(B, TA) - (T[0] + T[4] + T[8]) * fil_dot3(A, B);
}

// Add what is behind a section (place, theta, Z, Q there) to the block of the element and to the
// vectors for the elements before it: moved[b] += sum dr/dk_b x f + theta_b x tau / 2.
static void add_section(int d, const FilReducedSection *at, const Second *second,
                        const Behind *load, double *block, double (*moved)[3]) {
    const double *T = load->T;
    const double moment[3] = {T[7] - T[5], T[2] - T[6], T[3] - T[1]}; // sum y x f
    double trace = T[0] + T[4] + T[8];
    for (int a = 0; a < d; a++) {
        for (int b = 0; b < d; b++) {
            const double *Z = second->Z[d * a + b], *back = second->Z[d * b + a];
            block[d * a + b] -= fil_dot3(load->force, second->Q[d * a + b]) + fil_dot3(moment, Z) +
                                bend_twice(T, at->theta[a], at->theta[b]) +
                                0.5 * (fil_dot3(load->torque, Z) + fil_dot3(load->torque, back));
        }
    }
    for (int b = 0; b < d; b++) {
        double part[3];
        fil_cross3(at->travel[b], load->force, part);
        fil_add3(1.0, part, moved[b]);
        fil_apply_transposed3(T, at->theta[b], part);
        fil_add3(1.0, part, moved[b]);
        fil_add3(-trace, at->theta[b], moved[b]);
        fil_cross3(at->theta[b], load->torque, part);
        fil_add3(0.5, part, moved[b]);
    }
}

// The same for the weight of the element itself; g is gravity in its axes.
static void add_weight(const FilRod *rod, int i, const Second *second, const double g[3],
                       double *block, double (*moved)[3]) {
    const FilReduced *data = fil_reduced(rod);
    int d = data->d;
    for (int k = 0; k < d * d; k++) {
        block[k] -= rod->sections[i].mass * fil_dot3(g, second->sum[k]);
    }
    for (int b = 0; b < d; b++) {
        double part[3]; // vk: the mass times the integral of D
        fil_cross3(data->vk + 3 * ((size_t)d * (size_t)i + (size_t)b), g, part);
        fil_add3(1.0, part, moved[b]);
    }
}

static void add_outer(const double f[3], const double y[3], double T[9]) {
    for (int k = 0; k < 9; k++) {
        T[k] += f[k / 3] * y[k % 3];
    }
}

// Add `from`, seen from element axes that `turn` brings into ours, to `to`.
static void add_turned(const double *turn, const Behind *from, Behind *to) {
    double part[3], half[9];
    fil_apply3(turn, from->force, part);
    fil_add3(1.0, part, to->force);
    fil_apply3(turn, from->torque, part);
    fil_add3(1.0, part, to->torque);
    fil_multiply3(turn, from->T, half);
    for (int k = 0; k < 9; k++) {
        to->T[k] += fil_dot3(half + 3 * (size_t)(k / 3), turn + 3 * (size_t)(k % 3));
    }
}

// Blocks of element i with all elements before it, and with the root.
static void add_before(const FilRod *rod, int element, double (*moved)[3], double *H) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, d = (size_t)data->d, root = (size_t)data->root;
    for (size_t b = 0; b < d; b++) {
        size_t column = root + 3 * (size_t)element + b;
        double c[3], turned[3];
        fil_copy3(moved[b], c);
        for (int i = element; i >= 0;) {
            fil_apply3(data->turn + 9 * (size_t)i, c, turned);
            fil_copy3(turned, c);
            i = data->parent[i];
            for (size_t a = 0; i >= 0 && a < d; a++) {
                size_t row = root + 3 * (size_t)i + a;
                double value = fil_dot3(data->theta + 3 * (d * (size_t)i + a), c);
                H[n * row + column] -= value;
                H[n * column + row] -= value;
            }
        }
        fil_apply3(data->root_turn, c, turned);
        for (size_t k = 0; root > 0 && k < 3; k++) {
            H[n * (root - 3 + k) + column] -= turned[k];
            H[n * column + root - 3 + k] -= turned[k];
        }
    }
}

static void add_loads(const FilRod *rod, int element, double *block, double (*moved)[3],
                      Behind *start) {
    const FilReduced *data = fil_reduced(rod);
    const double *frame = data->frame + 9 * (size_t)element;
    for (int k = 0; k < rod->load_count; k++) {
        double u;
        if (fil_rod_locate(rod, rod->loads[k].s, &u) != element) {
            continue;
        }
        Behind load = {{0.0}, {0.0}, {0.0}};
        FilReducedSection section;
        Second second;
        fil_apply_transposed3(frame, rod->loads[k].force, load.force);
        fil_apply_transposed3(frame, rod->loads[k].torque, load.torque);
        fil_reduced_section(rod, element, u, &section);
        find_second(rod, element, u, &second);
        add_section(data->d, &section, &second, &load, block, moved);
        add_outer(load.force, section.place, load.T);
        fil_add3(1.0, load.force, start->force);
        fil_add3(1.0, load.torque, start->torque);
        for (int j = 0; j < 9; j++) {
            start->T[j] += load.T[j];
        }
    }
}

// Element i: its own block, its blocks with all before it; `start` is what is behind its start.
static void add_element(const FilRod *rod, int i, const Behind *behind, double *H, Behind *start) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, e = (size_t)i;
    int d = data->d;
    double block[36] = {0.0}, moved[6][3] = {{0.0}}, g[3];
    FilReducedSection end;
    Second second;
    fil_apply_transposed3(data->frame + 9 * e, rod->gravity, g);
    fil_reduced_section(rod, i, 1.0, &end);
    find_second(rod, i, 1.0, &second);
    add_section(d, &end, &second, behind, block, moved);
    add_weight(rod, i, &second, g, block, moved);
    *start = *behind;
    add_outer(behind->force, end.place, start->T);
    fil_add3(data->mass[i], g, start->force);
    add_outer(g, data->moment + 3 * e, start->T);
    add_loads(rod, i, block, moved, start);
    for (int a = 0; a < d; a++) {
        for (int b = 0; b < d; b++) {
            H[n * (size_t)(data->root + 3 * i + a) + (size_t)(data->root + 3 * i + b)] +=
                0.5 * (block[d * a + b] + block[d * b + a]);
        }
    }
    add_before(rod, i, moved, H);
}

static void add_root(const FilRod *rod, const Behind *all, double *H) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, root = (size_t)data->root;
    Behind world = {{0.0}, {0.0}, {0.0}};
    add_turned(data->root_turn, all, &world);
    double trace = world.T[0] + world.T[4] + world.T[8];
    for (size_t a = 0; root > 0 && a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            H[n * (root - 3 + a) + root - 3 + b] -=
                0.5 * (world.T[3 * a + b] + world.T[3 * b + a]) - (a == b ? trace : 0.0);
        }
    }
}

void fil_reduced_hessian(const FilRod *rod, double *hessian) {
    const FilReduced *data = fil_reduced(rod);
    size_t m = (size_t)data->d + 3;
    fil_reduced_stiffness(rod, hessian);
    fil_reduced_pass(rod, &(FilReducedPass){.moving = true, .sums = true});
    Behind root = {{0.0}, {0.0}, {0.0}};
    for (int i = rod->element_count - 1; i >= 0; i--) {
        Behind behind = {{0.0}, {0.0}, {0.0}}, start;
        for (int child = data->child[i]; child >= 0; child = data->sibling[child]) {
            Behind from;
            memcpy(&from, data->reduced + m * m * (size_t)child, sizeof from);
            add_turned(data->turn + 9 * (size_t)child, &from, &behind);
        }
        add_element(rod, i, &behind, hessian, &start);
        memcpy(data->reduced + m * m * (size_t)i, &start, sizeof start);
        if (data->parent[i] < 0) {
            add_turned(data->turn + 9 * (size_t)i, &start, &root);
        }
    }
    add_root(rod, &root, hessian);
}
