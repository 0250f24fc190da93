#ifndef FIL_ROD_NODAL_H
#define FIL_ROD_NODAL_H

// What rods made of nodes and straight edges share: der (with a twist angle on each edge) and chain
// (without).
//
// Unknowns stand in the order x0 s0 x1 s1 ... xn: the places of the nodes and, for der, the turn of
// each edge about itself. An end whose frame is held has a ghost edge beyond it, of no mass, which
// follows the pose that holds it; the joint between the ghost and the first edge bends over half an
// edge. So a held end is a few unknowns less at one end of the list, and what is free is always a
// range first .. last - 1 of it:
//     free: all;  pinned: without x0;  clamped: without the ghost's and x0;
//     sliding: without the ghost's and the two parts of x0 across the axis of the pose.
// The unknown of a sliding end is its way along the axis.

#include "bulk.h"
#include "der_energy.h"
#include "rod.h"

typedef struct FilNodal {
    // model: frozen
    int edge_count; // with ghosts
    int stride;     // unknowns from node to node: 4, or 3 without twist
    int full_count; // of unknowns, held ones too
    int ghosts[2];  // 1 where the root, the tip has a ghost edge
    int first, last;

    // state
    double *x;        // [edge_count + 1][3]
    double *director; // [edge_count][3]: n1
    double *twist;    // [edge_count - 1]
    double *v;        // [full_count]

    // parameters, made by refresh
    double *mass;           // [edge_count + 1] kg
    double *drag;           // [edge_count + 1] kg/s
    double *inertia;        // [edge_count] kg m^2, about the edge
    double *cell;           // [edge_count - 1] m: length that a bend stands for
    FilEdgeSpring *stretch; // [edge_count]
    FilBendSpring *bend;    // [edge_count - 1]

    // the step: shapes at its beginning, where it is linearised, and at the velocity last tried
    FilShape start, anchor, trial;
    double *anchor_velocity, *trial_velocity; // [dof_count]
    bool begun, tried;                        // anchor and trial hold something
    bool anchored;                            // the anchor is where anchor_velocity leads
    bool known;                               // rest holds the residual of the trial
    double dt;
    FilEdgeSpring *step_stretch; // with damping
    FilBendSpring *step_bend;
    double *step_inertia, *step_drag; // [full_count] kg or kg m^2, kg/s
    double *weight;                   // [full_count] of squares in the residual; 0 where held
    int passes;                       // how often tensions were foretold in this step
    double *tension;    // [edge_count] N: what the Hessian takes for that of the anchor
    double *kicked;     // [full_count]: the velocity the step begins with
    double *lean;       // [edge_count + 1][3]: what the velocities of nodes are changed by
    double *load;       // [full_count] N, N m: gravity and loads
    double *ghost_pull; // [2][3] N: gradient by the vectors of the ghosts
    double *ghost_push; // [2][3] N: that of the beginning, by its part in the step
    double *outside;    // [full_count]: impulses of contacts in the step that is taken
    double flaw;        // of the last step: see FilRodTable
    double *push;       // [full_count] N, N m: what does not change in the step
    double *pulls;      // [edge_count][4]: gradient by the edges' variables
    double *gradient;   // [full_count]
    double *work;       // [full_count]
    double *rest;       // [dof_count]: A v+ - rhs
    double relative;    // its size
    double *scratch;    // [edge_count + 1][16]
    double *band;       // [full_count][width + 1], see fil_band_room()
    const FilDerKernels *kernels;
} FilNodal;

/// Create the model's part of a rod: `stride` 4 or 3. `start` as in FilRodTable.
FilStatus fil_nodal_create(FilRod *rod, int stride, const double *start, FilError *error);

// The functions of a FilRodTable.
void fil_nodal_place_ends(FilRod *rod);
void fil_nodal_adopt(FilRod *rod, const FilRod *from);
void fil_nodal_forget(FilRod *rod);
double fil_nodal_prepare(FilRod *rod, double dt, const double *guess, double *rhs);
double fil_nodal_residual(FilRod *rod, double dt, const double *velocity);
void fil_nodal_get_rest(const FilRod *rod, double *rest);
double fil_nodal_merit(FilRod *rod, double dt, const double *velocity);
void fil_nodal_solve(const FilRod *rod, double *x);
void fil_nodal_solve_columns(const FilRod *rod, int count, double *x);
int fil_nodal_factors(const FilRod *rod, const double **band);
void fil_nodal_advance(FilRod *rod, double dt, const double *velocity);
void fil_nodal_drift(FilRod *rod, double dt);
void fil_nodal_get_velocity(const FilRod *rod, double *velocity);
void fil_nodal_stop(FilRod *rod);
void fil_nodal_launch(FilRod *rod, const double velocity[3], const double spin[3]);
void fil_nodal_slow_down(FilRod *rod, const double velocity[3], double part);
void fil_nodal_move(FilRod *rod, const double *dx);
void fil_nodal_sample(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                      double *rates);
void fil_nodal_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate);
void fil_nodal_jacobian(const FilRod *rod, int element, double u, double *jacobian);
void fil_nodal_span(const FilRod *rod, int element, int *first, int *last);
void fil_nodal_place_jacobian(const FilRod *rod, int element, double u, double *jacobian);
void fil_nodal_place_span(const FilRod *rod, int element, double u, int *first, int *last);
void fil_nodal_curvature_at(const FilRod *rod, int element, double u, double kappa[3]);
double fil_nodal_elastic_at(const FilRod *rod, int element, double u);
double fil_nodal_edge_tension(const FilRod *rod, int element);
void fil_nodal_energy(const FilRod *rod, FilRodEnergy *energy);
void fil_nodal_gradient(const FilRod *rod, double *gradient);
void fil_nodal_hessian(const FilRod *rod, double *hessian);
void fil_nodal_stiffness(const FilRod *rod, double *stiffness);
void fil_nodal_mass(const FilRod *rod, double *mass);
void fil_nodal_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                           double *rates);
void fil_nodal_axial_rates(const FilRod *rod, double *rates);
void fil_nodal_momentum(const FilRod *rod, const double *state, const double about[3],
                        double linear[3], double angular[3]);
void fil_nodal_body_wrench(const FilRod *rod, const double about[3], double force[3],
                           double moment[3]);
void fil_nodal_tip_reaction(const FilRod *rod, const FilRodPast *past, double force[3],
                            double moment[3]);
FilStatus fil_nodal_check_natural(const FilRod *rod, int element, const double kappa[3],
                                  FilError *error);
double fil_nodal_largest_step(const FilRod *rod);
double fil_nodal_flaw(const FilRod *rod);
void fil_nodal_refresh(FilRod *rod);

// --- among the files nodal*.c --------------------------------------------------------------------

/// The node at the root (`end` 0) or the tip (1), and how it is held.
static inline int fil_nodal_end_node(const FilNodal *nodal, int end) {
    return end == 0 ? nodal->ghosts[0] : nodal->edge_count - nodal->ghosts[1];
}
static inline const FilRodEnd *fil_nodal_end(const FilRod *rod, int end) {
    return end == 0 ? &rod->root_end : &rod->tip_end;
}

/// The element of an edge, or -1 for a ghost.
static inline int fil_nodal_element(const FilRod *rod, int edge) {
    const FilNodal *nodal = rod->data;
    int element = edge - nodal->ghosts[0];
    return element < rod->element_count ? element : -1;
}

/// Free unknowns of a full vector, and a full vector of free unknowns (held ones 0); `axes`: n0 of
/// the poses that hold the root and the tip, used where an end slides.
void fil_nodal_gather(const FilRod *rod, double axes[2][3], const double *full, double *free);
void fil_nodal_scatter(const FilRod *rod, double axes[2][3], const double *free, double *full);
/// The axes for it at `time`.
void fil_nodal_axes(const FilRod *rod, double time, double axes[2][3]);

/// Place `to`, whose nodes and spins are set: ends where they are held at `time`, edges and bends.
void fil_nodal_place(const FilRod *rod, double time, const FilShape *from, FilShape *to);
/// Copy the shape and forget its spins.
void fil_nodal_copy(const FilNodal *nodal, const FilShape *from, FilShape *to);

/// Make nodal->start of the state, up to the round-off of twists; and the state of nodal->start.
void fil_nodal_load(FilNodal *nodal);
void fil_nodal_store(FilNodal *nodal);

/// Gradient of the elastic energy of a shape, by edges (pulls) and by unknowns (full, overwritten).
void fil_nodal_pull(const FilNodal *nodal, const FilShape *shape, const FilSprings *springs,
                    double *full);
/// The band matrix `factor` times the elastic Hessian of a shape.
void fil_nodal_stiffen(const FilNodal *nodal, const FilShape *shape, const FilSprings *springs,
                       FilHessianPart part, double factor);
/// Turn the unknowns of sliding ends in the band matrix to their axes.
void fil_nodal_turn_ends(const FilRod *rod, double axes[2][3]);
/// Gravity, point forces and torques, in the present shape, added to `full`.
void fil_nodal_add_loads(const FilRod *rod, double *full);

// A section of the present shape (nodal_section.c).
typedef struct FilNodalSection {
    int e, f;           // the edges whose middles are around it; before a free end the same one
    double bend, twist; // how far from that of e to that of f its tangent is and its spin, 0 .. 1
    double shrink;      // length of the mean of the tangents
    double t[3];        // the tangent between theirs
    double axis[3][3];  // the frame
} FilNodalSection;

// How a section turns: spin = sum over e and f of edge[] (rate of the edge's vector) + spin[] (rate
// of its turn about itself).
typedef struct FilNodalTurn {
    double edge[2][9], spin[2][3];
} FilNodalTurn;

void fil_nodal_find_section(const FilRod *rod, int element, double u, FilNodalSection *section);
void fil_nodal_find_turn(const FilRod *rod, const FilNodalSection *section, FilNodalTurn *turn);
/// How the generalised force of a torque, fixed in space, changes with (e, turn of e, f, turn of
/// f): the symmetric part, 8 x 8; before a free end, where e and f are one, the first 4.
void fil_nodal_torque_hessian(const FilRod *rod, const FilNodalSection *section,
                              const double torque[3], double H[64]);
/// Leave out what ghost edges do: it is given.
void fil_nodal_let_ghosts(const FilRod *rod, const FilNodalSection *section, FilNodalTurn *turn);

/// The velocity v of a shape becomes that after the gyroscopic forces of the time h (nodal_gyro.c).
void fil_nodal_kick(const FilRod *rod, double time, double h, const FilShape *shape, double *v);

// What the end of a step needs to know of its beginning (nodal_recover.c).
typedef struct FilNodalStart {
    double kinetic, elastic; // J
    double mass, linear[3];  // kg; kg m/s: its momentum
    FilBulk bulk;            // of a free rod
    FilTwistPair momentum;   // about its centre there
} FilNodalStart;

/// Make nodal->kicked lean as the scheme wants it: after fil_nodal_kick().
void fil_nodal_lean(const FilRod *rod, double dt);
/// Before nodal->v is that of the end; the end is nodal->trial.
void fil_nodal_measure(const FilRod *rod, FilNodalStart *start);
/// nodal->v, the mean velocity of the step, becomes that of its end, and the centre of a rod that
/// is free goes where its momentum leads. Returns what FilRodTable.flaw returns, NaN
/// where there is no energy in doubles.
double fil_nodal_recover(FilRod *rod, double dt, FilShape *end, FilNodalStart *start);

/// Half-bandwidth: 10 or 8.
static inline int fil_nodal_width(const FilNodal *nodal) {
    return 2 * nodal->stride + 2;
}

// axial: NULL or fil_nodal_axial_rates
#define FIL_NODAL_TABLE(model, frames, maker, natural, axial)                                     \
    {                                                                                             \
        .name = model, .framed = frames, .create = maker, .place_ends = fil_nodal_place_ends,     \
        .adopt = fil_nodal_adopt, .prepare = fil_nodal_prepare, .residual = fil_nodal_residual,   \
        .get_rest = fil_nodal_get_rest, .merit = fil_nodal_merit, .solve = fil_nodal_solve,       \
        .solve_columns = fil_nodal_solve_columns, .factors = fil_nodal_factors,                   \
        .advance = fil_nodal_advance, .drift = fil_nodal_drift,                                   \
        .get_velocity = fil_nodal_get_velocity, .forget = fil_nodal_forget,                       \
        .stop = fil_nodal_stop, .launch = fil_nodal_launch, .slow_down = fil_nodal_slow_down,     \
        .move = fil_nodal_move, .at = fil_nodal_at, .sample = fil_nodal_sample,                   \
        .jacobian = fil_nodal_jacobian, .span = fil_nodal_span,                                   \
        .place_jacobian = fil_nodal_place_jacobian, .place_span = fil_nodal_place_span,           \
        .curvature_at = fil_nodal_curvature_at, .elastic_at = fil_nodal_elastic_at,               \
        .edge_tension = fil_nodal_edge_tension, .energy = fil_nodal_energy,                       \
        .gradient = fil_nodal_gradient, .hessian = fil_nodal_hessian,                             \
        .stiffness = fil_nodal_stiffness, .rigid_rates = fil_nodal_rigid_rates,                   \
        .axial_rates = axial, .momentum = fil_nodal_momentum,                                     \
        .body_wrench = fil_nodal_body_wrench, .tip_reaction = fil_nodal_tip_reaction,             \
        .mass = fil_nodal_mass, .check_natural = natural, .largest_step = fil_nodal_largest_step, \
        .flaw = fil_nodal_flaw, .refresh = fil_nodal_refresh,                                     \
    }

#endif
