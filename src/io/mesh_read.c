// mesh_read.c - meshes from OBJ and PLY files: the whole file is taken into memory, parsed, scaled
// and handed to fil_mesh_create(), which knows what a mesh must be.
#define _POSIX_C_SOURCE 200809L
#include "mesh_read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
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

static FilStatus fail_io(const char *path, const char *what, FilError *error) {
    return fil_fail(error, FIL_E_IO, "%s: %s: %s", path, what, strerror(errno));
}

// All bytes of a regular file.
static FilStatus load(const char *path, int descriptor, FilArena *arena, void **bytes, size_t *size,
                      FilError *error) {
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return fail_io(path, "cannot read it", error);
    }
    if (!S_ISREG(about.st_mode)) {
        return fil_fail(error, FIL_E_IO, "%s: it is not a regular file", path);
    }
    *size = (size_t)about.st_size;
    *bytes = FIL_NEW(arena, char, *size);
    if (*bytes == NULL) {
        return fil_fail(error, FIL_E_NO_MEMORY, "%s: there is no memory for its %zu bytes", path,
                        *size);
    }
    for (size_t at = 0; at < *size;) {
        const ssize_t got = read(descriptor, (char *)*bytes + at, *size - at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_io(path, "cannot read it", error);
        }
        if (got == 0) { // it shrank meanwhile
            *size = at;
        }
        at += (size_t)got;
    }
    return FIL_OK;
}

FilStatus fil_mesh_read(const char *path, double scale, const FilAllocator *allocator,
                        FilMesh **out, FilError *error) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return fail_io(path, "cannot open it", error);
    }
    FilArena arena = fil_arena_make(allocator);
    void *bytes = NULL;
    size_t size = 0;
    FilStatus status = load(path, descriptor, &arena, &bytes, &size, error);
    (void)close(descriptor);
    if (status == FIL_OK) {
        status = fil_mesh_read_memory(bytes, size, path, scale, allocator, out, error);
    }
    fil_arena_destroy(&arena);
    return status;
}
