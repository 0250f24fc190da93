#ifndef FIL_CLI_PICTURES_H
#define FIL_CLI_PICTURES_H

// What the verbs that make pictures share: their options, and frames read for them.

#include "cli.h"
#include "reach.h"
#include "render/render.h"

typedef struct CliPicture {
    const char *size, *camera;
    int colour, background, samples, threads;
    bool no_wisps, no_ground;
} CliPicture;

extern const CliChoice cli_colours[1 + FIL_FIELD_COUNT];
extern const CliChoice cli_backgrounds[FIL_BACKGROUND_COUNT];

// Rows for the option table of a verb whose struct Options has a CliPicture `picture`.
#define CLI_PICTURE_ROWS                                                                           \
    CLI_OPTION_TEXT("size", "WxH", picture.size, "pixels; default 1280x720"),                      \
        CLI_OPTION_TEXT("camera", "WORDS", picture.camera,                                         \
                        "eye=x,y,z target=x,y,z up=x,y,z from=x,y,z fov=deg zoom=f; fov is the "   \
                        "vertical angle of view; default: all in view"),                           \
        CLI_OPTION_CHOICE(                                                                         \
            "colour", "NAME", picture.colour, cli_colours,                                         \
            "what colours rods; default: rod where there are 2 to 60, else natural"),              \
        CLI_OPTION_CHOICE("background", "NAME", picture.background, cli_backgrounds,               \
                          "default light"),                                                        \
        CLI_OPTION_COUNT("samples", "N", picture.samples, 1, 65536, "rays per pixel; default 16"), \
        CLI_OPTION_FLAG("no-wisps", picture.no_wisps,                                              \
                        "draw hairs that stand for a wisp as single hairs"),                       \
        CLI_OPTION_FLAG("no-ground", picture.no_ground, "no floor for shadows"),                   \
        CLI_OPTION_COUNT("threads", "N", picture.threads, 0, 4096,                                 \
                         "threads; default 0, all cores")

/// Defaults, but for those of the table's rows that are 0.
CliPicture cli_picture_default(void);

/// What the options ask for, with the camera not fitted yet; what is wrong is said.
CliStatus cli_picture_options(const CliPicture *from, const FilResultDef *def,
                              FilRenderOptions *out);

/// Take a frame into account: what must be in view, and the field's scale. Says so where the
/// frame does not have the field, or lies too far out to be seen.
CliStatus cli_picture_look(FilRenderOptions *options, FilExtent *extent, const FilResultDef *def,
                           const FilFrame *frame, int stride);

/// What is seen of some frames before they are drawn. Starts from cli_seen_make().
typedef struct CliSeen {
    FilExtent some, one; // of the frames that tell where to look from, and of the frame at hand
    CliReach reach;      // of all
} CliSeen;

CliSeen cli_seen_make(void);
void cli_seen_free(CliSeen *seen);

/// Take a frame into account; `sample`: it also tells where to look from.
CliStatus cli_seen_add(CliSeen *seen, FilRenderOptions *options, const FilResultDef *def,
                       const FilFrame *frame, bool sample);

/// Fit the camera to what was seen.
CliStatus cli_seen_fit(CliSeen *seen, FilRenderOptions *options);

/// Fit the camera to an extent; what it cannot do is said.
CliStatus cli_picture_fit(FilRenderOptions *options, const FilExtent *extent);

/// Say where the camera stands, as --camera takes it, unless the user has said so.
void cli_picture_say_camera(const FilRenderOptions *options);

/// Open a run that has frames; a run that still grows is talked of. From now on Ctrl-C is noted.
CliStatus cli_picture_open(const char *run, FilResult **out, int64_t *frame_count);

/// Frame `index`, counted from the end where it is negative; -1 after saying what is wrong.
int64_t cli_picture_frame(const char *option, int64_t index, int64_t frame_count);

#endif
