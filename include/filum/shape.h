#ifndef FIL_SHAPE_H
#define FIL_SHAPE_H

/// Solid shapes, for obstacles and rigid bodies. A shape is placed by a pose: its own axes are
/// axis[0], axis[1], axis[2] of the pose, its centre is the pose's position.

#include "filum/base.h"
#include "filum/mesh.h"
#include "filum/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

// One table: the shapes, their names and what they are.
#define FIL_SHAPE_TABLE(X)                                                                    \
    X(FIL_SHAPE_PLANE, "plane", "all that lies below the third axis: z <= 0; obstacles only") \
    X(FIL_SHAPE_SPHERE, "sphere", "radius")                                                   \
    X(FIL_SHAPE_CAPSULE, "capsule", "radius, length of the axis, which is the first one")     \
    X(FIL_SHAPE_CYLINDER, "cylinder", "radius, length along the first axis, flat ends")       \
    X(FIL_SHAPE_BOX, "box", "size along the three axes")                                      \
    X(FIL_SHAPE_MESH, "mesh", "a closed surface of triangles")

#define FIL_SHAPE_ENUM(code, name, text) code,
typedef enum FilShapeKind { FIL_SHAPE_TABLE(FIL_SHAPE_ENUM) FIL_SHAPE_COUNT } FilShapeKind;

/// "sphere" for FIL_SHAPE_SPHERE; never NULL.
FIL_API const char *fil_shape_name(FilShapeKind kind);

typedef struct FilShape {
    FilShapeKind kind;
    double radius;       ///< m: sphere, capsule, cylinder
    double length;       ///< m: capsule (between the centres of its ends), cylinder
    double size[3];      ///< m: box, whole lengths
    const FilMesh *mesh; ///< borrowed
} FilShape;

/// Check that what the kind uses is positive and finite.
FIL_API FIL_MUST_CHECK FilStatus fil_shape_check(const FilShape *shape, FilError *error);

/// Volume and moments of a solid of density 1 kg/m^3.
typedef struct FilSolidMoments {
    double volume;        ///< m^3
    double centre[3];     ///< m, in the shape's own axes
    double inertia[3][3]; ///< m^5, about the centre, along the shape's own axes
} FilSolidMoments;

/// Exact; a plane has none and gives zeros.
FIL_API void fil_shape_moments(const FilShape *shape, FilSolidMoments *moments);

#ifdef __cplusplus
}
#endif

#endif
