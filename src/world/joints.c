// joints.c - two places held together: equality blocks of the friction problem.
//
// A joint keeps the place of a where it was seen from b when the joint was made, p_a = p_b + R_b d,
// and, unless it may turn, the axes of a as they were seen from b, R_a = R_b Q. Each half is three
// rows of velocity or spin with the error at the start of the step, which the step brings to 0. An
// obstacle counts as it will be at the end of the step. What is left then is of second order, and
// is taken out there (rejoin.c).
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "rod/rod.h"
#include "sleep.h"

// --- making --------------------------------------------------------------------------------------

// Axes of a pose as the columns of a matrix.
static void axes_of(const FilPose *pose, double R[9]) {
    for (int k = 0; k < 9; k++) {
        R[k] = pose->axis[k % 3][k / 3];
    }
}

static void pose_of_body(const FilBody *body, FilPose *pose) {
    fil_rigid_pose(body->self, pose);
    fil_rigid_centre(body->self, pose->position);
}

// Where a side is now: its point in space and the axes it turns with.
void fil_world_look_at(const FilWorld *world, const FilPlace *place, const FilPose *obstacle,
                       FilPose *pose) {
    static const FilPose still = {.axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    *pose = still;
    if (obstacle != NULL) {
        *pose = *obstacle;
    } else if (place->body >= 0 && world->bodies[place->body].kind == FIL_BODY_RIGID) {
        pose_of_body(&world->bodies[place->body], pose);
    } else if (place->body >= 0) {
        const FilRod *rod = world->bodies[place->body].self;
        const FilPiece *piece = &world->pieces[place->piece];
        FilPose end[2];
        rod->table->at(rod, piece->element, piece->u[0], &end[0], NULL);
        rod->table->at(rod, piece->element, piece->u[1], &end[1], NULL);
        *pose = end[place->t < 0.5 ? 0 : 1];
        for (int k = 0; k < 3; k++) {
            pose->position[k] =
                (1.0 - place->t) * end[0].position[k] + place->t * end[1].position[k];
        }
        return;
    }
    double arm[3];
    fil_copy3(place->point, arm);
    for (int k = 0; k < 3; k++) {
        fil_add3(arm[k], pose->axis[k], pose->position);
    }
}

// A point in space, seen from the axes of a pose.
static void see_from(const FilPose *pose, const double point[3], double out[3]) {
    double arm[3];
    fil_subtract3(point, pose->position, arm);
    for (int k = 0; k < 3; k++) {
        out[k] = fil_dot3(arm, pose->axis[k]);
    }
}

void fil_world_place_on_rod(const FilWorld *world, double part, FilPlace *place) {
    const FilBody *body = &world->bodies[place->body];
    for (int k = 0; k < body->piece_count; k++) {
        const FilPiece *piece = &world->pieces[body->first_piece + k];
        if (part <= piece->s[1] || k == body->piece_count - 1) {
            double t = (part - piece->s[0]) / (piece->s[1] - piece->s[0]);
            place->piece = body->first_piece + k;
            place->t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
            break;
        }
    }
}

static FilStatus place_rod(const FilWorld *world, const FilJointSide *side, const char *name,
                           FilPlace *place, FilError *error) {
    const FilBody *body = &world->bodies[place->body];
    const FilRod *rod = body->self;
    if (!(side->s >= 0.0 && side->s <= rod->state[1])) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s.s is %g; the rod is %g m long", name, side->s,
                        rod->state[1]);
    }
    fil_world_place_on_rod(world, side->s / rod->state[1], place);
    return FIL_OK;
}

static FilStatus make_place(const FilWorld *world, const FilJointSide *side, const char *name,
                            FilPlace *place, int *obstacle, FilError *error) {
    *place = (FilPlace){.body = -1};
    *obstacle = -1;
    int counts[FIL_BODY_KIND_COUNT] = {[FIL_BODY_WORLD] = 1,
                                       [FIL_BODY_ROD] = world->rod_count,
                                       [FIL_BODY_RIGID] = world->rigid_count,
                                       [FIL_BODY_OBSTACLE] = world->obstacle_count};
    if ((unsigned)side->kind >= FIL_BODY_KIND_COUNT || side->index < 0 ||
        side->index >= counts[side->kind]) {
        return fil_fail(error, FIL_E_ARGUMENT, "%s.index is %d; there is no such body", name,
                        side->index);
    }
    FilPose pose = {.axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    if (side->kind == FIL_BODY_ROD) {
        place->body = world->rods[side->index];
        return place_rod(world, side, name, place, error);
    }
    if (side->kind == FIL_BODY_RIGID) {
        place->body = world->rigids[side->index];
        place->piece = world->bodies[place->body].first_piece;
        pose_of_body(&world->bodies[place->body], &pose);
    } else if (side->kind == FIL_BODY_OBSTACLE) {
        *obstacle = side->index;
        pose = world->obstacles[side->index].pose;
    }
    see_from(&pose, side->point, place->point);
    return FIL_OK;
}

// The pieces of the body of a place that are so near the joint that contact would work against it:
// first and count.
static void near_pieces(const FilWorld *world, const FilPlace *place, int *first, int *last) {
    const FilBody *body = &world->bodies[place->body];
    *first = *last = place->piece;
    if (body->kind != FIL_BODY_ROD) {
        return;
    }
    const FilRod *rod = body->self;
    const FilPiece *piece = &world->pieces[place->piece];
    double at = piece->s[0] + place->t * (piece->s[1] - piece->s[0]);
    double reach = 4.0 * body->radius / rod->state[1];
    while (*first > body->first_piece && at - world->pieces[*first].s[0] < reach) {
        (*first)--;
    }
    while (*last < body->first_piece + body->piece_count - 1 &&
           world->pieces[*last].s[1] - at < reach) {
        (*last)++;
    }
}

static int compare_pairs(const void *x, const void *y) {
    const int *a = x, *b = y;
    int order = (a[0] > b[0]) - (a[0] < b[0]);
    return order != 0 ? order : (a[1] > b[1]) - (a[1] < b[1]);
}

bool fil_world_are_joined(const FilWorld *world, int i, int j) {
    const int pair[2] = {i < j ? i : j, i < j ? j : i};
    return bsearch(pair, world->apart, (size_t)world->apart_count, sizeof pair, compare_pairs) !=
           NULL;
}

// What is joined does not touch at the joint.
static FilStatus keep_apart(FilWorld *world, const FilJoint *joint, FilError *error) {
    if (joint->b.body < 0) {
        return FIL_OK;
    }
    int first[2], last[2];
    near_pieces(world, &joint->a, &first[0], &last[0]);
    near_pieces(world, &joint->b, &first[1], &last[1]);
    int64_t more = (int64_t)(last[0] - first[0] + 1) * (last[1] - first[1] + 1);
    FIL_TRY(fil_world_reserve(world, &world->apart, &world->apart_room, world->apart_count + more,
                              sizeof(int[2]), error));
    for (int i = first[0]; i <= last[0]; i++) {
        for (int j = first[1]; j <= last[1]; j++) {
            int *pair = world->apart[world->apart_count++];
            pair[0] = i < j ? i : j;
            pair[1] = i < j ? j : i;
        }
    }
    qsort(world->apart, (size_t)world->apart_count, sizeof(int[2]), compare_pairs);
    return FIL_OK;
}

static bool is_same_place(const FilPlace *a, const FilPlace *b) {
    const double apart = (a->piece + a->t) - (b->piece + b->t); // in pieces
    return fabs(apart) <= 1e-9;
}

FilStatus fil_world_add_joint(FilWorld *world, const FilJointDef *def, int *joint,
                              FilError *error) {
    FilJoint made = {.turning = def->turning};
    int none;
    if (def->a.kind != FIL_BODY_ROD && def->a.kind != FIL_BODY_RIGID) {
        return fil_fail(error, FIL_E_ARGUMENT, "a.kind is %d; it must be a rod or a rigid body",
                        (int)def->a.kind);
    }
    FIL_TRY(make_place(world, &def->a, "a", &made.a, &none, error));
    FIL_TRY(make_place(world, &def->b, "b", &made.b, &made.obstacle, error));
    if (def->a.kind == def->b.kind && def->a.index == def->b.index &&
        (def->a.kind != FIL_BODY_ROD || is_same_place(&made.a, &made.b))) {
        return fil_fail(error, FIL_E_ARGUMENT,
                        "a and b are the same place of %s %d; a joint holds two things together",
                        def->a.kind == FIL_BODY_ROD ? "rod" : "rigid body", def->a.index);
    }
    FIL_TRY(fil_world_reserve(world, &world->joints, &world->joint_room, world->joint_count + 1,
                              sizeof(FilJoint), error));
    FIL_TRY(keep_apart(world, &made, error));
    FilPose a, b;
    double A[9], B[9], Bt[9];
    const FilPose *on = made.obstacle >= 0 ? &world->obstacles[made.obstacle].pose : NULL;
    fil_world_look_at(world, &made.a, NULL, &a);
    fil_world_look_at(world, &made.b, on, &b);
    see_from(&b, a.position, made.apart);
    axes_of(&a, A);
    axes_of(&b, B);
    for (int k = 0; k < 9; k++) {
        Bt[k] = B[3 * (k % 3) + k / 3];
    }
    fil_multiply3(Bt, A, made.between);
    fil_world_wake_all(world);
    world->joints[world->joint_count] = made;
    *joint = world->joint_count++;
    return FIL_OK;
}

FilStatus fil_world_remove_joint(FilWorld *world, int joint, FilError *error) {
    if (joint < 0 || joint >= world->joint_count) {
        return fil_fail(error, FIL_E_ARGUMENT, "joint is %d; there are %d", joint,
                        world->joint_count);
    }
    if (!world->joints[joint].removed) {
        fil_world_wake_all(world);
        world->joints[joint].removed = true;
    }
    return FIL_OK;
}

// --- in a step -----------------------------------------------------------------------------------

// The rows of a half: along the axes of the world.
static FilWorkContact half_of(const FilJoint *joint, const FilPose *a, const double target[3],
                              bool turn) {
    FilWorkContact half = {.a = joint->a,
                           .b = joint->b,
                           .kind = FIL_BLOCK_EQUALITY,
                           .turn = turn,
                           .normal = {1.0, 0.0, 0.0},
                           .frame = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    fil_copy3(a->position, half.a.point);
    fil_copy3(target, half.b.point);
    return half;
}

// The rows of a joint whose obstacle, if it is on one, is at the start of the step, or at its end.
static int list_halves(const FilWorld *world, int index, bool start, FilWorkContact *out) {
    const FilJoint *joint = &world->joints[index];
    const FilObstacle *on = joint->obstacle >= 0 ? &world->obstacles[joint->obstacle] : NULL;
    FilPose a, b;
    double target[3];
    fil_world_look_at(world, &joint->a, NULL, &a);
    fil_world_look_at(world, &joint->b, on == NULL ? NULL : start ? &on->pose : &on->next, &b);
    fil_copy3(b.position, target);
    for (int k = 0; k < 3; k++) {
        fil_add3(joint->apart[k], b.axis[k], target);
    }
    out[0] = half_of(joint, &a, target, false);
    fil_subtract3(a.position, target, out[0].error);
    out[0].joint = index;
    if (joint->turning) {
        return 1;
    }
    double A[9], B[9], wanted[9], Q[9];
    axes_of(&a, A);
    axes_of(&b, B);
    fil_multiply3(B, joint->between, wanted);
    for (int k = 0; k < 9; k++) { // A wanted^T
        const double *row = A + 3 * (ptrdiff_t)(k / 3), *other = wanted + 3 * (ptrdiff_t)(k % 3);
        Q[k] = fil_dot3(row, other);
    }
    out[1] = half_of(joint, &a, target, true);
    fil_rotation_log(Q, out[1].error);
    out[1].joint = index;
    return 2;
}

int fil_world_list_joint(const FilWorld *world, int index, FilWorkContact *out) {
    return list_halves(world, index, false, out);
}

// A part of a step mends its part of what was wrong before, and follows all of what an obstacle
// does in it: else the shorter the part the more violently it would pull.
static void share_error(const FilWorld *world, int index, double dt, FilWorkContact *halves) {
    const double part = fmin(1.0, dt / world->def.step);
    FilWorkContact before[2];
    const int count = list_halves(world, index, true, before);
    for (int k = 0; k < count; k++) {
        fil_add3(part - 1.0, before[k].error, halves[k].error);
        fil_add3(part, before[k].error, halves[k].mend);
    }
}

double fil_joint_mending(const FilWorldTry *step, int i) {
    return -fil_dot3(step->r + 3 * (ptrdiff_t)i, step->contacts[i].mend) / step->dt;
}

FilStatus fil_world_list_joints(FilWorld *world, FilWorldTry *step, FilError *error) {
    if (world->joint_count == 0 && !world->grabbed) {
        return FIL_OK;
    }
    int n = step->contact_count;
    FilWorkContact *contacts =
        FIL_NEW(&world->scratch, FilWorkContact, (size_t)n + 2 * (size_t)world->joint_count + 2);
    if (contacts == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "there is no memory for %d joints",
                        world->joint_count);
    }
    memcpy(contacts, step->contacts, sizeof(FilWorkContact) * (size_t)n);
    for (int i = 0; i < world->joint_count; i++) {
        if (world->joints[i].removed || world->bodies[world->joints[i].a.body].island != 0) {
            continue; // what it is joined to sleeps, too
        }
        const int count = fil_world_list_joint(world, i, contacts + n);
        share_error(world, i, step->dt, contacts + n);
        n += count;
    }
    n += fil_world_list_grab(world, step->dt, contacts + n);
    step->contacts = contacts;
    step->contact_count = n;
    return FIL_OK;
}
