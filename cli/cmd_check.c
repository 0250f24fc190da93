// cmd_check.c - filum check: is a scene what its author meant, and what will it take to run?
//
// First its counts, which cost nothing however large it is; then it is built, looked at for
// overlaps at the start, and it is run for a second, into nothing. Warnings come of the first
// steps, so that they do not depend on the clock; all of the steps tell how long a run will take,
// where they can (estimate.h).
#include "cli.h"
#include "estimate.h"
#include "runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int threads;
    double trial;
    bool strict, json;
    CliList set;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096, "threads; default 0, all cores"),
    CLI_OPTION_REAL(
        "trial", "S", trial, 0.0, 1e6,
        "run the scene for S seconds to estimate how long a run takes; default 1; 0: only "
        "4 steps"),
    CLI_OPTION_FLAG("strict", strict, "status 1 when there are warnings"),
    CLI_OPTION_FLAG("json", json, "one JSON object, not lines"),
    CLI_OPTION_LIST("set", "PATH=VALUE", set, CLI_SCENE_SET),
};

enum { MAX_WARNINGS = 20, TRIED_STEPS = 4 };

typedef struct Warnings {
    char text[MAX_WARNINGS][300];
    int count; // may be more than were kept
    int shown; // printed already
} Warnings;

static void warn(Warnings *warnings, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn(Warnings *warnings, const char *format, ...) {
    if (warnings->count < MAX_WARNINGS) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(warnings->text[warnings->count], sizeof warnings->text[0], format, args);
        va_end(args);
    }
    warnings->count++;
}

// --- what looks odd ------------------------------------------------------------------------------

static void check_materials(const FilScene *scene, Warnings *warnings) {
    for (int k = 0; k < scene->material_count; k++) {
        const FilMaterial *material = &scene->materials[k];
        if (material->young < 1e2 || material->young > 1.3e12) {
            warn(warnings, "materials.%.40s: young is %g Pa (rubber 1e6, steel 2e11)",
                 material->name, material->young);
        }
        if (material->density < 1.0 || material->density > 2.3e4) {
            warn(warnings, "materials.%.40s: density is %g kg/m^3 (water 1000, steel 7800)",
                 material->name, material->density);
        }
    }
    for (int a = 0; a < scene->material_count; a++) {
        for (int b = a; b < scene->material_count; b++) {
            const double mu = scene->friction[(ptrdiff_t)a * scene->material_count + b];
            if (mu > 2.0) {
                warn(warnings, "friction of %.40s and %.40s: mu is %g", scene->materials[a].name,
                     scene->materials[b].name, mu);
            }
        }
    }
}

// What is odd about a rod, as a number that is larger the odder it is; 0 where it is not.
static double is_thick(const FilSceneRod *rod) {
    const double part = rod->contact_radius / rod->def.length;
    return part > 0.1 ? part : 0.0;
}

static double is_off(const FilSceneRod *rod) {
    return rod->fit_error > rod->contact_radius ? rod->fit_error : 0.0;
}

// Of many rods that are odd in the same way the oddest is told, and how many more there are.
static void check_rods(const FilScene *scene, Warnings *warnings) {
    double (*const odd[])(const FilSceneRod *) = {is_thick, is_off};
    for (int way = 0; way < 2; way++) {
        int count = 0, worst = 0;
        for (int k = 0; k < scene->rod_count; k++) {
            const double by = odd[way](&scene->rods[k]);
            worst = by > odd[way](&scene->rods[worst]) ? k : worst;
            count += by > 0.0;
        }
        if (count == 0) {
            continue;
        }
        const FilSceneRod *rod = &scene->rods[worst];
        char more[48] = "";
        if (count > 1) {
            (void)snprintf(more, sizeof more, ", and %d more rod%s %s", count - 1,
                           cli_plural(count - 1), way == 0 ? "too" : "less far");
        }
        if (way == 0) {
            warn(warnings, "rods[%d] %.40s: contact_radius %g m is thick for a length of %g m%s",
                 worst, rod->name, rod->contact_radius, rod->def.length, more);
        } else {
            warn(warnings, "rods[%d] %.40s: starts up to %.2g m away from its points%s", worst,
                 rod->name, rod->fit_error, more);
        }
    }
}

static void check_times(const FilScene *scene, Warnings *warnings) {
    if (scene->output.every < scene->step * (1.0 - 1e-9)) {
        warn(warnings, "output.every is %g s, shorter than a step of %g s", scene->output.every,
             scene->step);
    }
    for (int k = 0; k < scene->event_count; k++) {
        if (scene->events[k].time > scene->duration) {
            warn(warnings, "an event at %g s comes after the end, %g s", scene->events[k].time,
                 scene->duration);
        }
    }
}

// --- a few steps ---------------------------------------------------------------------------------

// Rods whose own motion the step is too long for: only just, when steps had to be done in parts, or
// by far. What a rod calls safe never gains energy; most steps that are somewhat longer do not,
// either. The first is named.
static void check_steps(const FilScene *scene, FilWorld *world, bool parts, Warnings *warnings) {
    const double enough = parts ? 1.0 : 10.0;
    int count = 0, first = -1;
    double shortest = HUGE_VAL;
    for (int k = 0; k < scene->rod_count; k++) {
        const double largest = fil_rod_largest_step(fil_world_rod(world, k));
        if (scene->step > enough * largest) {
            first = first < 0 ? k : first;
            shortest = fmin(shortest, largest);
            count++;
        }
    }
    if (count > 0) {
        warn(warnings, "the step, %g s, is too long for %d rod%s (rods[%d] %.40s); %.2g s is safe",
             scene->step, count, cli_plural(count), first, scene->rods[first].name, shortest);
    }
}

// Steps that were taken to see how it goes.
typedef struct Trial {
    CliTried *steps;
    int64_t count, room;
    char failure[240]; // why the next one failed; "": it was not tried
} Trial;

static bool note_step(Trial *trial, const FilStepInfo *info) {
    if (trial->count == trial->room) {
        const int64_t room = 2 * trial->room + 256;
        CliTried *steps = realloc(trial->steps, (size_t)room * sizeof *steps);
        if (steps == NULL) {
            return false;
        }
        trial->steps = steps;
        trial->room = room;
    }
    trial->steps[trial->count++] =
        (CliTried){.seconds = info->seconds.total, .contacts = info->contact_count};
    return true;
}

// The first steps, which warnings come of.
static CliStatus try_first_steps(const FilScene *scene, FilStage *stage, Warnings *warnings,
                                 Trial *trial) {
    FilError error;
    int unconverged = 0;
    bool parts = false, limited = false;
    double residual = 0.0;
    const int unsettled = fil_stage_unsettled_count(stage);
    if (unsettled > 0) {
        warn(warnings, "%d rod%s no equilibrium to start from", unsettled,
             unsettled == 1 ? " finds" : "s find");
    }
    for (int k = 0; k < TRIED_STEPS && !cli_is_interrupted(); k++) {
        FilStepInfo info;
        const FilStatus status = fil_stage_step(stage, &info, &error);
        if (status == FIL_E_INTERRUPTED) {
            return CLI_INTERRUPTED;
        }
        if (status != FIL_OK || !note_step(trial, &info)) {
            cli_say("%s: %s", scene->file, status != FIL_OK ? error.text : "not enough memory");
            return CLI_NOT_ACCEPTABLE;
        }
        unconverged += info.outcome != FIL_CONVERGED;
        limited = limited || info.outcome == FIL_LIMIT;
        parts = parts || info.substeps > 1;
        residual = fmax(residual, info.residual.scaled);
    }
    check_steps(scene, fil_stage_world(stage), parts, warnings);
    if (unconverged > 0) {
        warn(warnings, "%d of the first %d steps did not converge (residual %.1e%s)", unconverged,
             TRIED_STEPS, residual, limited ? "; solver.budget was spent" : "");
    }
    return cli_is_interrupted() ? CLI_INTERRUPTED : CLI_FINE;
}

// The steps after them, for as long as there is time, up to the end of the scene.
static CliStatus try_more_steps(const FilScene *scene, FilStage *stage, double seconds,
                                Trial *trial) {
    const double start = cli_clock();
    bool goes_on = true;
    while (goes_on && trial->count < scene->estimate.steps && cli_clock() - start < seconds) {
        FilStepInfo info;
        FilError error;
        const FilStatus status = fil_stage_step(stage, &info, &error);
        if (status == FIL_E_INTERRUPTED || cli_is_interrupted()) {
            return CLI_INTERRUPTED;
        }
        if (status != FIL_OK) {
            (void)snprintf(trial->failure, sizeof trial->failure, "%s", error.text);
        }
        goes_on = status == FIL_OK && note_step(trial, &info);
    }
    return CLI_FINE;
}

static CliStatus try_steps(const FilScene *scene, FilStage *stage, double seconds,
                           Warnings *warnings, Trial *trial) {
    fil_world_set_stop(fil_stage_world(stage), cli_wants_end, NULL);
    const CliStatus status = try_first_steps(scene, stage, warnings, trial);
    return status == CLI_FINE ? try_more_steps(scene, stage, seconds, trial) : status;
}

// --- the report ----------------------------------------------------------------------------------

static void print_counts(const char *path, const FilScene *scene) {
    const FilSceneEstimate *e = &scene->estimate;
    char a[16], b[16];
    (void)printf("%s: %s\n", path, scene->name);
    (void)printf("  %lld rod%s of %lld element%s, %lld unknowns, %lld piece%s\n", e->rods,
                 cli_plural(e->rods), e->elements, cli_plural(e->elements), e->dofs, e->pieces,
                 cli_plural(e->pieces));
    (void)printf("  %lld bod%s, %lld obstacle%s, %lld triangle%s\n", e->bodies,
                 e->bodies == 1 ? "y" : "ies", e->obstacles, cli_plural(e->obstacles), e->triangles,
                 cli_plural(e->triangles));
    (void)printf("  %g s in %lld step%s of %g s\n", scene->duration, e->steps, cli_plural(e->steps),
                 scene->step);
    (void)printf("  memory about %s, result at most %s\n",
                 cli_show_bytes((double)(e->scene_bytes + e->run_bytes), a),
                 cli_show_bytes((double)e->result_bytes, b));
}

// Those that were not printed yet. Steps may take long, the more so when something is wrong.
static void print_warnings(Warnings *warnings) {
    for (int k = warnings->shown; k < warnings->count && k < MAX_WARNINGS; k++) {
        (void)printf("  warning: %s\n", warnings->text[k]);
    }
    warnings->shown = warnings->count;
    (void)fflush(stdout);
}

static double spent_in(const Trial *trial) {
    double spent = 0.0;
    for (int64_t k = 0; k < trial->count; k++) {
        spent += trial->steps[k].seconds;
    }
    return spent;
}

// How long a run takes, as a sentence.
static void print_estimate(const FilScene *scene, const Trial *trial) {
    const int64_t planned = scene->estimate.steps, count = trial->count;
    const double each = 1e3 * spent_in(trial) / (double)(count > 0 ? count : 1);
    CliTrust trust;
    const double all = cli_estimate(trial->steps, count, planned, &trust);
    (void)printf("  tried %" PRId64 " of %" PRId64 " step%s, %.3g ms each\n", count, planned,
                 cli_plural(planned), each);
    if (trial->failure[0] != '\0') {
        (void)printf("  step %" PRId64 " fails: %s\n", count + 1, trial->failure);
    } else if (trust == CLI_TRUST_MEASURED || trust == CLI_TRUST_STEADY) {
        char length[32] = "less than a second";
        if (all >= 1.0) {
            (void)snprintf(length, sizeof length, "about %.2g s", all);
        }
        (void)printf("  a run takes %s on this machine, plus writing its files\n", length);
    } else {
        (void)printf("  no estimate of a run: %s; --trial S tries for longer\n",
                     trust == CLI_TRUST_SHORT
                         ? "these are too few steps, and later steps cost more if more things touch"
                         : "the cost of these steps varies too much");
    }
}

static void print_report(const FilScene *scene, const Trial *trial, Warnings *warnings) {
    print_estimate(scene, trial);
    print_warnings(warnings);
    if (warnings->count > MAX_WARNINGS) {
        (void)printf("  and %d more warnings\n", warnings->count - MAX_WARNINGS);
    } else if (warnings->count == 0) {
        (void)puts("  no warnings");
    }
}

static void print_json(const char *path, const FilScene *scene, const Trial *trial,
                       const Warnings *warnings) {
    const FilSceneEstimate *e = &scene->estimate;
    CliTrust trust;
    const double all = cli_estimate(trial->steps, trial->count, e->steps, &trust);
    const bool known =
        trial->failure[0] == '\0' && (trust == CLI_TRUST_MEASURED || trust == CLI_TRUST_STEADY);
    (void)fputs("{\"scene\":", stdout);
    cli_print_json_text(path);
    cli_print_json_number("rods", (double)e->rods);
    cli_print_json_number("elements", (double)e->elements);
    cli_print_json_number("dofs", (double)e->dofs);
    cli_print_json_number("pieces", (double)e->pieces);
    cli_print_json_number("bodies", (double)e->bodies);
    cli_print_json_number("obstacles", (double)e->obstacles);
    cli_print_json_number("triangles", (double)e->triangles);
    cli_print_json_number("steps", (double)e->steps);
    cli_print_json_number("step", scene->step);
    cli_print_json_number("memory_bytes", (double)(e->scene_bytes + e->run_bytes));
    cli_print_json_number("result_bytes", (double)e->result_bytes);
    cli_print_json_number("steps_tried", (double)trial->count);
    cli_print_json_number("seconds_a_step", spent_in(trial) / fmax((double)trial->count, 1.0));
    cli_print_json_number("seconds", known ? all : NAN); // null where it cannot be said
    (void)fputs(",\"warnings\":[", stdout);
    for (int k = 0; k < warnings->count && k < MAX_WARNINGS; k++) {
        (void)fputs(k > 0 ? "," : "", stdout);
        cli_print_json_text(warnings->text[k]);
    }
    (void)puts("]}");
}

static CliStatus check(const char *path, const Options *options) {
    static Warnings warnings;
    warnings.count = warnings.shown = 0;
    CliScene counted, from;
    CliStatus status = cli_scene_load(path, &options->set, true, &counted);
    if (status != CLI_FINE) {
        return status;
    }
    if (!options->json) {
        print_counts(path, counted.scene);
    }
    cli_scene_free(&counted);
    status = cli_scene_load(path, &options->set, false, &from);
    if (status != CLI_FINE) {
        return status;
    }
    FilError error;
    const FilClaimSettings settings = {.changes = options->set.items,
                                       .change_count = options->set.count,
                                       .threads = options->threads};
    if (from.scene->claim_count > 0 &&
        fil_claims_check(path, from.text, from.size, &settings, NULL, &error) != FIL_OK) {
        cli_say("%s", error.text);
        cli_scene_free(&from);
        return CLI_BAD_FILE;
    }
    check_materials(from.scene, &warnings);
    check_rods(from.scene, &warnings);
    check_times(from.scene, &warnings);
    char overlaps[CLI_OVERLAPS][300];
    const int overlap_count = cli_find_overlaps(from.scene, options->threads, overlaps, &status);
    for (int k = 0; k < overlap_count; k++) {
        warn(&warnings, "%s", overlaps[k]);
    }
    if (!options->json) {
        print_warnings(&warnings);
    }
    FilStage *stage = NULL;
    Trial trial = {.steps = NULL};
    status =
        status != CLI_FINE ? status : cli_stage_make(from.scene, options->threads, NULL, &stage);
    if (status == CLI_FINE) {
        status = try_steps(from.scene, stage, options->trial, &warnings, &trial);
    }
    if (status == CLI_FINE && options->json) {
        print_json(path, from.scene, &trial, &warnings);
    } else if (status == CLI_FINE) {
        print_report(from.scene, &trial, &warnings);
    }
    free(trial.steps);
    fil_stage_destroy(stage);
    cli_scene_free(&from);
    return status == CLI_FINE && options->strict && warnings.count > 0 ? CLI_NOT_ACCEPTABLE
                                                                       : status;
}

static CliStatus run_check(const CliVerb *verb, int argc, char **argv) {
    Options options = {.trial = 1.0};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count == 0) {
        cli_say("which scene? For instance: filum check scene.json");
        return CLI_BAD_COMMAND;
    }
    cli_catch_interrupt();
    CliStatus status = CLI_FINE;
    for (int k = 0; k < count && !cli_is_interrupted(); k++) {
        const CliStatus one = check(argv[k], &options);
        status = one > status ? one : status;
    }
    const CliStatus flushed = cli_flush();
    status = flushed > status ? flushed : status;
    return cli_is_interrupted() ? CLI_INTERRUPTED : status;
}

const CliVerb cli_check = {
    .name = "check",
    .operands = "SCENE...",
    .summary = "check a scene, estimate its cost, and warn of likely mistakes",
    .description = "Reads scenes, counts what is in them, builds them, and runs each for a second "
                   "without writing anything. "
                   "Prints how long a run takes, if these steps tell: once more things touch, "
                   "steps cost more, and then there is no estimate. "
                   "Warns of overlaps at the start, unusual materials, steps that are too long, "
                   "and rods without an equilibrium. "
                   "Status 3 when a scene is invalid; warnings give status 1 only with --strict.",
    .examples = "filum check scene.json\tcounts, cost and warnings\n"
                "filum check scene.json --trial 20\ta better estimate of how long it takes\n"
                "filum check scenes/*.json --strict\tfor a script",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_check,
};
