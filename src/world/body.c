// body.c - rods and rigid bodies as the world sees them: see body.h.
#include "body.h"

#include <string.h>

#include "math/vector.h"
#include "rod/held.h"

static void rod_prepare(void *self, double dt, const double *guess, double *free_velocity) {
    (void)fil_rod_prepare_held(self, dt, guess, free_velocity);
}

static void rod_solve(const void *self, int count, double *x) {
    fil_rod_solve_held(self, count, x);
}

static bool rod_free_step(void *self, double dt, double *velocity) {
    FilRod *rod = self;
    FilRodStepInfo info;
    fil_rod_find_velocity(rod, dt, &info);
    memcpy(velocity, rod->velocity, sizeof(double) * (size_t)rod->dof_count);
    return info.converged;
}

static bool rod_advance(void *self, double dt, const double *velocity) {
    return fil_rod_take_step(self, dt, velocity, NULL) == FIL_OK;
}

static void rod_get_velocity(const void *self, double *velocity) {
    const FilRod *rod = self;
    rod->table->get_velocity(rod, velocity);
}

static void rod_move(void *self, const double *dx) {
    FilRod *rod = self;
    rod->table->move(rod, dx);
}

static void rod_energy(const void *self, FilRodEnergy *energy) {
    fil_rod_energy(self, energy);
}

static int rod_state_count(const void *self) {
    return fil_rod_state_count(self);
}

static void rod_get_state(const void *self, double *state) {
    fil_rod_get_state(self, state);
}

static void rod_set_state(void *self, const double *state) {
    // a state that the rod itself gave is never refused
    FilStatus status = fil_rod_set_state(self, state, NULL);
    (void)status;
}

const FilBodyTable fil_body_rod = {
    .prepare = rod_prepare,
    .solve = rod_solve,
    .free_step = rod_free_step,
    .advance = rod_advance,
    .get_velocity = rod_get_velocity,
    .move = rod_move,
    .energy = rod_energy,
    .state_count = rod_state_count,
    .get_state = rod_get_state,
    .set_state = rod_set_state,
};
