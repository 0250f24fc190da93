// bulk.c - a rod as one rigid piece: see bulk.h.
#include "bulk.h"

#include <math.h>

#include "math/vec3.h"

static const double no_inertia = 1e-14; // of the largest: round-off, as about a straight chain

void fil_bulk_add_mass(FilBulk *bulk, double mass, const double x[3]) {
    bulk->mass += mass;
    fil_add3(mass, x, bulk->centre);
}

void fil_bulk_finish_centre(FilBulk *bulk) {
    for (int k = 0; k < 3; k++) {
        bulk->centre[k] /= bulk->mass;
    }
}

void fil_bulk_add_ball(FilBulk *bulk, double inertia) {
    for (int k = 0; k < 3; k++) {
        bulk->inertia[4 * k] += inertia;
    }
}

void fil_bulk_add_spin(FilBulk *bulk, double inertia, const double t[3]) {
    for (int k = 0; k < 9; k++) {
        bulk->inertia[k] += inertia * t[k / 3] * t[k % 3];
    }
}

void fil_bulk_add_node(FilBulk *bulk, double mass, const double x[3]) {
    double arm[3];
    fil_subtract3(x, bulk->centre, arm);
    fil_bulk_add_ball(bulk, mass * fil_dot3(arm, arm));
    fil_bulk_add_spin(bulk, -mass, arm);
}

void fil_bulk_add_momentum(const FilBulk *bulk, const double x[3], double mass, const double v[3],
                           FilTwistPair *sum) {
    double arm[3], turned[3];
    fil_subtract3(x, bulk->centre, arm);
    fil_cross3(arm, v, turned);
    fil_add3(mass, v, sum->linear);
    fil_add3(mass, turned, sum->angular);
}

// x <- A^+ x by elimination with the largest pivot of what is left; A is symmetric and not
// negative, and no larger than its trace.
static void solve_symmetric(const double matrix[9], double x[3]) {
    double A[9], largest = matrix[0] + matrix[4] + matrix[8];
    int order[3] = {0, 1, 2}, rank = 0;
    for (int k = 0; k < 9; k++) {
        A[k] = matrix[k];
    }
    for (; rank < 3; rank++) {
        int best = rank;
        for (int k = rank; k < 3; k++) {
            best = A[4 * order[k]] > A[4 * order[best]] ? k : best;
        }
        const int p = order[best];
        order[best] = order[rank];
        order[rank] = p;
        if (!(A[4 * p] > no_inertia * largest)) {
            break;
        }
        for (int k = rank + 1; k < 3; k++) {
            const int i = order[k];
            const double factor = A[3 * i + p] / A[4 * p];
            for (int l = rank + 1; l < 3; l++) {
                A[3 * i + order[l]] -= factor * A[3 * p + order[l]];
            }
            x[i] -= factor * x[p];
        }
    }
    for (int k = 2; k >= 0; k--) {
        const int p = order[k];
        for (int l = k + 1; l < rank; l++) {
            x[p] -= A[3 * p + order[l]] * x[order[l]];
        }
        x[p] = k < rank ? x[p] / A[4 * p] : 0.0;
    }
}

void fil_bulk_motion(const FilBulk *bulk, const FilTwistPair *momentum, FilTwistPair *motion) {
    for (int k = 0; k < 3; k++) {
        motion->linear[k] = momentum->linear[k] / bulk->mass;
        motion->angular[k] = momentum->angular[k];
    }
    solve_symmetric(bulk->inertia, motion->angular);
}

void fil_bulk_add_motion(const FilBulk *bulk, const FilTwistPair *motion, double factor,
                         const double x[3], double v[3]) {
    double arm[3], turned[3];
    fil_subtract3(x, bulk->centre, arm);
    fil_cross3(motion->angular, arm, turned);
    fil_add3(factor, motion->linear, v);
    fil_add3(factor, turned, v);
}
