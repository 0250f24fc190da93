// options.c - command lines read by table, and talk on stderr.
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 40, NAMES_MAX = 64 };

void cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)fflush(stdout);
    (void)fputs("filum: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

const char *cli_plural(long long count) {
    return count == 1 ? "" : "s";
}

CliStatus cli_flush(void) {
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return CLI_FINE;
    }
    static bool said;              // once is enough
    if (!said && errno != EPIPE) { // who closed the pipe does not want to hear of it
        cli_say("cannot write to standard output: %s", strerror(errno != 0 ? errno : EIO));
    }
    said = true;
    return CLI_BAD_FILE;
}

static int least(int a, int b, int c) {
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

// Levenshtein's distance, one row at a time.
static int measure_distance(const char *a, const char *b) {
    int row[NAME_MAX_LENGTH + 1];
    const int n = (int)strlen(b);
    for (int j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const int above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *const *names, int count) {
    const size_t length = strlen(word);
    if (length > NAME_MAX_LENGTH) {
        return NULL;
    }
    const char *nearest = NULL;
    int best = (int)length / 3 + 2; // at this distance nobody would see the likeness
    for (int k = 0; k < count; k++) {
        const int distance = measure_distance(word, names[k]);
        if (distance < best) {
            best = distance;
            nearest = names[k];
        }
    }
    return nearest;
}

// ", did you mean <prefix><name>?" or nothing.
static void suggest(char *out, size_t size, const char *prefix, const char *nearest) {
    out[0] = '\0';
    if (nearest != NULL) {
        (void)snprintf(out, size, "; did you mean %s%s?", prefix, nearest);
    }
}

static int fail_unknown(const CliVerb *verb, const char *word) {
    const char *names[NAMES_MAX];
    int count = 0;
    for (; count < verb->option_count && count < NAMES_MAX - 1; count++) {
        names[count] = verb->options[count].name;
    }
    names[count++] = "help";
    char hint[80];
    suggest(hint, sizeof hint, "--", cli_nearest(word, names, count));
    cli_say("%s has no option --%s%s (filum help %s lists them)", verb->name, word, hint,
            verb->name);
    return -1;
}

static int fail_choice(const CliOption *option, const char *text) {
    const char *names[NAMES_MAX];
    char list[400] = "";
    size_t used = 0;
    const int count = option->choice_count < NAMES_MAX ? option->choice_count : NAMES_MAX;
    for (int k = 0; k < count; k++) {
        names[k] = option->choices[k].name;
        const int wrote =
            snprintf(list + used, sizeof list - used, "%s%s", k == 0 ? "" : ", ", names[k]);
        used += wrote > 0 && (size_t)wrote < sizeof list - used ? (size_t)wrote : 0;
    }
    char hint[80];
    suggest(hint, sizeof hint, "", cli_nearest(text, names, count));
    cli_say("--%s is \"%s\"; it must be one of %s%s", option->name, text, list, hint);
    return -1;
}

static int set_choice(const CliOption *option, const char *text, int *field) {
    for (int k = 0; k < option->choice_count; k++) {
        if (strcmp(text, option->choices[k].name) == 0) {
            *field = k;
            return 0;
        }
    }
    return fail_choice(option, text);
}

// Say what a number must be. Limits that are no more than those of an int are not worth a word,
// unless one was reached.
static int fail_number(const CliOption *option, const char *text, double number) {
    const bool whole = option->kind == CLI_COUNT;
    const double limit = whole ? INT_MAX : HUGE_VAL;
    char lower[48] = "", upper[48] = "";
    if (option->low > -limit || number < option->low) {
        (void)snprintf(lower, sizeof lower, " of at least %.10g", option->low);
    }
    if (option->high < limit || number > option->high) {
        (void)snprintf(upper, sizeof upper, " %s at most %.10g", lower[0] != '\0' ? "and" : "of",
                       option->high);
    }
    cli_say("--%s is \"%s\"; it must be a %s%s%s", option->name, text,
            whole ? "whole number" : "number", lower, upper);
    return -1;
}

static int set_number(const CliOption *option, const char *text, void *field) {
    char *end = NULL;
    const double number = strtod(text, &end);
    const bool whole = option->kind == CLI_COUNT;
    if (end == text || *end != '\0') {
        return fail_number(option, text, NAN);
    }
    if (!(number >= option->low && number <= option->high) || (whole && number != floor(number))) {
        return fail_number(option, text, number);
    }
    if (whole) {
        *(int *)field = (int)number;
    } else {
        *(double *)field = number;
    }
    return 0;
}

static int add_item(const CliOption *option, const char *text, CliList *list) {
    if (list->count == CLI_LIST_MAX) {
        cli_say("--%s is given more than %d times", option->name, CLI_LIST_MAX);
        return -1;
    }
    list->items[list->count++] = text;
    return 0;
}

static int set_option(const CliOption *option, const char *text, void *options) {
    void *field = (char *)options + option->offset;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return 0;
    case CLI_TEXT:
        if (text[0] == '\0') {
            cli_say("--%s is empty; it needs a value: --%s %s", option->name, option->name,
                    option->value);
            return -1;
        }
        *(const char **)field = text;
        return 0;
    case CLI_LIST:
        return add_item(option, text, field);
    case CLI_CHOICE:
        return set_choice(option, text, field);
    default:
        return set_number(option, text, field);
    }
}

// One option, "--name", "--name=value" or "--name value"; *k moves past what was used.
static int read_option(const CliVerb *verb, int argc, char **argv, int *k, void *options) {
    char name[NAME_MAX_LENGTH + 1];
    const char *word = argv[*k] + 2, *equals = strchr(word, '=');
    const size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 1000 ? length : 1000), word);
    const CliOption *option = NULL;
    for (int o = 0; o < verb->option_count && option == NULL; o++) {
        option = strcmp(name, verb->options[o].name) == 0 ? &verb->options[o] : NULL;
    }
    if (option == NULL) {
        return fail_unknown(verb, name);
    }
    if (option->kind == CLI_FLAG && equals != NULL) {
        cli_say("--%s takes no value", option->name);
        return -1;
    }
    const char *text = equals != NULL ? equals + 1 : NULL;
    if (option->kind != CLI_FLAG && text == NULL) {
        if (*k + 1 >= argc) {
            cli_say("--%s needs a value: --%s %s", option->name, option->name, option->value);
            return -1;
        }
        text = argv[++*k];
    }
    return set_option(option, text, options);
}

static bool has_option(const CliVerb *verb, const char *name) {
    bool found = false;
    for (int o = 0; o < verb->option_count; o++) {
        found = found || strcmp(verb->options[o].name, name) == 0;
    }
    return found;
}

int cli_parse(const CliVerb *verb, int argc, char **argv, void *options) {
    int operands = 0;
    bool only_operands = false;
    for (int k = 0; k < argc; k++) {
        static char out[] = "--out"; // -o in full
        argv[k] = !only_operands && strcmp(argv[k], "-o") == 0 && has_option(verb, out + 2)
                      ? out
                      : argv[k];
        const char *word = argv[k];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            argv[operands++] = argv[k];
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            cli_help_verb(verb);
            return -2;
        } else if (word[1] != '-') {
            cli_say("%s has no option %s; options are long: filum help %s lists them", verb->name,
                    word, verb->name);
            return -1;
        } else if (read_option(verb, argc, argv, &k, options) != 0) {
            return -1;
        }
    }
    return operands;
}

bool cli_parse_run(const CliVerb *verb, int argc, char **argv, void *options, CliStatus *status) {
    const int count = cli_parse(verb, argc, argv, options);
    *status = CLI_BAD_COMMAND;
    if (count == 1) {
        *status = CLI_FINE;
    } else if (count == -2) {
        *status = cli_flush();
    } else if (count == 0) {
        cli_say("which run? For instance: %.*s", (int)strcspn(verb->examples, "\t"),
                verb->examples);
    } else if (count > 0) {
        cli_say("%s takes one run, not %d", verb->name, count);
    }
    return count == 1;
}
