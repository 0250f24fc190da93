#ifndef FIL_SERVE_LIVE_H
#define FIL_SERVE_LIVE_H

// A world that runs now, as a source of answers.
//
// Two threads: the one that steps the world calls the functions below, the server's calls those of
// the source. They meet in copies, under one lock that is never held for longer than a copy takes,
// so that a slow browser does not slow the world down. What was recorded is kept in memory, as it
// is sent; when that is too much, every second frame is dropped, and the frame before stands for
// it.

#include "filum/record.h"
#include "filum/stage.h"
#include "source.h"

typedef struct FilLive FilLive;

/// `def` and `scene` must outlive it. `memory`: bytes for frames; 0: half a GiB.
FIL_MUST_CHECK FilStatus fil_live_create(const FilResultDef *def, const FilScene *scene,
                                         size_t memory, FilLive **out, FilError *error);
void fil_live_destroy(FilLive *live);
/// After the first fil_live_set_now(), which tells what frames hold.
FilSource fil_live_source(FilLive *live);

// --- for the thread that steps the world ---------------------------------------------------------

/// Note a step, a frame that was recorded. What finds no memory is left out.
void fil_live_add_step(FilLive *live, const FilResultStep *step);
void fil_live_add_frame(FilLive *live, const FilFrame *frame);

/// Whether somebody asked for the present since the last time; if so, show it.
bool fil_live_is_wanted(FilLive *live);
void fil_live_set_now(FilLive *live, const FilFrame *frame);

// How a run stands.
typedef struct FilLiveNews {
    bool running;
    bool finished;     // the scene's end is reached; it may go on beyond
    bool ended;        // it takes no more steps, and nothing more is asked of it
    double until;      // s, the scene's end
    const char *error; // what went wrong, NULL: nothing
    const char *note;  // what there is to know about its end, NULL: nothing
} FilLiveNews;

/// Tell the state of the world.
void fil_live_publish(FilLive *live, const FilWorld *world, const FilLiveNews *news);

/// The next action; waits up to `seconds` for one. False: there is none.
bool fil_live_take(FilLive *live, double seconds, FilAction *action);

/// Do what an action asks of the world; actions about running or not are left to the caller.
FIL_MUST_CHECK FilStatus fil_live_apply(FilLive *live, FilStage *stage, const FilAction *action,
                                        FilError *error);

/// Seconds since somebody last asked for anything.
double fil_live_silence(FilLive *live);

#endif
