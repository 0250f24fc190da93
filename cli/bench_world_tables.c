// bench_world_tables.c - filum bench world: growth, threads, and the table of the article of 2011.
//
// The article is F. Bertails-Descoubes, F. Cadoux, G. Daviet and V. Acary, "A nonsmooth Newton
// solver for capturing exact Coulomb friction in fiber assemblies", ACM TOG 30(1), 2011: its table
// I, on one thread of a Core 2 Duo at 2.1 GHz. Its n counts contacts; ours come in two numbers,
// those within reach and those that press, and nu = 3 n / m is of the latter and of all degrees of
// freedom m, as there. (Elsewhere m counts the bodies in contact only.)
#include "bench_world.h"

#include "filum/base.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static CliStatus worse(CliStatus a, CliStatus b) {
    return a > b ? a : b;
}

// --- growth --------------------------------------------------------------------------------------

static void print_growth(const char *scene, int strands, const BenchRun *run, bool json) {
    if (json) {
        (void)printf("{\"table\":\"growth\",\"scene\":\"%s\",\"strands\":%d", scene, strands);
        bench_world_print_json(run);
        (void)puts("}");
    } else {
        (void)printf("%8d%s %10.1f %10.1f %6.2f %9.2e %9.2e %8.1e %7d %12.2f\n", strands,
                     run->cut ? "*" : " ", run->window_contacts, run->window_active, run->window_nu,
                     run->median, run->median_cpu, run->window_residual, run->window_unconverged,
                     1e6 * run->median_cpu / fmax(run->window_contacts, 1.0));
    }
    (void)fflush(stdout);
}

enum { SIZES = 5, CHANGES = 5, CHANGE_LENGTH = 64 };

// A scene that is doubled four times.
typedef struct Growth {
    const char *scene, *title;
    int first; // strands
    int steps; // 0: all of the scene
    void (*change)(int strands, char changes[CHANGES][CHANGE_LENGTH]);
} Growth;

// Two bundles of half of the strands each, as far from each other and driven as far into each other
// as their radii say.
static void change_bundles(int strands, char changes[CHANGES][CHANGE_LENGTH]) {
    const int count = strands / 2;
    const double part = sqrt(count / 1096.0); // of the radius of the bundles of the scene
    for (int k = 0; k < 2; k++) {
        (void)snprintf(changes[k], CHANGE_LENGTH, "bundles[%d].count=%d", k, count);
    }
    (void)snprintf(changes[2], CHANGE_LENGTH, "bundles[1].rod.root.at[2]=%.2f mm",
                   84.0 * part + 4.0);
    (void)snprintf(changes[3], CHANGE_LENGTH, "bundles[1].rod.root.motion.keys[1].at[2]=%.2f mm",
                   -32.0 * part - 4.0);
    (void)snprintf(changes[4], CHANGE_LENGTH, "bundles[1].rod.tip.motion.keys[1].at[2]=%.2f mm",
                   -32.0 * part - 4.0);
}

static void change_heap(int strands, char changes[CHANGES][CHANGE_LENGTH]) {
    (void)snprintf(changes[0], CHANGE_LENGTH, "piles[0].count=%d", strands);
}

static const Growth growths[] = {
    {"bundle-drop", "the two bundles of bundle-drop", 136, 0, change_bundles},
    {"spaghetti-76", "a heap: spaghetti-76, which lands, and 200 steps more", 10, 265, change_heap},
};

static CliStatus measure_growth(const Growth *growth, const BenchOptions *options) {
    const int first = options->quick ? growth->first / 3 : growth->first;
    CliStatus worst = CLI_FINE;
    BenchFit wall = {0}, cpu = {0};
    if (!options->json) {
        (void)printf("\nGrowth: %s, strands doubled four times.\nAt least n^1.3, hoped for n^1.1; "
                     "the seed n^2. * marks what was cut, and does not count.\n\n"
                     "%8s  %10s %10s %6s %9s %9s %8s %7s %12s\n",
                     growth->title, "strands", "contacts", "press", "nu", "s/step", "cpu",
                     "residual", "unconv", "us/contact");
    }
    for (int k = 0; k < SIZES && !cli_is_interrupted(); k++) {
        char changes[CHANGES][CHANGE_LENGTH] = {""};
        BenchRun run;
        BenchPlan plan = bench_scene_plan(growth->scene, options);
        growth->change(first << k, changes);
        for (int c = 0; c < CHANGES && changes[c][0] != '\0'; c++) {
            bench_scene_change(&plan, changes[c]);
        }
        plan.steps = plan.steps > 0 ? plan.steps : growth->steps;
        worst = worse(worst, bench_scene_run(&plan, &run));
        if (run.steps > 0 && run.window_contacts > 0.0) {
            print_growth(growth->scene, first << k, &run, options->json);
        }
        if (run.window_contacts > 0.0 && !run.cut) { // others show another part of the motion
            bench_fit_add(&wall, run.window_contacts, run.median);
            bench_fit_add(&cpu, run.window_contacts, run.median_cpu);
        }
    }
    if (options->json) {
        (void)printf("{\"table\":\"growth-exponent\",\"scene\":\"%s\"", growth->scene);
        cli_print_json_number("exponent", bench_fit_exponent(&wall));
        cli_print_json_number("cpu_exponent", bench_fit_exponent(&cpu));
        (void)puts("}");
    } else {
        (void)printf("   time grows as n^%.2f by the clock, n^%.2f of the processor\n",
                     bench_fit_exponent(&wall), bench_fit_exponent(&cpu));
    }
    return worst;
}

CliStatus bench_world_growth(const BenchOptions *options) {
    CliStatus worst = CLI_FINE;
    for (size_t k = 0; k < sizeof growths / sizeof *growths && !cli_is_interrupted(); k++) {
        if (bench_scene_is_wanted(options, growths[k].scene, growths[k].scene)) {
            worst = worse(worst, measure_growth(&growths[k], options));
        }
    }
    return worst;
}

// --- threads -------------------------------------------------------------------------------------

static void print_threads(const char *scene, const BenchRun run[2], bool json) {
    const bool same = run[0].state_hash == run[1].state_hash && run[0].steps == run[1].steps;
    const double gain = run[0].median / run[1].median;
    if (json) {
        (void)printf("{\"table\":\"threads\",\"scene\":\"%s\",\"same_bits\":%s", scene,
                     same ? "true" : "false");
        cli_print_json_number("steps", (double)run[0].steps);
        cli_print_json_number("contacts", run[0].window_contacts);
        cli_print_json_number("seconds_one", run[0].median);
        cli_print_json_number("seconds_two", run[1].median);
        cli_print_json_number("gain", gain);
        (void)puts("}");
        return;
    }
    (void)printf("%-14s %8.1f %6lld %10.3e %10.3e %6.2f  %s\n", scene, run[0].window_contacts,
                 (long long)run[0].steps, run[0].median, run[1].median, gain,
                 same ? "same bits" : "THE BITS DIFFER");
#define GAIN(phase, name)                                  \
    (void)printf("    %-10s %38.3e %10.3e %6.2f\n", name,  \
                 run[0].window_sums.phase / run[0].window, \
                 run[1].window_sums.phase / run[1].window, \
                 run[0].window_sums.phase / fmax(run[1].window_sums.phase, 1e-12));
    GAIN(bodies, "bodies")
    GAIN(collide, "collide")
    GAIN(assemble, "assemble")
    GAIN(friction, "friction")
    GAIN(update, "update")
    GAIN(sweep, "sweep")
#undef GAIN
}

static CliStatus compare_threads(const char *scene, const BenchOptions *options) {
    BenchRun run[2];
    BenchPlan plan = bench_scene_plan(scene, options);
    plan.steps = plan.steps > 0 ? plan.steps : 100;
    plan.threads = 1;
    plan.hash = true;
    const CliStatus one = bench_scene_run(&plan, &run[0]);
    if (cli_is_interrupted() || run[0].steps == 0) {
        return one;
    }
    plan.steps = run[0].steps; // as far as that went
    plan.threads = 2;
    plan.seconds = 1e6;
    const CliStatus two = bench_scene_run(&plan, &run[1]);
    if (run[1].steps > 0) {
        print_threads(scene, run, options->json);
    }
    return worse(one, two);
}

CliStatus bench_world_threads(const BenchOptions *options) {
    static const char *const scenes[] = {"hair-2000", "spaghetti-31"};
    const int given = options->scene.count;
    CliStatus worst = CLI_FINE;
    if (!options->json) {
        (void)printf("\nTwo threads against one, the same steps: at least 1.6, hoped for 1.9. "
                     "Phases are means.\n\n%-14s %8s %6s %10s %10s %6s\n",
                     "scene", "contacts", "steps", "1: s/step", "2: s/step", "gain");
    }
    for (int k = 0; k < (given > 0 ? given : 2) && !cli_is_interrupted(); k++) {
        const char *scene = given > 0 ? options->scene.items[k] : scenes[k];
        if (bench_scene_is_wanted(options, scene, scene)) {
            worst = worse(worst, compare_threads(scene, options));
        }
    }
    return worst;
}

// --- the article's table -------------------------------------------------------------------------

typedef struct SeedRow {
    const char *name, *model, *scene;
    const char *changes[3];
    double mu;
    int contacts;       // n max
    double nu, seconds; // at most; mean of a step
} SeedRow;

static const SeedRow seed_rows[] = {
    {"plectoneme (1, 20)",
     "helix",
     "plectoneme",
     {"step=11 ms", "rods[0].elements=20"},
     0.0,
     18,
     0.9,
     0.04},
    {"tight knot (1, 20)", "helix", "knot", {"step=11 ms", "friction[0].mu=0"}, 0.0, 8, 0.4, 0.033},
    {"wavy hair (84, 8)",
     "helix",
     "wavy-hair",
     {"friction_default=0", "friction[0].mu=0"},
     0.0,
     392,
     0.58,
     2.6},
    {"wavy hair (84, 8)", "helix", "wavy-hair", {NULL}, 0.3, 380, 0.57, 41.2},
    {"self-stacking (1, 256)", "corde", "self-stacking", {NULL}, 0.3, 303, 1.18, 0.31},
    {"spaghetti (7, 16)", "corde", "spaghetti-7", {NULL}, 0.3, 121, 1.08, 0.36},
    {"spaghetti (31, 16)", "chain", "spaghetti-31", {NULL}, 0.3, 653, 1.32, 2.26},
    {"spaghetti (76, 22)", "chain", "spaghetti-76", {NULL}, 0.3, 1806, 1.08, 19.1},
};

static void print_seed_row(const SeedRow *row, const BenchRun *run, bool json) {
    const double mean = run->seconds.total / fmax((double)run->steps, 1.0);
    const double cpu = run->cpu / fmax((double)run->steps, 1.0);
    const double nu = 3.0 * run->active / fmax((double)run->dofs, 1.0);
    if (json) {
        (void)printf("{\"table\":\"seed\",\"scene\":\"%s\",\"model\":\"%s\",\"example\":\"%s\"",
                     row->scene, row->model, row->name);
        cli_print_json_number("mu", row->mu);
        cli_print_json_number("seed_contacts", row->contacts);
        cli_print_json_number("seed_nu", row->nu);
        cli_print_json_number("seed_seconds", row->seconds);
        cli_print_json_number("mean_cpu_seconds", cpu);
        cli_print_json_number("nu_of_all", nu);
        cli_print_json_number("worst_residual", run->residual);
        bench_world_print_json(run);
        (void)puts("}");
    } else {
        (void)printf("%-23s %-6s %4.1f %6.3g | %6d %5.2f %8.3g | %6d %6d %5.2f %9.2e %9.2e %8.1e "
                     "%6lld %7lld%s %7.0f\n",
                     row->name, row->model, row->mu, 1e3 * run->dt, row->contacts, row->nu,
                     row->seconds, run->contacts, run->active, nu, mean, cpu, run->residual,
                     (long long)run->unconverged, (long long)run->steps, run->cut ? "*" : " ",
                     row->seconds / mean);
    }
    (void)fflush(stdout);
}

CliStatus bench_world_seed(const BenchOptions *options) {
    CliStatus worst = CLI_FINE;
    if (!options->json) {
        (void)printf("\nTable I of the article of 2011 (one core of 2.1 GHz) and this program, %d "
                     "thread%s, tolerance %g.\nTimes are means over all steps (* marks a scene "
                     "that was cut); n: contacts within reach, and those that\npress; nu is of "
                     "the latter.\n\n"
                     "%-42s | %-21s | %s\n%-23s %-6s %4s %6s | %6s %5s %8s | %6s %6s %5s %9s %9s "
                     "%8s %6s %7s  %7s\n",
                     options->threads, options->threads == 1 ? "" : "s", options->tol, "", "2011",
                     "this program", "example", "model", "mu", "dt ms", "n max", "nu", "s/step",
                     "n max", "press", "nu", "s/step", "cpu", "residual", "unconv", "steps",
                     "faster");
    }
    for (size_t k = 0; k < sizeof seed_rows / sizeof *seed_rows && !cli_is_interrupted(); k++) {
        const SeedRow *row = &seed_rows[k];
        BenchRun run;
        BenchPlan plan = bench_scene_plan(row->scene, options);
        if (!bench_scene_is_wanted(options, row->name, row->scene)) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            bench_scene_change(&plan, row->changes[i]);
        }
        worst = worse(worst, bench_scene_run(&plan, &run));
        if (run.steps > 0) {
            print_seed_row(row, &run, options->json);
        }
    }
    return worst;
}
