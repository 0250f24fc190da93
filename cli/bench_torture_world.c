// bench_torture_world.c - filum bench world --torture: random scenes, and what is wrong with how
// they go.
//
// The scenes and the faults are those of src/torture, which the tests use too. Beside the faults
// stands what is out of proportion: a scene is slow when a step of it takes more than ten times the
// median of the scenes that have as many unknowns (those of rods and bodies, and three for each
// contact; within a factor of 2), once by processor time and once by work counted. A scene that
// takes longer than --seconds of the processor is ended, and has hung: what else the machine does
// counts little.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "bench_torture.h"
#include "torture/torture.h"
#include "torture/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A series of scenes: a row of the table.
typedef struct Series {
    const char *name;
    FilTortureKind kind;
    bool resumes; // go on from checkpoints, instead of looking at every step
} Series;

// What a scene cost.
typedef struct Cost {
    int k;
    double unknowns, seconds, work; // a step: 0 where there was none
    double total;                   // s
} Cost;

enum { LEVELS = 4, LEAST_GROUP = 5 };
static const double levels[LEVELS] = {0.05, 1e-3, 1e-6, 1e-9}; // of gained energy

typedef struct Sum {
    TortureTally tally;
    int ran, closed, above[LEVELS], worst_case;
    int64_t steps, substeps;
    double gain, seconds, most_work;
    int slow_seconds, slow_work, slow_example[2];
} Sum;

typedef struct Session {
    const BenchOptions *options;
    char folder[64]; // of the meshes
    double began;    // of the scene in hand
} Session;

static bool is_late(void *user) {
    const Session *session = user;
    return cli_is_interrupted() || torture_clock() - session->began > session->options->seconds;
}

static FilWorldTorture run_case(Session *session, const Series *series, int k, char *text) {
    char where[128];
    const uint64_t seed = fil_torture_seed((uint64_t)session->options->seed, k);
    const FilTortureLimits limits = {
        .steps = session->options->steps, .stop = is_late, .user = session};
    (void)snprintf(where, sizeof where, "%s/%s-%d.json", session->folder, series->name, k);
    fil_torture_world_scene(series->kind, seed, text);
    session->began = torture_clock();
    return series->resumes ? fil_torture_resume(where, text, seed, &limits)
                           : fil_torture_world(where, text, &limits);
}

// --- what is out of proportion -------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median of scenes that have as many unknowns; below 0: there are too few of them.
static double find_median(const Cost *costs, int count, const Cost *like, bool work,
                          double *values) {
    int n = 0;
    for (int k = 0; k < count; k++) {
        const double ratio = costs[k].unknowns / like->unknowns;
        if (ratio <= 2.0 && ratio >= 0.5) {
            values[n++] = work ? costs[k].work : costs[k].seconds;
        }
    }
    qsort(values, (size_t)n, sizeof *values, compare);
    return n >= LEAST_GROUP ? values[n / 2] : -1.0;
}

static void find_slow(const Cost *costs, int count, Sum *sum) {
    double *values = calloc((size_t)count + 1, sizeof *values);
    for (int k = 0; k < count && values != NULL; k++) {
        const double seconds = find_median(costs, count, &costs[k], false, values);
        const double work = find_median(costs, count, &costs[k], true, values);
        if (seconds >= 0.0 && costs[k].seconds > 10.0 * seconds && costs[k].total > 0.2) {
            sum->slow_example[0] = sum->slow_seconds == 0 ? costs[k].k : sum->slow_example[0];
            sum->slow_seconds++;
        }
        if (work >= 0.0 && costs[k].work > 10.0 * work) {
            sum->slow_example[1] = sum->slow_work == 0 ? costs[k].k : sum->slow_example[1];
            sum->slow_work++;
        }
    }
    free(values);
}

// --- telling -------------------------------------------------------------------------------------

static void print_case(const Series *series, int k, const FilWorldTorture *world, double seconds) {
    (void)printf("{\"bench\":\"world-torture\",\"kind\":\"%s\",\"case\":%d", series->name, k);
    torture_print_faults(world->faults, FIL_WORLD_FAULT_COUNT, fil_world_fault_name);
    cli_print_json_number("steps", world->steps);
    cli_print_json_number("of", world->planned);
    cli_print_json_number("fault_step", world->fault_step);
    cli_print_json_number("unknowns", world->dofs);
    cli_print_json_number("contacts", (double)world->contacts / fmax(world->steps, 1.0));
    cli_print_json_number("unconverged", world->unconverged);
    cli_print_json_number("missed", world->missed);
    cli_print_json_number("substeps", (double)world->substeps);
    cli_print_json_number("most_substeps", world->most_substeps);
    cli_print_json_number("iterations", (double)world->iterations);
    cli_print_json_number("work", world->work);
    cli_print_json_number("most_work", world->most_work);
    cli_print_json_number("most_looks", (double)world->most_looks);
    cli_print_json_number("gain", world->closed ? world->gain : (double)NAN);
    cli_print_json_number("overlap", world->overlap);
    cli_print_json_number("seconds", seconds);
    (void)fputs(",\"what\":", stdout);
    cli_print_json_text(world->what);
    (void)fputs(",\"message\":", stdout);
    cli_print_json_text(world->error.text);
    (void)puts("}");
    (void)fflush(stdout);
}

static void print_head(const Series *series) {
    (void)printf("%-14s %6s %6s %8s %8s", "kind", "scenes", "ran", "steps", "ms/step");
    if (series->kind >= FIL_TORTURE_THROW) {
        (void)printf(" %8s %8s %8s %8s %9s %5s", ">5 %", ">1e-3", ">1e-6", ">1e-9", "worst",
                     "case");
    }
    for (int f = 0; f < FIL_WORLD_FAULT_COUNT; f++) {
        (void)printf(" %s", fil_world_fault_name(f));
    }
    (void)printf(" slow(s) slow(work)\n");
}

static void print_row(const Series *series, const Sum *sum) {
    (void)printf("%-14s %6d %6d %8" PRId64 " %8.3f", series->name, sum->tally.cases, sum->ran,
                 sum->steps, 1e3 * sum->seconds / fmax((double)sum->steps, 1.0));
    if (series->kind >= FIL_TORTURE_THROW) {
        for (int k = 0; k < LEVELS; k++) {
            (void)printf(" %8d", sum->above[k]);
        }
        (void)printf(" %9.1e %5d", sum->gain, sum->worst_case);
    }
    for (int f = 0; f < FIL_WORLD_FAULT_COUNT; f++) {
        (void)printf(" %*d", (int)strlen(fil_world_fault_name(f)), sum->tally.count[f]);
    }
    (void)printf(" %7d %10d\n", sum->slow_seconds, sum->slow_work);
    (void)fflush(stdout);
}

static void print_sum(const Series *series, int seed, const Sum *sum) {
    static const char *const names[LEVELS] = {"gained_5e-2", "gained_1e-3", "gained_1e-6",
                                              "gained_1e-9"};
    (void)printf("{\"bench\":\"world-torture\",\"kind\":\"%s\"", series->name);
    cli_print_json_number("seed", seed);
    cli_print_json_number("scenes", sum->tally.cases);
    cli_print_json_number("ran", sum->ran);
    cli_print_json_number("energies_checked", sum->closed);
    cli_print_json_number("steps", (double)sum->steps);
    cli_print_json_number("substeps", (double)sum->substeps);
    cli_print_json_number("seconds", sum->seconds);
    cli_print_json_number("most_work", sum->most_work);
    cli_print_json_number("worst_gain", sum->gain);
    for (int k = 0; k < LEVELS; k++) {
        cli_print_json_number(names[k], sum->above[k]);
    }
    for (int f = 0; f < FIL_WORLD_FAULT_COUNT; f++) {
        cli_print_json_number(fil_world_fault_name(f), sum->tally.count[f]);
    }
    cli_print_json_number("slow_seconds", sum->slow_seconds);
    cli_print_json_number("slow_work", sum->slow_work);
    (void)puts("}");
}

// --- running -------------------------------------------------------------------------------------

static void add_case(Sum *sum, int k, const FilWorldTorture *world, double seconds, Cost *cost) {
    const double steps = fmax(world->steps, 1.0);
    torture_add(&sum->tally, k, world->faults, FIL_WORLD_FAULT_COUNT);
    sum->ran += world->planned > 0;
    sum->closed += world->closed;
    sum->steps += world->steps;
    sum->substeps += world->substeps;
    sum->seconds += seconds;
    sum->most_work = fmax(sum->most_work, world->most_work);
    if (world->closed && world->gain > sum->gain) {
        sum->gain = world->gain;
        sum->worst_case = k;
    }
    for (int l = 0; l < LEVELS; l++) {
        sum->above[l] += world->closed && world->gain > levels[l];
    }
    *cost = (Cost){.k = k,
                   .unknowns = world->dofs + 3.0 * (double)world->contacts / steps + 1.0,
                   .seconds = seconds / steps,
                   .work = world->work / steps,
                   .total = seconds};
}

static CliStatus run_series(Session *session, const Series *series, Sum *sum) {
    static char text[FIL_SCENE_TEXT];
    const BenchOptions *options = session->options;
    Cost *costs = calloc((size_t)options->cases, sizeof *costs);
    if (costs == NULL) {
        cli_say("there is no memory for %d cases", options->cases);
        return CLI_BAD_FILE;
    }
    int count = 0;
    for (int k = 0; k < options->cases && !cli_is_interrupted(); k++) {
        const FilWorldTorture world = run_case(session, series, k, text);
        const double seconds = torture_clock() - session->began;
        if (cli_is_interrupted()) {
            break;
        }
        add_case(sum, k, &world, seconds, &costs[count]);
        count += world.steps > 0;
        if (options->json) {
            print_case(series, k, &world, seconds);
        }
    }
    find_slow(costs, series->resumes ? 0 : count, sum); // those run several times
    free(costs);
    return CLI_FINE;
}

static void print_examples(const Series *series, const Sum *sum) {
    torture_print_examples(&sum->tally, series->name, FIL_WORLD_FAULT_COUNT, fil_world_fault_name,
                           fil_world_fault_text);
    if (sum->slow_seconds > 0) {
        (void)printf("  %s: slow by processor time: %d, first in case %d\n", series->name,
                     sum->slow_seconds, sum->slow_example[0]);
    }
    if (sum->slow_work > 0) {
        (void)printf("  %s: slow by work: %d, first in case %d\n", series->name, sum->slow_work,
                     sum->slow_example[1]);
    }
}

// The mesh of a scene that is saved goes beside it.
static CliStatus save_mesh(const BenchOptions *options) {
    if (options->save == NULL) {
        return CLI_FINE;
    }
    char folder[4096];
    const char *slash = strrchr(options->save, '/');
    (void)snprintf(folder, sizeof folder, "%.*s",
                   slash != NULL ? (int)(slash - options->save) + 1 : 1,
                   slash != NULL ? options->save : ".");
    char *path = cli_join_path(folder, "cube.obj");
    const char *cube = fil_torture_cube();
    const CliStatus status =
        path != NULL ? cli_write_file(path, cube, strlen(cube), true) : CLI_BAD_FILE;
    free(path);
    return status;
}

// One case alone: what came of it, and its scene.
static CliStatus run_one(Session *session, const Series *series) {
    static char text[FIL_SCENE_TEXT];
    const BenchOptions *options = session->options;
    const FilWorldTorture world = run_case(session, series, options->only, text);
    const double seconds = torture_clock() - session->began;
    if (options->json) {
        print_case(series, options->only, &world, seconds);
    } else {
        (void)printf("// %s, case %d of seed %d: %d of %d steps, %d not converged, %" PRId64
                     " parts, work %.0f, gain %.2e, %.2f s\n",
                     series->name, options->only, options->seed, world.steps, world.planned,
                     world.unconverged, world.substeps, world.work, world.gain, seconds);
        for (int f = 0; f < FIL_WORLD_FAULT_COUNT; f++) {
            if ((world.faults & 1U << f) != 0) {
                (void)printf("// %s: %s\n", fil_world_fault_name(f), fil_world_fault_text(f));
            }
        }
        if (world.fault_step > 0) {
            (void)printf("// first in step %d\n", world.fault_step);
        }
        const char *const more[] = {world.what, world.error.text};
        for (int k = 0; k < 2; k++) {
            if (more[k][0] != '\0') {
                (void)printf("// %s\n", more[k]);
            }
        }
    }
    if (options->json && options->save == NULL) {
        return CLI_FINE;
    }
    const CliStatus saved = torture_save(options, text);
    return saved == CLI_FINE && strstr(text, "cube.obj") != NULL ? save_mesh(options) : saved;
}

static bool is_bad(const Sum *sum) {
    static const int bad[] = {FIL_WORLD_EXPLODED, FIL_WORLD_HUNG,    FIL_WORLD_PASSED,
                              FIL_WORLD_MISSED,   FIL_WORLD_UNNAMED, FIL_WORLD_ELASTIC,
                              FIL_WORLD_GAINED,   FIL_WORLD_DIFFERS, FIL_WORLD_SPEECHLESS};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        if (sum->tally.count[bad[k]] > 0) {
            return true;
        }
    }
    return false;
}

// The series that were asked for; wild and tame scenes unless something else was.
static int list_series(const BenchOptions *options, Series *list) {
    static char throws[FIL_ROD_MODEL_COUNT][24];
    int count = 0;
    const bool both = !options->wild && !options->tame && !options->throws;
    if (options->wild || both) {
        list[count++] = (Series){"wild", FIL_TORTURE_WILD, options->resumes};
    }
    if (options->tame || both) {
        list[count++] = (Series){"tame", FIL_TORTURE_TAME, options->resumes};
    }
    for (int m = 0; m < FIL_ROD_MODEL_COUNT && options->throws; m++) {
        if (options->model == m || options->model >= FIL_ROD_MODEL_COUNT) {
            (void)snprintf(throws[m], sizeof throws[m], "throw-%s",
                           fil_rod_model_name((FilRodModel)m));
            list[count++] =
                (Series){throws[m], (FilTortureKind)(FIL_TORTURE_THROW + m), options->resumes};
        }
    }
    return count;
}

static CliStatus run_all(Session *session, const Series *list, int count) {
    static Sum sums[2 + FIL_ROD_MODEL_COUNT];
    const BenchOptions *options = session->options;
    CliStatus status = CLI_FINE;
    bool bad = false;
    for (int k = 0; k < count && status == CLI_FINE && !cli_is_interrupted(); k++) {
        status = run_series(session, &list[k], &sums[k]);
        bad = bad || is_bad(&sums[k]);
        if (options->json) {
            print_sum(&list[k], options->seed, &sums[k]);
            continue;
        }
        if (k == 0 || (list[k - 1].kind < FIL_TORTURE_THROW && list[k].kind >= FIL_TORTURE_THROW)) {
            print_head(&list[k]);
        }
        print_row(&list[k], &sums[k]);
    }
    for (int k = 0; k < count && !options->json; k++) {
        print_examples(&list[k], &sums[k]);
    }
    return status != CLI_FINE ? status : bad ? CLI_NOT_ACCEPTABLE : CLI_FINE;
}

CliStatus bench_torture_world(const BenchOptions *options) {
    Series list[2 + FIL_ROD_MODEL_COUNT];
    const int count = list_series(options, list);
    Session session = {.options = options, .folder = "/tmp/filum-torture-XXXXXX"};
    if (options->only >= 0 && count != 1) {
        cli_say("--case needs one kind of scenes: --wild, --tame, or --throws with --model");
        return CLI_BAD_COMMAND;
    }
    if (mkdtemp(session.folder) == NULL) {
        cli_say("%s cannot be made", session.folder);
        return CLI_BAD_FILE;
    }
    char path[96];
    const char *cube = fil_torture_cube();
    (void)snprintf(path, sizeof path, "%s/cube.obj", session.folder);
    CliStatus status = cli_write_file(path, cube, strlen(cube), true);
    if (status == CLI_FINE) {
        status = options->only >= 0 ? run_one(&session, &list[0]) : run_all(&session, list, count);
    }
    (void)unlink(path);
    (void)rmdir(session.folder);
    const CliStatus told = cli_flush();
    return told > status ? told : status;
}
