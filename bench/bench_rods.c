// Microseconds per element and step of a rod model, against the number of elements.
//     bench_rods MODEL [dense|recursive|implicit|explicit]     one rod of 1 .. 400 elements
//     bench_rods many [COUNT [ELEMENTS [THREADS]]]             free fall of many helices
//     bench_rods element                                       one element: time and digits by rule
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/timer.h"
#include "filum/rod.h"
#include "rod/element.h"
#include "rod/rod.h"

static void fail(const char *text) {
    (void)fprintf(stderr, "%s\n", text);
    exit(1);
}

static FilRod *make(const FilRodDef *def) {
    FilRod *rod = NULL;
    FilError error;
    if (fil_rod_create(def, NULL, &rod, &error) != FIL_OK) {
        fail(error.text);
    }
    return rod;
}

// A strand that curls by a turn and a half, falling from straight.
static FilRodDef strand(FilRodModel model, int elements) {
    FilRodDef def = fil_rod_def_default();
    def.model = model;
    def.element_count = elements;
    if (model != FIL_ROD_CHAIN) {
        def.natural_curvature[0] = 5.0;
    }
    def.natural_curvature[1] = 45.0;
    return def;
}

// Fastest of several runs of `steps` steps, in seconds a step.
static double time_steps(FilRod *rod, int steps, double dt) {
    double best = INFINITY;
    FilError error;
    for (int run = 0; run < 7; run++) {
        double start = fil_seconds();
        for (int k = 0; k < steps; k++) {
            if (fil_rod_step(rod, dt, NULL, &error) != FIL_OK) {
                fail(error.text);
            }
        }
        best = fmin(best, (fil_seconds() - start) / steps);
    }
    return best;
}

static void bench_model(FilRodModel model, FilRodStepKind kind) {
    static const int sizes[] = {1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 400};
    double hundred = 0.0;
    printf("%-10s %8s %10s %12s %12s\n", "model", "elements", "dofs", "us/step", "us/element");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int n = sizes[k];
        if (kind == FIL_ROD_STEP_DENSE && n > 100) {
            break;
        }
        FilRodDef def = strand(model, n);
        def.step_kind = kind;
        FilRod *rod = make(&def);
        int steps = kind == FIL_ROD_STEP_DENSE ? 2 + 2000 / (n * n) : 2 + 2000 / n;
        double seconds = time_steps(rod, steps, 1e-3);
        printf("%-10s %8d %10d %12.3f %12.3f\n", fil_rod_model_name(model), n,
               fil_rod_dof_count(rod), 1e6 * seconds, 1e6 * seconds / n);
        if (n == 100) {
            hundred = seconds;
        }
        if (n == 400) {
            printf("time(400) / time(100) = %.2f\n", seconds / hundred);
        }
        fil_rod_destroy(rod);
    }
}

static void bench_many(int count, int elements, int threads) {
    FilRodDef def = strand(FIL_ROD_HELIX, elements);
    FilRod **rods = calloc((size_t)count, sizeof(FilRod *));
    FilError error;
    if (rods == NULL) {
        fail("no memory");
    }
    for (int i = 0; i < count; i++) {
        rods[i] = make(&def);
    }
    double best = INFINITY;
    for (int run = 0; run < 8; run++) {
        double start = fil_seconds();
        if (fil_rods_step(rods, count, 1e-3, threads, NULL, &error) != FIL_OK) {
            fail(error.text);
        }
        best = fmin(best, fil_seconds() - start);
    }
    printf("%d helices of %d elements, %d threads: %.2f ms a step\n", count, elements,
           fil_thread_count(threads), 1e3 * best);
    for (int i = 0; i < count; i++) {
        fil_rod_destroy(rods[i]);
    }
    free(rods);
}

static FilElementIn in;
static FilElementStart start;
static FilElementWork work;

// Seconds for one element.
static double time_element(const FilElementKernels *kernels) {
    static FilElementEnd end;
    static FilElementSums sums;
    double best = INFINITY;
    for (int run = 0; run < 20; run++) {
        double from = fil_seconds();
        for (int k = 0; k < 500; k++) {
            kernels->end(&in, &work, &end);
            kernels->sums(&in, &start, &work, &sums);
        }
        best = fmin(best, (fil_seconds() - from) / 2000.0);
    }
    return best;
}

static void bench_variant(int d, const FilElementKernels *kernels) {
    for (int r = 0; r < FIL_COLLOCATIONS; r++) {
        memset(&in, 0, sizeof in);
        for (int lane = 0; lane < FIL_LANES; lane++) {
            in.length[lane] = in.mass[lane] = in.spin[lane] = 1.0;
            in.kappa[1][lane] = in.rate[0][lane] = 0.01;
        }
        work.rule = &fil_collocations[r];
        work.segments = 1;
        printf("%-8s %-8s %2d nodes, up to %6.3f rad: %6.3f us/element\n",
               d == 3 ? "helix" : "clothoid", kernels->name, work.rule->count,
               work.rule->angle[d / 3 - 1], 1e6 * time_element(kernels));
    }
}

static void bench_element(void) {
    for (int d = 3; d <= 6; d += 3) {
        for (int v = 0; fil_element_variant(d, v) != NULL; v++) {
            bench_variant(d, fil_element_variant(d, v));
        }
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "many") == 0) {
        bench_many(argc > 2 ? atoi(argv[2]) : 10000, argc > 3 ? atoi(argv[3]) : 5,
                   argc > 4 ? atoi(argv[4]) : 2);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "element") == 0) {
        bench_element();
        return 0;
    }
    for (int m = 0; m < FIL_ROD_MODEL_COUNT; m++) {
        static const char *const kinds[] = {"auto", "dense", "recursive", "implicit", "explicit"};
        for (int k = 0; argc > 1 && strcmp(argv[1], fil_rod_model_name((FilRodModel)m)) == 0 &&
                        k < FIL_ROD_STEP_COUNT;
             k++) {
            if (strcmp(argc > 2 ? argv[2] : "auto", kinds[k]) == 0) {
                bench_model((FilRodModel)m, (FilRodStepKind)k);
                return 0;
            }
        }
    }
    fail("usage: bench_rods MODEL [STEP] | many [COUNT [ELEMENTS [THREADS]]] | element");
}
