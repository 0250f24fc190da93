#ifndef FIL_CLI_BENCH_H
#define FIL_CLI_BENCH_H

// What the benchmarks share: their options, and the exponent of a cost.

#include "cli.h"
#include "files.h"

// One table: the tables of `bench friction`, then those of `bench world`.
#define BENCH_TABLES(X)                                                       \
    X(ALL, "all", "every table; the default")                                 \
    X(LOCAL, "local", "friction: the one-contact solvers in Gauss-Seidel")    \
    X(AUTO, "auto", "friction: the default solver, problem by problem")       \
    X(SCALING, "scaling", "friction: the default solver on ever more fibres") \
    X(SCENES, "scenes", "world: the scenes, beside seeds and targets")        \
    X(DETECT, "detect", "world: collision detection, per capsule and step")   \
    X(GROWTH, "growth", "world: a bundle with ever more strands")             \
    X(THREADS, "threads", "world: two threads against one")                   \
    X(SEED, "seed", "world: the table of the article, beside its figures")    \
    X(NU, "nu", "world: global Newton against nu")                            \
    X(GUESS, "guess", "world: what new contacts start from")

#define BENCH_TABLE_ENUM(code, name, text) BENCH_TABLE_##code,
enum { BENCH_TABLES(BENCH_TABLE_ENUM) BENCH_TABLE_COUNT };

typedef struct BenchOptions {
    int table, threads, repeat, sweeps, contacts, steps;
    double tol, local_tol, seconds; // below 0, 0: each benchmark has its own default
    bool json, quick, rivals;
    CliList scene;
    bool torture, wild, tame, throws, resumes; // of torture
    int cases, seed, model, only; // cases, of which seed (of pulls too); model; one case alone
    const char *save;             // where its scene goes
    int pulls;                    // world: instead of tables, so many pulls by the hand
} BenchOptions;

// Sums for a line through (log n, log seconds).
typedef struct BenchFit {
    double count, x, y, xx, xy;
} BenchFit;

void bench_fit_add(BenchFit *fit, double n, double seconds);
/// The exponent e of seconds = c n^e; NaN before there are two points.
double bench_fit_exponent(const BenchFit *fit);

/// The friction solvers on the problems of `jobs`, or on problems of its own: tables on stdout, or
/// with options->json one object a line.
CliStatus bench_friction(const CliJobs *jobs, const BenchOptions *options);

/// Scenes: the same.
CliStatus bench_world(const BenchOptions *options);

/// Random rods, and random worlds: what is wrong with how they move.
CliStatus bench_torture_rods(const BenchOptions *options);
CliStatus bench_torture_world(const BenchOptions *options);

#endif
