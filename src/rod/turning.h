#ifndef FIL_ROD_TURNING_H
#define FIL_ROD_TURNING_H

// What implicit Euler does to nodes joined by edges that turn, and how that is taken out: the
// mathematics is in turning.c.

#include <stdbool.h>

// The nodes of a rod in a step.
typedef struct FilTurning {
    int count;          // of nodes
    int mass_step;      // from the mass of a node to that of the next
    int rate_step;      // the same for velocities
    const double *mass; // kg
    const double *rate; // velocities
    const double *from; // [count][3] m: where the step begins
    const double *to;   // [count][3] m: and ends
    bool held[2];       // the place of the root, of the tip
    double dt, factor;  // s; how far the scheme is from the midpoint: 2 theta - 1
    double *change;     // [count][3]: velocities, written
} FilTurning;

/// What velocities of the state differ by from those that a step begins with, as it wants them.
void fil_turning_lean(const FilTurning *turning);
/// What the velocity that a step was solved for lacks to be one of the state.
void fil_turning_straighten(const FilTurning *turning);
/// And by the arms of the impulses (N s) that edges carry: `pull`, by the way of their second node,
/// of edge j at j pull_step, times `scale`.
void fil_turning_add_couples(const FilTurning *turning, const double *pull, int pull_step,
                             double scale);

#endif
