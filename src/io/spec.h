#ifndef FIL_IO_SPEC_H
#define FIL_IO_SPEC_H

// What a scene file says, as it stands there: one struct for each kind of object, filled by the
// tables of spec.c. scene*.c make a FilScene of it. Units and meaning are in the tables.

#include "filum/scene.h"
#include "io/table.h"

#define ITEMS(type)  \
    struct {         \
        int count;   \
        type *items; \
    }

typedef double FilVec3[3];

typedef struct FilKeySpec {
    FilRecord head;
    double time, at[3], turn[3];
} FilKeySpec;

typedef struct FilSwingSpec {
    FilRecord head;
    double at[3], turn[3], period, phase;
} FilSwingSpec;

typedef struct FilMotionSpec {
    FilRecord head;
    double pivot[3], velocity[3], spin[3], from, until;
    FilSwingSpec swing;
    ITEMS(FilKeySpec) keys;
    int between;
} FilMotionSpec;

typedef struct FilRootSpec {
    FilRecord head;
    double at[3], along[3], up[3];
    int held;
    const char *follows;
    FilMotionSpec motion;
} FilRootSpec;

typedef struct FilTipSpec {
    FilRecord head;
    int held;
    const char *follows;
    FilMotionSpec motion;
} FilTipSpec;

typedef struct FilSectionSpec {
    FilRecord head;
    int kind;
    double inner_radius, radii[2], bend[2], twist, mass, stretch, spin_inertia;
} FilSectionSpec;

typedef enum FilNaturalShape { FIL_NATURAL_GIVEN, FIL_NATURAL_START } FilNaturalShape;

typedef struct FilNaturalSpec {
    FilRecord head;
    int shape; // FilNaturalShape
    double curvature[2], twist;
    ITEMS(FilVec3) table;
} FilNaturalSpec;

typedef struct FilTwigSpec {
    FilRecord head;
    int parent;
    double turn[3], length, radius, curvature[2], twist;
} FilTwigSpec;

typedef struct FilLoadSpec {
    FilRecord head;
    double at, force[3], torque[3];
} FilLoadSpec;

typedef enum FilSelfContact { FIL_SELF_AUTO, FIL_SELF_ON, FIL_SELF_OFF } FilSelfContact;

typedef struct FilRodSpec {
    FilRecord head;
    const char *name, *material;
    int model, elements;
    double length, radius;
    ITEMS(double) element_lengths;
    FilSectionSpec section;
    FilNaturalSpec natural;
    int start; // FilStartKind
    ITEMS(FilVec3) points;
    ITEMS(FilVec3) curvatures;
    double pretwist;
    FilRootSpec root;
    FilTipSpec tip;
    ITEMS(FilTwigSpec) tree;
    ITEMS(FilLoadSpec) loads;
    double line_load[3];
    double damping, drag, wind, growth;
    double contact_radius, contact_length;
    int contact_pieces;
    int self_contact; // FilSelfContact
    double velocity[3], spin[3];
    int step_kind;
    bool quasistatic_twist;
} FilRodSpec;

typedef struct FilSolidSpec {
    FilRecord head;
    const char *name, *material;
    int shape;
    double radius, length, size[3], scale, at[3], turn[3];
    const char *file;
    const char *follows;                        // obstacles
    FilMotionSpec motion;                       // obstacles
    double mass, density, velocity[3], spin[3]; // bodies
    double force[3], force_rate[3], torque[3];
} FilSolidSpec;

typedef struct FilArraySpec {
    FilRecord head;
    const char *name;
    FilRodSpec rod;
    FilSolidSpec body;
    int count[3];
    double spacing[3], jitter, turn_jitter;
    int seed;
} FilArraySpec;

typedef struct FilBundleSpec {
    FilRecord head;
    const char *name;
    FilRodSpec rod;
    int count, seed;
    double spacing, turns, jitter;
} FilBundleSpec;

typedef struct FilPileSpec {
    FilRecord head;
    const char *name;
    FilRodSpec rod;
    int count, seed;
    double spacing, turn, jitter;
} FilPileSpec;

typedef struct FilBraidSpec {
    FilRecord head;
    const char *name;
    FilRodSpec rod;
    int strands;
    double width, thickness, pitch;
} FilBraidSpec;

typedef struct FilRailSpec {
    FilRecord head;
    const char *name, *material;
    double radius;
    ITEMS(FilVec3) points;
} FilRailSpec;

typedef struct FilCurlSpec {
    FilRecord head;
    double radius, pitch;
    bool upright;
} FilCurlSpec;

typedef struct FilVarySpec {
    FilRecord head;
    double place, direction, length, curl, phase;
} FilVarySpec;

typedef struct FilLaidSpec {
    FilRecord head;
    double rise, radius, down[3];
} FilLaidSpec;

typedef struct FilHairSpec {
    FilRecord head;
    const char *name, *on;
    FilRodSpec rod;
    int count, seed;
    double towards[3], spread, comb[3], lift;
    FilCurlSpec curl;
    FilLaidSpec laid;
    FilVarySpec vary;
} FilHairSpec;

typedef enum FilStrandUp { FIL_STRAND_UP_Z, FIL_STRAND_UP_Y } FilStrandUp;

typedef struct FilStrandSpec {
    FilRecord head;
    const char *name, *file;
    FilRodSpec rod;
    double scale, at[3], turn[3], shortest;
    int up; // FilStrandUp
    int every;
} FilStrandSpec;

typedef enum FilKnotKind {
    FIL_KNOT_OVERHAND,
    FIL_KNOT_FIGURE_EIGHT,
    FIL_KNOT_CINQUEFOIL
} FilKnotKind;

typedef struct FilKnotSpec {
    FilRecord head;
    const char *name;
    FilRodSpec rod;
    int kind; // FilKnotKind
    double size;
} FilKnotSpec;

typedef enum FilPlaceEnd { FIL_PLACE_ROOT, FIL_PLACE_TIP } FilPlaceEnd;

typedef struct FilPlaceSpec {
    FilRecord head;
    const char *rod, *body;
    int end; // FilPlaceEnd
    double s, at[3];
    FilMotionSpec motion;
} FilPlaceSpec;

typedef struct FilJointSpec {
    FilRecord head;
    int kind;
    FilPlaceSpec a, b;
} FilJointSpec;

typedef struct FilEventSpec {
    FilRecord head;
    double time;
    const char *rod;
    double gravity[3], wind[3], force[3], torque[3], length;
    int release; // FilPlaceEnd
    int unjoin;
} FilEventSpec;

typedef struct FilMaterialSpec {
    FilRecord head;
    double young, poisson, density, restitution;
} FilMaterialSpec;

typedef struct FilPairSpec {
    FilRecord head;
    const char *between[2];
    double mu;
} FilPairSpec;

typedef struct FilContactSpec {
    FilRecord head;
    int kind, law;
    double margin, stiffness, damping, slip_speed;
    int facets, substeps;
    bool sweep;
    double sleep_speed, sleep_after;
} FilContactSpec;

typedef struct FilSolverSpec {
    FilRecord head;
    int name, local, function, convex;
    double tolerance;
    int iterations;
    double budget;
} FilSolverSpec;

typedef struct FilOutputSpec {
    FilRecord head;
    double every, save;
    unsigned fields;
} FilOutputSpec;

typedef struct FilClaimSpec {
    FilRecord head;
    const char *says, *beside;
    int measure, take, relative;
    ITEMS(const char *) of, on;
    double part[2], radius[2], axis[3], through[3], near;
    double from, at, at_least, at_most, margin;
    ITEMS(const char *) with, unless, holds_with;
} FilClaimSpec;

typedef struct FilSceneSpec {
    FilRecord head;
    const char *schema, *name, *look;
    double duration, step, gravity[3], wind[3], theta;
    int seed;
    double friction_default;
    ITEMS(FilMaterialSpec) materials;
    ITEMS(FilPairSpec) friction;
    ITEMS(FilRodSpec) rods;
    ITEMS(FilArraySpec) arrays;
    ITEMS(FilBundleSpec) bundles;
    ITEMS(FilPileSpec) piles;
    ITEMS(FilBraidSpec) braids;
    ITEMS(FilHairSpec) hairs;
    ITEMS(FilStrandSpec) strands;
    ITEMS(FilKnotSpec) knots;
    ITEMS(FilSolidSpec) obstacles;
    ITEMS(FilRailSpec) rails;
    ITEMS(FilSolidSpec) bodies;
    ITEMS(FilJointSpec) joints;
    ITEMS(FilEventSpec) events;
    ITEMS(FilClaimSpec) claims;
    FilContactSpec contact;
    FilSolverSpec solver;
    FilOutputSpec output;
} FilSceneSpec;

// One list: the tables, in the order of the reference.
#define FIL_SPEC_TABLES(X) \
    X(scene)               \
    X(material)            \
    X(pair)                \
    X(rod)                 \
    X(section)             \
    X(natural)             \
    X(root)                \
    X(tip)                 \
    X(motion)              \
    X(key)                 \
    X(swing)               \
    X(load)                \
    X(twig)                \
    X(obstacle)            \
    X(rail)                \
    X(body)                \
    X(array)               \
    X(bundle)              \
    X(pile)                \
    X(braid)               \
    X(hair)                \
    X(curl)                \
    X(laid)                \
    X(vary)                \
    X(strand)              \
    X(knot)                \
    X(joint)               \
    X(place)               \
    X(event)               \
    X(claim)               \
    X(contact)             \
    X(solver)              \
    X(output)

#define FIL_SPEC_TABLE(name) extern const FilTable fil_spec_##name;
FIL_SPEC_TABLES(FIL_SPEC_TABLE)
#undef FIL_SPEC_TABLE

/// All of them, `*count` long.
const FilTable *const *fil_spec_tables(int *count);

#endif
