#ifndef FIL_GENERATE_H
#define FIL_GENERATE_H

/// Hard contact problems from a seed, for those who write solvers.
///
/// The same definition gives the same bits on every machine. A problem comes in two forms: factored
/// by bodies, and as the global problem M v = H r + f, u = H^T v + w. One that is made solvable has
/// b = u - W r for a lawful pair (u, r) that was drawn first (30 % of the contacts stick, 50 %
/// slide, 20 % are open): a solution exists, and is known. The others are one step of a
/// mechanical system: b = H v, v the velocities that the bodies would have without contact.

#include "filum/friction.h"

#ifdef __cplusplus
extern "C" {
#endif

// Name in files and on the command line, what it is.
#define FIL_GENERATORS(X)                                                                       \
    X(FIL_GENERATE_FIBRES, "fibres", "stiff chains of 10 nodes, contacts spread over segments") \
    X(FIL_GENERATE_TANGLES, "tangles", "stiff chains of 10 nodes, contacts in clusters")        \
    X(FIL_GENERATE_RIGID, "rigid", "rigid bodies that touch their neighbours at random")        \
    X(FIL_GENERATE_TOWER, "tower", "boxes on each other, 4 contacts a face, under gravity")     \
    X(FIL_GENERATE_WALL, "wall", "boxes in running bond, 4 contacts a face, under gravity")     \
    X(FIL_GENERATE_SPHERES, "spheres", "layers of spheres in a box, under gravity")

#define FIL_GENERATOR_ENUM(code, name, text) code,
typedef enum FilGenerator { FIL_GENERATORS(FIL_GENERATOR_ENUM) FIL_GENERATOR_COUNT } FilGenerator;

/// Largest number of contacts that may be asked for.
#define FIL_GENERATE_CONTACT_MAX 1000000

/// What to make. Start from fil_generate_def_default().
typedef struct FilGenerateDef {
    FilGenerator generator;
    uint64_t seed;
    int contact_count;   ///< met exactly by fibres, tangles and rigid; else as bodies allow
    double conditioning; ///< nu = 3n/m, fibres, tangles and rigid: met as whole bodies allow
    double mu;           ///< of every contact, >= 0
    bool solvable;       ///< b from a lawful pair; otherwise from a step of the system
    double stretch;      ///< dt^2 k / m of an edge: fibres, tangles
    double bending;      ///< the same of a bend
    double density;      ///< nodes per unit of volume; an edge is 1 long in fibres, 1/2 in tangles
    double mass_ratio;   ///< heaviest body to lightest, >= 1; not for chains
    double slope;        ///< tangent of the angle by which gravity leans: tower, wall, spheres
} FilGenerateDef;

/// A problem and all that it points to.
typedef struct FilGenerated {
    FilFrictionProblem problem; ///< FIL_FORM_BODIES
    FilFrictionProblem global;  ///< the same in FIL_FORM_GLOBAL
    const double *r, *u;        ///< the lawful pair, 3 a contact; NULL when not made solvable
} FilGenerated;

/// Name of a generator, what it makes; NULL when out of range.
FIL_API const char *fil_generator_name(FilGenerator generator);
FIL_API const char *fil_generator_text(FilGenerator generator);

/// 100 contacts, seed 1. Chains: nu = 0.9, mu = 0.3, dt^2 k/m = 1e4, bending 1, solvable. Rigid:
/// nu = 1, mu = 0.5, masses 1 to 100, solvable. The others: mu = 0.5, equal masses, on the level.
FIL_API FilGenerateDef fil_generate_def_default(FilGenerator generator);

/// Make a problem. The caller owns `*out` and gives it back with fil_generated_destroy(). On
/// failure `*out` is left alone and `error`, when not NULL, names the field and the rule.
FIL_API FIL_MUST_CHECK FilStatus fil_generate(const FilGenerateDef *def,
                                              const FilAllocator *allocator, FilGenerated **out,
                                              FilError *error);

/// NULL is fine.
FIL_API void fil_generated_destroy(FilGenerated *generated);

#ifdef __cplusplus
}
#endif

#endif
