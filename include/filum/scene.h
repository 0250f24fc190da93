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
    const FilMaterial *materials;
    const double *friction; ///< [material_count^2]; below 0: not given, and not needed
    const FilSceneRod *rods;
    const FilSceneObstacle *obstacles;
    const FilSceneBody *bodies;
    const FilSceneJoint *joints;
    const FilSceneEvent *events; ///< by time
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
