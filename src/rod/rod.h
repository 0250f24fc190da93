#ifndef FIL_ROD_ROD_H
#define FIL_ROD_ROD_H

// What all rod models share, and the table that a model is.
//
// Coordinates and velocities. A model's configuration lives on a manifold (frames are rotations);
// its velocity v is a plain vector of `dof_count` numbers, and so are generalised forces. Held
// degrees of freedom that a model can leave out are left out; what it cannot leave out (the far end
// of a reduced rod, a sliding end) it states as row_count <= FIL_ROD_ROWS linear rows.
//
// One step of the theta-scheme, q+ = q + dt ((1 - theta) v + theta v+), comes down to
//     A v+ = rhs + C^T lambda + (contact rows)^T r,    A = M + theta dt D + theta^2 dt^2 K,
// where prepare() places A (factored) and rhs. A model with nonlinear elasticity is linearised at a
// guess of v+; calling prepare() again with the last v+ as guess is Newton's method. A is symmetric
// and positive definite.

#include "base/arena.h"
#include "filum/rod.h"

#define FIL_ROD_STATE 2          // numbers of the state that all models have: time, length
#define FIL_ROD_ROWS 12          // rows that hold both ends, at most
#define FIL_ROD_LENGTH 1e15      // m: no rod is longer
#define FIL_ROD_LONGEST_STEP 1e9 // s
#define FIL_ROD_HINTED_STEP 1e-9 // s: no shorter one is of use to anybody
#define FIL_ROD_GRAIN 4096       // bytes: memory is taken in pieces of this size, or larger
#define FIL_ROD_ROUND_OFF 1e-10  // rad: by which round-off may bend an element at most
#define FIL_ROD_PLACE 12         // unknowns that move a section, at most: see place_span()
#define FIL_ROD_HARMLESS 2e-3    // flaw of a step that could be shorter, at most: see flaw()
#define FIL_ROD_HONEST 0.05      // and of one that is called converged

typedef struct FilRodTable FilRodTable;

// A section as the models use it.
typedef struct FilStiffness {
    double kappa[3];     // N m^2: GJ, EI1, EI2
    double stretch;      // N: EA
    double mass;         // kg/m
    double spin_inertia; // kg m: about the tangent
    double radius;       // m: of the surface (the larger one of an ellipse)
    double size[2];      // m: along n1 and n2; 0 where it is round, or not known
} FilStiffness;

struct FilRod {
    const FilRodTable *table;
    void *data; // the model's own, in `arena`
    FilArena arena;

    // model: frozen
    int element_count, dof_count;
    int row_count; // of end_rows
    FilRodModel model;
    FilRodStepKind step_kind;
    bool quasistatic_twist;
    double theta;
    FilStiffness *sections; // [element_count]
    FilRodJoint *joints;    // [element_count] or NULL
    FilRodEnd root_end, tip_end;
    FilPose root_start, tip_start; // poses at time 0
    double start_length, growth;
    double *start_lengths; // [element_count] m

    // parameters: may change between steps
    double *lengths;          // [element_count] m, now
    double *natural;          // [element_count][2][3] 1/m: kappa at the two ends of each element
    const char *natural_name; // the field that it came from
    double gravity[3];
    double damping, drag;
    FilRodLoad *loads; // [load_count], room for load_room; the last air_count are those of the air
    double
        *load_parts; // [load_room + 1] of the length: where loads of the user are, however it grows
    int load_count, load_room, air_count;
    double air[3];     // N/m: a force along the rod, see fil_rod_set_air()
    unsigned revision; // grows with every change from outside, of parameters or state

    // state: one array; the first FIL_ROD_STATE numbers are the time and the length, the rest is
    // the model's: coordinates, velocities, reference frames
    double *state; // [state_count]
    int state_count;

    // scratch of fil_rod_step
    double *rhs, *before, *velocity, *trial, *mend; // [dof_count]
    const double *push; // [dof_count]: what impulses did in the step that is taken; NULL: nothing
    double unpaid;      // J: see FilPush
    bool touched;       // the step that is prepared is one of contacts: see held.c
    double *rows, *columns; // [row_count][dof_count]: C and A^-1 C^T
    double *row_inverse;    // [row_count][row_count]: (C A^-1 C^T)^+
    double *saved, *origin; // [state_count]
    // the last step, or its last part, began at `saved`, when revision was past_revision, and took
    // past_dt; 0: there was none
    double past_dt;
    unsigned past_revision;
    int linearisations;    // of a step that is linear: 0 and 1 are one
    bool tired;            // a step took so much work that its rest is taken as it comes
    bool shortest;         // no shorter step will be tried: what is lost in it is lost
    bool tentative;        // a step with a flaw will be taken back, and a shorter one be tried
    bool careful;          // a step is done as implicit Euler, without terms that are foreseen
    FilStatus step_status; // of the last step in fil_rods_step()
};

// How a step that others take for a rod differs from one of its own.
typedef struct FilPush {
    const double *impulses; // [dof_count]: what pushed it; NULL: nothing did
    double unpaid;          // J: of their work, what is not to stay in the rod
    bool shortest;          // no shorter step will be tried
} FilPush;

// A section of a rod.
typedef struct FilRodPlace {
    int element;
    double u; // fraction of the element
} FilRodPlace;

// What a rod came from: its state when the last step began, and how long that was; no state: it is
// taken to stay as it moves. `next` gives what pushes it besides its loads, one after the other,
// and from the first one on again when it has returned false.
typedef struct FilRodPast {
    const double *state; // [state_count] or NULL
    double dt;           // s
    bool (*next)(void *context, FilRodLoad *push);
    void *context;
} FilRodPast;

struct FilRodTable {
    const char *name;
    bool framed;   // has frames: twist, torque
    bool carried;  // with v+ = 0 all of the rod moves with its root, as if it were rigid
    bool foresees; // velocity terms are foreseen, not part of A: careful steps do without them
    // Rows of end_rows() that hold the root and the tip, by how they are held: what the coordinates
    // do not hold already. Of 5 and more rows the last three hold the frame, those before (and 3
    // rows or fewer) the place, across n0 where the end slides.
    int rows[2][FIL_END_COUNT];

    // Check what is particular to the model; set dof_count, row_count, state_count, allocate state
    // (with fil_rod_new_state) and data in the arena, and place the start shape (`start`: kappa at
    // the two ends of each element, [element_count][2][3]) at rest. All else of `rod` is filled in
    // already.
    FilStatus (*create)(FilRod *rod, const double *start, FilError *error);

    // Bring driven ends to where they are held at time 0 (tip_start is known by now). NULL: they
    // are rows, or there already.
    void (*place_ends)(FilRod *rod);

    // Take over the state of a rod that differs in how its ends are held alone. NULL: all of it.
    void (*adopt)(FilRod *rod, const FilRod *from);

    // What was prepared before is not of the step that follows, though state and dt be the same.
    // NULL: prepare() never looks back.
    void (*forget)(FilRod *rod);
    // Place and factor A at the present state, linearised at the velocity `guess` (NULL: the
    // present one), and write rhs, unless there is get_rest(). Returns the residual |A guess - rhs|
    // of the nonlinear step, relative to the terms in it (0 for a model whose step is linear, and
    // without a guess).
    double (*prepare)(FilRod *rod, double dt, const double *guess, double *rhs);
    // The residual that prepare() would return for this velocity, without A. NULL: ask prepare().
    double (*residual)(FilRod *rod, double dt, const double *velocity);
    // A v+ - rhs for the guess of the last prepare(), to more digits than the difference. NULL: use
    // rhs.
    void (*get_rest)(const FilRod *rod, double *rest);
    // What the step minimises, for a velocity v+ of its end: the incremental potential, whose
    // gradient prepare() brings to zero. NULL: the step is linear, one prepare() is all.
    double (*merit)(FilRod *rod, double dt, const double *velocity);
    // The velocity v+ turned out to be another one than prepare() took it for, because of the
    // impulses `push` (generalised): correct rhs for the same A, by forces alone. Returns false
    // where that is not worth it, or not possible. NULL: never.
    bool (*correct)(FilRod *rod, double dt, const double *velocity, const double *push,
                    double *rhs);
    // What is wrong with how the last advance() went, 0: nothing. The part of its motion that it
    // took from the rod, so that it has no more energy than it had and got; 1 where a held end is
    // not in its place; above 1: to take all of it was not enough; above 2: the rod has a shape
    // that cannot be followed.
    double (*flaw)(const FilRod *rod);
    // How far sections turn against each other at this velocity, rad/s. NULL: nobody asks.
    double (*turning)(const FilRod *rod, const double *velocity);
    // x <- A^-1 x, for the A of the last prepare(); O(N).
    void (*solve)(const FilRod *rod, double *x);
    // The same for the columns of x, [dof_count][count]. NULL: one at a time.
    void (*solve_columns)(const FilRod *rod, int count, double *x);
    // A itself where it is a band matrix, as fil_band_factor() left it; returns its half-width.
    // NULL: it is not.
    int (*factors)(const FilRod *rod, const double **band);
    // Take the step with the velocity v+ of its end; time moves too.
    void (*advance)(FilRod *rod, double dt, const double *velocity);
    // The last resort, where nothing else can be followed: a step as one piece that keeps its shape
    // and does not turn. A free rod goes where its momentum and what acts on it lead, one that is
    // held with what holds it. It gains no energy, and a free rod keeps both momenta, whatever dt.
    // NULL: the rod is stopped instead.
    void (*drift)(FilRod *rod, double dt);

    void (*get_velocity)(const FilRod *rod, double *velocity);
    // All velocities to 0.
    void (*stop)(FilRod *rod);
    // Those of a rigid motion: `velocity` of the root, `spin` about it; held unknowns stay at rest.
    void (*launch)(FilRod *rod, const double velocity[3], const double spin[3]);
    // v <- V + part (v - V), V the motion of all of the rod with `velocity`, of what is not held.
    void (*slow_down)(FilRod *rod, const double velocity[3], double part);
    // Move the configuration along dx, a displacement of dof_count numbers; velocities stay.
    void (*move)(FilRod *rod, const double *dx);

    // The section at the fraction u of an element: pose, motion (may be NULL), and the rows that
    // turn v into velocity (3) and spin (3): jacobian is 6 x dof_count, row-major.
    void (*at)(const FilRod *rod, int element, double u, FilPose *pose, FilRate *rate);
    void (*jacobian)(const FilRod *rod, int element, double u, double *jacobian);
    // Where the centres of many sections are and, unless NULL, how they move: [count][3] each.
    void (*sample)(const FilRod *rod, const FilRodPlace *places, int count, double *points,
                   double *rates);
    // The unknowns first .. last - 1 are all that move sections of this element.
    void (*span)(const FilRod *rod, int element, int *first, int *last);
    // The same for one section, where few unknowns move it (at most FIL_ROD_PLACE of them, fewer
    // than those of its element): rows [6][last - first]. NULL: use those above.
    void (*place_span)(const FilRod *rod, int element, double u, int *first, int *last);
    void (*place_jacobian)(const FilRod *rod, int element, double u, double *jacobian);
    void (*curvature_at)(const FilRod *rod, int element, double u, double kappa[3]);
    // Energy of bending and twist by length, J/m: its integral is that of energy().
    double (*elastic_at)(const FilRod *rod, int element, double u);
    // N: how an element is stretched. NULL: nothing stretches, tension follows from balance.
    double (*edge_tension)(const FilRod *rod, int element);
    // Force and moment of what holds the tip, N and N m, from the balance of what is next to it; 0
    // where nothing does, or it cannot be known.
    void (*tip_reaction)(const FilRod *rod, const FilRodPast *past, double force[3],
                         double moment[3]);

    // Linear and angular momentum about the place `about`, of this state of the rod.
    void (*momentum)(const FilRod *rod, const double *state, const double about[3],
                     double linear[3], double angular[3]);
    // What gravity and drag do to the rod as a whole: force, and moment about the place.
    void (*body_wrench)(const FilRod *rod, const double about[3], double force[3],
                        double moment[3]);

    // Rows C that hold the ends beyond what the coordinates already hold: C dx = -error brings the
    // configuration to where the ends are held at `time`. Writes C (row-major, row_count of the
    // rod) and the errors (m; rad). NULL where row_count is always 0.
    void (*end_rows)(const FilRod *rod, double time, double *rows, double *error);
    // The same for a step: rows where the last prepare() placed A. NULL: end_rows().
    void (*step_rows)(const FilRod *rod, double time, double *rows, double *error);

    void (*energy)(const FilRod *rod, FilRodEnergy *energy);
    // Of the potential energy (elastic, gravity, loads; torques as follower-free generalised
    // forces): gradient [dof_count]; Hessian and elastic stiffness alone (at zero gravity and
    // load), dense symmetric, [dof_count][dof_count].
    void (*gradient)(const FilRod *rod, double *gradient);
    void (*hessian)(const FilRod *rod, double *hessian);
    void (*stiffness)(const FilRod *rod, double *stiffness);

    // The velocity v of a rigid motion: `velocity` of the root, `spin` about it, world axes; what
    // the coordinates hold is left out.
    void (*rigid_rates)(const FilRod *rod, const double velocity[3], const double spin[3],
                        double *rates);
    // That of all sections turning about their tangents at 1 rad/s, the centreline at rest. NULL:
    // sections have no frames.
    void (*axial_rates)(const FilRod *rod, double *rates);

    // The mass matrix, dense symmetric.
    void (*mass)(const FilRod *rod, double *mass);

    double (*largest_step)(const FilRod *rod);
    // Whether the model can have this natural curvature at an element; NULL: any.
    FilStatus (*check_natural)(const FilRod *rod, int element, const double kappa[3],
                               FilError *error);
    // Lengths or natural curvatures changed, or the state was set.
    void (*refresh)(FilRod *rod);
    // Choose natural curvatures (rod->natural) for which the present shape is an equilibrium; NULL
    // where a model cannot.
    void (*hold_shape)(FilRod *rod);
};

/// The table of a model.
const FilRodTable *fil_rod_table(FilRodModel model);

// --- the parts of a step (step.c) ----------------------------------------------------------------

/// Whether a step of `dt` from now is a step at all, and its driven ends have places to go to.
FilStatus fil_rod_check_step(const FilRod *rod, double dt, FilError *error);
/// v+ of a step without contacts into rod->velocity.
void fil_rod_find_velocity(FilRod *rod, double dt, FilRodStepInfo *info);
/// Take the step with the velocity v+ of its end (NULL: as one piece, see FilRodTable.drift); the
/// rod stays as it was when that would leave the range of numbers. `push` NULL: nothing pushed it,
/// and it is a step of its own.
FilStatus fil_rod_take_step(FilRod *rod, double dt, const double *velocity, const FilPush *push,
                            FilError *error);

// --- the rod as a whole (whole.c) ----------------------------------------------------------------

/// Force and moment of what holds the root and the tip, after the last step that `past` knows.
void fil_rod_find_reactions(const FilRod *rod, const FilRodPast *past, double force[2][3],
                            double moment[2][3]);
/// Add a wrench, a force at a place and a moment, to one about another place.
void fil_rod_add_wrench(const double about[3], const double place[3], const double force[3],
                        const double moment[3], double sum[2][3]);

// --- shared small parts --------------------------------------------------------------------------

/// Where and how an end is held at `time`, for ends that are held at all.
void fil_rod_end_pose(const FilRod *rod, const FilRodEnd *end, double time, FilPose *pose);

/// The velocity with which all that is held goes, without turning, in a step of `dt` from `time`; 0
/// where nothing is driven. False where something turns, or ends go apart.
bool fil_rod_find_way(const FilRod *rod, double time, double dt, double velocity[3]);

/// How far the ends are from where rows hold them now, of the length (m, rad).
double fil_rod_find_astray(const FilRod *rod);

/// J: the energy of the strains that round-off of places makes, for a rod of nodes whose first one
/// is at x.
double fil_rod_strain_noise(const FilRod *rod, const double x[3]);

/// Whether places of a rod of nodes at x are fine enough to tell its shape. Farther away it can
/// only stay where it is.
bool fil_rod_is_resolved(const FilRod *rod, const double x[3]);

/// How far `pose` is from `held` in the directions that an end of this kind holds, and the rows for
/// it: `jacobian` (6 x dof_count: velocity, spin) is combined into rows. Returns how many.
int fil_rod_hold_rows(const FilRod *rod, FilEndKind kind, const FilPose *pose, const FilPose *held,
                      const double *jacobian, double *rows, double *error);

/// The loads that rows with the multipliers `lambda` put on the ends of the rod at `time`, where
/// end_rows() is about its held ends: writes at most 2, returns how many.
int fil_rod_row_loads(const FilRod *rod, double time, const double *lambda, FilRodLoad *loads);

/// Rows that end_rows() of the rod gives.
int fil_rod_count_rows(const FilRod *rod);

/// Energy of bending and twist by length, J/m, where the curvature is `kappa`.
double fil_rod_elastic_density(const FilRod *rod, int element, double u, const double kappa[3]);

/// The tension at the fraction `u` of an element, for models with edge_tension(): see tension.c.
double fil_rod_edge_tension_at(const FilRod *rod, int element, double u);

/// The element and the fraction of it at arc length `s`, clamped to the rod.
int fil_rod_locate(const FilRod *rod, double s, double *u);

/// Solve S lambda = b in place for the m <= FIL_ROD_ROWS rows that hold the ends, S symmetric and
/// positive semi-definite; what depends on other rows is left at 0. Pivots below `soft` give way: 1
/// / pivot becomes pivot / (pivot^2 + soft^2).
void fil_rod_solve_rows(int m, double *S, double *b, double soft);
/// Where rows begin to give way in a step: a small part of how far the ends' places can be moved.
double fil_rod_row_softness(const FilRod *rod, const double *S);

/// Add to x, velocities of the end of a step of `dt`, those that take `error` out of the rows that
/// hold the ends: rod->rows, rod->columns and S = C A^-1 C^T are made. What the rod can hardly
/// follow, as a straight one along its axis, is taken out as far as a step goes: see step.c.
void fil_rod_mend_ends(const FilRod *rod, double dt, const double *S, const double *error,
                       double *x);

/// x, the step A^-1 rhs without the rows that hold the ends, becomes the step with them;
/// rod->before is the velocity at its start. Returns how far from where they are held the ends will
/// be, to first order, relative to the length (m, rad): 0 unless the rod cannot follow.
double fil_rod_hold_ends(FilRod *rod, double dt, double *x);

/// Scratch of the step, when dof_count, row_count and state_count are known.
FilStatus fil_rod_reserve_step(FilRod *rod, FilError *error);

/// Allocate the state: `count` numbers of the model's own, which follow the common ones. Returns
/// where they start, NULL when there is no memory.
double *fil_rod_new_state(FilRod *rod, int count);

/// One section with the numbers that its kind and material stand for.
FilStatus fil_section_resolve(const FilSection *section, FilStiffness *out, FilError *error);

/// Check a definition, apart from what is particular to its model.
FilStatus fil_rod_def_check(const FilRodDef *def, FilError *error);

/// Check loads for a rod of this length; `framed`: its model takes torques.
FilStatus fil_rod_loads_check(const FilRodLoad *loads, int count, double length, bool framed,
                              FilError *error);

/// Check that driven ends have poses at `time`.
FilStatus fil_rod_motions_check(const FilRod *rod, double time, FilError *error);

/// A constant force per length on all sections, N/m, as loads at two places of each element: for
/// rods whose sections differ in mass, where gravity cannot stand for it.
FilStatus fil_rod_set_air(FilRod *rod, const double force[3], FilError *error);
/// Place the loads of the air, after a change of lengths.
void fil_rod_place_air(FilRod *rod);
/// As fil_rod_set_loads(), with `s` as a part of the length: 0 .. 1.
FilStatus fil_rod_set_load_parts(FilRod *rod, const FilRodLoad *loads, int count, FilError *error);
/// Room for so many loads, those of the air included; what is there is kept.
FilStatus fil_rod_reserve_loads(FilRod *rod, int count, FilError *error);

/// Scale all elements so that the rod is `length` (above 0) long.
void fil_rod_grow_to(FilRod *rod, double length);

/// Check that axes are orthonormal and right-handed.
FilStatus fil_rod_axes_check(const double axis[3][3], const char *name, FilError *error);

/// Check a table of curvatures (NULL is fine) for a rod of so many elements.
FilStatus fil_rod_table_check(const double *table, int count, int elements, const char *name,
                              FilError *error);

/// Spread a table of `count` curvatures (element_count: constant in each element; one more: at the
/// joints) over the elements: out is [element_count][2][3], both ends of each.
void fil_rod_spread(const double *curvatures, int count, int element_count, double *out);

#endif
