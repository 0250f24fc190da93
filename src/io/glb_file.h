#ifndef FIL_IO_GLB_FILE_H
#define FIL_IO_GLB_FILE_H

// A binary glTF file in memory: its parts are added one by one, in any order, and then written.

#include "base/arena.h"
#include "io/atomic.h"

/// Bytes that grow. `failed` is remembered: there was no memory.
typedef struct FilGlbBytes {
    char *bytes;
    size_t size, room;
    bool failed;
} FilGlbBytes;

/// Texts are the items of the arrays of the JSON part, parted by commas.
typedef struct FilGlb {
    FilGlbBytes data;
    FilGlbBytes views, accessors, materials, meshes, nodes, samplers, channels;
    int view_count, accessor_count, material_count, mesh_count, node_count, sampler_count;
    bool not_finite; // a number was not
} FilGlb;

typedef enum FilGlbUse {
    FIL_GLB_VERTICES,
    FIL_GLB_POSITIONS,
    FIL_GLB_TIMES,
    FIL_GLB_VALUES
} FilGlbUse;

/// Add `count` items of `width` numbers; returns the accessor. Positions and times get bounds.
int fil_glb_add_floats(FilGlb *glb, const float *values, size_t count, int width, FilGlbUse use);
int fil_glb_add_indices(FilGlb *glb, const uint32_t *values, size_t count);

/// Add to a text. fil_glb_next() comes before each item: a comma after others.
void fil_glb_print(FilGlbBytes *text, const char *format, ...) FIL_PRINTF(2, 3);
void fil_glb_next(FilGlbBytes *text);
/// A text in quotes.
void fil_glb_print_text(FilGlbBytes *text, const char *value);

/// All of it into a file that was begun; all nodes are in the scene. False: there is no memory.
bool fil_glb_put(FilGlb *glb, const char *generator, FilFileWriter *writer) FIL_MUST_CHECK;
void fil_glb_free(FilGlb *glb);

#endif
