// cmd_export.c - filum export: results in the formats of other programs.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "runs.h"
#include "slice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Options {
    int to, up, sides;
    double fps;
    const char *out, *frames;
    bool force;
} Options;

#define CHOICE(code, name, text) {name, text},
static const CliChoice formats[] = {FIL_EXPORT_FORMATS(CHOICE)};

#define UP_CHOICE(code, name, text) {name, text},
static const CliChoice ups[] = {FIL_EXPORT_UPS(UP_CHOICE)};

static const CliOption option_table[] = {
    CLI_OPTION_CHOICE("to", "FORMAT", to, formats, "the format; must be given"),
    CLI_OPTION_TEXT("out", "DIR", out, "folder for the files; default RUN/FORMAT"),
    CLI_OPTION_TEXT(
        "frames", "A:B:S", frames,
        "frames A to B - 1, every Sth, like a Python slice (-1 is the last frame); or one "
        "frame; default: all"),
    CLI_OPTION_CHOICE("up", "AXIS", up, ups, "which axis points up"),
    CLI_OPTION_REAL("fps", "N", fps, 1e-9, 1e9,
                    "usda, glb: frames per second when played; default: real time"),
    CLI_OPTION_COUNT("sides", "N", sides, 3, 64,
                     "glb: sides of the tubes; default 8, fewer for more than 20000 points"),
    CLI_OPTION_FLAG("force", force, "replace files that exist"),
};

// The last part of a path, without slashes at its end, to be freed.
static char *name_of(const char *run) {
    char *path = cli_join_path(NULL, run);
    size_t length = path != NULL ? strlen(path) : 0;
    while (length > 1 && path[length - 1] == '/') {
        path[--length] = '\0';
    }
    char *name = path != NULL ? cli_scene_base(path) : NULL;
    free(path);
    if (name != NULL && cli_ends_with(name, ".h5")) {
        name[strlen(name) - strlen(".h5")] = '\0';
    }
    return name;
}

// FORMAT in the run's folder, also where its result file was named.
static char *choose_folder(const Options *options, const char *run) {
    struct stat about;
    const char *format = formats[options->to].name, *slash = strrchr(run, '/');
    if (options->out != NULL) {
        return cli_join_path(NULL, options->out);
    }
    if (stat(run, &about) == 0 && S_ISDIR(about.st_mode)) {
        return cli_join_path(run, format);
    }
    char *folder = slash != NULL ? cli_join_path(NULL, run) : NULL;
    if (folder != NULL) {
        folder[slash - run + 1] = '\0';
    }
    char *path = slash != NULL && folder == NULL ? NULL : cli_join_path(folder, format);
    free(folder);
    return path;
}

static bool is_stopped(void *user) {
    (void)user;
    return cli_is_interrupted();
}

// What is left of an export that did not end.
static CliStatus say_failure(FilStatus done, const char *why, int64_t count, const char *folder) {
    if (cli_is_interrupted()) {
        if (count > 0) {
            cli_say("interrupted; %" PRId64 " file%s that %s complete %s kept in %s", count,
                    cli_plural(count), count == 1 ? "is" : "are", count == 1 ? "is" : "are",
                    folder);
        } else {
            cli_say("interrupted; nothing was written");
        }
        return CLI_INTERRUPTED;
    }
    if (count > 0) {
        cli_say("%s; %" PRId64 " file%s before that %s kept", why, count, cli_plural(count),
                count == 1 ? "is" : "are");
    } else {
        cli_say("%s", why);
    }
    return done == FIL_E_ARGUMENT ? CLI_BAD_COMMAND : CLI_BAD_FILE;
}

static void warn_of_losses(const FilResult *result, FilExportFormat format) {
    char losses[240];
    if (fil_export_losses(fil_result_def(result), format, losses, sizeof losses)) {
        cli_say("warning: %s does not hold %s", fil_export_format_name(format), losses);
    }
}

static CliStatus write_files(FilResult *result, const Options *options, const FilExportOptions *use,
                             const char *folder, const char *name) {
    CliStatus status = cli_check_folder(folder);
    if (status != CLI_FINE) {
        return status;
    }
    int made = 0;
    if (!cli_make_folders(folder, &made)) {
        cli_say("%s: cannot write there: %s", folder, strerror(errno));
        return CLI_BAD_FILE;
    }
    int64_t count = 0;
    FilError error;
    const FilStatus done =
        fil_export(result, (FilExportFormat)options->to, use, folder, name, &count, &error);
    if (done == FIL_OK) {
        (void)printf("%" PRId64 " file%s -> %s\n", count, cli_plural(count), folder);
        warn_of_losses(result, (FilExportFormat)options->to);
        return cli_flush();
    }
    if (count == 0) {
        cli_unmake_folders(folder, made);
    }
    return say_failure(done, error.text, count, folder);
}

// Options that the format makes nothing of.
static CliStatus check_options(const Options *options) {
    const char *format = formats[options->to].name;
    if (options->fps > 0.0 && options->to != FIL_EXPORT_USDA && options->to != FIL_EXPORT_GLB) {
        cli_say("--fps is for usda and glb, which are played; %s is not", format);
        return CLI_BAD_COMMAND;
    }
    if (options->sides > 0 && options->to != FIL_EXPORT_GLB) {
        cli_say("--sides is for glb; %s has no tubes", format);
        return CLI_BAD_COMMAND;
    }
    return CLI_FINE;
}

static CliStatus run_export(const CliVerb *verb, int argc, char **argv) {
    Options options = {.to = -1};
    CliStatus status;
    if (!cli_parse_run(verb, argc, argv, &options, &status)) {
        return status;
    }
    if (options.to < 0) {
        cli_say("to which format? --to usda, hair, glb, vtp, csv, npy or obj");
        return CLI_BAD_COMMAND;
    }
    if (check_options(&options) != CLI_FINE) {
        return CLI_BAD_COMMAND;
    }
    FilExportOptions use = fil_export_options_default();
    use.up = (FilExportUp)options.up;
    use.fps = options.fps;
    use.tube_sides = options.sides;
    use.force = options.force;
    use.stop = is_stopped;
    CliSlice slice;
    if (!cli_slice_read(options.frames, &slice)) {
        return CLI_BAD_COMMAND;
    }
    use.from = slice.from;
    use.to = slice.to;
    use.stride = slice.stride;
    FilResult *result = NULL;
    cli_catch_interrupt();
    status = cli_result_open(argv[0], &result);
    char *folder = choose_folder(&options, argv[0]), *name = name_of(argv[0]);
    if (status == CLI_FINE && (folder == NULL || name == NULL)) {
        cli_say("there is not enough memory");
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE) {
        status = write_files(result, &options, &use, folder, name);
    }
    fil_result_discard(result);
    free(folder);
    free(name);
    return status;
}

const CliVerb cli_export = {
    .name = "export",
    .operands = "RUN",
    .summary = "write the motion of a run for other programs",
    .description = "Writes the frames of a run folder, or of a result file, for other programs: "
                   "renderers and modellers (usda, glb, hair, obj), ParaView (vtp), spreadsheets "
                   "(csv), NumPy (npy). A run may still be going on. What a format cannot hold is "
                   "named in a warning on stderr.",
    .examples = "filum export runs/knot --to vtp\tall frames, for ParaView\n"
                "filum export runs/knot --to usda --fps 24\tfor Blender or Houdini, 24 frames a "
                "second\n"
                "filum export runs/knot --to glb --frames -1\tthe last frame, for the web\n"
                "filum export runs/knot --to obj --frames ::10 --out frames\tevery tenth",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_export,
};
