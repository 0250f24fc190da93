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

#include <float.h>
#include <string.h>

#include "math/vec3.h"

static const double coarsest = 1e-3; // grain of places, of the shortest element

void fil_rod_add_wrench(const double about[3], const double place[3], const double force[3],
                        const double moment[3], double sum[2][3]) {
    double arm[3], turned[3];
    fil_subtract3(place, about, arm);
    fil_cross3(arm, force, turned);
    fil_add3(1.0, force, sum[0]);
    fil_add3(1.0, turned, sum[1]);
    fil_add3(1.0, moment, sum[1]);
}

double fil_rod_strain_noise(const FilRod *rod, const double x[3]) {
    const double place = 8.0 * DBL_EPSILON * (fil_norm3(x) + rod->state[1]);
    double sum = 0.0;
    for (int i = 0; i < rod->element_count; i++) {
        sum += 0.5 * rod->sections[i].stretch * place * place / rod->lengths[i];
    }
    return sum;
}

bool fil_rod_is_resolved(const FilRod *rod, const double x[3]) {
    double shortest = rod->lengths[0];
    for (int i = 1; i < rod->element_count; i++) {
        shortest = fmin(shortest, rod->lengths[i]);
    }
    return DBL_EPSILON * fil_norm3(x) <= coarsest * shortest;
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

void fil_rod_find_reactions(const FilRod *rod, const FilRodPast *past, double force[2][3],
                            double moment[2][3]) {
    const FilRodEnd *ends[2] = {&rod->root_end, &rod->tip_end};
    const bool held[2] = {ends[0]->kind != FIL_END_FREE, ends[1]->kind != FIL_END_FREE};
    const int last = held[0] ? 0 : 1; // the end that has what is left
    FilPose poses[2];
    double sum[2][3] = {{0.0}};
    memset(force, 0, 6 * sizeof(double));
    memset(moment, 0, 6 * sizeof(double));
    if (!held[0] && !held[1]) {
        return;
    }
    fil_rod_at(rod, 0.0, &poses[0], NULL);
    fil_rod_at(rod, rod->state[1], &poses[1], NULL);
    sum_up(rod, past, poses[last].position, sum);
    if (held[0] && held[1]) {
        rod->table->tip_reaction(rod, past, force[1], moment[1]);
        keep_what_is_held(rod, ends[1], force[1], moment[1]);
        fil_rod_add_wrench(poses[0].position, poses[1].position, force[1], moment[1], sum);
    }
    fil_add3(-1.0, sum[0], force[last]);
    fil_add3(-1.0, sum[1], moment[last]);
    keep_what_is_held(rod, ends[last], force[last], moment[last]);
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
    double forces[2][3], moments[2][3];
    fil_rod_find_reactions(rod, &past, forces, moments);
    fil_copy3(forces[tip ? 1 : 0], force);
    fil_copy3(moments[tip ? 1 : 0], moment);
}
