// resumes.c - random scenes that go on from a checkpoint.
//
// A scene runs once; after some steps, drawn from a seed, its state and its events are kept, as a
// checkpoint keeps them, and the digest of every step. Then worlds that are made anew go on from
// each of these moments, and their digests must be the same.
#include "torture.h"

#include "base/random.h"
#include "digest.h"
#include "filum/checkpoint.h"
#include "filum/scene.h"

#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 3, AHEAD = 12, MOST = 100 };

typedef struct Moment {
    int step;
    double *state;
    int64_t count;
    char *events;
} Moment;

typedef struct Run {
    const FilTortureLimits *limits;
    FilScene *scene;
    FilWorldTorture *out;
    Moment moments[MOMENTS];
    uint64_t digests[MOST + 1]; // of step 1, 2, ...
    int64_t looks;
} Run;

static bool wants_end(void *user) {
    Run *run = user;
    run->looks++;
    return (run->limits->looks > 0 && run->looks > run->limits->looks) ||
           (run->limits->stop != NULL && run->limits->stop(run->limits->user));
}

static bool make_stage(Run *run, FilStage **stage, FilRecorder **recorder) {
    *stage = NULL;
    *recorder = NULL;
    if (fil_stage_create(run->scene, 1, NULL, NULL, stage, &run->out->error) != FIL_OK ||
        fil_recorder_create(fil_stage_world(*stage), NULL, recorder, &run->out->error) != FIL_OK) {
        return false;
    }
    fil_world_set_stop(fil_stage_world(*stage), wants_end, run);
    return true;
}

// One step, and its digest; that of a step that fails is of its sentence. False: the last one.
static bool take_step(Run *run, FilStage *stage, FilRecorder *recorder, uint64_t *digest) {
    FilStepInfo info;
    run->looks = 0;
    const FilStatus status = fil_stage_step(stage, &info, &run->out->error);
    if (status == FIL_OK) {
        return fil_torture_digest(stage, recorder, &info, digest);
    }
    const char *text = run->out->error.text;
    *digest = fil_scene_hash(text, strlen(text), 1);
    run->out->faults |= status == FIL_E_INTERRUPTED ? 1U << FIL_WORLD_HUNG : 0U;
    return false;
}

static bool keep_moment(const Run *run, FilStage *stage, Moment *moment) {
    FilWorld *world = fil_stage_world(stage);
    size_t size = 0;
    const char *events = fil_stage_events(stage, &size);
    moment->step = run->out->steps;
    moment->count = fil_world_state_count(world);
    moment->state = malloc(sizeof(double) * (size_t)moment->count);
    moment->events = malloc(size + 1);
    if (moment->state == NULL || moment->events == NULL || events == NULL) {
        return false;
    }
    fil_world_get_state(world, moment->state);
    memcpy(moment->events, events, size + 1);
    return true;
}

// Go on from a moment: whether all that follows is the same.
static bool go_on(Run *run, const Moment *moment, int last) {
    FilStage *stage;
    FilRecorder *recorder;
    bool same = make_stage(run, &stage, &recorder) &&
                fil_stage_resume_events(stage, moment->state, moment->count, moment->events,
                                        &run->out->error) == FIL_OK;
    for (int k = moment->step + 1; same && k <= last && k <= moment->step + AHEAD; k++) {
        uint64_t digest = 0;
        const bool went = take_step(run, stage, recorder, &digest);
        same = digest == run->digests[k] || (run->out->faults & 1U << FIL_WORLD_HUNG) != 0;
        if (!went) {
            break;
        }
    }
    fil_recorder_destroy(recorder);
    fil_stage_destroy(stage);
    return same;
}

static void run_once(Run *run, uint64_t seed) {
    FilWorldTorture *out = run->out;
    FilRandom random = fil_random_make(seed);
    FilStage *stage;
    FilRecorder *recorder;
    int at[MOMENTS], kept = 0, last = 0;
    const int most =
        run->limits->steps > 0 && run->limits->steps < MOST ? run->limits->steps : MOST;
    out->planned = run->scene->estimate.steps < most ? (int)run->scene->estimate.steps : most;
    if (!make_stage(run, &stage, &recorder)) {
        out->faults |= 1U << FIL_WORLD_REFUSED;
        out->planned = 0;
    }
    for (int k = 0; k < MOMENTS; k++) { // rising, one in each third
        const int part = out->planned / MOMENTS;
        at[k] = k * part + fil_random_int(&random, part > 0 ? part : 1);
    }
    bool went = true;
    while (went && out->steps < out->planned) {
        if (kept < MOMENTS && out->steps == at[kept] &&
            keep_moment(run, stage, &run->moments[kept])) {
            kept++;
        }
        last = out->steps + 1;
        went = take_step(run, stage, recorder, &run->digests[last]);
        out->steps += went;
    }
    fil_recorder_destroy(recorder);
    fil_stage_destroy(stage);
    for (int k = 0; k < kept && (out->faults & 1U << FIL_WORLD_HUNG) == 0; k++) {
        if (!go_on(run, &run->moments[k], last)) {
            out->faults |= 1U << FIL_WORLD_DIFFERS;
            out->fault_step = run->moments[k].step;
        }
    }
}

FilWorldTorture fil_torture_resume(const char *where, const char *text, uint64_t seed,
                                   const FilTortureLimits *limits) {
    FilWorldTorture out = {0};
    Run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return out;
    }
    run->limits = limits;
    run->out = &out;
    if (fil_scene_read_text(where, text, strlen(text), NULL, NULL, &run->scene, &out.error) ==
        FIL_OK) {
        run_once(run, seed);
    } else {
        out.faults |= 1U << FIL_WORLD_REFUSED;
    }
    for (int k = 0; k < MOMENTS; k++) {
        free(run->moments[k].state);
        free(run->moments[k].events);
    }
    fil_scene_destroy(run->scene);
    free(run);
    return out;
}
