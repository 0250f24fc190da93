// bench_friction.c - filum bench friction: what the friction solvers cost, and what they reach.
//
// Three tables. `local`: Gauss-Seidel with each one-contact solver (failures, sweeps, time).
// `auto`: the default solver, problem by problem. `scaling`: its cost on fibres as they grow, on
// one and two threads, and the exponent of that cost. The first two take files; without them
// `local` takes problems as they come up in scenes, `auto` problems from the generators.
#include "bench.h"
#include "bench_record.h"
#include "cli.h"
#include "suite.h"

#include "filum/fclib.h"
#include "filum/generate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- problems ------------------------------------------------------------------------------------

// A problem, made or read, with room for its solution.
typedef struct Case {
    char made_name[CLI_SUITE_NAME];
    const char *name;
    FilGenerated *made;
    FilFclib *file;
    const FilFrictionProblem *problem;
    int contacts;
    double *r, *u, *v;
} Case;

static void close_case(Case *it) {
    free(it->r);
    fil_generated_destroy(it->made);
    fil_fclib_destroy(it->file);
    *it = (Case){0};
}

static CliStatus reserve_case(Case *it) {
    size_t size = it->file != NULL ? (size_t)it->file->equality_count : 0;
    size += (size_t)(it->file != NULL ? it->file->dimension : 3) * (size_t)it->contacts;
    it->r = calloc(2 * size + (size_t)it->problem->dof_count + 1, sizeof *it->r);
    if (it->r == NULL) {
        cli_say("%s: there is not enough memory", it->name);
        close_case(it);
        return CLI_BAD_FILE;
    }
    it->u = it->r + size;
    it->v = it->u + size;
    return CLI_FINE;
}

static CliStatus open_file(const char *path, Case *it) {
    FilError error = {0};
    *it = (Case){.name = path};
    if (fil_fclib_read(path, NULL, &it->file, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    const char *slash = strrchr(path, '/');
    it->name = slash != NULL ? slash + 1 : path;
    it->problem = &it->file->problem;
    it->contacts = it->file->contact_count;
    return reserve_case(it);
}

static CliStatus open_made(const FilGenerateDef *def, Case *it) {
    FilError error = {0};
    *it = (Case){0};
    cli_suite_name(def, it->made_name);
    if (fil_generate(def, NULL, &it->made, &error) != FIL_OK) {
        cli_say("%s: %s", it->made_name, error.text);
        return CLI_BAD_FILE;
    }
    it->name = it->made_name;
    it->problem = &it->made->problem;
    it->contacts = it->problem->block_count;
    return reserve_case(it);
}

// --- solves --------------------------------------------------------------------------------------

typedef struct Watch {
    double end;
} Watch;

static bool on_iteration(void *user, const FilFrictionProgress *progress) {
    (void)progress;
    return !cli_is_interrupted() && cli_clock() < ((Watch *)user)->end;
}

// One solve from zero; seconds, or a negative number after saying what is wrong.
static double solve_once(Case *it, const FilFrictionSettings *settings,
                         FilFrictionWorkspace *workspace, double limit, FilFrictionInfo *info) {
    FilFrictionSolution solution = {.r = it->r, .u = it->u};
    if (it->problem->form == FIL_FORM_GLOBAL) {
        solution.v = it->v;
    }
    FilError error = {0};
    const double start = cli_clock();
    Watch watch = {.end = start + limit};
    FilFrictionSettings watched = *settings;
    watched.on_iteration = on_iteration;
    watched.user = &watch;
    if (fil_friction_solve(it->problem, &watched, workspace, &solution, info, &error) != FIL_OK) {
        cli_say("%s: %s", it->name, error.text);
        return -1.0;
    }
    return cli_clock() - start;
}

// The fastest of some solves after one to warm up, which counts only when it takes long.
static double solve_best(Case *it, const FilFrictionSettings *settings,
                         FilFrictionWorkspace *workspace, const BenchOptions *options,
                         FilFrictionInfo *info) {
    double best = solve_once(it, settings, workspace, options->seconds, info);
    double spent = best;
    for (int k = 0; k < options->repeat && best >= 0.0 && spent < 2.0 && !cli_is_interrupted();
         k++) {
        const double seconds = solve_once(it, settings, workspace, options->seconds, info);
        best = k == 0 || seconds < best ? seconds : best;
        spent += seconds;
    }
    return best;
}

static FilFrictionSettings make_settings(const BenchOptions *options, int threads) {
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = fmax(options->tol, DBL_MIN); // 0 means: as far as it goes
    settings.natural_tolerance = settings.tolerance;
    settings.thread_count = threads;
    return settings;
}

// --- the one-contact solvers ---------------------------------------------------------------------

// How large the problems are.
typedef struct Sizes {
    int fewest, most; // contacts
    double nu;        // at most
} Sizes;

typedef struct LocalRow {
    int failures, problems;
    double sweeps, seconds;
    long fallbacks;
} LocalRow;

static const FilLocalSolver local_order[] = {
    FIL_LOCAL_LINEARISED, FIL_LOCAL_PAC,    FIL_LOCAL_DAC,           FIL_LOCAL_MFB,
    FIL_LOCAL_ENUM,       FIL_LOCAL_HYBRID, FIL_LOCAL_HYBRID_NEWTON,
};
enum { LOCAL_ROWS = sizeof local_order / sizeof *local_order };

// G. Daviet's figures of 2014, on 306 problems of his own; fewer digits where he gave none.
static const struct {
    double failures, sweeps, milliseconds;
} published[LOCAL_ROWS] = {
    {0.0, 575.0, 6497.0}, {19.3, 163.0, 1265.0}, {0.33, 60.0, 874.0},
    {4.9, 72.0, 484.0},   {1.0, 67.0, 1044.0},   {0.0, 41.0, 312.0},
};

static CliStatus add_local(Case *it, const BenchOptions *options, FilFrictionWorkspace *workspace,
                           LocalRow row[LOCAL_ROWS]) {
    for (int k = 0; k < LOCAL_ROWS; k++) {
        FilFrictionSettings settings = make_settings(options, 1);
        settings.solver = FIL_SOLVER_GAUSS_SEIDEL;
        settings.local = local_order[k];
        settings.tolerance = fmax(options->local_tol, DBL_MIN);
        settings.natural_tolerance = 0.0;
        settings.max_iterations = options->sweeps;
        FilFrictionInfo info = {0};
        const double seconds = solve_once(it, &settings, workspace, options->seconds, &info);
        if (seconds < 0.0) {
            return CLI_BAD_FILE;
        }
        row[k].problems++;
        row[k].failures += info.outcome != FIL_CONVERGED;
        row[k].sweeps += info.iterations;
        row[k].seconds += seconds;
        row[k].fallbacks += info.fallbacks;
    }
    return CLI_FINE;
}

static void add_sizes(Sizes *sizes, const FilFrictionProblem *problem, int contacts) {
    sizes->fewest = sizes->most == 0 || contacts < sizes->fewest ? contacts : sizes->fewest;
    sizes->most = contacts > sizes->most ? contacts : sizes->most;
    if (problem->dof_count > 0) {
        sizes->nu = fmax(sizes->nu, 3.0 * contacts / problem->dof_count);
    }
}

static CliStatus print_local(const LocalRow *rows, const Sizes *sizes,
                             const BenchOptions *options) {
    const int problems = rows[0].problems;
    if (!options->json) {
        (void)printf("One-contact solvers in Gauss-Seidel: %d problems of %d to %d contacts, "
                     "nu up to %.2f, tolerance %g,\nat most %d sweeps. Sweeps and time are means "
                     "over all problems, failures included. The "
                     "failures of `linearised` are the\nprice of its pyramid: the residual is that "
                     "of the exact law. Beside them Daviet (2014), on 306 problems\nthat were not "
                     "published.\n\n%-14s  failures %%  mean sweeps   mean ms  fallbacks |  "
                     "failures %%  sweeps    ms\n",
                     problems, sizes->fewest, sizes->most, sizes->nu, options->local_tol,
                     options->sweeps, "local solver");
    }
    for (int k = 0; k < LOCAL_ROWS && problems > 0; k++) {
        const LocalRow *row = &rows[k];
        const double failures = 100.0 * row->failures / problems, sweeps = row->sweeps / problems;
        const double seconds = row->seconds / problems;
        if (options->json) {
            (void)printf("{\"table\":\"local\",\"local\":\"%s\",\"problems\":%d",
                         fil_local_solver_name(local_order[k]), problems);
            cli_print_json_number("failure_percent", failures);
            cli_print_json_number("sweeps", sweeps);
            cli_print_json_number("seconds", seconds);
            (void)printf(",\"fallbacks\":%ld}\n", row->fallbacks);
        } else {
            (void)printf("%-14s  %10.2f  %11.1f  %8.3f  %9ld |",
                         fil_local_solver_name(local_order[k]), failures, sweeps, 1e3 * seconds,
                         row->fallbacks);
            if (published[k].sweeps > 0.0) {
                (void)printf("  %10.2f  %6.0f  %4.0f", published[k].failures, published[k].sweeps,
                             published[k].milliseconds);
            }
            (void)puts("");
        }
    }
    return cli_flush();
}

// --- the default solver --------------------------------------------------------------------------

static void print_auto_heading(const BenchOptions *options) {
    if (!options->json) {
        (void)printf("\nauto, tolerance %g, %d thread%s, fastest of %d with a kept workspace.\n\n"
                     "%-44s  contacts  outcome      iterations  scaled    natural    seconds\n",
                     options->tol, options->threads, options->threads == 1 ? "" : "s",
                     options->repeat, "problem");
    }
}

static CliStatus bench_auto(Case *it, const BenchOptions *options,
                            FilFrictionWorkspace *workspace) {
    const FilFrictionSettings settings = make_settings(options, options->threads);
    FilFrictionInfo info = {0};
    const double seconds = solve_best(it, &settings, workspace, options, &info);
    if (seconds < 0.0) {
        return CLI_BAD_FILE;
    }
    if (options->json) {
        (void)fputs("{\"table\":\"auto\",\"problem\":", stdout);
        cli_print_json_text(it->name);
        (void)printf(",\"contacts\":%d,\"outcome\":\"%s\",\"iterations\":%d", it->contacts,
                     fil_outcome_name(info.outcome), info.iterations);
        cli_print_json_number("scaled", info.residual.scaled);
        cli_print_json_number("natural", info.residual.natural);
        cli_print_json_number("seconds", seconds);
        (void)puts("}");
    } else {
        (void)printf("%-44s  %8d  %-11s  %10d  %-8.2e  %-8.2e  %9.6f\n", it->name, it->contacts,
                     fil_outcome_name(info.outcome), info.iterations, info.residual.scaled,
                     info.residual.natural, seconds);
    }
    const CliStatus told = cli_flush();
    return told != CLI_FINE ? told
                            : (info.outcome == FIL_CONVERGED ? CLI_FINE : CLI_NOT_ACCEPTABLE);
}

// --- scaling -------------------------------------------------------------------------------------

void bench_fit_add(BenchFit *fit, double n, double seconds) {
    const double x = log(n), y = log(seconds);
    fit->count += 1.0;
    fit->x += x;
    fit->y += y;
    fit->xx += x * x;
    fit->xy += x * y;
}

double bench_fit_exponent(const BenchFit *fit) {
    const double down = fit->count * fit->xx - fit->x * fit->x;
    return fit->count > 1.0 && down > 0.0 ? (fit->count * fit->xy - fit->x * fit->y) / down
                                          : (double)NAN;
}

static void print_scaling(const Case *it, double nu, int threads, const FilFrictionInfo *info,
                          double seconds, const BenchOptions *options) {
    if (options->json) {
        (void)printf("{\"table\":\"scaling\",\"contacts\":%d,\"threads\":%d,\"outcome\":\"%s\","
                     "\"iterations\":%d",
                     it->contacts, threads, fil_outcome_name(info->outcome), info->iterations);
        cli_print_json_number("nu", nu);
        cli_print_json_number("scaled", info->residual.scaled);
        cli_print_json_number("seconds", seconds);
        (void)puts("}");
    } else {
        (void)printf("%8d  %4.1f  %7d  %-11s  %10d  %-8.2e  %10.5f  %10.3f\n", it->contacts, nu,
                     threads, fil_outcome_name(info->outcome), info->iterations,
                     info->residual.scaled, seconds, 1e6 * seconds / it->contacts);
    }
    (void)cli_flush();
}

// One nu: sizes growing by about 3; ends at the first that is not solved in time.
static CliStatus scale_fibres(double nu, const BenchOptions *options,
                              FilFrictionWorkspace *workspace) {
    static const int sizes[] = {100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000};
    BenchFit fit[2] = {{0}};
    bool going = true;
    CliStatus status = CLI_FINE;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && going && !cli_is_interrupted(); k++) {
        if (sizes[k] > options->contacts) {
            break;
        }
        FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
        def.contact_count = sizes[k];
        def.conditioning = nu;
        Case it;
        if (open_made(&def, &it) != CLI_FINE) {
            return CLI_BAD_FILE;
        }
        for (int threads = 1; threads <= 2 && going && !cli_is_interrupted(); threads++) {
            const FilFrictionSettings settings = make_settings(options, threads);
            FilFrictionInfo info = {0};
            const double seconds = solve_best(&it, &settings, workspace, options, &info);
            going = seconds >= 0.0 && info.outcome == FIL_CONVERGED;
            status = seconds < 0.0 ? CLI_BAD_FILE : going ? status : CLI_NOT_ACCEPTABLE;
            if (seconds >= 0.0) {
                print_scaling(&it, nu, threads, &info, seconds, options);
            }
            if (going && sizes[k] >= 1000) {
                bench_fit_add(&fit[threads - 1], it.contacts, seconds);
            }
        }
        close_case(&it);
    }
    for (int t = 0; t < 2 && fit[t].count > 1.0; t++) {
        (void)printf(options->json ? "{\"table\":\"exponent\",\"nu\":%g,\"threads\":%d,"
                                     "\"exponent\":%.3f}\n"
                                   : "   nu %g, %d thread(s): cost grows as n^%.2f from n = 1000\n",
                     nu, t + 1, bench_fit_exponent(&fit[t]));
    }
    return status;
}

static CliStatus bench_scaling(const BenchOptions *options, FilFrictionWorkspace *workspace) {
    static const double nus[] = {0.3, 0.9, 1.3};
    CliStatus worst = CLI_FINE;
    if (!options->json) {
        (void)printf("\nStiff fibres, auto, tolerance %g, at most %g s; a ladder ends where that "
                     "is not enough.\n\ncontacts    nu  threads  outcome      iterations  scaled   "
                     "    seconds  us/contact\n",
                     options->tol, options->seconds);
    }
    for (int k = 0; k < 3 && !cli_is_interrupted(); k++) {
        const CliStatus status = scale_fibres(nus[k], options, workspace);
        worst = status > worst ? status : worst;
    }
    return worst;
}

// --- tables --------------------------------------------------------------------------------------

static CliStatus open_case(const CliJobs *jobs, const FilGenerateDef *def, int k, Case *it) {
    return jobs->count > 0 ? open_file(jobs->list[k].input, it) : open_made(def, it);
}

typedef struct Local {
    const BenchOptions *options;
    FilFrictionWorkspace *workspace;
    LocalRow rows[LOCAL_ROWS];
    Sizes sizes;
    CliStatus status;
} Local;

static bool add_recorded(void *user, const char *scene, const FilFrictionProblem *problem,
                         const double *r, const bool *fresh) {
    (void)r;
    (void)fresh;
    Local *local = user;
    Case it = {.name = scene, .problem = problem, .contacts = problem->block_count};
    CliStatus status = reserve_case(&it);
    if (status == CLI_FINE) {
        add_sizes(&local->sizes, problem, it.contacts);
        status = add_local(&it, local->options, local->workspace, local->rows);
        close_case(&it);
    }
    local->status = status > local->status ? status : local->status;
    return true;
}

static CliStatus run_local(const CliJobs *jobs, const BenchOptions *options,
                           FilFrictionWorkspace *workspace) {
    Local local = {.options = options, .workspace = workspace};
    CliStatus worst = CLI_FINE;
    if (jobs->count == 0) {
        worst = bench_record(options, options->quick ? BENCH_RECORDED / 17 : BENCH_RECORDED,
                             add_recorded, &local);
    }
    for (int k = 0; k < jobs->count && !cli_is_interrupted(); k++) {
        Case it;
        CliStatus status = open_file(jobs->list[k].input, &it);
        if (status == CLI_FINE) {
            add_sizes(&local.sizes, it.problem, it.contacts);
            status = add_local(&it, options, workspace, local.rows);
            close_case(&it);
        }
        worst = status > worst ? status : worst;
    }
    const CliStatus told = print_local(local.rows, &local.sizes, options);
    worst = local.status > worst ? local.status : worst;
    return told > worst ? told : worst;
}

static CliStatus run_auto(const CliJobs *jobs, const BenchOptions *options,
                          FilFrictionWorkspace *workspace) {
    const int count = jobs->count > 0 ? jobs->count : CLI_SUITE_GLOBAL;
    CliStatus worst = CLI_FINE;
    print_auto_heading(options);
    for (int k = 0; k < count && !cli_is_interrupted(); k++) {
        const FilGenerateDef def = cli_suite_global(k % CLI_SUITE_GLOBAL);
        if (jobs->count == 0 && options->quick && def.contact_count > 300) {
            continue;
        }
        Case it;
        CliStatus status = open_case(jobs, &def, k, &it);
        if (status == CLI_FINE) {
            status = bench_auto(&it, options, workspace);
            close_case(&it);
        }
        worst = status > worst ? status : worst;
    }
    return worst;
}

CliStatus bench_friction(const CliJobs *jobs, const BenchOptions *options) {
    FilFrictionWorkspace *workspace = NULL;
    FilError error = {0};
    if (fil_friction_workspace_create(NULL, &workspace, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    CliStatus status[3] = {CLI_FINE};
    if (options->table == BENCH_TABLE_ALL || options->table == BENCH_TABLE_LOCAL) {
        status[0] = run_local(jobs, options, workspace);
    }
    if (options->table == BENCH_TABLE_ALL || options->table == BENCH_TABLE_AUTO) {
        status[1] = run_auto(jobs, options, workspace);
    }
    if (options->table == BENCH_TABLE_SCALING ||
        (options->table == BENCH_TABLE_ALL && jobs->count == 0)) {
        status[2] = bench_scaling(options, workspace);
    }
    fil_friction_workspace_destroy(workspace);
    CliStatus worst = CLI_FINE;
    for (int k = 0; k < 3; k++) {
        worst = status[k] > worst ? status[k] : worst;
    }
    return worst;
}
