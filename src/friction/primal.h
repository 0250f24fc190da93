#ifndef FIL_FRICTION_PRIMAL_H
#define FIL_FRICTION_PRIMAL_H

// The same Newton step in the velocities of the bodies, for problems given with M and H.

#include "blocks.h"
#include "newton_step.h"
#include "reduce.h"

enum { FIL_NODE_MOST = 6 }; // velocities of a node

/// What the contacts of an island do to the bodies they touch; other bodies do not matter to them.
/// Velocities are grouped into nodes.
typedef struct FilPrimal {
    int node_count, dof_count;
    const int *node_offset;   // [node_count + 1]
    FilBlocks A;              // pattern of M + H S H^T in nodes; the values are those of M
    const int *contact_start; // [n + 1] entries of a contact: the nodes that it touches
    const int *contact_node;  // [entries]
    const int64_t *H_at;      // [entries + 1]
    const double *H;          // per entry, node rows x d_i, row-major
    const int64_t *pair_at;   // [n + 1]
    const int *pair;          // entry of A for each pair (a, b) of the nodes of a contact
    const double *compliance; // C, square blocks one after the other; NULL: none
    // what it was made from
    const FilFrictionProblem *problem;
    const FilSystem *whole;
    const int *member; // [n] blocks of the problem, ascending; NULL: all
} FilPrimal;

/// The primal of the blocks `member` of a global problem; NULL members: all blocks. Of its system
/// the offsets and the reduction are used.
FilStatus fil_primal_create(const FilFrictionProblem *problem, const FilSystem *whole,
                            const int *member, int count, FilArena *arena, FilArena *scratch,
                            FilPrimal **out);

typedef struct FilPrimalStep FilPrimalStep;

/// Order the nodes; `flops` receives the cost of a factorisation.
FilStatus fil_primal_step_create(const FilPrimal *primal, const FilSystem *s, int threads,
                                 FilArena *arena, FilArena *scratch, FilPrimalStep **out,
                                 int64_t *flops);

/// Take the memory of the factors.
FilStatus fil_primal_step_reserve(FilPrimalStep *step, FilArena *arena);

/// Take memory to leave out contacts that are open: a factorisation may then order the matrix anew,
/// with `scratch`, which must stay and is given back as it was. Not for steps of several threads
/// that share it.
FilStatus fil_primal_step_follow(FilPrimalStep *step, FilArena *arena, FilArena *scratch);

/// Factor the matrix of J.
void fil_primal_step_factor(FilPrimalStep *step, const FilJacobian *J);

/// Have `stop` asked by factorisations: see math/block_lu.h.
void fil_primal_step_set_stop(FilPrimalStep *step, bool (*stop)(void *user), void *user);

/// Operations of the factorisation in use, and of a solve with it.
FilStepCost fil_primal_step_cost(const FilPrimalStep *step);

/// d from F with the factors of J, refined once if asked. False when d is of no use.
bool fil_primal_step_solve(FilPrimalStep *step, const FilJacobian *J, const double *F, bool refine,
                           double *d);

#endif
