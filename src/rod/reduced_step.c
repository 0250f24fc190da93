// reduced_step.c - one step of a rod whose unknowns are curvatures.
//
// With v' = theta v+ + (1 - theta) v and q+ = q + dt v',
//     M(q_m) (v+ - v) + dt (nu K + C) v' + dt K (q - q_nat + theta dt v') = dt F(q_m, v_m),
// where nu is the damping, C the drag (drag per length against the velocity) and F gravity, loads
// and velocity terms. K does not depend on q.
//
// Where, q_m and v_m. The step must not pump energy into a rod that spins, whirls or was kicked.
// With q_m half-way to q+ the change of M along the way is that of its derivative at q_m, up to
// dt^3, and then, for velocity terms bilinear in v' and the mean (v + v+) / 2, the energy changes
// by
//     -(theta - 1/2) dt^2 (2 v^T K v - d/dt (v^T K (q - q_nat)))
// to that order: damping, and a part that comes back. Half-way between those two velocities,
// v_m = v + (theta + 1/2) / 2 (v+ - v), is the same up to dt^3. Spins of the root do not commute;
// the same calculation wants the root turned by (3/2 - theta) / 2 of its way instead. Both weights
// are taken a little further, LEAD and LATE, so that nutation of a rigid rod is damped rather than
// kept. With theta = 1, a clamped root and a free tip curvatures are left where they are: there is
// no free spin to be kept, and curls that run half a step ahead of the elasticity that brakes them,
// in steps as long as hair takes, gain energy. For theta = 1/2 this is the implicit midpoint rule:
// it looks the same backward in time, and energy swings a little but does not drift.
//
// Guesses. F and M depend on v+ through q_m and v_m. Velocity terms at v instead pump energy: a
// motion that they turn about at the rate w grows as 1 + (w dt)^2 in each step. They cannot be part
// of A, being antisymmetric. So a guess of v+ in F and M makes the step linear,
//     A v+ = rhs,   A = M + theta dt C + (theta dt nu + theta^2 dt^2) K,
//     rhs = M v - (1 - theta) dt C v - dt K (q - q_nat) - (1 - theta) dt (nu + theta dt) K v + dt
//     F,
// and then the guess is improved:
//   - theta = 1, which damps: q_m is that of the first guess, v+ = v, so that A stays, and one
//     correction of rhs by what is left over at the foreseen v+ is made; it takes forces alone.
//     Where w dt is above 1 the correction is weakened by its square.
//   - theta < 1: A and rhs are made again until v+ stays (3 times as a rule). To keep A would not
//     do: M is nearly singular about a straight free rod's own axis, and that turns with q_m.
// Contact forces are not foreseen; who knows v+ better calls prepare() with it as the guess.
//
// What that leaves wrong in momentum and energy is mended at the end of the step
// (reduced_recover.c): so a free rod needs no LEAD and no LATE. Tension adds to A
// (reduced_tension.c). Where tangents turn by more than a radian in the step velocity terms
// foretell nothing, and only a part of them is taken.
//
// Momentum in one pass. With the acceleration p = (v_m - v) / dt given to the pass, momentum at v_m
// less dt M p is M v.
//
// Root. What is held moves with its mean rate over the step, which is known and goes to the
// right-hand side. A root that is held goes where it is held, exactly.
#include "reduced.h"

#include <float.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"
#include "math/vector.h"

#define LEAD 0.3 // of 2 theta - 1: how much less than half of its way the root is turned
#define LATE 0.3 // of 2 theta - 1: how much more than the mean v+ counts in v_m

enum { MAX_GUESSES = 8, MAX_PULLS = 4, MAX_CUTS = 6, MAX_HALVES = 30 };
static const double most_lost =
    FIL_ROD_HONEST;                    // of its motion, in a step that is done in space instead
static const double noise = 1e-10;     // of energies: what cannot be told from round-off
static const double most_bend = 2.0;   // rad: of an element in a step
static const double most_coil = 60.0;  // rad: of an element that is wound up by steps
static const double most_wound = 12.0; // rad: of an element, beyond its natural shape
static const double astray = 1e-5;     // of the length: how far off a held end may be
static const double pull_tolerance = 1e-13, pull_reach = 0.1; // of the length
static const double settle_part =
    1e-3; // of the step: what the velocity of a held end is found over
static const double guess_tolerance = 1e-3; // of the change in a step
static const double steady = 1e-2;          // of the velocities: a change that counts as this much
static const double slow = 1e-4;            // rad in a step: velocity terms do not matter
static const double leisurely = 5e-3;       // rad in a step: in contact they matter little
static const double most_turn = 100.0;      // rad in a step: it says nothing any more

// How the root moves in the mean over the step as far as it is held: world velocity and spin.
// False when it does not move.
static bool find_root_rate(const FilRod *rod, double dt, double rate[6]) {
    const FilReduced *data = fil_reduced(rod);
    memset(rate, 0, 6 * sizeof(double));
    if (rod->root_end.motion == NULL || data->root == 6) {
        return false;
    }
    FilPose pose;
    double Q[9], turned[3];
    fil_rod_end_pose(rod, &rod->root_end, rod->state[0] + dt, &pose);
    for (int c = 0; c < 3; c++) {
        rate[c] = (pose.position[c] - data->root_place[c]) / dt;
    }
    if (data->root == 3) {
        return true;
    }
    for (int k = 0; k < 9; k++) {
        const double *now = data->root_turn + (size_t)(k % 3) * 3;
        Q[k] = pose.axis[0][k / 3] * now[0] + pose.axis[1][k / 3] * now[1] +
               pose.axis[2][k / 3] * now[2];
    }
    fil_rotation_log(Q, turned);
    for (int c = 0; c < 3; c++) {
        rate[3 + c] = turned[c] / dt;
    }
    return true;
}

// Take the momentum of the whole rod, moving with its root as one rigid body, out of h.
static void subtract_rigid(const FilRod *rod, const double rate[6]) {
    FilReduced *data = fil_reduced(rod);
    size_t d = (size_t)data->d;
    for (size_t i = 0; i < (size_t)rod->element_count; i++) {
        double arm[3], world[3], v[3], w[3], ws[3], sv[3], Iw[3];
        const double *s = data->moment + 3 * i, *I = data->ww + 6 * i;
        double *h = data->h + (6 + d) * i;
        fil_subtract3(data->place + 3 * i, data->root_place, arm);
        fil_cross3(rate + 3, arm, world);
        fil_add3(1.0, rate, world);
        fil_apply_transposed3(data->frame + 9 * i, world, v);
        fil_apply_transposed3(data->frame + 9 * i, rate + 3, w);
        fil_cross3(w, s, ws);
        fil_cross3(s, v, sv);
        Iw[0] = I[0] * w[0] + I[1] * w[1] + I[2] * w[2];
        Iw[1] = I[1] * w[0] + I[3] * w[1] + I[4] * w[2];
        Iw[2] = I[2] * w[0] + I[4] * w[1] + I[5] * w[2];
        for (int c = 0; c < 3; c++) {
            h[c] -= data->mass[i] * v[c] + ws[c];
            h[3 + c] -= sv[c] + Iw[c];
        }
        for (size_t a = 0; a < d; a++) {
            h[6 + a] -=
                fil_dot3(data->vk + 3 * (d * i + a), v) + fil_dot3(data->wk + 3 * (d * i + a), w);
        }
    }
}

// Take dt times the elastic force of the state, and `factor` K `rates`, from x.
static void subtract_elastic(const FilRod *rod, double dt, double factor, const double *rates,
                             double *x) {
    const FilReduced *data = fil_reduced(rod);
    double strain[6], resist[6];
    for (int i = 0; i < rod->element_count; i++) {
        fil_reduced_elastic(rod, i, strain);
        fil_reduced_stiffen(rod, i, rates + 3 * (size_t)i, resist);
        for (int a = 0; a < data->d; a++) {
            x[data->root + 3 * i + a] -= dt * strain[a] + factor * resist[a];
        }
    }
}

// The root frame turned by the rotation vector `turn`, world axes.
static void turn_root(FilReduced *data, const double turn[3]) {
    double Q[9], turned[9];
    fil_rotation_exp(turn, Q);
    fil_multiply3(Q, data->root_turn, turned);
    fil_rotation_polish(turned);
    memcpy(data->root_turn, turned, sizeof turned);
}

// The part of a step in which a curvature of an element of length l, moved by `way`, neither
// changes by more than a bend nor becomes a coil of more than `coil` rad (or than it is). What it
// is wound up by too much may unwind at once: stiff springs do, and a rod that is stopped instead
// would never come out of it.
static double part_of_bend(double l, double coil, const double *kappa, const double natural[3],
                           const double way[3]) {
    double to[3], strain[3];
    const double bend = l * fil_norm3(way), now = l * fil_norm3(kappa);
    fil_subtract3(kappa, natural, strain);
    const double back = bend > 0.0 ? -l * l * fil_dot3(strain, way) / bend : 0.0;
    const double most = fmax(most_bend, back - most_wound);
    double part = bend > most ? most / bend : 1.0;
    const double far = fmax(coil, l * fil_norm3(natural) + most_wound);
    if (bend + now <= far) {
        return part;
    }
    for (int k = 0; k < MAX_HALVES; k++) {
        fil_copy3(kappa, to);
        fil_add3(part, way, to);
        if (l * fil_norm3(to) <= fmax(now, far)) {
            break;
        }
        part *= 0.5;
    }
    return part;
}

double fil_reduced_find_part(const FilRod *rod, double scale, const double *x) {
    const FilReduced *data = fil_reduced(rod);
    const double coil = rod->shortest ? 0.0 : most_coil; // violence winds nothing up for long
    double part = 1.0;
    for (int i = 0; i < rod->element_count; i++) {
        for (int a = 0; a < data->d; a += 3) {
            const size_t at = 3 * (size_t)i + (size_t)a;
            const double *to = x + data->root + at;
            const double bend[3] = {scale * to[0], scale * to[1], scale * to[2]};
            double natural[3];
            fil_reduced_natural(rod, i, a, natural);
            part = fmin(part, part_of_bend(rod->lengths[i], coil, data->kappa + at, natural, bend));
        }
    }
    return part;
}

// --- the place ahead -----------------------------------------------------------------------------

// Between these two geometry and views are those of the place ahead, q_m.
static bool enter_ahead(const FilRod *rod) {
    bool stale = fil_reduced(rod)->stale;
    fil_reduced_use(rod, true);
    fil_reduced_view(fil_reduced(rod), true);
    return stale;
}

static void leave_ahead(const FilRod *rod, bool stale) {
    fil_reduced_use(rod, false);
    fil_reduced_view(fil_reduced(rod), false);
    fil_reduced(rod)->stale = stale;
}

// The weight of v+ in v_m.
static double late_part(const FilRod *rod) {
    return 0.5 + (fil_reduced_is_free(rod) ? 0.0 : LATE) * (2.0 * rod->theta - 1.0);
}

// q_m and v_m for v+ = `after`, and `part` of the mean acceleration.
static void look_ahead(const FilRod *rod, double dt, double part) {
    FilReduced *data = fil_reduced(rod);
    size_t kappas = (size_t)data->kappas;
    const double *here = data->here_state, *rate = here + 18 + kappas;
    double *ahead = data->ahead_state, late = late_part(rod), turn[3];
    double lead = (0.5 - (fil_reduced_is_free(rod) ? 0.0 : LEAD) * (2.0 * rod->theta - 1.0)) * dt;
    double theta = rod->theta < 1.0 ? rod->theta : 0.0; // 1: the place is that of the first guess
    bool hair = rod->theta == 1.0 && data->root == 0 && rod->row_count == 0; // see "Where"
    double bent = hair ? 0.0 : 0.5;
    memcpy(ahead, here, 12 * sizeof(double));
    for (int c = 0; c < 6; c++) {
        bool held = c < 6 - data->root;
        double change = data->after[c] - here[12 + c];
        double shift = held ? 0.5 * dt * data->after[c] : lead * (here[12 + c] + theta * change);
        ahead[12 + c] = held ? data->after[c] : here[12 + c] + late * change;
        data->push[c] = (held ? 1.0 : part) * change / dt;
        if (c < 3) {
            ahead[c] += shift;
        } else {
            turn[c - 3] = shift;
        }
    }
    for (size_t k = 0; k < kappas; k++) {
        double change = data->after[6 + k] - rate[k];
        data->push[6 + k] = part * change / dt;
        ahead[18 + k] = bent * dt * (rate[k] + theta * change);
        ahead[18 + kappas + k] = rate[k] + late * change;
    }
    for (size_t k = 0; k < kappas;
         k += 3) { // no farther than a step goes: see fil_reduced_find_part()
        const int element = (int)(k / 3) < rod->element_count ? (int)(k / 3) : (int)(k / 3) - 1;
        const double bend = rod->lengths[element] * fil_norm3(ahead + 18 + k);
        const double most = bend > most_bend ? most_bend / bend : 1.0;
        for (size_t c = k; c < k + 3; c++) {
            ahead[18 + c] = here[18 + c] + most * ahead[18 + c];
        }
    }
    turn_root(data, turn);
}

// Take (1 - theta) dt C v, the drag of the velocities at the start of the step, from rhs.
static void subtract_drag(const FilRod *rod, double dt, double *rhs) {
    FilReduced *data = fil_reduced(rod);
    double resist = (1.0 - rod->theta) * dt;
    if (!(resist * rod->drag > 0.0)) {
        return;
    }
    int held = 6 - data->root;
    memcpy(data->root_rate, data->after, sizeof(double) * (size_t)held);
    memcpy(data->root_rate + held, data->here_state + 12 + held,
           sizeof(double) * (size_t)data->root);
    memcpy(data->rate, data->here_state + 18 + data->kappas, sizeof(double) * (size_t)data->kappas);
    fil_reduced_pass(
        rod, &(FilReducedPass){
                 .resist = resist, .moving = true, .sums = true, .parts = FIL_ELEMENT_FORCES});
    fil_reduced_gather(rod, data->forces);
    for (int k = 0; k < rod->dof_count; k++) {
        rhs[k] += data->forces[k];
    }
}

// The part of the velocity terms that is left out: where the rod turns by more than a radian in the
// step they foretell nothing, and with all of them it would fly apart.
static double find_calm(FilRod *rod, double dt) {
    FilReduced *data = fil_reduced(rod);
    fil_reduced_update(rod);
    const double angle = dt * fil_reduced_swing(rod);
    data->calm = rod->careful ? 1.0 : angle <= 1.0 ? 0.0 : 1.0 - 1.0 / (angle * angle);
    return data->calm;
}

// A, factored, and rhs for the guess `after`. Returns the angle that a section turns by in the
// step, at most; NAN when an element turns beyond what can be integrated.
static double make_step(FilRod *rod, double dt, double *rhs) {
    FilReduced *data = fil_reduced(rod);
    const double calm = find_calm(rod, dt);
    double theta = rod->theta, stiff = theta * dt * (rod->damping + theta * dt);
    double known[6] = {0.0}, angle = (double)NAN;
    bool stale = enter_ahead(rod);
    look_ahead(rod, dt, late_part(rod));
    fil_reduced_pass(rod, &(FilReducedPass){.dt = dt,
                                            .momentum = 1.0,
                                            .drag = theta * dt,
                                            .calm = calm,
                                            .moving = true,
                                            .pushed = true,
                                            .sums = true});
    bool sane = data->sane;
    if (sane) {
        fil_reduced_add_loads(rod, dt);
        fil_reduced_stretch(rod, dt, theta * dt);
        fil_reduced_add_tension(rod, false);
        memcpy(known, data->after, sizeof(double) * (size_t)(6 - data->root));
        if (fil_norm3(known) + fil_norm3(known + 3) > 0.0) {
            subtract_rigid(rod, known);
        }
        angle = dt * fil_reduced_spin(rod);
        fil_reduced_gather(rod, rhs);
        if (data->recursive) {
            fil_recursive_factor(rod, stiff);
        } else {
            fil_composite_factor(rod, stiff);
        }
        subtract_drag(rod, dt, rhs);
    }
    leave_ahead(rod, stale);
    data->sane = sane;
    if (sane) {
        subtract_elastic(rod, dt, (1.0 - theta) * dt * (rod->damping + theta * dt), data->rate,
                         rhs);
    }
    return angle;
}

// theta = 1: add `weight` times what is left over of the step's equations at v+ = `after` to rhs.
static void correct_step(const FilRod *rod, double dt, double weight, double *rhs) {
    FilReduced *data = fil_reduced(rod);
    double *rest = data->forces;
    bool stale = enter_ahead(rod);
    look_ahead(rod, dt, 1.0);
    fil_reduced_pass(rod, &(FilReducedPass){.dt = dt,
                                            .resist = dt,
                                            .calm = data->calm,
                                            .moving = true,
                                            .pushed = true,
                                            .sums = true,
                                            .parts = FIL_ELEMENT_FORCES});
    fil_reduced_add_loads(rod, dt);
    fil_reduced_add_tension(rod, true);
    fil_reduced_gather(rod, rest);
    leave_ahead(rod, stale);
    subtract_elastic(rod, dt, dt * (rod->damping + dt), data->after + 6, rest);
    for (int k = 0; k < rod->dof_count; k++) {
        rhs[k] += weight * rest[k];
    }
}

// --- the step ------------------------------------------------------------------------------------

// The guess of v+ becomes A^-1 rhs. Returns how much it changed, relative to what the step changes:
// rates of all kinds as rad/s, the rod's length as the arm; and the largest of them.
static double improve_guess(FilRod *rod, double dt, const double *rhs, double *fastest) {
    FilReduced *data = fil_reduced(rod);
    int held = 6 - data->root;
    double *x = rod->trial, length = rod->state[1], change = 0.0, step = DBL_MIN, speed = 0.0;
    memcpy(x, rhs, sizeof(double) * (size_t)rod->dof_count);
    fil_reduced_solve(rod, x);
    if (rod->row_count > 0) {
        bool sane = data->sane;
        fil_reduced_get_velocity(rod, rod->before);
        (void)fil_rod_hold_ends(rod, dt, x);
        data->sane = sane;
    }
    for (int k = 0; k < rod->dof_count; k++) {
        int c = held + k;
        double arm = c < 3 ? 1.0 / length : c < 6 ? 1.0 : length;
        double now = c < 6 ? data->root_rate[c] : data->rate[c - 6];
        change = fmax(change, arm * fabs(x[k] - data->after[c]));
        step = fmax(step, arm * fabs(x[k] - now));
        speed = fmax(speed, arm * fabs(x[k]));
        data->after[c] = x[k];
    }
    *fastest = speed;
    return change / fmax(step, steady * speed);
}

// `after` from the guess, or from the present velocities; held parts as they are known.
static void start_guess(FilRod *rod, double dt, const double *guess) {
    FilReduced *data = fil_reduced(rod);
    int held = 6 - data->root;
    double known[6];
    (void)find_root_rate(rod, dt, known);
    memcpy(data->after, known, sizeof(double) * (size_t)held);
    if (guess == NULL) {
        fil_reduced_get_velocity(rod, data->after + held);
    } else {
        memcpy(data->after + held, guess, sizeof(double) * (size_t)rod->dof_count);
    }
}

// theta < 1: make the step again with better guesses. Returns by how much the last one changed, 0
// when that is little enough.
static double repeat_step(FilRod *rod, double dt, double *rhs) {
    const FilReduced *data = fil_reduced(rod);
    double change = 0.0, before = DBL_MAX, speed;
    for (int k = 1; data->sane && k < MAX_GUESSES; k++) {
        change = improve_guess(rod, dt, rhs, &speed);
        if (!(change < before)) { // dt is beyond the largest step
            return change;
        }
        (void)make_step(rod, dt, rhs);
        if (change <= guess_tolerance) {
            return 0.0;
        }
        before = change;
    }
    return change;
}

// theta = 1: correct rhs by what is left over at the v+ that it foresees. Returns 0, or the angle
// that the rod turns by in the step when that is so much that the step says nothing.
static double correct_once(FilRod *rod, double dt, double angle, double *rhs) {
    double speed;
    (void)improve_guess(rod, dt, rhs, &speed);
    if (!rod->careful && (angle > slow || dt * speed > slow)) {
        correct_step(rod, dt, 1.0 / fmax(1.0, 4.0 * angle * angle), rhs);
    }
    return rod->careful || dt * speed <= most_turn ? 0.0 : dt * speed;
}

// theta = 1, with impulses: what is left over at v+ is their negative when v+ is right.
bool fil_reduced_correct(FilRod *rod, double dt, const double *velocity, const double *push,
                         double *rhs) {
    const FilReduced *data = fil_reduced(rod);
    if (rod->theta < 1.0 || !data->sane) {
        return false;
    }
    double angle = dt * fil_reduced_spin(rod);
    if (angle <= leisurely) {
        return false;
    }
    start_guess(rod, dt, velocity);
    double weight = 1.0 / fmax(1.0, 4.0 * angle * angle);
    correct_step(rod, dt, weight, rhs);
    for (int k = 0; k < rod->dof_count; k++) {
        rhs[k] += weight * push[k];
    }
    return true;
}

double fil_reduced_turning(const FilRod *rod, const double *velocity) {
    const FilReduced *data = fil_reduced(rod);
    double sum = 0.0;
    for (int i = 0; i < rod->element_count; i++) {
        const double *rate = velocity + data->root + 3 * (size_t)i;
        const double *end = rate + (data->d - 3);
        double both = 0.5 * (fil_norm3(rate) + fil_norm3(end));
        sum += rod->lengths[i] * both;
    }
    return sum;
}

double fil_reduced_flaw(const FilRod *rod) {
    return fil_reduced(rod)->flaw;
}

double fil_reduced_prepare(FilRod *rod, double dt, const double *guess, double *rhs) {
    const FilReduced *data = fil_reduced(rod);
    start_guess(rod, dt, guess);
    double angle = make_step(rod, dt, rhs), rest = 0.0;
    if (guess == NULL && data->sane) {
        rest = rod->theta < 1.0 ? repeat_step(rod, dt, rhs) : correct_once(rod, dt, angle, rhs);
    }
    for (int k = 0; !data->sane && k < rod->dof_count; k++) {
        rhs[k] = (double)NAN; // the step is refused
    }
    return rest;
}

void fil_reduced_solve(const FilRod *rod, double *x) {
    const FilReduced *data = fil_reduced(rod);
    if (!data->sane) {
        return;
    }
    fil_reduced_use(rod, true);
    if (data->recursive) {
        fil_recursive_solve(rod, x);
    } else {
        fil_composite_solve(rod, x);
    }
    fil_reduced_use(rod, false);
}

void fil_reduced_get_velocity(const FilRod *rod, double *velocity) {
    const FilReduced *data = fil_reduced(rod);
    memcpy(velocity, data->root_rate + 6 - data->root, sizeof(double) * (size_t)data->root);
    memcpy(velocity + data->root, data->rate, sizeof(double) * (size_t)data->kappas);
}

void fil_reduced_stop(FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    memset(data->root_rate, 0, sizeof(double) * 6);
    memset(data->rate, 0, sizeof(double) * (size_t)data->kappas);
    fil_reduced_refresh(rod);
}

void fil_reduced_launch(FilRod *rod, const double velocity[3], const double spin[3]) {
    FilReduced *data = fil_reduced(rod);
    const bool driven = rod->root_end.motion != NULL; // all of the rod goes with its root
    fil_reduced_stop(rod);
    if (data->root == 6 || driven) {
        fil_copy3(velocity, data->root_rate);
    }
    if (data->root > 0 || driven) {
        fil_copy3(spin, data->root_rate + 3);
    }
}

void fil_reduced_shift(FilRod *rod, const double *dx) {
    FilReduced *data = fil_reduced(rod);
    if (data->root == 6) {
        fil_add3(1.0, dx, data->root_place);
    }
    if (data->root > 0) {
        turn_root(data, dx + data->root - 3);
    }
    for (int k = 0; k < data->kappas; k++) {
        data->kappa[k] += dx[data->root + k];
    }
    fil_reduced_refresh(rod);
}

static bool is_moving(const FilReduced *data) {
    bool moving = false;
    for (int k = 0; k < 6 || k < data->kappas; k++) {
        moving = moving || (k < 6 && data->root_rate[k] != 0.0);
        moving = moving || (k < data->kappas && data->rate[k] != 0.0);
    }
    return moving;
}

void fil_reduced_move(FilRod *rod, const double *dx) {
    FilReducedWhole start;
    const bool moving = is_moving(fil_reduced(rod));
    const double part = fil_reduced_find_part(rod, 1.0, dx);
    if (moving) {
        fil_reduced_measure(rod, &start);
    }
    for (int k = 0; k < rod->dof_count; k++) {
        rod->trial[k] = part * dx[k];
    }
    fil_reduced_shift(rod, rod->trial);
    if (moving) {
        fil_reduced_settle(rod, &start);
    }
}

// The root's pose as far as it is held.
static void place_root(FilRod *rod, double time) {
    FilReduced *data = fil_reduced(rod);
    FilPose pose;
    fil_rod_end_pose(rod, &rod->root_end, time, &pose);
    fil_copy3(pose.position, data->root_place);
    for (int k = 0; data->root == 0 && k < 9; k++) {
        data->root_turn[k] = pose.axis[k % 3][k / 3];
    }
}

void fil_reduced_place_ends(FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    if (rod->root_end.motion != NULL && data->root < 6) {
        place_root(rod, 0.0);
        fil_reduced_refresh(rod);
    }
}

void fil_reduced_follow_root(FilRod *rod, double dt) {
    FilReduced *data = fil_reduced(rod);
    double rate[6];
    bool driven = find_root_rate(rod, dt, rate);
    int held = 6 - data->root; // velocity, and spin where clamped
    memcpy(data->root_rate, rate, sizeof(double) * (size_t)held);
    if (driven) {
        place_root(rod, rod->state[0] + dt);
    }
}

// dx, the least displacement (or change of velocity) in the metric of A for which rod->rows take
// `error` away.
static void find_pull(FilRod *rod, double *error, double *dx) {
    int n = rod->dof_count, m = rod->row_count;
    double S[FIL_ROD_ROWS * FIL_ROD_ROWS];
    memcpy(rod->columns, rod->rows, sizeof(double) * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++) {
        fil_reduced_solve(rod, rod->columns + (size_t)i * (size_t)n);
    }
    for (int k = 0; k < m * m; k++) {
        S[k] = fil_dot(rod->rows + (size_t)(k / m) * (size_t)n,
                       rod->columns + (size_t)(k % m) * (size_t)n, n);
    }
    fil_rod_solve_rows(m, S, error, fil_rod_row_softness(rod, S));
    memset(dx, 0, sizeof(double) * (size_t)n);
    for (int i = 0; i < m; i++) {
        const double *column = rod->columns + (size_t)i * (size_t)n;
        for (int k = 0; k < n; k++) {
            dx[k] -= error[i] * column[k];
        }
    }
}

// Rows hold an end to second order in the step. What is left over is brought to zero and changes no
// velocity; else the end would lag behind a curved path. An end that cannot follow stays where it
// is.
static void pull_ends(FilRod *rod) {
    int n = rod->dof_count, m = rod->row_count;
    double last = DBL_MAX, error[FIL_ROD_ROWS], *dx = rod->trial;
    for (int pull = 0; pull < MAX_PULLS && fil_reduced(rod)->sane; pull++) {
        fil_reduced_end_rows(rod, rod->state[0], rod->rows, error);
        double worst = 0.0;
        for (int i = 0; i < m; i++) {
            worst = fmax(worst, fabs(error[i]));
        }
        if (!(worst < 0.5 * last)) {
            for (int k = 0; pull > 0 && k < n; k++) {
                dx[k] = -dx[k];
            }
            if (pull > 0 && !(worst < last)) {
                fil_reduced_shift(rod, dx); // back: it made it worse
            }
            return;
        }
        if (worst <= pull_tolerance * rod->state[1] || worst > pull_reach * rod->state[1]) {
            return;
        }
        find_pull(rod, error, dx);
        const double part = fil_reduced_find_part(rod, 1.0, dx);
        for (int k = 0; part < 1.0 && k < n; k++) {
            dx[k] *= part;
        }
        fil_reduced_shift(rod, dx);
        last = worst;
    }
}

// theta < 1: the mean velocity over the step is what rows hold, so that what an end has too much of
// it before the step it has too little of after it, without end for theta = 1/2. The velocity after
// the step is held too; of a smooth motion that takes away third order in dt alone.
static void settle_ends(FilRod *rod, double dt) {
    FilReduced *data = fil_reduced(rod);
    int n = rod->dof_count, m = rod->row_count;
    double before[FIL_ROD_ROWS], error[FIL_ROD_ROWS], back = settle_part * dt;
    double *velocity = rod->rhs, *dx = rod->trial, weight = 3.0 - 4.0 * rod->theta;
    fil_reduced_past_rows(rod, back, rod->rows, before);
    fil_reduced_end_rows(rod, rod->state[0], rod->rows, error);
    if (!data->sane) {
        return;
    }
    fil_reduced_get_velocity(rod, velocity);
    for (int i = 0; i < m; i++) {
        double held = (before[i] - error[i]) / back; // how it moves, less what the root does
        error[i] = weight * (fil_dot(rod->rows + (size_t)i * (size_t)n, velocity, n) - held);
    }
    fil_reduced_step_rows(rod, rod->state[0], rod->rows, before);
    find_pull(rod, error, dx);
    double *root = data->root_rate + 6 - data->root;
    for (int k = 0; k < n; k++) {
        *(k < data->root ? &root[k] : &data->rate[k - data->root]) += dx[k];
    }
    fil_reduced_refresh(rod);
}

// The mean velocity of a step to v+, v'.
static void find_mean(const FilRod *rod, const double *velocity, double *mean) {
    const FilReduced *data = fil_reduced(rod);
    const double *root = data->root_rate + 6 - data->root;
    for (int k = 0; k < rod->dof_count; k++) {
        const double v = k < data->root ? root[k] : data->rate[k - data->root];
        mean[k] = (1.0 - rod->theta) * v + rod->theta * velocity[k];
    }
}

// What impulses did in a part of the step to v+, J. Those of a step that is cut do not give: they
// were those of all of it, and others counted on that.
static double find_work(const FilRod *rod, double part, const double *velocity) {
    double *mean = rod->trial;
    find_mean(rod, velocity, mean);
    const double pushed = rod->push != NULL ? fil_dot(rod->push, mean, rod->dof_count) : 0.0;
    const double work = part * (pushed - rod->unpaid);
    return part < 1.0 && work > 0.0 ? 0.0 : work;
}

// Move by a part of the step to v+; that part of v+ becomes the velocity of the rod.
static void move_on(FilRod *rod, double dt, double part, const double *velocity) {
    FilReduced *data = fil_reduced(rod);
    double before = (1.0 - rod->theta) * part * dt, after = rod->theta * part * dt, way[6];
    double *root = data->root_rate + 6 - data->root;
    for (int k = 0; k < data->root; k++) {
        way[k] = before * root[k] + after * velocity[k];
        root[k] = part * velocity[k];
    }
    if (data->root < 6) {
        fil_reduced_follow_root(rod, dt);
    }
    if (data->root == 6) {
        fil_add3(1.0, way, data->root_place);
    }
    if (data->root > 0) {
        turn_root(data, way + data->root - 3);
    }
    const double *rate = velocity + data->root;
    for (int k = 0; k < data->kappas; k++) {
        data->kappa[k] += before * data->rate[k] + after * rate[k];
        data->rate[k] = part * rate[k];
    }
    rod->state[0] += dt;
    fil_reduced_refresh(rod);
    if (rod->row_count > 0) {
        pull_ends(rod);
        if (rod->theta < 0.75) {
            settle_ends(rod, dt);
        }
    }
}

// Of a step: what is less than a part `noise` of it cannot be told from round-off.
static double find_size(const FilRod *rod, const FilReducedWhole *start) {
    return start->kinetic + start->elastic + start->pull * rod->state[1];
}

// A step that would lose a good part of its motion: as implicit Euler in space it may lose less.
static void retry_in_space(FilRod *rod, double dt, const FilReducedWhole *start) {
    FilReduced *data = fil_reduced(rod);
    const FilReducedWhole usual = data->whole;
    const double theta = rod->theta, flaw = data->flaw;
    const double size = find_size(rod, start);
    if (!fil_reduced_enter_space(rod)) {
        return;
    }
    memcpy(rod->state, rod->saved, sizeof(double) * (size_t)rod->state_count);
    fil_reduced_refresh(rod);
    rod->theta = 1.0;
    const bool found = fil_reduced_step_in_space(rod, dt, noise * size);
    data->flaw = fil_reduced_recover(rod, dt, 1.0, 0.0, start);
    data->flaw = found ? data->flaw : fmax(data->flaw, 1.2 * FIL_ROD_HONEST);
    const double fastest = fmax(start->kinetic, data->whole.kinetic);
    if (found && data->flaw <= 1.0 && fastest <= noise * size) {
        data->flaw = 0.0; // it rests
    }
    rod->theta = theta;
    if (!(data->flaw < flaw && fil_all_finite(rod->state, rod->state_count))) {
        fil_reduced_leave_space(rod);
        data->whole = usual;
        data->flaw = flaw;
    }
}

// Whether curvatures that move by a part of the step to v+ surely bend the rod by more than there
// is energy for: what is held, driven or twisted by others apart. It costs nothing beside a look at
// the rod.
static bool bends_too_far(const FilRod *rod, double dt, double part, const double *velocity,
                          double work, const FilReducedWhole *start) {
    FilReduced *data = fil_reduced(rod);
    FilRodEnergy energy = {0};
    const double length = rod->state[1];
    const double before = (1.0 - rod->theta) * part * dt, after = rod->theta * part * dt;
    double fall = 2.0 * length; // m: no point of the rod goes farther than that beside its root
    if (rod->root_end.motion != NULL || rod->tip_end.motion != NULL || rod->row_count > 0) {
        return false;
    }
    for (int k = 0; k < rod->load_count; k++) {
        if (fil_norm3(rod->loads[k].torque) > 0.0) {
            return false;
        }
    }
    if (data->root == 6) {
        fall += before * fil_norm3(data->root_rate) + after * fil_norm3(velocity);
    }
    for (int k = 0; k < data->kappas; k++) {
        data->kappa[k] += before * data->rate[k] + after * velocity[data->root + k];
    }
    for (int i = 0; i < rod->element_count; i++) {
        fil_reduced_add_elastic(rod, i, &energy);
    }
    memcpy(data->kappa, rod->saved + FIL_ROD_STATE + 18, sizeof(double) * (size_t)data->kappas);
    const double room = start->kinetic + start->elastic + work + 2.0 * fall * start->pull;
    const double size = start->kinetic + start->elastic + fabs(work);
    return energy.bend + energy.twist > room + 0.01 * size;
}

// A rod that rests under large loads, up to round-off, but whose step is flawed by it, stays where
// it is. False when it does not rest, is driven, or free: then loads move it.
static bool keep_at_rest(FilRod *rod, double dt, const FilReducedWhole *start) {
    FilReduced *data = fil_reduced(rod);
    const double fastest = fmax(start->kinetic, data->whole.kinetic);
    if (!start->sane || fil_reduced_is_free(rod) || rod->push != NULL ||
        rod->root_end.motion != NULL || rod->tip_end.motion != NULL ||
        !(fastest <= noise * find_size(rod, start))) {
        return false;
    }
    memcpy(rod->state, rod->saved, sizeof(double) * (size_t)rod->state_count);
    rod->state[0] += dt;
    fil_reduced_stop(rod);
    data->measured = false;
    data->flaw = 0.0;
    return true;
}

// A step that is taken back anyway: nothing but time goes on.
static void skip_step(FilRod *rod, double dt, double flaw) {
    fil_reduced(rod)->flaw = flaw;
    rod->state[0] += dt;
}

// A step that bends the rod by more than there is energy for is too long; less of it is not: A is
// positive, so that v+ leads downhill from where v = 0. It is cut until it can be paid for, unless
// a shorter one is tried anyway: then it is not taken.
void fil_reduced_advance(FilRod *rod, double dt, const double *velocity) {
    FilReduced *data = fil_reduced(rod);
    if (!data->measured || data->revision != rod->revision) {
        fil_reduced_measure(rod, &data->whole);
    }
    const FilReducedWhole start = data->whole;
    find_mean(rod, velocity, rod->trial);
    double part = fil_reduced_find_part(rod, dt, rod->trial);
    if (rod->tentative && 1.0 - part > FIL_ROD_HARMLESS) {
        skip_step(rod, dt, 1.0 - part);
        return;
    }
    for (int k = 0;; k++) {
        const double work = find_work(rod, part, velocity);
        const bool far = k < MAX_CUTS && bends_too_far(rod, dt, part, velocity, work, &start);
        const bool last = k == MAX_CUTS || rod->tentative;
        if (far && rod->tentative) {
            skip_step(rod, dt, 1.0);
            return;
        }
        if (!far) {
            move_on(rod, dt, part, velocity);
            data->flaw = fil_reduced_recover(rod, dt, part, work, &start);
            if (data->flaw <= 1.0 || last) {
                break;
            }
            memcpy(rod->state, rod->saved, sizeof(double) * (size_t)rod->state_count);
            fil_reduced_refresh(rod);
        }
        part *= k < 3 ? 0.5 : ldexp(1.0, -(1 << (k - 1)));
    }
    data->flaw = fmax(data->flaw, 1.0 - part);
    if (data->flaw > FIL_ROD_HARMLESS && keep_at_rest(rod, dt, &start)) {
        return;
    }
    if (data->flaw > most_lost && rod->shortest && rod->push == NULL) {
        retry_in_space(rod, dt, &start);
    }
    if (fil_rod_find_astray(rod) > astray) {
        data->flaw = fmax(data->flaw, 1.0);
    }
}
