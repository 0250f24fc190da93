// pictures.c - what the verbs that make pictures share.
#include "pictures.h"
#include "runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LARGEST_SIDE = 16384, SMALLEST_SIDE = 16 };

#define FIELD_CHOICE(code, name, unit, text) {name, text},
const CliChoice cli_colours[1 + FIL_FIELD_COUNT] = {{"natural", "as hair and rope are"},
                                                    FIL_FIELDS(FIELD_CHOICE)};
#define BACKGROUND_CHOICE(code, name, text) {name, text},
const CliChoice cli_backgrounds[FIL_BACKGROUND_COUNT] = {FIL_BACKGROUNDS(BACKGROUND_CHOICE)};

CliPicture cli_picture_default(void) {
    return (CliPicture){.colour = -1, .samples = 16};
}

static CliStatus read_size(const char *text, FilRenderOptions *out) {
    char *end = NULL;
    const long width = strtol(text, &end, 10);
    const long height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || width < SMALLEST_SIDE || height < SMALLEST_SIDE || width > LARGEST_SIDE ||
        height > LARGEST_SIDE) {
        cli_say("--size is \"%s\"; it must be WIDTHxHEIGHT, each from %d to %d", text,
                SMALLEST_SIDE, LARGEST_SIDE);
        return CLI_BAD_COMMAND;
    }
    out->width = (int)width;
    out->height = (int)height;
    return CLI_FINE;
}

static bool is_stopped(void *user) {
    (void)user;
    return cli_is_interrupted();
}

CliStatus cli_picture_options(const CliPicture *from, const FilResultDef *def,
                              FilRenderOptions *out) {
    *out = fil_render_options_default();
    out->stop = is_stopped;
    out->samples = from->samples;
    out->threads = fil_thread_count(from->threads);
    out->background = (FilBackground)from->background;
    out->wisps = !from->no_wisps;
    out->floor = !from->no_ground;
    out->colour = from->colour < 0 ? fil_render_choose_colour(def) : from->colour - 1;
    if (from->size != NULL && read_size(from->size, out) != CLI_FINE) {
        return CLI_BAD_COMMAND;
    }
    FilError error;
    if (from->camera != NULL && fil_camera_read(from->camera, &out->camera, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_COMMAND;
    }
    return CLI_FINE;
}

// Rays are floats: see largest_number of render/camera.c. The camera would stand where it looks.
static CliStatus check_extent(const FilExtent *extent, double time) {
    const double largest = 1e9; // m
    double most = 0.0;
    for (int k = 0; extent->count > 0 && k < 3; k++) {
        most = fmax(most, fmax(fabs(extent->low[k]), fabs(extent->high[k])));
    }
    if (most <= largest) {
        return CLI_FINE;
    }
    cli_say("the frame at %.9g s has a coordinate of %.3g m; pictures show at most %g m", time,
            most, largest);
    return CLI_BAD_FILE;
}

// Widen the scale to the values of a frame.
static CliStatus widen_scale(FilRenderOptions *options, const FilResultDef *def,
                             const FilFrame *frame) {
    const size_t count = (size_t)def->point_count;
    double *values = calloc(2 * count + 1, sizeof *values), range[2];
    if (values == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    fil_field_compute((FilField)options->colour, def, frame, values);
    fil_field_range(values, def->point_count, values + count, range);
    options->range[0] = fmin(options->range[0], range[0]);
    options->range[1] = fmax(options->range[1], range[1]);
    if (options->range[0] < 0.0) { // even about 0
        options->range[1] = fmax(-options->range[0], options->range[1]);
        options->range[0] = -options->range[1];
    }
    free(values);
    return CLI_FINE;
}

CliStatus cli_picture_look(FilRenderOptions *options, FilExtent *extent, const FilResultDef *def,
                           const FilFrame *frame, int stride) {
    FilError error;
    if (fil_extent_add(extent, def, frame, stride, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    const CliStatus status = check_extent(extent, frame->time);
    if (status != CLI_FINE) {
        return status;
    }
    if (options->colour == FIL_COLOUR_NATURAL || options->colour == FIL_FIELD_ROD) {
        return CLI_FINE;
    }
    const FilField field = (FilField)options->colour;
    if (!fil_field_is_known(field, frame)) {
        cli_say("the run does not contain %s; it was written before Filum recorded it",
                fil_field_name(field));
        return CLI_BAD_FILE;
    }
    return widen_scale(options, def, frame);
}

CliStatus cli_picture_fit(FilRenderOptions *options, const FilExtent *extent) {
    FilError error;
    if (fil_render_fit(options, extent, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_COMMAND;
    }
    return CLI_FINE;
}

void cli_picture_say_camera(const FilRenderOptions *options) {
    char text[FIL_CAMERA_TEXT];
    if (!options->camera.has_eye || !options->camera.has_target) {
        fil_camera_write(&options->camera, text);
        cli_say("drawn with --camera \"%s\"", text);
    }
}

// --- several frames ------------------------------------------------------------------------------

enum { LOOK_STRIDE = 4 }; // of the points that tell where to look from

CliSeen cli_seen_make(void) {
    CliSeen seen = {.some = {.balls = NULL}};
    cli_reach_make(&seen.reach);
    return seen;
}

void cli_seen_free(CliSeen *seen) {
    fil_extent_destroy(&seen->some);
    fil_extent_destroy(&seen->one);
}

CliStatus cli_seen_add(CliSeen *seen, FilRenderOptions *options, const FilResultDef *def,
                       const FilFrame *frame, bool sample) {
    FilError error;
    seen->one.count = 0;
    const CliStatus status = cli_picture_look(options, &seen->one, def, frame, 1);
    if (status != CLI_FINE) {
        return status;
    }
    cli_reach_add(&seen->reach, &seen->one);
    if (sample && fil_extent_add(&seen->some, def, frame, LOOK_STRIDE, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

CliStatus cli_seen_fit(CliSeen *seen, FilRenderOptions *options) {
    if (!cli_reach_give(&seen->reach, &seen->some)) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    return cli_picture_fit(options, &seen->some);
}

// --- runs ----------------------------------------------------------------------------------------

CliStatus cli_picture_open(const char *run, FilResult **out, int64_t *frame_count) {
    cli_catch_interrupt();
    const CliStatus status = cli_result_open(run, out);
    if (status != CLI_FINE) {
        return status;
    }
    *frame_count = fil_result_frame_count(*out);
    const bool growing = fil_result_is_growing(*out);
    if (*frame_count == 0) {
        cli_say("%s: the run has no frames%s", run, growing ? " yet" : "");
        return CLI_BAD_FILE;
    }
    if (growing) {
        cli_say("%s: the run is still going on; it has %" PRId64 " frame%s by now", run,
                *frame_count, cli_plural(*frame_count));
    }
    return CLI_FINE;
}

int64_t cli_picture_frame(const char *option, int64_t index, int64_t frame_count) {
    const int64_t at = index < 0 ? index + frame_count : index;
    if (at < 0 || at >= frame_count) {
        if (frame_count == 1) {
            cli_say("--%s is %" PRId64 "; the run has one frame, 0", option, index);
        } else {
            cli_say("--%s is %" PRId64 "; the run has %" PRId64 " frames, 0 to %" PRId64, option,
                    index, frame_count, frame_count - 1);
        }
        return -1;
    }
    return at;
}
