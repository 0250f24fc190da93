// digest.c - everything that a result file would hold of a step, as one number.
#include "digest.h"

#include "filum/checkpoint.h"

#include <stdlib.h>
#include <string.h>

static uint64_t add_numbers(uint64_t hash, const double *numbers, int64_t count) {
    return numbers == NULL || count == 0
               ? hash
               : fil_scene_hash(numbers, sizeof(double) * (size_t)count, hash);
}

static uint64_t add_side(uint64_t hash, const FilContactSide *side) {
    const double which[] = {side->kind, side->index, side->s};
    return add_numbers(add_numbers(hash, which, 3), side->point, 3);
}

static uint64_t add_contact(uint64_t hash, const FilContact *contact) {
    const double scalars[] = {contact->gap, contact->mu, contact->state};
    hash = add_side(add_side(hash, &contact->a), &contact->b);
    hash = add_numbers(add_numbers(hash, contact->normal, 3), contact->impulse, 3);
    return add_numbers(add_numbers(hash, contact->velocity, 3), scalars, 3);
}

static uint64_t add_info(uint64_t hash, const FilStepInfo *info) {
    const double numbers[] = {info->outcome,       info->residual.scaled, info->contact_count,
                              info->active_count,  info->iterations,      info->island_count,
                              info->conditioning,  info->newton_count,    info->elastic_residual,
                              info->substeps,      info->added_count,     info->missed_count,
                              info->pressed_count, info->slowed_count,    info->asleep_count,
                              info->penetration,   info->dissipated};
    return add_numbers(hash, numbers, sizeof numbers / sizeof *numbers);
}

static uint64_t add_frame(uint64_t hash, FilRecorder *recorder) {
    FilFrame frame;
    FilError error;
    if (fil_recorder_frame(recorder, &frame, &error) != FIL_OK) { // it exploded: in the same way
        return fil_scene_hash(error.text, strlen(error.text), hash);
    }
    const FilResultDef def = fil_recorder_def(recorder);
    const int64_t points = def.point_count, rigids = def.rigid_count, solids = def.obstacle_count;
    const double head[] = {frame.time,           (double)frame.step, frame.energy.kinetic,
                           frame.energy.bend,    frame.energy.twist, frame.energy.stretch,
                           frame.energy.gravity, frame.energy.loads, frame.contact_count};
    hash = add_numbers(hash, head, sizeof head / sizeof *head);
    hash = add_numbers(hash, frame.position, 3 * points);
    hash = add_numbers(hash, frame.quaternion, 4 * points);
    hash = add_numbers(hash, frame.velocity, 3 * points);
    hash = add_numbers(hash, frame.curvature, 3 * points);
    hash = add_numbers(hash, frame.tension, points);
    hash = add_numbers(hash, frame.elastic, points);
    hash = add_numbers(hash, frame.rigid_position, 3 * rigids);
    hash = add_numbers(hash, frame.rigid_quaternion, 4 * rigids);
    hash = add_numbers(hash, frame.rigid_velocity, 3 * rigids);
    hash = add_numbers(hash, frame.rigid_spin, 3 * rigids);
    hash = add_numbers(hash, frame.obstacle_position, 3 * solids);
    hash = add_numbers(hash, frame.obstacle_quaternion, 4 * solids);
    for (int k = 0; k < frame.contact_count; k++) {
        hash = add_contact(hash, &frame.contacts[k]);
    }
    return hash;
}

bool fil_torture_digest(FilStage *stage, FilRecorder *recorder, const FilStepInfo *info,
                        uint64_t *digest) {
    FilWorld *world = fil_stage_world(stage);
    const int64_t count = fil_world_state_count(world);
    double *state = malloc(sizeof(double) * (size_t)count);
    if (state == NULL) {
        return false;
    }
    fil_world_get_state(world, state);
    *digest = add_frame(add_info(add_numbers(0, state, count), info), recorder);
    free(state);
    return true;
}
