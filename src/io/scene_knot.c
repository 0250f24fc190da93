// scene_knot.c - rods tied into loose knots.
//
// A closed knot is opened by inversion in a sphere around one of its points P,
//     x -> (x - P) / |x - P|^2,
// which sends P to infinity and all else to a curve that comes and goes along the tangent at P.
// Inversion keeps different points apart, so the curve is knotted as the closed one was, and it
// needs no hand-made tails. The closed knots, t from 0 to 2 pi:
//     torus (2, q)     ((2 + cos q t) cos 2 t, (2 + cos q t) sin 2 t, sin q t)
//     figure-eight     ((2 + cos 2 t) cos 3 t, (2 + cos 2 t) sin 3 t, sin 4 t)
// P is t = 0, an outermost point. With t = pi + 2 atan(w) the open curve is nearly even in w far
// away. It is cut where half of the rod's length lies on either side of the middle, and scaled so
// that the knot, but for its tails, is as wide as asked.
#include "scene_build.h"

#include <math.h>

#include "math/vec3.h"
#include "rod/fit.h"

#define PI 3.14159265358979323846

enum { CORE = 1600, POINTS = 800 };

static void closed_at(FilKnotKind kind, double t, double x[3]) {
    const double lobes = kind == FIL_KNOT_OVERHAND ? 3.0 : kind == FIL_KNOT_CINQUEFOIL ? 5.0 : 2.0;
    const double round = kind == FIL_KNOT_FIGURE_EIGHT ? 3.0 : 2.0;
    const double r = 2.0 + cos(lobes * t);
    x[0] = r * cos(round * t);
    x[1] = r * sin(round * t);
    x[2] = sin((kind == FIL_KNOT_FIGURE_EIGHT ? 4.0 : lobes) * t);
}

static void open_at(FilKnotKind kind, double w, double x[3]) {
    double p[3], q[3];
    closed_at(kind, 0.0, p);
    closed_at(kind, PI + 2.0 * atan(w), q);
    fil_subtract3(q, p, x);
    const double square = fil_dot3(x, x);
    for (int k = 0; k < 3; k++) {
        x[k] /= square;
    }
}

static double distance(const double a[3], const double b[3]) {
    double edge[3];
    fil_subtract3(a, b, edge);
    return fil_norm3(edge);
}

// The axes of the open knot: where its tails lead, and two across.
static void knot_axes(FilKnotKind kind, double axis[3][3]) {
    double ends[2][3], along[3];
    static const double up[3] = {0.0, 0.0, 1.0};
    open_at(kind, -1e4, ends[0]);
    open_at(kind, 1e4, ends[1]);
    fil_subtract3(ends[1], ends[0], along);
    fil_axes_along(along, up, axis);
}

// The widest that the knot reaches across its axis.
static double knot_width(FilKnotKind kind, double axis[3][3]) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k <= CORE; k++) {
        double x[3];
        open_at(kind, tan(0.497 * PI * (2.0 * k / CORE - 1.0)), x);
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], fil_dot3(x, axis[a + 1]));
            high[a] = fmax(high[a], fil_dot3(x, axis[a + 1]));
        }
    }
    return fmax(high[0] - low[0], high[1] - low[1]);
}

// The parameter at which the arc length from the middle, on this side, is `half`.
static double find_end(FilKnotKind kind, double side, double half) {
    double before[3], x[3], length = 0.0, w = 0.0;
    open_at(kind, 0.0, before);
    while (length < half && w < 1e9) {
        const double step = 0.002 * (1.0 + w); // finer in the core, coarser in the straight tails
        open_at(kind, side * (w + step), x);
        const double edge = distance(x, before);
        if (length + edge >= half) {
            return side * (w + step * (half - length) / edge);
        }
        length += edge;
        w += step;
        fil_copy3(x, before);
    }
    return side * w;
}

// The least distance between parts of the curve that lie more than `apart` from each other along
// it.
static double find_gap(FilVec3 *points, int count, double apart) {
    double gap = INFINITY;
    for (int i = 1; i < count; i++) {
        double along = 0.0;
        for (int j = i + 1; j < count; j++) {
            const double step = distance(points[j], points[j - 1]);
            along += step;
            const double between = distance(points[i], points[j]);
            // where the way along the curve is not much longer, it has not come back; the long
            // chords are those of the straight tails, far away
            if (along > apart && along > 2.0 * between && step < 0.5 * between) {
                gap = fmin(gap, between);
            }
        }
    }
    return gap;
}

static FilStatus tie(FilSceneBuild *build, const FilKnotSpec *spec) {
    const FilKnotKind kind = (FilKnotKind)spec->kind;
    FilPose root;
    FIL_TRY(fil_scene_pattern(build, &spec->rod, "knots", &root));
    double axis[3][3], middle[3];
    knot_axes(kind, axis);
    const double scale = spec->size / knot_width(kind, axis);
    const double half = 0.5 * spec->rod.length / scale;
    const double ends[2] = {find_end(kind, -1.0, half), find_end(kind, 1.0, half)};
    FilVec3 *points = FIL_NEW(build->arena, FilVec3, POINTS);
    if (points == NULL) {
        return fil_scene_no_memory(build);
    }
    double from[3], to[3]; // the line of the tails goes through the root's place
    open_at(kind, ends[0], from);
    open_at(kind, ends[1], to);
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (from[k] + to[k]);
    }
    const double u0 = asinh(ends[0]), u1 = asinh(ends[1]);
    for (int k = 0; k < POINTS; k++) {
        double x[3];
        open_at(kind, sinh(u0 + (u1 - u0) * k / (POINTS - 1)), x);
        fil_copy3(root.position, points[k]);
        for (int a = 0; a < 3; a++) {
            fil_add3(scale * (fil_dot3(x, axis[a]) - fil_dot3(middle, axis[a])), root.axis[a],
                     points[k]);
        }
    }
    const double radius = fil_scene_contact_radius(&spec->rod);
    const double gap = find_gap(points, POINTS, PI * radius);
    if (!(gap >= 2.0 * radius)) {
        return fil_table_fail(&build->decoder, &fil_spec_knot, spec, offsetof(FilKnotSpec, size),
                              "is %g m; the rod would pass itself at %.3g m, and its contact "
                              "radius of %.3g m needs %.3g m",
                              spec->size, gap, radius, 2.0 * radius);
    }
    FIL_TRY(fil_scene_rod_along(build, &spec->rod, points, POINTS, spec->rod.length,
                                spec->name[0] != '\0' ? spec->name : spec->rod.name));
    return fil_scene_check_fit(build, &spec->rod, gap);
}

FilStatus fil_scene_build_knots(FilSceneBuild *build) {
    for (int k = 0; k < build->spec.knots.count; k++) {
        FIL_TRY(tie(build, &build->spec.knots.items[k]));
    }
    return FIL_OK;
}
