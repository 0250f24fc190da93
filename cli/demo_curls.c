// demo_curls.c - strands of hair at rest: each is a super-clothoid with its own natural curl.
//
// From left to right the natural shape goes from long waves to ringlets; a second row stands
// behind. Every strand is let go in its natural shape, moves for a while with strong damping, and
// is then brought to its equilibrium in gravity, which is checked to be stable.
#include "demo.h"
#include "svg.h"

#include "filum/rod.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1180, HEIGHT = 720, COLUMNS = 34, ROWS = 2, SAMPLES = 320 };

static const double SCALE = 2450.0; // pixels per metre
static const double TOP = 132.0;

typedef struct Tally {
    int strands, stable;
    double residual; // the worst
} Tally;

// A number in [0, 1) that looks arbitrary and is always the same.
static double vary(int a, int b) {
    double x = 43758.5453 * sin(12.9898 * a + 78.233 * b + 1.0);
    return x - floor(x);
}

// The natural shape is a helix of axis -z: with kappa = (tau, kappa_1, 0) its axis lies along tau
// n0 + kappa_1 n1, so n0 leans from -z towards h by the angle whose tangent is kappa_1 / tau.
static FilRodDef strand(int row, int column) {
    FilRodDef def = fil_rod_def_default();
    double t = (column + 0.8 * vary(row, column)) / COLUMNS;
    double curvature = 18.0 + 240.0 * t * sqrt(t), torsion = (0.75 - 0.25 * t) * curvature;
    double size = hypot(curvature, torsion), phase = 6.2831853 * vary(column + 5, row);
    double along = torsion / size, aside = curvature / size;
    const double h[3] = {cos(phase), sin(phase), 0.0}, g[3] = {-sin(phase), cos(phase), 0.0};
    def.element_count = 12 + (int)(20.0 * t);
    def.length = (0.19 + 0.03 * vary(column, row + 7)) * (1.0 + 1.1 * t);
    def.damping = 0.05;
    def.natural_curvature[0] = torsion;
    def.natural_curvature[1] = curvature;
    for (int k = 0; k < 3; k++) {
        double down = k == 2 ? -1.0 : 0.0;
        def.root.axis[0][k] = along * down + aside * h[k];
        def.root.axis[1][k] = aside * down - along * h[k];
        def.root.axis[2][k] = g[k]; // n0 x n1
    }
    def.root.position[0] = 0.42 * (t - 0.5);
    def.root.position[1] = 0.02 * row;
    def.root.position[2] = -0.06 * (t - 0.5) * (t - 0.5) + 0.003 * row;
    return def;
}

static CliStatus settle(FilRod *rod, Tally *tally) {
    FilError error;
    FilStaticsInfo info = {0};
    FilStatus status = FIL_OK;
    for (int k = 0; k < 400 && status == FIL_OK; k++) {
        status = fil_rod_step(rod, 5e-3, NULL, &error);
    }
    if (status == FIL_OK) {
        status = fil_rod_equilibrium(rod, NULL, &info, &error);
    }
    if (status != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    tally->strands++;
    tally->stable += info.stable && info.converged;
    tally->residual = fmax(tally->residual, info.residual);
    return CLI_FINE;
}

static void trace(CliSvg *svg, const FilRod *rod, int row, int column) {
    CliPath path = {.used = 0};
    char looks[64];
    for (int k = 0; k <= SAMPLES; k++) {
        FilPose pose;
        fil_rod_at(rod, fil_rod_length(rod) * k / SAMPLES, &pose, NULL);
        double x = 0.5 * WIDTH + SCALE * (pose.position[0] + 0.12 * pose.position[1]);
        double y = TOP - SCALE * (pose.position[2] + 0.10 * pose.position[1]);
        if (k == 0) {
            cli_path_move(&path, x, y);
        } else {
            cli_path_line(&path, x, y);
        }
    }
    (void)snprintf(looks, sizeof looks, "shade hair%d shine%d", 3 * row + column % 3, row);
    cli_svg_strokes(svg, looks, &path);
}

static CliStatus draw_strand(CliSvg *svg, int row, int column, Tally *tally) {
    FilRodDef def = strand(row, column);
    FilRod *rod = NULL;
    FilError error;
    if (fil_rod_create(&def, NULL, &rod, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    CliStatus status = settle(rod, tally);
    if (status == CLI_FINE) {
        trace(svg, rod, row, column);
    }
    fil_rod_destroy(rod);
    return status;
}

static const char style[] =
    "path{fill:none;stroke-linejoin:round;stroke-linecap:round}"
    ".shade{stroke:#1d120b;stroke-width:4.6;opacity:.55}"
    ".hair0{stroke:#8a4b21;stroke-width:3}.hair1{stroke:#9c5a2a;stroke-width:3}"
    ".hair2{stroke:#7a3f1a;stroke-width:3}.hair3{stroke:#6b3816;stroke-width:3}"
    ".hair4{stroke:#79431d;stroke-width:3}.hair5{stroke:#5f3012;stroke-width:3}"
    ".shine0{stroke:#e2b07f;stroke-width:.8}"
    ".shine1{stroke:#b98355;stroke-width:.5}"
    ".skin{stroke:#9aa5b1;stroke-width:1.2}";

static const CliSheet picture = {
    .name = "curls.svg",
    .width = WIDTH,
    .height = HEIGHT,
    .title = "Hair at rest",
    .text = "A fringe of strands that hang from a line, wavy on the left, in "
            "ringlets on the right.",
    .style = style};

static CliStatus draw(CliSvg *svg, Tally *tally) {
    cli_svg_text(svg, "title", 60, 60, "%s", picture.title);
    cli_svg_text(
        svg, "subtitle", 60, 88,
        "Every strand is a super-clothoid in stable equilibrium with gravity, from long waves on "
        "the left to ringlets on the right.");
    CliStatus status = CLI_FINE;
    for (int row = ROWS - 1; row >= 0; row--) {
        for (int column = 0; status == CLI_FINE && column < COLUMNS; column++) {
            status = draw_strand(svg, row, column, tally);
        }
    }
    return status;
}

CliStatus cli_demo_curls(CliDemo *demo) {
    CliSvg svg;
    CliStatus status = cli_svg_open(&svg, &picture, demo->folder, demo->force);
    if (status != CLI_FINE) {
        return status;
    }
    Tally tally = {0};
    status = draw(&svg, &tally);
    const CliStatus closed = cli_svg_close(&svg);
    (void)snprintf(demo->caption, sizeof demo->caption,
                   "%d strands of hair, %d in stable equilibrium, residual at most %.0e",
                   tally.strands, tally.stable, tally.residual);
    return status != CLI_FINE ? status : closed;
}
