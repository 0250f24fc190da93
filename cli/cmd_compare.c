// cmd_compare.c - filum compare: how far two runs are apart.
//
// Frames belong together when their times agree to a thousandth of a step. Rods belong together by
// their numbers. Where both have the same points those are compared; else, as between models or
// resolutions, the second rod is looked at where the first one has its points, at the same part of
// the length, on the straight line between its own points.
#include "runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    double tolerance;
    bool json;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_REAL("tolerance", "M", tolerance, 0, HUGE_VAL,
                    "exit status 1 when points are further apart than this, m; default: any"),
    CLI_OPTION_FLAG("json", json, "one JSON object: the whole, and a row for each frame"),
};

typedef struct Run {
    const char *name;
    FilResult *result;
    const FilResultDef *def;
    int64_t count;
    double *time; // [count]
} Run;

// How far apart two frames are.
typedef struct Gap {
    double time;          // s
    double largest, mean; // m; the mean is that of squares
    double part;          // the largest by the length of its rod
    int rod;              // where it is
    double speed;         // m/s, largest difference of velocities
    double energy;        // J, difference of the sums
    int contacts;         // difference of those that press
    bool same;            // every number of places and velocities
} Gap;

static CliStatus open_run(const char *name, Run *run) {
    FilError error;
    *run = (Run){.name = name};
    const CliStatus status = cli_result_open(name, &run->result);
    if (status != CLI_FINE) {
        return status;
    }
    run->def = fil_result_def(run->result);
    run->count = fil_result_frame_count(run->result);
    run->time = calloc((size_t)run->count + 1, sizeof *run->time);
    if (run->time == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    if (fil_result_read_times(run->result, 0, run->count, run->time, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

static void close_run(Run *run) {
    fil_result_discard(run->result);
    free(run->time);
}

static CliStatus check_alike(const Run *a, const Run *b) {
    if (a->def->rod_count != b->def->rod_count) {
        cli_say("%s has %d rods and %s has %d; they must have as many", a->name, a->def->rod_count,
                b->name, b->def->rod_count);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

// --- one frame -----------------------------------------------------------------------------------

// Of an array [point][3] the value at the fraction `part` of a rod's length.
static void sample(const FilResultDef *def, const FilResultRod *rod, const double *array,
                   double part, double out[3]) {
    const int last = rod->first_point + rod->point_count - 1;
    const double s = part * def->points[last].s;
    int k = rod->first_point;
    while (k < last - 1 && def->points[k + 1].s < s) {
        k++;
    }
    const int next = k < last ? k + 1 : k;
    const double length = def->points[next].s - def->points[k].s;
    const double t = length > 0.0 ? fmin(fmax((s - def->points[k].s) / length, 0.0), 1.0) : 0.0;
    for (int c = 0; c < 3; c++) {
        out[c] = (1.0 - t) * array[3 * (ptrdiff_t)k + c] + t * array[3 * (ptrdiff_t)next + c];
    }
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void compare_rod(const Run runs[2], const FilFrame frames[2], int r, Gap *gap) {
    const FilResultRod *rod = &runs[0].def->rods[r], *other = &runs[1].def->rods[r];
    const bool same = rod->point_count == other->point_count;
    const double length = runs[0].def->points[rod->first_point + rod->point_count - 1].s;
    for (int i = 0; i < rod->point_count; i++) {
        const ptrdiff_t at = 3 * ((ptrdiff_t)rod->first_point + i);
        const ptrdiff_t there = 3 * ((ptrdiff_t)other->first_point + i);
        double x[3], v[3];
        if (same) {
            memcpy(x, frames[1].position + there, sizeof x);
            memcpy(v, frames[1].velocity + there, sizeof v);
        } else {
            const double s = runs[0].def->points[rod->first_point + i].s;
            const double part = length > 0.0 ? s / length : 0.0;
            sample(runs[1].def, other, frames[1].position, part, x);
            sample(runs[1].def, other, frames[1].velocity, part, v);
        }
        const double apart = distance(frames[0].position + at, x);
        gap->mean += apart * apart;
        gap->speed = fmax(gap->speed, distance(frames[0].velocity + at, v));
        if (!(apart <= gap->largest)) {
            gap->largest = apart;
            gap->rod = r;
        }
        gap->part = fmax(gap->part, rod->length > 0.0 ? apart / rod->length : 0.0);
    }
}

static double sum_energy(const FilRodEnergy *energy) {
    return energy->kinetic + energy->bend + energy->twist + energy->stretch + energy->gravity +
           energy->loads;
}

static int count_pressing(const FilFrame *frame) {
    int count = 0;
    for (int k = 0; k < frame->contact_count; k++) {
        count += frame->contacts[k].state != FIL_CONTACT_OPEN;
    }
    return count;
}

static CliStatus compare_frames(const Run runs[2], const int64_t index[2], Gap *gap) {
    FilFrame frames[2];
    FilError error;
    *gap = (Gap){.rod = -1};
    for (int k = 0; k < 2; k++) {
        if (fil_result_read(runs[k].result, index[k], &frames[k], &error) != FIL_OK) {
            cli_say("%s", error.text);
            return CLI_BAD_FILE;
        }
    }
    gap->time = frames[0].time;
    for (int r = 0; r < runs[0].def->rod_count; r++) {
        compare_rod(runs, frames, r, gap);
    }
    gap->mean = sqrt(gap->mean / fmax(runs[0].def->point_count, 1.0));
    gap->energy = sum_energy(&frames[1].energy) - sum_energy(&frames[0].energy);
    gap->contacts = count_pressing(&frames[1]) - count_pressing(&frames[0]);
    gap->same = runs[0].def->point_count == runs[1].def->point_count && gap->largest == 0.0 &&
                gap->speed == 0.0;
    return CLI_FINE;
}

// --- all frames ----------------------------------------------------------------------------------

typedef struct Whole {
    int64_t matched, alone[2]; // frames of one run only
    int64_t same;
    Gap worst;
    Gap last;
} Whole;

static void print_row(const Gap *gap, const Run *run, bool json, bool first) {
    const char *rod = gap->rod >= 0 ? run->def->rods[gap->rod].name : "";
    if (!json) {
        (void)printf("%10.6g %11.3e %11.3e %10.3e %11.3e %11.3e %8d  %s\n", gap->time, gap->largest,
                     gap->mean, gap->part, gap->speed, gap->energy, gap->contacts,
                     gap->same ? "the same" : rod);
        return;
    }
    (void)printf("%s{\"rod\":", first ? "" : ",");
    cli_print_json_text(rod);
    cli_print_json_number("time", gap->time);
    cli_print_json_number("largest", gap->largest);
    cli_print_json_number("mean", gap->mean);
    cli_print_json_number("part", gap->part);
    cli_print_json_number("speed", gap->speed);
    cli_print_json_number("energy", gap->energy);
    cli_print_json_number("contacts", gap->contacts);
    (void)printf(",\"same\":%s}", gap->same ? "true" : "false");
}

static CliStatus compare_all(const Run runs[2], bool json, Whole *whole) {
    const double near = 1e-3 * fmin(runs[0].def->step, runs[1].def->step);
    int64_t at[2] = {0, 0};
    while (at[0] < runs[0].count && at[1] < runs[1].count && !cli_is_interrupted()) {
        const double late = runs[0].time[at[0]] - runs[1].time[at[1]];
        if (fabs(late) > near) {
            const int behind = late < 0.0 ? 0 : 1;
            whole->alone[behind]++;
            at[behind]++;
            continue;
        }
        Gap gap;
        const CliStatus status = compare_frames(runs, at, &gap);
        if (status != CLI_FINE) {
            return status;
        }
        print_row(&gap, &runs[0], json, whole->matched == 0);
        whole->worst =
            whole->matched == 0 || gap.largest > whole->worst.largest ? gap : whole->worst;
        whole->last = gap;
        whole->matched++;
        whole->same += gap.same;
        at[0]++;
        at[1]++;
    }
    for (int k = 0; k < 2; k++) {
        whole->alone[k] += runs[k].count - at[k];
    }
    return cli_is_interrupted() ? CLI_INTERRUPTED : CLI_FINE;
}

static void print_whole(const Run runs[2], const Whole *whole, bool json) {
    if (json) {
        (void)fputs("],\"a\":", stdout);
        cli_print_json_text(runs[0].name);
        (void)fputs(",\"b\":", stdout);
        cli_print_json_text(runs[1].name);
        cli_print_json_number("matched", (double)whole->matched);
        cli_print_json_number("only_a", (double)whole->alone[0]);
        cli_print_json_number("only_b", (double)whole->alone[1]);
        cli_print_json_number("same_frames", (double)whole->same);
        cli_print_json_number("largest", whole->worst.largest);
        cli_print_json_number("last", whole->last.largest);
        (void)puts("}");
        return;
    }
    (void)printf("%" PRId64 " frames compared, %" PRId64 " of them the same; %" PRId64
                 " only in %s, %" PRId64 " only in %s\n",
                 whole->matched, whole->same, whole->alone[0], runs[0].name, whole->alone[1],
                 runs[1].name);
    if (whole->same < whole->matched) {
        (void)printf("furthest apart: %.3e m at %g s, on %s; at the end %.3e m\n",
                     whole->worst.largest, whole->worst.time,
                     runs[0].def->rods[whole->worst.rod].name, whole->last.largest);
    }
}

static CliStatus compare(char **names, const Options *options) {
    Run runs[2] = {{0}, {0}};
    Whole whole = {0};
    CliStatus status = open_run(names[0], &runs[0]);
    if (status == CLI_FINE) {
        status = open_run(names[1], &runs[1]);
    }
    if (status == CLI_FINE) {
        status = check_alike(&runs[0], &runs[1]);
    }
    if (status == CLI_FINE) {
        cli_catch_interrupt();
        if (options->json) {
            (void)fputs("{\"frames\":[", stdout);
        } else {
            (void)printf("%10s %11s %11s %10s %11s %11s %8s  %s\n", "time s", "largest m", "mean m",
                         "by length", "speed m/s", "energy J", "contacts", "where");
        }
        status = compare_all(runs, options->json, &whole);
        if (status != CLI_BAD_FILE) {
            print_whole(runs, &whole, options->json);
        }
    }
    if (status == CLI_FINE && whole.matched == 0) {
        cli_say("%s and %s have no frames of the same time", names[0], names[1]);
        status = CLI_NOT_ACCEPTABLE;
    }
    if (status == CLI_FINE && !(whole.worst.largest <= options->tolerance)) {
        status = CLI_NOT_ACCEPTABLE;
    }
    close_run(&runs[0]);
    close_run(&runs[1]);
    const CliStatus flushed = cli_flush();
    return flushed > status ? flushed : status;
}

static CliStatus run_compare(const CliVerb *verb, int argc, char **argv) {
    Options options = {.tolerance = HUGE_VAL};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 2) {
        cli_say("which two runs? For instance: filum compare runs/knot runs/knot-2");
        return CLI_BAD_COMMAND;
    }
    return compare(argv, &options);
}

const CliVerb cli_compare = {
    .name = "compare",
    .operands = "A B",
    .summary = "how far two runs are apart",
    .description = "Compares the frames of two runs that have the same times: places and "
                   "velocities of the points of their rods, energies, contacts that press. Runs "
                   "of other models or resolutions are compared at the same part of the length.",
    .examples = "filum compare runs/knot runs/knot-2\ta row for each frame\n"
                "filum compare a b --tolerance 1e-6\texit status 1 when further apart",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_compare,
};
