// demo_convergence.c - how residuals fall: the default solver beside its named parts.
//
// Drawn is the least residual so far: what a solve would give back if it were stopped. Convex
// problems inside of a fixed point report their own residuals, which are left out.
#include "demo.h"
#include "svg.h"

#include "filum/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1180, HEIGHT = 620, POINTS = 2000, SOLVERS = 4, PANELS = 2 };

static const double MOST_SECONDS = 1.5; // for each solve

typedef struct Curve {
    const char *name, *look;
    double start, seconds[POINTS], scaled[POINTS];
    int count;
    bool solved;
} Curve;

// On paper: logarithms of time and residual, between the limits below.
typedef struct Panel {
    double left, top, width, height;
} Panel;

static const double TIME_LOW = -4.0, TIME_HIGH = 1.0, RESIDUAL_LOW = -10.0, RESIDUAL_HIGH = 1.0;

static double across(const Panel *panel, double seconds) {
    const double at = log10(fmax(seconds, 1e-4));
    return panel->left + panel->width * (at - TIME_LOW) / (TIME_HIGH - TIME_LOW);
}

static double down(const Panel *panel, double residual) {
    const double at = fmin(fmax(log10(fmax(residual, 1e-30)), RESIDUAL_LOW), RESIDUAL_HIGH);
    return panel->top + panel->height * (RESIDUAL_HIGH - at) / (RESIDUAL_HIGH - RESIDUAL_LOW);
}

// --- solving -------------------------------------------------------------------------------------

static void add_point(Curve *curve, double seconds, double scaled) {
    if (curve->count < POINTS) {
        curve->seconds[curve->count] = seconds;
        curve->scaled[curve->count++] = scaled;
    }
}

static bool is_inner(const char *phase) {
    for (int k = 0; k < FIL_CONVEX_SOLVER_COUNT; k++) {
        if (strcmp(phase, fil_convex_solver_name((FilConvexSolver)k)) == 0) {
            return true;
        }
    }
    return false;
}

// Points that cannot be told from the last one on paper are left out.
static bool on_iteration(void *user, const FilFrictionProgress *progress) {
    Curve *curve = user;
    const double seconds = cli_clock() - curve->start;
    if (!is_inner(progress->phase)) {
        const int last = curve->count - 1;
        const double least = last < 0 ? progress->scaled : curve->scaled[last];
        if (last < 0 || progress->scaled < 0.9 * least || seconds > 1.05 * curve->seconds[last]) {
            add_point(curve, seconds, fmin(least, progress->scaled));
        }
    }
    return seconds < MOST_SECONDS;
}

static CliStatus solve(const FilFrictionProblem *problem, FilFrictionSolver solver, Curve *curve) {
    FilFrictionSettings settings = fil_friction_settings_default();
    const size_t size = 3 * (size_t)problem->block_count;
    FilFrictionSolution solution = {.r = calloc(size, sizeof(double))};
    FilFrictionInfo info;
    FilError error = {0};
    settings.solver = solver;
    settings.thread_count = 1; // one island after the other
    settings.on_iteration = on_iteration;
    settings.user = curve;
    curve->name = fil_friction_solver_name(solver);
    curve->start = cli_clock();
    const bool done = solution.r != NULL && fil_friction_solve(problem, &settings, NULL, &solution,
                                                               &info, &error) == FIL_OK;
    if (done) {
        add_point(curve, cli_clock() - curve->start, info.residual.scaled);
        curve->solved = info.outcome == FIL_CONVERGED;
    } else {
        cli_say("%s", solution.r == NULL ? "there is not enough memory" : error.text);
    }
    free(solution.r);
    return done ? CLI_FINE : CLI_BAD_FILE;
}

// --- drawing -------------------------------------------------------------------------------------

static void draw_frame(CliSvg *svg, const Panel *panel, const char *title) {
    static const char *const times[] = {"0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s"};
    const double right = panel->left + panel->width, bottom = panel->top + panel->height;
    for (int e = (int)RESIDUAL_LOW; e <= (int)RESIDUAL_HIGH; e += 2) {
        const double y = down(panel, pow(10.0, e));
        cli_svg_line(svg, e == -8 ? "wanted" : "grid", panel->left, y, right, y);
        cli_svg_text(svg, "small end", panel->left - 24, y + 5, "10");
        cli_svg_text(svg, "power", panel->left - 23, y - 2, "%d", e);
    }
    for (int e = (int)TIME_LOW; e <= (int)TIME_HIGH; e++) {
        const double x = across(panel, pow(10.0, e));
        cli_svg_line(svg, "grid", x, panel->top, x, bottom);
        cli_svg_text(svg, "small middle", x, bottom + 22, "%s", times[e - (int)TIME_LOW]);
    }
    cli_svg_line(svg, "axis", panel->left, bottom, right, bottom);
    cli_svg_line(svg, "axis", panel->left, panel->top, panel->left, bottom);
    cli_svg_text(svg, "strong", panel->left, panel->top - 16, "%s", title);
}

// Names stand at the ends of curves, moved apart where they would meet.
static void draw_names(CliSvg *svg, const Panel *panel, const Curve *curves) {
    double y[SOLVERS];
    int order[SOLVERS] = {0};
    for (int k = 0; k < SOLVERS; k++) {
        y[k] = down(panel, curves[k].scaled[curves[k].count - 1]) + 5.0;
        int at = k;
        for (; at > 0 && y[order[at - 1]] > y[k]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
    for (int k = 1; k < SOLVERS; k++) {
        y[order[k]] = fmax(y[order[k]], y[order[k - 1]] + 19.0);
    }
    for (int k = 0; k < SOLVERS; k++) {
        char look[40];
        (void)snprintf(look, sizeof look, "name t%s", curves[k].look);
        cli_svg_text(svg, look, across(panel, curves[k].seconds[curves[k].count - 1]) + 10, y[k],
                     "%s", curves[k].name);
    }
}

static void draw_curves(CliSvg *svg, const Panel *panel, const Curve *curves) {
    CliPath path = {.used = 0};
    for (int k = SOLVERS - 1; k >= 0; k--) { // the default one last, on top
        const Curve *curve = &curves[k];
        for (int i = 0; i < curve->count; i++) {
            const double x = across(panel, curve->seconds[i]), y = down(panel, curve->scaled[i]);
            if (i == 0) {
                cli_path_move(&path, x, y);
            } else {
                cli_path_line(&path, x, y);
            }
        }
        cli_svg_path(svg, curve->look, &path);
        const int last = curve->count - 1;
        cli_svg_circle(svg, curve->solved ? curve->look : "failed",
                       across(panel, curve->seconds[last]), down(panel, curve->scaled[last]), 4.5);
    }
    draw_names(svg, panel, curves);
}

static const char style[] =
    "path{stroke-linejoin:round;stroke-width:1.8}"
    ".s0{stroke:#154a84;stroke-width:3.2}.s1{stroke:#d7263d}.s2{stroke:#c58a10}.s3{stroke:#4f8a5b}"
    "circle{stroke-width:0}circle.s0{fill:#154a84}circle.s1{fill:#d7263d}circle.s2{fill:#c58a10}"
    "circle.s3{fill:#4f8a5b}circle.failed{fill:#fcfbf8;stroke:#52606d;stroke-width:1.6}"
    ".ts0{fill:#154a84;font-weight:600}.ts1{fill:#b01c30}.ts2{fill:#8f640b}.ts3{fill:#3a6b45}"
    ".name{paint-order:stroke;stroke:#fcfbf8;stroke-width:4px;stroke-linejoin:round}"
    ".power{font-size:10px;fill:#52606d}.wanted{stroke:#9aa5b1;stroke-dasharray:5 4}";

static const struct {
    FilGenerator generator;
    int contacts;
    const char *title;
} problems[PANELS] = {
    {FIL_GENERATE_FIBRES, 300, "300 contacts between stiff fibres"},
    {FIL_GENERATE_WALL, 300, "340 contacts in a wall of boxes"},
};

static CliStatus solve_panel(int panel, Curve *curves) {
    static const FilFrictionSolver solvers[SOLVERS] = {FIL_SOLVER_AUTO, FIL_SOLVER_GAUSS_SEIDEL,
                                                       FIL_SOLVER_NEWTON, FIL_SOLVER_CADOUX};
    static const char *const looks[SOLVERS] = {"s0", "s1", "s2", "s3"};
    FilGenerateDef def = fil_generate_def_default(problems[panel].generator);
    FilGenerated *made = NULL;
    FilError error = {0};
    def.contact_count = problems[panel].contacts;
    if (fil_generate(&def, NULL, &made, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    CliStatus status = CLI_FINE;
    for (int k = 0; k < SOLVERS && status == CLI_FINE; k++) {
        curves[k].look = looks[k];
        status = solve(&made->problem, solvers[k], &curves[k]);
    }
    fil_generated_destroy(made);
    return status;
}

static CliStatus draw(CliDemo *demo, Curve curves[PANELS][SOLVERS]) {
    CliSvg svg;
    const CliSheet picture = {.name = "convergence.svg",
                              .width = WIDTH,
                              .height = HEIGHT,
                              .title = "Residuals against time",
                              .text =
                                  "Two charts, residual against time, one curve for each solver.",
                              .style = style};
    const CliStatus status = cli_svg_open(&svg, &picture, demo->folder, demo->force);
    if (status != CLI_FINE) {
        return status;
    }
    cli_svg_text(&svg, "title", 60, 60, "One solver for all of them");
    cli_svg_text(
        &svg, "subtitle", 60, 88,
        "Scaled residual against time, on this machine. Open circles: given up, or stopped "
        "after %g s. Dashed: the tolerance.",
        MOST_SECONDS);
    for (int k = 0; k < PANELS; k++) {
        const Panel panel = {95 + 545.0 * k, 150, 395, 400};
        draw_frame(&svg, &panel, problems[k].title);
        draw_curves(&svg, &panel, curves[k]);
    }
    return cli_svg_close(&svg);
}

CliStatus cli_demo_convergence(CliDemo *demo) {
    Curve(*curves)[SOLVERS] = calloc(PANELS, sizeof *curves);
    if (curves == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    CliStatus status = CLI_FINE;
    for (int k = 0; k < PANELS && status == CLI_FINE; k++) {
        status = solve_panel(k, curves[k]);
    }
    if (status == CLI_FINE) {
        (void)snprintf(demo->caption, sizeof demo->caption,
                       "residuals against time: the default solver and its named rivals");
        status = draw(demo, curves);
    }
    free(curves);
    return status;
}
