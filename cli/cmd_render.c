// cmd_render.c - filum render: pictures of a frame, or of several with the same camera.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "pictures.h"
#include "runs.h"
#include "slice.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    CliPicture picture;
    const char *out, *frames;
    int frame;
    double time;
    bool each, force;
} Options;

enum { NO_FRAME = INT_MIN };

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "FILE.png", out, "where the picture goes, also -o; must be given"),
    CLI_OPTION_COUNT("frame", "K", frame, -INT_MAX, INT_MAX,
                     "frame number, counted from 0; default -1, the last frame"),
    CLI_OPTION_REAL("time", "T", time, 0.0, HUGE_VAL, "the frame nearest to T seconds"),
    CLI_OPTION_TEXT(
        "frames", "A:B:S", frames,
        "several frames, like a Python slice, into FILE-000042.png and so on; one camera "
        "and one colour scale hold for all"),
    CLI_OPTION_FLAG("each", each, "with --frames: fit camera and scale to each frame"),
    CLI_PICTURE_ROWS,
    CLI_OPTION_FLAG("force", force, "replace files that exist"),
};

// The frame nearest to a time; -1 after saying what is wrong.
static int64_t find_time(FilResult *result, double time, int64_t frame_count) {
    double *times = malloc(sizeof *times * (size_t)frame_count);
    FilError error;
    if (times == NULL) {
        cli_say("there is not enough memory");
        return -1;
    }
    int64_t best = 0;
    if (fil_result_read_times(result, 0, frame_count, times, &error) != FIL_OK) {
        cli_say("%s", error.text);
        best = -1;
    }
    for (int64_t k = 0; best >= 0 && k < frame_count; k++) {
        best = fabs(times[k] - time) < fabs(times[best] - time) ? k : best;
    }
    // a little beyond the last frame is still nearest to it: half of what lies between two
    const double end = best >= 0 ? times[frame_count - 1] : 0.0;
    const double before = best >= 0 && frame_count > 1 ? times[frame_count - 2] : end;
    const double beyond = 0.5 * fmax(fil_result_def(result)->step, end - before);
    if (best >= 0 && time > end + beyond * (1.0 + 1e-9)) {
        cli_say("--time is %.9g; the run has %" PRId64 " frame%s up to %.9g s", time, frame_count,
                cli_plural(frame_count), end);
        best = -1;
    }
    free(times);
    return best;
}

// The frames that are drawn, and what all pictures of them share.
typedef struct Job {
    const Options *options;
    FilResult *result;
    int64_t first, count, stride;
    bool single; // one frame, into the file that was named
    FilRenderOptions use;
} Job;

// x.png, or x-000042.png of several, to be freed.
static char *name_picture(const Job *job, int64_t index) {
    const char *out = job->options->out;
    const size_t stem = strlen(out) - strlen(".png"), room = stem + 40;
    char *path = malloc(room);
    if (path == NULL) {
        cli_say("there is not enough memory");
    } else if (job->single) {
        (void)snprintf(path, room, "%s", out);
    } else {
        (void)snprintf(path, room, "%.*s-%06" PRId64 ".png", (int)stem, out, index);
    }
    return path;
}

static CliStatus read_frame(const Job *job, int64_t index, FilFrame *frame) {
    FilError error;
    if (fil_result_read(job->result, index, frame, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

// Fit camera and scale to one frame.
static CliStatus fit_to(FilRenderOptions *use, const FilResultDef *def, const FilFrame *frame) {
    FilExtent extent = {.balls = NULL};
    CliStatus status = cli_picture_look(use, &extent, def, frame, 1);
    if (status == CLI_FINE) {
        status = cli_picture_fit(use, &extent);
    }
    fil_extent_destroy(&extent);
    return status;
}

// Fit them to all frames.
static CliStatus fit_to_all(Job *job) {
    CliSeen seen = cli_seen_make();
    CliStatus status = CLI_FINE;
    for (int64_t k = 0; k < job->count && status == CLI_FINE; k++) {
        FilFrame frame;
        status = read_frame(job, job->first + k * job->stride, &frame);
        if (status == CLI_FINE) {
            status = cli_seen_add(&seen, &job->use, fil_result_def(job->result), &frame, true);
        }
        if (status == CLI_FINE && cli_is_interrupted()) {
            cli_say("interrupted; nothing was written");
            status = CLI_INTERRUPTED;
        }
    }
    if (status == CLI_FINE) {
        status = cli_seen_fit(&seen, &job->use);
    }
    cli_seen_free(&seen);
    return status;
}

static CliStatus write_picture(const Job *job, const FilRenderOptions *use, const FilFrame *frame,
                               const char *path) {
    FilPicture picture = {.pixels = NULL};
    FilError error;
    CliStatus status = CLI_FINE;
    if (fil_picture_create(use->width, use->height, &picture, &error) != FIL_OK ||
        fil_render_frame(use, fil_result_def(job->result), frame, &picture, &error) != FIL_OK) {
        cli_say("%s", error.text);
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE && cli_is_interrupted()) {
        cli_say("interrupted; %s was not written", path);
        status = CLI_INTERRUPTED;
    }
    if (status == CLI_FINE &&
        fil_picture_write(&picture, path, job->options->force, &error) != FIL_OK) {
        cli_say("%s", error.text);
        status = CLI_BAD_FILE;
    }
    fil_picture_destroy(&picture);
    return status;
}

static CliStatus draw(const Job *job, int64_t index) {
    const bool own = job->single || job->options->each;
    FilRenderOptions use = job->use;
    FilFrame frame;
    char *path = name_picture(job, index);
    CliStatus status = path != NULL ? read_frame(job, index, &frame) : CLI_BAD_FILE;
    if (status == CLI_FINE && own) {
        status = fit_to(&use, fil_result_def(job->result), &frame);
    }
    if (status == CLI_FINE) {
        status = write_picture(job, &use, &frame, path);
    }
    if (status == CLI_FINE) {
        (void)printf("frame %" PRId64 ", %g s -> %s\n", index, frame.time, path);
        status = cli_flush();
    }
    if (status == CLI_FINE && own) {
        cli_picture_say_camera(&use);
    }
    free(path);
    return status;
}

static CliStatus check_free(const Job *job, int64_t index) {
    char *path = name_picture(job, index);
    CliStatus status = path != NULL ? CLI_FINE : CLI_BAD_FILE;
    if (path != NULL && !job->options->force && access(path, F_OK) == 0) {
        cli_say("%s exists already; --force replaces it", path);
        status = CLI_BAD_FILE;
    }
    free(path);
    return status;
}

static CliStatus draw_all(Job *job) {
    CliStatus status = CLI_FINE;
    for (int64_t k = 0; k < job->count && status == CLI_FINE; k++) {
        status = check_free(job, job->first + k * job->stride);
    }
    if (status == CLI_FINE) {
        status =
            cli_picture_options(&job->options->picture, fil_result_def(job->result), &job->use);
    }
    const bool shared = !job->single && !job->options->each;
    if (status == CLI_FINE && shared) {
        status = fit_to_all(job);
    }
    for (int64_t k = 0; k < job->count && status == CLI_FINE; k++) {
        status = draw(job, job->first + k * job->stride);
    }
    if (status == CLI_FINE && shared) {
        cli_picture_say_camera(&job->use);
    }
    return status;
}

static CliStatus check_options(const Options *options) {
    if (options->out == NULL || !cli_ends_with(options->out, ".png")) {
        cli_say(options->out == NULL ? "where should the picture go? -o FILE.png"
                                     : "%s: a picture is a .png file",
                options->out);
        return CLI_BAD_COMMAND;
    }
    if (options->frame != NO_FRAME && options->time >= 0.0) {
        cli_say("--frame and --time both choose the frame; give one of them");
        return CLI_BAD_COMMAND;
    }
    if (options->frames != NULL && (options->frame != NO_FRAME || options->time >= 0.0)) {
        cli_say("--frames chooses several frames; --frame and --time choose one");
        return CLI_BAD_COMMAND;
    }
    if (options->each && options->frames == NULL) {
        cli_say("--each is for --frames");
        return CLI_BAD_COMMAND;
    }
    return cli_check_parent(options->out);
}

// Which frames are drawn; what is wrong is said.
static CliStatus choose_frames(Job *job, const CliSlice *slice, int64_t frame_count) {
    const Options *options = job->options;
    if (options->frames != NULL) {
        job->stride = slice->stride;
        return cli_slice_choose(slice, frame_count, &job->first, &job->count) ? CLI_FINE
                                                                              : CLI_BAD_COMMAND;
    }
    job->single = true;
    job->count = job->stride = 1;
    job->first = options->time >= 0.0
                     ? find_time(job->result, options->time, frame_count)
                     : cli_picture_frame("frame", options->frame == NO_FRAME ? -1 : options->frame,
                                         frame_count);
    return job->first >= 0 ? CLI_FINE : CLI_BAD_COMMAND;
}

static CliStatus run_render(const CliVerb *verb, int argc, char **argv) {
    Options options = {.picture = cli_picture_default(), .frame = NO_FRAME, .time = -1.0};
    Job job = {.options = &options};
    CliSlice slice;
    CliStatus status;
    if (!cli_parse_run(verb, argc, argv, &options, &status) ||
        (status = check_options(&options)) != CLI_FINE) {
        return status;
    }
    if (!cli_slice_read(options.frames, &slice)) {
        return CLI_BAD_COMMAND;
    }
    int64_t frame_count = 0;
    status = cli_picture_open(argv[0], &job.result, &frame_count);
    if (status == CLI_FINE) {
        status = choose_frames(&job, &slice, frame_count);
    }
    if (status == CLI_FINE) {
        status = draw_all(&job);
    }
    fil_result_discard(job.result);
    return status;
}

const CliVerb cli_render = {
    .name = "render",
    .operands = "RUN",
    .summary = "draw a frame of a run as a picture",
    .description =
        "Ray-traces a frame of a run folder, or of a result file, with soft shadows: rods as thick "
        "as they are, hair as hair. Without --camera all is in view, from the side that shows "
        "most, and Filum prints the camera that it chose: with it, other frames are seen from the "
        "same place. A run may still be going on.",
    .examples = "filum render runs/knot -o knot.png\tthe last frame\n"
                "filum render runs/knot --time 0.5 --colour tension -o pull.png\twith a scale\n"
                "filum render runs/knot --camera \"from=0,-1,0.3 zoom=1.5\" -o near.png\tnearer\n"
                "filum render runs/knot --frames ::10 -o knot.png\tknot-000000.png, "
                "knot-000010.png, ... with one camera",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_render,
};
