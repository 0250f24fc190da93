// nodal_recover.c - from the mean velocity of a step to that of its end, for rods of nodes and
// edges.
//
// A step begins with velocities that lean as implicit Euler wants them, and ends with that taken
// out of the velocity V that it was solved for, and with the couples that the forces of edges lack
// (turning.c). Where the rod is free and nothing touches it, the rigid motion (bulk.c) follows that
// makes both momenta exactly those of the start and of what acted from outside, loads and drag; and
// its centre goes where they lead, for what a weight does on the way counts as energy. Angular
// momentum is that about its own centre: a load that acts at the centre turns nothing, however the
// rod flies. A chain that is all but straight cannot turn about itself: where it does not get the
// momentum that it should have, the step says so.
//
// Energy. What the step may leave as kinetic energy is
//     T + U - U+ + W,    W = dt loads . V + (impulses of contacts and of driven ends) . V.
// Implicit Euler loses |V - v|^2 / 2 and the squares of what strains change by, so that there is
// room for the corrections. Where there is not, a free rod keeps its rigid part, which has the
// least energy for its momentum, and less of the rest; another one less of the corrections, and of
// V at last. If there is still too much, then the step gained, because it passed over a hill of the
// elastic energy: it does not stand. Where all that is held goes with one velocity, all this is as
// seen by who goes along: nothing is driven then. A step in which something touches
// the rod is implicit Euler as it is, without corrections: they are of the order of tension times
// turn, which in a rope drawn around a post is far more than its motion.
//
// Where a step cannot be followed at all, the rod goes on as one piece: fil_nodal_drift().
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "nodal.h"
#include "turning.h"

static const double round_off = 1e-12;       // of the energies: what may be too much
static const double tolerance = 2e-12;       // and what a step may gain
static const double driven_tolerance = 1e-3; // the same, where the work is known less well
static const double at_rest = 1e-13;         // of forces times length: what round-off does at rest
static const double exact = 1e-14;           // as good as it gets: of the way of a centre, energy
static const double most_off = 6e-10;        // of momenta
static const double dishonest = 2.0 * FIL_ROD_HONEST; // flaw of a step without its momentum

static bool is_free_node(const FilNodal *nodal, int i) {
    return nodal->stride * i >= nodal->first && nodal->stride * i + 3 <= nodal->last;
}

// Whether an unknown is given by the root, or by the tip: in part where it is one of an end that
// slides.
static bool is_root(const FilRod *rod, int k) {
    const FilNodal *nodal = rod->data;
    return k < nodal->first + (rod->root_end.kind == FIL_END_SLIDING);
}

static bool is_tip(const FilRod *rod, int k) {
    const FilNodal *nodal = rod->data;
    return k >= nodal->last - (rod->tip_end.kind == FIL_END_SLIDING);
}

static bool is_held(const FilRod *rod, int k) {
    return is_root(rod, k) || is_tip(rod, k);
}

static bool is_free(const FilRod *rod) {
    return rod->root_end.kind == FIL_END_FREE && rod->tip_end.kind == FIL_END_FREE;
}

static double *node_of(const FilNodal *nodal, double *full, int i) {
    return full + (ptrdiff_t)nodal->stride * i;
}

// --- turning -------------------------------------------------------------------------------------

// For velocities of nodes; what they change by is nodal->lean.
static FilTurning see_turning(const FilRod *rod, double dt, const double *v) {
    const FilNodal *nodal = rod->data;
    const int first = nodal->ghosts[0], last = nodal->edge_count - nodal->ghosts[1];
    return (FilTurning){
        .count = last - first + 1,
        .mass_step = 1,
        .rate_step = nodal->stride,
        .mass = nodal->mass + first,
        .rate = v + (ptrdiff_t)nodal->stride * first,
        .from = nodal->start.x + 3 * (ptrdiff_t)first,
        .held = {rod->root_end.kind != FIL_END_FREE, rod->tip_end.kind != FIL_END_FREE},
        .dt = dt,
        .factor = rod->touched ? 0.0 : 2.0 * rod->theta - 1.0,
        .change = nodal->lean + 3 * (ptrdiff_t)first,
    };
}

void fil_nodal_lean(const FilRod *rod, double dt) {
    const FilNodal *nodal = rod->data;
    const FilTurning turning = see_turning(rod, dt, nodal->v);
    if (turning.factor == 0.0) {
        return;
    }
    fil_turning_lean(&turning);
    for (int i = 0; i <= nodal->edge_count; i++) {
        if (is_free_node(nodal, i)) {
            fil_add3(1.0, nodal->lean + 3 * (ptrdiff_t)i, node_of(nodal, nodal->kicked, i));
        }
    }
}

// nodal->lean: the velocity of the end less V, but for the rigid part of a free rod.
static void find_change(const FilRod *rod, double dt, const FilShape *end) {
    const FilNodal *nodal = rod->data;
    FilTurning turning = see_turning(rod, dt, nodal->v);
    if (turning.factor == 0.0) {
        memset(nodal->lean, 0, sizeof(double) * 3 * (size_t)(nodal->edge_count + 1));
        return;
    }
    turning.to = end->x + 3 * (ptrdiff_t)nodal->ghosts[0];
    fil_turning_straighten(&turning);
    fil_turning_add_couples(&turning, nodal->pulls + 4 * (ptrdiff_t)nodal->ghosts[0], 4,
                            rod->theta * dt);
}

// --- work and energy -----------------------------------------------------------------------------

static double find_elastic(const FilNodal *nodal, const FilShape *shape) {
    double sum = 0.0;
    for (int j = 0; j < nodal->edge_count; j++) {
        sum += fil_stretch_energy(&shape->edges[j], &nodal->stretch[j]);
    }
    for (int j = 0; j + 1 < nodal->edge_count; j++) {
        sum += fil_bend_energy(&shape->bends[j], &nodal->bend[j]);
    }
    return sum;
}

static double inertia_of(const FilNodal *nodal, int k) {
    const int i = k / nodal->stride;
    return k % nodal->stride < 3 ? nodal->mass[i] : nodal->inertia[i];
}

// Twice sum a M b over all unknowns, or those that are free.
static double product(const FilNodal *nodal, const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i <= nodal->edge_count; i++) {
        const ptrdiff_t at = (ptrdiff_t)nodal->stride * i;
        sum += nodal->mass[i] * fil_dot3(a + at, b + at);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            sum += nodal->inertia[i] * a[at + 3] * b[at + 3];
        }
    }
    return sum;
}

// What acted on an unknown from outside besides loads: contacts, and where it is driven what is
// left of the equations.
static double impulse_of(const FilRod *rod, int k) {
    const FilNodal *nodal = rod->data;
    const bool driven = (is_root(rod, k) && rod->root_end.motion != NULL) ||
                        (is_tip(rod, k) && rod->tip_end.motion != NULL);
    return driven ? nodal->gradient[k] : nodal->outside[k];
}

// How fast node i goes in the step, as seen from who goes along with the velocity `frame`.
static void find_way(const FilNodal *nodal, double dt, const FilShape *end, const double frame[3],
                     int i, double way[3]) {
    for (int k = 0; k < 3; k++) {
        way[k] = (end->x[3 * i + k] - nodal->start.x[3 * i + k]) / dt - frame[k];
    }
}

// The work of loads and contacts on ends that slide: along their axes, where nothing drives them.
static double find_slide_work(const FilRod *rod, double dt, const FilShape *end,
                              const double frame[3]) {
    const FilNodal *nodal = rod->data;
    double axes[2][3], sum = 0.0;
    fil_nodal_axes(rod, rod->state[0] + dt, axes);
    for (int side = 0; side < 2; side++) {
        const int i = fil_nodal_end_node(nodal, side);
        double way[3];
        find_way(nodal, dt, end, frame, i, way);
        sum +=
            fil_dot3(axes[side], way) * (dt * fil_dot3(axes[side], node_of(nodal, nodal->load, i)) +
                                         fil_dot3(axes[side], node_of(nodal, nodal->outside, i)));
    }
    return sum;
}

// W, but for the drag, as seen from who goes along with the velocity `frame`; `known`: so does all
// that is held, which has no part in it then. Else nodal->v is V, that of held unknowns too, and
// nodal->work is what the equations took for it, where that is 0.
static double find_work(const FilRod *rod, double dt, const FilShape *end, bool known,
                        const double frame[3]) {
    const FilNodal *nodal = rod->data;
    const double theta = rod->theta;
    double sum = known ? find_slide_work(rod, dt, end, frame) : 0.0, way[4] = {0.0};
    for (int k = 0; k < nodal->full_count; k++) {
        const int part = k % nodal->stride;
        const bool held = is_held(rod, k);
        const double V = nodal->v[k];
        if (part == 0) {
            find_way(nodal, dt, end, frame, k / nodal->stride, way);
        }
        if (part == 3) {
            way[3] = held ? V : (1.0 - theta) * nodal->kicked[k] + theta * V;
        }
        const double more = held ? nodal->step_inertia[k] * (V - nodal->work[k]) : 0.0;
        const double push = dt * nodal->load[k] + impulse_of(rod, k) + more;
        sum += known && held ? 0.0 : way[part] * push;
    }
    if (known) {
        return sum;
    }
    for (int side = 0; side < 2; side++) { // the frames that are held
        const int j = side == 0 ? 0 : nodal->edge_count - 1;
        for (int k = 0; k < 3 && nodal->ghosts[side] == 1; k++) {
            const FilEdge *from = &nodal->start.edges[j], *to = &end->edges[j];
            const int at = 3 * side + k;
            sum += (theta * nodal->ghost_pull[at] + nodal->ghost_push[at]) *
                   (to->length * to->t[k] - from->length * from->t[k]);
        }
    }
    return sum;
}

// The sum of the sizes of all loads.
static double find_forces(const FilNodal *nodal) {
    double sum = 0.0;
    for (int i = 0; i <= nodal->edge_count; i++) {
        sum += fil_norm3(nodal->load + (ptrdiff_t)nodal->stride * i);
    }
    return sum;
}

// --- momentum ------------------------------------------------------------------------------------

static void measure_bulk(const FilRod *rod, const FilShape *shape, FilBulk *bulk) {
    const FilNodal *nodal = rod->data;
    *bulk = (FilBulk){0};
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_bulk_add_mass(bulk, nodal->mass[i], shape->x + 3 * (ptrdiff_t)i);
    }
    fil_bulk_finish_centre(bulk);
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_bulk_add_node(bulk, nodal->mass[i], shape->x + 3 * (ptrdiff_t)i);
        if (nodal->stride == 4 && i < nodal->edge_count && !rod->quasistatic_twist) {
            fil_bulk_add_spin(bulk, nodal->inertia[i], shape->edges[i].t);
        }
    }
}

// The momentum of v in a shape, added.
static void add_momentum(const FilNodal *nodal, const FilBulk *bulk, const FilShape *shape,
                         const double *v, FilTwistPair *sum) {
    for (int i = 0; i <= nodal->edge_count; i++, v += nodal->stride) {
        fil_bulk_add_momentum(bulk, shape->x + 3 * (ptrdiff_t)i, nodal->mass[i], v, sum);
        if (nodal->stride == 4 && i < nodal->edge_count) {
            fil_add3(nodal->inertia[i] * v[3], shape->edges[i].t, sum->angular);
        }
    }
}

// What acts from outside on a free rod in the step.
static void add_impulses(const FilRod *rod, double dt, const FilBulk *bulk, FilTwistPair *sum) {
    const FilNodal *nodal = rod->data;
    const double theta = rod->theta;
    for (int i = 0; i <= nodal->edge_count; i++) {
        double push[4] = {0.0};
        for (int k = 0; k < (i < nodal->edge_count ? nodal->stride : 3); k++) {
            const int at = nodal->stride * i + k;
            const double way = (1.0 - theta) * nodal->kicked[at] + theta * nodal->v[at];
            push[k] = dt * (nodal->load[at] - nodal->step_drag[at] * way) + impulse_of(rod, at);
        }
        fil_bulk_add_momentum(bulk, nodal->start.x + 3 * (ptrdiff_t)i, 1.0, push, sum);
        if (i < nodal->edge_count && !rod->quasistatic_twist) {
            fil_add3(push[3], nodal->start.edges[i].t, sum->angular);
        }
    }
}

// v += factor times a rigid motion.
static void add_motion(const FilRod *rod, const FilBulk *bulk, const FilShape *shape,
                       const FilTwistPair *motion, double factor) {
    const FilNodal *nodal = rod->data;
    for (int i = 0; i <= nodal->edge_count; i++) {
        double *v = node_of(nodal, nodal->v, i);
        fil_bulk_add_motion(bulk, motion, factor, shape->x + 3 * (ptrdiff_t)i, v);
        if (nodal->stride == 4 && i < nodal->edge_count && !rod->quasistatic_twist) {
            v[3] += factor * fil_dot3(motion->angular, shape->edges[i].t);
        }
    }
}

// Make the momentum of v that of the target; twice, for about its own axis a straight rod has
// hardly any inertia, and is mended by a spin so fast that its round-off counts. Then the linear
// one alone: of a rod far away that is much angular momentum.
static void mend_momentum(const FilRod *rod, const FilBulk *bulk, const FilShape *shape,
                          const FilTwistPair *target) {
    const FilNodal *nodal = rod->data;
    for (int pass = 0; pass < 3; pass++) {
        FilTwistPair now = {{0.0}, {0.0}}, motion;
        add_momentum(nodal, bulk, shape, nodal->v, &now);
        for (int k = 0; k < 3; k++) {
            now.linear[k] = target->linear[k] - now.linear[k];
            now.angular[k] = pass < 2 ? target->angular[k] - now.angular[k] : 0.0;
        }
        fil_bulk_motion(bulk, &now, &motion);
        add_motion(rod, bulk, shape, &motion, 1.0);
    }
}

// The centre of a free rod goes where its momentum leads, however exactly it was solved for.
static void mend_place(const FilRod *rod, double dt, const FilNodalStart *start, FilShape *end) {
    const FilNodal *nodal = rod->data;
    double way[3] = {0.0}, left[3];
    fil_add3((1.0 - rod->theta) * dt / start->mass, start->linear, way);
    fil_add3(rod->theta * dt / start->mass, start->momentum.linear, way);
    fil_copy3(way, left);
    for (int i = 0; i <= nodal->edge_count; i++) {
        double gone[3];
        fil_subtract3(end->x + 3 * (ptrdiff_t)i, nodal->start.x + 3 * (ptrdiff_t)i, gone);
        fil_add3(-nodal->mass[i] / start->mass, gone, left);
    }
    const double off = fil_norm3(left), size = fil_norm3(way);
    if (off <= exact * size) {
        return;
    }
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_add3(1.0, left, end->x + 3 * (ptrdiff_t)i);
    }
    fil_nodal_place(rod, rod->state[0] + dt, &nodal->anchor, end);
}

// Whether v lacks momentum, by more than round-off of a rod that moves and is pulled like that.
static bool lacks_momentum(const FilRod *rod, double dt, const FilBulk *bulk, const FilShape *shape,
                           const FilTwistPair *target) {
    const FilNodal *nodal = rod->data;
    const double noise = 2.0 * fil_rod_strain_noise(rod, shape->x) / most_off;
    const double moves = sqrt(bulk->mass * (product(nodal, nodal->v, nodal->v) + noise));
    const double size = most_off * (moves + dt * find_forces(nodal)) + DBL_MIN;
    FilTwistPair off = *target;
    for (int k = 0; k < 3; k++) {
        off.linear[k] = -off.linear[k];
        off.angular[k] = -off.angular[k];
    }
    add_momentum(nodal, bulk, shape, nodal->v, &off);
    return fil_norm3(off.linear) > size || fil_norm3(off.angular) > size * rod->state[1];
}

// --- the end of a step ---------------------------------------------------------------------------

// What is free of v, times a factor: of ends that slide the part along their axes.
static void scale_free(const FilRod *rod, double time, double factor) {
    const FilNodal *nodal = rod->data;
    double axes[2][3];
    fil_nodal_axes(rod, time, axes);
    for (int k = 0; k < nodal->full_count; k++) {
        nodal->v[k] *= is_held(rod, k) ? 1.0 : factor;
    }
    for (int side = 0; side < 2; side++) { // axes of other ends are 0
        double *v = node_of(nodal, nodal->v, fil_nodal_end_node(nodal, side));
        fil_add3((factor - 1.0) * fil_dot3(axes[side], v), axes[side], v);
    }
}

// The kinetic energy of what is not free.
static double find_held_energy(const FilRod *rod, double time) {
    const FilNodal *nodal = rod->data;
    double axes[2][3], sum = 0.0;
    fil_nodal_axes(rod, time, axes);
    for (int k = 0; k < nodal->full_count; k++) {
        sum += is_held(rod, k) ? 0.5 * inertia_of(nodal, k) * nodal->v[k] * nodal->v[k] : 0.0;
    }
    for (int side = 0; side < 2; side++) {
        const int i = fil_nodal_end_node(nodal, side);
        const double along = fil_dot3(axes[side], node_of(nodal, nodal->v, i));
        sum -= 0.5 * nodal->mass[i] * along * along;
    }
    return fmax(0.0, sum);
}

// A free rod. Returns what it has too much, J.
static double limit_free(const FilRod *rod, const FilShape *end, const FilBulk *bulk,
                         const FilTwistPair *target, double most, double noise) {
    const FilNodal *nodal = rod->data;
    mend_momentum(rod, bulk, end, target);
    double kinetic = 0.5 * product(nodal, nodal->v, nodal->v);
    if (kinetic <= most + noise) {
        return 0.0;
    }
    FilTwistPair motion;
    fil_bulk_motion(bulk, target, &motion);
    const double rigid =
        0.5 * (fil_dot3(target->linear, motion.linear) + fil_dot3(target->angular, motion.angular));
    add_motion(rod, bulk, end, &motion, -1.0);
    const double rest = 0.5 * product(nodal, nodal->v, nodal->v);
    scale_free(rod, rod->state[0],
               most > rigid && rest > 0.0 ? fmin(1.0, sqrt((most - rigid) / rest)) : 0.0);
    add_motion(rod, bulk, end, &motion, 1.0);
    mend_momentum(rod, bulk, end, target);
    return fmax(0.0, 0.5 * product(nodal, nodal->v, nodal->v) - most);
}

// A rod that is held: V + s (change), s <= 1, and less of V itself where that is too much.
static double limit_held(const FilRod *rod, double time, double most, double noise) {
    const FilNodal *nodal = rod->data;
    double *change = nodal->work;
    memset(change, 0, sizeof(double) * (size_t)nodal->full_count);
    for (int i = 0; i <= nodal->edge_count; i++) {
        if (is_free_node(nodal, i)) {
            fil_copy3(nodal->lean + 3 * (ptrdiff_t)i, node_of(nodal, change, i));
        }
    }
    const double own = 0.5 * product(nodal, nodal->v, nodal->v), left = most - own;
    const double a = 0.5 * product(nodal, change, change), b = product(nodal, nodal->v, change);
    const bool fits = own + b + a <= most + noise;
    double part = 1.0;
    if (!fits && left > 0.0) { // a s^2 + b s = left
        part = fmin(1.0, 2.0 * left / (b + sqrt(b * b + 4.0 * a * left)));
    }
    for (int k = nodal->first; k < nodal->last; k++) {
        nodal->v[k] += part * change[k];
    }
    if (fits || left > 0.0) {
        return 0.0;
    }
    const double held = find_held_energy(rod, time), ratio = (most - held) / (own + b + a - held);
    scale_free(rod, time, ratio > 0.0 ? sqrt(ratio) : 0.0);
    return fmax(0.0, held - most);
}

void fil_nodal_measure(const FilRod *rod, FilNodalStart *start) {
    const FilNodal *nodal = rod->data;
    start->kinetic = 0.5 * product(nodal, nodal->v, nodal->v);
    start->elastic = find_elastic(nodal, &nodal->start);
    start->momentum = (FilTwistPair){{0.0}, {0.0}};
    start->mass = 0.0;
    memset(start->linear, 0, sizeof start->linear);
    for (int i = 0; i <= nodal->edge_count; i++) {
        start->mass += nodal->mass[i];
        fil_add3(nodal->mass[i], node_of(nodal, nodal->v, i), start->linear);
    }
    if (is_free(rod)) {
        measure_bulk(rod, &nodal->start, &start->bulk);
        add_momentum(nodal, &start->bulk, &nodal->start, nodal->v, &start->momentum);
    }
}

static void add_velocity(const FilNodal *nodal, double factor, const double velocity[3]) {
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_add3(factor, velocity, node_of(nodal, nodal->v, i));
    }
}

double fil_nodal_recover(FilRod *rod, double dt, FilShape *end, FilNodalStart *start) {
    const FilNodal *nodal = rod->data;
    const bool alone = is_free(rod) && rod->push == NULL;
    double frame[3], much, flaw = 0.0;
    if (alone) {
        add_impulses(rod, dt, &start->bulk, &start->momentum);
        mend_place(rod, dt, start, end);
    }
    const bool known = fil_rod_find_way(rod, rod->state[0], dt, frame) &&
                       !(rod->touched && fil_dot3(frame, frame) > 0.0);
    if (!known) {
        memset(frame, 0, sizeof frame);
    }
    const double work = find_work(rod, dt, end, known, frame) - rod->unpaid;
    const double elastic = find_elastic(nodal, end);
    const double along = fil_dot3(frame, start->linear);
    const double own = 0.5 * start->mass * fil_dot3(frame, frame);
    const double most = start->kinetic - along + own + (start->elastic - elastic) + work;
    const double scale =
        start->kinetic + own + start->elastic + elastic + fabs(work) +
        (at_rest * rod->state[1] * find_forces(nodal) + fil_rod_strain_noise(rod, nodal->start.x)) /
            tolerance;
    find_change(rod, dt, end);
    fil_nodal_kick(rod, rod->state[0] + dt, 0.5 * dt, end, nodal->v);
    if (alone) {
        FilBulk bulk;
        measure_bulk(rod, end, &bulk);
        for (int i = 0; i <= nodal->edge_count; i++) {
            fil_add3(1.0, nodal->lean + 3 * (ptrdiff_t)i, node_of(nodal, nodal->v, i));
        }
        much = limit_free(rod, end, &bulk, &start->momentum, most, round_off * scale);
        flaw = lacks_momentum(rod, dt, &bulk, end, &start->momentum) ? dishonest : 0.0;
    } else {
        add_velocity(nodal, -1.0, frame);
        much = limit_held(rod, rod->state[0] + dt, most, round_off * scale);
        add_velocity(nodal, 1.0, frame);
    }
    const bool stands =
        much <= (known ? tolerance : driven_tolerance) * scale && fil_rod_is_resolved(rod, end->x);
    return !isfinite(scale) ? (double)NAN : stands ? flaw : 2.0;
}

// --- the last resort -----------------------------------------------------------------------------

// The velocity of the end of a step for a free rod as one piece, with the impulses of loads and
// drag. One that would go farther away than its shape can be told stays where it is.
static void find_drift(const FilRod *rod, double dt, const FilNodalStart *start, double out[3]) {
    const FilNodal *nodal = rod->data;
    double inertia = start->mass, to[3];
    fil_copy3(start->linear, out);
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_add3(dt, node_of(nodal, nodal->load, i), out);
        inertia += dt * nodal->drag[i];
    }
    for (int k = 0; k < 3; k++) {
        out[k] /= inertia;
    }
    fil_copy3(nodal->start.x, to);
    fil_add3(dt, out, to);
    if (isfinite(fil_dot3(out, out)) && !fil_rod_is_resolved(rod, to)) {
        memset(out, 0, 3 * sizeof *out);
    }
}

// nodal->trial: the shape that the step began with, moved.
static void move_shape(const FilRod *rod, double dt, const double velocity[3]) {
    const FilNodal *nodal = rod->data;
    const double *from = nodal->start.x;
    FilShape end = nodal->trial;
    for (int i = 0; i <= nodal->edge_count; i++) {
        fil_copy3(from + 3 * (ptrdiff_t)i, end.x + 3 * (ptrdiff_t)i);
        fil_add3(dt, velocity, end.x + 3 * (ptrdiff_t)i);
    }
    for (int j = 0; j < nodal->edge_count; j++) {
        end.edges[j].spin = 0.0;
    }
    fil_nodal_place(rod, rod->state[0] + dt, &nodal->start, &end);
}

// What there is for the spin of a free rod that was moved: below 0 where round-off of its places
// strains it by more than there is energy for.
static double find_budget(const FilRod *rod, double dt, const FilNodalStart *start,
                          const double velocity[3]) {
    const FilNodal *nodal = rod->data;
    double sum = start->kinetic - 0.5 * start->mass * fil_dot3(velocity, velocity);
    for (int i = 0; i <= nodal->edge_count; i++) {
        sum += dt * fil_dot3(velocity, node_of(nodal, nodal->load, i));
    }
    return sum + start->elastic - find_elastic(nodal, &nodal->trial);
}

// The rod, at rest, gets the angular momentum that it had, or as much of it as there is energy for:
// about the axis of a straight rod that is round-off.
static void spin_on(const FilRod *rod, const FilNodalStart *start, double most) {
    const FilNodal *nodal = rod->data;
    FilBulk bulk;
    FilTwistPair motion, spin = {{0.0}, {0.0}};
    double left[3] = {0.0};
    fil_copy3(start->momentum.angular, spin.angular);
    measure_bulk(rod, &nodal->trial, &bulk);
    fil_bulk_motion(&bulk, &spin, &motion);
    add_motion(rod, &bulk, &nodal->trial, &motion, 1.0);
    for (int i = 0; i <= nodal->edge_count; i++) { // round-off of a fast spin
        fil_add3(-nodal->mass[i] / start->mass, node_of(nodal, nodal->v, i), left);
    }
    add_velocity(nodal, 1.0, left);
    const double own = 0.5 * product(nodal, nodal->v, nodal->v);
    if (own > fmax(0.0, most) + exact * start->kinetic) {
        scale_free(rod, rod->state[0], sqrt(fmax(0.0, most) / own));
    }
}

static void drift_free(const FilRod *rod, double dt, const FilNodalStart *start,
                       double velocity[3]) {
    const FilNodal *nodal = rod->data;
    FilShape end = nodal->trial;
    find_drift(rod, dt, start, velocity);
    move_shape(rod, dt, velocity);
    double most = find_budget(rod, dt, start, velocity);
    const double strain = fil_rod_strain_noise(rod, end.x);
    const double noise = strain + 2.0 * sqrt(strain * start->elastic) + exact * start->kinetic;
    if (!(most >= -noise) && isfinite(fil_dot3(velocity, velocity))) {
        memset(velocity, 0, 3 * sizeof *velocity);
        fil_nodal_copy(nodal, &nodal->start, &end);
        most = start->kinetic;
    }
    spin_on(rod, start, most);
}

// As one piece, without turning. Of a free rod the centre takes an implicit step, and what the rod
// had of angular momentum stays in its rigid motion, which has the least energy for it; what loads
// would turn is left out, and so is what they would do on the way. A rod that is held goes along
// with what holds it, and stands still where that turns or goes apart.
void fil_nodal_drift(FilRod *rod, double dt) {
    FilNodal *nodal = rod->data;
    FilNodalStart start;
    double velocity[3];
    memset(nodal->load, 0, sizeof(double) * (size_t)nodal->full_count);
    fil_nodal_add_loads(rod, nodal->load);
    fil_nodal_measure(rod, &start);
    memset(nodal->v, 0, sizeof(double) * (size_t)nodal->full_count);
    if (is_free(rod)) {
        drift_free(rod, dt, &start, velocity);
    } else {
        if (!fil_rod_find_way(rod, rod->state[0], dt, velocity)) {
            memset(velocity, 0, sizeof velocity);
        }
        move_shape(rod, dt, velocity);
    }
    add_velocity(nodal, 1.0, velocity);
    nodal->flaw = 1.0;
    fil_nodal_copy(nodal, &nodal->trial, &nodal->start);
    fil_nodal_store(nodal);
    // what has no energy in doubles is refused
    rod->state[0] = isfinite(fil_dot3(velocity, velocity)) ? rod->state[0] + dt : (double)NAN;
}
