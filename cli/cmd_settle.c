// cmd_settle.c - filum settle: the equilibrium of a scene, with friction.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "runs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    const char *out;
    double tol;
    int max_steps, threads;
    bool force, json;
    CliList set;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "DIR", out, "the folder of the result; default runs/NAME-settled"),
    CLI_OPTION_REAL("tol", "TOL", tol, 1e-300, 1.0,
                    "largest acceleration left, relative to gravity; default 1e-6"),
    CLI_OPTION_COUNT("max-steps", "N", max_steps, 1, INT_MAX, "stop after N steps; default 10000"),
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096, "threads; default 0, all cores"),
    CLI_OPTION_FLAG("force", force, "replace the result that the folder holds"),
    CLI_OPTION_FLAG("json", json, "one JSON object, not a sentence"),
    CLI_OPTION_LIST("set", "PATH=VALUE", set, CLI_SCENE_SET),
};

typedef struct Watch {
    bool live;
    double shown;
} Watch;

static bool on_step(void *user, int step, double residual) {
    Watch *watch = user;
    const double now = cli_clock();
    if (watch->live && now - watch->shown > 0.1) {
        (void)fprintf(stderr, "\r\x1b[K  step %d, residual %.1e", step, residual);
        watch->shown = now;
    }
    return !cli_is_interrupted();
}

static CliStatus settle(FilStage *stage, const Options *options, FilSettleInfo *info) {
    Watch watch = {.live = isatty(STDERR_FILENO) != 0};
    FilSettleSettings settings = fil_settle_settings_default();
    settings.tolerance = options->tol;
    settings.max_steps = options->max_steps;
    settings.on_step = on_step;
    settings.user = &watch;
    FilError error;
    FilStatus status = fil_stage_apply_due(stage, &error);
    if (status == FIL_OK) {
        fil_world_set_stop(fil_stage_world(stage), cli_wants_end, NULL);
        status = fil_world_settle(fil_stage_world(stage), &settings, info, &error);
    }
    if (watch.shown > 0.0) {
        (void)fputs("\r\x1b[K", stderr);
    }
    if (status != FIL_OK) {
        cli_say("%s", error.text);
        return status == FIL_E_NO_MEMORY ? CLI_BAD_FILE : CLI_NOT_ACCEPTABLE;
    }
    return CLI_FINE;
}

// A result of one frame.
static CliStatus write_frame(FilStage *stage, const CliScene *from, const char *path, bool force) {
    FilRecorder *recorder = NULL;
    FilResult *result = NULL;
    FilFrame frame;
    FilError error;
    FilStatus status = fil_recorder_create(fil_stage_world(stage), NULL, &recorder, &error);
    if (status == FIL_OK) {
        cli_name_bodies(recorder, from->scene);
        FilResultDef def = fil_recorder_def(recorder);
        def.name = from->scene->name;
        def.scene = from->text;
        def.options = "settle";
        def.seed = (int64_t)from->scene->seed;
        status = fil_result_create(path, &def, force, NULL, &result, &error);
    }
    if (status == FIL_OK) {
        status = fil_recorder_frame(recorder, &frame, &error);
    }
    if (status == FIL_OK) {
        status = fil_result_append(result, &frame, &error);
    }
    if (status == FIL_OK) {
        status = fil_result_close(result, &error);
        result = NULL;
    }
    if (status != FIL_OK) {
        cli_say("%s", error.text);
    }
    fil_result_discard(result);
    fil_recorder_destroy(recorder);
    return cli_status_of(status);
}

static void print_info(const char *scene, const char *folder, const FilSettleInfo *info,
                       bool json) {
    if (json) {
        (void)fputs("{\"scene\":", stdout);
        cli_print_json_text(scene);
        (void)fputs(",\"folder\":", stdout);
        cli_print_json_text(folder);
        (void)printf(",\"converged\":%s", info->converged ? "true" : "false");
        cli_print_json_number("steps", info->steps);
        cli_print_json_number("residual", info->residual);
        cli_print_json_number("friction_residual", info->friction_residual);
        cli_print_json_number("contacts", info->contact_count);
        cli_print_json_number("active", info->active_count);
        (void)puts("}");
        return;
    }
    (void)printf("%s: %s after %d step%s: residual %.1e, of friction %.1e; %d contact%s, %d of "
                 "them press%s -> %s\n",
                 scene, info->converged ? "in equilibrium" : "not in equilibrium", info->steps,
                 cli_plural(info->steps), info->residual, info->friction_residual,
                 info->contact_count, cli_plural(info->contact_count), info->active_count,
                 info->active_count == 1 ? "es" : "", folder);
}

// runs/NAME-settled, to be freed.
static char *choose_folder(const char *scene, const char *out) {
    if (out != NULL) {
        return cli_join_path(NULL, out);
    }
    char *base = cli_scene_base(scene);
    const size_t size = base != NULL ? strlen(base) + sizeof "-settled" : 0;
    char *name = base != NULL ? malloc(size) : NULL, *folder = NULL;
    if (name != NULL) {
        (void)snprintf(name, size, "%s-settled", base);
        folder = cli_join_path("runs", name);
    }
    free(base);
    free(name);
    return folder;
}

static CliStatus prepare(const char *folder, const char *path, bool force) {
    if (!force && access(path, F_OK) == 0) {
        cli_say("%s exists already; --force replaces it", path);
        return CLI_BAD_FILE;
    }
    return cli_check_folder(folder);
}

static CliStatus work(const char *scene, const Options *options, const char *folder,
                      const char *path) {
    CliScene from;
    CliStatus status = cli_scene_load(scene, &options->set, false, &from);
    if (status != CLI_FINE) {
        return status;
    }
    FilStage *stage = NULL;
    FilSettleInfo info = {.steps = 0};
    status = prepare(folder, path, options->force);
    if (status == CLI_FINE) {
        status = cli_stage_make(from.scene, options->threads, NULL, &stage);
    }
    if (status == CLI_FINE) {
        status = settle(stage, options, &info);
    }
    if (status == CLI_FINE && !cli_make_folder(folder)) {
        cli_say("%s: cannot write there: %s", folder, strerror(errno));
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE) {
        status = write_frame(stage, &from, path, options->force);
    }
    if (status == CLI_FINE) {
        print_info(scene, folder, &info, options->json);
        status = cli_flush();
    }
    fil_stage_destroy(stage);
    cli_scene_free(&from);
    if (status != CLI_FINE) {
        return status;
    }
    return cli_is_interrupted() ? CLI_INTERRUPTED : info.converged ? CLI_FINE : CLI_NOT_ACCEPTABLE;
}

static CliStatus run_settle(const CliVerb *verb, int argc, char **argv) {
    const FilSettleSettings settings = fil_settle_settings_default();
    Options options = {.tol = settings.tolerance, .max_steps = settings.max_steps};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 1) {
        cli_say(count == 0 ? "which scene? For instance: filum settle scene.json"
                           : "settle takes one scene, not %d",
                count);
        return CLI_BAD_COMMAND;
    }
    cli_catch_interrupt();
    char *folder = choose_folder(argv[0], options.out);
    char *path = folder != NULL ? cli_join_path(folder, "result.h5") : NULL;
    CliStatus status = CLI_BAD_FILE;
    if (path == NULL) {
        cli_say("there is not enough memory");
    } else {
        status = work(argv[0], &options, folder, path);
    }
    free(folder);
    free(path);
    return status;
}

const CliVerb cli_settle = {
    .name = "settle",
    .operands = "SCENE",
    .summary = "find the equilibrium of a scene, with friction",
    .description = "Starts from the scene as it is written and finds an equilibrium with friction: "
                   "nothing moves, and every contact force lies inside its cone. "
                   "Writes it as a result of one frame. Time stays at 0: prescribed motions of "
                   "ends and obstacles stay at their start, and only events at time 0 apply. "
                   "Status 1 when an acceleration above --tol is left.",
    .examples = "filum settle scene.json\tinto runs/scene-settled\n"
                "filum settle scene.json --set friction[0].mu=0.1 --json\tfor a script",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_settle,
};
