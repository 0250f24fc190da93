#ifndef FIL_ROD_CORDE_H
#define FIL_ROD_CORDE_H

// What the parts of the model `corde` share: its data and how unknowns are numbered.
//
// Frames are numbered 0 .. N + 1: frame f = 1 .. N sits in the middle of element f - 1, frames 0
// and N + 1 at the two ends, where they are held or not used. Joint i = 0 .. N lies between frames
// i and i + 1. Blocks of three unknowns, 2 N + 3 of them, alternate:
//     block 2 f: spin of frame f,      block 2 i + 1: velocity of node i,
// so that an element couples blocks 2 j + 1, 2 j + 2, 2 j + 3 and a joint blocks 2 i, 2 i + 2. What
// is held lies at the two ends of this list: the degrees of freedom are the blocks first .. last.

#include "bulk.h"
#include "corde_energy.h"
#include "rod.h"
#include "turning.h"

enum { FIL_CORDE_WIDTH = 8 }; // half of the band of the step matrix, less its diagonal

typedef struct FilCorde {
    int first, last;       // blocks that are free
    bool root_joint;       // joints 0 and N act: the frame at that end is held
    bool tip_joint;        //
    FilCordeEdge *edges;   // [N]
    FilCordeJoint *joints; // [N + 1]
    double *cell;          // [N + 1] m: distance between the frames of a joint
    double *inertia;       // [2 N + 3] kg or kg m^2, of a block
    double *drag;          // [2 N + 3] kg/s, of a block

    // in the state
    double *r; // [N + 1][3] m
    double *q; // [N + 2][4]
    double *v; // [2 N + 3][3]

    // scratch
    double *gradient, *force, *shift; // [2 N + 3][3]
    double *guess_r, *guess_q;        // as r and q
    double *A;                        // step matrix, factored
    double *matrix;                   // as it was, where that is asked for
    double *left, *rest;              // what the equations leave at the guess, and at v+
    bool pushed;                      // rest is not 0
    double *solution;                 // of the last solve()
    double *kicked, *before; // [2 N + 3][3]: velocities that the step begins with; of the state
    double *load;            // [2 N + 3][3]: gradient of gravity and loads
    double *guess;           // [2 N + 3][3]: where it is linearised
    double *start_r;         // [N + 1][3] m: where it begins
    double *lean, *pull;     // [N + 1][3] m/s, [N][3] N s: see corde_recover.c
    bool ready;              // the last prepare() is about this state
    double flaw;             // of the last step: see FilRodTable
    bool elastic_known;      // elastic is that of this state
    double elastic;          // J
} FilCorde;

static inline bool fil_corde_acts(const FilRod *rod, int joint) {
    const FilCorde *corde = rod->data;
    return joint == 0 ? corde->root_joint : joint == rod->element_count ? corde->tip_joint : true;
}

static inline int fil_corde_block_count(const FilRod *rod) {
    return 2 * rod->element_count + 3;
}

static inline bool fil_corde_holds_place(FilEndKind kind) {
    return kind == FIL_END_CLAMPED || kind == FIL_END_PINNED;
}

static inline bool fil_corde_holds_frame(FilEndKind kind) {
    return kind == FIL_END_CLAMPED || kind == FIL_END_SLIDING;
}

// A frame on the rod: the part x of the way from frame `joint` to the next one. joint is -1 where
// there is only one frame, that of the element.
typedef struct FilCordeSection {
    int joint;
    double x;
    double turn[3]; // of the joint
    double R[9];    // of its first frame
} FilCordeSection;

FilCordeSection fil_corde_find_section(const FilRod *rod, int element, double u);
/// B of fil_corde_between() at the part x of a section's joint, in world axes.
void fil_corde_turn_weights(const FilCordeSection *section, double x, double B[9]);
void fil_corde_place_position(const FilRod *rod, int element, double u, double position[3]);

/// Gradient of the potential energy for all blocks, held ones too.
void fil_corde_gradient(const FilRod *rod, double *gradient);

/// Gravity and loads alone, added.
void fil_corde_add_loads(const FilRod *rod, double *gradient);

/// corde->r and q moved by corde->shift.
void fil_corde_move_all(const FilRod *rod);
/// The velocities that a step begins with, in corde->kicked (corde_recover.c).
void fil_corde_lean(const FilRod *rod, double dt);
double fil_corde_kinetic(const FilRod *rod);
double fil_corde_elastic(const FilRod *rod);
/// corde->v, the velocity that the step was solved for, becomes that of its end; corde->before and
/// start_r are those of its beginning, with its energies. Returns what FilRodTable.flaw returns.
double fil_corde_recover(FilRod *rod, double dt, const double *velocity, double kinetic,
                         double elastic);
/// Nothing is known any more of a state that changes.
static inline void fil_corde_forget(FilRod *rod) {
    FilCorde *corde = rod->data;
    corde->ready = corde->elastic_known = false;
}

/// Where held blocks are to be at `time`, as displacements from the present state; other blocks of
/// `shift` are left alone.
void fil_corde_held_shift(const FilRod *rod, double time, double *shift);

/// Add 3 x 3 blocks into the lower triangle (I >= J) of a matrix over the free blocks.
typedef struct FilCordeSink {
    const FilCorde *corde;
    double *matrix;
    void (*add)(const struct FilCordeSink *sink, int I, int J, double factor, const double B[9]);
    int n;
} FilCordeSink;

/// Add `factor` times an edge's or a joint's blocks.
void fil_corde_add_edge(const FilCordeSink *sink, int element, double factor,
                        const FilCordeEdgeHessian *hessian);
void fil_corde_add_joint(const FilCordeSink *sink, int joint, double factor, const double S[9]);

/// The stiffness matrix of a joint in world axes.
void fil_corde_joint_world(const FilRod *rod, int joint, bool exact, double S[9]);

// The functions of the table.
FilStatus fil_corde_create(FilRod *rod, const double *start, FilError *error);
FilStatus fil_corde_check_natural(const FilRod *rod, int element, const double kappa[3],
                                  FilError *error);
void fil_corde_place_ends(FilRod *rod);
void fil_corde_refresh(FilRod *rod);
void fil_corde_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate);
void fil_corde_sample(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                      double *rates);
void fil_corde_jacobian(const FilRod *rod, int element, double u, double *rows);
void fil_corde_span(const FilRod *rod, int element, int *first, int *last);
void fil_corde_place_jacobian(const FilRod *rod, int element, double u, double *rows);
void fil_corde_place_span(const FilRod *rod, int element, double u, int *first, int *last);
void fil_corde_curvature_at(const FilRod *rod, int element, double u, double kappa[3]);
double fil_corde_elastic_at(const FilRod *rod, int element, double u);
double fil_corde_edge_tension(const FilRod *rod, int element);
void fil_corde_energy(const FilRod *rod, FilRodEnergy *out);
void fil_corde_free_gradient(const FilRod *rod, double *out);
void fil_corde_hessian(const FilRod *rod, double *out);
void fil_corde_stiffness(const FilRod *rod, double *out);
void fil_corde_mass(const FilRod *rod, double *out);
void fil_corde_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                           double *rates);
void fil_corde_axial_rates(const FilRod *rod, double *rates);
void fil_corde_momentum(const FilRod *rod, const double *state, const double about[3],
                        double linear[3], double angular[3]);
void fil_corde_body_wrench(const FilRod *rod, const double about[3], double force[3],
                           double moment[3]);
void fil_corde_tip_reaction(const FilRod *rod, const FilRodPast *past, double force[3],
                            double moment[3]);
double fil_corde_prepare(FilRod *rod, double dt, const double *guess, double *rhs);
void fil_corde_get_rest(const FilRod *rod, double *rest);
void fil_corde_solve(const FilRod *rod, double *x);
void fil_corde_solve_columns(const FilRod *rod, int count, double *x);
int fil_corde_factors(const FilRod *rod, const double **band);
void fil_corde_advance(FilRod *rod, double dt, const double *velocity);
void fil_corde_drift(FilRod *rod, double dt);
double fil_corde_largest_step(const FilRod *rod);
double fil_corde_flaw(const FilRod *rod);
/// Doubles that the step matrix takes.
size_t fil_corde_matrix_size(const FilRod *rod);

#endif
