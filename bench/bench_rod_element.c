// One element of a helix or a clothoid: time and digits by rule of collocation, for each
// instruction set, and the same by power series. What a whole rod costs is asked of `filum bench
// rods`.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "rod/element.h"

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

int main(void) {
    for (int d = 3; d <= 6; d += 3) {
        for (int v = 0; fil_element_variant(d, v) != NULL; v++) {
            bench_variant(d, fil_element_variant(d, v));
        }
    }
    bench_series(0.01);
    bench_series(0.2);
    bench_series(1.0);
    bench_series(2.0);
    return 0;
}
