#ifndef FIL_MESH_H
#define FIL_MESH_H

/// Closed triangle meshes, for obstacles and rigid bodies. A mesh never changes once made.

#include "filum/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FilMesh FilMesh;

/// Make a mesh of `vertex_count` places (3 numbers each, m) and `triangle_count` triples of
/// vertices, anticlockwise seen from outside. It must be closed (every edge belongs to exactly two
/// triangles, which run along it in opposite directions) and not inside out (a positive volume, for
/// each connected part that does not lie within another). Equal vertices are joined, triangles with
/// two equal corners and vertices that nothing uses are dropped; triangles whose three corners lie
/// on a line stay, as seams. Otherwise the error names the edge, triangle or number. The arrays are
/// copied.
FIL_API FIL_MUST_CHECK FilStatus fil_mesh_create(const double *vertices, int vertex_count,
                                                 const int *triangles, int triangle_count,
                                                 const FilAllocator *allocator, FilMesh **out,
                                                 FilError *error);

/// Read an OBJ or PLY file (ASCII or binary; polygons are cut into triangles; what matters is how
/// it opens, not its name). `scale` multiplies its lengths, to metres. A file that is malformed, or
/// whose mesh fil_mesh_create() refuses, gives FIL_E_FORMAT, with the line where there is one.
FIL_API FIL_MUST_CHECK FilStatus fil_mesh_read(const char *path, double scale,
                                               const FilAllocator *allocator, FilMesh **out,
                                               FilError *error);

FIL_API void fil_mesh_destroy(FilMesh *mesh); ///< NULL is fine

FIL_API int fil_mesh_vertex_count(const FilMesh *mesh);
FIL_API int fil_mesh_triangle_count(const FilMesh *mesh);
FIL_API const double *fil_mesh_vertices(const FilMesh *mesh); ///< [vertex_count][3] m
FIL_API const int *fil_mesh_triangles(const FilMesh *mesh);   ///< [triangle_count][3]

#ifdef __cplusplus
}
#endif

#endif
