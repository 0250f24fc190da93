// bench_scene.c - one scene, stepped and measured.
//
// What counts is the median time of a step over the busiest window: the 200 consecutive steps with
// the most contacts that press. (Contacts within reach would not do: a bundle in free fall has more
// of them than the heap that it becomes, and nothing to solve.) Two rings of 200 steps are enough
// to know it: the last ones, and the best window so far, into which the last ones are copied
// whenever they beat it. Of a scene that the clock cut before its 400th step the busiest half
// counts: scenes begin with few contacts. Beside the clock stands the time of the processor, which
// is what a step takes on a machine that has nothing else to do.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "bench_scene.h"
#include "runs.h"
#include "templates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct Step {
    FilStepInfo info;
    double cpu; // s
} Step;

typedef struct Meter {
    const BenchPlan *plan;
    BenchRun *run;
    FilScene *scene;
    FilStage *stage;
    Step last[BENCH_WINDOW], best[BENCH_WINDOW];
    int64_t last_sum, best_sum; // of contacts that press
    int best_count, best_first; // steps, and where the first of them is
    double began, shown;
    bool live;
} Meter;

// --- the machine ---------------------------------------------------------------------------------

// Processor time of all threads, s.
static double read_cpu(void) {
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0.0;
}

// Let the peak of memory begin anew, where the system can.
static void forget_memory(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        (void)fputs("5", file);
        (void)fclose(file);
    }
}

static double read_memory(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0.0;
}

// --- the window ----------------------------------------------------------------------------------

static void add_step(Meter *meter, const FilStepInfo *info, double cpu) {
    BenchRun *run = meter->run;
    Step *slot = &meter->last[run->steps % BENCH_WINDOW];
    meter->last_sum -= run->steps >= BENCH_WINDOW ? slot->info.active_count : 0;
    meter->last_sum += info->active_count;
    *slot = (Step){.info = *info, .cpu = cpu};
    run->steps++;
    if (run->steps <= BENCH_WINDOW || meter->last_sum > meter->best_sum) {
        memcpy(meter->best, meter->last, sizeof meter->best);
        meter->best_sum = meter->last_sum;
        meter->best_count = run->steps < BENCH_WINDOW ? (int)run->steps : BENCH_WINDOW;
        meter->best_first = run->steps < BENCH_WINDOW ? 0 : (int)(run->steps % BENCH_WINDOW);
    }
    run->unconverged += info->outcome != FIL_CONVERGED;
    run->halved += info->substeps > 1;
    run->missed += info->missed_count;
    run->iterations += info->iterations;
    run->contacts = info->contact_count > run->contacts ? info->contact_count : run->contacts;
    run->active = info->active_count > run->active ? info->active_count : run->active;
    run->nu = fmax(run->nu, info->conditioning);
    run->residual = fmax(run->residual, info->residual.scaled);
    run->penetration = fmax(run->penetration, info->penetration);
    run->cpu += cpu;
    run->seconds.total += info->seconds.total;
#define ADD(phase) run->seconds.phase += info->seconds.phase;
    CLI_PHASES(ADD)
#undef ADD
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double find_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return count > 0 ? 0.5 * (values[(count - 1) / 2] + values[count / 2]) : (double)NAN;
}

static const FilStepInfo *best_at(const Meter *meter, int k) {
    return &meter->best[(meter->best_first + k) % BENCH_WINDOW].info;
}

// Of the steps in `best` the `count` consecutive ones in which the most contacts press.
static void narrow_window(Meter *meter, int count) {
    int first = 0;
    int64_t sum = 0, best = -1;
    for (int k = 0; k < meter->best_count; k++) {
        sum += best_at(meter, k)->active_count;
        sum -= k >= count ? best_at(meter, k - count)->active_count : 0;
        if (k >= count - 1 && sum > best) {
            best = sum;
            first = k - count + 1;
        }
    }
    meter->best_first = (meter->best_first + first) % BENCH_WINDOW;
    meter->best_count = count;
    meter->best_sum = best;
}

static void sum_window(Meter *meter) {
    BenchRun *run = meter->run;
    double wall[BENCH_WINDOW] = {0}, cpu[BENCH_WINDOW] = {0};
    double contacts = 0.0, iterations = 0.0;
    if (run->cut && run->steps < 2LL * BENCH_WINDOW && run->steps > 0) {
        narrow_window(meter, (int)(run->steps + 1) / 2);
    }
    for (int k = 0; k < meter->best_count; k++) {
        const FilStepInfo *info = best_at(meter, k);
        wall[k] = info->seconds.total;
        cpu[k] = meter->best[(meter->best_first + k) % BENCH_WINDOW].cpu;
        run->window_cpu += cpu[k];
        contacts += info->contact_count;
        iterations += info->iterations;
        run->window_nu = fmax(run->window_nu, info->conditioning);
        run->window_residual = fmax(run->window_residual, info->residual.scaled);
        run->window_unconverged += info->outcome != FIL_CONVERGED;
        run->window_sums.total += info->seconds.total;
#define ADD(phase) run->window_sums.phase += info->seconds.phase;
        CLI_PHASES(ADD)
#undef ADD
    }
    const double count = fmax(meter->best_count, 1.0);
    run->window = meter->best_count;
    run->window_contacts = contacts / count;
    run->window_active = (double)meter->best_sum / count;
    run->window_iterations = iterations / count;
    run->median = find_median(wall, meter->best_count);
    run->median_cpu = find_median(cpu, meter->best_count);
}

// --- the scene -----------------------------------------------------------------------------------

bool bench_scene_exists(const char *name) {
    return cli_template_find(name) != NULL;
}

bool bench_scene_is_wanted(const BenchOptions *options, const char *name, const char *scene) {
    bool wanted = options->scene.count == 0;
    for (int k = 0; k < options->scene.count; k++) {
        wanted = wanted || strcmp(options->scene.items[k], name) == 0 ||
                 strcmp(options->scene.items[k], scene) == 0;
    }
    if (wanted && !bench_scene_exists(scene)) {
        cli_say("%s is left out: this program carries no scene %s", name, scene);
        return false;
    }
    return wanted;
}

static CliStatus open_scene(Meter *meter) {
    const BenchPlan *plan = meter->plan;
    const CliTemplate *from = cli_template_find(plan->scene);
    if (from == NULL) {
        cli_say("there is no scene %s; filum scenes lists what there is", plan->scene);
        return CLI_BAD_COMMAND;
    }
    const char *changes[BENCH_CHANGES + 1];
    char tolerance[64];
    int count = 0;
    while (count < BENCH_CHANGES && plan->changes[count] != NULL) {
        changes[count] = plan->changes[count];
        count++;
    }
    if (plan->tolerance > 0.0) {
        (void)snprintf(tolerance, sizeof tolerance, "solver.tolerance=%.17g", plan->tolerance);
        changes[count++] = tolerance;
    }
    const FilSceneOptions options = {.changes = changes, .change_count = count};
    FilError error;
    FilStatus status = fil_scene_read_text(plan->scene, from->text, from->size, &options, NULL,
                                           &meter->scene, &error);
    if (status == FIL_OK) {
        status = fil_stage_create(meter->scene, plan->threads, NULL, NULL, &meter->stage, &error);
    }
    if (status != FIL_OK) {
        cli_say("%s: %s", plan->scene, error.text);
        return CLI_BAD_FILE;
    }
    const double steps = fmin(ceil(meter->scene->duration / meter->scene->step - 1e-6), 1e15);
    meter->run->dt = meter->scene->step;
    meter->run->pieces = meter->scene->estimate.pieces;
    meter->run->dofs = meter->scene->estimate.dofs;
    meter->run->all_steps = plan->steps > 0 ? plan->steps : (int64_t)steps;
    return CLI_FINE;
}

// On a terminal a live line, else a line every ten seconds.
static void show_progress(Meter *meter, const FilStepInfo *info) {
    const double now = cli_clock();
    if (now - meter->shown < (meter->live ? 0.2 : 10.0)) {
        return;
    }
    const BenchRun *run = meter->run;
    (void)fprintf(stderr, "%s  %s  step %lld of %lld  |  %d contacts  |  %.3g s a step%s",
                  meter->live ? "\r\x1b[K" : "", meter->plan->scene, (long long)run->steps,
                  (long long)run->all_steps, info->contact_count, info->seconds.total,
                  meter->live ? "" : "\n");
    meter->shown = now;
}

static CliStatus take_step(Meter *meter) {
    FilStepInfo info;
    FilError error;
    const double before = read_cpu();
    if (fil_stage_step(meter->stage, &info, &error) != FIL_OK) {
        cli_say("%s: %s", meter->plan->scene, error.text);
        return CLI_NOT_ACCEPTABLE;
    }
    add_step(meter, &info, read_cpu() - before);
    if (meter->plan->on_step != NULL && !meter->plan->on_step(meter->plan->user, &info)) {
        meter->run->all_steps = meter->run->steps;
    }
    show_progress(meter, &info);
    return CLI_FINE;
}

static CliStatus hash_state(const Meter *meter, uint64_t *hash) {
    const FilWorld *world = fil_stage_world(meter->stage);
    const int64_t count = fil_world_state_count(world);
    double *state = malloc(sizeof *state * (size_t)(count + 1));
    if (state == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    fil_world_get_state(world, state);
    *hash = fil_scene_hash(state, sizeof *state * (size_t)count, 0);
    free(state);
    return CLI_FINE;
}

static CliStatus measure(Meter *meter) {
    const BenchPlan *plan = meter->plan;
    BenchRun *run = meter->run;
    CliStatus status = CLI_FINE;
    if (plan->on_begin != NULL) {
        plan->on_begin(plan->user, fil_stage_world(meter->stage));
    }
    meter->began = meter->shown = cli_clock();
    while (status == CLI_FINE && run->steps < run->all_steps && !run->cut) {
        status = take_step(meter);
        run->cut = run->steps < run->all_steps &&
                   (cli_is_interrupted() || cli_clock() - meter->began > plan->seconds);
    }
    if (meter->live) {
        (void)fputs("\r\x1b[K", stderr);
    }
    sum_window(meter);
    run->memory = read_memory();
    run->end = fil_world_time(fil_stage_world(meter->stage));
    return status == CLI_FINE && plan->hash ? hash_state(meter, &run->state_hash) : status;
}

CliStatus bench_scene_run(const BenchPlan *plan, BenchRun *out) {
    *out = (BenchRun){.median = (double)NAN, .median_cpu = (double)NAN};
    Meter *meter = calloc(1, sizeof *meter);
    if (meter == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    meter->plan = plan;
    meter->run = out;
    meter->live = isatty(STDERR_FILENO) != 0;
    forget_memory();
    CliStatus status = open_scene(meter);
    if (status == CLI_FINE) {
        status = measure(meter);
    }
    fil_stage_destroy(meter->stage);
    fil_scene_destroy(meter->scene);
    free(meter);
    return status;
}

BenchPlan bench_scene_plan(const char *scene, const BenchOptions *options) {
    BenchPlan plan = {.scene = scene, .threads = options->threads, .seconds = options->seconds};
    plan.steps = options->steps;
    plan.tolerance = options->tol;
    return plan;
}

void bench_scene_change(BenchPlan *plan, const char *change) {
    for (int k = 0; k < BENCH_CHANGES && change != NULL; k++) {
        if (plan->changes[k] == NULL) {
            plan->changes[k] = change;
            return;
        }
    }
}

double bench_scene_share(const BenchRun *run, double seconds) {
    return seconds / fmax(run->window_sums.total, 1e-12);
}

double bench_scene_real_time(const BenchRun *run) {
    return run->dt / run->median;
}
