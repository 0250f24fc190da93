// cmd_render.c - filum render: a picture of a frame.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "pictures.h"
#include "runs.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Options {
    CliPicture picture;
    const char *out;
    int frame;
    double time;
    bool force;
} Options;

enum { NO_FRAME = INT_MIN };

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "FILE.png", out, "where the picture goes, also -o; must be given"),
    CLI_OPTION_COUNT("frame", "K", frame, -INT_MAX, INT_MAX,
                     "frame, counted from 0; default -1, the last one"),
    CLI_OPTION_REAL("time", "T", time, 0.0, HUGE_VAL, "the frame nearest to T seconds"),
    CLI_PICTURE_ROWS,
    CLI_OPTION_FLAG("force", force, "replace a file that exists"),
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

static CliStatus draw(const Options *options, FilResult *result, int64_t index) {
    const FilResultDef *def = fil_result_def(result);
    FilRenderOptions use;
    FilFrame frame;
    FilError error;
    CliStatus status = cli_picture_options(&options->picture, def, &use);
    if (status != CLI_FINE) {
        return status;
    }
    FilExtent extent = {.balls = NULL};
    FilPicture picture = {.pixels = NULL};
    if (fil_result_read(result, index, &frame, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    status = cli_picture_look(&use, &extent, def, &frame, 1);
    if (status == CLI_FINE && fil_render_fit(&use, &extent, &error) != FIL_OK) {
        cli_say("%s", error.text);
        status = CLI_BAD_COMMAND;
    }
    if (status == CLI_FINE &&
        (fil_picture_create(use.width, use.height, &picture, &error) != FIL_OK ||
         fil_render_frame(&use, def, &frame, &picture, &error) != FIL_OK)) {
        cli_say("%s", error.text);
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE && cli_is_interrupted()) {
        cli_say("interrupted; %s was not written", options->out);
        status = CLI_INTERRUPTED;
    }
    if (status == CLI_FINE &&
        fil_picture_write(&picture, options->out, options->force, &error) != FIL_OK) {
        cli_say("%s", error.text);
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE) {
        (void)printf("frame %" PRId64 ", %g s -> %s\n", index, frame.time, options->out);
        status = cli_flush();
    }
    fil_picture_destroy(&picture);
    fil_extent_destroy(&extent);
    return status;
}

static CliStatus check_options(const Options *options) {
    if (options->out == NULL || !cli_ends_with(options->out, ".png")) {
        cli_say(options->out == NULL ? "where does the picture go? -o FILE.png"
                                     : "%s: a picture is a .png file",
                options->out);
        return CLI_BAD_COMMAND;
    }
    if (options->frame != NO_FRAME && options->time >= 0.0) {
        cli_say("--frame and --time both choose the frame; give one of them");
        return CLI_BAD_COMMAND;
    }
    if (!options->force && access(options->out, F_OK) == 0) {
        cli_say("%s exists already; --force replaces it", options->out);
        return CLI_BAD_FILE;
    }
    return cli_check_parent(options->out);
}

static CliStatus run_render(const CliVerb *verb, int argc, char **argv) {
    Options options = {.picture = cli_picture_default(), .frame = NO_FRAME, .time = -1.0};
    CliStatus status;
    if (!cli_parse_run(verb, argc, argv, &options, &status) ||
        (status = check_options(&options)) != CLI_FINE) {
        return status;
    }
    FilResult *result = NULL;
    int64_t frame_count = 0, index = -1;
    status = cli_picture_open(argv[0], &result, &frame_count);
    if (status == CLI_FINE) {
        index = options.time >= 0.0
                    ? find_time(result, options.time, frame_count)
                    : cli_picture_frame("frame", options.frame == NO_FRAME ? -1 : options.frame,
                                        frame_count);
        status = index >= 0 ? draw(&options, result, index) : CLI_BAD_COMMAND;
    }
    fil_result_discard(result);
    return status;
}

const CliVerb cli_render = {
    .name = "render",
    .operands = "RUN",
    .summary = "draw a frame of a run as a picture",
    .description =
        "Ray-traces a frame of a run folder, or of a result file, with soft shadows: rods as thick "
        "as they are, hair as hair. Without --camera all is in view, from the side that shows "
        "most. A run may still be going on.",
    .examples = "filum render runs/knot -o knot.png\tthe last frame\n"
                "filum render runs/knot --time 0.5 --colour tension -o pull.png\twith a scale\n"
                "filum render runs/knot --camera \"from=0,-1,0.3 zoom=1.5\" -o near.png\tnearer",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_render,
};
