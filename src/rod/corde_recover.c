// corde_recover.c - the model `corde`: from the velocity that a step was solved for to that of its
// end.
//
// It is done as for rods of nodes (nodal_recover.c): edges that turn (turning.c), the momentum of a
// free rod (bulk.c), and no more kinetic energy than
//     T + U - U+ + W.
// What the step is linear in makes the difference. The impulses of contacts are what is left of
// the linear equations, and those that edges carry follow from the momenta of the nodes beyond
// them. A linear step that is too long bends and stretches the rod by more than there is energy
// for: it gained, and does not stand.
#include "corde.h"

#include <float.h>
#include <string.h>

#include "math/band.h"
#include "math/rotation.h"
#include "math/vec3.h"

static const double round_off = 1e-12;       // of the energies: what may be too much
static const double tolerance = 1e-11;       // and what a step may gain
static const double driven_tolerance = 1e-3; // the same, where the work is known less well
static const double at_rest = 1e-13;         // of forces times length: what round-off does at rest
static const double least_part = 0.9999;     // of the energy of V: with less the step is too long
static const double converged = 1e-10;       // of the terms: round-off of the equations
static const double most_off = 6e-10;        // of momenta
static const double exact = 1e-14;           // of energies: as good as it gets
static const double dishonest = 2.0 * FIL_ROD_HONEST; // flaw of a step without its momentum

static bool is_free(const FilRod *rod) {
    return rod->root_end.kind == FIL_END_FREE && rod->tip_end.kind == FIL_END_FREE;
}

static int free_count(const FilCorde *corde) {
    return 3 * (corde->last - corde->first + 1);
}

// --- turning -------------------------------------------------------------------------------------

static FilTurning see_turning(const FilRod *rod, double dt) {
    const FilCorde *corde = rod->data;
    return (FilTurning){
        .count = rod->element_count + 1,
        .mass_step = 2,
        .rate_step = 6,
        .mass = corde->inertia + 1,
        .rate = corde->v + 3,
        .from = corde->r,
        .held = {rod->root_end.kind != FIL_END_FREE, rod->tip_end.kind != FIL_END_FREE},
        .dt = dt,
        .factor = rod->touched ? 0.0 : 2.0 * rod->theta - 1.0,
        .change = corde->lean,
    };
}

static bool is_free_block(const FilCorde *corde, int b) {
    return b >= corde->first && b <= corde->last;
}

void fil_corde_lean(const FilRod *rod, double dt) {
    const FilCorde *corde = rod->data;
    const FilTurning turning = see_turning(rod, dt);
    memcpy(corde->kicked, corde->v, sizeof(double) * 3 * (size_t)fil_corde_block_count(rod));
    if (turning.factor == 0.0) {
        return;
    }
    fil_turning_lean(&turning);
    for (int i = 0; i < turning.count; i++) {
        if (is_free_block(corde, 2 * i + 1)) {
            fil_add3(1.0, corde->lean + 3 * (size_t)i, corde->kicked + 6 * (size_t)i + 3);
        }
    }
}

// --- impulses ------------------------------------------------------------------------------------

// What rows hold an end that slides with, across its axis: taken from corde->rest, or given back.
static void split_rows(const FilRod *rod, double rows[2][3], bool back) {
    const FilCorde *corde = rod->data;
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    for (int k = 0; k < 2; k++) {
        const int b = k == 0 ? 1 : 2 * rod->element_count + 1;
        double *rest = corde->rest + 3 * (size_t)(b - corde->first);
        FilPose pose;
        if (ends[k]->kind != FIL_END_SLIDING) {
            continue;
        }
        if (back) {
            fil_add3(1.0, rows[k], rest);
            continue;
        }
        fil_rod_end_pose(rod, ends[k], rod->state[0], &pose);
        fil_copy3(rest, rows[k]);
        fil_add3(-fil_dot3(rest, pose.axis[0]), pose.axis[0], rows[k]);
        fil_add3(-1.0, rows[k], rest);
    }
}

// What acts from outside besides loads and drag is what is left of the equations,
// A (V - guess) + (what the guess leaves), in corde->rest. Where nothing pushes the rod that is
// what rows hold it with, and all else is round-off of stiff springs.
static void find_rest(const FilRod *rod, const double *velocity) {
    FilCorde *corde = rod->data;
    const double *guess = corde->guess + 3 * (size_t)corde->first;
    double square = 0.0, terms = 0.0, rows[2][3] = {{0.0}};
    double *change = corde->lean; // not in use yet
    bool alone = true;            // nothing but the rod itself
    for (int k = 0; k < rod->dof_count; k++) {
        change[k] = velocity[k] - guess[k];
        alone = alone && velocity[k] == guess[k] - corde->solution[k];
    }
    corde->pushed = false;
    if (alone) {
        memset(corde->rest, 0, sizeof(double) * (size_t)rod->dof_count);
        return;
    }
    fil_band_restore(rod->dof_count, FIL_CORDE_WIDTH, corde->A, corde->matrix);
    fil_band_multiply(rod->dof_count, FIL_CORDE_WIDTH, corde->matrix, change, corde->rest);
    for (int k = 0; k < rod->dof_count; k++) {
        const double a = corde->rest[k], b = corde->left[k];
        const double c = corde->inertia[corde->first + k / 3] * velocity[k];
        terms += a * a + b * b + c * c;
        corde->rest[k] += b;
    }
    split_rows(rod, rows, false);
    for (int k = 0; k < rod->dof_count; k++) {
        square += corde->rest[k] * corde->rest[k];
    }
    corde->pushed = rod->push != NULL && square > converged * converged * terms;
    if (!corde->pushed) {
        memset(corde->rest, 0, sizeof(double) * (size_t)rod->dof_count);
    }
    split_rows(rod, rows, true);
}

// The impulse from outside on a block that is free: loads, contacts, drag.
static void find_push(const FilRod *rod, double dt, int b, double push[3]) {
    const FilCorde *corde = rod->data;
    for (int k = 0; k < 3; k++) {
        const size_t at = 3 * (size_t)b + (size_t)k;
        push[k] = corde->rest[at - 3 * (size_t)corde->first] - dt * corde->load[at] -
                  corde->drag[b] * corde->shift[at];
    }
}

// The inner impulse on a node that is free: what changed its momentum less what acted from outside.
static void find_inner(const FilRod *rod, double dt, int i, double inner[3]) {
    const FilCorde *corde = rod->data;
    const int b = 2 * i + 1;
    double push[3];
    find_push(rod, dt, b, push);
    for (int k = 0; k < 3; k++) {
        const size_t at = 3 * (size_t)b + (size_t)k;
        inner[k] = corde->inertia[b] * (corde->v[at] - corde->kicked[at]) - push[k];
    }
}

// Impulses of the edges, by the way of their second nodes, in corde->pull: on a node acts that of
// the edge after it less that of the edge before.
static void find_pulls(const FilRod *rod, double dt) {
    const FilCorde *corde = rod->data;
    const int n = rod->element_count;
    double inner[3];
    if (is_free_block(corde, 2 * n + 1)) {
        for (int j = n - 1; j >= 0; j--) {
            double *pull = corde->pull + 3 * (size_t)j;
            find_inner(rod, dt, j + 1, inner);
            memset(pull, 0, 3 * sizeof *pull);
            fil_add3(-1.0, inner, pull);
            if (j + 1 < n) {
                fil_add3(1.0, pull + 3, pull);
            }
        }
        return;
    }
    for (int j = 0; j < n; j++) {
        double *pull = corde->pull + 3 * (size_t)j;
        if (j == 0 && !is_free_block(corde, 1)) {
            continue; // that of fil_corde_first_pull()
        }
        find_inner(rod, dt, j, pull);
        if (j > 0) {
            fil_add3(1.0, pull - 3, pull);
        }
    }
}

// The moment of a joint on the frame of an end that is held and turns by `turn`: its work.
static double find_joint_work(const FilRod *rod, int joint, const double turn[3], double sign) {
    const FilCorde *corde = rod->data;
    double angle[3], local[3], moment[3], R[9];
    const double *q = corde->q + 4 * (size_t)joint;
    fil_corde_turn(q, q + 4, angle);
    fil_corde_joint_moment(&corde->joints[joint], angle, local);
    fil_rotation_from_quaternion(q, R);
    fil_apply3(R, local, moment);
    return sign * fil_dot3(moment, turn);
}

// How far a block moves in the step, seen from who goes on by `way`: frames do not.
static void find_shift(const FilCorde *corde, int b, const double way[3], double shift[3]) {
    fil_copy3(corde->shift + 3 * (size_t)b, shift);
    if (b % 2 == 1) {
        fil_add3(-1.0, way, shift);
    }
}

// What the rows of an end that slides and is not driven seem to do: they hold it across its axis,
// where it is brought back from where a step before left it, and do no work.
static double find_row_work(const FilRod *rod, const FilRodEnd *end, bool known,
                            const double way[3]) {
    const FilCorde *corde = rod->data;
    const int b = end == &rod->root_end ? 1 : 2 * rod->element_count + 1;
    if (end->kind != FIL_END_SLIDING || !(known || end->motion == NULL)) {
        return 0.0;
    }
    FilPose pose;
    double shift[3];
    fil_rod_end_pose(rod, end, rod->state[0], &pose);
    find_shift(corde, b, way, shift);
    const double *rest = corde->rest + 3 * (size_t)(b - corde->first);
    return fil_dot3(rest, shift) - fil_dot3(rest, pose.axis[0]) * fil_dot3(shift, pose.axis[0]);
}

// W, but for the drag, seen from who goes on by `way`: where all that is held does, it is known.
static double find_work(const FilRod *rod, double dt, bool known, const double way[3]) {
    const FilCorde *corde = rod->data;
    const int n = rod->element_count;
    double sum = -(find_row_work(rod, &rod->root_end, known, way) +
                   find_row_work(rod, &rod->tip_end, known, way)) /
                 dt;
    for (int b = corde->first; b <= corde->last; b++) {
        double shift[3];
        find_shift(corde, b, way, shift);
        for (int k = 0; k < 3; k++) {
            const int at = 3 * b + k;
            sum += (corde->rest[at - 3 * corde->first] / dt - corde->load[at]) * shift[k];
        }
    }
    if (known) {
        return sum;
    }
    if (!is_free_block(corde, 1)) {
        sum -= fil_dot3(corde->pull, corde->shift + 3) / dt;
    }
    if (!is_free_block(corde, 2 * n + 1)) {
        sum += fil_dot3(corde->pull + 3 * (size_t)(n - 1), corde->shift + 6 * (size_t)n + 3) / dt;
    }
    if (corde->root_joint) {
        sum += find_joint_work(rod, 0, corde->shift, -1.0);
    }
    if (corde->tip_joint) {
        sum += find_joint_work(rod, n, corde->shift + 6 * (size_t)n + 6, 1.0);
    }
    return sum;
}

// --- energy and momentum -------------------------------------------------------------------------

static double product(const FilCorde *corde, const double *a, const double *b) {
    double sum = 0.0;
    for (int block = corde->first; block <= corde->last; block++) {
        sum += corde->inertia[block] * fil_dot3(a + 3 * (size_t)block, b + 3 * (size_t)block);
    }
    return sum;
}

static double find_elastic(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    double sum = 0.0;
    for (int j = 0; j < rod->element_count; j++) {
        double e[3], n[3], couple;
        fil_subtract3(corde->r + 3 * (size_t)j + 3, corde->r + 3 * (size_t)j, e);
        const double *q = corde->q + 4 * (size_t)j + 4;
        n[0] = q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3];
        n[1] = 2.0 * (q[1] * q[2] + q[0] * q[3]);
        n[2] = 2.0 * (q[1] * q[3] - q[0] * q[2]);
        sum += fil_corde_edge_energy(&corde->edges[j], e, n, &couple);
        sum += couple;
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (fil_corde_acts(rod, i)) {
            double turn[3];
            fil_corde_turn(corde->q + 4 * (size_t)i, corde->q + 4 * (size_t)i + 4, turn);
            sum += fil_corde_joint_bend(&corde->joints[i], turn);
            sum += fil_corde_joint_twist(&corde->joints[i], turn);
        }
    }
    return sum;
}

static void find_centre(const FilRod *rod, const double *r, FilBulk *bulk) {
    const FilCorde *corde = rod->data;
    *bulk = (FilBulk){0};
    for (int i = 0; i <= rod->element_count; i++) {
        fil_bulk_add_mass(bulk, corde->inertia[2 * i + 1], r + 3 * (size_t)i);
    }
    fil_bulk_finish_centre(bulk);
}

static void measure_bulk(const FilRod *rod, FilBulk *bulk) {
    const FilCorde *corde = rod->data;
    find_centre(rod, corde->r, bulk);
    for (int i = 0; i <= rod->element_count; i++) {
        fil_bulk_add_node(bulk, corde->inertia[2 * i + 1], corde->r + 3 * (size_t)i);
        fil_bulk_add_ball(bulk, i > 0 ? corde->inertia[2 * i] : 0.0);
    }
}

// The momentum of what a block has, `factor` times v, added: r are the places of nodes.
static void add_block(const FilBulk *bulk, const double *r, int b, double factor, const double v[3],
                      FilTwistPair *sum) {
    if (b % 2 == 0) {
        fil_add3(factor, v, sum->angular);
    } else {
        fil_bulk_add_momentum(bulk, r + 3 * (size_t)(b / 2), factor, v, sum);
    }
}

static void add_motion(const FilRod *rod, const FilBulk *bulk, const FilTwistPair *motion,
                       double factor) {
    const FilCorde *corde = rod->data;
    for (int b = corde->first; b <= corde->last; b++) {
        double *v = corde->v + 3 * (size_t)b;
        if (b % 2 == 0) {
            fil_add3(factor, motion->angular, v);
        } else {
            fil_bulk_add_motion(bulk, motion, factor, corde->r + 3 * (size_t)(b / 2), v);
        }
    }
}

// What the momentum of v lacks.
static FilTwistPair find_lack(const FilRod *rod, const FilBulk *bulk, const FilTwistPair *target) {
    const FilCorde *corde = rod->data;
    FilTwistPair lack = *target;
    for (int b = corde->first; b <= corde->last; b++) {
        add_block(bulk, corde->r, b, -corde->inertia[b], corde->v + 3 * (size_t)b, &lack);
    }
    return lack;
}

// Make the momentum of v that of the target, and then the linear one alone: of a rod far away
// round-off of a fast spin is much of it.
static void mend_momentum(const FilRod *rod, const FilBulk *bulk, const FilTwistPair *target) {
    for (int pass = 0; pass < 2; pass++) {
        FilTwistPair lack = find_lack(rod, bulk, target), motion;
        for (int k = 0; k < 3; k++) {
            lack.angular[k] = pass < 1 ? lack.angular[k] : 0.0;
        }
        fil_bulk_motion(bulk, &lack, &motion);
        add_motion(rod, bulk, &motion, 1.0);
    }
}

// The centre of a free rod goes where its momentum leads.
static void mend_place(const FilRod *rod, double dt, const FilTwistPair *target) {
    const FilCorde *corde = rod->data;
    const double theta = rod->theta;
    double mass = 0.0, left[3] = {0.0};
    fil_add3(dt * theta, target->linear, left);
    for (int i = 0; i <= rod->element_count; i++) {
        const size_t b = 2 * (size_t)i + 1;
        double gone[3];
        mass += corde->inertia[b];
        fil_add3(dt * (1.0 - theta) * corde->inertia[b], corde->before + 3 * b, left);
        fil_subtract3(corde->r + 3 * (size_t)i, corde->start_r + 3 * (size_t)i, gone);
        fil_add3(-corde->inertia[b], gone, left);
    }
    for (int i = 0; i <= rod->element_count; i++) {
        fil_add3(1.0 / mass, left, corde->r + 3 * (size_t)i);
        fil_add3(1.0 / mass, left, corde->shift + 6 * (size_t)i + 3);
    }
}

// The sum of the sizes of all loads.
static double find_forces(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    double sum = 0.0;
    for (int i = 0; i < fil_corde_block_count(rod); i++) {
        sum += fil_norm3(corde->load + 3 * (ptrdiff_t)i);
    }
    return sum;
}

// What places that are all wrong by round-off do to edges, along and across.
static double find_noise(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    double most = 0.0;
    for (int j = 0; j < rod->element_count; j++) {
        most = fmax(most, corde->edges[j].couple / corde->edges[j].stretch);
    }
    return (1.0 + most) * fil_rod_strain_noise(rod, corde->r);
}

// Whether v lacks momentum, by more than round-off of a rod that moves and is pulled like that.
static bool lacks_momentum(const FilRod *rod, double dt, const FilBulk *bulk,
                           const FilTwistPair *target) {
    const FilCorde *corde = rod->data;
    const double noise = 2.0 * find_noise(rod) / most_off;
    const double moves = sqrt(bulk->mass * (product(corde, corde->v, corde->v) + noise));
    const double size = most_off * (moves + dt * find_forces(rod)) + DBL_MIN;
    const FilTwistPair lack = find_lack(rod, bulk, target);
    return fil_norm3(lack.linear) > size || fil_norm3(lack.angular) > size * rod->state[1];
}

// --- the end of a step ---------------------------------------------------------------------------

static void scale_free(const FilCorde *corde, double factor) {
    double *v = corde->v + 3 * (size_t)corde->first;
    for (int k = 0; k < free_count(corde); k++) {
        v[k] *= factor;
    }
}

// A free rod with the velocity `change` added. Returns what it has too much, J.
static double limit_free(const FilRod *rod, const FilBulk *bulk, const FilTwistPair *target,
                         double most, double noise) {
    const FilCorde *corde = rod->data;
    for (int i = 0; i <= rod->element_count; i++) {
        fil_add3(1.0, corde->lean + 3 * (size_t)i, corde->v + 6 * (size_t)i + 3);
    }
    mend_momentum(rod, bulk, target);
    const double kinetic = 0.5 * product(corde, corde->v, corde->v);
    if (kinetic <= most + noise) {
        return 0.0;
    }
    FilTwistPair motion;
    fil_bulk_motion(bulk, target, &motion);
    const double rigid =
        0.5 * (fil_dot3(target->linear, motion.linear) + fil_dot3(target->angular, motion.angular));
    add_motion(rod, bulk, &motion, -1.0);
    const double rest = 0.5 * product(corde, corde->v, corde->v);
    scale_free(corde, most > rigid && rest > 0.0 ? fmin(1.0, sqrt((most - rigid) / rest)) : 0.0);
    add_motion(rod, bulk, &motion, 1.0);
    mend_momentum(rod, bulk, target);
    const double left = 0.5 * product(corde, corde->v, corde->v);
    if (rod->drag > 0.0 && left > most) { // drag takes more: what it takes is known to round-off
        scale_free(corde, sqrt(fmax(0.0, most) / left));
    }
    return fmax(0.0, left - most);
}

// A rod that is held: V + s (change), s <= 1, and less of all of it where V is too much already.
static double limit_held(const FilRod *rod, double most, double noise) {
    const FilCorde *corde = rod->data;
    double a = 0.0, b = 0.0, part = 1.0;
    for (int i = 0; i <= rod->element_count; i++) {
        const double *change = corde->lean + 3 * (size_t)i, m = corde->inertia[2 * i + 1];
        if (is_free_block(corde, 2 * i + 1)) {
            a += 0.5 * m * fil_dot3(change, change);
            b += m * fil_dot3(change, corde->v + 6 * (size_t)i + 3);
        }
    }
    const double own = 0.5 * product(corde, corde->v, corde->v), left = most - own;
    const bool fits = own + b + a <= most + noise;
    if (!fits && left > 0.0) { // a s^2 + b s = left
        part = fmin(1.0, 2.0 * left / (b + sqrt(b * b + 4.0 * a * left)));
    }
    for (int i = 0; i <= rod->element_count; i++) {
        if (is_free_block(corde, 2 * i + 1)) {
            fil_add3(part, corde->lean + 3 * (size_t)i, corde->v + 6 * (size_t)i + 3);
        }
    }
    if (fits || left > 0.0) {
        return 0.0;
    }
    const double ratio = most / (own + b + a);
    scale_free(corde, ratio > 0.0 ? sqrt(ratio) : 0.0);
    return ratio > least_part ? 0.0 : own + b + a - most;
}

// v += factor times a velocity, of the nodes that are free.
static void add_velocity(const FilCorde *corde, double factor, const double velocity[3]) {
    for (int b = corde->first; b <= corde->last; b++) {
        if (b % 2 == 1) {
            fil_add3(factor, velocity, corde->v + 3 * (size_t)b);
        }
    }
}

// The kinetic energy at the start less what it is as seen by who goes along, and the own energy of
// the frame.
static double find_frame_energy(const FilCorde *corde, const double frame[3], double *own) {
    double mass = 0.0, linear[3] = {0.0};
    for (int b = corde->first; b <= corde->last; b++) {
        if (b % 2 == 1) {
            mass += corde->inertia[b];
            fil_add3(corde->inertia[b], corde->before + 3 * (size_t)b, linear);
        }
    }
    *own = 0.5 * mass * fil_dot3(frame, frame);
    return fil_dot3(frame, linear) - *own;
}

double fil_corde_elastic(const FilRod *rod) {
    FilCorde *corde = rod->data;
    if (!corde->elastic_known) {
        corde->elastic = find_elastic(rod);
        corde->elastic_known = true;
    }
    return corde->elastic;
}

// The target of the momentum of a free rod; the angular one is about its own centre.
static void find_target(const FilRod *rod, double dt, FilTwistPair *target) {
    const FilCorde *corde = rod->data;
    FilBulk start;
    find_centre(rod, corde->start_r, &start);
    *target = (FilTwistPair){{0.0}, {0.0}};
    for (int b = corde->first; b <= corde->last; b++) {
        double push[3];
        find_push(rod, dt, b, push);
        add_block(&start, corde->start_r, b, corde->inertia[b], corde->before + 3 * (size_t)b,
                  target);
        add_block(&start, corde->start_r, b, 1.0, push, target);
    }
}

// A rod whose energies are round-off, and that has more of them after a step that was solved for,
// is at rest: it goes on as one piece.
static double stay_at_rest(FilRod *rod, double dt) {
    memcpy(rod->state, rod->saved, sizeof(double) * (size_t)rod->state_count);
    fil_corde_drift(rod, dt);
    rod->state[0] = rod->saved[0];
    return 0.0;
}

double fil_corde_recover(FilRod *rod, double dt, const double *velocity, double kinetic,
                         double elastic) {
    const FilCorde *corde = rod->data;
    FilTurning turning = see_turning(rod, dt);
    find_rest(rod, velocity);
    find_pulls(rod, dt);
    const bool alone = is_free(rod) && !corde->pushed;
    double frame[3], own, way[3] = {0.0};
    FilTwistPair target;
    if (alone) {
        find_target(rod, dt, &target);
        mend_place(rod, dt, &target);
    }
    const bool known = fil_rod_find_way(rod, rod->state[0], dt, frame) &&
                       !(rod->touched && fil_dot3(frame, frame) > 0.0);
    if (!known) {
        memset(frame, 0, sizeof frame);
    }
    fil_add3(dt, frame, way);
    const double work = find_work(rod, dt, known, way) - rod->unpaid;
    const double after = fil_corde_elastic(rod);
    const double most = kinetic - find_frame_energy(corde, frame, &own) + (elastic - after) + work;
    const double energies = kinetic + own + elastic + after + fabs(work);
    const double scale =
        energies + (at_rest * rod->state[1] * find_forces(rod) + find_noise(rod)) / tolerance;
    turning.from = corde->start_r;
    turning.to = corde->r;
    fil_turning_straighten(&turning);
    fil_turning_add_couples(&turning, corde->pull, 3, 1.0);
    double much, flaw = 0.0;
    if (alone) {
        FilBulk bulk;
        measure_bulk(rod, &bulk);
        much = limit_free(rod, &bulk, &target, most, round_off * energies);
        flaw = rod->drag == 0.0 && lacks_momentum(rod, dt, &bulk, &target) ? dishonest : 0.0;
    } else {
        add_velocity(corde, -1.0, frame);
        much = limit_held(rod, most, round_off * energies);
        add_velocity(corde, 1.0, frame);
    }
    const bool stands = much <= (known ? tolerance : driven_tolerance) * scale &&
                        fil_rod_is_resolved(rod, corde->r);
    const bool still = kinetic + own + elastic + fabs(work) <= find_noise(rod);
    if (!stands && still && known && rod->push == NULL) {
        return stay_at_rest(rod, dt);
    }
    return stands ? flaw : 2.0;
}

double fil_corde_kinetic(const FilRod *rod) {
    const FilCorde *corde = rod->data;
    return 0.5 * product(corde, corde->v, corde->v);
}

// --- the last resort: see fil_nodal_drift() ------------------------------------------------------

// What is known of a rod before it drifts; its momentum is about its centre.
typedef struct Start {
    double kinetic, elastic, mass;
    FilTwistPair momentum;
} Start;

static Start measure_start(FilRod *rod) {
    const FilCorde *corde = rod->data;
    FilBulk bulk;
    Start start = {.kinetic = fil_corde_kinetic(rod), .elastic = fil_corde_elastic(rod)};
    find_centre(rod, corde->r, &bulk);
    start.mass = bulk.mass;
    for (int b = corde->first; b <= corde->last; b++) {
        add_block(&bulk, corde->r, b, corde->inertia[b], corde->v + 3 * (size_t)b, &start.momentum);
    }
    return start;
}

static void find_drift(const FilRod *rod, double dt, const Start *start, double out[3]) {
    const FilCorde *corde = rod->data;
    double inertia = start->mass, to[3];
    fil_copy3(start->momentum.linear, out);
    for (int b = 1; b <= corde->last; b += 2) {
        fil_add3(-dt, corde->load + 3 * (size_t)b, out);
        inertia += dt * corde->drag[b];
    }
    for (int k = 0; k < 3; k++) {
        out[k] /= inertia;
    }
    fil_copy3(corde->r, to);
    fil_add3(dt, out, to);
    if (isfinite(fil_dot3(out, out)) && !fil_rod_is_resolved(rod, to)) {
        memset(out, 0, 3 * sizeof *out);
    }
}

// All blocks move with this velocity, those that are held with what holds them.
static void move_as_one(FilRod *rod, double dt, const double velocity[3]) {
    const FilCorde *corde = rod->data;
    memset(corde->shift, 0, sizeof(double) * 3 * (size_t)fil_corde_block_count(rod));
    for (int i = 0; i <= rod->element_count; i++) {
        fil_add3(dt, velocity, corde->shift + 6 * (size_t)i + 3);
    }
    fil_corde_held_shift(rod, rod->state[0] + dt, corde->shift);
    fil_corde_move_all(rod);
    fil_corde_forget(rod);
}

static double find_budget(FilRod *rod, double dt, const Start *start, const double velocity[3]) {
    const FilCorde *corde = rod->data;
    double sum = start->kinetic - 0.5 * start->mass * fil_dot3(velocity, velocity);
    for (int b = 1; b <= corde->last; b += 2) {
        sum -= dt * fil_dot3(velocity, corde->load + 3 * (size_t)b);
    }
    return sum + start->elastic - fil_corde_elastic(rod);
}

static void spin_on(const FilRod *rod, const Start *start, double most) {
    const FilCorde *corde = rod->data;
    FilBulk bulk;
    FilTwistPair spin = {{0.0}, {0.0}};
    fil_copy3(start->momentum.angular, spin.angular);
    measure_bulk(rod, &bulk);
    mend_momentum(rod, &bulk, &spin);
    const double own = 0.5 * product(corde, corde->v, corde->v);
    if (own > fmax(0.0, most) + exact * start->kinetic) {
        scale_free(corde, sqrt(fmax(0.0, most) / own));
    }
}

static void drift_free(FilRod *rod, double dt, const Start *start, double velocity[3]) {
    const FilCorde *corde = rod->data;
    const size_t blocks = (size_t)fil_corde_block_count(rod);
    find_drift(rod, dt, start, velocity);
    move_as_one(rod, dt, velocity);
    double most = find_budget(rod, dt, start, velocity);
    const double strain = find_noise(rod);
    const double noise = strain + 2.0 * sqrt(strain * start->elastic) + exact * start->kinetic;
    if (!(most >= -noise) && isfinite(fil_dot3(velocity, velocity))) {
        memset(velocity, 0, 3 * sizeof *velocity);
        memcpy(rod->state, rod->saved, sizeof(double) * (size_t)rod->state_count);
        fil_corde_forget(rod);
        most = start->kinetic;
    }
    memset(corde->v, 0, sizeof(double) * 3 * blocks);
    spin_on(rod, start, most);
}

void fil_corde_drift(FilRod *rod, double dt) {
    FilCorde *corde = rod->data;
    const int blocks = fil_corde_block_count(rod);
    const Start start = measure_start(rod);
    double velocity[3];
    memset(corde->load, 0, sizeof(double) * 3 * (size_t)blocks);
    fil_corde_add_loads(rod, corde->load);
    if (is_free(rod)) {
        drift_free(rod, dt, &start, velocity);
    } else {
        if (!fil_rod_find_way(rod, rod->state[0], dt, velocity)) {
            memset(velocity, 0, sizeof velocity);
        }
        move_as_one(rod, dt, velocity);
        memset(corde->v, 0, sizeof(double) * 3 * (size_t)blocks);
    }
    add_velocity(corde, 1.0, velocity);
    for (int k = 0; k < 3 * blocks; k++) {
        corde->v[k] = is_free_block(corde, k / 3) ? corde->v[k] : corde->shift[k] / dt;
    }
    corde->flaw = 1.0;
    // what has no energy in doubles is refused
    rod->state[0] = isfinite(fil_dot3(velocity, velocity)) ? rod->state[0] + dt : (double)NAN;
}
