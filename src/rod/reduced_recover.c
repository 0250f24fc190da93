// reduced_recover.c - the end of a step of a rod whose unknowns are curvatures: momentum and
// energy.
//
// The step is linear in v+ (reduced_step.c). Its velocity terms are foreseen, not solved for, so
// that it is exact neither in momentum nor in energy. Both are made so here, with what moves the
// rod as a whole and with how fast it moves otherwise.
//
// Momentum. The centre of a free rod that nothing touches goes where its momentum leads, and the
// rod gets the rigid motion (bulk.c) that makes its momentum what it was and what gravity and loads
// did in the step: linear and, where gravity alone acts, angular, too. How loads turn the rod is
// left to the step: in a long one they point elsewhere before it is over.
//
// Energy. Let (u, w) be the rigid motion of the end that is driven; 0: nothing is. What drives it
// does the work (u, w) . (change of the momentum less what else acted), so that with v = rigid +
// rest the kinetic energy of the rest may be
//     T(rest) <= T - (u, w) . P + T(rigid) + U - U+ + W - (u, w) . dt (gravity, loads),
// P the momentum at the start, U the energy of gravity, loads and bending, W what contacts and
// torques did. The rest is made slower where it has more: of a free rod all but the rigid part,
// which has the least energy for its momentum. Where there is nothing left to take, the step
// gained: it bent the rod by more than there was energy for. Where both ends are driven, and not as
// one, nobody knows the work, and nothing is taken.
#include <float.h>
#include <string.h>

#include "bulk.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "reduced.h"

static const double round_off = 1e-12;  // of the energies: what may be too much
static const double at_rest = 1e-13;    // of forces times length: what round-off does at rest
static const double most_turning = 0.1; // of its energy: what a free rod may lose of its turning
static const double told = 1.2 * FIL_ROD_HONEST; // and what that counts as at least
enum { MAX_TURNS = 6 };
static const double most_aside = 0.1;    // of how far a free rod turns: see turn_to_pay()
static const double most_mended = 100.0; // times its energy: beyond, sums have lost digits
static const double most_excess = 1e-3;  // of its energy
static const double together = 1e-9;     // of its speed: how much an end may differ from a motion

// --- the rod as a whole --------------------------------------------------------------------------

bool fil_reduced_is_free(const FilRod *rod) {
    return rod->root_end.kind == FIL_END_FREE && rod->tip_end.kind == FIL_END_FREE &&
           rod->drag == 0.0;
}

// From the root to the start of element i, m. Those of parents are known.
static double *find_arm(const FilReduced *data, size_t i) {
    const size_t m = (size_t)data->d + 3;
    double *arm = data->passed + m * i;
    memset(arm, 0, 3 * sizeof *arm);
    if (data->parent[i] >= 0) {
        const size_t p = (size_t)data->parent[i];
        fil_apply3(data->frame + 9 * p, data->end_place + 3 * p, arm);
        fil_add3(1.0, data->passed + m * p, arm);
    }
    return arm;
}

// I += that of element i about the centre.
static void add_inertia(const FilReduced *data, size_t i, const double centre[3], FilBulk *bulk) {
    const double *I = data->ww + 6 * i, *frame = data->frame + 9 * i, m = data->mass[i];
    const double full[9] = {I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5]};
    double half[9], s[3], arm[3];
    fil_multiply3(frame, full, half);
    fil_apply3(frame, data->moment + 3 * i, s);
    fil_subtract3(data->passed + ((size_t)data->d + 3) * i, centre, arm);
    const double far = m * fil_dot3(arm, arm) + 2.0 * fil_dot3(arm, s);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            bulk->inertia[3 * r + c] += fil_dot3(half + 3 * (size_t)r, frame + 3 * (size_t)c) +
                                        (r == c ? far : 0.0) - m * arm[r] * arm[c] - arm[r] * s[c] -
                                        s[r] * arm[c];
        }
    }
}

static void add_element(const FilRod *rod, size_t i, FilReducedWhole *whole) {
    const FilReduced *data = fil_reduced(rod);
    const size_t d = (size_t)data->d;
    const double *h = data->h + (6 + d) * i, *motion = data->motion + 6 * i;
    static const double root[3] = {0.0, 0.0, 0.0};
    const double *arm = find_arm(data, i);
    double centre[3], linear[3], angular[3], work = 0.0;
    FilRodEnergy elastic = {0};
    for (size_t k = 0; k < 6; k++) {
        work += h[k] * motion[k];
    }
    for (size_t a = 0; a < d; a++) {
        work += h[6 + a] * data->rate[3 * i + a];
    }
    whole->kinetic += 0.5 * work;
    fil_apply3(data->frame + 9 * i, data->moment + 3 * i, centre);
    fil_add3(data->mass[i], arm, centre);
    fil_add3(1.0, centre, whole->bulk.centre);
    whole->bulk.mass += data->mass[i];
    fil_apply3(data->frame + 9 * i, h, linear);
    fil_apply3(data->frame + 9 * i, h + 3, angular);
    fil_rod_add_wrench(root, arm, linear, angular, whole->momentum);
    fil_reduced_add_elastic(rod, (int)i, &elastic);
    whole->elastic += elastic.bend + elastic.twist;
}

static void add_loads(const FilRod *rod, FilReducedWhole *whole) {
    const FilReduced *data = fil_reduced(rod);
    for (int k = 0; k < rod->load_count; k++) {
        const FilRodLoad *load = &rod->loads[k];
        FilPose pose;
        double u, arm[3];
        int i = fil_rod_locate(rod, load->s, &u);
        fil_reduced_at(rod, i, u, &pose, NULL);
        fil_subtract3(pose.position, data->root_place, arm);
        whole->potential -= fil_dot3(load->force, arm);
        whole->pull += fil_norm3(load->force);
        fil_rod_add_wrench(data->root_place, pose.position, load->force, load->torque,
                           whole->force);
    }
}

void fil_reduced_measure(const FilRod *rod, FilReducedWhole *whole) {
    const FilReduced *data = fil_reduced(rod);
    fil_reduced_pass(
        rod, &(FilReducedPass){
                 .momentum = 1.0, .moving = true, .sums = true, .parts = FIL_ELEMENT_RIGID});
    *whole = (FilReducedWhole){0};
    for (size_t i = 0; i < (size_t)rod->element_count; i++) {
        add_element(rod, i, whole);
    }
    FilBulk *bulk = &whole->bulk;
    double weight[3] = {0.0}, none[3] = {0.0};
    fil_add3(bulk->mass, rod->gravity, weight);
    whole->potential -= fil_dot3(rod->gravity, bulk->centre);
    whole->pull = fil_norm3(weight);
    for (int c = 0; c < 3; c++) {
        whole->arm[c] = bulk->centre[c] / bulk->mass;
        bulk->centre[c] = data->root_place[c] + whole->arm[c];
    }
    fil_rod_add_wrench(data->root_place, bulk->centre, weight, none, whole->force);
    const bool driven = rod->root_end.motion != NULL || rod->tip_end.motion != NULL;
    for (size_t i = 0; i < (size_t)rod->element_count; i++) {
        if (driven || fil_reduced_is_free(rod)) { // nobody else asks for it
            add_inertia(data, i, whole->arm, bulk);
        }
    }
    add_loads(rod, whole);
    fil_copy3(data->root_place, whole->about);
    whole->sane = data->sane;
}

// --- what is driven ------------------------------------------------------------------------------

// A rigid motion: how fast the place `at` moves, and the spin; the root is seen from there.
typedef struct Motion {
    double at[3], root[3], u[3], w[3];
    bool any;
} Motion;

// The mean motion of an end over the step that led here; 0 where it is not driven.
static void find_end_motion(const FilRod *rod, const FilRodEnd *end, double dt, Motion *motion) {
    FilPose from, to;
    double Q[9], turn[3];
    *motion = (Motion){.any = end->motion != NULL && end->kind != FIL_END_FREE};
    if (!motion->any) {
        return;
    }
    fil_rod_end_pose(rod, end, rod->state[0] - dt, &from);
    fil_rod_end_pose(rod, end, rod->state[0], &to);
    for (int k = 0; k < 9; k++) {
        Q[k] = 0.0;
        for (int a = 0; a < 3; a++) {
            Q[k] += to.axis[a][k / 3] * from.axis[a][k % 3];
        }
    }
    fil_rotation_log(Q, turn);
    fil_copy3(to.position, motion->at);
    fil_subtract3(fil_reduced(rod)->root_place, motion->at, motion->root);
    for (int c = 0; c < 3; c++) {
        motion->u[c] = (to.position[c] - from.position[c]) / dt;
        motion->w[c] = end->kind == FIL_END_PINNED ? 0.0 : turn[c] / dt;
    }
}

static void velocity_at(const Motion *motion, const double x[3], double out[3]) {
    double arm[3];
    fil_subtract3(x, motion->at, arm);
    fil_cross3(motion->w, arm, out);
    fil_add3(1.0, motion->u, out);
}

// (u, w) . (a wrench about a place).
static double power(const Motion *motion, const double about[3], const double *wrench) {
    double u[3];
    velocity_at(motion, about, u);
    return fil_dot3(u, wrench) + fil_dot3(motion->w, wrench + 3);
}

// Whether both ends go with one motion, as far as they are held; else nobody knows the work.
static bool find_motion(const FilRod *rod, double dt, Motion *motion) {
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    Motion other;
    find_end_motion(rod, ends[0], dt, motion);
    find_end_motion(rod, ends[1], dt, &other);
    const bool held[2] = {ends[0]->kind != FIL_END_FREE, ends[1]->kind != FIL_END_FREE};
    if (!held[0]) {
        *motion = other;
        return true;
    }
    if (!held[1] || (!motion->any && !other.any)) {
        return true;
    }
    FilPose pose;
    double u[3], off[3], turn[3];
    fil_rod_end_pose(rod, ends[1], rod->state[0], &pose);
    velocity_at(motion, pose.position, u);
    fil_subtract3(u, other.u, off);
    fil_subtract3(motion->w, other.w, turn);
    const bool turns = ends[1]->kind != FIL_END_PINNED;
    return fil_norm3(off) <= together * (fil_norm3(u) + fil_norm3(other.u)) &&
           (!turns || fil_norm3(turn) <= together * fil_norm3(motion->w));
}

// --- the end of a step ---------------------------------------------------------------------------

// What torques did, at the velocities of the end.
static double find_torque_work(const FilRod *rod, double dt) {
    double sum = 0.0;
    for (int k = 0; k < rod->load_count; k++) {
        const FilRodLoad *load = &rod->loads[k];
        FilPose pose;
        FilRate rate;
        double u;
        if (fil_norm3(load->torque) > 0.0) {
            int i = fil_rod_locate(rod, load->s, &u);
            fil_reduced_at(rod, i, u, &pose, &rate);
            sum += dt * fil_dot3(load->torque, rate.spin);
        }
    }
    return sum;
}

// The rates of the root that a rigid motion has: those that are not held.
static void find_root_motion(const FilReduced *data, const Motion *motion, double rates[6]) {
    fil_cross3(motion->w, motion->root, rates);
    fil_add3(1.0, motion->u, rates);
    fil_copy3(motion->w, rates + 3);
    for (int c = 0; data->root == 3 && c < 3; c++) {
        rates[3 + c] = 0.0; // a pinned root hands no spin on
    }
}

// v = rigid + part (v - rigid), of what is not held.
static void slow_down(FilRod *rod, const Motion *motion, double part) {
    FilReduced *data = fil_reduced(rod);
    double rigid[6];
    find_root_motion(data, motion, rigid);
    for (int k = 6 - data->root; k < 6; k++) {
        data->root_rate[k] = rigid[k] + part * (data->root_rate[k] - rigid[k]);
    }
    for (int k = 0; k < data->kappas; k++) {
        data->rate[k] *= part;
    }
}

static double find_rigid_energy(const FilBulk *bulk, const Motion *motion) {
    double u[3], turned[3];
    velocity_at(motion, bulk->centre, u);
    fil_apply3(bulk->inertia, motion->w, turned);
    return 0.5 * (bulk->mass * fil_dot3(u, u) + fil_dot3(motion->w, turned));
}

// A free rod: its centre goes with its momentum.
static void mend_place(FilRod *rod, double dt, const FilReducedWhole *start, FilReducedWhole *end) {
    FilReduced *data = fil_reduced(rod);
    const double theta = rod->theta, mass = end->bulk.mass;
    for (int c = 0; c < 3; c++) {
        const double p = start->momentum[0][c];
        const double gain = 0.5 * dt * (start->force[0][c] + end->force[0][c]);
        const double to = start->bulk.centre[c] + dt * (p + theta * gain) / mass;
        const double shift = to - end->bulk.centre[c];
        data->root_place[c] += shift;
        end->about[c] += shift;
        end->bulk.centre[c] = to;
    }
}

// Momentum, the angular one about the centre.
static void find_momentum(const FilReducedWhole *whole, FilTwistPair *momentum) {
    double cross[3];
    fil_cross3(whole->arm, whole->momentum[0], cross);
    fil_copy3(whole->momentum[0], momentum->linear);
    fil_copy3(whole->momentum[1], momentum->angular);
    fil_add3(-1.0, cross, momentum->angular);
}

static void turn_vector(const double Q[9], double x[3]) {
    double turned[3];
    fil_apply3(Q, x, turned);
    fil_copy3(turned, x);
}

// All of the rod, and how it moves, turns about its centre; nothing but gravity acts on it.
static void turn_about_centre(FilRod *rod, const double turn[3], FilReducedWhole *end) {
    FilReduced *data = fil_reduced(rod);
    double Q[9], half[9], whole[9];
    fil_rotation_exp(turn, Q);
    turn_vector(Q, end->arm);
    end->potential = -fil_dot3(end->force[0], end->arm); // gravity alone, seen from the root
    fil_subtract3(end->bulk.centre, end->arm, end->about);
    fil_copy3(end->about, data->root_place);
    fil_multiply3(Q, data->root_turn, whole);
    memcpy(data->root_turn, whole, sizeof whole);
    fil_rotation_polish(data->root_turn);
    for (int k = 0; k < 2; k++) {
        turn_vector(Q, data->root_rate + 3 * (size_t)k);
        turn_vector(Q, end->momentum[k]);
    }
    fil_multiply3(Q, end->bulk.inertia, half);
    for (int k = 0; k < 9; k++) {
        end->bulk.inertia[k] = fil_dot3(half + (ptrdiff_t)3 * (k / 3), Q + (ptrdiff_t)3 * (k % 3));
    }
}

// A rod that nothing turns but itself: v+ carried it, or theta of it, but it turns with the mean of
// its spins. Else its axis would run ahead of the spin, and the rod lose energy, not momentum: that
// makes it nutate.
static void mend_turn(FilRod *rod, double dt, const FilReducedWhole *start, FilReducedWhole *end) {
    FilTwistPair momentum, before, after;
    double turn[3];
    find_momentum(start, &momentum);
    fil_bulk_motion(&start->bulk, &momentum, &before);
    fil_bulk_motion(&end->bulk, &momentum, &after);
    for (int c = 0; c < 3; c++) {
        turn[c] = dt * (0.5 - rod->theta) * (after.angular[c] - before.angular[c]);
    }
    turn_about_centre(rod, turn, end);
}

// The rigid motion that it must have, and its root takes the difference to that of the
// momentum it has.
static void mend_momentum(FilRod *rod, const FilReducedWhole *start, double dt,
                          FilReducedWhole *end, Motion *motion) {
    FilReduced *data = fil_reduced(rod);
    FilTwistPair target, off, more, whole;
    find_momentum(start, &target);
    find_momentum(end, &off);
    for (int c = 0; c < 3; c++) { // to the centre gravity is no moment
        target.linear[c] += 0.5 * dt * (start->force[0][c] + end->force[0][c]);
        off.linear[c] = target.linear[c] - off.linear[c];
        off.angular[c] = target.angular[c] - off.angular[c];
    }
    for (int c = 0; rod->load_count > 0 && c < 3; c++) {
        off.angular[c] = target.angular[c] = 0.0;
    }
    fil_bulk_motion(&end->bulk, &off, &more);
    fil_bulk_motion(&end->bulk, &target, &whole);
    Motion mend = {.any = true};
    *motion = (Motion){.any = true};
    fil_copy3(end->bulk.centre, mend.at);
    fil_copy3(end->bulk.centre, motion->at);
    fil_add3(-1.0, end->arm, mend.root);
    fil_add3(-1.0, end->arm, motion->root);
    fil_copy3(more.linear, mend.u);
    fil_copy3(more.angular, mend.w);
    fil_copy3(whole.linear, motion->u);
    fil_copy3(whole.angular, motion->w);
    double rates[6];
    find_root_motion(data, &mend, rates);
    for (int c = 0; c < 6; c++) {
        data->root_rate[c] += rates[c];
    }
    end->kinetic += power(&mend, end->about, end->momentum[0]);
    end->kinetic += find_rigid_energy(&end->bulk, &mend);
    double cross[3];
    fil_cross3(end->arm, off.linear, cross);
    fil_add3(1.0, off.linear, end->momentum[0]);
    fil_add3(1.0, off.angular, end->momentum[1]);
    fil_add3(1.0, cross, end->momentum[1]);
}

// What a rod has at the end of a step, J: `rest` moves besides the rigid motion, and `room` is what
// may.
typedef struct Budget {
    double rest, room, noise;
} Budget;

// Make the rest slower where it has too much. Returns the part of the rod's motion that it cost, or
// 2 where there was not enough to take.
static double pay(FilRod *rod, const Budget *budget, const Motion *motion, double kinetic) {
    FilReduced *data = fil_reduced(rod);
    const double room = fmax(0.0, budget->room);
    if (budget->room < -budget->noise) {
        return 2.0;
    }
    slow_down(rod, motion, budget->rest > 0.0 ? sqrt(fmin(1.0, room / budget->rest)) : 0.0);
    data->stale = true;
    return (budget->rest - room) / fmax(kinetic, budget->rest);
}

// What drives an end did, and what it did to the rod as a whole.
static void add_driven(const FilRod *rod, const FilReducedWhole *start, const FilReducedWhole *end,
                       double dt, const Motion *motion, Budget *budget) {
    const double rigid = find_rigid_energy(&end->bulk, motion);
    Motion half = *motion; // half-way
    fil_add3(-0.5 * dt, motion->u, half.at);
    const double pull =
        power(&half, start->about, start->force[0]) + power(&half, end->about, end->force[0]);
    budget->rest += rigid - power(motion, end->about, end->momentum[0]);
    budget->room += rigid - power(&half, start->about, start->momentum[0]) - 0.5 * dt * pull;
    // who stands still in air that goes along sees it push, by u^2 / 4 at most
    const double speed = fil_norm3(motion->u) + rod->state[1] * fil_norm3(motion->w);
    budget->room += 0.25 * dt * rod->drag * rod->state[1] * speed * speed;
    budget->noise += round_off * (rigid + fabs(dt * pull));
}

// A free rod has no more to pay with than how it moves besides its rigid motion. Where that is too
// little, it is turned a little further or less: its energy at the momentum L is L . w / 2, and
// changes by d . (w x L) where it turns by d.
static void turn_to_pay(FilRod *rod, double dt, const FilReducedWhole *start, FilReducedWhole *end,
                        const Budget *all, Motion *motion) {
    const double before = end->kinetic;
    for (int k = 0; k < MAX_TURNS && end->kinetic > all->room; k++) {
        FilTwistPair momentum;
        double slope[3], turn[3] = {0.0};
        find_momentum(end, &momentum);
        fil_cross3(motion->w, momentum.angular, slope);
        const double square = fil_dot3(slope, slope), excess = end->kinetic - all->room;
        fil_add3(square > 0.0 ? -excess / square : 0.0, slope, turn);
        if (!(fil_norm3(turn) <= most_aside * dt * fil_norm3(motion->w)) ||
            excess > most_excess * before) {
            return;
        }
        turn_about_centre(rod, turn, end);
        mend_momentum(rod, start, dt, end, motion);
    }
}

// The end of a step of a free rod, mended. One whose rigid motion alone is too much loses some of
// its turning, as if it had been held, and says so.
static double pay_free(FilRod *rod, const FilReducedWhole *end, const Budget *all,
                       const Motion *motion) {
    Budget budget = *all;
    Motion falling = *motion;
    const double rigid = find_rigid_energy(&end->bulk, motion);
    budget.rest -= rigid;
    budget.room -= rigid;
    double taken = pay(rod, &budget, motion, end->kinetic);
    if (taken <= 1.0) {
        return taken;
    }
    memset(falling.w, 0, sizeof falling.w);
    budget = *all;
    budget.rest -= find_rigid_energy(&end->bulk, &falling);
    budget.room -= find_rigid_energy(&end->bulk, &falling);
    taken = budget.rest - budget.room <= most_turning * budget.rest
                ? pay(rod, &budget, &falling, end->kinetic)
                : 2.0;
    return fmax(taken, told);
}

double fil_reduced_recover(FilRod *rod, double dt, double part, double pushed,
                           const FilReducedWhole *start) {
    FilReduced *data = fil_reduced(rod);
    FilReducedWhole *end = &data->whole;
    Motion motion;
    fil_reduced_measure(rod, end);
    data->measured = false;
    if (!end->sane) {
        return 3.0;
    }
    const bool known = find_motion(rod, dt, &motion),
               mended = fil_reduced_is_free(rod) && rod->push == NULL;
    double way[3];
    if (mended) {
        const double before = end->kinetic;
        mend_place(rod, dt, start, end);
        if (rod->load_count == 0) {
            mend_turn(rod, dt, start, end);
        }
        mend_momentum(rod, start, dt, end, &motion);
        data->stale = true;
        if (before > most_mended * (end->kinetic + end->elastic)) {
            fil_reduced_measure(rod, end);
        }
    }
    fil_subtract3(end->about, start->about, way);
    const double fall = fil_dot3(end->force[0], way);
    const double work = pushed + fall + find_torque_work(rod, dt);
    const double size = start->kinetic + end->kinetic + start->elastic + end->elastic +
                        fabs(start->potential) + fabs(end->potential) + fabs(work) + fabs(fall) +
                        at_rest / round_off * rod->state[1] * (start->pull + end->pull);
    Budget budget = {.rest = end->kinetic,
                     .room = start->kinetic + (start->elastic - end->elastic) +
                             (start->potential - end->potential) + work,
                     .noise = round_off * size};
    if (!mended && motion.any) {
        add_driven(rod, start, end, dt, &motion, &budget);
    }
    if (part < 1.0 && rod->push != NULL) { // what pushes did in all of the step it did not do here
        budget.room = fmin(budget.room, start->kinetic);
    }
    if (!known || budget.rest <= budget.room + budget.noise) {
        data->measured = !mended;
        data->revision = rod->revision;
        return 0.0;
    }
    if (mended && rod->load_count == 0) {
        turn_to_pay(rod, dt, start, end, &budget, &motion);
        budget.rest = end->kinetic;
    }
    if (mended && budget.rest <= budget.room + budget.noise) {
        return 0.0;
    }
    return mended ? pay_free(rod, end, &budget, &motion) : pay(rod, &budget, &motion, end->kinetic);
}

void fil_reduced_settle(FilRod *rod, const FilReducedWhole *start) {
    FilReduced *data = fil_reduced(rod);
    FilReducedWhole *end = &data->whole;
    Motion motion = {.any = false};
    fil_reduced_measure(rod, end);
    data->measured = false;
    if (!end->sane || rod->root_end.motion != NULL || rod->tip_end.motion != NULL) {
        return;
    }
    if (fil_reduced_is_free(rod)) {
        mend_momentum(rod, start, 0.0, end, &motion);
        data->stale = true;
    }
    double way[3];
    fil_subtract3(end->about, start->about, way);
    const double lift = (end->elastic - start->elastic) + (end->potential - start->potential) -
                        fil_dot3(end->force[0], way);
    const double room = start->kinetic - fmax(0.0, lift);
    const Budget budget = {.rest = end->kinetic, .room = room > 0.0 ? room : start->kinetic};
    if (budget.rest > budget.room) {
        (void)pay(rod, &budget, &(Motion){.any = false}, end->kinetic);
    }
}

void fil_reduced_slow_down(FilRod *rod, const double velocity[3], double part) {
    FilReduced *data = fil_reduced(rod);
    Motion motion = {.any = true};
    fil_copy3(data->root_place, motion.at);
    fil_copy3(velocity, motion.u);
    slow_down(rod, &motion, part);
    data->stale = true;
    data->measured = false;
}
