// cut.c - parts of a graph, by the multilevel method of METIS (Karypis and Kumar 1998).
#include "cut.h"

#include <string.h>

#include <metis.h>

#include "base/error.h"

_Static_assert(sizeof(idx_t) == sizeof(int), "METIS must count in int");

FilStatus fil_graph_cut(int n, const int *start, const int *column, int parts, FilArena *scratch,
                        int *part_of) {
    if (parts == 1) { // METIS divides by zero
        memset(part_of, 0, (size_t)n * sizeof *part_of);
        return FIL_OK;
    }
    const FilArenaMark mark = fil_arena_mark(scratch);
    idx_t nodes = n, one = 1, count = parts, objective, options[METIS_NOPTIONS];
    idx_t *first = FIL_NEW(scratch, idx_t, n + 1), *graph = FIL_NEW(scratch, idx_t, start[n]);
    if (first == NULL || graph == NULL) {
        return FIL_E_NO_MEMORY;
    }
    first[0] = 0;
    for (int i = 0; i < n; i++) {
        first[i + 1] = first[i];
        for (int k = start[i]; k < start[i + 1]; k++) {
            if (column[k] != i) {
                graph[first[i + 1]++] = column[k];
            }
        }
    }
    (void)METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const int status = METIS_PartGraphKway(&nodes, &one, first, graph, NULL, NULL, NULL, &count,
                                           NULL, NULL, options, &objective, part_of);
    fil_arena_release(scratch, mark);
    return status == METIS_OK ? FIL_OK : FIL_E_NO_MEMORY;
}
