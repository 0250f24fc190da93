#ifndef FIL_ROD_H
#define FIL_ROD_H

/// Elastic rods: five models behind one set of functions.
///
/// A rod is a centreline r(s), 0 <= s <= length, with a frame of three axes on every section: n0 is
/// the tangent, n1 and n2 are the principal axes of the section. kappa = (twist, kappa1, kappa2) is
/// how the frame turns along the rod, seen from the frame: n_k' = R kappa x n_k, in 1/m. The rod
/// resists kappa - natural kappa with the stiffness (GJ, EI1, EI2).
///
/// Make a definition with fil_rod_def_default(), change what you need, create the rod, then step
/// it in time or ask for its equilibrium. SI units everywhere. A rod is used by one thread at a
/// time; different rods may be used by different threads.

#include "filum/base.h"
#include "filum/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

// One table: the models, their names and what they are.
#define FIL_ROD_MODEL_TABLE(X)                                                                    \
    X(FIL_ROD_HELIX, "helix", "super-helix: curvature and twist constant in each element")        \
    X(FIL_ROD_CLOTHOID, "clothoid", "super-clothoid: curvature and twist linear in each element") \
    X(FIL_ROD_DER, "der", "discrete elastic rod: nodes and twist angles")                         \
    X(FIL_ROD_CORDE, "corde", "nodes and quaternions, softly coupled")                            \
    X(FIL_ROD_CHAIN, "chain", "masses and springs, without twist")

#define FIL_ROD_MODEL_ENUM(code, name, text) code,
typedef enum FilRodModel {
    FIL_ROD_MODEL_TABLE(FIL_ROD_MODEL_ENUM) FIL_ROD_MODEL_COUNT
} FilRodModel;

/// "helix" for FIL_ROD_HELIX; never NULL.
FIL_API const char *fil_rod_model_name(FilRodModel model);

/// How an end of the rod is held.
#define FIL_ROD_END_TABLE(X)      \
    X(FIL_END_FREE, "free")       \
    X(FIL_END_PINNED, "pinned")   \
    X(FIL_END_SLIDING, "sliding") \
    X(FIL_END_CLAMPED, "clamped")

#define FIL_ROD_END_ENUM(code, name) code,
/// pinned: the position is held; clamped: position and frame; sliding: as clamped, but free to move
/// along the axis n0 of the pose that holds it. Chains have no frames: a clamp holds their tangent.
/// Held places are met to round-off, by the tips of helix and clothoid too where they can follow.
typedef enum FilEndKind { FIL_ROD_END_TABLE(FIL_ROD_END_ENUM) FIL_END_COUNT } FilEndKind;

typedef struct FilRodEnd {
    FilEndKind kind;
    /// A driven end: overwrite `pose`, which holds the start pose, with the pose at `time` (s). It
    /// must be a continuous function of time; only what `kind` holds is used. NULL: the end stays
    /// where it starts.
    void (*motion)(void *user, double time, FilPose *pose);
    void *user;
} FilRodEnd;

#define FIL_SECTION_TABLE(X)            \
    X(FIL_SECTION_ROUND, "round")       \
    X(FIL_SECTION_HOLLOW, "hollow")     \
    X(FIL_SECTION_ELLIPTIC, "elliptic") \
    X(FIL_SECTION_GIVEN, "given")

#define FIL_SECTION_ENUM(code, name) code,
typedef enum FilSectionKind {
    FIL_SECTION_TABLE(FIL_SECTION_ENUM) FIL_SECTION_COUNT
} FilSectionKind;

/// The cross-section: a shape and a material, or measured stiffness.
typedef struct FilSection {
    FilSectionKind kind;
    double radius;       ///< m: round, outer radius of hollow; given: of the surface, for contact
    double inner_radius; ///< m: hollow
    double radii[2];     ///< m: elliptic, half-axes along n1 and n2
    double young;        ///< Pa: round, hollow, elliptic
    double poisson;      ///< shear modulus = young / (2 (1 + poisson)); above -1, at most 0.5
    double density;      ///< kg/m^3
    double bend[2];      ///< N m^2: given, EI1 and EI2, about n1 and n2
    double twist;        ///< N m^2: given, GJ
    double mass;         ///< kg/m: given
    double stretch;      ///< N: given, EA of models that can stretch; 0: 4 max(EI) / radius^2
    double spin_inertia; ///< kg m: given, inertia about the tangent; 0: mass radius^2 / 2
} FilSection;

/// A force (N) and a torque (N m) in world axes on the section at arc length `s`. It stays on its
/// section where the length of the rod changes: what pulls at the tip goes on to.
typedef struct FilRodLoad {
    double s; ///< m, 0 .. length
    double force[3];
    double torque[3];
} FilRodLoad;

/// Where an element of a tree hangs: at the end of element `parent` (-1: at the root), turned by
/// `axis`: the element's first axes, expressed in the axes at the end of its parent.
typedef struct FilRodJoint {
    int parent; ///< below the element's own index
    double axis[3][3];
} FilRodJoint;

/// How the equations of a step are solved.
#define FIL_ROD_STEP_TABLE(X)              \
    X(FIL_ROD_STEP_AUTO, "auto")           \
    X(FIL_ROD_STEP_DENSE, "dense")         \
    X(FIL_ROD_STEP_RECURSIVE, "recursive") \
    X(FIL_ROD_STEP_IMPLICIT, "implicit")   \
    X(FIL_ROD_STEP_EXPLICIT, "explicit")

#define FIL_ROD_STEP_ENUM(code, name) code,
/// auto: the best of the model. dense and recursive: helix, clothoid. explicit: corde alone.
/// implicit: der, corde, chain.
typedef enum FilRodStepKind {
    FIL_ROD_STEP_TABLE(FIL_ROD_STEP_ENUM) FIL_ROD_STEP_COUNT
} FilRodStepKind;

/// What a rod is made of, how it is held and how it starts.
typedef struct FilRodDef {
    FilRodModel model;
    int element_count;
    double length;                 ///< m, at most 1e15
    const double *element_lengths; ///< m, [element_count], adding up to length; NULL: all equal
    FilSection section;
    const FilSection *sections; ///< [element_count], instead of `section`; may be NULL

    /// 1/m: (twist, kappa1, kappa2) of the whole rod at rest. Of a chain it is 0. An element of der
    /// bends by less than 2.8 rad and one of corde turns by less than pi.
    double natural_curvature[3];
    /// Instead of it, 3 numbers each for `natural_count` places: element_count of them (constant in
    /// each element) or element_count + 1 (at the joints, linear between). May be NULL.
    const double *natural_curvatures;
    int natural_count;
    const double *start_curvatures; ///< the shape at time 0, in the same way; NULL: the natural one
    int start_count;
    const FilRodJoint *joints; ///< [element_count]: a tree (helix only); NULL: one line

    FilPose root; ///< of the section s = 0 at time 0
    FilRodEnd root_end, tip_end;
    double gravity[3]; ///< m/s^2
    double damping;    ///< s: the rod resists kappa' as `damping` times its stiffness
    double drag;       ///< kg/(m s): air resists with `drag` times velocity, per length
    double growth;     ///< 1/s: length(t) = length (1 + growth t), see fil_rod_set_length()
    const FilRodLoad *loads;
    int load_count;

    double theta; ///< of the time scheme, 1/2 .. 1
    FilRodStepKind step_kind;
    bool quasistatic_twist; ///< der: the twist angles always minimise the energy
} FilRodDef;

/// A hair: clothoid, 10 elements, 0.2 m, round of radius 50 um, clamped at the origin with n0 along
/// x and n2 along z, free at the tip, gravity along -z, implicit Euler.
FIL_API FilRodDef fil_rod_def_default(void);

typedef struct FilRod FilRod;

/// Make a rod. The definition and all it points to may go afterwards. The caller owns `*out` and
/// gives it back with fil_rod_destroy(). On failure `*out` is left alone and `error`, when not
/// NULL, names the field, its value and the rule.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_create(const FilRodDef *def, const FilAllocator *allocator,
                                                FilRod **out, FilError *error);
FIL_API void fil_rod_destroy(FilRod *rod);

// --- a rod in time -------------------------------------------------------------------------------

typedef struct FilRodStepInfo {
    int iterations; ///< Newton steps (1 where the step is linear)
    /// Of the step's equations, relative to the momenta and impulses in them; where the step is
    /// linear, how far from where it is held an end stays that cannot follow, relative to the
    /// length. Helix and clothoid: more when dt is so long that velocity terms mean nothing.
    double residual;
    bool converged;
    int parts; ///< that the step was taken in: 1 unless it would have gained energy, or got lost
} FilRodStepInfo;

/// Advance by `dt` seconds, at most 1e9. A step that does not converge is a result: look at `info`
/// (may be NULL). When it would leave the range of numbers the rod stays as it was and the call
/// fails.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_step(FilRod *rod, double dt, FilRodStepInfo *info,
                                              FilError *error);

/// The same for many rods, on up to `threads` threads (0: all). `infos` is NULL or has `count`
/// places. All rods are tried; the first failure, by index, is returned.
FIL_API FIL_MUST_CHECK FilStatus fil_rods_step(FilRod *const *rods, int count, double dt,
                                               int threads, FilRodStepInfo *infos, FilError *error);

FIL_API double fil_rod_time(const FilRod *rod);   ///< s
FIL_API double fil_rod_length(const FilRod *rod); ///< m, now
FIL_API int fil_rod_element_count(const FilRod *rod);
FIL_API int fil_rod_dof_count(const FilRod *rod); ///< degrees of freedom, held ones left out

/// A step that is safe for the rod as it moves now: energy does not grow. Fast motion makes it
/// short; ask again when the rod is faster.
FIL_API double fil_rod_largest_step(const FilRod *rod);

// --- looking at a rod ----------------------------------------------------------------------------

/// Pose and motion (each may be NULL) of the section at arc length `s`, clamped to the rod. Where a
/// torque acts on it, its axes turn as the torque demands. Chains have no frame: their axes follow
/// the tangent without turning about it.
FIL_API void fil_rod_at(const FilRod *rod, double s, FilPose *pose, FilRate *rate);
/// The same at the fraction `u` (0 .. 1) of an element, for trees too.
FIL_API void fil_rod_element_at(const FilRod *rod, int element, double u, FilPose *pose,
                                FilRate *rate);
/// (twist, kappa1, kappa2) at the fraction `u` of an element, 1/m.
FIL_API void fil_rod_curvature_at(const FilRod *rod, int element, double u, double kappa[3]);

/// The same of the natural shape.
FIL_API void fil_rod_natural_at(const FilRod *rod, int element, double u, double kappa[3]);
/// Energy of bending and twist by length there, J/m.
FIL_API double fil_rod_elastic_at(const FilRod *rod, int element, double u);

typedef struct FilRodEnergy {
    double kinetic; ///< J
    double bend, twist, stretch;
    double gravity; ///< 0 at the height of the world's origin
    double loads;   ///< - force times place, summed over the loads (torques left out)
} FilRodEnergy;

FIL_API void fil_rod_energy(const FilRod *rod, FilRodEnergy *energy);

/// Linear (kg m/s) and angular momentum (kg m^2/s) about the place `about` (m).
FIL_API void fil_rod_momentum(const FilRod *rod, const double about[3], double linear[3],
                              double angular[3]);

/// What holds the root (`tip` false) or the tip does to the rod: a force (N) on the end and a
/// moment (N m) about it, world axes; 0 for an end that is free. After a step it is that of the
/// step (of its last part, where it was taken in parts); otherwise the velocities are left out, and
/// at an equilibrium it is exact to the residual: it comes from the balance of the whole rod, and
/// where both ends are held from that of the forces at the tip, too. A helix or clothoid straight
/// between two ends does not know what pulls at them along it, which is left at 0. A rod of a world
/// is asked for by fil_world_reaction(), which knows what touches it.
FIL_API void fil_rod_reaction(const FilRod *rod, bool tip, double force[3], double moment[3]);

/// The state as one array: what a checkpoint saves. It fits rods of the same definition.
FIL_API int fil_rod_state_count(const FilRod *rod);
FIL_API void fil_rod_get_state(const FilRod *rod, double *state);
FIL_API FIL_MUST_CHECK FilStatus fil_rod_set_state(FilRod *rod, const double *state,
                                                   FilError *error);

// --- changing a rod ------------------------------------------------------------------------------

FIL_API FIL_MUST_CHECK FilStatus fil_rod_set_loads(FilRod *rod, const FilRodLoad *loads, int count,
                                                   FilError *error);
FIL_API FIL_MUST_CHECK FilStatus fil_rod_set_gravity(FilRod *rod, const double gravity[3],
                                                     FilError *error);
/// As in the definition: `count` is element_count or element_count + 1, and what the model cannot
/// have is refused.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_set_natural(FilRod *rod, const double *curvatures,
                                                     int count, FilError *error);
/// Scale all elements so that the rod is `length` long: helix and clothoid at once, at constant
/// curvature; der, corde and chain keep the places of their nodes, which the springs then move.
/// Growth is slow: new material comes with the velocity of its place, and what stretching the rod
/// by `growth` in time does to velocities (growth times length) is left out.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_set_length(FilRod *rod, double length, FilError *error);

/// Set the rod in motion as one rigid piece: `velocity` (m/s) of its root, `spin` (rad/s, world
/// axes) about it. What an end holds stays at rest unless it is driven; helix and clothoid have no
/// motion as a whole but that of their root. Refused for ends that slide.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_launch(FilRod *rod, const double velocity[3],
                                                const double spin[3], FilError *error);

/// Let go the root (`tip` false) or the tip: from now on that end is free. The rod keeps its shape
/// and its velocities; the number of its degrees of freedom, and that of its state, change. The
/// rod of a world is released by fil_world_release() alone. Nothing happens to an end that is free.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_release(FilRod *rod, bool tip, FilError *error);

/// Choose the natural shape for which the present one is an equilibrium (helix and clothoid).
FIL_API FIL_MUST_CHECK FilStatus fil_rod_hold_shape(FilRod *rod, FilError *error);

// --- statics -------------------------------------------------------------------------------------

typedef struct FilStaticsSettings {
    double tolerance;   ///< of the residual, above 0
    int max_iterations; ///< at least 0; reaching it is a result, not an error
} FilStaticsSettings;

FIL_API FilStaticsSettings fil_statics_settings_default(void);

typedef struct FilStaticsInfo {
    int iterations;
    double residual;            ///< |gradient| relative to the forces in it
    double energy;              ///< J, potential
    double smallest_eigenvalue; ///< see FilStability
    bool converged; ///< balanced to `tolerance`, and stable or, under a torque, fluttering
    bool stable;    ///< see FilStability: false where the rod is not at rest
} FilStaticsInfo;

/// Bring the rod to an equilibrium near its present shape, at rest: a minimum of its energy, found
/// by Newton's method that leaves saddle points along directions of negative curvature. Loads that
/// nothing balances (a free rod under its weight, a dead torque on a rod that may turn) have no
/// equilibrium, nor has a straight helix or clothoid, which does not stretch, held at both ends
/// when something pulls it sideways: that is not converged.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_equilibrium(FilRod *rod,
                                                     const FilStaticsSettings *settings,
                                                     FilStaticsInfo *info, FilError *error);

typedef struct FilStability {
    /// Smallest eigenvalue of the Hessian of the energy on the free directions, relative to the
    /// elastic stiffness: 1 for a rod without load that is held, 0 when a motion costs nothing (a
    /// rod that may move or turn as a whole: such motions are counted from how the rod is held and
    /// what acts on it, so that it is 0 and not round-off), below 0 when one frees energy. A torque
    /// fixed in space has no energy: with one, above 0 it is the least force that a motion takes
    /// relative to the elastic one (a singular value), below 0 how fast the rod, moving slowly
    /// against its internal damping, leaves (the real part of an eigenvalue). The same in all
    /// models as they converge.
    double smallest_eigenvalue;
    double residual; ///< how far the shape is from an equilibrium
    /// It is an equilibrium (residual <= 1e-6), and the rod comes back to it when it moves slowly;
    /// without torques that is: no motion frees energy.
    bool stable;
} FilStability;

/// Whether the present shape is a stable equilibrium.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_stability(FilRod *rod, FilStability *stability,
                                                   FilError *error);

/// The lowest `count` natural frequencies of small vibrations about the present shape, without
/// damping: rad/s, rising, 0 for each motion that costs nothing. The shape must be what
/// fil_rod_stability() calls stable. `count` is at most the degrees of freedom that are not held.
/// Of a torque, under which vibrations are not natural ones, the symmetric part is taken.
FIL_API FIL_MUST_CHECK FilStatus fil_rod_frequencies(FilRod *rod, int count, double *frequencies,
                                                     FilError *error);

#ifdef __cplusplus
}
#endif

#endif
