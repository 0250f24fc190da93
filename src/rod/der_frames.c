// der_frames.c - single frames of straight edges: carried to a new direction, followed over a
// joint.
//
// der_energy.c says what transport, twist and the strains of a joint are, and places many at once.
#include "der_energy.h"

#include "math/vec3.h"

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

double fil_edge_turn(const FilEdge *from, const double t[3], const double n1[3]) {
    double a[3], b[3];
    transport(from->n1, from->t, t, a);
    fil_cross3(t, a, b);
    return atan2(fil_dot3(b, n1), fil_dot3(a, n1));
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
