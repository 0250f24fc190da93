// cmd_new.c - filum new: a scene to start from.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "runs.h"
#include "templates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Options {
    const char *out;
    bool force;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "FILE", out, "the file to write; default NAME.json here"),
    CLI_OPTION_FLAG("force", force, "replace a file that exists"),
};

enum { NAMES_MAX = 64 };

// Say that there is no such scene, and which one may be meant.
static void say_missing(const char *name) {
    const char *names[NAMES_MAX];
    int count = cli_template_count < NAMES_MAX ? cli_template_count : NAMES_MAX;
    for (int k = 0; k < count; k++) {
        names[k] = cli_templates[k].name;
    }
    const char *nearest = cli_nearest(name, names, count);
    cli_say("there is no scene \"%s\"%s%s%s (filum scenes lists them)", name,
            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "?" : "");
}

static CliStatus write_scene(const CliTemplate *from, const char *path, bool force) {
    struct stat about;
    if (lstat(path, &about) == 0 && (!force || !S_ISREG(about.st_mode))) {
        cli_say(force ? "%s exists and is not a regular file"
                      : "%s exists already; --force replaces it",
                path);
        return CLI_BAD_FILE;
    }
    CliStatus status = cli_write_file(path, from->text, from->size, true);
    if (status == CLI_FINE) {
        (void)printf("%s\n", path);
        status = cli_flush();
    }
    return status;
}

static CliStatus run_new(const CliVerb *verb, int argc, char **argv) {
    Options options = {.out = NULL};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 1) {
        cli_say(count == 0 ? "which scene? filum scenes lists them" : "new takes one name, not %d",
                count);
        return CLI_BAD_COMMAND;
    }
    const CliTemplate *from = cli_template_find(argv[0]);
    if (from == NULL) {
        say_missing(argv[0]);
        return CLI_BAD_COMMAND;
    }
    const size_t size = strlen(from->name) + sizeof ".json";
    char *name = malloc(size);
    if (name == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    (void)snprintf(name, size, "%s.json", from->name);
    const CliStatus status =
        write_scene(from, options.out != NULL ? options.out : name, options.force);
    free(name);
    return status;
}

static const char *name_scene(int k) {
    return k < cli_template_count ? cli_templates[k].name : NULL;
}

const CliVerb cli_new = {
    .name = "new",
    .operands = "NAME",
    .summary = "write a scene to start from",
    .description =
        "Writes one of the scenes that filum scenes lists as a file, to run or to change.",
    .examples = "filum new knot\tknot.json\n"
                "filum new wavy-hair --out mine.json\tunder another name",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_new,
    .word = name_scene,
};
