// series.c - quantities of a run over time.
#include "series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double contacts_of(const FilResultStep *step, int series) {
    return series == 0 ? step->info.contact_count : step->info.active_count;
}

static double iterations_of(const FilResultStep *step, int series) {
    (void)series;
    return step->info.iterations;
}

static double residual_of(const FilResultStep *step, int series) {
    (void)series;
    return step->info.residual.scaled;
}

static double penetration_of(const FilResultStep *step, int series) {
    (void)series;
    return step->info.penetration;
}

static double dissipated_of(const FilResultStep *step, int series) {
    (void)series;
    return step->info.dissipated;
}

static double seconds_of(const FilResultStep *step, int series) {
    const FilStepSeconds *seconds = &step->info.seconds;
    const double parts[] = {seconds->total, seconds->friction, seconds->collide + seconds->sweep,
                            seconds->bodies, seconds->assemble};
    return parts[series];
}

static double energy_of(const FilRodEnergy *energy, int series) {
    const double parts[] = {energy->kinetic, energy->bend,    energy->twist,
                            energy->stretch, energy->gravity, energy->loads};
    double sum = 0.0;
    for (int k = 0; k < 6; k++) {
        sum += parts[k];
    }
    return series == 0 ? sum : parts[series - 1];
}

// The largest force that holds an end, and the sum of all by axes.
static double reaction_of(const FilResultDef *def, const FilFrame *frame, int series) {
    double sum = 0.0, largest = 0.0;
    for (int k = 0; k < 2 * def->rod_count; k++) {
        const double *f = frame->reaction_force + 3 * (ptrdiff_t)k;
        largest = fmax(largest, sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]));
        sum += series > 0 ? f[series - 1] : 0.0;
    }
    return series == 0 ? largest : sum;
}

const CliQuantity cli_quantities[] = {
    {"energy",
     "Energy",
     "J",
     {"sum", "kinetic", "bend", "twist", "stretch", "gravity", "loads"},
     .by_frame = true,
     .of_energy = energy_of},
    {"contacts", "Contacts", "", {"within reach", "pressing"}, .of_step = contacts_of},
    {"iterations", "Iterations of the friction solver", "", {"a step"}, .of_step = iterations_of},
    {"residual",
     "Residual of the friction solver, scaled",
     "",
     {"worst of a step"},
     .logarithmic = true,
     .of_step = residual_of},
    {"penetration", "Deepest overlap", "m", {"as a step begins"}, .of_step = penetration_of},
    {"dissipated",
     "Energy that friction and impact took",
     "J",
     {"so far"},
     .of_step = dissipated_of},
    {"seconds",
     "Time of a step",
     "s",
     {"all", "friction", "detection", "bodies", "assembly"},
     .of_step = seconds_of},
    {"reaction",
     "Force of what holds the ends of rods",
     "N",
     {"largest of an end", "sum along x", "sum along y", "sum along z"},
     .by_frame = true,
     .of_frame = reaction_of},
};
const int cli_quantity_count = sizeof cli_quantities / sizeof *cli_quantities;

int cli_series_count(const CliQuantity *quantity) {
    int count = 0;
    while (count < CLI_SERIES_MAX && quantity->series[count] != NULL) {
        count++;
    }
    return count;
}

// Steps in pieces: a row of them is large.
static FilStatus read_steps(FilResult *result, CliSeries *series, FilError *error) {
    enum { PIECE = 1024 };
    static FilResultStep steps[PIECE];
    const int width = cli_series_count(series->quantity);
    const bool adds_up = series->quantity->of_step == dissipated_of;
    for (int64_t first = 0; first < series->count; first += PIECE) {
        const int64_t left = series->count - first, count = left < PIECE ? left : PIECE;
        const FilStatus status = fil_result_read_steps(result, first, count, steps, error);
        if (status != FIL_OK) {
            return status;
        }
        for (int64_t k = 0; k < count; k++) {
            double *value = series->value + (first + k) * width;
            series->time[first + k] = steps[k].time;
            for (int s = 0; s < width; s++) {
                value[s] = series->quantity->of_step(&steps[k], s);
                value[s] += adds_up && first + k > 0 ? value[s - width] : 0.0;
            }
        }
    }
    return FIL_OK;
}

// Whole frames, one after the other.
static FilStatus read_whole_frames(FilResult *result, CliSeries *series, FilError *error) {
    const int width = cli_series_count(series->quantity);
    const FilResultDef *def = fil_result_def(result);
    FilStatus status = FIL_OK;
    for (int64_t k = 0; status == FIL_OK && k < series->count; k++) {
        FilFrame frame;
        status = fil_result_read(result, k, &frame, error);
        if (status == FIL_OK && frame.reaction_force == NULL) {
            *error = (FilError){.status = FIL_E_FORMAT};
            (void)snprintf(error->text, sizeof error->text,
                           "frame %lld does not contain reactions: it was written before they were "
                           "added",
                           (long long)k);
            return FIL_E_FORMAT;
        }
        for (int s = 0; status == FIL_OK && s < width; s++) {
            series->time[k] = frame.time;
            series->value[k * width + s] = series->quantity->of_frame(def, &frame, s);
        }
    }
    return status;
}

static FilStatus read_frames(FilResult *result, CliSeries *series, FilError *error) {
    if (series->quantity->of_frame != NULL) {
        return read_whole_frames(result, series, error);
    }
    enum { PIECE = 1024 };
    static FilRodEnergy energies[PIECE];
    const int width = cli_series_count(series->quantity);
    FilStatus status = fil_result_read_times(result, 0, series->count, series->time, error);
    for (int64_t first = 0; status == FIL_OK && first < series->count; first += PIECE) {
        const int64_t left = series->count - first, count = left < PIECE ? left : PIECE;
        status = fil_result_read_energies(result, first, count, energies, error);
        for (int64_t k = 0; status == FIL_OK && k < count * width; k++) {
            series->value[first * width + k] =
                series->quantity->of_energy(&energies[k / width], (int)(k % width));
        }
    }
    return status;
}

CliStatus cli_series_read(const CliQuantity *quantity, FilResult *result, CliSeries *out) {
    const int width = cli_series_count(quantity);
    FilError error;
    *out = (CliSeries){.quantity = quantity};
    out->count =
        quantity->by_frame ? fil_result_frame_count(result) : fil_result_step_count(result);
    out->time = calloc((size_t)out->count + 1, sizeof *out->time);
    out->value = calloc((size_t)out->count * (size_t)width + 1, sizeof *out->value);
    if (out->time == NULL || out->value == NULL) {
        cli_say("there is not enough memory");
        cli_series_free(out);
        return CLI_BAD_FILE;
    }
    const FilStatus status =
        quantity->by_frame ? read_frames(result, out, &error) : read_steps(result, out, &error);
    if (status != FIL_OK) {
        cli_say("%s", error.text);
        cli_series_free(out);
        return CLI_BAD_FILE;
    }
    return CLI_FINE;
}

void cli_series_free(CliSeries *series) {
    free(series->time);
    free(series->value);
    *series = (CliSeries){0};
}
