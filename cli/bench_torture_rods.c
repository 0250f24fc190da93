// bench_torture_rods.c - filum bench rods --torture: random rods of all models, and what is wrong
// with how they move.
//
// The rods and the faults are those of src/torture/rods.c, which the tests use too. A case is known
// by its number, the seed of the series and its model.
#include "bench_torture.h"
#include "torture/torture.h"
#include "torture/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct Sum {
    TortureTally tally;
    int64_t steps, checked, iterations;
    double gain, linear, angular, seconds;
} Sum;

static FilRodTorture run_case(FilRodModel model, int seed, int k, char *text) {
    char where[64];
    (void)snprintf(where, sizeof where, "%s case %d of seed %d", fil_rod_model_name(model), k,
                   seed);
    fil_torture_rod_scene(model, fil_torture_seed((uint64_t)seed, k), text);
    return fil_torture_rod(where, text);
}

static void print_case(FilRodModel model, int k, const FilRodTorture *rod) {
    (void)printf("{\"bench\":\"rods-torture\",\"model\":\"%s\",\"case\":%d",
                 fil_rod_model_name(model), k);
    torture_print_faults(rod->faults, FIL_ROD_FAULT_COUNT, fil_rod_fault_name);
    cli_print_json_number("steps", rod->steps);
    cli_print_json_number("fault_step", rod->fault_step);
    cli_print_json_number("unconverged", rod->unconverged);
    cli_print_json_number("iterations", rod->iterations);
    cli_print_json_number("gain", rod->gain);
    cli_print_json_number("linear", rod->linear);
    cli_print_json_number("angular", rod->angular);
    (void)fputs(",\"message\":", stdout);
    cli_print_json_text(rod->error.text);
    (void)puts("}");
}

static void print_head(void) {
    (void)printf("%-9s %8s %9s %9s", "model", "rods", "steps", "us/step");
    for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
        (void)printf(" %11s", fil_rod_fault_name(f));
    }
    (void)printf(" %9s\n", "worst");
}

static void print_row(const char *model, const Sum *sum) {
    (void)printf("%-9s %8d %9" PRId64 " %9.1f", model, sum->tally.cases, sum->steps,
                 1e6 * sum->seconds / fmax((double)sum->steps, 1.0));
    for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
        (void)printf(" %11d", sum->tally.count[f]);
    }
    (void)printf(" %9.1e\n", sum->gain);
    (void)fflush(stdout);
}

static void print_sum(const char *model, int seed, const Sum *sum) {
    (void)printf("{\"bench\":\"rods-torture\",\"model\":\"%s\"", model);
    cli_print_json_number("seed", seed);
    cli_print_json_number("rods", sum->tally.cases);
    cli_print_json_number("steps", (double)sum->steps);
    cli_print_json_number("energies_checked", (double)sum->checked);
    cli_print_json_number("iterations", (double)sum->iterations);
    cli_print_json_number("seconds", sum->seconds);
    cli_print_json_number("worst_gain", sum->gain);
    cli_print_json_number("worst_linear", sum->linear);
    cli_print_json_number("worst_angular", sum->angular);
    for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
        cli_print_json_number(fil_rod_fault_name(f), sum->tally.count[f]);
    }
    (void)puts("}");
}

static void run_model(FilRodModel model, const BenchOptions *options, Sum *sum) {
    static char text[FIL_SCENE_TEXT];
    for (int k = 0; k < options->cases && !cli_is_interrupted(); k++) {
        const double start = torture_clock();
        const FilRodTorture rod = run_case(model, options->seed, k, text);
        sum->seconds += torture_clock() - start;
        sum->steps += rod.steps;
        sum->checked += rod.checked;
        sum->iterations += rod.iterations;
        sum->gain = fmax(sum->gain, rod.gain);
        sum->linear = fmax(sum->linear, rod.linear);
        sum->angular = fmax(sum->angular, rod.angular);
        torture_add(&sum->tally, k, rod.faults, FIL_ROD_FAULT_COUNT);
        if (options->json && rod.faults != 0) {
            print_case(model, k, &rod);
        }
    }
}

// One case alone: what came of it, and its scene.
static CliStatus run_one(const BenchOptions *options) {
    static char text[FIL_SCENE_TEXT];
    const FilRodModel model = (FilRodModel)options->model;
    const FilRodTorture rod = run_case(model, options->seed, options->only, text);
    if (options->json) {
        print_case(model, options->only, &rod);
    } else {
        (void)printf("// %s, case %d of seed %d: %d steps, %d not converged, gain %.2e, momentum "
                     "%.1e, %.1e\n",
                     fil_rod_model_name(model), options->only, options->seed, rod.steps,
                     rod.unconverged, rod.gain, rod.linear, rod.angular);
        for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
            if ((rod.faults & 1U << f) != 0) {
                (void)printf("// %s: %s\n", fil_rod_fault_name(f), fil_rod_fault_text(f));
            }
        }
        if (rod.fault_step > 0) {
            (void)printf("// first in step %d\n", rod.fault_step);
        }
        if (rod.error.text[0] != '\0') {
            (void)printf("// %s\n", rod.error.text);
        }
    }
    return options->json && options->save == NULL ? CLI_FINE : torture_save(options, text);
}

// What a rod says of itself is no fault of its motion.
static bool is_bad(const TortureTally *tally) {
    for (int f = 0; f < FIL_ROD_FAULT_COUNT; f++) {
        if (f != FIL_ROD_REFUSED && f != FIL_ROD_UNCONVERGED && tally->count[f] > 0) {
            return true;
        }
    }
    return false;
}

CliStatus bench_torture_rods(const BenchOptions *options) {
    static Sum sums[FIL_ROD_MODEL_COUNT];
    bool bad = false;
    if (options->only >= 0 && options->model >= FIL_ROD_MODEL_COUNT) {
        cli_say("--case needs the model of the rod: --model helix, for instance");
        return CLI_BAD_COMMAND;
    }
    if (options->only >= 0) {
        const CliStatus one = run_one(options);
        const CliStatus told = cli_flush();
        return told > one ? told : one;
    }
    if (!options->json) {
        print_head();
    }
    const bool all = options->model >= FIL_ROD_MODEL_COUNT;
    for (int m = 0; m < FIL_ROD_MODEL_COUNT && !cli_is_interrupted(); m++) {
        if (!all && m != options->model) {
            continue;
        }
        run_model((FilRodModel)m, options, &sums[m]);
        bad = bad || is_bad(&sums[m].tally);
        const char *name = fil_rod_model_name((FilRodModel)m);
        if (options->json) {
            print_sum(name, options->seed, &sums[m]);
        } else {
            print_row(name, &sums[m]);
        }
    }
    for (int m = 0; m < FIL_ROD_MODEL_COUNT && !options->json; m++) {
        torture_print_examples(&sums[m].tally, fil_rod_model_name((FilRodModel)m),
                               FIL_ROD_FAULT_COUNT, fil_rod_fault_name, fil_rod_fault_text);
    }
    const CliStatus told = cli_flush();
    return told != CLI_FINE ? told : bad ? CLI_NOT_ACCEPTABLE : CLI_FINE;
}
