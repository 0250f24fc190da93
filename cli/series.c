// series.c - quantities of a run over time.
#include "series.h"

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

static FilStatus read_frames(FilResult *result, CliSeries *series, FilError *error) {
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
