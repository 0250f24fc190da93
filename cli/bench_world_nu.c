// bench_world_nu.c - filum bench world --table nu: time and error of the global Newton solver
// against nu.
//
// nu = 3 n / m, contacts of the problem times dimension over all degrees of freedom. The article of
// 2011 (figures 10 and 11) finds its Newton solver fast for nu < 1, slow up to 1.5, and failing
// beyond. Here the same method, `newton` on the Alart-Curnier function with line search, at most
// 200 iterations, to a relative error of 1e-3 (what its tolerance of 1e-5 on |f|^2 came to), solves
// the problems of the same heaps, each from where the world starts unless that is a solution
// already; beside it `auto` to the same tolerance. The world itself goes on with `auto`, so that a
// solve that failed spoils only itself.
#include "bench_record.h"
#include "bench_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 11, EVERY = 3, MAX_ITERATIONS = 200 };
static const double bin_width = 0.2;
static const double tolerance = 1e-3;

typedef struct Sums {
    long solved;
    double iterations, seconds, worst_seconds, worst, log_residual;
} Sums;

typedef struct Bin {
    long problems;
    double contacts;
    Sums newton, automatic;
} Bin;

typedef struct Profile {
    Bin bins[BINS];
    FilFrictionWorkspace *workspace;
    const BenchRun *run;
    long seen;
} Profile;

static bool solve(const Profile *profile, FilFrictionSolver solver,
                  const FilFrictionProblem *problem, const double *start, Sums *sums) {
    const size_t size = 3 * sizeof(double) * (size_t)problem->block_count;
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.solver = solver;
    settings.function = FIL_FUNCTION_ALART_CURNIER;
    settings.tolerance = tolerance;
    settings.max_iterations = solver == FIL_SOLVER_NEWTON ? MAX_ITERATIONS : 0;
    settings.warm_start = true;
    settings.thread_count = 1;
    FilFrictionSolution solution = {.r = malloc(size)};
    FilFrictionInfo info = {0};
    FilError error = {.text = "there is not enough memory"};
    if (solution.r == NULL) {
        cli_say("%s", error.text);
        return false;
    }
    memcpy(solution.r, start, size);
    const double began = cli_clock();
    const FilStatus status =
        fil_friction_solve(problem, &settings, profile->workspace, &solution, &info, &error);
    const double seconds = cli_clock() - began;
    free(solution.r);
    if (status != FIL_OK) {
        cli_say("%s", error.text);
        return false;
    }
    sums->solved += info.outcome == FIL_CONVERGED;
    sums->iterations += info.iterations;
    sums->seconds += seconds;
    sums->worst_seconds = fmax(sums->worst_seconds, seconds);
    sums->worst = fmax(sums->worst, info.residual.scaled);
    sums->log_residual += log10(fmax(info.residual.scaled, 1e-17));
    return true;
}

// Is there something left to solve?
static bool is_open(const FilFrictionProblem *problem, const double *r) {
    FilResidual residual;
    FilError error;
    return !bench_is_trivial(problem) &&
           fil_friction_residual(problem, r, NULL, &residual, &error) == FIL_OK &&
           residual.scaled > tolerance;
}

static void watch_problem(void *user, const FilFrictionProblem *problem, const double *r,
                          const bool *fresh) {
    (void)fresh;
    Profile *profile = user;
    if (!is_open(problem, r) || profile->seen++ % EVERY != 0 || cli_is_interrupted()) {
        return;
    }
    const double nu = 3.0 * problem->block_count / fmax((double)profile->run->dofs, 1.0);
    Bin *bin = &profile->bins[(int)fmin(nu / bin_width, BINS - 1)];
    Bin more = *bin;
    more.problems++;
    more.contacts += problem->block_count;
    if (solve(profile, FIL_SOLVER_NEWTON, problem, r, &more.newton) &&
        solve(profile, FIL_SOLVER_AUTO, problem, r, &more.automatic)) {
        *bin = more;
    }
}

static void on_begin(void *user, FilWorld *world) {
    fil_world_watch_problems(world, watch_problem, user);
}

static void print_sums_json(const char *name, const Sums *sums, double n) {
    (void)printf(",\"%s\":{\"solved_percent\":%.17g", name, 100.0 * (double)sums->solved / n);
    cli_print_json_number("iterations", sums->iterations / n);
    cli_print_json_number("seconds", sums->seconds / n);
    cli_print_json_number("worst_seconds", sums->worst_seconds);
    cli_print_json_number("typical_residual", pow(10.0, sums->log_residual / n));
    cli_print_json_number("worst_residual", sums->worst);
    (void)fputs("}", stdout);
}

static void print_sums(const Sums *sums, double n) {
    (void)printf(" | %8.1f %10.1f %9.2e %9.2e %8.1e %8.1e", 100.0 * (double)sums->solved / n,
                 sums->iterations / n, sums->seconds / n, sums->worst_seconds,
                 pow(10.0, sums->log_residual / n), sums->worst);
}

static void print_profile(const char *name, const Profile *profile, bool json) {
    for (int k = 0; k < BINS; k++) {
        const Bin *bin = &profile->bins[k];
        const double n = (double)bin->problems;
        const double low = k * bin_width, high = k < BINS - 1 ? low + bin_width : (double)INFINITY;
        if (bin->problems == 0) {
            continue;
        }
        if (json) {
            (void)printf("{\"table\":\"nu\",\"heap\":\"%s\",\"problems\":%ld", name, bin->problems);
            cli_print_json_number("nu_from", low);
            cli_print_json_number("nu_to", high);
            cli_print_json_number("contacts", bin->contacts / n);
            print_sums_json("newton", &bin->newton, n);
            print_sums_json("auto", &bin->automatic, n);
            (void)puts("}");
        } else {
            (void)printf("%-6s %4.1f - %-4.1f %8ld %9.1f", name, low, high, bin->problems,
                         bin->contacts / n);
            print_sums(&bin->newton, n);
            print_sums(&bin->automatic, n);
            (void)puts("");
        }
    }
    (void)fflush(stdout);
}

static void print_heading(void) {
    (void)printf("\nGlobal Newton on the Alart-Curnier function against nu: problems of heaps of "
                 "spaghetti, at most %d iterations,\ntolerance %g, one thread; beside it the "
                 "default solver. Seconds: mean and longest. Residual: geometric mean and "
                 "worst.\n\n%36s | %-57s | %s\n%-6s %11s %8s %9s",
                 MAX_ITERATIONS, tolerance, "", "newton", "auto", "heap", "nu", "problems",
                 "contacts");
    for (int k = 0; k < 2; k++) {
        (void)printf(" | %8s %10s %9s %9s %8s %8s", "solved %", "iterations", "seconds", "longest",
                     "residual", "worst");
    }
    (void)puts("");
}

CliStatus bench_world_nu(const BenchOptions *options) {
    static const struct {
        const char *name, *scene, *change;
    } heaps[] = {
        {"31x16", "spaghetti-31", NULL},
        {"76x16", "spaghetti-76", "piles[0].rod.elements=15"},
        {"76x22", "spaghetti-76", NULL},
    };
    CliStatus worst = CLI_FINE;
    if (!options->json) {
        print_heading();
    }
    for (size_t k = 0; k < sizeof heaps / sizeof *heaps && !cli_is_interrupted(); k++) {
        BenchRun run;
        Profile profile = {.run = &run};
        BenchPlan plan = bench_scene_plan(heaps[k].scene, options);
        FilError error;
        if (!bench_scene_is_wanted(options, heaps[k].name, heaps[k].scene)) {
            continue;
        }
        if (fil_friction_workspace_create(NULL, &profile.workspace, &error) != FIL_OK) {
            cli_say("%s", error.text);
            return CLI_BAD_FILE;
        }
        bench_scene_change(&plan, heaps[k].change);
        plan.on_begin = on_begin;
        plan.user = &profile;
        const CliStatus status = bench_scene_run(&plan, &run);
        worst = status > worst ? status : worst;
        print_profile(heaps[k].name, &profile, options->json);
        fil_friction_workspace_destroy(profile.workspace);
    }
    return worst;
}
