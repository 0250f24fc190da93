// turning.c - what implicit Euler does to edges that turn.
//
// A step solves for the velocity V that leads from x to x+ with the forces of x+. That is right for
// strains, whose vibrations implicit Euler damps, and wrong for what turns. Where an edge turns by
// an angle f in a step,
// 1. V points along the chord, half of f behind the motion at x+. As a velocity of the end it would
//    lean outwards: along the edge by |p| tan(f / 2), p the part of it across the edge.
// 2. The force g of the edge acts along x+ and not half-way, which takes angular momentum: from
//    x+ x V = x x V and M (V - v) = -dt (inner forces) follows that the step loses
//    sum (e+ - e) x dt g, a part f^2 of it; behind a driven root the rod lags.
// So the velocity of the state is the one of the motion. A step begins with velocities that lean as
// the scheme wants them, and ends with that taken out of the edges again and, for each edge, with
// the couple F = e+ x ((e+ - e) x dt g) / |e+|^2 on its nodes: F on the second, -F on the first.
// With theta below 1 a velocity is one at theta of the way through a step, and both count
// 2 theta - 1 times: not at all for the midpoint.
#include "turning.h"

#include <stddef.h>
#include <string.h>

#include "math/vec3.h"

static const double most_leaning = 0.25; // of the velocities

// An edge: how long, where to, how its nodes move against each other.
typedef struct Edge {
    double length, t[3], rate[3];
} Edge;

static double measure(const double *x, double t[3]) {
    fil_subtract3(x + 3, x, t);
    const double length = fil_norm3(t), inverse = length > 0.0 ? 1.0 / length : 0.0;
    for (int k = 0; k < 3; k++) {
        t[k] *= inverse;
    }
    return length;
}

static Edge find_edge(const FilTurning *turning, const double *places, int j) {
    Edge edge;
    const double *v = turning->rate + (ptrdiff_t)turning->rate_step * j;
    edge.length = measure(places + 3 * (ptrdiff_t)j, edge.t);
    fil_subtract3(v + turning->rate_step, v, edge.rate);
    return edge;
}

// By how much the velocities of an edge lean: `slope` is the tangent of half the angle that it
// turns by, `stretch` the part of its length that it is stretched by.
static void lean_edge(const Edge *edge, double stretch, double slope, double factor,
                      double out[3]) {
    const double along = fil_dot3(edge->rate, edge->t);
    double across[3];
    for (int k = 0; k < 3; k++) {
        across[k] = edge->rate[k] - along * edge->t[k];
    }
    slope *= factor * fil_norm3(across);
    stretch = factor * fmax(-0.5, fmin(0.5, stretch));
    for (int k = 0; k < 3; k++) {
        out[k] = slope * edge->t[k] - stretch * across[k];
    }
}

// Differences of neighbouring nodes become velocities: an end that is held has none, a free rod
// keeps its momentum.
static void sum_edges(const FilTurning *turning) {
    const int last = turning->count - 1;
    const bool *held = turning->held;
    double mass = 0.0, mean[3] = {0.0}, end[3], *out = turning->change;
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i <= last; i++) {
        double *v = out + 3 * (ptrdiff_t)i;
        const double m = turning->mass[(ptrdiff_t)turning->mass_step * i];
        if (i > 0) {
            fil_add3(1.0, v - 3, v);
        }
        mass += m;
        fil_add3(m, v, mean);
    }
    fil_copy3(out + 3 * (ptrdiff_t)last, end);
    for (int i = 0; (!held[0] || held[1]) && i <= last; i++) {
        double *v = out + 3 * (ptrdiff_t)i;
        if (held[1]) {
            fil_add3(held[0] ? -i / (double)last : -1.0, end, v);
        } else {
            fil_add3(-1.0 / mass, mean, v);
        }
    }
}

// No more change than a part of how the rod moves against itself. Beyond that edges turn so far, or
// so differently, that it foretells nothing.
static void limit_leaning(const FilTurning *turning) {
    double mass = 0.0, mean[3] = {0.0}, motion = 0.0, lean = 0.0;
    for (int i = 0; i < turning->count; i++) {
        const double *v = turning->rate + (ptrdiff_t)turning->rate_step * i;
        const double *to = turning->change + 3 * (ptrdiff_t)i;
        const double m = turning->mass[(ptrdiff_t)turning->mass_step * i];
        mass += m;
        fil_add3(m, v, mean);
        motion += m * fil_dot3(v, v);
        lean += m * fil_dot3(to, to);
    }
    motion = fmax(0.0, motion - fil_dot3(mean, mean) / mass) * most_leaning * most_leaning;
    const double part = lean > motion ? sqrt(motion / lean) : 1.0;
    for (int k = 0; part < 1.0 && k < 3 * turning->count; k++) {
        turning->change[k] *= part;
    }
}

void fil_turning_lean(const FilTurning *turning) {
    for (int j = 0; j + 1 < turning->count; j++) {
        const Edge edge = find_edge(turning, turning->from, j);
        const double along = fil_dot3(edge.rate, edge.t), square = fil_dot3(edge.rate, edge.rate);
        const double step = turning->dt / fmax(edge.length, 1e-300);
        const double half = 0.5 * step * sqrt(fmax(0.0, square - along * along));
        lean_edge(&edge, along * step, half / sqrt(1.0 + half * half), turning->factor,
                  turning->change + 3 * (ptrdiff_t)(j + 1));
    }
    sum_edges(turning);
    limit_leaning(turning);
}

void fil_turning_straighten(const FilTurning *turning) {
    for (int j = 0; j + 1 < turning->count; j++) {
        const Edge edge = find_edge(turning, turning->to, j);
        double before[3];
        const double length = measure(turning->from + 3 * (ptrdiff_t)j, before);
        const double c = fil_dot3(before, edge.t);
        const double slope = c > 0.0 ? sqrt(fmax(0.0, (1.0 - c) / (1.0 + c))) : 1.0;
        lean_edge(&edge, 1.0 - length / fmax(edge.length, 1e-300), slope, -turning->factor,
                  turning->change + 3 * (ptrdiff_t)(j + 1));
    }
    sum_edges(turning);
}

void fil_turning_add_couples(const FilTurning *turning, const double *pull, int pull_step,
                             double scale) {
    scale *= turning->factor;
    for (int j = 0; j + 1 < turning->count; j++) {
        const double *a = turning->from + 3 * (ptrdiff_t)j, *b = turning->to + 3 * (ptrdiff_t)j;
        const double *m = turning->mass + (ptrdiff_t)turning->mass_step * j;
        double before[3], after[3], turned[3], couple[3], push[3];
        fil_subtract3(a + 3, a, before);
        fil_subtract3(b + 3, b, after);
        fil_subtract3(after, before, turned);
        fil_cross3(turned, pull + (ptrdiff_t)pull_step * j, couple);
        fil_cross3(after, couple, push);
        const double factor = scale / fmax(fil_dot3(after, after), 1e-300);
        fil_add3(-factor / m[0], push, turning->change + 3 * (ptrdiff_t)j);
        fil_add3(factor / m[turning->mass_step], push, turning->change + 3 * (ptrdiff_t)(j + 1));
    }
    limit_leaning(turning);
}
