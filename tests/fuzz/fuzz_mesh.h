#ifndef FIL_TESTS_FUZZ_MESH_H
#define FIL_TESTS_FUZZ_MESH_H

// What the fuzzers of the mesh readers share.

#include "fuzz.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/mesh.h"
#include "io/mesh_read.h"

static long fuzz_live; // bytes that the reader holds
static size_t fuzz_most;

static void *fuzz_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    fuzz_live += (long)new_size - (long)old_size;
    fuzz_most = new_size > fuzz_most ? new_size : fuzz_most;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static void fuzz_insist(bool condition, const char *what) {
    if (!condition) {
        (void)fprintf(stderr, "fuzz_mesh: %s\n", what);
        abort();
    }
}

// A mesh that was accepted: its closest points are finite, its volume positive.
static void fuzz_ask(const FilMesh *mesh) {
    for (int i = 0; i < 8; i++) {
        double p[3];
        FilMeshPoint found;
        for (int k = 0; k < 3; k++) {
            p[k] = i >> k & 1 ? mesh->box.low[k] : 0.5 * (mesh->box.low[k] + mesh->box.high[k]);
        }
        if (fil_mesh_closest(mesh, p, INFINITY, &found)) {
            fuzz_insist(isfinite(found.distance), "a distance is not finite");
            fuzz_insist(isfinite(found.normal[0]), "a normal is not finite");
        }
    }
}

static int fuzz_mesh(const uint8_t *data, size_t size, const char *opening) {
    const FilAllocator allocator = {.resize = fuzz_resize};
    const size_t length = strlen(opening);
    FilError error = {0};
    FilMesh *mesh = NULL;
    if (size < length || memcmp(data, opening, length) != 0) {
        return 0;
    }
    fuzz_most = 0;
    const FilStatus status =
        fil_mesh_read_memory(data, size, "fuzz", 1.0, &allocator, &mesh, &error);
    fuzz_insist((status == FIL_OK) == (mesh != NULL), "status and result disagree");
    fuzz_insist(status == FIL_OK ||
                    (error.status == status && strncmp(error.text, "fuzz: ", 6) == 0),
                "an error without a sentence");
    fuzz_insist(fuzz_most <= 500 * size + (1u << 18), "more memory than the file justifies");
    if (mesh != NULL) {
        fuzz_ask(mesh);
    }
    fil_mesh_destroy(mesh);
    fuzz_insist(fuzz_live == 0, "the reader leaks");
    return 0;
}

#endif
