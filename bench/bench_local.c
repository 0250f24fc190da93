// bench_local.c - the one-contact solvers on random problems.
// Usage: bench_local [count [condition [solver]]]
//
// Contacts with a positive definite W of condition 1 to `condition` (log-uniform, 1e8), mu uniform
// in [0, 2] and every regime, from r = 0. One row per solver: failures (no answer, or a relative
// residual |r - P(r - rho ut)| / (|r| + rho |b|), rho = 3 / trace W, above 1e-12), the worst
// residual of the answers, mean time, calls of the fail-safe. `linearised` solves another problem:
// its residual is the price of the pyramid.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "friction/generate.h"
#include "friction/local.h"

#define BATCH 4096

typedef struct Batch {
    double W[BATCH][9], b[BATCH][3], mu[BATCH], r[BATCH][3];
    FilOutcome outcome[BATCH];
} Batch;

typedef struct Row {
    long failures, take_off, stick, slide;
    int fallbacks;
    double worst, seconds;
} Row;

static void draw(FilRandom *random, double condition, Batch *batch) {
    for (int i = 0; i < BATCH; i++) {
        const double log_condition = fil_random_uniform(random, 0.0, log(condition));
        fil_generate_local(random, 3, exp(log_condition), batch->W[i], batch->b[i]);
        batch->mu[i] = fil_random_uniform(random, 0.0, 2.0);
    }
}

static void solve(FilLocalSolver solver, Batch *batch, Row *row) {
    memset(batch->r, 0, sizeof batch->r);
    const double start = fil_seconds();
    for (int i = 0; i < BATCH; i++) {
        batch->outcome[i] = fil_local_solve(solver, FIL_BLOCK_COULOMB, 3, batch->W[i], batch->b[i],
                                            batch->mu[i], batch->r[i], &row->fallbacks);
    }
    row->seconds += fil_seconds() - start;
}

static void measure(FilLocalSolver solver, const Batch *batch, Row *row) {
    for (int i = 0; i < BATCH; i++) {
        const double *r = batch->r[i];
        const FilLocalBlock block = {FIL_BLOCK_COULOMB, 3, batch->mu[i], batch->W[i], batch->b[i]};
        const double residual = fil_local_residual(&block, r);
        const bool exact = solver != FIL_LOCAL_LINEARISED;
        if (batch->outcome[i] != FIL_CONVERGED || (exact && !(residual <= 1e-12))) {
            row->failures++;
        } else {
            row->worst = fmax(row->worst, residual);
        }
        const double tangent = hypot(r[1], r[2]);
        row->take_off += r[0] == 0.0;
        row->stick += r[0] > 0.0 && tangent < (1.0 - 1e-12) * batch->mu[i] * r[0];
        row->slide += r[0] > 0.0 && tangent >= (1.0 - 1e-12) * batch->mu[i] * r[0];
    }
}

int main(int argc, char **argv) {
    const double count = argc > 1 ? strtod(argv[1], NULL) : 1e6;
    const double condition = argc > 2 ? strtod(argv[2], NULL) : 1e8;
    static Batch batch;
    static const char *const name[] = {
#define X(code, text, what) [code] = text,
        FIL_LOCAL_SOLVERS(X)
#undef X
    };
    (void)printf("%-14s %10s %10s %10s %10s %9s %7s %7s %7s\n", "solver", "problems", "failures",
                 "residual", "us/solve", "fallbacks", "off %", "stick %", "slide %");
    for (int s = 0; s < FIL_LOCAL_SOLVER_COUNT; s++) {
        if (argc > 3 && strcmp(argv[3], name[s]) != 0) {
            continue;
        }
        FilRandom random = fil_random_make(1);
        Row row = {0};
        long done = 0;
        for (; (double)done < count; done += BATCH) {
            draw(&random, condition, &batch);
            solve((FilLocalSolver)s, &batch, &row);
            measure((FilLocalSolver)s, &batch, &row);
        }
        const double percent = 100.0 / (double)done;
        (void)printf("%-14s %10ld %10ld %10.2g %10.4f %9d %7.1f %7.1f %7.1f\n", name[s], done,
                     row.failures, row.worst, 1e6 * row.seconds / (double)done, row.fallbacks,
                     percent * (double)row.take_off, percent * (double)row.stick,
                     percent * (double)row.slide);
        (void)fflush(stdout);
    }
    return 0;
}
