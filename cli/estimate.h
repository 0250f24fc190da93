#ifndef FIL_CLI_ESTIMATE_H
#define FIL_CLI_ESTIMATE_H

// How long a run will take, from its first steps, where these tell.

#include <stdbool.h>
#include <stdint.h>

typedef struct CliTried {
    double seconds; // that the step took
    int contacts;
} CliTried;

typedef enum CliTrust {
    CLI_TRUST_MEASURED, // all steps were tried
    CLI_TRUST_STEADY,   // enough of them, and all alike
    CLI_TRUST_SHORT,    // too few of them
    CLI_TRUST_GROWING,  // what a step takes, or how many contacts there are, changes too much
} CliTrust;

/// Seconds that `planned` steps take, of which the first `count` were tried (one at least). They
/// mean something where the trust is measured or steady.
double cli_estimate(const CliTried *tried, int64_t count, int64_t planned, CliTrust *trust);

#endif
