// main.c - the program: find the verb and run it.
#include "cli.h"
#include "live.h"
#include "render/render.h"

#include "filum/fclib.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifndef FIL_BUILD_TYPE
#define FIL_BUILD_TYPE "unknown"
#endif
#ifndef FIL_LIBRARIES
#define FIL_LIBRARIES "AMD, METIS, OpenMP"
#endif

#define VERB_POINTER(verb) &(verb),
static const CliVerb *const all_verbs[] = {CLI_VERBS(VERB_POINTER)};
#define COUNT_VERB(verb) +1
enum { VERB_COUNT = CLI_VERBS(COUNT_VERB) };

const CliVerb *const *cli_verbs(int *count) {
    *count = VERB_COUNT;
    return all_verbs;
}

static const CliVerb *find_verb(const char *name) {
    const char *names[VERB_COUNT + 1];
    for (int k = 0; k < VERB_COUNT; k++) {
        if (strcmp(name, all_verbs[k]->name) == 0) {
            return all_verbs[k];
        }
        names[k] = all_verbs[k]->name;
    }
    names[VERB_COUNT] = "help";
    const char *nearest = cli_nearest(name, names, VERB_COUNT + 1);
    cli_say("there is no verb \"%s\"%s%s%s (filum --help lists them)", name,
            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "?" : "");
    return NULL;
}

static CliStatus print_version(void) {
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    (void)printf("filum %s\nbuild      %s, %s\nthreads    %d\nlibraries  %s, %s\n           %s\n"
                 "           %s, %s\n",
                 fil_version(), FIL_BUILD_TYPE, compiler, fil_thread_count(0), fil_fclib_library(),
                 FIL_LIBRARIES, fil_render_libraries(), fil_server_library(), cli_page_library);
    return cli_flush();
}

static CliStatus print_help(int argc, char **argv) {
    if (argc > 1) {
        cli_say("help takes one verb, not %d", argc);
        return CLI_BAD_COMMAND;
    }
    if (argc == 0) {
        cli_help();
    } else if (strcmp(argv[0], "--man") == 0) {
        cli_help_man();
    } else if (strcmp(argv[0], "--completion") == 0) {
        cli_help_completion();
    } else {
        const CliVerb *verb = find_verb(argv[0]);
        if (verb == NULL) {
            return CLI_BAD_COMMAND;
        }
        cli_help_verb(verb);
    }
    return cli_flush();
}

int main(int argc, char **argv) {
    // a closed pipe, and a file that may not grow, are errors of write(), not the end of us
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        cli_help_start(stderr);
        return CLI_BAD_COMMAND;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        return print_version();
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        return print_help(argc - 2, argv + 2);
    }
    const CliVerb *verb = find_verb(word);
    if (verb == NULL) {
        return CLI_BAD_COMMAND;
    }
    return verb->run(verb, argc - 2, argv + 2);
}
