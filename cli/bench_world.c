// bench_world.c - filum bench world: the scenes, beside what others need and what is aimed at.
//
// The table `scenes` has a row for each scene; further tables are in bench_world_tables.c. A time
// is never without the residual that it bought. Each row says how many contacts its scene must
// reach for its figure to count; where the clock cut a scene short of that, the row says so.
#include "bench_world.h"

#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A row of the table of figures to reach: seconds a step.
typedef struct Row {
    const char *name;  // what the user calls it
    const char *scene; // that it is made from
    const char *changes[3];
    const char *rival;      // what others need
    double contacts;        // to be reached
    double at_least, hoped; // s a step; 0: none
    bool one_thread;
} Row;

// real time, and ten times as fast, at steps of 11 ms
#define REAL_TIME .at_least = 0.011, .hoped = 0.0011

static const Row rows[] = {
    {.name = "spaghetti-76",
     .scene = "spaghetti-76",
     .rival = "19.1 s (2011)",
     .contacts = 1800,
     .at_least = 0.1,
     .hoped = 0.02},
    {.name = "wavy-hair",
     .scene = "wavy-hair",
     .rival = "41.2 s (2011)",
     .contacts = 380,
     .at_least = 0.05,
     .hoped = 0.011},
    {.name = "wig-straight", .scene = "wig-straight", .rival = "-", .at_least = 0.3, .hoped = 0.05},
    {.name = "wig-curly", .scene = "wig-curly", .rival = "-", .at_least = 0.3, .hoped = 0.05},
    {.name = "hair-2000",
     .scene = "hair-2000",
     .rival = "a few s",
     .contacts = 20000,
     .at_least = 0.5,
     .hoped = 0.1},
    {.name = "bundle-drop",
     .scene = "bundle-drop",
     .rival = "5.8 s, 6000 kept, 7e-3",
     .contacts = 19000,
     .at_least = 1.0,
     .hoped = 0.2,
     .one_thread = true},
    {.name = "knot",
     .scene = "knot",
     .changes = {"step=11 ms"},
     .rival = "0.033 s (2011)",
     REAL_TIME},
    {.name = "plectoneme",
     .scene = "plectoneme",
     .changes = {"step=11 ms", "rods[0].elements=20"},
     .rival = "0.04 s (2011)",
     REAL_TIME},
    {.name = "willow",
     .scene = "willow",
     .changes = {"step=11 ms"},
     .rival = "real time",
     REAL_TIME},
    {.name = "helix-30",
     .scene = "helix-30",
     .changes = {"step=11 ms"},
     .rival = "real time",
     REAL_TIME},
    {.name = "ribbon",
     .scene = "ribbon",
     .changes = {"step=11 ms"},
     .rival = "real time",
     REAL_TIME},
    {.name = "hair-10000",
     .scene = "hair-2000",
     .changes = {"hairs[0].count=10000", "hairs[0].rod.contact_radius=0.2 mm"},
     .rival = "not possible",
     .contacts = 100000,
     .hoped = 2.0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const double memory_limit = 24.0 * 1073741824.0; // of hair-10000

typedef struct Result {
    Row row;
    BenchRun run;
    bool there;
} Result;

// --- one row -------------------------------------------------------------------------------------

// How the median stands to the targets.
static const char *judge(const Result *result) {
    const Row *row = &result->row;
    const BenchRun *run = &result->run;
    if (row->hoped <= 0.0) {
        return "-";
    }
    if (run->contacts < row->contacts || run->window_contacts < 0.75 * row->contacts) {
        return "too few contacts";
    }
    if (!(run->window_residual <= 1e-5)) {
        return "residual above 1e-5";
    }
    if (run->median <= row->hoped) {
        return "as hoped for";
    }
    if (row->at_least <= 0.0) {
        return run->memory <= memory_limit ? "it runs" : "too much memory";
    }
    return run->median <= row->at_least ? "reached" : "missed";
}

static void print_heading(const BenchOptions *options) {
    if (options->json) {
        return;
    }
    (void)printf(
        "Scenes: the median of the %d consecutive steps in which most contacts press; "
        "tolerance %g, %d thread%s, one run\non this machine, at most %g s a scene. * marks "
        "a scene that was cut, of which at most the busiest half\ncounts. cpu is "
        "processor time. Contacts within reach, those that press and nu are the most of "
        "all steps.\n\n"
        "%-14s %8s %7s %5s %6s %9s %9s %8s %6s %7s %-22s %8s %8s  %s\n",
        BENCH_WINDOW, options->tol, options->threads, options->threads == 1 ? "" : "s",
        options->seconds, "scene", "contacts", "press", "nu", "dt ms", "s/step", "cpu", "residual",
        "unconv", "x real", "seed or rival", "at least", "hoped", "which is");
    (void)fflush(stdout);
}

static void print_target(double seconds) {
    char text[16] = "-";
    if (seconds > 0.0) {
        (void)snprintf(text, sizeof text, "%.3g", seconds);
    }
    (void)printf(" %8s", text);
}

static void print_row(const Result *result) {
    const Row *row = &result->row;
    const BenchRun *run = &result->run;
    char name[32];
    (void)snprintf(name, sizeof name, "%s%s", row->name, run->cut ? "*" : "");
    (void)printf("%-14s %8d %7d %5.2f %6.3g %9.2e %9.2e %8.1e %6lld %7.3g %-22s", name,
                 run->contacts, run->active, run->nu, 1e3 * run->dt, run->median, run->median_cpu,
                 run->window_residual, (long long)run->unconverged, bench_scene_real_time(run),
                 row->rival);
    print_target(row->at_least);
    print_target(row->hoped);
    (void)printf("  %s\n", judge(result));
    (void)fflush(stdout);
}

static void print_row_json(const Result *result, const BenchOptions *options) {
    const Row *row = &result->row;
    const BenchRun *run = &result->run;
    (void)fputs("{\"table\":\"scenes\",\"scene\":", stdout);
    cli_print_json_text(row->name);
    cli_print_json_number("threads", row->one_thread ? 1 : fil_thread_count(options->threads));
    bench_world_print_json(run);
    (void)fputs(",\"rival\":", stdout);
    cli_print_json_text(row->rival);
    cli_print_json_number("contacts_wanted", row->contacts);
    cli_print_json_number("at_least", row->at_least > 0.0 ? row->at_least : (double)NAN);
    cli_print_json_number("hoped_for", row->hoped > 0.0 ? row->hoped : (double)NAN);
    (void)fputs(",\"which_is\":", stdout);
    cli_print_json_text(judge(result));
    (void)puts("}");
    (void)fflush(stdout);
}

void bench_world_print_json(const BenchRun *run) {
    cli_print_json_number("dt", run->dt);
    cli_print_json_number("steps", (double)run->steps);
    (void)printf(",\"cut\":%s", run->cut ? "true" : "false");
    cli_print_json_number("contacts", run->contacts);
    cli_print_json_number("active", run->active);
    cli_print_json_number("nu", run->nu);
    cli_print_json_number("unconverged", (double)run->unconverged);
    cli_print_json_number("halved", (double)run->halved);
    cli_print_json_number("missed", (double)run->missed);
    cli_print_json_number("mean_seconds", run->seconds.total / fmax((double)run->steps, 1.0));
    cli_print_json_number("window", run->window);
    cli_print_json_number("window_contacts", run->window_contacts);
    cli_print_json_number("window_active", run->window_active);
    cli_print_json_number("window_iterations", run->window_iterations);
    cli_print_json_number("window_unconverged", run->window_unconverged);
    cli_print_json_number("seconds", run->median);
    cli_print_json_number("cpu_seconds", run->median_cpu);
    cli_print_json_number("residual", run->window_residual);
    cli_print_json_number("real_time", bench_scene_real_time(run));
#define SHARE(phase) \
    cli_print_json_number("share_" #phase, bench_scene_share(run, run->window_sums.phase));
    CLI_PHASES(SHARE)
#undef SHARE
    cli_print_json_number("memory", run->memory);
}

// --- phases --------------------------------------------------------------------------------------

static void print_phases(const Result *results, int count) {
    (void)printf(
        "\nShare of the time in these windows, %%; their means; all steps; the most memory."
        "\n\n%-14s",
        "scene");
#define NAME(phase) (void)printf(" %8s", #phase);
    CLI_PHASES(NAME)
#undef NAME
    (void)printf(" %8s %10s %8s %8s %9s\n", "window", "contacts", "press", "steps", "memory");
    for (int k = 0; k < count; k++) {
        const BenchRun *run = &results[k].run;
        char memory[16];
        (void)printf("%-14s", results[k].row.name);
#define SHARE(phase) (void)printf(" %8.1f", 100.0 * bench_scene_share(run, run->window_sums.phase));
        CLI_PHASES(SHARE)
#undef SHARE
        (void)printf(" %8d %10.1f %8.1f %8lld %9s\n", run->window, run->window_contacts,
                     run->window_active, (long long)run->steps,
                     cli_show_bytes(run->memory, memory));
    }
}

// Other work on the machine makes the clock's times longer than they need be.
static void warn_busy(const Result *results, int count, const BenchOptions *options) {
    double wall = 0.0, cpu = 0.0;
    for (int k = 0; k < count; k++) {
        wall += results[k].run.seconds.total;
        cpu += results[k].run.cpu;
    }
    if (options->threads == 1 && wall > 1.2 * cpu) {
        cli_say("the machine was busy with other work: times by the clock are %.1f times those of "
                "the processor",
                wall / fmax(cpu, 1e-9));
    }
}

static void print_detect(const Result *results, int count, bool json) {
    if (!json) {
        (void)printf("\nCollision detection, the windows above: microseconds per capsule and step "
                     "(at least 1, hoped for 0.3;\nabout half of all time in ADONIS); cpu is the "
                     "share of both in the time of the processor.\n\n"
                     "%-14s %9s %9s %9s %9s %9s %8s\n",
                     "scene", "capsules", "collide", "sweep", "both", "cpu", "share %");
    }
    for (int k = 0; k < count; k++) {
        const BenchRun *run = &results[k].run;
        const double each = 1e6 / (fmax(run->window, 1.0) * fmax((double)run->pieces, 1.0));
        const double collide = each * run->window_sums.collide,
                     sweep = each * run->window_sums.sweep;
        const double share =
            bench_scene_share(run, run->window_sums.collide + run->window_sums.sweep);
        const double cpu = each * share * run->window_cpu;
        if (json) {
            (void)fputs("{\"table\":\"detect\",\"scene\":", stdout);
            cli_print_json_text(results[k].row.name);
            cli_print_json_number("capsules", (double)run->pieces);
            cli_print_json_number("contacts", run->window_contacts);
            cli_print_json_number("collide_us", collide);
            cli_print_json_number("sweep_us", sweep);
            cli_print_json_number("us", collide + sweep);
            cli_print_json_number("cpu_us", cpu);
            cli_print_json_number("share", share);
            (void)puts("}");
        } else {
            (void)printf("%-14s %9lld %9.3f %9.3f %9.3f %9.3f %8.1f\n", results[k].row.name,
                         run->pieces, collide, sweep, collide + sweep, cpu, 100.0 * share);
        }
    }
    (void)fflush(stdout);
}

// --- the table -----------------------------------------------------------------------------------

// The rows that were asked for; scenes without a row get one without targets.
static int choose_rows(const BenchOptions *options, Row *chosen, int room) {
    int count = 0;
    for (int k = 0; k < ROWS && options->scene.count == 0; k++) {
        if (bench_scene_is_wanted(options, rows[k].name, rows[k].scene)) {
            chosen[count++] = rows[k];
        }
    }
    for (int i = 0; i < options->scene.count && count < room; i++) {
        const char *name = options->scene.items[i];
        chosen[count] = (Row){.name = name, .scene = name, .rival = "-"};
        for (int k = 0; k < ROWS; k++) {
            if (strcmp(rows[k].name, name) == 0) {
                chosen[count] = rows[k];
            }
        }
        count++;
    }
    return count;
}

static CliStatus run_row(const Row *row, const BenchOptions *options, Result *result) {
    BenchPlan plan = bench_scene_plan(row->scene, options);
    for (int k = 0; k < 3; k++) {
        bench_scene_change(&plan, row->changes[k]);
    }
    plan.threads = row->one_thread ? 1 : plan.threads;
    result->row = *row;
    const CliStatus status = bench_scene_run(&plan, &result->run);
    result->there = result->run.steps > 0;
    return status;
}

// Scenes, their phases, and what detection takes.
static CliStatus bench_scenes(const BenchOptions *options) {
    const bool all = options->table == BENCH_TABLE_ALL;
    const bool scenes = all || options->table == BENCH_TABLE_SCENES;
    static Row chosen[ROWS + CLI_LIST_MAX];
    static Result results[ROWS + CLI_LIST_MAX];
    const int count = choose_rows(options, chosen, ROWS + CLI_LIST_MAX);
    CliStatus worst = CLI_FINE;
    int done = 0;
    if (scenes) {
        print_heading(options);
    }
    for (int k = 0; k < count && !cli_is_interrupted(); k++) {
        Result *result = &results[done];
        const CliStatus status = run_row(&chosen[k], options, result);
        worst = status > worst ? status : worst;
        if (result->there && scenes) {
            if (options->json) {
                print_row_json(result, options);
            } else {
                print_row(result);
            }
        }
        done += result->there;
    }
    if (scenes && !options->json && done > 0) {
        print_phases(results, done);
    }
    if (all || options->table == BENCH_TABLE_DETECT) {
        print_detect(results, done, options->json);
    }
    warn_busy(results, done, options);
    return worst;
}

static bool is_row(const char *name) {
    for (int k = 0; k < ROWS; k++) {
        if (strcmp(rows[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

// Is there everything that was asked for by name? Says what is not.
static bool check_names(const BenchOptions *options) {
    for (int i = 0; i < options->scene.count; i++) {
        const char *name = options->scene.items[i];
        if (!is_row(name) && !bench_scene_exists(name)) {
            cli_say("there is no scene %s; filum scenes lists what there is", name);
            return false;
        }
    }
    return true;
}

CliStatus bench_world(const BenchOptions *options) {
    typedef CliStatus Bench(const BenchOptions *);
    static const struct {
        int table;
        Bench *run;
    } others[] = {
        {BENCH_TABLE_GROWTH, bench_world_growth}, {BENCH_TABLE_THREADS, bench_world_threads},
        {BENCH_TABLE_SEED, bench_world_seed},     {BENCH_TABLE_NU, bench_world_nu},
        {BENCH_TABLE_GUESS, bench_world_guess},
    };
    CliStatus worst = CLI_FINE;
    const bool all = options->table == BENCH_TABLE_ALL && options->scene.count == 0;
    if (options->table != BENCH_TABLE_NU && !check_names(options)) { // that has names of its own
        return CLI_BAD_COMMAND;
    }
    if (options->pulls > 0) {
        worst = bench_world_pulls(options);
        const CliStatus told = cli_flush();
        return told > worst ? told : worst;
    }
    if (options->table == BENCH_TABLE_ALL || options->table == BENCH_TABLE_SCENES ||
        options->table == BENCH_TABLE_DETECT) {
        worst = bench_scenes(options);
    }
    for (size_t k = 0; k < sizeof others / sizeof *others && !cli_is_interrupted(); k++) {
        if (all || options->table == others[k].table) {
            const CliStatus status = others[k].run(options);
            worst = status > worst ? status : worst;
        }
    }
    const CliStatus told = cli_flush();
    return told > worst ? told : worst;
}
