// body.c - rods and rigid bodies as the world sees them: see body.h.
#include "body.h"

#include <float.h>
#include <string.h>

#include "math/band.h"
#include "math/cholesky.h"
#include "math/vector.h"
#include "rigid/rigid.h"
#include "rod/held.h"

// --- rods ----------------------------------------------------------------------------------------

static void rod_begin(void *self) {
    FilRod *rod = self;
    if (rod->table->forget != NULL) {
        rod->table->forget(rod);
    }
}

static void rod_prepare(void *self, double dt, const double *guess, double *free_velocity) {
    (void)fil_rod_prepare_held(self, dt, guess, free_velocity);
}

static bool rod_correct(void *self, double dt, const double *velocity, const double *push,
                        double *free_velocity) {
    return fil_rod_correct_held(self, dt, velocity, push, free_velocity);
}

static void rod_solve(const void *self, int count, double *x) {
    fil_rod_solve_held(self, count, x);
}

static bool rod_solve_columns(const void *self, int count, double *x) {
    return fil_rod_solve_held_columns(self, count, x);
}

enum { DENSE_DOFS = 240 }; // of rods that know only P: so many velocities are few

// Rows that hold ends make P singular.
static int rod_matrix_width(const void *self) {
    const FilRod *rod = self;
    const double *factors;
    if (rod->row_count > 0) {
        return -1;
    }
    return rod->table->factors != NULL    ? rod->table->factors(rod, &factors)
           : rod->dof_count <= DENSE_DOFS ? rod->dof_count - 1
                                          : -1;
}

// The inverse of P, which the rod has by its products alone. Round-off counts as often as P is
// badly conditioned; Newton's steps, for which this is, bear it.
static void invert_solution(const FilRod *rod, double *band, double *work) {
    const int n = rod->dof_count;
    int first[DENSE_DOFS];
    double *x = work + (ptrdiff_t)n * n;
    memset(work, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        work[(ptrdiff_t)i * (n + 1)] = 1.0;
    }
    fil_rod_solve_held(rod, n, work);
    fil_cholesky_factor_raised(n, work, first, DBL_EPSILON);
    for (int i = 0; i < n; i++) {
        memset(x, 0, sizeof(double) * (size_t)n);
        x[i] = 1.0;
        fil_cholesky_solve(n, work, first, x);
        memset(band + (ptrdiff_t)i * n, 0, sizeof(double) * (size_t)n);
        memcpy(band + (ptrdiff_t)i * n, x + i, sizeof(double) * (size_t)(n - i));
    }
}

static void rod_matrix(const void *self, double *band, double *work) {
    const FilRod *rod = self;
    const double *factors;
    if (rod->table->factors == NULL) {
        invert_solution(rod, band, work);
        return;
    }
    const int width = rod->table->factors(rod, &factors);
    fil_band_restore(rod->dof_count, width, factors, band);
}

static bool rod_free_step(void *self, double dt, double *velocity) {
    FilRod *rod = self;
    FilRodStepInfo info;
    fil_rod_find_velocity(rod, dt, &info);
    memcpy(velocity, rod->velocity, sizeof(double) * (size_t)rod->dof_count);
    return info.converged;
}

static bool rod_advance(void *self, double dt, const double *velocity, const FilPush *push) {
    return fil_rod_take_step(self, dt, velocity, push, NULL) == FIL_OK;
}

static void rod_get_velocity(const void *self, double *velocity) {
    const FilRod *rod = self;
    rod->table->get_velocity(rod, velocity);
}

static void rod_stop(void *self) {
    FilRod *rod = self;
    rod->table->stop(rod);
}

static double rod_get_time(const void *self) {
    return fil_rod_time(self);
}

static void rod_set_time(void *self, double time) {
    FilRod *rod = self;
    rod->state[0] = time;
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
    .begin = rod_begin,
    .prepare = rod_prepare,
    .correct = rod_correct,
    .solve = rod_solve,
    .solve_columns = rod_solve_columns,
    .matrix_width = rod_matrix_width,
    .matrix = rod_matrix,
    .free_step = rod_free_step,
    .advance = rod_advance,
    .get_velocity = rod_get_velocity,
    .stop = rod_stop,
    .get_time = rod_get_time,
    .set_time = rod_set_time,
    .move = rod_move,
    .energy = rod_energy,
    .state_count = rod_state_count,
    .get_state = rod_get_state,
    .set_state = rod_set_state,
};

// --- rigid bodies --------------------------------------------------------------------------------

static void rigid_prepare(void *self, double dt, const double *guess, double *free_velocity) {
    (void)guess; // linear
    fil_rigid_prepare(self, dt, NULL, free_velocity);
    fil_rigid_solve(self, free_velocity);
}

static void rigid_solve(const void *self, int count, double *x) {
    for (int k = 0; k < count; k++) {
        fil_rigid_solve(self, x + FIL_RIGID_DOF * (ptrdiff_t)k);
    }
}

static int rigid_matrix_width(const void *self) {
    (void)self;
    return FIL_RIGID_DOF - 1;
}

// NOLINTNEXTLINE(readability-non-const-parameter): as all bodies have it
static void rigid_matrix(const void *self, double *band, double *work) {
    const FilRigid *rigid = self;
    (void)work;
    memset(band, 0, sizeof(double) * FIL_RIGID_DOF * FIL_RIGID_DOF);
    for (int i = 0; i < 3; i++) {
        band[FIL_RIGID_DOF * i] = rigid->mass;
        for (int j = i; j < 3; j++) {
            band[FIL_RIGID_DOF * (3 + i) + j - i] = rigid->inertia[3 * i + j];
        }
    }
}

static bool rigid_free_step(void *self, double dt, double *velocity) {
    rigid_prepare(self, dt, NULL, velocity);
    return true;
}

static bool rigid_advance(void *self, double dt, const double *velocity, const FilPush *push) {
    (void)push;
    double state[FIL_RIGID_STATE];
    fil_rigid_advance(self, dt, velocity);
    fil_rigid_get_state(self, state);
    return fil_all_finite(state, FIL_RIGID_STATE);
}

static void rigid_get_velocity(const void *self, double *velocity) {
    const FilRigid *rigid = self;
    memcpy(velocity, rigid->velocity, sizeof rigid->velocity);
}

static void rigid_stop(void *self) {
    FilRigid *rigid = self;
    memset(rigid->velocity, 0, sizeof rigid->velocity);
}

static double rigid_get_time(const void *self) {
    (void)self;
    return 0.0;
}

static void rigid_set_time(void *self, double time) {
    (void)self; // it has no clock
    (void)time;
}

static void rigid_move(void *self, const double *dx) {
    FilRigid *rigid = self;
    fil_rigid_move(rigid, dx);
}

static void rigid_energy(const void *self, FilRodEnergy *energy) {
    FilRigidEnergy own;
    fil_rigid_energy(self, &own);
    energy->kinetic = own.translation + own.rotation;
    energy->gravity = own.gravity;
}

static int rigid_state_count(const void *self) {
    (void)self;
    return FIL_RIGID_STATE;
}

static void rigid_get_state(const void *self, double *state) {
    fil_rigid_get_state(self, state);
}

static void rigid_set_state(void *self, const double *state) {
    // a state that the body itself gave is never refused
    FilStatus status = fil_rigid_set_state(self, state, NULL);
    (void)status;
}

const FilBodyTable fil_body_rigid = {
    .prepare = rigid_prepare,
    .solve = rigid_solve,
    .matrix_width = rigid_matrix_width,
    .matrix = rigid_matrix,
    .free_step = rigid_free_step,
    .advance = rigid_advance,
    .get_velocity = rigid_get_velocity,
    .stop = rigid_stop,
    .get_time = rigid_get_time,
    .set_time = rigid_set_time,
    .move = rigid_move,
    .energy = rigid_energy,
    .state_count = rigid_state_count,
    .get_state = rigid_get_state,
    .set_state = rigid_set_state,
};
