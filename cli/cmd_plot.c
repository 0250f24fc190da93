// cmd_plot.c - filum plot: a quantity of a run over time, as a picture or as numbers.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "chart.h"
#include "files.h"
#include "svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    const char *out;
    bool force;
} Options;

static const CliOption option_table[] = {
    CLI_OPTION_TEXT("out", "FILE", out,
                    "x.svg, x.png or x.csv; default QUANTITY.svg. In short: -o"),
    CLI_OPTION_FLAG("force", force, "replace a file that exists"),
};

static const CliQuantity *find_quantity(const char *name) {
    const char *names[16];
    char list[200] = "";
    for (int k = 0; k < cli_quantity_count; k++) {
        names[k] = cli_quantities[k].name;
        if (strcmp(name, names[k]) == 0) {
            return &cli_quantities[k];
        }
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k > 0 ? ", " : "",
                       names[k]);
    }
    const char *nearest = cli_nearest(name, names, cli_quantity_count);
    cli_say("\"%s\" cannot be plotted; there are %s%s%s%s", name, list,
            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "?" : "");
    return NULL;
}

// --- SVG -----------------------------------------------------------------------------------------

static void svg_line(void *self, int colour, const double *points, int count) {
    static CliPath path;
    char class_name[24];
    if (colour < 0) {
        (void)snprintf(class_name, sizeof class_name, "%s", colour == -1 ? "grid" : "axis");
    } else {
        (void)snprintf(class_name, sizeof class_name, "line s%d", colour);
    }
    cli_path_move(&path, points[0], points[1]);
    for (int k = 1; k < count; k++) {
        cli_path_line(&path, points[2 * k], points[2 * k + 1]);
    }
    cli_svg_path(self, class_name, &path);
}

static void svg_text(void *self, double x, double y, int anchor, bool strong, const char *text) {
    char class_name[32];
    (void)snprintf(class_name, sizeof class_name, "%s%s", strong ? "title" : "small",
                   anchor < 0    ? ""
                   : anchor == 0 ? " middle"
                                 : " end");
    cli_svg_text(self, class_name, x, y, "%s", text);
}

static CliStatus write_svg(const CliSeries *series, const char *title, const Options *options,
                           const char *path) {
    char style[64 * (CLI_SERIES_MAX + 1)] = ".line{stroke-width:1.6;stroke-linejoin:round}";
    for (int s = 0; s < CLI_SERIES_MAX; s++) {
        (void)snprintf(style + strlen(style), sizeof style - strlen(style), ".s%d{stroke:%s}", s,
                       cli_chart_colour(s));
    }
    CliSvg svg;
    const CliSheet picture = {.name = path,
                              .width = CLI_CHART_WIDTH,
                              .height = CLI_CHART_HEIGHT,
                              .title = series->quantity->title,
                              .text = title,
                              .style = style};
    const CliStatus status = cli_svg_open(&svg, &picture, NULL, options->force);
    if (status != CLI_FINE) {
        return status;
    }
    const CliPainter painter = {.self = &svg, .line = svg_line, .text = svg_text};
    cli_chart_draw(series, title, &painter);
    return cli_svg_close(&svg);
}

// --- CSV -----------------------------------------------------------------------------------------

static CliStatus write_csv(const CliSeries *series, const Options *options, const char *path) {
    const int width = cli_series_count(series->quantity);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    (void)fputs("time", file);
    for (int s = 0; s < width; s++) {
        (void)fprintf(file, ",%s", series->quantity->series[s]);
    }
    for (int64_t k = 0; k < series->count; k++) {
        (void)fprintf(file, "\n%.9g", series->time[k]);
        for (int s = 0; s < width; s++) {
            (void)fprintf(file, ",%.9g", series->value[k * width + s]);
        }
    }
    (void)fputc('\n', file);
    const bool written = ferror(file) == 0;
    const bool closed = fclose(file) == 0;
    CliStatus status = CLI_BAD_FILE;
    if (written && closed) {
        status = cli_write_file(path, text, size, options->force);
    } else {
        cli_say("there is not enough memory");
    }
    free(text);
    return status;
}

// --- the verb ------------------------------------------------------------------------------------

static CliStatus plot(const char *run, const CliQuantity *quantity, const Options *options) {
    char usual[64];
    (void)snprintf(usual, sizeof usual, "%s.svg", quantity->name);
    const char *path = options->out != NULL ? options->out : usual;
    const bool csv = cli_ends_with(path, ".csv"), png = cli_ends_with(path, ".png");
    if (!csv && !png && !cli_ends_with(path, ".svg")) {
        cli_say("--out is \"%s\"; it must end in .svg, .png or .csv", path);
        return CLI_BAD_COMMAND;
    }
    FilResult *result = NULL;
    CliSeries series = {0};
    CliStatus status = cli_result_open(run, &result);
    if (status == CLI_FINE) {
        status = cli_series_read(quantity, result, &series);
    }
    if (status == CLI_FINE && series.count == 0) {
        cli_say("%s has no %s yet", run, quantity->by_frame ? "frames" : "steps");
        status = CLI_BAD_FILE;
    }
    if (status == CLI_FINE) {
        const char *title = fil_result_def(result)->name;
        status = csv   ? write_csv(&series, options, path)
                 : png ? cli_chart_write_png(&series, title, path, options->force)
                       : write_svg(&series, title, options, path);
    }
    if (status == CLI_FINE) {
        (void)printf("%s: %" PRId64 " %s%s -> %s\n", quantity->name, series.count,
                     quantity->by_frame ? "frame" : "step", cli_plural(series.count), path);
        status = cli_flush();
    }
    cli_series_free(&series);
    fil_result_discard(result);
    return status;
}

static CliStatus run_plot(const CliVerb *verb, int argc, char **argv) {
    Options options = {.out = NULL};
    const int count = cli_parse(verb, argc, argv, &options);
    if (count < 0) {
        return count == -2 ? cli_flush() : CLI_BAD_COMMAND;
    }
    if (count != 2) {
        cli_say("a run and what of it? For instance: filum plot runs/knot energy");
        return CLI_BAD_COMMAND;
    }
    const CliQuantity *quantity = find_quantity(argv[1]);
    return quantity != NULL ? plot(argv[0], quantity, &options) : CLI_BAD_COMMAND;
}

static const char *name_quantity(int k) {
    return k < cli_quantity_count ? cli_quantities[k].name : NULL;
}

const CliVerb cli_plot = {
    .name = "plot",
    .operands = "RUN QUANTITY",
    .summary = "plot a quantity of a run over time",
    .description =
        "Plots a quantity of a run over time: energy, contacts, iterations, residual, penetration, "
        "dissipated, seconds, or reaction (the forces that hold the ends of rods). "
        "A file name that ends in .csv gives the numbers. The run may still be going on.",
    .examples = "filum plot runs/knot energy\tenergy.svg\n"
                "filum plot runs/knot residual -o residual.csv\tthe numbers",
    .options = option_table,
    .option_count = sizeof option_table / sizeof *option_table,
    .run = run_plot,
    .word = name_quantity,
    .files_first = 1,
};
