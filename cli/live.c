// live.c - a run that is watched while it runs.
//
// Between two steps actions are taken from the queue, in their order, and done. What they change is
// an event of the stage, so that the run can be resumed to the bit; when it was done is up to the
// watcher, and so to the clock, which nothing else in a run is.
//
// A step that fails does not end the run: the world is as it was before it, and pauses, so that
// what was too much for it can be taken back. Neither does the scene's end: the world pauses there.
// Only Ctrl-C and `stop` end a run that is watched.
#include "live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double nap = 0.05;     // s: how long Ctrl-C may go unnoticed
static const double telling = 0.02; // s: between two states
static const double alone = 5.0;    // s: a browser that is gone does not hold a rod for longer

CliStatus cli_say_url(const FilServer *server, bool json) {
    if (json) {
        (void)fputs("{\"url\":", stdout);
        cli_print_json_text(fil_server_url(server));
        (void)printf(",\"port\":%d}\n", fil_server_port(server));
    } else {
        (void)puts(fil_server_url(server));
    }
    return cli_flush();
}

void cli_say_how_to_open(const FilServer *server, const char *end) {
    const int port = fil_server_port(server);
    cli_say("open it in a browser on this machine, or on another one after ssh -L "
            "%d:127.0.0.1:%d USER@THIS-MACHINE; %s",
            port, port, end);
}

CliStatus cli_live_start(CliLive *live, const FilScene *scene, FilRecorder *recorder, int port) {
    FilError error;
    FilFrame frame;
    live->def = fil_recorder_def(recorder);
    live->def.name = scene->name;
    FilStatus status = fil_live_create(&live->def, scene, 0, &live->live, &error);
    if (status == FIL_OK) {
        status = fil_recorder_frame(recorder, &frame, &error);
    }
    if (status == FIL_OK) {
        fil_live_set_now(live->live, &frame);
        const FilServerDef def = {.port = port,
                                  .page = (const char *)cli_page,
                                  .page_size = cli_page_size,
                                  .source = fil_live_source(live->live)};
        status = fil_server_start(&def, &live->server, &error);
    }
    if (status != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

void cli_live_stop(CliLive *live) {
    fil_server_stop(live->server);
    fil_live_destroy(live->live);
    live->server = NULL;
    live->live = NULL;
}

void cli_live_step(CliLive *live, const FilResultStep *step) {
    live->trouble[0] = '\0';
    if (live->live != NULL) {
        fil_live_add_step(live->live, step);
    }
}

void cli_live_frame(CliLive *live, const FilFrame *frame) {
    if (live->live != NULL) {
        fil_live_add_frame(live->live, frame);
    }
}

// --- actions -------------------------------------------------------------------------------------

static void set_running(CliLive *live, bool running, const FilWorld *world) {
    live->running = running;
    live->anchor_clock = cli_clock();
    live->anchor_time = fil_world_time(world);
}

static void act(CliLive *live, FilStage *stage, const FilAction *action) {
    FilError error;
    live->error[0] = '\0';
    switch (action->kind) {
    case FIL_ACTION_PAUSE:
        set_running(live, false, fil_stage_world(stage));
        break;
    case FIL_ACTION_RESUME:
        set_running(live, true, fil_stage_world(stage));
        break;
    case FIL_ACTION_STEP:
        live->running = false;
        live->single = true;
        break;
    case FIL_ACTION_STOP:
        live->stopped = true;
        break;
    default:
        if (fil_live_apply(live->live, stage, action, &error) != FIL_OK) {
            (void)snprintf(live->error, sizeof live->error, "%.250s", error.text);
        }
        break;
    }
}

// A hand whose owner is gone lets go.
static void check_hand(CliLive *live, FilStage *stage) {
    if (fil_world_grab(fil_stage_world(stage), NULL, NULL) != NULL &&
        fil_live_silence(live->live) > alone) {
        act(live, stage, &(FilAction){.kind = FIL_ACTION_RELEASE});
    }
}

// Show the present to whoever asks for it.
static void show(CliLive *live, FilRecorder *recorder) {
    FilFrame frame;
    FilError error;
    if (fil_live_is_wanted(live->live) && fil_recorder_frame(recorder, &frame, &error) == FIL_OK) {
        fil_live_set_now(live->live, &frame);
    }
}

static void tell(CliLive *live, FilStage *stage) {
    const bool at_end = live->finished && !live->running;
    const FilLiveNews news = {.running = live->running,
                              .finished = live->finished,
                              .ended = live->ended,
                              .until = live->until,
                              .error = live->error[0] != '\0' ? live->error : live->trouble,
                              .note = live->ended ? "The run has ended, and is saved."
                                      : at_end ? "The scene has ended, and the run is saved. Press "
                                                 "Go on to continue beyond its end."
                                               : NULL};
    live->shown = cli_clock();
    fil_live_publish(live->live, fil_stage_world(stage), &news);
}

void cli_live_fail(CliLive *live, FilStage *stage, const char *why) {
    (void)snprintf(live->trouble, sizeof live->trouble,
                   "%.240s. The world is paused in the state before this step: undo what was too "
                   "much for it, then go on.",
                   why);
    set_running(live, false, fil_stage_world(stage));
    tell(live, stage);
}

void cli_live_reach_end(CliLive *live, FilStage *stage) {
    live->finished = true;
    set_running(live, false, fil_stage_world(stage));
    tell(live, stage);
}

// Seconds until the next step is due; below 0: it is late.
static double time_left(CliLive *live, const FilWorld *world) {
    const double ahead = (fil_world_time(world) - live->anchor_time) / live->speed -
                         (cli_clock() - live->anchor_clock);
    if (ahead < -0.2) { // too slow for it: what is lost is not made up for
        set_running(live, true, world);
    }
    return ahead;
}

CliStatus cli_live_announce(CliLive *live, FilStage *stage, FilRecorder *recorder, bool json) {
    FilFrame frame;
    FilError error;
    if (live->live == NULL) {
        return CLI_FINE;
    }
    if (fil_recorder_frame(recorder, &frame, &error) == FIL_OK) {
        fil_live_set_now(live->live, &frame);
    }
    set_running(live, live->running, fil_stage_world(stage));
    tell(live, stage);
    const CliStatus status = cli_say_url(live->server, json);
    if (status == CLI_FINE) {
        cli_say_how_to_open(live->server, "Ctrl-C saves and ends");
    }
    return status;
}

// Wait for an action, for as long as there is time, and do it.
static bool take_action(CliLive *live, FilStage *stage, double seconds) {
    FilAction action;
    const double began = cli_clock();
    const bool there = fil_live_take(live->live, seconds, &action);
    if (!live->running) {
        live->paused += cli_clock() - began;
    }
    if (there) {
        act(live, stage, &action);
    }
    return there;
}

bool cli_live_wait(CliLive *live, FilStage *stage, FilRecorder *recorder) {
    const FilWorld *world = fil_stage_world(stage);
    show(live, recorder);
    if (!live->running) { // a single step: nobody waits for what came of it
        tell(live, stage);
    }
    while (!cli_is_interrupted() && !live->stopped) {
        double left = 0.0;
        if (!live->running) {
            left = nap;
        } else if (live->speed > 0.0) {
            left = fmin(nap, time_left(live, world));
        }
        // one at a time, so that a single step comes before what was asked after it
        const bool acted = !live->single && take_action(live, stage, left);
        check_hand(live, stage);
        show(live, recorder);
        if (acted || !live->running || cli_clock() - live->shown > telling) {
            tell(live, stage);
        }
        if (live->single) {
            live->single = false;
            return true;
        }
        if (live->running && !acted && (live->speed <= 0.0 || time_left(live, world) <= 0.0)) {
            return true;
        }
    }
    return false;
}

void cli_live_let_go(CliLive *live, FilStage *stage) {
    if (live->live != NULL) {
        live->ended = true;
        live->running = false;
        act(live, stage, &(FilAction){.kind = FIL_ACTION_RELEASE});
        tell(live, stage);
    }
}
