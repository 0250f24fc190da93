// demo_law.c - what exact friction means: the cone, and a pyramid in its place.
//
// The same problem, solved twice: with the cone, and with the cone replaced by a pyramid, as many
// codes do. Each contact is a point r_T / (mu r_N): inside of the unit circle it sticks, on it it
// slides. A stroke points where friction should push, against the sliding: with the cone always
// straight out; with the pyramid most contacts slide at its corners, whatever their direction.
#include "demo.h"
#include "svg.h"

#include "filum/generate.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1180, HEIGHT = 720, FACETS = 8, CONTACTS = 500 };

static const double PI = 3.14159265358979323846;
static const double RADIUS = 215.0, MIDDLE = 400.0;

typedef struct Answer {
    double r[3 * CONTACTS], u[3 * CONTACTS];
    FilFrictionInfo info;
    double impulse, speed; // sizes that count as nothing
    double worst;          // angle between friction and what opposes the sliding, degrees
    int count[3];          // by regime
} Answer;

static void measure(Answer *x, const double *mu) {
    double most_r = 0.0, most_u = 0.0;
    for (int k = 0; k < 3 * CONTACTS; k++) {
        most_r = fmax(most_r, fabs(x->r[k]));
        most_u = fmax(most_u, fabs(x->u[k]));
    }
    x->impulse = 1e-6 * most_r;
    x->speed = 1e-5 * most_u;
    for (int i = 0; i < CONTACTS; i++) {
        const double *r = x->r + (ptrdiff_t)3 * i, *u = x->u + (ptrdiff_t)3 * i;
        const CliRegime regime = cli_regime(mu[i], r, u, x->impulse, x->speed);
        x->count[regime]++;
        if (regime == CLI_SLIDE) {
            const double turn = atan2(r[1] * -u[2] - r[2] * -u[1], -r[1] * u[1] - r[2] * u[2]);
            x->worst = fmax(x->worst, fabs(turn) * 180.0 / PI);
        }
    }
}

static CliStatus solve(const FilFrictionProblem *problem, FilFrictionSolver solver, Answer *x) {
    FilFrictionSettings settings = fil_friction_settings_default();
    FilFrictionSolution solution = {.r = x->r, .u = x->u};
    FilError error = {0};
    settings.solver = solver;
    settings.facet_count = FACETS;
    settings.tolerance = solver == FIL_SOLVER_AUTO ? 1e-9 : 1e-6;
    if (fil_friction_solve(problem, &settings, NULL, &solution, &x->info, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    measure(x, problem->mu);
    return CLI_FINE;
}

static void draw_contact(CliSvg *svg, double middle, double mu, const Answer *x, int i) {
    const double *r = x->r + (ptrdiff_t)3 * i, *u = x->u + (ptrdiff_t)3 * i;
    const CliRegime regime = cli_regime(mu, r, u, x->impulse, x->speed);
    if (regime == CLI_OPEN) {
        return;
    }
    const double px = middle + RADIUS * r[1] / (mu * r[0]);
    const double py = MIDDLE - RADIUS * r[2] / (mu * r[0]);
    if (regime == CLI_SLIDE) {
        const double speed = hypot(u[1], u[2]), length = 26.0;
        cli_svg_line(svg, "way", px, py, px - length * u[1] / speed, py + length * u[2] / speed);
    }
    cli_svg_circle(svg, regime == CLI_SLIDE ? "slide" : "stick", px, py, 4.0);
}

static void draw_disc(CliSvg *svg, double middle, const FilFrictionProblem *problem,
                      const Answer *x, int facets) {
    cli_svg_circle(svg, "disc", middle, MIDDLE, RADIUS);
    cli_svg_line(svg, "grid", middle - RADIUS, MIDDLE, middle + RADIUS, MIDDLE);
    cli_svg_line(svg, "grid", middle, MIDDLE - RADIUS, middle, MIDDLE + RADIUS);
    if (facets > 0) {
        CliPath path = {.used = 0};
        for (int k = 0; k <= facets; k++) {
            const double angle = 2.0 * PI * k / facets;
            const double px = middle + RADIUS * cos(angle), py = MIDDLE - RADIUS * sin(angle);
            if (k == 0) {
                cli_path_move(&path, px, py);
            } else {
                cli_path_line(&path, px, py);
            }
        }
        cli_svg_path(svg, "pyramid", &path);
    }
    for (int i = 0; i < problem->block_count; i++) {
        draw_contact(svg, middle, problem->mu[i], x, i);
    }
}

static void draw_words(CliSvg *svg, double middle, const char *what, const Answer *x) {
    cli_svg_text(svg, "strong middle", middle, MIDDLE - RADIUS - 46, "%s", what);
    cli_svg_text(svg, "middle", middle, MIDDLE + RADIUS + 62,
                 x->worst < 0.01 ? "friction opposes sliding to %.0e\u00b0"
                                 : "friction is up to %.1f\u00b0 off",
                 x->worst);
    cli_svg_text(svg, "small middle", middle, MIDDLE + RADIUS + 86,
                 "%d stick, %d slide, %d are open; residual %.0e", x->count[CLI_STICK],
                 x->count[CLI_SLIDE], x->count[CLI_OPEN], x->info.residual.scaled);
}

static const char style[] =
    ".disc{fill:#f3f1ea;stroke:#9aa5b1;stroke-width:1.2}.pyramid{stroke:#9aa5b1;stroke-width:1.2}"
    ".stick{fill:#3c78b0;stroke:#fff;stroke-width:.8}"
    ".slide{fill:#d7263d;stroke:#fff;stroke-width:.8}.way{stroke:#d7263d;stroke-width:1.3}";

static const CliSheet picture = {
    .name = "law.svg",
    .width = WIDTH,
    .height = HEIGHT,
    .title = "What exact friction means",
    .text = "Two discs with a point for every contact: with Coulomb's cone sliding contacts lie "
            "all around the circle, with a pyramid they lie at its corners.",
    .style = style};

static CliStatus draw(const CliDemo *demo, const FilFrictionProblem *problem, const Answer *exact,
                      const Answer *faceted) {
    CliSvg svg;
    const CliStatus status = cli_svg_open(&svg, &picture, demo->folder, demo->force);
    if (status != CLI_FINE) {
        return status;
    }
    const double left = 0.27 * WIDTH, right = 0.73 * WIDTH;
    cli_svg_text(&svg, "title", 60, 60, "%s", picture.title);
    cli_svg_text(
        &svg, "subtitle", 60, 88,
        "The friction of %d contacts between fibres, divided by its limit. A stroke points "
        "against the sliding.",
        problem->block_count);
    draw_disc(&svg, left, problem, exact, 0);
    draw_disc(&svg, right, problem, faceted, FACETS);
    draw_words(&svg, left, "Coulomb's cone (auto)", exact);
    draw_words(&svg, right, "a pyramid of eight facets (linearised)", faceted);
    return cli_svg_close(&svg);
}

CliStatus cli_demo_law(CliDemo *demo) {
    FilGenerateDef def = fil_generate_def_default(FIL_GENERATE_FIBRES);
    FilGenerated *made = NULL;
    FilError error = {0};
    def.contact_count = CONTACTS;
    def.stretch = 10.0; // soft, so that the sweeps of the comparator come to an end
    def.conditioning = 0.3;
    Answer *answers = calloc(2, sizeof *answers);
    if (answers == NULL || fil_generate(&def, NULL, &made, &error) != FIL_OK) {
        cli_say("%s", answers == NULL ? "there is not enough memory" : error.text);
        free(answers);
        return CLI_BAD_FILE;
    }
    CliStatus status = solve(&made->problem, FIL_SOLVER_AUTO, &answers[0]);
    if (status == CLI_FINE) {
        status = solve(&made->problem, FIL_SOLVER_LINEARISED, &answers[1]);
    }
    if (status == CLI_FINE) {
        status = draw(demo, &made->problem, &answers[0], &answers[1]);
        (void)snprintf(demo->caption, sizeof demo->caption,
                       "the cone, and a pyramid in its place: friction is up to %.1f degrees off",
                       answers[1].worst);
    }
    fil_generated_destroy(made);
    free(answers);
    return status;
}
