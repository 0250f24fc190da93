// nodal_step.c - the implicit step of rods made of nodes and edges.
//
// With q+ = q + dt ((1 - theta) v + theta v+) the step solves, for v+,
//     M (v+ - v) + theta dt grad U(q+) + dt C ((1 - theta) v + theta v+) - dt p = 0,
// C the drag and p what is constant in the step: gravity, loads and (1 - theta) times the elastic
// force at q. That is the gradient of the incremental potential
//     |v+ - v|_M^2 / 2 + U(q+) + dt (theta v+ C v+ / 2 + (1 - theta) v C v+) - dt p v+.
// Internal damping resists the change of the strains e over the step, so that turning the rod as a
// whole costs nothing: the impulse damping k (e+ - e) along de+. It is the gradient of a second
// spring between e+ and e, and two springs on one strain are one spring:
//     k/2 (e+ - rest)^2 + c k/2 (e+ - e)^2 = (1 + c) k/2 (e+ - (rest + c e) / (1 + c))^2 + const,
//     c = damping / (theta dt).
// Stretch is stiff, nearly a constraint, and the trapezium rule for it blows up where the rod turns
// quickly. So stretch has a theta' >= theta of its own, which is U(q+) theta' / theta in the
// potential: nearly 1/2 for small steps, 1 where edges turn by more than 1/6 rad in a step. (Tried:
// a constant 0.55 or 0.6, unstable at 10 ms; 1, stable but as lossy as implicit Euler.) Where the
// Hessian is not positive, first the loss of stiffness by compression and then all stresses are
// left out of it.
//
// Frames. Turns of edges are counted from the shape where the step was last linearised: there, and
// only there, the derivatives of der_energy.c are those of a function of v+, the merit.
//
// Gyroscopic forces of spinning edges act before the step and after it (nodal_gyro.c), and what
// turns is not what implicit Euler takes it for (nodal_recover.c): v above is what both make of the
// velocity of the state, and v+ becomes a velocity of the state by them.
//
// Twist without inertia (quasistatic_twist): the turns' part of the equations becomes grad U = 0,
// and a tiny inertia, which pulls to rest, keeps free spin determined.
#include "nodal.h"

#include <float.h>
#include <string.h>

#include "math/band.h"
#include "math/vec3.h"

enum { most_predictions = 5 };           // of tensions in a step
static const double tiny_inertia = 1e-9; // of the step's twist stiffness

// A spring of `weight` with the damping c of a step that begins at `strain`.
static void damp(double weight, double c, double strain, double *k, double *rest) {
    *rest = (weight * *rest + c * strain) / (weight + c);
    *k *= weight + c;
}

// The theta of stretch: 1/2 and more by three times the largest turn of an edge in the step.
static double stretch_theta(const FilRod *rod, double dt) {
    const FilNodal *nodal = rod->data;
    double turn = 0.0, change[3];
    for (int j = 0; rod->theta < 1.0 && j < nodal->edge_count; j++) {
        const double *v = nodal->v + (ptrdiff_t)nodal->stride * j;
        fil_subtract3(v + nodal->stride, v, change);
        turn = fmax(turn, dt * fil_norm3(change) / nodal->start.edges[j].length);
    }
    return fmax(rod->theta, fmin(1.0, 0.505 + 3.0 * turn));
}

static void set_springs(const FilRod *rod, double dt, double theta) {
    FilNodal *nodal = rod->data;
    int n = nodal->edge_count;
    memcpy(nodal->step_stretch, nodal->stretch, sizeof(FilEdgeSpring) * (size_t)n);
    memcpy(nodal->step_bend, nodal->bend, sizeof(FilBendSpring) * (size_t)(n - 1));
    double c = rod->damping / (rod->theta * dt);
    for (int j = 0; j < n; j++) {
        FilEdgeSpring *spring = &nodal->step_stretch[j];
        damp(theta / rod->theta, c, nodal->start.edges[j].length, &spring->k, &spring->rest);
    }
    for (int j = 0; c > 0.0 && j + 1 < n; j++) {
        FilBendSpring *spring = &nodal->step_bend[j];
        for (int k = 0; k < 3; k++) {
            damp(1.0, c, nodal->start.bends[j].kappa[k], &spring->k[k], &spring->rest[k]);
        }
    }
}

// Inertia, drag and weight in the residual of each unknown; torques count over the edge.
static void set_inertia(const FilRod *rod, double dt) {
    FilNodal *nodal = rod->data;
    int n = nodal->edge_count, stride = nodal->stride;
    double factor = rod->theta * rod->theta * dt * dt * tiny_inertia;
    for (int i = 0; i <= n; i++) {
        ptrdiff_t at = (ptrdiff_t)stride * i;
        for (int k = 0; k < 3; k++) {
            nodal->step_inertia[at + k] = nodal->mass[i];
            nodal->step_drag[at + k] = nodal->drag[i];
            nodal->weight[at + k] = 1.0;
        }
        if (stride == 3 || i == n) {
            continue;
        }
        double *inertia = &nodal->step_inertia[at + 3];
        *inertia = nodal->inertia[i];
        if (rod->quasistatic_twist) {
            double before = i > 0 ? nodal->step_bend[i - 1].k[0] : 0.0;
            double after = i + 1 < n ? nodal->step_bend[i].k[0] : 0.0;
            *inertia = fmax(factor * (before + after), tiny_inertia * nodal->inertia[i]);
        }
        nodal->step_drag[at + 3] = 0.0;
        nodal->weight[at + 3] = 1.0 / (nodal->stretch[i].rest * nodal->stretch[i].rest);
    }
    for (int k = 0; k < nodal->full_count; k++) {
        nodal->weight[k] = k >= nodal->first && k < nodal->last ? nodal->weight[k] : 0.0;
    }
}

// What is constant in the step; the shape to turn from is that of its beginning.
static void begin_step(FilRod *rod, double dt) {
    FilNodal *nodal = rod->data;
    int full = nodal->full_count;
    memset(nodal->push, 0, sizeof(double) * (size_t)full);
    fil_nodal_add_loads(rod, nodal->push);
    memcpy(nodal->load, nodal->push, sizeof(double) * (size_t)full);
    double explicit_part = 1.0 - rod->theta, theta = stretch_theta(rod, dt);
    if (explicit_part > 0.0) {
        double part = (1.0 - theta) / explicit_part;
        for (int j = 0; j < nodal->edge_count; j++) {
            nodal->step_stretch[j] = nodal->stretch[j];
            nodal->step_stretch[j].k *= part;
        }
        const FilSprings springs = {nodal->step_stretch, nodal->bend, NULL};
        fil_nodal_pull(nodal, &nodal->start, &springs, nodal->work);
        for (int k = 0; k < full; k++) {
            nodal->push[k] -= explicit_part * nodal->work[k];
        }
    }
    for (int k = 0; k < 6; k++) {
        nodal->ghost_push[k] = explicit_part > 0.0 ? explicit_part * nodal->ghost_pull[k] : 0.0;
    }
    for (int j = 0; rod->quasistatic_twist && j < nodal->edge_count; j++) {
        double *push = nodal->push + 4 * (ptrdiff_t)j + 3;
        *push = rod->theta *
                (*push + (explicit_part > 0.0 ? explicit_part * nodal->work[4 * j + 3] : 0.0));
    }
    set_springs(rod, dt, theta);
    set_inertia(rod, dt);
    memcpy(nodal->kicked, nodal->v, sizeof(double) * (size_t)full);
    fil_nodal_kick(rod, rod->state[0], 0.5 * dt, &nodal->start, nodal->kicked);
    fil_nodal_lean(rod, dt);
    fil_nodal_copy(nodal, &nodal->start, &nodal->anchor);
    for (int j = 0; j < nodal->edge_count; j++) {
        const FilEdgeSpring *spring = &nodal->step_stretch[j];
        nodal->tension[j] = spring->k * (nodal->start.edges[j].length - spring->rest);
    }
    nodal->passes = 0;
    nodal->dt = dt;
    nodal->begun = true;
    nodal->tried = nodal->known = nodal->anchored = false;
}

static void ensure_begun(FilRod *rod, double dt) {
    const FilNodal *nodal = rod->data;
    if (!nodal->begun || nodal->dt != dt) {
        begin_step(rod, dt);
    }
}

static bool same(const double *a, const double *b, int count) {
    for (int k = 0; k < count; k++) {
        if (!(a[k] == b[k])) {
            return false;
        }
    }
    return true;
}

// The shape at the end of a step with the velocity v+, in nodal->trial.
static void try_velocity(FilRod *rod, double dt, const double *velocity) {
    FilNodal *nodal = rod->data;
    int n = rod->dof_count;
    if (nodal->tried && same(velocity, nodal->trial_velocity, n)) {
        return;
    }
    double time = rod->state[0] + dt, axes[2][3], *way = nodal->trial_velocity;
    fil_nodal_axes(rod, time, axes);
    fil_nodal_gather(rod, axes, nodal->kicked, way);
    for (int k = 0; k < n; k++) {
        way[k] = dt * ((1.0 - rod->theta) * way[k] + rod->theta * velocity[k]);
    }
    fil_nodal_scatter(rod, axes, way, nodal->work);
    memcpy(nodal->trial_velocity, velocity, sizeof(double) * (size_t)n);
    for (int i = 0; i <= nodal->edge_count; i++) {
        const double *to = nodal->work + (ptrdiff_t)nodal->stride * i;
        for (int k = 0; k < 3; k++) {
            nodal->trial.x[3 * i + k] = nodal->start.x[3 * i + k] + to[k];
        }
        if (i < nodal->edge_count) {
            nodal->trial.edges[i].spin = nodal->stride == 4 ? to[3] : 0.0;
        }
    }
    fil_nodal_place(rod, time, &nodal->anchor, &nodal->trial);
    nodal->tried = true;
    nodal->known = false;
}

// The tensions that go with the trial, to first order from the anchor. An edge under pressure may
// be kept stiff across itself by as much: steps that would fold it grow shorter.
static void predict_tensions(FilNodal *nodal) {
    bool near = nodal->passes++ < most_predictions;
    for (int j = 0; j < nodal->edge_count; j++) {
        const FilEdgeSpring *spring = &nodal->step_stretch[j];
        const double *x = nodal->trial.x + 3 * (ptrdiff_t)j;
        double edge[3], stretched = spring->k * (nodal->trial.edges[j].length - spring->rest);
        fil_subtract3(x + 3, x, edge);
        double along = fil_dot3(nodal->anchor.edges[j].t, edge);
        double tension = spring->k * (along - spring->rest);
        nodal->tension[j] = near ? fmin(stretched, fabs(tension)) : stretched;
    }
}

// The trial becomes the shape where the step is linearised.
static void anchor_trial(FilNodal *nodal) {
    FilShape shape = nodal->anchor;
    nodal->anchor = nodal->trial;
    nodal->trial = shape;
    double *velocity = nodal->anchor_velocity;
    nodal->anchored = true;
    nodal->anchor_velocity = nodal->trial_velocity;
    nodal->trial_velocity = velocity;
    nodal->tried = nodal->known = false;
}

// The equations of the step for the unknowns of node i, in nodal->gradient, which holds that of the
// springs; returns the weighed squares of the terms in them.
static double rest_of_node(const FilRod *rod, double dt, int i, int count) {
    const FilNodal *nodal = rod->data;
    static const double none[4] = {0.0};
    const double *before = i > 0 ? nodal->pulls + 4 * (ptrdiff_t)(i - 1) : none;
    const double *after = i < nodal->edge_count ? nodal->pulls + 4 * (ptrdiff_t)i : none;
    const double *x = nodal->trial.x + 3 * (ptrdiff_t)i;
    ptrdiff_t first = (ptrdiff_t)nodal->stride * i;
    int edge = i < nodal->edge_count ? i : i - 1;
    double theta = rod->theta, step = theta * dt, sum = 0.0;
    double noise = step * 2e10 * DBL_EPSILON * nodal->step_stretch[edge].k;
    for (int k = 0; k < count; k++) {
        ptrdiff_t at = first + k;
        double M = nodal->step_inertia[at], v = nodal->kicked[at], w = nodal->work[at];
        double push = dt * nodal->push[at], drag = dt * nodal->step_drag[at];
        double terms = M * (fabs(v) + fabs(w)) + fabs(push);
        terms += step * (fabs(before[k]) + fabs(after[k])) + (k < 3 ? noise * fabs(x[k]) : 0.0);
        nodal->gradient[at] = M * (w - v) + step * nodal->gradient[at] - push +
                              drag * ((1.0 - theta) * v + theta * w);
        sum += nodal->weight[at] * terms * terms;
    }
    return sum;
}

// The equations of the step at the trial, in nodal->rest, and how large they are relative to the
// terms in them, of which round-off of the places is one.
static void find_rest(FilRod *rod, double dt) {
    FilNodal *nodal = rod->data;
    int n = nodal->edge_count;
    double axes[2][3], top = 0.0, below = 0.0;
    fil_nodal_axes(rod, rod->state[0] + dt, axes);
    const FilSprings springs = {nodal->step_stretch, nodal->step_bend, NULL};
    fil_nodal_pull(nodal, &nodal->trial, &springs, nodal->gradient);
    fil_nodal_scatter(rod, axes, nodal->trial_velocity, nodal->work);
    for (int i = 0; i < n; i++) {
        below += nodal->stride == 4 ? rest_of_node(rod, dt, i, 4) : rest_of_node(rod, dt, i, 3);
    }
    below += rest_of_node(rod, dt, n, 3);
    fil_nodal_gather(rod, axes, nodal->gradient, nodal->rest);
    for (int k = 0; k < rod->dof_count; k++) {
        top += nodal->weight[nodal->first + k] * nodal->rest[k] * nodal->rest[k];
    }
    nodal->relative = top == 0.0 ? 0.0 : sqrt(top / below);
    nodal->known = true;
}

double fil_nodal_residual(FilRod *rod, double dt, const double *velocity) {
    FilNodal *nodal = rod->data;
    ensure_begun(rod, dt);
    try_velocity(rod, dt, velocity);
    if (!nodal->known) {
        find_rest(rod, dt);
    }
    return nodal->relative;
}

static double find_merit(const FilRod *rod, double dt, const FilShape *shape,
                         const double *velocity) {
    const FilNodal *nodal = rod->data;
    int n = nodal->edge_count;
    double theta = rod->theta, sum = 0.0, axes[2][3];
    fil_nodal_axes(rod, rod->state[0] + dt, axes);
    fil_nodal_scatter(rod, axes, velocity, nodal->work);
    for (int k = 0; k < nodal->full_count; k++) {
        double v = nodal->kicked[k], w = nodal->work[k], M = nodal->step_inertia[k];
        sum += 0.5 * M * (w - v) * (w - v) - dt * nodal->push[k] * w;
        sum += dt * nodal->step_drag[k] * w * (0.5 * theta * w + (1.0 - theta) * v);
    }
    for (int j = 0; j < n; j++) {
        sum += fil_stretch_energy(&shape->edges[j], &nodal->step_stretch[j]);
    }
    for (int j = 0; j + 1 < n; j++) {
        sum += fil_bend_energy(&shape->bends[j], &nodal->step_bend[j]);
    }
    return sum;
}

double fil_nodal_merit(FilRod *rod, double dt, const double *velocity) {
    FilNodal *nodal = rod->data;
    bool anchored = nodal->begun && nodal->anchored && nodal->dt == dt &&
                    same(velocity, nodal->anchor_velocity, rod->dof_count);
    if (anchored && !(nodal->tried && same(velocity, nodal->trial_velocity, rod->dof_count))) {
        return find_merit(rod, dt, &nodal->anchor, velocity);
    }
    ensure_begun(rod, dt);
    try_velocity(rod, dt, velocity);
    return find_merit(rod, dt, &nodal->trial, velocity);
}

// A at the anchor, in nodal->band.
static void fill_matrix(FilRod *rod, double dt, FilHessianPart part) {
    FilNodal *nodal = rod->data;
    int count = fil_nodal_width(nodal) + 1;
    double step = rod->theta * dt, axes[2][3];
    const FilSprings springs = {nodal->step_stretch, nodal->step_bend, nodal->tension};
    fil_nodal_stiffen(nodal, &nodal->anchor, &springs, part, step * step);
    for (int k = 0; k < nodal->full_count; k++) {
        nodal->band[(ptrdiff_t)k * count] += nodal->step_inertia[k] + step * nodal->step_drag[k];
    }
    fil_nodal_axes(rod, rod->state[0] + dt, axes);
    fil_nodal_turn_ends(rod, axes);
}

// NOLINTNEXTLINE(readability-non-const-parameter): as all models have it
double fil_nodal_prepare(FilRod *rod, double dt, const double *guess, double *rhs) {
    FilNodal *nodal = rod->data;
    int n = rod->dof_count, width = fil_nodal_width(nodal);
    bool first = guess == NULL;
    if (first) {
        begin_step(rod, dt);
        fil_nodal_get_velocity(rod, nodal->anchor_velocity);
        guess = nodal->anchor_velocity;
    }
    double relative = fil_nodal_residual(rod, dt, guess);
    if (!first) {
        predict_tensions(nodal);
    }
    anchor_trial(nodal);
    double *band = nodal->band + (ptrdiff_t)nodal->first * (width + 1);
    for (int part = FIL_HESSIAN_FULL; part <= FIL_HESSIAN_STRESSFREE; part++) {
        fill_matrix(rod, dt, (FilHessianPart)part);
        if (fil_band_factor(n, width, band) == 0) {
            break;
        }
    }
    (void)rhs; // there is get_rest()
    return relative;
}

void fil_nodal_get_rest(const FilRod *rod, double *rest) {
    const FilNodal *nodal = rod->data;
    memcpy(rest, nodal->rest, sizeof(double) * (size_t)rod->dof_count);
}

void fil_nodal_solve(const FilRod *rod, double *x) {
    const FilNodal *nodal = rod->data;
    int width = fil_nodal_width(nodal);
    fil_band_solve(rod->dof_count, width, nodal->band + (ptrdiff_t)nodal->first * (width + 1), x);
}

void fil_nodal_solve_columns(const FilRod *rod, int count, double *x) {
    const FilNodal *nodal = rod->data;
    int width = fil_nodal_width(nodal);
    fil_band_solve_columns(rod->dof_count, width,
                           nodal->band + (ptrdiff_t)nodal->first * (width + 1), count, x);
}

int fil_nodal_factors(const FilRod *rod, const double **band) {
    const FilNodal *nodal = rod->data;
    int width = fil_nodal_width(nodal);
    *band = nodal->band + (ptrdiff_t)nodal->first * (width + 1);
    return width;
}

// What an end that slides, and its ghost with it, moved by along its axis is a mean over the step:
// its velocity there is the unknown.
static void set_sliding_velocity(FilRod *rod, int end, const double axis[3], double along) {
    FilNodal *nodal = rod->data;
    int far = end == 0 ? 0 : nodal->edge_count - 1; // the two nodes of the ghost
    for (int i = far; i < far + 2; i++) {
        double *v = nodal->v + (ptrdiff_t)nodal->stride * i;
        fil_add3(along - fil_dot3(axis, v), axis, v);
    }
}

// Velocities of held unknowns: what they moved by.
static void set_velocity(FilRod *rod, double dt, double axes[2][3], const FilShape *end,
                         const double *velocity) {
    FilNodal *nodal = rod->data;
    int stride = nodal->stride, n = nodal->edge_count;
    fil_nodal_scatter(rod, axes, velocity, nodal->v);
    for (int i = 0; i <= n; i++) {
        double *v = nodal->v + (ptrdiff_t)stride * i;
        bool free = stride * i >= nodal->first && stride * i + 3 <= nodal->last;
        for (int k = 0; !free && k < 3; k++) {
            v[k] = (end->x[3 * i + k] - nodal->start.x[3 * i + k]) / dt;
        }
        if (stride == 4 && i < n) {
            bool held = stride * i + 3 < nodal->first || stride * i + 3 >= nodal->last;
            v[3] = held ? end->edges[i].spin / dt : rod->quasistatic_twist ? 0.0 : v[3];
        }
    }
    if (rod->root_end.kind == FIL_END_SLIDING) {
        set_sliding_velocity(rod, 0, axes[0], velocity[0]);
    }
    if (rod->tip_end.kind == FIL_END_SLIDING) {
        set_sliding_velocity(rod, 1, axes[1], velocity[rod->dof_count - 1]);
    }
}

double fil_nodal_flaw(const FilRod *rod) {
    const FilNodal *nodal = rod->data;
    return nodal->flaw;
}

void fil_nodal_advance(FilRod *rod, double dt, const double *velocity) {
    FilNodal *nodal = rod->data;
    FilShape *end = &nodal->trial;
    double axes[2][3];
    FilNodalStart start;
    (void)fil_nodal_residual(rod, dt, velocity);
    fil_nodal_measure(rod, &start);
    fil_nodal_axes(rod, rod->state[0] + dt, axes);
    set_velocity(rod, dt, axes, end, velocity);
    fil_nodal_scatter(rod, axes, velocity, nodal->work);
    memset(nodal->outside, 0, sizeof(double) * (size_t)nodal->full_count);
    if (rod->push != NULL) {
        fil_nodal_scatter(rod, axes, rod->push, nodal->outside);
    }
    nodal->flaw = fil_nodal_recover(rod, dt, end, &start);
    fil_nodal_copy(nodal, end, &nodal->start);
    fil_nodal_store(nodal);
    rod->state[0] += isnan(nodal->flaw) ? nodal->flaw : dt; // it is refused
}
