// whole.c - a rod as a whole: its momentum, and what holds its ends.
//
// What holds the ends, the reactions, follows from the balance of the rod as one piece. With P and
// L its linear and angular momentum, about a place that is fixed,
//     root + tip = dP/dt - (gravity, drag, loads, pushes),
// and the same for moments. Inside forces, elastic ones and damping, have no part in it, so that it
// holds for every model and scheme to the residual of an equilibrium or of a step: (P+ - P) / dt of
// the last step is the mean of dP/dt over it. One held end has all of it. Where both are held the
// tip is known from the forces next to it (tip_reaction of the model), and the root has the rest.
#include "rod.h"

#include <string.h>

#include "math/vec3.h"

void fil_rod_add_wrench(const double about[3], const double place[3], const double force[3],
                        const double moment[3], double sum[2][3]) {
    double arm[3], turned[3];
    fil_subtract3(place, about, arm);
    fil_cross3(arm, force, turned);
    fil_add3(1.0, force, sum[0]);
    fil_add3(1.0, turned, sum[1]);
    fil_add3(1.0, moment, sum[1]);
}

static void add_load(const FilRod *rod, const double about[3], const FilRodLoad *load,
                     double sum[2][3]) {
    FilPose pose;
    fil_rod_at(rod, load->s, &pose, NULL);
    fil_rod_add_wrench(about, pose.position, load->force, load->torque, sum);
}

// All that acts on the rod but what holds it, less the change of momentum, about a place.
static void sum_up(const FilRod *rod, const FilRodPast *past, const double about[3],
                   double sum[2][3]) {
    FilRodLoad push;
    double now[2][3], before[2][3];
    rod->table->body_wrench(rod, about, sum[0], sum[1]);
    for (int k = 0; k < rod->load_count; k++) {
        add_load(rod, about, &rod->loads[k], sum);
    }
    while (past->next != NULL && past->next(past->context, &push)) {
        add_load(rod, about, &push, sum);
    }
    if (past->state == NULL) {
        return;
    }
    rod->table->momentum(rod, rod->state, about, now[0], now[1]);
    rod->table->momentum(rod, past->state, about, before[0], before[1]);
    for (int k = 0; k < 2; k++) {
        fil_add3(-1.0 / past->dt, now[k], sum[k]);
        fil_add3(1.0 / past->dt, before[k], sum[k]);
    }
}

// An end has what its kind can hold; the rest is the residual.
static void keep_what_is_held(const FilRod *rod, const FilRodEnd *end, double force[3],
                              double moment[3]) {
    FilPose held;
    if (end->kind == FIL_END_PINNED) {
        memset(moment, 0, 3 * sizeof *moment);
    }
    fil_rod_end_pose(rod, end, rod->state[0], &held);
    if (end->kind == FIL_END_SLIDING) {
        fil_add3(-fil_dot3(held.axis[0], force), held.axis[0], force);
    }
}

void fil_rod_find_reaction(const FilRod *rod, const FilRodPast *past, bool tip, double force[3],
                           double moment[3]) {
    const FilRodEnd *end = tip ? &rod->tip_end : &rod->root_end;
    const FilRodEnd *other = tip ? &rod->root_end : &rod->tip_end;
    const bool both = other->kind != FIL_END_FREE;
    FilPose here, there;
    double sum[2][3] = {{0.0}}, others[2][3];
    memset(force, 0, 3 * sizeof *force);
    memset(moment, 0, 3 * sizeof *moment);
    if (end->kind == FIL_END_FREE) {
        return;
    }
    if (tip && both) {
        rod->table->tip_reaction(rod, past, force, moment);
        keep_what_is_held(rod, end, force, moment);
        return;
    }
    fil_rod_at(rod, tip ? rod->state[1] : 0.0, &here, NULL);
    sum_up(rod, past, here.position, sum);
    if (both) {
        rod->table->tip_reaction(rod, past, others[0], others[1]);
        keep_what_is_held(rod, other, others[0], others[1]);
        fil_rod_at(rod, rod->state[1], &there, NULL);
        fil_rod_add_wrench(here.position, there.position, others[0], others[1], sum);
    }
    fil_add3(-1.0, sum[0], force);
    fil_add3(-1.0, sum[1], moment);
    keep_what_is_held(rod, end, force, moment);
}

void fil_rod_momentum(const FilRod *rod, const double about[3], double linear[3],
                      double angular[3]) {
    rod->table->momentum(rod, rod->state, about, linear, angular);
}

void fil_rod_reaction(const FilRod *rod, bool tip, double force[3], double moment[3]) {
    FilRodPast past = {.dt = rod->past_dt};
    if (rod->past_dt > 0.0 && rod->past_revision == rod->revision) {
        past.state = rod->saved;
    }
    fil_rod_find_reaction(rod, &past, tip, force, moment);
}
