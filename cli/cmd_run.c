// cmd_run.c - filum run: a scene in; a folder with its motion out.
//
// A run folder explains itself: scene.json as it was, run.json (version, options), log.txt,
// result.h5, and `checkpoint`, from which --resume goes on. Frames and checkpoints come at steps
// that their numbers alone decide, so that a run that was stopped and resumed writes what one that
// was not would have written. The frame of the end, where none is due, comes after the last
// checkpoint: going on drops it again.
//
// A run may be killed at any time. What is on the disk then is, in this order: scene.json; the
// result with its first frame; a checkpoint, and another in its place whenever one is due, each
// after the frames and steps that it counts. A run without a checkpoint has made no step: to go on
// with it is to begin anew.
#define _XOPEN_SOURCE 700 // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "io/atomic.h"
#include "live.h"
#include "runs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct Options {
    const char *out;
    double until;
    int threads;
    int port;
    double speed;
    bool resume, force, strict, json, live, paused;
    CliList set;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "DIR", out, "the run folder; default runs/NAME"),
    CLI_OPTION_REAL("until", "T", until, 0.0, HUGE_VAL,
                    "run until T seconds; default 0, the scene's duration"),
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096,
                     "threads; default 0, all cores; any number gives the same results"),
    CLI_OPTION_FLAG(
        "resume", resume,
        "continue from the last checkpoint; the result has the same bits as an unbroken run"),
    CLI_OPTION_FLAG("force", force, "replace the run that the folder holds"),
    CLI_OPTION_FLAG("strict", strict,
                    "status 1 when a step does not converge, leaves deep overlaps, or slows rods"),
    CLI_OPTION_FLAG("json", json, "the summary as one JSON object"),
    CLI_OPTION_FLAG("live", live, "serve the running world to a browser; prints the URL"),
    CLI_OPTION_COUNT("port", "N", port, 0, 65535,
                     "with --live: port of 127.0.0.1; default 0, any free one"),
    CLI_OPTION_FLAG("paused", paused, "with --live: begin paused"),
    CLI_OPTION_REAL("speed", "X", speed, 0.0, 1e6,
                    "with --live: simulated seconds per second; default 1; 0: as fast as possible"),
    CLI_OPTION_LIST("set", "PATH=VALUE", set, CLI_SCENE_SET),
};

enum { LOGGED_WARNINGS = 100 };

typedef struct Run {
    const Options *options;
    const char *path; // of the scene
    char *base, *folder;
    char *result_path, *checkpoint_path, *log_path, *scene_path, *options_path;
    CliScene from;
    FilStage *stage;
    FilRecorder *recorder;
    FilResult *result;
    FILE *log;
    char *early; // what is logged before the run has a file for it
    size_t early_size;
    double *state;
    int64_t state_room;
    int64_t step, last_step, frame_count;
    CliTotals totals;
    double began;      // of the clock
    int64_t first;     // step that this session began with
    double shown;      // when the live line was last written
    bool live;         // there is a terminal to write it to
    int tenths;        // of the run, told by plain lines
    int warning_count; // logged
    bool idle;         // it had come to its end already
    int folders_made;  // for its files
    bool resume;       // it goes on from a checkpoint
    bool force;        // what the folder holds is replaced
    bool exploded;     // the world is not as it was before a step that failed
    int64_t sane;      // 1 + the step after which the world was last looked at, and was fit
    CliLive session;   // of somebody who watches
} Run;

// --- talk ----------------------------------------------------------------------------------------

static void note(Run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(Run *run, const char *format, ...) {
    if (run->log != NULL) {
        va_list args;
        va_start(args, format);
        (void)vfprintf(run->log, format, args);
        va_end(args);
        (void)fputc('\n', run->log);
        (void)fflush(run->log);
    }
}

static void clear_line(const Run *run) {
    if (run->live && run->shown > 0.0) {
        (void)fputs("\r\x1b[K", stderr);
    }
}

static void on_log(void *user, FilLogLevel level, const char *text) {
    note(user, "%s%s", level == FIL_LOG_WARNING ? "warning: " : "", text);
}

static void warn_step(Run *run, const FilStepInfo *info) {
    if (info->outcome == FIL_CONVERGED && info->missed_count == 0 && info->pressed_count == 0 &&
        info->slowed_count == 0) {
        return;
    }
    if (run->warning_count < LOGGED_WARNINGS) {
        note(
            run,
            "warning: step %" PRId64 " at %g s: %s, residual %.2e, %d pairs tunnelled, %d overlaps "
            "deeper than a fifth of a radius, %d bodies slowed",
            run->step, fil_world_time(fil_stage_world(run->stage)), fil_outcome_name(info->outcome),
            info->residual.scaled, info->missed_count, info->pressed_count, info->slowed_count);
    } else if (run->warning_count == LOGGED_WARNINGS) {
        note(run, "further warnings of steps are counted, not written");
    }
    run->warning_count++;
}

// Time, steps/s, contacts, iterations, worst residual, realtime factor, time left.
static void show_progress(Run *run, const FilStepInfo *info) {
    const double now = cli_clock(), spent = fmax(now - run->began - run->session.paused, 1e-9);
    const int64_t end = run->step > run->last_step ? run->step : run->last_step; // live: beyond it
    const int64_t done = run->step - run->first, all = end - run->first;
    const int tenths = (int)(10 * done / (all > 0 ? all : 1));
    if (run->live ? now - run->shown < 0.1 : tenths == run->tenths) {
        return;
    }
    const double rate = (double)done / spent, left = (double)(all - done) / fmax(rate, 1e-9);
    const long seconds = left < 3e6 ? (long)(left + 0.5) : 3000000;
    (void)fprintf(stderr,
                  "%s  %s  %.4g s of %.4g s  |  %.3g steps/s  |  %d contacts  |  %d it  |  "
                  "residual %.0e  |  %.3gx real time  |  %ld:%02ld:%02ld left%s",
                  run->live ? "\r\x1b[K" : "", run->base, run->from.scene->step * (double)run->step,
                  run->from.scene->step * (double)end, rate, info->contact_count, info->iterations,
                  run->totals.residual, rate * run->from.scene->step, seconds / 3600,
                  seconds / 60 % 60, seconds % 60, run->live ? "" : "\n");
    run->shown = now;
    run->tenths = tenths;
}

// A word for a shell: in quotes where it needs them.
static void print_word(FILE *out, const char *word) {
    if (word[0] != '\0' && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-+=./,:@%") == strlen(word)) {
        (void)fputs(word, out);
        return;
    }
    (void)fputc('\'', out);
    for (; *word != '\0'; word++) {
        (void)fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    }
    (void)fputc('\'', out);
}

static void say_resume(const Run *run) {
    (void)fputs("filum: resume with: filum run ", stderr);
    print_word(stderr, run->path);
    (void)fputs(" --out ", stderr);
    print_word(stderr, run->folder);
    for (int k = 0; k < run->options->set.count; k++) {
        (void)fputs(" --set ", stderr);
        print_word(stderr, run->options->set.items[k]);
    }
    if (run->options->until > 0.0) {
        (void)fprintf(stderr, " --until %.17g", run->options->until);
    }
    (void)fputs(" --resume\n", stderr);
}

static CliStatus fail(Run *run, const FilError *error, CliStatus status) {
    clear_line(run);
    cli_say("%s", error->text);
    note(run, "failed: %s", error->text);
    return status;
}

// --- the folder ----------------------------------------------------------------------------------

static bool exists(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0;
}

static CliStatus name_files(Run *run) {
    run->base = cli_scene_base(run->path);
    if (run->base != NULL) {
        run->folder = run->options->out != NULL ? cli_join_path(NULL, run->options->out)
                                                : cli_join_path("runs", run->base);
    }
    if (run->folder != NULL) {
        run->result_path = cli_join_path(run->folder, "result.h5");
        run->checkpoint_path = cli_join_path(run->folder, "checkpoint.bin");
        run->log_path = cli_join_path(run->folder, "log.txt");
        run->scene_path = cli_join_path(run->folder, "scene.json");
        run->options_path = cli_join_path(run->folder, "run.json");
    }
    if (run->result_path == NULL || run->checkpoint_path == NULL || run->log_path == NULL ||
        run->scene_path == NULL || run->options_path == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

// Whether another program writes the run now: then nothing of it is touched.
static bool is_being_written(const Run *run) {
    FilResult *result = NULL;
    FilError error; // what cannot be read is told, or replaced, later
    const bool growing = exists(run->result_path) &&
                         fil_result_open(run->result_path, NULL, &result, &error) == FIL_OK &&
                         fil_result_is_growing(result);
    fil_result_discard(result);
    return growing;
}

// Files of a folder that holds no run are somebody else's.
static bool are_names_free(const Run *run) {
    const char *const paths[] = {run->scene_path, run->options_path, run->log_path};
    bool all = true;
    for (size_t k = 0; all && k < sizeof paths / sizeof *paths; k++) {
        all = !exists(paths[k]);
        if (!all) {
            cli_say("%s exists already; --force replaces it", paths[k]);
        }
    }
    return all;
}

// Whether the folder's scene.json is this scene.
static bool has_scene(const Run *run) {
    char bytes[4096];
    size_t at = 0, got = 0;
    FILE *file = fopen(run->scene_path, "rb");
    bool same = file != NULL;
    while (same && (got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        same = got <= run->from.size - at && memcmp(bytes, run->from.text + at, got) == 0;
        at += got;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return same && at == run->from.size;
}

// Whether what the folder holds, a scene or a result without a checkpoint, is this run, killed
// before it had made a step.
static bool was_begun(const Run *run) {
    FilResult *result = NULL;
    FilError error;
    if (exists(run->result_path) &&
        fil_result_open(run->result_path, NULL, &result, &error) == FIL_OK) {
        const bool empty =
            fil_result_step_count(result) == 0 && fil_result_frame_count(result) <= 1;
        fil_result_discard(result);
        return empty;
    }
    return has_scene(run);
}

// --resume: from the checkpoint, or from the start where there is none yet.
static CliStatus check_resumed(Run *run) {
    if (exists(run->checkpoint_path)) {
        return CLI_FINE;
    }
    if (!was_begun(run)) {
        cli_say("%s holds no checkpoint to go on from; %s", run->folder,
                exists(run->result_path) ? "--force replaces the run"
                                         : "without --resume a run begins");
        return CLI_BAD_FILE;
    }
    cli_say("%s was stopped before its first step; the run begins anew", run->folder);
    run->resume = false;
    run->force = true;
    return CLI_FINE;
}

static CliStatus check_folder(Run *run) {
    if ((run->options->resume || run->options->force) && is_being_written(run)) {
        cli_say("%s: being written by another program", run->result_path);
        return CLI_BAD_FILE;
    }
    const bool there = exists(run->result_path) || exists(run->checkpoint_path);
    if (run->options->resume) {
        return check_resumed(run);
    }
    if (there && !run->options->force) {
        cli_say("%s holds a run already; --resume goes on with it, --force replaces it",
                run->folder);
        return CLI_BAD_FILE;
    }
    if (!run->options->force && !are_names_free(run)) {
        return CLI_BAD_FILE;
    }
    return cli_check_folder(run->folder);
}

// A text in JSON, between quotes.
static void print_text(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        (void)fprintf(out,
                      *c == '"' || *c == '\\'  ? "\\%c"
                      : (unsigned char)*c < 32 ? " "
                                               : "%c",
                      *c);
    }
    (void)fputc('"', out);
}

// The options as JSON, to be freed; with `path`, that of the scene, where it is known.
static char *describe_options(const Run *run, const char *path, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (out == NULL) {
        return NULL;
    }
    (void)fprintf(out, "{\"filum\": \"%s\", \"threads\": %d, \"set\": [", fil_version(),
                  fil_thread_count(run->options->threads));
    for (int k = 0; k < run->options->set.count; k++) {
        (void)fputs(k > 0 ? ", " : "", out);
        print_text(out, run->options->set.items[k]);
    }
    (void)fprintf(out, "], \"until\": %.17g, \"seed\": %" PRIu64,
                  run->from.scene->step * (double)run->last_step, run->from.scene->seed);
    if (path != NULL) {
        (void)fputs(", \"scene\": ", out);
        print_text(out, path);
    }
    (void)fputs("}\n", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

// Until the run is certain to begin the log is kept in memory: that of an old run stays.
static CliStatus begin_log(Run *run) {
    run->log = open_memstream(&run->early, &run->early_size);
    if (run->log == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    note(run, "%s filum %s, %d threads: %s %s%s", date, fil_version(),
         fil_thread_count(run->options->threads), run->resume ? "goes on with" : "runs", run->path,
         run->options->set.count > 0 ? ", with" : "");
    for (int k = 0; k < run->options->set.count; k++) {
        note(run, "  --set %s", run->options->set.items[k]);
    }
    return CLI_FINE;
}

// From now on the log is a file.
static CliStatus keep_log(Run *run) {
    const bool told = fclose(run->log) == 0;
    run->log = fopen(run->log_path, run->resume ? "ab" : "wb");
    if (!told || run->log == NULL) {
        cli_say("%s: cannot write: %s", run->log_path, strerror(errno));
        return CLI_BAD_FILE;
    }
    (void)fwrite(run->early, 1, run->early_size, run->log); // close_log() tells what fails
    (void)fflush(run->log);
    return CLI_FINE;
}

static CliStatus write_scene(const Run *run) {
    return cli_write_file(run->scene_path, run->from.text, run->from.size, true);
}

// run.json.
static CliStatus write_options(const Run *run) {
    size_t size = 0;
    char *path = realpath(run->path, NULL); // meshes are looked for beside the scene
    char *text = describe_options(run, path, &size);
    CliStatus status = CLI_BAD_FILE;
    if (text == NULL) {
        cli_say("there is not enough memory");
    } else {
        status = cli_write_file(run->options_path, text, size, true);
    }
    free(path);
    free(text);
    return status;
}

// What killed writers left, now that nobody else writes this run.
static void tidy(const Run *run) {
    fil_file_tidy(run->checkpoint_path);
    fil_file_tidy(run->scene_path);
    fil_file_tidy(run->options_path);
}

// --- beginning -----------------------------------------------------------------------------------

// The world as it is now, where it is fit to be kept.
static CliStatus take_frame(Run *run, FilFrame *frame) {
    FilError error;
    if (fil_recorder_frame(run->recorder, frame, &error) == FIL_OK) {
        run->sane = 1 + run->step;
        return CLI_FINE;
    }
    run->exploded = true;
    note(run, "failed: %s", error.text);
    clear_line(run);
    if (run->frame_count > 0) {
        cli_say("%s; the run ends with the %" PRId64 " frame%s before it", error.text,
                run->frame_count, cli_plural(run->frame_count));
    } else {
        cli_say("%s", error.text);
    }
    return CLI_NOT_ACCEPTABLE;
}

static CliStatus save_checkpoint(Run *run) {
    FilWorld *world = fil_stage_world(run->stage);
    const int64_t count = fil_world_state_count(world);
    FilError error;
    FilFrame frame;
    const CliStatus fit = run->sane == 1 + run->step ? CLI_FINE : take_frame(run, &frame);
    if (fit != CLI_FINE) {
        return fit;
    }
    if (fil_result_sync(run->result, &error) != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    if (count > run->state_room) {
        double *state = realloc(run->state, sizeof(double) * 2 * (size_t)count);
        if (state == NULL) {
            cli_say("there is not enough memory");
            return CLI_BAD_FILE;
        }
        run->state = state;
        run->state_room = 2 * count;
    }
    fil_world_get_state(world, run->state);
    size_t size = 0;
    const char *events = fil_stage_events(run->stage, &size);
    if (events == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    const FilCheckpoint checkpoint = {.scene = run->from.hash,
                                      .step_count = run->step,
                                      .frame_count = run->frame_count,
                                      .state = run->state,
                                      .state_count = count,
                                      .events = events,
                                      .events_size = (int64_t)size};
    if (fil_checkpoint_write(run->checkpoint_path, &checkpoint, &error) != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    return CLI_FINE;
}

static CliStatus append_frame(Run *run) {
    FilFrame frame;
    FilError error;
    const CliStatus fit = take_frame(run, &frame);
    if (fit != CLI_FINE) {
        return fit;
    }
    if ((run->from.scene->output.fields & 1U << FIL_OUTPUT_CONTACTS) == 0) {
        frame.contact_count = 0;
    }
    cli_live_frame(&run->session, &frame);
    const FilStatus status = fil_result_append(run->result, &frame, &error);
    run->frame_count++;
    return status == FIL_OK ? CLI_FINE : fail(run, &error, CLI_BAD_FILE);
}

// The result with its first frame, and a checkpoint.
static CliStatus begin_result(Run *run) {
    size_t size = 0;
    char *options = describe_options(run, NULL, &size);
    FilResultDef def = fil_recorder_def(run->recorder);
    def.name = run->from.scene->name;
    def.scene = run->from.text; // ends with a 0
    def.options = options;
    def.seed = (int64_t)run->from.scene->seed;
    FilError error;
    // before anything else: what is left of the run before must not be gone on with
    (void)remove(run->checkpoint_path);
    FilStatus status =
        fil_result_create(run->result_path, &def, run->force, NULL, &run->result, &error);
    free(options);
    if (status != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    CliStatus begun = append_frame(run);
    return begun == CLI_FINE ? save_checkpoint(run) : begun;
}

static CliStatus begin_new(Run *run) {
    const bool fresh = !exists(run->result_path); // else the scene is that of the run before
    CliStatus status = fresh ? write_scene(run) : CLI_FINE;
    if (status != CLI_FINE) {
        return status;
    }
    status = begin_result(run);
    if (status == CLI_FINE) {
        return fresh ? CLI_FINE : write_scene(run);
    }
    if (fresh && run->result != NULL) { // it has no frame
        fil_result_discard(run->result);
        run->result = NULL;
        (void)remove(run->result_path);
    }
    if (fresh && !exists(run->result_path)) { // nothing was begun
        (void)remove(run->scene_path);
    }
    return status;
}

// Count the steps that were done before, and go on after them.
static CliStatus resume_result(Run *run) {
    FilResult *before = NULL;
    FilError error;
    if (fil_result_open(run->result_path, NULL, &before, &error) != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    CliStatus status = CLI_FINE;
    if (fil_result_step_count(before) >= run->step) {
        status = cli_totals_read(&run->totals, before, run->step);
    }
    run->idle = run->step >= run->last_step && !run->options->live; // that may go on beyond it
    run->frame_count = run->idle ? fil_result_frame_count(before) : run->frame_count;
    fil_result_discard(before);
    if (status == CLI_FINE && !run->idle &&
        fil_result_resume(run->result_path, run->frame_count, run->step, NULL, &run->result,
                          &error) != FIL_OK) {
        status = fail(run, &error, CLI_BAD_FILE);
    }
    return status;
}

static CliStatus resume(Run *run) {
    FilCheckpoint *checkpoint = NULL;
    FilError error;
    FilStatus status =
        fil_checkpoint_read(run->checkpoint_path, run->from.hash, NULL, &checkpoint, &error);
    if (status != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    status = fil_stage_resume_events(run->stage, checkpoint->state, checkpoint->state_count,
                                     checkpoint->events, &error); // which end with a 0
    run->step = run->first = checkpoint->step_count;
    run->frame_count = checkpoint->frame_count;
    fil_checkpoint_destroy(checkpoint, NULL);
    if (status != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    note(run, "resumes after step %" PRId64 ", %" PRId64 " frames", run->step, run->frame_count);
    const CliStatus resumed = resume_result(run);
    return resumed == CLI_FINE && !has_scene(run) ? write_scene(run) : resumed;
}

// --- the loop ------------------------------------------------------------------------------------

// Does something that comes every `every` seconds come with this step? Its number alone decides.
static bool is_due(const Run *run, double every) {
    const double ratio = run->from.scene->step / every;
    return floor(ratio * (double)run->step + 1e-6) > floor(ratio * (double)(run->step - 1) + 1e-6);
}

// A step failed, and the world is as before it: a run that is watched pauses, others end.
static CliStatus fail_step(Run *run, FilStatus status, const FilError *error) {
    if (run->session.live == NULL || status == FIL_E_NO_MEMORY) {
        return fail(run, error, status == FIL_E_NO_MEMORY ? CLI_BAD_FILE : CLI_NOT_ACCEPTABLE);
    }
    if (run->warning_count++ < LOGGED_WARNINGS) {
        note(run, "step %" PRId64 " failed: %s", run->step + 1, error->text);
    }
    clear_line(run);
    cli_say("%s; the world is paused in the state before this step", error->text);
    cli_live_fail(&run->session, run->stage, error->text);
    return CLI_FINE;
}

static CliStatus take_step(Run *run) {
    FilStepInfo info;
    FilError error;
    FilStatus status = fil_stage_step(run->stage, &info, &error);
    if (status == FIL_E_INTERRUPTED) { // the world is as before the step: that is saved
        return CLI_FINE;
    }
    if (status != FIL_OK) {
        return fail_step(run, status, &error);
    }
    run->step++;
    const FilResultStep step = {.time = fil_world_time(fil_stage_world(run->stage)), .info = info};
    cli_totals_add(&run->totals, step.time, &info);
    cli_live_step(&run->session, &step);
    warn_step(run, &info);
    if (fil_result_add_step(run->result, &step, &error) != FIL_OK) {
        return fail(run, &error, CLI_BAD_FILE);
    }
    CliStatus done = CLI_FINE;
    if (is_due(run, run->from.scene->output.every)) {
        done = append_frame(run);
    }
    if (done == CLI_FINE && is_due(run, run->from.scene->output.save)) {
        done = save_checkpoint(run);
    }
    show_progress(run, &info);
    return done;
}

// A run that is watched has come to the end of its scene: it is saved, and waits.
static CliStatus reach_end(Run *run) {
    clear_line(run);
    cli_say("the scene has ended; go on in the browser, or end the run with Ctrl-C");
    note(run, "the end of the scene is reached after step %" PRId64, run->step);
    const CliStatus status = save_checkpoint(run);
    cli_live_reach_end(&run->session, run->stage);
    return status;
}

// Whether there is a step to take; one that is watched is waited for.
static bool has_step(Run *run, CliStatus *status) {
    if (run->session.live == NULL) {
        return run->step < run->last_step && !cli_is_interrupted();
    }
    if (run->step >= run->last_step && !run->session.finished) {
        *status = reach_end(run);
    }
    return *status == CLI_FINE && cli_live_wait(&run->session, run->stage, run->recorder);
}

static CliStatus take_steps(Run *run) {
    CliStatus status = CLI_FINE;
    if (run->idle) {
        return CLI_FINE;
    }
    run->began = cli_clock();
    while (status == CLI_FINE && has_step(run, &status)) {
        status = take_step(run);
    }
    clear_line(run);
    cli_live_let_go(&run->session, run->stage);
    if (status == CLI_NOT_ACCEPTABLE && !run->exploded) { // the world is as before the step
        const CliStatus saved = save_checkpoint(run);
        return saved > status ? saved : status;
    }
    if (status != CLI_FINE) {
        return status;
    }
    const bool on_schedule = run->step == 0 || is_due(run, run->from.scene->output.every);
    status = save_checkpoint(run);
    if (status == CLI_FINE && run->step >= run->last_step && !on_schedule) {
        status = append_frame(run);
    }
    return status;
}

// --- the end -------------------------------------------------------------------------------------

// "interrupted": by Ctrl-C; "stopped": by somebody who watched it.
static void print_summary(const Run *run, bool interrupted) {
    const double time = fil_world_time(fil_stage_world(run->stage));
    if (run->options->json) {
        (void)fputs("{\"scene\":", stdout);
        cli_print_json_text(run->path);
        (void)fputs(",\"folder\":", stdout);
        cli_print_json_text(run->folder);
        (void)printf(",\"outcome\":\"%s\"", !interrupted           ? "done"
                                            : run->session.stopped ? "stopped"
                                                                   : "interrupted");
        cli_print_json_number("time", time);
        cli_print_json_number("frames", (double)run->frame_count);
        cli_print_json_number("unsettled", fil_stage_unsettled_count(run->stage));
        cli_totals_print_json(&run->totals);
        (void)puts("}");
        return;
    }
    (void)printf("%s: %s at %g s: %" PRId64 " step%s, %" PRId64 " frame%s -> %s\n", run->base,
                 interrupted ? "stopped" : "done", time, run->totals.steps,
                 cli_plural(run->totals.steps), run->frame_count, cli_plural(run->frame_count),
                 run->folder);
    cli_totals_print(&run->totals, stdout);
}

static CliStatus finish(Run *run, CliStatus status) {
    FilError error;
    const bool interrupted =
        (cli_is_interrupted() || run->session.stopped) && run->step < run->last_step;
    FilResult *result = run->result;
    run->result = NULL;
    if (status == CLI_FINE && result != NULL && fil_result_close(result, &error) != FIL_OK) {
        status = fail(run, &error, CLI_BAD_FILE);
    } else if (status != CLI_FINE) {
        fil_result_discard(result);
    }
    if (status != CLI_FINE) {
        return status;
    }
    note(run,
         "%s after step %" PRId64 ": %" PRId64 " frames, %" PRId64 " steps not converged, "
         "%" PRId64 " pairs tunnelled, worst residual %.2e",
         interrupted ? "stopped" : "done", run->step, run->frame_count, run->totals.unconverged,
         run->totals.missed, run->totals.residual);
    print_summary(run, interrupted);
    if (fil_stage_unsettled_count(run->stage) > 0) {
        const int unsettled = fil_stage_unsettled_count(run->stage);
        cli_say("warning: no equilibrium was found for %d rod%s to start from (see %s)", unsettled,
                cli_plural(unsettled), run->log_path);
    }
    if (run->totals.unconverged > 0) {
        cli_say("warning: %" PRId64 " step%s did not converge (see %s)", run->totals.unconverged,
                cli_plural(run->totals.unconverged), run->log_path);
    }
    if (run->totals.missed > 0) {
        cli_say("%" PRId64 " pair%s passed through each other (tunnelling); substeps did not "
                "prevent it (see %s)",
                run->totals.missed, run->totals.missed == 1 ? " of pieces" : "s of pieces",
                run->log_path);
    }
    if (run->totals.pressed > 0) {
        cli_say("warning: %" PRId64
                " step%s left overlaps deeper than a fifth of a radius (see %s)",
                run->totals.pressed, cli_plural(run->totals.pressed), run->log_path);
    }
    if (run->totals.slowed > 0) {
        cli_say("warning: bodies were slowed in %" PRId64 " step%s that were too violent for their "
                "length; shorter steps may help (see %s)",
                run->totals.slowed, cli_plural(run->totals.slowed), run->log_path);
    }
    if (interrupted) {
        say_resume(run);
        return run->session.stopped ? cli_flush() : CLI_INTERRUPTED;
    }
    const CliStatus flushed = cli_flush();
    const bool bad = run->totals.missed > 0 ||
                     (run->options->strict &&
                      run->totals.unconverged + run->totals.pressed + run->totals.slowed > 0);
    return flushed != CLI_FINE ? flushed : bad ? CLI_NOT_ACCEPTABLE : CLI_FINE;
}

static CliStatus prepare(Run *run) {
    CliStatus status = name_files(run);
    if (status == CLI_FINE) {
        status = cli_scene_load(run->path, &run->options->set, false, &run->from);
    }
    if (status == CLI_FINE) {
        const double until =
            run->options->until > 0.0 ? run->options->until : run->from.scene->duration;
        const double steps = ceil(until / run->from.scene->step - 1e-6);
        if (!(steps <= 1e12)) {
            cli_say("--until is %g; that is more than 1e12 steps", until);
            return CLI_BAD_COMMAND;
        }
        run->last_step = (int64_t)steps;
        status = check_folder(run);
    }
    if (status == CLI_FINE && !cli_make_folders(run->folder, &run->folders_made)) {
        cli_say("%s: cannot write there: %s", run->folder, strerror(errno));
        status = CLI_BAD_FILE;
    }
    return status;
}

// Things that begin in each other are pushed apart in the first steps; it is seldom what was meant.
static CliStatus warn_of_overlaps(Run *run) {
    char text[CLI_OVERLAPS][300];
    CliStatus status = CLI_FINE;
    const int count = cli_find_overlaps(run->from.scene, run->options->threads, text, &status);
    for (int k = 0; k < count; k++) {
        note(run, "warning: %s", text[k]);
        cli_say("warning: %s", text[k]);
    }
    return status;
}

// With --live: serve the world, before anything of an old run is touched.
static CliStatus begin_session(Run *run) {
    if (!run->options->live) {
        return CLI_FINE;
    }
    run->session.running = !run->options->paused;
    run->session.speed = run->options->speed;
    run->session.until = run->from.scene->step * (double)run->last_step;
    return cli_live_start(&run->session, run->from.scene, run->recorder, run->options->port);
}

static CliStatus begin(Run *run) {
    const FilLog log = {.write = on_log, .user = run};
    FilError error;
    CliStatus status = begin_log(run);
    if (status == CLI_FINE && !run->resume) {
        status = warn_of_overlaps(run);
    }
    if (status == CLI_FINE) {
        status = cli_stage_make(run->from.scene, run->options->threads, &log, &run->stage);
    }
    if (status == CLI_FINE &&
        fil_recorder_create(fil_stage_world(run->stage), NULL, &run->recorder, &error) != FIL_OK) {
        status = fail(run, &error, CLI_BAD_FILE);
    }
    if (status == CLI_FINE) {
        fil_world_set_stop(fil_stage_world(run->stage), cli_wants_end, NULL);
        cli_name_bodies(run->recorder, run->from.scene);
        status = begin_session(run);
    }
    if (status == CLI_FINE) {
        status = run->resume ? resume(run) : begin_new(run);
    }
    if (status == CLI_FINE) {
        status = keep_log(run);
    }
    if (status == CLI_FINE) {
        tidy(run);
        status = write_options(run);
    }
    return status == CLI_FINE
               ? cli_live_announce(&run->session, run->stage, run->recorder, run->options->json)
               : status;
}

static void free_run(Run *run) {
    cli_live_stop(&run->session);
    fil_result_discard(run->result);
    fil_recorder_destroy(run->recorder);
    fil_stage_destroy(run->stage);
    cli_scene_free(&run->from);
    free(run->state);
    free(run->base);
    free(run->folder);
    free(run->result_path);
    free(run->checkpoint_path);
    free(run->log_path);
    free(run->scene_path);
    free(run->options_path);
    free(run->early);
}

static CliStatus close_log(Run *run, CliStatus status) {
    const bool fine = run->log == NULL || (ferror(run->log) == 0 && fclose(run->log) == 0);
    if (!fine && status < CLI_BAD_FILE) {
        cli_say("%s: cannot write: %s", run->log_path, strerror(errno));
        return CLI_BAD_FILE;
    }
    return status;
}

// Options that do not go together: says so.
static bool check_options(const Options *options) {
    if (options->resume && options->force) {
        cli_say("--resume goes on with a run, --force replaces it: choose one");
        return false;
    }
    if (!options->live && (options->paused || options->port != 0 || options->speed != 1.0)) {
        cli_say("--paused, --port and --speed are for --live");
        return false;
    }
    return true;
}

static CliStatus run_run(const CliVerb *verb, int argc, char **argv) {
    Options options = {.speed = 1.0};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 1) {
        cli_say(count == 0 ? "which scene? For instance: filum run scene.json"
                           : "run takes one scene, not %d",
                count);
        return CLI_BAD_COMMAND;
    }
    if (!check_options(&options)) {
        return CLI_BAD_COMMAND;
    }
    Run run = {.options = &options,
               .path = argv[0],
               .live = isatty(STDERR_FILENO) != 0,
               .resume = options.resume,
               .force = options.force};
    CliStatus status = prepare(&run);
    cli_catch_interrupt();
    if (status == CLI_FINE) {
        status = begin(&run);
        if (status != CLI_FINE) { // nothing was begun: no folder stays that has nothing in it
            cli_unmake_folders(run.folder, run.folders_made);
        }
    }
    if (status == CLI_FINE) {
        status = finish(&run, take_steps(&run));
    }
    status = close_log(&run, status);
    free_run(&run);
    return status;
}

const CliVerb cli_run = {
    .name = "run",
    .operands = "SCENE",
    .summary = "run a scene in time",
    .description =
        "Runs a scene and writes a run folder: scene.json (a copy), run.json (version, options), "
        "log.txt, result.h5 (the motion, readable while it grows) and a checkpoint. "
        "Ctrl-C discards the step in progress, saves, and prints the command that resumes the run. "
        "After a crash, --resume continues from the last checkpoint. "
        "Either way the result has the same bits as an unbroken run.\n"
        "Steps that do not converge are counted; with --strict they give status 1. Tunnelling "
        "(things that passed through each other in spite of substeps) always gives status 1. "
        "A run ends with status 1 when the world explodes: a number is not finite, or there is "
        "more energy than at 1e6 m/s. The frames before that are kept.\n"
        "With --live a browser shows the world while it runs. There it can be paused, stepped and "
        "pulled at, and gravity, wind and friction can be changed. "
        "The checkpoint keeps every change, so that --resume reproduces them. The world pauses "
        "when a step fails and at the end of the scene; from either it can go on. "
        "Ctrl-C saves and ends the run; End in the viewer does the same, with status 0.",
    .examples = "filum run scene.json\tinto runs/scene\n"
                "filum run scene.json --until 0.5 --set friction[0].mu=0\tonly half a second of "
                "it, without friction\n"
                "filum run scene.json --live\tin a browser, in real time\n"
                "filum run scene.json --resume\tcontinue after Ctrl-C or a crash",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_run,
};
