// bench_torture.c - what the tortures of rods and worlds share.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "bench_torture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double torture_clock(void) {
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0.0;
}

void torture_add(TortureTally *tally, int k, unsigned faults, int fault_count) {
    tally->cases++;
    for (int f = 0; f < fault_count; f++) {
        if ((faults & 1U << f) == 0) {
            continue;
        }
        if (tally->count[f] < TORTURE_EXAMPLES) {
            tally->example[f][tally->count[f]] = k;
        }
        tally->count[f]++;
    }
}

void torture_print_examples(const TortureTally *tally, const char *what, int fault_count,
                            TortureName *name, TortureName *text) {
    for (int f = 0; f < fault_count; f++) {
        if (tally->count[f] == 0) {
            continue;
        }
        (void)printf("  %s: %s (%s): %d, in cases", what, name(f), text(f), tally->count[f]);
        for (int k = 0; k < tally->count[f] && k < TORTURE_EXAMPLES; k++) {
            (void)printf("%s %d", k > 0 ? "," : "", tally->example[f][k]);
        }
        (void)puts(tally->count[f] > TORTURE_EXAMPLES ? ", ..." : "");
    }
}

void torture_print_faults(unsigned faults, int fault_count, TortureName *name) {
    const char *between = "";
    (void)fputs(",\"faults\":[", stdout);
    for (int f = 0; f < fault_count; f++) {
        if ((faults & 1U << f) != 0) {
            (void)printf("%s\"%s\"", between, name(f));
            between = ",";
        }
    }
    (void)putchar(']');
}

CliStatus torture_save(const BenchOptions *options, const char *scene) {
    if (options->save == NULL) {
        (void)fputs(scene, stdout);
        return CLI_FINE;
    }
    return cli_write_file(options->save, scene, strlen(scene), true);
}
