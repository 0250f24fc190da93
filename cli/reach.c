// reach.c - how far the frames of a film reach.
//
// A camera is fitted to balls, and a film has more of them than fit into memory. What decides is
// how far they reach: max over balls of u . x + r, in any direction u. It is kept for the 98
// directions to the whole points of a cube from -2 to 2, as the ball that reaches furthest. Any
// direction is within 18 degrees of one of them, so that what lies beyond the balls kept is less
// than 5 % of the size of all (1 - cos 18 degrees), and the margin of a fitted picture is 10 %.
#include "reach.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_reach_make(CliReach *reach) {
    int count = 0;
    for (int k = 0; k < 125; k++) {
        const int to[3] = {k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2};
        const double length = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
        if (to[0] % 2 == 0 && to[1] % 2 == 0 && to[2] % 2 == 0) {
            continue; // the middle, or twice another one
        }
        for (int c = 0; c < 3; c++) {
            reach->way[count][c] = to[c] / length;
        }
        reach->most[count++] = -DBL_MAX;
    }
}

static double measure(const double way[3], const double ball[4]) {
    return way[0] * ball[0] + way[1] * ball[1] + way[2] * ball[2] + ball[3];
}

void cli_reach_add(CliReach *reach, const FilExtent *extent) {
    for (int w = 0; w < CLI_REACH_WAYS; w++) {
        const double *best = NULL;
        double most = reach->most[w];
        for (int i = 0; i < extent->count; i++) {
            const double far = measure(reach->way[w], extent->balls[i]);
            best = far > most ? extent->balls[i] : best;
            most = far > most ? far : most;
        }
        if (best != NULL) {
            reach->most[w] = most;
            memcpy(reach->ball[w], best, sizeof reach->ball[w]);
        }
    }
}

bool cli_reach_give(const CliReach *reach, FilExtent *extent) {
    const int room = extent->count + CLI_REACH_WAYS;
    double(*balls)[4] = realloc(extent->balls, sizeof *balls * (size_t)room);
    if (balls == NULL) {
        return false;
    }
    extent->balls = balls;
    extent->room = room;
    for (int w = 0; w < CLI_REACH_WAYS; w++) {
        double held = -DBL_MAX;
        for (int i = 0; i < extent->count; i++) {
            held = fmax(held, measure(reach->way[w], balls[i]));
        }
        if (!(reach->most[w] > held)) {
            continue;
        }
        const double *ball = reach->ball[w];
        memcpy(balls[extent->count], ball, sizeof *balls);
        for (int k = 0; k < 3; k++) {
            const double low = ball[k] - ball[3], high = ball[k] + ball[3];
            extent->low[k] = extent->count == 0 ? low : fmin(extent->low[k], low);
            extent->high[k] = extent->count == 0 ? high : fmax(extent->high[k], high);
        }
        extent->count++;
    }
    return true;
}
