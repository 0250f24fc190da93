#ifndef FIL_SCENE_H
#define FIL_SCENE_H

/// Scenes: what a JSON file says, checked, with generators expanded, as plain arrays.
///
/// A scene is read-only. All it points to belongs to it and goes with fil_scene_destroy(). SI units
/// everywhere. The format is described by docs/scene-reference.md, which, like the JSON Schema, is
/// written from the tables that the reader itself uses.

#include <stdio.h>

#include "filum/base.h"
#include "filum/friction.h"
#include "filum/motion.h"
#include "filum/pose.h"
#include "filum/rod.h"
#include "filum/shape.h"
#include "filum/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FilMaterial {
    const char *name;
    double young;       ///< Pa
    double poisson;     ///< 1
    double density;     ///< kg/m^3
    double restitution; ///< of the approach speed, 0 .. 1; of a pair the larger one holds
} FilMaterial;

#define FIL_START_TABLE(X)                \
    X(FIL_START_NATURAL, "natural")       \
    X(FIL_START_STRAIGHT, "straight")     \
    X(FIL_START_POINTS, "points")         \
    X(FIL_START_CURVATURES, "curvatures") \
    X(FIL_START_EQUILIBRIUM, "equilibrium")

#define FIL_SCENE_ENUM(code, name) code,
#define FIL_SCENE_NAMED(code, name, text) code,
typedef enum FilStartKind { FIL_START_TABLE(FIL_SCENE_ENUM) FIL_START_COUNT } FilStartKind;

/// Where the file tells of a thing (of a generator, for what it makes), counted from 1; 0: nowhere,
/// as where --set has the last word.
typedef struct FilSceneOrigin {
    int line, column;
} FilSceneOrigin;

/// A rod, ready for fil_rod_create(): gravity, theta and the motions of the ends are in `def`.
typedef struct FilSceneRod {
    const char *name; ///< "" when it has none
    FilSceneOrigin origin;
    FilRodDef def;
    int material;
    double contact_radius; ///< m: of the capsules that stand for the rod
    int contact_pieces;    ///< capsules of each element; 0: the world chooses
    bool self_contact;
    FilStartKind start; ///< FIL_START_EQUILIBRIUM: call fil_rod_equilibrium() first
    double fit_error;   ///< m: how far the start is from the points given; 0 for other starts
    double velocity[3]; ///< m/s: at the start, of the whole rod
    double spin[3];     ///< rad/s: at the start, about its root
    double wind;        ///< 0 .. 1: how much of the scene's wind reaches it
} FilSceneRod;

typedef struct FilSceneObstacle {
    const char *name;
    FilSceneOrigin origin;
    FilShape shape;
    FilPose pose; ///< at time 0, before its motion
    int material;
    const FilMotion *motion; ///< NULL: it rests
} FilSceneObstacle;

typedef struct FilSceneBody {
    const char *name;
    FilSceneOrigin origin;
    FilShape shape;
    FilPose pose;
    int material;
    double mass;          ///< kg; 0: volume times density
    double density;       ///< kg/m^3
    double velocity[3];   ///< m/s
    double spin[3];       ///< rad/s, world axes
    double force[3];      ///< N, on its centre of mass: force + force_rate t
    double force_rate[3]; ///< N/s
    double torque[3];     ///< N m, world axes
} FilSceneBody;

#define FIL_JOINT_TABLE(X)        \
    X(FIL_JOINT_PINNED, "pinned") \
    X(FIL_JOINT_CLAMPED, "clamped")

typedef enum FilJointKind { FIL_JOINT_TABLE(FIL_SCENE_ENUM) FIL_JOINT_COUNT } FilJointKind;

/// One side of a joint: a place on a rod, on a body, or in the world.
typedef struct FilScenePlace {
    int rod;                 ///< -1: not on a rod
    int body;                ///< -1: not on a body; both -1: in the world
    double s;                ///< m, on a rod
    double at[3];            ///< m, in the body's own axes, or in the world
    const FilMotion *motion; ///< of a place in the world; NULL: it rests
} FilScenePlace;

typedef struct FilSceneJoint {
    FilSceneOrigin origin;
    FilJointKind kind; ///< pinned: the places stay together; clamped: they do not turn either
    FilScenePlace a, b;
} FilSceneJoint;

#define FIL_EVENT_TABLE(X)                                                  \
    X(FIL_EVENT_GRAVITY, "gravity", "gravity becomes `vector`")             \
    X(FIL_EVENT_WIND, "wind", "the wind becomes `vector`")                  \
    X(FIL_EVENT_RELEASE_ROOT, "release-root", "the root is let go")         \
    X(FIL_EVENT_RELEASE_TIP, "release-tip", "the tip is let go")            \
    X(FIL_EVENT_UNJOIN, "unjoin", "joint number `value` is taken apart")    \
    X(FIL_EVENT_FORCE, "force", "the force at the tip becomes `vector`")    \
    X(FIL_EVENT_TORQUE, "torque", "the torque at the tip becomes `vector`") \
    X(FIL_EVENT_LENGTH, "length", "the rod becomes `value` metres long")

typedef enum FilEventKind { FIL_EVENT_TABLE(FIL_SCENE_NAMED) FIL_EVENT_COUNT } FilEventKind;

typedef struct FilSceneEvent {
    FilSceneOrigin origin;
    double time; ///< s, rising
    FilEventKind kind;
    int rod; ///< -1: all of them
    double vector[3];
    double value;
} FilSceneEvent;

typedef struct FilSceneContact {
    FilContactKind kind;
    FilFrictionLaw law;
    double margin;      ///< m; 0: chosen from radii and speeds
    double stiffness;   ///< N/m: penalty
    double damping;     ///< N s/m: penalty
    double slip_speed;  ///< m/s: regularised
    int facets;         ///< linearised
    int substeps;       ///< most halvings of a violent step
    bool sweep;         ///< the swept check after each step
    double sleep_speed; ///< m/s: see FilWorldDef
    double sleep_after; ///< s
} FilSceneContact;

// What a result holds; bit k of FilSceneOutput.fields.
#define FIL_OUTPUT_TABLE(X)                                                \
    X(FIL_OUTPUT_CENTRELINES, "centrelines", "places along the rods")      \
    X(FIL_OUTPUT_FRAMES, "frames", "their axes")                           \
    X(FIL_OUTPUT_VELOCITIES, "velocities", "how they move")                \
    X(FIL_OUTPUT_CONTACTS, "contacts", "points, impulses, stick or slide") \
    X(FIL_OUTPUT_ENERGIES, "energies", "kinetic, elastic, of gravity")     \
    X(FIL_OUTPUT_SOLVER, "solver", "iterations, residuals, times")

enum { FIL_OUTPUT_TABLE(FIL_SCENE_NAMED) FIL_OUTPUT_COUNT };

typedef struct FilSceneOutput {
    double every;    ///< s
    double save;     ///< s: between checkpoints
    unsigned fields; ///< 1 << FIL_OUTPUT_...
} FilSceneOutput;

// What a claim measures: constant, name, unit, and what it is. Places are those of `through` and
// `axis`; things are those of `of`.
#define FIL_MEASURE_TABLE(X)                                                                       \
    X(FIL_MEASURE_STICKING, "sticking", "", "share of the contacts that press which stick")        \
    X(FIL_MEASURE_SLIP, "slip", "m/s", "mean speed of sliding where it presses, by the force")     \
    X(FIL_MEASURE_CONTACTS, "contacts", "", "number of contacts that press or nearly do")          \
    X(FIL_MEASURE_PRESSING, "pressing", "", "number of contacts that press")                       \
    X(FIL_MEASURE_TOUCHING, "touching", "", "share of the things that press on something")         \
    X(FIL_MEASURE_PUSH, "push", "N", "force along `axis` with which contacts press on the things") \
    X(FIL_MEASURE_OVERLAP, "overlap", "m", "deepest overlap of a contact; 0 when there is none")   \
    X(FIL_MEASURE_MISSED, "missed", "",                                                            \
      "pairs that passed through each other and were not mended, since time 0")                    \
    X(FIL_MEASURE_PLACE, "place", "m", "mean place along `axis`, counted from `through`")          \
    X(FIL_MEASURE_LOWEST, "lowest", "m", "the least of these places")                              \
    X(FIL_MEASURE_HIGHEST, "highest", "m", "the largest of them")                                  \
    X(FIL_MEASURE_MOVED, "moved", "m", "root mean square distance from where it was at `from`")    \
    X(FIL_MEASURE_BEYOND, "beyond", "", "number of things whose middle lies beyond `through`")     \
    X(FIL_MEASURE_SPREAD, "spread", "m",                                                           \
      "root mean square distance from the line along `axis` through the middle of all")            \
    X(FIL_MEASURE_SPEED, "speed", "m/s", "root mean square speed")                                 \
    X(FIL_MEASURE_FASTEST, "fastest", "m/s", "the largest speed")                                  \
    X(FIL_MEASURE_ALIGNED, "aligned", "",                                                          \
      "how parallel rods are (nematic order): 1 all along one line, 0 in all directions")          \
    X(FIL_MEASURE_STRAIGHT, "straight", "", "distance from end to end by length, mean of rods")    \
    X(FIL_MEASURE_CURVATURE, "curvature", "1/m", "root mean square curvature of the centreline")   \
    X(FIL_MEASURE_KINK, "kink", "",                                                                \
      "largest jump of the curvature from one point to the next, by its largest value")            \
    X(FIL_MEASURE_TURNS, "turns", "turns", "how often rods go round the line, mean of rods")       \
    X(FIL_MEASURE_PITCH, "pitch", "m", "advance along the line with each turn, mean of rods")      \
    X(FIL_MEASURE_TURNED, "turned", "turns",                                                       \
      "how far the middle of each thing has gone round the line since time 0, mean of things")     \
    X(FIL_MEASURE_TILTED, "tilted", "rad",                                                         \
      "how far what pointed along `axis` at time 0 points elsewhere, the largest")                 \
    X(FIL_MEASURE_WRITHE, "writhe", "", "how much rods coil and cross themselves, mean of rods")   \
    X(FIL_MEASURE_APART, "apart", "m",                                                             \
      "largest distance of two rods, each seen from its root; or of all things from `beside`")     \
    X(FIL_MEASURE_NEAREST, "nearest", "m", "mean distance to the next rod, along all rods")        \
    X(FIL_MEASURE_CLUMPED, "clumped", "", "share of the length of rods with another within `near`")

#define FIL_MEASURE_ENUM(code, name, unit, text) code,
typedef enum FilMeasure { FIL_MEASURE_TABLE(FIL_MEASURE_ENUM) FIL_MEASURE_COUNT } FilMeasure;

#define FIL_TAKE_TABLE(X)      \
    X(FIL_TAKE_LAST, "last")   \
    X(FIL_TAKE_MEAN, "mean")   \
    X(FIL_TAKE_LEAST, "least") \
    X(FIL_TAKE_MOST, "most")

typedef enum FilTake { FIL_TAKE_TABLE(FIL_SCENE_ENUM) FIL_TAKE_COUNT } FilTake;

#define FIL_RELATIVE_TABLE(X)        \
    X(FIL_RELATIVE_NO, "no")         \
    X(FIL_RELATIVE_CHANGE, "change") \
    X(FIL_RELATIVE_RATIO, "ratio")

typedef enum FilRelative { FIL_RELATIVE_TABLE(FIL_SCENE_ENUM) FIL_RELATIVE_COUNT } FilRelative;

typedef struct FilSceneWords {
    const char *const *items;
    int count;
} FilSceneWords;

/// Something that the scene shows, as a number and its bounds; fil_claims_judge() looks whether it
/// is so. Variants are changes of the scene as --set takes them, with ';' between them.
typedef struct FilSceneClaim {
    FilSceneOrigin origin;
    const char *says;
    FilMeasure measure;
    FilSceneWords of, on;     ///< names of things, or of what made them; none: all
    double part[2];           ///< of the rods' length, 0 .. 1
    double radius[2];         ///< m: of trees, branches of these radii
    double axis[3];           ///< of unit length
    double through[3];        ///< m
    double near;              ///< m
    double from, at;          ///< s: measured from the one to the other
    FilTake take;             ///< what is taken of that time
    FilRelative relative;     ///< to the value at time 0
    double at_least, at_most; ///< -INFINITY and INFINITY where not given
    double margin;            ///< by how much variants of `unless` must miss the bounds
    const char *beside;       ///< a variant, for FIL_MEASURE_APART; NULL: none
    FilSceneWords with;       ///< changes under which all of the claim is looked at
    FilSceneWords unless;     ///< variants for which the claim must be false
    FilSceneWords holds_with; ///< variants for which it must hold too
} FilSceneClaim;

/// "sticking" for FIL_MEASURE_STICKING; NULL when out of range. The same for units.
FIL_API const char *fil_measure_name(FilMeasure measure);
FIL_API const char *fil_measure_unit(FilMeasure measure);

/// What a scene holds and what running it takes, from its counts alone: known before generators are
/// expanded.
typedef struct FilSceneEstimate {
    long long rods, elements, dofs, pieces;
    long long obstacles, bodies, triangles;
    long long scene_bytes; ///< of the scene itself
    long long run_bytes;   ///< of a run: rods, and contacts when every piece has two
    long long steps;
    long long result_bytes; ///< of the result, uncompressed
} FilSceneEstimate;

typedef struct FilScene {
    const char *file;   ///< as it was given
    const char *folder; ///< of the file; "." when it has none
    const char *name;
    const char *look; ///< what to look at
    double duration;  ///< s
    double step;      ///< s
    double gravity[3], wind[3];
    double theta;
    uint64_t seed;
    FilFrictionSettings friction_settings;
    FilSceneContact contact;
    FilSceneOutput output;
    int material_count, rod_count, obstacle_count, body_count, joint_count, event_count;
    int claim_count;
    const FilMaterial *materials;
    const double *friction; ///< [material_count^2]; below 0: not given, and not needed
    const FilSceneRod *rods;
    const FilSceneObstacle *obstacles;
    const FilSceneBody *bodies;
    const FilSceneJoint *joints;
    const FilSceneEvent *events; ///< by time
    const FilSceneClaim *claims; ///< what it shows
    FilSceneEstimate estimate;
} FilScene;

typedef struct FilSceneOptions {
    const char *const *changes; ///< "rods[3].radius=2 mm", applied in order
    int change_count;
    long long memory_limit; ///< bytes that scene and run may take; 0: no limit
    bool count_only;        ///< stop after the estimate: no rods, obstacles, bodies, joints, events
} FilSceneOptions;

/// Read a scene. `options` NULL: none. The caller owns `*out`. On failure the error is one sentence
/// with file, line and column: "hair.json:12:18: rods[3].radius is -0.1; it must be positive (m)".
FIL_API FIL_MUST_CHECK FilStatus fil_scene_read(const char *path, const FilSceneOptions *options,
                                                const FilAllocator *allocator, FilScene **out,
                                                FilError *error);

/// The same from memory; `name` stands for the file in messages, and its folder is where meshes are
/// looked for.
FIL_API FIL_MUST_CHECK FilStatus fil_scene_read_text(const char *name, const char *text,
                                                     size_t size, const FilSceneOptions *options,
                                                     const FilAllocator *allocator, FilScene **out,
                                                     FilError *error);
FIL_API void fil_scene_destroy(FilScene *scene); ///< NULL is fine

/// Index of a rod, obstacle, body or material by name; -1 when there is none.
FIL_API int fil_scene_find_rod(const FilScene *scene, const char *name);
FIL_API int fil_scene_find_obstacle(const FilScene *scene, const char *name);
FIL_API int fil_scene_find_body(const FilScene *scene, const char *name);
FIL_API int fil_scene_find_material(const FilScene *scene, const char *name);

/// The reference of the format in Markdown, and its JSON Schema.
FIL_API void fil_scene_reference_write(FILE *out);
FIL_API void fil_scene_schema_write(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
