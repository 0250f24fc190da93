#ifndef FIL_IO_EXPORT_THINGS_H
#define FIL_IO_EXPORT_THINGS_H

// What exports for modellers and renderers show: groups of rods, and solids with their motion.

#include "io/export_parts.h"
#include "io/section.h"

#define FIL_THING_NAME (FIL_RESULT_NAME + 24) // bytes of a name, with the 0 at its end

/// Rods that come as one thing: neighbours whose names are the same up to the last slash, and whose
/// sections are round or are not.
typedef struct FilExportGroup {
    char name[FIL_THING_NAME]; // letters, digits and _; no two are the same
    int first_line, end_line;
    int line_count, point_count; // of lines with two points or more: the others are left out
    bool is_round;               // all sections are; false: none is
    bool is_mixed;               // lines of the other kind lie between them: they are not of it
} FilExportGroup;

typedef struct FilExportGroups {
    FilExportGroup *items;
    int count;
} FilExportGroups;

/// They live in `memory`. Beyond 64 groups all round rods are one, and all others are one.
FilStatus fil_export_groups(FilExport *job, FilArena *memory, FilExportGroups *out) FIL_MUST_CHECK;

/// Whether a line from first_line to end_line is shown, and with this group.
bool fil_export_has_line(const FilResultDef *def, const FilExportGroup *group, int line);

/// The axes of the section at a point, as columns: along the rod, n1, n2. Those of the world where
/// the run holds none.
void fil_export_axes(const FilFrame *frame, int point, double R[9]);

/// Of a group, or of a kind of solid: red, green and blue, 0 to 1, linear.
const double *fil_export_colour(int index);

/// A rigid body or an obstacle in all chosen frames.
typedef struct FilExportSolid {
    char name[FIL_THING_NAME]; // as of groups
    FilResultSolid solid;
    bool is_body, moves;
    const double *position;   // [frame][3] m
    const double *quaternion; // [frame][4] of unit length, each on the side of the one before it
} FilExportSolid;

typedef struct FilExportSolids {
    FilExportSolid *items;
    int count, body_count;  // bodies come first
    double low[3], high[3]; // of all that is not a plane, in all frames
} FilExportSolids;

/// Reads all frames; the arrays live in `memory`.
FilStatus fil_export_solids(FilExport *job, FilArena *memory, FilExportSolids *out) FIL_MUST_CHECK;

/// A surface of triangles, anticlockwise seen from outside.
typedef struct FilExportMesh {
    int vertex_count, triangle_count;
    double *position; // [vertex_count][3] m, in the solid's own axes
    double *normal;   // [vertex_count][3]; NULL: flat triangles
    int *triangle;    // [triangle_count][3]
} FilExportMesh;

/// A plane becomes a square that holds all there is.
FilStatus fil_export_mesh(FilExport *job, FilArena *memory, const FilExportSolids *solids,
                          int index, FilExportMesh *out) FIL_MUST_CHECK;

#endif
