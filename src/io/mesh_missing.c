// mesh_missing.c - stands in for src/collide/mesh.c in a tree that does not have it yet, and is not
// compiled in one that has: then this file can go.
#include "base/error.h"
#include "filum/mesh.h"

FilStatus fil_mesh_read(const char *path, double scale, const FilAllocator *allocator,
                        FilMesh **out, FilError *error) {
    (void)scale;
    (void)allocator;
    (void)out;
    return fil_fail(error, FIL_E_IO, "%s: this build has no meshes", path);
}

void fil_mesh_destroy(FilMesh *mesh) {
    (void)mesh;
}

int fil_mesh_vertex_count(const FilMesh *mesh) {
    (void)mesh;
    return 0;
}

int fil_mesh_triangle_count(const FilMesh *mesh) {
    (void)mesh;
    return 0;
}

const double *fil_mesh_vertices(const FilMesh *mesh) {
    (void)mesh;
    return NULL;
}

const int *fil_mesh_triangles(const FilMesh *mesh) {
    (void)mesh;
    return NULL;
}
