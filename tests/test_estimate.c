// How long a run will take: told where the first steps tell, and not told where they do not.
#include "estimate.h"

#include "check.h"

enum { MOST = 1000 };

// Steps that begin with `first` seconds and `contacts`, and change by these factors up to the last.
static void make_steps(CliTried *tried, int count, double growth, double contacts, double more) {
    for (int k = 0; k < count; k++) {
        const double part = (double)k / (count - 1);
        tried[k] = (CliTried){.seconds = 1e-3 * (1.0 + part * (growth - 1.0)),
                              .contacts = (int)(contacts * (1.0 + part * (more - 1.0)))};
    }
}

static void all_steps_are_a_measurement(void) {
    CliTried tried[MOST];
    CliTrust trust;
    make_steps(tried, 100, 50.0, 0.0, 1.0); // however they grow
    CHECK_NEAR(cli_estimate(tried, 100, 100, &trust), 0.1 * 0.5 * 51.0, 1e-12, 0.0);
    CHECK(trust == CLI_TRUST_MEASURED);
    CHECK_NEAR(cli_estimate(tried, 1, 1, &trust), 1e-3, 1e-15, 0.0);
    CHECK(trust == CLI_TRUST_MEASURED);
}

static void steps_that_are_alike_go_on_so(void) {
    CliTried tried[MOST];
    CliTrust trust;
    make_steps(tried, 250, 1.0, 100.0, 1.0);
    CHECK_NEAR(cli_estimate(tried, 250, 1000, &trust), 1.0, 1e-12, 0.0);
    CHECK(trust == CLI_TRUST_STEADY);
    make_steps(tried, 500, 2.0, 0.0, 1.0); // the later half goes on: 0.75 s, and 500 times 1.75 ms
    CHECK_NEAR(cli_estimate(tried, 500, 1000, &trust), 1.625, 2e-3, 0.0);
    CHECK(trust == CLI_TRUST_STEADY);
}

static void few_steps_tell_nothing(void) {
    CliTried tried[MOST];
    CliTrust trust;
    make_steps(tried, 249, 1.0, 0.0, 1.0);
    (void)cli_estimate(tried, 249, 1000, &trust);
    CHECK(trust == CLI_TRUST_SHORT);
    (void)cli_estimate(tried, 3, 8, &trust);
    CHECK(trust == CLI_TRUST_SHORT);
}

static void steps_that_change_tell_nothing(void) {
    CliTried tried[MOST];
    CliTrust trust;
    make_steps(tried, 500, 10.0, 0.0, 1.0);
    (void)cli_estimate(tried, 500, 1000, &trust);
    CHECK(trust == CLI_TRUST_GROWING);
    make_steps(tried, 500, 0.1, 0.0, 1.0); // becoming cheap
    (void)cli_estimate(tried, 500, 1000, &trust);
    CHECK(trust == CLI_TRUST_GROWING);
    make_steps(tried, 500, 1.0, 100.0, 2.0); // a heap that is being built
    (void)cli_estimate(tried, 500, 1000, &trust);
    CHECK(trust == CLI_TRUST_GROWING);
    make_steps(tried, 500, 1.0, 100.0, 0.1); // and one that falls apart
    (void)cli_estimate(tried, 500, 1000, &trust);
    CHECK(trust == CLI_TRUST_STEADY);
    make_steps(tried, 500, 1.0, 2.0, 2.0); // two more contacts are no heap
    (void)cli_estimate(tried, 500, 1000, &trust);
    CHECK(trust == CLI_TRUST_STEADY);
}

#define TESTS(X)                     \
    X(all_steps_are_a_measurement)   \
    X(steps_that_are_alike_go_on_so) \
    X(few_steps_tell_nothing)        \
    X(steps_that_change_tell_nothing)

CHECK_MAIN(TESTS)
