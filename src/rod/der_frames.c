// der_frames.c - the frames of straight edges: transport in time, twist and bend between them.
//
// Transport without spin from the direction a to the direction b takes a vector n at right angles
// to a to n - (n . b) / (1 + a . b) (a + b): the smallest rotation that turns a into b.
//
// The curvature binormal of a joint, kb = 2 te x tf / (1 + te . tf), lies along the axis of the
// bend and is 2 tan(angle / 2) long (Bergou et al. 2008). It has the same components in the frame
// of e as in that frame transported to f. The twist m is the angle from there to the frame of f.
// kappa1 and kappa2 are the components of kb in the frame half way, turned by m / 2: in contrast to
// the mean of the two end frames (Bergou et al. 2010) this never shortens kb, however large the
// twist.
#include "der_energy.h"

#include "math/vec3.h"

static const double two_pi = 6.283185307179586476925;

// n of the direction a, transported to the direction b. Where they are opposite, any way will do.
static void transport(const double n[3], const double a[3], const double b[3], double out[3]) {
    double along = fil_dot3(n, b), open = 1.0 + fil_dot3(a, b);
    double factor = open > 1e-12 ? along / open : 0.0;
    for (int k = 0; k < 3; k++) {
        out[k] = n[k] - factor * (a[k] + b[k]);
    }
}

// Take the round-off of a transport out of n: at right angles to t and of length 1.
static void polish(const double t[3], double n[3]) {
    fil_add3(-fil_dot3(n, t), t, n);
    double factor = 1.0 / fil_norm3(n);
    for (int k = 0; k < 3; k++) {
        n[k] *= factor;
    }
}

void fil_edge_carry(const FilEdge *from, const double t[3], double turn, FilEdge *edge) {
    fil_copy3(t, edge->t);
    transport(from->n1, from->t, edge->t, edge->n1);
    polish(edge->t, edge->n1);
    if (turn != 0.0) {
        double n2[3], c = cos(turn), s = sin(turn);
        fil_cross3(edge->t, edge->n1, n2);
        for (int k = 0; k < 3; k++) {
            edge->n1[k] = c * edge->n1[k] + s * n2[k];
        }
    }
}

void fil_edge_place(const FilEdge *from, const double x[3], const double y[3], FilEdge *edge) {
    double e[3];
    fil_subtract3(y, x, e);
    edge->length = fil_norm3(e);
    double inverse = 1.0 / edge->length;
    for (int k = 0; k < 3; k++) {
        e[k] *= inverse;
    }
    fil_edge_carry(from, e, edge->spin - from->spin, edge);
}

double fil_edge_turn(const FilEdge *from, const double t[3], const double n1[3]) {
    double a[3], b[3];
    transport(from->n1, from->t, t, a);
    fil_cross3(t, a, b);
    return atan2(fil_dot3(b, n1), fil_dot3(a, n1));
}

// The angle of (c, s) up to full turns, nearest to `near`, and (cos, sin) of half of it.
static double unwind(double c, double s, double near, double half[2]) {
    double angle = atan2(s, c);
    double turns = rint((near - angle) / two_pi);
    double large = sqrt(0.5 * (1.0 + fabs(c)));
    half[0] = c >= 0.0 ? large : 0.5 * fabs(s) / large;
    half[1] = copysign(c >= 0.0 ? 0.5 * fabs(s) / large : large, s);
    double odd = turns - 2.0 * floor(0.5 * turns);
    half[0] = odd == 0.0 ? half[0] : -half[0];
    half[1] = odd == 0.0 ? half[1] : -half[1];
    return angle + two_pi * turns;
}

void fil_bend_place(const FilEdge *e, const FilEdge *f, double twist, FilBend *bend) {
    double a[3], b[3], n2[3], half[2];
    bend->inverse = 1.0 / (1.0 + fil_dot3(e->t, f->t));
    fil_cross3(e->t, f->t, bend->kb);
    for (int k = 0; k < 3; k++) {
        bend->kb[k] *= 2.0 * bend->inverse;
    }
    transport(e->n1, e->t, f->t, a);
    fil_cross3(f->t, a, b);
    bend->kappa[0] = unwind(fil_dot3(a, f->n1), fil_dot3(b, f->n1), twist, half);
    fil_cross3(e->t, e->n1, n2);
    for (int k = 0; k < 3; k++) {
        bend->d1[k] = half[0] * e->n1[k] + half[1] * n2[k];
    }
    fil_cross3(e->t, bend->d1, n2);
    bend->kappa[1] = fil_dot3(bend->kb, bend->d1);
    bend->kappa[2] = fil_dot3(bend->kb, n2);
}

// axis[1] and axis[2] turned by `angle` about axis[0].
static void spin_axes(double axis[3][3], double angle) {
    double c = cos(angle), s = sin(angle);
    for (int k = 0; k < 3; k++) {
        double n1 = axis[1][k], n2 = axis[2][k];
        axis[1][k] = c * n1 + s * n2;
        axis[2][k] = c * n2 - s * n1;
    }
}

void fil_bend_follow(double axis[3][3], const double kappa[3], double next[3][3]) {
    double kb[3], side[3];
    for (int i = 0; i < 3; i++) {
        fil_copy3(axis[i], next[i]);
    }
    spin_axes(next, 0.5 * kappa[0]);
    for (int k = 0; k < 3; k++) {
        kb[k] = kappa[1] * next[1][k] + kappa[2] * next[2][k];
    }
    // t turns by the angle whose half has the tangent |kb| / 2
    double square = 0.25 * fil_dot3(kb, kb);
    fil_cross3(kb, axis[0], side);
    for (int k = 0; k < 3; k++) {
        next[0][k] = ((1.0 - square) * axis[0][k] + side[k]) / (1.0 + square);
    }
    double n1[3];
    transport(next[1], axis[0], next[0], n1);
    polish(next[0], n1);
    fil_copy3(n1, next[1]);
    fil_cross3(next[0], next[1], next[2]);
    spin_axes(next, 0.5 * kappa[0]);
}

// Half the angle of a bend stays below this: beyond it lies a fold back on itself.
static const double largest_half = 1.5;

void fil_bend_strain(const double angle[3], double kappa[3]) {
    double half = 0.5 * sqrt(angle[1] * angle[1] + angle[2] * angle[2]);
    double bend = half > 1e-6 ? tan(fmin(half, largest_half)) / half : 1.0;
    kappa[0] = angle[0];
    kappa[1] = bend * angle[1];
    kappa[2] = bend * angle[2];
}

void fil_bend_angle(const double kappa[3], double angle[3]) {
    double half = 0.5 * sqrt(kappa[1] * kappa[1] + kappa[2] * kappa[2]);
    double bend = half > 1e-6 ? atan(half) / half : 1.0;
    angle[0] = kappa[0];
    angle[1] = bend * kappa[1];
    angle[2] = bend * kappa[2];
}
