#ifndef FIL_WORLD_BODY_H
#define FIL_WORLD_BODY_H

// A body as the world sees it: a table of functions. Rods of all models and rigid bodies are
// bodies; obstacles are not, for nothing moves them.
//
// A body has `dof_count` velocities. In a step it obeys v+ = v_free + P (impulses), P symmetric and
// positive semi-definite; impulses and velocities of a place come together through the Jacobian of
// that place. A place is a piece of the body and a fraction of it: rods are made of pieces
// (capsules between two sections), a rigid body is one.

#include "filum/world.h"
#include "rod/rod.h"

typedef struct FilBodyTable {
    /// A step begins: what was prepared before does not count. NULL: it never does.
    void (*begin)(void *self);
    /// Make the step of `dt` seconds ready, linearised at the velocity `guess`, and write v_free.
    void (*prepare)(void *self, double dt, const double *guess, double *free_velocity);
    /// The velocity found is another one than prepare() took it for, because of the impulses
    /// `push`: correct v_free for the same P. False where there is nothing to correct. NULL: never.
    bool (*correct)(void *self, double dt, const double *velocity, const double *push,
                    double *free_velocity);
    /// x <- P x for `count` vectors, one after the other.
    void (*solve)(const void *self, int count, double *x);
    /// The same for the columns of x, [dof_count][count]. False, and nothing done, where that is no
    /// faster. NULL: never.
    bool (*solve_columns)(const void *self, int count, double *x);
    /// P^-1 where it is a band matrix at hand, or small: its half-width, or -1; and the matrix
    /// itself, where that is not -1: row i holds the columns i .. i + width,
    /// [dof_count][width + 1]. `work` has room for as much, and for a row.
    int (*matrix_width)(const void *self);
    void (*matrix)(const void *self, double *band, double *work);
    /// The step without contacts, as exactly as the body can. False when it did not converge.
    bool (*free_step)(void *self, double dt, double *velocity);
    /// Take the step with the velocity of its end, to which something may have pushed it.
    /// False when it leaves the range of numbers.
    bool (*advance)(void *self, double dt, const double *velocity, const FilPush *push);
    void (*get_velocity)(const void *self, double *velocity);
    /// All velocities to 0.
    void (*stop)(void *self);
    /// The clock, of bodies that have one; others are at 0.
    double (*get_time)(const void *self);
    void (*set_time)(void *self, double time);
    /// Move the configuration along dx; velocities stay.
    void (*move)(void *self, const double *dx);
    void (*energy)(const void *self, FilRodEnergy *energy);
    int (*state_count)(const void *self);
    void (*get_state)(const void *self, double *state);
    void (*set_state)(void *self, const double *state);
} FilBodyTable;

extern const FilBodyTable fil_body_rod, fil_body_rigid;

#endif
