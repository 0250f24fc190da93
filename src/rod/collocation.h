#ifndef FIL_ROD_COLLOCATION_H
#define FIL_ROD_COLLOCATION_H

// Integrals over an element from values at a few nodes of it, see collocation.c.

#define FIL_COLLOCATIONS 6
#define FIL_MAX_NODES 16

typedef struct FilCollocation {
    int count;       // of nodes
    int terms[2];    // of the series of a frame: helix (in the squared angle), clothoid (in length)
    double angle[2]; // rad: how far a helix and a clothoid may turn
    const double *nodes, *weights;
    const double *until; // [count][count]
} FilCollocation;

/// By growing number of nodes.
extern const FilCollocation fil_collocations[FIL_COLLOCATIONS];

#endif
