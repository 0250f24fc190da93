// grab.c - a hand on a rod: a joint to a place in space that gives way, and slips.
//
// The hand pulls with F = -k e(t + dt) - c u, where e = p - target and u is the velocity of the
// place at the end of the step, unless that is more than F_max: then it pulls with F_max. As an
// impulse r = dt F, with e(t + dt) = e + dt u, that is
//     w = u + C r + f e / dt,    C = 1 / (dt (dt k + c)),    f = dt k / (dt k + c),
//     w = 0 where |r| < dt F_max, else |r| = dt F_max and w opposite to r:
// a ball block of the friction problem with the compliance C. So the spring is implicit: it is
// solved with contact and friction, at once, and stable however stiff it is or long the step.
//
// A target that is far away would pull for so long that the rod could not be stopped at it. So e
// counts up to e_max = 4 F_max / k. It then comes at 4 F_max / c at most, and begins to brake at
// such a distance e that the way to a halt, m v^2 / 2 F_max, is no longer: with c^2 = 4 k m, e =
// c v / k = 2 v sqrt(m / k), that is v <= 4 sqrt(m / k) F_max / m = 8 F_max / c.
//
// Turning is the same about the tangent, with the angle from the axis wanted, laid into the
// section, to n1. Its two other rows give way so much that they do nothing.
#include "world.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/vec3.h"
#include "sleep.h"

static const double pi = 3.14159265358979323846;
static const double quick = 0.02; // s: a hand that suits moves the rod in about this time
static const double weights =
    15.0;                          // the most it does, beside what folds the rod; on earth at least
static const double earth = 9.81;  // m/s^2
static const double longest = 4.0; // of a spring, in what the largest force makes it long
static const double loose = 1e6;   // the compliance of rows that do nothing, beside that of turning

static FilPlace place_of(const FilWorld *world, const FilGrab *grab) {
    FilPlace place = {.body = world->rods[grab->rod]};
    fil_world_place_on_rod(world, grab->part, &place);
    return place;
}

// --- making --------------------------------------------------------------------------------------

static FilStatus check_place(const FilWorld *world, int rod, double part, FilError *error) {
    if (rod < 0 || rod >= world->rod_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "rod is %d; there are %d", rod, world->rod_count);
    }
    if (!(part >= 0.0 && part <= 1.0)) {
        return fil_fail(error, FIL_E_ARGUMENT, "part is %g; it must be 0 to 1", part);
    }
    return FIL_OK;
}

// The mass of a rod, and of the rigid bodies that are joined to it.
static double mass_pulled(const FilWorld *world, int body) {
    double mass = fil_body_mass(&world->bodies[body]);
    for (int i = 0; i < world->joint_count; i++) {
        const FilJoint *joint = &world->joints[i];
        const bool ours = joint->a.body == body || joint->b.body == body;
        const int other = joint->a.body == body ? joint->b.body : joint->a.body;
        if (!joint->removed && ours && other >= 0 && world->bodies[other].kind == FIL_BODY_RIGID) {
            mass += fil_body_mass(&world->bodies[other]);
        }
    }
    return mass;
}

FilStatus fil_world_grab_make(const FilWorld *world, int rod, double part, FilGrab *grab,
                              FilError *error) {
    FIL_TRY(check_place(world, rod, part, error));
    const FilRod *of = world->bodies[world->rods[rod]].self;
    const double mass = mass_pulled(world, world->rods[rod]), g = fil_norm3(world->def.gravity);
    double inertia = 0.0, bend = 0.0, twist = 0.0;
    for (int e = 0; e < of->element_count; e++) {
        const FilStiffness *section = &of->sections[e];
        inertia += section->spin_inertia * of->start_lengths[e];
        bend = fmax(bend, fmax(section->kappa[1], section->kappa[2]));
        twist = fmax(twist, section->kappa[0]);
    }
    const double length = of->start_length;
    *grab = (FilGrab){.rod = rod, .part = part};
    grab->stiffness = mass / (quick * quick) + 48.0 * bend / (length * length * length);
    grab->damping = 2.0 * sqrt(grab->stiffness * mass);
    grab->turn_stiffness = inertia / (quick * quick) + 10.0 * twist / length;
    grab->turn_damping = 2.0 * sqrt(grab->turn_stiffness * inertia);
    grab->most_force = weights * mass * fmax(g, earth) + pi * pi * bend / (length * length);
    grab->most_torque = pi * grab->turn_stiffness;
    FilPlace place = place_of(world, grab);
    FilPose pose;
    fil_world_look_at(world, &place, NULL, &pose);
    fil_copy3(pose.position, grab->target);
    fil_copy3(pose.axis[1], grab->axis);
    return FIL_OK;
}

static FilStatus check_grab(const FilWorld *world, const FilGrab *grab, FilError *error) {
    FIL_TRY(check_place(world, grab->rod, grab->part, error));
    for (int k = 0; k < 3; k++) {
        if (!(fabs(grab->target[k]) <= 1e15)) {
            return fil_fail(error, FIL_E_ARGUMENT, "target[%d] is %g; it must be a place", k,
                            grab->target[k]);
        }
    }
    if (!(grab->stiffness > 0.0 && isfinite(grab->stiffness))) {
        return fil_fail(error, FIL_E_ARGUMENT, "stiffness is %g; it must be positive and finite",
                        grab->stiffness);
    }
    if (!(grab->damping >= 0.0 && isfinite(grab->damping))) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "damping is %g; it must be 0 or positive, and finite", grab->damping);
    }
    if (!(grab->turn_stiffness > 0.0 && isfinite(grab->turn_stiffness))) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "turn_stiffness is %g; it must be positive and finite",
                        grab->turn_stiffness);
    }
    if (!(grab->turn_damping >= 0.0 && isfinite(grab->turn_damping))) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "turn_damping is %g; it must be 0 or positive, and finite",
                        grab->turn_damping);
    }
    if (!(grab->most_force > 0.0 && isfinite(grab->most_force))) {
        return fil_fail(error, FIL_E_ARGUMENT, "most_force is %g; it must be positive and finite",
                        grab->most_force);
    }
    if (!(grab->most_torque > 0.0 && isfinite(grab->most_torque))) {
        return fil_fail(error, FIL_E_ARGUMENT, "most_torque is %g; it must be positive and finite",
                        grab->most_torque);
    }
    if (!(fil_norm3(grab->axis) > 0.0 && isfinite(fil_norm3(grab->axis)))) {
        return fil_fail(error, FIL_E_ARGUMENT, "axis has the length %g; it must be a direction",
                        fil_norm3(grab->axis));
    }
    return FIL_OK;
}

FilStatus fil_world_set_grab(FilWorld *world, const FilGrab *grab, FilError *error) {
    if (grab != NULL) {
        FIL_TRY(check_grab(world, grab, error));
    }
    if (world->grabbed) {
        fil_world_wake(world, FIL_BODY_ROD, world->grab.rod);
    }
    if (grab == NULL || !world->grabbed || grab->rod != world->grab.rod) {
        memset(world->grab_force, 0, sizeof world->grab_force);
        world->grab_torque = 0.0;
    }
    world->grabbed = grab != NULL;
    if (grab != NULL) {
        world->grab = *grab;
        fil_world_wake(world, FIL_BODY_ROD, grab->rod);
    }
    return FIL_OK;
}

const FilGrab *fil_world_grab(const FilWorld *world, double force[3], double *torque) {
    if (force != NULL) {
        fil_copy3(world->grab_force, force);
    }
    if (torque != NULL) {
        *torque = world->grab_torque;
    }
    return world->grabbed ? &world->grab : NULL;
}

bool fil_world_grab_place(const FilWorld *world, FilPlace *place) {
    if (world->grabbed) {
        *place = place_of(world, &world->grab);
    }
    return world->grabbed;
}

// --- in a step -----------------------------------------------------------------------------------

// Three rows along the axes of the world: the pull.
static FilWorkContact list_pull(const FilGrab *grab, const FilPlace *place, const FilPose *pose,
                                double dt) {
    FilWorkContact pull = {.a = *place,
                           .b = {.body = -1, .piece = place->piece},
                           .kind = FIL_BLOCK_BALL,
                           .mu = dt * grab->most_force,
                           .joint = -1,
                           .normal = {1.0, 0.0, 0.0},
                           .frame = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    const double sum = dt * grab->stiffness + grab->damping, part = dt * grab->stiffness / sum;
    fil_copy3(pose->position, pull.a.point);
    fil_copy3(pose->position, pull.b.point);
    double way[3];
    fil_subtract3(pose->position, grab->target, way);
    const double most = longest * grab->most_force / grab->stiffness;
    const double counts = fmin(1.0, most / fmax(fil_norm3(way), DBL_MIN));
    for (int k = 0; k < 3; k++) {
        pull.error[k] = part * counts * way[k];
        pull.soft[k] = 1.0 / (dt * sum);
    }
    return pull;
}

// The angle from the axis wanted, laid into the section, to n1. False: the axis is the tangent.
static bool find_angle(const FilGrab *grab, const FilPose *pose, double *angle) {
    double wanted[3], across[3];
    fil_copy3(grab->axis, wanted);
    fil_add3(-fil_dot3(grab->axis, pose->axis[0]), pose->axis[0], wanted);
    if (!(fil_norm3(wanted) > 1e-6 * fil_norm3(grab->axis))) {
        return false;
    }
    fil_cross3(wanted, pose->axis[1], across);
    *angle = atan2(fil_dot3(pose->axis[0], across), fil_dot3(wanted, pose->axis[1]));
    return true;
}

// One row about the tangent: the turn.
static FilWorkContact list_turn(const FilGrab *grab, const FilWorkContact *pull,
                                const FilPose *pose, double angle, double dt) {
    FilWorkContact turn = *pull;
    const double sum = dt * grab->turn_stiffness + grab->turn_damping;
    turn.turn = true;
    turn.mu = dt * grab->most_torque;
    fil_copy3(pose->axis[0], turn.normal);
    for (int k = 0; k < 3; k++) {
        fil_copy3(pose->axis[k], turn.frame + 3 * (ptrdiff_t)k);
        turn.error[k] = 0.0;
        turn.soft[k] = (k == 0 ? 1.0 : loose) / (dt * sum);
    }
    turn.error[0] = dt * grab->turn_stiffness / sum * angle;
    return turn;
}

int fil_world_list_grab(const FilWorld *world, double dt, FilWorkContact *out) {
    if (!world->grabbed || world->bodies[world->rods[world->grab.rod]].island != 0) {
        return 0;
    }
    const FilGrab *grab = &world->grab;
    const FilPlace place = place_of(world, grab);
    const FilRod *rod = world->bodies[place.body].self;
    FilPose pose;
    double angle;
    fil_world_look_at(world, &place, NULL, &pose);
    out[0] = list_pull(grab, &place, &pose, dt);
    if (!grab->turning || rod->model == FIL_ROD_CHAIN || !find_angle(grab, &pose, &angle)) {
        return 1;
    }
    out[1] = list_turn(grab, &out[0], &pose, angle, dt);
    return 2;
}

void fil_world_record_grab(FilWorld *world, const FilWorldTry *step) {
    memset(world->grab_force, 0, sizeof world->grab_force);
    world->grab_torque = 0.0;
    for (int i = 0; world->grabbed && i < step->contact_count; i++) {
        const FilWorkContact *contact = &step->contacts[i];
        const double *r = step->r + 3 * (ptrdiff_t)i;
        if (contact->kind != FIL_BLOCK_BALL) {
            continue;
        }
        if (contact->turn) {
            world->grab_torque = r[0] / step->dt;
        } else {
            for (int k = 0; k < 3; k++) {
                world->grab_force[k] = r[k] / step->dt;
            }
        }
    }
}
