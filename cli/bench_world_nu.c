// bench_world_nu.c - filum bench world --table nu: time and error of the global Newton solver
// against nu.
//
// nu = 3 n / m, contacts times dimension over degrees of freedom. The article of 2011 (figures 10
// and 11) finds its Newton solver fast for nu < 1, slow up to 1.5, and failing beyond. Here the
// same method, `newton` on the Alart-Curnier function, at most 200 iterations, to a relative error
// of 1e-3 (what its tolerance of 1e-5 on |f|^2 came to), steps the same heaps; every step goes into
// the bin of its nu.
#include "bench_world.h"

#include <math.h>
#include <stdio.h>

enum { BINS = 11 };
static const double bin_width = 0.2;
static const double tolerance = 1e-3;

typedef struct Bin {
    long steps, solved;
    double contacts, iterations, seconds, worst_seconds, worst, log_residual;
} Bin;

typedef struct Profile {
    Bin bins[BINS];
} Profile;

static bool on_step(void *user, const FilStepInfo *info) {
    Profile *profile = user;
    if (info->active_count == 0) {
        return true;
    }
    const int k = (int)fmin(info->conditioning / bin_width, BINS - 1);
    Bin *bin = &profile->bins[k];
    bin->steps++;
    bin->solved += info->outcome == FIL_CONVERGED;
    bin->contacts += info->contact_count;
    bin->iterations += info->iterations;
    bin->seconds += info->seconds.friction;
    bin->worst_seconds = fmax(bin->worst_seconds, info->seconds.friction);
    bin->worst = fmax(bin->worst, info->residual.scaled);
    bin->log_residual += log10(fmax(info->residual.scaled, 1e-17));
    return true;
}

static void print_profile(const char *name, const Profile *profile, bool json) {
    for (int k = 0; k < BINS; k++) {
        const Bin *bin = &profile->bins[k];
        const double n = (double)bin->steps;
        const double low = k * bin_width, high = k < BINS - 1 ? low + bin_width : (double)INFINITY;
        if (bin->steps == 0) {
            continue;
        }
        if (json) {
            (void)printf("{\"table\":\"nu\",\"heap\":\"%s\",\"steps\":%ld", name, bin->steps);
            cli_print_json_number("nu_from", low);
            cli_print_json_number("nu_to", high);
            cli_print_json_number("contacts", bin->contacts / n);
            cli_print_json_number("iterations", bin->iterations / n);
            cli_print_json_number("seconds", bin->seconds / n);
            cli_print_json_number("worst_seconds", bin->worst_seconds);
            cli_print_json_number("solved_percent", 100.0 * (double)bin->solved / n);
            cli_print_json_number("typical_residual", pow(10.0, bin->log_residual / n));
            cli_print_json_number("worst_residual", bin->worst);
            (void)puts("}");
        } else {
            (void)printf("%-8s %4.1f - %-4.1f %6ld %9.1f %10.1f %9.2e %9.2e %8.1f %9.1e %9.1e\n",
                         name, low, high, bin->steps, bin->contacts / n, bin->iterations / n,
                         bin->seconds / n, bin->worst_seconds, 100.0 * (double)bin->solved / n,
                         pow(10.0, bin->log_residual / n), bin->worst);
        }
    }
    (void)fflush(stdout);
}

CliStatus bench_world_nu(const BenchOptions *options) {
    static const struct {
        const char *name, *scene, *change;
    } heaps[] = {
        {"31x16", "spaghetti-31", NULL},
        {"76x16", "spaghetti-76", "bundles[0].rod.elements=15"},
        {"76x22", "spaghetti-76", NULL},
    };
    CliStatus worst = CLI_FINE;
    if (!options->json) {
        (void)printf("\nGlobal Newton on the Alart-Curnier function against nu: at most 200 "
                     "iterations a solve, tolerance %g.\nTime and iterations are those of all "
                     "solves of a step; residual: geometric mean, worst.\n\n"
                     "%-8s %11s %6s %9s %10s %9s %9s %8s %9s %9s\n",
                     tolerance, "heap", "nu", "steps", "contacts", "iterations", "s/step",
                     "longest", "solved %", "residual", "worst");
    }
    for (size_t k = 0; k < sizeof heaps / sizeof *heaps && !cli_is_interrupted(); k++) {
        Profile profile = {0};
        BenchRun run;
        BenchPlan plan = bench_scene_plan(heaps[k].scene, options);
        if (!bench_scene_is_wanted(options, heaps[k].name, heaps[k].scene)) {
            continue;
        }
        bench_scene_change(&plan, "solver.name=newton");
        bench_scene_change(&plan, "solver.function=ac");
        bench_scene_change(&plan, "solver.iterations=200");
        bench_scene_change(&plan, heaps[k].change);
        plan.tolerance = tolerance;
        plan.on_step = on_step;
        plan.user = &profile;
        const CliStatus status = bench_scene_run(&plan, &run);
        worst = status > worst ? status : worst;
        print_profile(heaps[k].name, &profile, options->json);
    }
    return worst;
}
