#ifndef FIL_CLI_BENCH_TORTURE_H
#define FIL_CLI_BENCH_TORTURE_H

// What the tortures of rods and worlds share: a tally of faults, and the cases that had them.

#include "bench.h"

enum { TORTURE_FAULTS = 16, TORTURE_EXAMPLES = 6 };

typedef const char *TortureName(int fault);

typedef struct TortureTally {
    int cases, count[TORTURE_FAULTS];
    int example[TORTURE_FAULTS][TORTURE_EXAMPLES]; // the first cases that had it
} TortureTally;

void torture_add(TortureTally *tally, int k, unsigned faults, int fault_count);

/// Below a table: for every fault that came up what it means and the first cases that had it.
void torture_print_examples(const TortureTally *tally, const char *what, int fault_count,
                            TortureName *name, TortureName *text);

/// ,"faults":["name",...]
void torture_print_faults(unsigned faults, int fault_count, TortureName *name);

/// Processor time of this program, s: what else the machine does counts little.
double torture_clock(void);

/// Write the scene of a case to options->save, or to stdout.
CliStatus torture_save(const BenchOptions *options, const char *scene);

#endif
