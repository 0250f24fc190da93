#ifndef FIL_CLI_SERIES_H
#define FIL_CLI_SERIES_H

// What a run says over time: a quantity is one or more series of numbers, by step or by frame.

#include "runs.h"

enum { CLI_SERIES_MAX = 8 };

typedef struct CliQuantity {
    const char *name, *title, *unit;
    const char *series[CLI_SERIES_MAX]; // names, up to NULL
    bool by_frame;                      // else by step
    bool logarithmic;
    double (*of_step)(const FilResultStep *step, int series);
    double (*of_energy)(const FilRodEnergy *energy, int series);
    double (*of_frame)(const FilResultDef *def, const FilFrame *frame, int series);
} CliQuantity;

extern const CliQuantity cli_quantities[];
extern const int cli_quantity_count;

/// How many series a quantity has.
int cli_series_count(const CliQuantity *quantity);

/// A quantity of a run. Dissipation adds up; everything else is what it was at the time.
typedef struct CliSeries {
    const CliQuantity *quantity;
    int64_t count;
    double *time;  // [count] s
    double *value; // [count][series]
} CliSeries;

/// Read it; what goes wrong is said. Ends with cli_series_free().
CliStatus cli_series_read(const CliQuantity *quantity, FilResult *result, CliSeries *out);
void cli_series_free(CliSeries *series);

#endif
