// bench_rods.c - filum bench rods: what a step of each rod model costs.
//
// The rod of every table is a hair that curls naturally, let go from its natural shape in gravity:
// 20 cm, radius 50 um, E = 3.9 GPa. A time is the fastest of several batches of steps; with it
// stands how far the solve of the step was from exact (the residual that Newton's method reached,
// where there is one).
#include "bench_rods.h"

#include "filum/rod.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Kind {
    FilRodModel model;
    FilRodStepKind step;
    const char *name;
    int largest; // elements: dense steps are not followed further
} Kind;

enum {
    HELIX,
    HELIX_DENSE,
    CLOTHOID,
    CLOTHOID_DENSE,
    DER,
    CORDE,
    CORDE_EXPLICIT,
    CHAIN,
    KIND_COUNT,
};

static const Kind kinds[KIND_COUNT] = {
    [HELIX] = {FIL_ROD_HELIX, FIL_ROD_STEP_RECURSIVE, "recursive", 1 << 20},
    [HELIX_DENSE] = {FIL_ROD_HELIX, FIL_ROD_STEP_DENSE, "dense", 100},
    [CLOTHOID] = {FIL_ROD_CLOTHOID, FIL_ROD_STEP_RECURSIVE, "recursive", 1 << 20},
    [CLOTHOID_DENSE] = {FIL_ROD_CLOTHOID, FIL_ROD_STEP_DENSE, "dense", 100},
    [DER] = {FIL_ROD_DER, FIL_ROD_STEP_IMPLICIT, "implicit", 1 << 20},
    [CORDE] = {FIL_ROD_CORDE, FIL_ROD_STEP_IMPLICIT, "implicit", 1 << 20},
    [CORDE_EXPLICIT] = {FIL_ROD_CORDE, FIL_ROD_STEP_EXPLICIT, "explicit", 1 << 20},
    [CHAIN] = {FIL_ROD_CHAIN, FIL_ROD_STEP_IMPLICIT, "implicit", 1 << 20},
};

typedef struct Cost {
    double seconds;    // of one step
    double iterations; // mean
    double residual;   // worst
} Cost;

static FilRodDef curl(const Kind *kind, int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = kind->model;
    def.step_kind = kind->step;
    def.element_count = elements;
    def.damping = 1e-3;
    if (kind->model != FIL_ROD_CHAIN) {
        def.natural_curvature[1] = 30.0;
        def.natural_curvature[0] = 10.0;
    }
    return def;
}

static bool create(const FilRodDef *def, FilRod **rod) {
    FilError error;
    if (fil_rod_create(def, NULL, rod, &error) != FIL_OK) {
        cli_say("%s: %s", fil_rod_model_name(def->model), error.text);
        return false;
    }
    return true;
}

// Time `count` steps; false when one fails.
static bool run_batch(FilRod *rod, double dt, int count, Cost *cost) {
    double start = cli_clock();
    long iterations = 0;
    for (int k = 0; k < count; k++) {
        FilRodStepInfo info;
        FilError error;
        if (fil_rod_step(rod, dt, &info, &error) != FIL_OK) {
            cli_say("%s", error.text);
            return false;
        }
        iterations += info.iterations;
        cost->residual = fmax(cost->residual, info.residual);
    }
    cost->seconds = (cli_clock() - start) / count;
    cost->iterations = (double)iterations / count;
    return true;
}

// The fastest batch of a rod; NAN seconds when it cannot be stepped.
static Cost measure(const FilRodDef *def, double dt, bool quick) {
    Cost best = {.seconds = (double)NAN};
    FilRod *rod = NULL;
    if (!create(def, &rod)) {
        return best;
    }
    int count = 1 + (quick ? 2000 : 10000) / def->element_count;
    if (def->step_kind == FIL_ROD_STEP_EXPLICIT) {
        dt = fmin(dt, 0.9 * fil_rod_largest_step(rod));
    }
    for (int batch = 0; batch < 5; batch++) {
        Cost cost = {0};
        if (!run_batch(rod, dt, count, &cost)) {
            break;
        }
        if (!(cost.seconds >= best.seconds)) {
            best = cost;
        }
    }
    fil_rod_destroy(rod);
    return best;
}

// --- tables --------------------------------------------------------------------------------------

static void print_cost(bool json, const Kind *kind, int elements, Cost cost) {
    double each = 1e6 * cost.seconds / elements;
    if (json) {
        (void)printf("{\"table\":\"step\",\"model\":\"%s\",\"step\":\"%s\",\"elements\":%d",
                     fil_rod_model_name(kind->model), kind->name, elements);
        cli_print_json_number("us_per_element", each);
        cli_print_json_number("iterations", cost.iterations);
        cli_print_json_number("residual", cost.residual);
        (void)puts("}");
        return;
    }
    (void)printf("  %-9s %-10s %6d %12.2f %12.3f %11.1f %10.1e\n", fil_rod_model_name(kind->model),
                 kind->name, elements, 1e6 * cost.seconds, each, cost.iterations, cost.residual);
}

static void tabulate_steps(bool json, bool quick) {
    static const int sizes[] = {10, 20, 50, 100, 200, 400};
    if (!json) {
        (void)printf("one step of 1 ms on one core\n  %-9s %-10s %6s %12s %12s %11s %10s\n",
                     "model", "step", "N", "us", "us/element", "iterations", "residual");
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        double hundred = 0.0;
        for (int i = 0; i < 6 && sizes[i] <= kinds[k].largest; i++) {
            FilRodDef def = curl(&kinds[k], sizes[i]);
            Cost cost = measure(&def, 1e-3, quick);
            print_cost(json, &kinds[k], sizes[i], cost);
            hundred = sizes[i] == 100 ? cost.seconds : hundred;
            if (sizes[i] == 400 && !json) {
                (void)printf("  %-9s %-10s time(400) / time(100) = %.2f\n",
                             fil_rod_model_name(kinds[k].model), kinds[k].name,
                             cost.seconds / hundred);
            }
        }
        (void)fflush(stdout);
    }
}

// The most elements whose step of 11 ms takes at most 11 ms: doubled, then narrowed.
static int find_real_time(const Kind *kind, bool quick) {
    const double dt = 11e-3;
    int fits = 0, fails = 0;
    for (int n = 16; fails == 0 && n <= kind->largest; n *= 2) {
        FilRodDef def = curl(kind, n);
        double seconds = measure(&def, dt, quick).seconds;
        if (seconds <= dt) {
            fits = n;
        } else {
            fails = n;
        }
    }
    while (fails - fits > fits / 20 && fails > 0) {
        int n = (fits + fails) / 2;
        FilRodDef def = curl(kind, n);
        if (measure(&def, dt, quick).seconds <= dt) {
            fits = n;
        } else {
            fails = n;
        }
    }
    return fits;
}

static void tabulate_real_time(bool json, bool quick) {
    static const int published[FIL_ROD_MODEL_COUNT] = {
        [FIL_ROD_HELIX] = 18, [FIL_ROD_CLOTHOID] = 10, [FIL_ROD_DER] = 20};
    if (!json) {
        (void)printf("\nelements in real time at 11 ms, one core\n  %-9s %8s %22s\n", "model",
                     "elements", "published (2015)");
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        if (kinds[k].step == FIL_ROD_STEP_DENSE || kinds[k].step == FIL_ROD_STEP_EXPLICIT) {
            continue;
        }
        int elements = find_real_time(&kinds[k], quick);
        const char *model = fil_rod_model_name(kinds[k].model);
        if (json) {
            (void)printf("{\"table\":\"real-time\",\"model\":\"%s\",\"elements\":%d}\n", model,
                         elements);
        } else {
            char known[16] = "-";
            if (published[kinds[k].model] > 0) {
                (void)snprintf(known, sizeof known, "%d", published[kinds[k].model]);
            }
            (void)printf("  %-9s %8d %22s\n", model, elements, known);
        }
        (void)fflush(stdout);
    }
}

static void tabulate_many(bool json, bool quick, int threads) {
    enum { COUNT = 10000 };
    FilRod **rods = calloc(COUNT, sizeof(FilRod *));
    FilRodDef def = curl(&kinds[HELIX], 5);
    int made = 0;
    while (rods != NULL && made < COUNT && create(&def, &rods[made])) {
        made++;
    }
    double best = (double)NAN;
    for (int k = 0; made == COUNT && k < (quick ? 3 : 10); k++) {
        double start = cli_clock();
        FilError error;
        if (fil_rods_step(rods, COUNT, 1e-3, threads, NULL, &error) != FIL_OK) {
            cli_say("%s", error.text);
            break;
        }
        double seconds = cli_clock() - start;
        best = seconds >= best ? best : seconds;
    }
    for (int k = 0; k < made; k++) {
        fil_rod_destroy(rods[k]);
    }
    free((void *)rods);
    if (json) {
        (void)printf("{\"table\":\"many\",\"rods\":%d,\"elements\":5,\"threads\":%d", COUNT,
                     fil_thread_count(threads));
        cli_print_json_number("seconds", best);
        (void)puts("}");
    } else {
        (void)printf("\n%d helices of 5 elements, one step on %d threads: %.1f ms\n", COUNT,
                     fil_thread_count(threads), 1e3 * best);
    }
}

// The time of 1 s at 11 ms against the degrees of freedom (Casati 2015, section 5.2).
static void tabulate_second(bool json) {
    static const int chosen[] = {HELIX, CLOTHOID, DER};
    static const int sizes[] = {4, 8, 16, 32, 64, 128}; // with fewer, der cannot bend as far
    if (!json) {
        (void)printf("\n1 s at 11 ms, one core\n  %-9s %6s %9s %12s\n", "model", "N", "unknowns",
                     "seconds");
    }
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 6; i++) {
            FilRodDef def = curl(&kinds[chosen[c]], sizes[i]);
            FilRod *rod = NULL;
            Cost cost = {0};
            if (!create(&def, &rod)) {
                continue;
            }
            bool fine = run_batch(rod, 11e-3, 91, &cost);
            double seconds = fine ? 91.0 * cost.seconds : (double)NAN;
            const char *model = fil_rod_model_name(def.model);
            if (json) {
                (void)printf(
                    "{\"table\":\"second\",\"model\":\"%s\",\"elements\":%d,\"unknowns\":%d", model,
                    sizes[i], fil_rod_dof_count(rod));
                cli_print_json_number("seconds", seconds);
                (void)puts("}");
            } else {
                (void)printf("  %-9s %6d %9d %12.6f\n", model, sizes[i], fil_rod_dof_count(rod),
                             seconds);
            }
            fil_rod_destroy(rod);
        }
    }
}

// --- motion that is too fast for the step --------------------------------------------------------

enum { VIOLENT_ELEMENTS = 20 };
static const double pi = 3.14159265358979323846;

// A rod that is pulled by a thousand times its weight, in a direction that goes round every 60
// steps; or, free, flung at 50 m/s and 500 rad/s.
static bool pull(FilRod *rod, const FilRodDef *def, int step) {
    const double mass =
        def->section.density * pi * def->section.radius * def->section.radius * def->length;
    const double force = 1e3 * 9.81 * mass, angle = 0.1 * step;
    const FilRodLoad load = {.s = def->length,
                             .force = {force * cos(angle), 0.3 * force, force * sin(angle)}};
    FilError error;
    return fil_rod_set_loads(rod, &load, 1, &error) == FIL_OK;
}

static Cost measure_violent(FilRodDef def, bool flung, bool quick) {
    const double velocity[3] = {0.0, 50.0, 0.0}, spin[3] = {0.0, 0.0, 500.0};
    FilRod *rod = NULL;
    FilError error;
    Cost sum = {0};
    def.root_end.kind = flung ? FIL_END_FREE : FIL_END_CLAMPED;
    if (!create(&def, &rod)) {
        return (Cost){.seconds = (double)NAN};
    }
    bool fine = !flung || fil_rod_launch(rod, velocity, spin, &error) == FIL_OK;
    const int count = quick ? 100 : 500;
    for (int k = 0; k < count && fine; k++) {
        Cost cost = {0};
        fine = (flung || pull(rod, &def, k)) && run_batch(rod, 1e-3, 1, &cost);
        sum.seconds += fine ? cost.seconds / count : (double)NAN;
        sum.iterations += cost.iterations / count;
        sum.residual = fmax(sum.residual, cost.residual);
    }
    fil_rod_destroy(rod);
    return sum;
}

static void tabulate_violent(bool json, bool quick) {
    if (!json) {
        (void)printf("\none step of 1 ms, %d elements, us/element\n  %-9s %8s %17s %17s\n",
                     VIOLENT_ELEMENTS, "model", "calm", "pulled", "flung");
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        if (kinds[k].step == FIL_ROD_STEP_DENSE || kinds[k].step == FIL_ROD_STEP_EXPLICIT) {
            continue;
        }
        const FilRodDef def = curl(&kinds[k], VIOLENT_ELEMENTS);
        const double calm = measure(&def, 1e-3, quick).seconds * 1e6 / VIOLENT_ELEMENTS;
        const double pulled = measure_violent(def, false, quick).seconds * 1e6 / VIOLENT_ELEMENTS;
        const double flung = measure_violent(def, true, quick).seconds * 1e6 / VIOLENT_ELEMENTS;
        const char *model = fil_rod_model_name(def.model);
        if (json) {
            (void)printf("{\"table\":\"violent\",\"model\":\"%s\",\"elements\":%d", model,
                         VIOLENT_ELEMENTS);
            cli_print_json_number("calm", calm);
            cli_print_json_number("pulled", pulled);
            cli_print_json_number("flung", flung);
            (void)puts("}");
        } else {
            (void)printf("  %-9s %8.3f %8.2f (%5.1fx) %8.2f (%5.1fx)\n", model, calm, pulled,
                         pulled / calm, flung, flung / calm);
        }
        (void)fflush(stdout);
    }
}

CliStatus bench_rods(bool json, bool quick, int threads) {
    tabulate_steps(json, quick);
    tabulate_violent(json, quick);
    tabulate_real_time(json, quick);
    tabulate_many(json, quick, threads);
    tabulate_second(json);
    return cli_flush();
}
