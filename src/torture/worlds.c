// worlds.c - random scenes run, and what is wrong with how they go.
//
// A scene goes the way of a user's file: read, built, stepped, recorded. After each step
//   - the frame is compared with the one before it: did something pass through (crossing.h)?
//   - where the step is called converged, every impulse must lie in its cone, to a thousandth of
//   the
//     largest one, and rods in balance to as much: the last linearisation changed the velocities by
//     3 % at most, and what is left is the square of that;
//   - where nothing does work (no driven ends, moving obstacles, events, wind), the energy must not
//     grow.
// Work is counted, not timed: parts of steps and the work of friction solves, whose unit is a
// Newton step with every contact pressed, and how often a step asked whether it shall end.
#include "torture.h"

#include "crossing.h"
#include "filum/record.h"
#include "filum/scene.h"
#include "filum/stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"

static const double most_broken = 1e-3, most_unbalanced = 3e-2, most_gain = 1e-2;

#define FAULT_NAME(code, name, text) name,
#define FAULT_TEXT(code, name, text) text,
const char *fil_world_fault_name(int fault) {
    static const char *const names[] = {FIL_WORLD_FAULT_TABLE(FAULT_NAME)};
    return names[fault];
}

const char *fil_world_fault_text(int fault) {
    static const char *const texts[] = {FIL_WORLD_FAULT_TABLE(FAULT_TEXT)};
    return texts[fault];
}

typedef struct Run {
    const FilTortureLimits *limits;
    FilScene *scene;
    FilStage *stage;
    FilRecorder *recorder;
    FilCrossing *crossing;
    FilResultDef def;
    FilWorldTorture *out;
    int64_t looks;        // in this step
    double mass;          // kg: of all rods and bodies
    double first, before; // J: energy at the start, and before the step
    double size;          // J: of motion and shape before the step, or all at the start
} Run;

static void fault(FilWorldTorture *out, int which) {
    out->faults |= 1U << which;
}

static void told(FilWorldTorture *out, int which) {
    fault(out, which);
    if (!fil_torture_is_sentence(out->error.text)) {
        fault(out, FIL_WORLD_SPEECHLESS);
    }
}

// --- looking at a step ---------------------------------------------------------------------------

static bool is_driven(const FilScene *scene) {
    bool driven = scene->event_count > 0 || fil_norm3(scene->wind) > 0.0;
    for (int k = 0; k < scene->rod_count; k++) {
        const FilRodDef *def = &scene->rods[k].def;
        driven = driven || def->root_end.motion != NULL || def->tip_end.motion != NULL ||
                 def->growth != 0.0;
        for (int i = 0; i < def->load_count; i++) {
            driven = driven || fil_norm3(def->loads[i].torque) > 0.0;
        }
    }
    for (int k = 0; k < scene->obstacle_count; k++) {
        driven = driven || scene->obstacles[k].motion != NULL;
    }
    for (int k = 0; k < scene->body_count; k++) {
        const FilSceneBody *body = &scene->bodies[k];
        driven = driven || fil_norm3(body->force) + fil_norm3(body->force_rate) > 0.0 ||
                 fil_norm3(body->torque) > 0.0;
    }
    for (int k = 0; k < scene->joint_count; k++) {
        driven = driven || scene->joints[k].a.motion != NULL || scene->joints[k].b.motion != NULL;
    }
    return driven;
}

static double energy_of(const Run *run, double *own) {
    FilRodEnergy e;
    fil_world_energy(fil_stage_world(run->stage), &e);
    *own = e.kinetic + e.bend + e.twist + e.stretch;
    return *own + e.gravity + e.loads;
}

// What rebounds may come to rest in one step and have its energy back in the next: there it is
// compared with the start.
static bool rebounds(const FilScene *scene) {
    for (int k = 0; k < scene->material_count; k++) {
        if (scene->materials[k].restitution > 0.0) {
            return true;
        }
    }
    return false;
}

static void check_energy(Run *run) {
    FilWorldTorture *out = run->out;
    double own;
    const double now = energy_of(run, &own);
    if (out->closed) {
        const double before = rebounds(run->scene) ? run->first : run->before;
        const double gain = (now - before) / fmax(run->size, 1e-300);
        out->gain = fmax(out->gain, gain);
        if (gain > most_gain) {
            fault(out, FIL_WORLD_GAINED);
        }
    }
    run->before = now;
    run->size = fmax(fabs(run->first), own);
}

// The impulses of a step that is called converged obey Coulomb. Next to momenta as they are in the
// world they are not looked at where all are nothing but round-off.
static void check_law(Run *run) {
    int count;
    const FilContact *contacts = fil_world_contacts(fil_stage_world(run->stage), &count);
    FilRodEnergy energy;
    fil_world_energy(fil_stage_world(run->stage), &energy);
    double largest = 1e-6 * sqrt(2.0 * run->mass * energy.kinetic);
    for (int k = 0; k < count; k++) {
        largest = fmax(largest, fil_norm3(contacts[k].impulse));
    }
    for (int k = 0; k < count; k++) {
        const FilContact *contact = &contacts[k];
        const double normal = fil_dot3(contact->impulse, contact->normal);
        double across[3];
        fil_copy3(contact->impulse, across);
        fil_add3(-normal, contact->normal, across);
        if (normal < -most_broken * largest ||
            fil_norm3(across) > contact->mu * fmax(normal, 0.0) + most_broken * largest) {
            fault(run->out, FIL_WORLD_UNNAMED);
            (void)snprintf(run->out->what, sizeof run->out->what,
                           "contact %d of step %d: mu %g, impulse %.3e along the normal, %.3e "
                           "across, the largest %.3e",
                           k, run->out->steps, contact->mu, normal, fil_norm3(across), largest);
        }
    }
}

static void check_step(Run *run, const FilStepInfo *info) {
    FilWorldTorture *out = run->out;
    FilFrame frame;
    const double work = info->work + info->substeps;
    out->work += work;
    out->most_work = fmax(out->most_work, work);
    out->substeps += info->substeps;
    out->most_substeps = info->substeps > out->most_substeps ? info->substeps : out->most_substeps;
    out->iterations += info->iterations;
    out->contacts += info->contact_count;
    out->overlap = fmax(out->overlap, info->penetration);
    out->most_looks = run->looks > out->most_looks ? run->looks : out->most_looks;
    if (info->missed_count > 0) {
        out->missed++;
        fault(out, FIL_WORLD_MISSED);
    }
    if (info->slowed_count > 0) {
        fault(out, FIL_WORLD_SLOWED);
    }
    if (info->outcome != FIL_CONVERGED) {
        out->unconverged++;
        fault(out, FIL_WORLD_UNCONVERGED);
    } else {
        check_law(run);
        if (!(info->elastic_residual <= most_unbalanced)) {
            fault(out, FIL_WORLD_ELASTIC);
        }
    }
    if (fil_recorder_frame(run->recorder, &frame, &out->error) != FIL_OK) {
        told(out, FIL_WORLD_EXPLODED);
        return;
    }
    char what[sizeof out->what] = "";
    const FilCrossed crossed = fil_crossing_look(run->crossing, &frame, info->substeps == 1, what);
    const int which = crossed == FIL_CROSSED ? FIL_WORLD_PASSED : FIL_WORLD_PERHAPS;
    if (crossed != FIL_CROSSED_NOTHING && info->missed_count == 0 &&
        (out->faults & 1U << which) == 0) {
        fault(out, which);
        memcpy(out->what, what, sizeof what);
    }
    check_energy(run);
}

// --- a run ---------------------------------------------------------------------------------------

static bool wants_end(void *user) {
    Run *run = user;
    run->looks++;
    return (run->limits->looks > 0 && run->looks > run->limits->looks) ||
           (run->limits->stop != NULL && run->limits->stop(run->limits->user));
}

// Read, look for overlaps, build; false where there is nothing to run.
static bool begin(Run *run, const char *where, const char *text) {
    FilWorldTorture *out = run->out;
    FilSceneOverlaps overlaps;
    FilFrame frame;
    if (fil_scene_read_text(where, text, strlen(text), NULL, NULL, &run->scene, &out->error) !=
            FIL_OK ||
        fil_scene_overlaps(run->scene, 1, NULL, &overlaps, &out->error) != FIL_OK) {
        told(out, FIL_WORLD_REFUSED);
        return false;
    }
    if (!run->limits->anyway && (overlaps.apart.count > 0 || overlaps.inside.count > 0)) {
        fault(out, FIL_WORLD_OVERLAPS);
        return false;
    }
    if (fil_stage_create(run->scene, 1, NULL, NULL, &run->stage, &out->error) != FIL_OK ||
        fil_recorder_create(fil_stage_world(run->stage), NULL, &run->recorder, &out->error) !=
            FIL_OK ||
        fil_recorder_frame(run->recorder, &frame, &out->error) != FIL_OK) {
        told(out, FIL_WORLD_REFUSED);
        return false;
    }
    run->def = fil_recorder_def(run->recorder);
    run->crossing = fil_crossing_create(run->scene, &run->def);
    if (run->crossing == NULL) {
        return false;
    }
    (void)fil_crossing_look(run->crossing, &frame, true, out->what);
    fil_world_set_stop(fil_stage_world(run->stage), wants_end, run);
    out->planned = (int)run->scene->estimate.steps;
    out->closed = !is_driven(run->scene);
    out->dofs = 6 * run->scene->body_count;
    for (int k = 0; k < run->scene->rod_count; k++) {
        const FilRodDef *def = &run->scene->rods[k].def;
        out->dofs += fil_rod_dof_count(fil_world_rod(fil_stage_world(run->stage), k));
        run->mass += def->length * fil_torture_mass(&def->section);
    }
    for (int k = 0; k < run->scene->body_count; k++) {
        run->mass += fil_rigid_mass(fil_world_rigid(fil_stage_world(run->stage), k));
    }
    double own;
    run->first = run->before = energy_of(run, &own);
    run->size = fmax(fabs(run->first), own);
    return true;
}

// One step; false where it is the last.
static bool take_step(Run *run) {
    FilWorldTorture *out = run->out;
    FilStepInfo info;
    const unsigned before = out->faults;
    run->looks = 0;
    const FilStatus status = fil_stage_step(run->stage, &info, &out->error);
    if (status == FIL_OK) {
        out->steps++;
        check_step(run, &info);
    } else if (status == FIL_E_INTERRUPTED) {
        fault(out, FIL_WORLD_HUNG);
    } else {
        const bool exploded = strstr(out->error.text, "range of numbers") != NULL;
        told(out, exploded ? FIL_WORLD_EXPLODED : FIL_WORLD_REFUSED);
    }
    out->fault_step = out->fault_step == 0 && out->faults != before
                          ? out->steps + (status != FIL_OK)
                          : out->fault_step;
    return status == FIL_OK && (out->faults & 1U << FIL_WORLD_EXPLODED) == 0;
}

FilWorldTorture fil_torture_world(const char *where, const char *text,
                                  const FilTortureLimits *limits) {
    FilWorldTorture out = {0};
    Run run = {.limits = limits, .out = &out};
    if (begin(&run, where, text)) {
        const int last =
            limits->steps > 0 && limits->steps < out.planned ? limits->steps : out.planned;
        while (out.steps < last && take_step(&run)) {
        }
    }
    fil_crossing_destroy(run.crossing);
    fil_recorder_destroy(run.recorder);
    fil_stage_destroy(run.stage);
    fil_scene_destroy(run.scene);
    return out;
}
