#ifndef FIL_SERVE_SOURCE_H
#define FIL_SERVE_SOURCE_H

// Where answers come from: a run on the disk, finished or growing, or a world that runs now.
//
// A source is a table of functions. The server calls them from one thread, one at a time; a source
// that another thread changes (live.c) sees to its own lock.

#include "actions.h"
#include "bytes.h"
#include "filum/result.h"
#include "filum/scene.h"

enum { FIL_STEP_NUMBERS = 6, FIL_ENERGY_NUMBERS = 7 }; // of a row

// What changes.
typedef struct FilSourceState {
    int64_t frame_count, step_count;
    bool growing;    // more may come
    bool finished;   // the end that was planned is reached
    double until;    // s, that end; 0: not known
    char error[512]; // "": none
    char note[256];  // what there is to know about its end; "": nothing
    double time;     // s
    bool running;
    FilBytes more; // JSON that a live world adds: ,"gravity":[...]...
} FilSourceState;

typedef struct FilSource {
    void *self;
    const FilResultDef *def;
    const FilScene *scene; // NULL: not known
    bool live;
    bool has_tension, has_elastic; // frames have those arrays
    void (*state)(void *self, FilSourceState *state);
    /// Times of `count` frames from `first` on, which are there.
    FilStatus (*times)(void *self, int64_t first, int64_t count, double *times, FilError *error);
    /// A frame, encoded; FIL_E_ARGUMENT: there is none of that number.
    FilStatus (*frame)(void *self, int64_t index, uint32_t mask, FilBytes *out, FilError *error);
    /// Rows of 6: time, contacts, pressing, iterations, scaled residual, seconds.
    FilStatus (*steps)(void *self, int64_t first, int64_t count, double *rows, FilError *error);
    /// Rows of 7: time and the energies of frames.
    FilStatus (*energies)(void *self, int64_t first, int64_t count, double *rows, FilError *error);
    /// Live alone: the world as it is; an action.
    FilStatus (*now)(void *self, uint32_t mask, FilBytes *out, FilError *error);
    /// FIL_E_IO: not now, or not any more.
    FilStatus (*act)(void *self, const FilAction *action, FilError *error);
} FilSource;

/// The numbers of a step in a row.
void fil_source_step_row(const FilResultStep *step, double row[FIL_STEP_NUMBERS]);
void fil_source_energy_row(double time, const FilRodEnergy *energy, double row[FIL_ENERGY_NUMBERS]);

// --- a run on the disk (run.c) -------------------------------------------------------------------

typedef struct FilRunSource FilRunSource;

/// A source from the result of this path that is open for reading; it keeps the result, and gives
/// it back when it is destroyed. Whether the scene in it can be read or not, there is an answer.
FIL_MUST_CHECK FilStatus fil_run_source_create(FilResult *result, const char *path,
                                               FilRunSource **out, FilError *error);
void fil_run_source_destroy(FilRunSource *run);
FilSource fil_run_source(FilRunSource *run);

#endif
