// settle.c - the equilibrium of a world with friction.
//
// Implicit steps of dynamics that each begin at rest: A v+ = dt f + H^T r with A = M + dt^2 K,
// where the law holds on v+. What is left of the balance of forces at the end of the step is M v+ /
// dt: when v+ vanishes, forces and impulses balance and every contact lies within its cone. For
// large steps M is small beside dt^2 K and a step is one of Newton's method for the equilibrium; so
// steps grow as the motion calms down: a step goes about as far as bodies are thick, or less.
//
// Time stands still: each step ends at the present time and begins dt before it, so that what is
// driven is where it belongs at its end.
#include "sleep.h"

#include <math.h>

#include "base/error.h"
#include "effort.h"
#include "math/vec3.h"

static const double largest_step = 10.0, smallest_step = 1e-7; // s

FilSettleSettings fil_settle_settings_default(void) {
    return (FilSettleSettings){.tolerance = 1e-6, .max_steps = 10000};
}

static FilStatus check_settings(const FilSettleSettings *settings, FilError *error) {
    if (!(settings->tolerance > 0.0 && isfinite(settings->tolerance))) {
        return fil_fail(error, FIL_E_ARGUMENT, "tolerance is %g; it must be positive and finite",
                        settings->tolerance);
    }
    if (settings->max_steps < 1) {
        return fil_fail(error, FIL_E_ARGUMENT, "max_steps is %d; it must be at least 1",
                        settings->max_steps);
    }
    return FIL_OK;
}

static void set_clocks(FilWorld *world, double time) {
    world->time = time;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        body->table->set_time(body->self, time - body->late);
    }
}

static void stop_all(FilWorld *world) {
    for (int i = 0; i < world->body_count; i++) {
        world->bodies[i].table->stop(world->bodies[i].self);
    }
}

// How thick bodies are, about: the mean of their radii.
static double typical_size(const FilWorld *world) {
    double sum = 0.0;
    for (int i = 0; i < world->body_count; i++) {
        const FilBody *body = &world->bodies[i];
        sum += body->kind == FIL_BODY_ROD ? body->radius
                                          : 0.2 * world->pieces[body->first_piece].extent;
    }
    return sum / fmax(1.0, world->body_count);
}

// The speed whose kinetic energy all the mass would have.
static double typical_speed(const FilWorld *world, double mass) {
    FilRodEnergy energy;
    fil_world_energy(world, &energy);
    return mass > 0.0 ? sqrt(2.0 * energy.kinetic / mass) : 0.0;
}

FilStatus fil_world_settle(FilWorld *world, const FilSettleSettings *settings, FilSettleInfo *info,
                           FilError *error) {
    const FilSettleSettings defaults = fil_settle_settings_default();
    const FilSettleSettings *use = settings != NULL ? settings : &defaults;
    FIL_TRY(check_settings(use, error));
    FilSettleInfo unused = {0};
    FilSettleInfo *result = info != NULL ? info : &unused;
    *result = (FilSettleInfo){.residual = HUGE_VAL};
    double time = world->time, dt = world->def.step, mass = fil_world_mass(world);
    double gravity = fil_norm3(world->def.gravity), size = typical_size(world);
    fil_world_wake_all(world);
    world->thrifty_steps = world->thrifty_left = 0; // each step has all of the budget
    for (int i = 0; i < world->body_count; i++) {
        FilBody *body = &world->bodies[i];
        body->late = time - body->table->get_time(body->self);
    }
    stop_all(world);
    while (result->steps < use->max_steps) {
        FilStepInfo step = {.outcome = FIL_CONVERGED};
        bool taken;
        set_clocks(world, time - dt);
        const FilSpan span = {.end = time, .dt = dt, .share = dt / world->def.step};
        fil_effort_begin(world);
        const FilStatus status =
            fil_world_try_step(world, &span, dt <= smallest_step, &step, &taken, error);
        set_clocks(world, time);
        if (status == FIL_E_INTERRUPTED) { // the step was not taken
            result->converged = false;
            break;
        }
        FIL_TRY(status);
        result->steps++;
        if (!taken) {
            dt = fmax(0.25 * dt, smallest_step);
            continue;
        }
        double speed = typical_speed(world, mass);
        double residual = speed / dt / (gravity > 0.0 ? gravity : 1.0);
        stop_all(world);
        double factor = sqrt(size / fmax(speed * dt, 1e-6 * size));
        dt = fmin(dt * fmin(fmax(factor, 0.5), 1.5), largest_step);
        result->residual = residual;
        result->friction_residual = step.residual.scaled;
        result->contact_count = step.contact_count;
        result->active_count = step.active_count;
        result->converged = residual <= use->tolerance && step.outcome == FIL_CONVERGED;
        bool go_on = use->on_step == NULL || use->on_step(use->user, result->steps, residual);
        if (result->converged || !go_on) {
            break;
        }
    }
    return FIL_OK;
}
