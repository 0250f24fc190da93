#ifndef FIL_IO_EXPORT_TUBES_H
#define FIL_IO_EXPORT_TUBES_H

// The surfaces of rods as triangles, for exports that hold meshes.

#include "io/export_things.h"

#include <stdint.h>

/// The tubes of a group. Round and elliptic sections have rings of `sides` vertices.
typedef struct FilExportTubes {
    const FilResultDef *def;
    const FilExportGroup *group;
    int sides;
} FilExportTubes;

/// How many vertices and triangles there are; more than an int holds, perhaps.
void fil_export_tube_counts(const FilExportTubes *tubes, double counts[2]);

/// Positions and normals of all vertices, three numbers each.
void fil_export_tube_vertices(const FilExportTubes *tubes, const FilFrame *frame,
                              float *const arrays[2]);

/// Three vertices for each triangle, anticlockwise seen from outside.
void fil_export_tube_triangles(const FilExportTubes *tubes, uint32_t *indices);

#endif
