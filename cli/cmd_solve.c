// cmd_solve.c - filum solve: FCLIB files in; a table, or JSON, and solved files out.
//
// In three phases: the command line becomes a list of jobs (folders are opened, outputs are named
// and checked); each job is read, solved, written and reported; the highest status is returned.
// Ctrl-C and --max-seconds stop a solve through its iteration callback, so that what it has is
// still reported; a second Ctrl-C kills.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "cli.h"
#include "files.h"

#include "filum/fclib.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Options {
    int solver, local, function, convex;
    int max_iterations, facets, threads;
    double tol, max_seconds;
    const char *out;
    bool json, force, quiet;
} Options;

#define CHOICE(code, name, text) {name, text},
static const CliChoice solvers[] = {FIL_FRICTION_SOLVERS(CHOICE)};
static const CliChoice locals[] = {FIL_LOCAL_SOLVERS(CHOICE)};
static const CliChoice functions[] = {FIL_NEWTON_FUNCTIONS(CHOICE)};
static const CliChoice convexes[] = {FIL_CONVEX_SOLVERS(CHOICE)};

static const CliOption option_table[] = {
    CLI_OPTION_CHOICE("solver", "NAME", solver, solvers, "how to solve; default auto"),
    CLI_OPTION_CHOICE("local", "NAME", local, locals,
                      "one-contact solver of gauss-seidel; default hybrid"),
    CLI_OPTION_CHOICE("function", "NAME", function, functions, "function of newton; default fb"),
    CLI_OPTION_CHOICE("convex", "NAME", convex, convexes,
                      "convex solver of cadoux, socqp and convex; default interior"),
    CLI_OPTION_COUNT("facets", "N", facets, FIL_FACET_MIN, FIL_FACET_MAX,
                     "sides of the pyramid of linearised; default 8"),
    CLI_OPTION_REAL("tol", "TOL", tol, 0.0, 1.0,
                    "tolerance of both residuals, scaled and natural; default 1e-8"),
    CLI_OPTION_COUNT("max-iterations", "N", max_iterations, 0, INT_MAX,
                     "stop a solve after N iterations; default 0, the solver's own limit"),
    CLI_OPTION_REAL("max-seconds", "S", max_seconds, 0.0, HUGE_VAL,
                    "stop a solve after S seconds; default 0, no limit"),
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096, "threads; default 0, all cores"),
    CLI_OPTION_FLAG("json", json, "one JSON object a line, not a table"),
    CLI_OPTION_TEXT("out", "DIR", out, "write DIR/NAME.hdf5: the problem with its solution"),
    CLI_OPTION_FLAG("force", force, "let --out replace files"),
    CLI_OPTION_FLAG("quiet", quiet, "no progress; errors are still printed"),
};

// ------------------------------------------------------------------------------------------
// outputs

// DIR/NAME.hdf5 for .../NAME.hdf5 or .../NAME.h5.
static char *name_output(const char *folder, const char *input) {
    const char *slash = strrchr(input, '/'), *name = slash != NULL ? slash + 1 : input;
    size_t length = strlen(name);
    length -= cli_ends_with(name, ".hdf5") ? 5 : cli_ends_with(name, ".h5") ? 3 : 0;
    const size_t size = length + sizeof ".hdf5";
    char *file = malloc(size);
    if (file == NULL) {
        return NULL;
    }
    (void)snprintf(file, size, "%.*s.hdf5", (int)length, name);
    char *path = cli_join_path(folder, file);
    free(file);
    return path;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat about_a, about_b;
    return stat(a, &about_a) == 0 && stat(b, &about_b) == 0 && about_a.st_dev == about_b.st_dev &&
           about_a.st_ino == about_b.st_ino;
}

static int compare_outputs(const void *a, const void *b) {
    return strcmp(((const CliJob *)a)->output, ((const CliJob *)b)->output);
}

// Two inputs of one name would overwrite each other's output.
static CliStatus check_distinct(const CliJobs *jobs) {
    const size_t count = (size_t)jobs->count;
    CliJob *sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    CliStatus status = CLI_FINE;
    if (count > 0) {
        memcpy(sorted, jobs->list, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_outputs);
    }
    for (size_t k = 1; k < count; k++) {
        if (strcmp(sorted[k - 1].output, sorted[k].output) == 0) {
            cli_say("%s and %s would both be written to %s", sorted[k - 1].input, sorted[k].input,
                    sorted[k].output);
            status = CLI_BAD_COMMAND;
        }
    }
    free(sorted);
    return status;
}

static CliStatus check_output(const CliJob *job, bool force) {
    struct stat about;
    if (lstat(job->output, &about) != 0) {
        return CLI_FINE;
    }
    if (!force) {
        cli_say("%s exists already; --force replaces it", job->output);
        return CLI_BAD_FILE;
    }
    if (!S_ISREG(about.st_mode)) {
        cli_say("%s exists and is not a regular file", job->output);
        return CLI_BAD_FILE;
    }
    if (is_same_file(job->input, job->output)) {
        cli_say("%s would overwrite itself; choose another folder for --out", job->input);
        return CLI_BAD_COMMAND;
    }
    return CLI_FINE;
}

// Before anything is solved: every output has a name that may be written.
static CliStatus plan_outputs(CliJobs *jobs, const Options *options) {
    for (int k = 0; k < jobs->count; k++) {
        jobs->list[k].output = name_output(options->out, jobs->list[k].input);
        if (jobs->list[k].output == NULL) {
            cli_say("there is not enough memory");
            return CLI_BAD_FILE;
        }
    }
    CliStatus status = check_distinct(jobs);
    status = status == CLI_FINE ? cli_check_folder(options->out) : status;
    for (int k = 0; k < jobs->count; k++) {
        const CliStatus one = check_output(&jobs->list[k], options->force);
        status = one > status ? one : status;
    }
    return status;
}

// -----------------------------------------------------------------------------------------
// progress

// What the callback needs to know.
typedef struct Watch {
    const char *name;
    double start, limit; // seconds; no limit when 0
    double shown;        // when the progress line was last written
    bool show, plain;    // on a terminal; without escape codes
    bool dirty;          // a progress line is on the screen
} Watch;

static bool is_set(const char *variable) {
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

static Watch make_watch(const Options *options) {
    const char *terminal = getenv("TERM");
    const bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    return (Watch){.limit = options->max_seconds,
                   .show = !options->quiet && isatty(STDERR_FILENO) && !dumb,
                   .plain = is_set("NO_COLOR")};
}

static void clear_progress(Watch *watch) {
    if (watch->dirty) {
        (void)fputs(watch->plain ? "\r                                                            "
                                   "                   \r"
                                 : "\r\033[K",
                    stderr);
        watch->dirty = false;
    }
}

static bool on_iteration(void *user, const FilFrictionProgress *progress) {
    Watch *watch = user;
    const double now = cli_clock();
    if (watch->show && now - watch->shown > 0.1) {
        clear_progress(watch);
        (void)fprintf(stderr, "  %.30s  %d it  |  residual %.1e  |  %.12s  |  %.1f s", watch->name,
                      progress->iteration, progress->scaled, progress->phase, now - watch->start);
        (void)fflush(stderr);
        watch->dirty = true;
        watch->shown = now;
    }
    return !cli_is_interrupted() && !(watch->limit > 0.0 && now - watch->start >= watch->limit);
}

// -------------------------------------------------------------------------------------------
// report

typedef struct Result {
    const char *file;
    int contacts;
    int dofs; // 0: not known
    const char *solver;
    FilFrictionInfo info;
    double seconds;
} Result;

static void print_json(const Result *result) {
    const FilFrictionInfo *info = &result->info;
    (void)fputs("{\"file\":", stdout);
    cli_print_json_text(result->file);
    (void)printf(",\"contacts\":%d", result->contacts);
    cli_print_json_number("dofs", result->dofs > 0 ? result->dofs : (double)NAN);
    (void)printf(",\"solver\":\"%s\",\"outcome\":\"%s\",\"iterations\":%d", result->solver,
                 fil_outcome_name(info->outcome), info->iterations);
    cli_print_json_number("natural", info->residual.natural);
    cli_print_json_number("scaled", info->residual.scaled);
    cli_print_json_number("alart_curnier", info->residual.alart_curnier);
    (void)printf(",\"fallbacks\":%d", info->fallbacks);
    cli_print_json_number("seconds", result->seconds);
    (void)puts("}");
}

static void print_heading(int width) {
    (void)printf("%-*s  contacts   dofs  solver        outcome      iterations  natural   scaled   "
                 " alart-c.  fallbacks   seconds\n",
                 width, "file");
}

static void print_row(const Result *result, int width) {
    const FilFrictionInfo *info = &result->info;
    char dofs[16] = "-";
    if (result->dofs > 0) {
        (void)snprintf(dofs, sizeof dofs, "%d", result->dofs);
    }
    (void)printf("%-*s  %8d  %5s  %-12s  %-11s  %10d  %-8.2e  %-8.2e  %-8.2e  %9d  %8.4f\n", width,
                 result->file, result->contacts, dofs, result->solver,
                 fil_outcome_name(info->outcome), info->iterations, info->residual.natural,
                 info->residual.scaled, info->residual.alart_curnier, info->fallbacks,
                 result->seconds);
}

// --------------------------------------------------------------------------------------------
// solve

// Everything one run shares.
typedef struct Run {
    const Options *options;
    Watch watch;
    int width; // of the table's first column
    bool headed;
} Run;

static CliStatus report(Run *run, const Result *result) {
    clear_progress(&run->watch);
    if (run->options->json) {
        print_json(result);
    } else {
        if (!run->headed) {
            print_heading(run->width);
        }
        print_row(result, run->width);
        run->headed = true;
    }
    return cli_flush();
}

static CliStatus write_output(const Run *run, const CliJob *job, const FilFclib *file,
                              const FilFrictionSolution *solution) {
    FilFclib solved = *file;
    solved.solution = (FilFclibVectors){.r = solution->r, .u = solution->u, .v = solution->v};
    FilError error = {0};
    if (!cli_make_folder(run->options->out)) {
        cli_say("%s: cannot make the folder: %s", run->options->out, strerror(errno));
        return CLI_BAD_FILE;
    }
    if (fil_fclib_write(job->output, &solved, run->options->force, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

static FilFrictionSettings make_settings(Run *run) {
    const Options *options = run->options;
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.solver = (FilFrictionSolver)options->solver;
    settings.local = (FilLocalSolver)options->local;
    settings.function = (FilNewtonFunction)options->function;
    settings.convex = (FilConvexSolver)options->convex;
    settings.tolerance = fmax(options->tol, DBL_MIN); // 0 means: as far as it goes
    settings.natural_tolerance = settings.tolerance;
    settings.facet_count = options->facets;
    settings.max_iterations = options->max_iterations;
    settings.thread_count = options->threads;
    settings.on_iteration = on_iteration;
    settings.user = &run->watch;
    return settings;
}

static size_t count_impulses(const FilFclib *file) {
    return (size_t)file->dimension * (size_t)file->contact_count + (size_t)file->equality_count;
}

// Solve, write and report one problem; `memory` holds r, u and v.
static CliStatus solve_problem(Run *run, const CliJob *job, const FilFclib *file, double *memory) {
    const size_t scalars = count_impulses(file);
    FilFrictionSolution solution = {.r = memory, .u = memory + scalars};
    if (file->problem.form == FIL_FORM_GLOBAL) {
        solution.v = memory + 2 * scalars;
    }
    const FilFrictionSettings settings = make_settings(run);
    Result result = {.file = job->input,
                     .contacts = file->contact_count,
                     .dofs = file->problem.dof_count,
                     .solver = solvers[run->options->solver].name};
    FilError error = {0};
    run->watch.name = job->input;
    run->watch.start = cli_clock();
    const FilStatus status =
        fil_friction_solve(&file->problem, &settings, NULL, &solution, &result.info, &error);
    result.seconds = cli_clock() - run->watch.start;
    if (status != FIL_OK) {
        clear_progress(&run->watch);
        cli_say("%s: %s", job->input, error.text);
        return CLI_BAD_FILE;
    }
    CliStatus worst = result.info.outcome == FIL_CONVERGED ? CLI_FINE : CLI_NOT_ACCEPTABLE;
    if (job->output != NULL) {
        const CliStatus written = write_output(run, job, file, &solution);
        worst = written > worst ? written : worst;
    }
    const CliStatus told = report(run, &result);
    return told > worst ? told : worst;
}

static CliStatus solve_job(Run *run, const CliJob *job) {
    FilFclib *file = NULL;
    FilError error = {0};
    if (fil_fclib_read(job->input, NULL, &file, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    const size_t scalars = count_impulses(file);
    double *memory = calloc(2 * scalars + (size_t)file->problem.dof_count + 1, sizeof *memory);
    CliStatus status = CLI_BAD_FILE;
    if (memory == NULL) {
        cli_say("%s: there is not enough memory to solve it", job->input);
    } else {
        status = solve_problem(run, job, file, memory);
    }
    free(memory);
    fil_fclib_destroy(file);
    return status;
}

static CliStatus solve_jobs(CliJobs *jobs, const Options *options) {
    Run run = {.options = options, .watch = make_watch(options)};
    for (int k = 0; k < jobs->count; k++) {
        const int length = (int)strlen(jobs->list[k].input);
        run.width = length > run.width ? length : run.width;
    }
    cli_catch_interrupt();
    for (int k = 0; k < jobs->count && !cli_is_interrupted(); k++) {
        cli_jobs_note(jobs, solve_job(&run, &jobs->list[k]));
        if (ferror(stdout) != 0) { // nobody is listening
            break;
        }
    }
    if (cli_is_interrupted()) {
        cli_say("interrupted");
        cli_jobs_note(jobs, CLI_INTERRUPTED);
    }
    return jobs->status;
}

static CliStatus run_solve(const CliVerb *verb, int argc, char **argv) {
    Options options = {.tol = 1e-8, .facets = fil_friction_settings_default().facet_count};
    const int operands = cli_parse(verb, argc, argv, &options);
    if (operands < 0) {
        return operands == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (operands == 0) {
        cli_say("which file? For instance: filum solve FILE.hdf5 (filum help solve says more)");
        return CLI_BAD_COMMAND;
    }
    CliJobs jobs = {0};
    for (int k = 0; k < operands; k++) {
        cli_jobs_add(&jobs, argv[k]);
    }
    const CliStatus planned = options.out != NULL ? plan_outputs(&jobs, &options) : CLI_FINE;
    cli_jobs_note(&jobs, planned);
    const CliStatus status = planned == CLI_FINE ? solve_jobs(&jobs, &options) : jobs.status;
    cli_jobs_free(&jobs);
    return status;
}

const CliVerb cli_solve = {
    .name = "solve",
    .operands = "FILE...",
    .summary = "solve friction problems in FCLIB's HDF5 format",
    .description =
        "Solves contact problems with exact Coulomb friction, read from FCLIB's HDF5 files, in "
        "local "
        "or global form. A folder stands for all *.hdf5 files in it.\n\n"
        "Prints one row per file: contacts, degrees of freedom (where the file has them), outcome "
        "(converged, stalled, no-solution, limit), iterations, residuals, calls of the fail-safe, "
        "and "
        "seconds from the problem in memory to the solution. The residuals are natural: |r - P(r - "
        "u~)| / |b|; scaled: the same in velocities, free of units; alart-curnier: half the square "
        "of "
        "the Alart-Curnier function.",
    .examples = "filum solve box.hdf5\tsolve one problem\n"
                "filum solve problems/ --json > results.jsonl\tall problems of a folder, for a "
                "script\n"
                "filum solve box.hdf5 --out solved\tkeep impulses and velocities in "
                "solved/box.hdf5\n"
                "filum solve box.hdf5 --solver newton --function ac --tol 1e-6\tcompare methods",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_solve,
};
