// reduced_hessian.c - the exact Hessian of a reduced rod's energy.
//
// The elastic part is the constant stiffness. For gravity and loads let y be a place or a section
// that carries the force f (and the torque tau). Inside one element the second derivatives
//     Z_ab = d theta_a / d k_b:   Z_ab' = theta_b x theta_a',
//     Q_ab = d^2 r / dk_a dk_b:   Q_ab' = Z_ab x t + theta_a x (theta_b x t)
// would be integrated like the first (element.c). What hangs behind its end, at y from it, moves by
//     Q_ab + Z_ab x y + theta_a x (theta_b x y),
// so that only sums over what is behind matter: F = sum f, T = sum f y^T, and sum tau. Of Z and Q
// it takes f . Q + (y x f + tau) . Z. Integrated by parts that is one integral over the element,
//     int M . (theta_b x theta_a') + F . (theta_a x (theta_b x t)) ds,
// with the force F(s) and the moment M(s) of all that is behind s, M' = -t x F: no pair (a, b) is
// followed along the element. A curvature of an element further to the root turns all of this as
// one: the mixed derivative is
//     theta_a . sum (dr/dk_b x f),
// one vector for each k_b. A torque has no potential; its part, tau . Z, is made symmetric (what is
// left out does not depend on the model: statics.c). The rotation of a free root acts like a
// curvature before the first element, in the chart of move().
#include "reduced.h"

#include <string.h>

#include "math/vec3.h"

// Sums over what is behind a place, in the axes of an element.
typedef struct Behind {
    double force[3], T[9], torque[3];
} Behind;

// Force and moment along the first part of an element, in its axes: the force at arc length s is
// force + weight (reach - s); the moment is that at the start.
typedef struct Push {
    double force[3], weight[3], moment[3], reach;
} Push;

// Nodes of a segment, and its end.
enum { PLACES = FIL_MAX_NODES + 1 };

// --- sections along an element -------------------------------------------------------------------

static void find_curvature(const FilRod *rod, int i, double u, double kappa[3]) {
    const FilReduced *data = fil_reduced(rod);
    const double *k = data->kappa + 3 * (size_t)i;
    for (int c = 0; c < 3; c++) {
        kappa[c] = data->d == 3 ? k[c] : (1.0 - u) * k[c] + u * k[3 + c];
    }
}

// A place of the element from one before it: `end` is what lies between, an element whose end
// curvatures are those at the fractions u[0] and u[1] of the whole.
static void follow(int d, const FilReducedSection *before, const FilElementEnd *end, int lane,
                   const double u[2], FilReducedSection *out) {
    double turn[9], place[3], theta[6][3] = {{0.0}}, travel[6][3] = {{0.0}};
    for (int c = 0; c < 9; c++) {
        turn[c] = end->turn[c][lane];
    }
    for (int c = 0; c < 3; c++) {
        place[c] = end->place[c][lane];
        for (int a = 0; a < d; a++) { // curvature a of the whole in those of the part
            double first = d == 3 ? 1.0 : a < 3 ? 1.0 - u[0] : u[0];
            double last = d == 3 ? 0.0 : a < 3 ? 1.0 - u[1] : u[1];
            theta[a][c] = first * end->theta[a % 3][c][lane] +
                          (d == 3 ? 0.0 : last * end->theta[3 + a % 3][c][lane]);
            travel[a][c] = first * end->travel[a % 3][c][lane] +
                           (d == 3 ? 0.0 : last * end->travel[3 + a % 3][c][lane]);
        }
    }
    double way[3], part[3];
    fil_multiply3(before->turn, turn, out->turn);
    fil_apply3(before->turn, place, way);
    fil_copy3(before->place, out->place);
    fil_add3(1.0, way, out->place);
    for (int a = 0; a < d; a++) {
        fil_apply3(before->turn, theta[a], out->theta[a]);
        fil_add3(1.0, before->theta[a], out->theta[a]);
        fil_apply3(before->turn, travel[a], out->travel[a]);
        fil_add3(1.0, before->travel[a], out->travel[a]);
        fil_cross3(before->theta[a], way, part);
        fil_add3(1.0, part, out->travel[a]);
    }
}

// The sections of element i at the fractions u[0 .. count - 1], from the one at `from`; four at a
// time, each the end of an element in a lane.
static void find_sections(const FilRod *rod, int i, const FilReducedSection *before, double from,
                          int count, const double *u, FilReducedSection *out) {
    const FilReduced *data = fil_reduced(rod);
    for (int j = 0; j < count; j += FIL_LANES) {
        FilElementIn in;
        FilElementWork work;
        FilElementEnd end;
        memset(&in, 0, sizeof in);
        for (int lane = 0; lane < FIL_LANES; lane++) {
            double to = u[j + lane < count ? j + lane : count - 1], first[3], last[3];
            find_curvature(rod, i, from, first);
            find_curvature(rod, i, to, last);
            for (int c = 0; c < 3; c++) {
                in.kappa[c][lane] = first[c];
                in.kappa[3 + c][lane] = last[c];
            }
            in.length[lane] = (to - from) * rod->lengths[i];
        }
        bool sane = fil_element_plan(data->d, &in, &work);
        if (sane) {
            data->kernels->end(&in, &work, &end);
        }
        for (int lane = 0; lane < FIL_LANES && j + lane < count; lane++) {
            out[j + lane] = *before; // what turns too far to be followed stays
            if (sane) {
                follow(data->d, before, &end, lane, (const double[2]){from, u[j + lane]},
                       &out[j + lane]);
            }
        }
    }
}

// --- the integral over an element ----------------------------------------------------------------

// Add ds (M . (theta_b x phi_a R e_a) + F . (theta_a x (theta_b x t))) for all pairs.
static void add_pairs(int d, const FilReducedSection *at, double u, const double F[3],
                      const double M[3], double ds, double *block) {
    const double t[3] = {at->turn[0], at->turn[3], at->turn[6]};
    double Ft = fil_dot3(F, t);
    for (int b = 0; b < d; b++) {
        double turned[3], local[3], Fb = fil_dot3(F, at->theta[b]);
        fil_cross3(M, at->theta[b], turned);
        fil_apply_transposed3(at->turn, turned, local);
        for (int a = 0; a < d; a++) {
            double phi = d == 3 ? 1.0 : a < 3 ? 1.0 - u : u;
            block[d * a + b] += ds * (phi * local[a % 3] + Fb * fil_dot3(at->theta[a], t) -
                                      Ft * fil_dot3(at->theta[a], at->theta[b]));
        }
    }
}

static const FilCollocation *choose_rule(int d, double turn, int *segments) {
    int k = 0;
    while (k + 1 < FIL_COLLOCATIONS && !(turn <= fil_collocations[k].angle[d / 3 - 1])) {
        k++;
    }
    double largest = fil_collocations[k].angle[d / 3 - 1];
    *segments = turn > largest && turn <= FIL_ELEMENT_TURN ? (int)ceil(turn / largest) : 1;
    return &fil_collocations[k];
}

// Add the integral over the element from its start to its fraction `upto` to the block.
static void add_integral(const FilRod *rod, int i, double upto, const Push *push, double *block) {
    const FilReduced *data = fil_reduced(rod);
    int d = data->d, segments;
    double turn = fmax(fil_norm3(data->kappa + 3 * (size_t)i),
                       fil_norm3(data->kappa + 3 * (size_t)i + (size_t)(d - 3)));
    const FilCollocation *rule = choose_rule(d, upto * rod->lengths[i] * turn, &segments);
    int n = rule->count;
    double part = upto / segments, h = rod->lengths[i] * part, M[3];
    FilReducedSection sections[PLACES], start;
    fil_reduced_section(rod, i, 0.0, &start);
    fil_copy3(push->moment, M);
    for (int s = 0; s < segments; s++) {
        double u[PLACES], F[FIL_MAX_NODES][3], slope[FIL_MAX_NODES][3];
        for (int j = 0; j < n; j++) {
            u[j] = (s + rule->nodes[j]) * part;
        }
        u[n] = (s + 1) * part;
        find_sections(rod, i, &start, s * part, n + 1, u, sections);
        for (int j = 0; j < n; j++) {
            const double *R = sections[j].turn, t[3] = {R[0], R[3], R[6]};
            fil_copy3(push->force, F[j]);
            fil_add3(push->reach - u[j] * rod->lengths[i], push->weight, F[j]);
            fil_cross3(F[j], t, slope[j]);
        }
        for (int j = 0; j < n; j++) {
            double here[3];
            fil_copy3(M, here);
            for (int k = 0; k < n; k++) {
                fil_add3(h * rule->until[n * j + k], slope[k], here);
            }
            add_pairs(d, &sections[j], u[j], F[j], here, h * rule->weights[j], block);
        }
        for (int k = 0; k < n; k++) {
            fil_add3(h * rule->weights[k], slope[k], M);
        }
        start = sections[n];
    }
}

// f . (A x (B x y)), summed over what is behind.
static double bend_twice(const double T[9], const double A[3], const double B[3]) {
    double TA[3];
    fil_apply3(T, A, TA);
    return fil_dot3(B, TA) - (T[0] + T[4] + T[8]) * fil_dot3(A, B);
}

// Add what is behind a section (place, theta there) to the block of the element, as far as it
// turns as one, and to the vectors for the elements before it:
// moved[b] += sum dr/dk_b x f + theta_b x tau / 2.
static void add_section(int d, const FilReducedSection *at, const Behind *load, double *block,
                        double (*moved)[3]) {
    const double *T = load->T;
    double trace = T[0] + T[4] + T[8];
    for (int k = 0; k < d * d; k++) {
        block[k] += bend_twice(T, at->theta[k / d], at->theta[k % d]);
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

// The weight of the element itself in the vectors for those before; g is gravity in its axes.
static void add_weight(const FilRod *rod, int i, const double g[3], double (*moved)[3]) {
    const FilReduced *data = fil_reduced(rod);
    int d = data->d;
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
        Push push = {{0.0}, {0.0}, {0.0}, 0.0};
        FilReducedSection section;
        fil_apply_transposed3(frame, rod->loads[k].force, load.force);
        fil_apply_transposed3(frame, rod->loads[k].torque, load.torque);
        fil_reduced_section(rod, element, u, &section);
        fil_copy3(load.force, push.force);
        fil_cross3(section.place, load.force, push.moment);
        fil_add3(1.0, load.torque, push.moment);
        add_integral(rod, element, u, &push, block);
        add_section(data->d, &section, &load, block, moved);
        add_outer(load.force, section.place, load.T);
        fil_add3(1.0, load.force, start->force);
        fil_add3(1.0, load.torque, start->torque);
        for (int j = 0; j < 9; j++) {
            start->T[j] += load.T[j];
        }
    }
}

// What is behind the end of an element, and its own weight, along it.
static void find_push(const FilRod *rod, int i, const Behind *behind, const double g[3],
                      const double end[3], Push *push) {
    const double *T = behind->T, *centre = fil_reduced(rod)->moment + 3 * (size_t)i;
    const double moment[3] = {T[7] - T[5], T[2] - T[6], T[3] - T[1]}; // sum y x f
    double part[3];
    for (int c = 0; c < 3; c++) {
        push->force[c] = behind->force[c];
        push->weight[c] = rod->sections[i].mass * g[c];
        push->moment[c] = moment[c] + behind->torque[c];
    }
    fil_cross3(end, behind->force, part);
    fil_add3(1.0, part, push->moment);
    fil_cross3(centre, g, part);
    fil_add3(1.0, part, push->moment);
    push->reach = rod->lengths[i];
}

// Element i: its own block, its blocks with all before it; `start` is what is behind its start.
static void add_element(const FilRod *rod, int i, const Behind *behind, double *H, Behind *start) {
    const FilReduced *data = fil_reduced(rod);
    size_t n = (size_t)rod->dof_count, e = (size_t)i;
    int d = data->d;
    double block[36] = {0.0}, moved[6][3] = {{0.0}}, g[3];
    FilReducedSection end;
    Push push;
    fil_apply_transposed3(data->frame + 9 * e, rod->gravity, g);
    fil_reduced_section(rod, i, 1.0, &end);
    find_push(rod, i, behind, g, end.place, &push);
    add_integral(rod, i, 1.0, &push, block);
    add_section(d, &end, behind, block, moved);
    add_weight(rod, i, g, moved);
    *start = *behind;
    add_outer(behind->force, end.place, start->T);
    fil_add3(data->mass[i], g, start->force);
    add_outer(g, data->moment + 3 * e, start->T);
    add_loads(rod, i, block, moved, start);
    for (int a = 0; a < d; a++) {
        for (int b = 0; b < d; b++) {
            H[n * (size_t)(data->root + 3 * i + a) + (size_t)(data->root + 3 * i + b)] -=
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
