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
    X(FIL_ROD_SLOW, "slow", "a step took more than 200 iterations")                             \
    X(FIL_ROD_SPEECHLESS, "speechless", "something was refused or failed without a good sentence")

#define FIL_TORTURE_ENUM(code, name, text) code,
enum { FIL_ROD_FAULT_TABLE(FIL_TORTURE_ENUM) FIL_ROD_FAULT_COUNT };

enum { FIL_ROD_MOST_ITERATIONS = 200, FIL_ROD_TORTURE_STEPS = 16 };

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

/// Whether a message says something: no empty text, and no "nan" in it.
bool fil_torture_is_sentence(const char *text);

/// The seed of case `k` of a series.
uint64_t fil_torture_seed(uint64_t series, int k);

#endif
