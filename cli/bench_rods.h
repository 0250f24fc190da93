#ifndef FIL_CLI_BENCH_RODS_H
#define FIL_CLI_BENCH_RODS_H

#include "cli.h"

/// What a step of each rod model costs: tables on stdout, or with `json` one object a line.
CliStatus bench_rods(bool json, bool quick, int threads);

#endif
