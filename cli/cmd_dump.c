// cmd_dump.c - filum dump: the friction problems of a run, for other solvers.
//
// A result holds motion, not matrices: the run is done again, from its checkpoint where that comes
// before the steps asked for, else from its start, and to the bit. The problem written is the last
// one of a step, which moves the world; it is solved once more from what the world started from,
// which gives the solution that the world got.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"
#include "recorded.h"
#include "runs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Options {
    const char *steps, *to;
    int step, threads;
    bool force;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_COUNT("step", "K", step, 1, INT_MAX, "the step, counted from 1"),
    CLI_OPTION_TEXT("steps", "A:B:S", steps,
                    "instead of one step: every S-th from A to B; S is 1 if left out"),
    CLI_OPTION_TEXT("to", "PATH", to,
                    "must be given: the file; with --steps a folder, for step-K.hdf5"),
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096,
                     "threads; default 0, all cores; any number gives the same results"),
    CLI_OPTION_FLAG("force", force, "replace files that exist"),
};

typedef struct Dump {
    const Options *options;
    const char *folder;        // of the run
    int64_t first, last, each; // steps that are wanted
    char *settings;            // run.json
    CliList changes;           // in it
    char *scene_path;          // in it
    CliScene from;
    FilStage *stage;
    FilResult *result;
    CliRecorded recorded;
    int64_t step, written, empty;
    int made; // folders, for what is written
} Dump;

static CliStatus no_memory(void) {
    cli_say("there is not enough memory");
    return CLI_BAD_FILE;
}

// --- what the run was ----------------------------------------------------------------------------

// All of a small file, ended by a 0, to be freed; NULL when it cannot be read.
static char *read_small(const char *path) {
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = file != NULL ? malloc(MOST + 1) : NULL;
    if (text != NULL) {
        text[fread(text, 1, MOST, file)] = '\0';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return text;
}

// The text in quotes at `*at`, made plain in place, and `*at` after it; NULL: there is none.
static char *take_text(char **at) {
    char *from = *at + strspn(*at, ", \n");
    if (*from != '"') {
        return NULL;
    }
    char *begin = ++from, *to = begin;
    while (*from != '"' && *from != '\0') {
        from += *from == '\\' && from[1] != '\0';
        *to++ = *from++;
    }
    *at = *from == '"' ? from + 1 : from;
    *to = '\0';
    return begin;
}

// What follows a name in run.json, which filum itself wrote; NULL: it is not there.
static char *find_value(char *text, const char *name) {
    char *at = strstr(text, name);
    return at != NULL ? at + strlen(name) : NULL;
}

// --set and the path of the scene.
static CliStatus read_settings(Dump *dump) {
    char *path = cli_join_path(dump->folder, "run.json");
    dump->settings = path != NULL ? read_small(path) : NULL;
    free(path);
    if (dump->settings == NULL) {
        cli_say("%s is no run folder: it holds no run.json", dump->folder);
        return CLI_BAD_FILE;
    }
    // the scene comes last: its text is made plain before those in front of it
    char *scene = find_value(dump->settings, "\"scene\": ");
    char *set = find_value(dump->settings, "\"set\": [");
    dump->scene_path = scene != NULL ? take_text(&scene) : NULL;
    for (char *text = set; text != NULL && dump->changes.count < CLI_LIST_MAX;) {
        text = take_text(&set);
        if (text != NULL) {
            dump->changes.items[dump->changes.count++] = text;
        }
    }
    return CLI_FINE;
}

static bool are_same(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = files[0] != NULL && files[1] != NULL;
    while (same) {
        const int x = getc(files[0]), y = getc(files[1]);
        same = x == y;
        if (x == EOF) {
            break;
        }
    }
    for (int k = 0; k < 2; k++) {
        if (files[k] != NULL) {
            (void)fclose(files[k]);
        }
    }
    return same;
}

// The scene as it was run: where it came from, if it is still the same, for the meshes beside it;
// else the copy in the run folder.
static CliStatus load_scene(Dump *dump) {
    char *copy = cli_join_path(dump->folder, "scene.json");
    if (copy == NULL) {
        return no_memory();
    }
    const bool origin = dump->scene_path != NULL && are_same(dump->scene_path, copy);
    const CliStatus status =
        cli_scene_load(origin ? dump->scene_path : copy, &dump->changes, false, &dump->from);
    free(copy);
    return status;
}

// Go on from the checkpoint, where there is one that is early enough; else from the start.
static CliStatus find_start(Dump *dump) {
    CliStatus status = cli_stage_make(dump->from.scene, dump->options->threads, NULL, &dump->stage);
    char *path = cli_join_path(dump->folder, "checkpoint.bin");
    FilCheckpoint *checkpoint = NULL;
    FilError error;
    if (path == NULL || status != CLI_FINE) {
        free(path);
        return status != CLI_FINE ? status : no_memory();
    }
    if (fil_checkpoint_read(path, dump->from.hash, NULL, &checkpoint, &error) == FIL_OK &&
        checkpoint->step_count < dump->first) {
        char events[16] = "";
        memcpy(events, checkpoint->events,
               (size_t)(checkpoint->events_size < 15 ? checkpoint->events_size : 15));
        if (fil_stage_resume(dump->stage, checkpoint->state, checkpoint->state_count,
                             (int)strtol(events, NULL, 10), &error) != FIL_OK) {
            cli_say("%s: %s", path, error.text);
            status = CLI_BAD_FILE;
        }
        dump->step = checkpoint->step_count;
    }
    fil_checkpoint_destroy(checkpoint, NULL);
    free(path);
    return status;
}

// --- writing -------------------------------------------------------------------------------------

// As the world solved it: the last one of a step, from where the world started.
static CliStatus solve(const Dump *dump, FilFrictionSolution *solution) {
    static const FilFrictionSolver solvers[FIL_LAW_COUNT] = {
        [FIL_LAW_TRESCA] = FIL_SOLVER_TRESCA,
        [FIL_LAW_CONVEX] = FIL_SOLVER_CONVEX,
        [FIL_LAW_LINEARISED] = FIL_SOLVER_LINEARISED,
    };
    FilFrictionSettings settings = dump->from.scene->friction_settings;
    const FilFrictionLaw law = dump->from.scene->contact.law;
    settings.warm_start = true;
    settings.thread_count = dump->options->threads;
    if (solvers[law] != FIL_SOLVER_AUTO) {
        settings.solver = solvers[law];
    }
    FilFrictionInfo info;
    FilError error;
    if (fil_friction_solve(&dump->recorded.problem, &settings, NULL, solution, &info, &error) !=
        FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

static CliStatus write_problem(Dump *dump, const char *path) {
    const FilFrictionProblem *problem = &dump->recorded.problem;
    double *u = malloc((3 * (size_t)problem->block_count + 1) * sizeof *u);
    if (u == NULL) {
        return no_memory();
    }
    char title[200], text[200];
    (void)snprintf(title, sizeof title, "%.100s, step %" PRId64, dump->from.scene->name,
                   dump->step);
    (void)snprintf(text, sizeof text, "contacts of a step of %g s that ends at %g s; filum %s",
                   dump->from.scene->step, fil_world_time(fil_stage_world(dump->stage)),
                   fil_version());
    FilFrictionSolution solution = {.r = dump->recorded.r, .u = u};
    CliStatus status = solve(dump, &solution);
    const FilFclib file = {.problem = *problem,
                           .dimension = 3,
                           .title = title,
                           .description = text,
                           .math_info = "",
                           .solution = {.r = dump->recorded.r, .u = u}};
    FilError error;
    if (status == CLI_FINE &&
        fil_fclib_write(path, &file, dump->options->force, &error) != FIL_OK) {
        cli_say("%s", error.text);
        status = CLI_BAD_FILE;
    }
    free(u);
    return status;
}

static CliStatus write_step(Dump *dump) {
    if (dump->recorded.failed) {
        return no_memory();
    }
    if (!dump->recorded.there) {
        dump->empty++;
        return CLI_FINE;
    }
    if (dump->options->steps == NULL) {
        dump->written++;
        return write_problem(dump, dump->options->to);
    }
    char name[40];
    (void)snprintf(name, sizeof name, "step-%06" PRId64 ".hdf5", dump->step);
    char *path = cli_join_path(dump->options->to, name);
    const CliStatus status = path != NULL ? write_problem(dump, path) : no_memory();
    free(path);
    dump->written += status == CLI_FINE;
    return status;
}

// --- the run again -------------------------------------------------------------------------------

// Whether the step is that of the run: another machine or version may differ.
static CliStatus compare(const Dump *dump, const FilStepInfo *info) {
    FilResultStep then;
    FilError error;
    if (fil_result_read_steps(dump->result, dump->step - 1, 1, &then, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    if (then.info.contact_count != info->contact_count ||
        then.info.iterations != info->iterations) {
        cli_say("step %" PRId64 " is not what %s recorded: %d contacts and %d iterations, not %d "
                "and %d; was it run by another version, or on another machine?",
                dump->step, dump->folder, info->contact_count, info->iterations,
                then.info.contact_count, then.info.iterations);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

static bool is_wanted(const Dump *dump, int64_t step) {
    return step >= dump->first && (step - dump->first) % dump->each == 0;
}

static CliStatus take_step(Dump *dump) {
    const bool wanted = is_wanted(dump, dump->step + 1);
    FilWorld *world = fil_stage_world(dump->stage);
    FilStepInfo info;
    FilError error;
    dump->recorded.there = dump->recorded.failed = false;
    fil_world_watch_problems(world, wanted ? cli_recorded_keep : NULL, &dump->recorded);
    if (fil_stage_step(dump->stage, &info, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_NOT_ACCEPTABLE;
    }
    dump->step++;
    CliStatus status = CLI_FINE;
    if (wanted) {
        status = compare(dump, &info);
        status = status == CLI_FINE ? write_step(dump) : status;
    }
    return status;
}

static CliStatus report(const Dump *dump) {
    const Options *options = dump->options;
    if (cli_is_interrupted()) {
        cli_say("stopped at step %" PRId64 "; %" PRId64 " problem%s written", dump->step,
                dump->written, dump->written == 1 ? " was" : "s were");
        return CLI_INTERRUPTED;
    }
    if (options->steps == NULL && dump->written == 0) {
        cli_say("step %" PRId64 " of %s has no friction problem: nothing touches", dump->step,
                dump->folder);
        return CLI_NOT_ACCEPTABLE;
    }
    (void)printf("%" PRId64 " problem%s%s%s", dump->written, cli_plural(dump->written),
                 dump->written > 0 ? " -> " : "", dump->written > 0 ? options->to : "");
    if (dump->empty > 0) {
        (void)printf(" (in %" PRId64 " step%s nothing touches)", dump->empty,
                     cli_plural(dump->empty));
    }
    (void)putchar('\n');
    return cli_flush();
}

// --- the command line ----------------------------------------------------------------------------

// A:B or A:B:S.
static bool read_range(const char *text, Dump *dump) {
    long long numbers[3] = {0, 0, 1};
    const char *at = text;
    for (int k = 0; k < 3; k++) {
        char *end;
        errno = 0;
        numbers[k] = strtoll(at, &end, 10);
        if (end == at || errno != 0 || numbers[k] < 1 || numbers[k] > INT_MAX) {
            return false;
        }
        at = end + (*end == ':');
        if (*end == '\0' && k > 0) {
            break;
        }
        if (*end != ':' || k == 2) {
            return false;
        }
    }
    dump->first = numbers[0];
    dump->last = numbers[1];
    dump->each = numbers[2];
    return dump->first <= dump->last;
}

static CliStatus check_options(const Options *options, int count, Dump *dump) {
    if (count != 1) {
        cli_say(count == 0 ? "which run? For instance: filum dump runs/knot --step 10 --to p.hdf5"
                           : "dump takes one run, not %d",
                count);
        return CLI_BAD_COMMAND;
    }
    if ((options->step > 0) == (options->steps != NULL)) {
        cli_say("which steps? Either --step K or --steps A:B:S");
        return CLI_BAD_COMMAND;
    }
    if (options->to == NULL) {
        cli_say("where to? --to problem.hdf5");
        return CLI_BAD_COMMAND;
    }
    dump->first = dump->last = options->step;
    dump->each = 1;
    if (options->steps != NULL && !read_range(options->steps, dump)) {
        cli_say("--steps is %s; it must be A:B or A:B:S, with 1 <= A <= B and S at least 1",
                options->steps);
        return CLI_BAD_COMMAND;
    }
    return CLI_FINE;
}

// Before hours of steps: is there something to do, and a place for it?
static CliStatus check_run(Dump *dump) {
    CliStatus status = cli_result_open(dump->folder, &dump->result);
    const Options *options = dump->options;
    struct stat about;
    if (status != CLI_FINE) {
        return status;
    }
    const int64_t steps = fil_result_step_count(dump->result);
    if (dump->last > steps) {
        cli_say("%s has %" PRId64 " step%s; there is no step %" PRId64, dump->folder, steps,
                cli_plural(steps), dump->last);
        return CLI_BAD_COMMAND;
    }
    if (options->steps == NULL) {
        if (lstat(options->to, &about) == 0 && !options->force) {
            cli_say("%s exists already; --force replaces it", options->to);
            return CLI_BAD_FILE;
        }
        return CLI_FINE;
    }
    status = cli_check_folder(options->to);
    if (status == CLI_FINE && !cli_make_folders(options->to, &dump->made)) {
        cli_say("%s: cannot write there: %s", options->to, strerror(errno));
        status = CLI_BAD_FILE;
    }
    return status;
}

static CliStatus run_dump(const CliVerb *verb, int argc, char **argv) {
    Options options = {.steps = NULL};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    Dump dump = {.options = &options, .folder = argv[0]};
    CliStatus status = check_options(&options, count, &dump);
    status = status == CLI_FINE ? check_run(&dump) : status;
    status = status == CLI_FINE ? read_settings(&dump) : status;
    status = status == CLI_FINE ? load_scene(&dump) : status;
    status = status == CLI_FINE ? find_start(&dump) : status;
    cli_catch_interrupt();
    while (status == CLI_FINE && dump.step < dump.last && !cli_is_interrupted()) {
        status = take_step(&dump);
    }
    status = status == CLI_FINE ? report(&dump) : status;
    cli_unmake_folders(options.to != NULL ? options.to : "", dump.made);
    fil_result_discard(dump.result);
    fil_stage_destroy(dump.stage);
    cli_recorded_free(&dump.recorded);
    cli_scene_free(&dump.from);
    free(dump.settings);
    return status;
}

const CliVerb cli_dump = {
    .name = "dump",
    .operands = "RUN",
    .summary = "write friction problems of a run as FCLIB files",
    .description = "Repeats a run from its start, bit for bit, and writes the friction problem of "
                   "each requested "
                   "step with its solution. Of a step that was solved more than once it writes the "
                   "last problem. "
                   "filum solve reads these files. Filum stops when the repeated run differs from "
                   "the recorded "
                   "one, as it may with another version or on another machine.",
    .examples = "filum dump runs/knot --step 120 --to problem.hdf5\tone step\n"
                "filum dump runs/knot --steps 100:400:10 --to problems\tevery tenth",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_dump,
};
