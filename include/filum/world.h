#ifndef FIL_WORLD_H
#define FIL_WORLD_H

/// The world: rods and rigid bodies that touch each other and obstacles, with exact friction.
///
/// Make a world, add materials, obstacles and bodies, then step it. Each step finds the contacts,
/// solves the frictional problem of the whole step (filum/friction.h) and moves everything. A step
/// whose solve did not converge is a result, not an error: FilStepInfo says so, with its residual.
///
/// Whatever is added gets a number, counted from 0 for each kind. The rods themselves are reached
/// by fil_world_rod() and looked at with filum/rod.h. The same world stepped on any number of
/// threads gives the same bits.

#include "filum/friction.h"
#include "filum/rigid.h"
#include "filum/rod.h"
#include "filum/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// How contact and friction are treated. All but `exact` are comparators: what others do.
#define FIL_CONTACT_TABLE(X)                                          \
    X(FIL_CONTACT_EXACT, "exact", "bodies never overlap (Signorini)") \
    X(FIL_CONTACT_PENALTY, "penalty", "springs push overlap apart, explicitly (comparator)")

#define FIL_FRICTION_LAW_TABLE(X)                                                   \
    X(FIL_LAW_EXACT, "exact", "Coulomb friction, with its cone")                    \
    X(FIL_LAW_REGULARISED, "regularised",                                           \
      "proportional to the slip speed below a threshold: it creeps (comparator)")   \
    X(FIL_LAW_TRESCA, "tresca", "threshold from a frictionless solve (comparator)") \
    X(FIL_LAW_CONVEX, "convex", "one convex problem a step: it lifts (comparator)") \
    X(FIL_LAW_LINEARISED, "linearised", "a pyramid in place of the cone (comparator)")

typedef enum FilContactKind { FIL_CONTACT_TABLE(FIL_NAMED_ENUM) FIL_CONTACT_COUNT } FilContactKind;
typedef enum FilFrictionLaw { FIL_FRICTION_LAW_TABLE(FIL_NAMED_ENUM) FIL_LAW_COUNT } FilFrictionLaw;

/// "exact" for FIL_CONTACT_EXACT; NULL when out of range.
FIL_API const char *fil_contact_kind_name(FilContactKind kind);
FIL_API const char *fil_friction_law_name(FilFrictionLaw law);

typedef struct FilWorldDef {
    double step;             ///< s
    double gravity[3];       ///< m/s^2, of all rods and bodies
    double wind[3];          ///< m/s, of the air that drags rods along
    double friction_default; ///< for pairs of materials that nobody set; below 0: that is an error
    FilContactKind contact;
    FilFrictionLaw law;
    /// tolerance, thread_count, and which solver for `exact`. `budget` is that of one solve; all of
    /// a step together may take ten times as much, then each gets little, and the step is not
    /// halved any more: it ends with what was found, and its outcome says so.
    FilFrictionSettings solver;
    double margin;            ///< m: contacts are found this long before they touch; 0: choose
    double penalty_stiffness; ///< N/m, for `penalty`
    double penalty_damping;   ///< N s/m, for `penalty`
    double slip_speed;        ///< m/s: slower than this `regularised` and `penalty` creep
    int max_newton;           ///< linearisations of elasticity in a step with contacts, at least 1
    int max_halvings;         ///< how often a step may be halved that is too violent, 0 to 20
    bool unswept; ///< leave out the swept check after each step: things may pass through
    /// m/s: bodies in contact of which no point was faster for `sleep_after` seconds fall asleep:
    /// they keep still, and their contacts are not solved, until something acts on them. 0: none.
    double sleep_speed;
    double sleep_after; ///< s, above 0
} FilWorldDef;

/// The budget of friction solves unless another is given.
#define FIL_WORLD_BUDGET 300

/// 1 ms, gravity along -z, exact friction to 1e-8 within FIL_WORLD_BUDGET, all threads.
FIL_API FilWorldDef fil_world_def_default(void);

typedef struct FilWorld FilWorld;

/// Make an empty world. The caller owns `*out` and gives it back with fil_world_destroy().
FIL_API FIL_MUST_CHECK FilStatus fil_world_create(const FilWorldDef *def,
                                                  const FilAllocator *allocator, FilWorld **out,
                                                  FilError *error);
FIL_API void fil_world_destroy(FilWorld *world); ///< NULL is fine

// --- what is in it -------------------------------------------------------------------------------

/// A kind of surface. `restitution`: 0 .. 1, a pair rebounds with the larger one of the two.
FIL_API FIL_MUST_CHECK FilStatus fil_world_add_material(FilWorld *world, double restitution,
                                                        int *material, FilError *error);
/// The coefficient of friction between two materials, >= 0.
FIL_API FIL_MUST_CHECK FilStatus fil_world_set_friction(FilWorld *world, int a, int b, double mu,
                                                        FilError *error);

/// How a body takes part in contact.
typedef struct FilSurface {
    int material;
    bool ghost;    ///< touches nothing
    double radius; ///< m, of the capsules of a rod; 0: the radius of its section
    int pieces;    ///< capsules of each element of a rod; 0: enough for its natural curls
    bool self;     ///< a rod touches itself
} FilSurface;

/// Material 0, as fine as needed, touching itself.
FIL_API FilSurface fil_surface_default(void);

/// Gravity of the definition is replaced by that of the world.
FIL_API FIL_MUST_CHECK FilStatus fil_world_add_rod(FilWorld *world, const FilRodDef *def,
                                                   const FilSurface *surface, int *rod,
                                                   FilError *error);
FIL_API FIL_MUST_CHECK FilStatus fil_world_add_rigid(FilWorld *world, const FilRigidDef *def,
                                                     const FilSurface *surface, int *rigid,
                                                     FilError *error);

/// Something that nothing moves but its own motion.
typedef struct FilObstacleDef {
    FilShape shape; ///< a mesh is borrowed: it must outlive the world
    FilPose pose;   ///< at time 0
    /// Overwrite `pose`, which holds the start pose, with the pose at `time` (s), a continuous
    /// function. NULL: it stays.
    void (*motion)(void *user, double time, FilPose *pose);
    void *user;
} FilObstacleDef;

FIL_API FIL_MUST_CHECK FilStatus fil_world_add_obstacle(FilWorld *world, const FilObstacleDef *def,
                                                        const FilSurface *surface, int *obstacle,
                                                        FilError *error);

// One table: what a joint or a contact is about.
#define FIL_BODY_KINDS(X)      \
    X(FIL_BODY_WORLD, "world") \
    X(FIL_BODY_ROD, "rod")     \
    X(FIL_BODY_RIGID, "rigid") \
    X(FIL_BODY_OBSTACLE, "obstacle")

#define FIL_BODY_ENUM(code, name) code,
typedef enum FilBodyKind { FIL_BODY_KINDS(FIL_BODY_ENUM) FIL_BODY_KIND_COUNT } FilBodyKind;

/// One side of a joint: the section of a rod at arc length `s`, or a place of a rigid body or an
/// obstacle. A place of the world stays where it is.
typedef struct FilJointSide {
    FilBodyKind kind;
    int index;
    double s;        ///< m, rods
    double point[3]; ///< m: where it is when the joint is made, in space (not for rods)
} FilJointSide;

/// Two places that stay together, as far apart as they are when the joint is made; with `turning`
/// false their frames keep the turn between them, too.
typedef struct FilJointDef {
    FilJointSide a, b; ///< a is a rod or a rigid body
    bool turning;
} FilJointDef;

FIL_API FIL_MUST_CHECK FilStatus fil_world_add_joint(FilWorld *world, const FilJointDef *def,
                                                     int *joint, FilError *error);

FIL_API int fil_world_rod_count(const FilWorld *world);
FIL_API int fil_world_rigid_count(const FilWorld *world);
FIL_API int fil_world_obstacle_count(const FilWorld *world);

/// The rod itself, for looking, and for changing between steps what filum/rod.h lets change. It
/// belongs to the world; NULL when there is none of that number.
FIL_API FilRod *fil_world_rod(FilWorld *world, int rod);
FIL_API FilRigid *fil_world_rigid(FilWorld *world, int rigid);
/// Where an obstacle is now, and how it moves, on average over the next step (each may be NULL).
/// Nothing is written when there is none of that number.
FIL_API void fil_world_obstacle_at(const FilWorld *world, int obstacle, FilPose *pose,
                                   FilRate *rate);

// --- a world in time -----------------------------------------------------------------------------

typedef struct FilStepSeconds {
    double total, bodies, collide, assemble, friction, update, sweep;
} FilStepSeconds;

/// What came of a step.
typedef struct FilStepInfo {
    /// The worst of the friction solves whose answers the step took; FIL_LIMIT where max_newton
    /// linearisations left rods out of balance: elastic_residual above 3e-2.
    FilOutcome outcome;
    FilResidual residual; ///< the worst of them
    int contact_count;    ///< of the last solve
    int active_count;     ///< with an impulse
    int iterations;       ///< of the friction solver, all solves together
    double work;          ///< of these solves, in the unit of their budget; not kept in results
    int island_count;
    double conditioning; ///< nu = 3 contacts / degrees of freedom of what they touch
    int newton_count;    ///< linearisations of elasticity, at most in a part of the step
    /// How much the last of them changed the velocities, relative to the largest: what is left is
    /// about its square (0: all steps are linear). Of the last part of the step.
    double elastic_residual;
    int substeps;    ///< 1 unless the step was too violent
    int added_count; ///< pairs that the swept check found, mended by solving again
    /// Pairs that went through each other: prescribed motions alone can do that, as an obstacle
    /// that is driven through a held rod. What else would pass is held: see slowed_count.
    int missed_count;
    /// Pairs that the step pressed into each other by more than a fifth of the thinner one's
    /// radius, or half of how thick it is: those that neither contacts nor halving could mend.
    int pressed_count;
    /// Times that a body lost more than a twentieth of its motion, in a part of the step that could
    /// not be made shorter: a rod that would have gained energy, or what would have passed through
    /// something, and was held to it instead.
    int slowed_count;
    int asleep_count;   ///< bodies that sleep after the step
    double penetration; ///< m, deepest overlap when the step began
    double dissipated;  ///< J, by friction and impact
    FilStepSeconds seconds;
} FilStepInfo;

/// Advance by def.step. Fails only for want of memory, when a body leaves the range of numbers or
/// when somebody ends it (fil_world_set_stop());
/// the world is then as before the step, its state to the bit (the list of contacts is as after
/// fil_world_set_state()). `info` may be NULL.
FIL_API FIL_MUST_CHECK FilStatus fil_world_step(FilWorld *world, FilStepInfo *info,
                                                FilError *error);

/// Have `stop` asked, many times in every step and while settling: by the thread that steps, and
/// during friction solves by others too, one at a time. True ends the step with FIL_E_INTERRUPTED,
/// and the world is as before it; settling ends with what it has reached. NULL: nobody is asked.
FIL_API void fil_world_set_stop(FilWorld *world, bool (*stop)(void *user), void *user);

FIL_API double fil_world_time(const FilWorld *world); ///< s
FIL_API int64_t fil_world_step_count(const FilWorld *world);

// --- at rest -----------------------------------------------------------------------------------

typedef struct FilSettleSettings {
    double tolerance; ///< of the residual, above 0
    int max_steps;    ///< at least 1; reaching it is a result, not an error
    /// Called after every step; false stops. May be NULL.
    bool (*on_step)(void *user, int step, double residual);
    void *user;
} FilSettleSettings;

/// 1e-6, 10 000 steps.
FIL_API FilSettleSettings fil_settle_settings_default(void);

typedef struct FilSettleInfo {
    int steps;
    /// What is not balanced: the largest acceleration that would follow, relative to gravity (or,
    /// without gravity, m/s^2).
    double residual;
    double friction_residual; ///< `scaled`, of the last friction problem
    int contact_count, active_count;
    bool converged;
} FilSettleInfo;

/// Bring the world to an equilibrium with friction: all velocities 0, every contact inside its
/// cone. It is reached by implicit steps that each begin at rest and grow as they calm down: what
/// slides on the way slides with friction. Time does not move, and ends that are driven stay where
/// they are.
FIL_API FIL_MUST_CHECK FilStatus fil_world_settle(FilWorld *world,
                                                  const FilSettleSettings *settings,
                                                  FilSettleInfo *info, FilError *error);

// --- sleep --------------------------------------------------------------------------------------

/// Bodies that rest fall asleep where FilWorldDef.sleep_speed allows it. They wake, with all that
/// they press on, when an awake body presses on them, what they touch, or what they are joined to
/// or held by, moves, or when gravity, wind, loads or anything else of them is changed. Between two
/// sleeping bodies contacts stay as they were.
FIL_API bool fil_world_is_asleep(const FilWorld *world, FilBodyKind kind, int index);
/// Wake a body and all that it presses on. Nothing happens when there is none of that number.
FIL_API void fil_world_wake(FilWorld *world, FilBodyKind kind, int index);

// --- contacts ------------------------------------------------------------------------------------

// One table: what a contact did in the last step.
#define FIL_CONTACT_STATES(X)     \
    X(FIL_CONTACT_OPEN, "open")   \
    X(FIL_CONTACT_STICK, "stick") \
    X(FIL_CONTACT_SLIDE, "slide")

#define FIL_CONTACT_STATE_ENUM(code, name) code,
typedef enum FilContactState {
    FIL_CONTACT_STATES(FIL_CONTACT_STATE_ENUM) FIL_CONTACT_STATE_COUNT
} FilContactState;

typedef struct FilContactSide {
    FilBodyKind kind;
    int index;
    double s;        ///< m, arc length, of rods
    double point[3]; ///< m, on the surface
} FilContactSide;

typedef struct FilContact {
    FilContactSide a, b;
    double normal[3]; ///< unit, from b to a
    double gap;       ///< m, at the start of the step, or of its last part
    double mu;
    /// N s, of b on a. Divided by the world's step it is the force at the end of the step: where
    /// the step was taken in parts (FilStepInfo.substeps), it is the impulse of the last part,
    /// scaled to the whole step, not the sum over the parts.
    double impulse[3];
    double velocity[3]; ///< m/s, of a relative to b at the end of the step
    FilContactState state;
} FilContact;

/// The contacts of the last step, then those among bodies that sleep; the array belongs to the
/// world and lives until the next step.
FIL_API const FilContact *fil_world_contacts(const FilWorld *world, int *count);

/// What holds the root (`tip` false) or the tip of a rod does to it, as fil_rod_reaction() says,
/// contacts, joints and the hand taken into account: of the last step, or of its last part. Right
/// after fil_world_set_state() that of the rods at rest.
FIL_API FIL_MUST_CHECK FilStatus fil_world_reaction(const FilWorld *world, int rod, bool tip,
                                                    double force[3], double moment[3],
                                                    FilError *error);

/// Kinetic and potential energy of all bodies, J.
FIL_API void fil_world_energy(const FilWorld *world, FilRodEnergy *energy);

/// What a rod (FIL_BODY_ROD) or a rigid body (FIL_BODY_RIGID) is called; NULL or "": it has no
/// name. The text lives until the next call.
typedef const char *FilBodyName(void *user, FilBodyKind kind, int index);
/// Messages name bodies by what `name` says, and otherwise by their numbers. NULL: numbers will do.
FIL_API void fil_world_set_names(FilWorld *world, FilBodyName *name, void *user);

/// Called with every friction problem of a step, before it is solved: `r` is what the solve starts
/// from, and `fresh` (one per block) says which blocks had no impulse in the step before and no
/// other solve in this one, so that theirs is a guess. All of it lives until the call returns.
typedef void FilProblemWatch(void *user, const FilFrictionProblem *problem, const double *r,
                             const bool *fresh);

/// Look at the friction problems; NULL ends it. A step does not depend on it.
FIL_API void fil_world_watch_problems(FilWorld *world, FilProblemWatch *watch, void *user);

// --- state ---------------------------------------------------------------------------------------

/// All that the next step depends on, as one array: what a checkpoint saves. It begins with the
/// steps done and the time, their number times the world's step; others are refused. Its length
/// changes with the number of contacts. It fits worlds that were built alike.
FIL_API int64_t fil_world_state_count(const FilWorld *world);
FIL_API void fil_world_get_state(const FilWorld *world, double *state);
FIL_API FIL_MUST_CHECK FilStatus fil_world_set_state(FilWorld *world, const double *state,
                                                     int64_t count, FilError *error);

// --- changes between steps -----------------------------------------------------------------------

FIL_API FIL_MUST_CHECK FilStatus fil_world_set_gravity(FilWorld *world, const double gravity[3],
                                                       FilError *error);
/// Air drags a rod along with its drag (FilRodDef) times the wind, per length, which counts among
/// the energies as gravity does (of rods whose sections differ in mass: as loads do).
FIL_API FIL_MUST_CHECK FilStatus fil_world_set_wind(FilWorld *world, const double wind[3],
                                                    FilError *error);
/// Let go the root (`tip` false) or the tip of a rod, clamped, pinned or driven before: it goes on
/// with the shape and the velocities that it has. What is rooted in an obstacle there touches it
/// from then on. The number of unknowns, and that of the state, change.
FIL_API FIL_MUST_CHECK FilStatus fil_world_release(FilWorld *world, int rod, bool tip,
                                                   FilError *error);
/// Take a joint apart. Other joints keep their numbers. What was next to it still does not touch
/// each other, so that nothing is thrown apart. Nothing happens when it was taken apart already.
FIL_API FIL_MUST_CHECK FilStatus fil_world_remove_joint(FilWorld *world, int joint,
                                                        FilError *error);
/// A hand on a rod: springs with dampers, taken implicitly, so that no step is too long for them.
/// One pulls the section at `part` of the length toward `target`; the other, where `turning` is
/// set, turns the section about its tangent until n1 points along `axis`, seen along the tangent.
/// Neither is ever stronger than `most_force` and `most_torque`: where it would be, the rod slips
/// out of the hand, and the spring gets longer.
typedef struct FilGrab {
    int rod;
    double part;           ///< 0 .. 1
    double target[3];      ///< m
    double stiffness;      ///< N/m
    double damping;        ///< N s/m
    bool turning;          ///< chains, which have no twist, are not turned
    double axis[3];        ///< any length but 0
    double turn_stiffness; ///< N m
    double turn_damping;   ///< N m s
    double most_force;     ///< N
    double most_torque;    ///< N m
} FilGrab;

/// A hand that holds the rod where it is, with the strength that suits its mass and stiffness: it
/// moves the rod in some hundredths of a second, and bends a cable as it bends a hair. `turning` is
/// false. With m the mass (kg) of the rod and of the rigid bodies joined to it, g gravity, L its
/// length (m), B, GJ and I the largest bending and twisting stiffness (N m^2) and the inertia about
/// the tangent (kg m^2),
///
///     stiffness = m / (0.02 s)^2 + 48 B / L^3,       damping = 2 sqrt(stiffness m),
///     most_force = 15 m max(|g|, 9.81 m/s^2) + pi^2 B / L^2,
///     most_torque = pi turn_stiffness,   turn_stiffness = I / (0.02 s)^2 + 10 GJ / L:
///
/// fifteen times the weight, on earth if that is more, and what folds the rod (Euler's load). A
/// place that moves slowly at v is followed within 0.04 s |v| + (0.02 s)^2 |g|, and what the rod's
/// own stiffness adds.
FIL_API FIL_MUST_CHECK FilStatus fil_world_grab_make(const FilWorld *world, int rod, double part,
                                                     FilGrab *grab, FilError *error);
/// Grab, move the hand, or, with NULL, let go: a world has one hand. It is a parameter, as gravity
/// is, not part of the state.
FIL_API FIL_MUST_CHECK FilStatus fil_world_set_grab(FilWorld *world, const FilGrab *grab,
                                                    FilError *error);
/// The hand, or NULL; force (N) and torque about the tangent (N m) of it on the rod in the last
/// step (each may be NULL).
FIL_API const FilGrab *fil_world_grab(const FilWorld *world, double force[3], double *torque);
/// The friction of two materials; below 0: nobody set it.
FIL_API double fil_world_get_friction(const FilWorld *world, int a, int b);
FIL_API void fil_world_get_gravity(const FilWorld *world, double gravity[3]); ///< m/s^2
FIL_API void fil_world_get_wind(const FilWorld *world, double wind[3]);       ///< m/s

/// How much of the wind reaches a rod: 1 unless set.
FIL_API FIL_MUST_CHECK FilStatus fil_world_set_wind_share(FilWorld *world, int rod, double share,
                                                          FilError *error);

#ifdef __cplusplus
}
#endif

#endif
