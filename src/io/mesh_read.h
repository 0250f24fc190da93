#ifndef FIL_IO_MESH_READ_H
#define FIL_IO_MESH_READ_H

#include "filum/mesh.h"

/// As fil_mesh_read(), from memory: PLY when it opens with "ply", OBJ otherwise. `name` is what
/// errors call the file.
FilStatus fil_mesh_read_memory(const void *bytes, size_t size, const char *name, double scale,
                               const FilAllocator *allocator, FilMesh **out,
                               FilError *error) FIL_MUST_CHECK;

#endif
