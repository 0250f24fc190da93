// bench_world_guess.c - filum bench world --table guess: what new contacts start from.
//
// A contact that pressed in the step before starts from its impulse there. What a contact that did
// not press should start from is measured here, on problems as they come up in scenes:
//
//     zero      nothing
//     alone     the impulse that would stop it, were it alone: the law with W_ii and b_i, b_i being
//               the velocity of its approach
//     known     the same with b_i + sum of W_ij r_j over the contacts that did press
//     shared    the same with W_ii times (sum of |W_ij| over the new ones) / |W_ii|: new contacts
//               of the same bodies share the work
//     all zero  nothing, for those that did press too
//     better    `zero` or `all zero`, whichever has the smaller residual
#include "bench_record.h"
#include "bench_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    START_ZERO,
    START_ALONE,
    START_KNOWN,
    START_SHARED,
    START_COLD,
    START_BETTER,
    STARTS,
    SCENES_MAX = 16
};

static const char *const start_names[STARTS] = {"zero",   "alone",    "known",
                                                "shared", "all zero", "better"};

typedef struct Sums {
    const char *scene;
    int problems;
    double contacts, fresh;
    double iterations[STARTS], seconds[STARTS];
    int failures[STARTS];
} Sums;

typedef struct Guessing {
    const BenchOptions *options;
    FilFrictionWorkspace *workspace;
    Sums sums[SCENES_MAX];
    int count;
    CliStatus status;
} Guessing;

static Sums *find_sums(Guessing *guessing, const char *scene) {
    for (int k = 0; k < guessing->count; k++) {
        if (strcmp(guessing->sums[k].scene, scene) == 0) {
            return &guessing->sums[k];
        }
    }
    if (guessing->count == SCENES_MAX) {
        return &guessing->sums[SCENES_MAX - 1];
    }
    Sums *sums = &guessing->sums[guessing->count++];
    *sums = (Sums){.scene = scene};
    return sums;
}

static double norm_of(const double *block) {
    double sum = 0.0;
    for (int e = 0; e < 9; e++) {
        sum += block[e] * block[e];
    }
    return sqrt(sum);
}

// The guess for a new contact i; r holds the impulses of those that did press, 0 elsewhere.
static void guess_new(int start, const FilFrictionProblem *problem, const bool *fresh,
                      const double *r, int i, double guess[3]) {
    const FilBlockRows *rows = &problem->blocks;
    double b[3], W[9] = {0}, around = 0.0;
    memcpy(b, problem->b + 3 * (ptrdiff_t)i, sizeof b);
    for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
        const int j = rows->column[k];
        const double *block = rows->value + 9 * (ptrdiff_t)k;
        if (j == i) {
            memcpy(W, block, sizeof W);
        }
        around += fresh[j] ? norm_of(block) : 0.0;
        for (int e = 0; e < 9 && start != START_ALONE && !fresh[j]; e++) {
            b[e / 3] += block[e] * r[3 * (ptrdiff_t)j + e % 3];
        }
    }
    const double scale = start == START_SHARED ? around / norm_of(W) : 1.0;
    for (int e = 0; e < 9; e++) {
        W[e] *= scale;
    }
    (void)fil_local_solve(FIL_LOCAL_HYBRID, FIL_BLOCK_COULOMB, 3, W, b, problem->mu[i], guess,
                          NULL);
}

static double residual_of(const FilFrictionProblem *problem, const double *r) {
    FilResidual residual;
    FilError error;
    return fil_friction_residual(problem, r, NULL, &residual, &error) == FIL_OK ? residual.scaled
                                                                                : HUGE_VAL;
}

static void make_start(int start, const FilFrictionProblem *problem, const double *warm,
                       const bool *fresh, double *r, double *kept) {
    const int n = problem->block_count;
    for (int i = 0; i < n; i++) {
        const bool zero = start == START_COLD || fresh[i];
        for (int c = 3 * i; c < 3 * i + 3; c++) {
            r[c] = zero ? 0.0 : warm[c];
        }
    }
    if (start == START_BETTER) {
        const double warm_residual = residual_of(problem, r);
        memcpy(kept, r, 3 * sizeof *r * (size_t)n);
        memset(r, 0, 3 * sizeof *r * (size_t)n);
        if (warm_residual <= residual_of(problem, r)) {
            memcpy(r, kept, 3 * sizeof *r * (size_t)n);
        }
    }
    for (int i = 0; i < n && start > START_ZERO && start < START_COLD; i++) {
        const bool coulomb = problem->kinds == NULL || problem->kinds[i] == FIL_BLOCK_COULOMB;
        if (fresh[i] && coulomb) {
            guess_new(start, problem, fresh, r, i, r + 3 * (ptrdiff_t)i);
        }
    }
}

// Solve from one of the starts, three times; the fastest counts.
static bool solve_from(Guessing *guessing, int start, const FilFrictionProblem *problem,
                       const double *guess, const bool *fresh, double *r, Sums *sums) {
    FilFrictionSettings settings = fil_friction_settings_default();
    settings.tolerance = guessing->options->tol;
    settings.thread_count = 1;
    settings.warm_start = true;
    FilFrictionInfo info = {0};
    double best = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        FilFrictionSolution solution = {.r = r};
        FilError error;
        const double began = cli_clock();
        make_start(start, problem, guess, fresh, r, r + 3 * (ptrdiff_t)problem->block_count);
        if (fil_friction_solve(problem, &settings, guessing->workspace, &solution, &info, &error) !=
            FIL_OK) {
            cli_say("%s", error.text);
            return false;
        }
        best = fmin(best, cli_clock() - began);
    }
    sums->iterations[start] += info.iterations;
    sums->seconds[start] += best;
    sums->failures[start] += info.outcome != FIL_CONVERGED;
    return true;
}

static bool on_problem(void *user, const char *scene, const FilFrictionProblem *problem,
                       const double *guess, const bool *fresh) {
    Guessing *guessing = user;
    int new_count = 0;
    for (int i = 0; i < problem->block_count; i++) {
        new_count += fresh[i] && problem->b[3 * (ptrdiff_t)i] < 0.0;
    }
    double *r = malloc(6 * sizeof *r * (size_t)problem->block_count + 1);
    if (r == NULL) {
        cli_say("there is not enough memory");
        guessing->status = CLI_BAD_FILE;
    } else if (new_count > 0) {
        Sums *sums = find_sums(guessing, scene);
        bool fine = true;
        for (int start = 0; start < STARTS && fine; start++) {
            fine = solve_from(guessing, start, problem, guess, fresh, r, sums);
        }
        guessing->status = fine ? guessing->status : CLI_BAD_FILE;
        sums->problems++;
        sums->contacts += problem->block_count;
        sums->fresh += new_count;
    }
    free(r);
    return new_count > 0;
}

static void print_sums(const Sums *sums, bool json) {
    const double n = fmax(sums->problems, 1.0);
    for (int start = 0; start < STARTS; start++) {
        if (json) {
            (void)printf("{\"table\":\"guess\",\"scene\":\"%s\",\"start\":\"%s\",\"problems\":%d",
                         sums->scene, start_names[start], sums->problems);
            cli_print_json_number("contacts", sums->contacts / n);
            cli_print_json_number("new", sums->fresh / n);
            cli_print_json_number("iterations", sums->iterations[start] / n);
            cli_print_json_number("seconds", sums->seconds[start] / n);
            cli_print_json_number("failures", sums->failures[start]);
            (void)puts("}");
        } else {
            (void)printf("%-16s %8d %9.1f %7.1f  %-13s %10.1f %10.3f %9d\n",
                         start == 0 ? sums->scene : "", sums->problems, sums->contacts / n,
                         sums->fresh / n, start_names[start], sums->iterations[start] / n,
                         1e3 * sums->seconds[start] / n, sums->failures[start]);
        }
    }
    (void)fflush(stdout);
}

CliStatus bench_world_guess(const BenchOptions *options) {
    Guessing guessing = {.options = options};
    FilError error;
    if (fil_friction_workspace_create(NULL, &guessing.workspace, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    if (!options->json) {
        (void)printf(
            "\nWhat contacts that did not press before start from: recorded problems that have "
            "some which close, the\ndefault "
            "solver, tolerance %g, one thread, fastest of three.\n\n"
            "%-16s %8s %9s %7s  %-13s %10s %10s %9s\n",
            options->tol, "scene", "problems", "contacts", "new", "start", "iterations", "ms",
            "failures");
    }
    const CliStatus status =
        bench_record(options, options->quick ? 36 : BENCH_RECORDED, on_problem, &guessing);
    for (int k = 0; k < guessing.count; k++) {
        print_sums(&guessing.sums[k], options->json);
    }
    fil_friction_workspace_destroy(guessing.workspace);
    return status > guessing.status ? status : guessing.status;
}
