#ifndef FIL_COLLIDE_MESH_CELLS_H
#define FIL_COLLIDE_MESH_CELLS_H

// A coarse grid over the box of a mesh that knows which of its cells are all inside or all outside.

#include "collide/mesh.h"

/// Fill mesh->cells; the tree and the normals must be there. Returns false when there is no memory.
bool fil_mesh_cells_build(FilMesh *mesh, FilArena *scratch);

/// FIL_CELL_INSIDE, FIL_CELL_OUTSIDE or, near the surface, FIL_CELL_MIXED.
int fil_mesh_cell(const FilMesh *mesh, const double p[3]);

#endif
