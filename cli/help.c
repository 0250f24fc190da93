// help.c - help, man page and shell completion, all from the table of verbs.
#include "cli.h"

#include "filum/base.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, TEXT_COLUMN = 26 };

static const char *const status_lines[] = {
    "0    fine",
    "1    it ran, but the result is not acceptable (not converged, a limit broken)",
    "2    bad command line",
    "3    a file is unreadable, invalid or unwritable",
    "130  interrupted",
};
enum { STATUS_LINES = sizeof status_lines / sizeof *status_lines };

// Paragraphs, one a line, broken at WIDTH and indented.
static void print_wrapped(const char *text, int indent) {
    int column = 0;
    while (*text != '\0') {
        const int length = (int)strcspn(text, " \n");
        if (column > 0 && column + 1 + length > WIDTH) {
            (void)putchar('\n');
            column = 0;
        }
        column += printf("%*s%.*s", column == 0 ? indent : 1, "", length, text);
        text += length;
        if (*text == '\n') {
            (void)putchar('\n');
            column = 0;
        }
        text += *text != '\0';
    }
    if (column > 0) {
        (void)putchar('\n');
    }
}

static void print_option(const CliOption *option) {
    const int wrote = printf("  --%s%s%s", option->name, option->value != NULL ? " " : "",
                             option->value != NULL ? option->value : "");
    const int gap = wrote < TEXT_COLUMN ? TEXT_COLUMN - wrote : 2;
    (void)printf("%*s%s\n", gap, "", option->text);
    for (int k = 0; k < option->choice_count; k++) {
        (void)printf("%*s%-16s %s\n", TEXT_COLUMN + 2, "", option->choices[k].name,
                     option->choices[k].text);
    }
}

// Lines of "command\tcomment".
static void print_examples(const char *examples) {
    while (*examples != '\0') {
        const int command = (int)strcspn(examples, "\t"), line = (int)strcspn(examples, "\n");
        (void)printf("  %.*s\n      %.*s\n", command, examples, line - command - 1,
                     examples + command + 1);
        examples += line + (examples[line] == '\n');
    }
}

static void print_status(void) {
    (void)puts("\nexit status (of several files the highest):");
    for (int k = 0; k < STATUS_LINES; k++) {
        (void)printf("  %s\n", status_lines[k]);
    }
}

void cli_help_verb(const CliVerb *verb) {
    (void)printf("usage: filum %s%s%s [options]\n\n", verb->name,
                 verb->operands[0] != '\0' ? " " : "", verb->operands);
    print_wrapped(verb->description, 0);
    (void)puts("\noptions:");
    for (int k = 0; k < verb->option_count; k++) {
        print_option(&verb->options[k]);
    }
    (void)printf("  %-*s%s\n", TEXT_COLUMN - 2, "--help", "this text");
    (void)puts("\nexamples:");
    print_examples(verb->examples);
    print_status();
}

static const char *const start_lines[][2] = {
    {"filum demo", "solve hard problems, draw pictures"},
    {"filum scenes", "list the scenes: knots, hair, ribbons"},
    {"filum new knot", "write knot.json, a scene to edit"},
    {"filum run knot.json", "simulate it into the folder runs/knot"},
    {"filum view runs/knot", "show it in the browser"},
    {"filum run knot.json --live", "pull at it while it runs"},
    {"filum movie runs/knot -o knot.mp4", "or render, plot, export"},
    {"filum solve FILE.hdf5", "solve a friction problem of FCLIB"},
    {"filum help", "list all verbs; filum help run: one verb"},
};

void cli_help_start(FILE *out) {
    (void)fprintf(out, "filum %s: elastic rods in contact, with exact Coulomb friction\n\n",
                  fil_version());
    for (size_t k = 0; k < sizeof start_lines / sizeof *start_lines; k++) {
        (void)fprintf(out, "  %-35s%s\n", start_lines[k][0], start_lines[k][1]);
    }
}

void cli_help(void) {
    (void)puts("usage: filum VERB [operands] [options]\n\n"
               "Elastic slender structures: rods, and contact with exact Coulomb friction.\n\n"
               "verbs:");
    int count = 0;
    const CliVerb *const *verbs = cli_verbs(&count);
    for (int k = 0; k < count; k++) {
        (void)printf("  %-*s%s\n", TEXT_COLUMN - 2, verbs[k]->name, verbs[k]->summary);
    }
    (void)printf("  %-*s%s\n", TEXT_COLUMN - 2, "help [VERB]", "this text, or the help of a verb");
    (void)puts("\noptions:");
    (void)printf("  %-*s%s\n", TEXT_COLUMN - 2, "--help", "this text");
    (void)printf("  %-*s%s\n", TEXT_COLUMN - 2, "--version",
                 "version, build, threads and libraries");
    (void)puts("\nfirst steps (filum help VERB has more):");
    for (size_t k = 0; k < sizeof start_lines / sizeof *start_lines; k++) {
        (void)printf("  %-35s%s\n", start_lines[k][0], start_lines[k][1]);
    }
    print_status();
}

// ---------------------------------------------------------------------------------- the man page

// troff takes a dash for a hyphen, and a line that opens with . or ' for a request.
static void print_troff(const char *text) {
    for (bool opens = true; *text != '\0'; text++) {
        if (opens && (*text == '.' || *text == '\'')) {
            (void)fputs("\\&", stdout);
        }
        opens = *text == '\n';
        if (*text == '-') {
            (void)fputs("\\-", stdout);
        } else if (*text == '\\') {
            (void)fputs("\\e", stdout);
        } else if (*text == '\t') {
            (void)fputs("\n.br\n", stdout);
        } else {
            (void)putchar(*text);
        }
    }
    (void)putchar('\n');
}

static void print_man_verb(const CliVerb *verb) {
    (void)printf(".SH %s\n.B filum %s\n", verb->name, verb->name);
    print_troff(verb->operands);
    (void)puts("[options]\n.PP");
    print_troff(verb->description);
    for (int k = 0; k < verb->option_count; k++) {
        const CliOption *option = &verb->options[k];
        (void)fputs(".TP\n\\fB\\-\\-", stdout);
        for (const char *c = option->name; *c != '\0'; c++) {
            (void)fputs(*c == '-' ? "\\-" : (const char[]){*c, '\0'}, stdout);
        }
        (void)printf("\\fR%s%s\n", option->value != NULL ? " " : "",
                     option->value != NULL ? option->value : "");
        print_troff(option->text);
        for (int c = 0; c < option->choice_count; c++) {
            (void)puts(".br");
            (void)printf("\\fI%s\\fR: ", option->choices[c].name);
            print_troff(option->choices[c].text);
        }
    }
    (void)puts(".PP\nExamples:\n.PP\n.nf");
    print_troff(verb->examples);
    (void)puts(".fi");
}

void cli_help_man(void) {
    (void)printf(".TH FILUM 1 \"\" \"filum %s\"\n.SH NAME\nfilum \\- elastic rods, and contact "
                 "with exact Coulomb friction\n.SH SYNOPSIS\n.B filum\nVERB [operands] [options]\n",
                 fil_version());
    (void)puts(".SH DESCRIPTION\nResults go to stdout, messages to stderr. No file "
               "is overwritten unless you ask for it.");
    int count = 0;
    const CliVerb *const *verbs = cli_verbs(&count);
    for (int k = 0; k < count; k++) {
        print_man_verb(verbs[k]);
    }
    (void)puts(".SH EXIT STATUS\n.nf");
    for (int k = 0; k < STATUS_LINES; k++) {
        (void)puts(status_lines[k]);
    }
    (void)puts(".fi");
}

// ------------------------------------------------------------------------------------ completion

static void print_completion_verb(const CliVerb *verb) {
    (void)printf("    %s)\n        case \"$previous\" in\n", verb->name);
    for (int k = 0; k < verb->option_count; k++) {
        const CliOption *option = &verb->options[k];
        if (option->choice_count > 0) {
            (void)printf("        --%s) words=\"", option->name);
            for (int c = 0; c < option->choice_count; c++) {
                (void)printf("%s%s", c == 0 ? "" : " ", option->choices[c].name);
            }
            (void)puts("\" ;;");
        }
    }
    (void)fputs("        *) words=\"--help", stdout);
    for (int k = 0; k < verb->option_count; k++) {
        (void)printf(" --%s", verb->options[k].name);
    }
    (void)puts("\"");
    if (verb->word != NULL) {
        (void)printf("           [ \"$COMP_CWORD\" -gt %d ] && [[ $word != -* ]] && words=\"",
                     1 + verb->files_first);
        const char *name = NULL;
        for (int k = 0; (name = verb->word(k)) != NULL; k++) {
            (void)printf("%s%s", k == 0 ? "" : " ", name);
        }
        (void)puts("\"");
    }
    (void)puts("           ;;\n        esac ;;");
}

static void print_verbs(void) {
    int count = 0;
    const CliVerb *const *verbs = cli_verbs(&count);
    for (int k = 0; k < count; k++) {
        (void)printf("%s%s", k == 0 ? "" : " ", verbs[k]->name);
    }
}

void cli_help_completion(void) {
    int count = 0;
    const CliVerb *const *verbs = cli_verbs(&count);
    (void)puts("_filum() {\n    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
               "    local previous=${COMP_WORDS[COMP_CWORD-1]}\n    case \"${COMP_WORDS[1]}\" in");
    for (int k = 0; k < count; k++) {
        print_completion_verb(verbs[k]);
    }
    (void)fputs("    help) words=\"--man --completion ", stdout);
    print_verbs();
    (void)puts("\" ;;\n    esac");
    (void)fputs("    [ \"$COMP_CWORD\" = 1 ] && words=\"help --help --version ", stdout);
    print_verbs();
    (void)puts("\"\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
               "complete -o default -F _filum filum");
}
