// chart.c - a chart of series over time.
//
// A run may have a million steps and a chart has a thousand columns: of the values that fall into a
// column its first, least, greatest and last are drawn, in the order in which they came, so that no
// peak is lost. Scales have ticks at 1, 2 or 5 times a power of ten; logarithmic ones at powers.
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 84, RIGHT = 24, TOP = 92, BOTTOM = 56, PATH_POINTS = 512 };

static const char *const colours[CLI_SERIES_MAX] = {"#1f2933", "#d9480f", "#1971c2", "#2f9e44",
                                                    "#9c36b5", "#e8a317", "#0b7285", "#868e96"};

const char *cli_chart_colour(int series) {
    return series == -1 ? "#e6e2d8" : series == -2 ? "#52606d" : colours[series % CLI_SERIES_MAX];
}

typedef struct Scale {
    double low, high; // of the values, or of their decimal logarithms
    double step;      // between ticks
    double from, to;  // pixels
    bool logarithmic;
} Scale;

static double place(const Scale *scale, double value) {
    const double x =
        scale->logarithmic ? (value > 0.0 ? log10(value) : scale->low) : value; // 0 is at the foot
    const double part =
        (fmin(fmax(x, scale->low), scale->high) - scale->low) / (scale->high - scale->low);
    return scale->from + part * (scale->to - scale->from);
}

// 1, 2 or 5 times a power of ten, about `wanted` ticks.
static double find_step(double span, int wanted) {
    const double rough = span / wanted, power = pow(10.0, floor(log10(rough)));
    const double lead = rough / power;
    return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

static Scale make_linear(double low, double high, int ticks, bool rounded) {
    if (!(high > low)) { // all the same: some room about it
        const double room = low != 0.0 ? fabs(low) * 0.5 : 1.0;
        low -= low != 0.0 ? room : 0.0;
        high += room;
    }
    Scale scale = {.low = low, .high = high, .step = find_step(high - low, ticks)};
    if (rounded) {
        scale.low = scale.step * floor(low / scale.step + 1e-9);
        scale.high = scale.step * ceil(high / scale.step - 1e-9);
    }
    return scale;
}

static Scale make_logarithmic(double low, double high) {
    Scale scale = {.low = floor(log10(low)), .high = ceil(log10(high)), .logarithmic = true};
    scale.high = fmax(scale.high, scale.low + 1.0);
    scale.step = fmax(1.0, ceil((scale.high - scale.low) / 8.0));
    return scale;
}

static Scale make_value_scale(const CliSeries *series) {
    const int64_t count = series->count * cli_series_count(series->quantity);
    const bool logarithmic = series->quantity->logarithmic;
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < count; k++) {
        const double value = series->value[k];
        if (isfinite(value) && (!logarithmic || value > 0.0)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    Scale scale = logarithmic ? make_logarithmic(low <= high ? low : 0.1, low <= high ? high : 1.0)
                              : make_linear(low <= high ? fmin(low, 0.0) : 0.0,
                                            low <= high ? fmax(high, 0.0) : 1.0, 6, true);
    scale.from = CLI_CHART_HEIGHT - BOTTOM;
    scale.to = TOP;
    return scale;
}

static Scale make_time_scale(const CliSeries *series) {
    const double last = series->count > 0 ? series->time[series->count - 1] : 1.0;
    Scale scale = make_linear(series->count > 0 ? fmin(series->time[0], 0.0) : 0.0, last, 8, false);
    scale.from = LEFT;
    scale.to = CLI_CHART_WIDTH - RIGHT;
    return scale;
}

// Series that are 0 all the time are noise in a chart, unless there is nothing else.
static bool is_shown(const CliSeries *series, int s) {
    const int width = cli_series_count(series->quantity);
    bool shown = s == 0;
    for (int64_t k = 0; k < series->count && !shown; k++) {
        shown = series->value[k * width + s] != 0.0;
    }
    return shown;
}

// --- axes ----------------------------------------------------------------------------------------

static void draw_line(const CliPainter *painter, int colour, double x1, double y1, double x2,
                      double y2) {
    const double points[4] = {x1, y1, x2, y2};
    painter->line(painter->self, colour, points, 2);
}

static void name_tick(const Scale *scale, double tick, char text[32]) {
    if (scale->logarithmic) {
        (void)snprintf(text, 32, "1e%.0f", tick);
    } else {
        (void)snprintf(text, 32, "%.6g", fabs(tick) < 1e-9 * scale->step ? 0.0 : tick);
    }
}

typedef struct Ticks {
    double first;
    int count;
} Ticks;

static Ticks find_ticks(const Scale *scale) {
    const double first = ceil(scale->low / scale->step - 1e-9);
    return (Ticks){first * scale->step, (int)(scale->high / scale->step + 1e-9 - first) + 1};
}

static void draw_axes(const CliPainter *painter, const Scale *time, const Scale *value) {
    char text[32];
    const Ticks up = find_ticks(value), along = find_ticks(time);
    for (int k = 0; k < up.count; k++) {
        const double tick = up.first + k * value->step;
        const double y = place(value, value->logarithmic ? pow(10.0, tick) : tick);
        draw_line(painter, -1, time->from, y, time->to, y);
        name_tick(value, tick, text);
        painter->text(painter->self, LEFT - 10, y + 5, 1, false, text);
    }
    for (int k = 0; k < along.count; k++) {
        const double tick = along.first + k * time->step;
        const double x = place(time, tick);
        draw_line(painter, -2, x, value->from, x, value->from + 5);
        name_tick(time, tick, text);
        painter->text(painter->self, x, value->from + 22, 0, false, text);
    }
    draw_line(painter, -2, time->from, value->from, time->to, value->from);
    painter->text(painter->self, 0.5 * (time->from + time->to), CLI_CHART_HEIGHT - 12, 0, false,
                  "time (s)");
}

static void draw_names(const CliSeries *series, const char *title, const CliPainter *painter) {
    const CliQuantity *quantity = series->quantity;
    const int width = cli_series_count(quantity);
    char text[200];
    (void)snprintf(text, sizeof text, quantity->unit[0] != '\0' ? "%s (%s)" : "%s", quantity->title,
                   quantity->unit);
    painter->text(painter->self, LEFT, 36, -1, true, text);
    painter->text(painter->self, CLI_CHART_WIDTH - RIGHT, 36, 1, false, title);
    double x = LEFT;
    for (int s = 0; s < width; s++) {
        if (!is_shown(series, s)) {
            continue;
        }
        draw_line(painter, s, x, 63, x + 22, 63);
        painter->text(painter->self, x + 28, 68, -1, false, quantity->series[s]);
        x += 52.0 + 8.0 * (double)strlen(quantity->series[s]);
    }
}

// --- series --------------------------------------------------------------------------------------

typedef struct Pen {
    const CliPainter *painter;
    int colour, count;
    double points[2 * PATH_POINTS];
} Pen;

// What was drawn so far, and go on from its last point.
static void lift(Pen *pen) {
    if (pen->count > 1) {
        pen->painter->line(pen->painter->self, pen->colour, pen->points, pen->count);
    }
    if (pen->count > 0) {
        memmove(pen->points, pen->points + 2 * (pen->count - 1), 2 * sizeof *pen->points);
        pen->count = 1;
    }
}

static void draw_to(Pen *pen, double x, double y) {
    if (pen->count == PATH_POINTS) {
        lift(pen);
    }
    pen->points[2 * pen->count] = x;
    pen->points[2 * pen->count + 1] = y;
    pen->count++;
}

// The values of one column: which of them are its least and greatest.
typedef struct Column {
    int64_t first, last, least, greatest;
} Column;

static void draw_column(Pen *pen, const CliSeries *series, int s, const Column *column,
                        const Scale scales[2]) {
    const int width = cli_series_count(series->quantity);
    const bool rises = column->least < column->greatest;
    const int64_t order[4] = {column->first, rises ? column->least : column->greatest,
                              rises ? column->greatest : column->least, column->last};
    for (int k = 0; k < 4; k++) {
        if (k == 0 || order[k] != order[k - 1]) {
            draw_to(pen, place(&scales[0], series->time[order[k]]),
                    place(&scales[1], series->value[order[k] * width + s]));
        }
    }
}

static void draw_series(const CliSeries *series, int s, const CliPainter *painter,
                        const Scale scales[2]) {
    const int width = cli_series_count(series->quantity);
    Pen pen = {.painter = painter, .colour = s};
    int64_t k = 0;
    while (k < series->count) {
        const double column_of = floor(place(&scales[0], series->time[k]));
        Column column = {k, k, k, k};
        for (; k < series->count && floor(place(&scales[0], series->time[k])) == column_of; k++) {
            const double value = series->value[k * width + s];
            column.last = k;
            column.least = value < series->value[column.least * width + s] ? k : column.least;
            column.greatest =
                value > series->value[column.greatest * width + s] ? k : column.greatest;
        }
        draw_column(&pen, series, s, &column, scales);
    }
    lift(&pen);
}

void cli_chart_draw(const CliSeries *series, const char *title, const CliPainter *painter) {
    const Scale scales[2] = {make_time_scale(series), make_value_scale(series)};
    draw_axes(painter, &scales[0], &scales[1]);
    draw_names(series, title, painter);
    for (int s = cli_series_count(series->quantity) - 1; s >= 0; s--) { // the first on top
        if (is_shown(series, s)) {
            draw_series(series, s, painter, scales);
        }
    }
}
