#ifndef FIL_CLI_BENCH_RECORD_H
#define FIL_CLI_BENCH_RECORD_H

// Friction problems as they come up in scenes.

#include "bench.h"

#include "filum/world.h"

enum { BENCH_RECORDED = 306 }; // as many as Daviet (2014) had

/// Called with a problem: what the world starts from, and which contacts are new. False: it does
/// not count, give another one.
typedef bool BenchOnProblem(void *user, const char *scene, const FilFrictionProblem *problem,
                            const double *r, const bool *fresh);

/// Is r = 0 as good as a solution? Then there is nothing to measure.
bool bench_is_trivial(const FilFrictionProblem *problem);

/// Step scenes and hand over `count` friction problems of theirs, the same ones every time. Those
/// whose solution is known to be 0 are passed over. Fewer after Ctrl-C, and where a scene is over.
CliStatus bench_record(const BenchOptions *options, int count, BenchOnProblem *on_problem,
                       void *user);

#endif
