// corde_step.c - the two time steps of the model `corde`, and how long they may be.
//
// Implicit (linearly: one solve a step). The theta-scheme asks for v+ with
//     M (v+ - v) = dt ((1 - theta) f(q) + theta f(q+)) - damping d(q, q+) - drag (q+ - q),
//     q+ = q + dt ((1 - theta) v + theta v+), and q+ given for what is held.
// It is linearised at a guess g of v+, the present velocity if there is none, which leads to q*:
//     A (v+ - g) = M (v - g) + dt (...) - damping d(q, q*) - drag (q* - q),   q* for q+ in (...),
//     A = M + theta dt (theta dt (K + T) + damping K + drag),
// K: the stiffness at q* that rates of strain see (Gauss-Newton: positive semi-definite, blind to
// rigid motions); T: that of stretched strings, with the tensions at q where they are above 0. A is
// a band of half-width 8. d(q, q+) is the elastic force, in the shape q+, of the strains gained
// since q: finite rotations cost nothing. Linearised at q instead, an edge that turns by an angle d
// in a step comes out too long by d^2/2, and its stiffness to stretch then brakes the rod: a
// falling hair had a third of its kinetic energy at steps of 1 ms. Edges get the damping (1 -
// theta) dt more where their vibrations are too fast for the step, which makes their tension that
// of the end of the step: at theta = 1/2 they would ring on and gather energy.
//
// Explicit (as in the paper): v+ = v + dt M^-1 (f - damping K v), then q+ = q + dt v+, and drag
// implicitly, which costs nothing on a diagonal. With w^2 the largest eigenvalue of M^-1 K it is
// stable for
//     dt^2 w^2 + 2 damping w^2 dt < 4.
// w^2 is bounded by Gershgorin's theorem for blocks: the norm of a block row of the symmetric
// M^-1/2 K M^-1/2. For slender elements the bound is nearly reached, by frames that turn against
// their neighbours and by nodes that move against theirs.
#include "corde.h"

#include <float.h>
#include <string.h>

#include "math/band.h"
#include "math/rotation.h"
#include "math/vec3.h"

enum { WIDTH = FIL_CORDE_WIDTH };
static const double far_away = 1e60; // m: what moves by more in a step has no energy in doubles

size_t fil_corde_matrix_size(const FilRod *rod) {
    return (size_t)(WIDTH + 1) * (size_t)rod->dof_count;
}

static bool is_explicit(const FilRod *rod) {
    return rod->step_kind == FIL_ROD_STEP_EXPLICIT;
}

static void find_edge(const double *r, int j, double e[3]) {
    fil_subtract3(r + 3 * (size_t)j + 3, r + 3 * (size_t)j, e);
}

static double find_tension(const FilCordeEdge *edge, const double e[3]) {
    return edge->stretch * (fil_norm3(e) - edge->length) / edge->length;
}

// --- stiffness -----------------------------------------------------------------------------------

static void add_band(const FilCordeSink *sink, int I, int J, double factor, const double B[9]) {
    const FilCorde *corde = sink->corde;
    if (J < corde->first || I > corde->last) {
        return;
    }
    double *a = sink->matrix + (size_t)(WIDTH + 1) * 3 * (size_t)(J - corde->first);
    int offset = 3 * (I - J);
    for (int j = 0; j < 3; j++, a += WIDTH + 1) {
        for (int i = I == J ? j : 0; i < 3; i++) {
            a[offset + i - j] += factor * B[3 * i + j];
        }
    }
}

// y -= an edge's matrix times x; both start at its first node.
static void subtract_edge(const FilCordeEdgeHessian *h, const double *x, double *y) {
    double de[3], force[3], from_w[3], torque[3], from_e[3];
    fil_subtract3(x + 6, x, de);
    fil_apply3(h->ee, de, force);
    fil_apply3(h->ew, x + 3, from_w);
    fil_apply3(h->ww, x + 3, torque);
    fil_apply_transposed3(h->ew, de, from_e);
    for (int k = 0; k < 3; k++) {
        double f = force[k] + from_w[k];
        y[k] += f;
        y[k + 3] -= torque[k] + from_e[k];
        y[k + 6] -= f;
    }
}

static void subtract_joint(const double S[9], double factor, const double *x, double *y) {
    double difference[3], moment[3];
    fil_subtract3(x + 6, x, difference);
    fil_apply3(S, difference, moment);
    fil_add3(factor, moment, y);
    fil_add3(-factor, moment, y + 6);
}

// --- viscous impulses ----------------------------------------------------------------------------

static FilCordeEdge scale_edge(const FilCordeEdge *edge, double stretch, double couple) {
    return (FilCordeEdge){.length = edge->length,
                          .stretch = stretch * edge->stretch,
                          .couple = couple * edge->couple};
}

// Damping of stretch and coupling, s: that of the rod, and (1 - theta) dt for vibrations of this
// frequency that the step does not resolve.
static void find_edge_damping(const FilRod *rod, int j, double dt, double damping[2]) {
    const FilCorde *corde = rod->data;
    const FilCordeEdge *edge = &corde->edges[j];
    damping[0] = damping[1] = rod->damping;
    if (rod->theta >= 1.0) {
        return;
    }
    double mass = 0.5 * rod->sections[j].mass * edge->length;
    double square[2] = {edge->stretch / (edge->length * mass),
                        edge->couple * edge->length / corde->inertia[2 * j + 2]};
    for (int k = 0; k < 2; k++) {
        double z = 0.25 * square[k] * dt * dt;
        damping[k] = rod->damping + (1.0 - rod->theta) * dt * z / (1.0 + z);
    }
}

// f -= damping K x at the present shape.
static void subtract_viscous_rate(const FilRod *rod, const double *x, double *f) {
    const FilCorde *corde = rod->data;
    for (int j = 0; j < rod->element_count; j++) {
        double e[3];
        FilCordeEdgeHessian hessian;
        find_edge(corde->r, j, e);
        FilCordeEdge viscous = scale_edge(&corde->edges[j], rod->damping, rod->damping);
        fil_corde_edge_stiffness(&viscous, e, 0.0, &hessian);
        subtract_edge(&hessian, x + 6 * (size_t)j + 3, f + 6 * (size_t)j + 3);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (fil_corde_acts(rod, i)) {
            double S[9];
            fil_corde_joint_world(rod, i, false, S);
            subtract_joint(S, rod->damping, x + 6 * (size_t)i, f + 6 * (size_t)i);
        }
    }
}

// f -= what resists the change of an edge from the shape (r, q) to the present one.
static void subtract_edge_change(const FilCorde *corde, int j, const FilCordeEdge *viscous,
                                 const double *r, const double *q, double *f) {
    double e0[3], e1[3], R0[9], R1[9], force[3], torque[3];
    find_edge(r, j, e0);
    find_edge(corde->r, j, e1);
    fil_rotation_from_quaternion(q + 4 * (size_t)j + 4, R0);
    fil_rotation_from_quaternion(corde->q + 4 * (size_t)j + 4, R1);
    fil_corde_edge_change(viscous, (const double *const[2]){e0, e1},
                          (const double *const[2]){R0, R1}, force, torque);
    f += 6 * (size_t)j + 3;
    fil_add3(1.0, force, f);
    fil_add3(-1.0, torque, f + 3);
    fil_add3(-1.0, force, f + 6);
}

static void subtract_joint_change(const FilCorde *corde, int i, const double *q, double damping,
                                  double *f) {
    const double *q0 = q + 4 * (size_t)i, *q1 = corde->q + 4 * (size_t)i;
    double turn0[3], turn1[3], R[9], local[3], moment[3];
    fil_corde_turn(q0, q0 + 4, turn0);
    fil_corde_turn(q1, q1 + 4, turn1);
    fil_corde_joint_change(&corde->joints[i], turn0, turn1, local);
    fil_rotation_from_quaternion(q1, R);
    fil_apply3(R, local, moment);
    fil_add3(damping, moment, f + 6 * (size_t)i);
    fil_add3(-damping, moment, f + 6 * (size_t)i + 6);
}

// The same for the whole rod.
static void subtract_change(const FilRod *rod, double dt, const double *r, const double *q) {
    FilCorde *corde = rod->data;
    bool damped = rod->damping > 0.0;
    for (int j = 0; (damped || rod->theta < 1.0) && j < rod->element_count; j++) {
        double damping[2];
        find_edge_damping(rod, j, dt, damping);
        FilCordeEdge viscous = scale_edge(&corde->edges[j], damping[0], damping[1]);
        subtract_edge_change(corde, j, &viscous, r, q, corde->force);
    }
    for (int i = 0; damped && i <= rod->element_count; i++) {
        if (fil_corde_acts(rod, i)) {
            subtract_joint_change(corde, i, q, rod->damping, corde->force);
        }
    }
}

// --- steps ---------------------------------------------------------------------------------------

// The displacement over a step that ends with `velocity`, in corde->shift.
static void place_shift(const FilRod *rod, double dt, const double *velocity) {
    FilCorde *corde = rod->data;
    double theta = rod->theta;
    const double *v = (is_explicit(rod) ? corde->v : corde->kicked) + 3 * (size_t)corde->first;
    double *x = corde->shift + 3 * (size_t)corde->first;
    for (int k = 0; k < rod->dof_count; k++) {
        x[k] = dt * ((1.0 - theta) * v[k] + theta * velocity[k]);
    }
    fil_corde_held_shift(rod, rod->state[0] + dt, corde->shift);
}

void fil_corde_move_all(const FilRod *rod) {
    FilCorde *corde = rod->data;
    for (int b = 0; b < fil_corde_block_count(rod); b++) {
        const double *x = corde->shift + 3 * (size_t)b;
        if (b % 2 == 0) {
            fil_corde_rotate(x, corde->q + 2 * (size_t)b);
        } else {
            fil_add3(1.0, x, corde->r + 3 * (size_t)(b / 2));
        }
    }
}

// corde->force += impulse (s) times the forces of the present shape; `fresh`: = instead of +=, so
// that nothing remains of a step that was refused.
static void add_impulse(const FilRod *rod, double impulse, bool fresh) {
    FilCorde *corde = rod->data;
    int count = 3 * fil_corde_block_count(rod);
    fil_corde_gradient(rod, corde->gradient);
    for (int k = 0; k < count; k++) {
        corde->force[k] = (fresh ? 0.0 : corde->force[k]) - impulse * corde->gradient[k];
    }
}

static void prepare_explicit(FilRod *rod, double dt, const double *guess) {
    FilCorde *corde = rod->data;
    add_impulse(rod, dt, true);
    if (rod->damping > 0.0) {
        place_shift(rod, dt, corde->v + 3 * (size_t)corde->first);
        subtract_viscous_rate(rod, corde->shift, corde->force);
    }
    for (int k = 0; k < rod->dof_count; k++) {
        int block = corde->first + k / 3, full = 3 * corde->first + k;
        const double inertia = corde->inertia[block] + dt * corde->drag[block];
        corde->A[k] = 1.0 / inertia;
        corde->left[k] =
            inertia * guess[k] - corde->inertia[block] * corde->v[full] - corde->force[full];
    }
}

// theta dt (theta dt (K + T) + damping K), with the tensions of the nodes r.
static void place_stiffness(FilRod *rod, double dt, const double *r) {
    FilCorde *corde = rod->data;
    double scale = rod->theta * dt;
    FilCordeSink sink = {.corde = corde, .matrix = corde->A, .add = add_band, .n = rod->dof_count};
    memset(corde->A, 0, sizeof(double) * fil_corde_matrix_size(rod));
    for (int j = 0; j < rod->element_count; j++) {
        double e[3], before[3], damping[2];
        FilCordeEdgeHessian hessian;
        find_edge(corde->r, j, e);
        find_edge(r, j, before);
        find_edge_damping(rod, j, dt, damping);
        FilCordeEdge edge = scale_edge(&corde->edges[j], scale + damping[0], scale + damping[1]);
        double tension = scale * fmax(0.0, find_tension(&corde->edges[j], before));
        fil_corde_edge_stiffness(&edge, e, tension, &hessian);
        fil_corde_add_edge(&sink, j, scale, &hessian);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (fil_corde_acts(rod, i)) {
            double S[9];
            fil_corde_joint_world(rod, i, false, S);
            fil_corde_add_joint(&sink, i, scale * (scale + rod->damping), S);
        }
    }
}

// Impulses and the matrix, for the displacement in corde->shift.
static void linearise(FilRod *rod, double dt) {
    FilCorde *corde = rod->data;
    double theta = rod->theta, *r = corde->r, *q = corde->q;
    size_t nodes = (size_t)rod->element_count + 1;
    if (theta < 1.0) {
        add_impulse(rod, (1.0 - theta) * dt, true);
    }
    memcpy(corde->guess_r, r, sizeof(double) * 3 * nodes);
    memcpy(corde->guess_q, q, sizeof(double) * 4 * (nodes + 1));
    corde->r = corde->guess_r;
    corde->q = corde->guess_q;
    fil_corde_move_all(rod);
    add_impulse(rod, theta * dt, theta >= 1.0);
    subtract_change(rod, dt, r, q);
    place_stiffness(rod, dt, r);
    corde->r = r;
    corde->q = q;
}

static void prepare_implicit(FilRod *rod, double dt, const double *guess) {
    FilCorde *corde = rod->data;
    fil_corde_lean(rod, dt);
    place_shift(rod, dt, guess);
    linearise(rod, dt);
    for (int k = 0; k < rod->dof_count; k++) {
        int block = corde->first + k / 3;
        corde->A[(size_t)(WIDTH + 1) * (size_t)k] +=
            corde->inertia[block] + rod->theta * dt * corde->drag[block];
    }
    for (int k = 0; k < rod->dof_count; k++) {
        int block = corde->first + k / 3, full = 3 * corde->first + k;
        corde->left[k] = corde->inertia[block] * (guess[k] - corde->kicked[full]) -
                         corde->force[full] + corde->drag[block] * corde->shift[full];
    }
    memcpy(corde->guess + 3 * (size_t)corde->first, guess, sizeof(double) * (size_t)rod->dof_count);
    corde->ready = true;
    if (fil_band_factor(rod->dof_count, WIDTH, corde->A) != 0) {
        corde->left[0] = (double)NAN; // the step leaves the range of numbers, and is refused
    }
}

void fil_corde_get_rest(const FilRod *rod, double *rest) {
    const FilCorde *corde = rod->data;
    memcpy(rest, corde->left, sizeof(double) * (size_t)rod->dof_count);
}

// NOLINTNEXTLINE(readability-non-const-parameter): as all models have it
double fil_corde_prepare(FilRod *rod, double dt, const double *guess, double *rhs) {
    const FilCorde *corde = rod->data;
    const double *now = corde->v + 3 * (size_t)corde->first;
    if (is_explicit(rod)) {
        prepare_explicit(rod, dt, guess != NULL ? guess : now);
    } else {
        prepare_implicit(rod, dt, guess != NULL ? guess : now);
    }
    (void)rhs; // there is get_rest()
    return 0.0;
}

void fil_corde_solve(const FilRod *rod, double *x) {
    const FilCorde *corde = rod->data;
    if (!is_explicit(rod)) {
        fil_band_solve(rod->dof_count, WIDTH, corde->A, x);
        memcpy(corde->solution, x, sizeof(double) * (size_t)rod->dof_count);
        return;
    }
    for (int k = 0; k < rod->dof_count; k++) {
        x[k] *= corde->A[k];
    }
}

void fil_corde_solve_columns(const FilRod *rod, int count, double *x) {
    const FilCorde *corde = rod->data;
    if (!is_explicit(rod)) {
        fil_band_solve_columns(rod->dof_count, WIDTH, corde->A, count, x);
        return;
    }
    for (ptrdiff_t k = 0; k < (ptrdiff_t)rod->dof_count * count; k++) {
        x[k] *= corde->A[k / count];
    }
}

int fil_corde_factors(const FilRod *rod, const double **band) {
    const FilCorde *corde = rod->data;
    *band = corde->A;
    return is_explicit(rod) ? 0 : WIDTH; // a diagonal matrix is a band, too
}

static double find_largest(const double *x, int count) {
    double largest = 0.0;
    for (int k = 0; k < count; k++) {
        largest = fmax(largest, fabs(x[k]));
    }
    return largest;
}

static void pull_edge(const FilCorde *corde, const double *r, const double *q, double e[3],
                      double R[9], double pull[3]) {
    double n[3], torque[3];
    find_edge(r, 0, e);
    fil_rotation_from_quaternion(q + 4, R);
    for (int k = 0; k < 3; k++) {
        n[k] = R[3 * k];
    }
    fil_corde_edge_gradient(&corde->edges[0], e, n, pull, torque);
}

// The impulse that the first edge carries in a step, before it is taken, as its equations have it:
// at the guess, and linearly from there. Where both ends are held no
// other balance tells it.
static void find_first_pull(const FilRod *rod, double dt, const double *velocity) {
    const FilCorde *corde = rod->data;
    const double step = rod->theta * dt, *v = velocity - 3 * (ptrdiff_t)corde->first;
    double e0[3], e1[3], R0[9], R1[9], before[3], damping[2], viscous[3], torque[3], more[3];
    double way[6] = {0.0}, *pull = corde->pull;
    FilCordeEdgeHessian hessian;
    if (corde->first <= 1 || corde->last > 2 * rod->element_count) {
        return;
    }
    pull_edge(corde, corde->r, corde->q, e0, R0, before);
    pull_edge(corde, corde->guess_r, corde->guess_q, e1, R1, pull);
    find_edge_damping(rod, 0, dt, damping);
    FilCordeEdge edge = scale_edge(&corde->edges[0], damping[0], damping[1]);
    fil_corde_edge_change(&edge, (const double *const[2]){e0, e1}, (const double *const[2]){R0, R1},
                          viscous, torque);
    for (int k = 0; k < 6; k++) { // of the frame and of the second node
        const bool is_free = 2 + k / 3 <= corde->last;
        way[k] = is_free ? step * (v[6 + k] - corde->guess[6 + k]) : 0.0;
    }
    const double tension = step * fmax(0.0, find_tension(&corde->edges[0], e0));
    edge = scale_edge(&corde->edges[0], step + damping[0], step + damping[1]);
    fil_corde_edge_stiffness(&edge, e1, tension, &hessian);
    fil_apply3(hessian.ee, way + 3, more);
    for (int k = 0; k < 3; k++) {
        pull[k] = step * pull[k] + (dt - step) * before[k] + viscous[k] + more[k];
    }
    fil_apply3(hessian.ew, way, more);
    fil_add3(1.0, more, pull);
}

void fil_corde_advance(FilRod *rod, double dt, const double *velocity) {
    FilCorde *corde = rod->data;
    const size_t blocks = (size_t)fil_corde_block_count(rod);
    const bool known = corde->ready;
    const double kinetic = known ? fil_corde_kinetic(rod) : 0.0;
    const double elastic = known ? fil_corde_elastic(rod) : 0.0;
    if (!known) {
        memcpy(corde->kicked, corde->v, sizeof(double) * 3 * blocks);
    } else {
        memcpy(corde->start_r, corde->r, sizeof(double) * 3 * ((size_t)rod->element_count + 1));
        find_first_pull(rod, dt, velocity);
        memcpy(corde->before, corde->v, sizeof(double) * 3 * blocks);
        memset(corde->load, 0, sizeof(double) * 3 * blocks);
        fil_corde_add_loads(rod, corde->load);
    }
    place_shift(rod, dt, velocity);
    fil_corde_move_all(rod);
    fil_corde_forget(rod);
    for (int b = 0; b < fil_corde_block_count(rod); b++) {
        bool is_free = b >= corde->first && b <= corde->last;
        for (int k = 3 * b; k < 3 * b + 3; k++) {
            corde->v[k] = is_free ? velocity[k - 3 * corde->first] : corde->shift[k] / dt;
        }
    }
    corde->flaw = known ? fil_corde_recover(rod, dt, velocity, kinetic, elastic) : 0.0;
    rod->state[0] += dt;
    if (!(find_largest(corde->shift, 3 * fil_corde_block_count(rod)) < far_away)) {
        rod->state[0] = (double)NAN; // a step that leaves the range of numbers is refused
    }
}

double fil_corde_flaw(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    return corde->flaw;
}

// --- the longest step ----------------------------------------------------------------------------

// A bound of the norm of a joint's stiffness at the present turn; the moment in it stands for the
// parts that the stiffness leaves out.
static double joint_norm(const FilRod *rod, int joint) {
    const FilCorde *corde = rod->data;
    if (!fil_corde_acts(rod, joint)) {
        return 0.0;
    }
    const FilCordeJoint *j = &corde->joints[joint];
    double turn[3], moment[3];
    fil_corde_turn(corde->q + 4 * (size_t)joint, corde->q + 4 * (size_t)joint + 4, turn);
    fil_corde_joint_moment(j, turn, moment);
    double half = 0.5 * fil_norm3(turn);
    double stretch = half > 1e-8 ? half / sin(half) : 1.0; // norm of dphi for a spin
    double k = fmax(j->stiffness[0], fmax(j->stiffness[1], j->stiffness[2]));
    return k * stretch * stretch + fil_norm3(moment);
}

// Norms of an edge's blocks: along and across (e, e), (e, w), (w, w).
typedef struct EdgeNorm {
    double ee, ew, ww;
} EdgeNorm;

static EdgeNorm edge_norm(const FilCorde *corde, int j) {
    const FilCordeEdge *edge = &corde->edges[j];
    double e[3];
    find_edge(corde->r, j, e);
    double length = fmax(fil_norm3(e), 1e-6 * edge->length);
    double couple = edge->couple * edge->length;
    double across = fabs(find_tension(edge, e)) / length + couple / (length * length);
    return (EdgeNorm){
        .ee = fmax(edge->stretch / edge->length, across), .ew = couple / length, .ww = couple};
}

// The largest eigenvalue of M^-1 K, from above.
static double bound_eigenvalue(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    double largest = 0.0, joint = joint_norm(rod, 0);
    double *node = corde->gradient; // [N + 1]: row sums of the nodes, filled from both sides
    memset(node, 0, sizeof(double) * (size_t)(rod->element_count + 1));
    for (int j = 0; j < rod->element_count; j++) {
        EdgeNorm norm = edge_norm(corde, j);
        double next = joint_norm(rod, j + 1);
        double spin = corde->inertia[2 * j + 2];
        double row = norm.ww / spin;
        for (int side = 0; side < 2; side++) {
            double mass = corde->inertia[2 * (j + side) + 1];
            double other = corde->inertia[2 * (j + 1 - side) + 1];
            bool is_free = 2 * (j + side) + 1 >= corde->first && 2 * (j + side) + 1 <= corde->last;
            node[j + side] +=
                norm.ee / mass + norm.ee / sqrt(mass * other) + norm.ew / sqrt(mass * spin);
            row += is_free ? norm.ew / sqrt(mass * spin) : 0.0;
        }
        row += (joint + next) / spin;
        row += j > 0 ? joint / sqrt(spin * corde->inertia[2 * j]) : 0.0;
        row += j + 1 < rod->element_count ? next / sqrt(spin * corde->inertia[2 * j + 4]) : 0.0;
        largest = fmax(largest, row);
        joint = next;
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (2 * i + 1 >= corde->first && 2 * i + 1 <= corde->last) {
            largest = fmax(largest, node[i]);
        }
    }
    return largest;
}

// Explicit: what keeps the fastest vibration bounded. Implicit: what lets no frame turn by more
// than 0.05 rad, beyond which a linear step means little, and the same part of the time that it
// takes to fall by the rod's length; theta below 1 forgives less.
double fil_corde_largest_step(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    if (is_explicit(rod)) {
        double square = bound_eigenvalue(rod), viscous = rod->damping * square;
        return 4.0 / (viscous + sqrt(viscous * viscous + 4.0 * square));
    }
    double spin = 0.0, weight = fil_norm3(rod->gravity);
    for (int f = 1; f <= rod->element_count; f++) {
        spin = fmax(spin, fil_norm3(corde->v + 6 * (size_t)f));
    }
    double part = rod->theta < 1.0 ? 0.01 : 0.05;
    double fall = weight > 0.0 ? sqrt(rod->state[1] / weight) : 1.0;
    return part * fmin(fall, 1.0 / fmax(spin, DBL_MIN));
}
