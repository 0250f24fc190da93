// cmd_bench.c - filum bench: what friction solvers, rods and whole scenes cost, and what they
// reach.
//
// The benchmarks are in bench_friction.c, bench_rods.c and bench_world.c. `friction --rivals` hands
// over to a program of its own, filum-rivals, which alone is linked with the rivals.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "bench.h"
#include "bench_rods.h"
#include "cli.h"
#include "files.h"

#include "filum/generate.h"
#include "filum/rod.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef BenchOptions Options;

#define CHOICE(code, name, text) [BENCH_TABLE_##code] = {name, text},
static const CliChoice tables[] = {BENCH_TABLES(CHOICE)};
#undef CHOICE

#define CHOICE(code, name, text) [code] = {name, text},
static const CliChoice models[] = {
    FIL_ROD_MODEL_TABLE(CHOICE)[FIL_ROD_MODEL_COUNT] = {"all", "all of them; the default"}};
#undef CHOICE

static const CliOption option_table[] = {
    CLI_OPTION_CHOICE("table", "NAME", table, tables, "which table"),
    CLI_OPTION_LIST("scene", "NAME", scene,
                    "world, local: this scene only; may be given several times; default: all"),
    CLI_OPTION_FLAG("rivals", rivals,
                    "friction: compare with four solvers of Siconos, on one thread"),
    CLI_OPTION_FLAG("quick", quick, "fewer and smaller problems, fewer steps"),
    CLI_OPTION_FLAG("json", json, "one JSON object a line, not tables"),
    CLI_OPTION_REAL("tol", "TOL", tol, 0.0, 1.0, "tolerance; default 1e-8, with world 1e-5"),
    CLI_OPTION_REAL("local-tol", "TOL", local_tol, 0.0, 1.0,
                    "tolerance of Gauss-Seidel in table local; default 1e-4"),
    CLI_OPTION_COUNT("sweeps", "N", sweeps, 1, INT_MAX,
                     "most sweeps of Gauss-Seidel; default 1000"),
    CLI_OPTION_COUNT("contacts", "N", contacts, 100, FIL_GENERATE_CONTACT_MAX,
                     "largest problem of table scaling; default 100000"),
    CLI_OPTION_COUNT(
        "steps", "N", steps, 1, INT_MAX,
        "most steps of a scene; default: all; with --pulls: steps of a pull, default 20"),
    CLI_OPTION_REAL(
        "seconds", "S", seconds, 0.001, 1e6,
        "most seconds for a solve (default 60, --rivals 6) or for a scene (default 120, "
        "--quick 5, --torture 10)"),
    CLI_OPTION_COUNT("repeat", "N", repeat, 1, 1000,
                     "solves, of which the fastest counts; default 3"),
    CLI_OPTION_COUNT("pulls", "N", pulls, 1, 100000000,
                     "world: pull rods of all scenes at random, N times"),
    CLI_OPTION_COUNT("threads", "N", threads, 0, 4096,
                     "auto, world: threads; default 1; 0: all cores"),
    CLI_OPTION_FLAG("torture", torture, "rods, world: run random cases and report what goes wrong"),
    CLI_OPTION_FLAG("wild", wild,
                    "world --torture: random scenes with extreme numbers; default: wild and tame"),
    CLI_OPTION_FLAG("tame", tame, "world --torture: random scenes as users write them"),
    CLI_OPTION_FLAG("throws", throws, "world --torture: rods of each model, thrown on a floor"),
    CLI_OPTION_FLAG("resumes", resumes, "world --torture: interrupt and resume at random steps"),
    CLI_OPTION_COUNT("cases", "N", cases, 1, INT_MAX,
                     "--torture: how many; default 1000 of each model, 200 worlds"),
    CLI_OPTION_COUNT("seed", "S", seed, 0, INT_MAX, "--torture, --pulls: seed; default 1"),
    CLI_OPTION_CHOICE("model", "NAME", model, models, "rods --torture, --throws: model"),
    CLI_OPTION_COUNT("case", "K", only, 0, INT_MAX, "--torture: only this case; prints its scene"),
    CLI_OPTION_TEXT("save", "FILE", save, "file for the scene of --case"),
};

// --- rivals --------------------------------------------------------------------------------------

// A program of the benchmarks: beside this one, or in bench/ beside it. NULL: nowhere.
static char *find_program(const char *name) {
    char self[4096], inside[64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return NULL;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(inside, sizeof inside, "bench/%s", name);
    const char *const places[] = {name, inside};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        char *path = cli_join_path(self, places[k]);
        if (path != NULL && access(path, X_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

static CliStatus become(char *path, char **arguments) {
    (void)fflush(stdout);
    (void)execv(path, arguments);
    cli_say("%s: cannot run it: %s", path, strerror(errno));
    return CLI_BAD_FILE;
}

// Become the program that knows the rivals: filum-rivals TOL SECONDS REPEAT table|json FILE...
static CliStatus run_rivals(const CliJobs *jobs, const BenchOptions *options) {
    char *path = find_program("filum-rivals");
    char **arguments = calloc((size_t)jobs->count + 6, sizeof *arguments);
    if (path == NULL || arguments == NULL) {
        cli_say("filum-rivals is not there: it is built by `make bench` where Debian's "
                "libsiconos-numerics-dev is installed");
        free(path);
        free(arguments);
        return CLI_BAD_FILE;
    }
    char tol[32], seconds[32], repeat[32], format[] = "json", table[] = "table";
    (void)snprintf(tol, sizeof tol, "%.17g", options->tol);
    (void)snprintf(seconds, sizeof seconds, "%.17g", options->seconds);
    (void)snprintf(repeat, sizeof repeat, "%d", options->repeat);
    int count = 0;
    arguments[count++] = path;
    arguments[count++] = tol;
    arguments[count++] = seconds;
    arguments[count++] = repeat;
    arguments[count++] = options->json ? format : table;
    for (int k = 0; k < jobs->count; k++) {
        arguments[count++] = jobs->list[k].input;
    }
    (void)setenv("OMP_NUM_THREADS", "1", 1); // of the rivals' BLAS too
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
    const CliStatus status = become(path, arguments);
    free(path);
    free(arguments);
    return status;
}

// The steps of the models, then the program that knows what else follows a curve.
static CliStatus run_rods(BenchOptions *options) {
    if (options->torture) {
        options->cases = options->cases > 0 ? options->cases : 1000;
        return bench_torture_rods(options);
    }
    const CliStatus status = bench_rods(options->json, options->quick, options->threads);
    if (status != CLI_FINE || cli_is_interrupted()) {
        return status;
    }
    char *path = find_program("filum-curve-bench");
    if (path == NULL) {
        cli_say("the table of curves is left out: `make bench` builds the program that makes it");
        return CLI_FINE;
    }
    char json[] = "--json";
    char *arguments[] = {path, options->json ? json : NULL, NULL};
    if (!options->json) {
        (void)puts("\nframes of curves");
    }
    const CliStatus ran = become(path, arguments);
    free(path);
    return ran;
}

// Does a table belong to this benchmark?
static bool is_table_of(int table, bool world) {
    return table == BENCH_TABLE_ALL || (table >= BENCH_TABLE_SCENES) == world;
}

static CliStatus run_friction(int operands, char **argv, BenchOptions *options) {
    options->seconds = options->seconds > 0.0 ? options->seconds : options->rivals ? 6.0 : 60.0;
    options->contacts = options->contacts > 0 ? options->contacts : options->quick ? 1000 : 100000;
    options->tol = options->tol >= 0.0 ? options->tol : 1e-8;
    CliJobs jobs = {0};
    for (int k = 1; k < operands; k++) {
        cli_jobs_add(&jobs, argv[k]);
    }
    CliStatus status = jobs.status;
    if (operands == 1 || jobs.count > 0) {
        if (!options->rivals) {
            cli_catch_interrupt();
        }
        const CliStatus ran =
            options->rivals ? run_rivals(&jobs, options) : bench_friction(&jobs, options);
        status = ran > status ? ran : status;
    }
    cli_jobs_free(&jobs);
    return status;
}

static CliStatus run_world(BenchOptions *options) {
    options->torture =
        options->torture || options->wild || options->tame || options->throws || options->resumes;
    const double patience = options->torture ? 10.0 : options->quick ? 5.0 : 120.0;
    options->seconds = options->seconds > 0.0 ? options->seconds : patience;
    options->cases = options->cases > 0 ? options->cases : 200;
    options->tol = options->tol >= 0.0 ? options->tol : 1e-5;
    cli_catch_interrupt();
    return options->torture ? bench_torture_world(options) : bench_world(options);
}

// Whether all that was said of tortures was said to one.
static bool check_torture(const char *what, const BenchOptions *options) {
    const bool world = strcmp(what, "world") == 0, rods = strcmp(what, "rods") == 0;
    const bool kinds = options->wild || options->tame || options->throws || options->resumes;
    const bool details = options->cases > 0 || options->only >= 0 || options->save != NULL ||
                         options->model < FIL_ROD_MODEL_COUNT;
    if (kinds && !world) {
        cli_say("--wild, --tame, --throws and --resumes are for bench world");
    } else if (options->torture && !world && !rods) {
        cli_say("--torture is for bench rods and bench world");
    } else if (details && !options->torture && !kinds) {
        cli_say("--cases, --case, --save and --model are for --torture");
    } else if (options->save != NULL && options->only < 0) {
        cli_say("--save needs the number of a case: --case K");
    } else {
        return true;
    }
    return false;
}

static CliStatus run_bench(const CliVerb *verb, int argc, char **argv) {
    BenchOptions options = {.threads = 1,
                            .repeat = 3,
                            .sweeps = 1000,
                            .tol = -1.0,
                            .local_tol = 1e-4,
                            .seed = 1,
                            .model = FIL_ROD_MODEL_COUNT,
                            .only = -1};
    const int operands = cli_parse(verb, argc, argv, &options);
    if (operands < 0) {
        return operands == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    const char *what = operands > 0 ? argv[0] : "";
    const bool world = strcmp(what, "world") == 0, friction = strcmp(what, "friction") == 0;
    if ((world || friction) && !is_table_of(options.table, world)) {
        cli_say("bench %s has no table %s", what, tables[options.table].name);
        return CLI_BAD_COMMAND;
    }
    CliStatus status = CLI_BAD_COMMAND;
    if (!check_torture(what, &options)) {
        return CLI_BAD_COMMAND;
    }
    if (operands == 1 && strcmp(what, "rods") == 0) {
        cli_catch_interrupt();
        status = run_rods(&options);
    } else if (operands == 1 && world) {
        status = run_world(&options);
    } else if (friction) {
        status = run_friction(operands, argv, &options);
    } else {
        cli_say("bench what? There are three benchmarks: filum bench friction [FILE...], filum "
                "bench rods and filum bench world");
    }
    return cli_is_interrupted() ? CLI_INTERRUPTED : status;
}

static const char *name_benchmark(int k) {
    static const char *const names[] = {"friction", "rods", "world"};
    return k < (int)(sizeof names / sizeof *names) ? names[k] : NULL;
}

const CliVerb cli_bench = {
    .name = "bench",
    .operands = "friction [FILE...] | rods | world",
    .summary = "measure friction solvers, rods and scenes",
    .description =
        "friction: measures the friction solvers, in three tables: Gauss-Seidel with each "
        "one-contact "
        "solver (local), the default solver on each problem (auto), and its cost as stiff fibres "
        "become more (scaling). The first two take the problems of the given files; a folder "
        "stands "
        "for all *.hdf5 files in it. Without files, local takes problems recorded from scenes, and "
        "auto takes problems made from seeds.\n"
        "\n"
        "friction --rivals: solves each problem with the default solver and with NSGS, NSN_AC, "
        "NSN_FB "
        "and ADMM of Siconos, if it is installed. Prints times, the residuals that were reached, "
        "and "
        "geometric means of the ratios of times.\n"
        "\n"
        "rods: prints the cost of a step of each rod model for several numbers of elements, how "
        "many "
        "elements run in real time, a step of ten thousand rods, and the cost of a curve's frame "
        "beside common integrators. It takes --quick, --json and --threads.\n"
        "\n"
        "rods --torture: moves random rods of all models and reports what goes wrong: energy "
        "beyond "
        "the work done, momentum lost, numbers that are not finite, steps that fail. --case K "
        "prints "
        "one of them as a scene.\n"
        "\n"
        "world: steps the built-in scenes and prints the median time of a step over the 200 "
        "busiest "
        "consecutive steps and the residual that was reached, beside published figures and Filum's "
        "targets. Further tables: collision detection, growth with the number of contacts, "
        "threads, "
        "the table of Bertails-Descoubes and others (2011), global Newton against nu, and the "
        "initial "
        "guess of new contacts. It takes --table, --scene, --quick, --json, --threads, --steps, "
        "--seconds and --tol.\n"
        "\n"
        "world --torture: runs random scenes (--wild, --tame), rods thrown on a floor (--throws), "
        "or "
        "interrupted and resumed runs (--resumes), and counts those that explode, hang, tunnel, do "
        "not converge or are slow. Status 1 when one fails in a way that it must not.\n"
        "\n"
        "world --pulls N: pulls rods with the hand of a live run, at random. Prints for each scene "
        "how many pulls made a step fail (exploded) or added energy (gained), and the largest "
        "force "
        "divided by the hand's limit. It takes --seed, --scene, --steps, --threads and --json. "
        "Status "
        "1 when a pull exploded or gained.",
    .examples = "filum bench friction --quick\tall tables, each cut short\n"
                "filum bench friction problems/ --table auto --json\tfor a script\n"
                "filum bench friction problems/ --rivals\tbeside Siconos\n"
                "filum bench rods --quick\trods\n"
                "filum bench world --scene wavy-hair\tone scene\n"
                "filum bench world --table seed\tbeside the figures of 2011\n"
                "filum bench rods --torture --cases 10000 --model der\trandom rods\n"
                "filum bench rods --torture --model der --case 17\tone of them, as a scene\n"
                "filum bench world --torture --wild --seed 3\trandom scenes\n"
                "filum bench world --wild --seed 3 --case 17 --save it.json\tone of them\n"
                "filum bench world --throws --cases 1000\tenergy of rods that land\n"
                "filum bench world --pulls 1000\twhat a mouse can do to the scenes",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_bench,
    .word = name_benchmark,
};
