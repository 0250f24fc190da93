// cmd_claims.c - filum claims: does a scene show what it says?
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "runs.h"

#include <math.h>
#include <unistd.h>

typedef struct Options {
    int threads;
    bool itself, json;
    CliList set;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096,
                     "threads; default 0, as many as the machine offers; figures do not depend"),
    CLI_OPTION_FLAG("itself", itself, "the scene itself alone, not the variants of its claims"),
    CLI_OPTION_FLAG("json", json, "one JSON object for each figure, a line each"),
    CLI_OPTION_LIST("set", "PATH=VALUE", set, CLI_SCENE_SET),
};

typedef struct Watch {
    const char *path;
    bool live;
    double shown;
} Watch;

static bool on_step(void *user, double part) {
    Watch *watch = user;
    const double now = cli_clock();
    if (watch->live && now - watch->shown > 0.1) {
        (void)fprintf(stderr, "\r\x1b[K  %s  %.0f %%", watch->path, 100.0 * part);
        watch->shown = now;
    }
    return !cli_is_interrupted();
}

// ------------------------------------------------------------------------------------ what came
// out

// "at least 0.9", "from 1 to 2"
static void print_bounds(const FilSceneClaim *claim) {
    if (isfinite(claim->at_least) && isfinite(claim->at_most)) {
        (void)printf("from %.6g to %.6g", claim->at_least, claim->at_most);
    } else if (isfinite(claim->at_least)) {
        (void)printf("at least %.6g", claim->at_least);
    } else {
        (void)printf("at most %.6g", claim->at_most);
    }
}

static const char *unit_of(const FilSceneClaim *claim) {
    return claim->relative == FIL_RELATIVE_RATIO ? "" : fil_measure_unit(claim->measure);
}

static void print_value(const FilClaimFigure *figure, const char *unit) {
    if (isnan(figure->value)) {
        (void)fputs("not measured", stdout);
    } else {
        (void)printf("%.4g%s%s", figure->value, unit[0] != '\0' ? " " : "", unit);
    }
}

static void print_figure(const FilVerdict *verdict, const FilClaimFigure *figure) {
    const FilSceneClaim *claim = &verdict->scene->claims[figure->claim];
    const char *unit = unit_of(claim);
    const char *word = figure->right ? "holds" : "FAILS";
    if (figure->role == FIL_CLAIM_ITSELF) {
        (void)printf("  %s  %s\n         %s ", word, claim->says, fil_measure_name(claim->measure));
        print_value(figure, unit);
        (void)fputs(", must be ", stdout);
        print_bounds(claim);
    } else {
        (void)printf("  %s    %s %s: ", figure->right ? "     " : word,
                     figure->role == FIL_CLAIM_UNLESS ? "not with" : "also with", figure->variant);
        print_value(figure, unit);
    }
    (void)putchar('\n');
}

static void print_json(const char *path, const FilVerdict *verdict, const FilClaimFigure *figure) {
    const FilSceneClaim *claim = &verdict->scene->claims[figure->claim];
    (void)fputs("{\"scene\":", stdout);
    cli_print_json_text(path);
    cli_print_json_number("claim", figure->claim);
    (void)fputs(",\"says\":", stdout);
    cli_print_json_text(claim->says);
    (void)fputs(",\"measure\":", stdout);
    cli_print_json_text(fil_measure_name(claim->measure));
    (void)fputs(",\"unit\":", stdout);
    cli_print_json_text(unit_of(claim));
    (void)printf(",\"role\":\"%s\",\"variant\":", fil_claim_role_name(figure->role));
    cli_print_json_text(figure->variant);
    cli_print_json_number("value", figure->value);
    cli_print_json_number("at_least", claim->at_least);
    cli_print_json_number("at_most", claim->at_most);
    cli_print_json_number("margin", claim->margin);
    (void)printf(",\"right\":%s}\n", figure->right ? "true" : "false");
}

static void print_verdict(const char *path, const FilVerdict *verdict, bool json) {
    if (!json) {
        (void)printf("%s: %d claim%s, %d figure%s, %d wrong\n", path, verdict->scene->claim_count,
                     cli_plural(verdict->scene->claim_count), verdict->figure_count,
                     cli_plural(verdict->figure_count), verdict->wrong_count);
    }
    for (int k = 0; k < verdict->figure_count; k++) {
        if (json) {
            print_json(path, verdict, &verdict->figures[k]);
        } else {
            print_figure(verdict, &verdict->figures[k]);
        }
    }
}

// ------------------------------------------------------------------------------------------- the
// verb

static CliStatus say_failure(FilStatus status, const FilError *error) {
    if (status == FIL_E_INTERRUPTED) {
        return CLI_INTERRUPTED;
    }
    cli_say("%s", error->text);
    return status == FIL_E_ARGUMENT ? CLI_NOT_ACCEPTABLE : CLI_BAD_FILE; // exploded, or not read
}

static CliStatus judge(const char *path, const Options *options) {
    CliScene from;
    const CliStatus loaded = cli_scene_load(path, &options->set, true, &from);
    if (loaded != CLI_FINE) {
        return loaded;
    }
    Watch watch = {.path = path, .live = isatty(STDERR_FILENO) != 0};
    const FilClaimSettings settings = {.changes = options->set.items,
                                       .change_count = options->set.count,
                                       .threads = options->threads,
                                       .itself_alone = options->itself,
                                       .on_step = on_step,
                                       .user = &watch};
    FilVerdict *verdict = NULL;
    FilError error;
    const FilStatus status =
        fil_claims_judge(path, from.text, from.size, &settings, NULL, &verdict, &error);
    cli_scene_free(&from);
    if (watch.shown > 0.0) {
        (void)fputs("\r\x1b[K", stderr);
    }
    if (status != FIL_OK) {
        return say_failure(status, &error);
    }
    print_verdict(path, verdict, options->json);
    const bool wrong = verdict->wrong_count > 0;
    fil_verdict_destroy(verdict);
    const CliStatus flushed = cli_flush();
    return flushed != CLI_FINE ? flushed : wrong ? CLI_NOT_ACCEPTABLE : CLI_FINE;
}

static CliStatus run_claims(const CliVerb *verb, int argc, char **argv) {
    Options options = {.threads = 0};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count == 0) {
        cli_say("which scene? For instance: filum claims scene.json");
        return CLI_BAD_COMMAND;
    }
    cli_catch_interrupt();
    CliStatus status = CLI_FINE;
    for (int k = 0; k < count && !cli_is_interrupted(); k++) {
        const CliStatus one = judge(argv[k], &options);
        status = one > status ? one : status;
    }
    return cli_is_interrupted() ? CLI_INTERRUPTED : status;
}

const CliVerb cli_claims = {
    .name = "claims",
    .operands = "SCENE...",
    .summary = "measure whether scenes show what they say",
    .description =
        "Runs scenes, and the variants that their claims name, for as long as a claim needs, and "
        "measures them; nothing is written. For each claim: what it says, what was measured and "
        "what it must be; then its variants: \"not with\" those that must miss the bound by a "
        "margin, \"also with\" those that must keep it. Status 1 when a figure is wrong.",
    .examples = "filum claims scenes/rotating-sphere.json\twhat it shows, in numbers\n"
                "filum claims scene.json --itself\twithout the variants: sooner done\n"
                "filum claims scene.json --set rods[0].elements=40\tis it so with a finer rod?\n"
                "filum claims scenes/*.json --json\ta line for each figure",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_claims,
};
