// reduced_space.c - a step of a rod whose unknowns are curvatures, as implicit Euler in space.
//
// The step of reduced_step.c is linear in the rates of curvatures. Where loads throw a rod round by
// many radians in a step that says nothing: whatever part of it is taken, the rod has more energy
// than there was to have, and is held fast. In space inertia is linear however far the rod goes, so
// the place after the step is the minimum of
//     sum_k (m_k |x_k - (x + dt v)_k|^2 + dt c_k |x_k - x_k(0)|^2) / 2 + spin
//         + dt^2 (U(q+) + damping of the bends),
// m_k, c_k the mass and the drag of a few Gauss places of each element, U the energy of bending,
// gravity, loads and air. Sections that spin about their tangents go to the axes n1, n2 that they
// would have without torque: I/2 (2 - n1 . n1' - n2 . n2') each, I being their inertia; this is I/2
// times the square of a small angle, and bounded, since no more than half a turn can be seen.
//
// Newton's method, each step along
//     A = M + dt (drag) + dt (damping + dt) K + S,    M at q+,
// halved until the energy falls as it promises. S is what forces F of any direction give A
// (reduced_tension.c): the true stiffness, of either sign, would not let it lead downhill. The root
// is turned by one rotation after the other: added up, they would not lead downhill beyond 1 rad.
//
// The velocities afterwards are those nearest to (x - x(0)) / dt, by mass: the rod has them, and no
// more energy than they.
//
// Its price is up to twenty linear steps and more, and the damping of implicit Euler: it is for
// steps that would be lost else. Where a tip is held, or a torque acts (it has no energy), or an
// element is a coil (what is soft beside the loads takes too many steps), there is none. Tried:
// L-BFGS over four steps, for soft directions in which S is far too stiff; it gained nothing.
#include <float.h>
#include <string.h>

#include "math/rotation.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "reduced.h"

enum { PLACES = 3, CHUNK = 12, MAX_STEPS = 20, MAX_TRIES = 12 };
static const double gauss[PLACES][2] = { // where, and which part of the element counts there
    {0.11270166537925831, 5.0 / 18.0},
    {0.5, 4.0 / 9.0},
    {0.88729833462074169, 5.0 / 18.0}};
static const double settled = 1e-6;    // of what was gained: a step of Newton's that counts no more
static const double near = 1e-2;       // and what it may be at last
static const double promised = 1e-4;   // of what the slope promises: what has to come of it
static const double most_coil = 12.0;  // rad: of an element, beyond its natural shape
static const double most_wound = 40.0; // rad: of an element, in all; its sections cost by the turn
static const double most_turn = 1.5;   // rad: of the root in a step of Newton's

// What a place of the rod would do by itself.
typedef struct FilReducedGoal {
    FilRodPlace place;
    double mass, drag, inertia; // kg, N s/m, kg m^2
    double weight[3];           // N: with the push of the air
    double start[3], free[3];   // m: where it was, and would be
    double axis[2][3];          // n1, n2 as they would be
    double spin;                // rad/s: about the tangent
} FilReducedGoal;

struct FilReducedSpace {
    int count;
    double dt;
    double held[6];        // how the root moves, as far as it is held
    FilReducedGoal *goals; // [count]
    double *before;        // [kappas]: curvatures
    double *last;          // [state_count]: before a step of Newton's
    double *usual;         // [state_count]: after the usual step
    double *way;           // [dof_count]: that step
};

static bool reserve(FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    if (data->space != NULL) {
        return true;
    }
    FilReducedSpace *space = FIL_NEW_ZEROED(&rod->arena, FilReducedSpace, 1);
    if (space == NULL) {
        return false;
    }
    space->count = PLACES * rod->element_count;
    space->goals = FIL_NEW(&rod->arena, FilReducedGoal, space->count);
    space->before = FIL_NEW(&rod->arena, double, data->kappas);
    space->last = FIL_NEW(&rod->arena, double, rod->state_count);
    space->usual = FIL_NEW(&rod->arena, double, rod->state_count);
    space->way = FIL_NEW(&rod->arena, double, rod->dof_count);
    if (rod->arena.failed) {
        rod->arena.failed = false; // it can be done without
        return false;
    }
    data->space = space;
    return true;
}

// --- what each place would do --------------------------------------------------------------------

static void set_goal(const FilRod *rod, int k, FilReducedGoal *goal) {
    const int i = k / PLACES;
    const FilStiffness *section = &rod->sections[i];
    const double length = rod->lengths[i] * gauss[k % PLACES][1];
    FilPose pose;
    FilRate rate;
    double Q[9];
    goal->place = (FilRodPlace){i, gauss[k % PLACES][0]};
    goal->mass = section->mass * length;
    goal->drag = rod->drag * length;
    goal->inertia = section->spin_inertia * length;
    for (int c = 0; c < 3; c++) {
        const double air = rod->air_count > 0 ? rod->air[c] : 0.0;
        goal->weight[c] = goal->mass * rod->gravity[c] + length * air;
    }
    fil_reduced_at(rod, i, goal->place.u, &pose, &rate);
    const double dt = fil_reduced(rod)->space->dt;
    const double turn[3] = {dt * rate.spin[0], dt * rate.spin[1], dt * rate.spin[2]};
    fil_rotation_exp(turn, Q);
    fil_copy3(pose.position, goal->start);
    fil_copy3(pose.position, goal->free);
    fil_add3(dt, rate.velocity, goal->free);
    fil_apply3(Q, pose.axis[1], goal->axis[0]);
    fil_apply3(Q, pose.axis[2], goal->axis[1]);
    goal->spin = fil_dot3(rate.spin, pose.axis[0]);
}

// The start of the search: a rod that is free goes on as its centre does, all else stays.
static void start_search(FilRod *rod, double dt) {
    FilReduced *data = fil_reduced(rod);
    FilReducedSpace *space = data->space;
    double way[3] = {0.0}, mass = 0.0;
    for (int k = 0; k < space->count; k++) {
        const FilReducedGoal *goal = &space->goals[k];
        fil_add3(goal->mass, goal->free, way);
        fil_add3(-goal->mass, goal->start, way);
        mass += goal->mass;
    }
    memcpy(space->before, data->kappa, sizeof(double) * (size_t)data->kappas);
    fil_reduced_follow_root(rod, dt);
    memcpy(space->held, data->root_rate, sizeof space->held);
    if (data->root == 6) {
        fil_add3(1.0 / mass, way, data->root_place);
    }
    memset(data->root_rate, 0, 6 * sizeof(double));
    memset(data->rate, 0, sizeof(double) * (size_t)data->kappas);
    fil_reduced_refresh(rod);
}

// --- what is minimised ---------------------------------------------------------------------------

// A force and a torque on a section, added to what acts on its element.
static void add_force(FilReduced *data, int element, const FilReducedSection *section,
                      const double force[3], const double torque[3]) {
    const size_t i = (size_t)element, d = (size_t)data->d;
    double *h = data->h + (6 + d) * i, f[3], w[3], arm[3];
    fil_apply_transposed3(data->frame + 9 * i, force, f);
    fil_apply_transposed3(data->frame + 9 * i, torque, w);
    fil_cross3(section->place, f, arm);
    fil_add3(1.0, f, h);
    fil_add3(1.0, f, data->pull + 3 * i);
    fil_add3(1.0, arm, h + 3);
    fil_add3(1.0, w, h + 3);
    for (size_t a = 0; a < d; a++) {
        h[6 + a] += fil_dot3(section->travel[a], f) + fil_dot3(section->theta[a], w);
    }
}

// The energy of a place, times dt^2, and its force.
static double look_at_place(FilReduced *data, double dt, const FilReducedGoal *goal,
                            const FilReducedSection *section) {
    const size_t i = (size_t)goal->place.element;
    double x[3], off[3], way[3], force[3], torque[3] = {0.0}, axes[9], energy;
    fil_apply3(data->frame + 9 * i, section->place, x);
    fil_add3(1.0, data->place + 3 * i, x);
    fil_subtract3(x, goal->free, off);
    fil_subtract3(x, goal->start, way);
    energy = 0.5 * (goal->mass * fil_dot3(off, off) + dt * goal->drag * fil_dot3(way, way)) -
             dt * dt * fil_dot3(goal->weight, way);
    for (int c = 0; c < 3; c++) {
        force[c] = dt * dt * goal->weight[c] - goal->mass * off[c] - dt * goal->drag * way[c];
    }
    fil_multiply3(data->frame + 9 * i, section->turn, axes);
    for (int k = 0; k < 2; k++) {
        const double axis[3] = {axes[1 + k], axes[4 + k], axes[7 + k]};
        double cross[3];
        fil_cross3(axis, goal->axis[k], cross);
        fil_add3(0.5 * goal->inertia, cross, torque);
        energy += 0.5 * goal->inertia * (1.0 - fil_dot3(axis, goal->axis[k]));
    }
    add_force(data, goal->place.element, section, force, torque);
    return energy;
}

// Energy of bending, and what damping it takes.
static double find_elastic(const FilRod *rod) {
    const FilReduced *data = fil_reduced(rod);
    const FilReducedSpace *space = data->space;
    FilRodEnergy energy = {0};
    double change[6], resist[6], sum = 0.0;
    for (int i = 0; i < rod->element_count; i++) {
        fil_reduced_add_elastic(rod, i, &energy);
        for (int a = 0; a < data->d; a++) {
            change[a] = data->kappa[3 * i + a] - space->before[3 * i + a];
        }
        fil_reduced_stiffen(rod, i, change, resist);
        sum += fil_dot(change, resist, data->d);
    }
    return space->dt * (space->dt * (energy.bend + energy.twist) + 0.5 * rod->damping * sum);
}

// What is minimised, at the present state; the mass matrix and the forces are ready afterwards.
static double look(const FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    const FilReducedSpace *space = data->space;
    const double dt = space->dt;
    FilReducedSection sections[CHUNK];
    FilRodPlace places[CHUNK];
    fil_reduced_pass(rod, &(FilReducedPass){.drag = dt, .moving = true, .sums = true});
    if (!data->sane) {
        return DBL_MAX;
    }
    double sum = find_elastic(rod);
    for (int first = 0; first < space->count; first += CHUNK) {
        const int count = space->count - first < CHUNK ? space->count - first : CHUNK;
        for (int k = 0; k < count; k++) {
            places[k] = space->goals[first + k].place;
        }
        fil_reduced_sections(rod, places, count, sections);
        for (int k = 0; k < count; k++) {
            sum += look_at_place(data, dt, &space->goals[first + k], &sections[k]);
        }
    }
    for (int k = 0; k < rod->load_count - rod->air_count; k++) {
        FilPose pose;
        double u;
        const int i = fil_rod_locate(rod, rod->loads[k].s, &u);
        fil_reduced_at(rod, i, u, &pose, NULL);
        sum -= dt * dt * fil_dot3(rod->loads[k].force, pose.position);
        fil_reduced_add_load(rod, dt * dt, &rod->loads[k]);
    }
    return sum;
}

// --- the search ----------------------------------------------------------------------------------

static void factor(const FilRod *rod, double stiff) {
    if (fil_reduced(rod)->recursive) {
        fil_recursive_factor(rod, stiff);
    } else {
        fil_composite_factor(rod, stiff);
    }
}

static void solve(const FilRod *rod, double *x) {
    if (fil_reduced(rod)->recursive) {
        fil_recursive_solve(rod, x);
    } else {
        fil_composite_solve(rod, x);
    }
}

// The step of Newton's method; returns the slope along it.
static double find_way(const FilRod *rod) {
    const FilReduced *data = fil_reduced(rod);
    const FilReducedSpace *space = data->space;
    const double dt = space->dt;
    double elastic[6], change[6], resist[6], *force = data->forces;
    fil_reduced_brace(rod);
    fil_reduced_gather(rod, force);
    for (int i = 0; i < rod->element_count; i++) {
        fil_reduced_elastic(rod, i, elastic);
        for (int a = 0; a < data->d; a++) {
            change[a] = data->kappa[3 * i + a] - space->before[3 * i + a];
        }
        fil_reduced_stiffen(rod, i, change, resist);
        for (int a = 0; a < data->d; a++) {
            force[data->root + 3 * i + a] -= dt * (dt * elastic[a] + rod->damping * resist[a]);
        }
    }
    factor(rod, dt * (dt + rod->damping));
    memcpy(space->way, force, sizeof(double) * (size_t)rod->dof_count);
    solve(rod, space->way);
    return fil_dot(force, space->way, rod->dof_count);
}

// Go along the way as far as it leads down: `energy`, the present one, becomes what was found.
// False when it does not.
static bool go_down(FilRod *rod, double slope, double *energy) {
    FilReduced *data = fil_reduced(rod);
    FilReducedSpace *space = data->space;
    double part = fil_reduced_find_part(rod, 1.0, space->way);
    const double turn = data->root > 0 ? fil_norm3(space->way + data->root - 3) : 0.0;
    part = turn * part > most_turn ? most_turn / turn : part;
    memcpy(space->last, rod->state, sizeof(double) * (size_t)rod->state_count);
    for (int k = 0; k < MAX_TRIES; k++) {
        for (int j = 0; j < rod->dof_count; j++) {
            rod->trial[j] = part * space->way[j];
        }
        fil_reduced_shift(rod, rod->trial);
        const double found = look(rod), fall = *energy - found;
        if (fall >= promised * part * slope) {
            *energy = found;
            return true;
        }
        memcpy(rod->state, space->last, sizeof(double) * (size_t)rod->state_count);
        part *= fmin(0.5, fmax(0.1, 0.5 * part * slope / (part * slope - fall)));
    }
    fil_reduced_refresh(rod);
    return false;
}

static bool search(FilRod *rod, double noise) {
    double energy = look(rod), gained = 0.0, slope = 0.0;
    for (int k = 0; k < MAX_STEPS; k++) {
        const double before = energy;
        slope = find_way(rod);
        if (slope <= settled * (gained + slope) + noise) {
            return true;
        }
        if (!go_down(rod, slope, &energy)) {
            break;
        }
        gained += before - energy;
    }
    return slope <= near * gained;
}

// --- velocities ----------------------------------------------------------------------------------

// What a place does, less what the root makes it do, as momentum.
static void add_momentum(const FilRod *rod, const FilReducedGoal *goal,
                         const FilReducedSection *section) {
    FilReduced *data = fil_reduced(rod);
    const FilReducedSpace *space = data->space;
    const size_t i = (size_t)goal->place.element;
    double x[3], arm[3], carried[3], p[3], axes[9], cross[3] = {0.0}, along = 0.0;
    fil_apply3(data->frame + 9 * i, section->place, x);
    fil_add3(1.0, data->place + 3 * i, x);
    fil_subtract3(x, data->root_place, arm);
    fil_cross3(space->held + 3, arm, carried);
    fil_add3(1.0, space->held, carried);
    for (int c = 0; c < 3; c++) {
        p[c] = goal->mass * ((x[c] - goal->start[c]) / space->dt - carried[c]);
    }
    fil_multiply3(data->frame + 9 * i, section->turn, axes);
    const double t[3] = {axes[0], axes[3], axes[6]};
    for (int k = 0; k < 2; k++) {
        const double axis[3] = {axes[1 + k], axes[4 + k], axes[7 + k]};
        double ahead[3];
        fil_cross3(axis, goal->axis[k], ahead);
        fil_add3(1.0, ahead, cross);
        along += fil_dot3(axis, goal->axis[k]);
    }
    const double lag = atan2(fil_dot3(cross, t), along); // rad: the goal is ahead by so much
    const double spin = goal->spin - lag / space->dt - fil_dot3(space->held + 3, t);
    const double turning[3] = {goal->inertia * spin * t[0], goal->inertia * spin * t[1],
                               goal->inertia * spin * t[2]};
    add_force(data, goal->place.element, section, p, turning);
}

static void find_velocities(FilRod *rod) {
    FilReduced *data = fil_reduced(rod);
    const FilReducedSpace *space = data->space;
    double *v = space->way;
    fil_reduced_pass(rod, &(FilReducedPass){.moving = true, .sums = true});
    for (int k = 0; k < space->count; k++) {
        FilReducedSection section;
        const FilReducedGoal *goal = &space->goals[k];
        fil_reduced_section(rod, goal->place.element, goal->place.u, &section);
        add_momentum(rod, goal, &section);
    }
    fil_reduced_gather(rod, v);
    factor(rod, 0.0);
    solve(rod, v);
    memcpy(data->root_rate, space->held, sizeof space->held);
    memcpy(data->root_rate + 6 - data->root, v, sizeof(double) * (size_t)data->root);
    // what the mass hardly knows is no more than a step can go on with
    const double part = fil_reduced_find_part(rod, space->dt, v);
    for (int k = 0; k < data->kappas; k++) {
        data->rate[k] = part * v[data->root + k];
    }
    fil_reduced_refresh(rod);
}

// Whether an element is wound up by too much, beyond its natural shape or in all.
static bool is_coil(const FilRod *rod, int i) {
    const FilReduced *data = fil_reduced(rod);
    const double *natural = rod->natural + 6 * (size_t)i, *kappa = data->kappa + 3 * (size_t)i;
    double own = 0.0, now = 0.0;
    for (int a = 0; a < data->d; a += 3) {
        own = fmax(own, fil_norm3(natural + a));
        now = fmax(now, fil_norm3(kappa + a));
    }
    return rod->lengths[i] * (now - own) > most_coil || rod->lengths[i] * now > most_wound;
}

// Whether all that acts on the rod has an energy, and none of it is a coil.
static bool is_known(const FilRod *rod) {
    for (int i = 0; i < rod->element_count; i++) {
        if (is_coil(rod, i)) {
            return false;
        }
    }
    for (int k = 0; k < rod->load_count; k++) {
        if (fil_norm3(rod->loads[k].torque) > 0.0) {
            return false;
        }
    }
    return rod->row_count == 0;
}

bool fil_reduced_enter_space(FilRod *rod) {
    if (!is_known(rod) || !reserve(rod)) {
        return false;
    }
    double *usual = fil_reduced(rod)->space->usual;
    memcpy(usual, rod->state, sizeof(double) * (size_t)rod->state_count);
    return true;
}

void fil_reduced_leave_space(FilRod *rod) {
    const double *usual = fil_reduced(rod)->space->usual;
    memcpy(rod->state, usual, sizeof(double) * (size_t)rod->state_count);
    fil_reduced_refresh(rod);
}

bool fil_reduced_step_in_space(FilRod *rod, double dt, double noise) {
    FilReduced *data = fil_reduced(rod);
    data->space->dt = dt;
    for (int k = 0; k < data->space->count; k++) {
        set_goal(rod, k, &data->space->goals[k]);
    }
    start_search(rod, dt);
    const bool found = search(rod, dt * dt * noise);
    find_velocities(rod);
    rod->state[0] += dt;
    return found;
}
