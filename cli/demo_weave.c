// demo_weave.c - a yarn is pulled out of a woven cloth: one static step with friction.
//
// The cloth. A plain weave of WARPS yarns along y and WEFTS yarns along x, at distance 1, with
// nodes at the crossings and half way between them. Yarns wave by their radius, so that they touch
// where they cross. All ends are held, except those of the middle weft: its tail carries the
// weight that stretches every yarn, its head is pulled by a force besides.
//
// The step. Displacements v of the nodes solve, yarn by yarn,
//
//     A v = f + H r,    A = sum over segments of k/l t t^T + T/l (I - t t^T) + bending + a little
//     mass,
//
// t the direction of a segment, k its stretching stiffness and T its tension: the string carries
// loads across it by its tension. f holds the kinks T (t_next - t_last) that press the yarns on
// each other, and the pull. Contacts obey Coulomb's law for the displacements of the step.
//
// What to look for. The yarn slides near its ends and sticks between them. Pulled straight, it
// presses more on what it crosses, which tightens the whole cloth: normal forces grow everywhere,
// most of all towards the head. Displacements are drawn as they are.
#include "demo.h"
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARPS = 17,
    WEFTS = 11,
    PULLED = WEFTS / 2, // which weft
    CONTACTS = WARPS * WEFTS,
    YARNS = WARPS + WEFTS,
    NODES_MAX = 2 * WARPS + 1,
    YARN_MAX = 3 * NODES_MAX,
    NODES = WARPS * (2 * WEFTS + 1) + WEFTS * (2 * WARPS + 1),
    BAND = 3 * 5, // most entries in a column of A
};

static const double RADIUS = 0.2;     // of yarns, and of their waves
static const double TENSION = 1.0;    // of every yarn
static const double STRETCH = 4000.0; // EA
static const double BENDING = 0.08;   // EI
static const double HOLD = 1e5;       // stiffness of the clamps
static const double MASS = 1e-3;
static const double FRICTION = 0.2;
static const double PULL = 4.5;

typedef struct Weave {
    double node[NODES][3];
    int start[YARNS + 1]; // first node of a yarn: warps, then wefts
    // the problem, global form
    int A_start[3 * NODES + 1], A_index[3 * NODES * BAND];
    double A_value[3 * NODES * BAND];
    int H_start[3 * CONTACTS + 1], H_index[6 * CONTACTS];
    double H_value[6 * CONTACTS];
    double f[3 * NODES], w[3 * CONTACTS], mu[CONTACTS];
    // what came of it
    double r[3 * CONTACTS], u[3 * CONTACTS], v[3 * NODES];
    FilFrictionInfo info;
} Weave;

static bool is_warp(int yarn) {
    return yarn < WARPS;
}

static int crossings_of(int yarn) {
    return is_warp(yarn) ? WEFTS : WARPS;
}

// Contact of a yarn at its k-th crossing: warp i and weft j meet in contact i * WEFTS + j.
static int contact_at(int yarn, int k) {
    return is_warp(yarn) ? yarn * WEFTS + k : k * WEFTS + yarn - WARPS;
}

static bool warp_is_above(int contact) {
    return (contact / WEFTS + contact % WEFTS) % 2 == 0;
}

static bool is_above(int yarn, int k) {
    return warp_is_above(contact_at(yarn, k)) == is_warp(yarn);
}

// Node of a yarn at its k-th crossing; the nodes before and after it are half way to the next.
static int node_at(const Weave *x, int yarn, int k) {
    return x->start[yarn] + 2 * k + 1;
}

// --- the problem ---------------------------------------------------------------------------------

static void place_nodes(Weave *x) {
    x->start[0] = 0;
    for (int yarn = 0; yarn < YARNS; yarn++) {
        const int along = is_warp(yarn) ? 1 : 0, line = is_warp(yarn) ? yarn : yarn - WARPS;
        x->start[yarn + 1] = x->start[yarn] + 2 * crossings_of(yarn) + 1;
        for (int k = 0; k <= 2 * crossings_of(yarn); k++) {
            double *p = x->node[x->start[yarn] + k];
            p[along] = 0.5 * (k - 1);
            p[1 - along] = line;
            p[2] = k % 2 == 0 ? 0.0 : is_above(yarn, k / 2) ? RADIUS : -RADIUS;
        }
    }
}

// Direction of the segment from a node to the next, and its length.
static double find_direction(const Weave *x, int node, double t[3]) {
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        t[k] = x->node[node + 1][k] - x->node[node][k];
        square += t[k] * t[k];
    }
    const double length = sqrt(square);
    for (int k = 0; k < 3; k++) {
        t[k] /= length;
    }
    return length;
}

static void add_segment(const Weave *x, int node, double *A, int m, int at) {
    double t[3];
    const double length = find_direction(x, node, t);
    for (int k = 0; k < 36; k++) {
        const int row = k / 6, column = k % 6;
        const double sign = row / 3 == column / 3 ? 1.0 : -1.0;
        const double same = row % 3 == column % 3 ? TENSION : 0.0;
        const double value = same + (STRETCH - TENSION) * t[row % 3] * t[column % 3];
        A[m * (at + row) + at + column] += sign * value / length;
    }
}

static void add_bend(double *A, int m, int at) {
    static const double bend[] = {1.0, -2.0, 1.0};
    for (int k = 0; k < 27; k++) {
        const int row = k / 9, column = k / 3 % 3, axis = k % 3;
        A[m * (at + 3 * row + axis) + at + 3 * column + axis] +=
            BENDING * bend[row] * bend[column] / (0.5 * 0.5 * 0.5);
    }
}

// A of one yarn, dense, and its part of f.
static void make_yarn(Weave *x, int yarn, double *A) {
    const int first = x->start[yarn], count = x->start[yarn + 1] - first, m = 3 * count;
    const bool pulled = yarn == WARPS + PULLED;
    double *f = x->f + (ptrdiff_t)3 * first;
    memset(A, 0, (size_t)(m * m) * sizeof *A);
    for (int k = 0; k < m; k++) {
        const bool held = !pulled && (k < 3 || k >= m - 3);
        A[(m + 1) * k] = held ? HOLD : MASS;
    }
    for (int k = 0; k + 1 < count; k++) {
        double t[3];
        (void)find_direction(x, first + k, t);
        add_segment(x, first + k, A, m, 3 * k);
        for (int axis = 0; axis < 3; axis++) { // where a yarn ends, a clamp or a weight takes it
            f[3 * k + axis] += k > 0 ? TENSION * t[axis] : 0.0;
            f[3 * (k + 1) + axis] -= k + 2 < count ? TENSION * t[axis] : 0.0;
        }
        if (k + 2 < count) {
            add_bend(A, m, 3 * k);
        }
    }
    f[m - 3] += pulled ? PULL : 0.0;
}

// A column of A, which is symmetric, given as a row of m; `first` is the yarn's first unknown.
static void append_column(Weave *x, int column, int first, int m, const double *entries) {
    int at = x->A_start[column];
    for (int k = 0; k < m; k++) {
        if (entries[k] != 0.0) {
            x->A_index[at] = first + k;
            x->A_value[at++] = entries[k];
        }
    }
    x->A_start[column + 1] = at;
}

static void make_matrix(Weave *x, double *A) {
    for (int yarn = 0; yarn < YARNS; yarn++) {
        const int first = 3 * x->start[yarn], m = 3 * x->start[yarn + 1] - first;
        make_yarn(x, yarn, A);
        for (int k = 0; k < m; k++) {
            append_column(x, first + k, first, m, A + (ptrdiff_t)m * k);
        }
    }
}

// The frame of a contact is (z, x, y); its velocity is that of the upper yarn seen from the lower.
static void make_contacts(Weave *x) {
    static const int axis[3] = {2, 0, 1};
    for (int c = 0; c < CONTACTS; c++) {
        const int warp = node_at(x, c / WEFTS, c % WEFTS);
        const int weft = node_at(x, WARPS + c % WEFTS, c / WEFTS);
        const double sign = warp_is_above(c) ? 1.0 : -1.0;
        x->mu[c] = FRICTION;
        for (int k = 0; k < 3; k++) {
            const int at = 2 * (3 * c + k);
            x->H_start[3 * c + k] = at;
            x->H_index[at] = 3 * warp + axis[k]; // warps come first
            x->H_value[at] = sign;
            x->H_index[at + 1] = 3 * weft + axis[k];
            x->H_value[at + 1] = -sign;
        }
    }
    x->H_start[3 * CONTACTS] = 6 * CONTACTS;
}

static CliStatus solve(Weave *x) {
    double *A = malloc(sizeof(double) * YARN_MAX * YARN_MAX);
    if (A == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    place_nodes(x);
    make_matrix(x, A);
    make_contacts(x);
    free(A);
    const FilFrictionProblem problem = {
        .block_count = CONTACTS,
        .block_size = 3,
        .mu = x->mu,
        .dof_count = 3 * NODES,
        .form = FIL_FORM_GLOBAL,
        .global = {.M = {3 * NODES, 3 * NODES, x->A_start, x->A_index, x->A_value},
                   .H = {3 * NODES, 3 * CONTACTS, x->H_start, x->H_index, x->H_value},
                   .f = x->f,
                   .w = x->w}};
    FilFrictionSettings settings = fil_friction_settings_default();
    FilFrictionSolution solution = {.r = x->r, .u = x->u, .v = x->v};
    FilError error = {0};
    settings.tolerance = 1e-10;
    if (fil_friction_solve(&problem, &settings, NULL, &solution, &x->info, &error) != FIL_OK) {
        cli_say("%s", error.text);
        return CLI_BAD_FILE;
    }
    return x->info.outcome == FIL_CONVERGED ? CLI_FINE : CLI_NOT_ACCEPTABLE;
}

// --- the picture ---------------------------------------------------------------------------------

enum { WIDTH = 1280, HEIGHT = 800 };

static const double SCALE = 56.0;       // pixels by unit
static const double FORCE_LENGTH = 2.0; // units of length by units of force
static const double CENTRE[2] = {610.0, 410.0};

// Seen from the front and above, turned a little: no perspective.
static void project(const double p[3], double out[2]) {
    const double turn = 0.33, tilt = 0.84;
    const double x = p[0] - 0.5 * (WARPS - 1), y = p[1] - 0.5 * (WEFTS - 1);
    const double across = cos(turn) * x - sin(turn) * y, away = sin(turn) * x + cos(turn) * y;
    out[0] = CENTRE[0] + SCALE * across;
    out[1] = CENTRE[1] - SCALE * (sin(tilt) * away + cos(tilt) * p[2]);
}

// Where a node is drawn. A yarn that slides runs through the cloth: it bends where it crosses the
// others, not where its own nodes have gone.
static void find_place(const Weave *x, int yarn, int node, double out[3]) {
    const int k = node - x->start[yarn], along = is_warp(yarn) ? 1 : 0;
    if (k % 2 == 1) {
        const int other = is_warp(yarn) ? WARPS + k / 2 : k / 2;
        const int across = node_at(x, other, is_warp(yarn) ? yarn : yarn - WARPS);
        for (int axis = 0; axis < 3; axis++) {
            const int mover = axis == along ? across : node;
            out[axis] = x->node[mover][axis] + x->v[3 * mover + axis];
        }
    } else if (k == 0 || k == 2 * crossings_of(yarn)) {
        for (int axis = 0; axis < 3; axis++) {
            out[axis] = x->node[node][axis] + x->v[3 * node + axis];
        }
    } else {
        double before[3], after[3];
        find_place(x, yarn, node - 1, before);
        find_place(x, yarn, node + 1, after);
        for (int axis = 0; axis < 3; axis++) {
            out[axis] = 0.5 * (before[axis] + after[axis]);
        }
    }
}

// Half the difference of the neighbours, as Catmull and Rom draw curves; waves are a bit rounder.
static void find_tangent(const Weave *x, int yarn, int node, double out[3]) {
    const int first = x->start[yarn], last = x->start[yarn + 1] - 1;
    double a[3], b[3];
    find_place(x, yarn, node > first ? node - 1 : node, a);
    find_place(x, yarn, node < last ? node + 1 : node, b);
    for (int k = 0; k < 3; k++) {
        out[k] = (node > first && node < last ? 0.5 : 1.0) * (b[k] - a[k]) * (k == 2 ? 1.3 : 1.0);
    }
}

static void add_curve(const Weave *x, int yarn, int node, double rise, CliPath *path) {
    double p[4][3], s[4][2], t[3];
    find_place(x, yarn, node, p[0]);
    find_place(x, yarn, node + 1, p[3]);
    find_tangent(x, yarn, node, t);
    for (int k = 0; k < 3; k++) {
        p[1][k] = p[0][k] + t[k] / 3.0;
    }
    find_tangent(x, yarn, node + 1, t);
    for (int k = 0; k < 3; k++) {
        p[2][k] = p[3][k] - t[k] / 3.0;
    }
    for (int k = 0; k < 4; k++) {
        project(p[k], s[k]);
        s[k][1] -= rise;
    }
    if (path->used == 0) {
        cli_path_move(path, s[0][0], s[0][1]);
    }
    cli_path_curve(path, (const double[]){s[1][0], s[1][1], s[2][0], s[2][1]}, s[3][0], s[3][1]);
}

// An arc of a yarn: from half way before a crossing to half way after it.
typedef struct Arc {
    int yarn, crossing;
    double depth; // what is drawn first is less
} Arc;

static int compare_arcs(const void *a, const void *b) {
    const double x = ((const Arc *)a)->depth, y = ((const Arc *)b)->depth;
    return (x > y) - (x < y);
}

static void draw_arc(CliSvg *svg, const Weave *x, const Arc *arc, CliPath *path) {
    static const char *const strokes[3] = {"wo wb", "fo fb", "po pb"};
    static const char *const lights[3] = {"wh", "fh", "ph"};
    const int node = node_at(x, arc->yarn, arc->crossing) - 1;
    const int kind = is_warp(arc->yarn) ? 0 : arc->yarn == WARPS + PULLED ? 2 : 1;
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 0 && !is_above(arc->yarn, arc->crossing)) {
            continue; // only what lies above casts a shadow
        }
        const double rise = pass == 0 ? -5.0 : pass == 1 ? 0.0 : 4.0;
        add_curve(x, arc->yarn, node, rise, path);
        add_curve(x, arc->yarn, node + 1, rise, path);
        cli_svg_strokes(svg, pass == 0 ? "sh" : pass == 1 ? strokes[kind] : lights[kind], path);
    }
}

static void draw_yarns(CliSvg *svg, const Weave *x, CliPath *path) {
    Arc arcs[2 * CONTACTS];
    int count = 0;
    for (int yarn = 0; yarn < YARNS; yarn++) {
        for (int k = 0; k < crossings_of(yarn); k++) {
            double p[3], s[2];
            find_place(x, yarn, node_at(x, yarn, k), p);
            project(p, s);
            arcs[count++] = (Arc){yarn, k, s[1] + (is_above(yarn, k) ? 1e6 : 0.0)};
        }
    }
    qsort(arcs, (size_t)count, sizeof *arcs, compare_arcs);
    for (int k = 0; k < count; k++) {
        draw_arc(svg, x, &arcs[k], path);
    }
}

static void draw_arrow(CliSvg *svg, const char *class_name, const double from[2],
                       const double to[2], double head) {
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy);
    const double ex = dx / length, ey = dy / length, size = fmin(head, 0.6 * length);
    CliPath path = {.used = 0};
    cli_path_move(&path, from[0], from[1]);
    cli_path_line(&path, to[0] - 0.6 * size * ex, to[1] - 0.6 * size * ey);
    cli_svg_path(svg, class_name, &path);
    cli_path_move(&path, to[0] - size * ex - 0.45 * size * ey,
                  to[1] - size * ey + 0.45 * size * ex);
    cli_path_line(&path, to[0], to[1]);
    cli_path_line(&path, to[0] - size * ex + 0.45 * size * ey,
                  to[1] - size * ey - 0.45 * size * ex);
    (void)fprintf(svg->file, "<path class=\"%s-head\" d=\"%sZ\"/>\n", class_name, path.text);
}

static double mobilised(const Weave *x, int c) { // friction by its limit
    const double *r = x->r + (ptrdiff_t)3 * c, limit = x->mu[c] * r[0];
    return limit > 0.0 ? hypot(r[1], r[2]) / limit : 0.0;
}

// Eleven shades from "no friction" to "nearly slides", then one for "slides".
static void name_shade(const Weave *x, int c, char out[8]) {
    const double *r = x->r + (ptrdiff_t)3 * c, *u = x->u + (ptrdiff_t)3 * c;
    switch (cli_regime(x->mu[c], r, u, 1e-6, 1e-7)) {
    case CLI_OPEN:
        (void)snprintf(out, 8, "open");
        break;
    case CLI_SLIDE:
        (void)snprintf(out, 8, "slide");
        break;
    default:
        (void)snprintf(out, 8, "m%d", (int)(10.0 * fmin(mobilised(x, c), 1.0)));
    }
}

static double disc_radius(double normal) {
    return 5.8 * sqrt(normal);
}

// Discs on the upper yarns, and what friction does to the warps.
static void draw_contacts(CliSvg *svg, const Weave *x) {
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < CONTACTS; c++) {
            const double *r = x->r + (ptrdiff_t)3 * c;
            const bool above = warp_is_above(c);
            const int warp = c / WEFTS, weft = WARPS + c % WEFTS;
            double p[3], s[2], t[2];
            find_place(x, above ? warp : weft,
                       above ? node_at(x, warp, weft - WARPS) : node_at(x, weft, warp), p);
            p[2] += RADIUS;
            project(p, s);
            if (pass == 0) {
                char shade[8], class_name[20];
                name_shade(x, c, shade);
                (void)snprintf(class_name, sizeof class_name, "c %s", shade);
                cli_svg_circle(svg, class_name, s[0], s[1], disc_radius(r[0]));
            } else if (hypot(r[1], r[2]) > 0.05) {
                const double sign = above ? 1.0 : -1.0; // r acts on the upper one
                p[0] += FORCE_LENGTH * sign * r[1];
                p[1] += FORCE_LENGTH * sign * r[2];
                project(p, t);
                draw_arrow(svg, "fr", s, t, 8.0);
            }
        }
    }
}

// The head of the pulled yarn, longer than the model's, and its force.
static void draw_pull(CliSvg *svg, const Weave *x, CliPath *path) {
    const int head = x->start[WARPS + PULLED + 1] - 1;
    double p[3], s[2], t[2];
    find_place(x, WARPS + PULLED, head, p);
    project(p, s);
    p[0] += 0.75;
    project(p, t);
    for (int pass = 0; pass < 2; pass++) {
        const double rise = pass == 0 ? 0.0 : 4.0;
        cli_path_move(path, s[0], s[1] - rise);
        cli_path_line(path, t[0], t[1] - rise);
        cli_svg_strokes(svg, pass == 0 ? "po pb" : "ph", path);
    }
    p[0] += 0.25;
    project(p, s);
    p[0] += 1.6;
    project(p, t);
    draw_arrow(svg, "pull", s, t, 20.0);
    cli_svg_text(svg, "strong", t[0] - 26, t[1] + 34, "pull");
}

static void draw_legend(CliSvg *svg) {
    static const double sizes[] = {1.0, 2.0, 3.0};
    const double x = 885, y = 640;
    cli_svg_text(svg, "", x, y, "friction / its limit");
    for (int k = 0; k < 10; k++) {
        char class_name[8];
        (void)snprintf(class_name, sizeof class_name, "m%d", k);
        cli_svg_rectangle(svg, class_name, x + 150 + 13.0 * k, y - 12, 13.5, 14);
    }
    cli_svg_rectangle(svg, "slide", x + 288, y - 12, 30, 14);
    cli_svg_text(svg, "small", x + 150, y + 18, "0");
    cli_svg_text(svg, "small middle", x + 215, y + 18, "sticks");
    cli_svg_text(svg, "small middle", x + 303, y + 18, "slides");
    cli_svg_text(svg, "", x, y + 58, "normal force");
    for (int k = 0; k < 3; k++) {
        cli_svg_circle(svg, "c m4", x + 162 + 60.0 * k, y + 53, disc_radius(sizes[k]));
        cli_svg_text(svg, "small", x + 178 + 60.0 * k, y + 58, "%g", sizes[k]);
    }
    cli_svg_text(svg, "", x, y + 98, "friction on the warp");
    draw_arrow(svg, "fr", (const double[]){x + 160, y + 93},
               (const double[]){x + 160 + 0.3 * FORCE_LENGTH * SCALE, y + 93}, 8.0);
    cli_svg_text(svg, "small", x + 172 + 0.3 * FORCE_LENGTH * SCALE, y + 98, "0.3");
    cli_svg_text(svg, "small", x, y + 130,
                 "Forces in units of the tension that stretches every yarn.");
}

static const char style[] =
    "path{stroke-linecap:round;stroke-linejoin:round}"
    ".sh{stroke:#3b3221;stroke-opacity:.24;stroke-width:24}"
    ".wo,.fo,.po{stroke-width:24.5;stroke-linecap:butt}"
    ".wb,.fb,.pb{stroke-width:22.4}.wh,.fh,.ph{stroke-width:7;stroke-opacity:.75}"
    ".wo{stroke:#8d8067}.wb{stroke:#e3d8c1}.wh{stroke:#f4ede0}"
    ".fo{stroke:#75808c}.fb{stroke:#c9d1d8}.fh{stroke:#e7ecef}"
    ".po{stroke:#8a6410}.pb{stroke:#f0b93a}.ph{stroke:#fbdf95}"
    ".c{stroke:#fff;stroke-width:1}.open{fill:#fff;stroke:#75808c}.slide{fill:#d7263d}"
    ".m0{fill:#f1f5f9}.m1{fill:#dde8f2}.m2{fill:#c6daeb}.m3{fill:#accae2}.m4{fill:#8fb8d8}"
    ".m5{fill:#72a5cd}.m6{fill:#568fc0}.m7{fill:#3c78b0}.m8{fill:#27619c}.m9,.m10{fill:#154a84}"
    ".fr{stroke:#1f2933;stroke-width:2}.fr-head{fill:#1f2933}"
    ".pull{stroke:#8a6410;stroke-width:6}.pull-head{fill:#8a6410}";

static const CliSheet picture = {
    .name = "weave.svg",
    .width = WIDTH,
    .height = HEIGHT,
    .title = "A yarn is pulled out of a cloth",
    .text = "A plain weave seen from above at an angle. Discs on the crossings show normal "
            "forces and how far friction is used up.",
    .style = style};

static void draw(CliSvg *svg, const Weave *x, int slides) {
    CliPath *path = calloc(1, sizeof *path);
    if (path == NULL) {
        return;
    }
    draw_yarns(svg, x, path);
    draw_pull(svg, x, path);
    draw_contacts(svg, x);
    cli_svg_text(svg, "title", 60, 62, "%s", picture.title);
    cli_svg_text(svg, "subtitle", 60, 90,
                 "%d contacts with exact Coulomb friction, \u03bc = %g: %d slide. One step, %d "
                 "iterations, residual %.0e.",
                 CONTACTS, FRICTION, slides, x->info.iterations, x->info.residual.scaled);
    draw_legend(svg);
    free(path);
}

CliStatus cli_demo_weave(CliDemo *demo) {
    Weave *x = calloc(1, sizeof *x);
    if (x == NULL) {
        cli_say("there is not enough memory");
        return CLI_BAD_FILE;
    }
    CliSvg svg;
    CliStatus status = solve(x);
    if (status == CLI_FINE) {
        int slides = 0;
        for (int c = 0; c < CONTACTS; c++) {
            const double *r = x->r + (ptrdiff_t)3 * c, *u = x->u + (ptrdiff_t)3 * c;
            slides += cli_regime(x->mu[c], r, u, 1e-6, 1e-7) == CLI_SLIDE;
        }
        (void)snprintf(demo->caption, sizeof demo->caption,
                       "a yarn is pulled out of a cloth: it slides at %d of its %d crossings",
                       slides, WARPS);
        status = cli_svg_open(&svg, &picture, demo->folder, demo->force);
        if (status == CLI_FINE) {
            draw(&svg, x, slides);
            status = cli_svg_close(&svg);
        }
    }
    free(x);
    return status;
}
