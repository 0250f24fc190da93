// mesh_read.c - meshes from OBJ and PLY files: the whole file is taken into memory, parsed, scaled
// and handed to fil_mesh_create(), which knows what a mesh must be.
#define _POSIX_C_SOURCE 200809L
#include "mesh_read.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "load.h"
#include "mesh_input.h"

static FilStatus parse(FilMeshInput *input) {
    const bool is_ply =
        input->size >= 4 && memcmp(input->bytes, "ply", 3) == 0 &&
        (input->bytes[3] == '\n' || input->bytes[3] == '\r' || input->bytes[3] == ' ');
    return is_ply ? fil_mesh_parse_ply(input) : fil_mesh_parse_obj(input);
}

static FilStatus build(FilMeshInput *input, double scale, const FilAllocator *allocator,
                       FilMesh **out) {
    FilError why;
    for (int i = 0; i < 3 * input->vertex_count; i++) {
        input->vertices[i] *= scale;
    }
    const FilStatus status = fil_mesh_create(input->vertices, input->vertex_count, input->triangles,
                                             input->triangle_count, allocator, out, &why);
    if (status == FIL_OK) {
        return FIL_OK;
    }
    return fil_fail(input->error, status == FIL_E_ARGUMENT ? FIL_E_FORMAT : status, "%s: %s",
                    input->name, why.text);
}

FilStatus fil_mesh_read_memory(const void *bytes, size_t size, const char *name, double scale,
                               const FilAllocator *allocator, FilMesh **out, FilError *error) {
    if (bytes == NULL) {
        bytes = "";
        size = 0;
    }
    if (!(scale > 0.0 && isfinite(scale))) {
        return fil_fail(error, FIL_E_ARGUMENT, "scale is %g; it must be positive and finite",
                        scale);
    }
    FilMeshInput input = {.bytes = bytes,
                          .size = size,
                          .name = name,
                          .scratch = fil_arena_make(allocator),
                          .error = error};
    FilStatus status = parse(&input);
    if (status == FIL_OK) {
        status = build(&input, scale, allocator, out);
    }
    fil_arena_destroy(&input.scratch);
    return status;
}

FilStatus fil_mesh_read(const char *path, double scale, const FilAllocator *allocator,
                        FilMesh **out, FilError *error) {
    FilArena arena = fil_arena_make(allocator);
    void *bytes = NULL;
    size_t size = 0;
    FilStatus status = fil_load_file(path, &arena, &bytes, &size, error);
    if (status == FIL_OK) {
        status = fil_mesh_read_memory(bytes, size, path, scale, allocator, out, error);
    }
    fil_arena_destroy(&arena);
    return status;
}
