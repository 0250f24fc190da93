#ifndef FIL_TORTURE_H
#define FIL_TORTURE_H

// Random rods and random worlds, from seeds, and what is wrong with how they move. The program's
// benchmarks and the tests share them: one list of faults, one way to count them.
//
// Every case is a scene, a text that `filum run` takes, so that what fails can be handed on. None
// of the counts depends on the clock.

#include <stdbool.h>
#include <stdint.h>

#include "filum/base.h"
#include "filum/rod.h"
#include "filum/world.h"

// --- rods ----------------------------------------------------------------------------------------

// One table: what may be wrong with the motion of a rod.
#define FIL_ROD_FAULT_TABLE(X)                                                                  \
    X(FIL_ROD_REFUSED, "refused", "the rod was not made, with a sentence that says why")        \
    X(FIL_ROD_FAILED, "failed", "a step left the range of numbers, and the rod stayed")         \
    X(FIL_ROD_INFINITE, "infinite", "a number of a rod that went on is not finite")             \
    X(FIL_ROD_GAINED, "gained", "energy above start and work done, in a step called converged") \
    X(FIL_ROD_LINEAR, "linear", "linear momentum of a free rod off by more than 1e-9")          \
    X(FIL_ROD_ANGULAR, "angular", "angular momentum of a free rod off by more than 1e-9")       \
    X(FIL_ROD_ASTRAY, "astray", "an end is not where it is held, in a step called converged")   \
    X(FIL_ROD_UNCONVERGED, "unconverged", "a step said that it did not converge")               \
    X(FIL_ROD_SLOW, "slow", "a step took more than 600 iterations")                             \
    X(FIL_ROD_SPEECHLESS, "speechless", "something was refused or failed without a good sentence")

#define FIL_TORTURE_ENUM(code, name, text) code,
enum { FIL_ROD_FAULT_TABLE(FIL_TORTURE_ENUM) FIL_ROD_FAULT_COUNT };

enum { FIL_ROD_MOST_ITERATIONS = 600, FIL_ROD_TORTURE_STEPS = 16 };

/// "gained" for FIL_ROD_GAINED, and what it means.
const char *fil_rod_fault_name(int fault);
const char *fil_rod_fault_text(int fault);

/// What came of a random rod.
typedef struct FilRodTorture {
    unsigned faults;        // 1 << FIL_ROD_...
    int steps;              // taken
    int fault_step;         // the first that had a fault, from 1; 0: none
    int unconverged;        // steps that said so
    int iterations;         // of all steps
    int checked;            // steps whose energy was compared with the work
    double gain;            // worst, of the energies in it
    double linear, angular; // worst change of momentum, relative
    FilError error;         // of what was refused, or of the step that failed
} FilRodTorture;

/// The scene of a random rod, into text[FIL_SCENE_TEXT]: one rod alone.
void fil_torture_rod_scene(FilRodModel model, uint64_t seed, char *text);

/// Read the scene of one rod, step the rod by itself and look at every step. `where` names the
/// scene in messages.
FilRodTorture fil_torture_rod(const char *where, const char *text);

/// Mass of a section by length, kg/m.
double fil_torture_mass(const FilSection *section);

/// Whether a message says something: no empty text, and no "nan" in it.
bool fil_torture_is_sentence(const char *text);

/// The seed of case `k` of a series.
uint64_t fil_torture_seed(uint64_t series, int k);

// --- worlds --------------------------------------------------------------------------------------

// One table: what may be wrong with the run of a scene.
#define FIL_WORLD_FAULT_TABLE(X)                                                                  \
    X(FIL_WORLD_REFUSED, "refused", "the scene, or an event of it, was refused, and told why")    \
    X(FIL_WORLD_OVERLAPS, "overlaps", "it overlaps at the start, and was set aside")              \
    X(FIL_WORLD_EXPLODED, "exploded", "a step left the range of numbers, or made 1e6 m/s")        \
    X(FIL_WORLD_HUNG, "hung", "a step, or the run, used up what it may take")                     \
    X(FIL_WORLD_PASSED, "passed", "something passed through something else, and nobody was told") \
    X(FIL_WORLD_PERHAPS, "perhaps", "rods may have passed, in a step done in parts")              \
    X(FIL_WORLD_MISSED, "missed", "something passed, and it was told: missed_count")              \
    X(FIL_WORLD_UNCONVERGED, "unconverged", "steps that said that they did not converge")         \
    X(FIL_WORLD_SLOWED, "slowed", "steps that said that rods lost motion: slowed_count")          \
    X(FIL_WORLD_UNNAMED, "unnamed", "a step called converged whose forces break the law")         \
    X(FIL_WORLD_ELASTIC, "elastic", "a step called converged whose rods are out of balance")      \
    X(FIL_WORLD_GAINED, "gained", "a step gained more than 1 % of the energy, from nowhere")      \
    X(FIL_WORLD_DIFFERS, "differs", "going on from a checkpoint gave other bits")                 \
    X(FIL_WORLD_SPEECHLESS, "speechless", "something was refused or failed without a good sentence")

enum { FIL_WORLD_FAULT_TABLE(FIL_TORTURE_ENUM) FIL_WORLD_FAULT_COUNT };

const char *fil_world_fault_name(int fault);
const char *fil_world_fault_text(int fault);

// What kinds of scenes there are; THROW + model: a rod of that model thrown on a floor.
typedef enum FilTortureKind {
    FIL_TORTURE_WILD,
    FIL_TORTURE_TAME,
    FIL_TORTURE_THROW,
} FilTortureKind;

/// What a run may take. `stop` (may be NULL) is asked as that of fil_world_set_stop().
typedef struct FilTortureLimits {
    int64_t looks; // most times that a step may ask whether it shall end; 0: no limit
    int steps;     // most steps; 0: all of the scene
    bool anyway;   // run scenes that overlap at the start, too
    bool (*stop)(void *user);
    void *user;
} FilTortureLimits;

/// What came of a random world.
typedef struct FilWorldTorture {
    unsigned faults;         // 1 << FIL_WORLD_...
    int steps, planned;      // taken, and of the scene
    int fault_step;          // the first that had a fault other than being refused; 0: none
    int unconverged, missed; // steps
    int most_substeps;       // of a step
    int64_t substeps, iterations, contacts; // of all steps; of the friction solver; in reach
    int64_t most_looks;                     // of a step
    int dofs;                               // unknowns of all rods and bodies
    double work;      // of all steps: parts, and Newton steps of their friction solves
    double most_work; // of a step
    double gain;      // worst in a step, of the energy at the start; where nothing does work
    double overlap;   // m: deepest, ever
    bool closed;      // nothing does work on it: its energy was looked at
    FilError error;   // of what was refused, or of the step that failed
    char what[240];   // what passed, or what was not named
} FilWorldTorture;

/// The scene of a random world, into text[FIL_SCENE_TEXT]. Meshes of wild scenes are in cube.obj,
/// whose text is fil_torture_cube(), beside it.
void fil_torture_world_scene(FilTortureKind kind, uint64_t seed, char *text);
const char *fil_torture_cube(void);

/// Read a scene as if it came from the file `where`, run it on one thread and look at every step.
FilWorldTorture fil_torture_world(const char *where, const char *text,
                                  const FilTortureLimits *limits);

/// Run a scene, keep what a checkpoint keeps after some of its steps, drawn from `seed`, and go on
/// from there in a world that is made anew: all that follows must be the same to the bit.
FilWorldTorture fil_torture_resume(const char *where, const char *text, uint64_t seed,
                                   const FilTortureLimits *limits);

#endif
