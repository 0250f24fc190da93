#ifndef FIL_CLI_CHART_H
#define FIL_CLI_CHART_H

// A chart of series over time, drawn with whatever can draw lines and text.

#include "series.h"

/// What draws. Coordinates are pixels, y down; colours are numbers of series, -1 for the grid and
/// -2 for the axes.
typedef struct CliPainter {
    void *self;
    void (*line)(void *self, int colour, const double *points, int count); // a polyline, [count][2]
    /// `anchor` -1: begins at x, 0: centred, 1: ends there.
    void (*text)(void *self, double x, double y, int anchor, bool strong, const char *text);
} CliPainter;

enum { CLI_CHART_WIDTH = 960, CLI_CHART_HEIGHT = 540 };

/// "#rrggbb" of a series, of the grid (-1), of the axes (-2).
const char *cli_chart_colour(int series);

void cli_chart_draw(const CliSeries *series, const char *title, const CliPainter *painter);

/// The same as a PNG file, twice as wide and high; what goes wrong is said.
CliStatus cli_chart_write_png(const CliSeries *series, const char *title, const char *path,
                              bool force);

#endif
