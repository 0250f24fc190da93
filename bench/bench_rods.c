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

// --- the same by power series --------------------------------------------------------------------
//
// The mass matrix of a clothoid element as in Casati and Bertails-Descoubes 2013: series of the
// frame and of its six derivatives, D by term-wise integration, products of series by Cauchy's
// rule. Four elements side by side, as in the library, so that the comparison is one of methods.

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
#else
#define WIDE
#endif

enum { MAX_TERMS = 72 };

typedef struct Series {
    FilLanes R[MAX_TERMS][9], dR[6][MAX_TERMS][9], r[MAX_TERMS][3], D[6][MAX_TERMS][3];
} Series;

// out += A [k]x.
WIDE static inline void add_turned(const FilLanes *A, const FilLanes *k, FilLanes *out) {
    for (int i = 0; i < 9; i += 3) {
        out[i] += A[i + 1] * k[2] - A[i + 2] * k[1];
        out[i + 1] += A[i + 2] * k[0] - A[i] * k[2];
        out[i + 2] += A[i] * k[1] - A[i + 1] * k[0];
    }
}

WIDE static void expand(Series *s, const FilLanes *kappa, int terms) {
    FilLanes b[3], one[2][3][3];
    memset(one, 0, sizeof one); // derivatives of kappa0 and of the slope
    for (int c = 0; c < 3; c++) {
        b[c] = kappa[3 + c] - kappa[c];
        one[0][c][c] = one[0][c][c] + 1.0;
        one[1][c][c] = one[1][c][c] - 1.0;
    }
    memset(s, 0, sizeof *s);
    s->R[0][0] = s->R[0][4] = s->R[0][8] = s->R[0][0] + 1.0;
    for (int n = 0; n + 1 < terms; n++) {
        double over = 1.0 / (n + 1);
        add_turned(s->R[n], kappa, s->R[n + 1]);
        for (int a = 0; a < 6; a++) {
            add_turned(s->dR[a][n], kappa, s->dR[a][n + 1]);
            if (a < 3) {
                add_turned(s->R[n], one[0][a], s->dR[a][n + 1]);
            }
        }
        if (n > 0) {
            add_turned(s->R[n - 1], b, s->R[n + 1]);
            for (int a = 0; a < 6; a++) {
                add_turned(s->dR[a][n - 1], b, s->dR[a][n + 1]);
                add_turned(s->R[n - 1], one[a < 3][a % 3], s->dR[a][n + 1]);
            }
        }
        for (int k = 0; k < 9; k++) {
            s->R[n + 1][k] *= over;
            for (int a = 0; a < 6; a++) {
                s->dR[a][n + 1][k] *= over;
            }
        }
        for (int c = 0; c < 3; c++) {
            s->r[n + 1][c] = s->R[n][3 * c] * over;
            for (int a = 0; a < 6; a++) {
                s->D[a][n + 1][c] = s->dR[a][n][3 * c] * over;
            }
        }
    }
}

// The integral of x . y over the element.
WIDE static void product(FilLanes (*x)[3], FilLanes (*y)[3], int terms, FilLanes *out) {
    FilLanes all = {0.0};
    for (int n = 0; n < terms; n++) {
        FilLanes sum = {0.0};
        for (int k = 0; k <= n; k++) {
            sum += x[k][0] * y[n - k][0] + x[k][1] * y[n - k][1] + x[k][2] * y[n - k][2];
        }
        all += sum * (1.0 / (n + 1));
    }
    *out = all;
}

// Seconds for one element.
static double time_series(int terms, FilLanes kk[21]) {
    static Series s;
    double best = INFINITY;
    FilLanes rr;
    for (int run = 0; run < 50; run++) {
        double from = fil_seconds();
        expand(&s, in.kappa, terms);
        for (int a = 0, k = 0; a < 6; a++) {
            for (int b = 0; b <= a; b++, k++) {
                product(s.D[a], s.D[b], terms, &kk[k]);
            }
            product(s.r, s.D[a], terms, &rr); // twice: as much work as r x D
            product(s.r, s.D[a], terms, &rr);
        }
        best = fmin(best, (fil_seconds() - from) / FIL_LANES);
    }
    return best;
}

static void bench_series(double angle) {
    static FilElementEnd end;
    static FilElementSums sums;
    const FilElementKernels *kernels = fil_element_kernels(6);
    FilLanes kk[21];
    memset(&in, 0, sizeof in);
    for (int lane = 0; lane < FIL_LANES; lane++) {
        in.length[lane] = in.mass[lane] = 1.0;
        for (int a = 0; a < 6; a++) {
            in.kappa[a][lane] = angle * (a % 3 == 1 ? 0.9 : 0.3) * (a == 4 ? -1.0 : 1.0);
        }
    }
    (void)fil_element_plan(6, &in, &work);
    kernels->end(&in, &work, &end);
    kernels->sums(&in, &start, &work, &sums);
    double off = INFINITY, seconds = 0.0;
    int terms = 8; // as many as bring both to the same digits
    for (; off > 2e-14 && terms < MAX_TERMS; terms += 2) {
        seconds = time_series(terms + 2, kk);
        off = 0.0;
        for (int k = 0; k < 21; k++) {
            off = fmax(off, fabs(sums.kk[k][0] - kk[k][0]) / fabs(sums.kk[20][0]));
        }
    }
    printf("clothoid turning by %.2f rad: %2d terms of series, mass matrix alone %7.3f us; "
           "%2d nodes, mass, end and forces %6.3f us; apart by %.1e\n",
           angle, terms, 1e6 * seconds, work.rule->count, 1e6 * time_element(kernels), off);
}

static void bench_element(void) {
    for (int d = 3; d <= 6; d += 3) {
        for (int v = 0; fil_element_variant(d, v) != NULL; v++) {
            bench_variant(d, fil_element_variant(d, v));
        }
    }
    bench_series(0.01);
    bench_series(0.2);
    bench_series(1.0);
    bench_series(2.0);
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
