// estimate.c - how long a run will take, from its first steps.
//
// What a step costs follows from what touches, and that is not known before it happens: in the
// scenes that come with Filum the mean step costs up to 180 times the first ones. So there is an
// estimate only where a quarter of the steps at least was tried, in four parts that cost alike, and
// contacts do not become more; the rest then goes on as the later half of what was tried. Of 26 of
// these scenes that were run to their end, cut short after 0.5 to 20 s, it then was 0.53 to 1.47
// times what all steps took; without these rules it was 0.33 to 3.5 times that.
#include "estimate.h"

#include <math.h>

enum { PARTS = 4 };
static const double most_change = 3.0;  // of the cost, between the parts
static const double most_growth = 1.25; // of contacts, from the second part to the last

typedef struct Mean {
    double seconds, contacts;
} Mean;

static Mean mean_of(const CliTried *tried, int64_t from, int64_t to) {
    Mean mean = {0.0, 0.0};
    for (int64_t k = from; k < to; k++) {
        mean.seconds += tried[k].seconds / (double)(to - from);
        mean.contacts += (double)tried[k].contacts / (double)(to - from);
    }
    return mean;
}

static bool is_steady(const CliTried *tried, int64_t count) {
    Mean part[PARTS];
    double least = HUGE_VAL, most = 0.0;
    for (int k = 0; k < PARTS; k++) {
        part[k] = mean_of(tried, count * k / PARTS, count * (k + 1) / PARTS);
        least = fmin(least, part[k].seconds);
        most = fmax(most, part[k].seconds);
    }
    const double few = 5.0; // contacts that come and go do not count
    return most <= most_change * least &&
           part[PARTS - 1].contacts + few <= most_growth * (part[1].contacts + few);
}

double cli_estimate(const CliTried *tried, int64_t count, int64_t planned, CliTrust *trust) {
    const double spent = (double)count * mean_of(tried, 0, count).seconds;
    const double later = mean_of(tried, count / 2, count).seconds;
    *trust = count >= planned                           ? CLI_TRUST_MEASURED
             : count < PARTS || count < planned / PARTS ? CLI_TRUST_SHORT
             : is_steady(tried, count)                  ? CLI_TRUST_STEADY
                                                        : CLI_TRUST_GROWING;
    return spent + (double)(planned > count ? planned - count : 0) * later;
}
