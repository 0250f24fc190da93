// cmd_check.c - filum check: is a scene what its author meant, and what will it take to run?
//
// First its counts, which cost nothing however large it is; then it is built, and a few steps are
// taken of what is thrown away afterwards: they tell of overlaps at the start and of the time a
// step takes.
#include "cli.h"
#include "runs.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct Options {
    int threads;
    bool strict, json;
    CliList set;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096,
                     "threads; default 0, as many as the machine offers"),
    CLI_OPTION_FLAG("strict", strict, "status 1 when there are warnings"),
    CLI_OPTION_FLAG("json", json, "one JSON object, not lines"),
    CLI_OPTION_LIST("set", "PATH=VALUE", set, CLI_SCENE_SET),
};

enum { MAX_WARNINGS = 20, TRIED_STEPS = 4 };

typedef struct Warnings {
    char text[MAX_WARNINGS][200];
    int count; // may be more than were kept
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

static void check_rods(const FilScene *scene, Warnings *warnings) {
    for (int k = 0; k < scene->rod_count; k++) {
        const FilSceneRod *rod = &scene->rods[k];
        if (rod->contact_radius > 0.1 * rod->def.length) {
            warn(warnings, "rods[%d] %.40s: contact_radius %g m is thick for a length of %g m", k,
                 rod->name, rod->contact_radius, rod->def.length);
        }
        if (rod->fit_error > rod->contact_radius) {
            warn(warnings, "rods[%d] %.40s: starts up to %.2g m from the points given", k,
                 rod->name, rod->fit_error);
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

static const char *name_side(const FilScene *scene, const FilContactSide *side, char text[64]) {
    const char *list = "?", *name = "";
    if (side->kind == FIL_BODY_ROD && side->index < scene->rod_count) {
        list = "rods";
        name = scene->rods[side->index].name;
    } else if (side->kind == FIL_BODY_RIGID && side->index < scene->body_count) {
        list = "bodies";
        name = scene->bodies[side->index].name;
    } else if (side->kind == FIL_BODY_OBSTACLE && side->index < scene->obstacle_count) {
        list = "obstacles";
        name = scene->obstacles[side->index].name;
    }
    (void)snprintf(text, 64, "%s[%d]%s%.40s", list, side->index, name[0] != '\0' ? " " : "", name);
    return text;
}

// What overlaps at the start, more than contacts of rest do: a hundredth of a radius. Of a step
// that was done in parts the contacts of the last part are left, and the depth of all.
static void check_overlaps(const FilScene *scene, FilWorld *world, double depth,
                           Warnings *warnings) {
    int count = 0, deep = 0, worst = -1;
    const FilContact *contacts = fil_world_contacts(world, &count);
    for (int k = 0; k < count; k++) {
        const FilContactSide *side = &contacts[k].a;
        const double radius =
            side->kind == FIL_BODY_ROD ? scene->rods[side->index].contact_radius : 1e-3;
        if (-contacts[k].gap > 0.01 * radius) {
            deep++;
            worst = worst < 0 || contacts[k].gap < contacts[worst].gap ? k : worst;
        }
    }
    if (worst >= 0) {
        char a[64], b[64];
        warn(warnings,
             "%d contacts overlap at the start, at most %.2g m: %s and %s at (%.4g, %.4g, "
             "%.4g)",
             deep, -contacts[worst].gap, name_side(scene, &contacts[worst].a, a),
             name_side(scene, &contacts[worst].b, b), contacts[worst].a.point[0],
             contacts[worst].a.point[1], contacts[worst].a.point[2]);
    }
    if (depth > 1e-5 && (worst < 0 || depth > -2.0 * contacts[worst].gap)) {
        warn(warnings, "things overlap at the start, by up to %.2g m", depth);
    }
}

// Rods whose own motion the step is too long for. The first is named.
static void check_steps(const FilScene *scene, FilWorld *world, Warnings *warnings) {
    int count = 0, first = -1;
    double shortest = HUGE_VAL;
    for (int k = 0; k < scene->rod_count; k++) {
        const double largest = fil_rod_largest_step(fil_world_rod(world, k));
        if (largest < scene->step) {
            first = first < 0 ? k : first;
            shortest = fmin(shortest, largest);
            count++;
        }
    }
    if (count > 0) {
        warn(warnings, "the step, %g s, is too long for %d rods (rods[%d] %.40s); %.2g s is safe",
             scene->step, count, first, scene->rods[first].name, shortest);
    }
}

// Seconds a step takes, in *seconds.
static CliStatus try_steps(const FilScene *scene, FilStage *stage, Warnings *warnings,
                           double *seconds) {
    FilError error;
    int unconverged = 0, missed = 0;
    double residual = 0.0;
    *seconds = HUGE_VAL;
    if (fil_stage_unsettled_count(stage) > 0) {
        warn(warnings, "%d rods find no equilibrium to start from",
             fil_stage_unsettled_count(stage));
    }
    check_steps(scene, fil_stage_world(stage), warnings);
    for (int k = 0; k < TRIED_STEPS && !cli_is_interrupted(); k++) {
        FilStepInfo info;
        if (fil_stage_step(stage, &info, &error) != FIL_OK) {
            cli_say("%s: %s", scene->file, error.text);
            return CLI_NOT_ACCEPTABLE;
        }
        if (k == 0) {
            check_overlaps(scene, fil_stage_world(stage), info.penetration, warnings);
        }
        unconverged += info.outcome != FIL_CONVERGED;
        missed += info.missed_count;
        residual = fmax(residual, info.residual.scaled);
        *seconds = fmin(*seconds, info.seconds.total);
    }
    if (unconverged > 0) {
        warn(warnings, "%d of the first %d steps did not converge (residual %.1e)", unconverged,
             TRIED_STEPS, residual);
    }
    if (missed > 0) {
        warn(warnings,
             "in the first %d steps rods pass %d times through something: are they in it?",
             TRIED_STEPS, missed);
    }
    return CLI_FINE;
}

// --- the report ----------------------------------------------------------------------------------

static void print_counts(const char *path, const FilScene *scene) {
    const FilSceneEstimate *e = &scene->estimate;
    char a[16], b[16];
    (void)printf("%s: %s\n", path, scene->name);
    (void)printf("  %lld rods of %lld elements, %lld unknowns, %lld pieces\n", e->rods, e->elements,
                 e->dofs, e->pieces);
    (void)printf("  %lld bodies, %lld obstacles, %lld triangles\n", e->bodies, e->obstacles,
                 e->triangles);
    (void)printf("  %g s in %lld steps of %g s\n", scene->duration, e->steps, scene->step);
    (void)printf("  memory about %s, result at most %s\n",
                 cli_show_bytes((double)(e->scene_bytes + e->run_bytes), a),
                 cli_show_bytes((double)e->result_bytes, b));
}

static void print_report(const FilScene *scene, double seconds, const Warnings *warnings) {
    const double all = seconds * (double)scene->estimate.steps;
    (void)printf("  %.3g ms a step to begin with: at least %.3g s in all, %.3gx real time\n",
                 1e3 * seconds, all, scene->step / fmax(seconds, 1e-12));
    for (int k = 0; k < warnings->count && k < MAX_WARNINGS; k++) {
        (void)printf("  warning: %s\n", warnings->text[k]);
    }
    if (warnings->count > MAX_WARNINGS) {
        (void)printf("  and %d more warnings\n", warnings->count - MAX_WARNINGS);
    } else if (warnings->count == 0) {
        (void)puts("  no warnings");
    }
}

static void print_json(const char *path, const FilScene *scene, double seconds,
                       const Warnings *warnings) {
    const FilSceneEstimate *e = &scene->estimate;
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
    cli_print_json_number("memory_bytes", (double)(e->scene_bytes + e->run_bytes));
    cli_print_json_number("result_bytes", (double)e->result_bytes);
    cli_print_json_number("seconds_a_step", seconds);
    (void)fputs(",\"warnings\":[", stdout);
    for (int k = 0; k < warnings->count && k < MAX_WARNINGS; k++) {
        (void)fputs(k > 0 ? "," : "", stdout);
        cli_print_json_text(warnings->text[k]);
    }
    (void)puts("]}");
}

static CliStatus check(const char *path, const Options *options) {
    static Warnings warnings;
    warnings.count = 0;
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
    check_materials(from.scene, &warnings);
    check_rods(from.scene, &warnings);
    check_times(from.scene, &warnings);
    FilStage *stage = NULL;
    double seconds = 0.0;
    status = cli_stage_make(from.scene, options->threads, NULL, &stage);
    if (status == CLI_FINE) {
        status = try_steps(from.scene, stage, &warnings, &seconds);
    }
    if (status == CLI_FINE && options->json) {
        print_json(path, from.scene, seconds, &warnings);
    } else if (status == CLI_FINE) {
        print_report(from.scene, seconds, &warnings);
    }
    fil_stage_destroy(stage);
    cli_scene_free(&from);
    return status == CLI_FINE && options->strict && warnings.count > 0 ? CLI_NOT_ACCEPTABLE
                                                                       : status;
}

static CliStatus run_check(const CliVerb *verb, int argc, char **argv) {
    Options options = {.threads = 0};
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
    .summary = "read a scene, count it, and warn of what looks odd",
    .description =
        "Reads scenes, tells how much is in them and what running them takes, builds them, and "
        "tries "
        "a few steps that are thrown away. Warns of overlaps at the start, odd materials, steps "
        "that are too long, rods that find no equilibrium. Status 3 when a scene is invalid; "
        "warnings give status 1 with --strict alone.",
    .examples = "filum check scene.json\twhat it holds, and what looks odd\n"
                "filum check scenes/*.json --strict\tfor a script",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_check,
};
