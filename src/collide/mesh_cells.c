// mesh_cells.c - inside or outside, for points that are not near the surface.
//
// Cells that the box of a triangle touches are mixed. The others are all inside or all outside, and
// so is each set of them that hangs together: one closest point for the first cell of a set, and
// the set is filled. Most questions about points far from the surface, where a search for the
// closest point has many triangles to look at, end here.
#include "mesh_cells.h"

#include <math.h>
#include <string.h>

#define CELLS FIL_MESH_CELLS
enum { UNKNOWN = 3 };

// The cell along axis k of a coordinate, clamped to the grid.
static int find_index(const FilMesh *mesh, int k, double x) {
    const double at = (x - mesh->box.low[k]) * mesh->cell_scale[k];
    return at > 0.0 ? (at < CELLS ? (int)at : CELLS - 1) : 0;
}

static size_t get_place(int i, int j, int k) {
    return ((size_t)i * CELLS + (size_t)j) * CELLS + (size_t)k;
}

int fil_mesh_cell(const FilMesh *mesh, const double p[3]) {
    for (int k = 0; k < 3; k++) {
        if (!(p[k] >= mesh->box.low[k] && p[k] <= mesh->box.high[k])) {
            return FIL_CELL_OUTSIDE;
        }
    }
    return mesh->cells[get_place(find_index(mesh, 0, p[0]), find_index(mesh, 1, p[1]),
                                 find_index(mesh, 2, p[2]))];
}

// Cells that a triangle may touch; one more on each side, for the rounding.
static void mark_triangle(FilMesh *mesh, const double corner[3][3]) {
    int low[3], high[3];
    for (int k = 0; k < 3; k++) {
        const double least = fmin(corner[0][k], fmin(corner[1][k], corner[2][k]));
        const double most = fmax(corner[0][k], fmax(corner[1][k], corner[2][k]));
        const double slack = 1e-9 * mesh->size;
        low[k] = find_index(mesh, k, least - slack);
        high[k] = find_index(mesh, k, most + slack);
    }
    for (int i = low[0]; i <= high[0]; i++) {
        for (int j = low[1]; j <= high[1]; j++) {
            for (int k = low[2]; k <= high[2]; k++) {
                mesh->cells[get_place(i, j, k)] = FIL_CELL_MIXED;
            }
        }
    }
}

// Give all unknown cells that hang together with `start` the value of its middle.
static void fill(FilMesh *mesh, int start, int *stack) {
    const int at[3] = {start / (CELLS * CELLS), start / CELLS % CELLS, start % CELLS};
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = mesh->box.low[k] + (at[k] + 0.5) / mesh->cell_scale[k];
    }
    FilMeshPoint nearest;
    const bool inside =
        fil_mesh_closest(mesh, middle, INFINITY, &nearest) && nearest.distance < 0.0;
    const unsigned char value = inside ? FIL_CELL_INSIDE : FIL_CELL_OUTSIDE;
    static const int step[3] = {CELLS * CELLS, CELLS, 1};
    int depth = 1;
    stack[0] = start;
    mesh->cells[start] = value;
    while (depth > 0) {
        const int cell = stack[--depth];
        for (int way = 0; way < 6; way++) {
            const int along = step[way / 2], index = cell / along % CELLS;
            const bool edge = way % 2 == 0 ? index == 0 : index == CELLS - 1;
            const int next = way % 2 == 0 ? cell - along : cell + along;
            if (!edge && mesh->cells[next] == UNKNOWN) {
                mesh->cells[next] = value;
                stack[depth++] = next;
            }
        }
    }
}

bool fil_mesh_cells_build(FilMesh *mesh, FilArena *scratch) {
    const int count = CELLS * CELLS * CELLS;
    int *stack = FIL_NEW(scratch, int, count);
    mesh->cells = FIL_NEW(&mesh->arena, unsigned char, count);
    if (stack == NULL || mesh->cells == NULL) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        mesh->cell_scale[k] = CELLS / (mesh->box.high[k] - mesh->box.low[k]);
    }
    memset(mesh->cells, UNKNOWN, (size_t)count);
    for (int i = 0; i < mesh->triangle_count; i++) {
        mark_triangle(mesh, (const double(*)[3])mesh->corners[i]);
    }
    for (int i = 0; i < count; i++) {
        if (mesh->cells[i] == UNKNOWN) {
            fill(mesh, i, stack);
        }
    }
    return true;
}
