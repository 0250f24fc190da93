// cmd_compare.c - filum compare: two runs, frame by frame.
//
// Frames belong together when their times agree to a thousandth of a step. Rods belong together by
// their numbers. Where both have the same points those are compared; else, as between models or
// resolutions, the second rod is looked at where the first one has its points, at the same part of
// the length, on the straight line between its own points. Rigid bodies are compared by their
// middles. Frames are the same where no bit of all that a frame holds differs, and steps where none
// of what they counted and left does; how long they took is nobody's promise.
//
// A frame that only one run has is a difference, and so is a number that is not one (NaN): no gap
// and no sum that it enters gets better again, and its frame is never the same as another. Runs
// that differ in what their rods are may be variants of a scene, or not belong together at all:
// what differs is said, and they are compared.
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
    CLI_OPTION_REAL(
        "tolerance", "M", tolerance, 0, HUGE_VAL,
        "status 1 when points are more than M metres apart, or a frame is in one run only; 0: "
        "when any bit of a frame or step differs; default: never"),
    CLI_OPTION_FLAG("json", json, "one JSON object: totals, and a row for each frame"),
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
    int where;            // it is: a rod, or rod_count + a body; -1: nowhere
    double speed;         // m/s, largest difference of velocities
    double energy;        // J, difference of the sums
    int contacts;         // difference of those that press
    bool same;            // every bit of the frame
    bool broken;          // a place, a turn of a body or a velocity is no number
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

// Runs without as many rods and bodies cannot be compared.
static CliStatus check_counts(const Run *a, const Run *b) {
    const int counts[2][2] = {{a->def->rod_count, b->def->rod_count},
                              {a->def->rigid_count, b->def->rigid_count}};
    for (int k = 0; k < 2; k++) {
        const char *const nouns[2][2] = {{"rod", "rods"}, {"body", "bodies"}};
        if (counts[k][0] != counts[k][1]) {
            cli_say("%s has %d %s and %s has %d; runs of other scenes cannot be compared", a->name,
                    counts[k][0], nouns[k][counts[k][0] != 1], b->name, counts[k][1]);
            return CLI_BAD_FILE;
        }
    }
    return CLI_FINE;
}

static bool has_other_name(const FilResultRod *a, const FilResultRod *b) {
    return strcmp(a->name, b->name) != 0;
}

static bool has_other_length(const FilResultRod *a, const FilResultRod *b) {
    return !(fabs(a->length - b->length) <= 1e-6 * fmax(a->length, b->length));
}

static bool has_other_points(const FilResultRod *a, const FilResultRod *b) {
    return a->point_count != b->point_count;
}

// How many rods differ in some way; the first is `*first`.
static int count_other(const Run runs[2],
                       bool (*is_other)(const FilResultRod *, const FilResultRod *), int *first) {
    int count = 0;
    for (int r = runs[0].def->rod_count - 1; r >= 0; r--) {
        if (is_other(&runs[0].def->rods[r], &runs[1].def->rods[r])) {
            count++;
            *first = r;
        }
    }
    return count;
}

// Say in what the rods of two runs differ.
static void say_other(const Run runs[2]) {
    const int rods = runs[0].def->rod_count;
    const char *a = runs[0].name, *b = runs[1].name;
    int first = 0, count = count_other(runs, has_other_name, &first);
    if (count > 0) {
        cli_say("%d of %d rod%s other names, as of other scenes: rods[%d] is \"%s\" in %s and "
                "\"%s\" in %s",
                count, rods, rods == 1 ? " has" : "s have", first, runs[0].def->rods[first].name, a,
                runs[1].def->rods[first].name, b);
    }
    count = count_other(runs, has_other_length, &first);
    if (count > 0) {
        cli_say("%d of %d rod%s other lengths: rods[%d] %s is %g m long in %s and %g m in %s",
                count, rods, rods == 1 ? " has" : "s have", first, runs[0].def->rods[first].name,
                runs[0].def->rods[first].length, a, runs[1].def->rods[first].length, b);
    }
    count = count_other(runs, has_other_points, &first);
    if (count > 0) {
        cli_say("%d of %d rod%s other points, and %s compared at the same part of the length: "
                "rods[%d] %s has %d points in %s and %d in %s",
                count, rods, rods == 1 ? " has" : "s have", count == 1 ? "is" : "are", first,
                runs[0].def->rods[first].name, runs[0].def->rods[first].point_count, a,
                runs[1].def->rods[first].point_count, b);
    }
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

// The larger one, or what is no number.
static double find_worse(double a, double b) {
    return a >= b || isnan(a) ? a : b;
}

static void note_place(Gap *gap, double apart, double speed, int where) {
    gap->mean += apart * apart;
    gap->speed = find_worse(gap->speed, speed);
    gap->broken = gap->broken || isnan(apart) || isnan(speed);
    if (!(apart <= gap->largest) && !isnan(gap->largest)) {
        gap->largest = apart;
        gap->where = where;
    }
}

static void compare_body(const Run runs[2], const FilFrame frames[2], int k, Gap *gap) {
    const ptrdiff_t at = 3 * (ptrdiff_t)k, turn = 4 * (ptrdiff_t)k;
    note_place(gap, distance(frames[0].rigid_position + at, frames[1].rigid_position + at),
               distance(frames[0].rigid_velocity + at, frames[1].rigid_velocity + at),
               runs[0].def->rod_count + k);
    for (int c = 0; c < 4; c++) {
        const double a = frames[0].rigid_quaternion[turn + c];
        const double b = frames[1].rigid_quaternion[turn + c];
        gap->broken = gap->broken || isnan(a) || isnan(b);
    }
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
        note_place(gap, apart, distance(frames[0].velocity + at, v), r);
        gap->part = find_worse(gap->part, rod->length > 0.0 ? apart / rod->length : 0.0);
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

// --- to the bit ----------------------------------------------------------------------------------

static bool are_same(const double *a, const double *b, int64_t count) {
    return count == 0 || (a == NULL && b == NULL) ||
           (a != NULL && b != NULL && memcmp(a, b, sizeof(double) * (size_t)count) == 0);
}

static bool are_same_sides(const FilContactSide *a, const FilContactSide *b) {
    return a->kind == b->kind && a->index == b->index && are_same(&a->s, &b->s, 1) &&
           are_same(a->point, b->point, 3);
}

static bool are_same_contacts(const FilContact *a, const FilContact *b) {
    return are_same_sides(&a->a, &b->a) && are_same_sides(&a->b, &b->b) &&
           are_same(a->normal, b->normal, 3) && are_same(a->impulse, b->impulse, 3) &&
           are_same(a->velocity, b->velocity, 3) && are_same(&a->gap, &b->gap, 1) &&
           are_same(&a->mu, &b->mu, 1) && a->state == b->state;
}

static bool are_same_energies(const FilRodEnergy *a, const FilRodEnergy *b) {
    const double parts[2][6] = {{a->kinetic, a->bend, a->twist, a->stretch, a->gravity, a->loads},
                                {b->kinetic, b->bend, b->twist, b->stretch, b->gravity, b->loads}};
    return are_same(parts[0], parts[1], 6);
}

static bool are_same_frames(const Run runs[2], const FilFrame frames[2]) {
    const FilResultDef *def = runs[0].def, *other = runs[1].def;
    const FilFrame *a = &frames[0], *b = &frames[1];
    const int64_t points = def->point_count, bodies = def->rigid_count;
    const int64_t obstacles = def->obstacle_count;
    bool same = points == other->point_count && obstacles == other->obstacle_count &&
                a->step == b->step && a->contact_count == b->contact_count &&
                are_same(&a->time, &b->time, 1) && are_same_energies(&a->energy, &b->energy);
    same = same && are_same(a->position, b->position, 3 * points) &&
           are_same(a->quaternion, b->quaternion, 4 * points) &&
           are_same(a->velocity, b->velocity, 3 * points) &&
           are_same(a->curvature, b->curvature, 3 * points) &&
           are_same(a->tension, b->tension, points) && are_same(a->elastic, b->elastic, points) &&
           are_same(a->reaction_force, b->reaction_force, 6 * (int64_t)def->rod_count) &&
           are_same(a->reaction_moment, b->reaction_moment, 6 * (int64_t)def->rod_count);
    same = same && are_same(a->rigid_position, b->rigid_position, 3 * bodies) &&
           are_same(a->rigid_quaternion, b->rigid_quaternion, 4 * bodies) &&
           are_same(a->rigid_velocity, b->rigid_velocity, 3 * bodies) &&
           are_same(a->rigid_spin, b->rigid_spin, 3 * bodies) &&
           are_same(a->obstacle_position, b->obstacle_position, 3 * obstacles) &&
           are_same(a->obstacle_quaternion, b->obstacle_quaternion, 4 * obstacles);
    for (int k = 0; same && k < a->contact_count; k++) {
        same = are_same_contacts(&a->contacts[k], &b->contacts[k]);
    }
    return same;
}

static bool are_same_steps(const FilResultStep *a, const FilResultStep *b) {
    const FilStepInfo *x = &a->info, *y = &b->info;
    const double reals[2][8] = {
        {a->time, x->residual.scaled, x->residual.natural, x->residual.alart_curnier,
         x->conditioning, x->elastic_residual, x->penetration, x->dissipated},
        {b->time, y->residual.scaled, y->residual.natural, y->residual.alart_curnier,
         y->conditioning, y->elastic_residual, y->penetration, y->dissipated}};
    return are_same(reals[0], reals[1], 8) && x->outcome == y->outcome &&
           x->contact_count == y->contact_count && x->active_count == y->active_count &&
           x->iterations == y->iterations && x->island_count == y->island_count &&
           x->newton_count == y->newton_count && x->substeps == y->substeps &&
           x->added_count == y->added_count && x->missed_count == y->missed_count &&
           x->pressed_count == y->pressed_count && x->slowed_count == y->slowed_count &&
           x->asleep_count == y->asleep_count;
}

enum { STEPS_AT_ONCE = 64 };

// Steps that differ, those that one run has and the other has not among them.
static CliStatus count_other_steps(const Run runs[2], int64_t *count) {
    const int64_t counts[2] = {fil_result_step_count(runs[0].result),
                               fil_result_step_count(runs[1].result)};
    const int64_t both = counts[0] < counts[1] ? counts[0] : counts[1];
    FilResultStep steps[2][STEPS_AT_ONCE];
    FilError error;
    *count = counts[0] + counts[1] - 2 * both;
    for (int64_t first = 0; first < both; first += STEPS_AT_ONCE) {
        const int64_t some = both - first < STEPS_AT_ONCE ? both - first : STEPS_AT_ONCE;
        for (int k = 0; k < 2; k++) {
            if (fil_result_read_steps(runs[k].result, first, some, steps[k], &error) != FIL_OK) {
                cli_say("%s", error.text);
                return CLI_BAD_FILE;
            }
        }
        for (int64_t k = 0; k < some; k++) {
            *count += !are_same_steps(&steps[0][k], &steps[1][k]);
        }
    }
    return CLI_FINE;
}

static CliStatus compare_frames(const Run runs[2], const int64_t index[2], Gap *gap) {
    FilFrame frames[2];
    FilError error;
    *gap = (Gap){.where = -1};
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
    for (int k = 0; k < runs[0].def->rigid_count; k++) {
        compare_body(runs, frames, k, gap);
    }
    const double places = (double)runs[0].def->point_count + runs[0].def->rigid_count;
    gap->mean = sqrt(gap->mean / fmax(places, 1.0));
    gap->energy = sum_energy(&frames[1].energy) - sum_energy(&frames[0].energy);
    gap->contacts = count_pressing(&frames[1]) - count_pressing(&frames[0]);
    gap->same = !gap->broken && are_same_frames(runs, frames);
    return CLI_FINE;
}

// --- all frames ----------------------------------------------------------------------------------

typedef struct Whole {
    int64_t matched, alone[2]; // frames of one run only
    int64_t same, broken;
    Gap worst;
    Gap last;
} Whole;

static const char *name_place(const Run *run, int where) {
    static char number[32]; // of what has no name
    const int rods = run->def->rod_count;
    const char *name = where < 0      ? NULL
                       : where < rods ? run->def->rods[where].name
                                      : run->def->rigids[where - rods].name;
    if (name != NULL && name[0] == '\0') {
        (void)snprintf(number, sizeof number, "%s[%d]", where < rods ? "rods" : "bodies",
                       where < rods ? where : where - rods);
        return number;
    }
    return name != NULL ? name : "";
}

static void print_row(const Gap *gap, const Run *run, bool json, bool first) {
    const char *where = name_place(run, gap->where);
    if (!json) {
        (void)printf("%10.6g %11.3e %11.3e %10.3e %11.3e %11.3e %8d  %s\n", gap->time, gap->largest,
                     gap->mean, gap->part, gap->speed, gap->energy, gap->contacts,
                     gap->same ? "the same" : where);
        return;
    }
    (void)printf("%s{\"rod\":", first ? "" : ",");
    cli_print_json_text(where);
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
        if (!(fabs(late) <= near)) { // a time that is no number is no other run's
            const int behind = late < 0.0 || isnan(runs[0].time[at[0]]) ? 0 : 1;
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
        if (whole->matched == 0 ||
            (!(gap.largest <= whole->worst.largest) && !isnan(whole->worst.largest))) {
            whole->worst = gap;
        }
        whole->last = gap;
        whole->matched++;
        whole->same += gap.same;
        whole->broken += gap.broken;
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
    (void)printf("%" PRId64 " frame%s compared, %" PRId64 " of them the same; %" PRId64
                 " only in %s, %" PRId64 " only in %s\n",
                 whole->matched, cli_plural(whole->matched), whole->same, whole->alone[0],
                 runs[0].name, whole->alone[1], runs[1].name);
    if (whole->same < whole->matched && whole->worst.where >= 0) {
        (void)printf("furthest apart: %.3e m at %g s, on %s; at the end %.3e m\n",
                     whole->worst.largest, whole->worst.time,
                     name_place(&runs[0], whole->worst.where), whole->last.largest);
    }
}

// Whether nothing at all differs: says what does.
static CliStatus judge_bits(const Run runs[2], const Whole *whole) {
    int64_t steps = 0;
    const CliStatus status = count_other_steps(runs, &steps);
    const int64_t frames = whole->matched - whole->same;
    if (frames > 0) {
        cli_say("%" PRId64 " of %" PRId64 " frame%s of %s and %s %s not the same to the bit",
                frames, whole->matched, cli_plural(whole->matched), runs[0].name, runs[1].name,
                frames == 1 ? "is" : "are");
    }
    if (steps > 0) {
        cli_say("%" PRId64 " step%s of %s and %s differ%s in what came of %s", steps,
                cli_plural(steps), runs[0].name, runs[1].name, steps == 1 ? "s" : "",
                steps == 1 ? "it" : "them");
    }
    return status != CLI_FINE ? status : frames + steps > 0 ? CLI_NOT_ACCEPTABLE : CLI_FINE;
}

static CliStatus judge(const Run runs[2], const Whole *whole, double tolerance) {
    const bool near = whole->worst.largest <= tolerance && whole->broken == 0;
    CliStatus status = near ? CLI_FINE : CLI_NOT_ACCEPTABLE;
    if (tolerance == 0.0) {
        const CliStatus bits = judge_bits(runs, whole);
        status = bits > status ? bits : status;
    }
    for (int k = 0; k < 2; k++) {
        if (whole->alone[k] > 0) {
            cli_say("%" PRId64 " frame%s of %s %s not in %s", whole->alone[k],
                    cli_plural(whole->alone[k]), runs[k].name, whole->alone[k] == 1 ? "is" : "are",
                    runs[1 - k].name);
            status = CLI_NOT_ACCEPTABLE;
        }
    }
    return status;
}

static CliStatus compare(char **names, const Options *options) {
    Run runs[2] = {{0}, {0}};
    Whole whole = {0};
    CliStatus status = open_run(names[0], &runs[0]);
    if (status == CLI_FINE) {
        status = open_run(names[1], &runs[1]);
    }
    if (status == CLI_FINE) {
        status = check_counts(&runs[0], &runs[1]);
    }
    if (status == CLI_FINE) {
        say_other(runs);
        cli_catch_interrupt();
        if (options->json) {
            (void)fputs("{\"frames\":[", stdout);
        } else {
            (void)printf("%10s %11s %11s %10s %11s %11s %8s  %s\n", "time s", "largest m", "mean m",
                         "by length", "speed m/s", "energy J", "contacts", "where");
        }
        status = compare_all(runs, options->json, &whole);
        if (whole.broken > 0) {
            cli_say("%" PRId64 " frame%s of %s or %s hold%s numbers that are not finite",
                    whole.broken, cli_plural(whole.broken), names[0], names[1],
                    whole.broken == 1 ? "s" : "");
        }
        if (status != CLI_BAD_FILE) {
            print_whole(runs, &whole, options->json);
        }
    }
    if (status == CLI_FINE && whole.matched == 0) {
        cli_say("%s and %s have no frames of the same time", names[0], names[1]);
        status = CLI_NOT_ACCEPTABLE;
    }
    if (status == CLI_FINE && options->tolerance < HUGE_VAL) {
        status = judge(runs, &whole, options->tolerance);
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
    .summary = "compare two runs frame by frame",
    .description = "Compares the frames that two runs have at the same times: positions and "
                   "velocities of points and bodies, energies, and how many contacts press. "
                   "With --tolerance 0 it compares every bit of frames and steps. Where models or "
                   "resolutions differ, points at the same fraction of the length are compared, "
                   "and Filum prints how the rods differ.",
    .examples = "filum compare runs/knot runs/knot-2\ta row for each frame\n"
                "filum compare a b --tolerance 1e-6\texit status 1 when further apart, or of other "
                "times",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_compare,
};
