#ifndef FIL_ROD_REDUCED_H
#define FIL_ROD_REDUCED_H

// What helix and clothoid share: rods whose unknowns are curvatures. See reduced.c.
//
// Element i has d = 3 (helix) or 6 (clothoid) curvature numbers, kappa[3 i .. 3 i + d - 1]; degrees
// of freedom are those of the root (0, 3 spin, or 6 velocity and spin, world axes), then kappa's
// rates. Each element sees itself from its own start frame; `turn` brings its axes into those of
// its parent's start.

#include "bulk.h"
#include "element.h"
#include "rod.h"

// The arrays of a rod, doubles for each element; d: curvatures of an element, m = d + 3: interface.
// Kept from one call to the next: geometry and motion, and the factors of the last step.
#define FIL_REDUCED_GEOMETRY(X)                                                      \
    X(turn, 9)      /* columns: the element's axes in those of its parent         */ \
    X(end_place, 3) /* the end, see FilElementEnd                                 */ \
    X(theta, 3 * d)                                                                  \
    X(travel, 3 * d)                                                                 \
    X(end_turn, 9)                                                                   \
    X(frame, 9)  /* columns: its axes at the start, in the world                  */ \
    X(place, 3)  /* where it starts, in the world                                 */ \
    X(motion, 6) /* velocity and spin of the start                                */
#define FIL_REDUCED_FACTORS(X)                     \
    X(coupling, 3 * m) /* recursive.c           */ \
    X(tension, 1)      /* reduced_tension.c     */ \
    X(pivot, 6)                                    \
    X(passed, m) /* scratch of the solves, and of measures */

// Valid within the call that made a pass: small rods share one place for them, which stays in the
// processor's cache while thousands of rods go by.
#define FIL_REDUCED_PASSING(X)                                                  \
    X(bias, 6)     /* acceleration that is known, minus gravity            */   \
    X(end_bias, 6) /* of the end, seen from the start                      */   \
    X(mass, 1)     /* the mass matrix, see FilElementSums                  */   \
    X(moment, 3)                                                                \
    X(ww, 6)                                                                    \
    X(vk, 3 * d)                                                                \
    X(wk, 3 * d)                                                                \
    X(kk, d *(d + 1) / 2)                                                       \
    X(h, 6 + d)      /* force on start and curvatures                        */ \
    X(pull, 3)       /* the force in it, without momentum                    */ \
    X(wrench, 6)     /* force on the start, with all that hangs behind       */ \
    X(reduced, m *m) /* inertia felt at the start: recursive.c               */

#define FIL_REDUCED_PIVOT 1e-15 // relative: what round-off may bring a pivot to

// A rod as a whole: energies (J), momentum and what gravity and loads do to it (force, then moment
// about the root, which is at `about`). `arm` leads from there to the centre: the difference of the
// two places would lose digits far away from the origin.
typedef struct FilReducedWhole {
    double kinetic, elastic, potential;
    double pull; // N: sizes of all forces
    double about[3], arm[3];
    double momentum[2][3], force[2][3];
    FilBulk bulk;
    bool sane;
} FilReducedWhole;

typedef struct FilReducedSpace FilReducedSpace; // reduced_space.c

typedef struct FilReduced {
    int d;          // curvature numbers of an element
    int root;       // degrees of freedom of the root: 0, 3, 6
    int kappas;     // curvature numbers of the rod
    bool recursive; // the step is solved by elimination from the tips, else by a dense matrix
    bool stale;     // geometry or motion are not those of the state
    bool sane;      // no element turns beyond what can be integrated
    bool tense;     // tension counts in the step that was prepared
    double calm;    // part of the velocity terms that the step that was prepared leaves out
    double flaw;    // of the last step: see FilRodTable
    FilReducedWhole whole; // of the state, where it was measured ...
    bool measured;         // ... and nothing changed since, at this revision of the rod
    unsigned revision;
    const FilElementKernels *kernels;
    // views of the state
    double *root_place, *root_turn, *root_rate; // [3], [9] columns are axes, [6] world
    double *kappa, *rate;                       // [kappas]
    // the tree
    int *parent, *child, *sibling; // [elements]: first child, next of the same parent; -1: none
    int first;                     // first element at the root
#define X(name, count) double *name;
    FIL_REDUCED_GEOMETRY(X)
    FIL_REDUCED_FACTORS(X)
    FIL_REDUCED_PASSING(X)
#undef X
    bool shares; // the passing arrays are the thread's
    // the step is made at a shape ahead of the state, which has a geometry of its own
    double *here, *ahead;             // blocks of geometry
    double *here_state, *ahead_state; // [18 + 2 kappas] what the views are of
    double *after;                    // [6 + kappas]: a guess of the velocities after the step
    double *push;                     // [6 + kappas]: their mean acceleration
    double root_factor[81];           // Cholesky factor of what is unknown at the root
    int root_first[9];
    double root_axes[9];    // frame of the root when they were made
    double root_wrench[6];  // on the root, in its axes
    double *dense;          // [dof_count][dof_count] or NULL
    int *dense_first;       // [dof_count] or NULL
    double *forces;         // [dof_count] scratch
    double *end_jacobian;   // [6][dof_count] scratch, where rows hold an end
    FilReducedSpace *space; // of steps in space; NULL: there was none yet
} FilReduced;

static inline FilReduced *fil_reduced(const FilRod *rod) {
    return rod->data;
}

// --- reduced.c -----------------------------------------------------------------------------------

// What a pass over the rod finds.
typedef struct FilReducedPass {
    double dt;             // weight of the known forces
    double momentum;       // weight of the momentum
    double drag;           // s: theta dt, time that the drag acts in the mass matrix
    double resist;         // s: dt, time that the drag acts on the velocities
    double calm;           // part of the velocity terms that is left out
    bool moving;           // else velocities are taken as zero
    bool pushed;           // the velocities change as `push` says, else they stay
    bool sums;             // inertia and forces too, not geometry and motion alone
    FilElementParts parts; // of the sums
} FilReducedPass;

/// Geometry, motion, and as asked the mass matrix and the force h of all elements.
void fil_reduced_pass(const FilRod *rod, const FilReducedPass *pass);
/// The geometry and the views of the state that are worked with: those of the state itself, or of
/// the place ahead.
void fil_reduced_use(const FilRod *rod, bool ahead);
void fil_reduced_view(FilReduced *data, bool ahead);
/// Geometry and motion of the present state.
void fil_reduced_update(const FilRod *rod);
/// The fastest spin of the joints and tips after a pass, rad/s.
double fil_reduced_spin(const FilRod *rod);
/// The same for their tangents: what spins about itself alone does not count.
double fil_reduced_swing(const FilRod *rod);
/// Add one load, or those of the rod, times `dt`, to h.
void fil_reduced_add_load(const FilRod *rod, double dt, const FilRodLoad *load);
void fil_reduced_add_loads(const FilRod *rod, double dt);
/// Generalised forces [dof_count] of all h.
void fil_reduced_gather(const FilRod *rod, double *x);

// A section of an element, seen from its start.
typedef struct FilReducedSection {
    double turn[9], place[3], theta[6][3], travel[6][3];
} FilReducedSection;

/// Sections at many places at once, or at one.
void fil_reduced_sections(const FilRod *rod, const FilRodPlace *places, int count,
                          FilReducedSection *sections);
void fil_reduced_section(const FilRod *rod, int element, double u, FilReducedSection *section);

/// The natural value of curvature number a (0, 3) of element i.
void fil_reduced_natural(const FilRod *rod, int i, int a, double natural[3]);
/// K (kappa - natural) of one element, [d]; and the elastic stiffness of element i: the block of
/// curvature values p and q (0 start, 1 end) is a multiple of diag(K).
void fil_reduced_elastic(const FilRod *rod, int i, double *force);
/// K rate of one element.
void fil_reduced_stiffen(const FilRod *rod, int i, const double *rate, double *force);
double fil_reduced_hat(const FilRod *rod, int i, int p, int q);

// The functions of the table.
FilStatus fil_reduced_create(FilRod *rod, int d, const double *start, FilError *error);
void fil_reduced_refresh(FilRod *rod);

// --- reduced_step.c ------------------------------------------------------------------------------
double fil_reduced_turning(const FilRod *rod, const double *velocity);
bool fil_reduced_correct(FilRod *rod, double dt, const double *velocity, const double *push,
                         double *rhs);
double fil_reduced_flaw(const FilRod *rod);
double fil_reduced_prepare(FilRod *rod, double dt, const double *guess, double *rhs);
void fil_reduced_solve(const FilRod *rod, double *x);
void fil_reduced_advance(FilRod *rod, double dt, const double *velocity);
void fil_reduced_get_velocity(const FilRod *rod, double *velocity);
void fil_reduced_stop(FilRod *rod);
void fil_reduced_launch(FilRod *rod, const double velocity[3], const double spin[3]);
void fil_reduced_place_ends(FilRod *rod);
void fil_reduced_move(FilRod *rod, const double *dx);

/// Move the configuration; rates stay.
void fil_reduced_shift(FilRod *rod, const double *dx);
/// A root that is held goes where it is held after `dt`, and has its mean rate.
void fil_reduced_follow_root(FilRod *rod, double dt);
/// The part of a displacement, `scale` times x, that all elements bear.
double fil_reduced_find_part(const FilRod *rod, double scale, const double *x);

// --- reduced_space.c -----------------------------------------------------------------------------

/// Keep the state that the usual step led to. False where there is no step in space: a tip is held,
/// a torque acts, an element is a coil, or there is no memory.
bool fil_reduced_enter_space(FilRod *rod);
/// Go back to it.
void fil_reduced_leave_space(FilRod *rod);
/// Take a step in space, without mending momentum and energy. False where the search did not end.
/// Energies below `noise` do not count.
bool fil_reduced_step_in_space(FilRod *rod, double dt, double noise);

// --- reduced_recover.c ---------------------------------------------------------------------------

/// Whether nothing holds or drags the rod: momentum and energy are made right at the end of a step.
bool fil_reduced_is_free(const FilRod *rod);
/// The present state as a whole.
void fil_reduced_measure(const FilRod *rod, FilReducedWhole *whole);
/// The end of a step that began with `start`, of which a part was taken, and in which impulses did
/// the work `pushed`: momentum and energy are made right. Returns what FilRodTable.flaw returns.
double fil_reduced_recover(FilRod *rod, double dt, double part, double pushed,
                           const FilReducedWhole *start);

/// v <- V + part (v - V): see FilRodTable.slow_down.
void fil_reduced_slow_down(FilRod *rod, const double velocity[3], double part);

/// The rod was moved from where it was like `start`: its velocities stay so far as it has no more
/// energy than before (where it moves at all) and, where it is free, the same momentum.
void fil_reduced_settle(FilRod *rod, const FilReducedWhole *start);

// --- reduced_tension.c ---------------------------------------------------------------------------

/// Add the stiffness that tension gives the rod, times step^2, to the mass matrix of the last pass.
void fil_reduced_stretch(const FilRod *rod, double dt, double step);
/// Add what forces of any direction have, made positive, after sums and forces times dt^2.
void fil_reduced_brace(const FilRod *rod);
/// Add it times the rates of the state, or the difference to the rates after the step, to h.
void fil_reduced_add_tension(const FilRod *rod, bool difference);

// --- reduced_look.c ------------------------------------------------------------------------------
void fil_reduced_at(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate);
void fil_reduced_sample(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                        double *rates);
void fil_reduced_jacobian(const FilRod *rod, int element, double u, double *jacobian);
void fil_reduced_span(const FilRod *rod, int element, int *first, int *last);
void fil_reduced_curvature_at(const FilRod *rod, int element, double u, double kappa[3]);
void fil_reduced_end_rows(const FilRod *rod, double time, double *rows, double *error);
/// Rows of a step that ends at `time`: linear where A is, and about what the held root carries the
/// ends to.
void fil_reduced_step_rows(const FilRod *rod, double time, double *rows, double *error);
/// Errors so many seconds ago, had the root alone moved since.
void fil_reduced_past_rows(const FilRod *rod, double seconds, double *rows, double *error);
double fil_reduced_elastic_at(const FilRod *rod, int element, double u);
void fil_reduced_energy(const FilRod *rod, FilRodEnergy *energy);
void fil_reduced_add_elastic(const FilRod *rod, int i, FilRodEnergy *energy);
void fil_reduced_gradient(const FilRod *rod, double *gradient);
void fil_reduced_stiffness(const FilRod *rod, double *stiffness);
void fil_reduced_mass(const FilRod *rod, double *mass);
double fil_reduced_largest_step(const FilRod *rod);
void fil_reduced_hold_shape(FilRod *rod);

// --- reduced_whole.c -----------------------------------------------------------------------------
void fil_reduced_rigid_rates(const FilRod *rod, const double velocity[3], const double spin[3],
                             double *rates);
void fil_reduced_axial_rates(const FilRod *rod, double *rates);
void fil_reduced_momentum(const FilRod *rod, const double *state, const double about[3],
                          double linear[3], double angular[3]);
void fil_reduced_body_wrench(const FilRod *rod, const double about[3], double force[3],
                             double moment[3]);

// --- reduced_force.c -----------------------------------------------------------------------------
void fil_reduced_tip_reaction(const FilRod *rod, const FilRodPast *past, double force[3],
                              double moment[3]);

// --- reduced_hessian.c ---------------------------------------------------------------------------
void fil_reduced_hessian(const FilRod *rod, double *hessian);

// --- recursive.c ---------------------------------------------------------------------------------

/// Eliminate from the tips: factors of A = M + stiff K, M of the last pass.
void fil_recursive_factor(const FilRod *rod, double stiff);
/// x <- A^-1 x.
void fil_recursive_solve(const FilRod *rod, double *x);

// --- composite.c ---------------------------------------------------------------------------------

/// A = M + stiff K, dense symmetric [dof_count][dof_count], M of the last pass.
void fil_composite_assemble(const FilRod *rod, double stiff, double *A);
void fil_composite_factor(const FilRod *rod, double stiff);
void fil_composite_solve(const FilRod *rod, double *x);

#define FIL_REDUCED_TABLE(model, maker)                                                       \
    {                                                                                         \
        .name = model, .framed = true,                                                        \
        .carried = true, /* a held root is left out of the coordinates */                     \
            .foresees = true,                                                                 \
        .rows = {{[FIL_END_SLIDING] = 5},                                                     \
                 {[FIL_END_PINNED] = 3, [FIL_END_SLIDING] = 5, [FIL_END_CLAMPED] = 6}},       \
        .create = maker, .prepare = fil_reduced_prepare, .correct = fil_reduced_correct,      \
        .flaw = fil_reduced_flaw, .turning = fil_reduced_turning, .solve = fil_reduced_solve, \
        .advance = fil_reduced_advance, .get_velocity = fil_reduced_get_velocity,             \
        .stop = fil_reduced_stop, .launch = fil_reduced_launch,                               \
        .slow_down = fil_reduced_slow_down, .place_ends = fil_reduced_place_ends,             \
        .move = fil_reduced_move, .at = fil_reduced_at, .sample = fil_reduced_sample,         \
        .jacobian = fil_reduced_jacobian, .span = fil_reduced_span,                           \
        .curvature_at = fil_reduced_curvature_at, .elastic_at = fil_reduced_elastic_at,       \
        .tip_reaction = fil_reduced_tip_reaction, .momentum = fil_reduced_momentum,           \
        .body_wrench = fil_reduced_body_wrench, .end_rows = fil_reduced_end_rows,             \
        .step_rows = fil_reduced_step_rows, .energy = fil_reduced_energy,                     \
        .gradient = fil_reduced_gradient, .hessian = fil_reduced_hessian,                     \
        .stiffness = fil_reduced_stiffness, .rigid_rates = fil_reduced_rigid_rates,           \
        .axial_rates = fil_reduced_axial_rates, .mass = fil_reduced_mass,                     \
        .largest_step = fil_reduced_largest_step, .refresh = fil_reduced_refresh,             \
        .hold_shape = fil_reduced_hold_shape,                                                 \
    }

#endif
