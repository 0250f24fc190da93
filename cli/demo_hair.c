// demo_hair.c - hair in motion: the scene wavy-hair, run on the spot and drawn at four times.
//
// Seen from behind and from one side, without perspective: with a the angle of the camera, a place
// is drawn at (x sin a + y cos a, z), and what has the larger x cos a - y sin a is farther away.
// Strands are drawn from far to near, with the head between those behind it and those before it.
#include "demo.h"
#include "svg.h"
#include "templates.h"

#include "filum/filum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1180, HEIGHT = 500, PANELS = 4, SAMPLES = 90 };

static const char scene_name[] = "wavy-hair";
static const double times[PANELS] = {0.66, 1.1, 1.54, 3.0}; // s
static const double SCALE = 620.0;                          // pixels per metre
static const double MIDDLE = 1.47;                          // m: height of the middle of a panel
static const double ANGLE = 0.5;                            // rad

static const char style[] = "path{fill:none;stroke-linejoin:round;stroke-linecap:round}"
                            ".head{fill:#d8c3ae}.body{stroke:#cdb69f}"
                            ".shade{stroke:#1d120b;stroke-width:4.4;opacity:.6}"
                            ".hair0{stroke:#8a4b21;stroke-width:3}.hair1{stroke:#9c5a2a;"
                            "stroke-width:3}.hair2{stroke:#7a3f1a;stroke-width:3}"
                            ".shine{stroke:#e2b07f;stroke-width:.7}";

static const CliSheet picture = {
    .name = "hair.svg",
    .width = WIDTH,
    .height = HEIGHT,
    .title = "Hair in motion",
    .text = "The same head of wavy hair, seen from behind, at rest, turned to one side, to the "
            "other side, and at rest again.",
    .style = style};

// A strand to be drawn.
typedef struct Strand {
    const FilRod *rod;
    int number;
    double depth; // m, of its middle
} Strand;

typedef struct Show {
    CliSvg svg;
    FilScene *scene;
    FilStage *stage;
    Strand *strands; // [rods]
    int unconverged, steps, contacts;
    double residual;
} Show;

static double depth_of(const double p[3]) {
    return p[0] * cos(ANGLE) - p[1] * sin(ANGLE);
}

static double across(int panel, const double p[3]) {
    return WIDTH * (panel + 0.5) / PANELS + SCALE * (p[0] * sin(ANGLE) + p[1] * cos(ANGLE));
}

static double down(const double p[3]) {
    return 0.5 * HEIGHT + 36.0 - SCALE * (p[2] - MIDDLE);
}

// --- what is drawn -------------------------------------------------------------------------------

static void draw_solid(Show *show, int panel, int k) {
    const FilShape *shape = &show->scene->obstacles[k].shape;
    FilPose pose;
    fil_world_obstacle_at(fil_stage_world(show->stage), k, &pose, NULL);
    if (shape->kind == FIL_SHAPE_SPHERE) {
        cli_svg_circle(&show->svg, "head", across(panel, pose.position), down(pose.position),
                       SCALE * shape->radius);
        return;
    }
    double ends[2][3];
    for (int c = 0; c < 3; c++) {
        ends[0][c] = pose.position[c] - 0.5 * shape->length * pose.axis[0][c];
        ends[1][c] = pose.position[c] + 0.5 * shape->length * pose.axis[0][c];
    }
    CliPath path = {.used = 0};
    char looks[64];
    cli_path_move(&path, across(panel, ends[0]), down(ends[0]));
    cli_path_line(&path, across(panel, ends[1]), down(ends[1]));
    (void)snprintf(looks, sizeof looks, "body\" stroke-width=\"%.1f", 2.0 * SCALE * shape->radius);
    cli_svg_path(&show->svg, looks, &path);
}

static void draw_strand(Show *show, int panel, const Strand *strand) {
    CliPath path = {.used = 0};
    char looks[64];
    for (int k = 0; k <= SAMPLES; k++) {
        FilPose pose;
        fil_rod_at(strand->rod, fil_rod_length(strand->rod) * k / SAMPLES, &pose, NULL);
        double x = across(panel, pose.position), y = down(pose.position);
        if (k == 0) {
            cli_path_move(&path, x, y);
        } else {
            cli_path_line(&path, x, y);
        }
    }
    (void)snprintf(looks, sizeof looks, "shade hair%d shine", strand->number % 3);
    cli_svg_strokes(&show->svg, looks, &path);
}

static int compare_strands(const void *a, const void *b) {
    const Strand *x = a, *y = b;
    int order = (x->depth < y->depth) - (x->depth > y->depth);
    return order != 0 ? order : x->number - y->number;
}

static void draw_panel(Show *show, int panel) {
    FilWorld *world = fil_stage_world(show->stage);
    const int count = fil_world_rod_count(world), solids = show->scene->obstacle_count;
    for (int i = 0; i < count; i++) {
        FilPose middle;
        const FilRod *rod = fil_world_rod(world, i);
        fil_rod_at(rod, 0.4 * fil_rod_length(rod), &middle, NULL);
        show->strands[i] = (Strand){rod, i, depth_of(middle.position)};
    }
    qsort(show->strands, (size_t)count, sizeof *show->strands, compare_strands);
    int at = 0;
    for (; at < count && show->strands[at].depth > 0.0; at++) {
        draw_strand(show, panel, &show->strands[at]);
    }
    for (int k = solids - 1; k >= 0; k--) {
        draw_solid(show, panel, k);
    }
    for (; at < count; at++) {
        draw_strand(show, panel, &show->strands[at]);
    }
    cli_svg_text(&show->svg, "middle", WIDTH * (panel + 0.5) / PANELS, HEIGHT - 24, "%.2f s",
                 fil_world_time(world));
}

// --- the scene -----------------------------------------------------------------------------------

static FilStatus open_scene(Show *show, FilError *error) {
    const CliTemplate *from = cli_template_find(scene_name);
    const FilSceneOptions options = {0};
    FilStatus status = from == NULL ? FIL_E_ARGUMENT
                                    : fil_scene_read_text(scene_name, from->text, from->size,
                                                          &options, NULL, &show->scene, error);
    if (status == FIL_OK) {
        status = fil_stage_create(show->scene, 0, NULL, NULL, &show->stage, error);
    }
    return status;
}

static FilStatus run_until(Show *show, double time, FilError *error) {
    const FilWorld *world = fil_stage_world(show->stage);
    FilStatus status = FIL_OK;
    while (status == FIL_OK && fil_world_time(world) < time && !cli_is_interrupted()) {
        FilStepInfo info;
        status = fil_stage_step(show->stage, &info, error);
        if (status == FIL_OK) {
            show->steps++;
            show->unconverged += info.outcome != FIL_CONVERGED;
            show->residual = fmax(show->residual, info.residual.scaled);
            show->contacts =
                info.contact_count > show->contacts ? info.contact_count : show->contacts;
        }
    }
    return status;
}

static CliStatus draw(Show *show) {
    FilError error = {0};
    FilStatus status = open_scene(show, &error);
    cli_svg_text(&show->svg, "title", 60, 56, "%s", picture.title);
    cli_svg_text(&show->svg, "subtitle", 60, 84,
                 "84 wisps of 8 super-helices on a head that turns, in exact friction with it, the "
                 "shoulders and each other.");
    if (status == FIL_OK) {
        const size_t count = (size_t)fil_world_rod_count(fil_stage_world(show->stage));
        show->strands = malloc((count + 1) * sizeof *show->strands);
        status = show->strands == NULL ? FIL_E_NO_MEMORY : FIL_OK;
    }
    for (int panel = 0; status == FIL_OK && panel < PANELS; panel++) {
        status = run_until(show, times[panel], &error);
        if (status == FIL_OK) {
            draw_panel(show, panel);
        }
    }
    if (status != FIL_OK) {
        cli_say("%s: %s", scene_name, error.text[0] != '\0' ? error.text : "cannot be shown");
        return CLI_NOT_ACCEPTABLE;
    }
    return show->unconverged == 0 ? CLI_FINE : CLI_NOT_ACCEPTABLE;
}

CliStatus cli_demo_hair(CliDemo *demo) {
    Show show = {0};
    CliStatus status = cli_svg_open(&show.svg, &picture, demo->folder, demo->force);
    if (status != CLI_FINE) {
        return status;
    }
    status = draw(&show);
    const CliStatus closed = cli_svg_close(&show.svg);
    (void)snprintf(demo->caption, sizeof demo->caption,
                   "hair in motion, %d steps with up to %d contacts, residual at most %.0e",
                   show.steps, show.contacts, show.residual);
    free(show.strands);
    fil_stage_destroy(show.stage);
    fil_scene_destroy(show.scene);
    return status != CLI_FINE ? status : closed;
}
