// cmd_view.c - filum view: a run, in a browser.
//
// The URL is the only thing on stdout. The server has a thread of its own; this one waits for
// Ctrl-C.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "live.h"
#include "runs.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

typedef struct Options {
    int port;
    bool json;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_COUNT("port", "N", port, 0, 65535, "port of 127.0.0.1; default 0, any free one"),
    CLI_OPTION_FLAG("json", json, "the URL in a JSON object"),
};

static CliStatus serve(FilRunSource *run, const Options *options) {
    FilServer *server = NULL;
    FilError error;
    const FilServerDef def = {.port = options->port,
                              .page = (const char *)cli_page,
                              .page_size = cli_page_size,
                              .source = fil_run_source(run)};
    FilSourceState state = {.time = 0.0}; // asked for before the server's thread does
    def.source.state(def.source.self, &state);
    cli_catch_interrupt();
    if (fil_server_start(&def, &server, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    const CliStatus status = cli_say_url(server, options->json);
    if (status == CLI_FINE) {
        if (state.note[0] != '\0') {
            cli_say("%s", state.note);
        }
        cli_say_how_to_open(server, "Ctrl-C ends");
    }
    while (status == CLI_FINE && !cli_is_interrupted()) {
        const struct timespec nap = {.tv_nsec = 50000000};
        (void)nanosleep(&nap, NULL); // Ctrl-C ends it early
    }
    fil_server_stop(server);
    return status;
}

// The result file of a run, to be freed.
static char *name_result(const char *run) {
    struct stat about;
    const bool folder = stat(run, &about) == 0 && S_ISDIR(about.st_mode);
    return folder ? cli_join_path(run, "result.h5") : cli_join_path(NULL, run);
}

static CliStatus view(const char *of, FilResult *result, const Options *options) {
    FilRunSource *run = NULL;
    FilError error;
    char *path = name_result(of);
    if (path == NULL) {
        cli_say("there is not enough memory");
        fil_result_discard(result);
        return CLI_BAD_FILE;
    }
    const FilStatus made = fil_run_source_create(result, path, &run, &error);
    free(path);
    if (made != FIL_OK) {
        cli_say("%s", error.text);
        fil_result_discard(result);
        return CLI_BAD_FILE;
    }
    const CliStatus status = serve(run, options);
    fil_run_source_destroy(run);
    return status;
}

static CliStatus run_view(const CliVerb *verb, int argc, char **argv) {
    Options options = {.port = 0};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 1) {
        cli_say(count == 0 ? "which run? For instance: filum view runs/hair"
                           : "view takes one run, not %d",
                count);
        return CLI_BAD_COMMAND;
    }
    FilResult *result = NULL;
    const CliStatus status = cli_result_open(argv[0], &result);
    return status == CLI_FINE ? view(argv[0], result, &options) : status;
}

const CliVerb cli_view = {
    .name = "view",
    .operands = "RUN",
    .summary = "look at a run in a browser",
    .description =
        "Serves a run folder, or a result file, and prints the URL to open in a browser on this "
        "machine. "
        "A run that is still being written grows while it is shown; the page says so when a run "
        "ended early. "
        "The server listens on 127.0.0.1 only, and the URL holds a secret that is new every time. "
        "To look from another machine, open a tunnel there with ssh -L 8080:127.0.0.1:PORT "
        "USER@MACHINE, then the URL with port 8080. "
        "Ctrl-C ends the server, with status 0.",
    .examples = "filum view runs/scene\tuntil Ctrl-C\n"
                "filum view runs/scene --port 8080\tthe same port every time",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_view,
};
