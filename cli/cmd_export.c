// cmd_export.c - filum export: results in the formats of other programs.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "runs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Options {
    int to, first, last, every;
    const char *out;
    bool y_up, force;
} Options;

#define CHOICE(code, name, text) {name, text},
static const CliChoice formats[] = {FIL_EXPORT_FORMATS(CHOICE)};

static const CliOption option_table[] = {
    CLI_OPTION_CHOICE("to", "FORMAT", to, formats, "the format; must be given"),
    CLI_OPTION_TEXT("out", "DIR", out, "where the files go; default RUN/FORMAT"),
    CLI_OPTION_COUNT("first", "K", first, 0, INT_MAX, "first frame; default 0"),
    CLI_OPTION_COUNT("last", "K", last, -INT_MAX, INT_MAX,
                     "last frame; default -1, the last one; -2 is the one before it"),
    CLI_OPTION_COUNT("every", "N", every, 1, INT_MAX, "every Nth frame; default 1"),
    CLI_OPTION_FLAG("y-up", y_up, "turn the world so that z becomes y"),
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

static char *choose_folder(const Options *options, const char *run) {
    struct stat about;
    const char *format = formats[options->to].name;
    if (options->out != NULL) {
        return cli_join_path(NULL, options->out);
    }
    return cli_join_path(stat(run, &about) == 0 && S_ISDIR(about.st_mode) ? run : NULL, format);
}

static CliStatus write_files(FilResult *result, const Options *options, const char *folder,
                             const char *name) {
    CliStatus status = cli_check_folder(folder);
    if (status != CLI_FINE) {
        return status;
    }
    if (!cli_make_folder(folder)) {
        cli_say("%s: cannot write there: %s", folder, strerror(errno));
        return CLI_BAD_FILE;
    }
    FilExportOptions use = fil_export_options_default();
    use.first = options->first;
    use.last = options->last;
    use.every = options->every;
    use.y_up = options->y_up;
    use.force = options->force;
    int64_t count = 0;
    FilError error;
    if (fil_export(result, (FilExportFormat)options->to, &use, folder, name, &count, &error) !=
        FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    (void)printf("%" PRId64 " files -> %s\n", count, folder);
    return cli_flush();
}

static CliStatus run_export(const CliVerb *verb, int argc, char **argv) {
    Options options = {.to = -1, .last = -1, .every = 1};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 1) {
        cli_say(count == 0 ? "which run? For instance: filum export runs/knot --to obj"
                           : "export takes one run, not %d",
                count);
        return CLI_BAD_COMMAND;
    }
    if (options.to < 0) {
        cli_say("to which format? --to vtp, csv, npy or obj");
        return CLI_BAD_COMMAND;
    }
    FilResult *result = NULL;
    CliStatus status = cli_result_open(argv[0], &result);
    char *folder = choose_folder(&options, argv[0]), *name = name_of(argv[0]);
    if (status == CLI_FINE && (folder == NULL || name == NULL)) {
        cli_say("there is not enough memory");
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE) {
        status = write_files(result, &options, folder, name);
    }
    fil_result_discard(result);
    free(folder);
    free(name);
    return status;
}

const CliVerb cli_export = {
    .name = "export",
    .operands = "RUN",
    .summary = "write the motion of a run in other formats",
    .description = "Writes the frames of a run folder, or of a result file, for other programs: "
                   "ParaView (vtp), spreadsheets (csv), NumPy (npy), modellers (obj). A run may "
                   "still be going on.",
    .examples = "filum export runs/knot --to vtp\tall frames, for ParaView\n"
                "filum export runs/knot --to obj --last -1 --every 10 --out frames\tevery tenth",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_export,
};
