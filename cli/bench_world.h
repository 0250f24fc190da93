#ifndef FIL_CLI_BENCH_WORLD_H
#define FIL_CLI_BENCH_WORLD_H

// The tables of `filum bench world`.

#include "bench_scene.h"

/// A bundle whose strands are doubled four times: time against contacts.
CliStatus bench_world_growth(const BenchOptions *options);
/// Two threads against one, and whether their bits agree.
CliStatus bench_world_threads(const BenchOptions *options);
/// The table of the article of 2011, beside its figures.
CliStatus bench_world_seed(const BenchOptions *options);
/// Global Newton: time and error against nu.
CliStatus bench_world_nu(const BenchOptions *options);
/// What new contacts start from: a guess, or zero.
CliStatus bench_world_guess(const BenchOptions *options);

/// Pulls by the hand at random in all scenes: what explodes.
CliStatus bench_world_pulls(const BenchOptions *options);

/// The fields of a run: ,"name":value...
void bench_world_print_json(const BenchRun *run);

#endif
