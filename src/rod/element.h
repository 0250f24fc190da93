#ifndef FIL_ROD_ELEMENT_H
#define FIL_ROD_ELEMENT_H

// One element of a reduced rod, in its own start frame: see element.c for the mathematics.
//
// Four elements are worked on side by side, one in each lane of a FilLanes. An element has d = 3
// (helix: kappa constant) or d = 6 (clothoid: kappa at the start, kappa at the end, linear between)
// degrees of freedom; arrays have room for 6 and the first d are used.

#include <stdbool.h>

#include "collocation.h"

#define FIL_LANES 4
#define FIL_ELEMENT_DOFS 6

typedef double FilLanes __attribute__((vector_size(32)));

typedef struct FilElementIn {
    FilLanes kappa[6]; // 1/m
    FilLanes rate[6];  // of kappa, 1/(m s)
    FilLanes push[6];  // of rate, 1/(m s^2)
    FilLanes length;   // m
    // weights of the sums: of the mass matrix (mass and inertia about the tangent, per length), of
    // the momentum and of the inertial forces in h
    FilLanes mass, spin;
    FilLanes momentum, spin_momentum;
    FilLanes force, spin_force;
    FilLanes calm; // part of the velocity terms that is left out, 0 .. 1
} FilElementIn;

// The end of the element, seen from its start.
typedef struct FilElementEnd {
    FilLanes turn[9];                   // the frame, row-major
    FilLanes place[3];                  // r
    FilLanes theta[6][3];               // how the end turns with each degree of freedom
    FilLanes travel[6][3];              // how it moves (D)
    FilLanes alpha[3], acceleration[3]; // when only kappa moves
} FilElementEnd;

// How the start moves: velocity, spin, and the acceleration that is known beforehand (velocity
// terms and minus gravity).
typedef struct FilElementStart {
    FilLanes v[3], w[3], bv[3], bw[3];
} FilElementStart;

// The mass matrix over (v, w, rates) of start and curvature, and the generalised force h.
typedef struct FilElementSums {
    FilLanes mass;      // vv is mass times 1
    FilLanes moment[3]; // vw is -[moment]x
    FilLanes ww[6];     // 00 01 02 11 12 22
    FilLanes vk[6][3], wk[6][3];
    FilLanes kk[21]; // lower triangle by rows
    FilLanes hv[3], hw[3], hk[6];
    FilLanes pull[3]; // hv without the momentum
} FilElementSums;

// What is summed: the forces h alone, the rigid parts of the mass matrix too (mass, moment, ww), or
// all.
typedef enum FilElementParts {
    FIL_ELEMENT_ALL,
    FIL_ELEMENT_RIGID,
    FIL_ELEMENT_FORCES
} FilElementParts;

// The nodes of one segment.
typedef struct FilElementNodes {
    FilLanes R[FIL_MAX_NODES][9], r[FIL_MAX_NODES][3];
    FilLanes theta[FIL_MAX_NODES][6][3], travel[FIL_MAX_NODES][6][3];
    FilLanes slope[FIL_MAX_NODES][18];                        // what is integrated next
    FilLanes spin[FIL_MAX_NODES][3], drift[FIL_MAX_NODES][3]; // of the rates: theta k, D k
    FilLanes alpha[FIL_MAX_NODES][3], acceleration[FIL_MAX_NODES][3];
    FilLanes along[FIL_MAX_NODES][6]; // t . theta
} FilElementNodes;

// Where the element is cut and with what it is integrated, and its nodes.
typedef struct FilElementWork {
    const FilCollocation *rule;
    int segments;
    FilElementParts parts; // of the sums
    FilElementNodes nodes;
} FilElementWork;

typedef struct FilElementKernels {
    const char *name;
    /// The end of the element (and the nodes, when there is one segment).
    void (*end)(const FilElementIn *in, FilElementWork *work, FilElementEnd *end);
    /// The sums over it, after end().
    void (*sums)(const FilElementIn *in, const FilElementStart *start, FilElementWork *work,
                 FilElementSums *sums);
} FilElementKernels;

/// Kernels for elements of `dofs` 3 or 6 degrees of freedom, the fastest this processor runs; and
/// every variant from 0 (portable) up, NULL past the last. All give the same bits.
const FilElementKernels *fil_element_kernels(int dofs);
const FilElementKernels *fil_element_variant(int dofs, int index);

/// Choose the rule and the segments for the elements of `in`. False when one of them turns by more
/// than FIL_ELEMENT_TURN or is not finite.
bool fil_element_plan(int dofs, const FilElementIn *in, FilElementWork *work);

#define FIL_ELEMENT_TURN 1e5 // rad

#endif
