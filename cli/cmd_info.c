// cmd_info.c - filum info: what a run is and what came of it.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct Options {
    bool json;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_FLAG("json", json, "one JSON object a line"),
};

// What a killed program left behind is cleared, so that other readers open the file.
static bool mend(const char *run) {
    struct stat about;
    bool mended = false;
    char *path = stat(run, &about) == 0 && S_ISDIR(about.st_mode) ? cli_join_path(run, "result.h5")
                                                                  : cli_join_path(NULL, run);
    // what cannot be mended is told when it is opened
    if (path != NULL && fil_result_mend(path, &mended, NULL) != FIL_OK) {
        mended = false;
    }
    free(path);
    return mended;
}

typedef struct Facts {
    int64_t frames;
    double first, last; // s
    bool growing, mended;
    CliTotals totals;
} Facts;

static CliStatus find_facts(FilResult *result, Facts *facts) {
    FilError error;
    facts->frames = fil_result_frame_count(result);
    facts->growing = fil_result_is_growing(result);
    if (facts->frames > 0 &&
        (fil_result_read_times(result, 0, 1, &facts->first, &error) != FIL_OK ||
         fil_result_read_times(result, facts->frames - 1, 1, &facts->last, &error) != FIL_OK)) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return cli_totals_read(&facts->totals, result, fil_result_step_count(result));
}

static void print_json(const char *run, const FilResultDef *def, const Facts *facts) {
    (void)fputs("{\"run\":", stdout);
    cli_print_json_text(run);
    (void)fputs(",\"name\":", stdout);
    cli_print_json_text(def->name);
    (void)fputs(",\"version\":", stdout);
    cli_print_json_text(def->version);
    (void)printf(",\"growing\":%s,\"mended\":%s", facts->growing ? "true" : "false",
                 facts->mended ? "true" : "false");
    cli_print_json_number("frames", (double)facts->frames);
    cli_print_json_number("first", facts->first);
    cli_print_json_number("last", facts->last);
    cli_print_json_number("step", def->step);
    cli_print_json_number("rods", def->rod_count);
    cli_print_json_number("points", def->point_count);
    cli_print_json_number("bodies", def->rigid_count);
    cli_print_json_number("obstacles", def->obstacle_count);
    cli_totals_print_json(&facts->totals);
    (void)puts("}");
}

static void print_text(const char *run, const FilResultDef *def, const Facts *facts) {
    (void)printf("%s: %s, by filum %s%s\n", run, def->name, def->version,
                 facts->growing ? ", being written" : "");
    if (facts->mended) {
        (void)puts("  the program that wrote it was killed; the file is repaired now, and other "
                   "programs can open it");
    }
    (void)printf("  %d rod%s of %d point%s, %d bod%s, %d obstacle%s; step %g s\n", def->rod_count,
                 cli_plural(def->rod_count), def->point_count, cli_plural(def->point_count),
                 def->rigid_count, def->rigid_count == 1 ? "y" : "ies", def->obstacle_count,
                 cli_plural(def->obstacle_count), def->step);
    (void)printf("  %" PRId64 " frame%s, %g s to %g s; %" PRId64 " step%s\n", facts->frames,
                 cli_plural(facts->frames), facts->first, facts->last, facts->totals.steps,
                 cli_plural(facts->totals.steps));
    if (facts->totals.steps > 0) {
        cli_totals_print(&facts->totals, stdout);
    }
}

static CliStatus tell(const char *run, bool json) {
    FilResult *result = NULL;
    Facts facts = {.mended = mend(run)};
    CliStatus status = cli_result_open(run, &result);
    if (status == CLI_FINE) {
        status = find_facts(result, &facts);
    }
    if (status == CLI_FINE) {
        (json ? print_json : print_text)(run, fil_result_def(result), &facts);
    }
    fil_result_discard(result);
    return status;
}

static CliStatus run_info(const CliVerb *verb, int argc, char **argv) {
    Options options = {.json = false};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count == 0) {
        cli_say("which run? For instance: filum info runs/knot");
        return CLI_BAD_COMMAND;
    }
    CliStatus status = CLI_FINE;
    for (int k = 0; k < count; k++) {
        const CliStatus one = tell(argv[k], options.json);
        status = one > status ? one : status;
    }
    const CliStatus flushed = cli_flush();
    return flushed > status ? flushed : status;
}

const CliVerb cli_info = {
    .name = "info",
    .operands = "RUN...",
    .summary = "summarise runs: frames, times, warnings",
    .description =
        "Prints what run folders or result files hold: scene, version, frames, times, and how "
        "often each warning occurred. "
        "A file whose writer was killed is repaired, so that other programs (h5py) can open it.",
    .examples = "filum info runs/knot\tone run\n"
                "filum info runs/* --json\tall of them, an object a line",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_info,
};
