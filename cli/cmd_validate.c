// cmd_validate.c - filum validate: the physics that Filum is checked against, case by case.
#include "cli.h"
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    bool json;
    const char *part;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_FLAG("json", json, "one JSON object a line, not a table"),
    CLI_OPTION_TEXT("part", "WORD", part, "only the parts whose title has this word in it"),
};

typedef struct Part {
    const char *group, *title;
    void (*run)(Validation *v);
} Part;

static const Part parts[] = {
    {"rods", "curves of given curvature", validate_rod_geometry},
    {"rods", "rods in equilibrium", validate_rod_statics},
    {"rods", "buckling", validate_rod_buckling},
    {"rods", "vibration and energy", validate_rod_dynamics},
    {"rods", "models beside each other", validate_rod_models},
    {"contact", "stick, slide, roll, rebound", validate_contact_laws},
    {"contact", "stacks and heaps", validate_contact_stacks},
    {"contact", "capstan", validate_contact_capstan},
    {"contact", "knots", validate_contact_knots},
    {"contact", "momentum", validate_contact_momentum},
    {"contact", "orbit of a strand on a sphere", validate_contact_orbit},
    {"contact", "twining", validate_contact_twining},
    {"contact", "plectoneme", validate_contact_plectoneme},
    {"contact", "31 spaghetti", validate_contact_spaghetti},
    {"contact", "hair", validate_contact_hair},
};
enum { PART_COUNT = sizeof parts / sizeof *parts };

// --- rows ----------------------------------------------------------------------------------------

static const char *const kind_words[] = {
#define KIND_WORD(name, word, is_evidence, meaning) [VALIDATION_##name] = word,
    VALIDATION_KINDS(KIND_WORD)
#undef KIND_WORD
};

// A bound with the digits it has, three at most: 0.05 is 5e-02, 0.015 is 1.5e-02.
static const char *format_bound(double bound, char *text, size_t size) {
    for (int digits = 0; digits < 3; digits++) {
        (void)snprintf(text, size, "%.*e", digits, bound);
        if (fabs(strtod(text, NULL) - bound) <= 1e-12 * fabs(bound)) {
            break;
        }
    }
    return text;
}

static void print_json_field(const char *name, const char *text) {
    (void)printf(",\"%s\":", name);
    cli_print_json_text(text);
}

static void print_json(const ValidationGrounds *grounds, const char *name, const char *model,
                       int resolution, const double value[4], bool pass) {
    (void)fputs("{\"case\":", stdout);
    cli_print_json_text(name);
    print_json_field("model", model);
    (void)printf(",\"resolution\":%d", resolution);
    print_json_field("kind", kind_words[grounds->kind]);
    print_json_field("source", grounds->source);
    cli_print_json_number("expected", value[0]);
    cli_print_json_number("got", value[1]);
    cli_print_json_number("error", value[2]);
    cli_print_json_number("allowed", value[3]);
    print_json_field("why", grounds->why);
    (void)printf(",\"pass\":%s}\n", pass ? "true" : "false");
}

static void print_row(Validation *v, const char *name, const char *model, int resolution,
                      const double value[4], bool pass) {
    static const ValidationGrounds none = {.source = "", .why = ""};
    const ValidationGrounds *grounds = validation_grounds(name, model);
    if (grounds == NULL) {
        cli_say("%s, %s: the case has no grounds", name, model);
        grounds = &none;
        pass = false;
    }
    v->passed += pass;
    v->failed += !pass;
    v->count[grounds->kind]++;
    if (v->json) {
        print_json(grounds, name, model, resolution, value, pass);
    } else {
        char count[16] = "", bound[32];
        if (resolution > 0) {
            (void)snprintf(count, sizeof count, "%d", resolution);
        }
        (void)printf("  %-47s %-9s %4s %14.9g %14.9g %9.1e %9s  %-11s %s\n", name, model, count,
                     value[0], value[1], value[2], format_bound(value[3], bound, sizeof bound),
                     kind_words[grounds->kind], pass ? "ok" : "FAIL");
    }
    (void)cli_flush(); // a lost row ends the run: see is_over()
}

static int count_evidence(const Validation *v) {
    static const bool is_evidence[] = {
#define IS_EVIDENCE(name, word, is_evidence, meaning) [VALIDATION_##name] = is_evidence,
        VALIDATION_KINDS(IS_EVIDENCE)
#undef IS_EVIDENCE
    };
    int sum = 0;
    for (int k = 0; k < VALIDATION_KIND_COUNT; k++) {
        sum += is_evidence[k] ? v->count[k] : 0;
    }
    return sum;
}

// The last line: what all rows were worth, and how many passed.
static void print_summary(const Validation *v) {
    (void)printf("\n%d evidence (%d closed, %d law, %d published, %d computed), %d consistency, "
                 "%d comparator\n%d passed, %d failed\n",
                 count_evidence(v), v->count[VALIDATION_CLOSED], v->count[VALIDATION_LAW],
                 v->count[VALIDATION_PUBLISHED], v->count[VALIDATION_COMPUTED],
                 v->count[VALIDATION_CONSISTENCY], v->count[VALIDATION_COMPARATOR], v->passed,
                 v->failed);
}

void validate_near(Validation *v, const char *name, const char *model, int resolution,
                   double expected, double got, double allowed) {
    double error = fabs(got - expected);
    v->row(v, name, model, resolution, (double[]){expected, got, error, allowed}, error <= allowed);
}

void validate_ratio(Validation *v, const char *name, const char *model, int resolution,
                    double expected, double got, double allowed) {
    double error = fabs(got / expected - 1.0);
    v->row(v, name, model, resolution, (double[]){expected, got, error, allowed}, error <= allowed);
}

void validate_below(Validation *v, const char *name, const char *model, int resolution, double got,
                    double allowed) {
    double error = fabs(got);
    v->row(v, name, model, resolution, (double[]){0.0, got, error, allowed}, error <= allowed);
}

void validate_above(Validation *v, const char *name, const char *model, int resolution,
                    double least, double got) {
    double error = got >= least ? 0.0 : least - got; // NaN stays NaN
    v->row(v, name, model, resolution, (double[]){least, got, error, 0.0}, error <= 0.0);
}

void validate_fail(Validation *v, const char *name, const char *model, int resolution,
                   const FilError *error) {
    cli_say("%s, %s: %s", name, model, error->text);
    v->row(v, name, model, resolution, (double[]){NAN, NAN, NAN, NAN}, false);
}

// --- the verb ------------------------------------------------------------------------------------

static bool is_wanted(const Part *part, const char *word, int argc, char **argv) {
    if (word != NULL && strstr(part->title, word) == NULL) {
        return false;
    }
    for (int k = 0; k < argc; k++) {
        if (strcmp(argv[k], part->group) == 0) {
            return true;
        }
    }
    return argc == 0;
}

static bool check_groups(int argc, char **argv) {
    for (int k = 0; k < argc; k++) {
        bool known = false;
        for (int p = 0; p < PART_COUNT; p++) {
            known = known || strcmp(argv[k], parts[p].group) == 0;
        }
        if (!known) {
            cli_say("there is no group \"%s\" to validate; there are rods and contact", argv[k]);
            return false;
        }
    }
    return true;
}

// The user wants no more cases, or nobody can read them.
static bool is_over(void) {
    return cli_is_interrupted() || ferror(stdout) != 0;
}

static CliStatus run_validate(const CliVerb *verb, int argc, char **argv) {
    Options options = {0};
    int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? CLI_FINE : CLI_BAD_COMMAND;
    }
    if (!check_groups(count, argv)) {
        return CLI_BAD_COMMAND;
    }
    cli_catch_interrupt();
    Validation v = {.row = print_row, .stopped = is_over, .json = options.json};
    bool first = true;
    for (int p = 0; p < PART_COUNT && !is_over(); p++) {
        if (!is_wanted(&parts[p], options.part, count, argv)) {
            continue;
        }
        if (!v.json) {
            (void)printf("%s%s: %-*s %-9s %4s %14s %14s %9s %9s  %s\n", first ? "" : "\n",
                         parts[p].group, 43 - (int)strlen(parts[p].group), parts[p].title, "model",
                         "N", "expected", "got", "error", "allowed", "kind");
        }
        first = false;
        parts[p].run(&v);
    }
    if (first && !is_over()) {
        cli_say("there is no part whose title has \"%s\" in it", options.part);
        return CLI_BAD_COMMAND;
    }
    if (!v.json) {
        print_summary(&v);
    }
    CliStatus status = cli_flush();
    if (status != CLI_FINE) {
        return status;
    }
    return cli_is_interrupted() ? CLI_INTERRUPTED : v.failed > 0 ? CLI_NOT_ACCEPTABLE : CLI_FINE;
}

// The groups, each once: their parts follow each other.
static const char *name_group(int k) {
    for (int p = 0; p < PART_COUNT; p++) {
        const bool first = p == 0 || strcmp(parts[p].group, parts[p - 1].group) != 0;
        if (first && k-- == 0) {
            return parts[p].group;
        }
    }
    return NULL;
}

const CliVerb cli_validate = {
    .name = "validate",
    .operands = "[GROUP...]",
    .summary = "check the physics against closed forms and published values",
    .description =
        "Runs the validation cases and prints, for each, the expected value, Filum's value, the "
        "error, the largest error allowed and what the row is worth. Evidence: closed (theory "
        "gives "
        "the expected value), law (a law of mechanics asks it of every motion), published (printed "
        "in the source), computed (by a program that shares no code with Filum). Apart from it: "
        "consistency (Filum beside itself) and comparator (an approximation that other codes make, "
        "and what it costs). Groups: rods, contact.\n"
        "Status 1 when a case fails.",
    .examples = "filum validate\tevery case\n"
                "filum validate rods --json\tone object a line, for scripts\n"
                "filum validate contact --part capstan\tsome cases of a group",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_validate,
    .word = name_group,
};
