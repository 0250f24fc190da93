#ifndef FIL_CLI_H
#define FIL_CLI_H

// What the verbs of the program share: exit status, the option table, and talk on stderr.
//
// A verb is one static table entry; parsing, --help, the man page and shell completion all come
// from it. To add a verb: write cli/cmd_<verb>.c with a `const CliVerb cli_<verb>`, and add it to
// CLI_VERBS.

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// clang-format off
#define CLI_VERBS(X) \
    X(cli_run)       \
    X(cli_settle)    \
    X(cli_check)     \
    X(cli_claims)    \
    X(cli_info)      \
    X(cli_view)      \
    X(cli_render)    \
    X(cli_movie)     \
    X(cli_plot)      \
    X(cli_compare)   \
    X(cli_export)    \
    X(cli_dump)      \
    X(cli_new)       \
    X(cli_scenes)    \
    X(cli_solve)     \
    X(cli_make)      \
    X(cli_bench)     \
    X(cli_demo)      \
    X(cli_validate)
// clang-format on

// Exit status, everywhere; of several files the highest wins.
typedef enum CliStatus {
    CLI_FINE = 0,
    CLI_NOT_ACCEPTABLE = 1, // it ran, but did not converge, a case failed, ...
    CLI_BAD_COMMAND = 2,
    CLI_BAD_FILE = 3, // unreadable, invalid or unwritable
    CLI_INTERRUPTED = 130
} CliStatus;

typedef struct CliChoice {
    const char *name, *text;
} CliChoice;

typedef enum CliKind {
    CLI_FLAG,   // bool
    CLI_COUNT,  // int
    CLI_REAL,   // double
    CLI_TEXT,   // const char *
    CLI_CHOICE, // int, index into the choices
    CLI_LIST,   // CliList: may be given several times
} CliKind;

#define CLI_LIST_MAX 64
typedef struct CliList {
    const char *items[CLI_LIST_MAX];
    int count;
} CliList;

typedef struct CliOption {
    const char *name;  // without the dashes
    const char *value; // what the help calls it; NULL for a flag
    const char *text;  // one line
    CliKind kind;
    int choice_count;
    size_t offset;    // of the field in the verb's options
    double low, high; // of counts and reals, both allowed
    const CliChoice *choices;
} CliOption;

// Rows of the option table of a verb; `field` is in the verb's struct Options.
#define CLI_OPTION_FLAG(name_, field, text_) \
    { .name = (name_), .kind = CLI_FLAG, .offset = offsetof(Options, field), .text = (text_) }
#define CLI_OPTION_TEXT(name_, value_, field, text_)                                              \
    {                                                                                             \
        .name = (name_), .value = (value_), .kind = CLI_TEXT, .offset = offsetof(Options, field), \
        .text = (text_)                                                                           \
    }
#define CLI_OPTION_LIST(name_, value_, field, text_)                                              \
    {                                                                                             \
        .name = (name_), .value = (value_), .kind = CLI_LIST, .offset = offsetof(Options, field), \
        .text = (text_)                                                                           \
    }
#define CLI_OPTION_COUNT(name_, value_, field, low_, high_, text_)                                 \
    {                                                                                              \
        .name = (name_), .value = (value_), .kind = CLI_COUNT, .offset = offsetof(Options, field), \
        .low = (low_), .high = (high_), .text = (text_)                                            \
    }
#define CLI_OPTION_REAL(name_, value_, field, low_, high_, text_)                                 \
    {                                                                                             \
        .name = (name_), .value = (value_), .kind = CLI_REAL, .offset = offsetof(Options, field), \
        .low = (low_), .high = (high_), .text = (text_)                                           \
    }
#define CLI_OPTION_CHOICE(name_, value_, field, list, text_)           \
    {                                                                  \
        .name = (name_), .value = (value_), .kind = CLI_CHOICE,        \
        .offset = offsetof(Options, field), .choices = (list),         \
        .choice_count = sizeof(list) / sizeof *(list), .text = (text_) \
    }

typedef struct CliVerb {
    const char *name;
    const char *operands;    // "FILE..."
    const char *summary;     // one line
    const char *description; // paragraphs, each one line
    const char *examples;    // lines of "command\tcomment"
    const CliOption *options;
    int option_count;
    CliStatus (*run)(const struct CliVerb *verb, int argc, char **argv);
    const char *(*word)(int k); // an operand that completion offers; NULL: none, or no more
    int files_first;            // operands before these, which are files
} CliVerb;

#define CLI_DECLARE_VERB(verb) extern const CliVerb verb;
CLI_VERBS(CLI_DECLARE_VERB)

/// All verbs; `count` receives how many.
const CliVerb *const *cli_verbs(int *count);

/// Read `argv` (without program and verb) into `options`, which already holds the defaults. What is
/// left, the operands, is moved to the front of argv. Returns how many there are; -1 after a
/// mistake, which is then explained on stderr; -2 when --help was asked for and given.
int cli_parse(const CliVerb *verb, int argc, char **argv, void *options);

/// The same for verbs of one run: true when there is one, which is argv[0] then; else `*status` is
/// how to end, and all has been said.
bool cli_parse_run(const CliVerb *verb, int argc, char **argv, void *options, CliStatus *status);

/// "filum: <sentence>" on stderr.
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// "s" where a noun has one: 0 files, 1 file, 2 files.
const char *cli_plural(long long count);

/// The name that is nearest to `word`, when it is near enough to be meant; else NULL.
const char *cli_nearest(const char *word, const char *const *names, int count);

/// Where to begin, for those who know nothing yet.
void cli_help_start(FILE *out);

/// Help for the whole program, for one verb, as a man page, and as completion for bash; on stdout.
void cli_help(void);
void cli_help_verb(const CliVerb *verb);
void cli_help_man(void);
void cli_help_completion(void);

/// A text in quotes, and ,"name":value; on stdout. What is not UTF-8 becomes U+FFFD, what is not
/// finite null.
void cli_print_json_text(const char *text);
void cli_print_json_number(const char *name, double value);

/// Let the first Ctrl-C only be noted, so that what was found so far is still told; a second kills.
void cli_catch_interrupt(void);
bool cli_is_interrupted(void);
/// The same, for fil_world_set_stop(): a step that takes long ends at once.
bool cli_wants_end(void *user);

/// Seconds of a clock that only goes forward.
double cli_clock(void);

/// Make sure that stdout took everything: CLI_FINE, or CLI_BAD_FILE after saying why.
CliStatus cli_flush(void);

#endif
