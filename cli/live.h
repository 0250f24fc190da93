#ifndef FIL_CLI_LIVE_H
#define FIL_CLI_LIVE_H

// A run that is watched while it runs: what stands between its steps and the server.

#include "cli.h"

#include "filum/filum.h"
#include "serve/live.h"
#include "serve/server.h"

typedef struct CliLive {
    FilLive *live; // NULL: nobody watches
    FilServer *server;
    FilResultDef def;
    bool running;
    bool single;   // one step, then it pauses again
    bool stopped;  // somebody asked it to end
    bool finished; // the scene's end was reached
    bool ended;    // there will be no more steps
    double until;  // s, the scene's end
    double speed;  // of the world's time beside ours; 0: as fast as it goes
    double anchor_clock, anchor_time;
    double shown;      // of the clock: when the state was last told
    double paused;     // s of the clock that were spent paused
    char error[256];   // an action that was not done
    char trouble[512]; // the step that failed, until one does not
} CliLive;

/// Serve the world that `recorder` records, before anything of the run is written. What goes wrong
/// is said. Nobody can ask before the URL is known.
CliStatus cli_live_start(CliLive *live, const FilScene *scene, FilRecorder *recorder, int port);
/// The world has begun, or is where it was: say the URL.
CliStatus cli_live_announce(CliLive *live, FilStage *stage, FilRecorder *recorder, bool json);

/// Do what was asked, keep the pace, and wait while the world is paused. True: take a step. False:
/// it is to end.
bool cli_live_wait(CliLive *live, FilStage *stage, FilRecorder *recorder);

/// The step to come failed, and the world is as it was before: pause, and tell why.
void cli_live_fail(CliLive *live, FilStage *stage, const char *why);
/// The scene's end is reached: pause. Whoever goes on goes beyond it.
void cli_live_reach_end(CliLive *live, FilStage *stage);

/// Tell a step, a frame.
void cli_live_step(CliLive *live, const FilResultStep *step);
void cli_live_frame(CliLive *live, const FilFrame *frame);

/// There will be no more steps: the hand lets go, before the world is saved for the last time.
void cli_live_let_go(CliLive *live, FilStage *stage);

void cli_live_stop(CliLive *live);

/// Print where the server is, on stdout.
CliStatus cli_say_url(const FilServer *server, bool json);

/// Say how to open that URL, here and from another machine, and what ends the program.
void cli_say_how_to_open(const FilServer *server, const char *end);

/// The page of the viewer, or one that says why it is not here.
extern const unsigned char cli_page[];
extern const size_t cli_page_size;
extern const char cli_page_library[]; ///< "three.js 0.187.0", or "no viewer"

#endif
